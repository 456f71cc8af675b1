//! `saltus converge MODEL`: how the error falls with the step.

use crate::setup::{ModelArgs, Opened, Ready, Refusal, StructureArgs};
use crate::text::{number, out, tame};
use crate::{progress, report, runner};
use anstyle::{AnsiColor, Style};
use saltus::analysis::{Fit, distance, fit};
use saltus::problem::Exact;
use saltus::scheme;
use saltus::{PhaseKind, Run, RunOptions, SetupError, Status};
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
    /// What is refined: `step`, or, for a structure, `modes` (the step is then the model's)
    #[arg(long, value_parser = ["step", "modes"])]
    pub over: Option<String>,
    #[command(flatten)]
    pub structure: StructureArgs,
    /// The time-stepping scheme [default: the model's, else paoli-schatzman]
    #[arg(long)]
    pub scheme: Option<String>,
    /// The largest step: a number or an expression of parameters [default: the model's]
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    step: Option<String>,
    /// How many steps, each `ratio` times smaller than the one before
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..13))]
    pub levels: u32,
    /// The ratio of successive steps
    #[arg(long, default_value_t = 2.0)]
    pub ratio: f64,
}

pub fn main(args: &Args) -> ExitCode {
    execute(args).unwrap_or_else(|refusal| refusal.show(args.model.json))
}

/// All that was found.
struct Report<'a> {
    ready: &'a Ready,
    scheme: &'static str,
    reference: Run,
    /// Whether the reference went from event to event.
    of_events: bool,
    levels: Vec<Level>,
    orders: Orders,
    /// The final position extrapolated to h = 0.
    richardson: Option<Vec<f64>>,
    warnings: Vec<String>,
}

/// The errors of one run.
struct Level {
    step: f64,
    position: f64,
    velocity: f64,
    times: Option<f64>,
    impulse: f64,
    impacts: usize,
}

fn execute(args: &Args) -> Result<ExitCode, Refusal> {
    if !(args.ratio > 1.0 && args.ratio.is_finite()) {
        return Err(SetupError::new(format!("the ratio of steps must be greater than 1, not {}", args.ratio)).into());
    }
    let ready = match args.model.open(args.step.as_ref(), Some(&args.structure))? {
        Opened::Problem(ready) if args.over.as_deref() == Some("modes") => {
            return Err(SetupError::new(format!(
                "`{}` has no modes to refine: it is not a structure",
                ready.file.name
            ))
            .into());
        }
        Opened::Problem(ready) => *ready,
        Opened::Structure(ready) => return super::structure::converge(args, &ready),
    };
    let scheme = match &args.scheme {
        Some(name) => scheme::find(name)?,
        None => match ready.defaults.scheme.filter(|s| s.stepping().is_some()) {
            Some(scheme) => scheme,
            None => scheme::find("paoli-schatzman")?,
        },
    };
    if scheme.stepping().is_none() {
        return Err(SetupError::new(format!(
            "{} has no step to refine: it is what steps are measured against",
            scheme.name
        ))
        .help(
            "name a time-stepping scheme, such as --scheme paoli-schatzman; for event-driven, compare runs with --tol",
        )
        .into());
    }
    let first = ready.options(scheme, None)?;
    // Whole divisions of the end time, so that every run has the step it says.
    let coarse = (first.end / first.step).round().max(1.0);
    let steps: Vec<f64> = (0..args.levels).map(|k| first.end / (coarse * args.ratio.powi(k as i32)).round()).collect();
    let finest = first.end / (coarse * args.ratio.powi(args.levels as i32 - 1) * 8.0).round();
    let mut jobs: Vec<RunOptions> = steps.iter().map(|&h| ready.options(scheme, Some(h))).collect::<Result<_, _>>()?;
    progress::listen();
    // The reference: the motion by events, where the scheme tends to it and the events can be resolved to the end;
    // otherwise the scheme's own run with a step eight times smaller.
    let exact_run = if scheme.follows_law { by_events(&ready, finest)? } else { None };
    if exact_run.is_none() {
        jobs.push(ready.options(scheme, Some(finest))?);
    }
    let mut runs = Vec::new();
    for outcome in runner::all(&ready.problem, &jobs, args.model.json) {
        let (run, _) = outcome?;
        match &run.status {
            Status::Finished => {}
            Status::Interrupted { .. } => {
                crate::diagnose::plain(&SetupError::new("interrupted: nothing to compare yet"), args.model.json);
                return Ok(ExitCode::from(130));
            }
            Status::Failed(failure) => {
                return Err(SetupError::new(format!("{}, h = {}: {failure}", scheme.name, run.step)).into());
            }
        }
        runs.push(run);
    }
    let of_events = exact_run.is_some();
    let reference = match exact_run {
        Some(run) => run,
        None => runs.pop().ok_or_else(|| SetupError::new("no run was made"))?,
    };
    let mut exact = ready.problem.exact();
    let levels: Vec<Level> = runs.iter().map(|run| level(run, &reference, exact.as_mut())).collect();
    if let Some(bad) = levels.iter().find(|l| !l.position.is_finite()) {
        return Err(SetupError::new(format!(
            "the exact motion of the model is not a number everywhere (h = {})",
            bad.step
        ))
        .help("look at [exact]: a root or logarithm leaves its domain within the run")
        .into());
    }
    let orders = Orders::new(&levels);
    let extent = reference.trajectory.positions().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let warnings = warnings(&levels, &orders, extent, scheme.order);
    let richardson = richardson(&runs, &orders, args.ratio);
    let found =
        Report { ready: &ready, scheme: scheme.name, reference, of_events, levels, orders, richardson, warnings };
    if args.model.json {
        print_json(&found)
    } else {
        print(&found)
    }
    if let Some(path) = &args.model.report
        && let Err(code) = report::written(path, &page(&found), args.model.json)
    {
        return Ok(code);
    }
    Ok(ExitCode::SUCCESS)
}

