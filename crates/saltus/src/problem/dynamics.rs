//! The compiled right-hand side: M(q), g(t, q, v) and ∂g/∂v.

use super::blocks::{Blocks, Evaluator};
use super::inputs::{Cells, Inputs};
use crate::linalg::Metric;
use crate::model::Model;
use saltus_expr::{MissingInput, NodeId};
use std::sync::Arc;

/// Programs and structure of the dynamics, shared by all runs of a problem.
#[derive(Clone, Debug)]
pub struct DynamicsCode {
    d: usize,
    /// Coordinates come first, then states.
    degrees: usize,
    /// M has no entry off the diagonal: only the diagonal is stored.
    pub diagonal: bool,
    /// g does not depend on the velocity, so a centred scheme is explicit.
    pub velocity_free: bool,
    /// ∂g/∂v is symmetric and does not depend on v, and no function in g has corners: one Newton step is exact.
    pub damping_linear: bool,
    /// ∂g/∂v is symmetric, and nothing in it couples states.
    pub symmetric: bool,
    /// M and ∂g/∂v have no entry off the diagonal.
    pub damping_diagonal: bool,
    /// M is constant.
    pub mass_constant: bool,
    /// M and ∂g/∂v are constant, so the implicit metric is factored once.
    pub constant: bool,
    /// M and g are constant: free flight is the same in every step.
    pub fixed: bool,
    /// g does not depend on time.
    pub autonomous: bool,
    full: Arc<Blocks>,
    force: Arc<Blocks>,
}

impl DynamicsCode {
    pub fn compile(model: &mut Model, inputs: &Inputs) -> Result<Self, MissingInput> {
        let d = model.dimension();
        let v = model.v.clone();
        let force = model.force.clone();
        let velocity_free = !force.iter().any(|&g| model.graph.depends_on_any(g, &v));
        let mut jacobian = Vec::new();
        if !velocity_free {
            for &g in &force {
                for &v in &v {
                    jacobian.push(model.graph.derivative(g, v));
                }
            }
        }
        let graph = &model.graph;
        // (Couplings with states are not: see `take_symmetric`.)
        let degrees = model.degrees();
        let agree = |i: usize, j: usize| {
            let (a, b) = (jacobian[i * d + j], jacobian[j * d + i]);
            if i < degrees { a == b } else { graph.is_zero(a) && graph.is_zero(b) }
        };
        let symmetric = velocity_free || (0..d).all(|i| (0..i).all(|j| agree(i, j)));
        let diagonal = (0..d).all(|i| (0..d).all(|j| i == j || graph.is_zero(model.mass[i * d + j])));
        let mass: Vec<NodeId> = match diagonal {
            true => (0..d).map(|i| model.mass[i * d + i]).collect(),
            false => model.mass.clone(),
        };
        let full = Blocks::compile(graph, inputs, &[&mass, &force, &jacobian])?;
        Ok(DynamicsCode {
            d,
            degrees,
            diagonal,
            velocity_free,
            symmetric,
            damping_linear: symmetric
                && force.iter().all(|&g| graph.is_smooth(g) || !graph.depends_on_any(g, &v))
                && !jacobian.iter().any(|&j| graph.value(j).is_none() && graph.depends_on_any(j, &v)),
            damping_diagonal: diagonal
                && (0..d).all(|i| (0..d).all(|j| i == j || velocity_free || graph.is_zero(jacobian[i * d + j]))),
            mass_constant: full.is_constant(0),
            fixed: full.is_constant(0) && full.is_constant(1),
            constant: full.is_constant(0) && full.is_constant(2),
            autonomous: !force.iter().any(|&g| graph.depends_on(g, model.t)),
            force: Blocks::compile(graph, inputs, &[&force, &jacobian])?,
            full,
        })
    }
}

