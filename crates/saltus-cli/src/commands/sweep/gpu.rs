//! What a GPU did for a sweep, and how much faster than the processor.

use super::sample::Sample;
use crate::setup::Refusal;
use crate::text::{count, duration, grouped, number, printable};
use saltus::SetupError;
use saltus_ensemble::atlas::basins::{Basins, cost};
use saltus_ensemble::{Block, Exponents, Job, Native, Progress, Shares, Spent, Sweep};
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
    /// Of what it computed; None where it is not counted.
    shares: Option<Shares>,
    /// What is counted, one and several.
    nouns: (&'static str, &'static str),
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
        let nouns = ("trajectory", "trajectories");
        Some(OnGpu { name, spent, shares: Some(shares), nouns, failure, pace })
    }

    /// What it did for basins, in so many seconds.
    pub fn of_basins(sweep: &Sweep, basins: &Basins, (seconds, threads): (f64, usize)) -> Option<Self> {
        let native = sweep.native.as_ref()?;
        let (name, spent, shares, failure) =
            (native.gpu()?.to_string(), native.spent()?, native.shares()?, native.failure());
        let pace = || {
            let cost = cost(sweep, None, PATIENCE).ok().filter(|cost| cost.measured > cost.refused)?;
            let times = cost.seconds_per_period * basins.periods as f64 / threads as f64 / seconds;
            let measured = (cost.measured - cost.refused) as u64;
            (times > 0.0 && times.is_finite()).then_some(Pace { times, threads, measured })
        };
        let pace = if failure.is_none() && shares.on_gpu > 0 { pace() } else { None };
        let nouns = ("piece of a trajectory", "pieces of trajectories");
        Some(OnGpu { name, spent, shares: Some(shares), nouns, failure, pace })
    }

    /// What it did for exponents.
    pub fn of_exponents(exponents: &Exponents) -> Option<Self> {
        let (name, spent) = (exponents.gpu()?.to_string(), exponents.spent()?);
        Some(OnGpu { name, spent, shares: None, nouns: ("", ""), failure: exponents.failure(), pace: None })
    }

    pub fn json(&self) -> Value {
        json!({
            "name": self.name, "kernel_seconds": self.spent.seconds, "longest": self.spent.longest,
            "launches": self.spent.launches, "trajectories": self.shares.map(|shares| shares.on_gpu),
            "in_lanes": self.shares.map(|shares| shares.in_lanes),
            "failure": self.failure,
            "times_as_fast_as_lanes": self.pace.map(|pace| pace.times), "lane_threads": self.pace.map(|pace| pace.threads),
            "measured": self.pace.map(|pace| pace.measured),
        })
    }

    /// The same in words, one sentence in a line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(why) = &self.failure {
            lines.push(format!("the GPU failed: {}", printable(why)));
        }
        let name = printable(&self.name);
        let Some(Shares { on_gpu, in_lanes }) = self.shares else {
            lines.push(match self.spent.launches {
                0 => "nothing was computed on the GPU".to_string(),
                _ => format!("on {name}: {}", self.kernels()),
            });
            if self.failure.is_some() {
                lines.push("the rest on the processor".into());
            }
            return lines;
        };
        let counted = |n: u64| match n {
            1 => format!("1 {}", self.nouns.0),
            n => format!("{} {}", grouped(n), self.nouns.1),
        };
        lines.push(match (on_gpu, in_lanes) {
            (0, _) => "nothing was computed on the GPU".to_string(),
            (_, 0) => format!("all on {name}: {}", self.kernels()),
            (some, _) => format!("{} on {name}: {}", counted(some), self.kernels()),
        });
        if in_lanes > 0 {
            lines.push(format!("{} in lanes of the processor", counted(in_lanes)));
        }
        if let Some(Pace { times, threads, measured }) = self.pace {
            let threads = count(threads as u64, "thread");
            let slower = if times < 1.0 { ": --device cpu takes less" } else { "" };
            lines.push(format!(
                "about {} times as fast as the processor's lanes on {threads}, estimated from {}{slower}",
                number(times, 2),
                if measured == 1 { "1 trajectory".into() } else { format!("{measured} trajectories") }
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
        Some(why) => {
            let is_nothing = native.and_then(Native::shares).is_some_and(|done| done.on_gpu + done.in_lanes == 0);
            let help = match is_nothing {
                true => "--device auto goes on in lanes where a GPU fails",
                false => {
                    "what was computed is kept: --resume goes on with it; --device auto goes on in lanes where a GPU fails"
                }
            };
            Err(SetupError::new(format!("the GPU failed: {why}")).help(help).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::sweep;
    use saltus_ensemble::Request;
    use saltus_ensemble::store::Store;

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
}
