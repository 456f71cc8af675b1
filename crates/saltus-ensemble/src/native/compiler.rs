//! From source to a library: the system's compiler, and a cache of what it made.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};
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

/// The library of a source, loaded: compiled now, or found where it was put before.
///
/// # Errors
/// There is no compiler, it refuses the source, or there is no place for the result.
pub fn library<T>(source: &str, load: &dyn Fn(&Path) -> Result<T, NoNative>) -> Result<T, NoNative> {
    let compiler = Compiler::of_machine();
    let mut options = vec!["-std=gnu11", "-O3", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-w"];
    options.extend(processor().1);
    // The text names everything that the library depends on, as far as that is known at once; it is kept beside it, and compared before the
    // library is used.
    let (arch, os) = (env::consts::ARCH, env::consts::OS);
    let text = format!("/* {} {arch} {os} {} */\n{source}", compiler.identity(), options.join(" "));
    let make = |draft: &Path, output: &Path| compiler.compile(&options, draft, output);
    kept(&text, ("c", env::consts::DLL_EXTENSION), &make, load)
}

/// Makes a file of a draft.
pub type Make<'a> = &'a dyn Fn(&Path, &Path) -> Result<(), NoNative>;

/// What is made of a text, loaded: made now, or found where it was put before. The text is kept beside it. `endings`: those of the files.
pub fn kept<T>(
    text: &str,
    endings: (&str, &str),
    make: Make,
    load: &dyn Fn(&Path) -> Result<T, NoNative>,
) -> Result<T, NoNative> {
    let folder =
        folder().ok_or_else(|| NoNative("there is no folder for compiled code: set XDG_CACHE_HOME or HOME".into()))?;
    kept_in(&folder, text, endings, make, load)
}

fn kept_in<T>(
    folder: &Path,
    text: &str,
    (language, extension): (&str, &str),
    make: Make,
    load: &dyn Fn(&Path) -> Result<T, NoNative>,
) -> Result<T, NoNative> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("{:016x}", hasher.finish());
    let (kept, made) = (folder.join(format!("{name}.{language}")), folder.join(format!("{name}.{extension}")));
    // (What was made before may be of no use any more: the driver or a library of the system is another one. A file that is not what was
    // made is not even tried: damaged code ends the process.)
    let is_whole = |bytes: Vec<u8>| fs::read_to_string(&kept).is_ok_and(|kept| kept == sealed(text, &bytes));
    if fs::read(&made).is_ok_and(is_whole)
        && let Ok(loaded) = load(&made)
    {
        return Ok(loaded);
    }
    let cannot = |what: &str, error: io::Error| NoNative(format!("{what} in {}: {error}", folder.display()));
    create_private(folder).map_err(|error| cannot("cannot keep compiled code", error))?;
    tidy(folder);
    let (draft, output) =
        drafted(folder, &name, language, text).map_err(|error| cannot("cannot write the source", error))?;
    let keep = || {
        fs::write(&draft, sealed(text, &fs::read(&output)?))?;
        fs::rename(&output, &made)?;
        fs::rename(&draft, &kept)
    };
    let result =
        make(&draft, &output).and_then(|()| keep().map_err(|error| cannot("cannot keep compiled code", error)));
    let _ = (fs::remove_file(&draft), fs::remove_file(&output));
    result.and_then(|()| load(&made))
}

/// What is kept beside something that was made of a text: the text, and the length and a check sum of what was made.
fn sealed(text: &str, made: &[u8]) -> String {
    format!("{text}\n// made of this: {} bytes, SHA-256 {}\n", made.len(), saltus_io::sha256(made))
}

