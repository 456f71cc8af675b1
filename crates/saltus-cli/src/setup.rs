//! The options that `run`, `compare` and `converge` share: which model, with which parameters, how finely.

use crate::{diagnose, locate};
use saltus::scheme::{self, Forcing, Scheme, Settings};
use saltus::structure::{On, Place, Reduction, StructureOptions};
use saltus::{Problem, RunOptions, SetupError, Structure};
use saltus_io::{FileError, ModelFile, RunDefaults, System};
use std::path::PathBuf;
use std::process::ExitCode;

/// Which model, and what of it to change.
#[derive(clap::Args)]
pub struct ModelArgs {
    /// A model file, or the name of a shipped model (see `saltus models`)
    pub model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The end time: a number or an expression of parameters [default: the model's]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub end: Option<String>,
    /// The tolerance of auto and event-driven, relative to the largest speeds and gaps [default: 1e-10]
    #[arg(long = "tol", value_name = "TOL", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// How the force enters a step, where the scheme has the choice: at its instant (centred) or as its mean (averaged); for
    /// structures newmark or exact
    #[arg(long, value_name = "CHOICE")]
    pub forcing: Option<String>,
    /// The θ of moreau-jean, between 0 and 1 [default: 0.5]
    #[arg(long, allow_hyphen_values = true)]
    pub theta: Option<String>,
    /// The activation γ of moreau-jean: constraints closed at q + γ h v are active [default: 0.5]
    #[arg(long, value_name = "GAMMA", allow_hyphen_values = true)]
    pub activation: Option<String>,
    /// The stiffness of the obstacles for penalty
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub stiffness: Option<String>,
    /// For penalty, instead of a stiffness: the deepest penetration wanted. The stiffness follows from the impacts of a run
    /// with mabrouk
    #[arg(long, value_name = "DEPTH", conflicts_with = "stiffness")]
    pub penetration: Option<f64>,
    /// Also write all of it as one HTML file that opens in any browser, offline: figures, tables, the model, the command
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print one JSON object instead of a text
    #[arg(long)]
    pub json: bool,
}

/// What is asked of a structure.
#[derive(clap::Args, Clone)]
pub struct StructureArgs {
    /// For a structure: work with its first M modes (an expression of parameters) [default: the model's, else none]
    #[arg(long, value_name = "M")]
    pub modes: Option<String>,
    /// With --modes: lend the static flexibility of the modes left out to the stops
    #[arg(long)]
    pub residual: bool,
    /// For a structure: store this place, too: x=0.3, dof=12, floor=2, or part:x=0.3; may be repeated. `all`: every
    /// degree of freedom
    #[arg(long, value_name = "PLACE")]
    pub observe: Vec<String>,
    /// For a structure: touches of a stop nearer than this in time are one shock of several rebounds [default: a hundredth of
    /// the first period]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub rest: Option<String>,
}

/// A model ready to run: one of energies, or a structure.
pub enum Opened {
    Problem(Box<Ready>),
    Structure(Box<ReadyStructure>),
}

/// A structure ready to run.
pub struct ReadyStructure {
    pub file: ModelFile,
    pub overrides: Vec<(String, String)>,
    pub structure: Structure,
    pub defaults: RunDefaults,
}

/// A model ready to run.
pub struct Ready {
    pub file: ModelFile,
    pub overrides: Vec<(String, String)>,
    pub problem: Problem,
    pub defaults: RunDefaults,
    penetration: Option<f64>,
}

/// Anything that keeps a command from starting.
pub enum Refusal {
    File(FileError),
    Setup(SetupError),
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        Refusal::File(error)
    }
}

impl From<SetupError> for Refusal {
    fn from(error: SetupError) -> Self {
        Refusal::Setup(error)
    }
}

impl Refusal {
    /// Shows it and gives the exit code.
    pub fn show(&self, json: bool) -> ExitCode {
        match self {
            Refusal::File(error) => diagnose::file(error, json),
            Refusal::Setup(error) => diagnose::plain(error, json),
        }
    }
}

impl ModelArgs {
    /// Reads, understands and checks the model; `step` is the step of the command line, if it has one.
    pub fn ready(&self, step: Option<&String>) -> Result<Ready, Refusal> {
        match self.open(step, None)? {
            Opened::Problem(ready) => Ok(*ready),
            Opened::Structure(ready) => Err(FileError::whole(
                &ready.file.name,
                SetupError::new("this is a structure, and this command is for models of energies")
                    .help("structures have `saltus run`, `saltus check`, `saltus compare` and `saltus converge`"),
            )
            .into()),
        }
    }

