//! Figures of the constraints: gaps, reactions, energy, impacts.

use super::panel::{AxisLabel, Layer, MAX_STYLES, Panel, Plot};
use super::pictures::{Drawing, layer, thinned};
use super::sheet::Text;
use crate::text::quotient;
use saltus::{Impact, Problem, Side, System};

impl Drawing<'_> {
    pub(super) fn gaps(&mut self, system: &dyn System) -> Result<Vec<Panel>, String> {
        let (m, c) = (self.motion, self.motion.constraints.len());
        if c == 0 {
            return Err("the model has no constraints, hence no gaps".into());
        }
        let mut gaps = system.gaps();
        let mut rows = Vec::with_capacity(self.t.len() * c);
        for (k, &t) in self.t.t.iter().enumerate() {
            gaps.evaluate(t, self.t.q(k), self.t.v(k, Side::Right));
            rows.extend(&gaps.values);
        }
        let groups = self.groups(m.constraints, MAX_STYLES);
        let one = |(style, &a): (usize, &usize)| {
            let line = self.curve(|k| (rows[k * c + a], rows[k * c + a]));
            layer(Text::plain(&m.constraints[a]), &m.constraints[a], style, Self::plot(&line))
        };
        let panel = |group: Vec<usize>| {
            let layers = group.iter().enumerate().map(one).collect();
            self.panel_with_zero(AxisLabel::plain("gap", &m.units.length), c > 1, layers)
        };
        Ok(groups.into_iter().map(panel).collect())
    }

    pub(super) fn energy(&mut self, problem: &Problem) -> Vec<Panel> {
        let (motion, mut energy) = (self.t, problem.energy());
        let mut read = |side: Side| -> Vec<(f64, f64)> {
            (0..motion.len()).map(|k| energy.both(motion.t[k], motion.q(k), motion.v(k, side))).collect()
        };
        let (left, right) = (read(Side::Left), read(Side::Right));
        let mut layers = Vec::new();
        let mut add = |what: &str, style: usize, of: &dyn Fn((f64, f64)) -> f64| {
            let line = self.curve(|k| (of(left[k]), of(right[k])));
            layers.push(layer(Text::plain(what), what, style, Self::plot(&line)));
        };
        if problem.model().potential.is_some() {
            add("total", 0, &|e| e.0 + e.1);
            add("kinetic", 1, &|e| e.0);
            add("potential", 2, &|e| e.1);
        } else {
            add("kinetic", 0, &|e| e.0);
        }
        let y = AxisLabel::plain("energy", &self.motion.units.energy);
        vec![self.panel_with_zero(y, layers.len() > 1, layers)]
    }

    pub(super) fn reactions(&mut self) -> Result<Vec<Panel>, String> {
        let (m, motion) = (self.motion, self.t);
        let active = |a: &usize| {
            motion.impacts.iter().any(|i| i.constraints.contains(a))
                || motion.contacts.iter().any(|c| c.constraint == *a)
        };
        let all: Vec<usize> = self.groups(m.constraints, usize::MAX).into_iter().flatten().filter(active).collect();
        let shown: Vec<usize> = all.iter().copied().take(MAX_STYLES).collect();
        if shown.is_empty() {
            return Err("no constraint is active in this interval, hence no reactions".into());
        }
        if shown.len() < all.len() {
            self.notes.push(format!("showing {} of {} active constraints", shown.len(), all.len()));
        }
        let panel = |label: &str, unit: &str, layers: Vec<Layer>| {
            self.panel_with_zero(AxisLabel::plain(label, unit), m.constraints.len() > 1, layers)
        };
        // Styles from the second on, since the first is black, and black areas look grey.
        let layers = |plot: &dyn Fn(usize) -> Plot| -> Vec<Layer> {
            let one =
                |(k, &a): (usize, &usize)| layer(Text::plain(&m.constraints[a]), &m.constraints[a], k + 1, plot(a));
            shown.iter().enumerate().map(one).collect()
        };
        let mut panels = Vec::new();
        let densities = layers(&|a| Plot::Areas(self.densities(a)));
        if densities.iter().any(|l| matches!(&l.plot, Plot::Areas(pieces) if !pieces.is_empty())) {
            panels.push(panel("reaction", &m.units.force, densities));
        }
        if !motion.impacts.is_empty() {
            let stems = |a: usize| {
                let of = |i: Impact| i.constraints.iter().position(|&b| b == a).map(|k| (i.t, i.impulses[k]));
                Plot::Stems(motion.impacts.iter().filter_map(of).collect())
            };
            panels.push(panel("impulse", &m.units.impulse, layers(&stems)));
        }
        Ok(panels)
    }

    /// The reaction density of a constraint, one piece per contact; the mean over each contact if densities are unknown.
    fn densities(&self, a: usize) -> Vec<Vec<(f64, f64)>> {
        let (motion, c) = (self.t, self.motion.constraints.len());
        if !motion.has_reactions() {
            let of = motion.contacts.iter().filter(|k| k.constraint == a && k.end > k.start);
            let mean = |k: &saltus::Contact| k.impulse / (k.end - k.start);
            return of.map(|k| vec![(k.start, mean(k)), (k.end, mean(k))]).collect();
        }
        let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
        let (mut was_active, mut last) = (false, 0.0);
        for k in 0..motion.len() {
            let r = motion.reactions_at(k, c)[a];
            let is_active = r.is_finite() && r != 0.0;
            if is_active && !was_active {
                pieces.push(Vec::new());
            }
            if let Some(piece) = pieces.last_mut() {
                match (is_active, was_active) {
                    (true, _) => piece.push((motion.t[k], r)),
                    // At a release the stored right limit is zero; the left limit is close to the value before.
                    (false, true) => piece.push((motion.t[k], last)),
                    _ => {}
                }
            }
            (was_active, last) = (is_active, r);
        }
        pieces.into_iter().map(thinned).collect()
    }

    pub(super) fn impacts(&mut self) -> Result<Vec<Panel>, String> {
        let m = self.motion;
        let wanted = |i: &Impact| self.chosen.is_empty() || i.constraints.iter().any(|a| self.chosen.contains(a));
        let hits: Vec<Impact> = self.t.impacts.iter().filter(wanted).collect();
        if hits.is_empty() {
            return Err("no impacts in this interval".into());
        }
        let speed = AxisLabel::plain("approach speed", quotient(&m.units.length, &m.units.time));
        let mut layers: Vec<Layer> = Vec::new();
        for hit in &hits {
            let a = hit.constraints.first().copied().unwrap_or(0);
            let key = m.constraints.get(a).map_or("", String::as_str);
            let at = layers.iter().position(|l| l.key == key).unwrap_or_else(|| {
                layers.push(layer(Text::plain(key), key, layers.len(), Plot::Points(Vec::new())));
                layers.len() - 1
            });
            if let Plot::Points(points) = &mut layers[at].plot {
                points.push((hit.t, hit.approach.abs()));
            }
        }
        if layers.len() > MAX_STYLES {
            self.notes.push(format!("{} constraints share {MAX_STYLES} styles", layers.len()));
        }
        let over_time = self.panel_with_zero(speed.clone(), layers.len() > 1, layers);
        let speeds: Vec<f64> = hits.iter().map(|h| h.approach.abs()).collect();
        let distribution = Panel {
            x: speed,
            y: AxisLabel::plain("impacts", ""),
            zero: true,
            layers: vec![layer(Text::plain("impacts"), "impacts", 0, Plot::Bars(histogram(&speeds)))],
            ..Panel::default()
        };
        Ok(vec![over_time, distribution])
    }
}

/// Counts in bins of equal width (left edge, right edge, count); there are about as many bins as the square root of the
/// number of values.
fn histogram(values: &[f64]) -> Vec<(f64, f64, f64)> {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let high = finite().fold(0.0, f64::max);
    let low = finite().fold(0.0, f64::min);
    let bins = ((values.len() as f64).sqrt().ceil() as usize).clamp(5, 40);
    let width = if high > low { (high - low) / bins as f64 } else { 1.0 };
    let mut counts = vec![0.0; bins];
    finite().for_each(|x| counts[(((x - low) / width) as usize).min(bins - 1)] += 1.0);
    counts.iter().enumerate().map(|(k, &n)| (low + width * k as f64, low + width * (k + 1) as f64, n)).collect()
}
