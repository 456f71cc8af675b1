//! Before anything is followed: the model with its parameters open, the period as a function of them, and the first orbit.

use super::Args;
use super::record::{self, Entry};
use super::shown::Shown;
use crate::setup::{Asked, Ready, Refusal, StartArgs};
use saltus::analysis::{Clock, NoOrbit, Orbit, OrbitOptions, check_period, orbit, period_of};
use saltus::{Problem, SetupError, Start, text};
use saltus_io::FamilyText;
use std::sync::Arc;

/// The name under which the model keeps the period that was given.
const PERIOD: &str = "continuation.period";

/// A range of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub name: String,
    pub low: f64,
    pub high: f64,
}

/// Reads `w=0.5:1.5`; several are separated by commas, or given by repeating the option.
pub fn axes(texts: &[String]) -> Result<Vec<Axis>, SetupError> {
    let wrong = |text: &str| {
        SetupError::new(format!("`--over {text}` is not a range of a parameter"))
            .help("it looks like  --over w=0.5:1.5")
    };
    let mut found = Vec::new();
    for text in texts.iter().flat_map(|t| t.split(',')) {
        let (name, range) = text.split_once('=').ok_or_else(|| wrong(text))?;
        let (low, high) = range.split_once(':').ok_or_else(|| wrong(text))?;
        let number = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| wrong(text));
        let (low, high) = (number(low)?, number(high)?);
        if !(low < high) {
            let message = format!("`--over {text}`: the range is empty");
            return Err(SetupError::new(message).help("the first number is the smaller one"));
        }
        found.push(Axis { name: name.trim().to_string(), low, high });
    }
    Ok(found)
}

/// A model ready to be continued.
pub struct Prepared {
    pub ready: Ready,
    pub problem: Problem,
    pub clock: Option<Clock>,
    pub axes: Vec<Axis>,
    pub shown: Shown,
    pub start: Start,
    /// The direction of a branch that is taken up again.
    pub direction: Option<f64>,
    pub multiple: Option<usize>,
    /// What was not as a person may expect.
    pub notes: Vec<String>,
    /// Lines of an earlier continuation in the same directory.
    pub earlier: Vec<Entry>,
}

/// Opens the model.
pub fn prepare(args: &Args) -> Result<Prepared, Refusal> {
    let axes = axes(&args.over)?;
    let is_branch = args.start.from.as_ref().is_some_and(|dir| dir.join(record::FILE).exists());
    let start = StartArgs { from: args.start.from.clone().filter(|_| !is_branch), ..args.start.clone() };
    let ready = args.model.ready(&Asked { start: Some(&start), ..Asked::default() })?;
    let Some(plain) = ready.opened.system.as_problem() else {
        return Err(SetupError::new("branches of orbits are not supported for structures")
            .help("a small structure can be written with coordinates and energies: docs/model-files.md")
            .into());
    };
    let first = &plain.model().coordinates[0];
    let is_rest = args.of == "equilibria";
    let shown = match (&args.show, is_rest) {
        (None, true) => Shown::Strobe(first.clone()),
        (show, _) => Shown::parse(show.as_deref(), first),
    };
    let more = FamilyText {
        open: axes.iter().map(|a| a.name.clone()).collect(),
        quantities: shown.expression().map(str::to_string).into_iter().collect(),
        numbers: args.period.iter().map(|p| (PERIOD.to_string(), p.clone())).collect(),
        ..FamilyText::default()
    };
    let problem = Problem::unchecked(ready.file.family(&ready.changes, &more)?)?;
    match is_rest {
        true => shown.check_at_rest()?,
        false => shown.check(&problem)?,
    }
    let mut start = ready.start().clone();
    start.parameters = problem.start().parameters;
    let mut notes = Vec::new();
    for (axis, value) in axes.iter().zip(start.parameters.iter_mut()) {
        let inside = value.clamp(axis.low, axis.high);
        if inside != *value && !is_branch {
            let (name, out, at) = (&axis.name, text::number(*value, 6), text::number(inside, 6));
            notes.push(format!(
                "{name} = {out} is outside the range: what is followed begins at its end, {name} = {at}"
            ));
        }
        *value = inside;
    }
    let mut prepared = Prepared {
        ready,
        problem,
        clock: None,
        axes,
        shown,
        start,
        direction: None,
        multiple: args.multiple.map(|n| n as usize),
        earlier: Vec::new(),
        notes,
    };
    if let (true, Some(dir)) = (is_branch, &args.start.from) {
        prepared.take_up(record::read(dir)?, args.branch.map(|k| k as usize), args.out.as_deref() == Some(dir))?;
    }
    prepared.clock = Some(prepared.period(args)?);
    Ok(prepared)
}

