//! `saltus lyapunov MODEL`: how fast neighbouring motions part or meet.

mod compiled;
mod keep;
mod show;

pub use show::complex;

use super::code::CodeArgs;
use super::sweep::gpu::OnGpu;
use crate::locate;
use crate::progress::{self, Bar};
use crate::setup::{Asked, ModelArgs, Refusal, StartArgs, listed, pairs};
use saltus::analysis::{Lyapunov, LyapunovOptions, NoExponents, lyapunov, period_of};
use saltus::{Problem, SetupError};
use saltus_ensemble::{Exponents, Motion, Request};
use saltus_io::output;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Compute all Lyapunov exponents of a motion, with error estimates.
///
/// Perturbations are carried through impacts, contact and switches and repeatedly orthonormalised.
/// A contact that begins removes directions: their exponents are −∞. The exponents of a periodic
/// motion follow from its multipliers, without statistical error.
///
/// Examples:
///
///   saltus lyapunov oscillator
///
///   saltus lyapunov oscillator --set s=0 --set e=0.9 --set w=3.1 --periods 5000
///
///   saltus lyapunov oscillator --set s=0 --over w=2.5:3:100 --out exponents.csv
///
///   saltus lyapunov oscillator --set s=0 --over w=2.5:3:1000 --native --out exponents.csv
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A model file, or the name of a shipped model (see `saltus models`)
    model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Override the model's start: x=0.3,x'=0; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    start: Vec<String>,
    /// An axis over a parameter or a start: w=0.5:1.5:500, w=log:0.1:10:50 or e=0.5,0.7,0.9; several axes form a product
    #[arg(long, value_name = "AXIS")]
    over: Vec<String>,
    /// Number of periods before averaging
    #[arg(long, value_name = "N", default_value_t = 200)]
    transient: u64,
    /// Number of periods to average over
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    periods: u64,
    /// The period, an expression of parameters [default: that of the forcing, else a hundredth of the model's run]
    #[arg(long, value_name = "T")]
    period: Option<String>,
    /// The relative tolerance of the motion
    #[arg(long, value_name = "X", default_value_t = 1e-10)]
    tol: f64,
    /// Number of threads, with --over [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    #[command(flatten)]
    code: CodeArgs,
    /// Write a table with one row per point
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Estimate the run time from parts of a few motions; write nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl Args {
    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |n| n as usize)
    }
}

/// Where a period is looked for in a model that does not say how long its runs last.
const UNKNOWN: f64 = 1000.0;

/// One motion: where it is on the axes, and what to do.
struct Point {
    values: Vec<f64>,
    job: Result<Motion, String>,
}

