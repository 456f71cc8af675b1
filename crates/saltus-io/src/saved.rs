//! A run read back from the directory that `saltus run --out DIR` wrote.

use crate::model_file::ModelFile;
use crate::output::tables::inert;
use crate::output::{DataFile, OptionsRecord, StartRecord, memory_from_numbers};
use crate::read::{self, reason};
use crate::{Changes, FileError, Opened};
use saltus::problem::Reached;
use saltus::{Contact, Impact, SetupError, Start, Trajectory};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// A saved run: its motion, and everything needed to make it again.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedRun {
    /// The model's title.
    #[serde(skip)]
    pub title: String,
    /// The model's name as it was given.
    pub model: String,
    /// Its text.
    pub model_text: String,
    /// The data files it names.
    #[serde(default)]
    pub files: Vec<DataFile>,
    /// What was changed of it.
    pub changes: Changes,
    /// The options.
    pub options: OptionsRecord,
    /// The start, where it is not the model's own.
    pub start: Option<StartRecord>,
    /// Touches closer in time than this were counted as one shock, where it was given.
    pub rest: Option<f64>,
    /// Names of the coordinates.
    #[serde(skip)]
    pub coordinates: Vec<String>,
    /// Names of the first-order states.
    #[serde(skip)]
    pub states: Vec<String>,
    /// Names of the constraints.
    #[serde(skip)]
    pub constraints: Vec<String>,
    /// Names of the equations of joints.
    #[serde(skip)]
    pub joints: Vec<String>,
    /// Names of the slips of friction.
    #[serde(skip)]
    pub frictions: Vec<String>,
    /// Where friction sticks and slides: (name, since when, whether it sticks), in order.
    #[serde(skip)]
    pub grips: Vec<(String, f64, bool)>,
    /// The motion at its stored instants, with its impacts and contacts.
    #[serde(skip)]
    pub trajectory: Trajectory,
    /// The last state of all degrees of freedom.
    #[serde(skip)]
    pub last: Option<Start>,
}

/// The rows of one impact.
struct ImpactRows {
    number: String,
    constraints: Vec<usize>,
    impulses: Vec<f64>,
    /// The numbers of the first row.
    values: Vec<f64>,
}

/// Tables beyond this are not read.
const LARGEST: u64 = 1 << 31;

impl SavedRun {
    /// Reads a directory.
    pub fn open(dir: &Path) -> Result<SavedRun, SetupError> {
        let name = dir.display();
        let made = format!("`saltus run MODEL --out {name}` writes one");
        if dir.is_file() {
            let help = "name the directory that `saltus run --out` wrote, not a file in it";
            return Err(SetupError::new(format!("`{name}` is a file, not the directory of a run")).help(help));
        }
        if !dir.is_dir() {
            return Err(SetupError::new(format!("there is no directory `{name}`")).help(made));
        }
        let record = dir.join("run.json");
        if !record.exists() {
            let message = format!("`{name}` is not the directory of a run: there is no run.json in it");
            if dir.join("impacts.csv").exists() {
                let help = "the program was ended while it wrote there, and its files may be of different runs; run again with --out";
                return Err(SetupError::new(message).help(help));
            }
            return Err(SetupError::new(message).help(made));
        }
        let mut run = described(&record)?;
        run.read_motion(&dir.join("trajectory.npz"))?;
        run.read_impacts(&dir.join("impacts.csv"))?;
        run.read_contacts(&dir.join("contacts.csv"))?;
        run.read_grips(&dir.join("timeline.csv"))?;
        run.last = state(&dir.join("state.npz"))?;
        Ok(run)
    }

    /// Reads only what `run.json` says: enough to make the run again.
    pub fn described(dir: &Path) -> Result<SavedRun, SetupError> {
        described(&dir.join("run.json"))
    }

    /// The system that was run, made again from the model's text and the data files that were carried along.
    pub fn system(&self) -> Result<(ModelFile, Opened), FileError> {
        let file = carried(&self.model, &self.model_text, &self.files, &self.changes.inputs)?;
        let opened = file.changed(&self.changes)?;
        Ok((file, opened))
    }

