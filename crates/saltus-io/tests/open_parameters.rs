//! Parameters that are left open are inputs of the compiled code: no number depends on whether they are.

#[path = "common/breaches.rs"]
mod breaches;
#[path = "common/short.rs"]
mod short;

use saltus::scheme::find;
use saltus::{Model, Options, Problem, Run, Side, Start, Trajectory};
use saltus_io::AnySystem;

/// The shipped models of expressions, each with options of short runs by events and by steps.
fn problems() -> impl Iterator<Item = (&'static str, Problem, Start, [Options; 2])> {
    short::models().filter_map(|(name, _, opened)| {
        let options = ["event-driven", "mabrouk"]
            .map(|scheme| short::options(name, &opened, &find(scheme).expect("listed"), 20_000.0));
        match opened.system {
            AnySystem::Problem(problem) => Some((name, problem, opened.start, options)),
            AnySystem::Structure(_) => None,
        }
    })
}

/// The parameters of a model that can be left open, all together; the others decide how many there are of something.
fn can_stay_open(model: &Model) -> Vec<&str> {
    let mut open = Vec::new();
    for (parameter, _) in &model.parameters {
        open.push(parameter.as_str());
        if let Err(refusal) = model.open(&open) {
            assert!(refusal.span.is_some() && refusal.message.contains("whole number"), "{refusal:?}");
            open.pop();
        }
    }
    open
}

/// The largest difference of two runs, relative to the largest number of its kind: instants, positions, velocities, times of
/// impacts, impulses.
fn difference(a: &Run, b: &Run) -> f64 {
    // Several impacts of a chain of rods within one step are not one impact by the law.
    breaches::only(if a.scheme.name == "mabrouk" { &["P4"] } else { &[] }, a, "open parameters");
    assert_eq!(a.status, b.status);
    let count = |m: &Trajectory| (m.len(), m.impacts.len(), m.contacts.len());
    let (a, b) = (&a.trajectory, &b.trajectory);
    assert_eq!(count(a), count(b), "instants, impacts, contacts");
    let numbers = |m: &Trajectory| {
        [
            m.t.clone(),
            m.positions().to_vec(),
            m.velocities(Side::Left).chain(m.velocities(Side::Right)).collect(),
            m.impacts.iter().map(|i| i.t).collect(),
            m.impacts.iter().flat_map(|i| i.impulses.to_vec()).collect(),
        ]
    };
    let apart = |a: &Vec<f64>, b: &Vec<f64>| {
        let off = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        off / a.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()))
    };
    numbers(a).iter().zip(&numbers(b)).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
}

#[test]
fn open_parameters_change_no_number() {
    let mut refused = Vec::new();
    for (name, folded, start, options) in problems() {
        let model = folded.model();
        let open = can_stay_open(model);
        refused.extend(
            model.parameters.iter().filter(|(p, _)| !open.contains(&p.as_str())).map(|(p, _)| (name, p.clone())),
        );
        let problem = model.open(&open).and_then(|m| m.problem()).expect("a problem");
        assert_eq!(problem.model().open.len(), open.len());
        for options in &options {
            let scheme = options.scheme.name;
            let off =
                difference(&folded.run_from(&start, options).expect("runs"), &problem.run(options).expect("runs"));
            println!("{name} with {} open, {scheme}: off by {off:.1e}", open.join(", "));
            assert!(off < 1e-9, "{name} with {open:?} open, {scheme}: {off:e}");
        }
    }
    assert_eq!(refused, [("hard-rods", "n".to_string())]);
}

#[test]
fn one_problem_serves_other_values() {
    for (name, folded, _, options) in problems() {
        let model = folded.model();
        for parameter in can_stay_open(model) {
            let open = model.open(&[parameter]).and_then(|m| m.problem()).expect("a problem");
            let value = model.parameter(parameter).expect("known");
            for value in [1.01 * value + 0.001, 0.97 * value - 0.001] {
                let set = model.with(&[(parameter, value)]).and_then(|m| m.problem());
                let start = open.start_with(&[(parameter, value)]).expect("numbers");
                for options in &options {
                    let what = format!("{name} with {parameter} = {value}, {}", options.scheme.name);
                    let set = set.as_ref().map_err(Clone::clone).and_then(|p| p.run(options));
                    match (set, open.run_from(&start, options)) {
                        (Ok(a), Ok(b)) => assert!(difference(&a, &b) < 1e-9, "{what}: {:e}", difference(&a, &b)),
                        // A value that is not allowed, such as a restitution beyond 1, is not allowed in either way.
                        (a, b) => assert!(a.is_err() && b.is_err(), "{what}: {:?} {:?}", a.err(), b.err()),
                    }
                }
            }
        }
    }
}
