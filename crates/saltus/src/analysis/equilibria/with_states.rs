//! First-order states among the unknowns of an equilibrium, and stability where there are some.

use super::search::{Equations, Search};
use super::stability::{ON_AXIS, null_basis, project};
use super::{Equilibrium, Stability};
use crate::linalg::{Svd, dot, eigenvalues, max_abs};

impl Search<'_> {
    /// How many rows are held with a set of constraints: joints besides.
    pub fn held(&self, set: &[usize]) -> usize {
        set.len() + self.problem.model().joints.len()
    }

    /// Takes the states of a point, which are counted in units of their own, to where forces are evaluated.
    pub fn enter_states(&mut self, x: &[f64]) {
        for i in self.degrees..x.len() {
            self.rest[i] = self.units[i] * x[i];
        }
    }

    /// Gaps and their gradients at a point.
    pub fn linearise(&mut self, x: &[f64]) {
        self.enter_states(x);
        self.gaps.linearise(self.t, x, &self.rest);
    }

    /// The columns of the derivative that belong to states: nothing depends on the coordinates whose velocities they are.
    pub fn state_columns(&self, matrix: &mut [f64], noise: &mut [f64], x: &[f64], n: usize) {
        let (d, all) = (self.degrees, x.len());
        if self.dynamics.jacobian.is_empty() {
            return;
        }
        for i in 0..all {
            for j in d..all {
                let slope = self.dynamics.jacobian[i * all + j] * self.units[j] / self.units[i];
                matrix[i * n + j] = slope;
                noise[i] += (slope * x[j]).abs();
            }
        }
    }

    /// Splits what was found into position and states, in their own units.
    pub fn separate(&self, e: &mut Equilibrium) {
        let own = |x: &mut Vec<f64>| x.iter_mut().zip(&self.units).for_each(|(x, unit)| *x *= unit);
        own(&mut e.q);
        e.family.iter_mut().for_each(own);
        e.z = e.q.split_off(self.degrees.min(e.q.len()));
    }

    /// Stability from the eigenvalues of the linearised motion with its states.
    pub fn with_states(&mut self, e: &Equilibrium, at: &Equations, held: &[Vec<f64>]) -> Stability {
        if !e.degenerate.is_empty() {
            return Stability::Unknown { why: "a contact is closed without a reaction, and no potential decides" };
        }
        let Some((values, rate)) = self.spectrum_with_states(at, held) else {
            return Stability::Unknown { why: "the eigenvalues of the linearised motion were not found" };
        };
        let largest = values.iter().copied().fold((f64::NEG_INFINITY, 0.0), |m, z| if z.0 > m.0 { z } else { m });
        if largest.0 > ON_AXIS {
            return Stability::Grows { rate: rate * largest.0, frequency: rate * largest.1.abs() };
        }
        if values.iter().all(|z| z.0 < -ON_AXIS) {
            return Stability::Decays { rate: -rate * largest.0 };
        }
        let on_axis = values.iter().filter(|z| z.0 >= -ON_AXIS).count();
        let zeros = values.iter().filter(|z| z.0.hypot(z.1) <= 10.0 * ON_AXIS).count();
        match zeros == on_axis && !e.family.is_empty() && zeros <= 2 * e.family.len() {
            true => Stability::Neutral { directions: e.family.len() },
            false => Stability::Unknown { why: "an eigenvalue of the linearised motion is on the imaginary axis" },
        }
    }

    /// The eigenvalues of M x'' + C x' + K x = G z, z' = R x + S x' + Z z on the tangent space of what is held, in units of a
    /// rate, and that rate.
    fn spectrum_with_states(&self, at: &Equations, held: &[Vec<f64>]) -> Option<(Vec<(f64, f64)>, f64)> {
        let (d, all) = (self.degrees, self.units.len());
        let s = all - d;
        let basis = null_basis(d, held)?;
        let k = basis.len();
        let mass = |i: usize, j: usize| match self.dynamics.code.diagonal {
            true => f64::from(u8::from(i == j)) * self.dynamics.mass[i],
            false => self.dynamics.mass[i * all + j],
        };
        let slope = |i: usize, j: usize| self.dynamics.jacobian.get(i * all + j).map_or(0.0, |x| x / self.units[i]);
        let block =
            |entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> { (0..d * d).map(|p| entry(p / d, p % d)).collect() };
        let full = |i: usize, j: usize| at.matrix[i * at.n + j];
        let inertia = project(&basis, &block(&mass), d);
        let svd = if k > 0 { Some(Svd::new(k, k, &inertia, 1e-14)?) } else { None };
        // M⁻¹ of columns, by rows.
        let solved = |columns: usize, entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let mut out = vec![0.0; k * columns];
            for j in 0..columns {
                let column: Vec<f64> = (0..k).map(|i| entry(i, j)).collect();
                let x = svd.as_ref().map(|svd| svd.least_norm(&column)).unwrap_or_default();
                x.iter().enumerate().for_each(|(i, x)| out[i * columns + j] = *x);
            }
            out
        };
        let (stiff, damp) = (project(&basis, &block(&full), d), project(&basis, &block(&slope), d));
        let stiff = solved(k, &|i, j| stiff[i * k + j]);
        let damp = solved(k, &|i, j| damp[i * k + j]);
        let pushed = solved(s, &|i, j| (0..d).map(|p| basis[i][p] * full(p, d + j)).sum());
        let along = |row: &dyn Fn(usize) -> f64, w: &[f64]| dot(&(0..d).map(row).collect::<Vec<_>>(), w);
        let by_position = |i: usize, j: usize| along(&|p| full(d + i, p), &basis[j]);
        let by_velocity = |i: usize, j: usize| along(&|p| slope(d + i, p), &basis[j]);
        let own: Vec<f64> = (0..s * s).map(|p| full(d + p / s, d + p % s)).collect();
        let rate = max_abs(&stiff).sqrt().max(max_abs(&damp)).max(max_abs(&own)).max(1e-300);
        let n = 2 * k + s;
        let mut whole = vec![0.0; n * n];
        for i in 0..k {
            whole[i * n + k + i] = 1.0;
            for j in 0..k {
                whole[(k + i) * n + j] = stiff[i * k + j] / (rate * rate);
                whole[(k + i) * n + k + j] = damp[i * k + j] / rate;
            }
            (0..s).for_each(|j| whole[(k + i) * n + 2 * k + j] = pushed[i * s + j] / (rate * rate));
        }
        for i in 0..s {
            for j in 0..k {
                whole[(2 * k + i) * n + j] = by_position(i, j) / rate;
                whole[(2 * k + i) * n + k + j] = by_velocity(i, j);
            }
            (0..s).for_each(|j| whole[(2 * k + i) * n + 2 * k + j] = own[i * s + j] / rate);
        }
        Some((eigenvalues(n, &whole)?, rate))
    }
}
