//! Charts for papers.

use super::label::name;
use super::layout::{self, Arrangement, Columns};
use super::panel::{AxisLabel, Bar, Layer, MAX_STYLES, Panel, Plot};
use super::pictures::Figure;
use super::raster::Raster;
use super::sheet::{Colour, Text};
use super::ticks::minus;
use crate::chart::{Cells, Chart, Map, Pane, Quantity, Rgb, Tint, distinct, padded};
use std::sync::Arc;

/// Cells of a figure in each direction: points that fall into one are one dot.
const CELLS: f64 = 4000.0;
/// The heights of the main pane and of a band, as shares of the usual one.
const MAIN: f64 = 1.45;
/// See `MAIN`.
const BAND: f64 = 0.64;
/// The height of maps and planes, as a share of their width.
const PLANE: f64 = 0.78;
/// The same of a map over one axis.
const STRIP: f64 = 0.14;

/// The room for half a dot at the ends of the horizontal axis, as a share of it.
const EDGE: f64 = 0.012;
/// The same where both axes are quantities of a motion.
const EDGE_OF_PLANE: f64 = 0.04;
/// The dots, across and up, of a map whose cells are not equally large.
const PIXELS: usize = 1800;

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
                name: words(&dots.name),
                key: if pane.is_band && data.listed(&dots.name) { String::new() } else { dots.name.clone() },
                style: dots.colour % MAX_STYLES,
                plot: match (dots.are_marks, kept.into_iter().map(|k| (dots.x[k], dots.y[k])).collect()) {
                    (true, points) => Plot::Points(points),
                    (false, points) => Plot::Dots(points, dots.are_open),
                },
            });
        }
        layers.extend(pane.map.iter().flat_map(of_map));
        if layers.is_empty() || (count > 0 && shown == 0) {
            return Err("there are no points to draw".into());
        }
        panels.push(panel(data, pane, layers));
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

fn panel(data: &Chart, pane: &Pane, layers: Vec<Layer>) -> Panel {
    let (map, panes) = (pane.map.as_ref(), if data.is_grid { 1 } else { data.panes.len() });
    let is_plane = map.is_some() || (panes == 1 && !pane.is_band && pane.spans.is_empty());
    let of_lines = pane.lines.iter().any(|l| !l.name.is_empty()) || pane.marks.iter().any(|m| !m.name.is_empty());
    let named = of_lines || pane.dots.iter().filter(|d| !d.name.is_empty()).count() > 1;
    // The legend of a band has what that of the main pane does not.
    let own = pane.is_band && layers.iter().any(|l| !l.key.is_empty());
    let numbers = map.filter(|m| m.classes.is_empty());
    let log = pane.log();
    let edge = if is_plane && data.ends.is_none() { EDGE_OF_PLANE } else { EDGE };
    Panel {
        x: label(&pane.x),
        y: label(&pane.y),
        span: match map {
            Some(map) => Some(map.extent().0),
            None if data.is_grid => None,
            None => data.across().map(|range| padded(range, edge, log.0)),
        },
        rise: if map.is_none() && !data.is_grid { data.up(pane) } else { None },
        heading: pane.heading.clone(),
        zero: pane.has_zero,
        infinity: pane.infinity,
        legend: (named && !pane.is_band) || own || map.is_some_and(|m| !m.classes.is_empty() || m.has_gaps()),
        layers,
        spans: pane.spans.iter().map(|s| (s.from, s.to, s.word.clone())).collect(),
        share: (panes > 1).then_some(if pane.is_band { BAND } else { MAIN }),
        aspect: is_plane.then_some(if pane.is_band { STRIP } else { PLANE }),
        is_strip: pane.is_band && map.is_some(),
        bar: numbers.map(|m| Bar { label: m.label.clone(), range: m.range(), has_sign: m.has_sign }),
        log,
        ..Panel::default()
    }
}

