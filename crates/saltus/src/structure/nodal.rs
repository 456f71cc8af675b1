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
    pub left: Vec<f64>,
    pub right: Vec<f64>,
}

impl Nodal {
    pub fn new(linear: &Linear, compliant: &[bool], h: f64) -> Self {
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
        Nodal { h, n, rows: linear.stops.clone(), rigid, kicks, left, right }
    }

    /// To the next node: u^{n+1} − u^n = ½h (v⁺ at n + v⁻ at n + 1).
    pub fn fly(&mut self, step: &[f64], massless: &[usize]) {
        for i in 0..self.left.len() {
            self.left[i] = 2.0 / self.h * step[i] - self.right[i];
        }
        massless.iter().for_each(|&i| self.left[i] = 0.0);
        self.right.copy_from_slice(&self.left);
    }

    /// The impulses at the node, and what they take.
    pub fn strike(&mut self, impulses: &[f64]) -> Account {
        let mut account = Account::default();
        for (a, &p) in impulses.iter().enumerate().filter(|(a, p)| self.rigid[*a] && **p > 0.0) {
            add(&mut self.right, p, &self.kicks[a * self.n..(a + 1) * self.n]);
        }
        for (a, &p) in impulses.iter().enumerate().filter(|(a, p)| self.rigid[*a] && **p > 0.0) {
            account.lost -= 0.5 * p * (self.rows.dot(a, &self.left) + self.rows.dot(a, &self.right));
        }
        account
    }
}
