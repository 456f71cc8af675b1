//! Polynomials on [0, h]: values, and the first place where one turns negative, found without missing any.
//!
//! In Bernstein form on an interval the coefficients enclose the values, the first and the last are those at the ends, and
//! the number of sign changes bounds the number of roots. So: no negative coefficient, no crossing; one change of sign,
//! exactly one crossing; otherwise halve the interval and examine the left half first. A dip and return between the ends is
//! found like any other crossing. What is below rounding counts as zero.

/// The highest degree there is room for.
pub const MAX_DEGREE: usize = 40;

pub(crate) use crate::motion::{value, value_and_slope};

/// Σ |c_k| h^k: no value on [0, h] is larger.
pub fn size(c: &[f64], h: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * h + c.abs())
}

/// Σ max(−c_k, 0) h^k: the polynomial falls no lower than this below zero on [0, h].
pub fn fall(c: &[f64], h: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * h + (-c).max(0.0))
}

/// The largest term |c_k| h^k.
pub fn largest_term(c: &[f64], h: f64) -> f64 {
    let mut power = 1.0;
    c.iter().fold(0.0, |m: f64, c| {
        let term = c.abs() * power;
        power *= h;
        m.max(term)
    })
}

/// The first term of c that is more than rounding on [0, h], as its order; None if there is none above `noise`. Time is known
/// to a `tick` only, within which the next term explains a coefficient.
///
/// For small s the sign of the polynomial is the sign of that coefficient: this is how a state in which gap, gap velocity
/// and gap acceleration all vanish still has a definite future.
pub fn leading(c: &[f64], h: f64, noise: f64, tick: f64) -> Option<usize> {
    let floor = noise.max(1e-12 * largest_term(c, h));
    let mut power = 1.0;
    for k in 0..c.len() {
        let moved = c.get(k + 1).map_or(0.0, |next| tick * (k + 1) as f64 * next.abs());
        if c[k].abs() * power > floor && c[k].abs() > moved {
            return Some(k);
        }
        power *= h;
    }
    None
}

/// The lowest point after s, where the polynomial still falls, and before `to`: Newton's method on the slope.
pub fn bottom(c: &[f64], s: f64, to: f64) -> f64 {
    let mut at = s;
    for _ in 0..20 {
        let (mut slope, mut bend) = (0.0, 0.0);
        for (k, c) in c.iter().enumerate().skip(1).rev() {
            bend = bend * at + slope;
            slope = slope * at + k as f64 * c;
        }
        let next = (at - slope / bend).clamp(s, to);
        if !next.is_finite() || (next - at).abs() <= f64::EPSILON * to {
            break;
        }
        at = next;
    }
    at
}

/// A polynomial in Bernstein form on an interval.
#[derive(Clone, Copy, Debug)]
struct Bernstein {
    b: [f64; MAX_DEGREE + 1],
    from: f64,
    to: f64,
}

/// Halvings after which an interval is as narrow as numbers allow.
const DEEPEST: usize = 60;

/// After every so many pieces of one search the noise is taken to be larger.
const PATIENCE: usize = 2000;

/// Finds crossings; holds the binomial ratios and the intervals not yet looked at.
#[derive(Clone, Debug)]
pub struct Roots {
    /// C(i, k)/C(n, k) for each degree n, row i, column k ≤ i.
    ratios: Vec<Vec<f64>>,
    stack: Vec<Bernstein>,
}

impl Roots {
    /// For polynomials up to a degree.
    pub fn new(degree: usize) -> Self {
        let degree = degree.min(MAX_DEGREE);
        let ratios = (0..=degree).map(|n| {
            let mut rows = Vec::with_capacity((n + 1) * (n + 2) / 2);
            for i in 0..=n {
                let mut ratio = 1.0;
                for k in 0..=i {
                    rows.push(ratio);
                    if k < i {
                        ratio *= (i - k) as f64 / (n - k) as f64;
                    }
                }
            }
            rows
        });
        Roots { ratios: ratios.collect(), stack: Vec::with_capacity(DEEPEST + 2) }
    }

