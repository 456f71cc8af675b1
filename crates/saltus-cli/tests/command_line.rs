//! The program as a person uses it.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

fn saltus(args: &[&str]) -> Output {
    Command::cargo_bin("saltus").expect("built").args(args).output().expect("ran")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn json(args: &[&str]) -> Value {
    let output = saltus(args);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}\n{}", stderr(&output)))
}

#[test]
fn every_shipped_model_runs_and_keeps_its_promises() {
    let list = stdout(&saltus(&["models"]));
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../saltus-io/models")).expect("models/");
    let files = files.filter(|f| f.as_ref().is_ok_and(|f| f.path().extension().is_some_and(|e| e == "toml"))).count();
    let names: Vec<&str> =
        list.lines().filter(|l| l.starts_with("  ")).filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(names.len(), files, "every file in models/ is shipped");
    for name in names {
        let run = json(&["run", name, "--json"]);
        assert_eq!(run["status"], "finished", "{name}");
        assert_eq!(run["warnings"], Value::Array(vec![]), "{name}");
        let step = run["step"].as_f64().expect("step");
        let number = |key: &str| run["audit"][key].as_f64().unwrap_or_else(|| panic!("{name}: {key}"));
        // A violation is at most what one step can do: the step times the speed, of order one to ten here.
        assert!(number("max_violation") < 10.0 * step, "{name}");
        // (Within the two steps of an impact elastic forces change the velocity of a node, too.)
        assert!(number("worst_law_residual") < 0.02 || run["structure"].is_object(), "{name}");
        assert!(number("energy_end").is_finite());
    }
}

