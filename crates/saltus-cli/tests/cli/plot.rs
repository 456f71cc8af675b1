//! Figures, formats and drawings in the terminal, as a person makes them.

use crate::program::{Answer, Scratch};
use roxmltree::{Document, Node};
use std::fs;

/// A run with its files in `run/`.
fn ran(args: &[&str]) -> Scratch {
    let here = Scratch::new();
    run_in(&here, args);
    here
}

fn run_in(here: &Scratch, args: &[&str]) {
    let output = here.saltus(&[&["run"], args, &["--out", "run"]].concat());
    assert!(output.succeeded(), "{}", output.stderr);
}

fn plot(here: &Scratch, what: &str, file: &str, more: &[&str]) -> Vec<u8> {
    let output = here.saltus(&[&["plot", "run", "--what", what, "--out", file], more].concat());
    assert!(output.succeeded(), "{what}: {}", output.stderr);
    fs::read(here.join(file)).expect("the figure")
}

/// A figure as SVG.
fn svg(here: &Scratch, what: &str, more: &[&str]) -> String {
    String::from_utf8(plot(here, what, "figure.svg", more)).expect("UTF-8")
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
fn impacts(here: &Scratch) -> Vec<[f64; 4]> {
    let table = here.read("run/impacts.csv");
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
    let here = ran(&["ball-gravity", "--end", "5"]);
    let svg = svg(&here, "velocities", &[]);
    let doc = Document::parse(&svg).expect("XML");
    let (jumps, impacts) = (of_class(&doc, "jump"), impacts(&here));
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
    let here = ran(&["ball-gravity"]);
    let svg = svg(&here, "reactions", &["--columns", "two"]);
    let doc = Document::parse(&svg).expect("XML");
    let (stems, impacts) = (of_class(&doc, "stem"), impacts(&here));
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
        let here = ran(&[model]);
        for what in ["positions", "velocities", "phase", "gaps", "reactions", "energy", "impacts", "spectrum"] {
            let svg = svg(&here, what, &[]);
            let doc = Document::parse(&svg).unwrap_or_else(|e| panic!("{model} {what}: {e}"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{model} {what}");
            assert!(!of_class(&doc, "panel").is_empty(), "{model} {what}");
            let pdf = plot(&here, what, "f.pdf", &[]);
            assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 20_000, "{model} {what}: {}", pdf.len());
        }
        let png = plot(&here, "positions", "f.png", &[]);
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 5000, "{model}: {}", png.len());
        // 85 mm at 300 dots an inch, and at half of that.
        let width = |png: &[u8]| u32::from_be_bytes([png[16], png[17], png[18], png[19]]);
        assert_eq!(width(&png), 1004);
        assert_eq!(width(&plot(&here, "positions", "f.png", &["--dpi", "150"])), 502);
    }
}

#[test]
fn a_window_and_a_choice() {
    let here = ran(&["hard-rods"]);
    let velocities = svg(&here, "velocities", &["--coordinate", "x[2]", "--from", "0.5", "--to", "1.5"]);
    let doc = Document::parse(&velocities).expect("XML");
    let layers = of_class(&doc, "layer");
    assert_eq!(layers.iter().map(|l| l.attribute("data-name")).collect::<Vec<_>>(), [Some("x[2]")]);
    assert!(of_class(&doc, "jump").iter().all(|j| (0.5..=1.5).contains(&data(j, "data-t"))));
    let svg = svg(&here, "gaps", &["--constraint", "pair[2]"]);
    assert!(svg.contains("data-name=\"pair[2]\"") && !svg.contains("data-name=\"pair[3]\""));
}

