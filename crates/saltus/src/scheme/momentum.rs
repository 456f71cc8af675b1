//! The equation that all velocity-level schemes solve in a step:
//!
//! ```text
//! M (v⁺ − v⁻) = given + h g(t, q, v⁺) + Σ P ∇f        nα·v⁺ + bα ≥ 0  ⊥  Pα ≥ 0    for the active α
//! ```
//!
//! Schemes differ in where M, g and the constraints are taken, which constraints are active, and what b is.

use super::bonded::Bonded;
use crate::Reason;
use crate::linalg::{Lu, Metric, Rows, add, copy, max_abs};
use crate::problem::{Dynamics, Gaps, Instance, Stiffness};
use crate::project::{Polyhedron, ProjectionError};

/// Newton's method for a velocity-dependent force needs a handful of iterations, or does not converge at all.
const MAX_ITERATIONS: usize = 60;

/// The velocity problem with its buffers.
pub struct Momentum {
    instance: Instance,
    pub dynamics: Dynamics,
    pub gaps: Gaps,
    /// M at the point where the dynamics were last evaluated.
    pub mass: Metric,
    implicit: Metric,
    entries: Vec<f64>,
    active: Vec<usize>,
    rows: Rows,
    offsets: Vec<f64>,
    slack: Vec<f64>,
    kernel: Polyhedron,
    residual: Vec<f64>,
    p: Vec<f64>,
    lu: Lu,
    /// M⁻¹ Σ P ∇f of the last solve.
    pub jump: Vec<f64>,
    /// Pα in the order of the model.
    pub impulses: Vec<f64>,
    /// Joints and friction, where the model has them: then they and the active constraints are one problem.
    pub bonded: Option<Box<Bonded>>,
    ready: bool,
    /// Dampers −c (∂f/∂t + ∇f·v) ∇f added to the force: their rows, coefficients c and ∂f/∂t.
    dampers: Rows,
    coefficients: Vec<(f64, f64)>,
    /// ∂g/∂q, where positions move with the unknown velocity.
    stiffness: Option<Stiffness>,
    at: Vec<f64>,
    /// Where gaps use first-order states: those at the instant of the gaps.
    ahead: Vec<f64>,
}

/// Where the force of a step is taken: at t and q + shift·v⁺.
pub struct Place<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub shift: f64,
}

impl Momentum {
    pub fn new(at: &Instance) -> Self {
        let (d, m) = (at.dimension(), at.constraints());
        let (dynamics, gaps) = (at.dynamics(), at.gaps());
        let unsymmetric = !dynamics.code.symmetric;
        let implicit = dynamics.implicit_metric();
        Momentum {
            instance: at.clone(),
            mass: dynamics.metric(),
            entries: vec![0.0; implicit.entries().len()],
            implicit,
            rows: Rows::with_capacity(m, gaps.gradients.values.len()),
            gaps,
            dynamics,
            active: Vec::with_capacity(m),
            offsets: Vec::with_capacity(m),
            slack: vec![0.0; m],
            kernel: Polyhedron::new(d, m),
            residual: vec![0.0; d],
            p: vec![0.0; d],
            lu: Lu::new(if unsymmetric { d } else { 0 }),
            jump: vec![0.0; d],
            impulses: vec![0.0; m],
            bonded: Bonded::of(at),
            ready: false,
            dampers: Rows::new(),
            coefficients: Vec::new(),
            stiffness: None,
            at: vec![0.0; d],
            ahead: vec![0.0; d],
        }
    }

    /// With ∂g/∂q compiled, for schemes whose force is taken at a position that depends on the unknown velocity.
    pub fn with_stiffness(at: &Instance) -> Self {
        let mut momentum = Momentum::new(at);
        let d = at.dimension();
        momentum.stiffness = at.stiffness();
        if momentum.stiffness.is_some() {
            momentum.implicit = Metric::full(d);
            momentum.entries = vec![0.0; d * d];
            momentum.lu = Lu::new(d);
        }
        momentum
    }

    /// With room for dampers on the constraints, for schemes that replace them by springs.
    pub fn with_dampers(at: &Instance) -> Self {
        let mut momentum = Momentum::new(at);
        let d = at.dimension();
        momentum.implicit = Metric::full(d);
        momentum.entries = vec![0.0; d * d];
        momentum.dampers = Rows::with_capacity(at.constraints(), momentum.gaps.gradients.values.len());
        momentum.coefficients = Vec::with_capacity(at.constraints());
        momentum
    }

    /// Adds the force −c (∂t f + ∇f·v) ∇f of constraint `a`, with the kinematics last evaluated.
    pub fn damp(&mut self, a: usize, c: f64) {
        self.dampers.push_row_of(&self.gaps.gradients, a);
        self.coefficients.push((c, self.gaps.partial_t[a]));
    }

