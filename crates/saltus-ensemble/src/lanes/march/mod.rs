//! The steps of a scheme in lanes, where flight is linear and gaps are: moreau-jean, mabrouk and paoli-schatzman.
//!
//! A free step is a constant matrix ([`rule`]), the same plain loops for all lanes ([`pace`]). Where a constraint acts, its lane is put
//! right by itself, and the node is shown to the [`ImpactFinder`] of a run, so that the impacts are those that a run of the scheme lists.
//! What is not plain (two constraints that act in one step, contact at the start, instants of the stroboscope between nodes) is left
//! to a run of the scheme itself, from the start.
//!
//! At each stop the equation of the scheme is checked, with harmonics that are computed anew.

mod pace;
mod rule;
mod walker;

use self::pace::Pace;
use self::rule::{Kind, Rule};
use self::walker::Walker;
use super::code::LaneCode;
use super::linear::LinearCode;
use crate::{Job, Outcome, Scalar, Wanted, Worker};
use saltus::Problem;
use saltus::scheme::{self, Scheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many steps at once at most: what is asked to stop does not wait long.
const LONGEST: u64 = 1 << 14;

/// Runs trajectories by the steps of a scheme, W at a time.
pub struct StepWorker<const W: usize = 16> {
    problem: Problem,
    stop: Arc<AtomicBool>,
    kind: Kind,
    scheme: Scheme,
    code: Arc<LinearCode>,
    pace: Pace<W>,
    walkers: Vec<Option<Walker>>,
    /// The steps of the pace so far.
    clock: u64,
    lanes: [Watched; W],
}

/// What has to be known of a lane after every step. (A walker is looked at only where something happens to it.)
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    /// The clock when the walker was last seen, and when it arrives; whether it has to be seen after every step.
    seen: u64,
    due: u64,
    always: bool,
}

impl<const W: usize> StepWorker<W> {
    /// A worker; None if lanes cannot make these steps, or keep what is wanted.
    pub fn new(problem: &Problem, wanted: &Wanted, stop: &Arc<AtomicBool>) -> Option<Self> {
        let scheme = scheme::find(wanted.scheme.as_deref()?).ok()?;
        let kind = Kind::named(scheme.name)?;
        let is_simple = !wanted.sections && wanted.statistics.is_empty();
        let model = problem.model();
        if !is_simple || model.degrees() < model.dimension() {
            return None;
        }
        let code = LaneCode::new(problem).ok()?.linear?;
        let pace = Pace::new(&code, &Rule::pattern(kind, &code)?, wanted.settled);
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
            lanes: [Watched::default(); W],
        })
    }

    /// Gives a lane a trajectory; false if it is one for a run of the scheme.
    fn load(&mut self, l: usize, number: usize, job: &Job, wanted: &Wanted) -> bool {
        let begun = Walker::begin(number, job, wanted, self.kind, &self.scheme, &self.code, &self.problem);
        let Some((walker, z)) = begun else { return false };
        self.pace.load(l, &walker.rule, &walker.linear, walker.h);
        self.pace.z.iter_mut().zip(z).for_each(|(lane, x)| lane.0[l] = x);
        self.forget(l);
        self.pace.goes.0[l] = 1.0;
        self.walkers[l] = Some(walker);
        self.watch(l);
        true
    }

    /// Notes when the walker of lane l has to be seen again.
    fn watch(&mut self, l: usize) {
        if let Some(walker) = &self.walkers[l] {
            let due = self.clock + walker.steps_left();
            self.lanes[l] = Watched { seen: self.clock, due, always: walker.is_watched() };
        }
    }

    fn forget(&mut self, l: usize) {
        self.pace.largest.iter_mut().for_each(|x| x.0[l] = 0.0);
        self.pace.least.0[l] = f64::INFINITY;
    }

    /// A lane after steps that end there: its contact, and what it has reached.
    fn attend(&mut self, l: usize, may_act: bool, job: &Job, wanted: &Wanted) -> Attended {
        let Some(walker) = &mut self.walkers[l] else { return Attended::GoesOn };
        if may_act || walker.is_watched() {
            let (before, mut now) = (self.pace.column(l, true), self.pace.column(l, false));
            if !walker.touch(&before, &mut now, job, wanted) {
                return Attended::Refused;
            }
            let d = self.code.d;
            (0..2 * d).for_each(|i| self.pace.z[i].0[l] = now[i]);
        }
        if !walker.has_arrived() {
            return Attended::GoesOn;
        }
        let (before, mut now) = (self.pace.column(l, true), self.pace.column(l, false));
        let mut largest = [0.0; super::linear::ROOM];
        largest.iter_mut().zip(&self.pace.largest).for_each(|(x, most)| *x = most.0[l]);
        let least = self.pace.least.0[l];
        let arrived = walker.arrive(&before, &mut now, (&largest, least), job, wanted);
        self.pace.z.iter_mut().zip(now).for_each(|(lane, x)| lane.0[l] = x);
        self.forget(l);
        arrived
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
        self.pace.goes = saltus_expr::Lane::all(0.0);
        loop {
            for l in 0..W {
                while self.walkers[l].is_none() && next < jobs.len() {
                    if !self.load(l, next, &jobs[next], wanted) {
                        outcomes[next] = scalar.one(&jobs[next], wanted);
                    }
                    next += 1;
                }
            }
            let active = (0..W).filter(|&l| self.pace.goes[l] > 0.0);
            let Some(due) = active.clone().map(|l| self.lanes[l].due).min() else { break };
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            // (Nodes that follow a contact are shown one by one.)
            let is_watched = active.clone().any(|l| self.lanes[l].always);
            let steps = if is_watched { 1 } else { (due - self.clock).min(LONGEST) };
            let (made, ahead) = self.pace.run(steps as usize);
            self.clock += made as u64;
            for l in 0..W {
                let Watched { seen, due, always } = self.lanes[l];
                if !(self.pace.goes[l] > 0.0 && (ahead[l] <= 0.0 || always || due == self.clock)) {
                    continue;
                }
                let Some(walker) = &mut self.walkers[l] else { continue };
                walker.n += self.clock - seen;
                let number = walker.number;
                let outcome = match self.attend(l, ahead[l] <= 0.0, &jobs[number], wanted) {
                    Attended::GoesOn => {
                        self.watch(l);
                        continue;
                    }
                    Attended::Refused => scalar.one(&jobs[number], wanted),
                    Attended::Done(outcome) => Some(*outcome),
                };
                outcomes[number] = outcome;
                self.walkers[l] = None;
                self.pace.goes.0[l] = 0.0;
            }
        }
        outcomes.into_iter().map_while(|outcome| outcome).collect()
    }
}
