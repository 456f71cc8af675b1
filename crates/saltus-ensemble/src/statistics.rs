//! Least and largest value, mean and root mean square of quantities along a motion, from its polynomials.
//!
//! Within a piece of the motion a quantity is smooth, or has corners of the user's own: the Gauss–Kronrod rule of 7 and 15 nodes on
//! ever shorter intervals finds both integrals, and the extrema are searched between its nodes. A quantity that is not a number at
//! one of them, or that grows without bound towards an instant, has no statistics, and is not looked at any more.

use crate::{Statistic, Wanted};
use saltus::motion::Cursor;
use saltus::problem::Quantities;
use saltus::text::number;
use saltus::{Model, Side, Trajectory};

const NODES: [f64; 8] = [
    0.0,
    0.207_784_955_007_898_46,
    0.405_845_151_377_397_2,
    0.586_087_235_467_691_1,
    0.741_531_185_599_394_4,
    0.864_864_423_359_769_1,
    0.949_107_912_342_758_5,
    0.991_455_371_120_812_6,
];
const KRONROD: [f64; 8] = [
    0.209_482_141_084_727_82,
    0.204_432_940_075_298_9,
    0.190_350_578_064_785_4,
    0.169_004_726_639_267_9,
    0.140_653_259_715_525_92,
    0.104_790_010_322_250_18,
    0.063_092_092_629_978_55,
    0.022_935_322_010_529_224,
];
const GAUSS: [f64; 4] =
    [0.417_959_183_673_469_4, 0.381_830_050_505_118_9, 0.279_705_391_489_276_67, 0.129_484_966_168_869_7];

/// Both rules must agree to this, relative to the largest value.
const AGREEMENT: f64 = 1e-11;
/// Differences of means may be so many times the noise of values. (They are means themselves: noise adds up in none of them.)
const TIMES: f64 = 4.0;
/// What differs from zero in a small part of a piece only, as max(0, x − 0.999) does, shows itself to none of the nodes of a long interval.
const PARTS: u32 = 16;
/// An interval is halved this often at most.
const DEPTH: u32 = 12;
/// Steps towards an extremum.
const REFINEMENTS: usize = 6;
/// Samples of an interval: its ends and the nodes.
const SAMPLES: usize = 17;
/// Of the 2¹² shortest intervals of a piece so many may stay where both rules are this far apart. (A jump is in one of them.)
const UNRESOLVED: u32 = 256;
const APART: f64 = 1e-3;
/// An interval is halved this often, towards its largest value, to see whether there is one. Where there is none, what is beside it grows
/// each time, in so many of them by this part at least, and in all by this factor.
const ZOOM: u32 = 30;
const ROUND: u32 = 8;
const GROWS: f64 = 1e-3;
const GROWN: f64 = 1.5;
/// Shorter intervals, in units of the rounding of time, show rounding.
const SHORTEST: f64 = 64.0 * f64::EPSILON;

/// Statistics of some quantities, by their places, over a whole motion.
#[must_use]
pub fn statistics_of(motion: &Trajectory, quantities: &mut Quantities, chosen: &[usize]) -> Vec<Statistic> {
    let mut gatherer = Gatherer::new(chosen, true);
    gatherer.add(motion, quantities, f64::NEG_INFINITY, f64::INFINITY);
    gatherer.finish()
}

/// What gives the values of quantities at a time.
pub(crate) trait Read {
    /// The values of all quantities that are gathered.
    fn values(&mut self, t: f64, out: &mut [f64]);

    /// The position and velocity at the time of the last values.
    fn state(&self) -> (&[f64], &[f64]);
}

/// Why an expression has no statistics.
#[derive(Clone, Debug, PartialEq)]
struct Lost {
    why: Why,
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    /// A value is not a number, infinite, or has a square that is.
    Value(f64),
    /// It grows without bound.
    Pole,
    /// It varies too fast.
    Unresolved,
}

/// Statistics in the making.
#[derive(Clone, Debug)]
pub(crate) struct Gatherer {
    chosen: Vec<usize>,
    found: Vec<Statistic>,
    /// Those that have none.
    lost: Vec<Option<Lost>>,
    /// The shortest intervals of the present piece in which both rules are apart.
    unresolved: u32,
    /// In how many parts a piece is looked at from the beginning.
    parts: u32,
    time: f64,
}

