//! Families of motions on a GPU: kernel time per period of a trajectory, and how far the results are from those of the processor.
//!
//! ```text
//! cargo run --release -p saltus-bench --bin gpu [-- A B … steps valve]
//! cargo run --release -p saltus-bench --bin gpu -- --emit FOLDER
//! cargo run --release -p saltus-bench --bin gpu -- around
//! cargo run --release -p saltus-bench --bin gpu -- shipped [POINTS [MODEL …]]
//! cargo run --release -p saltus-bench --bin gpu -- stream [TRAJECTORIES]
//! ```
//!
//! Where there is no GPU, kernels run on the processor (`saltus-mock-gpu`): times mean nothing then, but for those of `around`.
//!
//! The five problems of `ensemble`, 262 144 trajectories × 100 periods, with frequencies in order (neighbours take nearly the same
//! steps) and in random order. Then fixed steps of the first one, 200 in a period, by each scheme that has them (`steps` for these alone), and
//! the relief valve of MPGOS: 30 720 flows × 1024 returns to the largest lift. The second form writes the CUDA source of each. The third measures what the processor does for each trajectory before and
//! after the kernel. The fourth compares all shipped models with the processor, at random points; the fifth streams the final states
//! of very many trajectories.

#[path = "../../problems.rs"]
mod problems;
mod shipped;
mod stream;

use problems::{PROBLEMS, VALVE, problem, valve};
use saltus::Problem;
use saltus_ensemble::store::{Piece, Store};
use saltus_ensemble::{
    Block, Engine, Job, Native, Outcome, Plan, Request, StepWorker, Target, Wanted, Worker, devices,
};
use saltus_io::output::Format;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const TRAJECTORIES: usize = 1 << 18;
const PERIODS: f64 = 100.0;
const SCHEMES: [&str; 3] = ["moreau-jean", "mabrouk", "paoli-schatzman"];
/// Fixed steps in a period.
const STEPS: f64 = 200.0;
/// The tutorial of MPGOS has as many.
const VALVES: usize = 30_720;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if let [first, folder] = &chosen[..]
        && first == "--emit"
    {
        for (name, text, ..) in PROBLEMS.into_iter().chain([("V", VALVE, 0.0, 0.0)]) {
            let name = &name[..1];
            let source = Native::cuda(&problem(text)).expect("source");
            std::fs::write(Path::new(folder).join(format!("{name}.cu")), source).expect("written");
        }
        for scheme in SCHEMES {
            let source = Native::cuda_for(&problem(PROBLEMS[0].1), Some(scheme)).expect("source");
            std::fs::write(Path::new(folder).join(format!("A-{scheme}.cu")), source).expect("written");
        }
        return;
    }
    if let Err(why) = devices() {
        println!("{why}: kernels run on the processor instead");
        saltus_mock_gpu::load();
    }
    let first = chosen.first().map_or("", String::as_str);
    let count = |default: u64| chosen.get(1).map_or(default, |text| text.parse().expect("a number"));
    match first {
        "around" => return around(),
        "shipped" => return shipped::compare(count(100_000) as usize, chosen.get(2..).unwrap_or_default()),
        "stream" => return stream::stream(count(100_000_000)),
        _ => {}
    }
    if chosen.is_empty() || chosen.iter().any(|word| word == "valve") {
        returns();
    }
    println!(
        "{:4} {:7} {:>9} {:>11} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9}",
        "", "order", "tolerance", "per second", "kernel s", "whole s", "compile s", "steps", "handed", "99 %"
    );
    for (name, text, low, high) in PROBLEMS {
        let name = &name[..1];
        if !chosen.is_empty() && !chosen.iter().any(|letter| letter == name) {
            continue;
        }
        let problem = problem(text);
        let begun = Instant::now();
        let native = match Native::compile_gpu(&problem) {
            Ok(native) => native.with_width(TRAJECTORIES),
            Err(why) => {
                println!("{name}: {why}");
                continue;
            }
        };
        let compile = begun.elapsed().as_secs_f64();
        for tolerance in [1e-8, 1e-10] {
            for order in ["sorted", "random"] {
                let jobs = jobs(&problem, low, high, PERIODS, order == "random");
                let wanted = Arc::new(Wanted { tolerance, ..Wanted::default() });
                let mut worker = native.worker(&problem, tolerance, &Arc::default());
                drop(worker.run(&jobs[..1024], &wanted));
                let (before, begun) = (native.spent().unwrap_or_default(), Instant::now());
                let outcomes = worker.run(&jobs, &wanted);
                let (whole, after) = (begun.elapsed().as_secs_f64(), native.spent().unwrap_or_default());
                let handed = outcomes.iter().filter(|o| o.engine != Engine::Lanes).count();
                let kernel = after.seconds - before.seconds;
                println!(
                    "{name:4} {order:7} {tolerance:>9.0e} {:>11.2e} {kernel:>10.4} {whole:>10.3} {compile:>9.2} {:>9} {handed:>9} {:>9.1e}",
                    TRAJECTORIES as f64 * PERIODS / kernel,
                    after.longest,
                    error(&problem, &native, low, high, tolerance)
                );
            }
        }
    }
    if chosen.is_empty() || chosen.iter().any(|word| word == "steps") {
        SCHEMES.into_iter().for_each(fixed_steps);
    }
}

