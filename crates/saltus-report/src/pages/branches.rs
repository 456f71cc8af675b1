//! The page of branches of orbits: the diagram, the multipliers, some orbits, the special points.

use super::atlas::figure;
use crate::chart::Chart;
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
        page.figures([grid(chart)]);
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

/// Panes side by side, three in a row.
fn grid(chart: &Chart) -> Figure {
    const ACROSS: usize = 3;
    let mut figure = Figure::new("orbit-grid", &chart.title, "", "");
    figure.caption.clone_from(&chart.caption);
    let rows = chart.panes.len().div_ceil(ACROSS).max(1);
    figure.layout["height"] = json!(60 + 260 * rows);
    let mut notes = Vec::new();
    for (k, pane) in chart.panes.iter().enumerate() {
        let suffix = if k == 0 { String::new() } else { (k + 1).to_string() };
        let (column, row) = ((k % ACROSS) as f64, (k / ACROSS) as f64);
        let (wide, high) = (1.0 / ACROSS as f64, 1.0 / rows as f64);
        let across = [wide * column + 0.05 * wide, wide * (column + 1.0) - 0.12 * wide];
        let up = [1.0 - high * (row + 1.0) + 0.2 * high, 1.0 - high * row - 0.1 * high];
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
