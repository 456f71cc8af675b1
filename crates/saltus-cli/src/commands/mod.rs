//! One file a command.

pub mod compare;
pub mod converge;
pub mod models;
pub mod new;
pub mod run;
pub mod schemes;
