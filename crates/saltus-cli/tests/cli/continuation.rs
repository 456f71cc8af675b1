//! Branches of orbits and equilibria on the command line.

use crate::program::{Scratch, json, saltus};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The special points of a kind on all branches: their values.
fn specials(found: &Value, kind: &str) -> Vec<f64> {
    let branches = found["branches"].as_array().expect("branches");
    let all = branches.iter().flat_map(|b| b["special"].as_array().expect("a list"));
    all.filter(|s| s["kind"] == kind).map(|s| s["values"][0].as_f64().expect("a number")).collect()
}

fn has(values: &[f64], expected: f64, tolerance: f64) -> bool {
    values.iter().any(|x| (x - expected).abs() < tolerance)
}

/// A block on a rough floor, driven by a spring and a force (Den Hartog's oscillator): it sticks and slips.
const RUBBING: &str = r#"title = "Den Hartog"
[parameters]
A = 1.0
w = 0.8
F = 0.9
[coordinates]
x = { position = 0.0, velocity = 0.0 }
[dynamics]
kinetic = "x'^2/2"
potential = "x^2/2"
[dynamics.force]
x = "A*cos(w*t)"
[[friction]]
name = "f"
slip = "x'"
limit = "F"
[run]
step = "2*pi/w/6000"
end = "20*2*pi/w"
"#;

#[test]
fn a_resonance_curve_with_its_files() {
    let dir = Scratch::new();
    let found = dir.json(&[
        "continue",
        "oscillator",
        "--over",
        "w=1:2",
        "--simulate",
        "40",
        "--show",
        "rms(x)",
        "--step",
        "0.03",
        "--out",
        "curve",
        "--format",
        "csv,npz",
        "--report",
        "page.html",
        "--json",
    ]);
    assert!(has(&specials(&found, "grazing"), 1.99_f64.sqrt(), 1e-10), "{found}");
    assert!(has(&specials(&found, "fold"), 1.750_142_623_67, 1e-9), "{found}");
    let table = dir.read("curve/points.csv");
    let head = table.lines().next().expect("a head");
    assert!(head.starts_with("branch,w,period,multiple,stability,rms(x),multiplier_1_re"), "{head}");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(rows.len() > 60 && rows.iter().any(|r| r[4] == "unstable"), "{}", rows.len());
    // Without impact the response is the linear one: rms = amplitude/√2.
    let smooth = rows.iter().filter(|r| r.last() == Some(&"no impact"));
    for row in smooth.clone() {
        let (w, rms): (f64, f64) = (row[1].parse().expect("a number"), row[5].parse().expect("a number"));
        let amplitude = ((1.0 - w * w).powi(2) + 0.01 * w * w).sqrt().recip();
        assert!((rms - amplitude / 2.0_f64.sqrt()).abs() < 1e-9, "{row:?}");
    }
    assert!(smooth.count() > 10);
    assert!(dir.read("curve/special.csv").contains("grazing"));
    for name in ["curve/branches.svg", "curve/multipliers.svg", "curve/orbits.svg"] {
        assert!(roxmltree::Document::parse(&dir.read(name)).is_ok(), "{name}");
    }
    let figure = dir.read("curve/branches.svg");
    assert!(figure.contains("unstable") && figure.contains("grazing") && figure.contains("simulated"));
    assert!(dir.read("page.html").contains("Special points") && dir.join("curve/branches.html").exists());
    // The figures are made again, for a paper.
    for (what, file) in [("branches", "again.pdf"), ("multipliers", "again.png")] {
        let answer = dir.saltus(&["plot", "curve", "--what", what, "--out", file, "--from", "1.1"]);
        assert!(answer.succeeded() && dir.join(file).exists(), "{answer:?}");
    }
    assert!(!dir.saltus(&["plot", "curve", "--what", "gaps", "--out", "x.svg"]).succeeded());
}

