//! The impact of a window: which constraints act together, when, how fast, and how far from the law.

use super::{SHORT, SLOW, Watch};
use crate::linalg::add;
use crate::motion::Measured;
use crate::record::Recorder;
use crate::stepping::Node;

impl Watch {
    /// Gives the acting constraints labels, one for each set that is coupled through ∇f·M⁻¹∇f; returns how many there are.
    pub(super) fn label_sets(&mut self) -> usize {
        if self.acted.len() < 2 {
            return self.acted.len();
        }
        // Joints and friction couple everything.
        if self.bonded.is_some() || !self.evaluate_window() {
            return 1;
        }
        self.acted.iter().enumerate().for_each(|(k, &a)| self.label[a] = k);
        for i in 0..self.acted.len() {
            let a = self.acted[i];
            self.gauge.response(a, &mut self.response);
            let gradients = &self.gauge.gaps.gradients;
            let own = gradients.dot(a, &self.response);
            for &b in &self.acted {
                let (keep, merge) = (self.label[a].min(self.label[b]), self.label[a].max(self.label[b]));
                if keep != merge && gradients.dot(b, &self.response).abs() > 1e-12 * own {
                    self.acted.iter().for_each(|&c| {
                        if self.label[c] == merge {
                            self.label[c] = keep
                        }
                    });
                }
            }
        }
        // Number them without holes.
        let mut sets = 0;
        for k in 0..self.acted.len() {
            if self.acted.iter().any(|&a| self.label[a] == k) {
                self.acted.iter().for_each(|&a| {
                    if self.label[a] == k {
                        self.label[a] = sets
                    }
                });
                sets += 1;
            }
        }
        sets
    }

    /// When the incoming motion meets a set of constraints, after the first node of the window.
    pub(super) fn meeting(&self, acted: &[usize], set: usize) -> f64 {
        let times = acted.iter().filter(|&&a| self.label[a] == set).filter_map(|&a| {
            let speed = self.gauge.gaps.rate(a, &self.window.v_left);
            (speed < 0.0).then(|| -self.gauge.gaps.values[a] / speed)
        });
        times.fold(f64::INFINITY, f64::min)
    }

    /// Gaps, their rates and responses at the beginning of the window; false if M is not positive definite there.
    pub(super) fn evaluate_window(&mut self) -> bool {
        let w = &self.window;
        self.gauge.gaps.evaluate(w.t, &w.q, &w.v_left);
        self.gauge.gaps.kinematics(w.t, &w.q, &w.v_left);
        self.gauge.prepare(w.t, &w.q, &w.v_left)
    }

    /// Lists the impact of the acting constraints; `jump` is theirs alone where others act in the same window.
    pub(super) fn list(&mut self, steps: f64, jump: Option<&[f64]>, out: &mut Recorder) {
        // The law acts at the instant the scheme declares, for the restitution of the strongest constraint; a window
        // longer than usual has its middle later.
        let strongest =
            self.acted.iter().copied().max_by(|&a, &b| self.window.impulses[a].total_cmp(&self.window.impulses[b]));
        let Some(strongest) = strongest else { return };
        let w = &self.window;
        self.gauge.gaps.kinematics(w.t, &w.q, &w.v_left);
        let e = self.gauge.restitution_at(strongest, self.gauge.gaps.rate(strongest, &self.window.v_left));
        let usual = self.scheme.contact_steps.map_or(steps, |n| n as f64);
        let extra = 0.5 * (steps - usual).max(0.0);
        let mut delay = ((self.scheme.impact_instant)(e) + extra) * self.h;
        self.bend();
        // Incoming motion: where it meets the first constraint.
        let w = &self.window;
        self.gauge.gaps.evaluate(w.t, &w.q, &w.v_left);
        self.gauge.gaps.kinematics(w.t, &w.q, &w.v_left);
        let mut meeting = f64::INFINITY;
        // One that was in contact all along says nothing about the instant.
        let is_hit = |a: usize| self.window.before[a] == 0.0;
        let any_hit = self.acted.iter().any(|&a| is_hit(a));
        for &a in self.acted.iter().filter(|&&a| is_hit(a) || !any_hit) {
            let speed = self.gauge.gaps.rate(a, &self.window.v_left);
            if speed < 0.0 {
                meeting = meeting.min(-self.gauge.gaps.values[a] / speed);
            }
        }
        self.carry(steps, delay, jump);
        let mut slow = self.is_slow();
        if self.slides.is_some() && slow && meeting > 0.0 && meeting < delay {
            // Forces that turn the motion around before the instant of the law: it is judged where it hits.
            delay = meeting;
            self.carry(steps, delay, jump);
            slow = self.is_slow();
        }
        if slow {
            out.audit.landings += 1;
            if self.gauge.is_moving {
                let work = self.acted.iter().map(|&a| self.window.impulses[a] * self.gauge.gaps.partial_t[a]);
                out.audit.contact_work -= work.sum::<f64>();
            }
            return;
        }
        let latest = delay.max((steps - 1.0) * self.h) + self.h;
        let meeting = if meeting.is_finite() { meeting.clamp(-2.0 * self.h, latest) } else { delay };
        for i in 0..self.window.q.len() {
            self.window.q[i] += meeting * self.window.v_left[i];
        }
        let t = self.window.t + meeting;
        if jump.is_none() {
            self.join(t);
        }
        let (energy_change, residual, speed) = self.judge(t, meeting - delay);
        let approach =
            self.acted.iter().map(|&a| self.gauge.gaps.rate(a, &self.v_before)).fold(f64::INFINITY, f64::min);
        self.settle(&mut out.audit);
        let impulses = self.acted.iter().map(|&a| (a, self.window.impulses[a]));
        let impact = Measured { t, energy_change, residual, speed, approach };
        let others = self.bonded.iter().flat_map(|bonded| bonded.listed.iter().copied());
        out.impact(&impact, &self.window.q, &self.v_before, &self.v_after, impulses, others);
    }

