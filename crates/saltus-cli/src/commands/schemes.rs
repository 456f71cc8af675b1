//! `saltus schemes`: the list, as the schemes declare themselves.

use crate::text::out;
use anstyle::Style;
use saltus::scheme::SCHEMES;
use std::process::ExitCode;

/// List the schemes: what they do, what is proved about them, what to use them for.
#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

pub fn main(args: &Args) -> ExitCode {
    if args.json {
        let list: Vec<_> = SCHEMES
            .iter()
            .map(|s| {
                serde_json::json!({
                    "name": s.name, "level": s.level, "restitution": s.restitution, "order": s.order.is_finite().then_some(s.order),
                    "proved": s.proved, "use_for": s.use_for,
                })
            })
            .collect();
        out!("{}\n", serde_json::json!({ "schemes": list }));
        return ExitCode::SUCCESS;
    }
    let bold = Style::new().bold();
    for s in SCHEMES {
        out!("{bold}{}{bold:#}\n", s.name);
        for (what, text) in
            [("level", s.level), ("restitution", s.restitution), ("proved", s.proved), ("use it for", s.use_for)]
        {
            out!("  {what:12} {}\n", wrapped(text));
        }
        out!("\n");
    }
    out!("All work with M(q), several, curved and moving constraints. Details: docs/schemes.md\n");
    ExitCode::SUCCESS
}

/// Breaks a long text into lines that line up under the first.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() > 80 {
            lines.push(word.to_string());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join("\n               ")
}
