//! Joints and friction, from the record and the model alone: joints are satisfied, and what they and friction do follows from the motion.
//!
//! At impacts impulses are listed. Between them the reactions are those that explain what forces do not, M⁻¹Hᵀλ = a − M⁻¹g (by least
//! squares in the kinetic metric), from polynomials or from the velocities of neighbouring instants; where rows depend on each other they
//! are not unique, and only their sum is judged. The law of friction is measured by how far P_T is from the point of the disk |P| ≤ μ P_N
//! nearest to P_T − W_T/D, which is no distance at all if and only if the law holds.

use super::Evidence;
use super::dense::difference;
use super::figure::{Checks, worst};
use super::instants::Contacts;
use super::replay::PortReplay;
use super::scales::Scales;
use crate::linalg::{Delassus, add};
use crate::motion::{Impact, Side};
use crate::problem::Bonds;
use crate::record::{Gauge, Keep};
use crate::stepping::{Blocks, Label};

/// With time steps: the part of the fastest impact that a law may be off by; see `jumps`.
const COARSE: f64 = 0.05;
/// With time steps: the part of all friction that the law may leave unexplained.
const SHARE: f64 = 0.25;
/// With time steps: the part of the terms of its balance that friction is known to be off by.
const TERMS: f64 = 0.05;
/// Friction over fewer steps than this is not judged.
const FEW: usize = 20;
/// Steps that are looked at, about.
const PLACES: usize = 4000;

/// The factor by which the restitutions of an impact were multiplied so that it creates no energy: 1 unless what acts leaves more slowly than
/// e says, and the impact dissipates nothing.
pub(super) fn factor(gauge: &mut Gauge, i: &Impact) -> f64 {
    if gauge.bonds.is_none() {
        return 1.0;
    }
    let mut factor = f64::NEG_INFINITY;
    for &a in i.constraints {
        let (before, after) = (gauge.gaps.rate(a, i.v_before), gauge.gaps.rate(a, i.v_after));
        let lawful = -gauge.restitution_at(a, before) * before;
        if lawful > 0.0 {
            factor = factor.max(after / lawful);
        }
    }
    if !(factor < 1.0 - 1e-9) || !factor.is_finite() {
        return 1.0;
    }
    let Some(bonds) = &mut gauge.bonds else { return 1.0 };
    bonds.evaluate(i.t, i.q, i.v_before);
    let gaps = &gauge.gaps;
    let normals =
        i.constraints.iter().zip(i.impulses).map(|(&a, p)| (*p, gaps.rate(a, i.v_before), gaps.rate(a, i.v_after)));
    let n = bonds.joint_count();
    let slips = i.others.iter().filter(|(row, _)| *row >= n);
    let slips = slips.map(|&(row, p)| (p, bonds.rate(row, i.v_before), bonds.rate(row, i.v_after)));
    let (mut energy, mut size) = (0.0, 0.0);
    for (p, before, after) in normals.chain(slips) {
        energy += 0.5 * p * (before + after);
        size += 0.5 * (p * before).abs() + 0.5 * (p * after).abs();
    }
    if energy >= -1e-6 * size { factor.max(0.0) } else { 1.0 }
}

/// How far friction k is from its law, in units of P, for bounds of the disk of which one may hold: stuck and sliding.
fn distance(p: &[f64], w: &[f64], d: f64, bounds: [f64; 2]) -> f64 {
    let towards = |k: usize| p[k] - w[k] / d;
    let length = (0..p.len()).map(|k| towards(k).powi(2)).sum::<f64>().sqrt();
    let off = |bound: f64| {
        let share = if length > bound { bound / length } else { 1.0 };
        (0..p.len()).map(|k| (p[k] - share * towards(k)).powi(2)).sum::<f64>().sqrt()
    };
    off(bounds[0]).min(off(bounds[1]))
}

/// The compliance of the slips of a friction: the largest of their diagonal entries of the Delassus matrix.
fn compliance(gauge: &mut Gauge, slips: std::ops::Range<usize>, x: &mut [f64]) -> f64 {
    let mut largest = 0.0_f64;
    for row in slips {
        gauge.response_of_other(row, x);
        largest = largest.max(gauge.bonds.as_ref().map_or(0.0, |bonds| bonds.dot(row, x)));
    }
    largest.max(f64::MIN_POSITIVE)
}

