//! The loops over lanes: polynomials of many trajectories at once.
//!
//! Plain loops over arrays, compiled for AVX-512, AVX2 and the baseline. Each lane has the same operations in the same order,
//! whatever the others hold, so that no number depends on which trajectories are side by side.

use multiversion::multiversion;
use saltus_expr::{Lane, choose};

/// The highest order there is room for.
pub const MAX_ORDER: usize = 24;

/// Polynomials in Bernstein form, one per lane.
pub type Forms<const W: usize> = [Lane<W>; MAX_ORDER + 1];

/// x^(−1/n) for x > 0, to 1 %: a step length needs no more, and all machines find the same one.
#[inline(always)]
fn inverse_root(x: f64, n: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 as f64 - 1023.0;
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000) - 1.0;
    let log = m + m * (1.0 - m) * (0.4387 - 0.2545 * m + 0.0965 * m * m);
    let y = (-(exponent + log) / n).clamp(-1000.0, 1000.0);
    let whole = y.floor();
    let part = y - whole;
    let power = 1.0 + part - part * (1.0 - part) * (0.3062 + 0.0775 * part);
    f64::from_bits(((whole as i64 + 1023) as u64) << 52) * power
}

/// For each lane the larger of what was and |c_N| and |c_{N−1}|/8, relative to what is allowed of a series.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn measure<const W: usize>(
    c: &[Lane<W>],
    tolerance: f64,
    scale: &mut Lane<W>,
    last: &Lane<W>,
    worst: &mut [Lane<W>; 2],
) {
    let n = c.len() - 1;
    for l in 0..W {
        let h = last.0[l];
        let own = c[0].0[l].abs().max(c[1].0[l].abs() * h).max(c[2].0[l].abs() * h * h);
        let size = (0.5 * scale.0[l]).max(own);
        scale.0[l] = size;
        let inverse = 1.0 / (tolerance * size).max(1e-290);
        let (first, second) = (c[n].0[l].abs() * inverse, c[n - 1].0[l].abs() * inverse * 0.125);
        // (A NaN must not get lost.)
        worst[0].0[l] = if first <= worst[0].0[l] { worst[0].0[l] } else { first };
        worst[1].0[l] = if second <= worst[1].0[l] { worst[1].0[l] } else { second };
    }
}

/// The step at which the last terms of all series are as large as is allowed; NaN where one of them is no number.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn step_length<const W: usize>(worst: &[Lane<W>; 2], order: usize) -> Lane<W> {
    let n = order as f64;
    let mut h = [0.0; W];
    for l in 0..W {
        let (a, b) = (worst[0].0[l], worst[1].0[l]);
        let fits = inverse_root(a.max(1e-300), n).min(inverse_root(b.max(1e-300), n - 1.0));
        h[l] = if a < 1e300 && b < 1e300 { fits } else { f64::NAN };
    }
    Lane(h)
}

/// For each lane the larger of what was and (|a − b| − noise) h/scale; a NaN stays.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn differ<const W: usize>(
    a: &Lane<W>,
    b: &Lane<W>,
    noise: &Lane<W>,
    h: &Lane<W>,
    scale: &Lane<W>,
    worst: &mut Lane<W>,
) {
    for l in 0..W {
        let off = ((a.0[l] - b.0[l]).abs() - noise.0[l]) * h.0[l] / scale.0[l].max(1e-300);
        worst.0[l] = if off <= worst.0[l] { worst.0[l] } else { off };
    }
}

/// The larger of both.
#[inline(always)]
pub fn largest<const W: usize>(x: &Lane<W>, most: &mut Lane<W>) {
    for l in 0..W {
        most.0[l] = larger(x.0[l], most.0[l]);
    }
}

/// A number for each lane. (Into a place of its own: where results may overlap with operands, loops are not vectorised.)
#[inline(always)]
pub fn each<const W: usize>(f: impl Fn(usize) -> f64) -> Lane<W> {
    let mut out = Lane::all(0.0);
    for l in 0..W {
        out[l] = f(l);
    }
    out
}

/// Takes what is new where `on` is positive.
#[inline(always)]
pub fn take<const W: usize>(on: &Lane<W>, new: &Lane<W>, old: &mut Lane<W>) {
    *old = each(|l| choose(on[l] > 0.0, new[l], old[l]));
}

/// Cosine and sine of angles that grow by others, whose cosines and sines are given.
#[inline(always)]
pub fn turned<const W: usize>(c: &Lane<W>, s: &Lane<W>, cos: &Lane<W>, sin: &Lane<W>) -> (Lane<W>, Lane<W>) {
    let (mut new_c, mut new_s) = ([0.0; W], [0.0; W]);
    for l in 0..W {
        new_c[l] = c.0[l] * cos.0[l] - s.0[l] * sin.0[l];
        new_s[l] = s.0[l] * cos.0[l] + c.0[l] * sin.0[l];
    }
    (Lane(new_c), Lane(new_s))
}

