//! The event-driven engine where such engines go wrong: each test is a model that some shortcut gets wrong.

mod common;

use common::{last, problem};
use saltus::model::Builder;
use saltus::{Options, PhaseKind, Problem, Run, Side, Status};

/// Runs by events, without any stretch of time stepping.
fn exact(problem: &Problem, end: f64, tol: f64) -> Run {
    let mut options = Options::events(end).step(end / 200.0).scheme("event-driven");
    options.settings.set("tolerance", tol);
    let run = problem.run(&options).expect("starts");
    assert_eq!(run.status, Status::Finished, "{}", problem.model().title);
    assert_eq!(run.timeline.of(PhaseKind::Stepped).count(), 0, "{}", problem.model().title);
    run
}

fn flyer(force: &str, y: &str) -> Builder {
    Builder::new("flyer").coordinate("x", "0", "1").coordinate("y", y, "0").kinetic("(x'^2 + y'^2)/2").force("y", force)
}

#[test]
fn a_patch_of_force_is_met_however_long_the_run() {
    // Between the two places where x² − 2x + 1 + y² = 0.01 on y = 0.0501: the chord of a disc of radius 0.1 around (1, 0).
    let chord = 2.0 * (0.01f64 - 0.0501 * 0.0501).sqrt();
    for end in [5.0, 20.0, 50.0, 100.0] {
        let patch = problem(flyer("if(hypot(x - 1, 0.0501) < 0.1, 1, 0)", "0.0501"));
        let (_, v) = last(&exact(&patch, end, 1e-10));
        assert!((v[1] - chord).abs() < 1e-8, "end {end}: {} not {chord}", v[1]);
    }
}

#[test]
fn a_bump_in_the_floor_is_not_tunnelled() {
    let bump = Builder::new("bump")
        .coordinate("x", "0.75", "1")
        .coordinate("y", "0.5", "0")
        .kinetic("(x'^2 + y'^2)/2")
        .restitution("0.5")
        .constraint("bump", "y - exp(-((x - 1)/0.05)^2)");
    let bump = problem(bump);
    let exact_x = 1.0 - 0.05 * 2f64.ln().sqrt();
    for end in [1.0, 10.0, 50.0, 100.0] {
        let run = exact(&bump, end, 1e-10);
        assert!(!run.trajectory.impacts.is_empty(), "end {end}");
        let first = run.trajectory.impacts.get(0);
        assert!((first.q[0] - exact_x).abs() < 1e-9, "end {end}: {:?}", first.q);
    }
}

#[test]
fn through_the_centre_of_a_disc_and_from_it() {
    for (x, v) in [("0", "5.1"), ("-0.5", "1"), ("0.25", "-3")] {
        let disc = Builder::new("disc")
            .coordinate("x", x, v)
            .coordinate("y", "0", "0")
            .kinetic("(x'^2 + y'^2)/2")
            .restitution("0.5")
            .constraint("rim", "1 - hypot(x, y)");
        let run = exact(&problem(disc), 10.0, 1e-10);
        let (x, v): (f64, f64) = (x.parse().expect("x"), v.parse().expect("v"));
        let wall = v.signum();
        let first = run.trajectory.impacts.get(0);
        assert!((first.t - (wall - x) / v).abs() < 1e-9, "x = {x}, v = {v}: {}", first.t);
        // Across the whole disc with half the speed.
        let second = run.trajectory.impacts.get(1);
        assert!((second.t - first.t - 4.0 / v.abs()).abs() < 1e-8, "{} {}", first.t, second.t);
    }
}

#[test]
fn sparse_series_are_not_taken_for_converged_ones() {
    // From x = 0 the series of x'' = −x³ has one term in four; energy tells.
    for (force, tol) in [("-x^3", 1e-8), ("-x^3", 1e-9), ("-x*abs(x)", 1e-10)] {
        let spring = Builder::new("spring").coordinate("x", "0", "1").kinetic("x'^2/2").force("x", force);
        let (q, v) = last(&exact(&problem(spring), 50.0, tol));
        let potential = if force == "-x^3" { q[0].powi(4) / 4.0 } else { q[0].abs().powi(3) / 3.0 };
        let energy = 0.5 * v[0] * v[0] + potential;
        assert!((energy - 0.5).abs() < 1e3 * tol, "{force}, tol {tol:e}: energy off by {:e}", energy - 0.5);
    }
}

