//! A walk along one branch: predictor, corrector, a step that adapts, and what is met on the way.

use super::branch::{Branch, BranchPoint, Origin, Special, SpecialKind};
use super::graze::{Grazed, graze};
use super::locate;
use super::nearby::{distance, is_same_change, is_same_touch, strays, vanishing, weakest};
use super::node::Node;
use super::shrinking::Shrinking;
use super::zero::Missed;
use crate::analysis::closing::Orbit;
use crate::linalg::dot;
use crate::text::number;

/// How a branch is followed.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// The range of the parameter.
    pub range: (f64, f64),
    /// The largest step, as a part of the range and of the size of states.
    pub step: f64,
    /// The largest number of points of a branch.
    pub points: usize,
}

/// Steps shorter than this are not made.
const SHORTEST: f64 = 1e-7;

/// Tangents of neighbouring points whose cosine is smaller are too far apart.
const STRAIGHT: f64 = 0.97;

/// An orbit may be this part of a step away from where the tangent leads.
const STRAYS: f64 = 0.25;

/// In one step the period changes by no more than this factor, as a logarithm.
const PERIOD_CHANGE: f64 = 0.4;

/// A branch is left where its period is this many times that of its first orbit.
const LONGEST: f64 = 100.0;

/// Orbits this near to themselves half a period later have half the period.
pub const SAME: f64 = 1e-6;

/// Changes of events on one branch after which it is left: chatter that is not complete has infinitely many.
const CHANGES: usize = 200;

/// What is met on a walk.
pub enum Met<'a> {
    /// An orbit.
    Point(&'a BranchPoint, &'a Orbit),
    /// A special point.
    Special(&'a Special),
}

/// A point where another branch begins: a period doubling, a crossing, or grazing.
pub struct Fork {
    pub kind: SpecialKind,
    /// The orbit there; at grazing, the first one of the other branch.
    pub node: Node,
    /// The value of the parameter.
    pub value: f64,
}

/// A walk in progress.
pub struct Walk<'a> {
    pub options: &'a WalkOptions,
    /// Called with everything that is met; false ends the walk.
    pub on: &'a mut dyn FnMut(Met) -> bool,
    branch: Branch,
    /// Grazing orbits of earlier branches.
    known: Vec<(usize, Special)>,
    /// Where other branches begin.
    forks: Vec<Fork>,
    is_stopped: bool,
    /// The period of its first orbit.
    longest: f64,
}

/// A step that was made, or why none was.
enum Step {
    Made(Box<Node>),
    Crossed(Box<Node>),
    End(String, bool),
}

impl<'a> Walk<'a> {
    /// `known` are grazing orbits of earlier branches, with their numbers.
    pub fn new(
        options: &'a WalkOptions,
        on: &'a mut dyn FnMut(Met) -> bool,
        origin: Origin,
        known: Vec<(usize, Special)>,
    ) -> Self {
        let branch = Branch {
            origin,
            points: Vec::new(),
            specials: Vec::new(),
            end: String::new(),
            is_cut: false,
            left: Vec::new(),
        };
        Walk { options, on, branch, known, forks: Vec::new(), is_stopped: false, longest: f64::INFINITY }
    }

    fn add(&mut self, node: &Node) {
        let point = node.point();
        self.is_stopped |= !(self.on)(Met::Point(&point, &node.orbit));
        self.branch.points.push(point);
    }

    /// A special point with its orbit; other branches may begin there.
    fn meet(&mut self, node: Node, special: Special) {
        if matches!(special.kind, SpecialKind::Doubling | SpecialKind::Crossing) {
            let value = special.point.values[special.point.values.len() - 1];
            self.forks.push(Fork { kind: special.kind, node, value });
        }
        self.mark(special);
    }

    fn mark(&mut self, special: Special) {
        self.is_stopped |= !(self.on)(Met::Special(&special));
        self.branch.specials.push((self.branch.points.len(), special));
    }

