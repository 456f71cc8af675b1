//! Steps of schemes in compiled code, for the processor and for a GPU, against lanes.

use saltus::model::Builder;
use saltus::{Model, Problem, Status};
use saltus_ensemble::{Engine, Job, Native, Outcome, StepWorker, Target, Wanted, Worker};
use saltus_io::shipped;
use std::f64::consts::TAU;
use std::sync::Arc;

const BOTH: [Target; 2] = [Target::Processor, Target::Gpu];

const SCHEMES: [&str; 3] = ["moreau-jean", "mabrouk", "paoli-schatzman"];

fn wanted(scheme: &str) -> Arc<Wanted> {
    let scheme = Some(scheme.to_string());
    Arc::new(Wanted { tolerance: 1e-10, scheme, strobe: true, impacts: 1000, settled: true, ..Wanted::default() })
}

fn in_lanes(problem: &Problem, jobs: &[Job], wanted: &Arc<Wanted>) -> Option<Vec<Outcome>> {
    Some(StepWorker::<16>::new(problem, wanted, &Arc::default())?.run(jobs, wanted))
}

/// Compiled code for the registers of the processor, and for a GPU; none where there is no compiler.
fn compiled(problem: &Problem, scheme: &str, targets: &[Target]) -> Vec<(Target, Native)> {
    saltus_mock_gpu::load();
    let made = |target| match Native::compile_for(problem, Some(scheme), target) {
        Ok(native) => Some((target, native)),
        Err(why) => {
            assert!(why.to_string().starts_with("there is no "), "{why}");
            None
        }
    };
    targets.iter().copied().filter_map(made).collect()
}