    /// The velocities before and after the window, carried to `delay` after its first node.
    fn carry(&mut self, steps: f64, delay: f64, jump: Option<&[f64]>) {
        // A compliant contact is a motion of its own: its velocities are those where it begins and ends.
        let rest = if self.scheme.contact_steps.is_some() { (steps - 1.0) * self.h - delay } else { 0.0 };
        for i in 0..self.v_before.len() {
            self.v_before[i] = self.window.v_left[i] + delay * self.window.acceleration[i];
            self.v_after[i] = match jump {
                Some(jump) => self.v_before[i] + jump[i],
                None => self.window.v_right[i] - rest * self.window.end_acceleration[i],
            };
        }
    }

    /// Whether the acting constraints are approached so slowly, in a structure after so short a flight, that this is a contact.
    fn is_slow(&self) -> bool {
        // The shocks of a structure are touches at least four steps apart: each of them begins with an impact.
        let g = &self.gauge.gaps;
        self.acted.iter().all(|&a| {
            // Only an acceleration towards the constraint brings the motion back to it.
            let recent = self.slides.is_none() || self.window.flight[a] <= SHORT;
            let towards = -g.gradients.dot(a, &self.window.acceleration) - self.bent[a];
            let normal = if recent { towards.max(0.0) } else { 0.0 };
            // Rounding in positions, divided by the step, is no approach either.
            let size = g.partial_t[a].abs() + g.gradients.dot_abs(a, &self.v_before);
            let rounding = 1e-9 * size + 16.0 * f64::EPSILON / self.h * g.gradients.dot_abs(a, &self.window.q);
            g.rate(a, &self.v_before) > -(SLOW * self.h * normal + rounding)
        })
    }

    /// Adds the reactions of contacts that last to the accelerations before and after the window, and to the limits of
    /// the velocity that the scheme made without them.
    pub(super) fn smooth(&mut self, next: Option<&Node>) {
        let lasting = next.map(|n| (&n.impulses[..], &n.others[..]));
        if self.window.before.iter().all(|&p| p == 0.0) {
            return;
        }
        if !self.evaluate_window() {
            return;
        }
        let (left, right) = if self.scheme.staggered { (0.5, 0.5) } else { (1.0, 0.0) };
        let before = (std::mem::take(&mut self.window.before), std::mem::take(&mut self.window.before_others));
        for (impulses, is_before) in [(Some((&before.0[..], &before.1[..])), true), (lasting, false)] {
            let Some((impulses, others)) = impulses else { continue };
            self.reaction.fill(0.0);
            for (a, &p) in impulses.iter().enumerate() {
                // Only contacts that lasted from before to after; one that begins here is part of the impact.
                if p > 0.0 && before.0[a] > 0.0 {
                    self.react(a, p, others);
                }
            }
            for i in 0..self.reaction.len() {
                if is_before {
                    self.window.v_left[i] += left * self.reaction[i];
                    self.window.acceleration[i] += self.reaction[i] / self.h;
                } else {
                    self.window.v_right[i] -= right * self.reaction[i];
                    self.window.end_acceleration[i] += self.reaction[i] / self.h;
                }
            }
        }
        (self.window.before, self.window.before_others) = before;
    }

