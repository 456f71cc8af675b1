//! Where a long run ends up: at rest, on a periodic orbit, or neither so far ([B] on limit sets).

use super::{forcing_period, trouble};
use crate::linalg::{Dice, max_abs};
use crate::problem::Problem;
use crate::run::{Run, System};
use crate::text::{count, number};
use crate::{Model, Side, Status, Trajectory};

/// The long-time behaviour of a run, as far as it went.
#[derive(Clone, Debug, PartialEq)]
pub enum LongTime {
    /// At rest since a time, with these constraints closed.
    Rest {
        /// Since when.
        since: f64,
        /// The position.
        q: Vec<f64>,
        /// The constraints that are closed.
        closed: Vec<usize>,
    },
    /// Periodic to the figure given.
    Periodic {
        /// The period.
        period: f64,
        /// Impacts in a period.
        impacts: usize,
        /// The number of periods of the forcing in it, where something depends on time.
        forcing: Option<usize>,
        /// The largest relative difference from one period to the next.
        figure: f64,
    },
    /// Neither so far.
    Neither,
}

impl LongTime {
    /// Its kind in a word: `rest`, `periodic` or `neither`.
    pub fn kind(&self) -> &'static str {
        match self {
            LongTime::Rest { .. } => "rest",
            LongTime::Periodic { .. } => "periodic",
            LongTime::Neither => "neither",
        }
    }

    /// In a sentence; None if the run settled on nothing.
    pub fn sentence(&self, model: &Model) -> Option<String> {
        match self {
            LongTime::Rest { since, closed, .. } => {
                let mut names: Vec<String> =
                    closed.iter().take(4).map(|&a| model.constraints[a].name.clone()).collect();
                if closed.len() > names.len() {
                    names.push(format!("{} more", closed.len() - names.len()));
                }
                let on =
                    if names.is_empty() { String::new() } else { format!(", in contact with {}", names.join(" and ")) };
                Some(format!("at rest since t = {}{on}", number(*since, 8)))
            }
            LongTime::Periodic { period, impacts, forcing, figure } => {
                let of = match forcing {
                    Some(1) => ", that of the forcing".to_string(),
                    Some(n) => format!(", {n} periods of the forcing"),
                    None => String::new(),
                };
                Some(format!(
                    "periodic to {}: period {}{of}, {} per period",
                    number(*figure, 1),
                    number(*period, 8),
                    count(*impacts as u64, "impact")
                ))
            }
            LongTime::Neither => None,
        }
    }
}

/// What a run settled on.
///
/// ```
/// use saltus::{Options, analysis::{LongTime, long_time}, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let run = ball.run(&Options::events(3.0))?;
/// let LongTime::Rest { since, .. } = long_time(&ball, &run) else { panic!("it comes to rest") };
/// assert!((since - 3.0 * (2.0f64 / 9.81).sqrt()).abs() < 1e-8);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn long_time(system: &dyn System, run: &Run) -> LongTime {
    let motion = &run.trajectory;
    // A run that breaks what no motion may break has settled on nothing.
    if motion.len() < 2 || !matches!(run.status, Status::Finished) || trouble(run).is_some() {
        return LongTime::Neither;
    }
    let by_events = run.by_events();
    let (d, fastest) = (motion.degrees(), motion.fastest());
    // Rest: no velocity at the last instants, over a tenth of the run at least.
    let quiet = if by_events { 1e-9 } else { 1e-3 } * fastest;
    let last = motion.len() - 1;
    let reach = extent(motion);
    // Nor does the position move more than such velocities allow, whatever is recorded of them.
    let stays = |k: usize| {
        let allowed = quiet * (motion.t[last] - motion.t[k] + run.step) + 1e-9 * reach;
        apart(&motion.q(k)[..d], &motion.q(last)[..d]) <= allowed.min(1e-3 * reach)
    };
    // First-order states are where they will stay.
    let largest = levels(motion);
    let relative = if by_events { 1e-9 } else { 1e-3 };
    let is_constant = |k: usize| off(motion.states(k), motion.states(last), &largest) <= relative;
    let is_still = |&k: &usize| max_abs(&motion.v(k, Side::Right)[..d]) <= quiet && stays(k) && is_constant(k);
    let still = (0..motion.len()).rev().take_while(is_still).count();
    // A run that was to stop at rest, and stopped.
    let span = motion.t[last] - motion.t[0];
    let stopped = run.options.until_rest && motion.t[last] < run.options.end - 1e-12 * span;
    let unmoved = fastest == 0.0 && still == motion.len();
    if unmoved || stopped || (still > 0 && motion.t[last] - motion.t[motion.len() - still] >= 0.02 * span) {
        let q = motion.q(last).to_vec();
        let mut gaps = system.gaps();
        gaps.linearise(motion.t[last], &q, motion.v(last, Side::Right));
        let slack = |a: usize| gaps.rounding(a, &q) + if by_events { 1e-9 } else { 10.0 * run.step * fastest };
        let closed = (0..gaps.values.len()).filter(|&a| gaps.values[a] <= slack(a)).collect();
        let since = motion.t[motion.len() - still.max(1)];
        // Time steps that blew up are slow only beside their own largest velocity.
        if !by_events && !run.stays_since(since) {
            return LongTime::Neither;
        }
        // The limit of an accumulation is a better estimate than the next stored instant.
        let near = |t: &f64| (t - since).abs() <= 1e-3 * span;
        let chatter = run.timeline.of(crate::PhaseKind::Chatter).last().map(|p| p.end).filter(near);
        return LongTime::Rest { since: chatter.unwrap_or(since), q, closed };
    }
    let figure = if by_events { 1e-6 } else { 2e-2 };
    periodic(system, run, figure).or_else(|| strobed(system, run, figure)).unwrap_or(LongTime::Neither)
}

