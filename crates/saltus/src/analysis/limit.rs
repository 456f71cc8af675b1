//! Where a long run ends up: at rest, on a periodic orbit, or neither so far ([B] on limit sets).

use super::Dice;
use crate::linalg::max_abs;
use crate::{Problem, Run, RunOptions, Side, Status};

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

/// Impacts in a period that are looked for.
const LONGEST: usize = 24;

/// What a run settled on.
pub fn long_time(problem: &Problem, options: &RunOptions, run: &Run) -> LongTime {
    let motion = &run.trajectory;
    if motion.len() < 2 || !matches!(run.status, Status::Finished) {
        return LongTime::Neither;
    }
    let by_events = options.scheme.stepping().is_none();
    let fastest = motion.velocities(Side::Left).fold(0.0_f64, |m, v| m.max(v.abs()));
    // Rest: no velocity at the last instants, over a tenth of the run at least.
    let quiet = if by_events { 1e-9 } else { 1e-3 } * fastest;
    let still = (0..motion.len()).rev().take_while(|&k| max_abs(motion.v(k, Side::Right)) <= quiet).count();
    let last = motion.len() - 1;
    // A run that was to stop at rest, and stopped.
    let stopped = options.until_rest && motion.t[last] < options.end * (1.0 - 1e-12);
    if fastest == 0.0
        || stopped
        || (still > 0 && motion.t[last] - motion.t[motion.len() - still] >= 0.02 * motion.t[last])
    {
        let q = motion.q(last).to_vec();
        let mut gaps = problem.gaps();
        gaps.linearise(motion.t[last], &q);
        let slack = |a: usize| gaps.rounding(a, &q) + if by_events { 1e-9 } else { 10.0 * run.step * fastest };
        let closed = (0..gaps.values.len()).filter(|&a| gaps.values[a] <= slack(a)).collect();
        let since = motion.t[motion.len() - still.max(1)];
        // Chatter tells the end of the bounces better than the next stored instant.
        let near = |t: &f64| (t - since).abs() <= 1e-3 * motion.t[last];
        let chatter = run.timeline.of(crate::PhaseKind::Chatter).last().map(|p| p.end).filter(near);
        return LongTime::Rest { since: chatter.unwrap_or(since), q, closed };
    }
    periodic(problem, run, if by_events { 1e-6 } else { 2e-2 }).unwrap_or(LongTime::Neither)
}

/// The shortest pattern of impacts that the last ones repeat three times.
fn periodic(problem: &Problem, run: &Run, figure: f64) -> Option<LongTime> {
    let impacts = &run.trajectory.impacts;
    let n = impacts.len();
    for p in 1..=LONGEST.min(n / 4) {
        let mut worst = 0.0_f64;
        let period = impacts.get(n - 1).t - impacts.get(n - 1 - p).t;
        let same = (n - 3 * p..n).all(|k| {
            let (a, b) = (impacts.get(k), impacts.get(k - p));
            let speed = max_abs(a.v_before).max(max_abs(b.v_before)).max(1e-300);
            let off = a.v_before.iter().zip(b.v_before).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / speed;
            worst = worst.max(off).max(((a.t - b.t) / period - 1.0).abs());
            a.constraints == b.constraints
        });
        if same && worst <= figure && period > 0.0 {
            let forcing = forcing_periods(problem, period, figure);
            return Some(LongTime::Periodic { period, impacts: p, forcing, figure: worst });
        }
    }
    None
}

/// How many periods of what depends on time are in `period`: the largest n for which forces and gaps repeat after period/n.
fn forcing_periods(problem: &Problem, period: f64, figure: f64) -> Option<usize> {
    let model = problem.model();
    let timed = |node| model.graph.depends_on(node, model.t);
    let depends = model.force.iter().any(|&g| timed(g)) || model.constraints.iter().any(|c| timed(c.gap));
    if !depends {
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
            gaps.evaluate(t, &model.q0);
            let before = gaps.values.clone();
            gaps.evaluate(t + shift, &model.q0);
            same && before
                .iter()
                .zip(&gaps.values)
                .all(|(a, b)| (a - b).abs() <= 30.0 * figure * (a.abs() + b.abs() + 1e-12))
        })
    };
    (1..=12).rev().find(|&n| repeats(period / n as f64))
}
