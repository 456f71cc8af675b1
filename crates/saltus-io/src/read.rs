//! Reading a text file with bounds, so that a directory, a device or a 100 MB file ends in a sentence and not in a
//! full memory.

use crate::FileError;
use saltus::SetupError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The whole text of a file of at most `limit` bytes.
pub fn text(path: &Path, what: &str, limit: u64) -> Result<String, FileError> {
    let name = path.display().to_string();
    let fail = |message: String, help: Option<&str>| {
        let mut error = SetupError::new(message);
        error.help = help.map(str::to_string);
        FileError::whole(&name, error)
    };
    if path.is_dir() {
        return Err(fail(format!("`{name}` is a directory, not a {what}"), Some("name the file inside it")));
    }
    let file = File::open(path).map_err(|e| fail(format!("cannot open `{name}`: {}", reason(&e)), None))?;
    let size = file.metadata().map(|m| m.len()).unwrap_or(0);
    let too_large = || {
        let mib = limit as f64 / (1 << 20) as f64;
        fail(format!("`{name}` is larger than {mib} MiB, too large for a {what}"), Some("is this the right file?"))
    };
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| fail(format!("cannot read `{name}`: {}", reason(&e)), None))?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        let message = format!("`{name}` is not a text file: there is a zero byte at offset {at}");
        return Err(fail(message, Some("is this the right file?")));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        fail(format!("`{name}` is not UTF-8 text: the byte at offset {at} is not valid"), Some("save it as UTF-8"))
    })
}

/// An operating system's error without its number.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        std::io::ErrorKind::StorageFull => "the disk is full".into(),
        std::io::ErrorKind::NotADirectory => "a part of the path is not a directory".into(),
        std::io::ErrorKind::IsADirectory => "it is a directory".into(),
        std::io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        std::io::ErrorKind::AlreadyExists => "a file of that name is in the way".into(),
        _ => error.to_string(),
    }
}
