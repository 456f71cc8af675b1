//! Saltus: mechanical systems that hit things.
//!
//! ```text
//! M(q) q'' = g(t, q, q') + Σ λα ∇fα(t, q)      fα(t, q) ≥ 0,  λα ≥ 0 a measure,  λα = 0 where fα > 0
//! at an impact:   v⁺ = −e v⁻ + (1+e) Proj_M(T, v⁻)
//! ```
//!
//! A [`Model`] says what the system is; a [`Problem`] is a model compiled and checked; [`run`] gives a [`Trajectory`],
//! an [`Audit`] and a [`Status`]. The library has no files, no terminal and no threads of its own.
//!
//! ```
//! use saltus::{Problem, RunOptions, model::Builder, run};
//! let ball = Builder::new("Ball dropped on a floor")
//!     .coordinate("y", "1", "0")
//!     .kinetic("y'^2/2")
//!     .potential("9.81*y")
//!     .restitution("0.5")
//!     .constraint("floor", "y")
//!     .build()?;
//! let run = run(&Problem::new(ball)?, &RunOptions::new(1e-3, 2.0), &mut |_| true)?;
//! let first = run.trajectory.impacts.get(0);
//! assert!((first.t - 0.4515).abs() < 1e-3);
//! assert!((first.v_after[0] - 0.5 * 4.4294).abs() < 1e-2);
//! # Ok::<(), saltus::SetupError>(())
//! ```

mod advice;
pub mod analysis;
pub mod contact;
mod error;
mod event;
mod impacts;
pub mod ledger;
pub mod linalg;
pub mod model;
mod pieces;
pub mod problem;
pub mod project;
mod run;
pub mod scheme;
mod status;
pub mod structure;
mod timeline;
mod trajectory;
mod watch;

pub use error::SetupError;
pub use impacts::{Impact, Impacts};
pub use ledger::Ledger;
pub use model::Model;
pub use pieces::Pieces;
pub use problem::Problem;
pub use run::{Audit, Progress, Run, RunOptions, run};
pub use saltus_expr::{Outside, Span, Table, nearest};
pub use status::{Reason, Status, StepFailure};
pub use structure::Structure;
pub use timeline::{Phase, PhaseKind, Timeline};
pub use trajectory::{Contact, Side, Trajectory};