#[test]
fn a_branch_goes_on_from_its_file() {
    let dir = Scratch::new();
    let first = [
        "continue",
        "oscillator",
        "--over",
        "w=1:1.2",
        "--direction",
        "up",
        "--doublings",
        "0",
        "--out",
        "part",
        "--simulate",
        "0",
        "--tol",
        "1e-12",
        "--json",
    ];
    let found = dir.json(&first);
    assert_eq!(found["branches"].as_array().map(Vec::len), Some(1), "{found}");
    // (As if the last line had not been finished.)
    let text = dir.read("part/branches.jsonl");
    let cut = &text[..text.trim_end().rfind('\n').expect("lines") + 20];
    dir.write("part/branches.jsonl", cut);
    let on = [
        "continue",
        "oscillator",
        "--over",
        "w=1:2",
        "--from",
        "part",
        "--branch",
        "1",
        "--points",
        "400",
        "--simulate",
        "0",
        "--out",
        "part",
        "--json",
    ];
    let found = dir.json(&on);
    assert_eq!(found["branches"].as_array().map(Vec::len), Some(2), "{found}");
    assert!(has(&specials(&found, "grazing"), 1.99_f64.sqrt(), 1e-10), "{found}");
    let missing = dir.saltus(&["continue", "oscillator", "--over", "w=1:2", "--from", "part", "--branch", "7"]);
    assert!(missing.stderr.contains("no branch 7"), "{}", missing.stderr);
    let other = dir.saltus(&["continue", "oscillator", "--over", "e=0.5:1", "--from", "part"]);
    assert!(other.stderr.contains("followed over `w`"), "{}", other.stderr);
}

#[test]
fn what_a_killed_program_found_is_kept() {
    let dir = Scratch::new();
    // A cascade that goes on for a long time.
    let args = [
        "continue",
        "oscillator",
        "--over",
        "w=2:3",
        "--set",
        "s=0",
        "--set",
        "c=0",
        "--set",
        "w=2.6",
        "--step",
        "0.001",
        "--out",
        "long",
    ];
    let mut child = dir.command(&args).spawn().expect("it starts");
    let began = Instant::now();
    let lines = || std::fs::read_to_string(dir.join("long/branches.jsonl")).map_or(0, |t| t.lines().count());
    while lines() < 20 && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it is killed");
    child.wait().expect("it has ended");
    assert!(lines() >= 20, "{}", lines());
    let found = dir.json(&[
        "continue",
        "oscillator",
        "--over",
        "w=2:3",
        "--set",
        "s=0",
        "--set",
        "c=0",
        "--from",
        "long",
        "--points",
        "3",
        "--doublings",
        "0",
        "--json",
    ]);
    assert_eq!(found["branches"][0]["points"], 3, "{found}");
}

#[test]
fn curves_over_two_parameters() {
    let dir = Scratch::new();
    let answer = dir.saltus(&[
        "continue",
        "oscillator",
        "--over",
        "w=1.2:1.9,s=0.6:1.5",
        "--curve",
        "grazing",
        "--out",
        "grazing",
        "--step",
        "0.05",
    ]);
    assert!(answer.succeeded() && answer.stdout.contains("the end of the range of"), "{answer:?}");
    let table = dir.read("grazing/points.csv");
    let head: Vec<&str> = table.lines().next().expect("a head").split(',').collect();
    assert_eq!(&head[..3], ["branch", "w", "s"]);
    let mut count = 0;
    for line in table.lines().skip(1) {
        let row: Vec<f64> = line.split(',').take(3).map(|x| x.parse().expect("a number")).collect();
        let amplitude = ((1.0 - row[1] * row[1]).powi(2) + 0.01 * row[1] * row[1]).sqrt().recip();
        assert!((row[2] - amplitude).abs() < 1e-9, "{line}");
        count += 1;
    }
    assert!(count > 10, "{count}");
    let none = saltus(&["continue", "oscillator", "--over", "w=1:1.3,s=0.6:1.5", "--curve", "doubling"]);
    assert!(none.stderr.contains("there is no period doubling"), "{}", none.stderr);
    let one = saltus(&["continue", "oscillator", "--over", "w=1:1.3", "--curve", "fold"]);
    assert!(one.stderr.contains("--curve needs two parameters"), "{}", one.stderr);
}

