//! `[[constraint]]`: gaps, guides, and what the stops of a structure have besides.

use super::members::Member;
use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use saltus::model::{ConstraintText, Name, Text};
use saltus::structure::Hole;
use saltus::{SetupError, Span};
use toml::de::DeTable;

impl Reader<'_> {
    pub(super) fn constraints(&mut self, value: &Value) -> Result<(), Failure> {
        let list = tree::sections(value, "constraints are written as [[constraint]] sections", "")?;
        for (k, value) in list.into_iter().enumerate() {
            let example = "[[constraint]]\n  name = \"floor\"\n  gap = \"y\"";
            let table = tree::table(value, "a constraint", example)?;
            let known = [
                "name",
                "for",
                "gap",
                "restitution",
                "friction",
                "slip",
                "static",
                "tangential",
                "point",
                "within",
                "centre",
                "group",
                "stiffness",
                "hertz",
                "damping",
                "slide",
            ];
            tree::only(table, "a constraint", &known)?;
            for member in Member::all(table, "")? {
                self.constraint(table, value.span(), k, &member)?;
            }
        }
        Ok(())
    }

    fn constraint(&mut self, table: &DeTable, span: Span, k: usize, member: &Member) -> Result<(), Failure> {
        let gaps = self.gaps(table, span, member)?;
        let named = get(table, "name").map(|n| tree::string(n, "the name of a constraint").map(|s| (s, n.span())));
        let (name, span) = named.transpose()?.unwrap_or((format!("constraint {}", k + 1), gaps[0].1.span.clone()));
        let restitution = get(table, "restitution").map(|e| tree::text(self.text, e, "a restitution")).transpose()?;
        let friction = self.friction(table)?;
        let keys = ["stiffness", "hertz", "damping", "slide", "centre", "group"];
        let spring = keys.iter().find_map(|key| get(table, key));
        if let (Some(key), false) = (spring, self.has_structure) {
            return Err(SetupError::new(
                "stiffness, hertz, damping, slide, centre and group are for the stops of a structure",
            )
            .at(key.span(), "no [structure] in this model")
            .into());
        }
        let soft = get(table, "stiffness").or(get(table, "hertz"));
        if let (Some(v), Some(_)) = (get(table, "hertz"), get(table, "stiffness")) {
            return Err(SetupError::new("a stop has a `stiffness` or that of Hertz' law, not both")
                .at(v.span(), "the second")
                .into());
        }
        if let (Some(v), None) = (get(table, "damping"), soft) {
            return Err(SetupError::new("damping at a stop stands beside a stiffness: a rigid stop has none")
                .at(v.span(), "has no effect")
                .help("give the stop a `stiffness` or `hertz`, or a `restitution` instead")
                .into());
        }
        if let (Some(e), Some(_)) = (get(table, "restitution"), soft) {
            return Err(SetupError::new(
                "a stop with a stiffness pushes with a force: restitution has no effect on it",
            )
            .at(e.span(), "beside a stiffness")
            .help("leave one of the two out")
            .into());
        }
        let names: Vec<String> = gaps.iter().map(|(side, _)| member.name(&format!("{name}{side}"))).collect();
        self.stop(table, &names, member)?;
        // A stop with a stiffness needs no restitution: it pushes back.
        let elastic = soft.map(|v| Text { text: "0".into(), span: v.span() });
        let restitution = restitution.or(elastic).map(|e| member.filled(e));
        // (A family that is written out has its numbers already.)
        let range = if member.is_one() { None } else { self.range(table)? };
        for ((_, gap), name) in gaps.into_iter().zip(names) {
            self.description.constraints.push(ConstraintText {
                name: Name { text: name, span: span.clone() },
                range: range.clone(),
                gap,
                restitution: restitution.clone(),
                friction: friction.clone(),
            });
        }
        Ok(())
    }

    /// The gap of a constraint, or the two of a guide: `point = "tip"`, `within = 0.01`.
    fn gaps(&self, table: &DeTable, span: Span, member: &Member) -> Result<Vec<(&'static str, Text)>, Failure> {
        let (gap, point, within) = (get(table, "gap"), get(table, "point"), get(table, "within"));
        let is_hole = point.is_some_and(|point| point.get_ref().as_array().is_some());
        if let Some(centre) = get(table, "centre").filter(|_| !is_hole) {
            return Err(SetupError::new("a `centre` is that of a round hole")
                .at(centre.span(), "has no effect")
                .help("a hole has two points and a clearance:  point = [\"y\", \"z\"], within = 2e-4")
                .into());
        }
        match (gap, point, within) {
            (Some(gap), None, None) => Ok(vec![("", member.filled(tree::text(self.text, gap, "a gap")?))]),
            (None, Some(point), Some(within)) if point.get_ref().as_array().is_some() => {
                if !self.has_structure {
                    return Err(SetupError::new("two points `within` a distance are a round hole in a [structure]")
                        .at(point.span(), "no [structure] in this model")
                        .help("write the gap itself, such as  gap = \"0.01 - sqrt(y^2 + z^2)\"")
                        .into());
                }
                let half = member.filled(tree::text(self.text, within, "the clearance of a hole")?);
                let names = self.around(point, member)?;
                let centre = match get(table, "centre") {
                    None => ["0".to_string(), "0".to_string()],
                    Some(centre) => self.centre(centre, member)?,
                };
                let gap = Hole::gap(&half.text, [&names[0].0, &names[1].0], [&centre[0], &centre[1]]);
                Ok(vec![("", Text { text: gap, span: within.span() })])
            }
            (None, Some(point), Some(within)) => {
                let what = member.fill(&tree::string(point, "the point of a guide")?);
                if !what.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    return Err(SetupError::new(format!("`{what}` is not the name of a point"))
                        .at(point.span(), "a name is needed here")
                        .help("for combinations of points write two constraints with a `gap` each")
                        .into());
                }
                let half = member.filled(tree::text(self.text, within, "the clearance of a guide")?);
                // The texts are ours: the place to look at is the clearance.
                let side = |text: String| Text { text, span: within.span() };
                Ok(vec![
                    ("-", side(format!("({}) + ({what})", half.text))),
                    ("+", side(format!("({}) - ({what})", half.text))),
                ])
            }
            (None, None, None) => {
                need(table, "gap", span, "a constraint", "gap = \"y\"")?;
                Ok(Vec::new())
            }
            _ => Err(SetupError::new(
                "a constraint has a `gap`, or a `point` that stays `within` a distance of zero on both sides",
            )
            .at(span, "not one of the two")
            .help("gap = \"0.01 - tip\"   or   point = \"tip\", within = 0.01   or, a round hole,   point = [\"y\", \"z\"], within = 0.01")
            .into()),
        }
    }

    /// The two points that a round hole surrounds.
    pub(super) fn around(&self, value: &Value, member: &Member) -> Result<[(String, Span); 2], Failure> {
        let bad = |why: &str, span: Span| -> Failure {
            SetupError::new(why)
                .at(span, "two names are needed here")
                .help("a round hole:  point = [\"y\", \"z\"], within = 2e-4;  a guide:  point = \"y\", within = 2e-4")
                .into()
        };
        let list = tree::list(value);
        let &[first, second] = &list[..] else {
            return Err(bad("a round hole surrounds two points, the displacements across it", value.span()));
        };
        let mut names = [first, second].map(|v| (v, String::new()));
        for (v, name) in &mut names {
            *name = member.fill(&tree::string(v, "a point of a hole")?);
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Err(bad(&format!("`{name}` is not the name of a point"), v.span()));
            }
        }
        if names[0].1 == names[1].1 {
            return Err(bad("a round hole surrounds two different points", second.span()));
        }
        Ok(names.map(|(v, name)| (name, v.span())))
    }

    /// The centre of a round hole: two numbers.
    fn centre(&self, value: &Value, member: &Member) -> Result<[String; 2], Failure> {
        let list = value.get_ref().as_array().filter(|list| list.len() == 2).ok_or_else(|| {
            SetupError::new("the `centre` of a round hole is two numbers")
                .at(value.span(), "where its middle is, in terms of its two points")
                .help("such as  centre = [1e-4, 0]")
        })?;
        let text = |v: &Value| tree::text(self.text, v, "the centre of a hole").map(|t| member.filled(t).text);
        Ok([text(&list[0])?, text(&list[1])?])
    }
}
