//! Lyapunov exponents: how fast perturbations of a motion grow or shrink, in the mean.
//!
//! Perturbations travel with the motion, through impacts and contact, and are made orthonormal again and again (Benettin et
//! al. 1980; QR): the mean of the logarithms of their lengths are the exponents. A contact that begins takes away the
//! directions across its constraint, for good: exponents of −∞. Where the motion repeats itself, the exponents are those of
//! the multipliers of its period, without any mean.

mod carry;
mod frame;
mod ranges;
mod repeats;
mod travel;
mod turn;

pub use carry::{Perturbations, carry_perturbations};
pub use repeats::Returns;

use super::phase_space::{NoMap, PhaseSpace};
use crate::motion::Obstacle;
use crate::problem::{Problem, Start};
use crate::{Keep, Options, SetupError, Simulation, StepFailure, Stop};
use frame::Frame;
use std::fmt;

/// Neighbours that part like a power of the time part by less than this in the second half of it, as a logarithm: p ln 2.
const SHEAR: f64 = 3.0;

/// Chaos in the second half of the time is this part as strong as in the first, at least.
const KEEPS: f64 = 0.5;

/// Over which part of a motion exponents are means.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LyapunovOptions {
    /// How long the motion runs before, for the transient.
    pub transient: f64,
    /// The time over which the mean is taken.
    pub time: f64,
    /// The length of the blocks into which that time is cut: the period of the forcing, where there is one. Other lengths are
    /// as good for the exponents, but a motion that repeats itself is not recognised.
    pub block: f64,
    /// The tolerance of the motion.
    pub tolerance: f64,
}

impl LyapunovOptions {
    /// A number of blocks for the transient, and a number of them for the mean.
    pub fn blocks(block: f64, transient: usize, count: usize) -> Self {
        let (transient, time) = (transient as f64 * block, count as f64 * block);
        LyapunovOptions { transient, time, block, tolerance: 1e-10 }
    }

    /// The number of blocks of the mean.
    ///
    /// # Errors
    /// The times make no sense.
    pub fn count(&self) -> Result<usize, SetupError> {
        let count = (self.time / self.block).round();
        let usable = |x: f64| x > 0.0 && x.is_finite();
        if !(usable(self.block) && usable(self.time) && self.transient >= 0.0 && self.transient.is_finite()) {
            return Err(SetupError::new("the times of a mean must be positive, finite numbers"));
        }
        if !(2.0..=1e9).contains(&count) {
            let message = format!("{} blocks of {} are no mean: between two and a billion are", count, self.block);
            return Err(SetupError::new(message));
        }
        Ok(count as usize)
    }

    /// The number of blocks in which perturbations find their directions before they count.
    ///
    /// # Errors
    /// The times make no sense.
    pub fn warm_up(&self) -> Result<usize, SetupError> {
        Ok((self.count()? / 10).clamp(5, 1000))
    }
}

/// One exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponent {
    /// Its value, in one over the unit of time; −∞ for a direction that a contact takes away.
    pub value: f64,
    /// Its standard error, from the scatter of means over parts of the time; or the difference between the means over the two halves of it,
    /// if that is more.
    pub error: f64,
}

/// The exponents of a motion.
#[derive(Clone, Debug)]
pub struct Lyapunov {
    /// Largest first; one for each dimension of the phase space without time (and without what joints hold).
    pub exponents: Vec<Exponent>,
    /// The time over which the means were taken, and its number of blocks.
    pub time: f64,
    /// Blocks in it.
    pub blocks: usize,
    /// Impacts in it, those of accumulations as far as they were made one by one.
    pub impacts: usize,
    /// Where the motion repeats itself after so many blocks: its multipliers (real and imaginary parts), from which the
    /// exponents are.
    pub repeats: Option<(usize, Vec<(f64, f64)>)>,
    /// How far each coordinate has advanced meanwhile, where the motion travels; empty where it comes back.
    pub advance: Vec<f64>,
    /// The largest exponent over the second half of the time alone, where it is a mean.
    pub late: Option<Exponent>,
    /// The rate at which the motion itself grows meanwhile, exponentially: none where it is bounded.
    pub growth: f64,
}

