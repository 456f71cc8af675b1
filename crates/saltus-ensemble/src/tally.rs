//! What is kept of a trajectory while it is computed.

use crate::crossings::Crossings;
use crate::meetings::Meetings;
use crate::settled::{Seen, Tracker};
use crate::statistics::Gatherer;
use crate::{Checks, Engine, Hit, Job, Outcome, Settled, Wanted};
use saltus::{Model, Start, Status};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub impacts: u64,
    pub accumulations: u64,
    hits: VecDeque<Hit>,
    strobe: Vec<f64>,
    pub sections: Crossings,
    pub checks: Checks,
    pub breaches: Vec<String>,
    /// Why there are no statistics, at the end.
    complaints: Vec<String>,
    /// Whether the event engine computed a part of it.
    pub by_events: bool,
    // (Most trajectories have neither: they are elsewhere, so that a tally is small.)
    pub tracker: Option<Box<Tracker>>,
    pub gatherer: Option<Box<Gatherer>>,
    /// The same before the last step.
    pub before: Option<Box<Gatherer>>,
    /// The number of the next instant of the stroboscope.
    pub next: u64,
}

impl Tally {
    pub fn new(model: &Model, wanted: &Wanted) -> Self {
        let tracker = wanted.settled.then(|| Box::new(Tracker::new(model.degrees(), model.dimension())));
        let gatherer =
            (!wanted.statistics.is_empty()).then(|| Box::new(Gatherer::new(&wanted.statistics, wanted.rough)));
        Tally { tracker, gatherer, sections: Crossings::new(wanted), ..Tally::default() }
    }

    /// Where the stroboscope looks next, or the end.
    pub fn stop(&self, job: &Job) -> f64 {
        // (An instant that is the end but for rounding is the end.)
        let is_end = |t: f64| t >= job.end - 16.0 * f64::EPSILON * job.end.abs();
        job.instant(self.next).filter(|&t| !is_end(t)).unwrap_or(job.end)
    }

    /// A state on the way; at a stop it is one of the stroboscope.
    pub fn pass(&mut self, job: &Job, wanted: &Wanted, t: f64, q: &[f64], v: &[f64]) {
        if t < job.from {
            return;
        }
        if let Some(tracker) = &mut self.tracker {
            tracker.pass(t, q, v);
        }
        if job.instant(self.next).is_some_and(|instant| t >= instant) {
            self.strobe(wanted, t, q, v);
        }
    }

    /// A speed on the way, kept or not.
    pub fn saw(&mut self, speed: f64) {
        if let Some(tracker) = &mut self.tracker {
            tracker.saw(speed);
        }
    }

    /// A stretch without events up to a state, and the largest of each component on it.
    pub fn glide(&mut self, t: f64, q: &[f64], v: &[f64], largest: &[f64]) {
        if let Some(tracker) = &mut self.tracker {
            tracker.widen(t, largest);
            tracker.pass(t, q, v);
        }
    }

    /// The state at the next instant of the stroboscope.
    pub fn strobe(&mut self, wanted: &Wanted, t: f64, q: &[f64], v: &[f64]) {
        self.next += 1;
        if wanted.strobe {
            self.strobe.push(t);
            self.strobe.extend(q);
            self.strobe.extend(v);
        }
        if let Some(tracker) = &mut self.tracker {
            tracker.strobe(t, q, v, self.impacts);
        }
    }

    /// Whether states on the way are of use.
    pub fn is_tracking(&self) -> bool {
        self.tracker.is_some()
    }

