//! What a degenerate equilibrium is: the equations reduced to the directions in which they do not change to first order
//! (Lyapunov and Schmidt).
//!
//! With W those directions and c a unit vector, the point q with Wᵀ(q − q*) = r c at which all other equations hold has one
//! force left, ν along W. The equilibrium is isolated if ν ≠ 0 on small spheres, and one of a family if ν = 0 on them; where
//! the forces have a potential, ν·c is its slope along c.

use super::search::{Balanced, Search};
use crate::linalg::{Dice, dot, max_abs};

/// A reduced point.
struct Reduced {
    q: Vec<f64>,
    lambda: Vec<f64>,
    force: Vec<f64>,
    /// What of the force may be rounding.
    noise: f64,
}

/// What the reduced force does along the directions tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// Directions tried.
    pub tried: usize,
    /// No force.
    pub flat: usize,
    /// The potential, if there is one, rises.
    pub rising: usize,
    /// It falls.
    pub falling: usize,
    /// There is a force, across.
    pub across: usize,
    /// Between the directions tried there is one with hardly any force.
    pub doubtful: bool,
    /// One of the directions without a force.
    pub flat_direction: Option<Vec<f64>>,
}

impl Ring {
    /// There is a force in every direction tried.
    pub fn has_force(&self) -> bool {
        self.tried > 0 && self.rising + self.falling + self.across == self.tried
    }

    /// There is a force all around.
    pub fn is_isolated(&self) -> bool {
        self.has_force() && !self.doubtful
    }

    /// There is none.
    pub fn is_flat(&self) -> bool {
        self.tried > 0 && self.flat == self.tried
    }
}

/// An equilibrium with its pressed contacts.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub set: &'a [usize],
    pub q: &'a [f64],
    pub lambda: &'a [f64],
}

