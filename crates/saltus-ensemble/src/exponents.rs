//! Lyapunov exponents of many motions in compiled code.
//!
//! What is computed is what [`saltus::analysis::lyapunov`] computes for one motion: a transient, multipliers where the motion repeats itself,
//! else a mean over blocks and its error. Motions run in compiled code, and so do perturbations along them; orbits are closed by the
//! analysis itself, which also computes from their start all motions that compiled code does not decide.

use crate::native::{Journey, Native, NoNative, Spent, Travel, Travelled};
use crate::{Job, Outcome, Wanted, Worker};
use saltus::analysis::{Lyapunov, LyapunovOptions, NoExponents, Returns, lyapunov, repeating_exponents};
use saltus::problem::Reached;
use saltus::{Options, Problem, Start, Status};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Means over this many parts of the time make the error.
const PARTS: usize = 20;

/// A motion that begins on a constraint is followed for so many blocks, at most, until it has left it.
const BLOCKS: u32 = 8;

/// A gap below this part of the coordinates is closed.
const CLOSED: f64 = 1e-12;

/// A model in compiled code, with and without perturbations.
#[derive(Clone, Debug)]
pub struct Exponents {
    problem: Problem,
    plain: Native,
    varied: Native,
    /// The relative tolerance of the motion.
    pub tolerance: f64,
}

/// What computed the exponents of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Compiled code.
    Compiled,
    /// Compiled code as far as the motion goes: it repeats itself, and its orbit was closed.
    Closed,
    /// The event engine, from the start on.
    Scalar,
}

/// The exponents of a motion, or why there are none, and what computed them.
pub type Found = (Result<Lyapunov, NoExponents>, Way);

/// A motion: where it starts, and over which part of it exponents are means.
pub type Motion = (Start, LyapunovOptions);

/// A motion of a chunk: its number, and where its transient ends.
struct Settled {
    k: usize,
    at: Start,
}

impl Exponents {
    /// Perturbations for a model in compiled code.
    ///
    /// # Errors
    /// See [`Native::compile`].
    pub fn new(problem: &Problem, native: &Native, tolerance: f64) -> Result<Self, NoNative> {
        // (Should a GPU fail, the event engine computes what is left.)
        let varied = native.with_tangents(problem)?.or_lanes();
        Ok(Exponents { problem: problem.clone(), plain: native.clone().or_lanes(), varied, tolerance })
    }

    /// The name of the GPU, if it is code for one.
    #[must_use]
    pub fn gpu(&self) -> Option<&str> {
        self.plain.gpu()
    }

    /// What the GPU has taken so far; None if it is code for the processor.
    #[must_use]
    pub fn spent(&self) -> Option<Spent> {
        let (plain, varied) = (self.plain.spent()?, self.varied.spent()?);
        Some(Spent {
            seconds: plain.seconds + varied.seconds,
            longest: plain.longest.max(varied.longest),
            launches: plain.launches + varied.launches,
        })
    }

    /// Why the GPU failed, if it has. What it had not computed by then was computed on the processor.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.varied.failure().or_else(|| self.plain.failure())
    }

    /// The products of perturbations along a motion that begins at once: for each interval what the logarithms of the lengths have grown by,
    /// column by column, and the columns at the end. None where compiled code does not decide.
    #[must_use]
    pub fn growth(&self, start: &Start, interval: f64, count: usize) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
        let journey = Journey { start: start.clone(), from: start.t, interval, count };
        let found = self.varied.traveller(self.tolerance).run(&self.problem, &[journey], &AtomicBool::new(false));
        let travelled = found.into_iter().next()??;
        let difference = |pair: &[Vec<f64>]| pair[1].iter().zip(&pair[0]).map(|(b, a)| b - a).collect();
        Some((travelled.logs.windows(2).map(difference).collect(), travelled.frame))
    }

    /// The exponents of many motions, on some threads; `deliver` gets each of them, by its number, in any order. Where `stop` is set, some
    /// are missing.
    pub fn run(
        &self,
        motions: &[Motion],
        threads: usize,
        stop: &Arc<AtomicBool>,
        deliver: &(dyn Fn(usize, Found) + Sync),
    ) {
        let threads = threads.clamp(1, motions.len().max(1));
        // A GPU takes all at once, and threads do what is left; else each thread takes some.
        let (outer, inner) = if self.gpu().is_some() { (1, threads) } else { (threads, 1) };
        let travellers: Vec<Box<dyn Travel>> = (0..outer).map(|_| self.varied.traveller(self.tolerance)).collect();
        let width = travellers.first().map_or(1, |t| t.width());
        let chunk = (motions.len() / (4 * outer)).clamp(width, 16 * width);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for mut traveller in travellers {
                let (next, this) = (&next, &self);
                scope.spawn(move || {
                    let mut worker = this.plain.worker(&this.problem, this.tolerance, stop);
                    loop {
                        let first = next.fetch_add(chunk, Ordering::SeqCst);
                        if first >= motions.len() || stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let some = first..(first + chunk).min(motions.len());
                        let mut chunk = Chunk { this, motions, threads: inner, stop, deliver, worker: &mut *worker };
                        chunk.run(some.collect(), &mut *traveller);
                    }
                });
            }
        });
    }
}

