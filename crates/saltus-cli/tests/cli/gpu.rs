//! Commands with `--device gpu`, with a GPU that runs its kernels on the processor (`saltus-mock-gpu`).

use crate::program::{Answer, Scratch};
use saltus_mock_gpu::{folder, variables};
use serde_json::Value;
use std::path::Path;

/// `saltus` on a machine with such a GPU; `machine` says what it is like. None where there can be none.
fn on(machine: &str, dir: &Scratch, args: &[&str]) -> Option<Answer> {
    let mut command = dir.command(args);
    command.envs(variables(machine)?);
    let output = command.output().expect("it starts");
    Some(Answer::new(&command, output))
}

/// The same with a cache of its own.
fn alone(machine: &str, dir: &Scratch, args: &[&str]) -> Option<Answer> {
    let mut command = dir.command(args);
    command.envs(variables(machine)?).env("XDG_CACHE_HOME", dir.join("cache"));
    let output = command.output().expect("it starts");
    Some(Answer::new(&command, output))
}

const FAMILY: [&str; 6] = ["sweep", "oscillator", "--over", "w=0.8:1.2:3000", "--periods", "10"];

fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FAMILY[..], more].concat()
}

/// Rows of a table, after its head, in numbers; without `engine`, and words without.
fn rows(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let number = |word: &str| word.parse().unwrap_or(f64::NAN);
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split(',').map(number).collect())
        .collect()
}

/// Where two tables differ by more than rounding and tolerances allow; `whole` columns are counts.
fn agree(name: &str, (a, b): (&Path, &Path), columns: &[usize], near: f64) {
    let (a, b) = (rows(a), rows(b));
    assert_eq!(a.len(), b.len(), "{name}");
    assert!(!a.is_empty(), "{name}");
    for (k, (a, b)) in a.iter().zip(&b).enumerate() {
        for &column in columns {
            let (x, y) = (a[column], b[column]);
            let is_near = (x.is_nan() && y.is_nan()) || (x - y).abs() <= near * (1.0 + y.abs());
            assert!(is_near, "{name}, row {k}, column {column}: {x} and {y}");
        }
    }
}

#[test]
fn devices_says_what_there_is_and_what_is_missing() {
    let dir = Scratch::new();
    let Some(whole) = on("", &dir, &["devices"]) else { return };
    assert!(whole.stdout.contains("gpu  Mock GPU 0, 16 GiB, compute capability 9.0\n"), "{whole:?}");
    assert!(whole.stdout.contains("driver for CUDA 12.4, compiler NVRTC 12.4 (libnvrtc.so)\n"), "{whole:?}");
    let json = on("devices=2,broken=1", &dir, &["devices", "--json"]).expect("as before").json();
    assert!(json["gpus"][0]["cannot_be_used"].as_str().is_some_and(|why| why.contains("ECC")), "{json}");
    assert_eq!(json["gpus"][1]["name"], "Mock GPU 1");
    assert_eq!((&json["driver"], &json["nvrtc"]["version"]), (&Value::from("12.4"), &Value::from("12.4")));
    let none = on("devices=0", &dir, &["devices"]).expect("as before");
    assert!(none.stdout.contains("gpu  none: ") && none.stdout.contains("no CUDA-capable device"), "{none:?}");
    let old = on("version=11040", &dir, &["devices"]).expect("as before");
    assert!(old.stdout.contains("too old: it knows CUDA 11.4, and 12.0 is needed; update the driver"), "{old:?}");
    // The driver alone, without the run-time compiler. (A machine may have a real one somewhere else.)
    std::fs::copy(folder().expect("as before").join("libcuda.so"), dir.join("libcuda.so")).expect("copied");
    let mut command = dir.command(&["devices", "--json"]);
    let output = command.env("LD_LIBRARY_PATH", dir.path()).output().expect("it starts");
    let json = Answer::new(&command, output).json();
    let nvrtc = &json["nvrtc"];
    let is_missing = nvrtc["missing"].as_str().is_some_and(|why| why.contains("it comes with the CUDA toolkit"));
    assert!(is_missing || nvrtc["place"].as_str().is_some_and(|place| !place.starts_with("mock")), "{json}");
}

#[test]
fn a_gpu_that_cannot_be_used_is_a_mistake_or_left_out() {
    let dir = Scratch::new();
    for (machine, word) in [
        ("devices=0", "no CUDA-capable device"),
        ("version=11040", "the NVIDIA driver is too old"),
        ("broken=1", "uncorrectable ECC error"),
        ("compiles=0", "the kernel does not compile: default_program(7): error: identifier \"nonsense\" is undefined"),
        ("ptx=0,capability=103", "the driver is too old for NVIDIA's run-time compiler 12.4"),
    ] {
        let Some(refused) = alone(machine, &dir, &sweep(&["--device", "gpu", "--json", "--out", "s"])) else { return };
        let message = refused.json()["error"]["message"].as_str().unwrap_or_default().to_string();
        assert!(!refused.succeeded() && message.contains(word), "{machine}: {refused:?}");
        let auto = alone(machine, &dir, &sweep(&["--device", "auto", "--out", "a"])).expect("as before");
        assert!(
            auto.succeeded() && auto.stderr.contains(word.split(':').next().unwrap_or(word)),
            "{machine}: {auto:?}"
        );
        std::fs::remove_dir_all(dir.join("a")).expect("there");
        assert!(!dir.join("s").exists(), "{machine}");
    }
}

