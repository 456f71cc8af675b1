//! What must hold before the first step: M symmetric and positive definite at the start, q0 ∈ K(t0), v0 ∈ T(t0, q0),
//! and every number finite. Invalid input is rejected, never adjusted.

use super::assemble::assemble;
use super::blocks::{Blocks, Evaluator};
use super::{Inputs, Instance, Start};
use crate::linalg::max_abs;
use crate::model::Model;
use crate::text::number;
use crate::{Kind, SetupError};

/// Checks a start. A state that a run reached was checked when that run started; it need only consist of numbers.
pub fn start(instance: &Instance) -> Result<(), SetupError> {
    let model = instance.model();
    finite(instance)?;
    if instance.start().closed().is_some() {
        return Ok(());
    }
    symmetric(instance)?;
    quadratic(instance)?;
    let mut dynamics = instance.dynamics();
    let start = instance.start();
    dynamics.evaluate(start.t, &start.q, &start.v);
    if let Err(error) = dynamics.metric().set(&dynamics.mass) {
        let name = model.unknown(error.pivot);
        return Err(SetupError::new("the mass matrix is not positive definite at the start")
            .at(model.places.inertia.clone(), format!("no inertia along `{name}`, or not a number"))
            .help("every direction of motion needs mass; check signs, zero parameters and missing coordinates"));
    }
    if let Some(i) = dynamics.g.iter().position(|g| !g.is_finite()) {
        if let Some(state) = i.checked_sub(model.degrees()).map(|k| &model.states[k]) {
            return Err(SetupError::new(format!(
                "the rate of the state `{}` is {} at the start",
                state.name, dynamics.g[i]
            ))
            .at(state.span.clone(), "not a finite number here")
            .help("look for a division by zero, a root or logarithm of a negative number at the initial values"));
        }
        return Err(SetupError::new(format!("the force on `{}` is {} at the start", model.unknown(i), dynamics.g[i]))
            .help("look for a division by zero, a root or logarithm of a negative number at the initial position"));
    }
    joined(instance)?;
    admissible(instance)
}

/// A start that does not satisfy the joints is refused, with the nearest one that does.
fn joined(instance: &Instance) -> Result<(), SetupError> {
    let (model, start) = (instance.model(), instance.start());
    if model.joints.is_empty() {
        return Ok(());
    }
    let mut joints = instance.joints();
    joints.linearise(start.t, &start.q, &start.v);
    joints.kinematics(start.t, &start.q, &start.v);
    for (k, joint) in model.joints.iter().enumerate() {
        let (value, rate) = (joints.values[k], joints.rate(k, &start.v));
        let speed = joints.partial_t[k].abs() + joints.gradients.dot_abs(k, &start.v);
        let is_closed = value.abs() <= 16.0 * joints.rounding(k, &start.q);
        if is_closed && rate.abs() <= 1e-12 * (1e-2 + speed) {
            continue;
        }
        let what = if is_closed { "velocity" } else { "position" };
        let label = match is_closed {
            true => format!("changes at the rate {rate} at t = {}, must not change", start.t),
            false => format!("is {value} at t = {}, must be 0", start.t),
        };
        let error = SetupError::new(format!("the initial {what} does not satisfy the joint `{}`", joint.name))
            .with_kind(Kind::Inadmissible { constraint: joint.name.clone(), gap: value })
            .at(joint.span.clone(), label);
        return Err(match assemble(instance, start) {
            Ok(near) => error.help(format!(
                "the nearest start that satisfies all joints is {}; --assemble (Problem::assembled) takes it",
                listed(model, &near)
            )),
            Err(reason) => error.help(reason.message),
        });
    }
    Ok(())
}

