//! Starts on a grid: which are computed first, which lie near a boundary, how uncertain boundaries make a start.

use super::REFUSED;
use crate::Family;
use serde::{Deserialize, Serialize};

/// Starts that find the attractors before all others.
const SCOUTS: usize = 512;
/// Every how many starts in each direction a refinement begins with.
pub const COARSE: usize = 8;

/// The numbers of values of the two axes, if there are two: neighbours along the second follow each other.
pub fn shape(family: &Family) -> Option<(usize, usize)> {
    let points = family.points();
    let (row, all) = (points.row() as usize, points.len() as usize);
    (points.names().len() == 2 && row > 1 && all > row && row * (all / row) == all).then(|| (all / row, row))
}

/// Some of the points, spread over all of them.
pub fn scouts(total: usize) -> Vec<u32> {
    let count = total.min(SCOUTS);
    // Multiples of the golden ratio are spread evenly over rows and columns alike.
    let mut found: Vec<u32> =
        (0..count).map(|k| ((k as f64 * 0.618_033_988_749_894_9).fract() * total as f64) as u32).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Every so many-th start in each direction, and the last ones.
pub fn coarse(wide: usize, high: usize) -> Vec<u32> {
    let on = |n: usize| (0..n).filter(move |k| k % COARSE == 0 || k + 1 == n);
    on(wide).flat_map(|k| on(high).map(move |j| (k * high + j) as u32)).collect()
}

/// The starts of the next finer grid that lie between starts of different attractors; the others take that of their neighbours.
pub fn refined(wide: usize, high: usize, step: usize, labels: &mut [u16]) -> Vec<u32> {
    let on = |k: usize, n: usize, step: usize| k.is_multiple_of(step) || k + 1 == n;
    // The nearest places of the coarser grid below and above.
    let ends = |k: usize, n: usize| {
        let below = k / (2 * step) * (2 * step);
        (below, (below + 2 * step).min(n - 1))
    };
    // A start in the middle of a coarse cell is safe if that cell and all its neighbours are of one attractor.
    let before = labels.to_vec();
    let mut near = Vec::new();
    for k in (0..wide).filter(|&k| on(k, wide, step)) {
        for j in (0..high).filter(|&j| on(j, high, step)) {
            if on(k, wide, 2 * step) && on(j, high, 2 * step) {
                continue;
            }
            let ((left, right), (low, top)) = (ends(k, wide), ends(j, high));
            let span = 2 * step;
            let columns = [left.saturating_sub(span), left, right, (right + span).min(wide - 1)];
            let rows = [low.saturating_sub(span), low, top, (top + span).min(high - 1)];
            // (Ends of an axis that are no multiples are on every grid.)
            let snap = |k: usize, n: usize| if on(k, n, span) { k } else { k / span * span };
            let first = before[left * high + low];
            let all =
                columns.iter().all(|&c| rows.iter().all(|&r| before[snap(c, wide) * high + snap(r, high)] == first));
            match all {
                true => labels[k * high + j] = first,
                false => near.push((k * high + j) as u32),
            }
        }
    }
    near
}

/// Starts that were not computed and have a neighbour of another attractor.
pub fn beside(wide: usize, high: usize, labels: &[u16], computed: &[bool]) -> Vec<u32> {
    let differs = |k: usize, j: usize| {
        let here = labels[k * high + j];
        let (columns, rows) = (k.saturating_sub(1)..(k + 2).min(wide), j.saturating_sub(1)..(j + 2).min(high));
        columns.into_iter().any(|c| rows.clone().any(|r| labels[c * high + r] != here))
    };
    let open = (0..wide * high).filter(|&p| !computed[p] && differs(p / high, p % high));
    open.map(|p| p as u32).collect()
}

/// How the share of uncertain starts shrinks with the precision to which they are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The exponent: the share of starts with another attractor within ε is proportional to ε to this power; 1 for a smooth
    /// boundary, less for a fractal one, whose dimension is that of the space less the exponent.
    pub exponent: f64,
    /// Its standard error.
    pub error: f64,
    /// Distances, in steps of the grid, and shares of uncertain starts.
    pub shares: Vec<(u32, f64)>,
}

