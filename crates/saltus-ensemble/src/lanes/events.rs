//! What happens to a lane at the ends of its steps.

use super::code::MOST;
use super::group::{Event, Group};
use super::hand::{Hand, Left};
use super::limits::{MANY, PATIENCE, STILL, TOUCHES, TRUST, WINDOW};
use super::worker::{LaneState, LaneWorker, returns_left};
use crate::statistics::Read;
use crate::{Hit, Job, Outcome, Wanted};
use saltus::Start;
use saltus::problem::Reached;
use saltus_expr::Scalar as Evaluator;

impl<const W: usize> LaneWorker<W> {
    /// After the expansion: starts that are not free, steps that failed, bounces that end.
    pub(super) fn judge(&mut self, l: usize, residual: f64, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let (d, m) = (self.group.code.d, self.group.code.m);
        let job = &jobs[self.lanes[l].job];
        if !(residual <= TRUST * self.group.tolerance) && !self.is_rounding(l) {
            return self.hand_over(l, true, jobs, wanted);
        }
        if wanted.sections && self.lanes[l].bounced.is_some() && self.note_jumps(l, jobs) {
            return self.pass(l, jobs, wanted);
        }
        if std::mem::take(&mut self.lanes[l].has_arrived)
            && let Some(outcome) = self.pass(l, jobs, wanted)
        {
            return Some(outcome);
        }
        if std::mem::take(&mut self.group.modes[l].is_new) {
            let reach = self.group.find_pace(l);
            for a in 0..m {
                // With a start on a constraint, or beyond one, the event engine begins.
                let [gap, rate, ..] = self.group.gap(a, l);
                if !(gap > 1e-9 * rate.abs() * reach) {
                    return match self.group.t.0[l] == job.start.t {
                        true => self.begin(l, jobs, wanted),
                        false => self.hand_over(l, false, jobs, wanted),
                    };
                }
            }
        }
        if let Some(a) = self.group.modes[l].held {
            // Contact does not drift.
            let [gap, rate, ..] = self.group.gap(a, l);
            let inverse = self.group.inverse.0[l];
            for i in 0..d {
                let pull = self.group.pull[i].0[l] * inverse;
                self.group.series.input_mut(1 + i, 0).0[l] -= gap * pull;
                self.group.series.input_mut(1 + d + i, 0).0[l] -= rate * pull;
            }
        }
        let (a, e) = self.lanes[l].bounced.take()?;
        let [_, rate, half, third] = self.group.gap(a, l);
        let press = -2.0 * half;
        let extent = self.group.extent[a].0[l];
        if !(press > 0.0) || 0.5 * rate * rate / press > self.group.tolerance * extent {
            return None;
        }
        // A bounce that cannot be told from contact: the limit of those that follow.
        let left = 2.0 * rate / (press * if e < 1.0 { 1.0 - e } else { 1.0 });
        if -(2.0 * half + 6.0 * third * left) < 0.5 * press {
            return None;
        }
        if !self.group.code.can_hold || self.group.modes[l].held.is_some() {
            return self.hand_over(l, false, jobs, wanted);
        }
        self.close(l, a, rate, job, e);
        None
    }

    /// Whether rounding alone makes the acceleration of lane l another one than the last step ended with: near an equilibrium.
    fn is_rounding(&mut self, l: usize) -> bool {
        let d = self.group.code.d;
        let (mut q, mut v, mut allowed) = ([0.0; MOST], [0.0; MOST], [0.0; MOST]);
        self.group.state(l, &mut q, &mut v);
        (0..d).for_each(|i| allowed[i] = self.group.noise[i].0[l]);
        let Hand { local, noise, .. } = &mut self.hand;
        let at = (self.group.t.0[l], &q[..d], &v[..d]);
        if !noise.raise(local, at, &self.lanes[l].open, &mut allowed[..d]) {
            return false;
        }
        (0..d).for_each(|i| self.group.noise[i].0[l] = allowed[i]);
        self.group.residual_of(l) <= TRUST * self.group.tolerance
    }

