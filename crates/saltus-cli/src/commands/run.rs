//! `saltus run MODEL`: integrate and say what happened.

use crate::diagnose;
use crate::progress::{self, Bar};
use crate::setup::{ModelArgs, Opened, Refusal, StructureArgs};
use crate::sketch;
use crate::text::{count, duration, grouped, number, out, tame};
use crate::{report, runner};
use anstyle::{AnsiColor, Style};
use saltus::analysis::{LongTime, Probe, ensemble, judge, long_time};
use saltus::scheme;
use saltus::{Ledger, Phase, PhaseKind, Problem, Run, RunOptions, SetupError, Status};
use saltus_io::output::{self, Format, Record, Summary};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Integrate a model and say what happened at the impacts.
///
/// Impacts are located, contacts held and accumulations of impacts passed to their limit;
/// --scheme chooses a time-stepping scheme instead. The summary gives the impacts, how well the
/// constraints and the impact law were kept, and the energy.
///
/// Examples:
///
///   saltus run ball-gravity
///
///   saltus run ball-gravity --set e=0.5 --end 2 --out results
///
///   saltus run rocking-block --plot
///
///   saltus run my-model.toml --step 1e-5 --every 100 --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The scheme (see `saltus schemes`) [default: the model's, else auto; for structures paoli-schatzman]
    #[arg(long)]
    pub scheme: Option<String>,
    /// The time step h: a number or an expression of parameters; by events, the interval at which instants are stored
    /// [default: the model's]
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub step: Option<String>,
    /// Store every N-th instant only; impacts are always kept
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,
    /// Stop where everything has come to rest; the end time is then at most a hundred times the model's
    #[arg(long)]
    pub until_rest: bool,
    /// Also run N perturbed starts and say whether the outcomes form one bundle or split
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..1_000_000))]
    pub probe: Option<u64>,
    /// The size of the perturbations, relative to the data (half of them have a tenth of it)
    #[arg(long, value_name = "SIZE", default_value_t = 1e-6)]
    probe_size: f64,
    /// The seed of the perturbations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Fail (exit code 3) where the ledger is beyond its tolerances: positions in K, the law, the energy balance
    #[arg(long)]
    pub strict: bool,
    /// Write trajectory.npz, trajectory.csv, impacts.csv, contacts.csv, energy.csv, run.json and, by events, timeline.csv into this
    /// directory; `saltus plot DIR` makes figures of them
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub structure: StructureArgs,
    /// The formats of the trajectory in that directory, joined by commas: npz (NumPy), csv, mat (MATLAB, Octave, SciPy),
    /// parquet (pandas; where the program was built with it) [default: npz,csv]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "out")]
    pub format: Vec<String>,
    /// Draw the coordinates over time as text, with the impacts marked on the axis
    #[arg(long, conflicts_with = "json")]
    pub plot: bool,
    /// With --plot: plain characters only
    #[arg(long, requires = "plot")]
    pub ascii: bool,
}

pub fn main(args: &Args) -> ExitCode {
    execute(args).unwrap_or_else(|refusal| refusal.show(args.model.json))
}

