//! Nearest point of a polyhedron { x : nα·x + bα ≥ 0 } in a metric M, by the dual active-set method of
//! Goldfarb and Idnani (Math. Programming 27, 1983), written on the Gram (Delassus) matrix nα·M⁻¹nβ.
//!
//! The method starts at the free point and adds violated constraints one at a time, so its cost follows the
//! number of constraints that act, not the number there are. A constraint whose gradient depends on the active
//! ones (more walls at a vertex than degrees of freedom) is met by exchanging it against one of them: redundant
//! and degenerate gradients need no special case. Equations enter first and never leave.

use crate::linalg::{GrowingFactor, Metric, Rows, add, each, max_abs};

/// Why a projection has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectionError {
    /// No point satisfies all constraints; this one contradicts the others.
    Empty {
        /// Index of the constraint that cannot be met.
        constraint: usize,
    },
    /// The exchange of constraints did not end (rounding in a badly scaled problem).
    Stalled {
        /// Index of the constraint being added when the limit was reached.
        constraint: usize,
    },
}

/// A contradiction smaller than this, relative to the numbers it is made of, is rounding.
const THIN: f64 = 1e-11;

/// The projection kernel with its buffers; one is made for a run and used in every step.
///
/// ```
/// use saltus::{linalg::{Metric, Rows}, project::Polyhedron};
/// // The quarter plane x ≥ 0, y ≥ 0 seen from (-1, 2): the nearest point is (0, 2).
/// let rows = Rows::dense(2, &[1.0, 0.0, 0.0, 1.0]);
/// let mut kernel = Polyhedron::new(2, 2);
/// let mut x = [-1.0, 2.0];
/// kernel.project(&Metric::diagonal(2), &rows, &[0.0, 0.0], &mut x).unwrap();
/// assert_eq!(x, [0.0, 2.0]);
/// assert_eq!(kernel.multipliers(), [1.0, 0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Polyhedron {
    d: usize,
    /// The first rows are equations: always active, with multipliers of any sign.
    equations: usize,
    multipliers: Vec<f64>,
    /// Size of the numbers x is made of: bounds the rounding in a slack.
    reach: f64,
    active: Vec<usize>,
    is_active: Vec<bool>,
    /// Constraints taken for met because what is missing is rounding.
    thin: Vec<usize>,
    /// M⁻¹nα by rows, filled on demand.
    mobility: Vec<f64>,
    has_mobility: Vec<bool>,
    factor: GrowingFactor,
    /// L⁻¹ G_Ap, then r = G_AA⁻¹ G_Ap.
    r: Vec<f64>,
    /// Offsets of slacks that have none.
    zero: Vec<f64>,
}

impl Polyhedron {
    /// Buffers for `d` unknowns and up to `m` constraints.
    pub fn new(d: usize, m: usize) -> Self {
        let most = d.min(m);
        Polyhedron {
            d,
            equations: 0,
            multipliers: vec![0.0; m],
            reach: 0.0,
            active: Vec::with_capacity(most + 1),
            is_active: vec![false; m],
            thin: Vec::with_capacity(m),
            mobility: vec![0.0; m * d],
            has_mobility: vec![false; m],
            factor: GrowingFactor::with_capacity(most),
            r: vec![0.0; most + 1],
            zero: vec![0.0; m],
        }
    }

    /// The same, with the first rows being equations nα·x + bα = 0, whose multipliers may have any sign. An equation that depends
    /// on those before it is left out: it is for the caller to know that it agrees with them.
    ///
    /// ```
    /// use saltus::{linalg::{Metric, Rows}, project::Polyhedron};
    /// // The half line x + y = 1, x ≥ 0.
    /// let rows = Rows::dense(2, &[1.0, 1.0, 1.0, 0.0]);
    /// let mut kernel = Polyhedron::new(2, 2).with_equations(1);
    /// let mut x = [-1.0, 3.0];
    /// kernel.project(&Metric::diagonal(2), &rows, &[-1.0, 0.0], &mut x).unwrap();
    /// assert!(x[0].abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14 && (kernel.multipliers()[0] + 2.0).abs() < 1e-14);
    /// ```
    #[must_use]
    pub fn with_equations(self, equations: usize) -> Self {
        Polyhedron { equations, ..self }
    }

