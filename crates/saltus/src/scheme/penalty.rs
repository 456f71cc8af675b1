//! Penalty: rigid obstacles replaced by stiff springs and dampers ([V] = Paoli 2001, section 2), as most engineering codes do.
//!
//! ```text
//! λ = −k f − c U  where f < 0,       U = ∂t f + ∇f·v
//! c = 2 ζ √(k m),   ζ = −ln e / √(π² + ln² e),   m = 1/(∇f·M⁻¹∇f)
//! M (vⁿ⁺½ − vⁿ⁻½) = h (g + Σ λ ∇f)(tn, qⁿ, vⁿ),      qⁿ⁺¹ = qⁿ + h vⁿ⁺½
//! ```
//!
//! with vⁿ the mean of vⁿ⁻½ and vⁿ⁺½, implicit. The springs are explicit: the step must resolve the contact, h ≤ O(√(m/k)).
//! At the end of a contact λ is negative for a moment, as in every linear spring and damper: cut off there, the rebound would
//! not be e times the approach.

use super::momentum::{Momentum, Place};
use super::{Laws, Method, Node, Scheme, Setting, Settings, Stepper, Stepping, StructureSteps};
use crate::linalg::copy;
use crate::problem::{Instance, Memory};
use crate::{Reason, SetupError};

pub const SCHEME: Scheme = Scheme {
    name: "penalty",
    level: "none (compliant)",
    restitution: "e > 0 by viscous damping; e = 0 as critical damping",
    proved: "convergence as k → ∞ with h = O(1/√k) (Schatzman 1978; Paoli & Schatzman 1993; Paoli 2000)",
    use_for: "where a contact stiffness is known and its force is wanted; to see what penalty codes do",
    follows_law: false,
    laws: Laws::GAPS,
    order: 1.0,
    settings: &[STIFFNESS],
    structures: StructureSteps::None,
    method: Method::Steps(Stepping {
        carried: 0.0,
        staggered: true,
        contact_steps: None,
        impact_instant: |_| 0.0,
        start: |at, h, settings| Ok(Box::new(Penalty::new(at, h, settings)?)),
    }),
};

const STIFFNESS: Setting = Setting::number(
    "stiffness",
    "the stiffness of the springs that replace the obstacles",
    f64::MIN_POSITIVE,
    f64::INFINITY,
    None,
);

/// A contact lasts π √(m/k); a stiffness that makes it this many steps long is proposed where none is given.
const CONTACT_STEPS: f64 = 40.0;

struct Penalty {
    h: f64,
    t0: f64,
    /// The node being completed, counted from t0, and that with which this run began.
    n: u64,
    first: u64,
    q: Vec<f64>,
    v: Vec<f64>,
    v_before: Vec<f64>,
    given: Vec<f64>,
    mobility: Vec<f64>,
    /// Stiffness and damping ratio of each constraint.
    springs: Vec<(f64, f64)>,
    forces: Vec<f64>,
    dampers: Vec<f64>,
    momentum: Momentum,
}

impl Penalty {
    fn new(at: &Instance, h: f64, settings: &Settings) -> Result<Self, SetupError> {
        let (d, start) = (at.dimension(), at.start());
        let mut momentum = Momentum::with_dampers(at);
        let failed = |r: Reason| SetupError::new(r.to_string());
        momentum.evaluate(start.t, &start.q, &start.v).map_err(failed)?;
        momentum.gaps.kinematics(start.t, &start.q, &start.v);
        let mut springs = Vec::new();
        for (a, c) in at.model().constraints.iter().enumerate() {
            let mut w = momentum.gaps.gradients.vector(a, d);
            momentum.mass.solve(&mut w);
            let inertia = 1.0 / momentum.gaps.gradients.dot(a, &w).max(f64::MIN_POSITIVE);
            let stiffness = match settings.number(&STIFFNESS) {
                Some(k) => k,
                None => {
                    let most = inertia * (std::f64::consts::PI / (CONTACT_STEPS * h)).powi(2);
                    return Err(SetupError::new("penalty needs the stiffness of the obstacles").help(format!(
                        "give it (--stiffness, or stiffness = … in [run]); with the step {h} a contact at `{}` is well resolved up to {most:.1e}",
                        c.name
                    )));
                }
            };
            let limit = (inertia / stiffness).sqrt();
            if h > 0.5 * limit {
                return Err(SetupError::new(format!(
                    "penalty: the step {h} is too large for the stiffness {stiffness} at `{}`: the contact is not resolved",
                    c.name
                ))
                .help(format!("take a step of at most {:.3e}, or a smaller stiffness", 0.5 * limit)));
            }
            let ratio = match at.restitution()[a] {
                e if e > 0.0 => -e.ln() / (std::f64::consts::PI.powi(2) + e.ln().powi(2)).sqrt(),
                _ => 1.0,
            };
            springs.push((stiffness, ratio));
        }
        let begun = start.memory(h, d);
        let v = begun.map_or_else(|| momentum.half_step_back(h), |by| by.values.clone());
        Ok(Penalty {
            h,
            t0: begun.map_or(start.t, |by| by.origin),
            n: begun.map_or(0, |by| by.steps),
            first: begun.map_or(0, |by| by.steps),
            q: start.q.clone(),
            v_before: v.clone(),
            v,
            given: vec![0.0; d],
            mobility: vec![0.0; d],
            forces: vec![0.0; springs.len()],
            dampers: vec![0.0; springs.len()],
            springs,
            momentum,
        })
    }