    /// The same for either kind of model.
    pub fn open(&self, step: Option<&String>, more: Option<&StructureArgs>) -> Result<Opened, Refusal> {
        let overrides = overrides(&self.set)?;
        let file = locate::model(&self.model)?;
        let given = [
            ("step", step),
            ("end", self.end.as_ref()),
            ("tolerance", self.tolerance.as_ref()),
            ("theta", self.theta.as_ref()),
            ("activation", self.activation.as_ref()),
            ("stiffness", self.stiffness.as_ref()),
            ("modes", more.and_then(|m| m.modes.as_ref())),
            ("rest", more.and_then(|m| m.rest.as_ref())),
        ];
        let numbers: Vec<(&str, String)> = given.iter().filter_map(|(k, v)| v.map(|v| (*k, v.clone()))).collect();
        let (system, mut defaults) = file.system(&overrides, &numbers)?;
        if let Some(forcing) = &self.forcing {
            defaults.forcing = Some(Forcing::find(forcing)?);
        }
        if let Some(path) = &self.report {
            saltus_io::output::prepare_file(path).map_err(|e| SetupError::new(e.to_string()))?;
        }
        match system {
            System::Problem(problem) => {
                if let Some(depth) = self.penetration.filter(|d| !(*d > 0.0 && d.is_finite())) {
                    let message = format!("the penetration must be a positive number, not {depth}");
                    return Err(SetupError::new(message).into());
                }
                if let Some(option) = more.and_then(StructureArgs::used) {
                    return Err(
                        SetupError::new(format!("{option} is for structures, and this model has energies")).into()
                    );
                }
                let (problem, penetration) = (*problem, self.penetration);
                Ok(Opened::Problem(Box::new(Ready { file, overrides, problem, defaults, penetration })))
            }
            System::Structure(structure) => {
                let mut structure = *structure;
                for place in more.map_or(&[][..], |m| &m.observe) {
                    observe(&mut structure, place)?;
                }
                defaults.residual |= more.is_some_and(|m| m.residual);
                Ok(Opened::Structure(Box::new(ReadyStructure { file, overrides, structure, defaults })))
            }
        }
    }
}

impl StructureArgs {
    /// The first option that was given.
    fn used(&self) -> Option<&'static str> {
        let all = [
            (self.modes.is_some(), "--modes"),
            (self.residual, "--residual"),
            (!self.observe.is_empty(), "--observe"),
            (self.rest.is_some(), "--rest"),
        ];
        all.iter().find(|(used, _)| *used).map(|(_, name)| *name)
    }
}

/// Understands a place of the command line: `x=0.3`, `A:floor=2`, `all`.
fn observe(structure: &mut Structure, word: &str) -> Result<(), SetupError> {
    let bad = || {
        SetupError::new(format!("`--observe {word}` is not a place"))
            .help("a place is x=0.3, rotation=0.3, dof=12, floor=2, or all; with several parts, part:x=0.3")
    };
    let (part, place) = match word.split_once(':') {
        Some((name, place)) => {
            let part = structure.parts().iter().position(|p| p.name == name);
            (part.ok_or_else(|| SetupError::new(format!("there is no part `{name}` to observe")))?, place)
        }
        None => (0, word),
    };
    if place.trim() == "all" {
        let dofs = structure.parts()[part].dimension();
        for k in 1..=dofs {
            structure.observe(&format!("dof{k}"), &On { part, place: Place::Dof(k) })?;
        }
        return Ok(());
    }
    let (key, value) = place.split_once('=').ok_or_else(bad)?;
    let number: f64 = value.trim().parse().map_err(|_| bad())?;
    let whole = if number.fract() == 0.0 && number >= 0.0 { Some(number as usize) } else { None };
    let place = match (key.trim(), whole) {
        ("x", _) => Place::X(number),
        ("rotation", _) => Place::Rotation(number),
        ("dof", Some(k)) => Place::Dof(k),
        ("floor", Some(k)) => Place::Floor(k),
        _ => return Err(bad()),
    };
    structure.observe(word, &On { part, place })
}

impl ReadyStructure {
    /// Options of a run with a scheme.
    pub fn options(&self, scheme: &'static Scheme, step: Option<f64>) -> Result<RunOptions, SetupError> {
        let mut options = options(&self.defaults, &self.file.name, scheme, step)?;
        if options.settings.forcing == Forcing::Centred {
            options.settings.forcing = Forcing::Newmark;
        }
        Ok(options)
    }

