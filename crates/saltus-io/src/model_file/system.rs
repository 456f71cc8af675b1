//! From a model file to a system that can be run.

use super::{ModelFile, defaults::RunDefaults, defaults::numbers};
use crate::FileError;
use saltus::model::Text;
use saltus::scheme::Systems;
use saltus::structure::{Location, Place};
use saltus::{Problem, SetupError, Start, Structure, System};
use std::ops::Deref;

/// What a model file describes.
#[derive(Clone, Debug)]
pub enum AnySystem {
    /// Coordinates, energies and gaps.
    Problem(Problem),
    /// Constant matrices, loads and stops.
    Structure(Structure),
}

impl Deref for AnySystem {
    type Target = dyn System;

    fn deref(&self) -> &(dyn System + 'static) {
        match self {
            AnySystem::Problem(problem) => problem,
            AnySystem::Structure(structure) => structure,
        }
    }
}

/// What is changed of a model for a run, as texts: everything needed, with the file, to make the same system again.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Changes {
    /// Parameters, as (name, expression).
    pub set: Vec<(String, String)>,
    /// Initial values, as (`x`, `x'` or `t`, expression).
    pub start: Vec<(String, String)>,
    /// Numbers of the run (step, end, numeric settings), as (name, expression).
    pub run: Vec<(String, String)>,
    /// Inputs whose files, or seeds, are others, as (name, word): see [`ModelFile::replace_input`], which has been called for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<(String, String)>,
    /// Further points of a structure to record: `x=0.3`, `part:floor=2`, `all`.
    pub observe: Vec<String>,
    /// Whether the start is the nearest one that satisfies the joints.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assemble: bool,
}

/// A system with its start and the run defaults of its file.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The system.
    pub system: AnySystem,
    /// Where it starts.
    pub start: Start,
    /// What the file says about runs.
    pub defaults: RunDefaults,
}

/// Options of the command line are in no file: their spans lie beyond the end of any.
pub(super) const BEYOND: usize = usize::MAX / 2;

impl ModelFile {
    /// Resolves, compiles and checks what the file describes, without any change.
    pub fn system(&self) -> Result<Opened, FileError> {
        self.changed(&Changes::default())
    }

    /// The problem that the file describes; an error for a structure.
    pub fn problem(&self, set: &[(String, String)]) -> Result<(Problem, RunDefaults), FileError> {
        let opened = self.changed(&Changes { set: set.to_vec(), ..Changes::default() })?;
        match opened.system {
            AnySystem::Problem(problem) => Ok((problem, opened.defaults)),
            AnySystem::Structure(_) => {
                Err(FileError::whole(&self.name, SetupError::new("this is a structure, not a model of expressions")))
            }
        }
    }

