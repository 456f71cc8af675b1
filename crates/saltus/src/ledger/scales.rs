//! What residuals are measured by: the largest values of a run, in the kinetic metric where they are of velocities.

use super::Evidence;
use crate::motion::{Impact, Side, Trajectory};
use crate::problem::Gaps;

/// The largest values of a run, at some hundred places.
pub(super) struct Scales {
    /// The largest velocity, and the largest position, in the kinetic metric.
    pub speed: f64,
    pub reach: f64,
    /// The largest gap of each constraint.
    pub gap: Vec<f64>,
    /// The largest gap velocity of each constraint, term by term.
    pub rate: Vec<f64>,
    /// The largest rate of each joint, term by term.
    pub joint_rate: Vec<f64>,
    /// The largest entry of a position.
    pub largest: f64,
    /// The largest change of energy at an impact.
    pub energy_change: f64,
    /// How deep a gap may be below zero with time steps: what the fastest motion does in two of them.
    pub step_allows: f64,
    /// Where contacts are motions of their own, as with springs for obstacles: how long the longest impact takes; else zero.
    pub felt: f64,
    /// For the points of a structure with time steps: the largest change of each velocity in a step, from positions alone, where nothing
    /// jumps; elastic waves do no more within the steps of an impact.
    pub change: Vec<f64>,
    /// What rounding alone makes of a velocity, in the kinetic metric, and of the velocity of each gap: see [`AT_REST`].
    pub still: f64,
    pub still_rate: Vec<f64>,
    /// What rounding of velocities makes of an energy.
    pub still_energy: f64,
    /// What times are rounded to.
    pub instant: f64,
    /// The tolerance of a run by events, at least what rounding makes of it.
    pub tolerance: f64,
}

/// A run, or a slice of one, in which nearly nothing moves has no speed by which velocities could be measured. What it has are its positions, its
/// forces and its times, and each of them is rounded. A position that is off by its rounding ε|q| at both ends of a time T is one with a velocity
/// of ε|q|/T, and a force that is off by ε|f| for that time changes the velocity by ε|f|T: two velocities that differ by no more than that lead
/// to the same numbers. (What is rounded is a sum of terms, at a time that is rounded as well: some units in the last place.)
const AT_REST: f64 = 64.0 * f64::EPSILON;

/// A run by events finds where a gap vanishes to 64 roundings of it at worst, each 1e-14 of its terms and what rounding of the time makes of it; what
/// is nearer to zero than that is closed, and may be put there by another contact. In a slice of a run that is in the midst of bounces, or that
/// begins with a contact, gaps are no larger themselves.
pub(super) const CLOSED: f64 = 64.0 * 1e-14;
const CLOSED_IN_TIME: f64 = 64.0 * 4.0 * f64::EPSILON;

/// Places at which scales are taken, of each kind.
const PLACES: usize = 200;

