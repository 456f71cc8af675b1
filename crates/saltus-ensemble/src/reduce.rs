//! From runs to tallies: what is kept of a trajectory, or of a part of it, that the event engine or a scheme has computed.

use crate::tally::Tally;
use crate::{Hit, Job, Wanted};
use saltus::motion::{Cursor, EventHit};
use saltus::problem::{Gaps, Quantities};
use saltus::{PhaseKind, Problem, Run, Side, Start, Trajectory};

/// Reads the runs of one trajectory, slice by slice.
pub(crate) struct Reader<'a> {
    problem: &'a Problem,
    job: &'a Job,
    wanted: &'a Wanted,
    /// Where they are of use.
    gaps: Option<Gaps>,
    quantities: Option<Quantities>,
}

/// What happens next.
enum Next {
    Impact,
    Instant(f64),
    Event,
    Nothing,
}

impl<'a> Reader<'a> {
    pub fn new(problem: &'a Problem, job: &'a Job, wanted: &'a Wanted) -> Self {
        Reader { problem, job, wanted, gaps: None, quantities: None }
    }

    /// Adds a run; where the trajectory ends, if it does so in it, with its last return to a section.
    pub fn add(&mut self, tally: &mut Tally, run: &Run) -> Option<Start> {
        let (motion, job) = (&run.trajectory, self.job);
        let events = motion.events.iter().filter(|e| e.t >= job.from);
        let events: Vec<&EventHit> = if self.wanted.sections { events.collect() } else { Vec::new() };
        let end = tally.sections.last_return(events.iter().copied());
        let to = end.map_or(f64::INFINITY, |end| end.t);
        let events = &events[..events.partition_point(|event| event.t <= to)];
        self.what_happens(tally, motion, events, to);
        self.statistics(tally, motion, to);
        let since = |p: &&saltus::Phase| p.end >= job.from && p.end <= to;
        tally.accumulations += run.timeline.of(PhaseKind::Chatter).filter(since).count() as u64;
        let checks = &mut tally.checks;
        // What is not a number is the worst there is.
        let worst = |a: f64, b: f64| if !(b <= a) { b } else { a };
        checks.violation = worst(checks.violation, run.audit.max_violation);
        checks.law = worst(checks.law, run.audit.worst_law_residual);
        checks.balance = worst(checks.balance, run.ledger.balance.unexplained());
        tally.breaches.extend(run.ledger.complaints());
        let parameters = || job.start.parameters.clone();
        end.map(|end| Start::new(end.t, end.q.clone(), end.v.clone()).with_parameters(parameters()))
    }

    /// Impacts, states at the stroboscope and at sections up to a time, in their order; an impact at the instant of a state is before it.
    fn what_happens(&mut self, tally: &mut Tally, motion: &Trajectory, events: &[&EventHit], to: f64) {
        let Some((first, last)) = motion.span() else { return };
        let (last, job) = (last.min(to), self.job);
        let count = motion.impacts.iter().take_while(|impact| impact.t <= to).count();
        let d = motion.dimension();
        let (mut cursor, mut q, mut v) = (motion.cursor(Side::Right), vec![0.0; d], vec![0.0; d]);
        let rounding = 16.0 * f64::EPSILON * first.abs().max(last.abs());
        let (mut impact, mut event) = (0, 0);
        loop {
            let instant = job.instant(tally.next).filter(|t| *t <= last + rounding);
            let state = match (instant, events.get(event)) {
                (Some(t), Some(event)) if event.t < t => Next::Event,
                (Some(t), _) => Next::Instant(t),
                (None, Some(_)) => Next::Event,
                (None, None) => Next::Nothing,
            };
            let t = match state {
                Next::Instant(t) => t,
                Next::Event => events[event].t,
                _ => f64::INFINITY,
            };
            match if impact < count && motion.impacts.get(impact).t <= t { Next::Impact } else { state } {
                Next::Impact => {
                    self.impact(tally, motion, impact);
                    impact += 1;
                }
                Next::Instant(t) => {
                    let at = stored(motion, t, rounding).min(last).max(first);
                    match cursor.read(at, &mut q, &mut v) {
                        Ok(()) => tally.strobe(self.wanted, t, &q, &v),
                        Err(_) => tally.next += 1,
                    }
                }
                Next::Event => {
                    let EventHit { event: section, t, q, v, .. } = events[event];
                    tally.section(*section, *t, q, v);
                    event += 1;
                }
                Next::Nothing => break,
            }
        }
        self.track(tally, motion, &mut cursor, to);
    }

    /// What shows whether the motion has come to rest.
    fn track(&self, tally: &mut Tally, motion: &Trajectory, cursor: &mut Cursor, to: f64) {
        let Some(tracker) = &mut tally.tracker else { return };
        tracker.saw(motion.fastest());
        let mut times: Vec<f64> = motion.pieces.starts().iter().chain(&motion.t).copied().collect();
        times.retain(|t| *t >= self.job.from && *t <= to);
        times.sort_by(f64::total_cmp);
        times.dedup();
        let d = motion.dimension();
        let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
        // Beside the starts of pieces their middles: a velocity may vanish at an instant.
        let middles = times.windows(2).flat_map(|pair| [pair[0], 0.5 * (pair[0] + pair[1])]);
        for t in middles.chain(times.last().copied()) {
            if cursor.read(t, &mut q, &mut v).is_ok() {
                tracker.pass(t, &q, &v);
            }
        }
    }

    fn statistics(&mut self, tally: &mut Tally, motion: &Trajectory, to: f64) {
        let Some(gatherer) = &mut tally.gatherer else { return };
        if !motion.span().is_some_and(|(_, last)| last > self.job.from) {
            return;
        }
        if self.quantities.is_none() {
            self.quantities = self.problem.instance(&self.job.start).ok().and_then(|at| at.quantities());
        }
        if let Some(quantities) = &mut self.quantities {
            gatherer.add(motion, quantities, self.job.from, to);
        }
    }

    fn impact(&mut self, tally: &mut Tally, motion: &Trajectory, k: usize) {
        let impact = motion.impacts.get(k);
        if impact.t < self.job.from {
            return;
        }
        tally.impacts += 1;
        if self.wanted.impacts == 0 && !tally.is_tracking() {
            return;
        }
        let gaps = self.gaps.get_or_insert_with(|| self.problem.gaps_at(&self.job.start));
        gaps.kinematics(impact.t, impact.q, impact.v_before);
        for (&a, &impulse) in impact.constraints.iter().zip(impact.impulses) {
            let speed = -gaps.rate(a, impact.v_before);
            tally.hit(self.wanted, Hit { t: impact.t, constraint: a as u32, speed, impulse });
        }
    }
}

/// A stored instant that a time is but for rounding, or that time. (A node of a scheme at which an impact is made has the velocity after it; a
/// moment before, there is the one before.)
fn stored(motion: &Trajectory, t: f64, rounding: f64) -> f64 {
    let next = motion.t.partition_point(|&s| s < t - rounding);
    motion.t.get(next).copied().filter(|s| *s <= t + rounding).unwrap_or(t)
}
