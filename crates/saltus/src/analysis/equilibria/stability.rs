//! Stability of an equilibrium, with time frozen and its pressed contacts kept.
//!
//! Where the forces have a potential and otherwise only take energy, a strict minimum on K is stable (Lagrange and Dirichlet;
//! impacts take energy, too), and without gyroscopic forces anything that falls is unstable. Elsewhere the eigenvalues of
//! the linearised motion on the tangent space of the pressed contacts decide, if they are off the imaginary axis.

use super::reduced::Base;
use super::search::Search;
use super::{Equilibrium, Isolation, Stability};
use crate::linalg::{Dice, Svd, dot, eigen, eigenvalues, max_abs};

/// What of the second variation, in units of how much it changes nearby, counts as zero.
const FLAT: f64 = 1e-6;
/// Eigenvalues this near to the imaginary axis, in units of the largest, are on it: multiple ones scatter by √ε.
pub(super) const ON_AXIS: f64 = 1e-7;

/// The equations linearised on the tangent space of the pressed contacts.
struct Linear {
    /// A basis of the tangent space, scaled so that the second variation has entries of comparable size.
    basis: Vec<Vec<f64>>,
    mass: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
}

/// The second variation on the critical cone.
struct Cone {
    /// Its smallest value on a scaled unit vector.
    lowest: f64,
    /// The same per unit of length.
    curvature: f64,
    /// Directions along which it vanishes.
    neutral: usize,
}

