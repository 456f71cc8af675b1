//! Where motions are, and how far they extend.

use super::attractor::Rule;
use super::crew::{Crew, Piece, Track};
use super::hunt::PARTS;
use super::judge::{FAR, has_failed};
use crate::Outcome;
use serde::{Deserialize, Serialize};

/// Motions whose way within a period is looked at, and the phases at which that is done.
const SAMPLE: usize = 32;
const PHASES: u64 = 8;
/// What grows by less than this in a few periods does not escape.
const STAYS: f64 = 10.0;
/// Components of one kind extend at least by this share of the one that extends most,
const LEAST: f64 = 1e-4;
/// and of their own size: rounding is no motion.
const ROUNDED: f64 = 1e-7;

/// Where motions are, and how far from there they extend, in each component of a state (positions, then velocities).
///
/// What a coordinate is counted from does not matter, nor how far those go that escape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    pub centre: Vec<f64>,
    pub size: Vec<f64>,
}

impl Extent {
    /// From the starts, from where they lead in a few periods, and from how far they move within one; None if it was stopped.
    pub fn measured(crew: &Crew, tracks: &[Track], degrees: usize) -> Option<Self> {
        let outcomes = crew.follow(tracks, Piece { periods: PARTS, kept: 1 });
        if outcomes.len() < tracks.len() {
            return None;
        }
        let d = tracks.first()?.q.len();
        let mut ends: Vec<Vec<f64>> = vec![Vec::new(); 2 * d];
        for track in tracks {
            let state = track.q.iter().chain(&track.v);
            ends.iter_mut().zip(state).filter(|(_, x)| x.is_finite()).for_each(|(list, x)| list.push(*x));
        }
        let mut ends: Vec<(f64, f64)> = ends.iter().map(|list| ends_of(list, 0)).collect();
        // Those that do not escape.
        let begun = Extent::between(&ends);
        let most = |range: std::ops::Range<usize>| begun.size[range].iter().copied().fold(0.0, f64::max);
        let (reach, speed) = (most(0..degrees), most(d..d + degrees));
        let is_here = |i: usize, x: f64| {
            let reach = if i < degrees { reach } else { speed };
            let counts = i < degrees || (d..d + degrees).contains(&i);
            x.is_finite() && (!counts || reach == 0.0 || (x - begun.centre[i]).abs() <= FAR * reach)
        };
        let sound = outcomes.into_iter().filter(|o| o.status.is_ok() && !has_failed(o));
        let ended = sound.map(|o| Track { point: 0, q: o.q, v: o.v, periods: 1, sizes: Vec::new() });
        let is_inside = |t: &Track| t.q.iter().chain(&t.v).enumerate().all(|(i, x)| is_here(i, *x));
        let (mut there, left): (Vec<Track>, Vec<Track>) = ended.partition(is_inside);
        if there.len() < left.len() {
            // Starts beside one another say nothing of how far motions go: those that go no further in the same time again are where they belong.
            let size =
                |q: &[f64], v: &[f64]| q[..degrees].iter().chain(&v[..degrees]).fold(0.0_f64, |m, x| m.max(x.abs()));
            let again = crew.follow(&left, Piece { periods: PARTS, kept: 1 });
            let stays = |(before, after): &(&Track, &Outcome)| {
                after.status.is_ok()
                    && !has_failed(after)
                    && size(&after.q, &after.v) <= STAYS * size(&before.q, &before.v)
            };
            there.extend(left.iter().zip(&again).filter(stays).map(|(track, _)| track.clone()));
        }
        // The middle half of them: some may be on their way to infinity.
        for i in 0..2 * d {
            let list: Vec<f64> = there.iter().map(|t| if i < d { t.q[i] } else { t.v[i - d] }).collect();
            let (low, high) = ends_of(&list, list.len() / 4);
            ends[i] = (ends[i].0.min(low), ends[i].1.max(high));
        }
        let mut extent = Extent::between(&ends);
        let ways: Vec<Vec<f64>> = there
            .iter()
            .step_by((there.len() / SAMPLE).max(1))
            .map(|track| way(&crew.phases(track, PHASES), d))
            .filter(|way| way.len() == 2 * d)
            .collect();
        for (i, size) in extent.size.iter_mut().enumerate() {
            let list: Vec<f64> = ways.iter().map(|way| way[i]).collect();
            let (low, _) = ends_of(&list, list.len() / 2);
            *size = size.max(if low.is_finite() { low } else { 0.0 });
        }
        extent.fill(&ends, degrees);
        Some(extent)
    }

