//! Events of the user's own along a time-stepped motion: sign changes from node to node, located by the cubic between them.

use crate::motion::{Crossing, EventHit, Side, Trajectory};
use crate::problem::{EventValues, Instance};
use crate::stepping::Node;

#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    values: EventValues,
    directions: Vec<Crossing>,
    before: Vec<f64>,
    /// The node before: time, position, velocity after it.
    last: Option<(f64, Vec<f64>, Vec<f64>)>,
}

impl Crossings {
    /// None if the model has no events.
    pub fn new(at: &Instance) -> Option<Self> {
        let directions: Vec<Crossing> = at.model().events.iter().map(|e| e.crossing).collect();
        let before = (0..directions.len()).map(|k| f64::from(at.start().side(k).signum())).collect();
        Some(Crossings { values: at.events()?, before, directions, last: None })
    }

    /// The signs of the expressions so far.
    pub fn sides(&self) -> Vec<i8> {
        let sign = |x: &f64| i8::from(*x > 0.0) - i8::from(*x < 0.0);
        self.before.iter().map(sign).collect()
    }

    /// Takes in a node; appends the events since the node before, in order.
    pub fn note(&mut self, node: &Node, hits: &mut Vec<EventHit>) {
        let (first, begins) = (hits.len(), self.last.is_none());
        self.values.evaluate(node.t, &node.q, &node.v_left);
        if let Some((t0, q0, v0)) = self.last.take() {
            let mut part = Trajectory::new(q0.len());
            part.push(t0, &q0, &v0);
            part.push(node.t, &node.q, &node.v_left);
            for k in 0..self.before.len() {
                let (before, after) = (self.before[k], self.values.values[k]);
                if self.directions[k].counts(before, after) {
                    let hit = self.locate(&part, k, before);
                    hits.push(hit);
                }
            }
            self.values.evaluate(node.t, &node.q, &node.v_left);
        }
        // The velocity may jump across zero.
        let left = self.values.values.clone();
        self.values.evaluate(node.t, &node.q, &node.v_right);
        for (k, &before) in left.iter().enumerate() {
            let after = self.values.values[k];
            if before != 0.0 && after != 0.0 && self.directions[k].counts(before, after) {
                let (q, v) = (node.q.clone(), node.v_right.clone());
                hits.push(EventHit { event: k, t: node.t, rising: after > before, q, v });
            }
        }
        hits[first..].sort_by(|a, b| a.t.total_cmp(&b.t));
        // A node exactly at zero has been counted: what follows starts on the other side. (The first one was counted before.)
        for (k, before) in self.before.iter_mut().enumerate() {
            let now = self.values.values[k];
            *before = match now == 0.0 {
                true if begins => *before,
                true => -*before,
                false => now,
            };
        }
        self.last = Some((node.t, node.q.clone(), node.v_right.clone()));
    }

    /// Bisection on the cubic between two nodes.
    fn locate(&mut self, part: &Trajectory, k: usize, before: f64) -> EventHit {
        let (mut low, mut high) = part.span().unwrap_or((0.0, 0.0));
        let mut cursor = part.cursor(Side::Left);
        let d = part.dimension();
        let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if !(low < middle && middle < high) || cursor.read(middle, &mut q, &mut v).is_err() {
                break;
            }
            self.values.evaluate(middle, &q, &v);
            if self.values.values[k] * before > 0.0 { low = middle } else { high = middle }
        }
        let _ = cursor.read(high, &mut q, &mut v);
        EventHit { event: k, t: high, rising: before < 0.0, q, v }
    }
}
