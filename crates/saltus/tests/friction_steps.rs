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
    let slope = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
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
        // Of second order but for the step in which it stops; mabrouk is of first order in free flight, too.
        assert!(if scheme == "mabrouk" { (0.8..1.2).contains(&order) } else { order > 1.5 }, "{scheme}: order {order}");
        let run = run(&block(), scheme, 1e-3, 0.8);
        assert!(run.last().v[0].abs() < 1e-15, "{scheme}: {}", run.last().v[0]);
        let balance = &run.ledger.balance;
        assert!((balance.friction - 0.5 * 0.7 * v * v).abs() < 1e-3, "{scheme}: {balance:?}");
        assert!(balance.relative() < 1e-3, "{scheme}: {balance:?}");
    }
}

/// x'' + x = −0.1 sign x' from x = 1.05: the turning points are −0.85, 0.65, −0.45, 0.25, −0.05, and there it stays.
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
    let swings = (t / pi).floor().min(5.0);
    let start = (1.05 - 0.2 * swings) * if swings as i64 % 2 == 0 { 1.0 } else { -1.0 };
    if swings == 5.0 {
        return start;
    }
    let centre = 0.1 * start.signum();
    centre + (start - centre) * (t - swings * pi).cos()
}

#[test]
fn turning_points_of_dry_friction_fall() {
    for scheme in SCHEMES {
        let order = order(&rubbing(), scheme, 0.02, 18.0, &|t| vec![rubbed(t)]);
        assert!((0.8..1.2).contains(&order), "{scheme}: order {order}");
        let run = run(&rubbing(), scheme, 1e-3, 18.0);
        // At rest, exactly.
        assert!(run.last().v[0].abs() < 1e-15 && (run.last().q[0] + 0.05).abs() < 2e-3, "{scheme}: {:?}", run.last());
        let balance = &run.ledger.balance;
        assert!(balance.relative() < 1e-2, "{scheme}: {balance:?}");
    }
}

/// A solid sphere of radius 0.1 on a table, in space: x, y, z and rotations a, b, c with world angular velocities.
fn sphere(e: f64, mu: f64, height: f64, v: [f64; 3], w: [f64; 3]) -> Arc<Model> {
    Builder::new("a sphere on a table")
        .parameter("r", 0.1)
        .coordinate("x", 0, v[0])
        .coordinate("y", 0, v[1])
        .coordinate("z", height, v[2])
        .coordinate("a", 0, w[0])
        .coordinate("b", 0, w[1])
        .coordinate("c", 0, w[2])
        .kinetic("1.3*(x'^2 + y'^2 + z'^2)/2 + 1.3*0.4*r^2*(a'^2 + b'^2 + c'^2)/2")
        .potential("1.3*9.81*z")
        .restitution(e)
        .constraint("table", "z - r")
        .friction(mu, &["x' - r*b'", "y' + r*a'"])
        .build()
        .expect("a model")
}

#[test]
fn a_sphere_with_backspin_rolls() {
    let (mu, r) = (0.2, 0.1);
    let (v, w) = ([1.0, 0.3, 0.0], [-4.0, -12.0, 5.0]);
    // The slip of the point of contact.
    let u = [v[0] - r * w[1], v[1] + r * w[0]];
    let size = f64::hypot(u[0], u[1]);
    let (until, g) = (2.0 * size / (7.0 * mu * 9.81), 9.81);
    let place = |t: f64, i: usize| {
        let s = t.min(until);
        let direction = u[i] / size;
        let rolled = v[i] - mu * g * until * direction;
        v[i] * s - 0.5 * mu * g * s * s * direction + rolled * (t - s)
    };
    let model = sphere(0.0, mu, r, v, w);
    for scheme in SCHEMES {
        let exact = |t: f64| vec![place(t, 0), place(t, 1), r];
        let order = order(&model, scheme, 0.01, 0.6, &exact);
        assert!(order > 0.8, "{scheme}: order {order}");
        let run = run(&model, scheme, 1e-3, 0.6);
        // Rolls from then on, without slip, and the slip did not turn.
        let v = &run.last().v;
        assert!((v[0] - r * v[4]).abs() < 1e-12 && (v[1] + r * v[3]).abs() < 1e-12, "{scheme}: {v:?}");
        assert_eq!(v[5], 5.0, "{scheme}: it goes on spinning about its normal");
        let motion = &run.trajectory;
        let slips = (0..motion.len()).map(|k| (motion.t[k], motion.v(k, saltus::Side::Right)));
        let stops = slips.filter(|(_, v)| f64::hypot(v[0] - r * v[4], v[1] + r * v[3]) > 1e-9).map(|(t, _)| t);
        let last = stops.fold(0.0, f64::max);
        assert!((last - until).abs() < 2.5e-3, "{scheme}: slips until {last}, not {until}");
        assert!(run.ledger.balance.relative() < 1e-2, "{scheme}: {:?}", run.ledger.balance);
    }
}

