//! Joints, friction and first-order states: what they are, whether joints depend on each other, and the kinetic angle of
//! constraints that act through joints.

use super::{Check, Verdict};
use crate::linalg::{Delassus, Metric, Rows, add};
use crate::model::{Friction, Model};
use crate::problem::{Dynamics, Gaps, Problem, Start};
use crate::text::count;

/// The equations of joints at a point.
pub struct Joints {
    pub gaps: Gaps,
    delassus: Delassus,
    right: Vec<f64>,
}

impl Joints {
    /// None where a model has no joints.
    pub fn of(problem: &Problem) -> Option<Self> {
        let n = problem.model().joints.len();
        let delassus = Delassus::new(n, problem.dimension());
        (n > 0).then(|| Joints { gaps: problem.joints(), delassus, right: vec![0.0; n] })
    }

    /// Number of equations.
    pub fn len(&self) -> usize {
        self.right.len()
    }

    /// The equations that do not follow from those before them, in a metric and where gradients were last evaluated.
    pub fn independent(&mut self, metric: &Metric) -> &[usize] {
        self.delassus.set(metric, &self.gaps.gradients, 0..self.right.len());
        self.delassus.independent()
    }

    /// The kinetic angle between two constraints whose bodies the joints hold.
    pub fn angle(&mut self, metric: &Metric, rows: &Rows, a: usize, b: usize) -> Option<f64> {
        self.independent(metric);
        let (x, y) = (self.pull(metric, rows, a), self.pull(metric, rows, b));
        let norms = rows.dot(a, &x) * rows.dot(b, &y);
        let cos = -rows.dot(a, &y) / norms.sqrt();
        (norms > 0.0 && cos.is_finite()).then(|| cos.clamp(-1.0, 1.0).acos())
    }

    /// The velocity that a unit impulse of a row gives while the joints hold.
    fn pull(&mut self, metric: &Metric, rows: &Rows, a: usize) -> Vec<f64> {
        let mut w = vec![0.0; metric.dimension()];
        rows.add_to(a, 1.0, &mut w);
        metric.solve(&mut w);
        for k in 0..self.right.len() {
            self.right[k] = -self.gaps.gradients.dot(k, &w);
        }
        self.delassus.solve(&mut self.right);
        for k in 0..self.right.len() {
            add(&mut w, self.right[k], self.delassus.mobility(k));
        }
        w
    }
}

/// Lists what there is; true if all equations of joints are independent at the start.
pub fn examine(problem: &Problem, start: &Start, all: &mut Check) -> bool {
    let model = problem.model();
    let independent = joints(problem, start, all);
    for friction in model.frictions.iter().take(8) {
        all.note("friction", Verdict::Note, described(model, friction));
    }
    if model.frictions.len() > 8 {
        all.note("friction", Verdict::Note, format!("… and {} more", model.frictions.len() - 8));
    }
    if model.frictions.iter().any(|f| f.constraint.is_some()) {
        all.note(
            "friction",
            Verdict::Note,
            "Coulomb's law with rigid bodies has no solution or several where friction presses a sliding body down by itself \
             (Painlevé); a run by events says where, and auto passes there by an impulse"
                .into(),
        );
    }
    if !model.states.is_empty() {
        let names: Vec<String> = model.states.iter().take(8).map(|s| format!("`{}`", s.name)).collect();
        let more = if model.states.len() > 8 { ", …" } else { "" };
        let number = count(model.states.len() as u64, "first-order state");
        let text =
            format!("{number} ({}{more}): continuous through impacts, of full order by events", names.join(", "));
        all.note("states", Verdict::Note, text);
    }
    independent
}

fn joints(problem: &Problem, start: &Start, all: &mut Check) -> bool {
    let Some(mut joints) = Joints::of(problem) else { return true };
    let mut dynamics: Dynamics = problem.dynamics();
    let mut metric = dynamics.metric();
    dynamics.evaluate(start.t, &start.q, &start.v);
    if metric.set(&dynamics.mass).is_err() {
        return false;
    }
    joints.gaps.kinematics(start.t, &start.q, &start.v);
    let n = joints.len();
    let kept = joints.independent(&metric).to_vec();
    let degrees = problem.model().degrees();
    let held = format!("{} for {}", count(n as u64, "equation"), count(degrees as u64, "coordinate"));
    if kept.len() == n {
        let free = count((degrees - n.min(degrees)) as u64, "degree");
        let apart = if n > 1 { ", independent of each other at the start" } else { "" };
        let text = format!("{held}{apart}: {free} of freedom left");
        all.note("joints", Verdict::Good, text);
        return true;
    }
    let names: Vec<String> = (0..n).filter(|k| !kept.contains(k)).take(5).map(|k| name(problem.model(), k)).collect();
    let text = format!(
        "{held}, of which {} {} from the others at the start (redundant): the motion is the same without, but how a reaction \
         divides among them is not determined, and theirs are given as zero",
        names.join(", "),
        if n - kept.len() == 1 { "follows" } else { "follow" }
    );
    all.note("joints", Verdict::Note, text);
    false
}

fn name(model: &Model, k: usize) -> String {
    format!("`{}`", model.joints[k].name)
}

/// A friction in words.
fn described(model: &Model, friction: &Friction) -> String {
    let what = match friction.constraint {
        Some(_) => format!("Coulomb friction at `{}`", friction.name),
        None => format!("dry friction of known limit `{}`", friction.name),
    };
    let mut how = Vec::new();
    if friction.slips.len() == 2 {
        how.push("in space, with the true cone".to_string());
    }
    if model.graph.depends_on(friction.kinetic, friction.speed) {
        how.push("which depends on the sliding speed".to_string());
    } else if friction.kinetic != friction.sticking {
        how.push("with a static value of its own".to_string());
    }
    if friction.tangential > 0.0 {
        how.push(format!("tangential restitution {}", friction.tangential));
    }
    if how.is_empty() { what } else { format!("{what}, {}", how.join(", ")) }
}
