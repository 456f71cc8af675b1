//! A family as a person asks for it: texts, from which the family is made, and made again later.

mod parse;

use crate::points::{self, Axis, Design, Distribution, Listed, Points, Sample, Spacing};
use crate::{Carry, Family, Native, Target, Times, Wanted};
use parse::{Numbers, RangeText, VaryText};
use saltus::motion::Crossing;
use saltus::scheme::{self, Domain, Laws, Setting, Settings};
use saltus::text::exact;
use saltus::{Model, Problem, SetupError};
use saltus_expr::{NodeId, SeriesCode};
use saltus_io::{Changes, FamilyText, FileError, ModelFile};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is asked of a family. All numbers are expressions of parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// Parameters that are replaced.
    pub set: Vec<(String, String)>,
    /// Starts that are replaced.
    pub start: Vec<(String, String)>,
    /// Axes: `w=0.5:1.5:500`, `w=log:0.1:10:50`, `e=0.5,0.7`.
    pub over: Vec<String>,
    /// The number of points of a sample.
    pub sample: Option<u64>,
    /// What a sample varies: `w=uniform(0.5,1.5)`, `e=normal(0.8,0.05)`.
    pub vary: Vec<String>,
    /// How the sample lies: `random`, `latin` or `sobol`.
    pub design: String,
    /// The seed of the sample.
    pub seed: u64,
    /// A list of points.
    pub listed: Option<Listed>,
    /// How long a trajectory is left to settle: a time, or periods where `periods` is given.
    pub transient: Option<String>,
    /// For how many periods it is kept.
    pub periods: Option<String>,
    /// The period.
    pub period: Option<String>,
    /// Where it ends.
    pub end: Option<String>,
    /// Whether states at the stroboscope are kept.
    pub strobe: bool,
    /// Sections: an expression or the name of an event of the model, with `:up` or `:down`.
    pub sections: Vec<String>,
    /// After how many crossings of the first section a trajectory ends.
    pub returns: Option<u64>,
    /// How many of the last states at each section are kept; all if it is not given.
    pub last: Option<usize>,
    /// How many of the last impacts are kept: a number, or `all`.
    pub impacts: Option<String>,
    /// Expressions of which statistics are kept.
    pub statistics: Vec<String>,
    /// Further expressions, which pictures show at the instants that are kept.
    pub observe: Vec<String>,
    /// Whether to report what a trajectory settled on.
    pub settled: bool,
    /// A scheme that makes steps, instead of computing by events.
    pub scheme: Option<String>,
    /// Its time step; that of the model if it is not given.
    pub step: Option<String>,
    /// The tolerance; the model's, or 1e-10, if it is not given.
    pub tolerance: Option<f64>,
    /// Whether each point starts where its neighbour ended.
    pub carry: Option<Carry>,
    /// What computes it.
    pub code: Code,
    /// Whether starts are moved to the nearest ones that satisfy the joints.
    pub assemble: bool,
}

/// What computes a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// The processor's lanes.
    #[default]
    Lanes,
    /// Native code, made by the compiler of the machine.
    Native,
    /// The GPU of the machine.
    Gpu,
    /// Its GPU if there is one that can, else lanes. (Parts of one family may be computed by either.)
    Auto,
}

/// A family, ready to run.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The model file.
    pub file: ModelFile,
    /// What was asked for.
    pub request: Request,
    /// The family.
    pub family: Family,
    /// What is kept.
    pub wanted: Arc<Wanted>,
    /// The model in compiled code; lanes compute it if there is none.
    pub native: Option<Native>,
}

