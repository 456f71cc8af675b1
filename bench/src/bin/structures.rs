//! What a step of a structure costs, and how it grows with the degrees of freedom: a cantilever with a stop at its tip.
//!
//! ```text
//! cargo run --release -p saltus-bench --bin structures [-- --json]
//! ```
//!
//! The beam of Paoli 2001, (3.9), with e = 1/2 and h = 1e-4, as in `bench/peers/beam`. Setup is left out: the figure is the difference of
//! a long run and a short one, the least of several. `--json` prints the lines that `bench/peers/beam/run.py --saltus` reads.

use saltus::{Options, Structure};
use saltus_io::{AnySystem, ModelFile};
use std::path::Path;
use std::time::Instant;

const REPEATS: usize = 7;

fn main() {
    let json = std::env::args().any(|a| a == "--json");
    if !json {
        println!("{:>8} {:>28} {:>12}", "dofs", "scheme", "µs per step");
    }
    let tell = |dofs: usize, scheme: &str, us: f64| match json {
        true => println!("{{\"dofs\": {dofs}, \"scheme\": \"{scheme}\", \"us_per_step\": {us:.4}}}"),
        false => println!("{dofs:>8} {scheme:>28} {us:>12.3}"),
    };
    for dofs in [100, 1_000, 10_000, 100_000] {
        let beam = cantilever(dofs);
        let steps = (20_000_000 / dofs).clamp(200, 50_000);
        for scheme in ["moreau-jean", "paoli-schatzman"] {
            // Lines for the peer are of its own scheme only.
            if !json || scheme == "moreau-jean" {
                tell(dofs, scheme, cost(&beam, &Options::steps(scheme, 1e-4), 1e-4, steps));
            }
        }
    }
    if !json {
        let beam = cantilever(1_000);
        let options = Options::steps("paoli-schatzman", 1e-5).setting("forcing", "exact").modes(100);
        tell(100, "100 modes, exact flight", cost(&beam, &options, 1e-5, 100_000));
    }
}

/// Microseconds a step: a run of 2N steps less one of N, so that setup and the last words of a run fall out.
fn cost(beam: &Structure, options: &Options, h: f64, steps: usize) -> f64 {
    let time = |steps: usize| {
        let options = options.clone().until(steps as f64 * h).every(u64::MAX >> 12);
        let started = Instant::now();
        let done = beam.run(&options).expect("runs");
        assert_eq!(done.steps, steps as u64);
        started.elapsed().as_secs_f64()
    };
    let each = (0..REPEATS).map(|_| (time(2 * steps) - time(steps)) / steps as f64);
    1e6 * each.fold(f64::INFINITY, f64::min)
}

fn cantilever(dofs: usize) -> Structure {
    let text = format!(
        "[structure]\nkind = \"beam-differences\"\nlength = 1\nelements = {dofs}\nrigidity = 1\nmass_per_length = 1\n\
         [points]\ntip = {{ x = 1 }}\n[loads]\ntip = 1\n[[constraint]]\nname = \"stop\"\ngap = \"0.1 - tip\"\nrestitution = 0.5\n"
    );
    let file = ModelFile::parse("cantilever", &text, Path::new("")).expect("parses");
    match file.system().expect("valid").system {
        AnySystem::Structure(structure) => structure,
        AnySystem::Problem(_) => unreachable!("a structure"),
    }
}
