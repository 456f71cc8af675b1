//! The event engine as a worker, against motions that are known in closed form.

use saltus::model::Builder;
use saltus::motion::Crossing;
use saltus::{Options, Problem, Start, Status};
use saltus_ensemble::{Engine, Job, LaneWorker, Outcome, Scalar, Settled, Statistic, Wanted, Worker};
use std::f64::consts::{PI, SQRT_2, TAU};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn run(problem: &Problem, job: Job, wanted: Wanted) -> Outcome {
    let wanted = Arc::new(Wanted { tolerance: 1e-11, ..wanted });
    let outcomes = Scalar::new(problem, &Arc::new(AtomicBool::new(false))).run(&[job], &wanted);
    outcomes.into_iter().next().expect("an outcome")
}

/// x = cos t, with quantities.
fn harmonic(quantities: &[&str]) -> Problem {
    let builder = Builder::new("harmonic").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
    let builder = quantities.iter().fold(builder, |builder, q| builder.quantity(*q));
    builder.event("through", "x", Crossing::Up).build().expect("a model").problem().expect("compiles")
}

/// A ball on a floor that loses nothing, dropped from 1 under g = 2: an impact at t = 1, 3, 5, …
fn ball() -> Problem {
    let builder = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("2*y").restitution(1.0);
    let builder = builder.constraint("floor", "y").quantity("y").quantity("y'");
    builder.build().expect("a model").problem().expect("compiles")
}

fn job(problem: &Problem, from: f64, end: f64, strobe: Option<f64>) -> Job {
    Job { start: problem.start(), from, end, strobe, step: None }
}

/// Forces that give and take many times what is there at any moment: what that leaves of the account is no breach. (A gear pair that hardly moves.)
#[test]
fn a_motion_that_hardly_moves_for_long_keeps_its_account() {
    let model = Builder::new("gears").coordinate("x", 1.1, 0.0).kinetic("x'^2/2");
    let force = "-0.1*x' - (1 + 0.2*cos(0.2*t))*(max(0, x - 1) + min(0, x + 1)) + 0.1 + 0.002*cos(0.2*t)";
    let problem = model.force("x", force).build().expect("a model").problem().expect("compiles");
    let period = TAU / 0.2;
    // From the motion that it settles on.
    let settling = run(&problem, job(&problem, 0.0, 40.0 * period, None), Wanted::default());
    let start = Start::new(0.0, settling.q, settling.v);
    let settled = Job { start, from: 100.0 * period, end: 200.0 * period, strobe: Some(period), step: None };
    let outcome = run(&problem, settled, Wanted { settled: true, ..Wanted::default() });
    assert_eq!(outcome.status, Ok(Status::Finished));
    assert_eq!(outcome.settled, Some(Settled::Periodic { intervals: 1, impacts: 0 }));
}

/// Nothing is forced and nothing hits: the period is that of the returns to a section. A limit cycle (van der Pol), and an oscillation that dies away.
#[test]
fn returns_to_a_section_tell_the_period() {
    let settled = |force: &str, end: f64| {
        let model = Builder::new("free").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").force("x", force);
        let problem = model.event("top", "x'", Crossing::Down).build().expect("a model").problem().expect("compiles");
        let wanted = Wanted { settled: true, sections: true, ..Wanted::default() };
        run(&problem, job(&problem, 0.5 * end, end, None), wanted).settled
    };
    let Some(Settled::Recurrent { time, impacts: 0 }) = settled("(1 - x^2)*x' - x", 200.0) else { panic!("no period") };
    // The period of van der Pol's oscillator with mu = 1: 6.6632868593…
    assert!((time - 6.663_286_859_3).abs() < 1e-8, "{time}");
    assert!(matches!(settled("-0.2*x' - x", 150.0), Some(Settled::Neither | Settled::Rest)));
}

#[test]
fn statistics_come_from_the_polynomials() {
    let problem = harmonic(&["x", "x^2 + x'", "abs(x)", "3"]);
    let wanted = Wanted { statistics: vec![0, 1, 2, 3], ..Wanted::default() };
    let found = run(&problem, job(&problem, TAU, 5.0 * TAU, None), wanted).statistics;
    let near = |found: f64, exact: f64| assert!((found - exact).abs() < 1e-9, "{found} instead of {exact}");
    near(found[0].min, -1.0);
    near(found[0].max, 1.0);
    near(found[0].mean, 0.0);
    near(found[0].rms, 1.0 / SQRT_2);
    // cos² − sin: largest 5/4 where sin = −1/2, least −1 where sin = 1; mean 1/2; mean square 3/8 + 1/2.
    near(found[1].max, 1.25);
    near(found[1].min, -1.0);
    near(found[1].mean, 0.5);
    near(found[1].rms, (3.0 / 8.0 + 0.5_f64).sqrt());
    near(found[2].min, 0.0);
    near(found[2].mean, 2.0 / PI);
    near(found[2].rms, 1.0 / SQRT_2);
    assert_eq!((found[3].min, found[3].max), (3.0, 3.0));
    near(found[3].rms, 3.0);
}

