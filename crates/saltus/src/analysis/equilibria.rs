//! Equilibria: q with g(t, q, 0) + Σ λα ∇fα(t, q) = 0, 0 ≤ f ⊥ λ ≥ 0 ([B] = Brogliato 2003, (3)).
//!
//! For every set of constraints that may act together this is a system of equations, solved by Newton's method with exact
//! derivatives from many starts; a step is the shortest that solves the linearised equations, so that bodies free to be
//! anywhere (a block on a floor) stay where they start. Few constraints: every set of them. Many: the sets met on the way by
//! a semismooth Newton method, which guesses the set from the present point.

use super::check::around;
use crate::SetupError;
use crate::linalg::{Dice, Svd, dot, eigen, max_abs};
use crate::problem::{Dynamics, Gaps, Problem, Start, Stiffness};
use crate::run::{Options, System};
use crate::structure::Structure;
use crate::text::{count, number};

/// What to search for, and with which effort.
#[derive(Clone, Copy, Debug)]
pub struct EquilibriaOptions {
    /// The frozen time.
    pub time: f64,
    /// Starts for each set of constraints.
    pub starts: usize,
    /// The seed of the starts.
    pub seed: u64,
    /// The largest number of sets of constraints that are all tried.
    pub most_sets: usize,
}

impl Default for EquilibriaOptions {
    fn default() -> Self {
        EquilibriaOptions { time: 0.0, starts: 60, seed: 1, most_sets: 4096 }
    }
}

/// What speaks for or against stability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// A strict minimum of the potential on K: the second variation is positive on the critical cone.
    Stable {
        /// Its smallest eigenvalue there.
        curvature: f64,
    },
    /// The potential falls along an admissible direction.
    Unstable {
        /// The most negative curvature found.
        curvature: f64,
    },
    /// The second variation vanishes along some directions and is positive along the others.
    Neutral {
        /// How many directions.
        directions: usize,
    },
    /// There is no potential; a short run from a small push on either side shows how far the system goes.
    Pushed {
        /// The speed of the push.
        push: f64,
        /// The largest distance reached.
        farthest: f64,
        /// For how long.
        duration: f64,
    },
    /// Nothing is known: there is no potential, and no push was admissible.
    Unknown,
}

impl Stability {
    /// Its kind in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Stability::Stable { .. } => "stable",
            Stability::Unstable { .. } => "unstable",
            Stability::Neutral { .. } => "neutral",
            Stability::Pushed { .. } => "pushed",
            Stability::Unknown => "unknown",
        }
    }

    /// The evidence in a sentence.
    pub fn sentence(&self) -> String {
        match *self {
            Stability::Stable { curvature } if curvature.is_infinite() => {
                "stable: the contacts leave no direction to move".into()
            }
            Stability::Stable { curvature } => {
                format!("stable: a strict minimum of the potential on K (smallest curvature {})", number(curvature, 4))
            }
            Stability::Unstable { curvature } => {
                format!("unstable: the potential falls (curvature {})", number(curvature, 4))
            }
            Stability::Neutral { directions } => {
                format!("stable but for {}, along which nothing changes", count(directions as u64, "direction"))
            }
            Stability::Pushed { push, farthest, duration } => {
                let stayed = farthest < 1e3 * push;
                let (far, push, time) = (number(farthest, 2), number(push, 2), number(duration, 3));
                match stayed {
                    true => format!("stayed within {far} of it for {time} time units after a push of {push}"),
                    false => format!("left it by {far} within {time} time units after a push of {push}"),
                }
            }
            Stability::Unknown => "no potential, and no push was admissible: nothing known".into(),
        }
    }
}

/// An equilibrium.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The position.
    pub q: Vec<f64>,
    /// The constraints whose gap is closed.
    pub closed: Vec<usize>,
    /// Their reactions.
    pub reactions: Vec<f64>,
    /// Those of them that are degenerate: closed without a reaction.
    pub degenerate: Vec<usize>,
    /// Directions in which it can be moved and stays an equilibrium, to first order.
    pub family: Vec<Vec<f64>>,
    /// What speaks for or against its stability.
    pub stability: Stability,
    /// |g + Σ λ ∇f| relative to the forces it is made of.
    pub residual: f64,
}

