//! `[structure]`, `[points]`, `[loads]`, `[base]` and `[start]`: what takes the place of coordinates and energies in the model of a
//! structure.

use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use crate::matrix::{self, SparseMatrix};
use saltus::linalg::Symmetric;
use saltus::model::{CoordinateText, Inertia, Name, Text, Values};
use saltus::structure::bar::{BarMass, bar, building};
use saltus::structure::beam::{End, Section, differences, hermite};
use saltus::structure::{Assembly, Damping, Layout, Load, On, Part, Place, Start};
use saltus::{Model, SetupError, Span};
use std::sync::Arc;
use toml::de::DeTable;

/// A structure as written: files are read, numbers still expressions of parameters (settings of the description).
#[derive(Clone, Debug, Default)]
pub struct StructureText {
    parts: Vec<PartText>,
    points: Vec<PointText>,
    loads: Vec<LoadText>,
    stops: Vec<StopText>,
    start: Option<StartText>,
}

#[derive(Clone, Debug)]
struct PartText {
    name: String,
    kind: Kind,
    /// Words: ends, where the mass sits.
    ends: Vec<(String, Span)>,
    mass: Option<(String, Span)>,
    damping: DampingText,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindName {
    Beam,
    Differences,
    Bar,
    Building,
}

#[derive(Clone, Debug)]
enum Kind {
    Built(KindName),
    Matrices(Arc<Matrices>),
}

#[derive(Clone, Debug)]
struct Matrices {
    mass: Symmetric,
    stiffness: Symmetric,
    damping: Option<Symmetric>,
    direction: Option<Vec<f64>>,
    /// Which files, for messages.
    files: String,
}

#[derive(Clone, Debug)]
enum DampingText {
    None,
    Rayleigh,
    Ratio,
    Modal,
    Matrix,
}

#[derive(Clone, Debug)]
struct PointText {
    of: Option<(String, Span)>,
    keys: Vec<&'static str>,
    span: Span,
}

/// What a constraint has besides its gap; all members of a family share it.
#[derive(Clone, Debug)]
struct StopText {
    name: String,
    spring: bool,
    slide: Option<(String, Span)>,
}

#[derive(Clone, Debug)]
enum LoadText {
    Point(String, Span),
    Base(Span),
}

#[derive(Clone, Debug)]
struct StartText {
    equilibrium: bool,
}

const KINDS: [(&str, KindName); 4] = [
    ("beam", KindName::Beam),
    ("beam-differences", KindName::Differences),
    ("bar", KindName::Bar),
    ("building", KindName::Building),
];

/// Numbers of a part, each an expression of parameters.
const NUMBERS: [&str; 11] = [
    "length",
    "elements",
    "outer",
    "inner",
    "young",
    "density",
    "area",
    "inertia",
    "rigidity",
    "mass_per_length",
    "added_mass",
];

const PLACES: [&str; 6] = ["x", "dof", "floor", "rotation", "from", "to"];

impl Reader<'_> {
    /// A number of the structure becomes a setting of the description, under this key.
    fn number(&mut self, key: String, value: &Value, what: &str) -> Result<(), Failure> {
        let text = tree::text(self.text, value, what)?;
        self.description.settings.push((key, text));
        Ok(())
    }

    pub(super) fn structure(&mut self, value: &Value) -> Result<(), Failure> {
        let list: Vec<&Value> = match value.get_ref().as_array() {
            Some(list) => list.iter().collect(),
            None => vec![value],
        };
        for value in list {
            let table = tree::table(value, "[structure]", "kind = \"beam\"")?;
            let part = self.part(table, value.span())?;
            self.structure.get_or_insert_default().parts.push(part);
        }
        Ok(())
    }

