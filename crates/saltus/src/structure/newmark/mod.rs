//! Paoli–Schatzman with Newmark's forcing, [V] (3.12)–(3.15), for any number of stops.
//!
//! ```text
//! (M + hC/2 + h²K/4) δ = h²(¼p^{n+1} + ½p^n + ¼p^{n−1} − K u^n) − hC(u^n − u^{n−1}) + h Σ P w
//! u^{n+1} = 2u^n − u^{n−1} + δ        (1+e) o(t̄) + w·(u^{n+1} + e u^{n−1}) ≥ 0   complementary to P ≥ 0
//! ```
//!
//! the centred second difference with ¼, ½, ¼ in load and stiffness, written for δ. With one stop this is lemma 3.2. Stable for
//! any h. The first step is the trapezoidal rule, which is the same scheme started from a velocity.
//!
//! A stop with a stiffness that the step resolves, h√(k/m) ≤ 1, pushes with ½F^{n+½} + ½F^{n−½}, or with F^n beside rigid stops,
//! forces that keep energy (`springs`).
//!
//! Any other massless degree of freedom z (all are condensed: nothing but K_zz, stops and loads act on one) obeys its
//! equation at t_{n+1} itself, K_zz z = p + λ w: the force of a spring that pushes, λ^{n+1}. The rest feels it with Newmark's
//! weights (1+α)²/4, (1−α²)/2, (1−α)²/4: α = 0 keeps energy where the step resolves the contact, α = 1 takes it where it does
//! not, as a rigid stop with e = 0 would. α is h√(k/m), up to 1, so the order is kept. What was taken is said at the end.
//!
//! Energies live between the nodes: ½ |u^{n+1} − u^n|²_M/h² + ½ |(u^{n+1} + u^n)/2|²_K changes by exactly the work at node n. That
//! of massless ones is the mean of their energies at both nodes: W is convex, so a force −W'(y^{n+1}), α = 1, only takes.
//! Where all stops are springs that keep energy, they live at the nodes, with the velocities of the trapezoidal rule: ½ |v|²_M + ½ |u|²_K.

use crate::linalg::{Factor, Rows, Symmetric, add, dot};
use crate::motion::Rubbed;
use crate::stepping::{Account, Node, Stepper};
use crate::structure::contact::Stops;
use crate::structure::instance::{PointNode, bounded};
use crate::structure::nodal::Nodal;
use crate::structure::passive::Passive;
use crate::structure::resolution::{Resolution, resolution};
use crate::structure::signals::Averages;
use crate::structure::springs::Springs;
use crate::structure::stop_law::StopLaw;
use crate::structure::{Linear, Signals, StructureInstance, check};
use crate::{Reason, SetupError};
use std::sync::Arc;

mod account;
mod strike;

pub(super) struct Newmark {
    instance: StructureInstance,
    linear: Arc<Linear>,
    /// What a unit impulse on a stop adds to the velocities of the points.
    responses: Vec<f64>,
    /// What damping adds to base shears.
    drags: Rows,
    h: f64,
    n: u64,
    factor: Factor,
    /// −h²K.
    pull: Symmetric,
    stops: Stops,
    /// What stops may give back; none in the paper's scheme.
    passive: Option<Passive>,
    started: bool,
    /// Newmark's weights of the forces of compliant stops at t_{n+1}, t_n, t_{n−1}.
    weights: [f64; 3],
    /// Stops with a stiffness that the step resolves, and the energies that go with them.
    springs: Option<Springs>,
    nodal: Option<Nodal>,
    /// h√(k/m), and what springs that the step does not resolve have taken.
    resolution: f64,
    taken: f64,
    signals: Signals,
    averages: Averages,
    /// Which stops act on massless degrees of freedom, and their rows on the others.
    compliant: Vec<bool>,
    pushed: Rows,
    /// Which are round holes, and gaps without contact.
    round: Vec<bool>,
    slacks: Vec<f64>,
    massless: Vec<usize>,
    /// K_zz.
    flexibility: Vec<(usize, usize, f64)>,
    /// λ of those stops at t_{n+1}, t_n, t_{n−1}.
    forces: [Vec<f64>; 3],
    restitution: Vec<f64>,
    /// u^n, u^n − u^{n−1} and u^{n+1} − u^n.
    q: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    /// C (u^n − u^{n−1}), and the one before.
    damped: Vec<f64>,
    damped_before: Vec<f64>,
    /// w·C w of the step before.
    own: f64,
    scratch: Vec<f64>,
    impulses: Vec<f64>,
    /// Work and losses up to just before the node, and those at the node itself.
    account: Account,
    pending: Account,
}

