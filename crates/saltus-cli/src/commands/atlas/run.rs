//! A family of the atlas: computed, written, drawn, and said in words.

use super::args::FamilyArgs;
use super::draw::{self, Drawn};
use super::preview;
use crate::commands::sweep;
use crate::commands::sweep::gpu::OnGpu;
use crate::progress::Bar;
use crate::setup::Refusal;
use crate::text::{BOLD, DIM, count, duration, grouped, number, out, printable};
use crate::{progress, report};
use saltus::SetupError;
use saltus_ensemble::atlas::{At, Exponents, Picture, Tables, Transition};
use saltus_ensemble::store::Store;
use saltus_ensemble::{Progress, Sweep};
use saltus_io::output::Format;
use saltus_report::AtlasReport;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Tables with more rows than this are not written as CSV.
const LONG: u64 = 300_000;
/// Changes that are printed.
const SHOWN: usize = 12;

/// What was found.
struct Found<'a> {
    args: &'a FamilyArgs,
    sweep: &'a Sweep,
    drawn: Drawn,
    transitions: Vec<Transition>,
    /// How many trajectories ended in which way, and the first that has a reason for it.
    counts: Vec<(&'static str, u64)>,
    complaint: Option<(u64, String)>,
    /// All impacts that were counted.
    impacts: u64,
    /// Trajectories that have no exponent; see [`Exponents::missing`].
    missing: Option<(u64, usize, String)>,
    done: Progress,
    on_gpu: Option<OnGpu>,
    files: Vec<String>,
}

