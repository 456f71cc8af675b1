//! Several runs of one structure: over steps, over modes, over schemes.

use super::super::check::wrapped;
use super::super::{compare, converge};
use super::describe;
use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{ReadyStructure, Refusal};
use crate::text::{count, duration, number, out, tame};
use anstyle::{AnsiColor, Style};
use saltus::analysis::{Fit, distance, fit};
use saltus::scheme::{self, Forcing};
use saltus::structure::{self, Portrait, Reduction, StructureOptions, StructureRun};
use saltus::{RunOptions, SetupError, Status, Trajectory};
use saltus_report::{CompareReport, Compared, ConvergeReport, Errors};
use std::process::ExitCode;
use std::time::Instant;

/// A run that reached its end, and its wall time.
fn finished(
    ready: &ReadyStructure,
    options: &RunOptions,
    more: &StructureOptions,
    json: bool,
) -> Result<(StructureRun, f64), SetupError> {
    let mut bar = Bar::new(json);
    let started = Instant::now();
    let done = structure::run(&ready.structure, options, more, &mut |p| bar.report(p));
    bar.finish();
    let done = done?;
    match &done.run.status {
        Status::Finished => Ok((done, started.elapsed().as_secs_f64())),
        Status::Interrupted { .. } => Err(SetupError::new("interrupted: nothing to compare yet")),
        Status::Failed(failure) => Err(SetupError::new(format!("{}: {failure}", options.scheme.name))),
    }
}

/// So many modes are followed by events without being asked for.
const FEW: usize = 40;

fn few(ready: &ReadyStructure, more: &StructureOptions) -> bool {
    let linear = ready.structure.linear();
    more.reduction.map_or(linear.dimension() - linear.massless().len(), |r| r.modes) <= FEW
}

/// Many instants of a long run are not needed to compare it.
fn thinned(options: RunOptions) -> RunOptions {
    let every = (options.end / options.step / 100_000.0).ceil().max(1.0) as u64;
    RunOptions { every: options.every.max(every), ..options }
}

/// One row of a study.
struct Row {
    label: String,
    size: f64,
    position: f64,
    impulse: f64,
    shocks: usize,
}

fn row(label: String, size: f64, run: &StructureRun, reference: &StructureRun) -> Row {
    let total = |r: &StructureRun| r.run.audit.impulses.iter().sum::<f64>();
    Row {
        label,
        size,
        position: distance(&run.run.trajectory, &reference.run.trajectory).position,
        impulse: (total(run) - total(reference)).abs() / total(reference).abs().max(1e-300),
        shocks: run.shocks.list.len(),
    }
}

