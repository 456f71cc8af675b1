//! What is near on a walk: whether two special points are one, how far orbits are apart, and which approaches may vanish next.

use super::anatomy::Approach;
use super::branch::{Special, SpecialKind, Touched};
use super::node::Node;

/// Below this level an impact is weak: steps become short, as derivatives grow, and grazing is looked for this many steps ahead.
const WEAK: f64 = 0.05;
const LONG: f64 = 10.0;

/// Whether two special points are one grazing orbit: the same place, multipliers of the motion that misses, and something that
/// both touch.
pub fn is_same_touch(a: &Special, b: &Special) -> bool {
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-8 * (1.0 + x.abs());
    let (p, q) = (&a.point, &b.point);
    let is_same = |s: &Touched, t: &Touched| match p.multiple {
        // (Seen from another phase, an orbit may be some periods of the forcing later.)
        Some(n) => {
            let forcing = p.period / n as f64;
            let apart = (s.t - t.t).rem_euclid(forcing);
            s.constraint == t.constraint && apart.min(forcing - apart) < 1e-5 * forcing
        }
        None => s.constraint == t.constraint,
    };
    a.kind == SpecialKind::Grazing
        && b.kind == SpecialKind::Grazing
        && p.multiple == q.multiple
        && p.values.iter().zip(&q.values).all(|(x, y)| near(*x, *y))
        && near(p.period, q.period)
        && a.touched.iter().any(|s| b.touched.iter().any(|t| is_same(s, t)))
        && p.stability
            .multipliers
            .iter()
            .zip(&q.stability.multipliers)
            .all(|(x, y)| (x.0 - y.0).abs() < 1e-5 * (1.0 + x.0.abs()))
}

/// Whether two changes of events are one.
pub fn is_same_change(a: &Special, b: &Special, unit: f64) -> bool {
    let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-7 * unit;
    a.kind == b.kind && a.words == b.words && a.point.values.iter().zip(&b.point.values).all(near)
}

/// How far apart two points of one family are.
pub fn distance(a: &Node, b: &Node) -> f64 {
    a.found.z.iter().zip(&b.found.z).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// How far an orbit is from where the tangent leads.
pub fn strays(from: &Node, to: &Node, made: f64) -> f64 {
    let each = from.found.z.iter().zip(&from.tangent).zip(&to.found.z);
    each.map(|((z, t), x)| (x - z - made * t).powi(2)).sum::<f64>().sqrt()
}

/// Approaches whose speed or gap vanishes within a step, by its rate since the last point; with how far ahead that is.
pub fn vanishing(node: &Node, before: Option<&(Node, f64)>, step: f64) -> Vec<(Approach, f64)> {
    let Some((last, made)) = before else { return Vec::new() };
    let mut found = Vec::new();
    for near in &node.anatomy.approaches {
        let Some(was) = last.anatomy.matching(near, node.orbit.period) else { continue };
        let rate = (near.level - was.level) / made;
        let steps = if near.level < WEAK { LONG } else { 1.5 };
        if rate < 0.0 && near.level + steps * rate * step < 0.0 {
            found.push((*near, near.level / -rate));
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found
}

/// Approaches by their level, the weakest first.
pub fn weakest(node: &Node) -> Vec<Approach> {
    let mut all: Vec<Approach> = node.anatomy.approaches.iter().copied().filter(|a| a.level < 0.3).collect();
    all.sort_by(|a, b| a.level.total_cmp(&b.level));
    all
}
