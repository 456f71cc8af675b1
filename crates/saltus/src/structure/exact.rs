//! Paoli–Schatzman with exact flight of the modes: F chosen so that free motion is exact for any h.
//!
//! ```text
//! η^{n+1} = a η^n + b v⁺ + loads,   v⁻ = c η^n + d v⁺ + loads       the exact flow, loads linear within a step
//! v⁺ = v⁻ + Σ P w      (1+e) o(t̄) + w·(η^{n+1} + e η^{n−1}) ≥ 0     complementary to P ≥ 0
//! ```
//!
//! Written as a second difference this is [V] (3.2) with 2 cos Ωh − 2 in place of −h²Ω², in the metric M Ωh / sin Ωh, which is M
//! as h → 0: the hypothesis (H4) holds and the theorem covers it. Modes with ωh > 2 are not resolved by the step at all; they
//! go by the trapezoidal rule, that is Newmark's forcing, so that any h can be taken.
//!
//! Without damping a mode has η^{n+1} − η^{n−1} = b (v⁺ + v⁻), so the work P (g^{n+1} − g^{n−1})/2h of a stop (`passive`) is by how much
//! Σ ½(b/h)(v² + Ω²η²) changes at a node: a mode counts with b/h = sin Ωh / Ωh, as it does with Newmark's forcing, where the
//! energy between nodes has 1/(1 + Ω²h²/4). The energies here are these.

use super::contact::Stops;
use super::instance::{PointNode, bounded};
use super::passive::Passive;
use super::signals::Averages;
use super::skew::is_uncoupled;
use super::{Linear, Signals, StructureInstance};
use crate::linalg::{GAUSS_10, Rows, dot};
use crate::stepping::{Account, Node, Stepper};
use crate::{Kind, Reason, SetupError};
use std::sync::Arc;

/// A mode turning by more than this in a step is not resolved.
const RESOLVED: f64 = 2.0;

pub(super) struct Exact {
    instance: StructureInstance,
    linear: Arc<Linear>,
    /// What a unit impulse on a stop adds to the velocities of the points.
    responses: Vec<f64>,
    /// What damping adds to base shears.
    drags: Rows,
    h: f64,
    n: u64,
    started: bool,
    flow: Flow,
    /// What each load does to η and v in a step, from its values at both ends.
    pushes: Vec<[Vec<f64>; 4]>,
    stops: Stops,
    /// What stops may give back; none in the paper's scheme.
    passive: Option<Passive>,
    signals: Signals,
    averages: Averages,
    restitution: Vec<f64>,
    /// Damping of the modes that a step resolves, zero for the others, and the loads on the former.
    damping: Option<Vec<f64>>,
    slow: Vec<Vec<f64>>,
    /// The others.
    quick: Vec<usize>,
    squares: Vec<f64>,
    /// b/h: what a mode counts in the energy.
    shares: Vec<f64>,
    q: Vec<f64>,
    next: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    arriving: Vec<f64>,
    /// w·η of the node before, and the points there.
    behind: Vec<f64>,
    before: Vec<f64>,
    impulses: Vec<f64>,
    account: Account,
    pending: Account,
    /// Accelerations of the modes, for the nodes in contact.
    acceleration: Vec<f64>,
}

/// The maps of the modes, one entry per mode.
#[derive(Clone, Debug, Default)]
struct Flow {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
}

