//! From a motion, or a guess, to the periodic orbit near it.

use super::judge::OrbitStability;
use crate::analysis::closing::{Orbit, Period, close};
use crate::analysis::phase_space::{NoMap, PhaseSpace};
use crate::analysis::{LongTime, LyapunovOptions, long_time, lyapunov};
use crate::problem::{Problem, Start};
use crate::text::number;
use crate::{Keep, Options, Side, Status};
use std::fmt;

/// What is looked for, and from where.
#[derive(Clone, Debug)]
pub struct OrbitOptions {
    /// The period of the forcing; where nothing depends on time, about how long an orbit takes, if that is known.
    pub period: Option<f64>,
    /// How many periods of the forcing an orbit takes; None: as many as the motion shows.
    pub multiple: Option<usize>,
    /// How long the motion is left to settle before Newton's method begins: in periods, or where nothing depends on time a
    /// time.
    pub transient: f64,
    /// The tolerance of the motion.
    pub tolerance: f64,
    /// Only orbits that are their own mirror image after half a period: found as fixed points of half of it, reflected.
    pub symmetric: bool,
}

impl Default for OrbitOptions {
    fn default() -> Self {
        OrbitOptions { period: None, multiple: None, transient: 100.0, tolerance: 1e-13, symmetric: false }
    }
}

/// A motion is near an orbit of n periods if it misses itself by no more than this part of its size.
const NEAR: f64 = 2e-2;

/// Instants at which a motion is looked at for a return to where it ends.
const LOOKS: usize = 20_000;

/// At most so many periods of the forcing are tried.
const MOST: usize = 16;

/// Two orbits whose states differ by less than this part of their size are one.
pub const SAME: f64 = 1e-6;

/// Why no orbit was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NoOrbit {
    /// The motion cannot be followed.
    Map(NoMap),
    /// Newton's method came to no orbit. How near it came, and what was seen of the motion.
    NotNear {
        /// How far the best motion misses itself, relative to its size.
        residual: f64,
        /// What was seen of the motion.
        seen: String,
    },
    /// The motion comes to rest.
    AtRest,
    /// Nothing depends on time, and how long an orbit takes is not known.
    NoPeriod {
        /// What was seen of the motion.
        seen: String,
    },
}

impl From<NoMap> for NoOrbit {
    fn from(reason: NoMap) -> Self {
        NoOrbit::Map(reason)
    }
}

impl fmt::Display for NoOrbit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoOrbit::Map(reason) => write!(f, "{reason}"),
            NoOrbit::NotNear { residual, seen } => write!(
                f,
                "no periodic orbit was found near the guess: the best motion misses itself by {} of its size{seen}",
                number(*residual, 2)
            ),
            NoOrbit::AtRest => write!(f, "the motion comes to rest: there is no orbit to close"),
            NoOrbit::NoPeriod { seen } => write!(f, "how long an orbit takes is not known: {seen}"),
        }
    }
}

impl std::error::Error for NoOrbit {}

/// The periodic orbit near a start, or near where the motion from there settles.
///
/// ```
/// use saltus::{analysis::{OrbitOptions, orbit}, model::Builder};
/// let driven = Builder::new("driven").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").potential("x^2")
///     .force("x", "cos(t) - x'/5").build()?.problem()?;
/// let period = Some(std::f64::consts::TAU);
/// let found = orbit(&driven, &driven.start(), &OrbitOptions { period, ..OrbitOptions::default() })?;
/// // x = (cos t + sin t/5)/(1 + 1/25)
/// assert!((found.start.q[0] - 1.0/1.04).abs() < 1e-11 && found.stability().is_stable());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn orbit(problem: &Problem, start: &Start, options: &OrbitOptions) -> Result<Orbit, NoOrbit> {
    let space = PhaseSpace::of(problem);
    // (With what a person leaves out: first-order states, parameters.)
    let start = &problem.instance(start).map_err(NoMap::Setup)?.start().clone();
    let run_options = Options::events(f64::INFINITY).tolerance(options.tolerance);
    match (problem.model().depends_on_time(), options.period) {
        (true, Some(period)) => forced(problem, &space, start, period, options, &run_options),
        (true, None) => Err(NoOrbit::NoPeriod { seen: "what depends on time has no period".into() }),
        (false, given) => autonomous(problem, &space, start, given, options, &run_options),
    }
}

/// The motion for a time.
fn settle(problem: &Problem, start: &Start, lasts: f64, options: &Options) -> Result<crate::Run, NoMap> {
    let run = problem.run_from(start, &Options { end: start.t + lasts, ..options.clone() })?;
    match &run.status {
        Status::Failed(failure) => Err(NoMap::Failed(failure.clone())),
        Status::Breached { breaches } => Err(NoMap::Breached(breaches.clone())),
        _ => Ok(run),
    }
}

