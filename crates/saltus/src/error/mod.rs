//! What can go wrong: mistakes found before a run ([`SetupError`]), and how a run ended ([`Status`]).

mod setup;
mod status;

pub use setup::{Kind, SetupError};
pub use status::{Reason, RunFailure, Status, StepFailure};
