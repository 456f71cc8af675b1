//! Whether a motion is chaotic: how fast neighbours part, and which states it visits.

use super::crew::{Crew, Piece, Track};
use super::judge::Returns;

/// Pairs of neighbours that are followed,
const PAIRS: usize = 32;
/// for so many periods each, after some in which they forget where they began.
const STEPS: usize = 80;
/// See `STEPS`.
const FORGET: usize = 20;
/// Pairs of which half must have parted by a factor before all are followed.
const PREVIEW: usize = 6;
/// See `PREVIEW`.
const PARTED: f64 = 10.0;
/// Neighbours whose periods differ part too, in proportion to the time: by less than this, as a logarithm, in `STEPS` periods after `FORGET`.
const SHEAR: f64 = 3.0;
/// How far apart neighbours are put, relative to the extent of all motions.
const APART: f64 = 1e-7;
/// Copies of a motion whose states are a sample of what it visits.
const COPIES: usize = 64;
/// Periods for which they are followed, and those that are kept.
const SAMPLE: Piece = Piece { periods: 600, kept: 500 };

/// A sequence of numbers in [−1, 1] that is always the same.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A track moved by a random vector of some size, relative to the extent.
pub fn moved(track: &Track, by: f64, degrees: usize, extent: &[f64], dice: &mut Dice) -> Track {
    let mut other = track.clone();
    let d = other.q.len();
    (0..degrees).for_each(|i| other.q[i] += by * extent[i] * dice.next());
    (0..d).for_each(|i| other.v[i] += by * extent[d + i] * dice.next());
    other
}

/// Whether neighbours part at all: a few pairs, followed once. What takes longer than this to part by a factor is not told from what does
/// not by all the pairs of [`exponent`] either.
fn part_at_all(crew: &Crew, track: &Track, degrees: usize, extent: &[f64]) -> Option<bool> {
    let mut dice = Dice(5);
    let begun: Vec<Track> =
        (0..PREVIEW).flat_map(|_| [track.clone(), moved(track, APART, degrees, extent, &mut dice)]).collect();
    let outcomes = crew.follow(&begun, Piece { periods: (FORGET + STEPS) as u64, kept: 1 });
    if outcomes.len() < begun.len() {
        return None;
    }
    if outcomes.iter().any(|outcome| outcome.status.is_err()) {
        return Some(true);
    }
    let ended: Vec<Track> = begun.iter().zip(outcomes).map(|(t, o)| Track { q: o.q, v: o.v, ..t.clone() }).collect();
    let apart = |all: &[Track]| -> Vec<f64> {
        all.chunks_exact(2).map(|pair| between(&pair[0], &pair[1], degrees, extent)).collect()
    };
    let grown = apart(&begun).iter().zip(apart(&ended)).filter(|(a, b)| *b > PARTED * *a).count();
    Some(2 * grown >= PREVIEW)
}

/// How far two tracks are apart, relative to the extent of all motions.
fn between(a: &Track, b: &Track, degrees: usize, extent: &[f64]) -> f64 {
    let d = a.q.len();
    let q = (0..degrees).map(|i| (a.q[i] - b.q[i], extent[i]));
    let v = (0..d).map(|i| (a.v[i] - b.v[i], extent[d + i]));
    q.chain(v).map(|(x, e)| if x == 0.0 { 0.0 } else { (x / e).powi(2) }).sum::<f64>().sqrt()
}

/// The rate at which neighbours part, per period, with its standard error; None if they could not be followed, and zero if they do
/// not part.
pub fn exponent(crew: &Crew, track: &Track, degrees: usize, extent: &[f64]) -> Option<(f64, f64)> {
    if !part_at_all(crew, track, degrees, extent)? {
        return Some((0.0, 0.0));
    }
    let d = track.q.len();
    let mut dice = Dice(7);
    // Different parts of the motion: copies that start a little apart and are followed until they are far apart.
    let mut tracks: Vec<Track> = (0..PAIRS).map(|_| moved(track, 1e-5, degrees, extent, &mut dice)).collect();
    let outcomes = crew.follow(&tracks, Piece { periods: 150, kept: 1 });
    for (track, outcome) in tracks.iter_mut().zip(outcomes) {
        if outcome.status.is_ok() {
            (track.q, track.v) = (outcome.q, outcome.v);
        }
    }
    let mut pairs: Vec<Track> =
        tracks.iter().flat_map(|t| [t.clone(), moved(t, APART, degrees, extent, &mut dice)]).collect();
    let mut sums = vec![(0.0, 0u32); PAIRS];
    let part = |a: &Track, b: &Track| between(a, b, degrees, extent);
    for step in 0..FORGET + STEPS {
        let before: Vec<f64> = pairs.chunks_exact(2).map(|p| part(&p[0], &p[1])).collect();
        let outcomes = crew.follow(&pairs, Piece { periods: 1, kept: 1 });
        if outcomes.len() < pairs.len() {
            return None;
        }
        for (track, outcome) in pairs.iter_mut().zip(outcomes) {
            if outcome.status.is_ok() {
                (track.q, track.v) = (outcome.q, outcome.v);
            }
        }
        for (k, pair) in pairs.chunks_exact_mut(2).enumerate() {
            let far = part(&pair[0], &pair[1]);
            // (One of them has just hit, the other not yet: they are put together again.)
            let is_good = far > 0.0 && far < 1e-2 && before[k] > 0.0;
            if is_good && step >= FORGET {
                sums[k].0 += (far / before[k]).ln();
                sums[k].1 += 1;
            }
            let shrink = if is_good { APART / far } else { 0.0 };
            let (one, other) = pair.split_at_mut(1);
            let (one, other) = (&one[0], &mut other[0]);
            for i in 0..d {
                other.q[i] = one.q[i] + (other.q[i] - one.q[i]) * shrink;
                other.v[i] = one.v[i] + (other.v[i] - one.v[i]) * shrink;
            }
            if !is_good {
                *other = moved(one, APART, degrees, extent, &mut dice);
            }
        }
    }
    let rates: Vec<f64> = sums.iter().filter(|s| s.1 > 10).map(|s| s.0 / f64::from(s.1)).collect();
    let n = rates.len() as f64;
    if rates.len() < 4 {
        return None;
    }
    let mean = rates.iter().sum::<f64>() / n;
    let spread = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean, (spread / n).sqrt()))
}

/// Whether a rate with its error is that of chaos: positive, and faster than what grows with the time alone.
pub fn is_chaos(rate: f64, error: f64) -> bool {
    rate > 3.0 * error && rate * STEPS as f64 > SHEAR
}

/// States that a motion visits.
pub fn visited(crew: &Crew, track: &Track, degrees: usize, extent: &[f64], by_section: bool) -> Vec<Vec<f64>> {
    let mut dice = Dice(11);
    let copies: Vec<Track> = (0..COPIES).map(|_| moved(track, 1e-6, degrees, extent, &mut dice)).collect();
    let mut states = Vec::new();
    for outcome in crew.follow(&copies, SAMPLE) {
        let returns = Returns::of(&outcome, track.q.len(), by_section);
        states.extend(returns.states.iter().map(|state| state.to_vec()));
    }
    states
}
