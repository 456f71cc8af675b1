//! What is around a GPU: what is computed where, and what is left where it fails. (The GPU is a mock: it runs the kernels on the processor.)

use saltus_ensemble::store::{Piece, Store};
use saltus_ensemble::{Block, Motion, Native, Outcome, Plan, Request, Sweep, Target, Way};
use saltus_io::output::WriteError;
use saltus_mock_gpu::{Gpu, gpu};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn request(points: usize) -> Request {
    Request { over: vec![format!("w=0.8:1.2:{points}")], periods: Some("20".into()), ..Request::default() }
}

/// A sweep on a GPU that works, whose workers take so many trajectories at a time.
fn on_gpu(gpu: &Gpu, request: &Request, width: usize) -> Sweep {
    gpu.repair();
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("read");
    let mut sweep = request.sweep(file).expect("a sweep");
    let scheme = sweep.wanted.scheme.as_deref();
    let native = Native::compile_for(sweep.family.problem(), scheme, Target::Gpu).expect("a GPU");
    sweep.native = Some(native.with_width(width));
    sweep
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
    let Some(gpu) = gpu() else { return };
    for points in [2, 5, 300] {
        let sweep = on_gpu(&gpu, &request(points), 64);
        let (finished, outcomes) = run(&sweep, 2);
        let shares = sweep.native.as_ref().and_then(Native::shares).expect("it is a GPU");
        assert!(finished && outcomes.iter().all(|o| o.status.is_ok()));
        assert_eq!((shares.on_gpu, shares.in_lanes), (points as u64, 0));
    }
}

#[test]
fn a_gpu_that_fails_stops_a_sweep_and_nothing_wrong_is_stored() {
    let Some(gpu) = gpu() else { return };
    let request = request(200);
    let mut sweep = on_gpu(&gpu, &request, 32);
    gpu.set("launches", 5);
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
    assert!(native.failure().is_some_and(|why| why.contains("unspecified launch failure")));
    // Gone on with on a GPU that works.
    sweep.native = on_gpu(&gpu, &request, 32).native;
    let (finished, counts) = go_on(&sweep, true);
    assert!(finished && counts == [("finished", 200)], "{counts:?}");
    let shares = sweep.native.as_ref().and_then(Native::shares).expect("it is a GPU");
    assert_eq!(shares.on_gpu, 200 - stored);
}

#[test]
fn lanes_compute_what_a_gpu_that_fails_leaves() {
    let Some(gpu) = gpu() else { return };
    let request = request(200);
    let whole = on_gpu(&gpu, &request, 32);
    let (_, truth) = run(&whole, 1);
    for fails_after in [0, 1, 5] {
        let mut sweep = on_gpu(&gpu, &request, 32);
        gpu.set("launches", fails_after);
        sweep.native = sweep.native.map(Native::or_lanes);
        let (finished, outcomes) = run(&sweep, 2);
        let native = sweep.native.as_ref().expect("native");
        let shares = native.shares().expect("it is a GPU");
        println!("after {fails_after}: {shares:?}");
        assert!(finished && native.failure().is_some());
        assert!(shares.on_gpu + shares.in_lanes == 200 && shares.in_lanes > 0, "{shares:?}");
        // (A launch that fails takes along what another worker has on the GPU just then.)
        assert!(fails_after == 1 || (shares.on_gpu > 0) == (fails_after > 0), "after {fails_after}: {shares:?}");
        assert_eq!(outcomes.len(), truth.len());
        for (k, (a, b)) in outcomes.iter().zip(&truth).enumerate() {
            assert!(a.status.is_ok() && a.impacts == b.impacts, "{k}: {a:?}");
            assert!((a.q[0] - b.q[0]).abs() < 1e-6 && (a.v[0] - b.v[0]).abs() < 1e-6, "{k}");
        }
    }
}

#[test]
fn exponents_that_a_gpu_leaves_are_computed_and_it_is_said() {
    let Some(gpu) = gpu() else { return };
    let sweep = on_gpu(&gpu, &request(3), 32);
    let problem = sweep.family.problem();
    let mut maker = sweep.family.maker();
    let motions: Vec<Motion> = (0..3)
        .map(|k| {
            let job = maker.job(k, None).job;
            (job.start, saltus::analysis::LyapunovOptions::blocks(job.strobe.expect("a period"), 5, 10))
        })
        .collect();
    for fails_after in [None, Some(0), Some(3)] {
        gpu.repair();
        gpu.set("launches", fails_after.unwrap_or(-1));
        let native = Native::compile_gpu(problem).expect("a GPU").with_width(32);
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
fn what_comes_back_from_a_gpu_does_not_depend_on_what_is_beside_it() {
    let Some(gpu) = gpu() else { return };
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
        let (finished, outcomes) = run(&on_gpu(&gpu, request, 64), 2);
        let (_, truth) = run(&on_gpu(&gpu, request, 1), 1);
        assert!(finished && outcomes == truth, "{k}");
        let kept = |o: &Outcome| o.hits.len() + o.strobe.len() + o.sections.len();
        assert!(truth.iter().all(|o| kept(o) > 5), "{k}");
    }
}

#[test]
fn the_last_states_are_kept_from_launch_to_launch() {
    let Some(gpu) = gpu() else { return };
    // (Instants of the stroboscope fill the log of a launch: what is wanted in the end may be older than the last launch, but for some of these.)
    for periods in 56..64 {
        let request = Request {
            sections: vec!["x':down".into(), "x - 0.2".into()],
            last: Some(8),
            strobe: true,
            periods: Some(periods.to_string()),
            ..request(20)
        };
        let sweep = on_gpu(&gpu, &request, 64);
        let (finished, outcomes) = run(&sweep, 1);
        let launches = sweep.native.as_ref().and_then(Native::spent).expect("it is a GPU").launches;
        assert!(finished && launches > 2, "{launches}");
        let (_, truth) = run(&on_gpu(&gpu, &request, 1), 1);
        assert!(outcomes == truth && truth.iter().all(|o| o.sections.len() == 2 * 8 * 4), "{periods}");
    }
}
