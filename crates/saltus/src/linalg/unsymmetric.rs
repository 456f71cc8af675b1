//! L U within a symmetric row profile, for matrices whose symmetric part is positive definite: no pivoting is needed (Golub & Van Loan
//! 1979, Linear Algebra Appl. 28, 85).

use super::{NotPositiveDefinite, Skew, Symmetric, add, dot};

/// The factors of an unsymmetric matrix with a profile: L by rows with ones on the diagonal, U by columns.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The first column of each row of L, and where its entries begin; those of the columns of U as well.
    first: Vec<usize>,
    starts: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    inverse: Vec<f64>,
}

impl Profile {
    /// Factors A + Σ s S.
    pub fn new(symmetric: &Symmetric, skews: &[(f64, &Skew)]) -> Result<Self, NotPositiveDefinite> {
        let n = symmetric.dimension();
        let columns = |i: usize| symmetric.row(i).chain(skews.iter().flat_map(move |(_, a)| a.row(i)));
        let first: Vec<usize> = (0..n).map(|i| columns(i).map(|(j, _)| j).min().unwrap_or(i).min(i)).collect();
        let mut starts = vec![0; n + 1];
        for i in 0..n {
            starts[i + 1] = starts[i] + i - first[i];
        }
        let (mut lower, mut upper, mut inverse) = (vec![0.0; starts[n]], vec![0.0; starts[n]], vec![0.0; n]);
        for i in 0..n {
            let (below, row) = lower.split_at_mut(starts[i]);
            let (above, column) = upper.split_at_mut(starts[i]);
            let (row, column, from) = (&mut row[..i - first[i]], &mut column[..i - first[i]], first[i]);
            let mut pivot = symmetric.at(i, i);
            for (j, x) in symmetric.row(i).filter(|(j, _)| *j < i) {
                row[j - from] += x;
                column[j - from] += x;
            }
            for (s, skew) in skews {
                for (j, x) in skew.row(i).filter(|(j, _)| *j < i) {
                    row[j - from] += s * x;
                    column[j - from] -= s * x;
                }
            }
            for j in from..i {
                let start = from.max(first[j]);
                let theirs = starts[j] + start - first[j]..starts[j + 1];
                let ours = start - from..j - from;
                let right = dot(&row[ours.clone()], &above[theirs.clone()]);
                let left = dot(&column[ours], &below[theirs]);
                row[j - from] = (row[j - from] - right) * inverse[j];
                column[j - from] -= left;
            }
            pivot -= dot(row, column);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(NotPositiveDefinite { pivot: i });
            }
            inverse[i] = 1.0 / pivot;
        }
        Ok(Profile { first, starts, lower, upper, inverse })
    }

    /// The inverses of the pivots.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        for i in 0..n {
            x[i] -= dot(&self.lower[self.starts[i]..self.starts[i + 1]], &x[self.first[i]..i]);
        }
        for i in (0..n).rev() {
            x[i] *= self.inverse[i];
            let xi = x[i];
            add(&mut x[self.first[i]..i], -xi, &self.upper[self.starts[i]..self.starts[i + 1]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solving_undoes_multiplying(n in 1usize..30, b in 1usize..9, numbers in prop::collection::vec(-1.0..1.0, 37)) {
            let mut entries = Vec::new();
            for i in 0..n {
                entries.push((i, i, 4.0 * b as f64));
                for j in i.saturating_sub(b)..i {
                    entries.push((i, j, numbers[(3 * i + 5 * j) % 37]));
                    entries.push((j, i, 2.0 * numbers[(7 * i + 2 * j) % 37]));
                }
            }
            let (symmetric, skew) = Skew::split(n, &entries);
            let skews: Vec<(f64, &Skew)> = skew.iter().map(|a| (1.0, a)).collect();
            let factor = symmetric.factor_with(&skews).expect("definite");
            let x: Vec<f64> = (0..n).map(|i| numbers[i % 37] + 1.0).collect();
            let mut y = vec![0.0; n];
            entries.iter().for_each(|&(i, j, a)| y[i] += a * x[j]);
            factor.solve(&mut y);
            prop_assert!(y.iter().zip(&x).all(|(p, q)| (p - q).abs() < 1e-11), "{y:?} {x:?}");
        }
    }

    #[test]
    fn a_matrix_without_a_definite_part_is_refused() {
        let (symmetric, skew) = Skew::split(2, &[(0, 0, -1.0), (0, 1, 3.0), (1, 0, -3.0), (1, 1, 1.0)]);
        let skew = skew.expect("antisymmetric part");
        assert_eq!(symmetric.factor_with(&[(1.0, &skew)]).map(|_| ()), Err(NotPositiveDefinite { pivot: 0 }));
    }
}
