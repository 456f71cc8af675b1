//! Forces, accelerations and spectra of structures over time.

use saltus::analysis::{Shocks, displacement_density, force_density, response_spectrum};
use saltus::structure::bar::building;
use saltus::structure::beam::Section;
use saltus::structure::{Beam, Builder, Damping, InitialState, Part, Place, Structure};
use saltus::{Options, Run};

fn guided(stiffness: Option<f64>) -> Structure {
    let mut made = Builder::new("guided");
    let section = Section { rigidity: 1.0, mass_per_length: 1.0 };
    let beam = made.part(Beam::hermite(1.0, section, 12).rayleigh(0.2, 1e-4));
    let (tip, middle) = (made.point("tip", beam.at(1.0)), made.point("middle", beam.at(0.6)));
    made.force(&tip, "2*sin(5*t)");
    for (name, gap) in [("below", 0.02 + &middle), ("above", 0.02 - &middle)] {
        match stiffness {
            Some(k) => made.spring_stop(name, gap, k),
            None => made.stop(name, gap, 0.0),
        }
    }
    made.build().expect("a structure")
}

#[test]
fn forces_over_a_shock_add_up_to_its_impulse() {
    let h = 1e-3;
    for stiffness in [None, Some(200.0), Some(1e7)] {
        for scheme in ["paoli-schatzman", "moreau-jean"] {
            if stiffness.is_some() && scheme == "moreau-jean" {
                continue;
            }
            let structure = guided(stiffness);
            let run = structure.run(&Options::steps(scheme, h).until(6.0)).expect("runs");
            let shocks = Shocks::new(&structure, &run, Some(12.0 * h));
            let (times, history) = (&run.trajectory.t, &run.trajectory.history);
            assert_eq!(history.len(), times.len());
            let largest = shocks.list.iter().map(|s| s.impulse).fold(0.0, f64::max);
            let mut seen = 0;
            for s in shocks.list.iter().filter(|s| s.start > 5.0 * h && s.end < 6.0 - 5.0 * h) {
                let of = |t: f64| history.impulse(times, s.stop, t);
                let sum = of(s.end + 5.0 * h) - of(s.start - 5.0 * h);
                assert!((sum - s.impulse).abs() < 1e-12 * largest, "{stiffness:?} {scheme}: {sum} {s:?}");
                seen += 1;
            }
            assert!(seen > 5, "{seen} shocks");
        }
    }
}

#[test]
fn at_rest_every_interval_has_the_static_reaction() {
    let mut made = Builder::new("propped");
    let section = Section { rigidity: 3.0, mass_per_length: 1.5 };
    let beam = made.part(Beam::hermite(2.0, section, 20).rayleigh(0.3, 1e-4));
    let tip = made.point("tip", beam.at(2.0));
    let all = made.point("all", beam.place(Place::Span(0.0, 2.0)));
    made.force(&all, -10.0);
    made.stop("prop", &tip - 0.01, 0.0);
    made.start(InitialState { at_equilibrium: true, ..InitialState::default() });
    let beam = made.build().expect("a structure");
    for scheme in ["paoli-schatzman", "moreau-jean"] {
        let run = beam.run(&Options::steps(scheme, 1e-3).until(0.2).every(7)).expect("runs");
        let (t, history) = (&run.trajectory.t, &run.trajectory.history);
        for k in 1..t.len() {
            let force = (history.impulses(k)[0] - history.impulses(k - 1)[0]) / (t[k] - t[k - 1]);
            assert!((force / 3.76125 - 1.0).abs() < 1e-10, "{scheme} {k}: {force}");
            assert!(history.accelerations(k).iter().all(|a| a.abs() < 1e-6), "{scheme} {:?}", history.accelerations(k));
        }
    }
}

const MASS: f64 = 2.0;
const STIFFNESS: f64 = 300.0;
const DAMPING: f64 = 0.8;

/// One floor on a shaken base, far from its stop or near it.
fn floor(gap: f64) -> Structure {
    let mut made = Builder::new("floor");
    let part = building(&[MASS], &[STIFFNESS]).expect("a building");
    let part = made.part(Part { damping: Damping::Rayleigh(DAMPING / MASS, 0.0), ..part });
    let roof = made.point("roof", part.floor(1));
    made.point("shear", part.place(Place::Shear));
    made.base_acceleration("3*sin(9*t)");
    made.stop("wall", gap - &roof, 0.5);
    made.build().expect("a structure")
}