#[test]
fn rest_in_contact_is_rest_whatever_the_mass_and_the_slope() {
    for k in 1..=100 {
        let m = 0.1 * k as f64;
        let ball = Builder::new("at rest")
            .coordinate("y", "0", "0")
            .kinetic(format!("{m:?}*y'^2/2"))
            .potential(format!("9.81*{m:?}*y"))
            .restitution("0.5")
            .constraint("floor", "y");
        let run = exact(&problem(ball), 10.0, 1e-10);
        assert!(run.steps < 200, "m = {m}: {} steps", run.steps);
        let weight = run.trajectory.reactions(5.0, Side::Left, 1).expect("known")[0];
        assert!((weight - 9.81 * m).abs() < 1e-12 * weight);
    }
    for degrees in [1.0, 10.0, 20.0, 30.0, 45.0, 60.0, 85.0_f64] {
        let a = degrees.to_radians();
        let slider = Builder::new("slider")
            .coordinate("x", "0", "0")
            .coordinate("y", "0", "0")
            .kinetic("(x'^2 + y'^2)/2")
            .potential("9.81*y")
            .restitution("0")
            .constraint("slope", format!("x*sin({a:?}) + y*cos({a:?})"));
        let (q, _) = last(&exact(&problem(slider), 2.0, 1e-10));
        let along = 0.5 * 9.81 * a.sin() * 4.0;
        assert!((q[0].hypot(q[1]) - along).abs() < 1e-9 * along, "{degrees}°: {q:?}");
    }
}

#[test]
fn equal_bodies_are_released_and_pressed_together() {
    for k in 1..=30 {
        let w = 0.3 * k as f64;
        let pair = |force: String| {
            problem(
                Builder::new("pair")
                    .coordinate("x", "0", "0")
                    .coordinate("y", "0", "0")
                    .kinetic("(x'^2 + y'^2)/2")
                    .force("x", &force)
                    .force("y", &force)
                    .restitution("0")
                    .constraint("a", "x")
                    .constraint("b", "y"),
            )
        };
        let run = exact(&pair(format!("-cos({w:?}*t)")), 1.5 * std::f64::consts::PI / w, 1e-10);
        let releases: Vec<f64> = run.timeline.of(PhaseKind::Release).map(|p| p.start).collect();
        assert_eq!(releases.len(), 2, "w = {w}: {releases:?}");
        assert!(releases.iter().all(|t| (t - 0.5 * std::f64::consts::PI / w).abs() < 1e-9), "w = {w}: {releases:?}");
        // x'' = −cos wt from rest at the release.
        let (q, _) = last(&run);
        let t = 1.5 * std::f64::consts::PI / w;
        let from = 0.5 * std::f64::consts::PI / w;
        let exact_q = ((w * t).cos() / w + (t - from)) / w;
        assert!((q[0] - exact_q).abs() < 1e-8 * (1.0 + exact_q) && q[0] == q[1], "w = {w}: {q:?} {exact_q}");
        // Pressed by a force that grows from nothing.
        let run = exact(&pair("-t".into()), 2.0, 1e-10);
        assert_eq!(last(&run).0, [0.0, 0.0]);
        let reactions = run.trajectory.reactions(1.5, Side::Left, 2).expect("known");
        assert!(reactions.iter().all(|l| (l - 1.5).abs() < 1e-9), "{reactions:?}");
    }
}

