//! Spectra of a run of a structure: oscillators on its points, densities of displacements and forces, mean forces over windows.

use crate::done::Done;
use crate::setup::Ready;
use crate::text::{DIM, YELLOW, number, out, printable};
use saltus::SetupError;
use saltus::analysis::{Density, ResponseSpectrum, displacement_density, force_density, response_spectrum};
use saltus_io::output::{self, WriteError};
use std::path::Path;

#[derive(clap::Args, Clone, Debug, Default)]
pub struct SpectrumArgs {
    /// The floor response spectrum at a point: the largest acceleration of oscillators that stand on it; may be repeated
    #[arg(long, value_name = "POINT", help_heading = "Structures")]
    spectrum: Vec<String>,
    /// With --spectrum: the damping ratios of the oscillators, joined by commas [default: 0.05]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "spectrum", help_heading = "Structures")]
    ratios: Vec<f64>,
    /// With --spectrum: FROM,TO,COUNT, frequencies per unit of time, evenly spaced on a logarithmic scale [default: 100 from a
    /// tenth of the first frequency to a hundred times it]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "spectrum", help_heading = "Structures")]
    frequencies: Vec<f64>,
    /// The spectral density of the displacement of a point, or of the force of a stop; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Structures")]
    density: Vec<String>,
    /// With --out: also the mean force of every stop over windows of this length, in forces.csv
    #[arg(long, value_name = "T", requires = "out", help_heading = "Structures")]
    window: Option<f64>,
}

/// What was asked for, checked before the run.
pub struct Wanted {
    points: Vec<usize>,
    ratios: Vec<f64>,
    frequencies: Vec<f64>,
    densities: Vec<(String, Signal)>,
    window: Option<f64>,
}

#[derive(Clone, Copy)]
enum Signal {
    Point(usize),
    Stop(usize),
}

/// What was found.
pub struct Spectra {
    names: Vec<String>,
    responses: Vec<ResponseSpectrum>,
    densities: Vec<(String, Density)>,
    window: Option<f64>,
    /// What a reader should know.
    notes: Vec<String>,
}

/// An oscillator with fewer steps of the run in its period feels what the step makes of the motion.
const FEWEST_STEPS: f64 = 8.0;

impl SpectrumArgs {
    /// Looks names and numbers up; none where nothing was asked for.
    pub fn wanted(&self, ready: &Ready) -> Result<Option<Wanted>, SetupError> {
        if self.spectrum.is_empty() && self.density.is_empty() && self.window.is_none() {
            return Ok(None);
        }
        let system = &*ready.opened.system;
        let Some(structure) = system.as_structure() else {
            return Err(SetupError::new("spectra and windows of forces are those of structures")
                .help("this model has no [structure]"));
        };
        let model = system.model();
        let point = |name: &String| {
            let known = model.coordinates.iter().map(String::as_str);
            model.coordinates.iter().position(|c| c == name).ok_or_else(|| {
                SetupError::unknown(format!("there is no point `{name}`"), name, known, "the points are")
            })
        };
        let signal = |name: &String| {
            let stop = model.constraints.iter().position(|c| c.name == *name).map(Signal::Stop);
            let found = point(name).map(Signal::Point).ok().or(stop);
            let known = model.coordinates.iter().map(String::as_str);
            let known = known.chain(model.constraints.iter().map(|c| c.name.as_str()));
            let unknown =
                || SetupError::unknown(format!("there is no point or stop `{name}`"), name, known, "there are");
            found.map(|signal| (name.clone(), signal)).ok_or_else(unknown)
        };
        let frequencies = match self.frequencies[..] {
            [] => {
                let first = structure.first_period().map_or(1.0, |period| 1.0 / period);
                spaced(0.1 * first, 100.0 * first, 100)
            }
            [from, to, count] if from > 0.0 && to >= from && (1.0..=1e5).contains(&count) && to.is_finite() => {
                spaced(from, to, count as usize)
            }
            _ => {
                return Err(SetupError::new("--frequencies takes FROM,TO,COUNT: two positive frequencies and a count")
                    .help("such as  --frequencies 0.2,50,200"));
            }
        };
        if let Some(window) = self.window.filter(|w| !(*w > 0.0 && w.is_finite())) {
            return Err(SetupError::new(format!("a window must be a positive time, not {window}")));
        }
        if let Some(ratio) = self.ratios.iter().find(|z| !(**z >= 0.0 && z.is_finite())) {
            return Err(SetupError::new(format!("a damping ratio must not be negative, as {ratio} is")));
        }
        if let Some(name) = self.spectrum.iter().find(|n| point(n).is_ok_and(|p| structure.is_force(p))) {
            return Err(SetupError::new(format!("`{name}` is a force, the base shear: nothing stands on it")).help(
                format!(
                    "--spectrum takes a point that moves; --density {name} gives the spectral density of the force"
                ),
            ));
        }
        Ok(Some(Wanted {
            points: self.spectrum.iter().map(point).collect::<Result<_, _>>()?,
            ratios: if self.ratios.is_empty() { vec![0.05] } else { self.ratios.clone() },
            frequencies,
            densities: self.density.iter().map(signal).collect::<Result<_, _>>()?,
            window: self.window,
        }))
    }
}

