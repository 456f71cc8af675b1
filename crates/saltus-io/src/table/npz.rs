//! Tables as NumPy archives: one array a column.

use super::ahead::in_order;
use super::{Kind, Table, Values};
use crate::output::npz::{npy_header, texts};
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;

pub fn write<W: Write + Seek>(out: W, table: &dyn Table, threads: usize) -> io::Result<()> {
    let mut zip = zip::ZipWriter::new(out);
    let rows: u64 = table.chunks().iter().sum();
    let written = (0..table.columns().len()).try_for_each(|c| column(&mut zip, table, c, rows, threads));
    match written {
        Ok(()) => zip.finish().map(|_| ()).map_err(io::Error::from),
        Err(e) => {
            // Dropped, an unfinished archive would complain on standard error by itself; the file is thrown away anyway.
            std::mem::forget(zip);
            Err(e)
        }
    }
}

fn column<W: Write + Seek>(
    zip: &mut zip::ZipWriter<W>,
    table: &dyn Table,
    c: usize,
    rows: u64,
    threads: usize,
) -> io::Result<()> {
    let column = &table.columns()[c];
    let width = match &column.kind {
        Kind::Word(words) => words.iter().map(|w| w.chars().count()).max().unwrap_or(0).max(1),
        _ => 2,
    };
    let kind = match column.kind {
        Kind::Number => "<f8".to_string(),
        Kind::Integer | Kind::Remark(_) => "<i8".to_string(),
        Kind::Word(_) => format!("<U{width}"),
    };
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(4 * width as u64 * rows > u64::from(u32::MAX) / 2);
    zip.start_file(format!("{}.npy", column.name), options)?;
    zip.write_all(&npy_header(&kind, &format!("({rows},)"))?)?;
    // Words are spelled once, not in every row; behind them is that of rows without one.
    let spelled: Vec<Vec<u8>> = match &column.kind {
        Kind::Word(words) => words.iter().map(|word| spell(word, width)).chain([spell("", width)]).collect(),
        _ => Vec::new(),
    };
    let bytes = |chunk: usize| -> io::Result<Vec<u8>> {
        Ok(match (table.read(chunk, c)?, &column.kind) {
            (Values::Numbers(x), _) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
            (Values::Integers(x), Kind::Word(words)) => {
                let mut bytes = Vec::with_capacity(4 * width * x.len());
                for x in x {
                    let place = usize::try_from(x).unwrap_or(usize::MAX).min(words.len());
                    bytes.extend_from_slice(&spelled[place]);
                }
                bytes
            }
            (Values::Integers(x), _) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
        })
    };
    in_order(threads, table.chunks().len(), bytes, |bytes| zip.write_all(&bytes))?;
    match &column.kind {
        Kind::Remark(words) => texts(zip, &format!("{}s", column.name), words, true),
        _ => Ok(()),
    }
}

/// A text in so many characters of four bytes each.
fn spell(text: &str, width: usize) -> Vec<u8> {
    let characters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
    characters.flat_map(u32::to_le_bytes).collect()
}
