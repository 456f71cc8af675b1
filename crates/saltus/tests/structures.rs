//! What every scheme for structures must keep: no allocation in a step, energy, pushing stops, positions in K.

use proptest::prelude::*;
use saltus::analysis::{Shock, Shocks};
use saltus::scheme::{Account, Domain, Node, SCHEMES, Scheme, Settings, Stepper, StructureSteps, Systems};
use saltus::structure::{Builder, Damping, InitialState, Part, Structure, StructureInstance, bar};
use saltus::{Options, Reason, SetupError, Status};
use std::cell::Cell;

/// A shear building with stops on its floors: each a gap in terms of u1, u2, …
fn tower(masses: &[f64], stiffnesses: &[f64], damping: Damping, stops: &[(String, f64)], load: &str) -> Structure {
    let mut tower = Builder::new("tower");
    let part = bar::building(masses, stiffnesses).map(|part| Part { damping, ..part }).expect("a building");
    let part = tower.part(part);
    let floors: Vec<_> = (1..=masses.len()).map(|k| tower.point(&format!("u{k}"), part.floor(k))).collect();
    tower.force(floors.last().expect("a roof"), load);
    for (a, (gap, e)) in stops.iter().enumerate() {
        tower.stop(&format!("stop{a}"), gap.as_str(), *e);
    }
    tower.build().expect("a structure")
}

type Begin = fn(&StructureInstance, f64, &Settings) -> Result<Box<dyn Stepper>, SetupError>;

thread_local! {
    /// The scheme whose steps are measured, and what they allocated after the first node.
    static MEASURED: Cell<Option<Begin>> = const { Cell::new(None) };
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// A stepper whose steps are measured.
struct Measured {
    inner: Box<dyn Stepper>,
    is_first: bool,
}

impl Stepper for Measured {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let mut outcome = Ok(());
        let count = allocation_counter::measure(|| outcome = self.inner.advance(node));
        if !std::mem::replace(&mut self.is_first, false) {
            ALLOCATED.set(ALLOCATED.get() + count.count_total);
        }
        outcome
    }

    fn pending(&self) -> Option<&[f64]> {
        self.inner.pending()
    }

    fn state(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        self.inner.state()
    }

    fn responses(&self) -> Option<Vec<f64>> {
        self.inner.responses()
    }

    fn account(&mut self) -> Option<Account> {
        self.inner.account()
    }
}

fn measured(at: &StructureInstance, h: f64, settings: &Settings) -> Result<Box<dyn Stepper>, SetupError> {
    let begin = MEASURED.get().expect("a scheme to be measured");
    Ok(Box::new(Measured { inner: begin(at, h, settings)?, is_first: true }))
}

/// The settings of a scheme that structures choose between, one word each; one of none at all.
fn choices(scheme: &Scheme) -> Vec<Settings> {
    let mut all = vec![Settings::new()];
    for setting in scheme.settings {
        if let Domain::Choice(choices) = setting.domain {
            let fit = choices.iter().filter(|c| c.systems == Systems::Structures);
            all.extend(fit.map(|c| Settings::new().with(setting.name, c.name)));
        }
    }
    all
}

