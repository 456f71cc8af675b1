//! What to run and what to keep of it.

use crate::engine::grid;
use crate::motion::Variation;
use crate::record::Keep;
use crate::scheme::{self, SCHEMES, Scheme, SettingValue, Settings};
use crate::structure::Reduction;
use crate::{Kind, SetupError};

/// What to run and what to keep of it.
///
/// ```
/// use saltus::{Keep, Options};
/// let fine = Options::events(20.0).tolerance(1e-12);
/// let stepped = Options::steps("moreau-jean", 1e-3).until(20.0).setting("theta", 0.6).keep(Keep::IMPACTS);
/// assert!(fine.scheme.is_event_driven() && !stepped.scheme.is_event_driven());
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Options {
    /// The scheme.
    pub scheme: Scheme,
    /// A name that is not one of a scheme, reported when a run begins.
    pub(crate) unknown: Option<String>,
    /// The end time; infinite for a simulation without one.
    pub end: f64,
    /// The time step h; by events, the interval at which instants are stored (a thousandth of the run by default).
    pub step: Option<f64>,
    /// Every how many steps an instant is stored; instants of impacts always are.
    pub every: u64,
    /// The settings of the scheme.
    pub settings: Settings,
    /// Whether to stop where everything has come to rest; only where nothing depends on time.
    pub until_rest: bool,
    /// Observed coordinates that are kept at every step ([`crate::Run::followed`]), however few instants are stored.
    pub follow: Vec<usize>,
    /// What is stored.
    pub keep: Keep,
    /// For a structure: modes instead of degrees of freedom.
    pub reduction: Option<Reduction>,
    /// Perturbations that travel with the motion: its derivatives. By events only.
    pub vary: Option<Variation>,
}

/// A scheme, or the name of one.
#[derive(Clone, Debug)]
pub enum SchemeChoice {
    /// By its name.
    Named(String),
    /// Itself, for instance one written outside this crate.
    Given(Scheme),
}

impl From<&str> for SchemeChoice {
    fn from(name: &str) -> Self {
        SchemeChoice::Named(name.to_string())
    }
}

impl From<Scheme> for SchemeChoice {
    fn from(scheme: Scheme) -> Self {
        SchemeChoice::Given(scheme)
    }
}

impl Options {
    /// From event to event, with time stepping as the safety net (`auto`), up to an end time.
    pub fn events(end: f64) -> Self {
        Options::with(SCHEMES[0], end)
    }

    /// A time-stepping scheme with a step; [`Options::until`] sets the end.
    pub fn steps(scheme: impl Into<SchemeChoice>, step: f64) -> Self {
        let mut options = Options::with(SCHEMES[0], f64::INFINITY).scheme(scheme);
        options.step = Some(step);
        options
    }

    /// Any scheme, up to an end time.
    pub fn with(scheme: Scheme, end: f64) -> Self {
        Options {
            scheme,
            unknown: None,
            end,
            step: None,
            every: 1,
            settings: Settings::new(),
            until_rest: false,
            follow: Vec::new(),
            keep: Keep::ALL,
            reduction: None,
            vary: None,
        }
    }

    /// The same with another scheme.
    pub fn scheme(mut self, scheme: impl Into<SchemeChoice>) -> Self {
        match scheme.into() {
            SchemeChoice::Given(scheme) => self.scheme = scheme,
            SchemeChoice::Named(name) => match scheme::find(&name) {
                Ok(scheme) => self.scheme = scheme,
                Err(_) => self.unknown = Some(name),
            },
        }
        self
    }

    /// The end time.
    pub fn until(mut self, end: f64) -> Self {
        self.end = end;
        self
    }

    /// The time step; by events, the interval at which instants are stored.
    pub fn step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// Stores every n-th instant only; impacts are always stored.
    pub fn every(mut self, n: u64) -> Self {
        self.every = n.max(1);
        self
    }

    /// Keeps some of the observed coordinates at every step, for what needs all of them (spectra), where fewer instants are stored.
    pub fn follow(mut self, coordinates: &[usize]) -> Self {
        self.follow = coordinates.to_vec();
        self
    }

    /// A setting of the scheme.
    pub fn setting(mut self, name: &str, value: impl Into<SettingValue>) -> Self {
        self.settings.set(name, value);
        self
    }

    /// The tolerance of a run by events.
    pub fn tolerance(self, tolerance: f64) -> Self {
        self.setting("tolerance", tolerance)
    }

    /// Stops where everything has come to rest, if nothing depends on time.
    pub fn until_rest(mut self) -> Self {
        self.until_rest = true;
        self
    }

    /// What is stored.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// For a structure: this many modes instead of its degrees of freedom.
    pub fn modes(mut self, modes: usize) -> Self {
        self.reduction = Some(Reduction { modes, residual: false });
        self
    }

    /// Perturbations that travel with the motion ([`crate::Run::variation`]): its derivatives.
    ///
    /// ```
    /// use saltus::{Options, model::Builder, motion::Variation};
    /// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("10*y")
    ///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
    /// let run = ball.run(&Options::events(0.8).vary(Variation::of_state(1, 0)))?.ok()?;
    /// // How the height at t = 0.8 depends on that at the start: the ball has bounced once, at τ.
    /// let tau = 0.2_f64.sqrt();
    /// let derivatives = run.variation.expect("asked for")?;
    /// assert!((derivatives.position(0)[0] - (15.0 * (0.8 - tau) - 5.0 * tau) / (10.0 * tau)).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn vary(mut self, columns: Variation) -> Self {
        self.vary = Some(columns);
        self
    }

    /// The step, which a time-stepping scheme needs.
    pub(crate) fn needed_step(&self) -> Result<f64, SetupError> {
        self.step.ok_or_else(|| {
            SetupError::new(format!("{} needs a step", self.scheme.name))
                .with_kind(Kind::Unsupported)
                .help("give the time step h")
        })
    }

    /// How many steps a time-stepping scheme makes from a time to the end, and how long they are.
    pub fn division(&self, t0: f64) -> Result<(u64, f64), SetupError> {
        let (steps, h, _) = grid(self.needed_step()?, t0, self.end)?;
        Ok((steps, h))
    }

    /// Checks the name of the scheme.
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        match &self.unknown {
            Some(name) => scheme::find(name).map(|_| ()),
            None => Ok(()),
        }
    }
}