/// What became of it.
type Outcome = Option<Result<Lyapunov, String>>;

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    if !(1e-14..=1e-2).contains(&args.tol) {
        let message = format!("the tolerance must be between 1e-14 and 1e-2, not {}", saltus::text::exact(args.tol));
        return Err(SetupError::new(message).into());
    }
    if let Some(path) = args.out.as_ref().filter(|_| !args.dry_run) {
        keep::check(path)?;
    }
    let family = if args.over.is_empty() { one(args)? } else { family(args)? };
    let Family { problem, names, points, compiled, sources } = family;
    if args.dry_run {
        return Ok(dry(args, &problem, &points, compiled.as_ref()));
    }
    if let Some(path) = &args.out {
        let inputs = sources.iter().map(PathBuf::as_path);
        output::spare(path, inputs)
            .map_err(|e| SetupError::new(e.to_string()).help("choose another name for the table"))?;
    }
    let (outcomes, scalar) = match &compiled {
        None => (run(args, &problem, &names, &points), None),
        Some(compiled) => {
            let (outcomes, scalar) = compiled::run(args, compiled, (&problem, &names, &points));
            (outcomes, Some(scalar))
        }
    };
    // One motion: what is wrong with it is wrong with the command.
    if names.is_empty()
        && let Some(Some(Err(why))) = outcomes.first()
    {
        let mut error = SetupError::new(why.clone());
        if why.contains("derivatives") {
            let help = "exponents need derivatives along the whole motion: docs/derivatives.md says where they do not \
                        exist";
            error = error.help(help);
        }
        return Err(error.into());
    }
    let on_gpu = compiled.as_ref().and_then(OnGpu::of_exponents);
    let shown = show::Shown { problem: &problem, names: &names, points: &points, outcomes: &outcomes, scalar, on_gpu };
    // (What cannot be written is still shown.)
    let written = args.out.as_ref().map(|path| keep::write(path, &shown)).transpose();
    let (is_kept, unwritten) = match written {
        Ok(is_kept) => (is_kept == Some(true), None),
        Err(error) => (false, Some(error)),
    };
    if args.json {
        shown.json()
    } else {
        shown.print(args.out.as_deref().filter(|_| is_kept));
    }
    if let Some(error) = unwritten {
        return Err(Refusal::Unwritten(error));
    }
    let is_none = outcomes.iter().all(|outcome| matches!(outcome, Some(Err(_))));
    Ok(match (progress::is_stopped(), is_none) {
        (true, _) => ExitCode::from(progress::INTERRUPTED),
        (false, true) => ExitCode::FAILURE,
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Motions of a model, the names of their axes, and the compiled code that computes them if any does.
struct Family {
    problem: Problem,
    names: Vec<String>,
    points: Vec<Point>,
    compiled: Option<Exponents>,
    /// The files that were read.
    sources: Vec<PathBuf>,
}

fn blocks(args: &Args, block: f64) -> LyapunovOptions {
    let mut options = LyapunovOptions::blocks(block, args.transient as usize, args.periods as usize);
    options.tolerance = args.tol;
    options
}

/// The motion of the model itself.
fn one(args: &Args) -> Result<Family, Refusal> {
    if args.code.is_asked() && !args.code.is_optional() {
        return Err(SetupError::new("--native and --device need several motions")
            .help("leave --native or --device out, or give an axis, such as  --over w=2.5:3:100")
            .into());
    }
    let model = ModelArgs {
        model: args.model.clone(),
        set: args.set.clone(),
        input: Vec::new(),
        json: args.json,
        report: None,
    };
    let start = StartArgs { start: args.start.clone(), ..StartArgs::default() };
    let mut ready = model.ready(&Asked { start: Some(&start), end: args.period.as_ref(), ..Asked::default() })?;
    let start = ready.start().clone();
    let Some(problem) = ready.opened.system.as_problem().cloned() else {
        return Err(SetupError::new("exponents are not supported for structures")
            .help("a small structure can be written with coordinates and energies: docs/model-files.md")
            .into());
    };
    // (With --period, the end of the run is that expression.)
    let scheme = crate::setup::scheme(Some(&"auto".to_string()))?;
    ready.own_start = true;
    let block = match (&args.period, ready.opened.defaults.end) {
        (Some(_), _) => ready.options(scheme)?.end,
        (None, Some(end)) => {
            let span = end - start.t;
            period_of(&problem, &start, 10.0 * span).unwrap_or(span / 100.0)
        }
        // A model that says nothing about its runs needs no end where what drives it has a period.
        (None, None) => match period_of(&problem, &start, UNKNOWN) {
            Some(period) => period,
            None => ready.options(scheme)?.end / 100.0,
        },
    };
    let point = Point { values: Vec::new(), job: Ok((start, blocks(args, block))) };
    let sources = ready.file.sources().map(Path::to_path_buf).collect();
    Ok(Family { problem, names: Vec::new(), points: vec![point], compiled: None, sources })
}

/// A family of motions.
fn family(args: &Args) -> Result<Family, Refusal> {
    let split = listed(&args.start);
    let file = locate::model(&args.model)?;
    let mut request = Request {
        set: pairs("--set", &args.set, false)?,
        start: pairs("--start", &split, true)?,
        over: args.over.clone(),
        transient: Some(args.transient.to_string()),
        periods: Some(args.periods.to_string()),
        period: args.period.clone(),
        design: "random".into(),
        tolerance: Some(args.tol),
        ..Request::default()
    };
    let opened = file.changed(&saltus_io::Changes { set: request.set.clone(), ..Default::default() })?;
    if request.period.is_none() && !opened.system.model().depends_on_time() {
        let span = opened.defaults.end.unwrap_or(100.0) - opened.start.t;
        request.period = Some(format!("{}", span / 100.0));
    }
    // (There are no lanes for perturbations: a GPU is of use for few motions, too.)
    let sweep = args.code.sweep_of(&args.code.of(request), file, 0)?;
    const MOST: u64 = 1_000_000;
    if sweep.family.len() > MOST {
        let grouped = crate::text::grouped;
        let message = format!("too many points: {}, at most {}", grouped(sweep.family.len()), grouped(MOST));
        return Err(SetupError::new(message).into());
    }
    let mut maker = sweep.family.maker();
    let point = |k: u64| {
        let made = maker.job(k, None);
        let job = match (made.refusal, made.job.strobe) {
            (Some(why), _) => Err(why),
            (None, Some(block)) => Ok((made.job.start, blocks(args, block))),
            (None, None) => Err("the period is not known".into()),
        };
        Point { values: sweep.family.values(k), job }
    };
    let points = (0..sweep.family.len()).map(point).collect();
    let names = sweep.family.points().names().iter().map(|n| n.to_string()).collect();
    let compiled = compiled::prepare(args, &sweep)?;
    let sources = sweep.file.sources().map(Path::to_path_buf).collect();
    Ok(Family { problem: sweep.family.problem().clone(), names, points, compiled, sources })
}

/// `--dry-run`: how long it takes, from a part of the time of a few motions.
fn dry(args: &Args, problem: &Problem, points: &[Point], compiled: Option<&Exponents>) -> ExitCode {
    const PART: f64 = 20.0;
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);
    let (started, mut measured, mut share) = (std::time::Instant::now(), 0, 0.0);
    // (From the middle of each of a few parts of the points.)
    let few = points.len().min(if compiled.is_some() { 64 } else { 8 });
    let middle = |k: usize| points[(2 * k + 1) * points.len() / (2 * few)].job.clone();
    let shorter = |(start, options): Motion| {
        let mut short = options.clone();
        short.transient = options.transient / PART;
        short.time = (options.time / PART).max(2.0 * options.block);
        ((short.transient + short.time) / (options.transient + options.time), (start, short))
    };
    let all = (0..few).map(|k| middle(k).ok().map(shorter));
    if let Some(why) = points.first().and_then(|p| p.job.as_ref().err())
        && points.iter().all(|point| point.job.is_err())
    {
        match args.json {
            true => crate::text::print_json(&serde_json::json!({
                "motions": points.len(), "first_complaint": { "point": 0, "reason": why },
            })),
            false => crate::text::out!("none can start: {}\n", crate::text::printable(why)),
        }
        return ExitCode::FAILURE;
    }
    if let Some(compiled) = compiled {
        let (shares, motions): (Vec<f64>, Vec<Motion>) = all.flatten().unzip();
        (measured, share) = (few, shares.iter().sum());
        compiled::try_out(compiled, &motions);
    } else {
        for motion in all {
            if let Some((part, (start, options))) = motion {
                share += part;
                let _ = lyapunov(problem, &start, &options, &mut |_| !progress::is_stopped());
            }
            measured += 1;
            if started.elapsed() >= PATIENCE || progress::is_stopped() {
                break;
            }
        }
    }
    let threads = args.threads().min(points.len().max(1));
    let each = started.elapsed().as_secs_f64() / f64::max(share, 1e-9);
    let wall = each * points.len() as f64 / threads as f64;
    match args.json {
        true => crate::text::print_json(&serde_json::json!({
            "motions": points.len(), "measured": measured, "threads": threads, "seconds_per_motion": each, "seconds": wall,
        })),
        false => {
            let (whole, one) = (crate::text::duration(wall), crate::text::duration(each));
            let count = crate::text::count;
            crate::text::out!("{}\n", count(points.len() as u64, "motion"));
            crate::text::out!(
                "at most about {whole} on {} ({one} per motion, estimated from parts of {}); \
                 periodic motions take less\n",
                count(threads as u64, "thread"),
                count(measured as u64, "motion")
            );
        }
    }
    ExitCode::SUCCESS
}

/// All motions, on all cores.
fn run(args: &Args, problem: &Problem, names: &[String], points: &[Point]) -> Vec<Outcome> {
    let threads = args.threads().min(points.len().max(1));
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let outcomes: Mutex<Vec<Outcome>> = Mutex::new(points.iter().map(|_| None).collect());
    let bar = Mutex::new(Bar::new(args.json));
    let keeper = Mutex::new(keep::Keeper::new(args.out.as_deref()));
    const WHOLE: f64 = 1e6;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::SeqCst);
                    let Some(point) = points.get(k).filter(|_| !progress::is_stopped()) else { return };
                    let mut counted = 0;
                    let outcome = match &point.job {
                        Err(why) => Err(why.clone()),
                        Ok((start, options)) => {
                            let found = lyapunov(problem, start, options, &mut |share| {
                                let now = (WHOLE * share.clamp(0.0, 1.0)) as u64;
                                let step = done.fetch_add(now - counted.min(now), Ordering::SeqCst);
                                counted = now;
                                let t = start.t + share * (options.transient + options.time);
                                let total = WHOLE as u64 * points.len() as u64;
                                bar.lock().map_or(true, |mut bar| bar.advance(step, total, t, 0))
                            });
                            match found {
                                Err(NoExponents::Interrupted) => return,
                                other => other.map_err(|e| e.to_string()),
                            }
                        }
                    };
                    done.fetch_add(WHOLE as u64 - counted, Ordering::SeqCst);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes[k] = Some(outcome);
                        if let Ok(mut keeper) = keeper.lock() {
                            let shown =
                                show::Shown { problem, names, points, outcomes: &outcomes, scalar: None, on_gpu: None };
                            keeper.keep(|file| shown.write(file));
                        }
                    }
                }
            });
        }
    });
    if let Ok(bar) = bar.into_inner() {
        bar.finish();
    }
    outcomes.into_inner().unwrap_or_default()
}
