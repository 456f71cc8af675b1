//! Ports, given the values that they had.

use crate::motion::Side;
use crate::problem::PortHistory;

/// Gives ports the values that they had at a time.
pub(super) struct PortReplay<'e> {
    pub history: &'e PortHistory,
    /// How many changes have been made; more than there are: not known.
    done: usize,
}

impl<'e> PortReplay<'e> {
    pub fn new(history: &'e PortHistory) -> Self {
        PortReplay { history, done: usize::MAX }
    }

    pub fn apply(&mut self, t: f64, side: Side) {
        let PortHistory { cells, initial, changes } = self.history;
        if changes.is_empty() {
            return;
        }
        let wanted = match side {
            Side::Left => changes.partition_point(|c| c.t < t),
            Side::Right => changes.partition_point(|c| c.t <= t),
        };
        if wanted < self.done {
            initial.iter().enumerate().for_each(|(k, &value)| cells.set(k, value));
            self.done = 0;
        }
        changes[self.done..wanted].iter().for_each(|c| cells.set(c.port, c.value));
        self.done = wanted;
    }
}

impl Drop for PortReplay<'_> {
    /// Ports keep the values that they had last.
    fn drop(&mut self) {
        self.apply(f64::INFINITY, Side::Right);
    }
}
