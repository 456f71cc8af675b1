//! Multipliers of a period, however far apart they are.
//!
//! One matrix for a whole period loses every multiplier that is below the rounding of its largest entries. So the period is cut into parts in
//! which no direction shrinks much beside the others, M = Q Rₘ … R₁, and orthonormal columns go round and round through the factors, until
//! they span the invariant subspaces, largest multipliers first (subspace iteration). What multiplies each of them in a turn is then known to
//! rounding, relative to itself. A multiplier is zero only where a part, however short, takes a direction away: where a contact does.

use super::frame::orthonormal;
use super::{NoExponents, PhaseSpace, advance};
use crate::linalg::{dot, eigenvalues};
use crate::problem::{Problem, Start};
use crate::{Keep, Options};

/// A part in which a direction keeps less than this of its length, or of what the others grow to, is cut,
const SHORTER: f64 = 1e-3;
/// the next ones are longer again where all keep more than this,
const LONGER: f64 = 0.2;
/// to one in so many of its length,
const CUT: f64 = 8.0;
/// not beyond 1/8^this of the period.
const MOST: i32 = 6;
/// Turns through the factors, at most.
const TURNS: usize = 400;
/// Columns have found an invariant subspace where a turn moves them out of it by no more than this.
const FOUND: f64 = 1e-12;
/// Multipliers of one subspace that are no further apart than this are found from one matrix.
const APART: f64 = 1e4;

/// A multiplier: its real and its imaginary part, the logarithm of its modulus (−∞ where a direction is taken away), and how far that
/// logarithm may be off by rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Multiplier {
    pub z: (f64, f64),
    pub log: f64,
    pub rounding: f64,
}

impl Multiplier {
    /// That of a direction that is taken away.
    pub const NONE: Multiplier = Multiplier { z: (0.0, 0.0), log: f64::NEG_INFINITY, rounding: 0.0 };
}

/// A matrix by rows.
#[derive(Clone, Debug)]
struct Matrix {
    rows: usize,
    columns: usize,
    entries: Vec<f64>,
}

impl Matrix {
    fn unit(n: usize) -> Self {
        let entry = |k: usize| f64::from(u8::from(k / n == k % n));
        Matrix { rows: n, columns: n, entries: (0..n * n).map(entry).collect() }
    }

    fn of_columns(rows: usize, columns: &[Vec<f64>]) -> Self {
        let entries = (0..rows).flat_map(|i| columns.iter().map(move |c| c[i])).collect();
        Matrix { rows, columns: columns.len(), entries }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.columns + j]
    }

    fn column(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self.at(i, j)).collect()
    }

    fn times(&self, other: &Matrix) -> Matrix {
        let entry = |i: usize, j: usize| (0..self.columns).map(|k| self.at(i, k) * other.at(k, j)).sum();
        let (m, n) = (self.rows, other.columns);
        let entries = (0..m * n).map(|k| entry(k / n, k % n)).collect();
        Matrix { rows: m, columns: n, entries }
    }

    fn largest(&self) -> f64 {
        self.entries.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// Orthonormal columns of the same span and a triangle, A = Q R, and the least that a column kept, of its length and of what the
    /// others have; columns that depend on those before them are left out.
    fn factored(&self) -> Result<(Matrix, Matrix, f64), NoExponents> {
        let columns: Vec<Vec<f64>> = (0..self.columns).map(|j| self.column(j)).collect();
        let (left, least) = orthonormal(columns.iter().cloned())?;
        let unit: Vec<Vec<f64>> = left.iter().map(|(.., x)| x.clone()).collect();
        let mut triangle =
            Matrix { rows: left.len(), columns: self.columns, entries: vec![0.0; left.len() * self.columns] };
        for (i, (k, length, x)) in left.iter().enumerate() {
            for (j, column) in columns.iter().enumerate().skip(*k) {
                triangle.entries[i * self.columns + j] = if j == *k { *length } else { dot(x, column) };
            }
        }
        let shortest = left.iter().fold(f64::INFINITY, |m, (_, length, _)| m.min(*length));
        let least = least.min(shortest / triangle.largest());
        Ok((Matrix::of_columns(self.rows, &unit), triangle, least))
    }
}

