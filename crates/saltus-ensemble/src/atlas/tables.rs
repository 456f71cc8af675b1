//! The tables of a family, read back, with the family itself.

use crate::Sweep;
use crate::atlas::{Exponents, Label};
use crate::store::Manifest;
use saltus::SetupError;
use saltus_io::table::SavedTable;
use std::path::{Path, PathBuf};

/// A family on the disk whose tables are complete.
pub struct Tables {
    dir: PathBuf,
    /// Everything needed to make the family again.
    pub manifest: Manifest,
    /// The family.
    pub sweep: Sweep,
    /// One row a trajectory.
    pub points: SavedTable,
}

impl Tables {
    /// Opens the tables of a directory.
    pub fn open(dir: &Path) -> Result<Self, SetupError> {
        let manifest = Manifest::read(dir)?
            .ok_or_else(|| SetupError::new(format!("there is no family of motions in `{}`", dir.display())))?;
        let sweep = manifest.sweep().map_err(|e| *e.error)?;
        let path = dir.join("points.npz");
        if !path.exists() {
            let message = format!("there is no `points.npz` in `{}`", dir.display());
            let help = "the sweep is not complete (continue it with --resume), is a part (see `saltus merge`), or was not \
                        written as npz";
            return Err(SetupError::new(message).help(help));
        }
        let points = SavedTable::open(&path)?;
        Ok(Tables { dir: dir.to_path_buf(), manifest, sweep, points })
    }

    /// A table besides that of the points.
    pub fn named(&self, name: &str) -> Result<SavedTable, SetupError> {
        let path = self.dir.join(format!("{name}.npz"));
        match path.exists() {
            true => SavedTable::open(&path),
            false => Err(SetupError::new(format!("there is no `{name}.npz` in `{}`", self.dir.display()))),
        }
    }

    /// The largest exponents of all trajectories, where they were computed.
    pub fn exponents(&self) -> Result<Option<Exponents>, SetupError> {
        Exponents::read(&self.dir, self.sweep.family.len() as usize)
    }

    /// What each trajectory settled on.
    pub fn labels(&self) -> Result<Vec<Label>, SetupError> {
        let (status, settled) = (self.points.texts("status")?, self.points.texts("settled")?);
        let (period, impacts) = (self.points.numbers("period")?, self.points.numbers("impacts_per_period")?);
        let accumulations = self.points.numbers("accumulations")?;
        let has_period = self.sweep.family.has_period();
        let label = |k: usize| {
            let words = (status[k].as_str(), settled[k].as_str());
            Label::of_row(words, period[k], impacts[k], accumulations[k] > 0.0, has_period)
        };
        Ok((0..status.len()).map(label).collect())
    }
}