    /// Follows the branch from a node to its end.
    pub fn run(mut self, first: Node) -> (Branch, Vec<Fork>) {
        let mut node = first.settled(&[]).unwrap_or(first);
        self.add(&node);
        self.longest = node.orbit.period;
        let first = node.clone();
        let mut before: Option<(Node, f64)> = None;
        let mut shrinking = Shrinking::default();
        let mut step = 0.1 * self.options.step;
        let (end, is_cut) = loop {
            if self.is_stopped {
                break ("it was stopped".to_string(), false);
            }
            if self.branch.points.len() >= self.options.points {
                break (format!("{} points were computed", self.options.points), false);
            }
            if self.branch.specials.iter().filter(|s| s.1.kind == SpecialKind::Change).count() > CHANGES {
                break ("its events change again and again: impacts accumulate".to_string(), true);
            }
            match self.step(&node, before.as_ref(), &mut step) {
                Step::Made(next) => {
                    self.add(&next);
                    if self.is_at_end(&next) {
                        break ("the end of the range is reached".to_string(), false);
                    }
                    if let Some(why) = self.returns(&first, &node, &next) {
                        break (why, false);
                    }
                    if let Some(point) = shrinking.add(&next) {
                        let why = format!(
                            "it shrinks to an equilibrium at {}",
                            number(point.values[point.values.len() - 1], 10)
                        );
                        let words = "the orbit shrinks to an equilibrium".into();
                        self.mark(Special { kind: SpecialKind::Hopf, point, touched: Vec::new(), words });
                        break (why, false);
                    }
                    let made = distance(&node, &next);
                    before = Some((node, made));
                    node = *next;
                }
                Step::Crossed(next) => {
                    self.add(&next);
                    (before, node) = (None, *next);
                    step = step.clamp(0.1 * self.options.step, 0.25 * self.options.step);
                }
                Step::End(why, is_cut) => break (why, is_cut),
            }
            if let Some(moved) = node.settled(&[]) {
                (before, node) = (None, moved);
            }
        };
        (self.branch.end, self.branch.is_cut) = (end, is_cut);
        (self.branch, self.forks)
    }

    fn is_at_end(&self, node: &Node) -> bool {
        let (low, high) = self.options.range;
        // (To rounding: values are measured by the range.)
        let (value, by) = (node.value(), 1e-12 * (high - low));
        (value <= low + by && node.signs.fold < 0.0) || (value >= high - by && node.signs.fold > 0.0)
    }

    /// Whether the branch is back where it began, or has become one of half the period.
    fn returns(&self, first: &Node, before: &Node, now: &Node) -> Option<String> {
        if self.branch.points.len() > 20
            && now.anatomy.is_like(&first.anatomy)
            && first.family.phase == now.family.phase
        {
            let step = distance(before, now);
            if distance(first, now) < step && dot(&first.tangent, &now.tangent) > 0.9 {
                return Some("it is back where it began".into());
            }
        }
        // (Newton's method may come to orbits of half the period where those are near.)
        let is_half = self.halves(now) && now.apart().is_some_and(|by| by < SAME);
        is_half.then(|| format!("it joins the branch of half its period near {}", number(before.value(), 8)))
    }

    /// Whether an orbit may have half its period.
    fn halves(&self, node: &Node) -> bool {
        let is_even = node.family.is_free() || node.family.multiple.is_multiple_of(2);
        matches!(self.branch.origin, Origin::Doubling(..)) && is_even
    }

    /// The end of a branch that turns upright at a crossing: it meets another branch from the side, and what lies beyond is its
    /// own image.
    fn meets(&mut self, at: Node, special: Special) -> Step {
        let value = number(at.value(), 10);
        self.add(&at);
        if self.halves(&at) && at.apart().is_some_and(|by| by < 1e-3) {
            self.mark(Special { words: "the branch of half its period is met".into(), ..special });
            return Step::End(format!("it joins the branch of half its period at {value}"), false);
        }
        self.meet(at, special);
        Step::End(format!("it ends on another branch, at the branch point at {value}"), false)
    }

