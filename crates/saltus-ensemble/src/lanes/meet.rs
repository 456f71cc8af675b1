//! What ends linear flight: one gap that closes, or the end of the lane, found in all lanes at once.
//!
//! The cubic of a gap tells whether it closes just once in the interval of the grid ahead ([`closing`](super::closing)), Newton's method on
//! its series where; the series are those about the nearer end of the interval. Where it cannot be told, half of the interval may be clear.
//! Anything less plain (grazes, several gaps, bounces without speed) is left undecided.

use super::closing::{Closing, flag};
use super::glide::{Glide, HUGE, LONG};
use super::limits::STILL;
use super::trace::Last;
use super::vector::{any, each, larger, take};
use multiversion::multiversion;
use saltus_expr::{Lane, choose};

/// The order of the series, over half an interval of the grid.
pub const ORDER: usize = 11;

/// The last term of a series must be below this part of what is looked for.
const TAIL: f64 = 1e-13;

/// Newton's method on the series.
const ROUNDS: usize = 3;

/// The last correction of Newton's method, relative to the interval: the next one would be its square.
const LAST: f64 = 1e-9;

/// The series may move the root of the cubic by this part of the time to it.
const SHIFT: f64 = 0.25;

/// Gaps that close slower than this part of what their rates are made of graze.
const SLOW: f64 = 1e-7;

/// What became of the lanes: 1 or 0 for each.
#[derive(Clone, Copy, Debug)]
pub struct Met<const W: usize> {
    /// It is where it was: undecided.
    pub doubts: Lane<W>,
    /// It is at its end.
    pub ends: Lane<W>,
    /// A constraint was hit, and it is on its way again: which one, else −1.
    pub hits: Lane<W>,
    /// Whether any is undecided or at its end.
    pub leaves: bool,
}

impl<const W: usize> Glide<W> {
    /// Takes all lanes that cannot make another interval of the grid to what ends their flight within it.
    pub fn meet(&mut self) -> Met<W> {
        meet(self)
    }
}

/// The series of z, about the states in order 0.
#[inline(always)]
fn expand<const W: usize>(glide: &mut Glide<W>) {
    let (d, n) = (glide.d, glide.z.len());
    for k in 0..ORDER {
        let (known, rest) = glide.series.split_at_mut((k + 1) * n);
        let (now, next) = (&known[k * n..], &mut rest[..n]);
        let factor = 1.0 / (k + 1) as f64;
        for i in 0..d {
            if glide.last_orders[i] > k {
                next[i] = each(|l| factor * now[d + i][l]);
            }
            if glide.last_orders[d + i] > k {
                let a = glide.accelerations.product(i, now);
                next[d + i] = each(|l| factor * a[l]);
            }
        }
        for (j, phase) in glide.phases.iter().enumerate() {
            let at = 2 * d + 1 + 2 * j;
            next[at] = each(|l| -factor * phase[1][l] * now[at + 1][l]);
            next[at + 1] = each(|l| factor * phase[1][l] * now[at][l]);
        }
    }
}

/// The series of the gaps that close.
#[inline(always)]
fn follow<const W: usize>(glide: &mut Glide<W>, which: &Lane<W>) {
    let (d, m, n) = (glide.d, glide.m, glide.z.len());
    for &j in &glide.columns {
        let mut own = Lane::<W>::all(0.0);
        for a in 0..m {
            let c = &glide.by_columns[j * m + a];
            own = each(|l| choose(which[l] == a as f64, c[l], own[l]));
        }
        glide.closing[j] = own;
    }
    for (k, z) in glide.series.chunks_exact(n).enumerate() {
        let mut sum = Lane::<W>::all(0.0);
        let is_zero = |j: usize| match j < 2 * d {
            true => glide.last_orders[j] < k,
            false => j == 2 * d && k > 0,
        };
        for &j in glide.columns.iter().filter(|&&j| !is_zero(j)) {
            let c = &glide.closing[j];
            for l in 0..W {
                sum[l] += c[l] * z[j][l];
            }
        }
        glide.polynomial[k] = sum;
    }
}