fn execute(args: &Args) -> Result<ExitCode, Refusal> {
    let json = args.model.json;
    let ready = match args.model.open(args.step.as_ref(), Some(&args.structure))? {
        Opened::Problem(ready) => *ready,
        Opened::Structure(ready) => return super::structure::run(args, *ready),
    };
    let scheme = match &args.scheme {
        Some(name) => scheme::find(name)?,
        None => ready.defaults.scheme.unwrap_or(&scheme::SCHEMES[0]),
    };
    let mut options = ready.options(scheme, None)?;
    options.every = args.every.unwrap_or(options.every);
    options.until_rest = args.until_rest;
    if args.until_rest && args.model.end.is_none() {
        options.end *= 100.0;
    }
    if args.probe.is_some() && !(args.probe_size > 0.0 && args.probe_size <= 0.1) {
        let message = format!("the size of the perturbations must be between 0 and 0.1, not {}", args.probe_size);
        return Err(SetupError::new(message).into());
    }
    let (file, problem, overrides) = (&ready.file, &ready.problem, &ready.overrides);
    let formats = match args.format.as_slice() {
        [] => Format::DEFAULT.to_vec(),
        names => names.iter().map(|n| Format::find(n)).collect::<Result<_, _>>()?,
    };
    if let Some(dir) = &args.out {
        output::prepare(dir).map_err(|e| SetupError::new(e.to_string()))?;
    }
    progress::listen();
    let mut bar = Bar::new(json);
    let started = Instant::now();
    let run = saltus::run(problem, &options, &mut |p| bar.report(p));
    let wall_s = started.elapsed().as_secs_f64();
    bar.finish();
    let run = run?;
    let ledger = Ledger::new(problem, &options, &run);
    let settled = long_time(problem, &options, &run);
    let probe = args.probe.map(|n| probed(problem, &options, n as usize, args));
    let summary = Summary::new(file, problem.model(), &options, &run, &ledger, wall_s);
    // Files first: whatever happens to the terminal, they are there.
    let mut unwritten = Vec::new();
    if let Some(dir) = &args.out {
        progress::saving();
        let record = Record::new(file, problem.model(), &options, overrides, summary.clone());
        unwritten
            .extend(output::write(dir, problem.model(), &run, &ledger, &record, &formats).err().map(|e| e.to_string()));
    }
    let findings: Vec<String> =
        told(problem, &settled).into_iter().chain(probe.as_ref().map(|p| p.sentence.clone())).collect();
    if let Some(path) = &args.model.report {
        progress::saving();
        let page = report::of_run(&ready, &options, &run, &ledger, wall_s, findings);
        unwritten.extend(page.and_then(|page| report::save(path, &page)).err().map(|e| e.message));
    }
    if json {
        let mut object = serde_json::to_value(&summary).unwrap_or_default();
        object["long_time"] = serde_json::json!(told(problem, &settled));
        if let Some(probe) = &probe {
            object["probe"] = serde_json::json!({
                "runs": probe.runs, "failed": probe.failed, "spread": [probe.spread.0, probe.spread.1], "splits": probe.splits,
                "parting": probe.parting.map(|(k, t)| serde_json::json!({ "impact": k, "t": t })),
                "groups": probe.groups.iter().map(|(n, q)| serde_json::json!({ "runs": n, "q": q })).collect::<Vec<_>>(),
                "sentence": probe.sentence,
            });
        }
        if !unwritten.is_empty() {
            object["error"] = serde_json::json!({ "message": unwritten.join("; ") });
        }
        out!("{object}\n");
    } else {
        print(problem, &options, &run, &summary, &ledger);
        if let Some(sentence) = told(problem, &settled) {
            out!("{sentence}\n");
        }
        if let Some(probe) = &probe {
            show_probe(problem, probe);
        }
        if args.plot {
            sketch::print(problem.model(), &run.trajectory, args.ascii);
        }
        if let (Some(dir), true) = (&args.out, unwritten.is_empty()) {
            let timeline = if run.timeline.phases.is_empty() { "" } else { "timeline.csv, " };
            let written = Format::ALL.into_iter().filter(|f| formats.contains(f));
            let written = written.flat_map(Format::files).map(|f| format!("{f}, ")).collect::<String>();
            out!("\nwrote {written}impacts.csv, contacts.csv, energy.csv, {timeline}run.json to {}\n", dir.display());
        }
        if let (Some(path), true) = (&args.model.report, unwritten.is_empty()) {
            report::tell(path);
        }
    }
    Ok(outcome(args, unwritten, &ledger.complaints(&options), &run.status))
}

