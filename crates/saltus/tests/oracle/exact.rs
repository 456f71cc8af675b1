//! One coordinate, a linear force and walls that stand or vibrate: flights are sums of sines and cosines (parabolas without a
//! spring), and events are found by steps that a bound of the second derivative allows: none is ever passed over.

use crate::expression::{T, n, v, x};
use crate::model::{Model, Nudge};

/// x'' + 2ζωx' + ω²x = g + A cos(Ωt + φ) between walls.
#[derive(Clone, Debug, Default)]
pub struct Oscillator {
    pub w: f64,
    pub damping: f64,
    pub g: f64,
    pub force: [f64; 3],
    pub walls: Vec<Wall>,
    pub q0: f64,
    pub v0: f64,
    pub end: f64,
}

/// side·(x − place − B sin(Ωt + φ)) ≥ 0.
#[derive(Clone, Debug)]
pub struct Wall {
    pub side: f64,
    pub place: f64,
    pub swing: [f64; 3],
    pub e: f64,
}

impl Wall {
    /// The place of the wall and three derivatives of it.
    fn at(&self, t: f64) -> [f64; 4] {
        let [b, w, phase] = self.swing;
        let (s, c) = (w * t + phase).sin_cos();
        [self.place + b * s, b * w * c, -b * w * w * s, -b * w * w * w * c]
    }
}

impl Oscillator {
    pub fn model(&self) -> Model {
        let [a, w, phase] = self.force;
        let mut force = n(self.g) + a * (w * T + phase).cos();
        if self.w > 0.0 {
            force = force - self.w * self.w * x(0) - 2.0 * self.damping * self.w * v(0);
        }
        let gaps = self.walls.iter().map(|wall| {
            let [b, w, phase] = wall.swing;
            let at = match b == 0.0 {
                true => n(wall.place),
                false => wall.place + b * (w * T + phase).sin(),
            };
            (if wall.side > 0.0 { x(0) - at } else { at - x(0) }, wall.e)
        });
        Model {
            mass: Model::unit_mass(1),
            forces: vec![force],
            gaps: gaps.collect(),
            q0: vec![self.q0],
            v0: vec![self.v0],
            end: self.end,
            ..Model::default()
        }
    }

    /// g + A cos(Ωt + φ) and two derivatives.
    fn load(&self, t: f64) -> [f64; 3] {
        let [a, w, phase] = self.force;
        let (s, c) = (w * t + phase).sin_cos();
        [self.g + a * c, -a * w * s, -a * w * w * c]
    }
}

/// A motion in progress.
pub struct Exact<'a> {
    of: &'a Oscillator,
    nudge: Nudge,
    pub t: f64,
    pub q: f64,
    pub v: f64,
    contact: Option<usize>,
    pub impacts: usize,
    pub last_event: f64,
}

const LOW: f64 = 1e-15;

impl<'a> Exact<'a> {
    pub fn new(of: &'a Oscillator, nudge: Nudge) -> Self {
        let mut it = Exact { of, nudge, t: 0.0, q: of.q0, v: of.v0, contact: None, impacts: 0, last_event: 0.0 };
        match (0..of.walls.len()).find(|&a| it.gap(a, 0.0, it.q) <= 1e-11) {
            Some(a) if it.rate(a, 0.0, it.v) <= 1e-12 => it.hit(a),
            Some(_) => {}
            None => (it.q, it.v) = (it.q + nudge.0, it.v - nudge.0),
        }
        it
    }

    fn gap(&self, a: usize, t: f64, q: f64) -> f64 {
        self.of.walls[a].side * (q - self.of.walls[a].at(t)[0])
    }

    fn rate(&self, a: usize, t: f64, v: f64) -> f64 {
        self.of.walls[a].side * (v - self.of.walls[a].at(t)[1])
    }

    fn load(&self, t: f64) -> [f64; 3] {
        self.of.load(t).map(|x| (1.0 + self.nudge.0) * x)
    }

    /// What presses the body on a wall, and its derivative.
    fn push(&self, a: usize, t: f64) -> [f64; 2] {
        let (wall, load, of) = (self.of.walls[a].at(t), self.load(t), self.of);
        let needed = |k: usize| wall[k + 2] + 2.0 * of.damping * of.w * wall[k + 1] + of.w * of.w * wall[k];
        [self.of.walls[a].side * (needed(0) - load[0]), self.of.walls[a].side * (needed(1) - load[1])]
    }

    /// The state after a flight of τ.
    fn fly(&self, tau: f64) -> (f64, f64) {
        let of = self.of;
        let factor = 1.0 + self.nudge.0;
        let [a, w, phase] = [of.force[0] * factor, of.force[1], of.force[2]];
        let (s0, c0) = (w * self.t + phase).sin_cos();
        let (s1, c1) = (w * (self.t + tau) + phase).sin_cos();
        if of.w == 0.0 {
            let g = of.g * factor;
            let (b, v) = if a == 0.0 { (0.0, 0.0) } else { (a / (w * w), a / w) };
            let speed = self.v - v * s0;
            return (self.q + b * c0 + speed * tau + 0.5 * g * tau * tau - b * c1, speed + g * tau + v * s1);
        }
        let decay = of.damping * of.w;
        let (x, y) = (of.w * of.w - w * w, 2.0 * decay * w);
        let size = a / (x * x + y * y);
        let (x, y, rest) = (x * size, y * size, of.g * factor / (of.w * of.w));
        let steady = |s: f64, c: f64| (rest + x * c + y * s, w * (y * c - x * s));
        let ((p0, r0), (p1, r1)) = (steady(s0, c0), steady(s1, c1));
        let turn = of.w * (1.0 - of.damping * of.damping).sqrt();
        let (u0, d0) = (self.q - p0, self.v - r0);
        let b = (d0 + decay * u0) / turn;
        let (s, c) = (turn * tau).sin_cos();
        let fade = (-decay * tau).exp();
        let u = fade * (u0 * c + b * s);
        (p1 + u, r1 - decay * u + fade * turn * (b * c - u0 * s))
    }