    /// Contact from here on: the gap velocity is taken away, and the lane waits for its next expansion.
    fn close(&mut self, l: usize, a: usize, rate: f64, job: &Job, e: f64) {
        let d = self.group.code.d;
        let (mut q, mut v, mut pull) = ([0.0; MOST], [0.0; MOST], [0.0; MOST]);
        self.group.state(l, &mut q, &mut v);
        let t = self.group.t.0[l];
        self.hand.local.evaluate(t, &q[..d], &v[..d], &self.lanes[l].open);
        let compliance = self.hand.local.pull(a, &mut pull);
        for i in 0..d {
            v[i] -= rate * pull[i] / compliance;
            self.group.slope[i].0[l] = self.hand.local.slope(a)[i];
            self.group.pull[i].0[l] = pull[i];
        }
        self.group.inverse.0[l] = 1.0 / compliance;
        self.group.set_state(l, t, &q[..d], &v[..d]);
        let mode = &mut self.group.modes[l];
        mode.held = Some(a);
        mode.zeros[a] = 0;
        self.group.extent[a].0[l] = 0.0;
        self.group.modes[l].waits = true;
        if e > 0.0 && e < 1.0 && t >= job.from {
            self.lanes[l].tally.accumulations += 1;
        }
    }

    /// What an event does to a lane.
    pub(super) fn handle(
        &mut self,
        l: usize,
        event: Option<Event>,
        h: f64,
        jobs: &[Job],
        wanted: &Wanted,
    ) -> Option<Outcome> {
        let mode = &mut self.group.modes[l];
        if mode.waits {
            mode.waits = false;
            return None;
        }
        if wanted.sections {
            match event {
                Some(Event::Unclear) => self.group.sections.stand(l),
                _ => self.note_crossings(l, jobs),
            }
        }
        let mode = &mut self.group.modes[l];
        if h > 0.0 && event.is_none_or(|event| !matches!(event, Event::Hit(_) | Event::Release)) {
            // Clear of what it had just left.
            mode.zeros = [0; MOST];
        }
        self.lanes[l].idle = if h > 64.0 * f64::EPSILON * self.group.t.0[l].abs() { 0 } else { self.lanes[l].idle + 1 };
        if self.lanes[l].idle > PATIENCE {
            return self.hand_over(l, true, jobs, wanted);
        }
        if self.is_endless(l, &jobs[self.lanes[l].job]) {
            // (The event engine says what is wrong with it.)
            self.lanes[l].handed = u32::MAX / 2;
            return self.hand_over(l, true, jobs, wanted);
        }
        if self.lanes[l].tally.gatherer.is_some() {
            self.lanes[l].tally.before = None;
        }
        if h > 0.0 && self.lanes[l].tally.gatherer.is_some() {
            self.gather(l, h, &jobs[self.lanes[l].job], wanted);
        }
        match event {
            None => {
                self.lanes[l].has_arrived = self.lanes[l].tally.is_tracking();
                None
            }
            Some(Event::Unclear) => self.hand_over(l, true, jobs, wanted),
            Some(Event::Stop | Event::Return) => {
                self.lanes[l].has_arrived = true;
                None
            }
            Some(Event::Release) => {
                let a = self.group.modes[l].held?;
                self.group.let_go(l);
                let mode = &mut self.group.modes[l];
                mode.zeros[a] = 3;
                self.group.extent[a].0[l] = 0.0;
                self.group.is_smooth[l] = false;
                None
            }
            Some(Event::Hit(a)) => {
                let returns_at_once = self.group.modes[l].zeros[a] > 1 && self.lanes[l].idle > 0;
                if self.group.modes[l].held.is_some() || returns_at_once {
                    return self.hand_over(l, true, jobs, wanted);
                }
                let d = self.group.code.d;
                let (mut q, mut v, mut pull) = ([0.0; MOST], [0.0; MOST], [0.0; MOST]);
                self.group.state(l, &mut q, &mut v);
                let t = self.group.t.0[l];
                if !self.hand.local.evaluate(t, &q[..d], &v[..d], &self.lanes[l].open) {
                    return self.hand_over(l, true, jobs, wanted);
                }
                let (rate, size) = (self.hand.local.rate(a, &v), self.hand.local.rate_size(a, &v));
                let e = self.hand.local.restitution[a];
                // Grazing, and other gaps that close with it, are decided by the event engine.
                if !(rate < -1e-7 * size) || !(0.0..=1.0).contains(&e) || self.others_are_near(l, a, h) {
                    return self.hand_over(l, true, jobs, wanted);
                }
                let compliance = self.hand.local.pull(a, &mut pull);
                let impulse = -(1.0 + e) * rate / compliance;
                for i in 0..d {
                    v[i] += impulse * pull[i];
                }
                let after = self.hand.local.rate(a, &v);
                self.group.note_values(l, h);
                self.group.set_state(l, t, &q[..d], &v[..d]);
                // (A flight within one step has no other trace.)
                let extent = &mut self.group.extent[a].0[l];
                *extent = extent.max(0.25 * rate.abs() * h);
                let mode = &mut self.group.modes[l];
                mode.zeros = [0; MOST];
                mode.zeros[a] = if after.abs() <= STILL * size { 2 } else { 1 };
                let state = &mut self.lanes[l];
                state.bounced = Some((a, e));
                let checks = &mut state.tally.checks;
                checks.law = checks.law.max((after + e * rate).abs() / size);
                if t >= jobs[state.job].from {
                    state.tally.impacts += 1;
                    state.tally.hit(wanted, Hit { t, constraint: a as u32, speed: -rate, impulse });
                }
                None
            }
        }
    }

