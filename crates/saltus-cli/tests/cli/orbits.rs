//! Sensitivities, Lyapunov exponents and periodic orbits on the command line.

use crate::program::{Scratch, json, saltus};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn sensitivities_of_the_end_of_a_run() {
    // A ball dropped from y: one bounce, energy g y e² after it.
    let dir = Scratch::new();
    dir.write(
        "ball.toml",
        "title = 'ball'\n[parameters]\ng = 10\ne = 0.5\nh = 1\n[coordinates]\ny = { position = 'h', velocity = 0 }\n[dynamics]\n\
         kinetic = \"y'^2/2\"\npotential = 'g*y'\n[[constraint]]\nname = 'floor'\ngap = 'y'\n[impact]\nrestitution = 'e'\n[run]\nend = 0.8\n",
    );
    let args = ["run", "ball.toml", "--sensitivity", "e", "--sensitivity", "h", "--sensitivity", "y", "--quantity"];
    let energy = "y'^2/2 + g*y";
    let found = dir.json(&[&args[..], &[energy, "--json"]].concat());
    let by = |name: &str, of: &str| number(&found["sensitivity"]["by"][name][of]);
    assert!((by("e", energy) - 10.0).abs() < 1e-8, "{found}");
    assert!((by("h", energy) - 2.5).abs() < 1e-8, "{found}");
    assert!((by("h", "y") - by("y", "y")).abs() < 1e-12);
    // By differences of runs.
    let y = |h: &str| number(&dir.json(&["run", "ball.toml", "--set", h, "--json"])["final"]["q"][0]);
    let slope = (y("h=1.0001") - y("h=0.9999")) / 2e-4;
    assert!((by("h", "y") - slope).abs() < 1e-6, "{slope} {found}");
    let text = dir.saltus(&[&args[..8], &[]].concat()).stdout;
    assert!(text.contains("derivatives at t = 0.8") && text.contains("d/dh"), "{text}");
    // What there is no derivative by, or of.
    for (args, wanted) in [
        (&["--sensitivity", "hh"][..], "`hh` is neither a parameter nor"),
        (&["--sensitivity", "h", "--quantity", "z"], "unknown name `z`"),
        (&["--sensitivity", "h", "--scheme", "mabrouk", "--step", "1e-3"], "by events"),
    ] {
        let answer = dir.saltus(&[&["run", "ball.toml"][..], args].concat());
        assert!(!answer.succeeded() && answer.stderr.contains(wanted), "{answer:?}");
    }
}

#[test]
fn exponents_of_one_motion_and_of_many() {
    let found = json(&["lyapunov", "oscillator", "--json"]);
    // P04: both multipliers have the square root of 0.3414… as their size.
    let expected = 0.341432378298306_f64.ln() / (2.0 * std::f64::consts::TAU);
    for e in found["exponents"].as_array().expect("a list") {
        assert!((number(&e["value"]) - expected).abs() < 1e-8, "{found}");
    }
    assert_eq!((found["kind"].as_str(), found["repeats_after"].as_u64()), (Some("periodic"), Some(1)));
    let dir = Scratch::new();
    let family = [
        "--set",
        "s=0",
        "--set",
        "c=0.02",
        "--set",
        "e=0.9",
        "--over",
        "w=2.5,3.1",
        "--transient",
        "100",
        "--periods",
        "100",
    ];
    let more =
        ["--tol", "1e-9", "--threads", "2", "--period", "2*pi/w", "--start", "x=-0.3", "--out", "table.csv", "--json"];
    let found = dir.json(&[&["lyapunov", "oscillator"][..], &family, &more].concat());
    let points = found["points"].as_array().expect("a list");
    assert_eq!(points[0]["kind"], "periodic", "{found}");
    assert_eq!(points[1]["kind"], "chaotic", "{found}");
    let table = dir.read("table.csv");
    assert!(table.starts_with("w,exponent_1,error_1,exponent_2,error_2,dimension"), "{table}");
    assert_eq!(table.lines().count(), 3);
    // Contact takes all of them away, in a motion that does not repeat itself after such periods: said alike for one and for many.
    let merging = ["lyapunov", "oscillator", "--set", "s=0", "--set", "e=0", "--period", "2.5", "--transient", "50"];
    let merging = [&merging[..], &["--periods", "60", "--start", "x=-0.3"]].concat();
    let text = saltus(&[&merging[..], &["--set", "w=3.618"]].concat()).stdout;
    assert!(text.contains("merge in finite time"), "{text}");
    let many = json(&[&merging[..], &["--over", "w=3.618", "--json"]].concat());
    assert_eq!(many["points"][0]["kind"], "merging", "{many}");
    // Contact takes directions away.
    let text = saltus(&["lyapunov", "ball-table", "--set", "e=0"]).stdout;
    assert!(text.contains("−∞") && text.contains("removes directions"), "{text}");
    for (args, wanted) in [
        (&["lyapunov", "oscillator", "--over", "ww=1:2:3"][..], "`ww` is neither"),
        (&["lyapunov", "oscillator", "--tol", "1"], "tolerance must be"),
        (&["lyapunov", "beam-stops"], "not supported for structures"),
        (&["lyapunov", "slider-crank", "--transient", "1", "--periods", "2"], "no derivatives"),
    ] {
        let answer = saltus(args);
        assert!(!answer.succeeded() && answer.stderr.contains(wanted), "{answer:?}");
    }
}

