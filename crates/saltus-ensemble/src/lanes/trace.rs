//! What is kept of the impacts of lanes in linear flight, until they leave it.

use super::vector::{each, larger};
use saltus_expr::{Lane, choose};

/// A constraint that bounced: as it was when flight began.
pub const BEFORE: f64 = -2.0;
/// None.
pub const NONE: f64 = -1.0;

/// The impacts of W lanes since each of them took off.
#[derive(Debug)]
pub struct Trace<const W: usize> {
    /// Impacts count from here on.
    pub from: Lane<W>,
    /// How many there were; the largest residual of the law; the deepest gap.
    pub impacts: Lane<W>,
    pub law: Lane<W>,
    pub violation: Lane<W>,
    /// The constraint that was hit last, or [`BEFORE`]; [`NONE`] where flight went on since for an interval of the grid, or half of it: that
    /// is no chatter.
    pub bounced: Lane<W>,
    /// 1 in lanes that have moved, else 0.
    pub moved: Lane<W>,
    /// The speed and the impulse of the last impact.
    pub speed: Lane<W>,
    pub impulse: Lane<W>,
}

/// The last impacts: the constraint that was hit, or −1; when; how deep; and the residual of the law, relative to what rates are made of.
pub struct Last<const W: usize> {
    pub which: Lane<W>,
    pub t: Lane<W>,
    pub gap: Lane<W>,
    pub residual: Lane<W>,
}

impl<const W: usize> Trace<W> {
    pub fn new() -> Self {
        let zeros = Lane::all(0.0);
        Trace {
            from: zeros,
            impacts: zeros,
            law: zeros,
            violation: zeros,
            bounced: Lane::all(NONE),
            moved: zeros,
            speed: zeros,
            impulse: zeros,
        }
    }

    /// Lane l takes off.
    pub fn begin(&mut self, l: usize, from: f64) {
        self.from[l] = from;
        (self.impacts[l], self.law[l], self.violation[l]) = (0.0, 0.0, 0.0);
        (self.bounced[l], self.moved[l]) = (BEFORE, 0.0);
    }

    /// Notes the last impacts. Lanes of `moved` have moved, with or without one; those of `flown` for an interval or half of it before.
    #[inline(always)]
    pub fn note(&mut self, last: &Last<W>, moved: &Lane<W>, flown: &Lane<W>) {
        let Last { which, t, gap, residual } = last;
        let hit: Lane<W> = each(|l| choose(which[l] >= 0.0, 1.0, 0.0));
        self.impacts = each(|l| self.impacts[l] + choose(t[l] >= self.from[l], hit[l], 0.0));
        self.law = each(|l| choose(hit[l] > 0.0, larger(residual[l], self.law[l]), self.law[l]));
        self.violation = each(|l| choose(hit[l] > 0.0, larger(-gap[l], self.violation[l]), self.violation[l]));
        self.bounced = each(|l| choose(hit[l] > 0.0, which[l], choose(flown[l] > 0.0, NONE, self.bounced[l])));
        self.moved = each(|l| larger(self.moved[l], larger(moved[l], flown[l])));
    }
}
