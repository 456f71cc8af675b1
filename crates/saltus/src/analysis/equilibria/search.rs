//! Roots of the equations of equilibrium for one set of constraints: Newton's method, and the test that a root is one.

use crate::linalg::{Dice, Svd, dot, max_abs};
use crate::problem::{Drags, Dynamics, GapStates, Gaps, Power, Problem, Stiffness};

/// Newton iterations that need more than this do not converge; degenerate roots are approached in geometric progression.
const MAX_ITERATIONS: usize = 1200;
/// After so many iterations steps must shrink: otherwise the point drifts to where the force merely decays.
const DRIFT: usize = 60;
/// Rounding errors of a sum, in units of its terms.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

pub(super) struct Search<'p> {
    pub problem: &'p Problem,
    pub t: f64,
    pub dynamics: Dynamics,
    pub gaps: Gaps,
    pub stiffness: Option<Stiffness>,
    pub power: Power,
    /// Velocities at rest, and first-order states.
    pub rest: Vec<f64>,
    pub joints: Gaps,
    /// How gaps depend on states, where they do.
    pub gap_states: Option<GapStates>,
    /// Friction at constraints whose surfaces move by themselves: it slides.
    pub drags: Option<Drags>,
    /// Number of coordinates; first-order states come behind them.
    pub degrees: usize,
    /// In which unit each unknown is counted: one for coordinates, the size of each state.
    pub units: Vec<f64>,
    /// How large positions may be.
    pub scale: f64,
    /// How small the length may be on which something changes.
    pub fine: f64,
    /// The size of forces at the start.
    pub force_scale: f64,
    /// Whether the forces and gaps are analytic in q: then what is flat somewhere is flat everywhere.
    pub analytic: bool,
}

/// Residual, derivative and rounding level of the equations at a point.
pub(super) struct Equations {
    pub n: usize,
    /// (g + Σ λ ∇f, f).
    pub residual: Vec<f64>,
    /// Its derivative by rows.
    pub matrix: Vec<f64>,
    /// What of each component may be rounding.
    pub noise: Vec<f64>,
}

/// Where Newton's method ended.
#[derive(Clone, Debug)]
pub(super) struct Landed {
    pub q: Vec<f64>,
    pub lambda: Vec<f64>,
    /// The last step in q.
    pub step: f64,
}

/// A matrix with rows and columns scaled to comparable size, so that units and distant magnitudes do not decide what counts
/// as zero.
pub(super) struct Balanced {
    svd: Svd,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Balanced {
    /// Scales `matrix` by the magnitudes in `sizes`; singular values below `cut`, and
    /// below `cut` of the largest, count as zero.
    pub fn new(n: usize, matrix: &[f64], sizes: &[f64], cut: f64) -> Option<Self> {
        let (mut rows, mut columns) = (vec![1.0; n], vec![1.0; n]);
        for _ in 0..8 {
            let size = |i: usize, j: usize| sizes[i * n + j].abs() * rows[i] * columns[j];
            let by_row: Vec<f64> = (0..n).map(|i| (0..n).map(|j| size(i, j)).fold(0.0, f64::max)).collect();
            let by_column: Vec<f64> = (0..n).map(|j| (0..n).map(|i| size(i, j)).fold(0.0, f64::max)).collect();
            let apply = |scales: &mut [f64], sizes: &[f64]| {
                for (s, &size) in scales.iter_mut().zip(sizes) {
                    let next = *s / size.sqrt();
                    if size > 0.0 && next.is_finite() && next > 0.0 {
                        *s = next;
                    }
                }
            };
            apply(&mut rows, &by_row);
            apply(&mut columns, &by_column);
        }
        let scaled: Vec<f64> = (0..n * n).map(|k| matrix[k] * rows[k / n] * columns[k % n]).collect();
        Some(Balanced { svd: Svd::new(n, n, &scaled, cut)?.at_least(cut), rows, columns })
    }

    /// The shortest solution in the scaled unknowns.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = b.iter().zip(&self.rows).map(|(b, r)| b * r).collect();
        let mut x = self.svd.least_norm(&scaled);
        x.iter_mut().zip(&self.columns).for_each(|(x, c)| *x *= c);
        x
    }

