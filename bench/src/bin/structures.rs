//! What a step of a structure costs, and how it grows with the degrees of freedom: a cantilever with a stop at its tip.
//!
//! ```text
//! cargo run --release -p saltus-bench --bin structures [-- --json]
//! ```
//!
//! The beam of Paoli 2001, (3.9), with e = 1/2 and h = 1e-4, as in `bench/peers/beam`. Setup is left out: the figure is the time of
//! the second half of a run, the least of several. `--json` prints the lines that `bench/peers/beam/run.py --saltus` reads.

use saltus::{Options, Stop, Structure};
use saltus_io::{AnySystem, ModelFile};
use std::path::Path;
use std::time::Instant;

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
        tell(1_000, "100 modes, exact flight", cost(&beam, &options, 1e-5, 100_000));
    }
}

/// Microseconds per step: the second N of 2N steps, so that setup, warming up and the ledger are left out.
fn cost(beam: &Structure, options: &Options, h: f64, steps: usize) -> f64 {
    let (half, end) = (steps as f64 * h, 2.0 * steps as f64 * h);
    let options = options.clone().until(end).every(u64::MAX >> 12);
    // Quick steps are measured more often: other work on the machine disturbs them most.
    let repeats = (steps / 1_250).clamp(7, 40);
    let each = (0..repeats).map(|_| {
        let mut simulation = beam.engine(&options).expect("begins");
        assert_eq!(simulation.advance_to(half).expect("runs"), Stop::Time);
        let started = Instant::now();
        assert_eq!(simulation.advance_to(end).expect("runs"), Stop::Time);
        let taken = started.elapsed().as_secs_f64();
        assert_eq!(simulation.finish().steps, 2 * steps as u64);
        taken / steps as f64
    });
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
