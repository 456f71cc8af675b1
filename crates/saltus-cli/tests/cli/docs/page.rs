//! What a page shows: commands, their output, and models.
//!
//! - An indented line `saltus …` and a line `$ saltus …` of a `console` block are commands. Lines that follow in the block are
//!   the output; without any, only the exit code is checked.
//! - A `toml` block is written under the file name that the text after it gives, if a command uses that name.
//!
//! Comments of Markdown, which no reader sees, say the rest:
//!
//! - `<!-- exit code 1 -->`: that of the commands of the next block.
//! - `<!-- slope.toml: OLD => NEW -->`: a change that the text asks the reader to make. `\n` is a new line, `[block]` the next
//!   `toml` block.
//! - `<!-- saltus run ball => TEXT; TEXT -->`: a command whose numbers the text quotes: it prints these texts, in this order.

/// What the test does, in the order of the page.
#[derive(Debug)]
pub enum Step {
    /// A model is written.
    File { name: String, text: String },
    /// A file is changed.
    Edit { name: String, old: String, new: String },
    /// A command (without `saltus`) that prints some texts.
    Prints { command: String, texts: Vec<String> },
    /// A command (without `saltus`), the lines it prints, its exit code.
    Session { command: String, shown: Vec<String>, code: i32 },
}

/// The steps of a page with the line, from 0, at which each is.
#[derive(Default)]
pub struct Page {
    pub steps: Vec<(usize, Step)>,
}

impl Page {
    pub fn read(text: &str) -> Self {
        let mut page = Page::default();
        // The language of the open code block, its TOML text, and the last such text as long as it has no name.
        let mut fence: Option<&str> = None;
        let mut block = String::new();
        let mut unnamed: Option<String> = None;
        // Announced by a comment for the next block.
        let mut code = 0;
        let mut edit: Option<(String, String, String)> = None;
        for (at, line) in text.lines().enumerate() {
            if let Some(language) = line.strip_prefix("```") {
                match fence.take() {
                    Some("toml") => {
                        let text = std::mem::take(&mut block);
                        match edit.take() {
                            Some((name, old, new)) => {
                                let new = new.replace("[block]", text.trim_end());
                                page.steps.push((at, Step::Edit { name, old, new }));
                            }
                            None => unnamed = Some(text),
                        }
                    }
                    Some(_) => (code, unnamed) = (0, None),
                    None => fence = Some(language),
                }
                continue;
            }
            match fence {
                Some("toml") => block.extend([line, "\n"]),
                Some("console") => match (line.strip_prefix("$ ").and_then(command), page.steps.last_mut()) {
                    (Some(command), _) => page.session(at, command, code),
                    (None, Some((_, Step::Session { shown, .. }))) => shown.push(line.to_string()),
                    _ => panic!("line {}: output of no command: {line}", at + 1),
                },
                Some(_) => {}
                None => {
                    if let Some(note) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
                        if let Some(number) = note.strip_prefix("exit code ") {
                            code = number.parse().expect("an exit code");
                        } else if let Some((left, right)) = note.split_once(" =>") {
                            let right = right.trim();
                            if let Some(call) = left.strip_prefix("saltus ") {
                                let texts = right.split("; ").map(str::to_string).collect();
                                page.steps.push((at, Step::Prints { command: call.into(), texts }));
                            } else {
                                let (name, old) = left.split_once(": ").expect("`FILE: OLD => NEW`");
                                let (name, old, new) =
                                    (name.to_string(), old.replace("\\n", "\n"), right.replace("\\n", "\n"));
                                match new.contains("[block]") {
                                    true => edit = Some((name, old, new)),
                                    false => page.steps.push((at, Step::Edit { name, old, new })),
                                }
                            }
                        }
                    } else if let Some(command) = line.strip_prefix("    ").and_then(command) {
                        page.session(at, command, 0);
                    } else if let Some(name) = file_name(line) {
                        let named = unnamed.take().map(|text| Step::File { name: name.to_string(), text });
                        page.steps.extend(named.map(|step| (at, step)));
                    }
                }
            }
        }
        page
    }

    fn session(&mut self, at: usize, command: &str, code: i32) {
        self.steps.push((at, Step::Session { command: command.to_string(), shown: Vec::new(), code }));
    }

    /// Whether a command of the page uses a file of this name.
    pub fn uses(&self, name: &str) -> bool {
        self.steps.iter().any(|(_, step)| match step {
            Step::Session { command, .. } | Step::Prints { command, .. } => command.contains(name),
            _ => false,
        })
    }
}

/// The first name of a model file between backquotes.
fn file_name(line: &str) -> Option<&str> {
    line.split('`').skip(1).step_by(2).find(|word| word.ends_with(".toml") && !word.contains([' ', '/']))
}

/// What follows `saltus` in a line of code, if it is a command. (Tables of figures have several spaces there.)
fn command(code: &str) -> Option<&str> {
    let code = code.strip_prefix("/usr/bin/time -v target/release/").unwrap_or(code);
    let rest = code.strip_prefix("saltus ")?;
    (!rest.starts_with(' ') && !rest.contains('…')).then_some(rest)
}

/// The words of a command as a shell sees them: quotes removed, a comment left out.
pub fn words(command: &str) -> Vec<String> {
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
