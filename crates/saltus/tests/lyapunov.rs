//! Lyapunov exponents against closed forms, the contraction of volumes, and two motions beside each other.

use saltus::analysis::{LyapunovOptions, lyapunov};
use saltus::model::Builder;
use saltus::{Keep, Model, Options, Problem, Start};
use std::f64::consts::TAU;
use std::sync::Arc;

fn oscillator(c: f64, load: f64, w: f64, stops: &[&str], e: f64) -> Arc<Model> {
    let mut model = Builder::new("oscillator")
        .coordinate("x", -0.3, 0.1)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", format!("{load}*cos({w}*t) - {c}*x'"))
        .restitution(e);
    for stop in stops {
        model = model.constraint(stop, *stop);
    }
    model.build().expect("a model")
}

fn exponents(problem: &Problem, w: f64, transient: usize, blocks: usize) -> saltus::analysis::Lyapunov {
    let options = LyapunovOptions::blocks(TAU / w, transient, blocks);
    lyapunov(problem, &problem.start(), &options, &mut |_| true).expect("exponents")
}

/// Moduli of the roots of μ² − trace μ + det.
fn moduli(trace: f64, det: f64) -> [f64; 2] {
    let inside = 0.25 * trace * trace - det;
    match inside < 0.0 {
        true => [det.sqrt(); 2],
        false => {
            let (a, b) = (0.5 * trace + inside.sqrt(), 0.5 * trace - inside.sqrt());
            [a.abs().max(b.abs()), a.abs().min(b.abs())]
        }
    }
}

#[test]
fn orbits_of_one_and_of_two_stops_have_the_exponents_of_their_multipliers() {
    // P04, one stop: trace and determinant of the period map from the closed form.
    for (load, trace, det) in [
        (1.0, -1.168590628683059, 0.341432378298306),
        (0.5, -1.162331782090689, 0.341432378298306),
        (0.101, -0.812509152772199, 0.341432378298306),
    ] {
        let problem = oscillator(0.1, load, 1.0, &["1 - x"], 0.8).problem().expect("compiles");
        let found = exponents(&problem, 1.0, 300, 10);
        assert!(found.repeats.is_some(), "{found:?}");
        for (e, m) in found.exponents.iter().zip(moduli(trace, det)) {
            assert!((e.value - m.ln() / TAU).abs() < 1e-8, "{load}: {found:?}");
            assert!((e.value - m.ln() / TAU).abs() < 10.0 * e.error + 1e-10, "{load}: {found:?}");
        }
    }
    // P10, two stops: a period is twice the half map.
    for (w, s, e, trace, det) in [
        (1.0, 0.5, 0.7, -1.1996244670706044, 0.35789731861383633),
        (1.0, 1.0, 0.8, -1.36738703158758, 0.4674577222711332),
    ] {
        let stops = [format!("{s} - x"), format!("{s} + x")];
        let problem = oscillator(0.1, 1.0, w, &[&stops[0], &stops[1]], e).problem().expect("compiles");
        let found = exponents(&problem, w, 300, 10);
        for (e, m) in found.exponents.iter().zip(moduli(trace, det)) {
            assert!((e.value - 2.0 * m.ln() * w / TAU).abs() < 1e-8, "{w} {s}: {found:?}");
        }
    }
}

