//! Points, loads, the base, the start and the stops of a structure, read.

use super::super::members::Member;
use super::super::tree::{self, Value};
use super::super::{Failure, Reader, get, need};
use super::{LoadText, PointText, StartText, StopText};
use crate::matrix;
use saltus::SetupError;
use saltus::model::{CoordinateText, Inertia, Name, Text, Values};
use toml::de::DeTable;

const PLACES: [&str; 6] = ["x", "dof", "floor", "rotation", "from", "to"];

/// Places of another kind than a number.
const SUMS: [&str; 4] = ["dofs", "weights", "base_shear", "direction"];

impl Reader<'_> {
    pub(in crate::model_file) fn points(&mut self, value: &Value) -> Result<(), Failure> {
        let example = "tip = { x = 1.0 }";
        for (key, value) in tree::entries(tree::table(value, "[points]", example)?) {
            let Some(table) = value.get_ref().as_table() else {
                let k = self.structure.as_ref().map_or(0, |s| s.points.len());
                self.number(format!("point{k}.dof"), value, "a degree of freedom")?;
                self.add_point(
                    tree::name(key),
                    PointText { of: None, keys: vec!["dof"], direction: None, span: value.span() },
                );
                continue;
            };
            let known: Vec<&str> = PLACES.into_iter().chain(SUMS).chain(["of", "for"]).collect();
            tree::only(table, "a point", &known)?;
            let name = tree::name(key);
            let members = self.members(table, &name)?;
            for member in members {
                let k = self.structure.as_ref().map_or(0, |s| s.points.len());
                let mut point = PointText { of: None, keys: Vec::new(), direction: None, span: value.span() };
                for place in PLACES {
                    if let Some(v) = get(table, place) {
                        point.keys.push(place);
                        self.member_number(&member, format!("point{k}.{place}"), v, "a place")?;
                    }
                }
                for (key, lists) in [("dofs", true), ("weights", true), ("base_shear", false)] {
                    let Some(v) = get(table, key) else { continue };
                    point.keys.push(key);
                    if lists && v.get_ref().as_array().is_none_or(|list| list.is_empty()) {
                        return Err(SetupError::new(format!("`{key}` is a list, one entry per degree of freedom"))
                            .at(v.span(), "not a list")
                            .help("such as  { dofs = [4, 7], weights = [0.5, 0.5] }")
                            .into());
                    }
                    if !lists && v.get_ref().as_bool() != Some(true) {
                        return Err(SetupError::new("`base_shear` is true, or left out")
                            .at(v.span(), "not true")
                            .into());
                    }
                    for (i, v) in tree::list(v).iter().enumerate().filter(|_| lists) {
                        self.member_number(&member, format!("point{k}.{key}.{i}"), v, "a number of a point")?;
                    }
                }
                if let Some(v) = get(table, "direction") {
                    if !point.keys.contains(&"base_shear") {
                        let error = SetupError::new("`direction` belongs to a point that is a base shear");
                        return Err(error.at(v.span(), "along what the shear is").into());
                    }
                    point.direction = Some((self.direction(v)?, v.span()));
                }
                if let Some(v) = get(table, "of") {
                    point.of = Some((member.fill(&tree::string(v, "the name of a part")?), v.span()));
                }
                self.add_point(Name { text: member.fill(&name.text), span: name.span.clone() }, point);
            }
        }
        Ok(())
    }

    /// The members of a family of points or loads, whose names need `{i}`.
    fn members(&self, table: &DeTable, name: &Name) -> Result<Vec<Member>, Failure> {
        let members = Member::all(table, &name.text)?;
        match get(table, "for") {
            Some(range) if members.iter().all(|m| !m.is_one() || m.fill(&name.text) == name.text) => {
                Err(SetupError::new("a family needs its index in the name")
                    .at(range.span(), format!("`{}` has none", name.text))
                    .help("such as  \"s{i}\" = { for = \"i = 1..4\", x = \"0.2*{i}\" }")
                    .into())
            }
            _ => Ok(members),
        }
    }

    /// A further point.
    fn add_point(&mut self, name: Name, point: PointText) {
        self.structure.get_or_insert_default().points.push(point);
        let zero = || Values::One(Text { text: "0".into(), span: name.span.clone() });
        let (position, velocity) = (zero(), zero());
        self.description.coordinates.push(CoordinateText { name, range: None, position, velocity });
    }

    pub(in crate::model_file) fn loads(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[loads]", "tip = \"F*sin(w*t)\"")?) {
            let name = tree::name(key);
            let (members, value) = match value.get_ref().as_table() {
                Some(table) if get(table, "vector").is_some() => {
                    self.load_vector(table, value)?;
                    continue;
                }
                Some(table) => {
                    tree::only(table, "a load", &["for", "value", "vector", "of"])?;
                    if let Some(of) = get(table, "of") {
                        let error = SetupError::new("`of` belongs to a load with a `vector`");
                        return Err(error.at(of.span(), "the point says on which part it is").into());
                    }
                    let example = "\"s{i}\" = { for = \"i = 1..4\", value = \"F*sin(w*t)\" }";
                    (self.members(table, &name)?, need(table, "value", value.span(), "a load", example)?)
                }
                None => (vec![Member::default()], value),
            };
            for member in members {
                self.description.signals.push(member.filled(tree::text(self.text, value, "a load")?));
                let load = LoadText::Point(member.fill(&name.text), name.span.clone());
                self.structure.get_or_insert_default().loads.push(load);
            }
        }
        Ok(())
    }

    /// A load that is a vector of forces times a function of time.
    fn load_vector(&mut self, table: &DeTable, value: &Value) -> Result<(), Failure> {
        tree::only(table, "a load with a vector", &["vector", "value", "of"])?;
        let example = "wave = { vector = \"b.npy\", value = \"sin(w*t)\" }";
        let file = need(table, "vector", value.span(), "a load", example)?;
        let factor = need(table, "value", value.span(), "a load with a vector", example)?;
        let path = self.data_file(&tree::string(file, "a file with a vector")?);
        let forces = matrix::vector(&path, "the vector of loads", None).map_err(|e| Failure::in_file(e, file))?;
        let of = get(table, "of").map(|v| tree::string(v, "the name of a part").map(|s| (s, v.span()))).transpose()?;
        self.description.signals.push(tree::text(self.text, factor, "a load")?);
        let load = LoadText::Vector(forces, of, file.span());
        self.structure.get_or_insert_default().loads.push(load);
        Ok(())
    }

    pub(in crate::model_file) fn start(&mut self, value: &Value) -> Result<(), Failure> {
        let table = tree::table(value, "[start]", "velocity = -1.0")?;
        let keys = ["displacement", "velocity", "equilibrium", "displacements", "velocities"];
        tree::only(table, "[start]", &keys)?;
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
        let mut shapes = [None, None];
        for (shape, (key, one)) in
            shapes.iter_mut().zip([("displacements", "displacement"), ("velocities", "velocity")])
        {
            let Some(v) = get(table, key) else { continue };
            if let Some(other) = get(table, one) {
                return Err(SetupError::new(format!("the start has both `{one}` and `{key}`"))
                    .at(other.span(), "of everything, or of each degree of freedom?")
                    .into());
            }
            let path = self.data_file(&tree::string(v, "a file with a vector")?);
            let read = matrix::vector(&path, &format!("the {key} of the start"), None);
            *shape = Some(read.map_err(|e| Failure::in_file(e, v))?);
        }
        let moved = ["displacement", "displacements"].iter().find_map(|key| get(table, key));
        if let (true, Some(v)) = (equilibrium, moved) {
            return Err(SetupError::new("a start in equilibrium has its own displacements")
                .at(v.span(), "has no effect beside `equilibrium`")
                .into());
        }
        self.structure.get_or_insert_default().start = Some(StartText { equilibrium, shapes });
        Ok(())
    }

    /// What a constraint of a structure has besides its gap: a spring, and what slides along it.
    pub(in crate::model_file) fn stop(
        &mut self,
        table: &DeTable,
        names: &[String],
        member: &Member,
    ) -> Result<(), Failure> {
        let at = self.structure.as_ref().map_or(0, |s| s.stops.len());
        let numbers = [
            ("stiffness", "the stiffness of a stop"),
            ("hertz", "the stiffness of Hertz' law"),
            ("damping", "the damping of a stop"),
            ("friction", "a coefficient of friction"),
        ];
        for k in 0..names.len() {
            for (key, what) in numbers {
                if let Some(v) = get(table, key).filter(|_| self.has_structure) {
                    self.member_number(member, format!("stop{}.{key}", at + k), v, what)?;
                }
            }
        }
        let around = match get(table, "point").filter(|v| v.get_ref().as_array().is_some()) {
            Some(point) => Some(self.around(point, member)?),
            None => None,
        };
        if let Some(list) = get(table, "centre").and_then(|v| v.get_ref().as_array()).filter(|_| around.is_some()) {
            for (i, v) in list.iter().enumerate() {
                self.member_number(member, format!("stop{at}.centre.{i}"), v, "the centre of a hole")?;
            }
        }
        let group = match get(table, "group") {
            Some(v) => Some(member.fill(&tree::string(v, "the name of a group of stops")?)),
            None => None,
        };
        if group.as_ref().is_some_and(|g| g.trim().is_empty()) {
            let span = get(table, "group").map_or(0..0, Value::span);
            return Err(SetupError::new("a group of stops needs a name").at(span, "empty").into());
        }
        let slides = match get(table, "slide") {
            Some(v) => tree::list(v)
                .into_iter()
                .map(|v| Ok((member.fill(&tree::string(v, "what slides")?), v.span())))
                .collect::<Result<Vec<_>, SetupError>>()?,
            None => Vec::new(),
        };
        let most = if get(table, "friction").is_some() && around.is_none() { 2 } else { 1 };
        if slides.len() > most {
            let span = get(table, "slide").map_or(0..0, Value::span);
            let error = SetupError::new(match around {
                Some(_) => "around a hole something slides already: one point more may slide along it",
                None => "one point slides along a stop, with friction in space two",
            });
            return Err(error.at(span, format!("{} points", slides.len())).into());
        }
        let stops = &mut self.structure.get_or_insert_default().stops;
        stops.extend(names.iter().map(|name| StopText {
            name: name.clone(),
            slides: slides.clone(),
            around: around.clone(),
            group: group.clone(),
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