    /// One step; `step` is its length, adapted.
    fn step(&mut self, node: &Node, before: Option<&(Node, f64)>, step: &mut f64) -> Step {
        let mut why = String::new();
        loop {
            *step = step.min(self.options.step);
            if *step < SHORTEST {
                return self.stuck(node, before, &why);
            }
            // Grazing is gone to before it is passed.
            for (near, ahead) in vanishing(node, before, *step) {
                if let Some(grazed) = graze(node, &near, ahead, 4.0 * *step + 2.0 * ahead)
                    && self.is_within(&grazed)
                {
                    return self.crossed(grazed);
                }
            }
            let (next, made) = match self.advance(node, *step) {
                Ok(found) => found,
                Err(missed) => {
                    why = reason(&missed);
                    *step *= 0.4;
                    continue;
                }
            };
            // Where the period has no bound, nothing is stepped over.
            if (next.orbit.period / node.orbit.period).ln().abs() > PERIOD_CHANGE {
                why = "the period changes without bound".into();
                *step *= 0.4;
                continue;
            }
            if next.orbit.period > LONGEST * self.longest {
                let (value, times) = (number(node.value(), 6), number(LONGEST, 6));
                return Step::End(format!("its period grows beyond {times} times the first, near {value}"), true);
            }
            let steps = next.orbit.steps;
            let is_like = next.anatomy.is_like(&node.anatomy);
            if !is_like {
                let shrink = *step > 1e-3 * self.options.step;
                if let Some(crossing) = self.other_events(node, &next, made, shrink) {
                    return crossing;
                }
                why = format!("the events change from `{}` to `{}`", node.anatomy.words(), next.anatomy.words());
                *step *= 0.4;
                continue;
            }
            // (An orbit far from where the tangent leads belongs to another branch.)
            let bends = dot(&node.tangent, &next.tangent) < STRAIGHT || strays(node, &next, made) > STRAYS * made;
            if bends && *step > 100.0 * SHORTEST {
                why = "neighbouring branches cannot be told apart".into();
                *step *= 0.5;
                continue;
            }
            let at = |s: f64| node.ahead(s).ok();
            for (_, at, special) in locate::between(node, &next, made, &at) {
                let side = special.kind == SpecialKind::Crossing && at.is_upright();
                if !side {
                    self.meet(at, special);
                    continue;
                }
                return self.meets(at, special);
            }
            *step *= match steps {
                0..=3 => 1.4,
                4 => 1.1,
                5 => 0.9,
                _ => 0.6,
            };
            return Step::Made(Box::new(next));
        }
    }

    /// The next orbit, at the end of the range if that comes first; and how far along the tangent it is.
    fn advance(&self, node: &Node, step: f64) -> Result<(Node, f64), Missed> {
        let unit = node.family.units[node.family.units.len() - 1];
        let slope = node.tangent[node.tangent.len() - 1] * unit;
        let (low, high) = self.options.range;
        let bound = if slope > 0.0 { high } else { low };
        let reaches = (bound - node.value()) / slope;
        if reaches.is_finite() && reaches >= 0.0 && reaches <= step {
            let next = node.at_value(reaches, bound)?;
            let away: Vec<f64> = next.found.z.iter().zip(&node.found.z).map(|(a, b)| a - b).collect();
            return Ok((next, dot(&away, &node.tangent)));
        }
        Ok((node.ahead(step)?, step))
    }