    fn part(&mut self, table: &DeTable, span: Span) -> Result<PartText, Failure> {
        let k = self.structure.as_ref().map_or(0, |s| s.parts.len());
        let known: Vec<&str> = NUMBERS
            .into_iter()
            .chain(["kind", "name", "ends", "mass", "stiffness", "damping", "direction", "masses", "stiffnesses"])
            .collect();
        tree::only(table, "[structure]", &known)?;
        let name = get(table, "name").map(|v| tree::string(v, "the name of a part")).transpose()?.unwrap_or_default();
        let kind = match get(table, "kind") {
            None => None,
            Some(value) => {
                let word = tree::string(value, "the kind of a structure")?;
                let found = KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
                if found.is_none() && word != "matrices" {
                    let names: Vec<&str> = KINDS.iter().map(|(n, _)| *n).chain(["matrices"]).collect();
                    return Err(SetupError::new(format!("there is no kind of structure called `{word}`"))
                        .at(value.span(), "not known")
                        .help(format!("the kinds are: {}", names.join(", ")))
                        .into());
                }
                found
            }
        };
        let fits: &[&str] = match kind {
            Some(KindName::Building) => &["masses", "stiffnesses"],
            Some(KindName::Beam) => &[
                "length",
                "elements",
                "outer",
                "inner",
                "young",
                "density",
                "area",
                "inertia",
                "rigidity",
                "mass_per_length",
                "added_mass",
                "ends",
                "mass",
            ],
            Some(KindName::Differences) => &[
                "length",
                "elements",
                "outer",
                "inner",
                "young",
                "density",
                "area",
                "inertia",
                "rigidity",
                "mass_per_length",
                "added_mass",
                "ends",
            ],
            Some(KindName::Bar) => &[
                "length",
                "elements",
                "outer",
                "inner",
                "young",
                "density",
                "area",
                "rigidity",
                "mass_per_length",
                "added_mass",
                "ends",
                "mass",
            ],
            None => &["mass", "stiffness", "direction"],
        };
        for (key, _) in tree::entries(table) {
            let name: &str = key.get_ref();
            if !fits.contains(&name) && !["kind", "name", "damping"].contains(&name) {
                let what = KINDS.iter().find(|(_, k)| Some(*k) == kind).map_or("matrices", |(n, _)| n);
                return Err(SetupError::new(format!("`{name}` is no key of a structure of kind {what}"))
                    .at(key.span(), "of another kind")
                    .help(format!("it has: {}, name, damping", fits.join(", ")))
                    .into());
            }
        }
        for key in NUMBERS {
            if let Some(value) = get(table, key) {
                self.number(format!("{k}.{key}"), value, &format!("the {key} of a structure"))?;
            }
        }
        for key in ["masses", "stiffnesses"] {
            if let Some(value) = get(table, key) {
                let list = value.get_ref().as_array().ok_or_else(|| {
                    SetupError::new(format!("`{key}` must be a list, one entry a floor")).at(value.span(), "not a list")
                })?;
                for (i, value) in list.iter().enumerate() {
                    self.number(format!("{k}.{key}.{i}"), value, &format!("one of the {key}"))?;
                }
            }
        }
        let ends = match get(table, "ends") {
            None => Vec::new(),
            Some(value) => {
                let list = value.get_ref().as_array().filter(|l| l.len() == 2).ok_or_else(|| {
                    SetupError::new("`ends` names how the two ends are held")
                        .at(value.span(), "two words are needed")
                        .help("such as  ends = [\"clamped\", \"free\"]")
                })?;
                list.iter()
                    .map(|v| Ok((tree::string(v, "an end")?, v.span())))
                    .collect::<Result<Vec<_>, SetupError>>()?
            }
        };
        let (kind, mass) = match kind {
            Some(kind) => {
                let mass = get(table, "mass").map(|v| tree::string(v, "where the mass sits").map(|m| (m, v.span())));
                (Kind::Built(kind), mass.transpose()?)
            }
            None => (Kind::Matrices(Arc::new(self.matrices(table, &span)?)), None),
        };
        let damping = self.damping(table, k)?;
        Ok(PartText { name, kind, ends, mass, damping, span })
    }

