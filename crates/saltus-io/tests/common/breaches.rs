//! Runs whose ledger may find something, and exactly what.

use saltus::Run;

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
