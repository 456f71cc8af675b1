//! `response_spectrum.csv`, `density.csv` and `forces.csv`: what can be asked for of a run of a structure.

use super::WriteError;
use super::stage::{place, staged};
use super::tables::field;
use saltus::analysis::{Density, ResponseSpectrum};
use saltus::{Model, Trajectory};
use std::io::Write;
use std::path::Path;

/// The file of floor response spectra.
pub const RESPONSE_SPECTRUM: &str = "response_spectrum.csv";
/// The file of spectral densities.
pub const DENSITY: &str = "density.csv";
/// The file of mean forces over windows.
pub const FORCES: &str = "forces.csv";

/// One row per point, ratio and frequency.
pub fn response_spectra(dir: &Path, points: &[String], all: &[ResponseSpectrum]) -> Result<(), WriteError> {
    place(staged(dir.join(RESPONSE_SPECTRUM), |w| {
        writeln!(w, "point,ratio,frequency,acceleration,displacement")?;
        for spectrum in all {
            let name = field(&points[spectrum.point]);
            for (r, ratio) in spectrum.ratios.iter().enumerate() {
                for (k, f) in spectrum.frequencies.iter().enumerate() {
                    let (a, d) = (spectrum.acceleration[r][k], spectrum.displacement[r][k]);
                    writeln!(w, "{name},{ratio:?},{f:?},{a:?},{d:?}")?;
                }
            }
        }
        Ok(())
    })?)
}

/// One row per signal and frequency.
pub fn densities(dir: &Path, all: &[(String, Density)]) -> Result<(), WriteError> {
    place(staged(dir.join(DENSITY), |w| {
        writeln!(w, "signal,frequency,density")?;
        for (name, density) in all {
            for (f, x) in density.frequencies.iter().zip(&density.density) {
                writeln!(w, "{},{f:?},{x:?}", field(name))?;
            }
        }
        Ok(())
    })?)
}

/// One row per window: the mean force of every stop over it, impulses of impacts included. The last window may be shorter.
pub fn forces(dir: &Path, model: &Model, motion: &Trajectory, window: f64) -> Result<(), WriteError> {
    place(staged(dir.join(FORCES), |w| {
        let names: String =
            model.constraints.iter().map(|c| format!(",{}", field(&format!("mean_force_{}", c.name)))).collect();
        writeln!(w, "start,end{names}")?;
        let Some((from, to)) = motion.span() else { return Ok(()) };
        let count = ((to - from) / window * (1.0 - 1e-12)).ceil().max(1.0);
        for k in 0..count as u64 {
            let (start, end) = (from + k as f64 * window, (from + (k + 1) as f64 * window).min(to));
            write!(w, "{start:?},{end:?}")?;
            for a in 0..model.constraints.len() {
                let impulse = |t: f64| motion.history.impulse(&motion.t, a, t);
                write!(w, ",{:?}", (impulse(end) - impulse(start)) / (end - start))?;
            }
            writeln!(w)?;
        }
        Ok(())
    })?)
}