    fn matrices(&mut self, table: &DeTable, span: &Span) -> Result<Matrices, Failure> {
        let example = "mass = \"M.mtx\"\n  stiffness = \"K.mtx\"";
        if get(table, "mass").is_none() && get(table, "stiffness").is_none() {
            return Err(SetupError::new("this [structure] has neither a kind nor matrices")
                .at(span.clone(), "nothing to build")
                .help("kind = \"beam\", \"beam-differences\", \"bar\" or \"building\"; or files:  mass = \"M.mtx\", stiffness = \"K.mtx\"")
                .into());
        }
        let mass_at = need(table, "mass", span.clone(), "a structure of matrices", example)?;
        let stiffness_at = need(table, "stiffness", span.clone(), "a structure of matrices", example)?;
        let (mass, masses) = self.matrix(mass_at, "the mass matrix")?;
        let (stiffness, stiffnesses) = self.matrix(stiffness_at, "the stiffness matrix")?;
        if let (Some(a), Some(b)) = (&masses, &stiffnesses)
            && let Some(k) = (0..a.len().max(b.len())).find(|&k| a.get(k) != b.get(k))
        {
            let name = |list: &[String]| list.get(k).map_or("nothing".to_string(), |x| format!("`{x}`"));
            return Err(SetupError::new(format!(
                "the degrees of freedom differ: number {} is {} in the mass matrix and {} in the stiffness matrix",
                k + 1,
                name(a),
                name(b)
            ))
            .at(stiffness_at.span(), "of other nodes")
            .help("export both from the same model; a massless node needs explicit zeros in the mass matrix")
            .into());
        }
        let n = mass.dimension();
        let sized = |what: &str, matrix: &Symmetric, at: &Value| match matrix.dimension() == n {
            true => Ok(()),
            false => {
                Err(SetupError::new(format!("the mass matrix is {n} × {n}, but {what} {0} × {0}", matrix.dimension()))
                    .at(at.span(), "of another size")
                    .help("both belong to the same degrees of freedom: export them from the same model"))
            }
        };
        sized("the stiffness matrix", &stiffness, stiffness_at)?;
        let damping = match get(table, "damping").filter(|v| v.get_ref().is_str()) {
            Some(value) => {
                let (matrix, _) = self.matrix(value, "the damping matrix")?;
                sized("the damping matrix", &matrix, value)?;
                Some(matrix)
            }
            None => None,
        };
        let direction = get(table, "direction").map(|v| self.direction(v, n)).transpose()?;
        let name = |v: &Value| v.get_ref().as_str().unwrap_or_default().to_string();
        let files = format!("the matrices `{}` and `{}`", name(mass_at), name(stiffness_at));
        Ok(Matrices { mass, stiffness, damping, direction, files })
    }

    /// Reads a matrix; it must be square and symmetric.
    fn matrix(&self, value: &Value, what: &str) -> Result<(Symmetric, Option<Vec<String>>), Failure> {
        let file = tree::string(value, what)?;
        let path = self.base.join(&file);
        let here = |e: crate::FileError| match e.error.span {
            Some(_) => Failure::Elsewhere(e),
            None => Failure::Here((*e.error).at(value.span(), "named here")),
        };
        let read: SparseMatrix = matrix::read(&path, what).map_err(here)?;
        matrix::symmetric(&read, &path, what).map_err(here)?;
        Ok((Symmetric::new(read.rows, read.entries), read.labels))
    }

    /// Which degrees of freedom move with the base: all, a list of them, every so many, or a file with weights.
    fn direction(&self, value: &Value, n: usize) -> Result<Vec<f64>, Failure> {
        let bad = |why: String| -> Failure {
            SetupError::new(why)
                .at(
                    value.span(),
                    "\"all\", a list such as [1, 4, 7], { first = 1, every = 3 }, or a file with a vector",
                )
                .into()
        };
        let whole =
            |v: &Value| v.get_ref().as_integer().and_then(|i| usize::from_str_radix(i.as_str(), i.radix()).ok());
        let mut r = vec![0.0; n];
        if let Some(word) = value.get_ref().as_str() {
            if word == "all" {
                return Ok(vec![1.0; n]);
            }
            let path = self.base.join(word);
            let read = matrix::read(&path, "the direction of the base").map_err(|e| match e.error.span {
                Some(_) => Failure::Elsewhere(e),
                None => Failure::Here((*e.error).at(value.span(), "named here")),
            })?;
            if read.rows.max(read.columns) != n || read.rows.min(read.columns) != 1 {
                return Err(bad(format!(
                    "the direction is {} × {}, but there are {n} degrees of freedom",
                    read.rows, read.columns
                )));
            }
            read.entries.iter().for_each(|&(i, j, x)| r[i.max(j)] = x);
            return Ok(r);
        }
        let chosen: Vec<usize> = match (value.get_ref().as_array(), value.get_ref().as_table()) {
            (Some(list), _) => match list.iter().map(whole).collect::<Option<Vec<usize>>>() {
                Some(list) => list,
                None => return Err(bad("a direction is a list of whole numbers, counted from 1".into())),
            },
            (_, Some(table)) => {
                tree::only(table, "a direction", &["first", "every"])?;
                let of = |key: &str| get(table, key).and_then(whole).filter(|&i| i > 0);
                match (of("first"), of("every")) {
                    (Some(first), Some(every)) => (first..=n).step_by(every).collect(),
                    _ => return Err(bad("a direction has a `first` and an `every`, whole numbers from 1".into())),
                }
            }
            _ => return Err(bad("the direction says which degrees of freedom move with the base".into())),
        };
        if chosen.is_empty() {
            return Err(bad(format!("this direction moves none of the {n} degrees of freedom")));
        }
        for i in chosen {
            if !(1..=n).contains(&i) {
                return Err(bad(format!("there is no degree of freedom {i}: they count from 1 to {n}")));
            }
            r[i - 1] = 1.0;
        }
        Ok(r)
    }

