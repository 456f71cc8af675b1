//! Whether a run can be used as evidence: what its own ledger says against it.

use crate::Status;
use crate::run::Run;
use crate::text::number;

/// The mean residual of the impact law, weighted by the speed of the impacts, beyond which the law is broken.
const BROKEN: f64 = 0.2;

/// What speaks against a run, in words: a failure, what its ledger complains about, or an impact law that it breaks.
///
/// ```
/// use saltus::{Options, analysis::trouble, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// assert_eq!(trouble(&ball.run(&Options::events(2.0))?), None);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn trouble(run: &Run) -> Option<String> {
    if let Status::Failed(failure) = &run.status {
        return Some(failure.to_string());
    }
    if let Some(complaint) = run.ledger.complaints().into_iter().next() {
        return Some(complaint);
    }
    let impacts = &run.trajectory.impacts;
    let speed: f64 = impacts.iter().map(|i| i.speed.abs()).sum();
    let residual: f64 = impacts.iter().map(|i| (i.law_residual * i.speed).abs()).sum();
    (run.scheme.follows_law && residual > BROKEN * speed)
        .then(|| format!("the impact law is broken: its residual is {} on average", number(residual / speed, 2)))
}
