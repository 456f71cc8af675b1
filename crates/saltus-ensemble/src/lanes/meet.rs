//! What ends linear flight: one gap that closes, or the end of the lane, found in all lanes at once.
//!
//! The series of z about where a lane is, of the gaps from it; the cubic of a gap tells whether it closes just once, Newton's method on
//! the series where. Anything less plain (grazes, several gaps, bounces without speed) is left undecided.

use super::glide::{Glide, HUGE};
use super::limits::STILL;
use super::linear::ROOM;
use super::vector::{any, larger, smaller, take};
use multiversion::multiversion;
use saltus_expr::{Lane, choose};

/// The order of the series, over an eighth of an interval of the grid.
pub const ORDER: usize = 9;

/// The last term of a series must be below this part of what is looked for.
const TAIL: f64 = 1e-13;

/// Newton's method on the cubic, and on the series.
const CUBIC: usize = 5;
const ROUNDS: usize = 3;

/// The last correction of Newton's method, relative to the interval: the next one would be its square.
const LAST: f64 = 1e-9;

/// The series may move the root of the cubic by this part of the time to it.
const SHIFT: f64 = 0.25;

/// A gap that closes within this part of an interval from the end of the lane may close before or after it.
const MARGIN: f64 = 1e-2;

/// Gaps that close slower than this part of what their rates are made of graze.
const SLOW: f64 = 1e-7;

/// What became of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Met {
    /// It is where it was: undecided.
    Nothing,
    /// It is at its end.
    End,
    /// It was hit by this constraint and is on its way again.
    Impact(usize),
}

/// What the impacts of the lanes were like.
#[derive(Clone, Copy, Debug)]
pub struct Impacts<const W: usize> {
    pub met: [Met; W],
    pub speed: Lane<W>,
    pub impulse: Lane<W>,
    /// The residual of the law, relative to what the rates are made of, and the gap.
    pub residual: Lane<W>,
    pub gap: Lane<W>,
}

/// 1 or 0.
#[inline(always)]
fn flag(is: bool) -> f64 {
    choose(is, 1.0, 0.0)
}

impl<const W: usize> Glide<W> {
    /// Takes all lanes that go to what ends their flight within an interval of the grid.
    pub fn meet(&mut self) -> Impacts<W> {
        meet(self)
    }
}

/// The series of z and of the gaps, about the states in order 0.
#[inline(always)]
fn expand<const W: usize>(glide: &mut Glide<W>) {
    let (d, n) = (glide.d, glide.z.len());
    for k in 0..=ORDER {
        let (known, rest) = glide.series.split_at_mut((k + 1) * n);
        let now = &known[k * n..];
        for a in 0..glide.m {
            glide.polynomials[a * (ORDER + 1) + k] = glide.gaps.product(a, now);
        }
        if k == ORDER {
            break;
        }
        let factor = 1.0 / (k + 1) as f64;
        let next = &mut rest[..n];
        for i in 0..d {
            let a = glide.accelerations.product(i, now);
            for l in 0..W {
                next[i].0[l] = factor * now[d + i].0[l];
                next[d + i].0[l] = factor * a.0[l];
            }
        }
        next[2 * d] = Lane::all(0.0);
        for (j, phase) in glide.phases.iter().enumerate() {
            let at = 2 * d + 1 + 2 * j;
            for l in 0..W {
                let turned = factor * phase[1].0[l];
                next[at].0[l] = -turned * now[at + 1].0[l];
                next[at + 1].0[l] = turned * now[at].0[l];
            }
        }
    }
}

/// What the gaps do in the intervals ahead of the lanes.
struct Closing<const W: usize> {
    /// 1 where it is plain: no gap closes, or one of them once; else 0.
    plain: [f64; W],
    /// The gap that closes, or −1; 1 where it had just closed before, else 0.
    which: [f64; W],
    left: [f64; W],
    /// Its cubic in powers of u = s/H, divided by u where it had just closed; what is left out.
    cubic: [[f64; W]; 4],
    doubt: [f64; W],
}

