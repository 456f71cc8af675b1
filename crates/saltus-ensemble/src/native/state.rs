//! The numbers of many trajectories.

use super::library::{flat, flat_mut};
use saltus_expr::Lane;

/// Rows of numbers, one number per trajectory in each, aligned for vector registers.
#[derive(Clone, Debug)]
pub struct State {
    /// How many trajectories there is room for, and how many are in use: where one comes after the other, the others are left out.
    pub width: usize,
    pub used: usize,
    rows: usize,
    /// How far apart the numbers of a row are, and those of a trajectory.
    strides: (usize, usize),
    data: Vec<Lane<8>>,
}

impl State {
    fn new(rows: usize, width: usize, strides: (usize, usize)) -> Self {
        State { width, used: width, rows, strides, data: vec![Lane::all(0.0); (rows * width).div_ceil(8)] }
    }

    /// One row after the other.
    pub fn by_rows(rows: usize, width: usize) -> Self {
        Self::new(rows, width, (1, width))
    }

    /// One trajectory after the other.
    pub fn by_trajectories(rows: usize, width: usize) -> Self {
        Self::new(rows, width, (rows, 1))
    }

    #[inline]
    fn at(&self, row: usize, l: usize) -> usize {
        row * self.strides.1 + l * self.strides.0
    }

    #[inline]
    pub fn get(&self, row: usize, l: usize) -> f64 {
        flat(&self.data)[self.at(row, l)]
    }

    #[inline]
    pub fn set(&mut self, row: usize, l: usize, value: f64) {
        let at = self.at(row, l);
        flat_mut(&mut self.data)[at] = value;
    }

    /// Zeros for a trajectory, but for one row.
    pub fn clear(&mut self, l: usize, but: usize) {
        let kept = self.get(but, l);
        let (rows, first, stride) = (self.rows, self.at(0, l), self.strides.1);
        let numbers = &mut flat_mut(&mut self.data)[first..=first + (rows - 1) * stride];
        match stride {
            // (One piece of memory is faster than many.)
            1 => numbers.fill(0.0),
            _ => numbers.iter_mut().step_by(stride).for_each(|number| *number = 0.0),
        }
        self.set(but, l, kept);
    }

    /// All of them, or those in use.
    pub fn numbers(&mut self) -> &mut [f64] {
        let length = self.rows * if self.strides.1 == 1 { self.used } else { self.width };
        &mut flat_mut(&mut self.data)[..length]
    }
}
