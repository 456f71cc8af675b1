//! Figures as plotly.js takes them: traces and a layout.

use crate::html;
use serde_json::{Value, json};

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name in the page.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// What is to be said about it.
    pub caption: String,
    /// Whether its horizontal axis is the time of the run.
    pub timed: bool,
    /// The traces.
    pub traces: Vec<Value>,
    /// The layout, colours apart.
    pub layout: Value,
}

impl Figure {
    /// An empty figure with named axes.
    pub fn new(id: &'static str, title: &str, x: &str, y: &str) -> Self {
        let axis = |title: &str| json!({ "title": { "text": html::escape(title) }, "exponentformat": "power" });
        let layout = json!({ "xaxis": axis(x), "yaxis": axis(y) });
        Figure { id, title: title.into(), caption: String::new(), timed: false, traces: Vec::new(), layout }
    }

    /// The same over the time of the run.
    pub fn over_time(mut self) -> Self {
        self.timed = true;
        self
    }

    /// The same with a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a trace.
    pub fn push(&mut self, trace: Trace) {
        self.traces.push(trace.0);
    }

    /// What the page's script needs to draw it.
    pub fn data(&self) -> Value {
        json!({ "id": self.id, "timed": self.timed, "traces": self.traces, "layout": self.layout })
    }
}

/// A trace of plotly.js.
#[derive(Clone, Debug)]
pub struct Trace(Value);

impl Trace {
    /// A scatter trace: `mode` is `lines`, `markers` or both; `role` says what it is to readers of the page.
    pub fn new(role: &str, name: &str, mode: &str, x: &[f64], y: &[f64]) -> Self {
        Trace(json!({
            "type": "scatter", "mode": mode, "name": html::escape(name), "meta": { "role": role },
            "x": numbers(x), "y": numbers(y),
        }))
    }

    /// A trace of another type.
    pub fn other(role: &str, name: &str, fields: Value) -> Self {
        let mut trace = Trace(json!({ "name": html::escape(name), "meta": { "role": role } }));
        trace.merge(fields);
        trace
    }

    /// Sets fields.
    pub fn with(mut self, fields: Value) -> Self {
        self.merge(fields);
        self
    }

    /// The colour of the `k`-th series; shown in both themes.
    pub fn colour(self, k: usize) -> Self {
        self.with(json!({ "line": { "color": colour(k), "width": 1.5 }, "marker": { "color": colour(k) } }))
    }

    /// Toggled with others of its group, and only its leader is in the legend.
    pub fn group(self, group: &str, leads: bool) -> Self {
        self.with(json!({ "legendgroup": html::escape(group), "showlegend": leads }))
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

/// Colours that differ for most eyes on light and dark ground.
const COLOURS: [&str; 10] =
    ["#2f7ed8", "#e4572e", "#2ba15d", "#9b59c6", "#c78a00", "#0fa3b1", "#d6457f", "#7f8c4d", "#5b6bd6", "#8c6d62"];

/// The colour of the `k`-th series.
pub fn colour(k: usize) -> &'static str {
    COLOURS[k % COLOURS.len()]
}

/// The same, nearly transparent.
pub fn pale(k: usize) -> String {
    format!("{}40", colour(k))
}

/// Numbers as an array; null where they are not finite.
pub fn numbers(x: &[f64]) -> Value {
    x.iter().map(|&x| json!(x)).collect()
}

/// The same in single precision, for what is only drawn: half the size in the page.
pub fn rough(x: &[f64]) -> Value {
    x.iter().map(|&x| json!(f64::from(x as f32))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_merged_one_level_deep() {
        let trace = Trace::new("line", "x", "lines", &[], &[]).colour(0).with(json!({ "line": { "dash": "dot" } }));
        assert_eq!(trace.0["line"]["dash"], "dot");
        assert_eq!(trace.0["line"]["color"], colour(0));
    }
}
