//! The models that come with Saltus, embedded so that an installed binary has them.

use crate::{FileError, ModelFile};
use std::path::Path;

macro_rules! models {
    ($($name:literal),* $(,)?) => {
        /// Names and texts of the shipped models.
        pub const MODELS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../models/", $name, ".toml")))),*];
    };
}

models![
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
];

/// The shipped model of a given name.
pub fn find(name: &str) -> Option<Result<ModelFile, FileError>> {
    let (name, text) = MODELS.iter().find(|(n, _)| *n == name)?;
    Some(ModelFile::parse(name, text, Path::new("")))
}
