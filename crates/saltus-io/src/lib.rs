//! Files for Saltus: models in TOML with the place of every mistake, sampled inputs, and trajectories as npz, CSV, MATLAB and
//! Parquet files, written and read back.

mod error;
mod inputs;
mod lines;
pub mod matrix;
mod model_file;
pub mod output;
mod read;
mod read_run;
pub mod records;
pub mod shipped;

pub use error::FileError;
pub use model_file::{ModelFile, RUN_NUMBERS, RunDefaults, System};
pub use read_run::{ImpactRead, RunFiles};
