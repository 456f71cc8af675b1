//! Every mistake is answered with what is wrong, the place in the file, and what to do.

#[path = "common/mistakes.rs"]
mod common;

use common::place;
use proptest::prelude::*;
use saltus_io::{FileError, ModelFile};
use std::path::Path;

const GOOD: &str = r#"
title = "Ball"

[parameters]
m = 1.0
g = 9.81

[coordinates]
y = { position = 1.0, velocity = 0.0 }

[definitions]
height = "y"

[dynamics]
kinetic = "m*y'^2/2"
potential = "m*g*y"

[dynamics.force]
y = "-0.1*y'"

[[constraint]]
name = "floor"
gap = "height"

[impact]
restitution = 0.8

[run]
step = 1e-3
end = 3.0
"#;

fn load(text: &str) -> Result<(), FileError> {
    ModelFile::parse("test.toml", text, Path::new(""))?.problem(&[]).map(|_| ())
}

#[test]
fn the_good_one_is_good() {
    load(GOOD).expect("no mistake here");
}

/// Replaces a piece of the good model; checks the message, the marked text, and that there is help where it is due.
fn mistake(from: &str, to: &str, message: &str, marked: &str, help: &str) {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let error = load(&text).expect_err(&format!("`{to}` should be refused"));
    assert_eq!(place(&error, message), marked, "{:?}", error.error);
    let helps = help.is_empty() || error.error.help.as_deref().is_some_and(|h| h.contains(help));
    assert!(helps, "wanted help `{help}`: {:?}", error.error);
}

#[test]
fn mistakes_in_names_and_keys() {
    mistake("kinetic =", "kinetick =", "unknown key `kinetick`", "kinetick", "`kinetic`");
    mistake("position = 1.0", "positoin = 1.0", "unknown key `positoin`", "positoin", "`position`");
    mistake("[impact]", "[impcat]", "unknown key `impcat`", "impcat", "`impact`");
    mistake("m*g*y", "m*G*y", "unknown name `G`", "G", "`g`");
    mistake("gap = \"height\"", "gap = \"hieght\"", "unknown name `hieght`", "hieght", "`height`");
    mistake("y = \"-0.1*y'\"", "z = \"-0.1*y'\"", "`z` is not a coordinate", "z", "the coordinates are: y");
    mistake("height = \"y\"", "m = \"y\"", "used twice", "m", "");
    mistake("height = \"y\"", "sin = \"y\"", "`sin` is a word of the expression language", "sin", "");
    mistake("height = \"y\"", "t = \"y\"", "`t` is a word", "t", "");
    mistake("m = 1.0\n", "m = 1.0\nm = 2.0\n", "not valid TOML", "m", "");
    mistake(
        "step = 1e-3",
        "scheme = \"paoli-schatzmann\"",
        "no scheme `paoli-schatzmann`",
        "\"paoli-schatzmann\"",
        "`paoli-schatzman`",
    );
}

#[test]
fn mistakes_in_expressions() {
    mistake("m*g*y", "m*g*atan2(y)", "atan2", "atan2(y)", "");
    mistake("m*g*y", "m*g*(y", "", "(", "");
    mistake("m*g*y", "m g*y", "without an operator", "m g", "m*g");
    mistake("m*g*y", "m*g*y'", "potential may not depend on velocities", "m*g*y'", "force");
    mistake("gap = \"height\"", "gap = \"height == 0\"", "a constraint is one-sided", "height == 0", "[[joint]]");
    mistake("gap = \"height\"", "gap = \"height >= 0\"", "not a comparison", "height >= 0", "gap = \"x - a\"");
    mistake("gap = \"height\"", "gap = \"y'\"", "gap may not depend on velocities", "y'", "");
    mistake("gap = \"height\"", "gap = \"1 + t\"", "does not depend on any coordinate", "1 + t", "");
    mistake("height = \"y\"", "height = \"y + low\"\nlow = \"height/2\"", "defined by itself", "height", "");
    mistake("m*y'^2/2", "m*y'^3/2", "not quadratic in the velocities", "m*y'^3/2", "");
    mistake("m*y'^2/2", "m*y'^2/2 + abs(y')", "not quadratic in the velocities", "m*y'^2/2 + abs(y')", "");
    mistake("gap = \"height\"", "gap = \"sign(y)\"", "no slope anywhere", "sign(y)", "distance");
    // A string with escapes is marked as a whole: its letters are not those of the file.
    mistake("gap = \"height\"", "gap = \"\\u0079 + zzé\"", "unknown name `zzé`", "\"\\u0079 + zzé\"", "");
    mistake(
        "y = \"-0.1*y'\"",
        "\"\\u007a\" = \"1\"",
        "`z` is not a coordinate",
        "\"\\u007a\"",
        "the coordinates are: y",
    );
    mistake("g = 9.81", "g = \"y*2\"", "the coordinate `y` cannot be used here", "y", "");
    mistake("g = 9.81", "g = \"1/0\"", "division by zero", "0", "");
    mistake("g = 9.81", "g = nan", "finite", "nan", "");
    mistake("g = 9.81", "g = true", "number or an expression", "true", "");
    mistake("m = 1.0", "m = [1.0, 2.0]", "`m` is a family", "m", "");
}