    fn read_motion(&mut self, path: &Path) -> Result<(), SetupError> {
        let name = path.display().to_string();
        if !path.exists() {
            let help = "figures are made of trajectory.npz: run again with `npz` among the formats (--format npz,…)";
            return Err(SetupError::new(format!("there is no `{name}`")).help(help));
        }
        let mut archive = archive(path)?;
        let (d, m, states) = (self.coordinates.len(), self.constraints.len(), self.states.len());
        let t = array(&mut archive, "t", &name)?.ok_or_else(|| damaged(&name))?;
        let n = t.len();
        let mut matrix = |what: &str, width: usize, needed: bool| match array(&mut archive, what, &name)? {
            Some(values) if values.len() == n * width => Ok(values),
            Some(_) => Err(foreign(&name)),
            None if needed => Err(damaged(&name)),
            None => Ok(Vec::new()),
        };
        let (q, left, right) = (matrix("q", d, true)?, matrix("v_left", d, true)?, matrix("v_right", d, true)?);
        let z = matrix("z", states, states > 0)?;
        let mut motion = Trajectory::new(d + states).with_states(states);
        let (nothing, own) = (vec![0.0; states], |k: usize| &z[k * states..(k + 1) * states]);
        for k in 0..n {
            let row = |x: &[f64], rest: &[f64]| [&x[k * d..(k + 1) * d], rest].concat();
            let (q, left, right) = (row(&q, &nothing), row(&left, own(k)), row(&right, own(k)));
            motion.push_instant(t[k], &q, &left, &right).map_err(|_| foreign(&name))?;
        }
        let (j, s) = (self.joints.len(), self.frictions.len());
        let reactions = matrix("reaction", m, false)?;
        let others = (matrix("joint_reaction", j, false)?, matrix("friction_force", s, false)?);
        motion.set_reaction_samples(match (others.0.is_empty(), others.1.is_empty()) {
            (true, true) => reactions,
            _ => (0..n)
                .flat_map(|k| [part(&reactions, k, m), part(&others.0, k, j), part(&others.1, k, s)].concat())
                .collect(),
        });
        self.trajectory = motion;
        Ok(())
    }

    fn read_impacts(&mut self, path: &Path) -> Result<(), SetupError> {
        let (d, states) = (self.coordinates.len(), self.states.len());
        let vector = |prefix: &str| self.coordinates.iter().map(|c| format!("{prefix}{c}")).collect::<Vec<_>>();
        let fixed = ["impact", "t", "constraint", "impulse", "approach", "energy_change", "law_residual"];
        let mut columns: Vec<String> = fixed.map(String::from).to_vec();
        columns.extend(vector(""));
        columns.extend(vector("v_before_"));
        columns.extend(vector("v_after_"));
        columns.extend(self.states.iter().cloned());
        columns.extend(self.joints.iter().map(|name| format!("joint_impulse_{name}")));
        columns.extend(self.frictions.iter().map(|name| format!("friction_impulse_{name}")));
        // One row per constraint; rows of one impact have the same number.
        let mut impacts: Vec<ImpactRows> = Vec::new();
        for row in table(path, &columns)? {
            let a = self.constraint(&row[2], path)?;
            let numbers = row.iter().enumerate().filter(|(k, _)| ![0, 2].contains(k)).map(|(_, x)| value(x, path));
            let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
            if impacts.last().is_none_or(|last| last.number != row[0]) {
                let number = row[0].clone();
                impacts.push(ImpactRows { number, constraints: vec![], impulses: vec![], values: numbers.clone() });
            }
            if let Some(last) = impacts.last_mut() {
                last.constraints.push(a);
                last.impulses.push(numbers[1]);
            }
        }
        for ImpactRows { values: n, constraints, impulses, .. } in &impacts {
            let part = |k: usize| &n[5 + k * d..5 + (k + 1) * d];
            let (z, others) = n[5 + 3 * d..].split_at(states);
            let others: Vec<(usize, f64)> = others.iter().copied().enumerate().filter(|(_, p)| *p != 0.0).collect();
            self.trajectory.impacts.push_impact(&Impact {
                t: n[0],
                q: &[part(0), vec![0.0; states].as_slice()].concat(),
                v_before: &[part(1), z].concat(),
                v_after: &[part(2), z].concat(),
                constraints,
                impulses,
                others: &others,
                energy_change: n[3],
                law_residual: n[4],
                speed: f64::NAN,
                approach: n[2],
            });
        }
        Ok(())
    }

