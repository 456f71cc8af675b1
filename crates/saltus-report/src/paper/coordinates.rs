//! Figures of the coordinates: time histories, phase portraits, spectra.

use super::label::{family, name};
use super::panel::{AxisLabel, MAX_STYLES, Panel, Plot};
use super::pictures::{Drawing, LIMIT, MAX_PANELS, layer, thinned};
use super::sheet::Text;
use super::ticks::Scale;
use crate::series;
use crate::text::{number, quotient};
use crate::{Limit, Spectrum, welch};

impl Drawing<'_> {
    fn unit(&self, i: usize, velocity: bool) -> String {
        if velocity { self.motion.units.velocity(i) } else { self.motion.units.position(i).to_string() }
    }

    /// The label of a panel: the name of its only coordinate, or that of the family with the index i.
    fn shared_name(names: &[String], group: &[usize], prime: bool) -> Text {
        match group {
            [one] => name(&names[*one], prime),
            _ => name(family(&names[group[0]]), prime).then("i", true, -1),
        }
    }

    pub(super) fn over_time(&mut self, velocity: bool) -> Vec<Panel> {
        let m = self.motion;
        let groups = self.groups(m.coordinates, MAX_STYLES);
        let panel = |group: Vec<usize>| Panel {
            x: self.time(),
            y: AxisLabel {
                name: Self::shared_name(m.coordinates, &group, velocity),
                unit: self.unit(group[0], velocity),
            },
            span: self.span(),
            legend: group.len() > 1,
            layers: group
                .iter()
                .enumerate()
                .map(|(style, &i)| {
                    let line = match velocity {
                        true => self.curve(|k| self.velocity(k, i)),
                        false => self.curve(|k| (self.t.q(k)[i], self.t.q(k)[i])),
                    };
                    layer(name(&m.coordinates[i], velocity), &m.coordinates[i], style, Self::plot(&line))
                })
                .collect(),
            ..Panel::default()
        };
        groups.into_iter().map(panel).collect()
    }

    /// First-order states over time.
    pub(super) fn states(&mut self) -> Vec<Panel> {
        let m = self.motion;
        let groups = self.groups(m.states, MAX_STYLES);
        let panel = |group: Vec<usize>| Panel {
            x: self.time(),
            y: AxisLabel {
                name: Self::shared_name(m.states, &group, false),
                unit: m.units.state(group[0]).to_string(),
            },
            span: self.span(),
            legend: group.len() > 1,
            layers: group
                .iter()
                .enumerate()
                .map(|(style, &i)| {
                    let line = self.curve(|k| (self.t.states(k)[i], self.t.states(k)[i]));
                    layer(name(&m.states[i], false), &m.states[i], style, Self::plot(&line))
                })
                .collect(),
            ..Panel::default()
        };
        groups.into_iter().map(panel).collect()
    }

    pub(super) fn phase(&mut self) -> Vec<Panel> {
        let m = self.motion;
        let all: Vec<usize> = self.groups(m.coordinates, MAX_PANELS).into_iter().flatten().take(MAX_PANELS).collect();
        // A curve in the plane has more turns than extrema over time, so it needs more points.
        let limit = Limit { points: 6 * LIMIT.points, ..LIMIT };
        let start = self.t.t.first().copied().unwrap_or(0.0);
        let mut from = start;
        let panel = |&i: &usize| {
            let curve = series::phase(self.t, i, limit);
            from = curve.t.first().copied().unwrap_or(start).max(from);
            let piece = |r: std::ops::Range<usize>| r.map(|k| (curve.y[0][k], curve.y[1][k])).collect::<Vec<_>>();
            let point = |y: [f64; 2]| (y[0], y[1]);
            let plot = Plot::Curve {
                pieces: curve.segments().into_iter().map(piece).collect(),
                jumps: curve.jumps.iter().map(|j| (j.t, point(j.left), point(j.right))).collect(),
            };
            Panel {
                x: AxisLabel { name: name(&m.coordinates[i], false), unit: self.unit(i, false) },
                y: AxisLabel { name: name(&m.coordinates[i], true), unit: self.unit(i, true) },
                layers: vec![layer(name(&m.coordinates[i], false), &m.coordinates[i], 0, plot)],
                ..Panel::default()
            }
        };
        let panels = all.iter().map(panel).collect();
        if from > start {
            self.notes
                .push(format!("showing the motion from t = {} on: before, it has too many turns", number(from, 6)));
        }
        panels
    }

    pub(super) fn spectrum(&mut self) -> Result<Vec<Panel>, String> {
        let m = self.motion;
        let mut panels = Vec::new();
        for i in self.groups(m.coordinates, MAX_PANELS).into_iter().flatten().take(MAX_PANELS) {
            let x: Vec<f64> = (0..self.t.len()).map(|k| self.t.q(k)[i]).collect();
            let spectrum = spectrum(&self.t.t, &x).ok_or("a spectrum needs at least 64 instants")?;
            let top = spectrum.density.iter().copied().fold(0.0, f64::max);
            // Values twelve decades below the largest are rounding errors. Thinned on the logarithmic axis on which they are drawn.
            let points = spectrum.frequency.iter().zip(&spectrum.density).filter(|(_, p)| **p >= top * 1e-12);
            let points = thinned(points.map(|(f, p)| (f.ln(), *p)).collect());
            let points: Vec<(f64, f64)> = points.into_iter().map(|(f, p)| (f.exp(), p)).collect();
            let unit = match (m.units.position(i), m.units.time.as_str()) {
                ("", _) | (_, "") => String::new(),
                (unit, time) => format!("{unit}² {time}"),
            };
            let power = Text::plain("power density of ").join(name(&m.coordinates[i], false));
            let plot = Plot::Curve { pieces: vec![points], jumps: Vec::new() };
            panels.push(Panel {
                x: AxisLabel::plain("frequency", quotient("1", &m.units.time)),
                y: AxisLabel { name: power, unit },
                scale: Scale::Log,
                layers: vec![layer(name(&m.coordinates[i], false), &m.coordinates[i], 0, plot)],
                ..Panel::default()
            });
        }
        Ok(panels)
    }
}

/// The spectrum of samples in order of time, without frequency zero; None for fewer than 64 samples.
fn spectrum(t: &[f64], x: &[f64]) -> Option<Spectrum> {
    let n = t.len();
    let (first, last) = (*t.first()?, *t.last()?);
    if n < 64 || !(last > first) || x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // Resampled at equal intervals; the instants of impacts, stored in addition, are few.
    let h = (last - first) / (n - 1) as f64;
    let mut k = 0;
    let resampled = (0..n).map(|i| {
        let at = first + h * i as f64;
        while k + 2 < n && t[k + 1] < at {
            k += 1;
        }
        let width = t[k + 1] - t[k];
        let s = if width > 0.0 { ((at - t[k]) / width).clamp(0.0, 1.0) } else { 0.0 };
        x[k] + s * (x[k + 1] - x[k])
    });
    // Windows of about a quarter of the samples: several to average over, long enough to separate frequencies.
    let window = (2 * n / 9).next_power_of_two().clamp(64, 1 << 20).min(1 << n.ilog2());
    let mut spectrum = welch(&resampled.collect::<Vec<_>>(), h, window)?;
    spectrum.frequency.remove(0);
    spectrum.density.remove(0);
    Some(spectrum)
}
