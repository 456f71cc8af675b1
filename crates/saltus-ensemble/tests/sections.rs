//! States at sections: lanes and compiled code against the event engine.

#[path = "common/agree.rs"]
mod agree;
#[path = "common/random.rs"]
mod random;

use random::{Random, random_linear_model, random_model};
use saltus::model::{Builder, Event};
use saltus::motion::Crossing;
use saltus::{Model, Problem, Status};
use saltus_ensemble::{Block, Code, Engine, Job, LaneWorker, Outcome, Plan, Request, Scalar, Wanted, Worker};
use saltus_io::shipped;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

fn wanted(tolerance: f64) -> Arc<Wanted> {
    Arc::new(Wanted { tolerance, sections: true, impacts: usize::MAX, ..Wanted::default() })
}

/// The same model with sections: each velocity in both directions, and a slanted expression upwards.
fn with_sections(model: &Model) -> Problem {
    let mut model = model.clone();
    let event = |name: &str, value, crossing| Event { name: name.to_string(), value, crossing };
    let mut events: Vec<Event> =
        (0..model.degrees()).map(|i| event(&format!("velocity {i}"), model.v[i], Crossing::Both)).collect();
    let graph = &mut model.graph;
    let (a, b) = (graph.constant(0.3), graph.constant(0.05));
    let tilted = graph.mul(a, model.v[0]);
    let sum = graph.add(model.q[0], tilted);
    let mut slanted = graph.sub(sum, b);
    if model.q.len() > 1 {
        // (The position of a first-order state means nothing.)
        let other = if events.len() > 1 { model.q[1] } else { model.v[1] };
        let product = graph.mul(other, model.v[0]);
        slanted = graph.add(slanted, product);
    }
    events.push(event("slanted", slanted, Crossing::Up));
    events.truncate(8);
    model.quantities = events.iter().map(|event| event.value).collect();
    model.events = events;
    Problem::new(model).expect("a problem")
}

/// Number of the section and time of each crossing.
fn crossings(outcome: &Outcome, d: usize) -> Vec<(f64, f64)> {
    outcome.sections.chunks(2 + 2 * d).map(|row| (row[0], row[1])).collect()
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    compared: usize,
    crossings: usize,
    worst: f64,
    in_lanes: usize,
}

/// The crossings of a motion, and how much they move with its start: none if it is chaotic, or if its bounces, and with them its
/// crossings, are infinitely many.
struct Truth {
    outcome: Outcome,
    steady: Option<f64>,
}

fn truth(problem: &Problem, job: &Job) -> Truth {
    let d = problem.dimension();
    let scalar = Scalar::new(problem, &Arc::default());
    let run = |job: &Job| scalar.one(job, &wanted(1e-13)).expect("an outcome");
    let outcome = run(job);
    if !is_whole(&outcome) || outcome.accumulations > 0 {
        return Truth { outcome, steady: None };
    }
    let all = crossings(&outcome, d);
    let mut sensitivity = 0.0_f64;
    for nudge in [1e-9, -1e-9] {
        let mut near = job.clone();
        near.start.v[0] += nudge;
        let near = crossings(&run(&near), d);
        if near.len() != all.len() || near.iter().zip(&all).any(|(a, b)| a.0 != b.0) {
            return Truth { outcome, steady: None };
        }
        let apart = near.iter().zip(&all).map(|(a, b)| (a.1 - b.1).abs() / nudge.abs());
        sensitivity = apart.fold(sensitivity, f64::max);
    }
    Truth { outcome, steady: Some(sensitivity).filter(|s| *s < 1e4) }
}

fn is_whole(outcome: &Outcome) -> bool {
    outcome.status.as_ref().is_ok_and(|status| status.is_complete())
}