#[test]
fn the_summary_tells_what_happened() {
    let output = saltus(&["run", "ball-gravity", "--set", "e=0.5", "--end", "2"]);
    let text = stdout(&output);
    assert!(output.status.success());
    for piece in [
        "Ball dropped on a floor",
        "auto, tolerance 1e-10",
        "steps in",
        "17 impacts",
        "floor",
        "0.4515236",
        "bounced 17 times on floor",
        "stayed in contact from t = 1.354570923 on",
        "at rest since t = 1.3545709",
        "energy balance",
        "contact with floor from t = 1.35457 to the end",
        "largest violation",
        "impact law residual",
        "energy",
        "final state",
    ] {
        assert!(text.contains(piece), "`{piece}` in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colours only on a terminal");
    let stepped = stdout(&saltus(&["run", "ball-gravity", "--scheme", "paoli-schatzman", "--end", "2"]));
    assert!(stepped.contains("paoli-schatzman, h = 0.001") && stepped.contains("2000 steps"), "{stepped}");
}

#[test]
fn the_ball_of_every_tutorial_for_twenty_minutes() {
    for tenths in 0..=10 {
        let e = f64::from(tenths) / 10.0;
        let run =
            json(&["run", "ball-gravity", "--json", "--set", &format!("e={e}"), "--end", "1200", "--every", "1000"]);
        let (y, v) = (run["final"]["q"][0].as_f64().expect("y"), run["final"]["v"][0].as_f64().expect("v"));
        if e < 1.0 {
            assert_eq!((y, v), (0.0, 0.0), "e = {e}: at rest on the floor");
            assert_eq!(run["timeline"]["last"]["kind"], "contact");
            let rest = (2.0f64 / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
            let found = run["timeline"]["last"]["start"].as_f64().expect("a time");
            assert!((found - rest).abs() < 1e-9 * rest, "e = {e}: rest at {found}, not {rest}");
        } else {
            assert!((9.81 * y + 0.5 * v * v - 9.81).abs() < 1e-8, "the energy is kept");
            assert_eq!(run["impacts"]["count"], 1329);
        }
    }
}

#[test]
fn the_safety_net_is_used_and_said_to_be() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("friction.toml");
    // A block slides to rest by dry friction, then is pushed against a wall: sign(x') switches for ever at rest.
    let text = "[coordinates]\nx = { position = 0, velocity = 1 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[dynamics.force]\n\
                x = \"-2*sign(x')\"\n[[constraint]]\nname = \"wall\"\ngap = \"1 - x\"\n[impact]\nrestitution = 0.5\n\
                [run]\nstep = 1e-3\nend = 2\n";
    fs::write(&path, text).expect("written");
    let name = path.to_str().expect("UTF-8");
    let alone = json(&["run", name, "--scheme", "event-driven", "--json"]);
    assert_eq!(alone["status"], "failed");
    assert!((alone["failure"]["t"].as_f64().expect("t") - 0.5).abs() < 1e-9, "{alone}");
    let auto = json(&["run", name, "--json"]);
    assert_eq!(auto["status"], "finished");
    assert!(auto["notes"][0].as_str().expect("a note").contains("time-stepped with mabrouk"), "{auto}");
    assert!((auto["final"]["q"][0].as_f64().expect("x") - 0.25).abs() < 1e-2);
}

#[test]
fn tolerances_that_mean_nothing_are_refused() {
    for tol in ["0", "-1", "1e-20", "0.5"] {
        let output = saltus(&["run", "ball", "--scheme", "event-driven", "--tol", tol]);
        assert_eq!(output.status.code(), Some(1), "{tol}: {}", stdout(&output));
        assert!(stderr(&output).contains("tol"), "{tol}: {}", stderr(&output));
    }
}

#[test]
fn json_has_the_promised_fields() {
    let run = json(&["run", "ball-gravity", "--json", "--set", "e=0.5", "--step", "1e-4", "--end", "1.2"]);
    for key in ["model", "scheme", "step", "end", "steps", "wall_s", "warnings"] {
        assert!(!run[key].is_null(), "{key}");
    }
    assert_eq!(run["tolerance"], 1e-10);
    assert_eq!(run["timeline"]["first"][1]["kind"], "impact");
    assert_eq!(run["final"]["t"], 1.2);
    assert_eq!(run["impacts"]["count"], 3);
    let first = &run["impacts"]["first"][0];
    assert!((first["t"].as_f64().expect("t") - 0.451_523_640_985_730_9).abs() < 1e-6);
    assert_eq!(first["constraints"], serde_json::json!(["floor"]));
    let (before, after) = (first["v_before"][0].as_f64().expect("v"), first["v_after"][0].as_f64().expect("v"));
    assert!((after + 0.5 * before).abs() < 1e-9);
    assert!((first["impulse"][0].as_f64().expect("P") - 1.5 * 4.4294).abs() < 1e-2);
    for key in ["max_violation", "energy_start", "energy_end", "worst_law_residual"] {
        assert!(run["audit"][key].is_number(), "{key}");
    }
}

#[test]
fn out_writes_files_that_agree() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("a/b");
    let output = saltus(&["run", "rod", "--out", out.to_str().expect("UTF-8"), "--end", "0.6"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut names: Vec<String> = fs::read_dir(&out)
        .expect("made")
        .map(|f| f.expect("entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["contacts.csv", "energy.csv", "impacts.csv", "run.json", "timeline.csv", "trajectory.csv", "trajectory.npz"]
    );
    let record: Value = serde_json::from_str(&fs::read_to_string(out.join("run.json")).expect("read")).expect("JSON");
    assert_eq!(record["model_text"].as_str(), Some(include_str!("../../saltus-io/models/rod.toml")));
    assert_eq!(record["model_sha256"].as_str().map(str::len), Some(64));
    let table = fs::read_to_string(out.join("trajectory.csv")).expect("read");
    let mut lines = table.lines();
    let head =
        "t,x,s,theta,v_left_x,v_left_s,v_left_theta,v_right_x,v_right_s,v_right_theta,reaction_tip 1,reaction_tip 2";
    assert_eq!(lines.next(), Some(head));
    let impacts = record["summary"]["impacts"]["count"].as_u64().expect("count") as usize;
    assert_eq!(lines.clone().count(), 6001 + impacts, "the regular instants, and those of the impacts");
    let last: Vec<f64> = lines.last().expect("rows").split(',').map(|x| x.parse().expect("number")).collect();
    assert_eq!(last[3], record["summary"]["final"]["q"][2].as_f64().expect("theta"));
    // The archive holds the same numbers: its q array ends with the last row of the table.
    let archive = fs::read(out.join("trajectory.npz")).expect("read");
    let tail: Vec<u8> = last[1..4].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(archive.starts_with(b"PK") && archive.windows(tail.len()).any(|w| w == tail));
    let impacts = fs::read_to_string(out.join("impacts.csv")).expect("read");
    assert_eq!(impacts.lines().count() as u64 - 1, record["summary"]["impacts"]["count"].as_u64().expect("count"));
}

#[test]
fn a_typo_is_shown_with_its_place_and_a_suggestion() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("ball.toml");
    let text = include_str!("../../saltus-io/models/ball-gravity.toml").replace("m*g*y\"", "m*gg*y\"");
    fs::write(&path, &text).expect("written");
    let name = path.to_str().expect("UTF-8");
    let output = saltus(&["run", name]);
    assert_eq!(output.status.code(), Some(1));
    let shown = stderr(&output);
    let line = text.lines().position(|l| l.contains("gg")).expect("there") + 1;
    for piece in ["unknown name `gg`", "potential = \"m*gg*y\"", "did you mean `g`?", &format!("ball.toml:{line}:")] {
        assert!(shown.contains(piece), "`{piece}` in\n{shown}");
    }
    let error = json(&["run", name, "--json"]);
    assert_eq!(error["error"]["line"], line);
    assert_eq!(error["error"]["column"], 16);
}

#[test]
fn wrong_calls_are_answered() {
    for (args, pieces) in [
        (&["run", "bal-gravity"][..], &["no file and no shipped model", "ball-gravity"][..]),
        (&["run", "no/such/file.toml"], &["no such file"]),
        (&["run", "ball", "--scheme", "paoli"], &["there is no scheme `paoli`", "paoli-schatzman"]),
        (&["run", "ball", "--step", "0"], &["positive"]),
        (&["run", "ball", "--step", "-1"], &["positive"]),
        (&["run", "ball", "--step", "nan"], &["unknown name `nan`"]),
        (&["run", "ball", "--end", "inf"], &["unknown name `inf`"]),
        (&["run", "ball", "--set", "e"], &["NAME=VALUE"]),
        (&["run", "ball", "--set", "f=1"], &["no parameter `f`"]),
        (&["run", "ball", "--set", "e=2"], &["outside [0, 1]"]),
        (&["run", "ball", "--every", "0"], &["0"]),
        (&["run", "ball", "--forcing", "mean"], &["centred, averaged"]),
        (&["run", "ball", "--step", "1e-12"], &["--every"]),
        (&["models", "balls"], &["did you mean"]),
        (&["run", "/"], &["directory"]),
    ] {
        let output = saltus(args);
        assert!(!output.status.success(), "{args:?}");
        let shown = stderr(&output);
        assert!(pieces.iter().all(|p| shown.contains(p)), "{args:?}: {shown}");
        assert!(!shown.contains("panicked"), "{shown}");
    }
}

#[test]
fn a_new_model_runs_as_it_is_and_is_never_overwritten() {
    let dir = tempfile::tempdir().expect("a directory");
    let here = |args: &[&str]| {
        Command::cargo_bin("saltus").expect("built").args(args).current_dir(dir.path()).output().expect("ran")
    };
    assert!(here(&["new", "slope"]).status.success());
    let run = here(&["run", "slope.toml", "--json"]);
    let run: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!((run["status"].as_str(), run["title"].as_str()), (Some("finished"), Some("slope")));
    assert!(run["impacts"]["count"].as_u64().expect("count") > 2);
    fs::write(dir.path().join("slope.toml"), "mine").expect("written");
    let again = here(&["new", "slope"]);
    assert!(!again.status.success() && stderr(&again).contains("exists already"));
    assert_eq!(fs::read_to_string(dir.path().join("slope.toml")).expect("read"), "mine");
}

#[test]
fn steps_that_do_not_fit_the_end_are_said() {
    let run = json(&["run", "ball", "--scheme", "paoli-schatzman", "--json", "--step", "0.07", "--end", "1"]);
    assert_eq!(run["steps"], 15);
    assert!(run["warnings"][0].as_str().expect("a warning").contains("does not divide"));
    assert_eq!(run["final"]["t"].as_f64().map(|t| (t * 1e12).round()), Some(1e12));
}

#[test]
fn a_failed_run_writes_what_it_has() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = dir.path().join("crush.toml");
    fs::write(
        &model,
        "[coordinates]\nx = { position = 0.5 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[[constraint]]\nname = \"left\"\ngap = \"x\"\n\
         [[constraint]]\nname = \"right\"\ngap = \"1 - t - x\"\n[impact]\nrestitution = 0\n[run]\nstep = 1e-3\nend = 2\n",
    )
    .expect("written");
    let out = dir.path().join("out");
    let output = saltus(&["run", model.to_str().expect("UTF-8"), "--out", out.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["status"], "failed");
    assert!(run["message"].as_str().expect("message").contains("leave no room"));
    let rows = fs::read_to_string(out.join("trajectory.csv")).expect("written").lines().count();
    assert!((990..=1003).contains(&rows), "{rows}");
}

#[test]
fn results_are_there_even_if_nobody_reads_the_summary() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    let binary = assert_cmd::cargo::cargo_bin("saltus");
    let mut child = std::process::Command::new(binary)
        .args(["run", "ball-gravity", "--out"])
        .arg(&out)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    assert!(child.wait().expect("ended").success());
    assert!(out.join("run.json").exists());
}

#[test]
fn json_is_one_object_whatever_happens() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("trajectory.csv")).expect("made");
    let blocked = json(&["run", "ball", "--json", "--out", dir.path().to_str().expect("UTF-8")]);
    assert!(blocked["error"]["message"].as_str().expect("message").contains("trajectory.csv"));
    assert_eq!(blocked["status"], "finished");
    assert!(!dir.path().join("trajectory.npz").exists(), "all files or none");
    for args in
        [&["run", "ball", "--json", "--every", "0"][..], &["run", "--json"], &["run", "ball", "--json", "--bogus"]]
    {
        assert!(json(args)["error"]["message"].is_string(), "{args:?}");
    }
}

