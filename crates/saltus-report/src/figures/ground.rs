//! How the base moves, and what stands on the structure: records, floor response spectra, spectral densities.

use super::{limit, thinning};
use crate::figure::{Figure, Trace};
use crate::text::{number, quantity, with_unit};
use crate::thin::{Line, Thinner};
use saltus::analysis::{Density, ResponseSpectrum};
use saltus::{Model, Structure};
use serde_json::json;

/// Instants at which the acceleration of the base is taken, beside the corners of records.
const SAMPLES: usize = 4_000;

/// The accelerations of the base over a run, with the largest of each (PGA). None where it stands still.
pub fn base(structure: &Structure, (from, to): (f64, f64)) -> Option<Figure> {
    let model = structure.model();
    let mut signals = structure.signals();
    let count = structure.base_accelerations(&mut signals, from).len();
    if count == 0 || !(to > from) {
        return None;
    }
    // The corners of records are instants of their own: a peak is one of them.
    let corners = model.inputs.iter().flat_map(|table| table.points().0.to_vec());
    let even = (0..=SAMPLES).map(|k| from + (to - from) * k as f64 / SAMPLES as f64);
    let mut times: Vec<f64> = corners.filter(|t| *t > from && *t < to).chain(even).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mut thinners: Vec<Thinner<1>> =
        (0..count).map(|_| Thinner::new(times.len(), (from, to), limit(count))).collect();
    let mut largest = vec![(0.0_f64, from); count];
    for &t in &times {
        for (k, a) in structure.base_accelerations(&mut signals, t).into_iter().enumerate() {
            thinners[k].push(t, [a]);
            if a.abs() > largest[k].0 {
                largest[k] = (a.abs(), t);
            }
        }
    }
    let unit = model.units.acceleration();
    let axis = with_unit("acceleration", &unit);
    let mut figure = Figure::new("base", "Motion of the base", &with_unit("t", &model.units.time), &axis).over_time();
    let lines: Vec<Line> = thinners.into_iter().map(Thinner::finish).collect();
    let name = |k: usize| if count == 1 { "base".to_string() } else { format!("base {}", k + 1) };
    let mut peaks = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        let trace = Trace::new("base", &name(k), "lines", &line.t, &line.y[0]).colour(k);
        figure.push(trace.with(json!({ "showlegend": count > 1 })));
        let (most, at) = largest[k];
        peaks.push(format!("{} {} at t = {}", name(k), quantity(&number(most, 5), &unit), number(at, 5)));
    }
    Some(figure.caption(format!("Largest acceleration (PGA): {}. {}", peaks.join("; "), thinning(&lines))))
}

/// Floor response spectra: one figure per point, a line for each damping ratio.
pub fn floor_spectra(model: &Model, all: &[ResponseSpectrum]) -> Vec<Figure> {
    let axes =
        (with_unit("frequency", &model.units.frequency()), with_unit("acceleration", &model.units.acceleration()));
    let ids = ["floor-1", "floor-2", "floor-3", "floor-4", "floor-5", "floor-6", "floor-7", "floor-8"];
    let mut figures = Vec::new();
    for (spectrum, id) in all.iter().zip(ids) {
        let name = &model.coordinates[spectrum.point];
        let mut figure = Figure::new(id, &format!("Floor response spectrum on {name}"), &axes.0, &axes.1);
        for (k, (ratio, values)) in spectrum.ratios.iter().zip(&spectrum.acceleration).enumerate() {
            let label = format!("damping {ratio}");
            let trace = Trace::new("response", &label, "lines", &spectrum.frequencies, values).colour(k);
            figure.push(trace.with(json!({ "showlegend": true })));
        }
        figure.layout["xaxis"]["type"] = json!("log");
        figure.layout["yaxis"]["rangemode"] = json!("tozero");
        let left = all.len().saturating_sub(ids.len());
        let more = match left {
            0 => String::new(),
            n => format!(" {n} more points are in response_spectrum.csv (--out)."),
        };
        let text = "The largest absolute acceleration of oscillators that stand on the point, integrated over every step of the run.";
        figures.push(figure.caption(format!("{text}{more}")));
    }
    figures
}

/// Spectral densities of displacements, and of forces: `is_force` says which a signal is.
pub fn densities(model: &Model, all: &[(String, Density)], is_force: &dyn Fn(&str) -> bool) -> Vec<Figure> {
    let frequency = with_unit("frequency", &model.units.frequency());
    let squared = |unit: &str| match unit {
        "" => String::new(),
        unit => format!("{unit}²/{}", model.units.frequency()),
    };
    let kinds = [
        ("density-points", "Spectral densities of displacements", false, squared(&model.units.length)),
        ("density-forces", "Spectral densities of forces", true, squared(&model.units.force)),
    ];
    let mut figures = Vec::new();
    for (id, title, forces, unit) in kinds {
        let own: Vec<_> = all.iter().filter(|(name, _)| is_force(name) == forces).collect();
        if own.is_empty() {
            continue;
        }
        let mut figure = Figure::new(id, title, &frequency, &with_unit("density", &unit));
        for (k, (name, density)) in own.into_iter().enumerate() {
            // On an axis of logarithms, points are thinned by those.
            let ends = [density.frequencies.first(), density.frequencies.last()];
            let [from, to] = ends.map(|f| f.copied().unwrap_or(1.0).ln());
            let mut thinner = Thinner::<1>::new(density.density.len(), (from, to), limit(1));
            density.frequencies.iter().zip(&density.density).for_each(|(f, x)| thinner.push(f.ln(), [*x]));
            let line = thinner.finish();
            let frequencies: Vec<f64> = line.t.iter().map(|x| x.exp()).collect();
            let trace = Trace::new("density", name, "lines", &frequencies, &line.y[0]).colour(k);
            figure.push(trace.with(json!({ "showlegend": true })));
        }
        figure.layout["xaxis"]["type"] = json!("log");
        figure.layout["yaxis"]["type"] = json!("log");
        figures.push(
            figure.caption("One-sided; the integral over frequencies is the variance, the mean square about the mean."),
        );
    }
    figures
}
