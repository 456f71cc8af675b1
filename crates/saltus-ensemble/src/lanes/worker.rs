//! A worker that computes W trajectories side by side.

use super::code::{LaneCode, MOST};
use super::glide::Glide;
use super::group::Group;
use super::hand::Hand;
use super::limits::{TRUST, check};
use crate::tally::Tally;
use crate::{Job, Outcome, Scalar, Wanted, Worker};
use saltus::{Problem, Start, Status};
use saltus_expr::Scalar as Evaluator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of lanes with the lowest cost per trajectory.
const LANES: usize = 32;

/// Runs trajectories in lanes.
pub struct LaneWorker<const W: usize = LANES> {
    pub(super) hand: Hand,
    pub(super) group: Group<W>,
    /// Where flight is linear.
    pub(super) glide: Option<Glide<W>>,
    pub(super) quantities: Option<Evaluator>,
    pub(super) lanes: Vec<LaneState>,
}

/// One lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneState {
    pub(super) job: usize,
    pub(super) open: Vec<f64>,
    pub(super) tally: Tally,
    pub(super) idle: u32,
    /// Steps in the present window, and where it began.
    pub(super) steps: (u64, f64),
    /// How often it was handed over.
    pub(super) handed: u32,
    /// Whether it is at a stop, or on the way, with a state that is of use once the next expansion has confirmed it.
    pub(super) has_arrived: bool,
    /// A constraint that has just been hit, and its restitution: whether its bounces end here, the next expansion tells.
    pub(super) bounced: Option<(usize, f64)>,
    /// Whether its flight is linear and goes on: its state is that of the glide.
    pub(super) glides: bool,
}

impl<const W: usize> LaneWorker<W> {
    /// A worker, or why lanes cannot compute this problem. Where `stop` is set, it returns without the outcomes that are missing.
    pub fn new(problem: &Problem, tolerance: f64, stop: &Arc<AtomicBool>) -> Result<Self, &'static str> {
        let code = Arc::new(LaneCode::new(problem)?);
        let quantities = code.quantities.clone().map(Evaluator::new);
        let group = Group::new(code, tolerance).ok_or("its series have switches")?;
        let lanes = vec![LaneState::default(); W];
        let hand = Hand::new(problem, &group.code, tolerance, stop);
        let glide = group.code.linear.clone().map(|linear| Glide::new(linear, tolerance));
        Ok(LaneWorker { hand, group, glide, quantities, lanes })
    }

    /// Gives a lane its next trajectory; its outcome, if the event engine has computed all of it.
    fn load(&mut self, l: usize, job: usize, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let code = self.group.code.clone();
        let Job { start, end, .. } = &jobs[job];
        let state = &mut self.lanes[l];
        let tally = Tally::new(self.hand.problem.model(), wanted);
        *state = LaneState { job, open: std::mem::take(&mut state.open), tally, ..LaneState::default() };
        state.steps.1 = start.t;
        state.open.clear();
        state.open.extend(&start.parameters);
        let fits = start.q.len() == code.d && start.v.len() == code.d && start.parameters.len() == code.open;
        let finite = start.q.iter().chain(&start.v).chain(&start.parameters).all(|x| x.is_finite());
        if !fits || !finite || !(*end > start.t) || !self.hand.has_inertia(&code, start) {
            return Scalar::new(&self.hand.problem, &self.hand.stop).one(&jobs[job], wanted);
        }
        self.group.set_state(l, start.t, &start.q, &start.v);
        for (k, &value) in start.parameters.iter().enumerate() {
            self.group.series.input_mut(code.first_open() + k, 0).0[l] = value;
        }
        if let Some(glide) = &mut self.glide {
            glide.load(l, &start.parameters);
        }
        self.group.forget(l, end - start.t);
        self.group.residual.0[l] = 0.0;
        self.group.violation.0[l] = 0.0;
        self.group.widest.0[l] = 0.0;
        self.group.noise.iter_mut().for_each(|noise| noise.0[l] = 0.0);
        let mode = &mut self.group.modes[l];
        mode.is_active = true;
        mode.waits = false;
        mode.zeros = [0; MOST];
        mode.is_new = true;
        let tally = &mut self.lanes[l].tally;
        tally.pass(&jobs[job], wanted, start.t, &start.q, &start.v);
        self.group.stop.0[l] = tally.stop(&jobs[job]);
        self.group.sections.load(l, jobs[job].from, returns_left(tally));
        if start.closed().is_some_and(|closed| !closed.is_empty()) {
            let outcome = self.begin(l, jobs, wanted);
            // (It is expanded before the next step.)
            self.group.modes[l].waits = false;
            return outcome;
        }
        None
    }

    /// Records where lane l crosses sections in its step, which is made.
    pub(super) fn note_crossings(&mut self, l: usize, jobs: &[Job]) {
        let job = &jobs[self.lanes[l].job];
        let d = self.group.code.d;
        let (mut q, mut v) = ([0.0; MOST], [0.0; MOST]);
        for k in 0..self.group.code.events {
            let (start, section) = (self.group.before[0][l], &mut self.group.sections.all[k]);
            let (now, root) = (section.now[l], section.root[l]);
            section.before[l] = now;
            let (at_once, within) = (section.at_once[l], section.within[l]);
            section.side[l] = if within { -now } else { now };
            if at_once {
                section.crossed[l] = start;
                self.group.state_before(l, &mut q, &mut v);
                self.note_crossing(l, k, now > 0.0, (start, &q[..d], &v[..d]), job);
            }
            if within {
                self.group.sections.all[k].crossed[l] = start + root;
                self.group.state_within(l, root, &mut q, &mut v);
                self.note_crossing(l, k, now < 0.0, (start + root, &q[..d], &v[..d]), job);
            }
        }
        self.group.sections.left[l] = returns_left(&self.lanes[l].tally);
    }

    /// Records the sections that an impact has taken lane l across; whether that was its last return.
    pub(super) fn note_jumps(&mut self, l: usize, jobs: &[Job]) -> bool {
        let job = &jobs[self.lanes[l].job];
        let d = self.group.code.d;
        let (t, mut q, mut v) = (self.group.t[l], [0.0; MOST], [0.0; MOST]);
        self.group.state(l, &mut q, &mut v);
        for k in 0..self.group.code.events {
            if self.group.has_jumped(k, l) {
                let section = &mut self.group.sections.all[k];
                section.side[l] = -section.side[l];
                section.crossed[l] = t;
                let rises = section.side[l] > 0.0;
                self.note_crossing(l, k, rises, (t, &q[..d], &v[..d]), job);
            }
        }
        self.group.sections.left[l] = returns_left(&self.lanes[l].tally);
        self.lanes[l].tally.sections.is_over()
    }

    /// Keeps a state at section k, if it counts.
    fn note_crossing(&mut self, l: usize, k: usize, rises: bool, (t, q, v): (f64, &[f64], &[f64]), job: &Job) {
        if self.group.code.crossings[k].admits(rises) && t >= job.from {
            self.lanes[l].tally.section(k, t, q, v);
        }
    }

    /// A state on the way, at a stop of the stroboscope, or at the end.
    pub(super) fn pass(&mut self, l: usize, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let job = &jobs[self.lanes[l].job];
        let d = self.group.code.d;
        let (mut q, mut v) = ([0.0; MOST], [0.0; MOST]);
        self.group.state(l, &mut q, &mut v);
        let t = self.group.t.0[l];
        let tally = &mut self.lanes[l].tally;
        tally.pass(job, wanted, t, &q[..d], &v[..d]);
        if t < job.end && !tally.sections.is_over() {
            self.group.stop.0[l] = tally.stop(job);
            return None;
        }
        Some(self.finish(l, Status::Finished, (t, &q[..d], &v[..d]), job, wanted))
    }

    /// The trajectory of a lane has ended.
    pub(super) fn finish(
        &mut self,
        l: usize,
        status: Status,
        (t, q, v): (f64, &[f64], &[f64]),
        job: &Job,
        wanted: &Wanted,
    ) -> Outcome {
        self.group.modes[l].is_active = false;
        let mut tally = std::mem::take(&mut self.lanes[l].tally);
        let group = &self.group;
        check(&mut tally, group.residual.0[l], group.violation.0[l], group.widest.0[l], group.tolerance, q);
        tally.complain(self.hand.problem.model(), wanted);
        let end = Start::new(t, q.to_vec(), v.to_vec()).with_parameters(self.lanes[l].open.to_vec());
        tally.outcome(&mut self.hand.meetings, status, end, job, wanted)
    }
}

