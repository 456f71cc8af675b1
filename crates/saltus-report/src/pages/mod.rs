//! The pages, one per command.

mod atlas;
mod branches;
mod check;
mod compare;
mod converge;
mod equilibria;
mod run;
mod supports;
mod tables;

pub use atlas::{AtlasReport, atlas};
pub use branches::{BranchesReport, branches};
pub use check::{CheckReport, check};
pub use compare::{CompareReport, compare};
pub use converge::{ConvergeReport, converge};
pub use equilibria::{EquilibriaReport, Landscape, Rest, equilibria};
pub use run::{RunReport, run};

use crate::page::Origin;
use saltus::Model;

/// The contents of the page of an analysis.
pub struct Report<'a, T> {
    /// The model.
    pub model: &'a Model,
    /// The origin of the page.
    pub origin: Origin,
    /// What was found.
    pub found: &'a T,
}
