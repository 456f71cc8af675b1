//! `run.json`: everything needed to make a run again, and its summary.

use super::Summary;
use crate::model_file::sha256;
use crate::{Changes, ModelFile};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use saltus::problem::{Memory, Reached};
use saltus::scheme::{SettingValue, Settings};
use saltus::structure::Reduction;
use saltus::{Model, Options, Run, SetupError, Start};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// Data files of more than this together are named with their hash, not carried along.
const MAX_EMBEDDED: usize = 64 << 20;

/// A data file that a model names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DataFile {
    /// Its name in the model.
    pub name: String,
    /// SHA-256 of its contents.
    pub sha256: String,
    /// Its contents, deflated and in base64; none where they are too large.
    pub data: Option<String>,
}

/// A start other than the model's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartRecord {
    /// The time.
    pub t: f64,
    /// The position of all degrees of freedom.
    pub q: Vec<f64>,
    /// The velocity.
    pub v: Vec<f64>,
    /// First-order states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub z: Vec<f64>,
    /// Open parameters.
    pub parameters: Vec<f64>,
    /// The constraints that are closed, where a run reached this state.
    pub closed: Option<Vec<usize>>,
    /// The modes of a structure that ran in them, and whether with residual flexibility.
    pub modes: Option<(usize, bool)>,
    /// Whether the scheme of that run was within an impact.
    pub within_impact: bool,
    /// The sides of the events that the run was on ([`Reached::sides`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<i8>,
    /// What the scheme of that run remembers besides: step, origin and number of steps, and its values ([`Reached::memory`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<f64>,
}

/// What a scheme remembers, as numbers: step, origin and number of steps, and its values.
pub(super) fn memory_as_numbers(by: &Reached) -> Vec<f64> {
    let numbers = |m: &Memory| [&[m.step, m.origin, m.steps as f64], m.values.as_slice()].concat();
    by.memory.as_ref().map(numbers).unwrap_or_default()
}

/// The same from numbers, at a state (q, v).
pub(crate) fn memory_from_numbers(numbers: &[f64], q: &[f64], v: &[f64]) -> Option<Memory> {
    let [step, origin, steps, values @ ..] = numbers else { return None };
    let (q, v) = (q.to_vec(), v.to_vec());
    Some(Memory { step: *step, origin: *origin, steps: *steps as u64, values: values.to_vec(), q, v })
}

impl StartRecord {
    /// Of a start of a model with so many first-order states.
    pub fn new(start: &Start, states: usize) -> Self {
        let (q, v, z) = start.parts(states);
        let by = start.reached_by();
        StartRecord {
            t: start.t,
            q: q.to_vec(),
            v: v.to_vec(),
            z: z.to_vec(),
            parameters: start.parameters.clone(),
            closed: by.map(|by| by.closed.clone()),
            modes: by.and_then(|by| by.modes),
            within_impact: by.is_some_and(|by| by.within_impact),
            sides: by.map(|by| by.sides.clone()).unwrap_or_default(),
            memory: by.map(memory_as_numbers).unwrap_or_default(),
        }
    }

    /// The start.
    pub fn start(&self) -> Start {
        let v = [self.v.as_slice(), &self.z].concat();
        let start = Start::new(self.t, self.q.clone(), v).with_parameters(self.parameters.clone());
        match &self.closed {
            Some(closed) => {
                let (closed, sides) = (closed.clone(), self.sides.clone());
                let memory = memory_from_numbers(&self.memory, &start.q, &start.v);
                let within_impact = self.within_impact;
                start.reached(Reached { closed, modes: self.modes, within_impact, sides, memory })
            }
            None => start,
        }
    }
}

/// The options of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OptionsRecord {
    /// The scheme asked for.
    pub scheme: String,
    /// The settings given, as (name, value).
    pub settings: Vec<(String, serde_json::Value)>,
    /// The step asked for.
    pub step: Option<f64>,
    /// The end time.
    pub end: f64,
    /// Every how many steps an instant was stored.
    pub every: u64,
    /// Whether the run was to stop at rest.
    pub until_rest: bool,
    /// The number of modes, for a reduced structure.
    pub modes: Option<usize>,
    /// Whether the modes left out lend their flexibility to the stops.
    pub residual: bool,
}

