//! What is checked along the polynomials of a run by events: that they join, that they are what was stored, that they obey
//! the equations of motion, that they stay in K, and that contacts are closed.
//!
//! Each piece is looked at in a few places: the equations of motion in the middle, where the truncation of the series does not show; gaps at
//! quarters, and where the parabola through three of them goes below zero.

use super::Evidence;
use super::figure::Checks;
use super::friction::{self, Reactions};
use super::instants::Contacts;
use super::replay::PortReplay;
use super::scales::Scales;
use super::states;
use super::tail::{self, Tail};
use crate::linalg::add;
use crate::motion::{PhaseKind, Side};
use crate::record::{Gauge, Keep};

/// Gaps are evaluated at so many equal parts of a piece.
const PARTS: usize = 4;

/// The part of the fastest velocity that the forces may leave unexplained in one piece.
const UNEXPLAINED: f64 = 1e-6;

pub(super) struct Dense<'e, 'a> {
    evidence: &'e Evidence<'a>,
    scales: &'e Scales,
    tails: &'e [Tail],
    checks: &'e mut Checks,
    gauge: Gauge,
    ports: PortReplay<'e>,
    contacts: Contacts<'e>,
    /// The next stored instant and the next impact.
    instant: usize,
    impact: usize,
    /// The next end of an accumulation.
    tail: usize,
    /// Where the piece before ended, if this one begins there.
    before: Option<f64>,
    /// What rounding makes of a velocity in the piece before and this one.
    still: f64,
    q_end: Vec<f64>,
    v_end: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    x: Vec<f64>,
    lambda: Vec<f64>,
    acts: Vec<bool>,
    /// Where there are joints or friction: what they explain.
    reactions: Option<Reactions>,
    /// The last three values of each gap.
    values: Vec<[f64; 3]>,
    /// The sizes of first-order states.
    sizes: Vec<f64>,
}

/// Checks the pieces; gives the stretches between them.
pub(super) fn check(evidence: &Evidence, scales: &Scales, tails: &[Tail], checks: &mut Checks) -> Vec<(f64, f64)> {
    let (motion, m) = (evidence.trajectory, evidence.gauge.restitution.len());
    let zero = || vec![0.0; motion.dimension()];
    Dense {
        evidence,
        scales,
        tails,
        checks,
        reactions: Reactions::of(evidence.gauge, motion.dimension()),
        gauge: evidence.gauge.clone(),
        ports: PortReplay::new(evidence.ports),
        contacts: Contacts::new(motion, m),
        instant: 0,
        impact: 0,
        tail: 0,
        before: None,
        still: scales.still,
        q_end: zero(),
        v_end: zero(),
        q: zero(),
        v: zero(),
        a: zero(),
        x: zero(),
        lambda: vec![0.0; m],
        acts: vec![false; m],
        values: vec![[0.0; 3]; m],
        sizes: states::sizes(motion),
    }
    .run()
}

impl Dense<'_, '_> {
    fn run(mut self) -> Vec<(f64, f64)> {
        let motion = self.evidence.trajectory;
        let mut stretches = Vec::new();
        let Some((first, last)) = motion.span() else { return stretches };
        let mut reached = first;
        for k in 0..motion.pieces.len() {
            let (from, to) = motion.pieces.span(k);
            let late = from - reached;
            self.checks.order.note((-late).max(reached - to).max(0.0), self.scales.instant, from);
            if late > self.scales.instant {
                self.stretch(reached, from);
                stretches.push((reached, from));
            }
            self.piece(k, from, to, k == 0 && late <= self.scales.instant);
            reached = to;
        }
        if last - reached > self.scales.instant {
            self.stretch(reached, last);
            stretches.push((reached, last));
        } else {
            self.impacts_at(last.max(reached), false);
        }
        if self.impact < motion.impacts.len() {
            let late = motion.impacts.get(self.impact).t - last;
            self.checks.matched.note(late.max(f64::MIN_POSITIVE), 0.0, last);
        }
        stretches
    }

    /// Between pieces the motion was time-stepped: what is there is checked at the instants.
    fn stretch(&mut self, from: f64, to: f64) {
        let (motion, keep) = (self.evidence.trajectory, self.evidence.keep);
        self.impacts_at(from, false);
        let margin = 0.05 * (to - from);
        while self.impact < motion.impacts.len() && motion.impacts.get(self.impact).t <= to + margin {
            self.impact += 1;
        }
        while self.tails.get(self.tail).is_some_and(|tail| tail.impacts <= self.impact) {
            self.tail += 1;
        }
        self.instant = motion.t.partition_point(|&t| t <= to + self.scales.instant);
        self.before = None;
        // By phases one after another: instants at which friction changes may stand between them.
        let mut covered = from + margin;
        for phase in self.evidence.timeline.of(PhaseKind::Stepped) {
            if phase.start <= covered {
                covered = covered.max(phase.end);
            }
        }
        if keep.has(Keep::TIMELINE) && covered < to - margin {
            self.checks.continuous.note(to - from, 0.0, from);
        }
    }

