//! What a run leaves behind: a motion of bounded variation with its impacts, contacts, phases and events.

mod events;
mod followed;
mod history;
mod impacts;
mod pieces;
mod rubbed;
mod shear;
mod slide;
mod timeline;
mod touch;
mod trajectory;
mod variation;

pub use events::{Crossing, EventHit};
pub use followed::Followed;
pub use history::History;
pub(crate) use impacts::Measured;
pub use impacts::{Impact, ImpactIter, Impacts};
pub use pieces::Pieces;
pub(crate) use pieces::{value, value_and_slope};
pub use rubbed::Rubbed;
pub use shear::BaseShear;
pub use slide::Slide;
pub use timeline::{Phase, PhaseKind, Timeline};
pub use touch::Touch;
pub(crate) use touch::touches_of;
pub use trajectory::{Contact, Cursor, OutsideMotion, Side, Trajectory};
pub use variation::{Obstacle, Variation};
