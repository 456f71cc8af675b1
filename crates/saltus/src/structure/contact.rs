//! The stops, condensed: w A⁻¹ w once for all of them, so that what is left of contact in a step is a problem of the size of
//! the stops that could act.

use super::linear::Linear;
use crate::linalg::{Factor, Rows, add};
use crate::project::{Polyhedron, ProjectionError};
use crate::{Model, Reason};

/// The stops of a structure, seen through a factored matrix.
#[derive(Clone, Debug)]
pub struct Stops {
    pub rows: Rows,
    /// Columns s A⁻¹ w, one after the other: what a unit multiplier does to the unknown.
    mobility: Vec<f64>,
    /// w_α s A⁻¹ w_β by rows.
    gram: Vec<f64>,
    units: Rows,
    kernel: Polyhedron,
    /// Gap of the constraint as the scheme sees it; in, without contact, out, with it.
    pub slacks: Vec<f64>,
    n: usize,
}

impl Stops {
    /// Condenses; `scale` is the s of s A⁻¹.
    pub fn new(linear: &Linear, factor: &Factor, scale: f64) -> Self {
        Self::with(linear, |x| {
            factor.solve(x);
            x.iter_mut().for_each(|x| *x *= scale);
        })
    }

    /// The same where each unknown answers by itself: `response` is the diagonal of s A⁻¹.
    pub fn diagonal(linear: &Linear, response: &[f64]) -> Self {
        Self::with(linear, |x| x.iter_mut().zip(response).for_each(|(x, r)| *x *= r))
    }

    fn with(linear: &Linear, solve: impl Fn(&mut [f64])) -> Self {
        let rows = linear.stops.clone();
        let (n, m) = (linear.dimension(), rows.len());
        let mut mobility = vec![0.0; n * m];
        for (a, w) in mobility.chunks_exact_mut(n.max(1)).enumerate().take(m) {
            rows.add_to(a, 1.0, w);
            solve(w);
        }
        let mut gram = vec![0.0; m * m];
        for a in 0..m {
            for b in 0..=a {
                let x = rows.dot(b, &mobility[a * n..(a + 1) * n]);
                (gram[a * m + b], gram[b * m + a]) = (x, x);
            }
        }
        let units = (0..m).map(|a| [(a, 1.0)]).collect();
        Stops { rows, mobility, gram, units, kernel: Polyhedron::new(m, m), slacks: vec![0.0; m], n }
    }

    /// Makes all slacks non-negative by multipliers ≥ 0, complementary to them; true if any acts.
    pub fn resolve(&mut self, model: &Model) -> Result<bool, Reason> {
        if self.slacks.iter().all(|&s| s >= 0.0) {
            return Ok(false);
        }
        if self.slacks.iter().any(|s| s.is_nan()) {
            let a = self.slacks.iter().position(|s| s.is_nan()).unwrap_or(0);
            return Err(Reason::Gap { constraint: model.constraints[a].name.clone() });
        }
        let name = |a: usize| model.constraints[a].name.clone();
        self.kernel.complete(&self.gram, &self.units, &mut self.slacks).map_err(|e| match e {
            ProjectionError::Empty { constraint } => Reason::Incompatible { constraint: name(constraint) },
            ProjectionError::Stalled { constraint } => Reason::Stalled { constraint: name(constraint) },
        })?;
        Ok(true)
    }

    /// Columns s A⁻¹ w, one after the other.
    pub fn mobility(&self) -> &[f64] {
        &self.mobility
    }

    /// s A⁻¹ w of one stop.
    pub fn column(&self, a: usize) -> &[f64] {
        &self.mobility[a * self.n..(a + 1) * self.n]
    }

    /// The multipliers of the last [`Stops::resolve`] that returned true.
    pub fn multipliers(&self) -> &[f64] {
        self.kernel.multipliers()
    }

    /// x += Σ λ s A⁻¹ w.
    pub fn correct(&self, x: &mut [f64]) {
        for (a, &lambda) in self.kernel.multipliers().iter().enumerate() {
            if lambda > 0.0 {
                add(x, lambda, self.column(a));
            }
        }
    }
}
