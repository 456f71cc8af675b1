//! Unilateral contact with Coulomb's friction, joints and dry friction: W = D P + b with a law between P and W in each block.
//!
//! D is the Delassus matrix of the rows that act (normals, tangents, joints, sliders), P their impulses or forces, W their
//! velocities (with restitution) or accelerations. The disk of friction in space is a circle, not a polygon.
//!
//! Methods, in the order in which they are tried:
//! 1. one block is solved directly (in space a trigonometric polynomial of degree two for the direction of slip);
//! 2. the statuses of the start values, then of a few sweeps of nonsmooth Gauss–Seidel, corrected by Newton's method
//!    for the statuses (the semismooth method of Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92, 1991);
//! 3. the path of solutions from where all contacts are open (the argument of Lemke's method), which arrives if D is
//!    positive definite.
//!
//! Whatever the method, the last digits come from Newton's method for the statuses found, and all inequalities are checked.
//!
//! **Existence.** For D symmetric positive definite there is a solution for every b; for large μ there may be several, of
//! which one is given. If D is only semidefinite (more contacts than degrees of freedom) there is one if b belongs to
//! velocities that the contacts allow; W is what matters then, and P is one of many.
//!
//! **Painlevé.** With a sliding contact in accelerations the normal's column is D_NN − μσ D_NT, and D is not symmetric. One
//! contact, 0 ≤ W = D P + b ⊥ P ≥ 0, has exactly one solution if D > 0. If D < 0 it has none for b < 0
//! ([`Why::NoneExists`]) and two for b > 0, P = 0 and P = −b/D ([`Why::Several`]). If D = 0 it has none for b < 0, and P = 0
//! else. Several blocks in the plane whose D has no positive definite symmetric part are decided by trying all combinations of
//! statuses, if these are at most 5000; solutions with the same W count as one. For others [`Why::NoneExists`] means
//! that all paths (method 3) go to infinity, which is no proof, and whether there are several is not examined.

mod census;
mod frame;
mod local;
mod newton;
mod path;
mod pivot;

use census::{Census, Found};
use frame::Frame;
use newton::Newton;
use path::{End, Path};

/// What one block of unknowns obeys; blocks lie one behind the other in P and W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// A joint: W = 0, P free.
    Joint,
    /// 0 ≤ W ⊥ P ≥ 0.
    Unilateral,
    /// Normal, then one or two tangents: 0 ≤ W_N ⊥ P_N ≥ 0, |P_T| ≤ μ P_N, and P_T = −μ P_N W_T/|W_T| where W_T ≠ 0.
    Coulomb {
        /// Coefficient of friction, finite and not negative.
        mu: f64,
        /// One in the plane, two in space.
        tangents: usize,
    },
    /// Dry friction of known limit: |P| ≤ limit, and P = −limit sign W where W ≠ 0.
    Dry {
        /// The limit, finite and not negative.
        limit: f64,
    },
}

impl Law {
    /// The number of unknowns of a block.
    pub fn unknowns(self) -> usize {
        match self {
            Law::Coulomb { tangents, .. } => 1 + tangents,
            _ => 1,
        }
    }
}

/// What a block does in a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// A contact that exerts nothing.
    Open,
    /// W = 0: a joint, a contact without friction that pushes, friction that holds.
    Stick,
    /// Slip in a direction (a unit vector; in the plane and for dry friction its first component is ±1).
    Slip([f64; 2]),
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The laws contradict each other: contradictory joints, or Painlevé's case without a solution.
    NoneExists,
    /// More than one motion obeys the laws (Painlevé).
    Several,
    /// All methods ended without a solution at rounding level.
    NotConverged,
}

/// No solution was found, or no single one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoSolution {
    /// The reason.
    pub kind: Why,
    /// Index of the law to blame.
    pub block: usize,
    /// Relative residual of the best attempt.
    pub residual: f64,
}

impl std::fmt::Display for NoSolution {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.kind {
            Why::NoneExists => write!(f, "contact, friction and joints contradict each other (block {})", self.block),
            Why::Several => write!(f, "contact and friction allow several motions (block {})", self.block),
            Why::NotConverged => {
                write!(f, "contact and friction: no convergence (block {}, residual {:.1e})", self.block, self.residual)
            }
        }
    }
}

impl std::error::Error for NoSolution {}

/// A residual at rounding level.
const GOOD: f64 = 1e-13;
/// A residual that b with rounding in it often leaves in redundant rows, with which the search ends.
const NEARLY: f64 = 1e-12;
/// The largest residual accepted, if nothing better is found.
const CONSISTENT: f64 = 1e-9;
/// The largest P, relative to b, in scaled unknowns: more is the inverse of rounding.
const LARGEST: f64 = 1e14;
/// Pivots below these count as zero, one after the other.
const TINY: [f64; 4] = [1e-13, 1e-14, 1e-15, 0.0];

