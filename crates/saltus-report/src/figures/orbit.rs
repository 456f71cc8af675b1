//! The orbit in the plane of two coordinates of the same unit, which the reader chooses, with the curves on which gaps vanish.

use super::MAX_SERIES;
use crate::contour::Grid;
use crate::figure::{Figure, rounded};
use crate::plane::Points;
use crate::text::{label, number, quantity};
use crate::walls::{Wall, Walls};
use saltus::{Model, Trajectory};
use serde_json::{Value, json};

/// The largest number of values in all coordinates together, and of points.
const MAX_VALUES: usize = 60_000;
const MAX_POINTS: usize = 12_000;
/// Walls are traced in a square around the orbit that is wider by this factor.
const AROUND: f64 = 2.2;
/// The number of cells along the sides of that square.
const CELLS: usize = 160;

/// The coordinates that share their unit with another one.
fn paired(model: &Model) -> Vec<usize> {
    let n = model.coordinates.len().min(MAX_SERIES);
    let unit = |i: usize| model.units.position(i);
    (0..n).filter(|&i| (0..n).any(|j| j != i && unit(j) == unit(i))).collect()
}

/// The orbit; None if no two coordinates of the same unit move. `fine` is the motion, or the last part of it, with enough instants to
/// draw, of a run from `start`.
pub fn orbit(walls: &mut Walls, all: &[Wall], fine: &Trajectory, start: f64) -> Option<Figure> {
    let model = walls.model;
    let shown: Vec<usize> = paired(model).into_iter().filter(|&i| !fine.is_force(i)).collect();
    let end = *fine.t.last()?;
    let d = fine.dimension();
    let columns: Vec<Vec<f64>> =
        shown.iter().map(|&i| fine.positions().iter().skip(i).step_by(d).copied().collect()).collect();
    let ranges: Vec<(f64, f64)> = columns.iter().map(|c| range(c)).collect();
    // Axes are equal, so the size of a figure is that of its larger side.
    let unit = |k: usize| model.units.position(shown[k]);
    let size = |k: usize| {
        let like = (0..shown.len()).filter(|&l| unit(l) == unit(k)).map(|l| ranges[l].1 - ranges[l].0);
        like.fold(0.0, f64::max).max(f64::MIN_POSITIVE)
    };
    let sizes: Vec<f64> = (0..shown.len()).map(size).collect();
    // The first two that move; the orbit of one that does not is a line.
    let moves = |k: &usize| ranges[*k].1 - ranges[*k].0 > 1e-9 * sizes[*k];
    let pairs = (0..shown.len()).flat_map(|k| (k + 1..shown.len()).map(move |l| (k, l)));
    let pair = pairs.into_iter().find(|(k, l)| unit(*k) == unit(*l) && moves(k) && moves(l))?;
    let channels: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let drawn = Points { channels, sizes, breaks: Vec::new() };
    let drawn = drawn.drawn((MAX_VALUES / shown.len()).clamp(1_000, MAX_POINTS));
    let from = fine.t[*drawn.first()?];
    let coordinates: Vec<Value> = (0..shown.len())
        .map(|k| {
            let values: Vec<f64> = drawn.iter().map(|&at| columns[k][at]).collect();
            json!({ "name": label(&model.coordinates[shown[k]]), "unit": label(unit(k)), "x": rounded(&values) })
        })
        .collect();
    let (mut curves, mut stops, mut moves) = (Vec::new(), Vec::new(), false);
    for wall in all {
        let places: Vec<usize> =
            wall.coordinates.iter().filter_map(|i| shown.iter().position(|shown| shown == i)).collect();
        let name = label(&model.constraints[wall.constraint].name);
        // The middle of the orbit in a coordinate, and how far walls are looked for.
        let middle = |k: usize| 0.5 * (ranges[k].0 + ranges[k].1);
        let reach = |half: f64, k: usize| if half > 0.0 { AROUND * half } else { 1e-3 + middle(k).abs() };
        match *places.as_slice() {
            [k] if wall.coordinates.len() == 1 => {
                let half = 0.5 * (0..shown.len()).filter(|&l| unit(l) == unit(k)).map(size).fold(0.0, f64::max);
                let reach = reach(half, k);
                let at = walls.stops(wall, end, (middle(k) - reach, middle(k) + reach));
                moves |= wall.moves && !at.is_empty();
                stops.extend(at.into_iter().map(|at| json!({ "name": name, "i": k, "at": at })));
            }
            [k, l] if unit(k) == unit(l) => {
                let half = 0.5 * (ranges[k].1 - ranges[k].0).max(ranges[l].1 - ranges[l].0);
                let reach = reach(half, k).max(reach(half, l));
                let grid = Grid::new([middle(k), middle(l)], [reach, reach], CELLS);
                let found = walls.curves(wall, end, (shown[k], shown[l]), &grid);
                moves |= wall.moves && !found.is_empty();
                curves.extend(found.iter().map(|c| {
                    let (x, y) = (rounded(&c.channel(0)), rounded(&c.channel(1)));
                    json!({ "name": name, "i": k, "j": l, "x": x, "y": y, "closed": c.closed })
                }));
            }
            _ => {}
        }
    }
    let mut caption = String::from("Both axes have the same scale.");
    if !(curves.is_empty() && stops.is_empty()) {
        caption.push_str(" Thick: gap = 0");
        caption.push_str(if moves { ", at the end of the run for what moves." } else { "." });
    }
    if from > start {
        let from = quantity(&number(from, 6), &model.units.time);
        caption.push_str(&format!(" From t = {from} on; the whole motion has too many turns for a page."));
    }
    let mut figure = Figure::new("orbit", "Orbit", "", "");
    figure.choice = json!({ "coordinates": coordinates, "curves": curves, "stops": stops, "pair": [pair.0, pair.1] });
    Some(figure.caption(caption))
}

/// The smallest and the largest finite value; zero if there is none.
fn range(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}
