//! The page of a convergence study: errors over steps, with fitted lines.

use super::Report;
use crate::figure::{Figure, Trace};
use crate::html::{Cell, table};
use crate::page::Page;
use crate::text::number;
use saltus::analysis::{Convergence, Fit, Level, Over};
use serde_json::json;

/// The contents of the page of a convergence study.
pub type ConvergeReport<'a> = Report<'a, Convergence>;

/// One kind of error at every step.
struct Errors {
    /// The quantity of which it is the error.
    name: &'static str,
    /// The error at each step; NaN if unknown.
    values: Vec<f64>,
    /// The fitted order.
    fit: Option<Fit>,
    /// Equal to the reference up to rounding: there is no order.
    equal: bool,
}

fn errors(found: &Convergence) -> Vec<Errors> {
    let one = |name, k: usize, fit, value: &dyn Fn(&Level) -> f64| Errors {
        name,
        values: found.levels.iter().map(value).collect(),
        fit,
        equal: found.orders.equal[k],
    };
    let orders = &found.orders;
    vec![
        one("position", 0, orders.position, &|l| l.position),
        one("velocity", 1, orders.velocity, &|l| l.velocity),
        one("impact times", 2, orders.times, &|l| l.times.unwrap_or(f64::NAN)),
        one("total impulse", 3, orders.impulse, &|l| l.impulse),
    ]
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
    let (model, found) = (report.model, report.found);
    let subtitle = format!("{}, {}", found.scheme.name, found.compared_with());
    let over = if found.over == Over::Modes { "number of modes" } else { "step" };
    let sizes: Vec<f64> = found.levels.iter().map(|l| l.size).collect();
    let all = errors(found);
    let mut page = Page::new(&model.title, &subtitle, &report.origin);
    page.section("orders", "Convergence");
    page.list("warning", found.warnings.clone());
    let extrapolated = found.extrapolated.as_ref().map(|q| {
        let state = q.iter().take(12).zip(&model.coordinates).map(|(x, name)| format!("{name} = {}", number(*x, 8)));
        format!("extrapolated final position: {}", state.collect::<Vec<_>>().join(", "))
    });
    page.list("good", found.verdict.clone().into_iter().chain(extrapolated));
    let mut figure = Figure::new("orders", &format!("Error over {over}"), over, "error");
    for axis in ["xaxis", "yaxis"] {
        figure.layout[axis]["type"] = json!("log");
    }
    for (k, errors) in all.iter().enumerate() {
        // Rounding errors have no order, and zero has no place on a logarithmic axis.
        let points: Vec<(f64, f64)> =
            sizes.iter().copied().zip(errors.values.iter().copied()).filter(|p| p.1 > 1e-12).collect();
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
    let heads: Vec<String> = [over.to_string()]
        .into_iter()
        .chain(all.iter().map(|e| e.name.to_string()))
        .chain(["impacts".into()])
        .collect();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (k, &h) in sizes.iter().enumerate() {
        let mut row = vec![Cell::number(h, 6)];
        row.extend(all.iter().map(|e| Cell::number(e.values.get(k).copied().unwrap_or(f64::NAN), 4)));
        row.push(Cell::count(found.levels[k].impacts));
        rows.push(row);
    }
    let mut orders = vec![Cell::text("order")];
    orders.extend(all.iter().map(|e| {
        Cell::text(match e.fit {
            _ if e.equal => "equal to rounding".into(),
            Some(f) => format!("{} ± {}", number(f.order, 3), number(f.spread, 1)),
            None => "–".into(),
        })
    }));
    orders.push(Cell::text(""));
    rows.push(orders);
    page.raw(&table("error-table", &heads, rows.into_iter(), false));
    page.close();
    page
}