/// Says what could not be written and, with --strict, what does not hold; the exit code.
pub fn outcome(args: &Args, unwritten: Vec<String>, complaints: &[String], status: &Status) -> ExitCode {
    let json = args.model.json;
    if !unwritten.is_empty() {
        for error in unwritten.into_iter().filter(|_| !json) {
            diagnose::plain(&SetupError::new(error), false);
        }
        return ExitCode::FAILURE;
    }
    if args.strict && !complaints.is_empty() && *status == Status::Finished {
        if !json {
            out!("\nstrict: {}\n", complaints.join("\nstrict: "));
        }
        return ExitCode::from(3);
    }
    match status {
        Status::Finished => ExitCode::SUCCESS,
        Status::Interrupted { .. } => ExitCode::from(130),
        Status::Failed(_) => ExitCode::FAILURE,
    }
}

/// How many impacts and contacts the summary shows.
const SHOWN: usize = 8;

fn print(problem: &Problem, options: &RunOptions, run: &Run, summary: &Summary, ledger: &Ledger) {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let model = problem.model();
    let reached = summary.last.as_ref().map_or(0.0, |s| s.t);
    out!("{bold}{}{bold:#}\n", tame(&model.title));
    let fineness = match options.scheme.stepping() {
        Some(_) => format!("h = {}", number(run.step, 6)),
        None => format!("tolerance {:e}", options.settings.tolerance),
    };
    out!("{dim}{}, {fineness}, t = 0 … {}{dim:#}\n", options.scheme.name, number(reached, 6));
    let per_step = summary.wall_s / run.steps.max(1) as f64;
    out!("{} in {}, {} a step\n\n", count(run.steps, "step"), duration(summary.wall_s), duration(per_step));
    if run.status != Status::Finished {
        out!("{yellow}{}{yellow:#}\n\n", run.status);
    }
    impacts(problem, run, bold, dim);
    story(problem, run, bold, dim);
    contacts(problem, run, dim);
    let audit = &run.audit;
    let instants = match options.scheme.stepping() {
        Some(_) => grouped(run.steps + 1),
        None => grouped(run.trajectory.len() as u64),
    };
    let worst = match audit.worst {
        Some((a, t)) => {
            let (depth, name, t) = (number(audit.max_violation, 3), tame(&model.constraints[a].name), number(t, 6));
            match audit.infeasible {
                0 => format!("{depth}, rounding  ({name} at t = {t})"),
                n => format!("{depth}  ({name} at t = {t}; {} of {instants} instants outside)", grouped(n)),
            }
        }
        None => "none".to_string(),
    };
    out!("largest violation    {worst}\n");
    if !run.trajectory.impacts.is_empty() {
        out!("impact law residual  {}\n", number(audit.worst_law_residual, 3));
    }
    let what = if model.potential.is_some() { "energy              " } else { "kinetic energy      " };
    let ended = rounded(audit.energy_end, audit.energy_start);
    out!("{what} {} → {}", number(audit.energy_start, 6), number(ended, 6));
    if !run.trajectory.impacts.is_empty() {
        let lost = audit.energy_lost_at_impacts;
        out!("   {} at impacts: {}", if lost < 0.0 { "gained" } else { "lost" }, number(lost.abs(), 6));
    }
    out!("\n");
    let balance = &ledger.balance;
    out!(
        "energy balance       work of the forces {}, open by {} of what was exchanged\n",
        number(rounded(balance.work, balance.exchanged), 6),
        number(balance.relative(), 2)
    );
    if let Some(last) = &summary.last {
        let shown = model.coordinates.len().min(6);
        let (far, fast) = extent(run);
        let state: Vec<String> = (0..shown)
            .map(|i| {
                let (q, v) = (rounded(last.q[i], far), rounded(last.v[i], fast));
                format!("{} = {} ({})", model.coordinates[i], number(q, 6), number(v, 6))
            })
            .collect();
        let more = if shown < model.coordinates.len() { ", …" } else { "" };
        out!("final state          {}{more}  {dim}position (velocity){dim:#}\n", state.join(", "));
    }
    for note in run.notes.iter().take(SHOWN) {
        out!("{dim}note: {}{dim:#}\n", tame(note));
    }
    if run.notes.len() > SHOWN {
        out!("{dim}… and {}{dim:#}\n", count((run.notes.len() - SHOWN) as u64, "more note"));
    }
    for meeting in ledger.meetings.iter().filter(|m| !m.continuous).take(3) {
        out!("{dim}note: {}{dim:#}\n", tame(&meeting.sentence));
    }
    for warning in &run.warnings {
        out!("{yellow}warning:{yellow:#} {}\n", tame(warning));
    }
}

