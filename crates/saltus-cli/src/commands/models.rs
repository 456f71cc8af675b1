//! `saltus models`: what comes with Saltus.

use crate::locate;
use crate::setup::Refusal;
use crate::text::out;
use saltus_io::shipped;
use std::process::ExitCode;

/// List the models that come with Saltus, or print one of them.
#[derive(clap::Args)]
pub struct Args {
    /// Print the text of this model instead of the list; redirect it to a file to change it
    name: Option<String>,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    match &args.name {
        None => list(),
        Some(name) => out!("{}", locate::shipped(name)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn list() {
    let width = shipped::MODELS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, _) in shipped::MODELS {
        let title = shipped::find(name).and_then(Result::ok).map(|m| m.title().to_string()).unwrap_or_default();
        out!("  {name:width$}   {title}\n");
    }
    out!(
        "\nRun one with  saltus run NAME,  see its text with  saltus models NAME,  copy it with  saltus new MINE --from NAME\n"
    );
}