#[test]
fn the_first_gpu_that_works_is_used_and_a_driver_may_be_older_than_the_compiler() {
    let dir = Scratch::new();
    for (machine, name) in [("devices=3,broken=3", "Mock GPU 2"), ("ptx=0", "Mock GPU 0")] {
        let out = name.replace(' ', "-");
        let Some(swept) = alone(machine, &dir, &sweep(&["--device", "gpu", "--json", "--out", &out])) else { return };
        let json = swept.json();
        assert_eq!((&json["gpu"]["name"], &json["gpu"]["trajectories"]), (&Value::from(name), &Value::from(3000)));
    }
    assert_eq!(dir.read("Mock-GPU-0/points.csv"), dir.read("Mock-GPU-2/points.csv"));
    // What was compiled for this GPU alone is kept, as well as what is for all.
    let kept = std::fs::read_dir(dir.join("cache/saltus/native")).expect("a cache");
    let mut endings: Vec<_> = kept.flatten().filter_map(|e| Some(e.path().extension()?.to_owned())).collect();
    endings.sort();
    assert_eq!(endings, ["cu", "cu", "cubin", "ptx"].map(std::ffi::OsString::from), "{endings:?}");
}

#[test]
fn atlas_commands_give_what_the_processor_gives() {
    let dir = Scratch::new();
    // (Command, table, and its columns to compare.)
    let commands: [(&str, &str, &[usize]); 5] = [
        ("sweep oscillator --over w=0.8:1.2:1200 --periods 10 --transient 5", "points.csv", &[1, 3, 4, 5, 6, 7]),
        (
            "sweep oscillator --over w=0.8:1.2:300 --periods 5 --scheme moreau-jean --step 2*pi/w/500",
            "points.csv",
            &[1, 3, 4, 5],
        ),
        ("bifurcation oscillator --over w=0.85:0.95:300 --transient 100 --periods 4", "strobe.csv", &[0, 1, 2, 3]),
        ("section oscillator --set w=0.9 --periods 20 --transient 40", "strobe.csv", &[0, 1, 2, 3]),
        (
            "sweep valve --over q=3:4:40 --section x':down --returns 8 --last 4 --end 1000",
            "sections.csv",
            &[0, 2, 3, 4],
        ),
    ];
    for (k, (command, table, columns)) in commands.into_iter().enumerate() {
        let words = |device: &'static str, out: &str| {
            let words = command.split(' ').map(str::to_string);
            words.chain(["--device", device, "--json", "--out", out].map(str::to_string)).collect::<Vec<_>>()
        };
        let run = |device, out: &str| {
            let words = words(device, out);
            on("", &dir, &words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (gpu, cpu) = (format!("gpu{k}"), format!("cpu{k}"));
        let Some(on_gpu) = run("gpu", &gpu) else { return };
        assert!(on_gpu.succeeded(), "{on_gpu:?}");
        assert!(on_gpu.json()["gpu"]["trajectories"].as_u64() > Some(0), "{on_gpu:?}");
        assert!(run("cpu", &cpu).expect("as before").succeeded(), "{command}");
        agree(command, (&dir.join(gpu).join(table), &dir.join(cpu).join(table)), columns, 1e-7);
    }
}

#[test]
fn basins_and_exponents_on_a_gpu_are_those_of_the_processor() {
    let dir = Scratch::new();
    let basins = |device, out| {
        let (x, v) = ("x=-2:1:60", "x'=-3:3:60");
        let words = ["basins", "oscillator", "--set", "w=5.7", "--set", "A=3.09", "--start", x, "--start", v];
        on("", &dir, &[&words[..], &["--device", device, "--out", out]].concat())
    };
    let Some(gpu) = basins("gpu", "b-gpu") else { return };
    let cpu = basins("cpu", "b-cpu").expect("as before");
    assert!(gpu.succeeded() && cpu.succeeded(), "{gpu:?}");
    let line = " pieces of trajectories on Mock GPU 0: ";
    let pace = " times as fast as the processor's lanes on ";
    assert!(gpu.stdout.contains(line) && gpu.stdout.contains(pace) && !cpu.stdout.contains("GPU"), "{gpu:?}");
    assert_eq!(dir.read("b-gpu/basins.csv"), dir.read("b-cpu/basins.csv"));
    let exponents = |device| {
        let words = ["lyapunov", "oscillator", "--over", "w=0.8:1.2:40", "--json", "--device", device];
        on("", &dir, &words).map(|answer| answer.json()["points"].clone())
    };
    let (gpu, cpu) = (exponents("gpu").expect("as before"), exponents("cpu").expect("as before"));
    let all = |points: &Value| -> Vec<f64> {
        let points = points.as_array().expect("points").iter();
        points
            .flat_map(|p| p["exponents"].as_array().expect("two"))
            .map(|e| e["value"].as_f64().expect("one"))
            .collect()
    };
    let (gpu, cpu) = (all(&gpu), all(&cpu));
    assert!(gpu.len() == 80 && cpu.len() == 80);
    // (Those of chaotic motions are known to their error only.)
    let near = gpu.iter().zip(&cpu).filter(|(a, b)| (*a - *b).abs() < 1e-8).count();
    assert!(near >= 70 && gpu.iter().zip(&cpu).all(|(a, b)| (a - b).abs() < 0.02), "{near}");
}

#[test]
fn where_memory_is_short_less_is_computed_at_a_time() {
    let dir = Scratch::new();
    let run = |machine, device, out| on(machine, &dir, &sweep(&["--device", device, "--json", "--out", out]));
    let Some(whole) = run("", "gpu", "whole") else { return };
    // (Room for a thousand or two of the three thousand.)
    let short = run("memory=2500000", "gpu", "short").expect("as before");
    let (whole, short) = (whole.json(), short.json());
    // (A worker that finds nothing left leaves the GPU to the other, and computes in lanes.)
    let on_gpu = |answer: &Value| answer["gpu"]["trajectories"].as_u64().expect("a number");
    assert!(on_gpu(&whole) == 3000 && on_gpu(&short) > 0, "{short} {whole}");
    assert_eq!((&short["gpu"]["failure"], &short["status"]["finished"]), (&Value::Null, &Value::from(3000)));
    agree("short", (&dir.join("short/points.csv"), &dir.join("whole/points.csv")), &[1, 3, 4, 5, 6, 7], 1e-8);
    let none = run("memory=100", "gpu", "none").expect("as before").json();
    let message = none["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("its memory has no room for 1024 trajectories") && message.contains("out of memory"),
        "{none}"
    );
    let auto = run("memory=100", "auto", "auto").expect("as before").json();
    assert_eq!((&auto["gpu"]["in_lanes"], &auto["status"]["finished"]), (&Value::from(3000), &Value::from(3000)));
    // What the kernel itself sets aside is taken before trajectories get the rest.
    let local = run("memory=6000000,local=4000000", "gpu", "local").expect("as before").json();
    assert_eq!((&local["status"]["finished"], &local["gpu"]["failure"]), (&Value::from(3000), &Value::Null), "{local}");
}

#[test]
fn a_gpu_that_fails_on_the_way_loses_nothing_and_invents_nothing() {
    let dir = Scratch::new();
    let run = |machine, more: &[&str]| {
        let many = ["sweep", "oscillator", "--over", "w=0.8:1.2:20000", "--periods", "3", "--impacts", "2"];
        on(machine, &dir, &[&many[..], more].concat())
    };
    let Some(whole) = run("", &["--device", "gpu", "--out", "whole"]) else { return };
    assert!(whole.succeeded(), "{whole:?}");
    let failed = run("launches=1", &["--device", "gpu", "--out", "gpu"]).expect("as before");
    assert!(!failed.succeeded() && failed.stderr.contains("unspecified launch failure"), "{failed:?}");
    // (A launch that fails may take the other one along: then there is nothing to go on with.)
    assert!(failed.stderr.contains("--device auto"), "{failed:?}");
    let again = run("", &["--device", "gpu", "--resume", "--out", "gpu"]).expect("as before");
    assert!(again.succeeded(), "{again:?}");
    for table in ["points.csv", "impacts.csv"] {
        assert_eq!(dir.read(&format!("gpu/{table}")), dir.read(&format!("whole/{table}")), "{table}");
    }
    for launches in ["launches=0", "launches=1"] {
        let auto = run(launches, &["--device", "auto", "--json", "--out", launches]).expect("as before").json();
        assert!(auto["gpu"]["failure"].as_str().is_some_and(|why| why.contains("launch failure")), "{auto}");
        assert!(auto["gpu"]["in_lanes"].as_u64() > Some(0), "{auto}");
        assert_eq!(auto["status"]["finished"], 20_000);
        let tables = (dir.join(launches).join("points.csv"), dir.join("whole/points.csv"));
        agree(launches, (&tables.0, &tables.1), &[1, 3, 4, 5, 6, 7], 1e-8);
    }
}

#[test]
fn a_kept_kernel_that_is_damaged_is_compiled_again() {
    let dir = Scratch::new();
    let run = |out| alone("", &dir, &sweep(&["--device", "gpu", "--out", out]));
    let Some(first) = run("first") else { return };
    assert!(first.succeeded(), "{first:?}");
    let kept = std::fs::read_dir(dir.join("cache/saltus/native")).expect("a cache").flatten();
    let kept =
        kept.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "ptx")).expect("a kernel");
    let whole = std::fs::read(&kept).expect("read");
    for (out, damaged) in [("cut", &whole[..whole.len() / 2]), ("empty", &[]), ("other", b"no kernel\0at all")] {
        std::fs::write(&kept, damaged).expect("written");
        assert!(run(out).expect("as before").succeeded(), "{out}");
        assert_eq!(std::fs::read(&kept).expect("read"), whole, "{out}");
        assert_eq!(dir.read(&format!("{out}/points.csv")), dir.read("first/points.csv"));
    }
}
