//! Whether a step resolves the stops that are springs, and what to say where it does not.

use super::{Linear, StopLaw};

/// A step, and h√(k/m) of the stiffest stop.
pub(super) struct Resolution {
    pub h: f64,
    pub ratio: f64,
}

impl Resolution {
    /// Dashpots beside springs that the step does not resolve.
    pub fn of_dashpots(&self, laws: &[StopLaw], compliant: &[bool]) -> Option<String> {
        let is_damped = |a: usize| compliant[a] && laws[a].damping > 0.0 && !laws[a].is_hertz;
        (self.ratio > 1.0 && (0..laws.len()).any(is_damped)).then(|| {
            format!(
                "the step {} does not resolve the stops that are springs with damping (h√(k/m) = {:.2}): their forces are not to be \
                 trusted. A step of {:.1e} would do",
                self.h,
                self.ratio,
                0.5 * self.h / self.ratio
            )
        })
    }

    /// Springs that took energy, of all that there was.
    pub fn of_springs(&self, taken: f64, all: f64) -> Option<String> {
        // It falls with the square of the step, to nothing where springs keep energy.
        let share = taken / all;
        let enough = 0.5 * self.h / self.ratio.max(0.5) * (0.01 / share).min(1.0).sqrt();
        (share > 0.01).then(|| {
            format!(
                "stops that are springs took {taken:.3e}, {:.1} % of the energy, and give back what they take: the step {} does not \
                 resolve them (h√(k/m) = {:.2}). A step of {enough:.1e} would do",
                100.0 * share,
                self.h,
                self.ratio
            )
        })
    }
}

/// h√(k/m) of the stiffest massless degree of freedom: m is the mass behind the stops that act on it.
pub(super) fn resolution(linear: &Linear, massless: &[usize], h: f64) -> f64 {
    let mut most = 0.0_f64;
    for a in 0..linear.stops.len() {
        let own = linear.stops.entries(a).filter(|(i, _)| massless.contains(i));
        let stiffness = own.map(|(i, w)| linear.stiffness.at(i, i) / (w * w)).fold(0.0, f64::max);
        if stiffness > 0.0 {
            let mass = linear.mass_behind(a).unwrap_or(0.0);
            most = most.max(if mass > 0.0 { h * (stiffness / mass).sqrt() } else { f64::INFINITY });
        }
    }
    most
}
