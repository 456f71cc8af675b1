//! Natural modes K φ = ω² M φ, and a structure in their coordinates.
//!
//! A few of many: subspace iteration (Bathe & Wilson 1972) with K factored once; all or most of few: a dense decomposition.

use super::linear::Linear;
use crate::SetupError;
use crate::linalg::{Factor, NotPositiveDefinite, Rows, Symmetric, add, dot, generalized_eigen};

/// The largest system that is decomposed densely.
const DENSE: usize = 800;

/// Natural modes, the lowest first.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    /// ω².
    pub squares: Vec<f64>,
    /// φ with φᵀ M φ = 1.
    pub shapes: Vec<Vec<f64>>,
}

impl Modes {
    /// The lowest `count` modes of a system without massless degrees of freedom.
    pub fn new(mass: &Symmetric, stiffness: &Symmetric, count: usize) -> Result<Self, SetupError> {
        let n = mass.dimension();
        let count = count.min(n);
        let mut modes = match n <= 40 || (n <= DENSE && 3 * count > n) {
            true => dense(mass, stiffness, count)?,
            false if 3 * count > n => {
                return Err(SetupError::new(format!(
                    "{count} modes of {n} degrees of freedom are too many to compute"
                ))
                .help(format!("take at most {}, or work with the degrees of freedom themselves", n / 3)));
            }
            false => subspace(mass, stiffness, count)?,
        };
        // What is zero to rounding is a rigid-body mode.
        let largest = modes.squares.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let stiffest = (0..n).map(|i| ratio(stiffness.at(i, i), mass.at(i, i))).fold(largest, f64::max);
        for square in &mut modes.squares {
            if square.abs() <= 1e-11 * stiffest.min(1e6 * largest) {
                *square = 0.0;
            }
        }
        if let Some(k) = modes.squares.iter().position(|&x| !(x >= 0.0)) {
            return Err(SetupError::new(format!(
                "the stiffness matrix is indefinite: mode {} has ω² = {:.3e}",
                k + 1,
                modes.squares[k]
            )));
        }
        Ok(modes)
    }

    /// Number of modes.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// Angular frequencies.
    pub fn frequencies(&self) -> Vec<f64> {
        self.squares.iter().map(|x| x.max(0.0).sqrt()).collect()
    }

    /// A system in these coordinates; `damping` gives C's diagonal from the number of a mode and its ω.
    pub fn reduce(&self, full: &Linear, damping: &dyn Fn(usize, f64) -> f64) -> Linear {
        let m = self.len();
        let damped: Vec<f64> = self.frequencies().iter().enumerate().map(|(k, &w)| damping(k, w)).collect();
        let onto = |rows: &Rows| {
            let mut out = Rows::new();
            for i in 0..rows.len() {
                out.push(self.shapes.iter().map(|phi| rows.dot(i, phi)).enumerate());
            }
            out
        };
        let mut weighted = vec![0.0; full.dimension()];
        let mut share = |x: &[f64]| {
            full.mass.multiply(x, &mut weighted);
            self.shapes.iter().map(|phi| dot(phi, &weighted)).collect::<Vec<f64>>()
        };
        Linear {
            mass: Symmetric::diagonal(&vec![1.0; m]),
            damping: damped.iter().any(|&c| c != 0.0).then(|| Symmetric::diagonal(&damped)),
            stiffness: Symmetric::diagonal(&self.squares),
            loads: onto(&full.loads),
            stops: onto(&full.stops),
            points: onto(&full.points),
            outline: onto(&full.outline),
            q0: share(&full.q0),
            v0: share(&full.v0),
        }
    }
}

fn ratio(k: f64, m: f64) -> f64 {
    if m > 0.0 { k / m } else { 0.0 }
}

fn massless(_: NotPositiveDefinite) -> SetupError {
    SetupError::new("the mass matrix is not positive definite, so there are no modes")
        .help("massless degrees of freedom must be condensed first, others need a mass")
}

