//! What is around a GPU, with code of its thread on the processor in its place: what is computed where, and what is left where it fails.

use saltus_ensemble::store::{Piece, Store};
use saltus_ensemble::{Block, Motion, Native, Outcome, Plan, Request, Sweep, Way};
use saltus_io::output::WriteError;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn request(points: usize) -> Request {
    Request { over: vec![format!("w=0.8:1.2:{points}")], periods: Some("20".into()), ..Request::default() }
}

/// A sweep on what is in the place of a GPU; nothing where the machine has no compiler.
fn on_gpu(request: &Request, width: usize, fails_after: Option<u64>) -> Option<Sweep> {
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("read");
    let mut sweep = request.sweep(file).expect("a sweep");
    match Native::compile_for(sweep.family.problem(), sweep.wanted.scheme.as_deref(), saltus_ensemble::Target::Thread) {
        Ok(native) => sweep.native = Some(native.stand_in(width, fails_after)),
        Err(why) => {
            assert!(why.to_string().contains("there is no C compiler"), "{why}");
            return None;
        }
    }
    Some(sweep)
}

/// Whether it came to its end, and what came of it.
fn run(sweep: &Sweep, threads: usize) -> (bool, Vec<Outcome>) {
    let plan = Plan {
        family: &sweep.family,
        wanted: sweep.wanted.clone(),
        native: sweep.native.clone(),
        threads,
        stop: Arc::new(AtomicBool::new(false)),
    };
    let mut all = Vec::new();
    let mut deliver = |made: Vec<Outcome>| {
        all.extend(made);
        Ok::<(), std::convert::Infallible>(())
    };
    let digest = |block: Block| block.outcomes.to_vec();
    let all_points = 0..sweep.family.len();
    let Ok(finished) = plan.run(std::slice::from_ref(&all_points), &digest, &mut deliver, &mut |_| {});
    (finished, all)
}

#[test]
fn a_gpu_computes_whatever_it_is_given() {
    for points in [2, 5, 300] {
        let Some(sweep) = on_gpu(&request(points), 64, None) else { return };
        let (finished, outcomes) = run(&sweep, 2);
        let shares = sweep.native.as_ref().and_then(Native::shares).expect("it is a GPU");
        assert!(finished && outcomes.iter().all(|o| o.status.is_ok()));
        assert_eq!((shares.on_gpu, shares.in_lanes), (points as u64, 0));
    }
}

#[test]
fn a_gpu_that_fails_stops_a_sweep_and_nothing_wrong_is_stored() {
    let request = request(200);
    let Some(mut sweep) = on_gpu(&request, 32, Some(5)) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("sweep");
    let go_on = |sweep: &Sweep, resume: bool| {
        let mut store = Store::create(&path, sweep, (1, 1), resume).expect("a store");
        let plan = Plan {
            family: &sweep.family,
            wanted: sweep.wanted.clone(),
            native: sweep.native.clone(),
            threads: 2,
            stop: Arc::new(AtomicBool::new(false)),
        };
        let (missing, layout) = (store.missing(), store.layout());
        let digest = |block: Block| layout.piece(&sweep.family, block);
        let mut deliver = |piece: Piece| -> Result<(), WriteError> { store.take(piece) };
        let finished = plan.run(&missing, &digest, &mut deliver, &mut |_| {}).expect("a disk");
        store.flush().expect("a disk");
        (finished, store.counts().expect("counts"))
    };
    let (finished, counts) = go_on(&sweep, false);
    let stored: u64 = counts.iter().map(|(_, n)| n).sum();
    println!("{counts:?}");
    assert!(!finished && counts.iter().all(|(word, _)| *word == "finished"), "{counts:?}");
    assert!((1..200).contains(&stored), "{counts:?}");
    let native = sweep.native.as_ref().expect("native");
    assert!(native.failure().is_some_and(|why| why.contains("this one was to fail")));
    // Gone on with on a GPU that works.
    sweep.native = on_gpu(&request, 32, None).and_then(|sweep| sweep.native);
    let (finished, counts) = go_on(&sweep, true);
    assert!(finished && counts == [("finished", 200)], "{counts:?}");
    let shares = sweep.native.as_ref().and_then(Native::shares).expect("it is a GPU");
    assert_eq!(shares.on_gpu, 200 - stored);
}

