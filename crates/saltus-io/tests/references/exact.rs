//! The event-driven engine at tolerance 1e-12 against the references, to nine digits and more.

use super::*;
use saltus::{PhaseKind, Status};

/// Runs a model by events with tolerance 1e-12; only events and few instants are stored.
fn exact(file: &ModelFile, set: &[(&str, f64)], end: f64) -> Run {
    let (problem, _) = models::problem(file, set);
    let options = Options::events(end).scheme("event-driven").step(end / 100.0).tolerance(1e-12);
    let run = problem.run(&options).expect("runs");
    assert_eq!(run.status, Status::Finished);
    assert!(run.audit.max_violation < 1e-9, "{:?}", run.audit);
    assert_eq!(run.timeline.of(PhaseKind::Stepped).count(), 0, "no time stepping");
    run
}

pub fn shipped_exact(name: &str, set: &[(&str, f64)], end: f64) -> Run {
    exact(&models::shipped_file(name), set, end)
}

pub fn text_exact(text: &str, set: &[(&str, f64)], end: f64) -> Run {
    exact(&ModelFile::parse("test", text, Path::new("")).expect("parses"), set, end)
}

pub fn close(what: &str, value: f64, expected: f64, relative: f64) {
    let off = (value - expected).abs() / expected.abs().max(1e-300);
    assert!(off <= relative, "{what}: {value:.15} not {expected:.15}, off by {off:e}");
}

#[test]
fn p02_every_impact_and_the_accumulation() {
    let reference = reference("P02");
    for e in ["0", "0.1", "0.5", "0.8", "0.9", "0.99"] {
        let case = &reference["cases"][format!("q0=1,v0=0,g=9.81,e={e}").as_str()];
        let (e, zeno) = (e.parse::<f64>().expect("e"), num(&case["zeno_time"]));
        let run = shipped_exact("ball-gravity", &[("e", e)], zeno + 3.0);
        let impacts = &run.trajectory.impacts;
        let (first, w) = (num(&case["first_impact_time"]), num(&case["first_impact_speed"]));
        for (n, impact) in impacts.iter().enumerate() {
            let k = n as i32;
            let t = first + if e > 0.0 { 2.0 * w / 9.81 * (e - e.powi(k + 1)) / (1.0 - e) } else { 0.0 };
            close("impact time", impact.t, t, 1e-9);
            // Down to a millionth of the first: the time of a short flight is rounded.
            let speed = w * e.powi(k);
            assert!(
                (-impact.v_before[0] - speed).abs() < 1e-9 * speed + 1e-14 * w,
                "impact {n}: {}",
                impact.v_before[0]
            );
        }
        assert!(impacts.len() >= if e > 0.0 { 5 } else { 1 });
        if e > 0.0 {
            let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
            close("accumulation", chatter.end, zeno, 1e-9);
            assert!(chatter.error < 1e-9 && chatter.impacts == impacts.len(), "{chatter:?}");
        }
        let contact = run.timeline.phases.last().expect("phases");
        assert_eq!((contact.kind, &contact.constraints[..]), (PhaseKind::Contact, &[0][..]));
        let reaction = run.trajectory.reactions(zeno + 2.0, Side::Left, 1).expect("known")[0];
        close("weight", reaction, 9.81, 1e-12);
        let last = run.trajectory.len() - 1;
        assert_eq!((run.trajectory.q(last), run.trajectory.v(last, Side::Left)), (&[0.0][..], &[0.0][..]));
        for obs in case["obs"].as_array().expect("obs") {
            if num(&obs["t"]) < zeno + 3.0 {
                let (q, v) = run.trajectory.at(num(&obs["t"]), Side::Left).expect("inside");
                assert!(
                    (q[0] - num(&obs["q"])).abs() < 1e-9 && (v[0] - num(&obs["v"])).abs() < 1e-8,
                    "{e} {obs} {q:?} {v:?}"
                );
            }
        }
    }
}

