//! The solution followed from where all contacts are open: in exact arithmetic this succeeds for every D that is positive definite.
//!
//! Take b + τ c in place of b, with c > 0 on normals. For large τ all contacts are open; as τ changes, P and W change
//! linearly until a block changes its status, and τ may turn back there. With D positive definite P is bounded for bounded τ
//! (P·DP ≤ −P·(b + τ c)), there is one solution for large τ, and so the path ends at τ = 0 (the argument of Lemke's method).
//! The disk of friction in space is a polygon here; its vertices and edges are statuses. Newton's method goes from there to
//! the circle. c is random, so that no two statuses change at once.

use super::Status;
use super::frame::{Frame, Kind};
use super::pivot::Pivot;
use crate::linalg::Dice;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Open,
    Stick,
    /// P_T at a vertex of the polygon (in the plane: at an end of the interval).
    Vertex(usize),
    /// P_T on the edge after a vertex.
    Edge(usize),
}

#[derive(Clone, Copy, Debug)]
struct Unknown {
    at: usize,
    direction: [f64; 3],
    test: [f64; 3],
    len: usize,
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At τ = 0.
    Arrived,
    /// τ or P grows without bound: for D positive definite impossible.
    Ray {
        /// The law that changed last.
        law: usize,
    },
    /// Too many changes.
    Lost,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    place: Vec<Place>,
    unknowns: Vec<Unknown>,
    c: Vec<f64>,
    p0: Vec<f64>,
    p1: Vec<f64>,
    w0: Vec<f64>,
    w1: Vec<f64>,
    diagonal: Vec<f64>,
}

/// A quantity that must stay positive, as a function of τ, and the status where it vanishes.
type Margin = (f64, f64, Place);

impl Path {
    pub fn reserve(&mut self, n: usize) {
        if self.c.len() < n {
            for v in [&mut self.c, &mut self.p0, &mut self.p1, &mut self.w0, &mut self.w1, &mut self.diagonal] {
                v.resize(n, 0.0);
            }
            self.place.reserve(n);
            self.unknowns.reserve(n);
        }
    }

    /// Follows the path with D + `shift`·1 and polygons of `corners` corners; leaves P and the statuses in `frame`.
    pub fn follow(&mut self, frame: &mut Frame, pivot: &mut Pivot, corners: usize, shift: f64, seed: u64) -> End {
        let n = frame.n;
        for i in 0..n {
            self.diagonal[i] = frame.d[i * n + i];
            frame.d[i * n + i] += shift;
        }
        let end = self.walk(frame, pivot, corners, seed);
        for i in 0..n {
            frame.d[i * n + i] = self.diagonal[i];
        }
        end
    }

