//! P14: Newton's cradle. P17: pounding buildings. P18: hard rods.

use super::*;
use saltus::contact::ImpactLaw;
use saltus::linalg::{Metric, Rows};

#[test]
fn p14_the_law_gives_the_exact_velocities() {
    for row in reference("P14")["rows"].as_array().expect("rows") {
        let (mut v, masses, e) = (nums(&row["v_pre"]), nums(&row["masses"]), num(&row["e"]));
        let n = v.len();
        let mut normals = vec![0.0; (n - 1) * n];
        for i in 0..n - 1 {
            normals[i * n + i] = -1.0;
            normals[i * n + i + 1] = 1.0;
        }
        let mut metric = Metric::diagonal(n);
        metric.set(&masses).expect("positive");
        let mut law = ImpactLaw::new(n, n - 1);
        law.apply(&metric, &Rows::dense(n, &normals), &vec![0.0; n - 1], &vec![e; n - 1], &mut v).expect("a cone");
        for (v, exact) in v.iter().zip(nums(&row["v_post"])) {
            assert!((v - exact).abs() < 1e-12, "{row}");
        }
    }
}

/// Newton's cradle: ball 1 flies at n − 1 others that touch.
pub const CRADLE: &str = r#"
[parameters]
n = 3
e = 1.0
[coordinates]
x = { for = "i = 1..n", position = "if(i == 1, -1, i - 2)", velocity = "if(i == 1, 1, 0)" }
[dynamics]
kinetic = "sum(i = 1..n, x[i]'^2/2)"
[[constraint]]
name = "pair"
for = "i = 1..n-1"
gap = "x[i+1] - x[i] - if(i == 1, 0, 1)"
[impact]
restitution = "e"
"#;

#[test]
fn p14_the_scheme_follows_the_law_through_a_multiple_impact() {
    for n in [2.0, 3.0, 5.0] {
        for e in [0.0, 0.5, 1.0] {
            let errors = [0.997e-2, 0.997e-3, 0.997e-4].map(|h| {
                let run = text_run(CRADLE, &[("n", n), ("e", e)], h, 2.0);
                let v = run.trajectory.v(run.trajectory.len() - 1, Side::Left);
                // v+ = (−e + (1+e)/N, (1+e)/N, …)
                for (i, v) in v.iter().enumerate() {
                    let exact = (1.0 + e) / n - if i == 0 { e } else { 0.0 };
                    assert!((v - exact).abs() < 1e-9, "N = {n}, e = {e}: {v} not {exact}");
                }
                let first = |t: f64| if t < 1.0 { t - 1.0 } else { ((1.0 + e) / n - e) * (t - 1.0) };
                sup_error(&run, 0, first)
            });
            if e > 0.0 {
                first_order(&format!("P14 N = {n}, e = {e}"), errors);
            } else {
                // No rebound: nothing lags behind the exact motion beyond the contact step.
                assert!(errors.iter().zip([1e-2, 1e-3, 1e-4]).all(|(d, h)| *d <= h), "{errors:?}");
            }
        }
    }
}

#[test]
fn p17_pounding_has_all_its_impacts() {
    let rows = reference("P17")["rows"].as_array().expect("rows").clone();
    for row in &rows {
        let e = num(&row["e"]);
        let exact = row["impacts"].as_array().expect("impacts");
        let errors = [1e-3, 1e-4, 1e-5].map(|h| {
            let run = shipped_run("pounding", &[("e", e)], h, 20.0);
            if h == 1e-5 {
                assert_eq!(
                    run.trajectory.impacts.len() as u64,
                    row["n_impacts_to_20s"].as_u64().expect("count"),
                    "e = {e}"
                );
                for (impact, exact) in run.trajectory.impacts.iter().zip(exact) {
                    assert!((impact.t - num(&exact["t"])).abs() < 1e-3);
                    assert!((impact.approach + num(&exact["closing_speed"])).abs() < 1e-3);
                }
                let last = run.trajectory.len() - 1;
                let end = nums(&row["final_state_t20"]);
                let (q, v) = (run.trajectory.q(last), run.trajectory.v(last, Side::Left));
                let state = [q[0], v[0], q[1], v[1]];
                assert!(state.iter().zip(&end).all(|(a, b)| (a - b).abs() < 1e-4), "{state:?} {end:?}");
            }
            let later = exact.iter().skip(3).take(5).enumerate();
            later.map(|(k, x)| (run.trajectory.impacts.get(k + 3).t - num(&x["t"])).abs()).fold(0.0, f64::max)
        });
        first_order(&format!("P17 e = {e}, impact times"), errors);
    }
}

#[test]
fn p18_hard_rods_only_exchange_their_speeds() {
    let exact = reference("P18")["hard_rods"].clone();
    let row = &exact["rows"][0];
    let (x, v) = (nums(&row["x"]), nums(&row["v"]));
    let errors = [1e-3, 1e-4, 1e-5].map(|h| {
        let run = shipped_run("hard-rods", &[], h, 1.0);
        let last = run.trajectory.len() - 1;
        assert!((run.audit.energy_end - num(&exact["energy"])).abs() < 1e-9);
        if h < 1e-4 {
            for i in 0..5 {
                assert!((run.trajectory.v(last, Side::Left)[i] - v[i]).abs() < 1e-9);
            }
            let acted: usize = run.trajectory.impacts.iter().map(|i| i.constraints.len()).sum();
            let collisions =
                row["pair_collisions"].as_u64().expect("count") + row["wall_collisions"].as_u64().expect("count");
            assert_eq!(acted as u64, collisions);
        }
        (0..5).map(|i| (run.trajectory.q(last)[i] - x[i]).abs()).fold(0.0, f64::max)
    });
    first_order("P18 hard rods", errors);
}

#[test]
fn p18_families_grow_with_their_parameter() {
    let text = shipped::MODELS.iter().find(|(n, _)| *n == "hard-rods").expect("shipped").1;
    let text = text
        .replace("position = \"free[i] + (2*i - 1)*d/2\"", "position = \"(i - 1/2)*L/n\"")
        .replace("velocity = [\"1\", \"-1/3\", \"2/7\", \"-5/11\", \"3/13\"]", "velocity = \"sin(i^2)\"");
    let run = text_run(&text, &[("n", 40.0), ("d", 0.01)], 1e-5, 0.2);
    assert_eq!(run.trajectory.dimension(), 40);
    let relative = (run.audit.energy_end - run.audit.energy_start).abs() / run.audit.energy_start;
    assert!(relative < 1e-9 && run.trajectory.impacts.len() > 100, "{relative}");
}
