//! `saltus new NAME`: a commented model to start from.

use crate::diagnose;
use crate::text::out;
use saltus::SetupError;
use saltus_io::shipped;
use std::fs::OpenOptions;
use std::io::Write;
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

pub fn main(args: &Args) -> ExitCode {
    let stem = args.name.strip_suffix(".toml").unwrap_or(&args.name);
    let path = format!("{stem}.toml");
    let title = Path::new(stem).file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if title.is_empty() {
        return diagnose::plain(&SetupError::new("a model needs a name").help("such as  saltus new slope"), false);
    }
    let escaped = crate::text::printable(&title).replace('\\', "\\\\").replace('"', "\\\"");
    let text = match &args.from {
        None => STARTER.replace("NAME", &escaped),
        Some(model) => match shipped::MODELS.iter().find(|(n, _)| n == model) {
            Some((_, text)) => text.to_string(),
            None => return diagnose::plain(&crate::locate::unknown(model), false),
        },
    };
    let create = |path: &Path, text: &str| {
        OpenOptions::new().write(true).create_new(true).open(path).and_then(|mut f| f.write_all(text.as_bytes()))
    };
    let written = create(Path::new(&path), &text);
    for (file, content) in shipped::data(&text).filter(|_| written.is_ok()) {
        let beside = Path::new(&path).with_file_name(file);
        match create(&beside, content) {
            Ok(()) => out!("wrote {}\n", beside.display()),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => out!("kept {}\n", beside.display()),
            Err(e) => {
                return diagnose::plain(&SetupError::new(format!("cannot write `{}`: {e}", beside.display())), false);
            }
        }
    }
    match written {
        Ok(()) => {
            out!("wrote {path}\nrun it with  saltus run {path},  see it with  saltus run {path} --report page.html\n");
            ExitCode::SUCCESS
        }
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            let error =
                SetupError::new(format!("`{path}` exists already")).help("choose another name, or remove it first");
            diagnose::plain(&error, false)
        }
        Err(e) => diagnose::plain(&SetupError::new(format!("cannot write `{path}`: {e}")), false),
    }
}
