//! Sparse Cholesky factors of meshes in two and three dimensions: supernodes, left-looking (Ng & Peyton 1993, SIAM J. Sci. Comput. 14,
//! 1034), with dense kernels. The order of rows is the caller's: [`fill_reducing`](super::fill_reducing) gives a good one.

use super::dense_update::Update;
use super::wait::Wait;
use super::{FOUR, NotPositiveDefinite, Symmetric};

const NONE: usize = usize::MAX;

/// Columns of a panel that are factored together.
const BLOCK: usize = 32;

/// Columns of supernodes are merged up to this width, however many zeros that stores.
const NARROW: usize = 8;

/// A = L Lᵀ by supernodes: columns with one pattern below them, stored as dense panels.
#[derive(Clone, Debug)]
pub struct Supernodal {
    /// The first column of each supernode; one more for the end.
    firsts: Vec<usize>,
    /// The rows of each panel, its own columns first, and where they and their values begin.
    rows: Vec<u32>,
    row_starts: Vec<usize>,
    value_starts: Vec<usize>,
    values: Vec<f64>,
    inverse: Vec<f64>,
}

/// The elimination tree of a matrix: the parent of each column (Liu 1990, SIAM J. Matrix Anal. Appl. 11, 134).
pub(super) fn elimination_tree(matrix: &Symmetric) -> Vec<usize> {
    let n = matrix.dimension();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for i in 0..n {
        for (j, _) in matrix.row(i).take_while(|(j, _)| *j < i) {
            let mut k = j;
            while ancestor[k] != NONE && ancestor[k] != i {
                k = std::mem::replace(&mut ancestor[k], i);
            }
            if ancestor[k] == NONE {
                (ancestor[k], parent[k]) = (i, i);
            }
        }
    }
    parent
}

/// The number of entries in each column of L, the diagonal included; None where they are more than `most` in all.
pub(super) fn column_counts(matrix: &Symmetric, parent: &[usize], most: f64) -> Option<Vec<usize>> {
    let n = matrix.dimension();
    let (mut counts, mut mark) = (vec![1; n], vec![NONE; n]);
    let mut total = n;
    for i in 0..n {
        mark[i] = i;
        for (j, _) in matrix.row(i).take_while(|(j, _)| *j < i) {
            let mut k = j;
            while k != NONE && mark[k] != i {
                counts[k] += 1;
                total += 1;
                mark[k] = i;
                k = parent[k];
            }
        }
        if total as f64 > most {
            return None;
        }
    }
    Some(counts)
}

impl Supernodal {
    /// Factors a matrix in the order of its rows; None where L would have more than `most` entries.
    pub fn new(matrix: &Symmetric, most: f64) -> Option<Result<Self, NotPositiveDefinite>> {
        let parent = elimination_tree(matrix);
        let counts = column_counts(matrix, &parent, most)?;
        Some(Self::analysed(matrix, &parent, &counts).factored(matrix))
    }