    /// The start's velocity carried back by half a step of free flight: where velocities belong to the middle of steps.
    /// The data themselves where the mass matrix is singular at the start.
    pub fn half_step_back(&mut self, h: f64) -> Vec<f64> {
        let instance = self.instance.clone();
        let start = instance.start();
        let mut v = start.v.clone();
        if self.evaluate(start.t, &start.q, &start.v).is_ok() {
            copy(&mut self.p, &self.dynamics.g);
            self.mass.solve(&mut self.p);
            add(&mut v, -0.5 * h, &self.p);
        }
        v
    }

    pub fn coordinate(&self, i: usize) -> String {
        self.instance.model().unknown(i).to_string()
    }

    fn constraint(&self, a: usize) -> String {
        self.instance.model().constraints[a].name.clone()
    }

    /// M, g and ∂g/∂v at a point, M factored.
    #[inline]
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), Reason> {
        self.dynamics.evaluate(t, q, v);
        if !self.ready || !self.dynamics.code.mass_constant {
            let set = self.mass.set(&self.dynamics.mass);
            set.map_err(|e| Reason::Mass { coordinate: self.coordinate(e.pivot) })?;
            self.ready = true;
        }
        Ok(())
    }

    /// Gaps at a point; an error if a gap is not a number there. First-order states that they use are those of `v` carried on by `s`
    /// with the rates last evaluated, each implicit in itself, so that a fast one ends where it decays to.
    #[inline]
    pub fn evaluate_gaps(&mut self, t: f64, q: &[f64], v: &[f64], s: f64) -> Result<(), Reason> {
        if self.gaps.code.uses_states {
            let (d, dynamics) = (v.len(), &self.dynamics);
            for i in self.instance.model().degrees()..d {
                let slope = dynamics.jacobian.get(i * d + i).map_or(0.0, |slope| slope.min(0.0));
                self.ahead[i] = v[i] + s * dynamics.g[i] / (1.0 - s * slope);
            }
        }
        self.gaps.evaluate(t, q, &self.ahead);
        match self.gaps.values.iter().position(|f| !f.is_finite()) {
            Some(a) => Err(Reason::Gap { constraint: self.constraint(a) }),
            None => Ok(()),
        }
    }

    /// ∇f and ∂f/∂t there.
    pub fn kinematics(&mut self, t: f64, q: &[f64]) {
        self.gaps.kinematics(t, q, &self.ahead);
    }

    /// Clears the active constraints.
    pub fn clear(&mut self) {
        self.active.clear();
        self.rows.clear();
        self.offsets.clear();
        self.dampers.clear();
        self.coefficients.clear();
    }

    /// Makes constraint `a` active as ∇f·v⁺ + offset ≥ 0, with the gradient last evaluated.
    pub fn activate(&mut self, a: usize, offset: f64) {
        self.active.push(a);
        self.rows.push_row_of(&self.gaps.gradients, a);
        self.offsets.push(offset);
    }

    /// Whether any constraint is active.
    pub fn is_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// Solves M(v − v⁻) = given + h g(t, q, v) + Σ P ∇f for v, with `given` an impulse; M is the one of the last
    /// [`Momentum::evaluate`]. `jump` and `impulses` follow.
    pub fn solve(
        &mut self,
        h: f64,
        place: &Place,
        given: &[f64],
        v_before: &[f64],
        v: &mut [f64],
    ) -> Result<(), Reason> {
        let d = v.len();
        let coupled = place.shift != 0.0 && self.stiffness.is_some();
        let damped = !self.coefficients.is_empty();
        let explicit = (self.dynamics.code.velocity_free && !coupled && !damped) || h == 0.0;
        let exact = self.dynamics.code.damping_linear && !coupled;
        // What the forces do in a step: a body at rest has no speed of its own to measure by.
        copy(&mut self.p, &self.dynamics.g);
        self.mass.solve(&mut self.p);
        let size = max_abs(v_before) + h * max_abs(&self.p);
        let mut last = f64::INFINITY;
        for iteration in 1..=MAX_ITERATIONS {
            copy(&mut self.at, place.q);
            add(&mut self.at, place.shift, v);
            self.dynamics.evaluate_force(place.t, &self.at, v);
            if let (true, Some(stiffness)) = (coupled, &mut self.stiffness) {
                stiffness.evaluate(place.t, &self.at, v);
            }
            for i in 0..d {
                self.p[i] = v[i] - v_before[i];
            }
            self.mass.apply(&self.p, &mut self.residual);
            add(&mut self.residual, -1.0, given);
            add(&mut self.residual, -h, &self.dynamics.g);
            for (k, (c, wall)) in self.coefficients.iter().enumerate() {
                let rate = wall + self.dampers.dot(k, v);
                self.dampers.add_to(k, h * c * rate, &mut self.residual);
            }
            if !explicit {
                self.set_implicit(h, if coupled { place.shift } else { 0.0 })?;
            }
            let metric = if explicit { &self.mass } else { &self.implicit };
            let coupling = match (&self.stiffness, coupled) {
                (Some(stiffness), true) => Some((place.shift, &stiffness.matrix[..])),
                _ => None,
            };
            copy(&mut self.p, &self.residual);
            let bonded = self.bonded.as_ref().is_some_and(|bonded| bonded.acts());
            let whole = !explicit && self.active.is_empty() && !bonded && !self.lu.entries.is_empty();
            // Without contact, Newton's method with the whole of the derivatives; with it, their symmetric part.
            if !(whole && newton(&mut self.lu, &self.mass, h, &self.dynamics.jacobian, coupling, &mut self.p)) {
                copy(&mut self.p, &self.residual);
                metric.solve(&mut self.p);
            }
            self.p.iter_mut().for_each(|p| *p = -*p);
            if let (true, Some(all)) = (bonded, &mut self.bonded) {
                all.react(metric, v, &mut self.p)?;
            }
            for k in 0..self.active.len() {
                self.slack[k] = self.offsets[k] + self.rows.dot(k, v);
            }
            if self.is_active() {
                let projected = self.kernel.project(metric, &self.rows, &self.slack, &mut self.p);
                projected.map_err(|e| match e {
                    ProjectionError::Empty { constraint } => {
                        Reason::Incompatible { constraint: self.constraint(self.active[constraint]) }
                    }
                    ProjectionError::Stalled { constraint } => {
                        Reason::NearestPoint { constraint: self.constraint(self.active[constraint]), iterations: 0 }
                    }
                })?;
            }
            add(v, 1.0, &self.p);
            if let Some(i) = v.iter().position(|v| !v.is_finite()) {
                return Err(Reason::NotFinite { coordinate: self.coordinate(i) });
            }
            let moved = max_abs(&self.p);
            // Done when the move is rounding, or no longer shrinks and is close to it (a body at rest has no speed to
            // measure by).
            let stuck = iteration > 2 && moved > 0.5 * last && moved <= 1e-8 * (size + max_abs(v)) + f64::MIN_POSITIVE;
            last = moved;
            if explicit || exact || stuck || moved <= 1e-13 * (size + max_abs(v)) {
                self.collect();
                return Ok(());
            }
            if iteration == MAX_ITERATIONS {
                return Err(Reason::Force { iterations: iteration });
            }
        }
        Ok(())
    }

    /// M − h sym(∂g/∂v + shift ∂g/∂q).
    fn set_implicit(&mut self, h: f64, shift: f64) -> Result<(), Reason> {
        let d = self.p.len();
        self.dynamics.jacobian.iter_mut().filter(|j| !j.is_finite()).for_each(|j| *j = 0.0);
        let jacobian = &self.dynamics.jacobian;
        if self.implicit.is_diagonal() {
            for i in 0..d {
                self.entries[i] = self.mass.entries()[i] - h * jacobian[i * d + i];
            }
        } else {
            self.mass.write_full(&mut self.entries);
            if !jacobian.is_empty() {
                self.dynamics.take_symmetric(jacobian, h, &mut self.entries);
            }
            if let (true, Some(stiffness)) = (shift != 0.0, &self.stiffness) {
                self.dynamics.take_symmetric(&stiffness.matrix, h * shift, &mut self.entries);
            }
            for (k, (c, _)) in self.coefficients.iter().enumerate() {
                let (columns, values) = self.dampers.row(k);
                for (&i, a) in columns.iter().zip(values) {
                    for (&j, b) in columns.iter().zip(values) {
                        self.entries[i * d + j] += h * c * a * b;
                    }
                }
            }
        }
        let set = self.implicit.set(&self.entries);
        set.map_err(|e| Reason::Mass { coordinate: self.coordinate(e.pivot) })
    }

    /// Impulses and the jump of the velocity they make.
    fn collect(&mut self) {
        self.impulses.fill(0.0);
        self.jump.fill(0.0);
        if let Some(bonded) = &mut self.bonded {
            return bonded.collect(&self.mass, &mut self.impulses, &mut self.jump);
        }
        for (k, &a) in self.active.iter().enumerate() {
            let impulse = self.kernel.multipliers()[k];
            self.impulses[a] = impulse;
            self.rows.add_to(k, impulse, &mut self.jump);
        }
        if self.is_active() {
            self.mass.solve(&mut self.jump);
        }
    }
}

/// p ← (M − h (∂g/∂v + shift ∂g/∂q))⁻¹ p; false if that is singular.
fn newton(
    lu: &mut Lu,
    mass: &Metric,
    h: f64,
    jacobian: &[f64],
    coupling: Option<(f64, &[f64])>,
    p: &mut [f64],
) -> bool {
    mass.write_full(&mut lu.entries);
    for (entry, j) in lu.entries.iter_mut().zip(jacobian) {
        *entry -= h * j;
    }
    if let Some((shift, stiffness)) = coupling {
        for (entry, k) in lu.entries.iter_mut().zip(stiffness) {
            *entry -= h * shift * k;
        }
    }
    lu.solve(p)
}
