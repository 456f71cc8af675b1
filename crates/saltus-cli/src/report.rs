//! `--report FILE.html`: pages of what a command found.

use crate::done::Done;
use crate::drawing;
use crate::setup::{Ready, Refusal};
use crate::text::out;
use saltus::SetupError;
use saltus::analysis::{Density, ResponseSpectrum};
use saltus_io::{ModelFile, output};
use saltus_report::{Origin, Page, RunReport};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;

thread_local! {
    /// The command line that this thread carries out.
    static WORDS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Remembers the command line for the pages that it makes; its first word is the name of the program.
pub fn remember(words: &[OsString]) {
    WORDS.set(words.iter().skip(1).map(|word| quoted(&word.to_string_lossy())).collect());
}

/// Where a page comes from: this command, this version, this model.
pub fn origin(file: &ModelFile) -> Origin {
    Origin {
        command: std::iter::once("saltus".to_string())
            .chain(WORDS.with_borrow(Vec::clone))
            .collect::<Vec<_>>()
            .join(" "),
        version: env!("CARGO_PKG_VERSION").into(),
        model: file.name.clone(),
        text: file.text.clone(),
        sha256: file.hash(),
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
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
    done: &Done,
    findings: Vec<String>,
    (responses, densities): (&[ResponseSpectrum], &[(String, Density)]),
) -> Result<Page, SetupError> {
    let system = &*ready.opened.system;
    let settled = done.settled.sentence(system.model());
    saltus_report::run(RunReport {
        system,
        run: &done.run,
        origin: origin(&ready.file),
        wall_s: done.wall_s,
        findings: settled.into_iter().chain(findings).collect(),
        shapes: system.as_structure().map_or_else(Vec::new, |structure| drawing::shapes(structure, &done.run)),
        shocks: done.shocks.as_ref(),
        responses,
        densities,
        settled: &done.settled,
    })
}

/// Writes a page.
pub fn save(path: &Path, page: &Page) -> Result<(), SetupError> {
    output::write_file(path, |out| page.write(out)).map_err(|e| SetupError::new(e.to_string()))
}

/// Says where the page is.
pub fn announce(path: &Path) {
    out!("\nwrote the report to {}\n", path.display());
}

/// Writes the page of a command that has printed everything else.
pub fn written(path: &Path, page: &Page, json: bool) -> Result<(), Refusal> {
    save(path, page).map_err(Refusal::Unwritten)?;
    if !json {
        announce(path);
    }
    Ok(())
}
