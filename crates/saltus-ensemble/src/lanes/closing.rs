//! What the gaps do in the interval of the grid ahead of lanes in linear flight: none closes, one closes once, or it cannot be told.
//!
//! A gap is the cubic with its values and slopes at both ends, but for a bound that is known ([`glide`](super::glide)).

use super::glide::Glide;
use super::vector::{smaller, take};
use saltus_expr::{Lane, choose};

/// Newton's method on the cubic.
const ROUNDS: usize = 3;

/// A gap that closes within this part of an interval from the end of the lane may close before or after it.
const MARGIN: f64 = 1e-2;

/// 1 or 0.
#[inline(always)]
pub fn flag(is: bool) -> f64 {
    choose(is, 1.0, 0.0)
}

/// What the gaps do in the intervals ahead.
pub struct Closing<const W: usize> {
    /// 1 where it is plain: no gap closes, or one of them once; else 0.
    pub plain: Lane<W>,
    /// 1 where nothing closes in the first half; else 0.
    pub is_half_clear: Lane<W>,
    /// The gap that closes, or −1.
    pub which: Lane<W>,
    /// Its cubic in powers of u = s/H, divided by u where it had just closed; what is left out.
    cubic: [Lane<W>; 4],
    doubt: Lane<W>,
}

impl<const W: usize> Closing<W> {
    /// That of the lanes of `on`.
    #[inline(always)]
    pub fn new(glide: &Glide<W>, on: &Lane<W>) -> Self {
        let zeros = Lane::<W>::all(0.0);
        let (cubic, doubt) = ([zeros; 4], zeros);
        let mut closing = Closing { plain: *on, is_half_clear: *on, which: Lane::<W>::all(-1.0), cubic, doubt };
        let mut doubts = zeros;
        for a in 0..glide.m {
            doubts = glide.doubt(a, doubts);
            closing.consider(a, glide, &doubts);
        }
        closing
    }

    /// Gap a, from its values and rates at both ends, and what its cubic may leave out.
    #[inline(always)]
    fn consider(&mut self, a: usize, glide: &Glide<W>, doubts: &Lane<W>) {
        let ([zero, rise], [value, slope]) = (&glide.now[a], &glide.then[a]);
        let was_left = &glide.is_left[a];
        let (mut is_it, mut doubt) = (Lane::<W>::all(0.0), Lane::<W>::all(0.0));
        let mut cubic = [Lane::<W>::all(0.0); 4];
        for l in 0..W {
            let is_left = was_left[l] > 0.0;
            let b0 = choose(is_left, 0.0, zero[l]);
            let (b1, b2, b3) = (b0 + rise[l], value[l] - slope[l], value[l]);
            // (The Bernstein coefficients of a gap that has just closed are those of a quadratic, which is multiplied by u.)
            doubt[l] = choose(is_left, 2.4 * doubts[l], doubts[l]);
            let first = choose(is_left, 3.0 * b1, b0);
            let second = choose(is_left, first, b1);
            let middle = choose(is_left, 1.5 * b2, b2);
            let clear = smaller(smaller(first, second), smaller(middle, b3)) > doubt[l];
            // One change of sign, whatever is left out.
            let once = (first > doubt[l]) & (b3 < -doubt[l]) & (is_left | (second > doubt[l]) | (middle < -doubt[l]));
            let is_first = self.which[l] < 0.0;
            self.plain[l] = choose(clear | (once & is_first), self.plain[l], 0.0);
            is_it[l] = flag(once & is_first);
            // The coefficients of the first half; what the cubic of the whole interval leaves out is no less there.
            let half = 0.5 * (first + choose(is_left, middle, second));
            let quarter = 0.25 * choose(is_left, first + 2.0 * middle + b3, first + 2.0 * second + middle);
            let eighth = choose(is_left, quarter, 0.125 * (first + 3.0 * (second + middle) + b3));
            let half_clear = smaller(smaller(first, half), smaller(quarter, eighth)) > doubt[l];
            self.is_half_clear[l] = choose(half_clear, self.is_half_clear[l], 0.0);
            cubic[0][l] = first;
            cubic[1][l] = choose(is_left, 3.0 * b2 - 6.0 * b1, 3.0 * (b1 - b0));
            cubic[2][l] = choose(is_left, b3 - 3.0 * b2 + 3.0 * b1, 3.0 * (b2 - 2.0 * b1 + b0));
            cubic[3][l] = choose(is_left, 0.0, b3 - 3.0 * b2 + 3.0 * b1 - b0);
        }
        take(&is_it, &Lane::<W>::all(a as f64), &mut self.which);
        take(&is_it, &doubt, &mut self.doubt);
        for k in 0..4 {
            take(&is_it, &cubic[k], &mut self.cubic[k]);
        }
    }

    /// Where the cubic vanishes, as a part of the interval; where the lane ends, if that is before. `part` is where it ends.
    #[inline(always)]
    pub fn guess(&mut self, part: &Lane<W>) -> Lane<W> {
        let (mut low, mut high, mut u) = (Lane::<W>::all(0.0), Lane::<W>::all(1.0), Lane::<W>::all(0.0));
        let [c0, c1, c2, c3] = &self.cubic;
        for l in 0..W {
            u[l] = c0[l] / -(c1[l] + c2[l] + c3[l]);
        }
        for _ in 0..ROUNDS {
            for l in 0..W {
                let x = u[l];
                let value = ((c3[l] * x + c2[l]) * x + c1[l]) * x + c0[l];
                let slope = (3.0 * c3[l] * x + 2.0 * c2[l]) * x + c1[l];
                low[l] = choose(value > 0.0, x, low[l]);
                high[l] = choose(value > 0.0, high[l], x);
                let newton = x - value / slope;
                let inside = (newton >= low[l]) & (newton <= high[l]);
                u[l] = choose(inside, newton, 0.5 * (low[l] + high[l]));
            }
        }
        for l in 0..W {
            let x = u[l];
            // The slope cannot turn over where the gap may vanish.
            let fall = -((3.0 * c3[l] * x + 2.0 * c2[l]) * x + c1[l]);
            let bend = 2.0 * c2[l].abs() + 6.0 * c3[l].abs() + self.doubt[l];
            let is_sure = (fall > 0.0) & (fall * fall > 8.0 * bend * self.doubt[l]);
            let (is_after, is_before) = (x > part[l] + MARGIN, x < part[l] - MARGIN);
            let none = self.which[l] < 0.0;
            self.plain[l] = choose(none | (is_sure & (is_after | is_before)), self.plain[l], 0.0);
            self.which[l] = choose(is_after, -1.0, self.which[l]);
            u[l] = choose(self.which[l] < 0.0, part[l], x);
        }
        u
    }
}
