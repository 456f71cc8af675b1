//! Model files: TOML in, [`Description`] and run defaults out. The format is described in `docs/model-files.md`.

mod constraint;
mod draw;
mod input;
mod structure;
mod tree;

use crate::{FileError, read};
use saltus::model::{CoordinateText, DefinitionText, Description, ForceText, Inertia, Name, Text, Values};
use saltus::scheme::{self, Forcing, Scheme};
use saltus::{Problem, SetupError, Span, Structure};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use structure::StructureText;
use toml::de::DeTable;
use tree::{Key, Value};

/// A model text of more than this is not written by hand, and expressions of this size are not wanted either.
const LIMIT: u64 = 4 << 20;

/// A model file, read and parsed but not yet understood.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// Its name as given.
    pub name: String,
    /// Its text.
    pub text: String,
    description: Description,
    structure: Option<StructureText>,
    run: RunDefaults,
}

/// What a model file describes.
#[derive(Clone, Debug)]
pub enum System {
    /// Coordinates, energies and gaps.
    Problem(Box<Problem>),
    /// Constant matrices, loads and stops.
    Structure(Box<Structure>),
}

/// What `[run]` says; the command line overrides it.
#[derive(Clone, Debug, Default)]
pub struct RunDefaults {
    /// The scheme.
    pub scheme: Option<&'static Scheme>,
    /// The time step.
    pub step: Option<f64>,
    /// The end time.
    pub end: Option<f64>,
    /// Every how many steps an instant is stored.
    pub every: Option<u64>,
    /// How the force enters.
    pub forcing: Option<Forcing>,
    /// The tolerance of the event-driven engine.
    pub tolerance: Option<f64>,
    /// The θ of Moreau–Jean.
    pub theta: Option<f64>,
    /// The activation γ of Moreau–Jean.
    pub activation: Option<f64>,
    /// The stiffness of the penalty scheme.
    pub stiffness: Option<f64>,
    /// For structures: how many modes.
    pub modes: Option<f64>,
    /// For structures: whether the modes left out lend their flexibility to the stops.
    pub residual: bool,
    /// For structures: touches nearer than this are one shock.
    pub rest: Option<f64>,
}

/// The numbers of a run: expressions of parameters, in `[run]` or on the command line.
pub const RUN_NUMBERS: [&str; 8] = ["step", "end", "tolerance", "theta", "activation", "stiffness", "modes", "rest"];

/// Options of the command line stand in no file: their spans lie beyond the end of any.
const BEYOND: usize = usize::MAX / 2;

impl ModelFile {
    /// Reads a model file.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let text = read::text(path, "model file", LIMIT)?;
        let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::parse(&path.display().to_string(), &text, &base)
    }

    /// Parses a model text; `base` is where its input files lie.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, FileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader {
            text,
            base: base.to_path_buf(),
            description: Description::default(),
            structure: None,
            has_structure: false,
            has_coordinates: false,
            run: RunDefaults::default(),
        };
        match reader.read() {
            Ok(()) => Ok(ModelFile {
                name: name.to_string(),
                text: text.to_string(),
                description: reader.description,
                structure: reader.structure,
                run: reader.run,
            }),
            Err(Failure::Here(error)) => {
                Err(FileError { name: name.to_string(), text: text.to_string(), error: Box::new(error) })
            }
            Err(Failure::Elsewhere(error)) => Err(error),
        }
    }

    /// Understands, compiles and checks the model, with parameters replaced as in `name=value`.
    pub fn problem(&self, overrides: &[(String, String)]) -> Result<(Problem, RunDefaults), FileError> {
        self.problem_with(overrides, &[])
    }

    /// The same, with numbers of the run (see [`RUN_NUMBERS`]) given as expressions that replace those of `[run]`.
    pub fn problem_with(
        &self,
        overrides: &[(String, String)],
        numbers: &[(&str, String)],
    ) -> Result<(Problem, RunDefaults), FileError> {
        match self.system(overrides, numbers)? {
            (System::Problem(problem), defaults) => Ok((*problem, defaults)),
            (System::Structure(_), _) => Err(FileError::whole(
                &self.name,
                SetupError::new("this is a structure, and what was asked for is there for models of energies only")
                    .help("structures have `saltus run`, `check`, `compare` and `converge`"),
            )),
        }
    }

    /// Whether it describes a structure.
    pub fn is_structure(&self) -> bool {
        self.structure.is_some()
    }

    /// Understands, compiles and checks what the file describes.
    pub fn system(
        &self,
        overrides: &[(String, String)],
        numbers: &[(&str, String)],
    ) -> Result<(System, RunDefaults), FileError> {
        let mut description = self.description.clone();
        description.overrides = overrides.to_vec();
        for (key, text) in numbers {
            description.settings.retain(|(k, _)| k != key);
            let text = Text { text: text.clone(), span: BEYOND..BEYOND + text.len() };
            description.settings.push((key.to_string(), text));
        }
        let here = |mut error: SetupError| {
            if error.span.as_ref().is_some_and(|s| s.start >= BEYOND) {
                error.span = None;
                error.message = format!("in an option of the command: {}", error.message);
            }
            FileError { name: self.name.clone(), text: self.text.clone(), error: Box::new(error) }
        };
        let model = description.build().map_err(here)?;
        let mut defaults = self.run.clone();
        for (key, value, span) in &model.settings {
            let slot = match key.as_str() {
                "step" => &mut defaults.step,
                "end" => &mut defaults.end,
                "tolerance" => &mut defaults.tolerance,
                "theta" => &mut defaults.theta,
                "activation" => &mut defaults.activation,
                "stiffness" => &mut defaults.stiffness,
                "modes" => &mut defaults.modes,
                "rest" => &mut defaults.rest,
                _ => continue,
            };
            if !(*value > 0.0) && !["theta", "activation"].contains(&key.as_str()) {
                let error = SetupError::new(format!("the {key} of a run must be a positive number, not {value}"));
                return Err(here(error.at(span.clone(), "must be > 0")));
            }
            *slot = Some(*value);
        }
        let system = match &self.structure {
            None => System::Problem(Box::new(Problem::new(model).map_err(here)?)),
            Some(text) => {
                let assembly = text.assemble(model).map_err(here)?;
                let whole = |e: SetupError| if e.span.is_some() { e } else { e.at(text.place(), "this structure") };
                System::Structure(Box::new(Structure::new(assembly).map_err(|e| here(whole(e)))?))
            }
        };
        Ok((system, defaults))
    }

    /// SHA-256 of the text, in hexadecimal.
    pub fn hash(&self) -> String {
        Sha256::digest(self.text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.description.title
    }
}