#[test]
fn text_from_a_model_cannot_play_with_the_terminal() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("odd.toml");
    let text =
        include_str!("../../saltus-io/models/ball.toml").replace("title = \"Force", "title = \"\\u001b[31mForce");
    fs::write(&path, text.replace("\"wall\"", "\"wa\\nll, \\\"x\\\"\"")).expect("written");
    let out = dir.path().join("out");
    let output = saltus(&["run", path.to_str().expect("UTF-8"), "--out", out.to_str().expect("UTF-8")]);
    assert!(output.status.success() && !output.stdout.contains(&0x1b));
    let table = fs::read_to_string(out.join("impacts.csv")).expect("read");
    assert!(table.contains("\"wa\nll, \"\"x\"\"\""), "{table}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_cleanly_with_what_was_computed() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    let binary = assert_cmd::cargo::cargo_bin("saltus");
    let child = std::process::Command::new(binary)
        .args([
            "run",
            "rocking-block",
            "--scheme",
            "paoli-schatzman",
            "--step",
            "1e-8",
            "--every",
            "100000",
            "--json",
            "--out",
        ])
        .arg(&out)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    std::thread::sleep(Duration::from_millis(700));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let asked = Instant::now();
    let output = child.wait_with_output().expect("ended");
    assert!(asked.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(130));
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["status"], "interrupted");
    assert!(run["steps"].as_u64().expect("steps") > 0);
    assert!(Path::new(&out).join("trajectory.npz").exists());
}

