//! Options that several commands share: which model, changed how, started where, run how finely.

mod continued;

pub use continued::another;
use continued::{continued, set_clock};

use crate::text::{number, printable};
use crate::{diagnose, locate, progress};
use clap::{Arg, ArgMatches, Command};
use saltus::analysis::stiffness_for_penetration;
use saltus::scheme::{self, Domain, Scheme, Settings, all_settings};
use saltus::{Options, SetupError, Start};
use saltus_io::{Changes, FileError, ModelFile, Opened, Rerun, output};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which model, changed how.
#[derive(clap::Args, Clone)]
pub struct ModelArgs {
    /// A model file, or the name of a shipped model (see `saltus models`)
    pub model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Take another file for an input of the model, ag=record.csv, or another seed of a random one, ag=seed:3; may be repeated
    #[arg(long, value_name = "NAME=FILE")]
    pub input: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Also write everything as one HTML file that opens in any browser, offline: figures, tables, the model, the command
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
}

/// Where a run starts.
#[derive(clap::Args, Clone, Default)]
pub struct StartArgs {
    /// Override the model's start: x=0.3,x'=0, a state p=2, or t=2 for the time; may be repeated. For a structure:
    /// displacement=, velocity= (of everything), or a point, which gives the shape of least elastic energy through it
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Start")]
    pub start: Vec<String>,
    /// Continue a saved run from its last instant; with --start t=0 the clock is set anew, so that records begin there
    #[arg(long, value_name = "RUN_DIR", help_heading = "Start")]
    pub from: Option<PathBuf>,
    /// With --from: continue from this time instead; the run is made again up to there
    #[arg(long, value_name = "T", help_heading = "Start", requires = "from", allow_hyphen_values = true)]
    pub at: Option<f64>,
    /// Start from the nearest position and velocity that satisfy the joints
    #[arg(long, help_heading = "Start", conflicts_with = "from")]
    pub assemble: bool,
}

/// How far to run, and the settings of the schemes.
#[derive(clap::Args, Clone)]
pub struct RunArgs {
    /// The end time: a number or an expression of parameters [default: the model's]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Run")]
    pub end: Option<String>,
    /// For penalty, instead of a stiffness: the deepest penetration wanted. The stiffness follows from the impacts of a run
    /// with mabrouk
    #[arg(long, value_name = "DEPTH", conflicts_with = "stiffness", help_heading = "Settings of schemes")]
    pub penetration: Option<f64>,
    #[command(flatten)]
    pub settings: SettingArgs,
}

/// Options for structures.
#[derive(clap::Args, Clone, Default)]
pub struct StructureArgs {
    /// Use the first M modes (an expression of parameters) [default: the model's, else none]
    #[arg(long, value_name = "M", help_heading = "Structures")]
    pub modes: Option<String>,
    /// With --modes: give the static flexibility of the modes left out to the stops
    #[arg(long, help_heading = "Structures")]
    pub residual: bool,
    /// Record this place as well: x=0.3, dof=12, floor=2, or part:x=0.3; may be repeated. `all`: every degree of freedom
    #[arg(long, value_name = "PLACE", help_heading = "Structures")]
    pub observe: Vec<String>,
}

/// The settings that schemes declare, one option each.
#[derive(Clone, Default)]
pub struct SettingArgs {
    pub numbers: Vec<(String, String)>,
    pub words: Vec<(String, String)>,
}

/// The option of a setting.
fn flag(setting: &str) -> &str {
    if setting == "tolerance" { "tol" } else { setting }
}

