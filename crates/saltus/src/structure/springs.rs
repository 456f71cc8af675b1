//! Stops with a stiffness that give back what they take.
//!
//! The force of a step is the mean slope of the spring's energy W(y) = ½ k min(0, y)² along it, a discrete gradient
//! (Gonzalez 1996, J. Nonlinear Sci. 6, 449; for contact Hauret & Le Tallec 2006, CMAME 195, 4890):
//!
//! ```text
//! F^{n+½} = − (W(y^{n+1}) − W(y^n)) / (y^{n+1} − y^n)        y = o(t) + w·u
//! ```
//!
//! With the trapezoidal rule, F^{n+½} w·(u^{n+1} − u^n) is then exactly what the spring loses: entry and exit within a step
//! included. Beside rigid stops, whose work belongs to the energy between the nodes (`passive`), the springs keep that one: with
//!
//! ```text
//! F^n = − (W(y^{n+1}) − W(y^{n−1})) / (y^{n+1} − y^{n−1})        energy between n and n + 1:  … + ½(W(y^n) + W(y^{n+1}))
//! ```
//!
//! F^n w·(u^{n+1} − u^{n−1})/2 is what it loses. In both cases F falls with y^{n+1}, so the stops of a step have one solution,
//! found one after the other until nothing changes.

#[cfg(doc)]
use super::Structure;
use super::StructureInstance;
use super::contact::most;
use super::hole::{Bore, Place};
use super::rubbing::Rubbing;
use super::stop_law::{Spring, StopLaw};
use crate::linalg::{Factor, Rows, add};
use crate::{Model, Reason};

/// Sweeps over the stops of a step, at most.
const SWEEPS: usize = 20_000;

/// The stops of a structure, some of them springs, some with friction; multipliers are impulses, for a spring ½hF or, beside rigid
/// stops, hF.
pub(super) struct Springs {
    h: f64,
    n: usize,
    /// The spring of each stop; none for a rigid one.
    springs: Vec<Option<Spring>>,
    /// The massless degree of freedom of each spring, and w/k: its displacement under a unit force.
    ends: Vec<Option<(usize, f64)>>,
    /// Rows on what has mass: of the stops, then of the slips.
    pub rows: Rows,
    /// Columns h A⁻¹ w, and w h A⁻¹ w.
    mobility: Vec<f64>,
    gram: Vec<f64>,
    /// Round holes; `gram` is then that of the rows turned into their directions, `unturned` as it was, and so are multipliers.
    pub bores: Vec<Bore>,
    unturned: Vec<f64>,
    acting: Vec<f64>,
    /// y of each spring at both ends of the path along which its force is the mean slope; `end` is that at t_{n+1}.
    start: Vec<f64>,
    pub end: Vec<f64>,
    /// Whether there are rigid stops or friction, too: the path is then one of two steps.
    pub is_mixed: bool,
    is_first: bool,
    /// y at the node in between, and the part of hF that a multiplier is.
    now: Vec<f64>,
    weight: f64,
    pub multipliers: Vec<f64>,
    pub rubbing: Rubbing,
}

