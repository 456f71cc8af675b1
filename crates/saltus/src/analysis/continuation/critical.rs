//! Orbits with a multiplier of 1 or −1, as zeros of equations over two parameters: those of the orbit, and a determinant.
//!
//! The determinant has no exact derivative here: its row of the Jacobian is made of central differences, which Newton's method
//! needs only roughly. The zero itself is as exact as the orbit.

use super::branch::SpecialKind;
use super::family::{Family, Seen};
use super::zero::{Equations, Evaluation, determinant};
use crate::analysis::phase_space::NoMap;

/// The step of differences.
const DIFFERENCE: f64 = 1e-5;

/// Orbits at a fold or a period doubling.
#[derive(Clone)]
pub struct Critical {
    /// The orbits, with two free parameters.
    pub family: Family,
    kind: SpecialKind,
    /// What the determinant is measured by.
    size: f64,
}

impl Critical {
    /// Near a special point.
    pub fn new(family: Family, kind: SpecialKind) -> Self {
        Critical { family, kind, size: 1.0 }
    }

    fn determinant(&self, found: &Evaluation<Seen>) -> f64 {
        let (n, inner, m) = (self.family.space.dimension(), self.family.inner(), self.family.unknowns());
        let rows = |size: usize, shift: f64| -> Vec<f64> {
            let entry = |i: usize, j: usize| found.jacobian[i * m + j] + if i == j { shift } else { 0.0 };
            (0..size * size).map(|k| entry(k / size, k % size)).collect()
        };
        // (The Jacobian of the equations is that of the map less the unit matrix.)
        match self.kind {
            SpecialKind::Doubling => determinant(n, &rows(n, 2.0)),
            _ => determinant(inner, &rows(inner, 0.0)),
        }
    }
}

impl Equations for Critical {
    type Seen = Seen;

    fn unknowns(&self) -> usize {
        self.family.unknowns()
    }

    fn evaluate(&mut self, z: &[f64]) -> Result<Evaluation<Seen>, NoMap> {
        let mut found = self.family.evaluate(z)?;
        let value = self.determinant(&found);
        let mut slopes = Vec::with_capacity(z.len());
        for k in 0..z.len() {
            let mut side = |h: f64| {
                let mut moved = z.to_vec();
                moved[k] += h;
                self.family.evaluate(&moved).map(|e| self.determinant(&e))
            };
            slopes.push(match (side(DIFFERENCE), side(-DIFFERENCE)) {
                (Ok(above), Ok(below)) => (above - below) / (2.0 * DIFFERENCE),
                (Ok(above), Err(_)) => (above - value) / DIFFERENCE,
                (Err(_), Ok(below)) => (value - below) / DIFFERENCE,
                (Err(reason), Err(_)) => return Err(reason),
            });
        }
        if self.size == 1.0 {
            // (So that its slope is of the order of one.)
            self.size = crate::linalg::max_abs(&slopes).max(1e-6);
        }
        found.residual.push(value / self.size);
        found.jacobian.extend(slopes.iter().map(|s| s / self.size));
        Ok(found)
    }

    fn reached(&mut self, _: &[f64], seen: &Seen) -> Result<(), NoMap> {
        if let Some((state, rate)) = &mut self.family.anchor {
            (*state, *rate) = (self.family.space.state(&seen.start), seen.passage.rate.clone());
        }
        self.size = 1.0;
        Ok(())
    }
}
