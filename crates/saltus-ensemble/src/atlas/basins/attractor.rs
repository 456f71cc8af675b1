//! An attractor, and whether a state is on it.

use crate::Sweep;
use saltus::text::{count, number};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::f64::consts::TAU;

/// What an attractor is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Rest.
    Rest {
        /// The constraints that are closed.
        closed: Vec<String>,
        /// Whether it has more than one place: all of a set, as where friction holds.
        #[serde(default)]
        many: bool,
        /// Whether it repels: only what starts on it stays there.
        #[serde(default)]
        unstable: bool,
    },
    /// A periodic orbit.
    Periodic {
        /// Its period, a time.
        time: f64,
        /// The same in periods of the forcing, where there is one.
        periods: Option<u32>,
        /// Whether impacts accumulate.
        chatters: bool,
        /// How far each coordinate advances in a period; empty if none does.
        advance: Vec<f64>,
        /// Whether it repels in some direction: only what starts without a part in it stays there.
        #[serde(default)]
        unstable: bool,
    },
    /// A family of periodic motions, none of which attracts: neighbours stay as far away as they are, and each start has its own.
    Neutral {
        /// The period in periods of the forcing, where there is one.
        periods: Option<u32>,
        /// The constraints that are hit in a period, in the order of their names.
        hits: Vec<String>,
        /// Whether the motions travel.
        travels: bool,
    },
    /// Bounded, and neither at rest nor periodic: neighbours part exponentially.
    Chaotic {
        /// How fast, per unit of time.
        exponent: f64,
        /// Its standard error.
        error: f64,
    },
    /// It leaves: beyond any bound that the other motions have.
    Unbounded,
    /// It still grows in the time that was allowed.
    Growing,
    /// Not resolved in the time that was allowed.
    Open,
}

impl Kind {
    /// Whether it is none: the motion grows, or was not resolved.
    pub fn is_open(&self) -> bool {
        matches!(self, Kind::Open | Kind::Unbounded | Kind::Growing)
    }

    /// Whether it attracts: neither none, nor a family in which every start stays where it is, nor what repels.
    pub fn attracts(&self) -> bool {
        !self.is_open() && !self.is_unstable() && !matches!(self, Kind::Neutral { .. })
    }

    /// Whether it repels.
    pub fn is_unstable(&self) -> bool {
        matches!(self, Kind::Rest { unstable: true, .. } | Kind::Periodic { unstable: true, .. })
    }
}

/// An impact of a periodic orbit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The constraint.
    pub constraint: String,
    /// When, as a share of the period, from the first state of the cycle on.
    pub phase: f64,
    /// The speed at which the gap closed.
    pub speed: f64,
}

/// An attractor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attractor {
    /// What it is.
    #[serde(flatten)]
    pub kind: Kind,
    /// Its name in a legend.
    pub name: String,
    /// The cycle of its states (positions, then velocities) at the stroboscope or section, from the least one on; the place, if it
    /// is one of rest; one state of a chaotic set.
    pub cycle: Vec<Vec<f64>>,
    /// The impacts of a period.
    pub events: Vec<Event>,
}

/// How a component of a state is compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rule {
    Plain,
    /// An angle.
    Turns,
    /// It means nothing: the motion travels, or it is the integral of a state.
    Free,
}

/// An attractor while others are looked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Known {
    pub attractor: Attractor,
    pub rules: Vec<Rule>,
    /// A state this close, relative to the extent of motions, ends up on it: this was tried.
    pub radius: f64,
    /// The cells that a chaotic set visits.
    pub cells: Cells,
}

/// Cells of states that a chaotic set visits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cells {
    /// How far the set extends: cells are parts of this.
    pub extent: Vec<f64>,
    pub visited: HashSet<u64>,
}

impl Cells {
    /// Those of a sample of states; `least` is the least extent of each component.
    pub fn of(states: &[Vec<f64>], rules: &[Rule], least: &[f64]) -> Self {
        let half = |i: usize| {
            let component = || states.iter().map(|state| state[i]);
            0.5 * (component().fold(f64::MIN, f64::max) - component().fold(f64::MAX, f64::min))
        };
        let of = |(i, &least): (usize, &f64)| if rules[i] == Rule::Turns { TAU / 2.0 } else { half(i).max(least) };
        let extent: Vec<f64> = least.iter().enumerate().map(of).collect();
        let visited = visited(states, rules, &extent);
        Cells { extent, visited }
    }

    /// Whether another sample is one of the same set: most cells of the smaller one are shared.
    pub fn are_of(&self, states: &[Vec<f64>], rules: &[Rule]) -> bool {
        let others = visited(states, rules, &self.extent);
        others.intersection(&self.visited).count() * 3 > others.len().min(self.visited.len())
    }

