//! What advances trajectories: compiled code, somewhere.

/// Advances many trajectories.
pub trait Iterate: Send {
    /// How many trajectories are side by side.
    fn width(&self) -> usize;

    /// Advances them until one signals, or for a while. `state` has the rows of all trajectories, `log` their records.
    ///
    /// # Errors
    /// What computes them has failed.
    fn advance(&mut self, state: &mut [f64], log: &mut [f64], tolerance: f64, flags: i32) -> Result<(), String>;
}
