//! Families of motions: many trajectories of one model.
//!
//! A family is a list of [`Job`]s, starts of one problem with open parameters. A [`Worker`] runs them, one after the other or many
//! side by side, and gives an [`Outcome`] for each: what [`Wanted`] asks for, how the run ended, and how far it can be trusted.
//! No number depends on how many workers there are, or on which jobs are given to a worker together.

mod job;
mod lanes;
mod outcome;

pub use job::{Job, Wanted, Worker};
pub use lanes::LaneWorker;
pub use outcome::{Checks, Engine, Hit, Outcome, Settled, Statistic};
