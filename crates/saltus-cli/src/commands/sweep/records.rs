//! `saltus sweep MODEL --records ag=a.csv,b.csv`: one run for each record, one table of results.

use super::Args;
use crate::done::Done;
use crate::locate;
use crate::progress::is_stopped;
use crate::setup::{Ready, Refusal, SettingArgs, listed, pairs, scheme};
use crate::text::{count, number, out, print_json, printable};
use saltus::{SetupError, Status, run_observed};
use saltus_io::{Changes, output};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name of the table.
const TABLE: &str = "records.csv";

/// What one record gave.
struct Row {
    /// The words of its inputs, one for each of those that vary.
    records: Vec<String>,
    status: String,
    is_sound: bool,
    /// The columns, by name.
    values: Vec<(String, f64)>,
    /// The largest displacement.
    moved: Option<f64>,
}

impl Row {
    fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, x)| *x)
    }
}

/// The inputs that vary, each with its words.
fn axes(args: &Args) -> Result<Vec<(String, Vec<String>)>, SetupError> {
    let given = pairs("--records", &args.records, false)?;
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for (name, words) in given {
        if axes.iter().any(|(n, _)| *n == name) {
            return Err(SetupError::new(format!("the records of `{name}` are given twice"))
                .help("give all files in one list: --records ag=a.csv,b.csv"));
        }
        let words: Vec<String> = words.split(',').map(|w| w.trim().to_string()).collect();
        if words.iter().any(String::is_empty) {
            return Err(SetupError::new(format!("the list of records of `{name}` has an empty entry")));
        }
        axes.push((name, words));
    }
    let length = axes[0].1.len();
    match axes.iter().find(|(_, words)| words.len() != length) {
        None => Ok(axes),
        Some((name, words)) => Err(SetupError::new(format!(
            "{} of `{}`, but {} of `{name}`",
            count(length as u64, "record"),
            axes[0].0,
            words.len()
        ))
        .help(
            "several inputs vary together, like the components of an earthquake: their lists must have the same length",
        )),
    }
}

/// Makes one run and takes from it what the table has.
fn row(args: &Args, axes: &[(String, Vec<String>)], k: usize) -> Result<Row, Refusal> {
    let mut file = locate::model(args.model.as_deref().unwrap_or_default())?;
    let mut changes = Changes {
        set: pairs("--set", &args.set, false)?,
        start: pairs("--start", &listed(&args.start), true)?,
        ..Changes::default()
    };
    for (name, words) in axes {
        changes.inputs.push(file.replace_input(name, &words[k], Path::new(""))?);
    }
    let numbers = [("step", &args.step), ("end", &args.end)];
    changes.run.extend(numbers.into_iter().filter_map(|(k, v)| Some((k.to_string(), v.clone()?))));
    let ready = Ready::new(file, changes, &SettingArgs::default(), false, None)?;
    let options = ready.options(scheme(args.scheme.as_ref())?)?;
    let run = run_observed(&*ready.opened.system, ready.start(), &options, &mut |_| !is_stopped())?;
    let done = Done::new(&ready, run, 0.0);
    let (model, run) = (ready.opened.system.model(), &done.run);
    let mut values = vec![("impacts".to_string(), run.trajectory.impacts.len() as f64)];
    if let Some(shocks) = &done.shocks {
        values.push(("shocks".into(), shocks.list.len() as f64));
        for (s, c) in shocks.stops.iter().zip(&model.constraints) {
            let mut add = |what: &str, x: Option<f64>| values.extend(x.map(|x| (format!("{what}_{}", c.name), x)));
            add("shocks", Some(s.count as f64));
            add("impulse", Some(s.total_impulse));
            add("mean_force", Some(s.mean_force));
            add("peak_force", s.peak_force.map(|p| p.0));
            add("wear_power", s.wear_power);
            add("friction_work", s.friction.map(|f| f.work));
        }
        for g in &shocks.groups {
            let mut add = |what: &str, x: Option<f64>| values.extend(x.map(|x| (format!("{what}_all_{}", g.name), x)));
            add("shocks", Some(g.count as f64));
            add("impulse", Some(g.impulse));
            add("peak_force", g.peak_force);
            add("wear_power", g.wear_power);
            add("friction_work", g.friction.map(|f| f.0));
        }
        for (x, name) in run.extremes.iter().zip(&model.coordinates) {
            values.extend([
                (format!("max_{name}"), x.max),
                (format!("min_{name}"), x.min),
                (format!("rms_{name}"), x.rms),
            ]);
        }
    } else if let Some(last) = run.trajectory.len().checked_sub(1) {
        let end = run.trajectory.q(last);
        values.extend(model.coordinates.iter().zip(end).map(|(name, x)| (format!("end_{name}"), *x)));
    }
    values.push(("lost_at_impacts".into(), run.ledger.balance.dissipated_at_impacts));
    values.push(("energy_residual".into(), run.ledger.balance.relative()));
    Ok(Row {
        records: axes.iter().map(|(_, words)| words[k].clone()).collect(),
        moved: (run.extremes.iter().enumerate())
            .filter(|(p, _)| !run.trajectory.is_force(*p))
            .map(|(_, x)| x.max.abs().max(x.min.abs()))
            .reduce(f64::max),
        is_sound: run.status == Status::Finished && run.ledger.complaints().is_empty(),
        status: run.status.to_string(),
        values,
    })
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let axes = axes(args)?;
    let jobs = axes[0].1.len();
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Option<Result<Row, Refusal>>>> = Mutex::new((0..jobs).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..args.threads().min(jobs) {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::SeqCst);
                    if k >= jobs || is_stopped() {
                        return;
                    }
                    let row = row(args, &axes, k);
                    if let Ok(mut rows) = rows.lock() {
                        rows[k] = Some(row);
                    }
                }
            });
        }
    });
    let mut done = Vec::new();
    for row in rows.into_inner().unwrap_or_default().into_iter().flatten() {
        done.push(row?);
    }
    if done.is_empty() {
        return Err(Refusal::Interrupted);
    }
    let names: Vec<&String> = axes.iter().map(|(name, _)| name).collect();
    let mut written = None;
    if let Some(dir) = &args.out {
        let path = dir.join(TABLE);
        let text = table(&names, &done);
        output::prepare(dir)
            .and_then(|()| output::write_file(&path, |file| file.write_all(text.as_bytes())))
            .map_err(|e| SetupError::new(e.to_string()))?;
        written = Some(path.display().to_string());
    }
    if args.json {
        print_json(&json(&names, &done));
    } else {
        print(&names, &done);
        if let Some(path) = written {
            out!("\nwrote {path}\n");
        }
    }
    Ok(match (done.len() == jobs, done.iter().all(|row| row.is_sound)) {
        (false, _) => ExitCode::from(crate::progress::INTERRUPTED),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::FAILURE,
    })
}

