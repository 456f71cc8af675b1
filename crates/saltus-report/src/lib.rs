//! Reports on Saltus runs: self-contained HTML pages and figures for papers.
//!
//! - [`series`]: curves of a run for display, thinned without losing an extremum or a jump.
//! - [`run`], [`compare`], [`converge`], [`check`], [`equilibria`]: the pages; each takes plain data and returns a [`Page`].
//! - [`paper`]: static figures for papers, as SVG, PNG and PDF.
//! - [`Shape`]: a line drawn from samples, such as a deflected beam.

mod animation;
pub mod chart;
mod contour;
mod dense;
mod figure;
mod figures;
mod html;
mod outlines;
mod pack;
mod page;
mod pages;
pub mod paper;
mod plane;
pub mod series;
mod spectrum;
mod store;
mod text;
mod thin;
mod walls;

pub use animation::Shape;
pub use dense::refined;
pub use figure::{Figure, Trace};
pub use page::{Origin, Page};
pub use pages::{
    AtlasReport, BranchesReport, CheckReport, CompareReport, ConvergeReport, EquilibriaReport, Landscape, Report, Rest,
    RunReport, atlas, branches, check, compare, converge, equilibria, run,
};
pub use spectrum::{Spectrum, welch};
pub use thin::{Curve, Jump, Limit, Line, Thinner, largest};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
