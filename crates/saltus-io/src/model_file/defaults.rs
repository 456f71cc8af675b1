//! `[run]`: what a model file says about its runs. The settings are those that the schemes declare.

use super::tree::{self, Value};
use super::{Failure, ModelFile, Reader, get};
use saltus::scheme::{self, Domain, SCHEMES, Scheme, SettingValue, Settings, StructureSteps, Systems, all_settings};
use saltus::structure::Reduction;
use saltus::{Kind, Model, Options, SetupError, Span};

/// Numbers of a run that are not settings of a scheme.
const NUMBERS: [&str; 4] = ["step", "end", "modes", "rest"];

/// All numbers of a run: expressions of parameters, in `[run]` or on the command line.
pub(super) fn numbers() -> impl Iterator<Item = &'static str> {
    let settings = all_settings().into_iter().filter(|(s, _)| matches!(s.domain, Domain::Number { .. }));
    NUMBERS.into_iter().chain(settings.map(|(s, _)| s.name))
}

/// The settings that are words.
fn words() -> impl Iterator<Item = &'static str> {
    all_settings().into_iter().filter(|(s, _)| matches!(s.domain, Domain::Choice(_))).map(|(s, _)| s.name)
}

/// What `[run]` says besides its numbers, which are settings of the description.
#[derive(Clone, Debug, Default)]
pub(super) struct RunText {
    pub scheme: Option<Scheme>,
    pub every: Option<u64>,
    pub residual: bool,
    pub words: Vec<(String, String, Span)>,
}

/// What a file says about its runs, with parameters known; the command line overrides it.
#[derive(Clone, Debug, Default)]
pub struct RunDefaults {
    /// The scheme.
    pub scheme: Option<Scheme>,
    /// The time step.
    pub step: Option<f64>,
    /// The end time.
    pub end: Option<f64>,
    /// Every how many steps an instant is stored.
    pub every: Option<u64>,
    /// Settings of the scheme.
    pub settings: Settings,
    /// For structures: how many modes.
    pub modes: Option<f64>,
    /// For structures: whether the modes left out lend their flexibility to the stops.
    pub residual: bool,
    /// For structures: touches closer in time than this are one shock.
    pub rest: Option<f64>,
}

impl Reader<'_> {
    pub(super) fn run(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[run]", "step = 1e-3")?;
        let known: Vec<&str> = numbers().chain(words()).chain(["scheme", "every", "residual"]).collect();
        tree::only(table, "[run]", &known)?;
        if let Some(value) = get(table, "scheme") {
            let found = scheme::find(&tree::string(value, "the scheme")?);
            self.run.scheme = Some(found.map_err(|e| e.at(value.span(), "not known"))?);
        }
        for (key, value) in tree::entries(table) {
            let key: &str = key.get_ref();
            match key {
                "scheme" => {}
                "residual" => {
                    let truth = value.get_ref().as_bool();
                    self.run.residual = truth
                        .ok_or_else(|| SetupError::new("`residual` is true or false").at(value.span(), "a switch"))?;
                }
                "every" => {
                    let whole =
                        value.get_ref().as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
                    let Some(every) = whole.filter(|&n| n > 0) else {
                        return Err(SetupError::new("`every` must be a positive whole number")
                            .at(value.span(), "every how many steps an instant is stored")
                            .into());
                    };
                    self.run.every = Some(every);
                }
                key if words().any(|w| w == key) => {
                    let word = tree::string(value, key)?;
                    self.run.words.push((key.to_string(), word, value.span()));
                }
                key => {
                    let text = tree::text(self.text, value, "a number of the run")?;
                    self.description.settings.push((key.to_string(), text));
                }
            }
        }
        Ok(())
    }
}

impl ModelFile {
    /// What `[run]` sets of a scheme, as a run of it has it, where that is not the default.
    pub fn settings_of(&self, scheme: Scheme, model: &Model) -> Result<Settings, SetupError> {
        let defaults = RunDefaults::new(&self.run, model, &["step".into(), "end".into()], Systems::Models)?;
        let is_own = defaults.scheme.is_none_or(|own| own.name == scheme.name);
        let own = if is_own { defaults.settings } else { Settings::new() };
        let settings = own.beside_defaults(scheme.settings, Systems::Models);
        for s in model.settings.iter().filter(|s| settings.get(&s.name).is_some()) {
            if let Some(p) = model.open.iter().find(|p| model.graph.depends_on(s.node, p.symbol)) {
                let message = format!("`{}` of {} depends on `{}`, which is varied", s.name, scheme.name, p.name);
                return Err(SetupError::new(message)
                    .at(s.span.clone(), "one value for all trajectories is needed")
                    .help("vary something else, or sweep once for each value"));
            }
        }
        settings.check(scheme.name, scheme.settings, Systems::Models)?;
        Ok(settings)
    }
}

