//! The boundary of K: gradients on it, where two constraints can be closed together, and at which kinetic angle.

use super::laws::Joints;
use super::{Check, CheckOptions, Verdict, around, position};
use crate::contact::kinetic_angle;
use crate::ledger::is_continuous;
use crate::linalg::{Dice, Metric, Svd, max_abs};
use crate::problem::{Dynamics, Gaps, Problem, Start};
use crate::text::number;

/// Two constraints that can be closed at once.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Which two.
    pub pair: (usize, usize),
    /// The smallest kinetic angle found, in degrees.
    pub narrowest: f64,
    /// The largest.
    pub widest: f64,
    /// Where the one farther from a right angle was found: time and position.
    pub at: (f64, Vec<f64>),
    /// How many such places were found, and from how many starts.
    pub found: usize,
    /// Starts of the search.
    pub starts: usize,
    /// Whether the theorems promise continuity at all places found.
    pub continuous: bool,
    /// \[T\] H3's constant γ for the two, the largest found: Σ λ|∇f| ≤ γ |Σ λ∇f|, in the kinetic metric.
    pub gamma: f64,
}

/// More pairs than this are not all examined.
const MAX_PAIRS: usize = 300;

pub struct Boundary<'p> {
    problem: &'p Problem,
    starts: Vec<(f64, Vec<f64>)>,
    /// Velocities at the start, and first-order states, which gaps may use.
    v: Vec<f64>,
    gaps: Gaps,
    joints: Option<Joints>,
    dynamics: Dynamics,
    metric: Metric,
    scale: f64,
    pub points: usize,
    pub pairs_missing: bool,
}

impl<'p> Boundary<'p> {
    pub fn new(problem: &'p Problem, start: &Start, options: &CheckOptions) -> Self {
        let model = problem.model();
        let mut dice = Dice::new(options.seed + 2);
        let moving = model.has_moving_constraints();
        let points = around(&start.q, options.starts.max(1), &mut dice);
        let starts = points.into_iter().enumerate().map(|(k, q)| {
            let t = if moving && k > 0 { dice.between(start.t, options.end.max(start.t)) } else { start.t };
            (t, q)
        });
        let dynamics = problem.dynamics();
        Boundary {
            starts: starts.collect(),
            v: start.v.clone(),
            problem,
            gaps: problem.gaps(),
            joints: Joints::of(problem),
            metric: dynamics.metric(),
            dynamics,
            scale: max_abs(&start.q[..model.degrees()]).max(1.0),
            points: 0,
            pairs_missing: false,
        }
    }

    fn degrees(&self) -> usize {
        self.problem.model().degrees()
    }

    fn name(&self, a: usize) -> &str {
        &self.problem.model().constraints[a].name
    }

    /// Gaps at a point. Where a point is beside the start in the coordinates whose velocities states are, which have no meaning, the
    /// states are beside it.
    fn linearise(&mut self, t: f64, q: &[f64]) {
        let mut v = self.v.clone();
        (self.degrees()..v.len()).for_each(|i| v[i] += q[i]);
        self.gaps.linearise(t, q, &v);
    }

