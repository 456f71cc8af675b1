//! Candidates that are equilibria, each once; members of one family count as one.

use super::reduced::Base;
use super::search::Search;
use super::{Equilibrium, Isolation, Stability};
use crate::linalg::max_abs;

/// So many members of a family are remembered to recognise others.
const MEMBERS: usize = 12;

impl Search<'_> {
    /// The set that a semismooth Newton method takes at a point: gaps that are closed or nearly so, d at most.
    pub fn guess(&mut self, q: &[f64]) -> Vec<usize> {
        self.linearise(q);
        let mut order: Vec<usize> = (0..self.gaps.values.len()).collect();
        order.sort_by(|&a, &b| self.gaps.values[a].total_cmp(&self.gaps.values[b]));
        let closed = order.into_iter().take_while(|&a| self.gaps.values[a] < 0.05 * self.scale);
        let mut set: Vec<usize> = closed.take(q.len()).collect();
        set.sort_unstable();
        set
    }

    /// A root for one set from one start that is admissible; whether it is certain is asked later.
    pub fn candidate(&mut self, set: &[usize], start: &[f64]) -> Option<Equilibrium> {
        let d = start.len();
        let landed = self.descend(set, start, &vec![0.0; self.held(set)])?;
        let (q, lambda) = (landed.q, landed.lambda);
        let at = self.equations(set, &q, &lambda)?;
        let closed = |k: usize| at.residual[d + k].abs() <= self.slack(set[k], &q);
        let joined = |k: usize| at.residual[d + set.len() + k].abs() <= 64.0 * self.joints.rounding(k, &q);
        if !(0..set.len()).all(closed) || !(0..self.held(&[])).all(joined) || !self.is_balanced(&at) {
            return None;
        }
        let pressed = lambda.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        let force = max_abs(&self.dynamics.g[..self.degrees]).max(self.force_scale);
        let weak = 1e-9 * pressed.max(force);
        if lambda[..set.len()].iter().any(|&l| l < -weak) {
            return None;
        }
        if (0..self.gaps.values.len()).any(|a| !(self.gaps.values[a] >= -self.slack(a, &q))) {
            return None;
        }
        // Gaps closed without being asked to are closed all the same, without a reaction.
        let all: Vec<usize> = (0..self.gaps.values.len())
            .filter(|&a| set.contains(&a) || self.gaps.values[a] <= self.slack(a, &q))
            .collect();
        let of = |a: usize| set.iter().position(|&b| b == a).map_or(0.0, |k| lambda[k].max(0.0));
        let is_weak = |a: usize| of(a) <= weak;
        let reactions = all.iter().map(|&a| if is_weak(a) { 0.0 } else { of(a) }).collect();
        let degenerate = all.iter().copied().filter(|&a| is_weak(a)).collect();
        let off = max_abs(&at.residual[..self.degrees]);
        let joint_reactions = lambda[set.len()..].to_vec();
        Some(Equilibrium {
            residual: if off == 0.0 { 0.0 } else { off / force.max(pressed) },
            q,
            z: Vec::new(),
            closed: all,
            reactions,
            joint_reactions,
            degenerate,
            family: Vec::new(),
            isolation: Isolation::Unclear,
            stability: Stability::Unknown { why: "not judged" },
        })
    }

    /// Whether a candidate is an equilibrium, and whether it is alone; false if it is none.
    fn certify(&mut self, e: &mut Equilibrium) -> bool {
        let (set, lambda) = pressed(e);
        let Some(landed) = self.descend(&set, &e.q, &lambda) else { return false };
        let moved = landed.q.iter().zip(&e.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if !(moved <= 1e-5 * (self.fine + max_abs(&e.q))) {
            return false;
        }
        let Some(at) = self.equations(&set, &landed.q, &landed.lambda) else { return false };
        if self.is_certain(&set, &landed, &at) {
            e.isolation = Isolation::Isolated;
            return true;
        }
        let Some(directions) = self.null_directions(&set, &landed.q, &landed.lambda) else { return false };
        let base = Base { set: &set, q: &landed.q, lambda: &landed.lambda };
        let ring = self.ring(base, &directions, &[]);
        if ring.is_isolated() {
            e.isolation = Isolation::Degenerate;
            self.tidy(&set, e, &lambda);
        } else if ring.has_force() {
            e.isolation = Isolation::Unclear;
        } else if ring.is_flat() {
            if !self.is_family(base, &directions) {
                return false;
            }
            e.isolation = Isolation::Family;
            e.family = directions;
        } else if let Some(flat) = &ring.flat_direction {
            return self.is_family(base, std::slice::from_ref(flat));
        } else {
            // An analytic force has an order; one that has none is rounding where the force decays.
            return !self.analytic;
        }
        true
    }

    /// A multiple root is known to the root of the rounding only: among the numbers within that, the roundest that satisfies
    /// the equations at least as well is taken.
    fn tidy(&mut self, set: &[usize], e: &mut Equilibrium, lambda: &[f64]) {
        let unit = 10f64.powf(self.fine.log10().floor()) * 1e-6;
        let round: Vec<f64> = e.q.iter().map(|q| (q / unit).round() * unit).collect();
        let mut off = |q: &[f64]| self.equations(set, q, lambda).map(|at| max_abs(&at.residual));
        if let (Some(before), Some(after)) = (off(&e.q), off(&round))
            && after <= before
        {
            e.q = round;
        }
    }

    /// Whether two members are joined by members: some points between them lead to members close by.
    fn is_joined(&mut self, set: &[usize], from: &[f64], to: &[f64], lambda: &[f64]) -> bool {
        let length = from.iter().zip(to).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (1..8).all(|k| {
            let s = f64::from(k) / 8.0;
            let between: Vec<f64> = from.iter().zip(to).map(|(a, b)| a + s * (b - a)).collect();
            let Some(landed) = self.descend(set, &between, lambda) else { return false };
            let moved = landed.q.iter().zip(&between).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            self.linearise(&landed.q);
            let inside = (0..self.gaps.values.len()).all(|a| self.gaps.values[a] >= -self.slack(a, &landed.q));
            moved <= 0.3 * length + 1e-9 * self.fine && inside
        })
    }
}

