//! Random models with joints and friction, in time steps: no pull, impulses of friction within their cones, no energy from walls at rest,
//! and nothing that the ledger complains of.

use saltus::linalg::Dice;
use saltus::model::Builder;
use saltus::{Model, Options, Run};
use std::sync::Arc;

/// A body in the plane with two or three corners over a floor with friction, perhaps hung from a joint, perhaps with a slider.
pub fn model(dice: &mut Dice) -> (Arc<Model>, Vec<f64>) {
    let (l, inertia) = (dice.between(0.3, 1.0), dice.between(0.02, 0.4));
    let tilt = dice.between(-1.2, 1.2);
    let corners = 1 + (dice.between(0.0, 3.0) as usize).min(2);
    let joined = dice.between(0.0, 1.0) < 0.4;
    let low = (0..corners).map(|k| -corner(l, k, tilt).1).fold(f64::NEG_INFINITY, f64::max);
    let height = low + dice.between(0.02, 0.3);
    let speed = |dice: &mut Dice| dice.between(-2.0, 2.0);
    let mut builder = Builder::new("a body on a floor")
        .coordinate("x", 0, if joined { 0.0 } else { speed(dice) })
        .coordinate("y", height, if joined { 0.0 } else { speed(dice) })
        .coordinate("th", tilt, if joined { 0.0 } else { 2.0 * speed(dice) });
    let mut kinetic = format!("(x'^2 + y'^2)/2 + {inertia}*th'^2/2");
    let mut potential = "9.81*y".to_string();
    if joined {
        // A second mass on a rigid rod from the centre.
        builder = builder.coordinate("u", 0.5, 0).coordinate("w", height + 0.4, 0);
        kinetic += " + 0.6*(u'^2 + w'^2)/2";
        potential += " + 0.6*9.81*w";
        builder = builder.joint("rod", &["sqrt((u - x)^2 + (w - y)^2) - sqrt(0.41)"]);
    }
    builder = builder.kinetic(kinetic).potential(potential).restitution(0);
    if dice.between(0.0, 1.0) < 0.4 {
        builder = builder.slider("bearing", "th'", dice.between(0.0, 0.5), None);
    }
    let mut mus = Vec::new();
    for k in 0..corners {
        let (e, mu) = (dice.between(0.0, 0.95), dice.between(0.0, 1.2));
        let (a, r) = (CORNERS[k], l * RADII[k]);
        builder = builder
            .constraint_with(&format!("corner{k}"), format!("y + {r}*sin(th + {a})"), e)
            .friction(mu, &[&format!("x' - {r}*sin(th + {a})*th'")]);
        if dice.between(0.0, 1.0) < 0.3 {
            builder = builder.tangential(dice.between(0.0, 0.9));
        }
        mus.push(mu);
    }
    (builder.build().expect("a model"), mus)
}

const STEP: f64 = 2e-4;
const CORNERS: [f64; 3] = [0.0, 3.0, 1.7];
const RADII: [f64; 3] = [1.0, 0.8, 0.9];

fn corner(l: f64, k: usize, tilt: f64) -> (f64, f64) {
    let (sin, cos) = (tilt + CORNERS[k]).sin_cos();
    (l * RADII[k] * cos, l * RADII[k] * sin)
}

fn check(run: &Run, mus: &[f64], what: &str, joints: usize) {
    let motion = &run.trajectory;
    for i in motion.impacts.iter() {
        for (&a, &p) in i.constraints.iter().zip(i.impulses) {
            assert!(p >= 0.0, "{what}: pull {p}");
            let t: f64 = i.others.iter().filter(|o| o.0 == slip_row(joints, a)).map(|o| o.1.abs()).sum();
            assert!(t <= mus[a] * p * (1.0 + 1e-9), "{what}: {t} > {} {p}", mus[a]);
        }
        // What the forces do in a step is part of it.
        let allowed = 5e-3 * i.speed * i.speed + 4.0 * 9.81 * STEP * i.speed;
        assert!(i.energy_change <= allowed, "{what}: an impact gives {}, speed {}", i.energy_change, i.speed);
    }
    let balance = &run.ledger.balance;
    // (Slips are those at the nodes, to the order of the step.)
    assert!(balance.friction >= -1e-3 * balance.exchanged, "{what}: friction gives {}", balance.friction);
    assert!(
        balance.end <= balance.start + 0.02 * balance.exchanged,
        "{what}: energy {} → {}",
        balance.start,
        balance.end
    );
}

/// Frictions of constraints come first: a slip for each corner.
fn slip_row(joints: usize, constraint: usize) -> usize {
    joints + constraint
}

#[test]
fn bodies_with_corners_joints_and_sliders() {
    let mut dice = Dice::new(7);
    let mut breached = Vec::new();
    for n in 0..120 {
        let (model, mus) = model(&mut dice);
        let scheme = ["moreau-jean", "moreau-midpoint", "mabrouk"][n % 3];
        let what = format!("model {n} with {scheme}");
        let problem = model.problem().expect("a problem");
        let run = problem.run(&Options::steps(scheme, STEP).until(1.0)).expect("a run");
        assert!(run.status.is_complete(), "{what}: {}", run.status);
        check(&run, &mus, &what, model.joints.len());
        if !run.status.breaches().is_empty() {
            breached.push(format!("{what}: {}", run.status.breaches().join("; ")));
        }
    }
    assert!(breached.is_empty(), "{} breaches: {breached:#?}", breached.len());
}
