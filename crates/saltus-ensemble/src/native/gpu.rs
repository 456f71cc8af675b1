//! The iteration on a GPU: CUDA source, compiled when it is needed by NVIDIA's run-time compiler. The driver and the compiler are
//! looked for then; a machine without them says so.
//!
//! The one unsafe call is the launch of the kernel: nobody checks what it does with memory.

#![allow(unsafe_code)]

use super::compiler::{self, NoNative};
use super::iterate::{Fault, Iterate, fitting};
use super::nvrtc::{self, Form};
use super::rows::Rows;
use super::state::State;
use cudarc::driver::sys::{CUevent_flags, cudaError_enum};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PinnedHostSlice,
    PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Threads in a block; the source is compiled for as many.
const BLOCK: u32 = 128;

/// Trajectories of one worker. Several workers keep a GPU busy, and as many cores with what is before and after a kernel.
pub const WIDTH: usize = 1 << 14;

/// Where there is little memory, a worker takes as few as these.
const LEAST: usize = 1 << 10;

/// Steps in a launch.
const MOST: i64 = 1 << 14;

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its memory in bytes.
    pub memory: usize,
    /// Its compute capability.
    pub capability: (i32, i32),
}

/// The GPUs of this machine, and why one of them cannot be used.
///
/// # Errors
/// There is no driver, or it does not answer.
pub fn devices() -> Result<Vec<Result<Device, NoNative>>, NoNative> {
    let device = |ordinal: usize| {
        let context = CudaContext::new(ordinal).map_err(driver)?;
        let capability = context.compute_capability().map_err(driver)?;
        Ok(Device { name: context.name().map_err(driver)?, memory: context.total_mem().map_err(driver)?, capability })
    };
    Ok((0..count()?).map(device).collect())
}

/// What programs need beside a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// The newest CUDA that the driver knows, such as 12.4.
    pub driver: String,
    /// The version of NVIDIA's run-time compiler, and where it was found; or why there is none.
    pub compiler: Result<(String, String), NoNative>,
}

/// What programs need beside a GPU, where there is a driver.
///
/// # Errors
/// There is no driver, or it does not answer.
pub fn tools() -> Result<Tools, NoNative> {
    let compiler = nvrtc::find().map(|found| (found.shown_version(), found.place.display().to_string()));
    Ok(Tools { driver: driver_version()?.0, compiler })
}

/// How many GPUs there are.
fn count() -> Result<usize, NoNative> {
    let (version, is_enough) = driver_version()?;
    if !is_enough {
        return Err(NoNative(format!(
            "the NVIDIA driver is too old: it knows CUDA {version}, and 12.0 is needed; update the driver"
        )));
    }
    Ok(usize::try_from(CudaContext::device_count().map_err(driver)?).unwrap_or(0))
}

/// The newest CUDA that the driver knows, and whether that is enough. (Functions that an old one does not have must not be called.)
fn driver_version() -> Result<(String, bool), NoNative> {
    if !is_driver_there() {
        return Err(NoNative("there is no NVIDIA driver on this machine (libcuda was not found)".into()));
    }
    let mut version = 0;
    // SAFETY: it writes a number.
    unsafe { cudarc::driver::sys::cuDriverGetVersion(&raw mut version) }.result().map_err(driver)?;
    Ok((format!("{}.{}", version / 1000, version % 1000 / 10), version >= 12_000))
}

/// The first GPU that can be used.
fn first() -> Result<Arc<CudaContext>, NoNative> {
    let mut failed = None;
    for ordinal in 0..count()? {
        match CudaContext::new(ordinal) {
            Ok(context) => return Ok(context),
            Err(error) => drop(failed.get_or_insert(error)),
        }
    }
    Err(failed.map_or_else(|| NoNative("there is no NVIDIA GPU on this machine".into()), driver))
}

