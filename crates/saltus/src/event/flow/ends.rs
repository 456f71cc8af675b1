//! Where a series ends before its time: coefficients are numbers in the user's unit of time, and in a unit that is long or short
//! beside the motion they leave the range of numbers. The orders before that make a series of lower order.

use super::Flow;

/// Coefficients above this are left out, from this order on: before it they are those of a place without a series.
const LARGEST: f64 = 1e280;
const SMALLEST: f64 = 1e-280;
const LEAST_ORDER: usize = 12;
const ROOT: f64 = 1e200;
const FORCED: f64 = 1e100;

impl Flow {
    /// Whether the series ends before order k, which has been solved for.
    pub(super) fn ends_at(&self, k: usize) -> bool {
        let is_first = || k > LEAST_ORDER || !self.is_beyond(k - 1);
        k >= LEAST_ORDER && (self.is_beyond(k) && is_first() && !self.has_root(k) || self.vanishes(k))
    }

    /// Whether a root or power in a force is near its zero, where no series is of use: its own coefficients grow as much.
    fn has_root(&self, k: usize) -> bool {
        let n = self.order;
        if (0..self.d).all(|i| self.a[i * n + k].abs() < FORCED) {
            return false;
        }
        let switches = if self.using_full { self.full.switches() } else { 0 };
        (0..switches).any(|s| self.is_root(s) && !(self.full.argument(s)[k].abs() < ROOT))
    }

    /// Whether order k of something is beyond the largest number, or nearly: in a unit of time that is long beside the motion
    /// coefficients grow by its powers.
    fn is_beyond(&self, k: usize) -> bool {
        let n = self.order;
        let is_beyond = |c: f64| !(c.abs() < LARGEST);
        let switches = if self.using_full { self.full.switches() } else { 0 };
        (0..self.d).any(|i| is_beyond(self.a[i * n + k]))
            || (0..self.working.len()).any(|m| is_beyond(self.lambda[m * n + k]))
            || (0..self.gaps.len()).any(|alpha| is_beyond(self.gap(alpha)[k]))
            || (0..switches).any(|s| !self.is_mark(s) && is_beyond(self.full.argument(s)[k]))
    }

    /// Whether orders k and k − 1 are below the smallest numbers, or nearly, and those before are not: in a unit of time that is
    /// short beside the motion coefficients fall by its powers, and zeros would say that the series goes on for ever.
    fn vanishes(&self, k: usize) -> bool {
        let n = self.order;
        let largest = |k: usize| (0..self.d).map(|i| self.a[i * n + k].abs()).fold(0.0, f64::max);
        let (last, before) = (largest(k).max(largest(k - 1)), largest(k - 2).max(largest(k - 3)));
        last < SMALLEST && before > 0.0
    }

    /// Ends the series before order k.
    pub(super) fn truncate(&mut self, k: usize) {
        let (d, n) = (self.d, self.order);
        self.reached = k - 1;
        self.series().truncate(k);
        if let Some(slips) = &mut self.slips {
            slips.truncate(k);
        }
        self.truncate_friction(k);
        for i in 0..d {
            self.q[i * (n + 2) + k + 1..(i + 1) * (n + 2)].fill(0.0);
            self.v[i * (n + 1) + k..(i + 1) * (n + 1)].fill(0.0);
            self.a[i * n + k - 1..(i + 1) * n].fill(0.0);
            self.q[i * (n + 2) + k] = self.v[i * (n + 1) + k - 1] / k as f64;
        }
        for m in 0..self.working.len() {
            self.lambda[m * n + k - 1..(m + 1) * n].fill(0.0);
        }
    }
}
