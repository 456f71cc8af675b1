//! Follows starts until each is on an attractor.

use super::attractor::{Attractor, Event, Kind, Known, Rule, distance};
use super::crew::{Crew, Piece, Track};
use super::judge::{FAR, Returns, Verdict, has_failed, is_unbounded, judge, plain_rules, size};
use super::{BasinPlan, Found, REFUSED};
use crate::{Outcome, Wanted};
use saltus::{Model, SetupError};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// The label of a start that has not been computed.
pub const OPEN: u16 = u16::MAX - 1;
/// More attractors than this are no attractors: each start has its own motion.
pub(super) const MOST: usize = 64;
/// Periods of the pieces after which a trajectory is compared with what is known,
pub(super) const ROUNDS: [u64; 12] = [16, 12, 12, 12, 16, 16, 24, 24, 32, 32, 48, 64];
/// by the last of them;
const SHORT: u64 = 5;
/// then those of pieces that show by themselves what it is.
pub(super) const LONG: u64 = 256;
/// Periods of pieces in which a motion of a family shows itself.
const FAMILY: u64 = 48;
/// Units in the time that is given where nothing has a period.
pub(super) const PARTS: u64 = 16;

/// What is known after some of the starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memory {
    pub extent: Vec<f64>,
    pub known: Vec<Known>,
    pub quiet: usize,
}

/// What a piece of a track is.
enum Seen {
    /// A start that is not admissible.
    Refused,
    /// No attractor.
    Class(Kind),
    /// An attractor that is known.
    Known(u16),
    /// None of them yet.
    Open(Track),
    /// None of them, but it shows something by itself.
    New(Track, Box<Shown>),
}

/// What a piece shows by itself.
struct Shown {
    outcome: Outcome,
    verdict: Verdict,
}