pub fn converge(args: &converge::Args, ready: &ReadyStructure) -> Result<ExitCode, Refusal> {
    progress::listen();
    let (json, mut more) = (args.model.json, ready.more()?);
    let scheme = ready.scheme(args.scheme.as_ref())?;
    let first = ready.options(scheme, None)?;
    let over_modes = args.over.as_deref() == Some("modes");
    let mut runs = Vec::new();
    let reference;
    let against;
    if over_modes {
        let all = ready.structure.linear().dimension() - ready.structure.linear().massless().len();
        let residual = more.reduction.is_some_and(|r| r.residual);
        let start = more.reduction.map_or(2, |r| r.modes).clamp(1, all);
        let mut sizes: Vec<usize> =
            (0..args.levels).map(|k| (start as f64 * args.ratio.powi(k as i32)).round() as usize).collect();
        sizes.retain(|&m| m < all);
        sizes.dedup();
        for &modes in &sizes {
            more.reduction = Some(Reduction { modes, residual });
            let (run, _) = finished(ready, &thinned(first.clone()), &more, json)?;
            runs.push((format!("{modes}"), modes as f64, run));
        }
        more.reduction = None;
        reference = finished(ready, &thinned(first.clone()), &more, json)?.0;
        against = format!("all {all} modes");
    } else {
        if scheme.stepping().is_none() {
            return Err(SetupError::new(format!("{} has no step to refine", scheme.name)).into());
        }
        let coarse = (first.end / first.step).round().max(1.0);
        for k in 0..args.levels {
            let h = first.end / (coarse * args.ratio.powi(k as i32)).round();
            let (run, _) = finished(ready, &thinned(ready.options(scheme, Some(h))?), &more, json)?;
            runs.push((number(h, 4), h, run));
        }
        // By events where that is possible: rigid stops, and few enough modes.
        let finest = first.end / (coarse * args.ratio.powi(args.levels as i32 - 1) * 8.0).round();
        let events = ready.options(scheme::find("event-driven")?, Some(first.end / 2000.0))?;
        let by_events = if few(ready, &more) { finished(ready, &events, &more, json).ok() } else { None };
        (reference, against) = match by_events {
            Some((run, _)) => (run, "the run by events".to_string()),
            None => {
                let options = thinned(ready.options(scheme, Some(finest))?);
                (finished(ready, &options, &more, json)?.0, format!("its run with h = {}", number(finest, 4)))
            }
        };
    }
    let rows: Vec<Row> = runs.into_iter().map(|(label, size, run)| row(label, size, &run, &reference)).collect();
    let orders = |of: &dyn Fn(&Row) -> f64| fit(&rows.iter().map(|r| (r.size, of(r))).collect::<Vec<_>>());
    let (position, impulse) = (orders(&|r| r.position), orders(&|r| r.impulse));
    let extent = largest(&reference.run.trajectory);
    let verdict = over_modes.then(|| judge(&rows, extent, &reference)).flatten();
    if let Some(path) = &args.model.report {
        let errors = |name, fit, of: &dyn Fn(&Row) -> f64| Errors { name, values: rows.iter().map(of).collect(), fit };
        let page = saltus_report::converge(&ConvergeReport {
            model: ready.structure.model(),
            origin: report::origin(&ready.file),
            subtitle: format!("{}, differences from {against}", scheme.name),
            over: if over_modes { "number of modes" } else { "step" },
            steps: rows.iter().map(|r| r.size).collect(),
            errors: vec![
                errors("position", position, &|r| r.position),
                errors("total impulse, relative", impulse, &|r| r.impulse),
            ],
            impacts: rows.iter().map(|r| r.shocks).collect(),
            findings: verdict.iter().cloned().collect(),
            warnings: Vec::new(),
        });
        if let Err(code) = report::written(path, &page, json) {
            return Ok(code);
        }
    }
    if json {
        let list: Vec<_> = rows
            .iter()
            .map(|r| {
                let key = if over_modes { "modes" } else { "step" };
                serde_json::json!({ key: r.size, "position": r.position, "impulse": r.impulse, "shocks": r.shocks })
            })
            .collect();
        let line = |f: Option<Fit>| f.map(|f| serde_json::json!({ "order": f.order, "spread": f.spread }));
        let object = serde_json::json!({
            "model": ready.file.name, "scheme": scheme.name, "against": against, "levels": list, "verdict": verdict,
            "orders": { "position": line(position), "total_impulse": line(impulse) }, "reference_shocks": reference.shocks.list.len(),
        });
        out!("{object}\n");
        return Ok(ExitCode::SUCCESS);
    }
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    out!("{bold}{}{bold:#}\n", tame(&ready.structure.model().title));
    out!(
        "{dim}{}, differences from {against} ({}){dim:#}\n\n",
        scheme.name,
        count(reference.shocks.list.len() as u64, "shock")
    );
    let first = if over_modes { "modes" } else { "step" };
    out!("{dim}{first:<12} position     total impulse  shocks{dim:#}\n");
    for r in &rows {
        out!("{:<12} {:<12} {:<14} {}\n", r.label, number(r.position, 3), number(r.impulse, 3), r.shocks);
    }
    let shown = |f: Option<Fit>| f.map_or("-".into(), |f| format!("{} ± {}", number(f.order, 3), number(f.spread, 1)));
    out!("{bold}{:<12} {:<12} {}{bold:#}\n", "order", shown(position), shown(impulse));
    out!("{dim}positions: the largest difference of a point, of {}; impulse: relative{dim:#}\n", number(extent, 3));
    if let Some(verdict) = verdict {
        out!("\n{verdict}\n");
    }
    Ok(ExitCode::SUCCESS)
}

