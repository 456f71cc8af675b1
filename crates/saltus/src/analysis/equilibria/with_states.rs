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

    /// What gaps that use states add to those columns: ∂f/∂z in the rows of the set, λ ∂²f/∂q∂z in those of the forces.
    pub fn gap_columns(
        &mut self,
        set: &[usize],
        lambda: &[f64],
        x: &[f64],
        (matrix, noise): (&mut [f64], &mut [f64]),
        n: usize,
    ) {
        let Some(gaps) = &mut self.gap_states else { return };
        gaps.evaluate(self.t, x, &self.rest);
        let place = |a: usize| set.iter().position(|&b| b == a);
        for (&(a, k), slope) in gaps.places.iter().zip(&gaps.slopes) {
            if let Some(row) = place(a).map(|p| x.len() + p) {
                matrix[row * n + k] = slope * self.units[k];
                noise[row] += (slope * self.rest[k]).abs();
            }
        }
        for (&(a, i, k), mixed) in gaps.mixed_places.iter().zip(&gaps.mixed) {
            if let Some(p) = place(a) {
                matrix[i * n + k] += lambda[p] * mixed * self.units[k];
                noise[i] += (lambda[p] * mixed * self.rest[k]).abs();
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

    /// The eigenvalues of M x'' + C x' + K x = G z, z' = R x + S x' + Z z on what is held, in units of a rate, and that rate. Where
    /// held gaps use states, x = B y + N z: B spans the directions along which no held gap changes, and N z, orthogonal to them in M,
    /// is how the states move what is held.
    fn spectrum_with_states(&self, at: &Equations, held: &[Vec<f64>]) -> Option<(Vec<(f64, f64)>, f64)> {
        let (d, all) = (self.degrees, self.units.len());
        let s = all - d;
        let basis = null_basis(d, held)?;
        let k = basis.len();
        let mass = |i: usize, j: usize| match self.dynamics.code.diagonal {
            true => f64::from(u8::from(i == j)) * self.dynamics.mass[i],
            false => self.dynamics.mass[i * all + j],
        };
        let full = |i: usize, j: usize| at.matrix[i * at.n + j];
        let slope = |i: usize, j: usize| self.dynamics.jacobian.get(i * all + j).map_or(0.0, |x| x / self.units[i]);
        let dense: Vec<f64> = (0..d * d).map(|p| mass(p / d, p % d)).collect();
        let moved = moved(&dense, held, d, s, |row, j| full(all + row, d + j))?;
        // Rows of the system times the columns of B and N: entry (i, j) is Σ row(i, p) column(j)_p.
        let times = |entry: &dyn Fn(usize, usize) -> f64, i: usize, column: &[f64]| -> f64 {
            (0..d).map(|p| entry(i, p) * column[p]).sum()
        };
        let along = |entry: &dyn Fn(usize, usize) -> f64, w: &[f64], column: &[f64]| -> f64 {
            (0..d).map(|i| w[i] * times(entry, i, column)).sum()
        };
        let matrix = |rows: usize, columns: usize, entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..rows * columns).map(|p| entry(p / columns, p % columns)).collect()
        };
        // z' from y, y' and z. States whose rates use velocities (S) are not those that move gaps, so (S N)² = 0.
        let carried = matrix(s, s, &|i, j| times(&slope, d + i, &moved[j]));
        let rates = |own: Vec<f64>, columns: usize| -> Vec<f64> {
            let again = |p: usize| -> f64 {
                (0..s).map(|l| carried[p / columns * s + l] * own[l * columns + p % columns]).sum::<f64>()
            };
            (0..own.len()).map(|p| own[p] + again(p)).collect()
        };
        let by_position = rates(matrix(s, k, &|i, j| times(&full, d + i, &basis[j])), k.max(1));
        let by_velocity = rates(matrix(s, k, &|i, j| times(&slope, d + i, &basis[j])), k.max(1));
        let own = rates(matrix(s, s, &|i, j| full(d + i, d + j) + times(&full, d + i, &moved[j])), s);
        // Forces along B; those of the velocities N z' with them.
        let dragged = matrix(k, s, &|i, j| along(&slope, &basis[i], &moved[j]));
        let with = |plain: Vec<f64>, rates: &[f64], columns: usize| -> Vec<f64> {
            let also = |p: usize| -> f64 {
                (0..s).map(|l| dragged[p / columns * s + l] * rates[l * columns + p % columns]).sum::<f64>()
            };
            (0..plain.len()).map(|p| plain[p] + also(p)).collect()
        };
        let stiff = with(matrix(k, k, &|i, j| along(&full, &basis[i], &basis[j])), &by_position, k.max(1));
        let damp = with(matrix(k, k, &|i, j| along(&slope, &basis[i], &basis[j])), &by_velocity, k.max(1));
        let direct = |i: usize, j: usize| (0..d).map(|p| basis[i][p] * full(p, d + j)).sum::<f64>();
        let pushed = with(matrix(k, s, &|i, j| direct(i, j) + along(&full, &basis[i], &moved[j])), &own, s);
        let inertia = project(&basis, &dense, d);
        let svd = if k > 0 { Some(Svd::new(k, k, &inertia, 1e-14)?) } else { None };
        // M⁻¹ of columns, by rows.
        let solved = |entries: &[f64], columns: usize| -> Vec<f64> {
            let mut out = vec![0.0; k * columns];
            for j in 0..columns {
                let column: Vec<f64> = (0..k).map(|i| entries[i * columns + j]).collect();
                let x = svd.as_ref().map(|svd| svd.least_norm(&column)).unwrap_or_default();
                x.iter().enumerate().for_each(|(i, x)| out[i * columns + j] = *x);
            }
            out
        };
        let (stiff, damp, pushed) = (solved(&stiff, k), solved(&damp, k), solved(&pushed, s));
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
                whole[(2 * k + i) * n + j] = by_position[i * k + j] / rate;
                whole[(2 * k + i) * n + k + j] = by_velocity[i * k + j];
            }
            (0..s).for_each(|j| whole[(2 * k + i) * n + 2 * k + j] = own[i * s + j] / rate);
        }
        Some((eigenvalues(n, &whole)?, rate))
    }
}

/// How a unit of each state moves what is held, N = −M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ ∂f/∂z, by columns.
fn moved(
    mass: &[f64],
    held: &[Vec<f64>],
    d: usize,
    s: usize,
    slope: impl Fn(usize, usize) -> f64,
) -> Option<Vec<Vec<f64>>> {
    let m = held.len();
    let right: Vec<Vec<f64>> = (0..s).map(|j| (0..m).map(|row| slope(row, j)).collect()).collect();
    let mut columns = vec![vec![0.0; d]; s];
    if right.iter().all(|column| max_abs(column) == 0.0) {
        return Some(columns);
    }
    let inertia = Svd::new(d, d, mass, 1e-14)?;
    let mobility: Vec<Vec<f64>> = held.iter().map(|row| inertia.least_norm(row)).collect();
    let delassus: Vec<f64> = (0..m * m).map(|p| dot(&held[p / m], &mobility[p % m])).collect();
    let delassus = Svd::new(m, m, &delassus, 1e-12)?;
    for (column, right) in columns.iter_mut().zip(&right) {
        for (p, w) in delassus.least_norm(right).iter().zip(&mobility) {
            column.iter_mut().zip(w).for_each(|(x, w)| *x -= p * w);
        }
    }
    Some(columns)
}