/// Why there are no exponents.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NoExponents {
    /// The motion cannot begin, or the times make no sense.
    Setup(SetupError),
    /// The motion ends.
    Failed(StepFailure),
    /// The motion has no derivatives.
    Obstacle(Obstacle),
    /// The observer asked to stop.
    Interrupted,
}

impl fmt::Display for NoExponents {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoExponents::Setup(error) => write!(f, "{error}"),
            NoExponents::Failed(failure) => write!(f, "{failure}"),
            NoExponents::Obstacle(obstacle) => write!(f, "{obstacle}"),
            NoExponents::Interrupted => write!(f, "interrupted"),
        }
    }
}

impl std::error::Error for NoExponents {}

impl From<SetupError> for NoExponents {
    fn from(error: SetupError) -> Self {
        NoExponents::Setup(error)
    }
}

impl From<StepFailure> for NoExponents {
    fn from(failure: StepFailure) -> Self {
        NoExponents::Failed(failure)
    }
}

impl From<NoMap> for NoExponents {
    fn from(reason: NoMap) -> Self {
        match reason {
            NoMap::Setup(error) => NoExponents::Setup(error),
            NoMap::Failed(failure) => NoExponents::Failed(failure),
            NoMap::Obstacle(obstacle) => NoExponents::Obstacle(obstacle),
            NoMap::Breached(breaches) => NoExponents::Setup(SetupError::new(breaches.join("; "))),
        }
    }
}

impl Lyapunov {
    /// The exponents of a motion along which perturbations were carried otherwise: for each column the logarithms of what it has grown by in
    /// successive parts of the time, all as long as each other; None for a column that a contact has taken.
    ///
    /// # Errors
    /// The times make no sense.
    pub fn from_growth(
        options: &LyapunovOptions,
        columns: &[Option<Vec<f64>>],
        impacts: usize,
    ) -> Result<Self, SetupError> {
        let blocks = options.count()?;
        let time = blocks as f64 * options.block;
        let parts = columns.iter().flatten().map(Vec::len).max().unwrap_or(1).max(1);
        let columns: Vec<Option<&[f64]>> = columns.iter().map(Option::as_deref).collect();
        let (exponents, late) = frame::means(&columns, time / parts as f64);
        Ok(Lyapunov { exponents, time, blocks, impacts, repeats: None, advance: Vec::new(), late, growth: 0.0 })
    }

    /// The same with the rate at which the motion itself grows from one state to a later one.
    #[must_use]
    pub fn with_growth(mut self, begin: &Start, end: &Start) -> Self {
        let size = |at: &Start| at.q.iter().chain(&at.v).fold(0.0_f64, |m, x| m.hypot(*x));
        let rate = (size(end) / size(begin)).ln() / (end.t - begin.t);
        self.growth = if rate.is_finite() { rate } else { 0.0 };
        self
    }

    /// The largest exponent.
    pub fn largest(&self) -> Exponent {
        self.exponents.first().copied().unwrap_or(Exponent { value: f64::NEG_INFINITY, error: 0.0 })
    }

    /// The sum of all exponents: the mean rate at which volumes of the phase space grow.
    pub fn sum(&self) -> f64 {
        self.exponents.iter().map(|e| e.value).sum()
    }

