//! The steps of a scheme in lanes, where flight is linear and gaps are: moreau-jean, mabrouk and paoli-schatzman.
//!
//! A free step is a constant matrix ([`rule`]), some of them are one leap ([`leap`]), the same plain loops for all lanes ([`pace`]). Where a
//! constraint may act, and near a stop, a lane walks alone, step by step ([`walker`]): its leaps are its own, so that no number depends on its neighbours.
//! Impacts are found as in a run of the scheme ([`landing`]; with several constraints by the `ImpactFinder` of a run).
//! What is not plain (two constraints that act in one step, contact at the start, instants of the stroboscope between nodes) is left
//! to a run of the scheme itself, from the start.
//!
//! At each stop the equation of the scheme is checked, with harmonics that are computed anew.

mod landing;
mod leap;
mod node;
mod pace;
mod rule;
mod verdict;
mod walker;

pub use self::landing::STILL;
use self::leap::LEAP;
use self::pace::Pace;
pub use self::rule::{Kind, Rule, needs_gaps};
pub use self::verdict::Residuals;
use self::walker::Walker;
pub use self::walker::{CLOSED, INTERVALS, NEAR};
use super::code::LaneCode;
use super::linear::LinearCode;
use crate::{Job, Outcome, Scalar, Wanted, Worker};
use saltus::Problem;
use saltus::scheme::{self, Scheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many leaps at once at most: what is asked to stop does not wait long.
const LONGEST: u64 = 1 << 11;

/// Runs trajectories by the steps of a scheme, W at a time.
pub struct StepWorker<const W: usize = 16> {
    problem: Problem,
    stop: Arc<AtomicBool>,
    kind: Kind,
    scheme: Scheme,
    code: Arc<LinearCode>,
    pace: Pace<W>,
    walkers: Vec<Option<Walker>>,
    /// The leaps of the pace so far.
    clock: u64,
    lanes: [Seen; W],
}

/// The clock when a walker was last seen, and when it has to be seen again. (It may have made steps of its own in between.)
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    last: u64,
    due: u64,
}

impl<const W: usize> StepWorker<W> {
    /// A worker; None if lanes cannot make these steps, or keep what is wanted.
    pub fn new(problem: &Problem, wanted: &Wanted, stop: &Arc<AtomicBool>) -> Option<Self> {
        let (kind, scheme) = kind_of(wanted.scheme.as_deref()?)?;
        let is_simple = !wanted.sections && wanted.statistics.is_empty() && wanted.settings.given().next().is_none();
        let model = problem.model();
        if !is_simple || model.degrees() < model.dimension() {
            return None;
        }
        let code = LaneCode::new(problem).ok()?.linear?;
        let pace = Pace::new(&code, needs_gaps(kind, &code), wanted.settled);
        let walkers = (0..W).map(|_| None).collect();
        Some(StepWorker {
            problem: problem.clone(),
            stop: stop.clone(),
            kind,
            scheme,
            code,
            pace,
            walkers,
            clock: 0,
            lanes: [Seen::default(); W],
        })
    }

    /// Gives a lane a trajectory; false if it is one for a run of the scheme.
    fn load(&mut self, l: usize, number: usize, job: &Job, wanted: &Wanted) -> bool {
        let begun = Walker::begin(number, job, wanted, self.kind, &self.scheme, &self.code, &self.problem);
        let Some((walker, z)) = begun else { return false };
        self.pace.load(l, &walker.leap, walker.phases());
        self.pace.put(l, &z);
        self.pace.forget(l);
        self.walkers[l] = Some(walker);
        self.watch(l);
        true
    }

    /// Notes when the walker of lane l has to be seen again.
    fn watch(&mut self, l: usize) {
        if let Some(walker) = &self.walkers[l] {
            self.lanes[l] = Seen { last: self.clock, due: self.clock + walker.leaps_left() };
        }
    }

    /// A lane in which a constraint may act, or that is about to reach a stop.
    fn attend(&mut self, l: usize, jobs: &[Job], wanted: &Wanted) -> Attended {
        let Some(walker) = &mut self.walkers[l] else { return Attended::GoesOn };
        walker.n += LEAP as u64 * (self.clock - self.lanes[l].last);
        let mut z = self.pace.column(l);
        let seen = self.pace.seen(l);
        let attended = walker.attend(&mut z, (&seen.0, seen.1), &jobs[walker.number], wanted);
        if matches!(attended, Attended::GoesOn) {
            if walker.has_stopped() {
                self.pace.forget(l);
            }
            self.pace.put(l, &z);
            self.watch(l);
        }
        attended
    }
}

/// What became of a lane.
enum Attended {
    GoesOn,
    /// It cannot be computed here.
    Refused,
    Done(Box<Outcome>),
}

impl<const W: usize> Worker for StepWorker<W> {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        let mut outcomes: Vec<Option<Outcome>> = vec![None; jobs.len()];
        let scalar = Scalar::new(&self.problem, &self.stop);
        let mut next = 0;
        self.walkers.iter_mut().for_each(|walker| *walker = None);
        (0..W).for_each(|l| self.pace.clear(l));
        loop {
            for l in 0..W {
                while self.walkers[l].is_none() && next < jobs.len() {
                    if !self.load(l, next, &jobs[next], wanted) {
                        outcomes[next] = scalar.one(&jobs[next], wanted).map(Outcome::again);
                    }
                    next += 1;
                }
            }
            let active = (0..W).filter(|&l| self.walkers[l].is_some());
            let Some(due) = active.map(|l| self.lanes[l].due).min() else { break };
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let (made, ahead) = self.pace.run((due - self.clock).min(LONGEST) as usize);
            self.clock += made as u64;
            for l in 0..W {
                let Some(number) = self.walkers[l].as_ref().map(|walker| walker.number) else { continue };
                if !(ahead[l] <= 0.0 || self.lanes[l].due == self.clock) {
                    continue;
                }
                outcomes[number] = match self.attend(l, jobs, wanted) {
                    Attended::GoesOn => continue,
                    Attended::Refused => scalar.one(&jobs[number], wanted).map(Outcome::again),
                    Attended::Done(outcome) => Some(*outcome),
                };
                self.walkers[l] = None;
                self.pace.clear(l);
            }
        }
        outcomes.into_iter().map_while(|outcome| outcome).collect()
    }
}

fn dot(row: &[f64], z: &[f64]) -> f64 {
    row.iter().zip(z).map(|(w, z)| w * z).sum()
}

/// A scheme whose steps lanes can make, by its name.
pub fn kind_of(name: &str) -> Option<(Kind, Scheme)> {
    let scheme = scheme::find(name).ok()?;
    Some((Kind::named(scheme.name)?, scheme))
}
