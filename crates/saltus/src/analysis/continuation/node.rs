//! A point of a branch as the continuation holds it: the orbit, the tangent, and the signs that tell special points.

use super::anatomy::Anatomy;
use super::branch::{BranchPoint, SpecialKind};
use super::family::{Family, Seen};
use super::zero::{Evaluation, Missed, correct};
use crate::analysis::closing::Orbit;
use crate::analysis::orbit::OrbitStability;
use crate::{Side, Start};

/// Quantities that vanish at special points and change their sign there.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    pub fold: f64,
    pub doubling: f64,
    pub torus: f64,
    pub crossing: f64,
}

impl Signs {
    /// The special points whose signs are looked at, in order.
    pub const KINDS: [SpecialKind; 4] =
        [SpecialKind::Fold, SpecialKind::Doubling, SpecialKind::Torus, SpecialKind::Crossing];

    pub fn of(&self, kind: SpecialKind) -> f64 {
        match kind {
            SpecialKind::Fold => self.fold,
            SpecialKind::Doubling => self.doubling,
            SpecialKind::Torus => self.torus,
            _ => self.crossing,
        }
    }
}

/// A branch whose direction has a smaller part along the parameter is upright.
const UPRIGHT: f64 = 1e-3;

/// A point of a branch.
#[derive(Clone)]
pub struct Node {
    pub family: Family,
    pub found: Evaluation<Seen>,
    pub tangent: Vec<f64>,
    pub orbit: Orbit,
    pub stability: OrbitStability,
    pub anatomy: Anatomy,
    pub signs: Signs,
}

/// The product of (λ + 1), and that of (λᵢλⱼ − 1) over pairs: real, though single factors are not.
fn products(multipliers: &[(f64, f64)]) -> (f64, f64) {
    let times = |a: (f64, f64), b: (f64, f64)| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
    let (mut doubling, mut torus) = ((1.0, 0.0), (1.0, 0.0));
    for (k, &z) in multipliers.iter().enumerate() {
        doubling = times(doubling, (z.0 + 1.0, z.1));
        for &other in &multipliers[k + 1..] {
            let both = times(z, other);
            torus = times(torus, (both.0 - 1.0, both.1));
        }
    }
    (doubling.0, if multipliers.len() < 2 { 1.0 } else { torus.0 })
}

impl Node {
    /// A zero as a point of a branch that goes on in the direction of `along`.
    pub fn new(family: &Family, mut found: Evaluation<Seen>, steps: usize, along: &[f64]) -> Option<Self> {
        // (Where the period is free, the next orbits begin beside this one: the tangent must lead there.)
        family.anchored(&mut found);
        let tangent = found.tangent(along)?;
        Self::with_tangent(family, found, steps, tangent)
    }

    /// A zero with the direction of its branch: where branches cross, the equations alone do not say which is meant.
    pub fn with_tangent(family: &Family, found: Evaluation<Seen>, steps: usize, tangent: Vec<f64>) -> Option<Self> {
        let mut family = family.clone();
        let orbit = family.orbit(&found, steps);
        let stability = orbit.stability();
        let anatomy = Anatomy::of(&family.problem, &orbit);
        if family.is_free() {
            // (The next orbits begin beside this one.)
            family.anchor = Some((family.space.state(&orbit.start), orbit.passage.rate.clone()));
        }
        family.closed = orbit.passage.run.last().closed().map(<[usize]>::to_vec);
        let (doubling, torus) = products(&stability.multipliers);
        let fold = tangent[tangent.len() - 1];
        let signs = Signs { fold, doubling, torus, crossing: found.determinant(&tangent) };
        Some(Node { family, found, tangent, orbit, stability, anatomy, signs })
    }

    /// The same orbit on a branch that goes the other way.
    pub fn reversed(&self) -> Node {
        let mut node = self.clone();
        node.tangent.iter_mut().for_each(|x| *x = -*x);
        (node.signs.fold, node.signs.crossing) = (-self.signs.fold, -self.signs.crossing);
        node
    }

