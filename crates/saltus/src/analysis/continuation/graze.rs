//! Through grazing: the grazing orbit itself, and the branch on its other side.

use super::anatomy::{Approach, Nearness};
use super::branch::{Special, SpecialKind, Touched};
use super::node::Node;
use super::weak::Weak;
use super::zero::{Equations, correct};
use crate::linalg::dot;
use crate::text::number;

/// Speeds or gaps, as parts of the largest, at which the branch on the other side is entered.
const LEVELS: [f64; 5] = [0.02, 0.006, 0.002, 0.0005, 0.0001];

/// The first orbit there may be this part of its distance away from where the tangent leads.
const STRAYS: f64 = 0.3;

/// What lies at grazing.
pub struct Grazed {
    pub special: Special,
    /// The first orbit on the other side, with its tangent away from grazing; None if none was found.
    pub other: Option<Node>,
    /// Whether the grazing orbit has a fraction of the period: the branch begins or ends on one of shorter orbits.
    pub is_shorter: bool,
}

/// The grazing orbit closes after a part of its period, if it misses itself by less than this.
const SHORTER: f64 = 1e-5;

/// Whether an orbit closes after a part of its period.
fn is_shorter(node: &Node, z: &[f64]) -> bool {
    let mut family = node.family.clone();
    let n = family.multiple;
    let parts: Vec<f64> = match family.is_free() {
        true => vec![1.0 / 2.0, 1.0 / 3.0],
        false => (1..n).filter(|m| n.is_multiple_of(*m)).map(|m| m as f64 / n as f64).collect(),
    };
    // (The state alone: at grazing there may be no derivatives.)
    let Ok((start, period, _)) = family.place(z) else { return false };
    let state = family.space.state(&start);
    parts.into_iter().any(|part| {
        let options = crate::Options { end: start.t + part * period, ..family.options.clone() };
        let Ok(run) = family.problem.run_from(&start, &options) else { return false };
        let last = family.space.state(run.last());
        state.iter().zip(&last).zip(&family.scales).all(|((a, b), s)| ((a - b) / s).abs() < SHORTER)
    })
}

/// The grazing orbit that an approach of a node leads to, about `ahead` along its tangent, at most `reach` away.
pub fn graze(node: &Node, near: &Approach, ahead: f64, reach: f64) -> Option<Grazed> {
    let seen = node.settled(Some(near.t));
    let node = seen.as_ref().unwrap_or(node);
    // (Seen from elsewhere, its approach is at another time.)
    let near = node.anatomy.matching(near, node.orbit.period)?;
    let (start, period) = (node.orbit.start.t, node.orbit.period);
    let mut weak = Weak::new(&node.family, &node.anatomy, near, start, period)?;
    let z: Vec<f64> = node.found.z.iter().zip(&node.tangent).map(|(z, t)| z + ahead * t).collect();
    let (there, lasts, _) = weak.family.place(&z).ok()?;
    let part = (near.t - start) / period;
    let guess = weak.unknowns_of(&z, there.t + part * lasts, 0.0);
    let row = weak.level_row();
    let (found, _) = correct(&mut weak, &guess, &row).ok()?;
    let at = weak.of_orbit(&found.z);
    let away: Vec<f64> = at.iter().zip(&node.found.z).map(|(a, b)| a - b).collect();
    let distance = dot(&away, &away).sqrt();
    if distance > reach || dot(&away, &node.tangent) < -1e-7 - 0.2 * distance {
        return None;
    }
    // The gap is least there, not greatest.
    let (row, column) = (weak.family.inner() + 1, weak.place_of_instant());
    if !(found.jacobian[row * weak.unknowns() + column] > 0.0) {
        return None;
    }
    let instant = found.z[column] * weak.family.time;
    // The orbit that just misses has multipliers; the one that just hits has none.
    let touching = touching(node, &weak, near, &found.z)?;
    let is_shorter = is_shorter(node, &at);
    let (other, way) = match is_shorter {
        true => (None, None),
        false => enter(node, &weak, near, &found.z, &away),
    };
    let name = node.family.problem.model().constraints[near.constraint].name.clone();
    let what = match near.nearness {
        Nearness::Hit => format!("the impact at `{name}` vanishes"),
        Nearness::Miss => format!("`{name}` is touched: an impact appears"),
    };
    let goes = match way {
        None if is_shorter => "the branch meets grazing orbits of a shorter period",
        Some(true) => "the branch goes on in the same direction",
        Some(false) => "the branch turns back",
        None => "the branch on the other side was not found",
    };
    let special = Special {
        kind: SpecialKind::Grazing,
        point: touching,
        touched: Some(Touched { constraint: near.constraint, t: instant, units: near.units }),
        words: format!("{what} at t = {}; {goes}", number(instant, 8)),
    };
    Some(Grazed { special, other, is_shorter })
}