#[test]
fn accelerations_are_absolute_and_the_shear_is_that_of_the_columns() {
    for gap in [1e3, 0.02] {
        let structure = floor(gap);
        let runs: Vec<Run> = vec![
            structure.run(&Options::steps("paoli-schatzman", 1e-4).until(2.0)).expect("runs"),
            structure.run(&Options::events(2.0).scheme("event-driven").step(1e-3)).expect("runs"),
        ];
        for run in runs {
            let motion = &run.trajectory;
            let near = |t: f64| run.touches.iter().any(|x| t > x.start - 3e-4 && t < x.end + 3e-4);
            let mut seen = 0;
            for k in (1..motion.len()).filter(|&k| !near(motion.t[k])) {
                let (q, v) = (motion.q(k), motion.v(k, saltus::Side::Right)[0]);
                // M (u'' + a) = −C u' − K u, whatever the base does.
                let felt = -(DAMPING * v + STIFFNESS * q[0]) / MASS;
                let found = motion.history.accelerations(k)[0];
                assert!((found - felt).abs() < 2e-3, "{gap} {}: {found} {felt}", motion.t[k]);
                assert!((q[1] - STIFFNESS * q[0]).abs() < 1e-9);
                seen += 1;
            }
            assert!(seen > 500);
            assert_eq!(run.touches.is_empty(), gap > 1.0);
        }
    }
}

/// Floor and oscillator together by the classical Runge–Kutta method with a fine step.
fn reference(frequency: f64, ratio: f64) -> (f64, f64) {
    let w = std::f64::consts::TAU * frequency;
    let rate = |t: f64, x: [f64; 4]| {
        let base = 3.0 * (9.0 * t).sin();
        let (z, zt) = (x[2] - x[0], x[3] - x[1]);
        [x[1], -base - (DAMPING * x[1] + STIFFNESS * x[0]) / MASS, x[3], -base - 2.0 * ratio * w * zt - w * w * z]
    };
    let (mut x, mut t, h) = ([0.0; 4], 0.0, 2e-5);
    let mut largest = (0.0_f64, 0.0_f64);
    for _ in 0..100_000 {
        let at = |x: [f64; 4], k: [f64; 4], s: f64| [0, 1, 2, 3].map(|i| x[i] + s * k[i]);
        let k1 = rate(t, x);
        let k2 = rate(t + h / 2.0, at(x, k1, h / 2.0));
        let k3 = rate(t + h / 2.0, at(x, k2, h / 2.0));
        let k4 = rate(t + h, at(x, k3, h));
        x = [0, 1, 2, 3].map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        t += h;
        let (z, zt) = (x[2] - x[0], x[3] - x[1]);
        largest = (largest.0.max((2.0 * ratio * w * zt + w * w * z).abs()), largest.1.max(z.abs()));
    }
    largest
}

#[test]
fn floor_response_spectra_are_those_of_an_independent_integration() {
    let structure = floor(1e3);
    let run = structure.run(&Options::events(2.0).scheme("event-driven").step(1e-3)).expect("runs");
    let (frequencies, ratios) = ([0.3, 1.4, 1.95, 6.0, 40.0], [0.0, 0.02, 0.05]);
    let found = response_spectrum(&structure, &run, 0, &frequencies, &ratios).expect("a spectrum");
    for (r, ratio) in ratios.iter().enumerate() {
        for (k, f) in frequencies.iter().enumerate() {
            let (acceleration, displacement) = reference(*f, *ratio);
            let (a, d) = (found.acceleration[r][k], found.displacement[r][k]);
            assert!((a / acceleration - 1.0).abs() < 1e-6, "{f} {ratio}: {a} {acceleration}");
            assert!((d / displacement - 1.0).abs() < 1e-6, "{f} {ratio}: {d} {displacement}");
        }
    }
    // With time steps, to their order.
    let run = structure.run(&Options::steps("paoli-schatzman", 1e-3).until(2.0)).expect("runs");
    let stepped = response_spectrum(&structure, &run, 0, &frequencies, &ratios).expect("a spectrum");
    assert!((stepped.acceleration[2][2] / found.acceleration[2][2] - 1.0).abs() < 1e-3);
    assert!(response_spectrum(&structure, &run, 0, &[-1.0], &ratios).is_err());
    assert!(response_spectrum(&structure, &run, 0, &[1.0], &[f64::NAN]).is_err());
}

