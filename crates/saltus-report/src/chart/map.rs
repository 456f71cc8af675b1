//! Maps: cells over two axes, whose values need be neither even nor in order.

use super::colours::{Rgb, Tint, scale_colour, sign_colour};
use super::range::range;

/// Cells over two axes.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// The centres of the cells.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// The values: those of the first y, then those of the second, and so on. NaN where there is none; the place of a class if
    /// there are classes.
    pub values: Vec<f64>,
    /// The classes with their colours; empty if values are numbers.
    pub classes: Vec<(String, Tint)>,
    /// What the values are.
    pub label: String,
    /// Whether each axis is logarithmic.
    pub log: (bool, bool),
    /// Whether the sign of the values matters: then colours part at zero.
    pub has_sign: bool,
}

/// The cells along an axis, from the least centre to the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The place of each in the map.
    pub order: Vec<usize>,
    /// Their edges, half-way between centres: one more than there are cells.
    pub edges: Vec<f64>,
    is_log: bool,
}

impl Cells {
    fn new(centres: &[f64], is_log: bool) -> Self {
        let mut order: Vec<usize> = (0..centres.len()).collect();
        order.sort_by(|a, b| centres[*a].total_cmp(&centres[*b]));
        let is_log = is_log && centres.iter().all(|c| *c > 0.0);
        let (to, from) = scales(is_log);
        let at: Vec<f64> = order.iter().map(|&k| to(centres[k])).collect();
        let between = at.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
        let (first, last) = match at.as_slice() {
            [] => (0.0, 1.0),
            [one] => (one - 0.5, one + 0.5),
            [a, b] => (a - 0.5 * (b - a), b + 0.5 * (b - a)),
            [a, b, .., c, d] => (a - 0.5 * (b - a), d + 0.5 * (d - c)),
            [a, b, c] => (a - 0.5 * (b - a), c + 0.5 * (c - b)),
        };
        let edges = std::iter::once(first).chain(between).chain([last]).map(from).collect();
        Cells { order, edges, is_log }
    }

    /// The ends of the axis.
    pub fn ends(&self) -> (f64, f64) {
        (self.edges[0], self.edges[self.edges.len() - 1])
    }

    /// Whether all cells are equally wide on the axis.
    pub fn are_even(&self) -> bool {
        let (to, _) = scales(self.is_log);
        let widths = || self.edges.windows(2).map(|pair| to(pair[1]) - to(pair[0]));
        let whole = to(self.ends().1) - to(self.ends().0);
        let mean = whole / self.order.len().max(1) as f64;
        // (A sixteenth of a cell cannot be seen.)
        widths().all(|w| (w - mean).abs() <= mean / 16.0 / self.order.len().max(1) as f64)
    }

    /// The places of the cells in the middle of each of `count` equal parts of the axis.
    pub fn sampled(&self, count: usize) -> Vec<usize> {
        let (to, from) = scales(self.is_log);
        let (low, high) = (to(self.ends().0), to(self.ends().1));
        let inner = &self.edges[1..self.edges.len() - 1];
        let cell = |p: usize| {
            let x = from(low + (high - low) * (p as f64 + 0.5) / count as f64);
            self.order[inner.partition_point(|edge| *edge <= x)]
        };
        if self.order.is_empty() { Vec::new() } else { (0..count).map(cell).collect() }
    }
}

type Scale = fn(f64) -> f64;

/// From values to places on an axis, and back.
fn scales(is_log: bool) -> (Scale, Scale) {
    if is_log { (f64::log10, |x| 10_f64.powf(x)) } else { (|x| x, |x| x) }
}

impl Map {
    /// The cells along both axes.
    pub fn cells(&self) -> (Cells, Cells) {
        (Cells::new(&self.x, self.log.0), Cells::new(&self.y, self.log.1))
    }

    /// The ends of the axes: half a cell beyond the least and the largest centre.
    pub fn extent(&self) -> ((f64, f64), (f64, f64)) {
        let (x, y) = self.cells();
        (x.ends(), y.ends())
    }

    /// The value of the cell at a place of each axis.
    pub fn value(&self, column: usize, row: usize) -> f64 {
        self.values.get(row * self.x.len() + column).copied().unwrap_or(f64::NAN)
    }

    /// Whether a cell has no value, which is white.
    pub fn has_gaps(&self) -> bool {
        self.values.iter().any(|v| !v.is_finite())
    }

    /// The least and the largest value.
    pub fn range(&self) -> (f64, f64) {
        range(&self.values).unwrap_or((f64::INFINITY, f64::NEG_INFINITY))
    }

    /// The colour of a value.
    pub fn colour(&self, value: f64, (low, high): (f64, f64)) -> Rgb {
        if !value.is_finite() {
            return Rgb(255, 255, 255);
        }
        match self.classes.get(value as usize).filter(|_| !self.classes.is_empty()) {
            Some((_, tint)) => tint.rgb(),
            None => number_colour(value, (low, high), self.has_sign),
        }
    }
}

/// The colour of a number in a range; with a sign, colours part at zero.
pub fn number_colour(value: f64, (low, high): (f64, f64), has_sign: bool) -> Rgb {
    if has_sign {
        // Each side has its own scale, so that a few small positive numbers are seen beside large negative ones.
        let side = |own: f64, other: f64| own.max(0.1 * other).max(f64::MIN_POSITIVE);
        let (below, above) = ((-low).max(0.0), high.max(0.0));
        return sign_colour(if value > 0.0 { value / side(above, below) } else { value / side(below, above) });
    }
    if high > low { scale_colour((value - low) / (high - low)) } else { scale_colour(0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_ends_half_a_cell_beyond_its_centres() {
        let map = Map { x: vec![0.0, 1.0, 2.0], y: vec![5.0], ..Map::default() };
        assert_eq!(map.extent(), ((-0.5, 2.5), (4.5, 5.5)));
        // The other way round, it is the same.
        assert_eq!(Map { x: vec![2.0, 1.0, 0.0], ..map }.extent().0, (-0.5, 2.5));
    }

    #[test]
    fn cells_lie_around_their_values() {
        let list = Cells::new(&[0.9, 0.3, 0.5], false);
        assert_eq!(list.order, [1, 2, 0]);
        let close = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&list.edges, &[0.2, 0.4, 0.7, 1.1]), "{list:?}");
        assert!(!list.are_even());
        // Nine equal parts: those around 0.3 and 0.5 are 2 and 3 wide.
        assert_eq!(list.sampled(9), [1, 1, 2, 2, 2, 0, 0, 0, 0]);
        let log = Cells::new(&[0.01, 0.1, 1.0], true);
        assert!(log.are_even());
        let half = 10_f64.sqrt();
        assert!(close(&log.edges, &[0.01 / half, 0.1 / half, 1.0 / half, half]), "{log:?}");
        assert_eq!(log.sampled(6), [0, 0, 1, 1, 2, 2]);
        assert!(Cells::new(&[0.1, 0.2, 0.3, 0.4], false).are_even());
    }

    #[test]
    fn colours_part_at_zero() {
        let map = Map { has_sign: true, ..Map::default() };
        let range = (-4.0, 0.5);
        let zero = map.colour(0.0, range);
        assert_ne!(zero, map.colour(f64::NAN, range));
        // Blue below, red above.
        let (below, above) = (map.colour(-2.0, range), map.colour(0.25, range));
        assert!(below.2 > below.0 && above.0 > above.2, "{below:?} {above:?}");
    }
}
