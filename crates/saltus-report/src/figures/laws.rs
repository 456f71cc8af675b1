//! First-order states, joint reactions and friction forces over time, and where friction sticks and slides.

use super::{MAX_SERIES, limit, omitted, thinning};
use crate::figure::{Figure, Trace};
use crate::series;
use crate::text::with_unit;
use crate::thin::Line;
use saltus::{Model, PhaseKind, Run, Trajectory};
use serde_json::json;

/// Panels of states; their identifiers on the page.
const PANELS: [&str; 6] = ["states", "states-2", "states-3", "states-4", "states-5", "states-6"];
/// No more intervals of friction than this are coloured.
const MAX_BANDS: usize = 600;

fn time(model: &Model) -> String {
    with_unit("t", &model.units.time)
}

/// First-order states over time: one panel for each, or for each family, as far as there are panels.
pub fn states(model: &Model, trajectory: &Trajectory) -> Vec<Figure> {
    let family = |k: usize| model.states[k].name.split('[').next().unwrap_or_default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for k in 0..model.states.len() {
        match groups.iter_mut().find(|g| family(g[0]) == family(k)) {
            Some(group) => group.push(k),
            None => groups.push(vec![k]),
        }
    }
    let (all, d) = (groups.len(), model.coordinates.len());
    let panel = |(group, id): (&Vec<usize>, &'static str)| {
        let name = family(group[0]);
        let axis = with_unit(name, model.units.state(group[0]));
        let mut figure = Figure::new(id, &format!("State {name}"), &time(model), &axis).over_time();
        let n = group.len().min(MAX_SERIES);
        let lines: Vec<Line> = group[..n].iter().map(|k| series::velocity(trajectory, d + k, limit(n))).collect();
        for (place, (&k, line)) in group.iter().zip(&lines).enumerate() {
            let name = &model.states[k].name;
            let trace = Trace::new("state", name, "lines", &line.t, &line.y[0]).colour(place);
            figure.push(trace.with(json!({ "showlegend": n > 1 })));
        }
        let more = if all > PANELS.len() && id == PANELS[PANELS.len() - 1] {
            format!(" Showing the first {} of {all} states.", PANELS.len())
        } else {
            String::new()
        };
        figure.caption(thinning(&lines) + &omitted(group.len(), "members") + &more)
    };
    groups.iter().zip(PANELS).map(panel).collect()
}

/// Reactions of joints over time; None if they are not known.
pub fn joints(model: &Model, trajectory: &Trajectory) -> Option<Figure> {
    let names: Vec<String> = model.joints.iter().map(|joint| joint.name.clone()).collect();
    let first = model.constraints.len();
    let axis = with_unit("reaction", &model.units.force);
    let mut figure = Figure::new("joints", "Joint reactions", &time(model), &axis).over_time();
    let lines = curves(&mut figure, trajectory, first, &names, "joint")?;
    let what = "The multiplier of each equation: its gradient times this is the force. ";
    Some(figure.caption(what.to_string() + &thinning(&lines) + &omitted(names.len(), "equations")))
}

/// Friction forces over time; None if they are not known.
pub fn friction(model: &Model, trajectory: &Trajectory) -> Option<Figure> {
    let names = model.slip_names();
    let first = model.constraints.len() + model.joints.len();
    let axis = with_unit("friction force", &model.units.force);
    let mut figure = Figure::new("friction", "Friction", &time(model), &axis).over_time();
    let lines = curves(&mut figure, trajectory, first, &names, "friction")?;
    Some(figure.caption(thinning(&lines) + &omitted(names.len(), "slips")))
}

fn curves(
    figure: &mut Figure,
    trajectory: &Trajectory,
    first: usize,
    names: &[String],
    role: &str,
) -> Option<Vec<Line>> {
    let n = names.len().min(MAX_SERIES);
    if n == 0 || trajectory.pieces.is_empty() {
        return None;
    }
    let lines = series::densities(trajectory, first..first + n, limit(n));
    for (k, line) in lines.iter().enumerate() {
        let trace = Trace::new(role, &names[k], "lines", &line.t, &line.y[0]).colour(k);
        figure.push(trace.with(json!({ "showlegend": true })));
    }
    Some(lines)
}

