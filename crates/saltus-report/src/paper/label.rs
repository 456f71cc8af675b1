//! Names of a model as a paper would print them: x[2] with an index, theta as θ, one letter slanted.

use super::sheet::Text;

const GREEK: [(&str, &str); 23] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("th", "θ"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("phi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("Omega", "Ω"),
    ("Phi", "Φ"),
];

/// The name of a coordinate; `dash` for its velocity.
pub fn name(name: &str, dash: bool) -> Text {
    let (stem, index) = match name.split_once('[') {
        Some((stem, rest)) => (stem, rest.trim_end_matches(']')),
        None => (name, ""),
    };
    // x_rel, y2: what follows the letter is an index.
    let (stem, index) = match (stem.split_once('_'), index) {
        (Some((stem, under)), "") if !stem.is_empty() => (stem, under),
        (None, "") => {
            let letters = stem.trim_end_matches(|c: char| c.is_ascii_digit());
            if letters.is_empty() { (stem, "") } else { (letters, &stem[letters.len()..]) }
        }
        _ => (stem, index),
    };
    let stem = GREEK.iter().find(|(word, _)| *word == stem).map_or(stem, |(_, letter)| letter);
    let mut text = Text::default().then(stem, stem.chars().count() == 1, 0);
    if dash {
        text = text.then("′", false, 0);
    }
    if !index.is_empty() {
        text = text.then(index, index.chars().count() == 1 && !index.starts_with(|c: char| c.is_ascii_digit()), -1);
    }
    text
}

/// The name without its index: what a family shares.
pub fn family(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &Text) -> String {
        let mark = |shift| if shift < 0 { "_" } else { "" };
        text.parts.iter().map(|p| format!("{}{}", mark(p.shift), p.text)).collect()
    }

    #[test]
    fn names_as_in_print() {
        assert_eq!(said(&name("x[12]", false)), "x_12");
        assert_eq!(said(&name("theta1", true)), "θ′_1");
        assert_eq!(said(&name("y", true)), "y′");
        assert_eq!(said(&name("x_rel", false)), "x_rel");
        assert_eq!(said(&name("height", false)), "height");
        assert!(name("y", false).parts[0].italic && !name("height", false).parts[0].italic);
        for odd in ["", "_", "[", "x[", "2", "__a", "x[1][2]"] {
            assert!(!name(odd, true).parts.is_empty());
        }
    }
}
