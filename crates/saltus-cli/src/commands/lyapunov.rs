//! `saltus lyapunov MODEL`: how fast neighbouring motions part or meet.

mod show;

pub use show::complex;

use crate::locate;
use crate::progress::{self, Bar};
use crate::setup::{Asked, ModelArgs, Refusal, StartArgs, listed, pairs};
use saltus::analysis::{Lyapunov, LyapunovOptions, NoExponents, lyapunov, period_of};
use saltus::{Problem, SetupError, Start};
use saltus_ensemble::Request;
use saltus_io::output;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Find the Lyapunov exponents of a motion: all of them, with their errors.
///
/// Perturbations travel with the motion through impacts, contact and switches, and are made
/// orthonormal again and again. A contact that begins takes directions away: exponents of −∞. A
/// motion that repeats itself has the exponents of its multipliers, without a statistical error.
///
/// Examples:
///
///   saltus lyapunov oscillator
///
///   saltus lyapunov oscillator --set s=0 --set e=0.9 --set w=3.1 --periods 5000
///
///   saltus lyapunov oscillator --set s=0 --over w=2.5:3:100 --out exponents.csv
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A model file, or the name of a shipped model (see `saltus models`)
    model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Start here instead of where the model says: x=0.3,x'=0; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    start: Vec<String>,
    /// An axis over a parameter or a start: w=0.5:1.5:500, w=log:0.1:10:50 or e=0.5,0.7,0.9; several make a product
    #[arg(long, value_name = "AXIS")]
    over: Vec<String>,
    /// For how many periods the motion is left to settle
    #[arg(long, value_name = "N", default_value_t = 200)]
    transient: u64,
    /// Over how many periods the mean is taken
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    periods: u64,
    /// The period, an expression of parameters [default: that of the forcing, else a hundredth of the model's run]
    #[arg(long, value_name = "T")]
    period: Option<String>,
    /// The relative tolerance of the motion
    #[arg(long, value_name = "X", default_value_t = 1e-10)]
    tol: f64,
    /// How many threads, with --over [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// Write a table with one row a point
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Say how long it takes, measured on a part of a few motions; write nothing
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
    job: Result<(Start, LyapunovOptions), String>,
}

/// What became of it.
type Outcome = Option<Result<Lyapunov, String>>;

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    if !(1e-14..=1e-2).contains(&args.tol) {
        let message = format!("the tolerance must be between 1e-14 and 1e-2, not {}", args.tol);
        return Err(SetupError::new(message).into());
    }
    if let Some(path) = args.out.as_ref().filter(|_| !args.dry_run) {
        output::prepare_file(path).map_err(|e| SetupError::new(e.to_string()))?;
    }
    let (problem, names, points) = if args.over.is_empty() { one(args)? } else { family(args)? };
    if args.dry_run {
        return Ok(dry(args, &problem, &points));
    }
    let outcomes = run(args, &problem, &points);
    // One motion: what is wrong with it is wrong with the command.
    if names.is_empty()
        && let Some(Some(Err(why))) = outcomes.first()
    {
        let mut error = SetupError::new(why.clone());
        if why.contains("derivatives") {
            error = error
                .help("exponents need derivatives all along the motion: docs/lyapunov.md says where there are none");
        }
        return Err(error.into());
    }
    let shown = show::Shown { problem: &problem, names: &names, points: &points, outcomes: &outcomes };
    if let Some(path) = &args.out {
        progress::saving(|| output::write_file(path, |file| shown.write(file)))
            .map_err(|e| SetupError::new(e.to_string()))?;
    }
    if args.json {
        shown.json()
    } else {
        shown.print(args.out.as_deref())
    }
    Ok(if progress::is_stopped() { ExitCode::from(progress::INTERRUPTED) } else { ExitCode::SUCCESS })
}

type Points = (Problem, Vec<String>, Vec<Point>);

fn blocks(args: &Args, block: f64) -> LyapunovOptions {
    let mut options = LyapunovOptions::blocks(block, args.transient as usize, args.periods as usize);
    options.tolerance = args.tol;
    options
}

/// The motion of the model itself.
fn one(args: &Args) -> Result<Points, Refusal> {
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
    Ok((problem, Vec::new(), vec![point]))
}

/// A family of motions.
fn family(args: &Args) -> Result<Points, Refusal> {
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
    let sweep = request.sweep(file)?;
    const MOST: u64 = 1_000_000;
    if sweep.family.len() > MOST {
        let message = format!("{} points are too many: at most {MOST}", sweep.family.len());
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
    Ok((sweep.family.problem().clone(), names, points))
}

/// `--dry-run`: how long it takes, from a part of the time of a few motions.
fn dry(args: &Args, problem: &Problem, points: &[Point]) -> ExitCode {
    const PART: f64 = 20.0;
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);
    let (started, mut measured, mut share) = (std::time::Instant::now(), 0, 0.0);
    // (From the middle of each of a few parts of the points.)
    let few = points.len().min(8);
    for k in 0..few {
        if let Ok((start, options)) = &points[(2 * k + 1) * points.len() / (2 * few)].job {
            let mut short = options.clone();
            short.transient = options.transient / PART;
            short.time = (options.time / PART).max(2.0 * options.block);
            share += (short.transient + short.time) / (options.transient + options.time);
            let _ = lyapunov(problem, start, &short, &mut |_| !progress::is_stopped());
        }
        measured += 1;
        if started.elapsed() >= PATIENCE || progress::is_stopped() {
            break;
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
            crate::text::out!("{}\n", crate::text::count(points.len() as u64, "motion"));
            crate::text::out!(
                "about {whole} on {threads} threads at most ({one} each, measured on a part of {measured}); motions that repeat\n"
            );
            crate::text::out!("themselves take less\n");
        }
    }
    ExitCode::SUCCESS
}

/// All motions, on all cores.
fn run(args: &Args, problem: &Problem, points: &[Point]) -> Vec<Outcome> {
    let threads = args.threads().min(points.len().max(1));
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let outcomes: Mutex<Vec<Outcome>> = Mutex::new(points.iter().map(|_| None).collect());
    let bar = Mutex::new(Bar::new(args.json));
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
