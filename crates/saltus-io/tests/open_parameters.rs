//! Parameters that are left open are inputs of the compiled code: no number depends on whether they are.

#[path = "common/breaches.rs"]
mod breaches;
#[path = "common/short.rs"]
mod short;

use saltus::scheme::find;
use saltus::{Model, Options, Phase, PhaseKind, Problem, Run, Side, Start};
use saltus_io::AnySystem;

/// The shipped models of expressions, each with options of short runs by events (passing Painlevé's places by an impulse) and by steps.
fn problems() -> impl Iterator<Item = (&'static str, Problem, Start, [Options; 2])> {
    short::models().filter_map(|(name, _, opened)| {
        let options =
            ["auto", "mabrouk"].map(|scheme| short::options(name, &opened, &find(scheme).expect("listed"), 20_000.0));
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

/// How many of the last bounces of an accumulation are computed one by one may depend on rounding: those with less than this
/// part of the largest impulse are not compared, nor what is stored between those.
const FAINT: f64 = 1e-3;

/// The numbers of a motion by kind, without its faint impacts: instants, positions, velocities, times of impacts, impulses.
fn numbers(run: &Run) -> [Vec<f64>; 5] {
    let m = &run.trajectory;
    let force = |impulses: &[f64]| impulses.iter().fold(0.0_f64, |m, p| m.max(p.abs()));
    let hardest = m.impacts.iter().map(|i| force(i.impulses)).fold(0.0, f64::max);
    let is_faint = |impulses: &[f64]| force(impulses) < FAINT * hardest;
    let loud = || m.impacts.iter().filter(|i| !is_faint(i.impulses));
    let last_loud = |p: &Phase| loud().map(|i| i.t).filter(|t| (p.start..p.end).contains(t)).fold(p.start, f64::max);
    let bounces: Vec<_> = run.timeline.of(PhaseKind::Chatter).map(|p| (last_loud(p), p.end)).collect();
    let is_between = |t: f64| bounces.iter().any(|&(last, end)| t >= last && t <= end);
    let kept: Vec<usize> = (0..m.len()).filter(|&k| !is_between(m.t[k])).collect();
    let velocities = |k: usize| [Side::Left, Side::Right].map(|side| m.v(k, side).to_vec()).concat();
    [
        kept.iter().map(|&k| m.t[k]).collect(),
        kept.iter().flat_map(|&k| m.q(k).to_vec()).collect(),
        kept.iter().flat_map(|&k| velocities(k)).collect(),
        loud().map(|i| i.t).collect(),
        loud().flat_map(|i| i.impulses.to_vec()).collect(),
    ]
}

/// The largest difference of two runs, relative to the largest number of its kind.
fn difference(what: &str, a: &Run, b: &Run) -> f64 {
    // Several impacts within one step, of a chain of rods or a slider on its corners, are not one impact by the law.
    breaches::only(if a.scheme.name == "mabrouk" { &["P4", "C4"] } else { &[] }, a, what);
    assert_eq!(a.status, b.status);
    assert_eq!(a.trajectory.contacts.len(), b.trajectory.contacts.len(), "{what}: contacts");
    let apart = |a: &Vec<f64>, b: &Vec<f64>| {
        assert_eq!(a.len(), b.len(), "{what}: instants, impacts");
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
            let off = difference(
                name,
                &folded.run_from(&start, options).expect("runs"),
                &problem.run(options).expect("runs"),
            );
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
            let shift = if value == 0.0 { 1e-3 } else { 0.0 };
            for value in [1.01 * value + shift, 0.97 * value - shift] {
                let set = model.with(&[(parameter, value)]).and_then(|m| m.problem());
                let start = open.start_with(&[(parameter, value)]).expect("numbers");
                for options in &options {
                    let what = format!("{name} with {parameter} = {value}, {}", options.scheme.name);
                    let set = set.as_ref().map_err(Clone::clone).and_then(|p| p.run(options));
                    match (set, open.run_from(&start, options)) {
                        (Ok(a), Ok(b)) => {
                            assert!(difference(&what, &a, &b) < 1e-9, "{what}: {:e}", difference(&what, &a, &b))
                        }
                        // A value that is not allowed, such as a restitution beyond 1, is not allowed in either way.
                        (a, b) => assert!(a.is_err() && b.is_err(), "{what}: {:?} {:?}", a.err(), b.err()),
                    }
                }
            }
        }
    }
}
