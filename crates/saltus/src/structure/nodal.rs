//! Velocities of the trapezoidal rule at the nodes, for the energy of schemes that keep it there.

use super::linear::Linear;
use crate::linalg::{Rows, add};
use crate::stepping::Account;

/// Velocities at the last node, before and after the impulses there.
pub(super) struct Nodal {
    h: f64,
    n: usize,
    /// The rigid stops: their rows, and M⁻¹w.
    rows: Rows,
    rigid: Vec<bool>,
    kicks: Vec<f64>,
    /// What each rigid stop with e > 0 took in the contact that lasts, if it may give back no more; w·M⁻¹w of all.
    limited: Vec<bool>,
    taken: Vec<f64>,
    idle: Vec<bool>,
    gram: Vec<f64>,
    pub left: Vec<f64>,
    pub right: Vec<f64>,
}

impl Nodal {
    pub fn new(linear: &Linear, compliant: &[bool], limited: Vec<bool>, h: f64) -> Self {
        let (n, m) = (linear.dimension(), compliant.len());
        let mut kicks = vec![0.0; n * m];
        if compliant.contains(&false)
            && let Ok(factor) = linear.definite_mass().factor()
        {
            for (a, kick) in kicks.chunks_exact_mut(n).enumerate().filter(|(a, _)| !compliant[*a]) {
                linear.stops.add_to(a, 1.0, kick);
                factor.solve(kick);
            }
        }
        let rigid = compliant.iter().map(|c| !c).collect();
        let (left, right) = (linear.v0.clone(), linear.v0.clone());
        let gram = (0..m * m).map(|k| linear.stops.dot(k / m, &kicks[k % m * n..(k % m + 1) * n])).collect();
        let (taken, idle, rows) = (vec![0.0; m], vec![true; m], linear.stops.clone());
        Nodal { h, n, rows, rigid, kicks, limited, taken, idle, gram, left, right }
    }

    /// To the next node: u^{n+1} − u^n = ½h (v⁺ at n + v⁻ at n + 1).
    pub fn fly(&mut self, step: &[f64], massless: &[usize]) {
        for i in 0..self.left.len() {
            self.left[i] = 2.0 / self.h * step[i] - self.right[i];
        }
        massless.iter().for_each(|&i| self.left[i] = 0.0);
        self.right.copy_from_slice(&self.left);
    }

    /// Lowers the bounds of impulses that would give more than the stop took, P (U⁻ + ½ D P) ≤ T; true if one had to be.
    pub fn tighten(&self, impulses: &[f64], most: &mut [f64], is_last: bool) -> bool {
        let m = impulses.len();
        let mut is_tighter = false;
        for a in (0..m).filter(|&a| self.limited[a] && impulses[a] > 0.0) {
            let push = |b: usize| if self.rigid[b] { self.gram[a * m + b] * impulses[b] } else { 0.0 };
            let others: f64 = (0..m).filter(|&b| b != a).map(push).sum();
            let (rate, own) = (self.rows.dot(a, &self.left) + 0.5 * others, self.gram[a * m + a]);
            let scale = impulses[a] * (rate.abs() + own * impulses[a]);
            if impulses[a] * (rate + 0.5 * own * impulses[a]) > self.taken[a] + 1e-14 * scale {
                let root = rate.hypot((2.0 * own * self.taken[a]).sqrt());
                let bound = if rate > 0.0 { 2.0 * self.taken[a] / (rate + root) } else { (root - rate) / own };
                most[a] = if is_last { 0.0 } else { most[a].min(bound) };
                is_tighter = true;
            }
        }
        is_tighter
    }

    /// The impulses at the node, and what they take.
    pub fn strike(&mut self, impulses: &[f64]) -> Account {
        let mut account = Account::default();
        for (a, &p) in impulses.iter().enumerate().filter(|(a, p)| self.rigid[*a] && **p > 0.0) {
            add(&mut self.right, p, &self.kicks[a * self.n..(a + 1) * self.n]);
        }
        for (a, &p) in impulses.iter().enumerate().filter(|(a, p)| self.rigid[*a] && **p > 0.0) {
            let given = 0.5 * p * (self.rows.dot(a, &self.left) + self.rows.dot(a, &self.right));
            account.lost -= given;
            self.taken[a] = (self.taken[a] - given).max(0.0);
        }
        for (a, &p) in impulses.iter().enumerate() {
            // A contact is over when two steps need no impulse.
            if p == 0.0 && self.idle[a] {
                self.taken[a] = 0.0;
            }
            self.idle[a] = p == 0.0;
        }
        account
    }
}
