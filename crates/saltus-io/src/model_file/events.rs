//! `[[event]]`: events of the user's own.

use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use saltus::SetupError;
use saltus::model::EventText;
use saltus::motion::Crossing;

const EXAMPLE: &str = "[[event]]\n  name = \"section\"\n  value = \"x'\"\n  crossing = \"down\"";

impl Reader<'_> {
    pub(super) fn events(&mut self, value: &Value) -> Result<(), Failure> {
        let list: Vec<&Value> = match (value.get_ref().as_array(), value.get_ref().is_table()) {
            (Some(list), _) => list.iter().collect(),
            (None, true) => vec![value],
            (None, false) => {
                return Err(SetupError::new("events are written as [[event]] sections")
                    .at(value.span(), "not a section")
                    .help(format!("such as  {EXAMPLE}"))
                    .into());
            }
        };
        for value in list {
            let table = tree::table(value, "an event", EXAMPLE)?;
            tree::only(table, "an event", &["name", "value", "crossing"])?;
            let name = need(table, "name", value.span(), "an event", "name = \"section\"")?;
            let expression = need(table, "value", value.span(), "an event", "value = \"x'\"")?;
            let crossing = match get(table, "crossing") {
                None => Crossing::Both,
                Some(word) => crossing(word)?,
            };
            let name = saltus::model::Name { text: tree::string(name, "the name of an event")?, span: name.span() };
            let text = tree::text(self.text, expression, "an event")?;
            self.description.events.push(EventText { name, value: text, crossing });
        }
        Ok(())
    }
}

fn crossing(value: &Value) -> Result<Crossing, SetupError> {
    let word = tree::string(value, "a crossing")?;
    let known = Crossing::ALL.map(Crossing::name);
    Crossing::ALL.into_iter().find(|c| c.name() == word).ok_or_else(|| {
        SetupError::unknown(format!("unknown crossing `{word}`"), &word, known.into_iter(), "there are")
            .at(value.span(), "not known")
    })
}
