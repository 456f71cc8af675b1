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
    // The tip is held, and the load acts on it: the support takes 0.15 − 0.1 sin 3t.
    let mean = run["structure"]["stops"][0]["mean_force"].as_f64().expect("a force");
    assert!((mean - 0.15 + 0.1 * (1.0 - 3.0_f64.cos()) / 3.0).abs() < 1e-6, "{mean}");
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

/// A tube on supports with clearance, friction and a preloaded one, in two planes; the base moves in both.
const TUBE: &str = r#"
[parameters]
mu = 0.3
[[structure]]
name = "y"
kind = "beam"
length = 2
elements = 12
rigidity = 50
mass_per_length = 1
ends = ["pinned", "pinned"]
damping = { rayleigh = [1.0, 1e-4] }
[[structure]]
name = "z"
kind = "beam"
length = 2
elements = 12
rigidity = 50
mass_per_length = 1
ends = ["pinned", "pinned"]
damping = { rayleigh = [1.0, 1e-4] }
[points]
"y{i}" = { for = "i = 1..3", x = "0.5*{i}", of = "y" }
"z{i}" = { for = "i = 1..3", x = "0.5*{i}", of = "z" }
shear = { base_shear = true, of = "y" }
mean = { dofs = [4, 6], weights = [0.5, 0.5], of = "z" }
[[base]]
acceleration = "60*sin(30*t)"
of = "y"
[[base]]
acceleration = "40*sin(23*t)"
of = "z"
[[constraint]]
name = "plate"
for = "i = 1..2"
point = "y{i}"
within = 2e-3
stiffness = 2e4
damping = 3
friction = "mu"
slide = "z{i}"
[[constraint]]
name = "preload"
gap = "y3 - 1e-3"
restitution = 0
friction = "mu"
slide = ["z3"]
[start]
equilibrium = true
[run]
step = 2e-4
end = 1
"#;

#[test]
fn a_tube_on_rough_supports_gives_forces_wear_and_spectra() {
    let here = Scratch::new();
    here.write("tube.toml", TUBE);
    let run = here.json(&[
        "run",
        "tube.toml",
        "--json",
        "--out",
        "o",
        "--spectrum",
        "y2",
        "--ratios",
        "0.02,0.05",
        "--frequencies",
        "1,100,30",
        "--density",
        "plate+[2]",
        "--density",
        "y2",
        "--window",
        "0.1",
    ]);
    assert!(run["ledger"]["relative_closure"].as_f64().expect("a figure") < 1e-6, "{}", run["ledger"]);
    let stops = run["structure"]["stops"].as_array().expect("stops");
    let preload = stops.last().expect("the preloaded one");
    let friction = &preload["friction"];
    assert!(
        friction["work"].as_f64().expect("heat") > 0.0 && preload["wear_power"].as_f64().expect("wear") > 0.0,
        "{preload}"
    );
    // Heat is μ times the wear.
    let (heat, wear) = (friction["work"].as_f64(), preload["wear_power"].as_f64());
    let ratio = heat.expect("heat") / (0.3 * wear.expect("wear"));
    assert!((ratio - 1.0).abs() < 0.05, "{preload}");
    assert!(stops[3]["peak_force"]["max"].as_f64().expect("a peak") > 0.0, "{}", stops[3]);
    // The mean forces of the windows are that of the run.
    let forces = here.read("o/forces.csv");
    let rows: Vec<Vec<f64>> =
        forces.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    assert_eq!((rows.len(), rows[0].len()), (10, 7));
    for (a, stop) in stops.iter().enumerate() {
        let mean = rows.iter().map(|r| r[2 + a]).sum::<f64>() / 10.0;
        let whole = stop["mean_force"].as_f64().expect("a force");
        assert!((mean - whole).abs() < 1e-9 * whole.max(1e-3), "{mean} {whole}");
    }
    let header = here.read("o/trajectory.csv").lines().next().expect("a header").to_string();
    for column in ["mean_force_preload", "mean_force_plate+[2]", "acceleration_y1", "shear"] {
        assert!(header.split(',').any(|c| c == column), "{column}: {header}");
    }
    let spectrum = &run["spectra"]["response"][0];
    assert_eq!(spectrum["frequencies_hz"].as_array().map(Vec::len), Some(30));
    let of = |ratio: usize, k: usize| spectrum["acceleration"][ratio][k].as_f64().expect("an acceleration");
    // What is stiff moves with the floor; what is damped more responds less where it matters.
    assert!(
        (0..30).map(|k| of(1, k)).fold(0.0, f64::max) < (0..30).map(|k| of(0, k)).fold(0.0, f64::max),
        "{spectrum}"
    );
    assert_eq!(here.read("o/response_spectrum.csv").lines().count(), 61);
    assert!(here.read("o/density.csv").lines().count() > 1000);
    let text = here.saltus(&["run", "tube.toml", "--end", "0.2", "--spectrum", "y2", "--density", "y2"]).stdout;
    assert!(text.contains("on y2") && text.contains("density of y2") && text.contains("friction: heat"), "{text}");
    // Without friction what slides keeps sliding: nothing is turned into heat.
    let smooth = here.json(&["run", "tube.toml", "--json", "--set", "mu=0", "--end", "0.3"]);
    assert_eq!(smooth["structure"]["stops"][4]["friction"]["work"], 0.0, "{}", smooth["structure"]["stops"][4]);
    for (more, message) in [
        (vec!["--spectrum", "nowhere"], "there is no point `nowhere`"),
        (vec!["--spectrum", "shear"], "`shear` is a force, the base shear: nothing stands on it"),
        (vec!["--density", "nowhere"], "no point or stop `nowhere`"),
        (vec!["--spectrum", "y1", "--frequencies", "5,1"], "FROM,TO,COUNT"),
        (vec!["--spectrum", "y1", "--ratios=-1"], "must not be negative"),
        (vec!["--out", "p", "--window", "0"], "positive time"),
        (vec!["--scheme", "moreau-jean"], "needs a mass behind every stop"),
        (vec!["--scheme", "event-driven"], "does not know friction"),
    ] {
        let refused = here.saltus(&[&["run", "tube.toml"], &more[..]].concat());
        assert!(!refused.succeeded() && refused.stderr.contains(message), "{more:?}: {}", refused.stderr);
    }
    let ball = here.saltus(&["run", "ball", "--spectrum", "y"]);
    assert!(!ball.succeeded() && ball.stderr.contains("those of structures"), "{}", ball.stderr);
}
