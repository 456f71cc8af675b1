//! Motions that engines of this kind get wrong without a word, against closed forms and digits computed elsewhere.

use saltus::model::Builder;
use saltus::{Options, PhaseKind, Problem, Run, Status};
use std::f64::consts::{PI, TAU};

fn problem(model: Builder) -> Problem {
    model.build().expect("a model").problem().expect("a problem")
}

/// A run by events that must finish without a breach.
fn exact(model: Builder, end: f64) -> Run {
    let run = problem(model).run(&Options::events(end).step(end / 200.0)).expect("starts");
    assert_eq!(run.status, Status::Finished, "{:?}", run.ledger.complaints());
    assert!(run.timeline.of(PhaseKind::Stepped).next().is_none(), "{:?}", run.notes);
    run
}

fn last(run: &Run) -> (Vec<f64>, Vec<f64>) {
    let t = *run.trajectory.t.last().expect("some");
    run.trajectory.at(t, saltus::Side::Left).expect("inside")
}

#[track_caller]
fn close(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found} instead of {wanted}: off by {:e}", (found - wanted).abs());
}

fn particle() -> Builder {
    Builder::new("particle").coordinate("x", 1, 0).kinetic("x'^2/2").restitution(0)
}

#[test]
fn steep_walls_that_stay_away_touch_nothing() {
    for steep in ["1e3", "1e6", "1e12"] {
        let wall = format!("x - 0.5*atan((t - 0.5)*{steep})");
        let run = exact(particle().constraint("wall", wall), 1.0);
        assert!(run.trajectory.impacts.is_empty());
        assert_eq!(last(&run), (vec![1.0], vec![0.0]));
        // The same front as a tanh.
        let run = exact(particle().constraint("wall", format!("x - 0.9*tanh((t - 0.5)*{steep})")), 1.0);
        assert_eq!(last(&run), (vec![1.0], vec![0.0]));
    }
}

#[test]
fn a_wall_of_infinite_speed_hits_later() {
    // At √t = 1/2 the wall has the speed 1.
    let wall =
        Builder::new("root").coordinate("x", 0.5, 0).kinetic("x'^2/2").restitution(0).constraint("w", "x - sqrt(t)");
    let run = exact(wall, 1.0);
    close(run.trajectory.impacts.get(0).t, 0.25, 1e-12);
    close(last(&run).0[0], 1.25, 1e-11);
}

#[test]
fn steep_gaps_are_those_of_their_distance() {
    // Dropped on a superellipse: a plain floor at 0.1 for a body on its axis, whatever the power.
    let first = (2.0 * 2.9 / 9.81_f64).sqrt();
    for p in [2, 4, 6, 8, 10, 14] {
        let body = Builder::new("superellipse")
            .coordinate("x", 0, 0)
            .coordinate("y", 3, 0)
            .kinetic("(x'^2 + y'^2)/2")
            .potential("9.81*y")
            .restitution(0.5)
            .constraint("block", format!("(x/0.1)^{p} + (y/0.1)^{p} - 1"));
        let run = exact(body, 4.0);
        close(run.trajectory.impacts.get(0).t, first, 1e-9);
        let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
        close(chatter.end, 3.0 * first, 1e-9);
        assert!((chatter.end - 3.0 * first).abs() <= chatter.error, "claimed {:e}", chatter.error);
        close(last(&run).0[1], 0.1, 1e-12);
    }
}

#[test]
fn a_thin_post_far_away_is_hit_where_it_is() {
    for r in [1e-3, 1e-6, 1e-8] {
        let post = Builder::new("post")
            .coordinate("x", -1, 1)
            .coordinate("y", 0.3 * r, 0)
            .kinetic("(x'^2 + y'^2)/2")
            .restitution(1)
            .constraint("post", format!("hypot(x, y) - {r:?}"));
        let run = exact(post, 2.0);
        let hit = run.trajectory.impacts.get(0);
        close(hit.t, 1.0 - r * 0.91_f64.sqrt(), 1e-12);
        let (_, v) = last(&run);
        // (Positions are rounded to 1e-16 on the way there.)
        let within = (1e-15 / r).max(1e-9);
        close(v[0], -0.82, within);
        close(v[1], 0.6 * 0.91_f64.sqrt(), within);
    }
}

