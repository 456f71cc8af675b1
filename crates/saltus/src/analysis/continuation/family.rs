//! The orbits of one kind over open parameters, as zeros of equations: x = P(x, p) over one period.
//!
//! Where forces depend on time, an orbit begins at a phase θ of the forcing, t₀ = θ T(p), and lasts n T(p). Where they
//! do not, its period is an unknown, and one more equation keeps the start from sliding along the orbit.

use super::clock::Clock;
use super::zero::{Equations, Evaluation};
use crate::analysis::closing::Orbit;
use crate::analysis::phase_space::{NoMap, Passage, PhaseSpace, held_by_joints};
use crate::linalg::{dot, max_abs};
use crate::problem::{Problem, Start};
use crate::{Keep, Options, Run, SetupError, Side};

/// Orbits over parameters.
#[derive(Clone)]
pub struct Family {
    pub problem: Problem,
    pub space: PhaseSpace,
    pub clock: Clock,
    /// How many periods of the forcing an orbit takes.
    pub multiple: usize,
    /// The phase of the start, in periods of the forcing.
    pub phase: f64,
    /// The open parameters that are unknowns, by their places, and the size by which each is measured.
    pub free: Vec<usize>,
    pub units: Vec<f64>,
    /// Values of all open parameters.
    pub parameters: Vec<f64>,
    /// The sizes by which entries of the state are measured, and the period.
    pub scales: Vec<f64>,
    pub time: f64,
    /// Where nothing depends on time: a state near the start, and its rate.
    pub anchor: Option<(Vec<f64>, Vec<f64>)>,
    /// The constraints that are closed at the start.
    pub closed: Option<Vec<usize>>,
    pub options: Options,
}

/// One period of a motion.
#[derive(Clone, Debug)]
pub struct Seen {
    pub start: Start,
    pub period: f64,
    pub passage: Passage,
}

impl Family {
    /// The family through an orbit, whose motion over one period is `run`, with its polynomials.
    pub fn through(
        problem: &Problem,
        mut clock: Clock,
        (start, period, multiple): (&Start, f64, Option<usize>),
        run: &Run,
        free: &[(usize, f64)],
        tolerance: f64,
    ) -> Result<Self, SetupError> {
        let space = PhaseSpace::of(problem);
        let (motion, d) = (&run.trajectory, problem.dimension());
        let (mut far, mut fast, degrees) = (motion.reach(), motion.fastest(), motion.degrees());
        let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
        for k in 0..motion.pieces.len() {
            let (from, to) = motion.pieces.span(k);
            motion.pieces.read(k, 0.5 * (from + to), &mut q, &mut v);
            (far, fast) = (far.max(max_abs(&q[..degrees])), fast.max(max_abs(&v[..degrees])));
        }
        let state = space.state(start);
        let of = |i: usize| match i {
            i if i < degrees => far,
            i if i < 2 * degrees => fast,
            i => state[i].abs().max(1e-3),
        };
        let scales = (0..space.dimension()).map(of).map(|s| if s > 0.0 { s } else { 1.0 }).collect();
        let keep = Keep::PIECES | Keep::IMPACTS | Keep::TIMELINE;
        let (phase, anchor) = match clock.period(&start.parameters) {
            Some(forcing) => (start.t / forcing, None),
            None => {
                let mut a = vec![0.0; d];
                if !motion.pieces.is_empty() {
                    motion.pieces.accelerations(0, start.t, &mut a);
                }
                (0.0, Some((state, space.rate(&start.v, &a))))
            }
        };
        Ok(Family {
            problem: problem.clone(),
            multiple: multiple.unwrap_or(1),
            phase,
            free: free.iter().map(|f| f.0).collect(),
            units: free.iter().map(|f| f.1).collect(),
            parameters: start.parameters.clone(),
            scales,
            time: period,
            anchor,
            closed: run.last().closed().map(<[usize]>::to_vec),
            options: Options::events(f64::INFINITY).tolerance(tolerance).keep(keep),
            clock,
            space,
        })
    }

    /// Whether the period is an unknown.
    pub fn is_free(&self) -> bool {
        self.anchor.is_some()
    }

