//! Phase portraits, with the stops of the coordinates.

use super::{MAX_SERIES, omitted, phase_axes, phase_name};
use crate::figure::{Figure, Trace, rounded};
use crate::series;
use crate::text::{label, number, quantity};
use crate::thin::Limit;
use crate::walls::{Wall, Walls};
use saltus::Trajectory;
use serde_json::json;

/// The largest number of points of all curves together.
const MAX_POINTS: usize = 16_000;
/// The number of coordinates that are shown at first; a click in the legend shows the others.
const VISIBLE: usize = 4;
/// The margin around the curves, so that a stop at their edge is visible.
const MARGIN: f64 = 0.03;
/// A stop is shown if it is within the positions, or beyond them by at most this share of their range.
const NEAR: f64 = 0.3;

/// Velocity over position, broken at impacts. `fine` is the motion, or the last part of it, with enough instants to draw.
pub fn phase(walls: &mut Walls, all: &[Wall], fine: &Trajectory, start: f64) -> Figure {
    let model = walls.model;
    let n = model.coordinates.len().min(MAX_SERIES);
    let (x, y) = phase_axes(model, n);
    let mut figure = Figure::new("phase", "Phase portrait", &x, &y);
    let limit = Limit { points: (MAX_POINTS / n.max(1)).max(1_000), jumps: usize::MAX };
    let (mut from, mut has_jumps, mut has_stops) = (start, false, false);
    let (mut across, mut up) = (Vec::new(), Vec::new());
    for i in (0..n).filter(|&i| !fine.is_force(i)) {
        let name = &phase_name(model, i, n);
        let curve = series::phase(fine, i, limit);
        from = curve.t.first().copied().unwrap_or(start).max(from);
        has_jumps |= !curve.jumps.is_empty();
        let visible = if i < VISIBLE { json!(true) } else { json!("legendonly") };
        let line = Trace::new("phase", name, "lines", &[], &[]).colour(i).group(name, true);
        let values = json!({ "x": rounded(&curve.y[0]), "y": rounded(&curve.y[1]) });
        figure.push(line.with(values).with(json!({ "visible": visible, "line": { "width": 1.1 } })));
        if !curve.jumps.is_empty() {
            // Dotted lines join the velocities before and after each jump.
            let (mut q, mut v) = (Vec::new(), Vec::new());
            for jump in &curve.jumps {
                q.extend([jump.left[0], jump.right[0], f64::NAN]);
                v.extend([jump.left[1], jump.right[1], f64::NAN]);
            }
            let dotted = Trace::new("phase-jump", &format!("{name}: impacts"), "lines", &[], &[]);
            let dotted = dotted.colour(i).group(name, false).with(json!({ "x": rounded(&q), "y": rounded(&v) }));
            figure.push(
                dotted.with(json!({ "visible": visible, "line": { "dash": "dot", "width": 1 }, "opacity": 0.6 })),
            );
        }
        let (q, v) = (range(&curve.y[0]), range(&curve.y[1]));
        let margin = NEAR * (q.1 - q.0);
        if i < VISIBLE {
            across.extend([q.0, q.1]);
            up.extend([v.0, v.1]);
        }
        for wall in all.iter().filter(|w| w.coordinates == [i] && !w.moves && margin > 0.0) {
            for at in walls.stops(wall, start, (q.0 - margin, q.1 + margin)) {
                has_stops = true;
                across.extend((i < VISIBLE).then_some(at));
                let stop = &model.constraints[wall.constraint].name;
                let beyond = MARGIN * (v.1 - v.0);
                let line = Trace::new("stop", stop, "lines", &[at, at], &[v.0 - beyond, v.1 + beyond]);
                let line = line.colour(i).group(name, false);
                // With several coordinates a stop has the colour of its own.
                let line = if n == 1 { line.with(json!({ "line": { "color": "#7a8494" } })) } else { line };
                let hover = format!("{stop}: {} = {}", model.coordinates[i], number(at, 6));
                let hover = label(&hover) + "<extra></extra>";
                figure.push(line.with(json!({
                    "visible": visible, "hovertemplate": hover, "line": { "width": 3 }, "opacity": 0.6,
                })));
            }
        }
    }
    for (axis, values) in [("xaxis", across), ("yaxis", up)] {
        let (low, high) = range(&values);
        if high > low {
            let margin = MARGIN * (high - low);
            figure.layout[axis]["autorangeoptions"] = json!({ "include": [low - margin, high + margin] });
        }
    }
    let mut caption = String::new();
    if has_jumps {
        caption.push_str("Dotted: velocity jumps at impacts. ");
    }
    if has_stops {
        caption.push_str("Thick vertical lines: stops (gap = 0). ");
    }
    if from > start {
        let from = quantity(&number(from, 6), &model.units.time);
        caption.push_str(&format!("From t = {from} on; the whole motion has too many turns for a page."));
    }
    figure.caption(caption + &omitted(model.coordinates.len(), "coordinates"))
}

/// The smallest and the largest finite value.
fn range(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().filter(|x| x.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)))
}
