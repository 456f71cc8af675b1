//! Follows starts until each is on an attractor.

use super::attractor::{Attractor, Cells, Event, Kind, Known, Rule, distance};
use super::crew::{Crew, Piece, Track, Tracks};
use super::extent::Extent;
use super::judge::{FAR, Returns, Verdict, grows, has_failed, judge, plain_rules, with_turns};
use super::{BasinPlan, Found, REFUSED};
use crate::carry::{after_impact, is_before_impact};
use crate::meetings::MEANWHILE;
use crate::{Outcome, Wanted};
use saltus::{Model, SetupError, Start};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow::{self, Break, Continue};
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
    pub extent: Extent,
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
    /// See [`plain_rules`], and [`with_turns`].
    rules: Vec<Rule>,
    pub(super) angles: Vec<Rule>,
    pub(super) crew: Crew<'a>,
    /// The same with impacts kept.
    pub(super) witness: Crew<'a>,
    pub(super) by_section: bool,
    most: u64,
    pub(super) extent: Extent,
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
        let extent = Extent::default();
        let most = plan.most.max(LONG);
        let rules = plain_rules(&model);
        let angles = with_turns(family.problem(), crew.start(), &rules);
        Ok(Hunt {
            model,
            rules,
            angles,
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

    fn part(&mut self, points: &[u32], labels: &mut [u16], watch: &mut dyn FnMut(&Found)) -> bool {
        if self.extent.size.is_empty() {
            let Some(extent) = Extent::measured(&self.crew, &self.crew.tracks(points), self.model.degrees()) else {
                return false;
            };
            self.extent = extent;
        }
        // (Where nothing is known yet, there is nothing to compare with.)
        let rounds = if self.known.is_empty() { &[][..] } else { &ROUNDS[..] };
        // Where motions of a family are about, which nothing comes near to, they are seen by their own returns.
        let families = self.has_families();
        let piece = |&periods: &u64| match families {
            true => Piece { periods: periods.max(FAMILY), kept: periods.max(FAMILY) },
            false => Piece { periods, kept: SHORT },
        };
        let pieces: Vec<Piece> = rounds.iter().map(piece).collect();
        // (Elsewhere what is known does not change in these rounds: no thread waits for another between them.)
        let mut tracks = Tracks::Starts(points);
        for pieces in pieces.chunks(if families { 1 } else { ROUNDS.len() }) {
            match self.round(tracks, pieces, labels, false, watch) {
                Some(open) => tracks = Tracks::Begun(open),
                None => return false,
            }
        }
        let mut tracks = self.crew.begun(tracks);
        let mut length = LONG;
        while !tracks.is_empty() {
            let periods = tracks[0].periods;
            if periods >= self.most {
                break;
            }
            let piece = Piece { periods: length, kept: LONG.min(length) };
            match self.round(Tracks::Begun(tracks), &[piece], labels, true, watch) {
                Some(open) => tracks = open,
                None => return false,
            }
            // (Each piece is as long as all before it.)
            length = (periods + length).min(self.most.saturating_sub(periods + length)).max(LONG);
        }
        for track in tracks {
            let kind = if grows(&track.sizes) { Kind::Growing } else { Kind::Open };
            labels[track.point as usize] = self.class(kind);
        }
        true
    }

    /// Follows tracks for some pieces; those that are still open. None if it was stopped.
    ///
    /// Each thread compares its tracks with what is known before; what none of that is, is looked at here, one after the other.
    fn round(
        &mut self,
        tracks: Tracks,
        pieces: &[Piece],
        labels: &mut [u16],
        long: bool,
        watch: &mut dyn FnMut(&Found),
    ) -> Option<Vec<Track>> {
        let (changes, is_judged) = (self.changes, long || self.has_families());
        let (before, count) = (self.found.done, tracks.len());
        let mut found = Found { attractors: self.attracting(), ..self.found };
        let digest = |track, outcome, piece| self.seen(track, outcome, piece, long, is_judged);
        let passed = self.crew.digest(tracks, pieces, &digest, &mut |ended| {
            found.done = before + ended as u64;
            watch(&found);
        })?;
        let mut open = Vec::new();
        for state in passed {
            let (point, seen) = match state {
                Break(ended) => ended,
                Continue(track) => {
                    open.push(track);
                    continue;
                }
            };
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
                Seen::New(track, shown) => (track, *shown),
            };
            // (Another track of this round may have found it.)
            let returns = &Returns::of(&shown.outcome, self.model.dimension(), self.by_section);
            if self.changes > changes
                && let Some(k) = self.met(returns, &track, Self::has_settled(&track, long))
                && !(self.is_chaotic(k) && shown.verdict.repeats())
            {
                *label = k;
                continue;
            }
            let found = match shown.verdict {
                // (Rest repeats itself too, and a set of places of rest is a family.)
                Verdict::Repeats { returns: 1, ref advance, .. }
                    if advance.is_empty() && self.extent.is_still(&track.v, self.model.degrees()) =>
                {
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
        self.found.done = before + (count - open.len()) as u64;
        Some(open)
    }

    /// What a piece of a track shows, compared with what is known; nothing yet, if it goes on.
    fn seen(
        &self,
        mut track: Track,
        mut outcome: Outcome,
        piece: Piece,
        long: bool,
        is_judged: bool,
    ) -> ControlFlow<(u32, Seen), Track> {
        let (degrees, d, point) = (self.model.degrees(), self.model.dimension(), track.point);
        let far = self.extent.far(&outcome.q, &outcome.v, degrees, &self.angles);
        if outcome.status.is_err() {
            // A start that is not admissible; later it is a state that the engine cannot go on from.
            return Break((point, if track.periods == 0 { Seen::Refused } else { Seen::Class(Kind::Open) }));
        }
        if !(far < FAR) {
            return Break((point, Seen::Class(Kind::Unbounded)));
        }
        if has_failed(&outcome) {
            return Break((point, Seen::Class(if far > 1e3 { Kind::Unbounded } else { Kind::Open })));
        }
        if long {
            self.pass_impacts(&mut outcome);
        }
        let returns = Returns::of(&outcome, d, self.by_section);
        track.periods += piece.periods;
        if long || track.sizes.is_empty() {
            track.sizes.push(far);
        }
        track.q.copy_from_slice(&outcome.q);
        track.v.copy_from_slice(&outcome.v);
        let known = self.met(&returns, &track, Self::has_settled(&track, long));
        if let Some(k) = known.filter(|&k| !self.is_chaotic(k)) {
            return Break((point, Seen::Known(k)));
        }
        if known.is_none() && !is_judged {
            return Continue(track);
        }
        let verdict =
            judge(self.plan.sweep.family.problem(), self.crew.start(), &self.rules, &returns, &outcome, &self.extent);
        if let Some(k) = known.filter(|_| !verdict.repeats()) {
            return Break((point, Seen::Known(k)));
        }
        Break((point, Seen::New(track, Box::new(Shown { outcome, verdict }))))
    }

    /// Where an impact falls on the end of a piece, the state there is the one after it, as at other instants of the stroboscope.
    pub(super) fn pass_impacts(&self, outcome: &mut Outcome) {
        let problem = self.plan.sweep.family.problem();
        if self.by_section || self.model.constraints.is_empty() {
            return;
        }
        let (begin, tolerance) = (self.crew.start(), self.plan.sweep.wanted.tolerance);
        let (within, mut gaps) = (MEANWHILE * self.crew.unit, problem.gaps());
        let mut after = |q: &[f64], v: &[f64]| {
            if !is_before_impact(&mut gaps, (begin.t, q, v), within) {
                return None;
            }
            let start = Start::new(begin.t, q.to_vec(), v.to_vec()).with_parameters(begin.parameters.clone());
            after_impact(problem, &start, within, tolerance)
        };
        if let Some(state) = after(&outcome.q, &outcome.v) {
            (outcome.q, outcome.v) = (state.q, state.v);
        }
    }

    /// Whether a track may be on a chaotic set.
    fn has_settled(track: &Track, long: bool) -> bool {
        long || track.periods >= 2 * PARTS
    }

    /// Whether what is known is a chaotic set. (A periodic orbit may lie in its cells.)
    fn is_chaotic(&self, k: u16) -> bool {
        matches!(self.known[k as usize].attractor.kind, Kind::Chaotic { .. })
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
                distance(&last(), &known.attractor.cycle[0], &known.rules, &self.extent.size) <= known.radius
            }
            Kind::Chaotic { .. } => settled && known.holds(&returns.states, &self.extent.size),
            _ => known.holds(&returns.states, &self.extent.size),
        });
        place.map(|k| k as u16)
    }

    /// The label of a class that is no attractor.
    pub(super) fn class(&mut self, kind: Kind) -> u16 {
        let known = self.known.iter().position(|k| k.attractor.kind == kind);
        known.map_or_else(|| self.add(kind, Vec::new(), Vec::new(), Vec::new(), 0.0, Cells::default()), |k| k as u16)
    }

    pub(super) fn add(
        &mut self,
        kind: Kind,
        cycle: Vec<Vec<f64>>,
        events: Vec<Event>,
        rules: Vec<Rule>,
        radius: f64,
        cells: Cells,
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
