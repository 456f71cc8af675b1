//! Linear flight without series: from grid point to grid point with a constant propagator, as long as no gap can close in between.
//!
//! z(t + H) = exp(G H) z(t). Between two grid points a gap is the cubic with its values and slopes at both ends, but for
//! H⁴/384 |g''''|, which is bounded by |w G⁴| exp(|G| H) |z|, entry by entry; the cubic is positive if its Bernstein coefficients are. A lane
//! stops before an interval that is in doubt, or that goes beyond its end, and makes half a step more if that is possible, so that what is
//! ahead of it is well within the next interval. If it is plain, [`meet`](super::meet) finds it.

use super::linear::{Linear, LinearCode, ROOM, Row};
use super::meet::ORDER;
use super::rows::Rows;
use super::vector::{any, larger, smaller, take, turned};
use multiversion::multiversion;
use saltus_expr::{Lane, choose};
use std::sync::Arc;

/// The most steps at once: what is asked to stop does not wait for long flights.
const LONGEST: usize = 1 << 14;

/// Motions that grow beyond this are left to the event engine.
pub const HUGE: f64 = 1e150;

/// Propagators over H, H/2, H/4, …
pub const LEVELS: usize = 4;

/// A propagator: the rows of exp(G h) of q and v, and cos ωh, sin ωh of the harmonics.
#[derive(Debug)]
struct Ahead<const W: usize> {
    rows: Rows<W>,
    turn: Vec<[Lane<W>; 2]>,
}

impl<const W: usize> Ahead<W> {
    #[inline(always)]
    fn apply(&self, d: usize, z: &[Lane<W>], next: &mut [Lane<W>]) {
        for i in 0..2 * d {
            next[i] = self.rows.product(i, z);
        }
        next[2 * d] = z[2 * d];
        for (j, [cos, sin]) in self.turn.iter().enumerate() {
            let at = 2 * d + 1 + 2 * j;
            (next[at], next[at + 1]) = turned(&z[at], &z[at + 1], cos, sin);
        }
    }
}

/// What is computed once for all trajectories with the same parameters.
#[derive(Debug)]
struct Constants {
    linear: Linear,
    /// The interval of the grid.
    h: f64,
    /// Propagators by their rows.
    ahead: [Vec<Row>; LEVELS],
    doubts: Vec<Row>,
}

impl Constants {
    fn new(code: &LinearCode, open: &[f64]) -> Option<Self> {
        let linear = code.at(open)?;
        let h = linear.interval()?;
        let rows = |level: usize| (0..2 * code.d).map(|i| linear.ahead(i, h / f64::from(1 << level))).collect();
        let (ahead, doubts) = (std::array::from_fn(rows), (0..code.m).map(|a| linear.doubt(a, h)).collect());
        Some(Constants { linear, h, ahead, doubts })
    }
}

/// Linear flight in W lanes.
#[derive(Debug)]
pub struct Glide<const W: usize> {
    pub d: usize,
    pub m: usize,
    code: Arc<LinearCode>,
    /// The parameters of the last trajectory, and what follows from them.
    last: Option<(Vec<f64>, Option<Constants>)>,
    pub tolerance: f64,
    /// The interval of the grid; zero where there is none.
    pub interval: Lane<W>,
    ahead: [Ahead<W>; LEVELS],
    /// Phases at t = 0 and their rates.
    pub phases: Vec<[Lane<W>; 2]>,
    /// The rows of G of the velocities.
    pub accelerations: Rows<W>,
    /// Gaps, their rates, and bounds of what the cubic leaves out.
    pub gaps: Rows<W>,
    pub slopes: Rows<W>,
    pub doubts: Rows<W>,
    /// M⁻¹∇f of each gap (by rows), ∇f·M⁻¹∇f, and its restitution.
    pub pulls: Vec<Lane<W>>,
    pub compliances: Vec<Lane<W>>,
    pub restitutions: Vec<Lane<W>>,
    /// Where the lanes are; the value of each gap and its rate times H/3; 1 for a gap that has just closed, else 0.
    pub t: Lane<W>,
    /// Where the present run of grid steps began, and how many intervals it has made: times added up would drift.
    since: Lane<W>,
    made: Lane<W>,
    pub z: Vec<Lane<W>>,
    pub now: Vec<[Lane<W>; 2]>,
    pub is_left: Vec<Lane<W>>,
    next: Vec<Lane<W>>,
    pub then: Vec<[Lane<W>; 2]>,
    /// 1 in lanes that go on, else 0; up to where.
    pub goes: Lane<W>,
    pub end: Lane<W>,
    /// The largest of q and v, and of each gap, since the lane was placed.
    pub largest: Vec<Lane<W>>,
    pub extent: Vec<Lane<W>>,
    /// The series of z: one order after the other.
    pub series: Vec<Lane<W>>,
    /// The series of each gap.
    pub polynomials: Vec<Lane<W>>,
}

