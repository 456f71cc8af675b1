//! What is asked wrongly is refused with a sentence that helps, and nothing computed is lost.

use super::{column, numbers};
use crate::program::Scratch;

#[test]
fn mistakes_are_named() {
    let dir = Scratch::new();
    dir.write("bad.csv", "w,e\n1.0,0.5\n1.1,NaN\n");
    dir.write("short.csv", "w,e\n1.0\n");
    dir.write("names.csv", "w,ee\n1.0,0.5\n");
    dir.write("none.csv", "w,e\n");
    dir.write("broken.parquet", "w,e\n1,0.5\n");
    let cases: [(&[&str], &[&str]); 29] = [
        (&["--over", "ww=0:1:3"], &["`ww` is neither a parameter nor", "did you mean `w`?"]),
        (&["--over", "y'=0:1:3"], &["`y'` is neither"]),
        (&["--over", "w=1:1:5"], &["empty range"]),
        (&["--over", "w=1:2:0"], &["no values of `w`"]),
        (&["--over", "w=1:2:1"], &["two ends"]),
        (&["--over", "w=1:2:2.5"], &["whole number", "2.5"]),
        (&["--over", "w=1:2:1000000", "--over", "e=0:1:1000000"], &["more than 10^10"]),
        (&["--over", "w=1:2:100000000000"], &["up to 10^10"]),
        (&["--over", "w=log:-1:1:3"], &["must be positive"]),
        (&["--over", "w=1:2"], &["neither a range nor a list"]),
        (&["--over", "w=1,,2"], &["empty value"]),
        (&["--over", "w"], &["not of the form"]),
        (&["--over", "w=1:2:3", "--over", "w=1,2"], &["varied twice"]),
        (&["--over", "w=1:ww:3"], &["unknown name `ww`"]),
        (&["--over", "w=sqrt(-1):1:3"], &["not a number"]),
        (&[], &["nothing is varied", "--over"]),
        (&["--sample", "0", "--vary", "w=uniform(0,1)"], &["zero points"]),
        (&["--sample", "10"], &["something to vary"]),
        (&["--vary", "w=uniform(0,1)"], &["how many points"]),
        (&["--sample", "9", "--vary", "w=uniform(1,0)"], &["low < high"]),
        (&["--sample", "9", "--vary", "w=normal(1,-0.1)"], &["cannot be drawn from normal(1, -0.1)"]),
        (&["--sample", "9", "--vary", "w=cauchy(1,0)"], &["not a distribution", "normal(mean, deviation)"]),
        (&["--points", "bad.csv"], &["line 3", "`e` must be a finite number, not `NaN`"]),
        (&["--points", "short.csv"], &["line 2", "1 values for 2 names"]),
        (&["--points", "names.csv"], &["`ee` is neither", "did you mean `e`?"]),
        (&["--points", "none.csv"], &["no points"]),
        (&["--points", "nowhere.csv"], &["is not there"]),
        (&["--points", "nowhere.parquet"], &["is not there"]),
        (&["--points", "broken.parquet"], &["cannot be read as Parquet", "or be a CSV file"]),
    ];
    for (args, texts) in cases {
        refused(&dir, &[args, &["--periods", "2"]].concat(), texts);
    }
    let over = ["--over", "w=1:2:3"];
    let cases: [(&[&str], &[&str]); 12] = [
        (&["--native", "--stat", "x"], &["native code keeps neither sections nor statistics"]),
        (&["--stat", "foo"], &["unknown name `foo`"]),
        (&["--section", "1"], &["never occurs"]),
        (&["--section", "x':sideways"], &["`sideways` is not a direction", "up"]),
        (&["--impacts", "some"], &["neither a number nor `all`"]),
        (&["--shard", "4/3"], &["not a part"]),
        (&["--shard", "1/2", "--carry", "up"], &["has no parts"]),
        (&["--tol", "0"], &["between 1e-14 and 1e-2"]),
        (&["--carry", "up", "--over", "x=0:0.5:3"], &["a start cannot be varied"]),
        (&["--format", "mat"], &["npz, csv and parquet"]),
        (&["--period", "x"], &["the coordinate `x` cannot be used here"]),
        (&["--set", "q=1"], &["no parameter `q`"]),
    ];
    for (args, texts) in cases {
        refused(&dir, &[&over[..], args].concat(), texts);
    }
    let ball = dir.saltus(&["sweep", "ball-gravity", "--over", "e=0.5,0.7", "--periods", "3", "--out", "b"]);
    assert!(!ball.succeeded() && ball.stderr.contains("nothing depends on time"), "{ball:?}");
    let without = dir.saltus(&["sweep", "oscillator", "--over", "w=1:2:3"]);
    assert!(!without.succeeded() && without.stderr.contains("--out"), "{without:?}");
}

