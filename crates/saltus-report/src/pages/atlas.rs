//! The page of a chart: dots and maps that can be zoomed, with the command that runs a point again.

use crate::chart::{Chart, Dots, Line, Map, Mark, Pane, dot_colour, scale_colour, thinned};
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
    if first.is_some_and(|p| p.is_log) {
        figure.layout["xaxis"]["type"] = json!("log");
    }
    let total: usize = chart.panes.iter().flat_map(|p| &p.dots).map(|d| d.x.len()).sum();
    for (k, pane) in chart.panes.iter().enumerate() {
        let axis = if k == 0 { "y".to_string() } else { format!("y{}", k + 1) };
        if k > 0 {
            let name = format!("yaxis{}", k + 1);
            figure.layout[&name] = json!({ "title": { "text": label(&title(pane)) }, "exponentformat": "power" });
            figure.layout[&name]["domain"] = json!([0.0, 0.2]);
            figure.layout["yaxis"]["domain"] = json!([0.27, 1.0]);
            figure.layout["xaxis"]["anchor"] = json!(axis);
            if pane.has_zero {
                figure.layout[&name]["rangemode"] = json!("tozero");
            }
        }
        if let Some(map) = &pane.map {
            of_map(map, &mut figure);
        }
        for dots in &pane.dots {
            match dots.are_marks {
                true => figure.push(of_marks(dots, &axis)),
                false => {
                    let share = (DOTS * dots.x.len()).div_ceil(total.max(1)).max(100);
                    of_dots(dots, &axis, share, (total > MANY, k == 0), &mut figure);
                }
            }
        }
        for line in &pane.lines {
            let listed = !line.name.is_empty() && !figure.traces.iter().any(|t| t["name"] == label(&line.name));
            figure.push(of_line(line, &axis, listed));
        }
        pane.marks.iter().for_each(|mark| figure.push(of_mark(mark, &axis)));
        if total > MANY {
            fix_axes(pane, k, &mut figure);
        }
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
        let (stride, step) = (chart.rerun.stride, map.map_or(1, step));
        let command = &chart.rerun.command;
        figure.rerun =
            json!({ "command": command, "stride": stride, "step": step, "names": names, "classes": classes });
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
    let size = if kept.len() <= 500 { 5.0 } else { 3.5 };
    let id = figure.dots.len();
    let fields = json!({
        "type": "scatter", "mode": "markers", "yaxis": axis, "marker": { "size": size, "color": colour },
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
            "id": id, "name": label(&dots.name), "color": colour, "axis": axis, "x": x, "y": y, "key": key,
        });
        figure.dots.push(group);
    }
}

/// Sets the ranges of axes whose dots plotly.js does not know.
fn fix_axes(pane: &Pane, k: usize, figure: &mut Figure) {
    let range = |of: fn(&Dots) -> &Vec<f64>, of_line: fn(&Line) -> &Vec<f64>| {
        let all = pane.dots.iter().flat_map(of).chain(pane.lines.iter().flat_map(of_line));
        let all = all.copied().filter(|x| x.is_finite());
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
    };
    let widened = |(low, high): (f64, f64), share: f64| {
        let size = high - low;
        let more = if size > 0.0 { share * size } else { 0.5 * low.abs().max(1.0) };
        json!([low - more, high + more])
    };
    let (xs, mut ys) = (range(|d| &d.x, |l| &l.x), range(|d| &d.y, |l| &l.y));
    if pane.has_zero {
        ys.0 = ys.0.min(0.0);
    }
    if ys.0 <= ys.1 {
        let name = if k == 0 { "yaxis".to_string() } else { format!("yaxis{}", k + 1) };
        figure.layout[&name]["range"] = widened(ys, 0.04);
    }
    if k == 0 && xs.0 <= xs.1 {
        let ends = if pane.is_log { (xs.0.log10(), xs.1.log10()) } else { xs };
        figure.layout["xaxis"]["range"] = widened(ends, 0.01);
    }
}

/// Every how many cells of a map are shown.
fn step(map: &Map) -> usize {
    map.x.len().max(map.y.len()).div_ceil(CELLS).max(1)
}

fn of_map(map: &Map, figure: &mut Figure) {
    let (step, wide) = (step(map), map.x.len());
    let pick = |v: &[f64]| v.iter().copied().step_by(step).collect::<Vec<f64>>();
    let row = |j: usize| pick(&map.values[j * wide..(j + 1) * wide]);
    let z: Vec<Value> = (0..map.y.len()).step_by(step).map(|j| numbers(&row(j))).collect();
    let (low, high) = map.range();
    let n = map.classes.len() as f64;
    let (scale, range): (Vec<Value>, (f64, f64)) = match map.classes.as_slice() {
        [] => {
            let stop = |k: usize| json!([k as f64 / 8.0, scale_colour(k as f64 / 8.0).hex()]);
            ((0..=8).map(stop).collect(), (low, high))
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
            "type": "heatmap", "x": numbers(&pick(&map.x)), "y": numbers(&pick(&map.y)), "z": z, "colorscale": scale,
            "zmin": range.0, "zmax": range.1, "showscale": map.classes.is_empty(), "showlegend": false,
            "colorbar": { "title": { "text": label(&map.label), "side": "right" }, "thickness": 14 },
            "hoverinfo": if map.classes.is_empty() { "x+y+z" } else { "none" }, "zsmooth": false,
        }),
    ));
    for (name, tint) in &map.classes {
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
