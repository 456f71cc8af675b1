//! `trajectory.npz`: NumPy arrays, stored without compression (which takes longer than the run).

use super::arrays::{Array, Columns};
use super::meta::Value;
use npyz::WriterBuilder;
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;

/// `state.npz`: the last state of all degrees of freedom and of the first-order states, from which a run can go on.
pub fn state<W: Write + Seek>(out: W, last: &saltus::Start, states: usize) -> io::Result<()> {
    let (q, v, z) = last.parts(states);
    let by = last.reached_by().cloned().unwrap_or_default();
    let closed: Vec<f64> = by.closed.iter().map(|&a| a as f64).collect();
    let sides: Vec<f64> = by.sides.iter().map(|&side| f64::from(side)).collect();
    let memory = super::record::memory_as_numbers(&by);
    let modes: Vec<f64> = by.modes.iter().flat_map(|&(n, residual)| [n as f64, f64::from(residual)]).collect();
    let vector = |name, values: &[f64]| Array::vector(name, values.to_vec());
    let arrays = [
        vector("t", &[last.t]),
        vector("q", q),
        vector("v", v),
        vector("z", z),
        vector("parameters", &last.parameters),
        vector("closed", &closed),
        vector("modes", &modes),
        vector("within_impact", &[f64::from(by.within_impact)]),
        vector("sides", &sides),
        vector("memory", &memory),
    ];
    write(out, &arrays)
}

/// Writes the arrays, each under its name.
pub fn write<W: Write + Seek>(out: W, arrays: &[Array]) -> io::Result<()> {
    described(out, arrays, &[], &[])
}

/// Writes the arrays, the names of their columns as arrays of texts, and everything about the run as `meta`, a text in JSON.
pub fn described<W: Write + Seek>(
    out: W,
    arrays: &[Array],
    names: &[(&str, Vec<String>)],
    meta: &[(&str, Value)],
) -> io::Result<()> {
    let mut zip = zip::ZipWriter::new(out);
    let object: serde_json::Map<String, serde_json::Value> = meta
        .iter()
        .map(|(name, value)| match value {
            Value::Number(x) => (name.to_string(), (*x).into()),
            Value::Text(text) => (name.to_string(), text.as_str().into()),
        })
        .collect();
    let written = arrays
        .iter()
        .try_for_each(|a| array(&mut zip, a))
        .and_then(|()| names.iter().try_for_each(|(name, list)| texts(&mut zip, name, list, true)))
        .and_then(|()| match object.is_empty() {
            true => Ok(()),
            false => texts(&mut zip, "meta", &[&serde_json::Value::Object(object).to_string()], false),
        });
    match written {
        Ok(()) => zip.finish().map(|_| ()).map_err(io::Error::from),
        Err(e) => {
            // Dropped, an unfinished archive would complain on standard error by itself; the file is thrown away anyway.
            std::mem::forget(zip);
            Err(e)
        }
    }
}

fn array<W: Write + Seek>(zip: &mut zip::ZipWriter<W>, array: &Array) -> io::Result<()> {
    let (rows, width) = (array.rows as u64, array.width as u64);
    let shape = if array.columns == Columns::None { vec![rows] } else { vec![rows, width] };
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .large_file(8 * rows * width > u64::from(u32::MAX) / 2);
    zip.start_file(format!("{}.npy", array.name), options)?;
    let mut npy = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(zip).begin_nd()?;
    let mut row = vec![0.0; array.width];
    for k in 0..array.rows {
        array.row(k, &mut row);
        npy.extend(row.iter().copied())?;
    }
    npy.finish()
}

/// An array of texts, or a single one without dimensions: four bytes for each character, as many characters as the longest
/// has (NumPy's `<U` kind).
pub fn texts<W: Write + Seek>(
    zip: &mut zip::ZipWriter<W>,
    name: &str,
    list: &[impl AsRef<str>],
    is_list: bool,
) -> io::Result<()> {
    let list: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
    let width = list.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let shape = if is_list { format!("({},)", list.len()) } else { "()".to_string() };
    let header = npy_header(&format!("<U{width}"), &shape)?;
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default());
    zip.start_file(format!("{name}.npy"), options)?;
    zip.write_all(&header)?;
    for text in list {
        let characters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        for character in characters {
            zip.write_all(&character.to_le_bytes())?;
        }
    }
    Ok(())
}

/// What stands before the values of an array: the kind of its entries, and its shape as Python writes it.
pub fn npy_header(kind: &str, shape: &str) -> io::Result<Vec<u8>> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes; the data begin at a multiple of 64, after a line end.
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(io::Error::other)?;
    Ok([b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), header.as_bytes()].concat())
}
