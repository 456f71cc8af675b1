//! `saltus merge DIR… --out DIR`: the parts of a sweep put together.

use super::sweep::report;
use crate::progress;
use crate::setup::Refusal;
use saltus::SetupError;
use saltus_ensemble::store::Store;
use saltus_io::output::Format;
use std::path::PathBuf;
use std::process::ExitCode;

/// Put the parts of a sweep together that `saltus sweep --shard k/N` made, on one machine or on many.
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
    /// The directory of the whole
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// In which formats the tables are written: npz, csv, parquet [default: npz,csv]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    format: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// The formats of tables.
pub fn formats(names: &[String]) -> Result<Vec<Format>, SetupError> {
    let found = match names {
        [] => Format::DEFAULT.to_vec(),
        names => names.iter().map(|n| Format::find(n)).collect::<Result<Vec<_>, _>>()?,
    };
    match found.contains(&Format::Mat) {
        true => Err(SetupError::new("tables of a sweep are not written as mat").help("there are npz, csv and parquet")),
        false => Ok(found),
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let formats = formats(&args.format)?;
    let mut store = Store::merge(&args.dirs, &args.out)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let written = progress::saving(|| store.tables(&formats, threads)).map_err(|e| SetupError::new(e.to_string()))?;
    report::merged(&store, &written, args.json)?;
    Ok(ExitCode::SUCCESS)
}
