//! Random oscillators with stops: what simulation settles on is found as an orbit, and no orbit has a wrong label.

use saltus::analysis::{Orbit, OrbitOptions, orbit};
use saltus::linalg::Dice;
use saltus::model::Builder;
use saltus::{Keep, Options, Problem, Start};
use std::f64::consts::TAU;

/// x'' + c x' + x + k x³ = A cos ωt between stops, with numbers at random.
fn oscillator(dice: &mut Dice) -> (Problem, f64) {
    let w = dice.between(0.6, 3.0);
    let (c, k, load) = (dice.between(0.02, 0.3), dice.between(0.0, 0.5), dice.between(0.3, 1.5));
    let (s, e) = (dice.between(-0.2, 1.0), dice.between(0.3, 0.95));
    let builder = Builder::new("oscillator")
        .coordinate("x", s.min(0.0) - 0.1, 0.0)
        .kinetic("x'^2/2")
        .potential(format!("x^2/2 + {k}*x^4/4"))
        .force("x", format!("{load}*cos({w}*t) - {c}*x'"))
        .restitution(e)
        .constraint("stop", format!("{s} - x"));
    let builder = match dice.between(0.0, 1.0) < 0.4 {
        true => builder.constraint("other stop", format!("x + {}", s.abs() + 0.6)),
        false => builder,
    };
    (builder.build().and_then(|model| model.problem()).expect("a problem"), TAU / w)
}

/// Where a motion is after some periods.
fn later(problem: &Problem, start: &Start, lasts: f64) -> Option<Start> {
    let options = Options::events(start.t + lasts).tolerance(1e-13).keep(Keep::NOTHING);
    let mut last = problem.run_from(start, &options).ok()?.ok().ok()?.last().clone();
    last.t = start.t;
    Some(last)
}

fn apart(a: &Start, b: &Start) -> f64 {
    (a.q[0] - b.q[0]).abs().max((a.v[0] - b.v[0]).abs())
}

/// After how many periods a settled motion is back.
fn repeats(problem: &Problem, start: &Start, period: f64) -> Option<usize> {
    let mut now = start.clone();
    (1..=8).find(|_| match later(problem, &now, period) {
        Some(next) => {
            now = next;
            apart(&now, start) < 1e-9
        }
        None => false,
    })
}

/// Whether a small deviation from an orbit vanishes, or grows.
fn returns(problem: &Problem, found: &Orbit) -> Option<bool> {
    let largest = found.stability().multipliers.iter().map(|z| z.0.hypot(z.1)).fold(0.0, f64::max);
    if (largest - 1.0).abs() < 0.05 {
        return None;
    }
    let (mut grown, size): (bool, f64) = (false, 1e-7);
    let turns = (8.0 / largest.ln().abs().max(0.1)).ceil() as usize;
    for side in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.3)] {
        let mut now = Start::new(found.start.t, found.start.q.clone(), found.start.v.clone());
        (now.q[0], now.v[0]) = (now.q[0] + size * side.0, now.v[0] + size * side.1);
        for _ in 0..turns.min(80) {
            now = later(problem, &now, found.period)?;
            grown |= apart(&now, &found.start) > 30.0 * size * largest.max(1.0);
        }
    }
    Some(!grown)
}

#[test]
fn stable_attractors_are_found_and_labels_hold() {
    // (SALTUS_RANDOM=100 tries more of them.)
    let count = std::env::var("SALTUS_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    let mut dice = Dice::new(1717);
    let (mut settled, mut judged) = (0, 0);
    for model in 0..count {
        let (problem, period) = oscillator(&mut dice);
        for _ in 0..3 {
            let low = problem.start().q[0];
            let start = Start::new(0.0, vec![low - dice.between(0.0, 0.3)], vec![dice.between(-1.0, 1.0)]);
            let Some(last) = later(&problem, &start, 600.0 * period) else { continue };
            let multiple = repeats(&problem, &last, period);
            let options = OrbitOptions { period: Some(period), ..OrbitOptions::default() };
            let found = orbit(&problem, &start, &options);
            if let Some(n) = multiple {
                settled += 1;
                // What it settles on is an orbit, and a stable one.
                let there = orbit(&problem, &last, &OrbitOptions { transient: 0.0, multiple: Some(n), ..options })
                    .unwrap_or_else(|e| panic!("model {model}: {e}"));
                assert!(apart(&there.start, &last) < 1e-7, "model {model}: {:?} {last:?}", there.start);
                assert!(there.stability().outside == 0, "model {model}: {:?}", there.stability());
                assert!(found.is_ok(), "model {model}: {:?}", found.err());
            }
            if let Ok(found) = found
                && let Some(stable) = returns(&problem, &found)
            {
                judged += 1;
                assert_eq!(stable, found.stability().outside == 0, "model {model}: {:?}", found.stability());
            }
        }
    }
    assert!(settled >= count && judged >= count, "{settled} {judged}");
}
