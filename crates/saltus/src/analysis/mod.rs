//! What can be said about runs beside each other: how far apart two motions are, and how fast errors fall.

mod distance;
mod order;

pub use distance::{Distance, distance};
pub use order::{Fit, fit};
