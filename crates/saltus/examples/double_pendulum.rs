//! A double pendulum between two walls, from its energies alone: the equations of motion are derived.
//!
//!     cargo run --release -p saltus --example double_pendulum

use saltus::{Options, Side, model::Builder};
use std::error::Error;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let pendulum = Builder::new("Double pendulum between two walls")
        .parameter("g", 9.81)
        .coordinate("a", 0.0, 2.0)
        .coordinate("b", 0.0, -1.0)
        .definition("x", "sin(a) + sin(b)")
        .kinetic("a'^2 + b'^2/2 + a'*b'*cos(a - b)")
        .potential("-2*g*cos(a) - g*cos(b)")
        .restitution(0.9)
        .constraint("right", "0.4 - x")
        .constraint("left", "x + 0.4")
        .build()?;
    let problem = pendulum.problem()?;
    let run = problem.run(&Options::events(10.0))?.ok()?;
    let mut motion = run.trajectory.cursor(Side::Right);
    let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
    for t in run.trajectory.times(10) {
        motion.read(t, &mut q, &mut v)?;
        println!("t = {t:4.1}  a = {:+.5}  b = {:+.5}", q[0], q[1]);
    }
    let balance = &run.ledger.balance;
    println!("{} impacts; energy {:.6} → {:.6}", run.trajectory.impacts.len(), balance.start, balance.end);
    assert!(balance.relative() < 1e-8 && run.ledger.complaints().is_empty());
    Ok(())
}
