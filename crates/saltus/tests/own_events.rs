//! Events of the user's own, against closed forms: where their expressions have no value, or an infinite one, and where they are the gap of a contact.

use saltus::model::Builder;
use saltus::motion::Crossing;
use saltus::{Options, Run};
use std::f64::consts::{PI, TAU};

/// x = cos t for three periods, and the events of one expression.
fn harmonic(expression: &str) -> Run {
    let builder = Builder::new("harmonic").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
    let model = builder.event("section", expression, Crossing::Both).build().expect("a model");
    model.problem().expect("compiles").run(&Options::events(3.0 * TAU)).expect("runs").ok().expect("no breach")
}

/// All times up to 6π at which cos t has one of these values (between −1 and 1), and whether the event rises there.
fn times(values: &[(f64, bool)]) -> Vec<(f64, bool)> {
    let mut all: Vec<(f64, bool)> = Vec::new();
    for &(value, rises_with_x) in values {
        for turn in 0..3 {
            let t = value.acos();
            all.push((TAU * f64::from(turn) + t, !rises_with_x));
            all.push((TAU * f64::from(turn + 1) - t, rises_with_x));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

fn is(expression: &str, exact: &[(f64, bool)]) {
    let run = harmonic(expression);
    let found: Vec<(f64, bool)> = run.trajectory.events.iter().map(|e| (e.t, e.rising)).collect();
    assert_eq!(found.len(), exact.len(), "{expression}: {found:?}");
    for (found, exact) in found.iter().zip(exact) {
        assert!((found.0 - exact.0).abs() < 1e-8 && found.1 == exact.1, "{expression}: {found:?}, not {exact:?}");
    }
}

/// The motion knows nothing of a root that is left, and the event is found where there is one again.
#[test]
fn an_event_without_a_value_in_places_has_no_crossing_there() {
    is("sqrt(x) - 0.5", &times(&[(0.25, true)]));
    // (Soon after it has a value again.)
    is("sqrt(x) - 0.01", &times(&[(1e-4, true)]));
    is("log(x) + 1", &times(&[((-1.0_f64).exp(), true)]));
    is("log(x) - 1", &[]);
    is("asin(2*x) - 0.5", &times(&[(0.5 * 0.5_f64.sin(), true)]));
    // It has no value from one side to the other: it has not been zero in between.
    is("x*sqrt(x^2 - 0.25) + 0.1*x", &[]);
}

/// A change of sign through infinity is no zero.
#[test]
fn poles_are_no_crossings() {
    is("1/x", &[]);
    is("1/x - 2", &times(&[(0.5, false)]));
    is("1/x^3 + 1000", &times(&[(-0.1, false)]));
    is("1/x + 1e5", &times(&[(-1e-5, false)]));
    is("(log(abs(x)) + 1)*sign(x)", &times(&[((-1.0_f64).exp(), true), (-(-1.0_f64).exp(), true)]));
    let zeros: Vec<(f64, bool)> = (0..6).map(|k| (PI * (f64::from(k) + 0.25), true)).collect();
    is("tan(t) - 1", &zeros);
}

/// A jump from one side to the other is a crossing, and so is a zero with an infinite slope.
#[test]
fn jumps_and_steep_zeros_are_crossings() {
    is("sign(x - 0.3)", &times(&[(0.3, true)]));
    is("sign(x)*sqrt(abs(x))", &times(&[(0.0, true)]));
    is("sign(x)*(1 + sqrt(abs(x)))", &times(&[(0.0, true)]));
}

/// Two bodies and a stop for each other that does not give way: its gap never changes its sign, whatever rounding makes of it in contact.
#[test]
fn the_gap_of_a_contact_has_no_crossing() {
    let mut contacts = 0;
    for w in [0.5, 0.8, 1.0, 1.3, 1.7, 2.2] {
        let builder = Builder::new("two").coordinate("x", 0.0, 0.0).coordinate("y", 0.1, 0.0).parameter("w", w);
        let builder = builder.kinetic("x'^2/2 + y'^2/2*0.7").potential("x^2/2 + 0.3*x^4 + (x-y)^2*0.4 + y^2/3");
        let builder = builder.force("x", "1.7*cos(w*t) - 0.1*x'").force("y", "-0.05*y'").restitution(0.0);
        let builder = builder.constraint("stop", "0.4 - x").constraint("pair", "y - x + 0.5");
        let builder = builder.event("gap", "y - x + 0.5", Crossing::Both);
        let problem =
            builder.event("sum", "y + x", Crossing::Both).build().expect("a model").problem().expect("compiles");
        let run = problem.run(&Options::events(30.0 * TAU / w)).expect("runs").ok().expect("no breach");
        let events = &run.trajectory.events;
        let count = |k: usize| events.iter().filter(|e| e.event == k).count();
        assert_eq!(count(0), 0, "w = {w}: {:?}", events.iter().find(|e| e.event == 0));
        assert!(count(1) > 10, "w = {w}: {}", count(1));
        contacts += run.trajectory.contacts.iter().filter(|c| c.constraint == 1 && c.end > c.start).count();
    }
    assert!(contacts > 10, "{contacts}");
}