    /// Directions that the matrix maps to zero: their first `d` components, orthonormal.
    pub fn null(&self, d: usize) -> Vec<Vec<f64>> {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for y in self.svd.null_space() {
            let mut w: Vec<f64> = y[..d].iter().zip(&self.columns).map(|(y, c)| y * c).collect();
            let size = max_abs(&w);
            // A direction of reactions alone moves nothing.
            if max_abs(&y[..d]) < 1e-6 || !(size > 0.0) {
                continue;
            }
            w.iter_mut().for_each(|x| *x /= size);
            for b in &basis {
                let along: f64 = b.iter().zip(&w).map(|(b, w)| b * w).sum();
                w.iter_mut().zip(b).for_each(|(w, b)| *w -= along * b);
            }
            let norm = w.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 1e-6 {
                w.iter_mut().for_each(|x| *x /= norm);
                basis.push(w);
            }
        }
        basis
    }
}

impl<'p> Search<'p> {
    pub fn new(problem: &'p Problem, drags: Option<Drags>, t: f64) -> Self {
        let model = problem.model();
        let (d, n) = (model.degrees(), problem.dimension());
        let reach = max_abs(&model.q0[..d]);
        let mut rest = vec![0.0; n];
        rest[d..].copy_from_slice(&model.v0[d..]);
        let mut dynamics = problem.dynamics();
        dynamics.evaluate(t, &model.q0, &rest);
        let force_scale = max_abs(&dynamics.g[..d]).max(1e-12);
        // A state has the size of its start, or of the way that its rate alone would lead it.
        let size = |i: usize| {
            let slope = dynamics.jacobian.get(i * n + i).copied().unwrap_or(0.0);
            let way = (dynamics.g[i] / slope).abs();
            model.v0[i].abs().max(if way.is_finite() { way } else { 0.0 }).max(1.0)
        };
        let units = (0..n).map(|i| if i < d { 1.0 } else { size(i) }).collect();
        let unknowns = [&model.q[..d], &model.v[d..]].concat();
        let free = |n| model.graph.corners_are_free_of(n, &unknowns);
        Search {
            problem,
            t,
            dynamics,
            gaps: problem.gaps(),
            joints: problem.joints(),
            gap_states: problem.gap_states(),
            drags,
            degrees: d,
            units,
            stiffness: problem.stiffness(),
            power: problem.power(),
            rest,
            scale: reach.max(1.0),
            fine: if reach > 0.0 { reach.min(1.0) } else { 1.0 },
            force_scale,
            analytic: model.force.iter().all(|&g| free(g)) && model.constraints.iter().all(|c| free(c.gap)),
        }
    }

    /// Starts around the model's own, near and far, on the scale of its numbers and on that of one.
    pub fn starts(&self, n: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
        let (model, d) = (self.problem.model(), self.degrees);
        let mut q0 = model.q0.clone();
        (d..q0.len()).for_each(|i| q0[i] = model.v0[i] / self.units[i]);
        let mut points = vec![q0.clone()];
        for k in 1..n {
            let scale = if self.fine < 0.1 * self.scale && k % 2 == 0 { self.fine } else { self.scale };
            let reach = scale * [0.1, 0.5, 1.0, 2.0, 4.0][k % 5];
            points.push(q0.iter().map(|q| q + dice.between(-reach, reach)).collect());
        }
        points
    }

    /// Where the force leads from a point, or against it, in steps that are halved where it turns.
    pub fn followed(&mut self, start: &[f64], sign: f64) -> Vec<f64> {
        let mut q = start.to_vec();
        let mut before = vec![0.0; q.len()];
        let mut step = 0.2 * self.scale;
        for _ in 0..40 {
            self.enter_states(&q);
            self.dynamics.evaluate_force(self.t, &q, &self.rest);
            let g: Vec<f64> = self.dynamics.g.iter().zip(&self.units).map(|(g, unit)| g / unit).collect();
            let size = max_abs(&g);
            if !(size > 0.0 && size.is_finite()) {
                break;
            }
            let along: Vec<f64> = g.iter().map(|g| sign * g / size).collect();
            if dot(&along, &before) < 0.0 {
                step *= 0.5;
            }
            q.iter_mut().zip(&along).for_each(|(q, a)| *q += step * a);
            before = along;
        }
        q
    }

    /// How far below zero a gap may be at an equilibrium, where gaps have been evaluated.
    pub fn slack(&self, a: usize, q: &[f64]) -> f64 {
        1e-9 * self.fine + self.gaps.rounding(a, q)
    }

