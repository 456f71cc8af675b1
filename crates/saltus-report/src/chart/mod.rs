//! Charts of families of motions as plain data: dots over a parameter, points in a plane, maps. Drawn for papers
//! ([`crate::paper::chart`]) and on pages ([`crate::atlas`]).

mod colours;
mod map;
mod range;

pub use colours::{Rgb, Tint, dot_colour, scale_colour};
pub use map::{Cells, Map, number_colour};
pub use range::{coincide, padded, range, roomy};

/// A chart: panes below each other.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// What is to be said about it, below.
    pub caption: String,
    /// The panes; if there are several, they share the horizontal axis.
    pub panes: Vec<Pane>,
    /// The ends of the horizontal axis, where it is longer than its dots; that of maps follows from their cells.
    pub ends: Option<(f64, f64)>,
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

    /// The range of the horizontal axis, the same for all panes; None if there is nothing in them.
    pub fn across(&self) -> Option<(f64, f64)> {
        let floor = if self.is_plane() { range(self.panes.iter().flat_map(Pane::ys)).map_or(0.0, size) } else { 0.0 };
        let ends = self.ends.map_or([f64::NAN; 2], |(a, b)| [a, b]);
        Some(roomy(range(self.panes.iter().flat_map(Pane::xs).chain(&ends))?, floor))
    }

    /// The range of the vertical axis of a pane; None if there is nothing in it.
    pub fn up(&self, pane: &Pane) -> Option<(f64, f64)> {
        let floor = if self.is_plane() { range(pane.xs()).map_or(0.0, size) } else { 0.0 };
        let zero = if pane.has_zero { 0.0 } else { f64::NAN };
        range(pane.ys())?;
        Some(roomy(range(pane.ys().chain([&zero]))?, floor))
    }

    /// Whether the first pane has a group of this name.
    pub fn listed(&self, name: &str) -> bool {
        self.panes.first().is_some_and(|p| p.dots.iter().any(|d| d.name == name))
    }

    /// Whether both axes are quantities of a motion: a section.
    fn is_plane(&self) -> bool {
        self.panes.len() == 1 && self.ends.is_none()
    }
}

fn size((low, high): (f64, f64)) -> f64 {
    low.abs().max(high.abs())
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
    /// The height at which infinity is shown, above all numbers.
    pub infinity: Option<f64>,
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

impl Pane {
    /// All horizontal coordinates: of dots, lines and marks.
    pub fn xs(&self) -> impl Iterator<Item = &f64> {
        let lines = self.lines.iter().flat_map(|l| &l.x).chain(self.marks.iter().flat_map(|m| &m.x));
        self.dots.iter().flat_map(|d| &d.x).chain(lines)
    }

    /// All vertical coordinates.
    pub fn ys(&self) -> impl Iterator<Item = &f64> {
        let lines = self.lines.iter().flat_map(|l| &l.y).chain(self.marks.iter().flat_map(|m| &m.y));
        self.dots.iter().flat_map(|d| &d.y).chain(lines)
    }

    /// Whether each axis is logarithmic.
    pub fn log(&self) -> (bool, bool) {
        self.map.as_ref().map_or((self.is_log, false), |map| map.log)
    }
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
    /// Whether they are rings, through which others are seen.
    pub are_open: bool,
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

/// How a point of a chart is run again.
#[derive(Clone, Debug, Default)]
pub struct Rerun {
    /// The command, with `{key}`, `{x}` and `{y}` for the number of a dot and the values of the axes; empty if there is none.
    pub command: String,
    /// For maps whose cells have numbers: how much the number grows from a column to the next; it grows by one from a row to
    /// the next.
    pub stride: Option<usize>,
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
    fn panes_share_the_whole_axis() {
        let pane = |x: &[f64], y: &[f64]| Pane {
            dots: vec![Dots { x: x.to_vec(), y: y.to_vec(), ..Dots::default() }],
            ..Pane::default()
        };
        let panes = vec![pane(&[3.0, 5.0], &[1.0, 1.0 + 1e-13]), pane(&[2.0, f64::NAN], &[-2.0, 7.0])];
        let mut chart = Chart { panes, ..Chart::default() };
        assert_eq!(chart.across(), Some((2.0, 5.0)));
        chart.ends = Some((1.0, 4.0));
        assert_eq!(chart.across(), Some((1.0, 5.0)));
        // Values that differ by rounding errors are one value.
        let (low, high) = chart.up(&chart.panes[0]).expect("dots");
        assert!(low < 0.95 && high > 1.05 && low > 0.5, "{low} {high}");
        assert_eq!(chart.up(&Pane::default()), None);
    }
}