/// By the event engine, by lanes, and by steps.
fn everywhere(quantities: &[&str], expressions: &[&str], end: f64) -> Vec<Outcome> {
    let problem = harmonic(quantities);
    let statistics = (0..quantities.len()).collect();
    let expressions = expressions.iter().map(ToString::to_string).collect();
    let wanted = Wanted { statistics, expressions, tolerance: 1e-11, settled: true, ..Wanted::default() };
    let job = Job { step: Some(1e-2), ..job(&problem, 0.0, end, Some(TAU)) };
    let mut lanes: LaneWorker = LaneWorker::new(&problem, 1e-11, &Arc::default()).expect("lanes");
    let in_lanes = lanes.run(std::slice::from_ref(&job), &Arc::new(wanted.clone())).remove(0);
    let steps = Wanted { scheme: Some("moreau-jean".into()), ..wanted.clone() };
    vec![run(&problem, job.clone(), wanted), in_lanes, run(&problem, job, steps)]
}

#[test]
fn what_is_not_a_number_somewhere_has_no_statistics() {
    let plain = everywhere(&["x"], &["x"], 20.5 * TAU);
    assert_eq!(plain[0].settled, Some(Settled::Periodic { intervals: 1, impacts: 0 }));
    for (text, why) in [
        ("sqrt(x + 0.9)", "is not a number at t = "),
        ("log(x)", " t = 1."),
        ("1e308*(x + 1)*100", "is infinite at t = 0, x = 1, x' = 0"),
        ("1e200*(x + 1)", "is too large for its mean square at t = 0"),
        ("1/x", "t = 1.5707963"),
        ("if(x > 0, 1/x, 0)", "t = 1.5707963"),
        ("1/sqrt(abs(x))", "t = 1.5707963"),
        ("log(abs(x))", "t = 1.5707963"),
        ("sin(1e9*x)", "cannot be resolved: it jumps or varies too often within a step near t = "),
    ] {
        for (outcome, plain) in everywhere(&[text, "x"], &[text, "x"], 20.5 * TAU).into_iter().zip(&plain) {
            let Statistic { min, max, mean, rms } = outcome.statistics[0];
            let is_nothing = [min, max, mean, rms].iter().all(|x| x.is_nan());
            assert!(is_nothing, "{text}, {:?}: {:?}", outcome.engine, outcome.statistics[0]);
            let Ok(Status::Breached { breaches }) = &outcome.status else { panic!("{text}: {:?}", outcome.status) };
            assert_eq!(breaches.len(), 1, "{breaches:?}");
            assert!(breaches[0].starts_with(&format!("no statistics of `{text}`: it ")), "{breaches:?}");
            assert!(outcome.engine == Engine::Steps || breaches[0].contains(why), "{text}: {breaches:?}");
            // The motion is as good as ever, and so is what else is kept of it.
            assert_eq!(
                (outcome.settled, &outcome.q, outcome.checks),
                (plain.settled, &plain.q, plain.checks),
                "{text}"
            );
            let (other, alone) = (outcome.statistics[1], plain.statistics[0]);
            assert!((other.max - alone.max).abs() < 1e-9 && (other.rms - alone.rms).abs() < 1e-9, "{text}: {other:?}");
        }
    }
}

