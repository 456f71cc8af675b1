//! The models that come with Saltus, embedded so that an installed binary has them, with the data files they name.

use crate::{FileError, ModelFile};
use saltus::SetupError;
use std::path::Path;

macro_rules! texts {
    ($directory:literal, $ending:literal, $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../models/", $directory, $name, $ending)))),*]
    };
}

/// Names and texts of the shipped models.
pub const MODELS: &[(&str, &str)] = texts![
    "",
    ".toml",
    "ball",
    "ball-gravity",
    "ball-table",
    "wedge",
    "corner",
    "oscillator",
    "rocking-block",
    "rod",
    "double-pendulum",
    "moving-corner",
    "hard-rods",
    "disc",
    "dome",
    "pounding",
    "guided-tube",
    "beam-stops",
    "bar-wall",
    "tight-joint",
    "pounding-record",
    "racks",
    "frame",
    "belt",
    "capsule",
    "painleve-rod",
    "spinning-ball",
    "rub",
    "slider-crank",
    "four-bar",
    "valve",
    "harvester",
];

/// Names and texts of the data files that some of them read.
pub const DATA: &[(&str, &str)] = texts!["", "", "synthetic.at2", "frame-M.mtx", "frame-K.mtx"];

/// The data files that a shipped model reads.
pub fn data(text: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> + '_ {
    DATA.iter().filter(move |(name, _)| text.contains(&format!("\"{name}\"")))
}

/// The shipped model of a given name.
pub fn find(name: &str) -> Option<Result<ModelFile, FileError>> {
    let (name, text) = MODELS.iter().find(|(n, _)| *n == name)?;
    if data(text).next().is_none() {
        return Some(ModelFile::parse(name, text, Path::new("")));
    }
    // Files are read when a model is parsed: they need to be there only as long as that takes.
    let fail = |e: std::io::Error| {
        FileError::whole(name, SetupError::new(format!("cannot lay out the data of this model: {e}")))
    };
    Some(tempfile::tempdir().map_err(fail).and_then(|dir| {
        for (file, content) in data(text) {
            std::fs::write(dir.path().join(file), content).map_err(fail)?;
        }
        ModelFile::parse(name, text, dir.path())
    }))
}

/// The names of the shipped models that are structures, or of those that are not.
pub fn names(structures: bool) -> impl Iterator<Item = &'static str> {
    let is_structure = |text: &str| text.lines().any(|line| line == "[structure]" || line == "[[structure]]");
    MODELS.iter().filter(move |(_, text)| is_structure(text) == structures).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_shipped() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/models")).expect("models/");
        let files: BTreeSet<String> =
            files.map(|f| f.expect("a file").file_name().into_string().expect("UTF-8")).collect();
        let models = MODELS.iter().map(|(name, _)| format!("{name}.toml"));
        let shipped: BTreeSet<String> = models.chain(DATA.iter().map(|(name, _)| name.to_string())).collect();
        assert_eq!(files, shipped);
    }
}
