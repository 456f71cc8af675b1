//! Preloaded supports with damping, on both sides: an anti-vibration bar. While both press, linear ones are a spring and a dashpot, and
//! their motion has a closed form; those of Hertz' law are integrated independently.

use saltus::structure::bar::building;
use saltus::structure::{Builder, InitialState, Structure};
use saltus::{Options, Side};

const MASS: f64 = 0.8;
const SOFT: f64 = 50.0;
const STIFFNESS: f64 = 2e4;
const DAMPING: f64 = 6.0;
const RATE: f64 = 70.0;

/// A mass between two supports that press on it from both sides with a depth, shaken by a force.
fn squeezed(depth: f64, force: f64, stiffness: f64, damping: f64, is_hertz: bool) -> Structure {
    let mut made = Builder::new("squeezed");
    let part = made.part(building(&[MASS], &[SOFT]).expect("a mass"));
    let x = made.point("x", part.floor(1));
    made.force(&x, format!("{force}*sin({RATE}*t)").as_str());
    // (The depth is negative clearance.)
    for (name, gap) in [("below", format!("x - {depth:e}")), ("above", format!("-x - {depth:e}"))] {
        made.spring_stop(name, gap.as_str(), stiffness);
        made.damped(damping);
        if is_hertz {
            made.hertzian();
        }
    }
    made.start(InitialState { at_equilibrium: true, ..InitialState::default() });
    made.build().expect("a structure")
}

/// The oscillator m x'' + c x' + k x = F sin ωt from rest, at a time.
fn oscillator(k: f64, c: f64, force: f64, t: f64) -> f64 {
    let (natural, ratio) = ((k / MASS).sqrt(), c / (2.0 * (k * MASS).sqrt()));
    let (delta, damped) = (ratio * natural, natural * (1.0 - ratio * ratio).sqrt());
    // x = a sin ωt + b cos ωt + e^{−δt}(p cos ω_d t + r sin ω_d t)
    let (re, im) = (k - MASS * RATE * RATE, c * RATE);
    let (a, b) = (force * re / (re * re + im * im), -force * im / (re * re + im * im));
    let p = -b;
    let r = (delta * p - a * RATE) / damped;
    let (sin, cos) = (RATE * t).sin_cos();
    a * sin + b * cos + (-delta * t).exp() * (p * (damped * t).cos() + r * (damped * t).sin())
}

#[test]
fn preloaded_dashpots_follow_the_closed_form_however_large_the_preload_is() {
    let end = 0.6;
    // The motion is about 1e-4 of the force; preloads from just enough to a million times the motion.
    for (depth, force) in [(2e-3, 1.0), (2e-3, 1e-3), (0.5, 1e-3), (0.5, 1e-6)] {
        let structure = squeezed(depth, force, STIFFNESS, DAMPING, false);
        let error = |h: f64| {
            let run =
                structure.run(&Options::steps("paoli-schatzman", h).until(end)).expect("runs").ok().expect("sound");
            assert!(run.trajectory.contacts.len() + run.touches.len() >= 2, "both press all the time");
            let motion = &run.trajectory;
            let exact = |k: usize| oscillator(SOFT + 2.0 * STIFFNESS, 2.0 * DAMPING, force, motion.t[k]);
            (0..motion.len()).map(|k| (motion.q(k)[0] - exact(k)).abs()).fold(0.0, f64::max)
        };
        let size = 1.5e-4 * force;
        let (coarse, fine) = (error(2e-4), error(5e-5));
        // Second order, down to the rounding of positions of the size of the preload.
        let rounding = 1e-12 * depth;
        assert!(
            fine < coarse / 12.0 + rounding && fine < 2e-3 * size + rounding,
            "{depth} {force}: {coarse:e} {fine:e}"
        );
    }
}

#[test]
fn preloaded_supports_of_hertz_law_follow_an_independent_integration() {
    let (stiffness, damping, depth, force) = (4e6, 0.6, 1e-3, 5.0);
    let push =
        |d: f64, rate: f64| if d <= 0.0 { 0.0 } else { (stiffness * d.powf(1.5) * (1.0 + damping * rate)).max(0.0) };
    let rate = |t: f64, x: f64, v: f64| {
        let supports = push(depth - x, -v) - push(depth + x, v);
        (v, (force * (RATE * t).sin() - SOFT * x + supports) / MASS)
    };
    let (mut x, mut v, h) = (0.0, 0.0, 2e-6_f64);
    let end = 0.3;
    for k in 0..(end / h).round() as usize {
        let t = k as f64 * h;
        let (a1, b1) = rate(t, x, v);
        let (a2, b2) = rate(t + 0.5 * h, x + 0.5 * h * a1, v + 0.5 * h * b1);
        let (a3, b3) = rate(t + 0.5 * h, x + 0.5 * h * a2, v + 0.5 * h * b2);
        let (a4, b4) = rate(t + h, x + h * a3, v + h * b3);
        x += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        v += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
    }
    let structure = squeezed(depth, force, stiffness, damping, true);
    let error = |h: f64| {
        let run = structure.run(&Options::steps("paoli-schatzman", h).until(end)).expect("runs").ok().expect("sound");
        let last = run.trajectory.len() - 1;
        assert!((run.trajectory.v(last, Side::Left)[0] - v).abs() < 0.05 * v.abs().max(1e-2));
        (run.trajectory.q(last)[0] - x).abs()
    };
    let (coarse, fine) = (error(2e-4), error(5e-5));
    assert!(fine < coarse / 10.0 && fine < 1e-3 * x.abs().max(1e-5), "{coarse:e} {fine:e} of {x:e}");
}
