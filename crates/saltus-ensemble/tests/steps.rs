//! The steps of schemes in lanes, against runs of the same schemes.

use saltus::model::Builder;
use saltus::{Problem, Start, Status};
use saltus_ensemble::{Engine, Job, Outcome, Scalar, Settled, StepWorker, Wanted, Worker};
use std::f64::consts::TAU;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SCHEMES: [&str; 3] = ["moreau-jean", "mabrouk", "paoli-schatzman"];

fn wanted(scheme: &str) -> Arc<Wanted> {
    let scheme = Some(scheme.to_string());
    Arc::new(Wanted { tolerance: 1e-10, scheme, strobe: true, impacts: 1000, settled: true, ..Wanted::default() })
}

fn in_lanes(problem: &Problem, jobs: &[Job], scheme: &str) -> Vec<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    StepWorker::<8>::new(problem, &wanted(scheme), &stop).expect("it is linear").run(jobs, &wanted(scheme))
}

fn one_by_one(problem: &Problem, jobs: &[Job], scheme: &str) -> Vec<Outcome> {
    Scalar::new(problem, &Arc::new(AtomicBool::new(false))).run(jobs, &wanted(scheme))
}

/// The one-stop oscillator of the benchmarks, its frequency open.
fn oscillator() -> Problem {
    let model = Builder::new("one stop").parameter("w", 0.7).coordinate("x", 0.0, 0.0).kinetic("x'^2/2");
    let model = model.potential("x^2/2").force("x", "cos(w*t) - 0.04*x'").restitution(0.8).constraint("stop", "1 - x");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("compiles")
}

/// Two masses with full inertia and damping, a fixed wall and one that moves.
fn pair() -> Problem {
    let model = Builder::new("pair").parameter("w", 1.3).coordinate("x", 0.1, 0.0).coordinate("y", 0.0, 0.3);
    let model = model.kinetic("x'^2/2 + y'^2 + 0.3*x'*y'").potential("x^2/2 + (x - y)^2");
    let model = model.force("x", "0.8*cos(w*t + 0.4) - 0.1*x'").force("y", "0.2*sin(2*w*t) - 0.05*y'");
    let model = model.restitution(0.6).constraint("right", "0.4 - x").constraint("below", "y + 0.5 + 0.1*cos(w*t)");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("compiles")
}

fn jobs(problem: &Problem, count: usize, periods: f64, steps: f64) -> Vec<Job> {
    let job = |k: usize| {
        let w = 0.6 + 0.9 * k as f64 / count as f64;
        let period = TAU / w;
        let mut start: Start = problem.start();
        start.parameters = vec![w];
        Job { start, from: 0.0, end: periods * period, strobe: Some(period), step: Some(period / steps) }
    };
    (0..count).map(job).collect()
}

/// Whether two outcomes are the same to a figure; what differs.
fn differ(found: &Outcome, run: &Outcome, near: f64) -> Option<String> {
    let apart = |what: &str, a: f64, b: f64| {
        (!((a - b).abs() <= near)).then(|| format!("{what}: {a} in lanes and {b}, from {:.3e}", a - b))
    };
    if (found.impacts, found.hits.len(), found.strobe.len()) != (run.impacts, run.hits.len(), run.strobe.len()) {
        return Some(format!("{} impacts in lanes and {}", found.impacts, run.impacts));
    }
    let hits = found.hits.iter().zip(&run.hits).find_map(|(a, b)| {
        let constraint = apart("constraint", f64::from(a.constraint), f64::from(b.constraint));
        let values = apart("instant", a.t, b.t).or_else(|| apart("speed", a.speed, b.speed));
        constraint.or(values).or_else(|| apart("impulse", a.impulse, b.impulse))
    });
    let (d, row) = (found.q.len(), 1 + 2 * found.q.len());
    let states = found.strobe.chunks(row).zip(run.strobe.chunks(row)).find_map(|(a, b)| {
        let position = (1..=d).find_map(|i| apart("position", a[i], b[i]));
        // (An instant that is the node of an impact but for rounding has the velocity after it.)
        position.or_else(|| (d + 1..row).find_map(|i| apart("velocity", a[i], b[i])))
    });
    let last = || {
        let (a, b) = (found.q.iter().chain(&found.v), run.q.iter().chain(&run.v));
        a.zip(b).find_map(|(a, b)| apart("last state", *a, *b))
    };
    let checks = || apart("violation", found.checks.violation, run.checks.violation);
    let law = || apart("law", found.checks.law, run.checks.law);
    // (An impact within a step of an instant of the stroboscope is counted on either side of it: one may not be sure.)
    let is_sure = |o: &Outcome| o.settled != Some(Settled::Neither);
    let is_other = is_sure(found) && is_sure(run) && found.settled != run.settled;
    let is_other = is_other || found.checks.is_breached != run.checks.is_breached;
    let verdict = || {
        is_other.then(|| {
            format!("{:?}, {:?} in lanes and {:?}, {:?}", found.settled, found.status, run.settled, run.status)
        })
    };
    hits.or(states).or_else(last).or_else(checks).or_else(law).or_else(verdict)
}

