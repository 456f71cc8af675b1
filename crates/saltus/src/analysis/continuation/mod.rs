//! Branches of periodic orbits over parameters: followed by pseudo-arclength through folds and grazing, with the special points
//! on the way located.

mod anatomy;
mod branch;
mod clock;
mod critical;
mod crossing;
mod curve;
mod explore;
mod family;
mod graze;
mod ladder;
mod locate;
mod nearby;
mod node;
mod rest;
mod rest_walk;
mod shrinking;
mod walk;
mod weak;
mod zero;

pub use branch::{Branch, BranchPoint, Left, Origin, Special, SpecialKind, Touched};
pub use clock::{Clock, OfParameters};
pub use curve::{Curve, CurveOptions, curve};
pub use explore::{ContinueOptions, News, continue_orbit};
pub use rest_walk::{RestNews, continue_equilibria};
pub use walk::WalkOptions;
