//! Points where branches cross, and the branches that leave there.
//!
//! At such a point the equations with the tangent as one more row are singular: Newton's method finds orbits beside it, but
//! none near it to more than half of the figures. So it is located from orbits beside it, where everything is exact: the
//! determinant and the unknowns are smooth along the branch, and are interpolated.

use super::node::Node;
use super::zero::{Equations, correct};
use crate::linalg::{Svd, dot, max_abs};

/// Orbits on either side of a crossing from which it is interpolated.
const BESIDE: [f64; 6] = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];

/// The distances between them, as parts of the step; the first that leads to agreement is taken.
const SPACING: [f64; 4] = [0.1, 0.05, 0.02, 0.25];

/// Interpolation by four and by six orbits agrees, if the results are this close, as a part of the step.
const AGREE: f64 = 1e-7;

/// Displacements across the branch at which the other one is entered.
const ENTER: [f64; 6] = [0.004, 0.012, 0.0012, 0.03, 0.0004, 0.06];

/// Where a quantity of orbits changes its sign within a step: how far along, and the orbit there. `at` gives orbits along the
/// step, `before` is the quantity at its beginning.
pub fn locate(
    of: &dyn Fn(&Node) -> f64,
    before: f64,
    step: f64,
    at: &dyn Fn(f64) -> Option<Node>,
) -> Option<(f64, Node)> {
    // Roughly: bisection, as far as orbits can be told apart.
    let (mut low, mut high) = (0.0, step);
    for _ in 0..5 {
        let s = 0.5 * (low + high);
        match at(s) {
            Some(node) if of(&node) * before > 0.0 => low = s,
            Some(_) => high = s,
            None => break,
        }
    }
    let mut best: Option<(f64, f64, Node)> = None;
    for part in SPACING {
        let mut guess = 0.5 * (low + high);
        for _ in 0..4 {
            let Some((s, apart, node)) = interpolated(of, before, guess, part * step, at) else { break };
            let moved = (s - guess).abs();
            guess = s;
            // (The orbits have to lie on both sides of it evenly.)
            if moved < 0.05 * part * step.abs() {
                if best.as_ref().is_none_or(|b| apart < b.1) {
                    best = Some((s, apart, node));
                }
                break;
            }
        }
        if best.as_ref().is_some_and(|b| b.1 < AGREE * step.abs()) {
            break;
        }
    }
    best.map(|(s, _, node)| (s, node))
}

/// The crossing from orbits at even distances around a guess: where it is, how far interpolation by fewer of them differs,
/// and the orbit.
fn interpolated(
    of: &dyn Fn(&Node) -> f64,
    before: f64,
    guess: f64,
    h: f64,
    at: &dyn Fn(f64) -> Option<Node>,
) -> Option<(f64, f64, Node)> {
    let nodes: Vec<(f64, Node)> = BESIDE.iter().filter_map(|k| Some((k * h, at(guess + k * h)?))).collect();
    if nodes.len() < BESIDE.len() {
        return None;
    }
    let has_sides = nodes.iter().all(|(s, node)| of(node) * before * -s.signum() * h.signum() > 0.0);
    let is_one_branch = nodes.windows(2).all(|pair| dot(&pair[0].1.tangent, &pair[1].1.tangent) > 0.9);
    let is_one_sequence = nodes.windows(2).all(|pair| pair[0].1.anatomy.is_like(&pair[1].1.anatomy));
    if !(has_sides && is_one_branch && is_one_sequence) {
        return None;
    }
    let places: Vec<f64> = nodes.iter().map(|n| n.0).collect();
    let signs: Vec<f64> = nodes.iter().map(|n| of(&n.1)).collect();
    let all = root(&places, &signs, 3.0 * h.abs())?;
    let fewer = root(&places[1..5], &signs[1..5], 3.0 * h.abs())?;
    let entry = |k: usize| -> Vec<f64> { nodes.iter().map(|n| n.1.found.z[k]).collect() };
    let m = nodes[0].1.found.z.len();
    let z: Vec<f64> = (0..m).map(|k| polynomial(&places, &entry(k), all).0).collect();
    let along: Vec<f64> = (0..m).map(|k| polynomial(&places, &entry(k), all).1 * h.signum()).collect();
    let length = dot(&along, &along).sqrt();
    let tangent: Vec<f64> = along.iter().map(|x| x / length).collect();
    let mut family = nodes[0].1.family.clone();
    let found = family.evaluate(&z).ok().filter(|found| found.size() < 1e-7)?;
    let node = Node::with_tangent(&family, found, 0, tangent)?;
    Some((guess + all, (all - fewer).abs(), node))
}

