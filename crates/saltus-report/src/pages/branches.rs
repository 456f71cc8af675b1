//! The page of branches of orbits: the diagram, the multipliers, some orbits, the special points.

use super::atlas::figure;
use crate::chart::{Chart, Pane};
use crate::figure::{Figure, Trace, numbers};
use crate::html::{Cell, table};
use crate::page::{Origin, Page};
use crate::text::{label, with_unit};
use serde_json::json;

/// The contents of the page of branches.
pub struct BranchesReport<'a> {
    /// The title of the model.
    pub title: &'a str,
    /// What the page shows, in a line.
    pub subtitle: &'a str,
    /// The origin of the page.
    pub origin: Origin,
    /// The branch diagram.
    pub diagram: &'a Chart,
    /// Multipliers in the unit circle.
    pub multipliers: Option<&'a Chart>,
    /// Orbits, one in each pane.
    pub orbits: Option<&'a Chart>,
    /// Tiles: names and values.
    pub tiles: Vec<(&'a str, String)>,
    /// What was found, in sentences.
    pub findings: Vec<String>,
    /// Tables: titles, heads, rows.
    pub tables: Vec<(String, Vec<String>, Vec<Vec<String>>)>,
}

/// Creates the page of branches.
#[must_use]
pub fn branches(report: BranchesReport) -> Page {
    let mut page = Page::new(report.title, report.subtitle, &report.origin);
    page.section("chart", "Branches");
    if !report.tiles.is_empty() {
        page.tiles(&report.tiles);
    }
    page.figures([figure(report.diagram)]);
    page.list("note", report.findings);
    for (k, (title, heads, rows)) in report.tables.into_iter().enumerate().filter(|(_, t)| !t.2.is_empty()) {
        let ids = ["special-points", "branches", "curves"];
        let id = ids[k % ids.len()];
        page.section(id, &title);
        let cells = rows.into_iter().map(|row| row.into_iter().map(|text| cell(&text)).collect());
        page.raw(&table(&format!("{id}-table"), &heads, cells, true));
    }
    if let Some(chart) = report.multipliers {
        page.section("multipliers", "Multipliers");
        let mut circle = figure(chart);
        circle.id = "multiplier-circle";
        circle.layout["yaxis"]["scaleanchor"] = json!("x");
        page.figures([circle]);
    }
    if let Some(chart) = report.orbits {
        page.section("orbits", "Orbits along the branches");
        page.figures(rows(chart));
    }
    page.close();
    page
}

/// A number is sorted as one.
fn cell(text: &str) -> Cell {
    match text.parse::<f64>().ok().filter(|x| x.is_finite()) {
        Some(x) => Cell::number(x, 12),
        None => Cell::text(text),
    }
}

/// Panes in a row of the page.
const ACROSS: usize = 3;

/// The identifiers of rows of panes.
const ROWS: [&str; 4] = ["orbit-row", "orbit-row-2", "orbit-row-3", "orbit-row-4"];

/// Panes side by side, each row a figure.
fn rows(chart: &Chart) -> Vec<Figure> {
    let rows: Vec<&[Pane]> = chart.panes.chunks(ACROSS).take(ROWS.len()).collect();
    let last = rows.len().saturating_sub(1);
    let of = |(k, panes): (usize, &&[Pane])| {
        let title = if k == 0 { chart.title.clone() } else { format!("{} ({})", chart.title, k + 1) };
        let mut figure = row(ROWS[k], &title, panes);
        if k == last {
            figure.caption.clone_from(&chart.caption);
        }
        figure
    };
    rows.iter().enumerate().map(of).collect()
}

fn row(id: &'static str, title: &str, panes: &[Pane]) -> Figure {
    let mut figure = Figure::new(id, title, "", "");
    let mut notes = Vec::new();
    for (k, pane) in panes.iter().enumerate() {
        let suffix = if k == 0 { String::new() } else { (k + 1).to_string() };
        let (column, wide) = (k as f64, 1.0 / ACROSS as f64);
        let across = [wide * column + 0.06 * wide, wide * (column + 1.0) - 0.12 * wide];
        let up = [0.0, 0.93];
        let axis = |title: String, domain: [f64; 2], anchor: String| json!({ "title": { "text": label(&title) }, "domain": domain, "anchor": anchor, "exponentformat": "power" });
        figure.layout[format!("xaxis{suffix}")] =
            axis(with_unit(&pane.x.name, &pane.x.unit), across, format!("y{suffix}"));
        figure.layout[format!("yaxis{suffix}")] = axis(with_unit(&pane.y.name, &pane.y.unit), up, format!("x{suffix}"));
        for line in &pane.lines {
            let colour = match line.is_faint {
                true => "#8a8f98".to_string(),
                false => crate::chart::dot_colour(line.colour, true).hex(),
            };
            figure.push(Trace::other(
                "orbit",
                &line.name,
                json!({
                    "type": "scatter", "mode": "lines", "x": numbers(&line.x), "y": numbers(&line.y), "connectgaps": false,
                    "xaxis": format!("x{suffix}"), "yaxis": format!("y{suffix}"), "showlegend": false,
                    "line": { "color": colour, "width": 1.5, "dash": if line.is_dashed { "dash" } else { "solid" } },
                }),
            ));
        }
        let word = label(&pane.heading);
        notes.push(json!({
            "x": 0.5 * (across[0] + across[1]), "y": up[1], "xref": "paper", "yref": "paper", "yanchor": "bottom",
            "text": word, "showarrow": false, "font": { "size": 12 },
        }));
    }
    figure.layout["annotations"] = json!(notes);
    figure
}
