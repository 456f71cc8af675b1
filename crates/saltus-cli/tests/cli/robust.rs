//! What must hold whatever is thrown at the program: no panic, no silence about a wrong motion, no lost or mixed files.

use crate::program::{Answer, Scratch, shipped};
use std::fs;
use std::path::Path;

/// Every scheme that steps through time.
const STEPPING: [&str; 5] = ["paoli-schatzman", "mabrouk", "moreau-midpoint", "moreau-jean", "bernicot-lefebvre"];

/// A model of one coordinate above a gap.
fn fall(start: &str, potential: &str, gap: &str, more: &str) -> String {
    format!(
        "[coordinates]\ny = {{ {start} }}\n[dynamics]\nkinetic = \"y'^2/2\"\npotential = \"{potential}\"\n\
         [[constraint]]\ngap = \"{gap}\"\n[impact]\nrestitution = 0.5\n[run]\nstep = 1e-3\nend = 3.0\n{more}"
    )
}

fn run(model: &str, args: &[&str]) -> Answer {
    let dir = Scratch::new();
    dir.write("m.toml", model);
    let mut all = vec!["run", "m.toml"];
    all.extend(args);
    dir.saltus(&all)
}

#[test]
fn enormous_numbers_end_with_a_reason_and_without_a_panic() {
    let rods = "[parameters]\nV = 1\n[coordinates]\nx = { for = \"i = 1..4\", position = \"i/5\", velocity = \"V*(-1)^i*i\" }\n\
                [dynamics]\nkinetic = \"sum(i = 1..4, x[i]'^2/2)\"\n[[constraint]]\nfor = \"i = 1..3\"\n\
                gap = \"x[i+1] - x[i] - 0.1\"\n[[constraint]]\ngap = \"x[1]\"\n[[constraint]]\ngap = \"1 - x[4]\"\n\
                [impact]\nrestitution = \"0\"\n[run]\nstep = 1e-4\nend = 1e-2\n";
    for scheme in STEPPING.into_iter().chain(["auto"]) {
        for speed in ["V=1e307", "V=1e300", "V=1e200", "V=1e155", "V=-1e307"] {
            let answer = run(rods, &["--scheme", scheme, "--set", speed]);
            assert_eq!(answer.code, Some(1), "{scheme} {speed}\n{}{}", answer.stdout, answer.stderr);
            assert!(!answer.stderr.contains("panicked"), "{scheme} {speed}: {}", answer.stderr);
            assert!(answer.stdout.contains("failed:") || answer.stderr.contains('×'), "{scheme} {speed}");
        }
    }
}

#[test]
fn a_step_far_too_coarse_is_said_by_default() {
    let stiff = fall("position = 1", "1e12*y^2/2", "y + 0.5", "");
    let text = run(&stiff, &["--scheme", "moreau-jean"]).stdout;
    assert!(text.contains("warning: `constraint 1` is violated by"), "{text}");
    for scheme in ["moreau-jean", "moreau-midpoint", "mabrouk", "paoli-schatzman"] {
        let answer = run(&stiff, &["--scheme", scheme]);
        let said = answer.stdout.contains("the step does not resolve this motion");
        assert!(said || !answer.succeeded(), "{scheme}\n{}", answer.stdout);
    }
    // A step that resolves it says nothing.
    let soft = fall("position = 1", "1e2*y^2/2", "y + 0.5", "");
    for scheme in ["moreau-jean", "moreau-midpoint", "mabrouk", "paoli-schatzman"] {
        let text = run(&soft, &["--scheme", scheme]).stdout;
        assert!(!text.contains("warning"), "{scheme}\n{text}");
    }
}

#[test]
fn a_motion_that_blew_up_is_not_at_rest() {
    let text = run(&fall("position = 1", "-1/y", "y", ""), &["--scheme", "paoli-schatzman"]).stdout;
    assert!(text.contains("energy grew from -1 to") && !text.contains("at rest"), "{text}");
    assert!(text.contains("(6405"), "the velocity is shown: {text}");
    let long = run(&fall("position = 1", "-1/y", "y", ""), &["--scheme", "paoli-schatzman", "--until-rest"]).stdout;
    assert!(!long.contains("at rest"), "{long}");
    // What comes to rest still does.
    for scheme in ["mabrouk", "moreau-jean", "paoli-schatzman"] {
        let text = run(&fall("position = 1", "9.81*y", "y", ""), &["--scheme", scheme]).stdout;
        assert!(text.contains("at rest since t = 1.3"), "{scheme}\n{text}");
    }
}

