//! Units, as texts for axes and tables: nothing is computed with them.

use super::State;
use super::description::{Description, Name, Unit};
use crate::SetupError;

/// The units a model gives; empty where it gives none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Units {
    /// Of time.
    pub time: String,
    /// Of gaps.
    pub length: String,
    /// Of reaction densities.
    pub force: String,
    /// Of impulses.
    pub impulse: String,
    /// Of energies.
    pub energy: String,
    /// Of each coordinate.
    pub coordinates: Vec<String>,
    /// Of each first-order state.
    pub states: Vec<String>,
    /// Of parameters, by name.
    pub parameters: Vec<(String, String)>,
}

/// What has a unit besides coordinates, states and parameters.
const QUANTITIES: [&str; 5] = ["time", "length", "force", "impulse", "energy"];

impl Units {
    /// Resolves the units of a text; `members` says how many coordinates each entry of `[coordinates]` stands for.
    pub(super) fn new(text: &Description, members: &[usize], states: &[State]) -> Result<Units, SetupError> {
        let coordinates = vec![String::new(); members.iter().sum()];
        let mut units = Units { coordinates, states: vec![String::new(); states.len()], ..Units::default() };
        for Unit { name, unit } in &text.units {
            let slot = match name.text.as_str() {
                "time" => &mut units.time,
                "length" => &mut units.length,
                "force" => &mut units.force,
                "impulse" => &mut units.impulse,
                "energy" => &mut units.energy,
                other => {
                    if let Some(k) = text.coordinates.iter().position(|c| c.name.text == other) {
                        let first: usize = members[..k].iter().sum();
                        units.coordinates[first..first + members[k]].fill(unit.clone());
                    } else if text.states.iter().any(|s| s.name.text == other) {
                        let of = |state: &State| state.name.split('[').next() == Some(other);
                        let own = units.states.iter_mut().zip(states).filter(|(_, state)| of(state));
                        own.for_each(|(slot, _)| slot.clone_from(unit));
                    } else if text.parameters.iter().any(|p| p.name.text == other) {
                        units.parameters.push((other.to_string(), unit.clone()));
                    } else {
                        return Err(unknown(text, name));
                    }
                    continue;
                }
            };
            *slot = unit.clone();
        }
        Ok(units)
    }

    /// The unit of coordinate `i`.
    pub fn position(&self, i: usize) -> &str {
        self.coordinates.get(i).map_or("", String::as_str)
    }

    /// The unit of its velocity, where that of the coordinate and of time are known.
    pub fn velocity(&self, i: usize) -> String {
        per(self.position(i), &self.time)
    }

    /// The unit of a speed along lengths.
    pub fn speed(&self) -> String {
        per(&self.length, &self.time)
    }

    /// The unit of an acceleration along lengths.
    pub fn acceleration(&self) -> String {
        match (self.length.as_str(), self.time.as_str()) {
            ("", _) | (_, "") => String::new(),
            (length, time) => format!("{length}/{time}²"),
        }
    }

    /// The unit of a power.
    pub fn power(&self) -> String {
        match (self.energy.as_str(), self.time.as_str()) {
            ("J", "s") => "W".into(),
            (energy, time) => per(energy, time),
        }
    }

    /// The unit of a frequency.
    pub fn frequency(&self) -> String {
        match self.time.as_str() {
            "s" | "" => "Hz".into(),
            time => format!("1/{time}"),
        }
    }

    /// The unit of first-order state `k`.
    pub fn state(&self, k: usize) -> &str {
        self.states.get(k).map_or("", String::as_str)
    }

    /// The unit of a parameter, without its index.
    pub fn parameter(&self, name: &str) -> &str {
        let family = name.split('[').next().unwrap_or(name);
        self.parameters.iter().find(|(n, _)| n == family).map_or("", |(_, unit)| unit)
    }
}

/// One unit over another; none where either is not known.
fn per(unit: &str, of: &str) -> String {
    if unit.is_empty() || of.is_empty() { String::new() } else { format!("{unit}/{of}") }
}

fn unknown(text: &Description, name: &Name) -> SetupError {
    let known = QUANTITIES.into_iter().chain(text.coordinates.iter().map(|c| c.name.text.as_str()));
    let known = known.chain(text.states.iter().map(|s| s.name.text.as_str()));
    let known = known.chain(text.parameters.iter().map(|p| p.name.text.as_str()));
    let message = format!("`{}` is neither a quantity, a coordinate, a state nor a parameter", name.text);
    SetupError::unknown(message, &name.text, known, "units can be given for").at(name.span.clone(), "not known")
}
