//! Reads a model file, changes a parameter, runs it and writes the results.
//!
//!     cargo run --release -p saltus-io --example model_file

use saltus::Options;
use saltus_io::{Changes, ModelFile};
use std::error::Error;

const MODEL: &str = r#"
title = "Ball dropped on a floor"
[parameters]
e = 0.8
[coordinates]
y = { position = 1 }
[dynamics]
kinetic = "y'^2/2"
potential = "9.81*y"
[[constraint]]
name = "floor"
gap = "y"
[impact]
restitution = "e"
"#;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("ball.toml");
    std::fs::write(&path, MODEL)?;
    let file = ModelFile::open(&path)?;
    for e in ["0.8", "0.5", "0"] {
        let changes = Changes { set: vec![("e".into(), e.into())], ..Changes::default() };
        let opened = file.changed(&changes)?;
        let run = saltus::run(&*opened.system, &Options::events(5.0))?.ok()?;
        println!("e = {e}: {} impacts, y = {:.9} at the end", run.trajectory.impacts.len(), run.last().q[0]);
        assert!(run.last().q[0].abs() < 1e-9, "the ball rests at the end");
    }
    // A mistake is shown with its place.
    let mistake = ModelFile::parse("ball.toml", &MODEL.replace("9.81*y", "9.81*z"), dir.path())?.system();
    let error = mistake.err().ok_or("a mistake goes unnoticed")?;
    println!("{:?}: {}", error.line_column(), error.error.message);
    Ok(())
}
