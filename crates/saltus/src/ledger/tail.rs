//! The tails of accumulations: from the last impact that was followed one by one, the motion goes on in contact.
//!
//! What is left of the gap velocities there is taken away at once, by impulses of the constraints that hold from there on. They are
//! computed here from the jump that the motion has and the impacts do not: D P = ∇f·δ. Like those of an impact they
//! dissipate energy, and a moving wall does work in them, −Σ P ∂f/∂t; until the limit the reactions give it back.

use super::Evidence;
use super::dense::difference;
use crate::linalg::{Lu, add};
use crate::motion::{Phase, PhaseKind, Side};
use crate::record::{Gauge, Keep};
use crate::stepping::Label;

/// The jump that ends a sequence of impacts.
pub(super) struct Tail {
    /// Where the motion goes on in contact.
    pub t: f64,
    /// The limit of the sequence.
    pub limit: f64,
    /// The constraints of the sequence.
    pub listed: Vec<usize>,
    /// The constraints that hold, with their impulses.
    pub impulses: Vec<(usize, f64)>,
    /// The change of energy, and the work of moving walls in it.
    pub energy: f64,
    pub wall_work: f64,
    /// The part of the jump that the impulses do not explain, in the kinetic metric.
    pub unexplained: f64,
    /// How high the next bounce of a constraint would have been, and which.
    pub bounce: (f64, usize),
}

impl Tail {
    pub fn holds(&self, constraint: usize) -> bool {
        self.impulses.iter().any(|(c, _)| *c == constraint)
    }
}

/// The tails of a run, in order of time.
pub(super) fn tails(evidence: &Evidence) -> Vec<Tail> {
    let keep = evidence.keep;
    let mut tails: Vec<Tail> = Vec::new();
    if !(evidence.by_events && keep.has(Keep::TIMELINE) && keep.has(Keep::IMPACTS)) {
        return tails;
    }
    for phase in evidence.timeline.of(PhaseKind::Chatter) {
        let Some((t, last)) = settles(evidence, phase) else { continue };
        if let Some(before) = tails.last_mut().filter(|tail| tail.t >= t) {
            before.limit = before.limit.max(phase.end);
            before.listed.extend(&phase.constraints);
            continue;
        }
        tails.extend(tail(evidence, phase, t, last));
    }
    tails
}

/// The tail that settles at a time.
pub(super) fn at(tails: &[Tail], t: f64, rounding: f64) -> Option<&Tail> {
    let k = tails.partition_point(|tail| tail.t < t - rounding);
    tails.get(k).filter(|tail| tail.t <= t + rounding)
}

/// Whether a constraint is held at a time in some tail.
pub(super) fn held(tails: &[Tail], t: f64, constraint: usize) -> bool {
    let after = tails.partition_point(|tail| tail.t <= t);
    let is_held = |tail: &Tail| t <= tail.limit && (tail.holds(constraint) || tail.listed.contains(&constraint));
    tails[after.saturating_sub(16)..after].iter().any(is_held)
}

/// Where a phase settles: at its last impact, whose place in the list is given.
pub(super) fn settles(evidence: &Evidence, phase: &Phase) -> Option<(f64, usize)> {
    let impacts = &evidence.trajectory.impacts;
    let after = impacts.count_until(phase.end);
    let own = (0..after).rev().map(|k| (k, impacts.get(k))).take_while(|(_, i)| i.t >= phase.start);
    let (_, t) = own
        .take(1 << 12)
        .find(|(_, i)| i.constraints.iter().any(|c| phase.constraints.contains(c)))
        .map(|(k, i)| (k, i.t))?;
    // The last one at that instant.
    Some((t, impacts.count_until(t).checked_sub(1)?))
}

fn tail(evidence: &Evidence, phase: &Phase, t: f64, last: usize) -> Option<Tail> {
    let motion = evidence.trajectory;
    let d = motion.dimension();
    let mut gauge = evidence.gauge.clone();
    let impact = motion.impacts.get(last);
    let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
    let mut held: Vec<usize> = phase.constraints.clone();
    match motion.pieces.find(t, false) {
        Some(piece) => {
            motion.pieces.read(piece, t, &mut q, &mut v);
            held = motion.pieces.impulses(piece).map(|(c, _)| c).collect();
        }
        None => {
            let k = motion.t.binary_search_by(|x| x.total_cmp(&t)).ok()?;
            q.copy_from_slice(motion.q(k));
            v.copy_from_slice(motion.v(k, Side::Right));
        }
    }
    let (mut jump, mut x) = (vec![0.0; d], vec![0.0; d]);
    difference(&mut jump, &v, impact.v_after);
    gauge.gaps.evaluate(t, &q);
    gauge.gaps.kinematics(t, &q);
    if !gauge.prepare(t, &q, impact.v_after) {
        return None;
    }
    // The constraints that hold, and the slips of their friction.
    let mut rows: Vec<Label> = held.iter().map(|&a| Label::Normal(a)).collect();
    if let Some(bonds) = &gauge.bonds {
        let frictions = held.iter().filter_map(|&a| bonds.of_constraint(a));
        rows.extend(frictions.flat_map(|k| bonds.slips(k)).map(Label::Other));
    }
    let n = rows.len();
    let mut delassus = Lu::new(n);
    let mut p = vec![0.0; n];
    let mut unexplained = jump.clone();
    for (k, &row) in rows.iter().enumerate() {
        respond(&mut gauge, row, &mut x);
        for (j, &other) in rows.iter().enumerate() {
            delassus.entries[j * n + k] = along(&gauge, other, &x);
        }
        p[k] = along(&gauge, row, &jump);
    }
    let solved = delassus.solve(&mut p);
    let mut wall_work = 0.0;
    for (&row, p) in rows.iter().zip(&p) {
        respond(&mut gauge, row, &mut x);
        add(&mut unexplained, -p, &x);
        wall_work -= p * match row {
            Label::Normal(a) => gauge.gaps.partial_t[a],
            Label::Other(slip) => gauge.bonds.as_ref().map_or(0.0, |bonds| bonds.rest(slip)),
        };
    }
    let energy = match &mut gauge.energy {
        // (At one position: only kinetic energy changes.)
        Some((energy, _)) => energy.both(t, &q, &v).0 - energy.both(t, &q, impact.v_after).0,
        None => 0.0,
    };
    let left = (phase.end - t).max(0.0);
    let bounces = phase.constraints.iter().map(|&a| {
        let e = gauge.restitution[a].min(1.0);
        (0.25 * gauge.gaps.rate(a, impact.v_after).abs() * left * (1.0 - e), a)
    });
    Some(Tail {
        t,
        limit: phase.end,
        listed: phase.constraints.clone(),
        unexplained: if solved { gauge.length(&unexplained) } else { f64::NAN },
        impulses: held.into_iter().zip(p).collect(),
        energy,
        wall_work,
        bounce: bounces.fold((0.0, 0), |m, b| if b.0 > m.0 { b } else { m }),
    })
}

/// What a unit impulse of a row adds to the velocity.
fn respond(gauge: &mut Gauge, row: Label, out: &mut [f64]) {
    match row {
        Label::Normal(a) => gauge.response(a, out),
        Label::Other(slip) => gauge.response_of_other(slip, out),
    }
}

/// A velocity along a row.
fn along(gauge: &Gauge, row: Label, v: &[f64]) -> f64 {
    match row {
        Label::Normal(a) => gauge.gaps.gradients.dot(a, v),
        Label::Other(slip) => gauge.bonds.as_ref().map_or(0.0, |bonds| bonds.dot(slip, v)),
    }
}
