//! What jumps do to perturbations.
//!
//! At an impact J = v⁺ − v⁻ and the impulses solve M J = Σ P ∇f, ∇f·J = −(1 + e) U for the rows that act. Seen at the
//! perturbed instant, with δt = δτ, the perturbations of these equations are linear in δJ and δP, with the same matrix:
//!
//! ```text
//! M δJ − Σ δP ∇f = Σ P δ∇f − δM J        ∇f·δJ = −δ∇f·J − (1 + e) δU − δe U
//! ```
//!
//! With e = 0 this is also what the end of an accumulation does: its infinitely many impacts add up to the impulse that takes
//! the gap velocity away, and what they leave out is of the order of the square of the speed at which the sequence is ended.

use super::Vary;
use crate::problem::Part;

impl Vary {
    /// Derivatives at a point, for a jump and impulses by rows.
    pub fn look(&mut self, t: f64, q: &[f64], v: &[f64], jump: &[f64], impulses: &[(usize, f64)]) {
        let Ok(code) = self.instance.problem().variational() else { return };
        for i in 0..self.d {
            self.kick.set(code.a + i, jump.get(i).copied().unwrap_or(0.0));
        }
        for row in 0..code.rows {
            let p = impulses.iter().find(|(r, _)| *r == row).map_or(0.0, |(_, p)| *p);
            self.kick.set(code.lambda + row, p);
        }
        self.kick.run(t, &[q, v]);
        self.kick.write(0, &mut self.kicks);
        self.kick.write(1, &mut self.rates);
        self.kick.write(2, &mut self.holds);
    }

    /// The direction in which friction slides in the impacts to come; 0: it does not.
    pub fn slide(&mut self, friction: usize, sign: f64) {
        if let Ok(code) = self.instance.problem().variational() {
            self.kick.set(code.signs + friction, sign);
        }
    }

    /// The columns as seen at the perturbed instant of an event: δx + x' δτ.
    pub fn see_at(&mut self, shift: &[f64], v: &[f64], a: &[f64]) {
        for (x, dt) in self.x.chunks_mut(self.width).zip(shift) {
            for i in 0..self.d {
                x[i] += v[i] * dt;
                x[self.d + i] += a[i] * dt;
            }
            x[self.width - 1] = *dt;
        }
        self.is_pending = true;
    }

    /// Back to the instant itself, with velocity and acceleration after the event.
    pub fn see_now(&mut self, v: &[f64], a: &[f64]) {
        if !std::mem::take(&mut self.is_pending) {
            return;
        }
        for x in self.x.chunks_mut(self.width) {
            let dt = std::mem::take(&mut x[self.width - 1]);
            for i in 0..self.d {
                x[i] -= v[i] * dt;
                x[self.d + i] -= a[i] * dt;
            }
        }
    }

    /// The matrix [M −∇f; ∇f 0] of some rows, at the point last looked at.
    fn factor_kick(&mut self, rows: &[usize]) -> Result<(), String> {
        let Ok(code) = self.instance.problem().variational() else { return Err("no derivatives".into()) };
        let (d, n) = (self.d, self.d + rows.len());
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        let at = |part: &Part, e: usize| self.kicks[part.first + e];
        for (e, &(i, j)) in code.kick_r_j.places.iter().enumerate() {
            self.matrix[i * n + j] = -at(&code.kick_r_j, e);
        }
        for (e, &(i, row)) in code.kick_r_p.places.iter().enumerate() {
            if let Some(k) = rows.iter().position(|&r| r == row) {
                self.matrix[i * n + d + k] = -at(&code.kick_r_p, e);
            }
        }
        for (e, &(row, i)) in code.kick_c_j.places.iter().enumerate() {
            if let Some(k) = rows.iter().position(|&r| r == row) {
                self.matrix[(d + k) * n + i] = at(&code.kick_c_j, e);
            }
        }
        self.factored.set(n, &self.matrix).map_err(|_| "the constraints that act depend on each other".to_string())
    }

    /// The jump of velocity J for rows that act with their restitutions, and its effect on the columns. Gives v + J.
    pub fn strike(&mut self, t: f64, q: &[f64], v: &[f64], rows: &[(usize, f64)]) -> Result<Vec<f64>, String> {
        let (d, acting): (usize, Vec<usize>) = (self.d, rows.iter().map(|r| r.0).collect());
        self.look(t, q, v, &[], &[]);
        self.factor_kick(&acting)?;
        let mut right = vec![0.0; d + rows.len()];
        for (k, &(row, e)) in rows.iter().enumerate() {
            right[d + k] = -(1.0 + e) * self.rates[row];
        }
        self.factored.solve(&mut right);
        let jump = right[..d].to_vec();
        let impulses: Vec<(usize, f64)> = acting.iter().copied().zip(right[d..].iter().copied()).collect();
        self.look(t, q, v, &jump, &impulses);
        for k in 0..self.columns {
            self.kick_column(k, rows)?;
        }
        Ok(v.iter().zip(&jump).map(|(v, j)| v + j).collect())
    }

