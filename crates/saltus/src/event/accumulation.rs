//! Accumulation: infinitely many impacts in a finite time, extrapolated to their limit.
//!
//! After an impact a closed gap opens with speed U while the forces press it with an acceleration A < 0. It will rise by
//! U²/2|A|. When that is below the tolerance (relative to the largest gap since the last contact), no later bounce of this sequence can be
//! told from contact: the motion continues on the constraints from here, with the gap velocities removed in the kinetic
//! metric, and with friction that slides its part of the impulses: the sum of those to come is what contact would give until the
//! limit, less this one. What is lost is below the tolerance in position, and U in velocity for the time that is left.
//!
//! This is a limit only if the contact then holds: the complementarity problem with these constraints must press all of
//! them, and their reactions must stay positive until the sequence would have ended. Otherwise the bounces are followed on,
//! one by one.
//!
//! The end of the sequence: with one constraint and A constant over what is left, flights last 2U/|A|, 2eU/|A|, …, in
//! all 2U/(|A|(1−e)); the change of this prediction since the impact before, once for each of about 1/(1−e) impacts to come,
//! bounds its error. For several
//! constraints in turn (a block on two corners) the times of the impacts themselves are extrapolated: Aitken's Δ² over
//! one cycle.

use super::vary::Crossed;
use super::{EventEngine, Touch};
use crate::record::Settling;
use crate::{Phase, PhaseKind, Reason};

impl EventEngine {
    /// Ends a sequence of impacts that follow each other at one place without time going on (a corner so narrow that each
    /// impact closes the other gap). If all of them lose speed, and the speeds fall by a factor, they fall to zero; all impulses are along M⁻¹∇f of these
    /// constraints, so the velocity in the limit is the present one less its part in their span, whatever the order.
    pub(super) fn collapse(&mut self) -> Result<(), Reason> {
        self.buffers.members.clear();
        self.buffers.members.extend((0..self.touch.len()).filter(|&a| self.touch[a] != Touch::Open));
        // Independent ones among them: those that press when everything is pushed in.
        self.buffers.rows.clear();
        self.buffers.offsets.clear();
        self.buffers.x.fill(0.0);
        for &a in &self.buffers.members {
            self.buffers.rows.push_row_of(&self.flow.gradients, a);
            self.buffers.offsets.push(-1.0);
        }
        let solved =
            self.kernel.project(&self.flow.metric, &self.buffers.rows, &self.buffers.offsets, &mut self.buffers.x);
        solved.map_err(|e| self.refused(e))?;
        let acting = self.buffers.members.iter().copied().zip(self.kernel.multipliers().iter().copied());
        let held: Vec<usize> = acting.filter(|&(_, p)| p > 0.0).map(|(a, _)| a).collect();
        let (start, impacts) = self.record.sequence(&held);
        let mut phase = Phase::new(PhaseKind::Chatter, start.min(self.t), self.t, &held);
        phase.impacts = impacts;
        phase.error = (4.0 * f64::EPSILON * self.t.abs()).max(f64::MIN_POSITIVE);
        self.vary_crosses(Crossed::Corner);
        let rows = self.rows_with(&held);
        self.flow.set_working(&rows);
        self.hold(0.0)?;
        let settling = Settling { at_once: true, ..self.settling(self.t, &held) };
        self.record.settle(settling, Some(phase));
        Ok(())
    }

    /// What the present correction of the velocity did.
    fn settling(&self, limit: f64, listed: &[usize]) -> Settling {
        let (held, m) = (self.flow.pressing(), self.touch.len());
        let corrections = self.flow.corrections();
        let others = self.flow.working().iter().zip(corrections).skip(held.len());
        Settling {
            t: self.t,
            limit,
            impacts: 0,
            listed: listed.to_vec(),
            constraints: held.to_vec(),
            impulses: corrections[..held.len()].to_vec(),
            others: others.map(|(&row, &p)| (row - m, p)).collect(),
            at_once: false,
        }
    }

    /// Whether all closed constraints lose speed at an impact.
    pub(super) fn loses_speed(&self) -> bool {
        let e = self.instance.restitution();
        (0..self.touch.len()).all(|a| self.touch[a] == Touch::Open || e[a] < 1.0)
    }

    /// The largest gap velocity of the closed constraints.
    pub(super) fn largest_rate(&self) -> f64 {
        let closed = (0..self.touch.len()).filter(|&a| self.touch[a] != Touch::Open);
        closed.map(|a| self.flow.gap_rate(a, &self.v).abs() / self.rate_scale[a].max(1e-300)).fold(0.0, f64::max)
    }

