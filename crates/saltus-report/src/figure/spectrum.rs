//! The power spectral density of a coordinate: Welch's method, Hann windows, half overlapping.

use std::f64::consts::TAU;

/// Frequencies and densities; nothing for fewer than 64 instants.
pub struct Spectrum {
    /// Frequencies, in cycles a unit of time, zero left out.
    pub frequency: Vec<f64>,
    /// One-sided densities.
    pub density: Vec<f64>,
}

/// The spectrum of samples (t, x) in order of time, which need not be equally spaced.
pub fn welch(t: &[f64], x: &[f64]) -> Option<Spectrum> {
    let (first, last) = (*t.first()?, *t.last()?);
    if t.len() < 64 || !(last > first) || x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // Equal spacing, as many as were stored: instants of impacts are few among them.
    let n = t.len();
    let h = (last - first) / (n - 1) as f64;
    let even = resampled(t, x, first, h, n);
    // Eight windows or more where that leaves them long enough to tell frequencies apart.
    let length = (2 * n / 9).max(64).next_power_of_two().min(previous_power(n)).min(1 << 20);
    let window: Vec<f64> = (0..length).map(|k| 0.5 - 0.5 * (TAU * k as f64 / length as f64).cos()).collect();
    let power: f64 = window.iter().map(|w| w * w).sum();
    let mut density = vec![0.0; length / 2];
    let mut windows = 0.0;
    for start in (0..=n - length).step_by(length / 2) {
        let part = &even[start..start + length];
        let mean = part.iter().sum::<f64>() / length as f64;
        let mut re: Vec<f64> = part.iter().zip(&window).map(|(x, w)| (x - mean) * w).collect();
        let mut im = vec![0.0; length];
        transform(&mut re, &mut im);
        for k in 1..=length / 2 {
            let both = if k == length / 2 { 1.0 } else { 2.0 };
            density[k - 1] += both * (re[k] * re[k] + im[k] * im[k]) * h / power;
        }
        windows += 1.0;
    }
    density.iter_mut().for_each(|d| *d /= windows);
    let frequency = (1..=length / 2).map(|k| k as f64 / (length as f64 * h)).collect();
    Some(Spectrum { frequency, density })
}

fn previous_power(n: usize) -> usize {
    1 << n.ilog2()
}

fn resampled(t: &[f64], x: &[f64], first: f64, h: f64, n: usize) -> Vec<f64> {
    let mut k = 0;
    (0..n)
        .map(|i| {
            let at = first + h * i as f64;
            while k + 2 < t.len() && t[k + 1] < at {
                k += 1;
            }
            let width = t[k + 1] - t[k];
            let s = if width > 0.0 { ((at - t[k]) / width).clamp(0.0, 1.0) } else { 0.0 };
            x[k] + s * (x[k + 1] - x[k])
        })
        .collect()
}

/// The discrete Fourier transform in place; the length is a power of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let turn: Vec<(f64, f64)> = (0..half).map(|k| (-TAU * k as f64 / (2 * half) as f64).sin_cos()).collect();
        for start in (0..n).step_by(2 * half) {
            for (k, (s, c)) in turn.iter().enumerate() {
                let (i, j) = (start + k, start + k + half);
                let (a, b) = (re[j] * c - im[j] * s, re[j] * s + im[j] * c);
                (re[j], im[j]) = (re[i] - a, im[i] - b);
                (re[i], im[i]) = (re[i] + a, im[i] + b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_has_its_frequency_and_its_power() {
        let (n, h, f) = (20_000, 0.01, 3.7);
        let t: Vec<f64> = (0..n).map(|k| h * k as f64).collect();
        let x: Vec<f64> = t.iter().map(|t| 5.0 + 2.0 * (TAU * f * t).sin()).collect();
        let s = welch(&t, &x).expect("a spectrum");
        let top = (0..s.density.len()).max_by(|&a, &b| s.density[a].total_cmp(&s.density[b])).expect("some");
        let width = s.frequency[0];
        assert!((s.frequency[top] - f).abs() <= width, "{}", s.frequency[top]);
        // Parseval: the integral of the density is the variance, 2²/2.
        let power: f64 = s.density.iter().sum::<f64>() * width;
        assert!((power - 2.0).abs() < 1e-3, "{power}");
        assert!(welch(&t[..10], &x[..10]).is_none());
    }
}