impl Newmark {
    pub fn new(at: &StructureInstance, h: f64, is_limited: bool) -> Result<Self, SetupError> {
        let linear = at.linear().clone();
        let t0 = at.start().t;
        let (n, m) = (linear.dimension(), linear.stops.len());
        let massless = linear.massless();
        let compliant: Vec<bool> = (0..m).map(|a| linear.is_compliant(a)).collect();
        let pushed: Rows = (0..m).map(|a| linear.stops.entries(a).filter(|(i, _)| !massless.contains(i))).collect();
        let resolution = resolution(&linear, &massless, h);
        let alpha = resolution.min(1.0);
        let mut weights = [0.25 * (1.0 + alpha).powi(2), 0.5 * (1.0 - alpha * alpha), 0.25 * (1.0 - alpha).powi(2)];
        let own: Vec<(usize, usize, f64)> =
            linear.stiffness.entries().filter(|(i, j, _)| massless.contains(i) && massless.contains(j)).collect();
        let flexibility = own.clone();
        let own = Symmetric::new(n, own);
        let mut terms =
            vec![(1.0, &linear.mass), (0.25 * h * h, &linear.stiffness), ((weights[0] - 0.25) * h * h, &own)];
        terms.extend(linear.damping.as_ref().map(|c| (0.5 * h, c)));
        let skews = linear.skews(0.5 * h, 0.25 * h * h);
        let factor = Symmetric::combine(&terms).step_factor(&skews).map_err(|e| check::step_matrix(e, h))?;
        let zero = || vec![0.0; n];
        let none = || vec![0.0; m];
        // A stop on a massless node may press from the beginning.
        let mut q = linear.q0.clone();
        let pressing = match massless.is_empty() {
            true => none(),
            false => {
                let mut signals = at.signals();
                signals.evaluate(t0);
                linear.settle(&massless, &signals.loads, &signals.offsets, &mut q)?
            }
        };
        let needs_springs = at.structure().laws().iter().any(StopLaw::needs_rows);
        let springs = match resolution <= 1.0 || needs_springs {
            true => Springs::new(at, &pushed, &massless, &factor, h),
            false => None,
        };
        if needs_springs && springs.is_none() {
            return Err(check::massless_beside(at, &massless));
        }
        let nodal = springs.as_ref().filter(|s| !s.is_mixed).map(|_| Nodal::new(&linear.v0, h));
        match (&springs, &nodal) {
            (Some(_), Some(_)) => weights = [0.5, 0.5, 0.0],
            (Some(_), None) => weights = [1.0, 0.0, 0.0],
            _ => {}
        }
        let stops = Stops::new(&linear, &factor, h);
        Ok(Newmark {
            instance: at.clone(),
            drags: linear.drags(),
            responses: responses(at, &stops, springs.as_ref(), h),
            stops,
            passive: is_limited.then(|| Passive::new(&at.restitution(), h, at.rounding())),
            before: linear.v0.iter().map(|v| h * v).collect(),
            h,
            n: 0,
            factor,
            pull: Symmetric::combine(&[(-h * h, &linear.stiffness)]),
            started: false,
            weights,
            springs,
            nodal,
            resolution,
            taken: 0.0,
            signals: at.signals(),
            averages: Averages::new(&at.signals(), t0, h),
            compliant,
            pushed,
            round: (0..m).map(|a| linear.holes.iter().any(|(stop, _)| *stop == a)).collect(),
            slacks: none(),
            massless,
            flexibility,
            forces: [pressing, none(), none()],
            restitution: at.restitution(),
            q,
            after: zero(),
            damped: zero(),
            damped_before: zero(),
            own: 0.0,
            scratch: zero(),
            impulses: none(),
            account: Account::default(),
            pending: Account::default(),
            linear,
        })
    }

