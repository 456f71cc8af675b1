//! Through grazing: the grazing orbit itself, and the branch on its other side.

use super::anatomy::{Approach, Nearness};
use super::branch::{Special, SpecialKind, Touched};
use super::ladder::Ladder;
use super::node::Node;
use super::weak::Weak;
use super::zero::{Equations, correct};
use crate::linalg::dot;
use crate::text::number;

/// The speed or gap, as a part of the largest, at which the branch on the other side is followed as before.
const CLEAR: f64 = 0.02;

/// An orbit with a smaller level may not be reached from grazing by its level: it is near enough.
const NEAR: f64 = 1e-3;

/// Where more than this graze together, branches on which only some of them hit are not looked for.
const MIXED: usize = 4;

/// Approaches whose levels differ by less belong together.
const TOGETHER: f64 = 1e-7;

/// What lies at grazing.
pub struct Grazed {
    /// Special points before it that a step would not see, with the orbits between them.
    pub before: Vec<(Node, Option<Special>)>,
    pub special: Special,
    /// The same behind it.
    pub behind: Vec<(Node, Option<Special>)>,
    /// The first orbit on the other side, with its tangent away from grazing; None if none was found.
    pub other: Option<Node>,
    /// First orbits of further branches that leave there.
    pub forks: Vec<Node>,
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
    // (Levels are parts of sizes that are known roughly: gaps and speeds themselves are compared.)
    let size = near.speed_or_gap();
    let is_together = |a: &&Approach| {
        let by = TOGETHER * (near.unit() + 100.0 * size);
        a.nearness == near.nearness && (a.speed_or_gap() - size).abs() <= by
    };
    let together: Vec<Approach> = node.anatomy.approaches.iter().filter(is_together).copied().collect();
    let all = if together.len() > 1 { touch(node, &together, ahead, reach) } else { None };
    all.or_else(|| touch(node, &[*near], ahead, reach))
}

/// The orbit at which some approaches graze together.
fn touch(node: &Node, near: &[Approach], ahead: f64, reach: f64) -> Option<Grazed> {
    let times: Vec<f64> = near.iter().map(|a| a.t).collect();
    let seen = node.settled(&times);
    let node = seen.as_ref().unwrap_or(node);
    let (start, period) = (node.orbit.start.t, node.orbit.period);
    // (Seen from elsewhere, its approaches are at other times.)
    let near: Option<Vec<Approach>> = near.iter().map(|a| node.anatomy.matching(a, period).copied()).collect();
    let mut near = near?;
    near.sort_by(|a, b| (a.t - start).rem_euclid(period).total_cmp(&(b.t - start).rem_euclid(period)));
    let mut weak = Weak::new(&node.family, &node.anatomy, &near, start, period)?;
    let z: Vec<f64> = node.found.z.iter().zip(&node.tangent).map(|(z, t)| z + ahead * t).collect();
    let (there, lasts, _) = weak.family.place(&z).ok()?;
    let instants: Vec<f64> = near.iter().map(|a| there.t + (a.t - start).rem_euclid(period) / period * lasts).collect();
    let guess = weak.unknowns_of(&z, &instants, &vec![0.0; near.len()]);
    let row = weak.level_row();
    let (found, _) = correct(&mut weak, &guess, &row).ok()?;
    let at = weak.of_orbit(&found.z);
    let away: Vec<f64> = at.iter().zip(&node.found.z).map(|(a, b)| a - b).collect();
    let distance = dot(&away, &away).sqrt();
    let is_there = weak.levels_of(&found.z).iter().all(|level| level.abs() < TOGETHER);
    if !is_there || distance > reach || dot(&away, &node.tangent) < -1e-7 - 0.2 * distance || !weak.are_least(&found) {
        return None;
    }
    // The orbit that just misses has multipliers; the one that just hits has none.
    let touching = touching(node, &weak, &found.z)?;
    let side = near[0].nearness;
    let is_like = |n: &Node| n.anatomy.is_like(&node.anatomy);
    let here = Ladder::climb(weak.clone(), &node.family, &found.z, near[0].level, &is_like);
    let leads_here = |l: &&Ladder| l.top().is_some_and(|top| far(top, node) < 1e-5) && l.height() >= near[0].level;
    let before = match here.as_ref().filter(leads_here) {
        Some(ladder) => ladder.way_down(),
        None if near[0].level < NEAR => Vec::new(),
        None => return None,
    };
    let is_shorter = is_shorter(node, &at);
    let other = match is_shorter {
        true => None,
        false => beyond(node, &weak, &vec![side.other(); near.len()], &near, &found.z),
    };
    let forks = if is_shorter { Vec::new() } else { mixed(node, &weak, &near, &found.z) };
    // The direction just before, and just behind.
    let slope = here.as_ref().map_or(away[away.len() - 1], |l| -l.slope());
    let way = other.as_ref().map(|l| slope * l.slope() >= 0.0);
    let instants = weak.instants(&found.z);
    let touched: Vec<Touched> =
        near.iter().zip(&instants).map(|(a, &t)| Touched { constraint: a.constraint, t, units: a.units }).collect();
    let next = other.as_ref().and_then(|l| l.top().cloned());
    let mut behind = other.as_ref().map_or_else(Vec::new, Ladder::way_up);
    behind.pop();
    let goes = match way {
        None if is_shorter => "the branch meets grazing orbits of a shorter period",
        Some(true) => "the branch goes on in the same direction",
        Some(false) => "the branch turns back",
        None => "the branch on the other side was not found",
    };
    let more = match forks.len() {
        0 => String::new(),
        1 => "; another branch leaves, on which some of them hit and others miss".into(),
        n => format!("; {n} more branches leave, on which some of them hit and others miss"),
    };
    let words = format!("{}; {goes}{more}", what(node, side, &touched));
    let special = Special { kind: SpecialKind::Grazing, point: touching, touched, words };
    Some(Grazed { before, special, behind, other: next, forks, is_shorter })
}