    /// The multipliers λα ≥ 0 of the last projection: x = x_free + M⁻¹ Σ λα nα.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// Overwrites `x` with the point of { nα·x + bα ≥ 0 } nearest to it in the metric.
    ///
    /// `rows` may hold fewer rows than the kernel was made for. Allocates nothing.
    pub fn project(
        &mut self,
        metric: &Metric,
        rows: &Rows,
        offsets: &[f64],
        x: &mut [f64],
    ) -> Result<(), ProjectionError> {
        let m = rows.len();
        if m == 1 && self.multipliers.len() == 1 && self.equations == 0 {
            return self.project_on_one(metric, rows, offsets[0], x);
        }
        self.has_mobility.fill(false);
        self.enter(metric, rows, offsets, x, m)
    }

    /// The same seen from the constraints alone: overwrites slacks s with s + G λ ≥ 0, λ ≥ 0, sᵀλ = 0, where G is the Gram
    /// matrix nα·M⁻¹nβ by rows, known beforehand. The kernel must be made for as many unknowns as constraints; `units` are the
    /// unit rows, of which there may be more than slacks.
    pub(crate) fn complete(&mut self, gram: &[f64], units: &Rows, slacks: &mut [f64]) -> Result<(), ProjectionError> {
        let n = slacks.len();
        if n == 1 {
            self.multipliers[0] = (-slacks[0] / gram[0]).max(0.0);
            slacks[0] = slacks[0].max(0.0);
            return Ok(());
        }
        self.mobility[..n * n].copy_from_slice(gram);
        self.has_mobility.fill(true);
        let zero = std::mem::take(&mut self.zero);
        let d = std::mem::replace(&mut self.d, n);
        let done = self.enter(&Metric::diagonal(0), units, &zero, slacks, n);
        (self.zero, self.d) = (zero, d);
        done
    }

    /// Violated constraints among the first m enter one at a time until none is left.
    fn enter(
        &mut self,
        metric: &Metric,
        rows: &Rows,
        offsets: &[f64],
        x: &mut [f64],
        m: usize,
    ) -> Result<(), ProjectionError> {
        self.multipliers.fill(0.0);
        self.is_active.fill(false);
        self.active.clear();
        self.thin.clear();
        self.factor.clear();
        self.reach = max_abs(x);
        (0..self.equations).for_each(|p| self.satisfy(metric, rows, offsets, x, p));
        let mut budget = 100 + 20 * (m + self.d);
        while let Some(p) = self.most_violated(rows, offsets, x, m) {
            // One constraint enters; each pass either completes that or lets another one go.
            loop {
                if budget == 0 {
                    return Err(ProjectionError::Stalled { constraint: p });
                }
                budget -= 1;
                if self.pull(metric, rows, offsets, x, p)? {
                    break;
                }
            }
        }
        if self.active.len() > 1 {
            self.polish(rows, offsets, x);
        }
        Ok(())
    }

    /// A single constraint has a closed form: x + M⁻¹n · (−slack)/(n·M⁻¹n).
    fn project_on_one(
        &mut self,
        metric: &Metric,
        rows: &Rows,
        offset: f64,
        x: &mut [f64],
    ) -> Result<(), ProjectionError> {
        self.multipliers[0] = 0.0;
        let slack = offset + rows.dot(0, x);
        if slack >= 0.0 {
            return Ok(());
        }
        let w = &mut self.mobility[..self.d];
        each(w.len(), |i| w[i] = 0.0);
        rows.add_to(0, 1.0, w);
        metric.solve(w);
        let compliance = rows.dot(0, w);
        if !(compliance > 0.0) {
            return Err(ProjectionError::Empty { constraint: 0 });
        }
        self.multipliers[0] = -slack / compliance;
        add(x, self.multipliers[0], w);
        Ok(())
    }

