//! Sums over products of coefficients, the inner loops of the recurrences.

/// Order k of a root or power of x at zero: zero if x is identically zero so far; otherwise there is no series.
pub(super) fn at_zero(x: &[f64], k: usize) -> f64 {
    if x[..=k].iter().all(|&c| c == 0.0) { 0.0 } else { f64::NAN }
}

/// Σ_{j=from..to} a_j b_{k−j}.
#[inline]
pub(super) fn dot_back(a: &[f64], b: &[f64], k: usize, from: usize, to: usize) -> f64 {
    if from > to {
        return 0.0;
    }
    a[from..=to].iter().zip(b[k - to..=k - from].iter().rev()).map(|(x, y)| x * y).sum()
}

/// Order k of a product.
#[inline]
pub(super) fn product(a: &[f64], degree_a: usize, b: &[f64], degree_b: usize, k: usize) -> f64 {
    dot_back(a, b, k, k.saturating_sub(degree_b), k.min(degree_a))
}

/// Order k of a square; each pair is computed once.
#[inline]
pub(super) fn square(a: &[f64], k: usize) -> f64 {
    let half = k.div_ceil(2);
    let pairs = if half > 0 { 2.0 * dot_back(a, a, k, 0, half - 1) } else { 0.0 };
    if k.is_multiple_of(2) { pairs + a[k / 2] * a[k / 2] } else { pairs }
}

/// Σ_{j=1..to} j x_j w_{k−j}.
#[inline]
pub(super) fn weighted(x: &[f64], w: &[f64], k: usize, to: usize) -> f64 {
    let pairs = x[1..=to].iter().zip(w[k - to..k].iter().rev());
    pairs.enumerate().map(|(j, (x, w))| (j + 1) as f64 * x * w).sum()
}