impl<const W: usize> Closing<W> {
    #[inline(always)]
    fn new(glide: &Glide<W>) -> Self {
        let zeros = [0.0; W];
        let mut closing =
            Closing { plain: glide.goes.0, which: [-1.0; W], left: zeros, cubic: [zeros; 4], doubt: zeros };
        for a in 0..glide.m {
            closing.consider(a, glide);
        }
        closing
    }

    /// Gap a, from its values and rates at both ends.
    #[inline(always)]
    fn consider(&mut self, a: usize, glide: &Glide<W>) {
        let ([Lane(zero), Lane(rise)], [Lane(value), Lane(slope)]) = (&glide.now[a], &glide.then[a]);
        let (was_left, doubts) = (&glide.is_left[a].0, glide.doubts.size(a, &glide.z).0);
        let (mut is_it, mut doubt) = ([0.0; W], [0.0; W]);
        let mut cubic = [[0.0; W]; 4];
        for l in 0..W {
            let is_left = was_left[l] > 0.0;
            let b0 = choose(is_left, 0.0, zero[l]);
            let (b1, b2, b3) = (b0 + rise[l], value[l] - slope[l], value[l]);
            // (The Bernstein coefficients of a gap that has just closed are those of a quadratic, which is multiplied by u.)
            doubt[l] = choose(is_left, 2.4 * doubts[l], doubts[l]);
            let first = choose(is_left, 3.0 * b1, b0);
            let second = choose(is_left, first, b1);
            let middle = choose(is_left, 1.5 * b2, b2);
            let clear = smaller(smaller(first, second), smaller(middle, b3)) > doubt[l];
            // One change of sign, whatever is left out.
            let once = (first > doubt[l]) & (b3 < -doubt[l]) & (is_left | (second > doubt[l]) | (middle < -doubt[l]));
            let is_first = self.which[l] < 0.0;
            self.plain[l] = choose(clear | (once & is_first), self.plain[l], 0.0);
            is_it[l] = flag(once & is_first);
            cubic[0][l] = first;
            cubic[1][l] = choose(is_left, 3.0 * b2 - 6.0 * b1, 3.0 * (b1 - b0));
            cubic[2][l] = choose(is_left, b3 - 3.0 * b2 + 3.0 * b1, 3.0 * (b2 - 2.0 * b1 + b0));
            cubic[3][l] = choose(is_left, 0.0, b3 - 3.0 * b2 + 3.0 * b1 - b0);
        }
        take(&is_it, &[a as f64; W], &mut self.which);
        take(&is_it, was_left, &mut self.left);
        take(&is_it, &doubt, &mut self.doubt);
        for k in 0..4 {
            take(&is_it, &cubic[k], &mut self.cubic[k]);
        }
    }

    /// Where the cubic vanishes, as a part of the interval. Lanes that come to their end before are without a gap that closes.
    #[inline(always)]
    fn guess(&mut self, part: &[f64; W]) -> [f64; W] {
        let (mut low, mut high, mut u) = ([0.0; W], [1.0; W], [0.0; W]);
        let [c0, c1, c2, c3] = &self.cubic;
        for l in 0..W {
            u[l] = c0[l] / -(c1[l] + c2[l] + c3[l]);
        }
        for _ in 0..CUBIC {
            for l in 0..W {
                let x = u[l];
                let value = ((c3[l] * x + c2[l]) * x + c1[l]) * x + c0[l];
                let slope = (3.0 * c3[l] * x + 2.0 * c2[l]) * x + c1[l];
                low[l] = choose(value > 0.0, x, low[l]);
                high[l] = choose(value > 0.0, high[l], x);
                let newton = x - value / slope;
                let inside = (newton >= low[l]) & (newton <= high[l]);
                u[l] = choose(inside, newton, 0.5 * (low[l] + high[l]));
            }
        }
        for l in 0..W {
            let x = u[l];
            // The slope cannot turn over where the gap may vanish.
            let fall = -((3.0 * c3[l] * x + 2.0 * c2[l]) * x + c1[l]);
            let bend = 2.0 * c2[l].abs() + 6.0 * c3[l].abs() + self.doubt[l];
            let is_sure = (fall > 0.0) & (fall * fall > 8.0 * bend * self.doubt[l]);
            let (is_after, is_before) = (x > part[l] + MARGIN, x < part[l] - MARGIN);
            let none = self.which[l] < 0.0;
            self.plain[l] = choose(none | (is_sure & (is_after | is_before)), self.plain[l], 0.0);
            self.which[l] = choose(is_after, -1.0, self.which[l]);
            u[l] = choose(self.which[l] < 0.0, part[l], x);
        }
        u
    }