/// Checks joints and friction at an impact, at the state prepared; `largest` is the largest jump of the run.
pub(super) fn impact(
    scales: &Scales,
    gauge: &mut Gauge,
    i: &Impact,
    is_stepped: bool,
    largest: f64,
    checks: &mut Checks,
) {
    let Some(bonds) = gauge.bonds.as_deref() else { return };
    for row in 0..bonds.joint_count() {
        let size = bonds.rest(row).abs() + bonds.dot_abs(row, i.v_before).max(bonds.dot_abs(row, i.v_after));
        let allowed = if is_stepped {
            2.0 * COARSE * size.max(scales.joint_rate[row])
        } else {
            1e-8 * size + 1e-12 * scales.joint_rate[row]
        };
        for v in [i.v_before, i.v_after] {
            checks.joints.note(bonds.rate(row, v).abs(), allowed, i.t);
        }
    }
    let factor = factor(gauge, i);
    let mut x = vec![0.0; i.q.len()];
    let count = gauge.bonds.as_ref().map_or(0, |bonds| bonds.frictions.len());
    for k in 0..count {
        let Some(bonds) = gauge.bonds.as_deref() else { return };
        let Some(a) = bonds.pressed_by(k) else { continue };
        let slips = bonds.slips(k);
        let impulse = |row: usize| i.others.iter().filter(|(r, _)| *r == row).map(|(_, p)| p).sum::<f64>();
        let p: Vec<f64> = slips.clone().map(impulse).collect();
        let pressed: f64 = i.constraints.iter().zip(i.impulses).filter(|(b, _)| **b == a).map(|(_, p)| *p).sum();
        if pressed == 0.0 && p.iter().all(|p| *p == 0.0) {
            continue;
        }
        let e = factor * bonds.tangential(k);
        let w: Vec<f64> =
            slips.clone().map(|row| bonds.rate(row, i.v_after) + e * bonds.rate(row, i.v_before)).collect();
        let bounds = [bonds.frictions.kinetic[k] * pressed, bonds.frictions.sticking[k] * pressed];
        let size = bonds.speed_terms(k, i.v_before).max(bonds.speed_terms(k, i.v_after));
        let d = compliance(gauge, slips, &mut x);
        let off = d * distance(&p, &w, d, bounds);
        let allowed = match is_stepped {
            true => 2.0 * COARSE * (largest * d.sqrt()).max(size),
            false => 1e-8 * (size + d * pressed) + 1e-10 * scales.speed * d.sqrt(),
        };
        checks.friction.note_of(off, allowed, i.t, Some(a));
    }
}

/// Reactions that explain a part of an acceleration or of a change of velocity.
pub(super) struct Reactions {
    blocks: Blocks,
    delassus: Delassus,
    /// One for each row of the blocks.
    pub p: Vec<f64>,
    unique: bool,
}

impl Reactions {
    /// None where a model has neither joints nor friction.
    pub fn of(gauge: &Gauge, d: usize) -> Option<Self> {
        let bonds = gauge.bonds.as_ref()?;
        let rows = gauge.restitution.len() + bonds.len();
        Some(Reactions {
            blocks: Blocks::new(rows, d),
            delassus: Delassus::new(rows, d),
            p: vec![0.0; rows],
            unique: true,
        })
    }

    /// Takes from x what joints, the constraints that act with their friction, and dry friction explain of it, at the state prepared and with
    /// the kinematics last evaluated.
    pub fn explain(&mut self, gauge: &Gauge, acting: &[usize], x: &mut [f64]) {
        let (Some(bonds), Some(metric)) = (gauge.bonds.as_deref(), gauge.metric()) else { return };
        self.blocks.clear();
        self.blocks.push_joints(bonds);
        for &a in acting {
            self.blocks.push_contact(&gauge.gaps, a, 0.0, bonds.of_constraint(a).map(|k| (bonds, k, 0.0)));
        }
        for k in (0..bonds.frictions.len()).filter(|&k| bonds.pressed_by(k).is_none()) {
            self.blocks.push_slider(bonds, k, 0.0);
        }
        let n = self.blocks.len();
        self.delassus.set(metric, &self.blocks.rows, 0..n);
        for k in 0..n {
            self.p[k] = self.blocks.rows.dot(k, x);
        }
        self.delassus.solve(&mut self.p[..n]);
        self.unique = self.delassus.independent().len() == n;
        for k in 0..n {
            add(x, -self.p[k], self.delassus.mobility(k));
        }
    }