    fn kick_column(&mut self, k: usize, rows: &[(usize, f64)]) -> Result<(), String> {
        let code = self.instance.problem().variational().map_err(|e| e.to_string())?;
        let (d, open) = (self.d, self.width - 1 - 2 * self.d);
        self.right.clear();
        self.right.resize(d + rows.len(), 0.0);
        let x = &self.x[k * self.width..(k + 1) * self.width];
        for (e, &(i, c)) in code.kick_r_x.places.iter().enumerate() {
            self.right[i] += self.kicks[code.kick_r_x.first + e] * x[c];
        }
        for (n, &(row, e)) in rows.iter().enumerate() {
            let (along, change) = (self.along(&code.kick_c_x, row, k), self.along(&code.rate_x, row, k));
            let mut restitution = 0.0;
            if row < self.instance.constraints() && e > 0.0 {
                let u = self.rates[row];
                self.restitution.run_with(self.approach, -u.min(0.0));
                self.restitution.write(0, &mut self.restitutions);
                let slopes = &self.restitutions[row * (1 + open)..(row + 1) * (1 + open)];
                let x = &self.x[k * self.width..(k + 1) * self.width];
                let by_parameters: f64 = slopes[1..].iter().zip(&x[2 * d..]).map(|(s, p)| s * p).sum();
                restitution = (by_parameters - slopes[0] * change) * u;
            }
            self.right[d + n] = -along - (1.0 + e) * change - restitution;
        }
        self.factored.solve(&mut self.right);
        for i in 0..d {
            self.x[k * self.width + d + i] += self.right[i];
        }
        Ok(())
    }

    /// Puts the columns on the tangent space of the rows held: δf = 0 and δU = 0, by the shortest way in the kinetic metric.
    /// Gives the largest change, as a part of the largest perturbation. (What has shrunk to a millionth of what it began with is
    /// measured by that.)
    pub fn project(&mut self, t: f64, q: &[f64], v: &[f64], rows: &[usize]) -> Result<f64, String> {
        let code = self.instance.problem().variational().map_err(|e| e.to_string())?;
        let (gap_x, rate_x) = (code.gap_x.clone(), code.rate_x.clone());
        let (d, places) = (self.d, self.instance.constraints() + self.instance.model().joints.len());
        let with_position: Vec<usize> = rows.iter().copied().filter(|&row| row < places).collect();
        let mut largest = 0.0_f64;
        self.look(t, q, v, &[], &[]);
        for (part, rows, first) in [(&gap_x, &with_position[..], 0), (&rate_x, rows, d)] {
            if rows.is_empty() {
                continue;
            }
            self.factor_kick(rows)?;
            let entries = (0..self.columns).flat_map(|k| &self.column(k)[first..first + d]);
            let size = entries.fold(1e-6 * self.seeded, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
            for k in 0..self.columns {
                let mut right = vec![0.0; d + rows.len()];
                for (n, &row) in rows.iter().enumerate() {
                    right[d + n] = -self.along(part, row, k);
                }
                self.factored.solve(&mut right);
                let x = &mut self.x[k * self.width + first..k * self.width + first + d];
                x.iter_mut().zip(&right).for_each(|(x, r)| *x += r);
                largest = largest.max(crate::linalg::max_abs(&right[..d]) / size);
            }
        }
        Ok(largest)
    }

    /// The rate of what a row of a part is the derivative of, along the motion.
    pub fn rate_of(&self, part: &Part, row: usize, v: &[f64], a: &[f64]) -> f64 {
        let (d, last) = (self.d, self.width - 1);
        let entries = part.places.iter().enumerate().filter(|(_, (r, _))| *r == row);
        let along = |c: usize| match c {
            c if c < d => v[c],
            c if c < 2 * d => a[c - d],
            c if c == last => 1.0,
            _ => 0.0,
        };
        entries.map(|(n, &(_, c))| self.kicks[part.first + n] * along(c)).sum()
    }

    /// For each column, when an event happens sooner or later: −δh/h', for a row of a part, with the motion's own rates.
    pub fn shifts(&self, part: &Part, row: usize, v: &[f64], a: &[f64]) -> Option<Vec<f64>> {
        let rate = self.rate_of(part, row, v, a);
        let shifts: Vec<f64> = (0..self.columns).map(|k| -self.along(part, row, k) / rate).collect();
        shifts.iter().all(|s| s.is_finite()).then_some(shifts)
    }
}
