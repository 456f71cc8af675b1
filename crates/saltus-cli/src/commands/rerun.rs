//! `saltus rerun DIR`: make a saved run again, and compare.

use super::summary;
use crate::done::Done;
use crate::progress::{self, Bar};
use crate::setup::{Ready, Refusal, run_directory};
use crate::text::out;
use saltus::SetupError;
use saltus_io::output::Format;
use saltus_io::{Rerun, SavedRun};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Make a saved run again, from its run.json alone, and compare it with the saved one bit for bit.
///
/// The model text, the data files it names, the changes and the options are in run.json. The exit
/// code is 0 if the two runs are identical, 1 if they differ.
///
/// Example:  saltus rerun results
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The directory that `saltus run --out` wrote
    #[arg(value_name = "RUN_DIR")]
    dir: PathBuf,
    /// Write the files of the new run into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let has_motion = args.dir.join("trajectory.npz").exists();
    let saved = if has_motion { SavedRun::open(&args.dir)? } else { SavedRun::described(&args.dir)? };
    let again = Rerun::new(&saved)?;
    if let Some(dir) = &args.out {
        run_directory(dir, [])?;
    }
    let mut bar = Bar::new(args.json);
    let started = Instant::now();
    let run = again.run(&mut |p| bar.report(p));
    bar.finish();
    let mut ready = Ready::of(again, saved.changes.clone(), saved.start.is_none());
    ready.opened.defaults.rest = saved.rest;
    let done = Done::new(&ready, run?, started.elapsed().as_secs_f64());
    if let Some(dir) = &args.out {
        let written = progress::saving(|| done.write(&ready, dir, &Format::DEFAULT));
        written.map_err(|e| SetupError::new(e.to_string()))?;
    }
    let difference = if has_motion { saved.difference(&done.run) } else { None };
    let verdict = match (&difference, has_motion) {
        _ if progress::is_stopped() => "interrupted: not compared with the saved run".to_string(),
        (_, false) => "there is no trajectory.npz to compare with".to_string(),
        (None, _) => "identical to the saved run, bit for bit".to_string(),
        (Some(d), _) => {
            format!("differs from the saved run: {} {} was {:?} and is {:?}", d.what, d.place, d.saved, d.now)
        }
    };
    if args.json {
        let difference = difference
            .as_ref()
            .map(|d| serde_json::json!({ "what": d.what, "place": d.place, "saved": d.saved, "now": d.now }));
        let identical = (has_motion && difference.is_none()).then_some(true).or(has_motion.then_some(false));
        let summary = serde_json::to_value(done.summary(&ready, false)).unwrap_or_default();
        let object = serde_json::json!({ "identical": identical, "difference": difference, "summary": summary });
        crate::text::print_json(&object);
    } else {
        summary::print(&ready, &done);
        out!("\n{verdict}\n");
    }
    summary::verdict(&done.run, args.json);
    if progress::is_stopped() {
        return Ok(ExitCode::from(progress::INTERRUPTED));
    }
    Ok(if difference.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
