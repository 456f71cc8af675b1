//! Families of shipped and of random models in lanes against the event engine.
//!
//! `SALTUS_AGREEMENT_POINTS=1000` compares as many points of each.

#[path = "common/agree.rs"]
mod agree;

use saltus::model::Builder;
use saltus::{Model, Problem};
use saltus_ensemble::{Job, LaneWorker, Wanted, workers};
use saltus_io::shipped;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

fn points() -> usize {
    std::env::var("SALTUS_AGREEMENT_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

/// Numbers in [0, 1) that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }
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

/// One to three coupled masses with polynomial springs, damping, harmonic forces, walls that may move or be curved.
fn random_model(random: &mut Random) -> Builder {
    let d = 1 + (3.0 * random.next()) as usize;
    let names = ["x", "y", "z"];
    let mut model = Builder::new("random");
    let mut kinetic = Vec::new();
    for i in 0..d {
        model = model.coordinate(names[i], random.between(-0.1, 0.1), random.between(-0.5, 0.5));
        kinetic.push(format!("{}*{}'^2/2", random.between(0.5, 2.0), names[i]));
    }
    if d > 1 && random.next() < 0.5 {
        // An inertia that varies.
        kinetic.push(format!("{}*x'*y'*cos(x - y)", random.between(0.05, 0.2)));
    }
    model = model.kinetic(kinetic.join(" + ").as_str()).parameter("w", random.between(0.6, 1.6));
    for i in 0..d {
        let x = names[i];
        let mut force = format!(
            "{}*cos(w*t + {i}) - {}*{x}' - {}*{x} - {}*{x}^3",
            random.between(0.2, 1.5),
            random.between(0.05, 0.4),
            random.between(0.3, 2.0),
            random.between(0.0, 1.0)
        );
        if i > 0 {
            force += &format!(" - {}*({x} - {})", random.between(0.0, 1.0), names[i - 1]);
        }
        model = model.force(x, force.as_str());
    }
    model = model.restitution(random.between(0.0, 0.9));
    let wall = random.between(0.2, 0.8);
    let gap = match (6.0 * random.next()) as usize {
        0 => format!("{wall} - x + 0.1*sin(t)"),
        1 => format!("{wall} - x - 0.2*x^2"),
        2 => format!("{wall} - sin(x)"),
        _ => format!("{wall} - x"),
    };
    model = model.constraint("wall", gap.as_str());
    if d > 1 && random.next() < 0.5 {
        model = model.constraint("pair", format!("{} - (y - x)", random.between(0.3, 0.9)).as_str());
    }
    model
}

/// The same with springs and dampers that are linear, a coupled inertia, two harmonics, walls that are plane and may move: exact flow.
fn random_linear_model(random: &mut Random) -> Builder {
    let d = 1 + (3.0 * random.next()) as usize;
    let names = ["x", "y", "z"];
    let mut model = Builder::new("random").parameter("w", random.between(0.6, 1.6));
    let mut kinetic = Vec::new();
    for i in 0..d {
        model = model.coordinate(names[i], random.between(-0.1, 0.1), random.between(-0.5, 0.5));
        kinetic.push(format!("{}*{}'^2/2", random.between(0.5, 2.0), names[i]));
    }
    if d > 1 && random.next() < 0.5 {
        kinetic.push(format!("{}*x'*y'", random.between(0.05, 0.4)));
    }
    model = model.kinetic(kinetic.join(" + ").as_str());
    for i in 0..d {
        let x = names[i];
        let mut force = format!(
            "{}*cos(w*t + {i}) + {}*sin(2.3*t) - {} - {}*{x}' - {}*w*{x}",
            random.between(0.2, 1.5),
            random.between(0.0, 0.3),
            random.between(-0.2, 0.2),
            random.between(0.0, 0.4),
            random.between(0.0, 4.0)
        );
        if i > 0 {
            force += &format!(" - {}*({x} - {})", random.between(0.0, 5.0), names[i - 1]);
        }
        model = model.force(x, force.as_str());
    }
    model = model.restitution(random.between(0.0, 1.0));
    let wall = random.between(0.2, 0.8);
    let gap = if random.next() < 0.3 { format!("{wall} - x + 0.1*sin(w*t)") } else { format!("{wall} - x") };
    model = model.constraint("wall", gap.as_str());
    if random.next() < 0.5 {
        model = model.constraint("other", format!("{} + x", random.between(0.3, 0.9)).as_str());
    }
    if d > 1 && random.next() < 0.5 {
        model = model.constraint("pair", format!("{} - (y - x)", random.between(0.3, 0.9)).as_str());
    }
    model
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