#[test]
fn motions_and_impacts_are_those_of_the_scheme() {
    let problem = oscillator();
    for scheme in SCHEMES {
        let jobs = jobs(&problem, 21, 25.0, 400.0);
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        for (k, (found, run)) in lanes.iter().zip(&runs).enumerate() {
            assert_eq!(found.engine, Engine::Steps);
            assert!(found.status.as_ref().is_ok_and(Status::is_complete), "{scheme}: {:?}", found.status);
            assert_eq!(differ(found, run, 1e-9), None, "{scheme}, trajectory {k}");
        }
        assert!(lanes.iter().map(|o| o.impacts).sum::<u64>() > 500, "{scheme}");
    }
}

/// Coarse steps, of which many at the stroboscope are those of an impact.
#[test]
fn at_the_node_of_an_impact_the_stroboscope_sees_what_comes_after_it() {
    let problem = oscillator();
    for scheme in SCHEMES {
        let jobs = jobs(&problem, 161, 5.0, 40.0);
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        for (k, (found, run)) in lanes.iter().zip(&runs).enumerate() {
            let far = found.strobe.iter().zip(&run.strobe).fold(0.0f64, |far, (a, b)| far.max((a - b).abs()));
            assert!(found.strobe.len() == run.strobe.len() && far < 1e-9, "{scheme}, trajectory {k}: {far:e}");
        }
    }
}

/// Full inertia, damping, a wall that moves, lasting contact, two constraints that act together: the motion is sensitive, so that it is
/// followed for a while only.
#[test]
fn coupled_masses_between_walls_move_as_the_scheme_says() {
    let problem = pair();
    for scheme in SCHEMES {
        let jobs = jobs(&problem, 21, 4.0, 400.0);
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        let differences: Vec<String> = lanes.iter().zip(&runs).filter_map(|(a, b)| differ(a, b, 1e-7)).collect();
        assert!(differences.len() <= 1, "{scheme}: {differences:?}");
        assert!(lanes.iter().map(|o| o.impacts).sum::<u64>() > 100, "{scheme}");
    }
}

#[test]
fn not_a_bit_depends_on_the_lanes() {
    let problem = pair();
    let jobs = jobs(&problem, 19, 8.0, 250.0);
    for scheme in SCHEMES {
        let together = in_lanes(&problem, &jobs, scheme);
        let alone: Vec<Outcome> =
            jobs.iter().flat_map(|job| in_lanes(&problem, std::slice::from_ref(job), scheme)).collect();
        assert_eq!(together, alone, "{scheme}");
        let mut backwards: Vec<Job> = jobs.clone();
        backwards.reverse();
        let mut back = in_lanes(&problem, &backwards, scheme);
        back.reverse();
        assert_eq!(together, back, "{scheme}");
    }
}

/// Where the node at which things begin to be kept is before that time by rounding, it is that node all the same.
#[test]
fn a_node_just_before_the_time_it_stands_for_is_a_stop() {
    let problem = oscillator();
    let job = |w: f64| {
        let (mut start, period) = (problem.start(), TAU / w);
        start.parameters = vec![w];
        let step = Some(period / 1000.0);
        Job { start, from: 20.0 * period, end: 20.0 * period + 10.0 * period, strobe: Some(period), step }
    };
    let jobs: Vec<Job> = (0..21).map(|k| job(0.8 + 0.02 * f64::from(k))).collect();
    let is_before = |job: &&Job| 20_000.0 * job.step.unwrap_or_default() < job.from;
    assert!(jobs.iter().filter(is_before).count() > 0);
    let lanes = in_lanes(&problem, &jobs, "moreau-jean");
    assert!(lanes.iter().all(|outcome| outcome.engine == Engine::Steps && outcome.strobe.len() == 33));
}