    /// The number of unknowns before the parameters.
    pub fn inner(&self) -> usize {
        self.space.dimension() + usize::from(self.is_free())
    }

    /// The unknowns of an orbit.
    pub fn unknowns_of(&self, start: &Start, period: f64) -> Vec<f64> {
        let mut z: Vec<f64> = self.space.state(start).iter().zip(&self.scales).map(|(x, s)| x / s).collect();
        if self.is_free() {
            z.push(period / self.time);
        }
        z.extend(self.free.iter().zip(&self.units).map(|(&k, unit)| start.parameters[k] / unit));
        z
    }

    /// The values of the free parameters of a point.
    pub fn values(&self, z: &[f64]) -> Vec<f64> {
        z[self.inner()..].iter().zip(&self.units).map(|(z, unit)| z * unit).collect()
    }

    /// Start, period and the period of the forcing of a point.
    pub fn place(&mut self, z: &[f64]) -> Result<(Start, f64, Option<f64>), NoMap> {
        let n = self.space.dimension();
        let state: Vec<f64> = z[..n].iter().zip(&self.scales).map(|(z, s)| z * s).collect();
        let mut parameters = self.parameters.clone();
        for (&k, value) in self.free.iter().zip(self.values(z)) {
            parameters[k] = value;
        }
        let forcing = self.clock.period(&parameters);
        let (t, period) = match forcing {
            Some(period) => (self.phase * period, self.multiple as f64 * period),
            None if self.is_free() => (0.0, z[n] * self.time),
            None => return Err(SetupError::new("the forcing has no period for these parameters").into()),
        };
        let d = self.problem.dimension();
        let like = Start { parameters, ..Start::new(t, vec![0.0; d], vec![0.0; d]) };
        let start = self.space.start(&like, &state, self.closed.as_deref().filter(|c| !c.is_empty()));
        let start = match self.problem.model().joints.is_empty() {
            true => start,
            false => self.problem.assembled(&start)?,
        };
        Ok((start, period, forcing))
    }

    /// An orbit from what was seen at a zero.
    pub fn orbit(&self, found: &Evaluation<Seen>, steps: usize) -> Orbit {
        let Seen { start, period, passage } = found.seen.clone();
        let joints = held_by_joints(&self.problem, &start);
        let multiple = if self.is_free() { None } else { Some(self.multiple) };
        Orbit { start, period, passage, residual: found.size(), steps, multiple, joints }
    }

    /// Where the period is free: the equations of an orbit, with what keeps the start of the next ones from sliding.
    pub fn anchored(&self, found: &mut Evaluation<Seen>) {
        if !self.is_free() {
            return;
        }
        let (n, m) = (self.space.dimension(), self.unknowns());
        let row = &mut found.jacobian[n * m..(n + 1) * m];
        let rate = found.seen.passage.rate.iter().zip(&self.scales);
        row.iter_mut().zip(rate).for_each(|(x, (rate, scale))| *x = rate / scale);
        let size = dot(row, row).sqrt().max(1e-300);
        row.iter_mut().for_each(|x| *x /= size);
        found.residual[n] = 0.0;
    }