impl Sweep {
    /// The model in the compiled code that was asked for; None for lanes.
    pub fn compile(&self) -> Result<Option<Native>, SetupError> {
        let (option, target) = match self.request.code {
            Code::Lanes => return Ok(None),
            Code::Native => ("--native", Target::Processor),
            Code::Gpu | Code::Auto => ("--device gpu", Target::Gpu),
        };
        let wanted = &self.wanted;
        let scheme = wanted.scheme.as_deref();
        let kept = match (scheme, wanted.settings.given().next()) {
            _ if !wanted.statistics.is_empty() => Some("statistics".to_string()),
            (Some(_), _) if wanted.sections => Some("sections with --scheme".to_string()),
            (Some(scheme), Some((name, value))) => Some(format!("{scheme} with {name} = {value}")),
            _ => None,
        };
        if let Some(kept) = kept {
            let message = format!("{option} does not support {kept}");
            return Err(SetupError::new(message).help(format!("leave {option} out")));
        }
        let native = Native::compile_for(self.family.problem(), scheme, target);
        native.map(Some).map_err(|why| match target {
            Target::Gpu => SetupError::new(format!("this sweep cannot run on a GPU: {why}"))
                .help("leave --device gpu out, or use --device auto: the results agree within the tolerance"),
            _ => SetupError::new(format!("cannot compile this model: {why}"))
                .help("leave --native out: the results agree within the tolerance"),
        })
    }
}

impl Request {
    /// What is changed of the model for all trajectories.
    pub fn changes(&self) -> Changes {
        Changes { set: self.set.clone(), start: self.start.clone(), assemble: self.assemble, ..Changes::default() }
    }

    /// Makes the family of a model, and compiles it where that is asked for. (With [`Code::Auto`] it is computed in lanes where it cannot
    /// be on a GPU; [`Sweep::compile`] says why.)
    pub fn sweep(&self, file: ModelFile) -> Result<Sweep, FileError> {
        let name = file.name.clone();
        let mut sweep = self.family(file)?;
        sweep.native = match sweep.compile() {
            Err(_) if self.code == Code::Auto => None,
            Ok(native) if self.code == Code::Auto => native.map(Native::or_lanes),
            made => made.map_err(|e| FileError::whole(&name, e))?,
        };
        Ok(sweep)
    }

    /// Makes the family of a model, without compiling it: what has been computed is read like this on any machine.
    pub fn family(&self, file: ModelFile) -> Result<Sweep, FileError> {
        let whole = |e: SetupError| FileError::whole(&file.name, e);
        let mut numbers = Numbers::default();
        let ranges = self.over.iter().map(|text| RangeText::parse(text, &mut numbers));
        let ranges = ranges.collect::<Result<Vec<_>, _>>().map_err(whole)?;
        let vary = self.vary.iter().map(|text| VaryText::parse(text, &mut numbers));
        let vary = vary.collect::<Result<Vec<_>, _>>().map_err(whole)?;
        for (key, text) in [
            ("sweep.transient", &self.transient),
            ("sweep.periods", &self.periods),
            ("sweep.period", &self.period),
            ("end", &self.end),
            ("step", &self.step),
        ] {
            numbers.0.extend(text.iter().map(|text| (key.to_string(), text.clone())));
        }
        let mut more = FamilyText { numbers: numbers.0, ..FamilyText::default() };
        more.quantities = self.statistics.iter().chain(&self.observe).cloned().collect();
        more.sections = self.sections.iter().map(|text| section(text)).collect::<Result<_, _>>().map_err(whole)?;
        if let Some(twice) = (1..more.sections.len()).find(|&k| more.sections[..k].contains(&more.sections[k])) {
            let message = format!("the section `{}` is given twice", self.sections[twice]);
            return Err(whole(SetupError::new(message).help("leave one of them out, or give it another direction")));
        }
        // (The model need not be defined for its own value of what is varied.)
        let ends = [false, true].map(|last| self.end_of(&file, (&ranges, &vary, &more.numbers), last));
        let mut changes = self.changes();
        let mut base = file.family(&changes, &more);
        for end in ends {
            if base.is_err() {
                let other = Changes { set: self.set.iter().cloned().chain(end).collect(), ..self.changes() };
                if let Ok(model) = file.family(&other, &more) {
                    (changes, base) = (other, Ok(model));
                }
            }
        }
        let base = base?;
        let listed = self.listed.iter().flat_map(|l| l.names.iter());
        let varied: Vec<&String> =
            ranges.iter().map(|r| &r.name).chain(vary.iter().map(|v| &v.name)).chain(listed).collect();
        let known = points::names(&base);
        for name in &varied {
            if self.set.iter().chain(&self.start).any(|(given, _)| given == *name) {
                let error = SetupError::new(format!("`{name}` is given one value and varied as well"));
                return Err(whole(error.help("leave out --set or --start for it, or the axis")));
            }
            if !known.contains(name) {
                let message =
                    format!("`{name}` is neither a parameter nor a coordinate, velocity or state to start from");
                return Err(whole(SetupError::unknown(message, name, known.iter().map(String::as_str), "there are")));
            }
        }
        more.open = varied.into_iter().filter(|n| base.parameter(n).is_some()).cloned().collect();
        more.open.dedup();
        let points = self.points(&base, ranges, vary).map_err(whole)?;
        let model = file.family(&changes, &more)?;
        self.check_ranges(&model).map_err(whole)?;
        let node = |name: &str| model.settings.iter().find(|s| s.name == name).map(|s| s.node);
        let start = model.settings.iter().find(|s| s.name == "start.time").map_or(0.0, |s| s.value);
        let periods = node("sweep.periods");
        let times = Times {
            start,
            transient: node("sweep.transient"),
            periods,
            period: node("sweep.period"),
            end: node("end").filter(|_| periods.is_none()),
            step: node("step").filter(|_| self.scheme.is_some()),
        };
        let problem = Problem::unchecked(model).map_err(whole)?;
        let family = Family::new(problem, points, &times, self.carry);
        let family = family.and_then(|f| if self.assemble { f.assembled() } else { Ok(f) }).map_err(whole)?;
        let wanted = self.wanted(&file, &family).map_err(whole)?;
        if let Some(reason) = family.has_no_time() {
            return Err(whole(SetupError::new(reason)));
        }
        Ok(Sweep { file, request: self.clone(), family, wanted: Arc::new(wanted), native: None })
    }

