//! The largest Lyapunov exponent of each trajectory of a family, from where it ended.

use super::Tables;
use saltus::analysis::{LyapunovOptions, lyapunov};
use saltus::{SetupError, Start};
use saltus_io::output::{WriteError, write_file};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The name of the file.
const NAME: &str = "exponents.csv";
/// The mean is taken over this many periods at least.
const PERIODS: f64 = 50.0;

/// The largest exponent of each trajectory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exponents {
    /// By trajectory; NaN where it has none, −∞ where contact takes every perturbation away.
    pub largest: Vec<f64>,
    /// Its statistical error.
    pub error: Vec<f64>,
    /// How many trajectories were to have one and do not, and the first of them with the reason. (Not kept on the disk.)
    pub missing: Option<(u64, usize, String)>,
}

impl Exponents {
    /// Computes those of a family on all cores, over as many periods as it was observed; None if it was stopped. `watch` is called
    /// with the number of exponents so far.
    pub fn compute(
        tables: &Tables,
        threads: usize,
        stop: &AtomicBool,
        watch: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<Self>, SetupError> {
        let (family, points) = (&tables.sweep.family, &tables.points);
        let model = family.problem().model();
        let count = family.len() as usize;
        let column = |name: &str| points.numbers(name);
        let positions = model.coordinates.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
        let rates = model.coordinates.iter().map(|name| column(&format!("{name}'")));
        let velocities =
            rates.chain(model.states.iter().map(|state| column(&state.name))).collect::<Result<Vec<_>, _>>()?;
        let (time, status) = (column("t")?, points.texts("status")?);
        let found = Mutex::new(vec![(f64::NAN, f64::NAN); count]);
        let missing: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_stopped = || stop.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            for _ in 0..threads.clamp(1, count.max(1)) {
                scope.spawn(|| {
                    let mut maker = family.maker();
                    loop {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        if k >= count || is_stopped() {
                            return;
                        }
                        let job = maker.job(k as u64, None).job;
                        let block = job.strobe.unwrap_or((job.end - job.from) / PERIODS);
                        let blocks = ((job.end - job.from) / block).round().max(PERIODS) as usize;
                        let mut q: Vec<f64> = positions.iter().map(|q| q[k]).collect();
                        q.resize(velocities.len(), 0.0);
                        let v: Vec<f64> = velocities.iter().map(|v| v[k]).collect();
                        let start = Start::new(time[k], q, v).with_parameters(job.start.parameters);
                        let mut options = LyapunovOptions::blocks(block, 0, blocks);
                        options.tolerance = tables.sweep.wanted.tolerance;
                        if status[k] == "finished" || status[k] == "breached" {
                            let one = lyapunov(family.problem(), &start, &options, &mut |_| !is_stopped());
                            match one {
                                Ok(one) => {
                                    let largest = one.largest();
                                    found.lock().unwrap_or_else(PoisonError::into_inner)[k] =
                                        (largest.value, largest.error);
                                }
                                Err(error) => {
                                    let mut missing = missing.lock().unwrap_or_else(PoisonError::into_inner);
                                    missing.push((k, error.to_string()));
                                }
                            }
                        }
                        watch(done.fetch_add(1, Ordering::Relaxed) + 1);
                    }
                });
            }
        });
        if is_stopped() {
            return Ok(None);
        }
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (largest, error) = found.into_iter().unzip();
        let missing = missing.into_inner().unwrap_or_else(PoisonError::into_inner);
        let count = missing.len() as u64;
        let missing = missing.into_iter().min().map(|(first, why)| (count, first, why));
        Ok(Some(Exponents { largest, error, missing }))
    }

    /// Writes them into a directory; returns the name of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<String, WriteError> {
        write_file(&dir.join(NAME), |out| {
            writeln!(out, "point,exponent,error")?;
            for (k, (value, error)) in self.largest.iter().zip(&self.error).enumerate() {
                writeln!(out, "{k},{value},{error}")?;
            }
            Ok(())
        })?;
        Ok(NAME.to_string())
    }

    /// Reads those of a directory with so many trajectories; None if there are none.
    ///
    /// # Errors
    /// The file is damaged, or is of another family.
    pub fn read(dir: &Path, count: usize) -> Result<Option<Self>, SetupError> {
        let path = dir.join(NAME);
        if !path.exists() {
            return Ok(None);
        }
        let fail = |why: String| SetupError::new(format!("cannot read `{}`: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|e| fail(e.to_string()))?;
        let row = |line: &str| {
            let mut fields = line.split(',').skip(1).map(|field| field.trim().parse::<f64>());
            Some((fields.next()?.ok()?, fields.next()?.ok()?))
        };
        let rows: Option<Vec<(f64, f64)>> = text.lines().skip(1).map(row).collect();
        let rows = rows.filter(|rows| rows.len() == count);
        let rows = rows.ok_or_else(|| fail(format!("it does not have {count} rows of numbers")))?;
        let (largest, error) = rows.into_iter().unzip();
        Ok(Some(Exponents { largest, error, missing: None }))
    }
}