impl Scales {
    pub fn new(evidence: &Evidence) -> Self {
        let motion = evidence.trajectory;
        let mut gauge = evidence.gauge.clone();
        let span = motion.span().unwrap_or((0.0, 0.0));
        let approach = motion.impacts.iter().map(|i| i.approach.abs()).fold(0.0, f64::max);
        let fastest = motion.fastest().max(approach);
        let felt = if evidence.by_events || evidence.contact_steps.is_some() { 0.0 } else { longest_jump(motion) };
        let largest = motion.reach();
        let mut scales = Scales {
            speed: 0.0,
            reach: 0.0,
            rate: vec![0.0; gauge.restitution.len()],
            joint_rate: vec![0.0; gauge.bonds.as_ref().map_or(0, |bonds| bonds.joint_count())],
            largest,
            energy_change: motion.impacts.iter().fold(0.0, |m, i| m.max(i.energy_change.abs())),
            step_allows: (2.0 * evidence.step * fastest).max(0.5 * felt * fastest).max(1e-12 * largest),
            felt,
            change: match evidence.by_events || gauge.energy.is_some() {
                true => vec![0.0; motion.dimension()],
                // (Of the steps themselves, stored or not.)
                false if evidence.audit.changes.len() == motion.dimension() => evidence.audit.changes.clone(),
                false => changes(motion, 0, motion.len()),
            },
            gap: vec![0.0; gauge.restitution.len()],
            still: 0.0,
            still_rate: vec![0.0; gauge.restitution.len()],
            still_energy: 0.0,
            instant: 64.0 * f64::EPSILON * span.0.abs().max(span.1.abs()),
            tolerance: evidence.tolerance.max(1e-10),
        };
        // (How long it lasts; the last time is the largest, but for times that are negative.)
        let (lasts, latest) = (span.1 - span.0, span.0.abs().max(span.1.abs()).max(span.1 - span.0));
        let per_time = if lasts > 0.0 { AT_REST / lasts } else { 0.0 };
        let mut free = vec![0.0; motion.dimension()];
        let mut take = |t: f64, q: &[f64], v: &[f64]| {
            if !gauge.prepare(t, q, v) {
                return;
            }
            let knows_forces = gauge.free_acceleration(&mut free);
            let (reach, push) = (gauge.length(q), if knows_forces { gauge.length(&free) } else { 0.0 });
            let still = per_time * reach + AT_REST * latest * push;
            scales.still = scales.still.max(still);
            scales.still_energy = scales.still_energy.max(still * (gauge.length(v) + still));
            // (f64::max leaves out what is not a number: other checks find that.)
            scales.speed = scales.speed.max(gauge.length(v));
            scales.reach = scales.reach.max(gauge.length(q));
            gauge.gaps.evaluate(t, q, v);
            gauge.gaps.kinematics(t, q, v);
            let gaps = &gauge.gaps;
            for a in 0..gaps.values.len() {
                scales.gap[a] = scales.gap[a].max(gaps.values[a].abs());
                scales.rate[a] = scales.rate[a].max(gaps.partial_t[a].abs() + gaps.gradients.dot_abs(a, v));
                let terms = gaps.gradients.dot_abs(a, q) + gaps.values[a].abs();
                let pull = if knows_forces { gaps.gradients.dot_abs(a, &free) } else { 0.0 };
                scales.still_rate[a] = scales.still_rate[a].max(per_time * terms + AT_REST * latest * pull);
            }
            if let Some(bonds) = &gauge.bonds {
                for (row, rate) in scales.joint_rate.iter_mut().enumerate() {
                    *rate = rate.max(bonds.rest(row).abs() + bonds.dot_abs(row, v));
                }
            }
        };
        for k in (0..motion.len()).step_by((motion.len() / PLACES).max(1)) {
            take(motion.t[k], motion.q(k), motion.v(k, Side::Right));
        }
        for k in (0..motion.impacts.len()).step_by((motion.impacts.len() / PLACES).max(1)) {
            let impact = motion.impacts.get(k);
            take(impact.t, impact.q, impact.v_before);
        }
        let (mut q, mut v) = (vec![0.0; motion.dimension()], vec![0.0; motion.dimension()]);
        for k in (0..motion.pieces.len()).step_by((motion.pieces.len() / PLACES).max(1)) {
            let (from, to) = motion.pieces.span(k);
            motion.pieces.read(k, 0.5 * (from + to), &mut q, &mut v);
            take(0.5 * (from + to), &q, &v);
        }
        if evidence.gauge.is_moving {
            // Walls may be faster than what they meet.
            let fastest = scales.rate.iter().copied().fold(0.0, f64::max);
            scales.step_allows = scales.step_allows.max(2.0 * evidence.step * fastest);
        }
        if evidence.is_continued && !evidence.by_events && !motion.is_empty() {
            // How deep it was is what the steps before it have answered for.
            let gaps = &mut gauge.gaps;
            gaps.evaluate(motion.t[0], motion.q(0), motion.v(0, Side::Right));
            let depth = gaps.values.iter().fold(0.0_f64, |m, gap| m.max(-gap));
            scales.step_allows = scales.step_allows.max(depth * (1.0 + 1e-9));
        }
        scales
    }

