//! The page of a comparison: the motions of several schemes over each other, and how far apart they are.

use crate::figure::{Figure, Trace};
use crate::figures::limit;
use crate::html::{Cell, table, with_unit};
use crate::page::{Origin, Page};
use crate::series;
use saltus::{Model, Trajectory};
use serde_json::json;

/// One scheme's finest run.
pub struct Compared<'a> {
    /// The scheme.
    pub name: &'a str,
    /// Its motion.
    pub trajectory: &'a Trajectory,
    /// Its figures, in the order of [`CompareReport::heads`].
    pub figures: Vec<f64>,
}

/// All that the page of a comparison shows.
pub struct CompareReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// Where it comes from.
    pub origin: Origin,
    /// What is the same for all: the steps, the tolerance.
    pub subtitle: String,
    /// The runs.
    pub runs: Vec<Compared<'a>>,
    /// What the figures of a run are.
    pub heads: Vec<String>,
    /// Pairs of runs with their distances: in position, the time of it, ∫|Δv| dt.
    pub distances: Vec<(usize, usize, [f64; 3])>,
    /// The verdict.
    pub verdict: Vec<String>,
    /// Warnings, and schemes left out.
    pub warnings: Vec<String>,
}

/// Coordinates with a figure of their own.
const FIGURES: [&str; 6] = ["overlay-1", "overlay-2", "overlay-3", "overlay-4", "overlay-5", "overlay-6"];

/// Makes the page of a comparison.
pub fn compare(report: &CompareReport) -> Page {
    let model = report.model;
    let mut page = Page::new(&model.title, &report.subtitle, &report.origin);
    page.section("verdict", "Do they agree?");
    page.list("good", report.verdict.clone());
    page.list("warning", report.warnings.clone());
    page.section("overlay", "The motions over each other");
    let time = with_unit("t", &model.units.time);
    let figures = model.coordinates.iter().zip(FIGURES).enumerate().map(|(i, (name, id))| {
        let mut figure = Figure::new(id, name, &time, &with_unit(name, model.units.position(i))).over_time();
        for (k, run) in report.runs.iter().enumerate() {
            let line = series::position(run.trajectory, i, limit(2 * report.runs.len()));
            let dash = ["solid", "dash", "dot", "dashdot"][k % 4];
            let trace = Trace::new("overlay", run.name, "lines", &line.t, &line.y[0]).colour(k);
            figure.push(trace.with(json!({ "showlegend": true, "line": { "dash": dash } })));
        }
        figure
    });
    let figures: Vec<Figure> = figures.collect();
    let shown = figures.len();
    page.figures(figures);
    if shown < model.coordinates.len() {
        page.say(&format!("The first {shown} of {} coordinates.", model.coordinates.len()));
    }
    page.section("schemes", "Scheme by scheme");
    let heads: Vec<String> = ["scheme".to_string()].into_iter().chain(report.heads.clone()).collect();
    let rows = report.runs.iter().map(|run| {
        let figures = run.figures.iter().map(|&x| Cell::number(x, 4));
        [Cell::text(run.name)].into_iter().chain(figures).collect()
    });
    page.raw(&table("scheme-table", &heads, rows, true));
    if !report.distances.is_empty() {
        page.section("distances", "Distances");
        let heads = ["", "", "largest in position", "at t", "∫|Δv| dt"].map(String::from);
        let rows = report.distances.iter().map(|&(a, b, figures)| {
            let names = [a, b].map(|k| Cell::text(report.runs[k].name));
            names.into_iter().chain(figures.map(|x| Cell::number(x, 4))).collect()
        });
        page.raw(&table("distance-table", &heads, rows, true));
    }
    page.close();
    page
}