impl RunDefaults {
    /// From the text and the numbers of the model. `given` are the names of numbers that the command line gave: those belong
    /// to whatever scheme it chooses.
    pub(super) fn new(text: &RunText, model: &Model, given: &[String], kind: Systems) -> Result<Self, SetupError> {
        let mut defaults =
            RunDefaults { scheme: text.scheme, every: text.every, residual: text.residual, ..RunDefaults::default() };
        let scheme = effective(text.scheme.unwrap_or(SCHEMES[0]), kind);
        let mut words: Vec<(&str, SettingValue, Span)> = Vec::new();
        for (name, word, span) in &text.words {
            words.push((name, word.as_str().into(), span.clone()));
        }
        for s in &model.settings {
            let slot = match s.name.as_str() {
                "step" => &mut defaults.step,
                "end" => &mut defaults.end,
                "modes" => &mut defaults.modes,
                "rest" => &mut defaults.rest,
                name if numbers().any(|n| n == name) => {
                    words.push((name, s.value.into(), s.span.clone()));
                    continue;
                }
                _ => continue,
            };
            if !(s.value > 0.0) {
                let kind = Kind::OutOfRange { name: s.name.clone(), value: s.value };
                let message = format!("the {} of a run must be a positive number, not {}", s.name, s.value);
                return Err(SetupError::new(message).with_kind(kind).at(s.span.clone(), "must be > 0"));
            }
            *slot = Some(s.value);
        }
        for (name, value, span) in words {
            // What a file sets is for the scheme that it names; what the command line sets is checked with its own.
            if !given.iter().any(|g| g == name) {
                let one = Settings::new().with(name, value.clone());
                let owners = || all_settings().into_iter().find(|(s, _)| s.name == name).map(|(_, of)| of.join(", "));
                one.check(scheme.name, scheme.settings, kind).map_err(|e| match scheme.setting(name) {
                    Some(_) => e.at(span, "not allowed"),
                    None => e
                        .at(span, format!("a setting of {}", owners().unwrap_or_default()))
                        .help("name the scheme in [run] as well, such as  scheme = \"moreau-jean\""),
                })?;
            }
            defaults.settings.set(name, value);
        }
        Ok(defaults)
    }

    /// Options of a run. The scheme is the one given, else the file's, else the default; a setting of the file that the scheme
    /// does not have is left out, because the file sets it for its own.
    pub fn options(&self, scheme: Option<Scheme>, name: &str, given: &Settings) -> Result<Options, SetupError> {
        let chosen = scheme.or(self.scheme).unwrap_or(SCHEMES[0]);
        let end = self.end.ok_or_else(|| {
            SetupError::new(format!("neither the call nor `{name}` gives the end time"))
                .help("add  --end …  (in Python  end=…)  or, in the model's [run] section,  end = …")
        })?;
        let mut options = Options::with(chosen, end).every(self.every.unwrap_or(1));
        options.step = self.step;
        options.settings = self.settings.clone();
        let is_own = self.scheme.is_none_or(|own| own.name == chosen.name);
        if !is_own {
            let stays = |n: &str| chosen.setting(n).is_some() || given.get(n).is_some();
            options.settings = options.settings.filtered(stays);
        }
        given.given().for_each(|(n, v)| options.settings.set(n, v.clone()));
        options.reduction = self.reduction()?;
        Ok(options)
    }

    fn reduction(&self) -> Result<Option<Reduction>, SetupError> {
        match self.modes {
            None if self.residual => Err(SetupError::new(
                "the residual flexibility goes with a number of modes: without, no mode is left out",
            )),
            None => Ok(None),
            Some(m) if m.fract() == 0.0 && m < 1e9 => {
                Ok(Some(Reduction { modes: m as usize, residual: self.residual }))
            }
            Some(m) => Err(SetupError::new(format!("the number of modes must be whole, not {m}"))),
        }
    }
}

/// The scheme that runs a kind of system when this one is named.
pub(super) fn effective(scheme: Scheme, kind: Systems) -> Scheme {
    match scheme.structures {
        StructureSteps::Instead(name) if kind == Systems::Structures => scheme::find(name).unwrap_or(scheme),
        _ => scheme,
    }
}
