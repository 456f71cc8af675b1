//! `check`, `equilibria`, `probe` and the long-time behaviour, against what is known.

#[path = "common/models.rs"]
mod models;

use saltus::analysis::{
    CheckOptions, EquilibriaOptions, LongTime, ProbeOptions, Stability, Verdict, check, equilibria, long_time, probe,
    sequentially,
};
use saltus::model::Builder;
use saltus::{Options, Problem};
use saltus_io::shipped;

fn model(name: &str, set: &[(&str, f64)]) -> Problem {
    models::problem(&models::shipped_file(name), set).0
}

fn widest(problem: &Problem) -> f64 {
    let found = check(problem, &CheckOptions::new(1.0), &mut |_, _| true);
    found.pairs.iter().map(|p| p.widest).fold(0.0, f64::max)
}

fn splits(problem: &Problem, end: f64) -> bool {
    let options = Options::events(end).step(end / 50.0);
    let how = ProbeOptions { starts: 24, size: 1e-6, seed: 3 };
    let found = probe(problem, &problem.start(), &options, &how, &mut sequentially(problem)).expect("probed");
    assert_eq!((found.runs, found.failed), (24, 0));
    found.splits
}

#[test]
fn p06_continuity_in_a_wedge() {
    for (angle, e, promised, split) in [
        (45.0, 0.0, true, false),
        (60.0, 0.0, true, false),
        (90.0, 0.0, true, false),
        (120.0, 0.0, false, true),
        (150.0, 0.0, false, true),
        (45.0, 0.5, false, true),
        (60.0, 0.5, false, true),
        (90.0, 0.5, true, false),
        (120.0, 0.5, false, true),
        (150.0, 0.5, false, true),
        // Continuous, though the theorem does not promise it: 45° is π/4.
        (45.0, 1.0, false, false),
        // Neither promised nor split along the bisector: three reflections in either order lead back where −v points.
        (60.0, 1.0, false, false),
        (90.0, 1.0, true, false),
        (120.0, 1.0, false, true),
        (150.0, 1.0, false, true),
    ] {
        let wedge = model("wedge", &[("angle", angle), ("e", e)]);
        let found = check(&wedge, &CheckOptions::new(2.0), &mut |_, _| true);
        assert_eq!(found.pairs.len(), 1);
        let pair = &found.pairs[0];
        assert!((pair.widest - angle).abs() < 1e-6 && (pair.narrowest - angle).abs() < 1e-6, "{pair:?}");
        assert_eq!(pair.continuous, promised, "{angle}° e = {e}");
        assert_eq!(splits(&wedge, 2.0), split, "{angle}° e = {e}");
        // γ of two normals at this wedge angle.
        assert!((pair.gamma - 1.0 / (0.5 * angle.to_radians()).sin()).abs() < 1e-6);
    }
}

#[test]
fn p07_equilibria_of_the_rocking_block() {
    let block = model("rocking-block", &[]);
    let all = equilibria(&block, &EquilibriaOptions::default(), &mut |_, _| true).expect("searched");
    assert!(all.exhaustive);
    let upright = all.found.iter().find(|e| e.q[2].abs() < 1e-9).expect("at rest on both corners");
    assert_eq!(upright.closed, [0, 1]);
    assert!(upright.reactions.iter().all(|l| (l - 4.905).abs() < 1e-10), "{upright:?}");
    assert!((upright.q[1] - 1.0).abs() < 1e-12);
    assert!(matches!(upright.stability, Stability::Neutral { directions: 1 }), "stable but for sliding: {upright:?}");
    assert_eq!(upright.family.len(), 1, "x is arbitrary");
    let tip = (0.2f64).atan2(1.0);
    for (sign, corner) in [(1.0, 0), (-1.0, 1)] {
        let balanced = all.found.iter().find(|e| (e.q[2] - sign * tip).abs() < 1e-9).expect("balanced on a corner");
        assert_eq!(balanced.closed, [corner]);
        assert!((balanced.reactions[0] - 9.81).abs() < 1e-10 && (balanced.q[1] - 1.04f64.sqrt()).abs() < 1e-10);
        assert!(matches!(balanced.stability, Stability::Unstable { .. }));
    }
}