/// Crossings of motions that are not chaotic are the same, one by one, in lanes and in compiled code of both kinds.
fn compare(name: &str, problem: &Problem, jobs: &[Job], kinds: usize) -> Found {
    let mut all = Found::default();
    let d = problem.dimension();
    let truths: Vec<Truth> = jobs.iter().map(|job| truth(problem, job)).collect();
    for (code, mut worker) in agree::crew(name, problem, TOLERANCE).into_iter().take(kinds) {
        let outcomes = worker.run(jobs, &wanted(TOLERANCE));
        let mut found = Found::default();
        for ((job, outcome), Truth { outcome: exact, steady }) in jobs.iter().zip(&outcomes).zip(&truths) {
            assert_eq!(is_whole(exact), is_whole(outcome), "{name}: {:?} {:?}", exact.status, outcome.status);
            let Some(sensitivity) = *steady else { continue };
            found.compared += 1;
            found.in_lanes += usize::from(outcome.engine == Engine::Lanes);
            let (ours, theirs) = (crossings(outcome, d), crossings(exact, d));
            let what = format!("{name} {code} at {:?} from {:?} {:?}", job.start.parameters, job.start.q, job.start.v);
            let kinds = |all: &[(f64, f64)]| all.iter().map(|c| c.0 as u8).collect::<Vec<_>>();
            assert_eq!(kinds(&ours), kinds(&theirs), "{what}:\n{ours:?}\n{theirs:?}");
            found.crossings += ours.len();
            let unit = TOLERANCE * (1.0 + job.end.abs() + sensitivity);
            for (a, b) in ours.iter().zip(&theirs) {
                found.worst = found.worst.max((a.1 - b.1).abs() / unit);
                assert!((a.1 - b.1).abs() <= 100.0 * unit, "{what}: {a:?} {b:?}, sensitivity {sensitivity:e}");
            }
            // The state there is on the section, or an impact has taken it across.
            let mut values = problem.instance(&job.start).expect("a start").quantities().expect("sections");
            for row in outcome.sections.chunks(2 + 2 * d) {
                let scale = row[2..].iter().fold(1.0_f64, |m, x| m.max(x.abs()));
                let is_jump = exact.hits.iter().any(|hit| (hit.t - row[1]).abs() <= 1e-6);
                let value = values.at(row[1], &row[2..2 + d], &row[2 + d..])[row[0] as usize];
                assert!(is_jump || value.abs() <= 1e-7 * scale * scale, "{what}: {value:e} at {row:?}");
            }
        }
        println!("{name} {code}: {found:?}");
        all.compared += found.compared;
        all.crossings += found.crossings;
        all.in_lanes += found.in_lanes;
    }
    all
}

fn jobs(problem: &Problem, end: f64, count: usize, random: &mut Random) -> Vec<Job> {
    let model = problem.model().clone();
    let mut made = Vec::new();
    while made.len() < count {
        let values: Vec<(&str, f64)> =
            model.open.iter().map(|p| (p.name.as_str(), p.value * random.between(0.97, 1.03))).collect();
        let Ok(mut start) = problem.start_with(&values) else { continue };
        start.v.iter_mut().for_each(|v| *v += 0.01 * *v * random.between(-1.0, 1.0));
        made.push(Job { from: start.t + 0.1 * end, end: start.t + end, strobe: None, step: None, start });
    }
    made
}

