//! Paoli–Schatzman: a position-level scheme whose convergence is proved for M(q), curved and non-convex K and any
//! e ∈ [0, 1] with one constraint active at a time (Paoli & Schatzman, SIAM J. Numer. Anal. 40, 2002), for several
//! with e = 0 under the angle condition (Paoli, J. Differential Equations 211, 2005), and for moving K with e = 0
//! (Paoli, Math. Comput. Simul. 118, 2015). [V] = Paoli 2001, [T] = Paoli 2015.
//!
//! ```text
//! x_free  = 2 qⁿ − qⁿ⁻¹ + h² Fⁿ
//! qⁿ⁺¹    = argmin |x − x_free|_{M(qⁿ)}   subject to   fα( t̄α, (x + eα qⁿ⁻¹)/(1+eα) ) ≥ 0      [V] (3.2), [T] (6)
//! t̄α      = tn + h (1−eα)/(1+eα)
//! q¹      = nearest point of K(t1) to  q0 + h v0 + (h²/2) M⁻¹g(0, q0, v)                         [V] (3.1)
//! ```
//!
//! In the first step the velocity in g is (q¹ − q0)/h, implicit like the later ones, so that strong damping is no
//! danger. If a constraint that is open at t = 0 is reached within the first step, q¹ is found as the later positions
//! are, with q⁻¹ = q0 − h v0 + (h²/2) M⁻¹g: the plain projection would take the speed of that impact away.
//!
//! Fⁿ = M⁻¹g at tn with the centred velocity (qⁿ⁺¹ − qⁿ⁻¹)/2h, implicit in it ([V] (3.3), H4). For damping −Cv this
//! makes the metric of the projection M + hC/2.
//!
//! Joints are equations j(tn+1, x) = 0 of the same projection. The free motion is put on them beforehand, along their gradients at qⁿ
//! (as in the method called SHAKE: Ryckaert, Ciccotti & Berendsen, J. Comput. Phys. 23, 1977), which does no work; the gradients at qⁿ⁺¹ alone, as those of curved
//! constraints do, would take energy from a motion along a curved joint at a rate of order h.
//!
//! The averaged instant t̄ is this project's: it makes a moving wall obey v⁺ − w' = −e (v⁻ − w'). Convergence with
//! e > 0 and moving K, or e > 0 and several constraints at once whose active gradients are not orthogonal in M⁻¹, is not
//! proved in the papers; tests compare those cases with exact solutions.

mod force;
mod nearest;

use super::{
    Choice, Domain, Laws, Method, Node, Scheme, Setting, Settings, Stepper, Stepping, StructureSteps, Systems,
};
use crate::Reason;
use crate::linalg::{Lu, Metric, Rows, add, copy, each, max_abs};
use crate::problem::{Bonds, Dynamics, Gaps, Instance, Memory};
use crate::project::Polyhedron;
use crate::structure;

pub const SCHEME: Scheme = Scheme {
    name: "paoli-schatzman",
    level: "position",
    restitution: "any e, one for each constraint",
    proved: "M(q), curved K, any e, one constraint at a time (Paoli & Schatzman 2002); several with e = 0 and no obtuse \
             kinetic angle, or any one e and right angles (Paoli 2005, 2010); moving K with e = 0 and M constant (Paoli 2015)",
    use_for: "what the papers prove; positions stay in K (e = 0) or within a step of it",
    follows_law: true,
    laws: Laws { joints: true, ..Laws::GAPS },
    order: 1.0,
    settings: &[FORCING, REBOUND],
    structures: StructureSteps::Steps(|at, h, settings| {
        let word = |setting| settings.word(setting, Systems::Structures);
        structure::paoli_schatzman(at, h, word(&FORCING) == "exact", word(&REBOUND) == "limited")
    }),
    method: Method::Steps(Stepping {
        carried: 0.0,
        staggered: true,
        // The velocity is reversed in two steps ([V] §3a) …
        contact_steps: Some(2),
        // … whose mean averaged instant is t̄ + h/2: there both velocities, carried by free flight, obey the law.
        impact_instant: |e| 0.5 + (1.0 - e) / (1.0 + e),
        start: |at, h, settings| Ok(Box::new(PaoliSchatzman::new(at, h, settings))),
    }),
};

