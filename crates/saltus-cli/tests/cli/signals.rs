//! Ctrl-C and SIGTERM: every command stops within a second, says so by its exit code, and keeps what it has.
#![cfg(unix)]

use crate::program::{Answer, Scratch};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a command, signals it after a while, and says what it gave and how long it took to end.
fn signalled(dir: &Scratch, args: &[&str], signal: &str, after: Duration) -> (Answer, Duration) {
    let mut command = dir.command(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(after);
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    let since = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    assert!(sent.success(), "{args:?} had ended before the signal");
    (Answer::new(&command, output), since.elapsed())
}

/// A model whose runs, searches and comparisons take minutes.
const LONG: &str = "[coordinates]\nx = { for = \"i = 1..12\", position = \"2*i\", velocity = \"(-1)^i\" }\n[dynamics]\n\
    kinetic = \"sum(i = 1..12, x[i]'^2/2)\"\npotential = \"sum(i = 1..12, cos(x[i]))\"\n\
    [[constraint]]\nfor = \"i = 1..11\"\ngap = \"x[i+1] - x[i] - 0.5\"\n[impact]\nrestitution = 0.9\n[run]\nstep = 1e-5\nend = 1e4\n";

/// A model whose runs take as long as their steps are small.
const BALL: &str = "[coordinates]\ny = { position = 1, velocity = 0 }\n[dynamics]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n\
    [[constraint]]\nname = \"floor\"\ngap = \"y\"\n[impact]\nrestitution = 0.5\n[run]\nend = 1\n";

#[test]
fn every_command_stops_within_a_second() {
    let dir = Scratch::new();
    dir.write("m.toml", LONG);
    for signal in ["-INT", "-TERM"] {
        for args in [
            &["run", "m.toml", "--every", "1000"][..],
            &["run", "m.toml", "--scheme", "mabrouk", "--every", "10000", "--json"],
            &["run", "m.toml", "--end", "0.01", "--probe", "100000"],
            &["check", "m.toml", "--effort", "10000000"],
            &["equilibria", "m.toml", "--effort", "10000000"],
            &["compare", "m.toml"],
            &["converge", "m.toml"],
            &["bifurcation", "oscillator", "--over", "w=0.5:1.5:200000", "--resume", "--out", "d"],
            &["section", "oscillator", "--periods", "100000000", "--resume", "--out", "s", "--json"],
            &[
                "basins",
                "oscillator",
                "--set",
                "w=5.7",
                "--start",
                "x=-2:1:3000",
                "--start",
                "x'=-3:3:3000",
                "--resume",
                "--out",
                "b",
            ],
        ] {
            let (answer, took) = signalled(&dir, args, signal, Duration::from_millis(700));
            assert_eq!(answer.code, Some(130), "{signal} {args:?}\n{}{}", answer.stdout, answer.stderr);
            // A second, and what a busy machine adds.
            assert!(took < Duration::from_millis(2500), "{signal} {args:?}: {took:?}");
        }
    }
}

#[test]
fn what_was_computed_is_kept() {
    let dir = Scratch::new();
    dir.write("m.toml", LONG);
    for signal in ["-INT", "-TERM"] {
        let args = ["run", "m.toml", "--scheme", "mabrouk", "--every", "1000", "--out", "r", "--json"];
        let (answer, _) = signalled(&dir, &args, signal, Duration::from_millis(700));
        assert_eq!(answer.code, Some(130), "{}{}", answer.stdout, answer.stderr);
        assert_eq!(answer.json()["status"], "interrupted");
        assert!(dir.read("r/run.json").contains("\"interrupted\"") && dir.join("r/trajectory.npz").exists());
        std::fs::remove_dir_all(dir.join("r")).expect("removed");
    }
    // The levels of a study that were finished: the coarse runs take no time, the finest minutes.
    dir.write("b.toml", BALL);
    for extra in [&[][..], &["--json"]] {
        let mut args = vec!["converge", "b.toml", "--step", "1e-2", "--levels", "12", "--ratio", "4"];
        args.extend(extra);
        let (answer, _) = signalled(&dir, &args, "-INT", Duration::from_millis(2000));
        assert_eq!(answer.code, Some(130), "{}{}", answer.stdout, answer.stderr);
        match extra.is_empty() {
            true => {
                assert!(answer.stdout.contains("0.0025") && answer.stdout.contains("interrupted"), "{}", answer.stdout)
            }
            false => {
                let found = answer.json();
                let levels = found["levels"].as_array().expect("levels").len();
                assert!(found["interrupted"] == true && (2..12).contains(&levels), "{found}");
            }
        }
    }
    // The run itself, where its perturbed starts take too long.
    let args = ["run", "m.toml", "--end", "0.01", "--probe", "100000", "--out", "p"];
    let (answer, _) = signalled(&dir, &args, "-INT", Duration::from_millis(1500));
    assert_eq!(answer.code, Some(130));
    assert!(dir.read("p/run.json").contains("\"finished\""));
}
