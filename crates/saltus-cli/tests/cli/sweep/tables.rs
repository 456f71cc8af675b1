//! What is in the tables, against `saltus run` and closed forms.

use super::{column, numbers};
use crate::program::{Answer, Scratch};

/// By steps a point is what `saltus run` gives with the same scheme and step, and goes to what events give with the first power
/// of the step.
#[test]
fn a_sweep_by_steps() {
    let dir = Scratch::new();
    let common = ["--over", "w=1.1:1.3:3", "--set", "c=0.4", "--end", "6*pi/w", "--impacts", "all"];
    let sweep = |more: &[&str], out: &str| {
        let args = [&["sweep", "oscillator"], &common[..], more, &["--out", out]].concat();
        let swept = dir.saltus(&args);
        assert!(swept.succeeded(), "{swept:?}");
        numbers(&dir, &format!("{out}/points.csv"), "x")
    };
    let exact = sweep(&["--tol", "1e-12"], "events");
    for scheme in ["moreau-jean", "paoli-schatzman", "mabrouk"] {
        let mut off = Vec::new();
        for parts in ["4000", "16000"] {
            let step = format!("2*pi/w/{parts}");
            let out = format!("{scheme}{parts}");
            let x = sweep(&["--scheme", scheme, "--step", &step], &out);
            assert_eq!(column(&dir, &format!("{out}/points.csv"), "engine"), ["steps"; 3]);
            off.push(x.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum::<f64>());
        }
        assert!(off[1] < 2e-3 && off[0] / off[1] > 2.0, "{scheme}: {off:?}");
        let w = column(&dir, "events/points.csv", "w");
        let (set, step) = (format!("w={}", w[1]), "2*pi/w/4000");
        let run =
            ["run", "oscillator", "--set", &set, "--set", "c=0.4", "--end", "6*pi/w", "--json", "--scheme", scheme];
        let run = dir.json(&[&run[..], &["--step", step]].concat());
        let x = numbers(&dir, &format!("{scheme}4000/points.csv"), "x")[1];
        let again = dir.json(&["sweep", "rerun", &format!("{scheme}4000"), "--point", "1", "--json"]);
        for single in [run, again] {
            let single = single["final"]["q"][0].as_f64().expect("a number");
            assert!((single - x).abs() < 1e-11, "{scheme}: {single} {x}");
        }
    }
    let refused = |more: &[&str], words: &str| {
        let answer = dir.saltus(&[&["sweep", "oscillator"], &common[..], more, &["--out", "no"]].concat());
        let said = answer.stderr.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
        assert!(!answer.succeeded() && said.contains(words), "{answer:?}");
    };
    refused(&["--scheme", "moreau-jan"], "moreau-jean");
    refused(&["--step", "1e-3"], "--step needs --scheme");
    refused(&["--scheme", "moreau-jean", "--step", "-1"], "must be a positive number");
    refused(&["--scheme", "moreau-midpoint", "--step", "1e-3", "--native"], "one trajectory after the other");
    let curved = ["sweep", "double-pendulum", "--over", "e=0.5,0.6", "--scheme", "moreau-jean", "--step", "1e-3"];
    let curved = dir.saltus(&[&curved[..], &["--native", "--out", "no"]].concat());
    assert!(!curved.succeeded() && curved.stderr.contains("steps are compiled where flight"), "{curved:?}");
}