#[test]
fn mistakes_are_answered() {
    let here = ran(&["ball-gravity"]);
    let answer = |args: &[&str]| {
        let output = here.saltus(args);
        assert_eq!(output.code, Some(1), "{args:?}");
        // Long sentences are broken at the terminal's width.
        output.stderr.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ")
    };
    let told = answer(&["plot", "run", "--what", "velocity", "--out", "fig.svg"]);
    assert!(told.contains("no figure called `velocity`") && told.contains("velocities"), "{told}");
    assert!(answer(&["plot", "run", "--out", "fig.jpg"]).contains("does not end in .svg, .pdf or .png"));
    assert!(answer(&["plot", "run", "--coordinate", "z", "--out", "fig.svg"]).contains("no coordinate `z`"));
    assert!(answer(&["plot", "run", "--from", "7", "--out", "fig.svg"]).contains("nothing between"));
    assert!(answer(&["plot", "nowhere", "--out", "fig.svg"]).contains("there is no directory"));
    assert!(answer(&["plot", "run/run.json", "--out", "fig.svg"]).contains("is a file"));
    assert!(answer(&["plot", ".", "--out", "fig.svg"]).contains("no run.json"));
    assert!(answer(&["plot", "run", "--out", "missing/fig.svg"]).contains("there is no directory"));
    fs::create_dir(here.join("dir.svg")).expect("made");
    assert!(answer(&["plot", "run", "--out", "dir.svg"]).contains("cannot write"));
    here.write("kept.svg", "kept");
    let mut rights = fs::metadata(here.join("kept.svg")).expect("there").permissions();
    rights.set_readonly(true);
    fs::set_permissions(here.join("kept.svg"), rights).expect("set");
    assert!(answer(&["plot", "run", "--out", "kept.svg"]).contains("read-only"));
    assert_eq!(here.read("kept.svg"), "kept");
    // A file cut short, and one of another run.
    let whole = fs::read(here.join("run/trajectory.npz")).expect("there");
    for length in [0, 10, whole.len() / 2, whole.len() - 5] {
        here.write("run/trajectory.npz", &whole[..length]);
        assert!(answer(&["plot", "run", "--out", "fig.svg"]).contains("damaged or incomplete"), "{length}");
    }
    fs::remove_file(here.join("run/trajectory.npz")).expect("removed");
    assert!(answer(&["plot", "run", "--out", "fig.svg"]).contains("--format npz"));
    let other = ran(&["hard-rods"]);
    fs::copy(other.join("run/trajectory.npz"), here.join("run/trajectory.npz")).expect("copied");
    assert!(answer(&["plot", "run", "--out", "fig.svg"]).contains("does not belong"));
    here.write("run/run.json", "{}");
    assert!(answer(&["plot", "run", "--out", "fig.svg"]).contains("was not written by"));
    assert!(!here.join("fig.svg").exists());
}

#[test]
fn options_that_choose_nothing_are_mistakes() {
    let here = ran(&["ball-gravity"]);
    let family = |args: &[&str]| assert!(here.saltus(args).succeeded(), "{args:?}");
    family(&["sweep", "oscillator", "--over", "w=0.9,1.1", "--periods", "3", "--out", "sweep"]);
    let short = ["--start", "x=-1:0.9:4", "--start", "x'=-1:1:4", "--periods", "64"];
    family(&[&["basins", "oscillator"], &short[..], &["--out", "basins"]].concat());
    let refused = |args: &[&str], word: &str| {
        let answer = here.saltus(args);
        let said = answer.stderr.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
        assert!(answer.code == Some(1) && said.contains(word), "{args:?}: {said}");
        assert!(!here.join("f.svg").exists(), "{args:?}");
    };
    refused(&["plot", "sweep", "--coordinate", "x", "--out", "f.svg"], "choose a column with --what");
    refused(&["plot", "basins", "--constraint", "stop", "--out", "f.svg"], "--constraint does not choose anything");
    refused(&["plot", "basins", "--from", "0", "--out", "f.svg"], "--from and --to do not cut maps");
    refused(&["plot", "run", "--what", "gaps", "--coordinate", "y", "--out", "f.svg"], "choose with --constraint");
    refused(&["plot", "run", "--constraint", "ground", "--out", "f.svg"], "choose with --coordinate");
    refused(&["plot", "run", "--what", "energy", "--coordinate", "y", "--out", "f.svg"], "of the whole system");
    refused(
        &[&["basins", "oscillator"], &short[..], &["--end", "9", "--out", "b"]].concat(),
        "the period is known here",
    );
    refused(&["lyapunov", "oscillator", "--out", "f.svg"], "not as .svg");
}

#[test]
fn text_of_a_model_is_text_in_a_figure() {
    let here = Scratch::new();
    let odd = "title = \"<script>alert('&')</script>\"\n[coordinates]\ny = { position = 1, velocity = -1 }\n[dynamics]\n\
               kinetic = \"y'^2/2\"\n[[constraint]]\nname = \"a <b> & \\\"c\\\", d\"\ngap = \"y\"\n[[constraint]]\n\
               name = \"top\"\ngap = \"9 - y\"\n[impact]\nrestitution = 1\n[run]\nend = 4\n";
    here.write("odd.toml", odd);
    run_in(&here, &["odd.toml"]);
    for what in ["gaps", "reactions", "impacts"] {
        let svg = svg(&here, what, &[]);
        let doc = Document::parse(&svg).expect("XML");
        assert!(!doc.descendants().any(|n| n.has_tag_name("script")));
        assert!(doc.descendants().any(|n| n.attribute("data-name") == Some("a <b> & \"c\", d")), "{what}");
    }
}