    /// Whether the parameter does not change along the branch there.
    pub fn is_upright(&self) -> bool {
        self.signs.fold.abs() < UPRIGHT
    }

    /// The value of the parameter (the last, if there are several).
    pub fn value(&self) -> f64 {
        let values = self.family.values(&self.found.z);
        values[values.len() - 1]
    }

    /// The size by which the parameter is measured.
    pub fn unit(&self) -> f64 {
        self.family.units[self.family.units.len() - 1]
    }

    /// The point as data.
    pub fn point(&self) -> BranchPoint {
        BranchPoint {
            values: self.family.values(&self.found.z),
            start: self.orbit.start.clone(),
            period: self.orbit.period,
            multiple: self.orbit.multiple,
            stability: self.stability.clone(),
            sequence: self.anatomy.words(),
            residual: self.orbit.residual,
            tangent: self.tangent.clone(),
        }
    }

    /// The orbit a step further along the tangent.
    pub fn ahead(&self, step: f64) -> Result<Node, Missed> {
        let guess: Vec<f64> = self.found.z.iter().zip(&self.tangent).map(|(z, t)| z + step * t).collect();
        self.corrected(&guess, &self.tangent)
    }

    /// The orbit where the parameter has a value, near a step ahead.
    pub fn at_value(&self, step: f64, value: f64) -> Result<Node, Missed> {
        let mut guess: Vec<f64> = self.found.z.iter().zip(&self.tangent).map(|(z, t)| z + step * t).collect();
        let mut row = vec![0.0; guess.len()];
        let unit = self.family.units[self.family.units.len() - 1];
        if let (Some(last), Some(one)) = (guess.last_mut(), row.last_mut()) {
            (*last, *one) = (value / unit, 1.0);
        }
        self.corrected(&guess, &row)
    }

    fn corrected(&self, guess: &[f64], row: &[f64]) -> Result<Node, Missed> {
        let mut family = self.family.clone();
        let (found, steps) = correct(&mut family, guess, row)?;
        Node::new(&family, found, steps, &self.tangent).ok_or(Missed::Far(f64::NAN))
    }

    /// The same orbit seen from a quiet instant, far from its events, if its start is too near one (or near one of `avoid`).
    pub fn settled(&self, avoid: &[f64]) -> Option<Node> {
        let (start, period) = (self.orbit.start.t, self.orbit.period);
        let near = |t: &f64| {
            let d = (t - start).rem_euclid(period);
            d.min(period - d)
        };
        let away = avoid.iter().map(near).fold(self.anatomy.distance(start, period), f64::min);
        if away > 0.06 * period && self.family.closed.as_ref().is_none_or(Vec::is_empty) {
            return None;
        }
        let (later, half) = self.anatomy.quiet(start, period, avoid);
        if half < 1.5 * away {
            return None;
        }
        let (mut family, z, along) = self.family.moved(&self.found, &self.tangent, later)?;
        let row = along.clone();
        let (found, steps) = correct(&mut family, &z, &row).ok()?;
        let moved = Node::new(&family, found.clone(), steps, &along)?;
        // Wherever an orbit is seen from, the parameter goes the same way.
        match moved.signs.fold * self.signs.fold < 0.0 {
            true => Node::new(&family, found, steps, &along.iter().map(|x| -x).collect::<Vec<f64>>()),
            false => Some(moved),
        }
    }

    /// How far the orbit is from itself half a period later, relative to the scales of states.
    pub fn apart(&self) -> Option<f64> {
        let (start, motion) = (&self.orbit.start, &self.orbit.passage.run.trajectory);
        let (q, v) = motion.at(start.t + 0.5 * self.orbit.period, Side::Right)?;
        let half = self.family.space.state(&Start::new(start.t, q, v));
        let state = self.family.space.state(start);
        let each = state.iter().zip(&half).zip(&self.family.scales).map(|((a, b), s)| ((a - b) / s).abs());
        Some(each.fold(0.0, f64::max))
    }
}
