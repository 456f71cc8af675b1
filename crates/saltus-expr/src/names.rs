//! Names: which are valid, which are reserved, and suggestions for misspelt ones.

use crate::function::{Function1, Function2};

/// Whether a character may start a name.
pub(crate) fn starts_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Whether a character may occur inside a name.
// ASCII digits only: `x²` must not silently become a name.
pub(crate) fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

/// Whether the text is a valid plain identifier: a letter (of any script) or `_`, then letters, digits, `_`.
///
/// ```
/// assert!(saltus_expr::is_name("θ_1"));
/// assert!(!saltus_expr::is_name("2x"));
/// ```
#[must_use]
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

/// How many arguments a built-in function takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arity {
    Exactly(usize),
    AtLeast(usize),
}

impl Arity {
    pub(crate) fn accepts(self, n: usize) -> bool {
        match self {
            Self::Exactly(k) => n == k,
            Self::AtLeast(k) => n >= k,
        }
    }

    /// A phrase to follow the name of a function: "takes 2 arguments".
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::Exactly(1) => "takes 1 argument".into(),
            Self::Exactly(k) => format!("takes {k} arguments"),
            Self::AtLeast(k) => format!("takes {k} or more arguments"),
        }
    }
}

/// The arity of a built-in function; `None` if there is no such function.
pub(crate) fn arity(name: &str) -> Option<Arity> {
    if name == "if" {
        return Some(Arity::Exactly(3));
    }
    if Function1::from_name(name).is_some() {
        return Some(Arity::Exactly(1));
    }
    match Function2::from_name(name)? {
        Function2::Min | Function2::Max => Some(Arity::AtLeast(2)),
        _ => Some(Arity::Exactly(2)),
    }
}

/// The names of all built-in functions, for suggestions.
pub(crate) fn callable() -> impl Iterator<Item = &'static str> {
    Function1::ALL.iter().map(|f| f.name()).chain(Function2::ALL.iter().map(|f| f.name())).chain(["if", "sum"])
}

/// Whether a name is reserved (functions, `pi`, `t`, `sum`, `if`) and cannot name a coordinate or
/// parameter.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    matches!(name, "pi" | "t" | "sum") || arity(name).is_some()
}

/// What to write instead of a function of another language.
pub(crate) fn foreign(name: &str) -> Option<&'static str> {
    Some(match name {
        "ln" | "loge" => "the natural logarithm is `log(x)`",
        "log10" => "write `log(x)/log(10)`",
        "log2" => "write `log(x)/log(2)`",
        "pow" | "power" => "write powers as `a^b`",
        "sqr" | "square" => "write squares as `a^2`",
        "cbrt" => "for x >= 0, write `x^(1/3)`",
        "arctan" | "atg" | "arctg" => "use `atan`",
        "arcsin" => "use `asin`",
        "arccos" => "use `acos`",
        "arctan2" => "use `atan2`",
        "tg" => "use `tan`",
        "sh" => "use `sinh`",
        "ch" => "use `cosh`",
        "th" => "use `tanh`",
        "fabs" => "use `abs`",
        "sgn" | "signum" => "use `sign`",
        "fmod" | "rem" => "use `mod`",
        "fmin" => "use `min`",
        "fmax" => "use `max`",
        "ceil" | "ceiling" => "write `-floor(-x)`",
        "round" => "write `floor(x + 0.5)`",
        "heaviside" | "step" | "H" => "write `if(x >= 0, 1, 0)`",
        "where" | "select" | "piecewise" | "ifelse" => "use `if(condition, a, b)`",
        _ => return None,
    })
}

/// The candidate most similar to a name, for "did you mean"; `None` if none is similar.
///
/// The distance counts insertions, deletions, substitutions and swaps of neighbouring letters.
/// Letter case is ignored.
///
/// ```
/// assert_eq!(saltus_expr::nearest("stifness", ["mass", "stiffness"]), Some("stiffness"));
/// assert_eq!(saltus_expr::nearest("x", ["y", "z"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.to_lowercase().chars().collect();
        let longest = wanted.len().max(other.len());
        let allowed = match longest {
            0..=5 => 1,
            6..=9 => 2,
            _ => 3,
        };
        if wanted.len().abs_diff(other.len()) > allowed || longest > 200 {
            continue;
        }
        let d = distance(&wanted, &other);
        // A distance equal to the length means that no letter agrees.
        if d <= allowed && d < longest && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Damerau–Levenshtein distance (optimal string alignment), with three rows.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut d = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            row[j] = d;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["x", "_", "x1", "θ", "ω_0", "Ünit"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "1x", "x²", "x y", "x'", "x[1]", "x-y"] {
            assert!(!is_name(bad), "{bad}");
        }
        for reserved in ["sin", "pi", "t", "sum", "if", "and", "max"] {
            assert!(is_reserved(reserved), "{reserved}");
        }
        assert!(!is_reserved("x"));
    }

    #[test]
    fn suggestions() {
        assert_eq!(nearest("SIN", ["sinh", "sin"]), Some("sin"));
        assert_eq!(nearest("stifness", ["mass", "stiffness"]), Some("stiffness"));
        assert_eq!(nearest("frequnecy", ["frequency"]), Some("frequency"));
        assert_eq!(nearest("k1", ["k2", "m"]), Some("k2"));
        assert_eq!(nearest("mass", ["stiffness", "x"]), None);
        assert_eq!(nearest("", ["x"]), None);
    }

    #[test]
    fn distances() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("ab", "ba"), 1);
        assert_eq!(d("same", "same"), 0);
    }
}
