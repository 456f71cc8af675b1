//! Contact statics: K u = p + Σ λ w with 0 ≤ w·u + o ⊥ λ ≥ 0, condensed to the stops.

use super::resting::Seats;
use super::{Linear, StopLaw, Structure};
use crate::linalg::{Factor, Metric, Rows, Skew, Symmetric, max_abs};
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

/// A system at rest.
pub(super) struct Rest {
    pub u: Vec<f64>,
    pub reactions: Vec<f64>,
    pub gaps: Vec<f64>,
}

/// Rounds of the proximal iteration of a system that only its stops hold.
const ROUNDS: usize = 400;

/// K u = Σ b s + Σ λ w with 0 ≤ w·u + o ⊥ λ ≥ 0.
///
/// Where K lets rigid bodies move, the stops may hold them: then by the proximal iteration (K + εM) u⁺ = … + εM u, each of them
/// the same problem with a definite matrix, whose limit is an equilibrium (Rockafellar 1976, SIAM J. Control Optim. 14, 877). `scale`: ω² of
/// the first elastic mode.
pub(super) fn rest(
    linear: &Linear,
    laws: &[StopLaw],
    loads: &[f64],
    offsets: &[f64],
    scale: f64,
) -> Result<Rest, SetupError> {
    let n = linear.dimension();
    let mut force = vec![0.0; n];
    loads.iter().enumerate().for_each(|(l, s)| linear.loads.add_to(l, *s, &mut force));
    if let Some(factor) = held(&linear.stiffness) {
        let condensed = Condensed::new(linear, laws, &factor);
        return match &linear.circulatory {
            None => condensed.rest(force, offsets),
            Some(k) => circulated(&condensed, k, &force, offsets),
        };
    }
    if linear.circulatory.is_some() {
        return Err(SetupError::new("contact statics with an unsymmetric stiffness need a structure that is held")
            .with_kind(Kind::Unsupported)
            .help("hold it, or look for where it comes to rest by running it with damping"));
    }
    let free = || {
        SetupError::new("the structure is free to move as a rigid body, and neither loads nor stops hold it: it has no equilibrium, or many")
            .with_kind(Kind::Unsupported)
            .help("hold it, or look for where it comes to rest by running it with damping")
    };
    let shift = if scale > 0.0 { 0.01 * scale } else { 1.0 };
    let shifted = Symmetric::combine(&[(1.0, &linear.stiffness), (shift, &linear.mass)]);
    let factor = shifted.factor().map_err(|_| free())?;
    let condensed = Condensed::new(linear, laws, &factor);
    let mut weighted = vec![0.0; n];
    let found = repeated(linear.q0.clone(), |u| {
        linear.mass.multiply(u, &mut weighted);
        let mut pulled = force.clone();
        crate::linalg::add(&mut pulled, shift, &weighted);
        condensed.rest(pulled, offsets)
    })?;
    found.ok_or_else(free)
}

/// The place of rest that the one before it gives again; None if they do not come to one.
fn repeated(
    mut u: Vec<f64>,
    mut next: impl FnMut(&[f64]) -> Result<Rest, SetupError>,
) -> Result<Option<Rest>, SetupError> {
    for _ in 0..ROUNDS {
        let rest = next(&u)?;
        let size = max_abs(&rest.u).max(max_abs(&u));
        let change = u.iter().zip(&rest.u).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        if change <= 1e-14 * size {
            return Ok(Some(rest));
        }
        if !size.is_finite() {
            break;
        }
        u = rest.u;
    }
    Ok(None)
}

/// With a stiffness that is not symmetric: the antisymmetric part acts with the displacements of the round before.
fn circulated(condensed: &Condensed, k: &Skew, force: &[f64], offsets: &[f64]) -> Result<Rest, SetupError> {
    let found = repeated(vec![0.0; force.len()], |u| {
        let mut pulled = force.to_vec();
        k.add_product(-1.0, u, &mut pulled);
        condensed.rest(pulled, offsets)
    })?;
    found.ok_or_else(|| {
        SetupError::new(
            "no equilibrium was found: the antisymmetric part of the stiffness is stronger than the elastic one",
        )
        .with_kind(Kind::Unsupported)
        .help("look for where it comes to rest by running it with damping")
    })
}