    /// The sequence of events is another a step further: grazing, or a change of another kind.
    fn other_events(&mut self, node: &Node, next: &Node, made: f64, may_shrink: bool) -> Option<Step> {
        for near in weakest(node).into_iter().take(4) {
            if let Some(grazed) = graze(node, &near, 0.5 * made, 4.0 * made)
                && self.is_within(&grazed)
            {
                return Some(self.crossed(grazed));
            }
        }
        if may_shrink {
            return None;
        }
        let (last, first) = locate::change(node, next, made)?;
        if distance(&last, &first) > 1e-5 {
            return None;
        }
        let words = format!("`{}` becomes `{}`", last.anatomy.words(), first.anatomy.words());
        // (One of the two has a phase that the other has not.)
        let (back, beside) = if last.anatomy.shortest < first.anatomy.shortest { (-1.0, &last) } else { (1.0, &first) };
        let point = locate::shrunk(beside, back).unwrap_or_else(|| first.point());
        let special = Special { kind: SpecialKind::Change, point, touched: Vec::new(), words };
        // (A phase that is too short to be told may seem to vanish several times.)
        if !self.branch.specials.last().is_some_and(|(_, before)| is_same_change(before, &special, first.unit())) {
            self.mark(special);
        }
        Some(Step::Crossed(Box::new(first)))
    }

    /// Whether a grazing orbit is within the range: beyond its end there is nothing to tell.
    fn is_within(&self, grazed: &Grazed) -> bool {
        let (low, high) = self.options.range;
        let value = grazed.special.point.values.last().copied().unwrap_or(f64::NAN);
        (low..=high).contains(&value)
    }

    fn crossed(&mut self, grazed: Grazed) -> Step {
        let value = grazed.special.point.values.last().copied().unwrap_or(f64::NAN);
        self.way(grazed.before);
        let was_here = self
            .branch
            .specials
            .iter()
            .any(|(_, s)| s.point.sequence == grazed.special.point.sequence && is_same_touch(s, &grazed.special));
        let known = self.known.iter().find(|(_, s)| is_same_touch(s, &grazed.special)).map(|k| k.0);
        self.mark(grazed.special);
        if let Some(branch) = known {
            return Step::End(
                format!("it meets branch {} at the grazing orbit at {}", branch + 1, number(value, 10)),
                false,
            );
        }
        let forks = grazed.forks.into_iter();
        self.forks.extend(forks.map(|node| Fork { kind: SpecialKind::Grazing, node, value }));
        if was_here {
            return Step::End(format!("it is back at the grazing orbit at {}", number(value, 10)), false);
        }
        if grazed.is_shorter {
            return Step::End(
                format!("it meets the branch of a shorter period where that grazes, at {}", number(value, 10)),
                false,
            );
        }
        let (low, high) = self.options.range;
        match grazed.other {
            Some(next) if (low..=high).contains(&next.value()) => {
                self.way(grazed.behind);
                Step::Crossed(Box::new(next))
            }
            // The range ends between grazing and the first orbit that is clear of it.
            Some(next) => {
                let bound = if next.value() > high { high } else { low };
                let last = next.at_value(0.0, bound).ok().filter(|last| last.anatomy.is_like(&next.anatomy));
                last.into_iter().for_each(|last| self.add(&last));
                Step::End("the end of the range is reached".into(), false)
            }
            None => Step::End(format!("it was not followed through grazing at {}", number(value, 10)), true),
        }
    }

    /// Orbits and special points beside a grazing orbit.
    fn way(&mut self, way: Vec<(Node, Option<Special>)>) {
        for (node, special) in way {
            match special {
                Some(special) => self.meet(node, special),
                None => self.add(&node),
            }
        }
    }

    /// No step can be made: perhaps grazing is at hand.
    fn stuck(&mut self, node: &Node, before: Option<&(Node, f64)>, why: &str) -> Step {
        let reach = before.map_or(0.1 * self.options.step, |b| b.1.max(0.1 * self.options.step));
        for near in weakest(node).into_iter().take(4) {
            if let Some(grazed) = graze(node, &near, 0.0, reach)
                && self.is_within(&grazed)
            {
                return self.crossed(grazed);
            }
        }
        let why = if why.is_empty() { "no step can be made" } else { why };
        Step::End(format!("it could not be followed beyond {}: {why}", number(node.value(), 10)), true)
    }
}

fn reason(missed: &Missed) -> String {
    match missed {
        Missed::Map(reason) => reason.to_string(),
        Missed::Far(size) => format!("Newton's method does not converge ({})", number(*size, 2)),
    }
}
