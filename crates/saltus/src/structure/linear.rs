//! The equations of a structure, M u'' + C u' + K u = Σ b s(t) + Σ λ w with w·u + o(t) ≥ 0, in whatever coordinates: nodes
//! of a mesh, or modes.

use crate::SetupError;
use crate::linalg::{NotPositiveDefinite, Rows, Skew, Symmetric};
use crate::project::Polyhedron;

use super::hole::Hole;

/// A linear system with loads, stops and observed points.
#[derive(Clone, Debug)]
pub struct Linear {
    /// M, positive semidefinite: a row of zeros is a massless degree of freedom.
    pub mass: Symmetric,
    /// The symmetric part of C, if there is any damping.
    pub damping: Option<Symmetric>,
    /// The symmetric part of K, positive semidefinite.
    pub stiffness: Symmetric,
    /// The antisymmetric part of C: gyroscopic forces, which do no work.
    pub gyroscopic: Option<Skew>,
    /// The antisymmetric part of K: circulatory forces, which may.
    pub circulatory: Option<Skew>,
    /// One row b for each signal.
    pub loads: Rows,
    /// One row w for each stop; of a round hole, that of its facet across the first of its points.
    pub stops: Rows,
    /// The stops that are round holes.
    pub holes: Vec<(usize, Hole)>,
    /// One row for each point: its displacement is row · u.
    pub points: Rows,
    /// Points that are base shears, and the translation of their part.
    pub shears: Vec<(usize, Vec<f64>)>,
    /// One row for each place by which it is drawn.
    pub outline: Rows,
    /// The displacement at t = 0.
    pub q0: Vec<f64>,
    /// The velocity at t = 0.
    pub v0: Vec<f64>,
}

