//! Moreau's midpoint scheme (Moreau 1988, 1999; Paoli 2001, section 4): constraints and forces at the middle of the step.
//!
//! ```text
//! q_m  = qⁱ + (h/2) vⁱ            active: f(t_m, q_m) ≤ 0
//! vⁱ⁺¹ = nearest, in M(q_m), to vⁱ + h M⁻¹g(t_m, q_m, v)  among the velocities with U⁺ + e U⁻ ≥ 0 for the active ones
//! qⁱ⁺¹ = q_m + (h/2) vⁱ⁺¹
//! ```
//!
//! The force is implicit in the velocity vⁱ⁺¹.

use super::mabrouk::{activate_closed, finish_node, start_node};
use super::momentum::{Momentum, Place};
use super::{Node, Scheme, Settings, Stepper};
use crate::linalg::copy;
use crate::{Problem, Reason};

pub const SCHEME: Scheme = Scheme {
    name: "moreau-midpoint",
    level: "velocity",
    restitution: "any e, one for each constraint",
    proved: "M the identity, one constraint at a time, e = 0 (Monteiro Marques 1993, for the neighbouring scheme)",
    use_for: "many contacts at once (granular matter); explicit in positions",
    staggered: false,
    follows_law: true,
    order: 1.0,
    contact_steps: Some(1),
    impact_instant: |e| -e / (1.0 + e),
    start: |problem, settings| Ok(Box::new(Midpoint::new(problem, settings))),
};

struct Midpoint<'p> {
    h: f64,
    n: u64,
    q: Vec<f64>,
    v: Vec<f64>,
    v_before: Vec<f64>,
    nothing: Vec<f64>,
    restitution: Vec<f64>,
    momentum: Momentum<'p>,
}

impl<'p> Midpoint<'p> {
    fn new(problem: &'p Problem, settings: &Settings) -> Self {
        let model = problem.model();
        Midpoint {
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

    /// q += (h/2) v.
    fn half_step(&mut self) {
        for i in 0..self.q.len() {
            self.q[i] += 0.5 * self.h * self.v[i];
        }
    }
}

impl Stepper for Midpoint<'_> {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        if self.n == 0 {
            start_node(&mut self.momentum, node, &self.q, &self.v)?;
            self.n = 1;
            return Ok(());
        }
        let t = (self.n as f64 - 0.5) * self.h;
        self.half_step();
        self.momentum.evaluate(t, &self.q, &self.v)?;
        self.momentum.look(t, &self.q)?;
        self.momentum.clear();
        activate_closed(&mut self.momentum, t, &self.q, &self.v, &self.restitution);
        copy(&mut self.v_before, &self.v);
        let place = Place { t, q: &self.q, shift: 0.0 };
        self.momentum.solve(self.h, &place, &self.nothing, &self.v_before, &mut self.v)?;
        self.half_step();
        finish_node(&self.momentum, node, self.n, self.h, &self.q, &self.v_before, &self.v);
        self.n += 1;
        Ok(())
    }
}