    /// The parameters that are varied, at the first point or at the last one, as far as that can be told before the model is known.
    fn end_of(
        &self,
        file: &ModelFile,
        (ranges, vary, numbers): (&[RangeText], &[VaryText], &[(String, String)]),
        last: bool,
    ) -> Vec<(String, String)> {
        let text = |key: &String| numbers.iter().find(|(name, _)| name == key).map(|(_, text)| text.clone());
        let of_range = |range: &RangeText| match (range.is_list, last) {
            (true, true) => range.keys.last().cloned(),
            (false, true) => range.keys.get(1).cloned(),
            (_, false) => range.keys.first().cloned(),
        };
        let ranges = ranges.iter().filter_map(|range| Some((range.name.clone(), text(&of_range(range)?)?)));
        let drawn =
            vary.iter().filter_map(|v| Some((v.name.clone(), text(&v.keys[usize::from(last && !v.is_normal)])?)));
        let listed = self.listed.iter().flat_map(|list| {
            let row = if last { list.len().saturating_sub(1) as usize } else { 0 } * list.names.len();
            let values = list.values.iter().skip(row);
            list.names.iter().cloned().zip(values.map(|x| format!("{x:?}")))
        });
        let all = ranges.chain(drawn).chain(listed);
        all.filter(|(name, _)| file.parameters().any(|parameter| parameter == name)).collect()
    }

    /// Refuses ranges that are made of what is varied: which value would it have?
    fn check_ranges(&self, model: &Model) -> Result<(), SetupError> {
        let varied = |node| model.open.iter().find(|p| !p.is_port && model.graph.depends_on(node, p.symbol));
        let mut numbers = model.settings.iter().filter(|setting| setting.name.starts_with(parse::NUMBER));
        match numbers.find_map(|setting| varied(setting.node)) {
            None => Ok(()),
            Some(p) => {
                let message = format!("a value of --over or --vary depends on `{}`, which is varied itself", p.name);
                Err(SetupError::new(message).help("give a number, or an expression of parameters that are not varied"))
            }
        }
    }

