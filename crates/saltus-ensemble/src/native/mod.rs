//! Many trajectories side by side in compiled code.
//!
//! The iteration of `lanes` as source text for one model ([`source`]), compiled by the C compiler of the machine and kept
//! ([`compiler`]). What it does not decide goes to the event engine, as from lanes. It agrees with lanes within the tolerance, not to the
//! last bit: the compiler fuses multiplications and additions where the processor can.

mod compiler;
mod glide;
mod gpu;
mod iterate;
mod library;
mod order;
mod rows;
mod source;
mod state;
mod worker;

use crate::lanes::{LaneCode, LaneWorker};
use crate::{Job, Outcome, Wanted, Worker};
pub use compiler::NoNative;
pub use gpu::{Device, Spent, devices};
use gpu::{Kernel, Launches};
use library::Iteration;
use rows::Rows;
use saltus::Problem;
use source::Place;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worker::CompiledWorker;

/// A model in compiled code: for the registers of this machine's processor, or for its GPU.
#[derive(Clone)]
pub struct Native {
    code: Arc<LaneCode>,
    made: Made,
}

#[derive(Clone)]
enum Made {
    Library(Iteration),
    Kernel(Kernel),
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").field("gpu", &self.gpu()).finish_non_exhaustive()
    }
}

/// The same code.
impl PartialEq for Native {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.code, &other.code)
    }
}

impl Native {
    /// Compiles a model for the processor, or finds what was compiled before.
    ///
    /// # Errors
    /// Lanes cannot compute the model, or there is no compiler.
    pub fn compile(problem: &Problem) -> Result<Self, NoNative> {
        Self::for_width(problem, Place::Processor(compiler::width()), compiler::width())
    }

    /// Compiles what a thread of a GPU does for the processor: to test it where there is no GPU.
    ///
    /// # Errors
    /// See [`Native::compile`].
    pub fn compile_thread(problem: &Problem) -> Result<Self, NoNative> {
        Self::for_width(problem, Place::One, 1)
    }

    fn for_width(problem: &Problem, place: Place, width: usize) -> Result<Self, NoNative> {
        let (code, text) = text(problem, place)?;
        let library = compiler::library(&text)?;
        let iteration = Iteration::load(&library, width, Rows::new(&code).count(), source::records(&code, width))?;
        Ok(Native { code: Arc::new(code), made: Made::Library(iteration) })
    }

    /// Compiles a model for the GPU of this machine.
    ///
    /// # Errors
    /// Lanes cannot compute the model, or there is no GPU, driver or compiler for it.
    pub fn compile_gpu(problem: &Problem) -> Result<Self, NoNative> {
        let (code, text) = text(problem, Place::Gpu)?;
        let kernel = Kernel::compile(&code, &text)?;
        Ok(Native { code: Arc::new(code), made: Made::Kernel(kernel) })
    }

    /// The CUDA source of a model.
    ///
    /// # Errors
    /// Lanes cannot compute the model.
    pub fn cuda(problem: &Problem) -> Result<String, NoNative> {
        text(problem, Place::Gpu).map(|(_, text)| text)
    }

    /// How many numbers the registers of this machine's processor hold, and its compiler, by its first line about itself.
    pub fn processor() -> (usize, Result<String, NoNative>) {
        (compiler::width(), compiler::version())
    }

    /// The name of the GPU, if it is code for one.
    #[must_use]
    pub fn gpu(&self) -> Option<&str> {
        match &self.made {
            Made::Library(_) => None,
            Made::Kernel(kernel) => Some(&kernel.name),
        }
    }

    /// Code for a GPU with another number of trajectories at a time.
    #[must_use]
    pub fn with_width(mut self, width: usize) -> Self {
        if let Made::Kernel(kernel) = &mut self.made {
            kernel.width = width.max(1);
        }
        self
    }

    /// How many trajectories a worker takes at a time, where they are many.
    #[must_use]
    pub fn together(&self) -> Option<usize> {
        match &self.made {
            Made::Library(_) => None,
            Made::Kernel(kernel) => Some(kernel.width),
        }
    }

    /// What the GPU has taken so far, all workers together.
    #[must_use]
    pub fn spent(&self) -> Option<Spent> {
        match &self.made {
            Made::Library(_) => None,
            Made::Kernel(kernel) => kernel.spent.lock().ok().map(|spent| *spent),
        }
    }

    /// A worker. Where `stop` is set, it returns without the outcomes that are missing.
    #[must_use]
    pub fn worker(&self, problem: &Problem, tolerance: f64, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
        match self.made.clone() {
            Made::Library(made) => Box::new(CompiledWorker::new(made, &self.code, problem, tolerance, stop)),
            Made::Kernel(made) => Box::new(GpuWorker {
                gpu: CompiledWorker::new(made.launches(), &self.code, problem, tolerance, stop),
                lanes: LaneWorker::new(problem, tolerance, stop).ok(),
            }),
        }
    }
}

/// Fewer trajectories than these are done in lanes before a GPU has begun.
const FEW: usize = 1024;

/// A GPU, and lanes for what is too little for it.
struct GpuWorker {
    gpu: CompiledWorker<Launches>,
    lanes: Option<LaneWorker>,
}

impl Worker for GpuWorker {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        match &mut self.lanes {
            Some(lanes) if jobs.len() < FEW => lanes.run(jobs, wanted),
            _ => self.gpu.run(jobs, wanted),
        }
    }
}

fn text(problem: &Problem, place: Place) -> Result<(LaneCode, String), NoNative> {
    let mut code = LaneCode::new(problem).map_err(|why| NoNative(why.into()))?;
    if place == Place::Gpu {
        code.order = gpu_order(&code);
    }
    let text = source::source(&code, place).ok_or_else(|| NoNative("its impact law has corners or jumps".into()))?;
    Ok((code, text))
}

/// The order of the series on a GPU: the highest with which its arrays, and those of the unknowns, about fit into the registers of a
/// thread.
fn gpu_order(code: &LaneCode) -> usize {
    const NUMBERS: usize = 120;
    match code.series.source("r", code.order, &[], true).filter(|_| code.series.convolved() > 0.0) {
        Some(series) => (NUMBERS / (series.arrays + 2 * code.d)).saturating_sub(1).clamp(10, 16),
        None => code.order,
    }
}