/// An interval in which friction sticks or slides.
#[derive(Clone, Debug, PartialEq)]
pub struct Grip {
    /// Which friction, by its index in the model.
    pub friction: usize,
    /// Whether it sticks.
    pub sticks: bool,
    /// Where it begins.
    pub start: f64,
    /// Where it ends: where it changes, its contact opens, or the run ends.
    pub end: f64,
}

/// Where each friction sticks and slides, in the order of time; empty for schemes that do not locate it.
pub fn grips(model: &Model, run: &Run) -> Vec<Grip> {
    let last = run.trajectory.t.last().copied().unwrap_or(run.start.t);
    let mut all: Vec<Grip> = Vec::new();
    for (k, friction) in model.frictions.iter().enumerate() {
        let is_own = |p: &&saltus::Phase| p.kind.is_of_friction() && p.note == friction.name;
        let own: Vec<(f64, bool)> =
            run.timeline.phases.iter().filter(is_own).map(|p| (p.start, p.kind == PhaseKind::Stick)).collect();
        for (i, &(start, sticks)) in own.iter().enumerate() {
            let next = own.get(i + 1).map_or(last, |next| next.0);
            let opens = friction.constraint.and_then(|a| {
                let holds = |c: &&saltus::Contact| c.constraint == a && c.start <= start && start <= c.end;
                run.trajectory.contacts.iter().rfind(holds).map(|c| c.end)
            });
            let end = opens.unwrap_or(next).min(next);
            match all.last_mut() {
                // (Sliding the other way is sliding.)
                Some(before) if before.friction == k && before.sticks == sticks && before.end == start => {
                    before.end = end
                }
                _ if end > start => all.push(Grip { friction: k, sticks, start, end }),
                _ => {}
            }
        }
    }
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    all
}

/// Colours where friction sticks and slides behind time histories: over the whole height for one friction, in stripes from below
/// for several.
pub fn colour_grips(figures: &mut [Figure], model: &Model, grips: &[Grip]) {
    if grips.is_empty() {
        return;
    }
    let n = model.frictions.len().clamp(1, 8);
    let stripe = |k: usize| if n == 1 { (0.0, 1.0) } else { (0.05 * k as f64, 0.05 * (k + 1) as f64 - 0.008) };
    let opacity = if n == 1 { 0.13 } else { 0.55 };
    let shapes: Vec<_> = grips
        .iter()
        .filter(|g| g.friction < n)
        .take(MAX_BANDS)
        .map(|g| {
            let (low, high) = stripe(g.friction);
            json!({
                "type": "rect", "xref": "x", "yref": "paper", "layer": "below", "line": { "width": 0 },
                "x0": g.start, "x1": g.end, "y0": low, "y1": high, "opacity": opacity,
                "fillcolor": if g.sticks { STICKS } else { SLIDES },
            })
        })
        .collect();
    let order: Vec<&str> = model.frictions.iter().take(n).map(|f| f.name.as_str()).collect();
    let which = if n == 1 { String::new() } else { format!(" (stripes from below: {})", order.join(", ")) };
    for figure in figures.iter_mut().filter(|f| ["positions", "velocities", "friction"].contains(&f.id)) {
        figure.layout["shapes"] = json!(shapes);
        figure.caption = format!("Green: friction sticks; orange: it slides{which}. {}", figure.caption);
        for (name, fill) in [("sticks", STICKS), ("slides", SLIDES)] {
            let mark = json!({ "marker": { "color": fill, "symbol": "square", "size": 10 }, "showlegend": true, "hoverinfo": "skip" });
            figure.push(Trace::new("grip", name, "markers", &[f64::NAN], &[f64::NAN]).with(mark));
        }
    }
}

/// The colours of sticking and sliding.
const STICKS: &str = "#2ba15d";
const SLIDES: &str = "#e08a2e";
