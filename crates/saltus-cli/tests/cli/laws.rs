//! States, joints and friction, as a person meets them: files, tables, restarts, checks, figures.

use crate::program::{Scratch, saltus};
use serde_json::Value;

const VALVE: &str = r#"
title = "Relief valve"
[coordinates]
x = { position = 0.0, unit = "mm" }
[states]
p = { start = 0.0, rate = "(1.2 - 1.5*x*sqrt(max(p, 0)))/0.25", unit = "bar" }
[dynamics]
kinetic = "x'^2/2"
potential = "10*x^2 + 3*x"
[dynamics.force]
x = "2*p - 0.4*x'"
[[constraint]]
name = "seat"
gap = "x"
restitution = 0.6
[run]
end = 8
"#;

const ROD: &str = r#"
title = "Rod"
[coordinates]
x = { position = 0.9 }
y = { position = 0.0 }
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[joint]]
name = "rod"
equation = "x^2 + y^2 - 1"
[[friction]]
name = "bearing"
slip = "x*y' - y*x'"
limit = 0.3
[[constraint]]
name = "wall"
gap = "x + 0.2"
restitution = 0.7
[run]
end = 10
step = 0.01
"#;

fn here() -> Scratch {
    let here = Scratch::new();
    here.write("valve.toml", VALVE);
    here.write("rod.toml", ROD);
    here
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// A column of a table.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let place = lines.next().expect("a header").split(',').position(|c| c == name);
    let place = place.unwrap_or_else(|| panic!("no column {name}"));
    lines.map(|line| line.split(',').nth(place).expect("a field").parse().expect("a number")).collect()
}

#[test]
fn a_state_is_in_every_file_and_nothing_hidden_is() {
    let here = here();
    let said = here.json(&["run", "valve.toml", "--json", "--out", "a"]);
    let last = &said["final"];
    assert_eq!((numbers(&last["q"]).len(), numbers(&last["v"]).len(), numbers(&last["z"]).len()), (1, 1, 1));
    let table = here.read("a/trajectory.csv");
    assert_eq!(table.lines().next(), Some("t,x,p,v_left_x,v_right_x,reaction_seat"));
    assert_eq!(column(&table, "p").last().copied(), last["z"][0].as_f64());
    let impacts = here.read("a/impacts.csv");
    assert!(impacts.lines().next().expect("a header").ends_with(",x,v_before_x,v_after_x,p"), "{impacts}");
    assert!(column(&impacts, "p").iter().all(|p| *p > 0.0));
    // Interrupted at t = 5 and continued, it ends where the whole run ends.
    assert!(here.saltus(&["run", "valve.toml", "--end", "5", "--out", "b"]).succeeded());
    let later = here.json(&["run", "valve.toml", "--from", "b", "--end", "8", "--json", "--out", "c"]);
    for key in ["q", "v", "z"] {
        let (a, b) = (last[key][0].as_f64().expect("a number"), later["final"][key][0].as_f64().expect("a number"));
        assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{key}: {a} {b}");
    }
    let again = here.saltus(&["rerun", "c"]);
    assert!(again.stdout.contains("identical to the saved run, bit for bit"), "{again:?}");
    let at = here.json(&["run", "valve.toml", "--from", "a", "--at", "5", "--end", "8", "--json"]);
    assert!((at["final"]["z"][0].as_f64().expect("p") - last["z"][0].as_f64().expect("p")).abs() < 1e-7);
    let other = here.json(&["run", "valve.toml", "--start", "p=3", "--json"]);
    assert_ne!(other["final"]["z"], last["z"]);
    let refused = here.saltus(&["run", "valve.toml", "--start", "p'=3"]);
    assert!(refused.stderr.contains("has no velocity"), "{refused:?}");
    // Figures for papers.
    let drawn = here.saltus(&["plot", "a", "--what", "states", "--out", "p.svg"]);
    assert!(drawn.succeeded() && here.read("p.svg").contains("bar"), "{drawn:?}");
    assert!(here.saltus(&["plot", "a", "--what", "phase", "--out", "q.svg"]).succeeded());
}

