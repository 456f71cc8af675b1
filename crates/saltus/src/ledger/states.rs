//! First-order states, from the record and the model alone: they change at their rates, and by nothing else. Each is measured in its
//! own unit.

use super::Evidence;
use super::figure::Checks;
use super::replay::PortReplay;
use crate::motion::{Side, Trajectory};
use crate::record::Gauge;

/// By events: the part of its size by which a state may change without its rate in one piece.
const UNEXPLAINED: f64 = 1e-6;
/// By events: a state is continuous, and what was stored, to this many tolerances.
const TOLERANCES: f64 = 1e2;
/// With time steps: by how many times the change of its rate a step may be off; a scheme of first order takes the rate of one of its ends.
const CHANGES: f64 = 3.0;
/// With time steps: and by which part of the fastest rate of the run, for rates that change in two ways that cancel.
const COARSE: f64 = 0.02;
/// Steps that are looked at, about.
const PLACES: usize = 4000;

/// The largest value of each state at the stored instants.
pub(super) fn sizes(motion: &Trajectory) -> Vec<f64> {
    let mut sizes = vec![0.0_f64; motion.dimension() - motion.degrees()];
    if !sizes.is_empty() {
        for k in 0..motion.len() {
            sizes.iter_mut().zip(motion.states(k)).for_each(|(size, z)| *size = size.max(z.abs()));
        }
    }
    sizes
}

/// In the middle of a piece of length h: the slopes of its states, the last entries of `a`, are their rates at the state prepared.
pub(super) fn piece(gauge: &Gauge, sizes: &[f64], (t, h): (f64, f64), a: &[f64], checks: &mut Checks) {
    let rates = gauge.rates();
    for ((slope, rate), size) in a[a.len() - rates.len()..].iter().zip(rates).zip(sizes) {
        checks.states.note(h * (slope - rate).abs(), UNEXPLAINED * (size + h * rate.abs()), t);
    }
}

/// Two values of the states that are to be the same, as the last entries of velocities.
pub(super) fn same(sizes: &[f64], tolerance: f64, t: f64, v: &[f64], w: &[f64], checks: &mut Checks) {
    let first = v.len() - sizes.len();
    for ((z, other), size) in v[first..].iter().zip(&w[first..]).zip(sizes) {
        checks.states.note((z - other).abs(), TOLERANCES * tolerance.max(1e-12) * size, t);
    }
}

/// A step that was looked at: when, its length, and for each state by how much it is off, what its rate changes by nearby, and the rate.
struct Step {
    t: f64,
    h: f64,
    of_states: Vec<[f64; 3]>,
}

/// With time steps: from a stored instant to the next, states change by the mean of their rates there, to first order.
pub(super) fn instants(evidence: &Evidence, first: usize, last: usize, checks: &mut Checks) {
    let motion = evidence.trajectory;
    let n = motion.dimension() - motion.degrees();
    if n == 0 || evidence.by_events || last < first + 4 {
        return;
    }
    let (mut gauge, mut ports) = (evidence.gauge.clone(), PortReplay::new(evidence.ports));
    let (jumps, sizes) = (motion.jumps(), sizes(motion));
    let stride = ((last - first) / PLACES).max(1);
    let mut steps: Vec<Step> = Vec::new();
    for k in (first + 1..last - 2).step_by(stride) {
        let (t, h) = (motion.t[k], motion.t[k + 1] - motion.t[k]);
        let next = jumps.partition_point(|&j| j + 1 < k);
        // (Around an impact velocities jump, and with them rates that use them.)
        if !(h <= 1.5 * evidence.step) || jumps.get(next).is_some_and(|&j| j <= k + 2) {
            continue;
        }
        ports.apply(t, Side::Right);
        let mut rates = [const { Vec::new() }; 4];
        for (place, rates) in rates.iter_mut().enumerate() {
            let j = k + place - 1;
            if gauge.prepare(motion.t[j], motion.q(j), motion.v(j, Side::Left)) {
                rates.extend_from_slice(gauge.rates());
            }
        }
        if rates.iter().any(|rates| rates.len() != n) {
            continue;
        }
        let of_state = |i: usize| {
            let r = [0, 1, 2, 3].map(|place: usize| rates[place][i]);
            let off = motion.states(k + 1)[i] - motion.states(k)[i] - 0.5 * h * (r[1] + r[2]);
            let changes = (r[1] - r[0]).abs().max((r[2] - r[1]).abs()).max((r[3] - r[2]).abs());
            [off.abs(), changes, r[1].abs().max(r[2].abs())]
        };
        steps.push(Step { t: motion.t[k + 1], h, of_states: (0..n).map(of_state).collect() });
    }
    for i in 0..n {
        let fastest = steps.iter().map(|step| step.of_states[i][2]).fold(0.0, f64::max);
        for step in &steps {
            let [off, changes, _] = step.of_states[i];
            let allowed = step.h * (CHANGES * changes + COARSE * fastest) + 64.0 * f64::EPSILON * sizes[i];
            checks.states.note(off, allowed, step.t);
        }
    }
}
