//! The commands that the README and `docs/` show are run, and what they print is compared with the output shown.
//!
//! The commands of a page run in the order in which they are shown, in one directory; [`page`] says what is read, [`compare`]
//! what counts as equal. `SALTUS_UPDATE_DOCS=1 cargo test -p saltus-cli docs` writes what the program prints now into the pages.

mod compare;
mod named;
mod page;

use crate::program::{Answer, Scratch};
use page::{Page, Step};
use std::fs;
use std::path::{Path, PathBuf};

/// Data files that the models shown read.
const DATA: &[(&str, &str)] = &[("ground.csv", "0, 0\n3, 1\n9, 0\n"), ("push.csv", "0, 0\n1, 1\n9, 0\n")];

/// The pages of the repository; none in a package of this crate, which has no `docs/`.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(entries) = fs::read_dir(root.join("docs")) else { return Vec::new() };
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.push(root.join("README.md"));
    pages.push(root.join("crates/saltus-cli/README.md"));
    pages.sort();
    pages
}

#[test]
fn every_command_shown_runs_and_prints_what_is_shown() {
    let pages = pages();
    if pages.is_empty() {
        return;
    }
    let update = std::env::var_os("SALTUS_UPDATE_DOCS").is_some();
    let checked: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|path| scope.spawn(move || check(path, update))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a page is checked")).collect()
    });
    let count: usize = checked.iter().map(|(count, _)| count).sum();
    let wrong: Vec<String> = checked.into_iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(
        wrong.is_empty(),
        "\n{}\n(SALTUS_UPDATE_DOCS=1 writes the output of today; see CONTRIBUTING.md)",
        wrong.join("\n")
    );
    assert!(count >= 40, "only {count} commands were found");
}

/// Runs a page; gives the number of its commands and what was wrong. With `update`, stale output is replaced in the file.
fn check(path: &Path, update: bool) -> (usize, Vec<String>) {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let page = Page::read(&text);
    let scratch = Scratch::new();
    DATA.iter().for_each(|(name, text)| scratch.write(name, text));
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let (mut count, mut wrong) = (0, Vec::new());
    // From the first to the last: a later command may need the files of an earlier one. What an update inserts shifts the lines.
    let mut shift = 0isize;
    for (at, step) in &page.steps {
        let place = format!("{}:{}", path.file_name().expect("a name").display(), at + 1);
        match step {
            Step::File { name, text } => {
                if page.uses(name) {
                    scratch.write(name, text);
                }
            }
            Step::Edit { name, old, new } => {
                let before = scratch.read(name);
                assert_eq!(before.matches(old.as_str()).count(), 1, "{place}: `{old}` in {name}:\n{before}");
                scratch.write(name, before.replace(old.as_str(), new));
            }
            Step::Prints { command, texts } => {
                count += 1;
                let answer = run(&scratch, command);
                let printed = output(&answer);
                if !answer.succeeded() {
                    wrong.push(format!("{place}: saltus {command}\n{printed}"));
                }
                let mut rest = printed.as_str();
                for text in texts {
                    match rest.split_once(text.as_str()) {
                        Some((_, after)) => rest = after,
                        None => {
                            wrong.push(format!("{place}: saltus {command}\ndoes not print `{text}`:\n{printed:.4000}"))
                        }
                    }
                }
            }
            Step::Session { command, shown, code } => {
                count += 1;
                let answer = run(&scratch, command);
                if answer.code != Some(*code) {
                    wrong.push(format!("{place}: saltus {command}\nexit code {:?}\n{}", answer.code, answer.stderr));
                    continue;
                }
                let printed = output(&answer);
                let real: Vec<&str> = printed.lines().collect();
                let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
                if shown.is_empty() || compare::same(&shown, &real) {
                    continue;
                }
                match compare::refreshed(&shown, &real).filter(|_| update) {
                    Some(new) => {
                        let first = (at + 1).checked_add_signed(shift).expect("a line");
                        shift += new.len() as isize - shown.len() as isize;
                        lines.splice(first..first + shown.len(), new);
                    }
                    None => wrong.push(format!("{place}: saltus {command}\n{}", compare::difference(&shown, &real))),
                }
            }
        }
    }
    let now = lines.join("\n") + "\n";
    if update && now != text {
        fs::write(path, now).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    (count, wrong)
}

fn run(scratch: &Scratch, command: &str) -> Answer {
    let words = page::words(command);
    scratch.saltus(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What a terminal shows, without empty lines at the end.
fn output(answer: &Answer) -> String {
    format!("{}{}", answer.stdout, answer.stderr).trim_end().to_string()
}