/// Zero where a number is only what rounding left of `scale`; the files keep every digit.
pub fn rounded(x: f64, scale: f64) -> f64 {
    if x.abs() < 1e-13 * scale.abs() { 0.0 } else { x }
}

/// The largest position and velocity of a run.
fn extent(run: &Run) -> (f64, f64) {
    let largest = |m: f64, x: f64| m.max(x.abs());
    let far = run.trajectory.positions().iter().copied().fold(0.0, largest);
    (far, run.trajectory.velocities(saltus::Side::Left).fold(0.0, largest))
}

fn impacts(problem: &Problem, run: &Run, bold: Style, dim: Style) {
    let model = problem.model();
    let all = &run.trajectory.impacts;
    if model.constraints.is_empty() {
        out!("no constraints: free motion\n\n");
        return;
    }
    if all.is_empty() {
        out!("{bold}no impacts{bold:#}\n\n");
        return;
    }
    let more = if all.len() > SHOWN { format!(", the first {SHOWN}:") } else { ":".into() };
    out!("{bold}{}{bold:#}{more}\n", count(all.len() as u64, "impact"));
    let names: Vec<String> = all
        .iter()
        .take(SHOWN)
        .map(|i| i.constraints.iter().map(|&a| tame(&model.constraints[a].name)).collect::<Vec<_>>().join(" + "))
        .map(|name| if name.chars().count() > 32 { name.chars().take(31).chain(['…']).collect() } else { name })
        .collect();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(10);
    out!("{dim}       time         {:width$}  approach     impulse      energy change{dim:#}\n", "constraint");
    for (k, (impact, name)) in all.iter().zip(&names).enumerate() {
        let impulse: f64 = impact.impulses.iter().sum();
        out!(
            "{:>4}   {:<11}  {name:width$}  {:<11}  {:<11}  {}\n",
            k + 1,
            number(impact.t, 7),
            number(-impact.approach, 5),
            number(impulse, 5),
            number(impact.energy_change, 5)
        );
    }
    out!("\n");
}

/// What the run settled on, in a sentence; nothing if it did not.
fn told(problem: &Problem, settled: &LongTime) -> Option<String> {
    let model = problem.model();
    match settled {
        LongTime::Rest { since, closed, .. } => {
            let mut names: Vec<String> = closed.iter().take(4).map(|&a| tame(&model.constraints[a].name)).collect();
            if closed.len() > names.len() {
                names.push(format!("{} more", closed.len() - names.len()));
            }
            let on =
                if names.is_empty() { String::new() } else { format!(", in contact with {}", names.join(" and ")) };
            Some(format!("at rest since t = {}{on}", number(*since, 8)))
        }
        LongTime::Periodic { period, impacts, forcing, figure } => {
            let of = match forcing {
                Some(1) => ", that of the forcing".to_string(),
                Some(n) => format!(", {n} periods of the forcing"),
                None => String::new(),
            };
            Some(format!(
                "periodic to {}: period {}{of}, {} in it",
                number(*figure, 1),
                number(*period, 8),
                count(*impacts as u64, "impact")
            ))
        }
        LongTime::Neither => None,
    }
}

