//! Figures, formats and drawings in the terminal, as a person makes them.

use assert_cmd::Command;
use roxmltree::{Document, Node};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

fn saltus(args: &[&str]) -> Output {
    Command::cargo_bin("saltus").expect("built").args(args).output().expect("ran")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A run in a directory of its own.
fn ran(args: &[&str]) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("run");
    let mut all = vec!["run"];
    all.extend(args);
    all.extend(["--out", dir.to_str().expect("UTF-8")]);
    let output = saltus(&all);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (home, dir)
}

fn plot(dir: &Path, what: &str, file: &str, more: &[&str]) -> Vec<u8> {
    let path = dir.with_file_name(file);
    let mut all = vec!["plot", dir.to_str().expect("UTF-8"), "--what", what, "--out", path.to_str().expect("UTF-8")];
    all.extend(more);
    let output = saltus(&all);
    assert!(output.status.success(), "{what}: {}", text(&output.stderr));
    fs::read(path).expect("the figure")
}

fn of_class<'a>(doc: &'a Document, class: &str) -> Vec<Node<'a, 'a>> {
    doc.descendants().filter(|n| n.attribute("class") == Some(class)).collect()
}

fn data(node: &Node, name: &str) -> f64 {
    node.attribute(name).and_then(|v| v.parse().ok()).unwrap_or_else(|| panic!("{name} in {node:?}"))
}

/// Everything a figure says in letters.
fn said(doc: &Document) -> Vec<String> {
    let letters = |n: Node| n.descendants().filter_map(|t| t.is_text().then(|| t.text()).flatten()).collect::<String>();
    doc.descendants().filter(|n| n.has_tag_name("text")).map(letters).collect()
}