impl Exact {
    pub fn new(at: &StructureInstance, h: f64, is_limited: bool) -> Result<Self, SetupError> {
        let linear = at.linear().clone();
        at.plain_stops("exact flight", false)?;
        let t0 = at.start().t;
        if !linear.massless().is_empty() {
            return Err(SetupError::new(
                "exact flight is that of modes, which stops with a stiffness or on massless nodes do not have",
            )
            .with_kind(Kind::Unsupported)
            .help("use the forcing newmark"));
        }
        if !is_uncoupled(&linear) {
            return Err(SetupError::new(
                "exact flight is that of modes that move by themselves, and C or K couples the modes of this structure",
            )
            .with_kind(Kind::Unsupported)
            .help("use the forcing newmark, moreau-jean or event-driven, which follow coupled modes"));
        }
        let (n, m) = (linear.dimension(), linear.stops.len());
        let squares: Vec<f64> = (0..n).map(|i| linear.stiffness.at(i, i)).collect();
        let damping: Option<Vec<f64>> = linear.damping.as_ref().map(|c| (0..n).map(|i| c.at(i, i)).collect());
        let mut flow = Flow::default();
        let mut shares = Vec::with_capacity(n);
        for i in 0..n {
            let (map, share) = mode(squares[i], damping.as_ref().map_or(0.0, |c| c[i]), h);
            flow.a.push(map[0]);
            flow.b.push(map[1]);
            flow.c.push(map[2]);
            flow.d.push(map[3]);
            shares.push(share);
        }
        let pushes = (0..linear.loads.len())
            .map(|l| {
                let force = linear.loads.vector(l, n);
                std::array::from_fn(|k| (0..n).map(|i| force[i] * shares[i][k]).collect())
            })
            .collect();
        let weights: Vec<f64> = flow.b.iter().map(|b| b / h).collect();
        let rates = |i: usize| squares[i].sqrt() + damping.as_ref().map_or(0.0, |c: &Vec<f64>| c[i]);
        let quick: Vec<usize> = (0..n).filter(|&i| h * rates(i) > 0.1).collect();
        let slow = (0..linear.loads.len())
            .map(|l| {
                let mut force = linear.loads.vector(l, n);
                force.iter_mut().zip(&weights).for_each(|(f, w)| *f *= w);
                quick.iter().for_each(|&i| force[i] = 0.0);
                force
            })
            .collect();
        let damping = damping.map(|mut c| {
            c.iter_mut().zip(&weights).for_each(|(c, w)| *c *= w);
            quick.iter().for_each(|&i| c[i] = 0.0);
            c
        });
        let zero = || vec![0.0; n];
        let ones = vec![1.0; n];
        Ok(Exact {
            instance: at.clone(),
            drags: linear.drags(),
            before: (0..linear.points.len()).map(|p| linear.points.dot(p, &linear.q0)).collect(),
            responses: at.point_responses(Stops::diagonal(&linear, &ones).mobility(), 1.0),
            stops: Stops::diagonal(&linear, &flow.b),
            passive: is_limited.then(|| Passive::new(&at.restitution(), h, at.rounding())),
            h,
            n: 0,
            started: false,
            flow,
            pushes,
            signals: at.signals(),
            averages: Averages::new(&at.signals(), t0, h),
            restitution: at.restitution(),
            damping,
            slow,
            quick,
            squares,
            shares: weights,
            q: linear.q0.clone(),
            next: zero(),
            left: linear.v0.clone(),
            right: linear.v0.clone(),
            // Before the start it came with the velocity it has.
            behind: (0..m).map(|a| linear.stops.dot(a, &linear.q0) - h * linear.stops.dot(a, &linear.v0)).collect(),
            arriving: zero(),
            impulses: vec![0.0; m],
            account: Account::default(),
            pending: Account::default(),
            acceleration: zero(),
            linear,
        })
    }

    /// Work of the loads less what damping takes, over the flight that begins here: ½h (power at both ends) for modes that a
    /// step resolves; for others the change of their energy, which is the same and all that can be said.
    fn keep_account(&mut self) {
        let h = self.h;
        let Self { q, next, right, arriving, squares, shares, quick, damping, .. } = self;
        let mut net = 0.0;
        for i in quick.iter().copied() {
            net += 0.5 * shares[i] * (arriving[i] * arriving[i] - right[i] * right[i]);
            net += 0.5 * shares[i] * squares[i] * (next[i] * next[i] - q[i] * q[i]);
        }
        self.pending.work += net;
        for (l, push) in self.slow.iter().enumerate() {
            let (p0, p1) = (self.averages.now()[l], self.averages.next()[l]);
            if p0 != 0.0 || p1 != 0.0 {
                self.pending.work += 0.5 * h * (p0 * dot(push, right) + p1 * dot(push, arriving));
            }
        }
        if let Some(c) = damping {
            let mut power = 0.0;
            for i in 0..c.len() {
                power += c[i] * (right[i] * right[i] + arriving[i] * arriving[i]);
            }
            self.pending.dissipated += 0.5 * h * power;
        }
    }
}

