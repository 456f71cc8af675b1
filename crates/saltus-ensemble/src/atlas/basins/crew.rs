//! Many short pieces of trajectories, on all cores.

use crate::points::Slot;
use crate::{Family, Job, Native, Outcome, Wanted, Worker, workers};
use saltus::problem::Reached;
use saltus::{Kind, Problem, Start};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Pieces that a worker is given together, at most (but for a GPU, which takes many more) and at least.
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
    members: Vec<Mutex<Member>>,
    /// Pieces that a worker of a GPU is given together, at most.
    many: Option<usize>,
    stop: Arc<AtomicBool>,
}

/// A worker, and the jobs that it was given last: others are put in their place.
struct Member {
    worker: Box<dyn Worker>,
    jobs: Vec<Job>,
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
        let one = |_| {
            let worker = workers(family.problem(), &wanted, native, stop);
            Mutex::new(Member { worker, jobs: Vec::new() })
        };
        let members = (0..threads.max(1)).map(one).collect();
        let many = native.and_then(Native::together);
        Crew { family, template, unit, wanted: Arc::new(wanted), members, many, stop: stop.clone() }
    }

    /// The starts of points, as tracks.
    pub fn tracks(&self, points: &[u32]) -> Vec<Track> {
        let mut values = Vec::new();
        let mut track = |&point: &u32| {
            let (mut q, mut v) = (self.template.start.q.clone(), self.template.start.v.clone());
            self.family.write_values(u64::from(point), &mut values);
            for (&slot, &value) in self.family.slots().iter().zip(&values) {
                match slot {
                    Slot::Position(i) => q[i] = value,
                    Slot::Velocity(i) => v[i] = value,
                    Slot::Parameter(_) => {}
                }
            }
            Track { point, q, v, periods: 0, sizes: Vec::new() }
        };
        points.iter().map(&mut track).collect()
    }

    /// The start of all points, but for where they start.
    pub fn start(&self) -> &Start {
        &self.template.start
    }

    /// Puts the job of a piece in the place of another: it begins at the phase of the start, where every piece ends.
    fn write_job(&self, track: &Track, piece: Piece, job: &mut Job) {
        let Start { t, parameters, .. } = &self.template.start;
        let start = &mut job.start;
        start.t = *t;
        start.q.clone_from(&track.q);
        start.v.clone_from(&track.v);
        start.parameters.clone_from(parameters);
        job.end = t + piece.periods as f64 * self.unit;
        job.from = t + (piece.periods - piece.kept) as f64 * self.unit;
        (job.strobe, job.step) = (self.template.strobe, None);
    }

    /// The states of a track at some phases of one period.
    pub fn phases(&self, track: &Track, count: u64) -> Vec<f64> {
        let mut job = Job::nothing();
        self.write_job(track, Piece { periods: 1, kept: 1 }, &mut job);
        job.strobe = Some((job.end - job.start.t) / count as f64);
        let wanted = Arc::new(Wanted { strobe: true, tolerance: self.wanted.tolerance, ..Wanted::default() });
        let Some(Ok(mut member)) = self.members.first().map(|w| w.lock()) else { return Vec::new() };
        member.worker.run(&[job], &wanted).pop().map_or_else(Vec::new, |outcome| outcome.strobe)
    }

    /// Follows all tracks for a piece each; what was kept of them, in their order. Nothing if it was stopped.
    pub fn follow(&self, tracks: &[Track], piece: Piece) -> Vec<Outcome> {
        self.digest(tracks.to_vec(), piece, &|_, outcome| outcome).unwrap_or_default()
    }

    /// How many tracks a worker is given together.
    fn together(&self, tracks: usize) -> usize {
        match self.many {
            // (Few large blocks: each is a launch of its own.)
            Some(many) => tracks.div_ceil(self.members.len()).clamp(TOGETHER.1, many),
            None => (tracks / (4 * self.members.len())).clamp(TOGETHER.1, TOGETHER.0),
        }
    }

    /// Follows all tracks for a piece each; what each thread makes of them and of what was kept, in their order. None if it was stopped.
    pub fn digest<T: Send>(
        &self,
        tracks: Vec<Track>,
        piece: Piece,
        digest: &(dyn Fn(Track, Outcome) -> T + Sync),
    ) -> Option<Vec<T>> {
        let (total, together) = (tracks.len(), self.together(tracks.len()));
        let mut tracks = tracks.into_iter();
        let blocks: Vec<Mutex<(Vec<Track>, Vec<T>)>> = (0..total.div_ceil(together))
            .map(|_| Mutex::new((tracks.by_ref().take(together).collect(), Vec::new())))
            .collect();
        let next = AtomicUsize::new(0);
        let work = |member: &Mutex<Member>| {
            let Ok(mut member) = member.lock() else { return };
            while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Ok(mut block) = block.lock() else { return };
                let tracks = std::mem::take(&mut block.0);
                let outcomes = self.outcomes(&mut member, &tracks, piece);
                block.1 = tracks.into_iter().zip(outcomes).map(|(track, outcome)| digest(track, outcome)).collect();
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        match self.members.as_slice() {
            [one, ..] if blocks.len() == 1 || self.members.len() == 1 => work(one),
            all => {
                let work = &work;
                std::thread::scope(|scope| {
                    for member in all.iter().take(blocks.len()) {
                        scope.spawn(move || work(member));
                    }
                });
            }
        }
        let mut made = Vec::with_capacity(total);
        blocks.into_iter().for_each(|block| made.extend(block.into_inner().unwrap_or_default().1));
        (made.len() == total).then_some(made)
    }

    /// What is kept of a piece of some tracks. Fewer if it was stopped.
    fn outcomes(&self, member: &mut Member, tracks: &[Track], piece: Piece) -> Vec<Outcome> {
        let Member { worker, jobs } = member;
        jobs.resize_with(tracks.len(), Job::nothing);
        tracks.iter().zip(&mut *jobs).for_each(|(track, job)| self.write_job(track, piece, job));
        let mut outcomes = worker.run(jobs, &self.wanted);
        // (What a person starts with is refused as it is.)
        for ((track, job), outcome) in tracks.iter().zip(jobs).zip(&mut outcomes) {
            if outcome.status.is_ok() || track.periods == 0 {
                continue;
            }
            let again = landed(self.family.problem(), &job.start).map(|start| Job { start, ..job.clone() });
            if let Some(other) = again.and_then(|job| worker.run(&[job], &self.wanted).pop()) {
                *outcome = other;
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
