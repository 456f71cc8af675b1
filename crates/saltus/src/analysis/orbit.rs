//! Periodic orbits: a motion that comes back to where it was, found by Newton's method on the map of one period.

mod distinct;
mod find;
mod judge;

pub use distinct::{is_same_orbit, starts_around};
pub use find::{NoOrbit, OrbitOptions, orbit};
pub use judge::{OrbitEvent, OrbitStability};