impl Gatherer {
    /// For quantities that are smooth along a piece of the motion, or have corners or jumps there.
    pub fn new(chosen: &[usize], rough: bool) -> Self {
        let empty = Statistic { min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, rms: 0.0 };
        let (found, lost) = (vec![empty; chosen.len()], vec![None; chosen.len()]);
        let parts = if rough { PARTS } else { 1 };
        Gatherer { chosen: chosen.to_vec(), found, lost, unresolved: 0, parts, time: 0.0 }
    }

    /// Adds the part of a motion between two times.
    pub fn add(&mut self, motion: &Trajectory, quantities: &mut Quantities, from: f64, to: f64) {
        let Some((first, last)) = motion.span() else { return };
        let (from, last) = (from.max(first), last.min(to));
        if !(last > from) {
            return;
        }
        self.time += last - from;
        if self.is_lost() {
            return;
        }
        let inner = motion.pieces.starts().iter().chain(&motion.t).copied().filter(|t| *t > from && *t < last);
        let mut times: Vec<f64> = [from, last].into_iter().chain(inner).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let d = motion.dimension();
        let mut read = Along {
            quantities,
            chosen: self.chosen.clone(),
            end: last,
            left: motion.cursor(Side::Left),
            right: motion.cursor(Side::Right),
            q: vec![0.0; d],
            v: vec![0.0; d],
        };
        for pair in times.windows(2) {
            read.end = pair[1];
            self.whole(&mut read, pair[0], pair[1]);
        }
    }

    /// Adds a piece of a motion from a to b.
    pub fn piece(&mut self, read: &mut dyn Read, a: f64, b: f64) {
        self.time += b - a;
        self.whole(read, a, b);
    }

    fn whole(&mut self, read: &mut dyn Read, a: f64, b: f64) {
        self.unresolved = 0;
        let place = |k: u32| if k == self.parts { b } else { a + (b - a) * f64::from(k) / f64::from(self.parts) };
        let places: Vec<f64> = (0..=self.parts).map(place).collect();
        for part in places.windows(2) {
            self.interval(read, part[0], part[1], DEPTH);
        }
    }

    /// Whether nothing is left to be gathered.
    fn is_lost(&self) -> bool {
        self.lost.iter().all(Option::is_some)
    }

    /// Expression i has no statistics.
    fn lose(&mut self, i: usize, why: Why, t: f64, read: &mut dyn Read) {
        if self.lost[i].is_none() {
            read.values(t, &mut vec![0.0; self.chosen.len()]);
            let (q, v) = read.state();
            self.lost[i] = Some(Lost { why, t, q: q.to_vec(), v: v.to_vec() });
        }
    }

    fn interval(&mut self, read: &mut dyn Read, a: f64, b: f64, depth: u32) {
        if self.is_lost() {
            return;
        }
        let n = self.chosen.len();
        let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
        let time = |k: usize| match k {
            0 => a,
            16 => b,
            k if k <= 8 => centre - half * NODES[8 - k],
            k => centre + half * NODES[k - 8],
        };
        let mut samples = vec![0.0; SAMPLES * n];
        for k in 0..SAMPLES {
            read.values(time(k), &mut samples[k * n..(k + 1) * n]);
        }
        for (k, values) in samples.chunks(n).enumerate() {
            for (i, &x) in values.iter().enumerate().filter(|(_, x)| !is_plain(**x)) {
                self.lose(i, Why::Value(x), time(k), read);
            }
        }
        let rules: Vec<Rules> = (0..n).map(|i| Rules::of(&samples, n, i)).collect();
        let is_open = (0..n).any(|i| !rules[i].agree(AGREEMENT) && self.lost[i].is_none());
        let is_noise = is_open && self.is_noise(read, (a, b), &rules);
        if depth > 0 && centre > a && centre < b && is_open && !is_noise {
            self.interval(read, a, centre, depth - 1);
            self.interval(read, centre, b, depth - 1);
            return;
        }
        for (i, rule) in rules.into_iter().enumerate() {
            if self.lost[i].is_some() {
                continue;
            }
            let value = |k: usize| samples[k * n + i];
            if !rule.agree(AGREEMENT) && !is_noise {
                if let Some(t) = pole((0..SAMPLES).map(|k| (time(k), value(k))), i, n, read) {
                    self.lose(i, Why::Pole, t, read);
                    continue;
                }
                self.unresolved += u32::from(!rule.agree(APART));
                if self.unresolved > UNRESOLVED {
                    self.lose(i, Why::Unresolved, centre, read);
                    continue;
                }
            }
            self.found[i].mean += rule.mean * half;
            self.found[i].rms += rule.square * half;
            let high = (0..SAMPLES).fold(0, |best, k| if value(k) > value(best) { k } else { best });
            let low = (0..SAMPLES).fold(0, |best, k| if value(k) < value(best) { k } else { best });
            for (best, sign) in [(high, 1.0), (low, -1.0)] {
                let known = if sign > 0.0 { self.found[i].max } else { -self.found[i].min };
                let mut top = sign * value(best);
                if best > 0 && best + 1 < SAMPLES {
                    let three = [best - 1, best, best + 1].map(|k| (time(k), sign * value(k)));
                    // A parabola rises above its highest sample by less than the samples differ.
                    if top + (top - three[0].1.min(three[2].1)) > known {
                        let (mut all, mut lost) = (vec![0.0; n], None);
                        top = refined(three, &mut |t| {
                            read.values(t, &mut all);
                            if !is_plain(all[i]) {
                                lost = Some((all[i], t));
                            }
                            sign * all[i]
                        });
                        if let Some((x, t)) = lost {
                            self.lose(i, Why::Value(x), t, read);
                        }
                    }
                }
                match sign > 0.0 {
                    true => self.found[i].max = self.found[i].max.max(top),
                    false => self.found[i].min = self.found[i].min.min(-top),
                }
            }
        }
    }

