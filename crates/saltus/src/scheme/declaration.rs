//! What a scheme declares about itself.

use crate::model::Model;
use crate::problem::Instance;
use crate::stepping::{Setting, Settings, Stepper};
use crate::structure::StructureInstance;
use crate::{Kind, SetupError};

/// A scheme: what it declares about itself, and how to start it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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
    /// Which laws it knows besides gaps with constant restitution.
    pub laws: Laws,
    /// The order of convergence of positions, in the maximum norm, through impacts. Measured by the tests.
    pub order: f64,
    /// The settings it has, besides the step.
    pub settings: &'static [Setting],
    /// What it does with structures, whose matrices are constant and factored once.
    pub structures: StructureSteps,
    /// How it works.
    pub method: Method,
}

/// The laws that a scheme knows besides gaps with constant restitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laws {
    /// Joints.
    pub joints: bool,
    /// Friction at constraints, and dry friction of known limit.
    pub friction: bool,
    /// Restitution that depends on the approach speed.
    pub varying_restitution: bool,
}

impl Laws {
    /// None of them.
    pub const GAPS: Laws = Laws { joints: false, friction: false, varying_restitution: false };
    /// All of them.
    pub const ALL: Laws = Laws { joints: true, friction: true, varying_restitution: true };

    /// What a model needs.
    pub fn of(model: &Model) -> Laws {
        Laws {
            joints: !model.joints.is_empty(),
            friction: !model.frictions.is_empty(),
            varying_restitution: model.speed.is_some(),
        }
    }

    /// The first law of a model that is not among these, in words.
    pub fn missing(self, needed: Laws) -> Option<&'static str> {
        let all = [
            (self.joints, needed.joints, "joints"),
            (self.friction, needed.friction, "friction"),
            (self.varying_restitution, needed.varying_restitution, "restitution that depends on the approach speed"),
        ];
        all.into_iter().find(|(knows, needs, _)| *needs && !*knows).map(|(_, _, law)| law)
    }
}

/// What a scheme does with structures.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StructureSteps {
    /// It has no steps for them.
    None,
    /// Steps of its own.
    Steps(StartStructureSteps),
    /// Their modes go from event to event.
    Events,
    /// Another scheme runs in its place.
    Instead(&'static str),
}

/// How a scheme works.
#[derive(Clone, Copy, Debug)]
pub enum Method {
    /// Steps of one length, whatever happens in them.
    Steps(Stepping),
    /// From event to event; see the module `event`.
    Events {
        /// Whether a time-stepping scheme takes over where the events cannot be resolved.
        safety_net: bool,
    },
}

/// Prepares a run of a scheme with a step on a problem; rejects a problem that the scheme's mathematics does not allow.
pub type StartSteps = fn(&Instance, f64, &Settings) -> Result<Box<dyn Stepper>, SetupError>;

/// The same on a structure.
pub type StartStructureSteps = fn(&StructureInstance, f64, &Settings) -> Result<Box<dyn Stepper>, SetupError>;

/// What a time-stepping scheme declares about its steps, and how to start it.
#[derive(Clone, Copy, Debug)]
pub struct Stepping {
    /// How many consecutive steps carry the impulse of one impact; None: as many as the contact lasts.
    pub contact_steps: Option<u64>,
    /// Whether velocities belong to the middle of steps (and the limits at a node are carried there by the forces), or to
    /// the nodes themselves.
    pub staggered: bool,
    /// The part of the step before a node in which its position has already moved with the velocity after an impact there.
    pub carried: f64,
    /// The instant at which an impact with restitution e takes effect, in steps after its first contact step.
    pub impact_instant: fn(e: f64) -> f64,
    /// Prepares a run.
    pub start: StartSteps,
}

impl Stepping {
    /// What velocity-level schemes with velocities at the nodes declare; `start` refuses until it is replaced.
    pub fn velocity() -> Self {
        Stepping {
            contact_steps: Some(1),
            staggered: false,
            carried: 0.0,
            impact_instant: |e| -e / (1.0 + e),
            start: |_, _, _| Err(SetupError::new("this scheme has no `start`").with_kind(Kind::Unsupported)),
        }
    }
}

impl Scheme {
    /// A time-stepping scheme written outside this crate.
    ///
    /// ```
    /// use saltus::{Options, Reason, SetupError, model::Builder, problem::Instance};
    /// use saltus::scheme::{Node, Scheme, Settings, Stepper, Stepping};
    ///
    /// /// Free flight with constant velocity.
    /// struct Coasting { t: f64, h: f64, n: u64, q: Vec<f64>, v: Vec<f64> }
    ///
    /// impl Stepper for Coasting {
    ///     fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
    ///         node.index = self.n;
    ///         node.t = self.t + self.n as f64 * self.h;
    ///         node.q.copy_from_slice(&self.q);
    ///         node.v_left.copy_from_slice(&self.v);
    ///         node.v_right.copy_from_slice(&self.v);
    ///         self.q.iter_mut().zip(&self.v).for_each(|(q, v)| *q += self.h * v);
    ///         self.n += 1;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// fn start(at: &Instance, h: f64, _: &Settings) -> Result<Box<dyn Stepper>, SetupError> {
    ///     let s = at.start();
    ///     Ok(Box::new(Coasting { t: s.t, h, n: 0, q: s.q.clone(), v: s.v.clone() }))
    /// }
    ///
    /// let mine = Scheme::stepping("coasting", Stepping { start, ..Stepping::velocity() });
    /// let bead = Builder::new("bead").coordinate("x", 0.0, 2.0).kinetic("x'^2/2").build()?.problem()?;
    /// let run = bead.run(&Options::steps(mine, 0.1).until(1.0))?.ok()?;
    /// assert!((run.last().q[0] - 2.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn stepping(name: &'static str, stepping: Stepping) -> Scheme {
        Scheme {
            name,
            level: "as its author defines it",
            restitution: "as its author defines it",
            proved: "nothing is declared",
            use_for: "what its author wrote it for",
            follows_law: true,
            laws: Laws::GAPS,
            order: 1.0,
            settings: &[],
            structures: StructureSteps::None,
            method: Method::Steps(stepping),
        }
    }

    /// What it declares about its steps, if it is a time-stepping scheme.
    pub fn steps(&self) -> Option<&Stepping> {
        match &self.method {
            Method::Steps(stepping) => Some(stepping),
            Method::Events { .. } => None,
        }
    }

    /// Whether it goes from event to event.
    pub fn is_event_driven(&self) -> bool {
        self.steps().is_none()
    }

    /// The setting of a name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|s| s.name == name)
    }
}
