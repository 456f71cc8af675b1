//! Which event does what to perturbations.
//!
//! A *release* changes nothing: where a reaction vanishes, accelerations are continuous. So is friction that breaks loose with
//! the coefficient it slides with. A *switch* of a force, and slip that stops, change the acceleration: δτ follows from the
//! argument of the switch or from the slip, and where a coefficient jumps with it from what friction holds. An *impact* has the δτ of the gap that closes; contacts held before go along with
//! it. Gaps that close at one instant have each their own: they act one after the other, if their order does not matter, and
//! else the motion has no derivative.

use super::Vary;
use crate::Reason;
use crate::event::EventEngine;
use crate::event::flow::Grip;
use crate::event::polynomial::{value, value_and_slope};

/// Two ways to the same perturbations may differ by this part of them.
const SAME: f64 = 1e-7;

/// More than this of a perturbation is never taken away by a contact that has been accounted for.
const UNACCOUNTED: f64 = 1e-4;

/// What time stepping or an impulse without collision crosses.
pub(in crate::event) enum Crossed {
    Stepped,
    Jammed,
    Corner,
}

impl EventEngine {
    /// Perturbations go along with the first `s` of what has been expanded.
    pub(in crate::event) fn vary_along(&mut self, s: f64) {
        let Some(mut vary) = self.vary.take() else { return };
        if vary.obstacle.is_none()
            && let Err(what) = self.carry(&mut vary, s)
        {
            vary.stop(self.t, what);
        }
        self.vary = Some(vary);
    }

    fn carry(&mut self, vary: &mut Vary, s: f64) -> Result<(), String> {
        let flow = &self.flow;
        if flow.is_rough {
            return Err("a root or power of zero has no series".into());
        }
        let start = |c: &[f64]| c[0];
        let v: Vec<f64> = (0..vary.d).map(|i| start(flow.velocity(i))).collect();
        let a: Vec<f64> = (0..vary.d).map(|i| start(flow.acceleration(i))).collect();
        vary.see_now(&v, &a);
        if !flow.working().is_empty() {
            let gone = vary.project(self.t, &self.q, &self.v, flow.working())?;
            if vary.has_begun && gone > UNACCOUNTED {
                return Err("a contact begins in a way that is not covered".into());
            }
        }
        vary.has_begun = true;
        match s > 0.0 {
            true => vary.transport(self.t, s, flow)?,
            false => vary.pulled.clear(),
        }
        vary.held.clear();
        vary.held.extend_from_slice(flow.working());
        vary.acceleration = Some((0..vary.d).map(|i| value(flow.acceleration(i), s)).collect());
        vary.reactions.clear();
        vary.reactions.extend((0..flow.working().len()).map(|k| value_and_slope(flow.reaction(k), s)));
        Ok(())
    }

    /// Runs what an event does to the perturbations, if there are any.
    fn occur(&mut self, act: impl FnOnce(&mut Self, &mut Vary) -> Result<(), String>) {
        let Some(mut vary) = self.vary.take() else { return };
        if vary.obstacle.is_none()
            && let Err(what) = act(self, &mut vary)
        {
            vary.stop(self.t, what);
        }
        self.vary = Some(vary);
    }

    /// Something that has no derivatives.
    pub(in crate::event) fn vary_crosses(&mut self, what: Crossed) {
        self.occur(|_, _| {
            Err(match what {
                Crossed::Stepped => "events could not be resolved, and the motion was time-stepped",
                Crossed::Jammed => "slip was stopped by an impulse without a collision (Painlevé)",
                Crossed::Corner => "impacts accumulate at one instant in a corner",
            }
            .to_string())
        });
    }

    /// A gap closes without speed at t: neighbouring motions hit it or miss it.
    pub(in crate::event) fn vary_grazes(&mut self, t: f64, a: usize) {
        let name = self.constraint(a);
        if let Some(vary) = self.vary.as_mut().filter(|vary| vary.obstacle.is_none()) {
            vary.stop(t, format!("`{name}` is touched without speed (grazing)"));
        }
    }