    /// Newton's method on the series of the gap, from s; `since` is the start of the interval.
    #[inline(always)]
    fn refine(&mut self, polynomials: &[Lane<W>], interval: &[f64; W], since: &[f64; W], s: &mut [f64; W]) {
        let mut series = [Lane::<W>::all(0.0); ORDER + 1];
        for (a, row) in polynomials.chunks_exact(ORDER + 1).enumerate() {
            let mut is_it = [0.0; W];
            for l in 0..W {
                is_it[l] = flag(self.which[l] == a as f64);
            }
            for (to, c) in series.iter_mut().zip(row) {
                take(&is_it, &c.0, &mut to.0);
            }
        }
        let (start, mut by) = (*s, [0.0; W]);
        for _ in 0..ROUNDS {
            let (mut value, mut slope) = ([0.0; W], [0.0; W]);
            for c in series.iter().rev() {
                for l in 0..W {
                    slope[l] = slope[l] * s[l] + value[l];
                    value[l] = value[l] * s[l] + c.0[l];
                }
            }
            for l in 0..W {
                by[l] = choose(self.which[l] < 0.0, 0.0, value[l] / slope[l]);
                s[l] -= by[l];
            }
        }
        for l in 0..W {
            let is_near = (s[l] - start[l]).abs() <= SHIFT * (start[l] + since[l]);
            let is_found = is_near & (by[l].abs() <= LAST * interval[l]);
            self.plain[l] = choose(is_found, self.plain[l], 0.0);
        }
    }
}