#[test]
fn redundant_contacts_hold_for_as_long_as_asked() {
    for (end, m) in [(10.0, 1.0), (1000.0, 0.1), (10_000.0, 0.7)] {
        let twice = Builder::new("a floor twice")
            .coordinate("y", "0", "0")
            .kinetic(format!("{m:?}*y'^2/2"))
            .potential(format!("9.81*{m:?}*y"))
            .restitution("0")
            .constraint("floor", "y")
            .constraint("again", "2*y");
        let (q, v) = last(&exact(&problem(twice), end, 1e-10));
        assert!(q[0].abs() < 1e-20 && v[0].abs() < 1e-20, "{q:?} {v:?}");
        for start in ["0", "1"] {
            let table = Builder::new("table on four legs")
                .coordinate("z", start, "0")
                .coordinate("a", "0", "0")
                .coordinate("b", "0", "0")
                .kinetic("(z'^2 + a'^2 + b'^2)/2")
                .potential("9.81*z")
                .restitution("0.3")
                .constraint("1", "z + a + b")
                .constraint("2", "z + a - b")
                .constraint("3", "z - a + b")
                .constraint("4", "z - a - b");
            let (q, v) = last(&exact(&problem(table), end, 1e-10));
            assert!(q.iter().chain(&v).all(|x| x.abs() < 1e-10), "end {end} from {start}: {q:?} {v:?}");
        }
    }
}

#[test]
fn an_impact_at_the_very_end_is_no_trouble() {
    let ball = Builder::new("ball")
        .coordinate("y", "1", "0")
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution("1")
        .constraint("floor", "y");
    let ball = problem(ball);
    for n in 1..=40 {
        let end = (2 * n - 1) as f64 * (2.0f64 / 9.81).sqrt();
        let run = exact(&ball, end, 1e-10);
        assert!((run.trajectory.impacts.len() as i64 - n).abs() <= 1, "n = {n}");
        assert_eq!(run.trajectory.t.last(), Some(&end));
    }
}

#[test]
fn forces_without_a_series_are_passed() {
    // Drag with the square of the speed, from rest: x' = √(g/c) tanh(√(gc) t).
    let drag = Builder::new("drag")
        .coordinate("x", "0", "0")
        .coordinate("y", "0", "0")
        .kinetic("(x'^2 + y'^2)/2")
        .force("x", "9.81 - 0.3*hypot(x', y')*x'")
        .force("y", "-0.3*hypot(x', y')*y'");
    let (_, v) = last(&exact(&problem(drag), 3.0, 1e-10));
    let exact_v = (9.81f64 / 0.3).sqrt() * ((9.81f64 * 0.3).sqrt() * 3.0).tanh();
    assert!((v[0] - exact_v).abs() < 1e-7, "{} {exact_v}", v[0]);
    // A Hertz contact: the first touch is a branch point of (−x)^1.5. Energy is kept.
    let hertz = Builder::new("hertz").coordinate("x", "0.1", "-1").kinetic("x'^2/2").force("x", "100*max(-x, 0)^1.5");
    let run = exact(&problem(hertz), 1.0, 1e-10);
    let (_, v) = last(&run);
    assert!((v[0] - 1.0).abs() < 1e-7, "{}", v[0]);
}

#[test]
fn the_first_bounce_need_not_be_seen_from_above() {
    // Started on the floor, thrown up: one step leads from contact to contact.
    for (e, impacts) in [(0.5, 15..60), (0.9, 80..140)] {
        let ball = Builder::new("thrown")
            .coordinate("y", "0", "1")
            .kinetic("y'^2/2")
            .potential("10*y")
            .restitution(format!("{e:?}"))
            .constraint("floor", "y");
        let run = exact(&problem(ball), 50.0, 1e-10);
        let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
        assert!((chatter.end - 0.2 / (1.0 - e)).abs() < 1e-9, "e = {e}: {}", chatter.end);
        assert!(impacts.contains(&run.trajectory.impacts.len()), "{}", run.trajectory.impacts.len());
    }
}

