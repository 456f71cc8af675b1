//! Motions with known answers that are about one thing each.

mod common;

use common::{last, problem};
use saltus::model::Builder;
use saltus::scheme::{SCHEMES, Settings};
use saltus::{Options, Problem, Run, Status, Table};

fn done(problem: &Problem, step: f64, end: f64) -> Run {
    problem.run(&stepping(step, end)).expect("runs")
}

/// A run with Paoli–Schatzman.
fn stepping(step: f64, end: f64) -> Options {
    Options::events(end).step(step).scheme("paoli-schatzman")
}

fn forced(forcing: &str, h: f64) -> Options {
    stepping(h, 1.0).setting("forcing", forcing)
}

#[test]
fn an_impact_within_the_first_step_keeps_its_speed() {
    for e in [0.0, 0.5, 1.0] {
        for start in [2e-4, 5e-4, 9.9e-4] {
            let ball = Builder::new("ball")
                .coordinate("y", start.to_string(), "-1")
                .kinetic("y'^2/2")
                .restitution(e.to_string())
                .constraint("floor", "y");
            let run = done(&problem(ball), 1e-3, 1.0);
            assert!((last(&run).1[0] - e).abs() < 1e-9, "e = {e}, from {start}: {:?}", last(&run));
            assert_eq!(run.trajectory.impacts.len(), 1);
            assert!((run.trajectory.impacts.get(0).t - start).abs() < 1e-9);
        }
    }
}

#[test]
fn rest_in_contact_stays_at_rest() {
    for e in [0.0, 0.5, 1.0] {
        let ball = Builder::new("ball")
            .coordinate("y", "0", "0")
            .kinetic("y'^2/2")
            .potential("9.81*y")
            .restitution(e.to_string())
            .constraint("floor", "y");
        let run = done(&problem(ball), 1e-3, 1.0);
        assert!(run.trajectory.positions().iter().all(|&y| y == 0.0));
        assert!(run.trajectory.impacts.is_empty());
        let contact = &run.trajectory.contacts[0];
        assert!((contact.impulse - 9.81).abs() < 0.02, "it carries the weight: {contact:?}");
    }
}

#[test]
fn every_scheme_tells_the_same_story() {
    // Thrown up from the floor, down again and to rest: impacts, contacts, total impulse, in each.
    let ball = problem(
        Builder::new("ball")
            .coordinate("y", "0", "1")
            .kinetic("y'^2/2")
            .potential("9.81*y")
            .restitution("0")
            .constraint("floor", "y"),
    );
    let (fall, end) = (2.0 / 9.81, 1.0);
    for scheme in SCHEMES {
        let mut options = Options::with(*scheme, end).step(1e-5);
        options.settings = Settings::new().with("stiffness", 1e6).among(scheme.settings);
        let run = ball.run(&options).expect("runs");
        let name = scheme.name;
        assert_eq!(run.trajectory.impacts.len(), 1, "{name}");
        let impact = run.trajectory.impacts.get(0);
        assert!((impact.t - fall).abs() < 1e-3 && (impact.v_before[0] + 1.0).abs() < 1e-2, "{name}: {impact:?}");
        assert!(impact.v_after[0].abs() < 0.05 && impact.q[0].abs() < 1e-3, "{name}: {impact:?}");
        let contact = run.trajectory.contacts.last().unwrap_or_else(|| panic!("{name}: it rests"));
        assert!((contact.start - fall).abs() < 0.02 && contact.end >= end - 1e-9, "{name}: {contact:?}");
        // What the floor gave in all: the momentum lost and the weight carried.
        assert!((run.audit.impulses[0] - (9.81 * end - 1.0)).abs() < 1e-3, "{name}: {:?}", run.audit.impulses);
        assert!(last(&run).1[0].abs() < 1e-6, "{name} at rest: {:?}", last(&run));
    }
}

