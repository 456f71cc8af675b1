//! What a stop does besides closing: damping (Kelvin–Voigt), Hertz' law, friction, a round hole.

use super::hole::Hole;

/// The law of a stop, besides its gap, its restitution and its stiffness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StopLaw {
    /// With a stiffness: a dashpot c beside the spring, F = k δ + c δ'; with Hertz' law, F = k δ^{3/2} (1 + c δ') (Hunt & Crossley 1975). Stops
    /// only push: F ≥ 0.
    pub damping: f64,
    /// Whether the stiffness is that of Hertz' law, F = k δ^{3/2}.
    pub is_hertz: bool,
    /// Coulomb friction.
    pub friction: Option<Rub>,
    /// A round hole: the gap is a radius less a distance, not a plane.
    pub hole: Option<Hole>,
    /// The group of stops whose sums it is part of.
    pub group: Option<String>,
}

impl StopLaw {
    /// Whether it is more than a plane, rigid or with a linear spring.
    pub(super) fn needs_rows(&self) -> bool {
        self.damping != 0.0 || self.is_hertz || self.friction.is_some() || self.hole.is_some()
    }
}

/// Coulomb friction at a stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Rub {
    /// The coefficient of friction.
    pub coefficient: f64,
    /// The points whose displacements slide along the stop: one in the plane, two in space. In a round hole the way around it is a slip
    /// already: none, or the one along its axis.
    pub slides: Vec<usize>,
}

/// A spring that pushes, of which the force in a step is the mean slope of its energy and what its dashpot adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    pub stiffness: f64,
    pub damping: f64,
    pub is_hertz: bool,
}

impl Spring {
    /// Whether it is a linear spring and nothing else.
    pub fn is_plain(&self) -> bool {
        self.damping == 0.0 && !self.is_hertz
    }

    /// Its energy at a gap y.
    pub fn energy(&self, y: f64) -> f64 {
        let depth = (-y).max(0.0);
        match self.is_hertz {
            true => 0.4 * self.stiffness * depth * depth * depth.sqrt(),
            false => 0.5 * self.stiffness * depth * depth,
        }
    }

    /// How fast it grows with the depth there.
    pub fn slope(&self, y: f64) -> f64 {
        self.stiffness * if self.is_hertz { 1.5 * (-y).max(0.0).sqrt() } else { 1.0 }
    }

    /// How deep a force compresses it.
    pub fn depth(&self, force: f64) -> f64 {
        let depth = force.max(0.0) / self.stiffness;
        if self.is_hertz { depth.powf(2.0 / 3.0) } else { depth }
    }

    /// Its force at a gap y, at rest.
    pub fn at_rest(&self, y: f64) -> f64 {
        let depth = (-y).max(0.0);
        self.stiffness * if self.is_hertz { depth * depth.sqrt() } else { depth }
    }

    /// ∫ of the coefficient of δ' over δ: what the dashpot gives in a step is by how much this grows, over its time.
    fn drag(&self, y: f64) -> f64 {
        self.damping * if self.is_hertz { self.energy(y) } else { (-y).max(0.0) }
    }

    /// The mean slope of its energy over a path from y₀ to y₁, written without differences of energies: of those little is left where a
    /// preload is large and the path short.
    fn mean_slope(&self, start: f64, end: f64) -> f64 {
        let (from, to) = ((-start).max(0.0), (-end).max(0.0));
        if from > 0.0 && to > 0.0 {
            return match self.is_hertz {
                false => 0.5 * self.stiffness * (from + to),
                true => {
                    // 0.4 (p⁵ − r⁵)/(p² − r²)
                    let (p, r) = (from.sqrt(), to.sqrt());
                    let quintic = from * from + to * to + p * r * (from + to) + from * to;
                    0.4 * self.stiffness * quintic / (p + r)
                }
            };
        }
        // Compressed at one end only, or at none.
        let (depth, way) = (from.max(to), (end - start).abs());
        if depth == 0.0 { 0.0 } else { self.energy(-depth) / way }
    }

    /// The mean force over a path from y₀ to y₁ in a time.
    pub fn mean(&self, start: f64, end: f64, time: f64) -> f64 {
        (self.mean_slope(start, end) + (self.drag(end) - self.drag(start)) / time).max(0.0)
    }