/// The uncertainty exponent of labels on a grid; None if there is no boundary, or the grid is too coarse.
pub fn uncertainty(labels: &[u16], (wide, high): (usize, usize)) -> Option<Uncertainty> {
    let most = wide.min(high) / 16;
    let mut shares = Vec::new();
    let mut distance = 1;
    while distance <= most.min(64) {
        let (mut pairs, mut differ) = (0u64, 0u64);
        let mut compare = |a: u16, b: u16| {
            if a != REFUSED && b != REFUSED {
                pairs += 1;
                differ += u64::from(a != b);
            }
        };
        for k in 0..wide {
            for j in 0..high {
                let here = labels[k * high + j];
                if k + distance < wide {
                    compare(here, labels[(k + distance) * high + j]);
                }
                if j + distance < high {
                    compare(here, labels[k * high + j + distance]);
                }
            }
        }
        if differ >= 50 {
            shares.push((distance as u32, differ as f64 / pairs as f64));
        }
        distance *= 2;
    }
    let (exponent, error) = slope(&shares.iter().map(|&(d, f)| (f64::from(d).ln(), f.ln())).collect::<Vec<_>>())?;
    Some(Uncertainty { exponent, error, shares })
}

/// The slope of a line through points, and its standard error; at least three are needed.
fn slope(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (xx, xy) = points.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - x).powi(2), b + (p.0 - x) * (p.1 - y)));
    let slope = xy / xx;
    let rest: f64 = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
    Some((slope, (rest / (n - 2.0) / xx).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_boundary_has_exponent_one_and_a_cantor_set_its_own() {
        let n = 729;
        let disc = |k: usize, j: usize| {
            let (x, y) = (k as f64 / n as f64 - 0.5, j as f64 / n as f64 - 0.5);
            u16::from(x * x + y * y < 0.1)
        };
        let labels: Vec<u16> = (0..n * n).map(|p| disc(p / n, p % n)).collect();
        let smooth = uncertainty(&labels, (n, n)).expect("a boundary");
        assert!((smooth.exponent - 1.0).abs() < 0.05, "{smooth:?}");
        // Stripes whose edges are the middle-thirds Cantor set: dimension ln 2/ln 3 across, exponent 1 − 0.631 = 0.369. The
        // label is whether the first digit 1 in base three comes after an even number of digits.
        let wide = 6561;
        let cantor = |k: usize| {
            let mut x = k as f64 / wide as f64;
            for digits in 0..9u16 {
                x *= 3.0;
                let digit = x.floor();
                x -= digit;
                if digit == 1.0 {
                    return digits % 2;
                }
            }
            0
        };
        let labels: Vec<u16> = (0..wide * 1100).map(|p| cantor(p / 1100)).collect();
        let fractal = uncertainty(&labels, (wide, 1100)).expect("a boundary");
        let exact = 1.0 - 2f64.ln() / 3f64.ln();
        assert!((fractal.exponent - exact).abs() < 0.08, "{fractal:?}, {exact}");
    }

    #[test]
    fn a_refinement_computes_what_is_near_boundaries_and_nothing_is_lost() {
        let (wide, high) = (101, 77);
        let truth = |p: usize| u16::from((p / high) as f64 * 0.8 + ((p % high) as f64 * 0.11).sin() * 9.0 > 40.0);
        let mut labels = vec![u16::MAX - 1; wide * high];
        let mut count = 0;
        let mut compute = |points: Vec<u32>, labels: &mut [u16]| {
            count += points.len();
            points.into_iter().for_each(|p| labels[p as usize] = truth(p as usize));
        };
        compute(coarse(wide, high), &mut labels);
        let mut step = COARSE;
        while step > 1 {
            step /= 2;
            let next = refined(wide, high, step, &mut labels);
            compute(next, &mut labels);
        }
        assert!((0..wide * high).all(|p| labels[p] == truth(p)));
        // A line that the coarse grid meets in one place is found along its whole length.
        let line = |p: usize| u16::from(p / high == 3 && p % high > 10);
        let (mut labels, mut known) = (vec![0; wide * high], vec![false; wide * high]);
        (labels[3 * high + 40], known[3 * high + 40]) = (1, true);
        loop {
            let next = beside(wide, high, &labels, &known);
            if next.is_empty() {
                break;
            }
            next.into_iter().for_each(|p| (labels[p as usize], known[p as usize]) = (line(p as usize), true));
        }
        assert!((0..wide * high).all(|p| labels[p] == line(p)));
        assert!(count < wide * high / 2, "{count} of {}", wide * high);
    }

    #[test]
    fn scouts_are_everywhere() {
        let found = scouts(1_000_000);
        assert!(found.len() > 500);
        let largest = found.windows(2).map(|p| p[1] - p[0]).max().unwrap_or(0);
        assert!(largest < 4000, "{largest}");
    }
}