/// How many returns are to come; infinity where they are not counted.
pub(super) fn returns_left(tally: &Tally) -> f64 {
    tally.sections.left().map_or(f64::INFINITY, |left| left as f64)
}

impl<const W: usize> Worker for LaneWorker<W> {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        self.group.sections.are_wanted = wanted.sections;
        let mut outcomes: Vec<Option<Outcome>> = vec![None; jobs.len()];
        let mut next = 0;
        let mut events = [None; W];
        self.group.modes.iter_mut().for_each(|mode| mode.is_active = false);
        loop {
            for l in 0..W {
                while !self.group.modes[l].is_active && next < jobs.len() {
                    outcomes[next] = self.load(l, next, jobs, wanted);
                    next += 1;
                }
            }
            let is_over = !self.group.modes.iter().any(|mode| mode.is_active);
            if is_over || self.hand.stop.load(Ordering::Relaxed) {
                break;
            }
            self.fly(jobs, wanted, next < jobs.len(), &mut outcomes);
            let is_needed = |l: usize| self.group.modes[l].is_active && !self.lanes[l].glides;
            if !(0..W).any(is_needed) {
                continue;
            }
            self.group.expand();
            let residual = self.group.check();
            for l in 0..W {
                let mode = &self.group.modes[l];
                let state = &self.lanes[l];
                let is_quiet = !(mode.is_new || mode.held.is_some() || state.bounced.is_some() || state.has_arrived);
                if !mode.is_active || state.glides || (is_quiet && residual.0[l] <= TRUST * self.group.tolerance) {
                    continue;
                }
                if let Some(outcome) = self.judge(l, residual.0[l], jobs, wanted) {
                    outcomes[self.lanes[l].job] = Some(outcome);
                }
            }
            let h = self.group.steps(&mut events);
            self.group.advance(&h, &events);
            for l in 0..W {
                if self.group.modes[l].is_active
                    && let Some(outcome) = self.handle(l, events[l], h.0[l], jobs, wanted)
                {
                    outcomes[self.lanes[l].job] = Some(outcome);
                }
            }
        }
        // Where it was stopped: those up to the first that is missing.
        outcomes.into_iter().map_while(|outcome| outcome).collect()
    }
}
