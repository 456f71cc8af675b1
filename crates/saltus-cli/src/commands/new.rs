//! `saltus new NAME`: a commented model to start from.

use crate::locate;
use crate::setup::Refusal;
use crate::text::out;
use saltus::SetupError;
use saltus_io::shipped;
use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

const STARTER: &str = include_str!("starter.toml");

/// Write a commented model to start from.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the model; the file NAME.toml is written, and never overwritten
    name: String,
    /// Copy this shipped model (see `saltus models`) instead, with the data files it reads
    #[arg(long, value_name = "MODEL")]
    from: Option<String>,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let stem = args.name.strip_suffix(".toml").unwrap_or(&args.name);
    let path = format!("{stem}.toml");
    let title = Path::new(stem).file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if title.is_empty() {
        return Err(SetupError::new("a model needs a name").help("such as  saltus new slope").into());
    }
    let escaped = crate::text::printable(&title).replace('\\', "\\\\").replace('"', "\\\"");
    let text = match &args.from {
        None => STARTER.replace("NAME", &escaped),
        Some(model) => locate::shipped(model).map_err(|e| of_file(e, model, &path))?.to_string(),
    };
    let create = |path: &Path, text: &str| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).inspect_err(|_| {
            // On a full disk an empty file would stay, and be in the way of the next attempt.
            let _ = std::fs::remove_file(path);
        })
    };
    let cannot = |path: &Path, e: Error| SetupError::new(format!("cannot write `{}`: {e}", path.display()));
    create(Path::new(&path), &text).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => {
            SetupError::new(format!("`{path}` exists already")).help("choose another name, or remove it first")
        }
        _ => cannot(Path::new(&path), e),
    })?;
    for (file, content) in shipped::data(&text) {
        let beside = Path::new(&path).with_file_name(file);
        match create(&beside, content) {
            Ok(()) => out!("wrote {}\n", beside.display()),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => out!("kept {}\n", beside.display()),
            Err(e) => return Err(cannot(&beside, e).into()),
        }
    }
    out!("wrote {path}\nrun it with  saltus run {path},  see it with  saltus run {path} --report page.html\n");
    Ok(ExitCode::SUCCESS)
}

/// A file that is there is no shipped model, but easy to copy.
fn of_file(error: SetupError, word: &str, path: &str) -> SetupError {
    match Path::new(word).is_file() {
        false => error,
        true => SetupError::new(format!("`{word}` is a file; --from copies the models that come with the program"))
            .help(format!("copy it with  cp {word} {path},  or name a shipped model: `saltus models` lists them")),
    }
}