#[test]
fn no_step_allocates() {
    let stops = [("0.2 - u3".to_string(), 0.5), ("0.3 + u3".to_string(), 0.0), ("0.15 + u1 - u2".to_string(), 0.2)];
    let tower = tower(&[1.0; 3], &[20.0; 3], Damping::Rayleigh(0.05, 0.001), &stops, "10*sin(2*t)");
    let mut seen = 0;
    for scheme in SCHEMES {
        let StructureSteps::Steps(begin) = scheme.structures else { continue };
        for settings in choices(scheme) {
            let mut watched = *scheme;
            watched.structures = StructureSteps::Steps(measured);
            let mut options = Options::steps(watched, 1e-3).until(20.0);
            options.settings = settings;
            MEASURED.set(Some(begin));
            ALLOCATED.set(0);
            let run = tower.run(&options).expect("runs");
            let name = format!("{} with {:?}", scheme.name, options.settings);
            assert_eq!((run.status, run.steps), (Status::Finished, 20_000), "{name}");
            assert!(run.audit.contact_steps > 10, "{name} should meet its stops");
            assert_eq!(ALLOCATED.get(), 0, "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 4, "paoli-schatzman with newmark and exact, moreau-jean: {seen} with the defaults");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn energy_is_kept_and_stops_push(
        masses in prop::collection::vec(0.2..3.0f64, 2..6),
        stiffness in 5.0..200.0f64,
        gap in 0.01..0.2f64,
        e in prop::sample::select(vec![0.0, 0.3, 0.8, 1.0]),
        damping in 0.0..0.3f64,
        frequency in 0.5..6.0f64,
    ) {
        let n = masses.len();
        let stops = [(format!("{gap:?} - u{n}"), e), (format!("{gap:?} + u{n}"), e), (format!("{gap:?} + u1 - u2"), e)];
        let load = format!("4*sin({frequency:?}*t)");
        let tower = tower(&masses, &vec![stiffness; n], Damping::Rayleigh(damping, 0.0), &stops, &load);
        for (name, closure) in [("paoli-schatzman", 1e-9), ("moreau-jean", 1e-9)] {
            let done = tower.run(&Options::steps(name, 1e-3).until(4.0)).expect("runs");
            prop_assert!(done.ledger.balance.relative() < closure, "{name}: {}", done.ledger.balance.relative());
            prop_assert!(done.audit.impulses.iter().all(|&p| p >= 0.0));
            let fastest = done.trajectory.left_velocities().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            // With e = 0 the position scheme never leaves K; otherwise by at most two steps.
            let allowed = if e == 0.0 && name == "paoli-schatzman" { 1e-12 } else { 4e-3 * fastest + 1e-9 };
            prop_assert!(done.audit.max_violation <= allowed, "{name}: {}", done.audit.max_violation);
            // Stops take energy, in the position scheme by its construction.
            let (lost, exchanged) = (done.audit.energy_lost_at_impacts, done.ledger.balance.exchanged);
            let allowed = if name == "paoli-schatzman" { 1e-9 } else { 0.01 };
            prop_assert!(lost >= -allowed * exchanged, "{name}, e = {e}: {lost} of {exchanged}");
        }
    }
}

#[test]
fn every_shock_begins_with_an_impact_that_is_listed() {
    // Steps so coarse that the forces of a step are as large as the impacts.
    for (h, e) in [(1e-2_f64, 0.0), (1e-2, 0.5), (4e-3, 0.3), (4e-3, 0.8), (1e-3, 0.6)] {
        let stops =
            [("0.05 - u3".to_string(), e), ("0.06 + 0.01*sin(5*t) + u2".to_string(), e), ("0.04 + u1 - u2".into(), e)];
        let (masses, stiffnesses) = ([3.0, 2.0, 1.5], [900.0, 700.0, 500.0]);
        let tower = tower(&masses, &stiffnesses, Damping::Rayleigh(0.1, 0.001), &stops, "40*sin(7*t)");
        // The position scheme spreads an impact over two steps and needs them shorter.
        for (scheme, h) in [("moreau-jean", h), ("paoli-schatzman", h.min(4e-3))] {
            let run = tower.run(&Options::steps(scheme, h).until(10.0)).expect("runs");
            let shocks = Shocks::new(&tower, &run, None);
            assert!(shocks.list.len() > 15, "{scheme}, h = {h}, e = {e}: {}", shocks.list.len());
            // A touch that begins without an approach (forces turned within the step) is a contact, no impact.
            let approaches = |s: &&Shock| {
                run.touches.iter().any(|t| t.constraint == s.stop && t.start == s.start && t.approach < -1e-6)
            };
            for shock in shocks.list.iter().filter(approaches) {
                let is_its = |i: &saltus::Impact| {
                    i.constraints.contains(&shock.stop) && i.t > shock.start - 5.0 * h && i.t < shock.end + 5.0 * h
                };
                let listed = run.trajectory.impacts.iter().any(|i| is_its(&i));
                assert!(
                    listed,
                    "{scheme}, h = {h}, e = {e}: the shock at {} on stop {} is not listed",
                    shock.start, shock.stop
                );
            }
        }
    }
}

#[test]
fn the_energies_of_an_impact_are_those_of_what_moves() {
    // Two masses of 2 and 3 on springs that hardly hold them, a wall that comes at speed 1: the wall throws the first, with e
    // = 1 at twice its speed; the first hits the second, and they hit as they would on a line.
    let stops = [("0.1 + u2 - u1".to_string(), 1.0), ("0.1 + u1 - t".to_string(), 1.0)];
    let tower = tower(&[2.0, 3.0], &[1e-6, 1e-6], Damping::None, &stops, "0");
    for scheme in ["moreau-jean", "paoli-schatzman"] {
        let run = tower.run(&Options::steps(scheme, 1e-4).until(0.18)).expect("runs");
        let (first, second) = (run.trajectory.impacts.get(0), run.trajectory.impacts.get(1));
        let entry = |k: usize| (run.ledger.impacts[k].kinetic_before, run.ledger.impacts[k].kinetic_after);
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-5, "{scheme}: {x} {y}");
        // The wall gives ½·2·2² = 4 to what was at rest.
        assert!((first.t - 0.1).abs() < 2e-4 && (second.t - 0.15).abs() < 2e-4, "{} {}", first.t, second.t);
        near(first.energy_change, 4.0);
        near(entry(0).0, 0.0);
        near(entry(0).1, 4.0);
        // The stop between the two feels their reduced mass 6/5 at their relative speed 2, and only turns it around.
        near(second.energy_change, 0.0);
        near(entry(1).0, 0.5 * 1.2 * 4.0);
        near(entry(1).1, 0.5 * 1.2 * 4.0);
    }
    // Two stops at once: what both feel together is the kinetic energy of both masses.
    let stops = [("0.1 - u1".to_string(), 0.5), ("0.1 - u2".to_string(), 0.5)];
    let mut pair = Builder::new("pair");
    let part = pair.part(bar::building(&[2.0, 3.0], &[1e-6, 1e-6]));
    let floors: Vec<_> = (1..=2).map(|k| pair.point(&format!("u{k}"), part.floor(k))).collect();
    assert_eq!(floors.len(), 2);
    stops.iter().enumerate().for_each(|(a, (gap, e))| pair.stop(&format!("stop{a}"), gap.as_str(), *e));
    pair.start(InitialState { velocity: 1.0, ..InitialState::default() });
    let run = pair.build().expect("a pair").run(&Options::steps("moreau-jean", 1e-4).until(0.15)).expect("runs");
    let (total, before): (f64, f64) =
        run.trajectory.impacts.iter().zip(&run.ledger.impacts).fold((0.0, 0.0), |s, (i, e)| {
            assert!((e.kinetic_before + i.energy_change - e.kinetic_after).abs() < 1e-9);
            (s.0 + i.energy_change, s.1 + e.kinetic_before)
        });
    assert!((before - 2.5).abs() < 1e-6 && (total + 0.75 * 2.5).abs() < 1e-6, "{before} {total}");
}

/// One mass with a spring behind it and one before it, which it meets at u = 0 with speed 1.
fn between_springs(k: f64, stiffness: f64) -> Structure {
    let mut mass = Builder::new("between springs");
    let part = mass.part(bar::building(&[1.0], &[k]));
    let u = mass.point("u", part.floor(1));
    mass.spring_stop("stop", format!("0 - {}", u.name()), stiffness);
    mass.start(InitialState { velocity: 1.0, ..InitialState::default() });
    mass.build().expect("a mass")
}

#[test]
fn a_spring_that_pushes_keeps_energy_at_any_step_that_resolves_it() {
    // Half a period with k + K, half a period with k; peak force K/√(k + K).
    let (k, stiffness) = (1.0, 400.0_f64);
    let inner = (k + stiffness).sqrt();
    let period = std::f64::consts::PI * (1.0 / inner + 1.0);
    let mut errors = Vec::new();
    for h in [0.04, 0.02, 0.01, 0.005] {
        let structure = between_springs(k, stiffness);
        let run = structure.run(&Options::steps("paoli-schatzman", h).until(20.0 * period)).expect("runs");
        let lost = run.audit.energy_lost_at_impacts;
        assert!(lost.abs() < 1e-12, "h√(k/m) = {}: lost {lost}", h * inner);
        assert!(run.ledger.balance.relative() < 1e-11, "{}", run.ledger.balance.relative());
        let amplitude = run.extremes[0].min;
        assert!((amplitude + 1.0).abs() < 0.02, "h = {h}: {amplitude}");
        let shocks = Shocks::new(&structure, &run, None);
        let peak = shocks.list.iter().filter_map(|s| s.peak).fold(0.0, f64::max);
        assert!((peak * inner / stiffness - 1.0).abs() < 0.15 * (h * inner).powi(2), "h = {h}: peak {peak}");
        let tenth = shocks.list.get(9).expect("ten shocks").start;
        errors.push((tenth - 9.0 * period).abs());
    }
    // Second order.
    assert!(errors[1] / errors[3] > 10.0, "{errors:?}");
}

#[test]
fn damped_springs_that_the_step_does_not_resolve_are_told() {
    // h√(k/m) = 3 and 0.1, with damping: what the spring takes is told apart from what damping takes.
    let warned = |h: f64| {
        let mut mass = Builder::new("damped");
        let damped = bar::building(&[1.0], &[1.0]).map(|part| Part { damping: Damping::Rayleigh(0.1, 0.01), ..part });
        let part = mass.part(damped);
        mass.point("u", part.floor(1));
        mass.spring_stop("stop", "0.1 - u", 400.0);
        mass.start(InitialState { velocity: 1.0, ..InitialState::default() });
        let run = mass.build().expect("a mass").run(&Options::steps("paoli-schatzman", h).until(10.0)).expect("runs");
        assert!(run.ledger.balance.relative() < 1e-9, "{}", run.ledger.balance.relative());
        run.warnings.iter().any(|w| w.contains("stops that are springs took") && w.contains("would do"))
    };
    assert!(warned(0.15) && !warned(0.005));
}

#[test]
fn moving_stops_that_close_to_nothing_are_found() {
    use saltus::analysis::{CheckOptions, Verdict, check};
    // Two names of one floor: room of 0.2 − 0.02 t is left until t = 10.
    let closing = |speed: f64| {
        let mut tower = Builder::new("closing");
        let part = tower.part(bar::building(&[1.0, 2.0], &[5.0, 5.0]));
        tower.point("a", part.floor(1));
        tower.point("b", part.floor(1));
        tower.stop("left", "0.1 + a", 0.0);
        tower.stop("right", format!("0.1 - {speed:?}*t - b"), 0.0);
        let found = check(&tower.build().expect("a tower"), &CheckOptions::new(20.0), &mut |_, _| true);
        let covered = found.theorems.iter().any(|t| t.covers);
        let walls = found.findings.into_iter().find(|f| f.topic == "walls").expect("walls are examined");
        (walls.verdict, walls.text, covered)
    };
    let (verdict, text, covered) = closing(0.02);
    assert!(verdict == Verdict::Bad && text.contains("after t = 10") && text.contains("empty"), "{text}");
    assert!(!covered, "no theorem covers an empty set");
    let (verdict, text, _) = closing(0.009);
    assert!(verdict == Verdict::Good && text.contains("leave room"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn springs_take_nothing(
        masses in prop::collection::vec(0.2..3.0f64, 2..6),
        stiffness in 5.0..200.0f64,
        stops in 50.0..5e4f64,
        gap in 0.01..0.2f64,
        amplitude in 0.0..0.3f64,
        frequency in 0.5..6.0f64,
        resolution in 0.05..0.95f64,
    ) {
        let n = masses.len();
        let mut tower = Builder::new("tower");
        let part = tower.part(bar::building(&masses, &vec![stiffness; n]));
        let floors: Vec<_> = (1..=n).map(|k| tower.point(&format!("u{k}"), part.floor(k))).collect();
        tower.force(&floors[n - 1], format!("4*sin({frequency:?}*t)"));
        tower.spring_stop("right", format!("{gap:?} - u{n}"), stops);
        tower.spring_stop("left", format!("{gap:?} + u{n}"), 0.5 * stops);
        tower.spring_stop("between", format!("{gap:?} + u1 - u2"), stops);
        tower.stop("rigid", format!("{gap:?} + {:?}*{gap:?}*sin(2*t) + u1", amplitude), 0.0);
        let tower = tower.build().expect("a tower");
        let lightest = masses.iter().fold(f64::INFINITY, |m: f64, x| m.min(*x));
        // Between two floors the mass that a stop feels is at least half the lighter one.
        let h = resolution / (2.0 * stops / lightest).sqrt();
        let run = tower.run(&Options::steps("paoli-schatzman", h).until(4000.0 * h)).expect("runs");
        prop_assert!(run.ledger.balance.relative() < 1e-9, "{}", run.ledger.balance.relative());
        // What is lost is lost at the rigid stop, by its impulses alone.
        let held = run.audit.impulses[3] == 0.0;
        prop_assert!(!held || run.audit.energy_lost_at_impacts.abs() < 1e-9 * run.ledger.balance.exchanged);
        prop_assert!(!run.warnings.iter().any(|w| w.contains("stops that are springs")));
    }
}

#[test]
fn fine_beams_keep_the_digits_of_their_frequencies() {
    use saltus::structure::beam::{End, Section, hermite};
    // βL of the first elastic mode, from cos βL cosh βL = ∓1 and tan βL = tanh βL, and π.
    let cases = [
        ((End::Clamped, End::Free), 1.875_104_068_711_961_2_f64),
        ((End::Pinned, End::Pinned), std::f64::consts::PI),
        ((End::Clamped, End::Clamped), 4.730_040_744_862_704),
        ((End::Pinned, End::Clamped), 3.926_602_312_047_919),
        ((End::Free, End::Free), 4.730_040_744_862_704),
    ];
    for (ends, beta) in cases {
        for (n, length) in [(300, 1.3), (5000, 1.3), (20_000, 0.7), (50_000, 1.1)] {
            let section = Section { rigidity: 2.7, mass_per_length: 0.31 };
            let mut beam = Builder::new("beam");
            let part = beam.part(hermite(length, section, n, ends, false));
            let middle = beam.point("middle", part.at(0.5 * length));
            beam.stop("stop", format!("1 - {}", middle.name()), 0.0);
            let structure = beam.build().expect("a beam");
            let modes = structure.modes(4).expect("modes");
            let first = modes.frequencies().into_iter().find(|w| *w > 0.0).expect("an elastic mode");
            let exact = (beta / length).powi(2) * (section.rigidity / section.mass_per_length).sqrt();
            assert!((first / exact - 1.0).abs() < 1e-8, "{ends:?}, {n} elements: {}", first / exact - 1.0);
        }
    }
}