    fn points(&self, base: &Model, ranges: Vec<RangeText>, vary: Vec<VaryText>) -> Result<Points, SetupError> {
        let number = |key: &str| base.settings.iter().find(|s| s.name == key).map_or(f64::NAN, |s| s.value);
        let axis = |range: RangeText| -> Result<Axis, SetupError> {
            let spacing = range.spacing(&number)?.checked(&range.name)?;
            Ok(Axis { name: range.name, spacing })
        };
        let axes = ranges.into_iter().map(axis).collect::<Result<Vec<_>, _>>()?;
        let column = |text: VaryText| -> Result<(String, Distribution), SetupError> {
            let distribution = text.distribution(&number).checked(&text.name)?;
            Ok((text.name, distribution))
        };
        let columns = vary.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let sample = match (self.sample, columns.is_empty()) {
            (None, true) => None,
            (None, false) => {
                let message = "`--sample` is missing: how many points are to be drawn?";
                return Err(SetupError::new(message).help("such as  --sample 1000"));
            }
            (Some(count), _) => {
                let design = Design::ALL.into_iter().find(|d| d.name() == self.design).unwrap_or_default();
                Some(Sample { count, design, seed: self.seed, columns }.checked()?)
            }
        };
        if axes.is_empty() && sample.is_none() && self.listed.is_none() {
            return Err(SetupError::new("nothing is varied").help(
                "give an axis, such as  --over w=0.5:1.5:500,  a sample, --sample 1000 --vary \"w=uniform(0.5,1.5)\", or \
                 --points file.csv",
            ));
        }
        Points::new(axes, sample, self.listed.clone())
    }

    /// The scheme, which must be one that makes steps and know how long they are.
    fn checked_scheme(&self, model: &Model) -> Result<Option<String>, SetupError> {
        let Some(name) = &self.scheme else {
            return match &self.step {
                Some(_) => Err(SetupError::new("--step needs --scheme").help("such as  --scheme moreau-jean")),
                None => Ok(None),
            };
        };
        let scheme = scheme::find(name)?;
        if scheme.is_event_driven() {
            return Ok(None);
        }
        if let Some(missing) = scheme.laws.missing(Laws::of(model)) {
            return Err(SetupError::new(format!("`{name}` does not support {missing}"))
                .help("leave --scheme out: the event engine supports every law"));
        }
        match model.settings.iter().find(|s| s.name == "step").map(|s| s.value) {
            Some(h) if !(h > 0.0 && h.is_finite()) => {
                Err(SetupError::new(format!("the time step must be a positive number, not {h}")))
            }
            Some(_) => Ok(Some(scheme.name.to_string())),
            None => Err(SetupError::new(format!("`{name}` needs a time step"))
                .help("such as  --step 1e-3  or  --step \"2*pi/w/1000\"")),
        }
    }

    fn wanted(&self, file: &ModelFile, family: &Family) -> Result<Wanted, SetupError> {
        if self.strobe && !family.has_period() {
            return Err(SetupError::new("a stroboscope needs a period, and none was found in the forcing")
                .help("give it, such as  --period \"2*pi/w\""));
        }
        let settings = &family.problem().model().settings;
        let own = settings.iter().find(|s| s.name == "tolerance").map(|s| s.value);
        let tolerance = self.tolerance.or(own).unwrap_or(1e-10);
        if !(1e-14..=1e-2).contains(&tolerance) {
            let given = exact(tolerance);
            return Err(SetupError::new(format!("the tolerance must be between 1e-14 and 1e-2, not {given}")));
        }
        let scheme = self.checked_scheme(family.problem().model())?;
        let settings = match &scheme {
            Some(name) => {
                let scheme = scheme::find(name)?;
                let settings = file.settings_of(scheme, family.problem().model())?;
                let needs = |s: &&Setting| matches!(s.domain, Domain::Number { default: None, .. });
                if let Some(s) = scheme.settings.iter().filter(needs).find(|s| settings.get(s.name).is_none()) {
                    let help =
                        format!("{}; set it in the [run] section of the model, below  scheme = \"{name}\"", s.meaning);
                    return Err(SetupError::new(format!("`{name}` needs `{}`", s.name)).help(help));
                }
                settings
            }
            None => Settings::new(),
        };
        Ok(Wanted {
            tolerance,
            scheme,
            settings,
            strobe: self.strobe,
            sections: !self.sections.is_empty(),
            returns: self.returns,
            last: self.last,
            impacts: self.impacts.as_deref().map_or(Ok(0), impacts)?,
            statistics: (0..self.statistics.len()).collect(),
            rough: has_corners(family.problem().model(), self.statistics.len()),
            expressions: self.statistics.clone(),
            settled: self.settled,
        })
    }
}

