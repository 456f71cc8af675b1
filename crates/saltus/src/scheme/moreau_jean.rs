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
use super::{Laws, Method, Node, Scheme, Setting, Settings, Stepper, Stepping, StructureSteps};
use crate::Reason;
use crate::problem::Instance;
use crate::structure;

pub const SCHEME: Scheme = Scheme {
    name: "moreau-jean",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "no proof in the papers for this form; close to Moreau's, proved for e = 0 (Monteiro Marques 1993)",
    use_for: "stiff forces; step-by-step comparison with other codes",
    follows_law: true,
    laws: Laws::ALL,
    order: 1.0,
    settings: SETTINGS,
    structures: StructureSteps::Steps(|at, h, settings| {
        let number = |setting| settings.number(setting).unwrap_or(0.5);
        structure::moreau_jean(at, h, number(&THETA), number(&ACTIVATION))
    }),
    method: Method::Steps(Stepping {
        carried: 0.5,
        staggered: false,
        contact_steps: Some(1),
        impact_instant: |e| -e / (1.0 + e),
        start: |at, h, settings| Ok(Box::new(MoreauJean::new(at, h, settings))),
    }),
};

const SETTINGS: &[Setting] = &[THETA, ACTIVATION];

const THETA: Setting = Setting::number(
    "theta",
    "the θ of moreau-jean: 1/2 is the most accurate, 1 damps most; below 1/2 steps may be unstable",
    0.0,
    1.0,
    Some(0.5),
);

const ACTIVATION: Setting = Setting::number(
    "activation",
    "the γ of moreau-jean: a constraint is active if its gap is closed at t + γh, q + γhv",
    0.0,
    1.0,
    Some(0.5),
);

struct MoreauJean {
    theta: f64,
    gamma: f64,
    predicted: Vec<f64>,
    /// h (1−θ) g at the start of the step.
    given: Vec<f64>,
    state: Collocated,
}

impl MoreauJean {
    fn new(at: &Instance, h: f64, settings: &Settings) -> Self {
        let d = at.dimension();
        MoreauJean {
            theta: settings.number(&THETA).unwrap_or(0.5),
            gamma: settings.number(&ACTIVATION).unwrap_or(0.5),
            predicted: vec![0.0; d],
            given: vec![0.0; d],
            state: Collocated::new(at, h, Momentum::with_stiffness(at)),
        }
    }
}

impl Stepper for MoreauJean {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let (theta, gamma) = (self.theta, self.gamma);
        let s = &mut self.state;
        if s.start(node)? {
            return Ok(());
        }
        let h = s.h;
        let start = s.t((s.n - 1) as f64);
        s.momentum.dynamics.evaluate_force(start, &s.q, &s.v);
        for i in 0..s.q.len() {
            self.given[i] = h * (1.0 - theta) * s.momentum.dynamics.g[i];
            self.predicted[i] = s.q[i] + gamma * h * s.v[i];
        }
        s.set_middle();
        s.activate(start + gamma * h, &self.predicted, theta.max(0.5))?;
        // qⁱ⁺¹ = (qⁱ + h(1−θ) vⁱ) + hθ vⁱ⁺¹.
        s.drift(h * (1.0 - theta));
        let place = Place { t: start + h, q: &s.q, shift: h * theta };
        s.momentum.solve(h * theta, &place, &self.given, &s.v_before, &mut s.v)?;
        s.drift(h * theta);
        s.assemble()?;
        s.finish(node);
        Ok(())
    }
}
