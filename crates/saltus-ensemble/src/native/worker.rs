//! Trajectories in compiled code: what is given to them, what they signal, and what the event engine does for them.

use super::iterate::{Fault, Iterate};
use super::order::neighbours;
use super::rows::{self, Group, Rows};
use super::source::{LASTING, LOG, flag, record_length, signal};
use super::state::State;
use super::steps::Steps;
use crate::lanes::limits::check;
use crate::lanes::{Hand, LaneCode, Left};
use crate::settled::Seen;
use crate::tally::Tally;
use crate::{Hit, Job, Outcome, Scalar, Wanted, Worker};
use saltus::problem::Reached;
use saltus::scheme::Scheme;
use saltus::{Problem, Start, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs trajectories in compiled code.
pub struct CompiledWorker<I> {
    pub hand: Hand,
    code: Arc<LaneCode>,
    iteration: I,
    rows: Rows,
    state: State,
    log: Vec<f64>,
    pub lanes: Vec<LaneState>,
    /// Where it makes steps of a scheme.
    pub steps: Option<Steps>,
}

/// What a worker is for: code, scheme, problem, tolerance, and when to stop.
pub type Rest<'a> = (&'a Arc<LaneCode>, Option<Scheme>, &'a Problem, f64, &'a Arc<AtomicBool>);

#[derive(Clone, Debug, Default)]
pub struct LaneState {
    pub job: usize,
    pub tally: Tally,
    handed: u32,
}

impl<I: Iterate> CompiledWorker<I> {
    pub fn new(iteration: I, (code, scheme, problem, tolerance, stop): Rest) -> Self {
        let (code, (state, log)) = (code.clone(), iteration.room());
        let rows = if scheme.is_some() { Rows::of_steps(&code) } else { Rows::new(&code) };
        let hand = Hand::new(problem, &code, tolerance, stop);
        let (lanes, steps) = (vec![LaneState::default(); state.width], scheme.map(Steps::new));
        CompiledWorker { hand, rows, lanes, state, log, code, iteration, steps }
    }

    pub fn get(&self, row: usize, l: usize) -> f64 {
        self.state.get(row, l)
    }

    pub fn set(&mut self, row: usize, l: usize, value: f64) {
        self.state.set(row, l, value);
    }

    fn set_all(&mut self, group: Group, l: usize, values: impl IntoIterator<Item = f64>) {
        for (row, value) in self.rows.of(group).zip(values) {
            self.state.set(row, l, value);
        }
    }

    pub fn all(&self, group: Group, l: usize) -> Vec<f64> {
        self.rows.of(group).map(|row| self.state.get(row, l)).collect()
    }

    /// Gives a lane its next trajectory; false if it is one for others.
    fn load(&mut self, l: usize, job: usize, jobs: &[Job], wanted: &Wanted) -> bool {
        let Job { start, end, from, strobe, .. } = &jobs[job];
        let d = self.code.d;
        let fits = start.q.len() == d && start.v.len() == d && start.parameters.len() == self.code.open;
        let finite = start.q.iter().chain(&start.v).chain(&start.parameters).all(|x| x.is_finite());
        if !fits || !finite || !(*end > start.t) || (self.steps.is_some() && is_on_constraint(start)) {
            return false;
        }
        if self.steps.is_none() && !self.hand.has_inertia(&self.code, start) {
            return false;
        }
        let division = match &self.steps {
            Some(steps) => match steps.division(&jobs[job]) {
                Some(division) => Some(division),
                None => return false,
            },
            None => None,
        };
        let mut tally = Tally::new(self.hand.problem.model(), wanted);
        tally.pass(&jobs[job], wanted, start.t, &start.q, &start.v);
        self.lanes[l] = LaneState { job, tally, handed: 0 };
        // (Where its records are is not its own.)
        self.state.clear(l, rows::RECORDS);
        self.set(rows::ACTIVE, l, 1.0);
        self.set(rows::FROM, l, *from);
        self.set(rows::STROBE, l, strobe.unwrap_or(0.0));
        self.set(rows::LAST, l, end - start.t);
        self.set(rows::WINDOW, l, start.t);
        self.set_all(Group::Parameters, l, start.parameters.iter().copied());
        self.place(l, start, &jobs[job]);
        self.set(rows::PLACED, l, 2.0);
        if let Some((last, h)) = division {
            self.set(rows::STEPS, l, last as f64);
            self.set(rows::LAST, l, h);
        }
        true
    }

