//! A family on the disk: rows that threads make side by side are those of the trajectories, whatever the number of threads.

use saltus_ensemble::store::Store;
use saltus_ensemble::{Block, Carry, Code, Plan, Request, Scalar, Sweep, devices};
use saltus_io::output::Format;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A part of a sweep, computed.
fn filled(sweep: &Sweep, dir: &Path, part: (u64, u64), threads: usize) -> Store {
    let mut store = Store::create(dir, sweep, part, false).expect("a store");
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads, stop };
    let layout = store.layout();
    let digest = |block: Block| layout.piece(&sweep.family, block);
    plan.run(&store.missing(), &digest, &mut |piece| store.take(piece), &mut |_| {}).expect("runs");
    store.flush().expect("written");
    store
}

fn swept(sweep: &Sweep, dir: &Path, threads: usize) -> String {
    let mut store = filled(sweep, dir, (1, 1), threads);
    assert!(store.missing().is_empty());
    store.tables(&[Format::Csv], threads).expect("tables");
    let counts = store.counts().expect("counts");
    // (Counted while it was computed, and read from the disk.)
    assert_eq!(counts, Store::open(dir).expect("opens").0.counts().expect("counts"));
    std::fs::read_to_string(dir.join("points.csv")).expect("a table")
}

#[test]
fn reasons_and_rows_belong_to_their_trajectories_whatever_the_number_of_threads() {
    // (Beyond x = 1 is the stop: these starts are refused, each with its own gap. There are many blocks in a shard.)
    let request = Request {
        over: vec!["x=0.5:1.5:3000".into()],
        periods: Some("1".into()),
        strobe: true,
        impacts: Some("all".into()),
        ..Request::default()
    };
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("a model");
    let sweep = request.sweep(file).expect("a sweep");
    let dir = tempfile::tempdir().expect("a directory");
    let one = swept(&sweep, &dir.path().join("one"), 1);
    assert_eq!(one, swept(&sweep, &dir.path().join("three"), 3));
    let engine = Scalar::new(sweep.family.problem(), &Arc::new(AtomicBool::new(false)));
    let (mut maker, mut refused) = (sweep.family.maker(), 0);
    for (k, row) in one.lines().skip(1).enumerate() {
        assert!(row.starts_with(&format!("{k},{:?},", sweep.family.values(k as u64)[0])), "{row}");
        if k % 100 != 99 {
            continue;
        }
        let outcome = engine.one(&maker.job(k as u64, None).job, &sweep.wanted).expect("not stopped");
        match outcome.status {
            Ok(_) => assert!(row.contains(",finished,") && row.ends_with(','), "{row}"),
            Err(reason) => {
                refused += 1;
                assert!(row.contains(",refused,") && row.contains(&reason), "{row}: {reason}");
            }
        }
    }
    assert_eq!((one.lines().count(), refused), (3001, 15));
}

#[test]
fn what_a_gpu_computed_is_read_on_any_machine() {
    let request =
        Request { over: vec!["w=0.8:1.2:5".into()], periods: Some("1".into()), code: Code::Gpu, ..Request::default() };
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("a model");
    let sweep = request.family(file.clone()).expect("a family");
    let dir = tempfile::tempdir().expect("a directory");
    let here = dir.path().join("here");
    swept(&sweep, &here, 1);
    assert_eq!(Store::open(&here).expect("opens").1.request.code, Code::Gpu);
    if devices().is_err() {
        let refused = request.sweep(file.clone()).expect_err("there is no GPU");
        assert!(refused.error.message.starts_with("this sweep cannot run on a GPU"), "{refused:?}");
        let optional = Request { code: Code::Auto, ..request }.sweep(file).expect("lanes will do");
        assert!(optional.native.is_none());
    }
}

