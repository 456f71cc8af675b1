//! Bounded variation as a type: positions are continuous, a velocity is a pair of limits, reactions are densities and
//! impulses.

use super::{EventHit, History, Impact, Impacts, Pieces};
use crate::SetupError;
use crate::linalg::largest;

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
    /// How many of the last unknowns are first-order states: velocities of coordinates that nothing depends on.
    states: usize,
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
    /// Events of the user's own, in order.
    pub events: Vec<EventHit>,
    /// The motion as polynomials, from an engine that has them: then it is known between stored instants as well.
    pub pieces: Pieces,
    /// Reaction densities at the stored instants, one row each, for a motion that was read back without its polynomials.
    samples: Vec<f64>,
    /// What constraints and accelerations were at the stored instants, where an engine notes them.
    pub history: History,
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

    /// Reserves memory; false if there is not enough.
    pub(crate) fn reserve(&mut self, samples: usize) -> bool {
        let many = samples.saturating_mul(self.d);
        self.t.try_reserve(samples).is_ok() && self.q.try_reserve(many).is_ok() && self.v.try_reserve(many).is_ok()
    }

    /// Appends an instant with both limits of its velocity, for instance one read back from a file.
    pub fn push_instant(&mut self, t: f64, q: &[f64], v_left: &[f64], v_right: &[f64]) -> Result<(), SetupError> {
        for (name, x) in [("a position", q), ("a left velocity", v_left), ("a right velocity", v_right)] {
            if x.len() != self.d {
                return Err(SetupError::length(name, self.d, x.len()));
            }
        }
        if self.t.last().is_some_and(|&last| !(last <= t)) || t.is_nan() {
            return Err(SetupError::new(format!("the instants of a motion are in order: t = {t} comes too late")));
        }
        self.push_jump(t, q, v_left, v_right);
        Ok(())
    }

    /// Gives reaction densities at the stored instants, one row of constraints, joints and slips per instant.
    pub fn set_reaction_samples(&mut self, samples: Vec<f64>) {
        self.samples = samples;
    }

    /// Appends an instant at which the velocity is continuous.
    pub(crate) fn push(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.t.push(t);
        self.q.extend_from_slice(q);
        self.v.extend_from_slice(v);
    }

    /// Removes the last instant if it is at `t`; gives its left velocity.
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

    /// Number of unknowns: coordinates and first-order states.
    pub fn dimension(&self) -> usize {
        self.d
    }

    /// Number of coordinates.
    pub fn degrees(&self) -> usize {
        self.d - self.states
    }

    /// Whether a coordinate is a force, the base shear of a structure: no displacement, and no measure of how far something moves.
    pub fn is_force(&self, i: usize) -> bool {
        self.history.shear_points().contains(&i)
    }

    /// The coordinates that are displacements.
    pub fn displacements(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.degrees()).filter(|&i| !self.is_force(i))
    }

    /// Says that the last `states` unknowns are first-order states.
    #[must_use]
    pub fn with_states(mut self, states: usize) -> Self {
        self.states = states.min(self.d);
        self
    }

    /// The first-order states at stored instant `k`.
    pub fn states(&self, k: usize) -> &[f64] {
        &self.v[k * self.d + self.degrees()..(k + 1) * self.d]
    }

    /// The largest position of a coordinate at a stored instant.
    pub fn reach(&self) -> f64 {
        self.largest(&self.q)
    }

    /// The largest left limit of the velocity of a coordinate at a stored instant.
    pub fn fastest(&self) -> f64 {
        self.largest(&self.v)
    }

    /// Whether all positions and velocities are finite numbers.
    pub(crate) fn is_finite(&self) -> bool {
        // (Without an early end, which would keep the loops from being vectorised.)
        let finite = |values: &[f64]| values.iter().fold(true, |all, x| all & x.is_finite());
        finite(&self.q) && finite(&self.v) && finite(&self.v_right)
    }

    /// The largest entry that belongs to a coordinate.
    fn largest(&self, rows: &[f64]) -> f64 {
        if !self.history.shear_points().is_empty() {
            let of = |row: &[f64]| self.displacements().fold(0.0_f64, |most, i| most.max(row[i].abs()));
            return rows.chunks_exact(self.d).map(of).fold(0.0, f64::max);
        }
        match self.states {
            0 => largest(rows),
            _ => rows.chunks_exact(self.d).map(|row| largest(&row[..self.degrees()])).fold(0.0, f64::max),
        }
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
        match side {
            Side::Right if let Ok(jump) = self.jumps.binary_search(&k) => &self.v_right[jump * d..(jump + 1) * d],
            _ => &self.v[k * d..(k + 1) * d],
        }
    }

    /// Both limits of the velocity at one stored instant after another, from `first` on.
    pub(crate) fn sides(&self, first: usize) -> impl Iterator<Item = (&[f64], &[f64])> {
        let d = self.d;
        let mut next = self.jumps.partition_point(|&jump| jump < first);
        (first..self.len()).map(move |k| {
            let left = &self.v[k * d..(k + 1) * d];
            match self.jumps.get(next) == Some(&k) {
                true => {
                    next += 1;
                    (left, &self.v_right[(next - 1) * d..next * d])
                }
                false => (left, left),
            }
        })
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

    /// The first and the last stored instant; None if nothing is stored.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((*self.t.first()?, *self.t.last()?))
    }

    /// Evenly spaced times from the first stored instant to the last, `n` intervals: all of them inside the motion.
    ///
    /// ```
    /// use saltus::{Options, Side, model::Builder};
    /// let free = Builder::new("bead").coordinate("x", 0.0, 1.0).kinetic("x'^2/2").build()?.problem()?;
    /// let run = free.run(&Options::events(3.0))?.ok()?;
    /// let mut motion = run.trajectory.cursor(Side::Right);
    /// let (mut q, mut v) = ([0.0], [0.0]);
    /// for t in run.trajectory.times(100) {
    ///     motion.read(t, &mut q, &mut v)?;
    ///     assert!((q[0] - t).abs() < 1e-12 && v == [1.0]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn times(&self, n: usize) -> impl Iterator<Item = f64> + use<> {
        let (first, last) = self.span().unwrap_or((0.0, 0.0));
        let n = n.max(1);
        (0..=n).map(move |k| if k == n { last } else { first + (last - first) * k as f64 / n as f64 })
    }

    /// Position and velocity at any time. At a jump `side` chooses the limit. None outside the motion.
    ///
    /// The event-driven engine leaves polynomials that hold everywhere; for time-stepping schemes the motion between stored
    /// instants is the cubic that has the stored positions and the one-sided velocities at the ends of the interval.
    ///
    /// ```
    /// use saltus::{Options, Side, model::Builder};
    /// let ball = Builder::new("ball").coordinate("y", 1.0, -1.0).kinetic("y'^2/2")
    ///     .restitution(0.5).constraint("floor", "y").build()?;
    /// let run = ball.problem()?.run(&Options::events(2.0))?.ok()?;
    /// let (q, v) = run.trajectory.at(0.25, Side::Left).unwrap();
    /// assert!((q[0] - 0.75).abs() < 1e-12 && (v[0] + 1.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(&self, t: f64, side: Side) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut cursor = Cursor::new(self, side);
        let (mut q, mut v) = (vec![0.0; self.d], vec![0.0; self.d]);
        cursor.read(t, &mut q, &mut v).ok()?;
        Some((q, v))
    }

    /// Reads the motion at any times without allocating; fastest when they increase.
    pub fn cursor(&self, side: Side) -> Cursor<'_> {
        Cursor::new(self, side)
    }

    /// The same motion seen through linear functions of its coordinates, one per row.
    pub(crate) fn mapped(&self, rows: &crate::linalg::Rows) -> Trajectory {
        let d = self.d;
        let map = |all: &[f64]| -> Vec<f64> {
            all.chunks_exact(d).flat_map(|x| (0..rows.len()).map(move |r| rows.dot(r, x))).collect()
        };
        Trajectory {
            d: rows.len(),
            states: 0,
            t: self.t.clone(),
            q: map(&self.q),
            v: map(&self.v),
            jumps: self.jumps.clone(),
            v_right: map(&self.v_right),
            impacts: self.impacts.mapped(rows),
            contacts: self.contacts.clone(),
            events: self.events.iter().map(|e| EventHit { q: map(&e.q), v: map(&e.v), ..e.clone() }).collect(),
            pieces: self.pieces.mapped(rows),
            samples: self.samples.clone(),
            history: History::default(),
        }
    }

    /// The reaction density of each of `m` constraints at any time (N, or N·m for an angle), where the engine gives
    /// densities; zero in flight. With `m` beyond the constraints, those of joints and slips behind them. The atoms, impulses at impacts, are in [`Trajectory::impacts`]. None where unknown.
    pub fn reactions(&self, t: f64, side: Side, m: usize) -> Option<Vec<f64>> {
        let k = self.pieces.find(t, side == Side::Left)?;
        let mut out = vec![0.0; m];
        self.pieces.reactions(k, t, &mut out);
        Some(out)
    }

    /// Whether reaction densities are known.
    pub fn has_reactions(&self) -> bool {
        !self.pieces.is_empty() || !self.samples.is_empty()
    }

    /// The reaction densities at stored instant k: right limits; at the end of the motion the left ones; NaN where they are
    /// not known. With `m` beyond the constraints, those of joints and slips behind them.
    pub fn reactions_at(&self, k: usize, m: usize) -> Vec<f64> {
        if !self.samples.is_empty() {
            // (Rows of joints and slips, where they are there, stand behind those of the constraints.)
            let width = self.samples.len() / self.len().max(1);
            let row = self.samples.get(k * width..(k + 1) * width).unwrap_or_default();
            return (0..m).map(|a| row.get(a).copied().unwrap_or(f64::NAN)).collect();
        }
        let right = self.reactions(self.t[k], Side::Right, m);
        right.or_else(|| self.reactions(self.t[k], Side::Left, m)).unwrap_or_else(|| vec![f64::NAN; m])
    }

    /// The part of the motion between two times, with an instant at each of them if they lie within it. Contacts are cut, and
    /// their impulses in proportion; polynomials are not kept.
    pub fn window(&self, from: f64, to: f64) -> Trajectory {
        let mut part = Trajectory::new(self.d).with_states(self.states);
        let inside = |t: f64| t >= from && t <= to;
        let m = self.samples.len() / self.len().max(1);
        let row = |k: usize| &self.samples[k * m..(k + 1) * m];
        let mut samples = Vec::new();
        // An end between stored instants; the reaction at the instant before holds until the next.
        let between = |t: f64, part: &mut Trajectory, samples: &mut Vec<f64>| {
            let next = self.t.partition_point(|x| *x <= t);
            if let (Some((q, v)), true) = (self.at(t, Side::Right), next > 0 && self.t[next - 1] < t) {
                part.push(t, &q, &v);
                samples.extend(row(next - 1));
            }
        };
        between(from, &mut part, &mut samples);
        for k in (0..self.len()).filter(|&k| inside(self.t[k])) {
            part.push_jump(self.t[k], self.q(k), self.v(k, Side::Left), self.v(k, Side::Right));
            samples.extend(row(k));
        }
        between(to, &mut part, &mut samples);
        part.samples = samples;
        self.impacts.iter().filter(|i: &Impact| inside(i.t)).for_each(|i| part.impacts.push_impact(&i));
        for c in self.contacts.iter().filter(|c| c.end >= from && c.start <= to) {
            let (start, end) = (c.start.max(from), c.end.min(to));
            let share = if c.end > c.start { (end - start) / (c.end - c.start) } else { 1.0 };
            part.contacts.push(Contact { start, end, impulse: c.impulse * share, ..c.clone() });
        }
        part.events = self.events.iter().filter(|e| inside(e.t)).cloned().collect();
        part
    }
}