/// How the force enters a step.
pub const FORCING: Setting = Setting {
    name: "forcing",
    meaning: "how the force enters a step",
    domain: Domain::Choice(&[
        choice("centred", "at the instant t_n with the centred velocity, implicit in it", Systems::Models),
        choice(
            "averaged",
            "the mean over the step ([T] (5)), for loads that are only integrable in time",
            Systems::Models,
        ),
        choice("newmark", "1/4, 1/2, 1/4 in load and stiffness ([V] (3.12)): stable for any step", Systems::Structures),
        choice("exact", "exact free flight of the modes", Systems::Structures),
    ]),
};

/// What a stop with e > 0 gives back.
pub const REBOUND: Setting = Setting {
    name: "rebound",
    meaning: "what a stop of a structure with e > 0 gives back",
    domain: Domain::Choice(&[
        choice("limited", "no more energy than it has taken in the same contact", Systems::Structures),
        choice("paper", "what [V] (3.2) gives, which on nodes of a mesh can be more than it took", Systems::Structures),
    ]),
};

const fn choice(name: &'static str, meaning: &'static str, systems: Systems) -> Choice {
    Choice { name, meaning, systems }
}

/// Newton and SQP iterations that need more than this many steps do not converge.
const MAX_ITERATIONS: usize = 60;

/// A coordinate beyond this has no energy that is a number.
const HUGE: f64 = 1e150;

/// Nodes and weights of Gauss–Legendre quadrature with four points on [0, 1]: exact for cubics in time, and a
/// convergent mean for any load that is Riemann integrable.
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// The constraints of one restitution and the point Z = (x + e qⁿ⁻¹)/(1+e) where they are evaluated.
struct Group {
    e: f64,
    /// 1/(1+e).
    share: f64,
    /// t̄ − tn = h (1−e)/(1+e).
    lead: f64,
    gaps: Gaps,
    z: Vec<f64>,
    /// Where its constraints start in the order of the projection.
    first: usize,
    /// Where its gradient entries start among all of them.
    entries: usize,
}

struct PaoliSchatzman {
    instance: Instance,
    h: f64,
    averaged: bool,
    /// The node being completed, and that with which this run began: 0, or where another one was that it goes on from.
    n: u64,
    first: u64,
    /// The instant of node 0.
    t0: f64,
    /// Whether constraints are evaluated between qⁿ⁻¹ and x: always, except in a plain first step.
    averaging: bool,
    q_before: Vec<f64>,
    q: Vec<f64>,
    /// The position being sought, x = qⁿ + (advance + kick).
    x: Vec<f64>,
    /// qⁿ − qⁿ⁻¹, carried on its own: differences of rounded positions would lose digits for small h.
    advance: Vec<f64>,
    /// x − 2qⁿ + qⁿ⁻¹: h² times the acceleration, of free flight first, with the reaction after a contact.
    kick: Vec<f64>,
    /// qⁿ⁻¹, qⁿ − qⁿ⁻¹ and the kick that the step of the last node began with.
    memory: [Vec<f64>; 3],
    /// The kick of free flight.
    free: Vec<f64>,
    velocity: Vec<f64>,
    residual: Vec<f64>,
    /// From the free position to the present one.
    apart: Vec<f64>,
    p: Vec<f64>,
    balance: Vec<f64>,
    lu: Lu,
    dynamics: Dynamics,
    mean_g: Vec<f64>,
    mean_jacobian: Vec<f64>,
    mass: Metric,
    /// M − (h/2) sym ∂g/∂v, when the force depends on the velocity.
    implicit: Metric,
    /// The metric of a quadratic model with curvature, the above − Σ μ ∂²c.
    curved: Metric,
    entries: Vec<f64>,
    groups: Vec<Group>,
    affine: bool,
    /// Some gap or joint uses first-order states.
    states_in_gaps: bool,
    /// Joints: the first rows of the projection are their equations at x.
    joints: Option<Box<Bonds>>,
    /// Number of those rows.
    held: usize,
    /// The kick without joints; the impulses (times h) with which joints at qⁿ hold the free motion, and Σ of them times ∇j.
    plain: Vec<f64>,
    shaken: Vec<f64>,
    shake: Vec<f64>,
    /// Model index of each row of the projection: of joints, then of constraints.
    order: Vec<usize>,
    rows: Rows,
    slack: Vec<f64>,
    multipliers: Vec<f64>,
    kernel: Polyhedron,
}