    /// One correction of the multipliers, so that the active constraints are met to rounding after several exchanges.
    fn polish(&mut self, rows: &Rows, offsets: &[f64], x: &mut [f64]) {
        let (n, d) = (self.active.len(), self.d);
        for k in 0..n {
            let a = self.active[k];
            self.r[k] = -(offsets[a] + rows.dot(a, x));
        }
        self.factor.forward(&mut self.r[..n]);
        self.factor.backward_first(n, &mut self.r);
        for k in 0..n {
            let a = self.active[k];
            let change = if a < self.equations { self.r[k] } else { self.r[k].max(-self.multipliers[a]) };
            self.multipliers[a] += change;
            for (x, w) in x.iter_mut().zip(&self.mobility[a * d..(a + 1) * d]) {
                *x += change * w;
            }
        }
    }

    /// A slack below this much is rounding: the constraint counts as met.
    fn noise(&self, rows: &Rows, offsets: &[f64], a: usize) -> f64 {
        let (_, values) = rows.row(a);
        let size: f64 = values.iter().map(|v| v.abs()).sum();
        8.0 * f64::EPSILON * (offsets[a].abs() + size * self.reach)
    }

    /// The constraint farthest on its wrong side, measured by the length of its gradient.
    fn most_violated(&self, rows: &Rows, offsets: &[f64], x: &[f64], m: usize) -> Option<usize> {
        let mut worst = None;
        let mut depth = 0.0;
        for a in (0..m).filter(|&a| !self.is_active[a]) {
            let slack = offsets[a] + rows.dot(a, x);
            let tolerance = if self.active.is_empty() { 0.0 } else { self.noise(rows, offsets, a) };
            if slack < -tolerance {
                let (_, values) = rows.row(a);
                let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
                let d = -slack / length.max(f64::MIN_POSITIVE);
                if worst.is_none() || d > depth {
                    (worst, depth) = (Some(a), d);
                }
            }
        }
        worst
    }

    /// Moves towards constraint `p` along the direction that keeps the active ones; true when `p` is reached.
    fn pull(
        &mut self,
        metric: &Metric,
        rows: &Rows,
        offsets: &[f64],
        x: &mut [f64],
        p: usize,
    ) -> Result<bool, ProjectionError> {
        self.ensure_mobility(metric, rows, p);
        let n = self.active.len();
        let d = self.d;
        let w_p = &self.mobility[p * d..(p + 1) * d];
        let g_pp = rows.dot(p, w_p);
        for k in 0..n {
            self.r[k] = rows.dot(self.active[k], w_p);
        }
        self.factor.forward(&mut self.r[..n]);
        let schur = g_pp - self.r[..n].iter().map(|x| x * x).sum::<f64>();
        let independent = schur > 1e-12 * g_pp && n < self.d;
        if independent {
            // Stored now, while r still holds L⁻¹ G_Ap; taken back below if p is not reached.
            self.factor.push(&self.r, schur);
        }
        self.factor.backward_first(n, &mut self.r);
        // How far the multipliers let us go: λ_active − step·r must stay ≥ 0.
        let mut step = f64::INFINITY;
        let mut leaving = None;
        for k in 0..n {
            let r = self.r[k];
            if r > 0.0 && self.active[k] >= self.equations && self.multipliers[self.active[k]] < step * r {
                step = self.multipliers[self.active[k]] / r;
                leaving = Some(k);
            }
        }
        let slack = offsets[p] + rows.dot(p, x);
        let full = if independent { (-slack / schur).max(0.0) } else { f64::INFINITY };
        let complete = full <= step;
        if complete {
            (step, leaving) = (full, None);
        }
        if !step.is_finite() && independent {
            // The numbers overflow; the row that was stored belongs to no active constraint.
            return Err(ProjectionError::Stalled { constraint: p });
        }
        if !step.is_finite() {
            // p opposes the active constraints and cannot be met with them: a contradiction, unless what is missing
            // is the rounding of a set without interior (a vertex with more walls than dimensions).
            if -slack <= THIN / f64::EPSILON * self.noise(rows, offsets, p) {
                self.is_active[p] = true;
                self.thin.push(p);
                return Ok(true);
            }
            return Err(ProjectionError::Empty { constraint: p });
        }
        for k in 0..n {
            self.multipliers[self.active[k]] -= step * self.r[k];
        }
        self.multipliers[p] += step;
        // x moves by step · M⁻¹(n_p − Σ r n_active): zero when p depends on them.
        if independent {
            for i in 0..d {
                let mut z = self.mobility[p * d + i];
                for k in 0..n {
                    z -= self.r[k] * self.mobility[self.active[k] * d + i];
                }
                x[i] += step * z;
            }
        }
        self.reach += step * max_abs(&self.mobility[p * d..(p + 1) * d]);
        if complete {
            self.is_active[p] = true;
            self.active.push(p);
            return Ok(true);
        }
        if let Some(k) = leaving {
            let gone = self.active.remove(k);
            self.multipliers[gone] = 0.0;
            self.is_active[gone] = false;
            // With one constraint gone, those that were met only to rounding must be checked again.
            while let Some(p) = self.thin.pop() {
                self.is_active[p] = false;
            }
        }
        self.refactor(rows);
        Ok(false)
    }

