//! `saltus compare MODEL`: several schemes on one model, and a verdict which of them agree.

use crate::setup::{Asked, ModelArgs, Ready, Refusal, RunArgs, StartArgs, StructureArgs};
use crate::text::{BOLD, DIM, YELLOW, duration, number, out, printable};
use crate::{progress, report, runner};
use saltus::analysis::{CompareOptions, Comparison, compare};
use saltus::scheme::{self, SCHEMES, Scheme, TOLERANCE};
use saltus::{SetupError, Side};
use std::process::ExitCode;

/// Run several schemes on one model and say which agree.
///
/// Each time-stepping scheme is run with every step given (by default the model's, or a
/// thousandth of the run, and half of it), event-driven with its tolerance and with a hundred times that. How much a scheme changes
/// between its two smallest steps gives its own error (with one step only, what the motion covers
/// in a step); two schemes agree if their distance is within what those estimates explain.
/// Positions are compared by their largest difference, velocities by ∫|v₁ − v₂| dt, where a
/// shifted impact counts by its shift.
///
/// Examples:
///
///   saltus compare ball --schemes paoli-schatzman,mabrouk
///
///   saltus compare pounding --steps 1e-3,1e-4
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    start: StartArgs,
    /// The schemes, separated by commas [default: all that accept the model; auto is event-driven with a safety net]
    #[arg(long, visible_alias = "scheme", value_delimiter = ',', help_heading = "Run")]
    schemes: Vec<String>,
    /// The largest step, a number or an expression of parameters; the other is half of it [default: the model's, else a
    /// thousandth of the run]
    #[arg(long, value_name = "H", allow_hyphen_values = true, conflicts_with = "steps", help_heading = "Run")]
    step: Option<String>,
    /// All steps, separated by commas [default: --step and half of it]
    #[arg(long, value_delimiter = ',', value_name = "H,H,…", allow_hyphen_values = true, help_heading = "Run")]
    steps: Vec<f64>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    structure: StructureArgs,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let ready = args.model.ready(&Asked {
        start: Some(&args.start),
        run: Some(&args.run),
        structure: Some(&args.structure),
        step: args.step.as_ref(),
        ..Asked::default()
    })?;
    let how = options(args, &ready)?;
    let system = &*ready.opened.system;
    let found = compare(system, ready.start(), &how, &mut runner::on_all_cores(system, args.model.json))?;
    let interrupted = found.interrupted || progress::is_stopped();
    if interrupted && found.entries.is_empty() {
        return Err(Refusal::Interrupted);
    }
    if found.entries.is_empty() {
        let none = || (String::new(), SetupError::new("no scheme ran"));
        let (name, mut error) = found.refused.into_iter().next().unwrap_or_else(none);
        error.message = format!("{name}: {}", error.message);
        return Err(error.into());
    }
    if args.model.json {
        print_json(&ready, &found);
    } else {
        print(&ready, &how, &found, args.steps.is_empty() && ready.step_is_derived());
    }
    if let Some(path) = &args.model.report {
        let (model, origin) = (system.model(), report::origin(&ready.file));
        let page = saltus_report::compare(&saltus_report::CompareReport { model, origin, found: &found });
        report::written(path, &page, args.model.json)?;
    }
    if interrupted {
        return Ok(ExitCode::from(progress::INTERRUPTED));
    }
    // A scheme that was asked for by name and did not run is a failure; one of "all" that does not fit is not.
    Ok(if found.refused.is_empty() || args.schemes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options(args: &Args, ready: &Ready) -> Result<CompareOptions, SetupError> {
    let mut base = ready.options(None)?;
    let schemes: Vec<Scheme> = match args.schemes.as_slice() {
        [] => SCHEMES.to_vec(),
        names => names.iter().map(|n| scheme::find(n.trim())).collect::<Result<_, _>>()?,
    };
    // Settings of the model's own scheme matter only to schemes that have them.
    let has = |name: &str| schemes.iter().any(|s| s.setting(name).is_some()) || ready.given().get(name).is_some();
    base.settings = base.settings.filtered(has);
    // A stiffness that follows from a penetration belongs to the scheme that has one.
    let soft = schemes.iter().find(|s| !s.follows_law && s.setting("stiffness").is_some());
    if let (Some(soft), Some(_)) = (soft, args.run.penetration)
        && let Some(stiffness) = ready.options(Some(*soft))?.settings.get("stiffness")
    {
        base.settings.set("stiffness", stiffness.clone());
    }
    let steps = match args.steps.as_slice() {
        [] => vec![ready.step(&base), 0.5 * ready.step(&base)],
        steps => steps.to_vec(),
    };
    Ok(CompareOptions { schemes: args.schemes.clone(), steps, base })
}

fn print(ready: &Ready, how: &CompareOptions, found: &Comparison, derived: bool) {
    let model = ready.opened.system.model();
    let steps: Vec<String> = found.steps.iter().map(|h| number(*h, 4)).collect();
    let tolerance = how.base.settings.number(&TOLERANCE).unwrap_or(1e-10);
    out!("{BOLD}{}{BOLD:#}\n", printable(&model.title));
    let origin = if derived { ", a thousandth of the run and half of it" } else { "" };
    out!(
        "{DIM}time steps {}{origin} (the table is for the smallest); by events with tolerance {tolerance:e}{DIM:#}\n\n",
        steps.join(", ")
    );
    let width = found.entries.iter().map(|e| e.way.label.len()).max().unwrap_or(0).max(18);
    out!(
        "{DIM}{:width$} impacts  violation  outside  energy gained  law residual  per step     own error{DIM:#}\n",
        ""
    );
    for entry in &found.entries {
        let run = entry.finest();
        out!(
            "{:width$} {:<8} {:<10} {:<8} {:<14} {:<13} {:<12} {}\n",
            entry.way.label,
            run.trajectory.impacts.len(),
            number(run.audit.max_violation, 2),
            run.audit.infeasible,
            number(run.largest_energy_gain(), 2),
            number(run.audit.worst_law_residual, 2),
            duration(entry.seconds() / run.steps.max(1) as f64),
            number(entry.error, 2)
        );
    }
    out!("\n{DIM}final state{DIM:#}\n");
    for entry in &found.entries {
        let motion = &entry.finest().trajectory;
        let k = motion.len() - 1;
        let state: Vec<String> = (0..model.coordinates.len().min(4))
            .map(|i| {
                let (q, v) = (motion.q(k)[i], motion.v(k, Side::Right)[i]);
                format!("{} = {} ({})", printable(&model.coordinates[i]), number(q, 6), number(v, 4))
            })
            .collect();
        let states = model.states.iter().zip(motion.states(k)).take(4);
        let states = states.map(|(state, z)| format!(", {} = {}", printable(&state.name), number(*z, 6)));
        out!("{:width$} {}{}\n", entry.way.label, state.join(", "), states.collect::<String>());
    }
    if !found.distances.is_empty() {
        let states = if model.states.is_empty() { "" } else { " / largest in a state, relative" };
        out!("\n{DIM}distance: largest in position / ∫|Δv| dt{states}{DIM:#}\n");
    }
    for &(a, b, d) in &found.distances {
        let (a, b) = (&found.entries[a].way.label, &found.entries[b].way.label);
        let states = if model.states.is_empty() { String::new() } else { format!(" / {}", number(d.state, 3)) };
        out!("{a:width$} {b:width$} {} / {}{states}\n", number(d.position, 3), number(d.velocity, 3));
    }
    out!("\n");
    for sentence in &found.sentences {
        out!("{BOLD}{}{BOLD:#}\n", printable(sentence));
    }
    if found.interrupted {
        out!("{YELLOW}interrupted: these schemes were finished; there is no verdict{YELLOW:#}\n");
    }
    for entry in &found.entries {
        for warning in &entry.finest().warnings {
            out!("{YELLOW}warning ({}):{YELLOW:#} {}\n", entry.way.label, printable(warning));
        }
    }
    for (name, error) in &found.refused {
        out!("{YELLOW}not compared: {name}.{YELLOW:#} {}\n", printable(&error.message));
        if let Some(help) = &error.help {
            out!("  {help}\n");
        }
    }
}

fn print_json(ready: &Ready, found: &Comparison) {
    let label = |k: usize| found.entries[k].way.label.as_str();
    let schemes = found.entries.iter().map(|e| {
        let run = e.finest();
        let motion = &run.trajectory;
        let k = motion.len() - 1;
        serde_json::json!({
            "scheme": e.way.label, "step": run.step, "steps": run.steps, "wall_s": e.seconds(),
            "impacts": motion.impacts.len(),
            "final": {
                "t": motion.t[k], "q": motion.q(k)[..motion.degrees()], "v": motion.v(k, Side::Right)[..motion.degrees()],
                "z": motion.states(k),
            },
            "max_violation": run.audit.max_violation, "infeasible_steps": run.audit.infeasible,
            "energy_gained_at_an_impact": run.largest_energy_gain(),
            "worst_law_residual": run.audit.worst_law_residual,
            "own_error": e.error, "trouble": e.trouble, "warnings": run.warnings,
        })
    });
    let distances = found.distances.iter().map(|&(a, b, d)| {
        serde_json::json!({ "a": label(a), "b": label(b), "position": d.position, "at": d.at, "velocity": d.velocity, "state": d.state })
    });
    let refused = found
        .refused
        .iter()
        .map(|(name, e)| serde_json::json!({ "scheme": name, "message": e.message, "help": e.help }));
    let groups: Vec<Vec<&str>> = found.groups.iter().map(|g| g.iter().map(|&k| label(k)).collect()).collect();
    let object = serde_json::json!({
        "model": ready.file.name, "schemes": schemes.collect::<Vec<_>>(), "distances": distances.collect::<Vec<_>>(),
        "agree": groups, "verdict": found.sentences,
        "interrupted": found.interrupted, "refused": refused.collect::<Vec<_>>(),
    });
    crate::text::print_json(&object);
}
