//! Brute force over the same axis, below the branches: motions left to settle, at many values of the parameter.

use super::shown::Shown;
use crate::setup::Refusal;
use crate::{locate, progress};
use saltus_ensemble::{Block, Outcome, Plan, Request, Statistic, Sweep};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is simulated.
pub struct Simulation<'a> {
    pub model: &'a str,
    pub set: Vec<(String, String)>,
    pub start: Vec<(String, String)>,
    pub period: Option<String>,
    pub parameter: &'a str,
    pub range: (f64, f64),
    pub count: u64,
    pub shown: &'a Shown,
}

impl Simulation<'_> {
    /// What motions settled on: values of the parameter, and of what is shown.
    pub fn values(&self) -> Result<(Vec<f64>, Vec<f64>), Refusal> {
        let (low, high) = self.range;
        let mut request = Request {
            set: self.set.clone(),
            start: self.start.clone(),
            over: vec![format!("{}={low:?}:{high:?}:{}", self.parameter, self.count)],
            transient: Some("300".into()),
            periods: Some("24".into()),
            period: self.period.clone(),
            ..Request::default()
        };
        match self.shown {
            Shown::Speed => request.impacts = Some("all".into()),
            Shown::Strobe(text) => {
                request.strobe = true;
                request.observe = vec![text.clone()];
            }
            Shown::Statistic(_, text) => request.statistics = vec![text.clone()],
            Shown::Period => return Ok((Vec::new(), Vec::new())),
        }
        let sweep = request.sweep(locate::model(self.model)?)?;
        let stop = Arc::new(AtomicBool::new(false));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let plan =
            Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads, stop: stop.clone() };
        let (mut x, mut seen) = (Vec::new(), Vec::new());
        let shown = |block: Block| -> Vec<(f64, f64)> {
            let of = |(point, outcome): (u64, &Outcome)| {
                let value = sweep.family.values(point)[0];
                self.of(&sweep, point, outcome).into_iter().map(move |y| (value, y)).collect::<Vec<_>>()
            };
            (block.first..).zip(block.outcomes).flat_map(of).collect()
        };
        let mut keep = |shown: Vec<(f64, f64)>| {
            for (value, y) in shown {
                x.push(value);
                seen.push(y);
            }
            Ok::<(), Infallible>(())
        };
        let mut watch = |_: &saltus_ensemble::Progress| {
            if progress::is_stopped() {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let all = 0..sweep.family.len();
        let Ok(_) = plan.run(std::slice::from_ref(&all), &shown, &mut keep, &mut watch);
        Ok((x, seen))
    }

    /// What is shown of one motion.
    fn of(&self, sweep: &Sweep, point: u64, outcome: &Outcome) -> Vec<f64> {
        if outcome.status.is_err() {
            return Vec::new();
        }
        match self.shown {
            Shown::Speed => outcome.hits.iter().map(|hit| hit.speed).collect(),
            Shown::Statistic(name, _) => {
                let pick = |s: &Statistic| match *name {
                    "min" => s.min,
                    "max" => s.max,
                    "mean" => s.mean,
                    _ => s.rms,
                };
                outcome.statistics.iter().map(pick).collect()
            }
            Shown::Strobe(_) => {
                let problem = sweep.family.problem();
                let d = problem.dimension();
                let start = sweep.family.maker().job(point, None).job.start;
                let Some(mut quantities) = problem.instance(&start).ok().and_then(|at| at.quantities()) else {
                    return Vec::new();
                };
                let states = outcome.strobe.chunks_exact(1 + 2 * d);
                states.map(|s| quantities.at(s[0], &s[1..=d], &s[1 + d..])[0]).collect()
            }
            Shown::Period => Vec::new(),
        }
    }
}