    /// The same, with what it may be off by rounding.
    fn rounded_mean(&self, start: f64, end: f64, time: f64) -> (f64, f64) {
        let (elastic, after, before) = (self.mean_slope(start, end), self.drag(end), self.drag(start));
        ((elastic + (after - before) / time).max(0.0), 2.0 * f64::EPSILON * (elastic + (after + before) / time))
    }

    /// The force F between y₀ and y₁ = y + D F in a time. It falls as y₁ grows, so there is one.
    pub fn force(&self, start: f64, free: f64, give: f64, time: f64) -> f64 {
        let most = self.mean(start, free, time);
        if most == 0.0 {
            return 0.0;
        }
        // F − mean(y + D F) grows with F, at least as fast as F: what it is off by is more than F is.
        let excess = |f: f64| {
            let (mean, rounding) = self.rounded_mean(start, free + give * f, time);
            (f - mean, rounding)
        };
        let (mut low, mut high) = (0.0, most);
        let (mut below, mut above) = (excess(low).0, excess(high).0);
        let mut side = 0;
        for _ in 0..200 {
            if high - low <= 4.0 * f64::EPSILON * high || above == 0.0 {
                return high;
            }
            let mut f = (low * above - high * below) / (above - below);
            if !(f > low && f < high) {
                f = 0.5 * (low + high);
            }
            let (value, rounding) = excess(f);
            if value.abs() <= rounding {
                return f;
            }
            if value > 0.0 {
                (high, above) = (f, value);
                below *= if side == 1 { 0.5 } else { 1.0 };
                side = 1;
            } else {
                (low, below) = (f, value);
                above *= if side == -1 { 0.5 } else { 1.0 };
                side = -1;
            }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::Spring;

    #[test]
    fn the_mean_slope_of_a_preloaded_spring_has_all_its_digits() {
        // Depths d and d(1 + x): k d (1 + x/2); Hertz, by its series: k d^1.5 (1 + 3x/4 + x²/8 − x³/64).
        for x in [0.0, 1e-3, -1e-4, 1e-6, 3e-8, -1e-9, 1e-12] {
            let depth: f64 = 2e-5;
            let end = -depth * (1.0 + x);
            // (What the rounding of the end has left of x.)
            let x = -(end + depth) / depth;
            let linear = Spring { stiffness: 2e6, damping: 0.0, is_hertz: false }.mean(-depth, end, 1e-4);
            assert!((linear / (2e6 * depth * (1.0 + 0.5 * x)) - 1.0).abs() < 1e-15, "{x}: {linear}");
            let hertz = Spring { stiffness: 1e9, damping: 0.0, is_hertz: true }.mean(-depth, end, 1e-4);
            let series = 1.0 + 0.75 * x + 0.125 * x * x - x * x * x / 64.0;
            assert!((hertz / (1e9 * depth * depth.sqrt() * series) - 1.0).abs() < 2e-14, "{x}: {hertz}");
        }
        // Let go on the way: the energy over the way.
        let spring = Spring { stiffness: 3.0, damping: 0.0, is_hertz: false };
        assert!((spring.mean(-0.2, 0.1, 1.0) - 1.5 * 0.04 / 0.3).abs() < 1e-15);
        assert_eq!((spring.mean(0.0, 0.0, 1.0), spring.mean(0.0, 0.3, 1.0)), (0.0, 0.0));
    }

    #[test]
    fn the_force_of_a_step_obeys_its_law() {
        for is_hertz in [false, true] {
            for (stiffness, damping) in [(3.0, 0.0), (1e4, 0.2), (0.1, 5.0), (1e6, 30.0)] {
                let spring = Spring { stiffness, damping, is_hertz };
                for give in [1e-7, 1e-3, 0.3] {
                    for start in [-0.2, -1e-3, 0.0, 0.1] {
                        for free in [-0.5, -1e-3, 0.05] {
                            let f = spring.force(start, free, give, 0.01);
                            let end = free + give * f;
                            let wanted = spring.mean(start, end, 0.01);
                            let size = spring.mean(start, free, 0.01).max(1e-300);
                            assert!(f >= 0.0 && (f - wanted).abs() <= 1e-9 * size, "{spring:?} {give} {start} {free}");
                        }
                    }
                }
            }
        }
    }
}