#[test]
fn corners_jumps_and_narrow_peaks_have_statistics() {
    let exact = [
        ("abs(x)", [0.0, 1.0, 2.0 / PI, 1.0 / SQRT_2], 1e-8),
        ("sign(x)", [-1.0, 1.0, 0.0, 1.0], 1e-3),
        ("if(x > 0, 3, 1)", [1.0, 3.0, 2.0, 5.0_f64.sqrt()], 1e-3),
        ("sqrt(abs(x))", [0.0, 1.0, 0.762_759_763_501_8, (2.0 / PI).sqrt()], 1e-4),
        // 1/(x² + ε²) has the mean 1/(ε √(1 + ε²)).
        ("1/(x^2 + 1e-6)", [1.0 / (1.0 + 1e-6), 1e6, 1e3 / 1.000_001_f64.sqrt(), 22_360.685], 1e-4),
    ];
    for (text, [min, max, mean, rms], near) in exact {
        for outcome in everywhere(&[text], &[text], 10.0 * TAU).into_iter().take(2) {
            assert_eq!(outcome.status, Ok(Status::Finished), "{text}");
            let s = outcome.statistics[0];
            for (found, exact) in [(s.min, min), (s.max, max), (s.mean, mean), (s.rms, rms)] {
                assert!((found - exact).abs() <= near * max.abs(), "{text}, {:?}: {s:?}", outcome.engine);
            }
        }
    }
}

/// A value that is not a number ends the search for it: before, each piece was halved to the end of the depth.
#[test]
fn what_has_no_statistics_costs_no_more() {
    let cost = |text: &str| {
        let problem = harmonic(&[text]);
        let wanted = Wanted { statistics: vec![0], ..Wanted::default() };
        let started = std::time::Instant::now();
        let outcome = run(&problem, job(&problem, 0.0, 400.0 * TAU, None), wanted);
        assert_eq!(outcome.statistics.len(), 1);
        started.elapsed().as_secs_f64()
    };
    let plain = cost("x").max(cost("x"));
    for text in ["log(x)", "sqrt(x)", "1/x", "sin(1e9*x)"] {
        let spent = cost(text);
        assert!(spent < 10.0 * plain + 0.5, "{text}: {spent} s, {plain} s for x");
    }
}

/// What differs from zero in a small part of each period is found, in all of them.
#[test]
fn what_is_short_counts() {
    let problem = harmonic(&["if(x>0.999,1,0)", "max(0,x-0.9999)"]);
    let (job, wanted) = (job(&problem, TAU, 4.0 * TAU, None), Wanted { statistics: vec![0, 1], ..Wanted::default() });
    let outcome = run(&problem, job, Wanted { rough: true, ..wanted });
    let (a, b) = (0.999_f64.acos(), 0.9999_f64.acos());
    let near =
        |found: f64, exact: f64, by: f64| assert!((found / exact - 1.0).abs() < by, "{found} instead of {exact}");
    near(outcome.statistics[0].mean, a / PI, 1e-3);
    near(outcome.statistics[0].rms, (a / PI).sqrt(), 1e-3);
    near(outcome.statistics[1].mean, (b.sin() - 0.9999 * b) / PI, 1e-6);
    near(outcome.statistics[1].max, 1e-4, 1e-8);
}

#[test]
fn velocities_have_both_limits_at_impacts() {
    let problem = ball();
    let wanted = Wanted { statistics: vec![0, 1], impacts: 3, settled: true, ..Wanted::default() };
    let outcome = run(&problem, job(&problem, 2.0, 10.0, None), wanted);
    let near = |found: f64, exact: f64| assert!((found - exact).abs() < 1e-9, "{found} instead of {exact}");
    near(outcome.statistics[0].max, 1.0);
    near(outcome.statistics[0].min, 0.0);
    near(outcome.statistics[0].mean, 2.0 / 3.0);
    near(outcome.statistics[1].max, 2.0);
    near(outcome.statistics[1].min, -2.0);
    near(outcome.statistics[1].rms, 2.0 / 3.0_f64.sqrt());
    assert_eq!((outcome.impacts, outcome.hits.len(), outcome.engine), (4, 3, Engine::Scalar));
    for (hit, t) in outcome.hits.iter().zip([5.0, 7.0, 9.0]) {
        near(hit.t, t);
        near(hit.speed, 2.0);
        near(hit.impulse, 4.0);
    }
}

#[test]
fn long_runs_are_made_in_slices_and_none_shows() {
    let problem = ball();
    let wanted = Wanted { impacts: usize::MAX, settled: true, strobe: true, ..Wanted::default() };
    // (Two steps from impact to impact, and 40 000 in a slice.)
    let outcome = run(&problem, job(&problem, 0.0, 1e5, Some(2.0)), wanted);
    assert_eq!((outcome.impacts, outcome.status.clone()), (50_000, Ok(Status::Finished)));
    assert!(outcome.hits.iter().enumerate().all(|(k, hit)| (hit.t - (1 + 2 * k) as f64).abs() < 1e-6));
    assert_eq!(outcome.strobe.len(), 50_001 * 3);
    assert!(outcome.strobe.chunks(3).enumerate().all(|(k, s)| s[0] == 2.0 * k as f64 && (s[1] - 1.0).abs() < 1e-6));
    assert_eq!(outcome.settled, Some(Settled::Periodic { intervals: 1, impacts: 1 }));
    assert!(!outcome.checks.is_breached && outcome.checks.law < 1e-9 && outcome.checks.balance < 1e-8);
}

