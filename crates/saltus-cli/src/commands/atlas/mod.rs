//! What the commands of the atlas share: `saltus bifurcation`, `saltus section`, `saltus basins`.

pub mod args;
pub mod basins;
pub mod bifurcation;
mod classes;
pub mod draw;
mod preview;
mod run;
pub mod section;
mod units;

pub use draw::{chatter, no_numbers, without};
pub use units::unit;
