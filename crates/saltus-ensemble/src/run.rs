//! All trajectories of a family, on all cores, in order.
//!
//! Points are handed to workers in blocks. The thread that computed a block makes what is needed of it; this comes back in the order of the
//! blocks. No number depends on how large they are, or on how many threads there are.

use crate::{Engine, FEW, Family, Job, Native, Outcome, State, Wanted, Worker, workers};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// What is run, and how.
pub struct Plan<'a> {
    /// The family.
    pub family: &'a Family,
    /// What is kept.
    pub wanted: Arc<Wanted>,
    /// Compiled code, where trajectories are to be run by it.
    pub native: Option<Native>,
    /// How many threads.
    pub threads: usize,
    /// Ends everything early, once set.
    pub stop: Arc<AtomicBool>,
}

/// How far a family is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Trajectories computed in this run.
    pub done: u64,
    /// Trajectories to compute in this run.
    pub total: u64,
    /// Those of which the event engine computed a part, or all.
    pub scalar: u64,
    /// Impacts, all together.
    pub impacts: u64,
    /// The time of all motions, in the model's unit.
    pub time: f64,
    /// Seconds so far.
    pub seconds: f64,
}

/// Trajectories next to each other.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    /// The number of the first.
    pub first: u64,
    /// Their jobs.
    pub jobs: &'b [Job],
    /// What became of each.
    pub outcomes: &'b [Outcome],
}

impl Block<'_> {
    /// The time of its motions, in the model's unit.
    #[must_use]
    pub fn time(&self) -> f64 {
        let lasts =
            |(job, outcome): (&Job, &Outcome)| if outcome.status.is_ok() { outcome.t - job.start.t } else { 0.0 };
        self.jobs.iter().zip(self.outcomes).map(lasts).filter(|time| time.is_finite()).sum()
    }

    /// The same without the trajectories before a number.
    #[must_use]
    pub fn since(self, number: u64) -> Self {
        let known = number.saturating_sub(self.first).min(self.outcomes.len() as u64);
        Block {
            first: self.first + known,
            jobs: &self.jobs[known as usize..],
            outcomes: &self.outcomes[known as usize..],
        }
    }
}

/// What is made of a block, by the thread that computed it.
pub type Digest<'d, T> = &'d (dyn Fn(Block) -> T + Sync);

/// Takes what was made of blocks, in their order; an error ends everything.
pub type Deliver<'d, T, E> = &'d mut dyn FnMut(T) -> Result<(), E>;

/// What was made of a block, and what is counted in it.
struct Digested<T> {
    made: T,
    done: u64,
    scalar: u64,
    impacts: u64,
    time: f64,
}

impl<T> Digested<T> {
    fn new(block: Block, digest: Digest<T>) -> Self {
        let (mut scalar, mut impacts) = (0, 0);
        for o in block.outcomes {
            scalar += u64::from(!matches!(o.engine, Engine::Lanes | Engine::Steps) && o.status.is_ok());
            impacts += o.impacts;
        }
        Digested { done: block.outcomes.len() as u64, scalar, impacts, time: block.time(), made: digest(block) }
    }
}

/// A numbered block, digested.
type Sent<T> = (u64, Digested<T>);