    /// Whether both rules differ by no more than the noise of the values: what rounding makes of quantities that are small differences of
    /// large ones, and no shorter interval makes better.
    fn is_noise(&self, read: &mut dyn Read, (a, b): (f64, f64), rules: &[Rules]) -> bool {
        // (In two places: a corner, which is no noise, is in one of them at most.)
        let mut noise = vec![f64::INFINITY; rules.len()];
        for place in PLACES {
            let own = noise_of(read, a + place * (b - a), SPACING * (b - a), rules.len());
            noise.iter_mut().zip(own).for_each(|(noise, own)| *noise = noise.min(own));
        }
        rules.iter().enumerate().filter(|(i, _)| self.lost[*i].is_none()).all(|(i, rule)| {
            let allowed = TIMES * noise[i] + AGREEMENT * rule.size;
            // (Noise as large as the values is none: they vary faster than differences can tell.)
            let is_small = TIMES * noise[i] <= APART * rule.size;
            is_small && rule.off[0] <= allowed && rule.off[1] <= 2.0 * rule.size * allowed
        })
    }

    /// Why expressions have no statistics.
    pub fn complaints<'s>(&'s self, model: &'s Model, wanted: &'s Wanted) -> impl Iterator<Item = String> + 's {
        let named = |(i, lost): (usize, &Option<Lost>)| {
            let text = wanted.expressions.get(self.chosen[i]).map_or_else(|| format!("{i}"), Clone::clone);
            lost.as_ref().map(|lost| format!("no statistics of `{text}`: it {}", lost.words(model)))
        };
        self.lost.iter().enumerate().filter_map(named)
    }

    /// The statistics of everything added.
    pub fn finish(self) -> Vec<Statistic> {
        let time = self.time;
        let nothing = f64::NAN;
        let of = |(s, lost): (Statistic, Option<Lost>)| match time > 0.0 && lost.is_none() {
            true => Statistic { mean: s.mean / time, rms: (s.rms / time).max(0.0).sqrt(), ..s },
            false => Statistic { min: nothing, max: nothing, mean: nothing, rms: nothing },
        };
        self.found.into_iter().zip(self.lost).map(of).collect()
    }
}

/// Both rules on an interval of length 2.
struct Rules {
    mean: f64,
    square: f64,
    /// How far they are apart, for the mean and for the square.
    off: [f64; 2],
    /// The largest value.
    size: f64,
}

impl Rules {
    /// Of the i-th of n quantities.
    fn of(samples: &[f64], n: usize, i: usize) -> Self {
        let (mut mean, mut square, mut gauss, mut size) = (0.0, 0.0, [0.0; 2], 0.0_f64);
        for k in 1..SAMPLES - 1 {
            let (x, place) = (samples[k * n + i], k.abs_diff(8));
            mean += KRONROD[place] * x;
            square += KRONROD[place] * x * x;
            size = size.max(x.abs());
            if place.is_multiple_of(2) {
                gauss[0] += GAUSS[place / 2] * x;
                gauss[1] += GAUSS[place / 2] * x * x;
            }
        }
        Rules { mean, square, off: [(mean - gauss[0]).abs(), (square - gauss[1]).abs()], size }
    }

