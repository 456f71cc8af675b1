//! What the commands of the atlas refuse, and what they say.

use crate::program::Scratch;

#[test]
fn mistakes_are_explained() {
    let here = Scratch::new();
    here.write("free.toml", "[coordinates]\nx = { position = 1.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n");
    std::fs::create_dir(here.join("full")).expect("a directory");
    here.write("full/notes.txt", "mine");
    let cases: [(&[&str], &[&str]); 21] = [
        (
            &["bifurcation", "oscillator", "--over", "x=2:3:3", "--out", "c"],
            &["point 0", "outside the constraint `stop`"],
        ),
        (
            &["bifurcation", "oscillator", "--over", "w=9:9.5:3", "--at", "impacts", "--out", "d"],
            &["there are no impacts"],
        ),
        (&["section", "oscillator", "--at", "x - 9", "--periods", "30", "--out", "e"], &["is not crossed"]),
        (&["bifurcation", "oscillator", "--over", "q=0:1:3", "--out", "a"], &["`q` is neither a parameter nor"]),
        (&["bifurcation", "oscillator", "--over", "w=1:2:3", "--of", "zz", "--out", "a"], &["unknown name `zz`"]),
        (&["bifurcation", "oscillator", "--over", "w=1:2:3", "--map", "period", "--out", "a"], &["two axes"]),
        (
            &["bifurcation", "oscillator", "--over", "w=1:2:3", "--over", "e=0:1:3", "--map", "area", "--out", "a"],
            &["`--map area` is not known", "max(x)"],
        ),
        (
            &["bifurcation", "oscillator", "--over", "w=1:2:3", "--over", "e=0:1:3", "--over", "A=1:2:3", "--out", "a"],
            &["--over is given 3 times", "--set", "saltus sweep"],
        ),
        (
            &["bifurcation", "oscillator", "--over", "w=1:2:3", "--over", "e=0:1:3", "--exponents", "--out", "a"],
            &["two axes make a map", "--map exponent"],
        ),
        (&["basins", "oscillator", "--start", "x=0:1:4"], &["--out"]),
        (&["bifurcation", "free.toml", "--over", "x'=0:1:3", "--out", "a"], &["the period is not known", "--period"]),
        (
            &["bifurcation", "free.toml", "--over", "x'=0:1:3", "--transient", "1", "--periods", "9", "--out", "a"],
            &["there are no impacts", "--at"],
        ),
        (&["section", "free.toml", "--periods", "9", "--out", "a"], &["a stroboscope needs a period", "--at"]),
        (&["section", "oscillator", "--at", "impacts", "--returns", "9", "--out", "b"], &["--returns needs a surface"]),
        (&["section", "oscillator", "--at", "impacts", "--y", "x", "--out", "b"], &["unknown name `x`", "speed"]),
        (&["basins", "oscillator", "--start", "x=0.5", "--out", "a"], &["only one start is given"]),
        (&["basins", "oscillator", "--start", "w=0:1:5", "--out", "a"], &["a parameter is varied"]),
        (&["basins", "oscillator", "--start", "x=0:1:0", "--out", "a"], &["no values of `x`"]),
        (&["basins", "oscillator", "--start", "x=0:1:4", "--out", "full"], &["is not empty"]),
        (&["bifurcation", "oscillator", "--over", "w=1:2:3", "--out", "full"], &["is not empty", "choose another"]),
        (&["basins", "frame", "--start", "x=0:1:4", "--out", "a"], &["not supported for structures"]),
    ];
    for (args, parts) in cases {
        let answer = here.saltus(args);
        assert!(!answer.succeeded(), "{answer:?}");
        for part in parts {
            assert!(answer.stderr.contains(part), "{args:?}: {part}\n{}", answer.stderr);
        }
    }
    assert_eq!(here.read("full/notes.txt"), "mine");
}

#[test]
fn a_dry_run_counts_what_is_missing() {
    let here = Scratch::new();
    let base = ["sweep", "oscillator", "--over", "w=0.8:1.2:40", "--periods", "5", "--shard", "1/2", "--out", "part"];
    assert!(here.saltus(&base).succeeded());
    let left = here.json(&[&base[..], &["--resume", "--dry-run", "--json"]].concat());
    assert_eq!((left["trajectories"].as_u64(), left["of"].as_u64()), (Some(0), Some(40)), "{left}");
    std::fs::remove_dir_all(here.join("part/shards")).expect("removed");
    let left = here.json(&[&base[..], &["--resume", "--dry-run", "--json"]].concat());
    assert_eq!(left["trajectories"], 20, "{left}");
}

#[test]
fn joints_of_a_family_are_put_together() {
    let here = Scratch::new();
    here.write(
        "rod.toml",
        "[parameters]\nl = 1.0\n[coordinates]\nx = { position = 0.9, velocity = 0.0 }\ny = { position = 0.0, velocity = 0.0 }\n\
         [dynamics]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[[joint]]\nname = \"rod\"\nequation = \"x^2 + y^2 - l^2\"\n",
    );
    let base = ["sweep", "rod.toml", "--over", "l=0.8:1.2:3", "--end", "0.5"];
    let apart = here.json(&[&base[..], &["--out", "apart", "--json"]].concat());
    assert_eq!(apart["status"]["refused"], 3, "{apart}");
    let together = here.json(&[&base[..], &["--assemble", "--out", "together", "--json"]].concat());
    assert_eq!(together["status"]["finished"], 3, "{together}");
    let rerun = here.saltus(&["sweep", "rerun", "together", "--point", "2"]);
    assert!(rerun.succeeded(), "{rerun:?}");
    let refused = here.saltus(&["sweep", "oscillator", "--over", "w=1:2:3", "--assemble", "--out", "no"]);
    assert!(refused.stderr.contains("this model has none"), "{refused:?}");
}