    /// Makes equation `p` active before any inequality is: a step of either sign.
    fn satisfy(&mut self, metric: &Metric, rows: &Rows, offsets: &[f64], x: &mut [f64], p: usize) {
        self.ensure_mobility(metric, rows, p);
        self.is_active[p] = true;
        let (n, d) = (self.active.len(), self.d);
        let w_p = &self.mobility[p * d..(p + 1) * d];
        let g_pp = rows.dot(p, w_p);
        for k in 0..n {
            self.r[k] = rows.dot(self.active[k], w_p);
        }
        self.factor.forward(&mut self.r[..n]);
        let schur = g_pp - self.r[..n].iter().map(|x| x * x).sum::<f64>();
        if !(schur > 1e-11 * g_pp) || n >= d {
            return;
        }
        self.factor.push(&self.r, schur);
        self.factor.backward_first(n, &mut self.r);
        let step = -(offsets[p] + rows.dot(p, x)) / schur;
        for k in 0..n {
            self.multipliers[self.active[k]] -= step * self.r[k];
        }
        self.multipliers[p] = step;
        for i in 0..d {
            let mut z = self.mobility[p * d + i];
            for k in 0..n {
                z -= self.r[k] * self.mobility[self.active[k] * d + i];
            }
            x[i] += step * z;
        }
        self.reach += step.abs() * max_abs(&self.mobility[p * d..(p + 1) * d]);
        self.active.push(p);
    }

    #[inline]
    fn ensure_mobility(&mut self, metric: &Metric, rows: &Rows, a: usize) {
        if !self.has_mobility[a] {
            let w = &mut self.mobility[a * self.d..(a + 1) * self.d];
            w.fill(0.0);
            rows.add_to(a, 1.0, w);
            metric.solve(w);
            self.has_mobility[a] = true;
        }
    }