/// The entries of a start with their names.
fn listed(model: &Model, start: &Start) -> String {
    let entry = |i: usize| {
        let name = &model.coordinates[i];
        format!("{name} = {}, {name}' = {}", number(start.q[i], 12), number(start.v[i], 12))
    };
    let shown: Vec<String> = (0..model.degrees().min(8)).map(entry).collect();
    let more = if model.degrees() > 8 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn finite(instance: &Instance) -> Result<(), SetupError> {
    let (model, start) = (instance.model(), instance.start());
    let data = start.q.iter().zip(&model.places.positions).chain(start.v.iter().zip(&model.places.velocities));
    for (value, span) in data {
        if !value.is_finite() {
            return Err(
                SetupError::new(format!("the initial value is {value}")).at(span.clone(), "not a finite number")
            );
        }
    }
    Ok(())
}

/// A mass matrix may be written by hand with different texts for M_ij and M_ji: they are compared as numbers at the
/// start and at a few points around it.
fn symmetric(instance: &Instance) -> Result<(), SetupError> {
    let (model, start) = (instance.model(), instance.start());
    let d = model.dimension();
    if (0..d).all(|i| (0..i).all(|j| model.mass[i * d + j] == model.mass[j * d + i])) {
        return Ok(());
    }
    let mut dynamics = instance.dynamics();
    let mut q = start.q.clone();
    for point in 0..4 {
        for (k, (q, q0)) in q.iter_mut().zip(&start.q).enumerate() {
            *q = q0 + 0.37 * point as f64 * ((k + 1) as f64 * 1.7 + point as f64).sin();
        }
        dynamics.evaluate(start.t, &q, &start.v);
        if dynamics.code.diagonal {
            return Ok(());
        }
        for i in 0..d {
            for j in 0..i {
                let (a, b) = (dynamics.mass[i * d + j], dynamics.mass[j * d + i]);
                let scale = (dynamics.mass[i * d + i] * dynamics.mass[j * d + j]).abs().sqrt();
                if (a - b).abs() > 1e-10 * (a.abs() + b.abs()).max(scale) {
                    return Err(SetupError::new("the mass matrix is not symmetric").at(
                        model.places.inertia.clone(),
                        format!("row {}, column {} is {a}; row {}, column {} is {b}", i + 1, j + 1, j + 1, i + 1),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The kinetic energy is ½ v·Mv + b·v + c: then ∂T/∂v − Mv does not depend on v. A term such as |v| has no second
/// derivative and would pass for nothing.
fn quadratic(instance: &Instance) -> Result<(), SetupError> {
    let (model, start): (&Model, _) = (instance.model(), instance.start());
    let mut graph = model.graph.clone();
    let momenta: Vec<_> = model.v.iter().map(|&v| graph.derivative(model.kinetic, v)).collect();
    let Ok(code) = Blocks::compile(&graph, &Inputs::new(model), &[&momenta]) else { return Ok(()) };
    let (mut evaluator, mut momentum) = (Evaluator::new(&code, instance.cells()), code.buffer(0));
    let mut dynamics = instance.dynamics();
    dynamics.evaluate(start.t, &start.q, &start.v);
    let mut metric = dynamics.metric();
    if metric.set(&dynamics.mass).is_err() {
        return Ok(());
    }
    let d = model.dimension();
    let (mut expected, mut first) = (vec![0.0; d], Vec::new());
    for trial in 0..4 {
        let v: Vec<f64> = (0..d).map(|k| ((3 * k + 1) as f64 * 1.3 + 2.1 * trial as f64).sin() * 1.7).collect();
        evaluator.run(start.t, &[&start.q, &v]);
        evaluator.write(0, &mut momentum);
        metric.apply(&v, &mut expected);
        let scale = max_abs(&expected) + max_abs(&momentum);
        // (States have no kinetic energy.)
        let rest: Vec<f64> = momentum.iter().zip(&expected).take(model.degrees()).map(|(p, e)| p - e).collect();
        if trial == 0 {
            first = rest;
        } else if rest.iter().zip(&first).any(|(a, b)| !((a - b).abs() <= 1e-9 * scale)) {
            return Err(SetupError::new("the kinetic energy is not quadratic in the velocities")
                .at(model.places.inertia.clone(), "its momentum is not linear in the velocities")
                .help("T must be ½ v·M(q)v, perhaps with terms linear in v; put other effects in [dynamics.force]"));
        }
    }
    Ok(())
}

fn admissible(instance: &Instance) -> Result<(), SetupError> {
    let (model, start) = (instance.model(), instance.start());
    let mut gaps = instance.gaps();
    gaps.evaluate(start.t, &start.q, &start.v);
    gaps.kinematics(start.t, &start.q, &start.v);
    for (a, constraint) in model.constraints.iter().enumerate() {
        let (name, f) = (&constraint.name, gaps.values[a]);
        let place = |label: String| (constraint.span.clone(), label);
        if !f.is_finite() {
            let (span, label) = place(format!("is {f} at the initial position"));
            return Err(SetupError::new(format!("the gap of `{name}` is not a number at the start")).at(span, label));
        }
        let rounding = gaps.rounding(a, &start.q);
        let inadmissible = || Kind::Inadmissible { constraint: name.clone(), gap: f };
        if f < -rounding {
            let (span, label) = place(format!("is {f} at t = {}, must be ≥ 0", start.t));
            return Err(SetupError::new(format!("the initial position is outside the constraint `{name}`"))
                .with_kind(inadmissible())
                .at(span, label)
                .help("change the initial position, or the sign of the gap: it is positive on the allowed side"));
        }
        let (_, gradient) = gaps.gradients.row(a);
        let approach = gaps.rate(a, &start.v);
        if f <= rounding {
            if !(max_abs(gradient) > 0.0) || !max_abs(gradient).is_finite() {
                let (span, label) = place("gradient is zero or not a number here".into());
                return Err(SetupError::new(format!("the gap of `{name}` has no gradient at the initial position"))
                    .at(span, label)
                    .help("write the gap so that it crosses zero with a slope: a distance, not a squared distance"));
            }
            let speed = gaps.partial_t[a].abs() + gaps.gradients.dot_abs(a, &start.v);
            if approach < -1e-12 * (1.0 + speed) {
                let (span, label) = place(format!("in contact, and the gap changes at the rate {approach}"));
                return Err(SetupError::new(format!("the initial velocity is not admissible at `{name}`"))
                    .with_kind(inadmissible())
                    .at(span, label)
                    .help("in contact the velocity must not point into the obstacle; start just before the impact instead"));
            }
        }
    }
    Ok(())
}