    /// A force or gap is about to change sides.
    pub(in crate::event) fn vary_switches(&mut self, switch: usize) {
        if self.vary.is_none() || self.flow.is_root(switch) || self.flow.is_mark(switch) {
            return;
        }
        self.occur(|engine, vary| {
            let plain = |e: Reason| e.to_string();
            engine.flow.evaluate(engine.t, &engine.q, &engine.v, false).map_err(plain)?;
            let a = engine.acceleration_now(vary)?;
            let d = vary.d;
            let mut direction = vec![0.0; vary.width];
            direction[0] = 1.0;
            direction[1..=d].copy_from_slice(&engine.v);
            direction[1 + d..=2 * d].copy_from_slice(&a);
            let rate = engine.flow.switch_along(switch, &direction, &mut vary.room);
            let mut shifts = Vec::with_capacity(vary.columns);
            for k in 0..vary.columns {
                direction[0] = 0.0;
                let x = &vary.x[k * vary.width..(k + 1) * vary.width - 1];
                direction[1..].copy_from_slice(x);
                let change = engine.flow.switch_along(switch, &direction, &mut vary.room);
                shifts.push(if change == 0.0 { 0.0 } else { -change / rate });
            }
            if shifts.iter().any(|s| !s.is_finite()) {
                return Err("a force changes sides without speed".into());
            }
            vary.see_at(&shifts, &engine.v, &a);
            Ok(())
        });
    }

    /// Slip comes to a stop.
    pub(in crate::event) fn vary_stops(&mut self, f: usize) {
        self.occur(|engine, vary| {
            let element = &engine.flow.friction.elements[f];
            if element.slips > 1 {
                return Err(format!("the slip of `{}`, in space, stops", engine.flow.friction_name(f)));
            }
            let row = engine.flow.slip_row(element.first);
            let a = engine.acceleration_now(vary)?;
            vary.look(engine.t, &engine.q, &engine.v, &[], &[]);
            let part = vary.code().map_err(|e| e.to_string())?.rate_x.clone();
            let shifts = vary.shifts(&part, row, &engine.v, &a).ok_or("slip stops without acceleration")?;
            vary.see_at(&shifts, &engine.v, &a);
            Ok(())
        });
    }

    /// Slip begins, in a direction. Where the coefficient stays the same, so does the acceleration.
    pub(in crate::event) fn vary_slips(&mut self, f: usize, direction: f64) {
        self.occur(|engine, vary| {
            engine.flow.evaluate(engine.t, &engine.q, &engine.v, false).map_err(|e| e.to_string())?;
            let flow = &engine.flow;
            let (kinetic, sticking) = (flow.friction.kinetic[f], flow.friction.sticking[f]);
            if (kinetic - sticking).abs() <= 1e-12 * sticking.abs() {
                return Ok(());
            }
            let element = &flow.friction.elements[f];
            let place = |row: usize| vary.held.iter().position(|&h| h == row);
            let pressing = element.constraint.map(|a| place(a).ok_or("what presses is not held")).transpose()?;
            let own = match element.slips {
                1 => place(flow.slip_row(element.first)).ok_or("the slip is not held")?,
                _ => return Err(format!("`{}` breaks loose in space", flow.friction_name(f))),
            };
            let a = engine.acceleration_now(vary)?;
            vary.look(engine.t, &engine.q, &engine.v, &[], &[]);
            let part = vary.code().map_err(|e| e.to_string())?.holds_x.clone();
            let (rate, holds) = (vary.rate_of(&part, f, &engine.v, &a), vary.holds[f]);
            // h = μ λ − |force|, against the slip.
            let force = vary.reactions[own].1 * -direction;
            let (slope, held) = match pressing {
                None => (rate - force, vary.held.len()),
                Some(k) => (rate * vary.reactions[k].0 + holds * vary.reactions[k].1 - force, vary.held.len()),
            };
            let shift = |k: usize| {
                let pulled = |row: usize| vary.pulled.get(k * held + row).copied().unwrap_or(f64::NAN);
                let change = vary.along(&part, f, k);
                let limit = match pressing {
                    None => change,
                    Some(row) => change * vary.reactions[row].0 + holds * pulled(row),
                };
                -(limit - pulled(own) * -direction) / slope
            };
            let shifts: Vec<f64> = (0..vary.columns).map(shift).collect();
            if shifts.iter().any(|s| !s.is_finite()) {
                return Err(format!("`{}` breaks loose without warning", engine.flow.friction_name(f)));
            }
            vary.see_at(&shifts, &engine.v, &a);
            Ok(())
        });
    }

    /// The acceleration at the present state: at the end of the last piece, or of the rows it held.
    fn acceleration_now(&mut self, vary: &Vary) -> Result<Vec<f64>, String> {
        match &vary.acceleration {
            Some(a) => Ok(a.clone()),
            None => self.acceleration_of(&self.v.clone(), &vary.held.clone()),
        }
    }

