//! Beams, bars and buildings: P08, P09, P10, P12, P17.

use super::{breaches, num, nums, reference};
use saltus::analysis::Shocks;
use saltus::scheme::Settings;
use saltus::structure::{Modes, Reduction, StructureFacts};
use saltus::{Options, Run, Side, Structure};
use saltus_io::{AnySystem, ModelFile};
use std::path::Path;

fn structure(text: &str) -> Structure {
    let file = ModelFile::parse("test", text, Path::new("")).expect("parses");
    match file.system().expect("a valid structure").system {
        AnySystem::Structure(structure) => structure,
        AnySystem::Problem(_) => panic!("not a structure"),
    }
}

fn run_with(structure: &Structure, options: &Options) -> Run {
    let run = structure.run(options).expect("runs");
    // Modes that are left out take a part of the start with them.
    let allowed: &[&str] = if options.reduction.is_some() { &["P5"] } else { &[] };
    breaches::only(allowed, &run, "a structure");
    assert!(run.ledger.balance.relative() < 1e-3, "the balance is open by {}", run.ledger.balance.relative());
    run
}

fn by_events(text: &str, end: f64) -> Run {
    run_with(&structure(text), &Options::events(end).scheme("event-driven").step(end / 100.0))
}

fn stepped(text: &str, step: f64, end: f64) -> (Run, Shocks) {
    let structure = structure(text);
    let run = run_with(&structure, &Options::steps("paoli-schatzman", step).until(end));
    let shocks = Shocks::new(&structure, &run, None);
    (run, shocks)
}

/// A cantilever of unit length and properties with a load at its tip from t = 0 on and a stop at x₀.
fn cantilever(kind: &str, elements: usize, x0: f64, gap: f64, e: f64) -> String {
    format!(
        "[structure]\nkind = \"{kind}\"\nlength = 1\nelements = {elements}\nrigidity = 1\nmass_per_length = 1\n\
         [points]\ntip = {{ x = 1 }}\nmid = {{ x = 0.5 }}\nat = {{ x = {x0} }}\n[loads]\ntip = 1\n\
         [[constraint]]\nname = \"stop\"\ngap = \"{gap} - at\"\nrestitution = {e}\n"
    )
}

fn frequencies(text: &str, count: usize) -> Vec<f64> {
    let linear = structure(text).linear().clone();
    Modes::new(&linear.mass, &linear.stiffness, count).expect("modes").frequencies()
}

#[test]
fn p08_frequencies_of_the_differences_are_those_of_the_printed_matrix() {
    let p08 = reference("P08");
    for row in p08["fd_frequencies"].as_array().expect("rows") {
        let d = row["d"].as_u64().expect("d") as usize;
        let found = frequencies(&cantilever("beam-differences", d, 1.0, 0.1, 0.0), 4);
        for (w, expected) in found.iter().zip(nums(&row["omega"])) {
            assert!((w / expected - 1.0).abs() < 1e-9, "d = {d}: {w} {expected}");
        }
    }
    let all = frequencies(&cantilever("beam-differences", 10, 1.0, 0.1, 0.0), 10);
    for (w, expected) in all.iter().zip(nums(&p08["fd_d10_omega_all"])) {
        assert!((w / expected - 1.0).abs() < 1e-10, "{w} {expected}");
    }
}

#[test]
fn p08_frequencies_converge_to_the_continuous_beam() {
    let exact = nums(&reference("P08")["omega_over_k"]);
    // Hermite elements: fourth order; the printed differences: first.
    for (kind, counts, lowest) in [("beam", [4, 8, 16], 3.6), ("beam-differences", [40, 80, 160], 0.9)] {
        for k in 0..3 {
            let errors =
                counts.map(|n| (frequencies(&cantilever(kind, n, 1.0, 0.1, 0.0), 3)[k] / exact[k] - 1.0).abs());
            let order = (errors[0] / errors[2]).log2() / 2.0;
            println!("{kind}, mode {}: {errors:?}, order {order:.2}", k + 1);
            assert!(order > lowest, "{kind}: {errors:?}");
        }
    }
}

#[test]
fn p08_first_contacts_of_the_differences() {
    for row in reference("P08")["fd_first_impact"].as_array().expect("rows") {
        let (d, x0, gap) = (row["d"].as_u64().expect("d") as usize, num(&row["x0"]), num(&row["gap"]));
        let t1 = num(&row["t1"]);
        let done = by_events(&cantilever("beam-differences", d, x0, gap, 0.0), 1.02 * t1);
        let first = done.trajectory.impacts.get(0);
        assert!((first.t - t1).abs() < 1e-9, "d = {d}, x₀ = {x0}: {} {t1}", first.t);
        assert!((-first.approach - num(&row["impact_velocity"])).abs() < 1e-8, "{}", first.approach);
    }
}

