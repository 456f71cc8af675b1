//! Supports as an engineer asks for them: round holes, groups, records, random loads, base shears, through the program.

use crate::program::Scratch;

const TUBE: &str = r#"
title = "Tube in three plates"
inputs.flow = { psd = [[5, 40.0], [40, 40.0], [80, 1.0]], duration = 4, seed = 3 }
inputs.ag = "a.csv"

[[structure]]
name = "y"
kind = "beam"
length = 2
elements = 16
ends = ["clamped", "pinned"]
rigidity = 525
mass_per_length = 1.0
damping = { ratio = 0.02, between = [10, 100] }

[[structure]]
name = "z"
kind = "beam"
length = 2
elements = 16
ends = ["clamped", "pinned"]
rigidity = 525
mass_per_length = 1.0
damping = { ratio = 0.02, between = [10, 100] }

[points]
"y{i}" = { for = "i = 1..3", of = "y", x = "0.5*{i}" }
"z{i}" = { for = "i = 1..3", of = "z", x = "0.5*{i}" }
shear = { base_shear = true, of = "y" }

[loads]
y2 = "flow(t)"

[[base]]
acceleration = "ag(t)"
of = "z"

[[constraint]]
name = "plate"
for = "i = 1..3"
point = ["y{i}", "z{i}"]
within = 2e-4
centre = ["2.2e-4*sin({i})", 0]
stiffness = 1e6
damping = 30
friction = 0.3
group = "plates"

[start]
equilibrium = true

[run]
step = 5e-5
end = 0.4
"#;

fn ok(here: &Scratch, args: &[&str]) -> String {
    let answer = here.saltus(args);
    assert!(answer.succeeded(), "{answer:?}");
    answer.stdout
}

fn fails(here: &Scratch, args: &[&str]) -> String {
    let answer = here.saltus(args);
    assert!(!answer.succeeded(), "{answer:?}");
    answer.stdout + &answer.stderr
}

fn tube() -> Scratch {
    let here = Scratch::new();
    here.write("tube.toml", TUBE);
    for (name, size) in [("a.csv", 2.0), ("b.csv", 5.0)] {
        let lines: Vec<String> =
            (0..=400).map(|k| format!("{},{}", 1e-3 * k as f64, size * (0.2 * k as f64).sin())).collect();
        here.write(name, lines.join("\n"));
    }
    here
}

#[test]
fn groups_of_holes_have_their_sums_everywhere() {
    let here = tube();
    let text = ok(&here, &["run", "tube.toml", "--out", "o", "--report", "r.html"]);
    assert!(text.contains("plates               all 3 stops:"), "{text}");
    assert!(text.contains("shear                base shear, a force:"), "{text}");
    let summary = here.json(&["run", "tube.toml", "--json"]);
    let structure = &summary["structure"];
    let group = &structure["groups"][0];
    for (key, of) in [("total_impulse", "total_impulse"), ("wear_power", "wear_power"), ("mean_force", "mean_force")] {
        let sum: f64 = structure["stops"].as_array().expect("stops").iter().filter_map(|s| s[of].as_f64()).sum();
        let whole = group[key].as_f64().expect("a sum");
        assert!(sum > 0.0 && (whole - sum).abs() <= 1e-12 * sum, "{key}: {whole} {sum}");
    }
    // Wear measured by the friction itself is the same thing.
    let heat = group["friction_work"].as_f64().expect("heat");
    let wear = group["wear_power"].as_f64().expect("wear");
    assert!((heat - 0.3 * 0.4 * wear).abs() < 0.01 * heat, "{heat} {wear}");
    let table = here.read("o/supports.csv");
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(table.lines().last().is_some_and(|l| l.starts_with("all of plates,plates,")), "{table}");
    assert!(
        here.read("o/trajectory.csv")
            .lines()
            .next()
            .is_some_and(|l| { l.contains("base_shear_shear") && !l.contains("acceleration_shear") })
    );
    let page = here.read("r.html");
    for part in ["support-table", "group-table", "Forces of the supports", "Wear of the supports"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn inputs_are_replaced_and_the_run_can_be_made_again() {
    let here = tube();
    let own = here.json(&["run", "tube.toml", "--json"]);
    let other =
        here.json(&["run", "tube.toml", "--input", "ag=b.csv", "--input", "flow=seed:9", "--out", "o", "--json"]);
    let moved = |run: &serde_json::Value| run["structure"]["points"][4]["rms"].as_f64().expect("a point");
    assert!(moved(&other) > 1.2 * moved(&own), "{} {}", moved(&own), moved(&other));
    std::fs::remove_file(here.join("b.csv")).expect("a file");
    assert!(ok(&here, &["rerun", "o"]).contains("identical"));
    for (words, message) in [
        (["--input", "nothing=b.csv"], "no input `nothing`"),
        (["--input", "ag=missing.csv"], "missing.csv"),
        (["--input", "ag=seed:3"], "has no seed"),
        (["--input", "flow=seed:x"], "no seed"),
    ] {
        let failed = fails(&here, &[&["run", "tube.toml"][..], &words[..]].concat());
        assert!(failed.contains(message), "{failed}");
    }
}

#[test]
fn a_sweep_over_records_is_one_table() {
    let here = tube();
    let text = ok(
        &here,
        &["sweep", "tube.toml", "--records", "ag=a.csv,b.csv", "--records", "flow=seed:1,seed:2", "--out", "t"],
    );
    assert!(text.contains("2 records, one run each") && text.contains("b.csv seed:2"), "{text}");
    let table = here.read("t/records.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("record_ag,record_flow,status,impacts,shocks,") && lines.len() == 3, "{table}");
    // A row is what a run with these inputs gives.
    let swept = here.json(&["sweep", "tube.toml", "--records", "ag=a.csv,b.csv", "--json"]);
    let alone = here.json(&["run", "tube.toml", "--input", "ag=b.csv", "--json"]);
    let row = &swept["rows"][1];
    assert_eq!(row["records"]["ag"], "b.csv");
    assert_eq!(row["values"]["wear_power_all_plates"], alone["structure"]["groups"][0]["wear_power"]);
    assert_eq!(row["values"]["max_z2"], alone["structure"]["points"][4]["max"]);
    for (words, message) in [
        (&["--records", "ag=a.csv,b.csv", "--records", "flow=seed:1"][..], "2 records of `ag`, but 1 of `flow`"),
        (&["--records", "ag=a.csv,,b.csv"][..], "empty entry"),
        (&["--records", "ag=a.csv", "--records", "ag=b.csv"][..], "given twice"),
        (&["--records", "ag=nowhere.csv"][..], "nowhere.csv"),
    ] {
        let failed = fails(&here, &[&["sweep", "tube.toml"][..], words].concat());
        assert!(failed.contains(message), "{failed}");
    }
}

#[test]
fn other_schemes_say_which_one_knows_holes_and_friction() {
    let here = tube();
    for scheme in ["moreau-jean", "event-driven"] {
        let failed = fails(&here, &["run", "tube.toml", "--scheme", scheme]);
        assert!(failed.contains("paoli-schatzman with the forcing newmark") && failed.contains("plate[1]"), "{failed}");
    }
}
