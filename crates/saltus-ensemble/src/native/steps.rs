//! Trajectories by the steps of a scheme in compiled code: what is different from events.

use super::iterate::Iterate;
use super::rows::{self, Group};
use super::source::signal;
use super::worker::CompiledWorker;
use crate::lanes::{Hand, march};
use crate::{Job, Outcome, Scalar, StepWorker, Wanted, Worker};
use saltus::scheme::Scheme;
use saltus::{Options, Start};
use std::sync::Arc;

/// The steps of a worker.
pub struct Steps {
    scheme: Scheme,
    /// Jobs that compiled code cannot decide: lanes, or runs of the scheme, make them from the start.
    pub left: Vec<usize>,
}

impl Steps {
    pub fn new(scheme: Scheme) -> Self {
        Steps { scheme, left: Vec::new() }
    }

    /// The last node of a trajectory, and the step; None if it is one for a run.
    pub fn division(&self, job: &Job) -> Option<(u64, f64)> {
        let is_free = job.start.reached_by().is_none_or(|by| !by.within_impact);
        Options::steps(self.scheme, job.step?).until(job.end).division(job.start.t).ok().filter(|_| is_free)
    }

    /// Makes what was left.
    pub fn run_left(&mut self, hand: &Hand, jobs: &[Job], wanted: &Arc<Wanted>, outcomes: &mut [Option<Outcome>]) {
        self.left.sort_unstable();
        let left = std::mem::take(&mut self.left);
        let own: Vec<Job> = left.iter().map(|&k| jobs[k].clone()).collect();
        let made = match StepWorker::<16>::new(&hand.problem, wanted, &hand.stop) {
            Some(mut lanes) => lanes.run(&own, wanted),
            None => Scalar::new(&hand.problem, &hand.stop).run(&own, wanted),
        };
        left.iter().zip(made).for_each(|(&k, outcome)| outcomes[k] = Some(outcome.again()));
    }
}

impl<I: Iterate> CompiledWorker<I> {
    /// What a lane that makes steps signals.
    pub fn answer_steps(&mut self, l: usize, said: f64, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        self.set(rows::ACTIVE, l, 0.0);
        let job = self.lanes[l].job;
        let tally = std::mem::take(&mut self.lanes[l].tally);
        if said != signal::DONE {
            self.steps.iter_mut().for_each(|steps| steps.left.push(job));
            return None;
        }
        let residuals = march::Residuals {
            violation: self.get(rows::VIOLATION, l),
            law: self.get(rows::LAW, l),
            equation: self.get(rows::RESIDUAL, l),
        };
        let (h, speed) = (self.get(rows::LAST, l), self.get(rows::WIDEST, l));
        let (q, v) = (self.all(Group::Q, l), self.all(Group::V, l));
        let end = Start::new(self.get(rows::T, l), q, v).with_parameters(self.all(Group::Parameters, l));
        Some(residuals.judge(tally, (h, speed), &self.hand.problem, end, (&jobs[job], wanted)))
    }
}
