//! The iteration on a GPU: CUDA source, compiled when it is needed by NVIDIA's run-time compiler. The driver and the compiler are
//! looked for then; a machine without them says so.
//!
//! The one unsafe call is the launch of the kernel: nobody checks what it does with memory.

#![allow(unsafe_code)]

use super::compiler::{self, NoNative};
use super::iterate::Iterate;
use super::source::record_length;
use super::{rows::Rows, source::LOG};
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
    stream: Arc<CudaStream>,
    function: CudaFunction,
    rows: usize,
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
        let name = context.name().map_err(driver)?;
        let (rows, record) = (Rows::new(code).count(), record_length(code.d));
        Ok(Kernel {
            stream: context.default_stream(),
            function,
            rows,
            record,
            name,
            width: WIDTH,
            spent: Arc::default(),
        })
    }

    /// The same for another worker, whose launches do not wait for those of others.
    pub fn fork(&self) -> Self {
        let stream = self.stream.context().new_stream().unwrap_or_else(|_| self.stream.clone());
        Kernel { stream, ..self.clone() }
    }

    fn launch(&self, state: &mut [f64], log: &mut [f64], tolerance: f64, flags: i32) -> Result<(), DriverError> {
        let stream = &self.stream;
        let mut numbers = stream.clone_htod(state)?;
        let mut records: CudaSlice<f64> = stream.alloc_zeros(if flags == 0 { 1 } else { log.len() })?;
        let mut longest: CudaSlice<u64> = stream.alloc_zeros(1)?;
        let count = (state.len() / self.rows) as u64;
        let blocks = count.div_ceil(u64::from(BLOCK));
        let config = LaunchConfig {
            grid_dim: (u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1),
            block_dim: (BLOCK, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = stream.launch_builder(&self.function);
        launch.arg(&mut numbers).arg(&mut records).arg(&count).arg(&tolerance).arg(&MOST).arg(&flags).arg(&mut longest);
        launch.record_kernel_launch(CUevent_flags::CU_EVENT_DEFAULT);
        // SAFETY: the arguments are those of the kernel, which touches `count` numbers in each row and its own records.
        let events = unsafe { launch.launch(config)? };
        stream.memcpy_dtoh(&numbers, state)?;
        if flags != 0 {
            stream.memcpy_dtoh(&records, log)?;
        }
        let longest = stream.clone_dtoh(&longest)?;
        stream.synchronize()?;
        if let (Some((begun, ended)), Ok(mut spent)) = (events, self.spent.lock()) {
            spent.seconds += f64::from(begun.elapsed_ms(&ended)?) / 1e3;
            spent.longest = spent.longest.max(longest[0]);
            spent.launches += 1;
        }
        Ok(())
    }
}

impl Iterate for Kernel {
    fn width(&self) -> usize {
        self.width
    }

    fn advance(&mut self, state: &mut [f64], log: &mut [f64], tolerance: f64, flags: i32) -> Result<(), String> {
        let fits = state.len() == self.rows * self.width && log.len() == self.width * LOG * self.record;
        assert!(fits, "the state has the size the code was compiled for");
        self.launch(state, log, tolerance, flags).map_err(|error| driver(error).0)
    }
}
