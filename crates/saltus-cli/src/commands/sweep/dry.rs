//! `--dry-run`: how many trajectories, how long, how much disk, measured on a few of them.

use super::sample::{Measured, Sample};
use crate::commands::atlas::draw::trajectories;
use crate::setup::Refusal;
use crate::text::{duration, grouped, number, out, printable};
use saltus_ensemble::store::{Manifest, Store};
use saltus_ensemble::{Block, Job, Sweep};
use std::ops::Range;
use std::process::ExitCode;
use std::time::Duration;

/// Trajectories that are measured, at most,
const SAMPLE: u64 = 64;
/// which are few up to this,
const FEW: u64 = 8;
/// so many at a time,
const TOGETHER: u64 = 16;
/// for so many periods each, where there are no more than a few that last longer, or they last much longer,
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
    let whole = Manifest::new(sweep, part).range();
    let planned = whole.end - whole.start;
    let ranges = missing.unwrap_or_else(|| vec![whole]);
    let total: u64 = ranges.iter().map(|r| r.end - r.start).sum();
    if total == 0 {
        match json {
            true => crate::text::print_json(&serde_json::json!({ "trajectories": 0, "of": all })),
            false => out!("nothing to compute: {} already complete\n", trajectories(planned)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    // (A few trajectories say nothing about a GPU.)
    let native = sweep.native.as_ref().filter(|native| native.gpu().is_none());
    let sample = Sample { sweep, ranges: &ranges, most: SAMPLE, together: TOGETHER, native, patience: PATIENCE };
    let is_few = sample.count() <= FEW;
    let is_long = |job: &Job, period: f64| job.end - job.start.t > 10.0 * LONG * period;
    let part = |job: &Job| match job.strobe.filter(|&period| is_few || is_long(job, period)) {
        Some(period) => (LONG * period / (job.end - job.start.t)).min(1.0),
        None => 1.0,
    };
    let mut tables: Vec<(u64, Option<u64>)> = Vec::new();
    let mut complaint = None;
    let found = sample.measure(&part, &mut |block: Block| {
        let why = block.outcomes.first().and_then(|outcome| outcome.status.as_ref().err());
        complaint = complaint.take().or_else(|| why.map(|why| (block.first, why.clone())));
        for (k, (bytes, most)) in Store::bytes(sweep, block).into_iter().enumerate() {
            tables.resize(tables.len().max(k + 1), (0, None));
            tables[k] = (tables[k].0 + bytes, most);
        }
    });
    let Measured { count: measured, refused, share, .. } = found;
    if refused == measured {
        return Ok(none(sweep, &ranges, complaint, measured, json));
    }
    let seconds = found.seconds / measured.max(1) as f64 / share;
    let wall = seconds * total as f64 / (threads as f64).min(total as f64);
    let each = |&(bytes, most): &(u64, Option<u64>)| {
        (bytes as f64 / share / measured.max(1) as f64).min(most.map_or(f64::INFINITY, |most| most as f64))
    };
    let disk = tables.iter().map(each).sum::<f64>() * total as f64;
    // Shards, and tables of about the same size as npz and twice as large as CSV.
    let disk = 4.0 * disk;
    let is_gpu = sweep.native.as_ref().is_some_and(|native| native.gpu().is_some());
    if json {
        crate::text::print_json(&serde_json::json!({
            "trajectories": total, "of": all, "measured": measured, "refused": refused, "threads": threads,
            "seconds_per_trajectory": seconds, "seconds": wall, "bytes": disk,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let of = if total < all { format!(" of {}", grouped(all)) } else { String::new() };
    out!("{}{of}\n", trajectories(total));
    let part = if share < 1.0 { "the first periods of " } else { "" };
    out!(
        "about {} on {} ({} per trajectory, estimated from {part}{})\n",
        duration(wall),
        crate::text::count(threads as u64, "thread"),
        duration(seconds),
        trajectories(measured)
    );
    if is_gpu {
        out!("that is in lanes of the processor; what a GPU takes is not measured\n");
    }
    out!("about {} of disk space\n", size(disk));
    if refused > 0 {
        out!("cannot start: {refused} of {} tried\n", trajectories(measured));
    }
    Ok(ExitCode::SUCCESS)
}

/// No trajectory that was tried can start: nothing is known but why.
fn none(sweep: &Sweep, ranges: &[Range<u64>], complaint: Option<(u64, String)>, tried: u64, json: bool) -> ExitCode {
    let first = ranges.first().map_or(0, |range| range.start);
    let unmade = || sweep.family.maker().job(first, None).refusal.map(|why| (first, why));
    let (point, reason) = complaint.or_else(unmade).unwrap_or((first, "it cannot start".into()));
    match json {
        true => crate::text::print_json(&serde_json::json!({
            "trajectories": sweep.family.len(), "measured": tried, "refused": tried,
            "first_complaint": { "point": point, "reason": reason },
        })),
        false => {
            out!("cannot start: all of {} tried\n", trajectories(tried));
            out!("point {point}: {}\n", printable(&reason));
        }
    }
    ExitCode::FAILURE
}

/// Bytes as people read them.
fn size(bytes: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut k, mut x) = (0, bytes);
    while x >= 1000.0 && k + 1 < units.len() {
        x /= 1000.0;
        k += 1;
    }
    match x >= 1000.0 {
        true => format!("{} bytes", number(bytes, 2)),
        false => format!("{} {}", number(x, 2), units[k]),
    }
}
