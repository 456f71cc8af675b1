//! All branches from one orbit: both directions, and those that branch off at period doublings.

use super::anatomy::Anatomy;
use super::branch::{Branch, BranchPoint, Origin, Special};
use super::clock::Clock;
use super::family::Family;
use super::node::Node;
use super::walk::{Met, Walk, WalkOptions};
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
    /// How many times the period may double: 0 follows the first branch alone.
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
    let mut explorer = Explorer { options, on, branches: Vec::new(), waiting: Vec::new(), is_stopped: false };
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
    while let Some(Doubling { node, value, parent, depth }) = explorer.waiting.pop() {
        // (Both ends of a branch of doubled orbits are doublings: it is followed once.)
        if explorer.branches.iter().any(|b| joins(b, &node, value)) {
            continue;
        }
        let Some(first) = doubled(&node, options.walk.range) else { continue };
        explorer.follow(first, Origin::Doubling(parent, value), depth);
    }
    Ok(explorer.branches)
}

/// A period doubling where a branch begins that has not been followed yet.
struct Doubling {
    node: Node,
    value: f64,
    parent: usize,
    depth: usize,
}

/// All branches so far.
struct Explorer<'a> {
    options: &'a ContinueOptions,
    on: &'a mut dyn FnMut(News) -> bool,
    branches: Vec<Branch>,
    waiting: Vec<Doubling>,
    is_stopped: bool,
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
        let (branch, doublings) = Walk::new(&self.options.walk, &mut report, origin).run(first);
        self.branches.push(branch);
        if depth < self.options.doublings {
            let more =
                doublings.into_iter().map(|(node, value)| Doubling { node, value, parent: number, depth: depth + 1 });
            self.waiting.extend(more);
        }
    }
}

/// A state on an orbit far from its events, and the motion of one period from there.
fn seen_from_afar(problem: &Problem, orbit: &Orbit, tolerance: f64) -> Result<(Start, Run), NoMap> {
    let (start, period) = (&orbit.start, orbit.period);
    let anatomy = Anatomy::of(problem, orbit);
    let (later, half) = anatomy.quiet(start.t, period, None);
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
fn joins(branch: &Branch, node: &Node, value: f64) -> bool {
    let (Origin::Doubling(..), Some(last)) = (&branch.origin, branch.points.last()) else { return false };
    let is_double = last.multiple.is_some_and(|m| Some(m) == node.orbit.multiple.map(|n| 2 * n));
    let unit = node.family.units[node.family.units.len() - 1];
    let near = (last.values[last.values.len() - 1] - value).abs() < 0.03 * unit;
    is_double && near && branch.end.contains("half its period")
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