/// Whether one of the first quantities of a model has corners, jumps, or features that appear without notice.
fn has_corners(model: &Model, count: usize) -> bool {
    let moving = [model.t].into_iter().chain(model.q.iter().copied()).chain(model.v.iter().copied());
    let inputs: Vec<NodeId> = moving.chain(model.open.iter().map(|p| p.symbol)).collect();
    let degrees = vec![usize::MAX; inputs.len()];
    let code = SeriesCode::compile(&model.graph, &inputs, &degrees, &model.quantities[..count]);
    count > 0 && !code.is_ok_and(|code| code.is_smooth())
}

/// The number of impacts that are kept.
fn impacts(text: &str) -> Result<usize, SetupError> {
    match text.trim() {
        "all" => Ok(usize::MAX),
        text => text.parse::<usize>().map_err(|_| {
            SetupError::new(format!("`--impacts {text}` is neither a number nor `all`"))
                .help("such as  --impacts 50  for the last 50")
        }),
    }
}

/// The expression of a section, and the direction behind it.
fn section(text: &str) -> Result<(String, Option<Crossing>), SetupError> {
    let (expression, _) = text.rsplit_once(':').unwrap_or((text, ""));
    if expression.trim().is_empty() {
        return Err(SetupError::new("a section needs an expression").help("such as  \"x':down\"  or  \"x - 0.5\""));
    }
    let Some((expression, word)) = text.rsplit_once(':') else { return Ok((text.trim().to_string(), None)) };
    match Crossing::ALL.into_iter().find(|c| c.name() == word.trim()) {
        Some(crossing) => Ok((expression.trim().to_string(), Some(crossing))),
        None => {
            let known: Vec<&str> = Crossing::ALL.iter().map(|c| c.name()).collect();
            Err(SetupError::new(format!("`{text}`: `{}` is not a direction of a section", word.trim())).help(format!(
                "there are {}, such as  \"{}:up\"",
                known.join(", "),
                expression.trim()
            )))
        }
    }
}

impl RangeText {
    fn spacing(&self, number: &dyn Fn(&str) -> f64) -> Result<Spacing, SetupError> {
        let values: Vec<f64> = self.keys.iter().map(|key| number(key)).collect();
        if self.is_list {
            return Ok(Spacing::List(values));
        }
        let (from, to, count) = (values[0], values[1], values[2]);
        if !(count.fract() == 0.0 && (0.0..=points::MOST as f64).contains(&count)) {
            let message =
                format!("the number of values of `{}` must be a whole number up to 10^10, not {count}", self.name);
            return Err(SetupError::new(message).help("a range is from:to:count, such as  --over w=0.5:1.5:500"));
        }
        let count = count as u64;
        Ok(if self.is_log { Spacing::Log { from, to, count } } else { Spacing::Linear { from, to, count } })
    }
}

impl VaryText {
    fn distribution(&self, number: &dyn Fn(&str) -> f64) -> Distribution {
        let [a, b] = [&self.keys[0], &self.keys[1]].map(|key| number(key));
        match self.is_normal {
            true => Distribution::Normal { mean: a, deviation: b },
            false => Distribution::Uniform { low: a, high: b },
        }
    }
}