#[test]
fn a_chaotic_motion_has_the_exponent_of_two_motions_beside_each_other() {
    let (w, e, c) = (3.1, 0.9_f64, 0.02);
    let problem = oscillator(c, 1.0, w, &["-x"], e).problem().expect("compiles");
    let found = exponents(&problem, w, 100, 2000);
    assert!(found.is_chaotic(), "{found:?}");
    // Volumes shrink by the damping and by e² in each impact: in the same time, to rounding.
    let contraction = -c + 2.0 * e.ln() * found.impacts as f64 / found.time;
    assert!((found.sum() - contraction).abs() < 1e-6, "{} {contraction}", found.sum());
    assert!(found.kaplan_yorke() > 1.0 && found.kaplan_yorke() < 2.0);
    // Two motions, brought near each other again in every period.
    let (size, n) = (1e-8, 2000);
    let options = |end: f64| Options::events(end).tolerance(1e-13).keep(Keep::NOTHING);
    let mut a: Start = problem.run(&options(100.0 * TAU / w)).expect("starts").last().clone();
    let mut away = [size, 0.0];
    let mut logs = Vec::new();
    for _ in 0..n {
        let end = a.t + TAU / w;
        let b = Start::new(a.t, vec![a.q[0] + away[0]], vec![a.v[0] + away[1]]);
        let (x, Ok(y)) = (problem.run_from(&a, &options(end)).expect("starts"), problem.run_from(&b, &options(end)))
        else {
            // (Inside the stop: the other way.)
            away = [-away[0], -away[1]];
            continue;
        };
        let d = [y.last().q[0] - x.last().q[0], y.last().v[0] - x.last().v[0]];
        let length = d[0].hypot(d[1]);
        // (Where one of them misses an impact, they are not near any more.)
        logs.push((length / size).ln());
        away = [d[0] / length * size, d[1] / length * size];
        a = x.last().clone();
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64 * w / TAU;
    let batch: Vec<f64> =
        logs.chunks(logs.len() / 20).map(|c| c.iter().sum::<f64>() / c.len() as f64 * w / TAU).collect();
    let scatter = batch.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (batch.len() - 1) as f64;
    let error = (scatter / batch.len() as f64).sqrt();
    let first = found.largest();
    let both = first.error.hypot(error);
    println!("{:?} against {mean} ± {error}; sum {} dimension {}", found.exponents, found.sum(), found.kaplan_yorke());
    assert!((first.value - mean).abs() < 3.0 * both, "{first:?} against {mean} ± {error}");
}

#[test]
fn contact_takes_directions_away() {
    // A ball on a table that throws it, without restitution: it lands and rests, period after period.
    let ball = Builder::new("ball")
        .coordinate("y", 0.5, 0.0)
        .kinetic("y'^2/2")
        .potential("y")
        .restitution(0.0)
        .constraint("table", "y - 1.2*sin(t)")
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let found = exponents(&ball, 1.0, 20, 50);
    assert_eq!(found.exponents.len(), 2);
    assert!(found.exponents.iter().all(|e| e.value == f64::NEG_INFINITY), "{found:?}");
    assert_eq!(found.kaplan_yorke(), 0.0);
}

#[test]
fn a_motion_with_contact_in_every_period_repeats_itself() {
    let ball = Builder::new("ball")
        .coordinate("y", 0.5, 0.0)
        .kinetic("y'^2/2")
        .potential("y")
        .restitution(0.0)
        .constraint("table", "y - 1.2*sin(t)")
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let found = exponents(&ball, 1.0, 200, 50);
    assert!(found.repeats.is_some(), "{found:?}");
}

#[test]
fn fast_and_slow_directions_are_told_apart() {
    // Two oscillators, one of them so heavily damped that its fast direction shrinks by e^−600 in a block: exponents of the
    // roots of λ² + cλ + k, and a state of its own.
    let problem = Builder::new("two")
        .coordinate("x", 0.3, 0.0)
        .coordinate("y", 0.2, 0.0)
        .state("z", 0.1, "-3*z + cos(1.4142*t)")
        .kinetic("(x'^2 + y'^2)/2")
        .force("x", "-x - 100*x' + cos(t)")
        .force("y", "-2*y - 0.2*y' + x + sin(0.7182818*t)")
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let found =
        lyapunov(&problem, &problem.start(), &LyapunovOptions::blocks(TAU, 30, 40), &mut |_| true).expect("exponents");
    let fast = -50.0 - (2500.0_f64 - 1.0).sqrt();
    let expected = [1.0 / fast, -0.1, -0.1, -3.0, fast];
    for (e, x) in found.exponents.iter().zip(expected) {
        assert!((e.value - x).abs() < 0.02 * x.abs().max(0.1), "{found:?}, not {expected:?}");
    }
    assert!((found.sum() - (-100.0 - 0.2 - 3.0)).abs() < 1e-6, "{}", found.sum());
}

/// Exponents of a motion that travels, over the period 2π.
fn travelling(model: Builder) -> saltus::analysis::Lyapunov {
    let problem = model.build().expect("a model").problem().expect("compiles");
    let found = exponents(&problem, 1.0, 40, 20);
    assert!(found.repeats.is_some() && !found.advance.is_empty(), "{found:?}");
    found
}

#[test]
fn a_motion_that_drifts_repeats_itself_but_for_where_it_is() {
    // x'' = 0.3 − c x' + cos t: nothing depends on x. Exponents 0 and −c; it advances by 2π · 0.3/c.
    let found = travelling(
        Builder::new("drift").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").force("x", "0.3 - 0.2*x' + cos(t)"),
    );
    assert!((found.advance[0] - TAU * 1.5).abs() < 1e-9, "{found:?}");
    assert!(found.exponents[0].value.abs() < 1e-10, "{found:?}");
    assert!((found.exponents[1].value + 0.2).abs() < 1e-9, "{found:?}");
    // Two masses that go together, on which only their distance acts: no coordinate is free by itself. The sum is the trace.
    let found = travelling(
        Builder::new("pair")
            .coordinate("x", 0.0, 0.0)
            .coordinate("y", 0.4, 0.0)
            .kinetic("x'^2/2 + y'^2/2")
            .potential("(y - x - 0.5)^2")
            .force("x", "0.1 + cos(t) - 0.3*x'")
            .force("y", "-0.2*(y' - x') - 0.1*y'"),
    );
    assert!((found.advance[0] - found.advance[1]).abs() < 1e-9 && found.advance[0] > 1.0, "{found:?}");
    assert!(found.largest().value.abs() < 1e-10, "{found:?}");
    assert!((found.sum() + 0.3 + 0.3).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_motion_that_turns_repeats_itself_after_whole_turns() {
    // x'' = −0.5 (x' − 1) − 0.3 sin(x − t): x = t turns with what drives it. Beside it λ² + 0.5 λ + 0.3 = 0.
    let turning = "-0.5*(x' - 1) - 0.3*sin(x - t)";
    let found = travelling(Builder::new("turn").coordinate("x", 0.5, 1.0).kinetic("x'^2/2").force("x", turning));
    assert!((found.advance[0] - TAU).abs() < 1e-9, "{found:?}");
    assert!(found.exponents.iter().all(|e| (e.value + 0.25).abs() < 1e-9), "{found:?}");
    // Two masses that go on together, one of which hits the other: volumes shrink by damping, and by e² in each impact.
    let found = travelling(
        Builder::new("capsule")
            .coordinate("x", 0.0, 0.0)
            .coordinate("y", 0.0, 0.0)
            .kinetic("x'^2 + y'^2/2")
            .potential("(y - x)^2")
            .force("x", "0.05 - 0.4*x' - cos(t)")
            .force("y", "cos(t) - 0.2*(y' - x')")
            .constraint("stop", "0.3 - (y - x)")
            .restitution(0.5),
    );
    let impacts = found.impacts as f64;
    assert!(impacts > 0.0, "{found:?}");
    // (The trace of −M⁻¹C.)
    let contraction = -0.4 / 2.0 - 0.2 + 2.0 * impacts * 0.5_f64.ln() / found.time;
    assert!((found.sum() - contraction).abs() < 1e-7, "{} {contraction} {found:?}", found.sum());
}

/// The oscillator x'' = cos wt − (x − X) with a stop at X: its lengths may be measured in any unit, from anywhere, beside anything.
fn stopped(size: f64, from: f64, w: f64) -> Builder {
    Builder::new("stopped")
        .coordinate("x", from - 0.3 * size, 0.0)
        .kinetic("x'^2/2")
        .potential(format!("(x - {from:?})^2/2"))
        .force("x", format!("{size:?}*cos({w}*t)"))
        .constraint("stop", format!("{from:?} - x"))
        .restitution(0.8)
}

fn found(model: Builder, w: f64, transient: usize, blocks: usize) -> saltus::analysis::Lyapunov {
    exponents(&model.build().expect("a model").problem().expect("compiles"), w, transient, blocks)
}

#[test]
fn where_the_origin_lies_says_nothing_of_a_motion() {
    // w = 2.6: six periods, whichever the origin is. Their multipliers are those of the model about zero.
    let right = found(stopped(1.0, 0.0, 2.6), 2.6, 1000, 20);
    assert_eq!(right.repeats.as_ref().map(|r| r.0), Some(6), "{right:?}");
    for from in [30.0, 300.0] {
        let moved = found(stopped(1.0, from, 2.6), 2.6, 1000, 20);
        assert_eq!(moved.repeats.as_ref().map(|r| r.0), Some(6), "{from}: {moved:?}");
        assert!((moved.largest().value - right.largest().value).abs() < 1e-6, "{from}: {moved:?}");
    }
}

#[test]
fn chaos_is_not_taken_for_an_unstable_orbit_that_it_comes_near() {
    // w = 2.8: chaos, λ = 0.142. An orbit of one period is inside it, with the multiplier −2.958: λ = 0.4833.
    let w = 2.8;
    let warm = stopped(1e-4, 0.0, w).state("T", 300.0, "300 - T");
    let rotor = Builder::new("rotor")
        .coordinate("x", -0.3e-4, 0.0)
        .coordinate("th", 0.0, w)
        .kinetic("x'^2/2 + th'^2/2")
        .potential("x^2/2")
        .force("x", "1e-4*cos(th)")
        .force("th", format!("-(th' - {w})"))
        .constraint("stop", "-x")
        .restitution(0.8);
    for model in [stopped(1.0, 1e6, w), warm, rotor] {
        let found = found(model, w, 100, 600);
        assert!(found.is_chaotic(), "{found:?}");
        let first = found.largest();
        assert!((first.value - 0.142).abs() < 4.0 * first.error.max(0.003), "{found:?}");
    }
}

#[test]
fn neighbours_that_part_like_a_power_of_the_time_are_no_chaos() {
    // Exponents of zero: the period of each depends on the amplitude.
    let half = Builder::new("half")
        .coordinate("x", 1.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .constraint("stop", "x + 0.5")
        .restitution(1.0);
    let pendulum = Builder::new("pendulum").coordinate("a", 1.0, 0.0).kinetic("a'^2/2").potential("-cos(a)");
    let round = Builder::new("round")
        .coordinate("x", 0.3, 0.2)
        .coordinate("y", 0.1, 0.9)
        .kinetic("(x'^2 + y'^2)/2")
        .constraint("wall", "1 - hypot(x, y)")
        .restitution(1.0);
    for model in [half, pendulum, round] {
        let problem = model.build().expect("a model").problem().expect("compiles");
        for blocks in [300, 1000] {
            let options = LyapunovOptions::blocks(1.0, 20, blocks);
            let found = lyapunov(&problem, &problem.start(), &options, &mut |_| true).expect("exponents");
            assert!(!found.is_chaotic() && found.repeats.is_none(), "{found:?}");
            let first = found.largest();
            assert!(first.value.abs() < 3.0 * first.error, "{found:?}");
        }
    }
}

#[test]
fn a_direction_that_shrinks_fast_is_not_one_that_a_contact_takes_away() {
    // x'' = −x − c x' + cos t: roots of λ² + cλ + 1. Some fall below the rounding of one matrix, some below the least number there is.
    for c in [8.0, 30.0, 300.0] {
        let model = Builder::new("heavy").coordinate("x", 0.1, 0.0).kinetic("x'^2/2");
        let found = found(model.force("x", format!("-x - {c}*x' + cos(t)")), 1.0, 400, 10);
        assert!(found.repeats.is_some(), "{found:?}");
        let fast = -0.5 * c - (0.25 * c * c - 1.0_f64).sqrt();
        for (e, exact) in found.exponents.iter().zip([1.0 / fast, fast]) {
            assert!((e.value - exact).abs() < 1e-9 * exact.abs() + 1e-9, "{c}: {found:?}, not {exact}");
        }
        let (_, multipliers) = found.repeats.expect("multipliers");
        let exact = (fast * TAU).exp();
        assert!((multipliers[1].0 - exact).abs() <= 1e-6 * exact, "{c}: {multipliers:?}");
    }
    // A filter behind it.
    for k in [4.0, 4.5, 10.0, 50.0] {
        let model = Builder::new("filter")
            .coordinate("x", 0.1, 0.0)
            .kinetic("x'^2/2")
            .force("x", "-x - 0.1*x' + cos(t)")
            .state("z", 0.0, format!("{k}*(x - z)"));
        let found = found(model, 1.0, 300, 10);
        for (e, exact) in found.exponents.iter().zip([-0.05, -0.05, -k]) {
            assert!((e.value - exact).abs() < 1e-8 * k, "{k}: {found:?}");
        }
    }
    // With impacts: the sum is the contraction of volumes.
    let model = Builder::new("both")
        .coordinate("x", -0.3, 0.1)
        .kinetic("x'^2/2")
        .force("x", "-x - 0.1*x' + cos(t)")
        .state("z", 0.0, "20*(x - z)")
        .constraint("stop", "1 - x")
        .restitution(0.8);
    let found = found(model, 1.0, 300, 10);
    assert!(found.repeats.is_some(), "{found:?}");
    let contraction = -0.1 - 20.0 + 2.0 * found.impacts as f64 * 0.8_f64.ln() / found.time;
    assert!((found.sum() - contraction).abs() < 1e-7, "{contraction} {found:?}");
}

#[test]
fn a_motion_that_still_alternates_has_the_period_of_its_orbit() {
    // A ball on a table, just before the doubling at G = 1.526824: the multiplier is near −1. For one impact in a period, at the phase φ with
    // the table's speed there, (1 − e) π = (1 + e) G cos φ; the determinant is e², the trace −(1 + e)² G sin φ + 1 + e².
    let (e, amplitude) = (0.5_f64, 1.5265_f64);
    let ball = Builder::new("ball")
        .coordinate("y", 1.66, -2.96)
        .kinetic("y'^2/2")
        .potential("y")
        .restitution(e)
        .constraint("table", format!("y - {amplitude}*sin(t)"))
        .build()
        .expect("a model")
        .problem()
        .expect("compiles");
    let cos = (1.0 - e) * std::f64::consts::PI / ((1.0 + e) * amplitude);
    let sin = (1.0 - cos * cos).sqrt();
    let [first, second] = moduli((1.0 + e * e) - (1.0 + e).powi(2) * amplitude * sin, e * e);
    for transient in [3000, 4000, 5000] {
        let found = exponents(&ball, 1.0, transient, 20);
        assert_eq!(found.repeats.as_ref().map(|r| r.0), Some(1), "{transient}: {found:?}");
        for (e, m) in found.exponents.iter().zip([first, second]) {
            assert!((e.value - m.ln() / TAU).abs() < 1e-8, "{transient}: {found:?}, not {first}, {second}");
        }
    }
}

/// A stretch where nothing acts is not a motion that goes on for ever: a shuttle between two walls, driven near them.
#[test]
fn a_stretch_of_uniform_motion_is_no_travelling() {
    let shuttle = |force: &str| {
        let model =
            Builder::new("shuttle").coordinate("x", 0.0, 1.0).kinetic("x'^2/2").force("x", force).restitution("0.5");
        let model = model.constraint("right", "50 - x").constraint("left", "50 + x");
        model.build().expect("a model").problem().expect("a problem")
    };
    for (force, exact) in [("(1-x'^2)*x'*max(0, abs(x)-40)^2*0.02", -0.2673), ("(1-x'^2)*x'*(x/50)^40", -0.04698)] {
        let problem = shuttle(force);
        // (Blocks much shorter than its period, and about as long as it.)
        for (block, count) in [(1.0, 1500), (50.0, 60)] {
            let options = LyapunovOptions::blocks(block, 200, count);
            let found = lyapunov(&problem, &problem.start(), &options, &mut |_| true).expect("exponents");
            assert!(found.advance.is_empty() && !found.is_chaotic(), "{force} {block}: {found:?}");
            let [first, second] = &found.exponents[..] else { panic!("{found:?}") };
            assert!(first.value.abs() < 1e-3, "{force} {block}: {found:?}");
            assert!((second.value - exact).abs() < (3.0 * second.error).max(1e-3), "{force} {block}: {found:?}");
        }
    }
}

/// What grows without bound is no chaos, though its neighbours part.
#[test]
fn what_runs_away_is_not_chaotic() {
    for (force, exact) in [("-x + 0.1*x'", 0.05), ("0.005*x - 0.1*x' + cos(t)", 0.036_602_540_378_4)] {
        let problem = Builder::new("one").coordinate("x", 0.3, 0.5).kinetic("x'^2/2").force("x", force);
        let problem = problem.build().expect("a model").problem().expect("a problem");
        let found = lyapunov(&problem, &problem.start(), &LyapunovOptions::blocks(6.3, 20, 200), &mut |_| true);
        let found = found.expect("exponents");
        assert!(found.runs_away() && !found.is_chaotic(), "{found:?}");
        assert!((found.largest().value - exact).abs() < 1e-3 && (found.growth - exact).abs() < 2e-3, "{found:?}");
    }
}
