//! The data of a figure, independent of where they are read from.

use saltus::model::Units;

/// An impact.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The time.
    pub t: f64,
    /// The constraint and the impulse of each reaction.
    pub impulses: Vec<(usize, f64)>,
    /// The largest approach speed of the constraints involved.
    pub approach: f64,
}

/// A motion at stored instants, with its impacts and contacts. Matrices are stored by rows, one row per instant.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// The title.
    pub title: String,
    /// The names of the coordinates.
    pub coordinates: Vec<String>,
    /// The names of the constraints.
    pub constraints: Vec<String>,
    /// The units.
    pub units: Units,
    /// The times.
    pub t: Vec<f64>,
    /// Positions.
    pub q: Vec<f64>,
    /// Left limits of the velocities.
    pub v_left: Vec<f64>,
    /// Right limits of the velocities.
    pub v_right: Vec<f64>,
    /// Reaction densities; empty if unknown.
    pub reaction: Vec<f64>,
    /// The impacts.
    pub impacts: Vec<Hit>,
    /// Contacts: constraint, start, end, impulse.
    pub contacts: Vec<(usize, f64, f64, f64)>,
}

/// Motions with at most this many instants are refined.
const MAX_REFINED: usize = 600;
/// The number of parts into which each interval is refined.
const PARTS: usize = 12;

impl Motion {
    /// The number of coordinates.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.coordinates.len()
    }

    /// The part between two times, interpolated at the ends if they lie between instants.
    #[must_use]
    pub fn window(&self, from: f64, to: f64) -> Motion {
        let (d, m) = (self.dimension(), if self.reaction.is_empty() { 0 } else { self.constraints.len() });
        let (a, b) = (self.t.partition_point(|&t| t < from), self.t.partition_point(|&t| t <= to));
        let mut cut = Motion {
            title: self.title.clone(),
            coordinates: self.coordinates.clone(),
            constraints: self.constraints.clone(),
            units: self.units.clone(),
            impacts: self.impacts.iter().filter(|i| i.t >= from && i.t <= to).cloned().collect(),
            contacts: Vec::new(),
            ..Motion::default()
        };
        for &(c, start, end, impulse) in self.contacts.iter().filter(|c| c.2 > from && c.1 < to) {
            let (first, last) = (start.max(from), end.min(to));
            let part = if end > start { (last - first) / (end - start) } else { 1.0 };
            cut.contacts.push((c, first, last, impulse * part));
        }
        if a > 0 && a < self.t.len() && self.t[a] > from {
            cut.interpolate(self, a - 1, from);
        }
        cut.t.extend(&self.t[a..b]);
        cut.q.extend(&self.q[a * d..b * d]);
        cut.v_left.extend(&self.v_left[a * d..b * d]);
        cut.v_right.extend(&self.v_right[a * d..b * d]);
        cut.reaction.extend(&self.reaction[a * m..b * m]);
        if b > 0 && b < self.t.len() && self.t[b - 1] < to {
            cut.interpolate(self, b - 1, to);
        }
        cut
    }

    /// The same motion with interpolated points if there are so few instants that straight lines would be visible.
    #[must_use]
    pub fn refined(&self) -> Motion {
        if self.t.len() > MAX_REFINED {
            return self.clone();
        }
        let mut fine =
            Motion { t: vec![], q: vec![], v_left: vec![], v_right: vec![], reaction: vec![], ..self.clone() };
        let (d, m) = (self.dimension(), if self.reaction.is_empty() { 0 } else { self.constraints.len() });
        for k in 0..self.t.len() {
            fine.t.push(self.t[k]);
            fine.q.extend(&self.q[k * d..(k + 1) * d]);
            fine.v_left.extend(&self.v_left[k * d..(k + 1) * d]);
            fine.v_right.extend(&self.v_right[k * d..(k + 1) * d]);
            fine.reaction.extend(&self.reaction[k * m..(k + 1) * m]);
            if k + 1 < self.t.len() {
                let h = self.t[k + 1] - self.t[k];
                (1..PARTS).for_each(|i| fine.interpolate(self, k, self.t[k] + h * i as f64 / PARTS as f64));
            }
        }
        fine
    }

    /// Appends the state of another motion at a time after its instant k, by cubic Hermite interpolation as in the library.
    fn interpolate(&mut self, of: &Motion, k: usize, t: f64) {
        let d = of.dimension();
        let h = of.t[k + 1] - of.t[k];
        let s = (t - of.t[k]) / h;
        self.t.push(t);
        for i in 0..d {
            let (q0, q1) = (of.q[k * d + i], of.q[(k + 1) * d + i]);
            let (v0, v1) = (of.v_right[k * d + i], of.v_left[(k + 1) * d + i]);
            let delta = q1 - q0;
            let (a, b) = (h * v0 - delta, h * v1 - delta);
            self.q.push(q0 + s * (delta + (1.0 - s) * ((1.0 - s) * a - s * b)));
            let v = (delta + (1.0 - s) * (1.0 - 3.0 * s) * a + s * (3.0 * s - 2.0) * b) / h;
            self.v_left.push(v);
            self.v_right.push(v);
        }
        if !of.reaction.is_empty() {
            let m = of.constraints.len();
            // Densities jump where contacts begin and end: then the value at the start holds for the whole interval.
            let (here, next) = (&of.reaction[k * m..(k + 1) * m], &of.reaction[(k + 1) * m..(k + 2) * m]);
            let density = |(&a, &b): (&f64, &f64)| if a == 0.0 || b == 0.0 { a } else { a + s * (b - a) };
            self.reaction.extend(here.iter().zip(next).map(density));
        }
    }
}
