//! `[inputs]`: sampled functions of time, from tables and records, or realisations of a spectral density.

use super::tree::{self, Value};
use super::{Failure, ModelFile, Reader, get, need};
use crate::psd::Psd;
use crate::{FileError, inputs, records};
use saltus::{Outside, SetupError, Span, Table};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::de::DeTable;

/// An input as written: what another file, or another seed, in its place would have in common with it.
#[derive(Clone, Debug)]
pub(super) struct InputText {
    name: String,
    outside: Outside,
    /// To m/s²; None: values are taken as they are, whatever the header says.
    factor: Option<f64>,
    random: Option<Random>,
}

/// A spectral density and how long its realisations are.
#[derive(Clone, Debug)]
struct Random {
    psd: Psd,
    duration: f64,
}

impl Random {
    /// The realisation of a seed.
    fn table(&self, name: &str, seed: u64, outside: Outside) -> Result<Table, String> {
        let (times, values) = self.psd.realisation(self.duration, seed)?;
        Table::new(name, times, values, outside)
    }
}

const EXAMPLE: &str = "{ psd = [[5, 0.2], [40, 0.2]], duration = 10, seed = 1 }";

impl Reader<'_> {
    pub(super) fn inputs(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[inputs]", "ag = \"record.csv\"")?) {
            let name = key.get_ref();
            let text = match value.get_ref().as_table() {
                Some(table) if get(table, "psd").is_some() => {
                    let (text, seed) = self.random(name, table, value.span())?;
                    let made = text.random.as_ref().map(|random| random.table(name, seed, text.outside));
                    let table =
                        made.transpose().map_err(|why| SetupError::new(why).at(value.span(), "this density"))?;
                    self.description.inputs.extend(table.map(|table| (tree::name(key), Arc::new(table))));
                    text
                }
                _ => {
                    let (file, outside, factor) = match value.get_ref().as_table() {
                        None => (value, Outside::Hold, Some(1.0)),
                        Some(table) => {
                            tree::only(table, "an input", &["file", "outside", "unit", "psd"])?;
                            let file = need(table, "file", value.span(), "an input", "file = \"record.csv\"")?;
                            (file, outside(table)?, unit(table)?)
                        }
                    };
                    let path = tree::string(file, "the file of an input")?;
                    let text = InputText { name: name.to_string(), outside, factor, random: None };
                    let full = self.data_file(&path);
                    if is_record(&full) && factor != Some(1.0) {
                        return Err(SetupError::new(
                            "the unit of an .AT2 record is in its header, and it is read in m/s²",
                        )
                        .at(value.span(), "leave `unit` out")
                        .into());
                    }
                    let table = text.read(&full).map_err(|e| Failure::in_file(e, file))?;
                    self.description.inputs.push((tree::name(key), Arc::new(table)));
                    text
                }
            };
            self.inputs.push(text);
        }
        Ok(())
    }

    /// An input that is known by its spectral density, and its seed.
    fn random(&mut self, name: &str, table: &DeTable, span: Span) -> Result<(InputText, u64), Failure> {
        tree::only(table, "a random input", &["psd", "duration", "seed", "interpolation", "unit", "outside"])?;
        let psd = need(table, "psd", span.clone(), "a random input", EXAMPLE)?;
        let duration = need(table, "duration", span, "a random input", EXAMPLE)?;
        let seconds = tree::float(duration).filter(|x| *x > 0.0 && x.is_finite()).ok_or_else(|| {
            SetupError::new("the duration of a random input is a positive number").at(duration.span(), "not one")
        })?;
        let seed = match get(table, "seed") {
            None => 1,
            Some(value) => tree::float(value)
                .filter(|x| x.fract() == 0.0 && *x >= 0.0 && *x < 9e15)
                .map(|x| x as u64)
                .ok_or_else(|| SetupError::new("a seed is a whole number").at(value.span(), "not one"))?,
        };
        let is_log = match get(table, "interpolation") {
            None => false,
            Some(value) => match value.get_ref().as_str() {
                Some("linear") => false,
                Some("log") => true,
                _ => {
                    return Err(SetupError::new("between its corners a density is interpolated")
                        .at(value.span(), "\"linear\" (the default) or \"log\", straight in a plot of logarithms")
                        .into());
                }
            },
        };
        let factor = unit(table)?.unwrap_or(1.0);
        let (corners, places) = self.corners(name, psd)?;
        let scaled = corners.into_iter().map(|(f, s)| (f, s * factor * factor)).collect();
        let psd = Psd::new(scaled, is_log).map_err(|(k, why)| {
            let place = places.get(k).cloned().unwrap_or_else(|| psd.span());
            SetupError::new(format!("the density of `{name}` cannot be used: {why}"))
                .at(place, "this corner")
                .help("corners are [frequency in Hz, density in squares of the unit per Hz]; a frequency given twice is a jump")
        })?;
        let random = Some(Random { psd, duration: seconds });
        Ok((InputText { name: name.to_string(), outside: outside(table)?, factor: Some(factor), random }, seed))
    }

    /// The corners of a density, from a list or a file of two columns, and their places.
    #[allow(clippy::type_complexity)]
    fn corners(&mut self, name: &str, value: &Value) -> Result<(Vec<(f64, f64)>, Vec<Span>), Failure> {
        if let Some(path) = value.get_ref().as_str() {
            let path = self.data_file(path);
            let pairs = inputs::pairs(&path, name, false).map_err(|e| Failure::in_file(e, value))?;
            return Ok((pairs, Vec::new()));
        }
        let bad = |span: Span| SetupError::new("a density is a list of corners, or a file").at(span, EXAMPLE);
        let list = value.get_ref().as_array().ok_or_else(|| bad(value.span()))?;
        let (mut corners, mut places) = (Vec::new(), Vec::new());
        for corner in list.iter() {
            let pair = corner.get_ref().as_array().filter(|pair| pair.len() == 2);
            let numbers = pair.and_then(|pair| Some((tree::float(&pair[0])?, tree::float(&pair[1])?)));
            corners.push(numbers.ok_or_else(|| bad(corner.span()))?);
            places.push(corner.span());
        }
        Ok((corners, places))
    }
}

