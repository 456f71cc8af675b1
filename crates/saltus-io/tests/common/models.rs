//! Models that are meant to be valid, from their files.

use saltus::Problem;
use saltus_io::{ModelFile, RunDefaults, shipped};

/// The file of a shipped model.
pub fn shipped_file(name: &str) -> ModelFile {
    shipped::find(name).expect("shipped").expect("parses")
}

/// The problem of a model with some parameters replaced.
pub fn problem(file: &ModelFile, set: &[(&str, f64)]) -> (Problem, RunDefaults) {
    let overrides: Vec<_> = set.iter().map(|(n, v)| (n.to_string(), format!("{v:?}"))).collect();
    file.problem(&overrides).expect("a valid model")
}
