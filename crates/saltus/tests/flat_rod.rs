//! A rod that falls flat on a rough floor: both of its ends touch, and their slips are the same row.

use saltus::model::Builder;
use saltus::{Options, Status};

/// Half length l; it turns about its lower end until it lies, and rattles to rest.
#[test]
fn a_rod_falls_flat() {
    for (mu, e, l) in [(1.34, 0.3, 0.5), (0.3, 0.3, 0.5), (0.8, 0.5, 1.0), (0.5, 0.0, 0.7), (2.0, 0.6, 0.3)] {
        let rod = Builder::new("rod")
            .parameter("l", l)
            .coordinate("x", 0.0, 0.0)
            .coordinate("y", "l*sin(0.8)", 0.0)
            .coordinate("a", 0.8, 0.0)
            .kinetic("(x'^2 + y'^2)/2 + l^2/3*a'^2/2")
            .potential("9.81*y")
            .restitution(e)
            .constraint("one end", "y - l*sin(a)")
            .friction(mu, &["x' + l*a'*sin(a)"])
            .constraint("other end", "y + l*sin(a)")
            .friction(mu, &["x' - l*a'*sin(a)"]);
        let problem = rod.build().expect("a model").problem().expect("a problem");
        let run = problem.run(&Options::events(5.0)).expect("a run");
        assert_eq!(run.status, Status::Finished, "{mu} {e} {l}: {:?}", run.warnings);
        let last = run.last();
        assert!(
            last.q[1].abs() < 1e-12 && last.v.iter().all(|v| v.abs() < 1e-9),
            "{mu} {e}: {:?} {:?}",
            last.q,
            last.v
        );
        assert!(run.ledger.complaints().is_empty(), "{:?}", run.ledger.complaints());
    }
}
