//! Joints that are put together: a start near a given one, in the kinetic metric, that satisfies their equations and has no gap below zero.
//! Each step of Newton's method goes to the nearest point of the linearised set, equations and gaps together.

use super::{Dynamics, Gaps, Instance, Start};
use crate::SetupError;
use crate::linalg::{Metric, Rows, add, max_abs};
use crate::project::Polyhedron;

/// Newton's method needs a handful of iterations from a sketch of a mechanism.
const MAX_ITERATIONS: usize = 100;

/// Equations and gaps at a point.
struct Laws<'a> {
    instance: &'a Instance,
    joints: Gaps,
    gaps: Gaps,
    dynamics: Dynamics,
    metric: Metric,
    kernel: Polyhedron,
    rows: Rows,
    slack: Vec<f64>,
}

impl Laws<'_> {
    /// How far a point is from satisfying them, as a sum of squares.
    fn distance(&mut self, at: &Start, q: &[f64]) -> f64 {
        self.joints.evaluate(at.t, q, &at.v);
        self.gaps.evaluate(at.t, q, &at.v);
        let outside = self.gaps.values.iter().map(|f| f.min(0.0));
        self.joints.values.iter().copied().chain(outside).map(|f| f * f).sum()
    }

    /// Values and gradients there; the largest value in units of its rounding, and whose it is.
    fn linearise(&mut self, at: &Start) -> (f64, usize) {
        self.joints.linearise(at.t, &at.q, &at.v);
        self.gaps.linearise(at.t, &at.q, &at.v);
        self.rows = Rows::new();
        self.slack.clear();
        let (mut worst, mut culprit) = (0.0, 0);
        let n = self.joints.values.len();
        for (all, first) in [(&self.joints, 0), (&self.gaps, n)] {
            for k in 0..all.values.len() {
                self.rows.push_row_of(&all.gradients, k);
                self.slack.push(all.values[k]);
                let value = if first == 0 { all.values[k] } else { all.values[k].min(0.0) };
                let off = value.abs() / all.rounding(k, &at.q);
                if !(off <= worst) {
                    (worst, culprit) = (off, first + k);
                }
            }
        }
        (worst, culprit)
    }

    /// What cannot be met.
    fn broken(&self, k: usize, off: f64) -> SetupError {
        let model = self.instance.model();
        let n = model.joints.len();
        if k < n {
            let name = &model.joints[k].name;
            return SetupError::new(format!(
                "the joints cannot be put together near this start: `{name}` stays off by {off:e}"
            ))
            .at(model.joints[k].span.clone(), "contradicts the others, or is too far from its place")
            .help("check lengths and signs, or give a start that is nearly assembled");
        }
        let constraint = &model.constraints[k - n];
        let message = format!(
            "the joints cannot be put together near this start on the allowed side of `{}`, whose gap stays at {off:e}",
            constraint.name
        );
        SetupError::new(message)
            .at(constraint.span.clone(), "must be ≥ 0")
            .help("check lengths and signs, or give a start that is nearly assembled, and inside")
    }

    fn value(&self, k: usize) -> f64 {
        let n = self.joints.values.len();
        if k < n { self.joints.values[k] } else { self.gaps.values[k - n] }
    }
}

/// The assembled start.
pub(super) fn assemble(instance: &Instance, start: &Start) -> Result<Start, SetupError> {
    let (n, m) = (instance.model().joints.len(), instance.constraints());
    let mut laws = Laws {
        instance,
        joints: instance.joints(),
        gaps: instance.gaps(),
        dynamics: instance.dynamics(),
        metric: instance.dynamics().metric(),
        kernel: Polyhedron::new(instance.dimension(), n + m).with_equations(n),
        rows: Rows::new(),
        slack: Vec::new(),
    };
    let mut near = start.clone();
    laws.settle(&mut near)?;
    // From there to the nearest: the nearest point of the set linearised, put on the laws again, as long as that is nearer.
    for _ in 0..MAX_ITERATIONS {
        let mut nearer = near.clone();
        if !laws.approach(start, &mut nearer) || laws.settle(&mut nearer).is_err() {
            break;
        }
        let [before, after] = [&near, &nearer].map(|at| laws.from(start, at));
        if !(after < before * (1.0 - 1e-14)) {
            break;
        }
        near = nearer;
    }
    laws.linearise(&near);
    laws.carry(&mut near);
    let model = instance.model();
    for k in 0..n {
        let (rate, joints) = (laws.joints.rate(k, &near.v), &laws.joints);
        let speed = joints.partial_t[k].abs() + joints.gradients.dot_abs(k, &near.v);
        if !(rate.abs() <= 1e-9 * (1e-2 + speed)) {
            let name = &model.joints[k].name;
            let message = format!("no velocity satisfies the joint `{name}` here: it changes at the rate {rate:e}");
            return Err(SetupError::new(message)
                .at(model.joints[k].span.clone(), "contradicts the others")
                .help("joints that move must agree with each other"));
        }
    }
    Ok(near)
}