    /// The dimension of Kaplan and Yorke: j + Σ_{i≤j} λᵢ/|λⱼ₊₁|, with the largest j whose sum is not negative. Exponents that
    /// are zero to three of their errors (and 1e-9 of the fastest) count as zero.
    pub fn kaplan_yorke(&self) -> f64 {
        let scale = self.exponents.iter().map(|e| e.value.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let mut sum = 0.0;
        for (j, e) in self.exponents.iter().enumerate() {
            let is_zero = e.value.abs() <= (3.0 * e.error).max(1e-9 * scale);
            let value = if is_zero { 0.0 } else { e.value };
            if sum + value < 0.0 {
                return j as f64 + if value.is_finite() { sum / value.abs() } else { 0.0 };
            }
            sum += value;
        }
        self.exponents.len() as f64
    }

    /// Whether neighbours part because the motion itself grows, exponentially: it has no bound, as far as it was followed.
    pub fn runs_away(&self) -> bool {
        let grows = self.growth >= KEEPS * self.largest().value && self.growth * self.time > SHEAR;
        self.repeats.is_none() && grows
    }

    /// Whether neighbours of a bounded motion part exponentially: the largest exponent over the second half of the time is positive by more than two of its errors,
    /// is no less than half of that over the first, and neighbours part in that half by more than what parts like a power of the time does.
    /// (Neighbours on another orbit of a motion that is not chaotic part in proportion to the time, by a factor of two in the second
    /// half of it.)
    pub fn is_chaotic(&self) -> bool {
        let goes_on = |late: Exponent| {
            let first = 2.0 * self.largest().value - late.value;
            late.value > 2.0 * late.error && late.value >= KEEPS * first && 0.5 * self.time * late.value > SHEAR
        };
        self.repeats.is_none() && self.late.is_some_and(goes_on) && !self.runs_away()
    }
}

/// The exponents of the motion from a start. `observer` is called with the share that is done; returning false stops.
///
/// ```
/// use saltus::{analysis::{LyapunovOptions, lyapunov}, model::Builder};
/// // x'' = x − x'/10: exponents −0.05 ± √(0.0025 + 1).
/// let top = Builder::new("top").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").force("x", "x - x'/10").build()?.problem()?;
/// let found = lyapunov(&top, &top.start(), &LyapunovOptions::blocks(1.0, 10, 100), &mut |_| true)?;
/// assert!((found.largest().value - (1.0025_f64.sqrt() - 0.05)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lyapunov(
    problem: &Problem,
    start: &Start,
    options: &LyapunovOptions,
    observer: &mut dyn FnMut(f64) -> bool,
) -> Result<Lyapunov, NoExponents> {
    let (blocks, warm) = (options.count()?, options.warm_up()?);
    let space = PhaseSpace::of(problem);
    let plain = Options::events(f64::INFINITY).tolerance(options.tolerance).keep(Keep::NOTHING);
    let whole = options.transient + 1.15 * options.time;
    // The transient, without perturbations.
    let mut sim = problem.resume(start)?.engine(&plain)?;
    let begins = start.t + options.transient;
    let slices = (options.transient / options.block).ceil().clamp(1.0, 1e4);
    for k in 1..=slices as usize {
        advance(&mut sim, start.t + options.transient * k as f64 / slices)?;
        if !observer((sim.t() - start.t) / whole) {
            return Err(NoExponents::Interrupted);
        }
    }
    let at = sim.finish().last().clone();
    if let Some(found) = repeats::exponents(problem, &space, &at, options)? {
        return Ok(found);
    }
    let mut sim = problem.resume(&at)?.engine(&plain.vary(space.unit()))?;
    let mut frame = Frame::new(&space, problem, &at, &mut sim, (options.block, options.tolerance))?;
    // The perturbations find their directions before they count.
    let mut impacts = 0;
    for k in 0..warm + blocks {
        if k == warm {
            frame.begin_to_count();
            impacts = sim.impacts();
        }
        frame.block(&space, &mut sim, begins + options.block * k as f64, options.block)?;
        if !observer((sim.t() - start.t) / whole) {
            return Err(NoExponents::Interrupted);
        }
    }
    let impacts = sim.impacts() - impacts;
    // A motion may have settled only now, after a chaotic transient, say: a mean over both is that of neither.
    let (exponents, late) = frame.exponents(options.block);
    let end = sim.finish().last().clone();
    if let Some(found) = repeats::exponents(problem, &space, &end, options)? {
        return Ok(found);
    }
    let time = blocks as f64 * options.block;
    let found = Lyapunov { exponents, time, blocks, impacts, repeats: None, advance: Vec::new(), late, growth: 0.0 };
    Ok(found.with_growth(&at, &end))
}

/// The exponents of a motion that repeats itself from a state on, the transient being over; None if it does not.
///
/// # Errors
/// The times make no sense, or the motion repeats itself but has no derivatives.
pub fn repeating_exponents(
    problem: &Problem,
    at: &Start,
    options: &LyapunovOptions,
) -> Result<Option<Lyapunov>, NoExponents> {
    options.count()?;
    repeats::exponents(problem, &PhaseSpace::of(problem), at, options)
}

/// On to a time, past events of the user's own.
fn advance(sim: &mut Simulation, to: f64) -> Result<(), StepFailure> {
    while !matches!(sim.advance_to(to)?, Stop::Time) {}
    Ok(())
}
