//! What is checked at stored instants, where there are no polynomials: that time goes forward, that positions move no farther
//! than the velocities allow, that velocities are their rates, and that they are in K.

use super::Evidence;
use super::figure::Checks;
use super::friction;
use super::replay::PortReplay;
use super::scales::{Scales, Walk, changes};
use super::states;
use crate::motion::{Contact, Side, Trajectory};

/// Positions may move by this many times the velocity times the time.
const SLACK: f64 = 2.0;

/// Where a body hardly moves, steps project its position by no more than this part of what the fastest motion does.
const PROJECTED: f64 = 1e-3;

/// A velocity may be off the difference quotient of positions by this many times the largest change of velocity in a step.
const CHANGES: f64 = 8.0;

/// Gaps are evaluated at no more instants than about this many, those at which the velocity jumps apart.
const PLACES: usize = 10_000;

/// Checks the stored instants; `stretches`: those in between pieces only.
pub(super) fn check(evidence: &Evidence, scales: &Scales, stretches: Option<&[(f64, f64)]>, checks: &mut Checks) {
    let motion = evidence.trajectory;
    order(motion, checks);
    let all = [(f64::NEG_INFINITY, f64::INFINITY)];
    for &(from, to) in stretches.unwrap_or(&all) {
        let first = motion.t.partition_point(|&t| t < from);
        let last = motion.t.partition_point(|&t| t <= to);
        if evidence.keep.has(crate::Keep::INSTANTS) && last > first + 1 {
            moves(evidence, first, last, checks);
            inside(evidence, scales, first, last, checks);
            friction::instants(evidence, scales, first, last, checks);
            states::instants(evidence, first, last, checks);
        }
    }
}

/// Time goes forward, and numbers are numbers.
fn order(motion: &Trajectory, checks: &mut Checks) {
    let mut before = f64::NEG_INFINITY;
    for k in 0..motion.len() {
        let t = motion.t[k];
        if !(t > before) {
            checks.order.note(before - t, 0.0, t);
            if t == before {
                // Two instants at one time.
                checks.order.note(1.0, 0.0, t);
            }
        }
        before = t;
    }
    if motion.is_finite() {
        return;
    }
    for (k, (left, right)) in motion.sides(0).enumerate() {
        if !motion.q(k).iter().chain(left).chain(right).all(|x| x.is_finite()) {
            checks.order.note(f64::NAN, 0.0, motion.t[k]);
        }
    }
}

/// Positions move no farther than velocities allow, and velocities are their rates.
fn moves(evidence: &Evidence, first: usize, last: usize, checks: &mut Checks) {
    let motion = evidence.trajectory;
    // (What states are the velocities of has no meaning, and a fast state is no rate of it in steps.)
    let d = motion.degrees();
    let speed = |(left, right): (&[f64], &[f64]), i: usize| left[i].abs().max(right[i].abs());
    let mut fastest = vec![0.0_f64; d];
    let mut reach = vec![0.0_f64; d];
    for (k, sides) in (first..last).zip(motion.sides(first)) {
        let q = &motion.q(k)[..d];
        for i in 0..d {
            fastest[i] = fastest[i].max(speed(sides, i));
            reach[i] = reach[i].max(q[i].abs());
        }
    }
    let change = changes(motion, first, last);
    let rounding: Vec<f64> = reach.iter().map(|reach| 64.0 * f64::EPSILON * reach).collect();
    // Beyond the step itself, and for the points of a structure, which its modes move, only the fastest of the run is a bound.
    let longest = if evidence.by_events { f64::NEG_INFINITY } else { 1.5 * evidence.step };
    // (Joints move what is at rest itself.)
    let is_free = evidence.gauge.bonds.as_ref().is_none_or(|bonds| bonds.joint_count() == 0);
    let is_local = evidence.gauge.energy.is_some() && is_free;
    let mut walk = Walk::new(motion);
    let pairs = motion.sides(first).zip(motion.sides(first + 1));
    let mut before = motion.q(first);
    for (k, (now, next)) in (first..last - 1).zip(pairs) {
        let (h, t) = (motion.t[k + 1] - motion.t[k], motion.t[k + 1]);
        let is_step = h <= longest;
        let (q, q_next) = (motion.q(k), motion.q(k + 1));
        for i in 0..d {
            let bound = if is_local && is_step { speed(now, i).max(speed(next, i)) } else { fastest[i] };
            let moved = (q_next[i] - q[i]).abs();
            checks.continuous.note(moved, SLACK * h * bound + rounding[i] + PROJECTED * h * fastest[i], t);
        }
        if k > first && is_step && walk.is_regular(k) {
            let rate = 1.0 / h;
            for i in 0..d {
                let mean = 0.5 * rate * (q_next[i] - before[i]);
                let allowed = CHANGES * change[i] + 1e-6 * fastest[i] + rate * rounding[i];
                checks.derivative.note((now.0[i] - mean).abs(), allowed, motion.t[k]);
            }
        }
        before = q;
    }
}

/// Gaps at stored instants.
fn inside(evidence: &Evidence, scales: &Scales, first: usize, last: usize, checks: &mut Checks) {
    let motion = evidence.trajectory;
    let mut gauge = evidence.gauge.clone();
    let mut ports = PortReplay::new(evidence.ports);
    let stride = ((last - first) / PLACES).max(1);
    let allowed = scales.step_allows;
    let mut contacts = Contacts::new(motion, gauge.restitution.len());
    for k in (first..last).step_by(stride) {
        let (t, q) = (motion.t[k], motion.q(k));
        ports.apply(t, Side::Right);
        gauge.gaps.evaluate(t, q, motion.v(k, Side::Right));
        for (a, &f) in gauge.gaps.values.iter().enumerate() {
            if !(f >= 0.0) && !gauge.compliant[a] {
                checks.inside.note_of(-f, allowed, t, Some(a));
            }
            // Inside a contact, a step away from its ends.
            if !gauge.compliant[a] && contacts.holds(a, t, evidence.step) {
                checks.closed.note_of(f.abs(), allowed, t, Some(a));
            }
        }
    }
}

/// The contacts of each constraint in order of time.
pub(super) struct Contacts<'m> {
    lists: Vec<Vec<&'m Contact>>,
    /// The first that has not ended yet.
    current: Vec<usize>,
}

impl<'m> Contacts<'m> {
    pub fn new(motion: &'m Trajectory, constraints: usize) -> Self {
        let mut lists: Vec<Vec<&Contact>> = vec![Vec::new(); constraints];
        motion.contacts.iter().for_each(|c| lists[c.constraint].push(c));
        lists.iter_mut().for_each(|list| list.sort_by(|a, b| a.start.total_cmp(&b.start)));
        Contacts { lists, current: vec![0; constraints] }
    }

    /// Whether a constraint is in contact at a time, a margin away from the ends; times must not decrease.
    pub fn holds(&mut self, constraint: usize, t: f64, margin: f64) -> bool {
        let (list, current) = (&self.lists[constraint], &mut self.current[constraint]);
        while list.get(*current).is_some_and(|contact| contact.end < t) {
            *current += 1;
        }
        list.get(*current).is_some_and(|contact| contact.start + margin <= t && t <= contact.end - margin)
    }
}
