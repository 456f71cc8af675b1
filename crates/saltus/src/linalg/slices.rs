//! Factors of a mesh that is long and thin. Cut across into slices of which each meets only the ones beside it, A is block
//! tridiagonal, and what the elimination of all slices before leaves of slice k is
//!
//! ```text
//! S_k = A_kk − B_k S_{k−1}⁻¹ B_kᵀ        r_k = b_k − B_k S_{k−1}⁻¹ r_{k−1}        x_k = S_k⁻¹ (r_k − B_{k+1}ᵀ x_{k+1})
//! ```
//!
//! S_k⁻¹, one half of it, is all that is stored; B_k stays as sparse as it is in A. That is half of the entries of a profile, and to
//! read them is what a solution costs. The price is in the error of a solution: it grows with √κ(A) (Demmel, Higham &
//! Schreiber 1995, Numer. Linear Algebra Appl. 2, 173), while that of L D Lᵀ does not. Nothing is lost on the matrix of a
//! step, M + hC/2 + h²K/4, unless the step is long; a factor shows by its residuals whether it may be used.

use super::wait::Wait;
use super::{Dice, NotPositiveDefinite, Symmetric};
use multiversion::multiversion;

/// Rows and columns of a tile.
const TILE: usize = 8;

/// A slice has at most so many rows; on average, more than so many.
const LARGEST: usize = 64 * TILE;
const SMALLEST: usize = 6 * TILE;

/// Slices are worth it where they have fewer entries than this part of a profile.
const WORTH: f64 = 0.75;

/// The largest residual of a factor that is used, in units of rounding; that of L D Lᵀ is about three.
const RESIDUAL: f64 = 64.0;

/// The inverse of each S_k.
#[derive(Clone, Debug)]
pub struct Slices {
    /// The first row of each slice; one more for the end.
    firsts: Vec<usize>,
    /// Tiles of the lower half of S_k⁻¹, one column of tiles after the other; each stored by columns, those on the diagonal whole.
    tiles: Vec<[f64; TILE * TILE]>,
    tile_starts: Vec<usize>,
    /// The entries of B_k by rows, with columns counted in slice k − 1.
    starts: Vec<usize>,
    columns: Vec<u16>,
    values: Vec<f64>,
    inverse: Vec<f64>,
}

impl Slices {
    /// Factors a matrix in the order of its rows; None where slices are not worth it, or where rounding would be felt.
    pub fn new(matrix: &Symmetric, profile: f64) -> Option<Result<Self, NotPositiveDefinite>> {
        let firsts = sliced(matrix)?;
        let count = firsts.len() - 1;
        let tiles: usize = firsts.windows(2).map(|w| tiles_of(w[1] - w[0])).sum();
        let stored = (tiles * TILE * TILE) as f64;
        if matrix.dimension() < SMALLEST * count || stored > WORTH * profile {
            return None;
        }
        match Self::factored(matrix, firsts, tiles) {
            Err(e) => Some(Err(e)),
            Ok(factor) => (factor.residual(matrix) <= RESIDUAL * f64::EPSILON).then_some(Ok(factor)),
        }
    }

