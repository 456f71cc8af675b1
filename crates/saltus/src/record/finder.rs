//! The impacts of steps that are made elsewhere.

use super::watch::{LONGEST, SLOW, SUDDEN};
use super::{Gauge, Keep, Recorder, Underway, Watch};
use crate::motion::Impacts;
use crate::problem::Instance;
use crate::scheme::{Method, Scheme};
use crate::stepping::Node;

/// Finds the impacts among the nodes of a time-stepping scheme, as a run of it lists them.
///
/// Only nodes with contact have to be shown, and those that follow until [`ImpactFinder::is_idle`]. The start must be free of contact.
pub struct ImpactFinder {
    watch: Watch,
    recorder: Recorder,
}

impl ImpactFinder {
    /// A landing slower than this many steps' worth of normal acceleration is a contact, not an impact.
    pub const SLOW: f64 = SLOW;
    /// In a lasting contact, an impulse this many times the one before is an impact.
    pub const SUDDEN: f64 = SUDDEN;
    /// An impact is at most this many times as long as the scheme declares: what goes on longer is listed as several.
    pub const LONGEST: u64 = LONGEST;

    /// For steps of length `h` from the start of an instance; None if the scheme makes no steps.
    pub fn new(at: &Instance, scheme: &Scheme, h: f64) -> Option<Self> {
        let Method::Steps(stepping) = &scheme.method else { return None };
        let (d, m) = (at.dimension(), at.constraints());
        let gauge = Gauge::of(at);
        let recorder = Recorder::new(d, &gauge.compliant, Keep::IMPACTS);
        Some(ImpactFinder { watch: Watch::new(gauge, d, &vec![false; m], *stepping, h), recorder })
    }

    /// Whether nothing is in contact and no impact in progress.
    pub fn is_idle(&self) -> bool {
        self.watch.is_idle()
    }

    /// Whether the contact of the nodes shown so far would last at this one: its velocity is continuous then.
    pub fn would_last(&self, node: &Node) -> bool {
        self.watch.would_last(node)
    }

    /// Goes on from a contact that was followed elsewhere.
    pub fn resume(&mut self, at: &Underway) {
        self.watch.resume(at);
    }

    /// Takes in a node.
    pub fn note(&mut self, node: &Node) {
        self.watch.note(node, &mut self.recorder);
    }

    /// Closes what is open at the last node.
    pub fn finish(&mut self, node: &Node) {
        self.watch.finish(node, &mut self.recorder);
    }

    /// The impacts since they were last forgotten.
    pub fn impacts(&self) -> &Impacts {
        &self.recorder.trajectory.impacts
    }

    /// Forgets the impacts found so far.
    pub fn forget(&mut self) {
        self.recorder.trajectory.impacts.clear();
    }
}
