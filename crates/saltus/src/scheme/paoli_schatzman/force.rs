//! Free flight: the force of a step, implicit in the velocity, and Newton's method for it.

use super::{GAUSS, MAX_ITERATIONS, PaoliSchatzman};
use crate::Reason;
use crate::linalg::{add, copy, each, max_abs};

impl PaoliSchatzman {
    /// A motion that starts from q0, v0 has had half a step of acceleration at t1: h²/2 in place of h².
    fn force_factor(&self) -> f64 {
        if self.n == 0 { 0.5 * self.h * self.h } else { self.h * self.h }
    }

    /// g and ∂g/∂v at tn, qⁿ and the current velocity, and M if asked; the mean over the step if so chosen.
    fn evaluate(&mut self, with_mass: bool) {
        let t = self.t();
        if with_mass {
            self.dynamics.evaluate(t, &self.q, &self.velocity);
        } else if !self.averaged {
            self.dynamics.evaluate_force(t, &self.q, &self.velocity);
        }
        if self.averaged {
            self.mean_g.fill(0.0);
            self.mean_jacobian.fill(0.0);
            for (c, w) in GAUSS {
                self.dynamics.evaluate_force(t + c * self.h, &self.q, &self.velocity);
                add(&mut self.mean_g, w, &self.dynamics.g);
                add(&mut self.mean_jacobian, w, &self.dynamics.jacobian);
            }
            self.dynamics.g.copy_from_slice(&self.mean_g);
            self.dynamics.jacobian.copy_from_slice(&self.mean_jacobian);
        }
    }

    fn set_mass(&mut self) -> Result<(), Reason> {
        if self.made() == 0 || !self.dynamics.code.mass_constant {
            let set = self.mass.set(&self.dynamics.mass);
            set.map_err(|e| Reason::Mass { coordinate: self.coordinate(e.pivot) })?;
        }
        Ok(())
    }

    /// The metric M − (h/2) sym ∂g/∂v of the implicit equation.
    fn set_implicit(&mut self) -> Result<(), Reason> {
        if self.made() > 0 && self.dynamics.code.constant {
            return Ok(());
        }
        let d = self.q.len();
        // A derivative that is not finite (a root at zero) says nothing: the iteration then does without it.
        self.dynamics.jacobian.iter_mut().filter(|j| !j.is_finite()).for_each(|j| *j = 0.0);
        let jacobian = &self.dynamics.jacobian;
        let entries = &mut self.entries[..self.implicit.entries().len()];
        if self.implicit.is_diagonal() {
            for i in 0..d {
                entries[i] = self.mass.entries()[i] - 0.5 * self.h * jacobian[i * d + i];
            }
        } else {
            self.mass.write_full(entries);
            self.dynamics.take_symmetric(jacobian, 0.5 * self.h, entries);
        }
        let set = self.implicit.set(entries);
        set.map_err(|e| Reason::Mass { coordinate: self.coordinate(e.pivot) })
    }

    /// residual = M kick − h² g, with g at the velocity of the current kick: (x − qⁿ⁻¹)/2h, in the first step (x − q0)/h.
    pub(super) fn force_residual(&mut self, with_mass: bool) -> Result<(), Reason> {
        let share = if self.n == 0 { 1.0 } else { 0.5 };
        for i in 0..self.q.len() {
            self.velocity[i] = (self.advance[i] + share * self.kick[i]) / self.h;
        }
        self.evaluate(with_mass);
        if with_mass {
            self.set_mass()?;
        }
        self.set_implicit()?;
        self.mass.apply(&self.kick, &mut self.residual);
        let factor = self.force_factor();
        add(&mut self.residual, -factor, &self.dynamics.g);
        if self.held > 0 {
            add(&mut self.residual, -1.0, &self.shake);
        }
        Ok(())
    }

