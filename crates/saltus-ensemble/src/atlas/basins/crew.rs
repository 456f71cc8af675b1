//! Many short pieces of trajectories, on all cores.

use crate::carry::landed;
use crate::points::Slot;
use crate::{FEW, Family, Job, Native, Outcome, Wanted, Worker, workers};
use saltus::Start;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Tracks that a worker is given together, at most (but for a GPU, which takes many more) and at least.
const TOGETHER: (usize, usize) = (1024, 16);

/// A trajectory that is followed.
#[derive(Clone, Debug, Default)]
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

/// Tracks that are to be followed.
pub enum Tracks<'t> {
    /// Those of these starts.
    Starts(&'t [u32]),
    /// These.
    Begun(Vec<Track>),
}

impl<'t> Tracks<'t> {
    pub fn len(&self) -> usize {
        match self {
            Tracks::Starts(points) => points.len(),
            Tracks::Begun(tracks) => tracks.len(),
        }
    }

    /// The same, some at a time.
    fn split(self, together: usize) -> Vec<Tracks<'t>> {
        match self {
            Tracks::Starts(points) => points.chunks(together).map(Tracks::Starts).collect(),
            Tracks::Begun(tracks) => {
                let blocks = 0..tracks.len().div_ceil(together);
                let mut tracks = tracks.into_iter();
                blocks.map(|_| Tracks::Begun(tracks.by_ref().take(together).collect())).collect()
            }
        }
    }
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
    /// Periods for which tracks were followed.
    followed: AtomicU64,
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
        // (The few that take long to show what they are, and single ones, are done in lanes: a GPU is for the many.)
        let few = FEW.min(family.len() as usize / 16);
        let native = native.map(|native| native.clone().with_few(few));
        let one = |_| {
            let worker = workers(family.problem(), &wanted, native.as_ref(), stop);
            Mutex::new(Member { worker, jobs: Vec::new() })
        };
        let members = (0..threads.max(1)).map(one).collect();
        let many = native.as_ref().and_then(Native::together);
        Crew {
            family,
            template,
            unit,
            wanted: Arc::new(wanted),
            members,
            many,
            stop: stop.clone(),
            followed: AtomicU64::new(0),
        }
    }

    /// Periods for which tracks were followed so far, all together.
    pub fn periods(&self) -> u64 {
        self.followed.load(Ordering::Relaxed)
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

    /// Tracks that have begun.
    pub fn begun(&self, tracks: Tracks) -> Vec<Track> {
        match tracks {
            Tracks::Starts(points) => self.tracks(points),
            Tracks::Begun(tracks) => tracks,
        }
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
        let tracks = Tracks::Begun(tracks.to_vec());
        let made = self.digest(tracks, &[piece], &|_, outcome, _| Break(outcome), &mut |_| ());
        made.unwrap_or_default().into_iter().filter_map(ControlFlow::break_value).collect()
    }

    /// How many tracks a worker is given together.
    fn together(&self, tracks: usize) -> usize {
        match self.many {
            // (Few large blocks: each is a launch of its own.)
            Some(many) => tracks.div_ceil(self.members.len()).clamp(TOGETHER.1, many),
            None => (tracks / (4 * self.members.len())).clamp(TOGETHER.1, TOGETHER.0),
        }
    }

    /// Follows tracks for one piece after the other until a digest of what was kept ends them; what it made of each, or the track
    /// that has come to the end of the pieces, in their order. None if it was stopped.
    ///
    /// A thread follows the tracks it was given through all pieces: it does not wait for the others. `watch` is told now and then how
    /// many have ended.
    pub fn digest<T: Send>(
        &self,
        tracks: Tracks,
        pieces: &[Piece],
        digest: &(dyn Fn(Track, Outcome, Piece) -> ControlFlow<T, Track> + Sync),
        watch: &mut dyn FnMut(usize),
    ) -> Option<Vec<ControlFlow<T, Track>>> {
        let together = self.together(tracks.len());
        let blocks: Vec<_> =
            tracks.split(together).into_iter().map(|tracks| Mutex::new((tracks, Vec::new()))).collect();
        let (next, left, ended) = (AtomicUsize::new(0), AtomicUsize::new(blocks.len()), AtomicUsize::new(0));
        let work = |member: &Mutex<Member>, watch: &mut dyn FnMut(usize)| {
            let Ok(mut member) = member.lock() else { return };
            while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Ok(mut block) = block.lock() else { return };
                let tracks = std::mem::replace(&mut block.0, Tracks::Starts(&[]));
                block.1 = self.begun(tracks).into_iter().map(Continue).collect();
                for &piece in pieces {
                    if !self.advance(&mut member, &mut block.1, piece, digest) || self.stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
                left.fetch_sub(1, Ordering::Relaxed);
                let more = block.1.iter().filter(|state| state.is_break()).count();
                watch(ended.fetch_add(more, Ordering::Relaxed) + more);
            }
        };
        let (first, others) = self.members.split_first()?;
        std::thread::scope(|scope| {
            for member in others.iter().take(blocks.len().saturating_sub(1)) {
                let work = &work;
                scope.spawn(move || work(member, &mut |_| ()));
            }
            work(first, watch);
        });
        if left.into_inner() > 0 {
            return None;
        }
        Some(blocks.into_iter().flat_map(|block| block.into_inner().map(|block| block.1).unwrap_or_default()).collect())
    }

    /// Follows the tracks of a block that have not ended for one more piece; false if it was stopped.
    fn advance<T>(
        &self,
        member: &mut Member,
        block: &mut [ControlFlow<T, Track>],
        piece: Piece,
        digest: &dyn Fn(Track, Outcome, Piece) -> ControlFlow<T, Track>,
    ) -> bool {
        let (mut places, mut tracks) = (Vec::new(), Vec::new());
        for (place, state) in block.iter_mut().enumerate() {
            if let Continue(track) = state {
                places.push(place);
                tracks.push(std::mem::take(track));
            }
        }
        if tracks.is_empty() {
            return true;
        }
        let outcomes = self.outcomes(member, &tracks, piece);
        let whole = outcomes.len() == tracks.len();
        for ((place, track), outcome) in places.into_iter().zip(tracks).zip(outcomes) {
            block[place] = digest(track, outcome, piece);
        }
        whole
    }

    /// What is kept of a piece of some tracks. Fewer if it was stopped.
    fn outcomes(&self, member: &mut Member, tracks: &[Track], piece: Piece) -> Vec<Outcome> {
        let Member { worker, jobs } = member;
        jobs.resize_with(tracks.len(), Job::nothing);
        tracks.iter().zip(&mut *jobs).for_each(|(track, job)| self.write_job(track, piece, job));
        let mut outcomes = worker.run(jobs, &self.wanted);
        self.followed.fetch_add(piece.periods * outcomes.len() as u64, Ordering::Relaxed);
        // (What a person starts with is refused as it is.)
        for ((track, job), outcome) in tracks.iter().zip(jobs).zip(&mut outcomes) {
            if outcome.status.is_ok() || track.periods == 0 {
                continue;
            }
            let again = landed(self.family.problem(), &job.start, 0.0, false).map(|start| Job { start, ..job.clone() });
            if let Some(other) = again.and_then(|job| worker.run(&[job], &self.wanted).pop()) {
                *outcome = other;
            }
        }
        outcomes
    }
}