/// Floor spectra are integrated over every step, however few instants are stored; where that cannot be, they are refused.
#[test]
fn floor_response_spectra_do_not_depend_on_what_is_stored() {
    let structure = floor(1e3);
    let (frequencies, ratios) = ([1.95, 6.0, 40.0], [0.05]);
    let spectrum = |options: Options| {
        let run = structure.run(&options).expect("runs");
        response_spectrum(&structure, &run, 0, &frequencies, &ratios)
    };
    let steps = || Options::steps("paoli-schatzman", 1e-3).until(2.0);
    let every = spectrum(steps()).expect("a spectrum");
    assert_eq!(spectrum(steps().every(500).follow(&[0])).expect("a spectrum"), every);
    assert!(spectrum(steps().every(500)).is_err_and(|e| e.message.contains("too few instants")));
    assert!(structure.run(&steps().every(500).follow(&[9])).is_err());
    // By events, the polynomials are read.
    let events = |h: f64| spectrum(Options::events(2.0).scheme("event-driven").step(h)).expect("a spectrum");
    let (coarse, fine) = (events(0.5), events(1e-3));
    for k in 0..3 {
        let (acceleration, _) = reference(frequencies[k], ratios[0]);
        assert!((coarse.acceleration[0][k] / acceleration - 1.0).abs() < 1e-6, "{coarse:?} {acceleration}");
        assert!((coarse.acceleration[0][k] / fine.acceleration[0][k] - 1.0).abs() < 1e-6);
    }
    // A density has the line where it is, not where coarse instants would put it: 1.4 Hz, stored at 1.25 Hz.
    let run =
        structure.run(&Options::steps("paoli-schatzman", 1e-3).until(40.0).every(800).follow(&[0])).expect("runs");
    let density = displacement_density(&run, 0).expect("a density");
    let peak = (0..density.density.len()).max_by(|&i, &j| density.density[i].total_cmp(&density.density[j]));
    assert!((density.frequencies[peak.expect("a line")] - 9.0 / std::f64::consts::TAU).abs() < 0.05);
}

/// An oscillator of high frequency on a floor that hits: its acceleration is finite and that of a blow, ω times the jump.
#[test]
fn a_blow_on_the_floor_is_felt_by_what_stands_on_it() {
    let structure = floor(0.02);
    let run = structure.run(&Options::events(2.0).scheme("event-driven").step(1e-3)).expect("runs");
    let jump = run.trajectory.impacts.iter().map(|i| (i.v_after[0] - i.v_before[0]).abs()).fold(0.0, f64::max);
    let f = 200.0;
    let found = response_spectrum(&structure, &run, 0, &[f], &[0.0]).expect("a spectrum");
    let omega = std::f64::consts::TAU * f;
    // (What it keeps of earlier blows comes on top.)
    let ratio = found.acceleration[0][0] / (omega * jump);
    assert!(ratio > 0.99 && ratio < run.trajectory.impacts.len() as f64, "{ratio}");
}

#[test]
fn densities_have_the_mean_square_of_their_signal() {
    let structure = guided(Some(200.0));
    let run = structure.run(&Options::steps("paoli-schatzman", 1e-3).until(8.0)).expect("runs");
    let density = displacement_density(&run, 0).expect("a density");
    let width = density.frequencies[1] - density.frequencies[0];
    let square: f64 = density.density.iter().sum::<f64>() * width;
    let mean = run.trajectory.t.iter().zip(0..).map(|(_, k): (_, usize)| run.trajectory.q(k)[0]).sum::<f64>()
        / run.trajectory.len() as f64;
    let wanted = run.extremes[0].rms.powi(2) - mean * mean;
    assert!((square / wanted - 1.0).abs() < 1e-2, "{square} {wanted}");
    let force = force_density(&run, 0).expect("a density");
    let square: f64 = force.density.iter().sum::<f64>() * width;
    let total = run.trajectory.history.impulses(run.trajectory.len() - 1)[0] / 8.0;
    let wanted = run.squared_forces[0] / 8.0 - total * total;
    assert!((square / wanted - 1.0).abs() < 0.05, "{square} {wanted}");
    // A pure line.
    let free = floor(1e3);
    let run = free.run(&Options::steps("paoli-schatzman", 1e-3).until(40.0)).expect("runs");
    let density = displacement_density(&run, 0).expect("a density");
    let peak = (0..density.density.len()).max_by(|&i, &j| density.density[i].total_cmp(&density.density[j]));
    let at = density.frequencies[peak.expect("a line")];
    assert!((at - 9.0 / std::f64::consts::TAU).abs() < 0.05, "{at}");
}
