//! The force on the supports against the equation of motion, and a preloaded rest with exact flight.

use saltus::structure::bar::building;
use saltus::structure::beam::Section;
use saltus::structure::{Beam, Builder, Damping, InitialState, Part, Place, Structure};
use saltus::{Options, Run, Side};

const MASSES: [f64; 3] = [3.0, 2.5, 2.0];

/// A damped building on moving ground, with a load on its roof and, if asked for, a spring beside its second floor.
fn shaken(damping: Damping, stop: bool) -> Structure {
    let mut made = Builder::new("shaken");
    let part = building(&MASSES, &[900.0, 800.0, 500.0]).map(|part| Part { damping, ..part });
    let part = made.part(part.expect("a building"));
    let floors: Vec<_> = (1..=3).map(|k| made.point(&format!("u{k}"), part.floor(k))).collect();
    made.point("shear", part.place(Place::Shear));
    made.force(&floors[2], "4*sin(7*t)");
    made.base_acceleration("3*sin(5*t) + cos(2*t)");
    if stop {
        made.spring_stop("wall", 0.002 - &floors[1], 2000.0);
    }
    made.build().expect("a structure")
}

/// loads + stops − Σ m (u'' + a) less the base shear, at stored instants away from the ends.
fn imbalance(run: &Run, stop: bool) -> f64 {
    let (motion, history) = (&run.trajectory, &run.trajectory.history);
    let mut worst = 0.0_f64;
    for k in 2..motion.len() - 2 {
        let t = motion.t[k];
        let inertia: f64 = MASSES.iter().zip(history.accelerations(k)).map(|(m, a)| m * a).sum();
        let push = match stop {
            true => (history.impulses(k + 1)[0] - history.impulses(k - 1)[0]) / (motion.t[k + 1] - motion.t[k - 1]),
            false => 0.0,
        };
        let shear = history.shears(k)[0];
        worst = worst.max((4.0 * (7.0 * t).sin() - push - inertia - shear).abs());
    }
    worst
}

#[test]
fn base_shears_are_what_the_equation_of_motion_leaves_for_the_supports() {
    for (damping, scheme, stop) in [
        (Damping::Rayleigh(0.8, 4e-3), "paoli-schatzman", false),
        (Damping::Rayleigh(0.8, 4e-3), "paoli-schatzman", true),
        (Damping::Modal(vec![0.05, 0.1]), "paoli-schatzman", false),
        (Damping::Modal(vec![0.05, 0.1]), "event-driven", false),
        (Damping::Rayleigh(0.8, 4e-3), "moreau-jean", false),
    ] {
        let structure = shaken(damping.clone(), stop);
        let of = |h: f64| {
            let options = match scheme {
                "event-driven" => Options::events(3.0).scheme("event-driven").step(h),
                _ => Options::steps(scheme, h).until(3.0),
            };
            structure.run(&options).expect("runs").ok().expect("sound")
        };
        let (coarse, fine) = (of(4e-3), of(1e-3));
        let (far, near) = (imbalance(&coarse, stop), imbalance(&fine, stop));
        let shear = fine.shears[0];
        let size = shear.max.max(-shear.min);
        assert!(near < 2e-3 * size, "{damping:?} {scheme} {stop}: {near} of {size}");
        assert!(near < 0.3 * far || near < 1e-9 * size, "{damping:?} {scheme} {stop}: {far} {near}");
        // Damping is a part of it: the elastic force alone does not balance.
        let elastic = (0..fine.trajectory.len()).map(|k| {
            let (q, shears) = (fine.trajectory.q(k), fine.trajectory.history.shears(k));
            (shears[0] - q[3]).abs()
        });
        assert!(elastic.fold(0.0, f64::max) > 0.02 * size);
        // Its extremes are those of all steps.
        let stored = (0..fine.trajectory.len()).map(|k| fine.trajectory.history.shears(k)[0]);
        assert_eq!(stored.fold(f64::NEG_INFINITY, f64::max), shear.max);
    }
}