fn points() -> usize {
    std::env::var("SALTUS_AGREEMENT_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(8)
}

#[test]
fn of_shipped_models() {
    let mut random = Random(1);
    let (mut compared, mut count) = (0, 0);
    for &(name, _) in shipped::MODELS {
        let file = shipped::find(name).expect("shipped").expect("parses");
        let opened = file.system().expect("valid");
        let saltus_io::AnySystem::Problem(problem) = &opened.system else { continue };
        let Some(end) = opened.defaults.end else { continue };
        let problem = with_sections(problem.model());
        if LaneWorker::<16>::new(&problem, TOLERANCE, &Arc::default()).is_err() {
            continue;
        }
        let jobs = jobs(&problem, end.min(20.0), points(), &mut random);
        let found = compare(name, &problem, &jobs, 3);
        (compared, count) = (compared + found.compared, count + found.crossings);
    }
    println!("{compared} compared, {count} crossings");
    assert!(compared >= 100 && count >= 2000, "{compared} compared, {count} crossings");
}

#[test]
fn of_random_models() {
    let mut random = Random(3);
    let (mut compared, mut count, mut in_lanes) = (0, 0, 0);
    for k in 0..16 {
        let model = if k % 2 == 0 { random_model(&mut random) } else { random_linear_model(&mut random) };
        let model = model.build().expect("a model").open(&["w"]).expect("open");
        let problem = with_sections(&model);
        let jobs = jobs(&problem, 20.0, points(), &mut random);
        // (Compiling takes time: six models unless more is asked for.)
        let kinds = if k < 6 || points() > 8 { 3 } else { 1 };
        let found = compare(&format!("random {k}"), &problem, &jobs, kinds);
        (compared, count) = (compared + found.compared, count + found.crossings);
        in_lanes += found.in_lanes;
    }
    println!("{compared} compared, {in_lanes} in lanes, {count} crossings");
    assert!(compared >= 60 && count >= 1000, "{compared} compared, {count} crossings");
}

/// A section on the gap itself is touched at every impact, and not crossed there; one on the velocity is crossed by every impact.
#[test]
fn at_impacts() {
    let ball = Builder::new("ball")
        .coordinate("y", 1.0, 0.0)
        .kinetic("y'^2/2")
        .potential("y")
        .force("y", "-1e-3*y'^3")
        .restitution(1.0)
        .constraint("floor", "y")
        .event("floor", "y", Crossing::Both)
        .event("turn", "y'", Crossing::Both)
        .event("level", "y - 0.5", Crossing::Both);
    let problem = ball.build().expect("a model").problem().expect("a problem");
    let job = Job { start: problem.start(), from: 0.0, end: 30.0, strobe: None, step: None };
    let exact = Scalar::new(&problem, &Arc::default()).one(&job, &wanted(1e-13)).expect("an outcome");
    let count = |o: &Outcome, k: f64| crossings(o, 1).iter().filter(|c| c.0 == k).count() as u64;
    assert_eq!((count(&exact, 0.0), exact.impacts), (0, 11));
    for (code, mut worker) in agree::crew("ball", &problem, TOLERANCE) {
        let outcome = worker.run(std::slice::from_ref(&job), &wanted(TOLERANCE)).remove(0);
        assert_eq!(outcome.impacts, exact.impacts, "{code}");
        for k in 0..3 {
            assert_eq!(count(&outcome, f64::from(k)), count(&exact, f64::from(k)), "{code} {k}");
        }
        let (ours, truth) = (crossings(&outcome, 1), crossings(&exact, 1));
        assert!(ours.iter().zip(&truth).all(|(a, b)| (a.1 - b.1).abs() < 1e-8), "{code}");
    }
}

/// A motion that starts on a section does not cross it there; closed forms of the times at which it does: x = cos t.
#[test]
fn from_a_section() {
    let model = |x: f64, v: f64| {
        Builder::new("harmonic")
            .coordinate("x", x, v)
            .kinetic("x'^2/2")
            .potential("x^2/2")
            .event("x", "x", Crossing::Both)
            .event("v", "x'", Crossing::Down)
    };
    for (x, v, first) in [(1.0, 0.0, 0.5), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)] {
        let problem = model(x, v).build().expect("a model").problem().expect("a problem");
        let job = Job { start: problem.start(), from: 0.0, end: 100.0, strobe: None, step: None };
        for (code, mut worker) in agree::crew("harmonic", &problem, TOLERANCE) {
            let outcome = worker.run(std::slice::from_ref(&job), &wanted(TOLERANCE)).remove(0);
            let pi = std::f64::consts::PI;
            let through: Vec<f64> = crossings(&outcome, 1).iter().filter(|c| c.0 == 0.0).map(|c| c.1).collect();
            let exact: Vec<f64> =
                (0..40).map(|k| (f64::from(k) + first) * pi).filter(|t| *t > 0.0 && *t < 100.0).collect();
            assert_eq!(through.len(), exact.len(), "{code} {x} {v}: {through:?}");
            let off = through.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{code}: {off:e}");
        }
    }
}