#[test]
fn strong_damping_is_no_danger() {
    for c in [1e3, 2e3, 1e6] {
        let mass = Builder::new("damped").coordinate("x", "0", "1").kinetic("x'^2/2").force("x", format!("-{c}*x'"));
        let run = done(&problem(mass), 1e-3, 1.0);
        let (x, exact) = (last(&run).0[0], 1.0 / c);
        assert!((x - exact).abs() < 0.5 * exact.max(1e-4), "c = {c}: {x} not {exact}");
    }
}

#[test]
fn smooth_motion_is_second_order() {
    // A damped, forced oscillator: x'' + 0.2 x' + x = 0, exactly solvable.
    let exact = |t: f64| {
        let w = 0.99f64.sqrt();
        (-0.1 * t).exp() * ((w * t).cos() + 0.1 / w * (w * t).sin())
    };
    let oscillator = problem(
        Builder::new("oscillator").coordinate("x", "1", "0").kinetic("x'^2/2").potential("x^2/2").force("x", "-0.2*x'"),
    );
    let errors = [1e-1, 1e-2, 1e-3].map(|h| {
        let run = done(&oscillator, h, 10.0);
        let t = &run.trajectory;
        (0..t.len()).map(|k| (t.q(k)[0] - exact(t.t[k])).abs()).fold(0.0, f64::max)
    });
    let order = (errors[0] / errors[2]).log10() / 2.0;
    assert!((order - 2.0).abs() < 0.1, "{errors:?} {order}");
}

#[test]
fn velocity_dependent_forces_that_are_not_symmetric_or_linear() {
    // A charge in a magnetic field moves on a circle; quadratic drag has x = ln(1 + t).
    let charge = Builder::new("charge")
        .coordinate("x", "0", "1")
        .coordinate("y", "0", "0")
        .coordinate("z", "0", "1")
        .kinetic("(x'^2 + y'^2 + z'^2)/2")
        .force("x", "2*y'")
        .force("y", "-2*x'")
        .force("z", "-z'*abs(z')");
    let run = done(&problem(charge), 1e-3, 3.0);
    let (q, v) = last(&run);
    assert!((q[0] - 6f64.sin() / 2.0).abs() < 1e-5 && (q[1] - (6f64.cos() - 1.0) / 2.0).abs() < 1e-5, "{q:?}");
    assert!((q[2] - 4f64.ln()).abs() < 1e-6 && (v[2] - 0.25).abs() < 1e-6);
}

#[test]
fn damping_and_contact_together() {
    // A block pressed against a stop by a constant force, with linear damping, e = 0: it stops dead and stays.
    let block = Builder::new("block")
        .coordinate("x", "-1", "0")
        .kinetic("x'^2")
        .force("x", "3 - 0.5*x'")
        .restitution("0")
        .constraint("stop", "-x");
    let run = done(&problem(block), 1e-4, 4.0);
    // 2x'' = 3 − x'/2: x' = 6(1 − e^(−t/4)), x = −1 + 6t − 24(1 − e^(−t/4)).
    let x = |t: f64| -1.0 + 6.0 * t - 24.0 * (1.0 - (-t / 4.0).exp());
    let impact = run.trajectory.impacts.get(0);
    assert!(x(impact.t).abs() < 1e-6, "{impact:?}");
    let speed = 6.0 * (1.0 - (-impact.t / 4.0).exp());
    assert!((impact.impulses[0] - 2.0 * speed).abs() < 1e-3);
    let contact = run.trajectory.contacts.last().expect("pressed");
    assert!((contact.impulse - 2.0 * speed - 3.0 * (4.0 - impact.t)).abs() < 2e-3, "{contact:?}");
    assert_eq!(last(&run).1[0], 0.0);
}