#[test]
fn p03_stick_and_fly_and_the_periodic_orbit() {
    let reference = reference("P03");
    let period = std::f64::consts::TAU;
    let mut rows = 0;
    for row in reference["inelastic_table_e0"].as_array().expect("rows") {
        if row["period_in_table_cycles"] != 1 || row["sticks_on_landing"] != true {
            continue;
        }
        let run = shipped_exact("ball-table", &[("G", num(&row["G"])), ("e", 0.0)], 6.0 * period);
        // From the second release on the motion is periodic.
        let releases: Vec<f64> = run.timeline.of(PhaseKind::Release).map(|p| p.start).collect();
        let contacts: Vec<_> = run.timeline.of(PhaseKind::Contact).collect();
        assert!(releases.len() >= 4, "{row} {releases:?}");
        let phase = 0.634_215_868_925_774_2 + releases[2];
        let takeoff = num(&row["takeoff_phase"]);
        let off = (phase - takeoff).rem_euclid(period);
        assert!(off.min(period - off) < 1e-9, "takeoff {phase} not {takeoff}");
        let contact = contacts.iter().find(|c| c.end == releases[2]).expect("it ends with the release");
        let landing = run.trajectory.impacts.iter().find(|i| i.t > releases[2]).expect("lands");
        close("flight", landing.t - releases[2], num(&row["flight_duration"]), 1e-9);
        close("contact fraction", (contact.end - contact.start) / period, num(&row["contact_fraction"]), 1e-9);
        close("landing speed", -landing.approach, num(&row["impact_rel_speed"]), 1e-9);
        rows += 1;
    }
    assert!(rows >= 5);
    let orbit = &reference["example_G1.3_e0.5"];
    let run = shipped_exact("ball-table", &[("phase", num(&orbit["phi"]))], 1000.5 * period);
    assert_eq!(run.trajectory.impacts.len(), 1000);
    let last = run.trajectory.impacts.get(999);
    close("takeoff", last.v_after[0], num(&orbit["takeoff_abs_velocity"]), 1e-9);
    close("phase", last.t, 1000.0 * period, 1e-9);
}

/// Runs the oscillator of P04 from an impact with speed W at its phase.
fn oscillator(z: f64, w: f64, force: f64, s: f64, r: f64, start: (f64, f64, f64), end: f64) -> Run {
    let text = format!(
        r#"
[parameters]
phase = {:?}
[coordinates]
x = {{ position = {:?}, velocity = {:?} }}
[dynamics]
kinetic = "x'^2/2"
potential = "x^2/2"
[dynamics.force]
x = "{force:?}*cos({w:?}*t + phase) - {:?}*x'"
[[constraint]]
name = "stop"
gap = "{s:?} - x"
[impact]
restitution = {r:?}
"#,
        start.0,
        start.1,
        start.2,
        2.0 * z
    );
    text_exact(&text, &[], end)
}

#[test]
fn p04_periodic_orbits() {
    let reference = reference("P04");
    for row in reference["undamped_s0_r0.8_n1"].as_array().expect("rows") {
        let (w, speed, phase) = (num(&row["w"]), num(&row["W"]), num(&row["impact_phase"]));
        let period = std::f64::consts::TAU / w;
        let run = oscillator(0.0, w, 1.0, 0.0, 0.8, (phase, 0.0, -0.8 * speed), 20.5 * period);
        assert_eq!(run.trajectory.impacts.len(), 20);
        for (k, impact) in run.trajectory.impacts.iter().enumerate() {
            close("speed", -impact.approach, speed, 1e-10);
            close("time", impact.t, (k + 1) as f64 * period, 1e-10);
        }
    }
    for row in reference["coco_15.2_c0.1_w1_d1_e0.8"].as_array().expect("rows") {
        let (a, speed, phase) = (num(&row["A"]), num(&row["W"]), num(&row["phase"]));
        let period = std::f64::consts::TAU;
        let run = oscillator(0.05, 1.0, a, 1.0, 0.8, (phase, 1.0, -0.8 * speed), 20.5 * period);
        assert_eq!(run.trajectory.impacts.len(), 20);
        // Near grazing the position determines the speed only to the root of its error.
        let allowed = 1e-10_f64.max(1e-12 / (speed * speed));
        for (k, impact) in run.trajectory.impacts.iter().enumerate() {
            close("speed", -impact.approach, speed, allowed);
            close("time", impact.t, (k + 1) as f64 * period, 1e-10);
        }
    }
}

