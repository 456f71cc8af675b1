//! What a GPU did for a sweep, and how much faster than the processor.

use super::sample::Sample;
use crate::setup::Refusal;
use crate::text::{count, duration, grouped, number, printable};
use saltus::SetupError;
use saltus_ensemble::{Block, Job, Native, Progress, Shares, Spent, Sweep};
use serde_json::{Value, json};
use std::time::Duration;

/// Trajectories that are computed in lanes as well,
const SAMPLE: u64 = 64;
/// and for how long, about, but not much longer than the sweep itself took, unless that was less than
const PATIENCE: Duration = Duration::from_millis(250);
const SHORT: Duration = Duration::from_millis(40);
/// They begin with this part of their time, and go on with so many times as much of it.
const FIRST: f64 = 1.0 / 65_536.0;
const MORE: f64 = 4.0;
/// Trajectories in a block of the processor, at least.
const BLOCK: u64 = 32;

/// What a GPU did.
pub struct OnGpu {
    name: String,
    spent: Spent,
    shares: Shares,
    failure: Option<String>,
    pace: Option<Pace>,
}

/// How fast it was, as far as that is known without computing everything twice.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many times as fast as the processor's lanes on so many threads,
    pub times: f64,
    pub threads: usize,
    /// from so many trajectories.
    pub measured: u64,
}

/// How many times as fast a sweep was computed as it would have been in lanes, on so many threads: measured on a few of its trajectories.
/// None if there is nothing to measure.
pub fn pace(sweep: &Sweep, done: &Progress, threads: usize) -> Option<Pace> {
    let all = 0..sweep.family.len();
    let ranges = std::slice::from_ref(&all);
    let patience = PATIENCE.min(SHORT.max(Duration::try_from_secs_f64(done.seconds).unwrap_or(PATIENCE)));
    let sample = Sample { sweep, ranges, most: SAMPLE, together: SAMPLE, native: None, patience };
    let mut share = FIRST;
    // (How long a trajectory takes is not known before: so as not to take long, each goes a little further than the time before.)
    let measured = loop {
        let measured = sample.measure(&|_: &Job| share, &mut |_: Block| {});
        if share >= 1.0 || measured.seconds * MORE > patience.as_secs_f64() {
            break measured;
        }
        share = (share * MORE).min(1.0);
    };
    let threads = (threads as u64).min(sweep.family.side_by_side().div_ceil(BLOCK)).max(1) as usize;
    let in_lanes = measured.seconds / measured.time * done.time / threads as f64;
    let times = in_lanes / done.seconds;
    (times > 0.0 && times.is_finite()).then_some(Pace { times, threads, measured: measured.count })
}

impl OnGpu {
    /// What it did; None if a sweep was not to be computed on one, or nothing was computed.
    pub fn of(sweep: &Sweep, done: &Progress, threads: usize) -> Option<Self> {
        let native = sweep.native.as_ref()?;
        let (name, spent, shares) = (native.gpu()?.to_string(), native.spent()?, native.shares()?);
        if done.done == 0 {
            return None;
        }
        let failure = native.failure();
        // (Where lanes computed a part of it, there is nothing to compare.)
        let is_whole = shares.on_gpu > 0 && shares.in_lanes == 0 && failure.is_none();
        let pace = if is_whole { pace(sweep, done, threads) } else { None };
        Some(OnGpu { name, spent, shares, failure, pace })
    }

    pub fn json(&self) -> Value {
        json!({
            "name": self.name, "kernel_seconds": self.spent.seconds, "longest": self.spent.longest,
            "launches": self.spent.launches, "trajectories": self.shares.on_gpu, "in_lanes": self.shares.in_lanes,
            "failure": self.failure,
            "times_as_fast_as_lanes": self.pace.map(|pace| pace.times), "lane_threads": self.pace.map(|pace| pace.threads),
            "measured": self.pace.map(|pace| pace.measured),
        })
    }

    /// The same in words, one sentence in a line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let Shares { on_gpu, in_lanes } = self.shares;
        if let Some(why) = &self.failure {
            lines.push(format!("the GPU failed: {}", printable(why)));
        }
        lines.push(match (on_gpu, in_lanes) {
            (0, _) => "nothing was computed on the GPU".to_string(),
            (_, 0) => format!("all on {}: {}", printable(&self.name), self.kernels()),
            (some, _) => {
                let some = if some == 1 { "1 trajectory".into() } else { format!("{} trajectories", grouped(some)) };
                format!("{some} on {}: {}", printable(&self.name), self.kernels())
            }
        });
        if in_lanes > 0 {
            let rest =
                if in_lanes == 1 { "1 trajectory".into() } else { format!("{} trajectories", grouped(in_lanes)) };
            lines.push(format!("{rest} in lanes of the processor"));
        }
        if let Some(Pace { times, threads, measured }) = self.pace {
            let threads = count(threads as u64, "thread");
            let slower = if times < 1.0 { ": --device cpu takes less" } else { "" };
            lines.push(format!(
                "about {} times as fast as the processor's lanes on {threads}, estimated from {measured} trajectories{slower}",
                number(times, 2)
            ));
        }
        lines
    }

    fn kernels(&self) -> String {
        let steps = grouped(self.spent.longest);
        let seconds = duration(self.spent.seconds);
        format!("{seconds} in kernels, some of them side by side; at most {steps} steps of a trajectory at once")
    }
}