    /// A constraint that is reached in the same instant and still closing is active too, even if the scheme gave it no
    /// impulse: the law is about all of them.
    fn join(&mut self, t: f64) {
        self.gauge.gaps.evaluate(t, &self.window.q, &self.v_before);
        self.gauge.gaps.kinematics(t, &self.window.q, &self.v_before);
        for a in (0..self.before.len()).filter(|&a| !self.gauge.compliant[a]) {
            let closing = self.gauge.gaps.rate(a, &self.v_before);
            let reached = self.gauge.gaps.values[a] <= -0.5 * self.h * closing;
            if closing < 0.0 && reached && !self.active.contains(&a) {
                self.active.push(a);
            }
        }
    }

    /// Change of kinetic energy, distance from the law, and speed, at the impact's position and instant. On return the
    /// velocities are those at the instant of the impact, `shift` after the one where the law was evaluated.
    fn judge(&mut self, t: f64, shift: f64) -> (f64, f64, f64) {
        if let Some(judged) = self.judge_bonded(t, shift) {
            return judged;
        }
        if !self.gauge.prepare(t, &self.window.q, &self.v_before) {
            return (f64::NAN, f64::NAN, f64::NAN);
        }
        self.gauge.gaps.kinematics(t, &self.window.q, &self.v_before);
        let n = self.active.len();
        for k in 0..n {
            self.gauge.response(self.active[k], &mut self.response);
            for (j, &b) in self.active.iter().enumerate() {
                self.delassus[j * n + k] = self.gauge.gaps.gradients.dot(b, &self.response);
            }
        }
        // Speeds in units of √energy: |U|/√D of the constraint with the largest.
        let weighted = |u: f64, k: usize, delassus: &[f64]| u.abs() / delassus[k * n + k].max(f64::MIN_POSITIVE).sqrt();
        let gaps = &self.gauge.gaps;
        let mut speed = 0.0_f64;
        for (k, &a) in self.active.iter().enumerate() {
            let fastest = gaps.rate(a, &self.v_before).abs().max(gaps.rate(a, &self.v_after).abs());
            speed = speed.max(weighted(fastest, k, &self.delassus));
        }
        self.v_law.copy_from_slice(&self.v_before);
        let mut holds = self.apply_law(true);
        self.lawful[..n].copy_from_slice(&self.kernel.multipliers()[..n]);
        // The deviation v⁺ − law(v⁻).
        for (law, v) in self.v_law.iter_mut().zip(&self.v_after) {
            *law = v - *law;
        }
        let gradients = &self.gauge.gaps.gradients;
        let off =
            self.active.iter().enumerate().map(|(k, &a)| weighted(gradients.dot(a, &self.v_law), k, &self.delassus));
        let residual = off.fold(0.0, f64::max) / speed.max(f64::MIN_POSITIVE);
        for (v, a) in self.v_before.iter_mut().zip(&self.window.acceleration) {
            *v += shift * a;
        }
        self.v_after.copy_from_slice(&self.v_before);
        holds &= self.apply_law(false);
        for (v, deviation) in self.v_after.iter_mut().zip(&self.v_law) {
            *v += deviation;
        }
        // The impulses move along, so that they explain the jump: what the constraints did against the forces during the
        // window is no part of the impact.
        let gradients = &self.gauge.gaps.gradients;
        let mut change = 0.0;
        for k in 0..n {
            let a = self.active[k];
            let moved = self.kernel.multipliers()[k] - self.lawful[k];
            self.window.impulses[a] = (self.window.impulses[a] + moved).max(0.0);
            let mean = 0.5 * (gradients.dot(a, &self.v_before) + gradients.dot(a, &self.v_after));
            change += self.window.impulses[a] * mean;
        }
        (change, if holds { residual } else { f64::NAN }, speed)
    }

    /// The law 0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 of the active constraints, applied to the velocity before an impact: `v_law` or
    /// `v_after`. False if it has no solution.
    fn apply_law(&mut self, judged: bool) -> bool {
        let n = self.active.len();
        let v = if judged { &mut self.v_law } else { &mut self.v_after };
        for (k, &a) in self.active.iter().enumerate() {
            let before = self.gauge.gaps.rate(a, v);
            self.slacks[k] = (1.0 + self.gauge.restitution_at(a, before)) * before;
        }
        let slacks = &mut self.slacks[..n];
        if self.kernel.complete(&self.delassus[..n * n], &self.units, slacks).is_err() {
            return false;
        }
        for (k, &a) in self.active.iter().enumerate() {
            let impulse = self.kernel.multipliers()[k];
            if impulse != 0.0 {
                self.gauge.response(a, &mut self.response);
                add(v, impulse, &self.response);
            }
        }
        true
    }
}
