//! Bifurcation diagrams, sections and basins as a person gets them.

mod mistakes;
mod pages;
mod pictures;
mod resume;

use crate::program::Scratch;
use serde_json::Value;
use std::path::Path;

/// A small diagram with a grazing in it.
const DIAGRAM: [&str; 14] = [
    "bifurcation",
    "oscillator",
    "--set",
    "w=0.8",
    "--over",
    "A=0.36:0.38:9",
    "--transient",
    "150",
    "--periods",
    "60",
    "--carry",
    "both",
    "--out",
    "diagram",
];

/// The gallery shows the commands that its script runs, and the pictures that it made; those of the README are small.
#[test]
fn the_gallery_is_what_its_script_makes() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (script, page) = (read(&docs.join("atlas/remake.sh")), read(&docs.join("atlas.md")));
    let readme = read(&docs.join("../README.md"));
    let pictures: Vec<&str> =
        script.lines().filter_map(|l| l.strip_prefix("picture ")).filter(|l| !l.starts_with('(')).collect();
    assert!(pictures.len() >= 10, "{pictures:?}");
    let mut shown = 0;
    for line in pictures {
        let mut words = line.splitn(3, ' ');
        let (name, _, command) = (words.next(), words.next(), words.next());
        let (name, command) = (name.expect("a name"), command.expect("a command"));
        assert!(page.contains(&format!("\nsaltus {command} --out {name} ")), "{command}");
        assert!(page.contains(&format!("(atlas/{name}.png)")), "{name}");
        let size = docs.join(format!("atlas/{name}.png")).metadata().expect("a picture").len();
        let in_readme = readme.contains(&format!("docs/atlas/{name}.png"));
        shown += usize::from(in_readme);
        assert!(size > 5000 && size < if in_readme { 60_000 } else { 90_000 }, "{name}: {size} bytes");
    }
    assert_eq!(shown, 3);
}

fn said(here: &Scratch, args: &[&str]) -> Value {
    let answer = here.saltus(&[args, &["--json"]].concat());
    assert!(answer.succeeded(), "{answer:?}");
    answer.json()
}

#[test]
fn a_diagram_says_where_motions_change_and_is_drawn_again_from_its_files() {
    let here = Scratch::new();
    let said = said(&here, &DIAGRAM);
    assert_eq!((&said["trajectories"], &said["parameter"]), (&18.into(), &"A".into()), "{said}");
    let transitions = said["transitions"].as_array().expect("a list");
    for branch in ["up", "down"] {
        let t = transitions.iter().find(|t| t["branch"] == branch).unwrap_or_else(|| panic!("{branch}: {said}"));
        assert_eq!(
            (&t["before"], &t["after"]),
            (&"period 1, 0 impacts".into(), &"period 2, 1 impact".into()),
            "{said}"
        );
        let (from, to) = (t["from"].as_f64().expect("a number"), t["to"].as_f64().expect("a number"));
        assert!(from < 0.368_781_778 && 0.368_781_778 < to, "{from} {to}");
    }
    // The same figure again, byte for byte, and in other formats.
    let drawn = here.saltus(&["plot", "diagram", "--columns", "two", "--out", "again.svg"]);
    assert!(drawn.succeeded(), "{drawn:?}");
    assert_eq!(here.read("diagram/bifurcation.svg"), here.read("again.svg"));
    for file in ["fig.pdf", "fig.png", "part.svg", "page.html"] {
        let window: &[&str] = if file == "part.svg" { &["--from", "0.37", "--to", "0.38"] } else { &[] };
        let drawn = here.saltus(&[&["plot", "diagram", "--out", file], window].concat());
        assert!(drawn.succeeded(), "{drawn:?}");
        assert!(here.join(file).metadata().expect("there").len() > 1000);
    }
    let part = here.read("part.svg");
    assert!(part.contains(">0.372<") && !part.contains(">0.365<"), "{part}");
    // Nothing is left to do, and the tables stay what they are.
    let before = here.read("diagram/points.csv");
    let again = here.saltus(&[&DIAGRAM[..], &["--resume", "--threads", "1"]].concat());
    assert!(again.succeeded(), "{again:?}");
    assert_eq!(before, here.read("diagram/points.csv"));
    assert!(again.stdout.contains("up 0.3675 … 0.37: period 1, 0 impacts → period 2, 1 impact"), "{}", again.stdout);
}