#[test]
fn p04_statistics_of_the_chaotic_case() {
    // 400 000 time units, the first 1 000 thrown away; errors by 40 batches.
    let exact = reference("P04")["chaos"].clone();
    let end = 400_000.0;
    let run = oscillator(0.0, 2.8, 1.0, 0.0, 0.8, (0.0, -0.3, 0.1), end);
    let batches = 40;
    let length = (end - 1000.0) / batches as f64;
    let mut rows = vec![(0.0, 0.0, 0.0); batches];
    for impact in run.trajectory.impacts.iter().filter(|i| i.t > 1000.0) {
        let row = &mut rows[(((impact.t - 1000.0) / length) as usize).min(batches - 1)];
        row.0 += 1.0;
        row.1 += -impact.approach;
        row.2 += impact.approach * impact.approach;
    }
    let stat = |what: &str, key: &str, of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        let values: Vec<f64> = rows.iter().map(of).collect();
        let mean = values.iter().sum::<f64>() / batches as f64;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (batches - 1) as f64;
        let error = (variance / batches as f64).sqrt();
        let expected = num(&exact[key]["mean"]);
        println!("P04 chaos {what}: {mean} ± {error}, reference {expected}");
        assert!((mean - expected).abs() < 4.0 * error.hypot(num(&exact[key]["stderr"])), "{what}");
        assert!(error < 5e-3 * expected, "{what} is too uncertain to be a test: {error}");
    };
    stat("impact rate", "impact_rate", &|r| r.0 / length);
    stat("impact speed", "mean_abs_impact_speed", &|r| r.1 / r.0);
    stat("squared speed", "mean_sq_impact_speed", &|r| r.2 / r.0);
}

#[test]
fn p05_first_impact_after_grazing() {
    let exact = reference("P05");
    let graze = num(&exact["F_graze"]);
    let (z, w) = (0.05, 0.8);
    for (mu, key) in [(1e-2, "1e-2"), (1e-4, "1e-4"), (1e-6, "1e-6")] {
        let force = graze * (1.0 + mu);
        // The steady state x = a cos(wt − δ), started at its lowest point.
        let (re, im): (f64, f64) = (1.0 - w * w, 2.0 * z * w);
        let (amplitude, delta) = (force / re.hypot(im), im.atan2(re));
        let start = std::f64::consts::PI + delta;
        let run = oscillator(z, w, force, 1.0, 0.8, (start, -amplitude, 0.0), 1.01 * std::f64::consts::PI / w);
        let first = run.trajectory.impacts.get(0);
        let expected = num(&exact["first_impact_speed"][key]);
        let allowed = 1e-8_f64.max(1e-13 / (expected * expected));
        close("speed", -first.approach, expected, allowed);
    }
    // Below grazing there is no impact at all.
    let below = graze * (1.0 - 1e-6);
    let (amplitude, delta) = (1.0 - 1e-6, (2.0 * z * w).atan2(1.0 - w * w));
    let run = oscillator(z, w, below, 1.0, 0.8, (std::f64::consts::PI + delta, -amplitude, 0.0), 50.0);
    assert!(run.trajectory.impacts.is_empty());
}

#[test]
fn p07_rocking_block() {
    for case in reference("P07")["cases"].as_array().expect("cases") {
        let exact = &case["frictionless"];
        let times = nums(&exact["impact_times"]);
        let zeno = num(&exact["zeno_time"]);
        let run = shipped_exact("rocking-block", &[("b", num(&case["b"])), ("tilt", num(&case["theta0"]))], zeno + 0.5);
        assert!(run.trajectory.impacts.len() > times.len());
        for (impact, t) in run.trajectory.impacts.iter().zip(&times) {
            close("impact", impact.t, *t, 1e-8);
        }
        let first = run.trajectory.impacts.get(0);
        close("ω before", first.v_before[2].abs(), num(&exact["omega_pre"]), 1e-9);
        close("ω after", first.v_after[2].abs(), num(&exact["omega_post"]), 1e-9);
        let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
        close("accumulation", chatter.end, zeno, 1e-8);
        assert!(chatter.error < 1e-8, "{chatter:?}");
        let rest = run.timeline.phases.last().expect("phases");
        assert_eq!((rest.kind, &rest.constraints[..]), (PhaseKind::Contact, &[0, 1][..]));
        let reactions = run.trajectory.reactions(zeno + 0.4, Side::Left, 2).expect("known");
        close("half the weight", reactions[0], 9.81 / 2.0, 1e-9);
    }
}

#[test]
fn p10_symmetric_orbits() {
    for row in reference("P10")["rows"].as_array().expect("rows").iter().filter(|r| r["admissible"] == true) {
        let (w, speed, phase) = (num(&row["w"]), num(&row["W"]), num(&row["phase"]));
        let set = [
            ("w", w),
            ("z", num(&row["z"])),
            ("s", num(&row["s"])),
            ("r", num(&row["r"])),
            ("phase", phase),
            ("x0", num(&row["s"])),
            ("v0", -num(&row["r"]) * speed),
        ];
        let half = std::f64::consts::PI / w;
        // Unstable orbits are left at the rate of their multiplier.
        let (times, allowed) = if row["stable"] == true { (20, 1e-10) } else { (2, 1e-9) };
        let run = text_exact(super::schemes::TWO_STOPS, &set, (times as f64 + 0.5) * half);
        for k in 0..times {
            let impact = run.trajectory.impacts.get(k);
            close("speed", -impact.approach, speed, allowed);
            close("time", impact.t, (k + 1) as f64 * half, allowed);
        }
    }
}

