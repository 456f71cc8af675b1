//! `saltus devices`: what can compute families of motions here.

use crate::setup::Refusal;
use crate::text::{BOLD, count, number, out, printable};
use saltus_ensemble::{Device, Native, NoNative, Tools, devices, tools};
use serde_json::json;
use std::process::ExitCode;

/// List what this machine has for sweeps: cores, a C compiler for --native, GPUs for --device gpu.
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
        let list = |gpu: &Device| json!({ "name": gpu.name, "memory": gpu.memory, "capability": gpu.capability });
        let (found, why) = match &gpus {
            Ok(gpus) => {
                let one = |gpu: &Result<Device, NoNative>| match gpu {
                    Ok(gpu) => list(gpu),
                    Err(why) => json!({ "cannot_be_used": why.to_string() }),
                };
                (gpus.iter().map(one).collect(), None)
            }
            Err(why) => (Vec::new(), Some(why.to_string())),
        };
        let tools = tools().ok();
        let nvrtc = tools.as_ref().map(|tools| match &tools.compiler {
            Ok((version, place)) => json!({ "version": version, "place": place }),
            Err(why) => json!({ "missing": why.to_string() }),
        });
        crate::text::print_json(&json!({
            "cores": cores, "numbers_in_a_register": width, "compiler": compiler.as_ref().ok(),
            "no_compiler": compiler.as_ref().err().map(ToString::to_string), "gpus": found, "no_gpu": why,
            "driver": tools.as_ref().map(|tools| &tools.driver), "nvrtc": nvrtc,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    out!("{BOLD}cpu{BOLD:#}  {}, vector registers of {width} doubles\n", count(cores as u64, "core"));
    match compiler {
        Ok(compiler) => out!("     compiler for --native: {}\n", printable(&compiler)),
        Err(why) => out!("     --native is not available: {why}\n"),
    }
    match &gpus {
        Ok(gpus) if gpus.is_empty() => out!("{BOLD}gpu{BOLD:#}  driver found, but no NVIDIA GPU\n"),
        Ok(gpus) => {
            for gpu in gpus {
                let Device { name, memory, capability: (major, minor) } = match gpu {
                    Ok(gpu) => gpu,
                    Err(why) => {
                        out!("{BOLD}gpu{BOLD:#}  cannot be used: {}\n", printable(&why.to_string()));
                        continue;
                    }
                };
                let memory = number(*memory as f64 / f64::from(1 << 30), 3);
                out!("{BOLD}gpu{BOLD:#}  {}, {memory} GiB, compute capability {major}.{minor}\n", printable(name));
            }
            match tools() {
                Ok(Tools { driver, compiler: Ok((version, place)) }) => {
                    out!("     driver for CUDA {driver}, compiler NVRTC {version} ({})\n", printable(&place));
                }
                Ok(Tools { compiler: Err(why), .. }) | Err(why) => out!("     --device gpu is not available: {why}\n"),
            }
        }
        Err(why) => out!("{BOLD}gpu{BOLD:#}  none: {why}\n"),
    }
    Ok(ExitCode::SUCCESS)
}
