//! No false alarms: the ledger of every shipped model with every scheme that it supports, at the step that it is shipped with.

#[path = "common/accepted.rs"]
mod accepted;
#[path = "common/short.rs"]
mod short;

use accepted::accepted;
use saltus::run_observed;
use saltus::scheme::SCHEMES;

/// Breaches that are real: a stiffness that makes a contact many steps long is soft, compliant obstacles follow the law only in
/// the limit, and the energy in their springs is in no account.
const REAL: &[(&str, &str, &str)] = &[
    ("ball-gravity", "penalty", "(C7)"),
    ("ball-gravity", "penalty", "energy account"),
    ("wedge", "penalty", "(P4)"),
    ("rocking-block", "penalty", "(C4)"),
    ("rocking-block", "penalty", "(C7)"),
    ("rocking-block", "penalty", "energy account"),
    ("hard-rods", "penalty", "(P4)"),
    ("disc", "penalty", "(P4)"),
];

#[test]
fn shipped_models_have_no_breaches() {
    let mut wrong = Vec::new();
    for (name, _, opened) in short::models() {
        for scheme in SCHEMES {
            let options = short::options(name, &opened, scheme, 1e9);
            let outcome = run_observed(&*opened.system, &opened.start, &options, &mut |_| true);
            let Some(run) = accepted(outcome) else { continue };
            let mut complaints = run.ledger.complaints();
            complaints.retain(|c| !REAL.iter().any(|(m, s, word)| (*m, *s) == (name, scheme.name) && c.contains(word)));
            wrong.extend(complaints.into_iter().map(|c| format!("{name} with {}: {c}", scheme.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
