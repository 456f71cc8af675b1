//! The page of a comparison: the motions of several schemes in the same figures, and the distances between them.

use crate::figure::{Figure, Trace};
use crate::figures::{align_times, limit};
use crate::html::{Cell, table};
use crate::page::{Origin, Page};
use crate::series;
use crate::text::with_unit;
use saltus::{Model, Trajectory};
use serde_json::json;

/// The finest run of one scheme.
pub struct Compared<'a> {
    /// The name of the scheme.
    pub name: &'a str,
    /// The motion.
    pub trajectory: &'a Trajectory,
    /// The values of the run, in the order of [`CompareReport::heads`].
    pub figures: Vec<f64>,
}

/// The contents of the page of a comparison.
pub struct CompareReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// The origin of the page.
    pub origin: Origin,
    /// The settings common to all runs.
    pub subtitle: String,
    /// The runs.
    pub runs: Vec<Compared<'a>>,
    /// The names of the values of a run.
    pub heads: Vec<String>,
    /// Pairs of runs with their distances: the largest in position, the time at which it occurs, ∫|Δv| dt.
    pub distances: Vec<(usize, usize, [f64; 3])>,
    /// Whether the runs agree.
    pub verdict: Vec<String>,
    /// Warnings and omitted schemes.
    pub warnings: Vec<String>,
}

/// The identifiers of the figures, one per coordinate.
const FIGURES: [&str; 6] = ["overlay-1", "overlay-2", "overlay-3", "overlay-4", "overlay-5", "overlay-6"];

/// Creates the page of a comparison.
#[must_use]
pub fn compare(report: &CompareReport) -> Page {
    let model = report.model;
    let mut page = Page::new(&model.title, &report.subtitle, &report.origin);
    page.section("verdict", "Agreement");
    page.list("good", report.verdict.clone());
    page.list("warning", report.warnings.clone());
    page.section("overlay", "Positions");
    let time = with_unit("t", &model.units.time);
    let figures = model.coordinates.iter().zip(FIGURES).enumerate().map(|(i, (name, id))| {
        let mut figure = Figure::new(id, name, &time, &with_unit(name, model.units.position(i))).over_time();
        for (k, run) in report.runs.iter().enumerate() {
            let line = series::position(run.trajectory, i, limit(2 * report.runs.len()));
            let dash = ["solid", "dash", "dot", "dashdot"][k % 4];
            // Wider lines below narrower ones, so that curves that coincide can all be seen.
            let width = 1.2 + 0.7 * (report.runs.len() - 1 - k).min(4) as f64;
            let trace = Trace::new("overlay", run.name, "lines", &line.t, &line.y[0]).colour(k);
            figure.push(trace.with(json!({ "showlegend": true, "line": { "dash": dash, "width": width } })));
        }
        figure
    });
    let mut figures: Vec<Figure> = figures.collect();
    let times =
        || report.runs.iter().flat_map(|run| run.trajectory.t.first().into_iter().chain(run.trajectory.t.last()));
    let span = times().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &t| (a.min(t), b.max(t)));
    align_times(&mut figures, span);
    let shown = figures.len();
    page.figures(figures);
    if shown < model.coordinates.len() {
        page.say(&format!("Showing the first {shown} of {} coordinates.", model.coordinates.len()));
    }
    page.section("schemes", "Schemes");
    let heads: Vec<String> = ["scheme".to_string()].into_iter().chain(report.heads.clone()).collect();
    let rows = report.runs.iter().map(|run| {
        let values = run.figures.iter().map(|&x| Cell::number(x, 4));
        [Cell::text(run.name)].into_iter().chain(values).collect()
    });
    page.raw(&table("scheme-table", &heads, rows, true));
    if !report.distances.is_empty() {
        page.section("distances", "Distances");
        let heads = ["scheme", "compared with", "largest position difference", "at t", "∫|Δv| dt"].map(String::from);
        let rows = report.distances.iter().map(|&(a, b, distances)| {
            let names = [a, b].map(|k| Cell::text(report.runs[k].name));
            names.into_iter().chain(distances.map(|x| Cell::number(x, 4))).collect()
        });
        page.raw(&table("distance-table", &heads, rows, true));
    }
    page.close();
    page
}
