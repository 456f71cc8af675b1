//! Follows starts until each is on an attractor.

use super::attractor::{Attractor, Event, Kind, Known, Rule, canonical, distance};
use super::chaos::{self, Dice, moved};
use super::crew::{Crew, Piece, Track};
use super::judge::{FAR, Returns, Verdict, has_failed, is_unbounded, judge, plain_rules, size};
use super::{BasinPlan, Found, REFUSED};
use crate::Wanted;
use saltus::{Model, SetupError};
use std::collections::HashSet;
use std::sync::Arc;

/// The label of a start that has not been computed.
pub const OPEN: u16 = u16::MAX - 1;
/// More attractors than this are no attractors: each start has its own motion.
const MOST: usize = 64;
/// Periods of the pieces after which a trajectory is compared with what is known,
const ROUNDS: [u64; 12] = [16, 12, 12, 12, 16, 16, 24, 24, 32, 32, 48, 64];
/// by the last of them;
const SHORT: u64 = 5;
/// then those of pieces that show by themselves what it is.
const LONG: u64 = 256;
/// Units in the time that is given where nothing has a period.
const PARTS: u64 = 16;
/// Starts around a cycle that are tried,
const TRIES: usize = 256;
/// Long pieces for which a motion near a cycle is followed until it is on it.
const POLISH: usize = 64;
/// Motions that are neither periodic nor chaotic, after which no further one is tried.
const QUIET: usize = 24;
/// More chaotic sets than this are none: where energy is conserved, each start has its own.
const SETS: usize = 8;
/// Tracks that are followed at a time.
const TOGETHER: usize = 1 << 16;

pub struct Hunt<'a> {
    model: Arc<Model>,
    crew: Crew<'a>,
    /// The same with impacts kept.
    witness: Crew<'a>,
    by_section: bool,
    most: u64,
    extent: Vec<f64>,
    known: Vec<Known>,
    plan: &'a BasinPlan<'a>,
    found: Found,
    /// How often neighbours of a motion that did not settle stayed neighbours.
    quiet: usize,
}

impl<'a> Hunt<'a> {
    pub fn new(plan: &'a BasinPlan<'a>) -> Result<Self, SetupError> {
        let family = &plan.sweep.family;
        let model = family.problem().model().clone();
        let by_section = !family.has_period();
        let tolerance = plan.sweep.wanted.tolerance;
        let wanted = Wanted { tolerance, strobe: !by_section, sections: by_section, ..Wanted::default() };
        let witness = Wanted { impacts: usize::MAX, ..wanted.clone() };
        if let Some(reason) = family.maker().job(0, None).refusal {
            return Err(SetupError::new(reason));
        }
        // (Where nothing has a period, the time of the family is one piece.)
        let crew = Crew::new(family, plan.sweep.native.as_ref(), PARTS, wanted, plan.threads, &plan.stop);
        let witness = Crew::new(family, None, PARTS, witness, 1, &plan.stop);
        let total = family.len();
        let found = Found { total, ..Found::default() };
        let extent = Vec::new();
        let most = plan.most.max(LONG);
        Ok(Hunt { model, crew, witness, by_section, most, extent, known: Vec::new(), plan, found, quiet: 0 })
    }

    pub fn attractors(&self) -> Vec<Attractor> {
        self.known.iter().map(|k| k.attractor.clone()).collect()
    }

    /// Labels some starts; false if it was stopped.
    pub fn label(&mut self, points: &[u32], labels: &mut [u16], watch: &mut dyn FnMut(&Found)) -> bool {
        points.chunks(TOGETHER).all(|part| {
            let whole = self.part(part, labels);
            self.found.done += part.len() as u64;
            self.found.attractors = self.known.len();
            watch(&self.found);
            whole
        })
    }

    fn part(&mut self, points: &[u32], labels: &mut [u16]) -> bool {
        let mut tracks: Vec<Track> = points.iter().map(|&point| self.crew.track(point)).collect();
        if self.extent.is_empty() && !self.measure(&tracks) {
            return false;
        }
        // (Where nothing is known yet, there is nothing to compare with.)
        let rounds = if self.known.is_empty() { &[][..] } else { &ROUNDS[..] };
        for &periods in rounds {
            if tracks.is_empty() {
                return true;
            }
            match self.round(tracks, Piece { periods, kept: SHORT }, labels, false) {
                Some(open) => tracks = open,
                None => return false,
            }
        }
        let mut length = LONG;
        while !tracks.is_empty() {
            let periods = tracks[0].periods;
            if periods >= self.most {
                break;
            }
            let piece = Piece { periods: length, kept: LONG.min(length) };
            match self.round(tracks, piece, labels, true) {
                Some(open) => tracks = open,
                None => return false,
            }
            // (Each piece is as long as all before it.)
            length = (periods + length).min(self.most.saturating_sub(periods + length)).max(LONG);
        }
        for track in tracks {
            let kind = if is_unbounded(&track.sizes) { Kind::Unbounded } else { Kind::Open };
            labels[track.point as usize] = self.class(kind);
        }
        true
    }

