//! Files that get their name when they are complete and on the disk.

use super::WriteError;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A complete file, and where it belongs.
pub(super) type Staged = (NamedTempFile, PathBuf);

/// Unfinished files are called `.saltus-PROCESS-RANDOM.tmp`.
const PREFIX: &str = ".saltus-";
const SUFFIX: &str = ".tmp";

/// An unfinished file of a process that may still be running elsewhere is left alone for this long.
const STALE: std::time::Duration = std::time::Duration::from_secs(3600);

/// The directory of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An empty file in a directory, removed when it is dropped.
pub(super) fn scratch(dir: &Path) -> std::io::Result<NamedTempFile> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    // Temporary files are private to their owner; results are ordinary files, as the umask has them.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(dir)
}

/// Whether a name is that of an unfinished file.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.ends_with(SUFFIX))
}

/// Removes what a program that was killed left unfinished in a directory.
pub(super) fn tidy(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(middle) = name.strip_prefix(PREFIX).and_then(|n| n.strip_suffix(SUFFIX))
            && entry.file_type().is_ok_and(|t| t.is_file())
            && is_stale(middle, &entry.path())
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether nobody is writing an unfinished file any more: its process is gone, or its last change is long ago.
fn is_stale(middle: &str, path: &Path) -> bool {
    let process = middle.split_once('-').and_then(|(id, _)| id.parse::<u32>().ok());
    if let (Some(id), true) = (process, Path::new("/proc/self").exists()) {
        return !Path::new("/proc").join(id.to_string()).exists();
    }
    let changed = std::fs::metadata(path).and_then(|m| m.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE))
}

/// Writes a file beside its final place, under a name that is removed if the program ends before the rename.
pub(super) fn staged(
    path: PathBuf,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<Staged, WriteError> {
    let path = resolved(path);
    let attempt = || -> std::io::Result<NamedTempFile> {
        if std::fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Err(std::io::Error::other("it is a device or a pipe, not a file"));
        }
        if path.is_dir() {
            return Err(std::io::ErrorKind::IsADirectory.into());
        }
        let mut file = scratch(folder(&path))?;
        let mut buffered = BufWriter::with_capacity(1 << 16, file.as_file_mut());
        write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        // A name must not reach the disk before what it stands for.
        file.as_file().sync_all()?;
        Ok(file)
    };
    match attempt() {
        Ok(file) => Ok((file, path)),
        Err(e) => Err(WriteError::new(&path, &e)),
    }
}

/// A link is followed; renaming would put a file in its place.
fn resolved(path: PathBuf) -> PathBuf {
    match path.is_symlink() {
        true => std::fs::canonicalize(&path).unwrap_or(path),
        false => path,
    }
}

/// Gives a file its name.
pub(super) fn place((file, path): Staged) -> Result<(), WriteError> {
    file.persist(&path).map_err(|e| WriteError::new(&path, &e.error))?;
    Ok(())
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), WriteError> {
    match std::fs::remove_file(resolved(path.to_path_buf())) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(WriteError::new(path, &e)),
        _ => Ok(()),
    }
}

/// Waits until the names in a directory are on the disk, where the system can do that.
pub(super) fn sync(dir: &Path) {
    #[cfg(unix)]
    let _ = File::open(dir).and_then(|d| d.sync_all());
    #[cfg(not(unix))]
    let _ = dir;
}

/// Whether two paths lead to one file.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        // No process has the largest number.
        let gone = format!("{PREFIX}{}-ab{SUFFIX}", u32::MAX);
        let mine = format!("{PREFIX}{}-ab{SUFFIX}", std::process::id());
        for name in [gone.as_str(), mine.as_str(), "notes.tmp"] {
            std::fs::write(dir.path().join(name), "x").expect("written");
        }
        tidy(dir.path());
        let left = [gone.as_str(), mine.as_str(), "notes.tmp"].map(|name| dir.path().join(name).exists());
        if Path::new("/proc/self").exists() {
            assert_eq!(left, [false, true, true]);
        }
    }
}