    /// The rates at which they change the energy at a velocity: by friction, and by what moves by itself.
    pub fn power(&self, bonds: &Bonds, v: &[f64]) -> (f64, f64) {
        let (mut friction, mut driven) = (0.0, 0.0);
        for (k, label) in self.blocks.labels.iter().enumerate() {
            driven -= self.p[k] * self.blocks.walls[k];
            if let Label::Other(row) = *label
                && row >= bonds.joint_count()
            {
                friction += self.p[k] * (self.blocks.walls[k] + self.blocks.rows.dot(k, v));
            }
        }
        (friction, driven)
    }

    /// The size of what the reactions do in a row of [`Bonds`].
    fn terms(&self, row: usize) -> f64 {
        let n = self.blocks.len();
        let Some(i) = self.blocks.labels.iter().position(|label| *label == Label::Other(row)) else { return 0.0 };
        self.delassus.entries[i * n..(i + 1) * n].iter().zip(&self.p).map(|(d, p)| (d * p).abs()).sum()
    }

    /// Calls `f` with each friction that acts: its number, P, what presses it (none for dry friction) and its compliance; nothing where
    /// the reactions are not unique.
    fn each(&self, bonds: &Bonds, mut f: impl FnMut(usize, &[f64], Option<(usize, f64)>, f64)) {
        if !self.unique {
            return;
        }
        let n = self.blocks.len();
        for k in 0..bonds.frictions.len() {
            let slips = bonds.slips(k);
            let at = self.blocks.labels.iter().position(|label| *label == Label::Other(slips.start));
            let Some(at) = at else { continue };
            let rows = at..at + slips.len();
            let d = rows.clone().map(|i| self.delassus.entries[i * n + i]).fold(f64::MIN_POSITIVE, f64::max);
            let pressed = match self.blocks.labels[at.saturating_sub(1)] {
                Label::Normal(a) if bonds.pressed_by(k) == Some(a) => Some((a, self.p[at - 1])),
                _ => None,
            };
            f(k, &self.p[rows], pressed, d);
        }
    }
}

/// In the middle of a piece of length h, after [`Reactions::explain`]: friction that slides is against the slip, friction that sticks is
/// within its limits. `allowed` is a velocity in the kinetic metric.
pub(super) fn piece(
    reactions: &Reactions,
    gauge: &Gauge,
    scales: &Scales,
    (t, h, v): (f64, f64, &[f64]),
    allowed: f64,
    checks: &mut Checks,
) {
    let Some(bonds) = gauge.bonds.as_deref() else { return };
    reactions.each(bonds, |k, p, pressed, d| {
        let (speed, all) = (bonds.speed(k, v), &bonds.frictions);
        let press = pressed.map_or(1.0, |(_, p)| p);
        let size = p.iter().map(|p| p * p).sum::<f64>().sqrt();
        let off = if speed > 1e3 * scales.tolerance * scales.speed * d.sqrt() {
            let bound = all.kinetic[k] * press / speed;
            let slip = bonds.slips(k).map(|row| bonds.rate(row, v));
            p.iter().zip(slip).map(|(p, u)| (p + bound * u).powi(2)).sum::<f64>().sqrt()
        } else {
            (size - (all.sticking[k] * press).max(all.kinetic[k] * press)).max(0.0)
        };
        checks.friction.note_of(h * off * d.sqrt(), allowed, t, pressed.map(|(a, _)| a));
    });
}

/// Joints at a state.
pub(super) fn joints(
    gauge: &mut Gauge,
    (t, q, v): (f64, &[f64], &[f64]),
    position: f64,
    velocity: f64,
    scales: &Scales,
    checks: &mut Checks,
) {
    let Some(bonds) = &mut gauge.bonds else { return };
    let joints = &mut bonds.joints;
    joints.evaluate(t, q, v);
    joints.kinematics(t, q, v);
    for k in 0..joints.values.len() {
        let (off, rounding) = (joints.values[k].abs(), joints.rounding(k, q));
        let [value, rate] = [off, joints.rate(k, v).abs()];
        checks.joint_residuals = (worst(checks.joint_residuals.0, value), worst(checks.joint_residuals.1, rate));
        checks.joints.note(off, 32.0 * rounding + position * joints.gradients.dot_abs(k, q), t);
        checks.joints.note(rate, velocity * scales.joint_rate[k] + 1e-14, t);
    }
}

