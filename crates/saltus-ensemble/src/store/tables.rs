//! The tables of a family, read from its shards.

use super::layout::STATUS;
use super::{Shard, Store};
use crate::{State, Sweep};
use saltus_io::output::{Format, WriteError};
use saltus_io::table::{self, Column, Kind, Table, Values};
use std::collections::HashMap;
use std::io;

/// A table whose chunks are shards.
struct Sharded<'s> {
    shards: &'s [Shard],
    table: usize,
    columns: Vec<Column>,
    chunks: Vec<u64>,
    /// For each shard, the places of its reasons among all.
    reasons: Vec<Vec<i64>>,
}

impl Table for Sharded<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    fn read(&self, chunk: usize, column: usize) -> io::Result<Values> {
        let bits = self.shards[chunk].read(self.table, column)?;
        Ok(match self.columns[column].kind {
            Kind::Number => Values::Numbers(bits.into_iter().map(f64::from_bits).collect()),
            Kind::Integer | Kind::Word(_) => Values::Integers(bits.into_iter().map(|x| x as i64).collect()),
            Kind::Remark(_) => {
                let place = |local: u64| usize::try_from(local as i64).ok().and_then(|k| self.reasons[chunk].get(k));
                Values::Integers(bits.into_iter().map(|x| place(x).copied().unwrap_or(-1)).collect())
            }
        })
    }
}

/// Writes all tables in some formats.
pub fn write(store: &Store, formats: &[Format], threads: usize) -> Result<Vec<String>, WriteError> {
    // (A text that occurs in many trajectories is kept once.)
    let mut all: Vec<String> = Vec::new();
    let mut places: HashMap<&str, i64> = HashMap::new();
    let mut reasons = Vec::with_capacity(store.shards.len());
    for shard in &store.shards {
        let place = |text| {
            *places.entry(text).or_insert_with(|| {
                all.push(text.to_string());
                all.len() as i64 - 1
            })
        };
        reasons.push(shard.reasons.iter().map(String::as_str).map(place).collect::<Vec<i64>>());
    }
    let mut files = Vec::new();
    for (k, layout) in store.layout.tables.iter().enumerate() {
        let mut columns = layout.columns.clone();
        for column in &mut columns {
            if let Kind::Remark(list) = &mut column.kind {
                list.clone_from(&all);
            }
        }
        let chunks = store.shards.iter().map(|s| s.rows[k]).collect();
        let sharded = Sharded { shards: &store.shards, table: k, columns, chunks, reasons: reasons.clone() };
        for &format in formats {
            table::write(&store.dir, layout.name, format, &sharded, threads)?;
            files.push(format!("{}.{}", layout.name, format.name()));
        }
    }
    Ok(files)
}

/// The place of a column of `points`.
fn place(store: &Store, name: &str) -> io::Result<usize> {
    let columns = &store.layout.tables[0].columns;
    columns.iter().position(|c| c.name == name).ok_or_else(|| io::Error::other(format!("there is no column {name}")))
}

/// See [`Store::counts`].
pub fn counts(store: &Store) -> io::Result<Vec<(&'static str, u64)>> {
    let status = place(store, "status")?;
    let mut counts = [0u64; STATUS.len()];
    for shard in &store.shards {
        if let Some(known) = shard.counts {
            counts.iter_mut().zip(known).for_each(|(all, count)| *all += count);
            continue;
        }
        for x in shard.read(0, status)? {
            if let Some(count) = counts.get_mut(x as usize) {
                *count += 1;
            }
        }
    }
    Ok(STATUS.into_iter().zip(counts).filter(|(_, n)| *n > 0).collect())
}

/// See [`Store::impacts`].
pub fn impacts(store: &Store) -> io::Result<u64> {
    let column = place(store, "impacts")?;
    store.shards.iter().map(|shard| shard.read(0, column).map(|numbers| numbers.iter().sum::<u64>())).sum()
}

/// See [`Store::fewer_returns`].
pub fn fewer_returns(store: &Store, wanted: u64) -> io::Result<u64> {
    let (status, returns) = (place(store, "status")?, place(store, "returns")?);
    let mut fewer = 0;
    for shard in &store.shards {
        let words = shard.read(0, status)?;
        fewer +=
            words.iter().zip(shard.read(0, returns)?).filter(|(word, n)| **word == 0 && *n < wanted).count() as u64;
    }
    Ok(fewer)
}

/// See [`Store::complaint`].
pub fn complaint(store: &Store) -> io::Result<Option<(u64, String)>> {
    let reason = place(store, "reason")?;
    for shard in store.shards.iter().filter(|s| !s.reasons.is_empty()) {
        let found = shard.read(0, reason)?.into_iter().position(|x| x as i64 == 0);
        if let Some(row) = found {
            return Ok(Some((shard.first + row as u64, shard.reasons[0].clone())));
        }
    }
    Ok(None)
}

/// See [`Store::reached`].
pub fn reached(store: &Store, sweep: &Sweep, first: u64, count: u64) -> io::Result<Vec<Option<State>>> {
    let model = sweep.family.problem().model();
    let (degrees, dimension) = (model.degrees(), model.dimension());
    let (status, violation) = (place(store, "status")?, place(store, "violation")?);
    let mut found = vec![None; count as usize];
    for shard in store.shards.iter().filter(|s| s.first < first + count && s.end > first) {
        let words = shard.read(0, status)?;
        let state: Vec<Vec<u64>> =
            (0..degrees + dimension).map(|k| shard.read(0, store.layout.state + k)).collect::<io::Result<_>>()?;
        let depths = shard.read(0, violation)?;
        for point in shard.first.max(first)..shard.end.min(first + count) {
            let row = (point - shard.first) as usize;
            if words[row] > 1 {
                continue;
            }
            let value = |column: usize| f64::from_bits(state[column][row]);
            let mut q: Vec<f64> = (0..degrees).map(|i| value(2 * i)).collect();
            q.resize(dimension, 0.0);
            let v =
                (0..degrees).map(|i| value(2 * i + 1)).chain((2 * degrees..degrees + dimension).map(value)).collect();
            found[(point - first) as usize] = Some(State { q, v, depth: f64::from_bits(depths[row]) });
        }
    }
    Ok(found)
}
