//! The page of equilibria: a table and, for one or two coordinates, a figure of the potential.

use crate::figure::{Figure, Trace, numbers};
use crate::html::{Cell, table};
use crate::page::{Origin, Page};
use crate::text::{label, number, with_unit};
use saltus::Model;
use saltus::analysis::{Equilibria, Stability};
use serde_json::json;

/// Evaluates the potential, if there is one, and the smallest gap at a position.
pub type Landscape<'a> = dyn FnMut(&[f64]) -> (f64, f64) + 'a;

/// The description of an equilibrium.
pub struct Rest {
    /// Its contacts with their reactions.
    pub contacts: String,
    /// The evidence for or against its stability.
    pub evidence: String,
}

/// The contents of the page of equilibria.
pub struct EquilibriaReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// The origin of the page.
    pub origin: Origin,
    /// The time at which the forces are frozen.
    pub time: f64,
    /// The equilibria.
    pub all: &'a Equilibria,
    /// A description of each.
    pub words: Vec<Rest>,
    /// The potential and the gaps, if they are to be shown.
    pub landscape: Option<Box<Landscape<'a>>>,
}

/// Creates the page of equilibria.
#[must_use]
pub fn equilibria(mut report: EquilibriaReport) -> Page {
    let (model, all) = (report.model, report.all);
    let searched = if all.exhaustive { "all active sets" } else { "active sets near each start" };
    let subtitle =
        format!("equilibria at t = {}; {searched}: {} sets, {} starts", number(report.time, 6), all.sets, all.starts);
    let mut page = Page::new(&model.title, &subtitle, &report.origin);
    page.section("equilibria", "Equilibria");
    if all.stopped {
        page.list("warning", ["The search was interrupted before it was complete.".to_string()]);
    }
    if all.found.is_empty() {
        page.say("No equilibria were found.");
    }
    page.list("note", all.notes.iter().take(20).cloned());
    let shown = model.coordinates.len().min(12);
    let mut heads: Vec<String> = vec!["no.".into()];
    heads.extend((0..shown).map(|i| with_unit(&model.coordinates[i], model.units.position(i))));
    let states = model.states.len().min(12);
    heads.extend((0..states).map(|k| with_unit(&model.states[k].name, model.units.state(k))));
    heads.extend(["contacts".into(), "stability".into()]);
    let rows = all.found.iter().zip(&report.words).enumerate().map(|(k, (e, words))| {
        let mut row = vec![Cell::count(k + 1)];
        row.extend(e.q.iter().take(shown).chain(e.z.iter().take(states)).map(|&x| Cell::number(x, 8)));
        row.extend([Cell::text(&words.contacts), Cell::text(&words.evidence)]);
        row
    });
    page.raw(&table("equilibrium-table", &heads, rows, true));
    if let (Some(landscape), false) = (&mut report.landscape, all.found.is_empty()) {
        match model.coordinates.len() {
            1 => page.figures([curve(model, all, landscape)]),
            2 => page.figures([map(model, all, landscape)]),
            _ => {}
        }
    }
    page.close();
    page
}

fn colour(stability: Stability) -> &'static str {
    match stability.kind() {
        "stable" => "#2ba15d",
        "unstable" => "#e4572e",
        _ => "#c78a00",
    }
}

/// The range of a coordinate to show: all equilibria and the initial position, with a margin.
fn range(model: &Model, all: &Equilibria, i: usize) -> (f64, f64) {
    let values = all.found.iter().map(|e| e.q[i]).chain([model.q0[i]]);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    // The margin is the same for all coordinates.
    let scale = all.found.iter().flat_map(|e| &e.q).chain(&model.q0).fold(0.0_f64, |m, x| m.max(x.abs()));
    let margin = (0.4 * (high - low)).max(0.6 * scale).max(0.1);
    (low - margin, high + margin)
}