/// The shortest pattern of impacts that the last ones repeat three times, in positions, velocities and constraints.
fn periodic(system: &dyn System, run: &Run, figure: f64) -> Option<LongTime> {
    let impacts = &run.trajectory.impacts;
    let n = impacts.len();
    let reach = extent(&run.trajectory);
    let (d, largest) = (run.trajectory.degrees(), levels(&run.trajectory));
    for p in 1..=n / 4 {
        let mut worst = 0.0_f64;
        let period = impacts.get(n - 1).t - impacts.get(n - 1 - p).t;
        // From the last impact backwards: what does not repeat is usually seen at once, so that long patterns cost little.
        let same = (n - 3 * p..n).rev().all(|k| {
            let (a, b) = (impacts.get(k), impacts.get(k - p));
            let ((va, za), (vb, zb)) = (a.v_before.split_at(d), b.v_before.split_at(d));
            let speed = max_abs(va).max(max_abs(vb)).max(1e-300);
            worst = worst.max(apart(va, vb) / speed).max(((a.t - b.t) / period - 1.0).abs());
            worst = worst.max(apart(&a.q[..d], &b.q[..d]) / reach).max(off(za, zb, &largest));
            worst <= figure && a.constraints == b.constraints
        });
        if same && period > 0.0 {
            let forcing = system.as_problem().and_then(|p| forcing_periods(p, period, figure));
            return Some(LongTime::Periodic { period, impacts: p, forcing, figure: worst });
        }
    }
    None
}

/// Periods of the forcing tried together.
const MAX_FORCING: usize = 64;
/// Instants of a period at which positions are compared.
const PHASES: usize = 97;

/// A motion that repeats after some periods of the forcing, three times, whatever its impacts: those of an accumulation
/// need not be the same in number.
fn strobed(system: &dyn System, run: &Run, figure: f64) -> Option<LongTime> {
    let motion = &run.trajectory;
    let (start, end) = motion.span()?;
    let base = forcing_period(system.as_problem()?, end - start)?;
    let (reach, d, largest) = (extent(motion), motion.degrees(), levels(motion));
    let most = (((end - start) / (4.0 * base)) as usize).min(MAX_FORCING);
    for n in 1..=most {
        let period = n as f64 * base;
        let at = |t: f64| motion.at(t, Side::Left);
        let mut worst = 0.0_f64;
        let same = (0..3 * PHASES).all(|k| {
            let t = end - period * k as f64 / PHASES as f64;
            let (Some((qa, va)), Some((qb, vb))) = (at(t), at(t - period)) else { return false };
            worst = worst.max(apart(&qa[..d], &qb[..d]) / reach).max(off(&va[d..], &vb[d..], &largest));
            worst <= figure
        });
        if same {
            let impacts = motion.impacts.iter().filter(|i| i.t > end - period).count();
            return Some(LongTime::Periodic { period, impacts, forcing: Some(n), figure: worst });
        }
    }
    None
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// The largest position, to compare with.
fn extent(motion: &Trajectory) -> f64 {
    motion.reach().max(1e-300)
}

/// The largest value of each first-order state.
fn levels(motion: &Trajectory) -> Vec<f64> {
    let states = motion.dimension() - motion.degrees();
    let largest = |i: usize| (0..motion.len()).fold(1e-300_f64, |m, k| m.max(motion.states(k)[i].abs()));
    (0..states).map(largest).collect()
}

/// How far apart first-order states are, each relative to its largest value.
fn off(a: &[f64], b: &[f64], largest: &[f64]) -> f64 {
    a.iter().zip(b).zip(largest).map(|((x, y), scale)| (x - y).abs() / scale).fold(0.0, f64::max)
}

/// How many periods of what depends on time are in `period`: the largest n for which forces and gaps repeat after period/n.
fn forcing_periods(problem: &Problem, period: f64, figure: f64) -> Option<usize> {
    let model = problem.model();
    if !model.depends_on_time() {
        return None;
    }
    let (mut dynamics, mut gaps) = (problem.dynamics(), problem.gaps());
    let mut repeats = |shift: f64| {
        let mut dice = Dice::new(5);
        (0..12).all(|_| {
            let t = dice.between(0.0, 3.0 * period);
            dynamics.evaluate(t, &model.q0, &model.v0);
            let before = dynamics.g.clone();
            dynamics.evaluate(t + shift, &model.q0, &model.v0);
            let scale = max_abs(&before).max(max_abs(&dynamics.g));
            let same = before.iter().zip(&dynamics.g).all(|(a, b)| (a - b).abs() <= 30.0 * figure * scale);
            gaps.evaluate(t, &model.q0, &model.v0);
            let before = gaps.values.clone();
            gaps.evaluate(t + shift, &model.q0, &model.v0);
            same && before
                .iter()
                .zip(&gaps.values)
                .all(|(a, b)| (a - b).abs() <= 30.0 * figure * (a.abs() + b.abs() + 1e-12))
        })
    };
    (1..=12).rev().find(|&n| repeats(period / n as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, model::Builder};

    #[test]
    fn what_drifts_slowly_is_not_at_rest() {
        // Slow beside its first velocity, and not far beside where it is: but it covers more way than before.
        let body = Builder::new("body").coordinate("x", 1e4, 1.0).kinetic("x'^2/2").force("x", "-10*(x' - 5e-4)");
        let body = body.build().expect("a model").problem().expect("compiles");
        let run = body.run(&Options::steps("mabrouk", 1e-2).every(20).until(2e3)).expect("runs");
        assert_eq!(run.status, Status::Finished);
        assert_eq!(long_time(&body, &run), LongTime::Neither);
    }
}
