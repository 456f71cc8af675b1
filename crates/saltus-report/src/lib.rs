//! Runs of Saltus made visible.
//!
//! [`series`] gives curves of a run for display, thinned so that no extremum and no jump is lost.
//! [`figure`] draws static figures for papers.

pub mod figure;
pub mod series;
mod thin;

pub use thin::{Curve, Jump, Limit, Line, Thinner, largest};