#[test]
fn p08_first_contacts_of_the_second_beam_tend_to_the_continuous_one() {
    for row in reference("P08")["continuous_first_impact"].as_array().expect("rows") {
        let (x0, gap, t1) = (num(&row["x0"]), num(&row["gap"]), num(&row["t1"]));
        // The error changes its sign with the mesh; its size falls with the highest modes left out, as Δx³.
        let errors = [16, 32, 64].map(|n| {
            let done = by_events(&cantilever("beam", n, x0, gap, 0.0), 1.02 * t1);
            (done.trajectory.impacts.get(0).t - t1).abs()
        });
        let order = (errors[0] / errors[2]).log2() / 2.0;
        println!("x₀ = {x0}, gap {gap}: {errors:?}, order {order:.2}");
        assert!(order >= 2.0, "{errors:?}");
        assert!(errors[2] < 1e-6, "{errors:?}");
    }
}

#[test]
fn p12_all_events_of_the_beam_on_its_stop() {
    let cases = &reference("P12")["cases"];
    for (case, e) in [("e=0", 0.0), ("e=1", 1.0)] {
        let text = cantilever("beam-differences", 10, 1.0, 0.1, e);
        let end = if e == 0.0 { 1.0 } else { 0.5 };
        let done = by_events(&text, end);
        let motion = &done.trajectory;
        let events = cases[case]["events"].as_array().expect("events");
        let impacts: Vec<f64> = motion.impacts.iter().map(|i| i.t).collect();
        let expected: Vec<f64> = events.iter().filter(|x| x["kind"] == "impact").map(|x| num(&x["t"])).collect();
        assert_eq!(impacts.len(), expected.len(), "{case}");
        for (t, expected) in impacts.iter().zip(&expected) {
            assert!((t - expected).abs() < 1e-9, "{case}: {t} {expected}");
        }
        let releases: Vec<f64> = events.iter().filter(|x| x["kind"] == "release").map(|x| num(&x["t"])).collect();
        for (contact, expected) in motion.contacts.iter().filter(|c| c.end < end).zip(&releases) {
            assert!((contact.end - expected).abs() < 1e-9, "{case}: {} {expected}", contact.end);
        }
        for (t, u) in cases[case]["u10_u5_at"].as_object().expect("instants") {
            let (q, _) = motion.at(t.parse().expect("t"), Side::Left).expect("inside");
            for (x, expected) in q.iter().zip(nums(u)) {
                assert!((x - expected).abs() < 1e-10, "{case}: {x} {expected}");
            }
        }
    }
}

#[test]
fn p12_steps_tend_to_the_events() {
    // With e = 0 and the end away from contact, Paoli–Schatzman is of second order here, Moreau–Jean of first (its errors at two
    // steps fluctuate by the place of the impacts in a step: a wide band).
    let structure = structure(&cantilever("beam-differences", 10, 1.0, 0.1, 0.0));
    let expected = nums(&reference("P12")["cases"]["e=0"]["u10_u5_at"]["1.0"]);
    let schemes = [
        ("paoli-schatzman", Some("newmark"), 1.8),
        ("paoli-schatzman", Some("exact"), 1.8),
        ("moreau-jean", None, 0.5),
    ];
    for (scheme, forcing, least) in schemes {
        let error = |h: f64| {
            let mut options = Options::steps(scheme, h).until(1.0);
            forcing.iter().for_each(|&word| options.settings.set("forcing", word));
            let done = run_with(&structure, &options);
            let motion = &done.trajectory;
            let q = motion.q(motion.len() - 1);
            (0..2).map(|i| (q[i] - expected[i]).abs()).fold(0.0, f64::max)
        };
        let errors = [error(1e-3), error(1e-5)];
        let order = (errors[0] / errors[1]).log10() / 2.0;
        println!("{scheme}, {forcing:?}: {errors:?}, order {order:.2}");
        assert!(errors[1] < 2e-5 && order > least, "{scheme}, {forcing:?}: {errors:?}");
    }
}

/// The bar of P09 above a rigid plane.
fn bar(elements: usize, mass: &str, velocity: f64, gravity: f64) -> String {
    format!(
        "[structure]\nkind = \"bar\"\nlength = 10\nelements = {elements}\nrigidity = 900\nmass_per_length = 1\n\
         mass = \"{mass}\"\n[start]\ndisplacement = 5\nvelocity = {velocity}\n\
         [points]\nbottom = {{ x = 0 }}\nmid = {{ x = 5 }}\ntop = {{ x = 10 }}\nall = {{ from = 0, to = 10 }}\n\
         [loads]\nall = {}\n[[constraint]]\nname = \"plane\"\ngap = \"bottom\"\nrestitution = 0\n",
        -10.0 * gravity
    )
}

