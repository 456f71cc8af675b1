//! Lanes in linear flight: from impact to impact, and from stop to stop, without the series of the model.

use super::code::MOST;
use super::trace::{BEFORE, NONE};
use super::worker::LaneWorker;
use crate::{Hit, Job, Outcome, Wanted};
use saltus_expr::Lane;
use std::sync::atomic::Ordering;

impl<const W: usize> LaneWorker<W> {
    /// Goes on in all lanes whose flight is linear, until each of them has come to something that is not plain, or many of them have.
    pub(super) fn fly(&mut self, jobs: &[Job], wanted: &Wanted, more: bool, outcomes: &mut [Option<Outcome>]) {
        if !wanted.statistics.is_empty() || !self.take_off(jobs) {
            return;
        }
        let mut is_first = true;
        let keeps = wanted.impacts > 0 || wanted.settled;
        while let Some(glide) = &mut self.glide {
            glide.tracks = wanted.settled;
            glide.see();
            glide.run();
            let met = glide.meet();
            if keeps {
                self.keep_hits(&met.hits, jobs, wanted);
            }
            let is_stopped = self.hand.stop.load(Ordering::Relaxed);
            if !(std::mem::take(&mut is_first) || met.leaves || is_stopped) {
                continue;
            }
            for l in (0..W).filter(|&l| met.doubts[l] + met.ends[l] > 0.0) {
                self.land(l, jobs);
                if met.doubts[l] > 0.0 {
                    continue;
                }
                if let Some(outcome) = self.pass(l, jobs, wanted) {
                    outcomes[self.lanes[l].job] = Some(outcome);
                } else {
                    self.board(l, jobs);
                }
            }
            let waits = |l: &usize| match self.group.modes[*l].is_active {
                true => !self.lanes[*l].glides,
                false => more,
            };
            let glides = self.lanes.iter().filter(|lane| lane.glides).count();
            if glides == 0 || is_stopped || 4 * (0..W).filter(waits).count() >= W {
                break;
            }
        }
        for l in 0..W {
            self.group.modes[l].waits |= self.lanes[l].glides;
        }
    }

    /// Takes lanes into linear flight that are in flight; whether there are any.
    fn take_off(&mut self, jobs: &[Job]) -> bool {
        if self.glide.is_none() {
            return false;
        }
        for l in 0..W {
            match self.lanes[l].glides {
                true => self.group.modes[l].waits = false,
                false => self.board(l, jobs),
            }
        }
        self.lanes.iter().any(|lane| lane.glides)
    }

    /// Takes lane l into linear flight, if it is in flight.
    fn board(&mut self, l: usize, jobs: &[Job]) {
        let LaneWorker { group, glide, lanes, .. } = self;
        let Some(glide) = glide else { return };
        let (d, m) = (group.code.d, group.code.m);
        glide.goes.0[l] = 0.0;
        let (mode, state) = (&group.modes[l], &mut lanes[l]);
        let is_flying = mode.is_active && !(mode.waits || mode.is_new || mode.held.is_some() || state.has_arrived);
        let mut touched = (0..m).filter(|&a| mode.zeros[a] > 0);
        let (left, other) = (touched.next(), touched.next());
        if !is_flying || other.is_some() || left.is_some_and(|a| mode.zeros[a] > 1) || !(glide.interval.0[l] > 0.0) {
            return;
        }
        let (mut q, mut v) = ([0.0; MOST], [0.0; MOST]);
        group.state(l, &mut q, &mut v);
        let (t, stop, from) = (group.t.0[l], group.stop.0[l], jobs[state.job].from);
        let end = if t < from { stop.min(from) } else { stop };
        glide.place(l, t, &q[..d], &v[..d], left, end);
        for a in 0..m {
            glide.extent[a].0[l] = group.extent[a].0[l];
        }
        glide.trace.begin(l, from);
        state.glides = true;
    }

    /// Lane l leaves linear flight where it is.
    fn land(&mut self, l: usize, jobs: &[Job]) {
        let LaneWorker { group, glide, lanes, .. } = self;
        let (Some(glide), state) = (glide, &mut lanes[l]) else { return };
        state.glides = false;
        glide.goes.0[l] = 0.0;
        let trace = &glide.trace;
        if !(trace.moved[l] > 0.0) {
            return;
        }
        let (d, m) = (group.code.d, group.code.m);
        let (mut q, mut v) = ([0.0; MOST], [0.0; MOST]);
        glide.state(l, &mut q, &mut v);
        let t = glide.t.0[l];
        group.set_state(l, t, &q[..d], &v[..d]);
        group.forget_scales(l);
        let mode = &mut group.modes[l];
        mode.zeros = [0; MOST];
        for a in 0..m {
            mode.zeros[a] = u8::from(glide.is_left[a].0[l] > 0.0);
            let extent = glide.extent[a].0[l];
            group.extent[a].0[l] = extent;
            group.widest.0[l] = group.widest.0[l].max(extent);
        }
        state.idle = 0;
        if trace.bounced[l] != BEFORE {
            let which = Some(trace.bounced[l]).filter(|&a| a != NONE).map(|a| a as usize);
            state.bounced = which.map(|a| (a, glide.restitutions[a][l]));
        }
        state.tally.impacts += trace.impacts[l] as u64;
        let checks = &mut state.tally.checks;
        checks.law = checks.law.max(trace.law[l]);
        group.violation[l] = group.violation[l].max(trace.violation[l]);
        if state.tally.is_tracking() && t >= jobs[state.job].from {
            let largest: Vec<f64> = glide.largest.iter().map(|x| x.0[l]).collect();
            state.tally.glide(t, &q[..d], &v[..d], &largest);
        }
    }

    /// Impacts in linear flight, where they are of use one by one.
    fn keep_hits(&mut self, hits: &Lane<W>, jobs: &[Job], wanted: &Wanted) {
        let LaneWorker { glide, lanes, .. } = self;
        let Some(glide) = glide else { return };
        for l in (0..W).filter(|&l| hits[l] >= 0.0) {
            let (t, state) = (glide.t[l], &mut lanes[l]);
            if t >= jobs[state.job].from {
                let (speed, impulse) = (glide.trace.speed[l], glide.trace.impulse[l]);
                state.tally.hit(wanted, Hit { t, constraint: hits[l] as u32, speed, impulse });
            }
        }
    }
}
