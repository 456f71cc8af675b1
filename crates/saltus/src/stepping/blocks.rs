//! The rows that act at once, with their laws: joints, contacts with their tangents, dry friction; and their Delassus matrix.

use crate::contact::Law;
use crate::linalg::{Metric, Rows};
use crate::problem::{Bonds, Gaps};

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// The normal of a constraint, by its index in the model.
    Normal(usize),
    /// A row of [`Bonds`]: a joint or a slip.
    Other(usize),
}

/// Rows in the order of their laws, with buffers that are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    d: usize,
    pub rows: Rows,
    pub labels: Vec<Label>,
    /// What moves by itself in each row: ∂t f, ∂t j, a slip at v = 0.
    pub walls: Vec<f64>,
    pub laws: Vec<Law>,
    /// Restitution of normals and slips, one for each law.
    pub restitution: Vec<f64>,
    pub tangential: Vec<f64>,
    mobility: Vec<f64>,
    /// H M⁻¹ Hᵀ by rows.
    pub delassus: Vec<f64>,
}

impl Blocks {
    /// Buffers for up to `rows` rows of `d` entries.
    pub fn new(rows: usize, d: usize) -> Self {
        Blocks {
            d,
            rows: Rows::with_capacity(rows, rows * d),
            labels: Vec::with_capacity(rows),
            walls: Vec::with_capacity(rows),
            laws: Vec::with_capacity(rows),
            restitution: Vec::with_capacity(rows),
            tangential: Vec::with_capacity(rows),
            mobility: Vec::with_capacity(rows * d),
            delassus: Vec::with_capacity(rows * rows),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.labels.clear();
        self.walls.clear();
        self.laws.clear();
        self.restitution.clear();
        self.tangential.clear();
    }

    fn law(&mut self, law: Law, restitution: f64, tangential: f64) {
        self.laws.push(law);
        self.restitution.push(restitution);
        self.tangential.push(tangential);
    }

    fn other(&mut self, bonds: &Bonds, row: usize) {
        match row.checked_sub(bonds.joint_count()) {
            Some(slip) => self.rows.push_row_of(&bonds.frictions.rows, slip),
            None => self.rows.push_row_of(&bonds.joints.gradients, row),
        }
        self.labels.push(Label::Other(row));
        self.walls.push(bonds.rest(row));
    }

    /// All joints, with what was last evaluated.
    pub fn push_joints(&mut self, bonds: &Bonds) {
        for row in 0..bonds.joint_count() {
            self.other(bonds, row);
            self.law(Law::Joint, 0.0, 0.0);
        }
    }

    /// A constraint, and its tangents with a coefficient of friction.
    pub fn push_contact(&mut self, gaps: &Gaps, a: usize, e: f64, friction: Option<(&Bonds, usize, f64)>) {
        self.rows.push_row_of(&gaps.gradients, a);
        self.labels.push(Label::Normal(a));
        self.walls.push(gaps.partial_t[a]);
        let Some((bonds, k, mu)) = friction else { return self.law(Law::Unilateral, e, 0.0) };
        bonds.slips(k).for_each(|row| self.other(bonds, row));
        self.law(Law::Coulomb { mu, tangents: bonds.slips(k).len() }, e, bonds.tangential(k));
    }

    /// Dry friction with a limit.
    pub fn push_slider(&mut self, bonds: &Bonds, k: usize, limit: f64) {
        for row in bonds.slips(k) {
            self.other(bonds, row);
            self.law(Law::Dry { limit }, 0.0, 0.0);
        }
    }

    /// Computes the Delassus matrix in a metric.
    pub fn couple(&mut self, metric: &Metric) {
        let rows = std::mem::take(&mut self.rows);
        self.fill(&rows, |k, w| {
            rows.add_to(k, 1.0, w);
            metric.solve(w);
        });
        self.rows = rows;
    }

    /// The same with responses that are known otherwise.
    pub fn couple_with(&mut self, mut response: impl FnMut(Label, &mut [f64])) {
        let (rows, labels) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.labels));
        self.fill(&rows, |k, w| response(labels[k], w));
        (self.rows, self.labels) = (rows, labels);
    }

    fn fill(&mut self, rows: &Rows, mut response: impl FnMut(usize, &mut [f64])) {
        let (n, d) = (rows.len(), self.d);
        self.mobility.clear();
        self.mobility.resize(n * d, 0.0);
        self.delassus.clear();
        self.delassus.resize(n * n, 0.0);
        self.mobility.chunks_exact_mut(d).enumerate().for_each(|(k, w)| response(k, w));
        for j in 0..n {
            for k in 0..n {
                self.delassus[j * n + k] = rows.dot(j, &self.mobility[k * d..(k + 1) * d]);
            }
        }
        // Exactly symmetric, as it is without rounding.
        for j in 0..n {
            for k in 0..j {
                let mean = 0.5 * (self.delassus[j * n + k] + self.delassus[k * n + j]);
                self.delassus[j * n + k] = mean;
                self.delassus[k * n + j] = mean;
            }
        }
    }

    /// What a unit impulse of row k adds to the velocity.
    pub fn mobility(&self, k: usize) -> &[f64] {
        &self.mobility[k * self.d..(k + 1) * self.d]
    }
}
