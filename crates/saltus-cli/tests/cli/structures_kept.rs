//! What a run of a structure carries with it, and what is refused before it: data in other folders, units in headers, clocks, modes.

use crate::program::Scratch;

const TOWER: &str = r#"
inputs.ag = "../data/a.csv"
structure = { kind = "building", masses = [2, 2, 1], stiffnesses = [800, 800, 500], damping = { rayleigh = [0.3, 0] } }
points = { top = { floor = 3 }, mid = { floor = 2 }, V = { base_shear = true } }
base.acceleration = "ag(t)"
constraint = [{ name = "wall", gap = "0.02 - top", stiffness = 3e3, damping = 4 }]
run = { step = 2e-3, end = 3 }
[units]
time = "s"
length = "m"
force = "N"
"#;

fn record(header: &str) -> String {
    let lines = (0..=300).map(|k| format!("{},{}", 0.01 * k as f64, 2.0 * (0.13 * k as f64).sin()));
    header.to_string() + &lines.collect::<Vec<_>>().join("\n")
}

fn tower() -> Scratch {
    let here = Scratch::new();
    for folder in ["data", "model"] {
        std::fs::create_dir(here.join(folder)).expect("a folder");
    }
    here.write("data/a.csv", record(""));
    here.write("model/tower.toml", TOWER);
    here
}

#[test]
fn a_run_is_made_again_without_the_files_of_other_folders() {
    let here = tower();
    assert!(here.saltus(&["run", "model/tower.toml", "--out", "o"]).succeeded());
    std::fs::remove_dir_all(here.join("data")).expect("removed");
    std::fs::remove_dir_all(here.join("model")).expect("removed");
    let again = here.saltus(&["rerun", "o"]);
    assert!(again.succeeded() && again.stdout.contains("identical"), "{again:?}");
}

#[test]
fn floor_spectra_are_the_same_however_few_instants_are_stored() {
    let here = tower();
    let spectrum = |every: &str, more: &[&str]| {
        let args =
            [&["run", "model/tower.toml", "--spectrum", "top", "--frequencies", "1,9,5", "--every", every][..], more];
        here.json(&[&args.concat()[..], &["--json"]].concat())["spectra"].clone()
    };
    let (all, few) = (spectrum("1", &[]), spectrum("100", &["--density", "wall"]));
    assert_eq!(all["response"], few["response"]);
    assert!(few["notes"][0].as_str().is_some_and(|n| n.contains("means between stored instants")), "{few}");
    // Beyond the step, what an oscillator feels is the step's.
    let coarse = here.saltus(&["run", "model/tower.toml", "--spectrum", "top", "--frequencies", "1,400,3"]);
    assert!(coarse.stdout.contains("above 62.5 Hz"), "{}", coarse.stdout);
    let page = here.saltus(&["run", "model/tower.toml", "--spectrum", "top", "--density", "V", "--report", "r.html"]);
    assert!(page.succeeded(), "{page:?}");
    let page = here.read("r.html");
    for part in
        ["Floor response spectrum on top", "Spectral densities of forces", "Motion of the base", "PGA", "Base shear"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn headers_that_contradict_what_is_read_are_refused() {
    let here = tower();
    let answer = |header: &str, input: &str| {
        here.write("data/a.csv", record(header));
        here.write("model/tower.toml", TOWER.replace("inputs.ag = \"../data/a.csv\"", input));
        here.saltus(&["run", "model/tower.toml"])
    };
    let plain = "inputs.ag = \"../data/a.csv\"";
    let with = |unit: &str| format!("inputs.ag = {{ file = \"../data/a.csv\", unit = \"{unit}\" }}");
    for (header, input, message) in [
        ("t (s),acc (g)\n", plain.to_string(), "values are in g, and they are read in m/s2"),
        ("t [ms];a [m/s^2]\n", plain.to_string(), "times are in ms"),
        ("t,a (m/s2)\n", with("g"), "values are in m/s2, and they are read in g"),
    ] {
        let refused = answer(header, &input);
        assert!(
            !refused.succeeded() && refused.stderr.replace("\n  │ ", " ").contains(message),
            "{header}: {}",
            refused.stderr
        );
    }
    for (header, input) in
        [("t (s),acc (g)\n", with("g")), ("t,acc (g)\n", with("as is")), ("t,a (m/s2)\n", plain.into())]
    {
        let read = answer(header, &input);
        assert!(read.succeeded(), "{header}: {read:?}");
    }
}

#[test]
fn what_changes_nothing_and_what_holds_nothing_is_refused() {
    let here = tower();
    here.write("model/deaf.toml", TOWER.replace("\"ag(t)\"", "\"sin(9*t)\""));
    for words in [
        &["run", "model/deaf.toml", "--input", "ag=data/a.csv"][..],
        &["sweep", "model/deaf.toml", "--records", "ag=data/a.csv"],
    ] {
        let refused = here.saltus(words);
        assert!(
            !refused.succeeded() && refused.stderr.contains("nothing in the model uses the input `ag`"),
            "{refused:?}"
        );
    }
    here.write(
        "held.toml",
        r#"
structure = { kind = "beam", length = 2, elements = 8, ends = ["clamped", "free"], rigidity = 3, mass_per_length = 1 }
points = { tip = { x = 2 }, root = { x = 0 } }
constraint = [{ name = "wall", gap = "0.1 - root", stiffness = 100 }]
run = { step = 1e-3, end = 1 }
"#,
    );
    let refused = here.saltus(&["run", "held.toml"]);
    assert!(!refused.succeeded() && refused.stderr.contains("acts on nothing that can move"), "{refused:?}");
}

#[test]
fn a_run_is_continued_with_its_clock_set_anew() {
    let here = tower();
    assert!(here.saltus(&["run", "model/tower.toml", "--out", "o"]).succeeded());
    let on = here.json(&["run", "model/tower.toml", "--from", "o", "--start", "t=0", "--end", "1", "--json"]);
    assert_eq!((&on["start"], &on["end"]), (&serde_json::json!(0.0), &serde_json::json!(1.0)), "{on}");
    here.write("model/tower.toml", TOWER.replace("damping = 4", "damping = 9"));
    let other = here.saltus(&["run", "model/tower.toml", "--from", "o", "--start", "t=0", "--end", "1"]);
    assert!(other.succeeded() && other.stdout.contains("the text of the model is another"), "{other:?}");
    let refused = here.saltus(&["run", "model/tower.toml", "--from", "o", "--start", "top=1"]);
    assert!(!refused.succeeded() && refused.stderr.contains("cannot be used with --from"), "{refused:?}");
}

#[test]
fn modes_that_cannot_meet_a_preload_are_left_out_of_a_study() {
    let here = Scratch::new();
    here.write(
        "rig.toml",
        r#"
structure = { kind = "beam", length = 9, elements = 12, ends = ["clamped", "pinned"], rigidity = 900, mass_per_length = 0.6, damping = { ratio = 0.02, between = [1, 20] } }
points."y{i}" = { for = "i = 1..8", x = "1.0*{i}" }
loads.y4 = "2*sin(9*t)"
start.equilibrium = true
constraint = [{ name = "sup", for = "i = 1..7", point = "y{i}", within = 4e-4, restitution = 0 }, { name = "pre", gap = "y8 - 1e-3", restitution = 0 }]
run = { step = 1e-3, end = 0.5 }
"#,
    );
    let found = here.saltus(&["converge", "rig.toml", "--over", "modes"]);
    assert!(found.succeeded() && found.stdout.contains("cannot follow this structure"), "{found:?}");
}
