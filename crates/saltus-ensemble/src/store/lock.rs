//! One command at a time writes into a directory.

use saltus::SetupError;
use saltus_io::output;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// The name of the file that is locked.
pub const NAME: &str = ".saltus.lock";

/// A directory that no other command writes into while this is there. (The system takes the lock back when the program ends, however it
/// ends; then the file that was left is locked by the next.)
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    // (Nothing, where the file system has no locks.)
    file: Option<File>,
}

impl Lock {
    /// Takes a directory, which is made if it is not there.
    pub fn take(dir: &Path) -> Result<Self, SetupError> {
        output::prepare(dir).map_err(|e| SetupError::new(e.to_string()))?;
        let path = dir.join(NAME);
        loop {
            let fail = |e: std::io::Error| SetupError::new(format!("cannot write `{}`: {e}", path.display()));
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(fail)?;
            match file.try_lock() {
                // (Between the two its last owner may have removed it, and another have made it again.)
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) => return Ok(Lock { path, file: Some(file) }),
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another command is computing into `{}`", dir.display());
                    return Err(SetupError::new(message).help("wait until it has ended, or choose another directory"));
                }
                Err(TryLockError::Error(_)) => return Ok(Lock { path, file: None }),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether a file that is open is the one that has a name.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |about: std::fs::Metadata| (about.dev(), about.ino());
        file.metadata().is_ok_and(|open| path.metadata().is_ok_and(|named| number(open) == number(named)))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
