//! A family on the disk: a directory with a manifest (`sweep.json`), shards of rows, and at the end tables.
//!
//! Every file has its name only when it is complete and on the disk. Whenever the program is ended, what is lost are the
//! trajectories that are in no shard yet; the rest is taken up again.

mod layout;
mod lock;
mod manifest;
mod piece;
mod shard;
mod tables;

pub use layout::{Layout, TableLayout, axis_names};
pub use lock::Lock;
pub use manifest::Manifest;
pub use piece::Piece;
pub use shard::Shard;

use crate::{Block, State, Sweep};
use saltus::SetupError;
use saltus_io::output::{self, WriteError};
use std::collections::VecDeque;
use std::fs::DirEntry;
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
    // (Nor is what another command has just begun to write here: it holds the lock, or has left it.)
    let is_own = |entry: &DirEntry| entry.file_name() == lock::NAME || output::is_unfinished(entry);
    let is_empty = std::fs::read_dir(dir).map_or(true, |entries| entries.flatten().all(|entry| is_own(&entry)));
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
    identity: String,
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
    /// While results are written.
    lock: Option<Lock>,
}

impl Store {
    /// Begins a family in a directory, or takes it up again. No other command may write there until this is dropped.
    pub fn create(dir: &Path, sweep: &Sweep, part: (u64, u64), resume: bool) -> Result<Self, SetupError> {
        Self::create_as(dir, Manifest::new(sweep, part), Layout::of(sweep)?, resume)
    }

    fn create_as(dir: &Path, manifest: Manifest, layout: Layout, resume: bool) -> Result<Self, SetupError> {
        // (Nothing is put into a directory of others, not even a lock; and another command may begin here at the same time.)
        Self::has_begun(dir, &manifest, resume)?;
        let lock = Lock::take(dir)?;
        if !Self::has_begun(dir, &manifest, resume)? {
            manifest.write(dir).map_err(|e| SetupError::new(e.to_string()))?;
        }
        Ok(Self { lock: Some(lock), ..Self::at(dir, manifest, Arc::new(layout))? })
    }

    /// Looks at a family that was begun; nothing can be written.
    pub fn begun(dir: &Path, sweep: &Sweep, part: (u64, u64)) -> Result<Self, SetupError> {
        let manifest = Manifest::new(sweep, part);
        Self::has_begun(dir, &manifest, true)?;
        let layout = Layout::of(sweep)?;
        Self::at(dir, manifest, Arc::new(layout))
    }

    /// Whether a family was begun in a directory; a mistake where it is another, or the directory is one of others.
    fn has_begun(dir: &Path, manifest: &Manifest, resume: bool) -> Result<bool, SetupError> {
        if dir.is_file() {
            return Err(SetupError::new(format!("`{}` is a file, not a directory", dir.display())));
        }
        match Manifest::read(dir)? {
            Some(_) if !resume => {
                let message = format!("there is a sweep in `{}` already", dir.display());
                Err(SetupError::new(message).help("continue it with --resume, or choose another directory"))
            }
            Some(earlier) => {
                let parts = (earlier.part != manifest.part).then(|| {
                    let shown = |part: (u64, u64)| format!("{}/{}", part.0, part.1);
                    format!("it is part {}, and this is {}", shown(earlier.part), shown(manifest.part))
                });
                match earlier.difference(manifest).or(parts) {
                    None => Ok(true),
                    Some(difference) => {
                        let message = format!("`{}` holds a different sweep: {difference}", dir.display());
                        Err(SetupError::new(message).help("give the same options as before, or another directory"))
                    }
                }
            }
            None if dir.join("run.json").exists() => {
                let message = format!("`{}` holds a run, not a sweep", dir.display());
                Err(SetupError::new(message).help("choose another directory"))
            }
            None => vacant(dir).map(|()| false),
        }
    }

    /// Opens a family that is there, with the sweep that it is of.
    pub fn open(dir: &Path) -> Result<(Self, Sweep), SetupError> {
        let manifest = Manifest::read(dir)?.ok_or_else(|| {
            SetupError::new(format!("there is no sweep in `{}`", dir.display()))
                .help("name the directory that `saltus sweep --out` wrote")
        })?;
        let sweep = manifest.sweep().map_err(|e| *e.error)?;
        let layout = Layout::of(&sweep)?;
        Ok((Self::at(dir, manifest, Arc::new(layout))?, sweep))
    }

