//! Derivatives of motions through events, against closed forms and finite differences.

use saltus::model::Builder;
use saltus::motion::Variation;
use saltus::{Options, Problem, Start};

/// Jacobian of the final (q, v) with respect to the initial (q, v) and open parameters, by columns.
fn jacobian(problem: &Problem, start: &Start, end: f64) -> Vec<Vec<f64>> {
    let (d, open) = (problem.dimension(), problem.model().open.len());
    let mut seed = Variation::of_state(d, open);
    for p in 0..open {
        let k = seed.push_zero();
        seed.column_mut(k)[2 * d + p] = 1.0;
    }
    let options = Options::events(end).tolerance(1e-14).vary(seed);
    let run = problem.run_from(start, &options).expect("starts").ok().expect("runs");
    let all = run.variation.expect("asked for").expect("derivatives");
    (0..all.len()).map(|k| all.column(k)[..2 * d].to_vec()).collect()
}

fn state(problem: &Problem, start: &Start, end: f64) -> Vec<f64> {
    let run = problem.run_from(start, &Options::events(end).tolerance(1e-14)).expect("starts").ok().expect("runs");
    let last = run.last();
    last.q.iter().chain(&last.v).copied().collect()
}

/// The same by central differences of runs: good to about eight digits.
fn differences(problem: &Problem, start: &Start, end: f64, h: f64) -> Vec<Vec<f64>> {
    let d = problem.dimension();
    let open = start.parameters.len();
    let moved = |k: usize, by: f64| {
        let mut start = start.clone();
        match k {
            k if k < d => start.q[k] += by,
            k if k < 2 * d => start.v[k - d] += by,
            k => start.parameters[k - 2 * d] += by,
        }
        state(problem, &start, end)
    };
    let column = |k: usize| {
        let [a, b, c, e] = [moved(k, h), moved(k, -h), moved(k, 2.0 * h), moved(k, -2.0 * h)];
        (0..2 * d).map(|i| (8.0 * (a[i] - b[i]) - (c[i] - e[i])) / (12.0 * h)).collect()
    };
    (0..2 * d + open).map(column).collect()
}

fn agree(name: &str, found: &[Vec<f64>], expected: &[Vec<f64>], to: f64) {
    let size = expected.iter().flatten().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!(
                (a - b).abs() <= to * size,
                "{name}: entry {i} of column {k} is {a}, not {b}\n{found:?}\n{expected:?}"
            );
        }
    }
}

