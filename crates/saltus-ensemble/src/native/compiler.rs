//! From source to a library: the system's compiler, and a cache of what it made.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io};

/// Why there is no native code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoNative(pub String);

impl std::fmt::Display for NoNative {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoNative {}

/// What the processor of this machine has: how many numbers fit into a register, and the options of the compiler.
fn processor() -> (usize, &'static [&'static str]) {
    #[cfg(target_arch = "x86_64")]
    {
        let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        if has_512 && is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("fma") {
            return (8, &["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma", "-mprefer-vector-width=512"]);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return (4, &["-mavx2", "-mfma"]);
        }
    }
    (2, &[])
}

/// How many trajectories the code is compiled for.
pub fn width() -> usize {
    processor().0
}

/// The library of a source: compiled now, or found where it was put before.
///
/// # Errors
/// There is no compiler, it refuses the source, or there is no place for the result.
pub fn library(source: &str) -> Result<PathBuf, NoNative> {
    let compiler = compiler();
    let mut options = vec!["-std=gnu11", "-O3", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-w"];
    options.extend(processor().1);
    // The text names everything that the library depends on; it is kept beside it, and compared before the library is used.
    let text = format!("/* {compiler} {} */\n{source}", options.join(" "));
    kept(&text, "c", env::consts::DLL_EXTENSION, |draft, output| compile(&compiler, &options, draft, output))
}

/// What is made of a text: now, or found where it was put before. The text is kept beside it.
pub fn kept(
    text: &str,
    language: &str,
    extension: &str,
    make: impl FnOnce(&Path, &Path) -> Result<(), NoNative>,
) -> Result<PathBuf, NoNative> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("{:016x}", hasher.finish());
    let folder =
        folder().ok_or_else(|| NoNative("there is no folder for compiled code: set XDG_CACHE_HOME or HOME".into()))?;
    let (kept, made) = (folder.join(format!("{name}.{language}")), folder.join(format!("{name}.{extension}")));
    if made.is_file() && fs::read_to_string(&kept).is_ok_and(|kept| kept == text) {
        return Ok(made);
    }
    let cannot = |what: &str, error: io::Error| NoNative(format!("{what} in {}: {error}", folder.display()));
    create_private(&folder).map_err(|error| cannot("cannot keep compiled code", error))?;
    // (Several threads, or processes, may compile the same at once.)
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let turn = COUNT.fetch_add(1, Ordering::Relaxed);
    let own = |extension: &str| folder.join(format!("{name}.{}.{turn}.{extension}", std::process::id()));
    let (draft, output) = (own(language), own("made"));
    let result = fs::write(&draft, text)
        .map_err(|error| cannot("cannot write the source", error))
        .and_then(|()| make(&draft, &output))
        .and_then(|()| fs::rename(&output, &made).map_err(|error| cannot("cannot keep compiled code", error)))
        .and_then(|()| fs::rename(&draft, &kept).map_err(|error| cannot("cannot keep compiled code", error)));
    let _ = (fs::remove_file(&draft), fs::remove_file(&output));
    result.map(|()| made)
}

fn compiler() -> String {
    env::var("CC").ok().filter(|cc| !cc.is_empty()).unwrap_or_else(|| "cc".into())
}

fn is_missing(compiler: &str, error: &io::Error) -> NoNative {
    match error.kind() {
        io::ErrorKind::NotFound => {
            NoNative(format!("there is no C compiler called {compiler:?}: install one, or name it in CC"))
        }
        _ => NoNative(format!("cannot run the C compiler {compiler:?}: {error}")),
    }
}

/// The first line of what the compiler says about itself.
pub fn version() -> Result<String, NoNative> {
    let compiler = compiler();
    let said = Command::new(&compiler).arg("--version").output().map_err(|error| is_missing(&compiler, &error))?;
    Ok(String::from_utf8_lossy(&said.stdout).lines().next().unwrap_or(&compiler).to_string())
}

fn compile(compiler: &str, options: &[&str], draft: &Path, output: &Path) -> Result<(), NoNative> {
    let run = Command::new(compiler).args(options).arg("-o").arg(output).arg(draft).arg("-lm").output();
    match run {
        Err(error) => Err(is_missing(compiler, &error)),
        Ok(run) if !run.status.success() => {
            let said = String::from_utf8_lossy(&run.stderr);
            let first: Vec<&str> = said.lines().filter(|line| line.contains("error")).take(3).collect();
            Err(NoNative(format!("the C compiler {compiler:?} failed: {}", first.join("; "))))
        }
        Ok(_) => Ok(()),
    }
}

fn folder() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("saltus").join("native"))
}

/// A folder that nobody else can write to: what lies there is run.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
