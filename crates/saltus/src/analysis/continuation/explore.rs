//! All branches from one orbit: both directions, and those that leave at period doublings and branch points.

use super::anatomy::Anatomy;
use super::branch::{Branch, BranchPoint, Left, Origin, Special, SpecialKind};
use super::clock::Clock;
use super::crossing;
use super::family::Family;
use super::node::Node;
use super::walk::{Fork, Met, Walk, WalkOptions};
use super::zero::{Equations, Missed, correct};
use crate::analysis::closing::Orbit;
use crate::analysis::phase_space::NoMap;
use crate::linalg::Svd;
use crate::problem::{Problem, Start};
use crate::{Keep, Options, Run, Side};

/// What is followed, and how far.
#[derive(Clone, Debug)]
pub struct ContinueOptions {
    /// How branches are followed.
    pub walk: WalkOptions,
    /// How many times branches are followed that leave others, at period doublings and branch points: 0 follows the first
    /// branch alone.
    pub doublings: usize,
    /// The tolerance of the motion.
    pub tolerance: f64,
    /// Directions from the first orbit: growing, falling parameter.
    pub directions: (bool, bool),
}

/// What a continuation reports as it goes.
#[derive(Debug)]
pub enum News<'a> {
    /// A branch begins.
    Begins(usize, &'a Origin),
    /// An orbit of it, with its motion.
    Point(usize, &'a BranchPoint, &'a Orbit),
    /// A special point of it.
    Special(usize, &'a Special),
}

/// Displacements along the direction of period doubling at which the new branch is entered.
const ENTER: [f64; 6] = [0.004, 0.012, 0.0012, 0.03, 0.0004, 0.06];

/// Follows the branches of orbits through one of them over an open parameter. `on` is called with everything as it is found;
/// false stops, and what was found is kept.
///
/// ```
/// use saltus::analysis::{Clock, ContinueOptions, OrbitOptions, SpecialKind, WalkOptions, continue_orbit, orbit};
/// use saltus::model::Builder;
/// let problem = Builder::new("oscillator").parameter("w", 1.6).coordinate("x", 0.0, 0.0).kinetic("x'^2/2")
///     .potential("x^2/2").force("x", "cos(w*t) - x'/10").restitution(0.8).constraint("stop", "1 - x")
///     .build()?.open(&["w"])?.problem()?;
/// let period = Some(std::f64::consts::TAU / 1.6);
/// let first = orbit(&problem, &problem.start(), &OrbitOptions { period, ..OrbitOptions::default() })?;
/// let walk = WalkOptions { range: (1.3, 2.0), step: 0.05, points: 500 };
/// let options = ContinueOptions { walk, doublings: 0, tolerance: 1e-13, directions: (true, true) };
/// let clock = Clock::of(&problem).expect("periodic forcing");
/// let branches = continue_orbit(&problem, clock, &first, "w", &options, &mut |_| true)?;
/// // It grazes where the amplitude of the smooth response is the clearance.
/// let mut special = branches.iter().flat_map(|b| &b.specials).map(|(_, s)| s);
/// let graze = special.find(|s| s.kind == SpecialKind::Grazing).expect("a grazing orbit");
/// assert!((graze.point.values[0] - 1.99_f64.sqrt()).abs() < 1e-10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn continue_orbit(
    problem: &Problem,
    clock: Clock,
    orbit: &Orbit,
    parameter: &str,
    options: &ContinueOptions,
    on: &mut dyn FnMut(News) -> bool,
) -> Result<Vec<Branch>, NoMap> {
    let place = problem.open_index(parameter)?;
    let (low, high) = options.walk.range;
    let (start, run) = seen_from_afar(problem, orbit, options.tolerance)?;
    let seen = (&start, orbit.period, orbit.multiple);
    let family = Family::through(problem, clock, seen, &run, &[(place, high - low)], options.tolerance)?;
    let z = family.unknowns_of(&start, orbit.period);
    let mut row = vec![0.0; z.len()];
    if let Some(last) = row.last_mut() {
        *last = 1.0;
    }
    let mut explorer =
        Explorer { options, on, branches: Vec::new(), waiting: Vec::new(), met: Vec::new(), is_stopped: false };
    for (is_wanted, way) in [(options.directions.0, 1.0), (options.directions.1, -1.0)] {
        // (Not beyond the end of the range.)
        let value = start.parameters[place];
        if !is_wanted || (way > 0.0 && value >= high) || (way < 0.0 && value <= low) {
            continue;
        }
        let along: Vec<f64> = row.iter().map(|x| way * x).collect();
        let mut family = family.clone();
        let (found, steps) = correct(&mut family, &z, &row).map_err(|missed| match missed {
            Missed::Map(reason) => reason,
            Missed::Far(_) => crate::SetupError::new("the first orbit does not close").into(),
        })?;
        let Some(first) = Node::new(&family, found, steps, &along) else { continue };
        explorer.follow(first, Origin::First(way > 0.0), 0);
    }
    while let Some(Waiting { fork, parent, depth }) = explorer.waiting.pop() {
        if explorer.is_stopped {
            break;
        }
        // (Both ends of a branch of doubled orbits are doublings, and several branches meet where they cross: once each.)
        if explorer.met.iter().any(|met| met.is_like(&fork)) || explorer.branches.iter().any(|b| joins(b, &fork)) {
            continue;
        }
        explorer.met.push(Known::of(&fork));
        let (value, range) = (fork.value, options.walk.range);
        let (origin, firsts) = match fork.kind {
            SpecialKind::Doubling => {
                (Origin::Doubling(parent, value), doubled(&fork.node, range).into_iter().collect::<Vec<Node>>())
            }
            SpecialKind::Grazing => (Origin::Grazing(parent, value), vec![fork.node.clone()]),
            _ => (Origin::Crossing(parent, value), crossing::entered(&fork.node, range)),
        };
        if firsts.is_empty() {
            explorer.branches[parent].left.push(Left { kind: fork.kind, value, was_tried: true });
        }
        firsts.into_iter().for_each(|first| explorer.follow(first, origin.clone(), depth));
    }
    Ok(explorer.branches)
}