/// The contacts of an equilibrium with a reaction.
fn pressed(e: &Equilibrium) -> (Vec<usize>, Vec<f64>) {
    let pairs = e.closed.iter().copied().zip(e.reactions.iter().copied());
    let (set, mut lambda): (Vec<usize>, Vec<f64>) = pairs.filter(|(a, _)| !e.degenerate.contains(a)).unzip();
    lambda.extend(&e.joint_reactions);
    (set, lambda)
}

/// What was found, with some members of each family.
#[derive(Default)]
pub(super) struct Collection {
    found: Vec<(Equilibrium, Vec<Vec<f64>>)>,
}

impl Collection {
    /// Adds a candidate that is an equilibrium and not there yet.
    pub fn add(&mut self, search: &mut Search, mut new: Equilibrium) {
        if self.has(search, &new) || !search.certify(&mut new) || self.has(search, &new) {
            return;
        }
        let (set, lambda) = pressed(&new);
        if new.isolation == Isolation::Family {
            let mut joined: Vec<usize> = Vec::new();
            for (k, (old, members)) in self.found.iter().enumerate() {
                let alike = old.isolation == Isolation::Family && old.family.len() == new.family.len();
                if alike && pressed(old).0 == set && members.iter().any(|m| search.is_joined(&set, m, &new.q, &lambda))
                {
                    joined.push(k);
                }
            }
            if let Some((&first, others)) = joined.split_first() {
                for &k in others.iter().rev() {
                    let (old, members) = self.found.remove(k);
                    self.found[first].1.extend(members);
                    self.represent(first, old);
                }
                self.found[first].1.truncate(MEMBERS - 1);
                self.found[first].1.push(new.q.clone());
                self.represent(first, new);
                return;
            }
        }
        let members = vec![new.q.clone()];
        self.found.push((new, members));
    }

    /// Whether a position is there already. A certain root is known to rounding, a multiple one to the root of that.
    fn has(&self, search: &Search, new: &Equilibrium) -> bool {
        let size = search.fine + max_abs(&new.q);
        self.found.iter().any(|(old, members)| {
            let near = if old.isolation == Isolation::Isolated { 1e-9 } else { 1e-5 } * size;
            let same = |old: &[f64]| old.iter().zip(&new.q).all(|(a, b)| (a - b).abs() <= near);
            same(&old.q) || members.iter().any(|m| same(m))
        })
    }

    /// A family is shown by the member with the fewest contacts: the others are on its boundary.
    fn represent(&mut self, k: usize, other: Equilibrium) {
        if other.closed.len() < self.found[k].0.closed.len() {
            self.found[k].0 = other;
        }
    }

    /// What was found; points of which nothing is known but that they end a family belong to it.
    pub fn into_found(self, search: &mut Search) -> Vec<Equilibrium> {
        let (families, others): (Vec<_>, Vec<_>) =
            self.found.into_iter().partition(|(e, _)| e.isolation == Isolation::Family);
        let mut found: Vec<Equilibrium> = Vec::new();
        for (e, _) in others {
            let (set, lambda) = pressed(&e);
            let ends = |(family, members): &(Equilibrium, Vec<Vec<f64>>)| {
                let mut joined = |m: &Vec<f64>| search.is_joined(&set, m, &e.q, &lambda);
                pressed(family).0 == set && members.iter().any(&mut joined)
            };
            let belongs = e.isolation == Isolation::Unclear && families.iter().any(ends);
            if !belongs {
                found.push(e);
            }
        }
        found.extend(families.into_iter().map(|(e, _)| e));
        found
    }
}