fn dense(mass: &Symmetric, stiffness: &Symmetric, count: usize) -> Result<Modes, SetupError> {
    let n = mass.dimension();
    let full = |matrix: &Symmetric| {
        let mut entries = vec![0.0; n * n];
        matrix.entries().for_each(|(i, j, x)| entries[i * n + j] = x);
        entries
    };
    let pairs = generalized_eigen(n, &full(stiffness), &full(mass)).map_err(massless)?;
    let (squares, shapes) = pairs.into_iter().take(count).unzip();
    Ok(Modes { squares, shapes })
}

/// The lowest modes by inverse iteration of a subspace. The projected K is Yᵀ(M X) with Y = K⁻¹ M X: no product with K, whose
/// entries cancel where a mesh is fine. The factor goes through the degrees of freedom from the last to the first: for the
/// differences of [V] (3.9) it is then made of whole numbers.
fn subspace(mass: &Symmetric, stiffness: &Symmetric, count: usize) -> Result<Modes, SetupError> {
    let n = mass.dimension();
    let size = (2 * count).min(count + 12).min(n);
    let order: Vec<usize> = (0..n).rev().collect();
    let reversed = stiffness.reordered(&order);
    let mean = |a: &Symmetric| (0..n).map(|i| a.at(i, i)).sum::<f64>();
    // Free structures: K + σM, far below the first elastic mode and far above rounding.
    let mut shift = 0.0;
    let mut factor: Option<Factor> = reversed.factor().ok();
    let weak = factor.is_none();
    if weak {
        shift = 1e-7 * mean(stiffness) / mean(mass) / n as f64;
        let shifted = Symmetric::combine(&[(1.0, &reversed), (shift, &mass.reordered(&order))]);
        factor = Some(shifted.factor().map_err(|e| {
            SetupError::new(format!("the stiffness matrix is indefinite (pivot {})", n - e.pivot))
                .help("a stiffness matrix has no negative eigenvalue; check the boundary conditions and the file")
        })?);
    }
    let Some(factor) = factor else { return Err(SetupError::new("the stiffness matrix cannot be factored")) };
    let mut dice = crate::analysis::Dice::new(7);
    let mut x: Vec<Vec<f64>> = (0..size).map(|_| (0..n).map(|_| dice.between(-0.5, 0.5)).collect()).collect();
    let mut mx = vec![vec![0.0; n]; size];
    let mut before = vec![0.0; count];
    let mut modes = Modes::default();
    for round in 0..200 {
        let mut y = Vec::with_capacity(size);
        for k in 0..size {
            mass.multiply(&x[k], &mut mx[k]);
            let mut z: Vec<f64> = mx[k].iter().rev().copied().collect();
            factor.solve(&mut z);
            z.reverse();
            y.push(z);
        }
        let (mut kk, mut mm) = (vec![0.0; size * size], vec![0.0; size * size]);
        let mut my = vec![0.0; n];
        for a in 0..size {
            mass.multiply(&y[a], &mut my);
            for b in 0..=a {
                let (k, m) = (dot(&y[a], &mx[b]), dot(&y[b], &my));
                (kk[a * size + b], kk[b * size + a]) = (k, k);
                (mm[a * size + b], mm[b * size + a]) = (m, m);
            }
        }
        // Scale to a unit diagonal: vectors of very different modes have very different lengths.
        let scale: Vec<f64> = (0..size).map(|a| 1.0 / mm[a * size + a].sqrt()).collect();
        for a in 0..size {
            for b in 0..size {
                kk[a * size + b] *= scale[a] * scale[b];
                mm[a * size + b] *= scale[a] * scale[b];
            }
        }
        let pairs = generalized_eigen(size, &kk, &mm).map_err(massless)?;
        for (k, (_, z)) in pairs.iter().enumerate() {
            x[k].fill(0.0);
            for (a, part) in z.iter().enumerate() {
                add(&mut x[k], part * scale[a], &y[a]);
            }
        }
        let now: Vec<f64> = pairs.iter().take(count).map(|p| p.0).collect();
        let settled = now.iter().zip(&before).all(|(a, b)| (a - b).abs() <= 1e-13 * a.abs());
        before = now;
        if (settled && round > 2) || round == 199 {
            modes.squares = before.iter().map(|x| x - shift).collect();
            modes.shapes = x.drain(..count).collect();
            break;
        }
    }
    Ok(modes)
}
