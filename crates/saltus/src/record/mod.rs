//! What is recorded of a run, by whatever engine: stored instants, pieces, impacts, contacts, touches, phases, events, and
//! what was checked on the way.
//!
//! Everything is in terms of *observed* coordinates (the coordinates of a model, the points of a structure) and of gap
//! space: gaps f, gap velocities U, impulses P, and the Delassus matrix D with U⁺ − U⁻ = D P.

mod crossings;
mod finder;
mod gauge;
mod keep;
mod recorder;
mod watch;

pub(crate) use crossings::Crossings;
pub use finder::ImpactFinder;
pub(crate) use gauge::Gauge;
pub use keep::Keep;
pub(crate) use recorder::Recorder;
pub use recorder::{Audit, Extremes, Settling};
pub use watch::Underway;
pub(crate) use watch::Watch;