#[test]
fn a_bouncing_sphere_sticks_or_slides_in_the_impact() {
    let (e, mu, r) = (0.6, 0.15, 0.1);
    // From a height of 0.2 above the table: u_N = −√(2 g 0.2).
    let normal = (2.0 * 9.81 * 0.2_f64).sqrt();
    let limit = 3.5 * mu * (1.0 + e) * normal;
    for scheme in SCHEMES {
        for (share, sticks) in [(0.95, true), (1.05, false)] {
            let u = [0.6 * share * limit, 0.8 * share * limit];
            let model = sphere(e, mu, 0.3, [u[0], u[1], 0.0], [0.0; 3]);
            let run = run(&model, scheme, 1e-4, 0.3);
            let impact = run.trajectory.impacts.get(0);
            let slip = |v: &[f64]| [v[0] - r * v[4], v[1] + r * v[3]];
            let after = slip(impact.v_after);
            let size = f64::hypot(after[0], after[1]);
            assert_eq!(size < 1e-3 * limit, sticks, "{scheme}: {after:?}");
            let expected = match sticks {
                true => [u[0] * 5.0 / 7.0, u[1] * 5.0 / 7.0],
                false => [0.6, 0.8].map(|d| d * (share * limit - mu * (1.0 + e) * normal)),
            };
            for i in 0..2 {
                assert!(
                    (impact.v_after[i] - expected[i]).abs() < 2e-3 * limit,
                    "{scheme}: {:?} {expected:?}",
                    impact.v_after
                );
            }
            // Impulses of the two slips, within the disk.
            let (p, t) = (impact.impulses[0], impact.others.iter().map(|o| o.1 * o.1).sum::<f64>().sqrt());
            assert!(t <= mu * p * (1.0 + 1e-12) && impact.others.len() == 2, "{scheme}: {p} {t}");
        }
    }
}