/// What was found, and with which effort.
#[derive(Clone, Debug)]
pub struct Equilibria {
    /// The equilibria, sorted by their number of contacts and position.
    pub found: Vec<Equilibrium>,
    /// How many sets of constraints were tried.
    pub sets: usize,
    /// How many starts in all.
    pub starts: usize,
    /// Whether all sets of at most d constraints were tried.
    pub exhaustive: bool,
    /// Whether the observer stopped the search.
    pub stopped: bool,
}

/// Newton iterations that need more than this do not converge.
const MAX_ITERATIONS: usize = 60;

/// Searches for equilibria. `observer` is called periodically with (done, of how many); return false to stop.
///
/// A structure with a positive definite stiffness has exactly one, by contact statics.
///
/// ```
/// use saltus::{analysis::{EquilibriaOptions, equilibria}, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let all = equilibria(&ball, &EquilibriaOptions::default(), &mut |_, _| true)?;
/// assert_eq!(all.found.len(), 1);
/// assert!((all.found[0].reactions[0] - 9.81).abs() < 1e-12);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn equilibria(
    system: &dyn System,
    options: &EquilibriaOptions,
    observer: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Equilibria, SetupError> {
    if !options.time.is_finite() {
        return Err(SetupError::new(format!("the time of the equilibria must be a number, not {}", options.time)));
    }
    match (system.as_problem(), system.as_structure()) {
        (Some(problem), _) => Ok(of_problem(problem, options, observer)),
        (_, Some(structure)) => of_structure(structure, options.time),
        _ => Err(SetupError::new("equilibria are not supported for this kind of system")),
    }
}

/// The one equilibrium of a structure that is held.
fn of_structure(structure: &Structure, t: f64) -> Result<Equilibria, SetupError> {
    let at_rest = structure.static_contact(t)?;
    let closed: Vec<usize> = (0..at_rest.gaps.len())
        .filter(|&a| at_rest.reactions[a] > 0.0 || at_rest.gaps[a] <= 1e-12 * max_abs(&at_rest.points))
        .collect();
    let degenerate = closed.iter().copied().filter(|&a| at_rest.reactions[a] == 0.0).collect();
    let lowest = structure.lowest_square();
    let equilibrium = Equilibrium {
        reactions: closed.iter().map(|&a| at_rest.reactions[a]).collect(),
        closed,
        degenerate,
        family: Vec::new(),
        stability: Stability::Stable { curvature: lowest },
        residual: at_rest.residual,
        q: at_rest.points,
    };
    Ok(Equilibria { found: vec![equilibrium], sets: 1, starts: 1, exhaustive: true, stopped: false })
}

fn of_problem(
    problem: &Problem,
    options: &EquilibriaOptions,
    report: &mut dyn FnMut(usize, usize) -> bool,
) -> Equilibria {
    let mut search = Search::new(problem, options);
    let (sets, exhaustive) = search.sets(options.most_sets);
    let total = sets.len().max(1);
    let mut all = Equilibria { found: Vec::new(), sets: sets.len(), starts: 0, exhaustive, stopped: false };
    let points = around(&problem.model().q0, options.starts.max(1), &mut Dice::new(options.seed));
    'search: for (k, set) in sets.iter().enumerate() {
        for start in &points {
            if !report(k, total) {
                all.stopped = true;
                break 'search;
            }
            all.starts += 1;
            // A semismooth search chooses its own set from the point.
            let met = if exhaustive { Some(set.clone()) } else { search.guess(start) };
            if let Some(solution) = met.and_then(|set| search.solve(&set, start)) {
                search.keep(&mut all.found, solution);
            }
        }
    }
    for equilibrium in &mut all.found {
        match problem.model().conservative {
            true => search.judge(equilibrium),
            false => equilibrium.stability = pushed(problem, equilibrium, options.time),
        }
    }
    all.found.sort_by(|a, b| {
        let by_contacts = b.closed.len().cmp(&a.closed.len()).then_with(|| a.closed.cmp(&b.closed));
        by_contacts.then_with(|| {
            a.q.iter().zip(&b.q).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        })
    });
    all
}