/// The multipliers of the period that begins at a state, largest first: as many as directions are left by contacts.
///
/// # Errors
/// The motion fails, or it has no derivatives.
pub(super) fn multipliers(
    problem: &Problem,
    space: &PhaseSpace,
    start: &Start,
    lasts: f64,
    options: &Options,
) -> Result<Option<Vec<Multiplier>>, NoExponents> {
    let (end, factors) = factors(problem, space, start, lasts, options)?;
    turns(&end, &factors)
}

/// Factors of the map of a period, first ones first, and the orthonormal columns at its end.
fn factors(
    problem: &Problem,
    space: &PhaseSpace,
    start: &Start,
    lasts: f64,
    options: &Options,
) -> Result<(Matrix, Vec<Matrix>), NoExponents> {
    let (mut at, until) = (start.clone(), start.t + lasts);
    let (mut part, shortest) = (lasts, lasts / CUT.powi(MOST));
    let mut columns = Matrix::unit(space.dimension());
    let mut factors = Vec::new();
    while at.t < until && columns.columns > 0 {
        let to = if at.t + 1.001 * part < until { at.t + part } else { until };
        let mut seed = space.unit();
        seed.truncate(columns.columns);
        for k in 0..columns.columns {
            seed.column_mut(k).fill(0.0);
            space.set_column(&mut seed, k, &columns.column(k));
        }
        let seeded = Options { end: f64::INFINITY, keep: Keep::NOTHING, ..options.clone() }.vary(seed);
        let mut sim = problem.resume(&at)?.engine(&seeded)?;
        advance(&mut sim, to)?;
        let Some(all) = sim.variation() else { break };
        let all = all.map_err(NoExponents::Obstacle)?;
        let moved: Vec<Vec<f64>> = (0..columns.columns).map(|k| space.column(&all, k)).collect();
        let (next, factor, least) = Matrix::of_columns(columns.rows, &moved).factored()?;
        if (least < SHORTER || next.columns < columns.columns) && part > shortest {
            part = (part / CUT).max(shortest);
            continue;
        }
        (columns, at) = (next, sim.finish().last().clone());
        // (The last instant of a run is its end, to rounding.)
        at.t = to;
        factors.push(factor);
        if least > LONGER {
            part *= 2.0;
        }
    }
    Ok((columns, factors))
}

/// Columns round and round through the factors.
fn turns(end: &Matrix, factors: &[Matrix]) -> Result<Option<Vec<Multiplier>>, NoExponents> {
    let mut columns = Matrix::unit(end.columns);
    for turn in 1..=TURNS {
        let before = columns.clone();
        let (mut triangles, mut rounding) = (Vec::new(), 0.0);
        let mut at = end.times(&columns);
        for factor in factors {
            let (unit, triangle, least) = factor.times(&at).factored()?;
            rounding += 1e-13 / least.max(1e-13);
            at = unit;
            triangles.push(triangle);
        }
        columns = at;
        let n = columns.columns;
        if n == 0 {
            return Ok(Some(Vec::new()));
        }
        if n < before.columns {
            // (Directions that a contact takes away in a later turn.)
            continue;
        }
        // One turn in the columns themselves: G Rₘ … R₁, where G says how they have turned.
        let mut turned = Matrix { rows: n, columns: n, entries: vec![0.0; n * n] };
        for i in 0..n {
            for j in 0..n {
                turned.entries[i * n + j] = dot(&before.column(i), &columns.column(j));
            }
        }
        let grown: Vec<f64> = (0..n).map(|j| triangles.iter().map(|r| r.at(j, j).ln()).sum()).collect();
        let is_cut = |j: usize| (j..n).all(|i| (0..j).all(|k| turned.at(i, k).abs() <= FOUND));
        let cuts: Vec<usize> = (0..=n).filter(|&j| j == 0 || j == n || is_cut(j)).collect();
        let is_narrow = |cut: &[usize]| {
            let logs = &grown[cut[0]..cut[1]];
            let (low, high) = logs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
            high - low <= APART.ln()
        };
        if turn < TURNS && !cuts.windows(2).all(is_narrow) {
            continue;
        }
        let mut found = Vec::with_capacity(n);
        for cut in cuts.windows(2) {
            let Some(some) = of_subspace(&turned, &triangles, cut[0], cut[1]) else { return Ok(None) };
            found.extend(some.into_iter().map(|(z, log)| Multiplier { z, log, rounding }));
        }
        found.sort_by(|a, b| b.log.total_cmp(&a.log));
        return Ok(Some(found));
    }
    Ok(None)
}

