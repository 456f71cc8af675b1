//! Expressions that are not numbers: what is kept of a sweep says so, and so does what is drawn of it.

use super::column;
use crate::program::Scratch;

#[test]
fn statistics_that_do_not_exist_are_marked() {
    let dir = Scratch::new();
    for (k, more) in [&[][..], &["--section", "abs(x)-0.1"], &["--scheme", "moreau-jean"]].into_iter().enumerate() {
        let out = format!("q{k}");
        let words = ["sweep", "oscillator", "--over", "w=1,2", "--end", "50", "--stat", "sqrt(x+2)", "--out", &out];
        let swept = dir.saltus(&[&words, more].concat());
        assert!(swept.succeeded(), "{swept:?}");
        assert!(swept.stdout.contains("breached"), "{swept:?}");
        assert!(
            swept.stdout.contains("point 0: no statistics of `sqrt(x+2)`: it is not a number at t = "),
            "{swept:?}"
        );
        let points = format!("{out}/points.csv");
        assert_eq!(column(&dir, &points, "status")[0], "breached");
        for name in ["min", "max", "mean", "rms"] {
            let found = column(&dir, &points, &format!("{name}(sqrt(x+2))"));
            assert!(matches!(found[0].as_str(), "nan" | "NaN" | ""), "{found:?}");
        }
        let plot = dir.saltus(&["plot", &out, "--what", "mean(sqrt(x+2))", "--out", "q.svg"]);
        let said = format!("{plot:?}");
        assert!(said.contains("of 2 values"), "{said}");
    }
}

#[test]
fn pictures_say_what_they_leave_out() {
    let dir = Scratch::new();
    let times = ["--transient", "20", "--periods", "10", "--out"];
    let words = ["bifurcation", "oscillator", "--over", "w=1:2:20", "--of", "log(x)"];
    let drawn = dir.saltus(&[&words[..], &times, &["b"]].concat());
    assert!(drawn.succeeded() && drawn.stdout.contains("of 220 values are not numbers and are left out"), "{drawn:?}");
    let json = dir.json(&[&words[..], &times, &["c", "--json"]].concat());
    assert!(json["left_out"].as_u64() > Some(0) && json["values"] == 220, "{json}");
    let words = ["section", "oscillator", "--start", "x=-0.3", "--x", "log(-1-x^2)", "--y", "1/x'"];
    let drawn = dir.saltus(&[&words[..], &times, &["s"]].concat());
    assert!(!drawn.succeeded(), "{drawn:?}");
    assert!(drawn.stderr.contains("there is nothing to draw: 11 of 11 values are not numbers"), "{drawn:?}");
}

/// Simplified, k/k is 1 even where k is zero.
#[test]
fn points_at_which_the_model_is_not_defined_are_refused() {
    let dir = Scratch::new();
    dir.write("dz.toml", include_str!("dz.toml"));
    dir.write(
        "cut.toml",
        include_str!("dz.toml")
            .replace("x^2/2*k/k", "x^2/2*if(k > 0, k/k, 1)")
            .replace("*k^2/k^2", "")
            .replace("*k/k", ""),
    );
    let swept = dir.saltus(&["sweep", "dz.toml", "--over", "k=0,1", "--out", "q"]);
    assert!(swept.succeeded() && swept.stdout.contains("1 finished, 1 refused"), "{swept:?}");
    assert!(swept.stdout.contains("point 0: division by zero"), "{swept:?}");
    let alone = dir.saltus(&["run", "dz.toml", "--set", "k=0"]);
    assert!(alone.stderr.contains("division by zero"), "{alone:?}");
    // What is divided by zero in a branch that is not taken does no harm.
    let swept = dir.saltus(&["sweep", "cut.toml", "--over", "k=0,1", "--out", "c"]);
    assert!(swept.succeeded() && swept.stdout.contains("2 finished"), "{swept:?}");
    assert!(dir.saltus(&["run", "cut.toml", "--set", "k=0"]).succeeded());
}

/// What a single run refuses, a sweep refuses as well, whether it comes to matter or not.
#[test]
fn restitutions_and_rates_of_every_point_are_checked() {
    let dir = Scratch::new();
    let swept = dir.saltus(&["sweep", "oscillator", "--over", "e=2,0.5,-0.1", "--end", "5", "--out", "e"]);
    assert!(swept.stdout.contains("point 0: the restitution 2 is outside [0, 1]"), "{swept:?}");
    assert_eq!(column(&dir, "e/points.csv", "status"), ["refused", "finished", "refused"]);
    let swept = dir.saltus(&["sweep", "valve", "--over", "p=1,-1", "--end", "5", "--out", "p"]);
    assert!(swept.stdout.contains("the rate of the state `p` is not a number here"), "{swept:?}");
}
