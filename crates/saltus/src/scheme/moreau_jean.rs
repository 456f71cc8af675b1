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

use super::mabrouk::{activate_closed, finish_node, start_node};
use super::momentum::{Momentum, Place};
use super::{Node, Scheme, Settings, Stepper};
use crate::linalg::copy;
use crate::{Problem, Reason, SetupError};

pub const SCHEME: Scheme = Scheme {
    name: "moreau-jean",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "no proof in the papers for this form; close to Moreau's, proved for e = 0 (Monteiro Marques 1993)",
    use_for: "stiff forces; step-by-step comparison with other codes",
    staggered: false,
    follows_law: true,
    order: 1.0,
    contact_steps: Some(1),
    impact_instant: |e| -e / (1.0 + e),
    start: |problem, settings| Ok(Box::new(MoreauJean::new(problem, settings)?)),
};

struct MoreauJean<'p> {
    h: f64,
    theta: f64,
    gamma: f64,
    n: u64,
    q: Vec<f64>,
    v: Vec<f64>,
    v_before: Vec<f64>,
    predicted: Vec<f64>,
    /// h (1−θ) g at the start of the step.
    given: Vec<f64>,
    restitution: Vec<f64>,
    momentum: Momentum<'p>,
}

impl<'p> MoreauJean<'p> {
    fn new(problem: &'p Problem, settings: &Settings) -> Result<Self, SetupError> {
        for (name, value) in [("theta", settings.theta), ("activation", settings.activation)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(SetupError::new(format!("{name} must be between 0 and 1, not {value}")));
            }
        }
        let model = problem.model();
        let d = problem.dimension();
        Ok(MoreauJean {
            h: settings.step,
            theta: settings.theta,
            gamma: settings.activation,
            n: 0,
            q: model.q0.clone(),
            v: model.v0.clone(),
            v_before: model.v0.clone(),
            predicted: vec![0.0; d],
            given: vec![0.0; d],
            restitution: model.constraints.iter().map(|c| c.restitution).collect(),
            momentum: Momentum::with_stiffness(problem),
        })
    }
}

impl Stepper for MoreauJean<'_> {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        if self.n == 0 {
            start_node(&mut self.momentum, node, &self.q, &self.v)?;
            self.n = 1;
            return Ok(());
        }
        let (h, theta, gamma) = (self.h, self.theta, self.gamma);
        let start = (self.n - 1) as f64 * h;
        self.momentum.dynamics.evaluate_force(start, &self.q, &self.v);
        for i in 0..self.q.len() {
            self.given[i] = h * (1.0 - theta) * self.momentum.dynamics.g[i];
            self.predicted[i] = self.q[i] + gamma * h * self.v[i];
        }
        let t = start + gamma * h;
        self.momentum.evaluate(t, &self.predicted, &self.v)?;
        self.momentum.look(t, &self.predicted)?;
        self.momentum.clear();
        activate_closed(&mut self.momentum, t, &self.predicted, &self.v, &self.restitution);
        copy(&mut self.v_before, &self.v);
        // qⁱ⁺¹ = (qⁱ + h(1−θ) vⁱ) + hθ vⁱ⁺¹.
        for i in 0..self.q.len() {
            self.q[i] += h * (1.0 - theta) * self.v[i];
        }
        let place = Place { t: start + h, q: &self.q, shift: h * theta };
        self.momentum.solve(h * theta, &place, &self.given, &self.v_before, &mut self.v)?;
        for i in 0..self.q.len() {
            self.q[i] += h * theta * self.v[i];
        }
        finish_node(&self.momentum, node, self.n, h, &self.q, &self.v_before, &self.v);
        self.n += 1;
        Ok(())
    }
}
