//! Contact statics of stops that are not linear: Hertz' law and round holes.
//!
//! Seen through the compliance G of the rows of all stops, each stop is a convex energy φ of its own displacement x: x = x_f + G p and
//! p = −∇φ(x), a problem with one solution. One stop after the other is solved exactly with the others held (Gauss and Seidel, which
//! makes it better in any case), and Newton's method, with who acts found by complementarity, makes an end of it, in turns.

use super::Linear;
use super::hole::length;
use super::stop_law::{Spring, StopLaw};
use crate::SetupError;
use crate::linalg::{Factor, FactoredLu, Rows, dot};
use crate::project::Polyhedron;

/// Sweeps to begin with, and Newton's steps, at most.
const SWEEPS: usize = 40;
const STEPS: usize = 40;

/// Changes of displacements, relative to those without the stops, that are rounding; and that are as near as rounding allows.
const EXACT: f64 = 1e-16;
const ENOUGH: f64 = 1e-12;

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
        let loads = free.clone();
        for (a, seat) in self.list.iter_mut().enumerate() {
            match self.linear.holes.iter().find(|(stop, _)| *stop == a) {
                Some((_, hole)) => {
                    seat.radius = Some(offsets[a] + hole.eccentricity());
                    [0, 1].iter().for_each(|&i| free[seat.row + i] -= hole.centre[i]);
                }
                None => free[seat.row] += offsets[a],
            }
        }
        let still: Vec<f64> = free.iter().zip(&loads).map(|(all, load)| all - load).collect();
        let scale = free.iter().chain(offsets).fold(0.0_f64, |s, x| s.max(x.abs()));
        let mut state = Forces { p: vec![0.0; free.len()], free };
        for _ in 0..SWEEPS {
            if self.sweep(&mut state) <= EXACT * scale {
                return Ok(self.done(u, &state));
            }
        }
        if self.settled(&mut state, scale) || self.loaded(&still, &mut state, scale) {
            return Ok(self.done(u, &state));
        }
        Err(SetupError::new("the stops find no equilibrium").help("the stops contradict each other, or nearly so"))
    }

    /// Newton's steps until nothing moves any more; one more sweep says whether they have found it.
    fn settled(&self, state: &mut Forces, scale: f64) -> bool {
        let m = state.p.len();
        let mut tried = Forces { p: state.p.clone(), free: state.free.clone() };
        for _ in 0..STEPS {
            let Some(p) = self.newton(&tried, scale) else { return false };
            let moved = (0..m).map(|r| self.gram[r * m + r] * (p[r] - tried.p[r]).abs()).fold(0.0, f64::max);
            tried.p = p;
            if moved <= EXACT * scale {
                break;
            }
        }
        let found = tried.p.clone();
        let done = self.sweep(&mut tried) <= ENOUGH * scale;
        if done {
            state.p = found;
        }
        done
    }

    /// The same by loads that grow from nothing, where they are too much at once. `still`: displacements without loads.
    fn loaded(&self, still: &[f64], state: &mut Forces, scale: f64) -> bool {
        let whole = state.free.clone();
        let (mut part, mut more) = (0.0, 0.125);
        state.p.fill(0.0);
        while part < 1.0 {
            let next = f64::min(part + more, 1.0);
            for ((free, whole), still) in state.free.iter_mut().zip(&whole).zip(still) {
                *free = still + next * (whole - still);
            }
            if part == 0.0 {
                state.p.fill(0.0);
                for _ in 0..SWEEPS {
                    self.sweep(state);
                }
            }
            match self.settled(state, scale) {
                true => (part, more) = (next, 2.0 * more),
                false if more < 1e-5 => return false,
                false => more *= 0.25,
            }
        }
        true
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

    /// A step of Newton's method: every law straight around the present forces, holes by their tangents and what turns with them, and
    /// who acts found by complementarity.
    fn newton(&self, state: &Forces, scale: f64) -> Option<Vec<f64>> {
        let (m, all) = (self.list.len(), state.p.len());
        // Rows that open gaps, then tangents of holes that press, each on one or two of the rows.
        let mut turned: Vec<[(usize, f64); 2]> = Vec::new();
        let (mut slacks, mut gives, mut tangents) = (Vec::new(), Vec::new(), Vec::new());
        for (a, seat) in self.list.iter().enumerate() {
            let r = seat.row;
            let mut force = state.p[r];
            match seat.radius {
                None => {
                    turned.push([(r, 1.0), (r, 0.0)]);
                    slacks.push(0.0);
                }
                Some(radius) => {
                    let x = self.pair(state, a);
                    let far = length(x);
                    if !(far > 0.0) {
                        return None;
                    }
                    let n = [x[0] / far, x[1] / far];
                    force = length([force, state.p[r + 1]]);
                    turned.push([(r, -n[0]), (r + 1, -n[1])]);
                    slacks.push(radius);
                    if force > 0.0 {
                        tangents.push((a, [(r, -n[1]), (r + 1, n[0])], far / force));
                    }
                }
            }
            // (A spring of Hertz' law that is not touched yet has no slope there.)
            let (give, ahead) = match &seat.spring {
                Some(spring) => {
                    let depth = if force > 0.0 { spring.depth(force) } else { 1e-6 * scale };
                    let give = 1.0 / spring.slope(-depth);
                    (give, depth - give * spring.at_rest(-depth))
                }
                None => (0.0, 0.0),
            };
            slacks[a] += ahead;
            gives.push(give);
        }
        turned.extend(tangents.iter().map(|(_, row, _)| *row));
        let n = turned.len();
        let on = |row: &[(usize, f64); 2], x: &dyn Fn(usize) -> f64| row.iter().map(|(r, w)| w * x(*r)).sum::<f64>();
        let mut gram = vec![0.0; n * n];
        for (i, row) in turned.iter().enumerate() {
            for (j, other) in turned.iter().enumerate() {
                gram[i * n + j] = on(row, &|r| on(other, &|s| self.gram[r * all + s]));
            }
        }
        let free: Vec<f64> = turned.iter().map(|row| on(row, &|r| state.free[r])).collect();
        // Tangents have springs of their own, force over distance: they are solved for and taken out.
        let e = n - m;
        let mut bent: Vec<f64> = (0..e * e).map(|k| gram[(m + k / e) * n + m + k % e]).collect();
        (0..e).for_each(|k| bent[k * e + k] += tangents[k].2);
        let mut lu = FactoredLu::default();
        lu.set(e, &bent).ok()?;
        let mut own = free[m..].to_vec();
        lu.solve(&mut own);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for b in 0..m {
            let mut column: Vec<f64> = (0..e).map(|k| gram[(m + k) * n + b]).collect();
            lu.solve(&mut column);
            columns.push(column);
        }
        let mut reduced = vec![0.0; m * m];
        for a in 0..m {
            let beside = &gram[a * n + m..(a + 1) * n];
            slacks[a] += free[a] - dot(beside, &own);
            for b in 0..m {
                reduced[a * m + b] = gram[a * n + b] - dot(beside, &columns[b]);
            }
            reduced[a * m + a] += gives[a];
        }
        let mut kernel = Polyhedron::new(m, m);
        kernel.complete(&reduced, &(0..m).map(|a| [(a, 1.0)]).collect::<Rows>(), &mut slacks).ok()?;
        let mut p = vec![0.0; all];
        let mut push = |row: &[(usize, f64); 2], x: f64| row.iter().for_each(|(r, w)| p[*r] += w * x);
        for (a, row) in turned[..m].iter().enumerate() {
            push(row, kernel.multipliers()[a]);
        }
        for (k, (a, row, _)) in tangents.iter().enumerate() {
            let turned: f64 = (0..m).map(|b| columns[b][k] * kernel.multipliers()[b]).sum();
            if kernel.multipliers()[*a] > 0.0 {
                push(row, -own[k] - turned);
            }
        }
        p.iter().all(|p| p.is_finite()).then_some(p)
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