#[test]
fn a_gap_without_a_slope_is_said() {
    for scheme in ["paoli-schatzman", "mabrouk", "moreau-jean", "moreau-midpoint"] {
        let flat = run(&fall("position = 1, velocity = -1", "0*y", "y^3", ""), &["--scheme", scheme]);
        assert!(
            flat.stdout.contains("the gradient of `constraint 1` vanishes where its gap closes"),
            "{}",
            flat.stdout
        );
        let steep = fall("position = 0", "0*y", "sqrt(y)", "");
        let answer = run(&steep, &["--scheme", scheme]);
        assert!(!answer.stdout.contains("NaN") || !answer.succeeded(), "{scheme}\n{}", answer.stdout);
        if !answer.succeeded() {
            let said = format!("{}{}", answer.stdout, answer.stderr);
            assert!(said.contains("not a finite number"), "{scheme}\n{said}");
        }
    }
}

/// The names in a directory, sorted.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn a_directory_holds_one_run_whenever_the_program_is_killed() {
    let dir = Scratch::new();
    assert!(dir.saltus(&["run", "bar-wall", "--out", "r", "--format", "npz,mat"]).succeeded());
    assert!(names(&dir.join("r")).contains(&"shocks.csv".to_string()));
    // What a program that was killed left behind.
    dir.write("r/.saltus-4294967295-abc.tmp", "half a table");
    // An instant later nothing of the run before is left, nor of the one that was killed.
    assert!(dir.saltus(&["run", "ball-gravity", "--out", "r", "--format", "csv"]).succeeded());
    let expected =
        ["contacts.csv", "energy.csv", "impacts.csv", "run.json", "state.npz", "timeline.csv", "trajectory.csv"];
    assert_eq!(names(&dir.join("r")), expected);
    // Killed at any time, a directory with a run.json holds the files of one run.
    for delay in (0..240).step_by(12) {
        let mut child = dir
            .command(&[
                "run",
                "ball-gravity",
                "--set",
                "e=0.9",
                "--end",
                "20",
                "--step",
                "1e-3",
                "--out",
                "r",
                "--format",
                "npz,csv",
            ])
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(delay));
        let _ = child.kill();
        let _ = child.wait();
        if dir.join("r/run.json").exists() {
            let record: serde_json::Value = serde_json::from_str(&dir.read("r/run.json")).expect("JSON");
            let rows = dir.read("r/impacts.csv").lines().count() - 1;
            assert_eq!(record["summary"]["impacts"]["count"].as_u64(), Some(rows as u64), "after {delay} ms");
        } else {
            let refused = dir.saltus(&["plot", "r", "--out", "f.svg"]);
            assert!(refused.stderr.contains("run.json"), "{}", refused.stderr);
        }
    }
    assert!(dir.saltus(&["run", "ball-gravity", "--out", "r"]).succeeded());
    assert!(names(&dir.join("r")).iter().all(|n| !n.ends_with(".tmp")));
}