    /// A bound of |f''| of every gap in a flight from here, walls without their own motion.
    fn bound(&self) -> f64 {
        let of = self.of;
        let [a, w, _] = of.force;
        if of.w == 0.0 {
            return of.g.abs() + a.abs();
        }
        let decay = of.damping * of.w;
        let size = a.abs() / (of.w * of.w - w * w).hypot(2.0 * decay * w);
        let u = (self.q - of.g / (of.w * of.w)).abs() + size;
        let speed = self.v.abs() + w * size + decay * u;
        let turn = of.w * (1.0 - of.damping * of.damping).sqrt();
        2.0 * of.w * of.w * (u + speed / turn) + w * w * size
    }

    /// Goes on to a time; `None` after too many impacts.
    pub fn advance(&mut self, to: f64) -> Option<()> {
        while self.t < to {
            if self.impacts > 40_000 {
                return None;
            }
            match self.contact {
                Some(a) => self.rest(a, to),
                None => self.flight(to),
            }
        }
        Some(())
    }

    fn rest(&mut self, a: usize, to: f64) {
        let (of, wall) = (self.of, &self.of.walls[a]);
        let [b, w, _] = wall.swing;
        let swing = b.abs() * w * w * (w * w + 2.0 * of.damping * of.w * w + of.w * of.w);
        let bound = 1.01 * (swing + of.force[0].abs() * of.force[1] * of.force[1]) + 1e-30;
        let start = self.t;
        let f = |tau: f64| self.push(a, start + tau);
        let found = march(&f, bound, 0.0, to - start);
        self.t = found.map_or(to, |tau| start + tau);
        let at = wall.at(self.t);
        (self.q, self.v) = (at[0], at[1]);
        if found.is_some() {
            self.contact = None;
            self.last_event = self.t;
        }
    }

    fn flight(&mut self, to: f64) {
        let left = to - self.t;
        let mut first: Option<(f64, usize)> = None;
        for a in 0..self.of.walls.len() {
            let f = |tau: f64| {
                let (q, v) = self.fly(tau);
                [self.gap(a, self.t + tau, q), self.rate(a, self.t + tau, v)]
            };
            let [b, w, _] = self.of.walls[a].swing;
            let bound = 1.01 * (self.bound() + b.abs() * w * w);
            let [gap, rate] = f(0.0);
            // From a wall left without speed, by a higher derivative: a moment later the gap is open.
            let from = if gap < 1e-13 && rate.abs() < 1e-10 { (1e-3 / (1.0 + w)).min(left) } else { 0.0 };
            if let Some(tau) = march(&f, bound, from, first.map_or(left, |f| f.0)) {
                first = Some((tau, a));
            }
        }
        let tau = first.map_or(left, |f| f.0);
        (self.q, self.v) = self.fly(tau);
        self.t = if first.is_some() { self.t + tau } else { to };
        if let Some((_, a)) = first {
            self.hit(a);
        }
    }

    fn hit(&mut self, a: usize) {
        let e = self.of.walls[a].e;
        let wall = self.of.walls[a].at(self.t);
        let after = -e * (1.0 - self.nudge.0.abs()) * self.rate(a, self.t, self.v).min(0.0);
        let press = self.push(a, self.t)[0];
        self.impacts += 1;
        self.last_event = self.t;
        // (A nudge at every impact: near a graze the motion feels what happens there far more than its start.)
        self.q = wall[0] + self.of.walls[a].side * self.nudge.0.abs();
        let low = after == 0.0 || (0.5 * after * after < LOW * press && e < 1.0);
        if low && press > 0.0 {
            self.contact = Some(a);
            self.q = wall[0];
            self.v = wall[1];
        } else {
            self.v = wall[1] + self.of.walls[a].side * after;
        }
    }
}

/// The first zero in (from, to) of a function that is given with its derivative, with a bound of its second one.
fn march(f: &dyn Fn(f64) -> [f64; 2], bound: f64, from: f64, to: f64) -> Option<f64> {
    let mut at = from;
    for _ in 0..10_000_000 {
        let [value, slope] = f(at);
        if value <= 4e-16 && slope <= 0.0 {
            return Some(at);
        }
        let value = value.max(0.0);
        let h = match slope > 0.0 {
            true => (slope + (slope * slope + 2.0 * bound * value).sqrt()) / bound,
            false => 2.0 * value / ((slope * slope + 2.0 * bound * value).sqrt() - slope),
        };
        if at + h == at {
            return Some(at);
        }
        at += h;
        if at >= to {
            return None;
        }
    }
    None
}
