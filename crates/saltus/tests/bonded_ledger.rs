//! The ledger notices where joints or friction are broken, from the record alone.

use saltus::model::Builder;
use saltus::{Impact, Impacts, Model, Options, Recorded, Run, Simulation};
use std::sync::Arc;

const SCHEMES: [&str; 3] = ["moreau-jean", "moreau-midpoint", "mabrouk"];

fn block(mu: f64, sticking: f64) -> Arc<Model> {
    Builder::new("a block on a floor")
        .coordinate("x", 0, 2)
        .coordinate("y", 0.2, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*y")
        .restitution(0.3)
        .constraint("floor", "y")
        .friction(mu, &["x'"])
        .static_friction(sticking)
        .build()
        .expect("a model")
}

fn pendulum(equation: &str) -> Arc<Model> {
    Builder::new("a pendulum")
        .coordinate("x", 1, 0)
        .coordinate("y", 0, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*y")
        .joint("rod", &[equation])
        .build()
        .expect("a model")
}

fn oscillator(limit: f64) -> Arc<Model> {
    Builder::new("an oscillator")
        .coordinate("x", 1, 0)
        .kinetic("x'^2/2")
        .potential("9*x^2/2")
        .slider("guide", "x'", limit, None)
        .build()
        .expect("a model")
}

fn begin(model: &Arc<Model>, scheme: &str) -> Simulation {
    let problem = model.problem().expect("a problem");
    let mut simulation = problem.engine(&Options::steps(scheme, 1e-3).until(1.2)).expect("begins");
    simulation.advance_to(1.2).expect("runs");
    simulation
}

/// The motion of one model, judged by another.
fn judged_by(model: &Arc<Model>, of: &Arc<Model>, scheme: &str) -> Run {
    let other = begin(of, scheme).finish();
    begin(model, scheme).finish_altered(&mut |r: Recorded| {
        *r.trajectory = other.trajectory.clone();
        *r.audit = other.audit.clone();
    })
}

fn fails(run: &Run, name: &str) -> bool {
    run.ledger.properties.iter().any(|p| p.name == name && !p.holds)
}

#[test]
fn correct_runs_pass() {
    for scheme in SCHEMES {
        for model in [block(0.3, 0.3), block(0.3, 0.5), pendulum("sqrt(x^2 + y^2) - 1"), oscillator(0.5)] {
            let run = begin(&model, scheme).finish();
            assert!(run.ledger.complaints().is_empty(), "{scheme}: {:?}", run.ledger.complaints());
            let names: Vec<&str> = run.ledger.properties.iter().map(|p| p.name).collect();
            // What a model does not have is not listed.
            assert_eq!(names.contains(&"C9"), !model.joints.is_empty(), "{names:?}");
            assert_eq!(names.contains(&"C10"), !model.frictions.is_empty(), "{names:?}");
        }
    }
}

#[test]
fn friction_of_another_coefficient_is_noticed() {
    for scheme in SCHEMES {
        for other in [0.0, 0.1, 0.6] {
            let run = judged_by(&block(0.3, 0.3), &block(other, other), scheme);
            assert!(fails(&run, "C10"), "{scheme}, μ = {other}: {:?}", run.ledger.complaints());
        }
        for other in [0.0, 0.25, 1.0] {
            let run = judged_by(&oscillator(0.5), &oscillator(other), scheme);
            assert!(fails(&run, "C10"), "{scheme}, limit {other}: {:?}", run.ledger.complaints());
        }
    }
}

#[test]
fn a_joint_that_gives_way_is_noticed() {
    for scheme in SCHEMES.into_iter().chain(["paoli-schatzman"]) {
        let run = judged_by(&pendulum("sqrt(x^2 + y^2) - 1 + 1e-11*t^2"), &pendulum("sqrt(x^2 + y^2) - 1"), scheme);
        assert!(fails(&run, "C9"), "{scheme}: {:?}", run.ledger.complaints());
    }
}

#[test]
fn impulses_of_friction_that_are_wrong_are_noticed() {
    for scheme in SCHEMES {
        for factor in [0.0, 0.5, 1.5, -1.0] {
            let run = begin(&block(0.3, 0.3), scheme).finish_altered(&mut |r: Recorded| {
                let mut impacts = Impacts::default();
                for i in r.trajectory.impacts.iter() {
                    let others: Vec<(usize, f64)> = i.others.iter().map(|&(row, p)| (row, factor * p)).collect();
                    impacts.push_impact(&Impact { others: &others, ..i });
                }
                r.trajectory.impacts = impacts;
            });
            assert!(fails(&run, "C10") && fails(&run, "C4"), "{scheme}, × {factor}: {:?}", run.ledger.complaints());
        }
    }
}
