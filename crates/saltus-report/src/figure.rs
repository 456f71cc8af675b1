//! Figures in the format of plotly.js: traces and a layout.

use crate::text::label;
use serde_json::{Value, json};

/// A figure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Figure {
    /// Its identifier on the page.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// The caption.
    pub caption: String,
    /// Whether the horizontal axis is time.
    pub timed: bool,
    /// The traces.
    pub traces: Vec<Value>,
    /// The layout, without colours.
    pub layout: Value,
    /// What the reader chooses from, if the traces are made by the page's script; null if they are those above.
    pub choice: Value,
    /// How a point of it is run again; null if it is not.
    pub rerun: Value,
    /// Very many dots, which the page's script draws itself: groups with `id`, `name`, `color`, `axis`, `x`, `y`, `key`.
    pub dots: Vec<Value>,
}

impl Figure {
    /// An empty figure with axis titles.
    #[must_use]
    pub fn new(id: &'static str, title: &str, x: &str, y: &str) -> Self {
        let axis = |title: &str| json!({ "title": { "text": label(title) }, "exponentformat": "power" });
        let layout = json!({ "xaxis": axis(x), "yaxis": axis(y) });
        Figure {
            id,
            title: title.into(),
            caption: String::new(),
            timed: false,
            traces: Vec::new(),
            layout,
            choice: Value::Null,
            rerun: Value::Null,
            dots: Vec::new(),
        }
    }

    /// Declares the horizontal axis to be time.
    #[must_use]
    pub fn over_time(mut self) -> Self {
        self.timed = true;
        self
    }

    /// Sets the caption.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a trace.
    pub fn push(&mut self, trace: Trace) {
        self.traces.push(trace.0);
    }

    /// The data from which the page's script draws the figure.
    #[must_use]
    pub fn data(&self) -> Value {
        let mut data = json!({ "id": self.id, "timed": self.timed, "traces": self.traces, "layout": self.layout });
        if !self.choice.is_null() {
            data["choice"] = self.choice.clone();
        }
        if !self.rerun.is_null() {
            data["rerun"] = self.rerun.clone();
        }
        if !self.dots.is_empty() {
            data["dots"] = json!(self.dots);
        }
        data
    }
}

/// A trace of plotly.js.
#[derive(Clone, Debug)]
pub struct Trace(Value);

impl Trace {
    /// A scatter trace: `mode` is `lines`, `markers` or `lines+markers`; `role` tells scripts what the trace represents.
    #[must_use]
    pub fn new(role: &str, name: &str, mode: &str, x: &[f64], y: &[f64]) -> Self {
        Trace(json!({
            "type": "scatter", "mode": mode, "name": label(name), "meta": { "role": role },
            "x": numbers(x), "y": numbers(y),
        }))
    }

    /// A trace of another type.
    #[must_use]
    pub fn other(role: &str, name: &str, fields: Value) -> Self {
        let mut trace = Trace(json!({ "name": label(name), "meta": { "role": role } }));
        trace.merge(fields);
        trace
    }

    /// Sets fields, merged one level deep.
    #[must_use]
    pub fn with(mut self, fields: Value) -> Self {
        self.merge(fields);
        self
    }

    /// Sets the colour of the `k`-th series, and how its line is broken once all colours have been used.
    #[must_use]
    pub fn colour(self, k: usize) -> Self {
        let mut line = json!({ "color": colour(k), "width": 1.5 });
        if k >= COLOURS.len() {
            line["dash"] = json!(DASHES[(k / COLOURS.len() - 1) % DASHES.len()]);
        }
        self.with(json!({ "line": line, "marker": { "color": colour(k) } }))
    }

    /// Puts the trace into a group that is shown and hidden together; one trace per group is listed in the legend.
    #[must_use]
    pub fn group(self, group: &str, listed: bool) -> Self {
        self.with(json!({ "legendgroup": label(group), "showlegend": listed }))
    }

    fn merge(&mut self, fields: Value) {
        let (Value::Object(own), Value::Object(new)) = (&mut self.0, fields) else { return };
        for (key, value) in new {
            match (own.get_mut(&key), value) {
                (Some(Value::Object(old)), Value::Object(value)) => old.extend(value),
                (_, value) => {
                    own.insert(key, value);
                }
            }
        }
    }
}

/// Colours that are easy to tell apart on a light and on a dark background.
const COLOURS: [&str; 10] =
    ["#2f7ed8", "#e4572e", "#2ba15d", "#9b59c6", "#c78a00", "#0fa3b1", "#d6457f", "#7f8c4d", "#5b6bd6", "#8c6d62"];

/// How lines are broken that have the colour of another.
const DASHES: [&str; 3] = ["dash", "dot", "dashdot"];

/// The colour of the `k`-th series.
pub fn colour(k: usize) -> &'static str {
    COLOURS[k % COLOURS.len()]
}

/// The same colour, nearly transparent.
pub fn pale(k: usize) -> String {
    format!("{}40", colour(k))
}

/// Numbers as a JSON array, with null for those that are not finite.
pub fn numbers(x: &[f64]) -> Value {
    x.iter().map(|&x| json!(x)).collect()
}

/// The same, rounded to single precision, which halves their size on the page; not if that would be visible or overflow.
pub fn rounded(x: &[f64]) -> Value {
    let finite = || x.iter().copied().filter(|x| x.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let largest = low.abs().max(high.abs());
    let fits = largest < 1e30 && largest > 1e-30 && high - low > 1e-2 * largest;
    if fits { x.iter().map(|&x| json!(f64::from(x as f32))).collect() } else { numbers(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_only_where_nobody_sees_it() {
        let single = |x: &[f64]| rounded(x) != numbers(x);
        assert!(single(&[0.1, 0.7]));
        assert!(!single(&[1e6 + 0.1, 1e6 + 0.2]) && !single(&[1e-60, 2e-60]) && !single(&[1e60, 3e60]));
    }

    #[test]
    fn fields_are_merged_one_level_deep() {
        let trace = Trace::new("line", "x", "lines", &[], &[]).colour(0).with(json!({ "line": { "dash": "dot" } }));
        assert_eq!(trace.0["line"]["dash"], "dot");
        assert_eq!(trace.0["line"]["color"], colour(0));
    }
}