    /// Whether they are no further apart than such a part of the values.
    fn agree(&self, part: f64) -> bool {
        self.off[0] <= part * self.size && self.off[1] <= part * self.size * self.size
    }
}

/// Values that differences are taken of, how far they are apart, and where, as parts of the interval.
const VALUES: usize = 9;
const SPACING: f64 = 1e-3;
const PLACES: [f64; 2] = [0.31, 0.68];

/// The noise of n quantities near a time: the root of the mean square of their differences of order 6, which leave nothing of what is smooth,
/// relative to what they make of independent errors (Moré and Wild, Estimating computational noise, 2011).
fn noise_of(read: &mut dyn Read, t: f64, apart: f64, n: usize) -> Vec<f64> {
    const ORDER: usize = 6;
    // (6!)²/12!
    const SHARE: f64 = 1.0 / 924.0;
    let mut values = vec![0.0; VALUES * n];
    for k in 0..VALUES {
        read.values(t + k as f64 * apart, &mut values[k * n..(k + 1) * n]);
    }
    let mut count = VALUES;
    for _ in 0..ORDER {
        count -= 1;
        (0..count * n).for_each(|at| values[at] = values[at + n] - values[at]);
    }
    let of = |i: usize| {
        let squares: f64 = (0..count).map(|k| values[k * n + i] * values[k * n + i]).sum();
        (SHARE * squares / count as f64).sqrt()
    };
    (0..n).map(of).collect()
}

impl Lost {
    /// What happens where, behind "it".
    fn words(&self, model: &Model) -> String {
        let what = match self.why {
            Why::Value(x) if x.is_nan() => "is not a number",
            Why::Value(x) if x.is_infinite() => "is infinite",
            Why::Value(_) => "is too large for its mean square",
            Why::Pole => "cannot be resolved: it grows without bound",
            Why::Unresolved => "cannot be resolved: it jumps or varies too often within a step",
        };
        let near = if matches!(self.why, Why::Value(_)) { "at" } else { "near" };
        let (q, v) = (&self.q, &self.v);
        let coordinates =
            model.coordinates.iter().enumerate().flat_map(|(i, name)| {
                [format!("{name} = {}", number(q[i], 6)), format!("{name}' = {}", number(v[i], 6))]
            });
        let states = model.states.iter().zip(&v[model.degrees()..]);
        let states = states.map(|(state, z)| format!("{} = {}", state.name, number(*z, 6)));
        let mut all: Vec<String> = coordinates.chain(states).collect();
        if all.len() > MOST_SHOWN {
            all.truncate(MOST_SHOWN);
            all.push("…".into());
        }
        format!("{what} {near} t = {}, {}", number(self.t, 8), all.join(", "))
    }
}

/// Numbers of a state that a message shows.
const MOST_SHOWN: usize = 8;

/// Whether a value is a number, and its square.
fn is_plain(x: f64) -> bool {
    (x * x).is_finite()
}

/// Quantities along a motion that was recorded.
struct Along<'a> {
    quantities: &'a mut Quantities,
    chosen: Vec<usize>,
    /// The end of the present piece: what is read there is the limit from the left.
    end: f64,
    left: Cursor<'a>,
    right: Cursor<'a>,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Read for Along<'_> {
    fn values(&mut self, t: f64, out: &mut [f64]) {
        let cursor = if t >= self.end { &mut self.left } else { &mut self.right };
        if cursor.read(t, &mut self.q, &mut self.v).is_ok() {
            let values = self.quantities.at(t, &self.q, &self.v);
            out.iter_mut().zip(&self.chosen).for_each(|(out, &k)| *out = values[k]);
        }
    }

    fn state(&self) -> (&[f64], &[f64]) {
        (&self.q, &self.v)
    }
}

