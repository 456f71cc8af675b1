//! The iteration on a GPU: CUDA source, compiled when it is needed by NVIDIA's run-time compiler. The driver and the compiler are
//! looked for then; a machine without them says so.
//!
//! The one unsafe call is the launch of the kernel: nobody checks what it does with memory.

#![allow(unsafe_code)]

use super::compiler::{self, NoNative};
use super::iterate::Iterate;
use super::rows::Rows;
use super::source::{LOG, record_length};
use super::state::State;
use crate::lanes::LaneCode;
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};
use std::fs;
use std::sync::{Arc, Mutex};

/// Threads in a block; the source is compiled for as many.
const BLOCK: u32 = 128;

/// Trajectories of one worker. Several workers keep a GPU busy, and as many cores with what is before and after a kernel.
pub const WIDTH: usize = 1 << 14;

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

/// The GPUs of this machine.
///
/// # Errors
/// There is no driver, or it does not answer.
pub fn devices() -> Result<Vec<Device>, NoNative> {
    if !is_driver_there() {
        return Err(NoNative("there is no NVIDIA driver on this machine (libcuda was not found)".into()));
    }
    let count = CudaContext::device_count().map_err(driver)?;
    let count = usize::try_from(count).unwrap_or(0);
    (0..count)
        .map(|ordinal| {
            let context = CudaContext::new(ordinal).map_err(driver)?;
            let capability = context.compute_capability().map_err(driver)?;
            Ok(Device {
                name: context.name().map_err(driver)?,
                memory: context.total_mem().map_err(driver)?,
                capability,
            })
        })
        .collect()
}

fn is_driver_there() -> bool {
    // SAFETY: it looks for a library and loads it if it is there.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

fn driver(error: DriverError) -> NoNative {
    let text = error.error_string().map_or_else(|_| error.to_string(), |text| text.to_string_lossy().into_owned());
    NoNative(format!("the GPU's driver says: {text}"))
}

fn refused(error: CompileError) -> NoNative {
    match error {
        CompileError::CompileError { log, .. } => {
            let log = log.to_string_lossy();
            let first: Vec<&str> = log.lines().filter(|line| line.contains("error")).take(3).collect();
            NoNative(format!("the kernel does not compile: {}", first.join("; ")))
        }
        other => NoNative(format!("the kernel does not compile: {other:?}")),
    }
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
    /// The name of the GPU.
    pub name: String,
    /// How many trajectories there are at a time.
    pub width: usize,
    /// What the kernel has taken so far.
    pub spent: Arc<Mutex<Spent>>,
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

impl Kernel {
    /// Compiles a source for the first GPU.
    pub fn compile(code: &LaneCode, text: &str) -> Result<Self, NoNative> {
        if devices()?.is_empty() {
            return Err(NoNative("there is no NVIDIA GPU on this machine".into()));
        }
        // SAFETY: it looks for a library and loads it if it is there.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(NoNative(
                "NVIDIA's run-time compiler was not found (libnvrtc): it comes with the CUDA toolkit".into(),
            ));
        }
        let context = CudaContext::new(0).map_err(driver)?;
        let (major, minor) = context.compute_capability().map_err(driver)?;
        let options = [format!("--gpu-architecture=compute_{major}{minor}"), "--extra-device-vectorization".into()];
        let ptx = compiler::kept(&format!("// {}\n{text}", options.join(" ")), "cu", "ptx", |_, output| {
            let options = CompileOptions { options: options.to_vec(), ..CompileOptions::default() };
            let made = compile_ptx_with_opts(text, options).map_err(refused)?;
            let write = fs::write(output, made.to_src());
            write.map_err(|error| NoNative(format!("cannot keep the compiled kernel: {error}")))
        })?;
        let module = context.load_module(Ptx::from_file(ptx)).map_err(driver)?;
        let function = module.load_function("saltus_kernel").map_err(driver)?;
        let (name, rows) = (context.name().map_err(driver)?, Rows::new(code));
        Ok(Kernel {
            context,
            function,
            shared: rows.shared(),
            own: rows.count() - rows.shared(),
            record: record_length(code.d),
            name,
            width: WIDTH,
            spent: Arc::default(),
        })
    }

    /// Launches of a worker, which do not wait for those of others.
    pub fn launches(&self) -> Launches {
        let stream = self.context.new_stream().unwrap_or_else(|_| self.context.default_stream());
        Launches { kernel: self.clone(), stream, room: None }
    }
}

/// Launches of a kernel by one worker, and its memory on the GPU.
pub struct Launches {
    kernel: Kernel,
    stream: Arc<CudaStream>,
    room: Option<Room>,
}

struct Room {
    shared: CudaSlice<f64>,
    own: CudaSlice<f64>,
    /// Records as they are made, and packed.
    records: CudaSlice<f64>,
    packed: CudaSlice<f64>,
    counts: CudaSlice<u64>,
    has_records: bool,
}

impl Room {
    fn new(stream: &Arc<CudaStream>, kernel: &Kernel, has_records: bool) -> Result<Self, DriverError> {
        let records = if has_records { kernel.width * LOG * kernel.record } else { 1 };
        Ok(Room {
            shared: stream.alloc_zeros(kernel.width * kernel.shared)?,
            own: stream.alloc_zeros(kernel.width * kernel.own)?,
            records: stream.alloc_zeros(records)?,
            packed: stream.alloc_zeros(records)?,
            counts: stream.alloc_zeros(2)?,
            has_records,
        })
    }
}

impl Launches {
    fn launch(&mut self, state: &mut [f64], log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), DriverError> {
        let (stream, kernel) = (&self.stream, &self.kernel);
        let room = match self.room.take() {
            Some(room) if room.has_records || flags == 0 => self.room.insert(room),
            _ => self.room.insert(Room::new(stream, kernel, flags != 0)?),
        };
        let (count, used) = (kernel.width as u64, (state.len() / kernel.shared) as u64);
        let config = LaunchConfig {
            grid_dim: (u32::try_from(used.div_ceil(u64::from(BLOCK))).unwrap_or(u32::MAX), 1, 1),
            block_dim: (BLOCK, 1, 1),
            shared_mem_bytes: 0,
        };
        stream.memcpy_htod(state, &mut room.shared)?;
        stream.memset_zeros(&mut room.counts)?;
        let mut launch = stream.launch_builder(&kernel.function);
        launch.arg(&mut room.shared).arg(&mut room.own).arg(&mut room.records).arg(&mut room.packed);
        launch.arg(&count).arg(&used).arg(&tolerance).arg(&MOST).arg(&flags).arg(&mut room.counts);
        launch.record_kernel_launch(CUevent_flags::CU_EVENT_DEFAULT);
        // SAFETY: the arguments are those of the kernel, which touches the numbers of `used` trajectories and their records; there
        // is room for `count`.
        let events = unsafe { launch.launch(config)? };
        stream.memcpy_dtoh(&room.shared.slice(..state.len()), state)?;
        let mut counts = [0; 2];
        stream.memcpy_dtoh(&room.counts, &mut counts)?;
        stream.synchronize()?;
        let [longest, records] = counts;
        log.resize(usize::try_from(records).unwrap_or(0) * kernel.record, 0.0);
        if !log.is_empty() {
            stream.memcpy_dtoh(&room.packed.slice(..log.len()), log)?;
            stream.synchronize()?;
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

    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), String> {
        self.launch(state.numbers(), log, tolerance, flags).map_err(|error| driver(error).0)
    }
}
