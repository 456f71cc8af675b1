//! The books of a run: stored instants, pieces, impacts, contacts, timeline, and the history from which an accumulation
//! is recognised.

use super::Touch;
use super::flow::Flow;
use crate::impacts::Measured;
use crate::problem::Gaps;
use crate::run::{self, Audit, Run, RunOptions};
use crate::trajectory::{Contact, Trajectory};
use crate::{Phase, PhaseKind, Problem, SetupError, Side, Status, Timeline};

/// Polynomials are kept as long as they take no more than this.
const MOST_BYTES: usize = 1 << 30;

/// No more impacts than this are counted to one sequence.
const LONGEST_SEQUENCE: usize = 100_000;

pub struct Record<'p> {
    problem: &'p Problem,
    pub trajectory: Trajectory,
    pub timeline: Timeline,
    audit: Audit,
    gaps: Gaps,
    /// Stored instants are the multiples of this …
    interval: f64,
    /// … and this one comes next.
    next: u64,
    steps: u64,
    dense: bool,
    /// A jump to be stored with the instant.
    v_left: Option<Vec<f64>>,
    /// For each constraint in contact: since when, and the impulse so far.
    open: Vec<Option<(f64, f64)>>,
    /// What corrections took away at this instant, to be counted to the contact that begins.
    corrected: Vec<f64>,
    /// For each constraint: where its sequence of impacts was predicted to end.
    predictions: Vec<Option<f64>>,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl<'p> Record<'p> {
    pub fn new(problem: &'p Problem, options: &RunOptions) -> Result<Self, SetupError> {
        let (d, m) = (problem.dimension(), problem.constraints());
        let mut trajectory = Trajectory::new(d);
        let interval = options.step * options.every.max(1) as f64;
        run::make_room(&mut trajectory, (options.end / interval).ceil() as u64 + 2, options.every)?;
        Ok(Record {
            problem,
            trajectory,
            timeline: Timeline::default(),
            audit: Audit { impulses: vec![0.0; m], ..Audit::default() },
            gaps: problem.gaps(),
            interval,
            next: 1,
            steps: 0,
            dense: true,
            v_left: None,
            open: vec![None; m],
            corrected: vec![0.0; m],
            predictions: vec![None; m],
            q: vec![0.0; d],
            v: vec![0.0; d],
        })
    }

    /// Stores an instant.
    pub fn instant(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.check(t, q);
        if self.trajectory.t.last() != Some(&t) {
            self.trajectory.push(t, q, v);
        }
    }

    fn check(&mut self, t: f64, q: &[f64]) {
        self.gaps.evaluate(t, q);
        let mut outside = false;
        for (a, &f) in self.gaps.values.iter().enumerate() {
            if f < -self.audit.max_violation {
                self.audit.max_violation = -f;
                self.audit.worst = Some((a, t));
            }
            outside |= f < -1e-12 && f < -1e-12 * crate::linalg::max_abs(q);
        }
        self.audit.infeasible += u64::from(outside);
    }

    /// Takes a piece of the motion, from t to t + s: the polynomials, the instants to store inside it, the impulses.
    pub fn piece(&mut self, t: f64, s: f64, flow: &Flow) {
        self.flush(t);
        self.steps += 1;
        if self.dense {
            let working = flow.working();
            let reactions = working.iter().enumerate().map(|(k, &a)| (a, flow.reaction(k)));
            self.trajectory.pieces.push(t, s, |i| flow.position(i), reactions);
            if self.trajectory.pieces.bytes() > MOST_BYTES {
                self.trajectory.pieces = crate::Pieces::new(self.problem.dimension());
                self.dense = false;
            }
        }
        // An instant that falls on an event is stored with it.
        let (first, last) = (t * (1.0 + 1e-14), (t + s) * (1.0 - 1e-14));
        loop {
            let at = self.next as f64 * self.interval;
            if !(at < last) {
                break;
            }
            self.next += 1;
            if at > first {
                let (mut q, mut v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
                flow.state(at - t, &mut q, &mut v);
                self.instant(at, &q, &v);
                (self.q, self.v) = (q, v);
            }
        }
        for (k, &a) in flow.working().iter().enumerate() {
            // ∫λ over the piece.
            let c = flow.reaction(k);
            let impulse = c.iter().enumerate().rev().fold(0.0, |sum, (j, c)| sum * s + c / (j + 1) as f64) * s;
            self.audit.impulses[a] += impulse;
            if let Some((_, sum)) = &mut self.open[a] {
                *sum += impulse;
            }
            self.audit.contact_steps += 1;
        }
    }

    /// The end of a piece has been reached.
    pub fn reached(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let at = self.next as f64 * self.interval;
        if at <= t * (1.0 + 1e-14) {
            self.next += 1;
            self.instant(t, q, v);
        }
    }

    /// An impact: stored as an instant with two velocities.
    pub fn impact(
        &mut self,
        measured: &Measured,
        q: &[f64],
        v_before: &[f64],
        v_after: &[f64],
        impulses: &[(usize, f64)],
    ) {
        impulses.iter().for_each(|&(a, p)| self.audit.impulses[a] += p);
        self.trajectory.impacts.push(measured, q, v_before, v_after, impulses.iter().copied());
        let impact = self.trajectory.impacts.get(self.trajectory.impacts.len() - 1);
        let constraints = impact.constraints.to_vec();
        self.timeline.push(Phase::new(PhaseKind::Impact, measured.t, measured.t, &constraints));
        if self.v_left.is_none() {
            // Already stored as a regular instant or with an impact before it, or not yet.
            let left = self.trajectory.take_last(measured.t);
            self.v_left = Some(left.unwrap_or_else(|| v_before.to_vec()));
        }
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v_after);
    }

    /// Which constraints act from now on; contacts begin and end here.
    pub fn contacts(&mut self, t: f64, touch: &[Touch]) {
        for (a, touch) in touch.iter().enumerate() {
            match (*touch == Touch::Working, self.open[a]) {
                (true, None) => {
                    let last = self.timeline.phases.last();
                    let chatter = last.filter(|p| p.kind == PhaseKind::Chatter && p.constraints.contains(&a));
                    let opening = self.opening(t, a) + std::mem::take(&mut self.corrected[a]);
                    self.open[a] = Some((chatter.map_or(t, |p| p.end.max(t)), opening));
                }
                (false, Some((start, impulse))) => {
                    self.open[a] = None;
                    if t > start {
                        self.trajectory.contacts.push(Contact { constraint: a, start, end: t, impulse });
                    }
                }
                _ => {}
            }
        }
    }

    /// The impulse of a constraint in the impacts of this instant.
    fn opening(&self, t: f64, a: usize) -> f64 {
        let all = &self.trajectory.impacts;
        let now = (0..all.len()).rev().map(|k| all.get(k)).take_while(|i| i.t == t);
        now.flat_map(|i| i.constraints.iter().zip(i.impulses).filter(|(b, _)| **b == a).map(|(_, p)| *p)).sum()
    }

    /// The state after an impact is final: it is stored.
    fn flush(&mut self, t: f64) {
        if let Some(left) = self.v_left.take() {
            let (q, v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
            self.check(t, &q);
            self.trajectory.push_jump(t, &q, &left, &v);
            (self.q, self.v) = (q, v);
        }
    }

    /// Takes in what a time-stepping scheme did from t to `to`.
    pub fn stretch(&mut self, t: f64, to: f64, stepped: &Run) {
        self.flush(t);
        self.end_contacts(t);
        let motion = &stepped.trajectory;
        for k in 1..motion.len() {
            let at = if k + 1 == motion.len() { to } else { t + motion.t[k] };
            self.trajectory.push_jump(at, motion.q(k), motion.v(k, Side::Left), motion.v(k, Side::Right));
        }
        self.trajectory.impacts.append(&motion.impacts, t);
        for contact in &motion.contacts {
            let Contact { constraint, start, end, impulse } = *contact;
            self.trajectory.contacts.push(Contact { constraint, start: t + start, end: t + end, impulse });
        }
        self.steps += stepped.steps;
        self.next = self.next.max((to / self.interval) as u64 + 1);
        let (all, part) = (&mut self.audit, &stepped.audit);
        all.impulses.iter_mut().zip(&part.impulses).for_each(|(sum, p)| *sum += p);
        all.infeasible += part.infeasible;
        all.contact_work += part.contact_work;
        all.contact_steps += part.contact_steps;
        all.landings += part.landings;
        if part.max_violation > all.max_violation {
            all.max_violation = part.max_violation;
            all.worst = part.worst.map(|(a, at)| (a, t + at));
        }
    }

    /// The velocity after an impact is this, after all.
    pub fn correct(&mut self, q: &[f64], v: &[f64]) {
        if self.v_left.is_some() {
            self.q.copy_from_slice(q);
            self.v.copy_from_slice(v);
        }
    }

    /// Notes where the sequence of impacts of a constraint is predicted to end, and gives the prediction before.
    pub fn predict(&mut self, a: usize, end: f64) -> Option<f64> {
        self.predictions[a].replace(end).filter(|before| before.is_finite())
    }

    /// The last impacts in which any of these constraints acted, newest first, back to the last accumulation: their times,
    /// and the first of these constraints in each.
    fn last(&self, constraints: &[usize], most: usize) -> Vec<(f64, usize)> {
        let all = &self.trajectory.impacts;
        let chatters = self.timeline.phases.iter().rev().filter(|p| p.kind == PhaseKind::Chatter);
        let since = chatters.take(1).map(|p| p.end).next().unwrap_or(f64::NEG_INFINITY);
        let acting = |i: &crate::Impact| i.constraints.iter().copied().find(|a| constraints.contains(a));
        let recent = (0..all.len()).rev().map(|k| all.get(k)).take_while(|i| i.t > since);
        recent.filter_map(|i| acting(&i).map(|a| (i.t, a))).take(most).collect()
    }

    /// Whether the last impacts of the constraints that hold are all of this one.
    pub fn is_single(&self, a: usize, held: &[usize]) -> bool {
        self.last(held, 2).iter().all(|(_, b)| *b == a)
    }

    /// Impulses that a correction of the velocity takes away.
    pub fn take_back(&mut self, constraints: &[usize], impulses: &[f64]) {
        for (&a, p) in constraints.iter().zip(impulses) {
            self.audit.impulses[a] += p;
            self.corrected[a] += p;
        }
    }

    /// Where the sequence of shrinking intervals began that has led here, and its number of impacts.
    pub fn sequence(&self, constraints: &[usize]) -> (f64, usize) {
        let times = self.last(constraints, LONGEST_SEQUENCE);
        let cycle = if constraints.len() > 1 { 2 } else { 1 };
        let mut n = times.len().min(2 * cycle);
        while n < times.len() {
            let (new, old) = (times[n - cycle].0, times[n].0);
            let (last, before) = (times[n - 2 * cycle].0, times[n - cycle].0);
            if last - before > (new - old) * (1.0 + 1e-9) {
                break;
            }
            n += 1;
        }
        (times.get(n.saturating_sub(1)).map_or(0.0, |x| x.0), n)
    }

    /// The limit of the times of impacts that follow each other in a cycle, and its error.
    pub fn extrapolate(&self, constraints: &[usize]) -> Option<(f64, f64)> {
        let times = self.last(constraints, 24);
        let cycle = (1..=4).find(|&c| times.len() > 3 * c && (0..2 * c).all(|k| times[k].1 == times[k + c].1))?;
        let limit = |k: usize| {
            let (a, b, c) = (times[k].0, times[k + cycle].0, times[k + 2 * cycle].0);
            let (new, old) = (a - b, b - c);
            (new < old && new > 0.0).then(|| a + new * new / (old - new))
        };
        let (now, before) = (limit(0)?, limit(cycle.min(times.len() - 1 - 2 * cycle))?);
        Some((now, (now - before).abs()))
    }

    /// All contacts end here.
    fn end_contacts(&mut self, t: f64) {
        for a in 0..self.open.len() {
            if let Some((start, impulse)) = self.open[a].take().filter(|(start, _)| *start < t) {
                self.trajectory.contacts.push(Contact { constraint: a, start, end: t, impulse });
            }
        }
    }

    /// The run is over: what is open is closed.
    pub fn close(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.flush(t);
        self.end_contacts(t);
        if self.trajectory.t.last().is_none_or(|&last| last < t) {
            self.instant(t, q, v);
        }
    }

    pub fn into_run(self, options: &RunOptions, status: Status) -> Run {
        let mut run = Run {
            trajectory: self.trajectory,
            timeline: self.timeline,
            audit: self.audit,
            status,
            steps: self.steps,
            step: self.interval,
            warnings: Vec::new(),
            notes: Vec::new(),
        };
        for phase in run.timeline.of(PhaseKind::Stepped) {
            run.notes.push(format!(
                "from t = {} to {} the motion was time-stepped with {}",
                phase.start, phase.end, phase.note
            ));
        }
        if !self.dense {
            run.notes
                .push("the polynomials of the motion took too much memory and were dropped; instants are kept".into());
        }
        run::close(self.problem, options, &mut run);
        run
    }
}