/// Where expression i grows without bound within samples, as far as time is resolved. What is beside the largest value is looked at: that one
/// may be at the pole itself, and may be rounding.
fn pole(samples: impl Iterator<Item = (f64, f64)>, i: usize, n: usize, read: &mut dyn Read) -> Option<f64> {
    let samples: Vec<(f64, f64)> = samples.map(|(t, x)| (t, x.abs())).collect();
    let last = samples.len() - 1;
    let best = (0..=last).fold(0, |best, k| if samples[k].1 > samples[best].1 { k } else { best });
    let mut three = [best.saturating_sub(1), best, (best + 1).min(last)].map(|k| samples[k]);
    // (At an end the largest value is its own neighbour.)
    let beside = |three: &[(f64, f64); 3]| {
        let of = |k: usize| if three[k].0 == three[1].0 { 0.0 } else { three[k].1 };
        of(0).max(of(2))
    };
    let first = beside(&three);
    let (mut before, mut earlier, mut all) = (first, first, vec![0.0; n]);
    for k in 1..=ZOOM {
        let [a, b, c] = three;
        if c.0 - a.0 <= SHORTEST * b.0.abs() {
            break;
        }
        let mut at = |t: f64| {
            read.values(t, &mut all);
            (t, if all[i].is_nan() { f64::INFINITY } else { all[i].abs() })
        };
        let five = [a, at(0.5 * (a.0 + b.0)), b, at(0.5 * (b.0 + c.0)), c];
        let top = (0..5).fold(2, |best, k| if five[k].1 > five[best].1 { k } else { best });
        three = [five[top.max(1) - 1], five[top], five[(top + 1).min(4)]];
        if three[1].1.is_infinite() {
            return Some(three[1].0);
        }
        let size = beside(&three);
        if size < before || (k.is_multiple_of(ROUND) && size <= (1.0 + GROWS) * earlier) {
            return None;
        }
        before = size;
        if k.is_multiple_of(ROUND) {
            earlier = size;
        }
    }
    (before > GROWN * first).then_some(three[1].0)
}

/// The largest value near the middle one of three points, by parabolas.
fn refined(mut three: [(f64, f64); 3], value: &mut dyn FnMut(f64) -> f64) -> f64 {
    for _ in 0..REFINEMENTS {
        let [(a, fa), (b, fb), (c, fc)] = three;
        let (p, q) = ((b - a) * (fb - fc), (b - c) * (fb - fa));
        let top = b - 0.5 * ((b - a) * p - (b - c) * q) / (p - q);
        if !(top > a && top < c) || top == b {
            break;
        }
        let at = (top, value(top));
        three = match (top < b, at.1 > fb) {
            (true, true) => [three[0], at, three[1]],
            (false, true) => [three[1], at, three[2]],
            (true, false) => [at, three[1], three[2]],
            (false, false) => [three[0], three[1], at],
        };
    }
    three[1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of time, and how often it was evaluated.
    struct Counted<F>(F, usize);

    impl<F: Fn(f64) -> f64> Read for Counted<F> {
        fn values(&mut self, t: f64, out: &mut [f64]) {
            self.1 += 1;
            out[0] = self.0(t);
        }

        fn state(&self) -> (&[f64], &[f64]) {
            (&[], &[])
        }
    }

    /// Statistics of f on [0, 2] in one piece, and how often it was evaluated.
    fn of(f: impl Fn(f64) -> f64) -> (Statistic, usize) {
        let mut gatherer = Gatherer::new(&[0], false);
        let mut read = Counted(f, 0);
        gatherer.piece(&mut read, 0.0, 2.0);
        (gatherer.finish()[0], read.1)
    }

    #[test]
    fn rounding_of_large_terms_is_not_looked_into() {
        let (plain, few) = of(f64::sin);
        for large in [1e4, 1e8, 1e12] {
            let (noisy, reads) = of(|t| (t.sin() + large) - large);
            let known = 2.0 * f64::EPSILON * large;
            for (a, b) in
                [(noisy.min, plain.min), (noisy.max, plain.max), (noisy.mean, plain.mean), (noisy.rms, plain.rms)]
            {
                assert!((a - b).abs() <= known + 1e-11, "{large:e}: {a} {b}");
            }
            assert!(reads < 20 * few, "{large:e}: {reads}, not {few}");
        }
    }

    #[test]
    fn corners_and_jumps_are_no_noise() {
        for corner in [0.62, 0.621, 1.3, 1.36, 1.361, 1.37] {
            let (found, _) = of(|t| (t - corner).abs());
            let mean = 0.25 * (corner * corner + (2.0 - corner) * (2.0 - corner));
            assert!((found.mean - mean).abs() < 1e-7, "{corner}: {} {mean}", found.mean);
            let (found, _) = of(|t| if t < corner { 0.0 } else { 1.0 });
            assert!((found.mean - 0.5 * (2.0 - corner)).abs() < 1e-3, "{corner}: {}", found.mean);
        }
    }
}