fn is_driver_there() -> bool {
    // SAFETY: it looks for a library and loads it if it is there.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

fn driver(error: DriverError) -> NoNative {
    let text = error.error_string().map_or_else(|_| error.to_string(), |text| text.to_string_lossy().into_owned());
    NoNative(format!("the GPU's driver says: {text}"))
}

/// Whether NVIDIA's run-time compiler takes a source, for a GPU of compute capability 9.0; None where the compiler is not there. Needs no
/// GPU.
pub fn compiles(text: &str) -> Option<Result<(), NoNative>> {
    let nvrtc = nvrtc::find().ok()?;
    // (All of what may be needed of it.)
    let compile = |form| {
        let options = nvrtc.options((9, 0), form).unwrap_or_default();
        nvrtc.compile(text, &options, form).map(drop)
    };
    Some(compile(Form::Ptx).and_then(|()| compile(Form::Cubin)))
}

/// A compiled kernel on a GPU.
#[derive(Clone)]
pub struct Kernel {
    context: Arc<CudaContext>,
    function: CudaFunction,
    /// Numbers of a trajectory: those shared with the processor, those that stay on the GPU; numbers of a record.
    shared: usize,
    own: usize,
    record: usize,
    /// Room for records of a trajectory.
    slots: usize,
    /// The name of the GPU.
    pub name: String,
    /// How many trajectories there are at a time.
    pub width: usize,
    /// What the kernel has taken so far.
    pub spent: Arc<Mutex<Spent>>,
    rooms: Arc<Rooms>,
}

/// The rooms of all workers.
#[derive(Default)]
struct Rooms {
    /// How many there are, with one that is being made.
    count: AtomicUsize,
    /// One at a time is made: who finds no memory then knows whether others have it. Whether what the kernel itself needs was set aside.
    making: Mutex<bool>,
}

/// What a kernel has taken: seconds, and the most steps of a trajectory in one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Seconds on the GPU.
    pub seconds: f64,
    /// The most steps of a thread in one launch.
    pub longest: u64,
    /// Launches.
    pub launches: u64,
}

/// Why there is no function.
struct Unloaded {
    why: NoNative,
    /// Whether what was compiled is too new for the driver.
    is_too_new: bool,
}

impl From<NoNative> for Unloaded {
    fn from(why: NoNative) -> Self {
        Unloaded { why, is_too_new: false }
    }
}