    /// How far motions extend: from the starts, and from where they are after a few periods.
    fn measure(&mut self, tracks: &[Track]) -> bool {
        let d = self.model.dimension();
        let mut extent = vec![0.0_f64; 2 * d];
        let mut grow = |q: &[f64], v: &[f64]| {
            for (e, x) in extent.iter_mut().zip(q.iter().chain(v)) {
                if x.is_finite() {
                    *e = e.max(x.abs());
                }
            }
        };
        tracks.iter().for_each(|t| grow(&t.q, &t.v));
        let outcomes = self.crew.follow(tracks, Piece { periods: PARTS, kept: SHORT });
        if outcomes.len() < tracks.len() {
            return false;
        }
        // The median size of what is reached: a few that escape do not count.
        let mut sizes: Vec<Vec<f64>> = vec![Vec::new(); 2 * d];
        for outcome in outcomes.iter().filter(|o| o.status.is_ok()) {
            for (list, x) in sizes.iter_mut().zip(outcome.q.iter().chain(&outcome.v)) {
                list.push(x.abs());
            }
        }
        let medians: Vec<f64> = sizes
            .iter_mut()
            .map(|list| {
                list.sort_by(f64::total_cmp);
                list.get(list.len() / 2).copied().filter(|x| x.is_finite()).unwrap_or(0.0)
            })
            .collect();
        grow(&medians[..d], &medians[d..]);
        // Components of one kind are compared with the largest of them.
        let degrees = self.model.degrees();
        let largest = |range: std::ops::Range<usize>, extent: &[f64]| extent[range].iter().copied().fold(0.0, f64::max);
        let (q, v) = (largest(0..degrees, &extent), largest(d..d + degrees, &extent));
        extent[..degrees].fill(if q > 0.0 { q } else { 1.0 });
        extent[d..d + degrees].fill(if v > 0.0 { v } else { 1.0 });
        extent.iter_mut().filter(|e| **e <= 0.0).for_each(|e| *e = 1.0);
        self.extent = extent;
        true
    }

    /// Follows tracks for a piece; those that are still open. None if it was stopped.
    fn round(&mut self, tracks: Vec<Track>, piece: Piece, labels: &mut [u16], long: bool) -> Option<Vec<Track>> {
        let outcomes = self.crew.follow(&tracks, piece);
        if outcomes.len() < tracks.len() {
            return None;
        }
        let (degrees, d) = (self.model.degrees(), self.model.dimension());
        let mut open = Vec::new();
        for (mut track, outcome) in tracks.into_iter().zip(outcomes) {
            let label = &mut labels[track.point as usize];
            let far = size(&outcome, degrees, d, &self.extent);
            if outcome.status.is_err() {
                // A start that is not admissible; later it is a state that the engine cannot go on from.
                *label = if track.periods == 0 { REFUSED } else { self.class(Kind::Open) };
                continue;
            }
            if !(far < FAR) {
                *label = self.class(Kind::Unbounded);
                continue;
            }
            if has_failed(&outcome) {
                *label = self.class(if far > 1e3 { Kind::Unbounded } else { Kind::Open });
                continue;
            }
            let returns = Returns::of(&outcome, d, self.by_section);
            track.periods += piece.periods;
            if long || track.sizes.is_empty() {
                track.sizes.push(far);
            }
            (track.q, track.v) = (outcome.q.clone(), outcome.v.clone());
            let settled = long || track.periods >= 2 * PARTS;
            if let Some(k) = self.met(&returns, &track, settled) {
                *label = k;
                continue;
            }
            let verdict = if long { judge(&self.model, &returns, &outcome, &self.extent) } else { Verdict::Nothing };
            let found = match verdict {
                Verdict::Nothing if long && track.periods >= 3 * LONG / 2 => self.chaotic(&track),
                Verdict::Nothing => None,
                Verdict::Still => self.rest(&track),
                Verdict::Repeats { returns, rules, advance } => self.orbit(&track, returns, rules, advance),
            };
            match found {
                Some(k) => *label = k,
                None => open.push(track),
            }
        }
        Some(open)
    }

