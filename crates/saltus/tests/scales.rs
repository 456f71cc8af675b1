//! Units do not matter: a model in other units of length, time and mass has the same motion in those units.

use proptest::prelude::*;
use saltus::model::Builder;
use saltus::{Options, Run, Status};

/// Two masses, a spring, a damper, gravity, a harmonic force, a floor and a stop between the masses.
#[derive(Clone, Debug)]
struct Chain {
    masses: [f64; 2],
    stiffness: f64,
    damping: f64,
    gravity: f64,
    force: f64,
    w: f64,
    e: f64,
    places: [f64; 2],
    speeds: [f64; 2],
}

fn chains() -> impl Strategy<Value = Chain> {
    let pair = |from: f64, to: f64| [from..to, from..to];
    (pair(0.5, 3.0), 1.0..40.0, 0.0..0.5, 0.5..10.0, 0.0..3.0, (0.5..4.0, 0.0..0.95), pair(0.3, 1.0), pair(-1.0, 1.0))
        .prop_map(|(masses, stiffness, damping, gravity, force, (w, e), places, speeds)| Chain {
            masses,
            stiffness,
            damping,
            gravity,
            force,
            w,
            e,
            places,
            speeds,
        })
}

impl Chain {
    /// A run of 6 units of time, in units of l, t and m.
    fn run(&self, [l, t, m]: [f64; 3]) -> Run {
        let [a, b] = self.masses.map(|mass| mass * m);
        let force = m * l / (t * t);
        let model = Builder::new("chain")
            .coordinate("x", self.places[0] * l, self.speeds[0] * l / t)
            .coordinate("y", (self.places[0] + self.places[1]) * l, self.speeds[1] * l / t)
            .kinetic(format!("{a:?}*x'^2/2 + {b:?}*y'^2/2"))
            .potential(format!(
                "{:?}*(y - x - {:?})^2/2 + {:?}*x + {:?}*y",
                self.stiffness * m / (t * t),
                0.6 * l,
                a * self.gravity * l / (t * t),
                b * self.gravity * l / (t * t)
            ))
            .force("x", format!("-{:?}*x'", self.damping * m / t))
            .force("y", format!("-{:?}*y' + {:?}*cos({:?}*t)", self.damping * m / t, self.force * force, self.w / t))
            .restitution(self.e)
            .constraint("floor", "x")
            .constraint("stop", format!("y - x - {:?}", 0.1 * l));
        let problem = model.build().expect("a model").problem().expect("a problem");
        problem.run(&Options::events(6.0 * t).step(0.1 * t)).expect("starts")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn motions_in_other_units_are_the_same(chain in chains()) {
        let plain = chain.run([1.0, 1.0, 1.0]);
        prop_assert_eq!(&plain.status, &Status::Finished);
        // Two masses that bounce on each other can be chaotic: rounding then decides where they are in the end.
        let ends = |run: &Run| run.trajectory.q(run.trajectory.len() - 1).to_vec();
        let sensitivity = [1.0 + 1e-14, 1.0 - 1e-13].map(|factor| {
            let near = Chain { places: [factor * chain.places[0], chain.places[1]], ..chain.clone() };
            ends(&plain).iter().zip(ends(&near.run([1.0; 3]))).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        });
        let allowed = 1e-5 + 10.0 * sensitivity[0].max(sensitivity[1]);
        for units in [
            [1e-12, 1.0, 1.0],
            [1e12, 1.0, 1.0],
            [1.0, 1e-9, 1.0],
            [1.0, 1e9, 1.0],
            [1.0, 1.0, 1e-12],
            [1.0, 1.0, 1e12],
            [1e-6, 1e6, 1e-6],
            [1e9, 1e-6, 1e3],
        ] {
            let scaled = chain.run(units);
            prop_assert_eq!(&scaled.status, &Status::Finished, "{:?}", units);
            // The last bounces of an accumulation may be one more or less; so may what follows a graze.
            let (all, others) = (&plain.trajectory.impacts, &scaled.trajectory.impacts);
            for k in 0..all.len().min(others.len()).min(12) {
                let (t, other) = (all.get(k).t, others.get(k).t / units[1]);
                prop_assert!((t - other).abs() < 1e-7, "{:?}, impact {}: {} {}", units, k, t, other);
            }
            for (q, other) in ends(&plain).iter().zip(ends(&scaled)) {
                prop_assert!((q - other / units[0]).abs() < allowed, "{:?}: {} {}", units, q, other / units[0]);
            }
        }
    }
}

/// Masses that are crushed between floor and stop: they settle, are struck again and settle once more before the limit.
#[test]
fn what_settles_again_at_one_instant_is_in_the_record() {
    let chain = Chain {
        masses: [0.5, 2.741],
        stiffness: 1.0,
        damping: 0.0,
        gravity: 0.5,
        force: 0.0,
        w: 1.0,
        e: 0.3212,
        places: [0.3, 0.3],
        speeds: [-0.7126, -0.7126],
    };
    let run = chain.run([1.0; 3]);
    assert_eq!(run.status, Status::Finished, "{:#?}", run.ledger.complaints());
    assert!(run.audit.settlings.len() > 1, "{:?}", run.audit.settlings);
    // In the end both masses lie on the floor, and all impulses together carry their weight and take up their momentum:
    // Σ P = m g T + m (v(T) − v(0)).
    let (mass, last) = (0.5 + 2.741, run.trajectory.len() - 1);
    let v = run.trajectory.v(last, saltus::Side::Right);
    let momentum = 0.5 * v[0] + 2.741 * v[1];
    let expected = mass * 0.5 * 6.0 + momentum + mass * 0.7126;
    let floor = run.audit.impulses[0];
    assert!((floor - expected).abs() < 1e-9 * expected, "{floor} {expected}");
}
