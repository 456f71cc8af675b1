//! `saltus compare MODEL`: several schemes on one model, and a verdict which of them agree.

use crate::setup::{ModelArgs, Opened, Ready, Refusal, StructureArgs};
use crate::text::{count, duration, number, out, tame};
use crate::{progress, report, runner};
use anstyle::{AnsiColor, Style};
use saltus::analysis::{Distance, distance};
use saltus::scheme::{self, SCHEMES, Scheme};
use saltus::{Problem, Run, RunOptions, SetupError, Side, Status};
use std::process::ExitCode;

/// Run several schemes on one model and say which agree.
///
/// Each time-stepping scheme is run with every step given (by default the model's and half of
/// it), event-driven with its tolerance and with a hundred times that. How much a scheme changes
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
    pub structure: StructureArgs,
    /// The schemes, separated by commas [default: all that accept the model; auto is event-driven with a safety net]
    #[arg(long, value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// The steps, separated by commas [default: the model's step and half of it]
    #[arg(long, value_delimiter = ',', value_name = "H,H,…", allow_hyphen_values = true)]
    pub steps: Vec<f64>,
}

pub fn main(args: &Args) -> ExitCode {
    execute(args).unwrap_or_else(|refusal| refusal.show(args.model.json))
}

/// One scheme's runs, from the largest step to the smallest.
struct Entry {
    scheme: &'static Scheme,
    runs: Vec<(Run, f64)>,
    /// The error of its finest run in position, as it estimates it itself.
    error: f64,
}

impl Entry {
    fn finest(&self) -> &Run {
        &self.runs[self.runs.len() - 1].0
    }
}

/// The distances between the finest runs of every pair.
struct Distances(Vec<Vec<Distance>>);

impl Distances {
    fn new(entries: &[Entry]) -> Self {
        let to = |a: &Entry, b: &Entry| distance(&a.finest().trajectory, &b.finest().trajectory);
        Distances(entries.iter().enumerate().map(|(i, a)| entries[..i].iter().map(|b| to(a, b)).collect()).collect())
    }

    fn between(&self, a: usize, b: usize) -> Distance {
        if a == b { Distance::default() } else { self.0[a.max(b)][a.min(b)] }
    }

    /// All pairs once.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, Distance)> + '_ {
        let n = self.0.len();
        (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b, self.between(a, b))))
    }
}

