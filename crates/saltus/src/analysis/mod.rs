//! What can be said about a model, and about runs beside each other.

mod check;
mod dice;
mod distance;
mod equilibria;
mod forcing;
mod limit;
mod order;
mod probe;

pub use check::{Check, CheckOptions, Coverage, Finding, Pair, Verdict, check};
pub use dice::Dice;
pub use distance::{Distance, distance};
pub use equilibria::{Equilibria, EquilibriaOptions, Equilibrium, Stability, equilibria};
pub use forcing::{forcing_period, is_forced};
pub use limit::{LongTime, long_time};
pub use order::{Fit, fit};
pub use probe::{Perturbed, Probe, ensemble, judge};
