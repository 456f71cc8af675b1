//! `saltus check MODEL`: what can be said before any run.

use crate::progress::{self, Bar};
use crate::report;
use crate::setup::{ModelArgs, Opened, Refusal};
use crate::text::{out, tame};
use anstyle::{AnsiColor, Style};
use saltus::Progress;
use saltus::analysis::{Check, CheckOptions, Verdict, check};
use std::process::ExitCode;

/// Say which hypotheses of the papers a model satisfies, and which theorem covers it.
///
/// Looks at the start, the mass matrix, the forces and the boundary of K, searches for places
/// where two constraints can be closed at once and takes their kinetic angle there, and says
/// which theorem covers the model with which scheme, and what no theorem covers. A search by
/// samples: it says how hard it looked.
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
    let ready = match args.model.open(None, None)? {
        Opened::Problem(ready) => *ready,
        Opened::Structure(ready) => {
            return super::structure::check(&ready, args.model.json, args.model.report.is_some());
        }
    };
    let mut options = CheckOptions::new(ready.defaults.end.unwrap_or(1.0));
    (options.starts, options.seed) = (args.effort as usize, args.seed);
    progress::listen();
    let mut bar = Bar::new(args.model.json);
    let found = check(&ready.problem, &options, &mut |done, of| {
        bar.report(Progress { step: done as u64, steps: of as u64, t: 0.0, impacts: 0 })
    });
    bar.finish();
    if args.model.json {
        print_json(&ready.file.name, &found);
    } else {
        print(&ready.problem.model().title, &found);
    }
    if let Some(path) = &args.model.report {
        let origin = report::origin(&ready.file);
        let page =
            saltus_report::check(&saltus_report::CheckReport { model: ready.problem.model(), origin, found: &found });
        if let Err(code) = report::written(path, &page, args.model.json) {
            return Ok(code);
        }
    }
    Ok(if found.stopped { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn print(title: &str, found: &Check) {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    out!("{bold}{}{bold:#}\n", tame(title));
    out!("{dim}{} points looked at{dim:#}\n\n", found.points);
    let mut topic = "";
    for finding in &found.findings {
        let shown = if finding.topic == topic { "" } else { finding.topic };
        topic = finding.topic;
        let (mark, style) = match finding.verdict {
            Verdict::Good => ("+", green),
            Verdict::Note => ("·", dim),
            Verdict::Bad => ("!", yellow),
        };
        out!("{bold}{shown:8}{bold:#}{style}{mark}{style:#} {}\n", wrapped(&tame(&finding.text), 10));
    }
    out!("\n{bold}theorems{bold:#}\n");
    for theorem in &found.theorems {
        let (mark, style) = if theorem.covers { ("+", green) } else { ("-", dim) };
        out!("        {style}{mark}{style:#} {}: {}\n", theorem.scheme, theorem.source);
        match theorem.covers {
            true => out!("          {}\n", wrapped(theorem.gives, 10)),
            false => out!("          {dim}not covered: {}{dim:#}\n", wrapped(&theorem.fails.join("; "), 10)),
        }
    }
    if !found.uncovered.is_empty() {
        out!("\n{bold}not covered by any of them{bold:#}\n");
        found.uncovered.iter().for_each(|text| out!("        {yellow}!{yellow:#} {}\n", wrapped(text, 10)));
    }
    if found.stopped {
        out!("\n{yellow}interrupted: the search was not finished{yellow:#}\n");
    }
}

/// Breaks a text into lines of about a hundred characters, with an indent.
pub fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() > 100 - indent && !lines[last].is_empty() {
            lines.push(word.to_string());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

fn print_json(name: &str, found: &Check) {
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
    let object = serde_json::json!({
        "model": name, "findings": findings, "pairs": pairs, "theorems": theorems, "uncovered": found.uncovered,
        "points": found.points, "stopped": found.stopped,
    });
    out!("{object}\n");
}
