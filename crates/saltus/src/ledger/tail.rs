//! The tails of accumulations: from the last impact that was followed one by one, the motion goes on in contact.
//!
//! What is left of the gap velocities there is taken away at once, by impulses of the constraints that hold from there on,
//! which are recorded. Like those of an impact they dissipate energy, and a moving wall does work in them, −Σ P ∂f/∂t; until
//! the limit the reactions give it back. The velocity that they lead to is computed here; the motion must go on with it.

use super::Evidence;
use super::figure::Checks;
use super::scales::Scales;
use crate::linalg::add;
use crate::motion::{Phase, PhaseKind};
use crate::record::{Gauge, Keep, Settling};

/// So many impacts at one instant, at least, are a sequence that has no end there.
const ENDLESS: usize = 8;

/// The jump that ends a sequence of impacts.
pub(super) struct Tail {
    /// Where the motion goes on in contact.
    pub t: f64,
    /// The limit of the sequence.
    pub limit: f64,
    /// How many impacts there have been.
    pub impacts: usize,
    /// The constraints of the sequence.
    pub listed: Vec<usize>,
    /// The constraints that hold, with their impulses.
    pub impulses: Vec<(usize, f64)>,
    /// The velocity after it.
    pub after: Vec<f64>,
    /// The change of energy, and the work of moving walls in it.
    pub energy: f64,
    pub wall_work: f64,
    /// What friction that slides gives with the impulses; it takes it again until the limit.
    dragged: f64,
    /// What is left of the velocity of a gap that is held, and what may be.
    left: Vec<(usize, f64, f64)>,
    /// How high the next bounce of a constraint would have been, and which.
    bounce: (f64, usize),
    /// Whether a sequence that ends at this very instant was one.
    is_endless: bool,
}

impl Tail {
    pub fn holds(&self, constraint: usize) -> bool {
        self.impulses.iter().any(|(c, _)| *c == constraint)
    }

    /// Whether this is what a phase says.
    pub fn is_of(&self, phase: &Phase) -> bool {
        self.limit == phase.end && self.listed == phase.constraints
    }

    /// The impulse of a constraint.
    pub fn impulse(&self, constraint: usize) -> f64 {
        self.impulses.iter().filter(|(c, _)| *c == constraint).map(|(_, p)| *p).sum()
    }
}

/// The tails of a run, in order of time.
pub(super) fn tails(evidence: &Evidence) -> Vec<Tail> {
    if !(evidence.by_events && evidence.keep.has(Keep::IMPACTS)) {
        return Vec::new();
    }
    let mut gauge = evidence.gauge.clone();
    let mut tails: Vec<Tail> = Vec::with_capacity(evidence.audit.settlings.len());
    for settling in &evidence.audit.settlings {
        let before = tails.last().filter(|tail| tail.impacts == settling.impacts).map(|tail| tail.after.clone());
        tails.push(tail(evidence, settling, before, &mut gauge));
    }
    tails
}

/// Whether a constraint is held at a time in some tail.
pub(super) fn held(tails: &[Tail], t: f64, constraint: usize) -> bool {
    let after = tails.partition_point(|tail| tail.t <= t);
    let is_held = |tail: &Tail| t <= tail.limit && (tail.holds(constraint) || tail.listed.contains(&constraint));
    tails[after.saturating_sub(16)..after].iter().any(is_held)
}

/// The tail that ends the impacts of a phase.
pub(super) fn of<'t>(tails: &'t [Tail], phase: &Phase) -> Option<&'t Tail> {
    let after = tails.partition_point(|tail| tail.t <= phase.end);
    tails[..after].iter().rev().take(1 << 12).find(|tail| tail.is_of(phase))
}

/// Where the motion that leads to a contact of a constraint has been held: at the end of the impacts, if their limit is its start.
pub(super) fn opening(tails: &[Tail], start: f64, constraint: usize) -> f64 {
    let after = tails.partition_point(|tail| tail.t <= start);
    let mut last = tails[..after].iter().rev().take(64);
    last.find(|tail| tail.limit == start && tail.holds(constraint)).map_or(start, |tail| tail.t)
}

