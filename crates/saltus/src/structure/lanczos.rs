//! Block Lanczos with full orthogonalisation in the metric of M (Grimes, Lewis & Simon 1994, SIAM J. Matrix Anal. Appl. 15, 228): the
//! largest eigenvalues of K⁻¹M, four vectors at a time. What is projected is Qᵀ M K⁻¹ M Q: no product with K, whose entries cancel where
//! a mesh is fine.

use crate::linalg::{Block, Dice, FOUR, Symmetric, add, dot, eigen, inners, subtract};

/// Residuals are at most this part of the eigenvalue, or this part of the largest.
const RESIDUAL: f64 = 1e-10;
const ROUNDING: f64 = 1e-14;

type Square = [[f64; FOUR]; FOUR];

/// Eigenvalues θ, the largest first, and their vectors with xᵀ M x = 1.
pub(super) struct Ritz {
    pub values: Vec<f64>,
    pub vectors: Vec<Vec<f64>>,
}

/// The `count` largest eigenvalues of an operator that is symmetric in the metric of M; `solve` applies K⁻¹ to four vectors.
///
/// A space that grows from four vectors has at most four of the vectors of one eigenvalue (of equal tubes there may be more): where there
/// are as many, the rest is searched for outside of what was found, until nothing that belongs to it turns up.
pub(super) fn largest(mass: &Symmetric, count: usize, mut solve: impl FnMut(&mut Block)) -> Ritz {
    let n = mass.dimension();
    let mut found = outside(mass, count, &mut solve, &[], 7);
    for seed in 8..8 + count as u64 {
        let four = found.values.windows(FOUR).any(|v| v[0] - v[FOUR - 1] <= 1e-6 * v[0]);
        let more = (count / 4).max(8).min(n.saturating_sub(found.values.len() + 2 * FOUR));
        if !four || more == 0 {
            break;
        }
        let known: Vec<Block> = found.vectors.chunks(FOUR).map(|four| block(n, four)).collect();
        let others = outside(mass, more, &mut solve, &known, seed);
        let least = found.values.last().copied().unwrap_or(0.0);
        let before = found.values.len();
        for (value, vector) in others.values.into_iter().zip(others.vectors).filter(|(v, _)| *v > (1.0 + 1e-9) * least)
        {
            let at = found.values.partition_point(|v| *v >= value);
            found.values.insert(at, value);
            found.vectors.insert(at, vector);
        }
        let is_complete = found.values.len() == before;
        found.values.truncate(count);
        found.vectors.truncate(count);
        if is_complete {
            break;
        }
    }
    found
}

/// Up to four vectors side by side.
fn block(n: usize, vectors: &[Vec<f64>]) -> Block {
    (0..n).map(|i| std::array::from_fn(|r| vectors.get(r).map_or(0.0, |x| x[i]))).collect()
}

/// The largest eigenvalues with vectors outside of some that are known.
fn outside(mass: &Symmetric, count: usize, solve: &mut impl FnMut(&mut Block), known: &[Block], seed: u64) -> Ritz {
    let n = mass.dimension();
    let mut dice = Dice::new(seed);
    let random = (0..n).map(|_| std::array::from_fn(|_| dice.between(-0.5, 0.5))).collect();
    let mut basis = Basis { mass, q: known.to_vec(), known: known.len(), image: vec![[0.0; FOUR]; n], dice };
    let mut random: Block = random;
    basis.project_out(&mut random);
    let (first, _) = basis.orthonormal(random);
    basis.q.push(first);
    // The projected operator by columns of blocks, and what stands below the last.
    let (mut columns, mut below): (Vec<Vec<Square>>, Vec<Square>) = (Vec::new(), Vec::new());
    let mut look = 2 * count;
    loop {
        let mut w = vec![[0.0; FOUR]; n];
        mass.multiply_block(&basis.q[basis.q.len() - 1], &mut w);
        solve(&mut w);
        columns.push(basis.project_out(&mut w).split_off(basis.known));
        let (next, beside) = basis.orthonormal(w);
        below.push(beside);
        let size = FOUR * (basis.q.len() - basis.known);
        let is_full = size + FOUR * (basis.known + 1) > n || size > 12 * count + 400;
        if size >= look || is_full {
            look = size + (size / 8).max(FOUR);
            let mut pairs = eigen(size, &projected(size, &columns, &below));
            pairs.reverse();
            let largest = pairs.first().map_or(0.0, |p| p.0);
            let converged = |(value, z): &(f64, Vec<f64>)| {
                let last = &z[size - FOUR..];
                let left = beside.iter().map(|row| dot(row, last).powi(2)).sum::<f64>().sqrt();
                left <= RESIDUAL * value + ROUNDING * largest
            };
            if is_full || (pairs.len() >= count && pairs.iter().take(count).all(converged)) {
                pairs.truncate(count);
                let vectors = pairs.iter().map(|(_, z)| basis.combined(z)).collect();
                return Ritz { values: pairs.iter().map(|p| p.0).collect(), vectors };
            }
        }
        basis.q.push(next);
    }
}

