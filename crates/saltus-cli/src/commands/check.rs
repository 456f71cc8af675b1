//! `saltus check MODEL`: what can be said before any run.

use super::summary;
use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{Asked, ModelArgs, Refusal, StartArgs};
use crate::text::{BOLD, DIM, GREEN, YELLOW, out, printable, wrapped};
use saltus::analysis::{Check, CheckOptions, Verdict, check_from};
use saltus::structure::StructureFacts;
use std::process::ExitCode;

/// Say which hypotheses of the papers a model satisfies, and which theorem covers it.
///
/// Examines the start, the mass matrix, the forces and the boundary of K, searches for places
/// where two constraints can be closed at once and computes their kinetic angle there, and says
/// which theorem covers the model with which scheme, and what no theorem covers. Moving
/// constraints are examined over the interval of the run: whether K(t) becomes empty, and whether
/// gaps and their speeds stay finite. A search by samples: the result states its effort.
///
/// Examples:
///
///   saltus check rocking-block
///
///   saltus check wedge --set angle=120 --effort 400
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    start: StartArgs,
    /// The end of the interval that is examined: a number or an expression of parameters [default: the model's, else one unit of time
    /// after the start]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    end: Option<String>,
    /// Starts of the search for each constraint and each pair of them
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..100_000_000))]
    effort: u64,
    /// The seed of the samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let ready = args.model.ready(&Asked { start: Some(&args.start), end: args.end.as_ref(), ..Asked::default() })?;
    let system = &*ready.opened.system;
    system.admits(ready.start())?;
    let mut options = CheckOptions::new(ready.opened.defaults.end.unwrap_or(ready.start().t + 1.0));
    (options.starts, options.seed) = (args.effort as usize, args.seed);
    let mut bar = Bar::new(args.model.json);
    let found = check_from(system, ready.start(), &options, &mut |done, of| bar.searched(done, of));
    bar.finish();
    let facts = system.as_structure().map(StructureFacts::new);
    if args.model.json {
        print_json(&ready.file.name, &found, facts.as_ref());
    } else {
        print(&system.model().title, &found, facts.as_ref(), ready.assembled.as_deref());
    }
    if let Some(path) = &args.model.report {
        let origin = report::origin(&ready.file);
        let page = saltus_report::check(&saltus_report::CheckReport { model: system.model(), origin, found: &found });
        report::written(path, &page, args.model.json)?;
    }
    Ok(if found.stopped { ExitCode::from(progress::INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn print(title: &str, found: &Check, facts: Option<&StructureFacts>, assembled: Option<&str>) {
    out!("{BOLD}{}{BOLD:#}\n", printable(title));
    if let Some(start) = assembled {
        out!("{DIM}assembled: starts at {start}{DIM:#}\n");
    }
    match facts {
        Some(facts) => {
            out!("\n");
            summary::structure(facts);
            out!("\n");
        }
        None => out!("{DIM}{} points examined{DIM:#}\n\n", found.points),
    }
    let mut topic = "";
    for finding in &found.findings {
        let shown = if finding.topic == topic { "" } else { finding.topic };
        topic = finding.topic;
        let (mark, style) = match finding.verdict {
            Verdict::Good => ("+", GREEN),
            Verdict::Note => ("·", DIM),
            Verdict::Bad => ("!", YELLOW),
        };
        out!("{BOLD}{shown:9}{BOLD:#}{style}{mark}{style:#} {}\n", wrapped(&printable(&finding.text), 11, 100));
    }
    out!("\n{BOLD}theorems{BOLD:#}\n");
    for theorem in &found.theorems {
        let (mark, style) = if theorem.covers { ("+", GREEN) } else { ("-", DIM) };
        out!("        {style}{mark}{style:#} {}: {}\n", theorem.scheme, theorem.source);
        match theorem.covers {
            true => out!("          {}\n", wrapped(theorem.gives, 10, 100)),
            false => {
                let text = format!("not covered: {}", theorem.fails.join("; "));
                out!("          {DIM}{}{DIM:#}\n", wrapped(&text, 10, 100));
            }
        }
    }
    if !found.uncovered.is_empty() {
        out!("\n{BOLD}not covered by any of them{BOLD:#}\n");
        found.uncovered.iter().for_each(|text| out!("        {YELLOW}!{YELLOW:#} {}\n", wrapped(text, 10, 100)));
    }
    if found.stopped {
        out!("\n{YELLOW}interrupted: the search was not finished{YELLOW:#}\n");
    }
}

fn print_json(name: &str, found: &Check, facts: Option<&StructureFacts>) {
    let verdict = |v: Verdict| match v {
        Verdict::Good => "good",
        Verdict::Note => "note",
        Verdict::Bad => "bad",
    };
    let findings: Vec<_> = found
        .findings
        .iter()
        .map(|f| serde_json::json!({ "topic": f.topic, "verdict": verdict(f.verdict), "text": f.text }))
        .collect();
    let pairs: Vec<_> = found
        .pairs
        .iter()
        .map(|p| {
            serde_json::json!({
                "pair": [p.pair.0, p.pair.1], "narrowest": p.narrowest, "widest": p.widest, "t": p.at.0, "q": p.at.1,
                "found": p.found, "starts": p.starts, "continuous": p.continuous, "gamma": p.gamma,
            })
        })
        .collect();
    let theorems: Vec<_> = found
        .theorems
        .iter()
        .map(|t| serde_json::json!({ "scheme": t.scheme, "source": t.source, "covers": t.covers, "gives": t.gives, "fails": t.fails }))
        .collect();
    let structure = facts.map(|f| {
        serde_json::json!({
            "dofs": f.dofs, "massless": f.massless, "half_bandwidth": f.half_bandwidth, "masses": f.masses,
            "frequencies_hz": f.frequencies, "rigid_body_modes": f.rigid_names, "contact_masses": f.contact_masses,
        })
    });
    let object = serde_json::json!({
        "model": name, "findings": findings, "pairs": pairs, "theorems": theorems, "uncovered": found.uncovered,
        "points": found.points, "stopped": found.stopped, "structure": structure,
    });
    crate::text::print_json(&object);
}
