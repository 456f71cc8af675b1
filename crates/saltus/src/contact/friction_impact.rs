//! The impact law with friction, joints and restitution that never creates energy at walls at rest.
//!
//! With U = H v + c the velocities of all rows that act (c the walls' part, ∂t f), W = U⁺ + E U⁻ and U⁺ − U⁻ = D P,
//!
//! ```text
//! contact  0 ≤ W_N ⊥ P_N ≥ 0,  |P_T| ≤ μ P_N,  W_T ≠ 0 ⇒ P_T = −μ P_N W_T/|W_T|        E = e, e_T
//! joint    U⁺ = 0                                                                        E = 0
//! ```
//!
//! (Moreau 1988 with restitution of the slip). ΔT = ½ P·(U⁺ + U⁻) is the change of kinetic energy at walls at rest. For e = e_T
//!
//! ```text
//! ΔT = −(1/(1+e)) Σ μ P_N |W_T| − ½ (1−e)/(1+e) P·DP ≤ 0,
//! ```
//!
//! but for e_T ≠ e it can be positive (Kane's double pendulum). Then all e and e_T of the impact are multiplied by the largest
//! factor in [0, 1] with ΔT ≤ 0, up to rounding and the resolution of a scan (1/16); with factor 0 there is no gain. At moving
//! walls ΔT is the same expression: energy is measured with the velocities relative to the walls, since U contains their
//! motion. The work of the walls, −P·c, comes on top of it.

use super::coulomb::{Coulomb, Law, NoSolution, Status};

/// What an impact is given: `d` by rows, one entry per row in `u_before` and `walls`, one per law in the others.
#[derive(Clone, Copy, Debug)]
pub struct FrictionImpact<'a> {
    /// The Delassus matrix H M⁻¹ Hᵀ of all rows that act.
    pub d: &'a [f64],
    /// U⁻, the motion of walls included.
    pub u_before: &'a [f64],
    /// The part of U that walls bring (∂t f, and ∂t of slips and joints).
    pub walls: &'a [f64],
    /// One law for each block.
    pub laws: &'a [Law],
    /// Restitution e of each block; not used for joints and dry friction.
    pub restitution: &'a [f64],
    /// Restitution e_T of the slip of each block; used for contacts with friction.
    pub tangential: &'a [f64],
}

/// What an impact did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactOutcome {
    /// The factor by which all restitutions were multiplied; 1 unless they would have created energy.
    pub factor: f64,
    /// ΔT = ½ P·(U⁺ + U⁻), relative to the walls.
    pub energy: f64,
    /// What the walls' motion adds to the kinetic energy, −P·c: the kinetic energy changes by the sum of both.
    pub wall_work: f64,
    /// Relative residual of the laws.
    pub residual: f64,
}

/// The law of impact with friction, with its buffers.
///
/// ```
/// use saltus::contact::{FrictionImpact, FrictionImpactLaw, Law};
/// // A point mass hits a floor at 2 m/s and slides at 1 m/s; e = 0.5, μ = 0.2.
/// let mut law = FrictionImpactLaw::new(2);
/// let mut p = [0.0; 2];
/// let outcome = law.apply(&FrictionImpact {
///     d: &[1.0, 0.0, 0.0, 1.0], u_before: &[-2.0, 1.0], walls: &[0.0, 0.0],
///     laws: &[Law::Coulomb { mu: 0.2, tangents: 1 }], restitution: &[0.5], tangential: &[0.0],
/// }, &mut p).unwrap();
/// assert_eq!(p[0], 3.0);
/// assert!((law.u_after()[1] - 0.4).abs() < 1e-15);
/// assert!(outcome.factor == 1.0 && outcome.energy < 0.0);
/// ```
#[derive(Clone, Debug)]
pub struct FrictionImpactLaw {
    solver: Coulomb,
    b: Vec<f64>,
    /// E, one entry per row.
    e: Vec<f64>,
    u_after: Vec<f64>,
    status: Vec<Status>,
    trial: Vec<f64>,
    trial_u: Vec<f64>,
    trial_status: Vec<Status>,
    /// ΔT of the last solution; not positive where it is rounding.
    gains: f64,
}

/// ΔT up to this share of the terms it is made of is rounding.
const ROUNDING: f64 = 1e-14;
/// Steps of the scan for a factor with which no energy is created.
const SCAN: usize = 16;

impl FrictionImpactLaw {
    /// Buffers for up to `rows` rows; more make them grow.
    pub fn new(rows: usize) -> Self {
        let zero = vec![0.0; rows];
        FrictionImpactLaw {
            solver: Coulomb::new(rows),
            b: zero.clone(),
            e: zero.clone(),
            u_after: zero.clone(),
            status: Vec::with_capacity(rows),
            trial: zero.clone(),
            trial_u: zero,
            trial_status: Vec::with_capacity(rows),
            gains: 0.0,
        }
    }

