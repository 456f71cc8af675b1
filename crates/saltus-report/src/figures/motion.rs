//! Positions, velocities, phase portraits, gaps and energy over time.

use super::{MOST_SERIES, ReadEnergy, ReadGaps, left_out, limit, thinned};
use crate::figure::{Figure, Trace};
use crate::html::with_unit;
use crate::series;
use crate::thin::Line;
use saltus::{Model, Trajectory};
use serde_json::json;

/// The unit that all shown coordinates have in common.
fn common(units: impl Iterator<Item = String>) -> String {
    let mut units = units.collect::<Vec<_>>();
    units.dedup();
    match units.as_slice() {
        [one] => one.clone(),
        _ => String::new(),
    }
}

fn time(model: &Model) -> String {
    with_unit("t", &model.units.time)
}

/// Names of the coordinates, with units where they differ from the axis's.
fn label(model: &Model, i: usize, prime: &str, unit: &str, of_axis: &str) -> String {
    let name = format!("{}{prime}", model.coordinates[i]);
    if unit == of_axis { name } else { with_unit(&name, unit) }
}

/// Positions over time.
pub fn positions(model: &Model, trajectory: &Trajectory) -> Figure {
    let n = model.coordinates.len().min(MOST_SERIES);
    let unit = common((0..n).map(|i| model.units.position(i).to_string()));
    let one = if n == 1 { model.coordinates[0].clone() } else { "position".into() };
    let mut figure = Figure::new("positions", "Positions", &time(model), &with_unit(&one, &unit)).over_time();
    let lines: Vec<Line> = (0..n).map(|i| series::position(trajectory, i, limit(n))).collect();
    for (i, line) in lines.iter().enumerate() {
        let name = label(model, i, "", model.units.position(i), &unit);
        figure.push(
            Trace::new("position", &name, "lines", &line.t, &line.y[0]).colour(i).with(json!({ "showlegend": true })),
        );
    }
    figure.caption(thinned(&lines) + &left_out(model.coordinates.len(), "coordinates"))
}