impl InputText {
    /// The table in a file, in the unit of the model.
    fn read(&self, path: &Path) -> Result<Table, FileError> {
        if is_record(path) {
            return records::at2(path, &self.name, self.outside).map(|(table, _)| table);
        }
        let table = inputs::table(path, &self.name, self.outside, self.factor)?;
        let Some(factor) = self.factor.filter(|factor| *factor != 1.0) else { return Ok(table) };
        let (x, y) = table.points();
        let scaled = y.iter().map(|y| factor * y).collect();
        Table::new(table.name(), x.to_vec(), scaled, table.outside())
            .map_err(|e| FileError::whole(&path.display().to_string(), SetupError::new(e)))
    }
}

fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("at2"))
}

impl ModelFile {
    /// The model with another file in place of that of an input (`seed:3`: another realisation of its density). `base` is where
    /// files are. Gives the words by which the same is asked for again, with the file carried along.
    pub fn replace_input(&mut self, name: &str, word: &str, base: &Path) -> Result<(String, String), FileError> {
        let whole = |error: SetupError| FileError::whole(&self.name, error);
        let Some(k) = self.inputs.iter().position(|input| input.name == name) else {
            let known = self.inputs.iter().map(|input| input.name.as_str());
            let message = format!("the model has no input `{name}` to be replaced");
            return Err(whole(SetupError::unknown(message, name, known, "its inputs are")));
        };
        let input = &self.inputs[k];
        let (table, again) = match (word.strip_prefix("seed:"), &input.random) {
            (Some(seed), Some(random)) => {
                let number = seed.trim().parse::<u64>().map_err(|_| {
                    whole(SetupError::new(format!("`{seed}` is no seed")).help("a seed is a whole number: seed:3"))
                })?;
                let made = random.table(name, number, input.outside);
                (made.map_err(|why| whole(SetupError::new(why)))?, word.to_string())
            }
            (Some(_), None) => {
                let message = format!("the input `{name}` is a file: it has no seed");
                return Err(whole(SetupError::new(message).help("a random input has a `psd`: docs/structures.md")));
            }
            (None, _) => {
                let path: PathBuf = base.join(word);
                // (What the unit is said of is the file of the model, and any other table; a record has its own.)
                let plain = InputText {
                    factor: if input.random.is_some() { Some(1.0) } else { input.factor },
                    ..input.clone()
                };
                let table = plain.read(&path)?;
                let ending = path.extension().map_or("csv".into(), |e| e.to_string_lossy().to_ascii_lowercase());
                let carried = format!("input-{name}.{ending}");
                self.files.retain(|(n, _)| *n != carried);
                self.files.push((carried.clone(), path));
                (table, carried)
            }
        };
        if let Some(entry) = self.description.inputs.iter_mut().find(|(n, _)| n.text == name) {
            entry.1 = Arc::new(table);
        }
        Ok((name.to_string(), again))
    }
}

fn outside(table: &DeTable) -> Result<Outside, SetupError> {
    let Some(value) = get(table, "outside") else { return Ok(Outside::Hold) };
    match value.get_ref().as_str() {
        Some("hold") => Ok(Outside::Hold),
        Some("zero") => Ok(Outside::Zero),
        _ => Err(SetupError::new("`outside` says what an input is beyond its data")
            .at(value.span(), "\"hold\" (the end value) or \"zero\"")),
    }
}

/// The factor to m/s² of an acceleration in another unit; None where values are taken as they are.
fn unit(table: &DeTable) -> Result<Option<f64>, SetupError> {
    let Some(value) = get(table, "unit") else { return Ok(Some(1.0)) };
    match value.get_ref().as_str() {
        Some("m/s2") => Ok(Some(1.0)),
        Some("g") => Ok(Some(9.80665)),
        Some("cm/s2" | "gal") => Ok(Some(0.01)),
        Some("as is") => Ok(None),
        _ => Err(SetupError::new("`unit` is that of an acceleration in the file; it is turned into m/s²")
            .at(value.span(), "\"g\", \"cm/s2\", \"gal\", \"m/s2\" or \"as is\"")),
    }
}
