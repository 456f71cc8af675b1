//! A state may have any unit: what time stepping computes does not depend on it.

use saltus::model::Builder;
use saltus::{Model, Options};
use std::sync::Arc;

/// A mass with a piezoelectric element between two stops; the voltage is written in units of 1/scale volts.
fn element(scale: f64) -> Arc<Model> {
    Builder::new("element")
        .parameter("s", scale)
        .coordinate("x", 0.0, 1.5)
        .coordinate("y", 0.0, 0.0)
        .kinetic("x'^2/2 + 0.3*y'^2/2")
        .potential("2*x^2/2 + 30*(x - y)^2/2")
        .state("u", "0.2*s", "s*4*y' - u/0.5")
        .force("y", "-0.4*u/s")
        .restitution(0.6)
        .constraint("right", "0.1 - y")
        .constraint("left", "0.12 + y")
        .build()
        .expect("a model")
}

#[test]
fn the_unit_of_a_state_does_not_matter() {
    let run = |scale: f64, scheme: &str| {
        let problem = element(scale).problem().expect("a problem");
        let options = match scheme {
            "auto" => Options::events(3.0),
            _ => Options::steps(scheme, 1e-3).until(3.0),
        };
        let run = problem.run(&options).expect("a run");
        assert!(run.status.is_complete(), "{scheme}, {scale:e}: {:?}", run.status);
        (run.last().q[0], run.last().q[1], run.last().v[2] / scale, run.trajectory.impacts.len())
    };
    for scheme in ["auto", "moreau-jean", "mabrouk", "moreau-midpoint", "paoli-schatzman"] {
        let one = run(1.0, scheme);
        assert!(one.3 > 5, "{one:?}");
        for scale in [1e-8, 1e-3, 1e5] {
            let other = run(scale, scheme);
            let off = (one.0 - other.0).abs().max((one.1 - other.1).abs()).max((one.2 - other.2).abs());
            assert!(off < 1e-9 && one.3 == other.3, "{scheme}, {scale:e}: {one:?} {other:?}");
        }
    }
}