/// Checks the tails by themselves, and that each has its phase.
pub(super) fn check(evidence: &Evidence, scales: &Scales, tails: &[Tail], checks: &mut Checks) {
    let phases: Vec<&Phase> = evidence.timeline.of(PhaseKind::Chatter).collect();
    let mut next = 0;
    for tail in tails {
        for &(a, rate, allowed) in &tail.left {
            checks.explained.note_of(
                rate.abs(),
                allowed + 1e-12 * scales.rate[a] + scales.still_rate[a],
                tail.t,
                Some(a),
            );
        }
        let gained = (tail.energy - tail.wall_work - tail.dragged.max(0.0)).max(0.0);
        checks.explained.note(gained, 1e-9 * scales.speed * scales.speed + scales.still_energy, tail.t);
        let (height, a) = tail.bounce;
        // (A slice of a run may begin in the midst of bounces: their gap is then no measure.)
        let size = scales.gap[a].max(1e-2 * scales.largest).max(1e-300);
        checks.claims.note_of(height, 1e2 * scales.tolerance * size, tail.t, Some(a));
        checks.claims.note(if tail.is_endless { 0.0 } else { f64::NAN }, 0.0, tail.t);
        if evidence.keep.has(Keep::TIMELINE) && tail.listed.iter().any(|&a| evidence.gauge.restitution[a] < 1.0) {
            // (They were recorded in the same order.)
            let found = phases[next..].iter().position(|phase| tail.is_of(phase));
            next += found.map_or(0, |k| k + 1);
            checks.claims.note(if found.is_some() { 0.0 } else { f64::NAN }, 0.0, tail.t);
        }
    }
}

fn tail(evidence: &Evidence, settling: &Settling, before: Option<Vec<f64>>, gauge: &mut Gauge) -> Tail {
    let impacts = &evidence.trajectory.impacts;
    let Settling { t, limit, listed, .. } = settling;
    let mut tail = Tail {
        t: *t,
        limit: *limit,
        impacts: settling.impacts,
        listed: listed.clone(),
        impulses: settling.constraints.iter().copied().zip(settling.impulses.iter().copied()).collect(),
        after: vec![f64::NAN; evidence.trajectory.dimension()],
        energy: 0.0,
        wall_work: 0.0,
        dragged: 0.0,
        left: Vec::new(),
        bounce: (0.0, 0),
        is_endless: true,
    };
    // It follows an impact at the same instant.
    let last = settling.impacts.checked_sub(1).filter(|&k| k < impacts.len()).map(|k| impacts.get(k));
    let Some(impact) = last.filter(|impact| impact.t == *t) else { return tail };
    gauge.gaps.evaluate(*t, impact.q, impact.v_after);
    gauge.gaps.kinematics(*t, impact.q, impact.v_after);
    if !gauge.prepare(*t, impact.q, impact.v_after) {
        return tail;
    }
    let before = before.unwrap_or_else(|| impact.v_after.to_vec());
    let mut x = vec![0.0; before.len()];
    tail.after.copy_from_slice(&before);
    for &(a, p) in &tail.impulses {
        gauge.response(a, &mut x);
        add(&mut tail.after, p, &x);
        tail.wall_work -= p * gauge.gaps.partial_t[a];
    }
    // (The responses include those of joints.)
    let joints = gauge.bonds.as_ref().map_or(0, |bonds| bonds.joint_count());
    for &(row, p) in settling.others.iter().filter(|(row, _)| *row >= joints) {
        gauge.response_of_other(row, &mut x);
        add(&mut tail.after, p, &x);
    }
    if let Some(bonds) = &gauge.bonds {
        for &(row, p) in settling.others.iter().filter(|(row, _)| *row >= joints) {
            tail.wall_work -= p * bonds.rest(row);
            tail.dragged += 0.5 * p * (bonds.rate(row, &before) + bonds.rate(row, &tail.after));
        }
    }
    let gaps = &gauge.gaps;
    let size = |a: usize, v: &[f64]| gaps.partial_t[a].abs() + gaps.gradients.dot_abs(a, v);
    tail.left = settling
        .constraints
        .iter()
        .map(|&a| (a, gaps.rate(a, &tail.after), 1e-8 * (size(a, &before) + size(a, &tail.after))))
        .collect();
    let left = (limit - t).max(0.0);
    let bounces = listed.iter().map(|&a| {
        let e = gauge.restitution[a].min(1.0);
        let rate = gaps.rate(a, &before).abs();
        // What is lower than the rounding of the terms that the gap is made of (of modes: many, and larger than it) is no bounce.
        let terms = gaps.gradients.dot_abs(a, impact.q) + gaps.values[a].abs();
        let rounding = 1e-14 * terms + 8.0 * f64::EPSILON * t.abs() * rate;
        ((0.25 * rate * left * (1.0 - e) - 16.0 * rounding).max(0.0), a)
    });
    tail.bounce = bounces.fold((0.0, 0), |m, b| if b.0 > m.0 { b } else { m });
    if settling.at_once {
        let at_once = settling.impacts - impacts.count_before(*t).min(settling.impacts);
        tail.is_endless = at_once >= ENDLESS && listed.iter().all(|&a| gauge.restitution[a] < 1.0);
    }
    if let Some((energy, _)) = &mut gauge.energy {
        // (At one position: only kinetic energy changes.)
        tail.energy = energy.both(*t, impact.q, &tail.after).0 - energy.both(*t, impact.q, &before).0;
    }
    tail
}