/// A sweep is refused with some texts, and no directory is left behind.
fn refused(dir: &Scratch, args: &[&str], texts: &[&str]) {
    let answer = dir.saltus(&[&["sweep", "oscillator", "--out", "b"], args].concat());
    let said = answer.stderr.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
    assert_eq!(answer.code, Some(1), "{args:?}: {answer:?}");
    for text in texts {
        assert!(said.contains(text), "{args:?} does not say `{text}`: {said}");
    }
    assert!(!dir.join("b").exists(), "{args:?}");
}

#[test]
fn points_that_cannot_start_are_marked_and_the_others_run() {
    let dir = Scratch::new();
    let swept = dir.saltus(&["sweep", "oscillator", "--over", "x=0:2:5", "--periods", "3", "--out", "s"]);
    assert!(swept.succeeded() && swept.stdout.contains("3 finished, 2 refused"), "{swept:?}");
    assert!(swept.stdout.contains("point 3: the initial position is outside the constraint `stop`"), "{swept:?}");
    let status = column(&dir, "s/points.csv", "status");
    assert_eq!(status, ["finished", "finished", "finished", "refused", "refused"]);
    assert!(column(&dir, "s/points.csv", "reason")[3].contains("stop"));
    assert!(numbers(&dir, "s/points.csv", "x")[4].is_nan() && !numbers(&dir, "s/points.csv", "x")[2].is_nan());
    // A restitution beyond 1, a frequency without a period: the same.
    for (over, reason) in [("e=0.5,1.5", "outside [0"), ("w=0,1", "no period")] {
        let out = &over[..1];
        let swept = dir.saltus(&["sweep", "oscillator", "--over", over, "--periods", "3", "--out", out]);
        assert!(swept.succeeded() && swept.stdout.contains("1 finished, 1 refused"), "{swept:?}");
        assert!(dir.read(&format!("{out}/points.csv")).contains(reason));
    }
    let rerun = dir.saltus(&["sweep", "rerun", "s", "--point", "4"]);
    assert!(!rerun.succeeded() && rerun.stderr.contains("stop"), "{rerun:?}");
    let beyond = dir.saltus(&["sweep", "rerun", "s", "--point", "5"]);
    assert!(!beyond.succeeded() && beyond.stderr.contains("from 0 to 4"), "{beyond:?}");
}

#[test]
fn directories_of_others_are_left_alone() {
    let dir = Scratch::new();
    let sweep = |out: &str, more: &[&str]| {
        dir.saltus(&[&["sweep", "oscillator", "--over", "w=0.9,1.1", "--periods", "2", "--out", out], more].concat())
    };
    assert!(sweep("s", &[]).succeeded());
    let twice = sweep("s", &[]);
    assert!(!twice.succeeded() && twice.stderr.contains("there is a sweep in `s` already"), "{twice:?}");
    // Complete: nothing to do, and the same tables.
    assert!(sweep("s", &["--resume"]).succeeded());
    let other = sweep("s", &["--resume", "--tol", "1e-9"]);
    assert!(!other.succeeded() && other.stderr.contains("`tolerance` was not given and is 1e-9"), "{other:?}");
    assert!(dir.saltus(&["run", "oscillator", "--out", "run"]).succeeded());
    let run = sweep("run", &[]);
    assert!(!run.succeeded() && run.stderr.contains("holds a run"), "{run:?}");
    dir.write("file", "");
    assert!(!sweep("file", &[]).succeeded());
    // A shard that was changed is noticed.
    let shard = std::fs::read_dir(dir.join("s/shards")).expect("shards").next().expect("one").expect("an entry").path();
    let mut bytes = std::fs::read(&shard).expect("read");
    let at = bytes.len() - 20;
    bytes[at] ^= 1;
    std::fs::write(&shard, bytes).expect("written");
    let damaged = sweep("s", &["--resume"]);
    assert!(!damaged.succeeded() && damaged.stderr.contains("check sum"), "{damaged:?}");
    let nothing = dir.saltus(&["merge", "nowhere", "--out", "m"]);
    assert!(!nothing.succeeded() && nothing.stderr.contains("there is no sweep"), "{nothing:?}");
}

/// No file may grow beyond some kilobytes: what a full disk does, as far as a program can tell.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing_that_was_written() {
    let dir = Scratch::new();
    let args = "sweep oscillator --over w=0.8:1.2:60 --periods 40 --strobe --out s --resume";
    let script = format!("trap '' XFSZ; ulimit -f 8; exec {} {args}", crate::program::PROGRAM);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(dir.path());
    let output = command.output().expect("it starts");
    let answer = crate::program::Answer::new(&command, output);
    assert!(!answer.succeeded() && answer.stderr.contains("cannot write"), "{answer:?}");
    let words: Vec<&str> = args.split(' ').collect();
    let again = dir.saltus(&words);
    assert!(again.succeeded(), "{again:?}");
    assert_eq!(numbers(&dir, "s/points.csv", "point").len(), 60);
}
