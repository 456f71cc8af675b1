//! Contact statics of stops that are not linear: Hertz' law and round holes.
//!
//! Seen through the compliance G of the rows of all stops, each stop is a convex energy φ of its own displacement x: x = x_f + G p and
//! p = −∇φ(x), a problem with one solution. One stop after the other is solved exactly with the others held (Gauss and Seidel, which
//! finds out who acts), and Newton's method on those that act makes an end of it, in turns.

use super::Linear;
use super::hole::length;
use super::stop_law::{Spring, StopLaw};
use crate::SetupError;
use crate::linalg::{Factor, Lu, Rows};

/// Turns, and sweeps in each.
const TURNS: usize = 200;
const SWEEPS: usize = 20;

/// A stop at rest.
struct Seat {
    /// Its first row; a hole has the next one, too.
    row: usize,
    spring: Option<Spring>,
    /// The massless end of its spring, and w/k.
    end: Option<(usize, f64)>,
    /// The radius of a hole.
    radius: Option<f64>,
}

/// The stops of a system, seen through a factor of its stiffness.
pub(super) struct Seats<'a> {
    linear: &'a Linear,
    list: Vec<Seat>,
    rows: Rows,
    columns: Vec<Vec<f64>>,
    gram: Vec<f64>,
}

/// Displacements without the stops, and what the stops do: forces on the rows.
struct Forces {
    free: Vec<f64>,
    p: Vec<f64>,
}

impl<'a> Seats<'a> {
    /// Whether any stop needs this.
    pub fn are_needed(laws: &[StopLaw]) -> bool {
        laws.iter().any(|law| law.is_hertz || law.hole.is_some())
    }

    pub fn new(linear: &'a Linear, laws: &[StopLaw], factor: &Factor) -> Self {
        let n = linear.dimension();
        let massless = linear.massless();
        let (mut rows, mut list) = (Rows::new(), Vec::new());
        for (a, law) in laws.iter().enumerate() {
            let row = rows.len();
            let end = linear.stops.entries(a).find(|(i, w)| massless.contains(i) && *w != 0.0);
            let spring = end.map(|(i, w)| Spring {
                stiffness: linear.stiffness.at(i, i) / (w * w),
                damping: 0.0,
                is_hertz: law.is_hertz,
            });
            match &law.hole {
                Some(hole) => hole.points.iter().for_each(|&p| rows.push(linear.points.entries(p))),
                None => rows.push(linear.stops.entries(a).filter(|(i, _)| end.is_none_or(|(z, _)| *i != z))),
            }
            let end = end.map(|(i, w)| (i, w / linear.stiffness.at(i, i)));
            list.push(Seat { row, spring, end, radius: law.hole.as_ref().map(|_| 0.0) });
        }
        let columns: Vec<Vec<f64>> = (0..rows.len()).map(|r| factor.solved(rows.vector(r, n))).collect();
        let gram = (0..rows.len()).flat_map(|r| columns.iter().map(|c| rows.dot(r, c)).collect::<Vec<_>>()).collect();
        Seats { linear, list, rows, columns, gram }
    }

    /// Adds to a displacement without stops what they do; gives their reactions and gaps.
    pub fn settle(mut self, u: &mut [f64], offsets: &[f64]) -> Result<(Vec<f64>, Vec<f64>), SetupError> {
        let mut free: Vec<f64> = (0..self.rows.len()).map(|r| self.rows.dot(r, u)).collect();
        for (a, seat) in self.list.iter_mut().enumerate() {
            match self.linear.holes.iter().find(|(stop, _)| *stop == a) {
                Some((_, hole)) => {
                    seat.radius = Some(offsets[a] + hole.eccentricity());
                    [0, 1].iter().for_each(|&i| free[seat.row + i] -= hole.centre[i]);
                }
                None => free[seat.row] += offsets[a],
            }
        }
        let scale = free.iter().chain(offsets).fold(0.0_f64, |s, x| s.max(x.abs()));
        let mut state = Forces { p: vec![0.0; free.len()], free };
        let (mut best, mut worse) = (f64::INFINITY, 0);
        for _ in 0..TURNS {
            let mut change = 0.0;
            for _ in 0..SWEEPS {
                change = self.sweep(&mut state);
                if change <= 1e-15 * scale {
                    break;
                }
            }
            // Newton's steps as long as they get nearer.
            while change > 1e-15 * scale
                && let Some(p) = self.newton(&state)
            {
                let mut tried = Forces { p, free: state.free.clone() };
                let next = self.sweep(&mut tried);
                if !(next < change) {
                    break;
                }
                (change, state) = (next, tried);
            }
            if change <= 1e-15 * scale || (worse > 5 && best <= 1e-11 * scale) {
                return Ok(self.done(u, &state));
            }
            worse = if change < 0.5 * best { 0 } else { worse + 1 };
            best = best.min(change);
        }
        Err(SetupError::new("the stops find no equilibrium").help("the stops contradict each other, or nearly so"))
    }