#[test]
fn p09_a_bar_rebounds_from_a_plane() {
    let case = &reference("P09")["no_gravity"]["doyen_like"];
    let interval = nums(&case["contact_interval"]);
    let mut errors = Vec::new();
    for elements in [50, 200, 800] {
        let h = 0.5 * 10.0 / elements as f64 / 30.0;
        let (done, shocks) = stepped(&bar(elements, "massless left", -10.0, 0.0), h, 2.0);
        let motion = &done.trajectory;
        assert_eq!(shocks.list.len(), 1);
        let shock = shocks.list[0];
        let top = motion.at(5.0 / 6.0, Side::Left).expect("inside").0[2];
        let (q, v) = motion.at(1.9, Side::Left).expect("inside");
        // The rebound is that of a rigid body at the speed it came with; the mean of the bar tells.
        let after = [(q[3] - 10.0 * (1.9 - 7.0 / 6.0)).abs(), (v[3] - 10.0).abs()];
        let energy = (done.audit.energy_end - 500.0).abs() / 500.0;
        let late = (shock.start - interval[0]).abs() + (shock.end - interval[1]).abs();
        let pressed = (shock.impulse / 200.0 - 1.0).abs();
        println!(
            "{elements}: top {top}, after {after:?}, energy {energy:.2e}, times {late:.2e}, impulse {pressed:.2e}"
        );
        assert!(energy < 1e-2, "the energy is constant: {energy}");
        errors.push([(top + 10.0 / 3.0).abs(), after[0], after[1], late, pressed]);
    }
    for k in 0..errors[0].len() {
        assert!(errors[2][k] < 0.5 * errors[0][k] || errors[2][k] < 1e-3, "error {k} does not fall: {errors:?}");
    }
    assert!(errors[2].iter().all(|e| *e < 0.05), "{errors:?}");
}

#[test]
fn p09_a_bar_bounces_periodically() {
    let samples = &reference("P09")["gravity_periodic"]["samples"];
    let worst = |elements: usize| {
        let h = 0.5 * 10.0 / elements as f64 / 30.0;
        let (done, shocks) = stepped(&bar(elements, "massless left", 0.0, 10.0), h, 16.0 / 3.0);
        assert_eq!(shocks.list.len(), 2);
        let mut worst = 0.0_f64;
        for (t, sample) in samples.as_object().expect("samples") {
            let t = num(&t.as_str().into());
            let motion = &done.trajectory;
            let (q, _) = motion.at(t.min(motion.t[motion.len() - 1]), Side::Left).expect("inside");
            for (x, key) in q.iter().zip(["u_bottom", "u_mid", "u_top"]) {
                worst = worst.max((x - num(&sample[key])).abs());
            }
        }
        worst
    };
    let errors = [worst(50), worst(200), worst(800)];
    println!("P09 with gravity: {errors:?}");
    assert!(errors[2] < 0.35 * errors[0] && errors[2] < 0.05, "{errors:?}");
}

#[test]
fn p10_two_sided_stops() {
    for row in reference("P10")["rows"].as_array().expect("rows").iter().filter(|r| r["stable"] == true) {
        let (z, w, s, r) = (num(&row["z"]), num(&row["w"]), num(&row["s"]), num(&row["r"]));
        let text = format!(
            "[parameters]\nw = {w}\n[structure]\nkind = \"building\"\nmasses = [1]\nstiffnesses = [1]\n\
             damping = {{ rayleigh = [{}, 0] }}\n[points]\nx = {{ floor = 1 }}\n[loads]\nx = \"{} * cos(w*t)\"\n\
             [[constraint]]\nname = \"guide\"\npoint = \"x\"\nwithin = {s}\nrestitution = {r}\n",
            2.0 * z,
            num(&row["F"])
        );
        let done = by_events(&text, 200.0);
        let impacts = &done.trajectory.impacts;
        let last: Vec<f64> = (impacts.len() - 4..impacts.len()).map(|k| -impacts.get(k).approach).collect();
        for speed in &last {
            assert!(
                (r * speed - num(&row["W"])).abs() < 1e-7 || (speed - num(&row["W"])).abs() < 1e-7,
                "{row}: {last:?}"
            );
        }
        let names: Vec<usize> = (impacts.len() - 2..impacts.len()).map(|k| impacts.get(k).constraints[0]).collect();
        assert_ne!(names[0], names[1], "both sides in turn");
    }
}