    fn factored(matrix: &Symmetric, firsts: Vec<usize>, tiles: usize) -> Result<Self, NotPositiveDefinite> {
        let n = matrix.dimension();
        let mut all = Slices {
            tiles: Vec::with_capacity(tiles),
            tile_starts: vec![0],
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            inverse: Vec::with_capacity(n),
            firsts,
        };
        // S_k and the inverse before it, whole and by rows.
        let (mut own, mut before, mut row) = (Vec::new(), Vec::new(), Vec::new());
        let work = |w: &[usize]| ((w[1] - w[0]) as f64).powi(3);
        let mut wait = Wait::new(all.firsts.windows(2).map(work).sum(), 8.0 * (tiles * TILE * TILE) as f64);
        for k in 0..all.firsts.len() - 1 {
            let (first, end) = (all.firsts[k], all.firsts[k + 1]);
            let (m, wide) = (end - first, first - if k > 0 { all.firsts[k - 1] } else { first });
            wait.did(work(&[first, end]));
            own.clear();
            own.resize(m * m, 0.0);
            for i in first..end {
                for (j, x) in matrix.row(i).take_while(|(j, _)| *j <= i) {
                    if j >= first {
                        own[(i - first) * m + j - first] = x;
                    } else {
                        all.columns.push((j + wide - first) as u16);
                        all.values.push(x);
                    }
                }
                all.starts.push(all.columns.len());
                if all.starts[i] == all.starts[i + 1] {
                    continue;
                }
                // A row of B S⁻¹, and its products with the rows of B so far.
                row.clear();
                row.resize(wide, 0.0);
                all.coupled(i).for_each(|(j, b)| add_scaled(&mut row, b, &before[j * wide..(j + 1) * wide]));
                for other in first..=i {
                    own[(i - first) * m + other - first] -= all.coupled(other).map(|(j, b)| b * row[j]).sum::<f64>();
                }
            }
            invert(&mut own, m, &mut all.inverse).map_err(|i| NotPositiveDefinite { pivot: first + i })?;
            all.pack(&own, m);
            std::mem::swap(&mut own, &mut before);
        }
        wait.end();
        Ok(all)
    }

    /// The entries of row i of the B that it belongs to.
    fn coupled(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|&j| j as usize).zip(self.values[range].iter().copied())
    }

    fn pack(&mut self, inverse: &[f64], m: usize) {
        let count = m.div_ceil(TILE);
        for c in 0..count {
            for r in c..count {
                let mut tile = [0.0; TILE * TILE];
                for (j, column) in tile.chunks_exact_mut(TILE).enumerate().take(m - (c * TILE).min(m)) {
                    for (i, x) in column.iter_mut().enumerate().take(m - (r * TILE).min(m)) {
                        let (i, j) = (r * TILE + i, c * TILE + j);
                        *x = if i < m && j < m { inverse[i * m + j] } else { 0.0 };
                    }
                }
                self.tiles.push(tile);
            }
        }
        self.tile_starts.push(self.tiles.len());
    }

    /// The largest |b − A x| of a few solutions beside the largest |A| |x|, each row divided by the root of its pivot. What is solved
    /// for is known, so that the softest motion does not hide the others.
    fn residual(&self, matrix: &Symmetric) -> f64 {
        let n = matrix.dimension();
        let mut dice = Dice::new(5);
        let (mut b, mut left, mut worst) = (vec![0.0; n], vec![0.0; n], 0.0_f64);
        for attempt in 0..4 {
            let smooth = |i: usize| (std::f64::consts::PI * (i + 1) as f64 / n as f64).sin();
            let mut x: Vec<f64> = match attempt {
                0 => (0..n).map(smooth).collect(),
                _ => (0..n).map(|_| dice.between(-1.0, 1.0)).collect(),
            };
            matrix.multiply(&x, &mut b);
            x.copy_from_slice(&b);
            self.solve(&mut x);
            matrix.multiply(&x, &mut left);
            let (mut off, mut size) = (0.0_f64, 0.0_f64);
            for i in 0..n {
                let root = matrix.at(i, i).sqrt();
                let sum: f64 = matrix.row(i).map(|(j, a)| (a * x[j]).abs()).sum();
                off = off.max((b[i] - left[i]).abs() / root);
                size = size.max(sum / root);
            }
            // (A number that is none fails.)
            worst = if off / size <= worst { worst } else { off / size };
        }
        worst
    }

    /// The entries of D⁻¹ of A = L D Lᵀ.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let (mut given, mut taken) = ([[0.0; TILE]; LARGEST / TILE], [[0.0; TILE]; LARGEST / TILE]);
        let count = self.firsts.len() - 1;
        for k in 0..count {
            let own = self.firsts[k]..self.firsts[k + 1];
            if k > 0 {
                let z = taken.as_flattened();
                for i in own.clone() {
                    x[i] -= sparse_dot(&self.columns, &self.values, self.starts[i]..self.starts[i + 1], z);
                }
            }
            if k + 1 < count {
                self.apply(k, &x[own], &mut given, &mut taken);
            }
        }
        for k in (0..count).rev() {
            let own = self.firsts[k]..self.firsts[k + 1];
            self.apply(k, &x[own.clone()], &mut given, &mut taken);
            x[own.clone()].copy_from_slice(&taken.as_flattened()[..own.len()]);
            if k > 0 {
                let (before, here) = x[self.firsts[k - 1]..own.end].split_at_mut(own.start - self.firsts[k - 1]);
                for (i, here) in own.zip(here) {
                    self.coupled(i).for_each(|(j, b)| before[j] -= b * *here);
                }
            }
        }
    }

    /// S_k⁻¹ x into `taken`; `given` is a buffer.
    fn apply(&self, k: usize, x: &[f64], given: &mut [[f64; TILE]], taken: &mut [[f64; TILE]]) {
        let count = x.len().div_ceil(TILE);
        given[count - 1] = [0.0; TILE];
        given.as_flattened_mut()[..x.len()].copy_from_slice(x);
        symmetric_product(
            &self.tiles[self.tile_starts[k]..self.tile_starts[k + 1]],
            &given[..count],
            &mut taken[..count],
        );
    }
}