/// Motions that are computed together.
struct Chunk<'a> {
    this: &'a Exponents,
    motions: &'a [Motion],
    threads: usize,
    stop: &'a Arc<AtomicBool>,
    deliver: &'a (dyn Fn(usize, Found) + Sync),
    worker: &'a mut dyn Worker,
}

impl Chunk<'_> {
    fn run(&mut self, all: Vec<usize>, traveller: &mut dyn Travel) {
        let (usable, odd): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&k| self.motions[k].1.count().is_ok());
        // The transient, and on as long as it may take the motion to come back.
        let starts = self.side_by_side(usable, |k| {
            let (start, left) = set_off(&self.this.problem, &self.motions[k]);
            (k, start, left)
        });
        let (settled, back, lost) = self.follow(starts);
        self.by_events(&odd);
        self.by_events(&lost);
        let mut open = settled;
        open.extend(self.close(back));
        let journeys: Vec<Journey> = open.iter().filter_map(|settled| self.journey(settled)).collect();
        let travelled = traveller.run(&self.this.problem, &journeys, self.stop);
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        // A motion may have settled only now.
        let mut made: HashMap<usize, (Start, Travelled)> = HashMap::new();
        let (mut undecided, mut ends) = (Vec::new(), Vec::new());
        for (settled, found) in open.iter().zip(travelled) {
            match found.and_then(|found| Some((found.end.clone()?, found))) {
                Some((end, found)) => {
                    ends.push((settled.k, end, 0.0));
                    made.insert(settled.k, (settled.at.clone(), found));
                }
                None => undecided.push(settled.k),
            }
        }
        self.by_events(&undecided);
        let (settled, back, lost) = self.follow(ends);
        self.by_events(&lost);
        let mut rest = settled;
        rest.extend(self.close(back));
        for Settled { k, .. } in rest {
            if let Some((begin, found)) = made.get(&k) {
                (self.deliver)(k, (mean(&self.motions[k].1, begin, found), Way::Compiled));
            }
        }
    }

    /// Follows motions over a time and then for as long as it may take them to come back: those that do not, those that come near (each with
    /// its state after the time), and those that compiled code cannot follow.
    fn follow(&mut self, starts: Vec<(usize, Start, f64)>) -> (Vec<Settled>, Vec<Settled>, Vec<usize>) {
        let problem = &self.this.problem;
        let (mut away, mut back, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        let jobs: Vec<Job> = starts
            .iter()
            .map(|(k, start, lasts)| {
                let (from, block) = (start.t + lasts, self.motions[*k].1.block);
                let end = from + block * Returns::to(problem, start).most as f64;
                Job { start: start.clone(), from, end, strobe: Some(block), step: None }
            })
            .collect();
        let wanted = Arc::new(Wanted { tolerance: self.this.tolerance, strobe: true, ..Wanted::default() });
        let outcomes = self.worker.run(&jobs, &wanted);
        if outcomes.len() < jobs.len() {
            return (away, back, lost);
        }
        for ((job, outcome), (k, ..)) in jobs.iter().zip(outcomes).zip(starts) {
            match states(job, &outcome) {
                Some(states) => {
                    let returns = Returns::to(problem, &states[0]);
                    let comes_back = states[1..].iter().any(|at| returns.is_near(problem, at));
                    let at = states.into_iter().next().map(|at| touching(problem, at));
                    if comes_back { &mut back } else { &mut away }.extend(at.map(|at| Settled { k, at }));
                }
                None => lost.push(k),
            }
        }
        (away, back, lost)
    }

    /// Delivers those that repeat themselves; gives back the others.
    fn close(&self, near: Vec<Settled>) -> Vec<Settled> {
        let found = self.side_by_side(near, |Settled { k, at }| {
            match repeating_exponents(&self.this.problem, &at, &self.motions[k].1) {
                Ok(None) => return Some(Settled { k, at }),
                Ok(Some(found)) => (self.deliver)(k, (Ok(found), Way::Closed)),
                Err(why) => (self.deliver)(k, (Err(why), Way::Closed)),
            }
            None
        });
        found.into_iter().flatten().collect()
    }

    /// Computes motions by the event engine from their starts.
    fn by_events(&self, some: &[usize]) {
        self.side_by_side(some.to_vec(), |k| {
            let (start, options) = &self.motions[k];
            let found = lyapunov(&self.this.problem, start, options, &mut |_| !self.stop.load(Ordering::Relaxed));
            if !matches!(found, Err(NoExponents::Interrupted)) {
                (self.deliver)(k, (found, Way::Scalar));
            }
        });
    }

    fn side_by_side<T: Send, R: Send>(&self, items: Vec<T>, act: impl Fn(T) -> R + Sync) -> Vec<R> {
        let (threads, count) = (self.threads.min(items.len()), items.len());
        let (todo, done) = (Mutex::new(items.into_iter()), Mutex::new(Vec::with_capacity(count)));
        let work = || loop {
            let item = todo.lock().ok().and_then(|mut todo| todo.next());
            let Some(item) = item.filter(|_| !self.stop.load(Ordering::Relaxed)) else { return };
            let result = act(item);
            if let Ok(mut done) = done.lock() {
                done.push(result);
            }
        };
        match threads {
            0 | 1 => work(),
            _ => std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work)))),
        }
        done.into_inner().unwrap_or_default()
    }

    fn journey(&self, settled: &Settled) -> Option<Journey> {
        let options = &self.motions[settled.k].1;
        let (blocks, warm) = (options.count().ok()?, options.warm_up().ok()?);
        // Parts of the mean, where they are whole numbers of blocks.
        let every = if blocks % PARTS == 0 { blocks / PARTS } else { 1 };
        let from = settled.at.t + warm as f64 * options.block;
        let (interval, count) = (every as f64 * options.block, blocks / every);
        Some(Journey { start: settled.at.clone(), from, interval, count })
    }
}