    /// The attractor that is known and on which the last returns are.
    fn met(&self, returns: &Returns, track: &Track, settled: bool) -> Option<u16> {
        let last: Vec<f64> = track.q.iter().chain(&track.v).copied().collect();
        let place = self.known.iter().position(|known| match known.attractor.kind {
            Kind::Rest { .. } => distance(&last, &known.attractor.cycle[0], &known.rules, &self.extent) <= known.radius,
            Kind::Chaotic { .. } => settled && known.holds(&returns.states, &self.extent),
            _ => known.holds(&returns.states, &self.extent),
        });
        place.map(|k| k as u16)
    }

    /// The label of a class that is no attractor.
    fn class(&mut self, kind: Kind) -> u16 {
        let known = self.known.iter().position(|k| k.attractor.kind == kind);
        known.map_or_else(|| self.add(kind, Vec::new(), Vec::new(), Vec::new(), 0.0, HashSet::new()), |k| k as u16)
    }

    fn add(
        &mut self,
        kind: Kind,
        cycle: Vec<Vec<f64>>,
        events: Vec<Event>,
        rules: Vec<Rule>,
        radius: f64,
        cells: HashSet<u64>,
    ) -> u16 {
        if self.known.len() >= MOST && !kind.is_open() {
            return self.class(Kind::Open);
        }
        let attractor = Attractor { kind, name: String::new(), cycle, events };
        self.known.push(Known { attractor, rules, radius, cells });
        self.known.len() as u16 - 1
    }

    /// A place of rest, if the track does not move from it at any phase.
    fn rest(&mut self, track: &Track) -> Option<u16> {
        let d = self.model.dimension();
        let rules = plain_rules(&self.model);
        let here: Vec<f64> = track.q.iter().chain(&track.v).copied().collect();
        let phases = self.witness.phases(track, 8);
        let stays = phases.chunks_exact(1 + 2 * d).all(|row| distance(&row[1..], &here, &rules, &self.extent) <= 1e-6);
        if !stays || phases.is_empty() {
            return None;
        }
        let closed = self.closed(track);
        // Where friction holds, places of rest are not isolated: they are one attractor.
        let sticks = !self.model.frictions.is_empty();
        let same = |k: &Known| match &k.attractor.kind {
            Kind::Rest { closed: others } => {
                *others == closed && (sticks || distance(&here, &k.attractor.cycle[0], &rules, &self.extent) <= 1e-4)
            }
            _ => false,
        };
        if let Some(k) = self.known.iter().position(same) {
            return Some(k as u16);
        }
        let radius = self.radius(std::slice::from_ref(&here), &rules, 1);
        Some(self.add(Kind::Rest { closed }, vec![here], Vec::new(), rules, radius, HashSet::new()))
    }

    /// The constraints that are closed at a place of rest.
    fn closed(&self, track: &Track) -> Vec<String> {
        let problem = self.plan.sweep.family.problem();
        let mut gaps = problem.gaps();
        gaps.linearise(self.crew.start().t, &track.q, &track.v);
        let reach = self.extent.first().copied().unwrap_or(1.0);
        let names = self.model.constraints.iter().zip(&gaps.values).filter(|(_, gap)| **gap <= 1e-7 * reach);
        names.map(|(c, _)| c.name.clone()).collect()
    }

