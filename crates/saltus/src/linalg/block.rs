//! Four vectors side by side, entry by entry: what is read of a matrix serves all four.

use multiversion::multiversion;

/// How many.
pub const FOUR: usize = 4;

/// Four vectors: entry i of each in `block[i]`.
pub type Block = Vec<[f64; FOUR]>;

/// Rows that are worked on at once, while they are near.
const NEAR: usize = 512;

/// Aᵀ B of many blocks A with one, in one passage over the rows: entries [a][b].
pub fn inners(a: &[Block], b: &[[f64; FOUR]]) -> Vec<[[f64; FOUR]; FOUR]> {
    let mut sums = vec![[[0.0; FOUR]; FOUR]; a.len()];
    for (k, b) in b.chunks(NEAR).enumerate() {
        for (a, sum) in a.iter().zip(&mut sums) {
            add_inner(&a[k * NEAR..k * NEAR + b.len()], b, sum);
        }
    }
    sums
}

/// X −= Σ A C over many blocks A.
pub fn subtract(x: &mut [[f64; FOUR]], a: &[Block], c: &[[[f64; FOUR]; FOUR]]) {
    for (k, x) in x.chunks_mut(NEAR).enumerate() {
        for (a, c) in a.iter().zip(c) {
            subtract_product(x, &a[k * NEAR..k * NEAR + x.len()], c);
        }
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn add_inner(a: &[[f64; FOUR]], b: &[[f64; FOUR]], sum: &mut [[f64; FOUR]; FOUR]) {
    let [mut s0, mut s1, mut s2, mut s3] = *sum;
    for (a, b) in a.iter().zip(b) {
        for r in 0..FOUR {
            s0[r] += a[0] * b[r];
            s1[r] += a[1] * b[r];
            s2[r] += a[2] * b[r];
            s3[r] += a[3] * b[r];
        }
    }
    *sum = [s0, s1, s2, s3];
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn subtract_product(x: &mut [[f64; FOUR]], a: &[[f64; FOUR]], c: &[[f64; FOUR]; FOUR]) {
    let [c0, c1, c2, c3] = *c;
    for (x, a) in x.iter_mut().zip(a) {
        for r in 0..FOUR {
            x[r] -= (a[0] * c0[r] + a[1] * c1[r]) + (a[2] * c2[r] + a[3] * c3[r]);
        }
    }
}

/// Does something to each of the four vectors by itself; `column` is a buffer.
pub fn each_column(x: &mut [[f64; FOUR]], column: &mut Vec<f64>, act: impl Fn(&mut [f64])) {
    for r in 0..FOUR {
        column.clear();
        column.extend(x.iter().map(|x| x[r]));
        act(column);
        x.iter_mut().zip(column.iter()).for_each(|(x, c)| x[r] = *c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_columns() {
        let block = |seed: usize| -> Block {
            (0..700).map(|i| std::array::from_fn(|r| ((i * 7 + r * 13 + seed) % 11) as f64 - 5.0)).collect()
        };
        let (a, b, x) = (block(1), block(2), block(3));
        let by_hand = |s: usize, r: usize, b: &Block| (0..700).map(|i| b[i][s] * x[i][r]).sum::<f64>();
        let blocks = [a, b];
        let sums = inners(&blocks, &x);
        for (k, block) in blocks.iter().enumerate() {
            for (s, r) in (0..16).map(|k| (k / 4, k % 4)) {
                assert_eq!(sums[k][s][r], by_hand(s, r, block));
            }
        }
        let mut y = x.clone();
        subtract(&mut y, &blocks, &sums);
        for i in [0, 511, 512, 699] {
            for r in 0..4 {
                let taken: f64 = (0..8).map(|k| blocks[k / 4][i][k % 4] * sums[k / 4][k % 4][r]).sum();
                assert_eq!(y[i][r], x[i][r] - taken);
            }
        }
    }
}
