//! The pages, one per command.

mod check;
mod compare;
mod converge;
mod equilibria;
mod run;
mod tables;

pub use check::{CheckReport, check};
pub use compare::{CompareReport, compare};
pub use converge::{ConvergeReport, converge};
pub use equilibria::{EquilibriaReport, Landscape, Rest, equilibria};
pub use run::{RunReport, run};
