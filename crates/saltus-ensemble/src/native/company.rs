//! A GPU, and the processor's lanes beside it: for what is too little for a GPU, for a worker without memory on it, and for what is left
//! when it fails.

use super::iterate::{Fault, Iterate};
use super::worker::CompiledWorker;
use crate::lanes::plain_worker;
use crate::{Job, Outcome, Wanted, Worker};
use saltus::Problem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What has been computed where, all workers of a GPU together.
#[derive(Debug, Default)]
pub struct Account {
    on_gpu: AtomicU64,
    in_lanes: AtomicU64,
    failure: Mutex<Option<String>>,
}

/// Trajectories, or parts of them, by what computed them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// On the GPU.
    pub on_gpu: u64,
    /// In lanes of the processor.
    pub in_lanes: u64,
}

impl Account {
    pub fn shares(&self) -> Shares {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Shares { on_gpu: read(&self.on_gpu), in_lanes: read(&self.in_lanes) }
    }

    /// Why the GPU failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().map_or(None, |failure| failure.clone())
    }

    /// It has failed. (The first reason is that of the others.)
    pub fn fail(&self, why: String) {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(why);
        }
    }
}

/// What its workers have in common.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub account: Arc<Account>,
    /// Fewer trajectories together than these are computed in lanes.
    pub few: usize,
    /// Whether lanes go on where the GPU fails. Else everything stops.
    pub falls_back: bool,
}

/// See the module.
pub struct Company<I> {
    /// None: the GPU is left to others.
    gpu: Option<CompiledWorker<I>>,
    lanes: Option<Box<dyn Worker>>,
    problem: Problem,
    terms: Terms,
    stop: Arc<AtomicBool>,
}

impl<I: Iterate> Company<I> {
    pub fn new(gpu: CompiledWorker<I>, terms: &Terms) -> Self {
        let (problem, stop) = (gpu.hand.problem.clone(), gpu.hand.stop.clone());
        Company { gpu: Some(gpu), lanes: None, problem, terms: terms.clone(), stop }
    }

    fn in_lanes(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        let lanes = self.lanes.get_or_insert_with(|| plain_worker(&self.problem, wanted, &self.stop));
        let outcomes = lanes.run(jobs, wanted);
        self.terms.account.in_lanes.fetch_add(outcomes.len() as u64, Ordering::Relaxed);
        outcomes
    }
}

impl<I: Iterate> Worker for Company<I> {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        let Terms { account, few, falls_back } = self.terms.clone();
        let is_lost = account.failure().is_some();
        if is_lost && !falls_back {
            return Vec::new();
        }
        let Some(gpu) = self.gpu.as_mut().filter(|_| jobs.len() >= few.max(1) && !is_lost) else {
            return self.in_lanes(jobs, wanted);
        };
        let (mut outcomes, ended) = gpu.attempt(jobs, wanted);
        let done = outcomes.iter().flatten().count() as u64;
        account.on_gpu.fetch_add(done, Ordering::Relaxed);
        if let Err(fault) = ended {
            self.gpu = None;
            let is_left_to_others = matches!(&fault, Fault::NoRoom { is_shared: true, .. });
            if !is_left_to_others {
                account.fail(fault.why());
            }
            if is_left_to_others || falls_back {
                let left: Vec<usize> = (0..jobs.len()).filter(|&k| outcomes[k].is_none()).collect();
                let again: Vec<Job> = left.iter().map(|&k| jobs[k].clone()).collect();
                let made = self.in_lanes(&again, wanted);
                left.into_iter().zip(made).for_each(|(k, outcome)| outcomes[k] = Some(outcome));
            } else {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        // Where it was stopped: those up to the first that is missing.
        outcomes.into_iter().map_while(|outcome| outcome).collect()
    }
}
