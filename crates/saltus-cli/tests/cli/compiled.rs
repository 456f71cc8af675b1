//! Models in compiled code: what was compiled before, and compilers that do not do what they should.
#![cfg(unix)]

use crate::program::{Answer, Scratch};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SWEEP: [&str; 8] = ["sweep", "oscillator", "--over", "w=0.9,1.1", "--periods", "3", "--native", "--out"];

fn begun(dir: &Scratch, out: &str, compiler: Option<&str>) -> Command {
    let mut command = dir.command(&[&SWEEP[..], &[out]].concat());
    command.env("XDG_CACHE_HOME", dir.join("cache")).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(compiler) = compiler {
        command.env("CC", compiler);
    }
    command
}

fn swept(dir: &Scratch, out: &str, compiler: Option<&str>) -> Answer {
    let mut command = begun(dir, out, compiler);
    let output = command.output().expect("it starts");
    Answer::new(&command, output)
}

/// What lies in the cache.
fn cached(dir: &Scratch) -> Vec<PathBuf> {
    let found = std::fs::read_dir(dir.join("cache/saltus/native")).into_iter().flatten().flatten();
    let mut found: Vec<_> = found.map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn script(dir: &Scratch, name: &str, text: &str) -> String {
    dir.write(name, format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(dir.join(name), PermissionsExt::from_mode(0o755)).expect("permissions");
    dir.join(name).display().to_string()
}

fn has_compiler() -> bool {
    Command::new("cc").arg("--version").output().is_ok_and(|said| said.status.success())
}

#[test]
fn compiled_code_that_is_damaged_is_compiled_again() {
    let dir = Scratch::new();
    if !has_compiler() {
        return;
    }
    assert!(swept(&dir, "whole", None).succeeded());
    let files = cached(&dir);
    assert_eq!(files.len(), 2, "{files:?}");
    let library = files.iter().find(|path| path.extension().is_some_and(|e| e == "so")).expect("a library");
    let whole = std::fs::read(library).expect("read");
    let flipped: Vec<u8> = whole.iter().enumerate().map(|(k, b)| if k > 4096 { !b } else { *b }).collect();
    for (out, damaged) in [("a", &whole[..whole.len() / 2]), ("b", &flipped), ("c", &[])] {
        std::fs::write(library, damaged).expect("written");
        let again = swept(&dir, out, None);
        assert!(again.succeeded() && cached(&dir) == files, "{again:?}");
        assert_eq!(dir.read(&format!("{out}/points.csv")), dir.read("whole/points.csv"));
    }
}

#[test]
fn a_compiler_is_named_with_its_options() {
    let dir = Scratch::new();
    if has_compiler() {
        let swept = swept(&dir, "s", Some(" nice -n 1  cc"));
        assert!(swept.succeeded(), "{swept:?}");
    }
    let nothing = swept(&dir, "n", Some("true"));
    assert!(!nothing.succeeded() && nothing.stderr.contains("made nothing"), "{nothing:?}");
    let failed = swept(&dir, "f", Some(&script(&dir, "cc-fails", "echo 'out of order' >&2; exit 1")));
    assert!(!failed.succeeded() && failed.stderr.contains("out of order"), "{failed:?}");
    let missing = swept(&dir, "m", Some("no-such-compiler -O1"));
    assert!(missing.stderr.contains("install one, or name it in CC") && !missing.stderr.contains("-O1"), "{missing:?}");
    let is_whole = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().matches('.').count() == 1);
    assert!(cached(&dir).iter().all(is_whole), "{:?}", cached(&dir));
}

#[test]
fn a_compiler_that_hangs_is_ended_with_the_command() {
    let dir = Scratch::new();
    let pids = dir.join("pids");
    let hangs = script(&dir, "cc-hangs", &format!("sleep 300 & echo $$ $! > {}; wait", pids.display()));
    for signal in ["-INT", "-TERM"] {
        let mut command = begun(&dir, "s", Some(&hangs));
        let child = command.spawn().expect("it starts");
        let since = Instant::now();
        while std::fs::read_to_string(&pids).map_or(true, |text| !text.ends_with('\n')) {
            assert!(since.elapsed() < Duration::from_secs(60), "the compiler is not run");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill").success());
        let since = Instant::now();
        let answer = Answer::new(&command, child.wait_with_output().expect("it ends"));
        assert!(since.elapsed() < Duration::from_secs(10) && answer.code == Some(130), "{answer:?}");
        assert!(cached(&dir).is_empty(), "{:?}", cached(&dir));
        // Neither the compiler nor what it started goes on.
        for pid in std::fs::read_to_string(&pids).expect("numbers").split_whitespace() {
            let runs = || {
                let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                !state.is_empty() && !state.contains(") Z ")
            };
            let since = Instant::now();
            while runs() {
                assert!(since.elapsed() < Duration::from_secs(5), "{pid} goes on");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        std::fs::remove_file(&pids).expect("removed");
    }
}

/// No file may grow beyond some kilobytes, as on a full disk.
#[test]
fn a_full_disk_leaves_no_part_of_a_source() {
    let dir = Scratch::new();
    let command = format!("{} {} s", crate::program::PROGRAM, SWEEP.join(" "));
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f 8; exec {command}")]).current_dir(dir.path());
    let output = shell.env("XDG_CACHE_HOME", dir.join("cache")).output().expect("it starts");
    let answer = Answer::new(&shell, output);
    assert!(!answer.succeeded() && answer.stderr.contains("cannot write the source"), "{answer:?}");
    assert!(cached(&dir).is_empty(), "{:?}", cached(&dir));
}