    /// What rounding makes of a gap, at a point where its gradient has been evaluated: in whatever units, no more than a part of
    /// the largest it has been.
    pub fn rounding(&self, gaps: &Gaps, a: usize, q: &[f64]) -> f64 {
        gaps.rounding(a, q).min(1e-12 * self.gap[a] + 32.0 * f64::EPSILON * gaps.gradients.dot_abs(a, q))
    }

    /// How far a gap that is closed may be from zero with events, where its gradient has been evaluated, at the state where its terms change at a rate.
    pub fn closed(&self, gaps: &Gaps, a: usize, (t, q): (f64, &[f64]), rate: f64) -> f64 {
        (8.0 * self.rounding(gaps, a, q)).max(CLOSED * gaps.gradients.dot_abs(a, q) + CLOSED_IN_TIME * t.abs() * rate)
    }

    /// What rounding makes of a velocity, in the kinetic metric, in a piece of the motion of length h.
    pub fn still_in(&self, h: f64) -> f64 {
        if h > 0.0 { self.still.max(AT_REST * self.reach / h) } else { self.still }
    }

    /// How well the instant of an impact is known by events: to the error of the gap over the speed at which it closes.
    pub fn uncertainty(&self, evidence: &Evidence, impact: &Impact) -> Option<f64> {
        evidence.by_events.then(|| evidence.tolerance * self.largest / impact.approach.abs().max(1e-300))
    }
}

/// How long a velocity keeps jumping at one stored instant after another.
fn longest_jump(motion: &Trajectory) -> f64 {
    let (mut longest, mut start) = (0.0_f64, 0);
    let jumps = motion.jumps();
    for k in 0..jumps.len() {
        if k > 0 && jumps[k] > jumps[k - 1] + 1 {
            start = k;
        }
        longest = longest.max(motion.t[jumps[k]] - motion.t[jumps[start]]);
    }
    longest
}

/// Walks along stored instants that are between two others.
pub(super) struct Walk<'m> {
    motion: &'m Trajectory,
    /// The first jump that is not behind.
    next: usize,
}

impl<'m> Walk<'m> {
    pub fn new(motion: &'m Trajectory) -> Self {
        Walk { motion, next: 0 }
    }

    /// Whether an instant has the same distance to both neighbours, and nothing jumps at any of them; instants must not
    /// decrease.
    #[inline]
    pub fn is_regular(&mut self, k: usize) -> bool {
        let (jumps, t) = (self.motion.jumps(), &self.motion.t);
        while jumps.get(self.next).is_some_and(|&jump| jump + 1 < k) {
            self.next += 1;
        }
        let (before, after) = (t[k] - t[k - 1], t[k + 1] - t[k]);
        (before - after).abs() <= 1e-6 * after && jumps.get(self.next).is_none_or(|&jump| jump > k + 1)
    }
}

/// The largest changes of velocity from an instant to the next, from positions alone, where nothing jumps.
pub(super) fn changes(motion: &Trajectory, first: usize, last: usize) -> Vec<f64> {
    let mut change = vec![0.0_f64; motion.dimension()];
    let mut walk = Walk::new(motion);
    for k in (first + 1)..last.saturating_sub(1) {
        if walk.is_regular(k) {
            let h = motion.t[k + 1] - motion.t[k];
            let (a, b, c) = (motion.q(k - 1), motion.q(k), motion.q(k + 1));
            for i in 0..change.len() {
                change[i] = change[i].max((a[i] - 2.0 * b[i] + c[i]).abs() / h);
            }
        }
    }
    change
}
