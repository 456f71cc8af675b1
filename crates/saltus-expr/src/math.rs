//! Sine, cosine and exponential without branches, so that loops over lanes can be vectorised.
//!
//! Both evaluators use them, so that a lane and a scalar run give the same bits. The error is about
//! one unit in the last place. No fused multiply-add is used: without hardware support it is a
//! library call, and with it results would differ between machines.
//!
//! The coefficients of sine and cosine and the parts of pi/2 are those of fdlibm (Sun
//! Microsystems, 1993: k_sin.c, k_cos.c, e_rem_pio2.c); those of the exponential are Taylor coefficients.

/// Adding and subtracting 1.5·2^52 rounds to the nearest whole number; after the addition the low bits hold it.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// The largest |x| for which the reduction below is accurate; std is used beyond.
pub(crate) const TRIG_LIMIT: f64 = 1.0e6;

// pi/2 in three parts of 33 bits, whose products with whole numbers below 2^20 are exact, and a tail.
const PIO2_1: f64 = f64::from_bits(0x3FF9_21FB_5440_0000);
const PIO2_2: f64 = f64::from_bits(0x3DD0_B461_1A60_0000);
const PIO2_3: f64 = f64::from_bits(0x3BA3_198A_2E00_0000);
const PIO2_TAIL: f64 = f64::from_bits(0x397B_839A_2520_49C1);

/// Sine.
#[inline(always)]
pub(crate) fn sin(x: f64) -> f64 {
    if x.abs() <= TRIG_LIMIT { sin_near(x) } else { x.sin() }
}

/// Cosine.
#[inline(always)]
pub(crate) fn cos(x: f64) -> f64 {
    if x.abs() <= TRIG_LIMIT { cos_near(x) } else { x.cos() }
}

/// Sine for |x| up to the limit; meaningless beyond.
#[inline(always)]
pub(crate) fn sin_near(x: f64) -> f64 {
    let (quadrant, r, tail) = reduce(x);
    in_quadrant(quadrant, r, tail)
}

/// Cosine for |x| up to the limit; meaningless beyond.
#[inline(always)]
pub(crate) fn cos_near(x: f64) -> f64 {
    let (quadrant, r, tail) = reduce(x);
    in_quadrant(quadrant.wrapping_add(1), r, tail)
}

/// a or b, selected by a mask. The compiler tends to turn `if` into a branch and to move the
/// computation of a and b into it, which prevents vectorisation of the surrounding loop.
#[inline(always)]
#[must_use]
pub fn choose(condition: bool, a: f64, b: f64) -> f64 {
    let mask = u64::from(condition).wrapping_neg();
    f64::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}

/// x = quadrant·pi/2 + r + tail, with |r| at most about pi/4 and a tiny tail; the quadrant
/// counts modulo 4.
#[inline(always)]
fn reduce(x: f64) -> (u64, f64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + SHIFT;
    let n = shifted - SHIFT;
    // Exact: the operands are close, and multiples of the same small unit.
    let a = x - n * PIO2_1;
    let (b, lost_b) = difference(a, n * PIO2_2);
    let (r, lost_r) = difference(b, n * PIO2_3);
    let tail = (lost_b + lost_r) - n * PIO2_TAIL;
    (shifted.to_bits(), r, tail)
}

/// a - b and its rounding error (Dekker's fast two-sum).
// Requires |a| >= |b|. Where a is smaller in the reduction above, x is so close to a multiple of pi/2
// that the difference fits into 53 bits above the unit of b: it is exact, and the error is rightly 0.
#[inline(always)]
fn difference(a: f64, b: f64) -> (f64, f64) {
    let d = a - b;
    (d, (a - d) - b)
}

/// sin(r + tail) in quadrant 0, and the same turned by quarter circles.
#[inline(always)]
fn in_quadrant(quadrant: u64, r: f64, tail: f64) -> f64 {
    let z = r * r;
    let s = sin_kernel(r, tail, z);
    let c = cos_kernel(r, tail, z);
    let value = choose((quadrant & 1) != 0, c, s);
    // Bit 1 of the quadrant is the sign.
    f64::from_bits(value.to_bits() ^ ((quadrant & 2) << 62))
}

#[inline(always)]
fn sin_kernel(r: f64, tail: f64, z: f64) -> f64 {
    const S1: f64 = -1.666_666_666_666_663_2e-1;
    const S2: f64 = 8.333_333_333_322_49e-3;
    const S3: f64 = -1.984_126_982_985_795e-4;
    const S4: f64 = 2.755_731_370_707_006_8e-6;
    const S5: f64 = -2.505_076_025_340_686_3e-8;
    const S6: f64 = 1.589_690_995_211_55e-10;
    let w = z * z;
    let p = S2 + z * (S3 + z * S4) + z * w * (S5 + z * S6);
    let v = z * r;
    r - ((z * (0.5 * tail - v * p) - tail) - v * S1)
}

#[inline(always)]
fn cos_kernel(r: f64, tail: f64, z: f64) -> f64 {
    const C1: f64 = 4.166_666_666_666_66e-2;
    const C2: f64 = -1.388_888_888_887_411e-3;
    const C3: f64 = 2.480_158_728_947_673e-5;
    const C4: f64 = -2.755_731_435_139_066_3e-7;
    const C5: f64 = 2.087_572_321_298_175e-9;
    const C6: f64 = -1.135_964_755_778_819_5e-11;
    let w = z * z;
    let p = z * (C1 + z * (C2 + z * C3)) + w * w * (C4 + z * (C5 + z * C6));
    let half = 0.5 * z;
    let first = 1.0 - half;
    first + (((1.0 - first) - half) + (z * p - r * tail))
}

/// Exponential, for all arguments.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // ln 2 in two parts; the first has 32 bits, so that its product with n is exact.
    const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LN2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
    // Beyond these bounds the result is infinite or zero; NaN passes both comparisons.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let high = x - n * LN2_HIGH;
    let low = n * LN2_LOW;
    let r = high - low;
    let tail = (high - r) - low;
    let z = r * r;
    // Taylor series to r^13, in pairs for parallel evaluation: |r| <= 0.347, remainder below 4e-18.
    let p0 = 1.0 / 2.0 + r * (1.0 / 6.0);
    let p1 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let p2 = 1.0 / 720.0 + r * (1.0 / 5_040.0);
    let p3 = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let p4 = 1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0);
    let p5 = 1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0);
    let p = p0 + z * (p1 + z * (p2 + z * (p3 + z * (p4 + z * p5))));
    let y = 1.0 + (r + (z * p + tail));
    // 2^n as two factors, since n ranges from -1076 to 1024; only the last product may round.
    let whole = shifted.to_bits().wrapping_sub(SHIFT.to_bits()).wrapping_add(2048);
    let half = whole >> 1;
    let other = whole.wrapping_sub(half);
    y * power_of_two(half) * power_of_two(other)
}

/// 2^(k - 1024) for k around 1024.
#[inline(always)]
fn power_of_two(k: u64) -> f64 {
    f64::from_bits(k.wrapping_sub(1) << 52)
}

#[cfg(test)]
mod tests;
