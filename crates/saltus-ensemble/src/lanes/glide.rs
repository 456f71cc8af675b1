//! Linear flight without series: from grid point to grid point with a constant propagator, as long as no gap can close in between.
//!
//! z(t + H) = exp(G H) z(t). Between two grid points a gap is the cubic with its values and slopes at both ends, but for
//! H⁴/384 |g''''|, which is bounded by |w G⁴| exp(|G| H) |z|, entry by entry; the cubic is positive if its Bernstein coefficients are. A lane
//! stops before an interval that is in doubt, or that goes beyond its end; [`meet`](super::meet) goes on from there.

use super::linear::{Linear, LinearCode, Row};
use super::meet::ORDER;
use super::rows::Rows;
use super::trace::Trace;
use super::vector::{count, each, larger, smaller, take, turned};
use multiversion::multiversion;
use saltus_expr::{Lane, choose};
use std::sync::Arc;

/// After so many intervals the harmonics are computed anew: products of rotations drift.
pub const LONG: f64 = 256.0;

/// Lanes fly on while more than this part of them can: the others do not wait for the longest flights.
const MOST_FLY: f64 = 0.1;
/// Motions that grow beyond this are left to the event engine.
pub const HUGE: f64 = 1e150;

/// What is computed once for all trajectories with the same parameters.
#[derive(Debug)]
struct Constants {
    linear: Linear,
    /// The interval of the grid.
    h: f64,
    /// The rows of exp(G H) of q and v.
    ahead: Vec<Row>,
    doubts: Vec<Row>,
}

impl Constants {
    fn new(code: &LinearCode, open: &[f64]) -> Option<Self> {
        let linear = code.at(open)?;
        let h = linear.interval()?;
        let ahead = linear.ahead(h);
        let mut doubts: Vec<Row> = Vec::with_capacity(code.m);
        for a in 0..code.m {
            let doubt = match a > 0 && is_alike(&linear.gaps[a - 1], &linear.gaps[a], 2 * code.d) {
                true => doubts[a - 1],
                false => linear.doubt(a, h),
            };
            doubts.push(doubt);
        }
        Some(Constants { linear, h, ahead, doubts })
    }
}

/// Whether two gaps have the same rates but for their sign, and the same numbers, of which `one` is the column: two sides of one body.
fn is_alike(a: &Row, b: &Row, one: usize) -> bool {
    let moving = || (0..a.len()).filter(|&j| j != one);
    let (same, opposite) = (moving().all(|j| a[j] == b[j]), moving().all(|j| a[j] == -b[j]));
    (same || opposite) && a[one].abs() == b[one].abs()
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
    /// Whether the largest sizes of q and v are of use.
    pub tracks: bool,
    /// The interval of the grid; zero where there is none.
    pub interval: Lane<W>,
    /// The propagator: the rows of exp(G H) of q and v, and cos ωH, sin ωH of the harmonics.
    ahead: Rows<W>,
    turn: Vec<[Lane<W>; 2]>,
    /// Phases at t = 0 and their rates.
    pub phases: Vec<[Lane<W>; 2]>,
    /// The rows of G of the velocities.
    pub accelerations: Rows<W>,
    /// Gaps, their rates, and bounds of what the cubic leaves out.
    pub gaps: Rows<W>,
    pub slopes: Rows<W>,
    doubts: Rows<W>,
    /// Whether the bound of a gap is that of the gap before it, in all lanes so far.
    is_doubt_known: Vec<bool>,
    /// M⁻¹∇f of each gap (by rows), 1/∇f·M⁻¹∇f, and its restitution.
    pub pulls: Vec<Lane<W>>,
    pub masses: Vec<Lane<W>>,
    pub restitutions: Vec<Lane<W>>,
    /// Where the lanes are; the value of each gap and its rate times H/3.0; 1 for a gap that has just closed, else 0.
    pub t: Lane<W>,
    pub z: Vec<Lane<W>>,
    pub now: Vec<[Lane<W>; 2]>,
    kept: Vec<Lane<W>>,
    kept_now: Vec<[Lane<W>; 2]>,
    pub is_left: Vec<Lane<W>>,
    /// Where the present run of grid steps began, and how many intervals it has made: times added up would drift.
    pub since: Lane<W>,
    pub made: Lane<W>,
    /// The same after one interval more, in lanes that do not make it.
    pub next: Vec<Lane<W>>,
    pub then: Vec<[Lane<W>; 2]>,
    /// 1 in lanes that go on, else 0.0; in those that are new and have to be seen; in those that may make another interval; up to where.
    pub goes: Lane<W>,
    fresh: Lane<W>,
    has_fresh: bool,
    pub open: Lane<W>,
    pub end: Lane<W>,
    /// The largest of q and v, and of each gap, since the lane was placed.
    pub largest: Vec<Lane<W>>,
    pub extent: Vec<Lane<W>>,
    /// The series of z, one order after the other; the last order of each component of q and v that is not zero for all parameters.
    pub series: Vec<Lane<W>>,
    pub last_orders: Vec<usize>,
    /// The coefficients of all gaps, by columns, and the columns that are not zero; the row of the gap that closes, and its series.
    pub by_columns: Vec<Lane<W>>,
    pub columns: Vec<usize>,
    pub closing: Vec<Lane<W>>,
    pub polynomial: Vec<Lane<W>>,
    /// The states that were found, and what is kept of the impacts.
    pub found: Vec<Lane<W>>,
    pub trace: Trace<W>,
}

