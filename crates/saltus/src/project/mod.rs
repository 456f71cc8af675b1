//! Convex kernels: matrices in, multipliers out. No mechanics here.
//!
//! Everything the schemes and the impact law ask for is one problem: the nearest point of a polyhedron in the
//! kinetic metric. A tangent cone is the polyhedron whose offsets are the wall speeds; a curved set is a
//! sequence of polyhedra (in the scheme that needs it).

mod polyhedron;

pub use polyhedron::{Polyhedron, ProjectionError};