#[test]
fn shards_of_another_sweep_are_refused() {
    let sweep = |c: &str, w: &str| {
        let request = Request {
            set: vec![("c".into(), c.into())],
            over: vec![w.into()],
            periods: Some("1".into()),
            ..Request::default()
        };
        let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("a model");
        request.sweep(file).expect("a sweep")
    };
    let dir = tempfile::tempdir().expect("a directory");
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let ours = sweep("0.1", "w=0.8:1.2:5");
    let table = swept(&ours, &one, 1);
    let shards = |dir: &Path| -> Vec<_> {
        let all = std::fs::read_dir(dir.join("shards")).expect("a folder");
        all.map(|entry| entry.expect("an entry").path()).collect()
    };
    for theirs in [sweep("0.2", "w=0.8:1.2:5"), sweep("0.1", "w=0.8:1.3:5")] {
        swept(&theirs, &other, 1);
        shards(&one).iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
        for path in shards(&other) {
            std::fs::copy(&path, one.join("shards").join(path.file_name().expect("a name"))).expect("copied");
        }
        let refused = [
            Store::create(&one, &ours, (1, 1), true).err(),
            Store::open(&one).err(),
            Store::merge(std::slice::from_ref(&one), &dir.path().join("merged")).err(),
        ];
        for error in refused.map(|error| error.expect("it is refused")) {
            let help = error.help.unwrap_or_default();
            assert!(error.message.ends_with("is of another sweep") && help.contains("--resume"), "{}", error.message);
        }
        std::fs::remove_dir_all(&other).expect("removed");
        std::fs::remove_dir_all(&one).expect("removed");
        assert_eq!(swept(&ours, &one, 1), table);
    }
    // A part has the shards of its sweep.
    let _ = Store::create(&dir.path().join("part"), &ours, (1, 2), false).expect("a store");
    for path in shards(&one) {
        let there = dir.path().join("part/shards").join(path.file_name().expect("a name"));
        std::fs::copy(&path, there).expect("copied");
    }
    assert!(Store::open(&dir.path().join("part")).is_ok());
}

/// Parts that overlap have other boundaries: of a shard, what is missing is taken.
#[test]
fn parts_that_overlap_are_merged() {
    let request = Request {
        over: vec!["x=0.5:1.2:30".into()],
        periods: Some("3".into()),
        strobe: true,
        impacts: Some("all".into()),
        ..Request::default()
    };
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("a model");
    let sweep = request.sweep(file).expect("a sweep");
    let dir = tempfile::tempdir().expect("a directory");
    let tables = |store: &mut Store| {
        store.tables(&[Format::Csv], 1).expect("tables");
        ["points", "strobe", "impacts"]
            .map(|name| std::fs::read(store.dir().join(format!("{name}.csv"))).expect("a table"))
    };
    let part = |k: u64, n: u64| {
        let path = dir.path().join(format!("{k}of{n}"));
        let store = filled(&sweep, &path, (k, n), 1);
        (path, store)
    };
    let whole = tables(&mut part(1, 1).1);
    let [(a, _), (b, _), (c, _), (d, _)] = [part(1, 2), part(2, 3), part(3, 3), part(1, 3)];
    for (k, parts) in [vec![a.clone(), b.clone(), c.clone()], vec![c.clone(), b, d, a.clone()]].into_iter().enumerate()
    {
        let mut merged = Store::merge(&parts, &dir.path().join(format!("merged{k}"))).expect("merged");
        assert_eq!(tables(&mut merged), whole);
    }
    let missing = Store::merge(&[a, c], &dir.path().join("less")).err().expect("something is missing");
    assert!(missing.message.contains("trajectory 15 of 30 is missing"), "{}", missing.message);
}

/// Parts carry the data files of their model along, and so does what is made of them.
#[test]
fn parts_with_data_files_are_merged() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("u.csv"), "0,0\n1,0.1\n2,0\n").expect("written");
    let model = "inputs.u = { file = \"u.csv\", outside = \"zero\" }\n[parameters]\nw = 1\n[coordinates]\nx = { position = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n[dynamics.force]\nx = \"cos(w*t) + u(t)\"\n";
    let request = Request { over: vec!["w=1:2:5".into()], end: Some("3".into()), ..Request::default() };
    let file = saltus_io::ModelFile::parse("model.toml", model, dir.path()).expect("a model");
    let sweep = request.sweep(file).expect("a sweep");
    let parts: Vec<_> = (1..=2).map(|k| dir.path().join(format!("{k}"))).collect();
    parts.iter().zip(1..).for_each(|(path, k)| drop(filled(&sweep, path, (k, 2), 1)));
    std::fs::remove_file(dir.path().join("u.csv")).expect("removed");
    let whole = dir.path().join("whole");
    assert!(Store::merge(&parts, &whole).expect("merged").missing().is_empty());
    // (And it can be made again from there.)
    let (store, again) = Store::open(&whole).expect("opens");
    assert_eq!((store.manifest.files.len(), again.family.len()), (1, 5));
}

