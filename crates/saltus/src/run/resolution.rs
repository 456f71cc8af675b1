//! Whether time steps resolve the motion they made: signs that they do not, in words.

use super::{Begun, Run};
use crate::Model;
use crate::motion::Side;
use crate::text::number;

/// Instants that are looked at.
const SAMPLES: usize = 2_000;

/// A gap below zero by more than this share of its largest opening is no longer a matter of accuracy.
const DEEP: f64 = 0.05;

/// A gradient smaller than this, beside its largest in the run, vanishes.
const FLAT: f64 = 1e-3;

/// Impacts whose gradients are looked at.
const IMPACTS: usize = 50;

pub(super) fn examine(model: &Model, begun: &Begun, run: &Run, warnings: &mut Vec<String>) {
    violation(model, begun, run, warnings);
    flat(model, begun, run, warnings);
    coarse(model, begun, run, warnings);
}

/// The stored instants that are looked at.
fn samples(run: &Run) -> impl Iterator<Item = usize> + use<> {
    let n = run.trajectory.len();
    (0..n).step_by((n / SAMPLES).max(1))
}

/// Positions far outside K, measured by how far the gap opens.
fn violation(model: &Model, begun: &Begun, run: &Run, warnings: &mut Vec<String>) {
    let Some((a, t)) = run.audit.worst else { return };
    let (motion, mut gaps) = (&run.trajectory, begun.gauge.gaps.clone());
    let mut open = 0.0_f64;
    for k in samples(run) {
        gaps.evaluate(motion.t[k], motion.q(k), motion.v(k, Side::Left));
        open = open.max(gaps.values[a]);
    }
    let deep = run.audit.max_violation;
    // Where a gap never opens there is nothing to compare with but the motion itself.
    let reach = motion.reach();
    if deep <= (DEEP * open).max(1e-9 * reach) {
        return;
    }
    let what = format!(
        "`{}` is violated by {} at t = {}, and opens to no more than {}",
        model.constraints[a].name,
        number(deep, 3),
        number(t, 6),
        number(open, 3)
    );
    warnings.push(match run.scheme.follows_law {
        true => format!("{what}: the step is too coarse for this motion; do not trust this run, use a smaller step"),
        false => format!("{what}: use a larger stiffness"),
    });
}

/// Impacts where the gradient of the gap vanishes: no direction for a reaction.
fn flat(model: &Model, begun: &Begun, run: &Run, warnings: &mut Vec<String>) {
    let motion = &run.trajectory;
    if motion.impacts.is_empty() {
        return;
    }
    let mut gaps = begun.gauge.gaps.clone();
    let mut length = |t: f64, q: &[f64], v: &[f64], a: usize| {
        gaps.kinematics(t, q, v);
        gaps.gradients.row(a).1.iter().fold(0.0_f64, |m, x| m.max(x.abs()))
    };
    let stride = (motion.impacts.len() / IMPACTS).max(1);
    let mut judged: Vec<usize> = Vec::new();
    for impact in motion.impacts.iter().step_by(stride) {
        for &a in impact.constraints {
            if judged.contains(&a) {
                continue;
            }
            let here = length(impact.t, impact.q, impact.v_before, a);
            let instants = samples(run).step_by(20);
            let largest =
                instants.map(|k| length(motion.t[k], motion.q(k), motion.v(k, Side::Left), a)).fold(0.0, f64::max);
            if here <= FLAT * largest {
                judged.push(a);
                warnings.push(format!(
                    "the gradient of `{}` vanishes where its gap closes (t = {}), so there is no direction for a reaction and no \
                     energy account; write the gap so that it grows in proportion to the distance (y, not y^3)",
                    model.constraints[a].name,
                    number(impact.t, 6)
                ));
            }
        }
    }
}

/// A velocity that would carry a coordinate beyond its whole range in one step.
fn coarse(model: &Model, begun: &Begun, run: &Run, warnings: &mut Vec<String>) {
    let motion = &run.trajectory;
    // (The modes of a structure have no names.)
    if run.steps < 20 || begun.observed.is_some() {
        return;
    }
    let d = motion.degrees();
    let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
    let mut fast = vec![0.0_f64; d];
    let all = motion.dimension();
    let rows = motion.positions().chunks_exact(all).zip(motion.left_velocities().chunks_exact(all));
    for (q, v) in rows {
        for i in 0..d {
            (low[i], high[i], fast[i]) = (low[i].min(q[i]), high[i].max(q[i]), fast[i].max(v[i].abs()));
        }
    }
    let reach = motion.reach();
    let range = |i: usize| (high[i] - low[i]).max(f64::MIN_POSITIVE);
    // (What moves by rounding only is held by a constraint, whatever velocities that stops.)
    let over = |i: usize| if range(i) <= 1e-9 * reach { 0.0 } else { run.step * fast[i] / range(i) };
    let Some(worst) = (0..d).max_by(|&i, &j| over(i).total_cmp(&over(j))) else { return };
    if over(worst) > 2.0 {
        let step = run.step / over(worst) / 20.0;
        let advice = match step > 1e-9 * (run.options.end - run.start.t) {
            true => format!("use a step of {} or less", number(step, 1)),
            false => "a force blows up, or the step is much too large for it".to_string(),
        };
        warnings.push(format!(
            "the step does not resolve this motion: with its largest velocity `{}` covers {} times its whole range in one step; {advice}",
            model.unknown(worst),
            number(over(worst), 2)
        ));
    }
}
