//! Orbits near grazing, as a problem without a singularity.
//!
//! An impact of speed U shifts in time by δf/U when its data change, so the map over a period has a derivative that grows like
//! 1/U where an impact vanishes. Here the weakest impact has its instant τ as an unknown of its own: the motion up to τ and from
//! τ on ignores that constraint in a window around τ, and between the two stands the impact law,
//!
//! ```text
//! x = P(x, τ, p)      f(τ) = 0       f'(τ) = −U          the orbit hits, with speed U
//! x = P(x, τ, p)      f(τ) = g       f'(τ) = 0           it misses by g
//! ```
//!
//! Both are smooth in all unknowns down to U = 0 and g = 0, where they are the same: the grazing orbit. From there the branch
//! that hits is followed by its speed, and the one that misses by its gap.

use super::anatomy::{Anatomy, Approach, Nearness};
use super::family::Family;
use super::zero::{Equations, Evaluation};
use crate::analysis::phase_space::NoMap;
use crate::event::Stroke;
use crate::motion::Variation;
use crate::problem::{Problem, Start};
use crate::{Keep, Options, SetupError, Status};

/// Orbits with one weak impact, or with one near miss.
#[derive(Clone)]
pub struct Weak {
    /// The orbits; its free parameters are unknowns.
    pub family: Family,
    without: Problem,
    constraint: usize,
    nearness: Nearness,
    /// The window around the instant, in parts of the period after the start.
    window: (f64, f64),
    /// What speed or gap is measured by.
    unit: f64,
    /// Whether speed or gap is an unknown; else it is zero.
    is_level_free: bool,
}

/// The widest window, as a part of the period on either side.
const WINDOW: f64 = 0.04;

impl Weak {
    /// The problem near an approach of an orbit; None where it is not covered: too near the start or other events, friction or
    /// contact in between.
    pub fn new(family: &Family, anatomy: &Anatomy, near: &Approach, start: f64, period: f64) -> Option<Self> {
        let model = family.problem.model();
        if model.constraints[near.constraint].friction.is_some() {
            return None;
        }
        let at = (near.t - start).rem_euclid(period);
        // (Its own impact is one of the events.)
        let others = anatomy.instants.iter().map(|t| (t - start).rem_euclid(period));
        let others = others.filter(|t| (t - at).abs() > 1e-5 * period);
        let away = others.map(|t| (t - at).abs()).fold(at.min(period - at), f64::min);
        let half = (0.45 * away).min(WINDOW * period);
        if !(half > 1e-6 * period) {
            return None;
        }
        let without = family.problem.without(near.constraint).ok()?;
        Some(Weak {
            family: family.clone(),
            without,
            constraint: near.constraint,
            nearness: near.nearness,
            window: ((at - half) / period, (at + half) / period),
            unit: near.unit(near.nearness),
            is_level_free: true,
        })
    }

    /// The window moved to where the instant is.
    pub fn recentred(&mut self, z: &[f64]) -> Result<(), NoMap> {
        let (start, period, _) = self.family.place(&self.of_orbit(z))?;
        let at = (z[self.place_of_instant()] * self.family.time - start.t) / period;
        let half = 0.5 * (self.window.1 - self.window.0);
        self.window = (at - half, at + half);
        match self.window.0 > 0.0 && self.window.1 < 1.0 {
            true => Ok(()),
            false => Err(SetupError::new("the instant of grazing comes to the start of the period").into()),
        }
    }

    /// The same orbits that hit, or that miss.
    #[must_use]
    pub fn that(mut self, nearness: Nearness, unit: f64) -> Self {
        (self.nearness, self.unit) = (nearness, unit);
        self
    }

    /// Grazing orbits alone: speed and gap are zero.
    #[must_use]
    pub fn grazing(mut self) -> Self {
        self.is_level_free = false;
        self
    }

    /// Where the instant is among the unknowns.
    pub fn place_of_instant(&self) -> usize {
        self.family.inner()
    }

