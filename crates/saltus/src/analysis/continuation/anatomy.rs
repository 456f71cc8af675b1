//! What an orbit does that may vanish: impacts that become weak, gaps that come near zero without being hit.

use crate::PhaseKind;
use crate::analysis::closing::Orbit;
use crate::problem::Problem;

/// Instants at which each piece of a motion is looked at for a least gap.
const LOOKS: usize = 24;

/// How an orbit comes near a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// It hits it.
    Hit,
    /// It turns back before.
    Miss,
}

/// One approach of an orbit to a constraint.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    /// The constraint.
    pub constraint: usize,
    /// When.
    pub t: f64,
    /// Hit or missed.
    pub nearness: Nearness,
    /// The speed of the impact, or the least gap, as a part of the largest one over the orbit.
    pub level: f64,
    /// The largest gap and the largest gap velocity over the orbit.
    pub units: (f64, f64),
}

impl Approach {
    /// What the level is measured by.
    pub fn unit(&self) -> f64 {
        match self.nearness {
            Nearness::Hit => self.units.1,
            Nearness::Miss => self.units.0,
        }
    }

    /// The speed of the impact, or the least gap.
    pub fn speed_or_gap(&self) -> f64 {
        self.level * self.unit()
    }
}

impl Nearness {
    /// The other side of grazing.
    pub fn other(self) -> Self {
        match self {
            Nearness::Hit => Nearness::Miss,
            Nearness::Miss => Nearness::Hit,
        }
    }
}

/// What an orbit is made of.
#[derive(Clone, Debug, Default)]
pub struct Anatomy {
    /// Its approaches, in order of time.
    pub approaches: Vec<Approach>,
    /// Its events in order: what happens, to which constraints or friction.
    pub sequence: Vec<String>,
    /// Instants of events, and ends of phases.
    pub instants: Vec<f64>,
    /// The shortest time between two of them.
    pub shortest: f64,
}

impl Anatomy {
    /// That of an orbit, whose run keeps pieces, impacts and the timeline.
    pub fn of(problem: &Problem, orbit: &Orbit) -> Self {
        let run = &orbit.passage.run;
        let model = problem.model();
        let events = orbit.events(model);
        let mut sequence: Vec<String> = events
            .iter()
            .filter(|e| e.kind != PhaseKind::Graze.name())
            .map(|e| format!("{} {}", e.kind, e.of.join(" and ")).trim().to_string())
            .collect();
        // (A contact that lasts over the start is one.)
        if sequence.len() > 1 && sequence.first() == sequence.last() && sequence[0].starts_with("contact") {
            sequence.pop();
        }
        let mut instants: Vec<f64> = events.iter().flat_map(|e| [e.t.0, e.t.1]).collect();
        instants.sort_by(f64::total_cmp);
        let around = instants.first().map(|t| t + orbit.period);
        let apart = instants.iter().skip(1).copied().chain(around).zip(&instants).map(|(b, a)| b - a);
        let shortest = apart.filter(|d| *d > 1e-11 * orbit.period).fold(f64::INFINITY, f64::min);
        let mut approaches = misses(problem, orbit);
        let within = |t: f64| {
            let chatters = run.timeline.of(PhaseKind::Chatter);
            chatters.into_iter().any(|p| t >= p.start && t <= p.end)
        };
        let units = sizes(problem, orbit);
        for approach in &mut approaches {
            approach.units = units[approach.constraint];
            approach.level /= approach.units.0;
        }
        for impact in run.trajectory.impacts.iter().filter(|i| !within(i.t)) {
            let &[constraint] = impact.constraints else { continue };
            let units = units[constraint];
            let level = -impact.approach / units.1;
            approaches.push(Approach { constraint, t: impact.t, nearness: Nearness::Hit, level, units });
        }
        approaches.sort_by(|a, b| a.t.total_cmp(&b.t));
        Anatomy { approaches, sequence, instants, shortest }
    }

    /// Whether two orbits do the same things in the same order, wherever they begin.
    pub fn is_like(&self, other: &Anatomy) -> bool {
        let n = self.sequence.len();
        n == other.sequence.len()
            && (n == 0 || (0..n).any(|shift| (0..n).all(|k| self.sequence[k] == other.sequence[(k + shift) % n])))
    }

    /// In one line.
    pub fn words(&self) -> String {
        if self.sequence.is_empty() { "no impact".into() } else { self.sequence.join(", ") }
    }

    /// The approach of another orbit that is this one's, by constraint and phase of the period.
    pub fn matching(&self, like: &Approach, period: f64) -> Option<&Approach> {
        let away = |a: &Approach| {
            let d = (a.t - like.t).rem_euclid(period);
            d.min(period - d)
        };
        let same = self.approaches.iter().filter(|a| a.constraint == like.constraint && a.nearness == like.nearness);
        same.min_by(|a, b| away(a).total_cmp(&away(b))).filter(|a| away(a) < 0.1 * period)
    }

