//! Small linear systems that may be singular: Gauss elimination with full pivoting that stops at the rank.

/// Buffers for systems of up to a given number of unknowns, with two right-hand sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Pivot {
    /// The matrix by rows, m × m; overwritten by [`Pivot::solve`].
    pub a: Vec<f64>,
    /// Right-hand sides, overwritten with the solutions.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    columns: Vec<usize>,
    spare: Vec<f64>,
}

impl Pivot {
    /// Makes room for `m` unknowns.
    pub fn reserve(&mut self, m: usize) {
        if self.x.len() < m {
            self.a.resize(m * m, 0.0);
            self.x.resize(m, 0.0);
            self.y.resize(m, 0.0);
            self.columns.resize(m, 0);
            self.spare.resize(m, 0.0);
        }
    }

    /// Solves A x = x and A y = y for the leading m × m part and returns the rank. Pivots up to `tiny` times the largest
    /// entry count as zero: their unknowns are zero, and their equations are left as they are.
    pub fn solve(&mut self, m: usize, tiny: f64) -> usize {
        let Pivot { a, x, y, columns, spare } = self;
        (0..m).for_each(|j| columns[j] = j);
        let mut largest = 0.0;
        let mut rank = 0;
        for k in 0..m {
            let (mut best, mut row, mut column) = (0.0, k, k);
            for i in k..m {
                for j in k..m {
                    let size = a[i * m + j].abs();
                    if size > best {
                        (best, row, column) = (size, i, j);
                    }
                }
            }
            if k == 0 {
                largest = best;
            }
            if !(best > tiny * largest) || !best.is_finite() {
                break;
            }
            rank = k + 1;
            if row != k {
                (0..m).for_each(|j| a.swap(k * m + j, row * m + j));
                x.swap(k, row);
                y.swap(k, row);
            }
            if column != k {
                (0..m).for_each(|i| a.swap(i * m + k, i * m + column));
                columns.swap(k, column);
            }
            let (upper, lower) = a.split_at_mut((k + 1) * m);
            let pivot = &upper[k * m..(k + 1) * m];
            for i in k + 1..m {
                let line = &mut lower[(i - k - 1) * m..(i - k) * m];
                let factor = line[k] / pivot[k];
                if factor == 0.0 {
                    continue;
                }
                for j in k + 1..m {
                    line[j] -= factor * pivot[j];
                }
                x[i] -= factor * x[k];
                y[i] -= factor * y[k];
            }
        }
        for side in [x, y] {
            for i in (0..rank).rev() {
                let rest: f64 = (i + 1..rank).map(|j| a[i * m + j] * side[j]).sum();
                side[i] = (side[i] - rest) / a[i * m + i];
            }
            side[rank..m].fill(0.0);
            for j in 0..m {
                spare[columns[j]] = side[j];
            }
            side[..m].copy_from_slice(&spare[..m]);
        }
        rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_singular_but_consistent_system_is_solved() {
        let mut pivot = Pivot::default();
        pivot.reserve(3);
        // Rank two: the third row is the sum of the others.
        let a = [2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 3.0, 4.0, 1.0];
        pivot.a.copy_from_slice(&a);
        pivot.x.copy_from_slice(&[3.0, 5.0, 8.0]);
        assert_eq!(pivot.solve(3, 1e-13), 2);
        for (i, b) in [3.0, 5.0, 8.0].iter().enumerate() {
            let sum: f64 = (0..3).map(|j| a[3 * i + j] * pivot.x[j]).sum();
            assert!((sum - b).abs() < 1e-14);
        }
        assert_eq!(pivot.y[..3], [0.0; 3]);
    }
}
