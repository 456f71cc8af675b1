//! The account integrated along the motion.

use super::{Balance, Interval};
use crate::ledger::Evidence;
use crate::ledger::friction::Reactions;
use crate::ledger::replay::PortReplay;
use crate::ledger::scales::CLOSED as CLOSED_GAP;
use crate::ledger::tail::Tail;
use crate::linalg::{GAUSS_10, add};
use crate::motion::{Cursor, Side};
use crate::problem::{Energy, Gaps, Power};
use crate::record::Gauge;

/// Intervals are joined beyond this many.
const MAX_INTERVALS: usize = 100_000;

/// An interval whose residual is below this part of what the forces gave and took is closed.
const CLOSED: f64 = 1e-11;

/// Slopes of the energy are taken over this part of a position.
const SLOPE: f64 = 1e-6;

struct Integrator<'e, 'a> {
    evidence: &'e Evidence<'a>,
    energy: Energy,
    power: Power,
    ports: PortReplay<'e>,
    gaps: Gaps,
    is_moving: bool,
    q: Vec<f64>,
    v: Vec<f64>,
    reactions: Vec<f64>,
    /// Where there are joints or friction.
    bonded: Option<(Gauge, Reactions)>,
    /// With time steps: work that the instants that were stored leave open.
    unknown: f64,
    /// ∫|power| of the forces so far.
    turnover: f64,
}

/// Trapezoids reach over no more steps than this, unless fewer instants were stored.
const MAX_STRIDE: usize = 16;

/// What happens to the energy at an instant.
#[derive(Clone, Copy)]
struct Jump {
    t: f64,
    dissipated: f64,
    wall_work: f64,
}

/// Integrated along the motion.
pub(super) fn integrated(
    evidence: &Evidence,
    tails: &[Tail],
    energy: &Energy,
    power: &Power,
    still: f64,
) -> (Vec<Interval>, Balance) {
    let (motion, audit) = (evidence.trajectory, evidence.audit);
    let d = motion.dimension();
    let mut integrator = Integrator {
        evidence,
        energy: energy.clone(),
        power: power.clone(),
        ports: PortReplay::new(evidence.ports),
        gaps: evidence.gauge.gaps.clone(),
        is_moving: evidence.gauge.is_moving,
        q: vec![0.0; d],
        v: vec![0.0; d],
        reactions: vec![0.0; audit.impulses.len()],
        bonded: Reactions::of(evidence.gauge, d).map(|reactions| (evidence.gauge.clone(), reactions)),
        unknown: 0.0,
        turnover: 0.0,
    };
    if motion.is_empty() {
        return (Vec::new(), Balance::default());
    }
    let jumps = integrator.jumps(tails);
    let mut balance = integrator.ends();
    for i in motion.impacts.iter() {
        balance.exchanged += i.energy_change.abs().max(0.5 * i.speed * i.speed * 1e-3);
    }
    for jump in &jumps {
        balance.dissipated_at_impacts += jump.dissipated;
        balance.wall_work_at_impacts += jump.wall_work;
        balance.exchanged += jump.wall_work.abs();
    }
    balance.lost_at_impacts = balance.dissipated_at_impacts - balance.wall_work_at_impacts;
    let intervals = integrator.intervals(&jumps);
    balance.turnover = integrator.turnover;
    if !evidence.ports.changes.is_empty() {
        balance.work += integrator.work_of_ports();
    }
    for interval in &intervals {
        balance.work += interval.work;
        balance.wall_work += interval.wall_work;
        balance.friction += interval.friction;
        balance.exchanged += interval.work.abs() + interval.wall_work.abs() + interval.friction.abs();
    }
    // Moving constraints in time steps keep their own account.
    balance.wall_work += audit.contact_work;
    balance.friction += audit.friction_loss;
    balance.exchanged += audit.contact_work.abs() + audit.friction_loss.abs();
    let (kinetic, swing, size) = integrator.largest();
    let least = kinetic.max(swing).max(super::FLOOR * size).max(1e-300);
    balance.exchanged = balance.exchanged.max((balance.end - balance.start).abs()).max(least);
    balance.closure =
        balance.end - balance.start - balance.work - balance.wall_work + balance.lost_at_impacts + balance.friction;
    balance.unsettled = integrator.unsettled() + integrator.unknown;
    if evidence.by_events {
        balance.rounding = still + integrator.closing();
    }
    (intervals, balance)
}