#[test]
fn lanes_compute_what_a_gpu_that_fails_leaves() {
    let request = request(200);
    let Some(whole) = on_gpu(&request, 32, None) else { return };
    let (_, truth) = run(&whole, 1);
    for fails_after in [0, 1, 5] {
        let mut sweep = on_gpu(&request, 32, Some(fails_after)).expect("as before");
        sweep.native = sweep.native.map(Native::or_lanes);
        let (finished, outcomes) = run(&sweep, 2);
        let native = sweep.native.as_ref().expect("native");
        let shares = native.shares().expect("it is a GPU");
        println!("after {fails_after}: {shares:?}");
        assert!(finished && native.failure().is_some());
        assert!(shares.on_gpu + shares.in_lanes == 200 && shares.in_lanes > 0, "{shares:?}");
        assert_eq!(shares.on_gpu > 0, fails_after > 0);
        assert_eq!(outcomes.len(), truth.len());
        for (k, (a, b)) in outcomes.iter().zip(&truth).enumerate() {
            assert!(a.status.is_ok() && a.impacts == b.impacts, "{k}: {a:?}");
            assert!((a.q[0] - b.q[0]).abs() < 1e-6 && (a.v[0] - b.v[0]).abs() < 1e-6, "{k}");
        }
    }
}

#[test]
fn exponents_that_a_gpu_leaves_are_computed_and_it_is_said() {
    let Some(sweep) = on_gpu(&request(3), 32, None) else { return };
    let problem = sweep.family.problem();
    let mut maker = sweep.family.maker();
    let motions: Vec<Motion> = (0..3)
        .map(|k| {
            let job = maker.job(k, None).job;
            (job.start, saltus::analysis::LyapunovOptions::blocks(job.strobe.expect("a period"), 5, 10))
        })
        .collect();
    for fails_after in [None, Some(0), Some(3)] {
        let native = Native::compile_thread(problem).expect("as before").stand_in(32, fails_after);
        let exponents = saltus_ensemble::Exponents::new(problem, &native, 1e-10).expect("perturbations");
        let ways = std::sync::Mutex::new(Vec::new());
        exponents.run(&motions, 2, &Arc::default(), &|_, (found, way)| {
            assert!(found.is_ok());
            ways.lock().expect("ways").push(way);
        });
        let ways = ways.into_inner().expect("ways");
        println!("after {fails_after:?}: {ways:?}, {:?}", exponents.failure());
        assert_eq!((ways.len(), exponents.failure().is_some()), (3, fails_after.is_some()));
        assert!(fails_after.is_some() || !ways.contains(&Way::Scalar), "{ways:?}");
    }
}

#[test]
fn what_comes_back_from_a_gpu_is_what_its_thread_computed() {
    let sections = vec!["x':down".to_string(), "x - 0.2".to_string()];
    let wanted = [
        Request { impacts: Some("all".into()), strobe: true, ..request(150) },
        Request { sections: sections.clone(), impacts: Some("2".into()), ..request(150) },
        Request { sections: sections.clone(), last: Some(3), returns: Some(12), ..request(150) },
        Request { sections, settled: true, ..request(150) },
        Request { scheme: Some("moreau-jean".into()), step: Some("2*pi/w/200".into()), strobe: true, ..request(150) },
    ];
    for (k, request) in wanted.iter().enumerate() {
        // (Records of a trajectory that has no more room for them come back before it has ended.)
        let Some(mut sweep) = on_gpu(request, 64, None) else { return };
        let (finished, outcomes) = run(&sweep, 2);
        let (problem, scheme) = (sweep.family.problem(), sweep.wanted.scheme.as_deref());
        let thread = Native::compile_for(problem, scheme, saltus_ensemble::Target::Thread).expect("as before");
        sweep.native = Some(thread);
        let (_, truth) = run(&sweep, 1);
        assert!(finished && outcomes == truth, "{k}");
        let kept = |o: &Outcome| o.hits.len() + o.strobe.len() + o.sections.len();
        assert!(truth.iter().all(|o| kept(o) > 5), "{k}");
    }
}

#[test]
fn the_last_states_are_kept_from_launch_to_launch() {
    // (Instants of the stroboscope fill the log of a launch: what is wanted in the end may be older than the last launch, but for some of these.)
    for periods in 56..64 {
        let request = Request {
            sections: vec!["x':down".into(), "x - 0.2".into()],
            last: Some(8),
            strobe: true,
            periods: Some(periods.to_string()),
            ..request(20)
        };
        let Some(mut sweep) = on_gpu(&request, 64, None) else { return };
        let (finished, outcomes) = run(&sweep, 1);
        let launches = sweep.native.as_ref().and_then(Native::spent).expect("it is a GPU").launches;
        assert!(finished && launches > 2, "{launches}");
        let thread = Native::compile_for(sweep.family.problem(), None, saltus_ensemble::Target::Thread);
        sweep.native = Some(thread.expect("as before"));
        let (_, truth) = run(&sweep, 1);
        assert!(outcomes == truth && truth.iter().all(|o| o.sections.len() == 2 * 8 * 4), "{periods}");
    }
}
