//! Many trajectories side by side in compiled code.
//!
//! The iteration of `lanes` as source text for one model ([`source`]), compiled by the C compiler of the machine and kept
//! ([`compiler`]). What it does not decide goes to the event engine, as from lanes. It agrees with lanes within the tolerance, not to the
//! last bit: the compiler fuses multiplications and additions where the processor can.

mod compiler;
mod iterate;
mod library;
mod rows;
mod source;
mod state;
mod worker;

use crate::Worker;
use crate::lanes::LaneCode;
pub use compiler::NoNative;
use iterate::Iterate;
use library::Iteration;
use rows::Rows;
use saltus::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worker::CompiledWorker;

/// A model in compiled code, for as many trajectories side by side as the processor has room for in a register.
#[derive(Clone)]
pub struct Native {
    code: Arc<LaneCode>,
    iteration: Iteration,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").field("width", &self.iteration.width()).finish_non_exhaustive()
    }
}

/// The same code.
impl PartialEq for Native {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.code, &other.code)
    }
}

impl Native {
    /// Compiles a model, or finds what was compiled before.
    ///
    /// # Errors
    /// Lanes cannot compute the model, or there is no compiler.
    pub fn compile(problem: &Problem) -> Result<Self, NoNative> {
        let code = LaneCode::new(problem).map_err(|why| NoNative(why.into()))?;
        let width = compiler::width();
        let text =
            source::source(&code, width).ok_or_else(|| NoNative("its impact law has corners or jumps".into()))?;
        let library = compiler::library(&text)?;
        let iteration = Iteration::load(&library, width, Rows::new(&code).count(), source::records(&code, width))?;
        Ok(Native { code: Arc::new(code), iteration })
    }

    /// A worker. Where `stop` is set, it returns without the outcomes that are missing.
    #[must_use]
    pub fn worker(&self, problem: &Problem, tolerance: f64, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
        Box::new(CompiledWorker::new(self.iteration.clone(), &self.code, problem, tolerance, stop))
    }
}