#[test]
fn what_people_try_first() {
    mistake("[run]", "friction = 0.3\n[run]", "unknown key `friction`", "friction", "[[friction]]");
    mistake("gap = \"height\"", "gap = \"height\"\nfriction = 0.3", "friction needs the velocity", "0.3", "slip = ");
    mistake("restitution = 0.8", "restitution = 0.8\nmu = 0.3", "unknown key `mu`", "mu", "[[constraint]]");
    mistake("title = \"Ball\"", "friction = 0.3", "[[friction]] sections", "0.3", "limit = ");
    mistake("[dynamics.force]", "[forces]", "unknown key `forces`", "forces", "[dynamics.force]");
    mistake("title = \"Ball\"", "restitution = 0.3", "unknown key `restitution`", "restitution", "[impact]");
    mistake("title = \"Ball\"", "end = 3", "unknown key `end`", "end", "[run]");
    mistake("end = 3.0", "end = \"20 s\"", "has a unit, `s`", "\"20 s\"", "write  20");
    mistake("m = 1.0", "m = \"1.5 kg\"", "has a unit, `kg`", "\"1.5 kg\"", "write  1.5");
    mistake("-0.1*y'", "-0.1*ydot", "unknown name `ydot`", "ydot", "`y'`");
    mistake("-0.1*y'", "-0.1*y_dot", "unknown name `y_dot`", "y_dot", "`y'`");
    mistake("-0.1*y'", "-0.1*dy", "unknown name `dy`", "dy", "`y'`");
    mistake("-0.1*y'", "-0.1*yddot", "unknown name `yddot`", "yddot", "accelerations");
    mistake("m*g*y", "m*g*np.abs(y)", "`np.abs` is not a name", "np.abs", "write `abs`");
    mistake("m*y'^2/2", "m*y'**2/2", "`**` is not supported", "**", "a^b");
    mistake(
        "[impact]",
        "[parameters]\nz = 1\n[impact]",
        "[parameters] is given twice",
        "parameters",
        "under the first",
    );
    mistake("[[constraint]]", "[constraint]\ngap = \"y\"\n[constraint]", "given twice", "constraint", "[[constraint]]");
}

