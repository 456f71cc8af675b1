//! Charts of families of motions as plain data: dots over a parameter, points in a plane, maps. Drawn for papers
//! ([`crate::paper::chart`]) and on pages ([`crate::atlas`]).

mod colours;

pub use colours::{Rgb, Tint, dot_colour, scale_colour};

/// A chart: panes below each other.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// What is to be said about it, below.
    pub caption: String,
    /// The panes; if there are several, they share the horizontal axis.
    pub panes: Vec<Pane>,
    /// How a point of it is run again.
    pub rerun: Rerun,
    /// Whether the panes stand side by side, each with axes of its own.
    pub is_grid: bool,
}

impl Chart {
    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        let finite = |d: &Dots| d.x.iter().zip(&d.y).any(|(x, y)| x.is_finite() && y.is_finite());
        !self.panes.first().is_some_and(|p| p.map.is_some() || !p.lines.is_empty() || p.dots.iter().any(finite))
    }
}

/// A quantity of an axis.
#[derive(Clone, Debug, Default)]
pub struct Quantity {
    /// Its name.
    pub name: String,
    /// Its unit; may be empty.
    pub unit: String,
}

impl Quantity {
    /// A quantity.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Quantity { name: name.into(), unit: unit.into() }
    }
}

/// A pane: a pair of axes with what is drawn in it.
#[derive(Clone, Debug, Default)]
pub struct Pane {
    /// The horizontal axis.
    pub x: Quantity,
    /// The vertical axis.
    pub y: Quantity,
    /// Whether the horizontal axis is logarithmic.
    pub is_log: bool,
    /// Words above it; may be empty.
    pub heading: String,
    /// Whether it is a low band below the main pane.
    pub is_band: bool,
    /// Whether the vertical axis includes zero.
    pub has_zero: bool,
    /// Groups of dots.
    pub dots: Vec<Dots>,
    /// Lines, above the dots.
    pub lines: Vec<Line>,
    /// Marks, above the lines.
    pub marks: Vec<Mark>,
    /// Intervals of the horizontal axis with a word each, shown above the pane where there is room.
    pub spans: Vec<Span>,
    /// A map.
    pub map: Option<Map>,
}

/// Dots of one colour.
#[derive(Clone, Debug, Default)]
pub struct Dots {
    /// The name of the group; empty if there is only one.
    pub name: String,
    /// The number of its colour.
    pub colour: usize,
    /// Where they are.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// A number of each for [`Rerun`]: a trajectory, or a time.
    pub key: Vec<f64>,
    /// Whether they are marks on a map.
    pub are_marks: bool,
}

/// A line through points; a place that is no number breaks it.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its name; lines of one name have one entry in the legend, and none if it is empty.
    pub name: String,
    /// The number of its colour.
    pub colour: usize,
    /// Whether it is dashed.
    pub is_dashed: bool,
    /// Whether it is thin and grey, such as an axis.
    pub is_faint: bool,
    /// Where it goes.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// What a page shows at its points.
    pub notes: Vec<String>,
}

/// Marks of one kind.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// Their name.
    pub name: String,
    /// The number of their shape: a disc, a square, a triangle, a diamond, a ring, a cross, a triangle upside down.
    pub shape: usize,
    /// Where they are.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// What a page shows at each.
    pub notes: Vec<String>,
}

/// An interval with a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// The word.
    pub word: String,
}

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
}

/// How a point of a chart is run again.
#[derive(Clone, Debug, Default)]
pub struct Rerun {
    /// The command, with `{key}`, `{x}` and `{y}` for the number of a dot and the values of the axes; empty if there is none.
    pub command: String,
    /// For maps whose cells have numbers: how much the number grows from a column to the next; it grows by one from a row to
    /// the next.
    pub stride: Option<usize>,
}

impl Map {
    /// The ends of the axes: half a cell beyond the first and last centres.
    pub fn extent(&self) -> ((f64, f64), (f64, f64)) {
        let ends = |c: &[f64]| match c {
            [] => (0.0, 1.0),
            [one] => (one - 0.5, one + 0.5),
            c => {
                let n = c.len();
                (c[0] - 0.5 * (c[1] - c[0]), c[n - 1] + 0.5 * (c[n - 1] - c[n - 2]))
            }
        };
        (ends(&self.x), ends(&self.y))
    }

    /// The least and the largest value.
    pub fn range(&self) -> (f64, f64) {
        let finite = self.values.iter().copied().filter(|x| x.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
    }

    /// The colour of a value.
    pub fn colour(&self, value: f64, (low, high): (f64, f64)) -> Rgb {
        if !value.is_finite() {
            return Rgb(255, 255, 255);
        }
        match self.classes.get(value as usize) {
            Some((_, tint)) => tint.rgb(),
            None if high > low => scale_colour((value - low) / (high - low)),
            None => scale_colour(0.5),
        }
    }
}

/// Thins points: of those that fall into one cell of a grid as fine as the limit allows, one is kept. Returns their places.
pub fn thinned(x: &[f64], y: &[f64], limit: usize) -> Vec<usize> {
    let finite: Vec<usize> = (0..x.len()).filter(|&k| x[k].is_finite() && y[k].is_finite()).collect();
    if finite.len() <= limit {
        return finite;
    }
    // The finest of these grids that keeps few enough: structure is lost evenly, below what a cell shows.
    let sizes = [16384.0, 8192.0, 4096.0, 2048.0, 1024.0];
    let kept = sizes.into_iter().map(|size| distinct(x, y, size)).find(|kept| kept.len() <= limit);
    kept.unwrap_or_else(|| distinct(x, y, 512.0))
}

/// One point of each cell of a grid, `size` in each direction over all points; those that are no numbers are left out.
pub fn distinct(x: &[f64], y: &[f64], size: f64) -> Vec<usize> {
    let finite = || (0..x.len()).filter(|&k| x[k].is_finite() && y[k].is_finite());
    let range =
        |v: &[f64]| finite().map(|k| v[k]).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let (xs, ys) = (range(x), range(y));
    let cell = |v: f64, (low, high): (f64, f64)| if high > low { ((v - low) / (high - low) * size) as u64 } else { 0 };
    let mut seen = std::collections::HashSet::new();
    finite().filter(|&k| seen.insert(cell(x[k], xs) << 32 | cell(y[k], ys))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_shape_of_a_cloud() {
        let n = 200_000;
        let angle = |k: usize| k as f64 * 0.618_033_988_749;
        let x: Vec<f64> = (0..n).map(|k| (angle(k) * std::f64::consts::TAU).cos()).collect();
        let y: Vec<f64> = (0..n).map(|k| (angle(k) * std::f64::consts::TAU).sin()).collect();
        let kept = thinned(&x, &y, 20_000);
        assert!(kept.len() > 4000 && kept.len() <= 20_000, "{}", kept.len());
        // Every point that was left out has a neighbour that was kept.
        for k in (0..n).step_by(977) {
            let near = kept.iter().any(|&j| (x[j] - x[k]).abs() < 4e-3 && (y[j] - y[k]).abs() < 4e-3);
            assert!(near, "{}, {}", x[k], y[k]);
        }
        assert_eq!(thinned(&[1.0, f64::NAN, 2.0], &[1.0, 1.0, 2.0], 5), [0, 2]);
    }

    #[test]
    fn a_map_ends_half_a_cell_beyond_its_centres() {
        let map = Map { x: vec![0.0, 1.0, 2.0], y: vec![5.0], ..Map::default() };
        assert_eq!(map.extent(), ((-0.5, 2.5), (4.5, 5.5)));
    }
}