impl<const W: usize> Glide<W> {
    pub fn new(code: Arc<LinearCode>, tolerance: f64) -> Self {
        let (d, m, n) = (code.d, code.m, code.size());
        let zeros = |k: usize| vec![Lane::all(0.0); k];
        let pair = [Lane::all(0.0); 2];
        let pattern = &code.pattern;
        Glide {
            ahead: std::array::from_fn(|_| Ahead {
                rows: Rows::new((0..2 * d).map(|i| code.ahead_pattern(i))),
                turn: vec![pair; code.harmonics],
            }),
            accelerations: Rows::new(pattern.accelerations.iter().copied()),
            gaps: Rows::new(pattern.gaps.iter().copied()),
            slopes: Rows::new((0..m).map(|a| code.slope_pattern(a))),
            doubts: Rows::new((0..m).map(|a| code.doubt_pattern(a))),
            interval: Lane::all(0.0),
            phases: vec![pair; code.harmonics],
            pulls: zeros(m * d),
            compliances: zeros(m),
            restitutions: zeros(m),
            t: Lane::all(0.0),
            since: Lane::all(0.0),
            made: Lane::all(0.0),
            z: zeros(n),
            next: zeros(n),
            now: vec![pair; m],
            then: vec![pair; m],
            is_left: zeros(m),
            goes: Lane::all(0.0),
            end: Lane::all(0.0),
            largest: zeros(2 * d),
            extent: zeros(m),
            series: zeros((ORDER + 1) * n),
            polynomials: zeros((ORDER + 1) * m),
            d,
            m,
            tolerance,
            last: None,
            code,
        }
    }

    /// The constants of a new trajectory in lane l.
    pub fn load(&mut self, l: usize, open: &[f64]) {
        let (d, m) = (self.d, self.m);
        self.interval.0[l] = 0.0;
        // (Neighbours often differ in their starts alone.)
        if self.last.as_ref().is_none_or(|(of, _)| of != open) {
            self.last = Some((open.to_vec(), Constants::new(&self.code, open)));
        }
        let Some((_, Some(Constants { linear, h, ahead, doubts }))) = &self.last else { return };
        let mut is_finite = true;
        for (level, (into, rows)) in self.ahead.iter_mut().zip(ahead).enumerate() {
            let h = h / f64::from(1 << level);
            for (i, row) in rows.iter().enumerate() {
                is_finite &= into.rows.put(i, l, row);
            }
            for (turn, &[_, rate]) in into.turn.iter_mut().zip(&linear.phases) {
                (turn[0].0[l], turn[1].0[l]) = ((rate * h).cos(), (rate * h).sin());
            }
        }
        for i in 0..d {
            is_finite &= self.accelerations.put(i, l, &linear.accelerations[i]);
        }
        for (j, &[phase, rate]) in linear.phases.iter().enumerate() {
            (self.phases[j][0].0[l], self.phases[j][1].0[l]) = (phase, rate);
        }
        for a in 0..m {
            let row = &linear.gaps[a];
            is_finite &= self.gaps.put(a, l, row) && self.doubts.put(a, l, &doubts[a]);
            is_finite &= self.slopes.put(a, l, &linear.derivative(row, false));
            for i in 0..d {
                self.pulls[a * d + i].0[l] = linear.pulls[a][i];
            }
            self.compliances[a].0[l] = linear.compliances[a];
            self.restitutions[a].0[l] = linear.restitutions[a];
        }
        self.interval.0[l] = if is_finite { *h } else { 0.0 };
    }

    /// Puts a state into lane l; gap `left`, if any, has just closed. It goes on up to `end`.
    pub fn place(&mut self, l: usize, t: f64, q: &[f64], v: &[f64], left: Option<usize>, end: f64) {
        let d = self.d;
        for i in 0..d {
            (self.z[i].0[l], self.z[d + i].0[l]) = (q[i], v[i]);
        }
        self.z[2 * d].0[l] = 1.0;
        self.t.0[l] = t;
        self.end.0[l] = end;
        for (a, is_left) in self.is_left.iter_mut().enumerate() {
            is_left.0[l] = if left == Some(a) { 1.0 } else { 0.0 };
        }
        self.largest.iter_mut().chain(&mut self.extent).for_each(|x| x.0[l] = 0.0);
        self.goes.0[l] = if self.interval.0[l] > 0.0 { 1.0 } else { 0.0 };
    }

    /// Position and velocity of lane l.
    pub fn state(&self, l: usize, q: &mut [f64], v: &mut [f64]) {
        let d = self.d;
        for i in 0..d {
            (q[i], v[i]) = (self.z[i].0[l], self.z[d + i].0[l]);
        }
    }

    /// What follows from q, v and t: harmonics and gaps.
    pub fn see(&mut self) {
        let d = self.d;
        for (j, phase) in self.phases.iter().enumerate() {
            let mut angle = Lane::all(0.0);
            (0..W).for_each(|l| angle.0[l] = phase[0].0[l] + phase[1].0[l] * self.t.0[l]);
            (self.z[2 * d + 2 + 2 * j], self.z[2 * d + 1 + 2 * j]) = angle.sin_cos();
        }
        look(self);
    }