/// A point where a branch begins that has not been followed yet.
struct Waiting {
    fork: Fork,
    parent: usize,
    depth: usize,
}

/// A fork by what does not depend on where its orbit is seen from.
struct Known {
    kind: SpecialKind,
    value: f64,
    period: f64,
    multipliers: Vec<(f64, f64)>,
}

/// All branches so far.
struct Explorer<'a> {
    options: &'a ContinueOptions,
    on: &'a mut dyn FnMut(News) -> bool,
    branches: Vec<Branch>,
    waiting: Vec<Waiting>,
    met: Vec<Known>,
    is_stopped: bool,
}

impl Known {
    fn of(fork: &Fork) -> Self {
        let multipliers = fork.node.stability.multipliers.clone();
        Known { kind: fork.kind, value: fork.value, period: fork.node.orbit.period, multipliers }
    }

    fn is_like(&self, fork: &Fork) -> bool {
        let node = &fork.node;
        let unit = node.family.units[node.family.units.len() - 1];
        let pairs = || self.multipliers.iter().zip(&node.stability.multipliers);
        self.kind == fork.kind
            && (self.value - fork.value).abs() < 1e-5 * unit
            && (self.period - node.orbit.period).abs() < 1e-4 * self.period
            && pairs().all(|(a, b)| (a.0.hypot(a.1) - b.0.hypot(b.1)).abs() < 1e-2 * (1.0 + a.0.hypot(a.1)))
    }
}