    /// Takes in a further sample.
    pub fn extend(&mut self, states: &[Vec<f64>], rules: &[Rule]) {
        self.visited.extend(visited(states, rules, &self.extent));
    }
}

fn visited(states: &[Vec<f64>], rules: &[Rule], extent: &[f64]) -> HashSet<u64> {
    states.iter().map(|state| cell(state, rules, extent)).collect()
}

/// How close two states are, relative to the extent of motions.
pub fn distance(a: &[f64], b: &[f64], rules: &[Rule], extent: &[f64]) -> f64 {
    let part = |i: usize| {
        let difference = match rules[i] {
            Rule::Free => return 0.0,
            Rule::Plain => a[i] - b[i],
            Rule::Turns => (a[i] - b[i] + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0,
        };
        if difference == 0.0 { 0.0 } else { difference.abs() / extent[i] }
    };
    (0..a.len()).map(part).fold(0.0, |m, x| if x <= m { m } else { x })
}

/// The cell of a state; cells are coarser the more components there are.
fn cell(state: &[f64], rules: &[Rule], extent: &[f64]) -> u64 {
    let counts = rules.iter().zip(extent).filter(|(rule, e)| **rule != Rule::Free && **e > 0.0).count();
    let fineness = match counts {
        0..=2 => 160.0,
        3..=4 => 40.0,
        _ => 16.0,
    };
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for i in 0..state.len() {
        if rules[i] == Rule::Free || extent[i] <= 0.0 {
            continue;
        }
        let x = if rules[i] == Rule::Turns { state[i].rem_euclid(TAU) } else { state[i] };
        let place = (x / extent[i] * fineness).floor() as i64;
        hash = (hash ^ place as u64).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(23);
    }
    hash
}

impl Known {
    /// How close a state is to the cycle, and to which of its states.
    fn nearest(&self, state: &[f64], extent: &[f64]) -> (usize, f64) {
        let far = |k: usize| distance(state, &self.attractor.cycle[k], &self.rules, extent);
        (0..self.attractor.cycle.len())
            .map(|k| (k, far(k)))
            .fold((0, f64::INFINITY), |best, x| if x.1 < best.1 { x } else { best })
    }

    /// Whether the last of some successive states are on it.
    pub fn holds(&self, states: &[impl AsRef<[f64]>], extent: &[f64]) -> bool {
        let Some(last) = states.last() else { return false };
        match self.attractor.kind {
            Kind::Rest { .. } | Kind::Periodic { .. } => {
                let n = self.attractor.cycle.len();
                let (at, far) = self.nearest(last.as_ref(), extent);
                // The states before it must be those before it in the cycle.
                let before = states.iter().rev().take(4).enumerate().all(|(k, state)| {
                    let place = (at + 4 * n - k % n) % n;
                    distance(state.as_ref(), &self.attractor.cycle[place], &self.rules, extent) <= 4.0 * self.radius
                });
                far <= self.radius && before
            }
            Kind::Chaotic { .. } => {
                let is_inside = |s: &[f64]| self.cells.visited.contains(&cell(s, &self.rules, &self.cells.extent));
                let inside = states.iter().filter(|s| is_inside(s.as_ref())).count();
                // Few states must all be on it; of many, some fall into cells that the sample of it missed.
                states.len() >= 6 && inside * 10 >= states.len() * if states.len() < 20 { 10 } else { 8 }
            }
            _ => false,
        }
    }

    /// Whether another cycle is the same orbit, entered elsewhere.
    pub fn is_cycle(&self, cycle: &[Vec<f64>], extent: &[f64]) -> bool {
        let own = &self.attractor.cycle;
        let n = own.len();
        let shifted = |by: usize| (0..n).all(|k| distance(&cycle[k], &own[(k + by) % n], &self.rules, extent) <= SAME);
        cycle.len() == n && (0..n).any(shifted)
    }
}

/// Cycles this close are one.
pub const SAME: f64 = 1e-5;

/// A cycle from its least state on, by the first component that differs.
pub fn canonical(cycle: &[impl AsRef<[f64]>], extent: &[f64]) -> (Vec<Vec<f64>>, usize) {
    let less = |a: &[f64], b: &[f64]| {
        let differs = (0..a.len()).find(|&i| (a[i] - b[i]).abs() > SAME * extent[i]);
        differs.is_some_and(|i| a[i] < b[i])
    };
    let first =
        (1..cycle.len()).fold(0, |best, k| if less(cycle[k].as_ref(), cycle[best].as_ref()) { k } else { best });
    let turned = cycle[first..].iter().chain(&cycle[..first]).map(|state| state.as_ref().to_vec()).collect();
    (turned, first)
}

/// Names for a legend: what attractors are, and where, if several are of one kind.
pub fn named(mut attractors: Vec<Attractor>, sweep: &Sweep) -> Vec<Attractor> {
    let model = sweep.family.problem().model();
    let plain: Vec<String> = attractors.iter().map(describe).collect();
    for k in 0..attractors.len() {
        let twice = plain.iter().filter(|name| **name == plain[k]).count() > 1;
        attractors[k].name = match attractors[k].cycle.first().filter(|_| twice) {
            None => plain[k].clone(),
            Some(state) => {
                let place = |i: usize| format!("{} = {}", model.coordinates[i], number(state[i], 3));
                let shown: Vec<String> = (0..model.degrees().min(2)).map(place).collect();
                let same = |j: usize| {
                    attractors[j].cycle.first().is_some_and(|other| {
                        (0..model.degrees().min(2)).all(|i| number(other[i], 3) == number(state[i], 3))
                    })
                };
                let again = (0..k).filter(|&j| plain[j] == plain[k] && same(j)).count();
                let mark = if again > 0 { format!(" ({})", again + 1) } else { String::new() };
                format!("{} at {}{mark}", plain[k], shown.join(", "))
            }
        };
    }
    attractors
}

fn unstable_or_not(unstable: bool) -> &'static str {
    if unstable { "unstable " } else { "" }
}

