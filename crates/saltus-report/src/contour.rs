//! The zero set of a function of two variables, traced by marching squares: zeros on the edges of a grid, found by bisection,
//! joined to curves.

use crate::plane::Points;
use std::collections::HashMap;

/// A rectangle, divided into cells that are nearly squares.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    centre: [f64; 2],
    half: [f64; 2],
    cells: [usize; 2],
}

/// A curve on which a function vanishes.
#[derive(Clone, Debug)]
pub struct Contour {
    /// Its points.
    pub points: Vec<[f64; 2]>,
    /// Whether it returns to its first point.
    pub closed: bool,
}

impl Contour {
    /// Leaves out points that the shape does not need in a figure of this size.
    pub fn simplify(&mut self, size: f64) {
        let (x, y) = (self.channel(0), self.channel(1));
        let points = Points { channels: vec![&x, &y], sizes: vec![size, size], breaks: Vec::new() };
        self.points = points.drawn(usize::MAX).into_iter().map(|k| [x[k], y[k]]).collect();
    }

    /// The values of one coordinate.
    pub fn channel(&self, c: usize) -> Vec<f64> {
        self.points.iter().map(|p| p[c]).collect()
    }
}

/// An edge of the grid: that to the right of (horizontal) or above a corner.
type Edge = (usize, usize, bool);

impl Grid {
    /// A rectangle with this centre and half its width and height, with `cells` cells along its longer side.
    pub fn new(centre: [f64; 2], half: [f64; 2], cells: usize) -> Self {
        let longer = half[0].max(half[1]);
        let along = |half: f64| ((cells as f64 * half / longer).ceil() as usize).clamp(4, cells.max(4));
        Grid { centre, half, cells: half.map(along) }
    }

    /// Half the length of the longer side.
    pub fn size(&self) -> f64 {
        self.half[0].max(self.half[1])
    }

    fn place(&self, k: usize, axis: usize) -> f64 {
        self.centre[axis] + self.half[axis] * (2.0 * k as f64 / self.cells[axis] as f64 - 1.0)
    }
}

/// The curves on which a function vanishes. Where it is not a number, and at its jumps and poles, there is none.
pub fn contours(grid: &Grid, value: &mut dyn FnMut(f64, f64) -> f64) -> Vec<Contour> {
    let [n, m] = grid.cells;
    let corners: Vec<f64> =
        (0..(n + 1) * (m + 1)).map(|k| value(grid.place(k % (n + 1), 0), grid.place(k / (n + 1), 1))).collect();
    let corner = |i: usize, j: usize| corners[j * (n + 1) + i];
    let mut zeros: HashMap<Edge, [f64; 2]> = HashMap::new();
    for j in 0..=m {
        for i in 0..=n {
            for across in [true, false] {
                let (i2, j2) = if across { (i + 1, j) } else { (i, j + 1) };
                if i2 > n || j2 > m {
                    continue;
                }
                let (a, b) = ([grid.place(i, 0), grid.place(j, 1)], [grid.place(i2, 0), grid.place(j2, 1)]);
                let at = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
                if let Some(s) = zero(corner(i, j), corner(i2, j2), |s| value(at(s)[0], at(s)[1])) {
                    zeros.insert((i, j, across), at(s));
                }
            }
        }
    }
    let mut links: HashMap<Edge, Vec<Edge>> = HashMap::new();
    let mut join = |a: Edge, b: Edge| {
        if zeros.contains_key(&a) && zeros.contains_key(&b) {
            links.entry(a).or_default().push(b);
            links.entry(b).or_default().push(a);
        }
    };
    for j in 0..m {
        for i in 0..n {
            let edges = [(i, j, true), (i + 1, j, false), (i, j + 1, true), (i, j, false)];
            let signs = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)].map(|f| f < 0.0);
            let crossed: Vec<Edge> = (0..4).filter(|&k| signs[k] != signs[(k + 1) % 4]).map(|k| edges[k]).collect();
            match *crossed.as_slice() {
                [a, b] => join(a, b),
                [bottom, right, top, left] => {
                    // A saddle: the sign in the middle says which corners are joined.
                    let (x, y) = (grid.place(i, 0) + grid.place(i + 1, 0), grid.place(j, 1) + grid.place(j + 1, 1));
                    let pairs = match (value(0.5 * x, 0.5 * y) < 0.0) == signs[0] {
                        true => [(bottom, right), (top, left)],
                        false => [(bottom, left), (top, right)],
                    };
                    pairs.into_iter().for_each(|(a, b)| join(a, b));
                }
                _ => {}
            }
        }
    }
    trace(&zeros, &mut links)
}

