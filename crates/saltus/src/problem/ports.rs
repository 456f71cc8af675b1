//! What was given to the ports of a simulation, and when.

use super::Cells;

/// A port that was set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortChange {
    pub t: f64,
    /// Its place among the open parameters.
    pub port: usize,
    pub value: f64,
}

/// The values of open parameters at the start, and the changes of ports in order.
#[derive(Clone, Debug)]
pub(crate) struct PortHistory {
    pub cells: Cells,
    pub initial: Vec<f64>,
    pub changes: Vec<PortChange>,
}

impl PortHistory {
    pub fn new(cells: &Cells) -> Self {
        PortHistory { cells: cells.clone(), initial: cells.to_vec(), changes: Vec::new() }
    }

    /// The time of the first change after `t`.
    pub fn next_change(&self, t: f64) -> f64 {
        self.changes.get(self.changes.partition_point(|c| c.t <= t)).map_or(f64::INFINITY, |c| c.t)
    }
}
