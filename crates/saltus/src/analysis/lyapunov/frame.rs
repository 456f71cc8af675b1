//! A frame of perturbations that is made orthonormal again and again.

use super::{Exponent, NoExponents, PhaseSpace, advance};
use crate::analysis::phase_space::held_by_joints;
use crate::linalg::dot;
use crate::problem::{Problem, Start};
use crate::{Keep, Options, Simulation};

/// A column that keeps less than this of its length beside the columns before it is gone: a contact has taken its direction.
const GONE: f64 = 1e-13;

/// Between two orthonormalisations a column should keep more than `SHORTER` of its length beside the others, or the time
/// between them is halved; where all keep more than `LONGER`, it is doubled.
const SHORTER: f64 = 1e-4;
const LONGER: f64 = 0.2;

/// A block is cut into at most 2^this parts, and into 2^FIRST at first.
const MOST: u32 = 16;
const FIRST: u32 = 6;

/// Into how many parts a block is cut at first: so many that no column shrinks too much in the first of them. (One that a contact
/// takes away is gone however short it is.)
fn calibrate(
    space: &PhaseSpace,
    problem: &Problem,
    at: &Start,
    block: f64,
    tolerance: f64,
) -> Result<u32, NoExponents> {
    let options = Options::events(f64::INFINITY).tolerance(tolerance).keep(Keep::NOTHING).vary(space.unit());
    for cuts in (FIRST..MOST).step_by(2) {
        let mut sim = problem.resume(at)?.engine(&options)?;
        let n = space.dimension();
        let mut trial = Frame { columns: n, dimension: n, logs: Vec::new(), sums: vec![0.0; n], cuts };
        trial.orthonormalise(space, &mut sim)?;
        let before = trial.columns;
        advance(&mut sim, at.t + block / f64::from(1_u32 << cuts))?;
        if trial.orthonormalise(space, &mut sim)? >= SHORTER && trial.columns == before {
            return Ok(cuts);
        }
    }
    Ok(FIRST)
}

/// Means over this many parts of the time make the error.
const PARTS: usize = 20;

pub(super) struct Frame {
    /// Columns that are left, and how many there were.
    columns: usize,
    dimension: usize,
    /// The logarithms of the lengths in each block, one list for each column.
    logs: Vec<Vec<f64>>,
    sums: Vec<f64>,
    cuts: u32,
}

impl Frame {
    /// The directions that joints leave at the start. (Those that a contact takes away there are gone at once.)
    pub fn new(
        space: &PhaseSpace,
        problem: &Problem,
        at: &Start,
        sim: &mut Simulation,
        (block, tolerance): (f64, f64),
    ) -> Result<Self, NoExponents> {
        let dimension = space.dimension() - 2 * held_by_joints(problem, at);
        let mut frame = Frame {
            columns: space.dimension(),
            dimension,
            logs: Vec::new(),
            sums: vec![0.0; space.dimension()],
            cuts: calibrate(space, problem, at, block, tolerance)?,
        };
        frame.orthonormalise(space, sim)?;
        frame.columns = frame.columns.min(dimension);
        frame.begin_to_count();
        Ok(frame)
    }

    /// What has been added up is forgotten.
    pub fn begin_to_count(&mut self) {
        self.logs = vec![Vec::new(); self.columns];
    }

    /// Carries the frame over a block.
    pub fn block(
        &mut self,
        space: &PhaseSpace,
        sim: &mut Simulation,
        from: f64,
        lasts: f64,
    ) -> Result<(), NoExponents> {
        self.sums.fill(0.0);
        let parts = 1_u64 << self.cuts;
        let mut logs = 0.0;
        for k in 1..=parts {
            advance(sim, from + lasts * k as f64 / parts as f64)?;
            logs += self.orthonormalise(space, sim)?.ln();
        }
        for (log, sum) in self.logs.iter_mut().zip(&self.sums).take(self.columns) {
            log.push(*sum);
        }
        // (An impact with little speed brings columns together however short the parts are: the mean of all parts decides.)
        let least = (logs / parts as f64).exp();
        if least < SHORTER && self.cuts < MOST {
            self.cuts += 1;
        } else if least > LONGER && self.cuts > 0 {
            self.cuts -= 1;
        }
        Ok(())
    }

    /// Gram and Schmidt, twice; logarithms of lengths are added up. Gives the least part that a column kept.
    fn orthonormalise(&mut self, space: &PhaseSpace, sim: &mut Simulation) -> Result<f64, NoExponents> {
        let mut all = match sim.variation() {
            Some(Ok(all)) => all,
            Some(Err(obstacle)) => return Err(NoExponents::Obstacle(obstacle)),
            None => return Ok(1.0),
        };
        let mut kept: Vec<Vec<f64>> = Vec::with_capacity(self.columns);
        let mut left = Vec::with_capacity(self.columns);
        let (mut least, mut sums) = (1.0_f64, Vec::with_capacity(self.columns));
        for k in 0..self.columns.min(all.len()) {
            let mut x = space.column(&all, k);
            let whole = dot(&x, &x).sqrt();
            for _ in 0..2 {
                for before in &kept {
                    let along = dot(&x, before);
                    x.iter_mut().zip(before).for_each(|(x, b)| *x -= along * b);
                }
            }
            let length = dot(&x, &x).sqrt();
            if !(length > GONE * whole.max(f64::MIN_POSITIVE)) {
                continue;
            }
            least = least.min(length / whole);
            x.iter_mut().for_each(|x| *x /= length);
            kept.push(x);
            left.push(k);
            sums.push(self.sums[k] + length.ln());
        }
        if self.logs.len() > kept.len() {
            self.logs = left.iter().map(|&k| std::mem::take(&mut self.logs[k])).collect();
        }
        self.columns = kept.len();
        self.sums.truncate(0);
        self.sums.extend(sums);
        all.truncate(kept.len());
        for (k, x) in kept.iter().enumerate() {
            all.column_mut(k).fill(0.0);
            space.set_column(&mut all, k, x);
        }
        sim.set_variation(&all);
        Ok(least)
    }

    /// Means and their errors, largest first.
    pub fn exponents(&self, block: f64) -> Vec<Exponent> {
        let mut found: Vec<Exponent> = self.logs.iter().map(|log| mean(log, block)).collect();
        found.resize(self.dimension.max(found.len()), Exponent { value: f64::NEG_INFINITY, error: 0.0 });
        found.sort_by(|a, b| b.value.total_cmp(&a.value));
        found
    }
}

fn mean(log: &[f64], block: f64) -> Exponent {
    let n = log.len().max(1) as f64;
    let value = log.iter().sum::<f64>() / (n * block);
    let parts = PARTS.min(log.len());
    if parts < 2 {
        return Exponent { value, error: f64::INFINITY };
    }
    let bound = |k: usize| k * log.len() / parts;
    let means = (0..parts).map(|k| {
        let part = &log[bound(k)..bound(k + 1)];
        part.iter().sum::<f64>() / (part.len() as f64 * block)
    });
    let scatter: f64 = means.map(|m| (m - value).powi(2)).sum::<f64>() / (parts - 1) as f64;
    // (Where nothing scatters, the ends of the mean are still cut somewhere within a turn of the frame.)
    Exponent { value, error: (scatter / parts as f64).sqrt() }
}