#[test]
fn no_input_is_overwritten() {
    let dir = Scratch::new();
    let model = shipped("ball");
    dir.write("m.toml", model);
    for command in ["run", "check", "compare", "converge", "equilibria"] {
        for report in ["m.toml", "./m.toml"] {
            let answer = dir.saltus(&[command, "m.toml", "--report", report]);
            assert_eq!(answer.code, Some(1), "{command}");
            assert!(answer.stderr.contains("which this command reads"), "{command}: {}", answer.stderr);
            assert_eq!(dir.read("m.toml"), model, "{command}");
        }
    }
    let forced = "[inputs]\nf = { file = \"events.csv\" }\n[coordinates]\ny = { position = 1 }\n[dynamics]\nkinetic = \"y'^2/2\"\n\
                  [dynamics.force]\ny = \"f(t)\"\n[[constraint]]\ngap = \"y\"\n[impact]\nrestitution = 0\n[run]\nend = 1\n";
    dir.write("f.toml", forced);
    dir.write("events.csv", "0,0\n1,1\n");
    for args in [["run", "f.toml", "--report", "events.csv"], ["run", "f.toml", "--out", "."]] {
        let answer = dir.saltus(&args);
        assert!(answer.stderr.contains("which this command reads"), "{args:?}: {}{}", answer.stdout, answer.stderr);
        assert_eq!(dir.read("events.csv"), "0,0\n1,1\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_new_model_that_cannot_be_written_leaves_nothing() {
    let dir = Scratch::new();
    // No file may grow: what a full disk does, as far as a program can tell.
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {} new m", crate::program::PROGRAM);
    let answer = std::process::Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output().expect("sh");
    assert!(!answer.status.success());
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn names_neither_turn_the_terminal_nor_run_in_a_spreadsheet() {
    let model = "title = \"safe\\u202Eevil\\u001B]0;x\\u0007\"\n[coordinates]\ny = { position = 1, velocity = -1 }\n[dynamics]\n\
                 kinetic = \"y'^2/2\"\n[[constraint]]\nname = \"=cmd\\u2067()\"\ngap = \"y\"\n[impact]\nrestitution = 0.5\n\
                 [run]\nend = 3.0\n";
    let dir = Scratch::new();
    dir.write("m.toml", model);
    for args in [
        &["run", "m.toml", "--out", "r"][..],
        &["run", "m.toml", "--json"],
        &["check", "m.toml"],
        &["check", "m.toml", "--json"],
        &["equilibria", "m.toml"],
        &["compare", "m.toml", "--steps", "0.01"],
        &["converge", "m.toml", "--step", "0.01", "--levels", "3"],
        &["run", "m.toml", "--scheme", "no\u{202e}"],
    ] {
        let answer = dir.saltus(args);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        let bad = |c: char| matches!(c, '\u{1b}' | '\u{7}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!said.contains(bad), "{args:?}\n{said:?}");
    }
    let table = dir.read("r/impacts.csv");
    assert!(table.contains(",'=cmd") && !table.contains(",=cmd"), "{table}");
    // The name is read back as it is.
    assert!(dir.saltus(&["rerun", "r"]).stdout.contains("identical"));
    assert!(dir.saltus(&["run", "m.toml", "--from", "r", "--end", "4"]).succeeded());
}

#[test]
fn a_file_that_is_no_data_is_not_shown() {
    let dir = Scratch::new();
    dir.write("secret", "user = \"root\"\npassword = \"hunter2\"\nkey = \"abc def\"\n");
    let model = "[inputs]\nf = { file = \"secret\" }\n[coordinates]\ny = { position = 1 }\n[dynamics]\nkinetic = \"y'^2/2\"\n\
                 [dynamics.force]\ny = \"f(t)\"\n[run]\nend = 1\n";
    dir.write("m.toml", model);
    let answer = dir.saltus(&["run", "m.toml"]);
    assert!(answer.stderr.contains("needs two numbers"), "{}", answer.stderr);
    assert!(!answer.stderr.contains("hunter2") && !answer.stderr.contains("root"), "{}", answer.stderr);
    // A mistake in a table of numbers is shown where it is.
    dir.write("secret", "t, f\n0, 1\n1, 2\n2, two\n");
    let answer = dir.saltus(&["run", "m.toml"]);
    assert!(answer.stderr.contains("2, two"), "{}", answer.stderr);
}

#[test]
fn a_file_is_not_a_shipped_model() {
    let dir = Scratch::new();
    dir.write("mine.toml", shipped("ball"));
    let answer = dir.saltus(&["new", "other", "--from", "mine.toml"]);
    assert!(
        answer.stderr.contains("is a file") && answer.stderr.contains("cp mine.toml other.toml"),
        "{}",
        answer.stderr
    );
    assert!(!dir.join("other.toml").exists());
}

#[test]
fn two_thousand_coordinates_may_have_a_gap_more() {
    let row = |n: usize| {
        format!(
            "[coordinates]\nx = {{ for = \"i = 1..{n}\", position = \"i\" }}\n[dynamics]\n\
             kinetic = \"sum(i = 1..{n}, x[i]'^2/2)\"\n[run]\nend = 1\nstep = 1\n"
        )
    };
    let answer = run(&row(2001), &[]);
    assert!(
        answer.stderr.contains("2001 coordinates are too many") && answer.stderr.contains("at most 2000"),
        "{}",
        answer.stderr
    );
    let gaps = "[coordinates]\ny = { position = 1 }\n[dynamics]\nkinetic = \"y'^2/2\"\n[[constraint]]\nfor = \"i = 0..2000\"\n\
                gap = \"y + i\"\n[impact]\nrestitution = 0\n[run]\nend = 1\nstep = 1\n";
    assert!(run(gaps, &[]).succeeded());
}