/// Adds the equilibria as dots, coloured by stability.
fn dots(figure: &mut Figure, all: &Equilibria, points: &[(f64, f64)]) {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let colours: Vec<&str> = all.found.iter().map(|e| colour(e.stability)).collect();
    let trace = Trace::new("equilibrium", "equilibria", "markers", &x, &y);
    figure.push(
        trace.with(json!({ "marker": { "color": colours, "size": 12, "line": { "width": 1, "color": "#888" } } })),
    );
}

fn curve(model: &Model, all: &Equilibria, landscape: &mut Landscape) -> Figure {
    let (low, high) = range(model, all, 0);
    let q: Vec<f64> = (0..=600).map(|k| low + (high - low) * f64::from(k) / 600.0).collect();
    let name = with_unit(&model.coordinates[0], model.units.position(0));
    let mut figure = Figure::new("landscape", "Potential", &name, &with_unit("potential", &model.units.energy));
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for &q in &q {
        let (potential, gap) = landscape(&[q]);
        inside.push(if gap >= 0.0 { potential } else { f64::NAN });
        outside.push(if gap >= 0.0 { f64::NAN } else { potential });
    }
    figure.push(Trace::new("potential", "potential on K", "lines", &q, &inside).colour(0));
    let beyond = Trace::new("outside", "outside K", "lines", &q, &outside).colour(0);
    figure.push(beyond.with(json!({ "line": { "dash": "dot", "width": 1 }, "opacity": 0.5 })));
    let points: Vec<(f64, f64)> = all.found.iter().map(|e| (e.q[0], landscape(&e.q).0)).collect();
    dots(&mut figure, all, &points);
    figure.caption("Green: stable; red: unstable; yellow: undetermined. Dotted: positions outside K.")
}

fn map(model: &Model, all: &Equilibria, landscape: &mut Landscape) -> Figure {
    let axes = [0, 1].map(|i| {
        let (low, high) = range(model, all, i);
        (0..=80).map(|k| low + (high - low) * f64::from(k) / 80.0).collect::<Vec<f64>>()
    });
    let names = [0, 1].map(|i| with_unit(&model.coordinates[i], model.units.position(i)));
    let title = if model.potential.is_some() { "Potential and admissible positions" } else { "Admissible positions" };
    let mut figure = Figure::new("landscape", title, &names[0], &names[1]);
    // Lengths in both directions are comparable if they have the same unit.
    if model.units.position(0) == model.units.position(1) {
        figure.layout["yaxis"]["scaleanchor"] = json!("x");
    }
    let (mut potential, mut gap) = (Vec::new(), Vec::new());
    for &y in &axes[1] {
        let (row, gaps): (Vec<f64>, Vec<f64>) = axes[0].iter().map(|&x| landscape(&[x, y])).unzip();
        potential.push(json!(row.iter().zip(&gaps).map(|(v, g)| (*g >= 0.0).then_some(*v)).collect::<Vec<_>>()));
        gap.push(json!(gaps));
    }
    let base = json!({ "type": "contour", "x": numbers(&axes[0]), "y": numbers(&axes[1]) });
    let title = label(&with_unit("potential", &model.units.energy));
    let surface = Trace::other("potential", "potential", base.clone());
    if model.potential.is_some() {
        figure.push(surface.with(json!({
            "z": potential, "colorscale": "Viridis", "ncontours": 24, "showlegend": false,
            "contours": { "coloring": "heatmap" }, "colorbar": { "title": { "text": title } },
        })));
    }
    let boundary = Trace::other("boundary", "boundary of K", base);
    figure.push(boundary.with(json!({
        "z": gap, "showscale": false, "showlegend": false, "line": { "width": 2.5, "color": "#777" },
        "contours": { "start": 0, "end": 0, "size": 1, "coloring": "none" },
    })));
    let points: Vec<(f64, f64)> = all.found.iter().map(|e| (e.q[0], e.q[1])).collect();
    dots(&mut figure, all, &points);
    let colours = if model.potential.is_some() { " Coloured: potential on K." } else { "" };
    figure.caption(format!("Green: stable; red: unstable; yellow: undetermined. Grey line: boundary of K.{colours}"))
}
