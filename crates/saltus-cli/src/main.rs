//! `saltus`: from a model file to a trusted trajectory, on the command line.

fn main() -> std::process::ExitCode {
    saltus_cli::command(std::env::args_os().collect())
}
