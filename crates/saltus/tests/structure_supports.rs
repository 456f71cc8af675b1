//! Supports with damping, Hertz' law and friction against independent integrations and closed forms.

use saltus::structure::bar::building;
use saltus::structure::{Builder, InitialState, Structure};
use saltus::{Options, Run, Side};

const MASS: f64 = 1.3;
const SOFT: f64 = 20.0;
const GAP: f64 = 0.01;

#[derive(Clone, Copy, Debug)]
struct Support {
    stiffness: f64,
    damping: f64,
    is_hertz: bool,
}

/// A mass on a soft spring, thrown against a support.
fn thrown(support: Support) -> Structure {
    let mut made = Builder::new("thrown");
    let part = made.part(building(&[MASS], &[SOFT]).expect("a mass"));
    let x = made.point("x", part.floor(1));
    made.spring_stop("support", GAP - &x, support.stiffness);
    made.damped(support.damping);
    if support.is_hertz {
        made.hertzian();
    }
    made.start(InitialState { velocity: 0.9, ..InitialState::default() });
    made.build().expect("a structure")
}

/// The same by the classical Runge–Kutta method with a very small step.
fn reference(support: Support, end: f64) -> (f64, f64) {
    let force = |x: f64, v: f64| {
        let depth = x - GAP;
        let push = match support.is_hertz {
            _ if depth <= 0.0 => 0.0,
            true => support.stiffness * depth.powf(1.5) * (1.0 + support.damping * v),
            false => support.stiffness * depth + support.damping * v,
        };
        push.max(0.0)
    };
    let rate = |x: f64, v: f64| (v, (-SOFT * x - force(x, v)) / MASS);
    let (mut x, mut v, h) = (0.0, 0.9, 5e-7);
    for _ in 0..(end / h).round() as usize {
        let (a1, b1) = rate(x, v);
        let (a2, b2) = rate(x + 0.5 * h * a1, v + 0.5 * h * b1);
        let (a3, b3) = rate(x + 0.5 * h * a2, v + 0.5 * h * b2);
        let (a4, b4) = rate(x + h * a3, v + h * b3);
        x += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        v += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
    }
    (x, v)
}

fn error(support: Support, h: f64, exact: (f64, f64)) -> (f64, Run) {
    let run = thrown(support).run(&Options::steps("paoli-schatzman", h).until(0.6)).expect("runs").ok().expect("sound");
    let off = (run.trajectory.q(run.trajectory.len() - 1)[0] - exact.0).abs();
    (off, run)
}

#[test]
fn damped_and_hertzian_supports_converge_to_an_independent_reference() {
    for support in [
        Support { stiffness: 4e3, damping: 20.0, is_hertz: false },
        Support { stiffness: 4e3, damping: 150.0, is_hertz: false },
        Support { stiffness: 5e4, damping: 0.0, is_hertz: true },
        Support { stiffness: 5e4, damping: 0.4, is_hertz: true },
    ] {
        let exact = reference(support, 0.6);
        let (coarse, _) = error(support, 1e-3, exact);
        let (fine, run) = error(support, 1.25e-4, exact);
        // Second order where a step meets the contact smoothly; a dashpot's force begins with a jump.
        assert!(fine < coarse / 12.0 || fine < 1e-8, "{support:?}: {coarse:e} {fine:e}");
        assert!(fine < 2e-5, "{support:?}: {fine:e} of {exact:?}");
        assert!(run.touches.iter().all(|t| t.peak > 0.0) && !run.touches.is_empty());
        let (balance, lost) = (&run.ledger.balance, run.ledger.balance.dissipated_at_impacts);
        assert!(balance.relative() < 1e-9, "{support:?}: {balance:?}");
        match support.damping > 0.0 {
            true => assert!(lost > 0.01, "{support:?}: {lost}"),
            false => assert!(lost.abs() < 1e-9, "{support:?}: {lost}"),
        }
    }
}