fn execute(args: &Args) -> Result<ExitCode, Refusal> {
    let ready = match args.model.open(None, Some(&args.structure))? {
        Opened::Problem(ready) => *ready,
        Opened::Structure(ready) => return super::structure::compare(args, &ready),
    };
    let (schemes, all_asked) = chosen(&args.schemes)?;
    let steps = steps(args, &ready)?;
    let mut jobs: Vec<RunOptions> = Vec::new();
    let mut sizes = Vec::new();
    for &scheme in &schemes {
        let before = jobs.len();
        if scheme.stepping().is_some() {
            for &step in &steps {
                jobs.push(ready.options(scheme, Some(step))?);
            }
        } else {
            let fine = ready.options(scheme, steps.last().copied())?;
            let mut coarse = fine.clone();
            coarse.settings.tolerance = (100.0 * fine.settings.tolerance).min(1e-3).max(fine.settings.tolerance);
            jobs.extend([coarse, fine]);
        }
        sizes.push(jobs.len() - before);
    }
    progress::listen();
    let mut outcomes = runner::all(&ready.problem, &jobs, args.model.json).into_iter();
    let (mut entries, mut refused, mut interrupted) = (Vec::new(), Vec::new(), false);
    for (&scheme, &size) in schemes.iter().zip(&sizes) {
        let runs: Vec<_> = outcomes.by_ref().take(size).collect();
        let mut made = Vec::new();
        let mut trouble = None;
        for outcome in runs {
            match outcome {
                Ok((run, wall)) => match &run.status {
                    Status::Finished => made.push((run, wall)),
                    Status::Interrupted { .. } => interrupted = true,
                    Status::Failed(failure) => {
                        let how =
                            if scheme.stepping().is_some() { format!("h = {}", run.step) } else { "by events".into() };
                        trouble = Some((format!("{how}: {failure}"), None));
                    }
                },
                Err(e) => trouble = Some((e.message, e.help)),
            }
        }
        // A scheme is compared with all its steps or not at all.
        if let Some((message, help)) = trouble {
            refused.push((scheme.name, message, help));
        } else if made.len() == size {
            entries.push(Entry { scheme, error: error_estimate(scheme, &made), runs: made });
        }
    }
    if interrupted {
        crate::diagnose::plain(&SetupError::new("interrupted: nothing to compare yet"), args.model.json);
        return Ok(ExitCode::from(130));
    }
    if entries.is_empty() {
        let (name, message, help) = refused.first().cloned().unwrap_or(("", "no scheme ran".into(), None));
        return Err(Refusal::Setup(SetupError { help, ..SetupError::new(format!("{name}: {message}")) }));
    }
    let apart = Distances::new(&entries);
    let verdict = verdict(&ready.problem, &entries, &apart);
    if args.model.json {
        print_json(&ready, &entries, &apart, &refused, &verdict);
    } else {
        print(&ready, &steps, &entries, &apart, &refused, &verdict);
    }
    if let Some(path) = &args.model.report {
        let page = page(&ready, &steps, &entries, &apart, &refused, &verdict);
        if let Err(code) = report::written(path, &page, args.model.json) {
            return Ok(code);
        }
    }
    // A scheme that was asked for by name and did not run is a failure; one of "all" that does not fit is not.
    Ok(if refused.is_empty() || all_asked { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The error of the finest run: from its distance Δ to the next, Δ h₂/(h₁ − h₂) for an error in proportion to the step (but
/// not more than Δ: steps close together say little), and not less than what the motion covers in a step, which is what
/// the phase of an impact within its step amounts to. By events: how much a hundred times the tolerance changes.
fn error_estimate(scheme: &Scheme, runs: &[(Run, f64)]) -> f64 {
    let Some((finest, _)) = runs.last() else { return 0.0 };
    if let (None, [.., (before, _), _]) = (scheme.stepping(), runs) {
        return distance(&before.trajectory, &finest.trajectory).position;
    }
    let phase = finest.step * fastest(finest);
    let [.., (before, _), _] = runs else { return phase };
    let share = (finest.step / (before.step - finest.step)).min(1.0);
    phase.max(share * distance(&before.trajectory, &finest.trajectory).position)
}

/// The largest velocity of a run.
fn fastest(run: &Run) -> f64 {
    run.trajectory.velocities(Side::Left).fold(0.0, |m: f64, v| m.max(v.abs()))
}

fn chosen(names: &[String]) -> Result<(Vec<&'static Scheme>, bool), SetupError> {
    if names.is_empty() {
        return Ok((SCHEMES.iter().filter(|s| s.name != "auto").collect(), true));
    }
    let mut schemes: Vec<&'static Scheme> = Vec::new();
    for name in names {
        let scheme = scheme::find(name.trim())?;
        if schemes.iter().any(|s| s.name == scheme.name) {
            return Err(SetupError::new(format!("the scheme `{}` is named twice", scheme.name)));
        }
        schemes.push(scheme);
    }
    Ok((schemes, false))
}

fn steps(args: &Args, ready: &Ready) -> Result<Vec<f64>, SetupError> {
    let mut steps = args.steps.clone();
    if steps.is_empty() {
        let step = ready.options(scheme::find("paoli-schatzman")?, None)?.step;
        steps = vec![step, 0.5 * step];
    }
    if let Some(bad) = steps.iter().find(|h| !(**h > 0.0 && h.is_finite())) {
        return Err(SetupError::new(format!("a step must be a positive number, not {bad}")));
    }
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    Ok(steps)
}

/// Who agrees with whom, and where those that do not part.
struct Verdict {
    groups: Vec<Vec<usize>>,
    sentences: Vec<String>,
}

/// Two schemes agree if their distance is explained by their own errors; the constant of a first-order error varies with
/// the phase of the step.
const SLACK: f64 = 6.0;

/// A scheme whose own error is more than this share of the motion agrees with nobody: it does not know itself.
const UNSURE: f64 = 0.05;

fn verdict(problem: &Problem, entries: &[Entry], apart: &Distances) -> Verdict {
    let extent = entries.iter().map(|e| extent(e.finest())).fold(0.0, f64::max);
    let sure = |k: usize| entries[k].error <= UNSURE * extent + 1e-12;
    let agree = |a: usize, b: usize| {
        let explained = SLACK * (entries[a].error + entries[b].error);
        apart.between(a, b).position <= explained.min(0.1 * extent) + 1e-9 * extent + 1e-12
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for k in (0..entries.len()).filter(|&k| sure(k)) {
        match groups.iter_mut().find(|g| g.iter().all(|&j| agree(j, k))) {
            Some(group) => group.push(k),
            None => groups.push(vec![k]),
        }
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.len()));
    let name = |k: usize| entries[k].scheme.name;
    let names = |g: &[usize]| g.iter().map(|&k| name(k)).collect::<Vec<_>>().join(", ");
    let mut sentences = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        if entries.len() == 1 {
            sentences.push(format!("{} ran alone: nothing to compare", names(group)));
        } else if group.len() > 1 {
            let all = if group.len() == entries.len() { "all agree: " } else { "agree: " };
            let pairs = group.iter().flat_map(|&a| group.iter().map(move |&b| (a, b)));
            let widest = pairs.map(|(a, b)| apart.between(a, b).position).fold(0.0, f64::max);
            sentences.push(format!("{all}{} (positions within {})", names(group), number(widest, 2)));
        } else if place == 0 {
            sentences.push(format!("{} is on its own", names(group)));
        } else {
            let d = apart.between(group[0], groups[0][0]);
            let (far, t) = (number(d.position, 2), number(d.at, 4));
            sentences.push(format!(
                "{} is on its own, {far} away from {} at t = {t}",
                names(group),
                name(groups[0][0])
            ));
        }
        if place > 0 {
            let (here, there) = (group[0], groups[0][0]);
            let runs = (entries[here].finest(), entries[there].finest());
            sentences.extend(parting(problem, runs.0, name(here), runs.1, name(there)));
        }
    }
    for k in (0..entries.len()).filter(|&k| !sure(k)) {
        sentences.push(format!(
            "{}: cannot tell. Its own error is about {} of a motion of size {}: too coarse, chaotic, or the motion depends \
             discontinuously on its data",
            name(k),
            number(entries[k].error, 2),
            number(extent, 2)
        ));
    }
    Verdict { groups, sentences }
}

/// The range of the coordinate that moves most.
fn extent(run: &Run) -> f64 {
    let (t, d) = (&run.trajectory, run.trajectory.dimension());
    let range = |i: usize| {
        let values = (0..t.len()).map(|k| t.q(k)[i]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        high - low
    };
    (0..d).map(range).fold(0.0, f64::max)
}

/// The first impact at which two runs tell different constraints.
fn parting(problem: &Problem, a: &Run, name_a: &str, b: &Run, name_b: &str) -> Option<String> {
    let model = problem.model();
    let told = |run: &Run, k: usize| {
        let impact = run.trajectory.impacts.get(k);
        let names: Vec<_> = impact.constraints.iter().map(|&c| tame(&model.constraints[c].name)).collect();
        (impact.t, names.join(" + "))
    };
    let (m, n) = (a.trajectory.impacts.len(), b.trajectory.impacts.len());
    for k in 0..m.min(n) {
        let ((t, here), (_, there)) = (told(a, k), told(b, k));
        if here != there {
            let t = number(t, 6);
            return Some(format!("they part at impact {}, t = {t}: {name_a} has {here}, {name_b} has {there}", k + 1));
        }
    }
    (m != n).then(|| format!("{name_a} has {}, {name_b} has {}", count(m as u64, "impact"), count(n as u64, "impact")))
}

fn print(
    ready: &Ready,
    steps: &[f64],
    entries: &[Entry],
    apart: &Distances,
    refused: &[(&str, String, Option<String>)],
    verdict: &Verdict,
) {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let model = ready.problem.model();
    let shown: Vec<String> = steps.iter().map(|h| number(*h, 4)).collect();
    out!(
        "{bold}{}{bold:#}\n{dim}time steps {} (the table is for the smallest); by events with tolerance {:e}{dim:#}\n\n",
        tame(&model.title),
        shown.join(", "),
        ready.defaults.tolerance.unwrap_or(saltus::scheme::Settings::new(1.0).tolerance)
    );
    out!("{dim}{:18} impacts  violation  outside  energy gained  law residual  cost a step  own error{dim:#}\n", "");
    for entry in entries {
        let (run, wall) = &entry.runs[entry.runs.len() - 1];
        let gained = run.trajectory.impacts.iter().map(|i| i.energy_change).fold(0.0, f64::max);
        out!(
            "{:18} {:<8} {:<10} {:<8} {:<14} {:<13} {:<12} {}\n",
            entry.scheme.name,
            run.trajectory.impacts.len(),
            number(run.audit.max_violation, 2),
            run.audit.infeasible,
            number(gained, 2),
            number(run.audit.worst_law_residual, 2),
            duration(wall / run.steps.max(1) as f64),
            number(entry.error, 2)
        );
    }
    out!("\n{dim}final state{dim:#}\n");
    for entry in entries {
        let t = &entry.finest().trajectory;
        let k = t.len() - 1;
        let state: Vec<String> = (0..model.coordinates.len().min(4))
            .map(|i| {
                format!("{} = {} ({})", model.coordinates[i], number(t.q(k)[i], 6), number(t.v(k, Side::Left)[i], 4))
            })
            .collect();
        out!("{:18} {}\n", entry.scheme.name, state.join(", "));
    }
    if entries.len() > 1 {
        out!("\n{dim}distance: largest in position / ∫|Δv| dt{dim:#}\n");
        for (a, b, d) in apart.pairs() {
            let (a, b) = (entries[a].scheme.name, entries[b].scheme.name);
            out!("{a:18} {b:18} {} / {}\n", number(d.position, 3), number(d.velocity, 3));
        }
    }
    out!("\n");
    for sentence in &verdict.sentences {
        out!("{bold}{sentence}{bold:#}\n");
    }
    for entry in entries {
        for warning in &entry.finest().warnings {
            out!("{yellow}warning ({}):{yellow:#} {warning}\n", entry.scheme.name);
        }
    }
    for (name, message, help) in refused {
        out!("{yellow}left out: {name}.{yellow:#} {message}\n");
        if let Some(help) = help {
            out!("  {help}\n");
        }
    }
}

/// The comparison as a page.
fn page(
    ready: &Ready,
    steps: &[f64],
    entries: &[Entry],
    apart: &Distances,
    refused: &[(&str, String, Option<String>)],
    verdict: &Verdict,
) -> saltus_report::Page {
    let shown: Vec<String> = steps.iter().map(|h| number(*h, 4)).collect();
    let heads =
        ["impacts", "violation", "instants outside", "energy gained", "law residual", "seconds a step", "own error"];
    let runs = entries.iter().map(|entry| {
        let (run, wall) = &entry.runs[entry.runs.len() - 1];
        let gained = run.trajectory.impacts.iter().map(|i| i.energy_change).fold(0.0, f64::max);
        saltus_report::Compared {
            name: entry.scheme.name,
            trajectory: &run.trajectory,
            figures: vec![
                run.trajectory.impacts.len() as f64,
                run.audit.max_violation,
                run.audit.infeasible as f64,
                gained,
                run.audit.worst_law_residual,
                wall / run.steps.max(1) as f64,
                entry.error,
            ],
        }
    });
    let warned = entries.iter().flat_map(|e| e.finest().warnings.iter().map(|w| format!("{}: {w}", e.scheme.name)));
    let left_out = refused.iter().map(|(name, message, _)| format!("left out: {name}. {message}"));
    saltus_report::compare(&saltus_report::CompareReport {
        model: ready.problem.model(),
        origin: report::origin(&ready.file),
        subtitle: format!(
            "schemes side by side, time steps {} (figures and tables for the smallest)",
            shown.join(", ")
        ),
        runs: runs.collect(),
        heads: heads.map(String::from).to_vec(),
        distances: apart.pairs().map(|(a, b, d)| (a, b, [d.position, d.at, d.velocity])).collect(),
        verdict: verdict.sentences.clone(),
        warnings: warned.chain(left_out).collect(),
    })
}

fn print_json(
    ready: &Ready,
    entries: &[Entry],
    apart: &Distances,
    refused: &[(&str, String, Option<String>)],
    verdict: &Verdict,
) {
    let schemes: Vec<_> = entries
        .iter()
        .map(|e| {
            let (run, wall) = &e.runs[e.runs.len() - 1];
            let t = &run.trajectory;
            let k = t.len() - 1;
            serde_json::json!({
                "scheme": e.scheme.name, "step": run.step, "steps": run.steps, "wall_s": wall,
                "impacts": t.impacts.len(),
                "final": { "t": t.t[k], "q": t.q(k), "v": t.v(k, Side::Left) },
                "max_violation": run.audit.max_violation, "infeasible_steps": run.audit.infeasible,
                "energy_gained_at_an_impact": t.impacts.iter().map(|i| i.energy_change).fold(0.0, f64::max),
                "worst_law_residual": run.audit.worst_law_residual,
                "own_error": e.error, "warnings": run.warnings,
            })
        })
        .collect();
    let distances: Vec<_> = apart
        .pairs()
        .map(|(a, b, d)| {
            serde_json::json!({
                "a": entries[a].scheme.name, "b": entries[b].scheme.name,
                "position": d.position, "at": d.at, "velocity": d.velocity,
            })
        })
        .collect();
    let groups: Vec<Vec<&str>> =
        verdict.groups.iter().map(|g| g.iter().map(|&k| entries[k].scheme.name).collect()).collect();
    let refused: Vec<_> =
        refused.iter().map(|(n, m, h)| serde_json::json!({ "scheme": n, "message": m, "help": h })).collect();
    let object = serde_json::json!({
        "model": ready.file.name, "schemes": schemes, "distances": distances, "agree": groups,
        "verdict": verdict.sentences, "refused": refused,
    });
    out!("{object}\n");
}