    fn acceleration_of(&mut self, v: &[f64], rows: &[usize]) -> Result<Vec<f64>, String> {
        if !self.instance.model().frictions.is_empty() {
            return Err("several things happen at one instant, with friction".into());
        }
        let plain = |e: Reason| e.to_string();
        let mut a = vec![0.0; v.len()];
        self.flow.evaluate(self.t, &self.q, v, true).map_err(plain)?;
        let before = self.flow.working().to_vec();
        self.flow.set_working(rows);
        let outcome = self.flow.accelerate_point(&mut a).map_err(plain);
        self.flow.set_working(&before);
        outcome.map(|()| a)
    }

    /// An impact: the law has been solved (members, impulses and the velocity after it are in the buffers), and has not been
    /// carried out yet.
    pub(in crate::event) fn vary_strikes(&mut self) {
        self.occur(|engine, vary| {
            let acting = engine.buffers.members.iter().copied().zip(engine.buffers.lambda.iter().copied());
            let acting: Vec<usize> = acting.filter(|&(_, p)| p > 0.0).map(|(a, _)| a).collect();
            if acting.is_empty() {
                return Ok(());
            }
            vary.look(engine.t, &engine.q, &engine.v, &[], &[]);
            let mut rows = Vec::with_capacity(acting.len());
            for &a in &acting {
                let speed = -vary.rates[a].min(0.0);
                rows.push((a, engine.restitution(a, speed).map_err(|e| e.to_string())?));
            }
            let rubbing: Vec<usize> = acting.iter().copied().filter(|&a| engine.rubs(a)).collect();
            let sticking = engine.rub_columns(vary, &rubbing)?;
            let after = engine.buffers.x.clone();
            let found = engine.strike_columns(vary, &rows, &sticking);
            (0..engine.flow.friction.elements.len()).for_each(|f| vary.slide(f, 0.0));
            let found = found?;
            let size = crate::linalg::max_abs(&after).max(crate::linalg::max_abs(&engine.v));
            vary.acceleration = None;
            match (found.iter().zip(&after).all(|(a, b)| (a - b).abs() <= SAME * size), rubbing.first()) {
                (true, _) => Ok(()),
                (false, None) => Err("contacts are hit at one instant, and their order matters".into()),
                (false, Some(&a)) => {
                    Err(format!("`{}` is hit with friction in a way that is not covered", engine.constraint(a)))
                }
            }
        });
    }

    /// Whether a constraint has friction.
    fn rubs(&self, a: usize) -> bool {
        self.instance.model().constraints[a].friction.is_some_and(|f| !self.rubbing.never[f])
    }

    /// Friction in an impact, in the plane: slips that stick are rows that act, with their tangential restitution; others slide,
    /// in a direction that their impulse tells.
    fn rub_columns(&mut self, vary: &mut Vary, rubbing: &[usize]) -> Result<Vec<(usize, f64)>, String> {
        let (mut sticking, model) = (Vec::new(), self.instance.model());
        for &a in rubbing {
            let Some(f) = model.constraints[a].friction else { continue };
            let (element, friction) = (&self.flow.friction.elements[f], &self.flow.friction);
            if element.slips > 1 {
                return Err(format!("`{}` is hit with friction in space", self.constraint(a)));
            }
            let row = self.flow.slip_row(element.first);
            let other = self.buffers.others.iter().find(|(r, _)| r + self.instance.constraints() == row);
            let pull = other.map_or(0.0, |(_, p)| *p);
            let press = self.buffers.members.iter().position(|&b| b == a).map_or(0.0, |k| self.buffers.lambda[k]);
            match pull.abs() < friction.kinetic[f].min(friction.sticking[f]) * press * (1.0 - 1e-9) {
                true => sticking.push((row, model.frictions[f].tangential)),
                false => vary.slide(f, -pull.signum()),
            }
        }
        Ok(sticking)
    }

