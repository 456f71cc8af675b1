//! `saltus run MODEL`: integrate and say what happened.

mod sensitivity;
mod spectra;

use super::summary;
use crate::done::Done;
use crate::progress::{self, Bar};
use crate::setup::{Asked, ModelArgs, Ready, Refusal, RunArgs, StartArgs, StructureArgs, run_directory, scheme};
use crate::text::{number, out};
use crate::{diagnose, report, runner, sketch};
use saltus::analysis::{Probe, ProbeOptions, probe};
use saltus::{Keep, Options, Run, SetupError, Status, run_observed};
use saltus_io::output::{self, Format};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Integrate a model and say what happened at the impacts.
///
/// By default impacts are located, contacts held and accumulations of impacts extrapolated to
/// their limit; --scheme selects a time-stepping scheme instead. The summary lists the impacts,
/// the residuals of the constraints and the impact law, and the energy account.
///
/// Examples:
///
///   saltus run ball-gravity
///
///   saltus run ball-gravity --set e=0.5 --end 2 --out results
///
///   saltus run rocking-block --plot
///
///   saltus run oscillator --from results --end 100
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    start: StartArgs,
    /// The scheme (see `saltus schemes`) [default: the model's, else auto]
    #[arg(long, help_heading = "Run")]
    scheme: Option<String>,
    /// The time step h: a number or an expression of parameters; by events, the interval at which instants are stored
    /// [default: the model's; by events a thousandth of the run]
    #[arg(long, value_name = "H", allow_hyphen_values = true, help_heading = "Run")]
    step: Option<String>,
    #[command(flatten)]
    run: RunArgs,
    /// Stop where everything has come to rest; the end time is then at most a hundred times the model's
    #[arg(long, help_heading = "Run")]
    until_rest: bool,
    #[command(flatten)]
    structure: StructureArgs,
    /// Touches of a stop closer in time than this are one shock of several rebounds [default: a hundredth of the first
    /// period]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Structures")]
    rest: Option<String>,
    #[command(flatten)]
    spectra: spectra::SpectrumArgs,
    /// Also run N perturbed starts and say whether the outcomes form one bundle or split
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..1_000_000), help_heading = "Trust")]
    probe: Option<u64>,
    /// The size of the perturbations, relative to the data (half of them have a tenth of it)
    #[arg(long, value_name = "SIZE", default_value_t = 1e-6, help_heading = "Trust")]
    probe_size: f64,
    /// The seed of the perturbations
    #[arg(long, default_value_t = 1, help_heading = "Trust")]
    seed: u64,
    /// Also print the derivatives of the final state by a parameter, or by a start (x, x', a state); may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Trust")]
    sensitivity: Vec<String>,
    /// With --sensitivity: also those of an expression of t, x, x' at the end; may be repeated
    #[arg(long, value_name = "EXPR", requires = "sensitivity", help_heading = "Trust")]
    quantity: Vec<String>,
    /// Fail (exit code 3) where the ledger is beyond its tolerances: positions in K, the law, the energy account
    #[arg(long, help_heading = "Trust")]
    strict: bool,
    /// Store every N-th instant only; impacts are always kept
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    every: Option<u64>,
    /// Write the trajectory, impacts.csv, contacts.csv, energy.csv, run.json and more into this directory; `saltus plot DIR`
    /// makes figures of them, `saltus rerun DIR` makes the run again
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// The formats of the trajectory in that directory, joined by commas: npz (NumPy), csv, mat (MATLAB, Octave, SciPy),
    /// parquet (pandas) [default: npz,csv]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "out", help_heading = "Output")]
    format: Vec<String>,
    /// With --json: list `all` impacts, not only the first
    #[arg(long, value_name = "WHICH", value_parser = ["first", "all"], default_value = "first", requires = "json", help_heading = "Output")]
    impacts: String,
    /// Draw the coordinates over time as text, with the impacts marked on the axis
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    plot: bool,
    /// With --plot: plain characters only
    #[arg(long, requires = "plot", help_heading = "Output")]
    ascii: bool,
}