/// A polynomial through values at places, and its slope (Neville).
pub fn polynomial(places: &[f64], values: &[f64], x: f64) -> (f64, f64) {
    let mut p: Vec<(f64, f64)> = values.iter().map(|v| (*v, 0.0)).collect();
    let n = places.len();
    for width in 1..n {
        for i in 0..n - width {
            let (a, b) = (places[i], places[i + width]);
            let (left, right) = (p[i], p[i + 1]);
            let value = ((x - b) * left.0 - (x - a) * right.0) / (a - b);
            let slope = (left.0 + (x - b) * left.1 - right.0 - (x - a) * right.1) / (a - b);
            p[i] = (value, slope);
        }
    }
    p[0]
}

/// The zero of a polynomial near the middle of its places.
pub fn root(places: &[f64], values: &[f64], reach: f64) -> Option<f64> {
    let mut x = 0.0;
    for _ in 0..50 {
        let (value, slope) = polynomial(places, values, x);
        let step = value / slope;
        if !step.is_finite() {
            return None;
        }
        x -= step;
        if x.abs() > reach {
            return None;
        }
        if step.abs() <= 1e-15 * reach {
            break;
        }
    }
    Some(x)
}

/// The first orbits of the branches that cross the one of a node, on both sides of it. One of them is left out where it is the
/// image of the other under a symmetry.
pub fn entered(node: &Node, (low, high): (f64, f64)) -> Vec<Node> {
    let m = node.found.z.len();
    let bordered: Vec<f64> = node.found.jacobian.iter().chain(&node.tangent).copied().collect();
    let Some(svd) = Svd::new(m, m, &bordered, 0.0) else { return Vec::new() };
    let across = svd.smallest();
    let mut firsts: Vec<Node> = Vec::new();
    for way in [1.0, -1.0] {
        let along: Vec<f64> = across.iter().map(|x| way * x).collect();
        let enter = |size: &f64| {
            let guess: Vec<f64> = node.found.z.iter().zip(&along).map(|(z, a)| z + size * a).collect();
            let mut family = node.family.clone();
            let (found, steps) = correct(&mut family, &guess, &along).ok()?;
            let away: Vec<f64> = found.z.iter().zip(&node.found.z).map(|(a, b)| a - b).collect();
            let first = Node::new(&family, found, steps, &away)?;
            let is_near = max_abs(&away) < 20.0 * size && first.anatomy.is_like(&node.anatomy);
            (is_near && (low..=high).contains(&first.value())).then_some(first)
        };
        firsts.extend(ENTER.iter().find_map(enter));
    }
    if let [one, other] = &firsts[..]
        && is_image(one, other)
    {
        firsts.truncate(1);
    }
    firsts
}

/// Whether two orbits are on branches that are images of each other: where the parameter is the same, so are the multipliers.
fn is_image(one: &Node, other: &Node) -> bool {
    other.at_value(0.0, one.value()).is_ok_and(|other| has_same_multipliers(one, &other))
}

/// Whether two orbits have the same period and multipliers.
pub fn has_same_multipliers(one: &Node, other: &Node) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + a.abs());
    let mut pairs = one.stability.multipliers.iter().zip(&other.stability.multipliers);
    (one.orbit.period - other.orbit.period).abs() < 1e-9 * one.orbit.period
        && pairs.all(|(a, b)| near(a.0, b.0) && near(a.1.abs(), b.1.abs()))
}
