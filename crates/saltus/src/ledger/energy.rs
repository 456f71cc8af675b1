//! The energy account: H₂ − H₁ = work of the forces + work of moving constraints + what impacts took or gave.
//!
//! With H = v·∂T/∂v − T + V the forces, reactions apart, change H at the rate ∂H/∂t + ∂H/∂q·v + v·g (zero where all forces
//! come from the energies), and a reaction λ in contact at the rate λ ∇f·v = −λ ∂f/∂t. By events the rate is integrated on the
//! polynomials of the motion, ten Gauss points each; otherwise by trapezoids on stored instants, and the work of
//! moving constraints is that of the steps themselves, −Σ P ∂f/∂t. A scheme that keeps an account itself (structures, whose
//! observed points do not determine the energy) is taken at its word; its account is exact for its steps.

use super::Evidence;
use crate::linalg::GAUSS_10;
use crate::motion::{Cursor, Side};
use crate::problem::{Energy, Gaps, PortHistory, Power};
use crate::stepping::Account;

/// An interval between impacts.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Where it begins, after the impact there.
    pub start: f64,
    /// Where it ends, before the impact there.
    pub end: f64,
    /// The change of energy.
    pub change: f64,
    /// The work of the forces (and of moving walls in contact).
    pub work: f64,
}

/// The energy account of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balance {
    /// Energy at the start.
    pub start: f64,
    /// Energy at the end.
    pub end: f64,
    /// Energy lost at impacts (gained, if negative).
    pub lost_at_impacts: f64,
    /// Work of the forces and of moving constraints in contact.
    pub work: f64,
    /// The residual: end − start − work + lost.
    pub closure: f64,
    /// What the residual is measured by: the energy exchanged, at least the largest kinetic energy.
    pub exchanged: f64,
}

impl Balance {
    /// The residual relative to the energy exchanged.
    pub fn relative(&self) -> f64 {
        if self.closure == 0.0 { 0.0 } else { self.closure.abs() / self.exchanged }
    }
}

/// Intervals are joined beyond this many.
const MAX_INTERVALS: usize = 100_000;

/// Gives ports the values that they had at a time.
struct PortReplay<'e> {
    history: &'e PortHistory,
    /// How many changes have been made; more than there are: not known.
    done: usize,
}

impl PortReplay<'_> {
    fn apply(&mut self, t: f64, side: Side) {
        let PortHistory { cells, initial, changes } = self.history;
        if changes.is_empty() {
            return;
        }
        let wanted = match side {
            Side::Left => changes.partition_point(|c| c.t < t),
            Side::Right => changes.partition_point(|c| c.t <= t),
        };
        if wanted < self.done {
            initial.iter().enumerate().for_each(|(k, &value)| cells.set(k, value));
            self.done = 0;
        }
        changes[self.done..wanted].iter().for_each(|c| cells.set(c.port, c.value));
        self.done = wanted;
    }
}

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
}

/// The account of a run: from the scheme that kept one, or integrated along the motion.
pub fn account(evidence: &Evidence) -> (Vec<Interval>, Balance) {
    match &evidence.gauge.energy {
        Some((energy, power)) => integrated(evidence, energy, power),
        None => kept(evidence),
    }
}

/// From the account that a scheme kept.
fn kept(evidence: &Evidence) -> (Vec<Interval>, Balance) {
    let marks = evidence.accounts;
    let (Some((_, first)), Some((_, last))) = (marks.first(), marks.last()) else {
        return (Vec::new(), Balance::default());
    };
    let net = |a: &Account, b: &Account| (b.work - a.work) - (b.dissipated - a.dissipated);
    let intervals = marks.windows(2).filter(|pair| pair[1].0 > pair[0].0).map(|pair| {
        let ((start, a), (end, b)) = (pair[0], pair[1]);
        Interval { start, end, change: b.energy() - a.energy() + b.lost - a.lost, work: net(&a, &b) }
    });
    let (lost, work) = (last.lost - first.lost, net(first, last));
    let change = last.energy() - first.energy();
    let flows = [last.work - first.work, last.dissipated - first.dissipated, lost, change, first.energy()];
    // A structure at rest exchanges nothing: the elastic energy it holds is then what rounding is measured by.
    let held = marks.iter().map(|(_, a)| a.kinetic.max(a.potential.abs())).fold(0.0, f64::max);
    let exchanged = flows.iter().fold(held, |m, x| m.max(x.abs())).max(1e-300);
    let balance = Balance {
        start: first.energy(),
        end: last.energy(),
        lost_at_impacts: lost,
        work,
        closure: change - work + lost,
        exchanged,
    };
    (intervals.collect(), balance)
}

