//! The page of a convergence study: errors over steps, with fitted lines.

use crate::figure::{Figure, Trace};
use crate::html::{Cell, table};
use crate::page::{Origin, Page};
use crate::text::number;
use saltus::Model;
use saltus::analysis::Fit;
use serde_json::json;

/// One kind of error at every step.
pub struct Errors {
    /// The quantity of which it is the error.
    pub name: &'static str,
    /// The error at each step; NaN if unknown.
    pub values: Vec<f64>,
    /// The fitted order.
    pub fit: Option<Fit>,
}

/// The contents of the page of a convergence study.
pub struct ConvergeReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// The origin of the page.
    pub origin: Origin,
    /// The scheme and the reference.
    pub subtitle: String,
    /// The quantity that is refined: `step` or `number of modes`.
    pub over: &'static str,
    /// The steps (or the numbers of modes).
    pub steps: Vec<f64>,
    /// The errors.
    pub errors: Vec<Errors>,
    /// The number of impacts at each step.
    pub impacts: Vec<usize>,
    /// Findings.
    pub findings: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// The value at `h` of the line of slope `fit.order` through the mean of the logarithms of positive points.
fn fitted(points: &[(f64, f64)], fit: &Fit, h: f64) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0.ln() / n, y + p.1.ln() / n));
    (y + fit.order * (h.ln() - x)).exp()
}

/// Creates the page of a convergence study.
#[must_use]
pub fn converge(report: &ConvergeReport) -> Page {
    let mut page = Page::new(&report.model.title, &report.subtitle, &report.origin);
    page.section("orders", "Convergence");
    page.list("warning", report.warnings.clone());
    page.list("good", report.findings.clone());
    let mut figure = Figure::new("orders", &format!("Error over {}", report.over), report.over, "error");
    for axis in ["xaxis", "yaxis"] {
        figure.layout[axis]["type"] = json!("log");
    }
    for (k, errors) in report.errors.iter().enumerate() {
        // Rounding errors have no order, and zero has no place on a logarithmic axis.
        let points: Vec<(f64, f64)> =
            report.steps.iter().copied().zip(errors.values.iter().copied()).filter(|p| p.1 > 1e-12).collect();
        let (h, e): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        if points.is_empty() {
            continue;
        }
        let order = errors.fit.map_or(String::new(), |f| format!(", order {}", number(f.order, 3)));
        let name = format!("{}{order}", errors.name);
        let dots = Trace::new("error", &name, "markers", &h, &e).colour(k).group(errors.name, true);
        figure.push(dots.with(json!({ "marker": { "size": 8 } })));
        if let Some(fit) = &errors.fit {
            let ends = [h[0], h[h.len() - 1]];
            let line = ends.map(|h| fitted(&points, fit, h));
            figure.push(Trace::new("fit", &name, "lines", &ends, &line).colour(k).group(errors.name, false));
        }
    }
    page.figures([figure.caption("Both axes are logarithmic: the slope of a line is the order of convergence.")]);
    let heads: Vec<String> = [report.over.to_string()]
        .into_iter()
        .chain(report.errors.iter().map(|e| e.name.to_string()))
        .chain(["impacts".into()])
        .collect();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (k, &h) in report.steps.iter().enumerate() {
        let mut row = vec![Cell::number(h, 6)];
        row.extend(report.errors.iter().map(|e| Cell::number(e.values.get(k).copied().unwrap_or(f64::NAN), 4)));
        row.push(Cell::count(report.impacts.get(k).copied().unwrap_or(0)));
        rows.push(row);
    }
    let mut orders = vec![Cell::text("order")];
    orders.extend(report.errors.iter().map(|e| {
        Cell::text(e.fit.map_or("–".into(), |f| format!("{} ± {}", number(f.order, 3), number(f.spread, 1))))
    }));
    orders.push(Cell::text(""));
    rows.push(orders);
    page.raw(&table("error-table", &heads, rows.into_iter(), false));
    page.close();
    page
}
