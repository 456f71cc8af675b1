//! What the schemes with velocities at the nodes share: their state, the law imposed where they look, the node they
//! complete. A step of such a scheme is a few drifts of the position around one [`Collocated::impose`].

use super::momentum::{Momentum, Place};
use super::{Node, Settings};
use crate::linalg::copy;
use crate::{Problem, Reason};

/// Position and velocity at a node, on the way to the next.
pub struct Collocated<'p> {
    pub h: f64,
    /// The node being completed.
    pub n: u64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub v_before: Vec<f64>,
    restitution: Vec<f64>,
    nothing: Vec<f64>,
    pub momentum: Momentum<'p>,
}

impl<'p> Collocated<'p> {
    pub fn new(problem: &'p Problem, settings: &Settings, momentum: Momentum<'p>) -> Self {
        let model = problem.model();
        Collocated {
            h: settings.step,
            n: 0,
            q: model.q0.clone(),
            v: model.v0.clone(),
            v_before: model.v0.clone(),
            restitution: model.constraints.iter().map(|c| c.restitution).collect(),
            nothing: vec![0.0; problem.dimension()],
            momentum,
        }
    }

    /// The node at t = 0, the data themselves; true if this was it.
    pub fn start(&mut self, node: &mut Node) -> Result<bool, Reason> {
        if self.n > 0 {
            return Ok(false);
        }
        self.momentum.evaluate(0.0, &self.q, &self.v)?;
        node.index = 0;
        node.t = 0.0;
        node.contact = false;
        node.impulses.fill(0.0);
        copy(&mut node.q, &self.q);
        copy(&mut node.v_left, &self.v);
        copy(&mut node.v_right, &self.v);
        copy(&mut node.acceleration, &self.momentum.dynamics.g);
        self.momentum.mass.solve(&mut node.acceleration);
        self.n = 1;
        Ok(true)
    }

    /// q += s v.
    pub fn drift(&mut self, s: f64) {
        for i in 0..self.q.len() {
            self.q[i] += s * self.v[i];
        }
    }

    /// M at (t, q), and the constraints whose gap is closed there made active, with the law U⁺ + e U⁻ ≥ 0.
    pub fn look(&mut self, t: f64, q: &[f64]) -> Result<(), Reason> {
        let momentum = &mut self.momentum;
        momentum.evaluate(t, q, &self.v)?;
        momentum.look(t, q)?;
        momentum.clear();
        if momentum.gaps.values.iter().any(|&f| f <= 0.0) {
            momentum.gaps.kinematics(t, q);
            for a in 0..self.restitution.len() {
                if momentum.gaps.values[a] <= 0.0 {
                    let wall = momentum.gaps.walls[a];
                    let approach = wall + momentum.gaps.gradients.dot(a, &self.v);
                    momentum.activate(a, wall + self.restitution[a] * approach);
                }
            }
        }
        copy(&mut self.v_before, &self.v);
        Ok(())
    }

    /// The velocity after a step with forces and constraints taken at (t, q), the force implicit in it.
    pub fn impose(&mut self, t: f64) -> Result<(), Reason> {
        let q = std::mem::take(&mut self.q);
        let done = self.look(t, &q).and_then(|()| {
            let place = Place { t, q: &q, shift: 0.0 };
            self.momentum.solve(self.h, &place, &self.nothing, &self.v_before, &mut self.v)
        });
        self.q = q;
        done
    }

    /// Fills in the node reached: the left limit of its velocity is v without the impulses.
    pub fn finish(&mut self, node: &mut Node) {
        node.index = self.n;
        node.t = self.n as f64 * self.h;
        copy(&mut node.q, &self.q);
        copy(&mut node.v_right, &self.v);
        copy(&mut node.impulses, &self.momentum.impulses);
        node.contact = self.momentum.impulses.iter().any(|&p| p > 0.0);
        for i in 0..self.v.len() {
            node.v_left[i] = self.v[i] - self.momentum.jump[i];
            node.acceleration[i] = (node.v_left[i] - self.v_before[i]) / self.h;
        }
        self.n += 1;
    }
}
