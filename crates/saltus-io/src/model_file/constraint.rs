//! `[[constraint]]`: gaps, guides, and what the stops of a structure have besides.

use super::members::Member;
use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use saltus::model::{ConstraintText, Name, Text};
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
        let keys = ["stiffness", "hertz", "damping", "slide"];
        let spring = keys.iter().find_map(|key| get(table, key));
        if let (Some(key), false) = (spring, self.has_structure) {
            return Err(SetupError::new("stiffness, hertz, damping and slide are for the stops of a structure")
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
        match (gap, point, within) {
            (Some(gap), None, None) => Ok(vec![("", member.filled(tree::text(self.text, gap, "a gap")?))]),
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
            .help("gap = \"0.01 - tip\"   or   point = \"tip\", within = 0.01")
            .into()),
        }
    }
}
