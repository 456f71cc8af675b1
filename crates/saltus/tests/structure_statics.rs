//! Contact statics against hand formulas: propped, preloaded and sprung beams; what they keep when they run.

use saltus::Options;
use saltus::structure::beam::{End, Section};
use saltus::structure::{Beam, Builder, InitialState, Part, Place, Structure};

const LENGTH: f64 = 2.0;
const RIGIDITY: f64 = 3.0;
const LOAD: f64 = -10.0;

/// A cantilever under an evenly spread load with a stop under its tip, at rest.
fn propped(level: f64, stiffness: Option<f64>) -> Structure {
    let mut made = Builder::new("propped");
    let section = Section { rigidity: RIGIDITY, mass_per_length: 1.5 };
    let beam = made.part(Beam::hermite(LENGTH, section, 20).rayleigh(0.3, 1e-4));
    let tip = made.point("tip", beam.at(LENGTH));
    let all = made.point("all", beam.place(Place::Span(0.0, LENGTH)));
    made.force(&all, LOAD);
    match stiffness {
        None => made.stop("prop", &tip - level, 0.0),
        Some(k) => made.spring_stop("prop", &tip - level, k),
    }
    made.start(InitialState { at_equilibrium: true, ..InitialState::default() });
    made.build().expect("a structure")
}

/// The reaction of a prop at height `level` with flexibility `1/k`: 3/8 of the load, and 3EI/L³ for what it lifts.
fn by_hand(level: f64, stiffness: Option<f64>) -> f64 {
    let flexibility = LENGTH.powi(3) / (3.0 * RIGIDITY);
    let sag = LOAD * LENGTH.powi(3) / (8.0 * RIGIDITY);
    (level - sag) / (flexibility + stiffness.map_or(0.0, |k| 1.0 / k))
}

#[test]
fn reactions_of_propped_and_preloaded_beams_are_those_by_hand() {
    for level in [0.0, 0.01, -0.2] {
        for stiffness in [None, Some(500.0), Some(1e6)] {
            let beam = propped(level, stiffness);
            let rest = beam.static_contact(0.0).expect("statics");
            let exact = by_hand(level, stiffness);
            assert!((rest.reactions[0] / exact - 1.0).abs() < 1e-10, "{level} {stiffness:?}: {rest:?} {exact}");
            assert!(rest.residual < 1e-9, "{}", rest.residual);
        }
    }
    // A stop below the sagging tip carries nothing.
    assert_eq!(propped(-4.0, None).static_contact(0.0).expect("statics").reactions, [0.0]);
}

#[test]
fn what_starts_at_rest_stays_there_and_presses_as_it_did() {
    let steps = |h: f64| Options::steps("paoli-schatzman", h).until(0.4);
    let modal = steps(1e-3).modes(12);
    let cases = [(None, steps(1e-3)), (None, steps(1e-2)), (None, Options::steps("moreau-jean", 1e-3).until(0.4))];
    let sprung = [(Some(500.0), steps(1e-3)), (Some(1e6), steps(1e-2)), (Some(1e6), steps(1e-4))];
    let all = cases.into_iter().chain(sprung).chain([(None, modal.clone()), (Some(500.0), modal)]);
    for (stiffness, options) in all {
        let beam = propped(0.01, stiffness);
        let run = beam.run(&options).expect("runs");
        assert_eq!(run.status, saltus::Status::Finished, "{stiffness:?} {options:?}");
        let far = run.trajectory.reach();
        let (first, last) = (run.trajectory.q(0), run.trajectory.q(run.trajectory.len() - 1));
        for (a, b) in first.iter().zip(last) {
            assert!((a - b).abs() < 1e-10 * far, "{stiffness:?} {options:?}: {first:?} {last:?}");
        }
        // With fewer modes the statics are those of the modes.
        let exact = by_hand(0.01, stiffness);
        let near = if options.reduction.is_some() { 1e-2 } else { 1e-10 };
        let mean = run.touches.iter().map(|t| t.impulse).sum::<f64>() / 0.4;
        assert!((mean / exact - 1.0).abs() < near, "{stiffness:?} {options:?}: {mean} {exact}");
        assert_eq!(run.touches.len(), 1);
        assert!(run.touches[0].approach.abs() < 1e-9, "{:?}", run.touches);
    }
}

