//! P01: the discrete sequence of the force-free ball, exactly. P02: the ball under gravity.

use super::*;

#[test]
fn p01_is_the_sequence_of_the_paper_for_every_h_and_e() {
    let cases = reference("P01")["cases"].as_array().expect("cases").clone();
    assert_eq!(cases.len(), 16);
    for case in &cases {
        let (h, e) = (num(&case["h"]), num(&case["e"]));
        let ps = &case["PS"];
        let p = ps["p_2001"].as_u64().expect("p") as usize;
        let last = ps["q_end"][0].as_u64().expect("index") as usize;
        let run = shipped_run("ball", &[("e", e)], h, last as f64 * h);
        let q = |i: usize| run.trajectory.q(i)[0];
        assert_eq!(run.trajectory.len(), last + 1);
        // Before the impact qⁱ = 1 − ih, after it qⁱ = e(ih − 1 − 2h), whatever the phase of h. Where 2qⁱ = (1−e)qⁱ⁻¹
        // holds exactly in rational arithmetic, rounding may take the impact a step early or late.
        let tie = (1.0 / h - (1.0 - e) / (1.0 + e) - (p as f64 - 1.0)).abs() < 1e-9;
        for i in 0..=last {
            let (before, after) = (1.0 - i as f64 * h, e * (i as f64 * h - 1.0 - 2.0 * h));
            let expected = if i <= p { before } else { after };
            let near_tie = tie && i.abs_diff(p) <= 1 && ((q(i) - before).abs() < 1e-12 || (q(i) - after).abs() < 1e-12);
            assert!((q(i) - expected).abs() < 1e-12 || near_tie, "h = {h}, e = {e}, i = {i}: {} not {expected}", q(i));
        }
        for (key, i) in [("q_p", p), ("q_p1", p + 1), ("q_p2", p + 2), ("q_p3", p + 3)] {
            assert!(tie || (q(i) - num(&ps[key])).abs() < 1e-12, "h = {h}, e = {e}: {key}");
        }
        assert!((q(last) - num(&ps["q_end"][1])).abs() < 1e-12);
        let outside = (0..=last).filter(|&i| q(i) < -1e-12).count() as u64;
        assert!(outside <= 2, "the constraint is violated during at most two steps");
        assert!(tie || outside == ps["n_infeasible"].as_u64().expect("count"));
        assert_eq!(run.audit.infeasible, outside);
        assert_eq!(run.trajectory.impacts.len(), 1);
        let impact = run.trajectory.impacts.get(0);
        assert!((impact.t - 1.0).abs() < 1e-12 && (impact.v_after[0] - e).abs() < 1e-9, "{impact:?}");
    }
}

/// The exact height of a ball dropped from rest at 1.
fn height(g: f64, e: f64, t: f64) -> f64 {
    let (mut start, mut v) = ((2.0 / g).sqrt(), e * (2.0 * g).sqrt());
    if t < start {
        return 1.0 - 0.5 * g * t * t;
    }
    for _ in 0..100_000 {
        let flight = 2.0 * v / g;
        if v < 1e-14 {
            break;
        }
        if t < start + flight {
            let s = t - start;
            return v * s - 0.5 * g * s * s;
        }
        (start, v) = (start + flight, e * v);
    }
    0.0
}

