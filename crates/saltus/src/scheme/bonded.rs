//! Joints and friction in a step of a velocity-level scheme.
//!
//! ```text
//! joints        G (ϑ v⁺ + (1−ϑ) v⁻) + ∂t j = 0, G in the middle of the step        ν free
//! contact       W_N = U_N⁺ + e U_N⁻,  W_T = U_T⁺ + e_T U_T⁻      0 ≤ W_N ⊥ P_N ≥ 0,  |P_T| ≤ μ P_N,  W_T ≠ 0 ⇒ P_T = −μ P_N W_T/|W_T|
//! dry friction  W = U⁺                                           |P| ≤ h F,  W ≠ 0 ⇒ P = −h F sign W
//! ```
//!
//! With ϑ = 1/2 the reactions of joints do no work in a step, and a step is symmetric in time: a joint takes no energy from a motion
//! along it. A scheme that is explicit in positions takes its joints at the end of the step, ϑ = 1, from a velocity that was carried there.
//! Coefficients and limits are those of the sliding speed at v⁻; the static ones where the friction stuck in the step before,
//! or where there is no slip to speak of.
//!
//! Where a contact with restitution pushes so that its impulses would create energy, ½ P·(U⁺ + U_free) > 0 with U_free the velocities
//! without impulses, all restitutions of that step are multiplied by the largest factor with which they do not (that of the impact law,
//! see [`crate::contact::FrictionImpactLaw`]). With e = 0 they never do.

use crate::Reason;
use crate::contact::{Coulomb, Law, NoSolution, Status, Why};
use crate::linalg::{Metric, add, max_abs};
use crate::problem::{Bonds, Gaps, Instance};
use crate::stepping::{Blocks, Label};

/// A slip below this part of the terms it is made of is none.
const STILL: f64 = 1e-9;
/// An energy below this part of its terms is rounding.
const ROUNDING: f64 = 1e-13;
/// Steps of the scan for a factor with which no energy is created, and of the bisection after it.
const SCAN: usize = 16;
const HALVINGS: usize = 40;

/// Where a step takes its joints, and what it makes of them.
pub struct JointPlace<'a> {
    /// The middle of the step, or its end.
    pub t: f64,
    pub q: &'a [f64],
    /// ϑ.
    pub share: f64,
}

/// Joints and friction of a step, with their buffers.
pub struct Bonded {
    instance: Instance,
    pub bonds: Bonds,
    blocks: Blocks,
    solver: Coulomb,
    p: Vec<f64>,
    b: Vec<f64>,
    /// What W has besides rows·v⁺ and restitution.
    base: Vec<f64>,
    /// E U⁻ of each row.
    bounce: Vec<f64>,
    /// W without impulses and restitution.
    free: Vec<f64>,
    kept: Vec<f64>,
    /// The frictions that stuck in the step before.
    stuck: Vec<bool>,
    /// Impulses of joints and slips.
    pub others: Vec<f64>,
    /// Impulses of joints that carried the velocity to the end of the step.
    carried: Vec<f64>,
}

impl Bonded {
    /// None where a model has neither joints nor friction.
    pub fn of(at: &Instance) -> Option<Box<Self>> {
        let bonds = Bonds::of(at)?;
        let rows = at.constraints() + bonds.len();
        let zero = || Vec::with_capacity(rows);
        Some(Box::new(Bonded {
            instance: at.clone(),
            blocks: Blocks::new(rows, at.dimension()),
            solver: Coulomb::new(rows),
            p: zero(),
            b: zero(),
            base: zero(),
            bounce: zero(),
            free: zero(),
            kept: zero(),
            stuck: vec![false; bonds.frictions.len()],
            others: vec![0.0; bonds.len()],
            carried: vec![0.0; bonds.joint_count()],
            bonds,
        }))
    }

    /// Whether anything acts in this step.
    pub fn acts(&self) -> bool {
        self.blocks.len() > 0
    }

