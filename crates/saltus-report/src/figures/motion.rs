//! Positions, velocities, gaps and energy over time.

use super::{MAX_SERIES, common, limit, omitted, thinning};
use crate::figure::{Figure, Trace};
use crate::series;
use crate::text::with_unit;
use crate::thin::Line;
use saltus::problem::{Energy, Gaps};
use saltus::{Model, Trajectory};
use serde_json::json;

fn time(model: &Model) -> String {
    with_unit("t", &model.units.time)
}

/// The name of a coordinate, with its unit if the axis does not show it.
fn label(model: &Model, i: usize, prime: &str, unit: &str, axis_unit: &str) -> String {
    let name = format!("{}{prime}", model.coordinates[i]);
    if unit == axis_unit { name } else { with_unit(&name, unit) }
}

/// The coordinates that are drawn: displacements, up to so many; and how many there are.
fn drawn(trajectory: &Trajectory) -> (Vec<usize>, usize) {
    let mut all: Vec<usize> = trajectory.displacements().collect();
    let count = all.len();
    all.truncate(MAX_SERIES);
    (all, count)
}

/// Positions over time; forces among the coordinates have a figure of their own.
pub fn positions(model: &Model, trajectory: &Trajectory) -> Figure {
    let (shown, count) = drawn(trajectory);
    let n = shown.len();
    let unit = common(shown.iter().map(|&i| model.units.position(i).to_string()));
    let name = if n == 1 { model.coordinates[shown[0]].clone() } else { "position".into() };
    let mut figure = Figure::new("positions", "Positions", &time(model), &with_unit(&name, &unit)).over_time();
    let lines: Vec<Line> = shown.iter().map(|&i| series::position(trajectory, i, limit(n))).collect();
    for (k, (line, &i)) in lines.iter().zip(&shown).enumerate() {
        let name = label(model, i, "", model.units.position(i), &unit);
        figure.push(
            Trace::new("position", &name, "lines", &line.t, &line.y[0]).colour(k).with(json!({ "showlegend": true })),
        );
    }
    figure.caption(thinning(&lines) + &omitted(count, "coordinates"))
}

/// Marks the two limits of each jump: an open circle before it, a filled one after it.
fn mark_jumps(figure: &mut Figure, name: &str, k: usize, line: &Line) {
    if line.jumps.is_empty() {
        return;
    }
    let t: Vec<f64> = line.jumps.iter().map(|j| j.t).collect();
    let size = if line.jumps.len() > 300 { 3 } else { 6 };
    for (role, symbol, y) in [
        ("before", "circle-open", line.jumps.iter().map(|j| j.left[0]).collect::<Vec<_>>()),
        ("after", "circle", line.jumps.iter().map(|j| j.right[0]).collect()),
    ] {
        let marks = Trace::new(role, &format!("{name} {role} an impact"), "markers", &t, &y);
        figure.push(marks.colour(k).group(name, false).with(json!({ "marker": { "symbol": symbol, "size": size } })));
    }
}

/// Velocities over time; at a jump the curve is broken and both limits are marked.
pub fn velocities(model: &Model, trajectory: &Trajectory) -> Figure {
    let (shown, count) = drawn(trajectory);
    let n = shown.len();
    let unit = common(shown.iter().map(|&i| model.units.velocity(i)));
    let name = if n == 1 { format!("{}′", model.coordinates[shown[0]]) } else { "velocity".into() };
    let mut figure = Figure::new("velocities", "Velocities", &time(model), &with_unit(&name, &unit)).over_time();
    let lines: Vec<Line> = shown.iter().map(|&i| series::velocity(trajectory, i, limit(n))).collect();
    for (k, (line, &i)) in lines.iter().zip(&shown).enumerate() {
        let name = label(model, i, "′", &model.units.velocity(i), &unit);
        figure.push(Trace::new("velocity", &name, "lines", &line.t, &line.y[0]).colour(k).group(&name, true));
        mark_jumps(&mut figure, &name, k, line);
    }
    let jumps = if lines.iter().any(|l| !l.jumps.is_empty()) {
        "At an impact: open circle before, filled circle after. "
    } else {
        ""
    };
    figure.caption(jumps.to_string() + &thinning(&lines) + &omitted(count, "coordinates"))
}

/// Gaps over time.
pub fn gaps(model: &Model, trajectory: &Trajectory, gaps: &mut Gaps) -> Figure {
    let (m, n) = (model.constraints.len(), model.constraints.len().min(MAX_SERIES));
    let mut figure = Figure::new("gaps", "Gaps", &time(model), &with_unit("gap", &model.units.length)).over_time();
    let lines = series::sampled(trajectory, n, limit(n), &mut |t, q, v, out| {
        gaps.evaluate(t, q, v);
        out.copy_from_slice(&gaps.values[..n]);
    });
    for (a, line) in lines.iter().enumerate() {
        let name = &model.constraints[a].name;
        figure
            .push(Trace::new("gap", name, "lines", &line.t, &line.y[0]).colour(a).with(json!({ "showlegend": true })));
    }
    figure.caption(format!("Zero means contact. {}{}", thinning(&lines), omitted(m, "constraints")))
}

/// Energy over time, with its jumps at impacts.
pub fn energy(model: &Model, trajectory: &Trajectory, energy: &mut Energy) -> Figure {
    let mut figure =
        Figure::new("energy", "Energy", &time(model), &with_unit("energy", &model.units.energy)).over_time();
    let lines = series::sampled(trajectory, 3, limit(3), &mut |t, q, v, out| {
        let (kinetic, potential) = energy.both(t, q, v);
        out.copy_from_slice(&[kinetic + potential, kinetic, potential]);
    });
    let names = ["total", "kinetic", "potential"];
    let shown: &[usize] = if model.potential.is_some() { &[0, 1, 2] } else { &[1] };
    for &k in shown {
        let line = &lines[k];
        let width = if k == 0 { 2.2 } else { 1.2 };
        let trace = Trace::new("energy", names[k], "lines", &line.t, &line.y[0]).colour(k).group(names[k], true);
        figure.push(trace.with(json!({ "line": { "width": width } })));
        if k == shown[0] {
            mark_jumps(&mut figure, names[k], k, line);
        }
    }
    // A conserved energy is drawn as a constant, not as rounding errors.
    let values = || shown.iter().flat_map(|&k| lines[k].y[0].iter().copied()).filter(|y| y.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if high - low <= 1e-9 * high.abs().max(low.abs()) && high != 0.0 {
        figure.layout["yaxis"]["range"] = json!([1.2 * low.min(0.0), 1.2 * high.max(0.0)]);
    }
    let impacts = match trajectory.impacts.is_empty() {
        true => "",
        false => "At an impact: open circle before, filled circle after. ",
    };
    figure.caption(impacts.to_string() + &thinning(&lines))
}
