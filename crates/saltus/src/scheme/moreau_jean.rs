//! Moreau–Jean θ: the velocity-level scheme of the peers (Jean & Moreau 1992), unconditionally stable for θ ≥ ½ in linear
//! systems.
//!
//! ```text
//! M (vⁱ⁺¹ − vⁱ) = h [ θ g(ti+1, qⁱ⁺¹, vⁱ⁺¹) + (1−θ) g(ti, qⁱ, vⁱ) ] + Σ P ∇f
//! qⁱ⁺¹ = qⁱ + h [ θ vⁱ⁺¹ + (1−θ) vⁱ ]
//! 0 ≤ U⁺ + e U⁻  ⊥  P ≥ 0      for the constraints with  f(ti + γh, qⁱ + γh vⁱ) ≤ 0
//! ```
//!
//! M, ∇f and ∂t f are taken at the predicted point qⁱ + γh vⁱ. The force is implicit in position and velocity, solved by
//! Newton's method with the exact derivatives.

use super::collocated::Collocated;
use super::momentum::{Momentum, Place};
use super::{Method, Node, Scheme, Settings, Stepper, Stepping, Structures};
use crate::structure;
use crate::{Problem, Reason, SetupError};

pub const SCHEME: Scheme = Scheme {
    name: "moreau-jean",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "no proof in the papers for this form; close to Moreau's, proved for e = 0 (Monteiro Marques 1993)",
    use_for: "stiff forces; step-by-step comparison with other codes",
    follows_law: true,
    order: 1.0,
    structures: Structures::Steps(structure::moreau_jean),
    method: Method::Steps(Stepping {
        carried: 0.5,
        staggered: false,
        contact_steps: Some(1),
        impact_instant: |e| -e / (1.0 + e),
        start: |problem, settings| Ok(Box::new(MoreauJean::new(problem, settings)?)),
    }),
};

struct MoreauJean<'p> {
    theta: f64,
    gamma: f64,
    predicted: Vec<f64>,
    /// h (1−θ) g at the start of the step.
    given: Vec<f64>,
    state: Collocated<'p>,
}

impl<'p> MoreauJean<'p> {
    fn new(problem: &'p Problem, settings: &Settings) -> Result<Self, SetupError> {
        for (name, value) in [("theta", settings.theta), ("activation", settings.activation)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(SetupError::new(format!("{name} must be between 0 and 1, not {value}")));
            }
        }
        let d = problem.dimension();
        Ok(MoreauJean {
            theta: settings.theta,
            gamma: settings.activation,
            predicted: vec![0.0; d],
            given: vec![0.0; d],
            state: Collocated::new(problem, settings, Momentum::with_stiffness(problem)),
        })
    }
}

impl Stepper for MoreauJean<'_> {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let (theta, gamma) = (self.theta, self.gamma);
        let s = &mut self.state;
        if s.start(node)? {
            return Ok(());
        }
        let h = s.h;
        let start = (s.n - 1) as f64 * h;
        s.momentum.dynamics.evaluate_force(start, &s.q, &s.v);
        for i in 0..s.q.len() {
            self.given[i] = h * (1.0 - theta) * s.momentum.dynamics.g[i];
            self.predicted[i] = s.q[i] + gamma * h * s.v[i];
        }
        s.look(start + gamma * h, &self.predicted)?;
        // qⁱ⁺¹ = (qⁱ + h(1−θ) vⁱ) + hθ vⁱ⁺¹.
        s.drift(h * (1.0 - theta));
        let place = Place { t: start + h, q: &s.q, shift: h * theta };
        s.momentum.solve(h * theta, &place, &self.given, &s.v_before, &mut s.v)?;
        s.drift(h * theta);
        s.finish(node);
        Ok(())
    }
}
