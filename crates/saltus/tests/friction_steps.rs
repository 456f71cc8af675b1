//! Friction in time steps, against closed forms: values and orders of convergence.

use saltus::model::Builder;
use saltus::{Model, Options, Run};
use std::sync::Arc;

/// The schemes that know friction.
const SCHEMES: [&str; 3] = ["moreau-jean", "moreau-midpoint", "mabrouk"];

fn run(model: &Arc<Model>, scheme: &str, h: f64, end: f64) -> Run {
    let problem = model.problem().expect("a problem");
    let run = problem.run(&Options::steps(scheme, h).until(end)).expect("a run");
    run.ok().unwrap_or_else(|e| panic!("{scheme} with h = {h}: {e}"))
}

/// The largest error of some coordinates over the stored instants, for one step.
fn error(run: &Run, exact: &dyn Fn(f64) -> Vec<f64>) -> f64 {
    let motion = &run.trajectory;
    let mut worst = 0.0_f64;
    for k in 0..motion.len() {
        for (q, x) in motion.q(k).iter().zip(exact(motion.t[k])) {
            worst = worst.max((q - x).abs());
        }
    }
    worst
}

/// Order of convergence in the maximum norm: the slope of a line through the errors for steps that do not divide each other.
fn order(model: &Arc<Model>, scheme: &str, h: f64, end: f64, exact: &dyn Fn(f64) -> Vec<f64>) -> f64 {
    let ratio = 0.79_f64;
    let errors = (0..10).map(|k| {
        let steps = (end / (h * ratio.powi(k))).round();
        (end / steps, error(&run(model, scheme, end / steps, end), exact))
    });
    let logs: Vec<(f64, f64)> = errors.map(|(h, e)| (h.ln(), e.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    println!("{scheme}: order {slope:.3}, error {:.3e} with h = {:.3e}", logs[9].1.exp(), logs[9].0.exp());
    slope
}

fn block() -> Arc<Model> {
    Builder::new("a block that slides to rest")
        .coordinate("x", 0, 1.3)
        .coordinate("y", 0, 0)
        .kinetic("0.7*(x'^2 + y'^2)/2")
        .potential("0.7*9.81*y")
        .restitution(0)
        .constraint("floor", "y")
        .friction("0.3", &["x'"])
        .build()
        .expect("a model")
}

#[test]
fn a_block_slides_to_rest() {
    let (v, a) = (1.3, 0.3 * 9.81);
    let exact = |t: f64| {
        let t = t.min(v / a);
        vec![v * t - 0.5 * a * t * t, 0.0]
    };
    for scheme in SCHEMES {
        let order = order(&block(), scheme, 0.0123, 0.8, &exact);
        assert!((0.8..1.2).contains(&order) || order > 1.2, "{scheme}: order {order}");
        let run = run(&block(), scheme, 1e-3, 0.8);
        assert!(run.last().v[0].abs() < 1e-15, "{scheme}: {}", run.last().v[0]);
        let balance = &run.ledger.balance;
        assert!((balance.friction - 0.5 * 0.7 * v * v).abs() < 1e-3, "{scheme}: {balance:?}");
        assert!(balance.relative() < 1e-3, "{scheme}: {balance:?}");
    }
}

/// x'' + x = −0.1 sign x' from x = 1: the turning points are −0.8, 0.6, −0.4, 0.2, 0.
fn rubbing() -> Arc<Model> {
    Builder::new("an oscillator with dry friction")
        .coordinate("x", 1.05, 0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .slider("guide", "x'", 0.1, None)
        .build()
        .expect("a model")
}

fn rubbed(t: f64) -> f64 {
    let pi = std::f64::consts::PI;
    let half = (t / pi).floor();
    let start = (1.05 - 0.2 * half).max(0.05) * if half as i64 % 2 == 0 { 1.0 } else { -1.0 };
    if start.abs() <= 0.1 {
        // Half swings end inside |x| ≤ 0.1.
        let n = 5;
        return (1.05 - 0.2 * f64::from(n)) * -1.0;
    }
    let centre = 0.1 * start.signum();
    centre + (start - centre) * (t - half * pi).cos()
}

#[test]
fn turning_points_of_dry_friction_fall() {
    for scheme in SCHEMES {
        let order = order(&rubbing(), scheme, 0.02, 18.0, &|t| vec![rubbed(t)]);
        assert!((0.8..2.2).contains(&order), "{scheme}: order {order}");
        let run = run(&rubbing(), scheme, 1e-3, 18.0);
        // At rest, exactly.
        assert!(run.last().v[0].abs() < 1e-15 && (run.last().q[0] + 0.05).abs() < 2e-3, "{scheme}: {:?}", run.last());
        let balance = &run.ledger.balance;
        assert!(balance.relative() < 1e-2, "{scheme}: {balance:?}");
    }
}
