//! `saltus equilibria MODEL`: where it can rest.

use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{Asked, ModelArgs, Refusal, StartArgs};
use crate::text::{BOLD, DIM, count, number, out, printable, wrapped};
use saltus::analysis::{Equilibria, EquilibriaOptions, Equilibrium, Isolation, equilibria};
use saltus::{Model, System};
use std::process::ExitCode;

/// Find the equilibria of a model: positions, contacts, reactions, stability.
///
/// Solves g(t, q, 0) + Σ λ ∇f = 0 with 0 ≤ f ⊥ λ ≥ 0 over sets of constraints, by Newton's method
/// from many starts. With few constraints every set is tried; with many, those that a start is
/// near to. A root counts if the test of Newton and Kantorovich certifies it; a degenerate one is
/// examined on small spheres around it. Where the forces have a potential, its variation on the
/// critical cone decides stability, elsewhere the eigenvalues of the linearised motion, and where
/// neither does, the result says so. What depends on time is frozen, for stability as well. A
/// structure that is held has exactly one equilibrium, by contact statics.
///
/// Examples:
///
///   saltus equilibria rocking-block
///
///   saltus equilibria ball-table --time 0.5
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The search begins around this position: x=0.3; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    start: Vec<String>,
    /// Begin from the nearest position that satisfies the joints
    #[arg(long)]
    assemble: bool,
    /// The time at which what moves is frozen
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_hyphen_values = true)]
    time: f64,
    /// Starts for each set of constraints
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..100_000_000))]
    effort: u64,
    /// The seed of the starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let start = StartArgs { start: args.start.clone(), assemble: args.assemble, ..StartArgs::default() };
    let ready = args.model.ready(&Asked { start: Some(&start), ..Asked::default() })?;
    let system = &*ready.opened.system;
    let options = EquilibriaOptions {
        time: args.time,
        starts: args.effort as usize,
        seed: args.seed,
        ..EquilibriaOptions::default()
    };
    let mut bar = Bar::new(args.model.json);
    let all = equilibria(system, &options, &mut |done, of| bar.searched(done, of));
    bar.finish();
    let all = all?;
    let model = system.model();
    if args.model.json {
        print_json(&ready.file.name, model, args.time, &all);
    } else {
        print(system, args.time, &all);
    }
    if let Some(path) = &args.model.report {
        let words = all
            .found
            .iter()
            .map(|e| saltus_report::Rest { contacts: contacts(model, e), evidence: e.stability.sentence() });
        let page = saltus_report::equilibria(saltus_report::EquilibriaReport {
            model,
            origin: report::origin(&ready.file),
            time: args.time,
            all: &all,
            words: words.collect(),
            landscape: landscape(system, args.time),
        });
        report::written(path, &page, args.model.json)?;
    }
    Ok(if all.stopped { ExitCode::from(progress::INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The potential and the smallest gap at a position, for the picture of a model.
fn landscape(system: &dyn System, t: f64) -> Option<Box<saltus_report::Landscape<'static>>> {
    let problem = system.as_problem()?;
    let (mut energy, mut gaps) = (problem.energy(), problem.gaps());
    let model = problem.model();
    // A landscape with joints is no plane of positions.
    if !model.joints.is_empty() || !model.states.is_empty() {
        return None;
    }
    let still = vec![0.0; problem.dimension()];
    Some(Box::new(move |q: &[f64]| {
        gaps.evaluate(t, q, &still);
        (energy.both(t, q, &still).1, gaps.values.iter().copied().fold(f64::INFINITY, f64::min))
    }))
}

/// How many contacts are listed of an equilibrium; `--json` has them all.
const SHOWN: usize = 8;

fn contacts(model: &Model, e: &Equilibrium) -> String {
    if e.closed.is_empty() {
        return "no contact".into();
    }
    let each = e.closed.iter().zip(&e.reactions).map(|(&a, l)| {
        let degenerate = if e.degenerate.contains(&a) { " (degenerate: closed without a reaction)" } else { "" };
        format!("{} λ = {}{degenerate}", printable(&model.constraints[a].name), number(*l, 10))
    });
    let more =
        if e.closed.len() > SHOWN { format!(", … and {} more", e.closed.len() - SHOWN) } else { String::new() };
    each.take(SHOWN).collect::<Vec<_>>().join(", ") + &more
}

fn print(system: &dyn System, t: f64, all: &Equilibria) {
    let model = system.model();
    out!("{BOLD}{}{BOLD:#}\n", printable(&model.title));
    let how = if all.exhaustive { "every set of constraints" } else { "sets of constraints near each start" };
    match system.as_structure() {
        Some(_) => out!("{DIM}by contact statics{DIM:#}\n"),
        None => out!("{DIM}{how}: {}, {}{DIM:#}\n", count(all.sets as u64, "set"), count(all.starts as u64, "start")),
    }
    if system.is_forced() {
        let t = number(t, 6);
        out!(
            "{DIM}forces or constraints depend on time: these are equilibria of the model frozen at t = {t}, and so is their stability{DIM:#}\n"
        );
    }
    let found = match all.found.len() {
        0 => "no equilibrium found".to_string(),
        1 => "1 equilibrium".to_string(),
        n => format!("{n} equilibria"),
    };
    let which = if !all.sticks { "" } else { " without friction" };
    for note in all.notes.iter().take(SHOWN) {
        out!("{DIM}{}{DIM:#}\n", wrapped(&printable(note), 0, 100));
    }
    out!("\n{BOLD}{found}{which}{BOLD:#}\n");
    for (k, e) in all.found.iter().enumerate() {
        let size = e.q.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(1e-3);
        let plain = |x: f64| if x.abs() < 1e-12 * size { 0.0 } else { x };
        let q: Vec<String> =
            e.q.iter()
                .take(8)
                .zip(&model.coordinates)
                .map(|(x, name)| format!("{} = {}", printable(name), number(plain(*x), 10)))
                .collect();
        let more = if e.q.len() > 8 { ", …" } else { "" };
        let states = e.z.iter().take(8).zip(&model.states);
        let states = states.map(|(z, state)| format!(", {} = {}", printable(&state.name), number(*z, 10)));
        out!("{:>4}  {}{more}{}\n", k + 1, q.join(", "), states.collect::<String>());
        out!("      {}\n", wrapped(&contacts(model, e), 6, 100));
        if !e.joint_reactions.is_empty() {
            let pairs = e.joint_reactions.iter().zip(&model.joints).take(SHOWN);
            let each = pairs.map(|(r, joint)| format!("{} {}", printable(&joint.name), number(*r, 10)));
            out!("      {}\n", wrapped(&format!("joints: {}", each.collect::<Vec<_>>().join(", ")), 6, 100));
        }
        if !e.family.is_empty() {
            let is_free = |i: &usize| e.family.iter().any(|w| w[*i].abs() > 0.999);
            let free: Vec<String> = (0..model.dimension().min(e.family[0].len()))
                .filter(is_free)
                .map(|i| printable(model.unknown(i)))
                .collect();
            let which = match free.as_slice() {
                [] => String::new(),
                [one] => format!(": {one} is arbitrary"),
                several => format!(": {} are arbitrary", several.join(", ")),
            };
            out!("      one of a family with {}{which}\n", count(e.family.len() as u64, "parameter"));
        }
        match e.isolation {
            Isolation::Degenerate => out!("      isolated, a multiple root of the equations\n"),
            Isolation::Unclear => out!("      whether it is isolated cannot be told\n"),
            Isolation::Isolated | Isolation::Family => {}
        }
        out!("      {}\n", wrapped(&e.stability.sentence(), 6, 100));
    }
    if all.stopped {
        out!("\ninterrupted: the search was not finished\n");
    }
}

fn print_json(name: &str, model: &Model, t: f64, all: &Equilibria) {
    let found: Vec<_> = all
        .found
        .iter()
        .map(|e| {
            let names = |ids: &[usize]| ids.iter().map(|&a| model.constraints[a].name.clone()).collect::<Vec<_>>();
            serde_json::json!({
                "q": e.q, "z": e.z, "joint_reactions": e.joint_reactions, "closed": names(&e.closed), "reactions": e.reactions, "degenerate": names(&e.degenerate),
                "family": e.family, "isolation": e.isolation.kind(), "stability": e.stability.kind(), "evidence": e.stability.sentence(), "residual": e.residual,
            })
        })
        .collect();
    let object = serde_json::json!({
        "model": name, "time": t, "coordinates": model.coordinates,
        "states": model.states.iter().map(|s| &s.name).collect::<Vec<_>>(),
        "joints": model.joints.iter().map(|j| &j.name).collect::<Vec<_>>(), "notes": all.notes, "equilibria": found, "sets": all.sets,
        "starts": all.starts, "exhaustive": all.exhaustive, "stopped": all.stopped,
    });
    crate::text::print_json(&object);
}
