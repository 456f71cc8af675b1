//! The sections of a structure, read: files at once, numbers as expressions.

use super::super::tree::{self, Value};
use super::super::{Failure, Reader, get, need};
use super::{DampingText, Kind, KindName, LoadText, Matrices, PartText, PointText, StartText, StopText};
use crate::matrix;
use saltus::linalg::Symmetric;
use saltus::model::{CoordinateText, Inertia, Name, Text, Values};
use saltus::{SetupError, Span};
use std::sync::Arc;
use toml::de::DeTable;

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

    pub(in crate::model_file) fn structure(&mut self, value: &Value) -> Result<(), Failure> {
        for value in tree::list(value) {
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
        let fits: Vec<&str> = match kind {
            Some(KindName::Building) => vec!["masses", "stiffnesses"],
            Some(KindName::Beam) => NUMBERS.into_iter().chain(["ends", "mass"]).collect(),
            Some(KindName::Differences) => NUMBERS.into_iter().chain(["ends"]).collect(),
            Some(KindName::Bar) => NUMBERS.into_iter().filter(|n| *n != "inertia").chain(["ends", "mass"]).collect(),
            None => vec!["mass", "stiffness", "direction"],
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
                    SetupError::new(format!("`{key}` must be a list, one entry per floor"))
                        .at(value.span(), "not a list")
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
        let direction = match get(table, "direction") {
            Some(v) => Some(self.direction(v, n)?),
            None => None,
        };
        let name = |v: &Value| v.get_ref().as_str().unwrap_or_default().to_string();
        let files = format!("the matrices `{}` and `{}`", name(mass_at), name(stiffness_at));
        Ok(Matrices { mass, stiffness, damping, direction, files })
    }

    /// Reads a matrix; it must be square and symmetric.
    fn matrix(&mut self, value: &Value, what: &str) -> Result<(Symmetric, Option<Vec<String>>), Failure> {
        let file = tree::string(value, what)?;
        let path = self.data_file(&file);
        let here = |e| Failure::in_file(e, value);
        let read = matrix::read(&path, what).map_err(here)?;
        matrix::symmetric(&read, &path, what).map_err(here)?;
        Ok((Symmetric::new(read.rows, read.entries), read.labels))
    }

    /// Which degrees of freedom move with the base: all, a list of them, every so many, or a file with weights.
    fn direction(&mut self, value: &Value, n: usize) -> Result<Vec<f64>, Failure> {
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
            let path = self.data_file(word);
            let read = matrix::read(&path, "the direction of the base").map_err(|e| Failure::in_file(e, value))?;
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
        let what = "damping = { rayleigh = [a, b] }, { ratio = 0.02, between = [f1, f2] } or { modal = 0.02 }";
        if value.get_ref().is_str() {
            if get(table, "kind").is_some_and(|v| v.get_ref().as_str() != Some("matrices")) {
                return Err(SetupError::new("a damping matrix belongs to matrices from files")
                    .at(value.span(), "a file")
                    .help(what)
                    .into());
            }
            return Ok(DampingText::Matrix);
        }
        let inner = tree::table(value, "damping", what)?;
        tree::only(inner, "damping", &["rayleigh", "ratio", "between", "modal"])?;
        let pair = |v: &Value| v.get_ref().as_array().is_some_and(|l| l.len() == 2);
        let numbers = |reader: &mut Self, v: &Value, key: &str| -> Result<usize, Failure> {
            let list = tree::list(v);
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

    pub(in crate::model_file) fn points(&mut self, value: &Value) -> Result<(), Failure> {
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

    pub(in crate::model_file) fn loads(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[loads]", "tip = \"F*sin(w*t)\"")?) {
            let text = tree::text(self.text, value, "a load")?;
            self.description.signals.push(text);
            let Name { text, span } = tree::name(key);
            self.structure.get_or_insert_default().loads.push(LoadText::Point(text, span));
        }
        Ok(())
    }

    pub(in crate::model_file) fn base(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[base]", "acceleration = \"ag(t)\"")?;
        tree::only(table, "[base]", &["acceleration"])?;
        let acceleration = need(table, "acceleration", value.span(), "[base]", "acceleration = \"ag(t)\"")?;
        self.description.signals.push(tree::text(self.text, acceleration, "the acceleration of the base")?);
        self.structure.get_or_insert_default().loads.push(LoadText::Base(acceleration.span()));
        Ok(())
    }

    pub(in crate::model_file) fn start(&mut self, value: &Value) -> Result<(), Failure> {
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
    pub(in crate::model_file) fn stop(&mut self, table: &DeTable, names: &[String]) -> Result<(), Failure> {
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
    pub(in crate::model_file) fn close_structure(&mut self) -> Result<(), Failure> {
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
            return Err(SetupError::new("the structure has no points to record")
                .at(structure.parts[0].span.clone(), "which displacements?")
                .help("add  [points]  with, for example,  tip = { x = 1.0 }  or  top = { dof = 12 }")
                .into());
        }
        self.description.inertia =
            Some(Inertia::Kinetic(Text { text: "0".into(), span: structure.parts[0].span.clone() }));
        Ok(())
    }
}
