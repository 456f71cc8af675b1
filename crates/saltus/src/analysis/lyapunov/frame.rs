//! A frame of perturbations that is made orthonormal again and again.

use super::{Exponent, NoExponents, PhaseSpace, advance};
use crate::analysis::phase_space::held_by_joints;
use crate::linalg::dot;
use crate::problem::{Problem, Start};
use crate::{Keep, Options, SetupError, Simulation};

/// A column that keeps less than this of its length beside the columns before it is gone: a contact has taken its direction.
const GONE: f64 = 1e-13;

/// Between two orthonormalisations a column should keep more than `SHORTER` of its length beside the others, or the time
/// between them is halved; where all keep more than `LONGER`, it is doubled.
pub(super) const SHORTER: f64 = 1e-4;
pub(super) const LONGER: f64 = 0.2;

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

    /// Makes the columns orthonormal; logarithms of lengths are added up. Gives the least part that a column kept.
    fn orthonormalise(&mut self, space: &PhaseSpace, sim: &mut Simulation) -> Result<f64, NoExponents> {
        let mut all = match sim.variation() {
            Some(Ok(all)) => all,
            Some(Err(obstacle)) => return Err(NoExponents::Obstacle(obstacle)),
            None => return Ok(1.0),
        };
        let given = self.columns.min(all.len());
        let (kept, least) = orthonormal((0..given).map(|k| space.column(&all, k)))?;
        let sums: Vec<f64> = kept.iter().map(|(k, length, _)| self.sums[*k] + length.ln()).collect();
        if self.logs.len() > kept.len() {
            self.logs = kept.iter().map(|(k, ..)| std::mem::take(&mut self.logs[*k])).collect();
        }
        self.columns = kept.len();
        self.sums.truncate(0);
        self.sums.extend(sums);
        all.truncate(kept.len());
        for (k, (_, _, x)) in kept.iter().enumerate() {
            all.column_mut(k).fill(0.0);
            space.set_column(&mut all, k, x);
        }
        sim.set_variation(&all);
        Ok(least)
    }

    /// Means and their errors, largest first; and the largest of them over the second half of the time alone.
    pub fn exponents(&self, block: f64) -> (Vec<Exponent>, Option<Exponent>) {
        let columns: Vec<Option<&[f64]>> = self.logs.iter().map(|log| Some(log.as_slice())).collect();
        let (mut found, late) = means(&columns, block);
        found.resize(self.dimension.max(found.len()), GONE_FOR_GOOD);
        (found, late)
    }
}

/// The exponent of a direction that a contact takes away.
const GONE_FOR_GOOD: Exponent = Exponent { value: f64::NEG_INFINITY, error: 0.0 };

/// The means of some columns, largest first, None being one that a contact has taken; and the largest of them over the second half of the time.
pub(super) fn means(columns: &[Option<&[f64]>], block: f64) -> (Vec<Exponent>, Option<Exponent>) {
    let of = |log: &&[f64]| (mean(log, block), Some(scatter(&log[log.len() / 2..], block)));
    let mut found: Vec<(Exponent, Option<Exponent>)> =
        columns.iter().map(|log| log.as_ref().map_or((GONE_FOR_GOOD, None), of)).collect();
    found.sort_by(|a, b| b.0.value.total_cmp(&a.0.value));
    let late = found.first().and_then(|first| first.1);
    (found.into_iter().map(|(e, _)| e).collect(), late)
}

/// A column that is left: its number among those given, its length beside those before, and the column itself, as a unit vector.
type Left = (usize, f64, Vec<f64>);