    /// What states on the way have left, where they are of use.
    pub fn seen(&self) -> Option<Seen<'_>> {
        self.tracker.as_deref().map(Tracker::seen)
    }

    /// Takes that back.
    pub fn see(&mut self, seen: &Seen) {
        if let Some(tracker) = &mut self.tracker {
            tracker.see(seen);
        }
    }

    /// An impact of one constraint.
    pub fn hit(&mut self, wanted: &Wanted, hit: Hit) {
        if let Some(tracker) = &mut self.tracker {
            tracker.hit(hit);
        }
        if wanted.impacts > 0 {
            if self.hits.len() == wanted.impacts {
                self.hits.pop_front();
            }
            self.hits.push_back(hit);
        }
    }

    /// A state at event k of the model.
    pub fn section(&mut self, k: usize, t: f64, q: &[f64], v: &[f64]) {
        if let Some(tracker) = self.tracker.as_mut().filter(|_| k == 0) {
            tracker.back(t, q, v, self.impacts);
        }
        self.sections.push(k, t, q, v);
    }

    /// Takes back states at sections after t.
    pub fn retract(&mut self, t: f64) {
        self.sections.retract(t);
        if let Some(tracker) = &mut self.tracker {
            tracker.retract(t);
        }
    }

    /// The last state on the way.
    pub fn arrive(&mut self, t: f64, q: &[f64], v: &[f64]) {
        if let Some(tracker) = &mut self.tracker {
            tracker.pass(t, q, v);
        }
    }

    /// Says why there are no statistics, where there are none.
    pub fn complain(&mut self, model: &Model, wanted: &Wanted) {
        let all = self.gatherer.iter().flat_map(|gatherer| gatherer.complaints(model, wanted));
        self.complaints = all.collect();
    }

    /// Where something is hit at an instant of the stroboscope, its state is the one after that.
    fn pass_impacts(&mut self, meetings: &mut Meetings, job: &Job, wanted: &Wanted) {
        let d = meetings.problem().dimension();
        let Some(mut meeting) = meetings.of(job, wanted.tolerance) else { return };
        for row in self.strobe.chunks_exact_mut(1 + 2 * d) {
            if let Some((v, _)) = meeting.after(row[0], &row[1..=d], &row[1 + d..]) {
                row[1 + d..].copy_from_slice(&v);
            }
        }
    }

    /// What it settled on. (Where states before an impact and after it are mixed, they seem not to repeat.)
    fn settled(&mut self, meetings: &mut Meetings, end: &Start, job: &Job, wanted: &Wanted) -> Option<Settled> {
        let tracker = self.tracker.as_deref_mut()?;
        let problem = meetings.problem().clone();
        let repeats = |advance: &[f64]| problem.repeats_after(end, advance);
        let found = tracker.settled_in(&repeats);
        if !matches!(found, Settled::Neither | Settled::Periodic { intervals: 2.., .. }) || wanted.scheme.is_some() {
            return Some(found);
        }
        let (Some(mut meeting), Some(interval)) = (meetings.of(job, wanted.tolerance), job.strobe) else {
            return Some(found);
        };
        let after = |t: f64, state: &[f64]| {
            let (q, v) = state.split_at(state.len() / 2);
            meeting.after(t, q, v)
        };
        Some(if tracker.pass_impacts(interval, after) { tracker.settled_in(&repeats) } else { found })
    }

    /// What is kept of it, at its end.
    pub fn outcome(
        mut self,
        meetings: &mut Meetings,
        status: Status,
        end: Start,
        job: &Job,
        wanted: &Wanted,
    ) -> Outcome {
        if wanted.strobe && wanted.scheme.is_none() {
            self.pass_impacts(meetings, job, wanted);
        }
        let status = with_breaches(status, std::mem::take(&mut self.breaches).into_iter());
        let mut checks = self.checks;
        checks.is_breached = matches!(status, Status::Breached { .. });
        // (What has no statistics may well have settled.)
        let is_whole = status == Status::Finished;
        let status = with_breaches(status, std::mem::take(&mut self.complaints).into_iter());
        let settled = match is_whole {
            true => self.settled(meetings, &end, job, wanted),
            false => self.tracker.as_ref().map(|_| Settled::Neither),
        };
        let Start { t, q, v, .. } = end;
        Outcome {
            status: Ok(status),
            t,
            q,
            v,
            impacts: self.impacts,
            accumulations: self.accumulations,
            strobe: self.strobe,
            returns: self.sections.returns,
            sections: self.sections.finish(),
            hits: self.hits.into(),
            statistics: self.gatherer.map_or_else(Vec::new, |gatherer| gatherer.finish()),
            settled,
            checks,
            engine: if self.by_events { Engine::Both } else { Engine::Lanes },
        }
    }
}

/// A status with more breaches. What failed stays so.
fn with_breaches(status: Status, more: impl Iterator<Item = String>) -> Status {
    let mut more = more.peekable();
    match status {
        Status::Finished if more.peek().is_some() => Status::Breached { breaches: more.collect() },
        Status::Breached { mut breaches } => {
            breaches.extend(more);
            Status::Breached { breaches }
        }
        other => other,
    }
}