    /// The trapezoidal rule from u⁰, v⁰: (M + hC/2 + h²K/4)(u¹ − u⁰) = h M v⁰ + ½h²(½(p⁰ + p¹) − K u⁰); the stops as in every step,
    /// with u⁻¹ = u⁰ − h v⁰.
    fn start(&mut self) -> Result<(), Reason> {
        let (h, linear) = (self.h, self.linear.clone());
        if let Some(springs) = &mut self.springs {
            // A run that is taken up again may start with a spring compressed.
            let t = self.instance.start().t;
            for a in (0..self.compliant.len()).filter(|&a| self.compliant[a]) {
                let offset = self.averages.offset(&mut self.signals, a, t);
                let hole = self.linear.holes.iter().find(|(stop, _)| *stop == a).map(|(_, hole)| hole);
                let bore = springs.bores.iter().find(|bore| bore.stop == a);
                springs.end[a] = match (bore, hole) {
                    (Some(bore), Some(hole)) => bore.gap_of(&springs.rows, &self.q, offset + hole.eccentricity()),
                    _ => offset + self.pushed.dot(a, &self.q),
                };
            }
            springs.ends().for_each(|(i, z)| self.q[i] = z);
        }
        linear.stiffness.multiply(&self.q, &mut self.after);
        linear.mass.multiply(&self.before, &mut self.scratch);
        for (x, m) in self.after.iter_mut().zip(&self.scratch) {
            *x = m - 0.5 * h * h * *x;
        }
        linear.add_skew(0.0, &self.before, -0.5 * h * h, &self.q, &mut self.after);
        self.averages.advance(&mut self.signals, 0)?;
        for l in 0..self.averages.next().len() {
            let mean = 0.5 * (self.averages.now()[l] + self.averages.next()[l]);
            linear.loads.add_to(l, 0.5 * h * h * mean, &mut self.after);
        }
        if self.springs.is_none() {
            // ½λ⁰ in all, of which the step itself gives w₀λ¹.
            for a in (0..self.compliant.len()).filter(|&a| self.forces[0][a] > 0.0) {
                self.pushed.add_to(a, (0.5 - self.weights[0]) * h * h * self.forces[0][a], &mut self.after);
            }
        }
        self.hold_massless();
        self.factor.solve(&mut self.after);
        // A massless one is found where it is, not by how much it moves.
        self.massless.iter().for_each(|&i| self.after[i] -= self.q[i]);
        // What the velocity makes of the first step: h A⁻¹M v⁰.
        linear.mass.multiply(&self.before, &mut self.scratch);
        self.factor.solve(&mut self.scratch);
        self.strike()?;
        self.keep_account();
        Ok(())
    }

    /// The rows of massless degrees of freedom: w₀h² K_zz z = w₀h² p, for z^{n+1} itself.
    fn hold_massless(&mut self) {
        if self.massless.is_empty() {
            return;
        }
        self.scratch.fill(0.0);
        for (l, s) in self.averages.next().iter().enumerate() {
            self.linear.loads.add_to(l, *s, &mut self.scratch);
        }
        let scale = self.weights[0] * self.h * self.h;
        self.massless.iter().for_each(|&i| self.after[i] = scale * self.scratch[i]);
    }

    /// The right-hand side into `after`.
    fn gather(&mut self) -> Result<(), Reason> {
        let (h, linear) = (self.h, self.linear.clone());
        self.pull.multiply(&self.q, &mut self.after);
        if let Some(c) = &linear.damping {
            std::mem::swap(&mut self.damped, &mut self.damped_before);
            c.multiply(&self.before, &mut self.damped);
            add(&mut self.after, -h, &self.damped);
        }
        linear.add_skew(-h, &self.before, -h * h, &self.q, &mut self.after);
        self.averages.advance(&mut self.signals, self.n)?;
        for (l, s) in self.averages.mean().iter().enumerate() {
            linear.loads.add_to(l, h * h * s, &mut self.after);
        }
        for a in 0..self.compliant.len() {
            let (now, before) = (self.forces[0][a], self.forces[1][a]);
            if self.compliant[a] && !self.round[a] && (now != 0.0 || before != 0.0) {
                let felt = self.weights[1] * now + self.weights[2] * before;
                self.pushed.add_to(a, h * h * felt, &mut self.after);
            }
        }
        if let Some(springs) = self.springs.as_ref().filter(|_| self.weights[1] != 0.0) {
            for bore in springs.bores.iter().filter(|bore| bore.thrust != [0.0; 2]) {
                for (row, force) in [bore.stop, bore.slip].into_iter().zip(bore.thrust) {
                    springs.rows.add_to(row, self.weights[1] * h * h * force, &mut self.after);
                }
            }
        }
        self.hold_massless();
        Ok(())
    }
}

impl Newmark {
    fn step(&mut self) -> Result<(), Reason> {
        if !self.started {
            self.started = true;
            return self.start();
        }
        self.n += 1;
        add(&mut self.q, 1.0, &self.after);
        std::mem::swap(&mut self.before, &mut self.after);
        self.account.add(&self.pending);
        if let Some(nodal) = &mut self.nodal {
            nodal.fly(&self.before, &self.massless);
        }
        self.gather()?;
        if self.linear.damping.is_some() {
            // At node n − 1: h v·C v with v = (w + w')/2h, of which C w has become known only now.
            let own = dot(&self.before, &self.damped);
            let cross = dot(&self.before, &self.damped_before);
            if self.nodal.is_some() {
                self.account.dissipated += own / self.h;
            } else if self.n > 1 {
                self.account.dissipated += (own + 2.0 * cross + self.own) / (4.0 * self.h);
            }
            self.own = own;
        }
        self.factor.solve(&mut self.after);
        add(&mut self.after, 1.0, &self.before);
        self.massless.iter().for_each(|&i| self.after[i] -= self.before[i] + self.q[i]);
        self.strike()?;
        if self.n.is_multiple_of(64) {
            bounded(&self.after, "degree of freedom")?;
        }
        self.keep_account();
        Ok(())
    }
}