/// Gram and Schmidt, twice. The columns that are left, and the least part of its length that one of them kept.
///
/// # Errors
/// Some entries are no numbers.
pub(super) fn orthonormal(columns: impl Iterator<Item = Vec<f64>>) -> Result<(Vec<Left>, f64), NoExponents> {
    let mut kept: Vec<Left> = Vec::new();
    let mut least = 1.0_f64;
    for (k, mut x) in columns.enumerate() {
        let whole = dot(&x, &x).sqrt();
        for _ in 0..2 {
            for (_, _, before) in &kept {
                let along = dot(&x, before);
                x.iter_mut().zip(before).for_each(|(x, b)| *x -= along * b);
            }
        }
        let length = dot(&x, &x).sqrt();
        if !(whole.is_finite() && length.is_finite()) {
            return Err(SetupError::new("perturbations of this motion grow beyond all numbers").into());
        }
        if length > GONE * whole.max(f64::MIN_POSITIVE) {
            least = least.min(length / whole);
            x.iter_mut().for_each(|x| *x /= length);
            kept.push((k, length, x));
        }
    }
    Ok((kept, least))
}

/// The mean of logarithms over blocks, with its error: what the means over parts scatter by, or, where that is more, what the two halves of the
/// time differ by. (Neighbours that part like a power of the time have a rate that falls all the time: no part scatters, and all
/// are off.)
fn mean(log: &[f64], block: f64) -> Exponent {
    let all = scatter(log, block);
    let (first, second) = log.split_at(log.len() / 2);
    let drift = (rate(first, block) - rate(second, block)).abs();
    Exponent { error: if first.is_empty() { all.error } else { all.error.max(drift) }, ..all }
}

fn rate(log: &[f64], block: f64) -> f64 {
    log.iter().sum::<f64>() / (log.len().max(1) as f64 * block)
}

/// The mean of logarithms over blocks, with its standard error.
fn scatter(log: &[f64], block: f64) -> Exponent {
    let value = rate(log, block);
    let parts = PARTS.min(log.len());
    if parts < 2 {
        return Exponent { value, error: f64::INFINITY };
    }
    let bound = |k: usize| k * log.len() / parts;
    let means = (0..parts).map(|k| rate(&log[bound(k)..bound(k + 1)], block));
    let scatter: f64 = means.map(|m| (m - value).powi(2)).sum::<f64>() / (parts - 1) as f64;
    // (Where nothing scatters, the ends of the mean are still cut somewhere within a turn of the frame.)
    Exponent { value, error: (scatter / parts as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parts_like_a_power_of_the_time_has_an_error_as_large_as_its_rate() {
        // ln t from t₀ on, a tenth of the time, in which directions were found: the rate is ln(11)/T, and in the end there is none.
        for count in [100, 1000, 10_000] {
            let from = count / 10;
            let log: Vec<f64> = (from..from + count).map(|k| (f64::from(k + 1) / f64::from(k)).ln()).collect();
            let (found, exact) = (mean(&log, 2.0), 11.0_f64.ln() / (2.0 * f64::from(count)));
            assert!((found.value - exact).abs() < 1e-12 && found.value < 2.0 * found.error, "{count}: {found:?}");
            // (By its scatter alone it would be chaos.)
            assert!(found.value > 3.0 * scatter(&log, 2.0).error, "{count}: {found:?}");
        }
        // Where the halves differ by what scatters, that is the error.
        let noise = |k: i32| f64::from((k * 7919) % 101) / 101.0;
        let log: Vec<f64> = (0..1000).map(noise).collect();
        assert!(mean(&log, 1.0).error < 0.02);
    }

    #[test]
    fn columns_are_left_out_or_refused() {
        let of = |columns: &[[f64; 2]]| orthonormal(columns.iter().map(|x| x.to_vec()));
        let (left, least) = of(&[[0.0, 2.0], [0.5, 3.0], [1.0, 1.0]]).expect("numbers");
        assert_eq!(left, vec![(0, 2.0, vec![0.0, 1.0]), (1, 0.5, vec![1.0, 0.0])]);
        assert!((least - 0.5 / 9.25_f64.sqrt()).abs() < 1e-15);
        assert!(of(&[[0.0, 0.0]]).is_ok_and(|(left, _)| left.is_empty()));
        // What is no number is not gone.
        assert!(of(&[[f64::NAN, 0.0], [1.0, 0.0]]).is_err() && of(&[[f64::INFINITY, 0.0]]).is_err());
    }
}
