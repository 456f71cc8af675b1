//! Shares of a sample, with their confidence intervals.

use serde::{Deserialize, Serialize};

/// A share, and the interval in which it lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The share.
    pub share: f64,
    /// The ends of the interval.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

impl Share {
    /// Wilson's interval: also right for shares near 0 and 1.
    pub fn of(count: u64, of: u64) -> Self {
        if of == 0 {
            return Share { count, of, share: f64::NAN, low: 0.0, high: 1.0 };
        }
        let (n, p) = (of as f64, count as f64 / of as f64);
        let (centre, spread) = (p + Z * Z / (2.0 * n), Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt());
        let scale = 1.0 + Z * Z / n;
        let (low, high) = ((centre - spread) / scale, (centre + spread) / scale);
        Share { count, of, share: p, low: low.max(0.0).min(p), high: high.min(1.0).max(p) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_as_in_the_textbook() {
        // (Brown, Cai & DasGupta 2001: 10 of 20 gives 0.299 … 0.701.)
        let half = Share::of(10, 20);
        assert!((half.low - 0.2993).abs() < 1e-4 && (half.high - 0.7007).abs() < 1e-4, "{half:?}");
        let none = Share::of(0, 100);
        assert!(none.low == 0.0 && (none.high - 0.0370).abs() < 1e-4, "{none:?}");
        assert_eq!(Share::of(7, 7).high, 1.0);
    }
}
