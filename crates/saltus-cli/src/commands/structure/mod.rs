//! Runs of structures: what they are, what hit, the table of shocks.

mod study;

pub use study::{check, compare, converge};

use super::run::{Args, outcome};
use crate::progress::{self, Bar};
use crate::setup::{ReadyStructure, Refusal};
use crate::text::{count, duration, grouped, number, out, tame};
use crate::{report, sketch};
use anstyle::{AnsiColor, Style};
use saltus::structure::{Portrait, StructureRun};
use saltus::{Model, RunOptions, SetupError, Status, structure};
use saltus_io::output::{self, Format, Record, StructureSummary, Summary};
use std::process::ExitCode;
use std::time::Instant;

/// How many shocks the summary shows.
const SHOWN: usize = 8;

pub fn run(args: &Args, ready: ReadyStructure) -> Result<ExitCode, Refusal> {
    let json = args.model.json;
    for (given, option) in [(args.until_rest, "--until-rest"), (args.probe.is_some(), "--probe")] {
        if given {
            return Err(SetupError::new(format!("{option} is not there for structures")).into());
        }
    }
    let mut options = ready.options(ready.scheme(args.scheme.as_ref())?, None)?;
    options.every = args.every.unwrap_or(options.every);
    let mut more = ready.more()?;
    more.outline = args.model.report.is_some();
    let formats = match args.format.as_slice() {
        [] => Format::DEFAULT.to_vec(),
        names => names.iter().map(|n| Format::find(n)).collect::<Result<_, _>>()?,
    };
    if let Some(dir) = &args.out {
        output::prepare(dir).map_err(|e| SetupError::new(e.to_string()))?;
    }
    let portrait = Portrait::new(&ready.structure)?;
    let model = ready.structure.model();
    progress::listen();
    let mut bar = Bar::new(json);
    let started = Instant::now();
    let done = structure::run(&ready.structure, &options, &more, &mut |p| bar.report(p));
    let wall_s = started.elapsed().as_secs_f64();
    bar.finish();
    let done = done?;
    let (run, ledger) = (&done.run, &done.ledger);
    let mut summary = Summary::new(&ready.file, model, &options, run, ledger, wall_s);
    summary.structure = Some(StructureSummary::new(model, &portrait, &done.shocks));
    let mut unwritten = Vec::new();
    if let Some(dir) = &args.out {
        progress::saving();
        let record = Record::new(&ready.file, model, &options, &ready.overrides, summary.clone());
        let written = output::write(dir, model, run, ledger, &record, &formats);
        let written = written.and_then(|()| output::write_shocks(dir, model, &done.shocks));
        unwritten.extend(written.err().map(|e| e.to_string()));
    }
    if let Some(path) = &args.model.report {
        progress::saving();
        let page = report::of_structure(&ready, &options, &done, wall_s, told(model, &portrait, &done));
        unwritten.extend(page.and_then(|page| report::save(path, &page)).err().map(|e| e.message));
    }
    if json {
        let mut object = serde_json::to_value(&summary).unwrap_or_default();
        if !unwritten.is_empty() {
            object["error"] = serde_json::json!({ "message": unwritten.join("; ") });
        }
        out!("{object}\n");
    } else {
        print(model, &options, &portrait, &done, &summary);
        if args.plot {
            sketch::print(model, &run.trajectory, args.ascii);
        }
        if let (Some(dir), true) = (&args.out, unwritten.is_empty()) {
            let written = Format::ALL.into_iter().filter(|f| formats.contains(f));
            let written = written.flat_map(Format::files).map(|f| format!("{f}, ")).collect::<String>();
            out!("\nwrote {written}impacts.csv, contacts.csv, energy.csv, shocks.csv, run.json to {}\n", dir.display());
        }
        if let (Some(path), true) = (&args.model.report, unwritten.is_empty()) {
            report::tell(path);
        }
    }
    Ok(outcome(args, unwritten, &ledger.complaints(&options), &run.status))
}

/// What the structure is, in a few lines.
pub fn describe(portrait: &Portrait) {
    let massless = match portrait.massless {
        0 => String::new(),
        n => format!(", {n} of them massless"),
    };
    out!(
        "structure            {} degrees of freedom{massless}, half-bandwidth {}\n",
        grouped(portrait.dofs as u64),
        portrait.half_bandwidth
    );
    let masses: Vec<String> = portrait
        .masses
        .iter()
        .filter_map(|(name, m)| m.map(|m| format!("{} of {}", number(m, 5), tame(name))))
        .collect();
    if !masses.is_empty() {
        out!("mass                 {}\n", masses.join(", "));
    }
    let shown: Vec<String> = portrait.frequencies.iter().take(5).map(|f| number(*f, 5)).collect();
    out!("frequencies          {} … Hz (units of the model)\n", shown.join(", "));
    if portrait.rigid > 0 {
        let names: Vec<String> = portrait.rigid_names.iter().map(|n| tame(n)).collect();
        out!("free to move         {}: {}\n", count(portrait.rigid as u64, "rigid-body mode"), names.join(", "));
    }
}

