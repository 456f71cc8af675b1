//! What holds and rubs besides gaps, as one list of rows: the equations of joints, then the slips of all frictions.

use super::{Frictions, Gaps, Instance};
use crate::linalg::{Delassus, Metric, add};

/// Evaluates joints and frictions; their rows are numbered joints first, then slips in the order of the frictions.
#[derive(Clone, Debug)]
pub struct Bonds {
    /// The equations of joints.
    pub joints: Gaps,
    /// Frictions.
    pub frictions: Frictions,
    /// The friction of each constraint.
    of_constraint: Vec<Option<usize>>,
    delassus: Delassus,
    /// Multipliers of joints.
    right: Vec<f64>,
    values: Vec<f64>,
    trial: Vec<f64>,
}

/// Newton's method on joints ends after so many steps, from a position that is a step of a scheme away.
const MAX_ITERATIONS: usize = 20;

impl Bonds {
    /// Those of a model; None if it has neither joints nor friction.
    pub fn of(at: &Instance) -> Option<Self> {
        let model = at.model();
        if !model.has_joints_or_friction() {
            return None;
        }
        let n = model.joints.len();
        Some(Bonds {
            joints: at.joints(),
            frictions: at.frictions(),
            of_constraint: model.constraints.iter().map(|c| c.friction).collect(),
            delassus: Delassus::new(n, at.dimension()),
            right: vec![0.0; n],
            values: vec![0.0; n],
            trial: vec![0.0; at.dimension()],
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.joint_count() + self.frictions.rests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of equations of joints: the first rows.
    pub fn joint_count(&self) -> usize {
        self.joints.values.len()
    }

    /// The friction of a constraint.
    pub fn of_constraint(&self, a: usize) -> Option<usize> {
        self.of_constraint[a]
    }

    /// The constraint that presses a friction; None for dry friction of known limit.
    pub fn pressed_by(&self, k: usize) -> Option<usize> {
        self.frictions.code.constraint[k]
    }

    /// The tangential restitution of a friction.
    pub fn tangential(&self, k: usize) -> f64 {
        self.frictions.code.tangential[k]
    }

    /// The rows of friction k.
    pub fn slips(&self, k: usize) -> std::ops::Range<usize> {
        let (n, slips) = (self.joint_count(), self.frictions.slips(k));
        n + slips.start..n + slips.end
    }

    /// Gradients and rates of everything at a point.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.joints.kinematics(t, q, v);
        if !self.frictions.is_empty() {
            self.frictions.evaluate(t, q, v);
        }
    }

    /// Row · v.
    pub fn dot(&self, row: usize, v: &[f64]) -> f64 {
        match row.checked_sub(self.joint_count()) {
            Some(slip) => self.frictions.rows.dot(slip, v),
            None => self.joints.gradients.dot(row, v),
        }
    }

    /// Σ |row entry · v entry|.
    pub fn dot_abs(&self, row: usize, v: &[f64]) -> f64 {
        match row.checked_sub(self.joint_count()) {
            Some(slip) => self.frictions.rows.dot_abs(slip, v),
            None => self.joints.gradients.dot_abs(row, v),
        }
    }

    /// What moves by itself: ∂/∂t of a joint, what is left of a slip at v = 0.
    pub fn rest(&self, row: usize) -> f64 {
        match row.checked_sub(self.joint_count()) {
            Some(slip) => self.frictions.rests[slip],
            None => self.joints.partial_t[row],
        }
    }

    /// Row · v and what moves by itself.
    pub fn rate(&self, row: usize, v: &[f64]) -> f64 {
        self.rest(row) + self.dot(row, v)
    }

    /// out += s · row.
    pub fn add_to(&self, row: usize, s: f64, out: &mut [f64]) {
        match row.checked_sub(self.joint_count()) {
            Some(slip) => self.frictions.rows.add_to(slip, s, out),
            None => self.joints.gradients.add_to(row, s, out),
        }
    }

    /// The sliding speed of friction k at a velocity.
    pub fn speed(&self, k: usize, v: &[f64]) -> f64 {
        self.slips(k).map(|row| self.rate(row, v).powi(2)).sum::<f64>().sqrt()
    }

    /// The size of the terms that a sliding speed is made of.
    pub fn speed_terms(&self, k: usize, v: &[f64]) -> f64 {
        self.slips(k).map(|row| self.rest(row).abs() + self.dot_abs(row, v)).fold(0.0, f64::max)
    }

    /// Takes from a velocity or acceleration what joints do not allow, G x = 0, in a metric and with the gradients last
    /// evaluated; the impulses of the joints are added to `impulses`.
    pub fn constrain(&mut self, metric: &Metric, x: &mut [f64], impulses: Option<&mut [f64]>) {
        self.correct(metric, x, impulses, false);
    }

    /// The same for a velocity at moving joints: G v + ∂t j = 0.
    pub fn join(&mut self, metric: &Metric, v: &mut [f64], impulses: Option<&mut [f64]>) {
        self.correct(metric, v, impulses, true);
    }

    fn correct(&mut self, metric: &Metric, x: &mut [f64], impulses: Option<&mut [f64]>, moving: bool) {
        let n = self.joint_count();
        if n == 0 {
            return;
        }
        self.delassus.set(metric, &self.joints.gradients, 0..n);
        for k in 0..n {
            let wall = if moving { self.joints.partial_t[k] } else { 0.0 };
            self.right[k] = -(self.joints.gradients.dot(k, x) + wall);
        }
        self.delassus.solve(&mut self.right);
        for k in 0..n {
            add(x, self.right[k], self.delassus.mobility(k));
        }
        if let Some(impulses) = impulses {
            impulses.iter_mut().zip(&self.right).for_each(|(sum, p)| *sum += p);
        }
    }

    /// Carries a velocity along moving and curved joints from one position to the next without doing work: reflected at the joints
    /// in the middle of the way, G v + ∂t j changes sign; then put on those at its end.
    pub fn carry(
        &mut self,
        metric: &Metric,
        middle: (f64, &[f64]),
        end: (f64, &[f64]),
        v: &mut [f64],
        impulses: &mut [f64],
    ) {
        let n = self.joint_count();
        if n == 0 {
            return;
        }
        self.joints.kinematics(middle.0, middle.1, v);
        self.delassus.set(metric, &self.joints.gradients, 0..n);
        for k in 0..n {
            self.right[k] = -2.0 * self.joints.rate(k, v);
        }
        self.delassus.solve(&mut self.right);
        for k in 0..n {
            add(v, self.right[k], self.delassus.mobility(k));
            impulses[k] += self.right[k];
        }
        self.joints.kinematics(end.0, end.1, v);
        self.join(metric, v, Some(impulses));
    }

    /// One step of the iteration that moves x so that it satisfies the joints at a time, along their gradients last evaluated: x,
    /// and `kick` beside it, move by M⁻¹Gᵀμ, and μ is added to `sum`.
    pub fn shake(&mut self, metric: &Metric, t: f64, x: &mut [f64], kick: &mut [f64], sum: &mut [f64]) -> f64 {
        let n = self.joint_count();
        self.joints.evaluate(t, x, &[]);
        self.delassus.set(metric, &self.joints.gradients, 0..n);
        self.right.iter_mut().zip(&self.joints.values).for_each(|(r, f)| *r = -f);
        self.delassus.solve(&mut self.right);
        self.trial.fill(0.0);
        for k in 0..n {
            add(&mut self.trial, self.right[k], self.delassus.mobility(k));
            sum[k] += self.right[k];
        }
        add(x, 1.0, &self.trial);
        add(kick, 1.0, &self.trial);
        crate::linalg::max_abs(&self.trial)
    }

    /// Moves a position to the nearest one, in a metric, that satisfies the joints, to rounding. The first joint that cannot be
    /// satisfied is an error.
    pub fn assemble(&mut self, t: f64, q: &mut [f64], metric: &Metric) -> Result<(), usize> {
        let n = self.joint_count();
        if n == 0 {
            return Ok(());
        }
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            self.joints.linearise(t, q, &[]);
            let (mut worst, mut culprit) = (0.0, 0);
            for k in 0..n {
                let off = self.joints.values[k].abs() / self.joints.rounding(k, q);
                if !(off <= worst) {
                    (worst, culprit) = (off, k);
                }
            }
            if !worst.is_finite() {
                return Err(culprit);
            }
            // A joint is satisfied well below its rounding, or as well as it can be.
            if worst <= 0.1 {
                return Ok(());
            }
            if worst >= last {
                // No better than the step before, which is taken back.
                if last <= 16.0 {
                    q.copy_from_slice(&self.trial);
                    return Ok(());
                }
                if worst > 1e3 * last {
                    return Err(culprit);
                }
            }
            last = last.min(worst);
            self.trial.copy_from_slice(q);
            self.values.copy_from_slice(&self.joints.values);
            self.delassus.set(metric, &self.joints.gradients, 0..n);
            self.right.iter_mut().zip(&self.values).for_each(|(r, f)| *r = -f);
            self.delassus.solve(&mut self.right);
            for k in 0..n {
                add(q, self.right[k], self.delassus.mobility(k));
            }
        }
        self.joints.linearise(t, q, &[]);
        match (0..n).find(|&k| !(self.joints.values[k].abs() <= 64.0 * self.joints.rounding(k, q))) {
            Some(k) => Err(k),
            None => Ok(()),
        }
    }
}
