//! The force on the supports of a part of a structure.

/// The base shear at one of the points that ask for it: r·(K u + C u'), what springs and dashpots hand to the supports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseShear {
    /// The point, by its index.
    pub point: usize,
    /// The smallest and the largest over all steps (by events, over the stored instants).
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl BaseShear {
    /// Nothing seen yet.
    pub fn new(point: usize) -> Self {
        BaseShear { point, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    /// Takes a value in.
    pub fn see(&mut self, force: f64) {
        (self.min, self.max) = (self.min.min(force), self.max.max(force));
    }
}