impl Plan<'_> {
    /// Runs the points of some ranges, in ascending order. Returns whether all were run: false if it was stopped.
    pub fn run<T: Send, E>(
        &self,
        ranges: &[Range<u64>],
        digest: Digest<T>,
        deliver: Deliver<T, E>,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<bool, E> {
        let mut progress = Progress { total: ranges.iter().map(|r| r.end - r.start).sum(), ..Progress::default() };
        let mut crew = self.crew(progress.total);
        self.blocks(ranges, progress.total, &|_| None, &mut crew, digest, deliver, &mut progress, watch)
    }

    /// Runs all points from `first` on, which begins a row, each from the state that its neighbour in the row before reached.
    /// `before` is that row: nothing where a row starts on its own, or a trajectory of it failed.
    pub fn carry<T: Send, E>(
        &self,
        first: u64,
        mut before: Vec<Option<State>>,
        digest: Digest<T>,
        deliver: Deliver<T, E>,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<bool, E> {
        let (row, total) = (self.family.points().row(), self.family.len());
        let mut progress = Progress { total: total - first, ..Progress::default() };
        let degrees = self.family.problem().model().degrees();
        let mut crew = self.crew(row);
        let both = |block: Block| {
            let states: Vec<Option<State>> = block.outcomes.iter().map(|o| reached(o, degrees)).collect();
            (states, digest(block))
        };
        for start in (first..total).step_by(row as usize) {
            let mut next = Vec::with_capacity(row as usize);
            let finished = {
                let before = &before;
                let from = |point: u64| before.get((point - start) as usize).and_then(Option::as_ref);
                let mut pass = |(states, made): (Vec<Option<State>>, T)| {
                    next.extend(states);
                    deliver(made)
                };
                self.blocks(
                    std::slice::from_ref(&(start..start + row)),
                    row,
                    &from,
                    &mut crew,
                    &both,
                    &mut pass,
                    &mut progress,
                    watch,
                )?
            };
            if !finished {
                return Ok(false);
            }
            before = next;
        }
        Ok(true)
    }

    /// As many workers as there are threads that have something to do.
    fn crew(&self, points: u64) -> Vec<Box<dyn Worker>> {
        let blocks = points.div_ceil(self.block_size(points)).max(1);
        let threads = (self.threads.max(1) as u64).min(blocks);
        (0..threads).map(|_| workers(self.family.problem(), &self.wanted, self.native.as_ref(), &self.stop)).collect()
    }

    /// Points in a block.
    fn block_size(&self, points: u64) -> u64 {
        match self.native.as_ref().and_then(Native::together) {
            Some(most) => large_block(points, self.threads, most),
            None => (points / 32).clamp(32, 1024),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn blocks<'b, T: Send, E>(
        &self,
        ranges: &[Range<u64>],
        total: u64,
        from: &(dyn Fn(u64) -> Option<&'b State> + Sync),
        crew: &mut [Box<dyn Worker>],
        digest: Digest<T>,
        deliver: Deliver<T, E>,
        progress: &mut Progress,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<bool, E> {
        let size = self.block_size(total);
        let cut = |range: &Range<u64>| {
            let end = range.end;
            range.clone().step_by(size as usize).map(move |at| at..(at + size).min(end))
        };
        // (Blocks of a GPU are large.)
        let ahead = crew.len() as u64 * if size > 1024 { 2 } else { 4 } + 8;
        let queue = Queue { ahead, ..Queue::default() };
        // (Blocks are counted, not listed: there may be very many.)
        let source = Mutex::new(ranges.iter().flat_map(cut).enumerate());
        let (send, receive) = sync_channel(2 * crew.len() + 2);
        let outcome = std::thread::scope(|scope| {
            for worker in crew.iter_mut() {
                let (send, queue, source) = (send.clone(), &queue, &source);
                scope.spawn(move || self.work(worker.as_mut(), source, queue, from, digest, &send));
            }
            drop(send);
            let outcome = self.collect(&receive, &queue, deliver, progress, watch);
            queue.close();
            // (Workers that wait to hand over what nobody takes any more are released.)
            drop(receive);
            outcome
        });
        Ok(outcome? && !self.stop.load(Ordering::Relaxed))
    }

    /// What a thread does.
    fn work<'b, T>(
        &self,
        worker: &mut dyn Worker,
        source: &Mutex<impl Iterator<Item = (usize, Range<u64>)>>,
        queue: &Queue,
        from: &(dyn Fn(u64) -> Option<&'b State> + Sync),
        digest: Digest<T>,
        send: &SyncSender<Sent<T>>,
    ) {
        let mut maker = self.family.maker();
        // (Each block is put in the place of the one before.)
        let mut jobs: Vec<Job> = Vec::new();
        loop {
            let next = source.lock().ok().and_then(|mut source| source.next());
            let Some((number, range)) = next.filter(|(number, _)| queue.admits(*number as u64, &self.stop)) else {
                return;
            };
            let (first, count) = (range.start, (range.end - range.start) as usize);
            jobs.resize_with(count, Job::nothing);
            let mut refusals = Vec::new();
            for (point, job) in range.zip(&mut jobs) {
                if let Some(reason) = maker.write(point, from(point), job) {
                    refusals.push(((point - first) as usize, reason));
                }
            }
            let outcomes = self.outcomes(worker, &jobs, refusals);
            // (Of a block that was stopped, what comes first.)
            let is_stopped = outcomes.len() < count;
            let block = Block { first, jobs: &jobs[..outcomes.len()], outcomes: &outcomes };
            if send.send((number as u64, Digested::new(block, digest))).is_err() || is_stopped {
                return;
            }
        }
    }

    /// The outcomes of jobs, of which some are refused, by their places in the list. Fewer if it was stopped.
    fn outcomes(&self, worker: &mut dyn Worker, jobs: &[Job], refusals: Vec<(usize, String)>) -> Vec<Outcome> {
        if refusals.is_empty() {
            return worker.run(jobs, &self.wanted);
        }
        let mut refusals = refusals.into_iter().peekable();
        let places: Vec<usize> = refusals.clone().map(|(place, _)| place).collect();
        let accepted = |k: &usize| places.binary_search(k).is_err();
        let admitted: Vec<Job> = (0..jobs.len()).filter(accepted).map(|k| jobs[k].clone()).collect();
        let mut run = worker.run(&admitted, &self.wanted).into_iter();
        let outcome = |(k, job): (usize, &Job)| match refusals.next_if(|(place, _)| *place == k) {
            Some((_, reason)) => Some(Outcome::refused(job, reason)),
            None => run.next(),
        };
        jobs.iter().enumerate().map_while(outcome).collect()
    }

    /// Passes blocks on in their order.
    fn collect<T, E>(
        &self,
        receive: &Receiver<Sent<T>>,
        queue: &Queue,
        deliver: Deliver<T, E>,
        progress: &mut Progress,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<bool, E> {
        let (begun, before) = (Instant::now(), progress.seconds);
        let mut waiting: BTreeMap<u64, Digested<T>> = BTreeMap::new();
        let mut next = 0;
        let mut pass = |block: Digested<T>, progress: &mut Progress| {
            progress.done += block.done;
            progress.scalar += block.scalar;
            progress.impacts += block.impacts;
            progress.time += block.time;
            if block.done == 0 { Ok(()) } else { deliver(block.made) }
        };
        loop {
            match receive.recv_timeout(Duration::from_millis(50)) {
                Ok((number, block)) => {
                    waiting.insert(number, block);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Where it was stopped, what lies behind a gap is kept as well.
                    let is_whole = waiting.is_empty();
                    waiting.into_values().try_for_each(|block| pass(block, progress))?;
                    return Ok(is_whole);
                }
            }
            while let Some(block) = waiting.remove(&next) {
                next += 1;
                pass(block, progress)?;
                queue.delivered(next);
            }
            progress.seconds = before + begun.elapsed().as_secs_f64();
            watch(progress);
        }
    }
}

/// Points in a block for a GPU. Blocks of all threads are on it at the same time: together they are all points, or as many as the threads take,
/// in so many rounds. (Small ones cost more than they give.)
fn large_block(points: u64, threads: usize, most: usize) -> u64 {
    let (threads, most) = (threads.max(1) as u64, most.max(1) as u64);
    let rounds = points.div_ceil(threads * most).max(1);
    points.div_ceil(threads * rounds).clamp(most.min(FEW as u64), most)
}

/// The state at the end of a trajectory from which a neighbour can go on.
fn reached(outcome: &Outcome, degrees: usize) -> Option<State> {
    let is_whole = outcome.status.as_ref().is_ok_and(saltus::Status::is_complete);
    let mut q = outcome.q.clone();
    // (The positions of first-order states mean nothing, and are not stored.)
    q[degrees..].fill(0.0);
    is_whole.then(|| State { q, v: outcome.v.clone(), depth: outcome.checks.violation })
}

/// Keeps threads from running far ahead of what has been delivered, so that memory does not grow.
#[derive(Default)]
struct Queue {
    ahead: u64,
    delivered: AtomicU64,
    is_closed: AtomicBool,
    gate: Mutex<()>,
    moved: Condvar,
}

impl Queue {
    /// Waits until a block may begin; false if none may any more.
    fn admits(&self, number: u64, stop: &AtomicBool) -> bool {
        let Ok(mut gate) = self.gate.lock() else { return false };
        loop {
            if stop.load(Ordering::Relaxed) || self.is_closed.load(Ordering::SeqCst) {
                return false;
            }
            if number < self.delivered.load(Ordering::SeqCst) + self.ahead {
                return true;
            }
            match self.moved.wait_timeout(gate, Duration::from_millis(50)) {
                Ok((back, _)) => gate = back,
                Err(_) => return false,
            }
        }
    }

    fn delivered(&self, count: u64) {
        self.delivered.store(count, Ordering::SeqCst);
        self.moved.notify_all();
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::large_block;

    #[test]
    fn blocks_of_a_gpu_are_all_on_it_at_once() {
        // (threads, points) → points in a block, and blocks.
        for (threads, points, size) in [
            (16, 30_720, 1920),
            (2, 30_720, 15_360),
            (1, 30_720, 15_360),
            (4, 1000, 1024),
            (4, 0, 1024),
            (16, 2000, 1024),
            (16, 262_144, 16_384),
            (16, 262_145, 8193),
            (16, 1_000_000, 15_625),
        ] {
            assert_eq!(large_block(points, threads, 16_384), size, "{threads} threads, {points} points");
        }
        assert_eq!(large_block(100, 3, 8), 8);
        assert_eq!(large_block(1, 1, 0), 1);
    }
}
