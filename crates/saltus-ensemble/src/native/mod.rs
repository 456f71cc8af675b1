//! Many trajectories side by side in compiled code.
//!
//! The iteration of `lanes` as source text for one model ([`source`]), compiled by the C compiler of the machine and kept
//! ([`compiler`]). What it does not decide goes to the event engine, as from lanes. It agrees with lanes within the tolerance, not to the
//! last bit: the compiler fuses multiplications and additions where the processor can.

mod company;
mod compiler;
mod glide;
mod gpu;
mod iterate;
mod library;
mod march;
mod nvrtc;
mod order;
mod rows;
mod sections;
mod source;
mod state;
mod steps;
mod tangent;
mod travel;
mod worker;

use crate::lanes::{LaneCode, kind_of};
use crate::{Wanted, Worker};
pub use company::Shares;
use company::{Company, Terms};
pub use compiler::{NoNative, end_compilers_when};
use gpu::Kernel;
pub use gpu::{Device, Spent, Tools, devices, tools};
use library::Iteration;
use rows::Rows;
use saltus::Problem;
use saltus::scheme::{Method, Scheme};
use source::{Place, record_length};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use travel::Traveller;
pub(crate) use travel::{Journey, Travel, Travelled};
use worker::CompiledWorker;

/// A model in compiled code: for the registers of this machine's processor, or for its GPU.
#[derive(Clone)]
pub struct Native {
    code: Arc<LaneCode>,
    made: Made,
    /// The scheme whose steps it makes; by events if there is none.
    scheme: Option<Scheme>,
    /// For workers of a GPU.
    terms: Terms,
}