/// The impacts of `impacts.csv`: time, velocity before, velocity after, impulse of the one coordinate and constraint.
fn impacts(dir: &Path) -> Vec<[f64; 4]> {
    let table = fs::read_to_string(dir.join("impacts.csv")).expect("impacts.csv");
    let header: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    let at = |name: &str| header.iter().position(|h| *h == name).expect("a column");
    let columns = [at("t"), at("v_before_y"), at("v_after_y"), at("impulse")];
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        columns.map(|c| fields[c].parse().expect("a number"))
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn velocities_have_a_gap_at_every_impact_with_both_limits() {
    let (_home, dir) = ran(&["ball-gravity", "--end", "5"]);
    let svg = text(&plot(&dir, "velocities", "v.svg", &[]));
    let doc = Document::parse(&svg).expect("XML");
    let (jumps, impacts) = (of_class(&doc, "jump"), impacts(&dir));
    assert_eq!(jumps.len(), impacts.len());
    for (k, (jump, [t, before, after, _])) in jumps.iter().zip(&impacts).enumerate() {
        assert_eq!([data(jump, "data-t"), data(jump, "data-before")], [*t, *before]);
        // The last impact followed of an accumulation goes over into contact: the velocity after it is that of the contact.
        let expected = if k + 1 == impacts.len() { 0.0 } else { *after };
        assert_eq!(data(jump, "data-after"), expected);
        // Both marks stand at the same instant, the one before it as a ring.
        let marks: Vec<Node> = jump.children().filter(|n| n.has_tag_name("circle")).collect();
        assert_eq!(marks.len(), 2);
        assert_eq!(marks[0].attribute("cx"), marks[1].attribute("cx"));
        assert_eq!(marks[0].attribute("fill"), Some("#ffffff"));
    }
    // One line more than jumps: none is drawn across one.
    let layer = of_class(&doc, "layer")[0];
    let lines = layer.children().filter(|n| n.has_tag_name("path")).count();
    assert_eq!(lines, impacts.len() + 1);
    let said = said(&doc);
    for label in ["0", "5", "−4", "−2", "2"] {
        assert!(said.iter().any(|s| s == label), "{label} in {said:?}");
    }
    assert!(said.iter().any(|s| s.starts_with("y′")) && said.iter().any(|s| s.starts_with('t')), "{said:?}");
    assert!(svg.contains("width=\"85mm\""));
}

#[test]
fn impulses_are_stems_and_reactions_areas() {
    let (_home, dir) = ran(&["ball-gravity"]);
    let svg = text(&plot(&dir, "reactions", "r.svg", &["--columns", "two"]));
    let doc = Document::parse(&svg).expect("XML");
    let (stems, impacts) = (of_class(&doc, "stem"), impacts(&dir));
    assert_eq!(stems.len(), impacts.len());
    for (stem, [t, _, _, impulse]) in stems.iter().zip(&impacts) {
        assert_eq!([data(stem, "data-t"), data(stem, "data-value")], [*t, *impulse]);
    }
    let panels = of_class(&doc, "panel");
    assert_eq!(panels.len(), 2);
    assert!(panels[0].descendants().any(|n| n.attribute("fill-opacity").is_some()), "an area");
    assert!(svg.contains("width=\"180mm\""));
}

#[test]
fn every_figure_of_many_models_in_every_format() {
    for model in ["ball-table", "hard-rods", "rocking-block"] {
        let (_home, dir) = ran(&[model]);
        for what in ["positions", "velocities", "phase", "gaps", "reactions", "energy", "impacts", "spectrum"] {
            let svg = text(&plot(&dir, what, "f.svg", &[]));
            let doc = Document::parse(&svg).unwrap_or_else(|e| panic!("{model} {what}: {e}"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{model} {what}");
            assert!(!of_class(&doc, "panel").is_empty(), "{model} {what}");
            let pdf = plot(&dir, what, "f.pdf", &[]);
            assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 20_000, "{model} {what}: {}", pdf.len());
        }
        let png = plot(&dir, "positions", "f.png", &[]);
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 5000, "{model}: {}", png.len());
        // 85 mm at 300 dots an inch.
        assert_eq!(u32::from_be_bytes([png[16], png[17], png[18], png[19]]), 1004);
    }
}

#[test]
fn a_window_and_a_choice() {
    let (_home, dir) = ran(&["hard-rods"]);
    let svg = text(&plot(&dir, "velocities", "w.svg", &["--coordinate", "x[2]", "--from", "0.5", "--to", "1.5"]));
    let doc = Document::parse(&svg).expect("XML");
    let layers = of_class(&doc, "layer");
    assert_eq!(layers.iter().map(|l| l.attribute("data-name")).collect::<Vec<_>>(), [Some("x[2]")]);
    assert!(of_class(&doc, "jump").iter().all(|j| (0.5..=1.5).contains(&data(j, "data-t"))));
}

#[test]
fn mistakes_are_answered() {
    let (home, dir) = ran(&["ball-gravity"]);
    let (dir, home) = (dir.to_str().expect("UTF-8"), home.path());
    let file = |name: &str| home.join(name).to_str().expect("UTF-8").to_string();
    let answer = |args: &[&str]| {
        let output = saltus(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        // Long sentences are broken at the terminal's width.
        text(&output.stderr).split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ")
    };
    let fig = file("fig.svg");
    let told = answer(&["plot", dir, "--what", "velocity", "--out", &fig]);
    assert!(told.contains("no figure called `velocity`") && told.contains("velocities"), "{told}");
    assert!(answer(&["plot", dir, "--out", &file("fig.jpg")]).contains("does not end in .svg, .pdf or .png"));
    assert!(answer(&["plot", dir, "--coordinate", "z", "--out", &fig]).contains("no coordinate `z`"));
    assert!(answer(&["plot", dir, "--from", "7", "--out", &fig]).contains("nothing between"));
    assert!(answer(&["plot", &file("nowhere"), "--out", &fig]).contains("there is no directory"));
    assert!(answer(&["plot", &file("run/run.json"), "--out", &fig]).contains("is a file"));
    assert!(answer(&["plot", home.to_str().expect("UTF-8"), "--out", &fig]).contains("no run.json"));
    assert!(answer(&["plot", dir, "--out", &file("missing/fig.svg")]).contains("there is no directory"));
    fs::create_dir(file("dir.svg")).expect("made");
    assert!(answer(&["plot", dir, "--out", &file("dir.svg")]).contains("cannot write"));
    fs::write(file("kept.svg"), "kept").expect("written");
    let mut rights = fs::metadata(file("kept.svg")).expect("there").permissions();
    rights.set_readonly(true);
    fs::set_permissions(file("kept.svg"), rights).expect("set");
    assert!(answer(&["plot", dir, "--out", &file("kept.svg")]).contains("read-only"));
    assert_eq!(fs::read_to_string(file("kept.svg")).expect("there"), "kept");
    // A file cut short, and one of another run.
    let npz = file("run/trajectory.npz");
    let whole = fs::read(&npz).expect("there");
    for length in [0, 10, whole.len() / 2, whole.len() - 5] {
        fs::write(&npz, &whole[..length]).expect("written");
        assert!(answer(&["plot", dir, "--out", &fig]).contains("damaged or incomplete"), "{length}");
    }
    fs::remove_file(&npz).expect("removed");
    assert!(answer(&["plot", dir, "--out", &fig]).contains("--format npz"));
    let (_other_home, other) = ran(&["hard-rods"]);
    fs::copy(other.join("trajectory.npz"), &npz).expect("copied");
    assert!(answer(&["plot", dir, "--out", &fig]).contains("does not belong"));
    fs::write(file("run/run.json"), "{}").expect("written");
    assert!(answer(&["plot", dir, "--out", &fig]).contains("was not written by"));
    assert!(!Path::new(&fig).exists());
}

#[test]
fn text_of_a_model_is_text_in_a_figure() {
    let home = tempfile::tempdir().expect("a directory");
    let model = home.path().join("odd.toml");
    let odd = "title = \"<script>alert('&')</script>\"\n[coordinates]\ny = { position = 1, velocity = -1 }\n[dynamics]\n\
               kinetic = \"y'^2/2\"\n[[constraint]]\nname = \"a <b> & \\\"c\\\", d\"\ngap = \"y\"\n[[constraint]]\n\
               name = \"top\"\ngap = \"9 - y\"\n[impact]\nrestitution = 1\n[run]\nend = 4\n";
    fs::write(&model, odd).expect("written");
    let (_run_home, dir) = ran(&[model.to_str().expect("UTF-8")]);
    for what in ["gaps", "reactions", "impacts"] {
        let svg = text(&plot(&dir, what, "odd.svg", &[]));
        let doc = Document::parse(&svg).expect("XML");
        assert!(!doc.descendants().any(|n| n.has_tag_name("script")));
        assert!(doc.descendants().any(|n| n.attribute("data-name") == Some("a <b> & \"c\", d")), "{what}");
    }
}

#[test]
fn formats_on_request() {
    let (_home, dir) = ran(&["ball-gravity", "--format", "npz,mat"]);
    assert!(dir.join("trajectory.mat").exists() && dir.join("trajectory.npz").exists());
    assert!(!dir.join("trajectory.csv").exists() && dir.join("impacts.csv").exists());
    let output = saltus(&["run", "ball-gravity", "--out", dir.to_str().expect("UTF-8"), "--format", "npy"]);
    assert!(!output.status.success() && text(&output.stderr).contains("no format `npy`"));
}

#[test]
fn a_drawing_in_the_terminal() {
    let drawn = |more: &[&str], env: &[(&str, &str)]| {
        let mut command = Command::cargo_bin("saltus").expect("built");
        command.args(["run", "ball-gravity", "--plot"]).args(more).env_remove("LC_ALL").env_remove("LC_CTYPE");
        text(&command.env("LANG", "C.UTF-8").envs(env.iter().copied()).output().expect("ran").stdout)
    };
    let fine = drawn(&[], &[]);
    assert!(
        fine.contains('▴') && fine.contains('⠉') | fine.contains('⡀') && fine.contains("t, ▴ 52 impacts"),
        "{fine}"
    );
    assert!(!fine.contains('\u{1b}'), "colours only on a terminal");
    assert!(fine.lines().all(|l| l.chars().count() <= 120));
    for plain in [drawn(&["--ascii"], &[]), drawn(&[], &[("TERM", "dumb")]), drawn(&[], &[("LANG", "C")])] {
        let sketch = &plain[plain.find("\n\n      ").unwrap_or(0)..];
        assert!(plain.contains("t, ^ 52 impacts") && !plain.contains('▴'), "{sketch}");
    }
}