/// Tiles in the lower half of a slice.
fn tiles_of(rows: usize) -> usize {
    let count = rows.div_ceil(TILE);
    count * (count + 1) / 2
}

/// The first row of each slice and the end, with as few entries as there can be; None where a slice would be too large.
fn sliced(matrix: &Symmetric) -> Option<Vec<usize>> {
    let n = matrix.dimension();
    // How far down the rows up to one reach.
    let mut reach: Vec<usize> = (0..n).map(|i| matrix.row(i).map(|(j, _)| j).max().unwrap_or(i).max(i)).collect();
    (1..n).for_each(|i| reach[i] = reach[i].max(reach[i - 1]));
    let next = |end: usize| (reach[end - 1] + 1).max(end + 1).min(n);
    // All follows from where the first slice ends.
    let cost = |end: usize| {
        let (mut start, mut end, mut tiles) = (0, end, 0);
        loop {
            if end - start > LARGEST {
                return None;
            }
            tiles += tiles_of(end - start);
            if end == n {
                return Some(tiles);
            }
            (start, end) = (end, next(end));
        }
    };
    let best = (1..=(*reach.first()? + 1).min(LARGEST)).filter_map(|end| Some((cost(end)?, end))).min()?;
    let mut firsts = vec![0, best.1];
    while let Some(&end) = firsts.last().filter(|&&end| end < n) {
        firsts.push(next(end));
    }
    Some(firsts)
}

