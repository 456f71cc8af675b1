//! Reactions: densities as areas, impulses as stems.

use super::{MOST_SERIES, left_out, limit};
use crate::figure::{Figure, Trace, colour, pale};
use crate::html::with_unit;
use crate::series;
use saltus::{Model, Trajectory};
use serde_json::json;

/// Reaction densities of contacts as areas (left axis), impulses of impacts as stems (right axis); None if nothing acted.
pub fn reactions(model: &Model, trajectory: &Trajectory) -> Option<Figure> {
    let (m, n) = (model.constraints.len(), model.constraints.len().min(MOST_SERIES));
    let limit = limit(n);
    let densities = series::reactions(trajectory, m, limit);
    // Impulses and forces have an axis each; without contacts one is enough.
    let pressed = densities.iter().take(n).any(|line| !line.t.is_empty());
    let impulse = with_unit("impulse at impacts", &model.units.impulse);
    let force = with_unit("reaction in contact", &model.units.force);
    let (axis, title) = if pressed { ("y2", &force) } else { ("y", &impulse) };
    let mut figure = Figure::new("reactions", "Reactions", &with_unit("t", &model.units.time), title).over_time();
    let mut any = (false, false);
    let mut left = 0;
    for (a, line) in densities.iter().enumerate().take(n) {
        let name = &model.constraints[a].name;
        let stems = series::impulses(trajectory, a, limit);
        if !line.t.is_empty() {
            any.0 = true;
            // An area needs its own way back to zero at both ends of each contact.
            let (mut t, mut y) = (Vec::new(), Vec::new());
            for piece in line.segments() {
                let (first, last) = (line.t[piece.start], line.t[piece.end - 1]);
                t.extend([first].iter().chain(&line.t[piece.clone()]).chain(&[last, last]));
                y.extend([0.0].iter().chain(&line.y[0][piece]).chain(&[0.0, f64::NAN]));
            }
            let area = Trace::new("density", name, "lines", &t, &y).colour(a).group(name, stems.t.is_empty());
            figure.push(area.with(json!({ "fill": "tozeroy", "fillcolor": pale(a), "line": { "width": 1.2 } })));
        }
        if !stems.t.is_empty() {
            any.1 = true;
            left += stems.given - stems.t.len();
            let (mut t, mut y) = (Vec::new(), Vec::new());
            for (&at, &p) in stems.t.iter().zip(&stems.impulse) {
                t.extend([at, at, f64::NAN]);
                y.extend([0.0, p, f64::NAN]);
            }
            let sticks = Trace::new("stem", name, "lines", &t, &y).colour(a).group(name, false);
            figure.push(sticks.with(json!({ "yaxis": axis, "line": { "width": 1 }, "hoverinfo": "skip" })));
            let size = if stems.t.len() > 300 { 3 } else { 6 };
            let heads = Trace::new("impulse", name, "markers", &stems.t, &stems.impulse).group(name, true);
            figure.push(heads.with(json!({ "yaxis": axis, "marker": { "color": colour(a), "size": size } })));
        }
    }
    if any == (false, false) {
        return None;
    }
    figure.layout["yaxis"]["rangemode"] = json!("tozero");
    if pressed {
        figure.layout["yaxis2"] = json!({
            "title": { "text": crate::html::escape(&impulse) }, "overlaying": "y", "side": "right", "rangemode": "tozero",
            "showgrid": false, "exponentformat": "power",
        });
    }
    let densities = match (any.0, trajectory.pieces.is_empty()) {
        (false, _) => "Stems: impulses of impacts. ",
        (true, false) => "Areas: reaction during contact. Stems: impulses of impacts. ",
        (true, true) => {
            "Areas: mean reaction over each contact, the impulse that opens it included. Stems: impulses of impacts. "
        }
    };
    let cut = match left {
        0 => String::new(),
        left => format!("{left} smaller stems are left out; the largest of every interval are there."),
    };
    Some(figure.caption(densities.to_string() + &cut + &left_out(m, "constraints")))
}
