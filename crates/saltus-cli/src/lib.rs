//! The command `saltus` as a library: [`command`] is the program, and [`embed`] does what its commands do for a caller in the same
//! process, such as the Python package: models that are in no file, answers as JSON, mistakes as values.

mod command;
mod commands;
mod diagnose;
mod done;
mod drawing;
pub mod embed;
mod locate;
mod progress;
mod report;
mod runner;
mod setup;
mod sketch;
mod text;

pub use command::command;