    /// Looks, after an impact, for bounces below the tolerance, and ends their sequence if its limit is certain.
    pub(super) fn settle(&mut self) -> Result<(), Reason> {
        self.buffers.members.clear();
        for a in 0..self.touch.len() {
            if self.touch[a] != Touch::Open && self.flow.gap_rate(a, &self.v).abs() <= self.still(a) {
                self.buffers.members.push(a);
            }
        }
        let resting = self.buffers.members.len();
        self.complementarity()?;
        // For each constraint that bounces: where its own sequence would end.
        let (mut ends, mut errors): (Vec<(usize, f64)>, Vec<f64>) = (Vec::new(), Vec::new());
        for a in 0..self.touch.len() {
            let rate = self.flow.gap_rate(a, &self.v);
            if self.touch[a] == Touch::Open || rate.abs() <= self.still(a) {
                continue;
            }
            let press = -self.flow.gap_acceleration(a, &self.buffers.x);
            let e = self.restitution(a, rate.abs())?;
            let low = press > 0.0 && 0.5 * rate * rate / press <= self.near(a).max(16.0 * self.noise[a]);
            if !low && rate < 0.0 {
                // The impact has closed another gap: its own comes first.
                return Ok(());
            }
            if press > 0.0 {
                // (Without loss they would go on for ever, lower than can be told from contact.)
                let loss = if e < 1.0 { 1.0 - e } else { 1.0 };
                let lasts = 2.0 * rate.abs() / (press * loss);
                let end = self.t + lasts;
                let before = self.record.predict(a, end);
                if low {
                    self.buffers.members.push(a);
                    ends.push((a, end));
                    // The prediction goes on changing, by less at each of the impacts to come.
                    let change = before.map_or(lasts, |before| (end - before).abs());
                    errors.push((change + 16.0 * f64::EPSILON * lasts) / loss);
                }
            }
        }
        let bounces = self.buffers.members.len() - resting;
        if bounces == 0 {
            return Ok(());
        }
        self.complementarity()?;
        // Those that bounce must all be pressed.
        if self.buffers.lambda[resting..self.buffers.members.len()].iter().any(|&p| !(p > 0.0)) {
            return Ok(());
        }
        let bouncing: Vec<usize> = self.buffers.members[resting..].to_vec();
        let mut held: Vec<usize> = (0..self.buffers.members.len())
            .filter(|&k| self.buffers.lambda[k] > 0.0)
            .map(|k| self.buffers.members[k])
            .collect();
        held.sort_unstable();
        let single = bounces == 1 && self.record.is_single(bouncing[0], &held);
        let (limit, error, listed) = match (single, self.record.extrapolate(&held)) {
            (true, _) => (ends[0].1, errors[0], &bouncing),
            (false, Some((limit, error))) => (limit, error, &held),
            (false, None) => {
                let latest = ends.iter().map(|e| e.1).fold(self.t, f64::max);
                (latest, latest - self.t, &held)
            }
        };
        let left = limit - self.t;
        // On the constraints, and the reactions until the end of the sequence.
        let (q, v) = (self.q.clone(), self.v.clone());
        let rows = self.rows_with(&held);
        self.flow.set_working(&rows);
        self.hold(2.0 * left.max(0.0))?;
        // What the correction of the velocity takes away again, the reactions give until the limit; friction that slides goes
        // along with both.
        let drags = self.flow.friction.is_sliding();
        if drags {
            self.v.copy_from_slice(&v);
            self.flow.evaluate(self.t, &self.q, &self.v, false)?;
            self.flow.hold_with_friction(&mut self.v)?;
        }
        let mut settling = self.settling(limit, listed);
        if drags {
            let m = self.touch.len();
            settling.others.extend(self.flow.dragged(self.flow.corrections()).map(|(row, p)| (row - m, p)));
        }
        let holds = self.flow.expand(self.t, &self.q, &self.v, &rows, true).is_ok()
            && (0..held.len()).all(|k| self.roots.first_negative(self.flow.reaction(k), left.max(0.0), 0.0).is_none());
        if !holds {
            (self.q, self.v) = (q, v);
            return self.evaluate(true);
        }
        self.vary_settles(&v, &rows);
        let (start, impacts) = self.record.sequence(listed);
        let is_lossy = listed.iter().any(|&a| self.instance.restitution()[a] < 1.0);
        let phase = is_lossy.then(|| {
            let mut phase = Phase::new(PhaseKind::Chatter, start.min(self.t), limit, listed);
            phase.impacts = impacts;
            // Each impact is rounded once or twice.
            phase.error = error + (4.0 + 2.0 * (impacts as f64).sqrt()) * f64::EPSILON * limit.abs();
            phase
        });
        self.record.settle(settling, phase);
        self.evaluate(true)
    }
}
