//! Moreau–Jean for structures: velocities, θ, an impulse over the step.
//!
//! ```text
//! (M + θhC + θ²h²K)(v^{n+1} − v^n) = h(p^{n+θ} − K(u^n + θh v^n) − C v^n) + Σ P w
//! u^{n+1} = u^n + h((1−θ) v^n + θ v^{n+1})     U^{n+1} + e U^n ≥ 0 complementary to P ≥ 0, where the gap closes within γh
//! ```

use super::contact::Stops;
use super::run::{Stepper, Tally};
use super::{Linear, Signals, Structure};
use crate::linalg::{Factor, Rows, Symmetric, add, dot};
use crate::{Model, Reason, SetupError, Side};

pub(super) struct MoreauJean<'a> {
    model: &'a Model,
    linear: &'a Linear,
    h: f64,
    theta: f64,
    activation: f64,
    n: u64,
    started: bool,
    factor: Factor,
    stops: Stops,
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
    tally: Tally,
}

impl<'a> MoreauJean<'a> {
    pub fn new(
        structure: &'a Structure,
        linear: &'a Linear,
        h: f64,
        theta: f64,
        activation: f64,
    ) -> Result<Self, SetupError> {
        if !linear.massless().is_empty() {
            return Err(SetupError::new("moreau-jean needs a mass behind every stop")
                .help("for stops with a stiffness or on massless nodes take paoli-schatzman"));
        }
        if !(theta > 0.0 && theta <= 1.0) {
            return Err(SetupError::new(format!("the θ of moreau-jean must be in (0, 1], not {theta}")));
        }
        let mut terms = vec![(1.0, &linear.mass), (theta * theta * h * h, &linear.stiffness)];
        terms.extend(linear.damping.as_ref().map(|c| (theta * h, c)));
        let factor = Symmetric::combine(&terms).factor().map_err(|e| {
            SetupError::new(format!("the matrix of a step is not positive definite (row {})", e.pivot + 1))
        })?;
        let (n, m) = (linear.dimension(), linear.stops.len());
        let mut signals = structure.signals();
        signals.look(0.0);
        let zero = || vec![0.0; n];
        Ok(MoreauJean {
            model: &structure.model,
            stops: Stops::new(linear, &factor, 1.0),
            linear,
            h,
            theta,
            activation,
            n: 0,
            started: false,
            factor,
            restitution: structure.model.constraints.iter().map(|c| c.restitution).collect(),
            q: linear.q0.clone(),
            v: linear.v0.clone(),
            free: linear.v0.clone(),
            change: zero(),
            scratch: zero(),
            loads: signals.loads.clone(),
            rates: signals.rates.clone(),
            signals,
            impulses: vec![0.0; m],
            tally: Tally::default(),
        })
    }
}

impl Stepper for MoreauJean<'_> {
    fn advance(&mut self) -> Result<(), Reason> {
        if !self.started {
            self.started = true;
            return Ok(());
        }
        let (h, theta, linear, n) = (self.h, self.theta, self.linear, self.q.len());
        let t = self.n as f64 * h;
        let m = self.restitution.len();
        self.signals.look(t + self.activation * h);
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
        self.change.iter_mut().for_each(|x| *x *= -h);
        self.signals.look(t + h);
        super::run::finite(&self.signals.loads)?;
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
        for a in 0..m {
            if self.impulses[a] > 0.0 {
                // Out of reach, whatever the others do.
                self.stops.slacks[a] = 1e3 * far + 1e-300;
            }
        }
        self.impulses.fill(0.0);
        self.scratch.copy_from_slice(&self.v);
        self.v.copy_from_slice(&self.free);
        if self.stops.resolve(self.model)? {
            self.stops.correct(&mut self.v);
            self.impulses.copy_from_slice(self.stops.multipliers());
        }
        for i in 0..n {
            self.q[i] += h * ((1.0 - theta) * self.scratch[i] + theta * self.v[i]);
            // From here on the mean velocity.
            self.scratch[i] = 0.5 * (self.scratch[i] + self.v[i]);
        }
        for l in 0..self.loads.len() {
            self.tally.work += h * self.loads[l] * linear.loads.dot(l, &self.scratch);
        }
        for (a, p) in self.impulses.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            self.tally.lost -= p * linear.stops.dot(a, &self.scratch);
        }
        if let Some(c) = &linear.damping {
            c.multiply(&self.scratch, &mut self.change);
            self.tally.dissipated += h * dot(&self.scratch, &self.change);
        }
        self.loads.copy_from_slice(&self.signals.loads);
        self.rates.copy_from_slice(&self.signals.rates);
        self.n += 1;
        if !self.n.is_multiple_of(64) {
            return Ok(());
        }
        match self.q.iter().position(|x| !(x.abs() < 1e150)) {
            Some(i) => Err(Reason::NotFinite { coordinate: format!("degree of freedom {}", i + 1) }),
            None => Ok(()),
        }
    }

    fn t(&self) -> f64 {
        self.n as f64 * self.h
    }

    fn position(&self) -> &[f64] {
        &self.q
    }

    fn velocity(&self, side: Side, rows: &Rows, r: usize) -> f64 {
        rows.dot(r, if side == Side::Left { &self.free } else { &self.v })
    }

    fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    fn spread(&self) -> u64 {
        1
    }

    fn energy(&mut self) -> (f64, f64) {
        self.linear.mass.multiply(&self.v, &mut self.change);
        let kinetic = 0.5 * dot(&self.v, &self.change);
        self.linear.stiffness.multiply(&self.q, &mut self.change);
        (kinetic, 0.5 * dot(&self.q, &self.change))
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}
