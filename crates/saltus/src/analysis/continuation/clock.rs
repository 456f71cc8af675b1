//! How long a period is, as a function of open parameters.

use crate::Problem;
use crate::analysis::HarmonicForcing;
use saltus_expr::{Program, Scalar};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A function of the open parameters.
pub type OfParameters = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// What gives the period of an orbit.
#[derive(Clone)]
pub enum Clock {
    /// Nothing depends on time: the period is an unknown.
    Own,
    /// Forcing by sines and cosines.
    Harmonic(Box<HarmonicForcing>),
    /// A function of the open parameters.
    Function(OfParameters),
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Clock::Own => "Own",
            Clock::Harmonic(_) => "Harmonic",
            Clock::Function(_) => "Function",
        })
    }
}

impl Clock {
    /// That of a problem; None if what depends on time is not recognised as periodic.
    pub fn of(problem: &Problem) -> Option<Self> {
        match problem.model().depends_on_time() {
            false => Some(Clock::Own),
            true => HarmonicForcing::of(problem.model()).map(|h| Clock::Harmonic(Box::new(h))),
        }
    }

    /// One given as a further number of the model, such as `2*pi/w`; None if there is no such number.
    pub fn of_setting(problem: &Problem, name: &str) -> Option<Self> {
        let model = problem.model();
        let setting = model.settings.iter().find(|s| s.name == name)?;
        let inputs: Vec<_> = model.open.iter().map(|p| p.symbol).collect();
        let program = Program::compile(&model.graph, &inputs, &[setting.node]).ok()?;
        let code = Mutex::new(Scalar::new(Arc::new(program)));
        Some(Clock::Function(Arc::new(move |parameters| {
            let Ok(mut code) = code.lock() else { return f64::NAN };
            code.inputs_mut().iter_mut().zip(parameters).for_each(|(slot, p)| *slot = *p);
            code.run();
            code.output(0)
        })))
    }

    /// The period of the forcing; None where the period is the orbit's own, or there is none.
    pub fn period(&mut self, parameters: &[f64]) -> Option<f64> {
        let found = match self {
            Clock::Own => None,
            Clock::Harmonic(forcing) => forcing.period(parameters),
            Clock::Function(of) => Some(of(parameters)),
        };
        found.filter(|t| *t > 0.0 && t.is_finite())
    }

    /// Its derivative by one parameter: by a central difference, as Newton's method needs it.
    pub fn slope(&mut self, parameters: &[f64], k: usize) -> f64 {
        let h = 1e-5 * parameters[k].abs().max(1e-3);
        let mut moved = parameters.to_vec();
        moved[k] = parameters[k] + h;
        let above = self.period(&moved);
        moved[k] = parameters[k] - h;
        match (above, self.period(&moved)) {
            (Some(above), Some(below)) => (above - below) / (2.0 * h),
            _ => 0.0,
        }
    }
}
