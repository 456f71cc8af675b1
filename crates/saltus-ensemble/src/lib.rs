//! Families of motions: many trajectories of one model.
//!
//! A family is a list of [`Job`]s, starts of one problem with open parameters. A [`Worker`] runs them, one after the other or many
//! side by side, and gives an [`Outcome`] for each: what [`Wanted`] asks for, how the run ended, and how far it can be trusted.
//! No number depends on how many workers there are, or on which jobs are given to a worker together.
//!
//! A [`Request`] says in texts what is varied and what is kept; with a model file it becomes a [`Sweep`], whose [`Family`] makes the
//! jobs. A [`Plan`] runs them on all cores and hands over, in order, what was made of each [`Block`] of them; [`store`] keeps results on the disk.
//!
//! ```
//! use saltus_ensemble::{Block, Plan, Request};
//! use std::sync::{Arc, atomic::AtomicBool};
//! let request = Request {
//!     over: vec!["w=0.8:1.2:9".into()],
//!     transient: Some("50".into()),
//!     periods: Some("10".into()),
//!     settled: true,
//!     ..Request::default()
//! };
//! let sweep = request.sweep(saltus_io::shipped::find("oscillator").unwrap()?)?;
//! let plan = Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads: 2, stop: Arc::new(AtomicBool::new(false)) };
//! let mut impacts = Vec::new();
//! let count = |block: Block| block.outcomes.iter().map(|outcome| outcome.impacts).collect::<Vec<u64>>();
//! plan.run(&[0..sweep.family.len()], &count, &mut |counted| {
//!     impacts.extend(counted);
//!     Ok::<(), std::io::Error>(())
//! }, &mut |_| {})?;
//! assert_eq!(impacts, [10; 9]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atlas;
mod carry;
mod crossings;
mod exponents;
mod family;
mod job;
mod lanes;
mod meetings;
mod native;
mod outcome;
pub mod points;
mod reduce;
mod request;
mod run;
mod scalar;
mod settled;
mod statistics;
pub mod store;
mod tally;
mod workers;

pub use carry::{Carry, State};
pub use exponents::{Exponents, Found, Motion, Way};
pub use family::{Family, Made, Maker, Times};
pub use job::{Job, Wanted, Worker};
pub use lanes::{LaneWorker, StepWorker};
pub use native::{Device, FEW, Native, NoNative, Shares, Spent, Target, Tools, devices, end_compilers_when, tools};
pub use outcome::{Checks, Engine, Hit, Outcome, Settled, Statistic};
pub use request::{Code, Request, Sweep};
pub use run::{Block, Deliver, Digest, Plan, Progress};
pub use scalar::Scalar;
pub use settled::Tracker;
pub use statistics::statistics_of;
pub use workers::workers;