    /// A point where all of `set` are closed, the joints hold and the others are not violated, found from a start.
    fn closed(&mut self, set: &[usize], t: f64, start: &[f64]) -> Option<Vec<f64>> {
        self.points += 1;
        let d = start.len();
        let mut q = start.to_vec();
        let mut last = f64::INFINITY;
        for _ in 0..80 {
            self.linearise(t, &q);
            let mut residual: Vec<f64> = set.iter().map(|&a| self.gaps.values[a]).collect();
            let held = self.joints.as_ref().map_or(0, Joints::len);
            let mut rows = vec![0.0; (set.len() + held) * d];
            if let Some(joints) = &mut self.joints {
                joints.gaps.linearise(t, &q, &[]);
                residual.extend(&joints.gaps.values);
                let own = rows[set.len() * d..].chunks_exact_mut(d).enumerate();
                own.for_each(|(k, row)| joints.gaps.gradients.add_to(k, 1.0, row));
            }
            for (k, &a) in set.iter().enumerate() {
                self.gaps.gradients.add_to(a, 1.0, &mut rows[k * d..(k + 1) * d]);
            }
            let step = Svd::new(set.len() + held, d, &rows, 1e-12)?.least_norm(&residual);
            let far = max_abs(&step);
            let share = (self.scale / far.max(1e-300)).min(1.0);
            q.iter_mut().zip(&step).for_each(|(q, s)| *q -= share * s);
            if !max_abs(&q).is_finite() || far <= 1e-14 * self.scale || (far < 1e-9 * self.scale && far > 0.9 * last) {
                break;
            }
            last = far;
        }
        self.linearise(t, &q);
        let m = self.gaps.values.len();
        let near = |a: usize| 1e-8 * self.scale + self.gaps.rounding(a, &q);
        let on = set.iter().all(|&a| self.gaps.values[a].abs() <= near(a));
        let inside = (0..m).all(|a| self.gaps.values[a] >= -near(a));
        let held = self.joints.as_mut().is_none_or(|joints| {
            joints.gaps.linearise(t, &q, &[]);
            joints.gaps.values.iter().all(|f| f.abs() <= 1e-8 * self.scale * self.scale.max(1.0))
        });
        (on && held && inside && max_abs(&q) < 1e4 * self.scale).then_some(q)
    }

    /// Gradients on the boundary of each constraint.
    pub fn each(&mut self, all: &mut Check, report: &mut dyn FnMut(usize, usize) -> bool) {
        let m = self.problem.constraints();
        let (mut weak, mut weakest) = (false, (f64::INFINITY, 0));
        let mut never = Vec::new();
        for a in 0..m {
            if !report(a, 2 * m) {
                all.stopped = true;
                return;
            }
            let (mut found, mut least, mut most, mut at) = (0, f64::INFINITY, 0.0_f64, Vec::new());
            for k in 0..self.starts.len() {
                let (t, start) = self.starts[k].clone();
                // How steep the gap is away from its boundary, to compare with.
                self.linearise(t, &start);
                most = most.max(max_abs(self.gaps.gradients.row(a).1));
                if let Some(q) = self.closed(&[a], t, &start) {
                    found += 1;
                    let slope = max_abs(self.gaps.gradients.row(a).1);
                    if slope < least {
                        (least, at) = (slope, q);
                    }
                }
            }
            if found == 0 {
                never.push(self.name(a).to_string());
                continue;
            }
            // One wording for one gradient: it vanishes, nearly does, or does not.
            if !(least >= 1e-4 * most) {
                weak = true;
                let (how, remedy) = match least <= 1e-8 * most {
                    true => (
                        "vanishes",
                        "no normal is defined there, and no theorem holds: write a distance, not a power of one",
                    ),
                    false => ("nearly vanishes", "write a distance, not a squared one"),
                };
                all.note(
                    "gaps",
                    Verdict::Bad,
                    format!(
                        "the gradient of `{}` {how} on its boundary (|∇f| = {} at q = ({}), up to {} elsewhere): {remedy}",
                        self.name(a),
                        number(least, 4),
                        position(&at[..self.degrees()], self.scale),
                        number(most, 4)
                    ),
                );
            } else if least < weakest.0 {
                weakest = (least, a);
            }
        }
        if weakest.0.is_finite() {
            let others = if weak { "of the others " } else { "" };
            all.note(
                "gaps",
                Verdict::Good,
                format!(
                    "gradients {others}are not zero on the boundary: smallest |∇f| = {}, on `{}` ({} starts for each constraint)",
                    number(weakest.0, 4),
                    self.name(weakest.1),
                    self.starts.len()
                ),
            );
        }
        if !never.is_empty() {
            let names = never.iter().take(5).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
            let text = format!(
                "no point of K was found where {names} {} closed ({} starts)",
                if never.len() == 1 { "is" } else { "are" },
                self.starts.len()
            );
            all.note("gaps", Verdict::Note, text);
        }
    }

