//! Gap space of a system: gaps and their rates at observed states, and what impulses do to observed velocities.

use crate::linalg::{Metric, dot};
use crate::motion::Impact;
use crate::problem::{Bonds, Dynamics, Energy, Gaps, Instance, Power, Restitutions};
use crate::stepping::{Blocks, Label};

/// A slip below this part of the terms it is made of is none.
const STILL: f64 = 1e-9;

/// Evaluates gaps, responses to impulses and, where the observed state determines them, energies.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    pub gaps: Gaps,
    pub restitution: Vec<f64>,
    /// Restitutions that depend on the approach speed.
    restitutions: Option<Restitutions>,
    /// Joints and friction, where the model has them.
    pub bonds: Option<Box<Bonds>>,
    /// Stops that are springs: they push with forces, not impulses.
    pub compliant: Vec<bool>,
    /// Whether any gap depends on time.
    pub is_moving: bool,
    responses: Responses,
    /// Energies and the power of the forces; None where the observed state does not determine them.
    pub energy: Option<(Energy, Power)>,
}

#[derive(Clone, Debug)]
enum Responses {
    /// M⁻¹∇f.
    Metric { dynamics: Box<Dynamics>, metric: Metric, degrees: usize },
    /// A constant row per constraint; of a round hole one for each of the two coordinates it surrounds, the second behind all others.
    Table { rows: Vec<f64>, d: usize, holes: Vec<(usize, [usize; 2])> },
}

impl Gauge {
    /// Of a model of expressions.
    pub fn of(at: &Instance) -> Self {
        let dynamics = at.dynamics();
        Gauge {
            gaps: at.gaps(),
            restitution: at.restitution().to_vec(),
            restitutions: at.restitutions(),
            bonds: Bonds::of(at).map(Box::new),
            compliant: vec![false; at.constraints()],
            is_moving: at.model().has_moving_constraints() || at.model().has_moving_joints(),
            responses: Responses::Metric {
                metric: dynamics.metric(),
                dynamics: Box::new(dynamics),
                degrees: at.model().degrees(),
            },
            energy: Some((at.energy(), at.power())),
        }
    }

    /// Of a system whose scheme gives its responses: one row of `d` observed velocities per constraint.
    pub fn with_responses(
        gaps: Gaps,
        restitution: Vec<f64>,
        compliant: Vec<bool>,
        is_moving: bool,
        rows: Vec<f64>,
        holes: Vec<(usize, [usize; 2])>,
        d: usize,
    ) -> Self {
        let responses = Responses::Table { rows, d, holes };
        Gauge { gaps, restitution, restitutions: None, bonds: None, compliant, is_moving, responses, energy: None }
    }

    /// Prepares responses at a state; false if M is not positive definite there.
    pub fn prepare(&mut self, t: f64, q: &[f64], v: &[f64]) -> bool {
        match &mut self.responses {
            Responses::Table { .. } => true,
            Responses::Metric { dynamics, metric, .. } => {
                dynamics.evaluate(t, q, v);
                if let Some(bonds) = &mut self.bonds {
                    bonds.evaluate(t, q, v);
                }
                metric.set(&dynamics.mass).is_ok()
            }
        }
    }

    /// The restitution of constraint `a` at a gap velocity before an impact.
    pub fn restitution_at(&mut self, a: usize, before: f64) -> f64 {
        match &mut self.restitutions {
            Some(all) => all.at(a, (-before).max(0.0)),
            None => self.restitution[a],
        }
    }

    /// The coefficient of friction k, or its limit, at a velocity, with what was last evaluated there.
    pub fn coefficient(bonds: &Bonds, k: usize, v: &[f64]) -> f64 {
        let still = bonds.speed(k, v) <= STILL * bonds.speed_terms(k, v);
        if still { bonds.frictions.sticking[k] } else { bonds.frictions.kinetic[k] }
    }

    /// The kinetic metric, at the state prepared.
    pub fn metric(&self) -> Option<&Metric> {
        match &self.responses {
            Responses::Table { .. } => None,
            Responses::Metric { metric, .. } => Some(metric),
        }
    }

    /// Puts constraints that act, with their friction, into blocks, with responses in which joints take part, at the state prepared
    /// and with the kinematics last evaluated.
    pub fn gather(&mut self, acting: &[usize], v_before: &[f64], blocks: &mut Blocks) {
        blocks.clear();
        for &a in acting {
            let before = self.gaps.rate(a, v_before);
            let e = self.restitution_at(a, before);
            let bonds = self.bonds.as_deref();
            let friction = bonds.and_then(|bonds| {
                let k = bonds.of_constraint(a)?;
                Some((bonds, k, Gauge::coefficient(bonds, k, v_before).max(0.0)))
            });
            blocks.push_contact(&self.gaps, a, e, friction);
        }
        blocks.couple_with(|label, out| match label {
            Label::Normal(a) => self.response(a, out),
            Label::Other(row) => self.response_of_other(row, out),
        });
    }

