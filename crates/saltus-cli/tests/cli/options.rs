//! Every long option of every command is used by some test.

use crate::program::saltus;
use std::fs;
use std::path::Path;

/// The texts of all files below a directory.
fn texts(dir: &Path) -> String {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    entries.map(|path| if path.is_dir() { texts(&path) } else { read(&path) }).collect()
}

/// The first words of the lines below a heading.
fn commands(help: &str) -> Vec<&str> {
    let list = help.split("Commands:\n").nth(1).expect("a list of commands");
    // Long descriptions go on in further lines, which are indented more.
    let is_first = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let lines = list.lines().take_while(|line| !line.is_empty()).filter(is_first);
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

/// The long options that a help text describes, from lines such as `  -h, --help` and `      --end <T>`.
fn options<'a>(help: &'a str) -> Vec<&'a str> {
    let described = |line: &'a str| {
        let words = line.split_whitespace().skip_while(|word| word.len() == 3 && word.ends_with(','));
        words.take(1).find(|word| word.starts_with("--"))
    };
    help.lines().filter_map(described).collect()
}

#[test]
fn every_option_is_used_by_a_test() {
    let tests = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    let help = saltus(&["--help"]).stdout;
    let commands = commands(&help);
    assert!(commands.len() >= 9, "{commands:?}");
    let mut unused = Vec::new();
    for command in std::iter::once("").chain(commands.into_iter().filter(|c| *c != "help")) {
        let help = if command.is_empty() { help.clone() } else { saltus(&[command, "--help"]).stdout };
        let options = options(&help);
        assert!(options.contains(&"--help"), "{command}: {options:?}");
        unused
            .extend(options.iter().filter(|o| !tests.contains(&format!("\"{o}\""))).map(|o| format!("{command} {o}")));
    }
    assert!(unused.is_empty(), "no test uses {unused:?}");
}