    fn read_contacts(&mut self, path: &Path) -> Result<(), SetupError> {
        for row in table(path, &["constraint", "start", "end", "impulse"].map(String::from))? {
            let constraint = self.constraint(&row[0], path)?;
            let (start, end, impulse) = (value(&row[1], path)?, value(&row[2], path)?, value(&row[3], path)?);
            self.trajectory.contacts.push(Contact { constraint, start, end, impulse });
        }
        Ok(())
    }

    /// Where friction sticks and slides, where a run located that.
    fn read_grips(&mut self, path: &Path) -> Result<(), SetupError> {
        if self.frictions.is_empty() || !path.exists() {
            return Ok(());
        }
        for row in table(path, &["phase", "start", "note"].map(String::from))? {
            if let "stick" | "slip" | "reversal" = row[0].as_str() {
                self.grips.push((row[2].clone(), value(&row[1], path)?, row[0] == "stick"));
            }
        }
        Ok(())
    }

    fn constraint(&self, name: &str, path: &Path) -> Result<usize, SetupError> {
        self.constraints
            .iter()
            .position(|c| inert(c) == name || c == name)
            .ok_or_else(|| foreign(&path.display().to_string()))
    }
}

fn archive(path: &Path) -> Result<zip::ZipArchive<BufReader<File>>, SetupError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| SetupError::new(format!("cannot open `{name}`: {}", reason(&e))))?;
    zip::ZipArchive::new(BufReader::new(file)).map_err(|_| damaged(&name))
}

/// The last state, if it was written.
fn state(path: &Path) -> Result<Option<Start>, SetupError> {
    if !path.exists() {
        return Ok(None);
    }
    let name = path.display().to_string();
    let mut archive = archive(path)?;
    let mut vector = |what: &str| array(&mut archive, what, &name)?.ok_or_else(|| damaged(&name));
    let t = vector("t")?.first().copied().ok_or_else(|| damaged(&name))?;
    let (q, mut v) = (vector("q")?, vector("v")?);
    v.extend(vector("z")?);
    let parameters = vector("parameters")?;
    let closed = vector("closed")?.iter().map(|&a| a as usize).collect();
    let modes = vector("modes")?;
    let within_impact = vector("within_impact")?.first() == Some(&1.0);
    // (Earlier versions did not write them.)
    let sides = array(&mut archive, "sides", &name)?.unwrap_or_default().iter().map(|&side| side as i8).collect();
    let modes = modes.first().map(|&n| (n as usize, modes.get(1) == Some(&1.0)));
    let memory = array(&mut archive, "memory", &name)?.unwrap_or_default();
    let memory = memory_from_numbers(&memory, &q, &v);
    let by = Reached { closed, modes, within_impact, sides, memory };
    Ok(Some(Start::new(t, q, v).with_parameters(parameters).reached(by)))
}

/// Row k of a matrix.
fn part(matrix: &[f64], k: usize, width: usize) -> &[f64] {
    matrix.get(k * width..(k + 1) * width).unwrap_or_default()
}

fn damaged(name: &str) -> SetupError {
    SetupError::new(format!("`{name}` is damaged or incomplete")).help("run again with --out to write it anew")
}

fn foreign(name: &str) -> SetupError {
    let help = "the files of a directory belong together; run again with --out to write them anew";
    SetupError::new(format!("`{name}` does not belong to the run.json beside it")).help(help)
}