    /// Begins a step: joints in its middle, friction where the constraints are; then dry friction, which always acts.
    pub fn begin(&mut self, (t, q): (f64, &[f64]), v: &[f64], h: f64, joints: &JointPlace) -> Result<(), Reason> {
        self.blocks.clear();
        self.base.clear();
        self.bounce.clear();
        self.bonds.evaluate(t, q, v);
        self.bonds.joints.kinematics(joints.t, joints.q, v);
        self.blocks.push_joints(&self.bonds);
        for row in 0..self.bonds.joint_count() {
            let before = self.bonds.dot(row, v);
            self.base.push((self.bonds.rest(row) + (1.0 - joints.share) * before) / joints.share);
            self.bounce.push(0.0);
        }
        for k in (0..self.bonds.frictions.len()).filter(|&k| self.bonds.pressed_by(k).is_none()) {
            let limit = self.coefficient(k, v)?;
            self.blocks.push_slider(&self.bonds, k, h * limit);
            for row in self.bonds.slips(k) {
                self.base.push(self.bonds.rest(row));
                self.bounce.push(0.0);
            }
        }
        Ok(())
    }

    /// Makes a constraint active, with its friction.
    pub fn activate(&mut self, gaps: &Gaps, a: usize, e: f64, v: &[f64]) -> Result<(), Reason> {
        let friction = self.bonds.of_constraint(a);
        let mu = friction.map(|k| self.coefficient(k, v)).transpose()?;
        let pair = friction.zip(mu).map(|(k, mu)| (&self.bonds, k, mu));
        self.blocks.push_contact(gaps, a, e, pair);
        self.base.push(gaps.partial_t[a]);
        self.bounce.push(e * gaps.rate(a, v));
        for row in friction.into_iter().flat_map(|k| self.bonds.slips(k)) {
            self.base.push(self.bonds.rest(row));
            self.bounce.push(self.bonds.tangential(friction.unwrap_or(0)) * self.bonds.rate(row, v));
        }
        Ok(())
    }

    /// μ or the limit of friction k for a step from a velocity.
    fn coefficient(&self, k: usize, v: &[f64]) -> Result<f64, Reason> {
        let still = self.bonds.speed(k, v) <= STILL * self.bonds.speed_terms(k, v);
        let all = &self.bonds.frictions;
        let value = if still || self.stuck[k] { all.sticking[k] } else { all.kinetic[k] };
        if value >= 0.0 && value.is_finite() {
            return Ok(value);
        }
        Err(Reason::Coefficient { of: self.instance.model().frictions[k].name.clone(), value })
    }

    /// Adds to the step `p` of a velocity what the reactions add to it, in the metric of the step.
    pub fn react(&mut self, metric: &Metric, v: &[f64], p: &mut [f64]) -> Result<(), Reason> {
        self.blocks.couple(metric);
        let n = self.blocks.len();
        self.free.clear();
        for i in 0..n {
            self.free.push(self.base[i] + self.blocks.rows.dot(i, v) + self.blocks.rows.dot(i, p));
        }
        if self.p.len() != n {
            self.p.clear();
            self.p.resize(n, 0.0);
        }
        let solved = self.solve();
        solved.map_err(|why| self.refused(why))?;
        for k in 0..n {
            add(p, self.p[k], self.blocks.mobility(k));
        }
        Ok(())
    }