/// A mass that slides on a support pressed by a constant force: `directions` tangential masses, started at `away`.
fn sliding(friction: f64, away: &[f64], stiffness: Option<f64>) -> Structure {
    let mut made = Builder::new("sliding");
    let normal = made.part(building(&[1.0], &[1.0]).expect("a mass"));
    let up = made.point("up", normal.floor(1));
    let mut slides = Vec::new();
    for k in 0..away.len() {
        let part = made.part(building(&[1.0], &[1.0]).expect("a mass"));
        slides.push(made.point(&format!("s{k}"), part.floor(1)));
    }
    made.force(&up, -1.0);
    match stiffness {
        Some(k) => made.spring_stop("floor", &up - 0.0, k),
        None => made.stop("floor", &up - 0.0, 0.0),
    }
    made.rubs(friction, &slides.iter().collect::<Vec<_>>());
    let below = stiffness.map_or(0.0, |k| -1.0 / (1.0 + k));
    let displacements = std::iter::once(below).chain(away.iter().copied()).collect();
    made.start(InitialState { displacements: Some(displacements), ..InitialState::default() });
    made.build().expect("a structure")
}

/// A free oscillator with dry friction f: turning points fall by 2f, and it stays where it stops within f: 1, −0.74, 0.48, −0.22, −0.04.
#[test]
fn dry_friction_stops_an_oscillator_where_it_should() {
    for (away, along) in [(vec![1.0], vec![1.0]), (vec![0.6, 0.8], vec![0.6, 0.8])] {
        for (scheme, stiffness) in [("paoli-schatzman", None), ("paoli-schatzman", Some(1e3)), ("moreau-jean", None)] {
            let structure = sliding(0.13, &away, stiffness);
            // (A spring leaves a part of the load to the mass's own.)
            let f = 0.13 * stiffness.map_or(1.0, |k| k / (1.0 + k));
            let mut errors = Vec::new();
            for h in [4e-3, 1e-3] {
                let run = structure.run(&Options::steps(scheme, h).until(16.0)).expect("runs").ok();
                let run = run.expect("sound");
                let last = run.trajectory.q(run.trajectory.len() - 1);
                let found: f64 = last[1..].iter().zip(&along).map(|(x, c)| x * c).sum();
                let across = if last.len() > 2 { last[1] * 0.8 - last[2] * 0.6 } else { 0.0 };
                assert!(across.abs() < 1e-9, "{across}");
                errors.push((found - (1.0 - 8.0 * f)).abs());
                let rubbed = run.rubbed[0];
                // Four half swings of 2 − 2f, 2 − 6f, 2 − 10f and 2 − 14f.
                let way = 8.0 - 32.0 * f;
                assert!((rubbed.distance - way).abs() < 20.0 * h, "{rubbed:?}");
                assert!((rubbed.work - f * way).abs() < 5.0 * h, "{rubbed:?}");
                assert!((rubbed.slid - 4.0 * std::f64::consts::PI).abs() < 0.1, "{rubbed:?}");
                assert!((rubbed.stuck + rubbed.slid - 16.0).abs() < 0.1, "{rubbed:?}");
                assert!(run.ledger.balance.relative() < 1e-9, "{:?}", run.ledger.balance);
            }
            assert!(
                errors[1] < 2e-3 && errors[1] < 0.5 * errors[0] + 1e-6,
                "{scheme} {stiffness:?} {away:?}: {errors:?}"
            );
        }
    }
}

/// What a load cannot overcome does not move; what it can, does.
#[test]
fn friction_sticks_up_to_its_limit() {
    for (scheme, push, moves) in [
        ("paoli-schatzman", 0.25, false),
        ("paoli-schatzman", 0.35, true),
        ("moreau-jean", 0.25, false),
        ("moreau-jean", 0.35, true),
    ] {
        let mut made = Builder::new("block");
        let normal = made.part(building(&[1.0], &[1.0]).expect("a mass"));
        let along = made.part(building(&[1.0], &[1e-3]).expect("a mass"));
        let (up, s) = (made.point("up", normal.floor(1)), made.point("s", along.floor(1)));
        made.force(&up, -1.0);
        made.force(&s, push);
        made.stop("floor", &up - 0.0, 0.0);
        made.rubs(0.3, &[&s]);
        let block = made.build().expect("a structure");
        let run = block.run(&Options::steps(scheme, 1e-3).until(1.0)).expect("runs").ok().expect("sound");
        let end = run.trajectory.q(run.trajectory.len() - 1)[1];
        match moves {
            false => assert!(end.abs() < 1e-12, "{end}"),
            // Half of (push − 0.3).
            true => assert!((end - 0.025).abs() < 1e-4, "{end}"),
        }
    }
}

