//! Names in print: x[2] with a subscript, theta as θ, single letters in italics.

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

/// The name of a coordinate, with a prime for its velocity.
pub fn name(name: &str, prime: bool) -> Text {
    let (stem, index) = match name.split_once('[') {
        Some((stem, rest)) => (stem, rest.trim_end_matches(']')),
        None => (name, ""),
    };
    // In x_rel and y2 the part after the letter is a subscript.
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
    if prime {
        text = text.then("′", false, 0);
    }
    if !index.is_empty() {
        text = text.then(index, index.chars().count() == 1 && !index.starts_with(|c: char| c.is_ascii_digit()), -1);
    }
    text
}

/// The name without its index, which all members of a family share.
pub fn family(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &Text) -> String {
        let mark = |shift| if shift < 0 { "_" } else { "" };
        text.parts.iter().map(|p| format!("{}{}", mark(p.shift), p.text)).collect()
    }

    #[test]
    fn names_have_subscripts_and_greek_letters() {
        assert_eq!(shown(&name("x[12]", false)), "x_12");
        assert_eq!(shown(&name("theta1", true)), "θ′_1");
        assert_eq!(shown(&name("y", true)), "y′");
        assert_eq!(shown(&name("x_rel", false)), "x_rel");
        assert_eq!(shown(&name("height", false)), "height");
        assert!(name("y", false).parts[0].italic && !name("height", false).parts[0].italic);
        for odd in ["", "_", "[", "x[", "2", "__a", "x[1][2]"] {
            assert!(!name(odd, true).parts.is_empty());
        }
    }
}