/// A trajectory ends with its N-th return, where it is then; of each section the last states are kept, or all.
#[test]
fn returns_end_a_trajectory() {
    let duffing = Builder::new("duffing")
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .force("x", "0.5*cos(w*t) - 0.1*x' - x - x^3")
        .restitution(0.8)
        .constraint("stop", "0.5 - x")
        .parameter("w", 1.1)
        .event("bottom", "x'", Crossing::Up)
        .event("through", "x", Crossing::Both)
        .event("top", "x'", Crossing::Down);
    let problem = duffing.build().expect("a model").open(&["w"]).and_then(|m| m.problem()).expect("a problem");
    let job = |k: usize| {
        let start = problem.start_with(&[("w", 0.8 + 0.02 * k as f64)]).expect("a start");
        Job { start, from: 7.0, end: 150.0, strobe: Some(1.0), step: None }
    };
    let jobs: Vec<Job> = (0..20).map(job).collect();
    let whole = Arc::new(Wanted { strobe: true, ..(*wanted(TOLERANCE)).clone() });
    let scalar: Box<dyn Worker> = Box::new(Scalar::new(&problem, &Arc::default()));
    for (code, mut worker) in agree::crew("duffing", &problem, TOLERANCE).into_iter().chain([("scalar", scalar)]) {
        let all = worker.run(&jobs, &whole);
        for (returns, last) in [(1, None), (13, Some(5)), (13, Some(2)), (13, Some(100)), (1000, Some(3)), (1000, None)]
        {
            let less = Arc::new(Wanted { returns: Some(returns), last, ..(*whole).clone() });
            for (short, long) in worker.run(&jobs, &less).iter().zip(&all) {
                let what = format!("{code}: {returns} {last:?}");
                let rows: Vec<&[f64]> = long.sections.chunks(4).collect();
                let end = rows.iter().filter(|row| row[0] == 0.0).nth(returns as usize - 1);
                let t = end.map_or(150.0, |row| row[1]);
                assert!((short.t - t).abs() < 1e-12 * t, "{what}: {} {t}", short.t);
                let mut kept: Vec<&[f64]> = rows.iter().copied().filter(|row| row[1] <= t).collect();
                let number = |k: f64| kept.iter().filter(|row| row[0] == k).count();
                let skip = [0.0, 1.0, 2.0].map(|k| number(k).saturating_sub(last.unwrap_or(usize::MAX)));
                let mut seen = [0; 3];
                kept.retain(|row| {
                    seen[row[0] as usize] += 1;
                    seen[row[0] as usize] > skip[row[0] as usize]
                });
                let ours: Vec<&[f64]> = short.sections.chunks(4).collect();
                assert_eq!(ours.len(), kept.len(), "{what}");
                let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0));
                assert!(ours.iter().zip(&kept).all(|(a, b)| a[0] == b[0] && near(a, b)), "{what}: {ours:?} {kept:?}");
                if let Some(end) = end {
                    assert!(near(&short.q, &end[2..3]) && near(&short.v, &end[3..]), "{what}: {:?} {end:?}", short.v);
                }
                // (An impact may be the crossing.)
                let before = |t: f64| long.hits.iter().filter(|hit| hit.t <= t).count();
                assert!((before(t - 1e-9)..=before(t + 1e-9)).contains(&(short.impacts as usize)), "{what}");
                assert_eq!(short.hits.len() as u64, short.impacts, "{what}");
                let strobes = ((t - 7.0 + 1e-9).floor() as usize + 1).min(144);
                assert_eq!(short.strobe.len() / 3, strobes, "{what} {t}");
                assert_eq!(
                    short.returns,
                    rows.iter().filter(|row| row[0] == 0.0 && row[1] <= t).count() as u64,
                    "{what}"
                );
            }
        }
    }
}

/// The lift of a relief valve at its maxima, by SciPy's DOP853 with events (rtol 1e-13): flows for which the motion is periodic.
#[test]
fn maxima_of_a_relief_valve() {
    // q, impacts up to the 60th maximum; when it is, lift and pressure there.
    let known = [
        (3.0, 59, 102.489_623_255_646_24, 2.493_594_676_935_31, 1.534_234_383_281_24),
        (4.0, 58, 116.179_620_318_238_35, 3.618_123_309_891_79, 1.231_503_302_536_19),
        (5.0, 58, 128.248_815_329_623_45, 4.830_982_380_008_27, 1.074_157_241_386_65),
    ];
    for code in [Code::Lanes, Code::Native] {
        let request = Request {
            over: vec!["q=3,4,5".into()],
            end: Some("1000".into()),
            sections: vec!["x':down".into(), "x':up".into()],
            returns: Some(60),
            last: Some(4),
            tolerance: Some(1e-12),
            code,
            ..Request::default()
        };
        let sweep = match request.sweep(shipped::find("valve").expect("shipped").expect("parses")) {
            Err(error) if error.error.message.contains("no C compiler") => continue,
            sweep => sweep.expect("a family"),
        };
        let plan = Plan {
            family: &sweep.family,
            wanted: sweep.wanted.clone(),
            native: sweep.native.clone(),
            threads: 1,
            stop: Arc::default(),
        };
        let mut outcomes: Vec<Outcome> = Vec::new();
        let mut keep = |block: Vec<Outcome>| {
            outcomes.extend(block);
            Ok::<(), std::io::Error>(())
        };
        plan.run(std::slice::from_ref(&(0..3)), &|block: Block| block.outcomes.to_vec(), &mut keep, &mut |_| {})
            .expect("runs");
        for (outcome, (q, impacts, t, lift, pressure)) in outcomes.iter().zip(known) {
            assert_eq!(outcome.status, Ok(Status::Finished), "{q}");
            assert_eq!((outcome.returns, outcome.engine, outcome.impacts), (60, Engine::Lanes, impacts), "{q}");
            let off = [outcome.t - t, outcome.q[0] - lift, outcome.v[0], outcome.v[1] - pressure];
            assert!(off.iter().all(|off| off.abs() < 2e-9), "{code:?} {q}: {off:?}");
            let rows: Vec<&[f64]> = outcome.sections.chunks(6).collect();
            assert_eq!(rows.iter().filter(|row| row[0] == 0.0).count(), 4);
            assert!(rows.iter().filter(|row| row[0] == 0.0).all(|row| (row[2] - lift).abs() < 1e-8), "{q}: {rows:?}");
            // Each minimum is an impact.
            assert!(
                rows.iter().filter(|row| row[0] == 1.0).all(|row| row[2].abs() < 1e-9 && row[4] > 0.1),
                "{q}: {rows:?}"
            );
        }
    }
}