/// The factor of a stiffness that holds everything; a pivot that is only rounding is none.
fn held(stiffness: &Symmetric) -> Option<Factor> {
    let factor = stiffness.factor().ok()?;
    let sound = |(i, inverse): (usize, &f64)| 1.0 / inverse > 1e-12 * stiffness.at(i, i);
    factor.inverse_pivots().iter().enumerate().all(sound).then_some(factor)
}

/// The stops of a system, seen through a factor.
struct Condensed<'a> {
    linear: &'a Linear,
    laws: &'a [StopLaw],
    factor: &'a Factor,
    columns: Vec<Vec<f64>>,
    gram: Vec<f64>,
}

impl<'a> Condensed<'a> {
    fn new(linear: &'a Linear, laws: &'a [StopLaw], factor: &'a Factor) -> Self {
        let (n, m) = (linear.dimension(), linear.stops.len());
        let columns: Vec<Vec<f64>> = (0..m).map(|a| factor.solved(linear.stops.vector(a, n))).collect();
        let gram = (0..m).flat_map(|a| columns.iter().map(move |c| linear.stops.dot(a, c))).collect();
        Condensed { linear, laws, factor, columns, gram }
    }

    /// The equilibrium under a force.
    fn rest(&self, mut u: Vec<f64>, offsets: &[f64]) -> Result<Rest, SetupError> {
        let m = offsets.len();
        self.factor.solve(&mut u);
        if Seats::are_needed(self.laws) {
            let (reactions, gaps) = Seats::new(self.linear, self.laws, self.factor).settle(&mut u, offsets)?;
            return Ok(Rest { u, reactions, gaps });
        }
        let mut gaps: Vec<f64> = (0..m).map(|a| offsets[a] + self.linear.stops.dot(a, &u)).collect();
        let mut reactions = vec![0.0; m];
        if gaps.iter().any(|&g| g < 0.0) {
            let units = (0..m).map(|a| [(a, 1.0)]).collect::<Rows>();
            let mut kernel = Polyhedron::new(m, m);
            kernel
                .complete(&self.gram, &units, &mut gaps)
                .map_err(|_| SetupError::new("the stops contradict each other: no displacement keeps all gaps open"))?;
            reactions.copy_from_slice(&kernel.multipliers()[..m]);
            for (column, &lambda) in self.columns.iter().zip(&reactions) {
                crate::linalg::add(&mut u, lambda, column);
            }
        }
        Ok(Rest { u, reactions, gaps })
    }
}

impl Structure {
    /// The equilibrium under the loads of an instant: contact statics. It is unique where K is positive definite; where a body is
    /// free to move, its stops may hold it, or there is an error.
    pub fn static_contact(&self, t: f64) -> Result<StaticContact, SetupError> {
        let mut signals = self.signals();
        signals.evaluate(t);
        let linear = &self.linear;
        let scale = self.first_period().map_or(0.0, |period| (std::f64::consts::TAU / period).powi(2));
        let Rest { u, reactions, gaps } = rest(linear, self.laws(), &signals.loads, &signals.offsets, scale)?;
        let n = linear.dimension();
        let mut residue = vec![0.0; n];
        let massless = linear.massless();
        linear.stiffness.multiply(&u, &mut residue);
        linear.add_skew(0.0, &u, 1.0, &u, &mut residue);
        let mut size = max_abs(&residue);
        signals.loads.iter().enumerate().for_each(|(l, s)| linear.loads.add_to(l, -s, &mut residue));
        for (a, &lambda) in reactions.iter().enumerate() {
            size = size.max(lambda);
            if let Some((_, hole)) = linear.holes.iter().find(|(stop, _)| *stop == a) {
                let x = hole.at(&linear.points, &u);
                let far = super::hole::length(x).max(f64::MIN_POSITIVE);
                [0, 1].iter().for_each(|&i| linear.points.add_to(hole.points[i], lambda * x[i] / far, &mut residue));
            } else {
                linear.stops.add_to(a, -lambda, &mut residue);
            }
            // The end of a spring that is not linear, or in a hole, is where its energy says.
            if self.laws[a].is_hertz || self.laws[a].hole.is_some() {
                let ends = linear.stops.entries(a).filter(|(i, _)| massless.contains(i));
                ends.for_each(|(i, _)| residue[i] = 0.0);
            }
        }
        let residual = max_abs(&residue) / size.max(1e-300);
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