#[test]
fn mistakes_in_drawings_and_units() {
    // A drawing put before [run], with a mistake in it.
    let draw = |text: &str, message: &str, marked: &str, help: &str| {
        mistake("[run]", &format!("[[draw]]\n{text}\n\n[run]"), message, marked, help);
    };
    draw("point = [\"0\", \"z\"]", "unknown name `z`", "z", "");
    draw("circle = [0, \"hieght\"]\nradius = 0.1", "unknown name `hieght`", "hieght", "`height`");
    draw("circle = [0, \"y\"]\nradius = \"y'\"", "may not depend on velocities", "y'", "");
    draw("point = [0, \"y +\"]", "ends where a value should follow", "", "");
    draw("circel = [0, \"y\"]", "unknown key `circel`", "circel", "`circle`");
    draw("point = [0, \"y\", 1]", "a place is a pair", "[0, \"y\", 1]", "");
    draw("point = \"y\"", "a place is a pair", "\"y\"", "");
    draw("segment = [[0, 0]]", "at least 2 places", "[[0, 0]]", "");
    draw("polygon = [[0, 0], [1, \"y\"]]", "at least 3 places", "[[0, 0], [1, \"y\"]]", "");
    draw("point = [0, \"y\"]\nradius = 1", "a point has no `radius`", "1", "");
    draw("point = [0, \"y\"]\nat = [0, 0]", "a point has no `at`", "[0, 0]", "");
    draw("point = [0, \"y\"]\ncircle = [0, 0]", "two shapes in one", "[0, 0]", "each shape");
    draw("point = [0, \"y\"]\nlook = \"bodi\"", "unknown look `bodi`", "\"bodi\"", "`body`");
    draw("point = [0, \"y\"]\nconstraint = \"flor\"", "no constraint `flor`", "\"flor\"", "`floor`");
    draw("point = [0, \"y[i]\"]\nfor = \"i = 1..2\"", "`y` is not a family", "y[i]", "");
    mistake(
        "[run]",
        "[units]\ntmie = \"s\"\n[run]",
        "`tmie` is neither a quantity, a coordinate, a state nor a parameter",
        "tmie",
        "`time`",
    );
    mistake("[run]", "[units]\ntime = 1\n[run]", "a unit must be a text", "1", "");
    mistake("velocity = 0.0 }", "velocity = 0.0, unit = 2 }", "a unit must be a text", "2", "");
    let text = GOOD.replace("[run]", "[[draw]]\nradius = 1\n\n[run]");
    let error = load(&text).expect_err("nothing to draw");
    assert!(error.error.message.contains("does not say what to draw"), "{}", error.error.message);
    let text = GOOD.replace("[run]", "[[draw]]\ncircle = [0, \"y\"]\n\n[run]");
    assert!(load(&text).expect_err("no radius").error.message.contains("needs a `radius`"));
}

#[test]
fn units_and_shapes_are_understood() {
    let text = GOOD
        .replace("velocity = 0.0 }", "velocity = 0.0, unit = \"m\" }")
        .replace("[run]", "[units]\ntime = \"s\"\ng = \"m/s²\"\n[[draw]]\ncircle = [0, \"y + t\"]\nradius = \"m/2\"\n[[draw]]\nsegment = [[-1, 0], [1, 0]]\nconstraint = \"floor\"\n[run]");
    let (problem, _) = ModelFile::parse("test.toml", &text, Path::new("")).expect("read").problem(&[]).expect("built");
    let model = problem.model();
    assert_eq!((model.units.position(0), model.units.velocity(0).as_str()), ("m", "m/s"));
    assert_eq!((model.units.parameter("g"), model.units.parameter("m")), ("m/s²", ""));
    let mut drawing = saltus::problem::Drawing::new(model).expect("compiled").expect("one");
    assert_eq!(drawing.at(2.0, &[3.0], &[0.0]), [0.0, 5.0, 0.5, -1.0, 0.0, 1.0, 0.0]);
    assert_eq!(model.draw[0].flashes, [0]);
    assert_eq!((model.draw[0].look.name(), model.draw[1].look.name()), ("body", "wall"));
}

#[test]
fn mistakes_in_the_mechanics() {
    mistake("restitution = 0.8", "restitution = 1.5", "outside [0, 1]", "1.5", "energy");
    mistake("restitution = 0.8", "restitution = -0.1", "outside [0, 1]", "-0.1", "");
    mistake("restitution = 0.8", "", "has no restitution", "\"floor\"", "[impact]");
    mistake("position = 1.0", "position = -1.0", "outside the constraint `floor`", "height", "sign");
    mistake(
        "position = 1.0, velocity = 0.0",
        "position = 0.0, velocity = -1.0",
        "not admissible at `floor`",
        "height",
        "",
    );
    mistake("m = 1.0", "m = 0.0", "not positive definite", "m*y'^2/2", "mass");
    mistake("m = 1.0", "m = -1.0", "not positive definite", "m*y'^2/2", "");
    mistake("kinetic = \"m*y'^2/2\"", "mass = [[\"m\", \"0\"]]", "must be 1 × 1", "[[\"m\", \"0\"]]", "");
    mistake("step = 1e-3", "step = 0", "must be a positive number", "0", "");
    mistake("step = 1e-3", "step = -1e-3", "must be a positive number", "-1e-3", "");
    mistake("[run]", "[exact]\ny = \"1 - y\"\n[run]", "function of time and parameters alone", "1 - y", "");
    mistake("end = 3.0", "end = \"3*t\"", "the time `t` cannot be used here", "t", "");
    mistake("gap = \"height\"", "gap = \"(y - 1)^2\"", "no gradient", "(y - 1)^2", "distance");
    mistake("gap = \"height\"", "gap = \"sqrt(y - 2)\"", "not a number at the start", "sqrt(y - 2)", "");
}

