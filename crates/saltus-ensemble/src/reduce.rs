//! From runs to outcomes: what is kept of a trajectory, slice by slice.

use crate::crossings::Crossings;
use crate::settled::Tracker;
use crate::statistics::Gatherer;
use crate::{Checks, Engine, Hit, Job, Outcome, Wanted};
use saltus::problem::{Gaps, Quantities};
use saltus::{PhaseKind, Problem, Run, Side, Start, Status, Trajectory};
use std::collections::VecDeque;

/// A trajectory in the making.
pub(crate) struct Reduction<'a> {
    problem: &'a Problem,
    job: &'a Job,
    wanted: &'a Wanted,
    gaps: Gaps,
    quantities: Option<Quantities>,
    gatherer: Gatherer,
    tracker: Option<Tracker>,
    hits: VecDeque<Hit>,
    sections: Crossings,
    /// The next instant of the stroboscope.
    next: u64,
    outcome: Outcome,
    breaches: Vec<String>,
}

impl<'a> Reduction<'a> {
    /// Nothing yet; a start that is not admissible is refused.
    pub fn new(problem: &'a Problem, job: &'a Job, wanted: &'a Wanted) -> Result<Self, String> {
        let instance = problem.instance(&job.start).map_err(|e| e.message)?;
        let model = problem.model();
        Ok(Reduction {
            problem,
            job,
            wanted,
            gaps: instance.gaps(),
            quantities: instance.quantities().filter(|_| !wanted.statistics.is_empty()),
            gatherer: Gatherer::new(&wanted.statistics),
            tracker: wanted.settled.then(|| Tracker::new(model.degrees(), model.dimension())),
            hits: VecDeque::new(),
            sections: Crossings::new(wanted),
            next: 0,
            outcome: match wanted.scheme {
                Some(_) => Outcome { engine: Engine::Steps, ..Outcome::of(job) },
                None => Outcome::of(job),
            },
            breaches: Vec::new(),
        })
    }

    /// Adds a slice of the run; whether it ends there, with its last return to a section.
    pub fn add(&mut self, run: &Run) -> bool {
        let motion = &run.trajectory;
        let end = self.sections.last_return(motion.events.iter().filter(|e| e.t >= self.job.from));
        let to = end.map_or(f64::INFINITY, |end| end.t);
        self.impacts_and_strobe(motion, to);
        if let Some(quantities) = &mut self.quantities
            && motion.span().is_some_and(|(_, last)| last > self.job.from)
        {
            self.gatherer.add(motion, quantities, self.job.from, to);
        }
        if self.wanted.sections {
            for event in motion.events.iter().filter(|e| e.t >= self.job.from && e.t <= to) {
                self.sections.push(event.event, event.t, &event.q, &event.v);
                if let Some(tracker) = self.tracker.as_mut().filter(|_| event.event == 0) {
                    tracker.back(event.t, &event.q, &event.v, self.outcome.impacts);
                }
            }
        }
        self.outcome.accumulations +=
            run.timeline.of(PhaseKind::Chatter).filter(|p| p.end >= self.job.from && p.end <= to).count() as u64;
        let checks = &mut self.outcome.checks;
        // What is not a number is the worst there is.
        let worst = |a: f64, b: f64| if !(b <= a) { b } else { a };
        checks.violation = worst(checks.violation, run.audit.max_violation);
        checks.law = worst(checks.law, run.audit.worst_law_residual);
        checks.balance = worst(checks.balance, run.ledger.balance.relative());
        self.breaches.extend(run.ledger.complaints());
        let last = run.last();
        (self.outcome.t, self.outcome.q, self.outcome.v) = match end {
            Some(end) => (end.t, end.q.clone(), end.v.clone()),
            None => (last.t, last.q.clone(), last.v.clone()),
        };
        end.is_some()
    }