impl Search<'_> {
    /// The point at r c along W where everything but the force along W is balanced.
    fn reduced(&mut self, base: Base, w: &[Vec<f64>], c: &[f64], r: f64) -> Option<Reduced> {
        let (d, m, k) = (base.q.len(), base.lambda.len(), w.len());
        let n = d + m + k;
        let along: Vec<f64> = (0..d).map(|i| r * (0..k).map(|j| c[j] * w[j][i]).sum::<f64>()).collect();
        let mut q: Vec<f64> = base.q.iter().zip(&along).map(|(q, a)| q + a).collect();
        let (mut lambda, mut force) = (base.lambda.to_vec(), vec![0.0; k]);
        let mut last = f64::INFINITY;
        for _ in 0..40 {
            let at = self.equations(base.set, &q, &lambda)?;
            let mut residual = vec![0.0; n];
            let mut matrix = vec![0.0; n * n];
            for i in 0..d + m {
                residual[i] = at.residual[i];
                matrix[i * n..i * n + d + m].copy_from_slice(&at.matrix[i * at.n..(i + 1) * at.n]);
            }
            for j in 0..k {
                for i in 0..d {
                    residual[i] += force[j] * w[j][i];
                    matrix[i * n + d + m + j] = w[j][i];
                    matrix[(d + m + j) * n + i] = w[j][i];
                }
                let moved: f64 = (0..d).map(|i| w[j][i] * (q[i] - base.q[i])).sum();
                residual[d + m + j] = moved - r * c[j];
            }
            let step = Balanced::new(n, &matrix, &matrix, 4.0 * n as f64 * f64::EPSILON)?.solve(&residual);
            q.iter_mut().zip(&step).for_each(|(q, s)| *q -= s);
            lambda.iter_mut().zip(&step[d..]).for_each(|(l, s)| *l -= s);
            force.iter_mut().zip(&step[d + m..]).for_each(|(f, s)| *f -= s);
            let far = max_abs(&step[..d]);
            let off = q.iter().zip(base.q).zip(&along).map(|((q, b), a)| (q - b - a).abs()).fold(0.0, f64::max);
            if !(off <= r) {
                return None;
            }
            if far <= 1e-15 * (r + max_abs(&q)) || (far <= 1e-8 * r && far >= 0.5 * last) {
                // Directly from the equations: a stiff direction leaves its rounding to itself.
                let at = self.equations(base.set, &q, &lambda)?;
                let force = w.iter().map(|w| -dot(w, &at.residual[..d])).collect();
                let noise = w.iter().map(|w| w.iter().zip(&at.noise).map(|(w, n)| (w * n).abs()).sum::<f64>());
                let noise = 4.0 * noise.fold(0.0, f64::max);
                return Some(Reduced { q, lambda, force, noise });
            }
            last = far;
        }
        None
    }

    /// Tries small spheres around a degenerate equilibrium; `loose` contacts may open, not close.
    pub fn ring(&mut self, base: Base, w: &[Vec<f64>], loose: &[usize]) -> Ring {
        let mut ring = Ring::default();
        self.linearise(base.q);
        let slopes: Vec<Vec<f64>> =
            loose.iter().map(|&a| w.iter().map(|w| self.gaps.gradients.dot(a, w)).collect()).collect();
        for c in directions(w.len()) {
            if slopes.iter().any(|s| dot(s, &c) < -1e-9 * max_abs(s).max(1e-300)) {
                continue;
            }
            // Radius, size of the force (0 if it may be rounding), slope of the potential.
            let mut seen: Vec<[f64; 3]> = Vec::new();
            for r in [1e-3, 3e-3, 1e-2, 3e-2, 1e-1] {
                let Some(there) = self.reduced(base, w, &c, r * self.fine) else { continue };
                let felt = |x: f64| if x.abs() > there.noise { x } else { 0.0 };
                seen.push([r, felt(max_abs(&there.force)), felt(dot(&there.force, &c))]);
                if seen.len() == 3 {
                    break;
                }
            }
            ring.tried += 1;
            if seen.len() < 3 {
                continue;
            }
            let all = |what: &dyn Fn(&[f64; 3]) -> bool| seen.iter().all(what);
            // A force of higher order than the first falls faster than the radius; what does not is rounding of another kind.
            let is_force =
                all(&|s| s[1] > 0.0) && seen.windows(2).all(|p| p[1][1] / p[0][1] >= (p[1][0] / p[0][0]).powf(1.2));
            if all(&|s| s[1] == 0.0) {
                ring.flat += 1;
                let along = |i: usize| (0..w.len()).map(|j| c[j] * w[j][i]).sum();
                ring.flat_direction.get_or_insert_with(|| (0..base.q.len()).map(along).collect());
            }
            if is_force {
                let (up, down) = (all(&|s| s[2] > 0.0), all(&|s| s[2] < 0.0));
                ring.rising += usize::from(up);
                ring.falling += usize::from(down);
                ring.across += usize::from(!up && !down);
            }
        }
        ring.doubtful = w.len() > 1 && ring.has_force() && self.has_lull(base, w);
        ring
    }

    /// Whether the reduced force nearly vanishes in some direction between those tried, by a random search downhill.
    fn has_lull(&mut self, base: Base, w: &[Vec<f64>]) -> bool {
        let mut size = |c: &[f64]| -> f64 {
            let there = self.reduced(base, w, c, 1e-2 * self.fine);
            there.map_or(f64::INFINITY, |there| max_abs(&there.force))
        };
        let mut seen: Vec<(f64, Vec<f64>)> = directions(w.len()).into_iter().map(|c| (size(&c), c)).collect();
        seen.retain(|s| s.0.is_finite());
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        let largest = seen.last().map_or(0.0, |s| s.0);
        let mut dice = Dice::new(29);
        seen.into_iter().take(4).any(|(mut least, mut c)| {
            let mut step = 0.2;
            for _ in 0..300 {
                let mut trial: Vec<f64> = c.iter().map(|c| c + step * dice.between(-1.0, 1.0)).collect();
                let norm = dot(&trial, &trial).sqrt();
                trial.iter_mut().for_each(|x| *x /= norm);
                let there = size(&trial);
                match there < least {
                    true => (least, c) = (there, trial),
                    false => step *= 0.93,
                }
            }
            least <= 1e-4 * largest
        })
    }

    /// Whether a direction without force stays one far away. An analytic force that is zero on a piece of a curve is zero on
    /// all of it; one that only decays is met again on the way back.
    pub fn is_family(&mut self, base: Base, w: &[Vec<f64>]) -> bool {
        if !self.analytic {
            return true;
        }
        // Without a force all around: without one anywhere, such as where the model starts.
        if base.lambda.is_empty() && w.len() == base.q.len() {
            let points = self.starts(12, &mut Dice::new(5));
            return points.iter().all(|q| {
                let at = self.equations(&[], q, &[]);
                at.is_none_or(|at| at.residual.iter().zip(&at.noise).all(|(r, noise)| r.abs() <= *noise))
            });
        }
        for k in 0..w.len().min(3) {
            for sign in [1.0, -1.0] {
                let c: Vec<f64> = (0..w.len()).map(|j| if j == k { sign } else { 0.0 }).collect();
                if !self.walk(base, w, &c) {
                    return false;
                }
            }
        }
        true
    }

    fn walk(&mut self, base: Base, w: &[Vec<f64>], c: &[f64]) -> bool {
        let (mut q, mut lambda) = (base.q.to_vec(), base.lambda.to_vec());
        let (mut w, mut c) = (w.to_vec(), c.to_vec());
        let (mut step, mut gone) = (0.05 * self.fine, 0.0);
        for _ in 0..60 {
            let here = Base { set: base.set, q: &q, lambda: &lambda };
            let Some(there) = self.reduced(here, &w, &c, step) else {
                step *= 0.25;
                if step < 1e-3 * self.fine {
                    return true;
                }
                continue;
            };
            if max_abs(&there.force) > 20.0 * there.noise {
                return false;
            }
            let moved: Vec<f64> = there.q.iter().zip(&q).map(|(a, b)| a - b).collect();
            (q, lambda) = (there.q, there.lambda);
            gone += step;
            if gone > 50.0 * self.scale {
                return true;
            }
            let Some(next) = self.null_directions(base.set, &q, &lambda) else { return true };
            if next.len() < w.len() {
                return false;
            }
            let along: Vec<f64> = next.iter().map(|w| dot(w, &moved)).collect();
            let size = dot(&along, &along).sqrt();
            // A curve that turns is followed with short steps.
            step *= if size > 0.99 * dot(&moved, &moved).sqrt() { 1.4 } else { 0.7 };
            step = step.max(0.01 * self.fine);
            if !(size > 0.0) {
                return true;
            }
            c = along.iter().map(|a| a / size).collect();
            w = next;
        }
        true
    }
}

/// Unit vectors in k dimensions.
fn directions(k: usize) -> Vec<Vec<f64>> {
    match k {
        0 => Vec::new(),
        1 => vec![vec![1.0], vec![-1.0]],
        2 => {
            (0..48).map(|j| (f64::from(j) * std::f64::consts::TAU / 48.0).sin_cos()).map(|(s, c)| vec![c, s]).collect()
        }
        _ => {
            let mut all: Vec<Vec<f64>> = Vec::new();
            for i in 0..k.min(20) {
                for sign in [1.0, -1.0] {
                    all.push((0..k).map(|j| if i == j { sign } else { 0.0 }).collect());
                }
            }
            let mut dice = Dice::new(3);
            while all.len() < 120 {
                let x: Vec<f64> = (0..k).map(|_| dice.between(-1.0, 1.0)).collect();
                let size = dot(&x, &x).sqrt();
                if size > 0.1 && size <= 1.0 || k > 6 {
                    all.push(x.iter().map(|x| x / size.max(1e-3)).collect());
                }
            }
            all
        }
    }
}