    /// Puts a trajectory somewhere, free, with what is known about it from its tally.
    fn place(&mut self, l: usize, at: &Start, job: &Job) {
        self.set(rows::T, l, at.t);
        self.set_all(Group::Q, l, at.q.iter().copied());
        self.set_all(Group::V, l, at.v.iter().copied());
        self.set(rows::PLACED, l, 1.0);
        self.set(rows::HELD, l, -1.0);
        let tally = &self.lanes[l].tally;
        let (impacts, accumulations, next, stop) = (tally.impacts, tally.accumulations, tally.next, tally.stop(job));
        let seen = tally.seen().map(|seen| (seen.fastest, seen.moved, seen.last, seen.largest.to_vec()));
        self.set(rows::IMPACTS, l, impacts as f64);
        self.set(rows::ACCUMULATIONS, l, accumulations as f64);
        self.set(rows::NEXT, l, next as f64);
        self.set(rows::STOP, l, stop);
        self.set(rows::END, l, job.end);
        let left = self.lanes[l].tally.sections.left();
        self.set(rows::LEFT, l, left.map_or(f64::INFINITY, |left| left as f64));
        if let Some((fastest, moved, last, largest)) = seen {
            self.set(rows::FASTEST, l, fastest);
            self.set(rows::MOVED, l, moved);
            self.set(rows::SEEN, l, last);
            self.set_all(Group::Largest, l, largest);
        }
    }

    /// Reads the records of a lane.
    fn drain(&mut self, l: usize, wanted: &Wanted) {
        let (d, length) = (self.code.d, record_length(&self.code));
        let tally = &mut self.lanes[l].tally;
        let (first, count) = (self.state.get(rows::RECORDS, l) as usize, self.state.get(rows::LOGGED, l) as usize);
        for record in self.log.chunks(length).skip(first).take(count) {
            let [kind, t, first, second] = [record[0], record[1], record[2], record[3]];
            if kind <= -2.0 {
                tally.impacts = first as u64;
                tally.section((-2.0 - kind) as usize, t, &record[4..4 + d], &record[4 + d..]);
            } else if kind < 0.0 {
                tally.impacts = first as u64;
                tally.strobe(wanted, t, &record[4..4 + d], &record[4 + d..]);
            } else {
                tally.hit(wanted, Hit { t, constraint: kind as u32, speed: first, impulse: second });
            }
        }
        self.set(rows::LOGGED, l, 0.0);
    }

    /// Reads the last states at the sections of a lane, where no others were wanted.
    fn drain_lasts(&mut self, l: usize) {
        let (d, length) = (self.code.d, record_length(&self.code));
        let mut packed = (self.get(rows::RECORDS, l) + self.get(rows::LOGGED, l)) as usize;
        let first = self.get(rows::RECORDS, l) as usize;
        let tally = &mut self.lanes[l].tally;
        for (k, row) in self.rows.of(Group::Crossed).enumerate() {
            let crossed = self.state.get(row, l) as usize;
            let skipped = crossed.saturating_sub(LASTING);
            if k == 0 {
                tally.sections.returns += skipped as u64;
            }
            for n in skipped..crossed {
                let place = match self.iteration.is_packed() {
                    true => packed,
                    false => first + LOG + k * LASTING + n % LASTING,
                };
                packed += 1;
                let record = &self.log[place * length..(place + 1) * length];
                tally.section(k, record[1], &record[4..4 + d], &record[4 + d..]);
            }
            self.state.set(row, l, 0.0);
        }
    }

    /// Brings the tally of a lane up to date.
    fn sync(&mut self, l: usize) {
        if self.lanes[l].tally.is_tracking() {
            let (largest, last) = (self.all(Group::Largest, l), self.get(rows::SEEN, l));
            let seen = Seen {
                start: last.is_finite().then(|| self.get(rows::FROM, l)),
                fastest: self.get(rows::FASTEST, l),
                moved: self.get(rows::MOVED, l),
                last,
                largest: &largest,
            };
            self.lanes[l].tally.see(&seen);
        }
        let (impacts, accumulations) = (self.get(rows::IMPACTS, l) as u64, self.get(rows::ACCUMULATIONS, l) as u64);
        let (next, law) = (self.get(rows::NEXT, l) as u64, self.get(rows::LAW, l));
        let tally = &mut self.lanes[l].tally;
        (tally.impacts, tally.accumulations, tally.next) = (impacts, accumulations, next);
        tally.checks.law = tally.checks.law.max(law);
    }