impl Explorer<'_> {
    /// Follows a branch from its first orbit.
    fn follow(&mut self, first: Node, origin: Origin, depth: usize) {
        let number = self.branches.len();
        self.is_stopped |= self.is_stopped || !(self.on)(News::Begins(number, &origin));
        if self.is_stopped {
            return;
        }
        let (on, is_stopped) = (&mut self.on, &mut self.is_stopped);
        let mut report = |met: Met| {
            let goes_on = match met {
                Met::Point(point, orbit) => on(News::Point(number, point, orbit)),
                Met::Special(special) => on(News::Special(number, special)),
            };
            *is_stopped |= !goes_on;
            goes_on
        };
        let grazing = |(k, b): (usize, &Branch)| -> Vec<(usize, Special)> {
            let all = b.specials.iter().filter(|s| s.1.kind == SpecialKind::Grazing);
            all.map(|s| (k, s.1.clone())).collect()
        };
        let known = self.branches.iter().enumerate().flat_map(grazing).collect();
        let (branch, forks) = Walk::new(&self.options.walk, &mut report, origin, known).run(first);
        self.branches.push(branch);
        for fork in forks {
            if self.met.iter().any(|met| met.is_like(&fork)) {
                continue;
            }
            // A branch that ends on another one: if that is known, so is everything there.
            let waits = |w: &Waiting| Known::of(&w.fork).is_like(&fork);
            if fork.kind == SpecialKind::Crossing && fork.node.is_upright() && self.waiting.iter().any(waits) {
                self.waiting.retain(|w| !waits(w));
                self.met.push(Known::of(&fork));
            } else if depth < self.options.doublings {
                self.waiting.push(Waiting { fork, parent: number, depth: depth + 1 });
            } else {
                let left = Left { kind: fork.kind, value: fork.value, was_tried: false };
                self.branches[number].left.push(left);
            }
        }
    }
}

/// A state on an orbit far from its events, and the motion of one period from there.
fn seen_from_afar(problem: &Problem, orbit: &Orbit, tolerance: f64) -> Result<(Start, Run), NoMap> {
    let (start, period) = (&orbit.start, orbit.period);
    let anatomy = Anatomy::of(problem, orbit);
    let (later, half) = anatomy.quiet(start.t, period, &[]);
    let is_near = anatomy.distance(start.t, period) < 0.06 * period;
    let there = match orbit.passage.run.trajectory.at(start.t + later, Side::Right) {
        Some((q, v)) if is_near && half > 0.0 => {
            Start::new(start.t + later, q, v).with_parameters(start.parameters.clone())
        }
        _ => start.clone(),
    };
    let keep = Keep::PIECES | Keep::IMPACTS | Keep::TIMELINE;
    let run = problem.run_from(&there, &Options::events(there.t + period).tolerance(tolerance).keep(keep))?;
    Ok((there, run))
}

/// Whether a branch ends at the orbit of a doubling.
fn joins(branch: &Branch, fork: &Fork) -> bool {
    let (Origin::Doubling(..), [.., before, last]) = (&branch.origin, &branch.points[..]) else { return false };
    let node = &fork.node;
    let is_double = match (last.multiple, node.orbit.multiple) {
        (Some(double), Some(single)) => double == 2 * single,
        _ => (last.period / node.orbit.period - 2.0).abs() < 0.1,
    };
    let value = |p: &BranchPoint| p.values[p.values.len() - 1];
    let unit = node.family.units[node.family.units.len() - 1];
    let near = (value(last) - fork.value).abs() < 1e-5 * unit + 3.0 * (value(last) - value(before)).abs();
    fork.kind == SpecialKind::Doubling && is_double && near && branch.end.contains("half its period")
}

/// The first orbit of twice the period beside one with a multiplier of −1.
fn doubled(node: &Node, (low, high): (f64, f64)) -> Option<Node> {
    let n = node.family.space.dimension();
    let (scales, jacobian) = (&node.family.scales, &node.orbit.passage.jacobian);
    let entry = |i: usize, j: usize| jacobian[i * n + j] * scales[j] / scales[i] + f64::from(u8::from(i == j));
    let plus: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
    let mut along = Svd::new(n, n, &plus, 0.0)?.smallest();
    let mut family = node.family.clone();
    let z = node.found.z.clone();
    match family.is_free() {
        true => family.time *= 2.0,
        false => family.multiple *= 2,
    }
    along.resize(family.unknowns(), 0.0);
    for size in ENTER {
        let guess: Vec<f64> = z.iter().zip(&along).map(|(z, a)| z + size * a).collect();
        let Ok((found, steps)) = correct(&mut family.clone(), &guess, &along) else { continue };
        let away: Vec<f64> = found.z.iter().zip(&z).map(|(a, b)| a - b).collect();
        if crate::linalg::max_abs(&away) > 20.0 * size {
            continue;
        }
        let is_fine = |n: &Node| (low..=high).contains(&n.value()) && n.apart().is_some_and(|by| by > 0.1 * size);
        if let Some(first) = Node::new(&family, found, steps, &away).filter(is_fine) {
            return Some(first);
        }
    }
    None
}
