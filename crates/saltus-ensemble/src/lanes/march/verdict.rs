//! What steps promise, and whether they kept it.

use crate::meetings::Meetings;
use crate::tally::Tally;
use crate::{Engine, Job, Outcome, Wanted};
use saltus::{Problem, Start, Status};

/// The equation of the scheme may be off by this part of the velocity.
const OFF: f64 = 1e-9;

/// The law of time steps may be off by this, as in a run.
const LAW: f64 = 0.05;

/// By how much a trajectory is off at worst: the depth of a constraint, the law relative to the fastest impact, the equation of the steps.
#[derive(Clone, Copy, Debug)]
pub struct Residuals {
    pub violation: f64,
    pub law: f64,
    pub equation: f64,
}

impl Residuals {
    /// The outcome of a trajectory at its end, with steps of length h and up to a speed.
    pub fn judge(
        self,
        mut tally: Tally,
        (h, speed): (f64, f64),
        problem: &Problem,
        end: Start,
        (job, wanted): (&Job, &Wanted),
    ) -> Outcome {
        let Residuals { violation, law, equation } = self;
        let checks = &mut tally.checks;
        (checks.violation, checks.law, checks.balance) = (violation, law, equation);
        if !(violation <= 2.0 * h * speed) {
            tally.breaches.push(format!("a constraint is violated by {violation:.3e}"));
        }
        if !(law <= LAW) {
            tally.breaches.push(format!("the impact law has a relative residual of {law:.3e}"));
        }
        if !(equation <= OFF) {
            tally.breaches.push(format!("the equation of the steps has a relative residual of {equation:.3e}"));
        }
        Outcome {
            engine: Engine::Steps,
            ..tally.outcome(&mut Meetings::new(problem), Status::Finished, end, job, wanted)
        }
    }
}
