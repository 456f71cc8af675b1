//! Whether a model is the same everywhere along an advance: a pendulum after a turn, a capsule that has gone on.

use super::{Evaluator, Inputs, Problem, Start};
use crate::model::Model;
use crate::problem::blocks::Blocks;
use crate::problem::inputs::Cells;
use saltus_expr::{MissingInput, NodeId};
use std::sync::Arc;

/// States at which a model is compared with itself further on, at each distance from where the motion is,
const LOOKS: usize = 8;
/// in powers of ten of the advance.
const DECADES: std::ops::Range<i32> = -1..7;
/// It is the same to this part of how much it differs in between,
const SAME: f64 = 1e-4;
/// and to rounding, far away.
const ROUNDING: f64 = 1e-9;

/// All that the motion depends on, as far as it depends on a coordinate.
pub(super) fn compile(model: &Model, inputs: &Inputs) -> Result<Arc<Blocks>, MissingInput> {
    let slips = model.frictions.iter().flat_map(|f| f.slips.iter().map(|s| s.value).chain([f.kinetic, f.sticking]));
    let walls = model.constraints.iter().map(|c| c.gap).chain(model.joints.iter().map(|j| j.equation));
    let all = model.force.iter().chain(&model.mass).copied().chain(walls).chain(slips);
    let mut all: Vec<NodeId> = all.filter(|&node| model.graph.depends_on_any(node, &model.q)).collect();
    all.sort_unstable();
    all.dedup();
    Blocks::compile(&model.graph, inputs, &[&all])
}

impl Problem {
    /// Whether the model is the same after an advance of its coordinates, wherever they are: forces, inertia, gaps, joints and friction. So a
    /// motion that goes on by it repeats itself. It is found by looking: at states of which most are far from `near`.
    ///
    /// ```
    /// use saltus::model::Builder;
    /// let pendulum = Builder::new("pendulum").coordinate("a", 0.0, 1.0).kinetic("a'^2/2").potential("-cos(a)").build()?.problem()?;
    /// assert!(pendulum.repeats_after(&pendulum.start(), &[std::f64::consts::TAU]));
    /// assert!(!pendulum.repeats_after(&pendulum.start(), &[1.0]));
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn repeats_after(&self, near: &Start, advance: &[f64]) -> bool {
        let code = self.inner.translation.get_or_init(|| compile(self.model(), &self.inner.inputs).ok());
        let Some(code) = code else { return false };
        let d = self.dimension();
        let far = advance.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if near.q.len() < self.model().degrees() || near.v.len() != d || !(far > 0.0 && far.is_finite()) {
            return false;
        }
        let parameters = if near.parameters.is_empty() { self.inner.cells.to_vec() } else { near.parameters.clone() };
        let mut evaluator = Evaluator::new(code, &Cells::new(parameters));
        let [mut here, mut there, mut between] = [0, 0, 0].map(|_| code.buffer(0));
        let fast = near.v.iter().fold(far, |m, v| m.max(v.abs()));
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let moving: Vec<usize> = (0..advance.len()).filter(|&i| advance[i] != 0.0).collect();
        for decade in DECADES {
            for _ in 0..LOOKS {
                let reach = far * 10f64.powi(decade);
                let mut q: Vec<f64> = near.q.iter().map(|q| q + reach * dice.next()).collect();
                q.resize(d, 0.0);
                let v: Vec<f64> = near.v.iter().map(|v| v + fast * dice.next()).collect();
                let t = near.t + 100.0 * dice.next();
                let mut at = |q: &[f64], values: &mut Vec<f64>| {
                    evaluator.run(t, &[q, &v]);
                    evaluator.write(0, values);
                };
                at(&q, &mut here);
                let further: Vec<f64> = q.iter().enumerate().map(|(i, q)| q + advance.get(i).unwrap_or(&0.0)).collect();
                at(&further, &mut there);
                let mut differs = vec![0.0; here.len()];
                for &i in &moving {
                    let mut aside = q.clone();
                    aside[i] += 0.37 * advance[i];
                    at(&aside, &mut between);
                    let by = between.iter().zip(&here).map(|(x, y)| (x - y).abs());
                    differs.iter_mut().zip(by).filter(|(_, by)| by.is_finite()).for_each(|(all, by)| *all += by);
                }
                let is_same = |k: usize| {
                    let (a, b) = (here[k], there[k]);
                    let allowed = SAME * differs[k] + ROUNDING * a.abs().max(b.abs());
                    // (Both may be beyond what is defined.)
                    !(a.is_finite() || b.is_finite()) || (a - b).abs() <= allowed
                };
                if !(0..here.len()).all(is_same) {
                    return false;
                }
            }
        }
        true
    }
}

/// Numbers in [−1, 1] that are always the same.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Builder;
    use std::f64::consts::TAU;

    fn repeats(force: &str, advance: f64) -> bool {
        let model = Builder::new("one").coordinate("x", 0.3, 0.5).kinetic("x'^2/2").force("x", force);
        let problem = model.build().expect("a model").problem().expect("a problem");
        problem.repeats_after(&problem.start(), &[advance])
    }

    #[test]
    fn a_stretch_where_nothing_acts_is_not_everywhere() {
        assert!(repeats("-x'", 0.7) && repeats("cos(t) - x'^3", 1e-3));
        assert!(
            repeats("-sin(x)", TAU) && repeats("-sin(x)", 3.0 * TAU * (1.0 + 1e-7)) && repeats("-sin(5*x)", TAU / 5.0)
        );
        assert!(!repeats("-sin(x)", 1.0) && !repeats("-sin(x)", TAU * 1.01) && !repeats("-1e-9*x", 1e-3));
        for advance in [0.01, 0.5, 3.0] {
            for force in
                ["(1-x'^2)*x'*max(0, abs(x)-40)^2", "(1-x'^2)*x'*(x/50)^40", "-x", "exp(-x^2)", "-sin(x) - 1e-3*x"]
            {
                assert!(!repeats(force, advance), "{force} after {advance}");
            }
        }
    }

    #[test]
    fn what_two_bodies_do_between_them_goes_with_them() {
        let model = Builder::new("two").coordinate("x", 0.0, 0.5).coordinate("y", 2.0, 0.0).kinetic("x'^2/2 + y'^2/2");
        let model = model.potential("(y - x - 1)^2").restitution("0.5").constraint("stop", "y - x");
        let problem = model.build().expect("a model").problem().expect("a problem");
        let at = problem.start();
        assert!(problem.repeats_after(&at, &[0.7, 0.7 * (1.0 + 1e-9)]));
        assert!(!problem.repeats_after(&at, &[0.7, 0.0]) && !problem.repeats_after(&at, &[0.7, 0.6]));
    }
}