    fn walk(&mut self, frame: &mut Frame, pivot: &mut Pivot, corners: usize, seed: u64) -> End {
        let n = frame.n;
        let mut dice = Dice::new(seed);
        let size = frame.b[..n].iter().fold(0.0f64, |m, b| m.max(b.abs()));
        self.place.clear();
        self.c[..n].fill(0.0);
        for block in &frame.blocks {
            let at = block.at;
            if block.kind != Kind::Joint {
                self.c[at] = size * dice.between(1.0, 2.0);
            }
            for i in 1..block.kind.unknowns() {
                self.c[at + i] = size * dice.between(-1.0, 1.0);
            }
            self.place.push(match block.kind {
                Kind::Joint => Place::Stick,
                // W grows with τ: slip forwards, P = −limit.
                Kind::Dry => Place::Vertex(1),
                _ => Place::Open,
            });
        }
        let (mut tau, mut way, mut law) = (f64::INFINITY, -1.0, 0);
        // The quantity of the last change grows from zero.
        let mut entered: Option<(usize, Place)> = None;
        for _ in 0..100 + (40 + 2 * corners) * frame.blocks.len() {
            self.lines(frame, pivot, corners);
            if let Some((k, left)) = entered {
                let mut slope = 0.0;
                self.margins(frame, k, corners, |(_, rate, to)| {
                    if same_border(frame.blocks[k].kind, to, left, self.place[k]) {
                        slope = rate;
                    }
                });
                if slope == 0.0 || slope.is_nan() {
                    return End::Ray { law };
                }
                way = slope.signum();
            }
            let (mut next, mut change) = (if way < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY }, None);
            for k in 0..frame.blocks.len() {
                self.margins(frame, k, corners, |(value, rate, to)| {
                    if !(rate * way < 0.0) {
                        return;
                    }
                    if let Some((j, left)) = entered
                        && j == k
                        && same_border(frame.blocks[k].kind, to, left, self.place[k])
                    {
                        return;
                    }
                    let root = -value / rate;
                    let root = if way < 0.0 { root.min(tau) } else { root.max(tau) };
                    if (root - next) * way < 0.0 {
                        (next, change) = (root, Some((k, to)));
                    }
                });
            }
            if way < 0.0 && !(next > 0.0) {
                self.arrive(frame);
                return End::Arrived;
            }
            let Some((k, to)) = change else { return End::Ray { law } };
            let to = self.resolve(frame, k, to, next, corners);
            law = frame.blocks[k].law;
            entered = Some((k, self.place[k]));
            self.place[k] = to;
            tau = next;
        }
        End::Lost
    }

    /// P = p0 + τ p1 and W = w0 + τ w1 for the statuses as they are.
    fn lines(&mut self, frame: &Frame, pivot: &mut Pivot, corners: usize) {
        let n = frame.n;
        self.p0[..n].fill(0.0);
        self.p1[..n].fill(0.0);
        self.unknowns.clear();
        for (block, &place) in frame.blocks.iter().zip(&self.place) {
            let (at, mu, len) = (block.at, block.bound, block.kind.unknowns());
            let unit = |i: usize| std::array::from_fn(|a| if a == i { 1.0 } else { 0.0 });
            match (block.kind, place) {
                (_, Place::Open) => {}
                (_, Place::Stick) => {
                    (0..len).for_each(|i| self.unknowns.push(Unknown { at, direction: unit(i), test: unit(i), len }))
                }
                (Kind::Dry, Place::Vertex(j)) => self.p0[at] = mu * side(j),
                (Kind::Space, Place::Vertex(j)) => {
                    let v = corner(j as f64, corners);
                    let direction = [1.0, mu * v[0], mu * v[1]];
                    self.unknowns.push(Unknown { at, direction, test: unit(0), len });
                }
                (_, Place::Vertex(j)) => {
                    self.unknowns.push(Unknown { at, direction: [1.0, mu * side(j), 0.0], test: unit(0), len });
                }
                (_, Place::Edge(j)) => {
                    let (e, h) = (corner(j as f64 + 0.5, corners), half(corners).1);
                    let direction = [1.0, mu * h * e[0], mu * h * e[1]];
                    self.unknowns.push(Unknown { at, direction, test: unit(0), len });
                    let along = [0.0, -e[1], e[0]];
                    self.unknowns.push(Unknown { at, direction: along, test: along, len });
                }
            }
        }
        let m = self.unknowns.len();
        multiply(frame, &self.p0, &frame.b, &mut self.w0);
        for (i, row) in self.unknowns.iter().enumerate() {
            pivot.x[i] = -(0..row.len).map(|a| row.test[a] * self.w0[row.at + a]).sum::<f64>();
            pivot.y[i] = -(0..row.len).map(|a| row.test[a] * self.c[row.at + a]).sum::<f64>();
            for (j, column) in self.unknowns.iter().enumerate() {
                let mut sum = 0.0;
                for a in 0..row.len {
                    if row.test[a] != 0.0 {
                        let line = &frame.d[(row.at + a) * n + column.at..];
                        sum += row.test[a] * (0..column.len).map(|b| line[b] * column.direction[b]).sum::<f64>();
                    }
                }
                pivot.a[i * m + j] = sum;
            }
        }
        pivot.solve(m, 0.0);
        for (i, unknown) in self.unknowns.iter().enumerate() {
            for a in 0..unknown.len {
                self.p0[unknown.at + a] += pivot.x[i] * unknown.direction[a];
                self.p1[unknown.at + a] += pivot.y[i] * unknown.direction[a];
            }
        }
        multiply(frame, &self.p0, &frame.b, &mut self.w0);
        multiply(frame, &self.p1, &self.c, &mut self.w1);
    }

    /// What must stay positive in block k.
    fn margins(&self, frame: &Frame, k: usize, corners: usize, mut margin: impl FnMut(Margin)) {
        let block = frame.blocks[k];
        let (at, mu) = (block.at, block.bound);
        let (p0, p1, w0, w1) = (&self.p0[at..], &self.p1[at..], &self.w0[at..], &self.w1[at..]);
        match (block.kind, self.place[k]) {
            (Kind::Joint, _) => {}
            (Kind::Dry, Place::Stick) => {
                margin((mu - p0[0], -p1[0], Place::Vertex(0)));
                margin((mu + p0[0], p1[0], Place::Vertex(1)));
            }
            (Kind::Dry, Place::Vertex(j)) => margin((-side(j) * w0[0], -side(j) * w1[0], Place::Stick)),
            (Kind::Unilateral, Place::Open) => margin((w0[0], w1[0], Place::Stick)),
            (Kind::Unilateral, _) => margin((p0[0], p1[0], Place::Open)),
            // Which vertex is decided by the slip there.
            (_, Place::Open) => margin((w0[0], w1[0], Place::Vertex(0))),
            (Kind::Plane, Place::Stick) => {
                margin((mu * p0[0] - p0[1], mu * p1[0] - p1[1], Place::Vertex(0)));
                margin((mu * p0[0] + p0[1], mu * p1[0] + p1[1], Place::Vertex(1)));
            }
            (Kind::Plane, Place::Vertex(j)) => {
                margin((p0[0], p1[0], Place::Open));
                margin((-side(j) * w0[1], -side(j) * w1[1], Place::Stick));
            }
            (_, Place::Stick) => {
                let h = half(corners).1;
                for j in 0..corners {
                    let e = corner(j as f64 + 0.5, corners);
                    let distance = |p: &[f64]| mu * h * p[0] - e[0] * p[1] - e[1] * p[2];
                    margin((distance(p0), distance(p1), Place::Edge(j)));
                }
            }
            (_, Place::Vertex(j)) => {
                margin((p0[0], p1[0], Place::Open));
                let before = corner(j as f64 - 0.5, corners);
                let after = corner(j as f64 + 0.5, corners);
                let left = |w: &[f64]| -(before[0] * w[2] - before[1] * w[1]);
                let right = |w: &[f64]| after[0] * w[2] - after[1] * w[1];
                margin((left(w0), left(w1), Place::Edge((j + corners - 1) % corners)));
                margin((right(w0), right(w1), Place::Edge(j)));
            }
            (_, Place::Edge(j)) => {
                let (e, s) = (corner(j as f64 + 0.5, corners), half(corners).0);
                let push = |w: &[f64]| -(e[0] * w[1] + e[1] * w[2]);
                margin((push(w0), push(w1), Place::Stick));
                let along = |p: &[f64]| -e[1] * p[1] + e[0] * p[2];
                let (y0, y1) = (along(p0), along(p1));
                margin((mu * s * p0[0] + y0, mu * s * p1[0] + y1, Place::Vertex(j)));
                margin((mu * s * p0[0] - y0, mu * s * p1[0] - y1, Place::Vertex((j + 1) % corners)));
            }
        }
    }

    /// The vertex at which a contact closes: that against the slip.
    fn resolve(&self, frame: &Frame, k: usize, to: Place, tau: f64, corners: usize) -> Place {
        let block = frame.blocks[k];
        if self.place[k] != Place::Open || block.kind == Kind::Unilateral {
            return to;
        }
        let w = |i: usize| self.w0[block.at + i] + tau * self.w1[block.at + i];
        if block.kind == Kind::Plane {
            return Place::Vertex(if w(1) > 0.0 { 1 } else { 0 });
        }
        let angle = (-w(2)).atan2(-w(1)) / std::f64::consts::TAU * corners as f64;
        Place::Vertex((angle.round() as i64).rem_euclid(corners as i64) as usize)
    }

    /// P and statuses at τ = 0.
    fn arrive(&self, frame: &mut Frame) {
        frame.p[..frame.n].copy_from_slice(&self.p0[..frame.n]);
        frame.status.clear();
        for (block, &place) in frame.blocks.iter().zip(&self.place) {
            let (p, w) = (&self.p0[block.at..], &self.w0[block.at..]);
            frame.status.push(match (block.kind, place) {
                (_, Place::Open) => Status::Open,
                (_, Place::Stick) => Status::Stick,
                (Kind::Space, _) => {
                    let (x, y) = if w[1] != 0.0 || w[2] != 0.0 { (w[1], w[2]) } else { (-p[1], -p[2]) };
                    let size = x.hypot(y);
                    if size > 0.0 { Status::Slip([x / size, y / size]) } else { Status::Stick }
                }
                (_, Place::Vertex(j) | Place::Edge(j)) => Status::Slip([-side(j), 0.0]),
            });
        }
    }
}

/// Whether the border to `to` is the one that was crossed from `left`. A contact opens at any vertex.
fn same_border(kind: Kind, to: Place, left: Place, now: Place) -> bool {
    match (now, left) {
        (Place::Open, _) => kind != Kind::Joint,
        _ => to == left,
    }
}

/// The sign of P_T at the two ends of its interval.
fn side(j: usize) -> f64 {
    if j == 0 { 1.0 } else { -1.0 }
}

/// The point of the unit circle at a number of steps of a polygon.
fn corner(j: f64, corners: usize) -> [f64; 2] {
    let (sin, cos) = (std::f64::consts::TAU * j / corners as f64).sin_cos();
    [cos, sin]
}

/// Sine and cosine of half an angle of the polygon.
fn half(corners: usize) -> (f64, f64) {
    (std::f64::consts::PI / corners as f64).sin_cos()
}

fn multiply(frame: &Frame, p: &[f64], b: &[f64], w: &mut [f64]) {
    let n = frame.n;
    for i in 0..n {
        w[i] = b[i] + frame.d[i * n..(i + 1) * n].iter().zip(p).map(|(d, p)| d * p).sum::<f64>();
    }
}
