//! `run` and the commands around it: summaries, JSON, files, mistakes, interruption.

use crate::program::{Answer, Scratch, json, saltus, shipped};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn every_shipped_model_runs_and_keeps_its_promises() {
    let list = saltus(&["models"]).stdout;
    let names: Vec<&str> =
        list.lines().filter(|l| l.starts_with("  ")).filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(names.len(), saltus_io::shipped::MODELS.len(), "every shipped model is listed");
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
    let text = &output.stdout;
    assert!(output.succeeded());
    for piece in [
        "Ball dropped on a floor",
        "auto, tolerance 1e-10",
        "steps in",
        "17 impacts",
        "floor",
        "0.4515236",
        "bounced 17 times on floor",
        "in contact from t = 1.354570923 on",
        "at rest since t = 1.3545709",
        "energy account",
        "contact with floor from t = 1.35457 to the end",
        "largest violation",
        "impact law residual",
        "energy",
        "final state",
    ] {
        assert!(text.contains(piece), "`{piece}` in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colours only on a terminal");
    let stepped = saltus(&["run", "ball-gravity", "--scheme", "paoli-schatzman", "--end", "2"]).stdout;
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
    let here = Scratch::new();
    // A block slides to rest by dry friction, then is pushed against a wall: sign(x') switches for ever at rest.
    let text = "[coordinates]\nx = { position = 0, velocity = 1 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[dynamics.force]\n\
                x = \"-2*sign(x')\"\n[[constraint]]\nname = \"wall\"\ngap = \"1 - x\"\n[impact]\nrestitution = 0.5\n\
                [run]\nstep = 1e-3\nend = 2\n";
    here.write("friction.toml", text);
    let alone = here.json(&["run", "friction.toml", "--scheme", "event-driven", "--json"]);
    assert_eq!(alone["status"], "failed");
    assert!((alone["failure"]["t"].as_f64().expect("t") - 0.5).abs() < 1e-9, "{alone}");
    let auto = here.json(&["run", "friction.toml", "--json"]);
    assert_eq!(auto["status"], "finished");
    assert!(auto["notes"][0].as_str().expect("a note").contains("time-stepped with mabrouk"), "{auto}");
    assert!((auto["final"]["q"][0].as_f64().expect("x") - 0.25).abs() < 1e-2);
}

#[test]
fn tolerances_that_mean_nothing_are_refused() {
    for tol in ["0", "-1", "1e-20", "0.5"] {
        let output = saltus(&["run", "ball", "--scheme", "event-driven", "--tol", tol]);
        assert_eq!(output.code, Some(1), "{tol}: {}", output.stdout);
        assert!(output.stderr.contains("tol"), "{tol}: {}", output.stderr);
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
    let here = Scratch::new();
    let output = here.saltus(&["run", "rod", "--out", "a/b", "--end", "0.6"]);
    assert!(output.succeeded(), "{}", output.stderr);
    let mut names: Vec<String> = fs::read_dir(here.join("a/b"))
        .expect("made")
        .map(|f| f.expect("entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "contacts.csv",
            "energy.csv",
            "impacts.csv",
            "run.json",
            "state.npz",
            "timeline.csv",
            "trajectory.csv",
            "trajectory.npz"
        ]
    );
    let record: Value = serde_json::from_str(&here.read("a/b/run.json")).expect("JSON");
    assert_eq!(record["model_text"].as_str(), Some(shipped("rod")));
    assert_eq!(record["model_sha256"].as_str().map(str::len), Some(64));
    let table = here.read("a/b/trajectory.csv");
    let mut lines = table.lines();
    let head =
        "t,x,s,theta,v_left_x,v_left_s,v_left_theta,v_right_x,v_right_s,v_right_theta,reaction_tip 1,reaction_tip 2";
    assert_eq!(lines.next(), Some(head));
    let impacts = record["summary"]["impacts"]["count"].as_u64().expect("count") as usize;
    assert_eq!(lines.clone().count(), 6001 + impacts, "the regular instants, and those of the impacts");
    let last: Vec<f64> = lines.last().expect("rows").split(',').map(|x| x.parse().expect("number")).collect();
    assert_eq!(last[3], record["summary"]["final"]["q"][2].as_f64().expect("theta"));
    // The archive holds the same numbers: its q array ends with the last row of the table.
    let archive = fs::read(here.join("a/b/trajectory.npz")).expect("read");
    let tail: Vec<u8> = last[1..4].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(archive.starts_with(b"PK") && archive.windows(tail.len()).any(|w| w == tail));
    let impacts = here.read("a/b/impacts.csv");
    assert_eq!(impacts.lines().count() as u64 - 1, record["summary"]["impacts"]["count"].as_u64().expect("count"));
}

#[test]
fn a_typo_is_shown_with_its_place_and_a_suggestion() {
    let here = Scratch::new();
    let text = shipped("ball-gravity").replace("m*g*y\"", "m*gg*y\"");
    here.write("ball.toml", &text);
    let output = here.saltus(&["run", "ball.toml"]);
    assert_eq!(output.code, Some(1));
    let shown = output.stderr;
    let line = text.lines().position(|l| l.contains("gg")).expect("there") + 1;
    for piece in ["unknown name `gg`", "potential = \"m*gg*y\"", "did you mean `g`?", &format!("ball.toml:{line}:")] {
        assert!(shown.contains(piece), "`{piece}` in\n{shown}");
    }
    let error = here.json(&["run", "ball.toml", "--json"]);
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
        (&["run", "ball", "--scheme", "paoli-schatzman", "--forcing", "mean"], &["centred, averaged"]),
        (&["run", "ball", "--step", "1e-12"], &["--every"]),
        (&["models", "balls"], &["did you mean"]),
        (&["run", "/"], &["directory"]),
    ] {
        let output = saltus(args);
        assert!(!output.succeeded(), "{args:?}");
        let shown = output.stderr;
        assert!(pieces.iter().all(|p| shown.contains(p)), "{args:?}: {shown}");
        assert!(!shown.contains("panicked"), "{shown}");
    }
}

#[test]
fn a_new_model_runs_as_it_is_and_is_never_overwritten() {
    let here = Scratch::new();
    assert!(here.saltus(&["new", "slope"]).succeeded());
    let run = here.json(&["run", "slope.toml", "--json"]);
    assert_eq!((run["status"].as_str(), run["title"].as_str()), (Some("finished"), Some("slope")));
    assert!(run["impacts"]["count"].as_u64().expect("count") > 2);
    here.write("slope.toml", "mine");
    let again = here.saltus(&["new", "slope"]);
    assert!(!again.succeeded() && again.stderr.contains("exists already"));
    assert_eq!(here.read("slope.toml"), "mine");
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
    let here = Scratch::new();
    here.write(
        "crush.toml",
        "[coordinates]\nx = { position = 0.5 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[[constraint]]\nname = \"left\"\ngap = \"x\"\n\
         [[constraint]]\nname = \"right\"\ngap = \"1 - t - x\"\n[impact]\nrestitution = 0\n[run]\nstep = 1e-3\nend = 2\n",
    );
    let output = here.saltus(&["run", "crush.toml", "--out", "out", "--json"]);
    assert_eq!(output.code, Some(1));
    let run = output.json();
    assert_eq!(run["status"], "failed");
    assert!(run["message"].as_str().expect("message").contains("leave no room"));
    let rows = here.read("out/trajectory.csv").lines().count();
    assert!((990..=1003).contains(&rows), "{rows}");
}

#[test]
fn results_are_there_even_if_nobody_reads_the_summary() {
    let here = Scratch::new();
    let mut command = here.command(&["run", "ball-gravity", "--out", "out"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
    drop(child.stdout.take());
    assert!(child.wait().expect("ended").success());
    assert!(here.join("out/run.json").exists());
}

#[test]
fn json_is_one_object_whatever_happens() {
    let here = Scratch::new();
    fs::create_dir_all(here.join("trajectory.csv")).expect("made");
    let blocked = here.json(&["run", "ball", "--json", "--out", "."]);
    assert!(blocked["error"]["message"].as_str().expect("message").contains("trajectory.csv"));
    assert_eq!(blocked["status"], "finished");
    assert!(!here.join("trajectory.npz").exists(), "all files or none");
    for args in
        [&["run", "ball", "--json", "--every", "0"][..], &["run", "--json"], &["run", "ball", "--json", "--bogus"]]
    {
        assert!(json(args)["error"]["message"].is_string(), "{args:?}");
    }
}

#[test]
fn text_from_a_model_cannot_play_with_the_terminal() {
    let here = Scratch::new();
    let text = shipped("ball").replace("title = \"Force", "title = \"\\u001b[31mForce");
    here.write("odd.toml", text.replace("\"wall\"", "\"wa\\nll, \\\"x\\\"\""));
    let output = here.saltus(&["run", "odd.toml", "--out", "out"]);
    assert!(output.succeeded() && !output.stdout.contains('\u{1b}'));
    let table = here.read("out/impacts.csv");
    assert!(table.contains("\"wa\nll, \"\"x\"\"\""), "{table}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_cleanly_with_what_was_computed() {
    let here = Scratch::new();
    let run = ["run", "rocking-block", "--scheme", "paoli-schatzman", "--step", "1e-8", "--every", "100000"];
    let mut command = here.command(&run);
    let child = command.args(["--json", "--out", "out"]).stdout(Stdio::piped()).spawn().expect("started");
    std::thread::sleep(Duration::from_millis(700));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let asked = Instant::now();
    let output = Answer::new(&command, child.wait_with_output().expect("ended"));
    assert!(asked.elapsed() < Duration::from_secs(20));
    assert_eq!(output.code, Some(130));
    let run = output.json();
    assert_eq!(run["status"], "interrupted");
    assert!(run["steps"].as_u64().expect("steps") > 0);
    assert!(here.join("out/trajectory.npz").exists());
}

#[test]
fn check_equilibria_and_probe_answer_people_and_machines() {
    let text = saltus(&["check", "rocking-block"]).stdout;
    assert!(!text.contains("e-3"), "rounding is zero:\n{text}");
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
    assert!(settled["settled"]["sentence"].as_str().expect("words").starts_with("at rest since"), "{settled}");
    assert!(settled["final"]["t"].as_f64().expect("t") < 100.0);
}

#[test]
fn strict_fails_where_the_ledger_complains() {
    assert_eq!(saltus(&["run", "ball-gravity", "--strict"]).code, Some(0));
    // Coarse steps: impacts of the rods overlap, and the law is not kept.
    let coarse = saltus(&["run", "hard-rods", "--scheme", "paoli-schatzman", "--step", "0.02", "--strict"]);
    assert_eq!(coarse.code, Some(3), "{}", coarse.stdout);
    assert!(coarse.stdout.contains("strict: (P"), "{}", coarse.stdout);
}

#[test]
fn breaches_and_failures_are_the_last_words_on_both_streams() {
    let coarse = ["run", "ball-gravity", "--scheme", "paoli-schatzman", "--step", "5e-2"];
    let breached = saltus(&coarse);
    assert_eq!(breached.code, Some(0), "{}", breached.stdout);
    let last = |text: &str| text.trim_end().lines().last().unwrap_or_default().to_string();
    for text in [&breached.stdout, &breached.stderr] {
        assert!(last(text).starts_with("finished with "), "{text}");
        assert!(text.contains("breach: the energy account has a relative residual"), "{text}");
    }
    let object = json(&[&coarse[..], &["--json"]].concat());
    assert_eq!(object["status"], "breached");
    assert!(object["message"].as_str().expect("words").starts_with("finished with "));
    let warnings = object["warnings"].as_array().expect("a list");
    assert!(warnings.iter().any(|w| w.as_str().is_some_and(|w| w.starts_with("breach: the energy account"))));
    let folder = Scratch::new();
    let walls = "[coordinates]\nx = { position = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[[constraint]]\nname = \"l\"\ngap = \"x + 1 - t\"\n\
                 [[constraint]]\nname = \"r\"\ngap = \"1 - t - x\"\n[impact]\nrestitution = 0\n[run]\nend = 2\n";
    folder.write("walls.toml", walls);
    let failed = folder.saltus(&["run", "walls.toml"]);
    assert_eq!(failed.code, Some(1), "{}", failed.stdout);
    for text in [&failed.stdout, &failed.stderr] {
        assert!(last(text).starts_with("the step from t = "), "{text}");
    }
}

#[test]
fn searches_are_as_large_and_as_random_as_asked() {
    for effort in [3, 12] {
        let checked = json(&["check", "wedge", "--effort", &effort.to_string(), "--seed", "7", "--json"]);
        assert_eq!(checked["pairs"][0]["starts"], effort);
        assert!((checked["pairs"][0]["widest"].as_f64().expect("an angle") - 60.0).abs() < 1e-9);
    }
    for (t, y) in [("0", 0.7703), ("1", 1.2974)] {
        let frozen = json(&["equilibria", "ball-table", "--time", t, "--json"]);
        assert!((frozen["equilibria"][0]["q"][0].as_f64().expect("y") - y).abs() < 1e-4, "{frozen}");
    }
    let probed = |seed: &str, size: &str| {
        let set = ["run", "wedge", "--set", "angle=120", "--probe", "12", "--json"];
        json(&[&set[..], &["--seed", seed, "--probe-size", size]].concat())["probe"].clone()
    };
    let one = probed("1", "1e-4");
    assert!(one["sentence"].as_str().expect("words").contains("perturbations of 1e-4"), "{one}");
    assert_eq!(one, probed("1", "1e-4"), "a seed gives the same runs again");
    assert_ne!(one["spread"], probed("2", "1e-4")["spread"]);
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(saltus(&["--version"]).stdout, concat!("saltus ", env!("CARGO_PKG_VERSION"), "\n"));
}
