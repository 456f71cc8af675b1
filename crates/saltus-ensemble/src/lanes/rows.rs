//! Sparse rows of coefficients, one number for each lane; which coefficients are zero is the same in all lanes.

use super::linear::Row;
use saltus_expr::Lane;

#[derive(Debug)]
pub struct Rows<const W: usize> {
    rows: Vec<Vec<(usize, Lane<W>)>>,
}

impl<const W: usize> Rows<W> {
    /// Rows with coefficients where the patterns are not zero.
    pub fn new(patterns: impl Iterator<Item = Row>) -> Self {
        let row = |pattern: Row| {
            let columns = (0..pattern.len()).filter(|&j| pattern[j] != 0.0);
            columns.map(|j| (j, Lane::all(0.0))).collect()
        };
        Rows { rows: patterns.map(row).collect() }
    }

    /// Row k of lane l; whether all of it are numbers.
    pub fn put(&mut self, k: usize, l: usize, row: &Row) -> bool {
        for (j, value) in &mut self.rows[k] {
            value.0[l] = row[*j];
        }
        row.iter().all(|x| x.is_finite())
    }

    /// Row k times z.
    #[inline(always)]
    pub fn product(&self, k: usize, z: &[Lane<W>]) -> Lane<W> {
        let mut sum = Lane::all(0.0);
        for (j, c) in &self.rows[k] {
            let z = &z[*j];
            for l in 0..W {
                sum[l] += c[l] * z[l];
            }
        }
        sum
    }

    /// The sizes of its terms, added up.
    #[inline(always)]
    pub fn size(&self, k: usize, z: &[Lane<W>]) -> Lane<W> {
        let mut sum = Lane::all(0.0);
        for (j, c) in &self.rows[k] {
            let z = &z[*j];
            for l in 0..W {
                sum[l] += (c[l] * z[l]).abs();
            }
        }
        sum
    }
}
