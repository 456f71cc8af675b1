//! The numbers behind a figure, whatever they were read from.

use saltus::model::Units;

/// An impact.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its instant.
    pub t: f64,
    /// (constraint, impulse) of each that acted.
    pub impulses: Vec<(usize, f64)>,
    /// The speed at which the gap that closes fastest was closing.
    pub approach: f64,
}

/// A motion at stored instants, as rows, with its impacts.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// What it is.
    pub title: String,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Names of the constraints.
    pub constraints: Vec<String>,
    /// Units.
    pub units: Units,
    /// The instants.
    pub t: Vec<f64>,
    /// Positions, a row an instant.
    pub q: Vec<f64>,
    /// Left limits of the velocity.
    pub v_left: Vec<f64>,
    /// Right limits.
    pub v_right: Vec<f64>,
    /// Reaction densities, a row an instant; empty where they are not known.
    pub reaction: Vec<f64>,
    /// The impacts.
    pub impacts: Vec<Hit>,
    /// Contacts: constraint, start, end, impulse.
    pub contacts: Vec<(usize, f64, f64, f64)>,
}

/// Fewer instants than this are joined by cubics instead of straight lines.
const FEW: usize = 600;
/// Points of a cubic.
const FINE: usize = 12;

impl Motion {
    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.coordinates.len()
    }

    /// What lies between two times, the ends of the window included where they fall between instants.
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
            cut.between(self, a - 1, from);
        }
        cut.t.extend(&self.t[a..b]);
        cut.q.extend(&self.q[a * d..b * d]);
        cut.v_left.extend(&self.v_left[a * d..b * d]);
        cut.v_right.extend(&self.v_right[a * d..b * d]);
        cut.reaction.extend(&self.reaction[a * m..b * m]);
        if b > 0 && b < self.t.len() && self.t[b - 1] < to {
            cut.between(self, b - 1, to);
        }
        cut
    }

    /// The same with points between the instants, where there are so few that straight lines would show.
    pub fn refined(&self) -> Motion {
        if self.t.len() > FEW {
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
                (1..FINE).for_each(|i| fine.between(self, k, self.t[k] + h * i as f64 / FINE as f64));
            }
        }
        fine
    }

    /// Appends what another motion is at a time after its instant k: cubic Hermite, as the library has it.
    fn between(&mut self, of: &Motion, k: usize, t: f64) {
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
            // Densities jump where contacts begin and end: the value at the start of the interval is that of its inside.
            let (here, next) = (&of.reaction[k * m..(k + 1) * m], &of.reaction[(k + 1) * m..(k + 2) * m]);
            let inside = |(&a, &b): (&f64, &f64)| if a == 0.0 || b == 0.0 { a } else { a + s * (b - a) };
            self.reaction.extend(here.iter().zip(next).map(inside));
        }
    }
}
