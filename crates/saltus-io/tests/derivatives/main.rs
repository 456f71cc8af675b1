//! Derivatives of ten random motions against finite differences in 50-digit arithmetic, which share no code with Saltus:
//! `reference.py` makes `reference.json` and says how.

mod shipped;

use saltus::motion::Variation;
use saltus::{Options, System};
use saltus_io::ModelFile;
use serde_json::Value;
use std::path::Path;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

#[test]
fn ten_random_motions_have_the_derivatives_of_50_digit_arithmetic() {
    let references: Value = serde_json::from_str(include_str!("reference.json")).expect("JSON");
    let references = references.as_array().expect("a list");
    assert_eq!(references.len(), 10);
    for reference in references {
        let name = reference["name"].as_str().expect("a name");
        let text = reference["model"].as_str().expect("a model");
        let file = ModelFile::parse(name, text, Path::new(".")).expect("parses");
        let (closed, _) = file.problem(&[]).expect("a model");
        let problem = closed.model().open(&["k", "e", "a"]).expect("open").problem().expect("problem");
        let d = problem.dimension();
        let mut seed = Variation::of_state(d, 3);
        for p in 0..3 {
            let k = seed.push_zero();
            seed.column_mut(k)[2 * d + p] = 1.0;
        }
        let end = reference["end"].as_f64().expect("an end");
        let options = Options::events(end).tolerance(1e-14).vary(seed);
        let run = problem.run_from(&System::start(&problem), &options).expect("starts").ok().expect("runs");
        let last: Vec<f64> = run.last().q.iter().chain(&run.last().v).copied().collect();
        for (a, b) in last.iter().zip(numbers(&reference["final"])) {
            assert!((a - b).abs() < 1e-11, "{name}: the motion ends at {last:?}, not {:?}", reference["final"]);
        }
        let found = run.variation.expect("asked for").expect("derivatives");
        let mut worst = 0.0_f64;
        let columns: Vec<Vec<f64>> = reference["columns"].as_array().expect("a list").iter().map(numbers).collect();
        let size = columns.iter().flatten().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (k, column) in columns.iter().enumerate() {
            for (i, expected) in column.iter().enumerate() {
                worst = worst.max((found.column(k)[i] - expected).abs() / size);
            }
        }
        println!("{name}: {} impacts, worst {worst:.1e}", run.trajectory.impacts.len());
        assert!(worst < 1e-9, "{name}: off by {worst:e}: {found:?}, not {columns:?}");
    }
}
