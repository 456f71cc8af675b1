//! The atlas of a system: bifurcation diagrams, maps over two parameters, Poincaré sections, basins of attraction, as plain
//! data.
//!
//! A [`Picture`] is stored beside the tables of a family, so that what it shows can be read back at any time.

pub mod basins;
mod diagram;
mod exponents;
mod label;
mod map;
mod observe;
mod picture;
mod returns;
mod section;
mod tables;

pub use diagram::{Branch, Diagram, Place, Transition};
pub use exponents::Exponents;
pub use label::Label;
pub use map::{Cell, Map};
pub use observe::{Expression, Observer, check_at_impacts};
pub use picture::{At, Picture};
pub use section::Section;
pub use tables::Tables;