pub struct Hunt<'a> {
    pub(super) model: Arc<Model>,
    /// See [`plain_rules`].
    rules: Vec<Rule>,
    pub(super) crew: Crew<'a>,
    /// The same with impacts kept.
    pub(super) witness: Crew<'a>,
    pub(super) by_section: bool,
    most: u64,
    pub(super) extent: Vec<f64>,
    pub(super) known: Vec<Known>,
    pub(super) plan: &'a BasinPlan<'a>,
    found: Found,
    /// How often neighbours of a motion that did not settle stayed neighbours.
    pub(super) quiet: usize,
    /// How often what is known has changed.
    pub(super) changes: usize,
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
        let rules = plain_rules(&model);
        Ok(Hunt {
            model,
            rules,
            crew,
            witness,
            by_section,
            most,
            extent,
            known: Vec::new(),
            plan,
            found,
            quiet: 0,
            changes: 0,
        })
    }

    pub fn attractors(&self) -> Vec<Attractor> {
        self.known.iter().map(|k| k.attractor.clone()).collect()
    }

    /// What is known, as it is kept on the disk.
    pub fn memory(&self) -> Memory {
        Memory { extent: self.extent.clone(), known: self.known.clone(), quiet: self.quiet }
    }

    /// Goes on with what was known.
    pub fn remember(&mut self, memory: Memory) {
        let Memory { extent, known, quiet } = memory;
        (self.extent, self.known, self.quiet) = (extent, known, quiet);
    }

    /// Labels some starts; false if it was stopped. `done` are those before.
    pub fn label(&mut self, points: &[u32], labels: &mut [u16], done: u64, watch: &mut dyn FnMut(&Found)) -> bool {
        self.found.done = done;
        let whole = self.part(points, labels, watch);
        self.found.done = done + points.len() as u64;
        self.found.attractors = self.attracting();
        watch(&self.found);
        whole
    }

    /// How many attractors are known.
    fn attracting(&self) -> usize {
        self.known.iter().filter(|k| k.attractor.kind.attracts()).count()
    }

    fn tell(&mut self, labelled: usize, done: u64, watch: &mut dyn FnMut(&Found)) {
        self.found.done = done + labelled as u64;
        self.found.attractors = self.attracting();
        watch(&self.found);
    }

    fn part(&mut self, points: &[u32], labels: &mut [u16], watch: &mut dyn FnMut(&Found)) -> bool {
        let done = self.found.done;
        let mut tracks: Vec<Track> = self.crew.tracks(points);
        if self.extent.is_empty() && !self.measure(&tracks) {
            return false;
        }
        // (Where nothing is known yet, there is nothing to compare with.)
        let rounds = if self.known.is_empty() { &[][..] } else { &ROUNDS[..] };
        for &periods in rounds {
            if tracks.is_empty() {
                return true;
            }
            // (Where motions of a family are about, which nothing comes near to, they are seen by their own returns.)
            let piece = match self.has_families() {
                true => Piece { periods: periods.max(FAMILY), kept: periods.max(FAMILY) },
                false => Piece { periods, kept: SHORT },
            };
            match self.round(tracks, piece, labels, false) {
                Some(open) => tracks = open,
                None => return false,
            }
            self.tell(points.len() - tracks.len(), done, watch);
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
            self.tell(points.len() - tracks.len(), done, watch);
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
    ///
    /// Each thread compares its tracks with what is known before; what none of that is, is looked at here, one after the other.
    fn round(&mut self, tracks: Vec<Track>, piece: Piece, labels: &mut [u16], long: bool) -> Option<Vec<Track>> {
        let (changes, is_judged) = (self.changes, long || self.has_families());
        let passed =
            self.crew.digest(tracks, piece, &|track, outcome| self.seen(track, outcome, piece, long, is_judged))?;
        let mut open = Vec::new();
        for (point, seen) in passed {
            let label = &mut labels[point as usize];
            let (track, shown) = match seen {
                Seen::Refused => {
                    *label = REFUSED;
                    continue;
                }
                Seen::Class(kind) => {
                    *label = self.class(kind);
                    continue;
                }
                Seen::Known(k) => {
                    *label = k;
                    continue;
                }
                Seen::Open(track) => {
                    open.push(track);
                    continue;
                }
                Seen::New(track, shown) => (track, *shown),
            };
            // (Another track of this round may have found it.)
            let returns = &Returns::of(&shown.outcome, self.model.dimension(), self.by_section);
            if self.changes > changes
                && let Some(k) = self.met(returns, &track, Self::has_settled(&track, long))
            {
                *label = k;
                continue;
            }
            let found = match shown.verdict {
                // (Rest repeats itself too, and a set of places of rest is a family.)
                Verdict::Repeats { returns: 1, ref advance, .. } if advance.is_empty() && self.is_still(&track) => {
                    if long {
                        self.rest(&track)
                    } else {
                        None
                    }
                }
                Verdict::Repeats { returns: n, rules, advance } if !long => self.neutral(returns, n, &rules, &advance),
                _ if !long => None,
                Verdict::Nothing if track.periods >= 3 * LONG / 2 => self.chaotic(&track),
                Verdict::Nothing => None,
                Verdict::Still => self.rest(&track),
                Verdict::Repeats { returns: n, rules, advance } => match self.neutral(returns, n, &rules, &advance) {
                    None => self.orbit(&track, n, rules, advance),
                    found => found,
                },
            };
            match found {
                Some(k) => labels[point as usize] = k,
                None => open.push(track),
            }
        }
        Some(open)
    }

    /// What a piece of a track shows, compared with what is known.
    fn seen(&self, mut track: Track, outcome: Outcome, piece: Piece, long: bool, is_judged: bool) -> (u32, Seen) {
        let (degrees, d, point) = (self.model.degrees(), self.model.dimension(), track.point);
        let far = size(&outcome, degrees, d, &self.extent);
        if outcome.status.is_err() {
            // A start that is not admissible; later it is a state that the engine cannot go on from.
            return (point, if track.periods == 0 { Seen::Refused } else { Seen::Class(Kind::Open) });
        }
        if !(far < FAR) {
            return (point, Seen::Class(Kind::Unbounded));
        }
        if has_failed(&outcome) {
            return (point, Seen::Class(if far > 1e3 { Kind::Unbounded } else { Kind::Open }));
        }
        let returns = Returns::of(&outcome, d, self.by_section);
        track.periods += piece.periods;
        if long || track.sizes.is_empty() {
            track.sizes.push(far);
        }
        track.q.copy_from_slice(&outcome.q);
        track.v.copy_from_slice(&outcome.v);
        if let Some(k) = self.met(&returns, &track, Self::has_settled(&track, long)) {
            return (point, Seen::Known(k));
        }
        if !is_judged {
            return (point, Seen::Open(track));
        }
        let verdict = judge(&self.model, &self.rules, &returns, &outcome, &self.extent);
        (point, Seen::New(track, Box::new(Shown { outcome, verdict })))
    }

    /// Whether a track may be on a chaotic set.
    fn has_settled(track: &Track, long: bool) -> bool {
        long || track.periods >= 2 * PARTS
    }

    /// Whether a track does not move just now.
    fn is_still(&self, track: &Track) -> bool {
        let d = self.model.dimension();
        (0..self.model.degrees()).all(|i| track.v[i].abs() <= 1e-7 * self.extent[d + i])
    }

    /// Whether families of motions are known that do not attract.
    fn has_families(&self) -> bool {
        self.known.iter().any(|k| matches!(k.attractor.kind, Kind::Neutral { .. }))
    }

    /// The attractor that is known and on which the last returns are.
    fn met(&self, returns: &Returns, track: &Track, settled: bool) -> Option<u16> {
        // (Attractors of rest, of which most models have none, are compared with the end of the piece.)
        let last = || track.q.iter().chain(&track.v).copied().collect::<Vec<f64>>();
        let place = self.known.iter().position(|known| match known.attractor.kind {
            Kind::Rest { .. } => {
                distance(&last(), &known.attractor.cycle[0], &known.rules, &self.extent) <= known.radius
            }
            Kind::Chaotic { .. } => settled && known.holds(&returns.states, &self.extent),
            _ => known.holds(&returns.states, &self.extent),
        });
        place.map(|k| k as u16)
    }

    /// The label of a class that is no attractor.
    pub(super) fn class(&mut self, kind: Kind) -> u16 {
        let known = self.known.iter().position(|k| k.attractor.kind == kind);
        known.map_or_else(|| self.add(kind, Vec::new(), Vec::new(), Vec::new(), 0.0, HashSet::new()), |k| k as u16)
    }

    pub(super) fn add(
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
        self.changes += 1;
        let attractor = Attractor { kind, name: String::new(), cycle, events };
        self.known.push(Known { attractor, rules, radius, cells });
        self.known.len() as u16 - 1
    }
}
