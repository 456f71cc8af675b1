//! Event-driven, [V] §2, done properly: the engine is in the room `event`.

use super::{Method, Scheme, Structures};

pub const SCHEME: Scheme = Scheme {
    name: "event-driven",
    level: "exact: impacts and releases are located, contacts are held",
    restitution: "any e, one for each constraint",
    proved: "the motion itself, to the tolerance, where it is unique (analytic data: Ballard 2000); accumulations are \
             passed to their limit with an error estimate",
    use_for: "ten digits on anything smooth between its impacts; references for the other schemes",
    follows_law: true,
    order: f64::INFINITY,
    structures: Structures::Events,
    method: Method::Events { safety_net: false },
};