/// The kernel of a source: compiled, or as it was compiled before.
fn function(context: &Arc<CudaContext>, text: &str, form: Form) -> Result<CudaFunction, Unloaded> {
    let nvrtc = nvrtc::find()?;
    let version = nvrtc.shown_version();
    let too_new = || {
        let (driver, _) = driver_version().unwrap_or_default();
        let compiler = nvrtc.place.display();
        NoNative(format!(
            "the driver is too old for NVIDIA's run-time compiler {version} ({compiler}): update the driver, or use the compiler of CUDA {driver} or older"
        ))
    };
    let capability = context.compute_capability().map_err(driver)?;
    let options = nvrtc.options(capability, form).ok_or_else(too_new)?;
    let make = |_: &Path, output: &Path| {
        let made = nvrtc.compile(text, &options, form)?;
        fs::write(output, made).map_err(|error| NoNative(format!("cannot keep the compiled kernel: {error}")))
    };
    let is_too_new = Cell::new(false);
    let load = |path: &Path| {
        let unreadable = |error| NoNative(format!("the compiled kernel {} cannot be read: {error}", path.display()));
        let mut code = fs::read(path).map_err(unreadable)?;
        // (The driver reads a text up to a zero.)
        code.push(0);
        let module = context.load_module(Ptx::from_binary(code)).map_err(|error| {
            is_too_new.set(error.0 == cudaError_enum::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
            if is_too_new.get() { too_new() } else { driver(error) }
        })?;
        module.load_function("saltus_kernel").map_err(driver)
    };
    let ending = if form == Form::Ptx { "ptx" } else { "cubin" };
    let head = format!("// NVRTC {version} {}", options.join(" "));
    compiler::kept(&format!("{head}\n{text}"), ("cu", ending), &make, &load)
        .map_err(|why| Unloaded { why, is_too_new: is_too_new.get() })
}

impl Kernel {
    /// Compiles a source for the first GPU that can be used, or finds what was compiled before.
    pub fn compile(rows: Rows, (slots, record): (usize, usize), text: &str) -> Result<Self, NoNative> {
        let context = first()?;
        let function = match function(&context, text, Form::Ptx) {
            // (The driver's own compiler is older than the run-time compiler: what the latter makes for this GPU alone needs no other.)
            Err(Unloaded { is_too_new: true, .. }) => function(&context, text, Form::Cubin),
            other => other,
        }
        .map_err(|unloaded| unloaded.why)?;
        let name = context.name().map_err(driver)?;
        Ok(Kernel {
            context,
            function,
            shared: rows.shared(),
            own: rows.count() - rows.shared(),
            record,
            slots,
            name,
            width: WIDTH,
            spent: Arc::default(),
            rooms: Arc::default(),
        })
    }

    /// Launches of a worker, which do not wait for those of others.
    pub fn launches(&self) -> Launches {
        let stream = self.context.new_stream().unwrap_or_else(|_| self.context.default_stream());
        Launches { kernel: self.clone(), stream, room: None, asked: 0 }
    }
}

/// Launches of a kernel by one worker, and its memory on the GPU.
pub struct Launches {
    kernel: Kernel,
    stream: Arc<CudaStream>,
    room: Option<Room>,
    /// For how many trajectories room was asked.
    asked: usize,
}

struct Room {
    /// For how many trajectories.
    width: usize,
    shared: CudaSlice<f64>,
    own: CudaSlice<f64>,
    /// Records as they are made, and packed.
    records: CudaSlice<f64>,
    packed: CudaSlice<f64>,
    counts: CudaSlice<u64>,
    /// What goes to the GPU and comes back passes through here: the processor's own memory is copied slowly, and one worker waits for another.
    passage: PinnedHostSlice<f64>,
    has_records: bool,
    _counted: Counted,
}

/// One of the rooms that are counted: from before it has any memory until after that.
struct Counted(Arc<Rooms>, Arc<CudaStream>);

impl Counted {
    fn new(rooms: &Arc<Rooms>, stream: &Arc<CudaStream>) -> Self {
        rooms.count.fetch_add(1, Ordering::SeqCst);
        Counted(rooms.clone(), stream.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // (What was freed is there again once the stream has come so far.)
        let _ = self.1.synchronize();
        self.0.count.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Room {
    fn new(stream: &Arc<CudaStream>, kernel: &Kernel, width: usize, has_records: bool) -> Result<Self, DriverError> {
        let counted = Counted::new(&kernel.rooms, stream);
        let records = if has_records { width * kernel.slots * kernel.record } else { 1 };
        let mut room = Room {
            width,
            shared: stream.alloc_zeros(width * kernel.shared)?,
            own: stream.alloc_zeros((width * kernel.own).max(1))?,
            records: stream.alloc_zeros(records)?,
            packed: stream.alloc_zeros(records)?,
            counts: stream.alloc_zeros(2)?,
            // SAFETY: it is written before it is read.
            passage: unsafe { stream.context().alloc_pinned_with_flags((width * kernel.shared).max(1), 0)? },
            has_records,
            _counted: counted,
        };
        // A launch for no trajectory: what a launch itself needs must be there too.
        room.start(stream, kernel, 0, (0.0, 0))?;
        stream.synchronize()?;
        Ok(room)
    }

    /// Launches the kernel for the first trajectories.
    fn start(
        &mut self,
        stream: &Arc<CudaStream>,
        kernel: &Kernel,
        used: u64,
        (tolerance, flags): (f64, i32),
    ) -> Result<Option<(CudaEvent, CudaEvent)>, DriverError> {
        let count = self.width as u64;
        let blocks = used.div_ceil(u64::from(BLOCK)).max(1);
        let config = LaunchConfig {
            grid_dim: (u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1),
            block_dim: (BLOCK, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = stream.launch_builder(&kernel.function);
        launch.arg(&mut self.shared).arg(&mut self.own).arg(&mut self.records).arg(&mut self.packed);
        launch.arg(&count).arg(&used).arg(&tolerance).arg(&MOST).arg(&flags).arg(&mut self.counts);
        launch.record_kernel_launch(CUevent_flags::CU_EVENT_DEFAULT);
        // SAFETY: the arguments are those of the kernel, which touches the numbers of `used` trajectories and their records; there
        // is room for `count`.
        unsafe { launch.launch(config) }
    }

    /// As large a room as there is memory for. `is_ready`: what the kernel itself needs was set aside.
    fn fitting(
        stream: &Arc<CudaStream>,
        kernel: &Kernel,
        is_ready: &mut bool,
        wanted: usize,
        has_records: bool,
    ) -> Result<Self, DriverError> {
        if !*is_ready {
            // The driver sets memory aside for what the kernel does not hold in registers when it is launched first, and keeps it: that must not
            // have gone to trajectories by then.
            drop(Room::new(stream, kernel, 1, false)?);
            *is_ready = true;
        }
        fitting(wanted, LEAST, |width| Room::new(stream, kernel, width, has_records), is_full).map(|(_, room)| room)
    }
}

/// Whether there was not enough memory.
fn is_full(error: &DriverError) -> bool {
    error.0 == cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY
}

impl Launches {
    /// Launches the kernel once for the trajectories of a state, for which there is room.
    fn launch(
        (stream, kernel, room): (&Arc<CudaStream>, &Kernel, &mut Room),
        state: &mut [f64],
        log: &mut Vec<f64>,
        tolerance: f64,
        flags: i32,
    ) -> Result<(), DriverError> {
        let used = (state.len() / kernel.shared) as u64;
        let passage = &mut room.passage.as_mut_slice()?[..state.len()];
        passage.copy_from_slice(state);
        stream.memcpy_htod(passage, &mut room.shared)?;
        stream.memset_zeros(&mut room.counts)?;
        let events = room.start(stream, kernel, used, (tolerance, flags))?;
        let passage = &mut room.passage.as_mut_slice()?[..state.len()];
        stream.memcpy_dtoh(&room.shared.slice(..state.len()), passage)?;
        let mut counts = [0; 2];
        stream.memcpy_dtoh(&room.counts, &mut counts)?;
        stream.synchronize()?;
        state.copy_from_slice(passage);
        let [longest, records] = counts;
        let length = usize::try_from(records).unwrap_or(0) * kernel.record;
        log.clear();
        while log.len() < length {
            let next = log.len()..length.min(log.len() + state.len());
            let part = &mut passage[..next.len()];
            stream.memcpy_dtoh(&room.packed.slice(next), part)?;
            stream.synchronize()?;
            log.extend_from_slice(part);
        }
        if let (Some((begun, ended)), Ok(mut spent)) = (events, kernel.spent.lock()) {
            spent.seconds += f64::from(begun.elapsed_ms(&ended)?) / 1e3;
            spent.longest = spent.longest.max(longest);
            spent.launches += 1;
        }
        Ok(())
    }
}

impl Iterate for Launches {
    fn room(&self) -> (State, Vec<f64>) {
        (State::by_trajectories(self.kernel.shared, self.kernel.width), Vec::new())
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn is_packed(&self) -> bool {
        true
    }

    fn prepare(&mut self, wanted: usize, flags: i32) -> Result<usize, Fault> {
        let (stream, kernel, has_records) = (&self.stream, &self.kernel, flags != 0);
        // (One that was made for less than was wanted then is as large as it can be.)
        let is_enough =
            |room: &Room| (room.has_records || !has_records) && (room.width >= wanted || room.width < self.asked);
        if let Some(room) = self.room.as_ref().filter(|room| is_enough(room)) {
            return Ok(room.width);
        }
        let mut is_ready = kernel.rooms.making.lock().unwrap_or_else(PoisonError::into_inner);
        self.room = None;
        self.asked = wanted;
        match Room::fitting(stream, kernel, &mut is_ready, wanted, has_records) {
            Ok(room) => Ok(self.room.insert(room).width),
            Err(error) if is_full(&error) => {
                let is_shared = kernel.rooms.count.load(Ordering::SeqCst) > 0;
                let least = wanted.min(LEAST);
                let why = format!("its memory has no room for {least} trajectories ({})", driver(error).0);
                Err(Fault::NoRoom { why, is_shared })
            }
            Err(error) => Err(Fault::Failed(driver(error).0)),
        }
    }

    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), Fault> {
        let numbers = state.numbers();
        let fits =
            |room: &&mut Room| numbers.len() <= room.width * self.kernel.shared && (room.has_records || flags == 0);
        let Some(room) = self.room.as_mut().filter(fits) else {
            return Err(Fault::Failed("no room was made for these trajectories".into()));
        };
        let parts = (&self.stream, &self.kernel, room);
        Launches::launch(parts, numbers, log, tolerance, flags).map_err(|error| match is_full(&error) {
            // (Nothing was advanced. A smaller room would not do: what a trajectory keeps on the GPU is in this one.)
            true => Fault::NoRoom {
                why: format!("its memory has no room for a launch ({})", driver(error).0),
                is_shared: self.kernel.rooms.count.load(Ordering::SeqCst) > 1,
            },
            false => Fault::Failed(driver(error).0),
        })
    }
}
