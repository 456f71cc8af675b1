//! A clamped beam whose tip hits a stop.
//!
//!     cargo run --release -p saltus --example beam

use saltus::{
    Options,
    structure::{Beam, Builder, beam::Section},
};
use std::error::Error;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut strip = Builder::new("Strip with a stop at its tip");
    let section = Section { rigidity: 0.2, mass_per_length: 0.5 };
    let beam = strip.part(Beam::hermite(0.3, section, 30).clamped_free().rayleigh(0.5, 1e-5));
    let tip = strip.point("tip", beam.at(0.3));
    strip.parameter("F", 1.0);
    strip.force(&tip, "F*sin(60*t)");
    strip.stop("stop", 0.002 - &tip, 0.0);
    let strip = strip.build()?;
    let run = strip.run(&Options::steps("paoli-schatzman", 1e-4).until(0.5))?.ok()?;
    let largest = run.trajectory.positions().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    println!("{} impacts; the tip reaches {largest:.6} of 0.002", run.trajectory.impacts.len());
    println!("energy account: relative residual {:.1e}", run.ledger.balance.relative());
    assert!(!run.trajectory.impacts.is_empty() && largest < 0.0021 && run.ledger.balance.relative() < 1e-9);
    Ok(())
}
