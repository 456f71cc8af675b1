//! What a motion is on: a place of rest, a periodic orbit, a family of them, a chaotic set.

use super::attractor::{Cells, Event, Kind, Known, Rule, SAME, canonical, distance};
use super::chaos::{self, Dice, moved};
use super::crew::{Piece, Track};
use super::hunt::{Hunt, LONG, MOST, ROUNDS};
use super::judge::{Returns, plain_rules};
use saltus::Start;
use saltus::analysis::neighbour_multipliers;

/// Starts around a cycle that are tried,
const TRIES: usize = 256;
/// a few of them first.
const FEW: usize = 16;
/// Distances from a cycle that are tried, relative to the extent of all motions;
const RADII: [f64; 9] = [1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1];
/// the first that shrinks is one of those up to this: a cycle may be known to less than the smallest.
const COARSE: f64 = 1e-4;
/// The distance where none shrinks.
const UNSURE: f64 = 1e-7;
/// Long pieces for which a motion near a cycle is followed until it is on it,
const POLISH: usize = 64;
/// and where returns to a section are not counted beforehand.
const POLISH_SECTIONS: usize = 12;
/// A motion is on a cycle that it repeats to this.
const CLOSED: f64 = 1e-8;
/// A multiplier within this of the unit circle is on it: nothing comes nearer in ten thousand periods.
const ON_CIRCLE: f64 = 1e-5;
/// Motions that are neither periodic nor chaotic, after which no further one is tried.
const QUIET: usize = 24;
/// A multiplier larger than 1 by this repels.
const REPELS: f64 = 1e-4;
/// The least extent of a chaotic set in a direction, relative to the extent of all motions.
const THIN: f64 = 1e-6;
/// More chaotic sets than this are none: where energy is conserved, each start has its own.
const SETS: usize = 8;

