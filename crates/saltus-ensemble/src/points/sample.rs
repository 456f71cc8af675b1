//! Samples: points drawn from distributions, each computed from its number and a seed alone.

use super::normal::quantile;
use super::sobol;
use saltus::SetupError;

/// How the points of a sample lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Design {
    /// Independent of each other.
    #[default]
    Random,
    /// Latin hypercube: of n equal slices of each distribution every one is met once.
    Latin,
    /// Sobol's sequence, shifted by the seed.
    Sobol,
}

impl Design {
    /// All of them.
    pub const ALL: [Design; 3] = [Design::Random, Design::Latin, Design::Sobol];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Design::Random => "random",
            Design::Latin => "latin",
            Design::Sobol => "sobol",
        }
    }
}

/// A distribution of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// All numbers of an interval alike.
    Uniform {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// The normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
}

impl std::fmt::Display for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distribution::Uniform { low, high } => write!(f, "uniform({low}, {high})"),
            Distribution::Normal { mean, deviation } => write!(f, "normal({mean}, {deviation})"),
        }
    }
}

impl Distribution {
    /// The same, if it makes sense.
    pub fn checked(self, name: &str) -> Result<Self, SetupError> {
        let fine = match self {
            Distribution::Uniform { low, high } => low.is_finite() && high.is_finite() && low < high,
            Distribution::Normal { mean, deviation } => mean.is_finite() && deviation.is_finite() && deviation > 0.0,
        };
        match fine {
            true => Ok(self),
            false => Err(SetupError::new(format!("`{name}` cannot be drawn from {self}")).help(
                "uniform(low, high) needs low < high, normal(mean, deviation) a positive deviation, both finite numbers",
            )),
        }
    }

    /// The number below which so large a share of the distribution lies.
    fn quantile(self, share: f64) -> f64 {
        match self {
            Distribution::Uniform { low, high } => low + (high - low) * share,
            Distribution::Normal { mean, deviation } => mean + deviation * quantile(share),
        }
    }
}

/// Points drawn from distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// How many.
    pub count: u64,
    /// How they lie.
    pub design: Design,
    /// From what they are drawn: other seeds, other points.
    pub seed: u64,
    /// What is drawn, from which distribution.
    pub columns: Vec<(String, Distribution)>,
}

impl Sample {
    /// The same, if it makes sense.
    pub fn checked(self) -> Result<Self, SetupError> {
        if self.count == 0 {
            return Err(SetupError::new("--sample must be at least 1"));
        }
        if self.columns.is_empty() {
            return Err(
                SetupError::new("a sample needs something to vary").help("such as  --vary \"w=uniform(0.5,1.5)\"")
            );
        }
        if self.design == Design::Sobol && (self.columns.len() > sobol::DIMENSIONS || self.count > 1 << 32) {
            let message = format!("a Sobol sample has at most {} dimensions and 2^32 points", sobol::DIMENSIONS);
            return Err(SetupError::new(message).help("use  --design latin"));
        }
        Ok(self)
    }

    /// The values of a point.
    pub fn values(&self, k: u64) -> impl Iterator<Item = f64> {
        self.columns.iter().enumerate().map(move |(c, (_, of))| of.quantile(self.share(k, c as u64)))
    }

    /// A number between 0 and 1, never one of them.
    fn share(&self, k: u64, column: u64) -> f64 {
        let key = mixed(self.seed ^ mixed(column.wrapping_add(1)));
        match self.design {
            Design::Random => inside(mixed(key.wrapping_add(mixed(k)))),
            Design::Latin => {
                let slice = shuffled(k, self.count, key);
                let within = inside(mixed(key.wrapping_add(mixed(k ^ (1 << 63)))));
                // (The last slice of very many must not be rounded to 1.)
                ((slice as f64 + within) / self.count as f64).min(1.0 - f64::EPSILON / 2.0)
            }
            Design::Sobol => {
                let bits = sobol::entry(&sobol::directions(column as usize), k) ^ (key >> 32) as u32;
                (f64::from(bits) + 0.5) / 2f64.powi(32)
            }
        }
    }
}

/// The last step of SplitMix64: every bit of the result depends on every bit of the argument.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// 52 of the bits as a number between 0 and 1.
fn inside(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) / 2f64.powi(52)
}

/// Where a permutation of 0..n, chosen by a key, sends k: four rounds of a Feistel network on the next power of four, again
/// and again until it is back inside.
fn shuffled(k: u64, n: u64, key: u64) -> u64 {
    let half = (64 - n.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut at = k;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4u64 {
            (left, right) = (right, left ^ (mixed(key ^ mixed(right ^ (round << 60))) & mask));
        }
        at = (left << half) | right;
        if at < n {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(design: Design, count: u64) -> Sample {
        let columns = vec![
            ("a".to_string(), Distribution::Uniform { low: 2.0, high: 4.0 }),
            ("b".to_string(), Distribution::Normal { mean: -1.0, deviation: 0.5 }),
        ];
        Sample { count, design, seed: 3, columns }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let n = 1 << 14;
        for design in Design::ALL {
            let sample = sample(design, n);
            let rows: Vec<Vec<f64>> = (0..n).map(|k| sample.values(k).collect()).collect();
            let moment = |of: &dyn Fn(&[f64]) -> f64| rows.iter().map(|r| of(r)).sum::<f64>() / n as f64;
            // Five standard errors of a random sample.
            let error = |deviation: f64| 5.0 * deviation / (n as f64).sqrt();
            assert!((moment(&|r| r[0]) - 3.0).abs() < error((1.0f64 / 3.0).sqrt()), "{design:?}");
            assert!((moment(&|r| (r[0] - 3.0).powi(2)) - 1.0 / 3.0).abs() < error(0.3), "{design:?}");
            assert!((moment(&|r| r[1]) + 1.0).abs() < error(0.5), "{design:?}");
            assert!((moment(&|r| (r[1] + 1.0).powi(2)) - 0.25).abs() < error(0.36), "{design:?}");
            assert!((moment(&|r| (r[1] + 1.0).powi(4)) - 3.0 / 16.0).abs() < error(0.62), "{design:?}");
            assert!(moment(&|r| (r[0] - 3.0) * (r[1] + 1.0)).abs() < error(0.29), "{design:?}");
            let other = Sample { seed: 4, ..sample.clone() };
            assert!(other.values(5).ne(sample.values(5)), "{design:?}");
        }
    }

    #[test]
    fn a_latin_sample_meets_every_slice_once() {
        for count in [1, 2, 7, 1000] {
            let sample = sample(Design::Latin, count);
            let mut seen = vec![0; count as usize];
            for k in 0..count {
                let first = sample.values(k).next().unwrap_or(f64::NAN);
                seen[((first - 2.0) / 2.0 * count as f64) as usize] += 1;
            }
            assert!(seen.iter().all(|&n| n == 1), "{count}: {seen:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(sample(Design::Random, 0).checked().is_err());
        assert!(Distribution::Normal { mean: 0.0, deviation: -1.0 }.checked("w").is_err());
        assert!(Distribution::Uniform { low: 1.0, high: 1.0 }.checked("w").is_err());
        let many = Sample {
            columns: vec![("a".into(), Distribution::Uniform { low: 0.0, high: 1.0 }); 22],
            ..sample(Design::Sobol, 4)
        };
        assert!(many.checked().is_err());
    }
}
