//! Moreau's midpoint scheme (Moreau 1988, 1999; Paoli 2001, section 4): constraints and forces at the middle of the step.
//!
//! ```text
//! q_m  = qⁱ + (h/2) vⁱ            active: f(t_m, q_m) ≤ 0
//! vⁱ⁺¹ = nearest, in M(q_m), to vⁱ + h M⁻¹g(t_m, q_m, v)  among the velocities with U⁺ + e U⁻ ≥ 0 for the active ones
//! qⁱ⁺¹ = q_m + (h/2) vⁱ⁺¹
//! ```
//!
//! The force is implicit in the velocity vⁱ⁺¹.

use super::collocated::Collocated;
use super::momentum::Momentum;
use super::{Laws, Method, Node, Scheme, Stepper, Stepping, StructureSteps};
use crate::Reason;

pub const SCHEME: Scheme = Scheme {
    name: "moreau-midpoint",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "not for this form; its neighbour for M the identity, one constraint at a time, e = 0 (Monteiro Marques 1993)",
    use_for: "many contacts at once (granular matter); explicit in positions",
    follows_law: true,
    laws: Laws::ALL,
    order: 1.0,
    settings: &[],
    structures: StructureSteps::None,
    method: Method::Steps(Stepping {
        carried: 0.5,
        staggered: false,
        contact_steps: Some(1),
        impact_instant: |e| -e / (1.0 + e),
        start: |at, h, _| Ok(Box::new(Midpoint(Collocated::new(at, h, Momentum::new(at))))),
    }),
};

struct Midpoint(Collocated);

impl Stepper for Midpoint {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let state = &mut self.0;
        if state.start(node)? {
            return Ok(());
        }
        state.set_middle();
        state.drift(0.5 * state.h);
        state.impose(state.t(state.n as f64 - 0.5), 0.5)?;
        state.drift(0.5 * state.h);
        state.assemble()?;
        state.finish(node);
        Ok(())
    }
}