/// Frequencies evenly spaced on a logarithmic scale.
fn spaced(from: f64, to: f64, count: usize) -> Vec<f64> {
    let step = (to / from).ln() / (count.max(2) - 1) as f64;
    (0..count).map(|k| from * (step * k as f64).exp()).collect()
}

impl Wanted {
    /// The points that are needed at every step, however few instants are stored.
    pub fn followed(&self) -> Vec<usize> {
        let signals = self.densities.iter().filter_map(|(_, signal)| match signal {
            Signal::Point(p) => Some(*p),
            Signal::Stop(_) => None,
        });
        let mut points: Vec<usize> = self.points.iter().copied().chain(signals).collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    /// Computes them.
    pub fn of(self, ready: &Ready, done: &Done) -> Result<Spectra, SetupError> {
        let system = &*ready.opened.system;
        let mut responses = Vec::new();
        for &point in &self.points {
            if let Some(structure) = system.as_structure() {
                responses.push(response_spectrum(structure, &done.run, point, &self.frequencies, &self.ratios)?);
            }
        }
        let mut densities = Vec::new();
        for (name, signal) in &self.densities {
            let density = match *signal {
                Signal::Point(p) => displacement_density(&done.run, p)?,
                Signal::Stop(a) => force_density(&done.run, a)?,
            };
            densities.push((name.clone(), density));
        }
        if self.window.is_some() && !done.run.trajectory.history.has_impulses() {
            return Err(SetupError::new("the forces of stops over time are kept by time-stepping schemes only")
                .help("run it with paoli-schatzman or moreau-jean, or leave --window out"));
        }
        let fastest = self.frequencies.iter().copied().fold(0.0, f64::max);
        let resolved = 1.0 / (FEWEST_STEPS * done.run.step);
        let mut notes = Vec::new();
        if !self.points.is_empty() && !done.run.by_events() && fastest > resolved {
            notes.push(format!(
                "above {} Hz an oscillator has fewer than {FEWEST_STEPS} steps of the run in a period: what the structure does there is \
                 that of the step, not its own. A smaller step resolves it",
                number(resolved, 4)
            ));
        }
        if self.densities.iter().any(|(_, signal)| matches!(signal, Signal::Stop(_))) && done.run.options.every > 1 {
            let width = number(done.run.step * done.run.options.every as f64, 4);
            notes
                .push(format!("densities of forces are of the means between stored instants, {width} apart (--every)"));
        }
        Ok(Spectra { names: system.model().coordinates.clone(), responses, densities, window: self.window, notes })
    }
}

impl Spectra {
    /// Floor response spectra and spectral densities.
    pub fn found(&self) -> (&[ResponseSpectrum], &[(String, Density)]) {
        (&self.responses, &self.densities)
    }

    /// What a reader should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The largest values, in a line each.
    pub fn print(&self) {
        let largest = |x: &[f64], of: &[f64]| {
            let k = (0..of.len()).max_by(|&i, &j| of[i].total_cmp(&of[j]));
            k.map_or((0.0, 0.0), |k| (of[k], x[k]))
        };
        for spectrum in &self.responses {
            for (ratio, accelerations) in spectrum.ratios.iter().zip(&spectrum.acceleration) {
                let (most, at) = largest(&spectrum.frequencies, accelerations);
                let name = format!("on {}", printable(&self.names[spectrum.point]));
                out!(
                    "{name:<20} {DIM}oscillator of damping{DIM:#} {ratio}{DIM}: largest acceleration{DIM:#} {} {DIM}at{DIM:#} {} Hz\n",
                    number(most, 6),
                    number(at, 4)
                );
            }
        }
        for (name, density) in &self.densities {
            let (most, at) = largest(&density.frequencies, &density.density);
            let name = format!("density of {}", printable(name));
            out!("{name:<20} {DIM}largest{DIM:#} {} {DIM}at{DIM:#} {} Hz\n", number(most, 5), number(at, 4));
        }
        for note in &self.notes {
            out!("{YELLOW}note{YELLOW:#}: {note}\n");
        }
    }

    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        let responses = self.responses.iter().map(|s| {
            serde_json::json!({
                "point": self.names[s.point], "frequencies_hz": s.frequencies, "ratios": s.ratios,
                "acceleration": s.acceleration, "displacement": s.displacement,
            })
        });
        let densities = self
            .densities
            .iter()
            .map(|(name, d)| serde_json::json!({ "of": name, "frequencies_hz": d.frequencies, "density": d.density }));
        serde_json::json!({
            "response": responses.collect::<Vec<_>>(), "density": densities.collect::<Vec<_>>(), "notes": self.notes,
        })
    }

    /// Writes `response_spectrum.csv`, `density.csv`, `forces.csv`, as far as they were asked for; gives their names.
    pub fn write(&self, ready: &Ready, done: &Done, dir: &Path) -> Result<Vec<&'static str>, WriteError> {
        let mut names = Vec::new();
        if !self.responses.is_empty() {
            output::response_spectra(dir, &self.names, &self.responses)?;
            names.push(output::RESPONSE_SPECTRUM);
        }
        if !self.densities.is_empty() {
            output::densities(dir, &self.densities)?;
            names.push(output::DENSITY);
        }
        if let Some(window) = self.window {
            output::forces(dir, ready.opened.system.model(), &done.run.trajectory, window)?;
            names.push(output::FORCES);
        }
        Ok(names)
    }
}