    fn at(dir: &Path, manifest: Manifest, layout: Arc<Layout>) -> Result<Self, SetupError> {
        let folder = dir.join("shards");
        output::prepare(&folder).map_err(|e| SetupError::new(e.to_string()))?;
        let (identity, mut found) = (manifest.identity(), Vec::new());
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "shard") {
                found.push(Shard::open(&path, &identity, &layout).map_err(|why| {
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
            identity,
            layout,
            shards,
            pieces: Vec::new(),
            values: 0,
            end: 0,
            writing: VecDeque::new(),
            begun: now,
            written: now,
            lock: None,
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
        let sweep = self.identity.clone();
        self.writing.push_back(std::thread::spawn(move || shard::write(&dir, &sweep, pieces)));
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
        let is_here = |point: u64| self.shards.iter().any(|shard| (shard.first..shard.end).contains(&point));
        if let Some(lost) = (first..first + count).find(|&point| !is_here(point)) {
            let message = format!("the state that point {lost} reached is no longer in `{}`", self.dir.display());
            return Err(
                SetupError::new(message).help("with --carry, points start where others ended: run the sweep again")
            );
        }
        tables::reached(self, sweep, first, count).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
    }

    /// How many trajectories ended in which way, as (word, number), those that did not occur left out.
    pub fn counts(&self) -> Result<Vec<(&'static str, u64)>, SetupError> {
        tables::counts(self).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
    }

    /// How many impacts there are after the transients, all together.
    pub fn impacts(&self) -> Result<u64, SetupError> {
        tables::impacts(self).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
    }

    /// How many trajectories finished before they had returned to the first section so often.
    pub fn fewer_returns(&self, wanted: u64) -> Result<u64, SetupError> {
        tables::fewer_returns(self, wanted).map_err(|e| SetupError::new(format!("a shard cannot be read: {e}")))
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

    /// The rows of a table.
    pub fn rows(&self, table: &str) -> u64 {
        let place = self.layout.tables.iter().position(|t| t.name == table);
        place.map_or(0, |k| self.shards.iter().map(|shard| shard.rows[k]).sum())
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

    /// Bytes that the rows of some trajectories take, table by table, and those that one trajectory takes at most, where its length does not
    /// matter.
    pub fn bytes(sweep: &Sweep, block: Block) -> Vec<(u64, Option<u64>)> {
        let layout = Layout::new(&sweep.family, &sweep.wanted, &sweep.request.statistics);
        let piece = layout.piece(&sweep.family, block);
        let most = |name: &str| match name {
            "points" => Some(1),
            "impacts" => Some(sweep.wanted.impacts as u64).filter(|most| *most < u64::from(u32::MAX)),
            "sections" => sweep.wanted.last.map(|last| (last * sweep.request.sections.len()) as u64),
            _ => None,
        };
        let tables = layout.tables.iter().zip(&piece.tables);
        let taken = tables.map(|(table, rows)| {
            let width = 8 * rows.width as u64;
            (width * rows.count as u64, most(table.name).map(|most| width * most))
        });
        taken.collect()
    }

    /// Puts the parts of a family together in a new directory.
    pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Self, SetupError> {
        let parts = dirs.iter().map(|dir| Self::open(dir)).collect::<Result<Vec<_>, _>>()?;
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
        if Manifest::read(out)?.is_some() {
            let message = format!("there is a sweep in `{}` already", out.display());
            return Err(SetupError::new(message).help("choose another directory"));
        }
        // What several directories hold is taken once: whole shards as far as they follow each other, of others the part that is missing.
        let all: Vec<&Shard> = parts.iter().flat_map(|(part, _)| &part.shards).collect();
        let (mut chosen, mut at): (Vec<(u64, &Shard)>, u64) = (Vec::new(), 0);
        let next = |at: u64| {
            let here = all.iter().filter(|shard| shard.first <= at && shard.end > at);
            here.max_by_key(|shard| (shard.first == at, shard.end))
        };
        while let Some(shard) = next(at) {
            chosen.push((at, shard));
            at = shard.end;
        }
        if at < sweep.family.len() {
            let message = format!("trajectory {at} of {} is missing from these directories", sweep.family.len());
            return Err(SetupError::new(message).help("name all parts; --resume completes one that was interrupted"));
        }
        // (What the parts carry along of data files, a family that is made from it does not know as files.)
        let manifest = Manifest { part: (1, 1), ..parts[0].0.manifest.clone() };
        let mut merged = Self::create_as(out, manifest, Layout::of(&sweep)?, false)?;
        let folder = out.join("shards");
        for (first, shard) in chosen {
            if first > shard.first {
                let failed = |why: String| {
                    std::fs::remove_dir_all(out).ok();
                    SetupError::new(why)
                };
                let piece = shard.from(first).map_err(|e| failed(format!("a shard cannot be read: {e}")))?;
                shard::write(&folder, &merged.identity, vec![piece]).map_err(|e| failed(e.to_string()))?;
                continue;
            }
            let Some(name) = shard.path.file_name() else { continue };
            let target = folder.join(name);
            // A second name costs nothing; between file systems it is a copy. (What is there already is never written to: it may be another
            // name of what is copied.)
            let copied = || {
                let mut new = std::fs::File::create_new(&target)?;
                std::io::copy(&mut std::fs::File::open(&shard.path)?, &mut new)?;
                new.sync_all()
            };
            if let Err(e) = std::fs::hard_link(&shard.path, &target).or_else(|_| copied()) {
                // (A directory that is not whole is no sweep.)
                std::fs::remove_dir_all(out).ok();
                return Err(SetupError::new(format!("cannot write `{}`: {e}", target.display())));
            }
        }
        Ok(Self { lock: merged.lock.take(), ..Self::at(out, merged.manifest, merged.layout)? })
    }
}