#[test]
fn pulses_are_met() {
    // ∫ of a Gaussian of width 0.05: √π/20. (Wider than a hundredth of the run; the engine's rule.)
    let smooth =
        Builder::new("pulse").coordinate("x", "0", "0").kinetic("x'^2/2").force("x", "exp(-((t - 2.5)/0.05)^2)");
    let (_, v) = last(&exact(&problem(smooth), 5.0, 1e-10));
    assert!((v[0] - std::f64::consts::PI.sqrt() / 20.0).abs() < 1e-9, "{}", v[0]);
    // One with edges may be as narrow as it likes.
    let edged = Builder::new("blow")
        .coordinate("x", "0", "0")
        .kinetic("x'^2/2")
        .force("x", "if(and(t > 2.5, t < 2.5001), 1e4, 0)");
    let (_, v) = last(&exact(&problem(edged), 5.0, 1e-10));
    assert!((v[0] - 1.0).abs() < 1e-9, "{}", v[0]);
}

#[test]
fn hills_seen_from_a_symmetric_place_are_hills() {
    // Around x = 0 the gap is even: every other coefficient of its series vanishes.
    let hills = Builder::new("hills")
        .coordinate("x", "0", "1")
        .coordinate("y", "0.06", "0")
        .kinetic("(x'^2 + y'^2)/2")
        .restitution("0.5")
        .constraint("ground", "y - 0.1*sin(3*x)^2");
    let hills = problem(hills);
    let first = 0.6f64.sqrt().asin() / 3.0;
    for end in [5.0, 50.0, 100.0, 200.0] {
        let run = exact(&hills, end, 1e-10);
        assert!((run.trajectory.impacts.get(0).t - first).abs() < 1e-9, "end {end}");
    }
}

#[test]
fn narrow_features_far_ahead_are_met() {
    for end in [6.0, 20.0, 100.0] {
        // A spike of half width 0.02 in the way, y = 0.05 at its flank.
        let spike = flyer("0", "0.05").restitution("0.5").constraint("spike", "y - 0.1/(1 + ((x - 5.03)/0.02)^2)");
        let run = exact(&problem(spike), end, 1e-10);
        assert!(!run.trajectory.impacts.is_empty(), "end {end}");
        assert!((run.trajectory.impacts.get(0).t - 5.01).abs() < 1e-9, "end {end}");
    }
    // A pulse in time, 1e-4 of the run wide: ∫ exp(−((t − 5)/w)²) dt = w √π.
    for (width, end) in [(0.01, 100.0), (0.001, 10.0)] {
        let force = format!("exp(-((t - 5)/{width:?})^2)");
        let pulse = Builder::new("pulse").coordinate("x", "1", "0.1").kinetic("x'^2/2").force("x", &force);
        let (_, v) = last(&exact(&problem(pulse), end, 1e-10));
        let gained = width * std::f64::consts::PI.sqrt();
        assert!((v[0] - 0.1 - gained).abs() < 1e-9, "width {width}: {}", v[0] - 0.1);
    }
}

#[test]
fn supports_that_go_let_fall_and_walls_that_appear_are_refused() {
    let ledge = flyer("-9.81", "0").restitution("0").constraint("ledge", "y - if(x > 1, -0.3, 0)");
    let run = exact(&problem(ledge), 2.0, 1e-10);
    let landing = 1.0 + (0.6f64 / 9.81).sqrt();
    assert!((run.trajectory.impacts.get(0).t - landing).abs() < 1e-9);
    assert!((last(&run).0[1] + 0.3).abs() < 1e-12);
    let appears = Builder::new("appears")
        .coordinate("y", "0", "0")
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution("0")
        .constraint("floor", "y - if(t > 1, 0.5, 0)");
    let options = Options::events(2.0).step(0.01);
    let done = problem(appears).run(&options).expect("starts");
    let Status::Failed(failure) = &done.status else { panic!("{:?}", done.status) };
    assert!((failure.t - 1.0).abs() < 1e-12 && failure.to_string().contains("inside the obstacle"), "{failure}");
}

