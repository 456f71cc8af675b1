//! Many starts, and the distinct orbits that they lead to.

use super::find::is_same;
use crate::analysis::closing::Orbit;
use crate::analysis::phase_space::PhaseSpace;
use crate::linalg::Dice;
use crate::problem::{Problem, Start};
use crate::{Options, Side, System};

/// How often a start inside an obstacle is drawn again.
const DRAWS: usize = 50;

/// Starts around one: the start itself, and further ones as far from it as the motion from there goes in `lasts`.
pub fn starts_around(problem: &Problem, start: &Start, lasts: f64, count: usize, seed: u64) -> Vec<Start> {
    let space = PhaseSpace::of(problem);
    let Ok(at) = problem.instance(start) else { return vec![start.clone()] };
    let start = at.start();
    let center = space.state(start);
    let options = Options::events(start.t + lasts);
    let degrees = problem.model().degrees();
    let mut spread: Vec<f64> = center.iter().map(|x| x.abs()).collect();
    if let Ok(run) = problem.run_from(start, &options) {
        let (reach, fast) = (run.trajectory.reach(), run.trajectory.fastest());
        for (i, spread) in spread.iter_mut().enumerate() {
            *spread = spread.max(if i < degrees {
                reach
            } else if i < 2 * degrees {
                fast
            } else {
                0.0
            });
        }
    }
    let mut dice = Dice::new(seed);
    let mut all = vec![start.clone()];
    while all.len() < count {
        let drawn = (0..DRAWS).find_map(|_| {
            let state: Vec<f64> = center.iter().zip(&spread).map(|(x, s)| x + s * dice.between(-1.0, 1.0)).collect();
            let mut drawn = space.start(start, &state, None);
            if !problem.model().joints.is_empty() {
                drawn = problem.assembled(&drawn).ok()?;
            }
            System::admits(problem, &drawn).is_ok().then_some(drawn)
        });
        match drawn {
            Some(drawn) => all.push(drawn),
            None => break,
        }
    }
    all
}

/// Whether two orbits are one, begun at different places perhaps.
pub fn is_same_orbit(problem: &Problem, a: &Orbit, b: &Orbit) -> bool {
    let space = PhaseSpace::of(problem);
    if a.multiple != b.multiple || (a.period - b.period).abs() > 1e-6 * a.period {
        return false;
    }
    let motion = &b.passage.run.trajectory;
    let at = |t: f64| motion.at(t, Side::Right).map(|(q, v)| Start::new(t, q, v));
    match a.multiple {
        Some(n) => (0..n).any(|j| match j {
            0 => is_same(&space, &a.start, &b.start),
            j => at(b.start.t + b.period * j as f64 / n as f64).is_some_and(|s| is_same(&space, &a.start, &s)),
        }),
        None => {
            let (one, other) = (a.stability().multipliers, b.stability().multipliers);
            let alike =
                one.iter().zip(&other).all(|(x, y)| (x.0 - y.0).hypot(x.1 - y.1) < 1e-4 * (1.0 + x.0.hypot(x.1)));
            let from = space.state(&a.start);
            let size = from.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
            let near = |k: usize| {
                at(b.start.t + b.period * k as f64 / 2000.0).map_or(f64::INFINITY, |s| {
                    let state = space.state(&s);
                    state.iter().zip(&from).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
                })
            };
            alike && (0..2000).map(near).fold(f64::INFINITY, f64::min) < 2e-2 * size
        }
    }
}