impl Springs {
    /// None unless each massless degree of freedom is the end of one spring, which nothing else moves; or where all stops are rigid,
    /// plane and without friction.
    pub fn new(at: &StructureInstance, rows: &Rows, massless: &[usize], factor: &Factor, h: f64) -> Option<Self> {
        let (linear, laws) = (at.linear(), at.structure().laws());
        let (n, m) = (linear.dimension(), linear.stops.len());
        let is_own = |i: usize| linear.stiffness.row(i).all(|(j, x)| j == i || x == 0.0);
        let loaded =
            (0..linear.loads.len()).any(|l| linear.loads.entries(l).any(|(i, x)| x != 0.0 && massless.contains(&i)));
        let is_rough = laws.iter().any(|law| law.friction.is_some());
        if (massless.is_empty() && !is_rough && linear.holes.is_empty())
            || loaded
            || !massless.iter().all(|&i| is_own(i))
        {
            return None;
        }
        let mut taken = Vec::new();
        let (mut springs, mut ends) = (vec![None; m], vec![None; m]);
        for a in 0..m {
            for (i, w) in linear.stops.entries(a).filter(|(i, _)| massless.contains(i)) {
                let own = linear.stiffness.at(i, i);
                if ends[a].is_some() || taken.contains(&i) || !(own > 0.0) || w == 0.0 {
                    return None;
                }
                taken.push(i);
                let StopLaw { damping, is_hertz, .. } = laws[a];
                springs[a] = Some(Spring { stiffness: own / (w * w), damping, is_hertz });
                ends[a] = Some((i, w / own));
            }
        }
        let rubbing = Rubbing::new(laws, h);
        let massive = |p: usize| linear.points.entries(p).filter(|(i, _)| !massless.contains(i)).collect::<Vec<_>>();
        let slips = rubbing.points().map(massive);
        let hole = |a: usize| laws[a].hole.as_ref();
        let own = |a: usize| hole(a).map_or_else(|| rows.entries(a).collect(), |hole| massive(hole.points[0]));
        let rows: Rows = (0..m).map(own).chain(slips).collect();
        let all = rows.len();
        let mut mobility = vec![0.0; n * all];
        for (a, column) in mobility.chunks_exact_mut(n).enumerate() {
            rows.add_to(a, 1.0, column);
            factor.solve(column);
            column.iter_mut().for_each(|x| *x *= h);
        }
        let gram: Vec<f64> =
            (0..all * all).map(|k| rows.dot(k / all, &mobility[(k % all) * n..(k % all + 1) * n])).collect();
        let none = || vec![0.0; m];
        let restitution = at.restitution();
        let bores = linear.holes.iter().filter_map(|(a, hole)| {
            let e = ends[*a].is_none().then_some(restitution[*a]);
            Some(Bore::new(*a, m + rubbing.first_of(*a)?, hole, e))
        });
        let bores: Vec<Bore> = bores.collect();
        // Friction acts at the nodes, as rigid stops do.
        let is_mixed = is_rough || ends.iter().any(Option::is_none);
        Some(Springs {
            h,
            n,
            springs,
            ends,
            rows,
            mobility,
            unturned: if bores.is_empty() { Vec::new() } else { gram.clone() },
            acting: vec![0.0; all],
            bores,
            gram,
            start: none(),
            end: none(),
            is_mixed,
            is_first: true,
            now: none(),
            weight: 0.5,
            multipliers: vec![0.0; all],
            rubbing,
        })
    }

    /// A step begins. The first one is the trapezoidal rule.
    pub fn begin(&mut self, is_first: bool) {
        self.is_first = is_first;
        match self.is_mixed && !is_first {
            true => {
                std::mem::swap(&mut self.start, &mut self.now);
                self.weight = 1.0;
            }
            false => self.start.copy_from_slice(&self.end),
        }
        self.now.copy_from_slice(&self.end);
    }

    /// Multipliers for the gaps without them (`slacks`, which become those with them), and for the slips without them, those of the
    /// step `after`; true if any acts. `limits`: those of rigid stops, as of [`super::contact::Stops::resolve_limited`].
    pub fn resolve(
        &mut self,
        slacks: &mut [f64],
        after: &[f64],
        limits: Option<(&[f64], &[f64])>,
        model: &Model,
    ) -> Result<bool, Reason> {
        let m = slacks.len();
        let quiet = |a: usize| slacks[a] >= 0.0 && (self.springs[a].is_none() || self.start[a] >= 0.0);
        if (0..m).all(quiet) {
            self.multipliers.fill(0.0);
            self.acting.fill(0.0);
            self.end.copy_from_slice(slacks);
            return Ok(false);
        }
        if let Some(a) = slacks.iter().position(|s| s.is_nan()) {
            return Err(Reason::Gap { constraint: model.constraints[a].name.clone() });
        }
        let all = self.multipliers.len();
        for j in m..all {
            self.rubbing.free[j - m] = self.rows.dot(j, after);
        }
        for bore in &self.bores {
            self.rubbing.free[bore.slip - m] = bore.free_slip();
        }
        self.turn_rows();
        let lengths = slacks.iter().chain(&self.start).chain(&self.rubbing.free);
        let scale = lengths.fold(0.0_f64, |s, x| s.max(x.abs()));
        // The time over which the path goes.
        let time = if self.weight == 1.0 { 2.0 * self.h } else { self.h };
        let mut worst = 0;
        for sweep in 0..SWEEPS {
            let mut change = 0.0;
            for a in 0..m {
                let row = &self.gram[a * all..(a + 1) * all];
                let own = row[a];
                let others: f64 = (0..all).filter(|&b| b != a).map(|b| row[b] * self.multipliers[b]).sum();
                let free = slacks[a] + others;
                let multiplier = match &self.springs[a] {
                    None => match limits {
                        Some((reach, budget)) if reach[a] > 0.0 && free < 0.0 => {
                            (-free / own).min(most(own, free + reach[a], budget[a]))
                        }
                        _ => (-free / own).max(0.0),
                    },
                    Some(spring) => {
                        let share = self.weight * self.h;
                        let (start, give) = (self.start[a], share * own);
                        share
                            * match spring.is_plain() {
                                true => force(start, free, give, spring.stiffness),
                                false => spring.force(start, free, give, time),
                            }
                    }
                };
                let moved = (multiplier - self.multipliers[a]).abs() * own;
                if moved > change {
                    (change, worst) = (moved, a);
                }
                self.multipliers[a] = multiplier;
                self.end[a] = free + own * multiplier;
                // hF of a spring, of which a multiplier is a part; in the first step both have half of it.
                let whole = if self.springs[a].is_some() && !self.is_first { 1.0 / self.weight } else { 1.0 };
                let moved = self.rubbing.rub(a, whole * multiplier, m, &self.gram, &mut self.multipliers);
                if moved > change {
                    (change, worst) = (moved, a);
                }
            }
            let enough = if sweep < 500 { 8.0 * f64::EPSILON } else { 1e-12 };
            if change <= enough * scale {
                slacks.copy_from_slice(&self.end);
                self.unturn();
                return Ok(self.multipliers.iter().any(|&p| p != 0.0));
            }
        }
        Err(Reason::Stalled { constraint: model.constraints[worst].name.clone() })
    }

