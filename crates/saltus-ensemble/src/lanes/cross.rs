//! What ends the steps of lanes: first crossings of gaps and reactions, and poles.

use super::group::{Event, Group, Mode};
use super::vector;
use super::watch::{Found, examine, look};
use saltus_expr::Lane;

/// A denominator may fall to this part within a step.
const FALL: f64 = 1e-4;

/// So often a step is halved to keep clear of a pole.
const HALVINGS: usize = 50;

impl<const W: usize> Group<W> {
    /// Shortens steps in which a denominator falls by more than is seen from where they begin.
    pub fn keep_clear_of_poles(&self, h: &mut Lane<W>, events: &mut [Option<Event>; W]) {
        let mut is_halved = [false; W];
        for mark in self.series.marks() {
            for _ in 0..HALVINGS {
                let clear = vector::clearance_of_size(mark, h, FALL);
                let mut is_clear = true;
                for l in 0..W {
                    if h.0[l] > 0.0 && !(clear.0[l] > 0.0) {
                        (h.0[l], events[l], is_clear) = (0.5 * h.0[l], None, false);
                        is_halved[l] = true;
                    }
                }
                if is_clear {
                    break;
                }
            }
        }
        for l in 0..W {
            if is_halved[l] && !(h.0[l] > self.shortest(l)) {
                (h.0[l], events[l]) = (0.0, Some(Event::Unclear));
            }
        }
    }

    /// Looks for the first crossing of gap w, or of the reaction (w = m).
    pub fn first_crossing(&mut self, w: usize, h: &mut Lane<W>, events: &mut [Option<Event>; W]) {
        let (n, m) = (self.code.order, self.code.m);
        let row = match w {
            w if w < m => self.series.output(self.code.gaps + w),
            _ => &self.lambda[..],
        };
        let event = match w {
            w if w < m => Event::Hit(w),
            _ => Event::Release,
        };
        // Coefficients that are zero are left out, and lanes that have nothing to look for.
        let top = row.len();
        if w < m && self.modes.iter().all(Mode::is_plain) {
            let clear = vector::clearance(row, h);
            if (0..W).all(|l| clear.0[l] > 0.0 || !(h.0[l] > 0.0)) {
                return;
            }
        }
        self.shifted[..top].copy_from_slice(row);
        self.shifted[top..].fill(Lane::all(0.0));
        for l in 0..W {
            let mode = &self.modes[l];
            if w < m && mode.is_plain() {
                continue;
            }
            let looks = match w {
                w if w < m => mode.held != Some(w),
                _ => mode.held.is_some(),
            };
            let zeros = if w < m { usize::from(mode.zeros[w]) } else { 0 };
            if !looks {
                (0..=n).for_each(|k| self.shifted[k].0[l] = if k == 0 { 1.0 } else { 0.0 });
            } else if zeros > 0 {
                for k in 0..=n {
                    let from = k + zeros;
                    self.shifted[k].0[l] = if from < top { row[from].0[l] } else { 0.0 };
                }
            }
        }
        let clear = vector::clearance(&self.shifted, h);
        let is_clear = |l: usize, h: &Lane<W>| clear.0[l] > 0.0 || !(h.0[l] > 0.0);
        if (0..W).all(|l| is_clear(l, h)) {
            return;
        }
        let floor = vector::bernstein(&self.shifted, h, &self.ratios, &mut self.scaled, &mut self.forms);
        let seen = look(&self.forms, n, &floor);
        let (mut low, mut high, mut s) = (Lane::all(0.0), Lane::all(0.0), Lane::all(0.0));
        let mut crosses = [false; W];
        for l in 0..W {
            if is_clear(l, h) {
                continue;
            }
            let found = match () {
                () if seen.is_clear[l] > 0.0 => Found::Clear(1.0),
                () if seen.is_once[l] > 0.0 => Found::Between(0.0, 1.0, seen.guess[l].clamp(1e-3, 1.0 - 1e-3)),
                () => examine(&self.forms, n, l, floor[l]),
            };
            match found {
                Found::Clear(part) if part < 1.0 => {
                    h.0[l] *= part;
                    events[l] = None;
                }
                Found::Clear(_) => {}
                Found::Between(from, to, guess) => {
                    crosses[l] = true;
                    (low.0[l], high.0[l], s.0[l]) = (from * h.0[l], to * h.0[l], guess * h.0[l]);
                }
                Found::Unclear => {
                    h.0[l] = 0.0;
                    events[l] = Some(Event::Unclear);
                }
            }
        }
        if crosses.contains(&true) {
            vector::crossings(&self.shifted, low, high, &mut s);
            for l in 0..W {
                if crosses[l] {
                    h.0[l] = s.0[l];
                    events[l] = Some(event);
                }
            }
        }
    }
}