/// The words of a legend, with names as on the axes: θ = 0.2 for `th = 0.2`.
fn words(text: &str) -> Text {
    let mut shown = Text::default();
    for (k, part) in text.split(", ").enumerate() {
        if k > 0 {
            shown = shown.then(", ", false, 0);
        }
        match part.split_once(" = ") {
            Some((name, value)) => {
                shown.parts.extend(label(&Quantity::new(name, "")).name.parts);
                shown = shown.then(format!(" = {}", minus(value)), false, 0);
            }
            None => shown = shown.then(part, false, 0),
        }
    }
    shown
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
    let (x, y) = map.cells();
    let shown = |cells: &Cells| if cells.are_even() { cells.order.clone() } else { cells.sampled(PIXELS) };
    let (columns, rows, range) = (shown(&x), shown(&y), map.range());
    let (wide, high) = (columns.len(), rows.len());
    let mut rgba = Vec::with_capacity(4 * wide * high);
    // Rows from the top: those of the largest y.
    for &row in rows.iter().rev() {
        for &column in &columns {
            let Rgb(r, g, b) = map.colour(map.value(column, row), range);
            rgba.extend([r, g, b, 255]);
        }
    }
    let image = Plot::Image(x.ends(), y.ends(), Raster { wide, high, rgba: Arc::new(rgba) });
    let layer = |name: &str, plot: Plot| Layer { name: Text::plain(name), key: name.to_string(), style: 0, plot };
    let swatch = |(name, tint): &(String, Tint)| {
        let Rgb(r, g, b) = tint.rgb();
        layer(name, Plot::Swatch(Colour(r, g, b)))
    };
    // What has no class has a value or none.
    let gaps = (map.classes.is_empty() && map.has_gaps()).then(|| ("no value".to_string(), Tint::None));
    map.classes.iter().chain(&gaps).map(swatch).chain([layer(&map.label, image)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Dots;
    use crate::paper::{Kind, encode};

    fn drawn(pane: Pane) -> String {
        let data = Chart { panes: vec![pane], ..Chart::default() };
        let figure = chart(&data, Columns::One).expect("a figure");
        String::from_utf8(encode(&figure.sheet, Kind::Svg, 100.0).expect("a file")).expect("UTF-8")
    }

    #[test]
    fn legends_have_names_as_axes_do() {
        let plain = |text: &str| words(text).parts.iter().map(|p| p.text.clone()).collect::<String>();
        assert_eq!(plain("up, th = -0.2"), "up, θ = −0.2");
        assert_eq!(plain("period 2, 3 impacts"), "period 2, 3 impacts");
    }

    #[test]
    fn a_map_says_what_white_is_and_where_zero_is() {
        let map = Map { x: vec![1.0, 2.0], y: vec![1.0], label: "exponent".into(), ..Map::default() };
        let of = |values: Vec<f64>, has_sign: bool| {
            drawn(Pane { map: Some(Map { values, has_sign, ..map.clone() }), ..Pane::default() })
        };
        assert!(of(vec![1.0, f64::NAN], false).contains(">no value<"));
        assert!(!of(vec![1.0, 2.0], false).contains(">no value<"));
        // The mark of zero is a number of its own.
        let count = |svg: &str| svg.matches(">0<").count();
        assert_eq!(count(&of(vec![-1.0, 2.0], true)), 1 + count(&of(vec![-1.0, 2.0], false)));
    }

    #[test]
    fn the_last_group_is_on_top_and_does_not_hide_the_first() {
        let dots = |name: &str, colour: usize, are_open: bool| Dots {
            name: name.into(),
            colour,
            x: vec![0.0, 1.0],
            y: vec![0.0, 1.0],
            are_open,
            ..Dots::default()
        };
        let svg = drawn(Pane { dots: vec![dots("up", 1, false), dots("down", 2, true)], ..Pane::default() });
        let (up, down) = (svg.find("data-name=\"up\""), svg.find("data-name=\"down\""));
        assert!(up.is_some() && up < down, "{svg}");
        let ring = svg.split("data-name=\"down\"").nth(1).and_then(|rest| rest.split("<circle").nth(1));
        assert!(ring.is_some_and(|circle| circle.contains("fill=\"none\"")), "{svg}");
    }
}
