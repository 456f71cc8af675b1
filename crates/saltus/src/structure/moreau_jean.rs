//! Moreau–Jean for structures: velocities, θ, an impulse over the step.
//!
//! ```text
//! (M + θhC + θ²h²K)(v^{n+1} − v^n) = h(p^{n+θ} − K(u^n + θh v^n) − C v^n) + Σ P w
//! u^{n+1} = u^n + h((1−θ) v^n + θ v^{n+1})     U^{n+1} + e U^n ≥ 0 complementary to P ≥ 0, where the gap closes within γh
//! ```

use super::contact::Stops;
use super::instance::{PointNode, bounded};
use super::rough::Rough;
use super::{Linear, Signals, StructureInstance, check};
use crate::linalg::{Factor, Rows, Symmetric, add, dot};
use crate::motion::Rubbed;
use crate::stepping::{Account, Node, Stepper};
use crate::{Kind, Reason, SetupError};
use std::sync::Arc;

pub(super) struct MoreauJean {
    instance: StructureInstance,
    linear: Arc<Linear>,
    /// What a unit impulse on a stop adds to the velocities of the points.
    responses: Vec<f64>,
    /// What damping adds to base shears.
    drags: Rows,
    h: f64,
    theta: f64,
    activation: f64,
    n: u64,
    started: bool,
    factor: Factor,
    stops: Stops,
    /// The same where some rub.
    rough: Option<Rough>,
    signals: Signals,
    restitution: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// The velocity at the node without the impulse, and scratch.
    free: Vec<f64>,
    change: Vec<f64>,
    scratch: Vec<f64>,
    loads: Vec<f64>,
    rates: Vec<f64>,
    impulses: Vec<f64>,
    account: Account,
    /// Velocities of the points at the node before.
    before: Vec<f64>,
}

impl MoreauJean {
    pub fn new(at: &StructureInstance, h: f64, theta: f64, activation: f64) -> Result<Self, SetupError> {
        let linear = at.linear().clone();
        at.plain_stops("moreau-jean", true)?;
        if !linear.massless().is_empty() {
            return Err(SetupError::new("moreau-jean needs a mass behind every stop")
                .with_kind(Kind::Unsupported)
                .help("for stops with a stiffness or on massless nodes use paoli-schatzman"));
        }
        if theta == 0.0 {
            return Err(SetupError::new("the θ of moreau-jean must be positive for structures")
                .with_kind(Kind::OutOfRange { name: "theta".into(), value: theta }));
        }
        let mut terms = vec![(1.0, &linear.mass), (theta * theta * h * h, &linear.stiffness)];
        terms.extend(linear.damping.as_ref().map(|c| (theta * h, c)));
        let skews = linear.skews(theta * h, theta * theta * h * h);
        let factor = Symmetric::combine(&terms).step_factor(&skews).map_err(|e| check::step_matrix(e, h))?;
        let (n, m) = (linear.dimension(), linear.stops.len());
        let mut signals = at.signals();
        signals.evaluate(at.start().t);
        let zero = || vec![0.0; n];
        let stops = Stops::new(&linear, &factor, 1.0);
        let rough = Rough::new(&linear, at.structure().laws(), &factor, &stops, h);
        Ok(MoreauJean {
            instance: at.clone(),
            drags: linear.drags(),
            responses: at.point_responses(stops.mobility(), 1.0),
            stops,
            rough,
            h,
            theta,
            activation,
            n: 0,
            started: false,
            factor,
            restitution: at.restitution(),
            q: linear.q0.clone(),
            v: linear.v0.clone(),
            free: linear.v0.clone(),
            change: zero(),
            scratch: zero(),
            loads: signals.loads.clone(),
            rates: signals.rates.clone(),
            signals,
            impulses: vec![0.0; m],
            account: Account::default(),
            before: vec![0.0; linear.points.len()],
            linear,
        })
    }
}

