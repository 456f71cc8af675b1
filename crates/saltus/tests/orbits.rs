//! Periodic orbits against closed forms: states to 1e-11, multipliers to 1e-8.

use saltus::analysis::{NoOrbit, OrbitOptions, is_same_orbit, orbit, starts_around};
use saltus::model::Builder;
use saltus::{Options, Problem, Start};
use std::f64::consts::TAU;

fn oscillator(c: f64, load: f64, w: f64, stops: &[&str], e: f64) -> Problem {
    let mut model = Builder::new("oscillator")
        .coordinate("x", -0.1, 0.1)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", format!("{load}*cos({w}*t) - {c}*x'"))
        .restitution(e);
    for stop in stops {
        model = model.constraint(stop, *stop);
    }
    model.build().expect("a model").problem().expect("compiles")
}

fn options(w: f64) -> OrbitOptions {
    OrbitOptions { period: Some(TAU / w), ..OrbitOptions::default() }
}

#[test]
fn one_impact_a_period_at_one_stop() {
    // P04: impact speed, phase, trace and determinant from the closed form.
    for (load, speed, phase, trace) in [
        (1.0, 1.695732937594882, 0.07595216493831239, -1.1685906286830592),
        (0.5, 0.8370160231996595, 0.1771123596906632, -1.1623317820906889),
        (0.101, 0.028563305887332375, 1.4037265026703452, -0.812509152772199),
    ] {
        let problem = oscillator(0.1, load, 1.0, &["1 - x"], 0.8);
        let found = orbit(&problem, &problem.start(), &options(1.0)).expect("an orbit");
        assert_eq!(found.multiple, Some(1));
        let impacts = &found.passage.run.trajectory.impacts;
        assert_eq!(impacts.len(), 1);
        let impact = impacts.get(0);
        assert!((impact.v_before[0] - speed).abs() < 1e-11, "{} {speed}", impact.v_before[0]);
        let at = (impact.t - phase).rem_euclid(TAU);
        assert!(at.min(TAU - at) < 1e-11, "{} {phase}", impact.t);
        let stability = found.stability();
        let sum: f64 = stability.multipliers.iter().map(|z| z.0).sum();
        let [a, b] = stability.multipliers[..] else { panic!("two multipliers") };
        let product = a.0 * b.0 - a.1 * b.1;
        assert!((sum - trace).abs() < 1e-8 && (product - 0.3414323782983061).abs() < 1e-8, "{stability:?}");
        assert!(stability.is_stable() && found.residual < 1e-11);
        assert_eq!(found.sequence(problem.model()), "impact 1 - x");
    }
}

#[test]
fn unstable_orbits_are_found_from_a_guess() {
    // P04 without damping, s = 0, past the period doubling at w = 2.653…: the orbit of one impact is a flip saddle.
    let w = 2.7;
    let problem = oscillator(0.0, 1.0, w, &["-x"], 0.8);
    // (Followed from where it is stable: impact speed and phase there are those of the closed form.)
    let stable = oscillator(0.0, 1.0, 2.6, &["-x"], 0.8);
    let after = Start::new(3.029382935753975 / 2.6, vec![0.0], vec![-0.8 * 0.5054399708939568]);
    let guess = stable.run_from(&after, &Options::events(after.t + 0.5)).expect("starts").last().clone();
    let near = orbit(&stable, &guess, &OrbitOptions { transient: 0.0, ..options(2.6) }).expect("stable");
    let trace: f64 = near.stability().multipliers.iter().map(|z| z.0).sum();
    assert!((trace + 1.1490793095920597).abs() < 1e-8, "{trace}");
    let found = orbit(&problem, &near.start, &OrbitOptions { transient: 0.0, multiple: Some(1), ..options(w) });
    let found = found.expect("an orbit");
    let stability = found.stability();
    let determinant: f64 = stability.multipliers.iter().map(|z| z.0).product();
    assert!((determinant - 0.64).abs() < 1e-8 && stability.outside == 1, "{stability:?}");
    assert!(stability.multipliers[0].0 < -1.0, "{stability:?}");
    assert!(stability.sentence().contains("saddle"));
}

#[test]
fn two_impacts_a_period_between_two_stops() {
    // P10: the half map gives trace and determinant.
    for (w, s, e, speed, trace, det) in [
        (1.0, 0.5, 0.7, 0.9086705121461677, -1.1996244670706044, 0.35789731861383633),
        (2.0, 0.5, 0.7, 0.955109474724808, -0.740554266644238, 0.4187716395850844),
    ] {
        let stops = [format!("{s} - x"), format!("{s} + x")];
        let problem = oscillator(0.1, 1.0, w, &[&stops[0], &stops[1]], e);
        let found = orbit(&problem, &problem.start(), &options(w)).expect("an orbit");
        let impacts = &found.passage.run.trajectory.impacts;
        assert_eq!(impacts.len(), 2);
        assert!((impacts.get(0).v_before[0].abs() - speed).abs() < 1e-11, "{:?}", impacts.get(0));
        let sum: f64 = found.stability().multipliers.iter().map(|z| z.0).sum();
        assert!((sum - (trace * trace - 2.0 * det)).abs() < 1e-8, "{:?}", found.stability());
    }
}

