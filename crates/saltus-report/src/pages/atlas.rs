//! The page of a chart: dots and maps that can be zoomed, with the command that runs a point again.

use crate::chart::{Chart, Dots, Line, Map, Mark, Pane, coincide, dot_colour, padded, range, thinned};
use crate::figure::{Figure, Trace, numbers, rounded};
use crate::html::{Cell, table};
use crate::page::{Origin, Page};
use crate::text::{label, with_unit};
use serde_json::{Value, json};

/// The contents of the page of a chart.
pub struct AtlasReport<'a> {
    /// The title of the model.
    pub title: &'a str,
    /// What the page shows, in a line.
    pub subtitle: &'a str,
    /// The origin of the page.
    pub origin: Origin,
    /// The chart.
    pub chart: &'a Chart,
    /// Tiles: names and values.
    pub tiles: Vec<(&'a str, String)>,
    /// What was found, in sentences.
    pub findings: Vec<String>,
    /// A table: its title, its heads, its rows; none if it has no rows.
    pub table: (String, Vec<String>, Vec<Vec<String>>),
}

/// Dots of a page, all groups together.
const DOTS: usize = 150_000;
/// More dots than this are drawn by the page's own script.
const MANY: usize = 3000;
/// Cells of a map across or up; finer ones are shown at this fineness.
const CELLS: usize = 1200;

/// Creates the page of a chart.
#[must_use]
pub fn atlas(report: AtlasReport) -> Page {
    let mut page = Page::new(report.title, report.subtitle, &report.origin);
    page.section("chart", "Figure");
    if !report.tiles.is_empty() {
        page.tiles(&report.tiles);
    }
    page.figures([figure(report.chart)]);
    page.list("note", report.findings);
    let (title, heads, rows) = report.table;
    if !rows.is_empty() {
        page.section("table", &title);
        let cells = rows.into_iter().map(|row| row.into_iter().map(|text| cell(&text)).collect());
        page.raw(&table("atlas-table", &heads, cells, true));
    }
    page.close();
    page
}

/// A number is sorted as one.
fn cell(text: &str) -> Cell {
    match text.parse::<f64>().ok().filter(|x| x.is_finite()) {
        Some(x) => Cell::number(x, 10),
        None => Cell::text(text),
    }
}

pub(super) fn figure(chart: &Chart) -> Figure {
    let first = chart.panes.first();
    let x = first.map_or_else(String::new, |p| with_unit(&p.x.name, &p.x.unit));
    let title = |pane: &Pane| with_unit(&pane.y.name, &pane.y.unit);
    let mut figure = Figure::new("atlas", &chart.title, &x, &first.map_or_else(String::new, title));
    figure.caption.clone_from(&chart.caption);
    let log = first.map_or((false, false), Pane::log);
    for (axis, _) in [("xaxis", log.0), ("yaxis", log.1)].into_iter().filter(|(_, is_log)| *is_log) {
        figure.layout[axis]["type"] = json!("log");
    }
    let heights = domains(chart.panes.len());
    let total: usize = chart.panes.iter().flat_map(|p| &p.dots).map(|d| d.x.len()).sum();
    for (k, pane) in chart.panes.iter().enumerate() {
        let axis = if k == 0 { "y".to_string() } else { format!("y{}", k + 1) };
        if k > 0 {
            let name = format!("yaxis{}", k + 1);
            figure.layout[&name] = json!({ "title": { "text": label(&title(pane)) }, "exponentformat": "power" });
            figure.layout[&name]["domain"] = json!(heights[k]);
            figure.layout["yaxis"]["domain"] = json!(heights[0]);
            figure.layout["xaxis"]["anchor"] = json!(axis);
            if pane.has_zero {
                figure.layout[&name]["rangemode"] = json!("tozero");
            }
        }
        if let Some(top) = pane.infinity {
            let most = range(pane.dots.iter().flat_map(|d| &d.y).filter(|y| **y < top)).map_or(0.0, |(_, most)| most);
            let mut ticks = vec![0.0, most];
            ticks.dedup();
            let mut words: Vec<String> = ticks.iter().map(|x| saltus::text::number(*x, 3)).collect();
            ticks.push(top);
            words.push("∞".into());
            let name = if k == 0 { "yaxis".to_string() } else { format!("yaxis{}", k + 1) };
            figure.layout[&name]["tickvals"] = json!(ticks);
            figure.layout[&name]["ticktext"] = json!(words);
        }
        if pane.map.is_some() && pane.is_band {
            // (One axis: a strip.)
            figure.layout["yaxis"]["visible"] = json!(false);
            figure.layout["yaxis"]["domain"] = json!([0.55, 0.75]);
            figure.layout["xaxis"]["anchor"] = json!("y");
        }
        if let Some(map) = &pane.map {
            of_map(map, &mut figure);
        }
        for dots in &pane.dots {
            match dots.are_marks {
                true => figure.push(of_marks(dots, &axis)),
                false => {
                    let share = (DOTS * dots.x.len()).div_ceil(total.max(1)).max(100);
                    of_dots(dots, &axis, share, (total > MANY, k == 0 || !chart.listed(&dots.name)), &mut figure);
                }
            }
        }
        for line in &pane.lines {
            let listed = !line.name.is_empty() && !figure.traces.iter().any(|t| t["name"] == label(&line.name));
            figure.push(of_line(line, &axis, listed));
        }
        pane.marks.iter().for_each(|mark| figure.push(of_mark(mark, &axis)));
        fix_axes(chart, k, total > MANY, &mut figure);
    }
    if let Some(pane) = first.filter(|p| !p.spans.is_empty()) {
        figure.layout["annotations"] = spans(pane);
    }
    if !chart.rerun.command.is_empty() {
        let map = first.and_then(|p| p.map.as_ref());
        let classes: Vec<&String> = map.map_or_else(Vec::new, |m| m.classes.iter().map(|(name, _)| name).collect());
        let names: Vec<&String> =
            first.map(|p| &p.x.name).into_iter().chain(chart.panes.iter().map(|p| &p.y.name)).collect();
        // (A map shown more coarsely than it was computed has every n-th cell only.)
        let stride = chart.rerun.stride;
        // The places of the columns and rows that are shown.
        let cells = map.map(|m| [m.cells().0.order, m.cells().1.order].map(|c| every(&c, step(m))));
        let command = &chart.rerun.command;
        figure.rerun =
            json!({ "command": command, "stride": stride, "cells": cells, "names": names, "classes": classes });
    }
    figure
}