#[test]
fn a_drag_that_turns_round_keeps_its_sign() {
    // Thrown up against v|v| drag written as hypot: up with tan, down with tanh.
    let ball =
        Builder::new("thrown").coordinate("y", "0", "8").kinetic("y'^2/2").force("y", "-9.81 - 0.2*hypot(y', 0)*y'");
    let (g, c) = (9.81f64, 0.2f64);
    let terminal = (g / c).sqrt();
    let top = (8.0 / terminal).atan() / (g * c).sqrt();
    let (_, v) = last(&exact(&problem(ball), 3.0, 1e-10));
    let expected = -terminal * ((g * c).sqrt() * (3.0 - top)).tanh();
    assert!((v[0] - expected).abs() < 1e-8, "{} {expected}", v[0]);
}

#[test]
fn a_stiff_motion_is_handed_to_an_implicit_scheme() {
    let damped = Builder::new("damped").coordinate("x", "1", "1").kinetic("x'^2/2").force("x", "-1e8*x' - x");
    let done = problem(damped).run(&Options::events(10.0).step(0.01)).expect("starts");
    assert_eq!(done.status, Status::Finished);
    assert!(done.notes.iter().any(|n| n.contains("stiff")), "{:?}", done.notes);
    assert!((last(&done).0[0] - 1.0).abs() < 1e-6);
}

#[test]
fn a_step_in_flight_or_contact_allocates_nothing_but_its_record() {
    // Twice the steps, the same allocations, but for storage that grows by doubling.
    for (height, wall) in [("100", "y"), ("0", "y")] {
        let ball = Builder::new("forced")
            .coordinate("y", height, "0")
            .kinetic("y'^2/2")
            .potential("9.81*y + 0.1*y^2")
            .force("y", "cos(2000*t)")
            .restitution("0.5")
            .constraint("floor", wall);
        let ball = problem(ball);
        let count = |end: f64| {
            let options = Options::events(end).step(end).scheme("event-driven");
            let mut steps = 0;
            let counted = allocation_counter::measure(|| {
                steps = ball.run(&options).expect("runs").steps;
            });
            (counted.count_total, steps)
        };
        let ((few, short), (more, long)) = (count(1.0), count(2.0));
        assert!(long as f64 > 1.5 * short as f64, "{short} {long} steps");
        assert!(more <= few + 12, "from {height}: {few} allocations for {short} steps, {more} for {long}");
    }
}

#[test]
fn a_run_that_stopped_at_an_impact_makes_it_when_it_goes_on() {
    let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y");
    let ball = problem(ball.restitution(0.8).constraint("floor", "y"));
    let options = |end: f64| Options::events(end).step(1e-2);
    let whole = ball.run(&options(2.7)).expect("runs");
    assert_eq!(whole.trajectory.impacts.len(), 5);
    for impact in whole.trajectory.impacts.iter() {
        // After the first impact the constraint was closed before: it is not held for that.
        let stopped = ball.run(&options(impact.t)).expect("runs");
        let on = ball.run_from(stopped.last(), &options(2.7)).expect("goes on");
        assert_eq!(on.status, saltus::Status::Finished, "{:#?}", on.ledger.complaints());
        let q = |run: &saltus::Run| run.trajectory.q(run.trajectory.len() - 1)[0];
        assert!((q(&on) - q(&whole)).abs() < 1e-9, "{} {} {}", impact.t, q(&on), q(&whole));
    }
}

#[test]
fn the_impacts_of_an_accumulation_are_known_as_well_as_its_first() {
    let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y");
    let ball = ball.restitution(0.8).constraint("floor", "y").build().expect("a model").problem().expect("a problem");
    let run = ball.run(&Options::events(5.0)).expect("runs").ok().expect("finishes");
    let first = (2.0f64 / 9.81).sqrt();
    let mut exact = first;
    assert!(run.ledger.impacts.len() > 40);
    for (k, entry) in run.ledger.impacts.iter().enumerate() {
        assert!(entry.uncertainty < 1e-9, "{k}: {}", entry.uncertainty);
        assert!((entry.t - exact).abs() <= entry.uncertainty, "{k}: {} {}", entry.t - exact, entry.uncertainty);
        exact += 2.0 * first * 0.8f64.powi(k as i32 + 1);
    }
}
