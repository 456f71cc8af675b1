//! NVIDIA's run-time compiler (NVRTC): where it is on this machine, and what it makes of a source. It needs no GPU and no driver.

#![allow(unsafe_code)]

use super::compiler::NoNative;
use libloading::{Library, Symbol};
use std::env;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What compiled code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any GPU that is not older, through the driver's own compiler.
    Ptx,
    /// GPUs of one architecture alone; for drivers that are older than the run-time compiler.
    Cubin,
}

/// Its library, by the names that it has had, newest first.
const NAMES: [&str; 4] = match cfg!(windows) {
    true => ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll", "nvrtc.dll"],
    false => ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"],
};

type Program = *mut c_void;

/// The library.
pub struct Nvrtc {
    library: Library,
    /// Where it was found; a name alone where the system found it.
    pub place: PathBuf,
}

/// The one of this machine; the search happens once.
///
/// # Errors
/// There is none.
pub fn find() -> Result<&'static Nvrtc, NoNative> {
    static FOUND: OnceLock<Option<Nvrtc>> = OnceLock::new();
    let found = FOUND.get_or_init(|| candidates().find_map(|place| Nvrtc::load(&place)));
    found.as_ref().ok_or_else(|| {
        NoNative(
            "NVIDIA's run-time compiler was not found (libnvrtc): it comes with the CUDA toolkit, and with  pip install \
             nvidia-cuda-nvrtc; set CUDA_HOME, or LD_LIBRARY_PATH, to where it is"
                .into(),
        )
    })
}

/// Where it may be: where the system looks (what a person has put in its path comes first), then where toolkits and Python packages are.
fn candidates() -> impl Iterator<Item = PathBuf> {
    let plain = [NAMES[3], NAMES[0], NAMES[1], NAMES[2]].into_iter().map(PathBuf::from);
    let folders = folders(&|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from));
    plain.chain(folders.into_iter().flat_map(|folder| NAMES.map(|name| folder.join(name)))).filter(|place| {
        // (A name alone is for the system to find.)
        place.parent() == Some(Path::new("")) || place.is_file()
    })
}

/// Folders of toolkits and of Python packages.
fn folders(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let toolkits = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(variable);
    let toolkits = toolkits.chain(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from));
    let mut all: Vec<PathBuf> =
        toolkits.flat_map(|root| ["lib64", "lib", "bin", "bin/x64"].map(|name| root.join(name))).collect();
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable);
    for root in environments.chain(variable("HOME").map(|home| home.join(".local"))) {
        all.push(root.join("lib"));
        for python in listed(&root.join("lib")).into_iter().filter(|path| path.to_string_lossy().contains("python")) {
            let packages = python.join("site-packages/nvidia");
            all.extend(listed(&packages).into_iter().map(|package| package.join("lib")));
        }
    }
    all
}

/// What is in a folder, the last names first (cu13 before cu12).
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all.reverse();
    all
}

impl Nvrtc {
    fn load(place: &Path) -> Option<Self> {
        // SAFETY: NVIDIA's library sets itself up when it is loaded, and does nothing else.
        let library = unsafe { Library::new(place) }.ok()?;
        let found = Nvrtc { library, place: place.to_path_buf() };
        found.get::<unsafe extern "C" fn()>("nvrtcCompileProgram").ok()?;
        Some(found)
    }

