//! Contact that was followed elsewhere: what it takes to go on with it.

use super::{Episode, Watch};

/// A constraint in contact, alone, and the impact in progress if there is one.
#[derive(Clone, Debug, Default)]
pub struct Underway {
    /// The constraint.
    pub constraint: usize,
    /// Its impulse in the last step, zero if there was none, and for how many steps in a row there has been one.
    pub impulse: f64,
    /// See `impulse`.
    pub steps: u64,
    /// Whether there is an impact in progress: what follows is about it.
    pub is_open: bool,
    /// Its first node, the last that belongs to it in any case, and the last so far.
    pub first: u64,
    /// See `first`.
    pub last: u64,
    /// See `first`.
    pub end: u64,
    /// The incoming motion at the first node: when, where, how fast, and its acceleration.
    pub t: f64,
    /// See `t`.
    pub q: Vec<f64>,
    /// See `t`.
    pub v_left: Vec<f64>,
    /// See `t`.
    pub acceleration: Vec<f64>,
    /// The velocity after the last node so far, and its acceleration.
    pub v_right: Vec<f64>,
    /// See `v_right`.
    pub end_acceleration: Vec<f64>,
    /// All impulses of the impact so far, and that of a step of a lasting contact before it.
    pub sum: f64,
    /// See `sum`.
    pub before: f64,
}

impl Watch {
    /// Goes on from a contact that was followed elsewhere. Nothing else is in contact.
    pub fn resume(&mut self, at: &Underway) {
        let a = at.constraint;
        self.before.fill(0.0);
        self.touched.fill(false);
        self.episodes.fill(Episode::default());
        self.in_contact = at.impulse > 0.0;
        self.before[a] = at.impulse;
        self.touched[a] = self.in_contact;
        self.episodes[a].steps = at.steps;
        let w = &mut self.window;
        (w.open, w.first, w.last, w.end, w.t) = (at.is_open, at.first, at.last, at.end, at.t);
        w.q.copy_from_slice(&at.q);
        w.v_left.copy_from_slice(&at.v_left);
        w.acceleration.copy_from_slice(&at.acceleration);
        w.v_right.copy_from_slice(&at.v_right);
        w.end_acceleration.copy_from_slice(&at.end_acceleration);
        w.impulses.fill(0.0);
        w.before.fill(0.0);
        (w.impulses[a], w.before[a]) = (at.sum, at.before);
    }
}