#[test]
fn columns_of_one_name_are_refused() {
    let model = "[parameters]\nenergy = 1\n[coordinates]\nx = { position = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"energy*x^2\"\n";
    let file = || saltus_io::ModelFile::parse("model.toml", model, Path::new(".")).expect("a model");
    let dir = tempfile::tempdir().expect("a directory");
    let refused = |over: &str, statistics: &[&str]| {
        let statistics = statistics.iter().map(ToString::to_string).collect();
        let request = Request { over: vec![over.into()], end: Some("1".into()), statistics, ..Request::default() };
        let sweep = request.sweep(file()).expect("a sweep");
        Store::create(&dir.path().join("new"), &sweep, (1, 1), false).err().map(|e| e.message)
    };
    assert_eq!(refused("energy=1,2", &[]).as_deref(), Some("the table `points` would have two columns `energy`"));
    assert_eq!(refused("x=1,2", &["x", "x"]).as_deref(), Some("the table `points` would have two columns `min(x)`"));
    assert!(!dir.path().join("new").exists());
    assert_eq!(refused("x=1,2", &["x"]), None);
}

/// What is varied need not have a value of its own with which the model is defined; ranges are not made of what is varied.
#[test]
fn ranges_stand_for_themselves() {
    let model = "[parameters]\nm = 0\nk = 1\n[coordinates]\nx = { position = 0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n\n[[constraint]]\nname = \"wall\"\ngap = \"1/m - x\"\n[impact]\nrestitution = 0.5\n";
    let file = || saltus_io::ModelFile::parse("model.toml", model, Path::new(".")).expect("a model");
    let request = |over: &[&str], end: &str| Request {
        over: over.iter().map(ToString::to_string).collect(),
        end: Some(end.into()),
        ..Request::default()
    };
    assert_eq!(request(&["m=1,2"], "1/m").sweep(file()).expect("a sweep").family.len(), 2);
    assert_eq!(request(&["m=0,2"], "1/m").sweep(file()).expect("a sweep").family.len(), 2);
    assert!(request(&["m=0,0"], "1/m").sweep(file()).is_err());
    assert_eq!(request(&["m=1,2", "k=pi:2*pi:3"], "1").sweep(file()).expect("a sweep").family.len(), 6);
    let error = request(&["m=1,2", "k=m:2*m:3"], "1").sweep(file()).expect_err("which m?");
    assert!(error.error.message.contains("depends on `m`, which is varied itself"), "{error:?}");
}

#[test]
fn carried_states_are_found_behind_the_number_of_returns() {
    let request = Request {
        over: vec!["w=0.8:1.2:5".into()],
        end: Some("1e3".into()),
        sections: vec!["x':down".into()],
        returns: Some(3),
        carry: Some(Carry::Up),
        ..Request::default()
    };
    let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("a model");
    let sweep = request.sweep(file).expect("a sweep");
    let dir = tempfile::tempdir().expect("a directory");
    let mut store = Store::create(dir.path(), &sweep, (1, 1), false).expect("a store");
    let (layout, stop) = (store.layout(), Arc::new(AtomicBool::new(false)));
    let plan = Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads: 1, stop };
    let mut states = Vec::new();
    let digest = |block: Block| {
        let ends: Vec<_> = block.outcomes.iter().map(|o| (o.q.clone(), o.v.clone())).collect();
        (ends, layout.piece(&sweep.family, block))
    };
    let mut deliver = |(ends, piece): (Vec<(Vec<f64>, Vec<f64>)>, _)| {
        states.extend(ends);
        store.take(piece)
    };
    plan.carry(0, vec![None], &digest, &mut deliver, &mut |_| {}).expect("runs");
    store.flush().expect("written");
    let read = store.reached(&sweep, 0, 5).expect("reads");
    assert_eq!(states.len(), 5);
    for (state, (q, v)) in read.iter().zip(&states) {
        let state = state.as_ref().expect("it finished");
        assert_eq!((&state.q, &state.v), (q, v));
    }
}