#[test]
fn p07_the_ratio_at_which_the_kinetic_angle_is_right() {
    // Found by bisection on what `check` says: height = √2 × width.
    let (mut low, mut high) = (0.5, 3.0);
    for _ in 0..60 {
        let ratio = 0.5 * (low + high);
        if widest(&model("rocking-block", &[("b", 1.0), ("h", ratio), ("tilt", 0.0)])) > 90.0 {
            high = ratio;
        } else {
            low = ratio;
        }
    }
    assert!((low - 2f64.sqrt()).abs() < 1e-9, "{low}");
}

#[test]
fn p07_a_block_dropped_flat_splits_on_the_tall_side_of_the_right_angle() {
    let dropped = |h: f64| {
        let text = format!("{h:?}");
        let block = Builder::new("dropped block")
            .parameter("b", "1")
            .parameter("h", &text)
            .coordinate("y", format!("{h:?} + 0.1"), "0")
            .coordinate("a", "0", "0")
            .kinetic("y'^2/2 + (b^2 + h^2)/3*a'^2/2")
            .potential("9.81*y")
            .restitution("0")
            .constraint("A", "y - h*cos(a) - b*sin(a)")
            .constraint("B", "y - h*cos(a) + b*sin(a)");
        Problem::new(block.build().expect("a model")).expect("a problem")
    };
    // Soon after the impact: later both come to rest.
    assert!(splits(&dropped(3.0), 0.18), "obtuse");
    assert!(!splits(&dropped(0.7), 0.18), "acute");
    // The meeting is told in the ledger of a run.
    let tall = dropped(3.0);
    let ledger = tall.run(&Options::events(0.3).step(0.01)).expect("runs").ledger;
    assert_eq!(ledger.meetings.len(), 1);
    assert!(
        !ledger.meetings[0].continuous && ledger.meetings[0].sentence.contains("kinetic angle"),
        "{:?}",
        ledger.meetings
    );
}

/// P15 of the references, its first `n` pulses, with the clock at 2^−n: the ball at rest on the floor, or launched with 8^−n.
fn p15(n: i32, launch: f64) -> Problem {
    let pulses = (0..n).map(|k| {
        let (end, length) = (0.5f64.powi(k), 0.5f64.powi(k + 1));
        let start = 0.5f64.powi(k + 1) + 7.0 / 9.0 * length;
        let shift = 0.5f64.powi(n);
        format!("if(and(t > {:?}, t < {:?}), -{:?}, 0)", start - shift, end - shift, 81.0 * 0.25f64.powi(k))
    });
    let force = pulses.collect::<Vec<_>>().join(" + ");
    let ball = Builder::new("P15")
        .coordinate("u", "0", format!("{launch:?}"))
        .kinetic("u'^2/2")
        .force("u", &force)
        .restitution("1")
        .constraint("floor", "u");
    Problem::new(ball.build().expect("a model")).expect("a problem")
}

