//! The figures of a run.

mod differences;
mod forces;
mod ground;
mod laws;
mod motion;
mod orbit;
mod phase;
mod reactions;
mod section;
mod statistics;

pub use differences::differences;
pub use forces::{base_shears, forces, wear};
pub use ground::{base, densities, floor_spectra};
pub use laws::{Grip, colour_grips, friction, grips, joints, states};
pub use motion::{energy, gaps, positions, velocities};
pub use orbit::orbit;
pub use phase::phase;
pub use reactions::reactions;
pub use section::{impact_section, settled_since, stroboscopic};
pub use statistics::{impulses, spectrum, speeds};

use crate::figure::Figure;
use crate::text::{grouped, with_unit};
use crate::thin::{Curve, Limit};
use saltus::Model;
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

/// The common unit of all values; empty if they differ.
fn common(units: impl Iterator<Item = String>) -> String {
    let mut units = units.collect::<Vec<_>>();
    units.dedup();
    match units.as_slice() {
        [one] => one.clone(),
        _ => String::new(),
    }
}

/// The titles of the axes of a figure in the planes of position and velocity of the first `n` coordinates, with units if they
/// are common.
fn phase_axes(model: &Model, n: usize) -> (String, String) {
    let (position, velocity) = match n {
        1 => (model.coordinates[0].clone(), format!("{}′", model.coordinates[0])),
        _ => ("position".into(), "velocity".into()),
    };
    (
        with_unit(&position, &common((0..n).map(|i| model.units.position(i).to_string()))),
        with_unit(&velocity, &common((0..n).map(|i| model.units.velocity(i)))),
    )
}

/// The name of a coordinate, with its units where the axes of the figure do not show them.
fn phase_name(model: &Model, i: usize, n: usize) -> String {
    let name = &model.coordinates[i];
    let unit = model.units.position(i);
    match common((0..n).map(|i| model.units.position(i).to_string())).is_empty() {
        true => with_unit(name, unit),
        false => name.clone(),
    }
}

/// A sentence on how much of a run is shown; empty if all of it is.
fn thinning<'a, const C: usize>(curves: impl IntoIterator<Item = &'a Curve<C>>) -> String {
    let mut text = String::new();
    let curves: Vec<_> = curves.into_iter().collect();
    let Some(longest) = curves.iter().max_by_key(|c| c.given) else { return text };
    if longest.shown() < longest.given {
        text = format!(
            "Thinned to {} of {} points; every extremum is kept.",
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
