//! What friction did at the stops of a structure.

/// What friction at a stop did over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rubbed {
    /// The stop, by its index.
    pub stop: usize,
    /// The coefficient of friction.
    pub coefficient: f64,
    /// The energy that friction turned into heat.
    pub work: f64,
    /// The distance slid in contact.
    pub distance: f64,
    /// How long it stuck, and how long it slid.
    pub stuck: f64,
    /// How long it slid.
    pub slid: f64,
}
