//! From steps to nodes: both velocities, impulses, acceleration, and whether the equation of the scheme holds.

use super::super::linear::{Linear, Row};
use super::dot;
use super::rule::{HALF, Kind};
use saltus::scheme::Node;

/// The node that the step from `before` to `now` completes: that of `now`, or of `before` where a node is complete one step later. With the
/// impulse of the constraint that acts.
pub fn complete(
    (kind, h): (Kind, f64),
    linear: &Linear,
    (before, now): (&Row, &Row),
    acts: Option<(usize, f64)>,
    node: &mut Node,
) -> Option<(usize, f64)> {
    let d = linear.accelerations.len();
    let is_position_level = kind.is_position_level();
    node.contact = acts.is_some();
    node.impulses.fill(0.0);
    let impulse = acts.map(|(a, multiplier)| (a, if is_position_level { multiplier / h } else { multiplier }));
    if let Some((a, impulse)) = impulse {
        node.impulses[a] = impulse;
    }
    let jump = |i: usize| impulse.map_or(0.0, |(a, impulse)| linear.pulls[a][i] * impulse);
    for i in 0..d {
        let (u, next) = (before[d + i], now[d + i]);
        if is_position_level {
            let gain = (next - u) / h - jump(i);
            node.q[i] = before[i];
            node.v_left[i] = u / h + 0.5 * gain;
            node.v_right[i] = node.v_left[i] + jump(i);
            node.acceleration[i] = gain / h;
        } else {
            node.q[i] = now[i];
            node.v_left[i] = next - jump(i);
            node.v_right[i] = next;
            node.acceleration[i] = (node.v_left[i] - u) / h;
        }
    }
    impulse
}

/// By how much the equation of the scheme is off in a step in which no constraint acts: from the accelerations of the model, not from the
/// rule that made the step. z at both nodes, harmonics included.
pub fn residual(kind: Kind, linear: &Linear, h: f64, before: &Row, now: &Row) -> f64 {
    let d = linear.accelerations.len();
    let acceleration = |i: usize, z: &Row| dot(&linear.accelerations[i], z);
    // Where a position-level scheme takes its forces: at the node between, with the centred velocity.
    let mut centred = *before;
    (d..2 * d).for_each(|i| centred[i] = 0.5 * (before[i] + now[i]) / h);
    let kick = |i: usize| match kind {
        Kind::MoreauJean => HALF * h * (acceleration(i, before) + acceleration(i, now)),
        Kind::Mabrouk => h * acceleration(i, now),
        Kind::PaoliSchatzman => h * h * acceleration(i, &centred),
    };
    (0..d).map(|i| (now[d + i] - before[d + i] - kick(i)).abs()).fold(0.0, |m, x| if x <= m { m } else { x })
}
