//! Runs that go on from, or repeat, other runs: --start, --from, --at, rerun.

use crate::program::Scratch;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_start_from_the_command_line_is_the_start_of_the_run() {
    let here = Scratch::new();
    let run = here.json(&["run", "ball-gravity", "--start", "y=2,y'=-1", "--end", "0.1", "--json"]);
    let (y, v) = (2.0 - 0.1 - 9.81 * 0.01 / 2.0, -1.0 - 0.981);
    assert!((number(&run["final"]["q"][0]) - y).abs() < 1e-12 && (number(&run["final"]["v"][0]) - v).abs() < 1e-12);
    for (start, reason) in [("z=1", "`z`"), ("y=-1", "floor"), ("y", "NAME=VALUE"), ("y=1+", "expression")] {
        let refused = here.saltus(&["run", "ball-gravity", "--start", start]);
        assert!(!refused.succeeded() && refused.stderr.contains(reason), "{start}: {}", refused.stderr);
    }
}

#[test]
fn a_run_goes_on_where_another_ended_or_from_any_time() {
    let here = Scratch::new();
    let whole = here.json(&["run", "oscillator", "--end", "40", "--json"]);
    here.json(&["run", "oscillator", "--end", "25", "--out", "first", "--json"]);
    for from in [&["--from", "first"][..], &["--from", "first", "--at", "11.5"]] {
        let rest = here.json(&[&["run", "oscillator", "--end", "40", "--json"], from].concat());
        for k in ["q", "v"] {
            let (a, b) = (number(&whole["final"][k][0]), number(&rest["final"][k][0]));
            assert!((a - b).abs() < 1e-8, "{from:?}: {k} = {a} and {b}");
        }
    }
    let outside = here.saltus(&["run", "oscillator", "--from", "first", "--at", "26"]);
    assert!(!outside.succeeded() && outside.stderr.contains("26"), "{}", outside.stderr);
}

#[test]
fn a_saved_run_is_made_again_bit_for_bit() {
    let here = Scratch::new();
    let runs: [&[&str]; 4] = [
        &["run", "rocking-block", "--set", "g=9.7", "--end", "1"],
        &["run", "pounding-record", "--end", "2", "--scheme", "moreau-jean", "--theta", "0.6"],
        &["run", "ball-table", "--scheme", "mabrouk", "--start", "y=1.5", "--end", "3", "--every", "7"],
        &["run", "beam-stops", "--end", "0.02"],
    ];
    for (k, args) in runs.iter().enumerate() {
        let dir = format!("run{k}");
        let first = here.saltus(&[args, &["--out", dir.as_str()][..]].concat());
        assert!(first.succeeded(), "{args:?}: {}", first.stderr);
        let again = here.json(&["rerun", &dir, "--json"]);
        assert_eq!(again["identical"], true, "{args:?}: {again}");
    }
    // A file that was changed by hand is noticed.
    let table = here.read("run0/impacts.csv");
    let trajectory = std::fs::read(here.join("run0/trajectory.npz")).expect("there");
    here.write("run0/impacts.csv", table.replacen("0.", "1.", 1));
    let other = here.saltus(&["rerun", "run0", "--out", "fresh"]);
    assert_ne!(other.code, Some(0), "{}", other.stdout);
    assert_eq!(here.read("fresh/impacts.csv"), table);
    assert_eq!(
        std::fs::read(here.join("run0/trajectory.npz")).expect("there"),
        trajectory,
        "rerun writes nothing there"
    );
}

#[test]
fn all_impacts_are_listed_on_demand() {
    let here = Scratch::new();
    let count = |which: &str| {
        let run = here.json(&["run", "ball-gravity", "--json", "--impacts", which]);
        let list = if run["impacts"]["all"].is_null() { "first" } else { "all" };
        run["impacts"][list].as_array().map_or(0, Vec::len)
    };
    let run = here.json(&["run", "ball-gravity", "--json"]);
    assert_eq!(count("all") as u64, run["impacts"]["count"].as_u64().expect("a count"));
    assert!(count("first") < count("all"));
}

#[test]
fn a_check_begins_where_it_is_told() {
    let dir = Scratch::new();
    dir.write(
        "m.toml",
        "[coordinates]\nx = { position = 0.5, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
        [[constraint]]\nname = \"left\"\ngap = \"x\"\n[[constraint]]\nname = \"right\"\ngap = \"1 + 0.1*sin(t) - x\"\n\
        [impact]\nrestitution = 0\n[run]\nstep = 0.01\nend = 0.5\n",
    );
    let text = dir.saltus(&["check", "m.toml"]).stdout;
    assert!(text.contains("from t = 0 to 0.5"), "{text}");
    let text = dir.saltus(&["check", "m.toml", "--start", "t=0.25", "--start", "x=0.1"]).stdout;
    assert!(text.contains("from t = 0.25 to 0.5"), "{text}");
    let refused = dir.saltus(&["check", "m.toml", "--start", "x=-0.1"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("left"), "{}{}", refused.stdout, refused.stderr);
    // From where a run ended.
    dir.saltus(&["run", "m.toml", "--out", "r"]);
    let text = dir.saltus(&["check", "m.toml", "--from", "r", "--end", "0.75"]).stdout;
    assert!(text.contains("from t = 0.5 to 0.75"), "{text}");
}
