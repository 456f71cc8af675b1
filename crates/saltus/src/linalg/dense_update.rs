//! The product that a sparse factorisation spends its time in: rows of a panel times its first rows, A Bᵀ.

use multiversion::multiversion;

/// Rows and columns of a tile, and columns of the panel that are multiplied at once.
const TALL: usize = 8;
const WIDE: usize = 6;
const DEEP: usize = 256;

/// Buffers for products.
#[derive(Default)]
pub(super) struct Update {
    out: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Update {
    /// The first `m` rows of a panel of `depth` columns (stored by columns, `stride` apart) times its first `k` rows: m × k, stored by
    /// columns. Entries above the diagonal may be missing.
    pub fn product(&mut self, panel: &[f64], stride: usize, m: usize, k: usize, depth: usize) -> &[f64] {
        self.out.clear();
        self.out.resize(m * k, 0.0);
        if m * k * depth < 512 {
            for p in 0..depth {
                let column = &panel[p * stride..p * stride + m];
                for (j, out) in self.out.chunks_exact_mut(m).enumerate() {
                    let factor = column[j];
                    out[j..].iter_mut().zip(&column[j..]).for_each(|(x, a)| *x += a * factor);
                }
            }
            return &self.out;
        }
        let (tiles, strips) = (m.div_ceil(TALL), k.div_ceil(WIDE));
        self.left.resize(tiles * TALL * DEEP, 0.0);
        self.right.resize(strips * WIDE * DEEP, 0.0);
        for from in (0..depth).step_by(DEEP) {
            let deep = DEEP.min(depth - from);
            let columns = &panel[from * stride..];
            pack::<TALL>(columns, stride, m, deep, &mut self.left);
            pack::<WIDE>(columns, stride, k, deep, &mut self.right);
            tiled(&self.left, &self.right, deep, m, k, &mut self.out);
        }
        &self.out
    }
}

/// Strips of `N` rows, column after column; what is missing of the last strip is zero.
fn pack<const N: usize>(columns: &[f64], stride: usize, rows: usize, deep: usize, out: &mut [f64]) {
    for (strip, out) in out.chunks_exact_mut(N * deep).enumerate().take(rows.div_ceil(N)) {
        let (first, some) = (strip * N, N.min(rows - strip * N));
        for (p, out) in out.chunks_exact_mut(N).enumerate() {
            let source = &columns[p * stride + first..p * stride + first + some];
            out[..some].copy_from_slice(source);
            out[some..].fill(0.0);
        }
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2", "aarch64+neon"))]
fn tiled(left: &[f64], right: &[f64], deep: usize, m: usize, k: usize, out: &mut [f64]) {
    for (strip, b) in right.chunks_exact(WIDE * deep).enumerate().take(k.div_ceil(WIDE)) {
        let j = strip * WIDE;
        for (tile, a) in left.chunks_exact(TALL * deep).enumerate().take(m.div_ceil(TALL)) {
            let i = tile * TALL;
            // Above the diagonal.
            if i + TALL <= j {
                continue;
            }
            let mut sum = [[0.0_f64; TALL]; WIDE];
            let (a, b) = (a.as_chunks::<TALL>().0, b.as_chunks::<WIDE>().0);
            for p in 0..deep {
                let (a, b) = (&a[p], &b[p]);
                let mut c = 0;
                while c < WIDE {
                    let mut r = 0;
                    while r < TALL {
                        sum[c][r] += a[r] * b[c];
                        r += 1;
                    }
                    c += 1;
                }
            }
            let (tall, wide) = (TALL.min(m - i), WIDE.min(k - j));
            for (c, sum) in sum.iter().enumerate().take(wide) {
                let target = &mut out[(j + c) * m + i..(j + c) * m + i + tall];
                target.iter_mut().zip(sum).for_each(|(x, s)| *x += s);
            }
        }
    }
}
