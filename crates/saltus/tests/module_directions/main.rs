//! No cycles between the top-level modules of a crate.
//!
//! For every crate under `crates/`, the module tree is followed from its root. A module uses another where its code, or
//! that of its submodules, has a path that starts with `crate::` or `super::` and leads there, directly or through a
//! name that the root imports or re-exports. Comments, strings and `#[cfg(test)]` items do not count. Crates need no
//! such test: cargo permits no cycles between them.

mod source;

use source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which top-level modules each one uses, with an example.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn no_two_modules_use_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let mut directories: Vec<PathBuf> = fs::read_dir(&crates)
        .expect("crates/")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .collect();
    directories.sort();
    assert!(directories.len() >= 5, "{directories:?}");
    for directory in directories {
        let name = directory.file_name().expect("a name").to_string_lossy().into_owned();
        let uses = module_uses(&directory.join("src"));
        let cycles = cycles(&uses);
        for (a, b) in &cycles {
            found.push(format!("{name}: `{a}` and `{b}` form a cycle\n{}", explain(&uses, a, b)));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Follows the modules of a crate from its root.
fn module_uses(src: &Path) -> Uses {
    let root_file = ["lib.rs", "main.rs"].map(|f| src.join(f)).into_iter().find(|f| f.exists()).expect("a root");
    let read = |file: &Path| fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let root = Source::read(&read(&root_file), &[]);
    let top: BTreeSet<&str> = root.modules.iter().map(|m| m[0].as_str()).collect();
    assert!(!root.names.contains_key("*"), "a glob import in {} hides where names come from", root_file.display());

    let mut uses: Uses = top.iter().map(|m| (m.to_string(), BTreeMap::new())).collect();
    let mut todo: Vec<Vec<String>> = root.modules.clone();
    while let Some(module) = todo.pop() {
        let stem = src.join(module.join("/"));
        let file = [stem.with_extension("rs"), stem.join("mod.rs")].into_iter().find(|f| f.exists());
        let file = file.unwrap_or_else(|| panic!("no file of {}", stem.display()));
        let source = Source::read(&read(&file), &module);
        for (path, line) in &source.paths {
            let first = path.first().map_or("", String::as_str);
            assert!(first != "*", "{}:{line}: a glob import of the crate hides what is used", file.display());
            let target = if top.contains(first) { Some(first) } else { root.names.get(first).map(String::as_str) };
            if let Some(target) = target.filter(|t| top.contains(t) && *t != module[0]) {
                let shown = file.strip_prefix(src).unwrap_or(&file).display();
                let place = || format!("src/{shown}:{line} uses {}", path.join("::"));
                uses.entry(module[0].clone()).or_default().entry(target.to_string()).or_insert_with(place);
            }
        }
        todo.extend(source.modules);
    }
    uses
}

/// Pairs of modules of which one uses the other and is reached from it again.
fn cycles(uses: &Uses) -> Vec<(String, String)> {
    let mut pairs = BTreeSet::new();
    for (a, direct) in uses {
        for b in direct.keys() {
            if way(uses, b, a).is_some() {
                let (first, second) = if a < b { (a, b) } else { (b, a) };
                pairs.insert((first.clone(), second.clone()));
            }
        }
    }
    pairs.into_iter().collect()
}

/// A shortest chain of modules from one to another, each using the next.
fn way(uses: &Uses, from: &str, to: &str) -> Option<Vec<String>> {
    let mut chains = vec![vec![from.to_string()]];
    let mut seen = BTreeSet::from([from.to_string()]);
    while !chains.is_empty() {
        let mut longer = Vec::new();
        for chain in chains {
            let last = chain.last().expect("at least one");
            if last == to {
                return Some(chain);
            }
            for next in uses.get(last).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(next.clone()) {
                    longer.push([&chain[..], std::slice::from_ref(next)].concat());
                }
            }
        }
        chains = longer;
    }
    None
}

/// The places at which the two use each other, directly or through others.
fn explain(uses: &Uses, a: &str, b: &str) -> String {
    let chains = [way(uses, a, b), way(uses, b, a)];
    let links = chains.iter().flatten().flat_map(|chain| chain.windows(2));
    links.map(|pair| format!("    {}\n", uses[&pair[0]][&pair[1]])).collect()
}

#[test]
fn cycles_are_found_through_others_and_only_then() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses = Uses::new();
        for (a, b) in pairs {
            uses.entry(a.to_string()).or_default().insert(b.to_string(), format!("{a} uses {b}"));
        }
        uses
    };
    assert!(cycles(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    let round = uses(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]);
    assert_eq!(cycles(&round), [pair("a", "b"), pair("a", "c"), pair("b", "c")]);
    assert_eq!(explain(&round, "a", "b"), "    a uses b\n    b uses c\n    c uses a\n");
}
