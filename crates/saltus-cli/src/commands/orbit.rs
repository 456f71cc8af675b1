//! `saltus orbit MODEL`: periodic motions, stable or not.

mod show;

use crate::done::Done;
use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{Asked, ModelArgs, Ready, Refusal, StartArgs, run_directory};
use saltus::analysis::{NoOrbit, Orbit, OrbitOptions, check_period, is_same_orbit, orbit, period_of, starts_around};
use saltus::{Options, Problem, SetupError, Start};
use saltus_io::output::Format;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Find a periodic orbit, stable or not: its events, its multipliers, its stability.
///
/// Newton's method on the map of one period, with its exact Jacobian through impacts and contact,
/// from where the motion settles, from a guess (--transient 0), or from many starts (--starts).
/// The period is that of what drives the model, or some of them; where nothing depends on time it
/// is found with the orbit. --out writes the orbit as a run, for `saltus plot` and all else.
///
/// Examples:
///
///   saltus orbit oscillator
///
///   saltus orbit oscillator --set s=0 --set w=2.7 --start "x=-0.4,x'=0" --transient 0 --multiple 1
///
///   saltus orbit oscillator --set w=0.8 --starts 50
///
///   saltus orbit oscillator --out results --report orbit.html
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    start: StartArgs,
    /// The period of what drives the model, an expression of parameters [default: as the model shows]. Where nothing depends
    /// on time: about how long an orbit takes
    #[arg(long, value_name = "T")]
    period: Option<String>,
    /// How many periods of what drives the model an orbit takes [default: as the motion shows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    multiple: Option<u64>,
    /// How long the motion is left to settle before: in periods, or where nothing depends on time a time [default: 100, or the model's run]
    #[arg(long, value_name = "N")]
    transient: Option<f64>,
    /// Only orbits that are their own mirror image after half a period, x(t + T/2) = -x(t): found by half of it
    #[arg(long)]
    symmetric: bool,
    /// Try so many starts, at random around the given one, and list all distinct orbits
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    starts: u64,
    /// The seed of the starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The relative tolerance of the motion
    #[arg(long, value_name = "X", default_value_t = 1e-13)]
    tol: f64,
    /// Write the (first) orbit as a run of this many periods [default: 1]
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Output")]
    periods: u64,
    /// Write the (first) orbit as a run into this directory
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let json = args.model.json;
    if !(1e-14..=1e-2).contains(&args.tol) {
        return Err(SetupError::new(format!(
            "the tolerance must be between 1e-14 and 1e-2, not {}",
            saltus::text::exact(args.tol)
        ))
        .into());
    }
    if args.transient.is_some_and(|x| !(x >= 0.0 && x.is_finite())) {
        return Err(SetupError::new("the transient must not be negative").into());
    }
    let mut ready =
        args.model.ready(&Asked { start: Some(&args.start), end: args.period.as_ref(), ..Asked::default() })?;
    let Some(problem) = ready.opened.system.as_problem().cloned() else {
        return Err(SetupError::new("orbits are not supported for structures")
            .help("a small structure can be written with coordinates and energies: docs/model-files.md")
            .into());
    };
    if let Some(dir) = &args.out {
        run_directory(dir, ready.file.sources())?;
    }
    if args.symmetric && !problem.model().depends_on_time() {
        return Err(SetupError::new("--symmetric is for models that are driven: nothing here depends on time").into());
    }
    if let Some(n) = args.multiple.filter(|n| args.symmetric && n.is_multiple_of(2)) {
        let message = format!(
            "no symmetric orbit takes {n} periods: after half of them what drives the model is the same, not its mirror image"
        );
        return Err(SetupError::new(message).help("give an odd number, or leave out --symmetric or --multiple").into());
    }
    let options = options(args, &mut ready, &problem)?;
    let start = ready.start().clone();
    let (orbits, refusals) = find(args, &problem, &start, &options);
    let Some(first) = orbits.first() else {
        return Err(refusal(args, &refusals));
    };
    let mut done = None;
    if args.out.is_some() || args.model.report.is_some() {
        done = Some(written(args, &mut ready, &problem, first)?);
    }
    let shown = show::Shown { problem: &problem, orbits: &orbits, tried: args.starts as usize, refusals: &refusals };
    if json {
        shown.json()
    } else {
        shown.print()
    }
    if let (Some(done), Some(path)) = (&done, &args.model.report) {
        let findings = vec![format!("A periodic orbit, {}.", first.stability().sentence())];
        let page = report::of_run(&ready, done, findings, (&[], &[])).map_err(Refusal::Unwritten)?;
        report::written(path, &page, json)?;
    }
    if let (Some(dir), false) = (&args.out, json) {
        crate::text::out!("\nwrote the orbit as a run to {}\n", dir.display());
    }
    Ok(if progress::is_stopped() { ExitCode::from(progress::INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn options(args: &Args, ready: &mut Ready, problem: &Problem) -> Result<OrbitOptions, Refusal> {
    let start = ready.start().clone();
    // (With --period, the end of the run is that expression.)
    let scheme = crate::setup::scheme(Some(&"auto".to_string()))?;
    let was_own = std::mem::replace(&mut ready.own_start, true);
    let is_forced = problem.model().depends_on_time();
    // (A model that says nothing about its runs needs no end where what drives it has a period.)
    let end = match (ready.opened.defaults.end, is_forced && args.period.is_none()) {
        (None, true) => start.t + 100.0,
        _ => ready.options(scheme)?.end,
    };
    ready.own_start = was_own;
    let span = (end - start.t).max(0.0);
    if args.period.is_some() && is_forced {
        check_period(problem, &start.parameters, end)?;
    }
    let period = match (&args.period, is_forced) {
        (Some(_), _) => Some(end),
        (None, true) => period_of(problem, &start, 10.0 * span),
        (None, false) => None,
    };
    if is_forced && period.is_none() {
        return Err(SetupError::new("what drives the model has no period that was recognised")
            .help("give it, such as  --period \"2*pi/w\"")
            .into());
    }
    let settles = match (is_forced, args.period.is_some()) {
        (true, _) => 100.0,
        (false, true) => 50.0 * end,
        (false, false) => span,
    };
    let transient = args.transient.unwrap_or(settles);
    Ok(OrbitOptions {
        period,
        multiple: args.multiple.map(|n| n as usize),
        transient,
        tolerance: args.tol,
        symmetric: args.symmetric,
    })
}

/// Distinct orbits, and why starts led to none.
fn find(args: &Args, problem: &Problem, start: &Start, options: &OrbitOptions) -> (Vec<Orbit>, Vec<NoOrbit>) {
    let lasts = options.period.map_or(options.transient.max(1.0), |p| 20.0 * p);
    let starts = match args.starts {
        1 => vec![start.clone()],
        n => starts_around(problem, start, lasts, n as usize, args.seed),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(starts.len());
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<Result<Orbit, NoOrbit>>>> = Mutex::new(starts.iter().map(|_| None).collect());
    let bar = Mutex::new(Bar::new(args.model.json));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::SeqCst);
                    let Some(start) = starts.get(k).filter(|_| !progress::is_stopped()) else { return };
                    let outcome = orbit(problem, start, options);
                    if let (Ok(mut found), Ok(mut bar)) = (found.lock(), bar.lock()) {
                        found[k] = Some(outcome);
                        bar.searched(k, starts.len());
                    }
                }
            });
        }
    });
    if let Ok(bar) = bar.into_inner() {
        bar.finish();
    }
    let (mut orbits, mut refusals): (Vec<Orbit>, Vec<NoOrbit>) = (Vec::new(), Vec::new());
    for outcome in found.into_inner().unwrap_or_default().into_iter().flatten() {
        match outcome {
            Ok(one) if orbits.iter().any(|other| is_same_orbit(problem, &one, other)) => {}
            Ok(one) => orbits.push(one),
            Err(refusal) => refusals.push(refusal),
        }
    }
    (orbits, refusals)
}