/// A propped beam at rest, by modes that fly exactly: it stays, presses as statics say, and nothing is breached.
#[test]
fn a_preloaded_rest_stays_with_exact_flight() {
    for (damping, h) in [(None, 1e-3), (None, 2e-2), (Some((0.3, 1e-4)), 1e-3)] {
        let mut made = Builder::new("propped");
        let section = Section { rigidity: 3.0, mass_per_length: 1.5 };
        let beam = Beam::hermite(2.0, section, 20);
        let beam = made.part(match damping {
            Some((a, b)) => beam.rayleigh(a, b),
            None => beam,
        });
        let tip = made.point("tip", beam.at(2.0));
        let all = made.point("all", beam.place(Place::Span(0.0, 2.0)));
        made.force(&all, -10.0);
        made.stop("prop", &tip - 0.01, 0.0);
        made.start(InitialState { at_equilibrium: true, ..InitialState::default() });
        let structure = made.build().expect("a structure");
        let mut options = Options::steps("paoli-schatzman", h).until(0.5);
        options.settings.set("forcing", "exact");
        let run = structure.run(&options).expect("runs");
        assert!(run.ledger.complaints().is_empty(), "{damping:?} {h}: {:?}", run.ledger.complaints());
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
        let history = &run.trajectory.history;
        for k in 1..run.trajectory.len() {
            let force = (history.impulses(k)[0] - history.impulses(k - 1)[0]) / h;
            // (Kicks once a step move the modes that it barely resolves.)
            assert!((force - 3.76125).abs() < 0.4, "{damping:?} {h}: {force} at step {k}");
            let v = run.trajectory.v(k, Side::Left)[0];
            assert!(v.abs() < 1e-9, "{v} at step {k}");
        }
        let mean = history.impulses(run.trajectory.len() - 1)[0] / 0.5;
        assert!((mean - 3.76125).abs() < 0.02, "{damping:?} {h}: {mean}");
    }
}

/// Stops on combinations with rotations, whose inertia is next to nothing: impulses explain the jumps as far as the step resolves them.
#[test]
fn stops_on_rotations_breach_nothing() {
    for h in [1e-3, 1e-4] {
        let mut made = Builder::new("turning");
        let section = Section { rigidity: 30.0, mass_per_length: 1.5 };
        let beam = made.part(Beam::hermite(2.0, section, 20).rayleigh(0.1, 1e-5));
        let tip = made.point("tip", beam.at(2.0));
        made.point("slope", beam.place(Place::Rotation(2.0)));
        made.force(&tip, "-10*sin(25*t)");
        made.stop("below", "0.02 + tip - 0.2*slope", 0.0);
        made.stop("above", "0.02 - tip - 0.2*slope", 0.0);
        let structure = made.build().expect("a structure");
        let run = structure.run(&Options::steps("paoli-schatzman", h).until(1.0)).expect("runs");
        assert!(run.ledger.complaints().is_empty(), "{h}: {:?}", run.ledger.complaints());
        assert!(run.trajectory.impacts.len() > 5);
    }
}

/// A base shear is a force: no measure of displacements has it, and nothing stands on it.
#[test]
fn a_base_shear_is_no_displacement() {
    use saltus::analysis::{ProbeOptions, distance, probe, response_spectrum, sequentially};
    let structure = shaken(Damping::Rayleigh(0.8, 4e-3), true);
    let run = |h: f64| structure.run(&Options::steps("paoli-schatzman", h).until(3.0)).expect("runs");
    let (coarse, fine) = (run(4e-3), run(1e-3));
    let motion = &fine.trajectory;
    assert!(motion.is_force(3) && motion.displacements().eq(0..3));
    let largest = (0..motion.len()).flat_map(|k| motion.q(k)[..3].to_vec()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let force = (0..motion.len()).map(|k| motion.q(k)[3].abs()).fold(0.0_f64, f64::max);
    assert!(force > 10.0 * largest && motion.reach() == largest, "{force} {largest}");
    assert!(distance(&coarse.trajectory, motion).position < 0.1 * largest);
    let error = response_spectrum(&structure, &fine, 3, &[1.0], &[0.05]).expect_err("a force");
    assert!(error.message.contains("`shear` is a force"), "{}", error.message);
    let how = ProbeOptions { starts: 4, size: 1e-3, seed: 1 };
    let options = Options::steps("paoli-schatzman", 4e-3).until(3.0);
    let found = probe(&structure, &structure.start(), &options, &how, &mut sequentially(&structure)).expect("probed");
    assert!(found.spread.0 < 0.1 * largest, "{} {largest}", found.spread.0);
}

/// Along a given motion r of the degrees of freedom: r·K u, here that of the second storey alone.
#[test]
fn a_base_shear_has_the_direction_that_is_given() {
    let mut made = Builder::new("upper");
    let part = made.part(building(&MASSES, &[900.0, 800.0, 500.0]).expect("a building"));
    let floors: Vec<_> = (1..=3).map(|k| made.point(&format!("u{k}"), part.floor(k))).collect();
    made.point("upper", part.place(Place::ShearAlong(vec![0.0, 1.0, 1.0])));
    made.force(&floors[2], "4*sin(7*t)");
    let structure = made.build().expect("a structure");
    let run = structure.run(&Options::steps("paoli-schatzman", 1e-3).until(1.0)).expect("runs");
    for k in 0..run.trajectory.len() {
        let q = run.trajectory.q(k);
        assert!((q[3] - 800.0 * (q[1] - q[0])).abs() < 1e-12, "{q:?}");
    }
    assert!(run.trajectory.is_force(3));
    let mut made = Builder::new("short");
    let part = made.part(building(&MASSES, &[900.0, 800.0, 500.0]).expect("a building"));
    made.point("upper", part.place(Place::ShearAlong(vec![1.0])));
    assert!(made.build().is_err());
}
