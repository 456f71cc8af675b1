//! A family of motions: the points, and the job of each.

use crate::carry::landed;
use crate::points::{Points, Slot};
use crate::{Carry, Job, State};
use saltus::analysis::HarmonicForcing;
use saltus::model::Domain;
use saltus::problem::Starts;
use saltus::text::exact;
use saltus::{Model, Problem, SetupError};
use saltus_expr::{NodeId, Program, Scalar};
use std::sync::Arc;

/// A family of motions of one model.
#[derive(Clone, Debug)]
pub struct Family {
    problem: Problem,
    points: Points,
    slots: Vec<Slot>,
    clock: Clock,
    /// For which parameters the model is defined.
    domain: Option<Domain>,
    carry: Option<Carry>,
    assembles: bool,
}

/// When a trajectory is kept, and how long it is: expressions of open parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Where it starts.
    pub start: f64,
    /// How long it is left to settle; in periods, if `periods` is given.
    pub transient: Option<NodeId>,
    /// For how many periods it is kept.
    pub periods: Option<NodeId>,
    /// Its period, which is that of the forcing if it is not given.
    pub period: Option<NodeId>,
    /// Where it ends, if not after some periods.
    pub end: Option<NodeId>,
    /// The time step, for schemes that make steps.
    pub step: Option<NodeId>,
}

impl Family {
    /// A family of a problem whose open parameters are those that the points vary.
    pub fn new(problem: Problem, points: Points, times: &Times, carry: Option<Carry>) -> Result<Self, SetupError> {
        let model = problem.model().clone();
        let slot = |name: &str| {
            Slot::of(&model, name).ok_or_else(|| SetupError::new(format!("`{name}` is neither open nor a start")))
        };
        let slots = points.names().into_iter().map(slot).collect::<Result<Vec<_>, _>>()?;
        if carry.is_some() {
            if !points.has_axis() {
                return Err(SetupError::new("--carry needs an axis").help("such as  --over w=0.5:1.5:500"));
            }
            if slots.iter().any(|slot| !matches!(slot, Slot::Parameter(_))) {
                return Err(SetupError::new("--carry cannot be combined with starts that vary")
                    .help("vary parameters only, or leave --carry out"));
            }
        }
        let (clock, domain) = (Clock::new(&model, times)?, model.domain());
        Ok(Family { problem, points, slots, clock, domain, carry, assembles: false })
    }

    /// The same with every start moved to the nearest one that satisfies the joints.
    pub fn assembled(self) -> Result<Self, SetupError> {
        match self.problem.model().joints.is_empty() {
            true => Err(SetupError::new("--assemble puts joints together, and this model has none")
                .help("joints are [[joint]] sections")),
            false => Ok(Family { assembles: true, ..self }),
        }
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// What the values of a point are given to.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// In which direction states are carried on.
    pub fn carry(&self) -> Option<Carry> {
        self.carry
    }

    /// How many trajectories are computed side by side: all of them, or, where states are carried on, a row of them.
    pub fn side_by_side(&self) -> u64 {
        if self.carry.is_some() { self.points.row() } else { self.len() }
    }

    /// The number of trajectories.
    pub fn len(&self) -> u64 {
        self.points.len() * if self.carry == Some(Carry::Both) { 2 } else { 1 }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the period is known: that given, or that of the forcing.
    pub fn has_period(&self) -> bool {
        self.clock.period.is_some() || self.clock.forcing.is_some()
    }

    /// Whether a trajectory belongs to the way down.
    pub fn is_down(&self, point: u64) -> bool {
        match self.carry {
            None | Some(Carry::Up) => false,
            Some(Carry::Down) => true,
            Some(Carry::Both) => point >= self.points.len(),
        }
    }

    /// The values of a point. Where states are carried on, trajectories are numbered in the order in which they are computed.
    pub fn values(&self, point: u64) -> Vec<f64> {
        let mut values = Vec::new();
        self.write_values(point, &mut values);
        values
    }

    /// Puts the values of a point in the place of others.
    pub fn write_values(&self, point: u64, values: &mut Vec<f64>) {
        let n = self.points.len();
        let place = match self.is_down(point) {
            true => {
                let row = self.points.row();
                n - row - (point % n) / row * row + point % row
            }
            false => point % n,
        };
        self.points.write(place, values);
    }

    /// Why no trajectory has any time to run, where that is so at all of some points: the reason at the first one.
    pub(crate) fn has_no_time(&self) -> Option<String> {
        let mut clock = self.clock.clone();
        let starts = self.problem.starts();
        let mut reason = |point: u64| {
            let mut parameters = starts.parameters().to_vec();
            for (&slot, value) in self.slots.iter().zip(self.values(point)) {
                if let Slot::Parameter(k) = slot {
                    parameters[k] = value;
                }
            }
            clock.times(&parameters).err()
        };
        let (last, first) = (self.len() - 1, reason(0)?);
        let most = last.min(64);
        (1..=most)
            .all(|k| reason((u128::from(last) * u128::from(k) / u128::from(most)) as u64).is_some())
            .then_some(first)
    }

    /// Makes jobs; each thread has its own.
    pub fn maker(&self) -> Maker<'_> {
        let starts = self.problem.starts();
        let (clock, domain) = (self.clock.clone(), self.domain.clone());
        Maker { family: self, starts, clock, domain, values: Vec::new(), last: None }
    }
}

/// Makes the jobs of a family.
pub struct Maker<'a> {
    family: &'a Family,
    starts: Starts,
    clock: Clock,
    domain: Option<Domain>,
    /// The values of the present point.
    values: Vec<f64>,
    /// What follows from the parameters of the last point: neighbours often differ in their starts alone.
    last: Option<Last>,
}

