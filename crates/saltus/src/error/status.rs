//! How a run ended: reason, time, culprit, remedy.

use crate::text::exact;
use std::fmt;

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// It reached its end time, and the ledger has no breach.
    Finished,
    /// It reached its end time, but the ledger has breaches: what no run may break, beyond its tolerance.
    Breached {
        /// What they are, in words; at least one.
        breaches: Vec<String>,
    },
    /// The observer asked it to stop.
    Interrupted {
        /// The last instant computed.
        t: f64,
    },
    /// A step could not be made; what was computed before it stands.
    Failed(StepFailure),
}

impl Status {
    /// Whether the end was reached, with breaches or without.
    pub fn is_complete(&self) -> bool {
        matches!(self, Status::Finished | Status::Breached { .. })
    }

    /// The breaches of the ledger.
    pub fn breaches(&self) -> &[String] {
        match self {
            Status::Breached { breaches } => breaches,
            _ => &[],
        }
    }

    /// Its name in files: `finished`, `breached`, `interrupted` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Finished => "finished",
            Status::Breached { .. } => "breached",
            Status::Interrupted { .. } => "interrupted",
            Status::Failed(_) => "failed",
        }
    }
}

/// Why a run cannot be used as it is; see `Run::ok`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunFailure {
    /// A step could not be made.
    Failed(StepFailure),
    /// The end was reached, but the ledger has breaches.
    Breached {
        /// What they are, in words.
        breaches: Vec<String>,
    },
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RunFailure::Failed(failure) => failure.fmt(f),
            RunFailure::Breached { breaches } => {
                let status = Status::Breached { breaches: breaches.clone() };
                write!(f, "{status}: {}", breaches.join("; "))
            }
        }
    }
}

impl std::error::Error for RunFailure {}

/// A step that could not be made.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFailure {
    /// The last complete instant: the step from there on failed.
    pub t: f64,
    /// The position there.
    pub q: Vec<f64>,
    /// The velocity there (right limit).
    pub v: Vec<f64>,
    /// What went wrong.
    pub reason: Reason,
}

