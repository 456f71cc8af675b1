//! `compare`, `converge` and `schemes` as a person uses them.

use crate::program::{Scratch, json, saltus};
use serde_json::Value;

#[test]
fn figure_6_of_the_survey_falls_out() {
    // The force-free ball with e = 0.3: the position scheme lags by 2eh after the impact, Mabrouk's by its phase.
    let both = json(&["compare", "ball", "--schemes", "paoli-schatzman,mabrouk", "--steps", "0.03", "--json"]);
    let last = |k: usize| both["schemes"][k]["final"]["q"][0].as_f64().expect("a number");
    let (e, h, t) = (0.3, 0.03, 3.0);
    assert!((last(0) - e * (t - 1.0 - 2.0 * h)).abs() < 1e-12);
    let p = (1.0f64 / h).ceil();
    assert!((last(1) - (1.0 - p * h + (100.0 - p) * e * h)).abs() < 1e-12);
}

#[test]
fn schemes_that_agree_are_said_to_agree() {
    for model in ["pounding", "oscillator", "rod"] {
        let all = json(&[
            "compare",
            model,
            "--json",
            "--end",
            "1.0",
            "--schemes",
            "event-driven,paoli-schatzman,mabrouk,moreau-midpoint,moreau-jean",
        ]);
        assert_eq!(all["agree"].as_array().map(Vec::len), Some(1), "{model}: {}", all["verdict"]);
        assert!(all["verdict"][0].as_str().expect("words").starts_with("all agree"));
        assert_eq!(all["distances"].as_array().map(Vec::len), Some(10));
    }
}

#[test]
fn schemes_that_differ_are_told_apart() {
    // Two balls in a row meet a wall 0.3 steps apart, e = 1: the position scheme gains energy, the velocity schemes do not.
    let here = Scratch::new();
    let text = "[coordinates]\na = { position = -2.0003, velocity = 1 }\nb = { position = -1.0, velocity = 1 }\n[dynamics]\n\
                kinetic = \"a'^2/2 + b'^2/2\"\n[[constraint]]\nname = \"pair\"\ngap = \"b - a - 1\"\n[[constraint]]\nname = \"wall\"\n\
                gap = \"-b\"\n[impact]\nrestitution = 1\n[run]\nstep = 1e-3\nend = 2\n";
    here.write("pair.toml", text);
    let three = here.json(&["compare", "pair.toml", "--steps", "1e-3,0.9e-3", "--json"]);
    let gained = |k: usize| three["schemes"][k]["energy_gained_at_an_impact"].as_f64().expect("a number");
    assert!(gained(0) < 1e-9 && gained(1) > 0.05 && gained(2) < 1e-9 && gained(3) < 1e-9, "{three}");
    // The two that do not fit (e > 0, no stiffness) are named, and the rest still compared.
    assert_eq!(three["refused"].as_array().map(Vec::len), Some(2));
}

#[test]
fn schemes_that_do_not_know_themselves_agree_with_nobody() {
    // Chaotic for these values: after fifty periods every scheme is as far from itself as from the others.
    let set = ["--set", "c=0", "--set", "w=2.8", "--set", "s=0", "--end", "150", "--steps", "0.004,0.002", "--json"];
    let mut args = vec!["compare", "oscillator"];
    args.extend(set);
    let chaos = json(&args);
    assert_eq!(chaos["agree"].as_array().map(Vec::len), Some(0), "{}", chaos["verdict"]);
    assert!(chaos["verdict"][0].as_str().expect("words").contains("undecided"));
    // Steps close together or far apart change nothing in what is known.
    for steps in ["0.01,0.0099", "0.01,0.0001"] {
        let ball = json(&["compare", "ball", "--schemes", "paoli-schatzman,mabrouk", "--steps", steps, "--json"]);
        assert_eq!(ball["agree"].as_array().map(Vec::len), Some(1), "{steps}: {}", ball["verdict"]);
    }
}

#[test]
fn orders_are_measured_and_chaos_is_not_called_convergence() {
    let ball = json(&["converge", "ball-gravity", "--set", "e=0.5", "--step", "0.01", "--end", "1.2", "--json"]);
    let order = ball["orders"]["position"]["order"].as_f64().expect("an order");
    assert!((0.8..=1.2).contains(&order), "{order}");
    assert_eq!(ball["levels"].as_array().map(Vec::len), Some(5));
    // x'' + x = cos(2.8 t), x ≤ 0, r = 0.8 is chaotic: after a hundred periods nothing is left to converge.
    let chaos =
        ["--set", "c=0", "--set", "w=2.8", "--set", "s=0", "--end", "300", "--step", "0.01", "--levels", "3", "--json"];
    let mut args = vec!["converge", "oscillator"];
    args.extend(chaos);
    let chaos = json(&args);
    assert!(chaos["warnings"][0].as_str().expect("a warning").contains("no convergence"), "{chaos}");
}

#[test]
fn wrong_calls_are_answered() {
    for (args, pieces) in [
        (&["compare", "ball", "--schemes", "mabrook"][..], &["no scheme `mabrook`", "`mabrouk`"][..]),
        (&["compare", "ball", "--schemes", "mabrouk,mabrouk"], &["named twice"]),
        (&["compare", "ball", "--steps", "0"], &["positive"]),
        (&["compare", "ball", "--schemes", "bernicot-lefebvre"], &["e = 0", "paoli-schatzman"]),
        (&["run", "ball", "--scheme", "penalty"], &["needs the stiffness", "--stiffness"]),
        (
            &["run", "ball", "--scheme", "penalty", "--stiffness", "1e9"],
            &["too large for the stiffness", "step of at most"],
        ),
        (&["run", "ball", "--scheme", "moreau-jean", "--theta", "2"], &["between 0 and 1"]),
        (&["converge", "ball", "--ratio", "1"], &["greater than 1"]),
        (&["converge", "ball", "--scheme", "event-driven"], &["no step to refine", "such as paoli-schatzman"]),
        (&["run", "ball", "--step", "2*"], &["in an option"]),
    ] {
        let output = saltus(args);
        let shown = output.stderr.replace("\n  │ ", " ");
        assert!(!output.succeeded() && pieces.iter().all(|p| shown.contains(p)), "{args:?}: {shown}");
    }
}