/// Whether any of them is positive.
#[inline(always)]
pub fn any<const W: usize>(on: &Lane<W>) -> bool {
    let mut bits = 0;
    for l in 0..W {
        bits |= choose(on[l] > 0.0, 1.0, 0.0).to_bits();
    }
    bits != 0
}

/// How many of them are 1; the others are 0. (By the bits of the number 1: comparisons would be counted one by one.)
#[inline(always)]
pub fn count<const W: usize>(on: &Lane<W>) -> u64 {
    const ONE: u32 = 1.0_f64.to_bits().trailing_zeros();
    let mut sum = 0;
    for l in 0..W {
        sum += on[l].to_bits() >> ONE;
    }
    sum / (1.0_f64.to_bits() >> ONE)
}

/// The smaller of two numbers. (Without the rules of `f64::min` for what is no number, which cost more than the comparison.)
#[inline(always)]
pub fn smaller(a: f64, b: f64) -> f64 {
    choose(a < b, a, b)
}

/// The larger of two numbers.
#[inline(always)]
pub fn larger(a: f64, b: f64) -> f64 {
    choose(a > b, a, b)
}

/// The values of polynomials.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn values<const W: usize>(c: &[Lane<W>], s: &Lane<W>) -> Lane<W> {
    let mut sum = [0.0; W];
    for c in c.iter().rev() {
        for l in 0..W {
            sum[l] = sum[l] * s.0[l] + c.0[l];
        }
    }
    Lane(sum)
}

/// Values and slopes of polynomials.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn values_and_slopes<const W: usize>(c: &[Lane<W>], s: &Lane<W>) -> (Lane<W>, Lane<W>) {
    let (mut sum, mut slope) = ([0.0; W], [0.0; W]);
    for c in c.iter().rev() {
        for l in 0..W {
            slope[l] = slope[l] * s.0[l] + sum[l];
            sum[l] = sum[l] * s.0[l] + c.0[l];
        }
    }
    (Lane(sum), Lane(slope))
}

/// How far each polynomial stays above zero on [0, h], from below: c₀ − Σ max(−c_k, 0) h^k. Positive: no crossing.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn clearance<const W: usize>(c: &[Lane<W>], h: &Lane<W>) -> Lane<W> {
    let mut fall = [0.0; W];
    for c in c[1..].iter().rev() {
        for l in 0..W {
            fall[l] = (fall[l] + (-c.0[l]).max(0.0)) * h.0[l];
        }
    }
    let mut out = [0.0; W];
    for l in 0..W {
        out[l] = c[0].0[l] - fall[l];
    }
    Lane(out)
}

/// The sizes of the terms of polynomials, added up.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn sizes<const W: usize>(c: &[Lane<W>], s: &Lane<W>) -> Lane<W> {
    let mut sum = [0.0; W];
    for c in c.iter().rev() {
        for l in 0..W {
            sum[l] = sum[l] * s.0[l] + c.0[l].abs();
        }
    }
    Lane(sum)
}

/// How far the size of each polynomial stays above a part of what it begins with, on [0, h], from below.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn clearance_of_size<const W: usize>(c: &[Lane<W>], h: &Lane<W>, part: f64) -> Lane<W> {
    let (mut fall, mut sign) = ([0.0; W], [1.0; W]);
    for l in 0..W {
        sign[l] = if c[0].0[l] < 0.0 { -1.0 } else { 1.0 };
    }
    for c in c[1..].iter().rev() {
        for l in 0..W {
            fall[l] = (fall[l] + (-sign[l] * c.0[l]).max(0.0)) * h.0[l];
        }
    }
    let mut out = [0.0; W];
    for l in 0..W {
        out[l] = (1.0 - part) * c[0].0[l].abs() - fall[l];
    }
    Lane(out)
}

/// The polynomials in Bernstein form on [0, h], and what is rounding in them. `ratios` are C(i, k)/C(n, k) by rows; `scaled` has room for c_k h^k.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn bernstein<const W: usize>(
    c: &[Lane<W>],
    h: &Lane<W>,
    ratios: &[f64],
    scaled: &mut Forms<W>,
    out: &mut Forms<W>,
) -> Lane<W> {
    let n = c.len() - 1;
    let (mut power, mut size) = (Lane::<W>::all(1.0), Lane::<W>::all(0.0));
    for k in 0..=n {
        let term: Lane<W> = each(|l| c[k][l] * power[l]);
        size = each(|l| size[l] + term[l].abs());
        power = each(|l| power[l] * h[l]);
        scaled[k] = term;
    }
    let mut at = 0;
    for i in 0..=n {
        let mut sum = [0.0; W];
        for k in 0..=i {
            let ratio = ratios[at + k];
            for l in 0..W {
                sum[l] += ratio * scaled[k].0[l];
            }
        }
        out[i] = Lane(sum);
        at += i + 1;
    }
    each(|l| size[l] * (4.0 * f64::EPSILON))
}

