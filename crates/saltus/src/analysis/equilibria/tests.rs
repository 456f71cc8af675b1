use super::*;
use crate::model::Builder;

fn all(model: Builder) -> Equilibria {
    let problem = model.build().expect("a model").problem().expect("a problem");
    equilibria(&problem, &EquilibriaOptions::default(), &mut |_, _| true).expect("searched")
}

#[test]
fn a_particle_rests_in_a_wedge_with_the_reactions_of_statics() {
    let wedge = Builder::new("wedge")
        .coordinate("x", 0.1, 0)
        .coordinate("y", 2, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("10*y")
        .restitution(0)
        .constraint("left", "y*cos(0.5) + x*sin(0.5)")
        .constraint("right", "y*cos(0.3) - x*sin(0.3)");
    let found = all(wedge).found;
    assert_eq!(found.len(), 1);
    let (l, r) = (found[0].reactions[0], found[0].reactions[1]);
    // l cos(0.5) + r cos(0.3) = 10, l sin(0.5) = r sin(0.3).
    assert!(
        (l * 0.5f64.cos() + r * 0.3f64.cos() - 10.0).abs() < 1e-10
            && (l * 0.5f64.sin() - r * 0.3f64.sin()).abs() < 1e-10
    );
    assert!(matches!(found[0].stability, Stability::Stable { .. }));
}

#[test]
fn a_pendulum_against_a_wall_has_a_degenerate_contact_and_an_unstable_top() {
    let pendulum = Builder::new("pendulum")
        .coordinate("a", 1, 0)
        .kinetic("a'^2/2")
        .potential("-10*cos(a)")
        .restitution(0)
        .constraint("wall", "a");
    let found = all(pendulum).found;
    let hanging = found.iter().find(|e| e.q[0].abs() < 1e-9).expect("hangs at the wall");
    assert_eq!((&hanging.closed[..], &hanging.degenerate[..]), (&[0][..], &[0][..]));
    assert!(matches!(hanging.stability, Stability::Stable { .. }), "{hanging:?}");
    let top = found.iter().find(|e| (e.q[0] - std::f64::consts::PI).abs() < 1e-9).expect("stands");
    assert!(matches!(top.stability, Stability::Unstable { .. }));
}

#[test]
fn beads_in_a_bowl_share_its_bottom() {
    let bowl = Builder::new("beads")
        .parameter("n", "3")
        .coordinate_family("x", "i = 1..n", "i - 2", "0")
        .kinetic("sum(i = 1..n, x[i]'^2/2)")
        .potential("sum(i = 1..n, x[i]^2)")
        .restitution(0)
        .constraint_family("pair", "i = 1..n-1", "x[i+1] - x[i] - 0.5");
    let found = all(bowl).found;
    assert_eq!(found.len(), 1, "{found:?}");
    for (x, exact) in found[0].q.iter().zip([-0.5, 0.0, 0.5]) {
        assert!((x - exact).abs() < 1e-12);
    }
    assert!(found[0].reactions.iter().all(|l| (l - 1.0).abs() < 1e-10));
}

/// A model without constraints of two coordinates, or of one where no `y` occurs.
fn plane(potential: &str, forces: &[(&str, &str)]) -> Builder {
    let model = Builder::new("plane").coordinate("x", 0.1, 0).coordinate("y", 0.1, 0).kinetic("(x'^2 + y'^2)/2");
    let model = if potential.is_empty() { model } else { model.potential(potential) };
    forces.iter().fold(model, |model, (to, force)| model.force(to, *force))
}

fn line(x0: f64, potential: &str) -> Builder {
    Builder::new("line").coordinate("x", x0, 0).kinetic("x'^2/2").potential(potential)
}

/// What was found: positions rounded to a millionth, and the kind of stability.
fn told(model: Builder) -> Vec<(Vec<f64>, &'static str, &'static str)> {
    let round = |x: &f64| (x * 1e6).round() / 1e6 + 0.0;
    let found = all(model).found;
    found.iter().map(|e| (e.q.iter().map(round).collect(), e.stability.kind(), e.isolation.kind())).collect()
}

#[test]
fn a_force_that_only_decays_has_no_equilibria() {
    for potential in [
        "exp(-x)",
        "exp(-30*x)",
        "exp(-x^2)*0 + exp(-2*x)",
        "1/(1 + exp(x))",
        "atan(x)",
        "tanh(x)",
        "x/hypot(1, x)",
        "log(1 + exp(x))",
    ] {
        assert!(told(line(1.3, potential)).is_empty(), "{potential}: {:?}", told(line(1.3, potential)));
    }
    assert!(told(line(1.0, "1/x")).is_empty());
    assert!(told(line(1.0, "-1/x^2")).is_empty());
    assert!(told(line(1.0, "-log(x)")).is_empty());
    // Coupled with something stiff, so that its decay is hidden below the rounding of that.
    assert!(told(plane("exp(-x-y) + (x-y)^2", &[])).is_empty(), "{:?}", told(plane("exp(-x-y) + (x-y)^2", &[])));
    assert!(told(plane("exp(-20*x) + 1e6*y^2", &[])).is_empty());
}

#[test]
fn a_well_with_a_flat_outside_has_one_equilibrium() {
    for potential in [
        "(1-exp(-2*(x-1)))^2",
        "(1-exp(-7*(x-1)))^2",
        "-exp(-(x-1)^2)",
        "-exp(-50*(x-1)^2)",
        "-1/(1 + (x-1)^2)",
        "-1/cosh(x-1)",
        "4*((1/x)^12 - (1/x)^6)*0 + (x-1)^2/(1 + (x-1)^2)",
    ] {
        assert_eq!(told(line(1.3, potential)), [(vec![1.0], "stable", "isolated")], "{potential}");
    }
    // Narrow wells and tops beside a wide one are found as well.
    let two = told(line(0.3, "-1.25*exp(-(x - 1.7)^2) + exp(-2*(x + 1.9)^2)"));
    // (A third is where the two tails balance, at −10.6.)
    let near: Vec<_> = two.iter().filter(|e| e.0[0].abs() < 5.0).map(|e| e.1).collect();
    assert_eq!(near, ["unstable", "stable"], "{two:?}");
    let lennard_jones = told(line(1.3, "4*((1/x)^12 - (1/x)^6)"));
    let positive: Vec<_> = lennard_jones.iter().filter(|e| e.0[0] > 0.0).collect();
    assert_eq!(positive, [&(vec![1.122462], "stable", "isolated")], "{lennard_jones:?}");
}

#[test]
fn small_and_large_units_change_nothing() {
    for unit in [1e-9, 1e-3, 1e4, 1e8] {
        let potential = format!("(1-exp(-2*(x/{unit:?}-1)))^2");
        let found = all(line(1.3 * unit, &potential)).found;
        assert_eq!(found.len(), 1, "{unit}: {found:?}");
        assert!((found[0].q[0] / unit - 1.0).abs() < 1e-8 && found[0].stability.kind() == "stable");
    }
}

#[test]
fn degenerate_equilibria_are_told_by_higher_orders() {
    let at = |x: f64, y: f64, how| [(vec![x, y], how, "degenerate")];
    assert_eq!(told(plane("x^2 - y^4", &[])), at(0.0, 0.0, "unstable"));
    assert_eq!(told(plane("x^2 + y^4", &[])), at(0.0, 0.0, "stable"));
    assert_eq!(told(plane("(x+y)^2 - (x-y)^4", &[])), at(0.0, 0.0, "unstable"));
    assert_eq!(told(plane("(x+y-1)^2 + (x-y)^4", &[])), at(0.5, 0.5, "stable"));
    assert_eq!(told(plane("x^3 - 3*x*y^2", &[])), at(0.0, 0.0, "unstable"));
    assert_eq!(told(plane("x^2 + y^3", &[])), at(0.0, 0.0, "unstable"));
    assert_eq!(told(plane("x^2 + y^6", &[])), at(0.0, 0.0, "stable"));
    // Along y the potential rises; along a parabola it falls.
    assert_eq!(told(plane("x^2 - 3*x*y^2 + y^4", &[])), at(0.0, 0.0, "unstable"));
    assert_eq!(told(plane("x^2 - x*y^2 + y^4", &[])), at(0.0, 0.0, "stable"));
    assert_eq!(told(line(1.0, "x^4")), [(vec![0.0], "stable", "degenerate")]);
    assert_eq!(told(line(1.0, "-x^4")), [(vec![0.0], "unstable", "degenerate")]);
    assert_eq!(told(line(1.0, "x^20")), [(vec![0.0], "stable", "degenerate")]);
    // Two valleys that cross: neither isolated nor a minimum, whatever the directions tried.
    let cross = told(plane("x^2*y^2", &[]));
    assert!(cross.iter().all(|e| e.2 != "degenerate" && e.1 != "stable"), "{cross:?}");
    // Roots as near as this are two.
    let near = all(line(0.5, "x^3/3 - 1e-12*x")).found;
    let kinds: Vec<_> = near.iter().map(|e| ((e.q[0] * 1e9).round(), e.stability.kind())).collect();
    assert_eq!(kinds, [(-1000.0, "unstable"), (1000.0, "stable")]);
    // A stiff direction does not hide a weak one.
    assert_eq!(told(plane("1e6*(x+y)^2 - 1e-3*(x-y)^2", &[])), [(vec![0.0, 0.0], "unstable", "isolated")]);
    assert_eq!(told(plane("1e6*(x+y)^2 + 1e-3*(x-y)^2", &[])), [(vec![0.0, 0.0], "stable", "isolated")]);
    // A plateau ends in nothing of its own.
    let plateau =
        Builder::new("p").coordinate("x", 1, 0).kinetic("x'^2/2").force("x", "100*max(0, -x) - 100*max(0, x - 2)");
    assert_eq!(told(plateau), [(vec![1.0], "neutral", "family")]);
    // A valley is a family.
    let ring = all(plane("(x^2 + y^2 - 1)^2", &[])).found;
    assert_eq!(ring.len(), 2, "{ring:?}");
    assert!(ring.iter().any(|e| e.isolation == Isolation::Family && e.stability.kind() == "neutral"));
    assert!(ring.iter().any(|e| e.isolation == Isolation::Isolated && e.stability.kind() == "unstable"));
}

#[test]
fn gyroscopic_and_follower_forces_are_judged_by_eigenvalues() {
    // x'' = x + b y', y'' = y − b x': stable to first order for b > 2.
    let saddle = |b: f64| plane("-(x^2 + y^2)/2", &[("x", &format!("{b:?}*y'")), ("y", &format!("-{b:?}*x'"))]);
    assert_eq!(told(saddle(3.0)), [(vec![0.0, 0.0], "linearly stable", "isolated")]);
    assert_eq!(told(saddle(1.0)), [(vec![0.0, 0.0], "unstable", "isolated")]);
    // Damping destroys what gyroscopic forces hold (Kelvin and Tait).
    let damped = plane("-(x^2 + y^2)/2", &[("x", "3*y' - 0.1*x'"), ("y", "-3*x' - 0.1*y'")]);
    assert_eq!(told(damped)[0].1, "unstable");
    // A minimum stays stable with gyroscopic forces.
    assert_eq!(told(plane("x^2 + y^2", &[("x", "3*y'"), ("y", "-3*x'")]))[0].1, "stable");
    // A bowl that turns: unstable between its two frequencies.
    let turning = |w: f64| {
        Builder::new("bowl")
            .coordinate("x", 0.1, 0)
            .coordinate("y", 0.1, 0)
            .kinetic(format!("((x' - {w:?}*y)^2 + (y' + {w:?}*x)^2)/2"))
            .potential("(x^2 + 4*y^2)/2")
    };
    assert_eq!(told(turning(0.5))[0].1, "stable");
    assert_eq!(told(turning(1.5))[0].1, "unstable");
    assert_eq!(told(turning(3.0))[0].1, "linearly stable");
    // Circulatory forces: x'' = −x + p y, y'' = −2 y − p x flutters for p > 1/2.
    let follower = |p: f64, c: f64| {
        plane("(x^2 + 2*y^2)/2", &[("x", &format!("{p:?}*y - {c:?}*x'")), ("y", &format!("-{p:?}*x - {c:?}*y'"))])
    };
    assert_eq!(told(follower(0.4, 0.0))[0].1, "linearly stable");
    let flutter = all(follower(0.7, 0.0)).found;
    assert!(matches!(flutter[0].stability, Stability::Grows { frequency, .. } if frequency > 1.0), "{flutter:?}");
    assert_eq!(told(follower(0.4, 0.1))[0].1, "stable");
    // Ziegler's double pendulum with a follower force: flutter between P = 2 and 4, divergence beyond; undecided at 2.
    let ziegler = |p: f64| {
        Builder::new("ziegler")
            .coordinate("a", 0.1, 0)
            .coordinate("b", 0.1, 0)
            .kinetic("(2*a'^2 + b'^2 + 2*a'*b'*cos(a - b))/2")
            .potential("(a^2 + (b - a)^2)/2")
            .force("a", format!("{p:?}*sin(a - b)"))
    };
    let kinds: Vec<_> = [1.0, 2.0, 3.0, 5.0].into_iter().map(|p| told(ziegler(p))[0].1).collect();
    assert_eq!(kinds, ["linearly stable", "unknown", "unstable", "unstable"]);
    // Negative damping.
    let positive = Builder::new("x").coordinate("x", 0.1, 0).kinetic("x'^2/2").potential("x^2").force("x", "0.1*x'");
    assert_eq!(told(positive)[0].1, "unstable");
}

#[test]
fn a_forced_model_is_judged_with_time_frozen() {
    let oscillator = |c: f64| {
        Builder::new("forced")
            .coordinate("x", 0.1, 0)
            .kinetic("x'^2/2")
            .potential("x^2/2")
            .force("x", format!("cos(t) - {c:?}*x'"))
    };
    assert_eq!(told(oscillator(0.1)), [(vec![1.0], "stable", "isolated")]);
    assert_eq!(told(oscillator(0.0)), [(vec![1.0], "stable", "isolated")]);
    let duffing = Builder::new("duffing")
        .coordinate("x", 0.5, 0)
        .kinetic("x'^2/2")
        .potential("-x^2/2 + x^4/4")
        .force("x", "-0.1*x' + 0.1*sin(t)")
        .restitution(0.5)
        .constraint("stop", "1.3 - x");
    let kinds: Vec<_> = told(duffing).into_iter().map(|e| (e.0[0], e.1)).collect();
    assert_eq!(kinds, [(-1.0, "stable"), (0.0, "unstable"), (1.0, "stable")]);
}

#[test]
fn where_nothing_pushes_all_of_k_is_one_family() {
    let corner = |gaps: &[(&str, &str)]| {
        let model = Builder::new("free")
            .coordinate("x", 0.5, 0)
            .coordinate("y", 0.0, 0)
            .kinetic("(x'^2 + y'^2)/2")
            .restitution(0);
        gaps.iter().fold(model, |model, (name, gap)| model.constraint(name, *gap))
    };
    for gaps in
        [&[("wall", "x"), ("floor", "y")][..], &[("circle", "1 - hypot(x, y)")], &[("post", "hypot(x, y) - 0.3")]]
    {
        let found = all(corner(gaps)).found;
        assert_eq!(found.len(), 1, "{gaps:?}: {:?}", &found[..found.len().min(4)]);
        assert!(found[0].closed.is_empty() && found[0].family.len() == 2 && found[0].stability.kind() == "neutral");
    }
    // Two rooms are two families.
    let rooms = all(corner(&[("wall", "x^2 - 0.1")])).found;
    assert_eq!(rooms.len(), 2, "{rooms:?}");
}

#[test]
fn contacts_are_part_of_the_judgement() {
    // A ball on top of a post and in a bowl; a bead pressed to a curve that bends more or less than the potential.
    let on = |gap: &str, y0: f64| {
        Builder::new("on")
            .coordinate("x", 0.1, 0)
            .coordinate("y", y0, 0)
            .kinetic("(x'^2 + y'^2)/2")
            .potential("10*y")
            .restitution(0)
            .constraint("c", gap)
    };
    let kinds = |m: Builder| told(m).into_iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
    assert_eq!(kinds(on("hypot(x, y) - 1", 2.0)), [(vec![0.0, 1.0], "unstable")]);
    assert_eq!(kinds(on("1 - hypot(x, y)", 0.0)), [(vec![0.0, -1.0], "stable")]);
    assert_eq!(kinds(on("y - x^4", 1.0)), [(vec![0.0, 0.0], "stable")]);
    assert_eq!(kinds(on("y + x^4", 1.0)), [(vec![0.0, 0.0], "unstable")]);
    assert_eq!(kinds(on("y - x^3", 1.0)), [(vec![0.0, 0.0], "unstable")]);
    // A slope has none, a floor a family.
    assert!(kinds(on("y - 0.1*x", 1.0)).is_empty());
    let floor = all(on("y", 1.0)).found;
    assert_eq!(
        (floor.len(), floor[0].family.len(), floor[0].stability.kind()),
        (1, 1, "neutral"),
        "{:?}",
        &floor[..floor.len().min(3)]
    );
    // Pressed into the wall by a force that decays away from it.
    let pressed = line(0.5, "-exp(-x)").restitution(0).constraint("wall", "x");
    assert_eq!(kinds(pressed), [(vec![0.0], "stable")]);
    let away = line(0.5, "exp(-x)").restitution(0).constraint("wall", "x");
    assert!(kinds(away).is_empty());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    /// A quadratic potential has one equilibrium, where statics says, and stable exactly if it is positive definite.
    #[test]
    fn a_quadratic_potential_is_told_by_its_matrix(a in -3.0f64..3.0, b in -3.0f64..3.0, c in -3.0f64..3.0, f in -2.0f64..2.0) {
        let det = a * b - c * c;
        proptest::prop_assume!(det.abs() > 0.05);
        let potential = format!("{a:?}*x^2/2 + {b:?}*y^2/2 + {c:?}*x*y - {f:?}*x");
        let found = all(plane(&potential, &[])).found;
        proptest::prop_assert_eq!(found.len(), 1);
        proptest::prop_assert!((found[0].q[0] - b * f / det).abs() < 1e-8 * (1.0 + (b * f / det).abs()));
        let kind = if a > 0.0 && det > 0.0 { "stable" } else { "unstable" };
        proptest::prop_assert_eq!(found[0].stability.kind(), kind);
        proptest::prop_assert_eq!(found[0].isolation, Isolation::Isolated);
    }
}

#[test]
fn states_are_unknowns_and_decide_stability() {
    // s³ + a s² + s + a + b: by Hurwitz, stable for −a < b < 0.
    for (b, kind) in [(-0.1, "stable"), (0.1, "unstable")] {
        let fed =
            Builder::new("fed back").parameter("b", b).coordinate("x", 0.3, 0.0).state("z", 0.0, "-(z - 2)/2 - b*x");
        let fed = fed.kinetic("x'^2/2").potential("x^2/2").force("x", "z - 2");
        let found = all(fed);
        assert_eq!(found.found.len(), 1, "{found:?}");
        let e = &found.found[0];
        // x = z − 2 and (z − 2)/2 = −b x: only at the origin.
        assert!(e.q[0].abs() < 1e-12 && (e.z[0] - 2.0).abs() < 1e-12 && e.q.len() == 1, "{e:?}");
        assert_eq!(e.stability.kind(), kind, "{e:?}");
    }
    // A state of another size than one, far from where it starts: p = 2e5, x = 0.4.
    let valve = Builder::new("valve").coordinate("x", 0.0, 0.0).state("p", 0.0, "4e5 - 2*p").kinetic("x'^2/2");
    let valve = valve.force("x", "2e-6*p - x - x'");
    let found = all(valve);
    assert_eq!(found.found.len(), 1);
    let e = &found.found[0];
    assert!((e.q[0] - 0.4).abs() < 1e-9 && (e.z[0] - 2e5).abs() < 1e-4, "{e:?}");
    // The slowest of −1/2 ± i√3/2 and −2.
    assert!(matches!(e.stability, Stability::Decays { rate } if (rate - 0.5).abs() < 1e-9), "{e:?}");
}

#[test]
fn joints_hold_with_reactions_of_either_sign() {
    let pendulum = Builder::new("pendulum").coordinate("x", 1.0, 0.0).coordinate("y", 0.0, 0.0);
    let pendulum = pendulum.kinetic("(x'^2 + y'^2)/2").potential("9.81*y").joint("rod", &["x^2 + y^2 - 1"]);
    let found = all(pendulum);
    assert_eq!(found.found.len(), 2, "{found:?}");
    for e in &found.found {
        let up = e.q[1] > 0.0;
        assert!(e.q[0].abs() < 1e-9 && (e.q[1].abs() - 1.0).abs() < 1e-12);
        // −9.81 + 2 y λ = 0.
        assert!((e.joint_reactions[0] - 4.905 * e.q[1].signum()).abs() < 1e-9, "{e:?}");
        assert_eq!(e.stability.kind(), if up { "unstable" } else { "stable" });
    }
}

#[test]
fn with_friction_nothing_wrong_is_said() {
    let incline = Builder::new("incline")
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .force("x", "1")
        .slider("dry", "x'", "2", None);
    let found = all(incline);
    assert!(found.found.is_empty() && found.notes.len() == 1 && found.notes[0].contains("sticks"), "{found:?}");
    let top = Builder::new("top")
        .coordinate("a", 0.1, 0.0)
        .kinetic("a'^2/2")
        .potential("cos(a)")
        .slider("dry", "a'", "2", None);
    let found = all(top);
    let upright = found.found.iter().find(|e| e.q[0].abs() < 1e-6).expect("the upright position");
    assert_eq!(upright.stability.kind(), "unknown");
}

#[test]
fn friction_of_surfaces_that_move_is_part_of_the_balance() {
    let belt = |limit: &str| {
        let belt = Builder::new("belt").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
        all(belt.slider("belt", "x' - 1", limit, None))
    };
    // x = F.
    let found = belt("2");
    assert!(found.notes[0].contains("part of the balance") && !found.sticks, "{:?}", found.notes);
    assert!(found.found.len() == 1 && (found.found[0].q[0] - 2.0).abs() < 1e-12, "{found:?}");
    // A limit that falls with the speed drives the motion: F = 2/(1 + |x' - 1|), ∂F/∂x' = 1/2 at rest.
    let found = belt("2/(1 + speed)");
    assert!((found.found[0].q[0] - 1.0).abs() < 1e-12, "{found:?}");
    let Stability::Grows { rate, .. } = found.found[0].stability else { panic!("{found:?}") };
    assert!((rate - 0.25).abs() < 1e-6, "{rate}");
    // A block on a belt up a slope, N = mg cos a/(1 + mu tan a) by the balance across, and along x with its spring.
    let (mu, tan) = (0.3, 0.5_f64);
    let cos = 1.0 / (1.0 + tan * tan).sqrt();
    let block = Builder::new("slope").coordinate("x", 0.1, 0.0).coordinate("y", 0.05, 0.0).kinetic("(x'^2 + y'^2)/2");
    let block = block.potential("2*x^2 + 9.81*y").restitution(0.0).constraint("belt", "(y - x/2)/sqrt(1.25)");
    let found = all(block.friction(mu, &["(x' + y'/2)/sqrt(1.25) - 2"]));
    let normal = 9.81 / (cos + mu * tan * cos);
    let x = normal * (mu * cos - tan * cos) / 4.0;
    assert_eq!(found.found.len(), 1, "{found:?}");
    let e = &found.found[0];
    assert!(
        (e.reactions[0] - normal).abs() < 1e-9 && (e.q[0] - x).abs() < 1e-9 && (e.q[1] - 0.5 * x).abs() < 1e-9,
        "{e:?}"
    );
    assert_eq!(e.stability.kind(), "unknown");
    // In space, on a table that turns: friction of 1 N along (-y, x)/r, a spring to (1, 0).
    let table = Builder::new("table").coordinate("x", 1.0, 0.0).coordinate("y", 0.1, 0.0).coordinate("z", 0.0, 0.0);
    let table = table.kinetic("(x'^2 + y'^2 + z'^2)/2").potential("(x - 1)^2 + y^2 + 2*z");
    let table = table.restitution(0.0).constraint("table", "z");
    let found = all(table.friction(0.5, &["x' + y", "y' - x"]));
    // 2 (x - 1) = -y/r, 2 y = x/r with r = |(x, y)|.
    for e in &found.found {
        let (x, y) = (e.q[0], e.q[1]);
        let r = x.hypot(y);
        assert!((2.0 * (x - 1.0) + y / r).abs() < 1e-9 && (2.0 * y - x / r).abs() < 1e-9, "{e:?}");
    }
    assert!(!found.found.is_empty());
}
