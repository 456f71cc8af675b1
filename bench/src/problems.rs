//! The five problems of families of motions: a name, the model file, and the range of the frequency.

use saltus::Problem;
use saltus_io::ModelFile;
use std::path::Path;

pub const PROBLEMS: [(&str, &str, f64, f64); 5] = [
    ("A  linear oscillator", include_str!("../models/stop.toml"), 0.5, 1.5),
    ("B  Duffing", include_str!("../models/duffing.toml"), 0.5, 1.5),
    ("S  Duffing, sticking", include_str!("../models/sticking.toml"), 0.5, 1.5),
    ("C  impact pair", include_str!("../models/pair.toml"), 0.5, 1.5),
    ("D  double pendulum", include_str!("../models/pendulum.toml"), 3.0, 5.0),
];

/// The problem of a model file, with the frequency left open.
pub fn problem(text: &str) -> Problem {
    let file = ModelFile::parse("model.toml", text, Path::new(".")).expect("parses");
    let (problem, _) = file.problem(&[]).expect("valid");
    problem.model().open(&["w"]).and_then(|model| model.problem()).expect("a problem")
}
