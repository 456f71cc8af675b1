//! Power spectral density by Welch's method: the mean periodogram of overlapping windows.

use saltus::linalg::fourier;
use std::f64::consts::TAU;

/// A one-sided power spectral density.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Spectrum {
    /// The frequencies, in cycles per unit of time.
    pub frequency: Vec<f64>,
    /// The density.
    pub density: Vec<f64>,
}

/// The density of samples at equal intervals `dt`, with windows of `window` samples, a power of two; None if there are too few
/// samples for one window.
#[must_use]
pub fn welch(samples: &[f64], dt: f64, window: usize) -> Option<Spectrum> {
    if window < 8 || !window.is_power_of_two() || samples.len() < window || !(dt > 0.0) {
        return None;
    }
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let hann: Vec<f64> = (0..window).map(|k| 0.5 - 0.5 * (TAU * k as f64 / window as f64).cos()).collect();
    let power: f64 = hann.iter().map(|w| w * w).sum();
    let half = window / 2;
    let mut density = vec![0.0; half + 1];
    let mut windows = 0.0;
    let (mut re, mut im) = (vec![0.0; window], vec![0.0; window]);
    for start in (0..=samples.len() - window).step_by(half) {
        for k in 0..window {
            re[k] = hann[k] * (samples[start + k] - mean);
            im[k] = 0.0;
        }
        fourier(&mut re, &mut im);
        for (k, d) in density.iter_mut().enumerate() {
            *d += re[k] * re[k] + im[k] * im[k];
        }
        windows += 1.0;
    }
    for (k, d) in density.iter_mut().enumerate() {
        let sides = if k == 0 || k == half { 1.0 } else { 2.0 };
        *d *= sides * dt / (power * windows);
    }
    let frequency = (0..=half).map(|k| k as f64 / (window as f64 * dt)).collect();
    Some(Spectrum { frequency, density })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fft_equals_the_defining_sum() {
        let x: Vec<f64> = (0..16).map(|k| ((k * k) as f64 * 0.37).sin()).collect();
        let (mut re, mut im) = (x.clone(), vec![0.0; 16]);
        fourier(&mut re, &mut im);
        for k in 0..16 {
            let sum = |f: fn(f64) -> f64| -> f64 {
                x.iter().enumerate().map(|(j, x)| x * f(-TAU * (j * k) as f64 / 16.0)).sum()
            };
            assert!((re[k] - sum(f64::cos)).abs() < 1e-12 && (im[k] - sum(f64::sin)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_sine_has_the_right_peak_and_power() {
        let (dt, f, a) = (0.01, 7.0, 3.0);
        let x: Vec<f64> = (0..20_000).map(|k| a * (TAU * f * k as f64 * dt).sin()).collect();
        let s = welch(&x, dt, 2048).expect("long enough");
        let peak = (0..s.density.len()).max_by(|&i, &j| s.density[i].total_cmp(&s.density[j])).expect("some");
        assert!((s.frequency[peak] - f).abs() < 0.05);
        let power: f64 = s.density.iter().sum::<f64>() * s.frequency[1];
        assert!((power / (a * a / 2.0) - 1.0).abs() < 0.01, "{power}");
        assert!(welch(&x[..100], dt, 2048).is_none());
    }
}