/// Steps end a little beyond a constraint where they rest on it: the next point starts there, and is not blamed for it.
#[test]
fn steps_are_carried_on_from_contact() {
    let dir = Scratch::new();
    let base = ["sweep", "ball-gravity", "--over", "e=0.3:0.6:4", "--end", "10", "--step", "1e-3", "--carry", "up"];
    for scheme in ["moreau-jean", "paoli-schatzman", "mabrouk"] {
        let swept = dir.saltus(&[&base[..], &["--scheme", scheme, "--out", scheme]].concat());
        assert!(swept.succeeded() && swept.stdout.contains("4 trajectories: 4 finished"), "{swept:?}");
        let file = format!("{scheme}/points.csv");
        let (impacts, y) = (numbers(&dir, &file, "impacts"), numbers(&dir, &file, "y"));
        assert!(impacts[0] > 2.0 && impacts[1..].iter().all(|n| *n == 0.0), "{impacts:?}");
        assert!(y.iter().all(|y| *y > -1e-3), "{y:?}");
        let again = dir.json(&["sweep", "rerun", scheme, "--point", "3", "--json"]);
        assert_eq!(again["final"]["q"][0], y[3]);
    }
    // Settings of the scheme are those of the file.
    let text = "title = \"spring\"\n[coordinates]\nx = { position = 1.0, velocity = 0.0 }\n[parameters]\nk = 1.0\n[dynamics]\n\
                kinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n[[constraint]]\nname = \"wall\"\ngap = \"x + 2\"\n[impact]\n\
                restitution = 0.5\n[run]\nscheme = \"moreau-jean\"\ntheta = 1.0\nstep = 0.01\nend = 5.0\n";
    std::fs::write(dir.join("spring.toml"), text).expect("written");
    let args = ["sweep", "spring.toml", "--over", "k=1,2", "--scheme", "moreau-jean", "--out", "implicit"];
    assert!(dir.saltus(&args).succeeded());
    let run = dir.json(&["run", "spring.toml", "--json"]);
    assert_eq!(run["final"]["q"][0], numbers(&dir, "implicit/points.csv", "x")[0]);
    let refused = dir.saltus(&[&args[..6], &["--native", "--out", "no"]].concat());
    assert!(!refused.succeeded() && refused.stderr.contains("moreau-jean with theta = 1"), "{refused:?}");
}

