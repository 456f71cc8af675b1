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
pub mod march;
mod meet;
mod noise;
mod rows;
mod section;
mod tangent;
mod trace;
mod vector;
mod watch;
mod worker;

pub use code::LaneCode;
pub use glide::HUGE;
pub use hand::{Hand, Left};
pub use linear::{LinearCode, ROOM, ROUNDING, Row};
pub use march::{Kind, Rule, StepWorker, kind_of};
pub use tangent::TangentCode;
pub use worker::LaneWorker;

use crate::{Scalar, Wanted, Worker};
use saltus::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A worker without compiled code: lanes where they can compute a problem, else one trajectory after the other.
pub fn plain_worker(problem: &Problem, wanted: &Wanted, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
    if wanted.scheme.is_some() {
        return match StepWorker::<16>::new(problem, wanted, stop) {
            Some(lanes) => Box::new(lanes),
            None => Box::new(Scalar::new(problem, stop)),
        };
    }
    let lanes: Result<LaneWorker, _> = LaneWorker::new(problem, wanted.tolerance, stop);
    match lanes {
        Ok(lanes) => Box::new(lanes),
        Err(_) => Box::new(Scalar::new(problem, stop)),
    }
}
