//! The state of a motion as one vector, and the map that a motion makes of it, with its Jacobian.

use crate::linalg::Svd;
use crate::motion::{Obstacle, Variation};
use crate::problem::{Problem, Reached, Start};
use crate::{Options, Run, SetupError, Status, StepFailure};
use std::fmt;

/// Where the entries of a state (positions, velocities, first-order states) are among those of (q, v).
#[derive(Clone, Debug)]
pub struct PhaseSpace {
    d: usize,
    open: usize,
    places: Vec<usize>,
    names: Vec<String>,
}

/// Why a map or its Jacobian cannot be had.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NoMap {
    /// The motion cannot begin there.
    Setup(SetupError),
    /// The motion ends on the way.
    Failed(StepFailure),
    /// The motion breaks what none may break.
    Breached(Vec<String>),
    /// The motion goes on, but it has no derivatives.
    Obstacle(Obstacle),
}

impl fmt::Display for NoMap {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoMap::Setup(error) => write!(f, "{error}"),
            NoMap::Failed(failure) => write!(f, "{failure}"),
            NoMap::Breached(breaches) => write!(f, "the motion has breaches: {}", breaches.join("; ")),
            NoMap::Obstacle(obstacle) => write!(f, "{obstacle}"),
        }
    }
}

impl std::error::Error for NoMap {}

impl From<SetupError> for NoMap {
    fn from(error: SetupError) -> Self {
        NoMap::Setup(error)
    }
}

/// Where a motion leads, and how that depends on where it starts.
#[derive(Clone, Debug)]
pub struct Passage {
    /// The run.
    pub run: Run,
    /// The state at its end.
    pub end: Vec<f64>,
    /// Its rate of change there.
    pub rate: Vec<f64>,
    /// ∂end/∂start, by rows.
    pub jacobian: Vec<f64>,
    /// ∂end/∂p for the open parameters that were asked for, one list each.
    pub by_parameters: Vec<Vec<f64>>,
}

/// How many directions joints hold at a start: those of their gradients that are independent.
pub fn held_by_joints(problem: &Problem, start: &Start) -> usize {
    let (mut joints, d) = (problem.joints(), problem.dimension());
    let count = problem.model().joints.len();
    if count == 0 {
        return 0;
    }
    joints.linearise(start.t, &start.q, &start.v);
    let rows: Vec<f64> = (0..count).flat_map(|k| joints.gradients.vector(k, d)).collect();
    Svd::new(count, d, &rows, 1e-9).map_or(0, |svd| d - svd.null_space().len())
}

impl PhaseSpace {
    /// That of a problem.
    pub fn of(problem: &Problem) -> Self {
        let model = problem.model();
        let (d, degrees) = (problem.dimension(), model.degrees());
        let places = (0..degrees).chain(d..2 * d).collect();
        let speeds = model.coordinates.iter().map(|name| format!("{name}'"));
        let states = model.states.iter().map(|z| z.name.clone());
        let names = model.coordinates.iter().cloned().chain(speeds).chain(states).collect();
        PhaseSpace { d, open: model.open.len(), places, names }
    }

    /// Its dimension (joints and contacts not taken off).
    pub fn dimension(&self) -> usize {
        self.places.len()
    }

    /// The names of the entries: `x`, `x'`, states.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The state of a start.
    pub fn state(&self, start: &Start) -> Vec<f64> {
        let entry = |&k: &usize| if k < self.d { start.q[k] } else { start.v[k - self.d] };
        self.places.iter().map(entry).collect()
    }

    /// A start with another state; `closed` are the constraints that are in contact there, to the accuracy of the state.
    pub fn start(&self, like: &Start, state: &[f64], closed: Option<&[usize]>) -> Start {
        let mut start = like.clone();
        for (&k, &x) in self.places.iter().zip(state) {
            *(if k < self.d { &mut start.q[k] } else { &mut start.v[k - self.d] }) = x;
        }
        match closed {
            Some(closed) => start.reached(Reached { closed: closed.to_vec(), ..Reached::default() }),
            None => start,
        }
    }

    /// A column for each entry of the state.
    pub fn unit(&self) -> Variation {
        let mut all = Variation::new(self.d, self.open);
        for &k in &self.places {
            let column = all.push_zero();
            all.column_mut(column)[k] = 1.0;
        }
        all
    }

    /// Column `k` as a perturbation of the state.
    pub fn column(&self, all: &Variation, k: usize) -> Vec<f64> {
        self.places.iter().map(|&p| all.column(k)[p]).collect()
    }

    /// Sets column `k` to a perturbation of the state.
    pub fn set_column(&self, all: &mut Variation, k: usize, x: &[f64]) {
        for (&p, &x) in self.places.iter().zip(x) {
            all.column_mut(k)[p] = x;
        }
    }

    /// The rate of change of the state.
    pub fn rate(&self, v: &[f64], a: &[f64]) -> Vec<f64> {
        self.places.iter().map(|&k| if k < self.d { v[k] } else { a[k - self.d] }).collect()
    }

    /// The motion from a start for a time, with the Jacobian of where it leads.
    pub fn pass(&self, problem: &Problem, start: &Start, lasts: f64, options: &Options) -> Result<Passage, NoMap> {
        self.pass_by(problem, start, lasts, &[], options)
    }

    /// The same with the derivatives by some open parameters, by their places.
    pub fn pass_by(
        &self,
        problem: &Problem,
        start: &Start,
        lasts: f64,
        open: &[usize],
        options: &Options,
    ) -> Result<Passage, NoMap> {
        let mut seed = self.unit();
        for &k in open {
            let column = seed.push_zero();
            seed.column_mut(column)[2 * self.d + k] = 1.0;
        }
        let options = Options { end: start.t + lasts, vary: Some(seed), ..options.clone() };
        let run = problem.run_from(start, &options)?;
        match &run.status {
            Status::Failed(failure) => return Err(NoMap::Failed(failure.clone())),
            Status::Breached { breaches } => return Err(NoMap::Breached(breaches.clone())),
            _ => {}
        }
        let all = match &run.variation {
            Some(Ok(all)) => all.clone(),
            Some(Err(obstacle)) => return Err(NoMap::Obstacle(obstacle.clone())),
            None => return Err(NoMap::Setup(SetupError::new("the run has no derivatives"))),
        };
        let (n, last) = (self.dimension(), run.last());
        let (end, rate) = (self.state(last), self.rate(&last.v, &all.acceleration));
        let mut jacobian = vec![0.0; n * n];
        for k in 0..n {
            for (i, x) in self.column(&all, k).into_iter().enumerate() {
                jacobian[i * n + k] = x;
            }
        }
        let by_parameters = (0..open.len()).map(|k| self.column(&all, n + k)).collect();
        Ok(Passage { run, end, rate, jacobian, by_parameters })
    }
}
