//! A family on the disk: a directory with a manifest (`sweep.json`), shards of rows, and at the end tables.
//!
//! Every file has its name only when it is complete and on the disk. Whenever the program is ended, what is lost are the
//! trajectories that are in no shard yet; the rest is taken up again.

mod layout;
mod manifest;
mod piece;
mod shard;
mod tables;

pub use layout::{Layout, TableLayout, axis_names};
pub use manifest::Manifest;
pub use piece::Piece;
pub use shard::Shard;

use crate::{Block, State, Sweep};
use saltus::SetupError;
use saltus_io::output::{self, WriteError};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A shard is written when it has this many values,
const VALUES: usize = 1 << 19;
/// or when this share of the time is not on the disk yet,
const SHARE: f64 = 0.05;
/// but not more often than this,
const SHORTEST: Duration = Duration::from_millis(100);
/// and not less often than this.
const LONGEST: Duration = Duration::from_secs(30);
/// Shards that are on their way to the disk at a time.
const UNDER_WAY: usize = 8;

/// A directory for results must not be there, or be empty: the files of others are neither replaced nor mixed with these.
pub fn vacant(dir: &Path) -> Result<(), SetupError> {
    // (One that was killed before it wrote anything left an unfinished file.)
    output::clear_unfinished(dir);
    let is_empty = std::fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_none());
    let what = match (dir.is_file(), is_empty) {
        (true, _) => "is a file, not a directory",
        (false, false) => "is not empty, and holds no sweep",
        (false, true) => return Ok(()),
    };
    Err(SetupError::new(format!("`{}` {what}", dir.display())).help("choose another directory"))
}

/// A family on the disk.
pub struct Store {
    dir: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    layout: Arc<Layout>,
    shards: Vec<Shard>,
    /// What is in no shard yet, how many values it has, and the number behind the last trajectory.
    pieces: Vec<Piece>,
    values: usize,
    end: u64,
    /// Shards that are being written.
    writing: VecDeque<JoinHandle<Result<Shard, WriteError>>>,
    begun: Instant,
    written: Instant,
}

impl Store {
    /// Begins a family in a directory, or takes it up again.
    pub fn create(dir: &Path, sweep: &Sweep, part: (u64, u64), resume: bool) -> Result<Self, SetupError> {
        let plain = |e: WriteError| SetupError::new(e.to_string());
        let manifest = Manifest::new(sweep, part);
        if dir.is_file() {
            return Err(SetupError::new(format!("`{}` is a file, not a directory", dir.display())));
        }
        match Manifest::read(dir)? {
            Some(_) if !resume => {
                let message = format!("there is a sweep in `{}` already", dir.display());
                return Err(SetupError::new(message).help("--resume goes on with it; else choose another directory"));
            }
            Some(earlier) => {
                let parts = (earlier.part != part).then(|| {
                    let shown = |part: (u64, u64)| format!("{}/{}", part.0, part.1);
                    format!("it is part {}, and this is {}", shown(earlier.part), shown(part))
                });
                if let Some(difference) = earlier.difference(&manifest).or(parts) {
                    let message = format!("the sweep in `{}` is another one: {difference}", dir.display());
                    return Err(SetupError::new(message).help("give the same options as before, or another directory"));
                }
            }
            None if dir.join("run.json").exists() => {
                let message = format!("`{}` holds a run, not a sweep", dir.display());
                return Err(SetupError::new(message).help("choose another directory"));
            }
            None => {
                vacant(dir)?;
                output::prepare(dir).map_err(plain)?;
                manifest.write(dir).map_err(plain)?;
            }
        }
        let layout = Layout::new(&sweep.family, &sweep.wanted, &sweep.request.statistics);
        Self::at(dir, manifest, Arc::new(layout))
    }

