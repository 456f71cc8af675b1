//! What commands of other programs name exists: they are too long, or need too much, to be run here.

use super::pages;
use std::fs;
use std::path::Path;

/// The arguments after each `cargo` or path of a script in the code of a page.
#[test]
fn what_cargo_and_scripts_are_given_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        let code = text.split('`').skip(1).step_by(2).chain(text.lines().filter_map(|line| line.strip_prefix("    ")));
        for command in code {
            let command = command.split(" # ").next().unwrap_or(command);
            let words: Vec<&str> = command.split_whitespace().collect();
            for script in words.iter().filter(|word| word.starts_with("bench/") && word.ends_with(".py")) {
                count += 1;
                assert!(root.join(script).is_file(), "{}: {command}: no {script}", page.display());
            }
            if words.first() != Some(&"cargo") {
                continue;
            }
            let after = |option: &str| words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1]);
            let package = match after("-p").unwrap_or("saltus-cli") {
                "saltus-bench" => root.join("bench"),
                name => root.join("crates").join(name),
            };
            assert!(package.is_dir(), "{}: {command}: no such package", page.display());
            for (option, folder) in
                [("--bin", "src/bin"), ("--bench", "benches"), ("--test", "tests"), ("--example", "examples")]
            {
                let Some(name) = after(option) else { continue };
                count += 1;
                let file = package.join(folder).join(name);
                let found = file.with_extension("rs").is_file() || file.join("main.rs").is_file();
                assert!(found, "{}: {command}: no {name} in {folder}", page.display());
            }
        }
    }
    assert!(pages().is_empty() || count >= 8, "only {count} names were found");
}