/// What compiled code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The processor of this machine.
    Processor,
    /// The GPU of this machine.
    Gpu,
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
        Self::compile_for(problem, None, Target::Processor)
    }

    /// Compiles a model for the GPU of this machine.
    ///
    /// # Errors
    /// Lanes cannot compute the model, or there is no GPU, driver or compiler for it.
    pub fn compile_gpu(problem: &Problem) -> Result<Self, NoNative> {
        Self::compile_for(problem, None, Target::Gpu)
    }

    /// The same model for the same place, with perturbations that go along.
    ///
    /// # Errors
    /// See [`Native::compile`].
    pub(crate) fn with_tangents(&self, problem: &Problem) -> Result<Self, NoNative> {
        let target = match &self.made {
            Made::Library(_) => Target::Processor,
            Made::Kernel(_) => Target::Gpu,
        };
        let made = Self::make(problem, None, target, true)?;
        Ok(match self.together() {
            Some(width) => made.with_width(width),
            None => made,
        })
    }

    /// What carries perturbations along trajectories; for code that has them.
    pub(crate) fn traveller(&self, tolerance: f64) -> Box<dyn Travel> {
        let (code, account) = (&self.code, &self.terms.account);
        match self.made.clone() {
            Made::Library(made) => Box::new(Traveller::new(made, code, tolerance, account)),
            Made::Kernel(made) => Box::new(Traveller::new(made.launches(), code, tolerance, account)),
        }
    }

    /// The CUDA source of a model.
    ///
    /// # Errors
    /// Lanes cannot compute the model.
    pub fn cuda(problem: &Problem) -> Result<String, NoNative> {
        Self::cuda_for(problem, None)
    }

    /// Compiles a model, by events or with the steps of a scheme.
    ///
    /// # Errors
    /// Lanes cannot compute it in this way, or there is nothing that compiles it.
    pub fn compile_for(problem: &Problem, scheme: Option<&str>, target: Target) -> Result<Self, NoNative> {
        Self::make(problem, scheme, target, false)
    }

    fn make(problem: &Problem, scheme: Option<&str>, target: Target, has_tangents: bool) -> Result<Self, NoNative> {
        let place = match target {
            Target::Processor => Place::Processor(compiler::width()),
            Target::Gpu => Place::Gpu,
        };
        let Text { code, rows, text, scheme } = text(problem, scheme, place, has_tangents)?;
        let slots = if scheme.is_some() { source::LOG } else { source::slots(&code) };
        let made = match place {
            Place::Gpu => Made::Kernel(Kernel::compile(rows, (slots, record_length(&code)), &text)?),
            Place::Processor(width) => {
                let load = |path: &Path| Iteration::load(path, width, rows.count(), slots, record_length(&code));
                Made::Library(compiler::library(&text, &load)?)
            }
        };
        Ok(Native { code: Arc::new(code), made, scheme, terms: Terms::default() })
    }

    /// The CUDA source of a model, by events or with the steps of a scheme.
    ///
    /// # Errors
    /// Lanes cannot compute it in this way.
    pub fn cuda_for(problem: &Problem, scheme: Option<&str>) -> Result<String, NoNative> {
        text(problem, scheme, Place::Gpu, false).map(|made| made.text)
    }

    /// Whether NVIDIA's run-time compiler takes the CUDA source of a model, plain and with perturbations where it has them; None where the compiler
    /// is not on this machine. It needs no GPU.
    ///
    /// # Errors
    /// Lanes cannot compute the model in this way, or the compiler refuses the source.
    pub fn cuda_compiles(problem: &Problem, scheme: Option<&str>) -> Option<Result<(), NoNative>> {
        let plain = match text(problem, scheme, Place::Gpu, false) {
            Ok(made) => gpu::compiles(&made.text)?,
            Err(why) => return Some(Err(why)),
        };
        let varied = text(problem, scheme, Place::Gpu, true).ok().filter(|_| scheme.is_none());
        Some(plain.and(varied.and_then(|made| gpu::compiles(&made.text)).unwrap_or(Ok(()))))
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
        match &mut self.made {
            Made::Library(_) => {}
            Made::Kernel(kernel) => kernel.width = width.max(1),
        }
        self
    }

    /// The same where a GPU is of use: should it fail, lanes compute what is left. Else what is under way stops
    /// ([`Native::failure`]).
    #[must_use]
    pub fn or_lanes(mut self) -> Self {
        self.terms.falls_back = true;
        self
    }

    /// Whether lanes compute what is left where a GPU fails.
    #[must_use]
    pub fn falls_back(&self) -> bool {
        self.terms.falls_back
    }

    /// The same for a GPU, with lanes for fewer trajectories than these, where a worker is given no more together.
    #[must_use]
    pub(crate) fn with_few(mut self, few: usize) -> Self {
        self.terms.few = few;
        self
    }

    /// Why the GPU failed, if it has.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.terms.account.failure()
    }

    /// How many trajectories were computed so far on the GPU and how many beside it, all workers together; None if it is code for the
    /// processor.
    #[must_use]
    pub fn shares(&self) -> Option<Shares> {
        self.gpu().map(|_| self.terms.account.shares())
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
        let spent = match &self.made {
            Made::Library(_) => return None,
            Made::Kernel(kernel) => &kernel.spent,
        };
        spent.lock().ok().map(|spent| *spent)
    }

    /// Whether it is code for what is wanted: by events, or by the steps of this scheme.
    pub(crate) fn is_for(&self, wanted: &Wanted) -> bool {
        self.scheme.map(|scheme| scheme.name) == wanted.scheme.as_deref()
    }

    /// A worker. Where `stop` is set, it returns without the outcomes that are missing; one of a GPU that fails sets it itself, unless
    /// lanes go on.
    #[must_use]
    pub fn worker(&self, problem: &Problem, tolerance: f64, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
        let rest = (&self.code, self.scheme, problem, tolerance, stop);
        match self.made.clone() {
            Made::Library(made) => Box::new(CompiledWorker::new(made, rest)),
            Made::Kernel(made) => Box::new(Company::new(CompiledWorker::new(made.launches(), rest), &self.terms)),
        }
    }
}

/// Fewer trajectories than these side by side are few for a GPU: it is slower than lanes then, as a rule.
pub const FEW: usize = 1024;

/// The source of a model, and what goes with it.
struct Text {
    code: LaneCode,
    rows: Rows,
    text: String,
    scheme: Option<Scheme>,
}

fn text(problem: &Problem, scheme: Option<&str>, place: Place, has_tangents: bool) -> Result<Text, NoNative> {
    let code = if has_tangents { LaneCode::with_tangents(problem) } else { LaneCode::new(problem) };
    let mut code = code.map_err(|why| NoNative(why.into()))?;
    if let Some(name) = scheme {
        let unknown = || NoNative(format!("steps of `{name}` are made one trajectory after the other"));
        let (kind, scheme) = kind_of(name).ok_or_else(unknown)?;
        let Method::Steps(stepping) = scheme.method else { return Err(unknown()) };
        let curved =
            || NoNative("steps are compiled where flight and gaps are linear, driven by sines and cosines".into());
        let has_states = problem.model().degrees() < problem.model().dimension();
        let text = march::source(&code, (kind, &stepping), place).filter(|_| !has_states).ok_or_else(curved)?;
        return Ok(Text { rows: Rows::of_steps(&code), code, text, scheme: Some(scheme) });
    }
    if place == Place::Gpu {
        code.order = gpu_order(&code);
    }
    let text = source::source(&code, place).ok_or_else(|| NoNative("its impact law has corners or jumps".into()))?;
    Ok(Text { rows: Rows::new(&code), code, text, scheme: None })
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
