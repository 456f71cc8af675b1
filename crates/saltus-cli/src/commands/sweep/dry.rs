//! `--dry-run`: how many trajectories, how long, how much disk, measured on a few of them.

use crate::setup::Refusal;
use crate::text::{duration, grouped, number, out};
use saltus_ensemble::store::Store;
use saltus_ensemble::{Block, Sweep, workers};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Trajectories that are measured, at most,
const SAMPLE: u64 = 64;
/// and for how long.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn main(sweep: &Sweep, part: (u64, u64), threads: usize, json: bool) -> Result<ExitCode, Refusal> {
    let all = sweep.family.len();
    let total = saltus_ensemble::store::Manifest::new(sweep, part).range();
    let (first, total) = (total.start, total.end - total.start);
    let mut worker = workers(sweep.family.problem(), &Arc::new(AtomicBool::new(false)));
    let mut maker = sweep.family.maker();
    let (started, mut measured, mut bytes, mut refused) = (Instant::now(), 0u64, 0u64, 0u64);
    let count = total.min(SAMPLE);
    // Spread over all of them, and not in a row: the ends of a range are rarely typical.
    for k in 0..count {
        if started.elapsed() > PATIENCE {
            break;
        }
        let point = first + (2 * (k * 37 % count) + 1) * total / (2 * count);
        let made = maker.job(point, None);
        let result = match made.refusal {
            None => {
                worker.run(std::slice::from_ref(&made.job), &sweep.wanted).into_iter().next().map(|o| (made.job, o))
            }
            Some(_) => None,
        };
        measured += 1;
        match result {
            Some(result) => {
                refused += u64::from(result.1.status.is_err());
                bytes += Store::bytes(sweep, &Block { first: point, results: vec![result] });
            }
            None => refused += 1,
        }
    }
    let seconds = started.elapsed().as_secs_f64() / measured.max(1) as f64;
    let (wall, disk) = (seconds * total as f64 / threads as f64, bytes as f64 / measured.max(1) as f64 * total as f64);
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
    out!("{} trajectories{of}\n", grouped(total));
    out!("about {} on {threads} threads ({} each, measured on {measured})\n", duration(wall), duration(seconds));
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
