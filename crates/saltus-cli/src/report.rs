//! `--report FILE.html`: pages of what a command found.

use crate::setup::Ready;
use crate::text::out;
use saltus::analysis::{forcing_period, is_forced};
use saltus::{Ledger, Run, RunOptions, SetupError};
use saltus_io::output;
use saltus_report::{Origin, Page, RunReport};
use std::path::Path;
use std::process::ExitCode;

/// Where a page comes from: this command, this version, this model.
pub fn origin(ready: &Ready) -> Origin {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    Origin {
        command: ["saltus".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" "),
        version: env!("CARGO_PKG_VERSION").into(),
        model: ready.file.name.clone(),
        text: ready.file.text.clone(),
        sha256: ready.file.hash(),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The page of a run.
pub fn of_run(
    ready: &Ready,
    options: &RunOptions,
    run: &Run,
    ledger: &Ledger,
    wall_s: f64,
    findings: Vec<String>,
) -> Result<Page, SetupError> {
    let problem = &ready.problem;
    let model = problem.model();
    let (mut gaps, mut energy) = (problem.gaps(), problem.energy());
    saltus_report::run(RunReport {
        model,
        run,
        ledger,
        options,
        origin: origin(ready),
        wall_s,
        findings,
        gaps: Some(Box::new(move |t, q, out| {
            gaps.evaluate(t, q);
            out.copy_from_slice(&gaps.values);
        })),
        energy: Some(Box::new(move |t, q, v| energy.both(t, q, v))),
        forced: is_forced(model),
        period: forcing_period(problem, options.end),
        shapes: Vec::new(),
    })
}

/// Writes a page.
pub fn save(path: &Path, page: &Page) -> Result<(), SetupError> {
    output::write_file(path, |out| page.write(out)).map_err(|e| SetupError::new(e.to_string()))
}

/// Says where the page is.
pub fn tell(path: &Path) {
    out!("\nwrote the report to {}\n", path.display());
}

/// Writes the page of a command that has told all else by now; a failure is shown and is the exit code.
pub fn written(path: &Path, page: &Page, json: bool) -> Result<(), ExitCode> {
    match save(path, page) {
        Ok(()) => {
            if !json {
                tell(path);
            }
            Ok(())
        }
        Err(error) => {
            // One JSON object has been printed already: a second would not be one.
            eprintln!("{}", error.message);
            Err(ExitCode::FAILURE)
        }
    }
}
