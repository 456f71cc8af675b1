//! Whenever a sweep is ended, what it has is kept, and the rest gives the same bytes.
#![cfg(unix)]

use super::assert_same;
use crate::program::{Answer, Scratch};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A sweep that takes a second or two.
const LONG: [&str; 14] = [
    "sweep",
    "oscillator",
    "--over",
    "w=0.55:1.2:90",
    "--over",
    "e=0.6,0.8",
    "--transient",
    "60",
    "--periods",
    "40",
    "--strobe",
    "--impacts",
    "5",
    "--settled",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LONG[..], more].concat()
}

/// Numbers that differ from run to run as little as the test.
struct Dice(u64);

impl Dice {
    fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (self.0 >> 33) % (high - low)
    }
}

#[test]
fn a_sweep_that_is_killed_goes_on_where_it_was() {
    let kills: u32 = std::env::var("SALTUS_SWEEP_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let dir = Scratch::new();
    let begun = Instant::now();
    let whole = dir.saltus(&with(&["--out", "whole"]));
    assert!(whole.succeeded(), "{whole:?}");
    let took = begun.elapsed().as_millis() as u64;
    let mut dice = Dice(7);
    let (mut done, mut killed, mut round) = (false, 0, 0);
    while killed < kills {
        let out = format!("killed{round}");
        let args = with(&["--out", &out, "--resume", "--threads", "2"]);
        let mut child = dir.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(dice.between(5, (took / 4).max(50))));
        if child.try_wait().expect("its state").is_some() {
            // It had ended by itself: on to another one.
            done = true;
        } else {
            child.kill().expect("killed");
            child.wait().expect("it ends");
            killed += 1;
        }
        if done || killed == kills {
            let answer = dir.saltus(&args);
            assert!(answer.succeeded(), "{answer:?}");
            assert_same(&dir, "whole", &out);
            (done, round) = (false, round + 1);
        }
    }
}

