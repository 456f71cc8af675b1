//! The animation of a run: the shapes of a model's drawing at some instants, and shapes given as samples.

use crate::figure::{numbers, rough};
use saltus::model::{Drawing, Look, ShapeKind};
use saltus::{Model, SetupError, Side, Trajectory};
use serde_json::{Value, json};

/// A line that is not made of expressions: a beam, say, drawn from samples of its deflection.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// What it is.
    pub name: String,
    /// The places along it, in the undeformed state.
    pub x: Vec<f64>,
    /// The instants of the frames, increasing.
    pub t: Vec<f64>,
    /// For each instant the deflection at each place, as it is, not exaggerated.
    pub frames: Vec<Vec<f64>>,
    /// By how much it is exaggerated in the drawing; said below it.
    pub factor: f64,
    /// Where it rests: a height added to all of it.
    pub offset: f64,
}

/// Numbers of all frames together, at most.
const MOST_NUMBERS: usize = 300_000;
/// Frames at equal intervals, at most.
const MOST_FRAMES: usize = 1_500;
/// Impacts that get a frame of their own, and flashes.
const MOST_IMPACTS: usize = 4_000;

/// The instants of the frames: equal intervals, and the impacts, so that bodies are seen to touch.
fn instants(trajectory: &Trajectory, columns: usize) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (trajectory.t.first(), trajectory.t.last()) else { return Vec::new() };
    let count = (MOST_NUMBERS / columns.max(1)).clamp(2, MOST_FRAMES);
    let mut times: Vec<f64> =
        (0..=count).map(|k| first + (last - first) * k as f64 / count as f64).map(|t| t.min(last)).collect();
    times.extend(trajectory.impacts.iter().take(count).map(|i| i.t));
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// The animation of a run as the page plays it; null if there is nothing to draw.
pub fn animation(model: &Model, trajectory: &Trajectory, shapes: &[Shape]) -> Result<Value, SetupError> {
    let mut drawn: Vec<Value> = Vec::new();
    let mut times = Vec::new();
    if let Some(mut drawing) = Drawing::new(model)? {
        let columns = model.draw.iter().map(|d| d.numbers().count()).sum();
        times = instants(trajectory, columns);
        let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(times.len()); columns];
        for &t in &times {
            let Some((q, _)) = trajectory.at(t, Side::Right) else { continue };
            values.iter_mut().zip(drawing.at(t, &q)).for_each(|(column, &x)| column.push(x));
        }
        let mut column = values.iter().map(|c| channel(c));
        for shape in &model.draw {
            let places: Vec<Value> = column.by_ref().take(shape.numbers().count()).collect();
            let (kind, text) = match &shape.kind {
                ShapeKind::Point => ("point", None),
                ShapeKind::Segment => ("segment", None),
                ShapeKind::Circle => ("circle", None),
                ShapeKind::Polygon => ("polygon", None),
                ShapeKind::Text(text) => ("text", Some(text)),
            };
            drawn.push(json!({
                "kind": kind, "text": text, "look": shape.look.name(), "at": places, "flashes": shape.flashes,
            }));
        }
    }
    let sampled: Vec<Value> = shapes
        .iter()
        .filter(|s| !s.t.is_empty() && s.frames.len() == s.t.len())
        .map(|s| {
            let stride = s.t.len().div_ceil((MOST_NUMBERS / s.x.len().max(1)).max(2)).max(1);
            let kept: Vec<usize> = (0..s.t.len()).step_by(stride).chain([s.t.len() - 1]).collect();
            let t: Vec<f64> = kept.iter().map(|&k| s.t[k]).collect();
            let y: Vec<f64> = kept.iter().flat_map(|&k| s.frames[k].iter().map(|y| s.offset + s.factor * y)).collect();
            json!({ "name": s.name, "x": rough(&s.x), "t": numbers(&t), "y": rough(&y), "look": Look::Body.name() })
        })
        .collect();
    if drawn.is_empty() && sampled.is_empty() {
        return Ok(Value::Null);
    }
    let (mut at, mut constraints) = (Vec::new(), Vec::new());
    for impact in trajectory.impacts.iter().take(MOST_IMPACTS) {
        at.push(impact.t);
        constraints.push(impact.constraints.to_vec());
    }
    let span = [trajectory.t.first().copied().unwrap_or(0.0), trajectory.t.last().copied().unwrap_or(0.0)];
    Ok(json!({
        "span": span, "t": numbers(&times), "shapes": drawn, "sampled": sampled, "unit": model.units.time,
        "impacts": { "t": numbers(&at), "constraints": constraints },
    }))
}

/// A number that never changes is written once.
fn channel(values: &[f64]) -> Value {
    match values.first() {
        Some(first) if values.iter().all(|x| x == first) => json!(first),
        _ => rough(values),
    }
}

/// What is to be said below the animation.
pub fn note(shapes: &[Shape]) -> String {
    let mut text = String::from("Point at a curve to see its instant here; what takes part in an impact flashes.");
    for shape in shapes.iter().filter(|s| s.factor != 1.0) {
        text.push_str(&format!(
            " {}: deflections drawn {} times as large.",
            shape.name,
            crate::html::number(shape.factor, 4)
        ));
    }
    text
}
