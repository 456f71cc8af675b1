//! Text to tokens. Operators of other languages (`**`, `&&`, `×`) are recognised, so that the error can name the right form.

use crate::error::{ExprError, Span};
use crate::names::{continues_name, starts_name};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Number(f64),
    Name,
    /// An operator, bracket or separator.
    Sign(&'static str),
    End,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    /// Bytes of the text, without the offset in the file.
    pub span: Span,
}

/// Signs of the language, longer ones before their prefixes.
const SIGNS: [&str; 20] =
    ["..", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", "'", "=", "\u{2019}"];

/// Signs of other languages, and what to write instead.
const FOREIGN: [(&str, &str); 20] = [
    ("**", "write powers as `a^b`"),
    ("&&", "write `and(a, b)`"),
    ("||", "write `or(a, b)`"),
    ("!", "write `not(a)`"),
    ("&", "write `and(a, b)`"),
    ("|", "write `or(a, b)` for a logical or, `abs(x)` for an absolute value"),
    ("%", "write `mod(a, b)`"),
    ("?", "write `if(condition, a, b)`"),
    ("\u{2212}", "use a plain minus sign, `-`"),
    ("\u{2013}", "use a plain minus sign, `-`"),
    ("\u{d7}", "use `*` for multiplication"),
    ("\u{b7}", "use `*` for multiplication"),
    ("\u{22c5}", "use `*` for multiplication"),
    ("\u{f7}", "use `/` for division"),
    ("\u{b2}", "write `^2`"),
    ("\u{b3}", "write `^3`"),
    ("\u{2032}", "use a plain apostrophe: `y'` is the velocity of `y`"),
    ("\u{2264}", "write `<=`"),
    ("\u{2265}", "write `>=`"),
    ("\u{2260}", "write `!=`"),
];

/// All tokens, followed by one `End`.
pub(crate) fn lex(text: &str) -> Result<Vec<Token>, ExprError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if let (Some(Token { kind: Kind::Name, span }), Some(rest)) = (tokens.last(), rest.strip_prefix('.'))
            && span.end == at
            && rest.starts_with(starts_name)
        {
            return Err(member(text, span.clone(), rest));
        }
        let (kind, length) = if starts_number(rest) {
            number(rest, at)?
        } else if starts_name(c) {
            let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
            (Kind::Name, length)
        } else {
            sign(rest, at)?
        };
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    tokens.push(Token { kind: Kind::End, span: text.len()..text.len() });
    Ok(tokens)
}

/// `np.abs`, `math.pi`: the name after the dot is all that is needed here.
fn member(text: &str, owner: Span, rest: &str) -> ExprError {
    let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
    let name = &rest[..length];
    let whole = owner.start..owner.end + 1 + length;
    let help = match (crate::names::foreign(name), crate::names::is_reserved(name)) {
        (Some(help), _) => help.to_string(),
        (None, true) => format!("write `{name}`"),
        (None, false) => "names have no dots; functions are written alone, such as `abs(x)`".to_string(),
    };
    let shown = if whole.len() <= 40 { &text[whole.clone()] } else { "…" };
    ExprError::new(format!("`{shown}` is not a name: there are no modules here"), whole, "a dot in a name")
        .with_help(help)
}

fn starts_number(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    bytes[0].is_ascii_digit() || (bytes[0] == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit))
}

/// A number at the start of `rest`: digits, a fraction, an exponent.
fn number(rest: &str, at: usize) -> Result<(Kind, usize), ExprError> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    // The first dot in `1..n` belongs to the range.
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let first = end + 1 + signed;
        if bytes.get(first).is_some_and(u8::is_ascii_digit) {
            end = digits(first);
        }
    }
    let span = at..at + end;
    match rest[..end].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Kind::Number(value), end)),
        _ => Err(ExprError::new("this number is too large", span, "exceeds 1.8e308")),
    }
}

fn sign(rest: &str, at: usize) -> Result<(Kind, usize), ExprError> {
    for (foreign, help) in FOREIGN {
        if rest.starts_with(foreign) && !rest.starts_with("!=") {
            return Err(ExprError::new(
                format!("`{foreign}` is not supported"),
                at..at + foreign.len(),
                "not supported",
            )
            .with_help(help));
        }
    }
    for known in SIGNS {
        if rest.starts_with(known) {
            // The typographic apostrophe, which some editors insert, counts as the plain one.
            let kind = Kind::Sign(if known == "\u{2019}" { "'" } else { known });
            return Ok((kind, known.len()));
        }
    }
    let c = rest.chars().next().unwrap_or(' ');
    Err(ExprError::new(
        format!("unexpected character `{}`", c.escape_debug()),
        at..at + c.len_utf8(),
        "not valid in an expression",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        lex(text).unwrap().into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers() {
        for (text, value) in [("1", 1.0), ("1.5", 1.5), (".5", 0.5), ("2.", 2.0), ("1e-3", 1e-3), ("2.5E+6", 2.5e6)] {
            assert_eq!(kinds(text), [Kind::Number(value), Kind::End], "{text}");
        }
        assert_eq!(lex("3 + 1e999").unwrap_err().span, 4..9);
    }

    #[test]
    fn ranges_are_not_fractions() {
        let range = [Kind::Number(1.0), Kind::Sign(".."), Kind::Name, Kind::End];
        assert_eq!(kinds("1..n"), range);
        assert_eq!(kinds("1 .. n"), range);
        assert_eq!(kinds("1..2")[2], Kind::Number(2.0));
        assert_eq!(kinds("1.5..2")[..2], [Kind::Number(1.5), Kind::Sign("..")]);
    }

    #[test]
    fn an_exponent_needs_digits() {
        assert_eq!(kinds("1e"), [Kind::Number(1.0), Kind::Name, Kind::End]);
        assert_eq!(kinds("1e+x")[1], Kind::Name);
    }

    #[test]
    fn foreign_signs_name_the_right_form() {
        for (text, span, help) in [
            ("a ** b", 2..4, "a^b"),
            ("a && b", 2..4, "and(a, b)"),
            ("a || b", 2..4, "or(a, b)"),
            ("!a", 0..1, "not(a)"),
            ("a % b", 2..3, "mod(a, b)"),
            ("x²", 1..3, "^2"),
            ("a − b", 2..5, "minus"),
        ] {
            let error = lex(text).unwrap_err();
            assert_eq!(error.span, span, "{text}");
            assert!(error.help.unwrap().contains(help), "{text}");
        }
        for (text, span, help) in [
            ("2*np.abs(x)", 2..8, "`abs`"),
            ("math.pi*2", 0..7, "`pi`"),
            ("np.arctan(x)", 0..9, "`atan`"),
            ("body.x + 1", 0..6, "no dots"),
        ] {
            let error = lex(text).unwrap_err();
            assert_eq!(error.span, span, "{text}");
            assert!(error.help.unwrap().contains(help), "{text}");
        }
        assert!(lex("a != b").is_ok());
        assert_eq!(lex("a $ b").unwrap_err().span, 2..3);
    }
}
