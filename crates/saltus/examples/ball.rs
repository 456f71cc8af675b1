//! A ball dropped on a floor: infinitely many impacts in a finite time, then rest.
//!
//!     cargo run --release -p saltus --example ball

use saltus::{Options, PhaseKind, model::Builder};
use std::error::Error;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let ball = Builder::new("Ball dropped on a floor")
        .coordinate("y", 1.0, 0.0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(0.5)
        .constraint("floor", "y")
        .build()?;
    let run = ball.problem()?.run(&Options::events(2.0))?.ok()?;
    for hit in run.trajectory.impacts.iter().take(5) {
        println!("t = {:.6}  {:+.4} → {:+.4} m/s", hit.t, hit.v_before[0], hit.v_after[0]);
    }
    let rest = run.timeline.of(PhaseKind::Chatter).next().ok_or("no accumulation")?.end;
    println!("{} impacts accumulate at t = {rest:.9}", run.trajectory.impacts.len());
    // Fall and all flights: √(2/g) (1 + 2 (e + e² + …)) = 3 √(2/g) for e = 1/2.
    assert!((rest - 3.0 * (2.0f64 / 9.81).sqrt()).abs() < 1e-9);
    Ok(())
}