    /// The middle of the longest time without an event, as a time after the start, and how long half of it is.
    pub fn quiet(&self, start: f64, period: f64, avoid: &[f64]) -> (f64, f64) {
        let fold = |t: f64| (t - start).rem_euclid(period);
        let mut instants: Vec<f64> = self.instants.iter().chain(avoid).copied().map(fold).collect();
        instants.sort_by(f64::total_cmp);
        let Some((&first, &last)) = instants.first().zip(instants.last()) else { return (0.0, 0.5 * period) };
        let mut best = (last, first + period - last);
        for pair in instants.windows(2) {
            if pair[1] - pair[0] > best.1 {
                best = (pair[0], pair[1] - pair[0]);
            }
        }
        ((best.0 + 0.5 * best.1).rem_euclid(period), 0.5 * best.1)
    }

    /// How near an event is to an instant.
    pub fn distance(&self, t: f64, period: f64) -> f64 {
        let away = |x: &f64| {
            let d = (x - t).rem_euclid(period);
            d.min(period - d)
        };
        self.instants.iter().map(away).fold(0.5 * period, f64::min)
    }
}

/// The largest gap and gap velocity of each constraint, at some instants of each piece.
fn sizes(problem: &Problem, orbit: &Orbit) -> Vec<(f64, f64)> {
    let (d, m) = (problem.dimension(), problem.constraints());
    let Ok(at) = problem.instance_anywhere(&orbit.start) else { return vec![(1.0, 1.0); m] };
    let (mut gaps, mut largest) = (at.gaps(), vec![(f64::MIN_POSITIVE, f64::MIN_POSITIVE); m]);
    let pieces = &orbit.passage.run.trajectory.pieces;
    let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
    for k in 0..pieces.len() {
        let (from, to) = pieces.span(k);
        for j in 0..=8 {
            let t = from + (to - from) * f64::from(j) / 8.0;
            pieces.read(k, t, &mut q, &mut v);
            gaps.kinematics(t, &q, &v);
            gaps.evaluate(t, &q, &v);
            for (a, (gap, speed)) in largest.iter_mut().enumerate() {
                (*gap, *speed) = (gap.max(gaps.values[a]), speed.max(gaps.rate(a, &v).abs()));
            }
        }
    }
    largest
}

/// Least gaps of constraints that are not hit there.
fn misses(problem: &Problem, orbit: &Orbit) -> Vec<Approach> {
    let (d, m) = (problem.dimension(), problem.constraints());
    let Ok(at) = problem.instance_anywhere(&orbit.start) else { return Vec::new() };
    let run = &orbit.passage.run;
    let pieces = &run.trajectory.pieces;
    let mut gaps = at.gaps();
    let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
    let mut rate = |gaps: &mut crate::problem::Gaps, k: usize, t: f64, a: usize| {
        pieces.read(k, t, &mut q, &mut v);
        gaps.kinematics(t, &q, &v);
        gaps.evaluate(t, &q, &v);
        (gaps.rate(a, &v), gaps.values[a])
    };
    let mut found = Vec::new();
    for k in 0..pieces.len() {
        let (from, to) = pieces.span(k);
        for a in 0..m {
            if pieces.has_reactions(k) && is_held(&run.timeline, a, from, to) {
                continue;
            }
            let at = |j: usize| from + (to - from) * j as f64 / LOOKS as f64;
            let mut before = rate(&mut gaps, k, at(0), a);
            for j in 1..=LOOKS {
                let after = rate(&mut gaps, k, at(j), a);
                if before.0 < 0.0 && after.0 >= 0.0 {
                    let (mut low, mut high) = (at(j - 1), at(j));
                    let (mut r_low, mut r_high) = (before.0, after.0);
                    let mut t = low;
                    for _ in 0..60 {
                        // (Regula falsi, with halving every other time.)
                        t = low - r_low * (high - low) / (r_high - r_low);
                        let middle = 0.5 * (low + high);
                        for x in [t, middle] {
                            if x > low && x < high {
                                let r = rate(&mut gaps, k, x, a).0;
                                if r < 0.0 {
                                    (low, r_low) = (x, r);
                                } else {
                                    (high, r_high) = (x, r);
                                }
                            }
                        }
                        if high - low <= 1e-13 * high.abs().max(to - from) {
                            break;
                        }
                    }
                    let (_, level) = rate(&mut gaps, k, t.clamp(from, to), a);
                    found.push(Approach { constraint: a, t, nearness: Nearness::Miss, level, units: (1.0, 1.0) });
                }
                before = after;
            }
        }
    }
    found
}

/// Whether a constraint is in contact over an interval.
fn is_held(timeline: &crate::Timeline, a: usize, from: f64, to: f64) -> bool {
    let middle = 0.5 * (from + to);
    timeline.of(PhaseKind::Contact).any(|p| p.constraints.contains(&a) && p.start <= middle && p.end >= middle)
}