    /// Whether a lane would need more steps than anything but a stiff motion needs.
    fn is_endless(&mut self, l: usize, job: &Job) -> bool {
        let (t, state) = (self.group.t.0[l], &mut self.lanes[l]);
        state.steps.0 += 1;
        if state.steps.0 < WINDOW {
            return false;
        }
        let pace = (t - state.steps.1) / WINDOW as f64;
        state.steps = (0, t);
        !(job.end - t <= MANY * pace)
    }

    /// Adds the last step to the statistics.
    fn gather(&mut self, l: usize, h: f64, job: &Job, wanted: &Wanted) {
        let LaneWorker { group, quantities, lanes, .. } = self;
        let (Some(quantities), LaneState { tally, open, .. }) = (quantities.as_mut(), &mut lanes[l]) else { return };
        tally.before.clone_from(&tally.gatherer);
        let Some(gatherer) = &mut tally.gatherer else { return };
        let start = group.before[0].0[l];
        let (q, v) = ([0.0; MOST], [0.0; MOST]);
        let mut read = Within { group, quantities, open, chosen: &wanted.statistics, l, q, v };
        let (from, to) = (start.max(job.from), start + h);
        if to > from {
            gatherer.piece(&mut read, from, to);
        }
    }

    /// Whether another gap is as good as closed at a hit of gap a, a step h after the expansion.
    fn others_are_near(&self, l: usize, a: usize, h: f64) -> bool {
        let group = &self.group;
        (0..group.code.m).filter(|&b| b != a && group.modes[l].held != Some(b)).any(|b| {
            let row = group.series.output(group.code.gaps + b);
            let gap = row.iter().rev().fold(0.0, |sum, c| sum * h + c.0[l]);
            let known = 10.0 * group.tolerance * group.extent[b].0[l].max(gap.abs());
            gap <= known.max(TOUCHES * group.widest.0[l])
        })
    }

