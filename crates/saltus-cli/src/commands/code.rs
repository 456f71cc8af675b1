//! Options of all commands that compute families: what computes them.

use crate::text::{complain, grouped, printable};
use saltus_ensemble::{Code, FEW, Native, Request, Sweep};
use saltus_io::{FileError, ModelFile};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What computes a family.
#[derive(clap::Args, Clone)]
pub struct CodeArgs {
    /// Compile the model with the machine's C compiler (`cc`, or $CC): up to three times as fast; results agree within the tolerance
    #[arg(long)]
    native: bool,
    /// Where to compute: cpu, gpu (NVIDIA), or auto (a GPU if one can compute the model, otherwise the processor)
    #[arg(long, value_name = "WHERE", default_value = "cpu", value_parser = ["cpu", "gpu", "auto"], conflicts_with = "native")]
    device: String,
    /// Whether something was said about it.
    #[arg(skip)]
    has_told: Arc<AtomicBool>,
}

impl CodeArgs {
    /// The same request, computed by what was asked for.
    pub fn of(&self, request: Request) -> Request {
        let code = match self.device.as_str() {
            _ if self.native => Code::Native,
            "gpu" => Code::Gpu,
            "auto" => Code::Auto,
            _ => Code::Lanes,
        };
        Request { code, ..request }
    }

    /// Whether anything but the processor's own code was asked for.
    pub fn is_asked(&self) -> bool {
        self.native || self.device != "cpu"
    }

    /// Whether a GPU is used only if there is one that can.
    pub fn is_optional(&self) -> bool {
        self.device == "auto"
    }

    /// The family of a request. Where a GPU is used if there is one that can and if there is enough for it, a sentence says why it is not.
    pub fn sweep(&self, request: &Request, file: ModelFile) -> Result<Sweep, FileError> {
        self.sweep_of(request, file, FEW as u64)
    }

    /// The same, where fewer trajectories side by side than these are too few for a GPU.
    pub fn sweep_of(&self, request: &Request, file: ModelFile, few: u64) -> Result<Sweep, FileError> {
        let name = file.name.clone();
        let mut sweep = request.family(file)?;
        let are_few = Some(sweep.family.side_by_side()).filter(|&n| n < few).map(together);
        if request.code != Code::Auto {
            sweep.native = sweep.compile().map_err(|e| FileError::whole(&name, e))?;
            if let Some(few) = are_few.filter(|_| request.code == Code::Gpu) {
                self.tell(&format!("{few} few for a GPU: --device auto leaves them to the processor"));
            }
            return Ok(sweep);
        }
        let made = match are_few {
            Some(few) => Err(format!("{few} few for a GPU (--device gpu insists)")),
            None => sweep.compile().map_err(|error| printable(&error.message)),
        };
        match made {
            Ok(native) => sweep.native = native.map(Native::or_lanes),
            Err(why) => self.tell(&format!("on the processor: {why}")),
        }
        Ok(sweep)
    }

    /// Says something once. (Some commands make their family twice.)
    fn tell(&self, sentence: &str) {
        if !self.has_told.swap(true, Ordering::Relaxed) {
            complain(sentence);
        }
    }
}

/// How many are computed together.
fn together(count: u64) -> String {
    if count == 1 {
        "1 trajectory at a time is".into()
    } else {
        format!("{} trajectories side by side are", grouped(count))
    }
}
