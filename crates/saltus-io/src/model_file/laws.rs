//! `[states]`, `[[joint]]`, `[[friction]]`, and the friction of a `[[constraint]]`.

use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use saltus::SetupError;
use saltus::model::{FrictionText, JointText, Name, SliderText, StateText, Text, Unit};
use toml::de::{DeTable, DeValue};

/// How friction is written, in both of its forms.
const HOW: &str = "dry friction of known limit is  [[friction]]  slip = \"x'\", limit = \"Fc\";  at a constraint it is in its \
                   [[constraint]]:  friction = \"mu\", slip = \"x'\"";

impl Reader<'_> {
    /// `p = { start = "p0", rate = "(q_in - c*x)/V" }`
    pub(super) fn states(&mut self, value: &Value) -> Result<(), Failure> {
        let example = "p = { start = 0.0, rate = \"(u - p)/tau\" }";
        for (key, value) in tree::entries(tree::table(value, "[states]", example)?) {
            let table = tree::table(value, "a state", example)?;
            tree::only(table, "a state", &["for", "start", "rate", "unit"])?;
            let start = need(table, "start", value.span(), "a state", example)?;
            let rate = need(table, "rate", value.span(), "a state", example)?;
            if let Some(unit) = get(table, "unit") {
                self.description.units.push(Unit { name: tree::name(key), unit: tree::string(unit, "a unit")? });
            }
            self.description.states.push(StateText {
                name: tree::name(key),
                range: self.range(table)?,
                start: tree::values(self.text, start, "an initial value")?,
                rate: tree::text(self.text, rate, "a rate")?,
            });
        }
        Ok(())
    }

    /// `[[joint]]  name = "pin",  equation = "x^2 + y^2 - L^2"` or a list of equations.
    pub(super) fn joints(&mut self, value: &Value) -> Result<(), Failure> {
        let example = "[[joint]]\n  name = \"pin\"\n  equation = \"x^2 + y^2 - L^2\"";
        for (k, value) in tree::sections(
            value,
            "joints are written as [[joint]] sections",
            "[[joint]]  equation = \"x^2 + y^2 - L^2\"",
        )?
        .into_iter()
        .enumerate()
        {
            let table = tree::table(value, "a joint", example)?;
            tree::only(table, "a joint", &["name", "for", "equation"])?;
            let equation = need(table, "equation", value.span(), "a joint", example)?;
            let joint = JointText {
                name: self.name_of(table, value, &format!("joint {}", k + 1))?,
                range: self.range(table)?,
                equations: self.one_or_more(equation, "an equation")?,
            };
            self.description.joints.push(joint);
        }
        Ok(())
    }

    /// `[[friction]]  name = "bearing",  slip = "x'",  limit = "Fc",  static = "Fs"`: dry friction of known limit.
    pub(super) fn sliders(&mut self, value: &Value) -> Result<(), Failure> {
        let example = "[[friction]]\n  slip = \"x'\"\n  limit = \"Fc\"";
        let sections = tree::sections(value, "dry friction is written in [[friction]] sections", HOW)?;
        for (k, value) in sections.into_iter().enumerate() {
            let table = tree::table(value, "friction", example)?;
            tree::only(table, "[[friction]]", &["name", "for", "slip", "limit", "static"])?;
            let slip = need(table, "slip", value.span(), "[[friction]]", example)?;
            let limit = need(table, "limit", value.span(), "[[friction]]", example)?;
            let slider = SliderText {
                name: self.name_of(table, value, &format!("friction {}", k + 1))?,
                range: self.range(table)?,
                slip: tree::text(self.text, slip, "a slip velocity")?,
                limit: tree::text(self.text, limit, "the limit of friction")?,
                static_limit: get(table, "static")
                    .map(|v| tree::text(self.text, v, "the limit while sticking"))
                    .transpose()?,
            };
            self.description.sliders.push(slider);
        }
        Ok(())
    }

    /// The friction of a constraint: `friction = "mu"`, `slip = "x' + r*theta'"` (two in space), `static`, `tangential`.
    pub(super) fn friction(&self, table: &DeTable) -> Result<Option<FrictionText>, Failure> {
        let Some(coefficient) = get(table, "friction") else {
            for key in ["slip", "static", "tangential"] {
                if let Some(alone) = get(table, key) {
                    return Err(SetupError::new(format!("`{key}` belongs to the friction of a constraint"))
                        .at(alone.span(), "there is no `friction` here")
                        .help("friction = \"mu\", slip = \"x'\"")
                        .into());
                }
            }
            return Ok(None);
        };
        if self.has_structure {
            // Its coefficient and its points are those of the stop: see `structure::places`.
            for key in ["slip", "static", "tangential"] {
                if let Some(other) = get(table, key) {
                    return Err(SetupError::new(format!("`{key}` is not supported at the stops of a structure"))
                        .at(other.span(), "this model has a [structure]")
                        .help("friction = 0.3, slide = \"along\": the point that slides, or two in space")
                        .into());
                }
            }
            let is_hole = get(table, "point").is_some_and(|v| v.get_ref().as_array().is_some());
            if get(table, "slide").is_none() && !is_hole {
                return Err(SetupError::new("friction needs the point that slides along the stop")
                    .at(coefficient.span(), "no `slide` in this constraint")
                    .help("slide = \"along\"   or, in space,   slide = [\"along\", \"across\"]")
                    .into());
            }
            return Ok(None);
        }
        let Some(slip) = get(table, "slip") else {
            return Err(SetupError::new("friction needs the velocity with which the surfaces slide")
                .at(coefficient.span(), "no `slip` in this constraint")
                .help("slip = \"x' + r*theta'\"   or, in space,   slip = [\"x'\", \"y'\"]")
                .into());
        };
        let text = |key: &str, what: &str| get(table, key).map(|v| tree::text(self.text, v, what)).transpose();
        Ok(Some(FrictionText {
            coefficient: tree::text(self.text, coefficient, "a coefficient of friction")?,
            static_coefficient: text("static", "a coefficient of friction")?,
            slips: self.one_or_more(slip, "a slip velocity")?,
            tangential: text("tangential", "a tangential restitution")?,
        }))
    }

    fn name_of(&self, table: &DeTable, value: &Value, otherwise: &str) -> Result<Name, Failure> {
        Ok(match get(table, "name") {
            Some(name) => Name { text: tree::string(name, "a name")?, span: name.span() },
            None => Name { text: otherwise.to_string(), span: value.span() },
        })
    }

    /// One expression, or a list of them.
    fn one_or_more(&self, value: &Value, what: &str) -> Result<Vec<Text>, Failure> {
        match value.get_ref() {
            DeValue::Array(list) => {
                Ok(list.iter().map(|v| tree::text(self.text, v, what)).collect::<Result<_, _>>()?)
            }
            _ => Ok(vec![tree::text(self.text, value, what)?]),
        }
    }
}
