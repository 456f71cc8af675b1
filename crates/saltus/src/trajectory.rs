//! Bounded variation made a type: positions are continuous, a velocity is a pair of limits, reactions are impulses.

use crate::impacts::Impacts;
use crate::pieces::Pieces;

/// Which one-sided limit of a function that may jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The limit from earlier times.
    Left,
    /// The limit from later times.
    Right,
}

/// An interval during which a constraint stays active.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// Index of the constraint in the model.
    pub constraint: usize,
    /// Where it begins.
    pub start: f64,
    /// Where it ends, or the end of the run.
    pub end: f64,
    /// The total impulse ∫λ dt over it, the opening impact included.
    pub impulse: f64,
}

/// A discrete motion.
///
/// Stored instants are those asked for and every instant at which the velocity jumps, so that no jump falls between
/// two of them: interpolation never averages across one.
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    d: usize,
    /// The stored instants.
    pub t: Vec<f64>,
    q: Vec<f64>,
    /// Left limits of the velocity.
    v: Vec<f64>,
    /// Which stored instants have another right limit, in order …
    jumps: Vec<usize>,
    /// … and what it is.
    v_right: Vec<f64>,
    /// The impacts: instants at which the velocity jumps.
    pub impacts: Impacts,
    /// The contacts: intervals during which a constraint is active.
    pub contacts: Vec<Contact>,
    /// The motion as polynomials, from an engine that has them: then it is known between stored instants, too.
    pub pieces: Pieces,
}

impl Trajectory {
    /// An empty motion of `d` degrees of freedom.
    pub fn new(d: usize) -> Self {
        Trajectory { d, pieces: Pieces::new(d), ..Trajectory::default() }
    }

    /// Bytes taken by `samples` stored instants.
    pub fn bytes(d: usize, samples: u64) -> u64 {
        samples.saturating_mul(8 * (1 + 2 * d as u64))
    }

    /// Sets memory aside; false if there is not enough.
    pub(crate) fn reserve(&mut self, samples: usize) -> bool {
        let many = samples.saturating_mul(self.d);
        self.t.try_reserve(samples).is_ok() && self.q.try_reserve(many).is_ok() && self.v.try_reserve(many).is_ok()
    }

    /// Appends an instant at which the velocity is continuous.
    pub(crate) fn push(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.t.push(t);
        self.q.extend_from_slice(q);
        self.v.extend_from_slice(v);
    }

    /// Takes the last instant back if it is at `t`; gives its left velocity.
    pub(crate) fn take_last(&mut self, t: f64) -> Option<Vec<f64>> {
        if self.t.last() != Some(&t) {
            return None;
        }
        self.t.pop();
        let (k, kept) = (self.t.len(), self.t.len() * self.d);
        self.q.truncate(kept);
        let left = self.v.split_off(kept);
        if self.jumps.last() == Some(&k) {
            self.jumps.pop();
            self.v_right.truncate(self.jumps.len() * self.d);
        }
        Some(left)
    }

    /// Appends an instant at which it may jump.
    pub(crate) fn push_jump(&mut self, t: f64, q: &[f64], v_left: &[f64], v_right: &[f64]) {
        if v_left != v_right {
            self.jumps.push(self.t.len());
            self.v_right.extend_from_slice(v_right);
        }
        self.push(t, q, v_left);
    }

