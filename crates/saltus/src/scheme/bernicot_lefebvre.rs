//! Bernicot–Lefebvre-Lepot: positions kept in K through linearised constraints, e = 0 (Confluentes Math. 2, 2010;
//! [T] = Paoli 2015, (7)).
//!
//! ```text
//! Uⁿ⁺¹ = Uⁿ + h Vⁿ,     Vⁿ = nearest, in M(Uⁿ), to Vⁿ⁻¹ + h M⁻¹g   with   f(tn+1, Uⁿ) + h ∇f(tn+1, Uⁿ)·Vⁿ ≥ 0
//! ```
//!
//! The force is taken at tn with the mean velocity of the steps that meet there, (Vⁿ⁻¹ + Vⁿ)/2; V⁻¹ = v0 − (h/2) M⁻¹g, so
//! that free flight is of second order ([T] starts from V⁻¹ = v0, of first order).

use super::momentum::{Momentum, Place};
use super::{Laws, Method, Node, Scheme, Stepper, Stepping, StructureSteps};
use crate::linalg::copy;
use crate::problem::{Instance, Memory};
use crate::{Kind, Reason, SetupError};

pub const SCHEME: Scheme = Scheme {
    name: "bernicot-lefebvre",
    level: "linearised positions",
    restitution: "e = 0 only",
    proved: "M the identity, e = 0, moving K that is an intersection of complements of convex sets (Bernicot & Lefebvre-Lepot \
             2010)",
    use_for: "many inelastic contacts: one quadratic programme per step, also for curved sets",
    follows_law: true,
    laws: Laws::GAPS,
    order: 1.0,
    settings: &[],
    structures: StructureSteps::None,
    method: Method::Steps(Stepping {
        carried: 0.0,
        staggered: true,
        contact_steps: Some(2),
        impact_instant: |_| 1.5,
        start: |at, h, _| Ok(Box::new(Linearised::new(at, h)?)),
    }),
};

struct Linearised {
    h: f64,
    t0: f64,
    /// The node being completed, counted from t0, and that with which this run began.
    n: u64,
    first: u64,
    q: Vec<f64>,
    v: Vec<f64>,
    v_before: Vec<f64>,
    /// (h/2) g at the velocity before: the other half of the mean force.
    given: Vec<f64>,
    momentum: Momentum,
}

impl Linearised {
    fn new(at: &Instance, h: f64) -> Result<Self, SetupError> {
        let elastic = at.restitution().iter().position(|&e| e != 0.0);
        if let Some(a) = elastic {
            return Err(SetupError::new(format!(
                "bernicot-lefebvre is a scheme for e = 0, but `{}` has restitution {}",
                at.model().constraints[a].name,
                at.restitution()[a]
            ))
            .with_kind(Kind::Unsupported)
            .help("use paoli-schatzman or mabrouk, or set the restitution to 0"));
        }
        let mut momentum = Momentum::new(at);
        let (d, start) = (at.dimension(), at.start());
        let begun = start.memory(h, d);
        let v = begun.map_or_else(|| momentum.half_step_back(h), |by| by.values.clone());
        Ok(Linearised {
            h,
            t0: begun.map_or(start.t, |by| by.origin),
            n: begun.map_or(0, |by| by.steps),
            first: begun.map_or(0, |by| by.steps),
            q: start.q.clone(),
            v_before: v.clone(),
            v,
            given: vec![0.0; d],
            momentum,
        })
    }
}

impl Stepper for Linearised {
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
        for i in 0..self.q.len() {
            self.given[i] = 0.5 * h * self.momentum.dynamics.g[i];
        }
        // (v is that of the middle of the step before.)
        self.momentum.evaluate_gaps(t + h, &self.q, &self.v, 1.5 * h)?;
        self.momentum.clear();
        self.momentum.kinematics(t + h, &self.q);
        for a in 0..self.momentum.gaps.values.len() {
            let offset = self.momentum.gaps.values[a] / h;
            self.momentum.activate(a, offset);
        }
        copy(&mut self.v_before, &self.v);
        let place = Place { t, q: &self.q, shift: 0.0 };
        self.momentum.solve(0.5 * h, &place, &self.given, &self.v_before, &mut self.v)?;
        node.index = self.n - self.first;
        node.t = t;
        copy(&mut node.q, &self.q);
        copy(&mut node.impulses, &self.momentum.impulses);
        node.contact = self.momentum.impulses.iter().any(|&p| p > 0.0);
        for i in 0..self.q.len() {
            let jump = self.momentum.jump[i];
            let gain = self.v[i] - self.v_before[i] - jump;
            node.v_left[i] = self.v_before[i] + 0.5 * gain;
            node.v_right[i] = node.v_left[i] + jump;
            node.acceleration[i] = gain / h;
            self.q[i] += h * self.v[i];
        }
        self.n += 1;
        Ok(())
    }
}
