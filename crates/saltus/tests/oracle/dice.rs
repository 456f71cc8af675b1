//! Random numbers: splitmix64.

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0xd1342543de82ef95).wrapping_add(7));
        dice.bits();
        dice
    }
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }
    /// Logarithmically between two powers of ten.
    pub fn decades(&mut self, a: f64, b: f64) -> f64 {
        10_f64.powf(self.between(a, b))
    }
    pub fn chance(&mut self, p: f64) -> bool {
        self.between(0.0, 1.0) < p
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
    /// A restitution: nothing, all, anything, or nearly all.
    pub fn restitution(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => 1.0,
            2 => 1.0 - self.decades(-6.0, -2.0),
            3 => self.between(0.8, 0.99),
            _ => self.between(0.05, 0.8),
        }
    }
}
