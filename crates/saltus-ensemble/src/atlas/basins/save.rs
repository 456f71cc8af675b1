//! Basins on the disk: `basins.json` with the attractors, `basins.npz` and `basins.csv` with the attractor of each start.

use super::{Attractor, Basins, REFUSED, Share, Uncertainty};
use crate::Sweep;
use crate::store::{Manifest, axis_names};
use saltus::SetupError;
use saltus_io::output::{Format, WriteError, write_file};
use saltus_io::table::{self, Column, Kind, SavedTable, Table, Values};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

const NAME: &str = "basins.json";

/// What `basins.json` holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedBasins {
    /// The attractors with their shares.
    pub attractors: Vec<(Attractor, Share)>,
    /// Starts that are not admissible.
    pub refused: u64,
    /// Starts that were computed.
    pub computed: u64,
    /// See [`Uncertainty`].
    pub uncertainty: Option<Uncertainty>,
    /// The attractor of each start.
    #[serde(skip)]
    pub labels: Vec<u16>,
}

struct Rows<'b> {
    sweep: &'b Sweep,
    basins: &'b Basins,
    columns: Vec<Column>,
    chunks: Vec<u64>,
}

/// Rows of a chunk.
const CHUNK: usize = 1 << 16;

impl Table for Rows<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    fn read(&self, chunk: usize, column: usize) -> io::Result<Values> {
        let first = chunk * CHUNK;
        let rows = first..first + self.chunks[chunk] as usize;
        let axes = self.columns.len() - 3;
        let family = &self.sweep.family;
        Ok(match column {
            0 => Values::Integers(rows.map(|k| k as i64).collect()),
            c if c <= axes => {
                let mut values = Vec::new();
                let value = |k: usize| {
                    family.write_values(k as u64, &mut values);
                    values[c - 1]
                };
                Values::Numbers(rows.map(value).collect())
            }
            c if c == axes + 1 => {
                let label = |k: usize| match self.basins.labels[k] {
                    REFUSED => -1,
                    label => i64::from(label),
                };
                Values::Integers(rows.map(label).collect())
            }
            _ => Values::Integers(rows.map(|k| i64::from(self.basins.computed[k])).collect()),
        })
    }
}

impl Basins {
    /// Writes everything into a directory, on so many threads; the names of the files. `basins.json` is the last of them: where it is, all
    /// are.
    pub fn write(&self, dir: &Path, sweep: &Sweep, threads: usize) -> Result<Vec<String>, WriteError> {
        Manifest::new(sweep, (1, 1)).write(dir)?;
        let saved = SavedBasins {
            attractors: self.attractors.iter().cloned().zip(self.shares.iter().copied()).collect(),
            refused: self.labels.iter().filter(|l| **l == REFUSED).count() as u64,
            computed: self.computed.iter().filter(|c| **c).count() as u64,
            uncertainty: self.uncertainty.clone(),
            labels: Vec::new(),
        };
        let column = |name: &str, kind| Column { name: name.into(), kind };
        let mut columns = vec![column("point", Kind::Integer)];
        columns.extend(axis_names(&sweep.family).iter().map(|name| column(name, Kind::Number)));
        columns.extend([column("attractor", Kind::Integer), column("computed", Kind::Integer)]);
        let total = self.labels.len();
        let chunks = (0..total.div_ceil(CHUNK)).map(|k| CHUNK.min(total - k * CHUNK) as u64).collect();
        let rows = Rows { sweep, basins: self, columns, chunks };
        let formats = if total <= 1 << 18 { vec![Format::Npz, Format::Csv] } else { vec![Format::Npz] };
        let mut files = vec![NAME.to_string()];
        for format in formats {
            table::write(dir, "basins", format, &rows, threads)?;
            files.push(format!("basins.{}", format.name()));
        }
        write_file(&dir.join(NAME), |out| {
            serde_json::to_writer_pretty(&mut *out, &saved)?;
            out.write_all(b"\n")
        })?;
        Ok(files)
    }
}

impl SavedBasins {
    /// Whether basins are finished in a directory.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(NAME).exists()
    }

    /// Reads them back.
    pub fn read(dir: &Path) -> Result<Self, SetupError> {
        let path = dir.join(NAME);
        let again = "the command that computed them, with --resume, computes again what is missing or damaged";
        let fail = |why: String| SetupError::new(format!("cannot read `{}`: {why}", path.display())).help(again);
        let text = std::fs::read_to_string(&path).map_err(|e| fail(e.to_string()))?;
        let mut saved: SavedBasins = serde_json::from_str(&text).map_err(|e| fail(format!("it is damaged ({e})")))?;
        let table = dir.join("basins.npz");
        let labels = SavedTable::open(&table).and_then(|t| t.numbers("attractor")).map_err(|e| e.help(again))?;
        saved.labels = labels.into_iter().map(|l| if l < 0.0 { REFUSED } else { l as u16 }).collect();
        let starts = saved.refused + saved.attractors.iter().map(|(_, share)| share.count).sum::<u64>();
        let is_known = |l: &u16| *l == REFUSED || (*l as usize) < saved.attractors.len();
        if saved.labels.len() as u64 != starts || !saved.labels.iter().all(is_known) {
            let message = format!("`{}` and `{}` are not of the same basins", path.display(), table.display());
            return Err(SetupError::new(message).help(again));
        }
        Ok(saved)
    }
}