    fn done(&self, u: &mut [f64], state: &Forces) -> (Vec<f64>, Vec<f64>) {
        for (column, &p) in self.columns.iter().zip(&state.p) {
            crate::linalg::add(u, p, column);
        }
        let mut reactions = Vec::new();
        let mut gaps = Vec::new();
        for (a, seat) in self.list.iter().enumerate() {
            let (gap, reaction) = match seat.radius {
                Some(radius) => {
                    (radius - length(self.pair(state, a)), length([state.p[seat.row], state.p[seat.row + 1]]))
                }
                None => (self.at(state, seat.row), state.p[seat.row]),
            };
            let mut open = gap;
            if let (Some((z, give)), Some(spring)) = (seat.end, &seat.spring) {
                u[z] = give * spring.stiffness * (-gap).max(0.0);
                open = gap.max(0.0);
            }
            reactions.push(reaction);
            gaps.push(open);
        }
        (reactions, gaps)
    }

    /// A displacement with the forces that act.
    fn at(&self, state: &Forces, row: usize) -> f64 {
        let m = state.p.len();
        state.free[row] + self.gram[row * m..(row + 1) * m].iter().zip(&state.p).map(|(g, p)| g * p).sum::<f64>()
    }

    fn pair(&self, state: &Forces, a: usize) -> [f64; 2] {
        let row = self.list[a].row;
        [self.at(state, row), self.at(state, row + 1)]
    }

    /// One stop after the other; the largest change of a displacement.
    fn sweep(&self, state: &mut Forces) -> f64 {
        let m = state.p.len();
        let mut change = 0.0_f64;
        for (a, seat) in self.list.iter().enumerate() {
            let r = seat.row;
            if seat.radius.is_none() {
                let own = self.gram[r * m + r];
                let free = self.at(state, r) - own * state.p[r];
                let force = seat.plane(free, own);
                change = change.max((force - state.p[r]).abs() * own);
                state.p[r] = force;
                continue;
            }
            let own = [self.gram[r * m + r], self.gram[r * m + r + 1], self.gram[(r + 1) * m + r + 1]];
            let [y, z] = self.pair(state, a);
            let (p, q) = (state.p[r], state.p[r + 1]);
            let free = [y - own[0] * p - own[1] * q, z - own[1] * p - own[2] * q];
            let force = seat.round(free, own);
            change = change.max(length([force[0] - p, force[1] - q]) * (own[0] + own[2]));
            (state.p[r], state.p[r + 1]) = (force[0], force[1]);
        }
        change
    }