fn refusal(args: &Args, refusals: &[NoOrbit]) -> Refusal {
    let Some(first) = refusals.first() else { return Refusal::Interrupted };
    let help = match first {
        NoOrbit::NoPeriod { .. } => {
            "give about how long an orbit takes, such as  --period 6.3,  or let it settle longer (--transient)"
        }
        NoOrbit::AtRest => {
            "`saltus equilibria` finds where it rests; start farther away (--start), or give about how long an orbit takes (--period, --transient 0)"
        }
        NoOrbit::Map(_) => "start elsewhere (--start), or let the motion settle longer (--transient)",
        _ if args.starts == 1 => {
            "start nearer to it (--start, with --transient 0), try other numbers of periods (--multiple), or many starts (--starts 100)"
        }
        _ => "try more starts (--starts), other numbers of periods (--multiple), or starts elsewhere (--start)",
    };
    SetupError::new(first.to_string()).help(help).into()
}

/// The orbit as a run, with its files.
fn written(args: &Args, ready: &mut Ready, problem: &Problem, found: &Orbit) -> Result<Done, Refusal> {
    ready.opened.start = found.start.clone();
    ready.own_start = false;
    let end = found.start.t + args.periods as f64 * found.period;
    let options = Options::events(end).tolerance(args.tol).step(found.period / 1000.0);
    let started = Instant::now();
    let run = problem.run_from(&found.start, &options)?;
    let done = Done::new(ready, run, started.elapsed().as_secs_f64());
    if let Some(dir) = &args.out {
        progress::saving(|| done.write(ready, dir, &Format::DEFAULT)).map_err(|e| SetupError::new(e.to_string()))?;
    }
    Ok(done)
}
