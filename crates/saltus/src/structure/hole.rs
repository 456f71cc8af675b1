//! Round holes: a point (y, z) stays within a radius c of a centre. The gap is c − |x| with x = (y, z) less the centre, the normal
//! turns with the point, and what slides goes around.
//!
//! In a step a hole is one facet, turned until it fits: the direction n of its force is that of the law at the end of the step.
//!
//! ```text
//! rigid:       n = Z/|Z|,   Z = (x^{n+1} + e x^{n−1})/(1+e):   n·Z ≤ c is then |Z| ≤ c, the nearest point of the disc
//! a spring:    n = (x₀ + x₁)/(|x₀| + |x₁|),   so that n·(x₁ − x₀) = |x₁| − |x₀|:   a discrete gradient of W(c − |x|)
//! ```
//!
//! The second is that of central forces (Simo, Tarnow & Wong 1992, CMAME 100, 63): a spring gives back what it takes, and friction
//! alone changes the angular momentum.

use crate::linalg::Rows;

/// A round hole.
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// The points that are the two displacements across it.
    pub points: [usize; 2],
    /// Its centre, where they are displacements from their place at rest.
    pub centre: [f64; 2],
}

impl Hole {
    /// The text of its gap: a radius less the distance of two coordinates from a centre. (At the centre, where the distance has no
    /// slope, it is smooth.)
    pub fn gap(radius: &str, [y, z]: [&str; 2], [cy, cz]: [&str; 2]) -> String {
        format!("({radius}) - sqrt(({y} - ({cy}))^2 + ({z} - ({cz}))^2 + 1e-300)")
    }

    /// x at a displacement, by rows of points.
    pub(super) fn at(&self, points: &Rows, u: &[f64]) -> [f64; 2] {
        [0, 1].map(|i| points.dot(self.points[i], u) - self.centre[i])
    }

    /// By how much the gap of the points at rest is less than the radius.
    pub fn eccentricity(&self) -> f64 {
        length(self.centre)
    }
}

pub(super) fn length([y, z]: [f64; 2]) -> f64 {
    y.hypot(z)
}

pub(super) fn product(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// A hole in the steps of a scheme: the stop's row is that of its first point, that of its slip the row of its second, until they are
/// turned into the normal and the tangent.
#[derive(Clone, Debug)]
pub(super) struct Bore {
    pub stop: usize,
    pub slip: usize,
    hole: Hole,
    /// e of a rigid one; none for a spring.
    restitution: Option<f64>,
    /// n, and the tangent.
    pub normal: [f64; 2],
    tangent: [f64; 2],
    /// The radius; x^{n−1}, x^n; x at the beginning of the path of a spring; x^{n+1} and the step without contact.
    radius: f64,
    behind: [f64; 2],
    now: [f64; 2],
    from: [f64; 2],
    free: [f64; 2],
    pub step: [f64; 2],
    /// The force of a spring in the step before.
    pub thrust: [f64; 2],
}

/// Where a bore is in a step.
pub(super) struct Place<'a> {
    pub q: &'a [f64],
    pub before: &'a [f64],
    pub after: &'a [f64],
    /// Whether the path of a spring begins at x^{n−1}, not at x^n.
    pub is_long: bool,
}

impl Bore {
    pub fn new(stop: usize, slip: usize, hole: &Hole, restitution: Option<f64>) -> Self {
        let zero = [0.0; 2];
        Bore {
            stop,
            slip,
            hole: hole.clone(),
            restitution,
            normal: [1.0, 0.0],
            tangent: [0.0, 1.0],
            radius: 0.0,
            behind: zero,
            now: zero,
            from: zero,
            free: zero,
            step: zero,
            thrust: zero,
        }
    }

    /// The two rows on a displacement.
    fn moved(&self, rows: &Rows, u: &[f64]) -> [f64; 2] {
        [rows.dot(self.stop, u), rows.dot(self.slip, u)]
    }

