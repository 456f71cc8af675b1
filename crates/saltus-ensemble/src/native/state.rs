//! The numbers of many trajectories: rows, each with one number per trajectory, one after the other.

use super::library::flat;
use saltus_expr::Lane;

/// Rows of numbers, aligned for vector registers.
#[derive(Clone, Debug)]
pub struct State {
    /// How many trajectories there are.
    pub width: usize,
    rows: usize,
    data: Vec<Lane<8>>,
}

impl State {
    pub fn new(rows: usize, width: usize) -> Self {
        State { width, rows, data: vec![Lane::all(0.0); (rows * width).div_ceil(8)] }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.rows * self.width
    }

    #[inline]
    pub fn get(&self, row: usize, l: usize) -> f64 {
        let at = row * self.width + l;
        self.data[at / 8].0[at % 8]
    }

    #[inline]
    pub fn set(&mut self, row: usize, l: usize, value: f64) {
        let at = row * self.width + l;
        self.data[at / 8].0[at % 8] = value;
    }

    /// All numbers of a trajectory become zero.
    pub fn clear(&mut self, l: usize) {
        (0..self.rows).for_each(|row| self.set(row, l, 0.0));
    }

    /// All of them, row by row.
    pub fn numbers(&mut self) -> &mut [f64] {
        let length = self.len();
        &mut flat(&mut self.data)[..length]
    }
}