/// The run by events, if it gets to the end without a stretch of time stepping.
fn by_events(ready: &Ready, step: f64) -> Result<Option<Run>, SetupError> {
    let mut options =
        ready.options(scheme::find("event-driven")?, Some(step.max(1e-5 * ready.defaults.end.unwrap_or(1.0))))?;
    options.settings.tolerance = options.settings.tolerance.min(1e-12);
    let outcome = runner::all(&ready.problem, &[options], true).pop();
    Ok(match outcome {
        Some(Ok((run, _))) if run.status == Status::Finished => {
            let stepped = run.timeline.of(PhaseKind::Stepped).next().is_some();
            (!stepped).then_some(run)
        }
        _ => None,
    })
}

fn impulse(run: &Run) -> f64 {
    run.audit.impulses.iter().sum()
}

fn level(run: &Run, reference: &Run, exact: Option<&mut Exact>) -> Level {
    let apart = distance(&run.trajectory, &reference.trajectory);
    let position = match exact {
        Some(exact) => against(run, exact),
        None => apart.position,
    };
    let (a, b) = (&run.trajectory.impacts, &reference.trajectory.impacts);
    // Impacts near an accumulation differ in number from step to step: compare those both have, while they match.
    let common = a.iter().zip(b.iter()).take_while(|(x, y)| x.constraints == y.constraints).take(10);
    let times = common.map(|(x, y)| (x.t - y.t).abs()).reduce(f64::max);
    Level {
        step: run.step,
        position,
        velocity: apart.velocity,
        times,
        impulse: (impulse(run) - impulse(reference)).abs(),
        impacts: a.len(),
    }
}

/// The largest distance from the exact motion at any stored instant.
fn against(run: &Run, exact: &mut Exact) -> f64 {
    let t = &run.trajectory;
    let mut worst: f64 = 0.0;
    for k in 0..t.len() {
        for (x, y) in t.q(k).iter().zip(exact.at(t.t[k])) {
            let apart = (x - y).abs();
            if !(apart <= worst) {
                worst = apart;
            }
        }
    }
    worst
}