impl Integrator<'_, '_> {
    fn energy_at(&mut self, t: f64, side: Side) -> f64 {
        self.total(&mut Cursor::new(self.evidence.trajectory, side), t, side)
    }

    /// What changes of ports add to the energy at once, where it depends on them.
    fn work_of_ports(&mut self) -> f64 {
        let mut times: Vec<f64> = self.evidence.ports.changes.iter().map(|c| c.t).collect();
        times.dedup();
        // The state is continuous there: ports change between impacts.
        let first = self.evidence.trajectory.t[0];
        let jump = |t: f64| self.energy_at(t, Side::Right) - self.energy_at(t, Side::Left);
        let work = times.into_iter().filter(|t| *t > first).map(jump).sum();
        self.ports.apply(f64::INFINITY, Side::Right);
        work
    }

    /// Energies at the start, before any impact there, and at the end; by events, after any impact there.
    fn ends(&mut self) -> Balance {
        let motion = self.evidence.trajectory;
        let (last, side) = (motion.len() - 1, if self.evidence.by_events { Side::Right } else { Side::Left });
        let mut at = |k: usize, side: Side| {
            self.ports.apply(motion.t[k], Side::Right);
            let (kinetic, potential) = self.energy.both(motion.t[k], motion.q(k), motion.v(k, side));
            kinetic + potential
        };
        Balance { start: at(0, Side::Left), end: at(last, side), ..Balance::default() }
    }

    /// With time steps: what jumps of velocity, and impacts listed, do to the energy within the steps of an impact of the ends.
    fn unsettled(&mut self) -> f64 {
        let motion = self.evidence.trajectory;
        let Some((first, last)) = motion.span().filter(|_| !self.evidence.by_events) else { return 0.0 };
        // Compliant contacts take as long as they take: those that are cut off jump at the very end.
        let window = (self.evidence.contact_steps.unwrap_or(1) + 1) as f64 * self.evidence.step;
        let is_near = |t: f64| t <= first + window || t >= last - window;
        let mut open = 0.0;
        for &k in motion.jumps() {
            let t = motion.t[k];
            if is_near(t) {
                let mut at = |side: Side| self.energy.both(t, motion.q(k), motion.v(k, side)).0;
                let (before, after) = (at(Side::Left), at(Side::Right));
                open += if self.evidence.contact_steps.is_some() { (after - before).abs() } else { before.max(after) };
            }
        }
        if self.evidence.is_continued && motion.len() > 1 {
            // A run that ended in contact left a velocity in which its last step is not complete.
            let mut at = |k: usize| self.energy.both(motion.t[k], motion.q(k), motion.v(k, Side::Left)).0;
            open += (at(1) - at(0)).abs();
        }
        open + motion.impacts.iter().filter(|i| is_near(i.t)).map(|i| i.energy_change.abs()).sum::<f64>()
    }

    /// What impacts, and the tails of accumulations, do to the energy, in order of time.
    fn jumps(&mut self, tails: &[Tail]) -> Vec<Jump> {
        let motion = self.evidence.trajectory;
        let mut jumps: Vec<Jump> = Vec::with_capacity(motion.impacts.len() + tails.len());
        for i in motion.impacts.iter() {
            let mut wall_work = 0.0;
            if self.is_moving {
                self.ports.apply(i.t, Side::Right);
                self.gaps.kinematics(i.t, i.q, i.v_before);
                let work = i.constraints.iter().zip(i.impulses).map(|(&a, p)| p * self.gaps.partial_t[a]);
                wall_work = -work.sum::<f64>();
            }
            if let Some(bonds) = self.bonded.as_mut().and_then(|(gauge, _)| gauge.bonds.as_mut()) {
                self.ports.apply(i.t, Side::Right);
                bonds.evaluate(i.t, i.q, i.v_before);
                wall_work -= i.others.iter().map(|&(row, p)| p * bonds.rest(row)).sum::<f64>();
            }
            jumps.push(Jump { t: i.t, dissipated: wall_work - i.energy_change, wall_work });
        }
        for tail in tails {
            let Tail { t, energy, wall_work, .. } = *tail;
            jumps.push(Jump { t, dissipated: wall_work - energy, wall_work });
        }
        jumps.sort_by(|a, b| a.t.total_cmp(&b.t));
        jumps
    }