#[test]
fn laws_that_cannot_act_are_refused() {
    let build = |change: &dyn Fn(&mut Builder, &saltus::structure::Point)| {
        let mut made = Builder::new("wrong");
        let part = made.part(building(&[1.0], &[1.0]).expect("a mass"));
        let x = made.point("x", part.floor(1));
        made.stop("stop", 1.0 - &x, 0.0);
        change(&mut made, &x);
        made.build()
    };
    assert!(build(&|made, _| made.damped(1.0)).expect_err("no spring").message.contains("beside a stiffness"));
    assert!(build(&|made, x| made.rubs(-1.0, &[x])).expect_err("negative").message.contains("must not be negative"));
    assert!(build(&|made, _| made.rubs(0.1, &[])).expect_err("nothing slides").message.contains("slides"));
    let rough = build(&|made, x| made.rubs(0.1, &[x])).expect("a structure");
    for options in [
        Options::steps("paoli-schatzman", 1e-3).until(1.0).setting("forcing", "exact"),
        Options::events(1.0).scheme("event-driven"),
    ] {
        let refused = rough.run(&options).expect_err("does not know it");
        assert!(refused.message.contains("friction"), "{refused:?}");
        assert!(refused.help.as_deref().is_some_and(|help| help.contains("moreau-jean")), "{refused:?}");
    }
}

/// A body thrown obliquely at a rough wall, with restitution: the wall takes μ (1 + e) V of the speed along it while it slides, all of it
/// where that is less.
#[test]
fn an_oblique_impact_is_that_of_the_law() {
    for scheme in ["moreau-jean", "paoli-schatzman"] {
        for (along, e, mu) in [(2.0, 0.5, 0.3), (0.3, 0.5, 0.3), (2.0, 0.0, 0.7)] {
            let mut made = Builder::new("thrown");
            let normal = made.part(building(&[2.0], &[1e-9]).expect("a mass"));
            let across = made.part(building(&[2.0], &[1e-9]).expect("a mass"));
            let (x, s) = (made.point("x", normal.floor(1)), made.point("s", across.floor(1)));
            made.stop("wall", 0.5 - &x, e);
            made.rubs(mu, &[&s]);
            made.start(InitialState { velocities: Some(vec![1.0, along]), ..InitialState::default() });
            let body = made.build().expect("a structure");
            let run = body.run(&Options::steps(scheme, 1e-3).until(1.0)).expect("runs").ok().expect("sound");
            let last = run.trajectory.len() - 1;
            let v = run.trajectory.v(last, Side::Right);
            let left = (along - mu * (1.0 + e)).max(0.0);
            assert!((v[0] + e).abs() < 1e-6 && (v[1] - left).abs() < 1e-6, "{scheme} {along} {e} {mu}: {v:?}");
        }
    }
}

/// What slides steadily is held back by μ times the load; the history of that force is a column, and its impulse is what the slide lost.
#[test]
fn the_force_of_friction_is_known_over_time() {
    for stiffness in [None, Some(400.0)] {
        let structure = sliding(0.13, &[1.0], stiffness);
        let run = structure.run(&Options::steps("paoli-schatzman", 1e-3).until(2.0)).expect("runs");
        let (motion, history) = (&run.trajectory, &run.trajectory.history);
        assert_eq!(history.side_names(), ["floor_s0"]);
        // It slides towards zero, from 1, until it turns at π: friction pushes the other way.
        for k in 10..motion.len() {
            let force = (history.sides(k)[0] - history.sides(k - 1)[0]) / (motion.t[k] - motion.t[k - 1]);
            let normal = stiffness.map_or(1.0, |k| k / (1.0 + k));
            assert!((force - 0.13 * normal).abs() < 1e-9, "{stiffness:?} {k}: {force}");
        }
    }
}
