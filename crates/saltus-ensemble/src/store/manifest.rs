//! `sweep.json`: everything needed to make a family again.

use crate::{Request, Sweep};
use saltus::SetupError;
use saltus_io::output::{DataFile, WriteError, write_file};
use saltus_io::{FileError, carried};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The name of the file.
pub const NAME: &str = saltus_io::output::FAMILY;

/// Everything needed to make a family again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of Saltus.
    pub saltus: String,
    /// The model's name as given.
    pub model: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub model_text: String,
    /// SHA-256 of the text.
    pub model_sha256: String,
    /// The data files it names.
    pub files: Vec<DataFile>,
    /// What was asked for.
    pub request: Request,
    /// The number of trajectories of the whole family.
    pub trajectories: u64,
    /// Which part of it belongs here: part k of n.
    pub part: (u64, u64),
}

impl Manifest {
    /// Of a family, of which a part is run.
    pub fn new(sweep: &Sweep, part: (u64, u64)) -> Self {
        Manifest {
            saltus: env!("CARGO_PKG_VERSION").to_string(),
            model: sweep.file.name.clone(),
            title: sweep.file.title().to_string(),
            model_text: sweep.file.text.clone(),
            model_sha256: sweep.file.hash(),
            files: DataFile::of(&sweep.file),
            request: sweep.request.clone(),
            trajectories: sweep.family.len(),
            part,
        }
    }

    /// Reads that of a directory; None if there is none.
    pub fn read(dir: &Path) -> Result<Option<Self>, SetupError> {
        let path = dir.join(NAME);
        if !path.exists() {
            return Ok(None);
        }
        let fail = |why: String| SetupError::new(format!("cannot read `{}`: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|e| fail(e.to_string()))?;
        let other = |e: serde_json::Error| {
            fail(format!("it was not written by this version of `saltus sweep`, or is damaged ({e})"))
        };
        serde_json::from_str(&text).map(Some).map_err(other)
    }

    /// Writes it into a directory.
    pub fn write(&self, dir: &Path) -> Result<(), WriteError> {
        write_file(&dir.join(NAME), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }

    /// What tells a family from every other, whichever part of it this is: a hash of what [`Manifest::difference`] compares.
    pub fn identity(&self) -> String {
        let data: Vec<_> = self.files.iter().map(|file| (&file.name, &file.sha256)).collect();
        let all = (&self.saltus, &self.model_sha256, data, &self.request, self.trajectories);
        saltus_io::sha256(&serde_json::to_vec(&all).unwrap_or_default())
    }

    /// The points that belong to this part.
    pub fn range(&self) -> std::ops::Range<u64> {
        let (k, n) = (u128::from(self.part.0), u128::from(self.part.1.max(1)));
        let at = |k: u128| (u128::from(self.trajectories) * k / n) as u64;
        at(k - 1)..at(k)
    }

    /// Makes the family again, to read what was computed of it: on any machine, whatever computed it.
    pub fn sweep(&self) -> Result<Sweep, FileError> {
        self.request.family(carried(&self.model, &self.model_text, &self.files, &[])?)
    }

    /// The first difference to another family, in words; None if both are the same but for the part.
    pub fn difference(&self, other: &Manifest) -> Option<String> {
        if self.saltus != other.saltus {
            return Some(format!("it was made by version {} of saltus, and this is {}", self.saltus, other.saltus));
        }
        if self.model_sha256 != other.model_sha256 {
            let lines = self.model_text.lines().zip(other.model_text.lines()).enumerate();
            let first = lines.clone().find(|(_, (a, b))| a != b);
            return Some(match first {
                Some((k, (was, is))) => {
                    format!("line {} of the model was `{}` and is `{}`", k + 1, was.trim(), is.trim())
                }
                None => "the model has more or fewer lines".into(),
            });
        }
        let data = |m: &Manifest| m.files.iter().map(|f| (f.name.clone(), f.sha256.clone())).collect::<Vec<_>>();
        let (was, is) = (data(self), data(other));
        if let Some((name, _)) = was.iter().find(|file| !is.contains(file)) {
            return Some(format!("the data file `{name}` of the model has changed"));
        }
        // (Commands of pictures and basins have no --design.)
        if self.request.design.is_empty() != other.request.design.is_empty() {
            return Some("it is of another command".into());
        }
        let fields = |r: &Request| serde_json::to_value(r).unwrap_or_default();
        let (was, is) = (fields(&self.request), fields(&other.request));
        let keys = was.as_object()?.keys();
        let changed = keys.into_iter().find(|key| was[*key] != is[*key])?;
        let (was, is) = (&was[changed], &is[changed]);
        let option = option(changed);
        Some(match (was, is) {
            _ if changed == "code" => format!("it was begun {}, and this is {}", computed(was), computed(is)),
            (Value::Bool(was), Value::Bool(_)) => {
                let with = |is: bool| if is { "with" } else { "without" };
                format!("it was begun {} {option}, and this is {} it", with(*was), with(!*was))
            }
            (Value::Object(_), Value::Object(_)) => format!("the points of {option} are others"),
            _ => format!("{option} was {} and is {}", shown(was), shown(is)),
        })
    }
}

/// How a setting is called on the command line.
fn option(key: &str) -> String {
    match key {
        "listed" => "--points".into(),
        "sections" => "--section".into(),
        "statistics" => "--stat".into(),
        "observe" => "--of".into(),
        "tolerance" => "--tol".into(),
        key => format!("--{key}"),
    }
}

/// What computes it, in the words of the command line.
fn computed(code: &Value) -> &'static str {
    match code.as_str() {
        Some("native") => "with --native",
        Some("gpu") => "with --device gpu",
        Some("auto") => "with --device auto",
        _ => "without --native and --device",
    }
}

/// A setting, as short as it can be understood.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not given".into(),
        Value::Array(list) if list.is_empty() => "not given".into(),
        Value::Array(list) if list.iter().all(Value::is_array) => {
            let pair = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
                Some([Value::String(name), Value::String(value)]) => format!("`{name}={value}`"),
                _ => shown(pair),
            };
            list.iter().map(pair).collect::<Vec<_>>().join(" ")
        }
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(" "),
        Value::String(text) => format!("`{text}`"),
        Value::Object(_) => "another list".into(),
        other => other.to_string(),
    }
}
