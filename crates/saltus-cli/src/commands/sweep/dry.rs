//! `--dry-run`: how many trajectories, how long, how much disk, measured on a few of them.

use crate::setup::Refusal;
use crate::text::{duration, grouped, number, out};
use saltus_ensemble::store::{Manifest, Store};
use saltus_ensemble::{Block, Sweep, workers};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Trajectories that are measured, at most,
const SAMPLE: u64 = 64;
/// which are few up to this,
const FEW: u64 = 8;
/// so many at a time,
const TOGETHER: u64 = 16;
/// for so many periods each, where there are no more than a few that last longer,
const LONG: f64 = 400.0;
/// and for how long.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn main(
    sweep: &Sweep,
    part: (u64, u64),
    missing: Option<Vec<Range<u64>>>,
    threads: usize,
    json: bool,
) -> Result<ExitCode, Refusal> {
    let all = sweep.family.len();
    let ranges = missing.unwrap_or_else(|| vec![Manifest::new(sweep, part).range()]);
    let total: u64 = ranges.iter().map(|r| r.end - r.start).sum();
    if total == 0 {
        match json {
            true => crate::text::print_json(&serde_json::json!({ "trajectories": 0, "of": all })),
            false => out!("0 trajectories of {}: all are there\n", grouped(all)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut worker =
        workers(sweep.family.problem(), &sweep.wanted, sweep.native.as_ref(), &Arc::new(AtomicBool::new(false)));
    let mut maker = sweep.family.maker();
    let (started, mut measured, mut bytes, mut refused) = (Instant::now(), 0u64, 0u64, 0u64);
    let mut started_at_all = 0;
    let count = total.min(SAMPLE);
    // Spread over all of them, and not in a row: the ends of a range are rarely typical.
    let point = |k: u64| {
        let mut rest = (2 * (k * 37 % count) + 1) * total / (2 * count);
        for range in &ranges {
            let length = range.end - range.start;
            if rest < length {
                return range.start + rest;
            }
            rest -= length;
        }
        0
    };
    let (mut next, mut share) = (0, 1.0_f64);
    while next < count && started.elapsed() <= PATIENCE {
        // (Side by side, as they will be.)
        let group = next..count.min(next + TOGETHER);
        next = group.end;
        let made = group.map(|k| (point(k), maker.job(point(k), None))).filter(|(_, made)| made.refusal.is_none());
        let mut made: Vec<_> = made.map(|(point, made)| (point, made.job)).collect();
        for (_, job) in made.iter_mut().filter(|_| count <= FEW) {
            let lasts = job.end - job.start.t;
            let short = job.strobe.map_or(1.0, |period| (LONG * period / lasts).min(1.0));
            (job.end, job.from) = (job.start.t + short * lasts, job.start.t + short * (job.from - job.start.t));
            share = share.min(short);
        }
        let jobs: Vec<_> = made.iter().map(|(_, job)| job.clone()).collect();
        let outcomes = worker.run(&jobs, &sweep.wanted);
        measured = next;
        refused += outcomes.iter().filter(|outcome| outcome.status.is_err()).count() as u64;
        started_at_all += outcomes.len() as u64;
        for (((first, _), job), outcome) in made.iter().zip(jobs.chunks(1)).zip(outcomes.chunks(1)) {
            bytes += Store::bytes(sweep, Block { first: *first, jobs: job, outcomes: outcome });
        }
    }
    refused += measured - started_at_all;
    let seconds = started.elapsed().as_secs_f64() / measured.max(1) as f64 / share;
    let wall = seconds * total as f64 / (threads as f64).min(total as f64);
    let disk = bytes as f64 / share / measured.max(1) as f64 * total as f64;
    // Shards, and tables of about the same size as npz and twice as large as CSV.
    let disk = 4.0 * disk;
    if json {
        crate::text::print_json(&serde_json::json!({
            "trajectories": total, "of": all, "measured": measured, "refused": refused, "threads": threads,
            "seconds_per_trajectory": seconds, "seconds": wall, "bytes": disk,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let of = if total < all { format!(" of {}", grouped(all)) } else { String::new() };
    out!("{}{of}\n", if total == 1 { "1 trajectory".into() } else { format!("{} trajectories", grouped(total)) });
    let part = if share < 1.0 { ", the first periods of each" } else { "" };
    out!("about {} on {threads} threads ({} each, measured on {measured}{part})\n", duration(wall), duration(seconds));
    out!("about {} on the disk\n", size(disk));
    if refused > 0 {
        out!("{refused} of the {measured} measured cannot start\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// Bytes as people read them.
fn size(bytes: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut k = 0;
    let mut x = bytes;
    while x >= 1000.0 && k + 1 < units.len() {
        x /= 1000.0;
        k += 1;
    }
    format!("{} {}", number(x, 2), units[k])
}