#[test]
fn p11_rod_pendulum_and_double_pendulum() {
    let reference = reference("P11");
    let quarter = std::f64::consts::FRAC_PI_4;
    for (key, e, theta0) in [
        ("A: l=1,m=1,g=9.81,e=1,y0=1,v=0,theta0=pi/4,omega0=0", 1.0, quarter),
        ("B: e=0.5 same data", 0.5, quarter),
        ("C: theta0=0.1,e=0.5", 0.5, 0.1),
        ("D: e=0, theta0=pi/4", 0.0, quarter),
    ] {
        let impacts = reference["rod"]["cases"][key]["impacts"].as_array().expect("impacts");
        let last = num(&impacts[impacts.len() - 1]["t"]);
        let run = shipped_exact("rod", &[("e", e), ("theta0", theta0)], last + 1e-3);
        for (k, exact) in impacts.iter().enumerate() {
            let impact = run.trajectory.impacts.get(k);
            assert_eq!(impact.constraints, [exact["tip"].as_u64().expect("tip") as usize]);
            close("time", impact.t, num(&exact["t"]), 1e-9);
            close("approach", impact.approach, num(&exact["vn"]), 1e-9);
            close("impulse", impact.impulses[0], num(&exact["P"]), 1e-9);
            close("ω after", impact.v_after[2], num(&exact["om"]), 1e-9);
        }
    }
    for row in reference["pendulum_wall"]["rows"].as_array().expect("rows") {
        let text = format!(
            r#"
[coordinates]
a = {{ position = {}, velocity = 0 }}
[dynamics]
kinetic = "{}^2*a'^2/2"
potential = "-{}*{}*cos(a)"
[[constraint]]
name = "wall"
gap = "a"
[impact]
restitution = {}
"#,
            num(&row["theta0"]),
            num(&row["l"]),
            num(&row["g"]),
            num(&row["l"]),
            num(&row["e"])
        );
        let (times, speeds) = (nums(&row["impact_times"]), nums(&row["impact_angular_speed"]));
        let run = text_exact(&text, &[], times[5] + 0.01);
        assert_eq!(run.trajectory.impacts.len(), times.len());
        for (k, impact) in run.trajectory.impacts.iter().enumerate() {
            close("time", impact.t, times[k], 1e-9);
            close("speed", -impact.approach, speeds[k], 1e-9);
        }
    }
    for (key, e) in [("e=1", 1.0), ("e=0.5", 0.5)] {
        let case = &reference["double_pendulum"]["cases"][key];
        let times = nums(&case["impact_times"]);
        let run = shipped_exact("double-pendulum", &[("e", e)], times[5] + 1e-3);
        for (k, speed) in nums(&case["rel_speed"]).iter().enumerate() {
            let impact = run.trajectory.impacts.get(k);
            close("time", impact.t, times[k], 1e-9);
            close("speed", impact.approach, *speed, 1e-9);
            for (v, exact) in impact.v_after.iter().zip(nums(&case["post_velocities"][k])) {
                close("after", *v, exact, 1e-8);
            }
        }
    }
}

#[test]
fn p12_beam_with_a_tip_stop() {
    // Paoli 2001 (3.9) with d = 10: A = BᵀB/Δx⁴, (Bu)ᵢ = uᵢ − 2uᵢ₋₁ + uᵢ₋₂.
    let text = r#"
[parameters]
e = 0
[coordinates]
u = { for = "i = 1..10", position = 0, velocity = 0 }
[dynamics]
kinetic = "sum(i = 1..10, u[i]'^2/2)"
potential = "1e4/2*(u[1]^2 + (u[2] - 2*u[1])^2 + sum(i = 3..10, (u[i] - 2*u[i-1] + u[i-2])^2)) - 10*u[10]"
[[constraint]]
name = "stop"
gap = "0.1 - u[10]"
[impact]
restitution = "e"
"#;
    for (key, e) in [("e=0", 0.0), ("e=1", 1.0)] {
        let case = &reference("P12")["cases"][key];
        let events = case["events"].as_array().expect("events");
        let run = text_exact(text, &[("e", e)], if e == 0.0 { 1.0 } else { num(&events[7]["t"]) + 1e-6 });
        let found: Vec<(&str, f64)> = run
            .timeline
            .phases
            .iter()
            .filter(|p| matches!(p.kind, PhaseKind::Impact | PhaseKind::Release))
            .map(|p| (p.kind.name(), p.start))
            .collect();
        for (k, exact) in events.iter().enumerate() {
            assert_eq!(found[k].0, exact["kind"].as_str().expect("kind"), "{found:?}");
            close("event", found[k].1, num(&exact["t"]), 1e-9);
        }
        for (t, u) in case["u10_u5_at"].as_object().expect("samples") {
            let t: f64 = t.parse().expect("t");
            // Its last event comes before this sample.
            let run = if t > run.trajectory.t[run.trajectory.len() - 1] {
                text_exact(text, &[("e", e)], t)
            } else {
                run.clone()
            };
            let (q, _) = run.trajectory.at(t, Side::Left).expect("inside");
            close("u10", q[9], num(&u[0]), 1e-9);
            close("u5", q[4], num(&u[1]), 1e-9);
        }
    }
}

