//! Structures through the program: runs, tables, studies, copies of shipped models.

use crate::program::Scratch;
use serde_json::Value;
use std::fs;

const BEAM: &str = "[structure]\nkind = \"beam\"\nlength = 1\nelements = 10\nrigidity = 1\nmass_per_length = 1\n\
    [points]\ntip = { x = 1 }\n[loads]\ntip = \"0.5*sin(3*t)\"\n\
    [[constraint]]\nname = \"stop\"\ngap = \"0.05 + tip\"\nrestitution = 0.0\n[run]\nstep = 1e-3\nend = 5\n";

#[test]
fn the_table_of_shocks_is_the_same_everywhere() {
    let here = Scratch::new();
    let run = here.json(&["run", "guided-tube", "--end", "0.5", "--out", "o", "--json"]);
    let shocks = here.read("o/shocks.csv");
    let rows: Vec<Vec<&str>> = shocks.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len() as u64, run["structure"]["shocks"].as_u64().expect("a count"));
    let number = |row: &Vec<&str>, k: usize| row[k].parse::<f64>().expect("a number");
    for stop in run["structure"]["stops"].as_array().expect("stops") {
        let own: Vec<&Vec<&str>> = rows.iter().filter(|r| stop["stop"] == r[1]).collect();
        assert_eq!(own.len() as u64, stop["shocks"].as_u64().expect("a count"));
        let total: f64 = own.iter().map(|r| number(r, 4)).sum();
        let mean = stop["mean_force"].as_f64().expect("a force") * 0.5;
        assert!((total - mean).abs() < 1e-9 * total, "{total} {mean}");
        let counted: u64 = stop["histogram"].as_array().expect("ten").iter().filter_map(Value::as_u64).sum();
        assert_eq!(counted as usize, own.len());
        assert!(own.iter().all(|r| number(r, 3) >= 0.0 && number(r, 4) > 0.0));
    }
    assert!(run["ledger"]["relative_closure"].as_f64().expect("a figure") < 1e-9);
}

#[test]
fn studies_of_a_structure() {
    let here = Scratch::new();
    here.write("beam.toml", BEAM);
    let modes = here.json(&["converge", "beam.toml", "--over", "modes", "--json"]);
    let errors: Vec<f64> =
        modes["levels"].as_array().expect("levels").iter().map(|l| l["position"].as_f64().expect("a number")).collect();
    assert!(errors.len() >= 3 && errors[errors.len() - 1] < 0.5 * errors[0], "{modes}");
    // The beam of [V] (3.9) on its stop, whose events are the reference P12.
    let printed = BEAM
        .replace("\"beam\"", "\"beam-differences\"")
        .replace("0.5*sin(3*t)", "1")
        .replace("0.05 + tip", "0.1 - tip");
    here.write("printed.toml", printed);
    let steps = here.json(&["converge", "printed.toml", "--end", "1", "--levels", "4", "--json"]);
    assert_eq!(steps["reference"], "event-driven");
    assert!(steps["orders"]["position"]["order"].as_f64().expect("an order") > 1.5, "{steps}");
    let compared = here.json(&["compare", "beam.toml", "--end", "2", "--json", "--report", "c.html"]);
    assert_eq!(compared["schemes"].as_array().map(Vec::len), Some(4), "{compared}");
    assert!(fs::metadata(here.join("c.html")).is_ok_and(|m| m.len() > 100_000));
    let checked = here.json(&["check", "beam.toml", "--json"]);
    assert!(checked["theorems"].as_array().expect("theorems").iter().any(|t| t["covers"] == true), "{checked}");
    // A cantilever under no load rests straight; the stop is far enough away to stay open.
    let resting = here.json(&["equilibria", "beam.toml", "--json"]);
    assert!(resting["equilibria"][0]["q"][0].as_f64().expect("tip").abs() < 1e-12, "{resting}");
}

#[test]
fn what_cannot_be_trusted_is_said() {
    let here = Scratch::new();
    // Restitution near one on a node of a mesh that no step of this size resolves.
    let bouncy = BEAM.replace("restitution = 0.0", "restitution = 0.9").replace("end = 5", "end = 50");
    here.write("bouncy.toml", bouncy);
    let run = here.json(&["run", "bouncy.toml", "--rebound", "paper", "--json"]);
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("the stops created energy") && warnings.contains("on a node of a mesh"), "{warnings}");
    assert_eq!(here.saltus(&["run", "bouncy.toml", "--rebound", "paper", "--strict"]).code, Some(3));
    // Stops that give back no more than they took, as they do unless asked, create none.
    let warnings = here.json(&["run", "bouncy.toml", "--json"])["warnings"].to_string();
    assert!(!warnings.contains("created energy") && warnings.contains("on a node of a mesh"), "{warnings}");
    // A load that leaves its domain ends the run where it does, and nothing that is no number is kept.
    here.write("root.toml", BEAM.replace("0.5*sin(3*t)", "sqrt(1 - t)"));
    let out = here.saltus(&["run", "root.toml", "--out", "r"]);
    assert!(!out.succeeded() && out.stdout.contains("load 1"));
    assert!(!here.read("r/trajectory.csv").contains("NaN"));
    // A record that ends before the run does.
    let copy = here.saltus(&["new", "mine", "--from", "pounding-record"]);
    assert!(copy.succeeded() && here.join("synthetic.at2").exists());
    let long = here.json(&["run", "mine.toml", "--end", "25", "--json"]);
    assert!(long["warnings"].to_string().contains("has data from t = 0 to"), "{}", long["warnings"]);
}