/// Symbols of plotly.js, in the order of the shapes of marks.
const SYMBOLS: [&str; 7] =
    ["circle", "square-open", "triangle-up", "diamond-open", "circle-open", "x", "triangle-down-open"];

fn of_line(line: &Line, axis: &str, listed: bool) -> Trace {
    let notes: Vec<String> = line.notes.iter().map(|n| label(n)).collect();
    let (hover, colour, width) = match (line.is_faint, notes.is_empty()) {
        (true, _) => ("skip", "#8a8f98".to_string(), 1.0),
        (false, true) => ("x+y", dot_colour(line.colour, true).hex(), 1.8),
        (false, false) => ("text", dot_colour(line.colour, true).hex(), 1.8),
    };
    Trace::other(
        "branch",
        &line.name,
        json!({
            "type": "scatter", "mode": "lines", "yaxis": axis, "x": numbers(&line.x), "y": numbers(&line.y),
            "line": { "color": colour, "width": width, "dash": if line.is_dashed { "dash" } else { "solid" } },
            "text": notes, "hoverinfo": hover, "showlegend": listed, "legendgroup": label(&line.name), "connectgaps": false,
        }),
    )
}

fn of_mark(mark: &Mark, axis: &str) -> Trace {
    let notes: Vec<String> = mark.notes.iter().map(|n| label(n)).collect();
    Trace::other(
        "special",
        &mark.name,
        json!({
            "type": "scatter", "mode": "markers", "yaxis": axis, "x": numbers(&mark.x), "y": numbers(&mark.y),
            "marker": { "symbol": SYMBOLS[mark.shape % SYMBOLS.len()], "size": 10, "color": "#d1495b", "line": { "width": 2 } },
            "text": notes, "hoverinfo": "text", "showlegend": true,
        }),
    )
}

fn of_marks(dots: &Dots, axis: &str) -> Trace {
    Trace::other(
        "mark",
        &dots.name,
        json!({
            "type": "scatter", "mode": "markers", "yaxis": axis, "x": numbers(&dots.x), "y": numbers(&dots.y),
            "marker": { "size": 7, "color": "#ffffff", "line": { "width": 1.5, "color": "#005a8c" } }, "showlegend": false,
            "hoverinfo": "skip",
        }),
    )
}