impl<const W: usize> Glide<W> {
    pub fn new(code: Arc<LinearCode>, tolerance: f64) -> Self {
        let (d, m, n) = (code.d, code.m, code.size());
        let zeros = |k: usize| vec![Lane::all(0.0); k];
        let pair = [Lane::all(0.0); 2];
        let pattern = &code.pattern;
        // (The number 1 stays where it is.)
        let mut one = zeros(n);
        one[2 * d] = Lane::all(1.0);
        Glide {
            ahead: Rows::new((0..2 * d).map(|i| code.ahead_pattern(i))),
            turn: vec![pair; code.harmonics],
            accelerations: Rows::new(pattern.accelerations.iter().copied()),
            gaps: Rows::new(pattern.gaps.iter().copied()),
            slopes: Rows::new((0..m).map(|a| code.slope_pattern(a))),
            doubts: Rows::new((0..m).map(|a| code.doubt_pattern(a))),
            interval: Lane::all(0.0),
            phases: vec![pair; code.harmonics],
            pulls: zeros(m * d),
            is_doubt_known: (0..m).map(|a| a > 0).collect(),
            masses: zeros(m),
            restitutions: zeros(m),
            t: Lane::all(0.0),
            since: Lane::all(0.0),
            made: Lane::all(0.0),
            z: one.clone(),
            found: one.clone(),
            next: one.clone(),
            kept: one,
            now: vec![pair; m],
            kept_now: vec![pair; m],
            then: vec![pair; m],
            is_left: zeros(m),
            goes: Lane::all(0.0),
            fresh: Lane::all(0.0),
            has_fresh: false,
            open: Lane::all(0.0),
            end: Lane::all(0.0),
            largest: zeros(2 * d),
            extent: zeros(m),
            series: zeros((ORDER + 1) * n),
            last_orders: last_orders(&code),
            by_columns: zeros(n * m),
            closing: zeros(n),
            columns: (0..n).filter(|&j| pattern.gaps.iter().any(|row| row[j] != 0.0)).collect(),
            polynomial: zeros(ORDER + 1),
            trace: Trace::new(),
            d,
            m,
            tolerance,
            tracks: false,
            last: None,
            code,
        }
    }

