//! Small linear algebra on buffers that are reused from step to step.
//!
//! A time step may not allocate, and most mass matrices here are diagonal or smaller than ten by ten. So this
//! room holds flat-slice kernels of a few lines each; nalgebra is their oracle in the tests, and does the decompositions
//! that are asked for once.

mod band;
mod block;
mod cholesky;
mod delassus;
mod dense_update;
mod dissection;
mod envelope;
mod fourier;
mod lu;
mod metric;
mod ordering;
mod random;
mod rows;
mod skew;
mod slices;
mod sparse;
mod spectrum;
mod symmetric;
mod twofold;
mod unsymmetric;
mod wait;

pub(crate) use band::WIDEST;
pub(crate) use block::{Block, FOUR, each_column, inners, subtract};
pub(crate) use cholesky::GrowingFactor;
pub(crate) use delassus::Delassus;
pub use fourier::fourier;
pub(crate) use lu::{FactoredLu, Lu};
pub use metric::{Metric, NotPositiveDefinite};
pub(crate) use ordering::{SolverOrder, factor_entries, solver_order};
pub use ordering::{fill_reducing, small_profile};
pub use random::Dice;
pub use rows::Rows;
pub use skew::Skew;
pub(crate) use spectrum::{Svd, eigen, eigenvalues, generalized_eigen};
pub use symmetric::{Factor, Symmetric};
pub(crate) use twofold::TwofoldFactor;

/// Nodes and weights of Gauss–Legendre quadrature with ten points on [−1, 1] (one half; the rule is symmetric).
pub(crate) const GAUSS_10: [(f64, f64); 5] = [
    (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// Euclidean inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < 16 {
        return a.iter().zip(b).map(|(x, y)| x * y).sum();
    }
    // Several sums side by side: one alone would wait for every addition.
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b[..a.len()].chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Largest absolute entry; NaN if any entry is NaN, so that a bad state cannot pass for a small one.
pub(crate) fn max_abs(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

/// Largest absolute entry of many; what is not a number is left out. (Eight side by side: one alone would wait for every comparison.)
pub(crate) fn largest(a: &[f64]) -> f64 {
    let mut best = [0.0_f64; 8];
    let chunks = a.chunks_exact(8);
    let rest = chunks.remainder();
    for x in chunks {
        for k in 0..8 {
            let size = x[k].abs();
            if size > best[k] {
                best[k] = size;
            }
        }
    }
    best.iter().chain(rest).fold(0.0, |m, x| m.max(x.abs()))
}

/// Calls `f` for 0, 1, …, d − 1. One degree of freedom, the most frequent case, goes without a loop: setting up a
/// vectorised one costs more than the work in it.
#[inline(always)]
pub(crate) fn each(d: usize, mut f: impl FnMut(usize)) {
    if d == 1 {
        f(0);
    } else {
        (0..d).for_each(f);
    }
}

/// y += s x.
#[inline]
pub(crate) fn add(y: &mut [f64], s: f64, x: &[f64]) {
    let x = &x[..y.len()];
    each(y.len(), |i| y[i] += s * x[i]);
}

/// y = x.
#[inline]
pub(crate) fn copy(y: &mut [f64], x: &[f64]) {
    let x = &x[..y.len()];
    if y.len() == 1 { y[0] = x[0] } else { y.copy_from_slice(x) }
}
