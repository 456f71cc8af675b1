//! `saltus sweep rerun DIR --point K`: one trajectory of a sweep alone, as `saltus run` makes it.

use crate::commands::summary;
use crate::done::Done;
use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{Ready, Refusal, run_directory};
use crate::text::{number, out, printable, wrapped};
use saltus::{SetupError, Start, run_observed};
use saltus_ensemble::points::Slot;
use saltus_ensemble::store::{Manifest, Store};
use saltus_ensemble::{Scalar, Sweep};
use saltus_io::Rerun;
use saltus_io::output::{self, Format};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Run a single trajectory of a sweep again, with everything that `saltus run` shows.
///
/// Example:  saltus sweep rerun sweep --point 123 --report point.html
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The directory of the sweep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Which trajectory: its number in the column `point`
    #[arg(long, value_name = "K")]
    point: u64,
    /// Write the files of the run into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write everything as one HTML file that opens in any browser, offline
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Final states are the same to this part of the largest of their components.
const SAME: f64 = 1e-6;

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let manifest = Manifest::read(&args.dir)?.ok_or_else(|| {
        SetupError::new(format!("there is no sweep in `{}`", args.dir.display()))
            .help("name the directory that `saltus sweep --out` wrote")
    })?;
    let sweep = manifest.sweep()?;
    let family = &sweep.family;
    if args.point >= family.len() {
        let message = format!("there is no point {}: they are numbered from 0 to {}", args.point, family.len() - 1);
        return Err(SetupError::new(message).into());
    }
    let row = family.points().row();
    let carried = match family.carry() {
        Some(_) if args.point >= row => {
            Store::open(&args.dir)?.0.reached(&sweep, args.point - row, 1)?.into_iter().next().flatten()
        }
        _ => None,
    };
    let made = family.maker().job(args.point, carried.as_ref());
    if let Some(reason) = made.refusal {
        return Err(SetupError::new(format!("point {} cannot be run: {reason}", args.point)).into());
    }
    let mut job = made.job;
    if sweep.wanted.returns.is_some() {
        // (It ends with a return, which is not known before.)
        let end = Scalar::new(family.problem(), &Arc::default()).one(&job, &sweep.wanted).map(|outcome| outcome.t);
        job.end = end.filter(|end| *end > job.start.t).unwrap_or(job.end);
    }
    let mut changes = sweep.request.changes();
    let mut shown = Vec::new();
    for ((name, &slot), value) in family.points().names().into_iter().zip(family.slots()).zip(family.values(args.point))
    {
        let list = if matches!(slot, Slot::Parameter(_)) { &mut changes.set } else { &mut changes.start };
        list.retain(|(n, _)| n != name);
        list.push((name.to_string(), format!("{value:?}")));
        shown.push(format!("{name} = {}", number(value, 8)));
    }
    changes.run.push(("end".into(), format!("{:?}", job.end)));
    let mut opened = sweep.file.changed(&changes)?;
    let own_start = carried.is_none();
    if let Some(state) = carried {
        (opened.start.q, opened.start.v) = (state.q, state.v);
        if let Some(by) = job.start.reached_by() {
            opened.start = opened.start.reached(by.clone());
        }
    }
    let options = sweep.wanted.options(&job);
    if let Some(dir) = &args.out {
        run_directory(dir, sweep.file.sources())?;
    }
    if let Some(path) = &args.report {
        output::prepare_file(path).map_err(|e| SetupError::new(e.to_string()))?;
    }
    let ready = Ready::of(Rerun { file: sweep.file.clone(), opened, options: options.clone() }, changes, own_start);
    let mut bar = Bar::new(args.json);
    let started = Instant::now();
    let run = run_observed(&*ready.opened.system, ready.start(), &options, &mut |p| bar.report(p));
    bar.finish();
    let done = Done::new(&ready, run?, started.elapsed().as_secs_f64());
    if let Some(dir) = &args.out {
        let written = progress::saving(|| done.write(&ready, dir, &Format::DEFAULT));
        written.map_err(|e| SetupError::new(e.to_string()))?;
    }
    if let Some(path) = &args.report {
        let page = report::of_run(&ready, &done, Vec::new(), (&[], &[]))?;
        progress::saving(|| report::save(path, &page))?;
    }
    let differs = differs(&args.dir, &sweep, args.point, done.run.last());
    if args.json {
        let mut object = serde_json::to_value(done.summary(&ready, false)).unwrap_or_default();
        object["point"] = serde_json::json!(args.point);
        object["differs_from_table"] = serde_json::json!(differs.is_some());
        crate::text::print_json(&object);
    } else {
        out!("point {}: {}\n", args.point, printable(&shown.join(", ")));
        summary::print(&ready, &done);
        if let Some(state) = differs {
            let text = format!(
                "The table has another final state, {state}: the last digits of the two computations differ, and this motion is sensitive to them."
            );
            out!("\n{}\n", wrapped(&text, 0, 100));
        }
        if let Some(path) = &args.report {
            report::announce(path);
        }
    }
    summary::verdict(&done.run, args.json);
    Ok(if done.run.status.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The final state that the table has, if it is another one.
fn differs(dir: &Path, sweep: &Sweep, point: u64, end: &Start) -> Option<String> {
    let stored = Store::open(dir).ok()?.0.reached(sweep, point, 1).ok()?.into_iter().next().flatten()?;
    let model = sweep.family.problem().model();
    let degrees = model.degrees();
    let pairs = || stored.q[..degrees].iter().zip(&end.q).chain(stored.v.iter().zip(&end.v));
    let size = pairs().fold(0.0_f64, |m, (a, b)| m.max(a.abs()).max(b.abs()));
    if pairs().all(|(a, b)| (a - b).abs() <= SAME * size) {
        return None;
    }
    let shown = model.coordinates.iter().zip(stored.q.iter().zip(&stored.v));
    Some(
        shown
            .map(|(name, (q, v))| format!("{name} = {} ({})", number(*q, 6), number(*v, 6)))
            .collect::<Vec<_>>()
            .join(", "),
    )
}