#[test]
fn a_thin_post_is_hit_in_short_units_of_time() {
    // Coefficients of the gap grow by v/r from order to order, far beyond the largest number.
    for r in [5e-3, 1e-4] {
        let post = Builder::new("post")
            .coordinate("x", -1e-4, 1e8)
            .coordinate("y", 0.3e-4 * r, 0)
            .kinetic("(x'^2 + y'^2)/2")
            .restitution(1)
            .constraint("post", format!("sqrt(x^2 + y^2) - {:?}", 1e-4 * r))
            .constraint("box", "2e-4 - sqrt(x^2 + y^2)");
        let run = exact(post, 1.9e-12);
        close(run.trajectory.impacts.get(0).t / 1e-12, 1.0 - r * 0.91_f64.sqrt(), 1e-10);
        let (_, v) = last(&run);
        close(v[0] / 1e8, -0.82, 1e-9);
        close(v[1] / 1e8, 0.6 * 0.91_f64.sqrt(), 1e-9);
    }
}

#[test]
fn limits_of_accumulations_hold_for_any_restitution_body_and_end() {
    let t1 = |h: f64| (2.0 * h / 9.81_f64).sqrt();
    for (e, end) in [(0.9, 50.0), (0.99, 1e5), (0.999, 2e3), (0.9995, 4e3), (0.9999, 2e4)] {
        let ball = Builder::new("ball").coordinate("y", 1, 0).kinetic("y'^2/2").potential("9.81*y").restitution(e);
        let run = exact(ball.constraint("floor", "y"), end);
        let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
        let wanted = t1(1.0) * (1.0 + e) / (1.0 - e);
        assert!(
            (chatter.end - wanted).abs() <= chatter.error,
            "e = {e}: {} {wanted} ± {:e}",
            chatter.end,
            chatter.error
        );
        close(chatter.end, wanted, 1e-8 * wanted);
    }
    for end in [1e2, 1e4, 3e5] {
        let balls = Builder::new("two")
            .coordinate("a", 1.01, 0)
            .coordinate("b", 1.02, 0)
            .kinetic("(a'^2 + b'^2)/2")
            .potential("9.81*(a + b)")
            .restitution(0.98)
            .constraint("a", "a")
            .constraint("b", "b");
        let run = exact(balls, end);
        let limits: Vec<f64> = run.timeline.of(PhaseKind::Chatter).map(|p| p.end).collect();
        close(limits[0], t1(1.01) * 99.0, 1e-9);
        close(limits[1], t1(1.02) * 99.0, 1e-9);
    }
}

#[test]
fn scales_from_tiny_to_huge() {
    for h in [1e-12_f64, 1.0, 1e12] {
        for g in [1e-6, 9.81, 1e6] {
            for e in [0.0, 0.5, 0.95] {
                let limit = (2.0 * h / g).sqrt() * (1.0 + e) / (1.0 - e);
                let ball = Builder::new("ball")
                    .coordinate("y", h, 0)
                    .kinetic("y'^2/2")
                    .potential(format!("{g:?}*y"))
                    .restitution(e)
                    .constraint("floor", "y");
                let run = exact(ball, 1.5 * limit);
                if e > 0.0 {
                    let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
                    close(chatter.end / limit, 1.0, 1e-9);
                }
                assert_eq!(last(&run), (vec![0.0], vec![0.0]), "h = {h}, g = {g}, e = {e}");
            }
        }
    }
}

