//! Impacts with joints and friction, and Painlevé's case.

use super::super::flow::Grip;
use super::super::vary::Crossed;
use super::super::{EventEngine, Touch};
use crate::Reason;
use crate::contact::{FrictionImpact, Law};
use crate::linalg::add;
use crate::motion::Measured;

impl EventEngine {
    /// The impact law with joints and friction: members are in the buffers, their rows in their order. The velocity after into
    /// `x`; reactions of the members into `lambda`, all others into `others`. Gives what the impact did to the energy, and the
    /// residual of the law.
    pub(in crate::event) fn law_with_friction(&mut self, restitution: &[f64]) -> Result<(f64, f64), Reason> {
        self.measure_slips();
        self.find_joints();
        let slides: Vec<bool> = (0..self.rubbing.scale.len()).map(|f| self.slip_speed(f) > self.no_slip(f)).collect();
        self.flow.friction.grip.fill(Grip::Off);
        let (mut e, mut tangential) = (Vec::new(), Vec::new());
        {
            let Self { rubbing, flow, buffers, .. } = self;
            let problem = &mut rubbing.problem;
            problem.clear();
            for &row in &rubbing.joints {
                problem.push(Law::Joint, None, std::iter::once(row));
                e.push(0.0);
                tangential.push(0.0);
            }
            for (k, &a) in buffers.members.iter().enumerate() {
                e.push(restitution[k]);
                match self.instance.model().constraints[a].friction {
                    Some(f) => {
                        let element = &flow.friction.elements[f];
                        let mu = if slides[f] { flow.friction.kinetic[f] } else { flow.friction.sticking[f] };
                        let slips = (element.first..element.first + element.slips).map(|s| flow.slip_row(s));
                        let law = Law::Coulomb { mu, tangents: element.slips };
                        problem.push(law, Some(f), std::iter::once(a).chain(slips));
                        tangential.push(self.instance.model().frictions[f].tangential);
                    }
                    None => {
                        problem.push(Law::Unilateral, None, std::iter::once(a));
                        tangential.push(0.0);
                    }
                }
            }
            buffers.x.fill(0.0);
        }
        self.fill_problem();
        let d = self.q.len();
        let Self { rubbing, flow, buffers, .. } = self;
        let problem = &mut rubbing.problem;
        let mut before: Vec<f64> = problem.rows.iter().map(|&row| flow.gap_rate(row, &self.v)).collect();
        // What is no slip is none: its rounding would contradict that of the same slip at another contact.
        for (k, &of) in problem.of.iter().enumerate() {
            if let Some(f) = of.filter(|&f| !slides[f]) {
                let first = problem.place(k) + 1;
                before[first..first + flow.friction.elements[f].slips].fill(0.0);
            }
        }
        let walls: Vec<f64> = problem.rows.iter().map(|&row| flow.partial_t[row]).collect();
        let impact = FrictionImpact {
            d: &problem.d,
            u_before: &before,
            walls: &walls,
            laws: &problem.laws,
            restitution: &e,
            tangential: &tangential,
        };
        let outcome = match rubbing.law.apply(&impact, &mut problem.p) {
            Ok(outcome) => outcome,
            Err(error) => {
                let place = problem.place(error.block);
                return Err(Reason::Laws { constraint: flow.row_name(problem.rows[place]) });
            }
        };
        if outcome.factor < 1.0 {
            rubbing.reduced = (rubbing.reduced.0 + 1, rubbing.reduced.1.min(outcome.factor));
        }
        buffers.x.copy_from_slice(&self.v);
        for k in 0..problem.rows.len() {
            add(&mut buffers.x, problem.p[k], &problem.pulls[k * d..(k + 1) * d]);
        }
        buffers.lambda.clear();
        for &a in &buffers.members {
            let place = problem.rows.iter().position(|&row| row == a);
            buffers.lambda.push(place.map_or(0.0, |k| problem.p[k]));
        }
        let m = self.instance.constraints();
        buffers.others.clear();
        let acting = problem.rows.iter().zip(&problem.p).filter(|(row, p)| **row >= m && **p != 0.0);
        buffers.others.extend(acting.map(|(&row, &p)| (row - m, p)));
        Ok((outcome.energy + outcome.wall_work, outcome.residual))
    }

    /// Painlevé: the slip of a contact that presses is stopped by an impulse, without a collision.
    pub(in crate::event) fn jam(&mut self, constraint: &str) -> Result<(), Reason> {
        self.vary_crosses(Crossed::Jammed);
        let refused = || Reason::Painleve { constraint: constraint.to_string() };
        let model = self.instance.model();
        let a = model.constraints.iter().position(|c| c.name == constraint).ok_or_else(refused)?;
        let f = model.constraints[a].friction.ok_or_else(refused)?;
        self.evaluate(self.fresh)?;
        self.find_joints();
        self.flow.friction.grip.fill(Grip::Off);
        self.buffers.x.fill(0.0);
        {
            let Self { rubbing, flow, .. } = self;
            rubbing.problem.clear();
            for &row in &rubbing.joints {
                rubbing.problem.push(Law::Joint, None, std::iter::once(row));
            }
            let element = &flow.friction.elements[f];
            let slips = (element.first..element.first + element.slips).map(|s| flow.slip_row(s));
            let law = Law::Coulomb { mu: flow.friction.kinetic[f], tangents: element.slips };
            rubbing.problem.push(law, Some(f), std::iter::once(a).chain(slips));
        }
        self.fill_problem();
        let d = self.q.len();
        let n = self.rubbing.problem.rows.len();
        let mut p: Vec<f64> = self.rubbing.problem.rows.iter().map(|&row| -self.flow.gap_rate(row, &self.v)).collect();
        let mut factor = crate::linalg::FactoredLu::default();
        factor.set(n, &self.rubbing.problem.d).map_err(|_| refused())?;
        factor.solve(&mut p);
        let place = self.rubbing.joints.len();
        let pull = p[place + 1..].iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(p[place] > 0.0 && pull <= self.flow.friction.kinetic[f] * p[place]) {
            return Err(refused());
        }
        let mut after = self.v.clone();
        for k in 0..n {
            add(&mut after, p[k], &self.rubbing.problem.pulls[k * d..(k + 1) * d]);
        }
        let energy_change = 0.5
            * (0..n)
                .map(|k| {
                    let row = self.rubbing.problem.rows[k];
                    p[k] * (self.flow.gradients.dot(row, &self.v) + self.flow.gradients.dot(row, &after))
                })
                .sum::<f64>();
        let m = self.instance.constraints();
        let others: Vec<(usize, f64)> = self
            .rubbing
            .problem
            .rows
            .iter()
            .zip(&p)
            .filter(|(row, _)| **row >= m)
            .map(|(&row, &p)| (row - m, p))
            .collect();
        let speed = self.slip_speed(f)
            / self
                .flow
                .compliance(self.flow.slip_row(self.flow.friction.elements[f].first))
                .max(f64::MIN_POSITIVE)
                .sqrt();
        let measured = Measured { t: self.t, energy_change, residual: 0.0, speed, approach: 0.0 };
        self.record.impact(&measured, &self.q, &self.v, &after, &[(a, p[place])], &others);
        self.record.out.notes.push(format!(
            "at t = {} the contact `{constraint}` slides with so much friction that no finite forces obey the laws (Painlevé): an impulse without a collision stopped its slip",
            self.t
        ));
        self.v.copy_from_slice(&after);
        self.touch[a] = Touch::Closed;
        self.fresh = true;
        self.rubbing.loose.fill(None);
        self.evaluate(true)?;
        self.choose()
    }
}
