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
//!
//! By symmetry several impacts may vanish together, at instants τ₁ … τₖ. Each has its own window, its own two equations and its
//! own speed or gap among the unknowns: where the first is zero, symmetry makes the others zero, and nothing has to ask for it.

use super::anatomy::{Anatomy, Approach, Nearness};
use super::family::Family;
use super::zero::{Equations, Evaluation};
use crate::analysis::phase_space::NoMap;
use crate::event::{GapSlopes, Stroke};
use crate::motion::Variation;
use crate::problem::{Problem, Start};
use crate::{Keep, Options, SetupError, Status};

/// Orbits with weak impacts, or with near misses.
#[derive(Clone)]
pub struct Weak {
    /// The orbits; its free parameters are unknowns.
    pub family: Family,
    /// What becomes weak, in order of time.
    touches: Vec<Touch>,
    /// Whether the first speed or gap is an unknown; else it is zero. The others always are.
    is_level_free: bool,
}

/// One weak impact, or one near miss.
#[derive(Clone)]
struct Touch {
    constraint: usize,
    nearness: Nearness,
    /// The model without the constraint.
    without: Problem,
    /// The window around the instant, in parts of the period after the start.
    window: (f64, f64),
    /// The largest gap and the largest gap velocity over the orbit.
    units: (f64, f64),
}

impl Touch {
    /// What speed or gap is measured by.
    fn unit(&self) -> f64 {
        match self.nearness {
            Nearness::Hit => self.units.1,
            Nearness::Miss => self.units.0,
        }
    }
}

/// The widest window, as a part of the period on either side.
const WINDOW: f64 = 0.04;

impl Weak {
    /// The problem near approaches of an orbit; None where it is not covered: too near the start, other events or one another,
    /// friction or contact in between.
    pub fn new(family: &Family, anatomy: &Anatomy, near: &[Approach], start: f64, period: f64) -> Option<Self> {
        let model = family.problem.model();
        let after = |t: f64| (t - start).rem_euclid(period);
        let mut near = near.to_vec();
        near.sort_by(|a, b| after(a.t).total_cmp(&after(b.t)));
        let mut touches = Vec::with_capacity(near.len());
        for one in &near {
            if model.constraints[one.constraint].friction.is_some() {
                return None;
            }
            let at = after(one.t);
            // (Its own impact is one of the events.)
            let others = anatomy.instants.iter().copied().chain(near.iter().map(|n| n.t)).map(after);
            let others = others.filter(|t| (t - at).abs() > 1e-5 * period);
            let away = others.map(|t| (t - at).abs()).fold(at.min(period - at), f64::min);
            let half = (0.45 * away).min(WINDOW * period);
            if !(half > 1e-6 * period) {
                return None;
            }
            touches.push(Touch {
                constraint: one.constraint,
                nearness: one.nearness,
                without: family.problem.without(one.constraint).ok()?,
                window: ((at - half) / period, (at + half) / period),
                units: one.units,
            });
        }
        let is_apart = touches.windows(2).all(|pair| pair[0].window.1 <= pair[1].window.0);
        (is_apart && !touches.is_empty()).then(|| Weak { family: family.clone(), touches, is_level_free: true })
    }

    /// The windows moved to where the instants are.
    pub fn recentred(&mut self, z: &[f64]) -> Result<(), NoMap> {
        let (start, period, _) = self.family.place(&self.of_orbit(z))?;
        let first = self.place_of_instant();
        let mut last = 0.0;
        for (k, touch) in self.touches.iter_mut().enumerate() {
            let at = (z[first + k] * self.family.time - start.t) / period;
            let half = 0.5 * (touch.window.1 - touch.window.0);
            touch.window = (at - half, at + half);
            if !(touch.window.0 > last && touch.window.1 < 1.0) {
                let message = match last == 0.0 || touch.window.1 >= 1.0 {
                    true => "the instant of grazing comes to the start of the period",
                    false => "two instants of grazing come together",
                };
                return Err(SetupError::new(message).into());
            }
            last = touch.window.1;
        }
        Ok(())
    }

    /// The same orbits that hit, or that miss.
    #[must_use]
    pub fn that(mut self, nearness: Nearness) -> Self {
        self.touches.iter_mut().for_each(|touch| touch.nearness = nearness);
        self
    }

    /// The same orbits, of whose approaches some hit and others miss.
    #[must_use]
    pub fn those(mut self, sides: &[Nearness]) -> Self {
        self.touches.iter_mut().zip(sides).for_each(|(touch, side)| touch.nearness = *side);
        self
    }