    /// A step of Newton's method for the stops that act.
    fn newton(&self, state: &Forces) -> Option<Vec<f64>> {
        let m = state.p.len();
        let mut lu = Lu::new(m);
        let mut right = vec![0.0; m];
        let mut equation = |i: usize, x: [(usize, f64); 2], p: [(usize, f64); 2], value: f64| {
            // Σ of weights on displacements, and on forces, equals a value.
            for (row, weight) in x.into_iter().filter(|(_, w)| *w != 0.0) {
                (0..m).for_each(|b| lu.entries[i * m + b] += weight * self.gram[row * m + b]);
                right[i] -= weight * state.free[row];
            }
            p.into_iter().for_each(|(row, weight)| lu.entries[i * m + row] += weight);
            right[i] += value;
        };
        for (a, seat) in self.list.iter().enumerate() {
            let r = seat.row;
            let acts = state.p[r] != 0.0 || (seat.radius.is_some() && state.p[r + 1] != 0.0);
            if !acts {
                let rows = if seat.radius.is_some() { r..r + 2 } else { r..r + 1 };
                rows.for_each(|i| equation(i, [(i, 0.0); 2], [(i, 1.0), (i, 0.0)], 0.0));
                continue;
            }
            // Compression under the force, straight around the present one.
            let straight = |force: f64| match seat.spring {
                Some(spring) => {
                    let depth = spring.depth(force);
                    let give = 1.0 / spring.slope(-depth);
                    (give, depth - give * force)
                }
                None => (0.0, 0.0),
            };
            let Some(radius) = seat.radius else {
                let (give, ahead) = straight(state.p[r]);
                equation(r, [(r, 1.0), (r, 0.0)], [(r, give), (r, 0.0)], -ahead);
                continue;
            };
            let x = self.pair(state, a);
            let far = length(x);
            let (n, t) = ([x[0] / far, x[1] / far], [-x[1] / far, x[0] / far]);
            let force = length([state.p[r], state.p[r + 1]]);
            let (give, ahead) = straight(force);
            let value = radius + ahead;
            if !(give.is_finite() && far > 0.0) {
                return None;
            }
            equation(r, [(r, n[0]), (r + 1, n[1])], [(r, give * n[0]), (r + 1, give * n[1])], value);
            let turn = force / far;
            equation(r + 1, [(r, turn * t[0]), (r + 1, turn * t[1])], [(r, t[0]), (r + 1, t[1])], 0.0);
        }
        (lu.solve(&mut right) && right.iter().all(|p| p.is_finite())).then_some(right)
    }
}

impl Seat {
    /// The force of a plane stop whose gap is `free` without it, and opens by `own` times it.
    fn plane(&self, free: f64, own: f64) -> f64 {
        if free >= 0.0 {
            return 0.0;
        }
        let Some(spring) = &self.spring else { return -free / own };
        if !spring.is_hertz {
            return -free * spring.stiffness / (1.0 + spring.stiffness * own);
        }
        // δ + D k δ^{3/2} = −free: convex, so from above Newton's method goes straight to it.
        let k = own * spring.stiffness;
        let mut depth = (-free).min((-free / k).powf(2.0 / 3.0));
        for _ in 0..60 {
            let root = depth.sqrt();
            let step = (depth + k * depth * root + free) / (1.0 + 1.5 * k * root);
            depth -= step;
            if step.abs() <= f64::EPSILON * depth {
                break;
            }
        }
        spring.at_rest(-depth)
    }

    /// The force of a hole whose point is at `free` without it, and moves by `own` times it (yy, yz, zz): p = −s x with
    /// (1 + s G) x = free, where s |x| is the force.
    fn round(&self, free: [f64; 2], own: [f64; 3]) -> [f64; 2] {
        let radius = self.radius.unwrap_or(0.0);
        if length(free) <= radius {
            return [0.0; 2];
        }
        let at = |s: f64| {
            let (a, b, c) = (1.0 + s * own[0], s * own[1], 1.0 + s * own[2]);
            let det = a * c - b * b;
            [(c * free[0] - b * free[1]) / det, (a * free[1] - b * free[0]) / det]
        };
        // Falls as s grows.
        let excess = |s: f64| {
            let far = length(at(s));
            match &self.spring {
                Some(spring) => spring.at_rest(radius - far) - s * far,
                None => far - radius,
            }
        };
        let (mut low, mut high) = (0.0, 1.0 / (own[0] + own[2]));
        while excess(high) > 0.0 && high < 1e300 {
            (low, high) = (high, 4.0 * high);
        }
        for _ in 0..2000 {
            let middle = 0.5 * (low + high);
            if !(middle > low && middle < high) {
                break;
            }
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        let x = at(high);
        [-high * x[0], -high * x[1]]
    }
}