fn options(args: &Args, ready: &Ready) -> Result<Options, SetupError> {
    let mut options = ready.options(scheme(args.scheme.as_ref())?)?;
    options.every = args.every.unwrap_or(options.every);
    options.until_rest = args.until_rest;
    if args.until_rest && args.run.end.is_none() {
        options.end = ready.start().t + 100.0 * (options.end - ready.start().t);
    }
    if args.model.report.is_some() {
        options.keep = options.keep | Keep::SHAPES;
    }
    Ok(options)
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let json = args.model.json;
    let ready = args.model.ready(&Asked {
        start: Some(&args.start),
        run: Some(&args.run),
        structure: Some(&args.structure),
        step: args.step.as_ref(),
        rest: args.rest.as_ref(),
        ..Asked::default()
    })?;
    let mut options = options(args, &ready)?;
    let wanted_spectra = args.spectra.wanted(&ready)?;
    options.follow = wanted_spectra.as_ref().map_or_else(Vec::new, |wanted| wanted.followed());
    let formats = match args.format.as_slice() {
        [] => Format::DEFAULT.to_vec(),
        names => names.iter().map(|n| Format::find(n)).collect::<Result<_, _>>()?,
    };
    if let Some(dir) = &args.out {
        run_directory(dir, ready.file.sources())?;
    }
    let system = &*ready.opened.system;
    let mut bar = Bar::new(json);
    let started = Instant::now();
    if let Some(structure) = system.as_structure().filter(|_| options.reduction.is_none()) {
        // Frequencies will be shown. Found before the matrix of a step takes its memory, they free that of the factor of K.
        structure.first_period();
    }
    let run = run_observed(system, ready.start(), &options, &mut |p| bar.report(p));
    let wall_s = started.elapsed().as_secs_f64();
    bar.finish();
    let run = run.map_err(|error| ready.located(error))?;
    let done = Done::new(&ready, run, wall_s);
    // Files first: whatever happens to the terminal or to the perturbed runs, they are there.
    let mut unwritten = Vec::new();
    if let Some(dir) = &args.out {
        unwritten.extend(progress::saving(|| done.write(&ready, dir, &formats)).err().map(|e| e.to_string()));
    }
    let spectra = match wanted_spectra.filter(|_| done.run.status.is_complete()) {
        Some(wanted) => Some(wanted.of(&ready, &done)?),
        None => None,
    };
    let mut tables = Vec::new();
    if let (Some(dir), Some(spectra)) = (&args.out, &spectra) {
        match progress::saving(|| spectra.write(&ready, &done, dir)) {
            Ok(names) => tables = names,
            Err(e) => unwritten.push(e.to_string()),
        }
    }
    let wanted = args.probe.filter(|_| !progress::is_stopped());
    let probe = wanted.map(|n| probed(&ready, &options, n as usize, args)).transpose()?;
    let derivatives = match args.sensitivity.is_empty() || !done.run.status.is_complete() {
        true => None,
        false => Some(sensitivity::of(&ready, &options, &args.sensitivity, &args.quantity)?),
    };
    if let Some(path) = &args.model.report {
        let findings =
            probe.iter().map(|p| p.sentence.clone()).chain(spectra.iter().flat_map(|s| s.notes().to_vec())).collect();
        let asked = spectra.as_ref().map_or((&[][..], &[][..]), |s| s.found());
        let page = report::of_run(&ready, &done, findings, asked);
        let written = page.and_then(|page| progress::saving(|| report::save(path, &page)));
        unwritten.extend(written.err().map(|e| e.message));
    }
    if json {
        let mut object = serde_json::to_value(done.summary(&ready, args.impacts == "all")).unwrap_or_default();
        if let Some(probe) = &probe {
            object["probe"] = probe_json(probe, ready.opened.system.model().degrees());
        }
        if let Some(derivatives) = &derivatives {
            object["sensitivity"] = derivatives.json();
        }
        if let Some(spectra) = &spectra {
            object["spectra"] = spectra.json();
        }
        if !unwritten.is_empty() {
            object["error"] = serde_json::json!({ "message": unwritten.join("; ") });
        }
        crate::text::print_json(&object);
    } else {
        summary::print(&ready, &done);
        if let Some(spectra) = &spectra {
            spectra.print();
        }
        if let Some(probe) = &probe {
            summary::probe(&ready, probe);
        }
        if let Some(derivatives) = &derivatives {
            derivatives.print();
        }
        if args.plot {
            sketch::print(system.model(), &done.run.trajectory, args.ascii);
        }
        if let (Some(dir), true) = (&args.out, unwritten.is_empty()) {
            let mut files = output::files(system.model(), &done.run, done.shocks.is_some(), &formats);
            files.extend(tables);
            out!("\nwrote {} to {}\n", files.join(", "), dir.display());
        }
        if let (Some(path), true) = (&args.model.report, unwritten.is_empty()) {
            report::announce(path);
        }
    }
    summary::verdict(&done.run, json);
    Ok(outcome(args, unwritten, &done.run))
}

