//! Runs `saltus` in a temporary directory.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The binary that cargo built for these tests.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_saltus");

/// What a call of `saltus` gave.
#[derive(Debug)]
pub struct Answer {
    pub call: String,
    /// Missing where a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// What a command that has ended gave.
    pub fn new(command: &Command, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Answer { call: format!("{command:?}"), code: output.status.code(), stdout, stderr }
    }

    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// The one object that `--json` prints.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{}: {e}\n{}\n{}", self.call, self.stdout, self.stderr))
    }
}

/// A temporary directory to run `saltus` in.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Scratch(tempfile::tempdir().expect("a directory"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.join(name), text).expect("written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// `saltus` in this directory, to be started by the caller.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(self.path());
        command
    }

    pub fn saltus(&self, args: &[&str]) -> Answer {
        let mut command = self.command(args);
        let output = command.output().expect("it starts");
        Answer::new(&command, output)
    }

    /// What a call with `--json` prints, whether it succeeds or not.
    pub fn json(&self, args: &[&str]) -> Value {
        self.saltus(args).json()
    }
}

/// `saltus` in a directory of its own.
pub fn saltus(args: &[&str]) -> Answer {
    Scratch::new().saltus(args)
}

/// What a call with `--json` prints, in a directory of its own.
pub fn json(args: &[&str]) -> Value {
    saltus(args).json()
}

/// The text of a shipped model.
pub fn shipped(name: &str) -> &'static str {
    saltus_io::shipped::MODELS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).expect("shipped")
}
