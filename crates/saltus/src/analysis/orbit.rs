//! Periodic orbits: a motion that comes back to where it was, found by Newton's method on the map of one period.

mod find;
mod judge;

pub use find::{NoOrbit, OrbitOptions, is_same, orbit};
pub use judge::{OrbitEvent, OrbitStability};
