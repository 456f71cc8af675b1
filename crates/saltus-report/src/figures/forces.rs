//! Forces of the stops of a structure over time, and what wears.

use super::{MAX_SERIES, limit, omitted, thinning};
use crate::figure::{Figure, Trace, colour};
use crate::text::{number, with_unit};
use crate::thin::{Line, Thinner};
use saltus::analysis::Shocks;
use saltus::{Model, Trajectory};
use serde_json::{Value, json};

/// More bars than this have no numbers over them.
const MOST_LABELS: usize = 10;

/// The forces of stops with a stiffness: between stored instants the mean, which over one step is the force; the true peak of every
/// shock beside them. None where there is no such stop, or none that was touched.
pub fn forces(model: &Model, trajectory: &Trajectory, shocks: &Shocks, step: f64) -> Option<Figure> {
    let history = &trajectory.history;
    if !history.has_impulses() || trajectory.len() < 2 {
        return None;
    }
    let touched = |a: &usize| shocks.stops[*a].peak_force.is_some() && shocks.stops[*a].total_impulse > 0.0;
    let all: Vec<usize> = (0..shocks.stops.len()).filter(touched).collect();
    let shown = &all[..all.len().min(MAX_SERIES)];
    if shown.is_empty() {
        return None;
    }
    let t = &trajectory.t;
    let last = history.len().min(t.len()) - 1;
    let is_coarse = (1..=last).any(|k| t[k] - t[k - 1] > 1.5 * step);
    let title = if is_coarse { "mean force" } else { "force" };
    let (time, force) = (with_unit("t", &model.units.time), with_unit(title, &model.units.force));
    let mut figure = Figure::new("forces", "Forces of the supports", &time, &force).over_time();
    let mut lines: Vec<Line> = Vec::new();
    for (k, &a) in shown.iter().enumerate() {
        let mut thinner = Thinner::<1>::new(2 * last, (t[0], t[last]), limit(shown.len()));
        for i in 1..=last {
            let mean = (history.impulses(i)[a] - history.impulses(i - 1)[a]) / (t[i] - t[i - 1]);
            // (What rounding of the sums leaves of an open stop is nothing.)
            let mean = if mean.abs() <= 1e-12 * history.impulses(i)[a].abs() / (t[i] - t[i - 1]) { 0.0 } else { mean };
            thinner.push(t[i - 1], [mean]);
            thinner.push(t[i], [mean]);
        }
        let line = thinner.finish();
        let name = &model.constraints[a].name;
        figure.push(Trace::new("force", name, "lines", &line.t, &line.y[0]).colour(k).group(name, true));
        if is_coarse {
            let peaks = shocks.list.iter().filter(|s| s.stop == a).filter_map(|s| Some((s.peak_at, s.peak?)));
            let (at, peak): (Vec<f64>, Vec<f64>) = peaks.unzip();
            let marks = Trace::new("peak", &format!("{name}, peaks"), "markers", &at, &peak).group(name, false);
            figure.push(marks.with(json!({ "marker": { "color": colour(k), "size": 5, "symbol": "line-ew-open" } })));
        }
        lines.push(line);
    }
    figure.layout["yaxis"]["rangemode"] = json!("tozero");
    let how = match is_coarse {
        false => "The mean over each step, which is the force of a stop with a stiffness. ",
        true => {
            "Lines: the mean force between two stored instants, not its course. Marks: the true peak of each shock, at its instant. "
        }
    };
    Some(figure.caption(how.to_string() + &thinning(&lines) + &omitted(all.len(), "touched stops with a stiffness")))
}

/// Base shears over time, damping included: forces, on an axis of their own. None where no point is one.
pub fn base_shears(model: &Model, trajectory: &Trajectory) -> Option<Figure> {
    let history = &trajectory.history;
    let points = history.shear_points();
    if points.is_empty() || history.len() != trajectory.len() || trajectory.len() < 2 {
        return None;
    }
    let t = &trajectory.t;
    let (time, force) = (with_unit("t", &model.units.time), with_unit("base shear", &model.units.force));
    let mut figure = Figure::new("shears", "Base shear", &time, &force).over_time();
    let shown = points.len().min(MAX_SERIES);
    let mut lines: Vec<Line> = Vec::new();
    for (k, &point) in points.iter().enumerate().take(shown) {
        let mut thinner = Thinner::<1>::new(t.len(), (t[0], t[t.len() - 1]), limit(shown));
        (0..t.len()).for_each(|i| thinner.push(t[i], [history.shears(i)[k]]));
        let line = thinner.finish();
        let trace = Trace::new("shear", &model.coordinates[point], "lines", &line.t, &line.y[0]).colour(k);
        figure.push(trace.with(json!({ "showlegend": true })));
        lines.push(line);
    }
    let how = "Forces of springs and dashpots on the supports, at the stored instants. ";
    Some(figure.caption(how.to_string() + &thinning(&lines) + &omitted(points.len(), "base shears")))
}

/// Wear power and, where there is friction, its mean power, stop by stop. None where nothing slides.
pub fn wear(model: &Model, trajectory: &Trajectory, shocks: &Shocks) -> Option<Figure> {
    let names = |of: &dyn Fn(usize) -> Option<f64>| -> (Vec<Value>, Vec<f64>) {
        let all = (0..shocks.stops.len()).filter_map(|a| Some((json!(model.constraints[a].name), of(a)?)));
        all.take(4 * MAX_SERIES).unzip()
    };
    let (stops, wear) = names(&|a| shocks.stops[a].wear_power);
    if stops.is_empty() || wear.iter().all(|w| *w == 0.0) {
        return None;
    }
    let duration = trajectory.span().map_or(0.0, |(from, to)| to - from).max(f64::MIN_POSITIVE);
    let mut figure = Figure::new("wear", "Wear of the supports", "support", &with_unit("power", &model.units.power()));
    let bars = |role: &str, name: &str, (stops, values): (Vec<Value>, Vec<f64>), k: usize| {
        // (Numbers over many bars would lie over each other.)
        let is_legible = values.len() <= MOST_LABELS;
        let text: Vec<String> = values.iter().map(|v| if is_legible { number(*v, 3) } else { String::new() }).collect();
        let fields = json!({
            "type": "bar", "x": stops, "y": values, "text": text, "textposition": "outside", "cliponaxis": false,
            "marker": { "color": colour(k) }, "showlegend": true,
        });
        Trace::other(role, name, fields)
    };
    figure.push(bars("wear", "wear power", (stops, wear), 0));
    let (rough, heat) = names(&|a| shocks.stops[a].friction.map(|f| f.work / duration));
    if !rough.is_empty() {
        figure.push(bars("heat", "mean power of friction", (rough, heat), 1));
    }
    figure.layout["xaxis"]["type"] = json!("category");
    figure.layout["yaxis"]["rangemode"] = json!("tozero");
    Some(figure.caption("Wear power: force of the stop times speed of the slip, averaged over the run. The power of friction is what became heat."))
}