/// Runs the perturbed starts side by side.
fn probed(problem: &Problem, options: &RunOptions, n: usize, args: &Args) -> Probe {
    let starts = ensemble(problem, n, args.probe_size, args.seed);
    let jobs: Vec<(&Problem, RunOptions)> = starts
        .iter()
        .map(|s| (&s.problem, RunOptions { every: u64::MAX >> 12, until_rest: false, ..options.clone() }))
        .collect();
    let outcomes = runner::each(&jobs, args.model.json);
    let runs: Vec<(f64, Run)> =
        starts.iter().zip(outcomes).filter_map(|(s, o)| o.ok().map(|(run, _)| (s.size, run))).collect();
    judge(&runs)
}

fn show_probe(problem: &Problem, probe: &Probe) {
    let bold = Style::new().bold();
    out!("\n{bold}probe{bold:#}  {}\n", probe.sentence);
    if let Some((k, t)) = probe.parting {
        out!("       they part at impact {k}, t = {}\n", number(t, 6));
    }
    for (n, q) in probe.groups.iter().take(6).filter(|_| probe.splits) {
        let ends: Vec<String> = q
            .iter()
            .take(6)
            .zip(&problem.model().coordinates)
            .map(|(x, name)| format!("{name} = {}", number(*x, 5)))
            .collect();
        out!("       {} about {}\n", count(*n as u64, "run"), ends.join(", "));
    }
    if probe.failed > 0 {
        out!("       {} did not finish\n", count(probe.failed as u64, "run"));
    }
}

/// What an engine that locates events can tell: where impacts accumulated, where something grazed.
fn story(problem: &Problem, run: &Run, bold: Style, dim: Style) {
    let names = |phase: &Phase| {
        let names = phase.constraints.iter().map(|&a| tame(&problem.model().constraints[a].name));
        names.collect::<Vec<_>>().join(" and ")
    };
    let all: Vec<&Phase> = run.timeline.of(PhaseKind::Chatter).collect();
    for phase in all.iter().take(SHOWN) {
        out!(
            "{bold}bounced {} on {}{bold:#}, at ever shorter intervals, and stayed in contact from {bold}t = {}{bold:#} on  {dim}(limit ± {}){dim:#}\n",
            count(phase.impacts as u64, "time"),
            names(phase),
            number(phase.end, 10),
            number(phase.error, 1)
        );
    }
    if all.len() > SHOWN {
        out!("… and {}\n", count((all.len() - SHOWN) as u64, "more accumulation"));
    }
    let grazes: Vec<&Phase> = run.timeline.of(PhaseKind::Graze).collect();
    for phase in grazes.iter().take(SHOWN) {
        out!("grazed {} at t = {}\n", names(phase), number(phase.start, 8));
    }
    if grazes.len() > SHOWN {
        out!("… and {}\n", count((grazes.len() - SHOWN) as u64, "more graze"));
    }
    if !all.is_empty() || !grazes.is_empty() {
        out!("\n");
    }
}

fn contacts(problem: &Problem, run: &Run, dim: Style) {
    let all = &run.trajectory.contacts;
    for contact in all.iter().take(SHOWN) {
        let last = run.trajectory.t.last().copied().unwrap_or(0.0);
        let until = if contact.end >= last { "the end".to_string() } else { format!("t = {}", number(contact.end, 6)) };
        let name = tame(&problem.model().constraints[contact.constraint].name);
        out!(
            "contact with {name} from t = {} to {until}  {dim}impulse {}{dim:#}\n",
            number(contact.start, 6),
            number(contact.impulse, 5)
        );
    }
    if all.len() > SHOWN {
        out!("… and {}\n", count((all.len() - SHOWN) as u64, "more contact"));
    }
    if run.audit.landings > 0 {
        out!(
            "{dim}{} too slow to tell from lasting contact at this step{dim:#}\n",
            count(run.audit.landings, "landing")
        );
    }
    if !all.is_empty() || run.audit.landings > 0 {
        out!("\n");
    }
}
