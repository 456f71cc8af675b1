//! `saltus schemes`: the list, as the schemes declare themselves.

use crate::setup::Refusal;
use crate::text::{BOLD, out, wrapped};
use saltus::scheme::{Domain, Laws, SCHEMES, Setting};
use std::process::ExitCode;

/// List the schemes: what they do, what is proved about them, what to use them for.
#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    if args.json {
        let list: Vec<_> = SCHEMES
            .iter()
            .map(|s| {
                serde_json::json!({
                    "name": s.name, "level": s.level, "restitution": s.restitution, "order": s.order.is_finite().then_some(s.order),
                    "proved": s.proved, "use_for": s.use_for,
                    "laws": {
                        "joints": s.laws.joints, "friction": s.laws.friction,
                        "varying_restitution": s.laws.varying_restitution, "states": true,
                    },
                    "settings": s.settings.iter().map(json).collect::<Vec<_>>(),
                })
            })
            .collect();
        crate::text::print_json(&serde_json::json!({ "schemes": list }));
        return Ok(ExitCode::SUCCESS);
    }
    for s in SCHEMES {
        out!("{BOLD}{}{BOLD:#}\n", s.name);
        let laws = laws(s.laws);
        for (what, text) in [
            ("level", s.level),
            ("restitution", s.restitution),
            ("knows", &laws),
            ("proved", s.proved),
            ("use it for", s.use_for),
        ] {
            out!("  {what:12} {}\n", wrapped(text, 15, 95));
        }
        for (k, setting) in s.settings.iter().enumerate() {
            let text = format!("{}: {}{}", setting.name, setting.meaning, values(setting));
            out!("  {:12} {}\n", if k == 0 { "settings" } else { "" }, wrapped(&text, 15, 95));
        }
        out!("\n");
    }
    out!("All work with M(q), several, curved and moving constraints. Details: docs/schemes.md\n");
    Ok(ExitCode::SUCCESS)
}

/// What a scheme knows besides gaps and forces, in words.
fn laws(laws: Laws) -> String {
    let all =
        [(laws.joints, "joints"), (laws.friction, "friction"), (laws.varying_restitution, "restitution of the speed")];
    let known: Vec<&str> = all.iter().filter(|(knows, _)| *knows).map(|(_, law)| *law).collect();
    let missing: Vec<&str> = all.iter().filter(|(knows, _)| !*knows).map(|(_, law)| *law).collect();
    let refuses = if missing.is_empty() { String::new() } else { format!("; refuses {}", missing.join(", ")) };
    format!("first-order states{}{}{refuses}", if known.is_empty() { "" } else { ", " }, known.join(", "))
}

/// The values that a setting takes, in words.
fn values(setting: &Setting) -> String {
    match setting.domain {
        Domain::Number { default: Some(x), .. } => format!(" (default {x:?})"),
        Domain::Number { default: None, .. } => String::new(),
        Domain::Choice(choices) => format!(" ({})", choices.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")),
    }
}

fn json(setting: &Setting) -> serde_json::Value {
    let (default, choices) = match setting.domain {
        Domain::Number { default, .. } => (default, None),
        Domain::Choice(choices) => (None, Some(choices.iter().map(|c| c.name).collect::<Vec<_>>())),
    };
    serde_json::json!({ "name": setting.name, "meaning": setting.meaning, "default": default, "choices": choices })
}