    /// A periodic orbit, with its impacts.
    fn orbit(&mut self, track: &Track, n: usize, rules: Vec<Rule>, advance: Vec<f64>) -> Option<u16> {
        if self.known.len() >= MOST {
            return Some(self.class(Kind::Open));
        }
        let near = self.polished(track, n, &rules)?;
        let pieces = 2 * n as u64 + 2;
        let piece = match self.by_section {
            true => Piece { periods: LONG, kept: LONG },
            false => Piece { periods: pieces, kept: pieces },
        };
        let outcome = self.witness.follow(std::slice::from_ref(&near), piece).pop()?;
        let returns = Returns::of(&outcome, self.model.dimension(), self.by_section);
        let Some(last) = returns.states.len().checked_sub(1).filter(|&last| last >= n) else {
            return self.rest(&near);
        };
        let (cycle, turned) = canonical(&returns.states[last - n..last], &self.extent);
        let is_fixed = n == 1 && outcome.hits.is_empty() && advance.is_empty();
        if is_fixed && let Some(found) = self.rest(&near) {
            return Some(found);
        }
        let same = |k: &Known| matches!(k.attractor.kind, Kind::Periodic { .. }) && k.rules == rules;
        if let Some(k) = self.known.iter().position(|k| same(k) && k.is_cycle(&cycle, &self.extent)) {
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
        let kind = Kind::Periodic {
            time: to - from,
            periods: (!self.by_section).then_some(n as u32),
            chatters: outcome.accumulations > 0,
            advance,
        };
        let radius = self.radius(&cycle, &rules, n);
        Some(self.add(kind, cycle, events, rules, radius, HashSet::new()))
    }

    /// A track that is near a cycle of n returns, when it is on it; None if it does not get there.
    fn polished(&self, track: &Track, n: usize, rules: &[Rule]) -> Option<Track> {
        let mut near = track.clone();
        let periods = LONG.div_ceil(n as u64) * n as u64;
        let end = |t: &Track| t.q.iter().chain(&t.v).copied().collect::<Vec<f64>>();
        for round in 0..POLISH {
            let before = end(&near);
            let outcome = self.witness.follow(std::slice::from_ref(&near), Piece { periods, kept: 1 }).pop()?;
            if outcome.status.is_err() {
                return None;
            }
            (near.q, near.v) = (outcome.q, outcome.v);
            // (Pieces between sections do not end at the same phase: they are followed for a while.)
            let is_there = match self.by_section {
                true => round + 1 >= 4,
                false => distance(&before, &end(&near), rules, &self.extent) <= 1e-8,
            };
            if is_there {
                return Some(near);
            }
        }
        None
    }

    /// A distance from a cycle within which states lead to it: the largest of some at which all of a few that are tried do.
    fn radius(&self, cycle: &[Vec<f64>], rules: &[Rule], n: usize) -> f64 {
        let (degrees, d) = (self.model.degrees(), self.model.dimension());
        let mut dice = Dice(3);
        let near =
            |state: &[f64]| cycle.iter().map(|c| distance(state, c, rules, &self.extent)).fold(f64::INFINITY, f64::min);
        // In a plane a few hundred starts fill a square; where there are more dimensions, only small ones are trusted.
        let is_plane = rules.iter().filter(|rule| **rule != Rule::Free).count() <= 2;
        let radii = [0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5];
        let mut tries = Vec::new();
        for &radius in &radii[if is_plane { 0 } else { 5 }..] {
            tries.clear();
            for state in cycle.iter().cycle().take(TRIES.max(2 * cycle.len())) {
                let (q, v) = (state[..d].to_vec(), state[d..].to_vec());
                let track = Track { point: 0, q, v, periods: 0, sizes: Vec::new() };
                tries.push(moved(&track, 2.0 * radius, degrees, &self.extent, &mut dice));
            }
            if self.come_back(&mut tries, &near, 0.5 * radius, n as u64) {
                return radius;
            }
        }
        1e-7
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
    fn chaotic(&mut self, track: &Track) -> Option<u16> {
        let sets = self.known.iter().filter(|k| matches!(k.attractor.kind, Kind::Chaotic { .. })).count();
        if self.quiet >= QUIET || sets >= SETS {
            return None;
        }
        let degrees = self.model.degrees();
        let (exponent, error) = chaos::exponent(&self.crew, track, degrees, &self.extent)?;
        if exponent <= 3.0 * error {
            self.quiet += 1;
            return None;
        }
        let rules = plain_rules(&self.model);
        let cells = chaos::visited(&self.crew, track, degrees, &self.extent, &rules, self.by_section);
        // Two samples of one set share most of their cells.
        let overlap = |k: &Known| {
            matches!(k.attractor.kind, Kind::Chaotic { .. })
                && cells.intersection(&k.cells).count() * 3 > cells.len().min(k.cells.len())
        };
        if let Some(k) = self.known.iter().position(overlap) {
            self.known[k].cells.extend(cells);
            return Some(k as u16);
        }
        let unit = self.crew.unit;
        let here: Vec<f64> = track.q.iter().chain(&track.v).copied().collect();
        let kind = Kind::Chaotic { exponent: exponent / unit, error: error / unit };
        Some(self.add(kind, vec![here], Vec::new(), rules, 0.0, cells))
    }
}
