//! The options that `run`, `compare` and `converge` share: which model, with which parameters, how finely.

use crate::{diagnose, locate};
use saltus::scheme::{self, Forcing, Scheme, Settings};
use saltus::{Problem, RunOptions, SetupError};
use saltus_io::{FileError, ModelFile, RunDefaults};
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
    /// How the force enters a step, where the scheme has the choice: at its instant (centred) or as its mean (averaged)
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
        let overrides = overrides(&self.set)?;
        let file = locate::model(&self.model)?;
        let given = [
            ("step", step),
            ("end", self.end.as_ref()),
            ("tolerance", self.tolerance.as_ref()),
            ("theta", self.theta.as_ref()),
            ("activation", self.activation.as_ref()),
            ("stiffness", self.stiffness.as_ref()),
        ];
        let numbers: Vec<(&str, String)> = given.iter().filter_map(|(k, v)| v.map(|v| (*k, v.clone()))).collect();
        let (problem, mut defaults) = file.problem_with(&overrides, &numbers)?;
        if let Some(forcing) = &self.forcing {
            defaults.forcing = Some(Forcing::find(forcing)?);
        }
        if let Some(depth) = self.penetration.filter(|d| !(*d > 0.0 && d.is_finite())) {
            return Err(SetupError::new(format!("the penetration must be a positive number, not {depth}")).into());
        }
        if let Some(path) = &self.report {
            saltus_io::output::prepare_file(path).map_err(|e| SetupError::new(e.to_string()))?;
        }
        Ok(Ready { file, overrides, problem, defaults, penetration: self.penetration })
    }
}

impl Ready {
    /// Options of a run with a scheme; the step is the model's or the command line's unless another is given.
    pub fn options(&self, scheme: &'static Scheme, step: Option<f64>) -> Result<RunOptions, SetupError> {
        let need = |value: Option<f64>, what: &str| {
            value.ok_or_else(|| {
                SetupError::new(format!("neither the command line nor `{}` gives {what}", self.file.name))
                    .help(format!("add  --{what} …  or, in the model's [run] section,  {what} = …"))
            })
        };
        let defaults = &self.defaults;
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
        if let (None, Some(depth), false) = (settings.stiffness, self.penetration, scheme.follows_law) {
            settings.stiffness = Some(self.stiffness_for(depth, step, end)?);
        }
        Ok(RunOptions { scheme, every, settings, ..RunOptions::new(step, end) })
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