#[test]
fn any_expression_can_be_shown_at_impacts_strobes_and_sections() {
    let here = Scratch::new();
    let base = ["bifurcation", "oscillator", "--over", "w=1:1.1:3", "--transient", "60", "--periods", "10"];
    let run = |more: &[&str]| {
        let said = said(&here, &[&base[..], more].concat());
        assert_eq!(said["status"]["finished"], 3, "{said}");
    };
    // At the stroboscope x² + x'²; at impacts the energy of the approach; where x' vanishes, x.
    run(&["--of", "x^2 + x'^2", "--out", "a"]);
    run(&["--at", "impacts", "--of", "speed^2/2", "--tol", "1e-9", "--out", "b"]);
    run(&["--at", "x':down", "--of", "w*x", "--period", "2*pi/w", "--out", "c"]);
    let titles = ["a", "b", "c"].map(|d| here.read(&format!("{d}/bifurcation.svg")));
    for (title, what) in
        titles.iter().zip(["x^2 + x&#39;^2 once a period", "speed^2/2 at impacts", "w*x at the section"])
    {
        assert!(title.contains(what), "{what}");
    }
    // Several starts: coexisting motions have colours of their own.
    let args = ["bifurcation", "oscillator", "--set", "A=1.0", "--over", "w=2.5:2.6:3", "--start", "x=-2:0.5:4"];
    let said = said(&here, &[&args[..], &["--start", "x'=0", "--transient", "150", "--out", "starts"]].concat());
    assert_eq!(said["trajectories"], 12);
    let svg = here.read("starts/bifurcation.svg");
    assert!(svg.contains(">period 1, 0 impacts<") && svg.contains(">period 2, 1 impact<"), "{svg}");
}

/// Before its period doubles, a ball on a table has two multipliers of the size e: both exponents are ln(e)/2π.
#[test]
fn exponents_are_shown_below() {
    let here = Scratch::new();
    let base = ["bifurcation", "ball-table", "--over", "G=1.2:1.3:3", "--at", "impacts", "--out", "diagram"];
    let said = said(&here, &[&base[..], &["--exponents"]].concat());
    assert!(said["files"].to_string().contains("exponents.csv"), "{said}");
    let table = here.read("diagram/exponents.csv");
    let values: Vec<f64> =
        table.lines().skip(1).map(|l| l.split(',').nth(1).expect("a value").parse().expect("a number")).collect();
    let exact = 0.5_f64.ln() / std::f64::consts::TAU;
    assert!(values.len() == 3 && values.iter().all(|v| (v - exact).abs() < 1e-8), "{values:?} {exact}");
    let svg = here.read("diagram/bifurcation.svg");
    assert!(svg.contains(">exponent<"));
    let drawn = here.saltus(&["plot", "diagram", "--columns", "two", "--out", "again.svg"]);
    assert!(drawn.succeeded() && here.read("again.svg") == svg, "{drawn:?}");
    here.write("diagram/exponents.csv", "point,exponent,error\n0,1,1\n");
    let damaged = here.saltus(&["plot", "diagram", "--out", "again.svg"]);
    assert!(!damaged.succeeded() && damaged.stderr.contains("does not have 3 rows"), "{damaged:?}");
}

#[test]
fn two_parameters_make_a_map() {
    let here = Scratch::new();
    let base = ["bifurcation", "oscillator", "--over", "w=0.7:0.9:4", "--over", "A=0.3:0.5:3", "--transient", "80"];
    for (map, legend) in
        [("period", ">period 1<"), ("impacts", ">0/1<"), ("max(x)", ">max(x)<"), ("exponent", ">largest exponent<")]
    {
        let out = format!("map-{}", &map[..2]);
        let said = said(&here, &[&base[..], &["--map", map, "--out", &out]].concat());
        assert_eq!(said["trajectories"], 12, "{said}");
        let svg = here.read(&format!("{out}/map.svg"));
        assert!(svg.contains(legend) && svg.contains("data:image/png;base64,"), "{map}");
        let drawn = here.saltus(&["plot", &out, "--columns", "two", "--out", "again.svg"]);
        assert!(drawn.succeeded() && here.read("again.svg") == svg, "{drawn:?}");
    }
    let shown = here.saltus(&[&base[..], &["--out", "shown"]].concat());
    assert!(shown.stdout.contains("a period 1"), "{}", shown.stdout);
}

