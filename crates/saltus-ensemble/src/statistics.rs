//! Least and largest value, mean and root mean square of quantities along a motion, from its polynomials.
//!
//! Within a piece of the motion a quantity is smooth, or has corners of the user's own: the Gauss–Kronrod rule of 7 and 15 nodes on
//! ever shorter intervals finds both integrals, and the extrema are searched between its nodes.

use crate::Statistic;
use saltus::problem::Quantities;
use saltus::{Side, Trajectory};

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
/// An interval is halved this often at most.
const DEPTH: u32 = 12;
/// Steps towards an extremum.
const REFINEMENTS: usize = 6;
/// Samples of an interval: its ends and the nodes.
const SAMPLES: usize = 17;

/// Statistics of some quantities, by their places, over a whole motion.
#[must_use]
pub fn statistics_of(motion: &Trajectory, quantities: &mut Quantities, chosen: &[usize]) -> Vec<Statistic> {
    let mut gatherer = Gatherer::new(chosen);
    gatherer.add(motion, quantities, f64::NEG_INFINITY);
    gatherer.finish()
}

/// Statistics in the making.
#[derive(Clone, Debug)]
pub(crate) struct Gatherer {
    chosen: Vec<usize>,
    found: Vec<Statistic>,
    time: f64,
}

impl Gatherer {
    pub fn new(chosen: &[usize]) -> Self {
        let empty = Statistic { min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, rms: 0.0 };
        Gatherer { chosen: chosen.to_vec(), found: vec![empty; chosen.len()], time: 0.0 }
    }

    /// Adds the part of a motion from a time on.
    pub fn add(&mut self, motion: &Trajectory, quantities: &mut Quantities, from: f64) {
        let Some((first, last)) = motion.span() else { return };
        let from = from.max(first);
        let inner = motion.pieces.starts().iter().chain(&motion.t).copied().filter(|t| *t > from && *t < last);
        let mut times: Vec<f64> = [from, last].into_iter().chain(inner).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let d = motion.dimension();
        let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
        let (mut left, mut right) = (motion.cursor(Side::Left), motion.cursor(Side::Right));
        let chosen = self.chosen.clone();
        for pair in times.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let mut read = |t: f64, out: &mut [f64]| {
                let cursor = if t >= b { &mut left } else { &mut right };
                if cursor.read(t, &mut q, &mut v).is_ok() {
                    let values = quantities.at(t, &q, &v);
                    out.iter_mut().zip(&chosen).for_each(|(out, &k)| *out = values[k]);
                }
            };
            self.interval(&mut read, a, b, DEPTH);
        }
        self.time += last - from;
    }

    /// Adds a piece of a motion from a to b; `read` gives the values at a time.
    pub fn piece(&mut self, read: &mut dyn FnMut(f64, &mut [f64]), a: f64, b: f64) {
        self.interval(read, a, b, DEPTH);
        self.time += b - a;
    }

    fn interval(&mut self, read: &mut dyn FnMut(f64, &mut [f64]), a: f64, b: f64, depth: u32) {
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
            read(time(k), &mut samples[k * n..(k + 1) * n]);
        }
        let sums = |i: usize| {
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
            let agrees =
                (mean - gauss[0]).abs() <= AGREEMENT * size && (square - gauss[1]).abs() <= AGREEMENT * size * size;
            (mean * half, square * half, agrees || !size.is_finite())
        };
        let found: Vec<(f64, f64, bool)> = (0..n).map(sums).collect();
        if depth > 0 && centre > a && centre < b && found.iter().any(|f| !f.2) {
            self.interval(read, a, centre, depth - 1);
            self.interval(read, centre, b, depth - 1);
            return;
        }
        for (i, (mean, square, _)) in found.into_iter().enumerate() {
            self.found[i].mean += mean;
            self.found[i].rms += square;
            let value = |k: usize| samples[k * n + i];
            let high = (0..SAMPLES).fold(0, |best, k| if value(k) > value(best) { k } else { best });
            let low = (0..SAMPLES).fold(0, |best, k| if value(k) < value(best) { k } else { best });
            for (best, sign) in [(high, 1.0), (low, -1.0)] {
                let known = if sign > 0.0 { self.found[i].max } else { -self.found[i].min };
                let mut top = sign * value(best);
                if best > 0 && best + 1 < SAMPLES {
                    let three = [best - 1, best, best + 1].map(|k| (time(k), sign * value(k)));
                    // A parabola rises above its highest sample by less than the samples differ.
                    if top + (top - three[0].1.min(three[2].1)) > known {
                        let mut all = vec![0.0; n];
                        top = refined(three, &mut |t| {
                            read(t, &mut all);
                            sign * all[i]
                        });
                    }
                }
                // (What is not a number stays so.)
                match sign > 0.0 {
                    true if !(top <= self.found[i].max) => self.found[i].max = top,
                    false if !(-top >= self.found[i].min) => self.found[i].min = -top,
                    _ => {}
                }
            }
        }
    }

    /// The statistics of everything added.
    pub fn finish(self) -> Vec<Statistic> {
        let time = self.time;
        let nothing = f64::NAN;
        let of = |s: Statistic| match time > 0.0 {
            true => Statistic { mean: s.mean / time, rms: (s.rms / time).max(0.0).sqrt(), ..s },
            false => Statistic { min: nothing, max: nothing, mean: nothing, rms: nothing },
        };
        self.found.into_iter().map(of).collect()
    }
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