#[test]
fn impulses_are_the_jump_of_momentum() {
    // A falling rod whose mass matrix is full and depends on its angle: M(v⁺ − v⁻) = Σ P ∇f.
    let rod = problem(
        Builder::new("rod")
            .coordinate("s", "0.6", "0")
            .coordinate("a", "0.7", "0")
            .kinetic("(s' + cos(a)*a'/2)^2/2 + a'^2/24")
            .potential("9.81*(s + sin(a)/2)")
            .restitution("0.6")
            .constraint("one", "s")
            .constraint("two", "s + sin(a)"),
    );
    let run = done(&rod, 1e-4, 1.0);
    assert!(run.trajectory.impacts.len() > 4);
    let (mut dynamics, mut gaps) = (rod.dynamics(), rod.gaps());
    let mut metric = dynamics.metric();
    for impact in run.trajectory.impacts.iter() {
        dynamics.evaluate(impact.t, impact.q, impact.v_before);
        gaps.kinematics(impact.t, impact.q, impact.v_before);
        metric.set(&dynamics.mass).expect("positive");
        let jump: Vec<f64> = impact.v_after.iter().zip(impact.v_before).map(|(a, b)| a - b).collect();
        let mut momentum = vec![0.0; 2];
        metric.apply(&jump, &mut momentum);
        for (&a, p) in impact.constraints.iter().zip(impact.impulses) {
            gaps.gradients.add_to(a, -p, &mut momentum);
        }
        let scale = impact.impulses.iter().sum::<f64>();
        assert!(momentum.iter().all(|m| m.abs() < 2e-2 * scale), "{impact:?} leaves {momentum:?}");
    }
}

#[test]
fn an_acceleration_away_from_the_wall_does_not_hide_impacts() {
    // A spring pulls the mass away from the wall it touches: sixteen impacts in ten seconds, at any resolved step.
    let mass = problem(
        Builder::new("mass")
            .coordinate("x", "0.51", "0")
            .kinetic("x'^2/2")
            .potential("50*x^2")
            .restitution("1")
            .constraint("wall", "x + 0.5"),
    );
    let counts = [2e-3, 2e-4].map(|h| done(&mass, h, 10.0));
    for run in &counts {
        assert!((15..=17).contains(&run.trajectory.impacts.len()), "{}", run.trajectory.impacts.len());
        assert_eq!(run.audit.landings, 0);
    }
}

#[test]
fn the_energy_of_moving_frames_is_the_conserved_one() {
    for (kinetic, v) in
        [("(x'^2 + y'^2)/2 + 3*x*y'", "0"), ("(x'^2 + y'^2)/2 + (x^2 + y^2)*2 + 2*(x*y' - y*x')", "0.3")]
    {
        let frame = Builder::new("frame").coordinate("x", "0.2", "1").coordinate("y", "0.1", v).kinetic(kinetic);
        let run = done(&problem(frame), 1e-4, 1.0);
        let (start, end) = (run.audit.energy_start, run.audit.energy_end);
        assert!((start - end).abs() < 1e-6 * start.abs(), "{kinetic}: {start} → {end}");
    }
}

#[test]
fn averaged_forcing_sees_a_load_that_falls_between_the_instants() {
    // A short push that no instant tₙ sees: impulse 1 in all, spread over a tenth of a step.
    let push = Table::new(
        "push",
        vec![0.0, 0.5032, 0.5033, 0.5042, 0.5043, 2.0],
        vec![0.0, 0.0, 1e3, 1e3, 0.0, 0.0],
        saltus::Outside::Zero,
    );
    let mass = problem(
        Builder::new("pushed")
            .input("push", push.expect("a table"))
            .coordinate("x", "0", "0")
            .kinetic("x'^2/2")
            .force("x", "push(t)"),
    );
    let speed = |forcing, h| {
        let run = mass.run(&forced(forcing, h)).expect("runs");
        last(&run).1[0]
    };
    assert_eq!(speed("centred", 0.01), 0.0);
    let smooth = speed("averaged", 1e-4);
    assert!((smooth - 1.0).abs() < 1e-3, "{smooth}");
    // A load that jumps: the mean force gives the exact velocity change over whole steps.
    let step =
        problem(Builder::new("step").coordinate("x", "0", "0").kinetic("x'^2/2").force("x", "if(t < 0.5, 0, 2)"));
    for h in [1e-2, 1e-3] {
        let run = step.run(&forced("averaged", h)).expect("runs");
        let (q, v) = last(&run);
        assert!((q[0] - 0.25).abs() < 1.1 * h && (v[0] - 1.0).abs() < 2.1 * h, "h = {h}: {q:?} {v:?}");
    }
}