/// The inverse of a positive definite matrix in place, stored by rows, of which the lower half is given; the inverses of the pivots are
/// added to a list. One pivot after the other is exchanged (Gauss and Jordan; Goodnight 1979, Am. Stat. 33, 149). An error is the row
/// whose pivot is not positive.
fn invert(a: &mut [f64], m: usize, pivots: &mut Vec<f64>) -> Result<(), usize> {
    let mut column = vec![0.0; m];
    for k in 0..m {
        let pivot = a[k * m + k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(k);
        }
        let inverse = 1.0 / pivot;
        pivots.push(inverse);
        for (i, x) in column.iter_mut().enumerate() {
            *x = if i < k { a[k * m + i] } else { a[i * m + k] };
        }
        exchange(a, m, k, &column, inverse);
    }
    for i in 0..m {
        for j in 0..=i {
            let x = -a[i * m + j];
            (a[i * m + j], a[j * m + i]) = (x, x);
        }
    }
    Ok(())
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn exchange(a: &mut [f64], m: usize, k: usize, column: &[f64], inverse: f64) {
    for (i, row) in a.chunks_exact_mut(m).enumerate() {
        if i == k {
            row[..k].iter_mut().zip(column).for_each(|(x, c)| *x = c * inverse);
            row[k] = -inverse;
            continue;
        }
        let factor = column[i] * inverse;
        row[..=i].iter_mut().zip(column).for_each(|(x, c)| *x -= factor * c);
        if i > k {
            row[k] = factor;
        }
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x);
}

/// Σ b z over the entries of a row.
#[inline]
fn sparse_dot(columns: &[u16], values: &[f64], range: std::ops::Range<usize>, z: &[f64]) -> f64 {
    let (columns, values) = (&columns[range.clone()], &values[range]);
    let (fours, rest) = columns.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (j, b) in fours.iter().zip(values.as_chunks::<4>().0) {
        (0..4).for_each(|r| sums[r] += b[r] * z[j[r] as usize]);
    }
    let tail = &values[values.len() - rest.len()..];
    let rest: f64 = rest.iter().zip(tail).map(|(&j, b)| b * z[j as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// y = S x with the tiles of the lower half of S: each is read once, and serves its own place and the one across the diagonal.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn symmetric_product(tiles: &[[f64; TILE * TILE]], x: &[[f64; TILE]], y: &mut [[f64; TILE]]) {
    let count = x.len();
    y.fill([0.0; TILE]);
    let mut first = 0;
    for c in 0..count {
        let own = x[c];
        let below = &tiles[first + 1..first + count - c];
        let mut here = y[c];
        for j in 0..TILE {
            for r in 0..TILE {
                here[r] += tiles[first][j * TILE + r] * own[j];
            }
        }
        let mut sums = [[0.0; TILE]; TILE];
        for ((tile, x), y) in below.iter().zip(&x[c + 1..]).zip(&mut y[c + 1..]) {
            let mut there = *y;
            for j in 0..TILE {
                for r in 0..TILE {
                    let a = tile[j * TILE + r];
                    there[r] += a * own[j];
                    sums[j][r] += a * x[r];
                }
            }
            *y = there;
        }
        for j in 0..TILE {
            here[j] += sums[j].iter().sum::<f64>();
        }
        y[c] = here;
        first += count - c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Factor, small_profile};

    /// A tower of `side` × `side` × `layers` nodes with `unknowns` at each: springs to all neighbours within reach, `held` more on
    /// the diagonal, numbered across or, to be put in order, in an order that jumps.
    fn tower(side: usize, layers: usize, unknowns: usize, held: f64) -> Symmetric {
        let n = side * side * layers;
        let at = |k: usize| [k % side, k / side % side, k / side / side];
        let mut entries = Vec::new();
        let mut diagonal = vec![held; n * unknowns];
        for k in 0..n {
            for l in (0..k).filter(|&l| (0..3).all(|d| at(k)[d].abs_diff(at(l)[d]) <= 1)) {
                for (p, q) in (0..unknowns * unknowns).map(|x| (x / unknowns, x % unknowns)) {
                    let (i, j) = (k * unknowns + p, l * unknowns + q);
                    let spring = if p == q { 1.0 } else { 0.1 + 0.01 * ((i * 7 + j * 3) % 5) as f64 };
                    entries.extend([(i, j, -spring), (j, i, -spring)]);
                    diagonal[i] += spring;
                    diagonal[j] += spring;
                }
            }
        }
        entries.extend(diagonal.iter().enumerate().map(|(i, &d)| (i, i, d)));
        Symmetric::new(n * unknowns, entries)
    }

    fn pushed(a: &Symmetric, x: &[f64]) -> Vec<f64> {
        let mut b = vec![0.0; x.len()];
        a.multiply(x, &mut b);
        b
    }

    #[test]
    fn a_tower_is_solved_by_its_slices() {
        for (side, layers, unknowns) in [(4, 30, 3), (5, 21, 2), (7, 12, 1)] {
            let plain = tower(side, layers, unknowns, 4.0);
            let n = plain.dimension();
            // Degrees of freedom as a mesh may number them, put in order again.
            let jump = (1..)
                .map(|k| 2 * n / 5 + k)
                .find(|k| (2..=n).all(|d| !n.is_multiple_of(d) || !k.is_multiple_of(d)))
                .expect("one");
            let mixed = plain.reordered(&(0..n).map(|k| k * jump % n).collect::<Vec<_>>());
            for a in [plain, mixed.reordered(&small_profile(&[&mixed]))] {
                let factor = a.step_factor(&[]).expect("definite");
                assert!(matches!(factor, Factor::Slices(_)), "{side} {layers} {unknowns}");
                let x: Vec<f64> = (0..n).map(|i| ((i * 37) % 19) as f64 - 8.0).collect();
                let solved = factor.solved(pushed(&a, &x));
                assert!(solved.iter().zip(&x).all(|(p, q)| (p - q).abs() < 1e-12));
                // The pivots are those of the profile.
                let profile = a.factor().expect("definite");
                let same = |(p, q): (&f64, &f64)| (p / q - 1.0).abs() < 1e-12;
                assert!(factor.inverse_pivots().iter().zip(profile.inverse_pivots()).all(same));
                let block: Vec<[f64; 4]> = x.iter().map(|x| [*x, -x, 1.0, x * x]).collect();
                let (mut by_four, mut column) = (block.clone(), Vec::new());
                factor.solve_block(&mut by_four, &mut column);
                let second = factor.solved(block.iter().map(|b| b[3]).collect());
                assert!(by_four.iter().zip(&second).all(|(b, s)| b[3] == *s));
            }
        }
    }

    #[test]
    fn slices_are_no_larger_than_layers() {
        let a = tower(8, 21, 1, 1.0);
        let firsts = sliced(&a).expect("slices");
        let tiles: usize = firsts.windows(2).map(|w| tiles_of(w[1] - w[0])).sum();
        assert!(tiles <= 21 * tiles_of(64), "{firsts:?}");
        for (i, j, _) in a.entries() {
            let slice = |i: usize| firsts.partition_point(|&f| f <= i);
            assert!(slice(i).abs_diff(slice(j)) <= 1);
        }
    }

    #[test]
    fn a_pivot_that_is_not_positive_is_named() {
        let a = tower(7, 12, 1, 2.0);
        let n = a.dimension();
        for bad in [0, 3, n / 2, n - 1] {
            let spoilt = Symmetric::new(n, a.entries().chain([(bad, bad, -1e4)]).collect());
            assert_eq!(spoilt.step_factor(&[]).map(|_| ()), Err(NotPositiveDefinite { pivot: bad }));
        }
    }

    #[test]
    fn where_rounding_would_be_felt_there_are_no_slices() {
        // Held by less and less, κ up to 1e15: what is chosen leaves a small residual.
        for held in [1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13] {
            let a = tower(7, 12, 1, held);
            let factor = a.step_factor(&[]).expect("definite");
            let x: Vec<f64> = (0..a.dimension()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let b = pushed(&a, &x);
            let off = |factor: &Factor| {
                let left = pushed(&a, &factor.solved(b.clone()));
                left.iter().zip(&b).fold(0.0_f64, |m, (p, q)| m.max((p - q).abs()))
            };
            assert!(off(&factor) < 1e-12, "held by {held}: {:e}", off(&factor));
            if !(1e-5..1e-3).contains(&held) {
                assert_eq!(matches!(factor, Factor::Slices(_)), held > 1e-4, "held by {held}");
            }
        }
    }

    #[test]
    fn what_is_short_or_wide_has_no_slices() {
        for a in [tower(3, 40, 1, 1.0), Symmetric::diagonal(&[1.0; 40])] {
            assert!(!matches!(a.step_factor(&[]), Ok(Factor::Slices(_))));
        }
    }
}
