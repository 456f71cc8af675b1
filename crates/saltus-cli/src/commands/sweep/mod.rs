//! `saltus sweep MODEL`: families of motions.

mod dry;
pub mod gpu;
mod points;
mod records;
pub mod report;
mod rerun;
mod sample;

use super::code::CodeArgs;
use super::merge::formats;
use crate::locate;
use crate::progress::{self, SweepBar};
use crate::setup::{Refusal, listed, pairs};
use saltus::SetupError;
use saltus_ensemble::store::{Piece, Store};
use saltus_ensemble::{Block, Carry, Native, Plan, Progress, Request, Sweep};
use saltus_io::output::{self, WriteError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run a family of motions over parameters, starts or samples.
///
/// Trajectories are computed event by event, or with the steps of --scheme, on all cores. The results
/// directory has points.npz and points.csv with one row per trajectory, and strobe, impacts and
/// sections if requested. --resume continues a sweep that was interrupted or killed.
///
/// Examples:
///
///   saltus sweep oscillator --over w=0.5:1.5:500 --transient 60 --periods 20 --impacts all --out sweep
///
///   saltus plot sweep --what speed --out speeds.svg
///
///   saltus sweep oscillator --over w=0.7:1.3:40 --over e=0.5,0.7,0.9 --settled --out map
///
///   saltus sweep oscillator --sample 1000 --vary "w=normal(1,0.05)" --design sobol --out cloud
///
///   saltus sweep pounding-record --records "ag=a.AT2,b.AT2" --out records
///
///   saltus sweep rerun sweep --point 123 --report point.html
#[derive(clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    sub: Option<Sub>,
    /// A model file, or the name of a shipped model (see `saltus models`)
    #[arg(required = true)]
    model: Option<String>,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Override the model's start: x=0.3,x'=0; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    start: Vec<String>,
    /// An axis over a parameter or a start (x, x'): a range w=0.5:1.5:500, a logarithmic range w=log:0.1:10:50, or a
    /// list e=0.5,0.7,0.9; several axes form a product, the first varies slowest
    #[arg(long, value_name = "AXIS", help_heading = "Points")]
    over: Vec<String>,
    /// Make one run per record and one table, records.csv: files for an input, ag=a.csv,b.AT2, or seeds for a random
    /// one, ag=seed:1,seed:2. Several inputs vary together and need lists of equal length. Also works for structures
    #[arg(long, value_name = "NAME=FILES", conflicts_with_all = ["over", "sample", "vary", "points", "carry", "assemble", "transient", "periods", "period", "strobe", "section", "returns", "last", "impacts", "stat", "settled", "tol", "emit_cuda", "resume", "shard", "format", "dry_run", "native", "device", "design", "seed"], help_heading = "Points")]
    records: Vec<String>,
    /// Draw N points from the distributions given by --vary
    #[arg(long, value_name = "N", help_heading = "Points")]
    sample: Option<u64>,
    /// What a sample varies: w=uniform(0.5,1.5) or w=normal(1,0.1); may be repeated
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "Points")]
    vary: Vec<String>,
    /// Sampling design
    #[arg(long, value_name = "WORD", default_value = "random", value_parser = ["random", "latin", "sobol"], requires = "sample", help_heading = "Points")]
    design: String,
    /// Random seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample", help_heading = "Points")]
    seed: u64,
    /// Points from a table, CSV or Parquet: its columns are named after parameters and starts, each row is a point
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    points: Option<PathBuf>,
    /// Start each point where its neighbour along the first axis ended: up, down, or both (up, then down)
    #[arg(long, value_name = "WAY", value_parser = ["up", "down", "both"], help_heading = "Points")]
    carry: Option<String>,
    /// Start from the nearest position and velocity that satisfy the joints
    #[arg(long, help_heading = "Points")]
    assemble: bool,
    /// Transient before anything is kept: a number of periods with --periods, otherwise a time
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Time")]
    transient: Option<String>,
    /// Number of periods to keep after the transient
    #[arg(long, value_name = "N", conflicts_with = "end", allow_hyphen_values = true, help_heading = "Time")]
    periods: Option<String>,
    /// The period, an expression of parameters [default: that of the forcing]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Time")]
    period: Option<String>,
    /// The end time, an expression of parameters [default: the model's]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Time")]
    end: Option<String>,
    /// End each trajectory at its N-th crossing of the first --section after the transient; --periods or --end limits the time
    #[arg(long, value_name = "N", requires = "section", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Time")]
    returns: Option<u64>,
    /// Keep the state once per period
    #[arg(long, help_heading = "What is kept")]
    strobe: bool,
    /// Keep the state at each zero of an expression: "x' - 1", with a direction "x':up" or "x':down"; may be repeated
    #[arg(long, value_name = "EXPR", help_heading = "What is kept")]
    section: Vec<String>,
    /// Keep only the last N states at each --section
    #[arg(long, value_name = "N", requires = "section", value_parser = clap::value_parser!(u64).range(1..1_000_000_000), help_heading = "What is kept")]
    last: Option<u64>,
    /// Keep the last N impacts, or all
    #[arg(long, value_name = "N", help_heading = "What is kept")]
    impacts: Option<String>,
    /// Keep minimum, maximum, mean and root mean square of an expression of t, x, x'; may be repeated
    #[arg(long, value_name = "EXPR", help_heading = "What is kept")]
    stat: Vec<String>,
    /// Classify what each trajectory settled on: rest, periodic, travelling, or neither
    #[arg(long, help_heading = "What is kept")]
    settled: bool,
    /// The relative tolerance [default: the model's, else 1e-10]
    #[arg(long, value_name = "X")]
    tol: Option<f64>,
    /// Use the time steps of a scheme instead of events: moreau-jean, paoli-schatzman, … (see `saltus schemes`)
    #[arg(long, value_name = "NAME", conflicts_with = "tol")]
    scheme: Option<String>,
    /// Time step for --scheme, an expression of parameters: 1e-3, "2*pi/w/1000" [default: the model's]
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    step: Option<String>,
    #[command(flatten)]
    code: CodeArgs,
    /// Write the CUDA source of the model to a file
    #[arg(long, value_name = "FILE.cu", help_heading = "Output")]
    emit_cuda: Option<PathBuf>,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// The directory for the results
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Continue the sweep in the --out directory
    #[arg(long, requires = "out", help_heading = "Output")]
    resume: bool,
    /// Run part k of N, for job arrays; `saltus merge` combines the parts
    #[arg(long, value_name = "k/N", help_heading = "Output")]
    shard: Option<String>,
    /// Table formats: npz, csv, parquet [default: npz,csv]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Output")]
    format: Vec<String>,
    /// Count the trajectories and estimate their run time and disk space from a few of them; write nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Sub {
    Rerun(rerun::Args),
}

