//! Whatever can be run, seen through one small trait.

use super::begin::{self, Begun};
use super::{Options, Progress, Run, Simulation, run_observed};
use crate::linalg::{Dice, max_abs};
use crate::problem::{Gaps, Problem, Start};
use crate::scheme::Systems;
use crate::structure::{Reduction, Structure, StructureInstance};
use crate::{Model, SetupError};
use std::sync::Arc;

/// A mechanical system that can be run: a [`Problem`] of expressions, a [`Structure`] of matrices.
pub trait System: Sync {
    /// Names, gaps, events, units. For a structure, its coordinates are the points.
    fn model(&self) -> &Arc<Model>;

    /// What kind of system it is.
    fn kind(&self) -> Systems;

    /// Where it starts by default.
    fn start(&self) -> Start;

    /// Whether loads, forces or constraints depend on time.
    fn is_forced(&self) -> bool;

    /// A start perturbed by at most `size` relative to the data; it need not be admissible.
    fn perturbed(&self, start: &Start, size: f64, dice: &mut Dice) -> Start;

    /// Checks a start without running.
    fn admits(&self, start: &Start) -> Result<(), SetupError>;

    /// An evaluator of the gaps at observed positions.
    fn gaps(&self) -> Gaps;

    /// Begins a run.
    fn begin(&self, start: &Start, options: &Options) -> Result<Begun, SetupError>;

    /// The system as a problem of expressions, if it is one.
    fn as_problem(&self) -> Option<&Problem> {
        None
    }

    /// The system as a structure, if it is one.
    fn as_structure(&self) -> Option<&Structure> {
        None
    }
}

impl System for Problem {
    fn model(&self) -> &Arc<Model> {
        Problem::model(self)
    }

    fn kind(&self) -> Systems {
        Systems::Models
    }

    fn start(&self) -> Start {
        Problem::start(self)
    }

    fn is_forced(&self) -> bool {
        Problem::model(self).depends_on_time()
    }

    fn perturbed(&self, start: &Start, size: f64, dice: &mut Dice) -> Start {
        let degrees = Problem::model(self).degrees();
        let (far, fast) = (max_abs(&start.q[..degrees]).max(1e-3), max_abs(&start.v[..degrees]));
        let q = start.q[..degrees].iter().map(|q| q + size * far * dice.between(-1.0, 1.0)).collect();
        // (A state is measured by itself.)
        let scale = |i: usize, v: f64| if i < degrees { fast.max(far) } else { v.abs().max(1e-3) };
        let v = start.v.iter().enumerate().map(|(i, &v)| v + size * scale(i, v) * dice.between(-1.0, 1.0)).collect();
        let perturbed = Start { q, v, ..start.clone() };
        match Problem::model(self).joints.is_empty() {
            true => perturbed,
            // (What joints do not allow is no perturbation.)
            false => self.assembled(&perturbed).unwrap_or(perturbed),
        }
    }

    fn admits(&self, start: &Start) -> Result<(), SetupError> {
        self.instance(start).map(|_| ())
    }

    fn gaps(&self) -> Gaps {
        Problem::gaps(self)
    }

    fn begin(&self, start: &Start, options: &Options) -> Result<Begun, SetupError> {
        begin::problem(self, start, options)
    }

    fn as_problem(&self) -> Option<&Problem> {
        Some(self)
    }
}

impl System for Structure {
    fn model(&self) -> &Arc<Model> {
        Structure::model(self)
    }

    fn kind(&self) -> Systems {
        Systems::Structures
    }

    fn start(&self) -> Start {
        Structure::start(self)
    }

    fn is_forced(&self) -> bool {
        Structure::is_forced(self)
    }

    fn perturbed(&self, start: &Start, size: f64, dice: &mut Dice) -> Start {
        self.perturbed_start(start, size, dice)
    }

    fn admits(&self, start: &Start) -> Result<(), SetupError> {
        let modes = start.reached_by().and_then(|by| by.modes);
        let reduction = modes.map(|(modes, residual)| Reduction { modes, residual });
        StructureInstance::new(self, start, reduction, None).map(|_| ())
    }

    fn gaps(&self) -> Gaps {
        Structure::gaps(self)
    }

    fn begin(&self, start: &Start, options: &Options) -> Result<Begun, SetupError> {
        begin::structure(self, start, options)
    }

    fn as_structure(&self) -> Option<&Structure> {
        Some(self)
    }
}

/// A system at a state that a run reached.
#[derive(Clone, Debug)]
pub struct Resumed<S> {
    system: S,
    start: Start,
}

impl<S: System> Resumed<S> {
    /// Runs on from there.
    pub fn run(&self, options: &Options) -> Result<Run, SetupError> {
        run_observed(&self.system, &self.start, options, &mut |_| true)
    }

    /// Simulates on from there.
    pub fn engine(&self, options: &Options) -> Result<Simulation, SetupError> {
        Simulation::new(&self.system, &self.start, options)
    }
}

macro_rules! runs {
    ($system:ty) => {
        impl $system {
            /// Runs from its own start.
            pub fn run(&self, options: &Options) -> Result<Run, SetupError> {
                run_observed(self, &System::start(self), options, &mut |_| true)
            }

            /// Runs from a start.
            pub fn run_from(&self, start: &Start, options: &Options) -> Result<Run, SetupError> {
                run_observed(self, start, options, &mut |_| true)
            }

            /// Runs from a start. `observer` is called periodically; return false to stop.
            pub fn run_observed(
                &self,
                start: &Start,
                options: &Options,
                observer: &mut dyn FnMut(Progress) -> bool,
            ) -> Result<Run, SetupError> {
                run_observed(self, start, options, observer)
            }

            /// A run in progress, to be advanced piece by piece.
            pub fn engine(&self, options: &Options) -> Result<Simulation, SetupError> {
                Simulation::new(self, &System::start(self), options)
            }

            /// Takes a run up again: clock and active set travel with the state.
            pub fn resume(&self, last: &Start) -> Result<Resumed<$system>, SetupError> {
                Ok(Resumed { system: self.clone(), start: last.clone() })
            }
        }
    };
}
runs!(Problem);
runs!(Structure);
