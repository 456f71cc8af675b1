//! P18: curved sets, convex and not.

use super::*;

#[test]
fn p18_disc_impacts_accumulate_and_the_particle_slides_on() {
    let exact = reference("P18")["circle_restitution"].clone();
    // The first impact is at t = 1/2, at the point (1, 0).
    let (t_inf, angle_inf) = (0.5 + num(&exact["t_inf"]), num(&exact["angle_inf"]));
    let errors = [1e-2, 1e-3, 1e-4].map(|h| {
        let run = shipped_run("disc", &[("e", 0.5)], h, 3.0);
        // After the accumulation: on the circle, at unit speed.
        let worst = [2.3, 2.6, 3.0].map(|t| {
            let angle = angle_inf + (t - t_inf);
            (position(&run, t, 0) - angle.cos()).abs().max((position(&run, t, 1) - angle.sin()).abs())
        });
        if h == 1e-4 {
            let contact = run.trajectory.contacts.last().expect("slides");
            assert!((contact.start - t_inf).abs() < 0.01, "{contact:?}");
            // The reaction of sliding at speed 1 on a circle of radius 1 is 1.
            assert!((contact.impulse / (contact.end - contact.start) - 1.0).abs() < 0.01, "{contact:?}");
            for (k, impact) in run.trajectory.impacts.iter().take(5).enumerate() {
                assert!((impact.approach + 0.5f64.powi(k as i32)).abs() < 1e-3, "radial speed e^{k}");
            }
        }
        worst.into_iter().fold(0.0, f64::max)
    });
    first_order("P18 disc", errors);
}

#[test]
fn p18_dome_is_left_where_theory_says() {
    let exact = reference("P18")["dome"].clone();
    let (t1, x1) = (num(&exact["t_at_y_minus1"]), num(&exact["x_at_y_minus1"]));
    let errors = [1e-2, 1e-3, 1e-4].map(|h| {
        let run = shipped_run("dome", &[], h, 1.0);
        // e = 0: every position is in K, to the tolerance of the nearest-point iteration.
        assert!(run.audit.max_violation < 1e-12, "{}", run.audit.max_violation);
        let contact = run.trajectory.contacts.first().expect("slides first");
        assert!((contact.end - num(&exact["t_detach"])).abs() < 3.0 * h + 1e-3, "{contact:?}");
        (position(&run, t1, 0) - x1).abs().max((position(&run, t1, 1) + 1.0).abs())
    });
    first_order("P18 dome", errors);
}

#[test]
fn every_position_is_in_k_when_e_is_zero_whatever_k_is() {
    // A cusp between two discs, an ellipse, a wavy floor: curved, non-convex, several at once, with coarse steps.
    let scene = |gaps: &str| {
        format!(
            r#"
[coordinates]
x = {{ position = 0.1, velocity = 0.7 }}
y = {{ position = 1.2, velocity = -0.3 }}
[dynamics]
kinetic = "(x'^2 + 2*y'^2 + x'*y')/2"
potential = "9.81*y"
{gaps}
[impact]
restitution = 0
"#
        )
    };
    for gaps in [
        "[[constraint]]\ngap = 'hypot(x - 1, y) - 1'\n[[constraint]]\ngap = 'hypot(x + 1, y) - 1'",
        "[[constraint]]\ngap = '4 - x^2 - 2*y^2'",
        "[[constraint]]\ngap = 'y - 0.2*sin(5*x)'\n[[constraint]]\ngap = '2 - x'\n[[constraint]]\ngap = 'x + 2'",
        "[[constraint]]\ngap = 'y + 1 - 0.3*t'\n[[constraint]]\ngap = '3 - hypot(x, y)'",
    ] {
        for h in [0.03, 0.01, 1e-3] {
            let run = text_run(&scene(gaps), &[], h, 3.0);
            assert!(run.audit.max_violation < 1e-12, "{gaps} h = {h}: {}", run.audit.max_violation);
        }
    }
}
