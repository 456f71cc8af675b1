//! Families of motions: many trajectories of one model.
//!
//! A family is a list of [`Job`]s, starts of one problem with open parameters. A [`Worker`] runs them, one after the other or many
//! side by side, and gives an [`Outcome`] for each: what [`Wanted`] asks for, how the run ended, and how far it can be trusted.
//! No number depends on how many workers there are, or on which jobs are given to a worker together.

mod family;
mod job;
mod lanes;
mod outcome;
pub mod points;
mod reduce;
mod request;
mod run;
mod scalar;
mod settled;
mod statistics;
pub mod store;
mod workers;

pub use family::{Family, Maker, Times};
pub use job::{Job, Wanted, Worker};
pub use lanes::LaneWorker;
pub use outcome::{Checks, Engine, Hit, Outcome, Settled, Statistic};
pub use request::{Request, Sweep};
pub use run::{Block, Carry, Deliver, Plan, Progress};
pub use scalar::Scalar;
pub use settled::Tracker;
pub use workers::workers;