/// Contact at the start, a stroboscope between nodes, an end that the step does not divide: a run of the scheme takes over.
#[test]
fn what_is_not_plain_is_run() {
    let problem = oscillator();
    let plain = jobs(&problem, 1, 5.0, 200.0).remove(0);
    let mut touching = plain.clone();
    touching.start.q = vec![1.0];
    let between = Job { strobe: plain.strobe.map(|t| 0.7123 * t), ..plain.clone() };
    let odd = Job { end: plain.end + 0.3 * plain.step.unwrap_or_default(), ..plain.clone() };
    let wrong = Job { step: Some(-1.0), ..plain.clone() };
    for scheme in SCHEMES {
        let jobs = [touching.clone(), between.clone(), odd.clone(), wrong.clone(), plain.clone()];
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        for (k, (found, run)) in lanes.iter().zip(&runs).enumerate() {
            assert_eq!(found.status.is_ok(), run.status.is_ok(), "{scheme}");
            assert_eq!(found.engine, if k < 4 { Engine::Again } else { Engine::Steps }, "{scheme} {k}");
            assert_eq!(differ(found, run, 1e-9), None, "{scheme} {k}");
        }
        assert!(lanes[3].status.is_err());
    }
}

/// Steps that grow without bound end as a run of them ends.
#[test]
fn steps_that_grow_fail_with_the_reason_of_a_run() {
    let model = Builder::new("unstable").parameter("c", 1.0).coordinate("x", 1.0, 0.0).kinetic("x'^2/2");
    let model = model.force("x", "c*x'").restitution(0.5).constraint("wall", "x + 1");
    let problem = model.build().expect("a model").open(&["c"]).expect("open").problem().expect("compiles");
    let mut start = problem.start();
    (start.v, start.parameters) = (vec![1.0], vec![40.0]);
    let job = Job { start, from: 0.0, end: 40.0, strobe: None, step: Some(0.01) };
    for scheme in SCHEMES {
        let (found, run) = (
            in_lanes(&problem, std::slice::from_ref(&job), scheme),
            one_by_one(&problem, std::slice::from_ref(&job), scheme),
        );
        assert!(matches!(found[0].status, Ok(Status::Failed(_))), "{scheme}: {:?}", found[0].status);
        // (It was begun in lanes.)
        assert_eq!(found, [Outcome { engine: Engine::Again, ..run[0].clone() }], "{scheme}");
    }
}

/// One coordinate and what is said about it: a gap in other units, a fall to rest, a long decay.
fn one(potential: &str, force: &str, gap: &str, e: &str) -> Problem {
    let model = Builder::new("one").parameter("w", 1.0).coordinate("x", 0.0, 0.0).kinetic("x'^2/2");
    let model = model.potential(potential).force("x", force).restitution(e).constraint("stop", gap);
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("compiles")
}

fn job(problem: &Problem, w: f64, (x, v): (f64, f64), (from, end): (f64, f64), step: f64) -> Job {
    let mut start = problem.start();
    (start.q, start.v, start.parameters) = (vec![x], vec![v], vec![w]);
    Job { start, from, end, strobe: None, step: Some(step) }
}

/// Where nothing is forced there is no stroboscope, and rest is seen all the same; the transient is no part of what is seen.
#[test]
fn rest_is_seen_without_a_stroboscope() {
    let problem = one("9.81*x", "-0*w", "x", "0.5");
    for scheme in SCHEMES {
        for (from, end) in [(0.0, 10.0), (4.0003, 9.9), (0.4, 1.2)] {
            let jobs = [job(&problem, 1.0, (1.0, 0.0), (from, end), 1e-3)];
            let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
            assert_eq!(lanes[0].engine, Engine::Steps, "{scheme}");
            assert_eq!(lanes[0].settled == Some(Settled::Rest), end > 2.0, "{scheme} {:?}", lanes[0].settled);
            assert_eq!(differ(&lanes[0], &runs[0], 1e-7), None, "{scheme} from {from}");
        }
    }
}

/// A gap may be measured in millimetres, or be the sum of several coordinates: what it may be violated by is a matter of its own speed.
#[test]
fn gaps_in_other_units_are_judged_as_in_a_run() {
    for gap in ["1000*(1 - x)", "1e-3*(1 - x)", "1000*(1 - x) + 300*cos(w*t)"] {
        let problem = one("x^2/2", "cos(w*t) - 0.1*x'", gap, "0.8");
        for scheme in SCHEMES {
            let with_strobe = |w: f64| {
                let period = TAU / w;
                let job = job(&problem, w, (0.0, 0.0), (0.0, 40.0 * period), period / 400.0);
                Job { strobe: Some(period), ..job }
            };
            let jobs: Vec<Job> = (0..5).map(|k| with_strobe(0.8 + 0.1 * f64::from(k))).collect();
            let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
            for (found, run) in lanes.iter().zip(&runs) {
                assert_eq!(found.engine, Engine::Steps, "{scheme} {gap}");
                assert!(!found.checks.is_breached && found.impacts > 5, "{scheme} {gap}: {:?}", found.status);
                assert_eq!(found.impacts, run.impacts, "{scheme} {gap}");
                let is_sure = found.settled != Some(Settled::Neither) && run.settled != Some(Settled::Neither);
                assert!(!is_sure || found.settled == run.settled, "{scheme} {gap}");
            }
        }
    }
}

