//! A GPU for tests, on machines that have none.
//!
//! Two small libraries in C take the place of NVIDIA's driver (`driver.c`) and of its run-time compiler (`nvrtc.c`): they run kernels on the
//! processor. So all that Saltus does around a kernel, and the source of the kernel itself, runs on any machine with a C compiler: memory, copies,
//! launches, compiled kernels that are kept, and what goes wrong.
//!
//! A program finds them through [`variables`], a test in its own process with [`load`] and [`gpu`].

#![allow(unsafe_code)]

use libloading::Library;
use std::env;
use std::ffi::{CString, OsString, c_char, c_int, c_long};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const SOURCES: [(&str, &str); 2] = [("cuda", include_str!("driver.c")), ("nvrtc", include_str!("nvrtc.c"))];

/// The folder of the libraries, which are compiled when they are needed first. None where there is no C compiler (or no Linux).
pub fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| if cfg!(target_os = "linux") { made() } else { None }).as_deref()
}

fn made() -> Option<PathBuf> {
    // (Beside the tests, as far as that is known.)
    let own = env::current_exe().ok()?;
    let folder = own.ancestors().find(|path| path.ends_with("deps")).or(own.parent())?.parent()?.join("mock-gpu");
    fs::create_dir_all(&folder).expect("a folder for the mock GPU");
    for (name, text) in SOURCES {
        let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
        if library.is_file() && fs::read_to_string(&source).is_ok_and(|made| made == text) {
            continue;
        }
        // (Other tests may be at it as well.)
        let draft = folder.join(format!("{name}.{}", std::process::id()));
        let (draft_source, draft_library) = (draft.with_extension("draft.c"), draft.with_extension("draft.so"));
        fs::write(&draft_source, text).expect("written");
        let mut cc = Command::new(env::var("CC").ok().filter(|cc| !cc.trim().is_empty()).unwrap_or("cc".into()));
        cc.args(["-std=gnu11", "-O1", "-g", "-shared", "-fPIC"]).arg(format!("-Wl,-soname,lib{name}.so"));
        let status = cc.arg("-o").arg(&draft_library).arg(&draft_source).args(["-ldl", "-lpthread"]).status().ok()?;
        assert!(status.success(), "the mock GPU does not compile");
        fs::rename(draft_library, library).expect("renamed");
        fs::rename(draft_source, source).expect("renamed");
    }
    Some(folder)
}

/// Variables with which a program finds the mock GPU. `machine` says what it is like, in words `name=number` (`SETTINGS` in `driver.c`,
/// and `compiles=0` for a compiler that refuses everything). None where there can be none.
pub fn variables(machine: &str) -> Option<[(&'static str, OsString); 4]> {
    let folder = folder()?;
    let mut libraries = folder.as_os_str().to_owned();
    if let Some(others) = env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        libraries.push(":");
        libraries.push(others);
    }
    Some([
        ("LD_LIBRARY_PATH", libraries),
        ("SALTUS_MOCK_GPU", machine.into()),
        ("SALTUS_MOCK_GPU_KEEP", folder.into()),
        ("XDG_CACHE_HOME", folder.join("cache").into()),
    ])
}

/// The GPU of this process, for one test at a time.
pub struct Gpu {
    driver: &'static Library,
    _alone: MutexGuard<'static, ()>,
}

/// Puts the mock GPU into this process, for tests that take it as it is; whether there can be one. It must come before anything looks for a
/// GPU.
pub fn load() -> bool {
    library().is_some()
}

/// The same for one test at a time, which may change it.
pub fn gpu() -> Option<Gpu> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    library().map(|driver| Gpu { driver, _alone: alone })
}

fn library() -> Option<&'static Library> {
    static LOADED: OnceLock<Option<Library>> = OnceLock::new();
    let load = || {
        let folder = folder()?;
        let load = |name: &str| {
            // SAFETY: the libraries are our own and have no initialisers.
            unsafe { Library::new(folder.join(name)) }.expect("it was compiled for this machine")
        };
        // (Who looks for a library of this name gets the one that is loaded.)
        std::mem::forget(load("libnvrtc.so"));
        let driver = load("libcuda.so");
        let kept = CString::new(folder.to_string_lossy().as_bytes()).expect("a path");
        // SAFETY: the function has this signature, and copies the text.
        unsafe {
            let keep = driver.get::<unsafe extern "C" fn(*const c_char)>(b"saltus_mock_gpu_keep\0");
            keep.expect("driver.c defines it")(kept.as_ptr());
        }
        Some(driver)
    };
    LOADED.get_or_init(load).as_ref()
}

impl Gpu {
    /// Says what the machine is like: one of `SETTINGS` in `driver.c`.
    pub fn set(&self, name: &str, value: i64) {
        let text = CString::new(name).expect("no zeros");
        // SAFETY: the function has this signature.
        let known = unsafe {
            let set = self.driver.get::<unsafe extern "C" fn(*const c_char, c_long) -> c_int>(b"saltus_mock_gpu_set\0");
            set.expect("driver.c defines it")(text.as_ptr(), value)
        };
        assert!(known != 0, "there is no setting {name}");
    }
}

impl Gpu {
    /// Makes it as it was at first.
    pub fn repair(&self) {
        // SAFETY: the function has this signature.
        unsafe {
            let repair = self.driver.get::<unsafe extern "C" fn()>(b"saltus_mock_gpu_repair\0");
            repair.expect("driver.c defines it")();
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.repair();
    }
}