impl MoreauJean {
    fn step(&mut self) -> Result<(), Reason> {
        if !self.started {
            self.started = true;
            return Ok(());
        }
        let linear = self.linear.clone();
        let (h, theta, n) = (self.h, self.theta, self.q.len());
        let t = self.instance.start().t + self.n as f64 * h;
        let m = self.restitution.len();
        self.signals.evaluate(t + self.activation * h);
        for a in 0..m {
            let ahead = linear.stops.dot(a, &self.q) + self.activation * h * linear.stops.dot(a, &self.v);
            // Kept for the choice below: positive means not active.
            self.impulses[a] = self.signals.offsets[a] + ahead;
        }
        for i in 0..n {
            self.scratch[i] = self.q[i] + theta * h * self.v[i];
        }
        linear.stiffness.multiply(&self.scratch, &mut self.change);
        if let Some(c) = &linear.damping {
            c.multiply(&self.v, &mut self.scratch);
            add(&mut self.change, 1.0, &self.scratch);
        }
        if !linear.is_symmetric() {
            (0..n).for_each(|i| self.scratch[i] = self.q[i] + theta * h * self.v[i]);
            linear.add_skew(1.0, &self.v, 1.0, &self.scratch, &mut self.change);
        }
        self.change.iter_mut().for_each(|x| *x *= -h);
        self.signals.evaluate(t + h);
        super::signals::finite(&self.signals.loads)?;
        for l in 0..self.loads.len() {
            let mean = (1.0 - theta) * self.loads[l] + theta * self.signals.loads[l];
            linear.loads.add_to(l, h * mean, &mut self.change);
            self.loads[l] = mean;
        }
        self.factor.solve(&mut self.change);
        for i in 0..n {
            self.free[i] = self.v[i] + self.change[i];
        }
        let mut far = 0.0_f64;
        for a in 0..m {
            let e = self.restitution[a];
            let rows = &linear.stops;
            let slack = self.signals.rates[a] + rows.dot(a, &self.free) + e * (self.rates[a] + rows.dot(a, &self.v));
            self.stops.slacks[a] = slack;
            far = far.max(slack.abs());
        }
        self.scratch.copy_from_slice(&self.v);
        if let Some(rough) = &mut self.rough {
            // What friction does belongs to the velocity before an impact, as what forces do.
            let (near, model) = (|a: usize| self.impulses[a] <= 0.0, self.instance.model());
            let acts = rough.resolve(&self.stops.slacks, near, &self.scratch, &mut self.free, model)?;
            self.v.copy_from_slice(&self.free);
            self.impulses.fill(0.0);
            if acts {
                self.impulses.copy_from_slice(rough.impulses());
                for (a, &p) in self.impulses.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                    add(&mut self.v, p, self.stops.column(a));
                }
            }
            self.account.dissipated += rough.heat(&self.v);
        } else {
            for a in 0..m {
                if self.impulses[a] > 0.0 {
                    // Out of reach, whatever the others do.
                    self.stops.slacks[a] = 1e3 * far + 1e-300;
                }
            }
            self.impulses.fill(0.0);
            self.v.copy_from_slice(&self.free);
            if self.stops.resolve(self.instance.model())? {
                self.stops.correct(&mut self.v);
                self.impulses.copy_from_slice(self.stops.multipliers());
            }
        }
        for i in 0..n {
            let path = h * ((1.0 - theta) * self.scratch[i] + theta * self.v[i]);
            // Where the forces of the step are evaluated.
            self.change[i] = self.q[i] + theta * path;
            self.q[i] += path;
            // From here on the mean velocity.
            self.scratch[i] = 0.5 * (self.scratch[i] + self.v[i]);
        }
        self.account.work -= h * linear.circulation(|i| self.scratch[i], |i| self.change[i]);
        for l in 0..self.loads.len() {
            self.account.work += h * self.loads[l] * linear.loads.dot(l, &self.scratch);
        }
        for (a, p) in self.impulses.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            self.account.lost -= p * linear.stops.dot(a, &self.scratch);
        }
        if let Some(c) = &linear.damping {
            c.multiply(&self.scratch, &mut self.change);
            self.account.dissipated += h * dot(&self.scratch, &self.change);
        }
        self.loads.copy_from_slice(&self.signals.loads);
        self.rates.copy_from_slice(&self.signals.rates);
        self.n += 1;
        if self.n.is_multiple_of(64) { bounded(&self.q, "degree of freedom") } else { Ok(()) }
    }
}

impl Stepper for MoreauJean {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        let is_start = !self.started;
        self.step()?;
        let points = PointNode { instance: &self.instance, responses: &self.responses, bores: &[] };
        points.place(node, self.n, self.h, &self.q, &self.impulses);
        let rows = &self.linear.points;
        for p in 0..node.q.len() {
            node.v_left[p] = rows.dot(p, &self.free);
            node.v_right[p] = if node.contact { rows.dot(p, &self.v) } else { node.v_left[p] };
            node.acceleration[p] = if is_start { 0.0 } else { (node.v_left[p] - self.before[p]) / self.h };
            self.before[p] = node.v_right[p];
        }
        Ok(())
    }

    fn state(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        Some((self.q.clone(), self.v.clone()))
    }

    fn responses(&self) -> Option<Vec<f64>> {
        Some(self.responses.clone())
    }

    fn account(&mut self) -> Option<Account> {
        self.linear.mass.multiply(&self.v, &mut self.change);
        let kinetic = 0.5 * dot(&self.v, &self.change);
        self.linear.stiffness.multiply(&self.q, &mut self.change);
        Some(Account { kinetic, potential: 0.5 * dot(&self.q, &self.change), ..self.account })
    }

    fn drags(&self, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, force)| *force = self.drags.dot(k, &self.v));
    }

    fn shape(&self) -> Option<Vec<f64>> {
        self.instance.shape(&self.q)
    }

    fn rubbed(&self) -> Vec<Rubbed> {
        self.rough.as_ref().map(Rough::done).unwrap_or_default()
    }
}
