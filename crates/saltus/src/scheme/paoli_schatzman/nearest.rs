//! Back into K: the nearest point of the set of the scheme, in the metric of the step.

use super::{MAX_ITERATIONS, PaoliSchatzman};
use crate::Reason;
use crate::linalg::{add, dot, each, max_abs};
use crate::project::ProjectionError;

/// A search along a step goes no shorter part of it than this.
const SHORTEST: f64 = 1e-3;

/// What to evaluate of the constraints.
#[derive(Clone, Copy)]
enum Detail {
    Values,
    Gradients,
    Curvature,
}

impl PaoliSchatzman {
    /// Evaluates the constraints c = (1+e) f(t̄, (x + e qⁿ⁻¹)/(1+e)), whose gradient in x is ∇f, and what `what` asks for.
    fn evaluate_gaps(&mut self, what: Detail) {
        let t = self.t();
        for group in &mut self.groups {
            let (e, share, lead) = if self.averaging { (group.e, group.share, group.lead) } else { (0.0, 1.0, self.h) };
            let (z, x, before) = (&mut group.z, &self.x, &self.q_before);
            each(x.len(), |i| z[i] = share * (x[i] + e * before[i]));
            let t = t + lead;
            if self.states_in_gaps && group.gaps.code.uses_states {
                // First-order states there, in free flight: kick/h² is their rate, advance/h their mean in the step before.
                let share = if self.n == 0 { 2.0 * lead / self.h } else { 0.5 + lead / self.h };
                for i in self.instance.model().degrees()..x.len() {
                    self.velocity[i] = (self.advance[i] + share * self.free[i]) / self.h;
                }
            }
            match what {
                Detail::Values => group.gaps.evaluate(t, &group.z, &self.velocity),
                Detail::Gradients => group.gaps.linearise(t, &group.z, &self.velocity),
                Detail::Curvature => group.gaps.second_order(t, &group.z, &self.velocity),
            }
            let (slack, f) = (&mut self.slack[group.first..], &group.gaps.values);
            each(f.len(), |a| slack[a] = (1.0 + e) * f[a]);
            if !matches!(what, Detail::Values) {
                let values = &group.gaps.gradients.values;
                self.rows.values[group.entries..group.entries + values.len()].copy_from_slice(values);
            }
        }
    }

    /// Whether the free motion leaves K.
    pub(super) fn leaves(&mut self) -> Result<bool, Reason> {
        self.evaluate_gaps(Detail::Values);
        let mut leaves = false;
        for a in 0..self.slack.len() {
            if !self.slack[a].is_finite() {
                return Err(Reason::Gap { constraint: self.constraint(a) });
            }
            leaves |= a >= self.held && self.slack[a] < 0.0;
        }
        Ok(leaves)
    }

    /// Gaps and gradients must be numbers where they are used.
    fn check_gaps(&self) -> Result<(), Reason> {
        let bad = |a: &usize| !self.slack[*a].is_finite() || self.rows.row(*a).1.iter().any(|v| !v.is_finite());
        match (0..self.slack.len()).find(bad) {
            Some(a) => Err(Reason::Gap { constraint: self.constraint(a) }),
            None => Ok(()),
        }
    }

    /// Whether the free first step leaves K through a constraint that is open at the start. A state that a run reached may be
    /// outside before the impact is made (positions leave K by up to two steps): there a constraint is hit, too, that the
    /// velocity closes, not only the force.
    pub(super) fn is_hit(&mut self) -> bool {
        let start = self.instance.start();
        let (t, is_reached) = (start.t, start.reached_by().is_some());
        let mut at_start = self.instance.gaps();
        at_start.linearise(t, &self.q, &start.v);
        at_start.kinematics(t, &self.q, &start.v);
        (self.held..self.slack.len()).any(|a| {
            let alpha = self.order[a];
            let is_open = at_start.values[alpha] > at_start.rounding(alpha, &self.q);
            let closes = || {
                let fall = at_start.gradients.dot(alpha, &self.free).abs();
                self.h * at_start.rate(alpha, &start.v) < -2.0 * fall - at_start.rounding(alpha, &self.q)
            };
            self.slack[a] < 0.0 && (is_open || (is_reached && closes()))
        })
    }

    /// Brings x back: the nearest point of the set of the scheme, in the metric of the step.
    pub(super) fn project(&mut self) -> Result<(), Reason> {
        let linear = self.is_explicit() || self.dynamics.code.damping_linear;
        if self.affine && linear {
            self.evaluate_gaps(Detail::Gradients);
            self.check_gaps()?;
            self.p.fill(0.0);
            let metric = if self.is_explicit() { &self.mass } else { &self.implicit };
            let projected = self.kernel.project(metric, &self.rows, &self.slack, &mut self.p);
            projected.map_err(|e| self.refused(e))?;
            add(&mut self.kick, 1.0, &self.p);
            self.multipliers.copy_from_slice(self.kernel.multipliers());
            self.place();
            return Ok(());
        }
        // Curved sets are approached from the previous position: the nearest point "in a neighbourhood of qⁿ" [V] (3.2).
        // If the tangent planes there leave no room, the free position is a better place to start.
        if !self.affine {
            for (kick, advance) in self.kick.iter_mut().zip(&self.advance) {
                *kick = -advance;
            }
            match self.sequence() {
                Err(Reason::Incompatible { .. } | Reason::NearestPoint { .. }) => {}
                done => return done,
            }
        }
        self.kick.copy_from_slice(&self.free);
        self.sequence()
    }