#[test]
fn forced_oscillator_with_a_stop() {
    let model = Builder::new("oscillator")
        .parameter("w", 0.9)
        .parameter("e", 0.7)
        .parameter("s", 0.3)
        .coordinate("x", 0.0, 0.5)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", "cos(w*t) - 0.1*x'")
        .restitution("e")
        .constraint("stop", "s - x")
        .build()
        .expect("model");
    let problem = model.open(&["w", "e", "s"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 12.0);
    agree("oscillator", &found, &differences(&problem, &start, 12.0, 1e-4), 1e-7);
}

#[test]
fn a_ball_on_a_moving_table_comes_to_rest_on_it() {
    let model = Builder::new("ball")
        .parameter("a", 0.02)
        .parameter("e", 0.5)
        .coordinate("y", 0.5, 0.0)
        .coordinate("x", 0.0, 1.0)
        .kinetic("y'^2/2 + x'^2*(1 + 0.3*y)/2 + 0.2*x'*y'")
        .potential("9.81*y + x^2")
        .restitution("e")
        .constraint("floor", "y - a*sin(3*t) + 0.1*x^2")
        .build()
        .expect("model");
    let problem = model.open(&["a", "e"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 2.0);
    agree("ball", &found, &differences(&problem, &start, 2.0, 1e-4), 1e-6);
}

#[test]
fn forces_that_jump_and_restitution_that_depends_on_the_speed() {
    let model = Builder::new("switches")
        .parameter("k", 2.0)
        .parameter("e", 0.7)
        .coordinate("x", 0.2, 1.3)
        .kinetic("x'^2*(1+0.2*cos(x))/2")
        .force("x", "sin(1.7*t) - k*max(x - 0.4, 0) - 0.3*sign(x + 0.1*x') - x*if(t > 2.2 + 0.1*k, 1.5, 1)")
        .restitution("e*exp(-speed/5)")
        .constraint("stop", "x + 0.5")
        .build()
        .expect("model");
    let problem = model.open(&["k", "e"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 9.0);
    agree("switches", &found, &differences(&problem, &start, 9.0, 1e-4), 1e-6);
}

#[test]
fn two_bodies_hit_two_walls_at_one_instant() {
    let model = Builder::new("two")
        .parameter("e", 0.6)
        .coordinate("x", 0.0, 1.0)
        .coordinate("y", 0.0, 2.0)
        .kinetic("x'^2/2 + y'^2/2")
        .force("x", "-0.3*y'^2 + 0.1*sin(t)")
        .force("y", "-2.4*x'^2 + 0.2*sin(t)")
        .restitution("e")
        .constraint("a", "1 - x")
        .constraint("b", "2 - y")
        .build()
        .expect("model");
    let problem = model.open(&["e"]).expect("open").problem().expect("problem");
    let seed = Variation::of_state(2, 1);
    let run = problem.run(&Options::events(2.0).vary(seed.clone())).expect("starts").ok().expect("runs");
    // The forces depend on both velocities: which wall comes first matters to the derivative.
    let obstacle = run.variation.expect("asked for").expect_err("no derivative");
    assert!(obstacle.what.contains("order matters"), "{obstacle}");
    // Without that coupling it does not.
    let model = Builder::new("two")
        .parameter("e", 0.6)
        .coordinate("x", 0.0, 1.0)
        .coordinate("y", 0.0, 2.0)
        .kinetic("x'^2/2 + y'^2/2")
        .force("x", "-0.3*x + 0.1*sin(t) + 0.2*y")
        .force("y", "-0.3*y + 0.2*sin(t) + 0.8*x")
        .restitution("e")
        .constraint("a", "1 - x")
        .constraint("b", "2 - y")
        .build()
        .expect("model");
    let problem = model.open(&["e"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 4.0);
    // (Which comes first changes the second derivatives: differences are of first order here.)
    agree("two", &found, &differences(&problem, &start, 4.0, 1e-6), 1e-6);
}

#[test]
fn a_landing_without_rebound_and_a_release() {
    let model = Builder::new("table")
        .parameter("a", 0.5)
        .coordinate("y", 0.3, 0.0)
        .coordinate("x", 0.1, 0.4)
        .kinetic("y'^2/2 + x'^2/2")
        .potential("3*y + x^2/2 + 0.2*x*y")
        .restitution(0.0)
        .constraint("floor", "y - a*sin(2.5*t) + 0.2*x^2")
        .build()
        .expect("model");
    let problem = model.open(&["a"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 3.0);
    agree("landing", &found, &differences(&problem, &start, 3.0, 1e-4), 1e-6);
}

#[test]
fn a_pendulum_of_joints_hits_a_wall() {
    let model = Builder::new("pendulum")
        .parameter("g", 9.0)
        .coordinate("x", 0.6, 0.0)
        .coordinate("y", -0.8, 0.0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("g*y")
        .joint("rod", &["x^2 + y^2 - 1"])
        .restitution(0.8)
        .constraint("wall", "x + 0.2")
        .build()
        .expect("model");
    let problem = model.open(&["g"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 2.0);
    // Of the perturbations of the start only the one along the circle is one; the columns are those of its projections.
    let (h, g) = (1e-4, 9.0);
    let at = |angle: f64, g: f64| {
        let start = Start::new(0.0, vec![angle.cos(), angle.sin()], vec![0.0; 2]).with_parameters(vec![g]);
        state(&problem, &start, 2.0)
    };
    let angle = (-0.8_f64).atan2(0.6);
    let slope = |f: &dyn Fn(f64) -> Vec<f64>| -> Vec<f64> {
        let [a, b, c, e] = [f(h), f(-h), f(2.0 * h), f(-2.0 * h)];
        (0..4).map(|i| (8.0 * (a[i] - b[i]) - (c[i] - e[i])) / (12.0 * h)).collect()
    };
    let along = slope(&|by| at(angle + by, g));
    let tangent: Vec<Vec<f64>> = [0.8, 0.6].iter().map(|share| along.iter().map(|x| share * x).collect()).collect();
    agree("pendulum", &found[..2], &tangent, 1e-7);
    agree("gravity", &found[4..], &[slope(&|by| at(angle, g + by))], 1e-7);
}

#[test]
fn dry_friction_and_a_state() {
    let model = Builder::new("slider")
        .parameter("f", 0.25)
        .coordinate("x", 0.0, 1.0)
        .state("z", 0.2, "x - z")
        .kinetic("x'^2/2")
        .force("x", "-x + 1.5*cos(0.7*t) + 0.3*z")
        .slider("brake", "x'", "f", None)
        .restitution(0.7)
        .constraint("stop", "1.1 - x + 0.1*z")
        .build()
        .expect("model");
    let problem = model.open(&["f"]).expect("open").problem().expect("problem");
    let start = problem.start();
    // (Entry 1 is the integral of the state, which nothing depends on.)
    let seen = |all: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        let columns = all.into_iter().enumerate().filter(|(k, _)| *k != 1);
        columns.map(|(_, c)| vec![c[0], c[2], c[3]]).collect()
    };
    let found = seen(jacobian(&problem, &start, 15.0));
    agree("slider", &found, &seen(differences(&problem, &start, 15.0, 1e-4)), 1e-6);
}

#[test]
fn volumes_shrink_by_the_damping_and_by_the_square_of_the_restitution() {
    let (c, e, end) = (0.13_f64, 0.7_f64, 25.0);
    let problem = Builder::new("oscillator")
        .coordinate("x", 0.0, 0.5)
        .kinetic("x'^2/2")
        .potential("x^2/2 + x^4/8")
        .force("x", format!("1.3*cos(0.9*t) - {c}*x'"))
        .restitution(e)
        .constraint("stop", "0.3 + 0.1*sin(t) - x")
        .build()
        .expect("model")
        .problem()
        .expect("problem");
    let options = Options::events(end).tolerance(1e-13).vary(Variation::of_state(1, 0));
    let run = problem.run(&options).expect("starts").ok().expect("runs");
    let all = run.variation.as_ref().expect("asked for").as_ref().expect("derivatives");
    let determinant = all.column(0)[0] * all.column(1)[1] - all.column(0)[1] * all.column(1)[0];
    let impacts = run.trajectory.impacts.len();
    assert!(impacts > 4);
    let expected = e.powi(2 * impacts as i32) * (-c * end).exp();
    assert!((determinant / expected - 1.0).abs() < 1e-8, "{determinant} {expected}");
}

#[test]
fn a_body_hits_a_floor_with_friction() {
    // A rod that lands on one end, slides or sticks in the impacts, and a floor that moves.
    for (mu, spin) in [(0.1, 0.5), (0.9, 0.3)] {
        let model = Builder::new("rod")
            .parameter("mu", mu)
            .parameter("e", 0.5)
            .coordinate("x", 0.0, 1.2)
            .coordinate("y", 1.1, 0.0)
            .coordinate("a", 0.6, spin)
            .kinetic("(x'^2 + y'^2)/2 + a'^2/24")
            .potential("9.81*y")
            .restitution("e")
            .constraint("floor", "y - 0.5*sin(a) - 0.02*sin(5*t)")
            .friction("mu", &["x' + 0.5*sin(a)*a'"])
            .build()
            .expect("model");
        let problem = model.open(&["mu", "e"]).expect("open").problem().expect("problem");
        let start = problem.start();
        let found = jacobian(&problem, &start, 0.65);
        agree("rod", &found, &differences(&problem, &start, 0.65, 1e-5), 1e-6);
    }
}

#[test]
fn friction_breaks_loose_with_a_coefficient_that_jumps() {
    let model = Builder::new("block")
        .parameter("k", 1.0)
        .parameter("s", 0.4)
        .coordinate("x", 0.0, 0.3)
        .kinetic("x'^2/2")
        .force("x", "-k*(x - 0.3*t) + 0.05*x^2")
        .slider("ground", "x'", "0.2 + 0.01*x", Some("s*(1 + 0.1*x)".into()))
        .build()
        .expect("model");
    let problem = model.open(&["k", "s"]).expect("open").problem().expect("problem");
    let start = problem.start();
    let found = jacobian(&problem, &start, 12.0);
    agree("block", &found, &differences(&problem, &start, 12.0, 1e-5), 1e-6);
}

#[test]
fn what_has_no_derivative_says_so() {
    let graze = Builder::new("graze")
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .force("x", "cos(t)")
        .restitution(0.5)
        .constraint("stop", "2 - x")
        .build()
        .expect("model")
        .problem()
        .expect("problem");
    // x = 1 − cos t touches 2 at t = π, without speed.
    let run = graze.run(&Options::events(4.0).vary(Variation::of_state(1, 0))).expect("starts").ok().expect("runs");
    let obstacle = run.variation.expect("asked for").expect_err("a graze has no derivative");
    assert!(obstacle.what.contains("graz"), "{obstacle}");
    let stepped = Options::steps("mabrouk", 1e-3).until(1.0).vary(Variation::of_state(1, 0));
    assert!(graze.run(&stepped).expect_err("refused").to_string().contains("derivatives"));
    let wrong = Options::events(1.0).vary(Variation::of_state(2, 0));
    assert!(graze.run(&wrong).expect_err("refused").to_string().contains("perturbations"));
    let cradle = Builder::new("three balls")
        .coordinate("a", 0.0, 1.0)
        .coordinate("b", 1.0, 0.0)
        .coordinate("c", 1.1, 0.0)
        .kinetic("(a'^2 + b'^2 + c'^2)/2")
        .restitution(1.0)
        .constraint("ab", "b - a - 0.1")
        .constraint("bc", "c - b - 0.1")
        .build()
        .expect("model")
        .problem()
        .expect("problem");
    let run = cradle.run(&Options::events(2.0).vary(Variation::of_state(3, 0))).expect("starts").ok().expect("runs");
    let obstacle = run.variation.expect("asked for").expect_err("the order matters");
    assert!(obstacle.t > 0.89 && obstacle.t < 0.91, "{obstacle}");
}
