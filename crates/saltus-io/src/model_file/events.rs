//! `[[event]]`: events of the user's own.

use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use saltus::model::EventText;
use saltus::motion::Crossing;

const EXAMPLE: &str = "[[event]]\n  name = \"section\"\n  value = \"x'\"\n  crossing = \"down\"";

impl Reader<'_> {
    pub(super) fn events(&mut self, value: &Value) -> Result<(), Failure> {
        for value in tree::sections(value, "events are written as [[event]] sections", EXAMPLE)? {
            let table = tree::table(value, "an event", EXAMPLE)?;
            tree::only(table, "an event", &["name", "value", "crossing"])?;
            let name = need(table, "name", value.span(), "an event", "name = \"section\"")?;
            let expression = need(table, "value", value.span(), "an event", "value = \"x'\"")?;
            let crossing = match get(table, "crossing") {
                None => Crossing::Both,
                Some(word) => tree::one_of(word, "crossing", &Crossing::ALL, Crossing::name)?,
            };
            let name = tree::named(name, "the name of an event")?;
            let text = tree::text(self.text, expression, "an event")?;
            self.description.events.push(EventText { name, value: text, crossing });
        }
        Ok(())
    }
}
