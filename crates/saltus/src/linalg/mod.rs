//! Small linear algebra on buffers that are reused from step to step.
//!
//! A time step may not allocate, and most mass matrices here are diagonal or smaller than ten by ten. So this
//! room holds flat-slice kernels of a few lines each; nalgebra is their oracle in the tests.

mod cholesky;
mod metric;
mod rows;

pub(crate) use cholesky::GrowingFactor;
pub use metric::{Metric, NotPositiveDefinite};
pub use rows::Rows;

/// Euclidean inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Largest absolute entry; NaN if any entry is NaN, so that a bad state cannot pass for a small one.
pub(crate) fn max_abs(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}
