//! What several tests do with problems and runs.

use saltus::model::Builder;
use saltus::{Problem, Run, Side};

/// The problem of a model that is meant to be valid.
pub fn problem(builder: Builder) -> Problem {
    Problem::new(builder.build().expect("a model")).expect("a problem")
}

/// Position and velocity at the last stored instant.
pub fn last(run: &Run) -> (Vec<f64>, Vec<f64>) {
    let k = run.trajectory.len() - 1;
    (run.trajectory.q(k).to_vec(), run.trajectory.v(k, Side::Left).to_vec())
}
