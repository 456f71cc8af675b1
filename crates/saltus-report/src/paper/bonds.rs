//! Figures of joints and friction: their forces over time, their impulses at impacts.

use super::panel::{AxisLabel, Layer, MAX_STYLES, Panel, Plot};
use super::pictures::{Drawing, layer};
use super::sheet::Text;
use saltus::{Impact, Side, Trajectory};

impl Drawing<'_> {
    /// Reactions of the equations of joints.
    pub(super) fn joints(&mut self) -> Result<Vec<Panel>, String> {
        let m = self.motion;
        match m.joints.is_empty() {
            true => Err("the model has no joints".into()),
            false => self.bonds(m.joints, 0, ["joint reaction", "joint impulse"]),
        }
    }

    /// Forces of friction, one for each slip.
    pub(super) fn friction(&mut self) -> Result<Vec<Panel>, String> {
        let m = self.motion;
        match m.frictions.is_empty() {
            true => Err("the model has no friction".into()),
            false => self.bonds(m.frictions, m.joints.len(), ["friction force", "friction impulse"]),
        }
    }

    /// Forces and impulses of rows behind those of the constraints, from `first` on.
    fn bonds(&mut self, names: &[String], first: usize, [force, impulse]: [&str; 2]) -> Result<Vec<Panel>, String> {
        let (m, motion) = (self.motion, self.t);
        let all: Vec<usize> = if self.chosen.is_empty() { (0..names.len()).collect() } else { self.chosen.to_vec() };
        let shown: Vec<usize> = all.iter().copied().take(MAX_STYLES).collect();
        if shown.len() < all.len() {
            self.notes.push(format!("showing {} of {}", shown.len(), all.len()));
        }
        let layers = |plot: &dyn Fn(usize) -> Plot| -> Vec<Layer> {
            let one = |(style, &k): (usize, &usize)| layer(Text::plain(&names[k]), &names[k], style, plot(k));
            shown.iter().enumerate().map(one).collect()
        };
        let panel = |label: &str, unit: &str, layers: Vec<Layer>| {
            self.panel_with_zero(AxisLabel::plain(label, unit), names.len() > 1, layers)
        };
        let mut panels = Vec::new();
        let is_known = |whole: &Trajectory| !whole.pieces.is_empty();
        if motion.has_reactions() || m.polynomials.is_some_and(is_known) {
            let limits = self.limits(m.constraints.len() + first + names.len());
            let row = |k: usize| m.constraints.len() + first + k;
            let curve = |k: usize| Self::plot(&self.curve(|at| (limits[at].0[row(k)], limits[at].1[row(k)])));
            panels.push(panel(force, &m.units.force, layers(&curve)));
        }
        let stems = |k: usize| {
            let of = |i: Impact| i.others.iter().find(|(row, _)| *row == first + k).map(|(_, p)| (i.t, *p));
            Plot::Stems(motion.impacts.iter().filter_map(of).collect())
        };
        let impulses = layers(&stems);
        if impulses.iter().any(|l| matches!(&l.plot, Plot::Stems(all) if !all.is_empty())) {
            panels.push(panel(impulse, &m.units.impulse, impulses));
        }
        match panels.is_empty() {
            true => {
                Err(format!("this run has no {force} to draw: time steps keep none; run it by events (--scheme auto)"))
            }
            false => Ok(panels),
        }
    }

    /// The reactions of the first `n` rows on both sides of each instant.
    fn limits(&self, n: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
        let motion = self.t;
        let whole = self.motion.polynomials.filter(|whole| !whole.pieces.is_empty());
        let at = |k: usize| {
            let right = || motion.reactions_at(k, n);
            match whole {
                Some(whole) => {
                    let [left, after] = [Side::Left, Side::Right].map(|side| whole.reactions(motion.t[k], side, n));
                    // (At the ends of a motion there is one of them.)
                    let left = left.or_else(|| after.clone()).unwrap_or_else(|| vec![f64::NAN; n]);
                    let after = after.unwrap_or_else(|| left.clone());
                    (left, after)
                }
                None => (right(), right()),
            }
        };
        (0..motion.len()).map(at).collect()
    }
}
