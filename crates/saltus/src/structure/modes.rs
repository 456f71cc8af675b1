//! Natural modes K φ = ω² M φ, and a structure in their coordinates.
//!
//! A few of many: block Lanczos (`lanczos`) with K factored once; all or most of few: a dense decomposition. A K with a
//! narrow band (a beam, a bar, a building) is factored in twofold precision: the low modes of a fine mesh keep their digits.

use super::lanczos::largest;
use super::linear::Linear;
use super::part::Row;
use crate::SetupError;
use crate::linalg::{
    Factor, NotPositiveDefinite, Rows, Symmetric, TwofoldFactor, WIDEST, dot, each_column, generalized_eigen,
};

/// The largest system that is decomposed densely.
const DENSE: usize = 800;

/// The most modes that can be computed of so many degrees of freedom.
pub(super) fn most(n: usize) -> usize {
    if n <= DENSE { n } else { n / 3 }
}

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
        Self::with_factor(mass, stiffness, count, None)
    }

    /// The same with a factor of the stiffness, where there is one already.
    pub(super) fn with_factor(
        mass: &Symmetric,
        stiffness: &Symmetric,
        count: usize,
        factor: Option<Factor>,
    ) -> Result<Self, SetupError> {
        let n = mass.dimension();
        let count = count.min(n);
        if n == 0 {
            return Err(SetupError::new("no degree of freedom has a mass").help("a structure needs some inertia"));
        }
        let modes = match n <= 40 || (n <= DENSE && 3 * count > n) {
            true => dense(mass, stiffness, count)?,
            false if 3 * count > n => {
                return Err(SetupError::new(format!(
                    "{count} modes of {n} degrees of freedom are too many to compute"
                ))
                .help(format!("take at most {}, or work with the degrees of freedom themselves", n / 3)));
            }
            false => krylov(mass, stiffness, count, factor)?,
        };
        if let Some(k) = modes.squares.iter().position(|&x| !(x >= 0.0)) {
            return Err(SetupError::new(format!(
                "the stiffness matrix is indefinite: mode {} has ω² = {:.3e}",
                k + 1,
                modes.squares[k]
            )));
        }
        Ok(modes)
    }

    /// The lowest of them.
    pub(super) fn first(&self, count: usize) -> Self {
        let count = count.min(self.len());
        Modes { squares: self.squares[..count].to_vec(), shapes: self.shapes[..count].to_vec() }
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

    /// A diagonal damping matrix from the number of a mode and its ω; none where it is zero.
    pub(super) fn damped(&self, damping: impl Fn(usize, f64) -> f64) -> Option<Symmetric> {
        let damped: Vec<f64> = self.frequencies().iter().enumerate().map(|(k, &w)| damping(k, w)).collect();
        damped.iter().any(|&c| c != 0.0).then(|| Symmetric::diagonal(&damped))
    }

    /// A system in these coordinates, with the symmetric part of C in them.
    pub fn reduce(&self, full: &Linear, damping: Option<Symmetric>) -> Linear {
        let m = self.len();
        let row = |rows: &Rows, i: usize| self.shapes.iter().map(|phi| rows.dot(i, phi)).enumerate().collect::<Row>();
        let onto = |rows: &Rows| (0..rows.len()).map(|i| row(rows, i)).collect();
        let mut weighted = vec![0.0; full.dimension()];
        let mut share = |x: &[f64]| {
            full.mass.multiply(x, &mut weighted);
            self.shapes.iter().map(|phi| dot(phi, &weighted)).collect::<Vec<f64>>()
        };
        Linear {
            mass: Symmetric::diagonal(&vec![1.0; m]),
            damping,
            gyroscopic: super::skew::projected(&full.gyroscopic, self),
            circulatory: super::skew::projected(&full.circulatory, self),
            stiffness: Symmetric::diagonal(&self.squares),
            loads: onto(&full.loads),
            stops: onto(&full.stops),
            holes: full.holes.clone(),
            points: onto(&full.points),
            shears: full.shears.iter().map(|(p, r)| (*p, share(r))).collect(),
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
    let stiffest = pairs.last().map_or(0.0, |p| p.0);
    // A K that factors holds everything: no mode is rigid. Otherwise what is zero to rounding is.
    let zero = match Solver::held(stiffness).is_some() {
        true => 0.0,
        false => 1e-13 * n as f64 * stiffest,
    };
    let pairs = pairs.into_iter().take(count).map(|(x, phi)| (if x.abs() <= zero { 0.0 } else { x }, phi));
    let (squares, shapes): (Vec<f64>, Vec<Vec<f64>>) = pairs.unzip();
    let mut modes = Modes { squares, shapes };
    // Rounding is that of the stiffest mode: the low ones are found again by themselves.
    let mut low = (n / 4).min(count);
    // (Not within a repeated frequency: the vectors of both would not be orthogonal.)
    let is_apart = |k: usize| k == count || modes.squares[k] > (1.0 + 1e-6) * modes.squares[k - 1];
    while low > 0 && !is_apart(low) {
        low -= 1;
    }
    if n > 40 && low > 0 {
        let better = krylov(mass, stiffness, low, None)?;
        let rounding = 1e-12 * n as f64 * stiffest;
        let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b + rounding;
        if better.squares.iter().zip(&modes.squares).all(is_same) {
            modes.squares[..low].copy_from_slice(&better.squares);
            better.shapes.into_iter().enumerate().for_each(|(k, phi)| modes.shapes[k] = phi);
        }
    }
    Ok(modes)
}

/// The lowest modes by block Lanczos with K⁻¹M: its largest eigenvalues are 1/ω².
fn krylov(mass: &Symmetric, stiffness: &Symmetric, count: usize, factor: Option<Factor>) -> Result<Modes, SetupError> {
    let n = mass.dimension();
    let known = factor.map(Solver::Single).filter(|solver| solver.is_sound(stiffness));
    let (solver, shift) = match known {
        Some(solver) => (solver, 0.0),
        None => Solver::new(mass, stiffness)?,
    };
    let stiffest = (0..n).map(|i| ratio(stiffness.at(i, i), mass.at(i, i))).fold(0.0, f64::max);
    let mut column = Vec::new();
    let ritz = largest(mass, count, |w| match &solver {
        Solver::Single(factor) => factor.solve_block(w, &mut column),
        Solver::Twofold(factor) => each_column(w, &mut column, |x| factor.solve(x)),
    });
    // Of 1/ω² the low modes have all digits, of φᵀKφ the high ones.
    let lowest = 1.0 / ritz.values.first().copied().unwrap_or(1.0);
    let square = |(inverse, phi): (&f64, &Vec<f64>)| match 1.0 / inverse - shift {
        // Far below the shift there is only rounding: a rigid-body mode.
        x if x.abs() <= 1e-6 * shift => 0.0,
        x if x * x > lowest * stiffest => stiffness.form(phi, phi),
        x => x,
    };
    let squares = ritz.values.iter().zip(&ritz.vectors).map(square).collect();
    Ok(Modes { squares, shapes: ritz.vectors })
}

/// K⁻¹, or (K + σM)⁻¹ where K lets rigid bodies move.
enum Solver {
    Single(Factor),
    Twofold(TwofoldFactor),
}

impl Solver {
    fn factor(terms: &[(f64, &Symmetric)]) -> Result<Self, NotPositiveDefinite> {
        match terms.iter().all(|(_, a)| a.half_bandwidth() <= WIDEST) {
            true => TwofoldFactor::new(terms).map(Solver::Twofold),
            false => Symmetric::combine(terms).factor().map(Solver::Single),
        }
    }

    /// The factor of a K that holds everything. A pivot that is only rounding is none.
    fn held(stiffness: &Symmetric) -> Option<Self> {
        Self::factor(&[(1.0, stiffness)]).ok().filter(|solver| solver.is_sound(stiffness))
    }

    /// Whether no pivot is only rounding.
    fn is_sound(&self, stiffness: &Symmetric) -> bool {
        let least = if is_exact(stiffness) { 1e-27 } else { 1e-11 };
        let sound = |i: usize, pivot: f64| pivot > least * stiffness.at(i, i);
        match self {
            Solver::Single(f) => f.inverse_pivots().iter().enumerate().all(|(i, inverse)| sound(i, 1.0 / inverse)),
            Solver::Twofold(f) => f.pivots().enumerate().all(|(i, pivot)| sound(i, pivot)),
        }
    }

    fn new(mass: &Symmetric, stiffness: &Symmetric) -> Result<(Self, f64), SetupError> {
        if let Some(solver) = Self::held(stiffness) {
            return Ok((solver, 0.0));
        }
        let n = mass.dimension();
        let trace = |a: &Symmetric| (0..n).map(|i| a.at(i, i)).sum::<f64>();
        // Far below the first elastic mode, far above rounding; of a free beam the first mode is about 190/n⁴ of this ratio.
        let below = match is_exact(stiffness) && (2..=3).contains(&stiffness.half_bandwidth()) {
            true => (10.0 / (n as f64).powi(4)).clamp(1e-24, 1e-8),
            false => 1e-8,
        };
        let shift = match below * trace(stiffness) / trace(mass) {
            x if x > 0.0 => x,
            _ => 1.0,
        };
        let solver = Self::factor(&[(1.0, stiffness), (shift, mass)]).map_err(|e| {
            SetupError::new(format!("the stiffness matrix is indefinite (degree of freedom {})", e.pivot + 1))
                .help("a stiffness matrix has no negative eigenvalue; check the boundary conditions and the file")
        })?;
        Ok((solver, shift))
    }
}

/// Whether the entries of each row are whole multiples of one number, as those of the builders are: nothing was rounded when
/// they were added up, and what cancels in a factorisation cancels exactly.
pub(super) fn is_exact(matrix: &Symmetric) -> bool {
    (0..matrix.dimension()).all(|i| {
        let entries = || matrix.row(i).map(|(_, x)| x.abs()).filter(|x| *x > 0.0);
        let least = entries().fold(f64::INFINITY, f64::min);
        (1..=12).any(|part| {
            let unit = least / part as f64;
            entries().all(|x| (x / unit).round() * unit == x && x / unit < 1e6)
        })
    })
}