#[test]
fn springs_at_stops_keep_energy_or_lose_it() {
    let here = Scratch::new();
    for (stiffness, step) in [("1e4", "1e-3"), ("1e6", "1e-3"), ("1e8", "1e-3"), ("1e8", "1e-4"), ("1e5", "1e-2")] {
        let text = BEAM.replace("restitution = 0.0", &format!("stiffness = {stiffness}"));
        here.write("spring.toml", text);
        let run = here.json(&["run", "spring.toml", "--step", step, "--end", "20", "--json"]);
        let (lost, closure) = (&run["ledger"]["lost_at_impacts"], &run["ledger"]["relative_closure"]);
        assert!(lost.as_f64().expect("a number") > -1e-3, "k = {stiffness}, h = {step}: {lost}");
        assert!(closure.as_f64().expect("a number") < 1e-5, "k = {stiffness}, h = {step}: {closure}");
    }
}

#[test]
fn modes_places_and_rest_times_as_asked() {
    let here = Scratch::new();
    here.write("beam.toml", BEAM);
    let run = |more: &[&str]| here.json(&[&["run", "beam.toml", "--json"], more].concat());
    let highest = |run: &Value| run["structure"]["points"][0]["max"].as_f64().expect("a number");
    let whole = run(&[]);
    // Three modes have the large motion of the tip; what the stop feels of the others changes it a little.
    let (modes, residual) = (run(&["--modes", "3"]), run(&["--modes", "3", "--residual"]));
    for reduced in [&modes, &residual] {
        assert!((highest(reduced) - highest(&whole)).abs() < 1e-3 * highest(&whole), "{reduced}");
        assert_ne!(reduced["final"]["q"], whole["final"]["q"]);
    }
    assert_ne!(modes["final"]["q"], residual["final"]["q"]);
    let observed = run(&["--observe", "x=0.5"]);
    assert_eq!(observed["coordinates"], serde_json::json!(["tip", "x=0.5"]));
    assert_eq!(observed["final"]["q"][0], whole["final"]["q"][0]);
    // Touches less than half a unit of time apart are one shock.
    let rested = run(&["--rest", "0.5"]);
    assert_eq!(rested["structure"]["rest"], 0.5);
    let shocks = |run: &Value| run["structure"]["shocks"].as_u64().expect("a count");
    assert!(shocks(&rested) < shocks(&whole), "{} {}", shocks(&rested), shocks(&whole));
}

#[test]
fn a_support_under_preload_starts_at_rest() {
    let here = Scratch::new();
    let text =
        BEAM.replace("0.5*sin(3*t)", "0.1*sin(3*t)").replace("0.05 + tip", "tip - 0.05").replace("end = 5", "end = 1");
    here.write("free.toml", text.clone());
    let refused = here.saltus(&["run", "free.toml"]);
    assert!(!refused.succeeded() && refused.stderr.contains("equilibrium = true"), "{}", refused.stderr);
    here.write("held.toml", format!("{text}[start]\nequilibrium = true\n"));
    let run = here.json(&["run", "held.toml", "--json"]);
    // 3EI/L³ times 0.05.
    let rest = here.json(&["equilibria", "held.toml", "--json"]);
    let reaction = rest["equilibria"][0]["reactions"][0].as_f64().expect("a reaction");
    assert!((reaction - 0.15).abs() < 1e-11, "{rest}");
    assert!((run["structure"]["stops"][0]["mean_force"].as_f64().expect("a force") - 0.15).abs() < 0.05, "{run}");
    // And on from where another run ended.
    assert!(here.saltus(&["run", "held.toml", "--end", "0.5", "--out", "half"]).succeeded());
    let on = here.json(&["run", "held.toml", "--from", "half", "--json"]);
    let (a, b) = (&on["final"]["q"][0], &run["final"]["q"][0]);
    assert!((a.as_f64().expect("tip") - b.as_f64().expect("tip")).abs() < 1e-9, "{a} {b}");
}

#[test]
fn every_stop_is_listed_and_nothing_is_compared_with_itself() {
    let here = Scratch::new();
    let quiet = "[[constraint]]\nname = \"far\"\ngap = \"9 - tip\"\nrestitution = 0.0\n";
    here.write("beam.toml", format!("{quiet}{BEAM}"));
    let run = here.saltus(&["run", "beam.toml"]);
    assert!(run.stdout.lines().any(|l| l.starts_with("never hit") && l.ends_with("far")), "{}", run.stdout);
    let itself = here.saltus(&["compare", "beam.toml", "--schemes", "auto,paoli-schatzman"]);
    assert!(!itself.succeeded() && itself.stderr.contains("compared with itself"), "{}", itself.stderr);
    // More modes than first asked for, until they agree or are all there.
    let modes = here.json(&["converge", "beam.toml", "--over", "modes", "--levels", "2", "--end", "2", "--json"]);
    let levels = modes["levels"].as_array().expect("levels");
    let sentence = modes["verdict"].as_str().expect("a verdict");
    assert!(levels.len() > 2 && (sentence.contains("within 5 %") || levels.len() == 4), "{modes}");
    // A wall that jumps in velocity has no corner in the displacements.
    here.write("jump.toml", BEAM.replace("0.05 + tip", "0.05 + 0.001*abs(sin(t)) + tip"));
    assert!(!here.json(&["run", "jump.toml", "--end", "1", "--json"])["warnings"].to_string().contains("corners"));
}
