//! Mistakes in states, joints, friction and restitution of the speed: what is wrong, where, and what to do.

#[path = "common/mistakes.rs"]
mod common;

use common::place;
use saltus::Options;
use saltus_io::{FileError, ModelFile};
use std::path::Path;

const GOOD: &str = r#"
title = "Block with a valve"

[parameters]
mu = 0.3
L = 1.0
e0 = 0.9

[coordinates]
x = { position = 1.0, velocity = 0.0 }
y = { position = 0.0, velocity = 0.0 }
w = { position = 0.0, velocity = 0.0 }

[states]
p = { start = 1.0, rate = "-p + x", unit = "bar" }
s = { start = 0.0, rate = "(w' - s)/L" }

[dynamics]
kinetic = "(x'^2 + y'^2 + w'^2)/2"
potential = "9.81*w"

[dynamics.force]
x = "p"

[[joint]]
name = "rod"
equation = "x^2 + y^2 - L^2"

[[constraint]]
name = "floor"
gap = "w"
restitution = "e0"
friction = "mu"
slip = ["x'", "y'"]

[[friction]]
name = "bearing"
slip = "x*y' - y*x'"
limit = 0.1

[run]
end = 1.0
"#;

fn load(text: &str) -> Result<(), FileError> {
    ModelFile::parse("test.toml", text, Path::new(""))?.problem(&[]).map(|_| ())
}

/// Replaces a piece of the good model; checks the message, the marked text, and the help.
fn mistake(from: &str, to: &str, message: &str, marked: &str, help: &str) {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let error = load(&text).expect_err(&format!("`{to}` should be refused"));
    assert_eq!(place(&error, message), marked, "{:?}", error.error);
    let helps = help.is_empty() || error.error.help.as_deref().is_some_and(|h| h.contains(help));
    assert!(helps, "wanted help `{help}`: {:?}", error.error);
}

#[test]
fn the_good_one_is_good() {
    load(GOOD).expect("no mistake here");
}

#[test]
fn mistakes_in_friction() {
    let slip = "slip = [\"x'\", \"y'\"]";
    mistake(slip, "slip = \"x'^2\"", "a slip must be affine", "x'^2", "x' + r*theta'");
    mistake(slip, "slip = \"abs(x')\"", "a slip must be affine", "abs(x')", "with its sign");
    mistake(slip, "slip = \"x'*y'\"", "a slip must be affine", "x'*y'", "");
    mistake(slip, "slip = \"x\"", "the slip contains no velocity", "x", "x' + r*theta'");
    mistake(slip, "", "friction needs the velocity", "\"mu\"", "slip = ");
    mistake(slip, "slip = [\"x'\", \"y'\", \"w'\"]", "one in the plane, two in space", "mu", "slip = ");
    mistake("friction = \"mu\"\n", "", "`slip` belongs to the friction", "[\"x'\", \"y'\"]", "friction = ");
    mistake(
        "friction = \"mu\"",
        "friction = \"-mu\"",
        "the friction of `floor` is -0.3",
        "-mu",
        "acts against the slip",
    );
    mistake("friction = \"mu\"", "friction = \"nu\"", "unknown name `nu`", "nu", "`mu`");
    mistake("friction = \"mu\"", "friction = \"mu\"\nstatic = -1", "the friction of `floor` is -1", "-1", "");
    mistake("friction = \"mu\"", "friction = \"mu\"\ntangential = 2", "tangential restitution 2", "2", "");
    mistake("limit = 0.1", "limit = -0.1", "the friction of `bearing` is -0.1", "-0.1", "acts against the slip");
    mistake("limit = 0.1", "", "`limit`", "[[friction]]", "");
    mistake("name = \"bearing\"", "name = \"floor\"", "used twice", "\"floor\"", "");
    mistake("limit = 0.1", "limit = 0.1\nmu = 0.2", "unknown key `mu`", "mu", "");
}

#[test]
fn a_rate_that_is_no_number() {
    let rate = "rate = \"-p + x\"";
    mistake(
        rate,
        "rate = \"log(-p) + x\"",
        "the rate of the state `p` is NaN at the start",
        "log(-p) + x",
        "logarithm",
    );
}