impl PaoliSchatzman {
    fn new(at: &Instance, h: f64, settings: &Settings) -> Self {
        let held = at.model().joints.len();
        let (d, m) = (at.dimension(), held + at.constraints());
        let start = at.start();
        let mut rows = Rows::new();
        let mut order = Vec::new();
        let mut groups = Vec::new();
        let joints = (held > 0).then(|| (0.0, at.joints()));
        for (e, gaps) in joints.into_iter().chain(at.gap_groups()) {
            let (first, entries) = (order.len(), rows.values.len());
            order.extend_from_slice(&gaps.code.members);
            (0..gaps.gradients.len()).for_each(|a| rows.push_row_of(&gaps.gradients, a));
            groups.push(Group {
                e,
                share: 1.0 / (1.0 + e),
                lead: h * (1.0 - e) / (1.0 + e),
                z: vec![0.0; d],
                first,
                entries,
                gaps,
            });
        }
        let dynamics = at.dynamics();
        let code = &dynamics.code;
        let affine = groups.iter().all(|g| g.gaps.code.affine);
        let states_in_gaps = groups.iter().any(|g| g.gaps.code.uses_states);
        let implicit = dynamics.implicit_metric();
        let curved = Metric::full(if affine { 0 } else { d });
        let zero = || vec![0.0; d];
        let begun = start.memory(h, 3 * d);
        let part = |k: usize| begun.map(|by| by.values[k * d..(k + 1) * d].to_vec());
        PaoliSchatzman {
            instance: at.clone(),
            h,
            averaged: settings.word(&FORCING, Systems::Models) == "averaged" && !code.autonomous,
            n: begun.map_or(0, |by| by.steps),
            first: begun.map_or(0, |by| by.steps),
            t0: begun.map_or(start.t, |by| by.origin),
            averaging: begun.is_some(),
            q_before: part(0).unwrap_or_else(|| start.q.clone()),
            q: start.q.clone(),
            x: zero(),
            advance: part(1).unwrap_or_else(|| start.v.iter().map(|v| h * v).collect()),
            kick: part(2).unwrap_or_else(zero),
            memory: [zero(), zero(), zero()],
            free: zero(),
            velocity: start.v.clone(),
            residual: zero(),
            apart: zero(),
            p: zero(),
            balance: zero(),
            lu: Lu::new(if code.symmetric { 0 } else { d }),
            mean_g: zero(),
            mean_jacobian: vec![0.0; dynamics.jacobian.len()],
            mass: dynamics.metric(),
            entries: vec![0.0; implicit.entries().len().max(curved.entries().len())],
            implicit,
            curved,
            dynamics,
            groups,
            affine,
            states_in_gaps,
            joints: Bonds::of(at).map(Box::new),
            held,
            plain: zero(),
            shaken: vec![0.0; held],
            shake: vec![0.0; if held > 0 { d } else { 0 }],
            order,
            rows,
            slack: vec![0.0; m],
            multipliers: vec![0.0; m],
            kernel: Polyhedron::new(d, m).with_equations(held),
        }
    }

    fn coordinate(&self, i: usize) -> String {
        self.instance.model().unknown(i).to_string()
    }

    fn constraint(&self, a: usize) -> String {
        let model = self.instance.model();
        match a < self.held {
            true => model.joints[self.order[a]].name.clone(),
            false => model.constraints[self.order[a]].name.clone(),
        }
    }

    fn t(&self) -> f64 {
        self.t0 + self.n as f64 * self.h
    }

    /// Steps of this run.
    fn made(&self) -> u64 {
        self.n - self.first
    }

    fn is_explicit(&self) -> bool {
        self.dynamics.code.velocity_free
    }

    /// A move this small is rounding next to what a step does.
    fn tolerance(&self) -> f64 {
        1e-13 * self.stride() + 4.0 * f64::EPSILON * max_abs(&self.q)
    }

    /// How far a step goes.
    fn stride(&self) -> f64 {
        max_abs(&self.advance) + max_abs(&self.free) + max_abs(&self.kick)
    }

    /// A converging iteration that stops contracting has reached the rounding of what it is made of (a gap such as
    /// R − hypot(x, y) moves in units in the last place of R, however small the step): it is done, if it is this close.
    fn is_stuck(&self, size: f64, last: f64) -> bool {
        size > 0.5 * last && size <= 1e-8 * self.stride() + 1e-13 * max_abs(&self.q)
    }

    fn not_finite(&self) -> Option<Reason> {
        let bad = (0..self.x.len()).find(|&i| !(self.x[i].abs() < HUGE && self.kick[i].abs() < HUGE))?;
        Some(Reason::NotFinite { coordinate: self.coordinate(bad) })
    }