/// Evaluates the dynamics; each run has its own.
#[derive(Clone, Debug)]
pub struct Dynamics {
    pub(crate) code: Arc<DynamicsCode>,
    full: Evaluator,
    only_force: Evaluator,
    /// Entries of M at the last point: the diagonal or the matrix by rows.
    pub mass: Vec<f64>,
    /// g at the last point.
    pub g: Vec<f64>,
    /// ∂g/∂v by rows at the last point; empty when g does not depend on v.
    pub jacobian: Vec<f64>,
}

impl Dynamics {
    pub(crate) fn new(code: &Arc<DynamicsCode>, cells: &Cells) -> Self {
        Dynamics {
            full: Evaluator::new(&code.full, cells),
            only_force: Evaluator::new(&code.force, cells),
            mass: code.full.buffer(0),
            g: code.full.buffer(1),
            jacobian: code.full.buffer(2),
            code: code.clone(),
        }
    }

    /// A metric of the right shape for M.
    pub fn metric(&self) -> Metric {
        if self.code.diagonal { Metric::diagonal(self.code.d) } else { Metric::full(self.code.d) }
    }

    /// A metric of the right shape for M − s ∂g/∂v; empty when g does not depend on v.
    pub(crate) fn implicit_metric(&self) -> Metric {
        match (self.code.velocity_free, self.code.damping_diagonal) {
            (true, _) => Metric::diagonal(0),
            (false, true) => Metric::diagonal(self.code.d),
            (false, false) => Metric::full(self.code.d),
        }
    }

    /// entries − factor sym(matrix), for a matrix of derivatives of g: what it adds to the metric of a step.
    ///
    /// No reaction acts on a state, and its unit is a matter of choice: the symmetric part of what couples it to others has no
    /// meaning, and may be of any size. Of states only what each does to itself counts, unless it makes it grow; the
    /// iteration in which the metric is used does the rest.
    #[inline]
    pub fn take_symmetric(&self, matrix: &[f64], factor: f64, entries: &mut [f64]) {
        let (d, degrees) = (self.code.d, self.code.degrees);
        for i in 0..degrees {
            for j in 0..degrees {
                entries[i * d + j] -= 0.5 * factor * (matrix[i * d + j] + matrix[j * d + i]);
            }
        }
        for i in degrees..d {
            entries[i * d + i] -= (factor * matrix[i * d + i]).min(0.0);
        }
    }

    /// M, g and ∂g/∂v.
    #[inline]
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.full.run(t, &[q, v]);
        self.full.write(0, &mut self.mass);
        self.full.write(1, &mut self.g);
        self.full.write(2, &mut self.jacobian);
    }

    /// g and ∂g/∂v only.
    #[inline]
    pub fn evaluate_force(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.only_force.run(t, &[q, v]);
        self.only_force.write(0, &mut self.g);
        self.only_force.write(1, &mut self.jacobian);
    }
}

/// Evaluates ∂g/∂q; compiled on demand, since few schemes need it.
#[derive(Clone, Debug)]
pub struct Stiffness {
    evaluator: Evaluator,
    /// ∂g/∂q by rows at the last point.
    pub matrix: Vec<f64>,
}

impl Stiffness {
    /// Compiles ∂g/∂q; None if g does not depend on q.
    pub(super) fn compile(model: &Model, inputs: &Inputs) -> Option<Arc<Blocks>> {
        if !model.force.iter().any(|&g| model.graph.depends_on_any(g, &model.q)) {
            return None;
        }
        let mut graph = model.graph.clone();
        let mut entries = Vec::new();
        for &g in &model.force {
            for &q in &model.q {
                entries.push(graph.derivative(g, q));
            }
        }
        Blocks::compile(&graph, inputs, &[&entries]).ok()
    }

    pub(super) fn new(code: &Arc<Blocks>, cells: &Cells) -> Self {
        Stiffness { evaluator: Evaluator::new(code, cells), matrix: code.buffer(0) }
    }

    /// ∂g/∂q at a point.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.matrix);
    }
}