/// Adds the two limits of each jump: open before, filled after.
fn limits(figure: &mut Figure, name: &str, k: usize, line: &Line) {
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

/// Velocities over time: a jump is a gap with both limits marked.
pub fn velocities(model: &Model, trajectory: &Trajectory) -> Figure {
    let n = model.coordinates.len().min(MOST_SERIES);
    let unit = common((0..n).map(|i| model.units.velocity(i)));
    let one = if n == 1 { format!("{}′", model.coordinates[0]) } else { "velocity".into() };
    let mut figure = Figure::new("velocities", "Velocities", &time(model), &with_unit(&one, &unit)).over_time();
    let lines: Vec<Line> = (0..n).map(|i| series::velocity(trajectory, i, limit(n))).collect();
    for (i, line) in lines.iter().enumerate() {
        let name = label(model, i, "′", &model.units.velocity(i), &unit);
        figure.push(Trace::new("velocity", &name, "lines", &line.t, &line.y[0]).colour(i).group(&name, true));
        limits(&mut figure, &name, i, line);
    }
    let jumps =
        if lines.iter().any(|l| !l.jumps.is_empty()) { "At an impact: open circle before, filled after. " } else { "" };
    figure.caption(jumps.to_string() + &thinned(&lines) + &left_out(model.coordinates.len(), "coordinates"))
}

/// Velocity against position, broken at impacts.
pub fn phase(model: &Model, trajectory: &Trajectory) -> Figure {
    let n = model.coordinates.len().min(MOST_SERIES);
    let (x, y) = match n {
        1 => (
            with_unit(&model.coordinates[0], model.units.position(0)),
            with_unit(&format!("{}′", model.coordinates[0]), &model.units.velocity(0)),
        ),
        _ => (
            with_unit("position", &common((0..n).map(|i| model.units.position(i).to_string()))),
            with_unit("velocity", &common((0..n).map(|i| model.units.velocity(i)))),
        ),
    };
    let mut figure = Figure::new("phase", "Phase portrait", &x, &y);
    for i in 0..n {
        let name = &model.coordinates[i];
        let curve = series::phase(trajectory, i, limit(2 * n));
        // The first few coordinates are enough to begin with; the others are a click away.
        let visible = if i < 4 { json!(true) } else { json!("legendonly") };
        let line = Trace::new("phase", name, "lines", &curve.y[0], &curve.y[1]).colour(i).group(name, true);
        figure.push(line.with(json!({ "visible": visible, "line": { "width": 1.1 } })));
        if curve.jumps.is_empty() {
            continue;
        }
        // The jump itself: down the dotted line from the velocity before to the one after.
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for jump in &curve.jumps {
            q.extend([jump.left[0], jump.right[0], f64::NAN]);
            v.extend([jump.left[1], jump.right[1], f64::NAN]);
        }
        let dotted =
            Trace::new("phase-jump", &format!("{name}: impacts"), "lines", &q, &v).colour(i).group(name, false);
        figure.push(dotted.with(json!({ "visible": visible, "line": { "dash": "dot", "width": 1 }, "opacity": 0.6 })));
    }
    figure.caption(
        "Dotted: the jump of the velocity at an impact.".to_string()
            + &left_out(model.coordinates.len(), "coordinates"),
    )
}

/// Gaps over time; closed is zero.
pub fn gaps(model: &Model, trajectory: &Trajectory, read: &mut ReadGaps) -> Figure {
    let (m, n) = (model.constraints.len(), model.constraints.len().min(MOST_SERIES));
    let mut figure = Figure::new("gaps", "Gaps", &time(model), &with_unit("gap", &model.units.length)).over_time();
    let mut all = vec![0.0; m];
    let lines = series::sampled(trajectory, n, limit(n), &mut |t, q, _, out| {
        read(t, q, &mut all);
        out.copy_from_slice(&all[..n]);
    });
    for (a, line) in lines.iter().enumerate() {
        let name = &model.constraints[a].name;
        figure
            .push(Trace::new("gap", name, "lines", &line.t, &line.y[0]).colour(a).with(json!({ "showlegend": true })));
    }
    figure.caption(format!("Zero is closed. {}{}", thinned(&lines), left_out(m, "constraints")))
}

/// Energy over time, with what impacts take.
pub fn energy(model: &Model, trajectory: &Trajectory, potential: bool, read: &mut ReadEnergy) -> Figure {
    let mut figure =
        Figure::new("energy", "Energy", &time(model), &with_unit("energy", &model.units.energy)).over_time();
    let lines = series::sampled(trajectory, 3, limit(3), &mut |t, q, v, out| {
        let (kinetic, potential) = read(t, q, v);
        out.copy_from_slice(&[kinetic + potential, kinetic, potential]);
    });
    let names = ["total", "kinetic", "potential"];
    let shown: &[usize] = if potential { &[0, 1, 2] } else { &[1] };
    for &k in shown {
        let line = &lines[k];
        let width = if k == 0 { 2.2 } else { 1.2 };
        let trace = Trace::new("energy", names[k], "lines", &line.t, &line.y[0]).colour(k).group(names[k], true);
        figure.push(trace.with(json!({ "line": { "width": width } })));
        if k == shown[0] {
            limits(&mut figure, names[k], k, line);
        }
    }
    // An energy that is kept is shown as such, not as its rounding.
    let values = || shown.iter().flat_map(|&k| lines[k].y[0].iter().copied()).filter(|y| y.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if high - low <= 1e-9 * high.abs().max(low.abs()) && high != 0.0 {
        figure.layout["yaxis"]["range"] = json!([1.2 * low.min(0.0), 1.2 * high.max(0.0)]);
    }
    let impacts = match trajectory.impacts.is_empty() {
        true => "",
        false => "Impacts change the energy at once: open circle before, filled after. ",
    };
    figure.caption(impacts.to_string() + &thinned(&lines))
}
