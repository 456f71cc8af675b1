//! Events of one lane, from its column of Bernstein coefficients.

use super::vector::{Forms, MAX_ORDER, each, smaller};
use multiversion::multiversion;
use saltus_expr::{Lane, choose};

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

/// What is seen of all lanes without halving.
pub struct Look<const W: usize> {
    /// 1 where the polynomial stays ≥ 0, else 0; where it turns negative once, and probably where.
    pub is_clear: Lane<W>,
    pub is_once: Lane<W>,
    pub guess: Lane<W>,
}

/// Looks at all lanes; their degree is n, and what is below the floor is zero.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn look<const W: usize>(forms: &Forms<W>, n: usize, floor: &Lane<W>) -> Look<W> {
    let zeros = Lane::<W>::all(0.0);
    let (mut least, mut size) = (forms[0], zeros);
    let (mut sign, mut changes, mut turn, mut before, mut after) = (Lane::<W>::all(1.0), zeros, zeros, zeros, zeros);
    for i in 0..=n {
        let (b, last) = (&forms[i], &forms[i.saturating_sub(1)]);
        let flips: Lane<W> = each(|l| choose(sign[l] * b[l] < -floor[l], 1.0, 0.0));
        least = each(|l| smaller(least[l], b[l]));
        size = each(|l| size[l] + b[l].abs());
        sign = each(|l| choose(flips[l] > 0.0, -sign[l], sign[l]));
        turn = each(|l| choose(flips[l] > 0.0, i as f64, turn[l]));
        before = each(|l| choose(flips[l] > 0.0, last[l], before[l]));
        after = each(|l| choose(flips[l] > 0.0, b[l], after[l]));
        changes = each(|l| changes[l] + flips[l]);
    }
    let is_known: Lane<W> = each(|l| choose((forms[0][l] >= -floor[l]) & (size[l] < f64::INFINITY), 1.0, 0.0));
    Look {
        is_clear: each(|l| choose(least[l] >= -floor[l], is_known[l], 0.0)),
        is_once: each(|l| choose((changes[l] == 1.0) & (forms[n][l] < -floor[l]), is_known[l], 0.0)),
        guess: each(|l| (turn[l] - 1.0 + before[l] / (before[l] - after[l])) / n as f64),
    }
}

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
        left_half(&mut b[..=n]);
        part *= 0.5;
    }
    Found::Unclear
}

/// How often a polynomial changes its sign on [0, h].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turns {
    /// It does not.
    Never,
    /// Once at most.
    Once,
    /// Once at most up to this part of the interval.
    Later(f64),
    /// It cannot be told.
    Unclear,
}

/// The shortest part of a step that is looked at for a change of sign, as a power of two. (The zero of a square is this flat where its values
/// are above rounding.)
const FLATTEST: usize = 26;

/// Counts the changes of sign in lane l of a polynomial that begins above zero; its degree is n, and what is below the floor is zero. Where it
/// ends in what is nothing (`noise`) after it was below that, it may have come back: the interval is shortened until it does not. (Where it ends is summed up
/// in another way to look for its root.)
pub fn turns<const W: usize>(forms: &Forms<W>, n: usize, l: usize, floor: f64, noise: f64) -> Turns {
    let mut b = [0.0; MAX_ORDER + 1];
    for (b, form) in b.iter_mut().zip(&forms[..=n]) {
        *b = form.0[l];
    }
    if !b[..=n].iter().all(|b| b.is_finite()) {
        return Turns::Unclear;
    }
    let mut part = 1.0;
    for _ in 0..FLATTEST {
        let (mut changes, mut sign) = (0, 1.0);
        for &b in &b[..=n] {
            if sign * b < -floor {
                sign = -sign;
                changes += 1;
            }
        }
        let may_come_back = changes == 1 && !(b[n] < -2.0 * noise) && b[..n].iter().any(|b| *b < -noise);
        match changes {
            _ if may_come_back => {}
            0 if part == 1.0 => return Turns::Never,
            1 if part == 1.0 => return Turns::Once,
            0 | 1 => return Turns::Later(part),
            _ => {}
        }
        left_half(&mut b[..=n]);
        part *= 0.5;
    }
    Turns::Unclear
}

/// The Bernstein coefficients of the left half, by de Casteljau.
fn left_half(b: &mut [f64]) {
    let mut right = [0.0; MAX_ORDER + 1];
    right[..b.len()].copy_from_slice(b);
    for i in 0..b.len() {
        let left = b.len() - 1 - i;
        b[i] = right[0];
        for j in 0..left {
            right[j] = 0.5 * (right[j] + right[j + 1]);
        }
    }
}
