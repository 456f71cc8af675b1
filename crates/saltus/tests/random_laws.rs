//! Random models with friction, joints and first-order states by events: they finish, or end with a reason; the ledger finds that no
//! law is broken; and a time-stepping scheme with small steps gives the same motion.
//!
//! `SALTUS_LAWS_MODELS=10000` runs more of them; `SALTUS_SEED=n` runs one and says everything about it.

use saltus::linalg::Dice;
use saltus::model::Builder;
use saltus::{Options, Reason, Run, Status};

/// A number as a text that keeps its digits.
fn n(x: f64) -> String {
    format!("({x:?})")
}

struct Drawn {
    family: &'static str,
    builder: Builder,
    end: f64,
}

/// Seeds from here on draw gaps that use states.
const LIFTED: u64 = 1 << 32;

/// A body on a table, with friction, beside a stop: a lag moves the table, and the stop yields to where the body is.
fn lifted(seed: u64) -> Drawn {
    let mut dice = Dice::new(seed);
    let mut x = |a: f64, b: f64| dice.between(a, b);
    let drive =
        format!("({}*sin({}*t) - z + {}*y)/{}", n(x(0.0, 0.6)), n(x(1.0, 6.0)), n(x(-0.3, 0.3)), n(x(0.05, 0.6)));
    let height = x(0.0, 0.5);
    let mut builder = Builder::new("lifted")
        .coordinate("x", 0.01 + height, 0.0)
        .coordinate("y", 0.0, x(-1.0, 1.0))
        .kinetic("(x'^2 + y'^2)/2")
        .potential(format!("{}*x + {}*y^2/2", n(x(3.0, 10.0)), n(x(1.0, 10.0))))
        .force("y", format!("{}*cos({}*t) - 0.1*y'", n(x(0.0, 3.0)), n(x(0.5, 4.0))))
        .state("z", 0.0, drive)
        .state("s", 0.0, format!("(y - s + 0.2*z)/{}", n(x(0.05, 0.6))))
        .restitution(x(0.0, 0.8))
        .constraint("table", format!("x - z - {}*s*y", n(x(0.0, 0.3))));
    if x(0.0, 1.0) < 0.5 {
        builder = builder.friction(x(0.0, 0.5), &["y'"]);
    }
    builder = builder.constraint("stop", format!("{} - y + {}*s", n(x(0.2, 0.6)), n(x(-0.4, 0.4))));
    Drawn { family: "lifted", builder, end: 4.0 }
}