    /// The constants of a new trajectory in lane l.
    pub fn load(&mut self, l: usize, open: &[f64]) {
        let (d, m) = (self.d, self.m);
        self.interval[l] = 0.0;
        // (Neighbours often differ in their starts alone.)
        if self.last.as_ref().is_none_or(|(of, _)| of != open) {
            self.last = Some((open.to_vec(), Constants::new(&self.code, open)));
        }
        let Some((_, Some(Constants { linear, h, ahead, doubts }))) = &self.last else { return };
        let mut is_finite = true;
        for (i, row) in ahead.iter().enumerate() {
            is_finite &= self.ahead.put(i, l, row);
        }
        for (turn, &[_, rate]) in self.turn.iter_mut().zip(&linear.phases) {
            (turn[0][l], turn[1][l]) = ((rate * h).cos(), (rate * h).sin());
        }
        for i in 0..d {
            is_finite &= self.accelerations.put(i, l, &linear.accelerations[i]);
        }
        for (j, &[phase, rate]) in linear.phases.iter().enumerate() {
            (self.phases[j][0][l], self.phases[j][1][l]) = (phase, rate);
        }
        for a in 0..m {
            let row = &linear.gaps[a];
            is_finite &= self.gaps.put(a, l, row) && self.doubts.put(a, l, &doubts[a]);
            is_finite &= self.slopes.put(a, l, &linear.derivative(row, false));
            self.is_doubt_known[a] &= a > 0 && doubts[a] == doubts[a - 1];
            for i in 0..d {
                self.pulls[a * d + i][l] = linear.pulls[a][i];
            }
            for j in 0..self.z.len() {
                self.by_columns[j * m + a][l] = row[j];
            }
            self.masses[a][l] = 1.0 / linear.compliances[a];
            self.restitutions[a][l] = linear.restitutions[a];
        }
        self.interval[l] = if is_finite { *h } else { 0.0 };
    }

    /// Puts a state into lane l; gap `left`, if any, has just closed. It goes on up to `end`.
    pub fn place(&mut self, l: usize, t: f64, q: &[f64], v: &[f64], left: Option<usize>, end: f64) {
        let d = self.d;
        for i in 0..d {
            (self.z[i][l], self.z[d + i][l]) = (q[i], v[i]);
        }
        self.t[l] = t;
        self.end[l] = end;
        for (a, is_left) in self.is_left.iter_mut().enumerate() {
            is_left[l] = if left == Some(a) { 1.0 } else { 0.0 };
        }
        self.largest.iter_mut().chain(&mut self.extent).for_each(|x| x[l] = 0.0);
        (self.since[l], self.made[l]) = (t, 0.0);
        self.goes[l] = if self.interval[l] > 0.0 { 1.0 } else { 0.0 };
        self.fresh[l] = 1.0;
        self.has_fresh = true;
    }

    /// Position and velocity of lane l.
    pub fn state(&self, l: usize, q: &mut [f64], v: &mut [f64]) {
        let d = self.d;
        for i in 0..d {
            (q[i], v[i]) = (self.z[i][l], self.z[d + i][l]);
        }
    }

    /// What follows from q, v and t in lanes that are new: harmonics and gaps.
    pub fn see(&mut self) {
        if !std::mem::take(&mut self.has_fresh) {
            return;
        }
        let fresh = std::mem::replace(&mut self.fresh, Lane::all(0.0));
        let mut z = std::mem::take(&mut self.z);
        self.turn_to(&self.t, &fresh, &mut z);
        self.z = z;
        for a in 0..self.m {
            let (gap, rate) = (self.gaps.product(a, &self.z), self.slopes.product(a, &self.z));
            let third: Lane<W> = each(|l| rate[l] * (self.interval[l] * (1.0 / 3.0)));
            take(&fresh, &gap, &mut self.now[a][0]);
            take(&fresh, &third, &mut self.now[a][1]);
        }
    }

    /// What bounds the distance of gap a from its cubic in the interval ahead; `last` is that of the gap before it.
    #[inline(always)]
    pub fn doubt(&self, a: usize, last: Lane<W>) -> Lane<W> {
        if self.is_doubt_known[a] { last } else { self.doubts.size(a, &self.z) }
    }

    /// Puts the harmonics at times t into the states of the lanes of `on`.
    #[inline(always)]
    pub fn turn_to(&self, t: &Lane<W>, on: &Lane<W>, z: &mut [Lane<W>]) {
        for (j, phase) in self.phases.iter().enumerate() {
            let at = 2 * self.d + 1 + 2 * j;
            let mut angle = Lane::<W>::all(0.0);
            for l in 0..W {
                angle[l] = choose(on[l] > 0.0, phase[0][l] + phase[1][l] * t[l], 0.0);
            }
            let (sin, cos) = angle.sin_cos();
            take(on, &cos, &mut z[at]);
            take(on, &sin, &mut z[at + 1]);
        }
    }

