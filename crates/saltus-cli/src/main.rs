//! `saltus`: from a model file to a trusted trajectory, on the command line.

mod commands;
mod diagnose;
mod done;
mod locate;
mod progress;
mod report;
mod runner;
mod setup;
mod sketch;
mod text;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Mechanical systems that hit things: motion through any number of impacts.
///
/// A model is a short TOML text: energies (or a mass matrix) and forces, gaps f(t, q) ≥ 0, a restitution coefficient.
/// Start with  `saltus run ball-gravity`,  then write your own with  `saltus new my-model`.
#[derive(Parser)]
#[command(name = "saltus", version, max_term_width = 100)]
struct Cli {
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

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    progress::listen();
    let (outcome, json) = match &cli.command {
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
    };
    let code = outcome.unwrap_or_else(|refusal| {
        let code = refusal.show(json);
        if progress::is_stopped() { ExitCode::from(progress::INTERRUPTED) } else { code }
    });
    if text::is_output_lost() { ExitCode::FAILURE } else { code }
}

/// A call that makes no sense; machines that asked for JSON get it.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|a| a == "--json") {
        let shown = error.render().to_string();
        let message = shown.lines().next().unwrap_or_default().trim_start_matches("error: ");
        diagnose::plain(&saltus::SetupError::new(message), true);
        return ExitCode::from(2);
    }
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