/// Steps of a scheme per second of kernel time.
fn fixed_steps(scheme: &str) {
    let (_, text, low, high) = PROBLEMS[0];
    let problem = problem(text);
    let native = match Native::compile_for(&problem, Some(scheme), Target::Gpu) {
        Ok(native) => native.with_width(TRAJECTORIES),
        Err(why) => {
            println!("A by {scheme}: {why}");
            return;
        }
    };
    for order in ["sorted", "random"] {
        let mut jobs = jobs(&problem, low, high, PERIODS, order == "random");
        let period = |job: &Job| std::f64::consts::TAU / job.start.parameters[0];
        jobs.iter_mut().for_each(|job| job.step = Some(period(job) / STEPS));
        let wanted = Arc::new(Wanted { tolerance: 1e-10, scheme: Some(scheme.into()), ..Wanted::default() });
        let mut worker = native.worker(&problem, 1e-10, &Arc::default());
        drop(worker.run(&jobs[..1024], &wanted));
        let (before, begun) = (native.spent().unwrap_or_default(), Instant::now());
        let outcomes = worker.run(&jobs, &wanted);
        let (whole, after) = (begun.elapsed().as_secs_f64(), native.spent().unwrap_or_default());
        let kernel = after.seconds - before.seconds;
        let again = outcomes.iter().filter(|o| o.engine != Engine::Steps).count();
        let impacts: u64 = outcomes.iter().map(|o| o.impacts).sum();
        // The first ten periods of some, in lanes as well.
        let mut short: Vec<Job> = jobs.iter().step_by(128).cloned().collect();
        short.iter_mut().for_each(|job| job.end = 10.0 * period(job));
        let mut lanes = StepWorker::<16>::new(&problem, &wanted, &Arc::default()).expect("its flight is linear");
        let off = |(a, b): (&Outcome, &Outcome)| (a.q[0] - b.q[0]).abs().max((a.v[0] - b.v[0]).abs());
        let mut apart: Vec<f64> =
            worker.run(&short, &wanted).iter().zip(&lanes.run(&short, &wanted)).map(off).collect();
        apart.sort_by(f64::total_cmp);
        println!(
            "A by {scheme}, {order}: {:.2e} steps per second of kernel time, kernel {kernel:.4} s in {} launches, whole {whole:.3} s; \
             {:.2} impacts in a period, {again} made again; apart from lanes after ten periods {:.1e} median, {:.1e} at 99 %",
            TRAJECTORIES as f64 * PERIODS * STEPS / kernel,
            after.launches - before.launches,
            impacts as f64 / (TRAJECTORIES as f64 * PERIODS),
            apart[apart.len() / 2],
            apart[apart.len() * 99 / 100]
        );
    }
}

/// What one thread of the processor does for a trajectory that a kernel computes: with trajectories that are over in one step. The time of
/// kernels is left out.
fn around() {
    let request = Request { over: vec!["w=0.5:1.5:1000000".into()], end: Some("1e-3".into()), ..Request::default() };
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("read");
    let sweep = request.sweep(file).expect("a sweep");
    let native = Native::compile_gpu(sweep.family.problem()).expect("a GPU");
    let points = sweep.family.len();
    let each = |seconds: f64| seconds / points as f64 * 1e9;
    let kernel = || native.spent().map_or(0.0, |spent| spent.seconds);
    let dir = std::env::temp_dir().join(format!("saltus-around-{}", std::process::id()));
    let plan = Plan {
        family: &sweep.family,
        wanted: sweep.wanted.clone(),
        native: Some(native.clone()),
        threads: 1,
        stop: Arc::default(),
    };
    for _ in 0..3 {
        let begun = Instant::now();
        let mut maker = sweep.family.maker();
        let jobs: Vec<Job> = (0..1 << 14).map(|point| maker.job(point, None).job).collect();
        (1 << 14..points).for_each(|point| drop(std::hint::black_box(maker.job(point, None))));
        let made = begun.elapsed().as_secs_f64();
        let (begun, before) = (Instant::now(), kernel());
        let mut worker = native.worker(sweep.family.problem(), sweep.wanted.tolerance, &Arc::default());
        (0..points.div_ceil(1 << 14)).for_each(|_| drop(std::hint::black_box(worker.run(&jobs, &sweep.wanted))));
        let (run, inside) = (begun.elapsed().as_secs_f64(), kernel() - before);
        let mut store = Store::create(&dir, &sweep, (1, 1), false).expect("a directory");
        let layout = store.layout();
        let (begun, before) = (Instant::now(), kernel());
        let digest = |block: Block| layout.piece(&sweep.family, block);
        let all = 0..points;
        let mut deliver = |piece: Piece| store.take(piece);
        plan.run(std::slice::from_ref(&all), &digest, &mut deliver, &mut |_| {}).expect("a disk");
        store.flush().expect("a disk");
        let (whole, within) = (begun.elapsed().as_secs_f64(), kernel() - before);
        let begun = Instant::now();
        store.tables(&[Format::Npz], 1).expect("a disk");
        let tables = begun.elapsed().as_secs_f64();
        drop(store);
        std::fs::remove_dir_all(&dir).expect("removed");
        println!(
            "ns per trajectory: jobs {:.0}, worker {:.0} (and kernel {:.0}); all, stored: {:.0} (and kernel {:.0}); table {:.0}",
            each(made),
            each(run - inside),
            each(inside),
            each(whole - within),
            each(within),
            each(tables)
        );
    }
}

