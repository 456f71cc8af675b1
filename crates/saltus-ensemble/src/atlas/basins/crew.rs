//! Many short pieces of trajectories, on all cores.

use crate::points::Slot;
use crate::{Family, Job, Native, Outcome, Wanted, Worker, workers};
use saltus::problem::Reached;
use saltus::{Kind, Problem, Start};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Pieces that a worker is given together, at most (but for a GPU, which takes more) and at least.
const TOGETHER: (usize, usize) = (128, 16);

/// A trajectory that is followed.
#[derive(Clone, Debug)]
pub struct Track {
    /// The number of the start.
    pub point: u32,
    /// Where it is.
    pub q: Vec<f64>,
    /// See `q`.
    pub v: Vec<f64>,
    /// For how many periods it has been followed.
    pub periods: u64,
    /// The largest component of its state after each piece, relative to the extent of all motions.
    pub sizes: Vec<f64>,
}

/// A piece that is to be computed: so many periods, of which the last are kept.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub periods: u64,
    pub kept: u64,
}

/// Workers for one family.
pub struct Crew<'a> {
    family: &'a Family,
    /// The job of a start, but for where it starts: nothing else varies.
    template: Job,
    /// The unit of time: the period, or, where nothing has one, a part of the time given.
    pub unit: f64,
    /// What is kept of a piece.
    pub wanted: Arc<Wanted>,
    workers: Vec<Mutex<Box<dyn Worker>>>,
    /// Pieces that a worker is given together, at most.
    most: usize,
    stop: Arc<AtomicBool>,
}

impl<'a> Crew<'a> {
    pub fn new(
        family: &'a Family,
        native: Option<&Native>,
        parts: u64,
        wanted: Wanted,
        threads: usize,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let template = family.maker().job(0, None).job;
        let unit = template.strobe.unwrap_or((template.end - template.start.t) / parts as f64);
        let one = |_| Mutex::new(workers(family.problem(), &wanted, native, stop));
        let workers = (0..threads.max(1)).map(one).collect();
        let most = native.and_then(Native::together).unwrap_or(TOGETHER.0);
        Crew { family, template, unit, wanted: Arc::new(wanted), workers, most, stop: stop.clone() }
    }

    /// The start of a point, as a track.
    pub fn track(&self, point: u32) -> Track {
        let (mut q, mut v) = (self.template.start.q.clone(), self.template.start.v.clone());
        for (&slot, value) in self.family.slots().iter().zip(self.family.values(u64::from(point))) {
            match slot {
                Slot::Position(i) => q[i] = value,
                Slot::Velocity(i) => v[i] = value,
                Slot::Parameter(_) => {}
            }
        }
        Track { point, q, v, periods: 0, sizes: Vec::new() }
    }

    /// The start of all points, but for where they start.
    pub fn start(&self) -> &Start {
        &self.template.start
    }

    /// The job of a piece: it begins at the phase of the start, where every piece ends.
    fn job(&self, track: &Track, piece: Piece) -> Job {
        let Start { t, parameters, .. } = &self.template.start;
        Job {
            start: Start::new(*t, track.q.clone(), track.v.clone()).with_parameters(parameters.clone()),
            end: t + piece.periods as f64 * self.unit,
            from: t + (piece.periods - piece.kept) as f64 * self.unit,
            strobe: self.template.strobe,
            step: None,
        }
    }

    /// The states of a track at some phases of one period.
    pub fn phases(&self, track: &Track, count: u64) -> Vec<f64> {
        let mut job = self.job(track, Piece { periods: 1, kept: 1 });
        job.strobe = Some((job.end - job.start.t) / count as f64);
        let wanted = Arc::new(Wanted { strobe: true, tolerance: self.wanted.tolerance, ..Wanted::default() });
        let Some(Ok(mut worker)) = self.workers.first().map(|w| w.lock()) else { return Vec::new() };
        worker.run(&[job], &wanted).pop().map_or_else(Vec::new, |outcome| outcome.strobe)
    }

    /// Follows all tracks for a piece each; what was kept of them, in their order. Fewer if it was stopped.
    pub fn follow(&self, tracks: &[Track], piece: Piece) -> Vec<Outcome> {
        let next = AtomicUsize::new(0);
        let together = (tracks.len() / (4 * self.workers.len())).clamp(TOGETHER.1, self.most);
        let blocks: Vec<Mutex<Vec<Outcome>>> =
            (0..tracks.len().div_ceil(together)).map(|_| Mutex::new(Vec::new())).collect();
        let work = |worker: &Mutex<Box<dyn Worker>>| {
            let Ok(mut worker) = worker.lock() else { return };
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let Some(block) = blocks.get(k) else { return };
                let part = &tracks[k * together..((k + 1) * together).min(tracks.len())];
                let jobs: Vec<Job> = part.iter().map(|t| self.job(t, piece)).collect();
                let mut outcomes = worker.run(&jobs, &self.wanted);
                // (What a person starts with is refused as it is.)
                for ((track, job), outcome) in part.iter().zip(jobs).zip(&mut outcomes) {
                    if outcome.status.is_ok() || track.periods == 0 {
                        continue;
                    }
                    let again = landed(self.family.problem(), &job.start).map(|start| Job { start, ..job });
                    if let Some(other) = again.and_then(|job| worker.run(&[job], &self.wanted).pop()) {
                        *outcome = other;
                    }
                }
                if let Ok(mut block) = block.lock() {
                    *block = outcomes;
                }
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        match self.workers.as_slice() {
            [one] => work(one),
            all => {
                let work = &work;
                std::thread::scope(|scope| {
                    for worker in all {
                        scope.spawn(move || work(worker));
                    }
                });
            }
        }
        let mut outcomes = Vec::with_capacity(tracks.len());
        for (k, block) in blocks.into_iter().enumerate() {
            let block = block.into_inner().unwrap_or_default();
            let expected = together.min(tracks.len() - k * together);
            let is_whole = block.len() == expected;
            outcomes.extend(block);
            if !is_whole {
                break;
            }
        }
        outcomes
    }
}

/// A state that a piece ended with in contact, outside by no more than its last digits: with the constraints that are closed there.
fn landed(problem: &Problem, start: &Start) -> Option<Start> {
    const ROUNDING: f64 = 1e-9;
    let Err(error) = problem.instance(start) else { return None };
    let Kind::Inadmissible { gap, .. } = error.kind() else { return None };
    let size = start.q.iter().fold(1.0_f64, |m, q| m.max(q.abs()));
    if !(gap.abs() <= ROUNDING * size) {
        return None;
    }
    let mut gaps = problem.gaps();
    gaps.evaluate(start.t, &start.q, &start.v);
    let closed = (0..problem.constraints()).filter(|&a| gaps.values[a].abs() <= ROUNDING * size).collect();
    Some(start.clone().reached(Reached { closed, ..Reached::default() }))
}