#[test]
fn symmetric_orbits_by_half_a_period() {
    // P10: the speed of the closed form; the start is a rough guess, and nothing settles.
    let (w, s, e, speed) = (1.0, 0.5, 0.7, 0.9086705121461677);
    let stops = [format!("{s} - x"), format!("{s} + x")];
    let problem = oscillator(0.1, 1.0, w, &[&stops[0], &stops[1]], e);
    let settled = orbit(&problem, &problem.start(), &options(w)).expect("an orbit");
    assert!(settled.is_symmetric());
    let mut guess = settled.start.clone();
    guess.v[0] += 0.02;
    let only = OrbitOptions { transient: 0.0, multiple: Some(1), symmetric: true, ..options(w) };
    let found = orbit(&problem, &guess, &only).expect("a symmetric orbit");
    assert!(found.is_symmetric() && is_same_orbit(&problem, &found, &settled));
    assert!((found.passage.run.trajectory.impacts.get(0).v_before[0].abs() - speed).abs() < 1e-11);
    // One stop alone has none.
    let problem = oscillator(0.1, 1.0, w, &["1 - x"], 0.8);
    let refusal = orbit(&problem, &problem.start(), &OrbitOptions { symmetric: true, ..options(w) });
    assert!(refusal.is_err() && !orbit(&problem, &problem.start(), &options(w)).expect("an orbit").is_symmetric());
}

fn ball(load: f64, e: f64) -> Problem {
    Builder::new("ball")
        .coordinate("y", 2.0, 0.0)
        .kinetic("y'^2/2")
        .potential("y")
        .restitution(e)
        .constraint("table", format!("y - {load}*sin(t)"))
        .build()
        .expect("a model")
        .problem()
        .expect("compiles")
}

#[test]
fn a_ball_on_a_table() {
    // P03: phase, speed after the impact, multipliers.
    let problem = ball(1.3, 0.5);
    let guess = Start::new(0.0, vec![3.0], vec![-3.0]);
    let found = orbit(&problem, &guess, &options(1.0)).expect("an orbit");
    let impacts = &found.passage.run.trajectory.impacts;
    assert_eq!(impacts.len(), 1);
    assert!((impacts.get(0).t - 0.6342158689257742).abs() < 1e-11, "{}", impacts.get(0).t);
    assert!((impacts.get(0).v_after[0] - std::f64::consts::PI).abs() < 1e-11);
    let multipliers = found.stability().multipliers;
    assert!(
        (multipliers[0].0 + 0.2415985986007645).abs() < 1e-8 && (multipliers[0].1 - 0.4377557734104105).abs() < 1e-8
    );
    // e = 0: it lands, rests and is thrown again; all directions are lost.
    let problem = ball(1.2, 0.0);
    let found = orbit(&problem, &problem.start(), &options(1.0)).expect("an orbit");
    let sequence = found.sequence(problem.model());
    assert!(sequence.contains("contact table") && sequence.contains("release table"), "{sequence}");
    let release = found.events(problem.model()).into_iter().find(|e| e.kind == "release").expect("a release");
    assert!((release.t.0 - 0.9851107833377457).abs() < 1e-11, "{release:?}");
    assert!(found.stability().multipliers.iter().all(|z| z.0.hypot(z.1) < 1e-9));
    // e = 0.2 at a weak table: chatter in every period.
    let problem = ball(1.1, 0.2);
    let found = orbit(&problem, &problem.start(), &options(1.0)).expect("an orbit");
    assert!(found.sequence(problem.model()).contains("chatter table"), "{}", found.sequence(problem.model()));
    assert!(found.stability().is_stable() && found.residual < 1e-9, "{}", found.residual);
}