    /// The unknowns: those of the orbit, with the instant behind its state and period, and the level at the end.
    pub fn unknowns_of(&self, of_orbit: &[f64], instant: f64, level: f64) -> Vec<f64> {
        let mut z = of_orbit.to_vec();
        z.insert(self.place_of_instant(), instant / self.family.time);
        if self.is_level_free {
            z.push(level);
        }
        z
    }

    /// The unknowns of the orbit alone.
    pub fn of_orbit(&self, z: &[f64]) -> Vec<f64> {
        let mut z = z.to_vec();
        if self.is_level_free {
            z.pop();
        }
        z.remove(self.place_of_instant());
        z
    }

    /// The row that holds the level, as one more equation.
    pub fn level_row(&self) -> Vec<f64> {
        let mut row = vec![0.0; self.unknowns()];
        if let Some(last) = row.last_mut() {
            *last = 1.0;
        }
        row
    }

    fn segment(
        &self,
        problem: &Problem,
        from: &Start,
        to: f64,
        columns: &Variation,
    ) -> Result<(Start, Variation), NoMap> {
        let options = Options { end: to, vary: Some(columns.clone()), ..self.family.options.clone() };
        let run = problem.run_from(from, &options.keep(Keep::NOTHING))?;
        match (&run.status, &run.variation) {
            (Status::Failed(failure), _) => Err(NoMap::Failed(failure.clone())),
            (Status::Breached { breaches }, _) => Err(NoMap::Breached(breaches.clone())),
            (_, Some(Ok(all))) => Ok((run.last().clone(), all.clone())),
            (_, Some(Err(obstacle))) => Err(NoMap::Obstacle(obstacle.clone())),
            (_, None) => Err(SetupError::new("the run has no derivatives").into()),
        }
    }
}

impl Equations for Weak {
    type Seen = Start;

    fn reached(&mut self, z: &[f64], seen: &Start) -> Result<(), NoMap> {
        if let Some((state, _)) = &mut self.family.anchor {
            *state = self.family.space.state(seen);
        }
        self.recentred(z)
    }

    fn unknowns(&self) -> usize {
        self.family.unknowns() + 1 + usize::from(self.is_level_free)
    }

