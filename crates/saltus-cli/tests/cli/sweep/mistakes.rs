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
        (&["--over", "w=1:1:5"], &["range of `w` is empty"]),
        (&["--over", "w=1:2:0"], &["no values of `w`"]),
        (&["--over", "w=1:2:1"], &["two different ends"]),
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
        (&["--sample", "0", "--vary", "w=uniform(0,1)"], &["at least 1"]),
        (&["--sample", "10"], &["something to vary"]),
        (&["--vary", "w=uniform(0,1)"], &["how many points"]),
        (&["--sample", "9", "--vary", "w=uniform(1,0)"], &["low < high"]),
        (&["--sample", "9", "--vary", "w=normal(1,-0.1)"], &["cannot be drawn from normal(1, -0.1)"]),
        (&["--sample", "9", "--vary", "w=cauchy(1,0)"], &["not a distribution", "normal(mean, deviation)"]),
        (&["--points", "bad.csv"], &["line 3", "`e` must be a finite number, not `NaN`"]),
        (&["--points", "short.csv"], &["line 2", "1 value for 2 names"]),
        (&["--points", "names.csv"], &["`ee` is neither", "did you mean `e`?"]),
        (&["--points", "none.csv"], &["no points"]),
        (&["--points", "nowhere.csv"], &["does not exist"]),
        (&["--points", "nowhere.parquet"], &["does not exist"]),
        (&["--points", "broken.parquet"], &["cannot be read as Parquet", "or be a CSV file"]),
    ];
    for (args, texts) in cases {
        refused(&dir, &[args, &["--periods", "2"]].concat(), texts);
    }
    let over = ["--over", "w=1:2:3"];
    let cases: [(&[&str], &[&str]); 14] = [
        (&["--section", ""], &["a section needs an expression"]),
        (&["--section", "x'", "--section", " x'"], &["section ` x'` is given twice"]),
        (&["--native", "--stat", "x"], &["--native does not support statistics"]),
        (&["--stat", "foo"], &["unknown name `foo`"]),
        (&["--section", "1"], &["never occurs"]),
        (&["--section", "x':sideways"], &["`sideways` is not a direction", "up"]),
        (&["--impacts", "some"], &["neither a number nor `all`"]),
        (&["--shard", "4/3"], &["invalid part"]),
        (&["--shard", "1/2", "--carry", "up"], &["--carry cannot be combined with --shard"]),
        (&["--tol", "0"], &["between 1e-14 and 1e-2"]),
        (&["--carry", "up", "--over", "x=0:0.5:3"], &["cannot be combined with starts that vary"]),
        (&["--format", "mat"], &["npz, csv or parquet"]),
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

/// What differs is said in the words of the command line.
#[test]
fn what_a_directory_holds_is_compared_in_the_words_of_the_options() {
    let dir = Scratch::new();
    let sweep = ["sweep", "oscillator", "--over", "w=0.9,1.1", "--periods", "2", "--out", "s", "--resume"];
    assert!(dir.saltus(&sweep).succeeded());
    let difference = |args: &[&str]| {
        let answer = dir.saltus(args);
        assert!(!answer.succeeded(), "{answer:?}");
        answer.stderr.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ")
    };
    for (more, said) in [
        (&["--native"][..], "it was begun without --native and --device, and this is with --native"),
        (&["--strobe"], "it was begun without --strobe, and this is with it"),
        (&["--set", "c=0.2"], "--set was not given and is `c=0.2`"),
        (&["--tol", "1e-9"], "--tol was not given and is 1e-9"),
    ] {
        let found = difference(&[&sweep[..], more].concat());
        assert!(found.contains(said), "{found}");
    }
    let picture = ["bifurcation", "oscillator", "--over", "w=0.9:1.1:2", "--out", "s", "--resume"];
    let found = difference(&picture);
    assert!(found.contains("`s` holds a different sweep: it is of another command"), "{found}");
}

#[test]
fn points_of_other_programs_are_read_or_explained() {
    let dir = Scratch::new();
    let sweep = |text: &str| {
        dir.write("p.csv", text);
        let _ = std::fs::remove_dir_all(dir.join("p"));
        dir.saltus(&["sweep", "oscillator", "--points", "p.csv", "--periods", "2", "--out", "p"])
    };
    for text in ["w,e\n0.9,0.5\n1.1,0.6\n", "\"w\",\"e\"\n\"0.9\",\"0.5\"\n 1.1 ,\"0.6\"\n", "w,e\r0.9,0.5\r1.1,0.6\r"]
    {
        let read = sweep(text);
        assert!(read.succeeded() && numbers(&dir, "p/points.csv", "w") == [0.9, 1.1], "{text:?}: {read:?}");
    }
    for (text, between) in [("w;e\n0,9;0,5\n", "semicolons"), ("w\te\n0.9\t0.5\n", "tabs")] {
        let refused = sweep(text);
        let is_said = refused.stderr.contains(between) && refused.stderr.contains("use commas");
        assert!(!refused.succeeded() && is_said, "{refused:?}");
    }
}

#[test]
fn what_is_wrong_is_said_shortly() {
    let dir = Scratch::new();
    let said = |args: &[&str]| {
        let answer = dir.saltus(args);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        (answer.stdout + &answer.stderr).split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ")
    };
    let over = ["--over", "w=0.9,1.1"];
    for command in ["sweep", "bifurcation"] {
        let tiny = said(&[&[command, "oscillator"], &over[..], &["--tol", "1e-300", "--out", "t"]].concat());
        assert!(tiny.contains("not 1e-300"), "{tiny}");
        let none = said(&[&[command, "oscillator"], &over[..], &["--periods", "-5", "--out", "t"]].concat());
        assert!(none.contains("nothing to run"), "{none}");
    }
    let tiny = said(&["lyapunov", "oscillator", "--tol", "1e-300"]);
    assert!(tiny.contains("not 1e-300"), "{tiny}");
    let less = dir.saltus(&["lyapunov", "oscillator", "--periods", "-5"]);
    assert!(less.stderr.contains("invalid value '-5'"), "{less:?}");
    let still = said(&["sweep", "oscillator", "--over", "w=0,0", "--periods", "3", "--out", "t"]);
    assert!(still.contains("no period at w = 0") && still.contains("--period"), "{still}");
    // Nothing can start: a dry run says why, and is a failure.
    let refused = ["sweep", "oscillator", "--over", "x=2:3:4", "--periods", "3", "--dry-run"];
    let why = said(&refused);
    assert!(why.contains("all of 4 trajectories tried") && why.contains("outside the constraint `stop`"), "{why}");
    let json = dir.json(&[&refused[..], &["--json"]].concat());
    let reason = json["first_complaint"]["reason"].as_str().expect("a reason");
    assert!(json["refused"] == 4 && reason.contains("stop"), "{json}");
    let none = said(&["basins", "oscillator", "--start", "x=2:3:4", "--dry-run"]);
    assert!(none.contains("admissible"), "{none}");
    // Tables have their own formats, each once.
    let swept = [&["sweep", "oscillator"], &over[..], &["--periods", "2", "--out", "s"]].concat();
    let twice = dir.saltus(&[&swept[..], &["--format", "csv,csv"]].concat());
    assert!(twice.succeeded() && twice.stdout.matches("points.csv").count() == 1, "{twice:?}");
    let merged = said(&["merge", "s", "--out", "m", "--format", "xlsx"]);
    assert!(merged.contains("npz, csv or parquet") && !merged.contains("mat,"), "{merged}");
    // Disks that nobody has.
    let huge = ["sweep", "oscillator", "--over", "w=0.9:1.1:1e10", "--periods", "4e9", "--strobe", "--dry-run"];
    let huge = dir.saltus(&huge);
    assert!(huge.succeeded() && !huge.stdout.contains("00 PB") && huge.stdout.contains("e2"), "{huge:?}");
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
    assert!(!other.succeeded() && other.stderr.contains("--tol was not given and is 1e-9"), "{other:?}");
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

/// What cannot be is said before anything is computed, and leaves no directory behind.
#[test]
fn nothing_is_begun_that_cannot_be() {
    let dir = Scratch::new();
    let sweep = ["sweep", "oscillator", "--over", "w=1:2:3", "--out", "s"];
    let refused = |more: &[&str], words: &str| {
        let answer = dir.saltus(&[&sweep[..], more].concat());
        let said = answer.stderr.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
        assert!(!answer.succeeded() && said.contains(words), "{answer:?}");
        assert!(!dir.join("s").exists(), "{more:?}");
    };
    refused(&["--periods", "-2"], "nothing to run");
    refused(&["--periods", "2", "--period", "-3"], "the period must be a positive number");
    refused(&["--transient", "30", "--end", "10"], "nothing to run");
    refused(&["--periods", "3", "--design", "sobol"], "--sample");
    refused(&["--periods", "3", "--seed", "7"], "--sample");
    refused(&["--periods", "3", "--scheme", "penalty", "--step", "1e-3"], "`penalty` needs `stiffness`");
    let section = ["section", "oscillator", "--at", "impacts", "--x", "x", "--periods", "20", "--out", "s"];
    let section = dir.saltus(&section);
    assert!(
        !section.succeeded() && section.stderr.contains("unknown name `x`") && !dir.join("s").exists(),
        "{section:?}"
    );
    let source = dir.saltus(&["sweep", "oscillator", "--over", "w=1,2", "--periods", "2", "--emit-cuda", "a.cu"]);
    assert!(source.succeeded() && dir.join("a.cu").exists(), "{source:?}");
}

/// The disk that long trajectories need does not grow with them where only their ends, or their last impacts, are kept.
#[test]
fn what_is_kept_of_long_trajectories_is_short() {
    let dir = Scratch::new();
    let base = ["sweep", "oscillator", "--over", "w=0.9:1.1:4", "--dry-run", "--json"];
    let bytes = |more: &[&str]| dir.json(&[&base[..], more].concat())["bytes"].as_f64().expect("a number");
    assert!(bytes(&["--periods", "2e6"]) < 4000.0);
    assert!(bytes(&["--periods", "2e6", "--impacts", "5"]) < 8000.0);
    assert!(bytes(&["--periods", "2e6", "--strobe"]) > 1e8);
}
