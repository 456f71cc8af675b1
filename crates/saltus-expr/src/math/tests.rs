use super::*;

/// The distance in units of the last place of `b`.
fn ulps(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let next = f64::from_bits(b.abs().to_bits() + 1) - b.abs();
    (a - b).abs() / next
}

/// Random bits (splitmix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// Between -1 and 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn check_trig(x: f64, worst: &mut f64) {
    for (mine, std) in [(sin(x), x.sin()), (cos(x), x.cos())] {
        let error = ulps(mine, std);
        assert!(error <= 1.5, "{x:e}: {mine:e} but {std:e}, {error} ulp");
        *worst = worst.max(error);
    }
}

#[test]
fn sine_and_cosine() {
    let mut random = Random(1);
    let mut worst = 0.0;
    for _ in 0..200_000 {
        let u = random.unit();
        check_trig(u, &mut worst);
        check_trig(u * 10.0, &mut worst);
        check_trig(u * 1e6, &mut worst);
        // All magnitudes, including denormals.
        check_trig(u * 2f64.powi((random.bits() % 1090) as i32 - 1074), &mut worst);
    }
    println!("sin, cos: {worst} ulp");
}

#[test]
fn near_multiples_of_a_quarter_turn() {
    let mut random = Random(2);
    let mut worst = 0.0;
    let top = (TRIG_LIMIT / std::f64::consts::FRAC_PI_2) as u64;
    for k in (0..2000).chain((0..100_000).map(|_| random.bits() % top)) {
        for half in [0.0, 0.5] {
            let near = (k as f64 + half) * std::f64::consts::FRAC_PI_2;
            for offset in -2..=2_i64 {
                let x = f64::from_bits(near.to_bits().saturating_add_signed(offset));
                if x <= TRIG_LIMIT {
                    check_trig(x, &mut worst);
                    check_trig(-x, &mut worst);
                }
            }
        }
    }
    println!("near multiples: {worst} ulp");
}

/// The doubles below a million that are closest to a multiple of pi/2, where most digits cancel.
#[test]
fn nearest_doubles_to_multiples() {
    let mut nearest = Vec::new();
    for n in 1..636_000_u64 {
        let n = n as f64;
        let about = n * std::f64::consts::FRAC_PI_2;
        for offset in -1..=1_i64 {
            let x = f64::from_bits(about.to_bits().saturating_add_signed(offset));
            let distance = ((x - n * PIO2_1) - n * PIO2_2) - n * PIO2_3;
            nearest.push((distance.abs(), x));
        }
    }
    nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut worst = 0.0;
    for &(_, x) in &nearest[..2000] {
        check_trig(x, &mut worst);
    }
    println!("nearest: {:e} from a multiple, {worst} ulp", nearest[0].0);
}

#[test]
fn special_arguments_of_sine_and_cosine() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(sin(x).is_nan() && cos(x).is_nan());
    }
    assert_eq!((sin(0.0), cos(0.0)), (0.0, 1.0));
    assert_eq!(sin(5e-324), 5e-324);
    for x in [1.0e6, 1.1e6, 1e15, 1e300, f64::MAX] {
        check_trig(x, &mut 0.0);
        check_trig(-x, &mut 0.0);
    }
}

#[test]
fn exponential() {
    let mut random = Random(3);
    let mut worst: f64 = 0.0;
    for _ in 0..400_000 {
        let u = random.unit();
        for x in [u, u * 30.0, u * 708.0, u * 2f64.powi(-((random.bits() % 1074) as i32))] {
            let error = ulps(exp(x), x.exp());
            assert!(error <= 1.5, "{x:e}: {:e} but {:e}, {error} ulp", exp(x), x.exp());
            worst = worst.max(error);
        }
        // Denormal results, accurate to one unit.
        let x = -708.0 - 40.0 * u.abs();
        assert!((exp(x) - x.exp()).abs() <= 5e-324 * 1.5, "{x}");
    }
    println!("exp: {worst} ulp");
    assert_eq!(exp(0.0), 1.0);
    assert_eq!(exp(f64::INFINITY), f64::INFINITY);
    assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    assert!(exp(f64::NAN).is_nan());
    for x in [709.78, 709.782_712_893_384, 709.79, 710.0, 1e4, -745.13, -745.2, -746.0, -1e4, f64::MAX] {
        assert_eq!(exp(x).is_finite(), x.exp().is_finite(), "{x}");
        assert_eq!(exp(x) == 0.0, x.exp() == 0.0, "{x}");
    }
}
