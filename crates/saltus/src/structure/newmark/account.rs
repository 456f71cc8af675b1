//! Work and losses of the steps.

use super::Newmark;
use crate::linalg::Rows;
use crate::stepping::Account;

impl Newmark {
    /// The energy of the massless degrees of freedom, ½ z·K_zz z.
    pub(super) fn held(&self, z: impl Fn(usize) -> f64) -> f64 {
        0.5 * self.flexibility.iter().map(|&(i, j, k)| k * z(i) * z(j)).sum::<f64>()
    }

    /// Work and losses at node n, now that both sides of it are known.
    pub(super) fn keep_account(&mut self) {
        let h = self.h;
        let (earlier, later) = match &mut self.springs {
            Some(springs) => springs.rubbed(&self.before, &self.after),
            None => (0.0, 0.0),
        };
        if let (Some(springs), Some(_)) = (&self.springs, &self.nodal) {
            self.pending = Account { dissipated: later, ..Account::default() };
            self.account.dissipated += earlier;
            for a in (0..self.impulses.len()).filter(|&a| self.compliant[a]) {
                self.pending.lost += springs.damped(a);
            }
            for (l, (now, next)) in self.averages.now().iter().zip(self.averages.next()).enumerate() {
                self.pending.work += 0.5 * (now + next) * self.linear.loads.dot(l, &self.after);
            }
            let middle = |i: usize| self.q[i] + 0.5 * self.after[i];
            self.pending.work -= self.linear.circulation(|i| self.after[i], middle);
            if !self.signals.is_fixed() {
                let acting = (0..self.impulses.len()).filter(|&a| self.impulses[a] > 0.0);
                let taken = acting.map(|a| springs.taken_by_wall(a, springs.path(a, &self.after)));
                self.pending.lost += taken.sum::<f64>();
            }
            return;
        }
        // The first step has an account only where energies live at the nodes.
        if self.n == 0 {
            return;
        }
        // Rows · (u^{n+1} − u^{n−1})/2 = h · velocity.
        let path = |rows: &Rows, r: usize| 0.5 * (rows.dot(r, &self.before) + rows.dot(r, &self.after));
        // Against a stop, in the direction in which a hole is turned.
        let against = |rows: &Rows, a: usize| match self.springs.as_ref().filter(|_| self.round[a]) {
            Some(springs) => 0.5 * (springs.path(a, &self.before) + springs.path(a, &self.after)),
            None => path(rows, a),
        };
        let (mut pending, mut taken) = (Account { dissipated: earlier + later, ..Account::default() }, 0.0);
        let mean = |i: usize| self.q[i] + 0.25 * (self.after[i] - self.before[i]);
        pending.work -= self.linear.circulation(|i| 0.5 * (self.before[i] + self.after[i]), mean);
        for (l, s) in self.averages.mean().iter().enumerate() {
            if *s != 0.0 {
                pending.work += s * path(&self.linear.loads, l);
            }
        }
        for a in 0..self.impulses.len() {
            if !self.compliant[a] {
                if self.impulses[a] != 0.0 {
                    pending.lost -= self.impulses[a] / h * against(&self.linear.stops, a);
                }
                continue;
            }
            // What the springs push; what they lose follows below.
            let push: f64 = (0..3).map(|k| self.weights[k] * self.forces[k][a]).sum();
            if push != 0.0 {
                taken -= push * against(&self.pushed, a);
            }
        }
        if !self.massless.is_empty() {
            let held = |sign: f64, step: &[f64]| self.held(|i| self.q[i] + sign * step[i]);
            taken -= 0.5 * (held(1.0, &self.after) - held(-1.0, &self.before));
            for (l, s) in self.averages.mean().iter().enumerate().filter(|(_, s)| **s != 0.0) {
                let own = self.linear.loads.entries(l).filter(|(i, _)| self.massless.contains(i));
                taken += own.map(|(i, b)| 0.5 * s * b * (self.before[i] + self.after[i])).sum::<f64>();
            }
            pending.lost += taken;
            self.taken += taken;
        }
        self.pending = pending;
    }
}