#[test]
fn p15_two_motions_from_data_as_near_as_you_like() {
    for n in [3, 6, 9] {
        let end = 1.0 - 0.5f64.powi(n);
        // V_n = V_0 8^−n with V_0 = 1 at t_1 = 1/2, that is 8·8^−n at t_n.
        let launch = 8.0 * 8f64.powi(-n);
        let (rest, bounce) = (p15(n, 0.0), p15(n, launch));
        let fine = |p: &Problem| p.run(&Options::events(end).scheme("event-driven").step(end)).expect("runs");
        let (rest, bounce) = (fine(&rest), fine(&bounce));
        assert_eq!(rest.trajectory.q(rest.trajectory.len() - 1), [0.0]);
        // It comes down on the floor at t = 1 with speed 8, whatever n: an arbitrarily small push decides.
        let k = bounce.trajectory.len() - 1;
        let speed = bounce.trajectory.v(k, saltus::Side::Left)[0];
        assert!((speed + 8.0).abs() < 1e-5 || (speed - 8.0).abs() < 1e-5, "n = {n}: {speed}");
    }
    let found = check(&p15(5, 0.0), &CheckOptions::new(1.0), &mut |_, _| true);
    let said = found.findings.iter().find(|f| f.topic == "forces").expect("a finding");
    assert!(
        said.verdict == Verdict::Note && said.text.contains("not analytic") || said.text.contains("not \n"),
        "{said:?}"
    );
    assert!(found.uncovered.iter().any(|u| u.contains("uniqueness")), "{:?}", found.uncovered);
}

#[test]
fn every_shipped_model_is_told_something_true() {
    for name in shipped::names(false) {
        let problem = model(name, &[]);
        let found = check(&problem, &CheckOptions::new(1.0), &mut |_, _| true);
        // (For friction there is a theorem of its own.)
        let rubs = !problem.model().frictions.is_empty();
        assert!(found.findings.len() >= 3 && found.theorems.len() == 6 + usize::from(rubs), "{name}");
        let mass = found.findings.iter().find(|f| f.topic == "mass").expect("mass");
        assert_ne!(mass.verdict, Verdict::Bad, "{name}: {}", mass.text);
    }
    // A squared distance, and a mass that vanishes on the way, are found.
    let squared =
        Builder::new("squared").coordinate("y", "1", "0").kinetic("y'^2/2").restitution("0").constraint("floor", "y^2");
    let squared = Problem::new(squared.build().expect("a model")).expect("a problem");
    let found = check(&squared, &CheckOptions::new(1.0), &mut |_, _| true);
    assert!(found.findings.iter().any(|f| f.topic == "gaps" && f.verdict == Verdict::Bad), "{:?}", found.findings);
    let vanishing = Builder::new("vanishing").coordinate("x", "1", "0").kinetic("x*x'^2/2");
    let vanishing = Problem::new(vanishing.build().expect("a model")).expect("a problem");
    let found = check(&vanishing, &CheckOptions::new(1.0), &mut |_, _| true);
    assert!(found.findings.iter().any(|f| f.topic == "mass" && f.verdict == Verdict::Bad), "{:?}", found.findings);
    assert!(found.theorems.iter().all(|t| !t.covers));
}

#[test]
fn long_runs_say_what_they_settled_on() {
    let ball = model("ball-gravity", &[("e", 0.5)]);
    let done = ball.run(&Options::events(1000.0).step(0.01).until_rest()).expect("runs");
    assert!(*done.trajectory.t.last().expect("some") < 100.0, "it stops at rest");
    let LongTime::Rest { since, q, closed } = long_time(&ball, &done) else { panic!("at rest") };
    assert!((since - 1.354_570_922_957_192_7).abs() < 1e-6 && q[0] == 0.0 && closed == [0], "{since}");
    // The oscillator settles on its period-one orbit, at the period of the forcing.
    let oscillator = model("oscillator", &[]);
    let options = Options::events(600.0).step(0.1);
    let done = oscillator.run(&options).expect("runs");
    let LongTime::Periodic { period, impacts, forcing, .. } = long_time(&oscillator, &done) else { panic!("periodic") };
    assert!(
        (period - std::f64::consts::TAU).abs() < 1e-5 && impacts == 1 && forcing == Some(1),
        "{period} {impacts} {forcing:?}"
    );
    // The chaotic one settles on nothing.
    let chaos = model("oscillator", &[("c", 0.0), ("w", 2.8), ("s", 0.0)]);
    let done = chaos.run(&options).expect("runs");
    assert_eq!(long_time(&chaos, &done), LongTime::Neither);
}
