//! How slow the first mode is; or how slow at least, for what needs no modes: a run that shows no frequencies computes none.

use super::Structure;
use crate::linalg::dot;

/// Inverse iterations of the trial motion.
const ITERATIONS: usize = 3;

impl Structure {
    /// The period of the first elastic mode.
    pub fn first_period(&self) -> Option<f64> {
        let first = self.lowest()?.frequencies().into_iter().find(|w| *w > 0.0)?;
        Some(std::f64::consts::TAU / first)
    }

    /// ω² of the lowest mode; zero if it is not known.
    pub(crate) fn lowest_square(&self) -> f64 {
        self.lowest().and_then(|m| m.squares.first().copied()).unwrap_or(0.0)
    }

    /// An upper bound on ω₁², near to it: Rayleigh's quotient of a motion that a few inverse iterations made smooth. None where K has no
    /// factor at hand: it is then singular, or so narrow that modes cost nothing.
    pub(super) fn slowest(&self) -> Option<f64> {
        if let Some(modes) = self.lowest.get() {
            return modes.as_ref()?.squares.first().copied().filter(|x| *x > 0.0);
        }
        let held = self.held.lock().ok()?;
        let factor = held.as_ref()?;
        let (mass, stiffness) = (&self.linear.mass, &self.linear.stiffness);
        // A pivot that is only rounding is none: then something is free to move.
        let sound = |(i, inverse): (usize, &f64)| 1.0 / inverse > 1e-11 * stiffness.at(i, i);
        if !factor.inverse_pivots().iter().enumerate().all(sound) {
            return None;
        }
        let n = mass.dimension();
        let (mut x, mut inertia) = (vec![1.0; n], vec![0.0; n]);
        let mut quotient = f64::INFINITY;
        for _ in 0..ITERATIONS {
            mass.multiply(&x, &mut inertia);
            x.copy_from_slice(&inertia);
            factor.solve(&mut x);
            // x·Kx = x·(M of the one before).
            let elastic = dot(&x, &inertia);
            mass.multiply(&x, &mut inertia);
            let kinetic = dot(&x, &inertia);
            quotient = quotient.min(elastic / kinetic);
            let scale = 1.0 / kinetic.sqrt();
            x.iter_mut().for_each(|x| *x *= scale);
        }
        (quotient > 0.0 && quotient.is_finite()).then_some(quotient)
    }
}

#[cfg(test)]
mod tests {
    use crate::linalg::Symmetric;
    use crate::structure::{Builder, Damping, Layout, Part, Structure, StructureInstance, check};

    /// A grid of unit masses, each tied to its neighbours by unit springs, and to the ground.
    fn grid(side: usize, ground: f64) -> Structure {
        let n = side * side;
        let mut entries: Vec<_> = (0..n).map(|i| (i, i, ground)).collect();
        for i in 0..n {
            let beside = [((i + 1) % side != 0).then_some(i + 1), (i + side < n).then_some(i + side)];
            for j in beside.into_iter().flatten() {
                entries.extend([(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)]);
            }
        }
        let mut made = Builder::new("grid");
        let part = made.part(Part {
            name: String::new(),
            what: "matrices".into(),
            mass: Symmetric::diagonal(&vec![1.0; n]),
            stiffness: Symmetric::new(n, entries),
            damping: Damping::None,
            gyroscopic: None,
            circulatory: None,
            layout: Layout::Matrices { direction: None, nodes: Vec::new() },
            carried: None,
            is_lumped_body: true,
        });
        let corner = made.point("corner", part.dof(1));
        made.force(&corner, "sin(t)");
        made.stop("wall", 0.1 - &corner, 0.0);
        made.build().expect("a structure")
    }

    #[test]
    fn a_run_that_shows_no_frequencies_computes_none() {
        // The lowest mode moves as one: ω² is that of the ground.
        let structure = grid(20, 0.25);
        let bound = structure.slowest().expect("a bound");
        assert!((bound / 0.25 - 1.0).abs() < 1e-12, "{bound}");
        let warnings = |structure: &Structure, step: f64| {
            let instance = StructureInstance::new(structure, &structure.start(), None, None).expect("an instance");
            check::warnings(&instance, Some(step))
        };
        assert_eq!(warnings(&structure, 0.1), Vec::<String>::new());
        assert!(structure.lowest.get().is_none());
        assert!((structure.first_period().expect("one") / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-9);
        // A step that is too long is said all the same.
        let long = warnings(&grid(20, 0.25), 1.5);
        assert!(long.iter().any(|w| w.contains("first period 12.5664")), "{long:?}");
    }

    #[test]
    fn what_is_free_to_move_has_no_bound() {
        assert_eq!(grid(12, 0.0).slowest(), None);
    }
}
