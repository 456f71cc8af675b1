//! L D Lᵀ of a band in twofold precision (a number is the sum of two, about 31 digits; Dekker 1971, Numer. Math. 18, 224).
//!
//! The stiffness of a fine beam loses n⁴ units of rounding when it is factored: of sixteen digits nothing is left with 10 000
//! elements. Of thirty-one there are plenty, as long as the entries themselves are exact.

use super::{NotPositiveDefinite, Symmetric};

/// A number as a sum of two.
#[derive(Clone, Copy, Debug, Default)]
struct Twofold(f64, f64);

fn sum(a: f64, b: f64) -> Twofold {
    let s = a + b;
    let t = s - a;
    Twofold(s, (a - (s - t)) + (b - t))
}

/// With |a| ≥ |b|.
fn quick_sum(a: f64, b: f64) -> Twofold {
    let s = a + b;
    Twofold(s, b - (s - a))
}

fn split(a: f64) -> (f64, f64) {
    let t = 134_217_729.0 * a;
    let high = t - (t - a);
    (high, a - high)
}

fn product(a: f64, b: f64) -> Twofold {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    Twofold(p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

impl Twofold {
    fn minus(self, o: Twofold) -> Twofold {
        let (high, low) = (sum(self.0, -o.0), sum(self.1, -o.1));
        let once = quick_sum(high.0, high.1 + low.0);
        quick_sum(once.0, once.1 + low.1)
    }

    fn times(self, o: Twofold) -> Twofold {
        let p = product(self.0, o.0);
        quick_sum(p.0, p.1 + (self.0 * o.1 + self.1 * o.0))
    }

    fn over(self, o: Twofold) -> Twofold {
        let first = self.0 / o.0;
        let left = self.minus(o.times(Twofold(first, 0.0)));
        let second = left.0 / o.0;
        let left = left.minus(o.times(Twofold(second, 0.0)));
        let once = quick_sum(first, second);
        quick_sum(once.0, once.1 + left.0 / o.0)
    }
}

/// The factor of a matrix with a narrow band.
#[derive(Clone, Debug)]
pub struct TwofoldFactor {
    b: usize,
    /// Row i of L without its diagonal, L[i, i − b] … L[i, i − 1], and D.
    lower: Vec<Twofold>,
    pivots: Vec<Twofold>,
}

impl TwofoldFactor {
    /// Factors Σ s A, added up in twofold precision, too; it must be positive definite.
    pub fn new(terms: &[(f64, &Symmetric)]) -> Result<Self, NotPositiveDefinite> {
        let n = terms.iter().map(|(_, a)| a.dimension()).max().unwrap_or(0);
        let b = terms.iter().map(|(_, a)| a.half_bandwidth()).max().unwrap_or(0);
        let mut lower = vec![Twofold::default(); n * b];
        let mut pivots = vec![Twofold::default(); n];
        let mut row = vec![Twofold::default(); b + 1];
        for i in 0..n {
            row.fill(Twofold::default());
            for (s, matrix) in terms {
                // (A zero that is stored may lie outside the band.)
                for (j, x) in matrix.row(i).filter(|(j, x)| *j <= i && *x != 0.0) {
                    row[b + j - i] = row[b + j - i].minus(product(-s, x));
                }
            }
            for j in i.saturating_sub(b)..i {
                // (L D)[i, j] = A[i, j] − Σ_k (L D)[i, k] L[j, k], kept until L = (L D)/D.
                for k in i.saturating_sub(b).max(j.saturating_sub(b))..j {
                    row[b + j - i] = row[b + j - i].minus(row[b + k - i].times(lower[j * b + b + k - j]));
                }
            }
            for j in i.saturating_sub(b)..i {
                let l = row[b + j - i].over(pivots[j]);
                row[b] = row[b].minus(l.times(row[b + j - i]));
                lower[i * b + b + j - i] = l;
            }
            if !(row[b].0 > 0.0 && row[b].0.is_finite()) {
                return Err(NotPositiveDefinite { pivot: i });
            }
            pivots[i] = row[b];
        }
        Ok(TwofoldFactor { b, lower, pivots })
    }

    /// The entries of D.
    pub fn pivots(&self) -> impl Iterator<Item = f64> + '_ {
        self.pivots.iter().map(|p| p.0)
    }

    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let (n, b) = (x.len(), self.b);
        let mut y: Vec<Twofold> = x.iter().map(|&x| Twofold(x, 0.0)).collect();
        for i in 0..n {
            for j in i.saturating_sub(b)..i {
                y[i] = y[i].minus(self.lower[i * b + b + j - i].times(y[j]));
            }
        }
        y.iter_mut().zip(&self.pivots).for_each(|(y, d)| *y = y.over(*d));
        for i in (0..n).rev() {
            for j in i.saturating_sub(b)..i {
                y[j] = y[j].minus(self.lower[i * b + b + j - i].times(y[i]));
            }
        }
        x.iter_mut().zip(&y).for_each(|(x, y)| *x = y.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_digits_survive_products_and_quotients() {
        // (1/3)·3 − 1 and (1 + 2⁻⁶⁰)² − 1 − 2⁻⁵⁹.
        let third = Twofold(1.0, 0.0).over(Twofold(3.0, 0.0));
        assert!(third.times(Twofold(3.0, 0.0)).minus(Twofold(1.0, 0.0)).0.abs() < 1e-31);
        let x = Twofold(1.0, 2.0_f64.powi(-60));
        let off = x.times(x).minus(Twofold(1.0, 2.0_f64.powi(-59)));
        assert!(off.0.abs() < 1e-31, "{off:?}");
    }

    #[test]
    fn a_zero_that_is_stored_outside_the_band_is_none() {
        let entries = vec![(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0), (0, 2, 0.0), (2, 0, 0.0), (0, 1, -1.0), (1, 0, -1.0)];
        let factor = TwofoldFactor::new(&[(1.0, &Symmetric::new(3, entries))]).expect("definite");
        let mut x = [1.0, 1.0, 1.0];
        factor.solve(&mut x);
        assert_eq!(x, [1.0, 1.0, 0.5]);
    }

    #[test]
    fn a_string_of_many_springs_is_solved_to_the_last_digit() {
        // Second differences, held at both ends, under a unit load everywhere: u_i = i (n + 1 − i)/2.
        let n = 30_000;
        let entries = (0..n).flat_map(|i| {
            let beside = (i + 1 < n).then_some([(i, i + 1, -0.1), (i + 1, i, -0.1)]);
            [(i, i, 0.2)].into_iter().chain(beside.into_iter().flatten())
        });
        let factor = TwofoldFactor::new(&[(1.0, &Symmetric::new(n, entries.collect()))]).expect("definite");
        let mut x = vec![0.1; n];
        factor.solve(&mut x);
        for (i, x) in x.iter().enumerate() {
            let exact = 0.5 * (i + 1) as f64 * (n - i) as f64;
            assert!((x / exact - 1.0).abs() < 1e-15, "{i}: {x} {exact}");
        }
    }
}
