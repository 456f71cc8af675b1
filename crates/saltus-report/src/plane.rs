//! Curves in a plane or in space: points that lie on a straight line between others are left out.
//!
//! Thinning by intervals of time keeps the extrema of a curve over time, but makes polygons of the loops of an orbit. Here the
//! shape is kept (Ramer, Douglas and Peucker), and if a curve is too long, its first part is left out.

/// Deviations that cannot be seen, as shares of the size of the figure, from the one preferred to the largest accepted.
const TOLERANCES: [f64; 3] = [1.0 / 2500.0, 1.0 / 1200.0, 1.0 / 600.0];
/// Points are simplified in runs of this length, which bounds the time taken.
const RUN: usize = 256;

/// A curve with several channels, given as points in order.
pub struct Points<'a> {
    /// The values, one slice per channel.
    pub channels: Vec<&'a [f64]>,
    /// The size of the figure in each channel.
    pub sizes: Vec<f64>,
    /// The indices at which a new piece of the curve begins, in order, without the first.
    pub breaks: Vec<usize>,
}

impl Points<'_> {
    /// The pieces of the curve as ranges of indices.
    fn pieces(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let n = self.channels.first().map_or(0, |c| c.len());
        let starts = std::iter::once(0).chain(self.breaks.iter().copied());
        starts.zip(self.breaks.iter().copied().chain([n])).filter(|(a, b)| a < b)
    }

    /// The indices of the points that are drawn, in order: those that the shape needs, but the last `max` at most.
    pub fn drawn(&self, max: usize) -> Vec<usize> {
        let mut kept = Vec::new();
        for tolerance in TOLERANCES {
            kept = self.simplified(tolerance);
            if kept.len() <= max {
                return kept;
            }
        }
        kept.split_off(kept.len() - max)
    }

    fn simplified(&self, tolerance: f64) -> Vec<usize> {
        let mut kept = Vec::new();
        for (start, end) in self.pieces() {
            let mut from = start;
            while from + 1 < end {
                let to = (from + RUN).min(end - 1);
                self.simplify(from, to, tolerance, &mut kept);
                from = to;
            }
            kept.push(end - 1);
        }
        kept
    }

    /// Adds the first point of a run and those inside it that are needed.
    fn simplify(&self, first: usize, last: usize, tolerance: f64, kept: &mut Vec<usize>) {
        let mut pending = vec![(first, last)];
        while let Some((a, b)) = pending.pop() {
            let distances = (a + 1..b).map(|k| (k, self.distance(k, a, b)));
            // A point that is not a number is kept.
            let far = distances.max_by(|x, y| x.1.total_cmp(&y.1)).filter(|(_, far)| !(*far <= tolerance));
            match far {
                // The first half is handled first.
                Some((k, _)) => pending.extend([(k, b), (a, k)]),
                None => kept.push(a),
            }
        }
    }

    /// The distance of point k from the segment between two points, as a share of the size of the figure.
    fn distance(&self, k: usize, a: usize, b: usize) -> f64 {
        let (mut along, mut length) = (0.0, 0.0);
        for (x, size) in self.channels.iter().zip(&self.sizes) {
            let side = (x[b] - x[a]) / size;
            along += side * (x[k] - x[a]) / size;
            length += side * side;
        }
        let s = if length > 0.0 { (along / length).clamp(0.0, 1.0) } else { 0.0 };
        let far = self.channels.iter().zip(&self.sizes).map(|(x, size)| (x[a] + s * (x[b] - x[a]) - x[k]) / size);
        far.map(|x| x * x).sum::<f64>().sqrt()
    }
}

/// The difference of the largest and the smallest finite value; one if there is none.
pub fn size(values: &[f64]) -> f64 {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let size = finite().fold(f64::NEG_INFINITY, f64::max) - finite().fold(f64::INFINITY, f64::min);
    if size > 0.0 && size.is_finite() { size } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_stay_round_and_long_curves_lose_their_first_part() {
        let angle = |k: usize| 0.002 * k as f64;
        let x: Vec<f64> = (0..100_000).map(|k| angle(k).cos()).collect();
        let y: Vec<f64> = (0..100_000).map(|k| angle(k).sin()).collect();
        let points = Points { channels: vec![&x, &y], sizes: vec![2.0, 2.0], breaks: vec![50_000] };
        let all = points.drawn(10_000);
        assert!(all.len() < 3_500, "{}", all.len());
        assert!(all.contains(&0) && all.contains(&49_999) && all.contains(&50_000) && all.contains(&99_999));
        for max in [10_000, 1_000] {
            let kept = points.drawn(max);
            assert!(kept.len() <= max && kept.last() == Some(&99_999));
            for pair in kept.windows(2).filter(|pair| pair[1] != 50_000) {
                let middle = (0.5 * (x[pair[0]] + x[pair[1]])).hypot(0.5 * (y[pair[0]] + y[pair[1]]));
                assert!(middle > 1.0 - 2.0 / 600.0, "{pair:?}: {middle}");
            }
        }
    }
}
