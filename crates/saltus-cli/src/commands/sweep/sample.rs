//! A few trajectories of a family, to see what all of them cost.

use saltus_ensemble::{Block, Job, Native, Sweep, workers};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Which trajectories are measured, and how.
pub struct Sample<'a> {
    pub sweep: &'a Sweep,
    /// The points among which they are.
    pub ranges: &'a [Range<u64>],
    /// Trajectories, at most,
    pub most: u64,
    /// so many at a time,
    pub together: u64,
    /// by compiled code if there is any, else in lanes,
    pub native: Option<&'a Native>,
    /// and until so much time is over.
    pub patience: Duration,
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// How many trajectories, those included that are refused.
    pub count: u64,
    pub refused: u64,
    /// Seconds of one thread, the parts of the trajectories (all the same where there is no reason for others) and the time of their motions.
    pub seconds: f64,
    pub share: f64,
    pub time: f64,
}

impl Sample<'_> {
    /// How many points there are.
    pub fn total(&self) -> u64 {
        self.ranges.iter().map(|r| r.end - r.start).sum()
    }

    /// How many are measured at most.
    pub fn count(&self) -> u64 {
        self.total().min(self.most)
    }

    /// Point `k` of the sample. (Spread over all of them, and not in a row: the ends of a range are rarely typical.)
    fn point(&self, k: u64) -> u64 {
        let (count, total) = (u128::from(self.count()), u128::from(self.total()));
        let mut rest = ((2 * (u128::from(k) * 37 % count) + 1) * total / (2 * count)) as u64;
        for range in self.ranges {
            let length = range.end - range.start;
            if rest < length {
                return range.start + rest;
            }
            rest -= length;
        }
        0
    }

    /// Runs them, each for the part of its time that `part` says; `look` sees what became of each.
    pub fn measure(&self, part: &dyn Fn(&Job) -> f64, look: &mut dyn FnMut(Block)) -> Measured {
        let stop = Arc::new(AtomicBool::new(false));
        let mut worker = workers(self.sweep.family.problem(), &self.sweep.wanted, self.native, &stop);
        let (mut maker, count) = (self.sweep.family.maker(), self.count());
        let (started, mut next) = (Instant::now(), 0);
        let (mut begun, mut refused) = (0, 0);
        let (mut share, mut time) = (1.0_f64, 0.0);
        while next < count && started.elapsed() <= self.patience {
            // (Side by side, as they will be.)
            let group = next..count.min(next + self.together);
            next = group.end;
            let made = group.map(|k| (self.point(k), maker.job(self.point(k), None)));
            let made = made.filter(|(_, made)| made.refusal.is_none()).map(|(point, made)| (point, made.job));
            let (points, mut jobs): (Vec<u64>, Vec<Job>) = made.unzip();
            for job in &mut jobs {
                let (short, lasts) = (part(job), job.end - job.start.t);
                if short < 1.0 {
                    (job.end, job.from) = (job.start.t + short * lasts, job.start.t + short * (job.from - job.start.t));
                    share = share.min(short);
                }
            }
            let outcomes = worker.run(&jobs, &self.sweep.wanted);
            begun += outcomes.len() as u64;
            for ((&first, job), outcome) in points.iter().zip(jobs.chunks(1)).zip(outcomes.chunks(1)) {
                let block = Block { first, jobs: job, outcomes: outcome };
                refused += u64::from(outcome[0].status.is_err());
                time += block.time();
                look(block);
            }
        }
        Measured { count: next, refused: refused + next - begun, seconds: started.elapsed().as_secs_f64(), share, time }
    }
}
