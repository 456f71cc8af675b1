//! What the engine records: stored instants, pieces, impacts, contacts, phases; and the history from which an accumulation
//! is recognised.

use super::Touch;
use super::flow::Flow;
use crate::motion::{Contact, EventHit, Impact, Impacts, Measured, Phase, PhaseKind, Side};
use crate::problem::{Gaps, Instance};
use crate::record::{Keep, Recorder, Settling};
use crate::{Reason, SetupError};

/// No more impacts than this are counted to one sequence.
const LONGEST_SEQUENCE: usize = 100_000;

/// Impacts remembered where none are kept.
const MEMORY: usize = 2_048;

/// A contact that has not ended.
#[derive(Clone, Copy)]
struct Open {
    /// Since when the motion is on the constraint.
    held: f64,
    /// Where the contact begins: there, or at the limit of the impacts that led to it.
    start: f64,
    impulse: f64,
}

impl Open {
    /// The contact up to a time, if it has lasted: one that ends before the limit of its impacts began where it was held.
    fn until(self, t: f64, constraint: usize) -> Option<Contact> {
        let start = if self.start < t { self.start } else { self.held };
        (start < t).then_some(Contact { constraint, start, end: t, impulse: self.impulse })
    }
}

pub struct Record {
    pub out: Recorder,
    gaps: Gaps,
    t0: f64,
    /// Stored instants are the start and multiples of this after it …
    interval: f64,
    /// … and this one comes next.
    next: u64,
    /// A jump to be stored with the instant.
    v_left: Option<Vec<f64>>,
    /// The contact of each constraint that is in one.
    open: Vec<Option<Open>>,
    /// What ends of accumulations took away, and when the last one did.
    settled: (f64, Vec<f64>),
    /// For each constraint: the limit of its impacts, if it is on the way there; and how many impacts there had been when its
    /// last accumulation was ended.
    limits: Vec<f64>,
    counted: Vec<usize>,
    /// Impacts so far.
    count: usize,
    /// For each constraint: where its sequence of impacts was predicted to end.
    predictions: Vec<Option<f64>>,
    /// The last impacts, where the recorder keeps none.
    memory: Impacts,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Record {
    pub fn new(at: &Instance, interval: f64, end: f64, keep: Keep) -> Result<Self, SetupError> {
        let (d, m) = (at.dimension(), at.constraints());
        let t0 = at.start().t;
        let mut out = Recorder::new(d, &vec![false; m], keep);
        let slips: usize = at.model().frictions.iter().map(|f| f.slips.len()).sum();
        out.audit.others = vec![0.0; at.model().joints.len() + slips];
        if end.is_finite() {
            out.reserve(((end - t0) / interval).ceil() as u64 + 2, 1)?;
        }
        Ok(Record {
            out,
            gaps: at.gaps(),
            t0,
            interval,
            next: 1,
            v_left: None,
            open: vec![None; m],
            settled: (f64::NEG_INFINITY, vec![0.0; m]),
            limits: vec![f64::NEG_INFINITY; m],
            counted: vec![0; m],
            count: 0,
            predictions: vec![None; m],
            memory: Impacts::default(),
            q: vec![0.0; d],
            v: vec![0.0; d],
        })
    }

    /// The next instant to be stored.
    fn next_instant(&self) -> f64 {
        self.t0 + self.next as f64 * self.interval
    }

    /// Stores an instant.
    pub fn instant(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.check(t, q, v);
        // (The instant of an impact is stored when the state after it is final.)
        if self.v_left.is_none() && self.out.trajectory.t.last() != Some(&t) {
            self.out.instant(t, q, v);
        }
    }

    /// Stores an instant at which something begins, unless an impact there is to be stored with it.
    pub fn mark(&mut self, t: f64, q: &[f64], v: &[f64]) {
        if self.v_left.is_none() {
            self.instant(t, q, v);
        }
    }

    fn check(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.gaps.evaluate(t, q, v);
        let _ = self.out.check(t, q, &self.gaps.values);
    }

    /// Takes a piece of the motion, from t to t + s: the polynomials, the instants to store inside it, the impulses.
    pub fn piece(&mut self, t: f64, s: f64, flow: &Flow) {
        self.flush(t);
        self.begin_contacts(t);
        self.out.steps += 1;
        let working = flow.working();
        let reactions = working.iter().enumerate().map(|(k, &a)| (a, flow.reaction(k)));
        self.out.piece(t, s, |i| flow.position(i), reactions.chain(flow.sliding_forces()));
        // An instant that falls on an event is stored with it.
        let rounding = 1e-14 * (t + s).abs().max(t.abs());
        let (first, last) = (t + rounding, t + s - rounding);
        let wanted = self.out.keep.has(Keep::INSTANTS);
        while wanted && self.next_instant() < last {
            let at = self.next_instant();
            self.next += 1;
            if at > first {
                let (mut q, mut v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
                flow.state(at - t, &mut q, &mut v);
                self.instant(at, &q, &v);
                (self.q, self.v) = (q, v);
            }
        }
        let held = flow.working().iter().enumerate().map(|(k, &row)| (row, flow.reaction(k)));
        for (a, c) in held.chain(flow.sliding_forces()) {
            // ∫λ over the piece.
            let impulse = c.iter().enumerate().rev().fold(0.0, |sum, (j, c)| sum * s + c / (j + 1) as f64) * s;
            if a >= self.open.len() {
                self.out.audit.others[a - self.open.len()] += impulse;
                continue;
            }
            self.out.audit.impulses[a] += impulse;
            if let Some(open) = &mut self.open[a] {
                open.impulse += impulse;
            }
            self.out.audit.contact_steps += 1;
        }
    }

    /// The end of a piece has been reached.
    pub fn reached(&mut self, t: f64, q: &[f64], v: &[f64]) {
        if self.next_instant() <= t + 1e-14 * t.abs() {
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
        others: &[(usize, f64)],
    ) {
        others.iter().for_each(|&(row, p)| self.out.audit.others[row] += p);
        self.count += 1;
        for &(a, p) in impulses {
            self.out.audit.impulses[a] += p;
            self.limits[a] = f64::NEG_INFINITY;
        }
        if self.out.keep.has(Keep::IMPACTS) {
            let (impulses, others) = (impulses.iter().copied(), others.iter().copied());
            self.out.impact(measured, q, v_before, v_after, impulses, others);
        } else {
            if self.memory.len() > 2 * MEMORY {
                let mut recent = Impacts::default();
                (MEMORY..self.memory.len()).for_each(|k| recent.push_impact(&self.memory.get(k)));
                self.memory = recent;
            }
            self.memory.push(measured, q, v_before, v_after, impulses.iter().copied());
        }
        let constraints: Vec<usize> = impulses.iter().map(|(a, _)| *a).collect();
        self.phase(Phase::new(PhaseKind::Impact, measured.t, measured.t, &constraints));
        if self.v_left.is_none() {
            // Already stored as a regular instant or with an impact before it, or not yet.
            let left = self.out.trajectory.take_last(measured.t);
            self.v_left = Some(left.unwrap_or_else(|| v_before.to_vec()));
        }
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v_after);
    }

    fn impacts(&self) -> &Impacts {
        if self.out.keep.has(Keep::IMPACTS) { &self.out.trajectory.impacts } else { &self.memory }
    }

    /// How many impacts there have been.
    pub fn made(&self) -> usize {
        self.count
    }

    /// A phase.
    pub fn phase(&mut self, phase: Phase) {
        self.out.phase(phase);
    }

    /// Continues a flight or a contact.
    pub fn extend_phase(&mut self, kind: PhaseKind, start: f64, end: f64, constraints: &[usize]) {
        if self.out.keep.has(Keep::TIMELINE) {
            self.out.timeline.extend(kind, start, end, constraints);
        }
    }

    /// An event of the user's own.
    pub fn event(&mut self, hit: EventHit) {
        self.out.event(hit);
    }

    /// Which constraints act from now on; contacts begin and end here.
    pub fn contacts(&mut self, t: f64, touch: &[Touch]) {
        for (a, touch) in touch.iter().enumerate() {
            match (*touch == Touch::Working, self.open[a]) {
                (true, None) => self.open[a] = Some(Open { held: t, start: self.limits[a].max(t), impulse: 0.0 }),
                (false, Some(open)) => {
                    self.open[a] = None;
                    self.limits[a] = f64::NEG_INFINITY;
                    open.until(t, a).into_iter().for_each(|contact| self.out.contact(contact));
                }
                _ => {}
            }
        }
    }

    /// Time goes on: the impulses of contacts that begin here are those of this instant so far.
    fn begin_contacts(&mut self, t: f64) {
        for a in 0..self.open.len() {
            if let Some(open) = self.open[a].filter(|open| open.held == t) {
                self.open[a] = Some(Open { impulse: self.opening(t, a), ..open });
            }
        }
    }

    /// The impulse of a constraint at this instant, in impacts and where they settle.
    fn opening(&self, t: f64, a: usize) -> f64 {
        let all = self.impacts();
        let now = (0..all.len()).rev().map(|k| all.get(k)).take_while(|i| i.t == t);
        let own = now.flat_map(|i| i.constraints.iter().zip(i.impulses).filter(|(b, _)| **b == a).map(|(_, p)| *p));
        own.sum::<f64>() + if self.settled.0 == t { self.settled.1[a] } else { 0.0 }
    }

    /// The state after an impact is final: it is stored.
    fn flush(&mut self, t: f64) {
        if let Some(left) = self.v_left.take() {
            let (q, v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
            self.check(t, &q, &v);
            self.out.jump(t, &q, &left, &v);
            (self.q, self.v) = (q, v);
        }
    }

    /// Takes in what a time-stepping scheme did from t to `to`.
    pub fn stretch(&mut self, t: f64, to: f64, stepped: &Recorder) {
        self.flush(t);
        self.end_contacts(t);
        let motion = &stepped.trajectory;
        for k in 1..motion.len() {
            let at = if k + 1 == motion.len() { to } else { motion.t[k] };
            self.out.jump(at, motion.q(k), motion.v(k, Side::Left), motion.v(k, Side::Right));
        }
        if self.out.keep.has(Keep::IMPACTS) {
            self.count += motion.impacts.len();
            self.out.trajectory.impacts.append(&motion.impacts);
        }
        motion.contacts.iter().for_each(|c| self.out.contact(c.clone()));
        motion.events.iter().for_each(|e| self.out.event(e.clone()));
        self.out.steps += stepped.steps;
        self.next = self.next.max(((to - self.t0) / self.interval) as u64 + 1);
        let (all, part) = (&mut self.out.audit, &stepped.audit);
        all.impulses.iter_mut().zip(&part.impulses).for_each(|(sum, p)| *sum += p);
        all.infeasible += part.infeasible;
        all.contact_work += part.contact_work;
        all.contact_steps += part.contact_steps;
        all.landings += part.landings;
        if part.max_violation > all.max_violation {
            all.max_violation = part.max_violation;
            all.worst = part.worst;
        }
    }

    /// Notes a stretch that was stepped across; one after another, for one reason, is one.
    pub fn stepped_phase(&mut self, from: f64, to: f64, scheme: &str, reason: &Reason) {
        match self.out.timeline.phases.last_mut() {
            Some(last) if last.kind == PhaseKind::Stepped && last.end == from => last.end = to,
            _ => {
                let mut phase = Phase::new(PhaseKind::Stepped, from, to, &[]);
                phase.note = format!("{scheme}: {reason}");
                self.out.timeline.push(phase);
            }
        }
    }

    /// Replaces the state after an impact that has not been stored yet.
    pub fn correct(&mut self, q: &[f64], v: &[f64]) {
        if self.v_left.is_some() {
            self.q.copy_from_slice(q);
            self.v.copy_from_slice(v);
        }
    }

    /// Stores where the sequence of impacts of a constraint is predicted to end, and returns the previous prediction.
    pub fn predict(&mut self, a: usize, end: f64) -> Option<f64> {
        self.predictions[a].replace(end).filter(|before| before.is_finite())
    }

    /// The last impacts in which any of these constraints acted, newest first, back to the end of their last accumulation:
    /// their times, and the first of these constraints in each.
    fn last(&self, constraints: &[usize], most: usize) -> Vec<(f64, usize)> {
        let all = self.impacts();
        let since = constraints.iter().map(|&a| self.counted[a]).max().unwrap_or(0);
        let acting = |i: &Impact| i.constraints.iter().copied().find(|a| constraints.contains(a));
        let recent = (0..all.len()).rev().take(self.count.saturating_sub(since)).map(|k| all.get(k));
        recent.filter_map(|i| acting(&i).map(|a| (i.t, a))).take(most).collect()
    }

    /// Whether the last impacts of the constraints that hold are all of this one.
    pub fn is_single(&self, a: usize, held: &[usize]) -> bool {
        self.last(held, 2).iter().all(|(_, b)| *b == a)
    }

    /// An accumulation is ended; with a limit, if it loses energy, by which it has a phase.
    pub fn settle(&mut self, mut settling: Settling, phase: Option<Phase>) {
        settling.impacts = self.count;
        if self.settled.0 != settling.t {
            self.settled.0 = settling.t;
            self.settled.1.fill(0.0);
        }
        for (&a, p) in settling.constraints.iter().zip(&settling.impulses) {
            self.out.audit.impulses[a] += p;
            self.settled.1[a] += p;
        }
        settling.others.iter().for_each(|&(row, p)| self.out.audit.others[row] += p);
        for &a in &settling.listed {
            self.counted[a] = self.count;
            if phase.is_some() {
                self.limits[a] = settling.limit;
            }
        }
        phase.into_iter().for_each(|phase| self.phase(phase));
        if self.out.keep.has(Keep::IMPACTS) {
            self.out.audit.settlings.push(settling);
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
        (times.get(n.saturating_sub(1)).map_or(f64::INFINITY, |x| x.0), n)
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
            if let Some(contact) = self.open[a].take().and_then(|open| open.until(t, a)) {
                self.out.contact(contact);
            }
        }
    }

    /// The run is over: what is open is closed.
    pub fn close(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.flush(t);
        self.end_contacts(t);
        self.check(t, q, v);
        self.out.last_instant(t, q, v, v);
        for phase in self.out.timeline.of(PhaseKind::Stepped) {
            let note =
                format!("from t = {} to {} the motion was time-stepped with {}", phase.start, phase.end, phase.note);
            self.out.notes.push(note);
        }
    }
}