    /// Solves the impact; `p` is where the search starts and takes the impulses. Allocates nothing once sized.
    pub fn apply(&mut self, impact: &FrictionImpact, p: &mut [f64]) -> Result<ImpactOutcome, NoSolution> {
        let n = impact.u_before.len();
        for buffer in [&mut self.b, &mut self.e, &mut self.u_after, &mut self.trial, &mut self.trial_u] {
            buffer.resize(n, 0.0);
        }
        let mut at = 0;
        for (k, &law) in impact.laws.iter().enumerate() {
            self.e[at..at + law.unknowns()].fill(0.0);
            match law {
                Law::Joint | Law::Dry { .. } => {}
                Law::Unilateral => self.e[at] = impact.restitution[k],
                Law::Coulomb { tangents, .. } => {
                    self.e[at] = impact.restitution[k];
                    self.e[at + 1..=at + tangents].fill(impact.tangential[k]);
                }
            }
            at += law.unknowns();
        }
        let mut outcome = self.with_factor(impact, 1.0, p)?;
        if self.gains > 0.0 {
            outcome = self.reduce(impact, p)?;
        }
        outcome.wall_work = -(0..n).map(|i| p[i] * impact.walls[i]).sum::<f64>();
        Ok(outcome)
    }

    /// U⁺ of the last impact.
    pub fn u_after(&self) -> &[f64] {
        &self.u_after
    }

    /// What a block did in the last impact; slip is that of W = U⁺ + E U⁻.
    pub fn status(&self, block: usize) -> Status {
        self.status[block]
    }

    /// The impact with all restitutions multiplied by a factor. What it gains is not positive where it is at rounding level.
    fn with_factor(
        &mut self,
        impact: &FrictionImpact,
        factor: f64,
        p: &mut [f64],
    ) -> Result<ImpactOutcome, NoSolution> {
        let (n, u) = (p.len(), impact.u_before);
        for i in 0..n {
            self.b[i] = (1.0 + factor * self.e[i]) * u[i];
        }
        let residual = self.solver.solve(impact.d, &self.b, impact.laws, p)?;
        self.status.clear();
        self.status.extend((0..impact.laws.len()).map(|k| self.solver.status(k)));
        let (mut energy, mut size) = (0.0, 0.0);
        for i in 0..n {
            let row = &impact.d[i * n..(i + 1) * n];
            let (mut change, mut terms) = (0.0, u[i].abs());
            for (d, p) in row.iter().zip(&*p) {
                change += d * p;
                terms += (d * p).abs();
            }
            self.u_after[i] = u[i] + change;
            energy += 0.5 * p[i] * (self.u_after[i] + u[i]);
            size += (p[i] * terms).abs();
        }
        self.gains = if energy <= (ROUNDING + residual) * size { energy.min(0.0) } else { energy };
        Ok(ImpactOutcome { factor, energy, wall_work: 0.0, residual })
    }

    /// Keeps the last solution.
    fn keep(&mut self, p: &[f64]) {
        self.trial.copy_from_slice(p);
        self.trial_u.copy_from_slice(&self.u_after);
        self.trial_status.clear();
        self.trial_status.extend_from_slice(&self.status);
    }

    /// The largest factor with ΔT ≤ 0: from above to the first point of a scan where it is, then by bisection. Where the laws
    /// have several solutions, the one that creates no energy is followed upwards.
    fn reduce(&mut self, impact: &FrictionImpact, p: &mut [f64]) -> Result<ImpactOutcome, NoSolution> {
        let mut low = None;
        for k in (0..SCAN).rev() {
            let outcome = self.with_factor(impact, k as f64 / SCAN as f64, p)?;
            if self.gains <= 0.0 {
                low = Some((outcome, self.gains));
                break;
            }
        }
        // Without restitution nothing creates energy; what is left is rounding beyond what is expected.
        let Some((mut low, mut lost)) = low else { return self.with_factor(impact, 0.0, p) };
        self.keep(p);
        let mut high = self.with_factor(impact, 1.0, p)?;
        if self.gains <= 0.0 {
            return Ok(high);
        }
        // Weights of false position, halved for the end that stays (Illinois).
        let (mut below, mut above) = (lost, self.gains);
        let mut last = 0;
        for round in 0..100 {
            let width = high.factor - low.factor;
            if width <= 2.0 * f64::EPSILON || lost == 0.0 {
                break;
            }
            let secant = low.factor + width * below / (below - above);
            let inside = secant > low.factor && secant < high.factor && round % 4 != 3;
            let factor = if inside { secant } else { low.factor + 0.5 * width };
            p.copy_from_slice(&self.trial);
            let outcome = self.with_factor(impact, factor, p)?;
            if self.gains <= 0.0 {
                (low, lost, below) = (outcome, self.gains, self.gains);
                self.keep(p);
                if last == -1 {
                    above *= 0.5;
                }
                last = -1;
            } else {
                (high, above) = (outcome, self.gains);
                if last == 1 {
                    below *= 0.5;
                }
                last = 1;
            }
        }
        // Not solved again: where a branch of solutions ends, rounding decides on which one the next solve is.
        p.copy_from_slice(&self.trial);
        self.u_after.copy_from_slice(&self.trial_u);
        self.status.copy_from_slice(&self.trial_status);
        Ok(low)
    }
}