#[test]
fn check_equilibria_and_probe_answer_people_and_machines() {
    let text = stdout(&saltus(&["check", "rocking-block"]));
    for piece in ["142.4765°", "discontinuously", "not covered", "Ballard 2000", "`corner A` and `corner B`"] {
        assert!(text.contains(piece), "`{piece}` in\n{text}");
    }
    let checked = json(&["check", "wedge", "--set", "angle=90", "--json"]);
    assert_eq!(checked["pairs"][0]["continuous"], true);
    assert_eq!(checked["theorems"].as_array().map(Vec::len), Some(6));
    let resting = json(&["equilibria", "ball-gravity", "--json"]);
    assert_eq!(resting["equilibria"].as_array().map(Vec::len), Some(1));
    assert!((resting["equilibria"][0]["reactions"][0].as_f64().expect("λ") - 9.81).abs() < 1e-10);
    let probed = json(&["run", "wedge", "--set", "angle=120", "--probe", "12", "--json"]);
    assert_eq!(
        (&probed["probe"]["splits"], &probed["probe"]["parting"]["impact"]),
        (&Value::from(true), &Value::from(1))
    );
    let settled = json(&["run", "ball-gravity", "--until-rest", "--json"]);
    assert!(settled["long_time"].as_str().expect("words").starts_with("at rest since"), "{settled}");
    assert!(settled["final"]["t"].as_f64().expect("t") < 100.0);
}

#[test]
fn strict_fails_where_the_ledger_complains() {
    assert_eq!(saltus(&["run", "ball-gravity", "--strict"]).status.code(), Some(0));
    // Coarse steps: impacts of the rods overlap, and the law is not kept.
    let coarse = saltus(&["run", "hard-rods", "--scheme", "paoli-schatzman", "--step", "0.02", "--strict"]);
    assert_eq!(coarse.status.code(), Some(3), "{}", stdout(&coarse));
    assert!(stdout(&coarse).contains("strict: (P"), "{}", stdout(&coarse));
}