/// Fitted orders of the four errors.
struct Orders {
    position: Option<Fit>,
    velocity: Option<Fit>,
    times: Option<Fit>,
    impulse: Option<Fit>,
}

impl Orders {
    fn new(levels: &[Level]) -> Self {
        // Errors at the level of rounding have no order.
        let of = |error: &dyn Fn(&Level) -> f64| {
            let points = levels.iter().map(|l| (l.step, error(l))).filter(|(_, e)| *e > 1e-12);
            fit(&points.collect::<Vec<_>>())
        };
        Orders {
            position: of(&|l| l.position),
            velocity: of(&|l| l.velocity),
            times: of(&|l| l.times.unwrap_or(0.0)),
            impulse: of(&|l| l.impulse),
        }
    }
}

fn warnings(levels: &[Level], orders: &Orders, extent: f64, declared: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let last = levels.last().map_or(0.0, |l| l.position);
    if last <= 1e-11 * extent {
        return warnings;
    }
    match orders.position {
        Some(fit) if fit.order < 0.5 * declared && orders.velocity.is_some_and(|v| v.order > 0.5 * declared) => {
            warnings.push(format!(
                "the runs converge (velocity order {}) but not to the motion that positions are compared with: [exact] is \
                 another motion than this model's with these parameters, or the scheme has a limit of its own (penalty: its \
                 stiffness)",
                brief(orders.velocity)
            ));
        }
        Some(fit) if fit.order + fit.spread < 0.5 * declared => warnings.push(format!(
            "no convergence seen: the order is {} where {} is expected. Chaos, a motion that depends discontinuously on its \
             data, or steps that are all too coarse; look at where impacts begin to differ with `saltus compare`",
            number(fit.order, 2),
            number(declared, 2)
        )),
        Some(fit) if fit.spread > 0.3 => {
            warnings.push(format!("the errors scatter around the line (slope ± {}): more levels tell more", number(fit.spread, 2)));
        }
        None => warnings.push("no order can be fitted: too few positive errors".into()),
        _ => {}
    }
    if last > 0.1 * extent {
        warnings.push("the error of the smallest step is more than a tenth of the motion itself".into());
    }
    let counts: Vec<usize> = levels.iter().map(|l| l.impacts).collect();
    if counts.len() > 2
        && counts[counts.len() - 1] as f64 > 1.2 * counts[0] as f64
        && counts[counts.len() - 1] > counts[0] + 2
    {
        warnings.push(
            "the number of impacts grows with smaller steps: an accumulation, whose tail no step resolves".into(),
        );
    }
    warnings
}

/// The final position extrapolated from the two smallest steps with the fitted order.
fn richardson(runs: &[Run], orders: &Orders, ratio: f64) -> Option<Vec<f64>> {
    let order = orders.position?.order;
    let [.., a, b] = runs else { return None };
    let end = |run: &Run| run.trajectory.q(run.trajectory.len() - 1).to_vec();
    let gain = ratio.powf(order) - 1.0;
    // What is only rounding next to the motion is zero.
    let extent = b.trajectory.positions().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let plain = |x: f64| if x.abs() < 1e-13 * extent { 0.0 } else { x };
    (gain > 0.2).then(|| end(a).iter().zip(&end(b)).map(|(x, y)| plain(y + (y - x) / gain)).collect())
}

fn brief(fit: Option<Fit>) -> String {
    fit.map_or("-".into(), |f| number(f.order, 2))
}

fn shown(fit: Option<Fit>) -> String {
    fit.map_or("-".into(), |f| format!("{} ± {}", number(f.order, 3), number(f.spread, 1)))
}

