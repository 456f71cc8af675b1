//! The figures of a run.

mod motion;
mod reactions;
mod statistics;

pub use motion::{energy, gaps, phase, positions, velocities};
pub use reactions::reactions;
pub use statistics::{impulses, section, spectrum, speeds};

use crate::thin::{Curve, Limit};

/// Gaps of all constraints at a time and a position.
pub type ReadGaps<'a> = dyn FnMut(f64, &[f64], &mut [f64]) + 'a;
/// Kinetic and potential energy at a time, a position and a velocity.
pub type ReadEnergy<'a> = dyn FnMut(f64, &[f64], &[f64]) -> (f64, f64) + 'a;

/// At most this many coordinates or constraints are shown in a figure.
pub const MOST_SERIES: usize = 24;

/// What may be shown of each of a number of series, so that the page stays small and quick.
pub fn limit(series: usize) -> Limit {
    let each = |all: usize, most: usize| (all / series.max(1)).clamp(200, most);
    Limit { points: each(60_000, 6_000), jumps: each(4_000, 2_000) }
}

/// How much of a run is shown, in a sentence.
fn thinned<'a, const C: usize>(curves: impl IntoIterator<Item = &'a Curve<C>>) -> String {
    let mut text = String::new();
    let curves: Vec<_> = curves.into_iter().collect();
    let Some(most) = curves.iter().max_by_key(|c| c.given) else { return text };
    if most.shown() < most.given {
        text = format!(
            "{} of {} instants shown: of each short interval the first, the last, the smallest and the largest value, so no \
             extremum is lost.",
            crate::html::grouped(most.shown()),
            crate::html::grouped(most.given)
        );
    }
    let drawn = curves.iter().map(|c| c.jumps.len()).max().unwrap_or(0);
    let given = curves.iter().map(|c| c.jumps_given).max().unwrap_or(0);
    if drawn < given {
        text.push_str(&format!(
            " Of {} jumps the largest {} are drawn as jumps, at least one in every interval that has one; the band between the extremes stands for the others.",
            crate::html::grouped(given),
            crate::html::grouped(drawn)
        ));
    }
    text
}

/// Says that not all series are shown.
fn left_out(all: usize, what: &str) -> String {
    match all > MOST_SERIES {
        true => format!(" The first {MOST_SERIES} of {all} {what}."),
        false => String::new(),
    }
}
