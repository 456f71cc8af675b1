//! Time-stepping schemes: the contract, and the one list of them.
//!
//! A new scheme is a new file beside this one and one line in [`SCHEMES`]. Everything else (the command line, the
//! tests every scheme must pass, the benches) follows from the list.

mod auto;
mod bernicot_lefebvre;
mod collocated;
mod event_driven;
mod mabrouk;
mod momentum;
mod moreau_jean;
mod moreau_midpoint;
mod paoli_schatzman;
mod penalty;

use crate::{Problem, Reason, SetupError};
use saltus_expr::nearest;

/// All schemes.
pub const SCHEMES: &[Scheme] = &[
    auto::SCHEME,
    event_driven::SCHEME,
    paoli_schatzman::SCHEME,
    mabrouk::SCHEME,
    moreau_midpoint::SCHEME,
    moreau_jean::SCHEME,
    bernicot_lefebvre::SCHEME,
    penalty::SCHEME,
];

/// A scheme: what it declares about itself, and how to start it.
#[derive(Debug)]
pub struct Scheme {
    /// Its name on the command line and in model files.
    pub name: &'static str,
    /// Whether constraints are imposed on positions or velocities, or not at all.
    pub level: &'static str,
    /// Which restitution it allows.
    pub restitution: &'static str,
    /// Under which hypotheses its convergence is proved, and where.
    pub proved: &'static str,
    /// What to use it for.
    pub use_for: &'static str,
    /// Whether the velocities around an impact obey the law to rounding; a compliant scheme obeys it only in the limit.
    pub follows_law: bool,
    /// The order of convergence of positions, in the maximum norm, through impacts. Measured by the tests.
    pub order: f64,
    /// What it does with structures.
    pub(crate) structures: Structures,
    /// How it works.
    pub method: Method,
}

/// What a scheme does with structures, whose matrices are constant and factored once.
#[derive(Debug)]
pub(crate) enum Structures {
    /// Nothing.
    No,
    /// Steps of its own.
    Steps(crate::structure::Prepare),
    /// Their modes go from event to event.
    Events,
}

/// How a scheme works.
#[derive(Debug)]
pub enum Method {
    /// Steps of one length, whatever happens in them.
    Steps(Stepping),
    /// From event to event; see the room `event`.
    Events {
        /// Whether a time-stepping scheme takes over where the events cannot be resolved.
        safety_net: bool,
    },
}

/// What a time-stepping scheme declares about its steps, and how to start it.
#[derive(Debug)]
pub struct Stepping {
    /// How many consecutive steps carry the impulse of one impact; None: as many as the contact lasts.
    pub contact_steps: Option<u64>,
    /// Whether velocities belong to the middle of steps (and the limits at a node are carried there by the forces), or to
    /// the nodes themselves.
    pub staggered: bool,
    /// For how much of the step before a node its position has already moved with the velocity after an impact there.
    pub carried: f64,
    /// The instant at which an impact with restitution e takes effect, in steps after its first contact step.
    pub impact_instant: fn(e: f64) -> f64,
    /// Prepares a run.
    pub start: Start,
}

impl Scheme {
    /// What it declares about its steps, if it is a time-stepping scheme.
    pub fn stepping(&self) -> Option<&Stepping> {
        match &self.method {
            Method::Steps(stepping) => Some(stepping),
            Method::Events { .. } => None,
        }
    }
}

/// Prepares a run of a scheme on a problem; refuses a problem that the scheme's mathematics does not allow.
pub type Start = for<'p> fn(&'p Problem, &Settings) -> Result<Box<dyn Stepper + 'p>, SetupError>;

/// The scheme of a given name; an unknown name is answered with the nearest one.
pub fn find(name: &str) -> Result<&'static Scheme, SetupError> {
    SCHEMES.iter().find(|s| s.name == name).ok_or_else(|| {
        let names = SCHEMES.iter().map(|s| s.name);
        let help = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the schemes are: {}", names.collect::<Vec<_>>().join(", ")),
        };
        SetupError::new(format!("there is no scheme `{name}`")).help(help)
    })
}

