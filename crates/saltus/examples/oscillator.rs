//! A forced oscillator that hits a stop, over a range of forcing frequencies: the parameter stays open, so that the model
//! is compiled once.
//!
//!     cargo run --release -p saltus --example oscillator

use saltus::{Options, model::Builder, motion::Crossing};
use std::error::Error;
use std::f64::consts::TAU;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let family = Builder::new("Forced oscillator with a stop")
        .parameter("w", 1.0)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", "cos(w*t) - 0.1*x'")
        .restitution(0.8)
        .constraint("stop", "1 - x")
        .event("turn", "x'", Crossing::Up)
        .build()?
        .open(&["w"])?
        .problem()?;
    for k in 0..5 {
        let w = 0.8 + 0.1 * f64::from(k);
        let start = family.start_with(&[("w", w)])?;
        let run = family.run_from(&start, &Options::events(40.0 * TAU / w))?.ok()?;
        let impacts = run.trajectory.impacts.iter();
        let fastest = impacts.map(|hit| hit.v_before[0]).fold(0.0, f64::max);
        let deepest = run.trajectory.events.iter().map(|turn| turn.q[0]).fold(0.0, f64::min);
        println!("w = {w:.1}: {:3} impacts, fastest {fastest:.4}, deepest {deepest:.4}", run.trajectory.impacts.len());
        assert!(run.ledger.complaints().is_empty() && !run.trajectory.impacts.is_empty());
    }
    Ok(())
}
