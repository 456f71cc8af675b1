//! Histograms of impacts, spectrum.

use crate::figure::{Figure, Trace, numbers};
use crate::spectrum::welch;
use crate::text::{count, grouped, quotient, with_unit};
use saltus::{Model, Side, Trajectory};
use serde_json::json;

/// Counts in equal bins between the smallest and the largest value.
fn histogram(figure: &mut Figure, name: &str, values: &[f64]) {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    let bins = ((values.len() as f64).sqrt().ceil() as usize).clamp(5, 60);
    let width = (high - low) / bins as f64;
    if !(width > 1e-12 * high.abs()) {
        let fields = json!({ "type": "bar", "x": [low], "y": [values.len()], "width": [0.05 * low.abs().max(1e-12)] });
        figure.push(Trace::other("histogram", name, fields).colour(0));
        return;
    }
    let mut counts = vec![0.0; bins];
    for x in values {
        counts[(((x - low) / width) as usize).min(bins - 1)] += 1.0;
    }
    let middles: Vec<f64> = (0..bins).map(|k| low + (k as f64 + 0.5) * width).collect();
    let fields = json!({ "type": "bar", "x": numbers(&middles), "y": numbers(&counts), "width": width });
    figure.push(Trace::other("histogram", name, fields).colour(0));
}

/// A histogram of the approach speeds of impacts.
pub fn speeds(model: &Model, trajectory: &Trajectory) -> Figure {
    let unit = quotient(&model.units.length, &model.units.time);
    let values: Vec<f64> = trajectory.impacts.iter().map(|i| -i.approach).filter(|x| x.is_finite()).collect();
    let mut figure = Figure::new("speeds", "Impact speeds", &with_unit("approach speed", &unit), "impacts");
    histogram(&mut figure, "impact speeds", &values);
    figure.caption(format!("{}.", count(values.len(), "impact")))
}

/// A histogram of the impulses of impacts.
pub fn impulses(model: &Model, trajectory: &Trajectory) -> Figure {
    let values: Vec<f64> =
        trajectory.impacts.iter().map(|i| i.impulses.iter().sum::<f64>()).filter(|x| x.is_finite()).collect();
    let mut figure =
        Figure::new("impulses", "Impulses", &with_unit("impulse per impact", &model.units.impulse), "impacts");
    histogram(&mut figure, "impulses", &values);
    figure.caption("Sum over all constraints of an impact.")
}

/// The largest number of samples for a spectrum.
const MAX_SAMPLES: usize = 16_384;

/// The power spectral density of the positions; None if the run is too short for one.
pub fn spectrum(model: &Model, trajectory: &Trajectory) -> Option<Figure> {
    let (first, last) = (*trajectory.t.first()?, *trajectory.t.last()?);
    if trajectory.len() < 2_000 || !(last > first) {
        return None;
    }
    let length = trajectory.len().next_power_of_two().min(MAX_SAMPLES);
    let dt = (last - first) / length as f64;
    let n = model.coordinates.len().min(8);
    let mut samples = vec![Vec::with_capacity(length); n];
    for k in 0..length {
        let (q, _) = trajectory.at(first + k as f64 * dt, Side::Right)?;
        samples.iter_mut().zip(&q).for_each(|(s, q)| s.push(*q));
    }
    let unit = quotient("1", &model.units.time);
    let mut figure = Figure::new("spectrum", "Spectrum", &with_unit("frequency", &unit), "power spectral density");
    figure.layout["xaxis"]["type"] = json!("log");
    figure.layout["yaxis"]["type"] = json!("log");
    for (i, samples) in samples.iter().enumerate().filter(|(i, _)| !trajectory.is_force(*i)) {
        let Some(s) = welch(samples, dt, length / 4) else { continue };
        let largest = s.density.iter().copied().fold(0.0, f64::max);
        // Smaller values are rounding errors and leakage of the window.
        let kept = (1..s.density.len()).filter(|&k| s.density[k] > 1e-16 * largest);
        let (f, d): (Vec<f64>, Vec<f64>) = kept.map(|k| (s.frequency[k], s.density[k])).unzip();
        if !f.is_empty() {
            let trace = Trace::new("spectrum", &model.coordinates[i], "lines", &f, &d).colour(i);
            figure.push(trace.with(json!({ "showlegend": true, "line": { "width": 1.2 } })));
        }
    }
    let caption = format!(
        "Positions sampled at {} equal intervals; Welch's method, 7 windows with 50 % overlap.",
        grouped(length)
    );
    (!figure.traces.is_empty()).then(|| figure.caption(caption))
}