    /// A step begins, with a radius; the first direction is that of the step without contact.
    pub fn aim(&mut self, rows: &Rows, place: &Place, radius: f64) {
        let centre = self.hole.centre;
        let (q, before) = (self.moved(rows, place.q), self.moved(rows, place.before));
        self.step = self.moved(rows, place.after);
        self.now = [q[0] - centre[0], q[1] - centre[1]];
        self.behind = [self.now[0] - before[0], self.now[1] - before[1]];
        self.free = [self.now[0] + self.step[0], self.now[1] + self.step[1]];
        self.from = if place.is_long { self.behind } else { self.now };
        self.radius = radius;
        self.turn(self.free);
    }

    /// Takes the direction that belongs to an end of the step; by how much it turned.
    pub fn turn(&mut self, end: [f64; 2]) -> f64 {
        let (sum, size) = match self.restitution {
            Some(e) => {
                let sum = [0, 1].map(|i| end[i] + e * self.behind[i]);
                (sum, length(sum))
            }
            None => ([0, 1].map(|i| self.from[i] + end[i]), length(self.from) + length(end)),
        };
        if !(size > 0.0) || sum == [0.0; 2] {
            return 0.0;
        }
        let normal = sum.map(|x| x / size);
        let change = length([normal[0] - self.normal[0], normal[1] - self.normal[1]]);
        self.normal = normal;
        let long = length(normal);
        self.tangent = [-normal[1] / long, normal[0] / long];
        change
    }

    /// The gap as the scheme sees it without contact, times 1 + e for a rigid one.
    pub fn slack(&self) -> f64 {
        let n = self.normal;
        match self.restitution {
            Some(e) => (1.0 + e) * self.radius - product(n, self.free) - e * product(n, self.behind),
            None => {
                let way = [self.free[0] - self.from[0], self.free[1] - self.from[1]];
                self.radius - length(self.from) - product(n, way)
            }
        }
    }

    /// g^n and g^{n−1} along the direction, with a radius.
    pub fn gaps(&self, radius: f64) -> (f64, f64) {
        (radius - product(self.normal, self.now), radius - product(self.normal, self.behind))
    }

    /// The gap at x^n.
    pub fn gap_of(&self, rows: &Rows, q: &[f64], radius: f64) -> f64 {
        let x = self.moved(rows, q);
        radius - length([x[0] - self.hole.centre[0], x[1] - self.hole.centre[1]])
    }

    /// The slip of the step without contact.
    pub fn free_slip(&self) -> f64 {
        product(self.tangent, self.step)
    }

    /// x^{n+1} with what multipliers on both rows add.
    pub fn end(&self, added: [f64; 2]) -> [f64; 2] {
        [self.free[0] + added[0], self.free[1] + added[1]]
    }

    /// Opening of the gap along the direction by a step.
    pub fn opening(&self, rows: &Rows, step: &[f64]) -> f64 {
        -product(self.normal, self.moved(rows, step))
    }

    /// Slip along the tangent by a step.
    pub fn slid(&self, rows: &Rows, step: &[f64]) -> f64 {
        product(self.tangent, self.moved(rows, step))
    }

    /// What a normal and a tangential multiplier are on the rows of both points.
    pub fn unturned(&self, normal: f64, tangential: f64) -> [f64; 2] {
        [0, 1].map(|i| -normal * self.normal[i] + tangential * self.tangent[i])
    }

    /// Turns the two rows and columns of a matrix over all rows.
    pub fn turn_rows(&self, all: usize, gram: &mut [f64]) {
        let (n, t) = (self.normal, self.tangent);
        for b in 0..all {
            let pair = [gram[self.stop * all + b], gram[self.slip * all + b]];
            gram[self.stop * all + b] = -product(n, pair);
            gram[self.slip * all + b] = product(t, pair);
        }
        for b in 0..all {
            let pair = [gram[b * all + self.stop], gram[b * all + self.slip]];
            gram[b * all + self.stop] = -product(n, pair);
            gram[b * all + self.slip] = product(t, pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_of_a_spring_is_a_discrete_gradient() {
        let hole = Hole { points: [0, 1], centre: [0.0; 2] };
        let mut bore = Bore::new(0, 1, &hole, None);
        bore.from = [0.3, -0.1];
        for end in [[0.31, 0.2], [-0.2, 0.4], [0.3, -0.1]] {
            bore.turn(end);
            let way = [end[0] - bore.from[0], end[1] - bore.from[1]];
            assert!((product(bore.normal, way) - (length(end) - length(bore.from))).abs() < 1e-15);
        }
    }
}
