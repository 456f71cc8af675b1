//! The impact law v⁺ = −e v⁻ + (1+e) Proj_M(T, v⁻), with one restitution per constraint.

use crate::linalg::{Metric, Rows};
use crate::project::{Polyhedron, ProjectionError};

/// The law of impact with its buffers.
///
/// For each active constraint, with U = ∂t f + ∇f·v its gap velocity and P ≥ 0 its impulse,
///
/// ```text
/// 0 ≤ U⁺ + e U⁻  ⊥  P ≥ 0        M (v⁺ − v⁻) = Σ P ∇f
/// ```
///
/// which is the projection law of Paoli (2001, (5.3) and lemma 5.1) when all e are equal: it says that v⁺ is the
/// point nearest to v⁻, in the kinetic metric, of the polyhedron { v : ∇f·v + ∂t f + e U⁻ ≥ 0 }.
///
/// ```
/// use saltus::{contact::ImpactLaw, linalg::{Metric, Rows}};
/// let mut law = ImpactLaw::new(1, 1);
/// let mut v = [-2.0];
/// law.apply(&Metric::diagonal(1), &Rows::dense(1, &[1.0]), &[0.0], &[0.5], &mut v).unwrap();
/// assert_eq!(v, [1.0]);
/// assert_eq!(law.impulses(), [3.0]);
/// ```
#[derive(Clone, Debug)]
pub struct ImpactLaw {
    kernel: Polyhedron,
    offsets: Vec<f64>,
}

impl ImpactLaw {
    /// Buffers for `d` degrees of freedom and up to `m` active constraints.
    pub fn new(d: usize, m: usize) -> Self {
        ImpactLaw { kernel: Polyhedron::new(d, m), offsets: vec![0.0; m] }
    }

    /// Overwrites the velocity before the impact with the one after it.
    ///
    /// `gradients` are ∇f of the active constraints, `walls` their ∂t f, `restitution` their e.
    pub fn apply(
        &mut self,
        metric: &Metric,
        gradients: &Rows,
        walls: &[f64],
        restitution: &[f64],
        v: &mut [f64],
    ) -> Result<(), ProjectionError> {
        for a in 0..gradients.len() {
            let u = walls[a] + gradients.dot(a, v);
            self.offsets[a] = walls[a] + restitution[a] * u;
        }
        self.kernel.project(metric, gradients, &self.offsets, v)
    }

    /// Impulses of the last impact, one per active constraint (N·s, or N·m·s for an angle).
    pub fn impulses(&self) -> &[f64] {
        self.kernel.multipliers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Polyhedron;
    use proptest::prelude::*;

    proptest! {
        /// With one e: v⁺ = −e v⁻ + (1+e) Proj_M(T, v⁻); energy does not grow; T and N parts are M-orthogonal
        /// ([V] lemma 4.8) and the tangential momentum is kept.
        #[test]
        fn one_restitution_is_the_projection_law(
            d in 1usize..5, m in 1usize..6, e in 0.0f64..=1.0,
            seed in prop::collection::vec(-1.0f64..1.0, 16 + 20 + 4),
        ) {
            let b = nalgebra::DMatrix::from_fn(d, d, |i, j| seed[i * 4 + j]);
            let a = &b * b.transpose() + nalgebra::DMatrix::identity(d, d) * 0.3;
            let mut metric = Metric::full(d);
            metric.set(a.as_slice()).expect("positive definite");
            let rows = Rows::dense(d, &seed[16..16 + m * d]);
            let v_before = &seed[36..36 + d];
            let mut law = ImpactLaw::new(d, m);
            let mut v = v_before.to_vec();
            law.apply(&metric, &rows, &vec![0.0; m], &vec![e; m], &mut v).expect("a cone is never empty");
            let mut tangent = v_before.to_vec();
            Polyhedron::new(d, m).project(&metric, &rows, &vec![0.0; m], &mut tangent).expect("cone");
            let normal: Vec<f64> = v_before.iter().zip(&tangent).map(|(v, t)| v - t).collect();
            let mut momentum = vec![0.0; d];
            metric.apply(&normal, &mut momentum);
            prop_assert!(crate::linalg::dot(&momentum, &tangent).abs() < 1e-9);
            for i in 0..d {
                let expected = -e * v_before[i] + (1.0 + e) * tangent[i];
                prop_assert!((v[i] - expected).abs() < 1e-9, "{v:?}");
            }
            let (before, after) = (metric.norm_squared(v_before), metric.norm_squared(&v));
            prop_assert!(after <= before * (1.0 + 1e-12) + 1e-14);
            if e == 1.0 {
                prop_assert!((after - before).abs() < 1e-10);
            }
        }

        /// A wall that moves with any speed, one e per constraint: each law U⁺ ≥ −e U⁻ holds, with equality
        /// where there is an impulse, and a Galilean change of frame changes nothing.
        #[test]
        fn moving_walls_and_several_restitutions(
            d in 1usize..4, m in 1usize..5,
            seed in prop::collection::vec(-1.0f64..1.0, 12 + 3 + 4 + 3),
            restitution in prop::collection::vec(0.0f64..=1.0, 4),
        ) {
            // Independent gradients (no more than d) so that any wall speeds are compatible.
            let m = m.min(d);
            let mut normals = seed[..m * d].to_vec();
            (0..m).for_each(|a| normals[a * d + a] += 3.0);
            let rows = Rows::dense(d, &normals);
            let metric = Metric::diagonal(d);
            let frame = &seed[19..19 + d];
            let walls: Vec<f64> = (0..m).map(|a| seed[15 + a]).collect();
            let e: Vec<f64> = restitution[..m].to_vec();
            let v_before = &seed[12..12 + d];
            let mut law = ImpactLaw::new(d, m);
            let mut v = v_before.to_vec();
            law.apply(&metric, &rows, &walls, &e, &mut v).expect("independent gradients");
            for a in 0..m {
                let before = walls[a] + rows.dot(a, v_before);
                let after = walls[a] + rows.dot(a, &v);
                prop_assert!(after + e[a] * before >= -1e-10);
                prop_assert!((after + e[a] * before) * law.impulses()[a] < 1e-9);
            }
            let shifted: Vec<f64> = (0..m).map(|a| walls[a] - rows.dot(a, frame)).collect();
            let mut w: Vec<f64> = v_before.iter().zip(frame).map(|(v, c)| v + c).collect();
            law.apply(&metric, &rows, &shifted, &e, &mut w).expect("independent gradients");
            for i in 0..d {
                prop_assert!((w[i] - frame[i] - v[i]).abs() < 1e-10);
            }
        }
    }
}
