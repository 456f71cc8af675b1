//! States that are carried on from point to point.

/// In which direction along the first axis each point starts where its neighbour ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carry {
    /// In the order of the axis.
    Up,
    /// Against it.
    Down,
    /// First up, then down again from where that ended.
    Both,
}

/// Position and velocity that a trajectory reached.
pub type State = (Vec<f64>, Vec<f64>);