/// The matrix by rows, made symmetric by [`eigen`].
fn projected(size: usize, columns: &[Vec<Square>], below: &[Square]) -> Vec<f64> {
    let mut h = vec![0.0; size * size];
    for (j, column) in columns.iter().enumerate() {
        let blocks = column.iter().enumerate().chain((j + 1 < columns.len()).then(|| (j + 1, &below[j])));
        for (i, block) in blocks {
            for (s, row) in block.iter().enumerate() {
                for (r, x) in row.iter().enumerate() {
                    h[(FOUR * i + s) * size + FOUR * j + r] = *x;
                }
            }
        }
    }
    // Of blocks far above the diagonal only rounding is left, and nothing stands below: both halves count alike.
    for a in 0..size {
        for b in 0..a {
            if a / FOUR > b / FOUR + 1 {
                h[a * size + b] = h[b * size + a];
            }
        }
    }
    h
}

/// Blocks of vectors with Qᵀ M Q = 1.
struct Basis<'a> {
    mass: &'a Symmetric,
    q: Vec<Block>,
    /// How many of them were known before.
    known: usize,
    /// A buffer.
    image: Block,
    dice: Dice,
}

impl Basis<'_> {
    /// Takes out of four vectors what lies in the space so far, twice (twice is enough: Parlett), and gives what that was.
    fn project_out(&mut self, w: &mut Block) -> Vec<Square> {
        let mut taken = vec![[[0.0; FOUR]; FOUR]; self.q.len()];
        for _ in 0..2 {
            self.mass.multiply_block(w, &mut self.image);
            let parts = inners(&self.q, &self.image);
            subtract(w, &self.q, &parts);
            for (sum, part) in taken.iter_mut().flatten().flatten().zip(parts.iter().flatten().flatten()) {
                *sum += part;
            }
        }
        taken
    }

    /// Orthonormal vectors N, outside the space so far, and R with W = N R; random vectors where nothing new is left.
    fn orthonormal(&mut self, w: Block) -> (Block, Square) {
        let n = w.len();
        let mut r = [[0.0; FOUR]; FOUR];
        let mut w = w;
        let mut image = vec![0.0; n];
        for round in 0.. {
            let mut made: Vec<Vec<f64>> = Vec::with_capacity(FOUR);
            let mut is_poor = false;
            for c in 0..FOUR {
                let mut x: Vec<f64> = w.iter().map(|w| w[c]).collect();
                self.mass.multiply(&x, &mut image);
                let before = dot(&x, &image).sqrt();
                for _ in 0..2 {
                    for (s, other) in made.iter().enumerate() {
                        self.mass.multiply(other, &mut image);
                        let part = dot(&image, &x);
                        add(&mut x, -part, other);
                        if round == 0 {
                            r[s][c] += part;
                        }
                    }
                }
                self.mass.multiply(&x, &mut image);
                let mut length = dot(&x, &image).sqrt();
                let is_new = length > 1e-10 * before && length.is_finite() && length > 0.0;
                is_poor |= !is_new || length < 1e-2 * before;
                if is_new && round == 0 {
                    r[c][c] = length;
                } else if !is_new {
                    x.iter_mut().for_each(|x| *x = self.dice.between(-0.5, 0.5));
                    self.mass.multiply(&x, &mut image);
                    length = dot(&x, &image).sqrt();
                }
                x.iter_mut().for_each(|x| *x /= length);
                made.push(x);
            }
            w = (0..n).map(|i| std::array::from_fn(|c| made[c][i])).collect();
            // What little was left may not be outside the space any more: once more, now that it has length one.
            if !is_poor || round == 8 {
                break;
            }
            self.project_out(&mut w);
        }
        (w, r)
    }

    /// Σ z q.
    fn combined(&self, z: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.image.len()];
        for (q, z) in self.q[self.known..].iter().zip(z.chunks_exact(FOUR)) {
            x.iter_mut().zip(q).for_each(|(x, q)| *x += dot(q, z));
        }
        x
    }
}