#[test]
fn sections_are_thinned_and_nothing_is_lost_in_the_table() {
    let here = Scratch::new();
    let chaos = ["section", "oscillator", "--set", "c=0", "--set", "s=0", "--set", "w=2.8", "--start", "x=-0.3"];
    let long = said(&here, &[&chaos[..], &["--at", "impacts", "--periods", "3000", "--out", "impacts"]].concat());
    let impacts = long["impacts"].as_u64().expect("a number");
    // P04: 0.4712 impacts per unit of time.
    let rate = impacts as f64 / (3000.0 * std::f64::consts::TAU / 2.8);
    assert!((rate - 0.4712).abs() < 0.01, "{rate}");
    assert_eq!(here.read("impacts/impacts.csv").lines().count() as u64, impacts + 1);
    said(&here, &[&chaos[..], &["--periods", "500", "--x", "x", "--y", "x'^2/2", "--out", "strobe"]].concat());
    let page = here.read("strobe/section.svg");
    assert!(page.contains("x&#39;^2/2 over x, once a period"));
    // A surface of an autonomous system: times instead of periods.
    let plane = ["section", "double-pendulum", "--at", "th1:up", "--x", "th2", "--y", "th2'", "--transient", "1"];
    let whole = said(&here, &[&plane[..], &["--periods", "20", "--out", "plane"]].concat());
    assert_eq!(whole["trajectories"], 1, "{whole}");
    said(&here, &[&plane[..], &["--periods", "200", "--returns", "4", "--out", "few"]].concat());
    let (few, all) = (here.read("few/sections.csv"), here.read("plane/sections.csv"));
    assert!(few.lines().count() == 5 && few.lines().zip(all.lines()).all(|(a, b)| a[..12] == b[..12]), "{few} {all}");
    let rows = here.read("plane/sections.csv").lines().count();
    assert!(rows > 5, "{rows}");
}

/// Where pieces of a motion end in contact, the next one begins there: what chatters and rests in each period is an attractor too.
#[test]
fn basins_of_what_rests_on_a_wall() {
    let here = Scratch::new();
    let starts = ["--start", "y=1:3:4", "--start", "y'=-1:1:3", "--out", "b"];
    let shown = here.saltus(&[&["basins", "ball-table"][..], &starts].concat());
    assert!(shown.succeeded() && shown.stdout.contains("period 1, chatter"), "{shown:?}");
    assert!(!shown.stdout.contains("not resolved"), "{shown:?}");
}

