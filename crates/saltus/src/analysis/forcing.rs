//! What drives a system: whether anything depends on time, and with which period.

use super::HarmonicForcing;
use crate::Model;
use crate::linalg::Dice;
use crate::problem::{Dynamics, Gaps, Problem, Start};

/// Lags tried at each scale.
const LAGS: usize = 300;
/// Instants at which forces and gaps are compared with themselves a lag later.
const INSTANTS: usize = 24;

/// The shortest period after which forces and gaps repeat, if there is one of at most a third of the time given.
///
/// The misfit D(T) between what acts at some instants and what acts T later is zero at a period; its minima over ever longer
/// lags are refined and held to rounding.
///
/// ```
/// use saltus::{analysis::forcing_period, model::Builder};
/// let model = Builder::new("driven").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").force("x", "sin(3*t) + cos(6*t)").build()?;
/// let period = forcing_period(&model.problem()?, 100.0).unwrap();
/// assert!((period - std::f64::consts::TAU / 3.0).abs() < 1e-7);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn forcing_period(problem: &Problem, end: f64) -> Option<f64> {
    let usable = end > 0.0 && end.is_finite();
    if !usable || !problem.model().depends_on_time() {
        return None;
    }
    let mut forcing = Forcing::new(problem, end);
    let largest = (1..=40).map(|k| forcing.misfit(end * f64::from(k) / 97.3)).fold(0.0, f64::max);
    if !(largest > 0.0) {
        return None;
    }
    for scale in (0..10).rev().map(|j| end / 3.0 / f64::from(1u32 << j)) {
        let lag = |k: usize| scale * k as f64 / LAGS as f64;
        let misfits: Vec<f64> = (0..=LAGS + 1).map(|k| forcing.misfit(lag(k))).collect();
        for k in 1..=LAGS {
            if misfits[k] <= misfits[k - 1] && misfits[k] <= misfits[k + 1] && misfits[k] < 0.05 * largest {
                let period = forcing.refined(lag(k - 1), lag(k + 1));
                // Longer than a grid cell: near zero everything repeats.
                if forcing.misfit(period) <= 1e-11 * largest && period > lag(2) {
                    return Some(period);
                }
            }
        }
    }
    None
}

/// The period of the forcing for the parameters of a start: exactly, where all of it is sines and cosines, else as
/// [`forcing_period`] finds it.
pub fn period_of(problem: &Problem, start: &Start, end: f64) -> Option<f64> {
    let parameters = if start.parameters.is_empty() { problem.start().parameters } else { start.parameters.clone() };
    let harmonic = HarmonicForcing::of(problem.model()).and_then(|mut forcing| forcing.period(&parameters));
    harmonic.or_else(|| forcing_period(problem, end))
}

struct Forcing<'p> {
    model: &'p Model,
    dynamics: Dynamics,
    gaps: Gaps,
    instants: Vec<f64>,
    /// What acts at the instants.
    acting: Vec<Vec<f64>>,
}

impl<'p> Forcing<'p> {
    fn new(problem: &'p Problem, end: f64) -> Self {
        let mut dice = Dice::new(7);
        let instants: Vec<f64> = (0..INSTANTS).map(|_| dice.between(0.0, end)).collect();
        let (dynamics, gaps) = (problem.dynamics(), problem.gaps());
        let mut forcing = Forcing { model: problem.model(), dynamics, gaps, instants, acting: Vec::new() };
        forcing.acting = forcing.instants.clone().into_iter().map(|t| forcing.at(t)).collect();
        forcing
    }

    fn at(&mut self, t: f64) -> Vec<f64> {
        self.dynamics.evaluate(t, &self.model.q0, &self.model.v0);
        self.gaps.evaluate(t, &self.model.q0, &self.model.v0);
        self.dynamics.g.iter().chain(&self.gaps.values).copied().collect()
    }

    /// The mean squared difference between now and a lag later.
    fn misfit(&mut self, lag: f64) -> f64 {
        let mut sum = 0.0;
        for k in 0..self.instants.len() {
            let later = self.at(self.instants[k] + lag);
            sum += later.iter().zip(&self.acting[k]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        }
        sum / self.instants.len() as f64
    }

    /// The lag of least misfit between two, by golden sections.
    fn refined(&mut self, mut low: f64, mut high: f64) -> f64 {
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_a, mut at_b) = (self.misfit(a), self.misfit(b));
        for _ in 0..60 {
            if at_a <= at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - golden * (high - low);
                at_a = self.misfit(a);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + golden * (high - low);
                at_b = self.misfit(b);
            }
        }
        0.5 * (low + high)
    }
}
