//! A run, or a slice of one, in which nearly nothing moves: what it has besides is measured, and no breach is found in rounding.

use saltus::model::Builder;
use saltus::{Options, Start};
use std::f64::consts::TAU;

/// A mass that leaves its stop with x = 1 − s⁴/24 + …: the first 3e-11 s of it, in which all that is there is a position.
#[test]
fn a_run_in_which_nearly_nothing_moves_has_no_breach() {
    let builder = Builder::new("mass").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
    let model = builder.force("x", "cos(t)").restitution(0.0).constraint("stop", "1 - x").build().expect("a model");
    let problem = model.problem().expect("compiles");
    let begin = 3.0 * TAU;
    for lasts in [3e-11_f64, 2e-9, 1e-7, 1e-5, 1e-3, 0.1] {
        let start = Start::new(begin, vec![1.0], vec![-lasts.powi(3) / 6e3]);
        let options = Options::events(begin + lasts).step(lasts / 4.0);
        let run = problem.run_from(&start, &options).expect("runs");
        assert!(run.ledger.complaints().is_empty(), "{lasts}: {:?}", run.ledger.complaints());
    }
}