    /// x += Σ P h A⁻¹ w.
    pub fn correct(&self, x: &mut [f64]) {
        for (a, &p) in self.acting.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            add(x, p, self.column(a));
        }
    }

    /// h A⁻¹ w of a row, that of its point for a hole.
    pub fn column(&self, row: usize) -> &[f64] {
        &self.mobility[row * self.n..(row + 1) * self.n]
    }

    /// w h A⁻¹ w of a stop, in the direction in which a hole is turned.
    pub fn own(&self, a: usize) -> f64 {
        self.gram[a * self.multipliers.len() + a]
    }

    /// Holes are seen at the beginning of a step: their radii are given.
    pub fn aim(&mut self, place: &Place, mut radius: impl FnMut(usize) -> f64) {
        for bore in &mut self.bores {
            bore.aim(&self.rows, place, radius(bore.stop));
        }
    }

    /// Whether the path of a spring is one of two steps in the step that has begun.
    pub fn is_long(&self) -> bool {
        self.is_mixed && !self.is_first
    }

    /// The rows of holes are turned into their directions.
    fn turn_rows(&mut self) {
        if !self.bores.is_empty() {
            self.gram.copy_from_slice(&self.unturned);
            self.bores.iter().for_each(|bore| bore.turn_rows(self.multipliers.len(), &mut self.gram));
        }
    }

    /// Multipliers on the rows as they were.
    fn unturn(&mut self) {
        self.acting.copy_from_slice(&self.multipliers);
        for bore in &self.bores {
            let pair = bore.unturned(self.multipliers[bore.stop], self.multipliers[bore.slip]);
            (self.acting[bore.stop], self.acting[bore.slip]) = (pair[0], pair[1]);
        }
    }

    /// Turns holes to where the step has ended; by how much at most.
    pub fn turn(&mut self) -> f64 {
        let all = self.multipliers.len();
        let mut most = 0.0_f64;
        for bore in self.bores.iter_mut().filter(|bore| self.multipliers[bore.stop] != 0.0) {
            let added = [bore.stop, bore.slip].map(|row| {
                let row = &self.unturned[row * all..(row + 1) * all];
                row.iter().zip(&self.acting).map(|(g, p)| g * p).sum()
            });
            most = most.max(bore.turn(bore.end(added)));
        }
        most
    }

    /// A step has ended: the forces of springs in holes are kept with their directions.
    pub fn keep_thrusts(&mut self) {
        for k in 0..self.bores.len() {
            let force = self.force(self.bores[k].stop);
            self.bores[k].thrust = self.bores[k].unturned(force, 0.0);
        }
    }

    /// Adds a multiple of an impulse on a stop, in the direction it has, to a displacement.
    pub fn push(&self, a: usize, scale: f64, x: &mut [f64]) {
        match self.bores.iter().find(|bore| bore.stop == a) {
            None => add(x, scale, self.column(a)),
            Some(bore) => {
                let pair = bore.unturned(scale, 0.0);
                add(x, pair[0], self.column(bore.stop));
                add(x, pair[1], self.column(bore.slip));
            }
        }
    }

    /// Where the ends of the springs are at t_{n+1}: such that ½kz² is their energy.
    pub fn ends(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let of = |(a, end): (usize, &Option<(usize, f64)>)| {
            let ((i, give), spring) = ((*end)?, self.springs[a].as_ref()?);
            let depth = match spring.is_hertz {
                true => (2.0 * spring.energy(self.end[a]) / spring.stiffness).sqrt(),
                false => (-self.end[a]).max(0.0),
            };
            Some((i, give * spring.stiffness * depth))
        };
        self.ends.iter().enumerate().filter_map(of)
    }

    /// The mean force of spring a along its path.
    pub fn force(&self, a: usize) -> f64 {
        self.multipliers[a] / (self.weight * self.h)
    }

    /// What the dashpot beside spring a takes along its path.
    pub fn damped(&self, a: usize) -> f64 {
        let Some(spring) = self.springs[a].as_ref().filter(|s| !s.is_plain()) else { return 0.0 };
        let (start, end) = (self.start[a], self.end[a]);
        spring.energy(start) - spring.energy(end) - self.force(a) * (end - start)
    }

    /// What the motion of the wall behind spring a takes along its path, on which u moves by `path`.
    pub fn taken_by_wall(&self, a: usize, path: f64) -> f64 {
        self.force(a) * (self.end[a] - self.start[a] - path)
    }

    /// The move of the structure against stop a in a step.
    pub fn path(&self, a: usize, step: &[f64]) -> f64 {
        match self.bores.iter().find(|bore| bore.stop == a) {
            Some(bore) => bore.opening(&self.rows, step),
            None => self.rows.dot(a, step),
        }
    }

    /// What stops do to the side at a node, where these are their impulses: in the order of [`Structure::side_names`].
    pub fn sides(&self, impulses: &[f64], out: &mut [f64]) {
        let m = self.ends.len();
        let mut next = 0;
        let mut put = |impulse: f64| {
            if let Some(out) = out.get_mut(next) {
                *out = impulse;
            }
            next += 1;
        };
        for a in 0..m {
            let bore = self.bores.iter().find(|bore| bore.stop == a);
            if let Some(bore) = bore {
                bore.unturned(impulses[a], self.multipliers[bore.slip]).into_iter().for_each(&mut put);
            }
            self.rubbing.slides_of(a, bore.is_some()).for_each(|j| put(self.multipliers[m + j]));
        }
    }

    /// What friction does at the node between two steps, in them: heat of the first and of the second.
    pub fn rubbed(&mut self, before: &[f64], after: &[f64]) -> (f64, f64) {
        let m = self.ends.len();
        let Self { rows, bores, rubbing, .. } = self;
        let slip = |j: usize| match bores.iter().find(|bore| bore.slip == j) {
            Some(bore) => (bore.slid(rows, before), bore.slid(rows, after)),
            None => (rows.dot(j, before), rows.dot(j, after)),
        };
        rubbing.account(slip, m, &self.multipliers, self.is_first)
    }
}

