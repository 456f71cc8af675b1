//! Physics on top of [`crate::project`]: the impact law, kinetic angles.

mod angle;
mod impact;

pub use angle::kinetic_angle;
pub use impact::ImpactLaw;