impl Search<'_> {
    /// What can be said about the stability of an equilibrium.
    pub fn judge(&mut self, e: &Equilibrium) -> Stability {
        let pairs = e.closed.iter().copied().zip(e.reactions.iter().copied());
        let (set, mut lambda): (Vec<usize>, Vec<f64>) = pairs.filter(|(a, _)| !e.degenerate.contains(a)).unzip();
        lambda.extend(&e.joint_reactions);
        if e.q.len() > self.degrees {
            let Some(at) = self.equations(&set, &e.q, &lambda) else {
                return Stability::Unknown { why: "a derivative is not a number" };
            };
            let held = self.held_gradients(&set, self.degrees);
            return self.with_states(e, &at, &held);
        }
        let base = Base { set: &set, q: &e.q, lambda: &lambda };
        let Some(linear) = self.linear(base) else { return Stability::Unknown { why: "a derivative is not a number" } };
        let n = linear.basis.len();
        if n == 0 {
            return Stability::Stable { curvature: f64::INFINITY };
        }
        let gyroscopic = (0..n * n).any(|k| {
            let (a, b) = (linear.damping[k], linear.damping[(k % n) * n + k / n]);
            (a - b).abs() > 1e-9 * max_abs(&linear.damping)
        });
        if !self.has_energy(&e.q) {
            return self.by_eigenvalues(e, base, &linear);
        }
        let cone = self.cone(&linear, base, &e.degenerate);
        // Where the equations are certain to change in every direction, only rounding is small.
        let flat = if e.isolation == Isolation::Isolated { 64.0 * n as f64 * f64::EPSILON } else { FLAT };
        if cone.lowest > flat {
            return Stability::Stable { curvature: cone.curvature };
        }
        if cone.lowest < -flat {
            return match gyroscopic {
                false => Stability::Unstable { curvature: cone.curvature },
                true => self.by_eigenvalues(e, base, &linear),
            };
        }
        if !e.family.is_empty() && cone.neutral <= e.family.len() {
            return Stability::Neutral { directions: e.family.len() };
        }
        let ring = self.null_directions(base.set, base.q, base.lambda).map(|w| self.ring(base, &w, &e.degenerate));
        match ring {
            Some(ring) if ring.is_isolated() && ring.rising == ring.tried => Stability::Minimum,
            Some(ring) if ring.falling > 0 && !gyroscopic => Stability::Falls,
            _ => Stability::Unknown {
                why: "the second variation vanishes along some direction, and higher orders do not decide",
            },
        }
    }

    fn linear(&mut self, base: Base) -> Option<Linear> {
        let d = base.q.len();
        let at = self.equations(base.set, base.q, base.lambda)?;
        let block = |at: &super::search::Equations| -> Vec<f64> {
            (0..d * d).map(|k| -at.matrix[(k / d) * at.n + k % d]).collect()
        };
        let full = block(&at);
        let mass: Vec<f64> = match self.dynamics.code.diagonal {
            true => (0..d * d).map(|k| if k / d == k % d { self.dynamics.mass[k / d] } else { 0.0 }).collect(),
            false => self.dynamics.mass.clone(),
        };
        let damping: Vec<f64> = match self.dynamics.jacobian.is_empty() {
            true => vec![0.0; d * d],
            false => self.dynamics.jacobian.iter().map(|x| -x).collect(),
        };
        if damping.iter().chain(&mass).any(|x| !x.is_finite()) {
            return None;
        }
        let held = self.held_gradients(base.set, d);
        let mut basis = null_basis(d, &held)?;
        // Sizes from the neighbourhood, so that what vanishes at the point itself is small in comparison.
        let reduced = |basis: &[Vec<f64>], matrix: &[f64]| project(basis, matrix, d);
        let mut sizes: Vec<f64> = reduced(&basis, &full).iter().map(|x| x.abs()).collect();
        let mut dice = Dice::new(17);
        for _ in 0..(2 * d).clamp(4, 16) {
            let near = |q: &f64| q + dice.between(-1e-3, 1e-3) * self.fine;
            let there: Vec<f64> = base.q.iter().map(near).collect();
            if let Some(there) = self.equations(base.set, &there, base.lambda) {
                let there = reduced(&basis, &block(&there));
                sizes.iter_mut().zip(&there).for_each(|(s, x)| *s = s.max(x.abs()));
            }
        }
        let n = basis.len();
        let mut scales = vec![1.0; n];
        for _ in 0..8 {
            let size = |i: usize, j: usize| scales[i] * scales[j] * sizes[i * n + j].max(sizes[j * n + i]);
            let largest: Vec<f64> = (0..n).map(|i| (0..n).map(|j| size(i, j)).fold(0.0, f64::max)).collect();
            for (s, size) in scales.iter_mut().zip(largest) {
                let next = *s / size.sqrt();
                if size > 0.0 && next.is_finite() && next > 0.0 {
                    *s = next;
                }
            }
        }
        basis.iter_mut().zip(&scales).for_each(|(w, s)| w.iter_mut().for_each(|x| *x *= s));
        let (mass, damping) = (reduced(&basis, &mass), reduced(&basis, &damping));
        let stiffness = reduced(&basis, &full);
        Some(Linear { mass, damping, stiffness, basis })
    }

    /// Gradients of a set of constraints and of the joints, the first `d` entries.
    fn held_gradients(&self, set: &[usize], d: usize) -> Vec<Vec<f64>> {
        let joints = (0..self.held(&[])).map(|k| {
            let mut dense = vec![0.0; self.units.len()];
            self.joints.gradients.add_to(k, 1.0, &mut dense);
            dense
        });
        let all = set.iter().map(|&a| self.gradient(a, self.units.len())).chain(joints);
        all.map(|mut row| {
            row.truncate(d);
            row
        })
        .collect()
    }

    fn gradient(&self, a: usize, d: usize) -> Vec<f64> {
        let mut dense = vec![0.0; d];
        self.gaps.gradients.add_to(a, 1.0, &mut dense);
        dense
    }

    /// The second variation on directions along which no pressed contact opens and no loose one closes. Each loose contact
    /// either stays closed or opens: the faces of the cone. The smallest value on a face is at an eigenvector that points
    /// inwards.
    fn cone(&mut self, linear: &Linear, base: Base, loose: &[usize]) -> Cone {
        let d = base.q.len();
        let n = linear.basis.len();
        self.linearise(base.q);
        let loose: Vec<Vec<f64>> = loose
            .iter()
            .take(10)
            .map(|&a| {
                let slope = self.gradient(a, d);
                linear.basis.iter().map(|w| dot(&slope, w)).collect()
            })
            .collect();
        let mut cone = Cone { lowest: f64::INFINITY, curvature: f64::INFINITY, neutral: 0 };
        for face in 0..1_usize << loose.len() {
            let held: Vec<Vec<f64>> =
                loose.iter().enumerate().filter(|(k, _)| face >> k & 1 == 1).map(|(_, row)| row.clone()).collect();
            let Some(basis) = null_basis(n, &held) else { continue };
            if basis.is_empty() {
                continue;
            }
            for (value, vector) in eigen(basis.len(), &project(&basis, &linear.stiffness, n)) {
                let w: Vec<f64> = (0..n).map(|i| basis.iter().zip(&vector).map(|(b, c)| b[i] * c).sum()).collect();
                let inward = |sign: f64| loose.iter().all(|row| sign * dot(row, &w) >= -1e-9 * max_abs(row));
                if !inward(1.0) && !inward(-1.0) {
                    continue;
                }
                let length: f64 = (0..d).map(|i| (0..n).map(|j| w[j] * linear.basis[j][i]).sum::<f64>().powi(2)).sum();
                if value < cone.lowest {
                    cone.lowest = value;
                    cone.curvature = value / length.max(1e-300);
                }
                cone.neutral += usize::from(value.abs() <= FLAT && face == 0);
            }
        }
        cone
    }

    /// Whether, with time frozen, the forces have a potential around a point and otherwise take energy or do no work.
    fn has_energy(&mut self, q: &[f64]) -> bool {
        if self.problem.model().conservative {
            return true;
        }
        let d = q.len();
        let mut dice = Dice::new(23);
        for k in 0..12 {
            let reach = if k == 0 { 0.0 } else { 1e-2 * self.fine };
            let there: Vec<f64> = q.iter().map(|q| q + dice.between(-reach, reach)).collect();
            if let Some(stiffness) = &mut self.stiffness {
                stiffness.evaluate(self.t, &there, &self.rest);
                let k = &stiffness.matrix;
                let size = max_abs(k);
                if !(0..d * d).all(|p| (k[p] - k[(p % d) * d + p / d]).abs() <= 1e-9 * size) {
                    return false;
                }
            }
            self.dynamics.evaluate(self.t, &there, &self.rest);
            let force = max_abs(&self.dynamics.g);
            let still = self.power.at(self.t, &there, &self.rest);
            for speed in [1e-2, 1.0] {
                let v: Vec<f64> = (0..d).map(|_| dice.between(-speed, speed)).collect();
                let mut power = |s: f64| {
                    let v: Vec<f64> = v.iter().map(|v| s * v).collect();
                    self.power.at(self.t, &there, &v) - still
                };
                let (p, m, p2, m2) = (power(1.0), power(-1.0), power(2.0), power(-2.0));
                let noise = 1e-9 * (p.abs() + m.abs() + force * max_abs(&v)) + 1e-12 * still.abs();
                // The work of a frozen force without velocities is odd and linear in v; what is even is dissipated.
                let takes = p + m <= noise && p2 + m2 <= 4.0 * noise;
                let linear = ((p2 - m2) - 2.0 * (p - m)).abs() <= 1e-6 * (p2.abs() + m2.abs()) + 8.0 * noise;
                if !takes || !linear {
                    return false;
                }
            }
        }
        true
    }

    fn by_eigenvalues(&mut self, e: &Equilibrium, base: Base, linear: &Linear) -> Stability {
        if !e.degenerate.is_empty() {
            return Stability::Unknown { why: "a contact is closed without a reaction, and no potential decides" };
        }
        let Some((values, rate)) = spectrum(linear) else {
            return Stability::Unknown { why: "the eigenvalues of the linearised motion were not found" };
        };
        let largest = values.iter().copied().fold((f64::NEG_INFINITY, 0.0), |m, z| if z.0 > m.0 { z } else { m });
        if largest.0 > ON_AXIS {
            return Stability::Grows { rate: rate * largest.0, frequency: rate * largest.1.abs() };
        }
        let near_zero = |z: &&(f64, f64)| z.0.hypot(z.1) <= 10.0 * ON_AXIS;
        let zeros = values.iter().filter(near_zero).count();
        let on_axis = values.iter().filter(|z| z.0 >= -ON_AXIS).count();
        if on_axis == 0 {
            return Stability::Decays { rate: -rate * largest.0 };
        }
        if zeros == on_axis && !e.family.is_empty() && zeros <= 2 * e.family.len() {
            return Stability::Neutral { directions: e.family.len() };
        }
        if zeros == 1 && on_axis == 1 {
            // One slow direction: the motion follows the reduced force.
            let ring = self.null_directions(base.set, base.q, base.lambda).map(|w| self.ring(base, &w, &[]));
            return match ring {
                Some(ring) if ring.tried == 2 && ring.rising == 2 => Stability::Minimum,
                Some(ring) if ring.tried == 2 && ring.falling > 0 => Stability::Falls,
                _ => Stability::Unknown { why: "an eigenvalue of the linearised motion is zero" },
            };
        }
        // Two that coincide may let oscillations grow like t.
        let on: Vec<&(f64, f64)> = values.iter().filter(|z| z.0 >= -ON_AXIS).collect();
        let double = (0..on.len()).any(|i| (0..i).any(|j| (on[i].1 - on[j].1).abs() <= 1e-4 * on[i].1.abs()));
        match zeros {
            0 if double => Stability::Unknown { why: "imaginary eigenvalues of the linearised motion coincide" },
            0 => Stability::Linear,
            _ => Stability::Unknown { why: "an eigenvalue of the linearised motion is zero" },
        }
    }
}