fn draw(seed: u64) -> Drawn {
    if seed >= LIFTED {
        return lifted(seed - LIFTED);
    }
    let mut dice = Dice::new(seed);
    let mut x = |a: f64, b: f64| dice.between(a, b);
    let g = 9.81;
    match seed % 8 {
        0 => {
            // A block on a floor, pulled by a spring whose other end moves; Stribeck curve.
            let (k, a, w, mu, v) = (x(5.0, 60.0), x(0.05, 0.5), x(0.5, 6.0), x(0.05, 0.6), x(-1.0, 1.0));
            let builder = Builder::new("pulled block")
                .coordinate("x", 0.0, v)
                .coordinate("y", x(0.0, 0.2), 0.0)
                .kinetic("(x'^2 + y'^2)/2")
                .potential(format!("{g}*y"))
                .force("x", format!("{}*({}*sin({}*t) - x)", n(k), n(a), n(w)))
                .restitution(x(0.0, 0.8))
                .constraint("floor", "y")
                .friction(format!("{}*(1 + 0.4*exp(-speed/{}))", n(mu), n(x(0.05, 0.5))), &["x'"]);
            Drawn { family: "pulled block", builder, end: 4.0 }
        }
        1 => {
            // A ball with spin on an inclined plane.
            let (slope, mu, e) = (x(-0.4, 0.4), x(0.02, 0.6), x(0.0, 0.85));
            let builder = Builder::new("ball on an incline")
                .coordinate("x", 0.0, x(-3.0, 3.0))
                .coordinate("y", x(0.05, 0.5), x(-1.0, 1.0))
                .coordinate("b", 0.0, x(-8.0, 8.0))
                .kinetic("(x'^2 + y'^2)/2 + b'^2/5")
                .potential(format!("{g}*(y*cos({s}) - x*sin({s}))", s = n(slope)))
                .restitution(e)
                .constraint("plane", "y")
                .friction(mu, &["x' - b'"])
                .tangential(if x(0.0, 1.0) < 0.3 { e } else { 0.0 });
            Drawn { family: "ball", builder, end: 2.0 }
        }
        2 => {
            // Blocks on belts, coupled by springs: dry friction with two limits.
            let count = 2 + (x(0.0, 2.0) as usize);
            let mut builder = Builder::new("belts");
            let mut kinetic = Vec::new();
            let mut potential = vec!["0".to_string()];
            for i in 0..count {
                builder = builder.coordinate(&format!("x{i}"), x(-0.5, 0.5), x(-0.5, 0.5));
                kinetic.push(format!("{}*x{i}'^2/2", n(x(0.5, 2.0))));
                let stretch = if i == 0 { "x0".to_string() } else { format!("(x{i} - x{})", i - 1) };
                potential.push(format!("{}*{stretch}^2/2", n(x(2.0, 20.0))));
            }
            builder = builder.kinetic(kinetic.join(" + ")).potential(potential.join(" + "));
            for i in 0..count {
                let (f, belt) = (x(0.1, 1.0), x(-0.4, 0.4));
                let sticking = x(1.0, 1.6) * f;
                builder = builder.slider(&format!("belt{i}"), format!("x{i}' - {}", n(belt)), f, Some(sticking.into()));
            }
            Drawn { family: "belts", builder, end: 6.0 }
        }
        3 => {
            // A pendulum by a joint, against a wall with friction.
            let (a, e, mu) = (x(0.3, 1.2), x(0.0, 0.9), x(0.0, 0.8));
            let wall = x(-0.5, 0.1);
            let builder = Builder::new("pendulum by a joint")
                .coordinate("x", a.sin(), 0.0)
                .coordinate("y", -a.cos(), 0.0)
                .kinetic("(x'^2 + y'^2)/2")
                .potential(format!("{g}*y"))
                .joint("rod", &["x^2 + y^2 - 1"])
                .restitution(e)
                .constraint("wall", format!("x - {}", n(wall)))
                .friction(mu, &["y'"]);
            Drawn { family: "pendulum", builder, end: 3.0 }
        }
        4 => {
            // Two links by joints, the end of which strikes a floor with friction.
            let (a, b) = (x(0.2, 1.2), x(-0.5, 0.9));
            let (x1, y1) = (a.sin(), -a.cos());
            let (x2, y2) = (x1 + b.sin(), y1 - b.cos());
            let low = y2 - x(0.02, 0.4);
            let builder = Builder::new("two links")
                .coordinate("x", x1, 0.0)
                .coordinate("y", y1, 0.0)
                .coordinate("u", x2, 0.0)
                .coordinate("w", y2, 0.0)
                .kinetic("(x'^2 + y'^2 + u'^2 + w'^2)/2")
                .potential(format!("{g}*(y + w)"))
                .joint("upper", &["x^2 + y^2 - 1"])
                .joint("lower", &["(u - x)^2 + (w - y)^2 - 1"])
                .restitution(x(0.0, 0.8))
                .constraint("floor", format!("w - {}", n(low)))
                .friction(x(0.0, 0.7), &["u'"]);
            Drawn { family: "two links", builder, end: 1.2 }
        }
        5 => {
            // A sphere in space.
            let builder = Builder::new("sphere")
                .coordinate("x", 0.0, x(-2.0, 2.0))
                .coordinate("y", 0.0, x(-2.0, 2.0))
                .coordinate("z", x(0.0, 0.3), x(-1.0, 0.5).max(0.0))
                .coordinate("a", 0.0, x(-6.0, 6.0))
                .coordinate("b", 0.0, x(-6.0, 6.0))
                .kinetic("(x'^2 + y'^2 + z'^2)/2 + (a'^2 + b'^2)/5")
                .potential(format!("{g}*z"))
                .force("x", format!("{}*cos({}*t)", n(x(0.0, 3.0)), n(x(0.5, 4.0))))
                .restitution(x(0.0, 0.8))
                .constraint("table", "z")
                .friction(x(0.03, 0.5), &["x' - b'", "y' + a'"]);
            Drawn { family: "sphere", builder, end: 2.0 }
        }
        6 => {
            // A motor with a lag drives a block with dry friction against a stop.
            let builder = Builder::new("lagged drive")
                .coordinate("x", 0.0, 0.0)
                .state(
                    "u",
                    x(-1.0, 1.0),
                    format!("({}*sin({}*t) - u - 0.3*x')/{}", n(x(2.0, 8.0)), n(x(0.8, 4.0)), n(x(0.05, 0.8))),
                )
                .kinetic("x'^2/2")
                .force("x", "u - x")
                .slider("guide", "x'", x(0.2, 1.5), None)
                .restitution(format!("{}/(1 + {}*speed)", n(x(0.3, 0.95)), n(x(0.0, 1.0))))
                .constraint("stop", format!("{} - x", n(x(0.2, 1.0))));
            Drawn { family: "lagged drive", builder, end: 8.0 }
        }
        _ => {
            // Two blocks, one on the other, on a shaken floor.
            let builder = Builder::new("stacked")
                .coordinate("x", 0.0, x(-1.0, 1.0))
                .coordinate("y", 0.0, 0.0)
                .coordinate("u", 0.0, x(-1.0, 1.0))
                .coordinate("w", 0.0, 0.0)
                .parameter("A", x(0.0, 0.4))
                .parameter("W", x(1.0, 6.0))
                .kinetic("(x'^2 + y'^2)/2 + 0.3*(u'^2 + w'^2)")
                .potential(format!("{g}*(y + 0.6*w)"))
                .restitution(0)
                .constraint("floor", "y")
                .friction(x(0.05, 0.5), &["x' - A*W*cos(W*t)"])
                .constraint("top", "w - y")
                .friction(x(0.05, 0.5), &["u' - x'"]);
            Drawn { family: "stacked", builder, end: 3.0 }
        }
    }
}

