//! `saltus equilibria MODEL`: where it can rest.

use super::check::wrapped;
use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{ModelArgs, Refusal};
use crate::text::{count, number, out, tame};
use anstyle::Style;
use saltus::analysis::{Equilibria, EquilibriaOptions, Equilibrium, Stability, equilibria};
use saltus::{Model, Problem, Progress, RunOptions};
use std::process::ExitCode;

/// Find the equilibria of a model: positions, contacts, reactions, stability.
///
/// Solves g(t, q, 0) + Σ λ ∇f = 0 with 0 ≤ f ⊥ λ ≥ 0 over sets of constraints, by Newton's method
/// from many starts. With few constraints every set is tried; with many, those that a start is
/// near to. Where all forces come from energies, the second variation on the critical cone tells
/// stability; otherwise a short run from a small push does.
///
/// Examples:
///
///   saltus equilibria rocking-block
///
///   saltus equilibria ball-table --at 0.5
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// The time at which what moves is frozen
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_hyphen_values = true)]
    at: f64,
    /// Starts for each set of constraints
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..100_000_000))]
    effort: u64,
    /// The seed of the starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn main(args: &Args) -> ExitCode {
    execute(args).unwrap_or_else(|refusal| refusal.show(args.model.json))
}

fn execute(args: &Args) -> Result<ExitCode, Refusal> {
    let ready = args.model.ready(None)?;
    let options = EquilibriaOptions {
        time: args.at,
        starts: args.effort as usize,
        seed: args.seed,
        ..EquilibriaOptions::default()
    };
    progress::listen();
    let mut bar = Bar::new(args.model.json);
    let all = equilibria(&ready.problem, &options, &mut |done, of| {
        bar.report(Progress { step: done as u64, steps: of as u64, t: args.at, impacts: 0 })
    });
    bar.finish();
    let all = all?;
    let model = ready.problem.model();
    let evidence: Vec<String> = all.found.iter().map(|e| stability(&ready.problem, e)).collect();
    if args.model.json {
        print_json(&ready.file.name, model, args.at, &all, &evidence);
    } else {
        print(model, args.at, &all, &evidence);
    }
    if let Some(path) = &args.model.report {
        let words = all.found.iter().zip(&evidence);
        let words =
            words.map(|(e, evidence)| saltus_report::Rest { contacts: contacts(model, e), evidence: evidence.clone() });
        let (mut energy, mut gaps) = (ready.problem.energy(), ready.problem.gaps());
        let still = vec![0.0; model.coordinates.len()];
        let t = args.at;
        let page = saltus_report::equilibria(saltus_report::EquilibriaReport {
            model,
            origin: report::origin(&ready.file),
            time: t,
            all: &all,
            words: words.collect(),
            landscape: Some(Box::new(move |q: &[f64]| {
                gaps.evaluate(t, q);
                (energy.both(t, q, &still).1, gaps.values.iter().copied().fold(f64::INFINITY, f64::min))
            })),
        });
        if let Err(code) = report::written(path, &page, args.model.json) {
            return Ok(code);
        }
    }
    Ok(if all.stopped { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

/// What speaks for or against the stability of an equilibrium, in words.
fn stability(problem: &Problem, e: &Equilibrium) -> String {
    match e.stability {
        Stability::Stable { curvature } if curvature.is_infinite() => {
            "stable: the contacts leave no direction to move".into()
        }
        Stability::Stable { curvature } => {
            format!("stable: a strict minimum of the potential on K (smallest curvature {})", number(curvature, 4))
        }
        Stability::Unstable { curvature } => {
            format!("unstable: the potential falls (curvature {})", number(curvature, 4))
        }
        Stability::Neutral { directions } => {
            format!("stable but for {}, along which nothing changes", count(directions as u64, "direction"))
        }
        Stability::Unknown => pushed(problem, e),
    }
}

/// Without a potential: a short run from a small push.
fn pushed(problem: &Problem, e: &Equilibrium) -> String {
    let size = e.q.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    let push = 1e-6 * size;
    let mut farthest = 0.0_f64;
    for sign in [1.0, -1.0] {
        let v: Vec<f64> = (0..e.q.len()).map(|i| sign * push * ((i as f64 + 1.0) * 1.3).cos()).collect();
        // A start in contact may not be pushed into it.
        let Ok(start) = problem.started(&e.q, &v) else { continue };
        let Ok(run) = saltus::run(&start, &RunOptions::new(0.05, 10.0), &mut |_| true) else { continue };
        for k in 0..run.trajectory.len() {
            let off = run.trajectory.q(k).iter().zip(&e.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            farthest = farthest.max(off);
        }
    }
    match farthest {
        0.0 => "no potential, and no push was admissible: nothing known".into(),
        far if far < 1e3 * push => {
            format!("stayed within {} of it for 10 time units after a push of {}", number(far, 2), number(push, 2))
        }
        far => format!("left it by {} within 10 time units after a push of {}", number(far, 2), number(push, 2)),
    }
}

/// How many contacts are told of an equilibrium; `--json` has them all.
const SHOWN: usize = 8;

fn contacts(model: &Model, e: &Equilibrium) -> String {
    if e.closed.is_empty() {
        return "no contact".into();
    }
    let each = e.closed.iter().zip(&e.reactions).map(|(&a, l)| {
        let degenerate = if e.degenerate.contains(&a) { " (degenerate: closed without a reaction)" } else { "" };
        format!("{} λ = {}{degenerate}", tame(&model.constraints[a].name), number(*l, 10))
    });
    let more =
        if e.closed.len() > SHOWN { format!(", … and {} more", e.closed.len() - SHOWN) } else { String::new() };
    each.take(SHOWN).collect::<Vec<_>>().join(", ") + &more
}

fn print(model: &Model, t: f64, all: &Equilibria, evidence: &[String]) {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    out!("{bold}{}{bold:#}\n", tame(&model.title));
    let how = if all.exhaustive { "every set of constraints" } else { "sets of constraints near each start" };
    out!("{dim}{how}: {} sets, {} starts{dim:#}\n", all.sets, all.starts);
    let timed = |node| model.graph.depends_on(node, model.t);
    if model.force.iter().any(|&g| timed(g)) || model.constraints.iter().any(|c| timed(c.gap)) {
        out!(
            "{dim}forces or constraints depend on time: these are equilibria of the model frozen at t = {}{dim:#}\n",
            number(t, 6)
        );
    }
    out!(
        "\n{bold}{}{bold:#}\n",
        if all.found.is_empty() { "no equilibrium found".into() } else { count_of(all.found.len()) }
    );
    for (k, e) in all.found.iter().enumerate() {
        let size = e.q.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(1e-3);
        let plain = |x: f64| if x.abs() < 1e-12 * size { 0.0 } else { x };
        let q: Vec<String> =
            e.q.iter()
                .take(8)
                .zip(&model.coordinates)
                .map(|(x, name)| format!("{name} = {}", number(plain(*x), 10)))
                .collect();
        let more = if e.q.len() > 8 { ", …" } else { "" };
        out!("{:>4}  {}{more}\n", k + 1, q.join(", "));
        out!("      {}\n", wrapped(&contacts(model, e), 6));
        if !e.family.is_empty() {
            let free: Vec<&str> = (0..e.q.len())
                .filter(|&i| e.family.iter().any(|w| w[i].abs() > 0.999))
                .map(|i| model.coordinates[i].as_str())
                .collect();
            let which = if free.is_empty() {
                String::new()
            } else {
                if free.len() == 1 {
                    format!(": {} is arbitrary", free[0])
                } else {
                    format!(": {} are arbitrary", free.join(", "))
                }
            };
            out!("      one of a family with {}{which}\n", count(e.family.len() as u64, "parameter"));
        }
        out!("      {}\n", wrapped(&evidence[k], 6));
    }
    if all.stopped {
        out!("\ninterrupted: the search was not finished\n");
    }
}

fn count_of(n: usize) -> String {
    if n == 1 { "1 equilibrium".into() } else { format!("{n} equilibria") }
}

fn print_json(name: &str, model: &Model, t: f64, all: &Equilibria, evidence: &[String]) {
    let found: Vec<_> = all
        .found
        .iter()
        .zip(evidence)
        .map(|(e, evidence)| {
            let names = |ids: &[usize]| ids.iter().map(|&a| model.constraints[a].name.clone()).collect::<Vec<_>>();
            let kind = match e.stability {
                Stability::Stable { .. } => "stable",
                Stability::Unstable { .. } => "unstable",
                Stability::Neutral { .. } => "neutral",
                Stability::Unknown => "unknown",
            };
            serde_json::json!({
                "q": e.q, "closed": names(&e.closed), "reactions": e.reactions, "degenerate": names(&e.degenerate),
                "family": e.family, "stability": kind, "evidence": evidence, "residual": e.residual,
            })
        })
        .collect();
    let object = serde_json::json!({
        "model": name, "time": t, "coordinates": model.coordinates, "equilibria": found, "sets": all.sets,
        "starts": all.starts, "exhaustive": all.exhaustive, "stopped": all.stopped,
    });
    out!("{object}\n");
}
