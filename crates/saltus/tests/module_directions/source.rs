//! As much of Rust as it takes to see which modules a file declares and which paths it uses.

use std::collections::BTreeMap;

/// What one file says about modules.
#[derive(Default)]
pub struct Source {
    /// Modules declared with a file of their own, as paths from the crate's root.
    pub modules: Vec<Vec<String>>,
    /// Paths used that start with `crate::` or `super::`, from the crate's root, each with its line.
    pub paths: Vec<(Vec<String>, usize)>,
    /// Names brought in by `use`, each with the first part of its path.
    pub names: BTreeMap<String, String>,
}

struct Token {
    text: String,
    line: usize,
}

impl Source {
    /// Reads the text of a module, given its path from the crate's root.
    pub fn read(text: &str, module: &[String]) -> Self {
        let tokens = tokens(text);
        let is = |i: usize, text: &str| tokens.get(i).is_some_and(|t| t.text == text);
        let is_test = |i: usize| ["#", "[", "cfg", "(", "test", ")", "]"].iter().enumerate().all(|(k, t)| is(i + k, t));
        let mut source = Source::default();
        let mut module = module.to_vec();
        // The depths at which modules with a body begin.
        let (mut depth, mut bodies) = (0, Vec::new());
        let mut i = 0;
        while i < tokens.len() {
            match tokens[i].text.as_str() {
                "#" if is_test(i) => {
                    i = after_item(&tokens, i + 7);
                    continue;
                }
                "mod" if is(i + 2, ";") => source.modules.push([&module[..], &[tokens[i + 1].text.clone()]].concat()),
                "mod" if is(i + 2, "{") => {
                    module.push(tokens[i + 1].text.clone());
                    bodies.push(depth);
                }
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if bodies.last() == Some(&depth) {
                        bodies.pop();
                        module.pop();
                    }
                }
                "use" => {
                    for (path, name) in tree(&tokens, &mut (i + 1), &[]) {
                        let path: Vec<_> = path.into_iter().skip_while(|p| p == "crate" || p == "self").collect();
                        source.names.extend(path.into_iter().next().map(|first| (name, first)));
                    }
                }
                // (Not `pub(crate)`, and not the `super` in the middle of a path.)
                "crate" | "super" if is(i + 1, "::") && !(i > 0 && is(i - 1, "::")) => {
                    let line = tokens[i].line;
                    for (path, _) in tree(&tokens, &mut i.clone(), &[]) {
                        source.paths.push((absolute(&module, path), line));
                    }
                }
                _ => {}
            }
            i += 1;
        }
        source
    }
}

/// A path from the crate's root.
fn absolute(module: &[String], path: Vec<String>) -> Vec<String> {
    let mut from_root = if path[0] == "crate" { Vec::new() } else { module.to_vec() };
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => drop(from_root.pop()),
            _ => from_root.push(part),
        }
    }
    from_root
}

/// All paths of a tree such as `a::{B, c::D as E, *}`, each with the name it brings in. Moves on to what follows the tree.
fn tree(tokens: &[Token], at: &mut usize, before: &[String]) -> Vec<(Vec<String>, String)> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let mut path = before.to_vec();
    loop {
        match text(*at) {
            "{" => {
                let mut all = Vec::new();
                while !matches!(text(*at), "}" | "") {
                    *at += 1;
                    if !matches!(text(*at), "}" | "") {
                        all.extend(tree(tokens, at, &path));
                    }
                }
                *at += 1;
                return all;
            }
            part if part == "*" || part.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                path.push(part.to_string());
                *at += 1;
            }
            _ => break,
        }
        match text(*at) {
            "::" => *at += 1,
            "as" => {
                let name = text(*at + 1).to_string();
                *at += 2;
                return vec![(path, name)];
            }
            _ => break,
        }
    }
    let name = path.iter().rev().find(|p| *p != "self").cloned();
    name.map(|name| (path, name)).into_iter().collect()
}