/// How the force enters a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forcing {
    /// g at the instant t_n, with the centred velocity, implicit in it.
    #[default]
    Centred,
    /// The mean of g over the step ([T] (5)), for loads that are only integrable in time.
    Averaged,
    /// For structures: ¼, ½, ¼ in load and stiffness ([V] (3.12)–(3.13)), stable for any step.
    Newmark,
    /// For structures: the exact flight of the modes.
    Exact,
}

impl Forcing {
    /// The choices with their names.
    pub const ALL: [(&'static str, Forcing); 4] = [
        ("centred", Forcing::Centred),
        ("averaged", Forcing::Averaged),
        ("newmark", Forcing::Newmark),
        ("exact", Forcing::Exact),
    ];

    /// Whether it is one for structures.
    pub fn is_for_structures(self) -> bool {
        matches!(self, Forcing::Newmark | Forcing::Exact)
    }

    /// The name of a choice.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, f)| *f == self).map_or("", |(name, _)| name)
    }

    /// The choice of a given name.
    pub fn find(name: &str) -> Result<Forcing, SetupError> {
        let known = || Self::ALL.iter().map(|(name, _)| *name);
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, f)| *f).ok_or_else(|| {
            SetupError::new(format!("there is no forcing `{name}`"))
                .help(format!("the choices are: {}", known().collect::<Vec<_>>().join(", ")))
        })
    }
}

/// What a scheme needs besides the problem.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The time step h.
    pub step: f64,
    /// How the force enters, where a scheme has the choice.
    pub forcing: Forcing,
    /// The θ of Moreau–Jean: 1/2 is the most accurate, 1 the most damped.
    pub theta: f64,
    /// The γ of Moreau–Jean: a constraint is active if its gap is closed at t + γh, q + γh v.
    pub activation: f64,
    /// The stiffness of the penalty scheme; None: chosen from the step.
    pub stiffness: Option<f64>,
    /// The tolerance of the event-driven engine, relative to the largest speeds and gaps of the run.
    pub tolerance: f64,
}

impl Settings {
    /// The defaults for a step.
    pub fn new(step: f64) -> Self {
        Settings { step, forcing: Forcing::Centred, theta: 0.5, activation: 0.5, stiffness: None, tolerance: 1e-10 }
    }
}

/// An instant t_n of the discrete motion, complete with both velocities and all impulses.
///
/// A velocity here is a pair: its jump v⁺ − v⁻ is M⁻¹ Σ P ∇f, zero where there is no contact.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// n.
    pub index: u64,
    /// t_n.
    pub t: f64,
    /// The position.
    pub q: Vec<f64>,
    /// The left limit of the velocity.
    pub v_left: Vec<f64>,
    /// The right limit of the velocity.
    pub v_right: Vec<f64>,
    /// The acceleration of free flight M⁻¹g.
    pub acceleration: Vec<f64>,
    /// The impulse of each constraint, in the order of the model.
    pub impulses: Vec<f64>,
    /// Whether any impulse is not zero.
    pub contact: bool,
}

impl Node {
    /// Buffers for `d` degrees of freedom and `m` constraints.
    pub fn new(d: usize, m: usize) -> Self {
        let zero = || vec![0.0; d];
        Node {
            q: zero(),
            v_left: zero(),
            v_right: zero(),
            acceleration: zero(),
            impulses: vec![0.0; m],
            ..Node::default()
        }
    }
}

/// A run in progress. A step allocates nothing.
pub trait Stepper {
    /// Makes a step and fills in the node it completes: t_0, t_1, … on successive calls.
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason>;

    /// The position of the node that the next call would complete, if it is known already.
    fn pending(&self) -> Option<&[f64]> {
        None
    }
}