    fn between(ends: &[(f64, f64)]) -> Self {
        let is_range = |e: &(f64, f64)| e.0 <= e.1;
        Extent {
            centre: ends.iter().map(|e| if is_range(e) { f64::midpoint(e.0, e.1) } else { 0.0 }).collect(),
            size: ends.iter().map(|e| if is_range(e) { 0.5 * (e.1 - e.0) } else { 0.0 }).collect(),
        }
    }

    /// Gives every component a size.
    fn fill(&mut self, ends: &[(f64, f64)], degrees: usize) {
        let d = self.size.len() / 2;
        let kinds = [0..degrees, d..d + degrees].into_iter().chain((d + degrees..2 * d).map(|i| i..i + 1));
        for kind in kinds {
            let far = |e: &(f64, f64)| if e.0 <= e.1 { e.0.abs().max(e.1.abs()) } else { 0.0 };
            let far = ends[kind.clone()].iter().map(far).fold(0.0, f64::max);
            let most = self.size[kind.clone()].iter().copied().fold(0.0, f64::max);
            let least = (LEAST * most).max(ROUNDED * far);
            for size in &mut self.size[kind] {
                *size = if most > ROUNDED * far { size.max(least) } else { far };
            }
        }
        self.size.iter_mut().filter(|size| !(**size > 0.0)).for_each(|size| *size = 1.0);
    }

    /// How far a state is from where motions are, relative to how far they extend. (An angle goes nowhere, however often it turns.)
    pub fn far(&self, q: &[f64], v: &[f64], degrees: usize, rules: &[Rule]) -> f64 {
        let d = q.len();
        let part = |i: usize, x: f64| match (x - self.centre[i]).abs() {
            0.0 => 0.0,
            off => off / self.size[i],
        };
        let q = (0..degrees).filter(|&i| rules[i] != Rule::Turns).map(|i| part(i, q[i]));
        let v = (0..d).map(|i| part(d + i, v[i]));
        q.chain(v).fold(0.0, |m, x| if x <= m { m } else { x })
    }

    /// Whether velocities are none.
    pub fn is_still(&self, v: &[f64], degrees: usize) -> bool {
        let d = self.size.len() / 2;
        let fastest = self.size[d..d + degrees].iter().copied().fold(0.0, f64::max);
        v[..degrees].iter().all(|v| v.abs() <= 1e-7 * fastest)
    }
}

/// The ends of some numbers without so many of the least and the largest; an empty range if none is left.
fn ends_of(list: &[f64], without: usize) -> (f64, f64) {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    match list.get(without..list.len() - without) {
        Some([low, .., high]) => (*low, *high),
        Some([one]) => (*one, *one),
        _ => (f64::INFINITY, f64::NEG_INFINITY),
    }
}

/// Half the way of each component over rows of a time and a state.
fn way(rows: &[f64], dimension: usize) -> Vec<f64> {
    let width = 1 + 2 * dimension;
    if rows.len() < width {
        return Vec::new();
    }
    let component = |i: usize| rows.chunks_exact(width).map(move |row| row[1 + i]);
    let half = |i: usize| 0.5 * (component(i).fold(f64::MIN, f64::max) - component(i).fold(f64::MAX, f64::min));
    (0..2 * dimension).map(half).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_without_the_outermost() {
        assert_eq!(ends_of(&[3.0, 1.0, 2.0, 1e30], 1), (2.0, 3.0));
        assert_eq!(ends_of(&[3.0], 0), (3.0, 3.0));
        let (low, high) = ends_of(&[], 0);
        assert!(low > high);
    }

    #[test]
    fn what_a_coordinate_is_counted_from_does_not_matter() {
        let of = |offset: f64| {
            let ends = [(offset - 1.0, offset + 1.0), (offset, offset), (-2.0, 2.0), (0.0, 0.0)];
            let mut extent = Extent::between(&ends);
            extent.fill(&ends, 2);
            extent
        };
        assert_eq!(of(0.0).size, of(512.0).size);
        assert_eq!(of(0.0).size, [1.0, LEAST, 2.0, 2.0 * LEAST]);
        assert_eq!(of(512.0).far(&[514.0, 512.0], &[0.0, 0.0], 2, &[Rule::Plain; 4]), 2.0);
        // Rounding is no motion: what does not move is measured by where it is.
        let ends = [(5.0, 5.0 + 1e-14), (0.0, 0.0)];
        let mut extent = Extent::between(&ends);
        extent.fill(&ends, 1);
        assert!(extent.size[0] >= 5.0 && extent.size[1] == 1.0, "{extent:?}");
    }
}
