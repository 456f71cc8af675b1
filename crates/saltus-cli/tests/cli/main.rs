//! The program as a person uses it. One test binary, so that it is linked once.

mod program;

mod again;
mod atlas;
mod command_line;
mod compiled;
mod continuation;
mod continuation_words;
mod docs;
mod gpu;
mod kept;
mod laws;
mod options;
mod orbits;
mod plot;
mod report;
mod robust;
mod side_by_side;
mod signals;
mod structures;
mod structures_kept;
mod supports;
mod sweep;