    fn piece(&mut self, k: usize, from: f64, to: f64, is_first: bool) {
        let motion = self.evidence.trajectory;
        let (pieces, h) = (&motion.pieces, to - from);
        let middle = from + 0.5 * h;
        self.ports.apply(middle, Side::Right);
        pieces.read(k, middle, &mut self.q, &mut self.v);
        if !self.gauge.prepare(middle, &self.q, &self.v) {
            self.checks.order.note(f64::NAN, 0.0, middle);
            return;
        }
        self.forces(k, middle, h);
        if is_first {
            self.before = Some(from);
            self.q_end.copy_from_slice(motion.q(0));
            self.v_end.copy_from_slice(motion.v(0, Side::Left));
        }
        pieces.read(k, from, &mut self.q, &mut self.v);
        let still = self.scales.still_in(h);
        self.still = self.still.max(still);
        if self.before.is_some() {
            self.join(from, h);
        }
        self.still = still;
        self.instants(k, from, to);
        self.gaps(k, from, h);
        pieces.read(k, to, &mut self.q_end, &mut self.v_end);
        self.before = Some(to);
    }

    /// M a = g + Σ λ ∇f in the middle of a piece.
    fn forces(&mut self, k: usize, t: f64, h: f64) {
        let Self { gauge, lambda, acts, x, a, reactions, .. } = self;
        let pieces = &self.evidence.trajectory.pieces;
        acts.fill(false);
        if !gauge.free_acceleration(x) {
            return;
        }
        let allowed = UNEXPLAINED * (self.scales.speed + h * gauge.length(x)) + self.scales.still_in(h);
        pieces.accelerations(k, t, a);
        states::piece(gauge, &self.sizes, (t, h), a, self.checks);
        add(a, -1.0, x);
        if let Some(reactions) = reactions {
            let acting: Vec<usize> = pieces.impulses(k).map(|(c, _)| c).filter(|&c| c < acts.len()).collect();
            acting.iter().for_each(|&c| acts[c] = true);
            gauge.gaps.kinematics(t, &self.q, &self.v);
            reactions.explain(gauge, &acting, a);
            friction::piece(reactions, gauge, self.scales, (t, h, &self.v), allowed, self.checks);
            self.checks.forces.note(h * gauge.length(a), allowed, t);
            return;
        }
        if pieces.has_reactions(k) {
            gauge.gaps.kinematics(t, &self.q, &self.v);
            lambda.fill(0.0);
            pieces.reactions(k, t, lambda);
            for (c, _) in pieces.impulses(k) {
                acts[c] = true;
                gauge.response(c, x);
                add(a, -lambda[c], x);
            }
        }
        self.checks.forces.note(h * gauge.length(a), allowed, t);
    }

    /// Where a piece begins the one before must end, up to impacts.
    fn join(&mut self, t: f64, h: f64) {
        let Self { gauge, scales, x, .. } = self;
        difference(x, &self.q, &self.q_end);
        let allowed = 10.0 * scales.tolerance * (scales.reach + h * scales.speed);
        self.checks.continuous.note(gauge.length(x), allowed, t);
        states::same(&self.sizes, scales.tolerance, t, &self.v, &self.v_end, self.checks);
        self.impacts_at(t, true);
    }

    /// The impacts at a time lead from the velocity before it to that after it, which is `v` if known.
    fn impacts_at(&mut self, t: f64, has_after: bool) {
        let Self { gauge, scales, checks, x, v, v_end, q_end, .. } = self;
        let impacts = &self.evidence.trajectory.impacts;
        let allowed = 1e2 * scales.tolerance.max(1e-10) * scales.speed + self.still;
        let kept = self.evidence.keep.has(Keep::IMPACTS);
        // The velocity so far: an accumulation that is ended after an impact changes it as well.
        let mut last: Option<&[f64]> = None;
        while self.impact < impacts.len() && impacts.get(self.impact).t <= t {
            let impact = impacts.get(self.impact);
            self.impact += 1;
            let mut settled = None;
            while let Some(tail) = self.tails.get(self.tail).filter(|tail| tail.impacts <= self.impact) {
                settled = Some(&tail.after[..]);
                self.tail += 1;
            }
            if self.before.is_none() {
                continue;
            }
            let off = t - impact.t;
            if off > scales.instant {
                checks.matched.note(off, scales.instant, impact.t);
                continue;
            }
            difference(x, impact.v_before, last.unwrap_or(v_end));
            checks.matched.note(gauge.length(x), allowed, t);
            difference(x, impact.q, q_end);
            checks.matched.note(gauge.length(x), 10.0 * scales.tolerance * scales.reach, t);
            last = settled.or(Some(impact.v_after));
        }
        if has_after && kept {
            difference(x, v, last.unwrap_or(v_end));
            checks.matched.note(gauge.length(x), allowed, t);
        }
    }

