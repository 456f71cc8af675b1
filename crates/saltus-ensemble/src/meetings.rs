//! Instants of the stroboscope at which something is hit. Rounding puts such an instant before the impact or after it: it is after it.

use crate::Job;
use crate::carry::{is_before_impact, run_past};
use saltus::problem::Gaps;
use saltus::{Problem, Start};

/// An impact that follows an instant of the stroboscope within this part of an interval is at it.
pub(crate) const MEANWHILE: f64 = 1e-10;

/// Finds them in the trajectories of a worker, one after the other.
pub(crate) struct Meetings {
    problem: Problem,
    /// Made when it is of use, and kept.
    gaps: Option<Gaps>,
}

/// Those of one trajectory.
pub(crate) struct Meeting<'a> {
    problem: &'a Problem,
    gaps: &'a mut Gaps,
    parameters: &'a [f64],
    within: f64,
    tolerance: f64,
}

impl Meetings {
    pub fn new(problem: &Problem) -> Self {
        Meetings { problem: problem.clone(), gaps: None }
    }

    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// None where there is no stroboscope, or nothing to hit.
    pub fn of<'a>(&'a mut self, job: &'a Job, tolerance: f64) -> Option<Meeting<'a>> {
        let interval = job.strobe.filter(|_| !self.problem.model().constraints.is_empty())?;
        let parameters = &job.start.parameters;
        let gaps = self.gaps.get_or_insert_with(|| self.problem.gaps_at(&job.start));
        gaps.set_parameters(parameters);
        Some(Meeting { problem: &self.problem, gaps, parameters, within: MEANWHILE * interval, tolerance })
    }
}

impl Meeting<'_> {
    /// The velocity after what is hit at an instant, and the number of impacts; None if nothing is.
    pub fn after(&mut self, t: f64, q: &[f64], v: &[f64]) -> Option<(Vec<f64>, u64)> {
        if !is_before_impact(self.gaps, (t, q, v), self.within) {
            return None;
        }
        let start = Start::new(t, q.to_vec(), v.to_vec()).with_parameters(self.parameters.to_vec());
        let run = run_past(self.problem, &start, self.within, self.tolerance)?;
        let impacts = &run.trajectory.impacts;
        let last = impacts.iter().last()?;
        Some((last.v_after.to_vec(), impacts.len() as u64))
    }
}