/// A time outside a motion.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("t = {t} is outside the motion, which goes from {} to {}", .span.0, .span.1)]
pub struct OutsideMotion {
    /// The time asked for.
    pub t: f64,
    /// The first and last instant of the motion.
    pub span: (f64, f64),
}

/// Reads a trajectory without allocating; fast when times increase.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    trajectory: &'a Trajectory,
    side: Side,
    /// The stored instant at or before the time last read.
    k: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(trajectory: &'a Trajectory, side: Side) -> Self {
        Cursor { trajectory, side, k: 0 }
    }

    /// Position and velocity at `t`. The ends of the motion are inside it; so is what lies beyond them by rounding.
    pub fn read(&mut self, t: f64, q: &mut [f64], v: &mut [f64]) -> Result<(), OutsideMotion> {
        let Some((first, last)) = self.trajectory.span() else {
            return Err(OutsideMotion { t, span: (f64::NAN, f64::NAN) });
        };
        let rounding = 8.0 * f64::EPSILON * first.abs().max(last.abs());
        if !(t >= first - rounding && t <= last + rounding) || q.len() != self.trajectory.d || v.len() != q.len() {
            return Err(OutsideMotion { t, span: (first, last) });
        }
        let t = t.clamp(first, last);
        if t < self.trajectory.t[self.k] {
            self.k = self.trajectory.t.partition_point(|&s| s <= t).saturating_sub(1);
        }
        self.read_on(t, self.side, q, v);
        Ok(())
    }

    /// Position and velocity at `t`, which lies within the motion and not before the time last read.
    pub(crate) fn read_on(&mut self, t: f64, side: Side, q: &mut [f64], v: &mut [f64]) {
        let motion = self.trajectory;
        if motion.t.get(self.k + 8).is_some_and(|&ahead| ahead <= t) {
            self.k = motion.t.partition_point(|&s| s <= t) - 1;
        }
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
        // A state is known by its own values.
        for i in motion.degrees()..motion.d {
            v[i] = v0[i] + s * (v1[i] - v0[i]);
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
