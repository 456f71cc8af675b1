//! `saltus check MODEL`: what can be said before any run.

use super::summary;
use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{Asked, ModelArgs, Refusal};
use crate::text::{out, printable, wrapped};
use anstyle::{AnsiColor, Style};
use saltus::analysis::{Check, CheckOptions, Verdict, check};
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
    model: ModelArgs,
    /// The end of the interval that is examined: a number or an expression of parameters [default: the model's, else 1]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    end: Option<String>,
    /// Starts of the search for each constraint and each pair of them
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..100_000_000))]
    effort: u64,
    /// The seed of the samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn main(args: &Args) -> ExitCode {
    execute(args).unwrap_or_else(|refusal| refusal.show(args.model.json))
}

fn execute(args: &Args) -> Result<ExitCode, Refusal> {
    let ready = args.model.ready(&Asked { end: args.end.as_ref(), ..Asked::default() })?;
    let system = &*ready.opened.system;
    let mut options = CheckOptions::new(ready.opened.defaults.end.unwrap_or(1.0));
    (options.starts, options.seed) = (args.effort as usize, args.seed);
    progress::listen();
    let mut bar = Bar::new(args.model.json);
    let found = check(system, &options, &mut |done, of| bar.searched(done, of));
    bar.finish();
    let facts = system.as_structure().map(StructureFacts::new);
    if args.model.json {
        print_json(&ready.file.name, &found, facts.as_ref());
    } else {
        print(&system.model().title, &found, facts.as_ref());
    }
    if let Some(path) = &args.model.report {
        let origin = report::origin(&ready.file);
        let page = saltus_report::check(&saltus_report::CheckReport { model: system.model(), origin, found: &found });
        if let Err(code) = report::written(path, &page, args.model.json) {
            return Ok(code);
        }
    }
    Ok(if found.stopped { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn print(title: &str, found: &Check, facts: Option<&StructureFacts>) {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    out!("{bold}{}{bold:#}\n", printable(title));
    match facts {
        Some(facts) => {
            out!("\n");
            summary::structure(facts);
            out!("\n");
        }
        None => out!("{dim}{} points examined{dim:#}\n\n", found.points),
    }
    let mut topic = "";
    for finding in &found.findings {
        let shown = if finding.topic == topic { "" } else { finding.topic };
        topic = finding.topic;
        let (mark, style) = match finding.verdict {
            Verdict::Good => ("+", green),
            Verdict::Note => ("·", dim),
            Verdict::Bad => ("!", yellow),
        };
        out!("{bold}{shown:8}{bold:#}{style}{mark}{style:#} {}\n", wrapped(&printable(&finding.text), 10, 100));
    }
    out!("\n{bold}theorems{bold:#}\n");
    for theorem in &found.theorems {
        let (mark, style) = if theorem.covers { ("+", green) } else { ("-", dim) };
        out!("        {style}{mark}{style:#} {}: {}\n", theorem.scheme, theorem.source);
        match theorem.covers {
            true => out!("          {}\n", wrapped(theorem.gives, 10, 100)),
            false => out!("          {dim}not covered: {}{dim:#}\n", wrapped(&theorem.fails.join("; "), 10, 100)),
        }
    }
    if !found.uncovered.is_empty() {
        out!("\n{bold}not covered by any of them{bold:#}\n");
        found.uncovered.iter().for_each(|text| out!("        {yellow}!{yellow:#} {}\n", wrapped(text, 10, 100)));
    }
    if found.stopped {
        out!("\n{yellow}interrupted: the search was not finished{yellow:#}\n");
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
    out!("{object}\n");
}
