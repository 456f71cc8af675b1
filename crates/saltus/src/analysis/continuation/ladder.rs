//! From a grazing orbit to orbits that clearly hit or miss, by their speed or gap.
//!
//! Beside grazing a fold or a period doubling may lie arbitrarily near: derivatives of the map grow like 1/U. Speed and gap are
//! good coordinates there, so orbits are found at levels that grow by a factor, from very small ones, and what happens between
//! two of them is located by the level. At level zero the direction of the branch is known as well.

use super::branch::{BranchPoint, Special, SpecialKind};
use super::crossing::has_same_multipliers;
use super::family::Family;
use super::locate::{self, Found, sign_change};
use super::node::Node;
use super::weak::Weak;
use super::zero::{Equations, correct};

/// The first level, and factors from each to the next: the largest that leads to an orbit.
const FIRST: f64 = 1e-5;
const FACTORS: [f64; 4] = [4.0, 2.0, 1.4, 1.15];

/// An orbit may be this part of its distance from the last away from where the tangent leads.
const STRAYS: f64 = 0.3;

/// Newton's method may move an orbit that is one already by this.
const MOVED: f64 = 1e-6;

/// Orbits on one side of a grazing orbit.
pub struct Ladder<'a> {
    weak: Weak,
    family: &'a Family,
    /// The direction of the parameter at grazing, with growing level.
    slope: f64,
    rungs: Vec<Rung>,
}