    /// One of its functions.
    fn get<F>(&self, name: &str) -> Result<Symbol<'_, F>, NoNative> {
        // SAFETY: signatures are those of nvrtc.h, which have not changed since there are these functions.
        unsafe { self.library.get(format!("{name}\0").as_bytes()) }.map_err(|_| {
            NoNative(format!("NVIDIA's run-time compiler {} has no {name}: it is too old", self.place.display()))
        })
    }

    /// Its version.
    fn version(&self) -> Option<(i32, i32)> {
        let (mut major, mut minor) = (0, 0);
        let ask = self.get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>("nvrtcVersion").ok()?;
        // SAFETY: it writes two numbers.
        (unsafe { ask(&raw mut major, &raw mut minor) } == 0).then_some((major, minor))
    }

    /// The same in words.
    pub fn shown_version(&self) -> String {
        self.version().map_or("of an unknown version".into(), |(major, minor)| format!("{major}.{minor}"))
    }

    /// The architectures that it compiles for: 90 for compute capability 9.0. None where it does not tell.
    fn architectures(&self) -> Option<Vec<i32>> {
        let count = self.get::<unsafe extern "C" fn(*mut c_int) -> c_int>("nvrtcGetNumSupportedArchs").ok()?;
        let list = self.get::<unsafe extern "C" fn(*mut c_int) -> c_int>("nvrtcGetSupportedArchs").ok()?;
        let mut many = 0;
        // SAFETY: it writes a number.
        if unsafe { count(&raw mut many) } != 0 {
            return None;
        }
        let mut all = vec![0; usize::try_from(many).ok()?];
        // SAFETY: it writes as many numbers as it has said there are.
        (unsafe { list(all.as_mut_ptr()) } == 0).then_some(all)
    }

    /// The options for GPUs of a compute capability. None if the GPU is newer than the compiler and what is compiled would be for it alone.
    pub fn options(&self, capability: (i32, i32), form: Form) -> Option<Vec<String>> {
        let known = self.architectures().unwrap_or_default();
        let architecture = architecture(capability, &known);
        let kind = match form {
            Form::Ptx => "compute",
            Form::Cubin if architecture == 10 * capability.0 + capability.1 => "sm",
            Form::Cubin => return None,
        };
        Some(vec![format!("--gpu-architecture={kind}_{architecture}"), "--extra-device-vectorization".into()])
    }

    /// Compiles a source. (What comes of it is a text, for PTX, or code.)
    pub fn compile(&self, text: &str, options: &[String], form: Form) -> Result<Vec<u8>, NoNative> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let create = self.get::<Create>("nvrtcCreateProgram")?;
        let compile =
            self.get::<unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int>("nvrtcCompileProgram")?;
        let destroy = self.get::<unsafe extern "C" fn(*mut Program) -> c_int>("nvrtcDestroyProgram")?;
        let fault = |what: &str| NoNative(format!("the kernel does not compile: {what}"));
        let terminated = |text: &str| CString::new(text).map_err(|_| fault("its source has a zero in it"));
        let source = terminated(text)?;
        let options = options.iter().map(|option| terminated(option)).collect::<Result<Vec<_>, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program: Program = std::ptr::null_mut();
        let (none, no_name) = (std::ptr::null(), std::ptr::null());
        // SAFETY: the texts end with a zero and outlive the call, which copies them; there are no headers.
        let code = unsafe { create(&raw mut program, source.as_ptr(), no_name, 0, none, none) };
        if code != 0 {
            return Err(fault(&self.reason(code)));
        }
        // SAFETY: the program was just made; the number of options is given with them, and they outlive the call.
        let code = unsafe { compile(program, options.len() as c_int, options.as_ptr()) };
        let made = match code {
            0 => match form {
                Form::Ptx => self.read(program, "nvrtcGetPTXSize", "nvrtcGetPTX"),
                Form::Cubin => self.read(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN"),
            },
            _ => {
                let log = self.read(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog").unwrap_or_default();
                let log = String::from_utf8_lossy(&log);
                let first: Vec<&str> = log.lines().filter(|line| line.contains("error")).take(3).collect();
                Err(fault(&if first.is_empty() { self.reason(code) } else { first.join("; ") }))
            }
        };
        // SAFETY: the program is not used any more.
        unsafe { destroy(&raw mut program) };
        let mut made = made?;
        // (A text ends with a zero.)
        if form == Form::Ptx && made.last() == Some(&0) {
            made.pop();
        }
        match made.is_empty() {
            true => Err(fault("nothing came of it")),
            false => Ok(made),
        }
    }

    /// What a program has: how much of it there is, and then all of it.
    fn read(&self, program: Program, length: &str, all: &str) -> Result<Vec<u8>, NoNative> {
        let (length, all) = (
            self.get::<unsafe extern "C" fn(Program, *mut usize) -> c_int>(length)?,
            self.get::<unsafe extern "C" fn(Program, *mut u8) -> c_int>(all)?,
        );
        let mut size = 0;
        // SAFETY: it writes a number.
        let mut code = unsafe { length(program, &raw mut size) };
        let mut bytes = vec![0_u8; size];
        if code == 0 && size > 0 {
            // SAFETY: it writes as much as it has said there is.
            code = unsafe { all(program, bytes.as_mut_ptr()) };
        }
        match code {
            0 => Ok(bytes),
            code => Err(NoNative(format!("the kernel does not compile: {}", self.reason(code)))),
        }
    }

    /// What a code means.
    fn reason(&self, code: c_int) -> String {
        let ask = self.get::<unsafe extern "C" fn(c_int) -> *const c_char>("nvrtcGetErrorString");
        // SAFETY: the texts are constants of the library.
        let text = ask.ok().map(|ask| unsafe { ask(code) }).filter(|text| !text.is_null());
        // SAFETY: they end with a zero.
        let text = text.map(|text| unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned());
        text.unwrap_or_else(|| format!("NVRTC says {code}"))
    }
}

/// The architecture to compile for: a GPU that is newer than the compiler takes what was compiled for an older one. (Where there is none the
/// compiler says so.)
fn architecture((major, minor): (i32, i32), known: &[i32]) -> i32 {
    let own = 10 * major + minor;
    known.iter().copied().filter(|known| *known <= own).max().unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_architecture_of_the_compiler_that_the_gpu_runs() {
        let known = [50, 70, 80, 90, 100, 120];
        assert_eq!([(9, 0), (8, 6), (10, 3), (12, 1)].map(|gpu| architecture(gpu, &known)), [90, 80, 100, 120]);
        // The compiler does not tell, or is too new.
        assert_eq!((architecture((9, 0), &[]), architecture((3, 5), &known)), (90, 35));
    }

    #[test]
    fn it_is_looked_for_in_toolkits_and_python_packages() {
        let dir = tempfile::tempdir().expect("a directory");
        let packages = dir.path().join("lib/python3.12/site-packages/nvidia");
        for package in ["cuda_nvrtc", "cu13", "cublas"] {
            fs::create_dir_all(packages.join(package).join("lib")).expect("made");
        }
        let found = folders(&|name| match name {
            "CUDA_HOME" => Some("/cuda-12.8".into()),
            "VIRTUAL_ENV" => Some(dir.path().into()),
            _ => None,
        });
        let place = |path: &Path| found.iter().position(|folder| folder == path);
        assert_eq!(place(Path::new("/cuda-12.8/lib64")), Some(0));
        assert!(place(Path::new("/usr/local/cuda/lib64")) < place(&packages.join("cuda_nvrtc/lib")));
        assert!(place(&packages.join("cu13/lib")).is_some());
    }
}
