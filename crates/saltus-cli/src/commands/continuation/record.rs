//! `branches.jsonl`: one line for everything that is found, written as it is found, so that nothing is lost.

use saltus::SetupError;
use saltus::analysis::{BranchPoint, Left, Origin, Special};
use saltus_io::output::StartRecord;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

/// The file.
pub const FILE: &str = "branches.jsonl";

/// An orbit, or an equilibrium, of a branch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The values of the parameters.
    pub values: Vec<f64>,
    /// A state on it.
    pub start: StartRecord,
    /// Its period.
    pub period: f64,
    /// In periods of the forcing.
    pub multiple: Option<usize>,
    /// Real and imaginary parts.
    pub multipliers: Vec<(f64, f64)>,
    /// Whether it is stable.
    pub stable: bool,
    /// Whether no multiplier is outside the unit circle, but some are on it: one of a family of orbits, or a special point.
    #[serde(default)]
    pub neutral: bool,
    /// Its events.
    pub sequence: String,
    /// How far it misses itself.
    pub residual: f64,
    /// How the parameter changes along the branch.
    pub direction: f64,
    /// What is shown of it.
    pub shown: Vec<f64>,
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum Entry {
    /// Which parameters, and what is shown.
    Head { title: String, parameters: Vec<String>, units: Vec<String>, shown: String, of: String, command: String },
    /// A branch begins.
    Branch { branch: usize, origin: String },
    /// An orbit of it.
    Point {
        branch: usize,
        #[serde(flatten)]
        row: Row,
    },
    /// A special point of it.
    Special {
        branch: usize,
        kind: String,
        words: String,
        #[serde(flatten)]
        row: Row,
    },
    /// What simulations settled on.
    Simulated { x: Vec<f64>, y: Vec<f64> },
    /// A branch that leaves it and was not followed: beyond what was asked for, or it was tried and not found.
    Left { branch: usize, kind: String, value: f64, tried: bool },
    /// Why it ends.
    End { branch: usize, why: String, cut: bool },
}

impl Row {
    pub fn new(point: &BranchPoint, states: usize, shown: Vec<f64>) -> Self {
        Row {
            values: point.values.clone(),
            start: StartRecord::new(&point.start, states),
            period: point.period,
            multiple: point.multiple,
            multipliers: point.stability.multipliers.clone(),
            stable: point.stability.is_stable(),
            neutral: point.stability.is_neutral(),
            sequence: point.sequence.clone(),
            residual: point.residual,
            direction: point.tangent.last().copied().unwrap_or(0.0),
            shown,
        }
    }
}

impl Row {
    /// Its stability in a word.
    pub fn stability(&self) -> &'static str {
        match (self.stable, self.neutral) {
            (true, _) => "stable",
            (_, true) => "neutral",
            _ => "unstable",
        }
    }
}

/// A special point as a line.
pub fn special(branch: usize, found: &Special, states: usize, shown: Vec<f64>) -> Entry {
    let row = Row::new(&found.point, states, shown);
    Entry::Special { branch, kind: found.kind.word().into(), words: found.words.clone(), row }
}

/// Where a branch comes from, in words.
pub fn origin(origin: &Origin, parameter: &str) -> String {
    match origin {
        Origin::First(true) => format!("the first orbit, with growing {parameter}"),
        Origin::First(false) => format!("the first orbit, with falling {parameter}"),
        Origin::Doubling(branch, value) => left_at("period doubling", *branch, parameter, *value),
        Origin::Grazing(branch, value) => left_at("grazing orbit", *branch, parameter, *value),
        Origin::Crossing(branch, value) => left_at("branch point", *branch, parameter, *value),
    }
}

fn left_at(what: &str, branch: usize, parameter: &str, value: f64) -> String {
    format!("the {what} of branch {} at {parameter} = {}", branch + 1, saltus::text::number(value, 10))
}

/// The branches that leave one and were not followed.
pub fn left(branch: usize, all: &[Left]) -> impl Iterator<Item = Entry> {
    let entry = move |l: &Left| Entry::Left { branch, kind: l.kind.word().into(), value: l.value, tried: l.was_tried };
    all.iter().map(entry)
}

/// Writes lines, each of them at once.
pub struct Writer {
    file: Option<File>,
    pub lost: Option<String>,
}

impl Writer {
    /// A new file; it begins with the lines of an earlier one that goes on.
    pub fn new(dir: Option<&Path>, earlier: &[Entry]) -> Result<Self, SetupError> {
        let Some(dir) = dir else { return Ok(Writer { file: None, lost: None }) };
        let (path, fresh) = (dir.join(FILE), dir.join(format!("{FILE}.new")));
        let fail = |e: std::io::Error| SetupError::new(format!("cannot write `{}`: {e}", path.display()));
        // (The earlier file stays until all of it is in the new one.)
        let file = File::create(&fresh).map_err(fail)?;
        let mut writer = Writer { file: Some(file), lost: None };
        earlier.iter().all(|entry| writer.write(entry));
        if let Some(lost) = writer.lost.take() {
            return Err(SetupError::new(lost));
        }
        std::fs::rename(&fresh, &path).map_err(fail)?;
        Ok(writer)
    }

    /// Writes a line; false if that failed.
    pub fn write(&mut self, entry: &Entry) -> bool {
        let Some(file) = &mut self.file else { return true };
        let line = serde_json::to_string(entry).map(|mut line| {
            line.push('\n');
            line
        });
        let outcome = line.map_err(std::io::Error::other).and_then(|line| file.write_all(line.as_bytes()));
        if let Err(e) = outcome {
            self.lost = Some(format!("cannot write `{FILE}`: {e}"));
            return false;
        }
        true
    }
}

/// Reads the lines of a directory; an unfinished last line, of a program that was killed, is left out.
pub fn read(dir: &Path) -> Result<Vec<Entry>, SetupError> {
    let path = dir.join(FILE);
    let file = File::open(&path).map_err(|e| {
        SetupError::new(format!("cannot read `{}`: {e}", path.display()))
            .help("--from takes a directory that `saltus continue --out` wrote, or a saved run")
    })?;
    let mut found = Vec::new();
    let lines: Vec<String> = BufReader::new(file).lines().map_while(Result::ok).collect();
    for (k, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(entry) => found.push(entry),
            Err(_) if k + 1 == lines.len() => {}
            Err(e) => {
                return Err(SetupError::new(format!("line {} of `{}` is damaged: {e}", k + 1, path.display())));
            }
        }
    }
    Ok(found)
}
