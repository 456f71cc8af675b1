//! What pictures show: where dots and cells lie, and what legends say.

use crate::program::Scratch;
use roxmltree::{Document, Node};

fn of_class<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|n| n.attribute("class") == Some(class)).collect()
}

/// Where the dots of a panel are on the sheet.
fn dots(panel: Node) -> Vec<(f64, f64)> {
    let number = |n: &Node, name: &str| n.attribute(name).and_then(|v| v.parse::<f64>().ok()).expect("a number");
    let circles = of_class(panel, "dots").into_iter().flat_map(|g| g.children().filter(|n| n.has_tag_name("circle")));
    circles.map(|c| (number(&c, "cx"), number(&c, "cy"))).collect()
}

/// Everything a figure says in letters.
fn letters(node: Node) -> Vec<String> {
    let text = |n: Node| n.descendants().filter_map(|t| t.is_text().then(|| t.text()).flatten()).collect::<String>();
    node.descendants().filter(|n| n.has_tag_name("text")).map(text).collect()
}

fn made(here: &Scratch, args: &[&str]) {
    let answer = here.saltus(args);
    assert!(answer.succeeded(), "{answer:?}");
}

/// Impacts exist from A = 0.3688 on: their dots lie above the places of these trajectories in the band below.
#[test]
fn panels_share_the_axis_of_the_parameter() {
    let here = Scratch::new();
    let family = ["--set", "w=0.8", "--over", "A=0.3:0.42:13", "--at", "impacts", "--transient", "150"];
    made(&here, &[&["bifurcation", "oscillator"][..], &family, &["--out", "d"]].concat());
    let svg = here.read("d/bifurcation.svg");
    let doc = Document::parse(&svg).expect("XML");
    let panels = of_class(doc.root(), "panel");
    let (above, mut below) = (dots(panels[0]), dots(panels[1]));
    below.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(below.len(), 13);
    let first = above.iter().map(|d| d.0).fold(f64::INFINITY, f64::min);
    assert!((first - below[7].0).abs() < 0.02, "{first} {below:?}");
    let last = above.iter().map(|d| d.0).fold(f64::NEG_INFINITY, f64::max);
    assert!((last - below[12].0).abs() < 0.02, "{last} {below:?}");
}

#[test]
fn maps_have_logarithmic_axes_and_cells_around_listed_values() {
    let here = Scratch::new();
    let family = ["--over", "e=0.9,0.3,0.5", "--over", "A=log:0.01:1:3", "--map", "max(x)", "--transient", "20"];
    made(&here, &[&["bifurcation", "oscillator"][..], &family, &["--periods", "10", "--out", "m"]].concat());
    let svg = here.read("m/map.svg");
    let doc = Document::parse(&svg).expect("XML");
    let said = letters(doc.root());
    for decade in ["10−2", "10−1", "100"] {
        assert!(said.iter().any(|s| s == decade), "{said:?}");
    }
}

#[test]
fn a_section_of_a_periodic_motion_is_a_dot() {
    let here = Scratch::new();
    made(&here, &["section", "oscillator", "--set", "A=0.2", "--transient", "300", "--periods", "50", "--out", "s"]);
    let svg = here.read("s/section.svg");
    let doc = Document::parse(&svg).expect("XML");
    let said = letters(doc.root());
    assert!(said.iter().all(|s| s.chars().count() < 8), "{said:?}");
    assert!(here.read("s/section.html").contains("All points coincide."));
}

/// Groups of a sweep with two axes, both ways; periods of what has one; chatter is not a number of impacts.
#[test]
fn sweeps_are_drawn_with_what_distinguishes_their_dots() {
    let here = Scratch::new();
    let family = ["--over", "A=0.36:0.4:5", "--over", "e=0.5,0.7", "--carry", "both", "--set", "w=0.8", "--settled"];
    let times = ["--transient", "60", "--periods", "20", "--stat", "x", "--out", "s"];
    made(&here, &[&["sweep", "oscillator"][..], &family, &times].concat());
    made(&here, &["plot", "s", "--what", "max(x)", "--out", "f.svg"]);
    let svg = here.read("f.svg");
    let doc = Document::parse(&svg).expect("XML");
    let layers = of_class(doc.root(), "layer");
    let names: Vec<&str> = layers.iter().filter_map(|l| l.attribute("data-name")).collect();
    assert_eq!(names, ["up, e = 0.5", "up, e = 0.7", "down, e = 0.5", "down, e = 0.7"]);
    let looks = |l: &Node| {
        let circle = l.descendants().find(|n| n.has_tag_name("circle")).expect("a dot");
        (circle.attribute("fill").map(str::to_string), circle.attribute("stroke").map(str::to_string))
    };
    let all: std::collections::HashSet<_> = layers.iter().map(looks).collect();
    assert_eq!(all.len(), 4, "{all:?}");
    made(&here, &["plot", "s", "--what", "impacts_per_period", "--out", "f.svg"]);
    let svg = here.read("f.svg");
    assert!(letters(Document::parse(&svg).expect("XML").root()).iter().any(|s| s == "impacts per period"));
}

