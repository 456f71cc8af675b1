//! The commands that the README and `docs/` show, run in the order in which they are shown.
//!
//! The commands of a page share a directory. A model shown as a TOML block is written there under the file name that the
//! text after the block gives, if a command uses that name.

use crate::program::Scratch;
use std::fs;
use std::path::{Path, PathBuf};

/// Commands (without `saltus`) that are not run, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[];

/// Data files that the models shown read.
const DATA: &[(&str, &str)] = &[("ground.csv", "0, 0\n3, 1\n9, 0\n"), ("push.csv", "0, 0\n1, 1\n9, 0\n")];

/// What a page shows.
#[derive(Default)]
struct Page {
    /// Commands without `saltus`.
    commands: Vec<String>,
    /// File names and texts of models.
    models: Vec<(String, String)>,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Page::default();
        // The language of the open code block, its TOML text, and the last such text as long as it has no name.
        let mut fence: Option<String> = None;
        let mut block = String::new();
        let mut unnamed: Option<String> = None;
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                match fence.take() {
                    Some(open) => unnamed = (open == "toml").then(|| std::mem::take(&mut block)),
                    None => fence = Some(language.to_string()),
                }
                continue;
            }
            let code = match fence.as_deref() {
                Some("toml") => {
                    block.push_str(line);
                    block.push('\n');
                    None
                }
                Some(_) => Some(line),
                None => {
                    if let Some(name) = file_name(line) {
                        page.models.extend(unnamed.take().map(|model| (name.to_string(), model)));
                    }
                    line.strip_prefix("    ")
                }
            };
            page.commands.extend(code.and_then(command).map(str::to_string));
        }
        page
    }
}

/// The first name of a model file between backquotes.
fn file_name(line: &str) -> Option<&str> {
    line.split('`').skip(1).step_by(2).find(|word| word.ends_with(".toml") && !word.contains([' ', '/']))
}

/// What follows `saltus` in a line of code, if it is a command. (Tables of figures have several spaces there.)
fn command(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("$ ").unwrap_or(code).strip_prefix("saltus ")?;
    (!rest.starts_with(' ') && !rest.contains('…')).then_some(rest)
}

/// The words of a command as a shell sees them: quotes removed, a comment left out.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in command.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_with(String::new).push(c),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' && word.is_none() => break,
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn every_command_shown_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A package of this crate has no docs/.
    let Ok(entries) = fs::read_dir(root.join("docs")) else { return };
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.push(root.join("README.md"));
    pages.sort();

    let mut count = 0;
    let mut failed = Vec::new();
    for path in pages {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let page = Page::read(&text);
        let scratch = Scratch::new();
        for (name, text) in DATA {
            scratch.write(name, text);
        }
        for (name, text) in &page.models {
            if page.commands.iter().any(|command| command.contains(name.as_str())) {
                scratch.write(name, text);
            }
        }
        for command in &page.commands {
            if NOT_RUN.iter().any(|(shown, _)| *shown == command.as_str()) {
                continue;
            }
            let words = words(command);
            let answer = scratch.saltus(&words.iter().map(String::as_str).collect::<Vec<_>>());
            count += 1;
            if !answer.succeeded() {
                failed.push(format!("{}: saltus {command}\n{}", path.display(), answer.stderr));
            }
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
    assert!(count >= 20, "only {count} commands were found");
}