impl Exact {
    fn step(&mut self) -> Result<(), Reason> {
        if self.started {
            self.n += 1;
            for a in 0..self.behind.len() {
                self.behind[a] = self.linear.stops.dot(a, &self.q);
            }
            for (p, x) in self.before.iter_mut().enumerate() {
                *x = self.linear.points.dot(p, &self.q);
            }
            std::mem::swap(&mut self.q, &mut self.next);
            std::mem::swap(&mut self.left, &mut self.arriving);
            self.account.add(&self.pending);
        }
        self.started = true;
        self.pending = Account::default();
        let (h, n) = (self.h, self.q.len());
        self.averages.advance(&mut self.signals, self.n)?;
        let Self { q, next, left, right, arriving, flow, .. } = self;
        let (q, next, left, right, arriving) =
            (&q[..n], &mut next[..n], &left[..n], &mut right[..n], &mut arriving[..n]);
        let (a, b, c, d) = (&flow.a[..n], &flow.b[..n], &flow.c[..n], &flow.d[..n]);
        for i in 0..n {
            next[i] = a[i] * q[i] + b[i] * left[i];
            arriving[i] = c[i] * q[i] + d[i] * left[i];
            right[i] = left[i];
        }
        for (l, push) in self.pushes.iter().enumerate() {
            let (p0, p1) = (self.averages.now()[l], self.averages.next()[l]);
            if p0 != 0.0 || p1 != 0.0 {
                let [x0, x1, v0, v1] = push;
                let (x0, x1, v0, v1) = (&x0[..n], &x1[..n], &v0[..n], &v1[..n]);
                for i in 0..n {
                    next[i] += p0 * x0[i] + p1 * x1[i];
                    arriving[i] += p0 * v0[i] + p1 * v1[i];
                }
            }
        }
        let t = self.instance.start().t + self.n as f64 * h;
        for a in 0..self.restitution.len() {
            let e = self.restitution[a];
            if let Some(passive) = &mut self.passive {
                let offset = self.averages.offset(&mut self.signals, a, t);
                let gap = offset + self.stops.rows.dot(a, &self.q);
                let free = offset + self.stops.rows.dot(a, &self.next);
                let mirror = free - 2.0 * dot(self.stops.column(a), &self.left);
                passive.begin(a, gap, offset + self.behind[a], mirror);
            }
            let offset = self.averages.offset(&mut self.signals, a, t + h * (1.0 - e) / (1.0 + e));
            self.stops.slacks[a] = (1.0 + e) * offset + self.stops.rows.dot(a, &self.next) + e * self.behind[a];
        }
        self.impulses.fill(0.0);
        let limits = self.passive.as_ref().map(Passive::limits);
        if self.stops.resolve_limited(limits, self.instance.model())? {
            self.stops.correct(&mut self.next);
            self.impulses.copy_from_slice(self.stops.multipliers());
            for (a, &p) in self.impulses.iter().enumerate() {
                if p > 0.0 {
                    self.linear.stops.add_to(a, p, &mut self.right);
                }
            }
            for i in 0..n {
                self.arriving[i] += self.flow.d[i] * (self.right[i] - self.left[i]);
            }
            for (a, &p) in self.impulses.iter().enumerate() {
                if p > 0.0 {
                    let column = self.stops.column(a);
                    self.pending.lost -= 0.5 * p / h * (dot(column, &self.left) + dot(column, &self.right));
                }
            }
        }
        if let Some(passive) = &mut self.passive {
            passive.depart(&self.stops.slacks, |a| self.stops.own(a), &self.impulses);
        }
        self.keep_account();
        if self.n.is_multiple_of(64) { bounded(&self.next, "mode") } else { Ok(()) }
    }

    /// Accelerations of the modes without the impulses.
    fn accelerate(&mut self) {
        let Self { acceleration, linear, q, left, squares, averages, .. } = self;
        for i in 0..q.len() {
            acceleration[i] = -squares[i] * q[i];
        }
        if let Some(c) = &linear.damping {
            (0..q.len()).for_each(|i| acceleration[i] -= c.at(i, i) * left[i]);
        }
        for (l, s) in averages.now().iter().enumerate() {
            linear.loads.add_to(l, *s, acceleration);
        }
    }
}

impl Stepper for Exact {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let was_in_contact = node.contact;
        self.step()?;
        let points = PointNode { instance: &self.instance, responses: &self.responses, bores: &[] };
        points.place(node, self.n, self.h, &self.q, &self.impulses);
        let rows = &self.linear.points;
        for p in 0..node.q.len() {
            node.v_left[p] = rows.dot(p, &self.left);
            node.v_right[p] = if node.contact { rows.dot(p, &self.right) } else { node.v_left[p] };
        }
        // Accelerations matter only around contacts.
        if node.contact || was_in_contact || self.n == 0 {
            self.accelerate();
            (0..node.q.len()).for_each(|p| node.acceleration[p] = self.linear.points.dot(p, &self.acceleration));
        }
        Ok(())
    }

    fn state(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        Some((self.q.clone(), self.right.clone()))
    }

    fn responses(&self) -> Option<Vec<f64>> {
        Some(self.responses.clone())
    }

    fn account(&mut self) -> Option<Account> {
        let kinetic = 0.5 * self.left.iter().zip(&self.shares).map(|(v, s)| s * v * v).sum::<f64>();
        let modes = self.q.iter().zip(&self.squares).zip(&self.shares);
        let potential = 0.5 * modes.map(|((q, k), s)| s * k * q * q).sum::<f64>();
        Some(Account { kinetic, potential, ..self.account })
    }

    /// The rate of positions: where modes that the step barely resolves are held by a stop, kicked once a step, their velocities between
    /// the kicks say nothing.
    fn contact_velocity(&self, out: &mut [f64]) -> bool {
        let (rows, rate) = (&self.linear.points, 0.5 / self.h);
        for (p, v) in out.iter_mut().enumerate() {
            *v = match self.n {
                0 => rows.dot(p, &self.linear.v0),
                _ => rate * (rows.dot(p, &self.next) - self.before[p]),
            };
        }
        true
    }

    fn drags(&self, out: &mut [f64]) {
        for (k, force) in out.iter_mut().enumerate() {
            *force = 0.5 * (self.drags.dot(k, &self.left) + self.drags.dot(k, &self.right));
        }
    }

    fn shape(&self) -> Option<Vec<f64>> {
        self.instance.shape(&self.q)
    }
}

