//! Monteiro Marques–Mabrouk: the velocity-level scheme of the sweeping process ([V] = Paoli 2001, (4.10)–(4.15)).
//!
//! ```text
//! qⁱ⁺¹ = qⁱ + h vⁱ
//! vⁱ⁺¹ = −e vⁱ + (1+e) Proj_{M(qⁱ⁺¹)}( T(ti+1, qⁱ⁺¹),  vⁱ + h/(1+e) M⁻¹g(ti+1, qⁱ⁺¹, vⁱ⁺¹) )
//! ```
//!
//! (The paper starts with v⁰ = v0 + h M⁻¹g; here v⁰ = v0, the data themselves: first order either way.)
//!
//! With one e for each constraint the projection becomes: vⁱ⁺¹ is nearest to vⁱ + h M⁻¹g among the velocities with
//! U⁺ + e U⁻ ≥ 0 for the active constraints, U = ∂t f + ∇f·v; for equal e this is the formula above.

use super::collocated::Collocated;
use super::momentum::Momentum;
use super::{Laws, Method, Node, Scheme, Stepper, Stepping, StructureSteps};
use crate::Reason;

pub const SCHEME: Scheme = Scheme {
    name: "mabrouk",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "M the identity, one constraint at a time, any e (Mabrouk 1998; Monteiro Marques 1993 for e = 0)",
    use_for: "comparison with the position level; several restitutions at one impact follow the law",
    follows_law: true,
    laws: Laws::ALL,
    order: 1.0,
    settings: &[],
    structures: StructureSteps::None,
    method: Method::Steps(Stepping {
        carried: 0.0,
        staggered: false,
        contact_steps: Some(1),
        // The law relates vⁱ⁺¹ to vⁱ, a step of free flight before the left limit: both obey it together −e/(1+e) steps on.
        impact_instant: |e| -e / (1.0 + e),
        start: |at, h, _| Ok(Box::new(Mabrouk(Collocated::new(at, h, Momentum::new(at))))),
    }),
};

struct Mabrouk(Collocated);

impl Stepper for Mabrouk {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let state = &mut self.0;
        if state.start(node)? {
            return Ok(());
        }
        state.set_middle();
        state.drift(state.h);
        state.assemble()?;
        state.carry()?;
        state.impose(state.t(state.n as f64), 1.0)?;
        state.finish(node);
        Ok(())
    }
}