/// A slice may end at a crossing, whose state is on either side of the section by rounding: it is no second crossing in the next one.
#[test]
fn crossings_at_the_ends_of_slices_are_counted_once() {
    let builder = Builder::new("driven").coordinate("x", 0.3, 0.0).coordinate("y", 0.0, 0.0);
    let builder = builder.kinetic("x'^2/2 + y'^2").force("x", "cos(1.1*t) - 0.1*(x' - y') - (x - y)");
    let builder = builder.force("y", "0.1*(x' - y') + (x - y)").slider("ground", "y'", 0.3, None).restitution(0.5);
    let builder = builder.constraint("stop", "0.8 - x + y").event("turn", "x' - y'", Crossing::Both);
    let model = builder.event("curved", "x*x' + 0.2*y^2 - 0.05", Crossing::Both).build().expect("a model");
    let problem = model.problem().expect("compiles");
    let whole = problem.run_from(&problem.start(), &Options::events(12_000.0).tolerance(1e-11)).expect("runs");
    let exact: Vec<(usize, f64)> = whole.trajectory.events.iter().map(|e| (e.event, e.t)).collect();
    assert!(exact.len() > 4000, "{}", exact.len());
    // (Returns that are never reached make slices short.)
    for returns in [None, Some(1_000_000)] {
        let wanted = Wanted { sections: true, returns, settled: true, ..Wanted::default() };
        let outcome = run(&problem, job(&problem, 0.0, 12_000.0, None), wanted);
        let found: Vec<(usize, f64)> = outcome.sections.chunks(6).map(|row| (row[0] as usize, row[1])).collect();
        for k in 0..2 {
            let of = |all: &[(usize, f64)]| all.iter().filter(|c| c.0 == k).map(|c| c.1).collect::<Vec<f64>>();
            let (found, exact) = (of(&found), of(&exact));
            let first = found.iter().zip(&exact).find(|(a, b)| (*a - *b).abs() > 1e-7);
            assert_eq!((found.len(), first), (exact.len(), None), "{returns:?} {k}");
        }
        assert_eq!(outcome.returns, exact.iter().filter(|c| c.0 == 0).count() as u64);
    }
}

#[test]
fn sections_are_located() {
    let problem = harmonic(&[]);
    let wanted = Wanted { sections: true, ..Wanted::default() };
    let outcome = run(&problem, job(&problem, 5.0, 40.0, None), wanted);
    let found: Vec<&[f64]> = outcome.sections.chunks(4).collect();
    assert_eq!(found.len(), 5);
    for (k, section) in found.iter().enumerate() {
        assert!((section[1] - (1.5 * PI + TAU * (k + 1) as f64)).abs() < 1e-9);
        assert!(section[2].abs() < 1e-9 && (section[3] - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_start_inside_a_wall_is_refused_with_the_reason() {
    let problem = ball();
    let start = Start::new(0.0, vec![-1.0], vec![0.0]);
    let outcome = run(&problem, Job { start, from: 0.0, end: 1.0, strobe: None, step: None }, Wanted::default());
    let reason = outcome.status.expect_err("refused");
    assert!(reason.contains("floor"), "{reason}");
}

/// Steps leave a ball that rests a little below its floor: slices that begin there are not blamed for it.
#[test]
fn rest_by_steps_is_lawful_in_every_slice() {
    let builder = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y");
    let model = builder.restitution(0.3).constraint("floor", "y").build().expect("a model");
    let problem = model.problem().expect("compiles");
    for scheme in ["moreau-jean", "mabrouk", "paoli-schatzman", "bernicot-lefebvre-lepot"] {
        let wanted = Wanted { scheme: Some(scheme.into()), settled: true, ..Wanted::default() };
        let found = run(&problem, Job { step: Some(1e-3), ..job(&problem, 0.0, 100.0, None) }, wanted);
        let refused = scheme == "bernicot-lefebvre-lepot" && found.status.is_err();
        assert!(refused || found.status == Ok(Status::Finished), "{scheme}: {:?}", found.status);
        assert!(refused || (found.settled == Some(Settled::Rest) && found.impacts > 2), "{scheme}: {found:?}");
    }
}
