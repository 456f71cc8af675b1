//! `[[draw]]` and `[units]`: how a model looks, and what its axes say.

use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use saltus::SetupError;
use saltus::model::{DrawText, Look, ShapeKind, Text, Unit};
use toml::de::DeTable;

const SHAPES: [&str; 5] = ["point", "segment", "circle", "polygon", "text"];
const EXAMPLE: &str = "[[draw]]\n  circle = [\"x\", \"y\"]\n  radius = 0.1";

impl Reader<'_> {
    pub(super) fn draw(&mut self, value: &Value) -> Result<(), Failure> {
        for value in tree::sections(value, "shapes are written as [[draw]] sections", EXAMPLE)? {
            let shape = self.shape(value)?;
            self.description.draw.push(shape);
        }
        Ok(())
    }

    fn shape(&self, value: &Value) -> Result<DrawText, SetupError> {
        let table = tree::table(value, "a drawing", EXAMPLE)?;
        let allowed: Vec<&str> = SHAPES.into_iter().chain(["at", "radius", "for", "look", "constraint"]).collect();
        tree::only(table, "[[draw]]", &allowed)?;
        let (name, given) = which(table, value)?;
        let (kind, points) = match name {
            "point" => (ShapeKind::Point, vec![self.place(given)?]),
            "circle" => (ShapeKind::Circle, vec![self.place(given)?]),
            "segment" => (ShapeKind::Segment, self.places(given, "a segment", 2)?),
            "polygon" => (ShapeKind::Polygon, self.places(given, "a polygon", 3)?),
            _ => {
                let at = need(table, "at", value.span(), "a text", "at = [\"x\", \"y\"]")?;
                (ShapeKind::Text(tree::string(given, "the text of a drawing")?), vec![self.place(at)?])
            }
        };
        let radius = match (get(table, "radius"), name) {
            (_, "circle") => {
                let radius = need(table, "radius", value.span(), "a circle", "radius = 0.1")?;
                Some(tree::text(self.text, radius, "a radius")?)
            }
            (Some(radius), _) => return Err(not_for(radius, "radius", name, "a circle")),
            (None, _) => None,
        };
        if let (Some(at), true) = (get(table, "at"), name != "text") {
            return Err(not_for(at, "at", name, "a text").help(format!("a {name} has its place in `{name}` itself")));
        }
        let constraint = get(table, "constraint").map(|c| tree::named(c, "the name of a constraint")).transpose()?;
        let look = get(table, "look").map(|l| tree::one_of(l, "look", &Look::ALL, Look::name)).transpose()?;
        Ok(DrawText { kind, points, radius, range: self.range(table)?, look, constraint })
    }

    /// `["x", "y"]`.
    fn place(&self, value: &Value) -> Result<[Text; 2], SetupError> {
        let pair = value.get_ref().as_array().map(|list| list.iter().collect::<Vec<_>>());
        match pair.as_deref() {
            Some([x, y]) => Ok([tree::text(self.text, x, "a place")?, tree::text(self.text, y, "a place")?]),
            _ => Err(SetupError::new("a place is a pair, x and y")
                .at(value.span(), "a pair is needed here")
                .help("such as  [\"x\", \"y + 0.1\"]")),
        }
    }

    /// `[["0", "0"], ["x", "y"]]`.
    fn places(&self, value: &Value, what: &str, least: usize) -> Result<Vec<[Text; 2]>, SetupError> {
        let list: Vec<&Value> = value.get_ref().as_array().map(|list| list.iter().collect()).unwrap_or_default();
        if list.len() < least {
            return Err(SetupError::new(format!("{what} needs at least {least} places"))
                .at(value.span(), format!("{} here", list.len()))
                .help("such as  [[\"0\", \"0\"], [\"x\", \"y\"]]"));
        }
        list.into_iter().map(|v| self.place(v)).collect()
    }

    pub(super) fn units(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[units]", "time = \"s\"")?) {
            self.description.units.push(Unit { name: tree::name(key), unit: tree::string(value, "a unit")? });
        }
        Ok(())
    }
}

/// The one shape of a section.
fn which<'a, 't>(table: &'t DeTable<'a>, value: &Value) -> Result<(&'static str, &'t Value<'a>), SetupError> {
    let given: Vec<_> = SHAPES.into_iter().filter_map(|name| get(table, name).map(|v| (name, v))).collect();
    match given.as_slice() {
        [one] => Ok(*one),
        [] => Err(SetupError::new("[[draw]] does not say what to draw")
            .at(value.span(), format!("needs one of {}", SHAPES.join(", ")))
            .help(format!("such as  {EXAMPLE}"))),
        [_, (_, second), ..] => Err(SetupError::new("two shapes in one [[draw]]")
            .at(second.span(), "the second")
            .help("write a [[draw]] section for each shape")),
    }
}

fn not_for(value: &Value, key: &str, name: &str, what: &str) -> SetupError {
    SetupError::new(format!("a {name} has no `{key}`")).at(value.span(), format!("only {what} has"))
}
