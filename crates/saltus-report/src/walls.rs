//! Where gaps vanish: the points of a coordinate and the curves in the plane of two coordinates at which a constraint is touched.

use crate::contour::{Contour, Grid, contours, zero};
use saltus::problem::Gaps;
use saltus::{Model, Side, Trajectory};

/// A gap that depends on one or two coordinates only, and perhaps on time and first-order states.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// The index of the constraint.
    pub constraint: usize,
    /// The coordinates on which its gap depends, in order.
    pub coordinates: Vec<usize>,
    /// Whether its gap depends on time or on states.
    pub moves: bool,
}

/// The number of intervals in which a coordinate is searched for zeros.
const INTERVALS: usize = 1_000;
/// Constraints beyond this number are not looked at.
const MAX_CONSTRAINTS: usize = 60;

/// The walls of a model in the planes of its first `n` coordinates.
pub fn walls(model: &Model, n: usize) -> Vec<Wall> {
    let wall = |constraint: usize| {
        let depends = |on| model.graph.depends_on(model.constraints[constraint].gap, on);
        let coordinates: Vec<usize> = (0..model.coordinates.len()).filter(|&i| depends(model.q[i])).take(3).collect();
        let shown = matches!(coordinates.len(), 1 | 2) && coordinates.iter().all(|&i| i < n);
        shown.then(|| Wall { constraint, coordinates, moves: model.is_moving(constraint) })
    };
    (0..model.constraints.len().min(MAX_CONSTRAINTS)).filter_map(wall).collect()
}

/// Evaluates the gaps of a system at points that differ from a given one in one or two coordinates.
pub struct Walls<'a> {
    gaps: Gaps,
    motion: &'a Trajectory,
    q: Vec<f64>,
    v: Vec<f64>,
    /// The model.
    pub model: &'a Model,
}

impl<'a> Walls<'a> {
    /// Walls of a model with its gaps; other coordinates are those of its start, which the gaps asked for do not depend on, and states
    /// are those of the motion.
    pub fn new(model: &'a Model, gaps: Gaps, motion: &'a Trajectory) -> Self {
        Walls { gaps, motion, q: model.q0.clone(), v: model.v0.clone(), model }
    }

    /// Takes the states of the motion at a time over.
    fn enter(&mut self, t: f64) {
        if !self.model.states.is_empty()
            && let Some((_, v)) = self.motion.at(t, Side::Right)
        {
            self.v.copy_from_slice(&v);
        }
    }

    fn gap(&mut self, wall: &Wall, t: f64, plane: &[(usize, f64)]) -> f64 {
        plane.iter().for_each(|&(i, x)| self.q[i] = x);
        self.gaps.evaluate(t, &self.q, &self.v);
        self.gaps.values.get(wall.constraint).copied().unwrap_or(f64::NAN)
    }

    /// The zeros of a gap of one coordinate within a range.
    pub fn stops(&mut self, wall: &Wall, t: f64, (low, high): (f64, f64)) -> Vec<f64> {
        let &[i] = wall.coordinates.as_slice() else { return Vec::new() };
        self.enter(t);
        let x = |k: usize| low + (high - low) * k as f64 / INTERVALS as f64;
        let mut found = Vec::new();
        let mut before = self.gap(wall, t, &[(i, low)]);
        for k in 1..=INTERVALS {
            let here = self.gap(wall, t, &[(i, x(k))]);
            if let Some(s) = zero(before, here, |s| self.gap(wall, t, &[(i, x(k - 1) + s * (x(k) - x(k - 1)))])) {
                found.push(x(k - 1) + s * (x(k) - x(k - 1)));
            }
            before = here;
        }
        found
    }

    /// The curves on which a gap vanishes in the plane of two coordinates, with no more points than their shape needs.
    pub fn curves(&mut self, wall: &Wall, t: f64, (i, j): (usize, usize), grid: &Grid) -> Vec<Contour> {
        self.enter(t);
        let mut curves = contours(grid, &mut |x, y| self.gap(wall, t, &[(i, x), (j, y)]));
        curves.iter_mut().for_each(|c| c.simplify(grid.size()));
        curves
    }
}

#[cfg(test)]
mod state_tests {
    use super::*;
    use saltus::model::Builder;
    use saltus::{Options, System};

    #[test]
    fn a_wall_is_where_the_states_of_the_motion_put_it() {
        // z = 1 − exp(−t).
        let ball = Builder::new("ball").coordinate("x", 3.0, 0.0).kinetic("x'^2/2").potential("x").restitution(0.5);
        let problem = ball.state("z", 0.0, "1 - z").constraint("table", "x - z").build().expect("a model");
        let problem = problem.problem().expect("a problem");
        let run = problem.run(&Options::events(4.0)).expect("a run");
        let (model, all) = (System::model(&problem), walls(System::model(&problem), 1));
        assert!(all.len() == 1 && all[0].moves);
        let mut found = Walls::new(model, System::gaps(&problem), &run.trajectory);
        for t in [0.0, 0.7, 2.0, 4.0] {
            let at = found.stops(&all[0], t, (-0.5, 2.0));
            assert!(at.len() == 1 && (at[0] - (1.0 - (-t).exp())).abs() < 1e-6, "t = {t}: {at:?}");
        }
    }
}