impl Prepared {
    /// What gives the period.
    fn period(&self, args: &Args) -> Result<Clock, Refusal> {
        let problem = &self.problem;
        if !problem.model().depends_on_time() {
            return Ok(Clock::Own);
        }
        if args.period.is_some()
            && let Some(mut clock) = Clock::of_setting(problem, PERIOD)
        {
            // Wherever the parameters are.
            for at in [|a: &Axis| a.low, |a: &Axis| 0.5 * (a.low + a.high), |a: &Axis| a.high] {
                let parameters: Vec<f64> = self.axes.iter().map(at).collect();
                check_period(problem, &parameters, clock.period(&parameters).unwrap_or(f64::NAN))?;
            }
            return Ok(clock);
        }
        if let Some(clock) = Clock::of(problem) {
            return Ok(clock);
        }
        // What is not made of sines and cosines may still have a period, that of no parameter.
        let at = |high: bool| {
            let pick = |a: &Axis| if high { a.high } else { a.low };
            let parameters = self.axes.iter().map(pick).collect();
            period_of(problem, &self.start.clone().with_parameters(parameters), 1000.0)
        };
        match (at(false), at(true)) {
            (Some(a), Some(b)) if (a - b).abs() <= 1e-9 * a => Ok(Clock::Function(Arc::new(move |_| a))),
            _ => Err(SetupError::new("what drives the model has no period that was recognised over the range")
                .help("give it as an expression of parameters, such as  --period \"2*pi/w\"")
                .into()),
        }
    }

    /// Goes on with a branch of an earlier continuation.
    fn take_up(&mut self, entries: Vec<Entry>, branch: Option<usize>, is_same_dir: bool) -> Result<(), SetupError> {
        let wanted = branch.map(|k| k - 1);
        let is_it = |e: &&Entry| matches!(e, Entry::Point { branch, .. } if wanted.is_none_or(|w| w == *branch));
        let Some(Entry::Point { row, .. }) = entries.iter().rev().find(is_it) else {
            let message = match branch {
                Some(k) => format!("there is no branch {k} with points to go on from"),
                None => "there are no points to go on from".to_string(),
            };
            return Err(SetupError::new(message));
        };
        let mut start = row.start.start();
        let head = entries.iter().find_map(|e| match e {
            Entry::Head { title, parameters, .. } => Some((title.clone(), parameters.clone())),
            _ => None,
        });
        let model = self.problem.model();
        let Some((_, names)) = head.filter(|(title, _)| start.q.len() == model.degrees() && *title == model.title)
        else {
            let other = entries.iter().find_map(|e| match e {
                Entry::Head { title, .. } => Some(format!(", `{title}`")),
                _ => None,
            });
            return Err(SetupError::new(format!("these are branches of another model{}", other.unwrap_or_default()))
                .help("a branch goes on with the model it was computed with"));
        };
        // The parameters that were followed have their values there; others are those of the model as given.
        let mut parameters = self.start.parameters.clone();
        for (name, value) in names.iter().zip(&row.values) {
            match self.axes.iter().position(|a| a.name == *name) {
                Some(k) => {
                    let Axis { low, high, .. } = self.axes[k];
                    let by = 1e-9 * (high - low);
                    if !(low - by..=high + by).contains(value) {
                        let (at, low, high) = (text::number(*value, 10), text::number(low, 6), text::number(high, 6));
                        let message = format!("the branch ends at {name} = {at}, outside the range {low} … {high}");
                        return Err(SetupError::new(message).help("choose a range that contains its last point"));
                    }
                    parameters[k] = value.clamp(low, high);
                }
                None => {
                    let message = format!("the branch was followed over `{name}`, which is not in --over");
                    return Err(SetupError::new(message)
                        .help(format!("go on over the same parameter, or fix it with  --set {name}={value}")));
                }
            }
        }
        start.parameters = parameters;
        (self.start, self.multiple, self.direction) = (start, row.multiple, Some(row.direction));
        if is_same_dir {
            self.earlier = entries;
        }
        Ok(())
    }

    /// The first orbit.
    pub fn orbit(&mut self, args: &Args) -> Result<Orbit, Refusal> {
        let is_forced = self.problem.model().depends_on_time();
        let forcing = self.clock.as_mut().and_then(|c| c.period(&self.start.parameters));
        if is_forced && forcing.is_none() {
            return Err(SetupError::new("the forcing has no period for these parameters")
                .help("choose a range in which it has one: a frequency of zero has none")
                .into());
        }
        let given = args
            .period
            .as_ref()
            .and_then(|_| Clock::of_setting(&self.problem, PERIOD).and_then(|mut c| c.period(&self.start.parameters)));
        let settles = match is_forced {
            true => 100.0,
            false => given.map_or(200.0, |p| 50.0 * p),
        };
        let transient = if self.direction.is_some() { 0.0 } else { args.transient.unwrap_or(settles) };
        let options = OrbitOptions {
            period: forcing.or(given),
            multiple: self.multiple,
            transient,
            tolerance: args.tol,
            symmetric: false,
        };
        orbit(&self.problem, &self.start, &options).map_err(|e| refused(&e, args, &self.axes, &self.start))
    }
}

/// Why there is no first orbit, and what to try.
fn refused(reason: &NoOrbit, args: &Args, axes: &[Axis], start: &Start) -> Refusal {
    let at: Vec<String> =
        axes.iter().zip(&start.parameters).map(|(a, x)| format!("{} = {}", a.name, text::number(*x, 6))).collect();
    let help = match reason {
        NoOrbit::NoPeriod { .. } => {
            "give about how long an orbit takes, such as  --period 6.3,  or a longer --transient"
        }
        NoOrbit::AtRest => "`--of equilibria` follows where it rests; or start farther away (--start)",
        _ if args.transient == Some(0.0) => "start nearer to it (--start), or let the motion settle (--transient 100)",
        _ => {
            "begin at another value of the parameter (--set), where the motion is periodic; or from a guess (--start, with \
             --transient 0 and --multiple)"
        }
    };
    SetupError::new(format!("there is no first orbit to follow at {}: {reason}", at.join(", "))).help(help).into()
}
