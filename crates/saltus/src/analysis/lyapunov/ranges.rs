//! By what components of states are compared: each by its own range over the motion.
//!
//! Where the origin of a position lies says nothing of the motion, nor does what another component measures. A component that does not move
//! is still known only to the rounding of what it is computed from.

use super::PhaseSpace;
use crate::Side;
use crate::motion::Trajectory;
use crate::problem::Start;

/// A motion is looked at so often in each of its pieces, beside the instants that it stores.
const LOOKS: usize = 64;
/// Positions and velocities are computed to this part of the largest of their kind (a default tolerance),
const SAME: f64 = 1e-10;
/// and everything to this part of the largest of all.
const ROUNDING: f64 = 1e-16;

/// The least and the greatest of each component of the state over a motion.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    degrees: usize,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Ranges {
    /// Of nothing yet.
    pub fn new(space: &PhaseSpace, degrees: usize) -> Self {
        let n = space.dimension();
        Ranges { degrees, low: vec![f64::INFINITY; n], high: vec![f64::NEG_INFINITY; n] }
    }

    /// Of a motion.
    pub fn of(space: &PhaseSpace, motion: &Trajectory) -> Self {
        let mut ranges = Ranges::new(space, motion.degrees());
        ranges.watch(space, motion);
        ranges
    }

    /// A piece of the motion.
    pub fn watch(&mut self, space: &PhaseSpace, motion: &Trajectory) {
        for side in [Side::Left, Side::Right] {
            let mut cursor = motion.cursor(side);
            let (mut q, mut v) = (vec![0.0; motion.dimension()], vec![0.0; motion.dimension()]);
            let mut instants: Vec<f64> = motion.t.iter().copied().chain(motion.times(LOOKS)).collect();
            instants.sort_by(f64::total_cmp);
            for t in instants {
                if cursor.read(t, &mut q, &mut v).is_ok() {
                    self.see(&space.state(&Start::new(t, q.clone(), v.clone())));
                }
            }
        }
    }

    fn see(&mut self, state: &[f64]) {
        for (i, x) in state.iter().enumerate() {
            self.low[i] = self.low[i].min(*x);
            self.high[i] = self.high[i].max(*x);
        }
    }

    /// How far a component goes.
    pub fn range(&self, i: usize) -> f64 {
        (self.high[i] - self.low[i]).max(0.0)
    }

    fn size(&self, i: usize) -> f64 {
        self.low[i].abs().max(self.high[i].abs())
    }

    /// What a component is known to at best.
    pub fn slack(&self, i: usize) -> f64 {
        let (d, n) = (self.degrees, self.low.len());
        let kind = match i {
            i if i < d => 0..d,
            i if i < 2 * d => d..2 * d,
            i => i..i + 1,
        };
        let largest = |of: std::ops::Range<usize>| of.map(|k| self.size(k)).fold(0.0, f64::max);
        (SAME * largest(kind)).max(ROUNDING * largest(0..n))
    }

    /// How far a difference is beyond what components are known to, relative to the range of each.
    pub fn share(&self, i: usize, difference: f64) -> f64 {
        match difference.abs() - self.slack(i) {
            beyond if beyond <= 0.0 => 0.0,
            beyond => beyond / self.range(i),
        }
    }

    /// How far two states are from each other, in their ranges.
    pub fn apart(&self, a: &[f64], b: &[f64]) -> f64 {
        // (What is no number is far.)
        let share = |(i, (a, b)): (usize, (&f64, &f64))| self.share(i, a - b);
        a.iter().zip(b).enumerate().map(share).fold(0.0, |m: f64, x| if x <= m { m } else { x })
    }
}
