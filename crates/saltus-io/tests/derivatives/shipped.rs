//! Derivatives of the shipped models against differences of runs.

use saltus::analysis::{NoMap, sensitivity};
use saltus::motion::Variation;
use saltus::{Keep, Options, Problem, Start};
use saltus_io::AnySystem;

fn state(problem: &Problem, start: &Start, options: &Options) -> Option<Vec<f64>> {
    let run = problem.run_from(start, options).ok()?;
    let degrees = problem.model().degrees();
    run.status.is_complete().then(|| run.last().q[..degrees].iter().chain(&run.last().v).copied().collect())
}

/// Models whose motion has no derivatives to the end, and a word of why.
const WITHOUT: &[(&str, &str)] = &[("painleve-rod", "Painlevé"), ("slider-crank", "at one instant, with friction")];

#[test]
fn shipped_models_have_the_derivatives_of_differences() {
    let mut covered = 0;
    for name in saltus_io::shipped::names(false) {
        let file = saltus_io::shipped::find(name).expect("shipped").expect("parses");
        let opened = file.system().expect("opens");
        let AnySystem::Problem(problem) = &opened.system else { continue };
        let (d, degrees) = (problem.dimension(), problem.model().degrees());
        if d > 8 {
            continue;
        }
        // A part of the run that is not a round number, so that it does not end at an event.
        let end = opened.start.t + 0.2931 * (opened.defaults.end.unwrap_or(10.0) - opened.start.t);
        let options = Options::events(end).tolerance(1e-13).keep(Keep::NOTHING);
        let run = problem.run_from(&opened.start, &options.clone().vary(Variation::of_state(d, 0))).expect("starts");
        let found = match run.variation.expect("asked for") {
            Ok(found) => found,
            Err(obstacle) => {
                let known = WITHOUT.iter().find(|(n, _)| *n == name);
                assert!(known.is_some_and(|(_, word)| obstacle.what.contains(word)), "{name}: {obstacle}");
                continue;
            }
        };
        covered += 1;
        if !problem.model().joints.is_empty() {
            continue;
        }
        let mut worst = 0.0_f64;
        for k in (0..degrees).chain(d..2 * d) {
            let size = 1e-7;
            let moved = |by: f64| {
                let mut start = opened.start.clone();
                *(if k < d { &mut start.q[k] } else { &mut start.v[k - d] }) += by;
                state(problem, &start, &options)
            };
            let (Some(before), Some(here), Some(after)) = (moved(-size), moved(0.0), moved(size)) else { continue };
            let column: Vec<f64> = (0..degrees).chain(d..2 * d).map(|i| found.column(k)[i]).collect();
            let scale = column.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            // Where friction begins to slide at the start, a perturbation against it is another matter: one side is enough.
            let off = |a: &[f64], b: &[f64], by: f64| {
                column.iter().enumerate().fold(0.0_f64, |m, (i, c)| m.max((c - (a[i] - b[i]) / by).abs() / scale))
            };
            let both = off(&after, &before, 2.0 * size);
            worst = worst.max(both.min(off(&after, &here, size)).min(off(&here, &before, size)));
        }
        println!("{name}: off by {worst:.1e}, {} impacts", run.trajectory.impacts.len());
        assert!(worst < 1e-4, "{name}: off by {worst}");
    }
    assert!(covered > 8, "{covered}");
}

#[test]
fn shipped_models_have_the_sensitivities_of_differences() {
    let mut compared = 0;
    for name in saltus_io::shipped::names(false) {
        let file = saltus_io::shipped::find(name).expect("shipped").expect("parses");
        let opened = file.system().expect("opens");
        let AnySystem::Problem(closed) = &opened.system else { continue };
        let model = closed.model();
        if closed.dimension() > 8 {
            continue;
        }
        let end = opened.start.t + 0.6331 * (opened.defaults.end.unwrap_or(10.0) - opened.start.t);
        let options = Options::events(end).tolerance(1e-13).keep(Keep::NOTHING);
        for (parameter, value) in model.parameters.iter().filter(|(_, v)| *v != 0.0 && *v != 1.0).take(3) {
            // (One that decides how many there are of something cannot stay open.)
            let Ok(problem) = model.open(&[parameter]).and_then(|m| m.problem()) else { continue };
            let at = |value: f64| {
                let start = problem.start_with(&[(parameter, value)]).expect("a start");
                state(&problem, &start, &options)
            };
            let found = match sensitivity(&problem, &problem.start(), true, &[parameter], &options) {
                Ok(found) => found,
                Err(NoMap::Obstacle(obstacle)) => {
                    let known = WITHOUT.iter().any(|(n, _)| *n == name) || obstacle.what.contains("order matters");
                    assert!(known, "{name}: {obstacle}");
                    continue;
                }
                Err(other) => panic!("{name}: {other}"),
            };
            let by = 1e-6 * value.abs();
            let (Some(after), Some(before)) = (at(value + by), at(value - by)) else { continue };
            let slopes = &found.derivatives[0];
            // (What the tolerance leaves of a difference.)
            let noise = 1e-12 * after.iter().fold(1.0_f64, |m, x| m.max(x.abs())) / by;
            let scale = slopes.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (i, slope) in slopes.iter().enumerate() {
                let difference = (after[i] - before[i]) / (2.0 * by);
                assert!(
                    (slope - difference).abs() <= 1e-4 * scale + noise,
                    "{name} by {parameter}: {slope}, not {difference}"
                );
            }
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
}
