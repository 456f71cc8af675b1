//! What reactions do: the Delassus matrix of the rows held.

use super::Flow;
use crate::Reason;
use crate::linalg::Metric;

impl Flow {
    /// The matrix of the rows held; with `pull`, of what their reactions do together with friction that slides, which makes it
    /// unsymmetric.
    pub(super) fn set_delassus(&mut self, pull: bool) -> Result<(), Reason> {
        let (d, m) = (self.d, self.working.len());
        if m == 0 {
            return Ok(());
        }
        if m > d {
            return Err(Reason::Dependent { constraint: self.row_name(self.working[d]) });
        }
        self.is_skew = pull && self.friction.is_sliding();
        let mut w = std::mem::take(&mut self.r);
        for k in 0..m {
            w.fill(0.0);
            match self.is_skew {
                true => self.add_direction(self.working[k], 1.0, &mut w),
                false => self.gradients.add_to(self.working[k], 1.0, &mut w),
            }
            self.metric.solve(&mut w);
            self.mobility[k * d..(k + 1) * d].copy_from_slice(&w);
            for (j, &row) in self.working.iter().enumerate() {
                self.pairs[j * m + k] = self.gradients.dot(row, &w);
            }
        }
        self.r = w;
        if self.is_skew {
            for (k, &row) in self.working.iter().enumerate() {
                // Painlevé: pushing would draw the bodies together.
                if !(self.pairs[k * m + k] > 0.0) {
                    return Err(Reason::Painleve { constraint: self.row_name(row) });
                }
            }
            let set = self.skew.set(m, &self.pairs[..m * m]);
            return set.map_err(|k| Reason::Dependent { constraint: self.row_name(self.working[k]) });
        }
        if self.delassus.dimension() != m {
            self.delassus = Metric::full(m);
        }
        let set = self.delassus.set(&self.pairs[..m * m]);
        set.map_err(|e| Reason::Dependent { constraint: self.row_name(self.working[e.pivot]) })
    }

    /// Overwrites the first entries of `right` with the reactions.
    pub(super) fn solve_reactions(&mut self) {
        let m = self.working.len();
        match self.is_skew {
            true => self.skew.solve(&mut self.right[..m]),
            false => self.delassus.solve(&mut self.right[..m]),
        }
    }

    /// What rounding makes of the reaction of a constraint: that of the acceleration it has to balance.
    pub fn reaction_noise(&mut self, alpha: usize) -> f64 {
        let compliance = self.compliance(alpha);
        1e-13 * (self.gradients.dot_abs(alpha, &self.free) + self.gamma[alpha].abs()) / compliance
    }

    /// Whether the gradients of the working set, where last evaluated, are independent.
    pub fn is_independent(&mut self) -> bool {
        self.set_delassus(false).is_ok()
    }
}
