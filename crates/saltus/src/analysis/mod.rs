//! What can be said about a model, and about runs beside each other.

mod check;
mod dice;
mod distance;
mod equilibria;
mod order;

pub use check::{Check, CheckOptions, Coverage, Finding, Pair, Verdict, check};
pub use dice::Dice;
pub use distance::{Distance, distance};
pub use equilibria::{Equilibria, EquilibriaOptions, Equilibrium, Stability, equilibria};
pub use order::{Fit, fit};
