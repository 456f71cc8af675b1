//! What a sweep found, in words and as JSON.

use super::gpu::OnGpu;
use crate::commands::atlas::draw::trajectories;
use crate::progress;
use crate::report::quoted;
use crate::setup::Refusal;
use crate::text::{BOLD, DIM, count, duration, grouped, number, out, printable};
use saltus_ensemble::store::Store;
use saltus_ensemble::{Progress, Sweep};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// How many there are, in whatever way they ended.
fn total(counts: &[(&'static str, u64)]) -> u64 {
    counts.iter().map(|(_, n)| n).sum()
}

fn as_object(counts: &[(&'static str, u64)]) -> Value {
    Value::Object(counts.iter().map(|(word, n)| ((*word).to_string(), json!(n))).collect::<Map<_, _>>())
}

/// What varies, one line each.
fn axes(sweep: &Sweep) -> Vec<String> {
    let request = &sweep.request;
    let sampled = request.sample.map(|n| format!("{}, {}", count(n, "point"), request.design));
    let listed = request.listed.as_ref().map(|l| format!("{} of {}", count(l.len(), "point"), l.names.join(", ")));
    request.over.iter().cloned().chain(request.vary.iter().cloned()).chain(sampled).chain(listed).collect()
}

/// So many points are tried for one that can be run.
const MOST_REFUSED: usize = 1000;

/// How long trajectories are left to settle, and what is kept of them.
fn times(sweep: &Sweep) -> String {
    let request = &sweep.request;
    if let Some(periods) = &request.periods {
        let settles = request.transient.iter().map(|n| format!(", after {n} to settle"));
        return format!("each over {periods} periods{}", settles.collect::<String>());
    }
    // (Of points that can be run, if there are any nearby.)
    let mut maker = sweep.family.maker();
    let mut runs = |points: &mut dyn Iterator<Item = u64>| {
        let mut made = points.take(MOST_REFUSED).map(|point| maker.job(point, None));
        made.find(|made| made.refusal.is_none()).map(|made| [made.job.from, made.job.end].map(|t| number(t, 6)))
    };
    let (first, last) = (runs(&mut (0..sweep.family.len())), runs(&mut (0..sweep.family.len()).rev()));
    let (Some(first), Some(last)) = (first, last) else { return "no times: points are refused".into() };
    let range = |k: usize| match first[k] == last[k] {
        true => first[k].clone(),
        false => format!("{} (first point) or {} (last)", first[k], last[k]),
    };
    format!("each from t = {} to t = {}", range(0), range(1))
}

/// The end of `saltus sweep`.
pub fn swept(
    sweep: &Sweep,
    store: &Store,
    done: &Progress,
    threads: usize,
    finished: bool,
    written: &[String],
    is_json: bool,
) -> Result<ExitCode, Refusal> {
    let counts = store.counts()?;
    let total = total(&counts);
    let share = if done.done > 0 { done.scalar as f64 / done.done as f64 } else { 0.0 };
    let rate = if done.seconds > 0.0 { done.done as f64 / done.seconds } else { 0.0 };
    let part = store.manifest.part;
    let complaint = store.complaint()?;
    let on_gpu = OnGpu::of(sweep, done, threads).filter(|_| finished);
    let fewer = sweep.wanted.returns.map(|n| store.fewer_returns(n).map(|fewer| (n, fewer))).transpose()?;
    if is_json {
        crate::text::print_json(&json!({
            "model": sweep.file.name, "trajectories": sweep.family.len(), "part": [part.0, part.1], "complete": finished,
            "stored": total, "computed": done.done, "status": as_object(&counts), "impacts": store.impacts()?,
            "seconds": done.seconds, "trajectories_per_second": rate, "threads": threads, "scalar_share": share,
            "first_complaint": complaint.map(|(point, reason)| json!({ "point": point, "reason": reason })),
            "out": store.dir().display().to_string(), "files": written,
            "gpu": on_gpu.as_ref().map(OnGpu::json), "fewer_returns": fewer.map(|(_, fewer)| fewer),
        }));
    } else {
        out!("{BOLD}{}{BOLD:#}\n", printable(sweep.file.title()));
        for axis in axes(sweep) {
            out!("{DIM}over{DIM:#} {}\n", printable(&axis));
        }
        let words: Vec<String> = counts.iter().map(|(word, n)| format!("{} {word}", grouped(*n))).collect();
        let range = store.manifest.range();
        let planned = range.end - range.start;
        let of = if total < planned { format!(" of {}", grouped(planned)) } else { String::new() };
        let name = if total == 1 && of.is_empty() { "trajectory" } else { "trajectories" };
        match words.is_empty() {
            true => out!("{}{of} {name}\n", grouped(total)),
            false => out!("{}{of} {name}: {}\n", grouped(total), words.join(", ")),
        }
        if let Some((point, reason)) = &complaint {
            out!("point {point}: {}\n", printable(reason));
            let dir = quoted(&store.dir().display().to_string());
            out!("{DIM}saltus sweep rerun {dir} --point {point}{DIM:#} runs it alone\n");
        }
        out!("{}\n", times(sweep));
        if let Some((n, fewer)) = fewer.filter(|(_, fewer)| *fewer > 0) {
            let ended = format!("{} ended before {n} returns", trajectories(fewer));
            out!("{ended}: give them more time with --end or --periods\n");
        }
        if sweep.wanted.sections && store.rows("sections") == 0 {
            out!("no trajectory crosses a section after its transient\n");
        }
        if done.done > 0 {
            let (now, earlier) = (done.done, total.saturating_sub(done.done));
            if earlier > 0 {
                out!("{} computed now, {} already done\n", grouped(now), grouped(earlier));
            }
            out!(
                "{} in {} on {}: {} trajectories per second, {}\n",
                count(done.impacts, "impact"),
                duration(done.seconds),
                count(threads as u64, "thread"),
                grouped(rate.round() as u64),
                match &sweep.wanted.scheme {
                    Some(scheme) if share == 0.0 => format!("with steps of {scheme}"),
                    Some(scheme) =>
                        format!("with steps of {scheme}, {} % recomputed one by one", number(100.0 * share, 3)),
                    None => format!("event engine used in {} % of them", number(100.0 * share, 3)),
                }
            );
        }
        on_gpu.iter().flat_map(OnGpu::lines).for_each(|line| out!("{line}\n"));
        match (finished, part.1 > 1) {
            (true, false) => out!("wrote {} to {}\n", written.join(", "), store.dir().display()),
            (true, true) => out!("part {} of {} is complete: combine all parts with `saltus merge`\n", part.0, part.1),
            (false, _) => out!("interrupted: repeat the command with --resume to continue\n"),
        }
    }
    Ok(match (finished, progress::is_stopped()) {
        (false, _) => ExitCode::from(progress::INTERRUPTED),
        (true, _) if !counts.is_empty() && counts.iter().all(|(word, _)| matches!(*word, "refused" | "failed")) => {
            ExitCode::FAILURE
        }
        (true, _) => ExitCode::SUCCESS,
    })
}

/// The end of `saltus merge`.
pub fn merged(store: &Store, written: &[String], is_json: bool) -> Result<(), Refusal> {
    let counts = store.counts()?;
    let total = total(&counts);
    if is_json {
        crate::text::print_json(&json!({
            "trajectories": store.manifest.trajectories, "stored": total, "status": as_object(&counts),
            "out": store.dir().display().to_string(), "files": written,
        }));
        return Ok(());
    }
    out!("{} of {}\n", trajectories(total), printable(&store.manifest.title));
    out!("wrote {} to {}\n", written.join(", "), store.dir().display());
    Ok(())
}