/// Means and errors from what the columns have grown by.
fn mean(options: &LyapunovOptions, begin: &Start, found: &Travelled) -> Result<Lyapunov, NoExponents> {
    let column = |c: usize| {
        let grown = || found.logs.windows(2).map(|pair| pair[1][c] - pair[0][c]).collect();
        (!found.gone[c]).then(grown)
    };
    let columns: Vec<Option<Vec<f64>>> = (0..found.gone.len()).map(column).collect();
    let mean = Lyapunov::from_growth(options, &columns, found.impacts as usize).map_err(NoExponents::Setup)?;
    Ok(found.end.iter().fold(mean, |mean, end| mean.with_growth(begin, end)))
}

/// The states at the stroboscope; None if the motion did not come to its end, as sound as it should be.
fn states(job: &Job, outcome: &Outcome) -> Option<Vec<Start>> {
    let d = job.start.q.len();
    let state = |x: &[f64]| {
        Start::new(x[0], x[1..=d].to_vec(), x[1 + d..].to_vec()).with_parameters(job.start.parameters.clone())
    };
    let states: Vec<Start> = outcome.strobe.chunks_exact(1 + 2 * d).map(state).collect();
    (matches!(outcome.status, Ok(Status::Finished)) && states.len() > 1).then_some(states)
}

/// Where a motion is once it has left the constraints that it begins on, and what is left of its transient: compiled code does not begin
/// there.
fn set_off(problem: &Problem, (start, options): &Motion) -> (Start, f64) {
    let (mut at, end) = (start.clone(), start.t + options.transient);
    for k in 1..=BLOCKS {
        let is_free = touching(problem, at.clone()).closed().is_none_or(<[usize]>::is_empty);
        let until = start.t + f64::from(k) * options.block;
        if is_free || until > end {
            break;
        }
        match problem.run_from(&at, &Options::events(until).tolerance(options.tolerance)) {
            Ok(run) if run.status.is_complete() => at = run.last().clone(),
            // (What is wrong with it is said where it is computed from its start.)
            _ => return (start.clone(), options.transient),
        }
        at.t = until;
    }
    let left = end - at.t;
    (at, left)
}

/// A state with the gaps that are closed there, to the accuracy of the state.
fn touching(problem: &Problem, at: Start) -> Start {
    let Ok(instance) = problem.instance(&at) else { return at };
    let mut gaps = instance.gaps();
    gaps.evaluate(at.t, &at.q, &at.v);
    let size = at.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
    let closed: Vec<usize> = (0..gaps.values.len()).filter(|&a| gaps.values[a] <= CLOSED * size).collect();
    if closed.is_empty() { at } else { at.reached(Reached { closed, ..Reached::default() }) }
}
