//! Contact statics: K u = p + Σ λ w with 0 ≤ w·u + o ⊥ λ ≥ 0, condensed to the stops.

use super::{Structure, StructureInstance};
use crate::linalg::{Metric, Rows};
use crate::problem::Start;
use crate::project::Polyhedron;
use crate::{Kind, SetupError};

/// A structure in equilibrium with the loads and offsets of one instant.
#[derive(Clone, Debug)]
pub struct StaticContact {
    /// All degrees of freedom.
    pub u: Vec<f64>,
    /// The points.
    pub points: Vec<f64>,
    /// The reaction of each stop.
    pub reactions: Vec<f64>,
    /// The gap of each stop, springs included.
    pub gaps: Vec<f64>,
    /// |K u − p − Σ λ w| relative to the forces it is made of.
    pub residual: f64,
}

impl Structure {
    /// The equilibrium under the loads of an instant. It is unique where K is positive definite; with free rigid-body modes
    /// there is an error.
    pub fn static_contact(&self, t: f64) -> Result<StaticContact, SetupError> {
        let instance = StructureInstance::new(self, &self.start(), None, None)?;
        let mut signals = instance.signals();
        signals.evaluate(t);
        let linear = &self.linear;
        let (n, m) = (linear.dimension(), linear.stops.len());
        let factor = linear.stiffness.factor().map_err(|_| {
            SetupError::new("the structure is free to move as a rigid body: its equilibria are not unique")
                .with_kind(Kind::Unsupported)
                .help("hold it, or look for where it comes to rest by running it with damping")
        })?;
        let mut u = vec![0.0; n];
        signals.loads.iter().enumerate().for_each(|(l, s)| linear.loads.add_to(l, *s, &mut u));
        let force = u.clone();
        factor.solve(&mut u);
        let columns: Vec<Vec<f64>> = (0..m).map(|a| factor.solved(linear.stops.vector(a, n))).collect();
        let gram: Vec<f64> = (0..m).flat_map(|a| columns.iter().map(move |c| linear.stops.dot(a, c))).collect();
        let mut gaps: Vec<f64> = (0..m).map(|a| signals.offsets[a] + linear.stops.dot(a, &u)).collect();
        let mut reactions = vec![0.0; m];
        if gaps.iter().any(|&g| g < 0.0) {
            let units = (0..m).map(|a| [(a, 1.0)]).collect::<Rows>();
            let mut kernel = Polyhedron::new(m, m);
            kernel
                .complete(&gram, &units, &mut gaps)
                .map_err(|_| SetupError::new("the stops contradict each other: no displacement keeps all gaps open"))?;
            reactions.copy_from_slice(&kernel.multipliers()[..m]);
            for (column, &lambda) in columns.iter().zip(&reactions) {
                crate::linalg::add(&mut u, lambda, column);
            }
        }
        let mut rest = vec![0.0; n];
        linear.stiffness.multiply(&u, &mut rest);
        let mut size: f64 = rest.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        crate::linalg::add(&mut rest, -1.0, &force);
        for (a, &lambda) in reactions.iter().enumerate() {
            linear.stops.add_to(a, -lambda, &mut rest);
            size = size.max(lambda);
        }
        let residual = crate::linalg::max_abs(&rest) / size.max(1e-300);
        let points = (0..linear.points.len()).map(|p| linear.points.dot(p, &u)).collect();
        Ok(StaticContact { u, points, reactions, gaps, residual })
    }

    /// A start in which named points have given values, `tip` a displacement and `tip'` a velocity: the shape of least elastic
    /// energy through them.
    pub fn shaped_start(&self, values: &[(String, f64)]) -> Result<Start, SetupError> {
        let mut start = self.start();
        for is_velocity in [false, true] {
            let mut wanted: Vec<(usize, f64)> = Vec::new();
            for (name, value) in values.iter().filter(|(n, _)| n.ends_with('\'') == is_velocity) {
                let point = name.trim_end_matches('\'');
                let Some(p) = self.model.coordinates.iter().position(|c| c == point) else {
                    let known = self.model.coordinates.iter().map(String::as_str).chain(["displacement", "velocity"]);
                    let message = format!("there is no point `{point}` to start");
                    return Err(SetupError::unknown(message, point, known, "the points are"));
                };
                wanted.push((p, *value));
            }
            if wanted.is_empty() {
                continue;
            }
            let shape = self.shape_through(&wanted)?;
            if is_velocity { start.v = shape } else { start.q = shape }
        }
        Ok(start)
    }

    /// The displacement of least elastic energy in which points have given values.
    fn shape_through(&self, wanted: &[(usize, f64)]) -> Result<Vec<f64>, SetupError> {
        let linear = &self.linear;
        let n = linear.dimension();
        let factor = linear.stiffness.factor().map_err(|_| {
            SetupError::new("the structure is free to move as a rigid body: its shape is not determined by its points")
                .with_kind(Kind::Unsupported)
                .help("start it with displacement and velocity, which are those of everything")
        })?;
        let columns: Vec<Vec<f64>> = wanted.iter().map(|&(p, _)| factor.solved(linear.points.vector(p, n))).collect();
        let k = wanted.len();
        let gram: Vec<f64> =
            wanted.iter().flat_map(|&(p, _)| columns.iter().map(move |c| linear.points.dot(p, c))).collect();
        let mut metric = Metric::full(k);
        metric.set(&gram).map_err(|_| SetupError::new("these points cannot be moved independently of each other"))?;
        let mut forces: Vec<f64> = wanted.iter().map(|w| w.1).collect();
        metric.solve(&mut forces);
        let mut u = vec![0.0; n];
        columns.iter().zip(&forces).for_each(|(column, f)| crate::linalg::add(&mut u, *f, column));
        Ok(u)
    }
}