    /// Grazing orbits alone: speed and gap are zero.
    #[must_use]
    pub fn grazing(mut self) -> Self {
        self.is_level_free = false;
        self
    }

    /// How many impacts become weak.
    pub fn count(&self) -> usize {
        self.touches.len()
    }

    fn levels(&self) -> usize {
        self.touches.len() - usize::from(!self.is_level_free)
    }

    /// Where the first instant is among the unknowns.
    pub fn place_of_instant(&self) -> usize {
        self.family.inner()
    }

    /// The place of the last parameter among the unknowns.
    pub fn place_of_parameter(&self) -> usize {
        self.unknowns() - self.levels() - 1
    }

    /// The unknowns: those of the orbit, with the instants behind its state and period, and the levels at the end.
    pub fn unknowns_of(&self, of_orbit: &[f64], instants: &[f64], levels: &[f64]) -> Vec<f64> {
        let (state, parameters) = of_orbit.split_at(self.place_of_instant());
        let mut z = state.to_vec();
        z.extend(instants.iter().map(|t| t / self.family.time));
        z.extend_from_slice(parameters);
        z.extend_from_slice(&levels[self.touches.len() - self.levels()..]);
        z
    }

    /// The unknowns of the orbit alone.
    pub fn of_orbit(&self, z: &[f64]) -> Vec<f64> {
        let first = self.place_of_instant();
        let mut all = z[..z.len() - self.levels()].to_vec();
        all.drain(first..first + self.touches.len());
        all
    }

    /// The instants of a point.
    pub fn instants(&self, z: &[f64]) -> Vec<f64> {
        z[self.place_of_instant()..][..self.touches.len()].iter().map(|t| t * self.family.time).collect()
    }

    /// The levels of a point that are unknowns.
    pub fn levels_of<'z>(&self, z: &'z [f64]) -> &'z [f64] {
        &z[z.len() - self.levels()..]
    }

    /// Whether the gaps are least at the instants of a point, not greatest.
    pub fn are_least(&self, found: &Evaluation<Start>) -> bool {
        let (m, inner) = (self.unknowns(), self.family.inner());
        (0..self.touches.len()).all(|k| found.jacobian[(inner + 2 * k + 1) * m + inner + k] > 0.0)
    }

    /// The row that holds the first level, as one more equation.
    pub fn level_row(&self) -> Vec<f64> {
        let mut row = vec![0.0; self.unknowns()];
        let place = row.len() - self.touches.len();
        row[place] = 1.0;
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

    /// One period with what happens at the given instants; the gaps there.
    fn pass(&self, start: &Start, period: f64, instants: &[f64]) -> Result<Passed, NoMap> {
        let (n, d) = (self.family.space.dimension(), self.family.problem.dimension());
        // Columns: the state, the instants, the parameters.
        let mut columns = self.family.space.unit();
        instants.iter().for_each(|_| {
            columns.push_zero();
        });
        for &p in &self.family.free {
            let column = columns.push_zero();
            columns.column_mut(column)[2 * d + p] = 1.0;
        }
        let (mut here, mut gaps) = (start.clone(), Vec::with_capacity(instants.len()));
        for (k, (touch, &instant)) in self.touches.iter().zip(instants).enumerate() {
            let (from, to) = (start.t + touch.window.0 * period, start.t + touch.window.1 * period);
            if !(instant > from && instant < to) {
                return Err(SetupError::new("the instant of the impact leaves its window").into());
            }
            (here, columns) = self.segment(&self.family.problem, &here, from, &columns)?;
            let before;
            (before, columns) = self.segment(&touch.without, &here, instant, &columns)?;
            let mut shifts = vec![0.0; columns.len()];
            shifts[n + k] = 1.0;
            let at = self.family.problem.instance_anywhere(&before)?;
            let mut stroke = Stroke::new(&at, &columns, &shifts)?;
            gaps.push(stroke.gap(touch.constraint)?);
            let mut after = before.clone();
            after.reached = None;
            if touch.nearness == Nearness::Hit {
                after.v = stroke.strike(touch.constraint).map_err(SetupError::new)?;
            }
            let mut none = self.family.space.unit();
            none.truncate(0);
            let options = Options { end: to, vary: Some(none), ..self.family.options.clone() };
            let acceleration = match crate::Simulation::at(&touch.without, &after, &options)?.variation() {
                Some(Ok(there)) => there.acceleration,
                Some(Err(obstacle)) => return Err(NoMap::Obstacle(obstacle)),
                None => return Err(SetupError::new("the run has no derivatives").into()),
            };
            columns = stroke.after(&after.v, &acceleration);
            (here, columns) = self.segment(&touch.without, &after, to, &columns)?;
        }
        let (last, columns) = self.segment(&self.family.problem, &here, start.t + period, &columns)?;
        Ok(Passed { last, columns, gaps })
    }
}

