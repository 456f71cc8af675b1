//! What advances trajectories: compiled code, somewhere.

use super::state::State;

/// Advances many trajectories.
pub trait Iterate: Send {
    /// Room for the trajectories that are side by side, and for what they record.
    fn room(&self) -> (State, Vec<f64>);

    /// Whether trajectories wait for those beside them, so that neighbours should have much in common.
    fn is_coupled(&self) -> bool;

    /// Advances them until one signals, or for a while. Their records are in `log`, from the first one of each on.
    ///
    /// # Errors
    /// What computes them has failed.
    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), String>;
}
