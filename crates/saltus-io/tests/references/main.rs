//! Shipped models against exact or high-precision answers, and the order at which the error falls.
//!
//! `references.json` holds answers computed independently of this code: exact rational arithmetic, closed forms, or
//! multiple precision. "Order" is measured over two decades of the step: log10(error(h) / error(h/100)) / 2.

mod ball;
#[path = "../common/breaches.rs"]
mod breaches;
mod curved;
mod exact;
mod exact_sets;
mod friction;
mod in_steps;
mod many;
mod mass;
mod mechanisms;
#[path = "../common/models.rs"]
mod models;
mod moving;
mod schemes;
mod states;
mod structures;
mod wedge;

use saltus::{Options, Run, Side};
use saltus_io::{ModelFile, shipped};
use serde_json::Value;
use std::path::Path;

/// The answers to problem `id`.
fn reference(id: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("references.json")).expect("valid JSON");
    all["problems"][id].clone()
}

/// A number written as a decimal or as p/q, in a string.
fn num(value: &Value) -> f64 {
    let text = match value {
        Value::String(s) => s.as_str(),
        Value::Number(n) => return n.as_f64().expect("a float"),
        other => panic!("not a number: {other}"),
    };
    match text.split_once('/') {
        Some((p, q)) => p.parse::<f64>().expect("p") / q.parse::<f64>().expect("q"),
        None => text.parse().expect("a number"),
    }
}

fn nums(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(num).collect()
}

/// Runs a shipped model with some parameters replaced.
fn shipped_run(name: &str, set: &[(&str, f64)], step: f64, end: f64) -> Run {
    model_run(&models::shipped_file(name), set, step, end)
}

/// Runs a model written in the test.
fn text_run(text: &str, set: &[(&str, f64)], step: f64, end: f64) -> Run {
    model_run(&ModelFile::parse("test", text, Path::new("")).expect("parses"), set, step, end)
}

fn model_run(file: &ModelFile, set: &[(&str, f64)], step: f64, end: f64) -> Run {
    let (problem, _) = models::problem(file, set);
    let run = problem.run(&Options::steps("paoli-schatzman", step).until(end)).expect("runs");
    // Coarse steps: where several constraints act within the steps of one impact, the law and the account are far from met.
    let coarse = ["P4", "C4", "C7", "energy"];
    breaches::only(if step < 1e-3 { &[] } else { &coarse }, &run, &problem.model().title);
    run
}

/// The largest error of coordinate `i` at all stored instants.
fn sup_error(run: &Run, i: usize, exact: impl Fn(f64) -> f64) -> f64 {
    let trajectory = &run.trajectory;
    (0..trajectory.len()).map(|k| (trajectory.q(k)[i] - exact(trajectory.t[k])).abs()).fold(0.0, f64::max)
}

/// Position of coordinate `i` at time t.
fn position(run: &Run, t: f64, i: usize) -> f64 {
    run.trajectory.at(t, Side::Left).expect("inside the run").0[i]
}

/// Asserts that three errors, at h, h/10 and h/100, fall with first order.
fn first_order(what: &str, errors: [f64; 3]) {
    let order = (errors[0] / errors[2]).log10() / 2.0;
    println!("{what}: errors {errors:?}, order {order:.3}");
    assert!((0.8..=1.2).contains(&order), "{what}: errors {errors:?} give order {order}");
}