fn describe(attractor: &Attractor) -> String {
    match &attractor.kind {
        Kind::Rest { closed, many, unstable } => {
            let on = if closed.is_empty() { String::new() } else { format!(" on {}", closed.join(", ")) };
            format!("{}rest{on}{}", unstable_or_not(*unstable), if *many { ", a set of places" } else { "" })
        }
        Kind::Neutral { periods, hits, travels } => {
            let period = periods.map_or_else(String::new, |n| format!(" of period {n}"));
            let mut names = hits.clone();
            names.dedup();
            let on = if names.len() > 1 { format!(" ({})", hits.join(", ")) } else { String::new() };
            let impacts = count(hits.len() as u64, "impact");
            format!("neutral oscillation{period}, {impacts}{on}{}", if *travels { ", travelling" } else { "" })
        }
        Kind::Periodic { time, periods, chatters, advance, unstable } => {
            let period = match periods {
                Some(n) => format!("{}period {n}", unstable_or_not(*unstable)),
                None => format!("{}period {}", unstable_or_not(*unstable), number(*time, 4)),
            };
            let mut names: Vec<&str> = attractor.events.iter().map(|e| e.constraint.as_str()).collect();
            let total = names.len();
            names.dedup();
            let impacts = match (*chatters, total) {
                (true, _) => "chatter".to_string(),
                (false, n) => count(n as u64, "impact"),
            };
            // (The order of impacts, where there is more than one constraint.)
            let several = names.iter().any(|n| *n != names[0]) && total <= 4 && !*chatters;
            let on = if several { format!(" ({})", names.join(", ")) } else { String::new() };
            format!("{period}, {impacts}{on}{}", if advance.is_empty() { "" } else { ", travelling" })
        }
        Kind::Chaotic { .. } => "chaotic".into(),
        Kind::Unbounded => "unbounded".into(),
        Kind::Growing => "still growing".into(),
        Kind::Open => "not resolved".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orbit_is_one_wherever_it_is_entered() {
        let extent = [2.0, 3.0];
        let rules = vec![Rule::Plain; 2];
        let cycle = vec![vec![0.5, 1.0], vec![-0.2, 0.3], vec![0.1, -1.0]];
        let (canonical_cycle, first) = canonical(&cycle, &extent);
        assert_eq!((first, &canonical_cycle[0]), (1, &cycle[1]));
        let kind = Kind::Periodic { time: 3.0, periods: Some(3), chatters: false, advance: vec![], unstable: false };
        let attractor = Attractor { kind, name: String::new(), cycle: canonical_cycle, events: vec![] };
        let known = Known { attractor, rules, radius: 1e-4, cells: Cells::default() };
        for by in 0..3 {
            let mut other = cycle.clone();
            other.rotate_left(by);
            assert!(known.is_cycle(&other, &extent));
            assert!(known.holds(&other, &extent), "{by}");
            // The same states in the other order are another orbit.
            other.reverse();
            assert!(!known.is_cycle(&other, &extent) && !known.holds(&other, &extent));
        }
        assert!(!known.is_cycle(&cycle[..2], &extent));
    }

    #[test]
    fn angles_are_compared_modulo_a_turn() {
        let rules = [Rule::Turns, Rule::Plain, Rule::Free];
        let far = distance(&[0.1, 1.0, 5.0], &[0.1 + 3.0 * TAU, 1.0, -5.0], &rules, &[1.0; 3]);
        assert!(far < 1e-12, "{far}");
    }
}
