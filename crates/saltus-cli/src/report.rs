//! `--report FILE.html`: pages of what a command found.

use crate::done::Done;
use crate::setup::{Ready, Refusal};
use crate::text::out;
use saltus::{Run, SetupError, Structure};
use saltus_io::{ModelFile, output};
use saltus_report::{Origin, Page, RunReport, Shape};
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
pub fn of_run(ready: &Ready, done: &Done, findings: Vec<String>) -> Result<Page, SetupError> {
    let system = &*ready.opened.system;
    let settled = done.settled.sentence(system.model());
    saltus_report::run(RunReport {
        system,
        run: &done.run,
        origin: origin(&ready.file),
        wall_s: done.wall_s,
        findings: settled.into_iter().chain(findings).collect(),
        shapes: system.as_structure().map_or_else(Vec::new, |structure| shapes(structure, &done.run)),
        shocks: done.shocks.as_ref(),
        settled: &done.settled,
    })
}

/// The deflected shapes of the parts, magnified to a sixth of their length, one above the other.
fn shapes(structure: &Structure, run: &Run) -> Vec<Shape> {
    let outlines: Vec<Vec<f64>> =
        structure.parts().iter().map(|p| p.outline().into_iter().map(|(x, _)| x).collect()).collect();
    let length = outlines.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let largest = run.shapes.iter().flat_map(|(_, u)| u).fold(0.0_f64, |m, u| m.max(u.abs()));
    if !(length > 0.0 && largest > 0.0) {
        return Vec::new();
    }
    let wanted = length / 6.0 / largest;
    // A round factor is easier to read.
    let power = 10f64.powf(wanted.log10().floor());
    let factor = [5.0, 2.0, 1.0].into_iter().map(|x| x * power).find(|x| *x <= wanted).unwrap_or(power);
    let mut at = 0;
    let mut shapes = Vec::new();
    for (k, (x, part)) in outlines.into_iter().zip(structure.parts()).enumerate() {
        let range = at..at + x.len();
        at = range.end;
        if x.is_empty() {
            continue;
        }
        shapes.push(Shape {
            name: if part.name.is_empty() { part.what.clone() } else { part.name.clone() },
            t: run.shapes.iter().map(|(t, _)| *t).collect(),
            frames: run.shapes.iter().map(|(_, u)| u[range.clone()].to_vec()).collect(),
            x,
            factor,
            offset: -0.5 * length * k as f64,
        });
    }
    shapes
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
