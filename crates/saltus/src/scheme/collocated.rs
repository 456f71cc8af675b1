//! What the schemes with velocities at the nodes share: their state, the law imposed at a point, the node they complete. A step of such a scheme is a few drifts of the position around one [`Collocated::impose`].

use super::Node;
use super::bonded::JointPlace;
use super::momentum::{Momentum, Place};
use crate::Reason;
use crate::linalg::{add, copy};
use crate::problem::{Instance, Restitutions};

/// Position and velocity at a node, on the way to the next.
pub struct Collocated {
    pub h: f64,
    t0: f64,
    /// The node being completed.
    pub n: u64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub v_before: Vec<f64>,
    restitution: Vec<f64>,
    /// Restitutions that depend on the approach speed.
    restitutions: Option<Restitutions>,
    names: Vec<String>,
    /// Where joints are taken: in the middle of the step, or at its end if the velocity was carried there.
    middle_t: f64,
    middle: Vec<f64>,
    /// What carrying the velocity along joints added to it.
    carried: Vec<f64>,
    nothing: Vec<f64>,
    pub momentum: Momentum,
}

impl Collocated {
    pub fn new(at: &Instance, h: f64, momentum: Momentum) -> Self {
        let start = at.start();
        Collocated {
            h,
            t0: start.t,
            n: 0,
            q: start.q.clone(),
            v: start.v.clone(),
            v_before: start.v.clone(),
            restitution: at.restitution().to_vec(),
            restitutions: at.restitutions(),
            names: at.model().constraints.iter().map(|c| c.name.clone()).collect(),
            middle_t: start.t,
            middle: start.q.clone(),
            carried: vec![0.0; at.dimension()],
            nothing: vec![0.0; at.dimension()],
            momentum,
        }
    }

    /// The time n steps after the start.
    pub fn t(&self, n: f64) -> f64 {
        self.t0 + n * self.h
    }

    /// The node at the start, the data themselves; true if this was it.
    pub fn start(&mut self, node: &mut Node) -> Result<bool, Reason> {
        if self.n > 0 {
            return Ok(false);
        }
        self.momentum.evaluate(self.t0, &self.q, &self.v)?;
        node.index = 0;
        node.t = self.t0;
        node.contact = false;
        node.impulses.fill(0.0);
        node.others.fill(0.0);
        copy(&mut node.q, &self.q);
        copy(&mut node.v_left, &self.v);
        copy(&mut node.v_right, &self.v);
        copy(&mut node.acceleration, &self.momentum.dynamics.g);
        self.momentum.mass.solve(&mut node.acceleration);
        self.n = 1;
        Ok(true)
    }

    /// q += s v.
    pub fn drift(&mut self, s: f64) {
        for i in 0..self.q.len() {
            self.q[i] += s * self.v[i];
        }
    }

    /// Keeps the position in the middle of the step to come, where joints are taken.
    #[inline]
    pub fn set_middle(&mut self) {
        if self.momentum.bonded.is_some() {
            self.middle_t = self.t(self.n as f64 - 0.5);
            copy(&mut self.middle, &self.q);
            add(&mut self.middle, 0.5 * self.h, &self.v);
        }
    }

    /// The position at the end of the step, put on the joints.
    #[inline]
    pub fn assemble(&mut self) -> Result<(), Reason> {
        let t = self.t(self.n as f64);
        let momentum = &mut self.momentum;
        match &mut momentum.bonded {
            Some(bonded) => bonded.assemble(t, &mut self.q, &momentum.mass),
            None => Ok(()),
        }
    }

    /// M at (t, q), and the constraints whose gap is closed there made active, with the law U⁺ + e U⁻ ≥ 0. Joints have
    /// the weight `share` for the velocity after the step.
    #[inline]
    pub fn activate(&mut self, t: f64, q: &[f64], share: f64) -> Result<(), Reason> {
        let (h, before) = (self.h, self.t(self.n as f64 - 1.0));
        let momentum = &mut self.momentum;
        momentum.evaluate(t, q, &self.v)?;
        momentum.evaluate_gaps(t, q, &self.v, t - before)?;
        momentum.clear();
        if let Some(bonded) = &mut momentum.bonded {
            let joints = JointPlace { t: self.middle_t, q: &self.middle, share };
            bonded.begin((t, q), &self.v, h, &joints)?;
        }
        if momentum.gaps.values.iter().any(|&f| f <= 0.0) {
            momentum.kinematics(t, q);
            for a in 0..self.restitution.len() {
                if momentum.gaps.values[a] <= 0.0 {
                    let rate = momentum.gaps.rate(a, &self.v);
                    let e = match &mut self.restitutions {
                        Some(all) => all.at(a, (-rate).max(0.0)),
                        None => self.restitution[a],
                    };
                    if !(0.0..=1.0).contains(&e) {
                        return Err(Reason::Coefficient { of: self.names[a].clone(), value: e });
                    }
                    match &mut momentum.bonded {
                        Some(bonded) => bonded.activate(&momentum.gaps, a, e, &self.v)?,
                        None => momentum.activate(a, momentum.gaps.partial_t[a] + e * rate),
                    }
                }
            }
        }
        copy(&mut self.v_before, &self.v);
        Ok(())
    }

    /// Carries the velocity along the joints to the end of the step, where the position is already: they are then taken there.
    #[inline]
    pub fn carry(&mut self) -> Result<(), Reason> {
        let (middle, end) = (self.middle_t, self.t(self.n as f64));
        if self.momentum.bonded.as_ref().is_none_or(|bonded| bonded.bonds.joint_count() == 0) {
            return Ok(());
        }
        self.momentum.evaluate(end, &self.q, &self.v)?;
        copy(&mut self.carried, &self.v);
        let Momentum { bonded, mass, .. } = &mut self.momentum;
        if let Some(bonded) = bonded {
            bonded.carry(mass, (middle, &self.middle), (end, &self.q), &mut self.v);
        }
        for i in 0..self.v.len() {
            self.carried[i] = self.v[i] - self.carried[i];
        }
        self.middle_t = end;
        copy(&mut self.middle, &self.q);
        Ok(())
    }

    /// The velocity after a step with forces and constraints taken at (t, q), the force implicit in it; `share`: see [`Collocated::activate`].
    pub fn impose(&mut self, t: f64, share: f64) -> Result<(), Reason> {
        let q = std::mem::take(&mut self.q);
        let done = self.activate(t, &q, share).and_then(|()| {
            let place = Place { t, q: &q, shift: 0.0 };
            self.momentum.solve(self.h, &place, &self.nothing, &self.v_before, &mut self.v)
        });
        self.q = q;
        done
    }

    /// Fills in the node reached: the left limit of its velocity is v without the impulses of contacts.
    pub fn finish(&mut self, node: &mut Node) {
        node.index = self.n;
        node.t = self.t(self.n as f64);
        let momentum = &mut self.momentum;
        if let Some(bonded) = &mut momentum.bonded {
            bonded.join(node.t, &self.q, &mut self.v, &momentum.mass);
            node.others.clear();
            node.others.extend_from_slice(&bonded.others);
        }
        copy(&mut node.q, &self.q);
        copy(&mut node.v_right, &self.v);
        copy(&mut node.impulses, &self.momentum.impulses);
        node.contact = self.momentum.impulses.iter().any(|&p| p > 0.0);
        for i in 0..self.v.len() {
            node.v_left[i] = self.v[i] - self.momentum.jump[i];
            node.acceleration[i] = (node.v_left[i] - self.v_before[i] + self.carried[i]) / self.h;
        }
        self.n += 1;
    }
}