#[test]
fn restitution_of_the_approach_speed() {
    let ball = Builder::new("a ball")
        .coordinate("y", 1, 0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution("0.9*exp(-speed/20)")
        .constraint("floor", "y")
        .build()
        .expect("a model");
    for scheme in SCHEMES {
        let run = run(&ball, scheme, 1e-4, 2.0);
        let mut speed = (2.0 * 9.81_f64).sqrt();
        for impact in run.trajectory.impacts.iter().take(3) {
            assert!((impact.v_before[0] + speed).abs() < 5e-3, "{scheme}: {} {speed}", impact.v_before[0]);
            speed *= 0.9 * (-speed / 20.0).exp();
            assert!((impact.v_after[0] - speed).abs() < 5e-3, "{scheme}: {} {speed}", impact.v_after[0]);
        }
        assert!(run.trajectory.impacts.len() >= 3);
    }
}

#[test]
fn a_block_on_an_incline_that_tilts_slides_at_the_static_coefficient() {
    // α = t/2; it slides at tan α = 0.5, then with μ = 0.3.
    let block = Builder::new("a block on an incline")
        .coordinate("s", 0, 0)
        .coordinate("n", 0, 0)
        .kinetic("(s'^2 + n'^2)/2")
        .force("s", "-9.81*sin(t/2)")
        .force("n", "-9.81*cos(t/2)")
        .restitution(0)
        .constraint("incline", "n")
        .friction(0.3, &["s'"])
        .static_friction(0.5)
        .build()
        .expect("a model");
    let starts = 2.0 * 0.5_f64.atan();
    for scheme in SCHEMES {
        let h = 1e-3;
        let run = run(&block, scheme, h, 1.2);
        let motion = &run.trajectory;
        let still = (0..motion.len()).rev().find(|&k| motion.v(k, saltus::Side::Right)[0] == 0.0);
        let t = motion.t[still.unwrap_or(0)];
        assert!((t - starts).abs() <= 3.0 * h, "{scheme}: {t} {starts}");
        // s'' = −9.81 (sin α − 0.3 cos α).
        let (a, b) = (starts / 2.0, 1.2 / 2.0_f64);
        let v = 2.0 * 9.81 * (b.cos() - a.cos() + 0.3 * (b.sin() - a.sin()));
        assert!((run.last().v[0] - v).abs() < 5e-3, "{scheme}: {} {v}", run.last().v[0]);
    }
}

#[test]
fn a_belt_works() {
    // Mass 1, stiffness 4, belt of speed 0.5 with limit 1: it sticks until x = 1/4, then slides back: from x = 1/4, v = 1/2 about 1/4.
    let belt = Builder::new("a mass on a belt")
        .coordinate("x", 0, 0.5)
        .kinetic("x'^2/2")
        .potential("4*x^2/2")
        .slider("belt", "x' - 0.5", 1, None)
        .build()
        .expect("a model");
    // With one coefficient the motion after it sticks is x = 1/4 + (v/ω) sin ω(t − 1/2): it never sticks again.
    let exact = |t: f64| vec![if t < 0.5 { 0.5 * t } else { 0.25 + 0.25 * (2.0 * (t - 0.5)).sin() }];
    for scheme in SCHEMES {
        let run = run(&belt, scheme, 1e-3, 3.0);
        let off = error(&run, &exact);
        assert!(off < 2e-3, "{scheme}: {off}");
        let balance = &run.ledger.balance;
        // The belt does 1·0.5·t, of which the heat is 1·∫(0.5 − x').
        assert!(
            balance.relative() < 1e-2 && balance.friction > 0.0 && balance.wall_work > 0.5,
            "{scheme}: {balance:?}"
        );
    }
}

/// The θ scheme with Newton's restitution and Coulomb's friction, as other codes have it (Siconos: W_N = U_N⁺ + e U_N⁻, W_T = U_T⁺, the
/// contact active where q + γhv is below zero), written out for one particle: step by step the same numbers.
#[test]
fn moreau_jean_is_the_theta_scheme_of_other_codes() {
    let (h, e, mu, g, m) = (1e-3, 0.7, 0.25, 9.81, 1.7);
    for theta in [0.5, 0.75, 1.0] {
        // Plane and space: a particle with a spring along x, which makes the force implicit.
        let k = 40.0;
        let model = Builder::new("a particle")
            .coordinate("x", 0, 2)
            .coordinate("w", 0, -1.5)
            .coordinate("y", 0.1, 0)
            .kinetic("1.7*(x'^2 + w'^2 + y'^2)/2")
            .potential("1.7*9.81*y + 40*x^2/2")
            .restitution(e)
            .constraint("floor", "y")
            .friction(mu, &["x'", "w'"])
            .build()
            .expect("a model");
        let options = Options::steps("moreau-jean", h).until(1.5).setting("theta", theta);
        let run = model.problem().expect("a problem").run(&options).expect("a run");
        let (mut q, mut v) = ([0.0, 0.0, 0.1], [2.0, -1.5, 0.0]);
        for n in 1..=1500 {
            // (M + h²θ²K) v⁺ = …
            let stiff = [m + h * h * theta * theta * k, m, m];
            let force = -k * (q[0] + h * theta * (1.0 - theta) * v[0]);
            let mut free = [m * v[0] + h * force, m * v[1], m * (v[2] - h * g)];
            (0..3).for_each(|i| free[i] /= stiff[i]);
            let mut next = free;
            if q[2] + 0.5 * h * v[2] <= 0.0 {
                let p = (-m * (free[2] + e * v[2])).max(0.0);
                next[2] += p / m;
                // The tangents have two masses: fixed point iteration on the direction, P = Proj(P − ρ U).
                let mut t = [0.0; 2];
                for _ in 0..20_000 {
                    let mut aim = [0.0; 2];
                    (0..2).for_each(|i| aim[i] = t[i] - 0.9 * m * (free[i] + t[i] / stiff[i]));
                    let size = f64::hypot(aim[0], aim[1]);
                    let share = if size > mu * p { mu * p / size } else { 1.0 };
                    t = aim.map(|a| share * a);
                }
                (0..2).for_each(|i| next[i] += t[i] / stiff[i]);
            }
            (0..3).for_each(|i| q[i] += h * (theta * next[i] + (1.0 - theta) * v[i]));
            v = next;
            let at = run.trajectory.q(n);
            // Nodes of impacts are stored with both velocities, all others once: instants are those of the steps.
            for i in 0..3 {
                assert!((at[i] - q[i]).abs() < 1e-12, "θ = {theta}, step {n}: {at:?} {q:?}");
            }
            for (x, y) in run.trajectory.v(n, saltus::Side::Right).iter().zip(v) {
                assert!((x - y).abs() < 1e-11, "θ = {theta}, step {n}: {x} {y}");
            }
        }
    }
}

/// A rod that hits the floor obliquely: with e > 0 and friction Newton's restitution creates energy for some angles and slips (as in Kane's
/// double pendulum). Here it is reduced then, and only then.
#[test]
fn restitution_with_friction_creates_no_energy() {
    let (mut reduced, mut kept) = (0, 0);
    for (n, angle) in (1..15).map(|k| 0.1 * f64::from(k)).enumerate() {
        for slip in [-6.0, -3.0, -1.0, 1.0, 3.0, 6.0] {
            for mu in [0.2, 0.6, 1.0] {
                let rod = Builder::new("a rod")
                    .parameter("a", angle)
                    .coordinate("x", 0, slip)
                    .coordinate("y", "sin(a) + 1e-4", -2)
                    .coordinate("th", "a", 0)
                    .kinetic("(x'^2 + y'^2)/2 + th'^2/6")
                    .restitution(0.9)
                    .constraint("floor", "y - sin(th)")
                    .friction(mu, &["x' + sin(th)*th'"])
                    .build()
                    .expect("a model");
                let scheme = SCHEMES[n % 3];
                let run = run(&rod, scheme, 1e-4, 5e-4);
                let energy = |v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2] / 6.0;
                let (before, after) = (0.5 * (slip * slip + 4.0), energy(&run.last().v));
                assert!(after <= before * (1.0 + 1e-12), "angle {angle}, slip {slip}, μ = {mu}: {before} → {after}");
                let normal = run.last().v[1] - run.last().q[2].cos() * run.last().v[2];
                if normal < 1.8 * (1.0 - 1e-3) {
                    reduced += 1;
                    // No more than necessary.
                    assert!(after > before * (1.0 - 1e-3), "angle {angle}, slip {slip}, μ = {mu}: {before} → {after}");
                } else {
                    kept += 1;
                }
            }
        }
    }
    println!("reduced {reduced}, kept {kept}");
    assert!(reduced > 0 && kept > 10 * reduced / 2, "{reduced} {kept}");
}