    /// Number of degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.d
    }

    /// Number of stored instants.
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// The position at stored instant `k`.
    pub fn q(&self, k: usize) -> &[f64] {
        &self.q[k * self.d..(k + 1) * self.d]
    }

    /// A limit of the velocity at stored instant `k`.
    pub fn v(&self, k: usize, side: Side) -> &[f64] {
        let d = self.d;
        match (side, self.jumps.binary_search(&k)) {
            (Side::Right, Ok(jump)) => &self.v_right[jump * d..(jump + 1) * d],
            _ => &self.v[k * d..(k + 1) * d],
        }
    }

    /// Which stored instants have a right limit of the velocity other than the left one, in order.
    pub fn jumps(&self) -> &[usize] {
        &self.jumps
    }

    /// All positions, one instant after another.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// All left limits of the velocity, one instant after another.
    pub fn left_velocities(&self) -> &[f64] {
        &self.v
    }

    /// All velocities of one side, one instant after another.
    pub fn velocities(&self, side: Side) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).flat_map(move |k| self.v(k, side).iter().copied())
    }

    /// Position and velocity at any time. At a jump `side` chooses the limit. None outside the run.
    ///
    /// The event-driven engine leaves polynomials that hold everywhere; for time-stepping schemes the motion between stored
    /// instants is the cubic that has the stored positions and the one-sided velocities at the ends of the interval.
    ///
    /// ```
    /// use saltus::{Problem, RunOptions, Side, model::Builder, run};
    /// let ball = Builder::new("ball").coordinate("y", "1", "-1").kinetic("y'^2/2")
    ///     .restitution("0.5").constraint("floor", "y").build().unwrap();
    /// let run = run(&Problem::new(ball).unwrap(), &RunOptions::new(0.1, 2.0), &mut |_| true).unwrap();
    /// let (q, v) = run.trajectory.at(0.25, Side::Left).unwrap();
    /// assert!((q[0] - 0.75).abs() < 1e-12 && (v[0] + 1.0).abs() < 1e-12);
    /// ```
    pub fn at(&self, t: f64, side: Side) -> Option<(Vec<f64>, Vec<f64>)> {
        let (first, last) = (*self.t.first()?, *self.t.last()?);
        if !(first..=last).contains(&t) {
            return None;
        }
        let mut cursor = Cursor::new(self);
        cursor.k = self.t.partition_point(|&s| s <= t) - 1;
        let (mut q, mut v) = (vec![0.0; self.d], vec![0.0; self.d]);
        cursor.read(t, side, &mut q, &mut v);
        Some((q, v))
    }

    /// The same motion seen through linear functions of its coordinates, one a row.
    pub(crate) fn mapped(&self, rows: &crate::linalg::Rows) -> Trajectory {
        let d = self.d;
        let map = |all: &[f64]| -> Vec<f64> {
            all.chunks_exact(d).flat_map(|x| (0..rows.len()).map(move |r| rows.dot(r, x))).collect()
        };
        Trajectory {
            d: rows.len(),
            t: self.t.clone(),
            q: map(&self.q),
            v: map(&self.v),
            jumps: self.jumps.clone(),
            v_right: map(&self.v_right),
            impacts: self.impacts.mapped(rows),
            contacts: self.contacts.clone(),
            pieces: self.pieces.mapped(rows),
        }
    }

    /// The reaction density of each of `m` constraints at any time (N, or N·m for an angle), where the engine gives
    /// densities; zero in flight. The atoms, impulses at impacts, are in [`Trajectory::impacts`]. None where it is not known.
    pub fn reactions(&self, t: f64, side: Side, m: usize) -> Option<Vec<f64>> {
        let k = self.pieces.find(t, side == Side::Left)?;
        let mut out = vec![0.0; m];
        self.pieces.reactions(k, t, &mut out);
        Some(out)
    }
}

/// Reads a trajectory at increasing times without searching and without allocating.
pub(crate) struct Cursor<'a> {
    trajectory: &'a Trajectory,
    /// The stored instant at or before the time last read.
    k: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(trajectory: &'a Trajectory) -> Self {
        Cursor { trajectory, k: 0 }
    }

    /// Position and velocity at `t`, which lies within the run and not before the time last read.
    pub fn read(&mut self, t: f64, side: Side, q: &mut [f64], v: &mut [f64]) {
        let motion = self.trajectory;
        while self.k + 1 < motion.len() && motion.t[self.k + 1] <= t {
            self.k += 1;
        }
        let k = self.k;
        if motion.t[k] == t || k + 1 == motion.len() {
            q.copy_from_slice(motion.q(k));
            v.copy_from_slice(motion.v(k, side));
            return;
        }
        if let Some(piece) = motion.pieces.find(t, side == Side::Left) {
            motion.pieces.read(piece, t, q, v);
            return;
        }
        let h = motion.t[k + 1] - motion.t[k];
        let s = (t - motion.t[k]) / h;
        let (q0, q1) = (motion.q(k), motion.q(k + 1));
        let (v0, v1) = (motion.v(k, Side::Right), motion.v(k + 1, Side::Left));
        for i in 0..motion.d {
            // Cubic Hermite in the form q0 + s(Δ + (1−s)((1−s)(h v0 − Δ) − s(h v1 − Δ))).
            let delta = q1[i] - q0[i];
            let (a, b) = (h * v0[i] - delta, h * v1[i] - delta);
            q[i] = q0[i] + s * (delta + (1.0 - s) * ((1.0 - s) * a - s * b));
            v[i] = (delta + (1.0 - s) * (1.0 - 3.0 * s) * a + s * (3.0 * s - 2.0) * b) / h;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_has_the_data_at_the_ends_and_keeps_jumps() {
        let mut motion = Trajectory::new(1);
        motion.push(0.0, &[1.0], &[-1.0]);
        motion.push_jump(1.0, &[0.0], &[-1.0], &[0.5]);
        motion.push_jump(2.0, &[0.5], &[0.5], &[0.5]);
        assert_eq!(motion.at(1.0, Side::Left), Some((vec![0.0], vec![-1.0])));
        assert_eq!(motion.at(1.0, Side::Right), Some((vec![0.0], vec![0.5])));
        assert_eq!(motion.at(0.75, Side::Right), Some((vec![0.25], vec![-1.0])));
        assert_eq!(motion.at(1.5, Side::Left), Some((vec![0.25], vec![0.5])));
        assert_eq!(motion.at(2.5, Side::Left), None);
        assert_eq!(motion.at(f64::NAN, Side::Left), None);
    }

    #[test]
    fn interpolation_is_exact_for_parabolas() {
        let mut motion = Trajectory::new(1);
        for t in [0.0, 0.5] {
            let v = [3.0 - 4.0 * t];
            motion.push(t, &[1.0 + 3.0 * t - 2.0 * t * t], &v);
        }
        let (q, v) = motion.at(0.2, Side::Left).expect("inside");
        assert!((q[0] - (1.0 + 0.6 - 0.08)).abs() < 1e-15 && (v[0] - 2.2).abs() < 1e-14);
    }
}
