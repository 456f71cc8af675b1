//! Joints that are put together: the start nearest to a given one, in the kinetic metric, that satisfies their equations.

use super::{Instance, Start};
use crate::SetupError;
use crate::linalg::{Delassus, add, max_abs};

/// Newton's method needs a handful of iterations from a sketch of a mechanism.
const MAX_ITERATIONS: usize = 100;

/// The assembled start.
pub(super) fn assemble(instance: &Instance, start: &Start) -> Result<Start, SetupError> {
    let model = instance.model();
    let (d, n) = (instance.dimension(), model.joints.len());
    let (mut joints, mut dynamics) = (instance.joints(), instance.dynamics());
    let mut metric = dynamics.metric();
    let mut delassus = Delassus::new(n, d);
    let mut near = start.clone();
    let mut right = vec![0.0; n];
    let broken = |k: usize, off: f64| {
        let name = &model.joints[k].name;
        SetupError::new(format!("the joints cannot be put together near this start: `{name}` stays off by {off:e}"))
            .at(model.joints[k].span.clone(), "contradicts the others, or is too far from its place")
            .help("check lengths and signs, or give a start that is nearly assembled")
    };
    let mut last = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        joints.linearise(near.t, &near.q, &near.v);
        dynamics.evaluate(near.t, &near.q, &near.v);
        if metric.set(&dynamics.mass).is_err() {
            return Err(SetupError::new("the mass matrix is not positive definite where the joints come together"));
        }
        let off = |k: usize| joints.values[k].abs() / joints.rounding(k, &near.q);
        let (mut worst, mut culprit) = (0.0, 0);
        for k in 0..n {
            if !(off(k) <= worst) {
                (worst, culprit) = (off(k), k);
            }
        }
        if !worst.is_finite() {
            return Err(broken(culprit, joints.values[culprit]));
        }
        if worst <= 1.0 || (worst <= 16.0 && worst >= last) {
            break;
        }
        if worst >= last && worst > 16.0 && max_abs(&right) == 0.0 {
            return Err(broken(culprit, joints.values[culprit]));
        }
        last = worst;
        delassus.set(&metric, &joints.gradients, 0..n);
        right.iter_mut().zip(&joints.values).for_each(|(r, f)| *r = -f);
        delassus.solve(&mut right);
        // A step that would leave the neighbourhood is shortened.
        let mut shift = vec![0.0; d];
        (0..n).for_each(|k| add(&mut shift, right[k], delassus.mobility(k)));
        let mut share = 1.0;
        let before: f64 = joints.values.iter().map(|f| f * f).sum();
        loop {
            let mut trial = near.q.clone();
            add(&mut trial, share, &shift);
            joints.evaluate(near.t, &trial, &near.v);
            let after: f64 = joints.values.iter().map(|f| f * f).sum();
            if after < before || share < 1e-4 || before == 0.0 {
                near.q = trial;
                break;
            }
            share *= 0.5;
        }
    }
    joints.linearise(near.t, &near.q, &near.v);
    joints.kinematics(near.t, &near.q, &near.v);
    for k in 0..n {
        if !(joints.values[k].abs() <= 16.0 * joints.rounding(k, &near.q)) {
            return Err(broken(k, joints.values[k]));
        }
    }
    delassus.set(&metric, &joints.gradients, 0..n);
    for (k, r) in right.iter_mut().enumerate() {
        *r = -joints.rate(k, &near.v);
    }
    delassus.solve(&mut right);
    (0..n).for_each(|k| add(&mut near.v, right[k], delassus.mobility(k)));
    for k in 0..n {
        let (rate, speed) = (joints.rate(k, &near.v), joints.partial_t[k].abs() + joints.gradients.dot_abs(k, &near.v));
        if !(rate.abs() <= 1e-9 * (1e-2 + speed)) {
            return Err(broken(k, rate));
        }
    }
    Ok(near)
}