impl clap::Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        all_settings().into_iter().fold(command, |command, (setting, schemes)| {
            let of = match schemes.as_slice() {
                [one] => one.to_string(),
                several => several.join(", "),
            };
            let (value, more) = match setting.domain {
                Domain::Number { default: Some(x), .. } => ("X", format!(" [default: {x:?}]")),
                Domain::Number { default: None, .. } => ("X", String::new()),
                Domain::Choice(choices) => {
                    ("WORD", format!(" ({})", choices.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")))
                }
            };
            let help = format!("For {of}: {}{more}", setting.meaning);
            let arg = Arg::new(setting.name).long(flag(setting.name)).value_name(value).help(help);
            command.arg(arg.allow_hyphen_values(true).help_heading("Settings of schemes"))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = SettingArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (setting, _) in all_settings() {
            if let Some(text) = matches.get_one::<String>(setting.name) {
                let given = (setting.name.to_string(), text.clone());
                match setting.domain {
                    Domain::Number { .. } => self.numbers.push(given),
                    Domain::Choice(_) => self.words.push(given),
                }
            }
        }
        Ok(())
    }
}

/// Anything that keeps a command from starting or from finishing.
pub enum Refusal {
    File(FileError),
    Setup(SetupError),
    /// Stopped by the user before there was anything to show.
    Interrupted,
    /// A report could not be written after everything was printed.
    Unwritten(SetupError),
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
            Refusal::Interrupted => {
                diagnose::plain(&SetupError::new("interrupted: nothing to compare yet"), json);
                ExitCode::from(progress::INTERRUPTED)
            }
            Refusal::Unwritten(error) => {
                // One JSON object has been printed already: a second would not be one.
                crate::text::mutter(&crate::text::printable(&error.message).to_string());
                ExitCode::FAILURE
            }
        }
    }
}

/// What a command asks for, all of it optional but the model.
#[derive(Default)]
pub struct Asked<'a> {
    pub start: Option<&'a StartArgs>,
    pub run: Option<&'a RunArgs>,
    pub structure: Option<&'a StructureArgs>,
    pub step: Option<&'a String>,
    /// The end time, of a command that has no other options of a run.
    pub end: Option<&'a String>,
    pub rest: Option<&'a String>,
}

/// A model ready to run.
pub struct Ready {
    pub file: ModelFile,
    pub changes: Changes,
    pub opened: Opened,
    /// Whether it starts where the (changed) model says.
    pub own_start: bool,
    /// The start that --assemble took, where it is another than the one given.
    pub assembled: Option<String>,
    /// What a user should know before the run.
    pub notes: Vec<String>,
    /// What reading and checking it took, in seconds.
    pub opening_s: f64,
    given: Settings,
    penetration: Option<f64>,
    end_is_given: bool,
}

impl ModelArgs {
    /// Reads, resolves and checks the model.
    pub fn ready(&self, asked: &Asked) -> Result<Ready, Refusal> {
        let began = std::time::Instant::now();
        let mut changes = Changes { set: pairs("--set", &self.set, false)?, ..Changes::default() };
        let mut file = locate::model(&self.model)?;
        for (name, word) in pairs("--input", &self.input, false)? {
            changes.inputs.push(file.replace_input(&name, &word, Path::new(""))?);
        }
        let mut clock = None;
        let settings = asked.run.map(|r| r.settings.clone()).unwrap_or_default();
        let numbers = [
            ("step", asked.step),
            ("end", asked.run.and_then(|r| r.end.as_ref()).or(asked.end)),
            ("modes", asked.structure.and_then(|s| s.modes.as_ref())),
            ("rest", asked.rest),
        ];
        changes.run.extend(numbers.into_iter().filter_map(|(k, v)| Some((k.to_string(), v?.clone()))));
        changes.run.extend(settings.numbers.iter().cloned());
        if let Some(structure) = asked.structure {
            changes.observe.clone_from(&structure.observe);
            if let (Some(option), false) = (structure.used(asked.rest.is_some()), file.is_structure()) {
                let message = format!("{option} is for structures, and this model is one of expressions");
                return Err(SetupError::new(message).into());
            }
        }
        if let Some(start) = asked.start {
            changes.start = pairs("--start", &listed(&start.start), true)?;
            changes.assemble = start.assemble;
            if start.from.is_some() {
                clock = set_clock(&mut changes.start)?;
            }
        }
        let residual = asked.structure.is_some_and(|s| s.residual);
        let penetration = asked.run.and_then(|r| r.penetration);
        let mut ready = Ready::new(file, changes, &settings, residual, penetration)?;
        if let Some(dir) = asked.start.and_then(|s| s.from.as_ref()) {
            let (start, is_same) = continued(dir, &ready.file, &ready.opened, asked.start.and_then(|s| s.at))?;
            ready.opened.start = start;
            ready.own_start = false;
            if let Some(t) = clock {
                ready.opened.start.t = t;
            }
            if !is_same {
                let note = "the text of the model is another than that of the run that is continued";
                ready.notes.push(format!("{note} (`{}`): parameters, loads or laws may differ", dir.display()));
            }
        }
        if asked.start.is_some_and(|s| s.assemble) {
            ready.assembled = assembled(&ready.opened)?;
        }
        if let Some(path) = &self.report {
            output::spare(path, ready.file.sources()).map_err(|e| {
                SetupError::new(e.to_string()).help("give the report a name of its own, such as  --report page.html")
            })?;
            if let Some(dir) = asked.start.and_then(|s| s.from.as_ref()) {
                let saved = ["run.json", "trajectory.npz", "state.npz"].map(|name| dir.join(name));
                output::spare(path, saved.iter().map(PathBuf::as_path)).map_err(|e| SetupError::new(e.to_string()))?;
            }
            output::prepare_file(path).map_err(|e| SetupError::new(e.to_string()))?;
        }
        ready.end_is_given = asked.run.is_some_and(|r| r.end.is_some());
        ready.opening_s = began.elapsed().as_secs_f64();
        Ok(ready)
    }
}