/// A mistake in the model's text, or in a file that it names.
enum Failure {
    Here(SetupError),
    Elsewhere(FileError),
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        Failure::Here(error)
    }
}

struct Reader<'a> {
    text: &'a str,
    base: PathBuf,
    description: Description,
    structure: Option<StructureText>,
    has_structure: bool,
    has_coordinates: bool,
    run: RunDefaults,
}

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
                Some(span) => error.at(span, "here").help(
                    "texts and expressions stand in double quotes (a velocity x' has the single one), so do names with \
                     letters beyond a to z; obstacles are [[constraint]] sections; docs/model-files.md shows the format",
                ),
                None => error,
            }
        })?;
        let root = root.get_ref();
        tree::only(
            root,
            "the model file",
            &[
                "title",
                "source",
                "parameters",
                "inputs",
                "coordinates",
                "definitions",
                "dynamics",
                "constraint",
                "impact",
                "run",
                "exact",
                "structure",
                "points",
                "loads",
                "base",
                "start",
                "draw",
                "units",
            ],
        )?;
        self.has_structure = get(root, "structure").is_some();
        self.has_coordinates = ["coordinates", "dynamics", "exact"].iter().any(|key| get(root, key).is_some());
        for (key, value) in tree::entries(root) {
            match key.get_ref().as_ref() {
                "title" => self.description.title = tree::string(value, "the title")?,
                "source" => drop(tree::string(value, "the source")?),
                "parameters" => self.parameters(value)?,
                "inputs" => self.inputs(value)?,
                "coordinates" => self.coordinates(value)?,
                "definitions" => self.definitions(value)?,
                "dynamics" => self.dynamics(key, value)?,
                "constraint" => self.constraints(value)?,
                "impact" => self.impact(value)?,
                "structure" => self.structure(value)?,
                "points" => self.points(value)?,
                "loads" => self.loads(value)?,
                "base" => self.base(value)?,
                "start" => self.start(value)?,
                "draw" => self.draw(value)?,
                "units" => self.units(value)?,
                "exact" => self.description.exact = self.by_coordinate(value, "[exact]", "y = \"1 - t\"")?,
                _ => self.run(value)?,
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
                self.description.units.push((tree::name(key), tree::string(unit, "a unit")?));
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
            let Name { text, span } = tree::name(key);
            let target = Text { span: tree::inside(self.text, &text, span), text };
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

    fn run(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[run]", "step = 1e-3")?;
        let known: Vec<&str> = RUN_NUMBERS.into_iter().chain(["scheme", "every", "forcing", "residual"]).collect();
        tree::only(table, "[run]", &known)?;
        for (key, value) in tree::entries(table) {
            let here = |mut error: SetupError| {
                error.span = Some(value.span());
                error.label = "not known".into();
                Failure::Here(error)
            };
            match key.get_ref().as_ref() {
                "scheme" => self.run.scheme = Some(scheme::find(&tree::string(value, "the scheme")?).map_err(here)?),
                "forcing" => {
                    self.run.forcing = Some(Forcing::find(&tree::string(value, "the forcing")?).map_err(here)?);
                }
                "residual" => {
                    let truth = value.get_ref().as_bool();
                    self.run.residual = truth
                        .ok_or_else(|| SetupError::new("`residual` is true or false").at(value.span(), "a switch"))?;
                }
                "every" => {
                    let whole =
                        value.get_ref().as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
                    let Some(every) = whole.filter(|&n| n > 0) else {
                        return Err(SetupError::new("`every` must be a positive whole number")
                            .at(value.span(), "every how many steps an instant is stored")
                            .into());
                    };
                    self.run.every = Some(every);
                }
                name => {
                    let text = tree::text(self.text, value, "a step or an end time")?;
                    self.description.settings.push((name.to_string(), text));
                }
            }
        }
        Ok(())
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