impl Stepper for Newmark {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        self.step()?;
        let bores = self.springs.as_ref().map_or(&[][..], |s| &s.bores);
        let points = PointNode { instance: &self.instance, responses: &self.responses, bores };
        points.place(node, self.n, self.h, &self.q, &self.impulses);
        points.staggered(node, self.h, &self.before, &self.after);
        if self.n == 0 {
            // The data themselves.
            for p in 0..node.q.len() {
                node.v_left[p] = self.linear.points.dot(p, &self.linear.v0);
                node.v_right[p] = node.v_left[p];
            }
        }
        Ok(())
    }

    fn state(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        if let Some(nodal) = &self.nodal {
            return Some((self.q.clone(), nodal.v.clone()));
        }
        // The velocity at the node: that of the next step carried back by half of what the forces add.
        let mut v: Vec<f64> = self.after.iter().zip(&self.before).map(|(a, b)| 0.5 * (a + b) / self.h).collect();
        let jumps = |a: usize| self.springs.is_none() || !self.compliant[a];
        for (a, &p) in self.impulses.iter().enumerate().filter(|(a, p)| **p != 0.0 && jumps(*a)) {
            match self.springs.as_ref().filter(|_| self.round[a]) {
                Some(springs) => springs.push(a, 0.5 * p / self.h, &mut v),
                None => add(&mut v, 0.5 * p / self.h, self.stops.column(a)),
            }
        }
        Some((self.q.clone(), v))
    }

    fn responses(&self) -> Option<Vec<f64>> {
        Some(self.responses.clone())
    }

    fn account(&mut self) -> Option<Account> {
        let h = self.h;
        if let Some(nodal) = &self.nodal {
            let linear = &self.linear;
            let (kinetic, potential) = (linear.mass.form(&nodal.v, &nodal.v), linear.stiffness.form(&self.q, &self.q));
            return Some(Account { kinetic: 0.5 * kinetic, potential: 0.5 * potential, ..self.account });
        }
        self.linear.mass.multiply(&self.before, &mut self.scratch);
        let kinetic = 0.5 * dot(&self.before, &self.scratch) / (h * h);
        let mut middle: Vec<f64> = self.q.iter().zip(&self.before).map(|(q, w)| q - 0.5 * w).collect();
        self.massless.iter().for_each(|&i| middle[i] = 0.0);
        let springs = 0.5 * (self.held(|i| self.q[i]) + self.held(|i| self.q[i] - self.before[i]));
        self.linear.stiffness.multiply(&middle, &mut self.scratch);
        Some(Account { kinetic, potential: springs + 0.5 * dot(&middle, &self.scratch), ..self.account })
    }

    fn shape(&self) -> Option<Vec<f64>> {
        self.instance.shape(&self.q)
    }

    fn drags(&self, out: &mut [f64]) {
        let rate = 0.5 / self.h;
        for (k, force) in out.iter_mut().enumerate() {
            *force = match self.n {
                0 => self.drags.dot(k, &self.linear.v0),
                _ => rate * (self.drags.dot(k, &self.before) + self.drags.dot(k, &self.after)),
            };
        }
    }

    fn sides(&self, out: &mut [f64]) {
        if let Some(springs) = &self.springs {
            springs.sides(&self.impulses, out);
        }
    }

    fn rubbed(&self) -> Vec<Rubbed> {
        self.springs.as_ref().map(|springs| springs.rubbing.done()).unwrap_or_default()
    }

    fn warning(&mut self) -> Option<String> {
        let steps = Resolution { h: self.h, ratio: self.resolution };
        if let Some(warning) = steps.of_dashpots(self.instance.structure().laws(), &self.compliant) {
            return Some(warning);
        }
        let account = self.account().filter(|_| self.springs.is_none() && self.taken != 0.0)?;
        steps.of_springs(self.taken, account.work.abs().max(account.energy()).max(self.taken))
    }
}

/// What a unit impulse on each stop adds to the velocities of the points; of a hole one on its first point, and behind all stops one on
/// its second.
fn responses(at: &StructureInstance, stops: &Stops, springs: Option<&Springs>, h: f64) -> Vec<f64> {
    let mut rows = at.point_responses(stops.mobility(), 1.0 / h);
    let points = &at.linear().points;
    for bore in springs.iter().flat_map(|springs| springs.bores.iter().map(move |bore| (springs, bore))) {
        let (springs, bore) = bore;
        let of = |row: usize| (0..points.len()).map(move |p| points.dot(p, springs.column(row)) / h);
        let at = bore.stop * points.len();
        rows.splice(at..at + points.len(), of(bore.stop));
        rows.extend(of(bore.slip));
    }
    rows
}
