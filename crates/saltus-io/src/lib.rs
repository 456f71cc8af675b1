//! Files for Saltus: models in TOML with the place of every mistake, sampled inputs and matrices, and runs as npz, CSV,
//! MATLAB and Parquet files, written, read back and made again.

mod error;
mod inputs;
mod lines;
pub mod matrix;
mod model_file;
pub mod output;
pub mod psd;
mod read;
pub mod records;
mod rerun;
mod saved;
pub mod shipped;
pub mod table;

pub use error::FileError;
pub use model_file::{AnySystem, Changes, FamilyText, ModelFile, Opened, RunDefaults, sha256};
pub use rerun::{Difference, Rerun};
pub use saved::{SavedRun, carried};
