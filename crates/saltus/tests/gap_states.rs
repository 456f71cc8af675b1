//! Gaps that use first-order states: walls whose motion the states give. By events they are as accurate as walls that move with
//! time, in steps of the order of the scheme; states fed by the motion are held against scipy.

use saltus::analysis::{EquilibriaOptions, Equilibrium, Stability, equilibria};
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

/// The mean distance of a coordinate from a reference over [0, end].
fn distance(run: &Run, reference: &Run, end: f64) -> f64 {
    let at = |run: &Run, t: f64| run.trajectory.at(t, Side::Left).expect("there").0[0];
    let n = 2000;
    (1..n).map(|k| f64::from(k) * end / f64::from(n)).map(|t| (at(run, t) - at(reference, t)).abs()).sum::<f64>()
        / f64::from(n)
}

/// The order in h from several steps, by least squares.
fn order(model: &Arc<Model>, scheme: &str, end: f64) -> f64 {
    let problem = problem(model);
    let reference = problem.run(&Options::events(end).tolerance(1e-12)).expect("a run").ok().expect("finished");
    let mut points = Vec::new();
    for k in 0..32 {
        let h = 0.003 * 0.9_f64.powi(k);
        let run = problem.run(&Options::steps(scheme, h).until(end)).expect("a run").ok().expect("finished");
        points.push((h.ln(), distance(&run, &reference, end).ln()));
    }
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>();
    slope / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

#[test]
fn in_steps_with_the_order_of_the_scheme() {
    for scheme in ["paoli-schatzman", "mabrouk", "moreau-midpoint", "moreau-jean"] {
        let found = order(&table(true, 0.5), scheme, 3.0);
        assert!((0.8..1.2).contains(&found), "{scheme}, e = 0.5: {found}");
    }
    for scheme in ["mabrouk", "moreau-midpoint", "moreau-jean"] {
        let found = order(&table(true, 0.0), scheme, 3.0);
        assert!((0.8..1.2).contains(&found), "{scheme}, e = 0: {found}");
    }
    // On a plane with e = 0 these two are of second order, walls that move with time included.
    for scheme in ["paoli-schatzman", "bernicot-lefebvre"] {
        let found = order(&table(true, 0.0), scheme, 3.0);
        assert!((1.8..2.2).contains(&found), "{scheme}, e = 0: {found}");
    }
}

#[test]
fn a_compliant_table_that_follows_a_lag() {
    let options = Options::steps("penalty", 2e-5).setting("stiffness", 1e6).until(1.5);
    let [own, known] = [true, false].map(|s| problem(&table(s, 0.5)).run(&options).expect("a run"));
    let apart = distance(&own, &known, 1.5);
    assert!(apart < 1e-6, "{apart:e}");
    assert!(own.trajectory.impacts.len() == known.trajectory.impacts.len() && !own.trajectory.impacts.is_empty());
}

/// x'' = 2 cos 1.3t − x − 0.1x', z' = (x − z)/0.4, gap 0.5 − x + 0.2z, e = 0.8, by scipy 1.17: instant, gap velocity before and state
/// of the first 20 impacts, from
///
/// ```python
/// f = lambda t, y: [y[1], 2*np.cos(1.3*t) - y[0] - 0.1*y[1], (y[0] - y[2])/0.4]
/// gap = lambda t, y: 0.5 - y[0] + 0.2*y[2]
/// gap.terminal, gap.direction, t, y = True, -1, 0.0, np.zeros(3)
/// for _ in range(20):
///     s = solve_ivp(f, (t, 100), y, "DOP853", rtol=1e-13, atol=1e-14, events=gap, max_step=0.05)
///     t, y = s.t_events[0][0], s.y_events[0][0].copy()
///     r = (y[0] - y[2])/0.4
///     U = -y[1] + 0.2*r
///     y[1] = 0.2*r + 0.8*U
///     print(t, U, y[2])
/// ```
const FED_BY_THE_MOTION: [(f64, f64, f64); 20] = [
    (0.811979352433, -0.975322587363, 0.253748667135),
    (5.161157894787, -3.619694349742, -1.021333293489),
    (9.754903352315, -2.910332747761, -0.675656715924),
    (14.787816059117, -2.931727989874, -0.664518329358),
    (19.526651533810, -3.017842776172, -0.716882196299),
    (24.389469820971, -2.938102730506, -0.672403671474),
    (29.219141942884, -2.974923525695, -0.691906398133),
    (34.049367341780, -2.963465415158, -0.686218590959),
    (38.885338686933, -2.964749915828, -0.686629958463),
    (43.717175353433, -2.965950163388, -0.687383996127),
    (48.550860458664, -2.964867397635, -0.686776507133),
    (53.384007007985, -2.965406787433, -0.687064255154),
    (58.217192072984, -2.965226828525, -0.686973737421),
    (63.050449121632, -2.965254087245, -0.686984424774),
    (67.883648507841, -2.965268026996, -0.686993560775),
    (72.716875173891, -2.965253218550, -0.686985175437),
    (77.550093275287, -2.965261060315, -0.686989387350),
    (82.383312378073, -2.965258273393, -0.686987969814),
    (87.216532352242, -2.965258789585, -0.686988191307),
    (92.049751529965, -2.965258939384, -0.686988296354),
];

#[test]
fn a_stop_that_yields_to_the_motion_against_scipy() {
    let model = Builder::new("yielding stop")
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .force("x", "2*cos(1.3*t) - x - 0.1*x'")
        .state("z", 0.0, "(x - z)/0.4")
        .restitution(0.8)
        .constraint("stop", "0.5 - x + 0.2*z")
        .build()
        .expect("a model");
    let run = problem(&model).run(&Options::events(93.0).tolerance(1e-12)).expect("a run").ok().expect("finished");
    clean(&run);
    assert_eq!(run.trajectory.impacts.len(), 20);
    for (impact, (t, u, z)) in run.trajectory.impacts.iter().zip(FED_BY_THE_MOTION) {
        assert!((impact.t - t).abs() < 1e-9, "{} {t}", impact.t);
        assert!((impact.approach - u).abs() < 1e-9, "{} {u}", impact.approach);
        assert!((impact.v_after[1] - z).abs() < 1e-9, "{} {z}", impact.v_after[1]);
    }
}

#[test]
fn a_chain_of_states_moves_a_wall_as_its_solution_does() {
    // z = sin(2t)/2, of an oscillator of two states; the gap is curved in both.
    let ball = |gap: &str, chain: bool| {
        let ball = Builder::new("ball").coordinate("x", 1.0, 0.0).coordinate("y", 0.0, 0.3).restitution(0.6);
        let ball = ball.kinetic("(x'^2 + y'^2)/2").potential("3*x + y^2/2");
        let ball = if chain { ball.state("z", 0.0, "w").state("w", 1.0, "-4*z") } else { ball };
        problem(&ball.constraint("wall", gap).build().expect("a model"))
    };
    let options = Options::events(5.0).tolerance(1e-12);
    let own = ball("x - 0.2*y^2 - 0.2*z^2 - 0.1*z*y", true).run(&options).expect("a run").ok().expect("finished");
    let wall = "x - 0.2*y^2 - 0.05*sin(2*t)^2 - 0.05*sin(2*t)*y";
    let known = ball(wall, false).run(&options).expect("a run").ok().expect("finished");
    clean(&own);
    let (a, b) = (&own.trajectory.impacts, &known.trajectory.impacts);
    assert!(a.len() == b.len() && a.len() > 3, "{} {}", a.len(), b.len());
    for (i, j) in a.iter().zip(b.iter()) {
        assert!((i.t - j.t).abs() < 1e-10, "{} {}", i.t, j.t);
        assert!((0..2).all(|k| (i.v_after[k] - j.v_after[k]).abs() < 1e-9));
    }
}

#[test]
fn a_wall_that_is_set_in_motion_hits_what_rests_on_it() {
    // From t = 1 on the wall rises at speed 1: the ball leaves it with (1 + e), and comes back after 2e/g.
    let ball = Builder::new("ball").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").potential("4*x").restitution(0.5);
    let ball = ball.state("z", 0.0, "if(t < 1, 0, 1)").constraint("table", "x - z").build().expect("a model");
    let run = problem(&ball).run(&Options::events(4.0)).expect("a run").ok().expect("finished");
    clean(&run);
    let (first, second) = (run.trajectory.impacts.get(0), run.trajectory.impacts.get(1));
    assert!((first.t - 1.0).abs() < 1e-12 && (first.v_after[0] - 1.5).abs() < 1e-12);
    assert!((second.t - 1.25).abs() < 1e-10 && (second.v_after[0] - 1.25).abs() < 1e-10);
}

#[test]
fn a_fast_state_is_followed_by_long_steps() {
    // z reaches 0.5 within a hundredth of a step.
    let ball = Builder::new("ball").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("4*x").restitution(0.0);
    let ball = ball.state("z", 0.0, "(0.5 - z)/1e-5").constraint("table", "x - z").build().expect("a model");
    for scheme in ["paoli-schatzman", "mabrouk", "moreau-midpoint", "moreau-jean", "bernicot-lefebvre"] {
        let run = problem(&ball).run(&Options::steps(scheme, 1e-3).until(2.0)).expect("a run").ok().expect("finished");
        assert!((run.last().q[0] - 0.5).abs() < 5e-3, "{scheme}: {}", run.last().q[0]);
    }
}

#[test]
fn a_gap_whose_state_follows_a_velocity_is_refused() {
    let ball = Builder::new("ball").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").restitution(0.5);
    let ball = ball.state("z", 0.0, "(x' - z)/0.1").constraint("wall", "x - z");
    let error = ball.build().expect_err("a mistake").to_string();
    assert!(error.contains("depends on velocities"), "{error}");
    // A state between them is smooth enough.
    let ball = Builder::new("ball").coordinate("x", 1.0, -1.0).kinetic("x'^2/2").restitution(0.5);
    let ball = ball.state("s", 0.0, "(x' - s)/0.1").state("z", 0.0, "(s - z)/0.1").constraint("wall", "x - z");
    let run =
        problem(&ball.build().expect("a model")).run(&Options::events(4.0)).expect("a run").ok().expect("finished");
    clean(&run);
    assert!(!run.trajectory.impacts.is_empty());
}

/// The only equilibrium of a model whose constraint is closed there.
fn rests(builder: Builder) -> Equilibrium {
    let problem = problem(&builder.build().expect("a model"));
    let found = equilibria(&problem, &EquilibriaOptions::default(), &mut |_, _| true).expect("equilibria");
    let mut found = found.found;
    found.retain(|e| !e.closed.is_empty());
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn decay(e: &Equilibrium) -> f64 {
    match e.stability {
        Stability::Decays { rate } => rate,
        Stability::Grows { rate, .. } => -rate,
        _ => panic!("{:?}", e.stability),
    }
}

#[test]
fn equilibria_on_walls_that_states_move() {
    let body = || Builder::new("body").coordinate("x", 1.5, 0.0).kinetic("x'^2/2").restitution(0.5);
    // On a table that goes to 0.7 with a time constant of 0.4.
    let e = rests(body().potential("3*x").state("z", 0.1, "(0.7 - z)/0.4").constraint("table", "x - z"));
    assert!((e.q[0] - 0.7).abs() < 1e-12 && (e.z[0] - 0.7).abs() < 1e-12 && (e.reactions[0] - 3.0).abs() < 1e-12);
    assert!((decay(&e) - 2.5).abs() < 1e-9, "{:?}", e.stability);
    // Held against a stop that yields: x = 0.5 + 0.2z, so z' = (0.5 − 0.8z)/0.4.
    let yielding = Builder::new("body").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").restitution(0.5);
    let yielding = yielding.force("x", "1").state("z", 0.0, "(x - z)/0.4").constraint("stop", "0.5 - x + 0.2*z");
    let e = rests(yielding);
    assert!((e.q[0] - 0.625).abs() < 1e-12 && (e.z[0] - 0.625).abs() < 1e-12 && (e.reactions[0] - 1.0).abs() < 1e-12);
    assert!((decay(&e) - 2.0).abs() < 1e-9, "{:?}", e.stability);
    // A lever that runs away: on it x = 2z, so z' = z.
    let e = rests(body().potential("3*x").state("z", 0.5, "x - z").constraint("lever", "x - 2*z"));
    assert!(e.q[0].abs() < 1e-12 && (decay(&e) + 1.0).abs() < 1e-9, "{e:?}");
    // With a mass on a damper beside it, driven by how fast the table moves: eigenvalues of y' = w, w' = −y − (w − z')/2,
    // z' = 0.3y − z, by NumPy.
    let e = rests(
        Builder::new("two")
            .coordinate("x", 0.1, 0.0)
            .coordinate("y", 0.2, 0.0)
            .kinetic("(x'^2 + y'^2)/2")
            .restitution(0.5)
            .potential("3*x + y^2/2")
            .force("y", "-0.5*(y' - x')")
            .state("z", 0.0, "0.3*y - z")
            .constraint("table", "x - z"),
    );
    assert!((decay(&e) - 0.200_297_809_035_205_97).abs() < 1e-9, "{:?}", e.stability);
    // A gap that is a product: f = x z − 1 with z' = 2 − x, at x = 2, z = 1/2.
    let e = rests(body().potential("3*x").state("z", 1.0, "2 - x").constraint("hyperbola", "x*z - 1"));
    assert!((e.q[0] - 2.0).abs() < 1e-12 && (e.z[0] - 0.5).abs() < 1e-12 && (e.reactions[0] - 6.0).abs() < 1e-11);
    assert!((decay(&e) + 4.0).abs() < 1e-9, "{:?}", e.stability);
}

#[test]
fn the_work_of_a_wall_in_contact_is_in_the_account_of_steps() {
    // A body that lands on a shaken table, leaves it and lands again; landings that are too slow to be impacts are contact.
    for with_state in [true, false] {
        for mu in [0.0, 0.3] {
            let body = Builder::new("body").coordinate("x", 0.1, 0.0).coordinate("y", 0.0, 0.5).restitution(0.3);
            let body = body.kinetic("(x'^2 + y'^2)/2").potential("9*x + 2*y^2").force("y", "2*cos(2*t)");
            let body = match with_state {
                true => body.state("z", 0.0, "w").state("w", 0.9, "-9*z").constraint("table", "x - z"),
                false => body.constraint("table", "x - 0.3*sin(3*t)"),
            };
            let body = if mu > 0.0 { body.friction(mu, &["y'"]) } else { body };
            let problem = problem(&body.build().expect("a model"));
            for scheme in ["mabrouk", "moreau-jean", "moreau-midpoint"] {
                for (h, allowed) in [(1e-3, 5e-3), (2e-4, 1e-3)] {
                    let run =
                        problem.run(&Options::steps(scheme, h).until(4.0)).expect("a run").ok().expect("finished");
                    let off = run.ledger.balance.closure.abs() / run.ledger.balance.exchanged;
                    assert!(off < allowed, "{scheme}, h = {h}, μ = {mu}, state: {with_state}: {off:e}");
                }
            }
        }
    }
}