    /// The acceleration that the forces alone give, at the state prepared; false where the observed state does not determine it.
    pub fn free_acceleration(&self, out: &mut [f64]) -> bool {
        match &self.responses {
            Responses::Table { .. } => false,
            Responses::Metric { dynamics, metric, .. } => {
                out.copy_from_slice(&dynamics.g);
                metric.solve(out);
                true
            }
        }
    }

    /// The rates of first-order states, at the state prepared; none where there are no states.
    pub fn rates(&self) -> &[f64] {
        match &self.responses {
            Responses::Table { .. } => &[],
            Responses::Metric { dynamics, degrees, .. } => &dynamics.g[*degrees..],
        }
    }

    /// The length of an observed velocity in the kinetic metric, at the state prepared: ½ of its square is an energy. Where
    /// the observed state does not determine it, the largest entry.
    pub fn length(&self, x: &[f64]) -> f64 {
        match &self.responses {
            Responses::Table { .. } => crate::linalg::max_abs(x),
            Responses::Metric { metric, degrees, .. } => {
                if *degrees == x.len() {
                    return metric.norm_squared(x).abs().sqrt();
                }
                // (States are no velocities.)
                let mut alone = x.to_vec();
                alone[*degrees..].fill(0.0);
                metric.norm_squared(&alone).abs().sqrt()
            }
        }
    }

    /// What a unit impulse of constraint `a` adds to the observed velocities, joints taking part, at the state prepared and with
    /// the gradients last evaluated.
    pub fn response(&mut self, a: usize, out: &mut [f64]) {
        match &self.responses {
            Responses::Table { rows, d, holes } => match holes.iter().position(|(stop, _)| *stop == a) {
                None => out.copy_from_slice(&rows[a * d..(a + 1) * d]),
                Some(k) => {
                    out.fill(0.0);
                    let second = self.gaps.values.len() + k;
                    for (p, slope) in self.gaps.gradients.entries(a) {
                        let row = if p == holes[k].1[0] { a } else { second };
                        crate::linalg::add(out, slope, &rows[row * d..(row + 1) * d]);
                    }
                }
            },
            Responses::Metric { metric, .. } => {
                out.fill(0.0);
                self.gaps.gradients.add_to(a, 1.0, out);
                metric.solve(out);
                if let Some(bonds) = &mut self.bonds {
                    bonds.constrain(metric, out, None);
                }
            }
        }
    }

    /// The same for a slip; zero for a joint, which only takes part.
    pub fn response_of_other(&mut self, row: usize, out: &mut [f64]) {
        out.fill(0.0);
        if let (Responses::Metric { metric, .. }, Some(bonds)) = (&self.responses, &mut self.bonds) {
            bonds.add_to(row, 1.0, out);
            metric.solve(out);
            bonds.constrain(metric, out, None);
        }
    }

    /// What joints do where constraints and slips act: their impulses.
    pub fn impulses_of_joints(&mut self, acting: impl Iterator<Item = (Label, f64)>, d: usize) -> Vec<f64> {
        let (Responses::Metric { metric, .. }, Some(bonds)) = (&self.responses, &mut self.bonds) else {
            return Vec::new();
        };
        let mut x = vec![0.0; d];
        for (label, p) in acting {
            match label {
                Label::Normal(a) => self.gaps.gradients.add_to(a, p, &mut x),
                Label::Other(row) => bonds.add_to(row, p, &mut x),
            }
        }
        metric.solve(&mut x);
        let mut impulses = vec![0.0; bonds.joint_count()];
        bonds.constrain(metric, &mut x, Some(&mut impulses));
        impulses
    }

    /// The kinetic energy of the masses that the acting constraints of an impact feel, before and after it: ½ wᵀD⁻¹w with
    /// w = ∇f·v, the velocities of the bodies along the constraints, whatever walls do. Where the observed state determines
    /// all energies, none of this is needed.
    pub fn kinetic(&mut self, impact: &Impact) -> Option<(f64, f64)> {
        let (acting, n) = (impact.constraints, impact.constraints.len());
        self.gaps.linearise(impact.t, impact.q, impact.v_before);
        if self.energy.is_some() || !self.prepare(impact.t, impact.q, impact.v_before) {
            return None;
        }
        let mut response = vec![0.0; impact.q.len()];
        let mut delassus = vec![0.0; n * n];
        for (k, &a) in acting.iter().enumerate() {
            self.response(a, &mut response);
            for (j, &b) in acting.iter().enumerate() {
                delassus[j * n + k] = self.gaps.gradients.dot(b, &response);
            }
        }
        let mut metric = Metric::full(n);
        metric.set(&delassus).ok()?;
        let of = |v: &[f64]| {
            let speeds: Vec<f64> = acting.iter().map(|&a| self.gaps.gradients.dot(a, v)).collect();
            let mut momenta = speeds.clone();
            metric.solve(&mut momenta);
            0.5 * dot(&speeds, &momenta)
        };
        Some((of(impact.v_before), of(impact.v_after)))
    }
}
