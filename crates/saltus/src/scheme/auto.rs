//! Auto: event-driven, with a time-stepping scheme as the safety net.

use super::{Method, Scheme, Structures};
use crate::structure;

pub const SCHEME: Scheme = Scheme {
    name: "auto",
    level: "exact where events can be resolved, time stepping elsewhere",
    restitution: "any e, one for each constraint",
    proved: "as event-driven; nothing on stretches where mabrouk or moreau-jean had to step in: the notes say where",
    use_for: "the first look at anything: what most people want",
    follows_law: true,
    order: f64::INFINITY,
    structures: Structures::Steps(structure::paoli_schatzman),
    method: Method::Events { safety_net: true },
};