/// An orbit with a speed or a gap. That of the grazing orbit has no node.
struct Rung {
    level: f64,
    z: Vec<f64>,
    node: Option<Node>,
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

impl<'a> Ladder<'a> {
    /// Climbs from the grazing orbit with the unknowns `at` up to a level, or as far as there are orbits of the right kind; None
    /// where speed or gap do not grow from there.
    pub fn climb(
        weak: Weak,
        family: &'a Family,
        at: &[f64],
        top: f64,
        is_right: &dyn Fn(&Node) -> bool,
    ) -> Option<Ladder<'a>> {
        let mut weak = weak;
        let here = weak.evaluate(at).ok()?;
        let row = weak.level_row();
        let place = at.len() - weak.count();
        let mut tangent = here.tangent(&row)?;
        let is_rising = |t: &[f64]| t[place..].iter().all(|x| *x > 1e-12);
        if !is_rising(&tangent) {
            return None;
        }
        let slope = tangent[weak.place_of_parameter()];
        let mut ladder = Ladder { weak, family, slope, rungs: vec![Rung { level: 0.0, z: at.to_vec(), node: None }] };
        'up: while let Some(last) = ladder.rungs.last().filter(|last| last.level < top) {
            let (from, level) = (last.z.clone(), last.level);
            for factor in FACTORS {
                let to = if level == 0.0 { FIRST * factor / FACTORS[0] } else { level * factor }.min(top);
                let share = (to - level) / tangent[place];
                let guess: Vec<f64> = from.iter().zip(&tangent).map(|(z, t)| z + share * t).collect();
                let Ok((found, _)) = correct(&mut ladder.weak, &guess, &row) else { continue };
                // (Far from where the tangent leads it is another branch.)
                if apart(&found.z, &guess) > STRAYS * apart(&guess, &from) {
                    continue;
                }
                let Some(next) = found.tangent(&tangent).filter(|t| is_rising(t)) else { continue };
                let like = ladder.rungs.iter().rev().find_map(|r| r.node.as_ref());
                let is_like = |n: &Node| is_right(n) && like.is_none_or(|l| l.anatomy.is_like(&n.anatomy));
                let node = ladder.node(&found.z, &ladder.weak.of_orbit(&next)).filter(is_like);
                // (Very near grazing the map may have no derivatives, and the events not be told.)
                if node.is_none() && (like.is_some() || to > 100.0 * FIRST) {
                    continue;
                }
                ladder.rungs.push(Rung { level: to, z: found.z.clone(), node });
                tangent = next;
                if ladder.weak.recentred(&found.z).is_err() {
                    break 'up;
                }
                continue 'up;
            }
            break;
        }
        Some(ladder)
    }

    /// The orbit of a point, with its branch in a direction.
    fn node(&self, z: &[f64], along: &[f64]) -> Option<Node> {
        let (z, mut family) = (self.weak.of_orbit(z), self.family.clone());
        // (It is one already: nothing has to be found.)
        let (found, steps) = correct(&mut family, &z, along).ok()?;
        let moved = found.z.iter().zip(&z).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        if moved > MOVED {
            return None;
        }
        Node::new(&family, found, steps, along)
    }

    /// The orbit at a level between two rungs: its unknowns, and the direction of the parameter.
    fn at(&self, level: f64, a: &Rung, b: &Rung) -> Option<(Vec<f64>, f64)> {
        let share = (level - a.level) / (b.level - a.level);
        let along: Vec<f64> = b.z.iter().zip(&a.z).map(|(b, a)| b - a).collect();
        let guess: Vec<f64> = a.z.iter().zip(&along).map(|(a, d)| a + share * d).collect();
        let mut weak = self.weak.clone();
        weak.recentred(&guess).ok()?;
        let row = weak.level_row();
        let (found, _) = correct(&mut weak, &guess, &row).ok()?;
        let tangent = found.tangent(&along)?;
        Some((found.z, tangent[weak.place_of_parameter()]))
    }

    /// The highest orbit.
    pub fn top(&self) -> Option<&Node> {
        self.rungs.last()?.node.as_ref()
    }

    /// Whether it is the image of another one from the same grazing orbit.
    pub fn is_image(&self, other: &Ladder) -> bool {
        let (Some(one), Some(two)) = (self.top(), other.top()) else { return false };
        let zero = self.rungs.first().map_or(0.0, |r| self.family.values(&self.weak.of_orbit(&r.z))[0]);
        // (At the value that both have passed.)
        let (inner, outer) = match (one.value() - zero).abs() <= (two.value() - zero).abs() {
            true => (one, other),
            false => (two, self),
        };
        outer.at_value(inner.value()).is_some_and(|other| has_same_multipliers(inner, &other))
    }

    /// The first orbit with a value of the parameter.
    fn at_value(&self, value: f64) -> Option<Node> {
        let away = |z: &[f64]| self.family.values(&self.weak.of_orbit(z))[0] - value;
        let pair = self.rungs.windows(2).find(|pair| away(&pair[0].z) * away(&pair[1].z) <= 0.0)?;
        let (a, b) = (&pair[0], &pair[1]);
        let trial = |s: f64| self.at(a.level + s, a, b).map(|(z, _)| (away(&z), z));
        let (_, z) = sign_change(b.level - a.level, (away(&a.z), away(&b.z)), 1e-13, trial)?;
        let along: Vec<f64> = b.z.iter().zip(&a.z).map(|(b, a)| b - a).collect();
        self.node(&z, &self.weak.of_orbit(&along))
    }

    /// How far up it goes.
    pub fn height(&self) -> f64 {
        self.rungs.last().map_or(0.0, |r| r.level)
    }

    /// Whether the parameter grows from grazing.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The special points on it upwards, with the orbits of all rungs between them; nothing where there is none.
    pub fn way_up(&self) -> Vec<(Node, Option<Special>)> {
        let nodes: Vec<(&Rung, &Node)> = self.rungs.iter().filter_map(|r| Some((r, r.node.as_ref()?))).collect();
        let mut way: Vec<(Node, Option<Special>)> = Vec::new();
        if let (Some((first, node)), Some(foot)) = (nodes.first(), self.rungs.first()) {
            way.extend(self.foot(foot, first, node).map(|(node, special)| (node, Some(special))));
            way.push(((*node).clone(), None));
        }
        for pair in nodes.windows(2) {
            let ((a, from), (b, to)) = (pair[0], pair[1]);
            let along = self.weak.of_orbit(&b.z.iter().zip(&a.z).map(|(b, a)| b - a).collect::<Vec<f64>>());
            let at = |s: f64| self.node(&self.at(a.level + s, a, b)?.0, &along);
            let found: Vec<Found> = locate::between(from, to, b.level - a.level, &at);
            way.extend(found.into_iter().map(|(_, node, special)| (node, Some(special))));
            way.push((to.clone(), None));
        }
        if way.iter().any(|w| w.1.is_some()) { way } else { Vec::new() }
    }

    /// A fold below the first orbit.
    fn foot(&self, foot: &Rung, first: &Rung, node: &Node) -> Option<(Node, Special)> {
        let ends = (self.slope, node.signs.fold);
        if !(ends.0 * ends.1 < 0.0) {
            return None;
        }
        let trial = |level: f64| self.at(level, foot, first).map(|(z, slope)| (slope, z));
        let (_, z) = sign_change(first.level, ends, 1e-14, trial)?;
        let way = if ends.0 > 0.0 { "smaller" } else { "larger" };
        let words = format!("the branch turns back to {way} values");
        let at = self.node(&z, &node.tangent);
        let point = match &at {
            Some(at) => at.point(),
            // (Too near grazing for derivatives: multipliers are those of the first orbit that has some.)
            None => {
                let (z, mut family) = (self.weak.of_orbit(&z), self.family.clone());
                let (start, period, _) = family.place(&z).ok()?;
                BranchPoint { values: family.values(&z), start, period, ..node.point() }
            }
        };
        let special = Special { kind: SpecialKind::Fold, point, touched: Vec::new(), words };
        Some((at.unwrap_or_else(|| node.clone()), special))
    }

    /// The same downwards.
    pub fn way_down(&self) -> Vec<(Node, Option<Special>)> {
        let turned = self.way_up().into_iter().rev().map(|(node, special)| {
            let node = node.reversed();
            let special = special.map(|special| {
                let tangent = special.point.tangent.iter().map(|x| -x).collect();
                Special { point: BranchPoint { tangent, ..special.point }, ..special }
            });
            (node, special)
        });
        turned.collect()
    }
}
