//! `trajectory.npz`: NumPy arrays, stored without compression (which takes longer than the run).

use super::arrays::{Array, Columns};
use npyz::WriterBuilder;
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;

/// `state.npz`: the last state of all degrees of freedom, from which a run can go on.
pub fn state<W: Write + Seek>(out: W, last: &saltus::Start) -> io::Result<()> {
    let by = last.reached_by().cloned().unwrap_or_default();
    let closed: Vec<f64> = by.closed.iter().map(|&a| a as f64).collect();
    let modes: Vec<f64> = by.modes.iter().flat_map(|&(n, residual)| [n as f64, f64::from(residual)]).collect();
    let vector = |name, values: &[f64]| Array::vector(name, values.to_vec());
    let arrays = [
        vector("t", &[last.t]),
        vector("q", &last.q),
        vector("v", &last.v),
        vector("parameters", &last.parameters),
        vector("closed", &closed),
        vector("modes", &modes),
        vector("within_impact", &[f64::from(by.within_impact)]),
    ];
    write(out, &arrays)
}

/// Writes the arrays, each under its name.
pub fn write<W: Write + Seek>(out: W, arrays: &[Array]) -> io::Result<()> {
    let mut zip = zip::ZipWriter::new(out);
    match arrays.iter().try_for_each(|a| array(&mut zip, a)) {
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
