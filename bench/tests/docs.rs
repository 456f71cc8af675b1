//! The Rust code of the README and of `docs/rust.md`, compiled and run. It is tested here because this crate is never
//! packaged: a package does not contain `docs/`.

#[allow(unused, missing_docs, clippy::all)]
mod shown {
    include!(concat!(env!("OUT_DIR"), "/shown.rs"));
}

#[test]
fn the_code_shown_compiles_and_runs() -> Result<(), Box<dyn std::error::Error>> {
    // The page reads this file.
    let directory = tempfile::tempdir()?;
    std::env::set_current_dir(directory.path())?;
    let ball = saltus_io::shipped::MODELS.iter().find(|(name, _)| *name == "ball-gravity").expect("shipped").1;
    std::fs::write("ball.toml", ball)?;

    shown::rust()?;
    shown::readme()?;
    shown::readme_of_saltus()?;
    shown::readme_of_saltus_cli()?;
    shown::readme_of_saltus_io()
}