#[test]
fn equilibria_with_hopf_folds_and_contacts() {
    // The valve: x'' = −κx' − (x + δ) + p, p' = β(q − x√p). At rest p = x + δ, and Routh's criterion gives the Hopf point.
    let found = json(&["continue", "valve", "--of", "equilibria", "--over", "q=0.5:9", "--json"]);
    let (kappa, beta, delta) = (1.25_f64, 20.0_f64, 10.0_f64);
    let criterion = |x: f64| {
        let p = x + delta;
        let (a, b) = (beta * p.sqrt(), 0.5 * beta * x / p.sqrt());
        // λ³ + (κ + b)λ² + (1 + κb)λ + b + a
        (kappa + b) * (1.0 + kappa * b) - (a + b)
    };
    let (mut low, mut high) = (0.5, 4.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if (criterion(middle) > 0.0) == (criterion(low) > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let q = low * (low + delta).sqrt();
    assert!(has(&specials(&found, "hopf"), q, 1e-8), "{found} {q}");
    // A cubic spring against a stop: x³ − 3x = F has folds at x = ±1, F = ∓2; the stop at x = 1.5 is touched at F = −1.125.
    let dir = Scratch::new();
    dir.write(
        "cubic.toml",
        "title = 'cubic'\n[parameters]\nF = 0\n[coordinates]\nx = { position = 0, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
         potential = 'x^4/4 - 3*x^2/2 - F*x'\n[dynamics.force]\nx = \"-x'/5\"\n[[constraint]]\nname = 'stop'\ngap = '1.5 - x'\n\
         [impact]\nrestitution = 0.5\n[run]\nend = 10\n",
    );
    let args =
        ["continue", "cubic.toml", "--of", "equilibria", "--over", "F=-3:3", "--show", "x", "--out", "rest", "--json"];
    let found = dir.json(&args);
    let folds = specials(&found, "fold");
    assert!(has(&folds, 2.0, 1e-8) && has(&folds, -2.0, 1e-8), "{found}");
    assert!(has(&specials(&found, "change"), -1.125, 1e-8), "{found}");
    assert!(dir.read("rest/points.csv").contains("contact stop"));
    let refused = saltus(&["continue", "oscillator", "--of", "equilibria", "--over", "w=1:2"]);
    assert!(refused.stderr.contains("depend on time"), "{}", refused.stderr);
}

#[test]
fn an_orbit_with_a_period_of_its_own() {
    // Van der Pol's oscillator: for small μ the period is 2π(1 + μ²/16 − 5μ⁴/3072 + …).
    let dir = Scratch::new();
    dir.write(
        "pol.toml",
        "title = 'van der Pol'\n[parameters]\nm = 0.3\n[coordinates]\nx = { position = 1, velocity = 0 }\n[dynamics]\n\
         kinetic = \"x'^2/2\"\n[dynamics.force]\nx = \"m*(1 - x^2)*x' - x\"\n[run]\nend = 100\n",
    );
    let args = [
        "continue",
        "pol.toml",
        "--over",
        "m=0.1:1",
        "--period",
        "6.3",
        "--transient",
        "200",
        "--show",
        "period",
        "--out",
        "pol",
    ];
    let answer = dir.saltus(&args);
    assert!(answer.succeeded(), "{answer:?}");
    let table = dir.read("pol/points.csv");
    let mut periods: Vec<(f64, f64)> = Vec::new();
    for line in table.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        periods.push((row[1].parse().expect("a number"), row[2].parse().expect("a number")));
    }
    let at = |m: f64| periods.iter().find(|p| (p.0 - m).abs() < 1e-12).expect("the end of the range").1;
    assert!((at(1.0) - 6.663_286_859_31).abs() < 1e-9, "{}", at(1.0));
    let series = std::f64::consts::TAU * (1.0 + 0.01 / 16.0 - 5.0 * 1e-4 / 3072.0);
    assert!((at(0.1) - series).abs() < 1e-7, "{} {series}", at(0.1));
}

#[test]
fn mistakes_are_explained() {
    for (args, words) in [
        (&["--over", "W=0.5:2"][..], "did you mean `w`"),
        (&["--over", "w=2:1"], "the range is empty"),
        (&["--over", "w"], "is not a range"),
        (&["--over", "w=1:2,s=1:2"], "branches are followed over one parameter"),
        (&["--over", "w=1:2", "--show", "y"], "unknown name `y`"),
        (&["--over", "w=1:2", "--step", "3"], "the step must be between"),
        (&["--over", "w=1:2", "--period", "6.28"], "is not a period of what drives the model"),
        (&["--over", "w=1:2", "--transient", "0", "--start", "x=-50"], "there is no first orbit to follow"),
        (&["--over", "w=1:2", "--transient", "0", "--multiple", "1", "--start", "x=0.9,x'=40"], "first orbit"),
    ] {
        let all: Vec<&str> = ["continue", "oscillator"].iter().chain(args).copied().collect();
        let answer = saltus(&all);
        let message = answer.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!answer.succeeded() && message.contains(words), "{answer:?}");
    }
    // A range that leaves what is valid: what was found is kept, and the reason is given.
    let found = json(&["continue", "oscillator", "--over", "e=0.5:1.5", "--json"]);
    let end = found["branches"][0]["end"].as_str().expect("a reason");
    assert!(end.contains("outside [0, 1]") && found["branches"][0]["points"].as_u64() > Some(5), "{found}");
    let rest = saltus(&["continue", "ball-gravity", "--over", "e=0.5:0.9"]);
    assert!(rest.stderr.contains("comes to rest"), "{}", rest.stderr);
}

