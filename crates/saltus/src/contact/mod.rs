//! Physics on top of [`crate::project`]: active set, tangent and normal cones, the impact law, kinetic angles.

mod angle;
mod cone;
mod impact;

pub use angle::kinetic_angle;
pub use cone::{TangentCone, active_set};
pub use impact::ImpactLaw;
