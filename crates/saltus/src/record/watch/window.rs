//! How long the window of an impact is.

use super::Watch;
use crate::stepping::Node;

/// A window is at most this many times as long as one impact takes: what goes on longer is listed as several.
pub const LONGEST: u64 = 4;

impl Watch {
    /// Whether a step obeys the law by itself, and is judged by itself: with joints and friction, which couple everything, impacts in
    /// neighbouring steps are not one impact.
    pub(super) fn is_complete_in_one(&self) -> bool {
        self.bonded.is_some() && self.scheme.contact_steps == Some(1)
    }

    /// Whether the impact in progress was complete before this node.
    pub(super) fn is_over(&mut self, node: &Node, fresh: bool) -> bool {
        let Some(steps) = self.scheme.contact_steps else { return !node.contact || self.is_spent(node) };
        if self.is_complete_in_one() {
            return node.index > self.window.last;
        }
        if node.index >= self.window.first + LONGEST * steps {
            return true;
        }
        if node.index <= self.window.last || fresh {
            return false;
        }
        let echo = self.echoes(node);
        if echo {
            self.window.last = node.index;
        }
        !echo
    }

    /// Whether an impulse that no force explains still belongs to it: two impacts within a step of each other echo.
    pub(super) fn echoes(&mut self, node: &Node) -> bool {
        node.contact
            && (0..node.impulses.len()).any(|a| {
                let weight = if node.impulses[a] > 0.0 { self.weight(node, a) } else { 0.0 };
                node.impulses[a] > 2.0 * weight + 1e-3 * self.window.impulses[a] && self.window.before[a] == 0.0
            })
    }

    /// A compliant contact goes on after its impact where the forces press: past its peak, with no more than their weight.
    fn is_spent(&mut self, node: &Node) -> bool {
        let now: f64 = node.impulses.iter().sum();
        self.window.peak = self.window.peak.max(now);
        if now > 0.5 * self.window.peak {
            return false;
        }
        let acting = |a: &usize| node.impulses[*a] != 0.0;
        let mut still = true;
        for a in (0..node.impulses.len()).filter(acting) {
            let weight = self.weight(node, a);
            still &= (node.impulses[a] - weight).abs() <= 0.1 * weight;
        }
        // A contact that is about to open passes through that, too; one that lasts stays there.
        self.window.calm = if still { self.window.calm + 1 } else { 0 };
        self.window.calm > 10 + (node.index - self.window.first) / 2
    }

    /// The impulse a step of the forces presses out of constraint `a` alone.
    fn weight(&mut self, node: &Node, a: usize) -> f64 {
        if !self.gauge.prepare(node.t, &node.q, &node.v_left) {
            return f64::INFINITY;
        }
        self.gauge.gaps.kinematics(node.t, &node.q, &node.v_left);
        self.gauge.response(a, &mut self.response);
        let gradients = &self.gauge.gaps.gradients;
        self.h * (-gradients.dot(a, &node.acceleration)).max(0.0) / gradients.dot(a, &self.response)
    }
}
