//! Where along a step a sign changes, or a sequence of events does.

use super::branch::{BranchPoint, Special, SpecialKind};
use super::crossing;
use super::node::{Node, Signs};
use crate::text::number;

/// Signs are located to this part of a step, in so many trials at most.
const LOCATED: f64 = 1e-13;
const ROUNDS: usize = 60;

/// A quantity below this is noise, not a sign.
const NOISE: f64 = 1e-9;

/// A special point within a step: how far along, the orbit there, and what it is.
pub type Found = (f64, Node, Special);

/// The special points between two orbits, in order. `at` gives the orbits between, by their distance from the first; the
/// second is at `step`.
pub fn between(from: &Node, to: &Node, step: f64, at: &dyn Fn(f64) -> Option<Node>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for kind in Signs::KINDS {
        let (a, b) = (from.signs.of(kind), to.signs.of(kind));
        if !(a * b < 0.0) || a.abs().max(b.abs()) < NOISE {
            continue;
        }
        let located = match kind {
            SpecialKind::Crossing => crossing::locate(&|node| node.signs.crossing, a, step, at),
            _ => sign_change(step, (a, b), LOCATED, |s| at(s).map(|node| (node.signs.of(kind), node))),
        };
        let Some((s, node)) = located else { continue };
        if !is_one(kind, &node) {
            continue;
        }
        let special = Special { kind, point: node.point(), touched: Vec::new(), words: words(kind, &node, from) };
        found.push((s, node, special));
    }
    // (Where branches cross, one of them may turn: that is no fold.)
    let crossings: Vec<f64> =
        found.iter().filter(|f| f.2.kind == SpecialKind::Crossing && f.1.is_upright()).map(|f| f.0).collect();
    found.retain(|f| f.2.kind != SpecialKind::Fold || crossings.iter().all(|s| (f.0 - s).abs() > 0.05 * step.abs()));
    found.sort_by(|x, y| x.0.total_cmp(&y.0));
    found
}

/// Where a quantity changes its sign within a step, by regula falsi (Illinois): `trial` gives it, and what it is of, at a distance along the step.
/// None where a trial fails.
pub fn sign_change<T>(
    step: f64,
    (mut f_low, mut f_high): (f64, f64),
    figure: f64,
    mut trial: impl FnMut(f64) -> Option<(f64, T)>,
) -> Option<(f64, T)> {
    let (mut low, mut high, mut last) = (0.0, step, f64::NAN);
    let mut best = None;
    for round in 0..ROUNDS {
        let mut s = high - f_high * (high - low) / (f_high - f_low);
        if !(s > low && s < high) || round % 8 == 7 {
            s = 0.5 * (low + high);
        }
        let (f, found) = trial(s)?;
        best = Some((s, found));
        if f == 0.0 || (s - last).abs() <= figure * (1.0 + step.abs()) || high - low <= figure {
            break;
        }
        last = s;
        if f * f_low < 0.0 {
            (high, f_high) = (s, f);
            f_low *= 0.5;
        } else {
            (low, f_low) = (s, f);
            f_high *= 0.5;
        }
    }
    best
}

/// Whether a located sign is what it stands for.
fn is_one(kind: SpecialKind, node: &Node) -> bool {
    let multipliers = &node.stability.multipliers;
    match kind {
        SpecialKind::Doubling => multipliers.iter().any(|z| (z.0 + 1.0).hypot(z.1) < 1e-4),
        // (A product of two real ones is no torus.)
        SpecialKind::Torus => multipliers.iter().any(|z| z.1.abs() > 1e-5 && (z.0.hypot(z.1) - 1.0).abs() < 1e-5),
        SpecialKind::Fold => true,
        _ => multipliers.iter().any(|z| (z.0 - 1.0).hypot(z.1) < 1e-3),
    }
}

/// What a special point means, on a branch that comes from `from`.
pub fn words(kind: SpecialKind, node: &Node, from: &Node) -> String {
    match kind {
        SpecialKind::Fold => {
            let way = if from.signs.fold > 0.0 { "smaller" } else { "larger" };
            format!("the branch turns back to {way} values")
        }
        SpecialKind::Doubling => "an orbit of twice the period branches off".into(),
        SpecialKind::Torus => {
            let pair = node.stability.multipliers.iter().find(|z| z.1 > 1e-5 && (z.0.hypot(z.1) - 1.0).abs() < 1e-5);
            let turns = pair.map_or(f64::NAN, |z| z.1.atan2(z.0) / std::f64::consts::TAU);
            format!("a quasi-periodic motion branches off, with {} turns per period", number(turns, 6))
        }
        _ => "another branch crosses".into(),
    }
}

/// Where the sequence of events changes within a step: the last orbit before it and the first behind it, by bisection.
pub fn change(from: &Node, to: &Node, step: f64) -> Option<(Node, Node)> {
    let (mut low, mut high) = (0.0, step);
    let (mut before, mut after) = (from.clone(), to.clone());
    for _ in 0..60 {
        if high - low <= 1e-12 {
            break;
        }
        let s = 0.5 * (low + high);
        let node = from.ahead(s).ok()?;
        if node.anatomy.is_like(&from.anatomy) {
            (low, before) = (s, node);
        } else {
            (high, after) = (s, node);
        }
    }
    Some((before, after))
}

/// Distances, from an orbit beside a change, of those from which it is extrapolated.
const BACK: f64 = 1e-3;
const FURTHER: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// Where the shortest phase of an orbit beside a change has shrunk to nothing. A phase that is very short is not told from none,
/// so its duration is extrapolated from orbits farther away: `back` is -1 for an orbit before the change and 1 for one behind.
pub fn shrunk(beside: &Node, back: f64) -> Option<BranchPoint> {
    let short = beside.anatomy.shortest;
    if !(short < 1e-3 * beside.orbit.period) {
        return None;
    }
    let mut nodes = Vec::with_capacity(FURTHER.len());
    for k in FURTHER {
        nodes.push(beside.ahead(back * k * BACK).ok().filter(|n| n.anatomy.is_like(&beside.anatomy))?);
    }
    let durations: Vec<f64> = nodes.iter().map(|n| n.anatomy.shortest).collect();
    let is_shrinking = durations.windows(2).all(|d| d[0] < d[1]) && durations[0] > short;
    let none = crossing::root(&FURTHER, &durations, 0.5).filter(|_| is_shrinking)?;
    let fewer = crossing::root(&FURTHER[..4], &durations[..4], 0.5)?;
    // (It has to be beyond the orbit, and near.)
    if none > 0.0 || (none - fewer).abs() > 1e-4 {
        return None;
    }
    let entry = |k: usize| -> Vec<f64> { nodes.iter().map(|n| n.found.z[k]).collect() };
    let z: Vec<f64> = (0..beside.found.z.len()).map(|k| crossing::polynomial(&FURTHER, &entry(k), none).0).collect();
    let mut family = beside.family.clone();
    let (start, period, _) = family.place(&z).ok()?;
    Some(BranchPoint { values: family.values(&z), start, period, ..beside.point() })
}
