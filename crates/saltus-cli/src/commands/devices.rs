//! `saltus devices`: what can compute families of motions here.

use crate::setup::Refusal;
use crate::text::{BOLD, count, number, out, printable};
use saltus_ensemble::{Native, devices};
use serde_json::json;
use std::process::ExitCode;

/// List what can compute sweeps on this machine: its cores, a compiler for --native, GPUs for --device gpu.
#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (width, compiler) = Native::processor();
    let gpus = devices();
    if args.json {
        let list = |gpu: &saltus_ensemble::Device| json!({ "name": gpu.name, "memory": gpu.memory, "capability": gpu.capability });
        let (found, why) = match &gpus {
            Ok(gpus) => (gpus.iter().map(list).collect(), None),
            Err(why) => (Vec::new(), Some(why.to_string())),
        };
        crate::text::print_json(&json!({
            "cores": cores, "numbers_in_a_register": width, "compiler": compiler.as_ref().ok(),
            "no_compiler": compiler.as_ref().err().map(ToString::to_string), "gpus": found, "no_gpu": why,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    out!("{BOLD}cpu{BOLD:#}  {}, {width} numbers in a register\n", count(cores as u64, "core"));
    match compiler {
        Ok(compiler) => out!("     compiler for --native: {}\n", printable(&compiler)),
        Err(why) => out!("     no --native: {why}\n"),
    }
    match &gpus {
        Ok(gpus) if gpus.is_empty() => out!("{BOLD}gpu{BOLD:#}  there is a driver, but no NVIDIA GPU\n"),
        Ok(gpus) => {
            for gpu in gpus {
                let memory = number(gpu.memory as f64 / f64::from(1 << 30), 3);
                let (major, minor) = gpu.capability;
                out!("{BOLD}gpu{BOLD:#}  {}, {memory} GiB, compute capability {major}.{minor}\n", printable(&gpu.name));
            }
        }
        Err(why) => out!("{BOLD}gpu{BOLD:#}  none: {why}\n"),
    }
    Ok(ExitCode::SUCCESS)
}
