//! Which theorem covers a structure: M is constant and the gaps are linear, so that it is a matter of angles and restitutions.

use super::Structure;
use crate::linalg::dot;

/// A sentence on what is proved, and whether it is good news.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Whether a theorem covers the structure.
    pub covers: bool,
    /// Which, or why none.
    pub sentence: String,
}

/// More pairs of stops than this are not looked at.
const MOST: usize = 300;

impl Structure {
    /// What is proved about Paoli–Schatzman (newmark, exact) on this structure.
    pub fn proof(&self) -> Proof {
        let model = &self.model;
        let rigid: Vec<usize> = (0..model.constraints.len()).filter(|&a| !self.linear.is_compliant(a)).collect();
        let tell = |covers: bool, sentence: &str| Proof { covers, sentence: sentence.to_string() };
        let Some(&first) = rigid.first() else {
            return tell(
                true,
                "every stop is a spring that pushes: forces are Lipschitz in the displacements, and Newmark's scheme converges as for any ordinary differential equation",
            );
        };
        if rigid.iter().any(|&a| model.graph.depends_on(model.constraints[a].gap, model.t)) {
            return tell(
                false,
                "moving stops: [T] (Paoli 2015) has e = 0 with the averaged forcing; for newmark and exact nothing is proved",
            );
        }
        let e = model.constraints[first].restitution;
        if rigid.iter().any(|&a| model.constraints[a].restitution != e) {
            return tell(false, "the restitutions differ: the papers have one for all stops");
        }
        let Some((narrowest, widest)) = self.angles(&rigid) else {
            return tell(false, "so many stops that their angles were not looked at");
        };
        let right = (narrowest - 90.0).abs() < 1e-6 && (widest - 90.0).abs() < 1e-6;
        match (narrowest > widest, e == 0.0) {
            (true, _) => tell(
                true,
                "one stop at a time: Paoli & Schatzman 2002 ([V] §3b, [P] theorems 1–2), any e; the forcings newmark and exact satisfy (H4)",
            ),
            (false, true) if widest <= 90.0 + 1e-6 => {
                tell(true, "several stops, e = 0, no obtuse kinetic angle: Paoli 2005, 2010 ([S])")
            }
            (false, true) => Proof {
                covers: false,
                sentence: format!(
                    "several stops, e = 0, but a kinetic angle of {widest:.1}°: the motion depends discontinuously on its data where both are closed"
                ),
            },
            (false, false) if right => {
                tell(true, "several stops at right kinetic angles, one e: Paoli 2010 ([S], announced with a sketch)")
            }
            (false, false) => Proof {
                covers: false,
                sentence: format!(
                    "several stops with e > 0 at kinetic angles from {narrowest:.1}° to {widest:.1}°: where two are closed at once nothing is proved"
                ),
            },
        }
    }

    /// The narrowest and widest kinetic angle of two stops, in degrees; opposite sides of a guide are never closed together.
    /// Infinity and minus infinity if there is no pair.
    fn angles(&self, stops: &[usize]) -> Option<(f64, f64)> {
        let n = self.linear.dimension();
        let (mut narrowest, mut widest) = (f64::INFINITY, f64::NEG_INFINITY);
        if stops.len() * stops.len() > 2 * MOST {
            return None;
        }
        let ones = self.linear.massless().into_iter().map(|i| (i, i, 1.0));
        let mass = crate::linalg::Symmetric::new(n, self.linear.mass.entries().chain(ones).collect());
        let factor = mass.factor().ok()?;
        let solved: Vec<(Vec<f64>, Vec<f64>)> = stops
            .iter()
            .map(|&a| {
                let mut w = vec![0.0; n];
                self.linear.stops.add_to(a, 1.0, &mut w);
                let mut x = w.clone();
                factor.solve(&mut x);
                (w, x)
            })
            .collect();
        for i in 0..stops.len() {
            for j in 0..i {
                let product = |a: usize, b: usize| dot(&solved[a].0, &solved[b].1);
                let cos = -product(i, j) / (product(i, i) * product(j, j)).sqrt();
                // Two sides of one guide, or twice the same.
                if cos.abs() < 1.0 - 1e-9 {
                    let angle = cos.acos().to_degrees();
                    (narrowest, widest) = (narrowest.min(angle), widest.max(angle));
                }
            }
        }
        Some((narrowest, widest))
    }
}
