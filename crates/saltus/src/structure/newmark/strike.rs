//! What the stops do to a step.

use super::Newmark;
use crate::Reason;
use crate::structure::hole::Place;
use crate::structure::passive::Passive;

/// How many times the holes of a step are turned, at most; beyond, the last direction holds.
const ROUNDS: usize = 40;

/// Directions that turned by less than this fit.
const TURNED: f64 = 1e-12;

impl Newmark {
    /// The stops act on the free step in `after`.
    pub(super) fn strike(&mut self) -> Result<(), Reason> {
        self.forces.rotate_right(1);
        self.impulses.fill(0.0);
        self.forces[0].fill(0.0);
        if let Some(springs) = &mut self.springs {
            springs.begin(self.n == 0);
        }
        self.evaluate_stops();
        if self.springs.is_some() {
            return self.spring();
        }
        let limits = self.passive.as_ref().map(Passive::limits);
        if self.stops.resolve_limited(limits, self.instance.model())? {
            self.stops.correct(&mut self.after);
            for (a, &p) in self.stops.multipliers().iter().enumerate() {
                match self.compliant[a] {
                    // A force at t_{n+1}; its impulse is that of a whole step.
                    true => {
                        let whole = p / self.weights[0];
                        (self.forces[0][a], self.impulses[a]) = (whole / self.h, whole);
                    }
                    false => self.impulses[a] = p,
                }
            }
        }
        if let Some(passive) = &mut self.passive {
            passive.depart(&self.stops.slacks, |a| self.stops.own(a), &self.impulses);
        }
        Ok(())
    }

    /// The same where stops are springs, rough, or round holes, which are turned until they fit.
    fn spring(&mut self) -> Result<(), Reason> {
        let mut round = 0;
        loop {
            self.face_holes(round == 0);
            let Some(springs) = &mut self.springs else { return Ok(()) };
            let limits = self.passive.as_ref().map(Passive::limits);
            let acts = springs.resolve(&mut self.stops.slacks, &self.after, limits, self.instance.model())?;
            round += 1;
            if acts && round < ROUNDS && springs.turn() > TURNED {
                self.stops.slacks.copy_from_slice(&self.slacks);
                continue;
            }
            if acts {
                springs.correct(&mut self.after);
                springs.ends().for_each(|(i, z)| self.after[i] += z);
                for a in 0..self.impulses.len() {
                    self.forces[0][a] = if self.compliant[a] { springs.force(a) } else { 0.0 };
                    self.impulses[a] =
                        if self.compliant[a] { self.h * springs.force(a) } else { springs.multipliers[a] };
                }
            }
            springs.keep_thrusts();
            if let Some(passive) = &mut self.passive {
                passive.depart(&self.stops.slacks, |a| springs.own(a), &self.impulses);
            }
            return Ok(());
        }
    }

    /// The gaps of round holes along the directions that they have, and what they may give back.
    fn face_holes(&mut self, is_first: bool) {
        let Some(springs) = self.springs.as_mut().filter(|s| !s.bores.is_empty()) else { return };
        if is_first {
            self.slacks.copy_from_slice(&self.stops.slacks);
        }
        let t = self.instance.start().t + self.n as f64 * self.h;
        for (bore, (_, hole)) in springs.bores.iter().zip(&self.linear.holes) {
            let a = bore.stop;
            if let Some(passive) = self.passive.as_mut().filter(|_| !self.compliant[a]) {
                let radius = self.averages.offset(&mut self.signals, a, t) + hole.eccentricity();
                let (gap, behind) = bore.gaps(radius);
                let mirror = match self.n {
                    0 => {
                        let opening = |step: &[f64]| bore.opening(&springs.rows, step);
                        gap + opening(&self.after) - 2.0 * opening(&self.scratch)
                    }
                    _ => behind,
                };
                passive.begin(a, gap, behind, mirror);
            }
            self.stops.slacks[a] = bore.slack();
        }
    }

    /// The gaps the scheme evaluates, without contact.
    fn evaluate_stops(&mut self) {
        let h = self.h;
        let t = self.instance.start().t + self.n as f64 * h;
        if let Some(springs) = self.springs.as_mut().filter(|s| !s.bores.is_empty()) {
            let is_long = springs.is_long();
            let place = Place { q: &self.q, before: &self.before, after: &self.after, is_long };
            let (averages, signals, holes) = (&mut self.averages, &mut self.signals, &self.linear.holes);
            springs.aim(&place, |a| {
                let e = if self.compliant[a] { 0.0 } else { self.restitution[a] };
                let rest = holes.iter().find(|(stop, _)| *stop == a).map_or(0.0, |(_, hole)| hole.eccentricity());
                averages.offset(signals, a, t + h * (1.0 - e) / (1.0 + e)) + rest
            });
        }
        for a in (0..self.restitution.len()).filter(|&a| !self.round[a]) {
            let rows = &self.stops.rows;
            let (q, before, after) = (rows.dot(a, &self.q), rows.dot(a, &self.before), rows.dot(a, &self.after));
            if let Some(passive) = self.passive.as_mut().filter(|_| !self.compliant[a]) {
                let gap = self.averages.offset(&mut self.signals, a, t) + q;
                match self.n {
                    0 => passive.begin(a, gap, gap - before, gap + after - 2.0 * rows.dot(a, &self.scratch)),
                    _ => passive.arrive(a, gap),
                }
            }
            self.stops.slacks[a] = if self.compliant[a] {
                self.averages.offset(&mut self.signals, a, t + h) + q + after
            } else {
                let e = self.restitution[a];
                // Averaged instant and position, times 1 + e.
                let offset = self.averages.offset(&mut self.signals, a, t + h * (1.0 - e) / (1.0 + e));
                (1.0 + e) * (offset + q) + after - e * before
            };
        }
    }
}
