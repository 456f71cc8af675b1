//! Reactions: densities as areas, impulses as stems.

use super::{MAX_SERIES, limit, omitted};
use crate::figure::{Figure, Trace, colour, pale};
use crate::series;
use crate::text::{count, label, with_unit};
use saltus::{Model, Trajectory};
use serde_json::json;

/// Reaction densities of contacts as areas (left axis), impulses of impacts as stems (right axis); None if there are no reactions.
/// `skips`: stops that are drawn as forces instead.
pub fn reactions(model: &Model, trajectory: &Trajectory, skips: &dyn Fn(usize) -> bool) -> Option<Figure> {
    let (m, n) = (model.constraints.len(), model.constraints.len().min(MAX_SERIES));
    let limit = limit(n);
    let densities = series::reactions(trajectory, m, limit);
    // Forces and impulses have one axis each; without contacts there is only one.
    let has_forces = densities.iter().enumerate().take(n).any(|(a, line)| !line.t.is_empty() && !skips(a));
    let impulse = with_unit("impulse at impacts", &model.units.impulse);
    let force = with_unit("reaction in contact", &model.units.force);
    let (axis, title) = if has_forces { ("y2", &force) } else { ("y", &impulse) };
    let mut figure = Figure::new("reactions", "Reactions", &with_unit("t", &model.units.time), title).over_time();
    let mut has_stems = false;
    let mut hidden = 0;
    for (a, line) in densities.iter().enumerate().take(n).filter(|(a, _)| !skips(*a)) {
        let name = &model.constraints[a].name;
        let stems = series::impulses(trajectory, a, limit);
        if !line.t.is_empty() {
            // The outline of an area starts and ends at zero.
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
            has_stems = true;
            hidden += stems.given - stems.t.len();
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
    if !has_forces && !has_stems {
        return None;
    }
    figure.layout["yaxis"]["rangemode"] = json!("tozero");
    if has_forces {
        figure.layout["yaxis2"] = json!({
            "title": { "text": label(&impulse) }, "overlaying": "y", "side": "right", "rangemode": "tozero",
            "showgrid": false, "exponentformat": "power",
        });
    }
    let legend = match (has_forces, trajectory.pieces.is_empty()) {
        (false, _) => "Stems: impulses at impacts. ",
        (true, false) => "Areas: reaction during contact. Stems: impulses at impacts. ",
        (true, true) => {
            "Areas: mean reaction over each contact, including the impulse at its onset. Stems: impulses at impacts. "
        }
    };
    let thinning = match hidden {
        0 => String::new(),
        n => format!("{} omitted; the largest in every interval is shown.", count(n, "smaller stem")),
    };
    Some(figure.caption(legend.to_string() + &thinning + &omitted(m, "constraints")))
}
