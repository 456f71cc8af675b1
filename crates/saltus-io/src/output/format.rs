//! The formats in which a trajectory can be written.

use saltus::{SetupError, nearest};

/// A format of the trajectory's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `trajectory.npz`, for NumPy; what `saltus plot` reads.
    Npz,
    /// `trajectory.csv`.
    Csv,
    /// `trajectory.mat`, for MATLAB, Octave and SciPy.
    Mat,
    /// `trajectory.parquet` and `impacts.parquet`, for pandas, Polars and the like.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Npz, Format::Csv, Format::Mat, Format::Parquet];
    /// What is written where nothing is asked for.
    pub const DEFAULT: [Format; 2] = [Format::Npz, Format::Csv];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npz => "npz",
            Format::Csv => "csv",
            Format::Mat => "mat",
            Format::Parquet => "parquet",
        }
    }

    /// The files it is made of.
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Format::Npz => &["trajectory.npz"],
            Format::Csv => &["trajectory.csv"],
            Format::Mat => &["trajectory.mat"],
            Format::Parquet => &["trajectory.parquet", "impacts.parquet"],
        }
    }

    /// The format of that name, if this program can write it.
    pub fn find(name: &str) -> Result<Format, SetupError> {
        let name = name.trim();
        let Some(format) = Format::ALL.into_iter().find(|f| f.name() == name) else {
            let known = Format::ALL.map(Format::name);
            let help = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}; several are joined by commas", known.join(", ")),
            };
            return Err(SetupError::new(format!("there is no format `{name}`")).help(help));
        };
        if format == Format::Parquet && cfg!(not(feature = "parquet")) {
            return Err(SetupError::new("this program was built without Parquet").help(
                "build it with  cargo build --release --features parquet  (some minutes more), or take `mat` or `npz`",
            ));
        }
        Ok(format)
    }
}