/// Newton's method on series, from s; `since` is where they begin, from the start of the interval. Those that are not found are not plain.
#[inline(always)]
fn refine<const W: usize>(glide: &Glide<W>, which: &Lane<W>, since: &Lane<W>, s: &mut Lane<W>, plain: &mut Lane<W>) {
    let (start, mut by) = (*s, Lane::<W>::all(0.0));
    for _ in 0..ROUNDS {
        let (mut value, mut slope) = (glide.polynomial[ORDER], Lane::<W>::all(0.0));
        for c in glide.polynomial[..ORDER].iter().rev() {
            slope = each(|l| slope[l] * s[l] + value[l]);
            value = each(|l| value[l] * s[l] + c[l]);
        }
        by = each(|l| choose(which[l] < 0.0, 0.0, value[l] / slope[l]));
        *s = each(|l| s[l] - by[l]);
    }
    for l in 0..W {
        let is_near = (s[l] - start[l]).abs() <= SHIFT * (start[l] + since[l]);
        let is_found = is_near & (by[l].abs() <= LAST * glide.interval[l]);
        plain[l] = choose(is_found, plain[l], 0.0);
    }
}

/// The power of the last order.
#[inline(always)]
fn power(s: f64) -> f64 {
    let (mut power, mut square, mut left) = (1.0, s, ORDER);
    while left > 0 {
        if left % 2 == 1 {
            power *= square;
        }
        square *= square;
        left /= 2;
    }
    power
}

