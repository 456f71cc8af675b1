//! Shards: the rows of trajectories next to each other, in one file, column by column.
//!
//! A header in JSON, then for each column of each table its values, eight bytes each, least significant first, and at the end
//! a check sum.

use super::layout::{Layout, STATUS};
use super::piece::Piece;
use saltus_io::output::{WriteError, write_file};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"SALTUS\x01\n";

/// A shard on the disk.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Its file.
    pub path: PathBuf,
    /// The number of its first trajectory, and that behind its last.
    pub first: u64,
    /// See `first`.
    pub end: u64,
    /// The rows of each table.
    pub rows: Vec<u64>,
    /// The reasons of its trajectories.
    pub reasons: Vec<String>,
    /// How many of its trajectories ended in which way, where that is known without reading it.
    pub(super) counts: Option<[u64; STATUS.len()]>,
    /// Where the values begin, and the number of columns of each table.
    data: u64,
    widths: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    /// The sweep that the trajectories are of: [`super::Manifest::identity`].
    #[serde(default)]
    sweep: String,
    first: u64,
    end: u64,
    rows: Vec<u64>,
    widths: Vec<usize>,
    reasons: Vec<String>,
}

/// The name of the file of a shard.
fn file_name(first: u64, end: u64) -> String {
    format!("{first:011}-{end:011}.shard")
}

/// FNV-1a, word by word.
#[derive(Clone, Copy)]
struct Sum(u64);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(17);
        }
    }
}

/// Writes pieces of a sweep that follow each other as a shard; it has its name only when it is complete and on the disk.
pub fn write(dir: &Path, sweep: &str, mut pieces: Vec<Piece>) -> Result<Shard, WriteError> {
    let (first, end) = (pieces.first().map_or(0, |p| p.first), pieces.last().map_or(0, |p| p.end));
    let mut reasons: Vec<String> = Vec::new();
    let mut counts = [0; STATUS.len()];
    for piece in &mut pieces {
        piece.number_reasons_from(reasons.len());
        reasons.append(&mut piece.reasons);
        counts.iter_mut().zip(piece.counts).for_each(|(all, count)| *all += count);
    }
    let tables = pieces.first().map_or(0, |p| p.tables.len());
    let widths: Vec<usize> = pieces.first().map_or_else(Vec::new, |p| p.tables.iter().map(|t| t.width).collect());
    let rows = (0..tables).map(|t| pieces.iter().map(|p| p.tables[t].count as u64).sum()).collect();
    let header = Header { sweep: sweep.to_string(), first, end, rows, widths, reasons };
    let mut text = serde_json::to_vec(&header).unwrap_or_default();
    text.resize(text.len().next_multiple_of(8), b' ');
    let path = dir.join(file_name(first, end));
    write_file(&path, |out| {
        let mut sum = Sum(0);
        let mut put = |out: &mut dyn Write, bytes: &[u8]| {
            sum.add(bytes);
            out.write_all(bytes)
        };
        put(out, MAGIC)?;
        put(out, &(text.len() as u64).to_le_bytes())?;
        put(out, &text)?;
        for (t, &width) in header.widths.iter().enumerate() {
            for column in 0..width {
                pieces.iter().try_for_each(|piece| put(out, piece.tables[t].column(column)))?;
            }
        }
        out.write_all(&sum.0.to_le_bytes())
    })?;
    let data = 16 + text.len() as u64;
    let Header { rows, widths, reasons, .. } = header;
    Ok(Shard { path, first, end, rows, reasons, counts: Some(counts), data, widths })
}

impl Shard {
    /// Opens a shard and checks that it is whole, of a sweep, and has the columns of its layout.
    pub fn open(path: &Path, sweep: &str, layout: &Layout) -> Result<Self, String> {
        let fail = |why: &str| format!("`{}` {why}", path.display());
        let broken = |e: io::Error| fail(&format!("cannot be read: {e}"));
        let file = File::open(path).map_err(broken)?;
        let length = file.metadata().map_err(broken)?.len();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut start = [0; 16];
        reader.read_exact(&mut start).map_err(|_| fail("is not a shard of a sweep, or not whole"))?;
        let size = u64::from_le_bytes(start[8..].try_into().unwrap_or_default());
        if &start[..8] != MAGIC || size > length || !size.is_multiple_of(8) {
            return Err(fail("is not a shard of a sweep"));
        }
        let mut text = vec![0; size as usize];
        reader.read_exact(&mut text).map_err(|_| fail("is not whole"))?;
        let header: Header = serde_json::from_slice(&text).map_err(|_| fail("has a damaged header"))?;
        if header.sweep != sweep {
            return Err(fail("is of another sweep"));
        }
        let widths: Vec<usize> = layout.tables.iter().map(|t| t.columns.len()).collect();
        if header.widths != widths || header.rows.len() != widths.len() || header.end <= header.first {
            return Err(fail("has other columns"));
        }
        let values: u64 = header.rows.iter().zip(&widths).map(|(&r, &w)| r.saturating_mul(w as u64)).sum();
        let data = 16 + size;
        if length != data + values.saturating_mul(8) + 8 {
            return Err(fail("is not whole"));
        }
        let mut sum = Sum(0);
        sum.add(&start);
        sum.add(&text);
        let (mut left, mut buffer) = (values * 8, vec![0; 1 << 16]);
        while left > 0 {
            let part = left.min(buffer.len() as u64) as usize;
            reader.read_exact(&mut buffer[..part]).map_err(broken)?;
            sum.add(&buffer[..part]);
            left -= part as u64;
        }
        let mut last = [0; 8];
        reader.read_exact(&mut last).map_err(broken)?;
        if sum.0 != u64::from_le_bytes(last) {
            return Err(fail("is damaged: its check sum is wrong"));
        }
        let Header { first, end, rows, reasons, .. } = header;
        Ok(Shard { path: path.to_path_buf(), first, end, rows, reasons, counts: None, data, widths })
    }

    /// The rows of its trajectories from one on. (All tables begin with the number of the trajectory.)
    pub fn from(&self, first: u64) -> io::Result<Piece> {
        let mut piece = Piece::empty(first, self.end);
        for (table, &width) in self.widths.iter().enumerate() {
            let columns = (0..width).map(|k| self.read(table, k)).collect::<io::Result<Vec<_>>>()?;
            let before = columns.first().map_or(0, |points| points.partition_point(|&point| point < first));
            piece.add_table(columns.iter().map(|column| &column[before..]));
        }
        piece.reasons.clone_from(&self.reasons);
        Ok(piece)
    }

    /// The values of a column of a table.
    pub fn read(&self, table: usize, column: usize) -> io::Result<Vec<u64>> {
        let before: u64 = (0..table).map(|t| self.rows[t] * self.widths[t] as u64).sum();
        let at = self.data + 8 * (before + column as u64 * self.rows[table]);
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; 8 * self.rows[table] as usize];
        file.read_exact(&mut bytes)?;
        Ok(bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default())).collect())
    }
}
