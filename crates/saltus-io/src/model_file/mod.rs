//! Model files: TOML in, [`Description`] and run defaults out. The format is described in `docs/model-files.md`.

mod constraint;
mod defaults;
mod draw;
mod events;
mod family;
mod hints;
mod input;
mod laws;
mod members;
mod structure;
mod system;
mod tree;

pub use defaults::RunDefaults;
pub use family::FamilyText;
pub use system::{AnySystem, Changes, Opened};

use crate::{FileError, read};
use saltus::model::{CoordinateText, DefinitionText, Description, ForceText, Inertia, Text, Unit, Values};
use saltus::{SetupError, Span};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use structure::StructureText;
use toml::de::DeTable;
use tree::{Key, Value};

/// A model text of more than this is not written by hand, and expressions of this size are not wanted either.
const LIMIT: u64 = 4 << 20;

/// A model file, read and parsed; its names are not resolved yet.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// Its name as given.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The data files it names, and where they are.
    pub files: Vec<(String, PathBuf)>,
    description: Description,
    structure: Option<StructureText>,
    inputs: Vec<input::InputText>,
    run: defaults::RunText,
}

impl ModelFile {
    /// Reads a model file.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let text = read::text(path, "model file", LIMIT)?;
        let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::parse(&path.display().to_string(), &text, &base)
    }

    /// Parses a model text; `base` is where its data files are.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, FileError> {
        Self::parse_with(name, text, base, &[])
    }

    /// The same where some of the data files that it names, in whatever folder, are elsewhere: given by these names.
    pub(crate) fn parse_with(
        name: &str,
        text: &str,
        base: &Path,
        elsewhere: &[(String, PathBuf)],
    ) -> Result<Self, FileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader { text, base: base.to_path_buf(), elsewhere: elsewhere.to_vec(), ..Reader::default() };
        match reader.read() {
            Ok(()) => Ok(ModelFile {
                name: name.to_string(),
                text: text.to_string(),
                description: reader.description,
                structure: reader.structure,
                inputs: reader.inputs,
                run: reader.run,
                files: reader.files,
            }),
            Err(Failure::Here(error)) => {
                Err(FileError { name: name.to_string(), text: text.to_string(), error: Box::new(error) })
            }
            Err(Failure::Elsewhere(error)) => Err(error),
        }
    }

    /// The files it was read from, as far as there are any: its own and its data.
    pub fn sources(&self) -> impl Iterator<Item = &Path> + Clone {
        std::iter::once(Path::new(&self.name)).chain(self.files.iter().map(|(_, path)| path.as_path()))
    }

    /// Whether it describes a structure.
    pub fn is_structure(&self) -> bool {
        self.structure.is_some()
    }

    /// SHA-256 of the text, in hexadecimal.
    pub fn hash(&self) -> String {
        sha256(self.text.as_bytes())
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.description.title
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.description.parameters.iter().map(|parameter| parameter.name.text.as_str())
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// A mistake in the model's text, or in a file that it names.
enum Failure {
    Here(SetupError),
    Elsewhere(FileError),
}

impl Failure {
    /// A mistake in a file that is named here: this is the place to look at if the file as a whole cannot be used.
    fn in_file(error: FileError, named: &Value) -> Self {
        match error.error.span {
            Some(_) => Failure::Elsewhere(error),
            None => Failure::Here((*error.error).at(named.span(), "named here")),
        }
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        Failure::Here(error)
    }
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    base: PathBuf,
    description: Description,
    structure: Option<StructureText>,
    inputs: Vec<input::InputText>,
    has_structure: bool,
    has_coordinates: bool,
    run: defaults::RunText,
    files: Vec<(String, PathBuf)>,
    /// Data files that are not where their names say.
    elsewhere: Vec<(String, PathBuf)>,
}

/// Reads one section, given its key and its value.
type Section = for<'r, 't, 'k, 'v> fn(&'r mut Reader<'t>, &'k Key<'v>, &'k Value<'v>) -> Result<(), Failure>;

/// What a model file consists of.
const SECTIONS: [(&str, Section); 22] = [
    ("title", |r, _, v| {
        r.description.title = tree::string(v, "the title")?;
        Ok(())
    }),
    ("source", |_, _, v| Ok(tree::string(v, "the source").map(drop)?)),
    ("parameters", |r, _, v| r.parameters(v)),
    ("inputs", |r, _, v| r.inputs(v)),
    ("coordinates", |r, _, v| r.coordinates(v)),
    ("definitions", |r, _, v| r.definitions(v)),
    ("dynamics", |r, k, v| r.dynamics(k, v)),
    ("states", |r, _, v| r.states(v)),
    ("constraint", |r, _, v| r.constraints(v)),
    ("joint", |r, _, v| r.joints(v)),
    ("friction", |r, _, v| r.sliders(v)),
    ("impact", |r, _, v| r.impact(v)),
    ("run", |r, _, v| r.run(v)),
    ("exact", |r, _, v| {
        r.description.exact = r.by_coordinate(v, "[exact]", "y = \"1 - t\"")?;
        Ok(())
    }),
    ("structure", |r, _, v| r.structure(v)),
    ("points", |r, _, v| r.points(v)),
    ("loads", |r, _, v| r.loads(v)),
    ("base", |r, _, v| r.base(v)),
    ("start", |r, _, v| r.start(v)),
    ("draw", |r, _, v| r.draw(v)),
    ("units", |r, _, v| r.units(v)),
    ("event", |r, _, v| r.events(v)),
];

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Failure> {
        if self.text.trim().is_empty() {
            return Err(SetupError::new("the file is empty")
                .help("`saltus new NAME` writes a commented model to start from")
                .into());
        }
        let root = DeTable::parse(self.text).map_err(|e| {
            let error = SetupError::new(format!("this is not valid TOML: {}", e.message().trim()));
            match e.span() {
                Some(span) if e.message().contains("duplicate") => hints::twice(self.text, span),
                Some(span) => error.at(span, "here").help(
                    "texts and expressions are in double quotes (a velocity x' has the single one), so are names with \
                     letters beyond a to z; obstacles are [[constraint]] sections; docs/model-files.md shows the format",
                ),
                None => error,
            }
        })?;
        let root = root.get_ref();
        tree::only(root, "the model file", &SECTIONS.map(|(name, _)| name))?;
        self.has_structure = get(root, "structure").is_some();
        self.has_coordinates = ["coordinates", "dynamics", "exact", "states", "joint", "friction"]
            .iter()
            .any(|key| get(root, key).is_some());
        for (key, value) in tree::entries(root) {
            if let Some((_, read)) = SECTIONS.iter().find(|(name, _)| name == key.get_ref()) {
                read(self, key, value)?;
            }
        }
        if self.description.title.is_empty() {
            self.description.title = "Untitled model".into();
        }
        self.close_structure()
    }

    fn parameters(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[parameters]", "m = 1.0")?) {
            let value = tree::values(self.text, value, "a parameter")?;
            self.description.parameters.push(saltus::model::ParameterText { name: tree::name(key), value });
        }
        Ok(())
    }

    fn coordinates(&mut self, value: &Value) -> Result<(), Failure> {
        let example = "y = { position = 1.0, velocity = 0.0 }";
        for (key, value) in tree::entries(tree::table(value, "[coordinates]", example)?) {
            let table = tree::table(value, "a coordinate", example)?;
            tree::only(table, "a coordinate", &["for", "position", "velocity", "unit"])?;
            let position = need(table, "position", value.span(), "a coordinate", example)?;
            let velocity = match get(table, "velocity") {
                Some(v) => tree::values(self.text, v, "an initial velocity")?,
                None => Values::One(Text { text: "0".into(), span: key.span() }),
            };
            if let Some(unit) = get(table, "unit") {
                self.description.units.push(Unit { name: tree::name(key), unit: tree::string(unit, "a unit")? });
            }
            self.description.coordinates.push(CoordinateText {
                name: tree::name(key),
                range: self.range(table)?,
                position: tree::values(self.text, position, "an initial position")?,
                velocity,
            });
        }
        Ok(())
    }

    fn definitions(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[definitions]", "r = \"hypot(x, y)\"")?) {
            let (range, value) = self.ranged(value, "a definition")?;
            self.description.definitions.push(DefinitionText { name: tree::name(key), range, value });
        }
        Ok(())
    }

    fn dynamics(&mut self, key: &Key, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[dynamics]", "kinetic = \"m*y'^2/2\"")?;
        tree::only(table, "[dynamics]", &["kinetic", "mass", "potential", "force"])?;
        let d = &mut self.description;
        match (get(table, "kinetic"), get(table, "mass")) {
            (Some(_), Some(mass)) => {
                return Err(SetupError::new("the inertia is given twice, as an energy and as a matrix")
                    .at(mass.span(), "give either `kinetic` or `mass`")
                    .into());
            }
            (Some(kinetic), None) => {
                d.inertia = Some(Inertia::Kinetic(tree::text(self.text, kinetic, "the kinetic energy")?));
            }
            (None, Some(mass)) => d.inertia = Some(mass_rows(self.text, mass)?),
            (None, None) => {
                return Err(SetupError::new("[dynamics] has neither `kinetic` nor `mass`")
                    .at(key.span(), "no inertia")
                    .help("give the kinetic energy, kinetic = \"m*y'^2/2\", or the mass matrix, mass = [[\"m\"]]")
                    .into());
            }
        }
        if let Some(potential) = get(table, "potential") {
            d.potential = Some(tree::text(self.text, potential, "the potential energy")?);
        }
        if let Some(force) = get(table, "force") {
            self.description.forces = self.by_coordinate(force, "[dynamics.force]", "y = \"-c*y'\"")?;
        }
        Ok(())
    }

    /// Expressions, each for a coordinate: `y`, `"x[n]"`, or a family with its range.
    fn by_coordinate(&self, value: &Value, section: &str, example: &str) -> Result<Vec<ForceText>, Failure> {
        let mut texts = Vec::new();
        for (key, value) in tree::entries(tree::table(value, section, example)?) {
            let (range, value) = self.ranged(value, "an entry")?;
            let mut target = tree::name(key);
            target.span = tree::inside(self.text, &target.text, target.span);
            texts.push(ForceText { target, range, value });
        }
        Ok(texts)
    }

    fn impact(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[impact]", "restitution = 0.8")?;
        tree::only(table, "[impact]", &["restitution"])?;
        if let Some(e) = get(table, "restitution") {
            self.description.restitution = Some(tree::text(self.text, e, "a restitution")?);
        }
        Ok(())
    }

    /// The path of a data file that the model names.
    fn data_file(&mut self, name: &str) -> PathBuf {
        let moved = self.elsewhere.iter().find(|(n, _)| n == name).map(|(_, path)| path.clone());
        let path = moved.unwrap_or_else(|| self.base.join(name));
        if !self.files.iter().any(|(n, _)| n == name) {
            self.files.push((name.to_string(), path.clone()));
        }
        path
    }

    fn range(&self, table: &DeTable) -> Result<Option<Text>, SetupError> {
        let Some(value) = get(table, "for") else { return Ok(None) };
        tree::string(value, "a range")?;
        Ok(Some(tree::text(self.text, value, "a range")?))
    }

    /// An expression, or `{ for = "i = 1..n", value = "…" }`.
    fn ranged(&self, value: &Value, what: &str) -> Result<(Option<Text>, Text), SetupError> {
        match value.get_ref().as_table() {
            None => Ok((None, tree::text(self.text, value, what)?)),
            Some(table) => {
                tree::only(table, what, &["for", "value"])?;
                let inner = need(table, "value", value.span(), what, "{ for = \"i = 1..n\", value = \"…\" }")?;
                Ok((self.range(table)?, tree::text(self.text, inner, what)?))
            }
        }
    }
}

