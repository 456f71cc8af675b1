//! `trajectory.npz`: NumPy arrays, stored without compression (which takes longer than the run).

use npyz::WriterBuilder;
use saltus::{Model, Side, Trajectory};
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;

/// Writes t, q, v_left, v_right, by events reaction (densities, one column a constraint), and the impacts: impact_t, impact_q, impact_v_before, impact_v_after (one row an
/// impact) and impact_impulse (one column a constraint).
pub fn write<W: Write + Seek>(out: W, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    let mut zip = zip::ZipWriter::new(out);
    let written = arrays(&mut zip, model, trajectory);
    match written {
        Ok(()) => zip.finish().map(|_| ()).map_err(io::Error::from),
        Err(e) => {
            // Dropped, an unfinished archive would complain on standard error by itself; the file is thrown away anyway.
            std::mem::forget(zip);
            Err(e)
        }
    }
}

fn arrays<W: Write + Seek>(zip: &mut zip::ZipWriter<W>, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    let (n, d) = (trajectory.len() as u64, trajectory.dimension() as u64);
    array(zip, "t", &[n], trajectory.t.iter().copied())?;
    array(zip, "q", &[n, d], trajectory.positions().iter().copied())?;
    array(zip, "v_left", &[n, d], trajectory.velocities(Side::Left))?;
    array(zip, "v_right", &[n, d], trajectory.velocities(Side::Right))?;
    if !trajectory.pieces.is_empty() {
        let m = model.constraints.len();
        let densities = (0..trajectory.len()).flat_map(|k| super::reactions(trajectory, k, m));
        array(zip, "reaction", &[n, m as u64], densities)?;
    }
    let impacts = &trajectory.impacts;
    let k = impacts.len() as u64;
    array(zip, "impact_t", &[k], impacts.iter().map(|i| i.t))?;
    array(zip, "impact_q", &[k, d], impacts.iter().flat_map(|i| i.q.iter().copied()))?;
    array(zip, "impact_v_before", &[k, d], impacts.iter().flat_map(|i| i.v_before.iter().copied()))?;
    array(zip, "impact_v_after", &[k, d], impacts.iter().flat_map(|i| i.v_after.iter().copied()))?;
    let m = model.constraints.len();
    let impulses = impacts.iter().flat_map(|i| {
        let mut row = vec![0.0; m];
        i.constraints.iter().zip(i.impulses).for_each(|(&a, p)| row[a] = *p);
        row
    });
    array(zip, "impact_impulse", &[k, m as u64], impulses)
}

fn array<W: Write + Seek>(
    zip: &mut zip::ZipWriter<W>,
    name: &str,
    shape: &[u64],
    values: impl Iterator<Item = f64>,
) -> io::Result<()> {
    let bytes = 8 * shape.iter().product::<u64>();
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .large_file(bytes > u64::from(u32::MAX) / 2);
    zip.start_file(format!("{name}.npy"), options)?;
    let mut npy = npyz::WriteOptions::new().default_dtype().shape(shape).writer(zip).begin_nd()?;
    npy.extend(values)?;
    npy.finish()
}
