//! What a user should know about a model before any run.

use super::super::Constraint;
use super::Build;
use saltus_expr::NodeId;

impl Build<'_> {
    pub(super) fn warnings(&mut self, constraints: &[Constraint], force: &[NodeId]) -> Vec<String> {
        // A corner in time alone is a wall whose velocity jumps, which the impact law knows.
        let moving: Vec<NodeId> = self.names.q.iter().chain(&self.names.z).copied().collect();
        let bent = constraints.iter().filter(|c| !self.graph.corners_are_free_of(c.gap, &moving));
        let mut warnings: Vec<String> = bent
            .map(|c| {
                format!(
                    "the gap of `{}` has corners (abs, min, max, if, …): the impact law needs one gradient at each point; \
                     write each smooth piece as a constraint of its own",
                    c.name
                )
            })
            .collect();
        for (k, &g) in force.iter().enumerate().take(self.coordinates.len()) {
            if self.jumps_with_velocity(g) {
                let name = &self.coordinates[k];
                warnings.push(format!(
                    "the force on `{name}` jumps with a velocity (sign): dry friction, which can stick, is written as \
                     [[friction]] with slip = \"{name}'\" and limit = …"
                ));
            }
        }
        warnings
    }

    /// Whether a force has a sign of a velocity in it that it does not vanish with: F*sign(v) jumps, c*v*v*sign(v) does not.
    fn jumps_with_velocity(&mut self, force: NodeId) -> bool {
        let v = self.names.v.clone();
        self.graph.signs_of(force, &v).into_iter().any(|(sign, argument)| {
            if !v.contains(&argument) {
                return true;
            }
            let (side, zero) = (self.graph.symbol("the side of a sign"), self.graph.constant(0.0));
            let held = self.graph.substitute(force, &[(sign, side)]);
            let at_rest = self.graph.substitute(held, &[(argument, zero)]);
            self.graph.depends_on(at_rest, side)
        })
    }
}