/// Points in Parquet are those in CSV; what is no number is named.
#[test]
fn points_from_parquet() {
    use saltus_io::table::{self, Column, Kind, Table, Values};
    struct Points(Vec<Column>, &'static [u64]);
    impl Table for Points {
        fn columns(&self) -> &[Column] {
            &self.0
        }
        fn chunks(&self) -> &[u64] {
            self.1
        }
        fn read(&self, _: usize, column: usize) -> std::io::Result<Values> {
            Ok(match column {
                0 => Values::Numbers(vec![1.1, 1.2, 0.9]),
                _ => Values::Integers(vec![0, 1, 0]),
            })
        }
    }
    let dir = Scratch::new();
    let columns = |kind: Kind| {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        vec![column("w", Kind::Number), column("e", kind)]
    };
    let write = |name: &str, kind: Kind| {
        let format = saltus_io::output::Format::Parquet;
        table::write(&dir.join("."), name, format, &Points(columns(kind), &[3]), 1).expect("written");
    };
    write("good", Kind::Integer);
    write("words", Kind::Word(vec!["low".into(), "high".into()]));
    dir.write("good.csv", "w,e\n1.1,0\n1.2,1\n0.9,0\n");
    let sweep = |file: &str, out: &str| {
        dir.saltus(&["sweep", "oscillator", "--points", file, "--end", "20", "--format", "csv,parquet", "--out", out])
    };
    assert!(sweep("good.parquet", "a").succeeded() && sweep("good.csv", "b").succeeded());
    assert_eq!(dir.read("a/points.csv"), dir.read("b/points.csv"));
    assert!(dir.join("a/points.parquet").exists());
    let words = sweep("words.parquet", "c");
    assert!(!words.succeeded() && words.stderr.contains("row 1: `e` must be a number"), "{words:?}");
}

#[test]
fn a_point_is_what_saltus_run_gives() {
    let dir = Scratch::new();
    let swept = dir.saltus(&[
        "sweep",
        "oscillator",
        "--over",
        "w=0.8:1.2:5",
        "--over",
        "e=0.5,0.8",
        "--start",
        "x=0.2,x'=0.1",
        "--tol",
        "1e-11",
        "--end",
        "40",
        "--transient",
        "10",
        "--impacts",
        "2",
        "--stat",
        "x",
        "--out",
        "s",
    ]);
    assert!(swept.succeeded(), "{swept:?}");
    let header = dir.read("s/points.csv").lines().next().expect("a header").to_string();
    assert!(header.starts_with("point,w,e,status,impacts,x,x',min(x),max(x),mean(x),rms(x),t,"), "{header}");
    assert_eq!(column(&dir, "s/points.csv", "point"), (0..10).map(|k| k.to_string()).collect::<Vec<_>>());
    let (w, e) = (numbers(&dir, "s/points.csv", "w"), numbers(&dir, "s/points.csv", "e"));
    let (x, v) = (numbers(&dir, "s/points.csv", "x"), numbers(&dir, "s/points.csv", "x'"));
    let impacts = numbers(&dir, "s/points.csv", "impacts");
    for k in [0, 3, 9] {
        let (set_w, set_e) = (format!("w={:?}", w[k]), format!("e={:?}", e[k]));
        let run = [
            "run",
            "oscillator",
            "--set",
            &set_w,
            "--set",
            &set_e,
            "--start",
            "x=0.2,x'=0.1",
            "--tol",
            "1e-11",
            "--end",
            "40",
            "--json",
            "--impacts",
            "all",
        ];
        let run = dir.json(&run);
        let near = |found: f64, name: &str| {
            let exact = run["final"][name][0].as_f64().expect("a number");
            assert!((found - exact).abs() < 1e-8, "point {k}, {name}: {found} {exact}");
        };
        near(x[k], "q");
        near(v[k], "v");
        let listed = run["impacts"]["all"].as_array().expect("impacts");
        let late: Vec<f64> = listed.iter().map(|i| i["t"].as_f64().expect("a time")).filter(|t| *t >= 10.0).collect();
        assert_eq!(impacts[k] as usize, late.len(), "point {k}");
        let (at, t) = (numbers(&dir, "s/impacts.csv", "point"), numbers(&dir, "s/impacts.csv", "t"));
        let mine: Vec<f64> = t.iter().zip(&at).filter(|(_, p)| **p == k as f64).map(|(t, _)| *t).collect();
        assert_eq!(mine.len(), 2);
        assert!(mine.iter().zip(&late[late.len() - 2..]).all(|(a, b)| (a - b).abs() < 1e-8), "{mine:?} {late:?}");
    }
    let again = dir.json(&["sweep", "rerun", "s", "--point", "3", "--out", "r", "--report", "r.html", "--json"]);
    assert_eq!(again["point"], 3);
    assert!((again["final"]["q"][0].as_f64().expect("a number") - x[3]).abs() < 1e-8);
    assert!(dir.join("r/run.json").exists() && dir.read("r.html").contains("<html"));
}

#[test]
fn strobe_sections_and_settled() {
    let dir = Scratch::new();
    let swept = dir.json(&[
        "sweep",
        "oscillator",
        "--over",
        "w=0.9,1.0,1.1",
        "--transient",
        "200",
        "--periods",
        "20",
        "--strobe",
        "--settled",
        "--section",
        "x':down",
        "--impacts",
        "all",
        "--out",
        "s",
        "--json",
    ]);
    assert_eq!(swept["status"]["finished"], 3);
    assert_eq!((&swept["complete"], &swept["stored"]), (&true.into(), &3.into()));
    // Period one with one impact, as the model says.
    assert_eq!(column(&dir, "s/points.csv", "settled"), ["periodic"; 3]);
    assert_eq!(column(&dir, "s/points.csv", "period"), ["1"; 3]);
    assert_eq!(column(&dir, "s/points.csv", "impacts_per_period"), ["1"; 3]);
    assert_eq!(numbers(&dir, "s/points.csv", "impacts"), [20.0; 3]);
    let (t, k) = (numbers(&dir, "s/strobe.csv", "t"), numbers(&dir, "s/strobe.csv", "k"));
    assert_eq!(k.len(), 3 * 21);
    for (w, row) in [0.9, 1.0, 1.1].iter().zip(t.chunks(21)) {
        let period = std::f64::consts::TAU / w;
        assert!(row.iter().enumerate().all(|(k, t)| (t - (200 + k) as f64 * period).abs() < 1e-9));
    }
    let x = numbers(&dir, "s/strobe.csv", "x");
    assert!(x.chunks(21).all(|row| row.iter().all(|x| (x - row[0]).abs() < 1e-6)));
    // Where the velocity falls through zero: at the impact, which turns it round, and nowhere else upwards.
    let v = numbers(&dir, "s/sections.csv", "x'");
    assert!(v.len() >= 60 && v.iter().all(|v| *v < 1e-9), "{v:?}");
    let phase = numbers(&dir, "s/impacts.csv", "phase");
    assert!(phase.chunks(20).all(|row| row.iter().all(|p| (p - row[0]).abs() < 1e-6 && (0.0..1.0).contains(p))));
    // Figures of any column.
    for (what, against, file) in [("speed", "w", "a.svg"), ("strobe.x", "w", "b.png"), ("x'", "x", "c.pdf")] {
        let drawn = dir.saltus(&["plot", "s", "--what", what, "--against", against, "--out", file]);
        assert!(drawn.succeeded() && dir.join(file).exists(), "{drawn:?}");
    }
    let svg = dir.read("a.svg");
    assert!(svg.contains("impact speed") && svg.matches("<circle").count() >= 3, "{svg}");
    let wrong = dir.saltus(&["plot", "s", "--what", "sped", "--out", "d.svg"]);
    assert!(!wrong.succeeded() && wrong.stderr.contains("did you mean `speed`?"), "{wrong:?}");
}

/// A relief valve for 60 returns to its largest lift, of which the last four are kept, with the least lifts between them: impacts.
#[test]
fn returns_end_trajectories() {
    let dir = Scratch::new();
    let valve = ["sweep", "valve", "--over", "q=3,4,5", "--end", "1000", "--section", "x':down", "--section", "x':up"];
    let kept = ["--returns", "60", "--last", "4", "--json"];
    for (out, code) in [("plain", &[][..]), ("native", &["--native"])] {
        let run = dir.saltus(&[&valve[..], &kept, code, &["--out", out]].concat());
        if run.stderr.contains("there is no C compiler") {
            continue;
        }
        assert!(run.succeeded(), "{run:?}");
        assert_eq!(numbers(&dir, &format!("{out}/points.csv"), "returns"), [60.0; 3]);
        assert_eq!(numbers(&dir, &format!("{out}/points.csv"), "impacts"), [59.0, 58.0, 58.0]);
        let (points, sections) = (format!("{out}/points.csv"), format!("{out}/sections.csv"));
        let (t, x, p) = (numbers(&dir, &points, "t"), numbers(&dir, &points, "x"), numbers(&dir, &points, "p"));
        // (By SciPy's DOP853: see the tests of saltus-ensemble.)
        assert!((t[1] - 116.17962031823835).abs() < 1e-7 && (x[1] - 3.61812330989179).abs() < 1e-8, "{t:?} {x:?}");
        assert!((p[1] - 1.23150330253619).abs() < 1e-7, "{p:?}");
        let names = column(&dir, &sections, "section");
        assert_eq!(names.len(), 24);
        assert_eq!((&names[0][..], &names[1][..]), ("x':up", "x':down"));
        let lifts = numbers(&dir, &sections, "x");
        assert!(names.iter().zip(&lifts).all(|(name, x)| if name == "x':up" { x.abs() < 1e-9 } else { *x > 2.0 }));
        let again = dir.json(&["sweep", "rerun", out, "--point", "1", "--json"]);
        assert!((again["final"]["t"].as_f64().expect("a time") - t[1]).abs() < 1e-9, "{}", again["final"]);
    }
    for option in ["--returns", "--last"] {
        let refused = dir.saltus(&["sweep", "valve", "--over", "q=3,4,5", option, "9", "--out", "none"]);
        assert!(refused.code == Some(2) && refused.stderr.contains("--section <EXPR>"), "{refused:?}");
    }
    // Where time is up before, there are fewer.
    let short = [&valve[..4], &["--end", "50"], &valve[6..8], &kept, &["--out", "short"]].concat();
    assert!(dir.saltus(&short).succeeded());
    assert_eq!(numbers(&dir, "short/points.csv", "t"), [50.0; 3]);
    assert!(numbers(&dir, "short/points.csv", "returns").iter().all(|n| *n > 10.0 && *n < 60.0));
    assert_eq!(column(&dir, "short/sections.csv", "section").len(), 12);
}

#[test]
fn samples_and_lists_are_what_they_say() {
    let dir = Scratch::new();
    for design in ["random", "latin", "sobol"] {
        let swept = dir.saltus(&[
            "sweep",
            "oscillator",
            "--sample",
            "64",
            "--vary",
            "w=uniform(0.9,2*0.55)",
            "--vary",
            "e=normal(A/2,0.01)",
            "--design",
            design,
            "--seed",
            "5",
            "--periods",
            "1",
            "--out",
            design,
        ]);
        assert!(swept.succeeded(), "{swept:?}");
        let file = format!("{design}/points.csv");
        let (w, e) = (numbers(&dir, &file, "w"), numbers(&dir, &file, "e"));
        assert_eq!(w.len(), 64);
        assert!(w.iter().all(|w| (0.9..=1.1).contains(w)) && e.iter().all(|e| (e - 0.5).abs() < 0.06));
        let mean = w.iter().sum::<f64>() / 64.0;
        assert!((mean - 1.0).abs() < 0.03, "{design}: {mean}");
    }
    dir.write("points.csv", "w, x'\n1.0,0.5\n# a remark\n1.1,-0.25\n");
    let swept = dir.saltus(&["sweep", "oscillator", "--points", "points.csv", "--periods", "2", "--out", "list"]);
    assert!(swept.succeeded(), "{swept:?}");
    assert_eq!(numbers(&dir, "list/points.csv", "w"), [1.0, 1.1]);
    assert_eq!(numbers(&dir, "list/points.csv", "start_x'"), [0.5, -0.25]);
    // The number of impacts needs no period where there is none; expressions in ranges; equal ratios.
    let swept = dir.saltus(&[
        "sweep",
        "ball-gravity",
        "--over",
        "e=log:0.25:0.25*4:3",
        "--end",
        "2",
        "--period",
        "0.5",
        "--strobe",
        "--out",
        "ball",
    ]);
    assert!(swept.succeeded(), "{swept:?}");
    assert_eq!(numbers(&dir, "ball/points.csv", "e"), [0.25, 0.5, 1.0]);
    assert_eq!(numbers(&dir, "ball/strobe.csv", "k").len(), 15);
    assert!(column(&dir, "ball/points.csv", "accumulations")[0] == "1");
}

#[test]
fn a_dry_run_writes_nothing() {
    let dir = Scratch::new();
    let args =
        ["sweep", "oscillator", "--over", "w=0.5:1.5:100000", "--over", "e=0:1:1000", "--periods", "2", "--dry-run"];
    let said = dir.saltus(&args);
    assert!(
        said.succeeded() && said.stdout.contains("trajectories") && said.stdout.contains("of disk space"),
        "{said:?}"
    );
    let json = dir.json(&[&args[..], &["--json"]].concat());
    assert_eq!(json["trajectories"], 100_000_000);
    let (each, all) = (json["seconds_per_trajectory"].as_f64(), json["seconds"].as_f64());
    assert!(each.is_some_and(|x| x > 0.0) && all > each && json["bytes"].as_f64().is_some_and(|b| b > 1e9), "{json}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 0);
}

/// Compiled code gives the table of lanes, within the tolerance; without a compiler, or for a model that lanes cannot compute, it says
/// so.
#[test]
fn native_code() {
    let dir = Scratch::new();
    let args = ["sweep", "oscillator", "--over", "w=0.8:1.2:21", "--transient", "20", "--periods", "10"];
    let sweep = |more: &[&str]| dir.saltus(&[&args[..], &["--settled", "--impacts", "3"], more].concat());
    assert!(sweep(&["--out", "lanes"]).succeeded());
    let mut command = dir.command(&[&args[..], &["--native", "--out", "n"]].concat());
    command.env("CC", "no-such-compiler");
    let none = command.output().expect("it starts");
    let none = Answer::new(&command, none);
    assert!(none.stderr.contains("there is no C compiler called"), "{none:?}");
    assert!(none.stderr.contains("leave --native out"), "{none:?}");
    let native = sweep(&["--native", "--out", "native"]);
    if native.stderr.contains("there is no C compiler") {
        return;
    }
    assert!(native.succeeded(), "{native:?}");
    for name in ["x", "x'"] {
        let (a, b) = (numbers(&dir, "lanes/points.csv", name), numbers(&dir, "native/points.csv", name));
        assert!(a.len() == 21 && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8), "{a:?} {b:?}");
    }
    for name in ["settled", "impacts", "period", "engine"] {
        assert_eq!(column(&dir, "lanes/points.csv", name), column(&dir, "native/points.csv", name), "{name}");
    }
    for scheme in ["moreau-jean", "paoli-schatzman"] {
        let steps = ["--scheme", scheme, "--step", "2*pi/w/1000", "--strobe"];
        let [lanes, native] = ["lanes", "native"].map(|code| format!("{scheme}-{code}"));
        assert!(sweep(&[&steps[..], &["--out", lanes.as_str()]].concat()).succeeded());
        let made = sweep(&[&steps[..], &["--native", "--out", native.as_str()]].concat());
        assert!(made.succeeded() && made.stdout.contains(&format!("with steps of {scheme}\n")), "{made:?}");
        for (table, names) in
            [("points", ["x", "x'", "violation"]), ("strobe", ["t", "x", "x'"]), ("impacts", ["t", "speed", "impulse"])]
        {
            for name in names {
                let [a, b] = [&lanes, &native].map(|out| numbers(&dir, &format!("{out}/{table}.csv"), name));
                assert!(a.len() >= 21 && a.len() == b.len(), "{scheme} {table}");
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8), "{scheme} {table} {name}: {a:?} {b:?}");
            }
        }
        for name in ["settled", "impacts", "period", "engine", "status"] {
            let [a, b] = [&lanes, &native].map(|out| column(&dir, &format!("{out}/points.csv"), name));
            assert_eq!(a, b, "{scheme} {name}");
        }
    }
    let again = sweep(&["--out", "native", "--resume"]);
    assert!(!again.succeeded(), "native code and lanes are not mixed: {again:?}");
    let belt = dir.saltus(&["sweep", "belt", "--over", "V=0.1,0.2", "--native", "--out", "b"]);
    assert!(!belt.succeeded() && belt.stderr.contains("joints or friction"), "{belt:?}");
}