    /// What a lane signals.
    fn answer(&mut self, l: usize, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let said = self.get(rows::SIGNAL, l);
        self.set(rows::SIGNAL, l, 0.0);
        if keeps_lasts(wanted) && said != signal::FULL {
            self.drain_lasts(l);
        }
        self.drain(l, wanted);
        if said == signal::FULL {
            return None;
        }
        self.sync(l);
        if self.steps.is_some() {
            return self.answer_steps(l, said, jobs, wanted);
        }
        let job = &jobs[self.lanes[l].job];
        if said == signal::OFF && self.is_rounding(l, job) {
            return None;
        }
        let t = self.get(rows::T, l);
        if said == signal::DONE {
            let (q, v) = (self.all(Group::Q, l), self.all(Group::V, l));
            if t >= job.from {
                self.lanes[l].tally.arrive(t, &q, &v);
            }
            return Some(self.finish(l, Status::Finished, Start::new(t, q, v), (job, wanted)));
        }
        if said == signal::START && t == job.start.t {
            return self.begin(l, job, wanted);
        }
        if said == signal::ENDLESS {
            self.lanes[l].handed = u32::MAX / 2;
        }
        self.hand_over(l, [signal::BACK, signal::ENDLESS, signal::OFF].contains(&said), job, wanted)
    }

    /// Whether it may be rounding that the acceleration is off: near an equilibrium. It is looked at again with what that allows.
    fn is_rounding(&mut self, l: usize, job: &Job) -> bool {
        let (q, v, mut allowed) = (self.all(Group::Q, l), self.all(Group::V, l), self.all(Group::Noise, l));
        let at = (self.get(rows::T, l), &q[..], &v[..]);
        let Hand { local, noise, .. } = &mut self.hand;
        let has_grown = noise.raise(local, at, &job.start.parameters, &mut allowed);
        self.set_all(Group::Noise, l, allowed);
        has_grown
    }

    /// The event engine goes on from the state of a lane, or from that before its last step.
    fn hand_over(&mut self, l: usize, back: bool, job: &Job, wanted: &Wanted) -> Option<Outcome> {
        let d = self.code.d;
        let (t, q, v) = match back {
            true => {
                let before = self.all(Group::Before, l);
                // (The step is made again, with its crossings.)
                self.lanes[l].tally.retract(before[0]);
                (before[0], before[1..=d].to_vec(), before[1 + d..].to_vec())
            }
            false => (self.get(rows::T, l), self.all(Group::Q, l), self.all(Group::V, l)),
        };
        let (held, zeros) = (self.get(rows::HELD, l), self.all(Group::Zeros, l));
        let mut start = Start::new(t, q, v).with_parameters(job.start.parameters.clone());
        let quiet: Vec<usize> = (0..self.code.m).filter(|&a| zeros[a] == 2.0 && !back).collect();
        self.hand.quieten(&mut start, &quiet);
        let touched = self.hand.touched(&start, self.get(rows::WIDEST, l));
        let is_closed = |a: &usize| held == *a as f64 || (zeros[*a] > 0.0 && !back) || touched.contains(a);
        let closed = (0..self.code.m).filter(is_closed).collect();
        let sides =
            self.all(if back { Group::SideBefore } else { Group::Side }, l).iter().map(|&side| side as i8).collect();
        let start = start.reached(Reached { closed, sides, ..Reached::default() });
        // (Where flight is linear the pace means nothing.)
        let pace = if self.code.linear.is_none() { self.all(Group::Pace, l) } else { Vec::new() };
        let last = pace.into_iter().fold(self.get(rows::LAST, l), f64::max);
        let state = &mut self.lanes[l];
        state.handed += 1;
        let left = self.hand.go_on(&mut state.tally, start, last, state.handed, job, wanted);
        self.take_back(l, left, job, wanted)
    }

    /// The event engine begins with a trajectory that starts on a constraint.
    fn begin(&mut self, l: usize, job: &Job, wanted: &Wanted) -> Option<Outcome> {
        let state = &mut self.lanes[l];
        state.handed += 1;
        let left = self.hand.begin(&mut state.tally, job, wanted);
        let outcome = self.take_back(l, left, job, wanted);
        // (The code knows nothing about it yet.)
        self.set(rows::PLACED, l, 2.0);
        outcome
    }

    /// A lane goes on from where the event engine left its trajectory.
    fn take_back(&mut self, l: usize, left: Left, job: &Job, wanted: &Wanted) -> Option<Outcome> {
        match left {
            Left::Refused(reason) => {
                self.set(rows::ACTIVE, l, 0.0);
                Some(Outcome::refused(job, reason))
            }
            Left::Ended(status, end) => Some(self.finish(l, status, end, (job, wanted))),
            Left::Stopped => None,
            Left::At(end) => {
                self.place(l, &end, job);
                let sides = end.reached_by().map_or(&[][..], |reached| &reached.sides);
                self.set_all(Group::Side, l, sides.iter().map(|side| f64::from(side.signum())));
                self.set_all(Group::SideBefore, l, sides.iter().map(|side| f64::from(side.signum())));
                None
            }
        }
    }

