//! What is there stays: models, tables and directories are not replaced by those of other commands.

use crate::program::{Answer, Scratch, shipped};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_table_of_exponents_replaces_nothing_but_such_a_table() {
    let dir = Scratch::new();
    dir.write("m.toml", shipped("oscillator"));
    dir.write("notes.txt", "by hand\n");
    dir.write("empty.csv", "");
    let over = ["lyapunov", "m.toml", "--over", "e=0.5,0.6", "--transient", "10", "--periods", "10", "--out"];
    let exponents = |out: &str| dir.saltus(&[&over[..], &[out]].concat());
    for file in ["m.toml", "notes.txt"] {
        let before = dir.read(file);
        let refused = exponents(file);
        assert!(!refused.succeeded() && refused.stderr.contains("choose another name"), "{refused:?}");
        let source = dir.saltus(&["sweep", "m.toml", "--over", "e=0.5,0.6", "--periods", "2", "--emit-cuda", file]);
        assert!(!source.succeeded() && source.stderr.contains("choose another name"), "{source:?}");
        assert_eq!(dir.read(file), before);
    }
    for file in ["empty.csv", "new.csv", "new.csv"] {
        assert!(exponents(file).succeeded());
        assert_eq!(dir.read(file).lines().count(), 3, "{}", dir.read(file));
    }
    for _ in 0..2 {
        let source = dir.saltus(&["sweep", "m.toml", "--over", "e=0.5,0.6", "--periods", "2", "--emit-cuda", "m.cu"]);
        assert!(source.succeeded() && dir.read("m.cu").contains("saltus_kernel"), "{source:?}");
    }
    // What cannot be written is shown.
    #[cfg(unix)]
    {
        let many: Vec<String> = (0..40).map(|k| format!("0.5{k:02}")).collect();
        let args = format!("lyapunov m.toml --over e={} --transient 2 --periods 2 --out big.csv", many.join(","));
        let script = format!("trap '' XFSZ; ulimit -f 1; exec {} {args}", crate::program::PROGRAM);
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script]).current_dir(dir.path()).output().expect("it starts");
        let full = Answer::new(&shell, output);
        assert!(full.code == Some(1) && full.stderr.contains("cannot write"), "{full:?}");
        assert!(full.stdout.contains("0.539") && !dir.join("big.csv").exists(), "{full:?}");
    }
}

#[test]
fn exponents_of_which_none_can_be_computed_are_a_failure() {
    let dir = Scratch::new();
    let args = ["lyapunov", "oscillator", "--over", "e=-1:-0.5:3", "--periods", "50"];
    let none = dir.saltus(&args);
    assert_eq!(none.code, Some(1), "{none:?}");
    let one = dir.saltus(&["lyapunov", "oscillator", "--over", "e=-1,0.5", "--transient", "5", "--periods", "5"]);
    assert_eq!(one.code, Some(0), "{one:?}");
}

#[cfg(unix)]
#[test]
fn interrupted_exponents_do_not_replace_a_complete_table() {
    let dir = Scratch::new();
    let args = |over: &'static str, out: &'static str| {
        ["lyapunov", "oscillator", "--over", over, "--transient", "100000000", "--threads", "1", "--out", out]
    };
    let interrupted = |args: &[&str]| {
        let mut command = dir.command(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(1500));
        let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        Answer::new(&command, child.wait_with_output().expect("it ends"))
    };
    // (The first is refused at once, and the others take for ever.)
    let partial = interrupted(&args("e=1.5,0.9,0.91", "part.csv"));
    assert_eq!(partial.code, Some(130), "{partial:?}");
    let table = dir.read("part.csv");
    let kinds: Vec<&str> = table.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
    assert_eq!(kinds, ["none", "not run", "not run"], "{table}");
    let short = ["lyapunov", "oscillator", "--over", "e=0.5,0.6", "--periods", "10", "--out", "whole.csv"];
    assert!(dir.saltus(&short).succeeded());
    let whole = dir.read("whole.csv");
    let again = interrupted(&args("e=0.9,0.91", "whole.csv"));
    assert!(again.code == Some(130) && again.stderr.contains("complete table, which stays"), "{again:?}");
    assert!(!again.stdout.contains("wrote") && dir.read("whole.csv") == whole, "{again:?}");
    // A part is replaced by what is more.
    let mut more = short;
    more[7] = "part.csv";
    assert!(dir.saltus(&more).succeeded() && !dir.read("part.csv").contains("not run"));
}

#[test]
fn a_run_leaves_the_tables_of_a_sweep_alone() {
    let dir = Scratch::new();
    let run = |out: &str| dir.saltus(&["run", "oscillator", "--out", out]);
    let sweep = ["sweep", "oscillator", "--over", "w=0.9,1.1", "--periods", "3", "--impacts", "all", "--out", "s"];
    let basins = ["basins", "oscillator", "--start", "x=-2:0:3", "--out", "b"];
    for (args, out) in [(&sweep[..], "s"), (&basins, "b")] {
        assert!(dir.saltus(args).succeeded());
        let refused = run(out);
        let said = format!("`{out}` holds a sweep, not a run");
        assert!(!refused.succeeded() && refused.stderr.contains(&said), "{refused:?}");
        assert!(!dir.join(format!("{out}/run.json")).exists());
    }
    let point = dir.saltus(&["sweep", "rerun", "s", "--point", "0", "--out", "s"]);
    assert!(!point.succeeded() && point.stderr.contains("holds a sweep"), "{point:?}");
    assert!(run("r").succeeded() && run("r").succeeded());
}

#[test]
fn one_command_at_a_time_computes_into_a_directory() {
    let dir = Scratch::new();
    let sweep = ["sweep", "oscillator", "--over", "w=0.8:1.2:4", "--periods", "20"];
    let basins = ["basins", "oscillator", "--start", "x=-2:1:9"];
    let mut round = 0;
    for args in [&sweep[..], &basins] {
        for _ in 0..6 {
            round += 1;
            let out = format!("two{round}");
            let args = [args, &["--threads", "1", "--out", &out]].concat();
            let begun = [(); 2].map(|()| {
                let mut command = dir.command(&args);
                let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
                (command, child)
            });
            let ended = begun.map(|(command, child)| Answer::new(&command, child.wait_with_output().expect("it ends")));
            let refused: Vec<_> = ended.iter().filter(|answer| !answer.succeeded()).collect();
            assert_eq!(refused.len(), 1, "{ended:?}");
            let is_clear = |text: &str| refused[0].stderr.contains(text);
            assert!(is_clear("another command is computing into") || is_clear("already"), "{refused:?}");
            let left: Vec<_> = std::fs::read_dir(dir.join(&out)).expect("there").flatten().collect();
            assert!(left.iter().all(|e| !e.file_name().to_string_lossy().starts_with('.')), "{left:?}");
        }
    }
    // A command that was killed holds no directory.
    let long = ["sweep", "oscillator", "--over", "w=0.8:1.2:100000", "--periods", "50", "--threads", "1", "--out", "l"];
    let resumed = [&long[..], &["--resume"]].concat();
    let mut child = dir.command(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while !dir.join("l/sweep.json").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let second = dir.saltus(&resumed);
    assert!(!second.succeeded() && second.stderr.contains("another command is computing into `l`"), "{second:?}");
    child.kill().expect("killed");
    child.wait().expect("it ends");
    let mut third = dir.command(&resumed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(300));
    assert!(third.try_wait().expect("its state").is_none());
    third.kill().expect("killed");
    third.wait().expect("it ends");
}
