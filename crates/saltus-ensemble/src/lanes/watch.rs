//! Events of one lane, from its column of Bernstein coefficients.

use super::vector::{Forms, MAX_ORDER};

/// What a polynomial does on [0, h].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// It stays ≥ 0 up to this part of the interval.
    Clear(f64),
    /// It turns negative between these parts of the interval, once, probably at the third.
    Between(f64, f64, f64),
    /// It cannot be told.
    Unclear,
}

/// So often the interval is halved.
const HALVINGS: usize = 12;

/// Examines lane l; its degree is n, and what is below the floor is zero.
pub fn examine<const W: usize>(forms: &Forms<W>, n: usize, l: usize, floor: f64) -> Found {
    let mut b = [0.0; MAX_ORDER + 1];
    for (b, form) in b.iter_mut().zip(&forms[..=n]) {
        *b = form.0[l];
    }
    let mut part = 1.0;
    for _ in 0..HALVINGS {
        if b[0] < -floor || !b[..=n].iter().all(|b| b.is_finite()) {
            return if b[0] < -floor { Found::Between(0.0, 0.0, 0.0) } else { Found::Unclear };
        }
        if b[..=n].iter().all(|&b| b >= -floor) {
            return Found::Clear(part);
        }
        let (mut changes, mut sign, mut turn) = (0, true, 0);
        for (i, &b) in b[..=n].iter().enumerate() {
            if b.abs() > floor && (b > 0.0) != sign {
                sign = b > 0.0;
                changes += 1;
                turn = i;
            }
        }
        if changes == 1 && b[n] < -floor {
            let last = turn.saturating_sub(1);
            let guess = (last as f64 + b[last] / (b[last] - b[turn])) / n as f64;
            return Found::Between(0.0, part, part * guess.clamp(1e-3, 1.0 - 1e-3));
        }
        // De Casteljau: the left half.
        let mut right = b;
        for i in 0..=n {
            b[i] = right[0];
            for j in 0..n - i {
                right[j] = 0.5 * (right[j] + right[j + 1]);
            }
        }
        part *= 0.5;
    }
    Found::Unclear
}