/// The map (a, b, c, d) of η'' + c η' + ω² η = p over h, and the shares of p at the start and at the end in η and in v.
fn mode(square: f64, damping: f64, h: f64) -> ([f64; 4], [f64; 4]) {
    let sigma = 0.5 * damping;
    if square.sqrt() * h > RESOLVED || sigma * h > 20.0 {
        let turn = 0.25 * square * h * h;
        let whole = 1.0 + sigma * h + turn;
        let d = (1.0 - sigma * h - turn) / whole;
        let c = -h * square / whole;
        let (x, v) = (0.25 * h * h / whole, 0.5 * h / whole);
        return ([1.0 + 0.5 * h * c, h / whole, c, d], [x, x, v, v]);
    }
    let (response, rate) = kernel(square, sigma, h);
    let map = [rate + 2.0 * sigma * response, response, -square * response, rate];
    // ∫ S(h − s) (1 − s/h, s/h) ds and the same of S', by Gauss points in pieces short against every time scale.
    let pieces = (1.0 + (square.sqrt() + sigma) * h).ceil();
    let mut shares = [0.0; 4];
    for k in 0..pieces as usize {
        let (middle, half) = (h * (k as f64 + 0.5) / pieces, 0.5 * h / pieces);
        for (node, weight) in GAUSS_10 {
            for s in [middle - half * node, middle + half * node] {
                let (response, rate) = kernel(square, sigma, h - s);
                let (late, weight) = (s / h, half * weight);
                shares[0] += weight * response * (1.0 - late);
                shares[1] += weight * response * late;
                shares[2] += weight * rate * (1.0 - late);
                shares[3] += weight * rate * late;
            }
        }
    }
    (map, shares)
}

/// The response S(τ) to a unit impulse, and S'(τ).
fn kernel(square: f64, sigma: f64, tau: f64) -> (f64, f64) {
    let x = (square - sigma * sigma) * tau * tau;
    let decay = (-sigma * tau).exp();
    // sin √x / √x and cos √x, for either sign of x.
    let (sinc, cos) = match x {
        x if x.abs() < 1e-4 => (1.0 - x / 6.0 * (1.0 - x / 20.0), 1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0))),
        x if x > 0.0 => (x.sqrt().sin() / x.sqrt(), x.sqrt().cos()),
        x => ((-x).sqrt().sinh() / (-x).sqrt(), (-x).sqrt().cosh()),
    };
    let response = decay * tau * sinc;
    (response, decay * cos - sigma * response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_that_of_an_oscillator() {
        // Undamped: cos and sin; a constant load moves it to the static displacement.
        let ([a, b, c, d], share) = mode(4.0, 0.0, 0.3);
        let (cos, sin) = (0.6_f64.cos(), 0.6_f64.sin());
        for (x, y) in [(a, cos), (b, sin / 2.0), (c, -2.0 * sin), (d, cos)] {
            assert!((x - y).abs() < 1e-14, "{x} {y}");
        }
        assert!((share[0] + share[1] - (1.0 - cos) / 4.0).abs() < 1e-15);
        assert!((share[2] + share[3] - sin / 2.0).abs() < 1e-15);
    }

    #[test]
    fn two_half_steps_are_one_for_every_damping() {
        for damping in [0.0, 0.5, 4.0, 3.999_999, 30.0] {
            let ([a, b, c, d], share) = mode(4.0, damping, 0.4);
            let ([a2, b2, c2, d2], half) = mode(4.0, damping, 0.2);
            let product = [a2 * a2 + b2 * c2, a2 * b2 + b2 * d2, c2 * a2 + d2 * c2, c2 * b2 + d2 * d2];
            for (x, y) in [a, b, c, d].iter().zip(product) {
                assert!((x - y).abs() < 1e-13, "{damping}: {x} {y}");
            }
            // A load that grows linearly: its middle value is the mean.
            let (x, v) = (half[0] + 0.5 * half[1], half[2] + 0.5 * half[3]);
            let end = a2 * x + b2 * v + 0.5 * half[0];
            assert!((end - share[0]).abs() < 1e-14, "{damping}: {end} {}", share[0]);
        }
    }
}