    /// The springs at tn, qⁿ: their forces −k f, and the coefficients of the dampers beside them.
    fn press(&mut self, t: f64) -> Result<(), Reason> {
        self.momentum.evaluate_gaps(t, &self.q, &self.v, 0.5 * self.h)?;
        self.momentum.clear();
        self.forces.fill(0.0);
        self.dampers.fill(0.0);
        if self.momentum.gaps.values.iter().all(|&f| f >= 0.0) {
            return Ok(());
        }
        self.momentum.kinematics(t, &self.q);
        for (a, &(k, ratio)) in self.springs.iter().enumerate() {
            if self.momentum.gaps.values[a] < 0.0 {
                let gaps = &self.momentum.gaps;
                self.mobility.fill(0.0);
                gaps.gradients.add_to(a, 1.0, &mut self.mobility);
                self.momentum.mass.solve(&mut self.mobility);
                let inertia = 1.0 / gaps.gradients.dot(a, &self.mobility).max(f64::MIN_POSITIVE);
                self.forces[a] = -k * gaps.values[a];
                self.dampers[a] = 2.0 * ratio * (k * inertia).sqrt();
                self.momentum.damp(a, self.dampers[a]);
            }
        }
        Ok(())
    }

    /// ∂t f + ∇f·v of a constraint.
    fn rate(&self, a: usize, v: &[f64]) -> f64 {
        self.momentum.gaps.rate(a, v)
    }
}

impl Stepper for Penalty {
    fn memory(&self) -> Option<Memory> {
        // The velocity of the middle of the step before the last node.
        let (steps, origin, step) = (self.n.checked_sub(1).filter(|&n| n > 0)?, self.t0, self.h);
        Some(Memory { step, origin, steps, values: self.v_before.clone(), ..Memory::default() })
    }

    fn goes_on(&self) -> bool {
        self.first > 0
    }

    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let h = self.h;
        let t = self.t0 + self.n as f64 * h;
        self.momentum.evaluate(t, &self.q, &self.v)?;
        self.press(t)?;
        for i in 0..self.q.len() {
            self.given[i] = 0.5 * h * self.momentum.dynamics.g[i];
        }
        // Springs for the whole step, dampers for its first half with the velocity before; `solve` adds the other half.
        for a in 0..self.forces.len() {
            if self.forces[a] > 0.0 {
                let half = 0.5 * self.dampers[a] * self.rate(a, &self.v);
                self.momentum.gaps.gradients.add_to(a, h * (self.forces[a] - half), &mut self.given);
            }
        }
        copy(&mut self.v_before, &self.v);
        let place = Place { t, q: &self.q, shift: 0.0 };
        self.momentum.solve(0.5 * h, &place, &self.given, &self.v_before, &mut self.v)?;
        // What springs and dampers did: the impulse of the node.
        self.mobility.fill(0.0);
        node.contact = false;
        for a in 0..self.forces.len() {
            node.impulses[a] = 0.0;
            if self.forces[a] > 0.0 {
                let rate = 0.5 * (self.rate(a, &self.v_before) + self.rate(a, &self.v));
                node.impulses[a] = h * (self.forces[a] - self.dampers[a] * rate);
                node.contact = true;
                self.momentum.gaps.gradients.add_to(a, node.impulses[a], &mut self.mobility);
            }
        }
        self.momentum.mass.solve(&mut self.mobility);
        node.index = self.n - self.first;
        node.t = t;
        copy(&mut node.q, &self.q);
        for i in 0..self.q.len() {
            let gain = self.v[i] - self.v_before[i] - self.mobility[i];
            node.v_left[i] = self.v_before[i] + 0.5 * gain;
            node.v_right[i] = node.v_left[i] + self.mobility[i];
            node.acceleration[i] = gain / h;
            self.q[i] += h * self.v[i];
            if !(self.q[i].abs() < 1e150) {
                return Err(Reason::NotFinite { coordinate: self.momentum.coordinate(i) });
            }
        }
        self.n += 1;
        Ok(())
    }
}
