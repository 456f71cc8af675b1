//! `trajectory.mat`: a MATLAB file of version 5, which MATLAB, Octave and SciPy read.
//!
//! The format is a header of 128 bytes and then elements, each a tag (type, bytes) and data filled up to eight bytes. A
//! variable is an element of type 14 that holds its class and flags, dimensions, name and numbers, by columns.

use super::arrays::Array;
use super::meta::Value;
use std::io::{self, Write};

/// Types of elements.
const INT8: u32 = 1;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const DOUBLE: u32 = 9;
const MATRIX: u32 = 14;
const UTF8: u32 = 16;

/// Classes of variables.
const CELL: u32 = 1;
const STRUCT: u32 = 2;
const CHAR: u32 = 4;
const REAL: u32 = 6;

/// Field names of a structure take this many bytes each, the final zero included.
const FIELD: usize = 32;

/// Writes the arrays, the names of their columns and `meta`, a structure.
pub fn write(
    out: &mut impl Write,
    arrays: &[Array],
    names: &[(&str, Vec<String>)],
    meta: &[(&str, Value)],
) -> io::Result<()> {
    header(out)?;
    for array in arrays {
        numbers(out, array)?;
    }
    for (name, texts) in names {
        out.write_all(&cell(name, texts))?;
    }
    out.write_all(&structure("meta", meta))
}

fn header(out: &mut impl Write) -> io::Result<()> {
    let text = concat!("MATLAB 5.0 MAT-file, written by Saltus ", env!("CARGO_PKG_VERSION"));
    // 116 bytes of text, 8 that say there is no further data, the version and, by its order, that of the bytes.
    write!(out, "{text:<116}")?;
    out.write_all(&[0; 8])?;
    out.write_all(&0x0100_u16.to_le_bytes())?;
    out.write_all(b"IM")
}

/// A matrix of numbers; straight to the file, because it may be large.
fn numbers(out: &mut impl Write, array: &Array) -> io::Result<()> {
    let (rows, width) = (array.rows, array.width);
    let head = beginning(REAL, &[rows, width], array.name);
    let bytes = (rows as u64) * (width as u64) * 8;
    let whole = head.len() as u64 + 8 + bytes;
    let limit = |_| {
        let message = "an array of a MATLAB file holds at most 2 GiB; store fewer instants with --every";
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    // The format has four bytes for a length, and its readers take it for a signed number.
    let whole = i32::try_from(whole).map_err(limit)? as u32;
    tag(out, MATRIX, whole)?;
    out.write_all(&head)?;
    tag(out, DOUBLE, bytes as u32)?;
    let block = array.block(0, rows);
    for column in 0..width {
        for k in 0..rows {
            out.write_all(&block[k * width + column].to_le_bytes())?;
        }
    }
    Ok(())
}

/// Class, dimensions and name: what every variable starts with.
fn beginning(class: u32, dimensions: &[usize], name: &str) -> Vec<u8> {
    let mut head = Vec::new();
    let flags: Vec<u8> = [class, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    element(&mut head, UINT32, &flags);
    let dimensions: Vec<u8> = dimensions.iter().flat_map(|&n| (n as i32).to_le_bytes()).collect();
    element(&mut head, INT32, &dimensions);
    element(&mut head, INT8, name.as_bytes());
    head
}

fn matrix(content: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(content.len() + 8);
    element(&mut whole, MATRIX, content);
    whole
}

fn text(name: &str, text: &str) -> Vec<u8> {
    let mut content = beginning(CHAR, &[usize::from(!text.is_empty()), text.chars().count()], name);
    element(&mut content, UTF8, text.as_bytes());
    matrix(&content)
}

fn number(name: &str, x: f64) -> Vec<u8> {
    let mut content = beginning(REAL, &[1, 1], name);
    element(&mut content, DOUBLE, &x.to_le_bytes());
    matrix(&content)
}

/// A row of texts.
fn cell(name: &str, texts: &[String]) -> Vec<u8> {
    let mut content = beginning(CELL, &[usize::from(!texts.is_empty()), texts.len()], name);
    texts.iter().for_each(|t| content.extend(text("", t)));
    matrix(&content)
}

fn structure(name: &str, fields: &[(&str, Value)]) -> Vec<u8> {
    let mut content = beginning(STRUCT, &[1, 1], name);
    element(&mut content, INT32, &(FIELD as i32).to_le_bytes());
    let mut names = vec![0_u8; FIELD * fields.len()];
    for ((field, _), place) in fields.iter().zip(names.chunks_exact_mut(FIELD)) {
        let length = field.len().min(FIELD - 1);
        place[..length].copy_from_slice(&field.as_bytes()[..length]);
    }
    element(&mut content, INT8, &names);
    for (_, value) in fields {
        content.extend(match value {
            Value::Number(x) => number("", *x),
            Value::Text(t) => text("", t),
        });
    }
    matrix(&content)
}

fn tag(out: &mut impl Write, kind: u32, bytes: u32) -> io::Result<()> {
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&bytes.to_le_bytes())
}

/// A tag, the data, and zeros up to the next multiple of eight; up to four bytes stand in the tag itself.
fn element(out: &mut Vec<u8>, kind: u32, data: &[u8]) {
    let length = data.len() as u32;
    if (1..=4).contains(&length) {
        out.extend((length << 16 | kind).to_le_bytes());
        out.extend(data);
        out.resize(out.len() + 4 - data.len(), 0);
        return;
    }
    out.extend(kind.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend(data);
    out.resize(out.len().next_multiple_of(8), 0);
}