    /// At a few hundred instants: the largest kinetic energy, the largest change of the potential, the largest of both.
    fn largest(&mut self) -> (f64, f64, f64) {
        let motion = self.evidence.trajectory;
        let stride = (motion.len() / 300).max(1);
        let (mut kinetic, mut low, mut high) = (0.0_f64, f64::INFINITY, f64::NEG_INFINITY);
        for k in (0..motion.len()).step_by(stride) {
            let (t, v) = self.energy.both(motion.t[k], motion.q(k), motion.v(k, Side::Right));
            kinetic = kinetic.max(t.abs());
            (low, high) = (low.min(v), high.max(v));
        }
        (kinetic, high - low, kinetic.max(low.abs()).max(high.abs()))
    }

    /// By events: what the energy changes by where gaps are put to zero that were closed but for rounding, by which positions move. (No force does
    /// work in that.)
    fn closing(&mut self) -> f64 {
        let (motion, degrees) = (self.evidence.trajectory, self.evidence.trajectory.degrees());
        if self.gaps.values.is_empty() {
            return 0.0;
        }
        let stride = (motion.len() * degrees / 1000).max(1);
        let mut most = 0.0_f64;
        for k in (0..motion.len()).step_by(stride) {
            let (t, v) = (motion.t[k], motion.v(k, Side::Right));
            self.q.copy_from_slice(motion.q(k));
            let mut at = |q: &[f64]| {
                let (kinetic, potential) = self.energy.both(t, q, v);
                kinetic + potential
            };
            let here = at(&self.q);
            let mut sum = 0.0;
            for i in 0..degrees {
                let q = self.q[i];
                self.q[i] += SLOPE * q;
                sum += (at(&self.q) - here).abs() / SLOPE;
                self.q[i] = q;
            }
            // (f64::max leaves out what is not a number: other checks find that.)
            most = most.max(sum);
        }
        CLOSED_GAP * most
    }