    /// Resolves, compiles and checks what the file describes, with changes.
    pub fn changed(&self, changes: &Changes) -> Result<Opened, FileError> {
        let mut description = self.description.clone();
        description.overrides = changes.set.to_vec();
        let beyond = |text: &str| Text { text: text.to_string(), span: BEYOND..BEYOND + text.len() };
        let (time, start): (Vec<_>, Vec<_>) = changes.start.iter().cloned().partition(|(name, _)| name == "t");
        for (name, text) in changes.run.iter().chain(&time) {
            let key = if name == "t" { "start.time" } else { name };
            debug_assert!(name == "t" || numbers().any(|n| n == name));
            description.settings.retain(|(k, _)| k != key);
            description.settings.push((key.to_string(), beyond(text)));
        }
        let mut shape = Vec::new();
        match &self.structure {
            None => description.starts = start,
            Some(_) => {
                for (name, text) in start {
                    match name.as_str() {
                        "displacement" | "velocity" => {
                            description.settings.retain(|(k, _)| *k != format!("start.{name}"));
                            description.settings.push((format!("start.{name}"), beyond(&text)));
                        }
                        _ => {
                            description.settings.push((format!("shape.{name}"), beyond(&text)));
                            shape.push(name);
                        }
                    }
                }
            }
        }
        let here = |error: SetupError| self.here(error);
        let model = description.build().map_err(here)?;
        let number = |key: &str| model.settings.iter().find(|s| s.name == key).map(|s| s.value);
        let t0 = number("start.time").unwrap_or(0.0);
        let given: Vec<String> = changes.run.iter().map(|(name, _)| name.clone()).collect();
        let kind = if self.structure.is_some() { Systems::Structures } else { Systems::Models };
        let defaults = RunDefaults::new(&self.run, &model, &given, kind).map_err(here)?;
        let mut assembled = None;
        let system = match &self.structure {
            None => {
                if !changes.observe.is_empty() {
                    let error = SetupError::new("further points can be observed on structures only");
                    return Err(FileError::whole(&self.name, error));
                }
                AnySystem::Problem(match changes.assemble && !model.joints.is_empty() {
                    true => {
                        let (problem, start) = Problem::assemble(model.clone(), t0).map_err(here)?;
                        assembled = Some(start);
                        problem
                    }
                    false => Problem::new(model.clone()).map_err(here)?,
                })
            }
            Some(text) => {
                let wants_start = self.start_is_given(&changes.start);
                let assembly = text.assemble(model.clone(), wants_start).map_err(here)?;
                let whole = |e: SetupError| if e.span.is_some() { e } else { e.at(text.place(), "this structure") };
                let mut structure = Structure::new(assembly).map_err(|e| here(whole(e)))?;
                for place in &changes.observe {
                    observe(&mut structure, place).map_err(here)?;
                }
                AnySystem::Structure(structure)
            }
        };
        let mut start = assembled.unwrap_or_else(|| system.start());
        if let AnySystem::Structure(structure) = &system
            && !shape.is_empty()
        {
            let values: Vec<(String, f64)> =
                shape.into_iter().map(|name| (name.clone(), number(&format!("shape.{name}")).unwrap_or(0.0))).collect();
            start = structure.shaped_start(&values).map_err(here)?;
        }
        start.t = t0;
        if t0 != 0.0 {
            system.admits(&start).map_err(here)?;
        }
        Ok(Opened { system, start, defaults })
    }

    /// A mistake in this file, or in an option of the command.
    pub(super) fn here(&self, mut error: SetupError) -> FileError {
        if error.span.as_ref().is_some_and(|s| s.start >= BEYOND) {
            error.message = format!("in an option of the command: {}", error.message);
            error = error.without_place();
        }
        FileError { name: self.name.clone(), text: self.text.clone(), error: Box::new(error) }
    }

    fn start_is_given(&self, start: &[(String, String)]) -> bool {
        start.iter().any(|(name, _)| name == "displacement" || name == "velocity")
    }
}

/// Adds a place that is written as `x=0.3`, `A:floor=2` or `all`.
fn observe(structure: &mut Structure, word: &str) -> Result<(), SetupError> {
    let bad = || {
        SetupError::new(format!("`{word}` is not a place to observe"))
            .help("a place is x=0.3, rotation=0.3, dof=12, floor=2, or all; with several parts, part:x=0.3")
    };
    let (part, place) = match word.split_once(':') {
        Some((name, place)) => {
            let part = structure.parts().iter().position(|p| p.name == name);
            (part.ok_or_else(|| SetupError::new(format!("there is no part `{name}` to observe")))?, place)
        }
        None => (0, word),
    };
    if place.trim() == "all" {
        let dofs = structure.parts()[part].dimension();
        for k in 1..=dofs {
            structure.observe(&format!("dof{k}"), &Location { part, place: Place::Dof(k) })?;
        }
        return Ok(());
    }
    let (key, value) = place.split_once('=').ok_or_else(bad)?;
    let number: f64 = value.trim().parse().map_err(|_| bad())?;
    let whole = if number.fract() == 0.0 && number >= 0.0 { Some(number as usize) } else { None };
    let place = match (key.trim(), whole) {
        ("x", _) => Place::X(number),
        ("rotation", _) => Place::Rotation(number),
        ("dof", Some(k)) => Place::Dof(k),
        ("floor", Some(k)) => Place::Floor(k),
        _ => return Err(bad()),
    };
    structure.observe(word, &Location { part, place })
}
