//! The kinetic angle between two constraints.

use crate::linalg::{Metric, Rows};

/// The angle, in radians, of the wedge that constraints `a` and `b` form in the kinetic metric:
/// cos θ = −(∇fα·M⁻¹∇fβ) / (|∇fα| |∇fβ|), the norms being those of M⁻¹.
///
/// The motion depends continuously on its data at such a corner when θ ≤ π/2 for e = 0, and when θ = π/2 for
/// e > 0 (Paoli 2005, Ballard 2000). None if a gradient vanishes.
///
/// ```
/// use saltus::{contact::kinetic_angle, linalg::{Metric, Rows}};
/// let (c, s) = (30f64.to_radians().cos(), 30f64.to_radians().sin());
/// let walls = Rows::dense(2, &[c, s, -c, s]);       // a 60° wedge standing on its tip
/// let theta = kinetic_angle(&Metric::diagonal(2), &walls, 0, 1).unwrap();
/// assert!((theta.to_degrees() - 60.0).abs() < 1e-12);
/// ```
pub fn kinetic_angle(metric: &Metric, gradients: &Rows, a: usize, b: usize) -> Option<f64> {
    let mobility = |i: usize| {
        let mut w = vec![0.0; metric.dimension()];
        gradients.add_to(i, 1.0, &mut w);
        metric.solve(&mut w);
        w
    };
    let (wa, wb) = (mobility(a), mobility(b));
    let norms = (gradients.dot(a, &wa) * gradients.dot(b, &wb)).sqrt();
    (norms > 0.0).then(|| (-gradients.dot(a, &wb) / norms).clamp(-1.0, 1.0).acos())
}