#[test]
fn p17_two_buildings_pound() {
    for row in reference("P17")["rows"].as_array().expect("rows") {
        let tau = std::f64::consts::TAU;
        let text = format!(
            "[[structure]]\nkind = \"building\"\nname = \"A\"\nmasses = [1]\nstiffnesses = [{}]\ndamping = {{ modal = 0.05 }}\n\
             [[structure]]\nkind = \"building\"\nname = \"B\"\nmasses = [2]\nstiffnesses = [{}]\ndamping = {{ modal = 0.05 }}\n\
             [points]\nu1 = {{ floor = 1, of = \"A\" }}\nu2 = {{ floor = 1, of = \"B\" }}\n\
             [base]\nacceleration = \"exp(-0.2*t)*(3*sin(2*pi*t) + 2*sin(3.4*pi*t) + 1.5*sin(5.2*pi*t))\"\n\
             [[constraint]]\nname = \"joint\"\ngap = \"0.02 + u2 - u1\"\nrestitution = {}\n",
            tau * tau,
            2.0 * (2.0 * tau) * (2.0 * tau),
            num(&row["e"])
        );
        let done = by_events(&text, 20.0);
        let impacts = &done.trajectory.impacts;
        assert_eq!(impacts.len() as u64, row["n_impacts_to_20s"].as_u64().expect("a count"));
        for (i, expected) in impacts.iter().zip(row["impacts"].as_array().expect("impacts")) {
            assert!((i.t - num(&expected["t"])).abs() < 1e-8, "{} {expected}", i.t);
            assert!((-i.approach - num(&expected["closing_speed"])).abs() < 1e-6, "{} {expected}", i.approach);
        }
        // The same by steps: the first impacts, before differences have grown.
        let h = 2e-4;
        let (steps, _) = stepped(&text, h, 3.0);
        for (i, expected) in steps.trajectory.impacts.iter().zip(row["impacts"].as_array().expect("impacts")).take(4) {
            assert!((i.t - num(&expected["t"])).abs() < 20.0 * h, "{} {expected}", i.t);
        }
    }
}

#[test]
fn modes_with_residual_flexibility_come_nearer_to_the_whole() {
    // Static deflection of a cantilever pressed on its stop: with few modes the stop is too stiff, the residual gives it back.
    let structure = structure(&cantilever("beam", 20, 1.0, 0.1, 0.0));
    let reaction = |reduction: Option<Reduction>| {
        let mut options = Options::steps("paoli-schatzman", 1e-3).until(2.0);
        options.reduction = reduction;
        run_with(&structure, &options).audit.impulses[0]
    };
    let whole = reaction(None);
    let with = |modes, residual| (reaction(Some(Reduction { modes, residual })) - whole).abs();
    let (few, helped, many) = (with(2, false), with(2, true), with(12, false));
    println!("total impulse {whole}: off by {few} with 2 modes, {helped} with their residual, {many} with 12");
    assert!(many < few, "more modes are nearer: {few} {many}");
    assert!(helped < few, "{helped} of {whole}, {few} without");
}

#[test]
fn the_facts_name_what_is_free() {
    let free = StructureFacts::new(&structure(&bar(40, "lumped", 0.0, 0.0)));
    assert_eq!(free.rigid, 1);
    assert_eq!(free.rigid_names, ["translation of the bar"]);
    assert!((free.masses[0].1.expect("known") - 10.0).abs() < 1e-12);
    let held = StructureFacts::new(&structure(&cantilever("beam", 20, 1.0, 0.1, 0.0)));
    assert_eq!((held.rigid, held.half_bandwidth, held.dofs), (0, 3, 40));
}

#[test]
fn the_shipped_structures_run_and_their_energy_accounts_close() {
    for name in saltus_io::shipped::names(true) {
        let file = super::models::shipped_file(name);
        let opened = file.system().expect("valid");
        let AnySystem::Structure(structure) = opened.system else { panic!("{name} is a structure") };
        let options = opened.defaults.options(None, name, &Settings::new()).expect("complete").every(1000);
        let done = structure.run_from(&opened.start, &options).expect("runs");
        let shocks = Shocks::new(&structure, &done, opened.defaults.rest);
        let open = done.ledger.balance.relative();
        println!("{name}: {} shocks, balance open by {open:.1e}", shocks.list.len());
        breaches::only(&[], &done, name);
        assert!(open < 1e-3, "{name}: {open}");
        assert!(!shocks.list.is_empty(), "{name} hits something");
        assert!(done.audit.impulses.iter().all(|p| *p >= 0.0), "{name}");
    }
}
