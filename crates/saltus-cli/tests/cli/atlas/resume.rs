//! Pictures that are interrupted and go on, and what is said before they begin.

use crate::program::Scratch;
use std::process::Stdio;
use std::time::Duration;

/// The command that computes the basins of n × n starts.
fn basins(n: usize, more: &[&str]) -> Vec<String> {
    let words = ["basins", "oscillator", "--set", "w=5.7", "--set", "A=3.09"].into_iter().chain(more.iter().copied());
    let starts =
        [format!("x=-2:1:{n}"), format!("x'=-3:3:{n}")].into_iter().flat_map(|start| ["--start".into(), start]);
    words.map(String::from).chain(starts).collect()
}

/// Kills the command without a word as soon as something was kept; false if it ended before that.
fn is_killed(here: &Scratch, n: usize) -> bool {
    let part = here.join("killed/basins.part");
    let args = basins(n, &["--out", "killed"]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut child = here.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while !part.exists() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    child.wait().expect("ended");
    part.exists()
}

#[test]
fn basins_that_are_killed_go_on_where_they_were() {
    let here = Scratch::new();
    // As many starts as it takes until some are kept before all are done.
    let mut n = 160;
    while !is_killed(&here, n) {
        std::fs::remove_dir_all(here.join("killed")).expect("removed");
        n *= 2;
        assert!(n < 10_000, "it keeps nothing");
    }
    let said = |more: &[&str]| {
        let args = basins(n, more);
        here.saltus(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let whole = said(&["--out", "whole"]);
    assert!(whole.succeeded(), "{whole:?}");
    let refused = said(&["--out", "killed"]);
    assert!(!refused.succeeded() && refused.stderr.contains("continue with --resume"), "{refused:?}");
    let other = said(&["--out", "killed", "--resume", "--periods", "900"]);
    assert!(!other.succeeded() && other.stderr.contains("were begun with --periods 2000"), "{other:?}");
    let on = said(&["--out", "killed", "--resume"]);
    assert!(on.succeeded(), "{on:?}");
    assert!(!here.join("killed/basins.part").exists());
    for file in ["basins.json", "basins.npz", "basins.csv", "basins.svg"] {
        let (a, b) = (std::fs::read(here.join("whole").join(file)), std::fs::read(here.join("killed").join(file)));
        assert!(a.expect("there") == b.expect("there"), "{file} differs");
    }
    // All are there: it draws them again, and computes nothing.
    let again = said(&["--out", "killed", "--resume", "--json"]);
    assert!(again.stdout.contains(&format!("\"starts\":{}", n * n)), "{again:?}");
    let another = here.saltus(&["basins", "oscillator", "--start", "x=-2:1:5", "--out", "killed", "--resume"]);
    assert!(another.stderr.contains("differ from these"), "{another:?}");
}

#[test]
fn basins_of_which_a_file_is_missing_or_damaged_are_completed() {
    let here = Scratch::new();
    let args = ["basins", "oscillator", "--start", "x=-2:1:9", "--start", "x'=-2:2:9", "--out", "ba"];
    let again = [&args[..], &["--resume"]].concat();
    assert!(here.saltus(&args).succeeded());
    let files = ["basins.json", "basins.npz", "basins.csv", "picture.json"];
    let read = |name: &str| std::fs::read(here.join("ba").join(name)).expect("there");
    let whole = files.map(read);
    // The disk is full at a table: what says that the basins are finished is not there yet.
    std::fs::remove_file(here.join("ba/basins.json")).expect("removed");
    std::fs::remove_file(here.join("ba/basins.npz")).expect("removed");
    std::fs::create_dir(here.join("ba/basins.npz")).expect("a directory");
    let refused = here.saltus(&again);
    assert!(refused.stderr.contains("basins.npz") && refused.stderr.contains("--resume continues"), "{refused:?}");
    assert!(!here.join("ba/basins.json").exists(), "{refused:?}");
    std::fs::remove_dir(here.join("ba/basins.npz")).expect("removed");
    assert!(here.saltus(&again).succeeded());
    assert!(files.map(read) == whole);
    // Files that are lost, cut off, or of other basins.
    for name in ["basins.npz", "basins.json"] {
        let bytes = read(name);
        for damage in [None, Some(&bytes[..bytes.len() / 2]), Some(&bytes[..0])] {
            let path = here.join("ba").join(name);
            match damage {
                None => std::fs::remove_file(&path).expect("removed"),
                Some(part) => std::fs::write(&path, part).expect("written"),
            }
            let plotted = here.saltus(&["plot", "ba", "--out", "ba.svg"]);
            assert!(plotted.stderr.contains("--resume"), "{plotted:?}");
            let done = here.saltus(&again);
            assert!(done.succeeded() && files.map(read) == whole, "{name}: {done:?}");
            assert!(damage.is_none() || done.stderr.contains("the basins are computed again"), "{name}: {done:?}");
        }
    }
    assert!(here.saltus(&[&args[..5], &["x'=-2:2:7", "--out", "other"]].concat()).succeeded());
    std::fs::copy(here.join("other/basins.npz"), here.join("ba/basins.npz")).expect("copied");
    assert!(here.saltus(&again).succeeded() && files.map(read) == whole);
}

#[test]
fn nothing_to_resume_is_said() {
    let here = Scratch::new();
    for args in [
        &["basins", "oscillator", "--start", "x=-2:1:4", "--periods", "64"][..],
        &["bifurcation", "oscillator", "--over", "w=1:1.1:2", "--transient", "5", "--periods", "5"],
        &["section", "oscillator", "--transient", "5", "--periods", "5"],
        &["sweep", "oscillator", "--over", "w=1:1.1:2", "--periods", "5"],
    ] {
        let answer = here.saltus(&[args, &["--resume", "--out", args[0]]].concat());
        assert!(answer.succeeded(), "{answer:?}");
        let said = format!("nothing to resume: `{}` does not exist; starting from the beginning", args[0]);
        assert!(answer.stderr.contains(&said), "{answer:?}");
    }
}

#[test]
fn dry_runs_say_how_long_it_takes_and_write_nothing() {
    let here = Scratch::new();
    let long = here.json(&["section", "oscillator", "--periods", "1000000000", "--dry-run", "--json"]);
    assert!(long["trajectories"] == 1 && long["seconds"].as_f64().is_some_and(|s| s > 60.0), "{long}");
    let many = here.json(&["bifurcation", "oscillator", "--over", "w=0.5:1.5:1000000", "--dry-run", "--json"]);
    assert!(many["trajectories"] == 1_000_000 && many["seconds"].as_f64().is_some_and(|s| s > 10.0), "{many}");
    let args = ["basins", "oscillator", "--start", "x=-2:1:3000", "--start", "x'=-3:3:3000", "--dry-run"];
    let found = here.json(&[&args[..], &["--json"]].concat());
    let time = |k: usize| found["seconds"][k].as_f64().expect("a time");
    assert!(found["starts"] == 9_000_000 && time(0) > 1.0 && time(1) > 20.0 * time(0), "{found}");
    let text = here.saltus(&args);
    assert!(text.stdout.contains("9 000 000 starts") && text.stdout.contains("if none settles"), "{text:?}");
    let all = ["lyapunov", "oscillator", "--over", "w=0.5:1.5:1000", "--dry-run"];
    let exponents = here.json(&[&all[..], &["--json"]].concat());
    assert!(exponents["motions"] == 1000 && exponents["seconds"].as_f64().is_some_and(|s| s > 0.0), "{exponents}");
    assert!(here.saltus(&all).stdout.contains("1000 motions"), "{exponents}");
    assert_eq!(std::fs::read_dir(here.path()).expect("a directory").count(), 0);
}

#[test]
fn a_capsule_that_goes_on_has_exponents() {
    // Its friction takes directions away; what is left is the translation, which means nothing.
    let here = Scratch::new();
    let found = here.json(&["lyapunov", "capsule", "--transient", "60", "--periods", "40", "--json"]);
    assert_eq!(found["kind"], "travelling", "{found}");
    assert!(found["advance"]["xc"].as_f64().is_some_and(|x| x.abs() > 1e-5), "{found}");
    assert!(found["exponents"][0]["value"].as_f64().is_some_and(|x| x.abs() < 1e-6), "{found}");
    let text = here.saltus(&["lyapunov", "capsule", "--transient", "60", "--periods", "40"]);
    assert!(text.stdout.contains("further on by"), "{text:?}");
}