fn jobs(problem: &Problem, low: f64, high: f64, periods: f64, mixed: bool) -> Vec<Job> {
    let job = |k: usize| {
        // (An odd factor permutes the numbers below a power of two.)
        let place = if mixed { (k * 40_503 + 12_345) % TRAJECTORIES } else { k };
        let w = low + (high - low) * place as f64 / TRAJECTORIES as f64;
        let start = problem.start_with(&[("w", w)]).expect("a start");
        Job { start, from: 0.0, end: periods * std::f64::consts::TAU / w, strobe: None, step: None }
    };
    (0..TRAJECTORIES).map(job).collect()
}

/// The valve: kernel time for 1024 returns to the largest lift of each trajectory, of which the last 32 are kept, with the least lifts.
fn returns() {
    const RETURNS: u64 = 1024;
    let problem = problem(VALVE);
    let begun = Instant::now();
    let native = match Native::compile_gpu(&problem) {
        Ok(native) => native.with_width(VALVES),
        Err(why) => return println!("valve: {why}"),
    };
    let compile = begun.elapsed().as_secs_f64();
    let jobs = valve(&problem, VALVES, RETURNS);
    for tolerance in [1e-8, 1e-10] {
        let wanted = Wanted { tolerance, sections: true, returns: Some(RETURNS), last: Some(32), ..Wanted::default() };
        let wanted = Arc::new(wanted);
        let mut worker = native.worker(&problem, tolerance, &Arc::default());
        drop(worker.run(&jobs, &Arc::new(Wanted { returns: Some(8), ..(*wanted).clone() })));
        let (before, begun) = (native.spent().unwrap_or_default(), Instant::now());
        let outcomes = worker.run(&jobs, &wanted);
        let (whole, after) = (begun.elapsed().as_secs_f64(), native.spent().unwrap_or_default());
        let count = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| is(o)).count();
        println!(
            "valve, {VALVES} flows x {RETURNS} returns, tolerance {tolerance:.0e}: kernel {:.3} s in {} launches, whole {whole:.2} s, compiled in {compile:.2} s; \
             at most {} steps in a launch, {} impacts, {} trajectories with all returns, {} handed over, {} failed",
            after.seconds - before.seconds,
            after.launches - before.launches,
            after.longest,
            outcomes.iter().map(|o| o.impacts).sum::<u64>(),
            count(&|o| o.returns == RETURNS),
            count(&|o| o.engine != Engine::Lanes),
            count(&|o| !o.status.as_ref().is_ok_and(|status| status.is_complete())),
        );
    }
}

/// The 99th percentile of the difference from lanes with a tolerance of 1e-13 after ten periods.
fn error(problem: &Problem, native: &Native, low: f64, high: f64, tolerance: f64) -> f64 {
    let short: Vec<Job> = jobs(problem, low, high, 10.0, false).into_iter().step_by(256).collect();
    let run = |worker: &mut dyn Worker, tolerance: f64| {
        worker.run(&short, &Arc::new(Wanted { tolerance, ..Wanted::default() }))
    };
    let exact = saltus_ensemble::LaneWorker::<16>::new(problem, 1e-13, &Arc::default())
        .map(|mut worker| run(&mut worker, 1e-13))
        .unwrap_or_default();
    let found = run(native.worker(problem, tolerance, &Arc::default()).as_mut(), tolerance);
    let off = |(a, b): (&saltus_ensemble::Outcome, &saltus_ensemble::Outcome)| {
        a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let mut errors: Vec<f64> = exact.iter().zip(&found).map(off).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}