#[test]
fn ctrl_c_leaves_what_can_be_resumed() {
    let dir = Scratch::new();
    dir.write("slow.toml", super::super::program::shipped("oscillator"));
    let args = |end: &'static str| {
        vec![
            "sweep",
            "slow.toml",
            "--over",
            "w=0.6:0.7:300",
            "--over",
            "e=0.5,0.6",
            "--end",
            end,
            "--out",
            "s",
            "--resume",
        ]
    };
    let mut command = dir.command(&args("20000"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // (On a machine with other work it takes its time to begin.)
    let begun = Instant::now();
    while !dir.join("s/sweep.json").exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let since = Instant::now();
    let answer = Answer::new(&command, child.wait_with_output().expect("it ends"));
    assert!(sent.success() && since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.stdout.contains("--resume"), "{answer:?}");
    let shards = std::fs::read_dir(dir.join("s/shards")).expect("shards").count();
    assert!(shards > 0 && !dir.join("s/points.csv").exists());
    // The same directory, another sweep: what has changed is named.
    let other = dir.saltus(&args("20001"));
    assert!(!other.succeeded() && other.stderr.contains("--end was `20000` and is `20001`"), "{other:?}");
    dir.write("slow.toml", super::super::program::shipped("oscillator").replace("c = 0.1", "c = 0.2"));
    let other = dir.saltus(&args("20000"));
    assert!(!other.succeeded() && other.stderr.contains("line 7 of the model was `c = 0.1`"), "{other:?}");
}

#[test]
fn nothing_depends_on_threads_or_parts() {
    let dir = Scratch::new();
    let small = |more: &[&str]| {
        let base =
            ["sweep", "oscillator", "--over", "w=0.55:1.2:31", "--transient", "10", "--periods", "10", "--settled"];
        let more = [&["--impacts", "all", "--strobe", "--stat", "x", "--section", "x':down"], more].concat();
        let answer = dir.saltus(&[&base[..], &more].concat());
        assert!(answer.succeeded(), "{answer:?}");
        answer
    };
    small(&["--threads", "1", "--out", "one"]);
    small(&["--threads", "3", "--out", "three"]);
    assert_same(&dir, "one", "three");
    for k in ["1/3", "2/3", "3/3"] {
        let answer = small(&["--shard", k, "--out", &format!("part{}", &k[..1])]);
        assert!(answer.stdout.contains("saltus merge"), "{answer:?}");
    }
    let missing = dir.saltus(&["merge", "part1", "part3", "--out", "merged"]);
    assert!(!missing.succeeded() && missing.stderr.contains("trajectory 10 of 31"), "{missing:?}");
    let merged = dir.saltus(&["merge", "part3", "part1", "part2", "--out", "merged", "--format", "npz,csv", "--json"]);
    assert!(merged.succeeded(), "{merged:?}");
    assert_eq!(merged.json()["stored"], 31);
    assert_same(&dir, "one", "merged");
    // What is named twice, or is in a whole that was merged before, is taken once; nothing that is there is written to.
    let again = dir.saltus(&["merge", "part1", "merged", "part1", "part2", "part3", "one", "--out", "again"]);
    assert!(again.succeeded(), "{again:?}");
    for whole in ["merged", "again"] {
        assert_same(&dir, "one", whole);
    }
    assert!(dir.saltus(&["merge", "part1", "part2", "part3", "--out", "third"]).succeeded());
    // A part may be empty.
    let empty =
        dir.saltus(&["sweep", "oscillator", "--over", "w=1,2", "--periods", "1", "--shard", "2/5", "--out", "e"]);
    assert!(empty.succeeded() && empty.stdout.contains("part 2 of 5"), "{empty:?}");
    small(&["--set", "c=0.2", "--shard", "2/3", "--out", "other"]);
    let mixed = dir.saltus(&["merge", "part1", "other", "part3", "--out", "mixed"]);
    assert!(!mixed.succeeded() && mixed.stderr.contains("different sweeps"), "{mixed:?}");
}

#[test]
fn states_are_carried_on_and_taken_up_again() {
    let dir = Scratch::new();
    let base = ["sweep", "oscillator", "--set", "c=0.02", "--over", "w=0.66:0.82:9", "--over", "e=0.7,0.8"];
    let base = [&base[..], &["--transient", "60", "--periods", "1", "--carry", "both"]].concat();
    for (out, threads) in [("one", "1"), ("two", "2")] {
        assert!(dir.saltus(&[&base[..], &["--threads", threads, "--out", out]].concat()).succeeded());
    }
    assert_same(&dir, "one", "two");
    // Up and down are different where two motions coexist.
    let (w, x) = (super::numbers(&dir, "one/points.csv", "w"), super::numbers(&dir, "one/points.csv", "x"));
    let direction = super::column(&dir, "one/points.csv", "direction");
    assert_eq!((w.len(), direction[0].as_str(), direction[35].as_str()), (36, "up", "down"));
    assert_eq!((w[0], w[17], w[18], w[35]), (0.66, 0.82, 0.82, 0.66));
    let apart = (0..18).filter(|&k| (x[k] - x[34 - 2 * (k / 2) + k % 2]).abs() > 0.3).count();
    assert!((1..18).contains(&apart), "{apart}");
    // A row in the middle is lost, and all that followed from it.
    let shards = dir.join("two/shards");
    let mut found: Vec<_> = std::fs::read_dir(&shards).expect("shards").map(|e| e.expect("an entry").path()).collect();
    found.sort();
    std::fs::remove_file(&found[found.len() / 2]).expect("removed");
    assert!(dir.saltus(&[&base[..], &["--out", "two", "--resume"]].concat()).succeeded());
    assert_same(&dir, "one", "two");
    let again = dir.json(&["sweep", "rerun", "two", "--point", "20", "--json"]);
    let (found, stored) = (again["final"]["q"][0].as_f64().expect("a number"), x[20]);
    assert!((found - stored).abs() < 1e-6, "{found} {stored}");
    // Where the shards are gone, nobody knows where it started.
    std::fs::remove_dir_all(&shards).expect("removed");
    let lost = dir.saltus(&["sweep", "rerun", "two", "--point", "20"]);
    assert!(!lost.succeeded() && lost.stderr.contains("the state that point 18 reached is no longer"), "{lost:?}");
}

/// What was computed before counts: a summary is one of the whole sweep. Times are those of points that can be run.
#[test]
fn a_summary_is_of_all_that_is_there() {
    let dir = Scratch::new();
    let sweep = ["sweep", "oscillator", "--over", "e=-0.5:1:4", "--end", "10", "--out", "s"];
    let first = dir.saltus(&sweep);
    assert!(first.succeeded() && first.stdout.contains("each from t = 0 to t = 10\n"), "{first:?}");
    let impacts = |args: &[&str]| dir.json(&[args, &["--json", "--resume"]].concat())["impacts"].as_u64();
    let column = super::numbers(&dir, "s/points.csv", "impacts").iter().sum::<f64>();
    assert!(column > 0.0 && impacts(&sweep) == Some(column as u64), "{column}");
    let diagram =
        ["bifurcation", "oscillator", "--over", "w=0.8:1.2:5", "--periods", "5", "--transient", "5", "--out", "d"];
    assert!(dir.saltus(&diagram).succeeded());
    assert!(impacts(&diagram).is_some_and(|n| n > 0));
    // (A page shows the command that made it, but not how long that took.)
    let page = || {
        assert!(dir.saltus(&[&diagram[..], &["--resume"]].concat()).succeeded());
        std::fs::read(dir.join("d/bifurcation.html")).expect("a page")
    };
    assert!(page() == page(), "pages differ");
}
