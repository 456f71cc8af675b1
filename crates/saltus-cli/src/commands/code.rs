//! Options of all commands that compute families: what computes them.

use crate::text::{complain, printable};
use saltus_ensemble::{Request, Sweep};
use saltus_io::{FileError, ModelFile};

/// What computes a family.
#[derive(clap::Args, Clone)]
pub struct CodeArgs {
    /// Compile the model with the C compiler of this machine (`cc`, or CC): about three times as fast, equal within the tolerance
    #[arg(long)]
    native: bool,
    /// Where the trajectories are computed: cpu, gpu (an NVIDIA GPU), or auto: on a GPU if there is one that can
    #[arg(long, value_name = "WHERE", default_value = "cpu", value_parser = ["cpu", "gpu", "auto"], conflicts_with = "native")]
    device: String,
}

impl CodeArgs {
    /// The same request, computed by what was asked for.
    pub fn of(&self, request: Request) -> Request {
        Request { native: self.native, gpu: self.device != "cpu", ..request }
    }

    /// The family of a request. Where a GPU is used if there is one that can, a sentence says why it is not.
    pub fn sweep(&self, request: &Request, file: ModelFile) -> Result<Sweep, FileError> {
        match request.sweep(file.clone()) {
            Err(error) if self.device == "auto" => {
                let sweep = Request { gpu: false, ..request.clone() }.sweep(file)?;
                complain(&format!("on the processor: {}", printable(&error.error.message)));
                Ok(sweep)
            }
            other => other,
        }
    }
}