/// Positions and velocities at times s from where the series begin; lanes in which they may not be good enough are not plain.
#[inline(always)]
fn states<const W: usize>(glide: &mut Glide<W>, s: &Lane<W>, plain: &mut Lane<W>) {
    let (d, n) = (glide.d, glide.z.len());
    let high: Lane<W> = each(|l| power(s[l]));
    for i in 0..2 * d {
        let last = glide.last_orders[i];
        let mut sum = glide.series[last * n + i];
        for k in (0..last).rev() {
            let c = &glide.series[k * n + i];
            for l in 0..W {
                sum[l] = sum[l] * s[l] + c[l];
            }
        }
        glide.found[i] = sum;
    }
    for i in 0..d {
        let (first, rate) = (&glide.series[i], &glide.series[d + i]);
        let (sum, speed) = (&glide.found[i], &glide.found[d + i]);
        let (last, last_rate) = (&glide.series[ORDER * n + i], &glide.series[ORDER * n + d + i]);
        *plain = each(|l| {
            let h = glide.interval[l];
            let far = larger(larger(first[l].abs(), sum[l].abs()), h * larger(rate[l].abs(), speed[l].abs()));
            let tail = larger((last[l] * high[l]).abs(), h * (last_rate[l] * high[l]).abs());
            choose((tail <= TAIL * far) & (far < HUGE), plain[l], 0.0)
        });
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn meet<const W: usize>(glide: &mut Glide<W>) -> Met<W> {
    let (d, m, n) = (glide.d, glide.m, glide.z.len());
    let (t, interval, made) = (glide.t, glide.interval, glide.made);
    let (mut meets, mut tired, mut part) = (Lane::<W>::all(0.0), Lane::<W>::all(0.0), Lane::<W>::all(0.0));
    for l in 0..W {
        let stands = (glide.goes[l] > 0.0) & !(glide.open[l] > 0.0);
        tired[l] = flag(stands & (made[l] >= LONG));
        meets[l] = flag(stands & (made[l] < LONG));
        part[l] = larger(glide.end[l] - t[l], 0.0) / interval[l];
    }
    let mut closing = Closing::new(glide, &meets);
    let mut u = closing.guess(&part);
    let Closing { mut plain, mut which, is_half_clear, .. } = closing;
    let (mut s, mut since, mut halves) = (Lane::<W>::all(0.0), Lane::<W>::all(0.0), Lane::<W>::all(0.0));
    for l in 0..W {
        // Without a gap that closes it is the end, or half an interval, or nothing.
        plain[l] = choose((u[l] >= 0.0) & (u[l] < 1.0), plain[l], 0.0);
        let is_half = !(plain[l] > 0.0) & (is_half_clear[l] > 0.0) & (part[l] > 0.5);
        halves[l] = flag(is_half);
        plain[l] = larger(plain[l], halves[l]);
        which[l] = choose((plain[l] > 0.0) & !is_half, which[l], -1.0);
        u[l] = choose(plain[l] > 0.0, choose(is_half, 0.5, u[l]), 0.0);
        since[l] = choose(u[l] > 0.5, interval[l], 0.0);
        s[l] = u[l] * interval[l] - since[l];
    }
    for i in 0..n {
        glide.series[i] = each(|l| choose(since[l] > 0.0, glide.next[i][l], glide.z[i][l]));
    }
    expand(glide);
    follow(glide, &which);
    refine(glide, &which, &since, &mut s, &mut plain);
    states(glide, &s, &mut plain);
    let mut there = Lane::<W>::all(0.0);
    for l in 0..W {
        s[l] += since[l];
        let gets_on = (which[l] >= 0.0) | (halves[l] > 0.0);
        there[l] = choose(gets_on, t[l] + s[l], glide.end[l]);
        there[l] = choose(plain[l] > 0.0, there[l], t[l]);
    }
    let turns: Lane<W> = each(|l| larger(plain[l], tired[l]));
    let mut z = std::mem::take(&mut glide.found);
    if any(&turns) {
        glide.turn_to(&there, &turns, &mut z);
    }
    let zeros = Lane::<W>::all(0.0);
    let (mut rate, mut size, mut gap, mut e, mut mass) = (zeros, zeros, zeros, zeros, zeros);
    for a in 0..m {
        let (own_rate, own_size) = (glide.slopes.product(a, &z), glide.slopes.size(a, &z));
        let own = glide.gaps.product(a, &z);
        let extent = &glide.extent[a];
        for l in 0..W {
            let hit = which[l] == a as f64;
            // Other gaps must not be as good as closed.
            let away = 10.0 * glide.tolerance * larger(extent[l], own[l].abs());
            let is_apart = (which[l] < 0.0) | (own[l] > away);
            plain[l] = choose(hit | is_apart, plain[l], 0.0);
            rate[l] = choose(hit, own_rate[l], rate[l]);
            size[l] = choose(hit, own_size[l], size[l]);
            gap[l] = choose(hit, own[l], gap[l]);
            e[l] = choose(hit, glide.restitutions[a][l], e[l]);
            mass[l] = choose(hit, glide.masses[a][l], mass[l]);
        }
        glide.then[a][0] = own;
    }
    let impulse: Lane<W> = each(|l| -(1.0 + e[l]) * rate[l] * mass[l]);
    plain = each(|l| {
        // The impact must not be a graze.
        let is_law = (e[l] >= 0.0) & (e[l] <= 1.0) & (impulse[l] < f64::INFINITY);
        let is_hard = is_law & (rate[l] < -SLOW * size[l]) & (-e[l] * rate[l] > STILL * size[l]);
        choose((which[l] < 0.0) | is_hard, plain[l], 0.0)
    });
    for a in 0..m {
        for i in 0..d {
            let pull = &glide.pulls[a * d + i];
            z[d + i] = each(|l| z[d + i][l] + choose(which[l] == a as f64, impulse[l] * pull[l], 0.0));
        }
    }
    let mut rebound = zeros;
    for a in 0..m {
        let after = glide.slopes.product(a, &z);
        let (was_left, extent) = (&glide.is_left[a], &glide.extent[a]);
        let hit: Lane<W> = each(|l| flag(which[l] == a as f64));
        take(&hit, &after, &mut rebound);
        let left = each(|l| choose(plain[l] > 0.0, hit[l], was_left[l]));
        // (A flight within one step has no other trace.)
        let flight = each(|l| {
            let is_it = (hit[l] > 0.0) & (plain[l] > 0.0);
            choose(is_it, larger(extent[l], -0.25 * rate[l] * s[l]), extent[l])
        });
        (glide.is_left[a], glide.extent[a]) = (left, flight);
        let rise: Lane<W> = each(|l| after[l] * (interval[l] * (1.0 / 3.0)));
        let [gap, rate] = &mut glide.now[a];
        take(&plain, &glide.then[a][0], gap);
        take(&plain, &rise, rate);
    }
    let turns: Lane<W> = each(|l| larger(plain[l], tired[l]));
    take(&plain, &there, &mut glide.t);
    glide.since = each(|l| choose(turns[l] > 0.0, glide.t[l], glide.since[l]));
    take(&turns, &Lane::<W>::all(0.0), &mut glide.made);
    for (i, (to, z)) in glide.z.iter_mut().zip(&z).enumerate() {
        take(if i < 2 * d { &plain } else { &turns }, z, to);
    }
    glide.found = z;
    let hits: Lane<W> = each(|l| choose(plain[l] > 0.0, which[l], -1.0));
    let residual = each(|l| (rebound[l] + e[l] * rate[l]).abs() / size[l]);
    let flown = each(|l| larger(flag(made[l] > 0.0), larger(halves[l] * plain[l], tired[l])));
    (glide.trace.speed, glide.trace.impulse) = (each(|l| -rate[l]), impulse);
    glide.trace.note(&Last { which: hits, t: there, gap, residual }, &plain, &flown);
    let doubts: Lane<W> = each(|l| choose(plain[l] > 0.0, 0.0, meets[l]));
    let ends: Lane<W> = each(|l| choose((which[l] >= 0.0) | (halves[l] > 0.0), 0.0, plain[l]));
    let leaves = any(&each::<W>(|l| larger(doubts[l], ends[l])));
    Met { doubts, ends, hits, leaves }
}