#[test]
fn chatter_and_what_has_no_period_are_not_numbers() {
    let here = Scratch::new();
    // Below the acceleration at which it takes off the ball rests; above, it chatters once a period.
    let family = ["--over", "G=0.9:1.2:4", "--settled", "--transient", "60", "--periods", "40"];
    made(&here, &[&["sweep", "ball-table"][..], &family, &["--set", "e=0.3", "--out", "s"]].concat());
    let told = here.saltus(&["plot", "s", "--what", "impacts_per_period", "--out", "f.svg"]);
    assert!(told.succeeded() && told.stdout.contains("at ∞: chatter"), "{told:?}");
    let svg = here.read("f.svg");
    assert!(letters(Document::parse(&svg).expect("XML").root()).iter().any(|s| s == "∞"), "{svg}");
    // With the stop far away it settles; with the stop where it would rest it does not.
    let family = ["--over", "s=0,5", "--set", "w=2.8", "--set", "c=0.3", "--start", "x=-0.3", "--settled"];
    let times = ["--transient", "60", "--periods", "40", "--out", "n"];
    made(&here, &[&["sweep", "oscillator"][..], &family, &times].concat());
    let table = here.read("n/points.csv");
    let told = here.saltus(&["plot", "n", "--what", "period", "--out", "p.svg"]);
    assert!(
        told.succeeded() && told.stdout.contains("1 of 2 motions have no period and are left out"),
        "{told:?}\n{table}"
    );
    let svg = here.read("p.svg");
    let doc = Document::parse(&svg).expect("XML");
    let periodic = table.lines().filter(|l| l.contains("periodic")).count();
    assert_eq!((dots(of_class(doc.root(), "panel")[0]).len(), periodic), (1, 1), "{table}");
    let none = here.saltus(&["plot", "n", "--what", "period", "--to", "1", "--out", "p.svg"]);
    assert!(!none.succeeded() && none.stderr.contains("no points to draw"), "{none:?}");
}

/// The unit of gaps that grow as a coordinate does is its unit.
#[test]
fn the_speed_of_impacts_has_its_unit() {
    let here = Scratch::new();
    let model = |gap: &str| {
        format!(
            "[coordinates]\nx = {{ position = 0.5, velocity = 0.0, unit = \"mm\" }}\n[dynamics]\nkinetic = \"x'^2/2\"\n\
             [dynamics.force]\nx = \"-0.2*x' - x + A*cos(t)\"\n[parameters]\nA = 2.0\n[units]\ntime = \"s\"\n\
             [[constraint]]\nname = \"wall\"\ngap = \"{gap}\"\nrestitution = 0.8\n"
        )
    };
    for (gap, word) in [("1 - x", "impact speed (mm/s)"), ("1 - x^3", "impact speed")] {
        here.write("m.toml", model(gap));
        let out = format!("d{}", gap.len());
        let family = ["--over", "A=2:2.2:3", "--at", "impacts", "--transient", "20", "--periods", "10"];
        made(&here, &[&["bifurcation", "m.toml"][..], &family, &["--out", &out]].concat());
        let svg = here.read(&format!("{out}/bifurcation.svg"));
        let said = letters(Document::parse(&svg).expect("XML").root());
        assert!(said.iter().any(|s| s == word), "{gap}: {said:?}");
    }
}

#[test]
fn the_time_that_is_told_has_that_of_the_exponents() {
    let here = Scratch::new();
    let family = ["--over", "w=0.7:0.9:6", "--over", "A=0.3:0.5:5", "--transient", "80", "--periods", "1000"];
    let more = ["--map", "exponent", "--threads", "1", "--out", "m", "--json"];
    let begun = std::time::Instant::now();
    let answer = here.saltus(&[&["bifurcation", "oscillator"][..], &family, &more].concat());
    let whole = begun.elapsed().as_secs_f64();
    let told = answer.json()["seconds"].as_f64().expect("seconds");
    assert!(told > 0.5 * whole && told < whole, "{told} of {whole}");
}