    fn damping(&mut self, table: &DeTable, k: usize) -> Result<DampingText, Failure> {
        let Some(value) = get(table, "damping") else { return Ok(DampingText::None) };
        if value.get_ref().is_str() {
            if get(table, "kind").is_some_and(|v| v.get_ref().as_str() != Some("matrices")) {
                return Err(SetupError::new("a damping matrix belongs to matrices from files")
                    .at(value.span(), "a file")
                    .help("damping = { rayleigh = [a, b] }, { ratio = 0.02, between = [f1, f2] } or { modal = 0.02 }")
                    .into());
            }
            return Ok(DampingText::Matrix);
        }
        let what = "damping = { rayleigh = [a, b] }, { ratio = 0.02, between = [f1, f2] } or { modal = 0.02 }";
        let inner = tree::table(value, "damping", what)?;
        tree::only(inner, "damping", &["rayleigh", "ratio", "between", "modal"])?;
        let pair = |v: &Value| v.get_ref().as_array().is_some_and(|l| l.len() == 2);
        let numbers = |reader: &mut Self, v: &Value, key: &str| -> Result<usize, Failure> {
            let list: Vec<&Value> = match v.get_ref().as_array() {
                Some(list) => list.iter().collect(),
                None => vec![v],
            };
            for (i, v) in list.iter().enumerate() {
                reader.number(format!("{k}.{key}.{i}"), v, "a number of the damping")?;
            }
            Ok(list.len())
        };
        match (get(inner, "rayleigh"), get(inner, "ratio"), get(inner, "between"), get(inner, "modal")) {
            (Some(v), None, None, None) if pair(v) => numbers(self, v, "rayleigh").map(|_| DampingText::Rayleigh),
            (None, Some(r), Some(v), None) if pair(v) && !r.get_ref().is_array() => {
                numbers(self, r, "ratio")?;
                numbers(self, v, "between").map(|_| DampingText::Ratio)
            }
            (None, None, None, Some(v)) if v.get_ref().as_array().is_none_or(|l| !l.is_empty()) => {
                numbers(self, v, "modal").map(|_| DampingText::Modal)
            }
            _ => Err(SetupError::new("this damping is not understood")
                .at(value.span(), "not one of three")
                .help(what)
                .into()),
        }
    }

    pub(super) fn points(&mut self, value: &Value) -> Result<(), Failure> {
        let example = "tip = { x = 1.0 }";
        for (key, value) in tree::entries(tree::table(value, "[points]", example)?) {
            let k = self.structure.as_ref().map_or(0, |s| s.points.len());
            let mut point = PointText { of: None, keys: Vec::new(), span: value.span() };
            match value.get_ref().as_table() {
                None => {
                    point.keys.push("dof");
                    self.number(format!("point{k}.dof"), value, "a degree of freedom")?;
                }
                Some(table) => {
                    let known: Vec<&str> = PLACES.into_iter().chain(["of"]).collect();
                    tree::only(table, "a point", &known)?;
                    for place in PLACES {
                        if let Some(v) = get(table, place) {
                            point.keys.push(place);
                            self.number(format!("point{k}.{place}"), v, "a place")?;
                        }
                    }
                    if let Some(v) = get(table, "of") {
                        point.of = Some((tree::string(v, "the name of a part")?, v.span()));
                    }
                }
            }
            self.structure.get_or_insert_default().points.push(point);
            let zero = || Values::One(Text { text: "0".into(), span: key.span() });
            self.description.coordinates.push(CoordinateText {
                name: tree::name(key),
                range: None,
                position: zero(),
                velocity: zero(),
            });
        }
        Ok(())
    }

