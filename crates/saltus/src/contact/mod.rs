//! Physics on top of [`crate::project`]: active set, tangent and normal cones, the impact laws with and without
//! friction, kinetic angles; contact with Coulomb friction, joints and dry friction as one problem.

mod angle;
mod cone;
mod coulomb;
mod friction_impact;
mod impact;

pub use angle::kinetic_angle;
pub use cone::{TangentCone, active_set};
pub use coulomb::{Coulomb, Law, NoSolution, Status, Why};
pub use friction_impact::{FrictionImpact, FrictionImpactLaw, ImpactOutcome};
pub use impact::ImpactLaw;
