//! What is kept of a trajectory while it is computed.

use crate::{Checks, Engine, Hit, Job, Outcome, Wanted};
use saltus::Status;
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub impacts: u64,
    pub accumulations: u64,
    pub hits: VecDeque<Hit>,
    pub strobe: Vec<f64>,
    pub sections: Vec<f64>,
    pub checks: Checks,
    /// Whether lanes, and whether the event engine, computed a part of it.
    pub by_lanes: bool,
    pub by_events: bool,
    /// The number of the next instant of the stroboscope.
    pub next: u64,
}

impl Tally {
    /// Where the stroboscope looks next, or the end.
    pub fn stop(&self, job: &Job) -> f64 {
        match job.strobe {
            Some(interval) if interval > 0.0 => (job.from + self.next as f64 * interval).min(job.end),
            _ => job.end,
        }
    }

    /// The state at a stop.
    pub fn stopped(&mut self, job: &Job, wanted: &Wanted, t: f64, q: &[f64], v: &[f64]) {
        let Some(interval) = job.strobe.filter(|&interval| interval > 0.0) else { return };
        if t >= job.from + self.next as f64 * interval {
            self.next += 1;
            if wanted.strobe || wanted.settled {
                self.strobe.push(t);
                self.strobe.extend(q);
                self.strobe.extend(v);
            }
        }
    }

    pub fn hit(&mut self, job: &Job, wanted: &Wanted, hit: Hit) {
        if hit.t < job.from {
            return;
        }
        self.impacts += 1;
        if wanted.impacts > 0 {
            if self.hits.len() == wanted.impacts {
                self.hits.pop_front();
            }
            self.hits.push_back(hit);
        }
    }

    pub fn outcome(self, status: Result<Status, String>, t: f64, q: Vec<f64>, v: Vec<f64>) -> Outcome {
        Outcome {
            status,
            t,
            q,
            v,
            impacts: self.impacts,
            accumulations: self.accumulations,
            strobe: self.strobe,
            sections: self.sections,
            hits: self.hits.into(),
            statistics: Vec::new(),
            settled: None,
            checks: self.checks,
            engine: match (self.by_lanes, self.by_events) {
                (true, true) => Engine::Both,
                (true, false) => Engine::Lanes,
                _ => Engine::Scalar,
            },
        }
    }
}
