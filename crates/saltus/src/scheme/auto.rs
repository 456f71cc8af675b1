//! Auto: event-driven, with a time-stepping scheme as the safety net.

use super::event_driven::TOLERANCE;
use super::{Laws, Method, Scheme, StructureSteps};

pub const SCHEME: Scheme = Scheme {
    name: "auto",
    level: "exact where events can be resolved, time stepping elsewhere",
    restitution: "any e, one for each constraint",
    proved: "as event-driven; nothing for intervals that mabrouk or moreau-jean had to step over, which the notes list",
    use_for: "a first result for any model",
    follows_law: true,
    laws: Laws::ALL,
    order: f64::INFINITY,
    settings: &[TOLERANCE],
    structures: StructureSteps::Instead("paoli-schatzman"),
    method: Method::Events { safety_net: true },
};