/// Where the item that begins here ends: after its `;` or its body.
fn after_item(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            "{" | "[" | "(" => depth += 1,
            "]" | ")" => depth -= 1,
            "}" if depth == 1 => return i + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return i + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Names, `::` and single signs; no comments, strings, characters and lifetimes.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let find = |from: usize, end: &str| {
        let end: Vec<char> = end.chars().collect();
        (from..chars.len()).find(|&i| chars[i..].starts_with(&end)).map_or(chars.len(), |i| i + end.len())
    };
    let mut found = Vec::new();
    let (mut i, mut line, mut counted) = (0, 1, 0);
    while i < chars.len() {
        line += chars[counted..i].iter().filter(|c| **c == '\n').count();
        counted = i;
        let mut push = |text: &str| found.push(Token { text: text.to_string(), line });
        i = match (at(i), at(i + 1)) {
            ('/', '/') => find(i, "\n"),
            ('/', '*') => {
                let (mut depth, mut k) = (1, i + 2);
                while depth > 0 && k < chars.len() {
                    let (step, change) = match (at(k), at(k + 1)) {
                        ('/', '*') => (2, 1),
                        ('*', '/') => (2, -1),
                        _ => (1, 0),
                    };
                    (k, depth) = (k + step, depth + change);
                }
                k
            }
            ('"', _) => after_string(&chars, i + 1, '"'),
            ('\'', '\\') => after_string(&chars, i + 1, '\''),
            ('\'', _) if at(i + 2) == '\'' => i + 3,
            ('\'', _) => i + 1,
            (':', ':') => {
                push("::");
                i + 2
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                let end = (i..chars.len()).find(|&k| !at(k).is_alphanumeric() && at(k) != '_').unwrap_or(chars.len());
                let word: String = chars[i..end].iter().collect();
                let hashes = chars[end..].iter().take_while(|c| **c == '#').count();
                if matches!(word.as_str(), "r" | "br" | "cr") && at(end + hashes) == '"' {
                    find(end + hashes + 1, &format!("\"{}", "#".repeat(hashes)))
                } else {
                    push(&word);
                    end
                }
            }
            (c, _) => {
                if !c.is_whitespace() {
                    push(&c.to_string());
                }
                i + 1
            }
        };
    }
    found
}

/// Where a string or a character with escapes ends.
fn after_string(chars: &[char], from: usize, quote: char) -> usize {
    let mut i = from;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

#[test]
fn paths_are_found_and_texts_are_not() {
    let text = r##"
        //! crate::comment
        mod child;
        #[cfg(test)]
        mod tests;
        /* crate::block /* nested */ crate::block */
        use crate::{a::{B, c}, Root as Other, d};
        pub(crate) use super::sibling::{self, X};
        pub fn f<'a>(x: &'a str) -> crate::e::Type<'a> {
            let _ = ("crate::string \" crate::string", r#"crate::raw" crate::raw"#, 'c', '"', '\'', b'"');
            $crate::macros::g::<crate::h::T>(x)
        }
        mod inner { use super::super::uncle; fn f() { super::f(); } mod deep; }
        #[cfg(test)]
        mod inline { use crate::only_for_tests; }
        use super::last;
    "##;
    let module = |path: &str| path.split("::").map(str::to_string).collect::<Vec<_>>();
    let source = Source::read(text, &module("one"));
    let paths: Vec<String> = source.paths.iter().map(|(p, line)| format!("{}:{line}", p.join("::"))).collect();
    let wanted =
        "a::B:7 a::c:7 Root:7 d:7 sibling:8 sibling::X:8 e::Type:9 macros::g:11 h::T:11 uncle:13 one::f:13 last:16";
    assert_eq!(paths.join(" "), wanted);
    assert_eq!(source.modules, [module("one::child"), module("one::inner::deep")]);
    let root = Source::read("pub use a::{B, c::D as E, f::{self}}; use crate::g::h; use other::T;", &[]);
    let names: Vec<String> = root.names.iter().map(|(name, from)| format!("{name} {from}")).collect();
    assert_eq!(names, ["B a", "E a", "T other", "f a", "h g"]);
}