/// The solver with its buffers; nothing is allocated in a call for as many unknowns as it was made for.
///
/// ```
/// use saltus::contact::{Coulomb, Law, Status};
/// // A block of mass 1 with μ = 0.3 lands at 2 m/s with 1 m/s along the floor: it slides on at 0.4 m/s.
/// let mut solver = Coulomb::new(2);
/// let (law, mut p) = (Law::Coulomb { mu: 0.3, tangents: 1 }, [0.0; 2]);
/// let residual = solver.solve(&[1.0, 0.0, 0.0, 1.0], &[-2.0, 1.0], &[law], &mut p).unwrap();
/// assert!(residual < 1e-15);
/// assert_eq!(p, [2.0, -0.6]);
/// assert_eq!(solver.w(), [0.0, 0.4]);
/// assert_eq!(solver.status(0), Status::Slip([1.0, 0.0]));
/// ```
#[derive(Clone, Debug)]
pub struct Coulomb {
    frame: Frame,
    newton: Newton,
    path: Path,
    census: Census,
    w: Vec<f64>,
    n: usize,
    status: Vec<Status>,
}

impl Coulomb {
    /// Buffers for up to `unknowns` unknowns; larger problems make them grow.
    pub fn new(unknowns: usize) -> Self {
        let mut solver = Coulomb {
            frame: Frame::default(),
            newton: Newton::default(),
            path: Path::default(),
            census: Census::default(),
            w: Vec::new(),
            n: 0,
            status: Vec::new(),
        };
        solver.reserve(unknowns);
        solver
    }

    fn reserve(&mut self, n: usize) {
        if self.w.len() < n {
            self.frame.reserve(n);
            self.newton.reserve(n);
            self.path.reserve(n);
            self.census.reserve(n);
            self.w.resize(n, 0.0);
            self.status.reserve(n);
        }
    }

    /// Solves W = D P + b with the laws, D by rows; starts from what `p` holds and returns the relative residual
    /// reached: the largest violation of a law, relative to the size |D||P| + |b| of the terms of that W.
    ///
    /// It is at rounding level (below 10⁻¹³) except where redundant joints or contacts contradict each other by a little,
    /// up to 10⁻⁹. On failure `p` is what the caller gave.
    pub fn solve(&mut self, d: &[f64], b: &[f64], laws: &[Law], p: &mut [f64]) -> Result<f64, NoSolution> {
        let n = b.len();
        self.reserve(n);
        self.n = n;
        self.frame.set(d, b, laws, p);
        let outcome = if b.iter().chain(d).all(|x| x.is_finite()) {
            self.search(p)
        } else {
            Err(NoSolution { kind: Why::NotConverged, block: 0, residual: f64::INFINITY })
        };
        let frame = &self.frame;
        if outcome.is_ok() {
            (0..n).for_each(|i| p[i] = frame.p[i] * frame.scale[i]);
        }
        (0..n).for_each(|i| self.w[i] = frame.w[i] / frame.scale[i]);
        // What has no block of its own is friction that exerts nothing: it is open.
        self.status.clear();
        let mut at = 0;
        for &law in laws {
            self.status.push(match law {
                Law::Dry { .. } => frame::disk([-self.w[at], 0.0], 0.0),
                _ => Status::Open,
            });
            at += law.unknowns();
        }
        for (block, &status) in frame.blocks.iter().zip(&frame.status) {
            self.status[block.law] = status;
        }
        outcome
    }

    /// W at the solution.
    pub fn w(&self) -> &[f64] {
        &self.w[..self.n]
    }

    /// What a block does at the solution. A contact with μ = 0 that pushes is [`Status::Stick`], whatever its tangents do.
    pub fn status(&self, block: usize) -> Status {
        self.status[block]
    }

    fn search(&mut self, p: &[f64]) -> Result<f64, NoSolution> {
        let Coulomb { frame, newton, path, census, .. } = self;
        frame.eval();
        frame.guess();
        if !frame.symmetric && !definite(frame, newton) {
            return count(frame, newton, census).unwrap_or_else(|| generic(frame, newton, path, p));
        }
        if frame.blocks.len() == 1 {
            frame.p[..frame.n].fill(0.0);
            frame.eval();
            if local::relax(frame, 0) {
                frame.eval();
                let r = frame.residual().0;
                if r <= GOOD {
                    return Ok(r);
                }
            }
        }
        generic(frame, newton, path, p)
    }
}

/// Settles the statuses of the frame. Gives the residual if that is as small as it can be, and keeps the best of all attempts.
///
/// Which pivots count as zero is not known beforehand: those of redundant rows are rounding, those of very different masses
/// may be as small and still matter. The residual tells them apart. P beyond `limit` times b is no solution: rows that
/// contradict each other have a residual that is small only beside the P they would need.
fn attempt(frame: &mut Frame, newton: &mut Newton, limit: f64) -> Option<f64> {
    let mut redundant = false;
    for tiny in TINY {
        let r = newton.settle(frame, tiny);
        if !r.is_finite() {
            break;
        }
        if frame.reach() > limit {
            continue;
        }
        if r <= GOOD {
            return Some(r);
        }
        redundant |= !newton.regular;
        newton.keep(frame, r);
    }
    (redundant && newton.kept_residual() <= NEARLY).then(|| newton.restore(frame))
}