/// With time steps: joints at stored instants, and friction between them.
pub(super) fn instants(evidence: &Evidence, scales: &Scales, first: usize, last: usize, checks: &mut Checks) {
    let motion = evidence.trajectory;
    let mut gauge = evidence.gauge.clone();
    let Some(mut reactions) = Reactions::of(&gauge, motion.dimension()) else { return };
    let mut ports = PortReplay::new(evidence.ports);
    let stride = ((last - first) / PLACES).max(1);
    for k in (first..last).step_by(stride) {
        ports.apply(motion.t[k], Side::Right);
        for side in [Side::Left, Side::Right] {
            joints(&mut gauge, (motion.t[k], motion.q(k), motion.v(k, side)), 0.0, 2.0 * COARSE, scales, checks);
        }
    }
    if !evidence.keep.has(Keep::CONTACTS) {
        return;
    }
    let (d, m) = (motion.dimension(), gauge.restitution.len());
    let frictions = gauge.bonds.as_ref().map_or(0, |bonds| bonds.frictions.len());
    let mut sums = vec![(0.0, 0.0, 0_usize); frictions];
    let mut contacts = Contacts::new(motion, m);
    let mut ports = PortReplay::new(evidence.ports);
    let (mut q, mut v, mut x, mut free) = (vec![0.0; d], vec![0.0; d], vec![0.0; d], vec![0.0; d]);
    let (mut acting, mut at_end) = (Vec::new(), Vec::new());
    for k in (first..last.saturating_sub(1)).step_by(stride) {
        let (t, h) = (motion.t[k], motion.t[k + 1] - motion.t[k]);
        let jumps = motion.jumps();
        let next = jumps.partition_point(|&j| j < k);
        if h > 1.5 * evidence.step || jumps.get(next).is_some_and(|&j| j <= k + 1) {
            continue;
        }
        acting.clear();
        acting.extend((0..m).filter(|&a| contacts.holds(a, t, 2.0 * evidence.step)));
        for i in 0..d {
            q[i] = 0.5 * (motion.q(k)[i] + motion.q(k + 1)[i]);
            v[i] = 0.5 * (motion.v(k, Side::Right)[i] + motion.v(k + 1, Side::Left)[i]);
        }
        ports.apply(t, Side::Right);
        gauge.gaps.evaluate(t + 0.5 * h, &q, &v);
        // What may act without being part of a contact would be taken for friction.
        if (0..m).any(|a| !acting.contains(&a) && gauge.gaps.values[a] <= scales.step_allows) {
            continue;
        }
        // The slip is that of a scheme's own position: the end of the step, or its middle.
        let (before, after) = (motion.v(k, Side::Right), motion.v(k + 1, Side::Left));
        if let Some(bonds) = &mut gauge.bonds {
            bonds.evaluate(t + h, motion.q(k + 1), after);
            at_end.clear();
            at_end.extend((0..bonds.len()).map(|row| (bonds.rate(row, before), bonds.rate(row, after))));
        }
        gauge.gaps.kinematics(t + 0.5 * h, &q, &v);
        if !gauge.prepare(t + 0.5 * h, &q, &v) || !gauge.free_acceleration(&mut free) {
            continue;
        }
        difference(&mut x, after, before);
        add(&mut x, -h, &free);
        reactions.explain(&gauge, &acting, &mut x);
        let Some(bonds) = gauge.bonds.as_deref() else { return };
        reactions.each(bonds, |k, p, pressed, d| {
            let (all, e, slips) = (&bonds.frictions, bonds.tangential(k), bonds.slips(k));
            let press = pressed.map_or(h, |(_, p)| p.max(0.0));
            let bounds = [all.kinetic[k] * press, all.sticking[k] * press];
            let middle: Vec<f64> =
                slips.clone().map(|row| bonds.rate(row, after) + e * bonds.rate(row, before)).collect();
            let end: Vec<f64> = slips.clone().map(|row| at_end[row].1 + e * at_end[row].0).collect();
            // Beside strong forces weak friction is not known well.
            let terms = slips.map(|row| reactions.terms(row) + h * bonds.dot_abs(row, &free)).fold(0.0, f64::max) / d;
            let sum = &mut sums[k];
            sum.0 += distance(p, &middle, d, bounds).min(distance(p, &end, d, bounds));
            sum.1 += bounds[0].max(bounds[1]) + TERMS * terms;
            sum.2 += 1;
        });
    }
    let Some(bonds) = gauge.bonds.as_deref() else { return };
    for (k, &(off, all, count)) in sums.iter().enumerate() {
        if count >= FEW && all > 0.0 {
            checks.friction.note_of(off / all, SHARE, motion.t[last - 1], bonds.pressed_by(k));
        }
    }
}
