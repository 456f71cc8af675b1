//! What to write instead of what people try first.

use saltus::{SetupError, Span};

const FRICTION: &str = "friction at a constraint is in its [[constraint]]:  friction = \"mu\", slip = \"x'\";  dry friction of \
                        known limit is  [[friction]]  slip = \"x'\", limit = \"Fc\"";

const FORCES: &str = "forces are in [dynamics.force], one line for each coordinate, such as  y = \"-c*y'\";  the loads of a structure \
                      are [[loads]]";

/// What to do about a key that is not known, where a guess by its letters would mislead; `allowed` are those that are.
pub fn key(name: &str, allowed: &[&str]) -> Option<String> {
    let is_root = allowed.contains(&"coordinates");
    let plain = name.to_ascii_lowercase();
    let belongs = |section: &str| format!("`{name}` belongs in the section [{section}]");
    Some(match plain.as_str() {
        "friction" | "mu" | "coulomb" | "friction_coefficient" | "mu_s" | "static_friction" => FRICTION.to_string(),
        "forces" | "force" | "damping" | "springs" | "spring" | "gravity" if is_root => FORCES.to_string(),
        "kinetic" | "potential" | "mass" if is_root => belongs("dynamics"),
        "restitution" if is_root => belongs("impact"),
        "states" | "state" if is_root => {
            "first-order states are in the section [states]:  p = { start = 0.0, rate = \"…\" }".into()
        }
        "joints" | "equation" | "equality" if is_root => "joints are [[joint]] sections with an `equation`".into(),
        "step" | "end" | "scheme" | "every" | "tolerance" if is_root => belongs("run"),
        _ => return None,
    })
}

/// A key or a section that is given twice, at its second place.
pub fn twice(text: &str, span: Span) -> SetupError {
    let line = text.get(..span.start).map_or("", |before| before.rsplit('\n').next().unwrap_or_default());
    let name = text.get(span.clone()).unwrap_or_default().trim_matches(['[', ']', ' ', '"']);
    let is_section = line.trim_start().starts_with('[') || text.get(span.clone()).is_some_and(|t| t.starts_with('['));
    let help = match (is_section, name) {
        (true, "constraint" | "draw" | "event" | "loads" | "joint" | "friction") => {
            format!("there can be several of them with double brackets: [[{name}]]")
        }
        (true, _) => format!("put all its lines under the first [{name}]"),
        (false, _) => "remove one of the two".to_string(),
    };
    let what = if is_section { format!("the section [{name}]") } else { format!("`{name}`") };
    SetupError::new(format!("this is not valid TOML: {what} is given twice (duplicate key)"))
        .at(span, "given before")
        .help(help)
}

/// Units that people write behind a number.
const UNITS: [&str; 32] = [
    "s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds", "min", "h", "m", "mm", "cm", "km", "um", "µm",
    "kg", "g", "t", "N", "kN", "Nm", "J", "Pa", "kPa", "MPa", "GPa", "Hz", "rad", "deg", "m/s",
];

/// The number and the unit of a text such as `20 s`.
pub fn with_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_whitespace() || (c.is_alphabetic() && !matches!(c, 'e' | 'E')))?;
    let (number, unit) = (text[..end].trim(), text[end..].trim());
    (number.parse::<f64>().is_ok() && UNITS.contains(&unit)).then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_told_from_expressions() {
        assert_eq!(with_unit("20 s"), Some(("20", "s")));
        assert_eq!(with_unit(" 1e-3m "), Some(("1e-3", "m")));
        for expression in ["20", "2*s", "m", "1e-3", "2 + m", "s 20", "", "e"] {
            assert_eq!(with_unit(expression), None, "{expression}");
        }
    }
}