    /// Factors the Gram matrix of the active constraints anew, after one of them left.
    fn refactor(&mut self, rows: &Rows) {
        self.factor.clear();
        let d = self.d;
        for i in 0..self.active.len() {
            let a = self.active[i];
            let w = &self.mobility[a * d..(a + 1) * d];
            for k in 0..i {
                self.r[k] = rows.dot(self.active[k], w);
            }
            self.factor.forward(&mut self.r[..i]);
            let schur = rows.dot(a, w) - self.r[..i].iter().map(|x| x * x).sum::<f64>();
            self.factor.push(&self.r, schur.max(f64::MIN_POSITIVE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
    use proptest::prelude::*;

    /// The same projection by an interior-point solver: an oracle that shares nothing with the kernel.
    fn oracle(d: usize, mass: &[f64], rows: &[f64], offsets: &[f64], x: &[f64]) -> Option<Vec<f64>> {
        let m = offsets.len();
        let dense = |r: usize, c: usize, a: &[f64]| {
            CscMatrix::from(&(0..r).map(|i| a[i * c..(i + 1) * c].to_vec()).collect::<Vec<_>>())
        };
        let p = dense(d, d, mass).to_triu();
        let q: Vec<f64> = (0..d).map(|i| -(0..d).map(|j| mass[i * d + j] * x[j]).sum::<f64>()).collect();
        let a = dense(m, d, &rows.iter().map(|v| -v).collect::<Vec<_>>());
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-9,
            tol_gap_rel: 1e-9,
            tol_feas: 1e-9,
            ..Default::default()
        };
        let cones = [SupportedConeT::NonnegativeConeT(m)];
        let mut solver = DefaultSolver::new(&p, &q, &a, offsets, &cones, settings).expect("valid problem");
        solver.solve();
        let solved = solver.solution.status == SolverStatus::Solved;
        solved.then(|| solver.solution.x.clone())
    }

    fn spd(d: usize, seed: &[f64]) -> Vec<f64> {
        let b = nalgebra::DMatrix::from_fn(d, d, |i, j| seed[i * d + j]);
        let a = &b * b.transpose() + nalgebra::DMatrix::identity(d, d) * 0.5;
        a.as_slice().to_vec()
    }

    proptest! {
        /// Optimality (feasible, λ ≥ 0, complementary, stationary) for any number of constraints, duplicated
        /// ones included, and agreement with the interior-point oracle.
        #[test]
        fn nearest_point_of_a_cone_or_polyhedron(
            d in 1usize..5,
            m in 1usize..9,
            seed in prop::collection::vec(-1.0f64..1.0, 16 + 32 + 8 + 4),
            repeat in any::<bool>(),
            cone in any::<bool>(),
        ) {
            let mass = spd(d, &seed[..16]);
            let mut normals = seed[16..16 + m * d].to_vec();
            if repeat && m > 1 {
                let first = normals[..d].to_vec();
                normals[(m - 1) * d..].iter_mut().zip(&first).for_each(|(n, f)| *n = 2.0 * f);
            }
            // Non-negative offsets keep the origin feasible, so there is always an answer.
            let offsets: Vec<f64> =
                seed[48..48 + m].iter().map(|b| if cone { 0.0 } else { b.abs() }).collect();
            let x0 = seed[56..56 + d].iter().map(|x| 3.0 * x).collect::<Vec<_>>();
            let mut metric = Metric::full(d);
            metric.set(&mass).expect("positive definite");
            let rows = Rows::dense(d, &normals);
            let mut kernel = Polyhedron::new(d, m);
            let mut x = x0.clone();
            kernel.project(&metric, &rows, &offsets, &mut x).expect("feasible");
            let lambda = kernel.multipliers();
            let mut residual = vec![0.0; d];
            metric.apply(&x.iter().zip(&x0).map(|(a, b)| a - b).collect::<Vec<_>>(), &mut residual);
            for a in 0..m {
                let slack = offsets[a] + rows.dot(a, &x);
                prop_assert!(slack >= -1e-10 && lambda[a] >= 0.0);
                prop_assert!(slack.abs() * lambda[a] <= 1e-9, "slack {slack} λ {}", lambda[a]);
                rows.add_to(a, -lambda[a], &mut residual);
            }
            prop_assert!(residual.iter().all(|r| r.abs() < 1e-9), "stationarity {residual:?}");
            // The oracle gives up on a few degenerate sets; the conditions above then stand alone.
            for (i, expected) in oracle(d, &mass, &normals, &offsets, &x0).iter().flatten().enumerate() {
                prop_assert!((x[i] - expected).abs() < 1e-4, "{x:?} {expected:?}");
            }
        }
    }

    #[test]
    fn more_walls_than_degrees_of_freedom_at_a_vertex() {
        // Forty walls through the apex of one cone in space, all tangent to it, seen from below.
        let normals: Vec<f64> = (0..40)
            .flat_map(|k| {
                let a = k as f64 * std::f64::consts::TAU / 40.0;
                [a.cos(), a.sin(), 1.0]
            })
            .collect();
        let mut kernel = Polyhedron::new(3, 40);
        let mut x = [0.0, 0.0, -1.0];
        kernel.project(&Metric::diagonal(3), &Rows::dense(3, &normals), &[0.0; 40], &mut x).unwrap();
        assert!(x.iter().all(|x| x.abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn an_empty_set_names_its_contradiction() {
        let rows = Rows::dense(1, &[1.0, -1.0]);
        let mut kernel = Polyhedron::new(1, 2);
        let error = kernel.project(&Metric::diagonal(1), &rows, &[-1.0, 0.0], &mut [0.0]);
        assert!(matches!(error, Err(ProjectionError::Empty { constraint: 1 })), "{error:?}");
    }
}
