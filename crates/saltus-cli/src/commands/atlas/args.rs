//! Options of all commands of the atlas.

use crate::commands::code::CodeArgs;
use crate::setup::{Refusal, listed, pairs};
use saltus::SetupError;
use saltus_ensemble::Request;
use std::path::{Path, PathBuf};

/// Which motions, how long, with what precision, and where the results go.
#[derive(clap::Args, Clone)]
pub struct FamilyArgs {
    /// A model file, or the name of a shipped model (see `saltus models`)
    pub model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Override the model's start, x=0.3,x'=0, or run from several starts, x=-2:2:5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub start: Vec<String>,
    /// Transient, in periods; a time if there is no period
    #[arg(long, value_name = "N", help_heading = "Time")]
    pub transient: Option<String>,
    /// Periods to observe; a time if there is no period
    #[arg(long, value_name = "N", help_heading = "Time")]
    pub periods: Option<String>,
    /// The period, an expression of parameters [default: that of the forcing]
    #[arg(long, value_name = "T", help_heading = "Time")]
    pub period: Option<String>,
    /// The relative tolerance [default: the model's, else 1e-10]
    #[arg(long, value_name = "X")]
    pub tol: Option<f64>,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// The directory for the results: tables, the figure (svg) and the page (html)
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Continue the interrupted picture in the --out directory
    #[arg(long, requires = "out", help_heading = "Output")]
    pub resume: bool,
    /// Count the trajectories and estimate their run time and disk space from a few of them; write nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// A start: one value, or an axis.
pub enum StartText {
    One(String, String),
    Axis(String),
}

/// The starts that are given, in their order.
pub fn starts(texts: &[String]) -> Result<Vec<StartText>, SetupError> {
    let split = listed(texts);
    let of = |(name, value): (String, String)| match value.split(':').count() {
        1 => StartText::One(name, value),
        _ => StartText::Axis(format!("{name}={value}")),
    };
    Ok(pairs("--start", &split, true)?.into_iter().map(of).collect())
}

impl FamilyArgs {
    /// What is asked of the family, with its times as they are given.
    pub fn request(&self) -> Result<Request, Refusal> {
        let (mut start, mut over) = (Vec::new(), Vec::new());
        for text in starts(&self.start)? {
            match text {
                StartText::One(name, value) => start.push((name, value)),
                StartText::Axis(axis) => over.push(axis),
            }
        }
        let request = Request {
            set: pairs("--set", &self.set, false)?,
            start,
            over,
            transient: self.transient.clone(),
            periods: self.periods.clone(),
            period: self.period.clone(),
            tolerance: self.tol,
            ..Request::default()
        };
        Ok(self.code.of(request))
    }

    /// The directory of the results. (Only a dry run has none.)
    pub fn dir(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(""))
    }

    pub fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |n| n as usize)
    }
}

/// Makes times out of periods where a model has no period: `--periods 500` is a time then.
pub fn without_period(request: &mut Request) {
    request.end = match (request.transient.as_ref(), request.periods.take()) {
        (Some(before), Some(kept)) => Some(format!("({before}) + ({kept})")),
        (None, kept) => kept,
        (Some(_), None) => None,
    };
}