/// How long a push is followed.
const PUSH_TIME: f64 = 10.0;

/// Without a potential: short runs from a small push.
fn pushed(problem: &Problem, e: &Equilibrium, t: f64) -> Stability {
    let size = e.q.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    let push = 1e-6 * size;
    let mut farthest = 0.0_f64;
    for sign in [1.0, -1.0] {
        let v: Vec<f64> = (0..e.q.len()).map(|i| sign * push * ((i as f64 + 1.0) * 1.3).cos()).collect();
        let start = Start { t, q: e.q.clone(), v, ..problem.start() };
        // A start in contact may not be pushed into it.
        let Ok(run) = problem.run_from(&start, &Options::events(t + PUSH_TIME).step(0.05)) else { continue };
        for k in 0..run.trajectory.len() {
            let off = run.trajectory.q(k).iter().zip(&e.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            farthest = farthest.max(off);
        }
    }
    match farthest {
        0.0 => Stability::Unknown,
        farthest => Stability::Pushed { push, farthest, duration: PUSH_TIME },
    }
}

struct Search<'p> {
    problem: &'p Problem,
    t: f64,
    dynamics: Dynamics,
    gaps: Gaps,
    stiffness: Option<Stiffness>,
    rest: Vec<f64>,
    /// How large positions are here.
    scale: f64,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, options: &EquilibriaOptions) -> Self {
        let model = problem.model();
        Search {
            problem,
            t: options.time,
            dynamics: problem.dynamics(),
            gaps: problem.gaps(),
            stiffness: problem.stiffness(),
            rest: vec![0.0; problem.dimension()],
            scale: max_abs(&model.q0).max(1.0),
        }
    }

    /// All sets of at most d constraints if they are not too many; otherwise one empty set, which stands for guessing.
    fn sets(&self, most: usize) -> (Vec<Vec<usize>>, bool) {
        let (d, m) = (self.problem.dimension(), self.problem.constraints());
        let mut sets = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..d.min(m) {
            let to = sets.len();
            for k in from..to {
                let next = sets[k].last().map_or(0, |&a: &usize| a + 1);
                for a in next..m {
                    let mut set = sets[k].clone();
                    set.push(a);
                    sets.push(set);
                    if sets.len() > most {
                        return (vec![Vec::new()], false);
                    }
                }
            }
            from = to;
        }
        (sets, true)
    }

    /// The set that a semismooth Newton method takes at a point: gaps that are closed or nearly so, d at most.
    fn guess(&mut self, q: &[f64]) -> Option<Vec<usize>> {
        self.gaps.linearise(self.t, q);
        let mut order: Vec<usize> = (0..self.gaps.values.len()).collect();
        order.sort_by(|&a, &b| self.gaps.values[a].total_cmp(&self.gaps.values[b]));
        let closed = order.into_iter().take_while(|&a| self.gaps.values[a] < 0.05 * self.scale);
        let mut set: Vec<usize> = closed.take(q.len()).collect();
        set.sort_unstable();
        Some(set)
    }

    /// Residual and derivative of (g + Σ λ ∇f, f) for a set at a point; None if something is not a number.
    fn equations(&mut self, set: &[usize], q: &[f64], lambda: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (d, m) = (q.len(), set.len());
        let n = d + m;
        self.dynamics.evaluate(self.t, q, &self.rest);
        self.gaps.second_order(self.t, q);
        let mut residual = vec![0.0; n];
        let mut matrix = vec![0.0; n * n];
        residual[..d].copy_from_slice(&self.dynamics.g);
        if let Some(stiffness) = &mut self.stiffness {
            stiffness.evaluate(self.t, q, &self.rest);
            for i in 0..d {
                matrix[i * n..i * n + d].copy_from_slice(&stiffness.matrix[i * d..(i + 1) * d]);
            }
        }
        for (k, &a) in set.iter().enumerate() {
            self.gaps.gradients.add_to(a, lambda[k], &mut residual[..d]);
            residual[d + k] = self.gaps.values[a];
            let (columns, values) = self.gaps.gradients.row(a);
            for (&i, &slope) in columns.iter().zip(values) {
                matrix[i * n + d + k] = slope;
                matrix[(d + k) * n + i] = slope;
            }
        }
        for (&(a, i, j), second) in self.gaps.code.second.iter().zip(&self.gaps.hessians) {
            if let Some(k) = set.iter().position(|&b| b == a) {
                matrix[i * n + j] += lambda[k] * second;
                if i != j {
                    matrix[j * n + i] += lambda[k] * second;
                }
            }
        }
        let finite = residual.iter().chain(&matrix).all(|x| x.is_finite());
        finite.then_some((residual, matrix))
    }

    /// Newton's method for one set from one start; None if it does not lead to an admissible equilibrium.
    fn solve(&mut self, set: &[usize], start: &[f64]) -> Option<Equilibrium> {
        let (d, m) = (start.len(), set.len());
        let n = d + m;
        let (mut q, mut lambda) = (start.to_vec(), vec![0.0; m]);
        let mut size = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let (residual, matrix) = self.equations(set, &q, &lambda)?;
            let svd = Svd::new(n, n, &matrix, 1e-11)?;
            let step = svd.least_norm(&residual);
            // Far steps are shortened: the equations are only linear nearby.
            let far = max_abs(&step[..d]);
            let share = (self.scale / far.max(1e-300)).min(1.0);
            q.iter_mut().zip(&step).for_each(|(q, s)| *q -= share * s);
            lambda.iter_mut().zip(&step[d..]).for_each(|(l, s)| *l -= share * s);
            let before = size;
            size = far / (self.scale + max_abs(&q));
            if size < 1e-15 || (size < 1e-11 && size >= 0.5 * before) {
                break;
            }
        }
        let (residual, matrix) = self.equations(set, &q, &lambda)?;
        // What the residual is measured by: the forces and reactions it is made of.
        let mut force = max_abs(&self.dynamics.g);
        for (k, &a) in set.iter().enumerate() {
            force = force.max(lambda[k].abs() * max_abs(self.gaps.gradients.row(a).1));
        }
        let off = max_abs(&residual[..d]);
        let relative = if off == 0.0 { 0.0 } else { off / force.max(self.force_scale()) };
        let rounding = |a: usize, search: &Self| 1e-9 * search.scale + search.gaps.rounding(a, &q);
        let closed = |k: usize| residual[d + k].abs() <= rounding(set[k], self);
        if !(relative <= 1e-9) || !(0..m).all(closed) || max_abs(&q) > 1e6 * self.scale {
            return None;
        }
        let pressed = lambda.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        if lambda.iter().any(|&l| l < -1e-9 * pressed.max(self.force_scale())) {
            return None;
        }
        if (0..self.gaps.values.len()).any(|a| self.gaps.values[a] < -rounding(a, self)) {
            return None;
        }
        let mut family = Svd::new(n, n, &matrix, 1e-9)?.null_space();
        family.iter_mut().for_each(|w| w.truncate(d));
        family.retain(|w| max_abs(w) > 1e-6);
        // Gaps closed without being asked to are closed all the same, without a reaction.
        let all: Vec<usize> = (0..self.gaps.values.len())
            .filter(|&a| set.contains(&a) || self.gaps.values[a] <= rounding(a, self))
            .collect();
        let of = |a: usize| set.iter().position(|&b| b == a).map_or(0.0, |k| lambda[k].max(0.0));
        let reactions: Vec<f64> = all.iter().map(|&a| of(a)).collect();
        let weak = 1e-9 * pressed.max(self.force_scale());
        let degenerate = all.iter().copied().zip(&reactions).filter(|(_, l)| **l <= weak).map(|(a, _)| a).collect();
        Some(Equilibrium {
            q,
            closed: all,
            reactions,
            degenerate,
            family,
            stability: Stability::Unknown,
            residual: relative,
        })
    }

    /// The size of forces at the start of the model.
    fn force_scale(&mut self) -> f64 {
        let q0 = self.problem.model().q0.clone();
        self.dynamics.evaluate(self.t, &q0, &self.rest);
        max_abs(&self.dynamics.g).max(1e-12)
    }

    /// Adds an equilibrium that is not there yet; members of one family count once.
    fn keep(&self, found: &mut Vec<Equilibrium>, new: Equilibrium) {
        let same = |old: &Equilibrium| {
            if old.closed != new.closed {
                return false;
            }
            let mut apart: Vec<f64> = new.q.iter().zip(&old.q).map(|(a, b)| a - b).collect();
            // What a move within the family explains is no difference.
            for w in &old.family {
                let along = dot(w, &apart) / dot(w, w);
                apart.iter_mut().zip(w).for_each(|(a, w)| *a -= along * w);
            }
            max_abs(&apart) <= 1e-6 * self.scale
        };
        if !found.iter().any(same) {
            found.push(new);
        }
    }

    /// The second variation −∂g/∂q − Σ λ ∂²f on the critical cone: directions along which no pressed contact opens, and
    /// no degenerate one closes.
    fn judge(&mut self, equilibrium: &mut Equilibrium) {
        let d = equilibrium.q.len();
        let (set, q) = (equilibrium.closed.clone(), equilibrium.q.clone());
        let Some((_, matrix)) = self.equations(&set, &q, &equilibrium.reactions) else { return };
        let n = d + set.len();
        let variation: Vec<f64> = (0..d * d).map(|k| -matrix[(k / d) * n + k % d]).collect();
        let size = max_abs(&variation).max(1e-300);
        let row = |a: usize| {
            let mut dense = vec![0.0; d];
            self.gaps.gradients.add_to(a, 1.0, &mut dense);
            dense
        };
        let strict: Vec<usize> = set.iter().copied().filter(|a| !equilibrium.degenerate.contains(a)).collect();
        // Each degenerate contact either stays closed or opens: the faces of the cone. Their interiors are looked at through
        // the smallest eigenvectors, which must point inwards to count.
        let loose = &equilibrium.degenerate[..equilibrium.degenerate.len().min(10)];
        let (mut lowest, mut neutral) = (f64::INFINITY, 0);
        for face in 0..1_usize << loose.len() {
            let kept = loose.iter().enumerate().filter(|(k, _)| face >> k & 1 == 1).map(|(_, &a)| a);
            let held: Vec<Vec<f64>> = strict.iter().copied().chain(kept).map(row).collect();
            let Some(basis) = null_basis(d, &held) else { continue };
            let k = basis.len();
            if k == 0 {
                continue;
            }
            let mut reduced = vec![0.0; k * k];
            for (i, u) in basis.iter().enumerate() {
                let hu: Vec<f64> = variation.chunks(d).map(|row| dot(row, u)).collect();
                basis.iter().enumerate().for_each(|(j, w)| reduced[i * k + j] = dot(w, &hu));
            }
            for (value, vector) in eigen(k, &reduced) {
                let w: Vec<f64> = (0..d).map(|i| basis.iter().zip(&vector).map(|(b, c)| b[i] * c).sum()).collect();
                let inward = |sign: f64| loose.iter().all(|&a| sign * dot(&row(a), &w) >= -1e-9);
                if !loose.is_empty() && !inward(1.0) && !inward(-1.0) {
                    continue;
                }
                lowest = lowest.min(value);
                neutral += usize::from(value.abs() <= 1e-9 * size && face == 0);
            }
        }
        equilibrium.stability = match lowest {
            l if l == f64::INFINITY => Stability::Stable { curvature: f64::INFINITY },
            l if l < -1e-9 * size => Stability::Unstable { curvature: l },
            l if l <= 1e-9 * size => Stability::Neutral { directions: neutral.max(1) },
            l => Stability::Stable { curvature: l },
        };
    }
}

/// A basis of what is orthogonal to some rows.
fn null_basis(d: usize, rows: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    if rows.is_empty() {
        return Some((0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect());
    }
    Some(Svd::new(rows.len(), d, &rows.concat(), 1e-10)?.null_space())
}

#[cfg(test)]
mod tests;