/// What differs between two outcomes, to a figure; the same impacts, instants, states and checks.
fn differ(found: &Outcome, lanes: &Outcome, near: f64) -> Option<String> {
    let apart = |what: &str, a: f64, b: f64| (!((a - b).abs() <= near)).then(|| format!("{what}: {a} and {b}"));
    let counts = |o: &Outcome| (o.impacts, o.hits.len(), o.strobe.len());
    if counts(found) != counts(lanes) {
        return Some(format!("{:?} and {:?} impacts, hits, instants", counts(found), counts(lanes)));
    }
    let hits = || {
        found.hits.iter().zip(&lanes.hits).find_map(|(a, b)| {
            let same = apart("constraint", f64::from(a.constraint), f64::from(b.constraint));
            let values = same.or_else(|| apart("instant", a.t, b.t)).or_else(|| apart("speed", a.speed, b.speed));
            values.or_else(|| apart("impulse", a.impulse, b.impulse))
        })
    };
    let strobe = || found.strobe.iter().zip(&lanes.strobe).find_map(|(a, b)| apart("stroboscope", *a, *b));
    let states = || {
        let pairs = found.q.iter().zip(&lanes.q).chain(found.v.iter().zip(&lanes.v));
        pairs.chain([(&found.t, &lanes.t)]).find_map(|(a, b)| apart("last state", *a, *b))
    };
    let checks = || apart("violation", found.checks.violation, lanes.checks.violation);
    let law = || apart("law", found.checks.law, lanes.checks.law);
    let verdict = || {
        let same = (found.checks.is_breached, found.settled) == (lanes.checks.is_breached, lanes.settled);
        (!same).then(|| format!("{:?} {:?} and {:?} {:?}", found.status, found.settled, lanes.status, lanes.settled))
    };
    hits().or_else(strobe).or_else(states).or_else(checks).or_else(law).or_else(verdict)
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

/// The one-stop oscillator of the benchmarks, its frequency open.
fn oscillator() -> Problem {
    let model = Builder::new("one stop").parameter("w", 0.7).coordinate("x", 0.0, 0.0).kinetic("x'^2/2");
    let model = model.potential("x^2/2").force("x", "cos(w*t) - 0.04*x'").restitution(0.8).constraint("stop", "1 - x");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("compiles")
}

fn jobs(problem: &Problem, count: usize, periods: f64, steps: f64) -> Vec<Job> {
    let job = |k: usize| {
        let w = 0.6 + 0.9 * k as f64 / count as f64;
        let period = TAU / w;
        let mut start = problem.start();
        start.parameters[0] = w;
        Job { start, from: 0.0, end: periods * period, strobe: Some(period), step: Some(period / steps) }
    };
    (0..count).map(job).collect()
}

#[test]
fn steps_of_the_oscillator_are_those_of_lanes() {
    let problem = oscillator();
    for scheme in SCHEMES {
        let (jobs, wanted) = (jobs(&problem, 21, 25.0, 400.0), wanted(scheme));
        let lanes = in_lanes(&problem, &jobs, &wanted).expect("linear");
        for (target, native) in compiled(&problem, scheme, &BOTH) {
            let found = native.worker(&problem, 1e-10, &Arc::default()).run(&jobs, &wanted);
            for (k, (found, lanes)) in found.iter().zip(&lanes).enumerate() {
                assert_eq!(found.engine, Engine::Steps, "{scheme} {target:?}");
                assert!(found.status.as_ref().is_ok_and(Status::is_complete), "{scheme}: {:?}", found.status);
                assert_eq!(differ(found, lanes, 1e-9), None, "{scheme} {target:?}, trajectory {k}");
            }
            assert!(found.iter().map(|o| o.impacts).sum::<u64>() > 500, "{scheme}");
        }
    }
}

/// Compiled code may round otherwise: a motion that is sensitive is followed for a while only, and few may part.
fn agree(name: &str, problem: &Problem, jobs: &[Job], near: f64, targets: &[Target]) -> Option<[u64; 3]> {
    let mut impacts = [0; 3];
    for (k, scheme) in SCHEMES.into_iter().enumerate() {
        let wanted = wanted(scheme);
        let Some(lanes) = in_lanes(problem, jobs, &wanted) else {
            assert!(Native::compile_for(problem, Some(scheme), Target::Gpu).is_err(), "{name} {scheme}");
            return None;
        };
        for (target, native) in compiled(problem, scheme, targets) {
            let found = native.worker(problem, 1e-10, &Arc::default()).run(jobs, &wanted);
            assert_eq!(found.len(), jobs.len(), "{name}");
            let mut differences = Vec::new();
            for (found, lanes) in found.iter().zip(&lanes) {
                assert_eq!(found.status.is_ok(), lanes.status.is_ok(), "{name} {scheme} {target:?}");
                differences.extend(differ(found, lanes, near));
                impacts[k] += if found.engine == Engine::Steps { found.impacts } else { 0 };
            }
            assert!(differences.len() <= jobs.len() / 50, "{name} {scheme} {target:?}: {differences:?}");
        }
    }
    Some(impacts)
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

#[test]
fn shipped_models() {
    let mut random = Random(3);
    let mut covered = Vec::new();
    for &(name, _) in shipped::MODELS {
        let file = shipped::find(name).expect("shipped").expect("parses");
        let opened = file.system().expect("valid");
        let saltus_io::AnySystem::Problem(problem) = &opened.system else { continue };
        let names = open(problem.model());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Ok(problem) = problem.model().open(&names).and_then(|model| model.problem()) else { continue };
        let end = opened.defaults.end.unwrap_or(10.0).min(10.0);
        let mut jobs = Vec::new();
        while jobs.len() < 10 {
            let model = problem.model();
            let values: Vec<(&str, f64)> =
                model.open.iter().map(|p| (p.name.as_str(), p.value * random.between(0.97, 1.03))).collect();
            let Ok(start) = problem.start_with(&values) else { continue };
            let (from, end, step) = (start.t + 0.25 * end, start.t + end, end / 4000.0);
            jobs.push(Job { start, from, end, strobe: Some(0.05 * (end - from)), step: Some(step) });
        }
        // (Lanes make several free steps at once, compiled code one by one: in a train of bounces such roundings grow.)
        if let Some(impacts) = agree(name, &problem, &jobs, 1e-6, &[Target::Gpu]) {
            covered.push((name, impacts));
        }
    }
    println!("{covered:?}");
    let hits = |name: &str| covered.iter().any(|(known, impacts)| *known == name && impacts.iter().all(|n| *n > 0));
    assert!(hits("oscillator") && hits("ball-gravity"), "{covered:?}");
}

/// One or two masses, pushed against walls that may move: bounces, chatter, contact that lasts and ends, several constraints.
fn random_problem(random: &mut Random) -> Problem {
    let mut model = Builder::new("random").parameter("w", random.between(0.4, 3.0)).coordinate("x", 0.0, 0.2);
    let is_pair = random.next() < 0.6;
    let mut kinetic = format!("{}*x'^2/2", random.between(0.5, 2.0));
    let push = if random.next() < 0.5 { random.between(0.2, 1.0) } else { 0.0 };
    let (drive, damping, spring) = (random.between(0.3, 2.0), random.between(0.0, 0.3), random.between(0.3, 3.0));
    let mut force = format!("{push} + {drive}*cos(w*t + 0.3) - {damping}*x' - {spring}*x");
    if is_pair {
        kinetic += &format!(" + {}*y'^2/2 + {}*x'*y'", random.between(0.5, 2.0), random.between(-0.3, 0.3));
        force += " + 0.5*(y - x) + 0.1*(y' - x')";
        let own = format!("{}*sin(1.7*t) - 2*y - 0.5*(y - x) - 0.1*(y' - x')", random.between(0.3, 2.0));
        model = model.coordinate("y", 0.0, random.between(-1.0, 1.0)).force("y", own.as_str());
    }
    let moving = if random.next() < 0.4 { " + 0.1*sin(2*t)" } else { "" };
    model = model.kinetic(kinetic.as_str()).force("x", force.as_str()).parameter("e", 0.5).restitution("e");
    model = model.constraint("wall", format!("{} - x{moving}", random.between(0.1, 0.4)).as_str());
    if is_pair && random.next() < 0.7 {
        model = model.constraint("other", format!("{} + y", random.between(0.1, 0.4)).as_str());
    }
    model.build().and_then(|model| model.open(&["w", "e"])).and_then(|model| model.problem()).expect("compiles")
}

#[test]
fn random_models() {
    let mut random = Random(11);
    let mut total = [0; 3];
    for k in 0..4 {
        let problem = random_problem(&mut random);
        let job = |_| {
            let mut start = problem.start();
            let e = if random.next() < 0.2 { 0.0 } else { random.between(0.0, 1.0) };
            start.parameters = vec![random.between(0.4, 3.0), e];
            start.v.iter_mut().for_each(|v| *v += random.between(-0.5, 0.5));
            // (Coarse steps as well: impacts within a step of each other.)
            let step = 0.002 * random.between(1.0, 4.0_f64).powi(2);
            Job { start, from: 200.0 * step, end: 1500.0 * step, strobe: Some(100.0 * step), step: Some(step) }
        };
        let jobs: Vec<Job> = (0..100).map(job).collect();
        let impacts = agree(&format!("random {k}"), &problem, &jobs, 1e-6, &BOTH).expect("linear");
        (0..3).for_each(|s| total[s] += impacts[s]);
    }
    assert!(total.iter().all(|n| *n > 300), "{total:?}");
}

/// No number of compiled code depends on how many trajectories there are, or on their order.
#[test]
fn not_a_bit_depends_on_the_neighbours() {
    let problem = random_problem(&mut Random(5));
    for scheme in SCHEMES {
        let (jobs, wanted) = (jobs(&problem, 19, 8.0, 250.0), wanted(scheme));
        for (target, native) in compiled(&problem, scheme, &BOTH) {
            let run = |jobs: &[Job]| native.worker(&problem, 1e-10, &Arc::default()).run(jobs, &wanted);
            let together = run(&jobs);
            let alone: Vec<Outcome> = jobs.iter().flat_map(|job| run(std::slice::from_ref(job))).collect();
            assert_eq!(together, alone, "{scheme} {target:?}");
            let backwards: Vec<Job> = jobs.iter().rev().cloned().collect();
            assert_eq!(together.iter().rev().cloned().collect::<Vec<_>>(), run(&backwards), "{scheme} {target:?}");
        }
    }
}

/// Contact at the start, a stroboscope between nodes, a step that is none, steps that grow: lanes, or a run of the scheme, take over.
#[test]
fn what_is_not_plain_is_made_again() {
    let problem = oscillator();
    let plain = jobs(&problem, 1, 5.0, 200.0).remove(0);
    let mut touching = plain.clone();
    touching.start.q = vec![1.0];
    let mut far = plain.clone();
    far.start.v = vec![1e200];
    let between = Job { strobe: plain.strobe.map(|t| 0.7123 * t), ..plain.clone() };
    let wrong = Job { step: Some(-1.0), ..plain.clone() };
    let jobs = [touching, far, between, wrong, plain];
    for scheme in SCHEMES {
        let wanted = wanted(scheme);
        let lanes = in_lanes(&problem, &jobs, &wanted).expect("linear");
        for (target, native) in compiled(&problem, scheme, &BOTH) {
            let found = native.worker(&problem, 1e-10, &Arc::default()).run(&jobs, &wanted);
            for (k, (found, lanes)) in found.iter().zip(&lanes).enumerate() {
                let engine = if k < 4 { Engine::Again } else { Engine::Steps };
                assert_eq!(found.engine, engine, "{scheme} {target:?} {k}");
                let brief = |o: &Outcome| (o.status.clone(), o.q.clone(), o.v.clone(), o.impacts, o.strobe.clone());
                assert!(k == 4 || brief(found) == brief(lanes), "{scheme} {target:?} {k}: {found:?} {lanes:?}");
            }
        }
    }
}