fn of_dots(dots: &Dots, axis: &str, limit: usize, (many, listed): (bool, bool), figure: &mut Figure) {
    let kept = thinned(&dots.x, &dots.y, limit);
    let pick = |v: &[f64]| kept.iter().filter_map(|&k| v.get(k).copied()).collect::<Vec<f64>>();
    let (x, y, key) = (numbers(&pick(&dots.x)), rounded(&pick(&dots.y)), numbers(&pick(&dots.key)));
    let colour = dot_colour(dots.colour, true).hex();
    let size = if kept.len() <= 500 { 5.0 } else { 3.5 } + if dots.are_open { 1.5 } else { 0.0 };
    let symbol = if dots.are_open { "circle-open" } else { "circle" };
    let id = figure.dots.len();
    let fields = json!({
        "type": "scatter", "mode": "markers", "yaxis": axis, "marker": { "size": size, "color": colour, "symbol": symbol },
        "showlegend": listed && !dots.name.is_empty(), "legendgroup": label(&dots.name),
        "hovertemplate": "%{x:.6g}, %{y:.6g}<extra></extra>",
    });
    // Of dots that the script draws, the trace is only the entry of the legend.
    let role = if many { "legend" } else { "dots" };
    let trace = Trace::other(role, &dots.name, fields);
    figure.push(match many {
        true => trace.with(json!({ "x": [Value::Null], "y": [Value::Null], "meta": { "dots": id } })),
        false => trace.with(json!({ "x": x, "y": y, "customdata": key })),
    });
    if many {
        let group = json!({
            "id": id, "name": label(&dots.name), "color": colour, "axis": axis, "open": dots.are_open, "x": x, "y": y,
            "key": key,
        });
        figure.dots.push(group);
    }
}

/// The heights at which panes begin and end: bands below the first, none over another.
fn domains(panes: usize) -> Vec<[f64; 2]> {
    let bands = panes.saturating_sub(1) as f64;
    let (gap, band) = (0.07, if panes > 2 { 0.17 } else { 0.2 });
    let below = |k: usize| (bands - k as f64) * (band + gap);
    (0..panes).map(|k| if k == 0 { [below(0), 1.0] } else { [below(k), below(k) + band] }).collect()
}

/// Sets the ranges of axes: of those whose dots plotly.js does not know, or that are longer than their dots, and of those whose
/// values are the same but for rounding errors.
fn fix_axes(chart: &Chart, k: usize, is_unknown: bool, figure: &mut Figure) {
    let pane = &chart.panes[k];
    if pane.map.is_some() || chart.is_grid {
        return;
    }
    let same = |found: Option<(f64, f64)>| found.is_some_and(|r| coincide(r, 0.0));
    let is_flat = same(range(pane.ys())) || chart.up(pane) == Some((-1.0, 1.0));
    if let Some(ys) = chart.up(pane).filter(|_| is_unknown || is_flat) {
        let name = if k == 0 { "yaxis".to_string() } else { format!("yaxis{}", k + 1) };
        let (low, high) = padded(ys, 0.04, false);
        figure.layout[&name]["range"] = json!([low, high]);
    }
    if let Some(xs) = chart.across().filter(|_| k == 0) {
        let (low, high) = padded(xs, 0.012, pane.is_log);
        figure.layout["xaxis"]["range"] =
            if pane.is_log { json!([low.log10(), high.log10()]) } else { json!([low, high]) };
    }
}

/// Every how many cells of a map are shown.
fn step(map: &Map) -> usize {
    map.x.len().max(map.y.len()).div_ceil(CELLS).max(1)
}

/// Every n-th of a list.
fn every(places: &[usize], n: usize) -> Vec<usize> {
    places.iter().copied().step_by(n).collect()
}

