//! The figures of a run.

mod motion;
mod reactions;
mod statistics;

pub use motion::{energy, gaps, phase, positions, velocities};
pub use reactions::reactions;
pub use statistics::{impulses, section, spectrum, speeds};

use crate::figure::Figure;
use crate::text::grouped;
use crate::thin::{Curve, Limit};
use serde_json::json;

/// The largest number of coordinates or constraints in a figure.
pub const MAX_SERIES: usize = 24;

/// The limit for each of several series in one figure, which keeps pages small and quick to draw.
pub fn limit(series: usize) -> Limit {
    let each = |all: usize, max: usize| (all / series.max(1)).clamp(200, max);
    Limit { points: each(60_000, 6_000), jumps: each(4_000, 2_000) }
}

/// Gives time histories the same time axis.
pub fn align_times(figures: &mut [Figure], (start, end): (f64, f64)) {
    if end > start {
        figures.iter_mut().for_each(|f| f.layout["xaxis"]["range"] = json!([start, end]));
    }
}

/// A sentence on how much of a run is shown; empty if all of it is.
fn thinning<'a, const C: usize>(curves: impl IntoIterator<Item = &'a Curve<C>>) -> String {
    let mut text = String::new();
    let curves: Vec<_> = curves.into_iter().collect();
    let Some(longest) = curves.iter().max_by_key(|c| c.given) else { return text };
    if longest.shown() < longest.given {
        text = format!(
            "Thinned to {} of {} instants; every extremum is kept.",
            grouped(longest.shown()),
            grouped(longest.given)
        );
    }
    let drawn = curves.iter().map(|c| c.jumps.len()).max().unwrap_or(0);
    let given = curves.iter().map(|c| c.jumps_given).max().unwrap_or(0);
    if drawn < given {
        text.push_str(&format!(" Only the largest {} of {} jumps are drawn as jumps.", grouped(drawn), grouped(given)));
    }
    text
}

/// A sentence if not all series are shown.
fn omitted(all: usize, what: &str) -> String {
    match all > MAX_SERIES {
        true => format!(" Showing the first {MAX_SERIES} of {all} {what}."),
        false => String::new(),
    }
}
