//! Coordinates that are kept at every step, however few instants are stored of the others.

use super::Trajectory;

/// Some coordinates of a motion at every step of a time-stepping scheme.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    points: Vec<usize>,
    motion: Trajectory,
    row: [Vec<f64>; 3],
}

impl Followed {
    pub(crate) fn new(points: &[usize]) -> Self {
        let row = || vec![0.0; points.len()];
        Followed { points: points.to_vec(), motion: Trajectory::new(points.len()), row: [row(), row(), row()] }
    }

    /// Takes in a node: all coordinates, both limits of the velocity.
    pub(crate) fn note(&mut self, t: f64, q: &[f64], v_left: &[f64], v_right: &[f64]) {
        if self.points.is_empty() || self.motion.t.last().is_some_and(|last| *last >= t) {
            return;
        }
        let Followed { points, motion, row } = self;
        for (row, all) in row.iter_mut().zip([q, v_left, v_right]) {
            row.iter_mut().zip(points.iter()).for_each(|(x, &p)| *x = all[p]);
        }
        motion.push_jump(t, &row[0], &row[1], &row[2]);
    }

    /// The motion at every step, and which of its coordinates a point is; None where that was not followed.
    pub fn of(&self, point: usize) -> Option<(&Trajectory, usize)> {
        let k = self.points.iter().position(|&p| p == point)?;
        (!self.motion.is_empty()).then_some((&self.motion, k))
    }
}
