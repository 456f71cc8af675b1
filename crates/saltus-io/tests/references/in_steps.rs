//! Models with friction, joints and states in steps: Moreau–Jean against the exact engine, with first order.

use super::*;

#[test]
fn moreau_jean_with_first_order() {
    // A name, a time after the first impacts, sticks or slips, and a step.
    let cases = [
        ("belt", 6.0, 1e-2),
        ("capsule", 0.15, 5e-4),
        ("painleve-rod", 0.3, 2e-3),
        ("spinning-ball", 0.5, 1e-3),
        ("rub", 0.018, 1e-4),
        ("slider-crank", 0.0025, 1e-5),
        ("four-bar", 0.8, 2e-3),
        ("valve", 7.0, 1e-2),
        ("harvester", 0.15, 2e-4),
    ];
    for (name, end, step) in cases {
        let (problem, _) = models::problem(&models::shipped_file(name), &[]);
        let exact = problem.run(&Options::events(end).tolerance(1e-12)).expect("runs");
        let degrees = problem.model().degrees();
        let error = |finer: f64| {
            let run = problem.run(&Options::steps("moreau-jean", step / finer).until(end)).expect("runs");
            assert!(run.status.is_complete(), "{name}: {:?}", run.status);
            let off = |i: usize| (run.last().q[i] - exact.last().q[i]).abs();
            (0..degrees).map(off).fold(0.0, f64::max)
        };
        // Where in its step an impact falls is a matter of chance: the mean of three steps near each other.
        let errors = [1.0, 10.0, 100.0].map(|f| (error(f) + error(1.13 * f) + error(1.31 * f)) / 3.0);
        first_order(name, errors);
    }
}
