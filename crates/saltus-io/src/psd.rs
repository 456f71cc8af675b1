//! Loads known by their spectral density: realisations of a stationary random signal.
//!
//! A density S(f) is one-sided, in squares of the signal's unit per Hz: the variance of the signal is ∫ S df. A realisation over a
//! duration T is a sum of cosines at k/T,
//!
//! ```text
//! x(t) = Σ √(2 ∫ S df over the cell of k/T) cos(2πkt/T + φ_k)          φ_k uniform, from the seed
//! ```
//!
//! (Shinozuka & Deodatis 1991, Appl. Mech. Rev. 44, 191). Its mean over T is zero and its mean square ∫ S df, whatever the phases;
//! what differs from seed to seed is the signal. The cells fill the whole band, so nothing between two lines is lost, and a sharp
//! line has its power.

use saltus::linalg::{Dice, fourier};
use std::f64::consts::TAU;

/// Samples per period of the highest frequency: a straight line between them loses 0.4 % of its mean square at most.
const SAMPLES: f64 = 40.0;

/// More samples than this are refused.
const MOST: usize = 1 << 25;

/// A one-sided spectral density by its corners.
#[derive(Clone, Debug, PartialEq)]
pub struct Psd {
    corners: Vec<(f64, f64)>,
    /// Straight lines in a plot of logarithms; else in one of the values themselves.
    is_log: bool,
}

impl Psd {
    /// Frequencies that do not decrease (a frequency given twice is a jump) and densities that are not negative. Which corner is
    /// wrong, and why.
    pub fn new(corners: Vec<(f64, f64)>, is_log: bool) -> Result<Self, (usize, String)> {
        if corners.len() < 2 {
            return Err((0, "a spectral density needs at least two corners, [frequency, density]".into()));
        }
        for (k, &(f, s)) in corners.iter().enumerate() {
            let why = match () {
                () if !(f >= 0.0 && f.is_finite()) => format!("{f} Hz is no frequency"),
                () if !(s >= 0.0 && s.is_finite()) => format!("a density must not be negative, as {s} is"),
                () if is_log && !(f > 0.0 && s > 0.0) => {
                    "with logarithms, frequencies and densities must be positive".into()
                }
                () if k > 0 && f < corners[k - 1].0 => "frequencies must not decrease".into(),
                () => continue,
            };
            return Err((k, why));
        }
        let psd = Psd { corners, is_log };
        match psd.variance() > 0.0 {
            true => Ok(psd),
            false => Err((0, "the spectral density is zero everywhere".into())),
        }
    }

    /// The highest frequency.
    pub fn highest(&self) -> f64 {
        self.corners.last().map_or(0.0, |c| c.0)
    }

    /// ∫ S df over all frequencies.
    pub fn variance(&self) -> f64 {
        self.power(0.0, f64::INFINITY)
    }

    /// ∫ S df from one frequency to another.
    pub fn power(&self, from: f64, to: f64) -> f64 {
        let pairs = self.corners.windows(2).filter(|pair| pair[1].0 > pair[0].0);
        pairs.map(|pair| self.piece(pair[0], pair[1], from.max(pair[0].0), to.min(pair[1].0))).sum()
    }

    /// The same within one piece.
    fn piece(&self, (f0, s0): (f64, f64), (f1, s1): (f64, f64), from: f64, to: f64) -> f64 {
        if to <= from {
            return 0.0;
        }
        if !self.is_log {
            let at = |f: f64| s0 + (s1 - s0) * (f - f0) / (f1 - f0);
            return 0.5 * (at(from) + at(to)) * (to - from);
        }
        // S = s₀ (f/f₀)^p: ∫ = s₀ f₀ (x^{p+1} − y^{p+1})/(p+1), by its series where p is near −1.
        let power = (s1 / s0).ln() / (f1 / f0).ln() + 1.0;
        let (x, y) = ((from / f0).ln(), (to / f0).ln());
        let lower = (power * x).exp();
        let rest = power * (y - x);
        let growth = if rest.abs() < 1e-8 { 1.0 + 0.5 * rest } else { rest.exp_m1() / rest };
        s0 * f0 * lower * growth * (y - x)
    }

