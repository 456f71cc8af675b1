//! Sections of a motion after its transient: the state once per forcing period, and impacts by the phase of the forcing.

use super::{MAX_SERIES, phase_axes, phase_name};
use crate::figure::{Figure, Trace, numbers};
use crate::text::{grouped, number, quantity, quotient, with_unit};
use saltus::analysis::LongTime;
use saltus::{Model, Side, Trajectory};
use serde_json::json;

/// The largest number of points of a section.
const MAX_POINTS: usize = 5_000;
/// A state differs from that a period later by less than this share of the motion if the transient is over.
const SETTLED: f64 = 1e-3;

/// The time from which a motion is shown in sections, and why: since it is at rest or periodic, else the last half.
pub fn settled_since(trajectory: &Trajectory, settled: &LongTime) -> (f64, &'static str) {
    let (first, last) = trajectory.span().unwrap_or((0.0, 0.0));
    match settled {
        LongTime::Rest { since, .. } => (since.clamp(first, last), "since it is at rest"),
        LongTime::Periodic { period, .. } if *period > 0.0 => {
            (periodic_since(trajectory, *period, first, last), "since it is periodic")
        }
        _ => (0.5 * (first + last), "in the last half of the run"),
    }
}

/// The time since which states repeat after a period.
fn periodic_since(trajectory: &Trajectory, period: f64, first: f64, last: f64) -> f64 {
    let d = trajectory.dimension();
    let mut sizes = vec![(f64::INFINITY, f64::NEG_INFINITY); 2 * d];
    for k in 0..trajectory.len() {
        let state = trajectory.q(k).iter().chain(trajectory.v(k, Side::Right));
        sizes.iter_mut().zip(state).for_each(|(s, &x)| *s = (s.0.min(x), s.1.max(x)));
    }
    let mut later: Option<Vec<f64>> = None;
    let mut since = last;
    // Half a period from the end, so that an impact at the end, on one side of it or the other, does not matter.
    let periods = ((last - first) / period - 0.5).floor().max(0.0) as usize;
    for k in 0..=periods.min(100_000) {
        let t = last - (k as f64 + 0.5) * period;
        let Some((q, v)) = trajectory.at(t, Side::Right) else { break };
        let state: Vec<f64> = q.into_iter().chain(v).collect();
        let near = |later: &Vec<f64>| {
            let far = later.iter().zip(&state).zip(&sizes).map(|((a, b), s)| ((a - b).abs(), s.1 - s.0));
            far.into_iter().all(|(far, size)| far <= SETTLED * size || size <= 0.0)
        };
        if !later.as_ref().is_none_or(near) {
            break;
        }
        since = t;
        later = Some(state);
    }
    since.max(first)
}

/// The state once per forcing period from a time on; None if there are fewer than three.
pub fn stroboscopic(model: &Model, trajectory: &Trajectory, period: f64, (since, why): (f64, &str)) -> Option<Figure> {
    let (start, last) = trajectory.span()?;
    if !(period > 0.0) || last - start < 5.0 * period {
        return None;
    }
    let to = (last / period * (1.0 + 1e-9)).floor();
    let from = (since.max(start) / period * (1.0 - 1e-9)).ceil().max(to - MAX_POINTS as f64);
    let n = model.coordinates.len().min(MAX_SERIES).min(8);
    let (mut q, mut v, mut times) = (vec![Vec::new(); n], vec![Vec::new(); n], Vec::new());
    for k in 0..=(to - from).max(0.0) as usize {
        let t = ((from + k as f64) * period).clamp(start, last);
        let (x, w) = trajectory.at(t, Side::Right)?;
        times.push(t);
        for i in 0..n {
            q[i].push(x[i]);
            v[i].push(w[i]);
        }
    }
    if times.len() < 3 {
        return None;
    }
    let (x, y) = phase_axes(model, n);
    let mut figure = Figure::new("section", "Stroboscopic section", &x, &y);
    for i in 0..n {
        let dots = Trace::new("section", &phase_name(model, i, n), "markers", &q[i], &v[i]).colour(i);
        let visible = if i < 4 { json!(true) } else { json!("legendonly") };
        figure.push(dots.with(json!({
            "showlegend": true, "visible": visible, "marker": { "size": 5, "opacity": 0.7 }, "customdata": numbers(&times),
            "hovertemplate": "%{x:.6g}, %{y:.6g}<br>t = %{customdata:.6g}<extra></extra>",
        })));
    }
    widen(&mut figure, &q, &v);
    let time = |t: f64| quantity(&number(t, 6), &model.units.time);
    Some(figure.caption(format!(
        "State at {} instants, one forcing period ({}) apart, {why}: from t = {}.",
        grouped(times.len()),
        time(period),
        time(times[0])
    )))
}

/// Points that coincide but for rounding get axes on which they do.
fn widen(figure: &mut Figure, q: &[Vec<f64>], v: &[Vec<f64>]) {
    for (axis, values) in [("xaxis", q), ("yaxis", v)] {
        let all = || values.iter().flatten().copied().filter(|x| x.is_finite());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let largest = low.abs().max(high.abs());
        if low <= high && high - low <= 1e-6 * largest {
            figure.layout[axis]["range"] = json!([low - 0.5 * largest, high + 0.5 * largest]);
        }
    }
}

/// Approach speed over the phase of the forcing at impacts from a time on; None if there are fewer than five.
pub fn impact_section(
    model: &Model,
    trajectory: &Trajectory,
    period: f64,
    (since, why): (f64, &str),
) -> Option<Figure> {
    let mut points = vec![(Vec::new(), Vec::new()); model.constraints.len()];
    let all = || trajectory.impacts.iter().filter(|i| i.t >= since && i.approach.is_finite());
    let count = all().count();
    if count < 5 || !(period > 0.0) {
        return None;
    }
    for impact in all().skip(count.saturating_sub(MAX_POINTS)) {
        if let Some((phase, speed)) = impact.constraints.first().and_then(|&a| points.get_mut(a)) {
            phase.push((impact.t / period).rem_euclid(1.0));
            speed.push(-impact.approach);
        }
    }
    let speed = with_unit("approach speed", &quotient(&model.units.length, &model.units.time));
    let mut figure = Figure::new("impact-section", "Impact section", "phase of the forcing (periods)", &speed);
    figure.layout["xaxis"]["range"] = json!([-0.02, 1.02]);
    figure.layout["yaxis"]["rangemode"] = json!("tozero");
    for (a, (phase, speed)) in points.iter().enumerate().filter(|(_, p)| !p.0.is_empty()) {
        let dots = Trace::new("impact-section", &model.constraints[a].name, "markers", phase, speed).colour(a);
        figure.push(dots.with(json!({ "showlegend": true, "marker": { "size": 5, "opacity": 0.7 } })));
    }
    let shown = grouped(count.min(MAX_POINTS));
    Some(figure.caption(format!("{shown} impacts {why}: when in the forcing period, and how fast.")))
}