    fn solve(&mut self) -> Result<(), NoSolution> {
        let energy = self.with_factor(1.0)?;
        if !(energy > 0.0) || self.bounce.iter().all(|&u| u == 0.0) {
            return Ok(());
        }
        // The largest factor that creates no energy: from above to the first point of a scan, then by bisection.
        let mut high = 1.0;
        for k in (0..SCAN).rev() {
            let mut low = k as f64 / SCAN as f64;
            if self.with_factor(low)? > 0.0 && k > 0 {
                high = low;
                continue;
            }
            self.kept.clone_from(&self.p);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if self.with_factor(middle)? > 0.0 {
                    high = middle;
                } else {
                    low = middle;
                    self.kept.clone_from(&self.p);
                }
            }
            self.p.clone_from(&self.kept);
            self.with_factor(low)?;
            break;
        }
        Ok(())
    }

    /// The impulses with all restitutions multiplied by a factor; gives the energy that contacts create, zero if it is rounding.
    fn with_factor(&mut self, factor: f64) -> Result<f64, NoSolution> {
        let n = self.blocks.len();
        self.b.clear();
        self.b.extend(self.free.iter().zip(&self.bounce).map(|(free, bounce)| free + factor * bounce));
        let residual = self.solver.solve(&self.blocks.delassus, &self.b, &self.blocks.laws, &mut self.p)?;
        let (mut energy, mut size, mut at) = (0.0, 0.0, 0);
        for law in &self.blocks.laws {
            if matches!(law, Law::Unilateral | Law::Coulomb { .. }) {
                for i in at..at + law.unknowns() {
                    let row = &self.blocks.delassus[i * n..(i + 1) * n];
                    let change: f64 = row.iter().zip(&self.p).map(|(d, p)| d * p).sum();
                    energy += self.p[i] * (self.free[i] + 0.5 * change);
                    size += (self.p[i] * self.free[i]).abs() + (self.p[i] * change).abs();
                }
            }
            at += law.unknowns();
        }
        Ok(if energy <= (ROUNDING + residual) * size { energy.min(0.0) } else { energy })
    }

    fn refused(&self, why: NoSolution) -> Reason {
        let model = self.instance.model();
        let at: usize = self.blocks.laws[..why.block].iter().map(|law| law.unknowns()).sum();
        let n = self.bonds.joint_count();
        let constraint = match self.blocks.labels.get(at) {
            Some(&Label::Normal(a)) => model.constraints[a].name.clone(),
            Some(&Label::Other(row)) if row < n => model.joints[row].name.clone(),
            _ => model.frictions.last().map_or(String::new(), |f| f.name.clone()),
        };
        match why.kind {
            Why::NoneExists => Reason::Incompatible { constraint },
            _ => Reason::Contact { constraint, residual: why.residual },
        }
    }

    /// Impulses of the step that was solved, and the jump that those of contacts make, joints responding, in the metric M.
    pub fn collect(&mut self, mass: &Metric, impulses: &mut [f64], jump: &mut [f64]) {
        self.others.fill(0.0);
        self.stuck.fill(false);
        let (w, mut at) = (self.solver.w(), 0);
        for (block, law) in self.blocks.laws.iter().enumerate() {
            let rows = at..at + law.unknowns();
            at = rows.end;
            for i in rows.clone() {
                match self.blocks.labels[i] {
                    Label::Normal(a) => impulses[a] = self.p[i],
                    Label::Other(row) => self.others[row] = self.p[i],
                }
                if matches!(law, Law::Unilateral | Law::Coulomb { .. }) {
                    self.blocks.rows.add_to(i, self.p[i], jump);
                }
            }
            let slips = match law {
                Law::Coulomb { .. } => rows.start + 1..rows.end,
                Law::Dry { .. } => rows,
                _ => continue,
            };
            if let (Status::Stick, Some(&Label::Other(row))) =
                (self.solver.status(block), self.blocks.labels.get(slips.start))
            {
                let size: f64 = slips.clone().map(|i| self.free[i].abs() + self.base[i].abs()).fold(0.0, f64::max);
                let k = (0..self.stuck.len()).find(|&k| self.bonds.slips(k).contains(&row));
                if let (Some(k), true) = (k, max_abs(&w[slips]) <= STILL * size) {
                    self.stuck[k] = true;
                }
            }
        }
        mass.solve(jump);
        self.bonds.constrain(mass, jump, None);
    }

    /// Carries the velocity before a step along the joints to its end; see [`Bonds::carry`].
    pub fn carry(&mut self, mass: &Metric, middle: (f64, &[f64]), end: (f64, &[f64]), v: &mut [f64]) {
        self.carried.fill(0.0);
        self.bonds.carry(mass, middle, end, v, &mut self.carried);
    }

    /// Moves a position onto the joints.
    pub fn assemble(&mut self, t: f64, q: &mut [f64], mass: &Metric) -> Result<(), Reason> {
        let joints = &self.instance.model().joints;
        self.bonds.assemble(t, q, mass).map_err(|k| Reason::Joint { joint: joints[k].name.clone() })
    }

    /// Takes from a velocity what the joints at a position do not allow: the middle of the step knew them to second order.
    pub fn join(&mut self, t: f64, q: &[f64], v: &mut [f64], mass: &Metric) {
        self.bonds.joints.kinematics(t, q, v);
        let n = self.bonds.joint_count();
        self.bonds.join(mass, v, Some(&mut self.others[..n]));
        self.others.iter_mut().zip(&self.carried).for_each(|(sum, p)| *sum += p);
    }
}