    /// Times and values of a realisation from 0 to a duration.
    pub fn realisation(&self, duration: f64, seed: u64) -> Result<(Vec<f64>, Vec<f64>), String> {
        let lines = (self.highest() * duration).floor();
        if !(lines >= 4.0) {
            return Err(format!(
                "a duration of {duration} has no more than {lines} periods of the highest frequency, {} Hz: it must be longer",
                self.highest()
            ));
        }
        let wanted = SAMPLES * self.highest() * duration;
        if !(wanted <= MOST as f64) {
            return Err(format!("{wanted:.0} samples (40 per period of the highest frequency) are too many"));
        }
        let n = (wanted as usize).next_power_of_two();
        let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
        let mut dice = Dice::new(seed);
        let lines = lines as usize;
        for k in 1..=lines {
            // The first cell begins at zero, the last goes to the end.
            let from = if k == 1 { 0.0 } else { (k as f64 - 0.5) / duration };
            let to = if k == lines { f64::INFINITY } else { (k as f64 + 0.5) / duration };
            let (sin, cos) = dice.between(0.0, TAU).sin_cos();
            let amplitude = (2.0 * self.power(from, to)).sqrt();
            // The transform has e^{−i…}: conjugates, of which the real part is taken.
            (re[k], im[k]) = (amplitude * cos, -amplitude * sin);
        }
        fourier(&mut re, &mut im);
        let times = (0..=n).map(|k| duration * k as f64 / n as f64).collect();
        re.push(re[0]);
        Ok((times, re))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_square(values: &[f64]) -> f64 {
        let n = values.len() - 1;
        values[..n].iter().map(|x| x * x).sum::<f64>() / n as f64
    }

    /// Corners, whether in logarithms, and ∫ S df by hand.
    type Case = (Vec<(f64, f64)>, bool, f64);

    fn cases() -> Vec<Case> {
        vec![
            // A sharp band, a triangle, and a line that is narrower than any cell.
            (vec![(5.0, 0.2), (40.0, 0.2)], false, 7.0),
            (vec![(0.0, 0.0), (10.0, 3.0), (30.0, 0.0)], false, 45.0),
            (vec![(10.0, 0.0), (10.0, 1e6), (10.000001, 1e6), (10.000001, 0.0), (20.0, 0.0)], false, 1.0),
            // f^{−2} from 1 to 100 Hz; f^{−1}, whose integral is a logarithm.
            (vec![(1.0, 4.0), (100.0, 4e-4)], true, 4.0 * 0.99),
            (vec![(2.0, 3.0), (200.0, 0.03)], true, 6.0 * 100.0_f64.ln()),
        ]
    }

    #[test]
    fn the_mean_square_of_a_realisation_is_the_integral_of_the_density() {
        for (corners, is_log, exact) in cases() {
            let psd = Psd::new(corners.clone(), is_log).expect("a density");
            assert!((psd.variance() - exact).abs() < 1e-9 * exact, "{corners:?}: {}", psd.variance());
            for seed in [1, 2, 77] {
                let (t, x) = psd.realisation(8.0, seed).expect("a signal");
                assert!((mean_square(&x) - exact).abs() < 1e-9 * exact, "{corners:?}: {}", mean_square(&x));
                assert!((t[t.len() - 1] - 8.0).abs() < 1e-12 && x.iter().all(|x| x.is_finite()));
            }
        }
    }

    /// What is in a band of frequencies, by sums of sines and cosines.
    #[test]
    fn the_power_lies_where_the_density_says() {
        let psd = Psd::new(vec![(2.0, 1.0), (6.0, 1.0), (6.0, 0.25), (18.0, 0.25)], false).expect("a density");
        let (_, x) = psd.realisation(16.0, 5).expect("a signal");
        let n = x.len() - 1;
        let line = |k: usize| {
            let part = |shift: f64| -> f64 {
                let wave = |(j, x): (usize, &f64)| x * (TAU * (k * j) as f64 / n as f64 + shift).cos();
                2.0 / n as f64 * x[..n].iter().enumerate().map(wave).sum::<f64>()
            };
            0.5 * (part(0.0).powi(2) + part(0.25 * TAU).powi(2))
        };
        for (from, to) in [(2.0, 4.0), (7.0, 15.0)] {
            let lines = (16.0 * from) as usize + 1..=(16.0 * to) as usize;
            let found: f64 = lines.map(line).sum();
            let exact = psd.power(from + 0.5 / 16.0, to + 0.5 / 16.0);
            assert!((found - exact).abs() < 1e-9 * exact, "{from} … {to}: {found} for {exact}");
        }
    }

    #[test]
    fn seeds_give_other_signals_and_the_same_one_the_same() {
        let psd = Psd::new(vec![(5.0, 0.2), (40.0, 0.2)], false).expect("a density");
        let of = |seed: u64| psd.realisation(4.0, seed).expect("a signal").1;
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }

    #[test]
    fn what_is_no_density_is_refused() {
        for (corners, is_log, why) in [
            (vec![(1.0, 1.0)], false, "two corners"),
            (vec![(1.0, 1.0), (0.5, 1.0)], false, "must not decrease"),
            (vec![(1.0, -1.0), (2.0, 1.0)], false, "negative"),
            (vec![(0.0, 1.0), (2.0, 1.0)], true, "positive"),
            (vec![(1.0, 0.0), (2.0, 0.0)], false, "zero everywhere"),
            (vec![(f64::NAN, 0.0), (2.0, 0.0)], false, "no frequency"),
        ] {
            let (_, message) = Psd::new(corners, is_log).expect_err("refused");
            assert!(message.contains(why), "{message}");
        }
        let psd = Psd::new(vec![(5.0, 0.2), (40.0, 0.2)], false).expect("a density");
        assert!(
            psd.realisation(0.01, 1).is_err()
                && psd.realisation(1e9, 1).is_err()
                && psd.realisation(f64::NAN, 1).is_err()
        );
    }
}
