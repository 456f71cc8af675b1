//! What acts on a structure over time: impulses, accelerations and base shears of its steps.

use crate::record::Recorder;
use crate::stepping::{Node, Stepper};
use crate::structure::BaseMotion;

/// Impulses so far and accelerations at the last node, for the history of a structure.
pub(super) struct Noting {
    pub base: BaseMotion,
    pub compliant: Vec<bool>,
    pub impulses: Vec<f64>,
    pub accelerations: Vec<f64>,
    pub shears: Vec<f64>,
    /// Impulses to the side: before the last node, at it, and so far.
    pub sides: [Vec<f64>; 3],
}

impl Noting {
    /// Base shears at a node: the elastic part is that of the point, to which damping adds.
    pub fn shear(&mut self, node: &Node, stepper: &dyn Stepper, recorder: &mut Recorder) {
        if self.shears.is_empty() {
            return;
        }
        stepper.drags(&mut self.shears);
        for (force, seen) in self.shears.iter_mut().zip(&mut recorder.shears) {
            *force += node.q[seen.point];
            seen.see(*force);
        }
    }

    /// A node. What a rigid stop does there belongs to the step around it, half of which is over; what a spring does, to the step that
    /// follows. Accelerations have what lasting contacts do, not impacts.
    pub fn take(&mut self, node: &Node, jumps: bool, is_staggered: bool, h: f64, so_far: &[f64]) {
        for (a, sum) in self.impulses.iter_mut().enumerate() {
            let share = match (is_staggered, self.compliant[a]) {
                (_, true) => 1.0,
                // (The first step begins at its node.)
                (true, false) if node.index == 0 => 1.0,
                (true, false) => 0.5,
                (false, false) => 0.0,
            };
            *sum = so_far[a] - share * node.impulses[a];
        }
        for (p, acceleration) in self.accelerations.iter_mut().enumerate() {
            let pushed = if jumps { 0.0 } else { (node.v_right[p] - node.v_left[p]) / h };
            *acceleration = node.acceleration[p] + pushed;
        }
    }

    /// What stops did to the side at a node: half of it belongs to the step that is over.
    pub fn aside(&mut self, node: &Node, stepper: &dyn Stepper) {
        let [before, at, so_far] = &mut self.sides;
        if at.is_empty() {
            return;
        }
        at.fill(0.0);
        stepper.sides(at);
        let share = if node.index == 0 { 0.0 } else { 0.5 };
        for ((before, at), so_far) in before.iter_mut().zip(&*at).zip(so_far) {
            *so_far = *before + share * at;
            *before += at;
        }
    }

    /// A row for the instant that was stored at the last node, if one was.
    pub fn keep(&mut self, t: f64, recorder: &mut Recorder) {
        let instants = recorder.trajectory.len();
        if recorder.trajectory.history.len() < instants {
            self.base.add(t, &mut self.accelerations);
            recorder.trajectory.history.fill_to(
                instants,
                &self.impulses,
                &self.accelerations,
                &self.shears,
                &self.sides[2],
            );
        }
    }
}