/// What follows from parameters: the start that the model gives, and the times.
struct Last {
    parameters: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    span: Result<Span, String>,
}

impl Last {
    fn nothing() -> Self {
        Last { parameters: Vec::new(), q: Vec::new(), v: Vec::new(), span: Err(String::new()) }
    }
}

impl Maker<'_> {
    /// The job of a point, from its own start or from a state that its neighbour reached.
    pub fn job(&mut self, point: u64, from: Option<&State>) -> Made {
        let mut job = Job::nothing();
        let refusal = self.write(point, from, &mut job);
        Made { job, refusal }
    }

    /// Puts the job of a point in the place of another; why it cannot be run, if it cannot.
    pub fn write(&mut self, point: u64, from: Option<&State>, job: &mut Job) -> Option<String> {
        let family = self.family;
        let t = self.clock.start;
        family.write_values(point, &mut self.values);
        let given = || family.slots.iter().zip(&self.values);
        // (What a run knows about a state belongs to that state.)
        if job.start.reached_by().is_some() {
            *job = Job::nothing();
        }
        let start = &mut job.start;
        copy(&mut start.parameters, self.starts.parameters());
        for (&slot, &value) in given() {
            if let Slot::Parameter(k) = slot {
                start.parameters[k] = value;
            }
        }
        if self.last.as_ref().is_none_or(|last| !are_same(&last.parameters, &start.parameters)) {
            let (q, v) = self.starts.at(&start.parameters);
            let defined = self.domain.as_mut().map_or(Ok(()), |domain| domain.check(&start.parameters));
            let span = defined.map_err(|e| e.message).and_then(|()| self.clock.times(&start.parameters));
            // (In the place of the one before.)
            let mut last = self.last.take().unwrap_or_else(Last::nothing);
            copy(&mut last.parameters, &start.parameters);
            copy(&mut last.q, q);
            copy(&mut last.v, v);
            last.span = span;
            self.last = Some(last);
        }
        let last = self.last.as_ref()?;
        start.t = t;
        match from {
            Some(state) => {
                copy(&mut start.q, &state.q);
                copy(&mut start.v, &state.v);
                let by_steps = family.clock.step.is_some();
                if let Some(closed) = landed(&family.problem, start, state.depth, by_steps) {
                    *start = closed;
                }
            }
            None => {
                copy(&mut start.q, &last.q);
                copy(&mut start.v, &last.v);
                for (&slot, &value) in given() {
                    match slot {
                        Slot::Position(i) => start.q[i] = value,
                        Slot::Velocity(i) => start.v[i] = value,
                        Slot::Parameter(_) => {}
                    }
                }
            }
        }
        let mut span = last.span.clone();
        if family.assembles && from.is_none() {
            match family.problem.assembled(start) {
                Ok(near) => *start = near,
                Err(error) => span = Err(error.message),
            }
        }
        let (Span { from, end, strobe, step }, refusal) = match span {
            Ok(span) => (span, None),
            Err(reason) => (Span { from: t, end: t, strobe: None, step: None }, Some(reason)),
        };
        (job.from, job.end, job.strobe, job.step) = (from, end, strobe, step);
        refusal
    }
}

/// Whether numbers are the same to the last bit (0 and −0 are not).
fn are_same(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}

/// Puts numbers in the place of others.
fn copy(target: &mut Vec<f64>, numbers: &[f64]) {
    target.clear();
    target.extend_from_slice(numbers);
}

/// A job, or where it would have started and why it cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The job.
    pub job: Job,
    /// Why it cannot be run.
    pub refusal: Option<String>,
}