impl Hunt<'_> {
    /// A place of rest, if the track does not move from it at any phase.
    pub(super) fn rest(&mut self, track: &Track) -> Option<u16> {
        let rules = plain_rules(&self.model);
        if !self.stays(track, &rules) {
            return None;
        }
        let track = self.settled(track, &rules)?;
        let here: Vec<f64> = track.q.iter().chain(&track.v).copied().collect();
        let closed = self.closed(&track);
        // Places of rest that are not isolated are one attractor: all that friction holds, or all of a set.
        let sticks = !self.model.frictions.is_empty();
        let multipliers = if sticks { None } else { self.multipliers(&here, self.crew.unit, &[]) };
        let sizes = multipliers.unwrap_or_default();
        // (In the middle of oscillations that go on for ever.)
        if closed.is_empty() && !sizes.is_empty() && sizes.iter().all(|size| (size - 1.0).abs() <= ON_CIRCLE) {
            return Some(self.class(Kind::Neutral { periods: None, hits: Vec::new(), travels: false }));
        }
        let unstable = sizes.first().is_some_and(|largest| *largest > 1.0 + REPELS);
        let far = |k: &Known| distance(&here, &k.attractor.cycle[0], &rules, &self.extent.size);
        let of_kind = |k: &Known| match &k.attractor.kind {
            Kind::Rest { closed: others, unstable: other, .. } => *others == closed && *other == unstable,
            _ => false,
        };
        let same =
            |k: &Known| of_kind(k) && (far(k) <= SAME || sticks || self.rests_between(&here, &k.attractor.cycle[0]));
        if let Some(k) = self.known.iter().position(same) {
            let is_other = far(&self.known[k]) > SAME;
            if let Kind::Rest { many, .. } = &mut self.known[k].attractor.kind {
                *many |= is_other;
            }
            return Some(k as u16);
        }
        let radius = self.radius(std::slice::from_ref(&here), &rules, 1);
        let kind = Kind::Rest { closed, many: false, unstable };
        Some(self.add(kind, vec![here], Vec::new(), rules, radius, Cells::default()))
    }

    /// A track that creeps to its place of rest, when it is there.
    fn settled(&self, track: &Track, rules: &[Rule]) -> Option<Track> {
        let mut near = Track { periods: 1, ..track.clone() };
        let end = |t: &Track| t.q.iter().chain(&t.v).copied().collect::<Vec<f64>>();
        for _ in 0..POLISH_SECTIONS {
            let before = end(&near);
            let outcome = self.witness.follow(std::slice::from_ref(&near), Piece { periods: LONG, kept: 1 }).pop()?;
            if outcome.status.is_err() {
                break;
            }
            (near.q, near.v) = (outcome.q, outcome.v);
            if distance(&end(&near), &before, rules, &self.extent.size) <= CLOSED {
                break;
            }
        }
        Some(near)
    }

    /// Whether neighbours of a motion that comes back after a time leave it. (Where it has no derivative, nothing says that they do.)
    fn repels(&self, state: &[f64], lasts: f64, shifts: &[Vec<f64>]) -> bool {
        self.multiplier(state, lasts, shifts).is_some_and(|largest| largest > 1.0 + REPELS)
    }

    /// The size of the largest multiplier of a motion that comes back after a time, but for such shifts of it.
    fn multiplier(&self, state: &[f64], lasts: f64, shifts: &[Vec<f64>]) -> Option<f64> {
        self.multipliers(state, lasts, shifts)?.first().copied()
    }

    /// The sizes of all of them, largest first.
    fn multipliers(&self, state: &[f64], lasts: f64, shifts: &[Vec<f64>]) -> Option<Vec<f64>> {
        let (q, v) = state.split_at(state.len() / 2);
        let begin = self.crew.start();
        let start = Start::new(begin.t, q.to_vec(), v.to_vec()).with_parameters(begin.parameters.clone());
        let tolerance = self.plan.sweep.wanted.tolerance.min(1e-11);
        let found = neighbour_multipliers(self.plan.sweep.family.problem(), &start, lasts, shifts, tolerance).ok()?;
        Some(found.iter().map(|z| z.0.hypot(z.1)).collect())
    }

    /// Whether there is rest at places between two such places as well. (One in the middle may be a saddle.)
    fn rests_between(&self, one: &[f64], other: &[f64]) -> bool {
        let (d, rules) = (self.model.dimension(), plain_rules(&self.model));
        [0.29, 0.5, 0.83].iter().all(|share| {
            let here: Vec<f64> = one.iter().zip(other).map(|(a, b)| a + share * (b - a)).collect();
            let (q, v) = (here[..d].to_vec(), here[d..].to_vec());
            self.stays(&Track { point: 0, q, v, periods: 1, sizes: Vec::new() }, &rules)
        })
    }

    /// Whether a track does not move from where it is at any phase.
    fn stays(&self, track: &Track, rules: &[Rule]) -> bool {
        let d = self.model.dimension();
        let here: Vec<f64> = track.q.iter().chain(&track.v).copied().collect();
        let phases = self.witness.phases(track, 8);
        let is_here = |row: &[f64]| distance(&row[1..], &here, rules, &self.extent.size) <= 1e-6;
        !phases.is_empty() && phases.chunks_exact(1 + 2 * d).all(is_here)
    }

    /// The constraints that are closed at a place of rest.
    fn closed(&self, track: &Track) -> Vec<String> {
        let problem = self.plan.sweep.family.problem();
        let mut gaps = problem.gaps();
        gaps.linearise(self.crew.start().t, &track.q, &track.v);
        let reach = self.extent.size[..self.model.degrees()].iter().copied().fold(0.0, f64::max);
        let names = self.model.constraints.iter().zip(&gaps.values).filter(|(_, gap)| **gap <= 1e-7 * reach);
        names.map(|(c, _)| c.name.clone()).collect()
    }

    /// The family of a periodic motion that does not attract, seen at its last returns; None if it is none, or if that cannot be told.
    pub(super) fn neutral(&mut self, returns: &Returns, n: usize, rules: &[Rule], advance: &[f64]) -> Option<u16> {
        let d = self.model.dimension();
        let last = returns.states.len().checked_sub(1)?;
        let first = last.checked_sub(n)?;
        let (state, lasts) = (returns.states[first], returns.t[last] - returns.t[first]);
        let largest = self.multiplier(state, lasts, &self.shifts(rules, advance))?;
        if !((largest - 1.0).abs() <= ON_CIRCLE) {
            return None;
        }
        let (q, v) = (state[..d].to_vec(), state[d..].to_vec());
        let track = Track { point: 0, q, v, periods: 1, sizes: Vec::new() };
        let periods = (lasts / self.crew.unit * (1.0 - 1e-9)).ceil().max(1.0) as u64;
        let outcome = self.witness.follow(&[track], Piece { periods, kept: periods }).pop()?;
        let inside = outcome.hits.iter().filter(|h| h.t <= self.crew.start().t + lasts * (1.0 + 1e-9));
        let mut hits: Vec<String> =
            inside.map(|hit| self.model.constraints[hit.constraint as usize].name.clone()).collect();
        hits.sort_unstable();
        let kind =
            Kind::Neutral { periods: (!self.by_section).then_some(n as u32), hits, travels: !advance.is_empty() };
        if let Some(k) = self.known.iter().position(|k| k.attractor.kind == kind) {
            return Some(k as u16);
        }
        let cycle = canonical(&returns.states[first..last], &self.extent.size).0;
        Some(self.add(kind, cycle, Vec::new(), rules.to_vec(), 0.0, Cells::default()))
    }

    /// Translations that take motions to motions.
    fn shifts(&self, rules: &[Rule], advance: &[f64]) -> Vec<Vec<f64>> {
        let degrees = self.model.degrees();
        let unit = |i: usize| (0..degrees).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let free = (0..degrees).filter(|&i| rules[i] == Rule::Free).map(unit);
        free.chain((!advance.is_empty()).then(|| advance.to_vec())).collect()
    }

    /// A periodic orbit, with its impacts.
    pub(super) fn orbit(&mut self, track: &Track, n: usize, rules: Vec<Rule>, advance: Vec<f64>) -> Option<u16> {
        if self.known.len() >= MOST {
            return Some(self.class(Kind::Open));
        }
        let near = self.polished(track, n, &rules)?;
        let pieces = 2 * n as u64 + 2;
        let piece = match self.by_section {
            true => Piece { periods: LONG, kept: LONG },
            false => Piece { periods: pieces, kept: pieces },
        };
        let mut outcome = self.witness.follow(std::slice::from_ref(&near), piece).pop()?;
        self.pass_impacts(&mut outcome);
        let returns = Returns::of(&outcome, self.model.dimension(), self.by_section);
        let Some(last) = returns.states.len().checked_sub(1).filter(|&last| last >= n) else {
            return self.rest(&near);
        };
        let (cycle, turned) = canonical(&returns.states[last - n..last], &self.extent.size);
        let is_fixed = n == 1 && outcome.hits.is_empty() && advance.is_empty();
        if is_fixed && let Some(found) = self.rest(&near) {
            return Some(found);
        }
        let same = |k: &Known| matches!(k.attractor.kind, Kind::Periodic { .. }) && k.rules == rules;
        if let Some(k) = self.known.iter().position(|k| same(k) && k.is_cycle(&cycle, &self.extent.size)) {
            return Some(k as u16);
        }
        let (from, to) = (returns.t[last - n], returns.t[last]);
        let origin = returns.t[last - n + turned];
        let event = |hit: &crate::Hit| Event {
            constraint: self.model.constraints[hit.constraint as usize].name.clone(),
            phase: ((hit.t - origin) / (to - from)).rem_euclid(1.0),
            speed: hit.speed,
        };
        let mut events: Vec<Event> = outcome.hits.iter().filter(|h| h.t > from && h.t <= to).map(event).collect();
        events.sort_by(|a, b| a.phase.total_cmp(&b.phase));
        let unstable = self.repels(&cycle[0], to - from, &self.shifts(&rules, &advance));
        let kind = Kind::Periodic {
            time: to - from,
            periods: (!self.by_section).then_some(n as u32),
            chatters: outcome.accumulations > 0,
            advance,
            unstable,
        };
        let radius = self.radius(&cycle, &rules, n);
        Some(self.add(kind, cycle, events, rules, radius, Cells::default()))
    }

    /// A track that is near a cycle of n returns, when it is on it; None if it does not get there.
    fn polished(&self, track: &Track, n: usize, rules: &[Rule]) -> Option<Track> {
        let mut near = track.clone();
        let periods = LONG.div_ceil(n as u64) * n as u64;
        // (Pieces between sections do not end at the same phase: their last returns are compared.)
        let (kept, most) = if self.by_section { (periods, POLISH_SECTIONS) } else { (1, POLISH) };
        let end = |t: &Track| t.q.iter().chain(&t.v).copied().collect::<Vec<f64>>();
        let mut before: Vec<Vec<f64>> = if self.by_section { Vec::new() } else { vec![end(&near)] };
        let mut gap = f64::INFINITY;
        for left in (0..most).rev() {
            let mut outcome = self.witness.follow(std::slice::from_ref(&near), Piece { periods, kept }).pop()?;
            if outcome.status.is_err() {
                return None;
            }
            self.pass_impacts(&mut outcome);
            let mut now = vec![outcome.q.iter().chain(&outcome.v).copied().collect::<Vec<f64>>()];
            if self.by_section {
                let returns = Returns::of(&outcome, self.model.dimension(), true).states;
                now = returns[returns.len().checked_sub(n)?..].iter().map(|state| state.to_vec()).collect();
            }
            (near.q, near.v) = (outcome.q, outcome.v);
            let far = |state: &Vec<f64>| {
                before.iter().map(|b| distance(state, b, rules, &self.extent.size)).fold(f64::INFINITY, f64::min)
            };
            let last = std::mem::replace(&mut gap, now.iter().map(far).fold(0.0, f64::max));
            if gap <= CLOSED {
                return Some(near);
            }
            // (At this pace it does not get there.)
            if last.is_finite() && gap.is_finite() && gap * (gap / last).powi(left as i32) > CLOSED {
                return None;
            }
            before = now;
        }
        None
    }

    /// A distance from a cycle within which states lead to it: the largest of some from which all of a few that are tried come within
    /// the one before, and so to the cycle, not to another one nearby.
    fn radius(&self, cycle: &[Vec<f64>], rules: &[Rule], n: usize) -> f64 {
        let (degrees, d) = (self.model.degrees(), self.model.dimension());
        let mut dice = Dice(3);
        let near = |state: &[f64]| {
            cycle.iter().map(|c| distance(state, c, rules, &self.extent.size)).fold(f64::INFINITY, f64::min)
        };
        // In a plane a few hundred starts fill a square; where there are more dimensions, only small ones are trusted.
        let is_plane = rules.iter().filter(|rule| **rule != Rule::Free).count() <= 2;
        let (radii, all) = if is_plane { (&RADII[..], TRIES) } else { (&RADII[..4], TRIES / 4) };
        // A few of them first: where these do not come back, the others need not be tried.
        let all = all.max(2 * cycle.len());
        let mut comes_back = |radius: f64, limit: f64, count: usize| {
            let start = |state: &Vec<f64>| {
                let (q, v) = (state[..d].to_vec(), state[d..].to_vec());
                let track = Track { point: 0, q, v, periods: 0, sizes: Vec::new() };
                moved(&track, 2.0 * radius, degrees, &self.extent.size, &mut dice)
            };
            let mut tries: Vec<Track> = cycle.iter().cycle().take(count).map(start).collect();
            self.come_back(&mut tries, &near, limit, n as u64)
        };
        let mut sure = None;
        for &radius in radii {
            // (The smallest only shrinks to half of itself.)
            let limit = sure.unwrap_or(0.5 * radius);
            if comes_back(radius, limit, all.min(FEW)) && comes_back(radius, limit, all) {
                sure = Some(radius);
            } else if sure.is_some() || radius >= COARSE {
                break;
            }
        }
        sure.unwrap_or(UNSURE)
    }

    /// Whether all tracks come near; those beyond a wall cannot be tried.
    fn come_back(&self, tracks: &mut Vec<Track>, near: &dyn Fn(&[f64]) -> f64, limit: f64, n: u64) -> bool {
        let d = self.model.dimension();
        let mut before: Vec<f64> = vec![f64::INFINITY; tracks.len()];
        for round in 0..ROUNDS.len() as u64 {
            let piece = Piece { periods: (32 << (round / 2)).max(4 * n), kept: 8 };
            let outcomes = self.crew.follow(tracks, piece);
            if outcomes.len() < tracks.len() {
                return false;
            }
            let (mut left, mut distances) = (Vec::new(), Vec::new());
            for ((mut track, outcome), last) in tracks.drain(..).zip(outcomes).zip(&before) {
                if outcome.status.is_err() {
                    continue;
                }
                let end: Vec<f64> = outcome.q.iter().chain(&outcome.v).copied().collect();
                let returns = Returns::of(&outcome, d, self.by_section);
                let far = returns.states.last().filter(|_| self.by_section).map_or(f64::INFINITY, |s| near(s));
                let far = far.min(near(&end));
                if far <= limit {
                    continue;
                }
                // One that does not come nearer, after a while, goes elsewhere.
                if !(far <= 0.9 * last) && round > 3 {
                    return false;
                }
                (track.q, track.v) = (outcome.q, outcome.v);
                left.push(track);
                distances.push(far);
            }
            if left.is_empty() {
                return true;
            }
            (*tracks, before) = (left, distances);
        }
        false
    }

    /// A chaotic set, if neighbours part.
    pub(super) fn chaotic(&mut self, track: &Track) -> Option<u16> {
        let sets = self.known.iter().filter(|k| matches!(k.attractor.kind, Kind::Chaotic { .. })).count();
        if self.quiet >= QUIET || sets >= SETS {
            return None;
        }
        let degrees = self.model.degrees();
        let (exponent, error) = chaos::exponent(&self.crew, track, degrees, &self.extent.size)?;
        if !chaos::is_chaos(exponent, error) {
            self.quiet += 1;
            return None;
        }
        let rules = self.angles.clone();
        let states = chaos::visited(&self.crew, track, degrees, &self.extent.size, self.by_section);
        let same = |k: &Known| matches!(k.attractor.kind, Kind::Chaotic { .. }) && k.cells.are_of(&states, &rules);
        if let Some(k) = self.known.iter().position(same) {
            self.known[k].cells.extend(&states, &rules);
            self.changes += 1;
            return Some(k as u16);
        }
        let least: Vec<f64> = self.extent.size.iter().map(|size| THIN * size).collect();
        let cells = Cells::of(&states, &rules, &least);
        let unit = self.crew.unit;
        let here: Vec<f64> = track.q.iter().chain(&track.v).copied().collect();
        let kind = Kind::Chaotic { exponent: exponent / unit, error: error / unit };
        Some(self.add(kind, vec![here], Vec::new(), rules, 0.0, cells))
    }
}
