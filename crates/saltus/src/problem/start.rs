//! Where a motion starts.

use crate::SetupError;

/// A start: time, position, velocity, and the values of open parameters. The model stays the same.
///
/// For a structure, position and velocity are those of all degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The time.
    pub t: f64,
    /// The position. (A state that a run reached has a further entry for each first-order state, which nothing depends on.)
    pub q: Vec<f64>,
    /// The velocity, after any impact at this instant, and behind it the first-order states; where they are missing, they are
    /// those that the model gives.
    pub v: Vec<f64>,
    /// The values of open parameters and ports, in the order of [`crate::Model::open`].
    pub parameters: Vec<f64>,
    /// For a state that a run reached: what that run knows about it.
    pub(crate) reached: Option<Reached>,
}

/// What a run knows about a state that it reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reached {
    /// The constraints that are closed.
    pub closed: Vec<usize>,
    /// For a structure that ran in modes: how many, and whether with the residual flexibility of the others.
    pub modes: Option<(usize, bool)>,
    /// Whether a time-stepping scheme was within an impact, which takes it more than one step: position and velocity do not
    /// tell then what it would have done next.
    pub within_impact: bool,
    /// For each of the user's events the side that the run is on, the sign of its expression so far: 1 or −1, and 2 or −2 where it
    /// has changed at this very instant. The state alone does not tell, where it is on the section but for rounding. 0, or none at
    /// all: the side that the motion takes from here on.
    pub sides: Vec<i8>,
    /// What a time-stepping scheme remembers besides position and velocity.
    pub memory: Option<Memory>,
}

/// What a time-stepping scheme that looks back by a step remembers of the steps before a state: from position and velocity alone it would
/// begin anew there, and make another first step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// The step.
    pub step: f64,
    /// When its steps began, and how many have been made since: a run that goes on has the same instants.
    pub origin: f64,
    /// The number of steps from there.
    pub steps: u64,
    /// What it remembers, in the order of the scheme.
    pub values: Vec<f64>,
    /// The state that this belongs to.
    pub q: Vec<f64>,
    /// Its velocity.
    pub v: Vec<f64>,
}

impl Start {
    /// A start from rest data; it is checked against the constraints before a run.
    pub fn new(t: f64, q: Vec<f64>, v: Vec<f64>) -> Self {
        Start { t, q, v, parameters: Vec::new(), reached: None }
    }

    /// The same with values of the first-order states, in the order of [`crate::Model::states`].
    #[must_use]
    pub fn with_states(mut self, states: &[f64]) -> Self {
        self.v.truncate(self.q.len());
        self.q.extend(states.iter().map(|_| 0.0));
        self.v.extend(states);
        self
    }

    /// Position, velocity, and the first-order states, of which there are `states`.
    pub fn parts(&self, states: usize) -> (&[f64], &[f64], &[f64]) {
        let degrees = self.q.len().min(self.v.len().saturating_sub(states));
        (&self.q[..degrees], &self.v[..degrees], &self.v[degrees..])
    }

    /// Fills in what a person leaves out: first-order states as the model gives them.
    pub(crate) fn complete(&mut self, degrees: usize, v0: &[f64]) {
        if self.q.len() == degrees {
            self.q.resize(v0.len(), 0.0);
        }
        if self.v.len() == degrees {
            self.v.extend(&v0[degrees..]);
        }
        // (Integrals of states begin with each run: so it is the same, bit for bit, from a state in memory and from a file.)
        self.q.iter_mut().skip(degrees).for_each(|q| *q = 0.0);
        if let Some(memory) = self.reached.as_mut().and_then(|by| by.memory.as_mut()) {
            memory.q.truncate(degrees);
            memory.q.resize(v0.len(), 0.0);
        }
    }

    /// The same with values of open parameters and ports, in the order of [`crate::Model::open`].
    #[must_use]
    pub fn with_parameters(mut self, parameters: Vec<f64>) -> Self {
        self.parameters = parameters;
        self
    }

    /// A state that a run reached. It may violate constraints by what the scheme of that run allows.
    #[must_use]
    pub fn reached(mut self, by: Reached) -> Self {
        self.reached = Some(by);
        self
    }

    /// What a run knows about this state, where one reached it.
    pub fn reached_by(&self) -> Option<&Reached> {
        self.reached.as_ref()
    }

    /// The constraints that are closed, where a run reached this state.
    pub fn closed(&self) -> Option<&[usize]> {
        self.reached.as_ref().map(|by| by.closed.as_slice())
    }

    /// The side of an event of the user's own, where a run reached this state; 0 where it is not known.
    pub(crate) fn side(&self, event: usize) -> i8 {
        self.reached.as_ref().and_then(|by| by.sides.get(event).copied()).unwrap_or(0)
    }

    /// What a scheme that makes steps of this length remembers of so many numbers, where it reached this state.
    pub(crate) fn memory(&self, h: f64, numbers: usize) -> Option<&Memory> {
        let memory = self.reached.as_ref()?.memory.as_ref()?;
        let instant = memory.origin + memory.steps as f64 * memory.step;
        let is_of_here = memory.q == self.q && memory.v == self.v && (instant - self.t).abs() <= 1e-6 * h;
        let fits = memory.values.len() == numbers && (memory.step - h).abs() <= 1e-12 * h && memory.steps > 0;
        (is_of_here && fits && memory.values.iter().all(|x| x.is_finite())).then_some(memory)
    }

    /// Checks lengths and numbers.
    pub(crate) fn check(&self, d: usize, open: usize, constraints: usize) -> Result<(), SetupError> {
        for (name, x, expected) in [("the position", &self.q, d), ("the velocity", &self.v, d)] {
            if x.len() != expected {
                return Err(SetupError::length(name, expected, x.len()));
            }
        }
        if !self.parameters.is_empty() && self.parameters.len() != open {
            return Err(SetupError::length("the list of open parameters", open, self.parameters.len()));
        }
        if let Some(x) = self.parameters.iter().chain([&self.t]).find(|x| !x.is_finite()) {
            return Err(SetupError::new(format!("a start must consist of finite numbers, not {x}")));
        }
        match self.closed().unwrap_or_default().iter().find(|&&a| a >= constraints) {
            Some(a) => Err(SetupError::new(format!("there is no constraint {a} to be closed at the start"))),
            None => Ok(()),
        }
    }
}