    /// Supernodes and their rows.
    fn analysed(matrix: &Symmetric, parent: &[usize], counts: &[usize]) -> Self {
        let n = matrix.dimension();
        let mut firsts: Vec<usize> = Vec::new();
        for j in 0..n {
            let Some(&first) = firsts.last() else {
                firsts.push(0);
                continue;
            };
            let width = j - first;
            // Columns j − 1 and j have one pattern, or nearly: the zeros that a merged panel would store are few.
            let zeros = (counts[j] + 1).saturating_sub(counts[j - 1]);
            let is_chain = parent[j - 1] == j;
            let few = zeros == 0 || width < NARROW || 12 * zeros < counts[j];
            if !(is_chain && few) {
                firsts.push(j);
            }
        }
        firsts.push(n);
        let count = firsts.len() - 1;
        let mut of = vec![0; n];
        for s in 0..count {
            of[firsts[s]..firsts[s + 1]].fill(s);
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        let (mut rows, mut row_starts, mut value_starts) = (Vec::<u32>::new(), vec![0], vec![0]);
        let mut mark = vec![NONE; n];
        for s in 0..count {
            let (first, end, start) = (firsts[s], firsts[s + 1], rows.len());
            rows.extend(first as u32..end as u32);
            let below = rows.len();
            for c in first..end {
                for (i, _) in matrix.row(c).filter(|(i, _)| *i >= end) {
                    if mark[i] != s {
                        mark[i] = s;
                        rows.push(i as u32);
                    }
                }
            }
            for child in std::mem::take(&mut children[s]) {
                for k in row_starts[child]..row_starts[child + 1] {
                    let i = rows[k] as usize;
                    if i >= end && mark[i] != s {
                        mark[i] = s;
                        rows.push(i as u32);
                    }
                }
            }
            rows[below..].sort_unstable();
            if let Some(&next) = rows.get(below) {
                children[of[next as usize]].push(s);
            }
            row_starts.push(rows.len());
            value_starts.push(value_starts[s] + (rows.len() - start) * (end - first));
        }
        let values = vec![0.0; value_starts[count]];
        Supernodal { firsts, rows, row_starts, value_starts, values, inverse: vec![0.0; n] }
    }

    fn panel_rows(&self, s: usize) -> &[u32] {
        &self.rows[self.row_starts[s]..self.row_starts[s + 1]]
    }

    fn factored(mut self, matrix: &Symmetric) -> Result<Self, NotPositiveDefinite> {
        let (n, count) = (matrix.dimension(), self.firsts.len() - 1);
        let mut of = vec![0; n];
        for s in 0..count {
            of[self.firsts[s]..self.firsts[s + 1]].fill(s);
        }
        // Lists of supernodes whose next rows lie in a supernode, and how far each has got.
        let (mut head, mut link, mut at) = (vec![NONE; count], vec![NONE; count], vec![0; count]);
        let mut place = vec![0; n];
        let mut update = Update::default();
        let work = |s: usize| {
            let height = (self.row_starts[s + 1] - self.row_starts[s]) as f64;
            height * height * (self.firsts[s + 1] - self.firsts[s]) as f64
        };
        let works: Vec<f64> = (0..count).map(work).collect();
        let mut wait = Wait::new(works.iter().sum(), 8.0 * self.values.len() as f64);
        for s in 0..count {
            wait.did(works[s]);
            let (first, end) = (self.firsts[s], self.firsts[s + 1]);
            let (done, rest) = self.values.split_at_mut(self.value_starts[s]);
            let rows = &self.rows[self.row_starts[s]..self.row_starts[s + 1]];
            let (height, width) = (rows.len(), end - first);
            let panel = &mut rest[..height * width];
            rows.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k);
            for c in first..end {
                for (i, x) in matrix.row(c).filter(|(i, _)| *i >= c) {
                    panel[place[i] + (c - first) * height] += x;
                }
            }
            let mut d = head[s];
            while d != NONE {
                let next = link[d];
                let theirs = &self.rows[self.row_starts[d]..self.row_starts[d + 1]];
                let (from, tall) = (at[d], theirs.len());
                let to = from + theirs[from..].partition_point(|&i| (i as usize) < end);
                let source = &done[self.value_starts[d]..self.value_starts[d + 1]];
                let wide = self.firsts[d + 1] - self.firsts[d];
                let (m, k) = (tall - from, to - from);
                let product = update.product(&source[from..], tall, m, k, wide);
                for (j, column) in product.chunks_exact(m).enumerate().take(k) {
                    let target = &mut panel[(theirs[from + j] as usize - first) * height..][..height];
                    for (x, &i) in column[j..].iter().zip(&theirs[from + j..]) {
                        target[place[i as usize]] -= x;
                    }
                }
                at[d] = to;
                if to < tall {
                    let t = of[theirs[to] as usize];
                    (link[d], head[t]) = (head[t], d);
                }
                d = next;
            }
            factor_panel(panel, height, width, &mut update)
                .map_err(|column| NotPositiveDefinite { pivot: first + column })?;
            for c in 0..width {
                let root = panel[c + c * height];
                self.inverse[first + c] = 1.0 / (root * root);
            }
            if height > width {
                at[s] = width;
                let t = of[rows[width] as usize];
                (link[s], head[t]) = (head[t], s);
            }
        }
        wait.end();
        Ok(self)
    }

    /// The entries of D⁻¹ of A = L D Lᵀ.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// Stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let count = self.firsts.len() - 1;
        for s in 0..count {
            let (rows, first, width) = (self.panel_rows(s), self.firsts[s], self.firsts[s + 1] - self.firsts[s]);
            let (height, panel) = (rows.len(), &self.values[self.value_starts[s]..self.value_starts[s + 1]]);
            let (own, later) = x.split_at_mut(first + width);
            let own = &mut own[first..];
            for c in 0..width {
                let column = &panel[c * height..(c + 1) * height];
                own[c] /= column[c];
                let value = own[c];
                own[c + 1..].iter_mut().zip(&column[c + 1..width]).for_each(|(x, l)| *x -= l * value);
            }
            forward(panel, height, width, own, &rows[width..], first + width, later);
        }
        for s in (0..count).rev() {
            let (rows, first, width) = (self.panel_rows(s), self.firsts[s], self.firsts[s + 1] - self.firsts[s]);
            let (height, panel) = (rows.len(), &self.values[self.value_starts[s]..self.value_starts[s + 1]]);
            let (own, later) = x.split_at_mut(first + width);
            let own = &mut own[first..];
            backward(panel, height, width, own, &rows[width..], first + width, later);
            for c in (0..width).rev() {
                let column = &panel[c * height..(c + 1) * height];
                let sum: f64 = column[c + 1..width].iter().zip(&own[c + 1..]).map(|(l, x)| l * x).sum();
                own[c] = (own[c] - sum) / column[c];
            }
        }
    }
}

