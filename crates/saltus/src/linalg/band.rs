//! Matrices with a narrow band: products by diagonals, L D Lᵀ by rows, one routine for each width so that the inner loops
//! have a length the compiler knows. A beam has a half-bandwidth of 2 or 3, a bar or a building of 1, modes of 0.

use super::NotPositiveDefinite;

/// The widest half-bandwidth kept this way.
pub const WIDEST: usize = 8;

/// A symmetric matrix by its diagonals: entry i of diagonal k is A[i + k, i].
#[derive(Clone, Debug)]
pub struct Band {
    n: usize,
    diagonals: Vec<Vec<f64>>,
}

/// Calls a routine with the half-bandwidth as a constant.
macro_rules! by_width {
    ($b:expr, $call:ident ( $($argument:expr),* )) => {
        match $b {
            0 => $call::<0>($($argument),*),
            1 => $call::<1>($($argument),*),
            2 => $call::<2>($($argument),*),
            3 => $call::<3>($($argument),*),
            4 => $call::<4>($($argument),*),
            5 => $call::<5>($($argument),*),
            6 => $call::<6>($($argument),*),
            7 => $call::<7>($($argument),*),
            _ => $call::<8>($($argument),*),
        }
    };
}

impl Band {
    pub fn new(n: usize, b: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let mut diagonals: Vec<Vec<f64>> = (0..=b).map(|k| vec![0.0; n.saturating_sub(k)]).collect();
        entries.filter(|&(i, j, x)| i >= j && x != 0.0).for_each(|(i, j, x)| diagonals[i - j][j] = x);
        Band { n, diagonals }
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        by_width!(self.diagonals.len() - 1, multiply(&self.diagonals, x, y));
    }

    /// A = L D Lᵀ with a unit diagonal in L.
    pub fn factor(&self) -> Result<BandFactor, NotPositiveDefinite> {
        let (n, b) = (self.n, self.diagonals.len() - 1);
        // Row i of L without its diagonal: L[i, i − b] … L[i, i − 1].
        let mut lower = vec![0.0; n * b];
        let mut inverse = vec![0.0; n];
        let mut d = vec![0.0; n];
        for i in 0..n {
            let mut pivot = self.diagonals[0][i];
            for j in i.saturating_sub(b)..i {
                // (L D)[i, j] = A[i, j] − Σ_k (L D)[i, k] L[j, k]
                let mut x = self.diagonals[i - j][j];
                for k in i.saturating_sub(b).max(j.saturating_sub(b))..j {
                    x -= lower[i * b + b + k - i] * d[k] * lower[j * b + b + k - j];
                }
                let l = x * inverse[j];
                pivot -= l * x;
                lower[i * b + b + j - i] = l;
            }
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(NotPositiveDefinite { pivot: i });
            }
            (d[i], inverse[i]) = (pivot, 1.0 / pivot);
        }
        // The same by columns, for the way back: L[i + 1, i] … L[i + b, i].
        let mut upper = vec![0.0; n * b];
        for i in 0..n {
            for k in 1..=b.min(n - 1 - i) {
                upper[i * b + k - 1] = lower[(i + k) * b + b - k];
            }
        }
        Ok(BandFactor { b, lower, upper, inverse })
    }
}

fn multiply<const B: usize>(diagonals: &[Vec<f64>], x: &[f64], y: &mut [f64]) {
    let n = y.len();
    let x = &x[..n];
    if n <= 2 * B {
        for i in 0..n {
            y[i] = diagonals[0][i] * x[i];
            for k in 1..=B {
                y[i] += if i + k < n { diagonals[k][i] * x[i + k] } else { 0.0 };
                y[i] += if i >= k { diagonals[k][i - k] * x[i - k] } else { 0.0 };
            }
        }
        return;
    }
    let main = &diagonals[0][..n];
    for i in (0..B).chain(n - B..n) {
        y[i] = main[i] * x[i];
        for k in 1..=B {
            y[i] += if i + k < n { diagonals[k][i] * x[i + k] } else { 0.0 };
            y[i] += if i >= k { diagonals[k][i - k] * x[i - k] } else { 0.0 };
        }
    }
    // All windows of the inner rows have one length, so that the loop has no checks and runs in lanes.
    let m = n - 2 * B;
    let y = &mut y[B..B + m];
    let ahead: [(&[f64], &[f64]); B] =
        std::array::from_fn(|k| (&diagonals[k + 1][B..B + m], &x[B + k + 1..B + k + 1 + m]));
    let behind: [(&[f64], &[f64]); B] =
        std::array::from_fn(|k| (&diagonals[k + 1][B - k - 1..B - k - 1 + m], &x[B - k - 1..B - k - 1 + m]));
    let (main, x) = (&main[B..B + m], &x[B..B + m]);
    for i in 0..m {
        let mut sum = main[i] * x[i];
        for k in 0..B {
            sum += ahead[k].0[i] * ahead[k].1[i] + behind[k].0[i] * behind[k].1[i];
        }
        y[i] = sum;
    }
}

/// The factor of a matrix with a narrow band.
#[derive(Clone, Debug)]
pub struct BandFactor {
    b: usize,
    lower: Vec<f64>,
    upper: Vec<f64>,
    inverse: Vec<f64>,
}

impl BandFactor {
    /// The entries of D⁻¹.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        by_width!(self.b, solve(self, x));
    }
}

/// The last unknowns stay in registers; what does not depend on the newest is added up first, so that a row waits for one
/// multiplication only.
fn solve<const B: usize>(factor: &BandFactor, x: &mut [f64]) {
    let n = x.len();
    let mut last = [0.0; B];
    for (x, row) in x.iter_mut().zip(factor.lower.chunks_exact(B.max(1))).take(if B == 0 { 0 } else { n }) {
        let mut sum = *x;
        for k in 0..B {
            sum -= row[k] * last[k];
        }
        last.copy_within(1.., 0);
        last[B - 1] = sum;
        *x = sum;
    }
    for (x, inverse) in x.iter_mut().zip(&factor.inverse) {
        *x *= inverse;
    }
    // Now `next` holds the B unknowns below, the nearest first.
    let mut next = [0.0; B];
    let rows = factor.upper.chunks_exact(B.max(1)).rev();
    for (x, row) in x.iter_mut().rev().zip(rows).take(if B == 0 { 0 } else { n }) {
        let mut sum = *x;
        for k in (0..B).rev() {
            sum -= row[k] * next[k];
        }
        next.copy_within(..B - 1, 1);
        next[0] = sum;
        *x = sum;
    }
}