#[test]
fn basins_name_their_attractors() {
    let here = Scratch::new();
    let base = ["basins", "oscillator", "--set", "w=2.5", "--start", "x=-1.5:0.9:33", "--start", "x'=-1.5:1.5:33"];
    let all = said(&here, &[&base[..], &["--threads", "2", "--out", "all"]].concat());
    let names = |v: &Value| -> Vec<String> {
        let list = v["attractors"].as_array().expect("a list");
        list.iter().map(|a| a["attractor"]["name"].as_str().expect("a name").to_string()).collect()
    };
    assert_eq!(names(&all), ["period 1, 0 impacts", "period 2, 1 impact"], "{all}");
    let second = &all["attractors"][1]["attractor"];
    assert_eq!((second["periods"].as_u64(), second["cycle"].as_array().map(Vec::len)), (Some(2), Some(2)), "{second}");
    assert_eq!(second["events"][0]["constraint"], "stop");
    said(&here, &[&base[..], &["--threads", "1", "--out", "one"]].concat());
    assert_eq!(here.read("all/basins.csv"), here.read("one/basins.csv"));
    assert_eq!(here.read("all/basins.json"), here.read("one/basins.json"));
    let few = said(&here, &[&base[..], &["--refine", "--periods", "500", "--tol", "1e-9", "--out", "few"]].concat());
    assert_eq!(names(&all), names(&few));
    assert!(few["computed"].as_u64() < all["computed"].as_u64(), "{few}");
    let drawn = here.saltus(&["plot", "all", "--columns", "two", "--out", "again.svg"]);
    assert!(drawn.succeeded() && here.read("again.svg") == here.read("all/basins.svg"), "{drawn:?}");
    // Any start is a trajectory that can be run alone.
    let rerun = here.saltus(&["sweep", "rerun", "all", "--point", "40"]);
    assert!(rerun.succeeded() && rerun.stdout.contains("point 40: x = -1.425"), "{rerun:?}");
    // Without a forcing, and with one axis: a strip.
    let well = "[coordinates]\nx = { position = 0.5, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
        potential = \"x^4/4 - x^2/2\"\n[dynamics.force]\nx = \"-0.4*x'\"\n[[constraint]]\nname = \"wall\"\ngap = \"2 - x\"\nrestitution = 0.8\n";
    here.write("well.toml", well);
    let wells = said(&here, &["basins", "well.toml", "--start", "x=-1.5:1.5:6", "--end", "30", "--out", "wells"]);
    assert_eq!(wells["attractors"].as_array().map(Vec::len), Some(2), "{wells}");
    let strip = here.read("wells/basins.svg");
    assert!(strip.contains(">rest at x = -1 (50 %)<") && strip.contains("data:image/png;base64,"), "{strip}");
    let drawn = here.saltus(&["plot", "wells", "--columns", "two", "--out", "again.svg"]);
    assert!(drawn.succeeded() && here.read("again.svg") == strip, "{drawn:?}");
    // Behind the wall nothing can begin.
    let none = here.saltus(&["basins", "well.toml", "--start", "x=3:4:5", "--end", "30", "--out", "none"]);
    assert!(!none.succeeded() && none.stderr.contains("none of the 5 starts is admissible"), "{none:?}");
    assert!(!here.join("none/basins.svg").exists() && !here.join("none/basins.html").exists());
    let why = here.saltus(&["sweep", "rerun", "none", "--point", "0"]);
    assert!(format!("{why:?}").contains("wall"), "{why:?}");
    let text = here.saltus(&["basins", "well.toml", "--start", "x=-1.5:1.5:6", "--end", "30", "--out", "text"]);
    assert!(text.stdout.contains("rest at x = -1") && text.stdout.contains("50 %"), "{}", text.stdout);
}

/// A pendulum with a constant torque turns for ever, or hangs: no force depends on time, and it has no maximum where it turns.
#[test]
fn rotations_without_forcing_are_found() {
    let here = Scratch::new();
    let text = "[parameters]\nc = 0.5\nM = 2.0\n[coordinates]\na = { position = 1.0, velocity = 0.0 }\n[dynamics]\n\
        kinetic = \"a'^2/2\"\npotential = \"-cos(a)\"\n[dynamics.force]\na = \"M - c*a'\"\n[run]\nend = 60\n";
    here.write("pendulum.toml", text);
    let basins = |out: &str, set: &[&str]| {
        let words = ["basins", "pendulum.toml", "--start", "a=-3:3:6", "--start", "a'=-3:6:6", "--out", out, "--json"];
        let said = here.json(&[&words[..], set].concat());
        let named = |a: &serde_json::Value| {
            (a["attractor"]["name"].as_str().unwrap_or_default().to_string(), a["share"]["count"].as_u64())
        };
        said["attractors"].as_array().expect("a list").iter().map(named).collect::<Vec<_>>()
    };
    // The torque is more than any weight can hold.
    assert_eq!(basins("fast", &[]), [("period 1.574, 0 impacts, travelling".to_string(), Some(36))]);
    // Less damping and less torque: it turns, or it hangs at asin(1/2).
    let both = basins("both", &["--set", "c=0.1", "--set", "M=0.5"]);
    assert!(both.len() > 1 && both[0].0.ends_with("travelling") && both[1].0.contains("rest at a = 0.524"), "{both:?}");
}