/// Follows the links from zero to zero: first from the ends of open curves, then around closed ones.
fn trace(zeros: &HashMap<Edge, [f64; 2]>, links: &mut HashMap<Edge, Vec<Edge>>) -> Vec<Contour> {
    let mut starts: Vec<Edge> = links.keys().copied().collect();
    // In a fixed order, so that pages of the same run are identical.
    starts.sort_unstable_by_key(|edge| (links[edge].len() != 1, *edge));
    let mut curves = Vec::new();
    for start in starts {
        let mut curve = vec![start];
        let mut here = start;
        while let Some(next) = links.get_mut(&here).and_then(Vec::pop) {
            if let Some(back) = links.get_mut(&next)
                && let Some(k) = back.iter().position(|edge| *edge == here)
            {
                back.swap_remove(k);
            }
            curve.push(next);
            here = next;
        }
        if curve.len() > 1 {
            let closed = curve.len() > 3 && curve.first() == curve.last();
            curves.push(Contour { points: curve.iter().map(|edge| zeros[edge]).collect(), closed });
        }
    }
    curves
}

/// The place of a zero between the ends of an interval, 0 to 1, by bisection; None if there is no change of sign, or a jump or
/// a pole in place of a zero.
pub fn zero(first: f64, last: f64, mut value: impl FnMut(f64) -> f64) -> Option<f64> {
    if !(first.is_finite() && last.is_finite()) || (first < 0.0) == (last < 0.0) {
        return None;
    }
    let (mut low, mut high) = ((0.0, first), (1.0, last));
    for _ in 0..44 {
        let middle = 0.5 * (low.0 + high.0);
        let here = (middle, value(middle));
        if (here.1 < 0.0) == (first < 0.0) { low = here } else { high = here }
    }
    let left = low.1.abs().max(high.1.abs());
    (left <= 1e-3 * (first.abs() + last.abs())).then_some(0.5 * (low.0 + high.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { centre: [0.1, -0.05], half: [2.0, 2.0], cells: [160, 150] };

    fn length(curve: &Contour) -> f64 {
        curve.points.windows(2).map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1])).sum()
    }

    #[test]
    fn a_circle_is_one_closed_curve_of_its_length() {
        let curves = contours(&GRID, &mut |x, y| 1.0 - x.hypot(y));
        assert_eq!(curves.len(), 1);
        assert!(curves[0].closed);
        assert!(curves[0].points.iter().all(|p| (p[0].hypot(p[1]) - 1.0).abs() < 1e-10));
        assert!((length(&curves[0]) / std::f64::consts::TAU - 1.0).abs() < 1e-3);
    }

    #[test]
    fn lines_end_at_the_border_and_crossings_are_two_curves() {
        let line = contours(&GRID, &mut |x, _| x - 0.3);
        assert_eq!((line.len(), line[0].closed), (1, false));
        assert!((length(&line[0]) - 4.0).abs() < 1e-9);
        let cross = contours(&GRID, &mut |x, y| (x - 0.31) * (y - 0.22));
        assert!((cross.iter().map(length).sum::<f64>() - 8.0).abs() < 0.1);
    }

    #[test]
    fn jumps_poles_and_missing_values_are_no_curves() {
        for f in [|x: f64, _| if x < 0.3 { -1.0 } else { 1.0 }, |x, _| 1.0 / (x - 0.3), |x: f64, y: f64| y.atan2(x)] {
            let curves = contours(&GRID, &mut { f });
            // atan2 vanishes where y = 0 and x > 0, and jumps where x < 0.
            assert!(curves.iter().flat_map(|c| &c.points).all(|p| p[1].abs() < 1e-9 && p[0] > -1e-9), "{curves:?}");
        }
        let half = contours(&GRID, &mut |x, y| if y > 0.0 { 1.0 - x.hypot(y) } else { f64::NAN });
        assert!(
            half.iter().all(|c| !c.closed) && (half.iter().map(length).sum::<f64>() - std::f64::consts::PI).abs() < 0.1
        );
    }
}
