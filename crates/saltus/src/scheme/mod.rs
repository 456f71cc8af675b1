//! The schemes: one file each, and the one list of them.
//!
//! A new scheme is a new file beside this one and one line in [`SCHEMES`]. Everything else (the command line, the
//! tests every scheme must pass, the benches) follows from the list. What a scheme declares is in `declaration`, the
//! contract of its steps in `stepping`.

mod auto;
mod bernicot_lefebvre;
mod bonded;
mod collocated;
mod declaration;
mod event_driven;
mod mabrouk;
mod momentum;
mod moreau_jean;
mod moreau_midpoint;
mod paoli_schatzman;
mod penalty;

pub use crate::stepping::{Account, Choice, Domain, Node, Setting, SettingValue, Settings, Stepper, Systems};
pub use declaration::{Laws, Method, Scheme, StartSteps, Stepping, StructureSteps};
pub use event_driven::TOLERANCE;

use crate::SetupError;

/// All schemes; the first is the default.
pub const SCHEMES: &[Scheme] = &[
    auto::SCHEME,
    event_driven::SCHEME,
    paoli_schatzman::SCHEME,
    mabrouk::SCHEME,
    moreau_midpoint::SCHEME,
    moreau_jean::SCHEME,
    bernicot_lefebvre::SCHEME,
    penalty::SCHEME,
];

/// The scheme of a given name; for an unknown name the error suggests the nearest one.
pub fn find(name: &str) -> Result<Scheme, SetupError> {
    SCHEMES.iter().find(|s| s.name == name).copied().ok_or_else(|| {
        let known = SCHEMES.iter().map(|s| s.name);
        SetupError::unknown(format!("there is no scheme `{name}`"), name, known, "the schemes are")
    })
}

/// The settings of all schemes, each once, with the schemes that have it.
pub fn all_settings() -> Vec<(&'static Setting, Vec<&'static str>)> {
    let mut all: Vec<(&'static Setting, Vec<&'static str>)> = Vec::new();
    for scheme in SCHEMES {
        for setting in scheme.settings {
            match all.iter_mut().find(|(s, _)| s.name == setting.name) {
                Some((_, schemes)) => schemes.push(scheme.name),
                None => all.push((setting, vec![scheme.name])),
            }
        }
    }
    all
}
