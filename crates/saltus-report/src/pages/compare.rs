//! The page of a comparison: the motions of several schemes in the same figures, and the distances between them.

use super::Report;
use crate::dense;
use crate::figure::{Figure, Trace};
use crate::figures::{align_times, differences, limit};
use crate::html::{Cell, table};
use crate::page::Page;
use crate::series;
use crate::text::{number, with_unit};
use saltus::analysis::Comparison;
use serde_json::json;

/// The contents of the page of a comparison.
pub type CompareReport<'a> = Report<'a, Comparison>;

/// The identifiers of the figures, one per coordinate.
const FIGURES: [&str; 6] = ["overlay-1", "overlay-2", "overlay-3", "overlay-4", "overlay-5", "overlay-6"];

/// Creates the page of a comparison.
#[must_use]
pub fn compare(report: &CompareReport) -> Page {
    let (model, found) = (report.model, report.found);
    let steps: Vec<String> = found.steps.iter().map(|h| number(*h, 4)).collect();
    let subtitle =
        format!("comparison of schemes, time steps {} (figures and tables for the smallest)", steps.join(", "));
    let mut page = Page::new(&model.title, &subtitle, &report.origin);
    page.section("verdict", "Agreement");
    page.list("good", found.sentences.clone());
    let warned = found.entries.iter().flat_map(|e| e.finest().warnings.iter().map(|w| format!("{}: {w}", e.way.label)));
    let omitted = found.refused.iter().map(|(name, error)| format!("not compared: {name}. {}", error.message));
    page.list("warning", warned.chain(omitted));
    page.section("overlay", "Motions");
    let time = with_unit("t", &model.units.time);
    let motions: Vec<_> = found.entries.iter().map(|e| dense::refined(&e.finest().trajectory)).collect();
    let figures = model.coordinates.iter().zip(FIGURES).enumerate().map(|(i, (name, id))| {
        let mut figure = Figure::new(id, name, &time, &with_unit(name, model.units.position(i))).over_time();
        for (k, entry) in found.entries.iter().enumerate() {
            let line = series::position(&motions[k], i, limit(2 * found.entries.len()));
            let dash = ["solid", "dash", "dot", "dashdot"][k % 4];
            // Wider lines below narrower ones, so that curves that coincide can all be seen.
            let width = 1.2 + 0.7 * (found.entries.len() - 1 - k).min(4) as f64;
            let trace = Trace::new("overlay", &entry.way.label, "lines", &line.t, &line.y[0]).colour(k);
            figure.push(trace.with(json!({ "showlegend": true, "line": { "dash": dash, "width": width } })));
        }
        figure
    });
    let mut figures: Vec<Figure> = figures.collect();
    let shown = figures.len();
    figures.extend(differences(model, found));
    let spans = found.entries.iter().filter_map(|e| e.finest().trajectory.span());
    let span = spans.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (c, d)| (a.min(c), b.max(d)));
    align_times(&mut figures, span);
    page.figures(figures);
    if shown < model.coordinates.len() {
        page.say(&format!("Showing the first {shown} of {} coordinates.", model.coordinates.len()));
    }
    page.section("schemes", "Schemes");
    let heads = [
        "scheme",
        "impacts",
        "largest violation",
        "instants outside K",
        "energy gain",
        "law residual",
        "seconds per step",
        "own error",
    ];
    let rows = found.entries.iter().map(|entry| {
        let run = entry.finest();
        vec![
            Cell::text(&entry.way.label),
            Cell::count(run.trajectory.impacts.len()),
            Cell::number(run.audit.max_violation, 4),
            Cell::count(run.audit.infeasible as usize),
            Cell::number(run.largest_energy_gain(), 4),
            Cell::number(run.audit.worst_law_residual, 4),
            Cell::number(entry.seconds() / run.steps.max(1) as f64, 4),
            Cell::number(entry.error, 4),
        ]
    });
    page.raw(&table("scheme-table", &heads, rows, true));
    if !found.distances.is_empty() {
        page.section("distances", "Distances");
        let heads = ["scheme", "compared with", "largest position difference", "at t", "∫|Δv| dt"];
        let rows = found.distances.iter().map(|&(a, b, d)| {
            let names = [a, b].map(|k| Cell::text(&found.entries[k].way.label));
            names.into_iter().chain([d.position, d.at, d.velocity].map(|x| Cell::number(x, 4))).collect()
        });
        page.raw(&table("distance-table", &heads, rows, true));
    }
    page.close();
    page
}