    /// Impacts in their order up to a time, with the states at the stroboscope between them.
    fn impacts_and_strobe(&mut self, motion: &Trajectory, to: f64) {
        let Some((first, last)) = motion.span() else { return };
        let (last, count) = (last.min(to), motion.impacts.iter().take_while(|impact| impact.t <= to).count());
        let mut impact = 0;
        let mut cursor = motion.cursor(Side::Right);
        let d = motion.dimension();
        let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
        let rounding = 8.0 * f64::EPSILON * first.abs().max(last.abs());
        while let Some(t) = self.job.instant(self.next).filter(|t| *t <= last + rounding) {
            while impact < count && motion.impacts.get(impact).t <= t {
                self.impact(motion, impact);
                impact += 1;
            }
            if cursor.read(stored(motion, t, rounding), &mut q, &mut v).is_ok() {
                if self.wanted.strobe {
                    self.outcome.strobe.push(t);
                    self.outcome.strobe.extend(q.iter().chain(&v));
                }
                if let Some(tracker) = &mut self.tracker {
                    tracker.strobe(t, &q, &v, self.outcome.impacts);
                }
            }
            self.next += 1;
        }
        (impact..count).for_each(|k| self.impact(motion, k));
        if let Some(tracker) = &mut self.tracker {
            tracker.saw(motion.fastest());
            let mut times: Vec<f64> = motion.pieces.starts().iter().chain(&motion.t).copied().collect();
            times.retain(|t| *t >= self.job.from && *t <= to);
            times.sort_by(f64::total_cmp);
            times.dedup();
            // Beside the starts of pieces their middles: a velocity may vanish at an instant.
            let middles = times.windows(2).flat_map(|pair| [pair[0], 0.5 * (pair[0] + pair[1])]);
            for t in middles.chain(times.last().copied()) {
                if cursor.read(t, &mut q, &mut v).is_ok() {
                    tracker.pass(t, &q, &v);
                }
            }
        }
    }

    fn impact(&mut self, motion: &Trajectory, k: usize) {
        let impact = motion.impacts.get(k);
        if impact.t < self.job.from {
            return;
        }
        self.outcome.impacts += 1;
        if self.wanted.impacts == 0 && self.tracker.is_none() {
            return;
        }
        self.gaps.kinematics(impact.t, impact.q, impact.v_before);
        for (&a, &impulse) in impact.constraints.iter().zip(impact.impulses) {
            let speed = -self.gaps.rate(a, impact.v_before);
            let hit = Hit { t: impact.t, constraint: a as u32, speed, impulse };
            if let Some(tracker) = &mut self.tracker {
                tracker.hit(hit);
            }
            if self.wanted.impacts > 0 {
                if self.hits.len() >= self.wanted.impacts {
                    self.hits.pop_front();
                }
                self.hits.push_back(hit);
            }
        }
    }

    /// The outcome of everything added.
    pub fn finish(self, status: Result<Status, String>) -> Outcome {
        let mut outcome = self.outcome;
        outcome.status = match status {
            Ok(Status::Finished) if !self.breaches.is_empty() => Ok(Status::Breached { breaches: self.breaches }),
            other => other,
        };
        outcome.checks.is_breached = matches!(outcome.status, Ok(Status::Breached { .. }));
        let is_whole = matches!(outcome.status, Ok(Status::Finished));
        // (What has no statistics may well have settled.)
        let complaints = self.gatherer.complaints(self.problem.model(), self.wanted);
        outcome.status = outcome.status.map(|status| with_breaches(status, complaints));
        outcome.hits = self.hits.into();
        outcome.returns = self.sections.returns;
        outcome.sections = self.sections.finish();
        outcome.statistics = self.gatherer.finish();
        let end = Start::new(outcome.t, outcome.q.clone(), outcome.v.clone());
        let end = end.with_parameters(self.job.start.parameters.clone());
        outcome.settled = self.tracker.map(|tracker| match is_whole {
            true => tracker.settled_in(&|advance| self.problem.repeats_after(&end, advance)),
            false => crate::Settled::Neither,
        });
        outcome
    }
}

impl Outcome {
    /// Of a job of which nothing has been computed.
    pub fn of(job: &Job) -> Self {
        Outcome {
            status: Ok(Status::Finished),
            t: job.start.t,
            q: job.start.q.clone(),
            v: job.start.v.clone(),
            impacts: 0,
            accumulations: 0,
            strobe: Vec::new(),
            sections: Vec::new(),
            returns: 0,
            hits: Vec::new(),
            statistics: Vec::new(),
            settled: None,
            checks: Checks::default(),
            engine: Engine::Scalar,
        }
    }

    /// Of a job that cannot start, with the reason.
    pub fn refused(job: &Job, reason: String) -> Self {
        Outcome { status: Err(reason), ..Outcome::of(job) }
    }
}

/// A status with more breaches. What failed stays so.
pub(crate) fn with_breaches(status: Status, more: impl Iterator<Item = String>) -> Status {
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

/// A stored instant that a time is but for rounding, or that time. (A node of a scheme at which an impact is made has the velocity after it; a
/// moment before, there is the one before.)
fn stored(motion: &Trajectory, t: f64, rounding: f64) -> f64 {
    let next = motion.t.partition_point(|&s| s < t - rounding);
    motion.t.get(next).copied().filter(|s| *s <= t + rounding).unwrap_or(t)
}
