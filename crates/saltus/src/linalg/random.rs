//! Random numbers that are the same on every machine: a seed identifies an experiment.

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
///
/// ```
/// use saltus::linalg::Dice;
/// let (mut a, mut b) = (Dice::new(7), Dice::new(7));
/// assert_eq!(a.between(-1.0, 1.0), b.between(-1.0, 1.0));
/// ```
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// A generator that gives the same sequence for the same seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number between two, uniformly.
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with a probability.
    pub fn chance(&mut self, p: f64) -> bool {
        self.between(0.0, 1.0) < p
    }
}