fn largest(motion: &Trajectory) -> f64 {
    motion.positions().iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// How many modes were enough, in a sentence.
fn judge(rows: &[Row], extent: f64, reference: &StructureRun) -> Option<String> {
    let last = rows.last()?;
    let shocks = reference.shocks.list.len();
    let good = |r: &Row| r.impulse < 0.05 && r.position < 0.05 * extent;
    let from = rows.iter().position(|r| rows.iter().skip_while(|q| q.size < r.size).all(good));
    Some(match from {
        Some(k) => format!(
            "from {} modes on, displacements and impulses are within 5 % of the whole structure's",
            rows[k].label
        ),
        None => format!(
            "even {} modes are not enough: displacements are off by {} % of the largest, impulses by {} %, {} shocks instead of {shocks}. \
             (Where impacts are many and close, single trajectories part whatever is done: compare statistics.)",
            last.label,
            number(100.0 * last.position / extent, 2),
            number(100.0 * last.impulse, 2),
            last.shocks
        ),
    })
}

/// The ways a structure can be run, as name, scheme and forcing.
const WAYS: [(&str, &str, Forcing); 4] = [
    ("paoli-schatzman newmark", "paoli-schatzman", Forcing::Newmark),
    ("paoli-schatzman exact", "paoli-schatzman", Forcing::Exact),
    ("moreau-jean", "moreau-jean", Forcing::Centred),
    ("event-driven", "event-driven", Forcing::Centred),
];

pub fn compare(args: &compare::Args, ready: &ReadyStructure) -> Result<ExitCode, Refusal> {
    progress::listen();
    let (json, more) = (args.model.json, ready.more()?);
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    let asked = |name: &str| args.schemes.is_empty() || args.schemes.iter().any(|s| name.starts_with(s.as_str()));
    for name in args.schemes.iter().filter(|s| !WAYS.iter().any(|(n, ..)| n.starts_with(s.as_str()))) {
        scheme::find(name)?;
        refused.push((name.clone(), "structures are not run with it".to_string()));
    }
    for (name, scheme, forcing) in WAYS.into_iter().filter(|(name, ..)| asked(name)) {
        let mut options = ready.options(scheme::find(scheme)?, args.steps.last().copied())?;
        options.settings.forcing = forcing;
        if options.scheme.stepping().is_none() && args.schemes.is_empty() && !few(ready, &more) {
            let why = format!(
                "more than {FEW} modes take long by events; ask for it with --schemes, or take fewer with --modes"
            );
            refused.push((name.to_string(), why));
            continue;
        }
        match finished(ready, &thinned(options), &more, json) {
            Ok((run, wall)) => done.push((name, run, wall)),
            Err(e) => refused.push((name.to_string(), e.message)),
        }
    }
    let Some((best, reference, _)) = done.last() else {
        return Err(SetupError::new("no scheme ran to the end").into());
    };
    let rows: Vec<(Row, f64)> =
        done.iter().map(|(name, run, wall)| (row(name.to_string(), 0.0, run, reference), *wall)).collect();
    if let Some(path) = &args.model.report {
        let pairs = done.iter().enumerate().flat_map(|(a, _)| (a + 1..done.len()).map(move |b| (a, b)));
        let apart = |a: usize, b: usize| distance(&done[a].1.run.trajectory, &done[b].1.run.trajectory);
        let page = saltus_report::compare(&CompareReport {
            model: ready.structure.model(),
            origin: report::origin(&ready.file),
            subtitle: format!("differences from {best}"),
            runs: done
                .iter()
                .zip(&rows)
                .map(|((name, run, wall), (r, _))| Compared {
                    name,
                    trajectory: &run.run.trajectory,
                    figures: vec![r.position, r.impulse, r.shocks as f64, *wall],
                })
                .collect(),
            heads: ["position", "total impulse, relative", "shocks", "time (s)"].map(String::from).to_vec(),
            distances: pairs
                .map(|(a, b)| {
                    let d = apart(a, b);
                    (a, b, [d.position, d.at, d.velocity])
                })
                .collect(),
            verdict: Vec::new(),
            warnings: refused.iter().map(|(name, why)| format!("{name}: {why}")).collect(),
        });
        if let Err(code) = report::written(path, &page, json) {
            return Ok(code);
        }
    }
    if json {
        let list: Vec<_> = rows
            .iter()
            .map(|(r, wall)| serde_json::json!({ "scheme": r.label, "position": r.position, "impulse": r.impulse, "shocks": r.shocks, "wall_s": wall }))
            .collect();
        let object = serde_json::json!({ "model": ready.file.name, "against": best, "runs": list, "refused": refused });
        out!("{object}\n");
        return Ok(ExitCode::SUCCESS);
    }
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    out!("{bold}{}{bold:#}\n{dim}differences from {best}{dim:#}\n\n", tame(&ready.structure.model().title));
    out!("{dim}{:<25} position     total impulse  shocks  time{dim:#}\n", "scheme");
    for (r, wall) in &rows {
        let (position, impulse) = (number(r.position, 3), number(r.impulse, 3));
        out!("{:<25} {position:<12} {impulse:<14} {:<7} {}\n", r.label, r.shocks, duration(*wall));
    }
    let extent = largest(&reference.run.trajectory);
    out!("{dim}positions: the largest difference of a point, of {}; impulse: relative{dim:#}\n", number(extent, 3));
    for (name, why) in &refused {
        out!("{yellow}{name}{yellow:#}: {}\n", tame(why));
    }
    Ok(ExitCode::SUCCESS)
}

pub fn check(ready: &ReadyStructure, json: bool, page: bool) -> Result<ExitCode, Refusal> {
    if page {
        return Err(SetupError::new("the check of a structure has no page")
            .help("leave --report out; `saltus run` has one")
            .into());
    }
    let portrait = Portrait::new(&ready.structure)?;
    let model = ready.structure.model();
    let linear = ready.structure.linear();
    let stops: Vec<(String, f64, f64, bool)> = model
        .constraints
        .iter()
        .enumerate()
        .map(|(a, c)| {
            (c.name.clone(), c.restitution, linear.contact_mass(a).unwrap_or(f64::NAN), linear.is_compliant(a))
        })
        .collect();
    if json {
        let list: Vec<_> = stops
            .iter()
            .map(|(name, e, mass, compliant)| serde_json::json!({ "stop": name, "restitution": e, "mass": mass, "compliant": compliant }))
            .collect();
        let object = serde_json::json!({
            "model": ready.file.name, "dofs": portrait.dofs, "massless": portrait.massless, "half_bandwidth": portrait.half_bandwidth,
            "masses": portrait.masses, "frequencies_hz": portrait.frequencies, "rigid_body_modes": portrait.rigid_names, "stops": list,
            "proved": { "covers": ready.structure.proof().covers, "sentence": ready.structure.proof().sentence },
        });
        out!("{object}\n");
        return Ok(ExitCode::SUCCESS);
    }
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    out!("{bold}{}{bold:#}\n\n", tame(&model.title));
    describe(&portrait);
    out!("\n{bold}stops{bold:#}\n");
    for (name, e, mass, compliant) in &stops {
        match compliant {
            true => out!("        {} {dim}a spring that pushes: forces, no impulses{dim:#}\n", tame(name)),
            false => out!("        {} {dim}e = {e}, feels a mass of{dim:#} {}\n", tame(name), number(*mass, 4)),
        }
    }
    let proof = ready.structure.proof();
    let mark = if proof.covers { "+" } else { "-" };
    out!("\n{bold}theorems{bold:#}\n        {mark} paoli-schatzman: {}\n", wrapped(&proof.sentence, 10));
    Ok(ExitCode::SUCCESS)
}
