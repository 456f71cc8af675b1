//! Files for Saltus: models in TOML with the place of every mistake, sampled inputs, and trajectories as npz and CSV.

mod error;
mod inputs;
mod lines;
pub mod matrix;
mod model_file;
pub mod output;
mod read;
pub mod records;
pub mod shipped;

pub use error::FileError;
pub use model_file::{ModelFile, RUN_NUMBERS, RunDefaults, System};