    /// Pairs that can be closed together.
    pub fn pairs(&mut self, all: &mut Check, report: &mut dyn FnMut(usize, usize) -> bool) {
        let m = self.problem.constraints();
        let pairs: Vec<(usize, usize)> = (0..m).flat_map(|a| (a + 1..m).map(move |b| (a, b))).collect();
        self.pairs_missing = pairs.len() > MAX_PAIRS;
        let looked = pairs.len().min(MAX_PAIRS);
        for (k, &pair) in pairs.iter().take(MAX_PAIRS).enumerate() {
            if !report(looked + k, 2 * looked.max(m)) {
                all.stopped = true;
                break;
            }
            if let Some(pair) = self.meet(pair) {
                all.pairs.push(pair);
            }
        }
        if m < 2 {
            return;
        }
        if all.pairs.is_empty() {
            let text = format!(
                "no two constraints were found closed at once ({looked} pairs, {} starts each): as far as that goes, one acts at a time",
                self.starts.len()
            );
            all.note("pairs", Verdict::Good, text);
        }
        if self.pairs_missing {
            all.note(
                "pairs",
                Verdict::Note,
                format!("{} pairs of constraints; only the first {looked} were examined", pairs.len()),
            );
        }
        let lines: Vec<(Verdict, String)> = all.pairs.iter().map(|p| self.line(p)).collect();
        lines.into_iter().for_each(|(verdict, text)| all.note("pairs", verdict, text));
    }

    fn meet(&mut self, pair: (usize, usize)) -> Option<Pair> {
        let model = self.problem.model();
        let e = (model.constraints[pair.0].restitution, model.constraints[pair.1].restitution);
        let mut result: Option<Pair> = None;
        for k in 0..self.starts.len() {
            let (t, start) = self.starts[k].clone();
            let Some(q) = self.closed(&[pair.0, pair.1], t, &start) else { continue };
            self.dynamics.evaluate(t, &q, &vec![0.0; q.len()]);
            if self.metric.set(&self.dynamics.mass).is_err() {
                continue;
            }
            let gradients = &self.gaps.gradients;
            let angle = match &mut self.joints {
                Some(joints) => joints.angle(&self.metric, gradients, pair.0, pair.1),
                None => kinetic_angle(&self.metric, gradients, pair.0, pair.1),
            };
            let Some(angle) = angle else { continue };
            // The convex hull of two unit normals comes within sin(θ/2) of the origin.
            let gamma = 1.0 / (0.5 * angle).sin().max(1e-300);
            let angle = angle.to_degrees();
            let continuous = is_continuous(angle, e);
            let starts = self.starts.len();
            let here = result.get_or_insert(Pair {
                pair,
                narrowest: angle,
                widest: angle,
                at: (t, q.clone()),
                found: 0,
                starts,
                continuous,
                gamma,
            });
            here.found += 1;
            if (angle - 90.0).abs() > (here.narrowest - 90.0).abs().max((here.widest - 90.0).abs()) {
                here.at = (t, q);
            }
            here.narrowest = here.narrowest.min(angle);
            here.widest = here.widest.max(angle);
            here.continuous &= continuous;
            here.gamma = here.gamma.max(gamma);
        }
        result
    }

    fn line(&self, p: &Pair) -> (Verdict, String) {
        let model = self.problem.model();
        let e = (model.constraints[p.pair.0].restitution, model.constraints[p.pair.1].restitution);
        let angle = match p.widest - p.narrowest < 1e-6 {
            true => format!("{:.4}°", p.widest),
            false => format!("{:.2}° to {:.2}°", p.narrowest, p.widest),
        };
        let restitution = if e.0 == e.1 { format!("e = {}", e.0) } else { format!("e = {} and {}", e.0, e.1) };
        let (verdict, meaning) = match p.continuous {
            true => (Verdict::Good, "the motion depends continuously on its data where they meet".to_string()),
            false if e == (0.0, 0.0) => (Verdict::Bad, "obtuse: where they meet the motion depends discontinuously on its data".to_string()),
            false => (
                Verdict::Bad,
                "not a right angle: continuous dependence on the data where they meet is not guaranteed by the theorem (it is sufficient, not \
                 necessary; perturbed starts show it: --probe)"
                    .to_string(),
            ),
        };
        let text = format!(
            "`{}` and `{}` meet, e.g. at q = ({}), at a kinetic angle of {angle} (γ = {}): with {restitution} {meaning}",
            self.name(p.pair.0),
            self.name(p.pair.1),
            position(&p.at.1[..self.degrees()], self.scale),
            number(p.gamma, 4)
        );
        (verdict, text)
    }
}
