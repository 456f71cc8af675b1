//! `picture.json`: what is shown of a family.

use saltus::SetupError;
use saltus_io::output::{WriteError, write_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of the file.
const NAME: &str = "picture.json";

/// Where a motion is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// Once a period.
    Strobe,
    /// At its impacts.
    Impacts,
    /// Where an expression vanishes.
    Section,
}

impl At {
    /// The table of these instants.
    pub fn table(self) -> &'static str {
        match self {
            At::Strobe => "strobe",
            At::Impacts => "impacts",
            At::Section => "sections",
        }
    }
}

/// What is shown of a family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "picture", rename_all = "lowercase")]
pub enum Picture {
    /// A quantity over a parameter.
    Bifurcation {
        /// Where it is taken.
        at: At,
        /// The quantity.
        of: String,
    },
    /// Two parameters, and a quantity as a colour.
    Map {
        /// `period`, `impacts`, `exponent`, or a column of the table of points.
        of: String,
    },
    /// Two quantities of one long motion.
    Section {
        /// Where they are taken.
        at: At,
        /// The quantity across.
        x: String,
        /// The quantity up.
        y: String,
    },
    /// The attractors of all starts in a plane.
    Basins,
}

impl Picture {
    /// Reads that of a directory; None if there is none.
    pub fn read(dir: &Path) -> Result<Option<Self>, SetupError> {
        let path = dir.join(NAME);
        if !path.exists() {
            return Ok(None);
        }
        let fail = |why: String| SetupError::new(format!("cannot read `{}`: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|e| fail(e.to_string()))?;
        let other = |e: serde_json::Error| fail(format!("it was not written by this version, or is damaged ({e})"));
        serde_json::from_str(&text).map(Some).map_err(other)
    }

    /// Writes it into a directory.
    pub fn write(&self, dir: &Path) -> Result<(), WriteError> {
        write_file(&dir.join(NAME), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }
}
