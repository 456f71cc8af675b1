//! How a structure is held: its size, what it is loaded by, and the motions without strain that its stops leave free.

use super::{Damping, Signals, StaticContact, Structure};
use crate::linalg::{Symmetric, max_abs};

/// What is left of the motions without strain where stops act.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Strainless {
    /// There are none: K is positive definite.
    None,
    /// All are held by stops that act.
    Held,
    /// These are left, as displacements of the points, the largest of each 1.
    Free(Vec<Vec<f64>>),
    /// It cannot be told.
    Unclear,
}

impl Structure {
    /// Number of degrees of freedom of the parts, without what stands for the springs of stops.
    pub(crate) fn meshed(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether a point is a force, a base shear, and not a displacement.
    pub fn is_force(&self, point: usize) -> bool {
        self.linear.shears.iter().any(|(p, _)| *p == point)
    }

    /// The accelerations of the base at a time, one for each motion of it.
    pub fn base_accelerations(&self, signals: &mut Signals, t: f64) -> Vec<f64> {
        signals.evaluate(t);
        self.bases.iter().map(|(load, _)| signals.loads[*load]).collect()
    }

    /// What stops do to the side, by name: `hole_y` and `hole_z` for the force of a round hole on its two points, `stop_slide` for
    /// friction along a slide.
    pub(crate) fn side_names(&self) -> Vec<String> {
        let points = &self.model.coordinates;
        let mut names = Vec::new();
        for (law, stop) in self.laws.iter().zip(&self.model.constraints) {
            let across = law.hole.iter().flat_map(|hole| hole.points);
            let along = law.friction.iter().flat_map(|rub| rub.slides.iter().copied());
            names.extend(across.chain(along).map(|p| format!("{}_{}", stop.name, points[p])));
        }
        names
    }

    /// Whether a damping matrix of its own is not positive semidefinite.
    pub(crate) fn brings_energy(&self) -> bool {
        let has_own = self.parts.iter().any(|p| matches!(p.damping, Damping::Matrix(_)));
        has_own
            && self.linear.damping.as_ref().is_some_and(|c| {
                let size = c.entries().fold(0.0_f64, |m, e| m.max(e.2.abs()));
                let rounding = Symmetric::diagonal(&vec![1e-9 * size; c.dimension()]);
                Symmetric::combine(&[(1.0, c), (1.0, &rounding)]).factor().is_err()
            })
    }

    /// The motions without strain, K φ = 0, that the stops which act at an equilibrium leave free. A stop that presses holds what would
    /// open or close it; one that is closed without a force holds one side.
    pub(crate) fn strainless(&self, at_rest: &StaticContact, closed: &[usize]) -> Strainless {
        let Some(modes) = self.lowest() else { return Strainless::Unclear };
        let rigid = modes.squares.iter().filter(|&&x| x == 0.0).count();
        if rigid == 0 {
            return Strainless::None;
        }
        let linear = &self.linear;
        let massless = linear.massless();
        let massive: Vec<usize> = (0..linear.dimension()).filter(|i| massless.binary_search(i).is_err()).collect();
        let first_own = self.meshed();
        let is_own = |i: usize| self.place[first_own..].contains(&i);
        // u of each motion; where the mesh itself has no mass, its displacement is not part of the mode.
        let mut motions: Vec<Vec<f64>> = Vec::with_capacity(rigid);
        for phi in &modes.shapes[..rigid] {
            let mut u = vec![0.0; linear.dimension()];
            massive.iter().zip(phi).for_each(|(&i, x)| u[i] = *x);
            motions.push(u);
        }
        let hidden = |i: usize| massless.binary_search(&i).is_ok() && !is_own(i);
        if closed.iter().any(|&a| linear.stops.entries(a).any(|(i, x)| x != 0.0 && hidden(i))) {
            return Strainless::Unclear;
        }
        for &a in closed.iter().filter(|&&a| at_rest.reactions[a] > 0.0) {
            match linear.holes.iter().find(|(stop, _)| *stop == a) {
                // (Pressed against a round wall, a point is held along it as well: it rests where the wall is deepest.)
                Some((_, hole)) => {
                    hole.points.iter().for_each(|&p| motions = without(&motions, |u| linear.points.dot(p, u)));
                }
                None => motions = without(&motions, |u| linear.stops.dot(a, u)),
            }
        }
        let loose: Vec<usize> = closed.iter().copied().filter(|&a| at_rest.reactions[a] == 0.0).collect();
        let is_round = |a: &usize| linear.holes.iter().any(|(stop, _)| stop == a);
        if loose.iter().any(is_round) {
            return Strainless::Unclear;
        }
        if let [one] = &motions[..] {
            let size = max_abs(one).max(f64::MIN_POSITIVE);
            let opens = |sign: f64| loose.iter().all(|&a| sign * linear.stops.dot(a, one) >= -1e-9 * size);
            if !opens(1.0) && !opens(-1.0) {
                return Strainless::Held;
            }
        } else if !loose.is_empty() && motions.len() > 1 {
            let left = loose.iter().fold(motions.clone(), |left, &a| without(&left, |u| linear.stops.dot(a, u)));
            if left.is_empty() {
                return Strainless::Unclear;
            }
            motions = left;
        }
        if motions.is_empty() {
            return Strainless::Held;
        }
        let of_points = |u: &Vec<f64>| -> Vec<f64> {
            let moves = |p: usize| if self.is_force(p) { 0.0 } else { linear.points.dot(p, u) };
            let x: Vec<f64> = (0..linear.points.len()).map(moves).collect();
            let size = max_abs(&x);
            x.iter().map(|x| if size > 0.0 { x / size } else { 0.0 }).collect()
        };
        Strainless::Free(motions.iter().map(of_points).collect())
    }
}

/// Those combinations of motions that a linear function does not see.
fn without(motions: &[Vec<f64>], of: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
    let values: Vec<f64> = motions.iter().map(|u| of(u)).collect();
    let sizes = motions.iter().map(|u| max_abs(u)).fold(0.0, f64::max);
    let Some(pivot) = (0..motions.len()).max_by(|&i, &j| values[i].abs().total_cmp(&values[j].abs())) else {
        return Vec::new();
    };
    if values[pivot].abs() <= 1e-9 * sizes {
        return motions.to_vec();
    }
    let rest = (0..motions.len()).filter(|&k| k != pivot);
    let combined = |k: usize| {
        let share = values[k] / values[pivot];
        motions[k].iter().zip(&motions[pivot]).map(|(x, y)| x - share * y).collect()
    };
    rest.map(combined).collect()
}