    pub(super) fn loads(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[loads]", "tip = \"F*sin(w*t)\"")?) {
            let text = tree::text(self.text, value, "a load")?;
            self.description.signals.push(text);
            let Name { text, span } = tree::name(key);
            self.structure.get_or_insert_default().loads.push(LoadText::Point(text, span));
        }
        Ok(())
    }

    pub(super) fn base(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[base]", "acceleration = \"ag(t)\"")?;
        tree::only(table, "[base]", &["acceleration"])?;
        let acceleration = need(table, "acceleration", value.span(), "[base]", "acceleration = \"ag(t)\"")?;
        self.description.signals.push(tree::text(self.text, acceleration, "the acceleration of the base")?);
        self.structure.get_or_insert_default().loads.push(LoadText::Base(acceleration.span()));
        Ok(())
    }

    pub(super) fn start(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[start]", "velocity = -1.0")?;
        tree::only(table, "[start]", &["displacement", "velocity", "equilibrium"])?;
        for key in ["displacement", "velocity"] {
            if let Some(v) = get(table, key) {
                self.number(format!("start.{key}"), v, "a number of the start")?;
            }
        }
        let equilibrium = match get(table, "equilibrium") {
            None => false,
            Some(v) => v.get_ref().as_bool().ok_or_else(|| {
                SetupError::new("`equilibrium` is true or false")
                    .at(v.span(), "start at rest under the loads of t = 0?")
            })?,
        };
        self.structure.get_or_insert_default().start = Some(StartText { equilibrium });
        Ok(())
    }

    /// What a constraint of a structure has besides its gap: a spring, and what slides along it.
    pub(super) fn stop(&mut self, table: &DeTable, names: &[String]) -> Result<(), Failure> {
        let at = self.structure.as_ref().map_or(0, |s| s.stops.len());
        let spring = get(table, "stiffness");
        for k in 0..names.len() {
            if let Some(v) = spring {
                self.number(format!("stop{}.stiffness", at + k), v, "the stiffness of a stop")?;
            }
        }
        let slide = get(table, "slide").map(|v| tree::string(v, "what slides").map(|s| (s, v.span()))).transpose()?;
        let stops = &mut self.structure.get_or_insert_default().stops;
        stops.extend(names.iter().map(|name| StopText {
            name: name.clone(),
            spring: spring.is_some(),
            slide: slide.clone(),
        }));
        Ok(())
    }

    /// All sections are read: those of a structure must fit together.
    pub(super) fn close_structure(&mut self) -> Result<(), Failure> {
        let Some(structure) = &self.structure else { return Ok(()) };
        let of_energies = !self.description.forces.is_empty() || self.description.inertia.is_some();
        if structure.parts.is_empty() {
            // Only constraints have been seen: a model of energies.
            let stray = !structure.points.is_empty() || !structure.loads.is_empty() || structure.start.is_some();
            if stray {
                return Err(SetupError::new("there is no [structure] for these points and loads")
                    .help("add a [structure] section, such as  kind = \"beam\"")
                    .into());
            }
            self.structure = None;
            return Ok(());
        }
        if of_energies || self.has_coordinates {
            return Err(SetupError::new("a model has either a [structure] or [coordinates] and [dynamics], not both")
                .at(structure.parts[0].span.clone(), "a structure")
                .help("the points of a structure are in [points], its loads in [loads]")
                .into());
        }
        for (k, part) in structure.parts.iter().enumerate() {
            if structure.parts[..k].iter().any(|p| p.name == part.name) {
                let what =
                    if part.name.is_empty() { "have no name".into() } else { format!("are called `{}`", part.name) };
                return Err(SetupError::new(format!("two parts of the structure {what}"))
                    .at(part.span.clone(), "the second")
                    .help("points say on which part they are by its name: give each its own")
                    .into());
            }
        }
        if structure.points.is_empty() {
            return Err(SetupError::new("the structure has no points to look at")
                .at(structure.parts[0].span.clone(), "which displacements?")
                .help("add  [points]  with, for example,  tip = { x = 1.0 }  or  top = { dof = 12 }")
                .into());
        }
        self.description.inertia =
            Some(Inertia::Kinetic(Text { text: "0".into(), span: structure.parts[0].span.clone() }));
        Ok(())
    }
}