    /// What is asked of the structure.
    pub fn more(&self) -> Result<StructureOptions, SetupError> {
        let reduction = match self.defaults.modes {
            None if self.defaults.residual => {
                return Err(SetupError::new("--residual goes with --modes: without, no mode is left out"));
            }
            None => None,
            Some(m) if m.fract() == 0.0 && m < 1e9 => {
                Some(Reduction { modes: m as usize, residual: self.defaults.residual })
            }
            Some(m) => return Err(SetupError::new(format!("the number of modes must be whole, not {m}"))),
        };
        Ok(StructureOptions { reduction, rest: self.defaults.rest.unwrap_or(0.0), outline: false })
    }

    /// The scheme asked for, the model's, or Paoli–Schatzman.
    pub fn scheme(&self, asked: Option<&String>) -> Result<&'static Scheme, SetupError> {
        match asked {
            Some(name) if name != "auto" => scheme::find(name),
            Some(_) => scheme::find("paoli-schatzman"),
            None => match self.defaults.scheme.filter(|s| s.name != "auto") {
                Some(scheme) => Ok(scheme),
                None => scheme::find("paoli-schatzman"),
            },
        }
    }
}

/// Options of a run with a scheme; the step is the model's or the command line's unless another is given.
fn options(
    defaults: &RunDefaults,
    name: &str,
    scheme: &'static Scheme,
    step: Option<f64>,
) -> Result<RunOptions, SetupError> {
    let need = |value: Option<f64>, what: &str| {
        value.ok_or_else(|| {
            SetupError::new(format!("neither the command line nor `{name}` gives {what}"))
                .help(format!("add  --{what} …  or, in the model's [run] section,  {what} = …"))
        })
    };
    let end = need(defaults.end, "end")?;
    // By events a step is only the interval at which instants are stored.
    let by_events = scheme.stepping().is_none().then_some(end / 1000.0);
    let step = need(step.or(defaults.step).or(by_events), "step")?;
    let mut settings = Settings::new(step);
    settings.tolerance = defaults.tolerance.unwrap_or(settings.tolerance);
    settings.forcing = defaults.forcing.unwrap_or_default();
    settings.theta = defaults.theta.unwrap_or(settings.theta);
    settings.activation = defaults.activation.unwrap_or(settings.activation);
    settings.stiffness = defaults.stiffness;
    let every = defaults.every.unwrap_or(1);
    Ok(RunOptions { scheme, every, settings, ..RunOptions::new(step, end) })
}

impl Ready {
    /// Options of a run with a scheme; the step is the model's or the command line's unless another is given.
    pub fn options(&self, scheme: &'static Scheme, step: Option<f64>) -> Result<RunOptions, SetupError> {
        let mut options = options(&self.defaults, &self.file.name, scheme, step)?;
        if let (None, Some(depth), false) = (options.settings.stiffness, self.penetration, scheme.follows_law) {
            options.settings.stiffness = Some(self.stiffness_for(depth, options.step, options.end)?);
        }
        Ok(options)
    }

    /// The stiffness k with m v² = k δ² for the impact that presses hardest, in a run with rigid obstacles; m is the
    /// inertia behind the constraint, P = (1+e) m v.
    fn stiffness_for(&self, depth: f64, step: f64, end: f64) -> Result<f64, SetupError> {
        let rigid = RunOptions { scheme: scheme::find("mabrouk")?, every: u64::MAX, ..RunOptions::new(step, end) };
        let run = saltus::run(&self.problem, &rigid, &mut |_| true)?;
        let constraints = &self.problem.model().constraints;
        let hardest = run.trajectory.impacts.iter().map(|impact| {
            let e = constraints[impact.constraints[0]].restitution;
            let pressed: f64 = impact.impulses.iter().sum();
            pressed / (1.0 + e) * impact.approach.abs()
        });
        let energy = hardest.fold(0.0, f64::max);
        match energy > 0.0 {
            true => Ok(energy / (depth * depth)),
            false => Err(SetupError::new("no impact was found from which to choose a stiffness")
                .help("give the stiffness itself with --stiffness")),
        }
    }
}

fn overrides(set: &[String]) -> Result<Vec<(String, String)>, SetupError> {
    set.iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok((name.trim().to_string(), value.trim().to_string()))
            }
            _ => {
                Err(SetupError::new(format!("`--set {text}` is not of the form NAME=VALUE"))
                    .help("such as  --set e=0.5"))
            }
        })
        .collect()
}