impl Laws<'_> {
    /// Puts a position on the laws.
    fn settle(&mut self, near: &mut Start) -> Result<(), SetupError> {
        let mut shift = vec![0.0; near.q.len()];
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let (worst, culprit) = self.linearise(near);
            if !self.weigh(near) {
                return Err(SetupError::new("the mass matrix is not positive definite where the joints come together"));
            }
            if !worst.is_finite() {
                return Err(self.broken(culprit, self.value(culprit)));
            }
            if worst <= 1.0 || (worst <= 16.0 && worst >= last) {
                break;
            }
            last = worst;
            shift.fill(0.0);
            let found = self.kernel.project(&self.metric, &self.rows, &self.slack, &mut shift);
            if found.is_err() || max_abs(&shift) == 0.0 {
                return Err(self.broken(culprit, self.value(culprit)));
            }
            // A step that would leave the neighbourhood is shortened.
            let before = self.distance(near, &near.q);
            let mut share = 1.0;
            loop {
                let mut trial = near.q.clone();
                add(&mut trial, share, &shift);
                if self.distance(near, &trial) < before || share < 1e-4 || before == 0.0 {
                    near.q = trial;
                    break;
                }
                share *= 0.5;
            }
        }
        self.linearise(near);
        let n = self.joints.values.len();
        for k in 0..self.slack.len() {
            let (value, rounding) = match k < n {
                true => (self.value(k).abs(), 16.0 * self.joints.rounding(k, &near.q)),
                false => (-self.value(k), self.gaps.rounding(k - n, &near.q)),
            };
            if !(value <= rounding) {
                return Err(self.broken(k, self.value(k)));
            }
        }
        Ok(())
    }

    /// The metric at a start; false if M is not positive definite there.
    fn weigh(&mut self, at: &Start) -> bool {
        self.dynamics.evaluate(at.t, &at.q, &at.v);
        self.metric.set(&self.dynamics.mass).is_ok()
    }

    /// Moves a position that satisfies the laws to the point nearest to `start` of the set linearised there; false if there is none.
    fn approach(&mut self, start: &Start, near: &mut Start) -> bool {
        self.linearise(near);
        let mut shift: Vec<f64> = start.q.iter().zip(&near.q).map(|(a, b)| a - b).collect();
        let found = self.weigh(near) && self.kernel.project(&self.metric, &self.rows, &self.slack, &mut shift).is_ok();
        add(&mut near.q, 1.0, &shift);
        found
    }

    /// The square of the distance of a position from `start`.
    fn from(&mut self, start: &Start, at: &Start) -> f64 {
        let apart: Vec<f64> = start.q.iter().zip(&at.q).map(|(a, b)| a - b).collect();
        if self.weigh(start) { self.metric.norm_squared(&apart) } else { f64::NAN }
    }

    /// The nearest velocity that satisfies the joints and does not point into a constraint in contact.
    fn carry(&mut self, near: &mut Start) {
        self.weigh(near);
        self.joints.kinematics(near.t, &near.q, &near.v);
        self.gaps.kinematics(near.t, &near.q, &near.v);
        let n = self.joints.values.len();
        let (mut rows, mut slack) = (Rows::new(), Vec::new());
        for k in 0..n {
            rows.push_row_of(&self.joints.gradients, k);
            slack.push(self.joints.rate(k, &near.v));
        }
        for a in (0..self.gaps.values.len()).filter(|&a| self.gaps.values[a] <= self.gaps.rounding(a, &near.q)) {
            rows.push_row_of(&self.gaps.gradients, a);
            slack.push(self.gaps.rate(a, &near.v));
        }
        let mut change = vec![0.0; near.v.len()];
        let mut kernel = Polyhedron::new(near.v.len(), rows.len()).with_equations(n);
        // (Where there is none, the checks of a start say so.)
        if kernel.project(&self.metric, &rows, &slack, &mut change).is_ok() {
            add(&mut near.v, 1.0, &change);
        }
    }
}
