//! Charts for papers.

use super::label::name;
use super::layout::{self, Arrangement, Columns};
use super::panel::{AxisLabel, Layer, MAX_STYLES, Panel, Plot};
use super::pictures::Figure;
use super::raster::Raster;
use super::sheet::{Colour, Text};
use crate::chart::{Chart, Map, Pane, Quantity, Rgb, Tint, distinct};
use std::sync::Arc;

/// Cells of a figure in each direction: points that fall into one are one dot.
const CELLS: f64 = 4000.0;
/// The heights of the main pane and of a band, as shares of the usual one.
const MAIN: f64 = 1.45;
/// See `MAIN`.
const BAND: f64 = 0.64;
/// The height of maps and planes, as a share of their width.
const PLANE: f64 = 0.78;

/// Draws a chart. An error if there is nothing to draw.
pub fn chart(data: &Chart, columns: Columns) -> Result<Figure, String> {
    let mut panels = Vec::new();
    for pane in &data.panes {
        let count: usize = pane.dots.iter().map(|d| d.x.len()).sum();
        let mut shown = 0;
        // (The first is on top.)
        let mut layers = drawn(pane);
        for dots in &pane.dots {
            let kept = distinct(&dots.x, &dots.y, CELLS);
            shown += kept.len();
            layers.push(Layer {
                name: Text::plain(&dots.name),
                key: dots.name.clone(),
                style: dots.colour % MAX_STYLES,
                plot: match (dots.are_marks, kept.into_iter().map(|k| (dots.x[k], dots.y[k])).collect()) {
                    (true, points) => Plot::Points(points),
                    (false, points) => Plot::Dots(points),
                },
            });
        }
        layers.extend(pane.map.iter().flat_map(of_map));
        if layers.is_empty() || (count > 0 && shown == 0) {
            return Err("there are no points to draw".into());
        }
        panels.push(panel(pane, layers, if data.is_grid { 1 } else { data.panes.len() }));
    }
    if panels.is_empty() {
        return Err("there are no points to draw".into());
    }
    let arrangement = match (data.is_grid, panels.len() > 1) {
        (true, _) => Arrangement::Grid,
        (false, true) => Arrangement::Stacked,
        (false, false) => Arrangement::Separate,
    };
    Ok(Figure { sheet: layout::sheet(&data.title, &panels, columns, arrangement), notes: Vec::new() })
}

/// Marks and lines; those of one name have one entry in the legend.
fn drawn(pane: &Pane) -> Vec<Layer> {
    let mut named: Vec<&str> = Vec::new();
    let mut once = |name: &'_ str| match pane.lines.iter().map(|l| l.name.as_str()).find(|n| *n == name) {
        Some(own) if !named.contains(&own) => {
            named.push(own);
            name.to_string()
        }
        _ => String::new(),
    };
    let marks = pane.marks.iter().map(|m| Layer {
        name: Text::plain(&m.name),
        key: m.name.clone(),
        style: 0,
        plot: Plot::Marks(m.shape, m.x.iter().copied().zip(m.y.iter().copied()).collect()),
    });
    let lines: Vec<Layer> = pane
        .lines
        .iter()
        .map(|line| {
            let points: Vec<(f64, f64)> = line.x.iter().copied().zip(line.y.iter().copied()).collect();
            let broken = points.split(|p| !(p.0.is_finite() && p.1.is_finite()));
            let pieces = broken.filter(|p| p.len() > 1).map(<[_]>::to_vec).collect();
            let style = line.colour % MAX_STYLES;
            let plot = Plot::Lines { pieces, is_dashed: line.is_dashed, is_faint: line.is_faint };
            Layer { name: Text::plain(&line.name), key: once(&line.name), style, plot }
        })
        .collect();
    marks.chain(lines).collect()
}

fn panel(pane: &Pane, layers: Vec<Layer>, panes: usize) -> Panel {
    let xs = pane.dots.iter().map(|d| &d.x).chain(pane.lines.iter().map(|l| &l.x)).flatten();
    let xs = xs.copied().filter(|x| x.is_finite());
    let span = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let map = pane.map.as_ref();
    let is_plane = map.is_some() || (panes == 1 && !pane.is_band && pane.spans.is_empty());
    let of_lines = pane.lines.iter().any(|l| !l.name.is_empty()) || pane.marks.iter().any(|m| !m.name.is_empty());
    let named = of_lines || pane.dots.iter().filter(|d| !d.name.is_empty()).count() > 1;
    let numbers = map.filter(|m| m.classes.is_empty());
    Panel {
        x: label(&pane.x),
        y: label(&pane.y),
        span: match map {
            Some(map) => Some(map.extent().0),
            None => (span.1 > span.0 && pane.heading.is_empty()).then_some(span),
        },
        heading: pane.heading.clone(),
        zero: pane.has_zero,
        legend: (named && !pane.is_band) || map.is_some_and(|m| !m.classes.is_empty()),
        layers,
        spans: pane.spans.iter().map(|s| (s.from, s.to, s.word.clone())).collect(),
        share: (panes > 1).then_some(if pane.is_band { BAND } else { MAIN }),
        aspect: is_plane.then_some(PLANE),
        bar: numbers.map(|m| (m.label.clone(), m.range().0, m.range().1)),
        log_x: pane.is_log,
        ..Panel::default()
    }
}

/// The label of an axis: short names as in print; a word, or an expression, stays as it is.
fn label(quantity: &Quantity) -> AxisLabel {
    let text = quantity.name.as_str();
    let (stem, prime) = text.strip_suffix('\'').map_or((text, false), |stem| (stem, true));
    let is_name = stem.chars().all(|c| c.is_alphanumeric() || "_[]".contains(c));
    let is_short = stem.chars().count() <= 2 || stem.contains(['[', '_']) || !stem.is_ascii();
    let is_greek = name(stem, false).parts.first().is_some_and(|p| !p.text.is_ascii());
    let shown = if is_name && (is_short || is_greek) { name(stem, prime) } else { Text::plain(text) };
    AxisLabel { name: shown, unit: quantity.unit.clone() }
}

/// The image of a map, and the entries of its legend.
fn of_map(map: &Map) -> Vec<Layer> {
    let (wide, high, range) = (map.x.len(), map.y.len(), map.range());
    let mut rgba = Vec::with_capacity(4 * wide * high);
    let (across, up) = map.extent();
    // Rows from the top: those of the largest y, wherever the axis begins.
    let row = |j: usize| if up.1 >= up.0 { high - 1 - j } else { j };
    let column = |k: usize| if across.1 >= across.0 { k } else { wide - 1 - k };
    for j in 0..high {
        for k in 0..wide {
            let Rgb(r, g, b) = map.colour(map.values[row(j) * wide + column(k)], range);
            rgba.extend([r, g, b, 255]);
        }
    }
    let ordered = |(a, b): (f64, f64)| (a.min(b), a.max(b));
    let image = Plot::Image(ordered(across), ordered(up), Raster { wide, high, rgba: Arc::new(rgba) });
    let layer = |name: &str, plot: Plot| Layer { name: Text::plain(name), key: name.to_string(), style: 0, plot };
    let swatch = |(name, tint): &(String, Tint)| {
        let Rgb(r, g, b) = tint.rgb();
        layer(name, Plot::Swatch(Colour(r, g, b)))
    };
    map.classes.iter().map(swatch).chain([layer(&map.label, image)]).collect()
}