#[test]
fn a_period_of_its_own() {
    // Van der Pol's oscillator with a stop, and without: the period without is 6.6632868593 for μ = 1.
    let van_der_pol = |stop: f64| {
        Builder::new("van der Pol")
            .coordinate("x", 1.0, 0.0)
            .kinetic("x'^2/2")
            .force("x", "(1 - x^2)*x' - x")
            .restitution(0.8)
            .constraint("stop", format!("{stop} - x"))
            .build()
            .expect("a model")
            .problem()
            .expect("compiles")
    };
    let problem = van_der_pol(5.0);
    let given = OrbitOptions { transient: 60.0, period: Some(6.6), ..OrbitOptions::default() };
    let found = orbit(&problem, &problem.start(), &given).expect("an orbit");
    assert!((found.period - 6.66328685931).abs() < 1e-9, "{}", found.period);
    assert_eq!(found.stability().multipliers.len(), 1);
    assert!(found.stability().is_stable());
    // Its multiplier is exp ∫(1 − x²): −1.0593769 is the exponent.
    let exponent = found.stability().multipliers[0].0.ln() / found.period;
    assert!((exponent + 1.0593769).abs() < 1e-5, "{exponent}");
    let problem = van_der_pol(1.5);
    let found = orbit(&problem, &problem.start(), &OrbitOptions { transient: 200.0, ..OrbitOptions::default() });
    let found = found.expect("an orbit with impacts");
    assert_eq!(found.passage.run.trajectory.impacts.len(), 1);
    assert!(found.residual < 1e-10, "{}", found.residual);
}

#[test]
fn stick_and_slip_on_a_belt() {
    // Slip from where the spring force is that of sticking, about where it is that of sliding: 2π − 2 atan(D/V), and sticking for
    // 2D/V, with the difference D of both.
    let (speed, d) = (0.5_f64, 0.2_f64);
    let problem = Builder::new("belt")
        .coordinate("x", 1.5, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .slider("belt", format!("x' - {speed}"), "0.3", Some("0.5".into()))
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let found = orbit(&problem, &problem.start(), &OrbitOptions::default()).expect("an orbit");
    let expected = TAU - 2.0 * (d / speed).atan() + 2.0 * d / speed;
    assert!((found.period - expected).abs() < 1e-10, "{} {expected}", found.period);
    assert!(found.stability().multipliers[0].0.abs() < 1e-9, "{:?}", found.stability());
}

#[test]
fn what_is_no_orbit_is_told() {
    // A body that drifts away.
    let problem = Builder::new("body")
        .coordinate("x", 0.0, 1.0)
        .kinetic("x'^2/2")
        .force("x", "1 + cos(t)")
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let refusal = orbit(&problem, &problem.start(), &options(1.0)).expect_err("there is none");
    assert!(matches!(refusal, NoOrbit::NotNear { .. }), "{refusal}");
    assert!(refusal.to_string().contains("no periodic orbit was found"), "{refusal}");
    // One that comes to rest.
    let problem = Builder::new("body")
        .coordinate("x", 1.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", "-x'")
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let refusal = orbit(&problem, &problem.start(), &OrbitOptions::default()).expect_err("there is none");
    assert!(refusal.to_string().contains("rest") || refusal.to_string().contains("period"), "{refusal}");
}

#[test]
fn a_start_may_leave_states_out_and_two_orbits_are_told_apart() {
    // x'' + x'/5 + x = z, z' = −z + cos t: a response of one period; the state is not given.
    let problem = Builder::new("with a state")
        .coordinate("x", 0.0, 0.0)
        .state("z", 0.3, "-z + cos(t)")
        .kinetic("x'^2/2")
        .potential("x^2")
        .force("x", "z - x'/5")
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let start = Start::new(0.0, vec![0.1], vec![0.0]);
    let settings = OrbitOptions { transient: 0.0, ..options(1.0) };
    let found = orbit(&problem, &start, &settings).expect("an orbit");
    // z = (cos t + sin t)/2
    assert!((found.start.v[1] - 0.5).abs() < 1e-11, "{:?}", found.start);
    assert!(
        (found.stability().multipliers.iter().map(|z| z.0.hypot(z.1)).product::<f64>() - (-1.2 * TAU).exp()).abs()
            < 1e-10
    );
    for other in starts_around(&problem, &start, TAU, 4, 7) {
        let again = orbit(&problem, &other, &settings).expect("an orbit");
        assert!(is_same_orbit(&problem, &found, &again));
    }
    // Six periods with chatter, and two without, coexist.
    let problem = oscillator(0.02, 1.0, 2.7, &["-x"], 0.8);
    let chatters = orbit(&problem, &Start::new(0.0, vec![0.0], vec![0.0]), &options(2.7)).expect("an orbit");
    let guess = Start::new(0.0, vec![-0.783], vec![0.0295]);
    let bounces = orbit(&problem, &guess, &options(2.7)).expect("an orbit");
    assert_eq!((chatters.multiple, bounces.multiple), (Some(6), Some(2)));
    assert!(!is_same_orbit(&problem, &chatters, &bounces));
    assert!(chatters.sequence(problem.model()).contains("chatter"), "{}", chatters.sequence(problem.model()));
}