/// Through impacts with friction: a sphere with spin that bounces, sliding in the first impacts and sticking later.
#[test]
fn first_order_through_impacts_with_friction() {
    let (e, mu, r, g, height) = (0.7, 0.08, 0.1, 9.81, 0.4);
    let (vx, wy) = (1.5, -9.0);
    let exact = |t: f64| {
        let (mut x, mut v, mut w, mut fall) = (0.0, vx, wy, f64::sqrt(2.0 * g * height));
        let first = fall / g;
        if t <= first {
            return vec![v * t, 0.0, r + height - 0.5 * g * t * t];
        }
        x += v * first;
        let mut start = first;
        loop {
            let u = v - r * w;
            // Slip is lost by (7/2) P/m; P_T ≤ μ (1 + e) fall.
            let change = (u.abs() * 2.0 / 7.0).min(mu * (1.0 + e) * fall) * u.signum();
            v -= change;
            w += change / (0.4 * r);
            fall *= e;
            let flight = 2.0 * fall / g;
            let s = t - start;
            if s <= flight {
                return vec![x + v * s, 0.0, r + fall * s - 0.5 * g * s * s];
            }
            x += v * flight;
            start += flight;
        }
    };
    let model = sphere(e, mu, r + height, [vx, 0.0, 0.0], [0.0, wy, 0.0]);
    for scheme in SCHEMES {
        let order = order(&model, scheme, 4e-3, 1.2, &exact);
        assert!((0.8..1.2).contains(&order), "{scheme}: order {order}");
    }
}

/// A rod whose end hops and lands in nearly every step: the heat of these landings, which are no impacts, is in the account.
#[test]
fn landings_rub() {
    let (l, a0) = (0.5, 2.0_f64.atan());
    let rod =
        Builder::new("rod").coordinate("x", 0.0, -3.0).coordinate("y", l * a0.sin(), 0.0).coordinate("a", a0, 0.0);
    let rod = rod.kinetic("(x'^2 + y'^2)/2 + 0.5^2/3*a'^2/2").potential("9.81*y").restitution(0.3);
    let rod = rod.constraint("end", "y - 0.5*sin(a)").friction(1.34, &["x' + 0.5*a'*sin(a)"]);
    let rod = rod.constraint("other end", "y + 0.5*sin(a)").friction(1.34, &["x' - 0.5*a'*sin(a)"]);
    let rod = rod.build().expect("a model");
    for scheme in SCHEMES {
        for h in [4e-4, 1e-4] {
            let run = run(&rod, scheme, h, 1.2);
            assert!(run.audit.landings > 100, "{scheme}: {}", run.audit.landings);
            let residual = run.ledger.balance.relative();
            assert!(residual < 5.0 * h, "{scheme}, h = {h}: {residual}");
        }
    }
}