fn by_events(drawn: &Drawn) -> Result<Run, String> {
    let problem = drawn.builder.build().map_err(|e| e.to_string())?.problem().map_err(|e| e.to_string())?;
    problem.run(&Options::events(drawn.end)).map_err(|e| e.to_string())
}

fn by_steps(drawn: &Drawn, h: f64) -> Option<Run> {
    let problem = drawn.builder.build().ok()?.problem().ok()?;
    problem.run(&Options::steps("moreau-jean", h).until(drawn.end)).ok()
}

/// The largest difference of two runs at the end, over coordinates.
fn apart(a: &Run, b: &Run, degrees: usize) -> f64 {
    (0..degrees).map(|i| (a.last().q[i] - b.last().q[i]).abs()).fold(0.0, f64::max)
}

/// Whether different constraints are hit within so short a time of each other: steps of that length take them for one impact, which
/// in a corner that is not right is another motion.
fn is_double(run: &Run, step: f64) -> bool {
    let impacts = &run.trajectory.impacts;
    (1..impacts.len()).any(|k| {
        let (a, b) = (impacts.get(k - 1), impacts.get(k));
        b.t - a.t < step && a.constraints != b.constraints
    })
}

#[test]
fn laws_hold_and_small_steps_agree() {
    let one: Option<u64> = std::env::var("SALTUS_SEED").ok().and_then(|s| s.parse().ok());
    let count: u64 = std::env::var("SALTUS_LAWS_MODELS").ok().and_then(|s| s.parse().ok()).unwrap_or(400);
    let seeds = one.map_or(0..count, |seed| seed..seed + 1);
    let (mut finished, mut ended, mut compared, mut troubles) = (0, 0, 0, Vec::new());
    // (In 2044 links that are nearly straight have impulses many times as large as what they do together.)
    let others = if one.is_none() { LIFTED..LIFTED + count / 8 } else { 0..0 };
    for seed in seeds.chain(one.is_none().then_some(2044)).chain(others) {
        let drawn = draw(seed);
        let run = match by_events(&drawn) {
            Ok(run) => run,
            Err(error) => {
                troubles.push(format!("{seed} {}: refused: {error}", drawn.family));
                continue;
            }
        };
        if one.is_some() {
            println!("{:?}\n{:?}\n{:?}\nlast {:?}", run.status, run.warnings, run.notes, run.last());
            for i in run.trajectory.impacts.iter().take(20) {
                let jump: Vec<f64> = i.v_after.iter().zip(i.v_before).map(|(a, b)| a - b).collect();
                println!(
                    "impact {} P {:?} others {:?}\n  q {:?}\n  jump {jump:?} residual {:e}",
                    i.t, i.impulses, i.others, i.q, i.law_residual
                );
            }
            for phase in run.timeline.phases.iter().rev().take(60).rev() {
                println!("{:?} {} {} {:?} {}", phase.kind, phase.start, phase.end, phase.constraints, phase.note);
            }
        }
        match &run.status {
            Status::Finished => finished += 1,
            Status::Failed(failure) if matches!(failure.reason, Reason::Painleve { .. }) => {
                ended += 1;
                continue;
            }
            other => {
                troubles.push(format!("{seed} {}: {other:?}", drawn.family));
                continue;
            }
        }
        // Against small steps, where halving them shows that they converge to something.
        if (seed % 4 < 2 && !is_double(&run, 1e-4)) || one.is_some() {
            let (Some(coarse), Some(fine)) = (by_steps(&drawn, 4e-4), by_steps(&drawn, 1e-4)) else { continue };
            let degrees = drawn.builder.build().expect("a model").degrees();
            let (own, other) = (apart(&coarse, &fine, degrees), apart(&run, &fine, degrees));
            if one.is_some() {
                println!("steps {own:e}, events {other:e}: {:?} {:?}", run.last().q, fine.last().q);
            }
            if own < 2e-3 {
                compared += 1;
                if other > 2e-3 + 3.0 * own {
                    troubles
                        .push(format!("{seed} {}: {other:e} from small steps, which differ by {own:e}", drawn.family));
                }
            }
        }
    }
    println!("{finished} finished, {ended} ended at a paradox, {compared} compared with small steps");
    assert!(troubles.is_empty(), "{} troubles:\n{}", troubles.len(), troubles.join("\n"));
}
