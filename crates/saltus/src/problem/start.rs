//! Where a motion starts.

use crate::SetupError;

/// A start: time, position, velocity, and the values of open parameters. The model stays the same.
///
/// For a structure, position and velocity are those of all degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The time.
    pub t: f64,
    /// The position.
    pub q: Vec<f64>,
    /// The velocity, after any impact at this instant.
    pub v: Vec<f64>,
    /// The values of open parameters and ports, in the order of [`crate::Model::open`].
    pub parameters: Vec<f64>,
    /// For a state that a run reached: the constraints that are closed there.
    pub(crate) closed: Option<Vec<usize>>,
}

impl Start {
    /// A start from rest data; it is checked against the constraints before a run.
    pub fn new(t: f64, q: Vec<f64>, v: Vec<f64>) -> Self {
        Start { t, q, v, parameters: Vec::new(), closed: None }
    }

    /// The same with values of open parameters and ports, in the order of [`crate::Model::open`].
    #[must_use]
    pub fn with_parameters(mut self, parameters: Vec<f64>) -> Self {
        self.parameters = parameters;
        self
    }

    /// A state that a run reached, with the constraints that are closed there. It may violate them by what the scheme of
    /// that run allows.
    #[must_use]
    pub fn reached(mut self, closed: Vec<usize>) -> Self {
        self.closed = Some(closed);
        self
    }

    /// The constraints that are closed, where a run reached this state.
    pub fn closed(&self) -> Option<&[usize]> {
        self.closed.as_deref()
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
        match self.closed.iter().flatten().find(|&&a| a >= constraints) {
            Some(a) => Err(SetupError::new(format!("there is no constraint {a} to be closed at the start"))),
            None => Ok(()),
        }
    }
}