#[test]
fn restitutions_of_their_own_are_kept_by_their_constraints() {
    // Constraints written in an order that interleaves the restitutions: each wall answers with its own.
    let mut box_ =
        Builder::new("box").coordinate("x", "0.5", "1").coordinate("y", "0.5", "0.7").kinetic("(x'^2 + y'^2)/2");
    for (name, gap, e) in
        [("left", "x", "0.9"), ("bottom", "y", "0.5"), ("right", "1 - x", "0.5"), ("top", "1 - y + 0.1*t", "0.9")]
    {
        box_ = box_.constraint_with(name, gap, e);
    }
    let box_ = problem(box_);
    let run = done(&box_, 1e-4, 20.0);
    assert!(run.trajectory.impacts.len() >= 6);
    for impact in run.trajectory.impacts.iter() {
        let [a] = impact.constraints else { continue };
        let (i, wall) = if *a % 2 == 0 { (0, 0.0) } else { (1, if *a == 3 { 0.1 } else { 0.0 }) };
        let e = [0.9, 0.5, 0.5, 0.9][*a];
        assert!((impact.v_after[i] - wall + e * (impact.v_before[i] - wall)).abs() < 1e-9, "{impact:?}");
        assert!((impact.v_after[1 - i] - impact.v_before[1 - i]).abs() < 1e-9);
    }
}

#[test]
fn curved_sets_of_any_size_are_kept_at_any_step() {
    // Four ways to write a bowl of radius R. The gap moves in units in the last place of R, however small the step.
    for radius in [1.0, 2.0, 3.0, 8.0, 25.0] {
        for gap in ["R - hypot(x, y - R)", "R^2 - x^2 - (y - R)^2", "y - x^2/(2*R)", "y - R*(1 - cos(x/R))"] {
            for (e, h) in [("0", 1e-2), ("0", 1e-3), ("0", 2e-4), ("0.5", 1e-3), ("0.5", 2e-4)] {
                let bowl = problem(
                    Builder::new("bowl")
                        .parameter("R", radius.to_string())
                        .coordinate("x", "0.3", "0.5")
                        .coordinate("y", "0.4", "0")
                        .kinetic("(x'^2 + y'^2)/2")
                        .potential("9.81*y")
                        .restitution(e)
                        .constraint("bowl", gap),
                );
                let run = done(&bowl, h, 1.0);
                assert_eq!(run.status, Status::Finished, "{gap}, R = {radius}, e = {e}, h = {h}");
                assert!(e != "0" || run.audit.max_violation < 1e-13 * radius * radius + 1e-13, "{gap} {radius} {h}");
            }
        }
    }
}

#[test]
fn an_impact_during_a_lasting_contact_is_only_the_impact() {
    // A block slides along the floor into a wall: the floor carries the weight before, during and after.
    for (floor, wall) in [("0", "0"), ("0", "0.3"), ("0.5", "0.5")] {
        let block = Builder::new("block")
            .coordinate("x", "-1", "1")
            .coordinate("y", "0", "0")
            .kinetic("(x'^2 + y'^2)/2")
            .potential("9.81*y")
            .constraint_with("floor", "y", floor)
            .constraint_with("wall", "-x", wall);
        let run = done(&problem(block), 1e-2, 2.0);
        assert_eq!(run.trajectory.impacts.len(), 1);
        let (impact, e) = (run.trajectory.impacts.get(0), wall.parse::<f64>().expect("e"));
        assert_eq!(impact.constraints, [1]);
        assert!((impact.v_before[0] - 1.0).abs() < 1e-9 && impact.v_before[1].abs() < 1e-9, "{impact:?}");
        assert!((impact.v_after[0] + e).abs() < 1e-9 && impact.v_after[1].abs() < 1e-9, "{impact:?}");
        assert!((impact.energy_change + 0.5 * (1.0 - e * e)).abs() < 1e-9 && impact.law_residual < 1e-9);
    }
}