    /// The trajectory of a lane has ended.
    fn finish(&mut self, l: usize, status: Status, end: Start, (job, wanted): (&Job, &Wanted)) -> Outcome {
        self.set(rows::ACTIVE, l, 0.0);
        let mut tally = std::mem::take(&mut self.lanes[l].tally);
        let (residual, violation) = (self.get(rows::RESIDUAL, l), self.get(rows::VIOLATION, l));
        check(&mut tally, residual, violation, self.get(rows::WIDEST, l), self.hand.tolerance, &end.q);
        let parameters = if tally.is_tracking() { self.all(Group::Parameters, l) } else { Vec::new() };
        tally.outcome(&mut self.hand.meetings, status, end.with_parameters(parameters), job, wanted)
    }
}

/// Whether something is closed at a start.
fn is_on_constraint(start: &Start) -> bool {
    start.closed().is_some_and(|closed| !closed.is_empty())
}

/// Whether the code itself drops states at sections that are not wanted. (What a trajectory settled on is seen from all of them.)
fn keeps_lasts(wanted: &Wanted) -> bool {
    wanted.sections && !wanted.settled && wanted.last.is_some_and(|last| last + 2 <= LASTING)
}

impl<I: Iterate> CompiledWorker<I> {
    /// Runs all jobs. Outcomes are missing where it was stopped, or where what computes them failed: nothing is known then about those
    /// that were under way.
    pub fn attempt(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> (Vec<Option<Outcome>>, Result<(), Fault>) {
        let mut outcomes: Vec<Option<Outcome>> = vec![None; jobs.len()];
        let mut order = if self.iteration.is_coupled() { neighbours(jobs) } else { (0..jobs.len()).collect() }
            .into_iter()
            .peekable();
        (0..self.state.width).for_each(|l| self.set(rows::ACTIVE, l, 0.0));
        self.steps.iter_mut().for_each(|steps| steps.left.clear());
        let mut flags = 0;
        flags |= if wanted.impacts > 0 || wanted.settled { flag::HITS } else { 0 };
        flags |= if wanted.strobe || wanted.settled { flag::STROBES } else { 0 };
        flags |= if wanted.settled { flag::TRACKS } else { 0 };
        flags |= if wanted.sections { flag::SECTIONS } else { 0 };
        flags |= if keeps_lasts(wanted) { flag::LASTS } else { 0 };
        let room = self.iteration.prepare(self.state.width.min(jobs.len()), flags);
        self.state.used = match room {
            Ok(room) => room.min(self.state.width).min(jobs.len()),
            Err(fault) => return (outcomes, Err(fault)),
        };
        // Lanes with a trajectory, and without.
        let (mut busy, mut free): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..self.state.used).rev().collect());
        loop {
            while let Some((&l, job)) = free.last().zip(order.peek().copied()) {
                order.next();
                if self.load(l, job, jobs, wanted) {
                    if is_on_constraint(&jobs[job].start)
                        && let Some(outcome) = self.begin(l, &jobs[job], wanted)
                    {
                        outcomes[job] = Some(outcome);
                        continue;
                    }
                    free.pop();
                    busy.push(l);
                } else if let Some(steps) = &mut self.steps {
                    steps.left.push(job);
                } else {
                    outcomes[job] = Scalar::new(&self.hand.problem, &self.hand.stop).one(&jobs[job], wanted);
                }
            }
            if busy.is_empty() || self.hand.stop.load(Ordering::Relaxed) {
                break;
            }
            if let Err(fault) = self.iteration.advance(&mut self.state, &mut self.log, self.hand.tolerance, flags) {
                return (outcomes, Err(fault));
            }
            busy.retain(|&l| {
                if self.get(rows::SIGNAL, l) != 0.0
                    && let Some(outcome) = self.answer(l, jobs, wanted)
                {
                    outcomes[self.lanes[l].job] = Some(outcome);
                }
                let goes_on = self.get(rows::ACTIVE, l) != 0.0;
                if !goes_on {
                    free.push(l);
                }
                goes_on
            });
        }
        if let Some(steps) = &mut self.steps {
            steps.run_left(&self.hand, jobs, wanted, &mut outcomes);
        }
        (outcomes, Ok(()))
    }
}

impl<I: Iterate> Worker for CompiledWorker<I> {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        // Those up to the first that is missing.
        self.attempt(jobs, wanted).0.into_iter().map_while(|outcome| outcome).collect()
    }
}