/// Methods 2 and 3.
fn generic(frame: &mut Frame, newton: &mut Newton, path: &mut Path, p: &[f64]) -> Result<f64, NoSolution> {
    newton.forget();
    let warm = p.iter().any(|&p| p != 0.0);
    if (warm || frame.joints)
        && let Some(r) = attempt(frame, newton, LARGEST)
    {
        return Ok(r);
    }
    if !frame.joints {
        frame.p[..frame.n].fill(0.0);
        frame.eval();
        frame.guess();
        for sweeps in [10, 40] {
            local::sweep(frame, sweeps);
            if let Some(r) = attempt(frame, newton, LARGEST) {
                return Ok(r);
            }
        }
    }
    let mut end = End::Lost;
    let (mut beyond, mut culprit, mut rays) = (0, None, true);
    // Finer polygons, other shifts, other directions.
    for (corners, shift) in [(8, 1e-10), (32, 1e-12), (16, 1e-8), (64, 1e-14), (128, 1e-11), (512, 0.0), (2048, 1e-12)]
    {
        end = path.follow(frame, &mut newton.pivot, corners, shift, corners as u64);
        if end == End::Arrived {
            // What the shift takes from W must be small beside b: where no P exists, it takes what cannot be met.
            let limit = LARGEST.min(1e-3 / shift);
            if frame.reach() > limit {
                beyond += 1;
                let size = |at: usize| frame.p[at].abs();
                culprit = frame.blocks.iter().max_by(|a, b| size(a.at).total_cmp(&size(b.at))).map(|block| block.law);
            }
            if let Some(r) = attempt(frame, newton, limit) {
                return Ok(r);
            }
        }
        rays &= matches!(end, End::Ray { .. });
    }
    let residual = newton.kept_residual();
    if residual <= CONSISTENT {
        return Ok(newton.restore(frame));
    }
    let (mut block, certain) = blame(frame, newton, end);
    // Where no P exists, the law that would need the largest one.
    if let (Some(law), false) = (culprit, certain) {
        block = law;
    }
    // For every shift P was what the shift allows, or no path ended.
    let none = certain || beyond >= 4 || (rays && !frame.symmetric);
    Err(NoSolution { kind: if none { Why::NoneExists } else { Why::NotConverged }, block, residual })
}

/// All solutions of a small problem with a D that is not definite; None if there are too many combinations.
fn count(frame: &mut Frame, newton: &mut Newton, census: &mut Census) -> Option<Result<f64, NoSolution>> {
    if !Census::feasible(frame) {
        return None;
    }
    Some(match census.take(frame, newton) {
        Found::One => Ok(frame.residual().0),
        Found::Several { law } => Err(NoSolution { kind: Why::Several, block: law, residual: 0.0 }),
        Found::Nothing => {
            let (block, _) = blame(frame, newton, End::Lost);
            Err(NoSolution { kind: Why::NoneExists, block, residual: f64::INFINITY })
        }
    })
}

/// Whether D + Dᵀ is positive definite: then contacts without friction have exactly one solution.
fn definite(frame: &Frame, newton: &mut Newton) -> bool {
    let (n, a) = (frame.n, &mut newton.pivot.a);
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = 0.5 * (frame.d[i * n + j] + frame.d[j * n + i]);
        }
    }
    for k in 0..n {
        if !(a[k * n + k] > 1e-13) {
            return false;
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k + 1..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    true
}

/// The law to blame, and whether it is a joint that contradicts the others.
fn blame(frame: &mut Frame, newton: &mut Newton, end: End) -> (usize, bool) {
    // Joints alone.
    frame.p[..frame.n].fill(0.0);
    frame.status.clear();
    for block in &frame.blocks {
        frame.status.push(if block.kind == frame::Kind::Joint { Status::Stick } else { Status::Open });
    }
    frame.eval();
    for _ in 0..3 {
        newton.step(frame, TINY[0]);
        frame.eval();
    }
    let mut worst = (CONSISTENT, None);
    for block in frame.blocks.iter().filter(|block| block.kind == frame::Kind::Joint) {
        let r = frame.w[block.at].abs() / frame.size[block.at].max(f64::MIN_POSITIVE);
        if r > worst.0 {
            worst = (r, Some(block.law));
        }
    }
    match (worst.1, end) {
        (Some(law), _) => (law, true),
        (None, End::Ray { law }) => (law, false),
        (None, _) => {
            // The contact that is pushed most.
            let pushed = |at: usize| frame.w[at] / frame.size[at].max(f64::MIN_POSITIVE);
            let law = frame
                .blocks
                .iter()
                .filter(|block| block.kind != frame::Kind::Joint)
                .min_by(|a, b| pushed(a.at).total_cmp(&pushed(b.at)))
                .map_or(0, |block| block.law);
            (law, false)
        }
    }
}
