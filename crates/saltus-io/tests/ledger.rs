//! The ledger of every shipped model: properties (P1)–(P5) and the energy account, by events and with time stepping.

#[path = "common/breaches.rs"]
mod breaches;
#[path = "common/models.rs"]
mod models;

use saltus::{Ledger, Options, Problem};
use saltus_io::shipped;

fn ledger(problem: &Problem, scheme: &str, step: f64, end: f64) -> Ledger {
    let run = problem.run(&Options::events(end).scheme(scheme).step(step)).expect("runs");
    // Several impacts of a chain of rods within one step are not one impact by the law.
    let is_chain = scheme == "mabrouk" && problem.model().title == "Hard rods on a line";
    breaches::only(if is_chain { &["P4"] } else { &[] }, &run, &problem.model().title);
    run.ledger
}

#[test]
fn the_balance_of_every_shipped_model_closes() {
    println!("{:18} {:>12} {:>12} {:>12}", "model", "events", "h", "h/10");
    for name in shipped::names(false) {
        let (problem, defaults) = models::problem(&models::shipped_file(name), &[]);
        let (step, end) = (defaults.step.expect("a step"), defaults.end.expect("an end"));
        let by_events = ledger(&problem, "event-driven", step, end).balance;
        let coarse = ledger(&problem, "mabrouk", 10.0 * step, end).balance;
        let fine = ledger(&problem, "mabrouk", step, end).balance;
        println!("{name:18} {:>12.1e} {:>12.1e} {:>12.1e}", by_events.relative(), coarse.relative(), fine.relative());
        assert!(by_events.relative() < 1e-8, "{name}: {by_events:?}");
        // Time stepping: the closure falls with the step (or is rounding already).
        assert!(fine.relative() < 0.5 * coarse.relative() || fine.relative() < 1e-6, "{name}: {coarse:?} {fine:?}");
    }
}
