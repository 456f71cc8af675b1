//! Gaps that use first-order states: walls whose motion the states give. By events they are as accurate as walls that move with
//! time, in steps of the order of the scheme; states fed by the motion are held against scipy.

use saltus::model::Builder;
use saltus::{Model, Options, Problem, Run, Side};
use std::sync::Arc;

/// The exact solution of z' = (sin 3t − z)/0.4, z(0) = −0.2: with ωτ = 1.2.
const LAG: &str = "(sin(3*t) - 1.2*cos(3*t) + (1.2 - 0.2*2.44)*exp(-t/0.4))/2.44";

/// A ball above a table that follows a command with a lag; the motion of the table as a state, or as a function of time.
fn table(with_state: bool, e: f64) -> Arc<Model> {
    let ball = Builder::new("ball on a table").coordinate("x", 0.6, 0.0).kinetic("x'^2/2").potential("4*x");
    let ball = ball.restitution(e);
    let ball = match with_state {
        true => ball.state("z", -0.2, "(sin(3*t) - z)/0.4").constraint("table", "x - z"),
        false => ball.constraint("table", format!("x - {LAG}")),
    };
    ball.build().expect("a model")
}

fn problem(model: &Arc<Model>) -> Problem {
    model.problem().expect("a problem")
}

fn clean(run: &Run) {
    let complaints = run.ledger.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn a_table_driven_by_a_lag_is_the_table_that_moves_so() {
    for e in [0.0, 0.5, 0.9] {
        let [own, known] = [true, false].map(|s| {
            let run = problem(&table(s, e)).run(&Options::events(12.0).tolerance(1e-12)).expect("a run");
            run.ok().expect("finished")
        });
        clean(&own);
        let (a, b) = (&own.trajectory, &known.trajectory);
        assert_eq!(a.impacts.len(), b.impacts.len(), "e = {e}");
        assert!(a.impacts.len() > 3, "e = {e}: {}", a.impacts.len());
        for (i, j) in a.impacts.iter().zip(b.impacts.iter()) {
            assert!((i.t - j.t).abs() < 1e-10, "e = {e}: {} {}", i.t, j.t);
            assert!((i.v_after[0] - j.v_after[0]).abs() < 1e-9, "e = {e}");
            assert_eq!(i.v_before[1], i.v_after[1]);
        }
        let spans = |run: &Run| run.trajectory.contacts.iter().map(|c| (c.start, c.end)).collect::<Vec<_>>();
        assert_eq!(spans(&own).len(), spans(&known).len(), "e = {e}");
        for (i, j) in spans(&own).into_iter().zip(spans(&known)) {
            assert!((i.0 - j.0).abs() < 1e-9 && (i.1 - j.1).abs() < 1e-9, "e = {e}: {i:?} {j:?}");
        }
        for k in 1..120 {
            let t = 0.1 * f64::from(k);
            let (x, y) = (a.at(t, Side::Left).expect("there").0[0], b.at(t, Side::Left).expect("there").0[0]);
            assert!((x - y).abs() < 1e-10, "e = {e}, t = {t}: {x} {y}");
        }
    }
}