/// One period of a motion with weak impacts.
struct Passed {
    last: Start,
    columns: Variation,
    gaps: Vec<GapSlopes>,
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
        self.family.unknowns() + self.touches.len() + self.levels()
    }

    fn evaluate(&mut self, z: &[f64]) -> Result<Evaluation<Start>, NoMap> {
        let (n, inner, count) = (self.family.space.dimension(), self.family.inner(), self.touches.len());
        let (start, period, forcing) = self.family.place(&self.of_orbit(z))?;
        let Passed { last, columns, gaps } = self.pass(&start, period, &self.instants(z))?;

        let free = self.family.free.clone();
        let (m, levels) = (z.len(), self.levels());
        let (touches, family) = (&self.touches, &mut self.family);
        let (state, end) = (family.space.state(&start), family.space.state(&last));
        let rate = family.space.rate(&last.v, &columns.acceleration);
        let rows = inner + 2 * count;
        let (mut residual, mut jacobian) = (Vec::with_capacity(rows), vec![0.0; rows * m]);
        let moved: Vec<Vec<f64>> = (0..columns.len()).map(|k| family.space.column(&columns, k)).collect();
        for i in 0..n {
            residual.push((end[i] - state[i]) / family.scales[i]);
            for j in 0..n {
                let unit = f64::from(u8::from(i == j));
                jacobian[i * m + j] = moved[j][i] * family.scales[j] / family.scales[i] - unit;
            }
            for k in 0..count {
                jacobian[i * m + inner + k] = moved[n + k][i] * family.time / family.scales[i];
            }
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
        // Two rows for each: the gap and its rate, measured by what the approach is.
        let mut slopes: Vec<(usize, &[f64], f64)> = Vec::with_capacity(2 * count);
        for (k, (touch, gap)) in touches.iter().zip(&gaps).enumerate() {
            let (unit, is_hit, first) = (touch.unit(), touch.nearness == Nearness::Hit, inner + 2 * k);
            let (gap_unit, rate_unit) = if is_hit { (unit * family.time, unit) } else { (unit, unit / family.time) };
            let place = (m + k).checked_sub(count).filter(|_| k + levels >= count);
            let level = place.map_or(0.0, |p| z[p] * unit);
            let (gap_level, rate_level) = if is_hit { (0.0, -level) } else { (level, 0.0) };
            residual.push((gap.gap - gap_level) / gap_unit);
            residual.push((gap.rate - rate_level) / rate_unit);
            if let Some(place) = place {
                jacobian[(first + usize::from(is_hit)) * m + place] = if is_hit { 1.0 } else { -1.0 };
            }
            slopes.push((first, &gap.gaps, gap_unit));
            slopes.push((first + 1, &gap.rates, rate_unit));
        }
        for &(row, slopes, unit) in &slopes {
            (0..n).for_each(|j| jacobian[row * m + j] = slopes[j] * family.scales[j] / unit);
            (0..count).for_each(|k| jacobian[row * m + inner + k] = slopes[n + k] * family.time / unit);
        }
        for k in 0..free.len() {
            let slope = forcing.map_or(0.0, |_| family.clock.slope(&start.parameters, free[k]));
            let (place, size) = (inner + count + k, family.units[k]);
            let begun = |of: &dyn Fn(usize) -> f64| (0..n).map(|j| of(j) * rate[j]).sum::<f64>() * family.phase * slope;
            for i in 0..n {
                let ends = rate[i] * (family.multiple as f64 + family.phase) * slope;
                let by = moved[n + count + k][i] + ends - begun(&|j| moved[j][i]);
                jacobian[i * m + place] = by * size / family.scales[i];
            }
            for &(row, slopes, unit) in &slopes {
                let by = slopes[n + count + k] - begun(&|j| slopes[j]);
                jacobian[row * m + place] = by * size / unit;
            }
        }
        Ok(Evaluation { z: z.to_vec(), residual, jacobian, seen: start })
    }
}
