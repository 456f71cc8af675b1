//! One file per command.

pub mod atlas;
pub mod check;
pub mod code;
pub mod compare;
pub mod continuation;
pub mod converge;
pub mod devices;
pub mod equilibria;
pub mod lyapunov;
pub mod merge;
pub mod models;
pub mod new;
pub mod orbit;
pub mod plot;
pub mod rerun;
pub mod run;
pub mod schemes;
pub mod summary;
pub mod sweep;
