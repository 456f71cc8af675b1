//! `saltus basins MODEL`: which attractor each start leads to.

mod show;

pub use show::drawn;

use super::args::{StartText, starts};
use super::{draw, preview};
use crate::commands::code::CodeArgs;
use crate::commands::sweep::gpu::{OnGpu, lost};
use crate::commands::sweep::{tell_if_new, unwritten};
use crate::progress::{self, Bar};
use crate::setup::{Refusal, pairs};
use crate::text::{complain, count, duration, grouped, number, out, printable};
use crate::{locate, report};
use saltus::{Problem, SetupError};
use saltus_ensemble::atlas::Picture;
use saltus_ensemble::atlas::basins::{BasinPlan, Basins, Found, SavedBasins, cost, forget, is_begun};
use saltus_ensemble::store::{Lock, Manifest, axis_names, vacant};
use saltus_ensemble::{Request, Sweep};
use saltus_report::AtlasReport;
use serde_json::json;
use show::{attractors, findings, table, tell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Find the attractors of a system and the starts that lead to each of them.
///
/// Attractors are distinguished by what they are: rest, a periodic orbit with its impacts, a chaotic
/// set; motions that grow without bound and those that were not resolved have labels of their own.
/// Shares of the starts come with their confidence intervals, boundaries with their uncertainty
/// exponent (1 if smooth, less if fractal).
///
/// The directory has the attractors (basins.json), the attractor of each start (basins.npz), the
/// figure (basins.svg) and a page for any browser (basins.html), in which a click on a start copies
/// the command that runs it.
///
/// Examples:
///
///   saltus basins oscillator --set w=0.5 --start x=-3:1:400 --start "x'=-3:3:400" --out basins
///
///   saltus basins oscillator --set w=0.5 --start x=-3:1:1000 --start "x'=-3:3:1000" --refine --out fine
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A model file, or the name of a shipped model (see `saltus models`)
    model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Starts: a range x=-2:2:400 of a coordinate, a velocity x' or a state; two ranges make a picture, one a strip;
    /// y=0.3 fixes a start
    #[arg(long, value_name = "NAME=VALUES", required = true, allow_hyphen_values = true)]
    start: Vec<String>,
    /// Compute only starts near boundaries; the others take the attractor of their neighbours
    #[arg(long)]
    refine: bool,
    /// Maximum number of periods to follow a motion
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(64..=10_000_000), help_heading = "Time")]
    periods: u64,
    /// The period, an expression of parameters [default: that of the forcing]
    #[arg(long, value_name = "T", help_heading = "Time")]
    period: Option<String>,
    /// Without forcing: the time after which motions are compared with attractors [default: the model's end]
    #[arg(long, value_name = "T", help_heading = "Time")]
    end: Option<String>,
    /// The relative tolerance [default: the model's, else 1e-10]
    #[arg(long, value_name = "X")]
    tol: Option<f64>,
    #[command(flatten)]
    code: CodeArgs,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// The directory for the results
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Continue interrupted basins in the --out directory
    #[arg(long, requires = "out", help_heading = "Output")]
    resume: bool,
    /// Estimate a lower and an upper bound of the run time from a few starts; write nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl Args {
    /// The directory of the results. (Only a dry run has none.)
    fn dir(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(""))
    }

    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |n| n as usize)
    }

    fn sweep(&self) -> Result<Sweep, Refusal> {
        let file = locate::model(&self.model)?;
        let (mut fixed, mut over) = (Vec::new(), Vec::new());
        for text in starts(&self.start)? {
            match text {
                StartText::One(name, value) => fixed.push((name, value)),
                StartText::Axis(axis) => over.push(axis),
            }
        }
        if over.is_empty() {
            return Err(SetupError::new("only one start is given")
                .help("give ranges, such as  --start x=-2:2:400 --start \"x'=-2:2:400\"")
                .into());
        }
        let request = Request {
            set: pairs("--set", &self.set, false)?,
            start: fixed,
            over,
            // (As far as `saltus sweep rerun` follows a start.)
            transient: None,
            periods: Some("60".into()),
            period: self.period.clone(),
            tolerance: self.tol,
            ..Request::default()
        };
        let request = self.code.of(request);
        let error = match self.code.sweep(&request, file.clone()) {
            Ok(_) if self.end.is_some() => {
                return Err(SetupError::new("--end is for motions without forcing, and the period is known here")
                    .help("leave it out: motions are compared with attractors after some periods, --periods at most")
                    .into());
            }
            Ok(sweep) => return Ok(sweep),
            Err(error) => error,
        };
        if !error.error.message.contains("the period is not known: nothing depends on time") {
            return Err(error.into());
        }
        let model = file.family(&request.changes(), &saltus_io::FamilyText::default())?;
        // Where nothing is forced, motions return to where the first coordinate has a maximum; an angle that turns, to its zero.
        let first = &model.coordinates[0];
        let mut sections = vec![format!("{first}':down")];
        let turn: Vec<f64> = (0..model.degrees()).map(|i| if i == 0 { std::f64::consts::TAU } else { 0.0 }).collect();
        if Problem::unchecked(model.clone()).is_ok_and(|problem| problem.repeats_after(&problem.start(), &turn)) {
            sections.push(format!("sin({first}/2)"));
        }
        let timed = Request { periods: None, end: self.end.clone(), sections, ..request };
        Ok(self.code.sweep(&timed, file)?)
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let sweep = args.sweep()?;
    let dir = args.dir();
    if args.dry_run {
        return dry(args, &sweep);
    }
    let started = Instant::now();
    let mut files = Vec::new();
    let (_lock, there) = begin(args, &sweep)?;
    let (mut on_gpu, mut computing) = (None, None);
    if there.is_none() {
        let Some(basins) = computed(args, &sweep)? else {
            match args.json {
                true => crate::text::print_json(&json!({ "complete": false })),
                false => out!("interrupted: repeat the command with --resume to continue\n"),
            }
            return Ok(ExitCode::from(progress::INTERRUPTED));
        };
        let seconds = started.elapsed().as_secs_f64();
        on_gpu = OnGpu::of_basins(&sweep, &basins, (seconds, args.threads()));
        computing = Some(seconds);
        Picture::Basins.write(dir).map_err(unwritten)?;
        files = progress::saving(|| basins.write(dir, &sweep, args.threads())).map_err(unwritten)?;
        forget(dir);
    }
    let seconds = computing.unwrap_or_else(|| started.elapsed().as_secs_f64());
    let saved = there.map_or_else(|| SavedBasins::read(dir), Ok)?;
    let findings = findings(&saved);
    let axes = axis_names(&sweep.family).len();
    if saved.refused == sweep.family.len() {
        return Err(none_admissible(&sweep, dir).into());
    }
    if axes <= 2 {
        let drawn = drawn(dir, &saved, &sweep)?;
        let page = saltus_report::atlas(AtlasReport {
            title: sweep.file.title(),
            subtitle: &drawn.subtitle,
            origin: report::origin(&sweep.file),
            chart: &drawn.chart,
            tiles: vec![
                ("starts", grouped(sweep.family.len())),
                ("attractors", attractors(&saved).to_string()),
                ("tolerance", number(sweep.wanted.tolerance, 2)),
            ],
            findings: findings.clone(),
            table: table(&saved, &sweep),
        });
        files.extend(draw::save(dir, "basins", &drawn.chart, &page)?);
        if !args.json {
            preview::print(&drawn.chart);
        }
    }
    tell((dir, args.json), &sweep, (&saved, &findings), on_gpu.as_ref(), seconds, &files);
    if axes > 2 && !args.json {
        out!("no picture: it needs one or two ranges, not {axes}\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the directory. The basins that are finished there, which are then only drawn again.
fn begin(args: &Args, sweep: &Sweep) -> Result<(Lock, Option<SavedBasins>), Refusal> {
    let dir = args.dir();
    tell_if_new(dir, args.resume, args.json)?;
    let manifest = Manifest::new(sweep, (1, 1));
    // (Before the directory is locked, and again when no other command can begin there.)
    has_begun(args, &manifest)?;
    let lock = Lock::take(dir)?;
    if !has_begun(args, &manifest)? {
        manifest.write(dir).map_err(|e| SetupError::new(e.to_string()))?;
    }
    if !args.resume || !SavedBasins::is_in(dir) || is_begun(dir) {
        return Ok((lock, None));
    }
    let saved = SavedBasins::read(dir);
    if let (Err(why), false) = (&saved, args.json) {
        complain(&format!("{}; the basins are computed again", printable(&why.message)));
    }
    Ok((lock, saved.ok()))
}

/// Whether these basins were begun in the directory; a mistake where it is of others.
fn has_begun(args: &Args, manifest: &Manifest) -> Result<bool, Refusal> {
    let dir = args.dir();
    match Manifest::read(dir)?.filter(|_| args.resume) {
        Some(earlier) => {
            if let Some(difference) = earlier.difference(manifest) {
                let message = format!("the basins in `{}` differ from these: {difference}", dir.display());
                let help = "give the same options as before, or another directory";
                return Err(SetupError::new(message).help(help).into());
            }
            if !SavedBasins::is_in(dir) && dir.join("shards").exists() {
                let message = format!("`{}` holds a sweep, not basins", dir.display());
                return Err(SetupError::new(message).help("choose another directory").into());
            }
        }
        None => {
            if is_begun(dir) {
                let message = format!("`{}` contains unfinished basins", dir.display());
                let help = "continue with --resume, or choose another directory";
                return Err(SetupError::new(message).help(help).into());
            }
            if let Some(earlier) = Manifest::read(dir)? {
                let what = if earlier.difference(manifest).is_none() { "are basins" } else { "is a sweep" };
                let message = format!("there {what} in `{}` already", dir.display());
                let help = "--resume goes on with basins, or draws them again; or choose another directory";
                return Err(SetupError::new(message).help(help).into());
            }
            vacant(dir)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Computes the basins; None if that was interrupted.
fn computed(args: &Args, sweep: &Sweep) -> Result<Option<Basins>, Refusal> {
    let stop = Arc::new(AtomicBool::new(false));
    let plan = BasinPlan {
        sweep,
        threads: args.threads(),
        most: args.periods,
        refine: args.refine,
        keep: Some(args.dir()),
        resume: args.resume,
        stop: stop.clone(),
    };
    let mut bar = Bar::new(args.json);
    let watcher = watcher(&stop);
    let basins = plan.run(&mut |found: &Found| {
        bar.counted(found.done, found.total, &count(found.attractors as u64, "attractor"));
    });
    watcher.store(true, Ordering::Relaxed);
    bar.finish();
    let basins = basins?;
    lost(sweep.native.as_ref())?;
    Ok(basins)
}

/// `--dry-run`: between which times it takes. How long a motion takes to show what it is cannot be known before.
fn dry(args: &Args, sweep: &Sweep) -> Result<ExitCode, Refusal> {
    let cost = cost(sweep, sweep.native.as_ref(), PATIENCE)?;
    if cost.refused == cost.measured {
        let message = format!("none of {} tried is admissible", count(cost.measured as u64, "start"));
        return Err(SetupError::new(message).help("choose ranges in which no gap is negative").into());
    }
    let (starts, threads) = (sweep.family.len(), args.threads());
    let after = |periods: f64| cost.seconds_per_period * periods * starts as f64 / threads as f64;
    let (soon, late) = (after(SOON), after(args.periods as f64));
    if args.json {
        crate::text::print_json(&json!({
            "starts": starts, "measured": cost.measured, "refused": cost.refused, "threads": threads,
            "seconds_per_period": cost.seconds_per_period, "seconds": [soon, late],
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let threads = count(threads as u64, "thread");
    out!("{}\n", count(starts, "start"));
    out!("about {} on {threads}, if motions settle within {SOON} periods\n", duration(soon));
    out!("at most {}, if none settles within {} periods (--periods)\n", duration(late), args.periods);
    if args.refine {
        out!("--refine reduces this, the more so the shorter the boundaries\n");
    }
    if cost.refused > 0 {
        out!("not admissible: {} of {} tried\n", cost.refused, count(cost.measured as u64, "start"));
    }
    Ok(ExitCode::SUCCESS)
}

/// How long a few starts are tried.
const PATIENCE: Duration = Duration::from_secs(3);

/// Periods after which most motions are near an attractor where they come to one soon.
const SOON: f64 = 40.0;

/// The mistake of starts that all lie where no motion can begin.
fn none_admissible(sweep: &Sweep, out: &Path) -> SetupError {
    let why = format!("saltus sweep rerun {} --point 0", report::quoted(&out.display().to_string()));
    let none = match sweep.family.len() {
        1 => "the start is not admissible".to_string(),
        n => format!("none of the {} starts is admissible", grouped(n)),
    };
    SetupError::new(format!("{none}: there is nothing to draw"))
        .help(format!("choose ranges in which no gap is negative; for the reason of the first:  {why}"))
}

/// Passes an interruption on to the workers, until the flag it returns is set.
fn watcher(stop: &Arc<AtomicBool>) -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    let (stop, done) = (stop.clone(), ended.clone());
    std::thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            if progress::is_stopped() {
                stop.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    ended
}