/// The force F of a spring k between y₀ and y₁ = y + D F, with F (y₁ − y₀) = W(y₀) − W(y₁).
fn force(start: f64, free: f64, give: f64, k: f64) -> f64 {
    let half = 0.5 * k * give;
    if start <= 0.0 {
        // Compressed all along, or let go on the way.
        let force = -0.5 * k * (start + free) / (1.0 + half);
        if free + give * force <= 0.0 {
            return force.max(0.0);
        }
        // (y₁ − y)(y₁ − y₀) = ½kD y₀², the larger root.
        let distance = (free - start).hypot(2.0 * half.sqrt() * start);
        let travel = 0.5 * ((free - start) + distance);
        return if travel > 0.0 { 0.5 * k * start * start / travel } else { 0.0 };
    }
    if free >= 0.0 {
        return 0.0;
    }
    // Hit on the way: (y₁ − y)(y₁ − y₀) = −½kD y₁², the negative root.
    let (sum, a) = (free + start, 1.0 + half);
    let root = (sum * sum - 4.0 * a * free * start).sqrt();
    let end = if sum > 0.0 { 2.0 * free * start / (sum + root) } else { 0.5 * (sum - root) / a };
    0.5 * k * end * end / (start - end)
}

#[cfg(test)]
mod tests {
    use super::force;

    #[test]
    fn a_spring_gives_back_what_it_takes() {
        let energy = |k: f64, y: f64| 0.5 * k * y.min(0.0).powi(2);
        for k in [0.1, 3.0, 1e4] {
            for give in [1e-6, 0.3, 20.0] {
                for start in [-2.0, -0.1, 0.0, 1e-9, 0.4, 3.0] {
                    for free in [-5.0, -0.4, -1e-9, 0.0, 0.2, 7.0] {
                        let f = force(start, free, give, k);
                        let end = free + give * f;
                        let off = f * (end - start) - (energy(k, start) - energy(k, end));
                        let size = energy(k, start) + energy(k, end) + f * (end.abs() + start.abs());
                        assert!(f >= 0.0 && off.abs() <= 1e-11 * size + 1e-300, "{k} {give} {start} {free}: {off:e}");
                    }
                }
            }
        }
    }
}