/// The section of an orbit is moved where it comes close to an event; the direction of the parameter stays.
#[test]
fn a_branch_keeps_its_direction() {
    let dir = Scratch::new();
    dir.write("rubbing.toml", RUBBING);
    let found = dir.json(&[
        "continue",
        "rubbing.toml",
        "--over",
        "w=0.3:2",
        "--direction",
        "down",
        "--simulate",
        "0",
        "--json",
    ]);
    let end = found["branches"][0]["end"].as_str().expect("a reason");
    assert!(end.contains("the end of the range is reached"), "{found}");
    assert!(found["branches"][0]["points"].as_u64() > Some(100), "{found}");
    let printed =
        dir.saltus(&["continue", "rubbing.toml", "--over", "w=0.3:2", "--direction", "down", "--simulate", "0"]);
    assert!(printed.stdout.contains("w = 0.8 … 0.3;"), "{printed:?}");
    // Where a branch begins is given with --set, and the simulation goes over the whole axis all the same.
    let begun =
        ["continue", "oscillator", "--over", "w=1:1.3", "--set", "w=1.2", "--simulate", "20", "--doublings", "0"];
    let begun = dir.saltus(&[&begun[..], &["--out", "begun"]].concat());
    assert!(begun.succeeded(), "{begun:?}");
    let wrong = dir.saltus(&["orbit", "oscillator", "--period", "3"]);
    assert!(!wrong.succeeded() && wrong.stderr.contains("is not a period of what drives the model"), "{wrong:?}");
}

#[test]
fn a_symmetric_orbit_on_the_command_line() {
    let dir = Scratch::new();
    dir.write(
        "pair.toml",
        "title = 'two stops'\n[coordinates]\nx = { position = 0, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = 'x^2/2'\n\
         [dynamics.force]\nx = \"cos(t) - x'/10\"\n[[constraint]]\nname = 'right'\ngap = '0.5 - x'\n[[constraint]]\nname = 'left'\n\
         gap = '0.5 + x'\n[impact]\nrestitution = 0.7\n[run]\nend = 20\n",
    );
    let found = dir.json(&["orbit", "pair.toml", "--symmetric", "--json"]);
    assert_eq!(found["orbits"][0]["symmetric"], true, "{found}");
    let none = saltus(&["orbit", "oscillator", "--symmetric"]);
    assert!(!none.succeeded() && none.stderr.contains("no periodic orbit"), "{none:?}");
    let rest = saltus(&["orbit", "ball-gravity", "--symmetric"]);
    assert!(rest.stderr.contains("nothing here depends on time"), "{rest:?}");
}