#[test]
fn schemes_agree_on_states_and_their_order_is_measured() {
    let here = here();
    let both =
        ["compare", "valve.toml", "--schemes", "event-driven,moreau-jean", "--step", "1e-3", "--end", "4", "--json"];
    let found = here.json(&both);
    assert_eq!(found["agree"][0].as_array().map(Vec::len), Some(2), "{found}");
    assert!(found["distances"][0]["state"].as_f64().is_some_and(|d| d > 0.0 && d < 1e-2), "{found}");
    // The page has their differences over time.
    let reported = here.saltus(&[&both[..8], &["--report", "compared.html"]].concat());
    assert!(reported.succeeded() && here.read("compared.html").contains("differences-states"), "{reported:?}");
    let study =
        ["converge", "valve.toml", "--scheme", "mabrouk", "--step", "2e-3", "--levels", "4", "--end", "3", "--json"];
    let found = here.json(&study);
    let order = found["orders"]["state"]["order"].as_f64().unwrap_or_else(|| panic!("no order: {found}"));
    assert!((0.7..1.3).contains(&order), "{order}");
}

#[test]
fn joints_are_assembled_and_their_reactions_written() {
    let here = here();
    let refused = here.saltus(&["run", "rod.toml"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("--assemble"), "{refused:?}");
    for command in ["check", "compare", "converge"] {
        let mut args = vec![command, "rod.toml", "--assemble"];
        args.extend(["--end", "1"]);
        args.extend(if command == "converge" { &["--scheme", "moreau-jean"][..] } else { &[] });
        let answer = here.saltus(&args);
        assert!(answer.succeeded(), "{answer:?}");
    }
    let said = here.json(&["run", "rod.toml", "--assemble", "--json", "--out", "a"]);
    assert_eq!(said["joints"][0], "rod");
    assert_eq!(said["frictions"][0], "bearing");
    assert!(said["impacts"]["first"][0]["joint_impulse"][0].as_f64().is_some_and(|p| p != 0.0));
    assert!(said["timeline"]["friction"].as_array().is_some_and(|all| all.iter().any(|p| p["kind"] == "stick")));
    let table = here.read("a/trajectory.csv");
    let (x, y, rod) = (column(&table, "x"), column(&table, "y"), column(&table, "joint_reaction_rod"));
    let (vx, vy) = (column(&table, "v_right_x"), column(&table, "v_right_y"));
    // The pull of the rod, 2λ, is the weight along it less what turns the body.
    for k in 0..x.len() {
        assert!((x[k] * x[k] + y[k] * y[k] - 1.0).abs() < 1e-13);
        let expected = 0.5 * (9.81 * y[k] - vx[k] * vx[k] - vy[k] * vy[k]);
        assert!((rod[k] - expected).abs() < 1e-8, "{k}: {} {expected}", rod[k]);
    }
    assert!(column(&table, "friction_force_bearing").iter().all(|f| f.abs() <= 0.3 * (1.0 + 1e-12)));
    let again = here.saltus(&["rerun", "a"]);
    assert!(again.stdout.contains("identical to the saved run, bit for bit"), "{again:?}");
    let timeline = here.read("a/timeline.csv");
    assert!(timeline.lines().any(|line| line.starts_with("stick,") && line.ends_with(",bearing")), "{timeline}");
    let none = here.saltus(&["run", "valve.toml", "--assemble"]);
    assert!(none.stderr.contains("this model has none"), "{none:?}");
}

#[test]
fn check_says_which_theorems_stay() {
    let here = here();
    let found = here.json(&["check", "rod.toml", "--assemble", "--json"]);
    assert!(found["theorems"].as_array().expect("a list").iter().all(|t| t["covers"] == false), "{found}");
    let topics: Vec<&str> =
        found["findings"].as_array().expect("a list").iter().filter_map(|f| f["topic"].as_str()).collect();
    assert!(topics.contains(&"joints") && topics.contains(&"friction"), "{topics:?}");
    // Without friction, the theorem of existence and uniqueness holds on the manifold that the joint leaves.
    here.write(
        "smooth.toml",
        ROD.replace("limit = 0.3", "limit = 0")
            .replace("[[friction]]\nname = \"bearing\"\nslip = \"x*y' - y*x'\"\nlimit = 0\n", ""),
    );
    let found = here.json(&["check", "smooth.toml", "--assemble", "--json"]);
    let covered: Vec<&str> = found["theorems"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|t| t["covers"] == true)
        .filter_map(|t| t["scheme"].as_str())
        .collect();
    assert_eq!(covered, ["event-driven, auto"]);
    // A door on two hinges too many.
    here.write("door.toml", ROD.replace("\"x^2 + y^2 - 1\"", "[\"x^2 + y^2 - 1\", \"2*x^2 + 2*y^2 - 2\"]"));
    let found = here.saltus(&["check", "door.toml", "--assemble"]);
    assert!(found.stdout.contains("redundant") && found.stdout.contains("rod[2]"), "{found:?}");
}

#[test]
fn a_scheme_that_cannot_do_a_model_names_those_that_can() {
    let here = here();
    let refused = here.saltus(&["run", "rod.toml", "--assemble", "--scheme", "paoli-schatzman"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("moreau-jean"), "{refused:?}");
    let schemes = saltus(&["schemes", "--json"]).json();
    let knows = |name: &str| {
        let all = schemes["schemes"].as_array().expect("a list");
        all.iter().find(|s| s["name"] == name).map(|s| s["laws"]["friction"].clone())
    };
    assert_eq!((knows("event-driven"), knows("penalty")), (Some(Value::Bool(true)), Some(Value::Bool(false))));
    // A sign of a velocity in a force is answered with the section that can stick.
    here.write("sign.toml", "[coordinates]\nx = { position = 1, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[dynamics.force]\nx = \"-0.1*sign(x')\"\n[run]\nend = 1\n");
    let warned = here.saltus(&["run", "sign.toml"]);
    assert!(warned.stdout.contains("[[friction]]"), "{warned:?}");
    here.write("drag.toml", here.read("sign.toml").replace("sign(x')", "sign(x')*x'^2"));
    assert!(!here.saltus(&["run", "drag.toml"]).stdout.contains("[[friction]]"));
}

#[test]
fn perturbed_starts_of_a_mechanism_stay_assembled() {
    let here = here();
    let answer = here.saltus(&["run", "rod.toml", "--assemble", "--probe", "6", "--end", "0.5"]);
    assert!(answer.stdout.contains("6 runs") || answer.stdout.contains("one bundle"), "{answer:?}");
}

#[test]
fn the_summary_tells_reversals_and_joint_residuals() {
    let here = here();
    here.write("driven.toml", "[coordinates]\nx = { position = 0, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[dynamics.force]\nx = \"5*sin(t)\"\n[[friction]]\nname = \"floor\"\nslip = \"x'\"\nlimit = 1\n[run]\nend = 20\n");
    let said = here.saltus(&["run", "driven.toml", "--out", "d"]);
    let line = said.stdout.lines().find(|l| l.contains("friction of floor")).expect("a line");
    assert!(line.contains("reverses at") && line.matches("slips from").count() <= 1, "{line}");
    assert!(here.read("d/timeline.csv").lines().any(|l| l.starts_with("reversal,")));
    let said = here.saltus(&["run", "rod.toml", "--assemble"]);
    let line = said.stdout.lines().find(|l| l.starts_with("joint residual")).expect("a line");
    assert!(line.contains("in positions") && line.contains("in velocities"), "{line}");
}
