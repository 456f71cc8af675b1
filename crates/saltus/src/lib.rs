//! Saltus: mechanical systems that hit things.
//!
//! ```text
//! M(q) q'' = g(t, q, q') + Σ λα ∇fα(t, q)      fα(t, q) ≥ 0,  λα ≥ 0 a measure,  λα = 0 where fα > 0
//! at an impact:   v⁺ = −e v⁻ + (1+e) Proj_M(T, v⁻)
//! ```
//!
//! A [`Model`] says what the system is; a [`Problem`] is a model compiled, a [`Structure`] one of constant matrices; both are a
//! [`System`], and running one gives a [`Run`]: a [`Trajectory`], a [`Ledger`] and a [`Status`]. The library has no files, no
//! terminal and no threads of its own.
//!
//! ```
//! use saltus::{Options, model::Builder};
//! let ball = Builder::new("Ball dropped on a floor")
//!     .coordinate("y", 1.0, 0.0)
//!     .kinetic("y'^2/2")
//!     .potential("9.81*y")
//!     .restitution(0.5)
//!     .constraint("floor", "y")
//!     .build()?;
//! let run = ball.problem()?.run(&Options::events(2.0))?.ok()?;
//! let first = run.trajectory.impacts.get(0);
//! assert!((first.t - 0.4515).abs() < 1e-3);
//! assert!((first.v_after[0] - 0.5 * 4.4294).abs() < 1e-2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
pub mod contact;
mod engine;
mod error;
mod event;
pub mod ledger;
pub mod linalg;
pub mod model;
pub mod motion;
pub mod preparing;
pub mod problem;
pub mod project;
mod record;
mod run;
pub mod scheme;
mod stepping;
pub mod structure;
pub mod text;

pub use error::{Kind, Reason, RunFailure, SetupError, Status, StepFailure};
pub use ledger::Ledger;
pub use model::Model;
pub use motion::{Contact, Impact, Impacts, Phase, PhaseKind, Pieces, Side, Timeline, Trajectory};
pub use problem::{Instance, Problem, Start};
pub use record::{Audit, Extremes, ImpactFinder, Keep, Settling, Underway};
#[doc(hidden)]
pub use run::Recorded;
pub use run::{
    Begun, Options, Progress, Resumed, Run, SchemeChoice, Simulation, Stop, System, run, run_observed, run_slice,
};
pub use saltus_expr::{Outside, Span, Table, nearest};
pub use structure::Structure;