#[test]
fn what_counts_as_rounding_depends_on_the_gap_alone() {
    let text = |x: &str, y: &str, v: &str, gap: &str| {
        format!(
            "[coordinates]\nx = {{ position = {x} }}\ny = {{ position = {y}, velocity = {v} }}\n\
             [dynamics]\nkinetic = \"(x'^2 + y'^2)/2\"\n[[constraint]]\ngap = \"{gap}\"\n[impact]\nrestitution = 1\n"
        )
    };
    let outside = load(&text("1e9", "-9e-4", "0", "y")).expect_err("outside");
    assert!(outside.error.message.contains("outside the constraint"));
    load(&text("1e9", "5e-4", "-1", "y")).expect("not yet in contact");
    load(&text("0", "1000000000001", "-1", "y - 1e12")).expect("not yet in contact");
    load(&text("0", "0", "0", "y - sin(pi)")).expect("rounding of the text itself");
}

#[test]
fn an_asymmetric_mass_matrix_names_the_entries() {
    let text = r#"
[coordinates]
a = { position = 0 }
b = { position = 0 }
[dynamics]
mass = [["2", "cos(a)"], ["sin(a + pi/2) + 0.1", "2"]]
"#;
    let error = load(text).expect_err("asymmetric");
    assert!(error.error.message.contains("not symmetric"));
    assert!(error.error.label.contains("row 2, column 1"), "{}", error.error.label);
    // Two texts of one function are fine.
    load(&text.replace(" + 0.1", "")).expect("symmetric");
}

#[test]
fn families_and_their_mistakes() {
    let text = r#"
[parameters]
n = 3
[coordinates]
x = { for = "i = 1..n", position = "i", velocity = 0 }
[dynamics]
kinetic = "sum(i = 1..n, x[i]'^2/2)"
[dynamics.force]
x = { for = "i = 2..n", value = "x[i-1] - x[i]" }
"x[1]" = "-x[1]"
[[constraint]]
name = "pair"
for = "i = 1..n-1"
gap = "x[i+1] - x[i] - 0.1"
[impact]
restitution = 0
[run]
step = 1e-2
end = 1
"#;
    load(text).expect("good");
    for (from, to, message, marked) in [
        ("i = 1..n-1", "i = 1..n", "`x[4]` is outside the family", "x[i+1]"),
        ("\"x[1]\" = \"-x[1]\"", "\"x[4]\" = \"0\"", "`x[4]` is outside", "x[4]"),
        ("x = { for = \"i = 2..n\", value = \"x[i-1] - x[i]\" }", "x = \"0\"", "needs an index or a range", "x"),
        ("n = 3", "n = 2.5", "whole number", "n"),
        ("n = 3", "n = -1", "no coordinates", "x"),
        ("n = 3", "n = 1e9", "too large", "i = 1..n"),
        ("velocity = 0 }", "velocity = [1, 2] }", "2 values for 3 members", "[1, 2]"),
        ("sum(i = 1..n, x[i]'^2/2)", "sum(i = 1..n, x'^2/2)", "`x` is a family", "x'"),
    ] {
        assert!(text.contains(from));
        let error = load(&text.replacen(from, to, 1)).expect_err(to);
        assert_eq!(place(&error, message), marked, "{to}: {:?}", error.error);
    }
}

#[test]
fn overrides_are_checked_too() {
    let file = ModelFile::parse("test.toml", GOOD, Path::new("")).expect("parses");
    let set = |name: &str, value: &str| file.problem(&[(name.to_string(), value.to_string())]).map(|_| ());
    set("g", "1.62").expect("a number");
    set("g", "2*m").expect("an expression of parameters");
    for (name, value, message) in [
        ("gg", "1", "no parameter `gg`"),
        ("g", "2*", "in `g = 2*`: "),
        ("g", "y", "in `g = y`: "),
        ("g", "k", "unknown name `k`"),
        ("g[1]", "1", "no parameter `g[1]`"),
        ("m", "0", "not positive definite"),
    ] {
        let error = set(name, value).expect_err(value);
        assert!(error.error.message.contains(message), "{name}={value}: {}", error.error.message);
    }
}