    fn evaluate(&mut self, z: &[f64]) -> Result<Evaluation<Start>, NoMap> {
        let orbit = self.of_orbit(z);
        let (n, d) = (self.family.space.dimension(), self.family.problem.dimension());
        let inner = self.family.inner();
        let instant = z[inner] * self.family.time;
        let level = if self.is_level_free { z[z.len() - 1] * self.unit } else { 0.0 };
        let (start, period, forcing) = self.family.place(&orbit)?;
        let (from, to) = (start.t + self.window.0 * period, start.t + self.window.1 * period);
        if !(instant > from && instant < to) {
            return Err(SetupError::new("the instant of the impact leaves its window").into());
        }
        // Columns: the state, the instant, the parameters.
        let free = self.family.free.clone();
        let mut columns = self.family.space.unit();
        columns.push_zero();
        for &p in &free {
            let column = columns.push_zero();
            columns.column_mut(column)[2 * d + p] = 1.0;
        }
        let (here, columns) = self.segment(&self.family.problem, &start, from, &columns)?;
        let (before, columns) = self.segment(&self.without, &here, instant, &columns)?;
        let mut shifts = vec![0.0; columns.len()];
        shifts[n] = 1.0;
        let at = self.family.problem.instance_anywhere(&before)?;
        let mut stroke = Stroke::new(&at, &columns, &shifts)?;
        let gap = stroke.gap(self.constraint)?;
        let mut after = before.clone();
        after.reached = None;
        if self.nearness == Nearness::Hit {
            after.v = stroke.strike(self.constraint).map_err(SetupError::new)?;
        }
        let mut none = self.family.space.unit();
        none.truncate(0);
        let options = Options { end: to, vary: Some(none), ..self.family.options.clone() };
        let acceleration = match crate::Simulation::at(&self.without, &after, &options)?.variation() {
            Some(Ok(there)) => there.acceleration,
            Some(Err(obstacle)) => return Err(NoMap::Obstacle(obstacle)),
            None => return Err(SetupError::new("the run has no derivatives").into()),
        };
        let columns = stroke.after(&after.v, &acceleration);
        let (there, columns) = self.segment(&self.without, &after, to, &columns)?;
        let (last, columns) = self.segment(&self.family.problem, &there, start.t + period, &columns)?;

        let (family, m) = (&mut self.family, z.len());
        let (state, end) = (family.space.state(&start), family.space.state(&last));
        let rate = family.space.rate(&last.v, &columns.acceleration);
        let rows = inner + 2;
        let (mut residual, mut jacobian) = (Vec::with_capacity(rows), vec![0.0; rows * m]);
        let moved: Vec<Vec<f64>> = (0..columns.len()).map(|k| family.space.column(&columns, k)).collect();
        // The gap is measured by what the approach is, its rate by the speed.
        let (gap_unit, rate_unit) = match self.nearness {
            Nearness::Hit => (self.unit * family.time, self.unit),
            Nearness::Miss => (self.unit, self.unit / family.time),
        };
        let (gap_level, rate_level) = match self.nearness {
            Nearness::Hit => (0.0, -level),
            Nearness::Miss => (level, 0.0),
        };
        for i in 0..n {
            residual.push((end[i] - state[i]) / family.scales[i]);
            for j in 0..n {
                let unit = f64::from(u8::from(i == j));
                jacobian[i * m + j] = moved[j][i] * family.scales[j] / family.scales[i] - unit;
            }
            jacobian[i * m + inner] = moved[n][i] * family.time / family.scales[i];
            if family.is_free() {
                jacobian[i * m + n] = rate[i] * family.time / family.scales[i];
            }
        }
        if let Some((near, along)) = &family.anchor {
            let a: Vec<f64> = (0..n).map(|i| along[i] / family.scales[i]).collect();
            let size = a.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
            residual.push((0..n).map(|i| a[i] * (state[i] - near[i]) / family.scales[i]).sum::<f64>() / size);
            (0..n).for_each(|i| jacobian[n * m + i] = a[i] / size);
        }
        residual.push((gap.gap - gap_level) / gap_unit);
        residual.push((gap.rate - rate_level) / rate_unit);
        let slopes = [(&gap.gaps, gap_unit), (&gap.rates, rate_unit)];
        for (row, (slopes, unit)) in slopes.into_iter().enumerate() {
            let first = (inner + row) * m;
            (0..n).for_each(|j| jacobian[first + j] = slopes[j] * family.scales[j] / unit);
            jacobian[first + inner] = slopes[n] * family.time / unit;
        }
        for k in 0..free.len() {
            let slope = forcing.map_or(0.0, |_| family.clock.slope(&start.parameters, free[k]));
            let (place, size) = (inner + 1 + k, family.units[k]);
            let begun = |of: &dyn Fn(usize) -> f64| (0..n).map(|j| of(j) * rate[j]).sum::<f64>() * family.phase * slope;
            for i in 0..n {
                let ends = rate[i] * (family.multiple as f64 + family.phase) * slope;
                let by = moved[n + 1 + k][i] + ends - begun(&|j| moved[j][i]);
                jacobian[i * m + place] = by * size / family.scales[i];
            }
            for (row, (slopes, unit)) in slopes.into_iter().enumerate() {
                let by = slopes[n + 1 + k] - begun(&|j| slopes[j]);
                jacobian[(inner + row) * m + place] = by * size / unit;
            }
        }
        if self.is_level_free {
            let row = inner + usize::from(self.nearness == Nearness::Hit);
            jacobian[row * m + m - 1] = if self.nearness == Nearness::Hit { 1.0 } else { -1.0 };
        }
        Ok(Evaluation { z: z.to_vec(), residual, jacobian, seen: start })
    }
}