/// The eigenvalues of M x'' + C x' + K x = 0 in units of a rate, and that rate.
fn spectrum(linear: &Linear) -> Option<(Vec<(f64, f64)>, f64)> {
    let n = linear.basis.len();
    let svd = Svd::new(n, n, &linear.mass, 1e-14)?;
    let solved = |matrix: &[f64]| -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        for j in 0..n {
            let column: Vec<f64> = (0..n).map(|i| matrix[i * n + j]).collect();
            svd.least_norm(&column).iter().enumerate().for_each(|(i, x)| out[i * n + j] = *x);
        }
        out
    };
    let (k, c) = (solved(&linear.stiffness), solved(&linear.damping));
    let rate = max_abs(&k).sqrt().max(max_abs(&c));
    if !(rate > 0.0) {
        return Some((vec![(0.0, 0.0); 2 * n], 0.0));
    }
    let mut whole = vec![0.0; 4 * n * n];
    for i in 0..n {
        whole[i * 2 * n + n + i] = 1.0;
        for j in 0..n {
            whole[(n + i) * 2 * n + j] = -k[i * n + j] / (rate * rate);
            whole[(n + i) * 2 * n + n + j] = -c[i * n + j] / rate;
        }
    }
    Some((eigenvalues(2 * n, &whole)?, rate))
}

/// Wᵀ A W by rows.
pub(super) fn project(basis: &[Vec<f64>], matrix: &[f64], d: usize) -> Vec<f64> {
    let k = basis.len();
    let mut out = vec![0.0; k * k];
    for (j, w) in basis.iter().enumerate() {
        let aw: Vec<f64> = matrix.chunks(d.max(1)).map(|row| dot(row, w)).collect();
        basis.iter().enumerate().for_each(|(i, u)| out[i * k + j] = dot(u, &aw));
    }
    out
}

/// A basis of what is orthogonal to some rows.
pub(super) fn null_basis(d: usize, rows: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    if rows.is_empty() {
        return Some((0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect());
    }
    Some(Svd::new(rows.len(), d, &rows.concat(), 1e-10)?.null_space())
}