    /// Stored instants are those of the piece.
    fn instants(&mut self, k: usize, from: f64, to: f64) {
        let Self { gauge, scales, checks, x, q, v, .. } = self;
        let motion = self.evidence.trajectory;
        let round = scales.instant;
        let position = 10.0 * scales.tolerance * (scales.reach + (to - from) * scales.speed);
        let velocity = 1e2 * scales.tolerance * scales.speed + scales.still_in(to - from);
        while self.instant < motion.len() && motion.t[self.instant] <= to + round {
            let (j, t) = (self.instant, motion.t[self.instant]);
            if t < from - round {
                self.instant += 1;
                continue;
            }
            motion.pieces.read(k, t, q, v);
            difference(x, motion.q(j), q);
            checks.continuous.note(gauge.length(x), position, t);
            states::same(&self.sizes, scales.tolerance, t, motion.v(j, Side::Left), v, checks);
            if t > from + round {
                difference(x, motion.v(j, Side::Left), v);
                checks.derivative.note(gauge.length(x), velocity, t);
            }
            // An instant just before an event, by rounding, has the velocity before it.
            if t >= from && t < to - round {
                difference(x, motion.v(j, Side::Right), v);
                checks.derivative.note(gauge.length(x), velocity, t);
            } else if t >= to - round {
                // Its velocity afterwards is that of the piece to come.
                break;
            }
            self.instant += 1;
        }
    }

    /// Gaps at quarters of the piece, and at the lowest points between.
    fn gaps(&mut self, k: usize, from: f64, h: f64) {
        // Near the ends, where times can still be told apart.
        let edge = (1e-6 * h).max(8.0 * self.scales.instant);
        if edge < 0.25 * h {
            for s in [edge, 0.5 * h, h - edge] {
                self.membership(from + s);
            }
        }
        for part in 0..=PARTS {
            let t = from + h * part as f64 / PARTS as f64;
            self.sample(k, t, h);
            for c in 0..self.values.len() {
                let f = self.gauge.gaps.values[c];
                self.values[c].rotate_left(1);
                self.values[c][2] = f;
            }
            if part < 2 {
                continue;
            }
            for c in 0..self.values.len() {
                let [a, b, c2] = self.values[c];
                let bend = a - 2.0 * b + c2;
                if bend > 0.0 && !self.acts[c] && b - (a - c2) * (a - c2) / (8.0 * bend) < 0.0 {
                    let place = 0.5 * (a - c2) / bend;
                    if place.abs() < 1.0 {
                        self.sample(k, t + (place - 1.0) * h / PARTS as f64, h);
                    }
                }
            }
        }
    }

    /// A constraint acts in a piece if and only if that is part of a contact, or of the tail of an accumulation.
    fn membership(&mut self, t: f64) {
        let keep = self.evidence.keep;
        if !keep.has(Keep::CONTACTS) {
            return;
        }
        for c in 0..self.acts.len() {
            let is_listed = self.contacts.holds(c, t, 0.0);
            if is_listed == self.acts[c] {
                continue;
            }
            let in_tail = tail::held(self.tails, t, c);
            if !(in_tail && self.acts[c]) && (is_listed || keep.has(Keep::TIMELINE)) {
                self.checks.matched.note_of(1.0, 0.0, t, Some(c));
            }
        }
    }

    /// Gaps at a time: below zero only by what is allowed, and closed where the constraint acts.
    fn sample(&mut self, k: usize, t: f64, h: f64) {
        let Self { gauge, scales, checks, q, v, acts, .. } = self;
        self.evidence.trajectory.pieces.read(k, t, q, v);
        friction::joints(gauge, (t, q, v), 10.0 * scales.tolerance, 1e2 * scales.tolerance, scales, checks);
        gauge.gaps.evaluate(t, q, v);
        let suspect = |c: usize, f: f64| (!(f >= 0.0) || acts[c]) && f != 0.0 && !gauge.compliant[c];
        if !(0..acts.len()).any(|c| suspect(c, gauge.gaps.values[c])) {
            return;
        }
        gauge.gaps.kinematics(t, q, v);
        let gaps = &gauge.gaps;
        for c in 0..acts.len() {
            let f = gaps.values[c];
            if gauge.compliant[c] || (f >= 0.0 && !acts[c]) {
                continue;
            }
            let rate = gaps.partial_t[c].abs() + gaps.gradients.dot_abs(c, v);
            let allowed = 10.0 * scales.tolerance * (scales.gap[c] + h * rate) + scales.closed(gaps, c, (t, q), rate);
            if !(f >= 0.0) {
                checks.inside.note_of(-f, allowed, t, Some(c));
            }
            if acts[c] {
                checks.closed.note_of(f.abs(), allowed, t, Some(c));
            }
        }
    }
}

/// x = a − b.
pub(super) fn difference(x: &mut [f64], a: &[f64], b: &[f64]) {
    for (x, (a, b)) in x.iter_mut().zip(a.iter().zip(b)) {
        *x = a - b;
    }
}