    /// The free motion: M kick = h² g(tn, qⁿ, (advance + kick/2)/h), by Newton's method where g depends on v.
    pub(super) fn free_flight(&mut self) -> Result<(), Reason> {
        if self.held > 0 {
            self.shake.fill(0.0);
            self.shaken.fill(0.0);
        }
        if self.made() > 1 && self.dynamics.code.fixed {
            // The kick of the step before is the kick of this one.
        } else if self.is_explicit() {
            self.evaluate(true);
            self.set_mass()?;
            let factor = self.force_factor();
            let (kick, g) = (&mut self.kick, &self.dynamics.g);
            each(kick.len(), |i| kick[i] = factor * g[i]);
            self.mass.solve(&mut self.kick);
        } else {
            self.newton()?;
        }
        if self.held > 0 {
            self.hold()?;
        }
        copy(&mut self.free, &self.kick);
        if self.place() { Ok(()) } else { Err(self.not_finite().unwrap_or(Reason::Force { iterations: 0 })) }
    }

    /// The free motion put on the joints, along their gradients at qⁿ. What is left the projection does.
    fn hold(&mut self) -> Result<(), Reason> {
        copy(&mut self.plain, &self.kick);
        let (t, next) = (self.t(), self.t() + self.h);
        let Some(mut joints) = self.joints.take() else { return Ok(()) };
        joints.joints.kinematics(t, &self.q, &self.velocity);
        let mut last = f64::INFINITY;
        let mut done = Ok(());
        for _ in 0..MAX_ITERATIONS {
            if !self.place() {
                break;
            }
            let metric = if self.is_explicit() { &self.mass } else { &self.implicit };
            let moved = joints.shake(metric, next, &mut self.x, &mut self.kick, &mut self.shaken);
            if !moved.is_finite() {
                // The projection has to do without.
                self.shaken.fill(0.0);
                self.shake.fill(0.0);
                copy(&mut self.kick, &self.plain);
                break;
            }
            self.shake.fill(0.0);
            (0..self.held).for_each(|k| joints.add_to(k, self.shaken[k], &mut self.shake));
            // (What does not contract is left to the projection.)
            if moved >= 0.5 * last || moved <= self.tolerance() {
                break;
            }
            last = moved;
            if !self.is_explicit() {
                done = self.newton();
                if done.is_err() {
                    break;
                }
            }
        }
        self.joints = Some(joints);
        done
    }

    /// Newton's method for M kick = h² g with the exact ∂g/∂v, shortened where the residual would grow: forces such as
    /// −tanh(v/ε) turn round within a step.
    fn newton(&mut self) -> Result<(), Reason> {
        self.force_residual(true)?;
        let mut last = f64::INFINITY;
        for iterations in 1..=MAX_ITERATIONS {
            copy(&mut self.p, &self.residual);
            let defect = self.defect();
            if self.dynamics.code.symmetric || !self.solve_unsymmetric() {
                self.implicit.solve(&mut self.p);
            }
            let size = max_abs(&self.p);
            add(&mut self.kick, -1.0, &self.p);
            if self.dynamics.code.damping_linear || size <= self.tolerance() || self.is_stuck(size, last) {
                return Ok(());
            }
            self.force_residual(false)?;
            let mut share = 1.0;
            while !(self.defect() <= defect) && share > 1e-6 {
                share *= 0.5;
                add(&mut self.kick, share, &self.p);
                self.force_residual(false)?;
            }
            last = size;
            if iterations == MAX_ITERATIONS || !size.is_finite() {
                return Err(self.not_finite().unwrap_or(Reason::Force { iterations }));
            }
        }
        Ok(())
    }

    /// The size of M⁻¹ residual: how far the kick is from balance.
    fn defect(&mut self) -> f64 {
        copy(&mut self.balance, &self.residual);
        self.mass.solve(&mut self.balance);
        max_abs(&self.balance)
    }

    /// p ← (M − (h/2) ∂g/∂v)⁻¹ p with the whole of ∂g/∂v; false if that is singular.
    fn solve_unsymmetric(&mut self) -> bool {
        let d = self.q.len();
        self.mass.write_full(&mut self.lu.entries);
        for k in 0..d * d {
            self.lu.entries[k] -= 0.5 * self.h * self.dynamics.jacobian[k];
        }
        copy(&mut self.balance, &self.p);
        let solved = self.lu.solve(&mut self.balance);
        if solved {
            copy(&mut self.p, &self.balance);
        }
        solved
    }
}