/// Where the start is that --assemble took, if it is another than the model's; a model without joints is refused.
fn assembled(opened: &Opened) -> Result<Option<String>, Refusal> {
    let (model, near) = (opened.system.model(), &opened.start);
    if model.joints.is_empty() {
        let message = "--assemble puts joints together, and this model has none";
        return Err(SetupError::new(message).help("joints are [[joint]] sections").into());
    }
    let d = model.degrees();
    let off = |a: &[f64], b: &[f64]| a.iter().zip(b).take(d).any(|(a, b)| (a - b).abs() > 1e-12 * (1.0 + a.abs()));
    if !off(&near.q, &model.q0) && !off(&near.v, &model.v0) {
        return Ok(None);
    }
    let entry = |i: usize| {
        let name = printable(&model.coordinates[i]);
        format!("{name} = {} ({})", number(near.q[i], 8), number(near.v[i], 6))
    };
    let shown: Vec<String> = (0..d.min(8)).map(entry).collect();
    let more = if d > 8 { ", …" } else { "" };
    Ok(Some(format!("{}{more}", shown.join(", "))))
}

impl StructureArgs {
    /// The first option that was given.
    fn used(&self, rest: bool) -> Option<&'static str> {
        let all = [
            (self.modes.is_some(), "--modes"),
            (self.residual, "--residual"),
            (!self.observe.is_empty(), "--observe"),
            (rest, "--rest"),
        ];
        all.iter().find(|(used, _)| *used).map(|(_, name)| *name)
    }
}

impl Ready {
    /// A model with its changes, and settings of the schemes beside those of its file.
    pub fn new(
        file: ModelFile,
        changes: Changes,
        settings: &SettingArgs,
        residual: bool,
        penetration: Option<f64>,
    ) -> Result<Self, FileError> {
        let mut opened = file.changed(&changes)?;
        let mut given = Settings::new();
        for (name, _) in &settings.numbers {
            if let Some(value) = opened.defaults.settings.get(name) {
                given.set(name, value.clone());
            }
        }
        for (name, word) in &settings.words {
            given.set(name, word.as_str());
        }
        opened.defaults.residual |= residual;
        let model = opened.system.model();
        for (name, _) in &changes.inputs {
            let table = model.inputs.iter().find(|table| table.name() == name);
            if table.is_some_and(|table| model.graph.table_arguments(table).is_empty()) {
                let error = SetupError::new(format!(
                    "nothing in the model uses the input `{name}`: another file changes nothing"
                ));
                let help =
                    format!("an input acts where an expression calls it, such as  base.acceleration = \"{name}(t)\"");
                return Err(FileError::whole(&file.name, error.help(help)));
            }
        }
        let end_is_given = changes.run.iter().any(|(name, _)| name == "end");
        Ok(Ready {
            file,
            changes,
            opened,
            own_start: true,
            assembled: None,
            notes: Vec::new(),
            opening_s: 0.0,
            given,
            penetration,
            end_is_given,
        })
    }

