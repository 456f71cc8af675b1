//! Many trajectories side by side.
//!
//! The mathematics is that of the event engine: Taylor series of the motion with steps from their last terms, first crossings of
//! polynomials found in Bernstein form, the impact law, contact, accumulations to their limit. One step of all lanes is one pass
//! through plain loops ([`vector`]); what happens at an event is decided lane by lane. A lane whose trajectory has ended takes the
//! next one. Where a lane cannot decide (several constraints at one instant, degenerate states, contact on curved walls), the
//! event engine goes on from there ([`hand`]) and gives the trajectory back.
//!
//! Where flight is linear, lanes need no series ([`glide`]): they go from grid point to grid point by the exact flow, as long as no gap can
//! close, and through plain impacts ([`meet`]).
//!
//! At the end of each step that no event ends the equations of motion are checked: the acceleration that the polynomial ends with must
//! be the one that the next expansion begins with. A step that fails is made again by the event engine.

mod closing;
mod code;
mod cross;
mod events;
mod expand;
mod flight;
mod glide;
mod group;
mod hand;
mod law;
pub mod limits;
mod linear;
mod march;
mod meet;
mod rows;
mod tally;
mod vector;
mod watch;
mod worker;

pub use code::LaneCode;
pub use hand::{Hand, Left};
pub use law::Local;
pub use linear::{LinearCode, ROUNDING, Row};
pub use march::StepWorker;
pub use tally::Tally;
pub use worker::LaneWorker;