#[test]
fn impacts_that_only_happen_to_fall_together_are_told_one_by_one() {
    // Twelve balls that know nothing of each other land 0.3 steps apart.
    let balls = Builder::new("balls")
        .parameter("n", "12")
        .coordinate_family("y", "i = 1..n", "1 + 0.0003*i", "-1")
        .kinetic("sum(i = 1..n, y[i]'^2/2)")
        .restitution("0.5")
        .constraint_family("floor", "i = 1..n", "y[i]");
    let balls = problem(balls);
    for scheme in SCHEMES.iter().filter(|s| s.follows_law && s.restitution.starts_with("any")) {
        let run = balls.run(&Options::with(*scheme, 2.0).step(1e-3)).expect("runs");
        assert_eq!(run.trajectory.impacts.len(), 12, "{}", scheme.name);
        for (k, impact) in run.trajectory.impacts.iter().enumerate() {
            assert_eq!(impact.constraints, [k], "{}", scheme.name);
            assert!((impact.t - 1.0 - 0.0003 * (k + 1) as f64).abs() < 1e-9, "{}: {impact:?}", scheme.name);
            assert!(
                (impact.energy_change + 0.375).abs() < 1e-9 && impact.law_residual < 1e-9,
                "{}: {impact:?}",
                scheme.name
            );
        }
    }
}

#[test]
fn a_jerk_in_a_lasting_contact_is_an_impact() {
    // A mass rests on a table that starts to move upwards at once.
    let mass = Builder::new("jerked")
        .coordinate("y", "0", "0")
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution("0")
        .constraint("table", "y - if(t < 1, 0, 2*(t - 1))");
    let run = done(&problem(mass), 1e-3, 2.0);
    assert_eq!(run.trajectory.impacts.len(), 1);
    let impact = run.trajectory.impacts.get(0);
    assert!((impact.t - 1.0).abs() < 3e-3 && (impact.v_after[0] - 2.0).abs() < 0.05, "{impact:?}");
}

#[test]
fn impacts_within_a_step_of_each_other_are_judged_by_what_comes_out() {
    // Two balls in a row hit a wall 0.3 steps apart with e = 1: this scheme gains energy there, and must say so.
    let pair = Builder::new("pair")
        .coordinate("a", "-2.0003", "1")
        .coordinate("b", "-1", "1")
        .kinetic("a'^2/2 + b'^2/2")
        .restitution("1")
        .constraint("pair", "b - a - 1")
        .constraint("wall", "-b");
    let run = done(&problem(pair), 1e-3, 2.0);
    let gained = run.audit.energy_end - run.audit.energy_start;
    assert!(gained > 0.05, "if this is no longer so, rejoice and change docs/schemes.md: {gained}");
    assert!((run.audit.energy_lost_at_impacts + gained).abs() < 1e-9, "the energy account shows it");
    assert!(run.audit.worst_law_residual > 0.1);
}

