//! The impact of a window in a model with joints or friction: its law is that with friction, and joints take part.

use super::Watch;
use crate::contact::{FrictionImpact, FrictionImpactLaw, Law};
use crate::linalg::add;
use crate::record::Audit;
use crate::stepping::{Blocks, Label};

/// Buffers of the law.
pub(super) struct Bonded {
    blocks: Blocks,
    law: FrictionImpactLaw,
    u: Vec<f64>,
    p: Vec<f64>,
    /// The impulses of the scheme, and those of the law where it was evaluated.
    own: Vec<f64>,
    lawful: Vec<f64>,
    /// Impulses of joints and slips that are listed with the impact.
    pub listed: Vec<(usize, f64)>,
}

impl Bonded {
    pub fn new(rows: usize, d: usize) -> Self {
        Bonded {
            blocks: Blocks::new(rows, d),
            law: FrictionImpactLaw::new(rows),
            u: Vec::new(),
            p: Vec::new(),
            own: Vec::new(),
            lawful: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// The law applied to a velocity, its search started from the impulses there are; false if it has no solution.
    fn apply(&mut self, v: &mut [f64]) -> bool {
        let blocks = &self.blocks;
        self.u.clear();
        self.u.extend((0..blocks.len()).map(|i| blocks.walls[i] + blocks.rows.dot(i, v)));
        let impact = FrictionImpact {
            d: &blocks.delassus,
            u_before: &self.u,
            walls: &blocks.walls,
            laws: &blocks.laws,
            restitution: &blocks.restitution,
            tangential: &blocks.tangential,
        };
        if self.law.apply(&impact, &mut self.p).is_err() {
            return false;
        }
        self.p.iter().enumerate().for_each(|(k, &p)| add(v, p, blocks.mobility(k)));
        true
    }
}

impl Bonded {
    /// Replaces the impulses of the law by those of the scheme, moved by as much as the law's are from where it was evaluated to the
    /// instant of the impact, if all contacts push and all friction is within its cone then.
    fn move_along(&mut self) {
        let moved = |i: usize| self.own[i] + self.p[i] - self.lawful[i];
        let mut at = 0;
        let is_lawful = self.blocks.laws.iter().all(|law| {
            let first = at;
            at += law.unknowns();
            let pressed = moved(first);
            let bound = if let Law::Coulomb { mu, .. } = *law { mu * pressed } else { 0.0 };
            let size = (first + 1..at).map(|i| moved(i).powi(2)).sum::<f64>().sqrt();
            pressed >= 0.0 && size <= bound * (1.0 + 1e-12)
        });
        if is_lawful {
            self.own.iter_mut().zip(&self.lawful).zip(&self.p).for_each(|((own, lawful), p)| *own += p - lawful);
            std::mem::swap(&mut self.own, &mut self.p);
        }
    }
}

impl Watch {
    /// What [`Watch::judge`] does, where there are joints or friction; None where there are not.
    pub(super) fn judge_bonded(&mut self, t: f64, shift: f64) -> Option<(f64, f64, f64)> {
        let mut bonded = self.bonded.take()?;
        let judged = self.judge_with(&mut bonded, t, shift);
        self.bonded = Some(bonded);
        Some(judged)
    }

    fn judge_with(&mut self, bonded: &mut Bonded, t: f64, shift: f64) -> (f64, f64, f64) {
        bonded.listed.clear();
        if !self.gauge.prepare(t, &self.window.q, &self.v_before) {
            return (f64::NAN, f64::NAN, f64::NAN);
        }
        self.gauge.gaps.kinematics(t, &self.window.q, &self.v_before);
        self.gauge.gather(&self.active, &self.v_before, &mut bonded.blocks);
        let n = bonded.blocks.len();
        let weight = |i: usize, b: &Blocks| 1.0 / b.delassus[i * n + i].max(f64::MIN_POSITIVE).sqrt();
        let mut speed = 0.0_f64;
        for i in 0..n {
            let b = &bonded.blocks;
            if let Label::Normal(_) = b.labels[i] {
                let rate = |v: &[f64]| (b.walls[i] + b.rows.dot(i, v)).abs();
                speed = speed.max(rate(&self.v_before).max(rate(&self.v_after)) * weight(i, b));
            }
        }
        // Where impulses are not unique (two corners of one body), those of the scheme are kept.
        let window = &self.window;
        bonded.own.clear();
        bonded.own.extend(bonded.blocks.labels.iter().map(|label| match *label {
            Label::Normal(a) => window.impulses[a],
            Label::Other(row) => window.others[row],
        }));
        bonded.p.clone_from(&bonded.own);
        self.v_law.copy_from_slice(&self.v_before);
        let mut holds = bonded.apply(&mut self.v_law);
        bonded.lawful.clone_from(&bonded.p);
        for (law, v) in self.v_law.iter_mut().zip(&self.v_after) {
            *law = v - *law;
        }
        let off = (0..n).map(|i| bonded.blocks.rows.dot(i, &self.v_law).abs() * weight(i, &bonded.blocks));
        let residual = off.fold(0.0, f64::max) / speed.max(f64::MIN_POSITIVE);
        for (v, a) in self.v_before.iter_mut().zip(&self.window.acceleration) {
            *v += shift * a;
        }
        self.v_after.copy_from_slice(&self.v_before);
        holds &= bonded.apply(&mut self.v_after);
        for (v, deviation) in self.v_after.iter_mut().zip(&self.v_law) {
            *v += deviation;
        }
        // The impulses move along, so that they explain the jump; those of the law where that would leave its cones.
        bonded.move_along();
        for (i, &p) in bonded.p.iter().enumerate() {
            if let Label::Normal(a) = bonded.blocks.labels[i] {
                self.window.impulses[a] = p;
            }
        }
        let labelled = bonded.blocks.labels.iter().copied().zip(bonded.p.iter().copied());
        // Listed is what the constraints that act do.
        let bonds = self.gauge.bonds.as_deref();
        let slips_of = |a: usize| bonds.and_then(|bonds| Some(bonds.slips(bonds.of_constraint(a)?))).unwrap_or(0..0);
        let acts = |label: Label| match label {
            Label::Normal(a) => self.acted.contains(&a),
            Label::Other(row) => self.acted.iter().any(|&a| slips_of(a).contains(&row)),
        };
        let acting: Vec<(Label, f64)> = labelled.clone().filter(|(label, _)| acts(*label)).collect();
        let joints = self.gauge.impulses_of_joints(acting.iter().copied(), self.window.q.len());
        let mean = |row: &dyn Fn(&[f64]) -> f64| 0.5 * (row(&self.v_before) + row(&self.v_after));
        let mut change = 0.0;
        for (i, (_, p)) in labelled.enumerate() {
            change += p * mean(&|v| bonded.blocks.rows.dot(i, v));
        }
        for (label, p) in acting {
            if let Label::Other(row) = label {
                bonded.listed.push((row, p));
            }
        }
        if let Some(bonds) = &self.gauge.bonds {
            for (row, &p) in joints.iter().enumerate() {
                change += p * mean(&|v| bonds.dot(row, v));
            }
        }
        bonded.listed.extend(joints.into_iter().enumerate());
        bonded.listed.retain(|&(_, p)| p != 0.0);
        bonded.listed.sort_by_key(|&(row, _)| row);
        (change, if holds { residual } else { f64::NAN }, speed)
    }

    /// Takes what an impact that is listed does by joints and friction out of the account of the steps, in which all of it is counted.
    pub(super) fn settle(&self, audit: &mut Audit) {
        let (Some(bonded), Some(bonds)) = (&self.bonded, &self.gauge.bonds) else { return };
        for &(row, p) in &bonded.listed {
            audit.contact_work += p * bonds.rest(row);
            if row >= bonds.joint_count() {
                audit.friction_loss += 0.5 * p * (bonds.rate(row, &self.v_before) + bonds.rate(row, &self.v_after));
            }
        }
    }

    /// What the curvature of gaps adds to their accelerations: bodies that roll and turn on a corner come back to it without a force.
    pub(super) fn bend(&mut self) {
        if self.bonded.is_none() {
            return;
        }
        let (h, w, gaps) = (self.h, &self.window, &mut self.gauge.gaps);
        self.v_law.copy_from_slice(&w.q);
        add(&mut self.v_law, h, &w.v_left);
        gaps.kinematics(w.t + h, &self.v_law, &w.v_left);
        (0..self.bent.len()).for_each(|a| self.bent[a] = gaps.rate(a, &w.v_left));
        gaps.kinematics(w.t, &w.q, &w.v_left);
        (0..self.bent.len()).for_each(|a| self.bent[a] = (self.bent[a] - gaps.rate(a, &w.v_left)) / h);
    }

    /// Adds what a lasting contact does to a reaction: its impulse and that of its friction.
    pub(super) fn react(&mut self, a: usize, impulse: f64, others: &[f64]) {
        self.gauge.response(a, &mut self.response);
        add(&mut self.reaction, impulse, &self.response);
        let Some(k) = self.gauge.bonds.as_ref().and_then(|bonds| bonds.of_constraint(a)) else { return };
        let slips = self.gauge.bonds.as_ref().map_or(0..0, |bonds| bonds.slips(k));
        for row in slips {
            self.gauge.response_of_other(row, &mut self.response);
            add(&mut self.reaction, others[row], &self.response);
        }
    }
}