#[test]
fn exponents_of_many_motions_in_compiled_code() {
    let family =
        ["lyapunov", "oscillator", "--set", "s=0", "--set", "c=0.02", "--set", "e=0.9", "--over", "w=2.5,3.1,3.2"];
    let times = ["--transient", "100", "--periods", "200", "--json"];
    let plain = json(&[&family[..], &times].concat());
    let answer = saltus(&[&family[..], &times, &["--native", "--threads", "2"]].concat());
    if !answer.succeeded() {
        assert!(answer.stderr.contains("there is no C compiler"), "{answer:?}");
        return;
    }
    let native: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(native["scalar_share"], 0.0, "{native}");
    let points = |found: &serde_json::Value| found["points"].as_array().expect("a list").clone();
    for (a, b) in points(&plain).iter().zip(points(&native)) {
        assert_eq!((&a["kind"], &a["at"]), (&b["kind"], &b["at"]), "{a} {b}");
        for k in 0..2 {
            let (x, y) = (&a["exponents"][k], &b["exponents"][k]);
            let allowed = 4.0 * number(&x["error"]).hypot(number(&y["error"])) + 1e-8;
            assert!((number(&x["value"]) - number(&y["value"])).abs() < allowed, "{a} {b}");
        }
    }
    assert_eq!(points(&native)[1]["kind"], "chaotic");
    // How long it takes, and what is not computed that way.
    let dry = saltus(&[&family[..], &["--native", "--dry-run"]].concat());
    assert!(dry.succeeded() && dry.stdout.contains("3 motions"), "{dry:?}");
    for (args, wanted) in [
        (&["lyapunov", "oscillator", "--native"][..], "need several motions"),
        (&["lyapunov", "capsule", "--over", "e=0.5,0.6", "--native"], "cannot compile this model"),
    ] {
        let answer = saltus(args);
        assert!(!answer.succeeded() && answer.stderr.contains(wanted), "{answer:?}");
    }
    // Where there is no GPU, the processor computes them, and says so.
    let short = ["--transient", "2", "--periods", "4"];
    let gpu = saltus(&[&family[..], &short, &["--device", "gpu"]].concat());
    let auto = saltus(&[&family[..], &short, &["--device", "auto"]].concat());
    assert!(auto.succeeded(), "{auto:?}");
    assert_eq!(gpu.succeeded(), !auto.stderr.contains("on the processor"), "{gpu:?} {auto:?}");
}

#[test]
fn an_orbit_is_a_run_as_well() {
    let dir = Scratch::new();
    let found =
        dir.json(&["orbit", "oscillator", "--out", "orbit", "--periods", "2", "--report", "orbit.html", "--json"]);
    let orbit = &found["orbits"][0];
    assert_eq!((orbit["multiple"].as_u64(), orbit["stable"].as_bool()), (Some(1), Some(true)), "{found}");
    assert_eq!(orbit["sequence"], "impact stop");
    assert!(number(&orbit["residual"]) < 1e-11);
    let sum = number(&orbit["multipliers"][0][0]) + number(&orbit["multipliers"][1][0]);
    assert!((sum + 1.168590628683059).abs() < 1e-8, "{found}");
    assert!(dir.read("orbit.html").contains("periodic orbit"));
    // The run ends where it began, is made again to the last bit, and is a start of others.
    let again = dir.saltus(&["rerun", "orbit"]);
    assert!(again.succeeded(), "{again:?}");
    let on = dir.json(&[
        "orbit",
        "oscillator",
        "--from",
        "orbit",
        "--transient",
        "0",
        "--multiple",
        "1",
        "--tol",
        "1e-12",
        "--json",
    ]);
    let close = number(&on["orbits"][0]["state"]["x"]) - number(&orbit["state"]["x"]);
    assert!(close.abs() < 1e-9, "{on}");
    // Several, from many starts.
    let many = dir.json(&["orbit", "oscillator", "--set", "w=0.8", "--starts", "8", "--seed", "3", "--json"]);
    assert!(!many["orbits"].as_array().expect("a list").is_empty(), "{many}");
    let text = dir.saltus(&["orbit", "ball-table", "--set", "e=0"]).stdout;
    assert!(text.contains("release") && text.contains("stable"), "{text}");
    // A period of its own.
    dir.write(
        "pol.toml",
        "title = 'van der Pol'\n[coordinates]\nx = { position = 1, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
         [dynamics.force]\nx = \"(1 - x^2)*x' - x\"\n[[constraint]]\nname = 'stop'\ngap = '5 - x'\n[impact]\nrestitution = 0.5\n[run]\nend = 60\n",
    );
    let pol = dir.json(&["orbit", "pol.toml", "--period", "6.6", "--json"]);
    assert!((number(&pol["orbits"][0]["period"]) - 6.66328685931).abs() < 1e-8, "{pol}");
    for (args, wanted) in [
        (&["orbit", "ball-gravity"][..], "rest"),
        (&["orbit", "pol.toml", "--transient", "1"], "how long an orbit takes is not known"),
        (&["orbit", "oscillator", "--tol", "2"], "tolerance must be"),
        (&["orbit", "beam-stops"], "not supported for structures"),
    ] {
        let answer = dir.saltus(args);
        assert!(!answer.succeeded() && answer.stderr.contains(wanted), "{answer:?}");
    }
}
