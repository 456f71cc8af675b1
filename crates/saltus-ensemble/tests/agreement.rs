//! Families of shipped and of random models in lanes against the event engine.
//!
//! `SALTUS_AGREEMENT_POINTS=1000` compares as many points of each.

#[path = "common/agree.rs"]
mod agree;
#[path = "common/random.rs"]
mod random;

use random::{Random, random_linear_model, random_model};
use saltus::{Model, Problem};
use saltus_ensemble::{Job, LaneWorker, Wanted, workers};
use saltus_io::shipped;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

fn points() -> usize {
    std::env::var("SALTUS_AGREEMENT_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

fn wanted() -> Arc<Wanted> {
    Arc::new(Wanted { tolerance: TOLERANCE, impacts: 100_000, ..Wanted::default() })
}

/// The parameters of a model that can be left open, all together.
fn open(model: &Model) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for (parameter, _) in &model.parameters {
        open.push(parameter.clone());
        let names: Vec<&str> = open.iter().map(String::as_str).collect();
        if model.open(&names).is_err() {
            open.pop();
        }
    }
    open
}

fn jobs(problem: &Problem, end: f64, count: usize, random: &mut Random) -> Vec<Job> {
    let model = problem.model().clone();
    let mut made = Vec::new();
    while made.len() < count {
        let values: Vec<(&str, f64)> =
            model.open.iter().map(|p| (p.name.as_str(), p.value * random.between(0.97, 1.03))).collect();
        let Ok(mut start) = problem.start_with(&values) else { continue };
        start.v.iter_mut().for_each(|v| *v += 0.01 * *v * random.between(-1.0, 1.0));
        made.push(Job { from: start.t, end: start.t + end, strobe: None, step: None, start });
    }
    made
}

#[test]
fn shipped_models() {
    let mut random = Random(1);
    let mut on_lanes = Vec::new();
    for &(name, _) in shipped::MODELS {
        let file = shipped::find(name).expect("shipped").expect("parses");
        let opened = file.system().expect("valid");
        let saltus_io::AnySystem::Problem(problem) = &opened.system else { continue };
        let names = open(problem.model());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Ok(problem) = problem.model().open(&names).and_then(|model| model.problem()) else { continue };
        let Some(end) = opened.defaults.end else { continue };
        // (Long ones are chaotic, or the same again.)
        let jobs = jobs(&problem, end.min(40.0), points(), &mut random);
        match LaneWorker::<16>::new(&problem, TOLERANCE, &Arc::default()) {
            Ok(_) => on_lanes.push(name),
            Err(why) => {
                println!("{name}: {why}");
                continue;
            }
        }
        let mut crew = vec![("lanes", workers(&problem, &wanted(), None, &Arc::default()))];
        if points() > 12 {
            crew = agree::crew(name, &problem, TOLERANCE);
        }
        for (code, mut worker) in crew {
            let outcomes = worker.run(&jobs, &wanted());
            let found = agree::compare(name, &problem, &jobs, &outcomes, TOLERANCE);
            println!("{name} {code}: {found:?}");
        }
    }
    println!("in lanes: {}", on_lanes.join(", "));
    assert!(["oscillator", "ball-table", "double-pendulum"].iter().all(|name| on_lanes.contains(name)), "{on_lanes:?}");
}

#[test]
fn random_linear_models() {
    let mut random = Random(11);
    let (mut compared, mut impacts) = (0, 0);
    for k in 0..40 {
        let model = random_linear_model(&mut random).build().expect("a model");
        let problem = model.open(&["w"]).and_then(|model| model.problem()).expect("a problem");
        let jobs = jobs(&problem, 40.0, points(), &mut random);
        let mut crew = vec![("lanes", workers(&problem, &wanted(), None, &Arc::default()))];
        if k < 2 || points() > 12 {
            crew = agree::crew("linear", &problem, TOLERANCE);
        }
        for (code, mut worker) in crew {
            let outcomes = worker.run(&jobs, &wanted());
            let found = agree::compare(&format!("linear {k}"), &problem, &jobs, &outcomes, TOLERANCE);
            println!("linear {k} {code}: {found:?}");
            compared += found.compared;
            impacts += outcomes.iter().map(|o| o.impacts).sum::<u64>();
        }
    }
    assert!(compared >= 200 && impacts > 4000, "{compared} compared, {impacts} impacts");
}

#[test]
fn random_models() {
    let mut random = Random(7);
    let mut compared = 0;
    for k in 0..20 {
        let model = random_model(&mut random).build().expect("a model");
        let problem = model.open(&["w"]).and_then(|model| model.problem()).expect("a problem");
        let jobs = jobs(&problem, 40.0, points(), &mut random);
        // (Compiling takes time: six models unless more is asked for.)
        let kinds = if k < 6 || points() > 12 { 2 } else { 1 };
        for (code, mut worker) in agree::crew("random", &problem, TOLERANCE).into_iter().take(kinds) {
            let outcomes = worker.run(&jobs, &wanted());
            let found = agree::compare(&format!("random {k}"), &problem, &jobs, &outcomes, TOLERANCE);
            println!("random {k} {code}: {found:?}");
            compared += found.compared;
        }
    }
    assert!(compared >= 100, "{compared} compared");
}
