//! The animation of a run: the shapes of a model's drawing at selected instants, and shapes given as samples.

use crate::figure::{numbers, rounded};
use crate::outlines::outlines;
use crate::text::number;
use crate::walls::{Wall, Walls};
use saltus::model::ShapeKind;
use saltus::problem::Drawing;
use saltus::{SetupError, Side, Trajectory};
use serde_json::{Value, json};

/// Lines given by samples instead of expressions, such as a deflected beam or a stop.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// The times of the frames, increasing; none for what does not move.
    pub t: Vec<f64>,
    /// Where its nodes are, magnified: one row per frame, or one for all.
    pub x: Vec<Vec<f64>>,
    /// The same upwards.
    pub y: Vec<Vec<f64>>,
    /// Pairs of nodes that are joined by lines; none: one line through all nodes.
    pub lines: Option<Vec<[usize; 2]>>,
    /// Whether its nodes are drawn as well.
    pub has_dots: bool,
    /// Whether it is a wall.
    pub is_wall: bool,
    /// The stop that it is: it flashes at impacts.
    pub stop: Option<usize>,
    /// The magnification of the deflection; stated in the caption.
    pub factor: f64,
}

impl Shape {
    fn nodes(&self) -> usize {
        self.x.first().map_or(0, Vec::len)
    }

    /// Whether every frame has a place for every node.
    fn is_whole(&self) -> bool {
        let n = self.nodes();
        let fits = |rows: &[Vec<f64>]| {
            rows.iter().all(|row| row.len() == n)
                && (rows.len() == 1 || (rows.len() == self.t.len() && !rows.is_empty()))
        };
        n > 0 && fits(&self.x) && fits(&self.y)
    }

    fn data(&self) -> Value {
        let stride = self.t.len().div_ceil((MAX_VALUES / self.nodes()).max(2)).max(1);
        let kept: Vec<usize> = match self.t.len() {
            0 => vec![0],
            frames => (0..frames).step_by(stride).chain([frames - 1]).collect(),
        };
        let rows = |rows: &[Vec<f64>]| -> Vec<f64> {
            match rows {
                [row] => row.clone(),
                _ => kept.iter().flat_map(|&k| rows[k].iter().copied()).collect(),
            }
        };
        let t: Vec<f64> = kept.iter().filter_map(|&k| self.t.get(k).copied()).collect();
        json!({
            "name": self.name, "n": self.nodes(), "t": numbers(&t), "x": rounded(&rows(&self.x)), "y": rounded(&rows(&self.y)),
            "lines": self.lines, "dots": self.has_dots, "style": if self.is_wall { "wall" } else { "body" }, "stop": self.stop,
        })
    }
}

/// The largest number of values in all frames together.
const MAX_VALUES: usize = 300_000;
/// The largest number of frames at equal intervals.
const MAX_FRAMES: usize = 1_500;
/// The largest number of impacts that flash.
const MAX_IMPACTS: usize = 4_000;

/// The times of the frames: equal intervals and the impacts, so that contact is visible.
fn instants(trajectory: &Trajectory, columns: usize) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (trajectory.t.first(), trajectory.t.last()) else { return Vec::new() };
    let count = (MAX_VALUES / columns.max(1)).clamp(2, MAX_FRAMES);
    let mut times: Vec<f64> =
        (0..=count).map(|k| first + (last - first) * k as f64 / count as f64).map(|t| t.min(last)).collect();
    times.extend(trajectory.impacts.iter().take(count).map(|i| i.t));
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// The data of the animation; null if there is nothing to draw.
pub fn animation(
    walls: &mut Walls,
    all: &[Wall],
    trajectory: &Trajectory,
    shapes: &[Shape],
) -> Result<Value, SetupError> {
    let model = walls.model;
    let mut drawn: Vec<Value> = Vec::new();
    let mut times = Vec::new();
    let mut curves = Vec::new();
    if let Some(mut drawing) = Drawing::new(model)? {
        let columns = model.draw.iter().map(|d| d.numbers().count()).sum();
        times = instants(trajectory, columns);
        let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(times.len()); columns];
        for &t in &times {
            let Some((q, v)) = trajectory.at(t, Side::Right) else { continue };
            values.iter_mut().zip(drawing.at(t, &q, &v)).for_each(|(column, &x)| column.push(x));
        }
        curves = outlines(walls, all, trajectory, &values);
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
                "kind": kind, "text": text, "style": shape.look.name(), "at": places, "flashes": shape.flashes,
            }));
        }
    }
    let sampled: Vec<Value> = shapes.iter().filter(|s| s.is_whole()).map(Shape::data).collect();
    if drawn.is_empty() && sampled.is_empty() {
        return Ok(Value::Null);
    }
    let (mut at, mut constraints) = (Vec::new(), Vec::new());
    for impact in trajectory.impacts.iter().take(MAX_IMPACTS) {
        at.push(impact.t);
        constraints.push(impact.constraints.to_vec());
    }
    let span = [trajectory.t.first().copied().unwrap_or(0.0), trajectory.t.last().copied().unwrap_or(0.0)];
    Ok(json!({
        "span": span, "t": numbers(&times), "shapes": drawn, "sampled": sampled, "walls": curves, "unit": model.units.time,
        "impacts": { "t": numbers(&at), "constraints": constraints },
    }))
}

/// The values of a coordinate of a shape; a constant is written once.
fn channel(values: &[f64]) -> Value {
    match values.first() {
        Some(first) if values.iter().all(|x| x == first) => json!(first),
        _ => rounded(values),
    }
}

/// The caption of the animation.
pub fn caption(shapes: &[Shape], has_walls: bool) -> String {
    let mut text =
        String::from("Hover over a time history to show that instant here. Shapes involved in an impact flash.");
    if has_walls {
        text.push_str(" Thin lines: gap = 0.");
    }
    for shape in shapes.iter().filter(|s| s.factor != 1.0) {
        text.push_str(&format!(" Deflections of {} are magnified {} times.", shape.name, number(shape.factor, 4)));
    }
    text
}
