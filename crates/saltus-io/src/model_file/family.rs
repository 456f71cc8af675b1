//! From a model file to a family of motions: parameters left open, sections and quantities of the user's own.

use super::system::BEYOND;
use super::{Changes, ModelFile};
use crate::FileError;
use saltus::model::{EventText, Text};
use saltus::motion::Crossing;
use saltus::{Model, SetupError};
use std::sync::Arc;

/// What a family of motions adds to a model, as texts.
#[derive(Clone, Debug, Default)]
pub struct FamilyText {
    /// The parameters that stay open.
    pub open: Vec<String>,
    /// Sections: expressions, or names of events of the model, and the direction of the crossing. They replace the model's events.
    pub sections: Vec<(String, Option<Crossing>)>,
    /// Quantities of which statistics are wanted.
    pub quantities: Vec<String>,
    /// Further numbers made of parameters, as (name, expression).
    pub numbers: Vec<(String, String)>,
}

impl ModelFile {
    /// The model of a family of motions. Its start need not be admissible: those of the family are checked one by one.
    pub fn family(&self, changes: &Changes, more: &FamilyText) -> Result<Arc<Model>, FileError> {
        if self.is_structure() {
            let error = SetupError::new("families of motions are not supported for structures")
                .help("a small structure can be written with coordinates and energies: docs/model-files.md");
            return Err(FileError::whole(&self.name, error));
        }
        let mut description = self.description.clone();
        description.overrides.clone_from(&changes.set);
        let (time, start): (Vec<_>, Vec<_>) = changes.start.iter().cloned().partition(|(name, _)| name == "t");
        description.starts = start;
        let text = |text: &str| Text { text: text.to_string(), span: BEYOND..BEYOND + text.len() };
        let own = std::mem::take(&mut description.events);
        for (word, crossing) in &more.sections {
            let mut event = match own.iter().find(|e| e.name.text.trim() == word) {
                Some(event) => EventText { crossing: crossing.unwrap_or(event.crossing), ..event.clone() },
                None => EventText { name: text(word), value: text(word), crossing: crossing.unwrap_or_default() },
            };
            // (Maxima and minima are the same section in two directions.)
            if more.sections.iter().filter(|(other, _)| other == word).count() > 1 {
                event.name = text(&format!("{word}:{}", event.crossing.name()));
            }
            description.events.push(event);
        }
        description.quantities.extend(more.quantities.iter().map(|q| text(q)));
        let time = time.into_iter().map(|(_, value)| ("start.time".to_string(), value));
        for (name, value) in changes.run.iter().chain(&more.numbers).cloned().chain(time) {
            let (name, value) = (&name, &value);
            description.settings.retain(|(k, _)| k != name);
            description.settings.push((name.clone(), text(value)));
        }
        let here = |e: SetupError| self.here(e);
        let model = description.build().map_err(here)?;
        let names: Vec<&str> = more.open.iter().map(String::as_str).collect();
        if names.is_empty() { Ok(model) } else { model.open(&names).map_err(here) }
    }
}
