//! Points of two quantities: what a family of motions does over a parameter.

use super::label::name;
use super::layout::{self, Arrangement, Columns};
use super::panel::{AxisLabel, Layer, MAX_STYLES, Panel, Plot};
use super::pictures::Figure;
use super::sheet::Text;
use std::collections::HashSet;

/// Cells of a figure in each direction: points that fall into one are one dot.
const CELLS: f64 = 2500.0;

/// Points of two quantities, in groups that differ in colour.
pub struct Scatter<'a> {
    /// The title.
    pub title: &'a str,
    /// The quantity of the horizontal axis, and its unit.
    pub x: (&'a str, &'a str),
    /// That of the vertical axis.
    pub y: (&'a str, &'a str),
    /// The groups with their names.
    pub groups: Vec<(String, Vec<(f64, f64)>)>,
}

/// Draws points. An error if there is none.
pub fn scatter(data: &Scatter, columns: Columns) -> Result<Figure, String> {
    let finite = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let all = || data.groups.iter().flat_map(|(_, points)| points.iter().filter(finite));
    let range = |of: fn(&(f64, f64)) -> f64| {
        all().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let (xs, ys) = (range(|p| p.0), range(|p| p.1));
    let count = all().count();
    if count == 0 {
        return Err("there are no points to draw".into());
    }
    let cell = |x: f64, (low, high): (f64, f64)| {
        if high > low { (CELLS * (x - low) / (high - low)) as u32 } else { 0 }
    };
    let mut shown = 0;
    let mut layers = Vec::new();
    for (k, (group, points)) in data.groups.iter().enumerate() {
        let mut seen = HashSet::new();
        let kept: Vec<(f64, f64)> =
            points.iter().filter(finite).filter(|p| seen.insert((cell(p.0, xs), cell(p.1, ys)))).copied().collect();
        shown += kept.len();
        layers.push(Layer {
            name: Text::plain(group),
            key: group.clone(),
            style: k % MAX_STYLES,
            plot: Plot::Dots(kept),
        });
    }
    let label = |(text, unit): (&str, &str)| {
        let (stem, prime) = text.strip_suffix('\'').map_or((text, false), |stem| (stem, true));
        // A word, or an expression, stays as it is.
        let is_name = stem.chars().count() <= 2 || stem.contains('[') || !stem.is_ascii();
        let name = if is_name { name(stem, prime) } else { Text::plain(text) };
        AxisLabel { name, unit: unit.to_string() }
    };
    let panel = Panel {
        x: label(data.x),
        y: label(data.y),
        span: (xs.1 > xs.0).then_some(xs),
        legend: layers.len() > 1,
        layers,
        ..Panel::default()
    };
    let sheet = layout::sheet(data.title, &[panel], columns, Arrangement::Separate);
    let notes = match shown < count {
        true => vec![format!("{shown} dots stand for {count} points, which coincide at this size")],
        false => Vec::new(),
    };
    Ok(Figure { sheet, notes })
}