    /// The same family seen from another instant of an orbit, `later` after its start, with the unknowns there and what
    /// becomes of a direction.
    pub fn moved(&self, found: &Evaluation<Seen>, direction: &[f64], later: f64) -> Option<(Self, Vec<f64>, Vec<f64>)> {
        let Seen { start, period, passage } = &found.seen;
        let (q, v) = passage.run.trajectory.at(start.t + later, Side::Right)?;
        let (n, d) = (self.space.dimension(), self.problem.dimension());
        let mut family = self.clone();
        // The direction travels along as a perturbation; that of the instant follows from the phase.
        let mut seed = self.space.unit();
        seed.truncate(0);
        let column = seed.push_zero();
        let state: Vec<f64> = direction[..n].iter().zip(&self.scales).map(|(x, s)| x * s).collect();
        self.space.set_column(&mut seed, column, &state);
        for (k, &p) in self.free.iter().enumerate() {
            seed.column_mut(column)[2 * d + p] = direction[self.inner() + k] * self.units[k];
        }
        let options = Options { end: start.t + later, vary: Some(seed), ..self.options.clone() };
        let run = self.problem.run_from(start, &options).ok()?;
        let carried = run.variation.as_ref()?.as_ref().ok()?;
        let mut there = Start { parameters: start.parameters.clone(), ..Start::new(start.t + later, q, v) };
        there.reached.clone_from(&run.last().reached);
        let mut z_direction = self.space.column(carried, 0);
        if let Some(forcing) = family.clock.period(&start.parameters) {
            // (Seen at a phase, not at an instant.)
            let phase = family.phase + later / forcing;
            let rate = self.space.rate(&run.last().v, &carried.acceleration);
            for (k, &p) in self.free.iter().enumerate() {
                let slope = family.clock.slope(&start.parameters, p) * direction[self.inner() + k] * self.units[k];
                z_direction.iter_mut().zip(&rate).for_each(|(x, r)| *x += (phase - self.phase) * slope * r);
            }
            family.phase = phase.rem_euclid(self.multiple as f64);
        }
        z_direction.iter_mut().zip(&self.scales).for_each(|(x, s)| *x /= s);
        z_direction.extend_from_slice(&direction[n..]);
        let there_state = self.space.state(&there);
        if let Some((state, rate)) = &mut family.anchor {
            (*state, *rate) = (there_state, self.space.rate(&run.last().v, &carried.acceleration));
        }
        family.closed = there.closed().map(<[usize]>::to_vec);
        let z = family.unknowns_of(&there, *period);
        Some((family, z, z_direction))
    }
}

impl Equations for Family {
    type Seen = Seen;

    fn unknowns(&self) -> usize {
        self.inner() + self.free.len()
    }

    fn evaluate(&mut self, z: &[f64]) -> Result<Evaluation<Seen>, NoMap> {
        if z.iter().any(|x| !x.is_finite()) {
            return Err(SetupError::new("a state that is no number").into());
        }
        let (start, period, forcing) = self.place(z)?;
        if !(period > 0.0) || (self.is_free() && !(0.2..5.0).contains(&(period / self.time))) {
            return Err(SetupError::new("the period leaves what is reasonable").into());
        }
        let (n, m) = (self.space.dimension(), self.unknowns());
        let passage = self.space.pass_by(&self.problem, &start, period, &self.free, &self.options)?;
        let state = self.space.state(&start);
        let mut residual: Vec<f64> = (0..n).map(|i| (passage.end[i] - state[i]) / self.scales[i]).collect();
        let rows = self.inner();
        let mut jacobian = vec![0.0; rows * m];
        let rate = passage.rate.clone();
        for i in 0..n {
            for j in 0..n {
                let unit = f64::from(u8::from(i == j));
                jacobian[i * m + j] = passage.jacobian[i * n + j] * self.scales[j] / self.scales[i] - unit;
            }
            if self.is_free() {
                jacobian[i * m + n] = rate[i] * self.time / self.scales[i];
            }
        }
        for k in 0..self.free.len() {
            // Start and end move with the period: t₀ = θT, t₁ = (θ + n)T.
            let slope = forcing.map_or(0.0, |_| self.clock.slope(&start.parameters, self.free[k]));
            for i in 0..n {
                let begun = dot(&passage.jacobian[i * n..(i + 1) * n], &rate);
                let by = passage.by_parameters[k][i]
                    + rate[i] * self.multiple as f64 * slope
                    + (rate[i] - begun) * self.phase * slope;
                jacobian[i * m + rows + k] = by * self.units[k] / self.scales[i];
            }
        }
        if let Some((near, along)) = &self.anchor {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in 0..n {
                let a = along[i] / self.scales[i];
                sum += a * (state[i] - near[i]) / self.scales[i];
                size += a * a;
                jacobian[n * m + i] = a;
            }
            let size = size.sqrt().max(1e-300);
            jacobian[n * m..(n + 1) * m].iter_mut().for_each(|x| *x /= size);
            residual.push(sum / size);
        }
        Ok(Evaluation { z: z.to_vec(), residual, jacobian, seen: Seen { start, period, passage } })
    }
}