    /// x = qⁿ + (advance + kick); false if that is not a number, or one whose square overflows.
    fn place(&mut self) -> bool {
        let mut finite = true;
        let (x, q, advance, kick) = (&mut self.x, &self.q, &self.advance, &self.kick);
        each(q.len(), |i| {
            x[i] = q[i] + (advance[i] + kick[i]);
            finite &= x[i].abs() < HUGE;
        });
        finite
    }

    /// Fills in node n: velocities on both sides, from the mean velocities of the two steps that meet there.
    fn complete(&mut self, node: &mut Node, contact: bool) {
        let rate = 1.0 / self.h;
        node.index = self.made();
        node.t = self.t();
        node.contact = contact;
        copy(&mut node.q, &self.q);
        // The jump M⁻¹ Σ P ∇f, with P = μ/h.
        let p = &mut self.p;
        each(p.len(), |i| p[i] = 0.0);
        each(node.impulses.len(), |a| node.impulses[a] = 0.0);
        if contact {
            for (a, &alpha) in self.order.iter().enumerate().skip(self.held) {
                let impulse = rate * self.multipliers[a];
                node.impulses[alpha] = impulse;
                if impulse > 0.0 {
                    self.rows.add_to(a, impulse, &mut self.p);
                }
            }
            self.mass.solve(&mut self.p);
        }
        if let Some(joints) = &mut self.joints {
            // What constraints do, joints taking part; what joints do besides is part of the smooth motion.
            if contact {
                joints.joints.kinematics(node.t, &self.q, &self.velocity);
                joints.constrain(&self.mass, &mut self.p, None);
            }
            node.others.clear();
            node.others.extend(self.multipliers.iter().zip(&self.shaken).map(|(m, s)| rate * (m + s)));
        }
        let d = self.q.len();
        let (kick, advance, jump) = (&self.kick[..d], &self.advance[..d], &self.p[..d]);
        let (left, right, acceleration) = (&mut node.v_left[..d], &mut node.v_right[..d], &mut node.acceleration[..d]);
        each(d, |i| {
            let gain = rate * kick[i] - jump[i];
            left[i] = rate * advance[i] + 0.5 * gain;
            right[i] = left[i] + jump[i];
            acceleration[i] = rate * gain;
        });
        if self.n == 0 {
            // The data themselves; a contact at rest only holds what would start to fall.
            node.v_left.copy_from_slice(&self.instance.start().v);
            node.v_right.copy_from_slice(&self.instance.start().v);
            node.acceleration.iter_mut().for_each(|a| *a *= 2.0);
            if self.averaging {
                add(&mut node.v_right, 1.0, &self.p);
            }
        }
    }
}

impl Stepper for PaoliSchatzman {
    fn pending(&self) -> Option<&[f64]> {
        Some(&self.q)
    }

    fn memory(&self) -> Option<Memory> {
        // (The one before the first node is not a step: the start is all there is.)
        let (steps, origin, step) = (self.n.checked_sub(1).filter(|&n| n > 0)?, self.t0, self.h);
        Some(Memory { step, origin, steps, values: self.memory.concat(), ..Memory::default() })
    }

    fn goes_on(&self) -> bool {
        self.first > 0
    }

    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        for (kept, now) in self.memory.iter_mut().zip([&self.q_before, &self.advance, &self.kick]) {
            copy(kept, now);
        }
        self.free_flight()?;
        let mut contact = self.leaves()?;
        if contact && self.n == 0 && self.is_hit() {
            self.averaging = true;
            for i in 0..self.q.len() {
                self.q_before[i] = self.q[i] - self.advance[i] + self.kick[i];
            }
            contact = self.leaves()?;
        }
        if contact || self.held > 0 {
            self.project()?;
            contact = self.multipliers[self.held..].iter().any(|&m| m > 0.0);
        }
        self.complete(node, contact);
        // On to the next node; the kick of free flight is the best guess for the next one.
        add(&mut self.advance, 1.0, &self.kick);
        std::mem::swap(&mut self.q_before, &mut self.q);
        copy(&mut self.q, &self.x);
        let scale = if self.n == 0 { 2.0 } else { 1.0 };
        let (kick, free) = (&mut self.kick, if self.held > 0 { &self.plain } else { &self.free });
        each(kick.len(), |i| kick[i] = scale * free[i]);
        self.n += 1;
        self.averaging = true;
        Ok(())
    }
}
