//! The sections of a structure, read: files at once, numbers as expressions.

use super::super::members::Member;
use super::super::tree::{self, Value};
use super::super::{Failure, Reader, get, need};
use super::{DampingText, Kind, KindName, Matrices, PartText};
use crate::matrix;
use saltus::linalg::{Skew, Symmetric};
use saltus::{SetupError, Span};
use std::sync::Arc;
use toml::de::DeTable;

/// The symmetric part of a matrix, the antisymmetric one if there is any, and labels of the rows.
type Parts = (Symmetric, Option<Skew>, Option<Vec<String>>);

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

impl Reader<'_> {
    /// A number of the structure becomes a setting of the description, under this key.
    pub(super) fn number(&mut self, key: String, value: &Value, what: &str) -> Result<(), Failure> {
        let text = tree::text(self.text, value, what)?;
        self.description.settings.push((key, text));
        Ok(())
    }

    /// The same of a member of a family.
    pub(super) fn member_number(
        &mut self,
        member: &Member,
        key: String,
        value: &Value,
        what: &str,
    ) -> Result<(), Failure> {
        let text = member.filled(tree::text(self.text, value, what)?);
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
            .chain([
                "kind",
                "name",
                "ends",
                "mass",
                "stiffness",
                "damping",
                "direction",
                "unsymmetric",
                "nodes",
                "masses",
                "stiffnesses",
            ])
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
            None => vec!["mass", "stiffness", "direction", "unsymmetric", "nodes"],
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
        let unsymmetric = match get(table, "unsymmetric") {
            Some(value) => value
                .get_ref()
                .as_bool()
                .ok_or_else(|| SetupError::new("`unsymmetric` is true or false").at(value.span(), "neither"))?,
            None => false,
        };
        let (mass, _, masses) = self.matrix(mass_at, "the mass matrix", false)?;
        let (stiffness, circulatory, stiffnesses) = self.matrix(stiffness_at, "the stiffness matrix", unsymmetric)?;
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
        let (damping, gyroscopic) = match get(table, "damping").filter(|v| v.get_ref().is_str()) {
            Some(value) => {
                let (matrix, skew, _) = self.matrix(value, "the damping matrix", unsymmetric)?;
                sized("the damping matrix", &matrix, value)?;
                (Some(matrix), skew)
            }
            None => (None, None),
        };
        if let Some(value) = get(table, "unsymmetric").filter(|_| unsymmetric)
            && gyroscopic.is_none()
            && circulatory.is_none()
        {
            return Err(SetupError::new("`unsymmetric` has no effect: damping and stiffness are symmetric")
                .at(value.span(), "nothing is unsymmetric")
                .help("leave it out, or look whether these are the right files")
                .into());
        }
        let direction = match get(table, "direction") {
            Some(v) => Some(self.direction(v)?.resolve(n, v.span())?),
            None => None,
        };
        let nodes = match get(table, "nodes") {
            Some(value) => {
                let file = tree::string(value, "the file of nodes")?;
                let path = self.data_file(&file);
                matrix::nodes(&path, n).map_err(|e| Failure::in_file(e, value))?
            }
            None => Vec::new(),
        };
        let name = |v: &Value| v.get_ref().as_str().unwrap_or_default().to_string();
        let files = format!("the matrices `{}` and `{}`", name(mass_at), name(stiffness_at));
        Ok(Matrices { mass, stiffness, damping, gyroscopic, circulatory, direction, nodes, files })
    }

    /// Reads a matrix, which must be square, and symmetric unless it may have an antisymmetric part: both parts, and labels of rows.
    fn matrix(&mut self, value: &Value, what: &str, unsymmetric: bool) -> Result<Parts, Failure> {
        let file = tree::string(value, what)?;
        let path = self.data_file(&file);
        let here = |e| Failure::in_file(e, value);
        let read = matrix::read(&path, what).map_err(here)?;
        if unsymmetric {
            matrix::square(&read, &path, what).map_err(here)?;
            let (symmetric, skew) = Skew::split(read.rows, &read.entries);
            // What is only rounding is none.
            let largest = read.entries.iter().fold(0.0_f64, |m, e| m.max(e.2.abs()));
            return Ok((symmetric, skew.filter(|a| 2.0 * a.largest() > 1e-9 * largest), read.labels));
        }
        matrix::symmetric(&read, &path, what).map_err(here)?;
        Ok((Symmetric::new(read.rows, read.entries), None, read.labels))
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
}