    fn intervals(&mut self, jumps: &[Jump]) -> Vec<Interval> {
        let motion = self.evidence.trajectory;
        let (first, last) = (motion.t[0], motion.t[motion.len() - 1]);
        let mut marks = vec![first];
        let every = (motion.impacts.len() / MAX_INTERVALS).max(1);
        for (k, impact) in motion.impacts.iter().enumerate() {
            if k % every == 0 && impact.t > marks[marks.len() - 1] && impact.t < last {
                marks.push(impact.t);
            }
        }
        marks.push(last);
        let by_events = self.evidence.by_events && !motion.pieces.is_empty();
        let mut cursor = Cursor::new(motion, Side::Left);
        let (mut piece, mut node) = (0, 0);
        let mut intervals = Vec::with_capacity(marks.len() - 1);
        let mut jumps = jumps.iter().peekable();
        // What happens at the start itself belongs to the first interval.
        let at_start = |jump: &&Jump| jump.t <= first;
        let (mut dissipated, mut impact_wall_work) = (0.0, 0.0);
        while let Some(jump) = jumps.next_if(at_start) {
            dissipated += jump.dissipated;
            impact_wall_work += jump.wall_work;
        }
        for pair in marks.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            let side = if end == last && self.evidence.by_events { Side::Right } else { Side::Left };
            let (before, after) = match self.evidence.by_events {
                true => (self.total(&mut cursor, start, Side::Right), self.total(&mut cursor, end, side)),
                // With time steps the impacts have velocities of their own, between the nodes.
                false => {
                    (self.at_impact(&mut cursor, start, Side::Right), self.at_impact(&mut cursor, end, Side::Left))
                }
            };
            // Impacts at the end of an interval are listed with it, and are no part of its change; nor are those of joined
            // intervals inside.
            let mut inside = 0.0;
            while let Some(jump) = jumps.next_if(|jump| jump.t <= end) {
                dissipated += jump.dissipated;
                impact_wall_work += jump.wall_work;
                if jump.t < end || side == Side::Right {
                    inside += jump.wall_work - jump.dissipated;
                }
            }
            let change = after - before - inside;
            let [work, wall_work, friction] = match by_events {
                true => {
                    let (from, turnover) = ((piece, node), self.turnover);
                    let mut found = self.on_pieces(&mut piece, &mut node, (start, end), 1);
                    // Pieces can be longer than ten points resolve: where the account does not close to the last digits, more.
                    if (change - found[0] - found[1] + found[2]).abs() > CLOSED * (self.turnover - turnover) {
                        (piece, node) = from;
                        self.turnover = turnover;
                        found = self.on_pieces(&mut piece, &mut node, (start, end), 3);
                    }
                    found
                }
                false => [self.on_instants(&mut node, start, end), 0.0, 0.0],
            };
            intervals.push(Interval { start, end, change, work, wall_work, friction, dissipated, impact_wall_work });
            (dissipated, impact_wall_work) = (0.0, 0.0);
        }
        intervals
    }

    fn total(&mut self, cursor: &mut Cursor, t: f64, side: Side) -> f64 {
        cursor.read_on(t, side, &mut self.q, &mut self.v);
        self.ports.apply(t, side);
        let (kinetic, potential) = self.energy.both(t, &self.q, &self.v);
        kinetic + potential
    }

    /// The energy before or after the impacts listed at a time, or that of the motion where there are none.
    fn at_impact(&mut self, cursor: &mut Cursor, t: f64, side: Side) -> f64 {
        let impacts = &self.evidence.trajectory.impacts;
        let (from, to) = (impacts.count_before(t), impacts.count_until(t));
        if from >= to || impacts.get(from).t != t {
            return self.total(cursor, t, side);
        }
        self.ports.apply(t, side);
        let impact = impacts.get(if side == Side::Left { from } else { to - 1 });
        let v = if side == Side::Left { impact.v_before } else { impact.v_after };
        let (kinetic, potential) = self.energy.both(t, impact.q, v);
        kinetic + potential
    }

    /// ∫ of the rates of the forces and of moving walls over the pieces up to `end`; between pieces, where the motion was
    /// time-stepped, that of the forces over stored instants.
    /// Each piece is integrated in so many parts.
    fn on_pieces(&mut self, piece: &mut usize, node: &mut usize, (start, end): (f64, f64), parts: usize) -> [f64; 3] {
        let pieces = &self.evidence.trajectory.pieces;
        let nothing_works = self.power.is_zero() && !self.is_moving && self.bonded.is_none();
        let rounding = 1e-12 * end.abs().max(start.abs());
        let (mut work, mut wall_work, mut friction) = (0.0, 0.0, 0.0);
        let mut reached = start;
        while *piece < pieces.len() {
            let (from, to) = pieces.span(*piece);
            if 0.5 * (from + to) > end {
                break;
            }
            if from - reached > rounding {
                work += self.on_instants(node, reached, from);
            }
            if !nothing_works {
                let half = 0.5 * (to - from) / parts as f64;
                for part in 0..parts {
                    let middle = from + (2 * part + 1) as f64 * half;
                    for (node, weight) in GAUSS_10 {
                        for t in [middle - half * node, middle + half * node] {
                            let [forces, walls, rubbed] = self.rates(*piece, t);
                            work += half * weight * forces;
                            self.turnover += half * weight * forces.abs();
                            wall_work += half * weight * walls;
                            friction -= half * weight * rubbed;
                        }
                    }
                }
            }
            reached = to;
            *piece += 1;
        }
        if end - reached > rounding {
            work += self.on_instants(node, reached, end);
        }
        [work, wall_work, friction]
    }

    /// The rates at which forces, moving walls in contact, and friction change the energy on a piece.
    fn rates(&mut self, piece: usize, t: f64) -> [f64; 3] {
        let pieces = &self.evidence.trajectory.pieces;
        pieces.read(piece, t, &mut self.q, &mut self.v);
        self.ports.apply(t, Side::Right);
        let forces = self.power.at(t, &self.q, &self.v);
        if let Some((gauge, reactions)) = &mut self.bonded {
            let (mut a, mut free) = (vec![0.0; self.q.len()], vec![0.0; self.q.len()]);
            if !gauge.prepare(t, &self.q, &self.v) || !gauge.free_acceleration(&mut free) {
                return [f64::NAN; 3];
            }
            gauge.gaps.kinematics(t, &self.q, &self.v);
            pieces.accelerations(piece, t, &mut a);
            add(&mut a, -1.0, &free);
            let m = gauge.restitution.len();
            let acting: Vec<usize> = pieces.impulses(piece).map(|(c, _)| c).filter(|&c| c < m).collect();
            reactions.explain(gauge, &acting, &mut a);
            let (friction, driven) = gauge.bonds.as_ref().map_or((0.0, 0.0), |bonds| reactions.power(bonds, &self.v));
            return [forces, driven, friction];
        }
        let mut walls = 0.0;
        if self.is_moving && pieces.has_reactions(piece) {
            self.reactions.fill(0.0);
            pieces.reactions(piece, t, &mut self.reactions);
            self.gaps.kinematics(t, &self.q, &self.v);
            walls = -self.reactions.iter().zip(&self.gaps.partial_t).map(|(lambda, rate)| lambda * rate).sum::<f64>();
        }
        [forces, walls, 0.0]
    }

    /// ∫ of the rate of the forces over stored instants in (start, end), by trapezoids over every few of them.
    fn on_instants(&mut self, node: &mut usize, start: f64, end: f64) -> f64 {
        let motion = self.evidence.trajectory;
        if self.power.is_zero() {
            return 0.0;
        }
        // A few thousand trapezoids are better than the steps themselves.
        let stride = (motion.len() / 4000).clamp(1, MAX_STRIDE);
        let mut work = 0.0;
        let Self { power, ports, unknown, evidence, .. } = self;
        // Where fewer instants were stored than there were steps: the rate may have been anything between that of both ends.
        let long = if evidence.by_events { f64::INFINITY } else { 1.5 * evidence.step };
        let history = ports.history;
        let mut at = |k: usize, side: Side| {
            ports.apply(motion.t[k], side);
            power.at(motion.t[k], motion.q(k), motion.v(k, side))
        };
        while *node + 1 < motion.len() && motion.t[*node] < start {
            *node += 1;
        }
        let mut k = *node;
        let edge = (motion.t[k].min(end) - start).max(0.0);
        if edge > long {
            *unknown += edge * at(k, Side::Left).abs();
        }
        while k + 1 < motion.len() && motion.t[k + 1] <= end {
            let mut next = (k + stride).min(motion.len() - 1);
            // No trapezoid reaches over the end or over a change of a port.
            let limit = history.next_change(motion.t[k]).min(end);
            while next > k + 1 && motion.t[next] > limit {
                next -= 1;
            }
            let (length, first, last) = (motion.t[next] - motion.t[k], at(k, Side::Right), at(next, Side::Left));
            work += 0.5 * length * (first + last);
            if length > MAX_STRIDE as f64 * long {
                *unknown += 0.5 * length * (last - first).abs();
            }
            k = next;
        }
        let edge = end - motion.t[k].max(start);
        if edge > long {
            *unknown += edge * at(k, Side::Right).abs();
        }
        *node = k;
        work
    }
}
