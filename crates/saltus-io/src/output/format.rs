//! The formats in which a trajectory can be written.

use saltus::SetupError;

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

    /// The format of that name.
    pub fn find(name: &str) -> Result<Format, SetupError> {
        let name = name.trim();
        let Some(format) = Format::ALL.into_iter().find(|f| f.name() == name) else {
            let known = Format::ALL.map(Format::name);
            return Err(SetupError::unknown(
                format!("there is no format `{name}`"),
                name,
                known.into_iter(),
                "there are",
            ));
        };
        Ok(format)
    }
}