impl Supernodal {
    /// x = A⁻¹ x of four vectors: the panels are read once for all of them.
    pub fn solve_block(&self, x: &mut [[f64; FOUR]]) {
        let count = self.firsts.len() - 1;
        for s in 0..count {
            let (rows, first, width) = (self.panel_rows(s), self.firsts[s], self.firsts[s + 1] - self.firsts[s]);
            let (height, panel) = (rows.len(), &self.values[self.value_starts[s]..self.value_starts[s + 1]]);
            let (own, later) = x.split_at_mut(first + width);
            let own = &mut own[first..];
            for c in 0..width {
                let column = &panel[c * height..(c + 1) * height];
                own[c].iter_mut().for_each(|x| *x /= column[c]);
                let value = own[c];
                for (x, l) in own[c + 1..].iter_mut().zip(&column[c + 1..width]) {
                    (0..FOUR).for_each(|r| x[r] -= l * value[r]);
                }
                for (&i, l) in rows[width..].iter().zip(&column[width..]) {
                    let x = &mut later[i as usize - first - width];
                    (0..FOUR).for_each(|r| x[r] -= l * value[r]);
                }
            }
        }
        for s in (0..count).rev() {
            let (rows, first, width) = (self.panel_rows(s), self.firsts[s], self.firsts[s + 1] - self.firsts[s]);
            let (height, panel) = (rows.len(), &self.values[self.value_starts[s]..self.value_starts[s + 1]]);
            let (own, later) = x.split_at_mut(first + width);
            let own = &mut own[first..];
            for c in (0..width).rev() {
                let column = &panel[c * height..(c + 1) * height];
                let mut sum = [0.0; FOUR];
                for (&i, l) in rows[width..].iter().zip(&column[width..]) {
                    let x = &later[i as usize - first - width];
                    (0..FOUR).for_each(|r| sum[r] += l * x[r]);
                }
                for (l, x) in column[c + 1..width].iter().zip(&own[c + 1..]) {
                    (0..FOUR).for_each(|r| sum[r] += l * x[r]);
                }
                (0..FOUR).for_each(|r| own[c][r] = (own[c][r] - sum[r]) / column[c]);
            }
        }
    }
}

/// What the columns of a panel, four at a time, take from the rows below.
fn forward(panel: &[f64], height: usize, width: usize, own: &[f64], below: &[u32], offset: usize, later: &mut [f64]) {
    let mut c = 0;
    while c + 4 <= width {
        let column = |k: usize| &panel[(c + k) * height + width..(c + k + 1) * height];
        let (a, b, d, e) = (column(0), column(1), column(2), column(3));
        let (xa, xb, xd, xe) = (own[c], own[c + 1], own[c + 2], own[c + 3]);
        for (k, &i) in below.iter().enumerate() {
            later[i as usize - offset] -= (a[k] * xa + b[k] * xb) + (d[k] * xd + e[k] * xe);
        }
        c += 4;
    }
    for c in c..width {
        let (column, x) = (&panel[c * height + width..(c + 1) * height], own[c]);
        below.iter().zip(column).for_each(|(&i, l)| later[i as usize - offset] -= l * x);
    }
}

/// What the rows below a panel take from its columns, four at a time.
fn backward(panel: &[f64], height: usize, width: usize, own: &mut [f64], below: &[u32], offset: usize, later: &[f64]) {
    let mut c = 0;
    while c + 4 <= width {
        let column = |k: usize| &panel[(c + k) * height + width..(c + k + 1) * height];
        let (a, b, d, e) = (column(0), column(1), column(2), column(3));
        let mut sums = [0.0; 4];
        for (k, &i) in below.iter().enumerate() {
            let x = later[i as usize - offset];
            sums[0] += a[k] * x;
            sums[1] += b[k] * x;
            sums[2] += d[k] * x;
            sums[3] += e[k] * x;
        }
        own[c..c + 4].iter_mut().zip(sums).for_each(|(x, sum)| *x -= sum);
        c += 4;
    }
    for c in c..width {
        let column = &panel[c * height + width..(c + 1) * height];
        own[c] -= below.iter().zip(column).map(|(&i, l)| l * later[i as usize - offset]).sum::<f64>();
    }
}

/// The Cholesky factor of a panel: its own columns on top. An error is the column whose pivot is not positive.
fn factor_panel(panel: &mut [f64], height: usize, width: usize, update: &mut Update) -> Result<(), usize> {
    for from in (0..width).step_by(BLOCK) {
        let to = (from + BLOCK).min(width);
        if from > 0 {
            // All columns before, on this block.
            let (before, block) = panel.split_at_mut(from * height);
            let m = height - from;
            let product = update.product(&before[from..], height, m, to - from, from);
            for (j, column) in product.chunks_exact(m).enumerate().take(to - from) {
                let target = &mut block[j * height + from + j..(j + 1) * height];
                target.iter_mut().zip(&column[j..]).for_each(|(x, u)| *x -= u);
            }
        }
        for c in from..to {
            let (before, rest) = panel.split_at_mut(c * height);
            let column = &mut rest[c..height];
            for p in from..c {
                let source = &before[p * height + c..(p + 1) * height];
                let factor = source[0];
                column.iter_mut().zip(source).for_each(|(x, l)| *x -= l * factor);
            }
            let pivot = column[0];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(c);
            }
            let root = pivot.sqrt();
            let inverse = 1.0 / root;
            column.iter_mut().for_each(|x| *x *= inverse);
            column[0] = root;
        }
    }
    Ok(())
}