impl Linear {
    /// Number of degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.mass.dimension()
    }

    /// What damping adds to the base shears, as rows on velocities: C r.
    pub(crate) fn drags(&self) -> Rows {
        let mut force = vec![0.0; self.dimension()];
        let row = |r: &Vec<f64>| {
            match &self.damping {
                Some(c) => c.multiply(r, &mut force),
                None => force.fill(0.0),
            }
            force.iter().copied().enumerate().filter(|(_, f)| *f != 0.0).collect::<Vec<_>>()
        };
        self.shears.iter().map(|(_, r)| r).map(row).collect()
    }

    /// Which degrees of freedom have no mass at all.
    pub fn massless(&self) -> Vec<usize> {
        (0..self.dimension()).filter(|&i| self.mass.row(i).all(|(_, m)| m == 0.0)).collect()
    }

    /// Whether all three matrices are diagonal: coordinates are modes.
    pub fn is_modal(&self) -> bool {
        self.mass.is_diagonal()
            && self.stiffness.is_diagonal()
            && self.damping.as_ref().is_none_or(Symmetric::is_diagonal)
            && self.is_symmetric()
    }

    /// Whether C and K are symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.gyroscopic.is_none() && self.circulatory.is_none()
    }

    /// The antisymmetric parts of aC + bK.
    pub(super) fn skews(&self, a: f64, b: f64) -> Vec<(f64, &Skew)> {
        let (gyroscopic, circulatory) =
            (self.gyroscopic.iter().map(|c| (a, c)), self.circulatory.iter().map(|k| (b, k)));
        gyroscopic.chain(circulatory).collect()
    }

    /// y += a C v + b K u of the antisymmetric parts.
    pub(super) fn add_skew(&self, a: f64, v: &[f64], b: f64, u: &[f64], y: &mut [f64]) {
        if let Some(c) = &self.gyroscopic {
            c.add_product(a, v, y);
        }
        if let Some(k) = &self.circulatory {
            k.add_product(b, u, y);
        }
    }

    /// x·K y of the antisymmetric part.
    pub(super) fn circulation(&self, x: impl Fn(usize) -> f64, y: impl Fn(usize) -> f64) -> f64 {
        self.circulatory.iter().flat_map(Skew::entries).map(|(i, j, k)| x(i) * k * y(j)).sum()
    }

    /// Whether stop a acts on massless degrees of freedom only: it is then a spring that only pushes, and no impact has an
    /// impulse.
    pub fn is_compliant(&self, a: usize) -> bool {
        let (columns, _) = self.stops.row(a);
        columns.iter().any(|&i| self.mass.row(i).all(|(_, m)| m == 0.0))
    }

    /// The gap of a stop at a displacement, with its opening at rest.
    pub(super) fn gap(&self, a: usize, offset: f64, u: &[f64]) -> f64 {
        let Some((_, hole)) = self.holes.iter().find(|(stop, _)| *stop == a) else {
            return offset + self.stops.dot(a, u);
        };
        // A spring has an end of its own, which is no part of the distance.
        let ends = self.stops.entries(a).filter(|(i, _)| self.mass.row(*i).all(|(_, m)| m == 0.0));
        let end: f64 = ends.map(|(i, w)| w * u[i]).sum();
        offset + hole.eccentricity() - super::hole::length(hole.at(&self.points, u)) + end
    }

    /// By how much the start could move the gap of a stop, were all displacements as large as the largest: what cancels in it.
    pub(super) fn reach(&self, a: usize) -> f64 {
        let largest = crate::linalg::max_abs(&self.q0);
        self.stops.entries(a).map(|(_, w)| w.abs() * largest).sum()
    }

    /// The mass a stop feels in the first instant, 1 / (w·M⁻¹w); zero for one on a massless node.
    pub fn contact_mass(&self, a: usize) -> Result<f64, NotPositiveDefinite> {
        if self.is_compliant(a) { Ok(0.0) } else { self.mass_behind(a) }
    }

    /// 1 / (w·M⁻¹w) over what has mass.
    pub(super) fn mass_behind(&self, a: usize) -> Result<f64, NotPositiveDefinite> {
        let mut x = self.stops.vector(a, self.dimension());
        self.massless().into_iter().for_each(|i| x[i] = 0.0);
        self.definite_mass().factor()?.solve(&mut x);
        Ok(1.0 / self.stops.dot(a, &x))
    }

    /// Moves massless degrees of freedom to where the others, the loads and the stops hold them: K u = p + Σ λ w in their rows, with
    /// 0 ≤ w·u + o ⊥ λ ≥ 0 of the stops that act on them. Gives λ of every stop; zero for those on masses.
    pub(super) fn settle(
        &self,
        massless: &[usize],
        signals: &[f64],
        offsets: &[f64],
        q: &mut [f64],
    ) -> Result<Vec<f64>, SetupError> {
        let n = self.dimension();
        let mut place = vec![usize::MAX; n];
        massless.iter().enumerate().for_each(|(z, &i)| place[i] = z);
        let own = self.stiffness.entries().filter(|&(i, j, _)| place[i] < n && place[j] < n);
        let own = Symmetric::new(massless.len(), own.map(|(i, j, x)| (place[i], place[j], x)).collect());
        let factor = own.factor().map_err(|_| {
            SetupError::new("massless degrees of freedom are held by no stiffness")
                .help("give them a mass, or a stiffness")
        })?;
        let mut force = vec![0.0; n];
        signals.iter().enumerate().for_each(|(l, s)| self.loads.add_to(l, *s, &mut force));
        let mut z: Vec<f64> = massless
            .iter()
            .map(|&i| {
                force[i] - self.stiffness.row(i).filter(|(j, _)| place[*j] >= n).map(|(j, k)| k * q[j]).sum::<f64>()
            })
            .collect();
        factor.solve(&mut z);
        massless.iter().zip(&z).for_each(|(&i, z)| q[i] = *z);
        let soft: Vec<usize> = (0..self.stops.len()).filter(|&a| self.is_compliant(a)).collect();
        let mut gaps: Vec<f64> = soft.iter().map(|&a| self.gap(a, offsets[a], q)).collect();
        let mut reactions = vec![0.0; self.stops.len()];
        if gaps.iter().all(|&g| g >= 0.0) {
            return Ok(reactions);
        }
        let rows: Rows = soft
            .iter()
            .map(|&a| self.stops.entries(a).filter(|(i, _)| place[*i] < n).map(|(i, w)| (place[i], w)))
            .collect();
        let m = soft.len();
        let columns: Vec<Vec<f64>> = (0..m).map(|a| factor.solved(rows.vector(a, massless.len()))).collect();
        let gram: Vec<f64> = (0..m).flat_map(|a| columns.iter().map(|c| rows.dot(a, c)).collect::<Vec<_>>()).collect();
        let units = (0..m).map(|a| [(a, 1.0)]).collect::<Rows>();
        let mut kernel = Polyhedron::new(m, m);
        kernel
            .complete(&gram, &units, &mut gaps)
            .map_err(|_| SetupError::new("the stops contradict each other: no displacement keeps all gaps open"))?;
        for ((&a, column), &lambda) in soft.iter().zip(&columns).zip(&kernel.multipliers()[..m]) {
            reactions[a] = lambda;
            massless.iter().zip(column).for_each(|(&i, z)| q[i] += lambda * z);
        }
        Ok(reactions)
    }

    /// M with ones for massless degrees of freedom.
    pub(super) fn definite_mass(&self) -> Symmetric {
        let massless = self.massless();
        match massless.is_empty() {
            true => self.mass.clone(),
            false => {
                let ones = massless.iter().map(|&i| (i, i, 1.0));
                Symmetric::new(self.dimension(), self.mass.entries().chain(ones).collect())
            }
        }
    }
}