/// Computes a family, writes its tables and its picture, and says what was found.
/// With `exponents`, those of all trajectories as well.
pub fn run(
    args: &FamilyArgs,
    sweep: &Sweep,
    picture: &Picture,
    name: &str,
    exponents: bool,
) -> Result<ExitCode, Refusal> {
    let dir = args.dir();
    if args.dry_run {
        let done = sweep::dry(sweep, (dir, (1, 1), args.resume), args.threads(), args.json)?;
        if exponents && !args.json {
            out!("computing the exponents takes at least as long again\n");
        }
        return Ok(done);
    }
    sweep::tell_if_new(dir, args.resume, args.json)?;
    let mut store = Store::create(dir, sweep, (1, 1), args.resume)?;
    if let (Some(_), Some(first)) = (sweep.family.carry(), store.missing().first()) {
        store.forget_from(first.start)?;
    }
    picture.write(dir).map_err(sweep::unwritten)?;
    let started = Instant::now();
    let (finished, mut done) = sweep::run(sweep, &mut store, args.threads(), args.json)?;
    sweep::gpu::lost(sweep.native.as_ref())?;
    if !finished {
        return Ok(interrupted(args, &done));
    }
    let on_gpu = OnGpu::of(sweep, &done, args.threads());
    // (Long tables are for programs: CSV would be several times as large.)
    let formats = if store.longest() > LONG { &[Format::Npz][..] } else { &[Format::Npz, Format::Csv] };
    let mut files = progress::saving(|| store.tables(formats, args.threads())).map_err(sweep::unwritten)?;
    let tables = Tables::open(dir)?;
    let mut missing = None;
    if exponents {
        let Some(found) = largest_exponents(&tables, args.threads(), args.json)? else {
            return Ok(interrupted(args, &done));
        };
        files.push(progress::saving(|| found.write(dir)).map_err(sweep::unwritten)?);
        missing = found.missing;
    }
    // (That of the exponents included.)
    done.seconds = started.elapsed().as_secs_f64();
    let drawn = draw::drawn(dir, picture, &tables)?;
    let is_shown = drawn.left_out.0 < drawn.left_out.1;
    let is_computed = |(word, _): &(&str, u64)| !matches!(*word, "refused" | "failed");
    if drawn.chart.is_empty() || (!is_shown && store.counts()?.iter().any(is_computed)) {
        return Err(nothing(&store, picture, drawn.left_out).into());
    }
    let transitions = drawn.diagram.as_ref().map(|d| d.transitions()).unwrap_or_default();
    let (counts, complaint, impacts) = (store.counts()?, store.complaint()?, store.impacts()?);
    let mut found = Found { args, sweep, drawn, transitions, counts, complaint, impacts, missing, done, on_gpu, files };
    let page = saltus_report::atlas(found.report());
    let pictures = draw::save(dir, name, &found.drawn.chart, &page)?;
    found.files.extend(pictures);
    if args.json {
        found.print_json()
    } else {
        found.print()
    }
    let none = found.counts.iter().all(|(word, _)| matches!(*word, "refused" | "failed"));
    Ok(if none { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn interrupted(args: &FamilyArgs, done: &Progress) -> ExitCode {
    match args.json {
        true => crate::text::print_json(&json!({ "complete": false, "computed": done.done })),
        false => out!("interrupted: repeat the command with --resume to continue\n"),
    }
    ExitCode::from(progress::INTERRUPTED)
}

/// The largest exponents of all trajectories; None if it was stopped.
fn largest_exponents(tables: &Tables, threads: usize, quiet: bool) -> Result<Option<Exponents>, SetupError> {
    let (stop, bar) = (AtomicBool::new(false), Mutex::new(Bar::new(quiet)));
    let total = tables.sweep.family.len();
    let found = Exponents::compute(tables, threads, &stop, &|done| {
        if progress::is_stopped() {
            stop.store(true, Ordering::Relaxed);
        }
        if let Ok(mut bar) = bar.lock() {
            bar.counted(done as u64, total, "exponents");
        }
    });
    if let Ok(bar) = bar.into_inner() {
        bar.finish();
    }
    found
}

/// Why there is nothing to draw.
fn nothing(store: &Store, picture: &Picture, left_out: (u64, u64)) -> SetupError {
    if let Some(error) = draw::no_numbers(left_out).filter(|_| !matches!(picture, Picture::Map { .. })) {
        return error;
    }
    if let Ok(Some((point, reason))) = store.complaint() {
        let message = format!("no trajectory has anything to show; point {point}: {reason}");
        return SetupError::new(message).help("the table `points` gives the reason for each");
    }
    let (message, help) = match picture {
        Picture::Bifurcation { at: At::Impacts, .. } | Picture::Section { at: At::Impacts, .. } => (
            "there are no impacts after the transient",
            "sample once per period, --at strobe, or choose other parameters",
        ),
        _ => ("the section is not crossed after the transient", "choose another expression, or more periods"),
    };
    SetupError::new(message).help(help)
}

impl Found<'_> {
    /// The parameter of a diagram.
    fn parameter(&self) -> &str {
        self.drawn.diagram.as_ref().map_or("", |d| d.parameter.as_str())
    }

    /// Which motions have no exponent, and why.
    fn without_exponent(&self) -> Option<String> {
        let (missing, first, why) = self.missing.as_ref()?;
        Some(format!("no exponent for {}; point {first}: {why}", draw::trajectories(*missing)))
    }

    fn report(&self) -> AtlasReport<'_> {
        let parameter = self.parameter();
        let ends = [format!("{parameter} from"), format!("{parameter} to")];
        let heads = ["branch", "before", "after"].map(str::to_string).into_iter().chain(ends).collect();
        let row = |t: &Transition| {
            vec![t.branch.clone(), t.before.to_string(), t.after.to_string(), number(t.from, 8), number(t.to, 8)]
        };
        AtlasReport {
            title: self.sweep.file.title(),
            subtitle: &self.drawn.subtitle,
            origin: report::origin(&self.sweep.file),
            chart: &self.drawn.chart,
            // (Nothing that another run of the same command would change.)
            tiles: vec![
                ("trajectories", grouped(self.sweep.family.len())),
                ("impacts", grouped(self.impacts)),
                ("tolerance", number(self.sweep.wanted.tolerance, 2)),
            ],
            findings: self
                .complaint
                .iter()
                .map(|(point, reason)| format!("point {point}: {reason}"))
                .chain(self.without_exponent())
                .chain(draw::without(self.drawn.left_out))
                .collect(),
            table: ("Transitions".into(), heads, self.transitions.iter().map(row).collect()),
        }
    }

    fn print_json(&self) {
        let change = |t: &Transition| {
            let (before, after) = (t.before.to_string(), t.after.to_string());
            json!({ "branch": t.branch, "before": before, "after": after, "from": t.from, "to": t.to })
        };
        let complaint = self.complaint.as_ref().map(|(point, reason)| json!({ "point": point, "reason": reason }));
        let status: serde_json::Map<_, _> =
            self.counts.iter().map(|(word, n)| ((*word).to_string(), json!(n))).collect();
        crate::text::print_json(&json!({
            "model": self.sweep.file.name, "picture": self.drawn.subtitle, "trajectories": self.sweep.family.len(),
            "parameter": self.parameter(), "status": status, "first_complaint": complaint,
            "without_exponent": self.missing.as_ref().map(|(n, point, reason)| json!({ "trajectories": n, "point": point, "reason": reason })),
            "values": self.drawn.left_out.1, "left_out": self.drawn.left_out.0,
            "transitions": self.transitions.iter().map(change).collect::<Vec<_>>(), "impacts": self.impacts,
            "seconds": self.done.seconds, "gpu": self.on_gpu.as_ref().map(OnGpu::json),
            "out": self.args.dir().display().to_string(), "files": self.files,
        }));
    }

    fn print(&self) {
        out!("{BOLD}{}{BOLD:#}\n", printable(self.sweep.file.title()));
        out!("{}\n", printable(&self.drawn.subtitle));
        let words: Vec<String> = self.counts.iter().map(|(word, n)| format!("{} {word}", grouped(*n))).collect();
        out!("{}: {}\n", draw::trajectories(self.sweep.family.len()), words.join(", "));
        if let Some((point, reason)) = &self.complaint {
            out!("point {point}: {}\n", printable(reason));
        }
        self.without_exponent().iter().for_each(|line| out!("{}\n", printable(line)));
        draw::without(self.drawn.left_out).iter().for_each(|line| out!("{line}\n"));
        out!("{} in {}\n", count(self.impacts, "impact"), duration(self.done.seconds));
        self.on_gpu.iter().flat_map(OnGpu::lines).for_each(|line| out!("{line}\n"));
        preview::print(&self.drawn.chart);
        for t in self.transitions.iter().take(SHOWN) {
            let branch = match t.branch.as_str() {
                "" => String::new(),
                name => format!("{DIM}{}{DIM:#} ", printable(name)),
            };
            out!("{branch}{} … {}: {} → {}\n", number(t.from, 7), number(t.to, 7), t.before, t.after);
        }
        if let Some(more @ 1..) = self.transitions.len().checked_sub(SHOWN) {
            out!("and {} on the page\n", count(more as u64, "more change"));
        }
        out!("wrote {} to {}\n", self.files.join(", "), self.args.dir().display());
    }
}