/// Says what could not be written and, with --strict, what does not hold; the exit code.
fn outcome(args: &Args, unwritten: Vec<String>, run: &Run) -> ExitCode {
    let json = args.model.json;
    if !unwritten.is_empty() {
        for error in unwritten.into_iter().filter(|_| !json) {
            diagnose::plain(&SetupError::new(error), false);
        }
        return ExitCode::FAILURE;
    }
    // The run itself may have been complete before its perturbed starts were interrupted.
    if args.probe.is_some() && progress::is_stopped() {
        return ExitCode::from(progress::INTERRUPTED);
    }
    let complaints = run.ledger.complaints();
    if args.strict && !complaints.is_empty() && run.status.is_complete() {
        if !json {
            out!("\nstrict: {}\n", complaints.join("\nstrict: "));
        }
        return ExitCode::from(3);
    }
    match run.status {
        Status::Finished | Status::Breached { .. } => ExitCode::SUCCESS,
        Status::Interrupted { .. } => ExitCode::from(progress::INTERRUPTED),
        _ => ExitCode::FAILURE,
    }
}

/// Runs the perturbed starts side by side.
fn probed(ready: &Ready, options: &Options, starts: usize, args: &Args) -> Result<Probe, SetupError> {
    let system = &*ready.opened.system;
    let how = ProbeOptions { starts, size: args.probe_size, seed: args.seed };
    probe(system, ready.start(), options, &how, &mut runner::on_all_cores(system, args.model.json))
}

fn probe_json(probe: &Probe, degrees: usize) -> serde_json::Value {
    let group = |(n, end): &(usize, Vec<f64>)| {
        let (q, states) = end.split_at(degrees.min(end.len()));
        match states.is_empty() {
            true => serde_json::json!({ "runs": n, "q": q }),
            false => serde_json::json!({ "runs": n, "q": q, "states": states }),
        }
    };
    serde_json::json!({
        "runs": probe.runs, "failed": probe.failed, "spread": [probe.spread.0, probe.spread.1], "splits": probe.splits,
        "parting": probe.parting.map(|(k, t)| serde_json::json!({ "impact": k, "t": t })),
        "states": [probe.states.0, probe.states.1], "groups": probe.groups.iter().map(group).collect::<Vec<_>>(),
        "sentence": probe.sentence,
    })
}

/// How a scheme is named in a heading: with its step or tolerance.
pub fn heading(run: &Run) -> String {
    let forcing = run.options.settings.get("forcing").map_or(String::new(), |f| format!(" ({f})"));
    match run.tolerance {
        None => format!("{}{forcing}, h = {}", run.scheme.name, number(run.step, 6)),
        Some(tolerance) => format!("{}, tolerance {tolerance:e}", run.scheme.name),
    }
}
