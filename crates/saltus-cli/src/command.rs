//! The command line itself: what its words mean, and what is done.

use crate::setup::Refusal;
use crate::{commands, diagnose, progress, report, text};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Mechanical systems that hit things: motion through any number of impacts.
///
/// A model is a short TOML text: energies (or a mass matrix) and forces, gaps f(t, q) ≥ 0, a restitution coefficient.
/// Start with  `saltus run ball-gravity`,  then write your own with  `saltus new my-model`.
#[derive(Parser)]
#[command(name = "saltus", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

// What a command does is documented in its own file; a line here would hide that from `--help`.
#[derive(Subcommand)]
enum Command {
    Run(commands::run::Args),
    Rerun(commands::rerun::Args),
    Check(commands::check::Args),
    Equilibria(commands::equilibria::Args),
    Compare(commands::compare::Args),
    Converge(commands::converge::Args),
    Lyapunov(commands::lyapunov::Args),
    Orbit(commands::orbit::Args),
    Continue(commands::continuation::Args),
    Sweep(commands::sweep::Args),
    Merge(commands::merge::Args),
    Bifurcation(commands::atlas::bifurcation::Args),
    Section(commands::atlas::section::Args),
    Basins(commands::atlas::basins::Args),
    Plot(commands::plot::Args),
    Schemes(commands::schemes::Args),
    Devices(commands::devices::Args),
    New(commands::new::Args),
    Models(commands::models::Args),
}

/// Does what a command line says, its first word the name of the program; the exit code.
pub fn command(words: Vec<OsString>) -> ExitCode {
    report::remember(&words);
    let cli = match Cli::of(&words) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, &words),
    };
    progress::listen();
    progress::watch_set_up();
    saltus_ensemble::end_compilers_when(progress::is_stopped);
    let (outcome, json) = cli.perform();
    let code = outcome.unwrap_or_else(|refusal| {
        let code = refusal.show(json);
        if progress::is_stopped() { ExitCode::from(progress::INTERRUPTED) } else { code }
    });
    if text::is_output_lost() { ExitCode::FAILURE } else { code }
}

/// Every option takes negative numbers: whether they make sense is said by who knows what they mean.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(with_negative_numbers);
    command.mut_args(|arg| match arg.get_long().is_some() && arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    })
}

impl Cli {
    /// What the words of a command line mean.
    pub(crate) fn of(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = with_negative_numbers(Cli::command());
        let matches = command.try_get_matches_from_mut(words)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Does it. What came of it, and whether one JSON object was asked for.
    pub(crate) fn perform(&self) -> (Result<ExitCode, Refusal>, bool) {
        match &self.command {
            Command::Run(args) => (commands::run::main(args), args.model.json),
            Command::Rerun(args) => (commands::rerun::main(args), args.json),
            Command::Check(args) => (commands::check::main(args), args.model.json),
            Command::Equilibria(args) => (commands::equilibria::main(args), args.model.json),
            Command::Compare(args) => (commands::compare::main(args), args.model.json),
            Command::Converge(args) => (commands::converge::main(args), args.model.json),
            Command::Lyapunov(args) => (commands::lyapunov::main(args), args.json),
            Command::Orbit(args) => (commands::orbit::main(args), args.model.json),
            Command::Continue(args) => (commands::continuation::main(args), args.model.json),
            Command::Sweep(args) => (commands::sweep::main(args), args.json()),
            Command::Merge(args) => (commands::merge::main(args), args.json),
            Command::Bifurcation(args) => (commands::atlas::bifurcation::main(args), args.family.json),
            Command::Basins(args) => (commands::atlas::basins::main(args), args.json),
            Command::Section(args) => (commands::atlas::section::main(args), args.family.json),
            Command::Plot(args) => (commands::plot::main(args), false),
            Command::Schemes(args) => (commands::schemes::main(args), args.json),
            Command::Devices(args) => (commands::devices::main(args), args.json),
            Command::New(args) => (commands::new::main(args), false),
            Command::Models(args) => (commands::models::main(args), false),
        }
    }
}

/// A call that makes no sense; machines that asked for JSON get it.
fn misused(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.use_stderr() && words.iter().any(|a| a == "--json") {
        diagnose::plain(&saltus::SetupError::new(said(error)), true);
        return ExitCode::from(2);
    }
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What is wrong with a call, in one line.
pub(crate) fn said(error: &clap::Error) -> String {
    let shown = error.render().to_string();
    let first = shown.lines().next().unwrap_or_default().trim_start_matches("error: ");
    // (What it may be, where that is a list.)
    let known = shown.lines().find_map(|line| line.trim().strip_prefix("[possible values: ")?.strip_suffix(']'));
    known.map_or_else(|| first.to_string(), |known| format!("{first}: it is one of {known}"))
}