/// The valve with its flow open, and sections at the maxima and minima of the lift.
fn valve() -> Problem {
    let file = shipped::find("valve").expect("shipped").expect("parses");
    let opened = file.system().expect("valid");
    let saltus_io::AnySystem::Problem(problem) = &opened.system else { panic!("a structure") };
    let mut model = (*problem.model().open(&["q"]).expect("open")).clone();
    let section = |name: &str, crossing| Event { name: name.into(), value: model.v[0], crossing };
    model.events = vec![section("top", Crossing::Down), section("bottom", Crossing::Up)];
    model.quantities = vec![model.v[0]; 2];
    Problem::new(model).expect("a problem")
}

/// Maxima, minima and impacts of the valve are those of the event engine, over all flows.
#[test]
fn of_a_relief_valve() {
    let problem = valve();
    let job = |k: usize| {
        let start = problem.start_with(&[("q", 0.3 + 0.3 * k as f64)]).expect("a start");
        Job { start, from: 3.0, end: 60.0, strobe: None, step: None }
    };
    let jobs: Vec<Job> = (0..33).map(job).collect();
    let found = compare("valve", &problem, &jobs, 3);
    assert!(found.compared >= 60 && found.in_lanes == found.compared, "{found:?}");
    let exact = Scalar::new(&problem, &Arc::default()).run(&jobs, &wanted(1e-12));
    for (code, mut worker) in agree::crew("valve", &problem, 1e-12) {
        for (a, b) in worker.run(&jobs, &wanted(1e-12)).iter().zip(&exact) {
            // (Bounces that are infinitely many are counted as far as they are computed.)
            let is_steady = a.accumulations == 0 && (a.q[0] - b.q[0]).abs() < 1e-6;
            assert!(!is_steady || (a.impacts, a.returns) == (b.impacts, b.returns), "{code}: {:?}", a.q);
        }
    }
}

/// Near an equilibrium accelerations are differences of large terms: what rounding makes of them is no reason for doubt.
#[test]
fn equilibria_are_not_doubted() {
    let problem = valve();
    let job = |k: usize| {
        let start = problem.start_with(&[("q", 9.6 + 0.04 * k as f64)]).expect("a start");
        Job { start, from: 0.0, end: 1e4, strobe: None, step: None }
    };
    let jobs: Vec<Job> = (0..10).map(job).collect();
    let wanted = Arc::new(Wanted { returns: Some(200), last: Some(1), ..(*wanted(TOLERANCE)).clone() });
    for (code, mut worker) in agree::crew("valve", &problem, TOLERANCE) {
        for outcome in worker.run(&jobs, &wanted) {
            assert_eq!((outcome.returns, outcome.engine), (200, Engine::Lanes), "{code} {:?}", outcome.checks);
            // It is there: x√p = q.
            let q = outcome.q[0] * outcome.v[1].sqrt();
            let nearest = ((q - 9.6) / 0.04).round() * 0.04 + 9.6;
            assert!((q - nearest).abs() < 1e-8, "{code}: {q}");
        }
    }
}