/// What a run says about steps that are coarse, or unstable, is said: such trajectories are made by runs.
#[test]
fn coarse_steps_are_runs() {
    let problem = one("w^2*x^2/2", "-0*w", "x + 1e9", "0.8");
    for scheme in SCHEMES {
        let mut breached = 0;
        for pace in [0.02, 0.05, 0.09, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.45, 0.6, 0.8, 1.0, 1.5, 1.9, 2.1] {
            let jobs = [job(&problem, 3.0, (0.5, 0.2), (0.0, 20.0 * pace), pace / 3.0)];
            let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
            assert_eq!(
                lanes[0].checks.is_breached, runs[0].checks.is_breached,
                "{scheme} {pace}: {:?}",
                runs[0].status
            );
            breached += u32::from(runs[0].checks.is_breached);
            assert!(pace < 0.6 || lanes[0].engine == Engine::Again, "{scheme} {pace}");
            assert!(pace > 0.05 || lanes[0].engine == Engine::Steps, "{scheme} {pace}");
        }
        println!("{scheme}: {breached} breached");
    }
}

/// A transient that is larger than the motion by far says nothing of what the motion settles on.
#[test]
fn the_transient_is_no_measure() {
    let problem = one("x^2/2", "0.01*cos(w*t) + 0.01*cos(sqrt(2)*w*t) - 0.5*x'", "x + 1e9", "0.8");
    for scheme in SCHEMES {
        let period = TAU / 1.5;
        let (from, end) = (60.0 * period, 260.0 * period);
        let job = Job { strobe: Some(period), ..job(&problem, 1.5, (0.0, -1e6), (from, end), period / 500.0) };
        let found = in_lanes(&problem, std::slice::from_ref(&job), scheme);
        assert_eq!((found[0].engine, found[0].settled), (Engine::Steps, Some(Settled::Neither)), "{scheme}");
    }
}

/// Where neither a stroboscope nor what a motion settles on is wanted, its steps need not divide the period.
#[test]
fn nobody_waits_for_a_stroboscope_that_is_not_wanted() {
    let problem = oscillator();
    let wanted = |scheme: &str| Arc::new(Wanted { strobe: false, settled: false, ..(*wanted(scheme)).clone() });
    for scheme in SCHEMES {
        let jobs: Vec<Job> = [0.83, 0.97, 1.1]
            .map(|w| Job { strobe: Some(TAU / w), ..job(&problem, w, (0.0, 0.0), (2.0 * TAU / w, 39.0), 1e-3) })
            .to_vec();
        let stop = Arc::new(AtomicBool::new(false));
        let lanes = StepWorker::<8>::new(&problem, &wanted(scheme), &stop).expect("linear").run(&jobs, &wanted(scheme));
        let runs = Scalar::new(&problem, &stop).run(&jobs, &wanted(scheme));
        for (found, run) in lanes.iter().zip(&runs) {
            assert_eq!(found.engine, Engine::Steps, "{scheme}");
            assert!(found.impacts > 1, "{scheme}");
            assert_eq!(differ(found, run, 1e-7), None, "{scheme}");
        }
    }
}

/// A step that is set to something else than usual is made by runs, with that setting.
#[test]
fn settings_of_a_scheme_are_those_of_a_run() {
    let problem = oscillator();
    let settings = saltus::scheme::Settings::new().with("theta", 1.0);
    let wanted = Arc::new(Wanted { settings, ..(*wanted("moreau-jean")).clone() });
    let jobs = jobs(&problem, 1, 5.0, 100.0);
    assert!(StepWorker::<8>::new(&problem, &wanted, &Arc::default()).is_none());
    let implicit = Scalar::new(&problem, &Arc::default()).run(&jobs, &wanted);
    let midpoint = one_by_one(&problem, &jobs, "moreau-jean");
    assert!((implicit[0].q[0] - midpoint[0].q[0]).abs() > 1e-3);
}
