//! What a continuation says where something is not as a person may expect.

use crate::program::{Scratch, saltus};

fn refused(dir: &Scratch, args: &[&str], words: &[&str]) {
    let answer = dir.saltus(args);
    let message = answer.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!answer.succeeded() && words.iter().all(|w| message.contains(w)), "{answer:?}");
}

#[test]
fn ranges_and_starts_that_do_not_fit() {
    let dir = Scratch::new();
    // The model's own value is 1.
    let started = dir.saltus(&["continue", "oscillator", "--over", "w=1.5:1.6", "--doublings", "0"]);
    assert!(started.succeeded(), "{started:?}");
    assert!(started.stdout.contains("w = 1 is outside the range"), "{}", started.stdout);
    let quiet = ["continue", "oscillator", "--over", "w=1:1.1", "--doublings", "0", "--direction", "up"];
    let part = dir.saltus(&[&quiet[..], &["--out", "part", "--simulate", "0"]].concat());
    assert!(part.succeeded() && !part.stdout.contains("outside the range"), "{part:?}");
    // Its last point is at the end of the range.
    let on = |range: &'static str| ["continue", "oscillator", "--over", range, "--from", "part", "--branch", "1"];
    refused(&dir, &on("w=1.5:2"), &["the branch ends at w = 1.1, outside the range 1.5 … 2"]);
    refused(&dir, &on("w=1:1.1"), &["the branch leaves the range w = 1 … 1.1 where it begins, at w = 1.1"]);
    // Another model is another model, whatever its parameters are called.
    let other = ["continue", "ball-table", "--over", "G=1.2:1.7", "--from", "part"];
    refused(&dir, &other, &["branches of another model, `Forced oscillator with one stop`"]);
    let even = ["orbit", "oscillator", "--symmetric", "--multiple", "2"];
    refused(&dir, &even, &["no symmetric orbit takes 2 periods", "give an odd number"]);
}

#[test]
fn what_was_not_followed_is_said() {
    let dir = Scratch::new();
    let ball = ["continue", "ball-table", "--over", "G=1.3:1.6", "--doublings", "0"];
    let printed = dir.saltus(&ball);
    let words = "not followed: what leaves at the period doubling at 1.5268237";
    assert!(printed.succeeded() && printed.stdout.contains(words), "{}", printed.stdout);
    let found = dir.json(&[&ball[..], &["--json"]].concat());
    assert_eq!(found["branches"][0]["left"][0]["kind"], "doubling", "{found}");
    assert_eq!(found["branches"][0]["left"][0]["tried"], false, "{found}");
    // With the doubling, there is nothing to say.
    let followed = dir.json(&["continue", "ball-table", "--over", "G=1.3:1.54", "--json"]);
    assert_eq!(followed["branches"][0]["left"].as_array().map(Vec::len), Some(0), "{followed}");
}

#[test]
fn families_are_neutral_in_words_and_tables() {
    let dir = Scratch::new();
    let belt = ["continue", "belt", "--over", "mus=0.06:0.12", "--direction", "down", "--out", "slides"];
    let printed = dir.saltus(&belt);
    assert!(printed.succeeded() && printed.stdout.contains("neutral"), "{printed:?}");
    assert!(printed.stdout.contains("mus = 0.08 "), "{}", printed.stdout);
    let table = dir.read("slides/points.csv");
    assert!(table.contains(",neutral,") && table.contains(",stable,"), "{table}");
    assert!(dir.read("slides/branches.svg").contains("neutral"));
    // Equilibria of a valve, and its orbits, meet at one Hopf point.
    let hopf = |args: &[&str]| {
        let printed = saltus(&[&["continue", "valve", "--over", "q=8:9", "--doublings", "0"], args].concat());
        assert!(printed.succeeded(), "{printed:?}");
        let lines: Vec<&str> = printed.stdout.lines().filter(|l| l.contains("Hopf")).collect();
        let value =
            lines.first().and_then(|l| l.split_whitespace().nth(2)).map(|x| x.parse::<f64>().expect("a number"));
        assert!(lines.len() == 1, "{}", printed.stdout);
        value.expect("a value")
    };
    let (rest, orbits) = (hopf(&["--of", "equilibria"]), hopf(&["--set", "q=8.2"]));
    assert!((rest - orbits).abs() < 2e-8, "{rest} {orbits}");
}
