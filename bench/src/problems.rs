//! The five problems of families of motions: a name, the model file, and the range of the frequency.

use saltus::Problem;
use saltus_ensemble::Job;
use saltus_io::ModelFile;
use std::path::Path;

pub const PROBLEMS: [(&str, &str, f64, f64); 5] = [
    ("A  linear oscillator", include_str!("../models/stop.toml"), 0.5, 1.5),
    ("B  Duffing", include_str!("../models/duffing.toml"), 0.5, 1.5),
    ("S  Duffing, sticking", include_str!("../models/sticking.toml"), 0.5, 1.5),
    ("C  impact pair", include_str!("../models/pair.toml"), 0.5, 1.5),
    ("D  double pendulum", include_str!("../models/pendulum.toml"), 3.0, 5.0),
];

/// A relief valve, over the flow into its vessel: followed for a number of returns to its largest lift.
pub const VALVE: &str = include_str!("../models/valve.toml");
pub const FLOWS: (f64, f64) = (0.2, 10.0);

/// Trajectories of the valve over its flows, up to a time that is long for so many returns.
pub fn valve(problem: &Problem, count: usize, returns: u64) -> Vec<Job> {
    let job = |k: usize| {
        let q = FLOWS.0 + (FLOWS.1 - FLOWS.0) * k as f64 / (count - 1) as f64;
        let start = problem.start_with(&[("q", q)]).expect("a start");
        Job { start, from: 0.0, end: 10.0 * returns as f64, strobe: None, step: None }
    };
    (0..count).map(job).collect()
}

/// The problem of a model file, with the frequency left open, or the flow.
pub fn problem(text: &str) -> Problem {
    let file = ModelFile::parse("model.toml", text, Path::new(".")).expect("parses");
    let (problem, _) = file.problem(&[]).expect("valid");
    let varied = if text == VALVE { "q" } else { "w" };
    problem.model().open(&[varied]).and_then(|model| model.problem()).expect("a problem")
}