fn forced(
    problem: &Problem,
    space: &PhaseSpace,
    start: &Start,
    period: f64,
    options: &OrbitOptions,
    run_options: &Options,
) -> Result<Orbit, NoOrbit> {
    let mut at = start.clone();
    if options.transient > 0.0 {
        let quick = run_options.clone().keep(Keep::NOTHING);
        at = settle(problem, start, options.transient.round() * period, &quick)?.last().clone();
    }
    // The phase of the forcing is that of the start.
    at.t = start.t;
    let multiple = match options.multiple {
        Some(n) => n.max(1),
        None => seen_multiple(problem, space, &at, period, run_options).unwrap_or(1),
    };
    // (After half of an even number of periods the forcing is the same, not its mirror image.)
    let multiple = if options.symmetric { multiple >> multiple.trailing_zeros() } else { multiple };
    let lasts = multiple as f64 * period;
    if options.symmetric {
        let half = close(problem, space, &at, Period::Half(0.5 * lasts), run_options)?;
        if !half.is_closed() {
            let seen = format!("{}; a symmetric orbit was looked for", seen(problem, &at, period));
            return Err(NoOrbit::NotNear { residual: half.residual, seen });
        }
        at = half.start;
    }
    let found = close(problem, space, &at, Period::Given(lasts), run_options)?;
    if !found.is_closed() || (options.symmetric && !found.is_symmetric()) {
        let seen = match options.symmetric {
            // (Half of it closed, reflected; if the whole does not, the model itself has no such symmetry.)
            true => "; the model is not its own mirror image after half a period of the forcing".into(),
            false => seen(problem, &at, period),
        };
        return Err(NoOrbit::NotNear { residual: found.residual, seen });
    }
    // It may be one of fewer periods.
    for n in (1..multiple).filter(|n| multiple % n == 0) {
        let lasts = n as f64 * period;
        if let Ok(shorter) = close(problem, space, &found.start, Period::Given(lasts), run_options)
            && shorter.is_closed()
            && is_same(space, &shorter.start, &found.start)
        {
            return Ok(Orbit { multiple: Some(n), ..shorter });
        }
    }
    Ok(Orbit { multiple: Some(multiple), ..found })
}

/// After how many periods the motion comes near itself.
fn seen_multiple(problem: &Problem, space: &PhaseSpace, at: &Start, period: f64, options: &Options) -> Option<usize> {
    let first = space.state(at);
    let size = first.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let mut now = at.clone();
    let quick = options.clone().keep(Keep::NOTHING);
    for n in 1..=MOST {
        now.t = at.t + (n - 1) as f64 * period;
        now = settle(problem, &now, period, &quick).ok()?.last().clone();
        let off = first.iter().zip(space.state(&now)).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        if off <= NEAR * size {
            return Some(n);
        }
    }
    None
}

fn autonomous(
    problem: &Problem,
    space: &PhaseSpace,
    start: &Start,
    given: Option<f64>,
    options: &OrbitOptions,
    run_options: &Options,
) -> Result<Orbit, NoOrbit> {
    let mut at = start.clone();
    let mut about = given;
    if options.transient > 0.0 {
        let run = settle(problem, start, options.transient, run_options)?;
        at = run.last().clone();
        let settled = long_time(problem, &run);
        if let (LongTime::Periodic { period, .. }, None) = (&settled, about) {
            about = Some(*period);
        }
        about = about.or_else(|| recurrence(space, &run));
        if let LongTime::Rest { .. } = settled {
            return Err(NoOrbit::AtRest);
        }
    }
    let Some(about) = about else {
        let seen = "nothing depends on time, and the motion does not repeat itself so far; give it (--period), or a longer transient";
        return Err(NoOrbit::NoPeriod { seen: seen.into() });
    };
    at.t = start.t;
    let found = close(problem, space, &at, Period::About(about), run_options)?;
    match found.is_closed() {
        true => Ok(found),
        false => Err(NoOrbit::NotNear { residual: found.residual, seen: String::new() }),
    }
}

/// How long ago the motion was last near where it ends, after it had been away: by the spans of its entries over its second half.
fn recurrence(space: &PhaseSpace, run: &crate::Run) -> Option<f64> {
    let motion = &run.trajectory;
    let (first, last) = motion.span()?;
    let state = |t: f64| motion.at(t, Side::Left).map(|(q, v)| space.state(&Start::new(t, q, v)));
    let instant = |k: usize| last - 0.5 * (last - first) * k as f64 / LOOKS as f64;
    let states: Vec<Vec<f64>> = (0..=LOOKS).map_while(|k| state(instant(k))).collect();
    let (here, n) = (states.first()?.clone(), space.dimension());
    let span = |i: usize| {
        let (low, high) =
            states.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x[i]), b.max(x[i])));
        (high - low).max(f64::MIN_POSITIVE)
    };
    let spans: Vec<f64> = (0..n).map(span).collect();
    let away = |x: &Vec<f64>| (0..n).fold(0.0_f64, |m, i| m.max((x[i] - here[i]).abs() / spans[i]));
    let distances: Vec<f64> = states.iter().map(away).collect();
    let left = distances.iter().position(|&d| d > 0.25)?;
    let back = (left + 1..distances.len().saturating_sub(1))
        .find(|&k| distances[k] < 0.05 && distances[k] <= distances[k - 1] && distances[k] <= distances[k + 1])?;
    Some(last - instant(back))
}

/// Whether two starts are one state.
pub fn is_same(space: &PhaseSpace, a: &Start, b: &Start) -> bool {
    let (a, b) = (space.state(a), space.state(b));
    let size = a.iter().chain(&b).fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= SAME * size)
}

/// What the motion looks like, where Newton's method finds nothing.
fn seen(problem: &Problem, at: &Start, period: f64) -> String {
    match lyapunov(problem, at, &LyapunovOptions::blocks(period, 20, 200), &mut |_| true) {
        Ok(found) if found.is_chaotic() => {
            let first = found.largest();
            format!(
                "; the motion from there looks chaotic (largest exponent {} ± {})",
                number(first.value, 3),
                number(first.error, 2)
            )
        }
        Ok(found) => match found.repeats {
            Some((n, _)) => format!("; the motion from there repeats itself after {n} periods in the end"),
            None => "; the motion from there is neither periodic nor clearly chaotic: quasi-periodic, perhaps".into(),
        },
        Err(_) => String::new(),
    }
}

impl Orbit {
    /// What its multipliers say.
    pub fn stability(&self) -> OrbitStability {
        OrbitStability::of(self)
    }
}