fn of_map(map: &Map, figure: &mut Figure) {
    let (across, up) = map.cells();
    let (columns, rows) = (every(&across.order, step(map)), every(&up.order, step(map)));
    let row = |j: &usize| numbers(&columns.iter().map(|&k| map.value(k, *j)).collect::<Vec<f64>>());
    let z: Vec<Value> = rows.iter().map(row).collect();
    // (Edges, because plotly.js would put those of a logarithmic axis elsewhere; the centres are for what is shown of a cell.)
    let edges = |edges: &[f64]| {
        let inner = edges[..edges.len() - 1].iter().copied().step_by(step(map));
        numbers(&inner.chain(edges.last().copied()).collect::<Vec<f64>>())
    };
    let centres = |of: &[f64], places: &[usize]| numbers(&places.iter().map(|&k| of[k]).collect::<Vec<f64>>());
    let (low, high) = map.range();
    let n = map.classes.len() as f64;
    let (scale, range): (Vec<Value>, (f64, f64)) = match map.classes.as_slice() {
        [] => {
            let mut shares: Vec<f64> = (0..=16).map(|k| f64::from(k) / 16.0).collect();
            if map.has_sign && low < 0.0 && high > 0.0 {
                shares.push(low / (low - high));
                shares.sort_by(f64::total_cmp);
                shares.dedup();
            }
            let stop = |f: &f64| json!([f, map.colour(low + f * (high - low), (low, high)).hex()]);
            (shares.iter().map(stop).collect(), (low, high))
        }
        classes => {
            let step = |(k, (_, tint)): (usize, &(String, crate::chart::Tint))| {
                let colour = tint.rgb().hex();
                [json!([k as f64 / n, colour]), json!([(k + 1) as f64 / n, colour])]
            };
            (classes.iter().enumerate().flat_map(step).collect(), (-0.5, n - 0.5))
        }
    };
    figure.push(Trace::other(
        "map",
        &map.label,
        json!({
            "type": "heatmap", "x": edges(&across.edges), "y": edges(&up.edges), "z": z, "colorscale": scale,
            "meta": { "centres": [centres(&map.x, &columns), centres(&map.y, &rows)] },
            "zmin": range.0, "zmax": range.1, "showscale": map.classes.is_empty(), "showlegend": false,
            "colorbar": { "title": { "text": label(&map.label), "side": "right" }, "thickness": 14 },
            "hoverinfo": if map.classes.is_empty() { "z" } else { "none" }, "zsmooth": false,
        }),
    ));
    let gaps = (map.classes.is_empty() && map.has_gaps()).then(|| ("no value".to_string(), crate::chart::Tint::None));
    for (name, tint) in map.classes.iter().chain(&gaps) {
        figure.push(Trace::other(
            "class",
            name,
            json!({
                "type": "scatter", "mode": "markers", "x": [Value::Null], "y": [Value::Null], "showlegend": true,
                "marker": { "symbol": "square", "size": 11, "color": tint.rgb().hex(), "line": { "width": 1, "color": "#999999" } },
            }),
        ));
    }
}

/// Words above intervals that are wide enough.
fn spans(pane: &Pane) -> Value {
    let low = pane.spans.iter().map(|s| s.from).fold(f64::INFINITY, f64::min);
    let high = pane.spans.iter().map(|s| s.to).fold(f64::NEG_INFINITY, f64::max);
    let place = |x: f64| if pane.is_log { x.log10() } else { x };
    let wide = pane.spans.iter().filter(|s| (place(s.to) - place(s.from)) > 0.03 * (place(high) - place(low)));
    wide.map(|s| {
        json!({
            "x": 0.5 * (place(s.from) + place(s.to)), "y": 1.0, "yref": "paper", "yanchor": "top", "text": label(&s.word),
            "showarrow": false, "font": { "size": 12 },
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_of_a_page_lie_below_each_other() {
        for count in 2..=4 {
            let heights = domains(count);
            assert_eq!(heights.len(), count);
            assert!(heights[0][1] == 1.0 && heights[count - 1][0] == 0.0, "{heights:?}");
            assert!(heights.windows(2).all(|pair| pair[1][1] + 0.05 < pair[0][0]), "{heights:?}");
            assert!(heights.iter().all(|h| h[1] - h[0] > 0.15), "{heights:?}");
        }
    }

    #[test]
    fn a_map_is_shown_with_its_edges_in_order() {
        let map = Map { x: vec![0.9, 0.3, 0.5], y: vec![0.1, 1.0], log: (false, true), ..Map::default() };
        let map = Map { values: vec![9.0, 3.0, 5.0, 9.5, 3.5, 5.5], ..map };
        let mut shown = Figure::new("atlas", "", "", "");
        of_map(&map, &mut shown);
        let trace = &shown.traces[0];
        let row = |v: &Value| v.as_array().map(|r| r.iter().filter_map(Value::as_f64).collect::<Vec<_>>());
        assert_eq!(row(&trace["z"][0]), Some(vec![3.0, 5.0, 9.0]), "{trace}");
        assert_eq!(row(&trace["meta"]["centres"][0]), Some(vec![0.3, 0.5, 0.9]), "{trace}");
        let edges = row(&trace["x"]).expect("edges");
        assert!(edges.len() == 4 && (edges[1] - 0.4).abs() < 1e-12 && (edges[2] - 0.7).abs() < 1e-12, "{edges:?}");
    }
}
