//! States on their constraints, and impulses along them.

use super::{Flow, correct};
use crate::Reason;
use crate::linalg::add;

impl Flow {
    /// Puts a state on the constraints of the working set: position and velocity are moved to f = 0 and df/dt = 0 along
    /// M⁻¹∇f, so that contact does not drift.
    pub fn hold(&mut self, t: f64, q: &mut [f64], v: &mut [f64]) -> Result<(), Reason> {
        let (d, m) = (self.d, self.working.len());
        let mut worst = f64::INFINITY;
        let places = self.gaps.len();
        for _ in 0..8 {
            self.evaluate(t, q, v, false)?;
            self.set_delassus(false)?;
            let before = worst;
            worst = 0.0;
            for (j, &alpha) in self.working.iter().enumerate() {
                if alpha >= places {
                    // A slip has no position.
                    self.right[j] = 0.0;
                    continue;
                }
                let terms = self.gradients.dot_abs(alpha, q);
                worst = worst.max(self.gaps[alpha].abs() / (f64::EPSILON * terms).max(1e-300));
                self.right[j] = -self.gaps[alpha];
            }
            // A few units in the last place, or as near as the gap can be computed.
            if worst <= 4.0 || worst >= before {
                break;
            }
            self.delassus.solve(&mut self.right[..m]);
            for j in 0..m {
                add(q, self.right[j], &self.mobility[j * d..(j + 1) * d]);
            }
        }
        for (j, &alpha) in self.working.iter().enumerate() {
            self.right[j] = -self.gap_rate(alpha, v);
        }
        self.delassus.solve(&mut self.right[..m]);
        correct(v, &self.right[..m], &self.mobility);
        Ok(())
    }

    /// Takes the velocities of the working set away with impulses that friction which slides goes along with, at the point last
    /// evaluated: those of a sequence of impacts add up so.
    pub fn hold_with_friction(&mut self, v: &mut [f64]) -> Result<(), Reason> {
        self.weigh_point();
        self.set_delassus(true)?;
        for (j, &alpha) in self.working.iter().enumerate() {
            self.right[j] = -self.gap_rate(alpha, v);
        }
        self.solve_reactions();
        correct(v, &self.right[..self.working.len()], &self.mobility);
        Ok(())
    }

    /// The impulses with which the last [`Flow::hold`], or [`Flow::hold_with_friction`], corrected the velocity, one for each of the working set.
    pub fn corrections(&self) -> &[f64] {
        &self.right[..self.working.len()]
    }

    /// Moves a position to f = 0 of one constraint along M⁻¹∇f.
    pub fn close_gap(&mut self, t: f64, q: &mut [f64], v: &[f64], alpha: usize) -> Result<(), Reason> {
        self.evaluate(t, q, v, false)?;
        let compliance = self.compliance(alpha);
        if compliance > 0.0 {
            add(q, -self.gaps[alpha] / compliance, &self.r);
        }
        Ok(())
    }

    /// ∇f·M⁻¹∇f of a constraint: the inverse of the mass it feels.
    pub fn compliance(&mut self, alpha: usize) -> f64 {
        self.r.fill(0.0);
        self.gradients.add_to(alpha, 1.0, &mut self.r);
        self.metric.solve(&mut self.r);
        self.gradients.dot(alpha, &self.r)
    }

    /// |Δv − M⁻¹ Σ P ∇f| in the kinetic metric, with what was last evaluated.
    pub fn law_residual(&mut self, jump: &[f64], impulses: impl Iterator<Item = (usize, f64)>) -> f64 {
        self.r.fill(0.0);
        for (alpha, p) in impulses {
            self.gradients.add_to(alpha, p, &mut self.r);
        }
        self.metric.solve(&mut self.r);
        add(&mut self.r, -1.0, jump);
        self.metric.norm_squared(&self.r).sqrt()
    }
}
