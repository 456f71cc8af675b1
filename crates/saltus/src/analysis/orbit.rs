//! Periodic orbits: a motion that comes back to where it was, found by Newton's method on the map of one period.

mod close;

pub use close::{Orbit, Period, close};
