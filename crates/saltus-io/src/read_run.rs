//! Reading back what `saltus run --out DIR` wrote.

use crate::read::{self, reason};
use crate::{FileError, ModelFile, System, shipped};
use saltus::SetupError;
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// An impact of a run, from `impacts.csv`.
#[derive(Clone, Debug, Default)]
pub struct ImpactRead {
    /// Its instant.
    pub t: f64,
    /// (constraint, impulse) of each that acted.
    pub impulses: Vec<(usize, f64)>,
    /// The gap velocity of the constraint that closed fastest, negative.
    pub approach: f64,
    /// The change of kinetic energy.
    pub energy_change: f64,
}

/// The files of a run.
#[derive(Clone, Debug, Default)]
pub struct RunFiles {
    /// The model's title.
    pub title: String,
    /// The model's name as it was given.
    pub model: String,
    /// Its text.
    pub model_text: String,
    /// Parameters replaced on the command line.
    pub overrides: Vec<(String, String)>,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Names of the constraints.
    pub constraints: Vec<String>,
    /// The stored instants.
    pub t: Vec<f64>,
    /// Positions, a row an instant.
    pub q: Vec<f64>,
    /// Left limits of the velocity.
    pub v_left: Vec<f64>,
    /// Right limits.
    pub v_right: Vec<f64>,
    /// Reaction densities, a row an instant; empty if the scheme gives none.
    pub reaction: Vec<f64>,
    /// The impacts.
    pub impacts: Vec<ImpactRead>,
    /// Contacts: constraint, start, end, impulse.
    pub contacts: Vec<(usize, f64, f64, f64)>,
}

/// Tables beyond this are not read.
const LARGEST: u64 = 1 << 31;

impl RunFiles {
    /// Reads a directory.
    pub fn open(dir: &Path) -> Result<RunFiles, SetupError> {
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
            return Err(SetupError::new(message).help(made));
        }
        let mut run = described(&record)?;
        run.trajectory(&dir.join("trajectory.npz"))?;
        run.read_impacts(&dir.join("impacts.csv"))?;
        run.read_contacts(&dir.join("contacts.csv"))?;
        Ok(run)
    }

    /// What was solved, made again from the model's text: for gaps and energies, which are not in the files.
    pub fn system(&self) -> Result<System, FileError> {
        // Files that the model names are looked for beside it, where the run found them; a shipped one has its own.
        let base = Path::new(&self.model).parent().unwrap_or(Path::new("."));
        let file = match shipped::MODELS.iter().any(|(name, text)| *name == self.model && *text == self.model_text) {
            true => {
                shipped::find(&self.model).unwrap_or_else(|| ModelFile::parse(&self.model, &self.model_text, base))?
            }
            false => ModelFile::parse(&self.model, &self.model_text, base)?,
        };
        Ok(file.system(&self.overrides, &[])?.0)
    }

    fn trajectory(&mut self, path: &Path) -> Result<(), SetupError> {
        let name = path.display().to_string();
        if !path.exists() {
            let help = "figures are made of trajectory.npz: run again with `npz` among the formats (--format npz,…)";
            return Err(SetupError::new(format!("there is no `{name}`")).help(help));
        }
        let file = File::open(path).map_err(|e| SetupError::new(format!("cannot open `{name}`: {}", reason(&e))))?;
        let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|_| damaged(&name))?;
        let (d, m) = (self.coordinates.len(), self.constraints.len());
        self.t = array(&mut archive, "t", &name)?.ok_or_else(|| damaged(&name))?;
        let n = self.t.len();
        let mut matrix = |what: &str, width: usize, needed: bool| match array(&mut archive, what, &name)? {
            Some(values) if values.len() == n * width => Ok(values),
            Some(_) => Err(foreign(&name)),
            None if needed => Err(damaged(&name)),
            None => Ok(Vec::new()),
        };
        self.q = matrix("q", d, true)?;
        self.v_left = matrix("v_left", d, true)?;
        self.v_right = matrix("v_right", d, true)?;
        self.reaction = matrix("reaction", m, false)?;
        if self.t.windows(2).any(|w| !(w[0] <= w[1])) {
            return Err(foreign(&name));
        }
        Ok(())
    }

    fn read_impacts(&mut self, path: &Path) -> Result<(), SetupError> {
        let columns = ["impact", "t", "constraint", "impulse", "approach", "energy_change"];
        let mut last = String::new();
        for row in table(path, &columns)? {
            let [number, t, constraint, impulse, approach, change] = row.each_ref().map(String::as_str);
            let a = self.constraint(constraint, path)?;
            if number != last {
                let (t, approach, energy_change) = (value(t, path)?, value(approach, path)?, value(change, path)?);
                self.impacts.push(ImpactRead { t, approach, energy_change, impulses: Vec::new() });
                last = number.to_string();
            }
            let impulse = value(impulse, path)?;
            if let Some(impact) = self.impacts.last_mut() {
                impact.impulses.push((a, impulse));
            }
        }
        Ok(())
    }

    fn read_contacts(&mut self, path: &Path) -> Result<(), SetupError> {
        for row in table(path, &["constraint", "start", "end", "impulse"])? {
            let [constraint, start, end, impulse] = row.each_ref().map(String::as_str);
            let a = self.constraint(constraint, path)?;
            self.contacts.push((a, value(start, path)?, value(end, path)?, value(impulse, path)?));
        }
        Ok(())
    }

    fn constraint(&self, name: &str, path: &Path) -> Result<usize, SetupError> {
        self.constraints.iter().position(|c| c == name).ok_or_else(|| foreign(&path.display().to_string()))
    }
}