/// Integrated along the motion.
fn integrated(evidence: &Evidence, energy: &Energy, power: &Power) -> (Vec<Interval>, Balance) {
    let (motion, audit) = (evidence.trajectory, evidence.audit);
    let d = motion.dimension();
    let mut integrator = Integrator {
        evidence,
        energy: energy.clone(),
        power: power.clone(),
        ports: PortReplay { history: evidence.ports, done: usize::MAX },
        gaps: evidence.gauge.gaps.clone(),
        is_moving: evidence.gauge.is_moving,
        q: vec![0.0; d],
        v: vec![0.0; d],
        reactions: vec![0.0; audit.impulses.len()],
    };
    let mut balance = Balance { start: audit.energy_start, end: audit.energy_end, ..Balance::default() };
    for i in motion.impacts.iter() {
        balance.lost_at_impacts -= i.energy_change;
        balance.exchanged += i.energy_change.abs().max(0.5 * i.speed * i.speed * 1e-3);
    }
    let intervals = if motion.is_empty() { Vec::new() } else { integrator.intervals() };
    if !evidence.ports.changes.is_empty() && !motion.is_empty() {
        balance.start = integrator.energy_at(motion.t[0], Side::Right);
        balance.work += integrator.work_of_ports();
    }
    for interval in &intervals {
        balance.work += interval.work;
        balance.exchanged += interval.work.abs();
    }
    // Moving constraints in time steps keep their own account.
    balance.work += audit.contact_work;
    balance.exchanged += audit.contact_work.abs();
    balance.exchanged =
        balance.exchanged.max((balance.end - balance.start).abs()).max(integrator.largest_kinetic()).max(1e-300);
    balance.closure = balance.end - balance.start - balance.work + balance.lost_at_impacts;
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

    /// The largest kinetic energy at a few hundred instants.
    fn largest_kinetic(&mut self) -> f64 {
        let motion = self.evidence.trajectory;
        let stride = (motion.len() / 300).max(1);
        (0..motion.len())
            .step_by(stride)
            .map(|k| self.energy.both(motion.t[k], motion.q(k), motion.v(k, Side::Right)).0.abs())
            .fold(0.0, f64::max)
    }

    fn intervals(&mut self) -> Vec<Interval> {
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
        let mut lost = motion.impacts.iter().map(|i| (i.t, i.energy_change)).peekable();
        for pair in marks.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            // Impacts at the marks belong to neither side, those of joined intervals inside do.
            while lost.next_if(|(t, _)| *t <= start).is_some() {}
            let before = self.total(&mut cursor, start, Side::Right);
            let after = self.total(&mut cursor, end, Side::Left);
            let mut inside = 0.0;
            while let Some((_, change)) = lost.next_if(|(t, _)| *t < end) {
                inside += change;
            }
            let work = match by_events {
                true => self.on_pieces(&mut piece, end),
                false => self.on_instants(&mut node, start, end),
            };
            intervals.push(Interval { start, end, change: after - before - inside, work });
        }
        intervals
    }

    fn total(&mut self, cursor: &mut Cursor, t: f64, side: Side) -> f64 {
        cursor.read_on(t, side, &mut self.q, &mut self.v);
        self.ports.apply(t, side);
        let (kinetic, potential) = self.energy.both(t, &self.q, &self.v);
        kinetic + potential
    }

    /// ∫ of the rate over the pieces up to `end`; stretches between pieces (time stepping) count nothing.
    fn on_pieces(&mut self, piece: &mut usize, end: f64) -> f64 {
        let pieces = &self.evidence.trajectory.pieces;
        let nothing_works = self.power.is_zero() && !self.is_moving;
        let mut work = 0.0;
        while *piece < pieces.len() {
            let (from, to) = pieces.span(*piece);
            if 0.5 * (from + to) > end {
                break;
            }
            if !nothing_works {
                let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
                for (node, weight) in GAUSS_10 {
                    work += half
                        * weight
                        * (self.rate(*piece, middle - half * node) + self.rate(*piece, middle + half * node));
                }
            }
            *piece += 1;
        }
        work
    }

    /// The rate of change of energy on a piece: forces, and moving walls in contact.
    fn rate(&mut self, piece: usize, t: f64) -> f64 {
        let pieces = &self.evidence.trajectory.pieces;
        pieces.read(piece, t, &mut self.q, &mut self.v);
        self.ports.apply(t, Side::Right);
        let mut rate = self.power.at(t, &self.q, &self.v);
        if self.is_moving && pieces.has_reactions(piece) {
            self.reactions.fill(0.0);
            pieces.reactions(piece, t, &mut self.reactions);
            self.gaps.kinematics(t, &self.q);
            for (lambda, speed) in self.reactions.iter().zip(&self.gaps.partial_t) {
                rate -= lambda * speed;
            }
        }
        rate
    }

    /// ∫ of the rate of the forces over stored instants in (start, end), by trapezoids over every few of them.
    fn on_instants(&mut self, node: &mut usize, start: f64, end: f64) -> f64 {
        let motion = self.evidence.trajectory;
        if self.power.is_zero() {
            return 0.0;
        }
        // A few thousand trapezoids are better than the steps themselves.
        let stride = (motion.len() / 4000).clamp(1, 16);
        let mut work = 0.0;
        let Self { power, ports, .. } = self;
        let history = ports.history;
        let mut at = |k: usize, side: Side| {
            ports.apply(motion.t[k], side);
            power.at(motion.t[k], motion.q(k), motion.v(k, side))
        };
        while *node + 1 < motion.len() && motion.t[*node] < start {
            *node += 1;
        }
        let mut k = *node;
        while k + 1 < motion.len() && motion.t[k + 1] <= end {
            let mut next = (k + stride).min(motion.len() - 1);
            // No trapezoid reaches over the end or over a change of a port.
            let limit = history.next_change(motion.t[k]).min(end);
            while next > k + 1 && motion.t[next] > limit {
                next -= 1;
            }
            work += 0.5 * (motion.t[next] - motion.t[k]) * (at(k, Side::Right) + at(next, Side::Left));
            k = next;
        }
        *node = k;
        work
    }
}
