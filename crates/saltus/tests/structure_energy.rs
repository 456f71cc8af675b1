//! Stops at rest create no energy, whatever the mesh, the step and e, and the limit that sees to it costs no order.

use proptest::prelude::*;
use saltus::structure::beam::{End, Section, hermite};
use saltus::structure::{Builder, Damping, InitialState, Part, PartRef, Structure, bar};
use saltus::{Options, Run};

/// What a random structure is made of: a building, a bar or a beam, with up to three stops at rest.
#[derive(Clone, Debug)]
struct Recipe {
    kind: usize,
    elements: usize,
    masses: Vec<f64>,
    stiffness: f64,
    damping: f64,
    gaps: [f64; 3],
    e: [f64; 3],
    spring: Option<f64>,
    velocity: f64,
}

fn restitution() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64, 0.9..1.0f64]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let mesh = (0..4usize, 2..40usize, prop::collection::vec(0.2..3.0f64, 2..6), 5.0..500.0f64);
    let damping = prop_oneof![Just(0.0), 1e-4..0.1f64];
    let gaps = [0.01..0.2f64, 0.01..0.2, 0.01..0.2];
    let spring = prop_oneof![Just(None), (1.0..5.0f64).prop_map(|k| Some(10.0_f64.powf(k)))];
    let stops = (gaps, [restitution(), restitution(), restitution()], spring, prop_oneof![Just(-1.0), Just(1.0)]);
    (mesh, damping, stops).prop_map(|((kind, elements, masses, stiffness), damping, (gaps, e, spring, velocity))| {
        Recipe { kind, elements, masses, stiffness, damping, gaps, e, spring, velocity }
    })
}

impl Recipe {
    fn part(&self) -> Part {
        let section = Section { rigidity: 0.01 * self.stiffness, mass_per_length: self.masses[0] };
        let part = match self.kind {
            0 => bar::building(&self.masses, &vec![self.stiffness; self.masses.len()]),
            1 => hermite(1.0, section, self.elements, (End::Clamped, End::Free), false),
            2 => hermite(1.0, section, self.elements, (End::Pinned, End::Free), true),
            _ => bar::bar(1.0, section, self.elements, (true, false), bar::BarMass::Lumped),
        };
        Part { damping: Damping::Rayleigh(self.damping, 1e-3 * self.damping), ..part.expect("a part") }
    }

    fn build(&self) -> Structure {
        let mut made = Builder::new("random");
        let part = made.part(self.part());
        let place = |part: PartRef, x: f64| match self.kind {
            0 => part.floor(1 + (x * (self.masses.len() - 1) as f64).round() as usize),
            _ => part.at(x),
        };
        made.point("a", place(part, 1.0));
        made.point("b", place(part, 0.37));
        made.stop("down", format!("{:?} + a", self.gaps[0]), self.e[0]);
        made.stop("up", format!("{:?} - a", self.gaps[1]), self.e[1]);
        match self.spring {
            Some(k) => made.spring_stop("inside", format!("{:?} - b", self.gaps[2]), k),
            None => made.stop("inside", format!("{:?} - b", self.gaps[2]), self.e[2]),
        }
        made.start(InitialState { velocity: self.velocity, ..InitialState::default() });
        made.build().expect("a structure")
    }
}

/// The largest energy of a run at any stored instant, and its last, both by the first.
fn growth(run: &Run) -> f64 {
    let start = run.ledger.balance.start;
    let (mut energy, mut most) = (start, start);
    for i in &run.ledger.intervals {
        energy += i.change - i.dissipated;
        most = most.max(energy);
    }
    most / start - 1.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn energy_never_grows(recipe in recipe(), log_h in -4.0..-1.0f64, exact in prop::bool::weighted(0.25)) {
        let h = 10.0_f64.powf(log_h);
        // (The account begins after the first step, so no stop is met there.)
        let structure = Recipe { gaps: recipe.gaps.map(|gap| gap + 2.5 * h), ..recipe.clone() }.build();
        let mut options = Options::steps("paoli-schatzman", h).until(2000.0 * h);
        let exact = exact && recipe.spring.is_none();
        if exact {
            options.settings.set("forcing", "exact");
        }
        let run = structure.run(&options).expect("runs");
        prop_assert!(run.status.is_complete(), "{}", run.status);
        let grown = growth(&run);
        prop_assert!(grown < 1e-7, "h = {h}: grows by {grown:e}");
        // (Of damped modes that fly exactly, what a stop gives and takes is known up to a part of what damping takes.)
        let lost = run.ledger.balance.lost_at_impacts;
        prop_assert!(lost > -1e-7 * run.ledger.balance.start || (exact && recipe.damping > 0.0), "{lost:e}");
        // (What damping takes from modes that fly exactly is integrated by the trapezoidal rule.)
        let closed = if exact { 1e-2 } else { 1e-7 };
        prop_assert!(run.ledger.balance.relative() < closed, "{}", run.ledger.balance.relative());
        prop_assert!(!run.warnings.iter().any(|w| w.contains("created energy")), "{:?}", run.warnings);
    }
}