/// The states at times s from where the series begin; lanes in which they may not be good enough are not plain.
#[inline(always)]
fn states<const W: usize>(glide: &Glide<W>, s: &[f64; W], plain: &mut [f64; W], z: &mut [Lane<W>]) {
    let n = z.len();
    let mut high = [0.0; W];
    for l in 0..W {
        let third = s[l] * s[l] * s[l];
        // (To the power of the order.)
        high[l] = third * third * third;
    }
    for i in 0..n {
        let mut sum = [0.0; W];
        for k in (0..=ORDER).rev() {
            let c = &glide.series[k * n + i].0;
            for l in 0..W {
                sum[l] = sum[l] * s[l] + c[l];
            }
        }
        let (first, last) = (&glide.series[i].0, &glide.series[ORDER * n + i].0);
        let most = glide.largest.get(i).map_or([1.0; W], |x| x.0);
        for l in 0..W {
            let size = larger(larger(first[l].abs(), sum[l].abs()), most[l]);
            let is_exact = (last[l] * high[l]).abs() <= TAIL * size;
            plain[l] = choose(is_exact & (size < HUGE), plain[l], 0.0);
        }
        z[i] = Lane(sum);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn meet<const W: usize>(glide: &mut Glide<W>) -> Impacts<W> {
    let (d, m, n) = (glide.d, glide.m, glide.z.len());
    let (t, end, interval) = (glide.t.0, glide.end.0, glide.interval.0);
    let mut part = [0.0; W];
    for l in 0..W {
        part[l] = larger(end[l] - t[l], 0.0) / interval[l];
    }
    let mut closing = Closing::new(glide);
    let u = closing.guess(&part);
    let (mut s, mut since) = ([0.0; W], [0.0; W]);
    let mut eighths = [0.0; W];
    for l in 0..W {
        // Without a gap that closes it is the end, or nothing.
        let is_near = (u[l] >= 0.0) & (u[l] < 1.0);
        closing.plain[l] = choose(is_near, closing.plain[l], 0.0);
        eighths[l] = (8.0 * choose(is_near, u[l], 0.0)).floor();
        since[l] = 0.125 * eighths[l] * interval[l];
        s[l] = choose(is_near, u[l], 0.0) * interval[l] - since[l];
    }
    let mut room = [Lane::<W>::all(0.0); ROOM];
    let z = &mut room[..n];
    z.copy_from_slice(&glide.z);
    for (level, weight) in [(1, 4.0), (2, 2.0), (3, 1.0)] {
        let mut on = [0.0; W];
        for l in 0..W {
            on[l] = flag(eighths[l] >= weight);
            eighths[l] -= weight * on[l];
        }
        if any(&on) {
            glide.skip(level, &on, z);
        }
    }
    glide.series[..n].copy_from_slice(z);
    expand(glide);
    closing.refine(&glide.polynomials, &interval, &since, &mut s);
    let Closing { mut plain, which, .. } = closing;
    states(glide, &s, &mut plain, z);
    for l in 0..W {
        s[l] += since[l];
    }
    let zeros = [0.0; W];
    let (mut speed, mut impulse, mut gap, mut residual) = (zeros, zeros, zeros, zeros);
    for a in 0..m {
        let (rate, size) = (glide.slopes.product(a, z).0, glide.slopes.size(a, z).0);
        let own = glide.gaps.product(a, z).0;
        let (e, compliance, extent) = (&glide.restitutions[a].0, &glide.compliances[a].0, &mut glide.extent[a].0);
        let (mut is_it, mut given, mut closed) = (zeros, zeros, zeros);
        for l in 0..W {
            let hit = which[l] == a as f64;
            // Other gaps must not be as good as closed, and the impact must not be a graze.
            let away = 10.0 * glide.tolerance * larger(extent[l], own[l].abs());
            let is_apart = (which[l] < 0.0) | (own[l] > away);
            given[l] = -(1.0 + e[l]) * rate[l] / compliance[l];
            let is_law = (e[l] >= 0.0) & (e[l] <= 1.0) & (given[l] < f64::INFINITY);
            let is_hard = is_law & (rate[l] < -SLOW * size[l]) & (-e[l] * rate[l] > STILL * size[l]);
            plain[l] = choose((hit & is_hard) | (!hit & is_apart), plain[l], 0.0);
            is_it[l] = flag(hit);
            closed[l] = -rate[l];
            // (A flight within one step has no other trace.)
            let flight = larger(extent[l], 0.25 * closed[l] * s[l]);
            extent[l] = choose(hit & (plain[l] > 0.0), flight, extent[l]);
        }
        take(&is_it, &given, &mut impulse);
        take(&is_it, &closed, &mut speed);
        take(&is_it, &own, &mut gap);
    }
    for a in 0..m {
        for i in 0..d {
            let pull = &glide.pulls[a * d + i].0;
            let v = &mut z[d + i].0;
            for l in 0..W {
                v[l] += choose(which[l] == a as f64, impulse[l] * pull[l], 0.0);
            }
        }
    }
    for a in 0..m {
        let (after, size) = (glide.slopes.product(a, z).0, glide.slopes.size(a, z).0);
        let (e, left) = (&glide.restitutions[a].0, &mut glide.is_left[a].0);
        for l in 0..W {
            let hit = which[l] == a as f64;
            let off = (after[l] - e[l] * speed[l]).abs() / size[l];
            residual[l] = choose(hit, off, residual[l]);
            left[l] = choose(plain[l] > 0.0, flag(hit), left[l]);
        }
    }
    for (to, z) in glide.z.iter_mut().zip(z.iter()) {
        take(&plain, &z.0, &mut to.0);
    }
    let mut met = [Met::Nothing; W];
    for l in (0..W).filter(|&l| plain[l] > 0.0) {
        let closes = which[l] >= 0.0;
        glide.t.0[l] = choose(closes, glide.t.0[l] + s[l], glide.end.0[l]);
        met[l] = if closes { Met::Impact(which[l] as usize) } else { Met::End };
    }
    Impacts { met, speed: Lane(speed), impulse: Lane(impulse), residual: Lane(residual), gap: Lane(gap) }
}
