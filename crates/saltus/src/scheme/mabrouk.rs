//! Monteiro Marques–Mabrouk: the velocity-level scheme of the sweeping process ([V] = Paoli 2001, (4.10)–(4.15)).
//!
//! ```text
//! qⁱ⁺¹ = qⁱ + h vⁱ
//! vⁱ⁺¹ = −e vⁱ + (1+e) Proj_{M(qⁱ⁺¹)}( T(ti+1, qⁱ⁺¹),  vⁱ + h/(1+e) M⁻¹g(ti+1, qⁱ⁺¹, vⁱ⁺¹) )
//! ```
//!
//! With one e for each constraint the projection becomes: vⁱ⁺¹ is nearest to vⁱ + h M⁻¹g among the velocities with
//! U⁺ + e U⁻ ≥ 0 for the active constraints, U = ∂t f + ∇f·v; for equal e this is the formula above.

use super::momentum::{Momentum, Place};
use super::{Node, Scheme, Settings, Stepper};
use crate::linalg::copy;
use crate::{Problem, Reason};

pub const SCHEME: Scheme = Scheme {
    name: "mabrouk",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "M the identity, one constraint at a time, any e (Mabrouk 1998; Monteiro Marques 1993 for e = 0)",
    use_for: "comparison with the position level; several restitutions at one impact follow the law",
    staggered: false,
    follows_law: true,
    order: 1.0,
    contact_steps: Some(1),
    // The law relates vⁱ⁺¹ to vⁱ, a step of free flight before the left limit: both obey it together −e/(1+e) steps on.
    impact_instant: |e| -e / (1.0 + e),
    start: |problem, settings| Ok(Box::new(Mabrouk::new(problem, settings))),
};

struct Mabrouk<'p> {
    h: f64,
    n: u64,
    q: Vec<f64>,
    v: Vec<f64>,
    v_before: Vec<f64>,
    nothing: Vec<f64>,
    restitution: Vec<f64>,
    momentum: Momentum<'p>,
}

impl<'p> Mabrouk<'p> {
    fn new(problem: &'p Problem, settings: &Settings) -> Self {
        let model = problem.model();
        Mabrouk {
            h: settings.step,
            n: 0,
            q: model.q0.clone(),
            v: model.v0.clone(),
            v_before: model.v0.clone(),
            nothing: vec![0.0; problem.dimension()],
            restitution: model.constraints.iter().map(|c| c.restitution).collect(),
            momentum: Momentum::new(problem),
        }
    }
}

impl Stepper for Mabrouk<'_> {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let t = self.n as f64 * self.h;
        if self.n == 0 {
            start_node(&mut self.momentum, node, &self.q, &self.v)?;
            self.n = 1;
            return Ok(());
        }
        for i in 0..self.q.len() {
            self.q[i] += self.h * self.v[i];
        }
        self.momentum.evaluate(t, &self.q, &self.v)?;
        self.momentum.look(t, &self.q)?;
        self.momentum.clear();
        activate_closed(&mut self.momentum, t, &self.q, &self.v, &self.restitution);
        copy(&mut self.v_before, &self.v);
        let place = Place { t, q: &self.q, shift: 0.0 };
        self.momentum.solve(self.h, &place, &self.nothing, &self.v_before, &mut self.v)?;
        finish_node(&self.momentum, node, self.n, self.h, &self.q, &self.v_before, &self.v);
        self.n += 1;
        Ok(())
    }
}

/// Makes the constraints whose gap, as last looked at, is closed active, with the law U⁺ + e U⁻ ≥ 0.
pub(super) fn activate_closed(momentum: &mut Momentum, t: f64, q: &[f64], v: &[f64], restitution: &[f64]) {
    if momentum.gaps.values.iter().all(|&f| f > 0.0) {
        return;
    }
    momentum.gaps.kinematics(t, q);
    for a in 0..restitution.len() {
        if momentum.gaps.values[a] <= 0.0 {
            let wall = momentum.gaps.walls[a];
            let approach = wall + momentum.gaps.gradients.dot(a, v);
            momentum.activate(a, wall + restitution[a] * approach);
        }
    }
}

/// The node at t = 0: the data themselves.
pub(super) fn start_node(momentum: &mut Momentum, node: &mut Node, q: &[f64], v: &[f64]) -> Result<(), Reason> {
    momentum.evaluate(0.0, q, v)?;
    node.index = 0;
    node.t = 0.0;
    node.contact = false;
    node.impulses.fill(0.0);
    copy(&mut node.q, q);
    copy(&mut node.v_left, v);
    copy(&mut node.v_right, v);
    copy(&mut node.acceleration, &momentum.dynamics.g);
    momentum.mass.solve(&mut node.acceleration);
    Ok(())
}

/// A node reached with velocity `v` from `v_before` a step earlier: the left limit is v without the impulses.
pub(super) fn finish_node(
    momentum: &Momentum,
    node: &mut Node,
    n: u64,
    h: f64,
    q: &[f64],
    v_before: &[f64],
    v: &[f64],
) {
    node.index = n;
    node.t = n as f64 * h;
    copy(&mut node.q, q);
    copy(&mut node.v_right, v);
    copy(&mut node.impulses, &momentum.impulses);
    node.contact = momentum.impulses.iter().any(|&p| p > 0.0);
    for i in 0..v.len() {
        node.v_left[i] = v[i] - momentum.jump[i];
        node.acceleration[i] = (node.v_left[i] - v_before[i]) / h;
    }
}