/// The numbers of a structure, now that parameters are known.
struct Numbers<'a> {
    model: &'a Model,
}

impl Numbers<'_> {
    fn get(&self, key: &str) -> Option<(f64, Span)> {
        self.model.settings.iter().find(|(k, ..)| k == key).map(|(_, x, span)| (*x, span.clone()))
    }

    fn list(&self, key: &str) -> Vec<f64> {
        (0..).map_while(|i| self.get(&format!("{key}.{i}"))).map(|(x, _)| x).collect()
    }

    fn whole(&self, key: &str, least: usize) -> Result<Option<usize>, SetupError> {
        let Some((x, span)) = self.get(key) else { return Ok(None) };
        if x.fract() == 0.0 && x >= least as f64 && x < 1e12 {
            return Ok(Some(x as usize));
        }
        let what = key.rsplit('.').next().unwrap_or(key);
        let from = if least == 0 { "" } else { ", counted from 1" };
        Err(SetupError::new(format!("`{what}` must be a whole number{from}, not {x}")).at(span, "not a count"))
    }
}

impl StructureText {
    /// Where the structure is described, for mistakes of the whole.
    pub fn place(&self) -> Span {
        self.parts.first().map_or(0..0, |p| p.span.clone())
    }

    /// Builds the parts and says where everything is.
    pub fn assemble(&self, model: Model) -> Result<Assembly, SetupError> {
        let numbers = Numbers { model: &model };
        let parts =
            self.parts.iter().enumerate().map(|(k, p)| self.part(p, k, &numbers)).collect::<Result<Vec<_>, _>>()?;
        let points = self
            .points
            .iter()
            .enumerate()
            .map(|(k, p)| self.point(p, k, &parts, &numbers))
            .collect::<Result<Vec<_>, _>>()?;
        let find = |name: &str, span: &Span| {
            model.coordinates.iter().position(|c| c == name).ok_or_else(|| {
                let help = match saltus::nearest(name, model.coordinates.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the points are: {}", model.coordinates.join(", ")),
                };
                SetupError::new(format!("`{name}` is not a point")).at(span.clone(), "not a point").help(help)
            })
        };
        let mut loads = Vec::new();
        for load in &self.loads {
            loads.push(match load {
                LoadText::Point(name, span) => Load::Force(points[find(name, span)?].clone()),
                LoadText::Base(span) => {
                    if let Some(part) = parts.iter().find(|p| p.translation().is_none()) {
                        let name = if part.name.is_empty() { "the matrices" } else { &part.name };
                        return Err(SetupError::new(format!("it is not known which degrees of freedom of {name} move with the base"))
                            .at(span.clone(), "the base moves")
                            .help("add to [structure]  direction = \"all\"  if every degree of freedom is a displacement along the motion, else  direction = { first = 1, every = 3 },  a list, or a file with a vector"));
                    }
                    Load::Base
                }
            });
        }
        // The stop a constraint was written as: itself, or the family it belongs to.
        let written = |name: &str| {
            self.stops.iter().position(|s| {
                name == s.name || name.strip_prefix(s.name.as_str()).is_some_and(|rest| rest.starts_with('['))
            })
        };
        let (mut springs, mut slides) = (Vec::new(), Vec::new());
        for constraint in &model.constraints {
            let Some(k) = written(&constraint.name) else {
                springs.push(None);
                slides.push(None);
                continue;
            };
            let stop = &self.stops[k];
            springs.push(match numbers.get(&format!("stop{k}.stiffness")).filter(|_| stop.spring) {
                Some((k, _)) if k > 0.0 => Some(k),
                Some((k, span)) => {
                    return Err(SetupError::new(format!("the stiffness of a stop must be positive, not {k}"))
                        .at(span, "leave it out for a rigid stop"));
                }
                None => None,
            });
            slides.push(stop.slide.as_ref().map(|(name, span)| find(name, span)).transpose()?);
        }
        let start = self.start.as_ref().map_or_else(Start::default, |s| Start {
            displacement: numbers.get("start.displacement").map_or(0.0, |x| x.0),
            velocity: numbers.get("start.velocity").map_or(0.0, |x| x.0),
            at_equilibrium: s.equilibrium,
        });
        Ok(Assembly { parts, points, loads, springs, slides, start, model })
    }