fn print(report: &Report) {
    let Report { ready, scheme, levels, orders, richardson, warnings, .. } = report;
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let model = ready.problem.model();
    out!("{bold}{}{bold:#}\n{dim}{scheme}, {}{dim:#}\n\n", tame(&model.title), against_what(report));
    out!("{dim}step         position     velocity     impact times  total impulse  impacts{dim:#}\n");
    for l in levels {
        out!(
            "{:<12} {:<12} {:<12} {:<13} {:<14} {}\n",
            number(l.step, 4),
            number(l.position, 3),
            number(l.velocity, 3),
            l.times.map_or("-".into(), |t| number(t, 3)),
            number(l.impulse, 3),
            l.impacts
        );
    }
    out!(
        "{bold}{:<12} {:<12} {:<12} {:<13} {}{bold:#}\n\n",
        "order",
        shown(orders.position),
        shown(orders.velocity),
        shown(orders.times),
        shown(orders.impulse)
    );
    if let Some(q) = richardson {
        let state: Vec<String> =
            q.iter().take(6).zip(&model.coordinates).map(|(x, name)| format!("{name} = {}", number(*x, 8))).collect();
        out!("extrapolated final position  {}\n", state.join(", "));
    }
    for warning in warnings {
        out!("{yellow}warning:{yellow:#} {warning}\n");
    }
}

/// What positions, and the other figures, are compared with.
fn against_what(report: &Report) -> String {
    let exact = report.ready.problem.model().exact.is_some();
    let truth = if exact { "positions against the exact motion, the rest" } else { "errors" };
    match report.of_events {
        true => format!("{truth} against the run by events"),
        false => format!("{truth} against its run with h = {}", number(report.reference.step, 4)),
    }
}

/// The study as a page.
fn page(found: &Report) -> saltus_report::Page {
    let Report { ready, scheme, levels, orders, richardson, warnings, .. } = found;
    let model = ready.problem.model();
    let errors = |name, fit, value: &dyn Fn(&Level) -> f64| saltus_report::Errors {
        name,
        values: levels.iter().map(value).collect(),
        fit,
    };
    let extrapolated = richardson.as_ref().map(|q| {
        let state: Vec<String> =
            q.iter().take(12).zip(&model.coordinates).map(|(x, name)| format!("{name} = {}", number(*x, 8))).collect();
        format!("extrapolated final position: {}", state.join(", "))
    });
    saltus_report::converge(&saltus_report::ConvergeReport {
        model,
        origin: report::origin(&ready.file),
        subtitle: format!("{scheme}, {}", against_what(found)),
        over: "step",
        steps: levels.iter().map(|l| l.step).collect(),
        errors: vec![
            errors("position", orders.position, &|l| l.position),
            errors("velocity", orders.velocity, &|l| l.velocity),
            errors("impact times", orders.times, &|l| l.times.unwrap_or(f64::NAN)),
            errors("total impulse", orders.impulse, &|l| l.impulse),
        ],
        impacts: levels.iter().map(|l| l.impacts).collect(),
        findings: extrapolated.into_iter().collect(),
        warnings: warnings.clone(),
    })
}

fn print_json(report: &Report) {
    let Report { ready, scheme, reference, of_events, levels, orders, richardson, warnings } = report;
    let line = |fit: Option<Fit>| fit.map(|f| serde_json::json!({ "order": f.order, "spread": f.spread }));
    let rows: Vec<_> = levels
        .iter()
        .map(|l| {
            serde_json::json!({
                "step": l.step, "position": l.position, "velocity": l.velocity, "impact_times": l.times,
                "total_impulse": l.impulse, "impacts": l.impacts,
            })
        })
        .collect();
    let object = serde_json::json!({
        "model": ready.file.name, "scheme": scheme, "reference": if *of_events { "event-driven" } else { scheme },
        "reference_step": (!of_events).then_some(reference.step), "levels": rows,
        "orders": {
            "position": line(orders.position), "velocity": line(orders.velocity),
            "impact_times": line(orders.times), "total_impulse": line(orders.impulse),
        },
        "extrapolated": richardson, "warnings": warnings,
    });
    out!("{object}\n");
}