#[test]
fn different_restitutions_at_one_impact_follow_the_law_at_velocity_level() {
    // 0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 with e = 0.2 and 0.9, worked out by hand for gaps y ± x/3.
    let corner = problem(
        Builder::new("corner")
            .coordinate("x", "0", "0")
            .coordinate("y", "1", "-1")
            .kinetic("(x'^2 + y'^2)/2")
            .constraint_with("a", "y + x/3", "0.2")
            .constraint_with("b", "y - x/3", "0.9"),
    );
    let velocity = SCHEMES.iter().filter(|s| s.level == "velocity");
    for scheme in velocity {
        let run = corner.run(&Options::with(*scheme, 2.0).step(0.997e-3)).expect("runs");
        let v = last(&run).1;
        let (a, b) = (v[1] + v[0] / 3.0 - 0.2, v[1] - v[0] / 3.0 - 0.9);
        // P = 1/2 (v⁺ − v⁻) resolved along the two gradients.
        let (pa, pb) = (0.5 * (v[1] + 1.0 + 3.0 * v[0]), 0.5 * (v[1] + 1.0 - 3.0 * v[0]));
        assert!(a > -1e-9 && b > -1e-9 && pa > -1e-9 && pb > -1e-9, "{} {v:?}", scheme.name);
        assert!((a * pa).abs() < 1e-9 && (b * pb).abs() < 1e-9, "{} {v:?}", scheme.name);
    }
}

#[test]
fn hard_forces_are_solved_for() {
    // Regularised friction brings a block to rest. With sign() no velocity satisfies the equation when it stops: said so.
    let block = |f: &str| problem(Builder::new("block").coordinate("x", "0", "1").kinetic("x'^2/2").force("x", f));
    let run = done(&block("-3*tanh(x'/1e-4)"), 1e-3, 1.0);
    assert_eq!(run.status, Status::Finished);
    let (q, v) = last(&run);
    assert!((q[0] - 1.0 / 6.0).abs() < 2e-3 && v[0].abs() < 5e-3, "{q:?} {v:?}");
    let Status::Failed(failure) = done(&block("-3*sign(x')"), 1e-3, 1.0).status else { panic!("no solution there") };
    assert!((failure.t - 1.0 / 3.0).abs() < 3e-3 && failure.to_string().contains("[[friction]]"), "{failure}");
    // From rest, where there is no speed to measure convergence by.
    for force in ["cos(t) - x'*abs(x')", "7 - sinh(x')", "-sqrt(abs(x'))*sign(x') + 1"] {
        let body = Builder::new("body").coordinate("x", "0", "0").kinetic("0.7*x'^2/2").force("x", force);
        assert_eq!(done(&problem(body), 1e-2, 1.0).status, Status::Finished, "{force}");
    }
    // A strong magnetic field, far beyond what a fixed-point iteration bears: the speed is kept.
    let charge = Builder::new("charge")
        .coordinate("x", "0", "1")
        .coordinate("y", "0", "0")
        .kinetic("(x'^2 + y'^2)/2")
        .force("x", "300*y'")
        .force("y", "-300*x'");
    let run = done(&problem(charge), 1e-2, 1.0);
    // (Half a turn in a step is not resolved, and the ledger says so.)
    assert!(matches!(run.status, Status::Breached { .. }));
    assert!(last(&run).0.iter().all(|x| x.abs() < 0.1));
}

#[test]
fn a_failure_tells_the_last_state_it_had() {
    let crushed = problem(
        Builder::new("crushed")
            .coordinate("x", "0.5", "0")
            .kinetic("x'^2/2")
            .restitution("0")
            .constraint("left", "x")
            .constraint("right", "1 - t - x"),
    );
    for every in [1, 300] {
        let options = stepping(1e-3, 2.0).every(every);
        let run = crushed.run(&options).expect("starts");
        let Status::Failed(failure) = &run.status else { panic!("{:?}", run.status) };
        assert!((failure.t - 1.0).abs() < 3e-3 && failure.q[0].abs() < 3e-3, "{failure:?}");
        let k = run.trajectory.len() - 1;
        assert_eq!((run.trajectory.t[k], run.trajectory.q(k)), (failure.t, &failure.q[..]));
    }
    // Walls that meet exactly at the end do no harm: only the last velocity is not known.
    let run = done(&crushed, 1e-3, 1.0);
    assert_eq!(run.status, Status::Finished);
    assert!(last(&run).0[0].abs() < 1e-9 && !run.warnings.is_empty(), "{:?}", run.warnings);
}
