//! Where a report cannot go: said before the run, or after it with everything else kept.

use crate::program::{Answer, PROGRAM, Scratch};
use std::process::Command;

#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_run() {
    let here = Scratch::new();
    let kept = here.join("kept.html");
    here.write("kept.html", "mine");
    let mut permissions = std::fs::metadata(&kept).expect("there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&kept, permissions).expect("set");
    for command in ["run", "compare", "converge", "check", "equilibria"] {
        for (path, reason) in
            [("no/such/place.html", "no directory `no/such`"), ("kept.html", "read-only"), (".", "directory")]
        {
            let out = here.saltus(&[command, "ball", "--report", path]);
            let said = out.stderr.replace('\n', " ");
            assert_eq!(out.code, Some(1), "{command} {path}: {said}");
            assert!(said.contains("cannot write") && said.contains(reason), "{command} {path}: {said}");
            assert!(out.stdout.is_empty(), "{command} {path} ran");
        }
    }
    assert_eq!(here.read("kept.html"), "mine");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_keeps_the_data_and_fails() {
    let here = Scratch::new();
    // Files above a megabyte fail, as on a disk that is full; the run's own files are smaller.
    let script = "ulimit -f 1024; trap '' XFSZ; exec \"$0\" run ball --out data --report page.html";
    let mut command = Command::new("bash");
    command.args(["-c", script, PROGRAM]).current_dir(here.path());
    let output = command.output().expect("it starts");
    let out = Answer::new(&command, output);
    assert_eq!(out.code, Some(1), "{}", out.stderr);
    assert!(out.stderr.contains("cannot write `page.html`"), "{}", out.stderr);
    assert!(out.stdout.contains("impact"), "the summary is there");
    assert!(here.join("data/trajectory.npz").exists() && !here.join("page.html").exists());
    let left: Vec<_> = std::fs::read_dir(here.path()).expect("there").filter_map(Result::ok).collect();
    assert_eq!(left.len(), 1, "no half file is left: {left:?}");
}

#[test]
fn the_command_in_a_report_makes_it_again() {
    let here = Scratch::new();
    let out = here.saltus(&["run", "ball", "--set", "e=1/2 + 0", "--report", "page.html"]);
    assert!(out.succeeded());
    let page = here.read("page.html");
    assert!(page.contains("saltus run ball --set &#39;e=1/2 + 0&#39; --report page.html"));
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    assert!(page.contains("SHA-256"));
}

#[test]
fn the_page_of_a_ball_is_at_most_two_megabytes() {
    let here = Scratch::new();
    assert!(here.saltus(&["run", "ball-gravity", "--report", "page.html"]).succeeded());
    let length = std::fs::metadata(here.join("page.html")).expect("there").len();
    assert!(length <= 2_000_000, "{length} bytes");
}

#[test]
fn a_long_run_with_many_impacts_gives_a_small_page_that_says_so() {
    let here = Scratch::new();
    let long = ["run", "hard-rods", "--scheme", "mabrouk", "--end", "200", "--step", "8e-4", "--report", "page.html"];
    assert!(here.saltus(&long).succeeded());
    let page = here.read("page.html");
    assert!(page.len() < 6_000_000, "{} bytes", page.len());
    assert!(page.contains("every extremum is kept") && page.contains("are drawn as jumps"));
}
