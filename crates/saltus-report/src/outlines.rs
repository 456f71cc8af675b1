//! The curves gap = 0 in an animation, if the drawing lives in the plane of two coordinates: if a point or a circle is drawn at
//! exactly those coordinates.

use crate::contour::Grid;
use crate::figure::rounded;
use crate::walls::{Wall, Walls};
use saltus::model::ShapeKind;
use saltus::{Model, Trajectory};
use serde_json::{Value, json};

/// The number of cells along the longer side of the rectangle in which curves are traced, for those at rest and those that move.
const CELLS: [usize; 2] = [300, 150];
/// The number of instants at which curves that move are traced.
const FRAMES: usize = 120;
/// The window is at most this much wider than high, or higher than wide, than the drawing.
const ASPECT: f64 = 3.4;

/// The planes of two coordinates in which something is drawn.
fn planes(model: &Model) -> Vec<(usize, usize)> {
    let mut planes = Vec::new();
    for shape in model.draw.iter().filter(|s| matches!(s.kind, ShapeKind::Point | ShapeKind::Circle)) {
        let Some(&[x, y]) = shape.points.first() else { continue };
        let place = |node| model.q.iter().position(|&q| q == node);
        if let (Some(i), Some(j)) = (place(x), place(y))
            && i != j
            && !planes.contains(&(i, j))
        {
            planes.push((i, j));
        }
    }
    planes
}

/// The curves for the page's script: `t`, the times of the frames, and `frames`, each a list of curves; one frame for walls at
/// rest. `values` are the numbers of all shapes at all times of the animation.
pub fn outlines(walls: &mut Walls, all: &[Wall], trajectory: &Trajectory, values: &[Vec<f64>]) -> Vec<Value> {
    let model = walls.model;
    let planes = planes(model);
    let Some((first, last)) = trajectory.span().filter(|_| !planes.is_empty()) else { return Vec::new() };
    let (centre, half) = window(model, values);
    if !(half[0].max(half[1]) > 0.0) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for &(i, j) in &planes {
        for wall in all.iter().filter(|w| w.coordinates.iter().all(|&k| k == i || k == j)) {
            let count = if wall.moves { FRAMES } else { 0 };
            let times: Vec<f64> =
                (0..=count).map(|k| first + (last - first) * k as f64 / count.max(1) as f64).collect();
            let grid = Grid::new(centre, half, CELLS[usize::from(wall.moves)]);
            let frames: Vec<Value> = times
                .iter()
                .map(|&t| {
                    let curves = walls.curves(wall, t, (i, j), &grid);
                    let curve = |c: &crate::contour::Contour| json!([rounded(&c.channel(0)), rounded(&c.channel(1))]);
                    curves.iter().map(curve).collect()
                })
                .collect();
            if frames.iter().any(|f: &Value| f.as_array().is_some_and(|f| !f.is_empty())) {
                found.push(json!({ "constraint": wall.constraint, "t": times, "frames": frames }));
            }
        }
    }
    found
}

/// The centre and the half sides of a rectangle that covers every window in which the drawing is shown.
fn window(model: &Model, values: &[Vec<f64>]) -> ([f64; 2], [f64; 2]) {
    let mut bounds = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    let mut columns = values.iter();
    for shape in &model.draw {
        let numbers: Vec<&Vec<f64>> = columns.by_ref().take(shape.numbers().count()).collect();
        let radius = shape.radius.and_then(|_| numbers.last().copied());
        for (c, column) in numbers.iter().enumerate().take(2 * shape.points.len()) {
            for (k, &x) in column.iter().enumerate().filter(|(_, x)| x.is_finite()) {
                let r = radius.and_then(|r| r.get(k)).map_or(0.0, |r| r.abs());
                let (low, high) = bounds[c % 2];
                bounds[c % 2] = (low.min(x - r), high.max(x + r));
            }
        }
    }
    let size = |c: usize| (bounds[c].1 - bounds[c].0).max(0.0);
    let half = |c: usize| 0.6 * size(c).max(ASPECT * size(1 - c));
    (bounds.map(|(low, high)| 0.5 * (low + high)), [half(0), half(1).min(half(0))])
}