    fn part(&self, text: &PartText, k: usize, numbers: &Numbers) -> Result<Part, SetupError> {
        let at =
            |error: SetupError| if error.span.is_some() { error } else { error.at(text.span.clone(), "this part") };
        let mut part = match &text.kind {
            Kind::Matrices(m) => Part {
                name: String::new(),
                what: m.files.clone(),
                mass: m.mass.clone(),
                stiffness: m.stiffness.clone(),
                damping: Damping::None,
                layout: Layout::Matrices { direction: m.direction.clone() },
                carried: None,
                is_lumped_body: false,
            },
            Kind::Built(kind) => self.built(text, *kind, k, numbers).map_err(at)?,
        };
        part.name.clone_from(&text.name);
        let list = |key: &str| numbers.list(&format!("{k}.{key}"));
        part.damping = match (&text.damping, &text.kind) {
            (DampingText::Matrix, Kind::Matrices(m)) => m.damping.clone().map_or(Damping::None, Damping::Matrix),
            (DampingText::None | DampingText::Matrix, _) => Damping::None,
            (DampingText::Rayleigh, _) => {
                let ab = list("rayleigh");
                Damping::Rayleigh(ab[0], ab[1])
            }
            (DampingText::Ratio, _) => {
                // ζ = a/2ω + bω/2 at both frequencies.
                let (ratio, f) = (list("ratio")[0], list("between"));
                let (w1, w2) = (std::f64::consts::TAU * f[0], std::f64::consts::TAU * f[1]);
                if !(w1 > 0.0 && w2 > 0.0 && ratio >= 0.0) {
                    return Err(at(SetupError::new(
                        "a damping ratio and the two frequencies (Hz) where it holds must be positive",
                    )));
                }
                Damping::Rayleigh(2.0 * ratio * w1 * w2 / (w1 + w2), 2.0 * ratio / (w1 + w2))
            }
            (DampingText::Modal, _) => Damping::Modal(list("modal")),
        };
        if let Damping::Rayleigh(a, b) = part.damping
            && !(a >= 0.0 && b >= 0.0 && a.is_finite() && b.is_finite())
        {
            return Err(at(SetupError::new(format!("the Rayleigh coefficients {a} and {b} must not be negative"))));
        }
        Ok(part)
    }

    fn built(&self, text: &PartText, kind: KindName, k: usize, numbers: &Numbers) -> Result<Part, SetupError> {
        let key = |name: &str| format!("{k}.{name}");
        if kind == KindName::Building {
            return building(&numbers.list(&key("masses")), &numbers.list(&key("stiffnesses")));
        }
        let want = |name: &str| {
            numbers
                .get(&key(name))
                .map(|x| x.0)
                .ok_or_else(|| SetupError::new(format!("the structure needs a `{name}`")))
        };
        let length = want("length")?;
        let elements = numbers.whole(&key("elements"), 1)?;
        let elements = elements.ok_or_else(|| SetupError::new("the structure needs a number of `elements`"))?;
        let section = section(&want, kind == KindName::Bar)?;
        let end = |i: usize| text.ends.get(i).map(|(word, span)| (word.as_str(), span.clone()));
        let word = |word: &str, span: Span, known: &str| {
            SetupError::new(format!("an end cannot be `{word}`")).at(span, "not known").help(format!("it is {known}"))
        };
        let mass = text.mass.as_ref().map(|(word, span)| (word.as_str(), span.clone()));
        let not_known = |word: &str, span: Span, known: &str| {
            SetupError::new(format!("the mass cannot be `{word}`")).at(span, "not known").help(format!("it is {known}"))
        };
        match kind {
            KindName::Differences => {
                if let Some((_, span)) = text.ends.first() {
                    return Err(SetupError::new("the differences of [V] (3.9) are those of a clamped–free beam")
                        .at(span.clone(), "cannot be chosen")
                        .help("take  kind = \"beam\"  for other ends"));
                }
                differences(length, section, elements)
            }
            KindName::Beam => {
                let ends = ["clamped", "free"];
                let mut held = [End::Free; 2];
                for i in 0..2 {
                    let (name, span) = end(i).unwrap_or((ends[i], text.span.clone()));
                    held[i] = match name {
                        "clamped" => End::Clamped,
                        "pinned" => End::Pinned,
                        "free" => End::Free,
                        "sliding" => End::Sliding,
                        other => return Err(word(other, span, "clamped, pinned, free or sliding")),
                    };
                }
                let lumped = match mass {
                    None | Some(("consistent", _)) => false,
                    Some(("lumped", _)) => true,
                    Some((other, span)) => return Err(not_known(other, span, "consistent or lumped")),
                };
                hermite(length, section, elements, (held[0], held[1]), lumped)
            }
            _ => {
                let mut fixed = [false; 2];
                for i in 0..2 {
                    fixed[i] = match end(i) {
                        None | Some(("free", _)) => false,
                        Some(("fixed", _)) => true,
                        Some((other, span)) => return Err(word(other, span, "free or fixed")),
                    };
                }
                let massless = |left, right| BarMass::Massless { left, right };
                let kind = match mass {
                    None | Some(("lumped", _)) => BarMass::Lumped,
                    Some(("consistent", _)) => BarMass::Consistent,
                    Some(("massless left", _)) => massless(true, false),
                    Some(("massless right", _)) => massless(false, true),
                    Some(("massless both", _)) => massless(true, true),
                    Some((other, span)) => {
                        let known = "lumped, consistent, massless left, massless right or massless both";
                        return Err(not_known(other, span, known));
                    }
                };
                bar(length, section, elements, (fixed[0], fixed[1]), kind)
            }
        }
    }

