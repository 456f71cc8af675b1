//! Makes functions of the Rust code that the README and `docs/rust.md` show, for `tests/docs.rs`. (The READMEs of saltus-expr and
//! saltus-report are doctests of their crates.)
//!
//! The blocks of a page continue each other, as they do for a reader: each stands inside the scope of those before it.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const PAGES: &[(&str, &str)] = &[
    ("readme", "README.md"),
    ("rust", "docs/rust.md"),
    ("readme_of_saltus", "crates/saltus/README.md"),
    ("readme_of_saltus_cli", "crates/saltus-cli/README.md"),
    ("readme_of_saltus_io", "crates/saltus-io/README.md"),
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    let mut code = String::new();
    for (name, page) in PAGES {
        println!("cargo::rerun-if-changed=../{page}");
        let text = fs::read_to_string(root.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
        writeln!(code, "pub fn {name}() -> Result<(), Box<dyn std::error::Error>> {{").expect("written");
        let blocks = blocks(&text);
        for (line, block) in &blocks {
            write!(code, "{{ // {page}, line {line}\n{block}").expect("written");
            if block.contains("fn main()") {
                code.push_str("main()?;\n");
            }
        }
        writeln!(code, "{}\nOk(()) }}", "}".repeat(blocks.len())).expect("written");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("shown.rs"), code).expect("written");
}

/// The Rust blocks of a page, each with the line of its first line.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut open: Option<bool> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(_), Some(_)) => open = None,
            (Some(language), None) => {
                open = Some(language == "rust");
                if language == "rust" {
                    blocks.push((at + 2, String::new()));
                }
            }
            (None, Some(true)) => blocks.last_mut().expect("a block").1.extend([line, "\n"]),
            _ => {}
        }
    }
    blocks
}