    /// The first s in [0, h] at which the polynomial turns from ≥ 0 to negative; None if it does not. `floor` is what
    /// counts as zero besides rounding.
    pub fn first_negative(&mut self, c: &[f64], h: f64, floor: f64) -> Option<f64> {
        // Far from zero: the common case.
        if c[0] > 0.0 && c[0] >= fall(&c[1..], h) * h {
            return None;
        }
        let mut n = c.len() - 1;
        let whole = size(c, h);
        if !whole.is_finite() {
            return None;
        }
        let mut floor = floor.max(4.0 * f64::EPSILON * whole);
        let mut scaled = [0.0; MAX_DEGREE + 1];
        let mut power = 1.0;
        for k in 0..=n {
            // (Powers of a long step overflow where there are no terms any more.)
            scaled[k] = if c[k] == 0.0 { 0.0 } else { c[k] * power };
            power *= h;
        }
        while n > 0 && scaled[n].abs() <= 1e-17 * whole {
            n -= 1;
        }
        let c = &c[..=n];
        if n == 0 {
            return (c[0] < -floor).then_some(0.0);
        }
        let mut form = Bernstein { b: [0.0; MAX_DEGREE + 1], from: 0.0, to: h };
        let ratios = &self.ratios[n];
        let mut at = 0;
        for i in 0..=n {
            form.b[i] = (0..=i).map(|k| ratios[at + k] * scaled[k]).sum();
            at += i + 1;
        }
        // Depth first, left to right: the stack holds right halves not yet looked at.
        self.stack.clear();
        self.stack.push(form);
        let mut seen = 0;
        while let Some(piece) = self.stack.pop() {
            // So many pieces are only needed where the values are rounding: more of them counts as zero.
            seen += 1;
            if seen % PATIENCE == 0 {
                floor *= 4.0;
            }
            let b = &piece.b[..=n];
            if b[0] < -floor {
                return Some(piece.from);
            }
            if b.iter().all(|&b| b >= -floor) {
                continue;
            }
            let mut changes = 0;
            let mut sign = true;
            for &b in b {
                if b.abs() > floor && (b > 0.0) != sign {
                    sign = b > 0.0;
                    changes += 1;
                }
            }
            if changes == 1 && b[n] < -floor {
                return Some(refine(c, piece.from, piece.to));
            }
            let middle = 0.5 * (piece.from + piece.to);
            if self.stack.len() >= DEEPEST || middle <= piece.from || middle >= piece.to {
                // As narrow as numbers allow, and still touching: it turns negative here if it does at its end.
                if b[n] < -floor {
                    return Some(piece.to);
                }
                continue;
            }
            // De Casteljau at the middle: the left half is the first entries, the right half what remains.
            let mut left = piece;
            let mut right = piece;
            left.to = middle;
            right.from = middle;
            for i in 0..=n {
                left.b[i] = right.b[0];
                for j in 0..n - i {
                    right.b[j] = 0.5 * (right.b[j] + right.b[j + 1]);
                }
            }
            // What remains in place is the right half from its end: b[j] after n − j averages.
            self.stack.push(right);
            self.stack.push(left);
        }
        None
    }
}

