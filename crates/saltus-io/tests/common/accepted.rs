//! Runs that a scheme may refuse.

use saltus::{Run, SetupError};

/// The run; None where the scheme does not accept the model, which it says with a reason and advice.
pub fn accepted(outcome: Result<Run, SetupError>) -> Option<Run> {
    match outcome {
        Ok(run) => Some(run),
        Err(refusal) => {
            assert!(refusal.help.is_some(), "{refusal:?}");
            None
        }
    }
}