/// A free beam that lies on three supports: only they hold it. By the theory of a continuous beam of two equal spans, 3/16, 10/16, 3/16.
#[test]
fn a_free_beam_lies_on_its_supports() {
    let mut made = Builder::new("on supports");
    let section = Section { rigidity: 7.0, mass_per_length: 1.0 };
    let beam = made.part(Beam::hermite(1.0, section, 16).ends(End::Free, End::Free).rayleigh(0.5, 0.0));
    let all = made.point("all", beam.place(Place::Span(0.0, 1.0)));
    made.force(&all, -8.0);
    for (name, x) in [("left", 0.0), ("middle", 0.5), ("right", 1.0)] {
        let point = made.point(name, beam.at(x));
        made.stop(&format!("support {name}"), &point - 0.0, 0.0);
    }
    made.start(InitialState { at_equilibrium: true, ..InitialState::default() });
    let beam = made.build().expect("a structure");
    let rest = beam.static_contact(0.0).expect("statics");
    for (found, exact) in rest.reactions.iter().zip([1.5, 5.0, 1.5]) {
        assert!((found - exact).abs() < 1e-9, "{:?}", rest.reactions);
    }
    // Without its weight nothing presses it down: where it would rest is not known.
    let mut made = Builder::new("weightless");
    let beam = made.part(Beam::hermite(1.0, section, 8).ends(End::Free, End::Free));
    let tip = made.point("tip", beam.at(1.0));
    made.force(&tip, 1.0);
    made.stop("support", &tip - 0.0, 0.0);
    made.start(InitialState { at_equilibrium: true, ..InitialState::default() });
    assert!(made.build().expect_err("flies off").message.contains("free to move"));
}

#[test]
fn a_rigid_support_under_preload_must_start_at_rest() {
    let mut made = Builder::new("preload");
    let section = Section { rigidity: RIGIDITY, mass_per_length: 1.5 };
    let beam = made.part(Beam::hermite(LENGTH, section, 10));
    let tip = made.point("tip", beam.at(LENGTH));
    made.stop("prop", &tip - 0.01, 0.0);
    let error = made.clone().build().expect_err("inside");
    assert!(error.message.contains("starts inside") && error.help.is_some_and(|h| h.contains("equilibrium")));
    // A spring may be compressed from the beginning, at rest or not: this one throws the tip up.
    let mut sprung = Builder::new("sprung");
    let beam = sprung.part(Beam::hermite(LENGTH, section, 10));
    let tip = sprung.point("tip", beam.at(LENGTH));
    sprung.spring_stop("prop", &tip - 0.01, 50.0);
    let run =
        sprung.build().expect("compressed").run(&Options::steps("paoli-schatzman", 1e-3).until(0.3)).expect("runs");
    assert!(run.trajectory.q(run.trajectory.len() - 1)[0] > 1e-4);
    let energy = &run.ledger.balance;
    assert!(energy.relative() < 1e-9, "{energy:?}");
}

/// Two masses on the ground, one of them without a spring: free to move, unless its stops hold it.
fn loose(stops: &[(&str, &str, f64)], push: f64) -> Structure {
    let mut made = Builder::new("loose");
    let held = made.part(saltus::structure::bar::building(&[1.0], &[400.0]).expect("a mass"));
    let free = made.part(Part {
        stiffness: saltus::linalg::Symmetric::new(1, vec![]),
        ..saltus::structure::bar::building(&[2.0], &[1.0]).expect("a mass")
    });
    made.point("a", held.floor(1));
    let b = made.point("b", free.floor(1));
    made.force(&b, push);
    for (name, gap, stiffness) in stops {
        made.spring_stop(name, *gap, *stiffness);
    }
    made.build().expect("a structure")
}

#[test]
fn what_nothing_holds_is_neutral_and_what_stops_hold_is_stable() {
    use saltus::analysis::{EquilibriaOptions, Stability, equilibria};
    let found = |structure: &Structure| {
        let all = equilibria(structure, &EquilibriaOptions::default(), &mut |_, _| true).expect("found");
        (all.found[0].stability, all.found[0].family.clone())
    };
    // Not pressed: b is anywhere.
    let (stability, family) = found(&loose(&[("wall", "1 - b", 50.0)], 0.0));
    assert_eq!((stability, family), (Stability::Neutral { directions: 1 }, vec![vec![0.0, 1.0]]));
    // Pressed against a spring: held.
    assert_eq!(found(&loose(&[("wall", "1 - b", 50.0)], 3.0)).0, Stability::Held);
    // A spring that presses on the other mass holds nothing of this one.
    let (stability, _) = found(&loose(&[("wall", "1 - b", 50.0), ("low", "a - 1", 70.0)], 0.0));
    assert_eq!(stability, Stability::Neutral { directions: 1 });
    // Nothing is free: a strict minimum, with its curvature.
    assert!(matches!(found(&propped(0.0, None)).0, Stability::Stable { curvature } if curvature > 0.0));
}
