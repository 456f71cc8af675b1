//! A model ready to run, and a run with all that is known about it.

use super::Mistake;
use crate::done::Done;
use crate::report;
use crate::setup::{Ready, SettingArgs, another, spare_directory};
use saltus::scheme::{self, Domain, all_settings};
use saltus::{Keep, Options, Progress, Run, SetupError, Start, System, run_observed};
use saltus_io::output::{self, Format};
use saltus_io::{Changes, ModelFile, Rerun, SavedRun};
use saltus_report::Page;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What is wanted of a run, as texts: what is left out is the model's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Parameters, initial values, and places of a structure to observe.
    pub changes: Changes,
    /// The scheme.
    pub scheme: Option<String>,
    /// Numbers of the run and settings of the scheme: step, end, tolerance, ….
    pub settings: Vec<(String, String)>,
    /// Every how many steps an instant is stored.
    pub every: Option<u64>,
    /// Whether to stop where everything has come to rest.
    pub until_rest: bool,
    /// Whether the modes left out lend their flexibility to the stops.
    pub residual: bool,
    /// For penalty: the deepest penetration wanted.
    pub penetration: Option<f64>,
}

/// A model ready to run.
pub struct Prepared {
    ready: Ready,
    options: Options,
}

impl Prepared {
    /// Resolves, compiles and checks a model; `from` is a run that is continued.
    pub fn new(file: ModelFile, wanted: &Wanted, from: Option<&Finished>) -> Result<Self, Mistake> {
        let mut settings = SettingArgs::default();
        let mut changes = wanted.changes.clone();
        for (name, value) in &wanted.settings {
            let is_structural = matches!(name.as_str(), "modes" | "rest");
            if is_structural && !file.is_structure() {
                let message = format!("`{name}` is for structures, and this model is one of expressions");
                return Err(SetupError::new(message).into());
            }
            let declared = all_settings().into_iter().find(|(setting, _)| setting.name == name);
            match declared.map(|(setting, _)| setting.domain) {
                Some(Domain::Choice(_)) => settings.words.push((name.clone(), value.clone())),
                Some(Domain::Number { .. }) => {
                    settings.numbers.push((name.clone(), value.clone()));
                    changes.run.push((name.clone(), value.clone()));
                }
                None if ["step", "end"].contains(&name.as_str()) || is_structural => {
                    changes.run.push((name.clone(), value.clone()));
                }
                None => return Err(unknown(name).into()),
            }
        }
        let mut ready = Ready::new(file, changes, &settings, wanted.residual, wanted.penetration)?;
        if let Some(from) = from {
            let (model, before) = (ready.opened.system.model(), from.system().model());
            let states = |m: &saltus::Model| m.states.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
            let constraints = |m: &saltus::Model| m.constraints.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
            let is_same = model.coordinates == before.coordinates
                && states(model) == states(before)
                && constraints(model) == constraints(before);
            if !is_same {
                return Err(another("it", &before.title).into());
            }
            ready.opened.start = from.run.last().clone();
            ready.own_start = false;
        }
        let scheme = wanted.scheme.as_deref().map(scheme::find).transpose()?;
        let mut options = ready.options(scheme)?;
        options.every = wanted.every.unwrap_or(options.every);
        options.until_rest = wanted.until_rest;
        if wanted.until_rest && !wanted.settings.iter().any(|(name, _)| name == "end") {
            options.end = ready.start().t + 100.0 * (options.end - ready.start().t);
        }
        if ready.opened.system.as_structure().is_some() {
            options.keep = options.keep | Keep::SHAPES;
        }
        Ok(Prepared { ready, options })
    }

    /// A run that `saltus run --out` saved.
    pub fn saved(dir: &Path) -> Result<Self, Mistake> {
        let saved = SavedRun::described(dir)?;
        let again = Rerun::new(&saved)?;
        let options = again.options.clone();
        let mut ready = Ready::of(again, saved.changes.clone(), saved.start.is_none());
        ready.opened.defaults.rest = saved.rest;
        Ok(Prepared { ready, options })
    }

    /// The system.
    pub fn system(&self) -> &dyn System {
        &*self.ready.opened.system
    }

    /// Where it starts.
    pub fn start(&self) -> &Start {
        self.ready.start()
    }

    /// How it is run.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Runs it. `observer` is called from time to time; false ends the run, which keeps what it has.
    pub fn run(self: &Arc<Self>, observer: &mut dyn FnMut(Progress) -> bool) -> Result<Finished, Mistake> {
        let started = Instant::now();
        let run = run_observed(self.system(), self.start(), &self.options, observer)?;
        let wall_s = started.elapsed().as_secs_f64();
        Ok(Finished { prepared: self.clone(), run: Arc::new(run), wall_s, done: OnceLock::new() })
    }
}

/// There is no such setting.
fn unknown(name: &str) -> SetupError {
    let settings = all_settings();
    let known = settings.iter().map(|(s, _)| s.name).chain(["step", "end", "modes", "rest"]);
    SetupError::unknown(format!("there is no setting `{name}`"), name, known, "the settings are")
}

/// A run with all that is known about it.
pub struct Finished {
    prepared: Arc<Prepared>,
    run: Arc<Run>,
    wall_s: f64,
    done: OnceLock<Done>,
}

impl Finished {
    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The system.
    pub fn system(&self) -> &dyn System {
        self.prepared.system()
    }

    /// How long it took, in seconds.
    pub fn wall_s(&self) -> f64 {
        self.wall_s
    }

    fn done(&self) -> &Done {
        self.done.get_or_init(|| Done::new(&self.prepared.ready, self.run.clone(), self.wall_s))
    }

    /// What it settled on, in a sentence.
    pub fn settled(&self) -> Option<String> {
        self.done().settled.sentence(self.system().model())
    }

    /// The summary as one JSON object, as `saltus run --json` prints it.
    pub fn summary(&self) -> String {
        serde_json::to_string(&self.done().summary(&self.prepared.ready, false)).unwrap_or_default()
    }

    /// Writes all files of the run, as `saltus run --out` does.
    pub fn save(&self, dir: &Path, formats: &[String]) -> Result<(), Mistake> {
        let formats = match formats {
            [] => Format::DEFAULT.to_vec(),
            names => names.iter().map(|n| Format::find(n)).collect::<Result<Vec<_>, _>>()?,
        };
        let plain = |e: output::WriteError| SetupError::new(e.to_string());
        spare_directory(dir, self.prepared.ready.file.sources())?;
        Ok(self.done().write(&self.prepared.ready, dir, &formats).map_err(plain)?)
    }

    /// The page of `saltus run --report`.
    pub fn page(&self) -> Result<Page, Mistake> {
        Ok(report::of_run(&self.prepared.ready, self.done(), Vec::new(), (&[], &[]))?)
    }

    /// Writes that page to a file.
    pub fn report(&self, path: &Path) -> Result<(), Mistake> {
        let plain = |e: output::WriteError| SetupError::new(e.to_string());
        output::spare(path, self.prepared.ready.file.sources()).map_err(plain)?;
        output::prepare_file(path).map_err(plain)?;
        Ok(report::save(path, &self.page()?)?)
    }
}