fn get<'a, 't>(table: &'t DeTable<'a>, key: &str) -> Option<&'t Value<'a>> {
    table.get(key)
}

fn need<'a, 't>(
    table: &'t DeTable<'a>,
    key: &str,
    span: Span,
    what: &str,
    example: &str,
) -> Result<&'t Value<'a>, SetupError> {
    get(table, key).ok_or_else(|| {
        SetupError::new(format!("{what} needs a `{key}`"))
            .at(span, format!("no `{key}` here"))
            .help(format!("such as  {example}"))
    })
}

fn mass_rows(source: &str, value: &Value) -> Result<Inertia, SetupError> {
    let example = "such as  mass = [[\"m1\", \"0\"], [\"0\", \"m2\"]]";
    let bad = |value: &Value, what: &str| {
        SetupError::new(format!("{what} must be a list, not {}", tree::kind(value)))
            .at(value.span(), "a list is needed here")
            .help(example)
    };
    let rows = value.get_ref().as_array().ok_or_else(|| bad(value, "the mass matrix"))?;
    let mut texts = Vec::new();
    for row in rows.iter() {
        let entries = row.get_ref().as_array().ok_or_else(|| bad(row, "a row of the mass matrix"))?;
        texts.push(entries.iter().map(|e| tree::text(source, e, "a mass")).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(Inertia::Mass(texts, value.span()))
}