#[test]
fn mistakes_in_joints() {
    let equation = "equation = \"x^2 + y^2 - L^2\"";
    mistake(
        "position = 1.0, ",
        "position = 0.9, ",
        "does not satisfy the joint `rod`",
        "x^2 + y^2 - L^2",
        "--assemble",
    );
    mistake(
        "position = 1.0, velocity = 0.0",
        "position = 1.0, velocity = 1.0",
        "does not satisfy",
        "x^2 + y^2 - L^2",
        "x' = 0",
    );
    mistake(
        equation,
        "equation = \"x^2 + y^2 + L^2\"",
        "does not satisfy",
        "x^2 + y^2 + L^2",
        "cannot be put together",
    );
    let both = "equation = [\"x^2 + y^2 - L^2\", \"x^2 + y^2 - 2\"]";
    mistake(equation, both, "does not satisfy the joint `rod[2]`", "x^2 + y^2 - 2", "cannot be put together");
    mistake(equation, "equation = \"x' + y'\"", "may not depend on velocities", "x' + y'", "f(t, q) = 0");
    mistake(equation, "equation = \"x - p\"", "may not depend on first-order states", "x - p", "f(t, q) = 0");
    mistake(equation, "equation = \"L - 1\"", "contains no coordinate", "L - 1", "");
    mistake(equation, "equation = \"x^2 >= L\"", "an equation, not an inequality", "x^2 >= L", "[[constraint]]");
    mistake(equation, "equation = []", "has no equation", "\"rod\"", "");
    mistake(equation, "equaiton = \"x\"", "unknown key `equaiton`", "equaiton", "`equation`");
}

#[test]
fn mistakes_in_states_and_restitution() {
    mistake("rate = \"-p + x\"", "rate = \"-p + X\"", "unknown name `X`", "X", "");
    mistake("rate = \"-p + x\"", "rate = \"-p + r\"", "unknown name `r`", "r", "");
    mistake("rate = \"-p + x\"", "raet = \"-p\"", "unknown key `raet`", "raet", "`rate`");
    mistake("start = 1.0, rate", "rate", "`start`", "{ rate = \"-p + x\", unit = \"bar\" }", "");
    // A gap may use a state, unless its own velocity would jump with others.
    mistake(
        "gap = \"w\"",
        "gap = \"w - s\"",
        "the rate of `s`, which the gap uses, depends on velocities",
        "w - s",
        "inertia",
    );
    let kinetic = "kinetic = \"(x'^2 + y'^2 + w'^2)/2\"";
    let heavy = "(p*x'^2 + y'^2 + w'^2)/2";
    mistake(kinetic, &format!("kinetic = \"{heavy}\""), "may not depend on first-order states", heavy, "forces");
    mistake("mu = 0.3\n", "mu = 0.3\np = 1\n", "used twice", "p", "");
    mistake("restitution = \"e0\"", "restitution = \"e0 + 0.2\"", "outside [0, 1]", "e0 + 0.2", "");
    mistake("restitution = \"e0\"", "restitution = \"e0 - 2*speed\"", "outside [0, 1]", "e0 - 2*speed", "");
}

#[test]
fn a_structure_has_neither_friction_nor_joints_nor_states() {
    let bar = "[structure]\nkind = \"bar\"\nelements = 4\nlength = 1\nstiffness = 1\nmass = 1\n";
    for (section, marked) in [
        ("[[friction]]\nslip = \"x'\"\nlimit = 1\n", "friction"),
        ("[[joint]]\nname = \"pin\"\nequation = \"x\"\n", "joint"),
        ("[states]\np = { start = 0, rate = \"-p\" }\n", "states"),
    ] {
        let error = load(&format!("{bar}{section}")).expect_err(marked);
        let shown = format!("{} {:?}", error.error.message, error.error.help);
        assert!(shown.contains(marked) || shown.contains("structure"), "{shown}");
    }
}

#[test]
fn a_unit_of_a_state_is_known_in_both_places() {
    let units = GOOD.replacen("[run]", "[units]\np = \"Pa\"\n\n[run]", 1);
    let file = ModelFile::parse("test.toml", &units, Path::new("")).expect("a model");
    let (problem, _) = file.problem(&[]).expect("a problem");
    assert_eq!(problem.model().units.state(0), "Pa");
}

#[test]
fn what_is_wrong_only_at_some_speed_ends_the_run_there() {
    // e = 0.9 at slow approaches, beyond one at the speed of this one.
    let model = r#"
title = "Ball"
[coordinates]
y = { position = 1.0, velocity = -3.0 }
[dynamics]
kinetic = "y'^2/2"
[[constraint]]
name = "floor"
gap = "y"
restitution = "0.9 + max(0, speed - 2)"
[run]
end = 1
"#;
    let outcome = ModelFile::parse("test.toml", model, Path::new("")).and_then(|file| file.problem(&[]));
    match outcome {
        Err(error) => assert!(error.error.message.contains("outside [0, 1]"), "{:?}", error.error),
        Ok((problem, _)) => {
            let run = problem.run(&Options::events(1.0)).expect("starts");
            let told = run.status.to_string();
            assert!(told.contains("`floor`") && told.contains("between 0 and 1"), "{told}");
        }
    }
}