/// Newton's method from `s` between `low`, where the polynomial is positive, and `high`, where it is negative; lanes with
/// low ≥ high are left alone.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn crossings<const W: usize>(c: &[Lane<W>], mut low: Lane<W>, mut high: Lane<W>, s: &mut Lane<W>) {
    let mut open = [0.0; W];
    for l in 0..W {
        open[l] = if low.0[l] < high.0[l] { 1.0 } else { 0.0 };
    }
    for _ in 0..60 {
        let (mut sum, mut slope) = ([0.0; W], [0.0; W]);
        for c in c.iter().rev() {
            for l in 0..W {
                slope[l] = slope[l] * s.0[l] + sum[l];
                sum[l] = sum[l] * s.0[l] + c.0[l];
            }
        }
        let mut left = 0.0;
        for l in 0..W {
            let (at, value) = (s.0[l], sum[l]);
            let positive = value > 0.0;
            low.0[l] = if positive { at } else { low.0[l] };
            high.0[l] = if positive { high.0[l] } else { at };
            let newton = at - value / slope[l];
            let inside = newton > low.0[l] && newton < high.0[l];
            let next = if inside { newton } else { 0.5 * (low.0[l] + high.0[l]) };
            let done = value == 0.0 || (newton - at).abs() <= f64::EPSILON * at || next == at;
            let is_open = open[l] > 0.0;
            s.0[l] = if is_open && !done { next } else { at };
            open[l] = if is_open && !done { 1.0 } else { 0.0 };
            left += open[l];
        }
        if left == 0.0 {
            return;
        }
    }
}

/// The Cholesky factors of matrices, by rows; an entry that is no root is NaN.
pub fn factor<const W: usize>(d: usize, entry: &dyn Fn(usize) -> Lane<W>, out: &mut [Lane<W>]) {
    for i in 0..d {
        for j in 0..=i {
            let mut sum = entry(i * d + j);
            for k in 0..j {
                let (a, b) = (out[i * d + k], out[j * d + k]);
                (0..W).for_each(|l| sum.0[l] -= a.0[l] * b.0[l]);
            }
            let pivot = out[j * d + j];
            for l in 0..W {
                sum.0[l] = if i == j { sum.0[l].sqrt() } else { sum.0[l] / pivot.0[l] };
            }
            out[i * d + j] = sum;
        }
    }
}

/// Solves L Lᵀ x = r in place.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn solve<const W: usize>(d: usize, factor: &[Lane<W>], x: &mut [Lane<W>]) {
    for i in 0..d {
        let mut sum = x[i].0;
        for k in 0..i {
            for l in 0..W {
                sum[l] -= factor[i * d + k].0[l] * x[k].0[l];
            }
        }
        for l in 0..W {
            x[i].0[l] = sum[l] / factor[i * d + i].0[l];
        }
    }
    for i in (0..d).rev() {
        let mut sum = x[i].0;
        for k in i + 1..d {
            for l in 0..W {
                sum[l] -= factor[k * d + i].0[l] * x[k].0[l];
            }
        }
        for l in 0..W {
            x[i].0[l] = sum[l] / factor[i * d + i].0[l];
        }
    }
}

/// r −= Σ_{j=1..k} m_j a_{k−j}.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn subtract_back<const W: usize>(m: &[Lane<W>], a: &[Lane<W>], k: usize, r: &mut Lane<W>) {
    for (m, a) in m[1..=k].iter().zip(a[..k].iter().rev()) {
        for l in 0..W {
            r.0[l] -= m.0[l] * a.0[l];
        }
    }
}

/// C(i, k)/C(n, k) for degree n, row i, column k ≤ i.
pub fn ratios(n: usize) -> Vec<f64> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_counted() {
        for many in 0..=32 {
            let on: Lane<32> = each(|l| if (l * 7) % 32 < many { 1.0 } else { 0.0 });
            assert_eq!(count(&on), many as u64);
            assert_eq!(any(&on), many > 0);
        }
        assert!(any::<4>(&each(|l| if l == 3 { 1e-300 } else { -1.0 })) && !any::<4>(&each(|l| -(l as f64))));
    }

    #[test]
    fn roots_are_right_to_a_percent() {
        for x in [1e-250, 3e-9, 0.7, 1.0, 12.5, 6e40] {
            for n in [9.0, 16.0, 20.0] {
                let exact = f64::powf(x, -1.0 / n);
                assert!((inverse_root(x, n) / exact - 1.0).abs() < 0.01, "{x} {n}");
            }
        }
    }

    #[test]
    fn a_crossing_is_found_to_the_last_digit_in_every_lane() {
        // (1 − s/r)(2 + s + s²), r from 0.1 to 0.8.
        let c = |r: f64| [2.0, 1.0 - 2.0 / r, 1.0 - 1.0 / r, -1.0 / r];
        let root = |l: usize| 0.1 * (l + 1) as f64;
        let coefficients: Vec<Lane<8>> = (0..4).map(|k| Lane(std::array::from_fn(|l| c(root(l))[k]))).collect();
        let mut s = Lane::all(0.5);
        crossings(&coefficients, Lane::all(0.0), Lane::all(1.0), &mut s);
        for l in 0..8 {
            assert!((s.0[l] - root(l)).abs() < 1e-15, "{l}: {}", s.0[l]);
        }
    }
}
