//! One file a command.

pub mod models;
pub mod new;
pub mod run;