/// A run by events stored at five instants: its phase portrait is a circle, not a polygon.
#[test]
fn phase_portraits_are_drawn_from_the_motion_itself() {
    let here = Scratch::new();
    let model = "title = \"spring\"\n[coordinates]\nx = { position = 1, velocity = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
                 potential = \"x^2/2\"\n[run]\nend = 20\nstep = 5\n";
    here.write("spring.toml", model);
    run_in(&here, &["spring.toml"]);
    let svg = svg(&here, "phase", &[]);
    let doc = Document::parse(&svg).expect("XML");
    let longest = doc.descendants().filter_map(|n| n.attribute("d")).max_by_key(|d| d.len()).expect("a path");
    let places: Vec<f64> = longest.split(['M', 'L', ' ']).filter_map(|x| x.parse().ok()).collect();
    let points: Vec<(f64, f64)> = places.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    let bounds = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let all = || points.iter().map(of);
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
    };
    let (x, y) = (bounds(&|p| p.0), bounds(&|p| p.1));
    // The middle of every straight line, in units of the half axes of the ellipse.
    for pair in points.windows(2) {
        let along = |a: f64, b: f64, (low, high): (f64, f64)| (a + b - low - high) / (high - low);
        let far = along(pair[0].0, pair[1].0, x).hypot(along(pair[0].1, pair[1].1, y));
        assert!((far - 1.0).abs() < 0.005, "{pair:?}: {far}");
    }
}

#[test]
fn formats_on_request() {
    let here = ran(&["ball-gravity", "--format", "npz,mat"]);
    let exists = |name: &str| here.join("run").join(name).exists();
    assert!(exists("trajectory.mat") && exists("trajectory.npz"));
    assert!(!exists("trajectory.csv") && exists("impacts.csv"));
    let output = here.saltus(&["run", "ball-gravity", "--out", "run", "--format", "npy"]);
    assert!(!output.succeeded() && output.stderr.contains("no format `npy`"));
}

#[test]
fn a_drawing_in_the_terminal() {
    let drawn = |more: &[&str], env: &[(&str, &str)]| {
        let here = Scratch::new();
        let mut command = here.command(&["run", "ball-gravity", "--plot"]);
        command.args(more).env_remove("LC_ALL").env_remove("LC_CTYPE");
        command.env("LANG", "C.UTF-8").envs(env.iter().copied());
        let output = command.output().expect("it starts");
        Answer::new(&command, output).stdout
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

#[test]
fn forces_of_joints_and_friction() {
    let here = ran(&["belt"]);
    let friction = svg(&here, "friction", &[]);
    let doc = Document::parse(&friction).expect("XML");
    assert!(said(&doc).iter().any(|text| text.contains("friction force")), "{:?}", said(&doc));
    // Wherever it begins to stick or to slip the force jumps: both limits are marked.
    let changes =
        here.read("run/timeline.csv").lines().filter(|l| l.starts_with("stick") || l.starts_with("slip")).count();
    let jumps = of_class(&doc, "jump").len();
    assert!(jumps + 1 >= changes && jumps > 5, "{jumps} {changes}");
    // So they are in a part of the run.
    let part = svg(&here, "friction", &["--from", "1", "--to", "4"]);
    let doc = Document::parse(&part).expect("XML");
    assert_eq!(of_class(&doc, "jump").len(), 2);
    let none = here.saltus(&["plot", "run", "--what", "joints", "--out", "f.svg"]);
    assert!(none.stderr.contains("no joints"), "{none:?}");
    let here = ran(&["four-bar"]);
    let joints = svg(&here, "joints", &["--constraint", "chain[2]"]);
    let doc = Document::parse(&joints).expect("XML");
    assert_eq!(of_class(&doc, "panel").len(), 2);
    assert!(of_class(&doc, "layer").iter().all(|l| l.attribute("data-name") == Some("chain[2]")));
    let here = ran(&["belt", "--scheme", "moreau-jean"]);
    let none = here.saltus(&["plot", "run", "--what", "friction", "--out", "f.svg"]);
    assert!(none.stderr.contains("--scheme auto"), "{none:?}");
}