#[test]
fn sampled_inputs_and_their_mistakes() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("written");
    write("good.csv", "time,value\n# a comment\n0,0\n1; 2\n 2\t-1\n");
    write("columns.csv", "0,0\n1,2,3\n");
    write("order.csv", "0,0\n2,1\n1,2\n");
    write("words.csv", "0,0\n1,two\n");
    write("nan.csv", "0,0\n1,nan\n");
    write("short.csv", "0,0\n");
    let with = |file: &str| {
        let text = GOOD.replace("[coordinates]", &format!("[inputs]\nload = \"{file}\"\n[coordinates]"));
        ModelFile::parse("test.toml", &text.replace("-0.1*y'", "load(t)"), dir.path())
            .and_then(|m| m.problem(&[]).map(|(p, _)| p))
    };
    let problem = with("good.csv").expect("good");
    let mut dynamics = problem.dynamics();
    for (t, load) in [(0.5, 1.0), (1.5, 0.5), (5.0, -1.0)] {
        dynamics.evaluate(t, &[1.0], &[0.0]);
        assert!((dynamics.g[0] - (load - 9.81)).abs() < 1e-14);
    }
    for (file, message, line) in [
        ("columns.csv", "two numbers", Some(2)),
        ("order.csv", "must increase", Some(3)),
        ("words.csv", "two numbers", Some(2)),
        ("nan.csv", "not finite", Some(2)),
        ("short.csv", "cannot be used", None),
        ("missing.csv", "no such file", None),
    ] {
        let error = with(file).expect_err(file);
        assert!(error.error.message.contains(message), "{file}: {}", error.error.message);
        match line {
            Some(line) => {
                assert_eq!((error.name.ends_with(file), error.line_column().map(|p| p.0)), (true, Some(line)))
            }
            // The record as a whole: the place is where the model names it.
            None => assert!(error.text[error.error.span.clone().expect("a place")].contains(file)),
        }
    }
}

#[test]
fn files_that_are_no_models() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model.toml");
    for (bytes, message) in
        [(&b""[..], "empty"), (b"\x7fELF\0\0", "zero byte"), (b"title = \"\xff\"", "UTF-8"), (b"= 3", "TOML")]
    {
        std::fs::write(&path, bytes).expect("written");
        let error = ModelFile::open(&path).expect_err(message);
        assert!(error.error.message.contains(message), "{}", error.error.message);
    }
    assert!(ModelFile::open(dir.path()).expect_err("a directory").error.message.contains("is a directory"));
    assert!(ModelFile::open(&dir.path().join("none")).expect_err("none").error.message.contains("no such file"));
    let big = std::fs::File::create(&path).and_then(|f| f.set_len(100 << 20));
    big.expect("written");
    assert!(ModelFile::open(&path).expect_err("100 MB").error.message.contains("larger than"));
}

#[test]
fn lines_and_columns_survive_windows_line_ends_and_marks() {
    let text = format!("\u{feff}{}", GOOD.replace('\n', "\r\n").replace("m*g*y", "m*G*y"));
    let error = load(&text).expect_err("unknown name");
    let line = GOOD.lines().position(|l| l.contains("m*g*y")).expect("there") + 1;
    assert_eq!(error.line_column(), Some((line, "potential = \"m*".len() + 1)));
}

proptest! {
    /// Whatever is written, the answer is a model or an error, never a panic.
    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        let _ = load(&text);
    }

    #[test]
    fn any_damage_to_a_model_is_answered(at in 0usize..400, cut in 0usize..30, put in "\\PC{0,6}") {
        let chars: Vec<char> = GOOD.chars().collect();
        let at = at.min(chars.len());
        let end = (at + cut).min(chars.len());
        let text: String = chars[..at].iter().chain(put.chars().collect::<Vec<_>>().iter()).chain(&chars[end..]).collect();
        if let Err(error) = load(&text) {
            prop_assert!(!error.error.message.is_empty());
            if let Some(span) = error.error.span {
                prop_assert!(span.start <= span.end && span.start <= error.text.len());
            }
        }
    }
}