/// Removes drafts of programs that were ended while they compiled.
fn tidy(folder: &Path) {
    const STALE: Duration = Duration::from_secs(24 * 3600);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_draft = entry.file_name().to_string_lossy().matches('.').count() == 3;
        let changed = entry.metadata().and_then(|about| about.modified());
        if is_draft && changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A text in a file that nobody else has, and the name of the one that is to be made of it. (Several threads may compile the same at once,
/// and several processes, whose numbers are the same where they are in containers.)
fn drafted(folder: &Path, name: &str, language: &str, text: &str) -> io::Result<(PathBuf, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let turn = COUNT.fetch_add(1, Ordering::Relaxed);
        let own = |ending: &str| folder.join(format!("{name}.{}.{turn}.{ending}", std::process::id()));
        let draft = own(language);
        match fs::OpenOptions::new().write(true).create_new(true).open(&draft) {
            Ok(mut file) => {
                if let Err(error) = file.write_all(text.as_bytes()) {
                    let _ = fs::remove_file(&draft);
                    return Err(error);
                }
                return Ok((draft, own("made")));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// The command of a compiler: its program, and what else stands in CC.
struct Compiler(Vec<String>);

impl Compiler {
    /// The one that CC names, in words as `make` takes it; a program whose path has blanks is one, too.
    fn named(cc: Option<String>) -> Self {
        let cc = cc.filter(|cc| !cc.trim().is_empty()).unwrap_or_else(|| "cc".into());
        match Path::new(&cc).is_file() {
            true => Compiler(vec![cc]),
            false => Compiler(cc.split_whitespace().map(str::to_string).collect()),
        }
    }

    fn of_machine() -> Self {
        Self::named(env::var("CC").ok())
    }

    fn shown(&self) -> String {
        self.0.join(" ")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]).stdin(Stdio::null());
        command
    }

    /// Which compiler it is: where its programs are, how large, and how old. (Asking it for its version takes longer.)
    fn identity(&self) -> String {
        let programs = self.0.iter().map(|word| program(word).unwrap_or_default()).collect::<Vec<_>>().join("");
        format!("{}{programs}", self.shown())
    }

    fn is_missing(&self, error: &io::Error) -> NoNative {
        let program = &self.0[0];
        match error.kind() {
            io::ErrorKind::NotFound => {
                NoNative(format!("there is no C compiler called {program:?}: install one, or name it in CC"))
            }
            _ => NoNative(format!("cannot run the C compiler {program:?}: {error}")),
        }
    }

    fn compile(&self, options: &[&str], draft: &Path, output: &Path) -> Result<(), NoNative> {
        let mut command = self.command();
        command.args(options).arg("-o").arg(output).arg(draft).arg("-lm").stdout(Stdio::null());
        let (status, said) = ended(command).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => NoNative("interrupted while the C compiler was running".into()),
            _ => self.is_missing(&error),
        })?;
        let fail = |why: &str| Err(NoNative(format!("the C compiler {:?} {why}", self.shown())));
        if !status.success() {
            let errors: Vec<&str> = said.lines().filter(|line| line.contains("error")).take(3).collect();
            let first = said.lines().next().map_or_else(|| status.to_string(), str::to_string);
            return fail(&format!("failed: {}", if errors.is_empty() { first } else { errors.join("; ") }));
        }
        match output.is_file() {
            true => Ok(()),
            false => fail("made nothing: name another one in CC"),
        }
    }
}

/// Where the program of a word is, how large, and how old.
fn program(word: &str) -> Option<String> {
    let folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let found = folders.into_iter().map(|folder| folder.join(word));
    let program = found.filter_map(|program| program.canonicalize().ok()).find(|program| program.is_file())?;
    let about = fs::metadata(&program).ok()?;
    let changed = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Some(format!(": {} {} {}", program.display(), about.len(), changed.map_or(0, |time| time.as_secs())))
}

static IS_STOPPED: OnceLock<fn() -> bool> = OnceLock::new();

/// From now on a compiler is ended when this says so: it may take long, or hang.
pub fn end_compilers_when(is_stopped: fn() -> bool) {
    let _ = IS_STOPPED.set(is_stopped);
}

/// Runs a program to its end, or to an interruption; how it ended, and what it said on its standard error.
fn ended(mut command: Command) -> io::Result<(ExitStatus, String)> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        errors.as_mut().map(|errors| errors.read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    });
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, reader.join().unwrap_or_default()));
        }
        if IS_STOPPED.get().is_some_and(|is_stopped| is_stopped()) {
            end(&mut child);
            return Err(io::ErrorKind::Interrupted.into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a program and those that it started. (A compiler is several.)
fn end(child: &mut Child) {
    // (It was made the first of a group of its own.)
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
    let _ = (child.kill(), child.wait());
}

/// The first line of what the compiler says about itself.
pub fn version() -> Result<String, NoNative> {
    let compiler = Compiler::of_machine();
    let said = compiler.command().arg("--version").output().map_err(|error| compiler.is_missing(&error))?;
    Ok(String::from_utf8_lossy(&said.stdout).lines().next().map_or_else(|| compiler.shown(), str::to_string))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Makes a file of a text that begins with how often one was made; loads what ends as it should.
    fn counted(folder: &Path, made: &Cell<u32>) -> Result<String, NoNative> {
        let make = |draft: &Path, output: &Path| {
            made.set(made.get() + 1);
            let text = fs::read_to_string(draft).map_err(|error| NoNative(error.to_string()))?;
            fs::write(output, format!("{} {text}", made.get())).map_err(|error| NoNative(error.to_string()))
        };
        let load = |path: &Path| {
            let text = fs::read_to_string(path).map_err(|error| NoNative(error.to_string()))?;
            if text.ends_with("text") { Ok(text) } else { Err(NoNative(format!("damaged: {text}"))) }
        };
        kept_in(folder, "a text", ("c", "so"), &make, &load)
    }

    #[test]
    fn what_cannot_be_loaded_is_made_again_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let (folder, made) = (dir.path().join("new"), Cell::new(0));
        assert_eq!(counted(&folder, &made).as_deref(), Ok("1 a text"));
        assert_eq!(counted(&folder, &made).as_deref(), Ok("1 a text"));
        let files = || -> Vec<PathBuf> {
            fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
        };
        assert_eq!(files().len(), 2, "{:?}", files());
        let library = files().into_iter().find(|path| path.extension().is_some_and(|e| e == "so")).expect("a library");
        // What is not what was made is not even loaded: cut off, or with a byte that is another.
        for damaged in ["", "1 a te", "1 b text"] {
            let before = made.get();
            fs::write(&library, damaged).expect("a file");
            assert_eq!(counted(&folder, &made), Ok(format!("{} a text", before + 1)), "{damaged}");
            assert_eq!(counted(&folder, &made), Ok(format!("{} a text", before + 1)), "{damaged}");
            assert_eq!(files().len(), 2, "{:?}", files());
        }
        // Neither is what was made before the library that is there.
        let text = files().into_iter().find(|path| path.extension().is_some_and(|e| e == "c")).expect("a text");
        let older =
            fs::read(&text).expect("a file").iter().map(|b| if *b == b'4' { b'5' } else { *b }).collect::<Vec<_>>();
        fs::write(&text, older).expect("a file");
        assert_eq!(counted(&folder, &made).as_deref(), Ok("5 a text"));
        // What cannot be made leaves nothing.
        let make = |_: &Path, output: &Path| {
            let _ = fs::write(output, "half");
            Err(NoNative("no space".into()))
        };
        let nothing = kept_in(&folder, "other", ("c", "so"), &make, &|_: &Path| Ok(()));
        assert_eq!((nothing, files().len()), (Err(NoNative("no space".into())), 2));
        // What is of no use although it is new is a mistake.
        let make = |_: &Path, output: &Path| fs::write(output, "x").map_err(|error| NoNative(error.to_string()));
        let load = |_: &Path| Err::<(), _>(NoNative("it is of no use".into()));
        assert_eq!(kept_in(&folder, "other", ("c", "so"), &make, &load), Err(NoNative("it is of no use".into())));
    }

    #[test]
    fn drafts_of_equal_names_are_not_overwritten() {
        let dir = tempfile::tempdir().expect("a directory");
        // Those of another process with the same number.
        let (first, _) = drafted(dir.path(), "name", "c", "mine").expect("a draft");
        let turn: u64 = first.to_string_lossy().rsplit('.').nth(1).and_then(|turn| turn.parse().ok()).expect("a turn");
        let other = |turn: u64| dir.path().join(format!("name.{}.{turn}.c", std::process::id()));
        (turn + 1..turn + 5).for_each(|turn| drop(fs::write(other(turn), "theirs")));
        let (second, output) = drafted(dir.path(), "name", "c", "mine").expect("a draft");
        assert_ne!(second, first);
        assert!(!output.exists() && fs::read_to_string(&second).is_ok_and(|text| text == "mine"));
        assert!((turn + 1..turn + 5).all(|turn| fs::read_to_string(other(turn)).is_ok_and(|text| text == "theirs")));
    }

    #[test]
    fn a_compiler_is_known_by_its_programs() {
        let named = |cc: &str| Compiler::named(Some(cc.into()));
        assert_eq!(named("no-such-compiler").identity(), "no-such-compiler");
        assert_eq!(named(" ccache gcc\t-O1 ").0, ["ccache", "gcc", "-O1"]);
        assert_eq!((named(" ").0, Compiler::named(None).0), (vec!["cc".to_string()], vec!["cc".to_string()]));
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a compiler").display().to_string();
        fs::write(&path, "").expect("a file");
        assert_eq!(named(&path).0, [path]);
        if version().is_ok() {
            let it = Compiler::of_machine();
            assert!(it.identity().len() > it.shown().len());
            assert!(named(&format!("nice {}", it.shown())).identity().len() > it.identity().len());
        }
    }

    #[cfg(unix)]
    #[test]
    fn drafts_that_were_left_are_removed_after_a_day() {
        let dir = tempfile::tempdir().expect("a directory");
        let old = std::time::SystemTime::now() - Duration::from_secs(2 * 24 * 3600);
        for name in ["0123.77.0.c", "0123.77.0.made", "0123.c", "0123.so", "4567.78.0.c"] {
            let file = fs::File::create(dir.path().join(name)).expect("a file");
            if !name.starts_with('4') {
                file.set_modified(old).expect("set");
            }
        }
        tidy(dir.path());
        let mut left: Vec<_> = fs::read_dir(dir.path()).expect("there").flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["0123.c", "0123.so", "4567.78.0.c"]);
    }
}