/// Why a step could not be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A position is not a number, or too large to be one.
    NotFinite {
        /// The coordinate concerned.
        coordinate: String,
    },
    /// A gap is infinite or not a number.
    Gap {
        /// The constraint concerned.
        constraint: String,
    },
    /// The mass matrix lost its positivity on the way.
    Mass {
        /// The coordinate whose pivot failed.
        coordinate: String,
    },
    /// The constraints contradict each other: K(t) is empty around the position.
    Incompatible {
        /// The constraint that could not be met.
        constraint: String,
    },
    /// The iteration to the nearest point of a curved K did not converge.
    NearestPoint {
        /// The constraint farthest from being met.
        constraint: String,
        /// How many iterations were made.
        iterations: usize,
    },
    /// A joint cannot be satisfied at the end of a step.
    Joint {
        /// The joint concerned.
        joint: String,
    },
    /// Contact and friction were not solved to rounding.
    Contact {
        /// The constraint or joint concerned.
        constraint: String,
        /// The relative residual reached.
        residual: f64,
    },
    /// A coefficient of friction, a limit or a restitution is not what it must be.
    Coefficient {
        /// Whose it is.
        of: String,
        /// Its value.
        value: f64,
    },
    /// The implicit force equation did not converge.
    Force {
        /// How many iterations were made.
        iterations: usize,
    },
    /// The gradients of constraints in contact depend on each other.
    Dependent {
        /// The constraint whose gradient is a combination of the others'.
        constraint: String,
    },
    /// The motion becomes singular: no step is short enough.
    Singular {
        /// Whose series is to blame.
        what: String,
    },
    /// Something is not a number: an expression left its domain.
    Undefined {
        /// The force on a coordinate, or the rate of a state.
        what: String,
    },
    /// A load of a structure is infinite or not a number.
    Load {
        /// Which, counted from 1 in the order of the model.
        load: usize,
    },
    /// A gap jumped, and the body is inside the obstacle.
    Inside {
        /// The constraint concerned.
        constraint: String,
    },
    /// The gradient of a gap vanishes where the gap does.
    Flat {
        /// The constraint concerned.
        constraint: String,
    },
    /// The gradient of a gap is infinite or not a number.
    Steep {
        /// The constraint concerned.
        constraint: String,
    },
    /// To stay on a constraint the body would have to move farther than its velocity allows.
    Torn {
        /// The constraint concerned.
        constraint: String,
    },
    /// The motion is stiff: resolving its fastest part would take millions of steps.
    Stiff {
        /// How many.
        steps: f64,
    },
    /// A contact slides in such a direction, with so much friction, that no motion obeys the laws, or several do.
    Painleve {
        /// The constraint concerned.
        constraint: String,
    },
    /// No motion obeys the laws of contact, friction and joints together, or none was found.
    Laws {
        /// The constraint, joint or friction concerned.
        constraint: String,
    },
    /// A restitution that depends on the approach speed is outside [0, 1] at this one.
    Restitution {
        /// The constraint concerned.
        constraint: String,
        /// The restitution.
        value: f64,
        /// The approach speed.
        speed: f64,
    },
    /// A force switches back and forth while time does not advance.
    Sliding,
    /// Impacts, contacts and releases follow each other while time does not advance.
    Stalled {
        /// The constraint concerned.
        constraint: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reason::Painleve { constraint } => write!(
                f,
                "Painlevé's paradox at `{constraint}`: it slides with so much friction that a push of its reaction would draw the bodies together (D_NN − μ D_NT·σ ≤ 0), so no motion with finite forces obeys the laws, or several do; the scheme auto passes such a place by an impulse"
            ),
            Reason::Laws { constraint } => write!(
                f,
                "no motion was found that obeys the laws of contact, friction and joints together at `{constraint}`: they contradict each other here"
            ),
            Reason::Restitution { constraint, value, speed } => write!(
                f,
                "the restitution of `{constraint}` is {value} at an approach speed of {speed}: it must stay between 0 and 1"
            ),
            Reason::NotFinite { coordinate } => write!(
                f,
                "the motion of `{coordinate}` is no longer a finite number, or grows without bound: a force blows up or leaves its domain (a root, logarithm or division), or the step is too large for a stiff one; try a smaller step"
            ),
            Reason::Load { load } => write!(
                f,
                "load {load} (loads and base motion are counted in the order of the model) is not a finite number here: a root, logarithm or division in it left its domain"
            ),
            Reason::Gap { constraint } => write!(
                f,
                "the gap of `{constraint}` is not a finite number here: a root, logarithm or division in it left its domain"
            ),
            Reason::Mass { coordinate } => write!(
                f,
                "the mass matrix (with the damping of the step) is not positive definite along `{coordinate}`: a singular configuration, or a step too large for a negative damping"
            ),
            Reason::Incompatible { constraint } => write!(
                f,
                "the constraints leave no room: `{constraint}` contradicts the others here; walls that close completely crush what is between them"
            ),
            Reason::NearestPoint { constraint, iterations } => write!(
                f,
                "the nearest admissible position was not found in {iterations} iterations (`{constraint}` is the worst): the step may jump over a curved obstacle; try a smaller step"
            ),
            Reason::Joint { joint } => write!(
                f,
                "the joint `{joint}` cannot be satisfied after this step: a singular configuration, or a step too large for the motion; try a smaller step"
            ),
            Reason::Contact { constraint, residual } => write!(
                f,
                "contact and friction at `{constraint}` were solved only to {residual:.1e}; try a smaller step"
            ),
            Reason::Coefficient { of, value } => write!(
                f,
                "the coefficient of `{of}` is {value} here: one of friction must not be negative, a restitution must be between 0 and 1"
            ),
            Reason::Force { iterations } => write!(
                f,
                "the velocity-dependent force was not solved for in {iterations} iterations; try a smaller step, and if the force jumps with the velocity (sign, if), write it as dry friction, [[friction]] with slip and limit"
            ),
            Reason::Dependent { constraint } => write!(
                f,
                "the gradient of `{constraint}` depends on those of the other constraints in contact; the reactions are not determined"
            ),
            Reason::Singular { what } => write!(
                f,
                "{what} becomes singular here: a force, a mass or a gap blows up, has a corner or leaves its domain, and no step is short enough"
            ),
            Reason::Sliding => write!(
                f,
                "a force or gap switches (sign, if, abs, max) back and forth here indefinitely. If it jumps with a velocity, as dry friction does, write it as such: [[friction]] with slip = \"x'\" and limit = \"F\" instead of F*sign(x'); a jump of another kind can be smoothed, tanh(x/0.001) for sign(x); if it is continuous, a time-stepping scheme crosses it: --scheme moreau-jean"
            ),
            Reason::Undefined { what } => {
                write!(f, "{what} is not a number here: a root, logarithm or division in it left its domain")
            }
            Reason::Inside { constraint } => write!(
                f,
                "the gap of `{constraint}` jumps here and leaves the body inside the obstacle; a wall that moves must move continuously"
            ),
            Reason::Flat { constraint } => write!(
                f,
                "the gradient of `{constraint}` vanishes where its gap closes, so there is no direction for a reaction; write the gap so that it grows in proportion to the distance (y, not y^3)"
            ),
            Reason::Steep { constraint } => write!(
                f,
                "the gradient of `{constraint}` is not a finite number here, so there is no direction for a reaction; write the gap so that it grows in proportion to the distance (y, not sqrt(y))"
            ),
            Reason::Torn { constraint } => write!(
                f,
                "to stay on `{constraint}` the body would have to move farther than its velocity allows: the gap is too steep, or has a singular point here"
            ),
            Reason::Stiff { steps } => {
                write!(
                    f,
                    "the motion is stiff: about {steps:.0e} more steps would be needed to resolve its fastest part"
                )
            }
            Reason::Stalled { constraint } => write!(
                f,
                "impacts and contacts of `{constraint}` follow each other while time does not advance, and time stepping cannot cross this instant either"
            ),
        }
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the step from t = {} failed: {}", exact(self.t), self.reason)
    }
}

impl std::error::Error for StepFailure {}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Status::Finished => write!(f, "finished"),
            Status::Breached { breaches } => match breaches.len() {
                1 => write!(f, "finished with one breach"),
                n => write!(f, "finished with {n} breaches"),
            },
            Status::Interrupted { t } => write!(f, "interrupted at t = {}; everything up to there is kept", exact(*t)),
            Status::Failed(failure) => write!(f, "{failure}; everything up to there is kept"),
        }
    }
}