fn print(model: &Model, options: &RunOptions, portrait: &Portrait, done: &StructureRun, summary: &Summary) {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let (run, shocks) = (&done.run, &done.shocks);
    out!("{bold}{}{bold:#}\n", tame(&model.title));
    let reached = summary.last.as_ref().map_or(0.0, |s| s.t);
    let fineness = match options.scheme.stepping() {
        Some(_) => format!("h = {}", number(run.step, 6)),
        None => format!("tolerance {:e}", options.settings.tolerance),
    };
    let forcing = match (options.scheme.name, options.settings.forcing.name()) {
        ("paoli-schatzman", "exact") => " (exact flight)",
        ("paoli-schatzman", _) => " (newmark)",
        _ => "",
    };
    out!("{dim}{}{forcing}, {fineness}, t = 0 … {}{dim:#}\n", options.scheme.name, number(reached, 6));
    let per_step = summary.wall_s / run.steps.max(1) as f64;
    out!("{} in {}, {} a step\n\n", count(run.steps, "step"), duration(summary.wall_s), duration(per_step));
    if run.status != Status::Finished {
        out!("{yellow}{}{yellow:#}\n\n", run.status);
    }
    describe(portrait);
    out!("\n");
    if shocks.list.is_empty() {
        out!("{bold}no shocks{bold:#}\n");
    } else {
        let more = if shocks.list.len() > SHOWN { format!(", the first {SHOWN}:") } else { ":".into() };
        out!("{bold}{}{bold:#}{more}\n", count(shocks.list.len() as u64, "shock"));
        let width = model.constraints.iter().map(|c| c.name.chars().count()).max().unwrap_or(0).max(6);
        let forces = shocks.list.iter().any(|s| s.peak.is_some());
        out!(
            "{dim}       time         {:width$}  duration     impulse      speed        rebounds{}{dim:#}\n",
            "stop",
            if forces { "  peak force" } else { "" }
        );
        for (k, s) in shocks.list.iter().take(SHOWN).enumerate() {
            out!(
                "{:>4}   {:<11}  {:width$}  {:<11}  {:<11}  {:<11}  {:<8}",
                k + 1,
                number(s.start, 7),
                tame(&model.constraints[s.stop].name),
                number(s.end - s.start, 4),
                number(s.impulse, 5),
                number(s.speed, 5),
                s.rebounds
            );
            out!("{}\n", s.peak.map_or(String::new(), |p| format!("  {}", number(p, 5))));
        }
    }
    out!("\n");
    statistics(model, done, dim);
    let audit = &run.audit;
    let violation = match audit.worst {
        Some((a, t)) => format!(
            "{}  ({} at t = {})",
            number(audit.max_violation, 3),
            tame(&model.constraints[a].name),
            number(t, 6)
        ),
        None => "none".into(),
    };
    out!("largest violation    {violation}\n");
    let balance = &done.ledger.balance;
    out!(
        "energy               {} → {}, work of the loads less damping {}, lost at the stops {}\n",
        number(audit.energy_start, 5),
        number(audit.energy_end, 5),
        number(balance.work, 5),
        number(balance.lost_at_impacts, 5)
    );
    out!("energy balance       open by {} of what was exchanged\n", number(balance.relative(), 2));
    for note in &run.notes {
        out!("{dim}note: {}{dim:#}\n", tame(note));
    }
    for warning in &run.warnings {
        out!("{yellow}warning:{yellow:#} {}\n", tame(warning));
    }
}

fn statistics(model: &Model, done: &StructureRun, dim: Style) {
    for (stop, c) in done.shocks.stops.iter().zip(&model.constraints).filter(|(s, _)| s.count > 0).take(SHOWN) {
        let spread = |(max, mean, deviation): (f64, f64, f64)| {
            format!("{} largest, {} mean, {} deviation", number(max, 4), number(mean, 4), number(deviation, 3))
        };
        out!(
            "{:<20} {} {dim}(impulse: {}){dim:#}\n",
            tame(&c.name),
            count(stop.count as u64, "shock"),
            spread(stop.impulse)
        );
        out!("                     {dim}speed:{dim:#} {}\n", spread(stop.speed));
        out!(
            "                     {dim}in contact for{dim:#} {}{dim}, mean force{dim:#} {}",
            number(stop.contact_time, 4),
            number(stop.mean_force, 4)
        );
        if let Some(rms) = stop.rms_force {
            out!("{dim}, rms{dim:#} {}", number(rms, 4));
        }
        if let Some(wear) = stop.wear_power {
            out!("{dim}, wear power{dim:#} {}", number(wear, 4));
        }
        out!("\n");
    }
    for (&(max, min, rms), name) in done.shocks.points.iter().zip(&model.coordinates).take(SHOWN) {
        out!("{:<20} {} … {}, rms {}\n", tame(name), number(min, 5), number(max, 5), number(rms, 4));
    }
}

/// What the page of a run says of the structure and its shocks.
fn told(model: &Model, portrait: &Portrait, done: &StructureRun) -> Vec<String> {
    let shown: Vec<String> = portrait.frequencies.iter().take(5).map(|f| number(*f, 5)).collect();
    let mut told =
        vec![format!("{} degrees of freedom; lowest frequencies {}", grouped(portrait.dofs as u64), shown.join(", "))];
    for (stop, c) in done.shocks.stops.iter().zip(&model.constraints).filter(|(s, _)| s.count > 0) {
        let mut text = format!(
            "{}: {} ({} more touches within them), impulse {} at most, {} on average; speed {} at most; mean force {}",
            c.name,
            count(stop.count as u64, "shock"),
            stop.rebounds,
            number(stop.impulse.0, 4),
            number(stop.impulse.1, 4),
            number(stop.speed.0, 4),
            number(stop.mean_force, 4)
        );
        if let Some(wear) = stop.wear_power {
            text.push_str(&format!("; wear power {}", number(wear, 4)));
        }
        told.push(text);
    }
    told
}