/// A ball that chatters, sticks and is thrown once in every period of a table.
fn table(e: f64, amplitude: f64, w: f64) -> Builder {
    Builder::new("table")
        .coordinate("y", 1e-2, 0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(e)
        .constraint("table", format!("y - {amplitude:?}*sin({w:?}*t)"))
}

#[test]
fn chattering_contact_stays_right_after_thousands_of_periods() {
    let w = 50.0 * PI;
    let run = exact(table(0.3, 6e-4, w), 2000.0 * TAU / w);
    assert!(run.audit.max_violation < 1e-12, "{:e}", run.audit.max_violation);
    // Released once in every period, at the same phase: where the table falls with g.
    let phase = (9.81 / (6e-4 * w * w)).asin();
    let releases: Vec<f64> = run.timeline.of(PhaseKind::Release).map(|p| p.start).collect();
    assert!((1990..=2000).contains(&releases.len()), "{}", releases.len());
    for t in &releases[releases.len() - 100..] {
        let turn = (w * t - phase).rem_euclid(TAU);
        assert!(turn.min(TAU - turn) < 1e-8, "released at {t}, {turn:e} off");
    }
}

#[test]
fn rest_has_no_scale_of_its_own() {
    let rest = Builder::new("rest").coordinate("y", 0, 0).kinetic("y'^2/2").restitution(0).constraint("floor", "y");
    let run = exact(rest.clone().force("y", "-9.81 + 9.81*sin(t)"), 20.0);
    assert_eq!(last(&run), (vec![0.0], vec![0.0]));
    // Thrown by a narrow pulse: lift-off and what follows, computed with fifty digits elsewhere.
    for (w, y, v, within) in
        [("3e-3", 2.45942608063309, -2.00810818202208, 1e-8), ("1e-4", 2.49836325422645, -2.00032733841812, 1e-8)]
    {
        let pulse = format!("-1 + 3/({w}*sqrt(pi))*exp(-((t-5)/{w})^2)");
        let (q, speed) = last(&exact(rest.clone().force("y", pulse), 10.0));
        close(q[0], y, within);
        close(speed[0], v, within);
    }
}

#[test]
fn narrow_pulses_of_every_kind_are_met() {
    // The impulse of each is the integral of its force.
    let gauss = Builder::new("gauss").coordinate("x", 0, 0).kinetic("x'^2/2");
    close(last(&exact(gauss.force("x", "exp(-((t - 3)/1e-7)^2)/1e-7"), 6.0)).1[0], PI.sqrt(), 1e-8);
    for w in [1e-2_f64, 1e-3, 1e-4, 1e-5] {
        for (force, impulse) in [
            (format!("exp(-((t - 3)/{w:?})^2)/{w:?}"), PI.sqrt()),
            (format!("1/({w:?}*cosh((t - 3)/{w:?})^2)"), 2.0),
            (format!("{w:?}/((t - 3)^2 + {w:?}^2)"), PI - 2.0 * (w / 3.0).atan()),
            (format!("(tanh((t - 3)/{w:?}) - tanh((t - 4)/{w:?}))/2"), 1.0),
            (format!("(atan((t - 3)/{w:?}) - atan((t - 4)/{w:?}))/pi"), f64::NAN),
        ] {
            let run = exact(Builder::new("pulse").coordinate("x", 0, 0).kinetic("x'^2/2").force("x", &*force), 6.0);
            let v = last(&run).1[0];
            match impulse.is_nan() {
                false => close(v, impulse, 1e-8),
                // ∫ atan = x atan x − ½ log(1 + x²), by parts.
                true => {
                    let whole = |x: f64| w * ((x / w) * (x / w).atan() - 0.5 * (1.0 + (x / w).powi(2)).ln());
                    close(v, (whole(3.0) - whole(-3.0) - whole(2.0) + whole(-4.0)) / PI, 1e-8);
                }
            }
        }
    }
}

#[test]
fn pulses_whose_denominators_overflow_are_met() {
    // A body at rest leaves the floor where the push outweighs it, at u₀ of the pulse, and has v = ∫F from there.
    let rest = Builder::new("rest").coordinate("x", 0, 0).kinetic("x'^2/2").restitution(0.5).constraint("floor", "x");
    for w in [1e-4_f64, 1e-6, 1e-7] {
        let leaves = -(1.0 / w.sqrt()).acosh();
        let wanted = 1.0 - leaves.tanh() - (0.5 - 0.24 - w * leaves);
        for force in [
            format!("-1 + 1/({w:?}*cosh((t - 0.24)/{w:?})^2)"),
            format!("-1 + 4/({w:?}*(exp((t - 0.24)/{w:?}) + exp(-(t - 0.24)/{w:?}))^2)"),
        ] {
            let run = exact(rest.clone().force("x", &*force), 5.0);
            close(run.trajectory.at(0.5, saltus::Side::Left).expect("inside").1[0], wanted, 1e-9);
            // In flight the whole of it counts.
            let run = exact(Builder::new("free").coordinate("x", 1, 0).kinetic("x'^2/2").force("x", &*force), 5.0);
            close(last(&run).1[0], 2.0 - 5.0, 1e-9);
        }
        // The same front as a logistic function: from −1 to 1.
        let logistic = format!("-1 + 2/(1 + exp(-(t - 0.24)/{w:?}))");
        close(last(&exact(rest.clone().force("x", &*logistic), 2.0)).1[0], 1.76 - 2.0 * w * 2f64.ln(), 1e-9);
    }
}

#[test]
fn coefficients_beyond_the_range_of_numbers_end_a_series() {
    // Pulses of 1e-6 of a run of 6e-12.
    let gauss = Builder::new("gauss").coordinate("x", 0, 0).kinetic("x'^2/2");
    let push = "1e12*(-1 + exp(-((t/1e-12 - 3)/1e-6)^2)/1e-6)";
    close(last(&exact(gauss.force("x", push), 6e-12)).1[0], PI.sqrt() - 6.0, 1e-8);
    // Coefficients of a slow oscillator fall by 1e-11 from one order to the next.
    let slow = Builder::new("slow").coordinate("x", 1e-6, 0).kinetic("x'^2/2").force("x", "-1.44e-22*x");
    let (q, v) = last(&exact(slow, 2e13));
    close(q[0] / 1e-6, 240f64.cos(), 1e-9);
    close(v[0] / 1.2e-17, -240f64.sin(), 1e-9);
}

#[test]
fn bodies_that_have_nothing_to_do_with_each_other_have_scales_of_their_own() {
    let (a, c, w) = (1.2, 1.3, 5e-5_f64);
    let whole = |x: f64| w * ((x / w) * (x / w).atan() - 0.5 * (1.0 + (x / w).powi(2)).ln());
    for (front, wanted) in
        [("tanh((t - 1.3)/5e-5)", -a * (2.0 - 2.0 * c)), ("atan((t - 1.3)/5e-5)", -a * (whole(2.0 - c) - whole(-c)))]
    {
        let bodies = Builder::new("two")
            .coordinate("x", 0, 0)
            .coordinate("y", 1e4, 5e5)
            .kinetic("x'^2/2 + 1e5*y'^2/2")
            .force("x", format!("-1.2*{front}"))
            .force("y", "-1e5*200*y")
            .restitution(0.9)
            .constraint("wall", "2e4 - y");
        close(last(&exact(bodies, 2.0)).1[0], wanted, 1e-9);
    }
}

#[test]
fn hertz_contacts_keep_the_energy() {
    let hertz = Builder::new("hertz").coordinate("y", 0.1, 0).kinetic("y'^2/2").potential("9.81*y");
    let (q, v) = last(&exact(hertz.clone().force("y", "1e4*max(0, -y)^1.5"), 3.0));
    close(q[0], 0.0729426, 5e-8);
    close(v[0], -0.7286052, 5e-8);
    for p in ["1.5", "1.1", "2.5", "0.5"] {
        let law = hertz.clone().potential(format!("9.81*y + 1e4/(1 + {p})*max(0, -y)^(1 + {p})"));
        let run = exact(law, 3.0);
        let (q, v) = last(&run);
        let stored = 1e4 / (1.0 + p.parse::<f64>().expect("a number"));
        let power = 1.0 + p.parse::<f64>().expect("a number");
        let energy = v[0] * v[0] / 2.0 + 9.81 * q[0] + stored * (-q[0]).max(0.0).powf(power);
        close(energy / 0.981, 1.0, 1e-9);
    }
}

#[test]
fn a_chain_of_hertz_contacts_at_first_touch() {
    let (n, r) = (5, 0.01);
    let place = |i: usize| -((n - i) as f64) * 2.0 * r - 1e-3 - r;
    for contact in ["max(0, 2*0.01 - (b - a))^2.5", "if(2*0.01 > b - a, (2*0.01 - b + a)^2.5, 0)"] {
        let name = |i: usize| format!("u{i}");
        let terms = (1..n).map(|i| {
            format!(
                "2/5*1e6*{}",
                contact
                    .replace("b", &name(i + 1))
                    .replace("- a", &format!("- {}", name(i)))
                    .replace("+ a", &format!("+ {}", name(i)))
            )
        });
        let terms: Vec<String> = terms.collect();
        let mut chain = Builder::new("chain");
        for i in 1..=n {
            chain = chain.coordinate(&name(i), place(i), if i == 1 { 1.0 } else { 0.0 });
        }
        let kinetic: Vec<String> = (1..=n).map(|i| format!("0.005*{}'^2", name(i))).collect();
        let chain = chain.kinetic(kinetic.join(" + ")).potential(terms.join(" + ")).restitution(0.9);
        let run = exact(chain.constraint("wall", "-0.01 - u5"), 0.01);
        assert_eq!(run.trajectory.impacts.len(), 1);
        close(run.trajectory.impacts.get(0).t, 0.004033058, 5e-10);
        for (q, wanted) in last(&run).0.iter().zip([-0.0925067, -0.0715054, -0.0511870, -0.0309061, -0.0101047]) {
            close(*q, wanted, 6e-8);
        }
    }
}

#[test]
fn paths_near_singular_points_of_open_gaps_go_on() {
    for offset in [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3] {
        let free = Builder::new("free")
            .coordinate("x", -0.5, 1)
            .coordinate("y", offset, 0)
            .kinetic("(x'^2 + y'^2)/2")
            .restitution(0)
            .constraint("disc", "2 - hypot(x, y)")
            .constraint("angle", "4 - atan2(y + 1e-20, x)");
        let run = exact(free, 1.5);
        assert!(run.trajectory.impacts.is_empty());
        let (q, v) = last(&run);
        close(q[0], 1.0, 1e-14);
        assert_eq!((q[1], v), (offset, vec![1.0, 0.0]));
    }
    let slides = Builder::new("slides")
        .coordinate("x", -0.5, 1)
        .coordinate("y", 0.3, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*y")
        .restitution(0)
        .constraint("floor", "exp(y) - 1")
        .constraint("disc", "2 - hypot(x, y)");
    let run = exact(slides, 1.5);
    assert_eq!(run.trajectory.impacts.len(), 1);
    close(last(&run).0[1], 0.0, 1e-15);
    close(last(&run).0[0], 1.0, 1e-13);
}

#[test]
fn a_gap_without_a_slope_is_refused_and_storage_changes_nothing() {
    let cubic = Builder::new("cubic").coordinate("y", 1, -1).kinetic("y'^2/2").restitution(0.5).constraint("c", "y^3");
    let run = problem(cubic).run(&Options::events(3.0)).expect("starts");
    assert!(matches!(&run.status, Status::Failed(f) if (f.t - 1.0).abs() < 1e-6), "{:?}", run.status);
    let oscillator = || {
        Builder::new("oscillator")
            .coordinate("x", 0, 0)
            .kinetic("x'^2/2")
            .force("x", "cos(t) - 7.84*x")
            .restitution(0.8)
            .constraint("stop", "0.05 - x")
    };
    let run = |step: f64| problem(oscillator()).run(&Options::events(300.0 * TAU).step(step)).expect("starts");
    let (fine, coarse) = (run(0.1), run(1e3));
    assert_eq!(fine.trajectory.impacts.len(), coarse.trajectory.impacts.len());
    assert_eq!(last(&fine), last(&coarse));
}
