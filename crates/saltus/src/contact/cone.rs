//! Active set, tangent cone and normal cone at a point.

use crate::linalg::{Metric, Rows};
use crate::problem::Gaps;
use crate::project::{Polyhedron, ProjectionError};

/// The active set J(t, q) = { α : fα ≤ 0 }, up to rounding in the gaps; of `v` only the first-order states behind the velocities matter.
///
/// ```
/// use saltus::{Problem, contact::active_set, model::Builder};
/// let model = Builder::new("corner").coordinate("x", "0", "0").coordinate("y", "1", "0").kinetic("(x'^2 + y'^2)/2")
///     .restitution("0").constraint("wall", "x").constraint("floor", "y").build().unwrap();
/// let problem = Problem::new(model).unwrap();
/// assert_eq!(active_set(&mut problem.gaps(), 0.0, &[0.0, 1.0], &[0.0; 2]), [0]);
/// assert_eq!(active_set(&mut problem.gaps(), 0.0, &[0.0, 0.0], &[0.0; 2]), [0, 1]);
/// ```
pub fn active_set(gaps: &mut Gaps, t: f64, q: &[f64], v: &[f64]) -> Vec<usize> {
    gaps.linearise(t, q, v);
    (0..gaps.values.len()).filter(|&a| gaps.values[a] <= gaps.rounding(a, q)).collect()
}

/// The tangent cone T = { v : ∂t f + ∇f·v ≥ 0 for the active constraints } in the kinetic metric.
///
/// With walls at rest the normal cone N is its polar, and every velocity is the M-orthogonal sum of its projections on the
/// two (Paoli 2001, lemma 4.8).
#[derive(Clone, Debug)]
pub struct TangentCone<'a> {
    /// The kinetic metric.
    pub metric: &'a Metric,
    /// ∇f of the active constraints.
    pub gradients: &'a Rows,
    /// ∂t f of the active constraints.
    pub walls: &'a [f64],
}

impl TangentCone<'_> {
    /// Whether a velocity is admissible, up to `tolerance` in the gap velocities.
    pub fn contains(&self, v: &[f64], tolerance: f64) -> bool {
        (0..self.gradients.len()).all(|a| self.walls[a] + self.gradients.dot(a, v) >= -tolerance)
    }

    /// The projections of a velocity on the tangent cone, and what is left, which for walls at rest is the one on the
    /// normal cone.
    ///
    /// ```
    /// use saltus::{contact::TangentCone, linalg::{Metric, Rows}};
    /// let (metric, floor) = (Metric::diagonal(2), Rows::dense(2, &[0.0, 1.0]));
    /// let cone = TangentCone { metric: &metric, gradients: &floor, walls: &[0.0] };
    /// assert_eq!(cone.split(&[3.0, -2.0]).unwrap(), (vec![3.0, 0.0], vec![0.0, -2.0]));
    /// ```
    pub fn split(&self, v: &[f64]) -> Result<(Vec<f64>, Vec<f64>), ProjectionError> {
        let mut tangent = v.to_vec();
        Polyhedron::new(v.len(), self.gradients.len()).project(
            self.metric,
            self.gradients,
            self.walls,
            &mut tangent,
        )?;
        let normal = v.iter().zip(&tangent).map(|(v, t)| v - t).collect();
        Ok((tangent, normal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Tangent part in T, normal part in its polar, the two orthogonal in M: Moreau's decomposition.
        #[test]
        fn two_polar_cones(d in 1usize..5, m in 1usize..7, seed in prop::collection::vec(-1.0f64..1.0, 4 + 24 + 4)) {
            let mut metric = Metric::diagonal(d);
            metric.set(&seed[..d].iter().map(|x| x.abs() + 0.2).collect::<Vec<_>>()).expect("positive");
            let gradients = Rows::dense(d, &seed[4..4 + m * d]);
            let walls = vec![0.0; m];
            let cone = TangentCone { metric: &metric, gradients: &gradients, walls: &walls };
            let v = &seed[28..28 + d];
            let (tangent, normal) = cone.split(v).expect("a cone is never empty");
            prop_assert!(cone.contains(&tangent, 1e-9));
            let mut momentum = vec![0.0; d];
            metric.apply(&normal, &mut momentum);
            prop_assert!(crate::linalg::dot(&momentum, &tangent).abs() < 1e-9);
            // In the polar: no tangent direction has a positive product with the normal part.
            let (other, _) = cone.split(&seed[..d]).expect("a cone");
            prop_assert!(crate::linalg::dot(&momentum, &other) < 1e-9);
        }
    }
}