    /// A saved run that is made again.
    pub fn of(again: Rerun, changes: Changes, own_start: bool) -> Self {
        let Rerun { file, opened, .. } = again;
        Ready {
            file,
            changes,
            opened,
            own_start,
            assembled: None,
            notes: Vec::new(),
            opening_s: 0.0,
            given: Settings::new(),
            penetration: None,
            end_is_given: true,
        }
    }

    /// A mistake that has a place in the model file is shown there.
    pub fn located(&self, error: SetupError) -> Refusal {
        match error.span {
            Some(_) => Refusal::File(FileError {
                name: self.file.name.clone(),
                text: self.file.text.clone(),
                error: Box::new(error),
            }),
            None => Refusal::Setup(error),
        }
    }

    /// The start.
    pub fn start(&self) -> &Start {
        &self.opened.start
    }

    /// The settings that the command line gave.
    pub fn given(&self) -> &Settings {
        &self.given
    }

    /// Options of a run with a scheme: the one given, else the model's, else the default.
    pub fn options(&self, scheme: Option<Scheme>) -> Result<Options, SetupError> {
        let mut options = self.opened.defaults.options(scheme, &self.file.name, &self.given)?;
        // A run that is continued without an end goes on for as long as the model's own.
        if !self.own_start && !self.end_is_given {
            options.end += self.start().t;
        }
        if let (Some(depth), false, None) =
            (self.penetration, options.scheme.follows_law, options.settings.get("stiffness"))
        {
            let stepped = options.clone().step(self.step(&options));
            let k = stiffness_for_penetration(&*self.opened.system, self.start(), &stepped, depth)?;
            options.settings.set("stiffness", k);
        }
        Ok(options)
    }

    /// Whether neither the command line nor the model gives a step.
    pub fn step_is_derived(&self) -> bool {
        self.opened.defaults.step.is_none()
    }

    /// The step that the command line or the model gives, else a thousandth of the run.
    pub fn step(&self, options: &Options) -> f64 {
        options.step.unwrap_or((options.end - self.start().t) / 1000.0)
    }
}

/// A scheme by its name, where one is given.
pub fn scheme(name: Option<&String>) -> Result<Option<Scheme>, SetupError> {
    name.map(|name| scheme::find(name)).transpose()
}

/// Refuses a directory for the files of a run that holds something else, or files that are read.
pub fn spare_directory<'a>(dir: &Path, inputs: impl IntoIterator<Item = &'a Path> + Clone) -> Result<(), SetupError> {
    let help = "choose another directory";
    if let Some(other) = output::holds_other(dir) {
        return Err(SetupError::new(format!("`{}` holds {other}, not a run", dir.display())).help(help));
    }
    output::spare_in(dir, inputs).map_err(|e| SetupError::new(e.to_string()).help(help))
}

/// The same, and makes sure that files can be written there.
pub fn run_directory<'a>(dir: &Path, inputs: impl IntoIterator<Item = &'a Path> + Clone) -> Result<(), SetupError> {
    spare_directory(dir, inputs)?;
    output::prepare(dir).map_err(|e| SetupError::new(e.to_string()))
}

/// What stands between the commas of options; commas in parentheses belong to an expression.
pub fn listed(texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        let (mut depth, mut from) = (0_usize, 0);
        for (at, c) in text.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    found.push(text[from..at].to_string());
                    from = at + 1;
                }
                _ => {}
            }
        }
        found.push(text[from..].to_string());
    }
    found
}

/// `NAME=VALUE` options.
pub fn pairs(option: &str, texts: &[String], primes: bool) -> Result<Vec<(String, String)>, SetupError> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok((name.trim().to_string(), value.trim().to_string()))
            }
            _ => Err(SetupError::new(format!("`{option} {text}` is not of the form NAME=VALUE")).help(if primes {
                "such as  --start x=0.3,x'=0"
            } else {
                "such as  --set e=0.5"
            })),
        })
        .collect()
}
