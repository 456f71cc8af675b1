//! `saltus converge MODEL`: how the error falls with the step, or with the number of modes.

use crate::setup::{Asked, ModelArgs, Ready, Refusal, RunArgs, StartArgs, StructureArgs, scheme};
use crate::text::{BOLD, DIM, YELLOW, number, out, printable};
use crate::{progress, report, runner};
use saltus::analysis::{ConvergeOptions, Convergence, Fit, NoConvergence, Over, Reference, converge};
use saltus::scheme::find;
use saltus::{Options, SetupError};
use std::process::ExitCode;

/// Measure how the error falls with the step.
///
/// Runs a geometric sequence of steps and compares each run with the motion found from event to
/// event with tolerance 1e-12 (where that is not to be had, with one of a step eight times
/// smaller than the smallest): largest error in position, ∫|Δv| dt, impact times, total impulse.
/// The order is the slope of a straight line through the logarithms, with its standard error. A
/// model that gives its exact motion in [exact] has its positions compared with that.
///
/// Example:  saltus converge ball-gravity --set e=0.5 --step 0.01 --end 2
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    start: StartArgs,
    /// What is refined: `step`, or, for a structure, `modes` (the step is then the model's)
    #[arg(long, value_parser = ["step", "modes"], help_heading = "Run")]
    over: Option<String>,
    /// The time-stepping scheme [default: the model's, else paoli-schatzman]
    #[arg(long, help_heading = "Run")]
    scheme: Option<String>,
    /// The largest step: a number or an expression of parameters [default: the model's, else a thousandth of the run]
    #[arg(long, value_name = "H", allow_hyphen_values = true, help_heading = "Run")]
    step: Option<String>,
    #[command(flatten)]
    run: RunArgs,
    /// How many steps, each `ratio` times smaller than the one before
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..13), help_heading = "Run")]
    levels: u32,
    /// The ratio of successive steps
    #[arg(long, default_value_t = 2.0, help_heading = "Run")]
    ratio: f64,
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
    let over = if args.over.as_deref() == Some("modes") { Over::Modes } else { Over::Step };
    let how = ConvergeOptions { over, levels: args.levels, ratio: args.ratio, base: base(args, &ready)? };
    let system = &*ready.opened.system;
    let found = converge(system, ready.start(), &how, &mut runner::on_all_cores(system, args.model.json));
    let found = found.map_err(|none| match none {
        NoConvergence::Setup(error) if !progress::is_stopped() => Refusal::Setup(error),
        _ => Refusal::Interrupted,
    })?;
    if args.model.json {
        print_json(&ready, &found);
    } else {
        print(&ready, &found);
    }
    if let Some(path) = &args.model.report {
        let (model, origin) = (system.model(), report::origin(&ready.file));
        let page = saltus_report::converge(&saltus_report::ConvergeReport { model, origin, found: &found });
        report::written(path, &page, args.model.json)?;
    }
    Ok(if found.interrupted { ExitCode::from(progress::INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The scheme given, else the model's if it steps, else paoli-schatzman; with a step.
fn base(args: &Args, ready: &Ready) -> Result<Options, SetupError> {
    let chosen = match scheme(args.scheme.as_ref())? {
        Some(scheme) => scheme,
        None => match ready.opened.defaults.scheme.filter(|s| !s.is_event_driven()) {
            Some(scheme) => scheme,
            None => find("paoli-schatzman")?,
        },
    };
    let options = ready.options(Some(chosen))?;
    let step = ready.step(&options);
    Ok(options.step(step))
}

fn shown(fit: Option<Fit>, equal: bool) -> String {
    match (fit, equal) {
        (_, true) => "rounding".into(),
        (Some(f), _) => format!("{} ± {}", number(f.order, 3), number(f.spread, 1)),
        (None, _) => "-".into(),
    }
}

fn print(ready: &Ready, found: &Convergence) {
    let model = ready.opened.system.model();
    out!("{BOLD}{}{BOLD:#}\n{DIM}{}, {}{DIM:#}\n", printable(&model.title), found.scheme.name, found.compared_with());
    if found.over == Over::Step && ready.step_is_derived() {
        out!(
            "{DIM}neither the command line nor the model gives a step: the largest is a thousandth of the run{DIM:#}\n"
        );
    }
    out!("\n");
    let head = if found.over == Over::Modes { "modes" } else { "step" };
    out!(
        "{DIM}{head:<12} {:<16} {:<16} {:<16} {:<16} {:<9} unmatched{DIM:#}\n",
        "position",
        "velocity",
        "impact times",
        "total impulse",
        "impacts"
    );
    for l in &found.levels {
        out!(
            "{:<12} {:<16} {:<16} {:<16} {:<16} {:<9} {}\n",
            number(l.size, 4),
            number(l.position, 3),
            number(l.velocity, 3),
            l.times.map_or("-".into(), |t| number(t, 3)),
            number(l.impulse, 3),
            l.impacts,
            l.unmatched
        );
    }
    match &found.verdict {
        Some(verdict) => out!("\n{BOLD}{verdict}{BOLD:#}\n"),
        None => out!(
            "{BOLD}{:<12} {:<16} {:<16} {:<16} {}{BOLD:#}\n\n",
            "order",
            shown(found.orders.position, found.orders.equal[0]),
            shown(found.orders.velocity, found.orders.equal[1]),
            shown(found.orders.times, found.orders.equal[2]),
            shown(found.orders.impulse, found.orders.equal[3])
        ),
    }
    if !model.states.is_empty() {
        let errors: Vec<String> = found.levels.iter().map(|l| number(l.state, 3)).collect();
        out!("first-order states, relative: {}; order {}\n", errors.join(", "), shown(found.orders.state, false));
    }
    if found.orders.equal.contains(&true) {
        out!("rounding: equal to the reference up to rounding, which has no order\n");
    }
    if let Some(q) = &found.extrapolated {
        let moving = found.reference_run.trajectory.displacements();
        let state: Vec<String> = (moving.filter_map(|i| Some((q.get(i)?, model.coordinates.get(i)?))).take(6))
            .map(|(x, name)| format!("{} = {}", printable(name), number(*x, 8)))
            .collect();
        out!("extrapolated final position  {}\n", state.join(", "));
    }
    for warning in &found.warnings {
        out!("{YELLOW}warning:{YELLOW:#} {warning}\n");
    }
}

fn print_json(ready: &Ready, found: &Convergence) {
    let line = |fit: Option<Fit>| fit.map(|f| serde_json::json!({ "order": f.order, "spread": f.spread }));
    let size = if found.over == Over::Modes { "modes" } else { "step" };
    let rows: Vec<_> = found
        .levels
        .iter()
        .map(|l| {
            serde_json::json!({
                size: l.size, "position": l.position, "velocity": l.velocity, "state": l.state, "impact_times": l.times,
                "total_impulse": l.impulse, "impacts": l.impacts, "unmatched": l.unmatched,
            })
        })
        .collect();
    let (reference, step) = match found.reference {
        Reference::Events => ("event-driven", None),
        Reference::Step(step) => (found.scheme.name, Some(step)),
        Reference::AllModes(_) => ("all modes", None),
    };
    let orders = &found.orders;
    let object = serde_json::json!({
        "model": ready.file.name, "scheme": found.scheme.name, "over": size, "reference": reference,
        "reference_step": step, "levels": rows,
        "orders": {
            "position": line(orders.position), "velocity": line(orders.velocity), "state": line(orders.state),
            "impact_times": line(orders.times), "total_impulse": line(orders.impulse),
        },
        "equal_to_rounding": {
            "position": orders.equal[0], "velocity": orders.equal[1], "impact_times": orders.equal[2],
            "total_impulse": orders.equal[3],
        },
        "interrupted": found.interrupted, "extrapolated": found.extrapolated, "verdict": found.verdict, "warnings": found.warnings,
    });
    crate::text::print_json(&object);
}
