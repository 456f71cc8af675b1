//! Event-driven, [V] §2, with located events and accumulations: the engine is in the module `event`.

use super::{Laws, Method, Scheme, Setting, StructureSteps};

/// The tolerance of everything that goes from event to event.
pub const TOLERANCE: Setting = Setting::number(
    "tolerance",
    "the error allowed per step, relative to the largest speeds and gaps of the run; below 1e-14 rounding decides, above 1e-2 events are lost in the error",
    1e-14,
    1e-2,
    Some(1e-10),
);

pub const SCHEME: Scheme = Scheme {
    name: "event-driven",
    level: "exact: impacts and releases are located, contacts are held",
    restitution: "any e, one for each constraint",
    proved: "the motion itself, to the tolerance, where it is unique (analytic data: Ballard 2000); accumulations are \
             extrapolated to their limit with an error estimate",
    use_for: "ten digits on anything smooth between its impacts; references for the other schemes",
    follows_law: true,
    laws: Laws::ALL,
    order: f64::INFINITY,
    settings: &[TOLERANCE],
    structures: StructureSteps::Events,
    method: Method::Events { safety_net: false },
};