/// What is touched, in words.
fn what(node: &Node, side: Nearness, touched: &[Touched]) -> String {
    let model = node.family.problem.model();
    let name = |t: &Touched| model.constraints[t.constraint].name.clone();
    if let [one] = touched {
        let t = number(one.t, 8);
        return match side {
            Nearness::Hit => format!("the impact at `{}` vanishes at t = {t}", name(one)),
            Nearness::Miss => format!("`{}` is touched: an impact appears at t = {t}", name(one)),
        };
    }
    let each: Vec<String> = touched.iter().map(|t| format!("`{}` (t = {})", name(t), number(t.t, 8))).collect();
    let each = each.join(" and ");
    match side {
        Nearness::Hit => format!("impacts at {each} vanish together"),
        Nearness::Miss => format!("{each} are touched together: impacts appear"),
    }
}

/// How far apart two orbits of one family are.
fn far(a: &Node, b: &Node) -> f64 {
    a.found.z.iter().zip(&b.found.z).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

/// The grazing orbit as a point, judged by the motion that misses.
fn touching(node: &Node, weak: &Weak, z: &[f64]) -> Option<super::branch::BranchPoint> {
    let mut weak = weak.clone().that(Nearness::Miss);
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

/// The orbits on another side, from grazing up to where they clearly hit or miss: which of the approaches do what.
fn beyond<'n>(node: &'n Node, weak: &Weak, sides: &[Nearness], near: &[Approach], at: &[f64]) -> Option<Ladder<'n>> {
    let hits = |of: &mut dyn Iterator<Item = Nearness>| of.filter(|n| *n == Nearness::Hit).count();
    let before = node.anatomy.sequence.len() - hits(&mut near.iter().map(|a| a.nearness));
    let wanted = before + hits(&mut sides.iter().copied());
    let is_right = |next: &Node| {
        let has = |(a, &nearness): (&Approach, &Nearness)| {
            next.anatomy.matching(&Approach { nearness, ..*a }, next.orbit.period).is_some()
        };
        next.anatomy.sequence.len() == wanted && near.iter().zip(sides).all(has)
    };
    Ladder::climb(weak.clone().those(sides), &node.family, at, CLEAR, &is_right)
}

/// Where several graze together: the first orbits of branches on which some of them hit and others miss. Of two that are
/// images of each other one is left out.
fn mixed(node: &Node, weak: &Weak, near: &[Approach], at: &[f64]) -> Vec<Node> {
    let count = near.len();
    let mut found: Vec<Ladder> = Vec::new();
    if !(2..=MIXED).contains(&count) {
        return Vec::new();
    }
    for hits in 1..(1_usize << count) - 1 {
        let sides: Vec<Nearness> =
            (0..count).map(|k| if hits >> k & 1 == 1 { Nearness::Hit } else { Nearness::Miss }).collect();
        let Some(ladder) = beyond(node, weak, &sides, near, at) else { continue };
        if ladder.top().is_some() && !found.iter().any(|other| ladder.is_image(other)) {
            found.push(ladder);
        }
    }
    found.iter().filter_map(|ladder| ladder.top().cloned()).collect()
}