/// On a machine without a GPU that is said, `auto` goes on without one, and the source can be read all the same.
#[test]
fn gpus() {
    let dir = Scratch::new();
    let listed = dir.json(&["devices", "--json"]);
    assert!(listed["cores"].as_u64().is_some_and(|n| n > 0) && listed["gpus"].is_array(), "{listed}");
    let shown = dir.saltus(&["devices"]);
    assert!(shown.succeeded() && shown.stdout.contains("cpu") && shown.stdout.contains("gpu"), "{shown:?}");
    let sweep = |more: &[&str]| {
        dir.saltus(&[&["sweep", "oscillator", "--over", "w=0.8:1.2:5", "--periods", "3"], more].concat())
    };
    let source = sweep(&["--dry-run", "--emit-cuda", "model.cu"]);
    assert!(source.succeeded() && dir.read("model.cu").contains("__global__"), "{source:?}");
    let steps = ["--dry-run", "--scheme", "moreau-jean", "--step", "2*pi/w/100", "--emit-cuda", "steps.cu"];
    let source = sweep(&steps);
    let text = dir.read("steps.cu");
    assert!(source.succeeded() && text.contains("__global__") && text.contains("R_TRIGGER"), "{source:?}");
    if listed["gpus"].as_array().is_some_and(|gpus| !gpus.is_empty()) {
        return;
    }
    let refused = sweep(&["--device", "gpu", "--out", "g"]);
    assert!(!refused.succeeded() && refused.stderr.contains("cannot run on a GPU"), "{refused:?}");
    assert!(
        listed["no_gpu"].as_str().is_some_and(|why| refused.stderr.contains(why.split(' ').next().unwrap_or("?"))),
        "{listed}"
    );
    let auto = sweep(&["--device", "auto", "--out", "a"]);
    let few = "on the processor: 5 trajectories side by side are few for a GPU (--device gpu insists)\n";
    assert!(auto.succeeded() && auto.stderr == few, "{auto:?}");
    let many = &["sweep", "oscillator", "--over", "w=0.8:1.2:1024", "--periods", "1", "--device", "auto", "--out", "m"];
    let many = dir.saltus(many);
    assert!(many.succeeded() && many.stderr.contains("on the processor: this sweep cannot run on a GPU"), "{many:?}");
    let carried = dir.saltus(
        &[
            &["bifurcation", "oscillator", "--over", "w=0.8:1.2:4", "--carry", "up"][..],
            &["--transient", "2", "--periods", "2", "--device", "auto", "--out", "b"],
        ]
        .concat(),
    );
    let alone = "on the processor: 1 trajectory at a time is few for a GPU (--device gpu insists)\n";
    assert!(carried.succeeded() && carried.stderr == alone, "{carried:?}");
    let without = sweep(&["--out", "c"]);
    assert!(without.succeeded() && dir.read("a/points.csv") == dir.read("c/points.csv"));
}