/// One row per record, as CSV.
fn table(names: &[&String], rows: &[Row]) -> String {
    let field = |text: &str| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    let columns: Vec<&String> = rows[0].values.iter().map(|(name, _)| name).collect();
    let words = |row: &Row| row.records.iter().map(|w| field(w)).collect::<Vec<_>>().join(",");
    let head: Vec<String> = names.iter().map(|n| format!("record_{n}")).chain(["status".into()]).collect();
    let head = head.iter().chain(columns.iter().copied()).map(|n| field(n)).collect::<Vec<_>>().join(",");
    let mut text = head + "\n";
    for row in rows {
        let values: Vec<String> =
            columns.iter().map(|name| row.value(name).map_or(String::new(), |x| format!("{x:?}"))).collect();
        text += &format!("{},{},{}\n", words(row), field(&row.status), values.join(","));
    }
    text
}

fn json(names: &[&String], rows: &[Row]) -> serde_json::Value {
    let row = |row: &Row| {
        let records: serde_json::Map<String, serde_json::Value> =
            names.iter().zip(&row.records).map(|(n, w)| ((*n).clone(), serde_json::json!(w))).collect();
        let values: serde_json::Map<String, serde_json::Value> =
            row.values.iter().map(|(n, x)| (n.clone(), serde_json::json!(x))).collect();
        serde_json::json!({ "records": records, "status": row.status, "sound": row.is_sound, "values": values })
    };
    serde_json::json!({ "inputs": names, "rows": rows.iter().map(row).collect::<Vec<_>>() })
}

fn print(names: &[&String], rows: &[Row]) {
    out!("{}, one run each\n\n", count(rows.len() as u64, "record"));
    let shown = |row: &Row| {
        let sum = |what: &str| {
            let own = row.values.iter().filter(|(n, _)| n.starts_with(what) && !n.starts_with(&format!("{what}all_")));
            let values: Vec<f64> = own.map(|(_, x)| *x).collect();
            (!values.is_empty()).then_some(values)
        };
        let largest = |x: Vec<f64>| x.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let total = |x: Vec<f64>| x.into_iter().sum::<f64>();
        let text = |x: Option<f64>| x.map_or("–".to_string(), |x| number(x, 5));
        [
            row.records.join(" "),
            text(row.value("shocks").or(row.value("impacts"))),
            text(sum("impulse_").map(total)),
            text(sum("peak_force_").map(largest)),
            text(sum("wear_power_").map(total)),
            text(sum("friction_work_").map(total)),
            text(row.moved),
        ]
    };
    let of = names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(" ");
    let heads = [of.as_str(), "shocks", "impulse", "peak force", "wear power", "friction", "moved"].map(str::to_string);
    let cells: Vec<[String; 7]> = std::iter::once(heads).chain(rows.iter().map(shown)).collect();
    let widths: [usize; 7] = std::array::from_fn(|k| cells.iter().map(|row| row[k].chars().count()).max().unwrap_or(0));
    for row in &cells {
        let line: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", printable(cell))).collect();
        out!("{}\n", line.join("  ").trim_end());
    }
    for row in rows.iter().filter(|row| !row.is_sound) {
        out!("\n{}: {}\n", printable(&row.records.join(" ")), printable(&row.status));
    }
}