    fn point(&self, text: &PointText, k: usize, parts: &[Part], numbers: &Numbers) -> Result<On, SetupError> {
        let part = match &text.of {
            Some((name, span)) => parts.iter().position(|p| p.name == *name).ok_or_else(|| {
                let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).filter(|n| !n.is_empty()).collect();
                SetupError::new(format!("there is no part `{name}`"))
                    .at(span.clone(), "not known")
                    .help(format!("the parts are: {}", names.join(", ")))
            })?,
            None if parts.len() > 1 => {
                return Err(SetupError::new("which part is this point on?")
                    .at(text.span.clone(), "there are several")
                    .help("name the parts, and add  of = \"…\"  to the point"));
            }
            None => 0,
        };
        let value = |key: &str| numbers.get(&format!("point{k}.{key}")).map_or(0.0, |x| x.0);
        let whole = |key: &str| numbers.whole(&format!("point{k}.{key}"), 1).map(|x| x.unwrap_or(0));
        let place = match text.keys.as_slice() {
            ["x"] => Place::X(value("x")),
            ["dof"] => Place::Dof(whole("dof")?),
            ["floor"] => Place::Floor(whole("floor")?),
            ["rotation"] => Place::Rotation(value("rotation")),
            ["from", "to"] => Place::Span(value("from"), value("to")),
            _ => {
                return Err(SetupError::new("this is not one place")
                    .at(text.span.clone(), "not understood")
                    .help("a point is one of  { x = … },  { dof = … },  { floor = … },  { rotation = … },  { from = …, to = … }"));
            }
        };
        parts[part].row(&place).map_err(|e| e.at(text.span.clone(), "not there"))?;
        Ok(On { part, place })
    }
}

/// Rigidity and mass per length: given, or from material and section.
fn section(want: &dyn Fn(&str) -> Result<f64, SetupError>, axial: bool) -> Result<Section, SetupError> {
    if let (Ok(rigidity), Ok(mass_per_length)) = (want("rigidity"), want("mass_per_length")) {
        return Ok(Section { rigidity, mass_per_length: mass_per_length + want("added_mass").unwrap_or(0.0) });
    }
    let help = "give  rigidity  and  mass_per_length,  or  young  and  density  with a tube's  outer  and  inner  diameters, or with  area  and (for a beam)  inertia";
    let helped = |e: SetupError| e.help(help);
    let (young, density) = (want("young").map_err(helped)?, want("density").map_err(helped)?);
    let (area, inertia) = match want("outer") {
        Ok(outer) => {
            let inner = want("inner").unwrap_or(0.0);
            if !(inner >= 0.0 && inner < outer) {
                return Err(SetupError::new(format!(
                    "a tube of outer diameter {outer} cannot have the inner one {inner}"
                )));
            }
            Section::tube(outer, inner)
        }
        Err(_) => (want("area").map_err(helped)?, if axial { 0.0 } else { want("inertia").map_err(helped)? }),
    };
    let added = want("added_mass").unwrap_or(0.0);
    Ok(Section { rigidity: young * if axial { area } else { inertia }, mass_per_length: density * area + added })
}