    /// Makes grid steps in all lanes that go, as far as each of them gets, and half a step; which have made any.
    pub fn run(&mut self) -> Lane<W> {
        let mut moved = Lane::all(0.0);
        let mut open = self.goes;
        (self.since, self.made) = (self.t, Lane::all(0.0));
        for _ in 0..LONGEST {
            if !step(self, 0, &mut open) {
                break;
            }
            (0..W).for_each(|l| moved.0[l] = f64::max(moved.0[l], open.0[l]));
        }
        open = self.goes;
        step(self, 1, &mut open);
        (0..W).for_each(|l| moved.0[l] = f64::max(moved.0[l], open.0[l]));
        look_ahead(self);
        moved
    }

    /// Goes on by H/2, H/4, … in the lanes of `on`.
    #[inline(always)]
    pub fn skip(&self, level: usize, on: &[f64; W], z: &mut [Lane<W>]) {
        let mut room = [Lane::all(0.0); ROOM];
        let next = &mut room[..z.len()];
        self.ahead[level].apply(self.d, z, next);
        for (z, next) in z.iter_mut().zip(next.iter()) {
            take(on, &next.0, &mut z.0);
        }
    }
}

/// The gaps and their rates.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn look<const W: usize>(glide: &mut Glide<W>) {
    for a in 0..glide.m {
        let mut rate = glide.slopes.product(a, &glide.z);
        for l in 0..W {
            rate.0[l] *= glide.interval.0[l] * (1.0 / 3.0);
        }
        glide.now[a] = [glide.gaps.product(a, &glide.z), rate];
    }
}

/// The gaps and their rates at the ends of the intervals.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn look_ahead<const W: usize>(glide: &mut Glide<W>) {
    glide.ahead[0].apply(glide.d, &glide.z, &mut glide.next);
    for a in 0..glide.m {
        let mut rate = glide.slopes.product(a, &glide.next);
        for l in 0..W {
            rate.0[l] *= glide.interval.0[l] * (1.0 / 3.0);
        }
        glide.then[a] = [glide.gaps.product(a, &glide.next), rate];
    }
}

/// A step of all open lanes, by H or by H/2; those that cannot make it are closed. Whether any has made it.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn step<const W: usize>(glide: &mut Glide<W>, level: usize, open: &mut Lane<W>) -> bool {
    let d = glide.d;
    let Glide { z, next, ahead, t, since, made, interval, largest: far, extent, now, then, is_left, .. } = glide;
    ahead[level].apply(d, z, next);
    // (What the cubic leaves out goes with the fourth power of the step, what is rounding does not.)
    let (part, rest) = if level == 0 { (1.0, 1.0) } else { (0.5, 0.125) };
    let (start, interval) = (t.0, interval.0);
    let mut on = open.0;
    for l in 0..W {
        on[l] = choose(start[l] + part * interval[l] <= glide.end.0[l], on[l], 0.0);
    }
    for a in 0..glide.m {
        let (value, mut rate) = (glide.gaps.product(a, next).0, glide.slopes.product(a, next).0);
        let doubt = glide.doubts.size(a, z).0;
        let ([Lane(first), Lane(rise)], left) = (now[a], is_left[a].0);
        for l in 0..W {
            rate[l] *= interval[l] * (1.0 / 3.0);
            let (second, third) = (first[l] + part * rise[l], value[l] - part * rate[l]);
            // A gap that has just closed is u times a quadratic, u from 0 to 1; the rest is at most 384/162 of that of the cubic.
            let is_left = left[l] > 0.0;
            let least = choose(is_left, 3.0 * part * rise[l], smaller(first[l], second));
            let middle = choose(is_left, 1.5 * third, third);
            let doubt = choose(is_left, 2.4 * doubt[l], doubt[l]);
            let clear = (smaller(smaller(least, middle), value[l]) > rest * doubt) & (doubt < HUGE);
            on[l] = choose(clear, on[l], 0.0);
        }
        then[a] = [Lane(value), Lane(rate)];
    }
    *open = Lane(on);
    if !any(&on) {
        return false;
    }
    for (z, next) in z.iter_mut().zip(next.iter()) {
        take(&on, &next.0, &mut z.0);
    }
    for a in 0..glide.m {
        let [gap, rate] = &mut now[a];
        take(&on, &then[a][0].0, &mut gap.0);
        take(&on, &then[a][1].0, &mut rate.0);
        take(&on, &[0.0; W], &mut is_left[a].0);
        for l in 0..W {
            extent[a].0[l] = larger(extent[a].0[l], on[l] * gap.0[l]);
        }
    }
    for (most, z) in far.iter_mut().zip(z.iter()) {
        for l in 0..W {
            most.0[l] = larger(most.0[l], on[l] * z.0[l].abs());
        }
    }
    for l in 0..W {
        made.0[l] += on[l] * part;
        t.0[l] = choose(on[l] > 0.0, since.0[l] + made.0[l] * interval[l], t.0[l]);
    }
    true
}
