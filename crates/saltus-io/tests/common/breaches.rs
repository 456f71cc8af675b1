//! Runs whose ledger may find something, and exactly what.

use saltus::Run;
use saltus::scheme::Scheme;
use saltus_io::{AnySystem, Opened};

/// Asserts that a run came to its end, and that its ledger has no breach but those named: `C4` … `P4`, or `energy` for the
/// energy account.
pub fn only(allowed: &[&str], run: &Run, what: &str) {
    assert!(run.status.is_complete(), "{what}: {:?}", run.status);
    for complaint in run.ledger.complaints() {
        let name = match complaint.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((name, _)) => name,
            None => "energy",
        };
        assert!(allowed.contains(&name), "{what} with {}, h = {}: {complaint}", run.scheme.name, run.step);
    }
}

/// What steps of a model with joints or friction may breach where several contacts act within one of them (a slider on the corners
/// of its guide, a rod that jams): the law of one impact, and what explains the jumps.
#[allow(dead_code)]
pub fn of_steps(opened: &Opened, scheme: &Scheme) -> &'static [&'static str] {
    let bonded = match &opened.system {
        AnySystem::Problem(problem) => problem.model().has_joints_or_friction(),
        AnySystem::Structure(_) => false,
    };
    let by_events = scheme.name == "event-driven" || scheme.name == "auto";
    if bonded && !by_events { &["P4", "C4", "C10", "energy"] } else { &[] }
}