impl From<&Options> for OptionsRecord {
    fn from(o: &Options) -> Self {
        let value = |v: &SettingValue| match v {
            SettingValue::Number(x) => serde_json::json!(x),
            SettingValue::Word(word) => serde_json::json!(word),
        };
        OptionsRecord {
            scheme: o.scheme.name.to_string(),
            settings: o.settings.given().map(|(n, v)| (n.to_string(), value(v))).collect(),
            step: o.step,
            end: o.end,
            every: o.every,
            until_rest: o.until_rest,
            modes: o.reduction.map(|r| r.modes),
            residual: o.reduction.is_some_and(|r| r.residual),
        }
    }
}

impl OptionsRecord {
    /// The options.
    pub fn options(&self) -> Result<Options, SetupError> {
        let mut options = Options::with(saltus::scheme::find(&self.scheme)?, self.end).every(self.every);
        let mut settings = Settings::new();
        for (name, value) in &self.settings {
            match (value.as_f64(), value.as_str()) {
                (Some(x), _) => settings.set(name, x),
                (_, Some(word)) => settings.set(name, word),
                _ => return Err(SetupError::new(format!("the setting `{name}` is neither a number nor a word"))),
            }
        }
        options.settings = settings;
        options.step = self.step;
        options.until_rest = self.until_rest;
        options.reduction = self.modes.map(|modes| Reduction { modes, residual: self.residual });
        Ok(options)
    }
}

/// Everything needed to make a run again, and its summary.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The version of Saltus.
    pub saltus: String,
    /// The model's name as given.
    pub model: String,
    /// Its text.
    pub model_text: String,
    /// SHA-256 of the text.
    pub model_sha256: String,
    /// The data files it names.
    pub files: Vec<DataFile>,
    /// What was changed of it.
    pub changes: Changes,
    /// All parameters with their values.
    pub parameters: Vec<(String, f64)>,
    /// The options.
    pub options: OptionsRecord,
    /// The start, where it is not the model's own.
    pub start: Option<StartRecord>,
    /// Touches closer in time than this were counted as one shock, where it was given.
    pub rest: Option<f64>,
    /// The summary.
    pub summary: Summary,
}

impl Record {
    /// Puts the record of a run together. `own_start`: the run started where the (changed) model says.
    pub fn new(
        file: &ModelFile,
        model: &Model,
        changes: &Changes,
        run: &Run,
        own_start: bool,
        rest: Option<f64>,
        summary: Summary,
    ) -> Self {
        Record {
            saltus: env!("CARGO_PKG_VERSION").to_string(),
            model: file.name.clone(),
            model_text: file.text.clone(),
            model_sha256: file.hash(),
            files: DataFile::of(file),
            changes: changes.clone(),
            parameters: model.parameters.clone(),
            options: OptionsRecord::from(&run.options),
            start: (!own_start).then(|| StartRecord::new(&run.start, model.states.len())),
            rest,
            summary,
        }
    }
}

/// The data files of a model, carried along while they are not too large.
fn embedded(file: &ModelFile) -> Vec<DataFile> {
    let mut total = 0;
    let contents = |path: &std::path::Path, name: &str| {
        let shipped = crate::shipped::DATA.iter().find(|(n, _)| *n == name).map(|(_, text)| text.as_bytes().to_vec());
        std::fs::read(path).ok().or(shipped)
    };
    file.files
        .iter()
        .filter_map(|(name, path)| {
            let bytes = contents(path, name)?;
            total += bytes.len();
            let data = (total <= MAX_EMBEDDED).then(|| deflated(&bytes));
            Some(DataFile { name: name.clone(), sha256: sha256(&bytes), data })
        })
        .collect()
}

fn deflated(bytes: &[u8]) -> String {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    STANDARD.encode(packed.unwrap_or_default())
}

impl DataFile {
    /// The data files of a model, carried along while they are not too large.
    pub fn of(file: &ModelFile) -> Vec<DataFile> {
        embedded(file)
    }

    /// The contents, if they were carried along and are what they were.
    pub fn contents(&self) -> Option<Vec<u8>> {
        let packed = STANDARD.decode(self.data.as_ref()?).ok()?;
        let mut bytes = Vec::new();
        let limit = MAX_EMBEDDED as u64 + 1;
        flate2::read::DeflateDecoder::new(&packed[..]).take(limit).read_to_end(&mut bytes).ok()?;
        (sha256(&bytes) == self.sha256).then_some(bytes)
    }
}
