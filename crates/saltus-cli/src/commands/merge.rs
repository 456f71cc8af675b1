//! `saltus merge DIR… --out DIR`: the parts of a sweep put together.

use super::sweep::report;
use crate::progress;
use crate::setup::Refusal;
use saltus::SetupError;
use saltus_ensemble::store::Store;
use saltus_io::output::Format;
use std::path::PathBuf;
use std::process::ExitCode;

/// Combine the parts of a sweep made with `saltus sweep --shard k/N`, on one machine or several.
///
/// The parts must be of the same sweep and complete; the tables are the same, byte for byte, as
/// those of a sweep in one piece.
///
/// Example:  saltus merge part1 part2 part3 --out results
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The directories of the parts
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// The directory for the combined results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Table formats: npz, csv, parquet [default: npz,csv]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    format: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// The formats of tables, each once.
pub fn formats(names: &[String]) -> Result<Vec<Format>, SetupError> {
    let mut found = Vec::new();
    for name in names {
        let is_format = |format: &Format| *format != Format::Mat && format.name() == name.trim();
        let format = Format::ALL.into_iter().find(is_format).ok_or_else(|| {
            SetupError::new(format!("these tables cannot be written as `{}`", name.trim()))
                .help("use npz, csv or parquet")
        })?;
        if !found.contains(&format) {
            found.push(format);
        }
    }
    Ok(if names.is_empty() { Format::DEFAULT.to_vec() } else { found })
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let formats = formats(&args.format)?;
    let mut store = Store::merge(&args.dirs, &args.out)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let written = progress::saving(|| store.tables(&formats, threads)).map_err(|e| SetupError::new(e.to_string()))?;
    report::merged(&store, &written, args.json)?;
    Ok(ExitCode::SUCCESS)
}