/// Rounding may take so much of the phase of the forcing.
const LOST: f64 = 1e-6;

/// Evaluates times for values of open parameters.
#[derive(Clone, Debug)]
struct Clock {
    start: f64,
    /// The open parameters.
    names: Vec<String>,
    numbers: Scalar,
    open: usize,
    transient: Option<usize>,
    periods: Option<usize>,
    period: Option<usize>,
    end: Option<usize>,
    step: Option<usize>,
    forcing: Option<HarmonicForcing>,
}

/// The times of a trajectory.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: f64,
    end: f64,
    strobe: Option<f64>,
    step: Option<f64>,
}

impl Clock {
    fn new(model: &Model, times: &Times) -> Result<Self, SetupError> {
        let inputs: Vec<NodeId> = model.open.iter().map(|p| p.symbol).collect();
        let mut outputs = Vec::new();
        let mut place = |node: Option<NodeId>| {
            node.map(|node| {
                outputs.push(node);
                outputs.len() - 1
            })
        };
        let [transient, periods] = [times.transient, times.periods].map(&mut place);
        let [period, end, step] = [times.period, times.end, times.step].map(&mut place);
        let forcing = if period.is_none() { HarmonicForcing::of(model) } else { None };
        if periods.is_some() && period.is_none() && forcing.is_none() {
            let why = match model.depends_on_time() {
                true => "the forcing is not a sum of sines and cosines with one period",
                false => "nothing depends on time",
            };
            return Err(SetupError::new(format!("the period is not known: {why}"))
                .help("give it, such as  --period \"2*pi/w\",  or the end time,  --end 100"));
        }
        if periods.is_none() && end.is_none() {
            return Err(SetupError::new("no end is given")
                .help("give --periods 200 or --end 100, or an end in the [run] section of the model"));
        }
        let program = Program::compile(&model.graph, &inputs, &outputs).map_err(|e| SetupError::new(e.to_string()))?;
        let numbers = Scalar::new(Arc::new(program));
        let names = model.open.iter().map(|p| p.name.clone()).collect();
        Ok(Clock {
            start: times.start,
            names,
            numbers,
            open: inputs.len(),
            transient,
            periods,
            period,
            end,
            step,
            forcing,
        })
    }

    /// From when on things are kept, the end, the interval of the stroboscope, and the step.
    fn times(&mut self, parameters: &[f64]) -> Result<Span, String> {
        self.numbers.inputs_mut()[..self.open].copy_from_slice(&parameters[..self.open]);
        self.numbers.run();
        let number = |place: Option<usize>| place.map(|k| self.numbers.output(k));
        let (transient, periods) = (number(self.transient).unwrap_or(0.0), number(self.periods));
        let (given, end, step) = (number(self.period), number(self.end), number(self.step));
        let period = given.or_else(|| self.forcing.as_mut()?.period(parameters));
        if let Some(period) = period.filter(|p| !(*p > 0.0 && p.is_finite())) {
            return Err(format!("the period must be a positive number, not {}", exact(period)));
        }
        if !(transient >= 0.0 && transient.is_finite()) {
            return Err(format!("the transient must be zero or a positive number, not {}", exact(transient)));
        }
        if let Some(step) = step.filter(|h| !(*h > 0.0 && h.is_finite())) {
            return Err(format!("the time step must be a positive number, not {}", exact(step)));
        }
        let start = self.start;
        let (from, end) = match (periods, period) {
            (Some(n), Some(period)) => (start + transient * period, start + (transient + n) * period),
            (Some(_), None) => {
                let values = self.names.iter().zip(parameters).map(|(name, x)| format!("{name} = {}", exact(*x)));
                let values = values.collect::<Vec<_>>().join(", ");
                return Err(format!("the forcing has no period at {values}: leave this out, or give --period"));
            }
            (None, _) => (start + transient, end.unwrap_or(f64::NAN)),
        };
        if let Some(interval) = period.filter(|interval| end.abs() * f64::EPSILON > LOST * interval) {
            let (end, interval) = (exact(end), exact(interval));
            return Err(format!(
                "the end, t = {end}, is too far for a period of {interval}: rounding would lose the phase"
            ));
        }
        if let Some(step) = step.filter(|h| *h > end - start) {
            return Err(format!("the time step, {}, is longer than the motion, {}", exact(step), exact(end - start)));
        }
        match end > from && end.is_finite() {
            true => Ok(Span { from, end, strobe: period, step }),
            false => Err(format!(
                "nothing to run: the trajectory is kept from t = {} on, but ends at t = {}",
                exact(from),
                exact(end)
            )),
        }
    }
}