fn damaged(name: &str) -> SetupError {
    SetupError::new(format!("`{name}` is damaged or incomplete")).help("run again with --out to write it anew")
}

fn foreign(name: &str) -> SetupError {
    let help = "the files of a directory belong together; run again with --out to write them anew";
    SetupError::new(format!("`{name}` does not belong to the run.json beside it")).help(help)
}

/// What `run.json` says.
fn described(path: &Path) -> Result<RunFiles, SetupError> {
    let text = read::text(path, "record of a run", 1 << 28).map_err(|e| *e.error)?;
    let name = path.display().to_string();
    let record: Value = serde_json::from_str(&text).map_err(|_| damaged(&name))?;
    let other = || {
        SetupError::new(format!("`{name}` was not written by `saltus run`")).help("name the directory that --out wrote")
    };
    let words = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|v| v.as_str().map(str::to_string)).collect()
    };
    let read = || -> Option<RunFiles> {
        let summary = &record["summary"];
        let pair = |v: &Value| Some((v[0].as_str()?.to_string(), v[1].as_str()?.to_string()));
        Some(RunFiles {
            title: summary["title"].as_str()?.to_string(),
            model: summary["model"].as_str()?.to_string(),
            model_text: record["model_text"].as_str()?.to_string(),
            overrides: record["overrides"].as_array()?.iter().map(pair).collect::<Option<_>>()?,
            coordinates: words(&summary["coordinates"])?,
            constraints: words(&summary["constraints"])?,
            ..RunFiles::default()
        })
    };
    read().filter(|r| !r.coordinates.is_empty()).ok_or_else(other)
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
    // What is not there is not made room for.
    if file.len().checked_mul(8).is_none_or(|bytes| bytes > size) {
        return Err(damaged(name));
    }
    file.into_vec::<f64>().map(Some).map_err(|_| damaged(name))
}

/// The named columns of a table, row by row.
fn table<const N: usize>(path: &Path, columns: &[&str; N]) -> Result<Vec<[String; N]>, SetupError> {
    let text = read::text(path, "table", LARGEST).map_err(|e| *e.error)?;
    let name = path.display().to_string();
    let mut rows = records(&text).into_iter();
    let header = rows.next().ok_or_else(|| damaged(&name))?;
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = header.iter().position(|h| h == column).ok_or_else(|| damaged(&name))?;
    }
    rows.map(|row| {
        let all = places.map(|p| row.get(p).cloned());
        if row.len() != header.len() || all.iter().any(Option::is_none) {
            return Err(damaged(&name));
        }
        Ok(all.map(Option::unwrap_or_default))
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