    fn strike_columns(
        &mut self,
        vary: &mut Vary,
        rows: &[(usize, f64)],
        sticking: &[(usize, f64)],
    ) -> Result<Vec<f64>, String> {
        let joints = self.rubbing.joints.clone();
        let with_joints = |rows: &[(usize, f64)]| -> Vec<(usize, f64)> {
            rows.iter().copied().chain(joints.iter().map(|&row| (row, 0.0))).chain(sticking.iter().copied()).collect()
        };
        let (held, striking): (Vec<_>, Vec<_>) = rows.iter().partition(|(a, _)| vary.held.contains(a));
        let part = vary.code().map_err(|e| e.to_string())?.gap_x.clone();
        let v = self.v.clone();
        if striking.is_empty() {
            // What is held is struck where its wall changes its speed at once: at the instant of the switch.
            return vary.strike(self.t, &self.q, &v, &with_joints(rows));
        }
        let a = self.acceleration_now(vary)?;
        vary.see_now(&v, &a);
        let mut shifts = Vec::with_capacity(striking.len());
        for &(row, _) in &striking {
            let grazes = || format!("`{}` is touched without speed (grazing)", self.constraint(row));
            shifts.push(vary.shifts(&part, row, &v, &a).ok_or_else(grazes)?);
        }
        let largest = shifts.iter().flatten().fold(0.0_f64, |m, s| m.max(s.abs()));
        let agree = |other: &Vec<f64>| other.iter().zip(&shifts[0]).all(|(a, b)| (a - b).abs() <= 1e-10 * largest);
        if shifts.iter().all(agree) {
            vary.see_at(&shifts[0], &v, &a);
            return vary.strike(self.t, &self.q, &v, &with_joints(rows));
        }
        if rows.iter().any(|&(a, _)| self.rubs(a)) {
            return Err("contacts with friction are hit at one instant".into());
        }
        // One after the other, and the other way round.
        let (before, mut found) = (vary.x.clone(), Vec::new());
        for is_turned in [true, false] {
            vary.x.clone_from(&before);
            vary.is_pending = false;
            let (mut now, mut accelerations) = (v.clone(), a.clone());
            let mut resting: Vec<usize> = vary.held.clone();
            for k in 0..striking.len() {
                let one = striking[if is_turned { striking.len() - 1 - k } else { k }];
                if k > 0 {
                    accelerations = self.acceleration_of(&now, &resting)?;
                    vary.see_now(&now, &accelerations);
                }
                vary.look(self.t, &self.q, &now, &[], &[]);
                let shifts =
                    vary.shifts(&part, one.0, &now, &accelerations).ok_or("an impact takes the speed of another")?;
                vary.see_at(&shifts, &now, &accelerations);
                let acting: Vec<(usize, f64)> = held.iter().copied().chain([one]).collect();
                now = vary.strike(self.t, &self.q, &now, &with_joints(&acting))?;
                if one.1 == 0.0 {
                    resting.push(one.0);
                }
            }
            let mut seen = vary.x.clone();
            let last = self.acceleration_of(&now, &resting)?;
            vary.see_now(&now, &last);
            std::mem::swap(&mut vary.x, &mut seen);
            vary.is_pending = true;
            found.push((now, seen));
        }
        let size = crate::linalg::max_abs(&found[0].1);
        let same = found[0].1.iter().zip(&found[1].1).all(|(a, b)| (a - b).abs() <= SAME * size);
        match same {
            true => Ok(found.swap_remove(1).0),
            false => Err("contacts are hit at one instant, and their order matters".into()),
        }
    }

    /// An accumulation has been ended: these rows are held from here on. `v` is the velocity before.
    pub(in crate::event) fn vary_settles(&mut self, v: &[f64], rows: &[usize]) {
        if self.vary.is_none() {
            return;
        }
        let rows: Vec<(usize, f64)> = rows.iter().map(|&row| (row, 0.0)).collect();
        self.occur(|engine, vary| {
            // Friction that slides goes along with the impulses, as it does with reactions.
            for f in 0..engine.flow.friction.elements.len() {
                match (engine.flow.friction.grip[f], engine.flow.friction.elements[f].slips) {
                    (Grip::Slide([sign, _]), 1) => vary.slide(f, sign),
                    (Grip::Slide(_), _) => return Err("impacts with friction in space accumulate".into()),
                    _ => {}
                }
            }
            let found = vary.strike(engine.t, &engine.q, v, &rows);
            (0..engine.flow.friction.elements.len()).for_each(|f| vary.slide(f, 0.0));
            vary.acceleration = None;
            let size = crate::linalg::max_abs(v).max(f64::MIN_POSITIVE);
            match found?.iter().zip(&engine.v).all(|(a, b)| (a - b).abs() <= SAME * size) {
                true => Ok(()),
                false => Err("impacts accumulate in a way that is not covered".into()),
            }
        });
    }
}