impl Args {
    pub fn json(&self) -> bool {
        match &self.sub {
            Some(Sub::Rerun(args)) => args.json,
            None => self.json,
        }
    }

    fn request(&self) -> Result<Request, Refusal> {
        let split = listed(&self.start);
        Ok(Request {
            set: pairs("--set", &self.set, false)?,
            start: pairs("--start", &split, true)?,
            over: self.over.clone(),
            sample: self.sample,
            vary: self.vary.clone(),
            design: self.design.clone(),
            seed: self.seed,
            listed: self.points.as_deref().map(points::read).transpose()?,
            transient: self.transient.clone(),
            periods: self.periods.clone(),
            period: self.period.clone(),
            end: self.end.clone(),
            strobe: self.strobe,
            sections: self.section.clone(),
            returns: self.returns,
            last: self.last.map(|last| last as usize),
            impacts: self.impacts.clone(),
            statistics: self.stat.clone(),
            observe: Vec::new(),
            settled: self.settled,
            tolerance: self.tol,
            scheme: self.scheme.clone(),
            step: self.step.clone(),
            carry: self.carry.as_deref().map(|word| match word {
                "up" => Carry::Up,
                "down" => Carry::Down,
                _ => Carry::Both,
            }),
            assemble: self.assemble,
            ..Request::default()
        })
    }

    /// Which part is to be run, of how many.
    fn part(&self) -> Result<(u64, u64), SetupError> {
        let Some(text) = &self.shard else { return Ok((1, 1)) };
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
        let Some((k, n)) = numbers.filter(|&(k, n): &(u64, u64)| k >= 1 && k <= n) else {
            let message = format!("invalid part `--shard {text}`");
            return Err(SetupError::new(message).help("part k of N is k/N with 1 ≤ k ≤ N, such as  --shard 3/8"));
        };
        match self.carry.is_some() && n > 1 {
            true => Err(SetupError::new("--carry cannot be combined with --shard")
                .help("leave --shard out; independent rows still run in parallel")),
            false => Ok((k, n)),
        }
    }

    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |n| n as usize)
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    if let Some(Sub::Rerun(args)) = &args.sub {
        return rerun::main(args);
    }
    if !args.records.is_empty() {
        return records::main(args);
    }
    let formats = formats(&args.format)?;
    let part = args.part()?;
    let file = locate::model(args.model.as_deref().unwrap_or_default())?;
    let sweep = args.code.sweep(&args.code.of(args.request()?), file)?;
    if let Some(path) = &args.emit_cuda {
        let source = Native::cuda_for(sweep.family.problem(), sweep.wanted.scheme.as_deref());
        let source =
            source.map_err(|why| SetupError::new(format!("cannot generate CUDA source for this model: {why}")))?;
        write_source(path, &sweep, &source)?;
        if args.out.is_none() && !args.dry_run {
            match args.json {
                true => crate::text::print_json(&serde_json::json!({ "files": [path.display().to_string()] })),
                false => crate::text::out!("wrote {}\n", path.display()),
            }
            return Ok(ExitCode::SUCCESS);
        }
    }
    if args.dry_run {
        let dir = args.out.as_deref().unwrap_or(Path::new(""));
        return dry(&sweep, (dir, part, args.resume), args.threads(), args.json);
    }
    let Some(dir) = &args.out else {
        let help = "such as  --out sweep;  --dry-run computes only a few trajectories and writes nothing";
        return Err(SetupError::new("`--out` is missing: a sweep needs a directory for its results").help(help).into());
    };
    tell_if_new(dir, args.resume, args.json)?;
    let mut store = Store::create(dir, &sweep, part, args.resume)?;
    if let (Some(_), Some(first)) = (sweep.family.carry(), store.missing().first()) {
        store.forget_from(first.start)?;
    }
    let (finished, done) = run(&sweep, &mut store, args.threads(), args.json)?;
    gpu::lost(sweep.native.as_ref())?;
    let is_whole = part.1 == 1;
    let mut written = Vec::new();
    if finished && is_whole {
        written = progress::saving(|| store.tables(&formats, args.threads())).map_err(unwritten)?;
    }
    report::swept(&sweep, &store, &done, args.threads(), finished, &written, args.json)
}