    /// The equations for a set at a point; None if something is not a number.
    pub fn equations(&mut self, set: &[usize], q: &[f64], lambda: &[f64]) -> Option<Equations> {
        let (d, m) = (q.len(), set.len());
        let n = d + self.held(set);
        self.enter_states(q);
        self.dynamics.evaluate(self.t, q, &self.rest);
        self.gaps.second_order(self.t, q, &self.rest);
        let (mut residual, mut noise, mut matrix) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
        residual.iter_mut().zip(&self.dynamics.g).zip(&self.units).for_each(|((r, g), unit)| *r = g / unit);
        noise[..d].iter_mut().zip(&residual).for_each(|(n, g)| *n = g.abs());
        if let Some(stiffness) = &mut self.stiffness {
            stiffness.evaluate(self.t, q, &self.rest);
            for i in 0..d {
                let row = &mut matrix[i * n..i * n + d];
                row.copy_from_slice(&stiffness.matrix[i * d..(i + 1) * d]);
                row.iter_mut().for_each(|slope| *slope /= self.units[i]);
                noise[i] += row.iter().zip(q).map(|(k, q)| (k * q).abs()).sum::<f64>();
            }
        }
        self.state_columns(&mut matrix, &mut noise, q, n);
        // Constraints of the set, then all equations of joints.
        if m < self.held(set) {
            self.joints.second_order(self.t, q, &self.rest);
        }
        let all: Vec<usize> = (0..self.held(set) - m).collect();
        for (rows, which, first) in [(&self.gaps, set, 0), (&self.joints, all.as_slice(), m)] {
            for (k, &a) in which.iter().enumerate() {
                let (k, row) = (first + k, d + first + k);
                rows.gradients.add_to(a, lambda[k], &mut residual[..d]);
                residual[row] = rows.values[a];
                noise[row] = rows.rounding(a, q) / ROUNDING;
                let (columns, values) = rows.gradients.row(a);
                for (&i, &slope) in columns.iter().zip(values) {
                    matrix[i * n + row] = slope;
                    matrix[row * n + i] = slope;
                    noise[i] += (lambda[k] * slope).abs();
                }
            }
            for (&(a, i, j), second) in rows.code.second.iter().zip(&rows.hessians) {
                if let Some(k) = which.iter().position(|&b| b == a) {
                    let mut add = |i: usize, j: usize| {
                        let term = lambda[first + k] * second;
                        let sum = matrix[i * n + j] + term;
                        // What cancels to rounding is zero.
                        matrix[i * n + j] = if sum.abs() <= 8.0 * f64::EPSILON * term.abs() { 0.0 } else { sum };
                        noise[i] += (term * q[j]).abs();
                    };
                    add(i, j);
                    if i != j {
                        add(j, i);
                    }
                }
            }
        }
        if let Some(drags) = &mut self.drags {
            drags.evaluate(self.t, q, &self.rest);
            let place = |a: usize| set.iter().position(|&b| b == a);
            for (&(a, i), &force) in drags.places.iter().zip(&drags.forces) {
                if let Some(k) = place(a) {
                    residual[i] += lambda[k] * force;
                    noise[i] += (lambda[k] * force).abs();
                    matrix[i * n + d + k] += force;
                }
            }
            for (&(a, i, j), slope) in drags.slope_places.iter().zip(&drags.slopes) {
                if let Some(k) = place(a) {
                    matrix[i * n + j] += lambda[k] * slope;
                    noise[i] += (lambda[k] * slope * q[j]).abs();
                }
            }
        }
        self.gap_columns(set, lambda, q, (&mut matrix, &mut noise), n);
        noise.iter_mut().for_each(|x| *x *= ROUNDING);
        let finite = residual.iter().chain(&matrix).all(|x| x.is_finite());
        finite.then_some(Equations { n, residual, matrix, noise })
    }

    /// Newton's method from a point; None where it does not converge.
    pub fn descend(&mut self, set: &[usize], start: &[f64], reactions: &[f64]) -> Option<Landed> {
        let d = start.len();
        let (mut q, mut lambda) = (start.to_vec(), reactions.to_vec());
        let mut steps: Vec<f64> = Vec::new();
        for k in 0..MAX_ITERATIONS {
            let at = self.equations(set, &q, &lambda)?;
            let balanced = Balanced::new(at.n, &at.matrix, &at.matrix, 4.0 * at.n as f64 * f64::EPSILON)?;
            let step = balanced.solve(&at.residual);
            // Far steps are shortened: the equations are only linear nearby.
            let far = max_abs(&step[..d]);
            let share = (self.scale / far.max(1e-300)).min(1.0);
            q.iter_mut().zip(&step).for_each(|(q, s)| *q -= share * s);
            lambda.iter_mut().zip(&step[d..]).for_each(|(l, s)| *l -= share * s);
            if !max_abs(&q).is_finite() || max_abs(&q) > 1e6 * self.scale {
                return None;
            }
            let size = self.fine + max_abs(&q);
            let before = steps.last().copied().unwrap_or(f64::INFINITY);
            steps.push(far);
            if far <= 1e-16 * size || (far <= 1e-11 * size && far >= 0.98 * before) {
                return Some(Landed { q, lambda, step: far });
            }
            if k >= DRIFT && !(far <= 0.8 * steps[k - 10]) {
                return None;
            }
        }
        None
    }