#[test]
fn p13_moving_constraints() {
    let exact = reference("P13");
    let run = shipped_exact("moving-corner", &[], 3.0);
    let values = &exact["a_wall_1mcos"]["values"];
    let end = nums(&exact["e_moving_corner"]["u_at_3"]);
    close("x", position(&run, 3.0, 0), end[0], 1e-10);
    close("y", position(&run, 3.0, 1), end[1], 1e-10);
    let strike = run.trajectory.impacts.get(1);
    close("strike", strike.t, num(&values["t_star"]), 1e-10);
    close("jump", strike.v_after[0], num(&values["jump"]), 1e-10);
    let release = run.timeline.of(PhaseKind::Release).next().expect("the wall slows down");
    close("release", release.start, std::f64::consts::FRAC_PI_2, 1e-10);
    close("impulse", run.audit.impulses[0], 1.0, 1e-10);
    let run = text_exact(super::moving::CLOSING, &[], 9.0);
    let tenth = run.trajectory.impacts.iter().filter(|i| i.constraints == [1]).nth(9).expect("ten hits");
    close("tenth hit", tenth.t, num(&exact["d_closing_gap_e1"]["t_10"]), 1e-10);
}

#[test]
fn p16_chatter_stick_and_release() {
    for case in reference("P16")["cases"].as_array().expect("cases") {
        let (w, r) = (num(&case["w"]), num(&case["r"]));
        let period = std::f64::consts::TAU / w;
        let run = oscillator(0.0, w, 1.0, 0.0, r, (std::f64::consts::FRAC_PI_2, 0.0, 0.0), 2.5 * period);
        // The reference counts time with the phase: cos(ωt) from the release at ωt = π/2 on.
        let zero = std::f64::consts::FRAC_PI_2 / w;
        let shift = if num(&case["first_impacts"][0]["t"]) > 2.0 * period - 1e-6 { zero } else { 0.0 };
        for (k, exact) in case["first_impacts"].as_array().expect("impacts").iter().enumerate() {
            let impact = run.trajectory.impacts.get(k);
            close("impact", impact.t + shift, num(&exact["t"]), 1e-9);
            assert!((-impact.approach - num(&exact["v"])).abs() < 1e-9);
        }
        let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
        close("accumulation", chatter.end + shift, num(&case["chatter_accumulation_time"]), 1e-9);
        let release = run.timeline.of(PhaseKind::Release).find(|p| p.start > chatter.end).expect("released");
        close("stick", release.start - chatter.end, num(&case["stick_duration"]), 1e-9);
        close("release", release.start, period, 1e-9);
        // The next period is the same.
        let second = run.timeline.of(PhaseKind::Chatter).nth(1).expect("another accumulation");
        close("period", second.end - chatter.end, period, 1e-9);
    }
}

#[test]
fn p17_pounding() {
    for row in reference("P17")["rows"].as_array().expect("rows") {
        let run = shipped_exact("pounding", &[("e", num(&row["e"]))], 20.0);
        assert_eq!(run.trajectory.impacts.len() as u64, row["n_impacts_to_20s"].as_u64().expect("count"));
        for (impact, exact) in run.trajectory.impacts.iter().zip(row["impacts"].as_array().expect("impacts")) {
            close("time", impact.t, num(&exact["t"]), 1e-9);
            close("speed", -impact.approach, num(&exact["closing_speed"]), 1e-8);
        }
        let last = run.trajectory.len() - 1;
        let (q, v) = (run.trajectory.q(last), run.trajectory.v(last, Side::Left));
        for (value, exact) in [q[0], v[0], q[1], v[1]].iter().zip(nums(&row["final_state_t20"])) {
            close("final", *value, exact, 1e-9);
        }
        assert!((run.audit.energy_lost_at_impacts - num(&row["impact_energy_loss"])).abs() < 1e-9);
    }
}