/// The mistake of a GPU that failed where nothing was to take its place.
pub fn lost(native: Option<&Native>) -> Result<(), Refusal> {
    match native.filter(|native| !native.falls_back()).and_then(Native::failure) {
        None => Ok(()),
        Some(why) => Err(SetupError::new(format!("the GPU failed: {why}"))
            .help(
                "what was computed is kept: --resume goes on with it; --device auto goes on in lanes where a GPU fails",
            )
            .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::sweep;
    use saltus_ensemble::store::Store;
    use saltus_ensemble::{Request, Target};

    /// A sweep on what is in the place of a GPU; nothing where the machine has no compiler.
    fn on_gpu(request: &Request, fails_after: Option<u64>) -> Option<Sweep> {
        let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("read");
        let mut sweep = request.sweep(file).expect("a sweep");
        let native =
            Native::compile_for(sweep.family.problem(), sweep.wanted.scheme.as_deref(), Target::Thread).ok()?;
        sweep.native = Some(native.stand_in(64, fails_after));
        Some(sweep)
    }

    fn request(points: u64, periods: u64) -> Request {
        let over = vec![format!("w=0.8:1.2:{points}")];
        Request { over, periods: Some(periods.to_string()), ..Request::default() }
    }

    fn run(sweep: &Sweep) -> (bool, Progress) {
        let dir = tempfile::tempdir().expect("a directory");
        let mut store = Store::create(&dir.path().join("sweep"), sweep, (1, 1), false).expect("a store");
        sweep::run(sweep, &mut store, 2, true).expect("a disk")
    }

    #[test]
    fn a_summary_says_what_a_gpu_did_and_how_fast_it_was() {
        let Some(sweep) = on_gpu(&request(300, 20), None) else { return };
        let (finished, done) = run(&sweep);
        let found = OnGpu::of(&sweep, &done, 2).expect("a GPU");
        let lines = found.lines();
        assert!(finished && lines[0].starts_with("all on the processor, in the place of a GPU: "), "{lines:?}");
        assert!(
            lines[1].contains(" times as fast as the processor's lanes on 2 threads, estimated from 64"),
            "{lines:?}"
        );
        assert_eq!((found.json()["trajectories"].as_u64(), found.json()["in_lanes"].as_u64()), (Some(300), Some(0)));
        assert!(found.json()["times_as_fast_as_lanes"].as_f64().is_some_and(|times| times > 0.0));
    }

    #[test]
    fn the_pace_of_lanes_themselves_is_one() {
        // Long enough for the sample to be cut, and with returns that end a trajectory long before its time.
        let returns = Request {
            sections: vec!["x':down".into()],
            returns: Some(100),
            periods: None,
            end: Some("1e5".into()),
            ..request(400, 1)
        };
        for request in [request(400, 300), returns] {
            let file = saltus_io::shipped::find("oscillator").expect("shipped").expect("read");
            let sweep = request.sweep(file).expect("a sweep");
            let (_, done) = run(&sweep);
            let pace = pace(&sweep, &done, 2).expect("a pace");
            println!("{pace:?}, {} s", done.seconds);
            // (Other work on the machine is in it.)
            assert!((0.1..10.0).contains(&pace.times), "{pace:?}");
        }
    }

    #[test]
    fn a_gpu_that_fails_is_a_mistake_or_said() {
        let Some(sweep) = on_gpu(&request(300, 20), Some(3)) else { return };
        let (finished, done) = run(&sweep);
        assert!(!finished && done.done < 300);
        assert!(lost(sweep.native.as_ref()).is_err());
        let mut sweep = on_gpu(&request(300, 20), Some(3)).expect("as before");
        sweep.native = sweep.native.map(Native::or_lanes);
        let (finished, done) = run(&sweep);
        assert!(finished && lost(sweep.native.as_ref()).is_ok());
        let found = OnGpu::of(&sweep, &done, 2).expect("a GPU");
        let lines = found.lines();
        assert!(lines[0].contains("the GPU failed: the GPU's driver says"), "{lines:?}");
        assert!(lines[1].contains(" trajectories on the processor, in the place of a GPU: "), "{lines:?}");
        assert!(lines[2].ends_with(" trajectories in lanes of the processor") && lines.len() == 3, "{lines:?}");
        assert!(lost(None).is_ok());
    }
}
