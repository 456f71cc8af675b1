//! Orbits whose period is their own and that shrink to an equilibrium: the Hopf point where the branch ends.
//!
//! There the equations of an orbit have an equilibrium as a solution with any period, and beyond it the branch is the same
//! orbits half a period later. Parameter, period and the mean of the orbit are smooth functions of the mean square of its
//! deviations from the mean, and are extrapolated to zero.

use super::branch::BranchPoint;
use super::crossing::polynomial;
use super::node::Node;
use crate::Side;

/// Instants of one period at which an orbit is read: sums over a period of a smooth function converge very fast.
const SAMPLES: usize = 64;

/// Extrapolation is tried for orbits smaller than this, compared with the largest of the branch.
const SMALL: f64 = 0.2;

/// Squares from which it is made, as multiples of the last.
const SQUARES: [f64; 5] = [1.0, 1.5, 2.25, 3.5, 5.0];

/// The point is found, if extrapolation by one orbit less differs by less, as a part of the range.
const AGREE: f64 = 1e-9;

/// The orbits of a branch that may shrink.
#[derive(Default)]
pub struct Shrinking {
    seen: Vec<Sample>,
    largest: f64,
}

struct Sample {
    /// The mean square of deviations, in the scales of states.
    square: f64,
    value: f64,
    period: f64,
    /// The mean position and velocity.
    mean: Vec<f64>,
}

impl Shrinking {
    /// Takes an orbit; the equilibrium to which the branch shrinks, where that can be told.
    pub fn add(&mut self, node: &Node) -> Option<BranchPoint> {
        if !node.family.is_free() {
            return None;
        }
        let Some(sample) = sample(node).filter(|_| node.anatomy.sequence.is_empty()) else {
            self.seen.clear();
            return None;
        };
        self.largest = self.largest.max(sample.square);
        if self.seen.last().is_some_and(|last| last.square <= sample.square) {
            self.seen.clear();
        }
        let square = sample.square;
        self.seen.push(sample);
        if !(square < SMALL * SMALL * self.largest) {
            return None;
        }
        let mut chosen: Vec<&Sample> = Vec::new();
        for factor in SQUARES {
            let away = |s: &&Sample| (s.square / square / factor).ln().abs();
            let near = self.seen.iter().min_by(|a, b| away(a).total_cmp(&away(b)))?;
            if away(&near) > 0.25 || chosen.iter().any(|c| c.square == near.square) {
                return None;
            }
            chosen.push(near);
        }
        let places: Vec<f64> = chosen.iter().map(|s| s.square / square).collect();
        let all = |of: &dyn Fn(&Sample) -> f64| -> Vec<f64> { chosen.iter().map(|s| of(s)).collect() };
        let zero = |of: &dyn Fn(&Sample) -> f64| polynomial(&places, &all(of), 0.0).0;
        let value = zero(&|s| s.value);
        let fewer = polynomial(&places[..4], &all(&|s| s.value)[..4], 0.0).0;
        let unit = node.family.units[node.family.units.len() - 1];
        if !((value - fewer).abs() < AGREE * unit) {
            return None;
        }
        let mut point = node.point();
        let d = point.start.q.len();
        point.period = zero(&|s| s.period);
        (0..d).for_each(|i| point.start.q[i] = zero(&|s| s.mean[i]));
        (0..d).for_each(|i| point.start.v[i] = zero(&|s| s.mean[d + i]));
        let place = node.family.free[node.family.free.len() - 1];
        point.start.parameters[place] = value;
        point.start.reached = None;
        if let Some(last) = point.values.last_mut() {
            *last = value;
        }
        Some(point)
    }
}

fn sample(node: &Node) -> Option<Sample> {
    let (start, motion) = (&node.orbit.start, &node.orbit.passage.run.trajectory);
    let (d, degrees) = (start.q.len(), motion.degrees());
    let scale = |i: usize| match i {
        i if i < degrees => node.family.scales[i],
        i if i < d => f64::INFINITY,
        i => node.family.scales[degrees + i - d],
    };
    let (mut mean, mut squares) = (vec![0.0; 2 * d], vec![0.0; 2 * d]);
    for k in 0..SAMPLES {
        let t = start.t + node.orbit.period * k as f64 / SAMPLES as f64;
        let (q, v) = motion.at(t, Side::Right)?;
        for (i, x) in q.iter().chain(&v).enumerate() {
            // (About the start, so that no figures are lost.)
            let x = x - if i < d { start.q[i] } else { start.v[i - d] };
            mean[i] += x / SAMPLES as f64;
            squares[i] += x * x / SAMPLES as f64;
        }
    }
    let each = (0..2 * d).filter(|i| scale(*i).is_finite());
    let square = each.map(|i| (squares[i] - mean[i] * mean[i]).max(0.0) / (scale(i) * scale(i))).sum();
    let from = start.q.iter().chain(&start.v);
    mean.iter_mut().zip(from).for_each(|(m, x)| *m += x);
    Some(Sample { square, value: node.value(), period: node.orbit.period, mean })
}