#[test]
fn a_diverging_run_does_not_take_the_others_with_it() {
    // The spring is too stiff for an explicit step; Moreau–Jean with θ = 1/2 bears it.
    let here = Scratch::new();
    here.write(
        "stiff.toml",
        "[coordinates]\nx = { position = 1 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"1e8*x^2/2\"\n[[constraint]]\ngap = \"x + 2\"\n\
         [impact]\nrestitution = 1\n[run]\nstep = 1e-3\nend = 0.5\n",
    );
    let names = "paoli-schatzman,moreau-jean";
    let both = here.json(&["compare", "stiff.toml", "--schemes", names, "--steps", "1e-3", "--json"]);
    let finished: Vec<_> = both["schemes"].as_array().expect("a list").iter().map(|s| s["scheme"].clone()).collect();
    assert!(finished.contains(&Value::from("moreau-jean")), "{both}");
}

#[test]
fn a_wanted_penetration_is_kept() {
    let args = [
        "run",
        "ball-gravity",
        "--scheme",
        "penalty",
        "--penetration",
        "0.01",
        "--step",
        "1e-5",
        "--end",
        "1",
        "--json",
    ];
    let run = json(&args);
    let depth = run["audit"]["max_violation"].as_f64().expect("a number");
    assert!((0.005..=0.0105).contains(&depth), "{depth}");
    let first = &run["impacts"]["first"][0];
    let (before, after) = (first["v_before"][0].as_f64().expect("v"), first["v_after"][0].as_f64().expect("v"));
    assert!((after / before + 0.8).abs() < 0.02, "{before} {after}");
}

#[test]
fn the_list_of_schemes_says_what_is_proved() {
    let text = saltus(&["schemes"]).stdout;
    for name in
        ["auto", "event-driven", "paoli-schatzman", "mabrouk", "moreau-jean", "bernicot-lefebvre", "penalty", "proved"]
    {
        assert!(text.contains(name), "{name}");
    }
}

#[test]
fn moreau_jean_looks_as_far_ahead_as_asked() {
    // With γ = 0 the floor acts only once it is closed, and the ball is below it by then; with γ = ½ it is not.
    let depth = |gamma: &str| {
        let run = ["run", "ball-gravity", "--scheme", "moreau-jean", "--step", "1e-2", "--end", "0.6", "--json"];
        let run = json(&[&run[..], &["--activation", gamma]].concat());
        run["audit"]["max_violation"].as_f64().expect("a number")
    };
    assert!(depth("0") > 1e-2 && depth("0.5") < 1e-3, "{} {}", depth("0"), depth("0.5"));
}

/// A ball whose file gives no step.
const NO_STEP: &str = "[coordinates]\ny = { position = 1, velocity = -1 }\n[dynamics]\nkinetic = \"y'^2/2\"\n[[constraint]]\n\
                       name = \"floor\"\ngap = \"y\"\n[impact]\nrestitution = 0.5\n[run]\nend = 2\n";

#[test]
fn a_model_without_a_step_gets_a_thousandth_of_the_run_and_is_told() {
    let here = Scratch::new();
    here.write("ball.toml", NO_STEP);
    let said = here.saltus(&["compare", "ball.toml", "--scheme", "event-driven,mabrouk"]);
    assert!(said.stdout.contains("time steps 0.002, 0.001, a thousandth of the run and half of it"), "{}", said.stdout);
    let said = here.saltus(&["compare", "ball.toml", "--step", "0.01", "--end", "1.5", "--schemes", "mabrouk"]);
    assert!(said.stdout.contains("time steps 0.01, 0.005 (the table"), "{}", said.stdout);
    let said = here.saltus(&["converge", "ball.toml", "--scheme", "mabrouk", "--levels", "3"]);
    assert!(said.stdout.contains("the largest is a thousandth of the run"), "{}", said.stdout);
    // The impulse of a free ball is exact.
    assert!(said.stdout.contains("equal to the reference up to rounding"), "{}", said.stdout);
    let soft =
        here.json(&["compare", "ball.toml", "--schemes", "event-driven,penalty", "--penetration", "1e-2", "--json"]);
    assert_eq!(soft["refused"].as_array().map(Vec::len), Some(0), "{soft}");
}

#[test]
fn walls_that_close_are_found_within_the_interval_asked_for() {
    let here = Scratch::new();
    let text = "[coordinates]\nx = { position = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[[constraint]]\nname = \"l\"\n\
                gap = \"x + 1 - t\"\n[[constraint]]\nname = \"r\"\ngap = \"1 - t - x\"\n[impact]\nrestitution = 0\n[run]\n\
                step = 1e-3\nend = 2\n";
    here.write("closing.toml", text);
    let covered = |end: &str| {
        let said = here.json(&["check", "closing.toml", "--end", end, "--json"]);
        let theorems = said["theorems"].as_array().expect("a list").clone();
        theorems.iter().any(|t| t["covers"] == true)
    };
    assert!(covered("0.9") && !covered("2") && !covered("1.1"));
}