    /// Whether what Newton's method cannot remove is rounding.
    pub fn is_balanced(&self, at: &Equations) -> bool {
        let balanced = Balanced::new(at.n, &at.matrix, &at.matrix, 4.0 * at.n as f64 * f64::EPSILON);
        let Some(step) = balanced.map(|b| b.solve(&at.residual)) else { return false };
        let left = at.matrix.chunks(at.n.max(1)).zip(&at.residual).map(|(row, r)| {
            let removed: f64 = row.iter().zip(&step).map(|(a, s)| a * s).sum();
            (r - removed).abs()
        });
        // A residual that the step removes to rounding of the residual itself is removed.
        left.zip(&at.noise).zip(&at.residual).all(|((left, noise), r)| left <= noise + ROUNDING * r.abs())
    }

    /// The test of Newton and Kantorovich: within some distance ρ of the point the derivative changes by less than half of
    /// itself, and the Newton step is much shorter than ρ. Then there is exactly one root within ρ.
    pub fn is_certain(&mut self, set: &[usize], landed: &Landed, at: &Equations) -> bool {
        let d = landed.q.len();
        let Some(inverse) = Balanced::new(at.n, &at.matrix, &at.matrix, 4.0 * at.n as f64 * f64::EPSILON) else {
            return false;
        };
        if !inverse.null(d).is_empty() {
            return false;
        }
        let step = max_abs(&inverse.solve(&at.residual)[..d]).max(landed.step);
        let mut rho = self.scale;
        while rho > 1e-12 * self.fine {
            if step <= 1e-3 * rho && self.varies_little(set, landed, at, &inverse, rho) {
                return true;
            }
            rho *= 0.1;
        }
        false
    }

    fn varies_little(&mut self, set: &[usize], landed: &Landed, at: &Equations, inverse: &Balanced, rho: f64) -> bool {
        let (d, n) = (landed.q.len(), at.n);
        self.near(d, rho).iter().all(|shift| {
            let q: Vec<f64> = landed.q.iter().zip(shift).map(|(q, s)| q + s).collect();
            let Some(there) = self.equations(set, &q, &landed.lambda) else { return false };
            // J⁻¹ (J(x) − J) applied to the shift, compared with the shift.
            let mut change = vec![0.0; n];
            let mut whole = shift.clone();
            whole.resize(n, 0.0);
            for i in 0..n {
                change[i] = (0..n).map(|j| (there.matrix[i * n + j] - at.matrix[i * n + j]) * whole[j]).sum();
            }
            let moved = inverse.solve(&change);
            max_abs(&moved[..d]) <= 0.5 * rho
        })
    }

    /// Shifts of size ρ: along each coordinate, and some between.
    fn near(&self, d: usize, rho: f64) -> Vec<Vec<f64>> {
        let mut shifts = Vec::new();
        for i in 0..d.min(12) {
            for sign in [1.0, -1.0] {
                let mut shift = vec![0.0; d];
                shift[i] = sign * rho;
                shifts.push(shift);
            }
        }
        let mut dice = Dice::new(11);
        shifts.extend((0..4).map(|_| (0..d).map(|_| dice.between(-rho, rho)).collect()));
        shifts
    }

    /// Directions along which the equations do not change to first order, in units of how much they change nearby.
    pub fn null_directions(&mut self, set: &[usize], q: &[f64], lambda: &[f64]) -> Option<Vec<Vec<f64>>> {
        let at = self.equations(set, q, lambda)?;
        let mut sizes: Vec<f64> = at.matrix.iter().map(|x| x.abs()).collect();
        for shift in self.near(q.len(), 1e-3 * self.fine) {
            let there: Vec<f64> = q.iter().zip(&shift).map(|(q, s)| q + s).collect();
            if let Some(there) = self.equations(set, &there, lambda) {
                sizes.iter_mut().zip(&there.matrix).for_each(|(s, x)| *s = s.max(x.abs()));
            }
        }
        Some(Balanced::new(at.n, &at.matrix, &sizes, 1e-6)?.null(q.len()))
    }
}