/// The grazing orbit as a point, judged by the motion that misses.
fn touching(node: &Node, weak: &Weak, near: &Approach, z: &[f64]) -> Option<super::branch::BranchPoint> {
    let mut weak = weak.clone().that(Nearness::Miss, near.unit(Nearness::Miss));
    let found = weak.evaluate(z).ok()?;
    let n = weak.family.space.dimension();
    let (m, scales) = (weak.unknowns(), weak.family.scales.clone());
    let mut orbit = node.orbit.clone();
    orbit.start = found.seen.clone();
    orbit.residual = found.size();
    for i in 0..n {
        for j in 0..n {
            let unit = f64::from(u8::from(i == j));
            orbit.passage.jacobian[i * n + j] = (found.jacobian[i * m + j] + unit) * scales[i] / scales[j];
        }
    }
    let (_, period, _) = weak.family.place(&weak.of_orbit(z)).ok()?;
    orbit.period = period;
    let mut point = node.point();
    (point.values, point.period) = (weak.family.values(&weak.of_orbit(z)), period);
    (point.start, point.stability, point.residual) = (found.seen, orbit.stability(), orbit.residual);
    Some(point)
}

/// The first orbit on the other side, and whether the parameter goes on in the same direction there.
fn enter(node: &Node, weak: &Weak, near: &Approach, at: &[f64], away: &[f64]) -> (Option<Node>, Option<bool>) {
    let side = near.nearness.other();
    let mut weak = weak.clone().that(side, near.unit(side));
    let Ok(here) = weak.evaluate(at) else { return (None, None) };
    let row = weak.level_row();
    let Some(tangent) = here.tangent(&row) else { return (None, None) };
    let level = tangent[tangent.len() - 1];
    if !(level > 1e-12) {
        return (None, None);
    }
    let place = tangent.len() - 2;
    let goes_on = away[away.len() - 1] * tangent[place] > 0.0 || away[away.len() - 1] == 0.0;
    for size in LEVELS {
        let guess: Vec<f64> = at.iter().zip(&tangent).map(|(z, t)| z + size / level * t).collect();
        let Ok((found, _)) = correct(&mut weak, &guess, &row) else { continue };
        // (Far from where the tangent leads it is another branch.)
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        if apart(&found.z, &guess) > STRAYS * apart(&guess, at) {
            continue;
        }
        let z = weak.of_orbit(&found.z);
        let along: Vec<f64> = z.iter().zip(weak.of_orbit(at)).map(|(a, b)| a - b).collect();
        let mut family = node.family.clone();
        // (The state is that of an orbit already: nothing has to be found.)
        let Ok((exact, steps)) = correct(&mut family, &z, &along) else { continue };
        let moved = exact.z.iter().zip(&z).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        let Some(next) = Node::new(&family, exact, steps, &along) else { continue };
        let has = next.anatomy.matching(&Approach { nearness: side, ..*near }, next.orbit.period).is_some();
        let (before, now) = (node.anatomy.sequence.len(), next.anatomy.sequence.len());
        let one_more = match side {
            Nearness::Hit => now == before + 1,
            Nearness::Miss => now + 1 == before,
        };
        if moved < 1e-6 && has && one_more {
            return (Some(next), Some(goes_on));
        }
    }
    (None, Some(goes_on))
}