    /// Opens a family that is there, with the sweep that it is of.
    pub fn open(dir: &Path) -> Result<(Self, Sweep), SetupError> {
        let manifest = Manifest::read(dir)?.ok_or_else(|| {
            SetupError::new(format!("there is no sweep in `{}`", dir.display()))
                .help("name the directory that `saltus sweep --out` wrote")
        })?;
        let sweep = manifest.sweep().map_err(|e| *e.error)?;
        let layout = Layout::new(&sweep.family, &sweep.wanted, &sweep.request.statistics);
        Ok((Self::at(dir, manifest, Arc::new(layout))?, sweep))
    }

    fn at(dir: &Path, manifest: Manifest, layout: Arc<Layout>) -> Result<Self, SetupError> {
        let folder = dir.join("shards");
        output::prepare(&folder).map_err(|e| SetupError::new(e.to_string()))?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "shard") {
                found.push(Shard::open(&path, &layout).map_err(|why| {
                    SetupError::new(why).help("remove this file and --resume: its trajectories are computed again")
                })?);
            }
        }
        found.sort_by_key(|shard| (shard.first, std::cmp::Reverse(shard.end)));
        // Two programs in one directory compute the same numbers twice.
        let mut shards: Vec<Shard> = Vec::new();
        for shard in found {
            if shards.last().is_none_or(|last| shard.first >= last.end) {
                shards.push(shard);
            }
        }
        let now = Instant::now();
        Ok(Store {
            dir: dir.to_path_buf(),
            manifest,
            layout,
            shards,
            pieces: Vec::new(),
            values: 0,
            end: 0,
            writing: VecDeque::new(),
            begun: now,
            written: now,
        })
    }

    /// The points of this part that are in no shard yet.
    pub fn missing(&self) -> Vec<Range<u64>> {
        let whole = self.manifest.range();
        let mut at = whole.start;
        let mut missing = Vec::new();
        for shard in &self.shards {
            if shard.first > at {
                missing.push(at..shard.first.min(whole.end));
            }
            at = at.max(shard.end);
        }
        if at < whole.end {
            missing.push(at..whole.end);
        }
        missing
    }

    /// Forgets the shards from a point on: what they followed from is computed again.
    pub fn forget_from(&mut self, point: u64) -> Result<(), SetupError> {
        for shard in self.shards.extract_if(.., |shard| shard.first >= point) {
            std::fs::remove_file(&shard.path)
                .map_err(|e| SetupError::new(format!("cannot remove `{}`: {e}", shard.path.display())))?;
        }
        Ok(())
    }

    /// The tables; [`Layout::piece`] makes what [`Store::take`] takes.
    pub fn layout(&self) -> Arc<Layout> {
        self.layout.clone()
    }

    /// Takes trajectories; they are on the disk after [`Store::flush`] at the latest.
    pub fn take(&mut self, piece: Piece) -> Result<(), WriteError> {
        if piece.first != self.end {
            self.close()?;
        }
        self.end = piece.end;
        self.values += piece.values();
        if piece.end > piece.first {
            self.pieces.push(piece);
        }
        let interval = self.begun.elapsed().mul_f64(SHARE).clamp(SHORTEST, LONGEST);
        if self.values >= VALUES || self.written.elapsed() >= interval {
            self.close()?;
        }
        Ok(())
    }

    /// Writes what is in no shard yet, and waits until it is on the disk.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let begun = self.close();
        let mut ended = Ok(());
        while let Some(writing) = self.writing.pop_front() {
            ended = ended.and(self.wait_for(writing));
        }
        begun.and(ended)
    }

    /// Begins to write what is in no shard yet. (Whoever collects results does not wait for the disk.)
    fn close(&mut self) -> Result<(), WriteError> {
        self.written = Instant::now();
        self.values = 0;
        if self.pieces.is_empty() {
            return Ok(());
        }
        let (dir, pieces) = (self.dir.join("shards"), std::mem::take(&mut self.pieces));
        self.writing.push_back(std::thread::spawn(move || shard::write(&dir, pieces)));
        match self.writing.len() > UNDER_WAY {
            true => self.writing.pop_front().map_or(Ok(()), |writing| self.wait_for(writing)),
            false => Ok(()),
        }
    }

    fn wait_for(&mut self, writing: JoinHandle<Result<Shard, WriteError>>) -> Result<(), WriteError> {
        match writing.join() {
            Ok(written) => self.shards.push(written?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        Ok(())
    }

    /// The states that the points from `first` on reached, as many as are asked for; nothing for those that failed.
    pub fn reached(&self, sweep: &Sweep, first: u64, count: u64) -> Result<Vec<Option<State>>, SetupError> {
        tables::reached(self, sweep, first, count).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
    }

    /// How many trajectories ended in which way, as (word, number), those that did not occur left out.
    pub fn counts(&self) -> Result<Vec<(&'static str, u64)>, SetupError> {
        tables::counts(self).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
    }

    /// The first trajectory that has a reason for how it ended, and the reason.
    pub fn complaint(&self) -> Result<Option<(u64, String)>, SetupError> {
        tables::complaint(self).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
    }

    /// Writes the tables in some formats, on so many threads; the names of the files.
    pub fn tables(&mut self, formats: &[output::Format], threads: usize) -> Result<Vec<String>, WriteError> {
        self.shards.sort_by_key(|shard| shard.first);
        tables::write(self, formats, threads)
    }

    /// The rows of the longest table.
    pub fn longest(&self) -> u64 {
        let rows = |k: usize| self.shards.iter().map(|s| s.rows[k]).sum();
        (0..self.layout.tables.len()).map(rows).max().unwrap_or(0)
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Bytes that the rows of some trajectories take, without the header.
    pub fn bytes(sweep: &Sweep, block: Block) -> u64 {
        let layout = Layout::new(&sweep.family, &sweep.wanted, &sweep.request.statistics);
        8 * layout.piece(&sweep.family, block).values() as u64
    }

    /// Puts the parts of a family together in a new directory.
    pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Self, SetupError> {
        let mut parts = dirs.iter().map(|dir| Self::open(dir)).collect::<Result<Vec<_>, _>>()?;
        let Some((_, sweep)) = parts.first() else { return Err(SetupError::new("there is nothing to merge")) };
        let sweep = sweep.clone();
        for ((part, _), dir) in parts.iter().zip(dirs).skip(1) {
            if let Some(difference) = parts[0].0.manifest.difference(&part.manifest) {
                let message = format!(
                    "`{}` and `{}` are parts of different sweeps: {difference}",
                    dirs[0].display(),
                    dir.display()
                );
                return Err(SetupError::new(message));
            }
        }
        parts.sort_by_key(|(part, _)| part.shards.first().map_or(u64::MAX, |s| s.first));
        if Manifest::read(out)?.is_some() {
            let message = format!("there is a sweep in `{}` already", out.display());
            return Err(SetupError::new(message).help("choose another directory"));
        }
        let mut covered =
            parts.iter().flat_map(|(part, _)| part.shards.iter().map(|s| (s.first, s.end))).collect::<Vec<_>>();
        covered.sort_unstable();
        let mut at = 0;
        for (first, end) in covered {
            if first > at {
                break;
            }
            at = at.max(end);
        }
        if at < sweep.family.len() {
            let message = format!("trajectory {at} of {} is in none of these directories", sweep.family.len());
            return Err(SetupError::new(message).help("name all parts; --resume completes one that was interrupted"));
        }
        let mut merged = Self::create(out, &sweep, (1, 1), false)?;
        let folder = out.join("shards");
        for shard in parts.iter().flat_map(|(part, _)| &part.shards) {
            let Some(name) = shard.path.file_name() else { continue };
            let target = folder.join(name);
            // A second name costs nothing; between file systems it is a copy.
            let linked =
                std::fs::hard_link(&shard.path, &target).or_else(|_| std::fs::copy(&shard.path, &target).map(|_| ()));
            linked.map_err(|e| SetupError::new(format!("cannot write `{}`: {e}", target.display())))?;
        }
        merged = Self::at(out, merged.manifest, merged.layout)?;
        Ok(merged)
    }
}
