//! Poincaré sections: two quantities of long motions, at the instants of a stroboscope, a surface, or impacts.

use super::{At, Observer, Tables};
use saltus::SetupError;

/// A Poincaré section.
#[derive(Clone, Debug)]
pub struct Section {
    /// The points: both quantities, the time, and the trajectory.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// See `x`.
    pub t: Vec<f64>,
    /// See `x`.
    pub point: Vec<u64>,
}

impl Section {
    /// The section of a family.
    pub fn read(tables: &Tables, at: At, x: &str, y: &str) -> Result<Self, SetupError> {
        let observer = Observer::new(tables, at)?;
        let (x, y, t) = (observer.values(x)?, observer.values(y)?, observer.table.numbers("t")?);
        Ok(Section { x, y, t, point: observer.point })
    }
}