#[test]
fn p02_converges_with_first_order_through_accumulation() {
    let reference = reference("P02");
    for e in [0.0, 0.1, 0.5, 0.8, 0.9] {
        let key = format!("q0=1,v0=0,g=9.81,e={e}");
        let case = &reference["cases"][key.as_str()];
        // The closed form used here is checked against the reference's samples first.
        for obs in case["obs"].as_array().expect("obs") {
            assert!((height(9.81, e, num(&obs["t"])) - num(&obs["q"])).abs() < 1e-9, "{key} {obs}");
        }
        let end = num(&case["zeno_time"]).min(4.0) + 0.5;
        let errors = [1e-2, 1e-3, 1e-4].map(|h| {
            let run = shipped_run("ball-gravity", &[("e", e)], h, (end / h).round() * h);
            sup_error(&run, 0, |t| height(9.81, e, t))
        });
        if e > 0.0 {
            first_order(&format!("P02 e = {e}"), errors);
        } else {
            // Constant acceleration and no rebound: nothing is left to be in error.
            assert!(errors.iter().all(|&d| d < 1e-12), "{errors:?}");
        }
        let run = shipped_run("ball-gravity", &[("e", e)], 1e-4, 1.0);
        let first = run.trajectory.impacts.get(0);
        assert!((first.t - num(&case["first_impact_time"])).abs() < 1e-6);
        assert!((first.v_before[0] + num(&case["first_impact_speed"])).abs() < 1e-5);
        assert!((first.v_after[0] + e * first.v_before[0]).abs() < 1e-9);
    }
}

#[test]
fn p02_has_the_errors_of_an_independent_implementation() {
    let check = reference("P02")["scheme_check"].clone();
    for e in ["0.5", "0.9"] {
        for h in ["0.01", "0.001", "0.0001"] {
            let expected = num(&check[format!("e={e},h={h}").as_str()]["PS_min"]);
            let run =
                shipped_run("ball-gravity", &[("g", 2.0), ("e", e.parse().expect("e"))], h.parse().expect("h"), 2.0);
            assert!((run.audit.max_violation + expected).abs() < 0.02 * expected.abs(), "e = {e}, h = {h}");
        }
    }
}

#[test]
fn p02_comes_to_rest_with_the_right_energy_impulse_and_time() {
    let case = reference("P02")["cases"]["q0=1,v0=0,g=9.81,e=0.5"].clone();
    let run = shipped_run("ball-gravity", &[("e", 0.5)], 1e-4, 2.0);
    let last = run.trajectory.len() - 1;
    assert!(run.trajectory.q(last)[0].abs() < 1e-12 && run.trajectory.v(last, Side::Left)[0].abs() < 1e-12);
    assert!((run.audit.energy_lost_at_impacts - num(&case["E_total_dissipated_at_zeno"])).abs() < 1e-2);
    // One contact is left at the end, from about the accumulation time on, and it carries the weight.
    let contact = run.trajectory.contacts.last().expect("rest on the floor");
    let zeno = num(&case["zeno_time"]);
    assert!((contact.start - zeno).abs() < 1e-2, "{contact:?}");
    assert!((contact.impulse - 9.81 * (2.0 - contact.start)).abs() < 2e-2, "{contact:?}");
    assert!(run.audit.worst_law_residual < 1e-12);
}

#[test]
fn storing_less_keeps_the_impacts_and_the_final_state() {
    let (problem, _) = models::problem(&models::shipped_file("ball-gravity"), &[]);
    let options = Options::steps("paoli-schatzman", 1e-4).until(3.0);
    let all = problem.run(&options).expect("runs");
    let some = problem.run(&options.every(500)).expect("runs");
    assert!(some.trajectory.len() < 200 && all.trajectory.len() == 30_001);
    assert_eq!(some.trajectory.impacts.len(), all.trajectory.impacts.len());
    for (a, b) in some.trajectory.impacts.iter().zip(all.trajectory.impacts.iter()) {
        assert_eq!((a.t, a.v_before, a.v_after), (b.t, b.v_before, b.v_after));
    }
    assert_eq!(some.trajectory.t.last(), all.trajectory.t.last());
    // No jump falls between stored instants: interpolation agrees with the full record to the order of the cubic.
    for k in 0..all.trajectory.len() {
        let (q, _) = some.trajectory.at(all.trajectory.t[k], Side::Left).expect("inside");
        assert!((q[0] - all.trajectory.q(k)[0]).abs() < 1e-9, "t = {}", all.trajectory.t[k]);
    }
}