/// A model file made again from its text and the data files that were carried along, with the inputs that were replaced.
pub fn carried(
    name: &str,
    text: &str,
    files: &[DataFile],
    inputs: &[(String, String)],
) -> Result<ModelFile, FileError> {
    let base = Path::new(name).parent().unwrap_or(Path::new("."));
    let fail = |e: std::io::Error| {
        FileError::whole(name, SetupError::new(format!("cannot lay out the data files of this run: {e}")))
    };
    let dir = tempfile::tempdir().map_err(fail)?;
    // Each in a folder of its own, whatever path the model names it by: beside the model, above it, anywhere.
    let mut elsewhere = Vec::new();
    for (k, file) in files.iter().enumerate() {
        let Some(bytes) = file.contents() else {
            // Too large to be carried along: what is there must be what was there.
            let there = std::fs::read(base.join(&file.name)).ok();
            if there.is_some_and(|bytes| crate::model_file::sha256(&bytes) != file.sha256) {
                let error = SetupError::new(format!("`{}` has changed since this run was made", file.name));
                return Err(FileError::whole(
                    name,
                    error.help("it was too large for run.json to carry; put the old file back"),
                ));
            }
            continue;
        };
        let last = Path::new(&file.name).file_name().unwrap_or(std::ffi::OsStr::new("data"));
        let path = dir.path().join(k.to_string()).join(last);
        std::fs::create_dir_all(dir.path().join(k.to_string())).map_err(fail)?;
        std::fs::write(&path, bytes).map_err(fail)?;
        elsewhere.push((file.name.clone(), path));
    }
    let mut file = ModelFile::parse_with(name, text, base, &elsewhere)?;
    for (name, word) in inputs {
        let moved = elsewhere.iter().find(|(n, _)| n == word).map(|(_, path)| path.display().to_string());
        file.replace_input(name, moved.as_ref().unwrap_or(word), base)?;
    }
    Ok(file)
}

/// What `run.json` says.
fn described(path: &Path) -> Result<SavedRun, SetupError> {
    let text = read::text(path, "record of a run", 1 << 28).map_err(|e| *e.error)?;
    let name = path.display().to_string();
    let other = || {
        SetupError::new(format!("`{name}` was not written by this version of `saltus run`"))
            .help("name the directory that --out wrote; a run of an earlier version must be made again")
    };
    let record: Value = serde_json::from_str(&text).map_err(|_| damaged(&name))?;
    let summary = record.get("summary").ok_or_else(other)?;
    let words = |key: &str| -> Vec<String> {
        summary[key].as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_string)).collect()
    };
    let mut run: SavedRun = serde_json::from_str(&text).map_err(|_| other())?;
    run.title = summary["title"].as_str().unwrap_or_default().to_string();
    (run.coordinates, run.constraints) = (words("coordinates"), words("constraints"));
    (run.states, run.joints, run.frictions) = (words("states"), words("joints"), words("frictions"));
    if run.coordinates.is_empty() {
        return Err(damaged(&name));
    }
    Ok(run)
}

/// An array of numbers in an archive, if it is there.
fn array<R: Read + std::io::Seek>(
    archive: &mut zip::ZipArchive<R>,
    what: &str,
    name: &str,
) -> Result<Option<Vec<f64>>, SetupError> {
    let entry = match archive.by_name(&format!("{what}.npy")) {
        Ok(entry) => entry,
        Err(zip::result::ZipError::FileNotFound) => return Ok(None),
        Err(_) => return Err(damaged(name)),
    };
    let size = entry.size();
    let file = npyz::NpyFile::new(entry).map_err(|_| damaged(name))?;
    // Memory is reserved only for what is there.
    if file.len().checked_mul(8).is_none_or(|bytes| bytes > size) {
        return Err(damaged(name));
    }
    file.into_vec::<f64>().map(Some).map_err(|_| damaged(name))
}

/// The named columns of a table, row by row.
fn table(path: &Path, columns: &[String]) -> Result<Vec<Vec<String>>, SetupError> {
    let text = read::text(path, "table", LARGEST).map_err(|e| *e.error)?;
    let name = path.display().to_string();
    let mut rows = records(&text).into_iter();
    let header = rows.next().ok_or_else(|| damaged(&name))?;
    let place = |column: &String| header.iter().position(|h| *h == inert(column)).ok_or_else(|| damaged(&name));
    let places = columns.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
    rows.map(|row| match row.len() == header.len() {
        true => Ok(places.iter().map(|&p| row[p].clone()).collect()),
        false => Err(damaged(&name)),
    })
    .collect()
}

/// The records of a CSV text; fields in quotes may hold commas, line ends and doubled quotes.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

fn value(text: &str, path: &Path) -> Result<f64, SetupError> {
    text.parse().map_err(|_| damaged(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_with_anything_in_them() {
        let rows = records("a,\"b, \"\"c\"\"\"\r\n1,\"two\nlines\"\n3,");
        assert_eq!(rows, [vec!["a", "b, \"c\""], vec!["1", "two\nlines"], vec!["3", ""]]);
        assert!(records("").is_empty());
    }
}