/// The crossing between two places where the polynomial has different signs: Newton's method, kept inside by bisection.
fn refine(c: &[f64], from: f64, to: f64) -> f64 {
    let (mut low, mut high) = (from, to);
    let mut s = 0.5 * (low + high);
    for _ in 0..200 {
        let (value, slope) = value_and_slope(c, s);
        if value == 0.0 {
            return s;
        }
        if value > 0.0 {
            low = s;
        } else {
            high = s;
        }
        let newton = s - value / slope;
        if (newton - s).abs() <= f64::EPSILON * s.abs() {
            return s;
        }
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if next == s || next <= low || next >= high {
            return next;
        }
        s = next;
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
        let mut c = vec![0.0; a.len() + b.len() - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                c[i + j] += x * y;
            }
        }
        c
    }

    #[test]
    fn a_dip_and_return_is_found_and_a_touch_is_not_a_crossing() {
        let mut roots = Roots::new(20);
        // (s − 0.5)² − 1e-10: under zero for 2e-5 around 0.5.
        let dip = [0.25 - 1e-10, -1.0, 1.0];
        let s = roots.first_negative(&dip, 1.0, 0.0).expect("a dip");
        assert!((s - (0.5 - 1e-5)).abs() < 1e-10, "{s}");
        assert_eq!(roots.first_negative(&[0.25, -1.0, 1.0], 1.0, 0.0), None);
        assert_eq!(roots.first_negative(&[1.0, -1.0], 0.999, 0.0), None);
        assert_eq!(roots.first_negative(&[1.0, -1.0], 2.0, 0.0), Some(1.0));
        assert_eq!(roots.first_negative(&[-1.0, 3.0], 2.0, 0.0), Some(0.0));
        assert_eq!(roots.first_negative(&[0.0, 0.0, 0.0], 2.0, 0.0), None);
        // s (s − 0.1)(s − 0.2): zero at the start, up, and down at 0.1.
        let s = roots.first_negative(&[0.0, 0.02, -0.3, 1.0], 1.0, 0.0).expect("crosses");
        assert!((s - 0.1).abs() < 1e-14, "{s}");
    }

    #[test]
    fn a_step_whose_powers_overflow_ends_where_the_polynomial_does() {
        let mut c = vec![1e12, 0.0, -5e-7];
        c.resize(30, 0.0);
        let s = Roots::new(30).first_negative(&c, 2.8e11, 0.0).expect("falls");
        assert!((s / 2e18_f64.sqrt() - 1.0).abs() < 1e-14, "{s}");
    }

    proptest! {
        /// Whatever the coefficients, the search ends: here all of them are rounding of each other.
        #[test]
        fn a_search_in_noise_ends(noise in prop::collection::vec(-1.0f64..1.0, 30), size in -15.0f64..-13.0) {
            // (s − ½)²⁸, with coefficients that are off in their last digits.
            let mut c = vec![1.0];
            (0..28).for_each(|_| c = times(&c, &[-0.5, 1.0]));
            c.push(0.0);
            c.iter_mut().zip(&noise).for_each(|(c, n)| *c += 10f64.powf(size) * n);
            let mut roots = Roots::new(30);
            let _ = roots.first_negative(&c, 1.0, 0.0);
            let _ = roots.first_negative(&c, 1e8, 0.0);
        }

        /// A polynomial made from its roots turns negative where an odd number of them has been passed.
        #[test]
        fn the_first_crossing_of_a_product(
            places in prop::collection::vec((0.05f64..0.95, 1usize..3), 0..5),
            beyond in prop::collection::vec(1.05f64..3.0, 0..4),
        ) {
            let mut c = vec![1.0];
            let mut odd: Vec<f64> = Vec::new();
            let mut sorted: Vec<f64> = places.iter().map(|p| p.0).collect();
            sorted.sort_by(f64::total_cmp);
            prop_assume!(sorted.windows(2).all(|w| w[1] - w[0] > 0.02));
            for &(place, times_over) in &places {
                (0..times_over).for_each(|_| c = times(&c, &[1.0, -1.0 / place]));
                if times_over == 1 {
                    odd.push(place);
                }
            }
            beyond.iter().for_each(|b| c = times(&c, &[1.0, -1.0 / b]));
            odd.sort_by(f64::total_cmp);
            let mut roots = Roots::new(20);
            let found = roots.first_negative(&c, 1.0, 0.0);
            // (Where many roots are close to each other the values between them are the rounding of the coefficients.)
            let size: Vec<f64> = c.iter().map(|x| x.abs()).collect();
            let is_rounding = |s: f64| value(&c, s).abs() <= 64.0 * f64::EPSILON * value(&size, s);
            match (odd.first(), found) {
                (Some(first), Some(s)) => prop_assert!((s - first).abs() < 1e-6 || is_rounding(s), "{s} {first}"),
                (Some(first), None) => {
                    let next = sorted.iter().chain(&beyond).copied().filter(|x| x > first).fold(1.0, f64::min);
                    prop_assert!(is_rounding(f64::midpoint(*first, next)), "{first} missed");
                }
                // Double roots, in rounded coefficients, dip by rounding.
                (None, Some(s)) => prop_assert!(value(&c, s).abs() < 1e-9, "{s}"),
                (None, None) => {}
            }
        }
    }

    #[test]
    fn the_bottom_of_a_dip() {
        assert!((bottom(&[0.25, -1.0, 1.0], 0.49, 1.0) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn the_leading_term_decides_where_lower_ones_vanish() {
        assert_eq!(leading(&[1e-17, -3e-17, 1e-16, 2.0], 0.5, 0.0, 0.0), Some(3));
        assert_eq!(leading(&[1e-17, 0.0], 0.5, 1e-15, 0.0), None);
        assert_eq!(leading(&[0.0, 1e-9, -4.0], 0.5, 0.0, 0.0), Some(1));
        assert_eq!(leading(&[0.0, 1e-9, -4.0], 0.5, 0.0, 1e-9), Some(2));
    }
}
