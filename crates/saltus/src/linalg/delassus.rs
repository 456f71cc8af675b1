//! The Delassus matrix G M⁻¹ Gᵀ of rows, which may depend on each other: solved with as many independent ones as there are.

use super::{Lu, Metric, Rows};

/// A pivot below this part of the diagonal entry it comes from belongs to a row that depends on the others.
const DEPENDENT: f64 = 1e-11;

/// G M⁻¹ Gᵀ with its factor and M⁻¹Gᵀ.
#[derive(Clone, Debug)]
pub struct Delassus {
    d: usize,
    n: usize,
    mobility: Vec<f64>,
    /// The matrix by rows.
    pub entries: Vec<f64>,
    independent: Vec<usize>,
    lu: Lu,
    right: Vec<f64>,
    work: Vec<f64>,
}

impl Delassus {
    /// Buffers for up to `n` rows of `d` entries.
    pub fn new(n: usize, d: usize) -> Self {
        Delassus {
            d,
            n: 0,
            mobility: vec![0.0; n * d],
            entries: vec![0.0; n * n],
            independent: Vec::with_capacity(n),
            lu: Lu::new(0),
            right: Vec::with_capacity(n),
            work: vec![0.0; n * n],
        }
    }

    /// Computes and factors it for some of the rows.
    pub fn set(&mut self, metric: &Metric, rows: &Rows, which: impl Iterator<Item = usize> + Clone) {
        let d = self.d;
        self.n = 0;
        for a in which.clone() {
            let w = &mut self.mobility[self.n * d..(self.n + 1) * d];
            w.fill(0.0);
            rows.add_to(a, 1.0, w);
            metric.solve(w);
            self.n += 1;
        }
        let n = self.n;
        for (j, a) in which.enumerate() {
            for k in 0..n {
                self.entries[j * n + k] = rows.dot(a, &self.mobility[k * d..(k + 1) * d]);
            }
        }
        self.select();
        let m = self.independent.len();
        if self.lu.dimension() != m {
            self.lu = Lu::new(m);
        }
    }

    /// Independent rows, in order, by elimination: those whose pivot does not vanish.
    fn select(&mut self) {
        let n = self.n;
        self.independent.clear();
        let work = &mut self.work[..n * n];
        work.copy_from_slice(&self.entries[..n * n]);
        for j in 0..n {
            let pivot = work[j * n + j];
            if !(pivot > DEPENDENT * self.entries[j * n + j]) {
                continue;
            }
            self.independent.push(j);
            for i in j + 1..n {
                let factor = work[i * n + j] / pivot;
                for k in j + 1..n {
                    work[i * n + k] -= factor * work[j * n + k];
                }
            }
        }
    }

    /// Rows that do not depend on those before them.
    pub fn independent(&self) -> &[usize] {
        &self.independent
    }

    /// M⁻¹Gᵀ of row k.
    pub fn mobility(&self, k: usize) -> &[f64] {
        &self.mobility[k * self.d..(k + 1) * self.d]
    }

    /// Overwrites the right-hand side with multipliers; zero for rows that depend on others.
    pub fn solve(&mut self, x: &mut [f64]) {
        let (n, m) = (self.n, self.independent.len());
        self.right.clear();
        self.right.extend(self.independent.iter().map(|&j| x[j]));
        for (i, &a) in self.independent.iter().enumerate() {
            for (j, &b) in self.independent.iter().enumerate() {
                self.lu.entries[i * m + j] = self.entries[a * n + b];
            }
        }
        self.lu.solve(&mut self.right);
        x[..n].fill(0.0);
        self.independent.iter().zip(&self.right).for_each(|(&j, r)| x[j] = *r);
    }
}