/// Writes CUDA source; it replaces no file but one of CUDA source.
fn write_source(path: &Path, sweep: &Sweep, source: &str) -> Result<(), SetupError> {
    let help = "choose another name for the source";
    let fail = |e: WriteError| SetupError::new(e.to_string()).help(help);
    output::spare(path, sweep.file.sources()).map_err(fail)?;
    output::prepare_file(path).map_err(fail)?;
    let is_other = |there: Vec<u8>| !there.is_empty() && !String::from_utf8_lossy(&there).contains("saltus_kernel");
    if std::fs::read(path).is_ok_and(is_other) {
        let message = format!("`{}` holds something else than CUDA source", path.display());
        return Err(SetupError::new(message).help(help));
    }
    output::write_file(path, |file| file.write_all(source.as_bytes())).map_err(fail)
}

/// How long a part of a family takes in a directory, measured on a few; with `resume`, what is missing there.
pub fn dry(
    sweep: &Sweep,
    (dir, part, resume): (&Path, (u64, u64), bool),
    threads: usize,
    json: bool,
) -> Result<ExitCode, Refusal> {
    let there = Some(dir).filter(|dir| resume && !is_new(dir));
    let store = there.map(|dir| Store::begun(dir, sweep, part)).transpose()?;
    dry::main(sweep, part, store.map(|store| store.missing()), threads, json)
}

fn is_new(dir: &Path) -> bool {
    !dir.join("sweep.json").exists()
}

/// Says that there is nothing to go on with, where --resume was given and a directory is new. (Jobs of an array are all given it.)
pub fn tell_if_new(dir: &Path, resume: bool, quiet: bool) -> Result<(), SetupError> {
    if resume && !quiet && is_new(dir) {
        saltus_ensemble::store::vacant(dir)?;
        let what = if dir.exists() { "is empty" } else { "does not exist" };
        crate::text::complain(&format!("nothing to resume: `{}` {what}; starting from the beginning", dir.display()));
    }
    Ok(())
}

/// What could not be written: nothing that was is lost.
pub fn unwritten(e: WriteError) -> SetupError {
    SetupError::new(e.to_string()).help("the results so far are saved: --resume continues from there")
}

/// Runs what is missing. Whether everything was run, and how far it came.
pub fn run(sweep: &Sweep, store: &mut Store, threads: usize, quiet: bool) -> Result<(bool, Progress), SetupError> {
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan {
        family: &sweep.family,
        wanted: sweep.wanted.clone(),
        native: sweep.native.clone(),
        threads,
        stop: stop.clone(),
    };
    let missing = store.missing();
    let mut bar = SweepBar::new(quiet);
    let mut done = Progress::default();
    let mut watch = |progress: &Progress| {
        done = *progress;
        bar.report(progress);
        if progress::is_stopped() {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let layout = store.layout();
    let finished = match (sweep.family.carry(), missing.first()) {
        (_, None) => Ok(true),
        (None, _) => {
            let digest = |block: Block| layout.piece(&sweep.family, block);
            let mut deliver = |piece: Piece| progress::saving(|| store.take(piece));
            plan.run(&missing, &digest, &mut deliver, &mut watch)
        }
        (Some(_), Some(first)) => {
            // Rows are computed as a whole: one that was interrupted begins again.
            let row = sweep.family.points().row();
            let start = first.start / row * row;
            let before = match start {
                0 => Vec::new(),
                start => store.reached(sweep, start - row, row)?,
            };
            let digest = |block: Block| layout.piece(&sweep.family, block.since(first.start));
            let mut deliver = |piece: Piece| progress::saving(|| store.take(piece));
            plan.carry(start, before, &digest, &mut deliver, &mut watch)
        }
    };
    bar.finish();
    progress::saving(|| store.flush()).map_err(unwritten)?;
    Ok((finished.map_err(unwritten)?, done))
}