    /// Makes grid steps in the lanes that go, as far as each of them gets, while most of them get on.
    pub fn run(&mut self) {
        run(self);
    }
}

/// For each of q and v the last order of its series that is not zero for all parameters.
fn last_orders(code: &LinearCode) -> Vec<usize> {
    let (d, n) = (code.d, code.size());
    let mut lasts = vec![0; 2 * d];
    let mut lives = vec![true; n];
    for k in 1..=ORDER {
        let pulled = |i: usize| (0..n).any(|j| lives[j] && code.pattern.accelerations[i][j] != 0.0);
        let next: Vec<bool> = (0..2 * d).map(|i| if i < d { lives[d + i] } else { pulled(i - d) }).collect();
        (0..2 * d).filter(|&i| next[i]).for_each(|i| lasts[i] = k);
        lives[..2 * d].copy_from_slice(&next);
        lives[2 * d] = false;
    }
    lasts
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn run<const W: usize>(glide: &mut Glide<W>) {
    let mut on = glide.goes;
    let few = (MOST_FLY * count(&on) as f64) as u64;
    loop {
        step(glide, &mut on);
        if count(&on) <= few {
            break;
        }
    }
    glide.open = on;
    glide.t = each(|l| glide.since[l] + glide.made[l] * glide.interval[l]);
}

/// A step of all open lanes; those that cannot make it are closed.
#[inline(always)]
fn step<const W: usize>(glide: &mut Glide<W>, on: &mut Lane<W>) {
    let d = glide.d;
    let Glide { z, next, since, made, interval, extent, now, then, is_left, .. } = glide;
    for i in 0..2 * d {
        next[i] = glide.ahead.product(i, z);
    }
    for (j, [cos, sin]) in glide.turn.iter().enumerate() {
        let at = 2 * d + 1 + 2 * j;
        (next[at], next[at + 1]) = turned(&z[at], &z[at + 1], cos, sin);
    }
    let mut go: Lane<W> = each(|l| {
        let is_within = since[l] + (made[l] + 1.0) * interval[l] <= glide.end[l];
        choose(is_within & (made[l] < LONG), on[l], 0.0)
    });
    let mut doubt = Lane::<W>::all(0.0);
    for a in 0..glide.m {
        let (value, rate) = (glide.gaps.product(a, next), glide.slopes.product(a, next));
        if !glide.is_doubt_known[a] {
            doubt = glide.doubts.size(a, z);
        }
        let rate: Lane<W> = each(|l| rate[l] * (interval[l] * (1.0 / 3.0)));
        let ([first, rise], left) = (&now[a], &is_left[a]);
        go = each(|l| {
            let (second, third) = (first[l] + rise[l], value[l] - rate[l]);
            // A gap that has just closed is u times a quadratic, u from 0 to 1.0; the rest is at most 384/162 of that of the cubic.
            let is_left = left[l] > 0.0;
            let least = choose(is_left, 3.0 * rise[l], smaller(first[l], second));
            let middle = choose(is_left, 1.5 * third, third);
            let doubt = choose(is_left, 2.4 * doubt[l], doubt[l]);
            let clear = (smaller(smaller(least, middle), value[l]) > doubt) & (doubt < HUGE);
            choose(clear, go[l], 0.0)
        });
        then[a] = [value, rate];
    }
    *on = go;
    // (Into other places, which change their roles: a load that follows a store of some lanes has to wait for it.)
    let Glide { kept, kept_now, .. } = glide;
    for i in (0..z.len()).filter(|&i| i != 2 * d) {
        kept[i] = each(|l| choose(go[l] > 0.0, next[i][l], z[i][l]));
    }
    for a in 0..glide.m {
        for k in 0..2 {
            kept_now[a][k] = each(|l| choose(go[l] > 0.0, then[a][k][l], now[a][k][l]));
        }
        is_left[a] = each(|l| is_left[a][l] * (1.0 - go[l]));
        extent[a] = each(|l| larger(extent[a][l], go[l] * then[a][0][l]));
    }
    std::mem::swap(z, kept);
    std::mem::swap(now, kept_now);
    if glide.tracks {
        for (most, z) in glide.largest.iter_mut().zip(z.iter()) {
            *most = each(|l| larger(most[l], go[l] * z[l].abs()));
        }
    }
    *made = each(|l| made[l] + go[l]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::model::Builder;

    /// Two bodies and two gaps, of which the second has a coefficient k: the bounds of both are the same where k is 1.
    fn pair() -> Arc<LinearCode> {
        let model = Builder::new("pair")
            .parameter("k", 1.0)
            .coordinate("x", 0.0, 0.0)
            .coordinate("y", 0.0, 0.0)
            .kinetic("x'^2/2 + 0.1*y'^2/2")
            .force("x", "cos(2*t) - 0.1*x' - x")
            .restitution(0.7)
            .constraint("left", "1 + y - x")
            .constraint("right", "1 - y + k*x");
        let model = model.build().expect("a model").open(&["k"]).expect("open");
        Arc::new(LinearCode::new(&model).expect("linear"))
    }

    fn times(row: &Row, z: &[f64]) -> f64 {
        row.iter().zip(z).map(|(c, z)| c * z).sum()
    }

    #[test]
    fn no_gap_is_further_from_its_cubic_than_its_bound() {
        let code = pair();
        let (d, mut closest) = (code.d, f64::INFINITY);
        for (k, phase) in (0..40).map(|j| ([1.0, 3.0][j % 2], 0.17 * j as f64)) {
            let linear = code.at(&[k]).expect("numbers");
            let h = linear.interval().expect("a pace");
            let (cos, sin) = (phase.cos(), phase.sin());
            let z = [0.3 * sin, -0.2 * cos, -0.1 * cos, 0.4 * sin, 1.0, cos, sin];
            let sizes = z.map(f64::abs);
            for a in 0..code.m {
                let row = &linear.gaps[a];
                let at = |s: f64| linear.after(row, s, false);
                let slope = |s: f64| times(&linear.derivative(&at(s), false), &z) * h / 3.0;
                let b = [times(row, &z), times(row, &z) + slope(0.0), times(&at(h), &z) - slope(h), times(&at(h), &z)];
                let doubt = times(&linear.doubt(a, h), &sizes);
                for u in (1..8).map(|k| f64::from(k) / 8.0) {
                    let w = 1.0 - u;
                    let cubic = w * w * w * b[0] + 3.0 * w * u * (w * b[1] + u * b[2]) + u * u * u * b[3];
                    let off = (times(&at(u * h), &z) - cubic).abs();
                    assert!(off <= doubt, "gap {a}, k = {k}, {phase}, {u}: {off:e} beside {doubt:e}");
                    closest = closest.min(doubt / off);
                }
            }
        }
        assert!(closest < 4.0, "the bound is {closest} times what it bounds, at best");
        assert_eq!(code.doubt_pattern(0)[2 * d + 1..], [0.0; super::super::linear::ROOM - 5]);
    }

    #[test]
    fn gaps_share_a_bound_only_where_it_is_the_same() {
        let code = pair();
        let mut glide = Glide::<4>::new(code.clone(), 1e-10);
        for (l, k) in [1.0, -1.0, 3.0].into_iter().enumerate() {
            glide.load(l, &[k]);
            glide.place(l, 0.0, &[0.4, 0.3], &[-0.2, 0.7], None, 10.0);
            glide.see();
            let linear = code.at(&[k]).expect("numbers");
            let first = glide.doubt(0, Lane::all(0.0));
            let second = glide.doubt(1, first);
            let exact = times(&linear.doubt(1, glide.interval[l]), &[0.4, 0.3, 0.2, 0.7, 1.0]);
            assert!((second[l] - exact).abs() <= 1e-14 * exact, "k = {k}: {} and {exact}", second[l]);
            assert_eq!(glide.is_doubt_known, [false, l < 2]);
        }
    }
}
