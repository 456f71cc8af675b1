//! What perturbations of a motion ask of its flow.

use super::Flow;

impl Flow {
    /// The order of the last expansion.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// The name of a friction.
    pub fn friction_name(&self, f: usize) -> &str {
        &self.instance.model().frictions[f].name
    }

    /// The derivative of the argument of a switch along a direction of (t, q, v, p), at the point last evaluated.
    pub fn switch_along(&self, switch: usize, direction: &[f64], room: &mut Vec<f64>) -> f64 {
        self.full.argument_along(switch, direction, room)
    }
}
