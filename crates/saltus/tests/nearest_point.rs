//! A step of the Paoli–Schatzman scheme leads to the nearest point of a curved set.

use proptest::prelude::*;
use saltus::linalg::Metric;
use saltus::model::Builder;
use saltus::scheme::{Node, Settings};
use saltus::{Options, Problem};

fn problem(builder: Builder) -> Problem {
    builder.build().expect("a model").problem().expect("compiles")
}

/// With e = 0 the first position is the point of K nearest to the free one in the kinetic metric: compared with a
/// search along the boundary of an ellipse, from inside (convex) and from outside (not convex). Gives how far it is off the
/// boundary, its squared distance, and that of the best point. The second step, which is projected as well, must succeed.
fn nearest_point([a, b, m, c, angle, deep]: [f64; 6], outside: bool) -> (f64, f64, f64) {
    let (start, aim) = if outside { (1.3, 1.0 - 0.5 * deep) } else { (0.6, 1.0 + deep) };
    let point = |r: f64| [r * a * angle.cos(), r * b * angle.sin()];
    let (q0, x) = (point(start), point(aim));
    let sign = if outside { "-1" } else { "1" };
    let system = problem(
        Builder::new("ellipse")
            .coordinate("x", format!("{:?}", q0[0]), format!("{:?}", x[0] - q0[0]))
            .coordinate("y", format!("{:?}", q0[1]), format!("{:?}", x[1] - q0[1]))
            .kinetic(format!("(x'^2 + {m:?}*y'^2 + 2*({c:?})*x'*y'*sqrt({m:?}))/2"))
            .restitution("0")
            .constraint("ellipse", format!("{sign}*(1 - (x/{a:?})^2 - (y/{b:?})^2)")),
    );
    let options = Options::steps("paoli-schatzman", 1.0).until(2.0);
    let scheme = options.scheme.steps().expect("steps");
    let at = system.instance(&system.start()).expect("a start");
    let mut stepper = (scheme.start)(&at, 1.0, &Settings::new()).expect("starts");
    let mut node = Node::new(2, 1);
    stepper.advance(&mut node).expect("a step");
    stepper.advance(&mut node).expect("a step");
    let mut metric = Metric::full(2);
    metric.set(&[1.0, c * m.sqrt(), c * m.sqrt(), m]).expect("positive");
    let distance = |p: [f64; 2]| metric.norm_squared(&[p[0] - x[0], p[1] - x[1]]);
    let on_boundary = (0..20_000).map(|k| {
        let s = f64::from(k) * std::f64::consts::TAU / 20_000.0;
        distance([a * s.cos(), b * s.sin()])
    });
    let best = on_boundary.fold(f64::INFINITY, f64::min);
    let gap = 1.0 - (node.q[0] / a).powi(2) - (node.q[1] / b).powi(2);
    (gap, distance([node.q[0], node.q[1]]), best)
}

#[test]
fn a_step_gets_away_from_a_place_between_two_nearest_points() {
    // The second step begins beside the farthest point of the boundary, where plain steps grow too slowly.
    for numbers in [
        [0.7627106645653616, 1.3421336796184402, 0.821330410030439, 0.48365029277321764, 4.320066010875193, 0.02],
        [
            1.53680638127153,
            0.7693561888638476,
            1.8197660052671976,
            -0.424704414259396,
            2.7331826761243736,
            0.12558803562719506,
        ],
    ] {
        let (gap, found, best) = nearest_point(numbers, true);
        assert!(gap.abs() < 1e-9 && found <= best * (1.0 + 1e-5) + 1e-9, "{gap} {found} {best}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]
    #[test]
    fn the_nearest_point_of_a_curved_set_is_found(
        a in 0.5f64..2.0, b in 0.5f64..2.0, m in 0.3f64..3.0, c in -0.5f64..0.5, angle in 0.0f64..6.2, deep in 0.02f64..0.4, outside in any::<bool>(),
    ) {
        let (gap, found, best) = nearest_point([a, b, m, c, angle, deep], outside);
        prop_assert!(gap.abs() < 1e-9, "on the boundary: {gap}");
        prop_assert!(found <= best * (1.0 + 1e-5) + 1e-9, "{found} {best}");
    }
}