    /// The event engine goes on from the state of a lane, or, if the last step failed, from that before it.
    fn hand_over(&mut self, l: usize, back: bool, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let job = &jobs[self.lanes[l].job];
        let d = self.group.code.d;
        let (mut q, mut v) = ([0.0; MOST], [0.0; MOST]);
        let t = match back {
            true => {
                // (The step is made again, with its crossings.)
                let t = self.group.state_before(l, &mut q, &mut v);
                self.lanes[l].tally.retract(t);
                t
            }
            false => {
                self.group.state(l, &mut q, &mut v);
                self.group.t.0[l]
            }
        };
        let mode = &self.group.modes[l];
        let mut start = Start::new(t, q[..d].to_vec(), v[..d].to_vec()).with_parameters(self.lanes[l].open.clone());
        let quiet: Vec<usize> = (0..self.group.code.m).filter(|&a| mode.zeros[a] == 2 && !back).collect();
        self.hand.quieten(&mut start, &quiet);
        let touched = self.hand.touched(&start, self.group.widest.0[l]);
        let is_closed = |a: &usize| mode.held == Some(*a) || (mode.zeros[*a] > 0 && !back) || touched.contains(a);
        let closed: Vec<usize> = (0..self.group.code.m).filter(is_closed).collect();
        let state = &mut self.lanes[l];
        state.bounced = None;
        state.has_arrived = false;
        if back && state.tally.before.is_some() {
            state.tally.gatherer = state.tally.before.take();
        }
        state.handed += 1;
        let sides = self.group.sections.sides(l, t, back);
        let start = start.reached(Reached { closed, sides, ..Reached::default() });
        // (Where flight is linear the pace means nothing.)
        let is_curved = self.group.code.linear.is_none();
        let last = self.group.last.0[l].max(if is_curved { self.group.pace.0[l] } else { 0.0 });
        let left = self.hand.go_on(&mut state.tally, start, last, state.handed, job, wanted);
        self.take_back(l, left, job, wanted)
    }

    /// The event engine begins with a trajectory that starts on a constraint.
    pub(super) fn begin(&mut self, l: usize, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let state = &mut self.lanes[l];
        let job = &jobs[state.job];
        state.handed += 1;
        let left = self.hand.begin(&mut state.tally, job, wanted);
        self.take_back(l, left, job, wanted)
    }

    /// Lane l goes on from where the event engine left its trajectory.
    fn take_back(&mut self, l: usize, left: Left, job: &Job, wanted: &Wanted) -> Option<Outcome> {
        let end = match left {
            Left::Refused(reason) => {
                self.group.modes[l].is_active = false;
                return Some(Outcome::refused(job, reason));
            }
            Left::Ended(status, end) => {
                return Some(self.finish(l, status, (end.t, &end.q, &end.v), job, wanted));
            }
            Left::Stopped => return None,
            Left::At(end) => end,
        };
        let extents: Vec<f64> = self.group.extent.iter().map(|extent| extent.0[l]).collect();
        self.group.forget(l, self.group.last.0[l]);
        self.group.extent.iter_mut().zip(extents).for_each(|(extent, was)| extent.0[l] = was);
        self.group.set_state(l, end.t, &end.q, &end.v);
        let mode = &mut self.group.modes[l];
        mode.zeros = [0; MOST];
        mode.is_new = true;
        mode.waits = true;
        self.group.stop.0[l] = self.lanes[l].tally.stop(job);
        let sides = end.reached_by().map_or(&[][..], |reached| &reached.sides);
        self.group.sections.take_sides(l, end.t, sides);
        self.group.sections.left[l] = returns_left(&self.lanes[l].tally);
        None
    }
}

/// Quantities within the last step of lane l.
struct Within<'a, const W: usize> {
    group: &'a Group<W>,
    quantities: &'a mut Evaluator,
    open: &'a [f64],
    chosen: &'a [usize],
    l: usize,
    q: [f64; MOST],
    v: [f64; MOST],
}

impl<const W: usize> Read for Within<'_, W> {
    fn values(&mut self, t: f64, out: &mut [f64]) {
        let (d, start) = (self.group.code.d, self.group.before[0].0[self.l]);
        self.group.state_within(self.l, t - start, &mut self.q, &mut self.v);
        let inputs = self.quantities.inputs_mut();
        inputs[0] = t;
        inputs[1..=d].copy_from_slice(&self.q[..d]);
        inputs[1 + d..1 + 2 * d].copy_from_slice(&self.v[..d]);
        inputs[1 + 2 * d..1 + 2 * d + self.open.len()].copy_from_slice(self.open);
        self.quantities.run();
        out.iter_mut().zip(self.chosen).for_each(|(out, &k)| *out = self.quantities.output(k));
    }

    fn state(&self) -> (&[f64], &[f64]) {
        let d = self.group.code.d;
        (&self.q[..d], &self.v[..d])
    }
}