/// The multipliers of the columns from `first` to `end`, which span an invariant subspace beside those before them.
fn of_subspace(turned: &Matrix, triangles: &[Matrix], first: usize, end: usize) -> Option<Vec<((f64, f64), f64)>> {
    let n = end - first;
    let block = |m: &Matrix| Matrix {
        rows: n,
        columns: n,
        entries: (0..n * n).map(|k| m.at(first + k / n, first + k % n)).collect(),
    };
    let (mut product, mut log) = (Matrix::unit(n), 0.0);
    let triangles = triangles.iter().map(&block);
    for factor in triangles.chain(std::iter::once(block(turned))) {
        product = factor.times(&product);
        let size = product.largest();
        product.entries.iter_mut().for_each(|x| *x /= size);
        log += size.ln();
    }
    let scale = log.exp();
    let of = |z: (f64, f64)| ((z.0 * scale, z.1 * scale), z.0.hypot(z.1).ln() + log);
    Some(eigenvalues(n, &product.entries)?.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A product with multipliers that no matrix of the whole period could hold: a basis that is far from orthogonal, turned round.
    #[test]
    fn multipliers_far_apart_are_right_relative_to_themselves() {
        let logs = [0.3_f64, -2.0, -2.0, -40.0, -300.0, -900.0];
        let n = logs.len();
        let basis = Matrix {
            rows: n,
            columns: n,
            entries: (0..n * n).map(|k| 1.0 / (1.0 + (k / n) as f64 + 2.0 * (k % n) as f64).sqrt()).collect(),
        };
        // (Plus something on the diagonal, so that it is well conditioned.)
        let basis = Matrix {
            entries: basis.entries.iter().zip(&Matrix::unit(n).entries).map(|(a, b)| a + b).collect(),
            ..basis
        };
        let inverse = {
            let mut columns = Vec::new();
            for j in 0..n {
                let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
                let svd = crate::linalg::Svd::new(n, n, &basis.entries, 1e-14).expect("a matrix");
                columns.push(svd.least_norm(&unit));
            }
            Matrix::of_columns(n, &columns)
        };
        let parts = 600;
        let turn = std::f64::consts::TAU / 5.0 / f64::from(parts);
        let mut diagonal = Matrix::unit(n);
        for (i, log) in logs.iter().enumerate() {
            diagonal.entries[i * n + i] = (log / f64::from(parts)).exp();
        }
        let (r, s) = (diagonal.at(1, 1), 1);
        diagonal.entries[s * n + s] = r * turn.cos();
        diagonal.entries[(s + 1) * n + s + 1] = r * turn.cos();
        diagonal.entries[s * n + s + 1] = -r * turn.sin();
        diagonal.entries[(s + 1) * n + s] = r * turn.sin();
        let one = basis.times(&diagonal).times(&inverse);
        let mut columns = Matrix::unit(n);
        let mut factors = Vec::new();
        for _ in 0..parts {
            let (next, factor, _) = one.times(&columns).factored().expect("numbers");
            columns = next;
            factors.push(factor);
        }
        let found = turns(&columns, &factors).expect("numbers").expect("multipliers");
        for (m, log) in found.iter().zip(logs) {
            assert!((m.log - log).abs() < 1e-8, "{found:?}");
        }
        assert!(
            (found[1].z.1.abs() - (-2.0_f64).exp() * (std::f64::consts::TAU / 5.0).sin()).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn a_direction_that_is_taken_away_is_gone() {
        // A turn that takes one away, and in the next turn the other: (x, y) → (y, 0).
        let (unit, factor, _) =
            Matrix { rows: 2, columns: 2, entries: vec![0.0, 1.0, 0.0, 0.0] }.factored().expect("numbers");
        assert_eq!(factor.rows, 1);
        assert!(turns(&unit, &[factor]).is_ok_and(|found| found.is_some_and(|all| all.is_empty())));
    }
}