    /// Sequential quadratic programming with the exact second derivatives; quadratic convergence. Where the first steps do not
    /// get there, further ones must lower a merit function: from outside, a curved set has several points that are nearest
    /// among their neighbours, and places between them that are none.
    fn sequence(&mut self) -> Result<(), Reason> {
        self.multipliers.fill(0.0);
        let (mut last, mut weight) = (f64::INFINITY, 0.0_f64);
        for iteration in 0..MAX_ITERATIONS {
            self.place();
            self.evaluate_gaps(if self.affine { Detail::Gradients } else { Detail::Curvature });
            self.check_gaps()?;
            self.set_residual()?;
            let bent = self.set_curved();
            let metric = match (bent, self.is_explicit()) {
                (true, _) => &self.curved,
                (false, true) => &self.mass,
                (false, false) => &self.implicit,
            };
            self.p.copy_from_slice(&self.residual);
            metric.solve(&mut self.p);
            self.p.iter_mut().for_each(|p| *p = -*p);
            let projected = self.kernel.project(metric, &self.rows, &self.slack, &mut self.p);
            projected.map_err(|e| self.refused(e))?;
            self.multipliers.copy_from_slice(self.kernel.multipliers());
            let size = max_abs(&self.p);
            weight = weight.max(2.0 * max_abs(&self.multipliers));
            if !self.affine && iteration > 4 && size > 1e-6 * self.stride() {
                self.search(weight)?;
            } else {
                // Late and not contracting: the quadratic model overshoots, go half the way.
                let share = if iteration > 6 && size > 0.7 * last { 0.5 } else { 1.0 };
                add(&mut self.kick, share, &self.p);
            }
            let done = size <= self.tolerance() || (iteration > 1 && self.is_stuck(size, last));
            last = size;
            if done {
                self.place();
                return Ok(());
            }
            if !size.is_finite() {
                return Err(self.not_finite().unwrap_or(Reason::Force { iterations: iteration }));
            }
        }
        let worst = (0..self.slack.len()).min_by(|&a, &b| self.slack[a].total_cmp(&self.slack[b])).unwrap_or(0);
        Err(Reason::NearestPoint { constraint: self.constraint(worst), iterations: MAX_ITERATIONS })
    }

    /// The residual of the equation of the step at the present place: the gradient of half the squared distance, if there are
    /// no forces in it.
    #[inline(always)]
    fn set_residual(&mut self) -> Result<(), Reason> {
        if !self.is_explicit() {
            return self.force_residual(false);
        }
        for i in 0..self.q.len() {
            self.apart[i] = self.kick[i] - self.free[i];
        }
        self.mass.apply(&self.apart, &mut self.residual);
        Ok(())
    }

    /// Goes along p as far as half the squared distance and `weight` times the gaps below zero fall together (Armijo's rule;
    /// Nocedal & Wright, Numerical Optimization, §18.3).
    fn search(&mut self, weight: f64) -> Result<(), Reason> {
        let outside = |slack: &[f64]| slack.iter().fold(0.0, |sum, c| sum - c.min(0.0));
        let (slope, before) = (dot(&self.residual, &self.p), outside(&self.slack));
        let falls = slope - weight * before;
        let (mut share, mut gone) = (1.0, 0.0);
        loop {
            add(&mut self.kick, share - gone, &self.p);
            gone = share;
            let is_placed = self.place();
            self.evaluate_gaps(Detail::Values);
            if share < SHORTEST {
                return Ok(());
            }
            if is_placed && self.slack.iter().all(|c| c.is_finite()) {
                self.set_residual()?;
                let changes = 0.5 * share * (slope + dot(&self.residual, &self.p));
                if changes + weight * (outside(&self.slack) - before) <= 1e-4 * share * falls {
                    return Ok(());
                }
            }
            share *= 0.5;
        }
    }

    /// The metric of the step − s Σ μ ∂²c with s = 1, or as much of it as is positive definite; false if there is no curvature
    /// (or too much: then the plain metric still converges, only linearly).
    fn set_curved(&mut self) -> bool {
        if self.affine || self.multipliers.iter().all(|&m| m == 0.0) {
            return false;
        }
        [1.0, 0.5, 0.25, 0.125, 0.0625].into_iter().any(|part| self.set_part_of_curvature(part))
    }

    fn set_part_of_curvature(&mut self, part: f64) -> bool {
        let d = self.q.len();
        let metric = if self.is_explicit() { &self.mass } else { &self.implicit };
        let entries = &mut self.entries[..d * d];
        metric.write_full(entries);
        for group in &self.groups {
            let share = part * if self.averaging { group.share } else { 1.0 };
            for (&(a, i, j), second) in group.gaps.code.second.iter().zip(&group.gaps.hessians) {
                let term = share * self.multipliers[group.first + a] * second;
                entries[i * d + j] -= term;
                if i != j {
                    entries[j * d + i] -= term;
                }
            }
        }
        self.curved.set(entries).is_ok()
    }

    fn refused(&self, error: ProjectionError) -> Reason {
        match error {
            ProjectionError::Empty { constraint } => Reason::Incompatible { constraint: self.constraint(constraint) },
            ProjectionError::Stalled { constraint } => {
                Reason::NearestPoint { constraint: self.constraint(constraint), iterations: 0 }
            }
        }
    }
}
