//! Figures in planes of coordinates, and pages on a telephone.

use super::browser::{Browser, Opened};
use super::{fits, numbers, reported, traces};
use crate::program::Scratch;
use serde_json::Value;

/// A rotor in a round stator, forced and damped, stored at a few instants only.
const ROTOR: &str = r#"
title = "Rotor in a stator"
[coordinates]
x = { position = 0, velocity = 0, unit = "mm" }
y = { position = -0.3, velocity = 0, unit = "mm" }
turn = { position = 0, velocity = 0.95, unit = "rad" }
[dynamics]
kinetic = "(x'^2 + y'^2 + turn'^2)/2"
potential = "(x^2 + y^2)/2 + 0.3*y"
[dynamics.force]
x = "-0.1*x' + 0.18*cos(0.95*t)"
y = "-0.1*y' + 0.18*sin(0.95*t)"
[[constraint]]
name = "stator"
gap = "0.8 - hypot(x, y)"
[[constraint]]
name = "lid"
gap = "0.7 + 0.01*sin(0.95*t) - x"
[impact]
restitution = 0.5
[run]
end = 100
[units]
time = "ms"
length = "mm"
[[draw]]
point = ["x", "y"]
"#;

fn of_role<'a>(seen: &'a Value, role: &str) -> Vec<&'a Value> {
    seen["traces"].as_array().expect("traces").iter().filter(|t| t["role"] == role).collect()
}

/// The largest angle by which a curve in a plane turns from one straight line to the next, in units of the figure's size.
fn sharpest_turn(x: &[f64], y: &[f64]) -> f64 {
    let size = |v: &[f64]| {
        let finite = || v.iter().copied().filter(|x| x.is_finite());
        finite().fold(f64::MIN, f64::max) - finite().fold(f64::MAX, f64::min)
    };
    let (width, height) = (size(x), size(y));
    let side = |k: usize| ((x[k + 1] - x[k]) / width, (y[k + 1] - y[k]) / height);
    let mut worst = 0.0_f64;
    for k in 0..x.len().saturating_sub(2) {
        let ((a, b), (c, d)) = (side(k), side(k + 1));
        // Lines shorter than a pixel may turn as they like.
        if a.hypot(b) > 4e-3 && c.hypot(d) > 4e-3 {
            worst = worst.max((a * d - b * c).atan2(a * c + b * d).abs());
        }
    }
    worst
}

#[test]
fn the_orbit_of_any_two_coordinates_is_shown_with_its_walls() {
    let Some(browser) = Browser::find("the orbit of a rotor") else { return };
    let here = Scratch::new();
    here.write("rotor.toml", ROTOR);
    reported(&here, &["run", "rotor.toml", "--step", "0.5"], "rotor.html");
    let page = browser.open(&here.join("rotor.html"), here.path());
    page.is_clean("rotor");
    fits("rotor", &page.read["size"]);
    let [first, second] = page.read["chosen"]["orbit"].as_array().expect("two choices").as_slice() else {
        panic!("{}", page.read["chosen"])
    };
    assert_eq!((&first["across"], &first["up"]), (&"x".into(), &"y".into()));
    assert_eq!(first["titles"], serde_json::json!(["x (mm)", "y (mm)"]));
    // An angle is not in one plane with a length.
    assert_eq!(first["partners"], serde_json::json!(["y"]));
    assert_eq!((&second["across"], &second["up"]), (&"y".into(), &"x".into()));
    assert_eq!(second["titles"], serde_json::json!(["y (mm)", "x (mm)"]));
    for seen in [first, second] {
        // A circle is round: both axes have the same scale.
        let scale = numbers(&seen["scale"]);
        assert!((scale[0].abs() / scale[1].abs() - 1.0).abs() < 1e-6, "{scale:?}");
        let stator = of_role(seen, "wall").into_iter().find(|t| t["name"] == "stator").expect("the stator");
        let (x, y) = (numbers(&stator["x"]), numbers(&stator["y"]));
        assert!(x.len() > 30 && x.iter().zip(&y).all(|(x, y)| (x.hypot(*y) - 0.8).abs() < 1e-6));
        assert_eq!((x[0], y[0]), (x[x.len() - 1], y[y.len() - 1]));
        // The lid moves; it is drawn where it is at the end.
        let lid = of_role(seen, "wall").into_iter().find(|t| t["name"] == "lid").expect("the lid");
        let at = numbers(&lid[if seen["across"] == "x" { "x" } else { "y" }]);
        assert!(at.iter().all(|x| (x - 0.7 - 0.01 * 95_f64.sin()).abs() < 1e-9), "{at:?}");
        let orbit = of_role(seen, "orbit")[0];
        let (x, y) = (numbers(&orbit["x"]), numbers(&orbit["y"]));
        assert!(x.iter().zip(&y).all(|(x, y)| x.hypot(*y) <= 0.8 + 1e-6));
        assert!(x.len() > 1_000, "{}", x.len());
    }
    // The curves are smooth although instants are half a unit of time apart: between impacts nothing turns like a polygon.
    let phase = traces(&page, "phase", "phase", "y (mm)");
    let turn = sharpest_turn(&numbers(&phase[0]["x"]), &numbers(&phase[0]["y"]));
    assert!(turn < 0.35, "{turn}");
    // In the animation the two walls are drawn, and the point has a trail.
    let seen = &page.read["animated"];
    assert_eq!(seen["walls"], 2);
    assert!(seen["trails"].as_i64().unwrap_or(0) > 50, "{seen}");
    // Sections show what is after the transient, with units.
    let section = traces(&page, "section", "section", "x (mm)");
    assert!((3..=9).contains(&numbers(&section[0]["x"]).len()), "{section:?}");
    assert!(page.dom.contains("one forcing period (6.61388 ms) apart"));
}

/// The page of the shipped oscillator: its stop is a line in the phase portrait, and its impacts are seen by their phase.
pub fn oscillator(page: &Opened) {
    let stops = traces(page, "phase", "stop", "stop");
    assert_eq!(stops.len(), 1);
    assert!(numbers(&stops[0]["x"]).iter().all(|x| (x - 1.0).abs() < 1e-12));
    let impacts = traces(page, "impact-section", "impact-section", "stop");
    assert!(numbers(&impacts[0]["x"]).iter().all(|phase| (0.0..=1.0).contains(phase)));
}

#[test]
fn pages_fit_a_telephone() {
    let Some(browser) = Browser::find("pages on a telephone") else { return };
    let here = Scratch::new();
    here.write("rotor.toml", ROTOR);
    for args in [&["run", "rotor.toml"][..], &["run", "hard-rods"], &["compare", "corner"]] {
        let report = format!("{}.html", args[1].trim_end_matches(".toml"));
        reported(&here, args, &report);
        let read = browser.open_narrow(&here.join(report), 390, here.path());
        assert_eq!(read["errors"], Value::Array(Vec::new()), "{args:?}");
        assert_eq!(read["size"]["window"], 390, "{args:?}");
        fits(&format!("{args:?}"), &read["size"]);
        // The plots use the width: margins take less than half of it.
        for figure in read["figures"].as_array().expect("figures") {
            assert!(figure["width"].as_f64().unwrap_or(0.0) > 180.0, "{args:?}: {}", figure["id"]);
        }
    }
}
