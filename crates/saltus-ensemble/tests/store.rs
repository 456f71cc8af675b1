//! A family on the disk: rows that threads make side by side are those of the trajectories, whatever the number of threads.

use saltus_ensemble::store::Store;
use saltus_ensemble::{Block, Plan, Request, Scalar, Sweep};
use saltus_io::output::Format;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn swept(sweep: &Sweep, dir: &Path, threads: usize) -> String {
    let mut store = Store::create(dir, sweep, (1, 1), false).expect("a store");
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads, stop };
    let layout = store.layout();
    let digest = |block: Block| layout.piece(&sweep.family, block);
    plan.run(&store.missing(), &digest, &mut |piece| store.take(piece), &mut |_| {}).expect("runs");
    store.flush().expect("written");
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
