//! The energy balance: H₂ − H₁ = work of the forces + work of the walls + what impacts took or gave.
//!
//! With H = v·∂T/∂v − T + V the forces, reactions apart, change H at the rate ∂H/∂t + ∂H/∂q·v + v·g (zero where all forces
//! come from the energies), and a reaction λ in contact at the rate λ ∇f·v = −λ ∂t f. By events the rate is integrated on the
//! polynomials of the motion, ten Gauss points each; otherwise by trapezoids on stored instants, and the work of
//! walls is that of the steps themselves, −Σ P ∂t f.

use crate::problem::{Energy, Gaps, Power};
use crate::trajectory::Cursor;
use crate::{Problem, Run, RunOptions, Side};

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

/// The balance of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balance {
    /// Energy at the start.
    pub start: f64,
    /// Energy at the end.
    pub end: f64,
    /// Energy lost at impacts (gained, if negative).
    pub lost_at_impacts: f64,
    /// Work of the forces and of moving walls in contact.
    pub work: f64,
    /// What does not fit: end − start − work + lost.
    pub closure: f64,
    /// What was exchanged: the sum of all |changes|, and the largest kinetic energy.
    pub exchanged: f64,
}

impl Balance {
    /// The closure as a part of what was exchanged.
    pub fn relative(&self) -> f64 {
        if self.closure == 0.0 { 0.0 } else { self.closure.abs() / self.exchanged }
    }
}

/// Nodes and weights of Gauss–Legendre quadrature with ten points on [−1, 1] (one half; the rule is symmetric).
pub(crate) const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// Intervals are joined beyond this many.
const MOST: usize = 100_000;

struct Books<'a> {
    run: &'a Run,
    energy: Energy,
    power: Power,
    gaps: Gaps,
    moving: bool,
    q: Vec<f64>,
    v: Vec<f64>,
    reactions: Vec<f64>,
}

pub fn balance(problem: &Problem, options: &RunOptions, run: &Run) -> (Vec<Interval>, Balance) {
    let d = problem.dimension();
    let model = problem.model();
    let moving = model.constraints.iter().any(|c| model.graph.depends_on(c.gap, model.t));
    let mut books = Books {
        run,
        energy: problem.energy(),
        power: problem.power(),
        gaps: problem.gaps(),
        moving,
        q: vec![0.0; d],
        v: vec![0.0; d],
        reactions: vec![0.0; problem.constraints()],
    };
    let mut balance = Balance { start: run.audit.energy_start, end: run.audit.energy_end, ..Balance::default() };
    for i in run.trajectory.impacts.iter() {
        balance.lost_at_impacts -= i.energy_change;
        balance.exchanged += i.energy_change.abs().max(0.5 * i.speed * i.speed * 1e-3);
    }
    let intervals = if run.trajectory.is_empty() { Vec::new() } else { books.intervals(options) };
    for interval in &intervals {
        balance.work += interval.work;
        balance.exchanged += interval.work.abs();
    }
    // Moving walls in time steps keep their own account.
    balance.work += run.audit.contact_work;
    balance.exchanged += run.audit.contact_work.abs();
    balance.exchanged =
        balance.exchanged.max((balance.end - balance.start).abs()).max(books.largest_kinetic()).max(1e-300);
    balance.closure = balance.end - balance.start - balance.work + balance.lost_at_impacts;
    (intervals, balance)
}

impl Books<'_> {
    /// The largest kinetic energy at a few hundred instants.
    fn largest_kinetic(&mut self) -> f64 {
        let motion = &self.run.trajectory;
        let stride = (motion.len() / 300).max(1);
        (0..motion.len())
            .step_by(stride)
            .map(|k| self.energy.both(motion.t[k], motion.q(k), motion.v(k, Side::Right)).0.abs())
            .fold(0.0, f64::max)
    }

    fn intervals(&mut self, options: &RunOptions) -> Vec<Interval> {
        let motion = &self.run.trajectory;
        let (first, last) = (motion.t[0], motion.t[motion.len() - 1]);
        let mut marks = vec![first];
        let every = (motion.impacts.len() / MOST).max(1);
        for (k, impact) in motion.impacts.iter().enumerate() {
            if k % every == 0 && impact.t > marks[marks.len() - 1] && impact.t < last {
                marks.push(impact.t);
            }
        }
        marks.push(last);
        let by_events = options.scheme.stepping().is_none() && !motion.pieces.is_empty();
        let mut cursor = Cursor::new(motion);
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
        cursor.read(t, side, &mut self.q, &mut self.v);
        let (kinetic, potential) = self.energy.both(t, &self.q, &self.v);
        kinetic + potential
    }

    /// ∫ of the rate over the pieces up to `end`; stretches between pieces (time stepping) count nothing.
    fn on_pieces(&mut self, piece: &mut usize, end: f64) -> f64 {
        let pieces = &self.run.trajectory.pieces;
        let still = self.power.is_zero() && !self.moving;
        let mut work = 0.0;
        while *piece < pieces.len() {
            let (from, to) = pieces.span(*piece);
            if 0.5 * (from + to) > end {
                break;
            }
            if !still {
                let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
                for (node, weight) in GAUSS {
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
        let pieces = &self.run.trajectory.pieces;
        pieces.read(piece, t, &mut self.q, &mut self.v);
        let mut rate = self.power.at(t, &self.q, &self.v);
        if self.moving && pieces.has_reactions(piece) {
            self.reactions.fill(0.0);
            pieces.reactions(piece, t, &mut self.reactions);
            self.gaps.kinematics(t, &self.q);
            for (lambda, wall) in self.reactions.iter().zip(&self.gaps.walls) {
                rate -= lambda * wall;
            }
        }
        rate
    }

    /// ∫ of the rate of the forces over stored instants in (start, end), by trapezoids over every few of them.
    fn on_instants(&mut self, node: &mut usize, start: f64, end: f64) -> f64 {
        let motion = &self.run.trajectory;
        if self.power.is_zero() {
            return 0.0;
        }
        // A few thousand trapezoids are better than the steps themselves.
        let stride = (motion.len() / 4000).clamp(1, 16);
        let mut work = 0.0;
        let mut at = |k: usize, side: Side| self.power.at(motion.t[k], motion.q(k), motion.v(k, side));
        while *node + 1 < motion.len() && motion.t[*node] < start {
            *node += 1;
        }
        let mut k = *node;
        while k + 1 < motion.len() && motion.t[k + 1] <= end {
            let mut next = (k + stride).min(motion.len() - 1);
            while next > k + 1 && motion.t[next] > end {
                next -= 1;
            }
            work += 0.5 * (motion.t[next] - motion.t[k]) * (at(k, Side::Right) + at(next, Side::Left));
            k = next;
        }
        *node = k;
        work
    }
}
